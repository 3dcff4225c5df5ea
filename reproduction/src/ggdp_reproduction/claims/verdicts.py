"""Verdicts: what the paper claims and where, numbers in words, and what is proved of its scales.

The claims are the rows of ``statements.csv``, in the order of the paper: what each says, the figure that shows it, and
what must be run to judge it.
"""

from __future__ import annotations

import csv
from dataclasses import replace
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import ggdp
from ggdp.proofs import NoiseLaw
from ggdp.proofs.bounded import BoundedLoss
from ggdp.proofs.one_coordinate import ShiftDelta
from ggdp_reproduction.results import Claim

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ggdp.proofs.bound import Enclosure
    from ggdp_reproduction.results import Verdict

Notion: TypeAlias = Literal["approximate", "probabilistic"]
Bounding: TypeAlias = Literal["truncated", "boundary-inflated"]
Support: TypeAlias = Literal["real", "integer"]

# What most claims about formulas are measured for: one value that changes by at most 1, and pure DP at epsilon = 1.
ONE = ggdp.Sensitivity.disjoint(1)
PURE = ggdp.PureDP(1.0)
# Two quantities are called roughly the same up to a tenth of difference.
ROUGHLY = 1.1
# A difference of means counts from three standard errors on, and from more where these are little known.
ERRORS = 3.0


class Statement(NamedTuple):
    """A claim of the paper; `figure` and `needs` are empty where there is no figure, and where no run is needed."""

    key: str
    place: str
    figure: str
    needs: str
    claim: str


_TEXT = files("ggdp_reproduction.claims").joinpath("statements.csv").read_text(encoding="utf-8")
STATEMENTS = {row["key"]: Statement(**row) for row in csv.DictReader(_TEXT.splitlines())}


def judged(key: str, fact: object, measured: str, *, condition: str = "") -> Claim:
    """Return a claim with its verdict: whether it is a fact (None: undecided), by our numbers, on which condition."""
    said = STATEMENTS[key]
    verdict: Verdict = "holds" if fact else "does not hold"
    if condition:
        verdict = "holds only if"
    elif fact is None:
        verdict = "not measured"
    return Claim(
        key=key,
        place=said.place,
        claim=said.claim,
        verdict=verdict,
        condition=condition,
        measured=measured,
        figure=said.figure or None,
    )


def not_measurable(key: str, why: str) -> Claim:
    """Return a claim that no run can judge: an opinion, or one that rests on what the paper does not define."""
    return replace(judged(key, None, why), verdict="not measurable")


def not_run(key: str) -> Claim:
    """Return a claim whose experiment was not run, or not with the parameters that it is about."""
    needs = STATEMENTS[key].needs
    how = f"it needs {needs}, as ggdp reproduce all has them" if " " in needs else f"ggdp reproduce {needs}"
    return judged(key, None, f"Not run with the paper's settings: {how}.")


def short(value: float, digits: int = 4) -> str:
    """Return a number in a few significant digits, large ones with commas."""
    # Rounded first: what becomes 100 by rounding must not be written 1e+02.
    rounded = float(f"{value:.{digits}g}")
    return f"{value:,.0f}" if abs(rounded) >= 10.0**digits else f"{value:.{digits}g}"


def listed(values: Iterable[float], digits: int = 4) -> str:
    """Return numbers with commas and an "and"."""
    *first, last = [short(value, digits) for value in values]
    return f"{', '.join(first)} and {last}" if first else last


def span(values: Iterable[float], digits: int = 3) -> str:
    """Return the least and the largest of some numbers."""
    found = list(values)
    low, high = short(min(found), digits), short(max(found), digits)
    return low if low == high else f"{low} to {high}"


def rising(values: Sequence[float]) -> bool:
    """Return whether numbers strictly rise."""
    return all(before < after for before, after in pairwise(values))


def falling(values: Sequence[float]) -> bool:
    """Return whether numbers strictly fall."""
    return rising([-value for value in values])


def shift_delta(notion: Notion, *, order: float, scale: float, epsilon: float, sensitivity: float = 1.0) -> Enclosure:
    """Enclose the delta of a scale on the reals when one coordinate moves."""
    bound = ShiftDelta(notion=notion, sensitivity=sensitivity, epsilon=epsilon)
    return bound.enclose(NoiseLaw(order=order, scale=scale))


def bounded_loss(
    bounding: Bounding, *, order: float, scale: float, width: float, moving: int = 1, support: Support = "real"
) -> Enclosure:
    """Enclose the pure loss of bounded noise when each of some coordinates changes by 1."""
    law = NoiseLaw(order=order, scale=scale, support=support, bounding=bounding)
    return BoundedLoss(coordinates=((width, 1.0, moving),), moving=moving).enclose(law)
