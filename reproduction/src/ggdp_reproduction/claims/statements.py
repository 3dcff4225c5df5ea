"""The paper's claims: what each says and where, the figure that shows it, and what must be run to judge it.

They are the rows of ``statements.csv``, in the order of the paper.
"""

from __future__ import annotations

import csv
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from ggdp_reproduction.results import Claim

if TYPE_CHECKING:
    from ggdp_reproduction.results import Verdict

__all__ = ["STATEMENTS", "Statement", "judged", "not_measurable", "not_run"]


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
    """Return a claim with its verdict: whether it is a fact (None: undecided), by our numbers, and on which condition.

    Examples
    --------
    >>> judged("scalar-norm", True, "2.5 at all orders").verdict
    'holds'
    """
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
