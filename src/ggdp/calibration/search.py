"""The searches of ggdp: each returns the passing end of a bracket, or a law that was proved, never a raw root.

Nothing here is trusted: what a search proposes is proved by a bound (`ggdp.proofs`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ggdp.errors import SearchError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ggdp.proofs.bound import Bound, Enclosure
    from ggdp.proofs.noise_law import NoiseLaw

# Regula falsi with bisections halves a bracket at least every third step: enough for all floats.
MAXIMUM_STEPS = 400
# Steps from a guess to a bracket, the longest by a factor of 4: enough for all floats.
MOST_STRIDES = 1100
# Of a scale that is found by enclosures alone.
TOLERANCE = 1e-10
# A search may end a few ulps short of what can be proved: the scale is then raised step by step, up to 5e-10.
RAISES = (0.0, *(2.0**-k for k in range(52, 30, -2)))


@dataclass(frozen=True, slots=True)
class Proposal:
    """A law that a search found, with the bound that proves it and what the bound gave."""

    bound: Bound
    law: NoiseLaw
    found: Enclosure


def raise_until_proved(bound: Bound, law: NoiseLaw, target: float) -> Proposal:
    """Return a law that is proved to reach a target: the given one, or one with a scale larger by up to 5e-10.

    Raises
    ------
    SearchError
        If none of them is proved.
    """
    for share in RAISES:
        raised = law.with_scale(law.scale * (1.0 + share)) if share else law
        found = bound.enclose(raised)
        if bound.stated(found, target) is not None:
            return Proposal(bound, raised, found)
    raise SearchError(
        f"no scale near {law.scale!r} of order {law.order!r} could be proved to reach {bound.quantity} = {target!r} by "
        f"the bound {bound.name!r}"
    )


def log_excess(bound: Bound, law: NoiseLaw, target: float) -> Callable[[float], float]:
    """Return how far above a target the bound is at a scale, in logarithms; at most 0 where it is reached."""

    def excess(scale: float) -> float:
        upper = bound.enclose(law.with_scale(scale)).upper
        return math.log(upper / target) if upper > 0.0 else -math.inf

    return excess


def least_by_enclosures(bound: Bound, law: NoiseLaw, target: float) -> Proposal:
    """Return the least law found at which any bound reaches a target, from its enclosures alone.

    The bound should fall as the scale grows, about; whether the law reaches the target is proved in any case.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> from ggdp.proofs.one_coordinate import ShiftDelta
    >>> bound = ShiftDelta(notion="approximate", sensitivity=1, epsilon=1)
    >>> print(f"{least_by_enclosures(bound, NoiseLaw(order=2, scale=1), 0.05).law.scale / 2**0.5:.6f}")
    1.332778
    """
    excess = log_excess(bound, law, target)
    scale = passing_from(excess, law.scale, tolerance=TOLERANCE)
    return raise_until_proved(bound, law.with_scale(scale), target)


def passing_from(
    excess: Callable[[float], float], start: float, *, tolerance: float, ratio: float = 1.1, enough: float = 0.0
) -> float:
    """Return the `passing_end` of a bracket that is found by a walk from a positive start.

    A larger point is more likely to pass. Strides grow from `ratio` to a factor of 4.
    """
    failing, passing, above, below = find_bracket(excess, start, ratio=ratio)
    return passing_end(
        excess, failing, passing, tolerance=tolerance, failing_excess=above, passing_excess=below, enough=enough
    )


def find_bracket(
    excess: Callable[[float], float], start: float, *, ratio: float = 1.1
) -> tuple[float, float, float, float]:
    """Return a point that fails and one that passes, and their excesses, as `passing_from` finds them."""
    here, value = start, excess(start)
    fails = value > 0.0
    ratio = ratio if fails else 1.0 / ratio
    for _ in range(MOST_STRIDES):
        ahead = here * ratio
        if ahead == here or not 0.0 < ahead < math.inf:
            break
        following = excess(ahead)
        if (following > 0.0) != fails:
            return (here, ahead, value, following) if fails else (ahead, here, following, value)
        here, value = ahead, following
        ratio = min(max(ratio * ratio, 1.0 / 4.0), 4.0)
    raise SearchError(f"no scale that passes was found from {start!r} to {here!r}")


def passing_end(
    excess: Callable[[float], float],
    failing: float,
    passing: float,
    *,
    tolerance: float,
    resolution: float = 0.0,
    failing_excess: float | None = None,
    passing_excess: float | None = None,
    enough: float = 0.0,
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
        Width of the bracket at which to stop, relative to the larger end in absolute value.
    resolution : float, default 0
        Width of the bracket at which to stop in any case.
    failing_excess, passing_excess : float, optional
        `excess` at the two ends where it is already known.
    enough : float, default 0
        A point whose excess is at most 0 and at least minus this is returned at once.

    Examples
    --------
    >>> root = passing_end(lambda x: 2.0 - x * x, 0.0, 2.0, tolerance=1e-15)
    >>> root * root >= 2.0, abs(root - 2**0.5) < 1e-15
    (True, True)
    """
    above = excess(failing) if failing_excess is None else failing_excess
    below = excess(passing) if passing_excess is None else passing_excess
    if not (above > 0.0 >= below):
        raise SearchError(f"the bracket [{failing!r}, {passing!r}] does not lead from failing to passing")
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
        if enough > 0.0 and -enough <= value <= 0.0:
            return step
        if value <= 0.0:
            passing, below = step, value
            above = above / 2.0 if replaced_last == "passing" else above
            replaced_last = "passing"
        else:
            failing, above = step, value
            below = below / 2.0 if replaced_last == "failing" else below
            replaced_last = "failing"
    raise SearchError(f"the bracket [{failing!r}, {passing!r}] could not be narrowed in {MAXIMUM_STEPS} steps")
