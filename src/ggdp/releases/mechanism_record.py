"""Records of the mechanism that made a release, and intervals for the cells that a threshold lets through.

Nothing in a record depends on the data. A thresholded release omits the cells whose noisy count is too small:

=======  ==========================================================================================================
c, y     true count of a cell, at least 0, and its noisy count c + K; K integer noise, T(k) = P(K >= k)
tau      the threshold: the cell is shown if y >= tau
a        1 - level
h        least integer with 2 T(h + 1) <= a, the half-width of an interval where nothing is left out
L        beyond which a noisy count rules out an empty cell: tau + h, and in a sparse table of N cells also h_N
h_N      least integer with (1 - 2 T(h_N + 1))^N >= level: noise of all N cells is within it, with that level
=======  ==========================================================================================================

What is shown was chosen by its noise: of the empty cells in a table none is shown but for noise of at least tau, and
[y - h, y + h] covers none of them if h < tau. So an interval is [y - h, y + h] where y > L, and [min(y - h, 0), y + h]
where it is not.

Claim. Whatever c >= 0 is, the interval covers it with a probability of at least the level given that the cell is
shown. Proof. It lies below c (c > y + h) only if K < -h, and above c (c < y - h) only if K > h and y > L, as c >= 0.

- c >= tau + h. All that is left out has K < tau - c <= -h. With u = P(K < tau - c) left out, misses have a probability
  of at most (2 T(h + 1) - u) / (1 - u) <= 2 T(h + 1) <= a.
- tau <= c < tau + h. What is shown has K >= tau - c > -h, so that only K > h misses: T(h + 1) <= a/2, over
  P(K >= tau - c) >= T(0) > 1/2.
- c < tau. With t = tau - c >= 1, what is shown has K >= t > -h, and misses have c + K > tau + h, that is
  K >= t + h + 1. The noise is log-concave, so that T is, and T(t + h + 1) / T(t) does not rise with t; at t = 0 it is
  T(h + 1) / T(0) < (a/2) / (1/2).

Any larger L only widens intervals. With h_N in it there is more in a sparse table: with a probability of at least the
level no empty cell of all N is shown with an interval that excludes 0. Of unknown keys none that is shown is empty.
A sum that is cut off at the ends of 64 bits is never farther from c than the sum itself, and on its side of c.

Given which cells are shown their noise is independent, so that intervals of level^(1/n) cover n shown cells together,
and any that are chosen among them.

Rounding: outwards; h and h_N are decided in balls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from attrs import asdict, evolve, field
from numpy.typing import ArrayLike

from ggdp import _validate
from ggdp._records import checked_field, frozen
from ggdp._rounding import rounded_text, rounded_up_text
from ggdp.errors import ArgumentError
from ggdp.noise.common_total_noise import CommonTotalNoise
from ggdp.privacy import Guarantee, Neighbours
from ggdp.privacy.grid import LARGEST
from ggdp.proofs.certificate import Certificate
from ggdp.proofs.losses import CountedLoss, ResponseLoss
from ggdp.proofs.noise_law import NoiseLaw
from ggdp.releases.error_law import (
    Ends,
    ErrorLaw,
    JointLaw,
    VectorErrorLaw,
    noise_half_width,
    simultaneous_half_width,
)

# The default level of intervals.
LEVEL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseRecord:
    """The noise of a release, as published: its mechanism, scale and certificate.

    Attributes
    ----------
    name : str
        Name of the mechanism.
    item : str
        Its source: an item of the paper, or another reference.
    goal : PureDP, ProbabilisticDP or ApproxDP
        The requested guarantee.
    neighbours : {"add-remove", "replace-one"}
        The relation that the sensitivity was stated for.
    sensitivity : str
        How far one person can move the query, in words.
    scale : float, optional
        Scale of the noise in the unit of the data; None where parts of the release have noise of their own.
    method : {"tight", "paper", "exponential"}
        How the scale was found.
    certificate : Certificate, optional
        The proof of the scale.
    law : ErrorLaw, VectorErrorLaw or JointLaw
        The law of the noise that was drawn.
    query_bounds : tuple of (lower, upper), optional
        Bounds that true values were clamped to, from which the sensitivity was derived.
    notes : tuple of str
        Notes about the scale, such as that it is an upper bound.
    threshold : Threshold, optional
        Threshold below which cells are omitted; None if all cells are shown. For noise without bounds: of counts on the
        integers, or of sums on a grid, where the counts among them choose the cells.
    losses : tuple of CountedLoss
        Losses that dominate the release in a composition.
    parts : tuple of (tuple of int, NoiseRecord)
        Of several tables, the first being 0, that have noise of their own: which, and what noise. Else empty.
    """

    name: str
    item: str
    goal: Guarantee
    neighbours: Neighbours
    sensitivity: str
    scale: float | None
    method: Literal["tight", "paper", "exponential"]
    certificate: Certificate | None
    law: ErrorLaw | VectorErrorLaw | JointLaw
    query_bounds: tuple[tuple[float, float], ...] | None = None
    notes: tuple[str, ...] = ()
    threshold: Threshold | None = None
    losses: tuple[CountedLoss, ...] = ()
    parts: tuple[tuple[tuple[int, ...], NoiseRecord], ...] = ()

    @classmethod
    def joint(
        cls, parts: Sequence[tuple[tuple[int, ...], NoiseRecord]], goal: Guarantee, sensitivity: str, law: JointLaw
    ) -> NoiseRecord:
        """Return the record of tables that have noise of their own."""
        records = [record for _, record in parts]
        return cls(
            name=" and ".join(dict.fromkeys(record.name for record in records)),
            item="; ".join(dict.fromkeys(record.item for record in records)),
            goal=goal,
            neighbours=records[0].neighbours,
            sensitivity=sensitivity,
            scale=None,
            method="tight",
            certificate=None,
            law=law,
            losses=tuple(counted for record in records for counted in record.losses),
            parts=tuple(parts),
        )

    def __post_init__(self) -> None:
        if self.threshold is not None and (self.law.bounding is not None or isinstance(self.law, VectorErrorLaw)):
            raise ArgumentError("threshold", self.threshold, "is for noise without bounds, drawn for each cell")

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain values, ready for JSON."""
        law, parts = self.law, []
        for tables, part in self.parts:
            numbers = [table + 1 for table in tables]
            parts.append({"tables": numbers, "sensitivity": part.sensitivity, **part.to_dict()})
        return {
            "kind": "noise",
            "name": self.name,
            "item": self.item,
            "method": self.method,
            "order": law.order,
            "scale": self.scale,
            "support": "integer" if law.step is None else "real",
            "step": law.step,
            "bounding": law.bounding,
            "bounds": None if law.bounds is None else [list(pair) for pair in law.bounds],
            "query_bounds": None if self.query_bounds is None else [list(pair) for pair in self.query_bounds],
            "clamp": None if law.clamp is None else law.clamp * (law.step or 1),
            "notes": list(self.notes),
            "threshold": None if self.threshold is None else self.threshold.to_dict(),
            "certificate": None if self.certificate is None else self.certificate.to_dict(),
            # The certificate, which has it too, is not in a ledger.
            **self._of_vectors(),
            **({"parts": parts} if parts else {}),
        }

    @property
    def _vectors(self) -> NoiseLaw | CommonTotalNoise | None:
        return self.law.law if isinstance(self.law, VectorErrorLaw) else getattr(self.law, "noise", None)

    def _of_vectors(self) -> dict[str, Any]:
        """Return the norm of noise of one, or how counts with a common total are encoded."""
        noise = self._vectors
        if isinstance(noise, CommonTotalNoise):
            return {"encoding": noise.encoding}
        return {} if noise is None or noise.norm is None else {"norm": noise.norm.to_dict()}

    def __str__(self) -> str:
        if self.parts:
            return "; ".join(str(record) for _, record in self.parts)
        place = "on the integers" if self.law.step is None else f"on a grid of step {rounded_text(self.law.step)}"
        place = noise.place if isinstance(noise := self._vectors, CommonTotalNoise) else place
        shown = "" if self.threshold is None else f"; {self.threshold}"
        assert self.law.order is not None
        assert self.scale is not None
        order, scale = rounded_text(self.law.order, 6), rounded_text(self.scale, 6)
        return f"{self.name} noise of order {order}, scale {scale}, {place}{shown}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionRecord:
    """The selection of a release, as published: one of several candidates.

    Attributes
    ----------
    name : str
        Name of the mechanism.
    item : str
        Its source: an item of the paper, or another reference.
    goal : PureDP
        The requested guarantee.
    neighbours : {"add-remove", "replace-one"}
        The relation that the sensitivity of the utility was stated for.
    sensitivity : str
        How far one person can move the utility of a candidate, in words.
    candidates, excluded : int
        Number of candidates, and how many of them were excluded publicly.
    """

    name: str
    item: str
    goal: Guarantee
    neighbours: Neighbours
    sensitivity: str
    candidates: int
    excluded: int

    @property
    def losses(self) -> tuple[CountedLoss, ...]:
        """Losses that dominate the release in a composition."""
        return (CountedLoss(ResponseLoss(self.goal.epsilon, self.goal.delta), 1),)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain values, ready for JSON."""
        return {
            "kind": "selection",
            "name": self.name,
            "item": self.item,
            "candidates": self.candidates,
            "excluded": self.excluded,
        }

    def __str__(self) -> str:
        without = f", {self.excluded:,} of them excluded" if self.excluded else ""
        return f"{self.name}, one of {self.candidates:,} candidates{without}"


MechanismRecord: TypeAlias = NoiseRecord | SelectionRecord


def _value(value: int) -> int:
    return _validate.integer(value=value, at_least=1)


@frozen(kw_only=True)
class Threshold:
    """A threshold: cells with a noisy count at or above it are shown.

    Parameters
    ----------
    value : int
        The least noisy count that is shown, at least 1.
    cells : int, optional
        In a sparse table the number of declared cells; None where keys are not public.
    false_cells : float, optional
        In a sparse table how many empty cells are shown on average, at most; None where keys are not public.

    Examples
    --------
    >>> print(Threshold(value=31, cells=19_440_000_000_000, false_cells=1))
    cells with a noisy count of at least 31, of 19,440,000,000,000
    >>> print(Threshold(value=15))
    keys with a noisy count of at least 15
    """

    value: int = field(converter=_value)
    cells: int | None = checked_field(_validate.integer, default=None, at_least=1)
    false_cells: float | None = checked_field(_validate.positive, default=None)

    def __attrs_post_init__(self) -> None:
        if (self.cells is None) != (self.false_cells is None):
            raise ArgumentError("false_cells", self.false_cells, "needs declared cells: pass cells as well")

    def to_dict(self) -> dict[str, Any]:
        """Return the threshold as plain values, ready for JSON."""
        return asdict(self)

    def last_maybe_empty(self, law: ErrorLaw, level: float) -> int:
        """Return L, the largest noisy count whose interval is made to hold 0."""
        last = self.value + noise_half_width(law.order, law.scale, level)
        if self.cells is not None:
            last = max(last, simultaneous_half_width(law.order, law.scale, level, self.cells))
        return min(last, LARGEST)

    def in_words(self) -> str:
        """Return one or two sentences on what is omitted, for readers."""
        if self.cells is None or self.false_cells is None:
            return (
                "The keys are not public: a key is shown only if it occurs and its noisy count is at least "
                f"{self.value:,}. A key that is not shown may still occur."
            )
        return (
            f"Of {self.cells:,} cells, those with a noisy count below {self.value:,} are omitted; the expected number "
            f"of empty cells among those shown is at most {rounded_up_text(self.false_cells)}."
        )

    def __str__(self) -> str:
        shown = "keys" if self.cells is None else "cells"
        total = "" if self.cells is None else f", of {self.cells:,}"
        return f"{shown} with a noisy count of at least {self.value:,}{total}"


def apply_threshold(record: NoiseRecord, threshold: Threshold) -> NoiseRecord:
    """Return the record of a mechanism with a threshold after it.

    Probabilistic DP does not survive a threshold, so that nothing is clamped for its sake.
    """
    law = evolve(record.law, clamp=None) if isinstance(record.law, ErrorLaw) else record.law
    return replace(record, law=law, threshold=threshold)


def thresholded_intervals(
    law: ErrorLaw | VectorErrorLaw | JointLaw, threshold: Threshold, noisy: ArrayLike, level: float
) -> Ends:
    """Return intervals for the true counts of cells that are shown; their noise is on the integers, without bounds.

    Claim: each covers its true count with a probability of at least the level given that the cell is shown; proved in
    the module. Rounding: outwards.
    """
    if not isinstance(law, ErrorLaw):
        raise ArgumentError("threshold", str(threshold), "is for noise without bounds, drawn for each cell")
    lower, upper = law.intervals(noisy, level)
    empty_too = np.asarray(noisy) <= threshold.last_maybe_empty(law, level)
    return np.where(empty_too, np.minimum(lower, 0), lower), upper
