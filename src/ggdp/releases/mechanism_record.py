"""Records of the mechanism that made a release; nothing in them depends on the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ggdp._rounding import rounded_text
from ggdp.errors import ArgumentError
from ggdp.proofs.total_loss import CountedLoss, ResponseLoss

if TYPE_CHECKING:
    from ggdp.calibration import Certificate
    from ggdp.privacy import Guarantee, Neighbours
    from ggdp.releases.error_law import ErrorLaw
    from ggdp.releases.threshold import Threshold

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
    scale : float
        Scale of the noise in the unit of the data.
    method : {"tight", "paper", "exponential"}
        How the scale was found.
    certificate : Certificate, optional
        The proof of the scale.
    law : ErrorLaw
        The law of the noise that was drawn.
    query_bounds : tuple of (lower, upper), optional
        Bounds that true values were clamped to, from which the sensitivity was derived.
    notes : tuple of str
        Notes about the scale, such as that it is an upper bound.
    threshold : Threshold, optional
        Threshold below which cells are omitted; None if all cells are shown. For noise on the integers without bounds.
    losses : tuple of CountedLoss
        Losses that dominate the release in a composition.
    """

    name: str
    item: str
    goal: Guarantee
    neighbours: Neighbours
    sensitivity: str
    scale: float
    method: Literal["tight", "paper", "exponential"]
    certificate: Certificate | None
    law: ErrorLaw
    query_bounds: tuple[tuple[float, float], ...] | None = None
    notes: tuple[str, ...] = ()
    threshold: Threshold | None = None
    losses: tuple[CountedLoss, ...] = ()

    def __post_init__(self) -> None:
        if self.threshold is not None and (self.law.step is not None or self.law.bounding is not None):
            raise ArgumentError("threshold", self.threshold, "is for noise on the integers without bounds")

    @property
    def order(self) -> float:
        """Order of the noise."""
        return self.law.order

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain values, ready for JSON."""
        law = self.law
        return {
            "kind": "noise",
            "name": self.name,
            "item": self.item,
            "method": self.method,
            "order": self.order,
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
        }

    def __str__(self) -> str:
        place = "on the integers" if self.law.step is None else f"on a grid of step {rounded_text(self.law.step)}"
        shown = "" if self.threshold is None else f"; {self.threshold}"
        order, scale = rounded_text(self.order, 6), rounded_text(self.scale, 6)
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
