"""The one search of ggdp: it returns the passing end of a bracket, never a raw root."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ggdp.errors import SearchError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["passing_end"]

MAXIMUM_STEPS = 400


def passing_end(
    excess: Callable[[float], float],
    *,
    failing: float,
    passing: float,
    tolerance: float,
    resolution: float = 0.0,
    failing_excess: float | None = None,
    passing_excess: float | None = None,
) -> float:
    """Return a point where `excess` is at most 0, within `tolerance` of one where it is above 0.

    Regula falsi with the Illinois weights, and a bisection whenever three steps have not halved the bracket. Both ends
    are only ever replaced by points that were evaluated, so the point returned was seen to pass.

    Parameters
    ----------
    excess : callable
        How far a point is from passing; passes when it is at most 0.
    failing, passing : float
        Ends of the bracket, in either order.
    tolerance : float
        Width of the bracket at which to stop, relative to the larger end in size.
    resolution : float, default 0
        Width of the bracket at which to stop in any case.
    failing_excess, passing_excess : float, optional
        `excess` at the two ends where it is already known.

    Examples
    --------
    >>> root = passing_end(lambda x: 2.0 - x * x, failing=0.0, passing=2.0, tolerance=1e-15)
    >>> root * root >= 2.0, abs(root - 2**0.5) < 1e-15
    (True, True)
    """
    above = excess(failing) if failing_excess is None else failing_excess
    below = excess(passing) if passing_excess is None else passing_excess
    if not (above > 0.0 >= below):
        message = f"the bracket [{failing!r}, {passing!r}] does not lead from failing to passing"
        raise SearchError(message)
    replaced_last = ""
    widths: list[float] = []
    for _ in range(MAXIMUM_STEPS):
        width = abs(passing - failing)
        narrow = max(tolerance * max(abs(passing), abs(failing)), resolution)
        if width <= narrow:
            return passing
        stalled = len(widths) >= 3 and width > widths[-3] / 2.0
        widths.append(width)
        share = 0.5
        if not stalled and math.isfinite(above - below):
            # At least half a tolerance away from both ends, lest the step only touch one of them.
            margin = 0.5 * narrow / width
            # Halved values may underflow to 0 on both sides.
            share = min(max(above / (above - below), margin), 1.0 - margin) if above > below else 0.5
        step = failing + share * (passing - failing)
        if step in (failing, passing):
            return passing
        value = excess(step)
        if value <= 0.0:
            passing, below = step, value
            above = above / 2.0 if replaced_last == "passing" else above
            replaced_last = "passing"
        else:
            failing, above = step, value
            below = below / 2.0 if replaced_last == "failing" else below
            replaced_last = "failing"
    message = f"no end of the bracket [{failing!r}, {passing!r}] could be told from the other in {MAXIMUM_STEPS} steps"
    raise SearchError(message)
