"""The scale of the paper's bound for several coordinates: a search in floats, then one proof in balls.

References
----------
Liu, arXiv 1602.06028 v5, Cor. GGMpDP. `ggdp.proofs.absolute_sum` has the claim and its proof.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ggdp._rounding import rounded_up
from ggdp._work import spend
from ggdp.calibration.absolute_sum_layout import absolute_sum_layout, estimate
from ggdp.calibration.corner import GRID, POINT
from ggdp.calibration.search import Bracket, Proposal, bracketed, passing_end, proved_or_raised
from ggdp.errors import SearchError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ggdp.proofs.absolute_sum import AbsoluteSumDelta
    from ggdp.proofs.corner import Corner
    from ggdp.proofs.noise_law import NoiseLaw

TOLERANCE = 1e-6
# The scale on the fine grid is found to about this relative distance, by so many steps at most.
CLOSE = 2e-9
POLISHES = 8
FARTHEST = 0.3
PROBE = 1e-3
# What a proof may add to an estimate, relative to it: the estimate is brought so far below the target.
ADDED = 4e-9
# How often a proof that misses its target is tried again with a larger scale.
CORRECTIONS = 12
LEAST_MOVE = 1e-9
LONGEST_MOVE = 0.1
# After this number of proofs that each exceed the last, the scale moves this far, then eight times as far each time.
RISES, STRIDE = 2, 1e-3
# Points of the transforms of all proofs, times their bits, after which there is no further one: five seconds or so.
MOST_WORK = 3e7
# A proof that is farther below the target, in logarithms, means that floats have misled the search.
LOOSE = 0.01
LEAST_DELTA = 1e-300


class _TooMuchWork(Exception):  # noqa: N818 - not an error: what is proved by then is enough
    """The proofs of a search have taken long enough."""


def least_for_absolute_sum(bound: AbsoluteSumDelta, law: NoiseLaw, target: float) -> Proposal:
    """Return the least law found at which the paper's bound for a corner reaches a target.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> from ggdp.proofs.absolute_sum import AbsoluteSumDelta
    >>> bound = AbsoluteSumDelta(corner=((1.0, 1), (0.1, 1), (0.05, 1)), epsilon=1.0)
    >>> round(least_for_absolute_sum(bound, NoiseLaw(order=2, scale=1), 0.05).law.scale, 5)
    3.25827
    """
    if law.order == 1.0:
        return proved_or_raised(bound, law.with_scale(_pure_scale(bound.corner, bound.epsilon, bound.joint)), target)
    delta = target * (1.0 - 2.0 * bound.margin)

    def rough(scale: float) -> float:
        return absolute_sum_excess(bound, law.with_scale(scale), delta, rough=True)

    mean = law.order * sum(size * count for size, count in bound.corner)
    found = bracketed(rough, mean / (math.gamma(1.0 / law.order) * bound.epsilon))
    scale = passing_end(rough, **found._asdict(), tolerance=TOLERANCE)
    slope = max((rough(scale) - rough(scale * (1.0 + PROBE))) / PROBE, 1.0)
    # Secants on the fine grid, from the scale and the slope of the rough one.
    last: tuple[float, float] | None = None
    for _ in range(POLISHES):
        excess = absolute_sum_excess(bound, law.with_scale(scale), delta) + ADDED
        if last is not None and abs(last[0]) > PROBE:
            slope = max((last[1] - excess) / last[0], 1.0)
        move = excess / slope
        # A long move means that floats do not give so small a delta; the proof then decides.
        if -CLOSE <= move <= 0.0 or abs(move) > FARTHEST:
            break
        last = (move, excess)
        scale *= math.exp(move + 0.5 * CLOSE)
    # The proof adds what the estimate leaves out, so the scale is moved by what the proof is found to miss.
    proofs: dict[float, Proposal] = {}

    def missed(scale: float) -> float:
        if scale not in proofs:
            if sum(_work(proof) for proof in proofs.values()) > MOST_WORK:
                raise _TooMuchWork
            proofs[scale] = _proof(bound, law.with_scale(scale))
        return math.log(max(proofs[scale].found.upper, LEAST_DELTA)) - math.log(delta)

    failing: tuple[float, float] | None = None
    rises = 0
    with suppress(_TooMuchWork):
        for _ in range(CORRECTIONS):
            excess = missed(scale)
            if excess <= 0.0:
                return proofs[scale if excess >= -LOOSE else _tightened(missed, scale, excess, failing)]
            # On the integers the bound may rise with the scale for a while: then the slope says nothing.
            rises = rises + 1 if failing is not None and excess >= failing[1] else 0
            least_move = STRIDE * 8.0 ** (rises - RISES) if rises >= RISES else LEAST_MOVE
            failing = (scale, excess)
            scale *= 1.0 + min(max(1.05 * excess / slope, least_move), LONGEST_MOVE)
    passing = [scale for scale, proof in proofs.items() if proof.found.upper <= delta]
    if passing:
        return proofs[min(passing)]
    message = f"no scale near {scale!r} could be proved for this corner at order {law.order!r}"
    raise SearchError(message)


def _tightened(
    missed: Callable[[float], float], passing: float, excess: float, failing: tuple[float, float] | None
) -> float:
    """Return a smaller scale that is proved too, where floats have led to one whose delta is far below the target."""
    found = bracketed(missed, passing) if failing is None else Bracket(failing[0], passing, failing[1], excess)
    return passing_end(missed, **found._asdict(), tolerance=TOLERANCE, enough=LOOSE)


@np.errstate(all="ignore")
def absolute_sum_excess(bound: AbsoluteSumDelta, law: NoiseLaw, delta: float, *, rough: bool = False) -> float:
    """Return log(bound(b) / delta), estimated in floats."""
    spend(GRID * len(bound.corner))
    planned = absolute_sum_layout(bound, law, rough=rough)
    if planned is not None:
        layout = planned.layout
        spend(POINT * (layout.window.points + layout.depth + sum(other.high for other in layout.others)))
    value = 1.0 if planned is None else estimate(planned, law)
    return math.log(max(value, LEAST_DELTA)) - math.log(delta)


def _proof(bound: AbsoluteSumDelta, law: NoiseLaw) -> Proposal:
    """Return what is proved of a law, with a layout of its own."""
    planned = absolute_sum_layout(bound, law)
    laid = bound if planned is None else replace(bound, layout=planned.layout)
    return Proposal(laid, law, laid.at_precision(law, planned.precision if planned else 0))


def _work(proof: Proposal) -> int:
    layout = proof.bound.layout  # type: ignore[attr-defined]
    return 0 if layout is None else layout.window.points * proof.found.precision


def _pure_scale(corner: Corner, epsilon: float, joint: float | None) -> float:
    """At p = 1 the loss is at most the l_1 norm over the scale: the least float with that at most epsilon."""
    norm = sum((count * Fraction(size) for size, count in corner), Fraction(0))
    if joint is not None:
        norm = min(norm, Fraction(joint))
    return rounded_up(norm / Fraction(epsilon), of="scale")
