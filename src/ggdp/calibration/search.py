"""What all searches share: one routine returns the passing end of a bracket, one raises a scale until it is proved.

Nothing here is trusted: what a search proposes is proved by a bound (`ggdp.proofs`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ggdp.errors import SearchError
from ggdp.proofs.bound import Bound, Enclosure
from ggdp.proofs.noise_law import NoiseLaw

# Regula falsi with bisections halves a bracket at least every third step: enough for all floats.
MAXIMUM_STEPS = 400
# A search may end a few ulps short of what can be proved: the scale is then raised step by step, up to 5e-10.
RAISES = (0.0, *(2.0**-k for k in range(52, 30, -2)))


@dataclass(frozen=True, slots=True)
class Proposal:
    """A law that a search found, with the bound that proves it and what the bound gave."""

    bound: Bound
    law: NoiseLaw
    found: Enclosure


def raise_until_proved(bound: Bound, law: NoiseLaw, target: float) -> Proposal:
    """Return a law that is proved to reach a target: the given one, or one with a scale larger by up to 5e-10."""
    for share in RAISES:
        raised = law.with_scale(law.scale * (1.0 + share)) if share else law
        found = bound.enclose(raised)
        if bound.value_to_state(found, target) is not None:
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


def scale_by_enclosures(bound: Bound, law: NoiseLaw, target: float) -> float:
    """Return the least scale found by enclosures alone, for any bound that falls as the scale grows, about."""
    return passing_from(log_excess(bound, law, target), law.scale, tolerance=1e-10)


def passing_from(
    excess: Callable[[float], float], start: float, *, tolerance: float, ratio: float = 1.1, enough: float = 0.0
) -> float:
    """Return the `passing_end` of the bracket that `find_bracket` finds."""
    failing, passing, *excesses = find_bracket(excess, start, ratio=ratio)
    return passing_end(excess, failing, passing, tolerance=tolerance, known=excesses, enough=enough)


def find_bracket(
    excess: Callable[[float], float], start: float, *, ratio: float = 1.1
) -> tuple[float, float, float, float]:
    """Return a point that fails and one that passes, and their excesses, by a walk from a positive start.

    A larger point is more likely to pass. Strides grow from `ratio` to a factor of 4: 1100 are enough for all floats.
    """
    here, value = start, excess(start)
    fails = value > 0.0
    ratio = ratio if fails else 1.0 / ratio
    for _ in range(1100):
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
    known: Sequence[float] | None = None,
    enough: float = 0.0,
) -> float:
    """Return a point where `excess` is at most 0, within `tolerance` of one where it is above 0.

    Regula falsi with the Illinois weights, and a bisection whenever three steps have not halved the bracket. Both ends
    are only ever replaced by points that were evaluated, so the point returned was seen to pass.

    The ends may be in either order. `tolerance` is relative to the larger one in absolute value; a bracket as narrow as
    `resolution` is enough in any case, and so is a point with an excess from -`enough` to 0. `known` are the excesses
    at both ends.
    """
    above, below = known or (excess(failing), excess(passing))
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
