"""The total of all releases of a report, or why there is none."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from attrs import frozen

from ggdp.composition import compose
from ggdp.errors import ArgumentError
from ggdp.privacy import ApproxDP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ggdp.privacy import PureDP
    from ggdp.reporting.published_release import PublishedRelease

__all__ = ["ReportTotal", "total_of"]

# Where the plain sum has no delta: the one that most publications state.
STATED_DELTA = 1e-6


@frozen(kw_only=True)
class ReportTotal:
    """What all releases keep together.

    Attributes
    ----------
    basic : PureDP or ApproxDP, optional
        The plain sum, which holds however the releases were chosen; None where there is no total.
    composed : ApproxDP, optional
        The tight total, which holds where all noise was fixed beforehand; None for one release, and where it is not
        below the plain sum.
    lower : float, optional
        A proved lower bound of the epsilon of `composed`.
    refusal : str, optional
        Why there is no total.
    """

    basic: PureDP | ApproxDP | None = None
    composed: ApproxDP | None = None
    lower: float | None = None
    refusal: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the total as plain values."""
        return {
            "basic": None if self.basic is None else self.basic.to_dict(),
            "composed": None if self.composed is None else {**self.composed.to_dict(), "lower": self.lower},
            "refusal": self.refusal,
        }


def total_of(releases: Sequence[PublishedRelease]) -> ReportTotal:
    """Return the total of releases; releases of different units or neighbours have none."""
    try:
        composition = compose([release.path for release in releases])
    except ArgumentError as refused:
        # Each of them was checked alone, so that only their units or neighbours differ.
        said = f"{refused.value} {refused.expected}"
        for release in releases:
            said = said.replace(release.path, release.name)
        return ReportTotal(refusal=said)
    basic = composition.basic
    if len(releases) == 1:
        return ReportTotal(basic=basic)
    delta = basic.delta or STATED_DELTA
    lower, upper = composition.epsilon(delta)
    if not math.isfinite(upper) or upper >= basic.epsilon:
        return ReportTotal(basic=basic)
    return ReportTotal(basic=basic, composed=ApproxDP(upper, delta, basic.neighbours), lower=lower)
