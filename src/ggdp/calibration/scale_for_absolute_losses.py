"""The scale of the paper's bound for several coordinates: a search in floats, then one proof in balls.

The floats choose the grid of a proof and estimate what it will find; nothing of them is trusted. Symbols are those of
`ggdp.proofs.several_coordinates`.

References
----------
Liu, arXiv 1602.06028 v5, Cor. GGMpDP. `ggdp.proofs.several_coordinates` has the claim and its proof.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ggdp._rounding import rounded_up
from ggdp._work import spend
from ggdp.calibration.loss_grids import (
    GRID,
    POINT,
    chernoff_ends,
    first_above,
    round_step,
    smooth_length,
    spectrum_of,
)
from ggdp.calibration.loss_samples import (
    FAR,
    Sample,
    crossings,
    integer_tails_estimate,
    loss_estimates,
    normalize,
    saddle,
    total_cumulants,
)
from ggdp.calibration.search import Proposal, passing_end, passing_from, raise_until_proved
from ggdp.errors import SearchError
from ggdp.proofs.layouts import AbsoluteSumLayout, OtherLayout, Window
from ggdp.proofs.several_coordinates import inner_points, is_halved, spread_of_shares

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ggdp.calibration.loss_samples import Floats
    from ggdp.proofs.noise_law import NoiseLaw
    from ggdp.proofs.several_coordinates import AbsoluteSumDelta


# What is cut off at the ends of a grid, relative to delta.
NEGLIGIBLE = math.log(1e-10)
NODES = 1200
# Where phi rises by more than this over a cell, it is replaced by a chord.
GENTLE = 0.05
# What the grid adds to delta, relative to it: with halves, and with whole cells on their upper ends.
RELATIVE_ERROR = 4e-10
ROUNDED_ERROR = 2e-6
# A logarithm of delta below which floats are spared the attempt.
HOPELESS = -80.0
# Up to so many coordinates the grid is finer: the transform is short.
FEW = 8
MOST_POINTS = 1 << 17
MOST_KNOTS = 24_000
LEAST_POINTS = 4096
# How many times as wide the step of a rough grid is.
ROUGHER = 16
# A step of a normal float, where all losses are almost 0.
LEAST_STEP = 1e-290
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


@dataclass(frozen=True, slots=True, kw_only=True)
class AbsoluteSumPlan:
    """A layout, with what an estimate of its bound needs, and the precision for a proof."""

    layout: AbsoluteSumLayout
    main: float
    threshold: float
    tilt: float
    level: float
    precision: int


def plan_absolute_sum(bound: AbsoluteSumDelta, law: NoiseLaw, *, rough: bool = False) -> AbsoluteSumPlan | None:
    """Choose a grid; None where the bound is 1. A rough grid is a quick one."""
    with np.errstate(all="ignore"):
        # NumPy's power, since Python's raises where it overflows.
        own = sum(count * float(np.float64(size / law.scale) ** law.order) for size, count in bound.corner)
        known = own if bound.joint is None else min(float(np.float64(bound.joint / law.scale) ** law.order), own)
    t = bound.epsilon - known
    if not t > 0.0:
        return None
    main = bound.main
    rest = [(size, count - (size == main)) for size, count in bound.corner if count > (size == main)]
    lone, samples = _excesses(law, main, 1), [_excesses(law, size, count) for size, count in rest]
    both = [lone, *samples]
    theta = saddle(both, t)
    level = min(total_cumulants(both, theta)[0] - theta * t, 0.0)
    if sum(sample.count * float(sample.losses.max()) for sample in both) <= t:
        level = -FAR
    budget = level + NEGLIGIBLE
    # A coordinate above t exceeds it whatever the rest, so it may as well be infinite.
    main_end, *ends = (min(_high_end(sample, budget), t) for sample in both)
    many = sum(count for _, count in rest)
    # Values outside of which the sum of the other coordinates is negligible, and the tilt that shows it.
    top, tilt, bottom = chernoff_ends(samples, theta, budget) if samples else (0.0, 1.0, 0.0)
    bottom = max(min(bottom, top), 0.0)
    halved = is_halved(law)
    # The step at which the grid adds a negligible share to delta.
    if halved:
        # Where the mean is above t there is no tilt: the sum then varies on the scale of its own spread.
        steepness = max(theta, 1.0 / (math.sqrt(total_cumulants(both, theta)[2]) + 1e-300))
        step = min(math.sqrt(12.0 * RELATIVE_ERROR * t / (steepness * many)) if many else t / 64.0, t / 64.0)
    else:
        step = 2.0 * ROUNDED_ERROR * t / max(many, 1)
    coarser = ROUGHER if rough else 1
    step *= coarser
    if not (math.isfinite(step) and math.isfinite(top - bottom)):
        return None
    share = coarser if many <= FEW else 2 * coarser
    knots, points = MOST_KNOTS // share, max(MOST_POINTS // share, LEAST_POINTS)
    step = round_step(
        max(step, LEAST_STEP, (top - bottom) / (points - 64), *(end / knots for end in (main_end, *ends)))
    )
    others = tuple(
        OtherLayout(size=size, count=count, high=math.ceil(end / step) + 1)
        for (size, count), end in zip(rest, ends, strict=True)
    )
    last = min(math.ceil(top / step) + 2, sum(other.count * other.high for other in others))
    layout = AbsoluteSumLayout(
        step=step,
        others=others,
        refined=halved and many <= FEW and not rough,
        chord=math.ceil(math.sqrt(many / 2.0)) + 1 if halved and _steepest(law, main) * step > GENTLE else 0,
        depth=math.ceil(main_end / step) + 1,
        window=Window(top=last, points=smooth_length(last - math.floor(bottom / step) + 3), tilt=tilt),
    )
    # A transform is accurate relative to masses of about 1, and delta is about e^level.
    bits = max(96, 32 * math.ceil((64.0 - 2.0 * level / math.log(2.0)) / 32.0))
    return AbsoluteSumPlan(layout=layout, main=main, threshold=t, tilt=theta, level=level, precision=bits)


def _steepest(law: NoiseLaw, main: float) -> float:
    """Return the height of the density of Y of the main coordinate at 0."""
    return math.exp(min((1.0 - law.order) * math.log(main / law.scale) - math.lgamma(1.0 / law.order), 700.0))


def estimate(planned: AbsoluteSumPlan, law: NoiseLaw) -> float:
    """Estimate in floats the bound that a proof with this layout will give."""
    if planned.level < HOPELESS:
        return math.exp(max(planned.level, -700.0))
    layout, t = planned.layout, planned.threshold
    laid, cells, infinite = [], [], 0.0
    for other in layout.others:
        tails = _tails(law, other.size, layout.step * np.arange(other.high + 1.0))
        inside = tails[:-1] - tails[1:]
        up = np.full(len(inside), 0.5 if is_halved(law) else 1.0)
        if layout.refined:
            shares = _shares(law, other.size, layout.step, tails)
            up[: len(shares)] = shares
        masses = np.zeros(other.high + 1)
        masses[1:] += up * inside
        masses[:-1] += (1.0 - up) * inside
        masses[0] += 1.0 - tails[0]
        infinite += other.count * math.log1p(-min(float(tails[-1]), 1.0 - 1e-16))
        laid.append((masses, other.count))
        cells.append((inside, other.count))
    # Further below t the rounding of the transform would be blown up by the tilt.
    low = max(layout.window.top - layout.window.points + 1, math.floor(t / layout.step) - layout.depth, 0)
    indices = np.arange(low, layout.window.top + 1)
    values = layout.step * indices.astype(np.float64)
    masses = _sum_masses(laid, planned, indices)
    below = values <= t
    reach = np.ones(len(indices))
    reach[below] = _tails(law, planned.main, t - values[below])
    last = max(int(below.sum()) - 1, 0)
    slope = _steepest(law, planned.main)
    if layout.chord:
        start = max(last - layout.chord, 0)
        share = (values[start : last + 1] - values[start]) / (t - values[start])
        reach[start : last + 1] = reach[start] + (1.0 - reach[start]) * share
        slope = 1.0 / (t - float(values[start]))
    total = max(float((masses * reach).sum()), 0.0) - math.expm1(infinite)
    if is_halved(law) and layout.others:
        # What putting cells on their ends costs near t: the mass of the sum there, for each coordinate.
        many = sum(other.count for other in layout.others)
        if layout.refined:
            near = float(_sum_masses(cells, planned, indices)[max(last - many - 1, 0) : last + 3].sum())
        else:
            x = spread_of_shares(many, planned.precision)
            near = float(masses[max(last - x - 2, 0) : last + x + 3].max(initial=0.0))
        total += slope * layout.step * many / 4.0 * near
    return min(total, 1.0)


def _sum_masses(parts: list[tuple[Floats, int]], planned: AbsoluteSumPlan, indices: NDArray[np.int64]) -> Floats:
    """Return the masses, at some indices, of a sum of independent coordinates, by a transform of tilted laws."""
    points, tilt = planned.layout.window.points, planned.tilt * planned.layout.step
    spectrum = np.ones(points // 2 + 1, dtype=np.complex128)
    level = 0.0
    for masses, count in parts:
        with np.errstate(divide="ignore"):
            weights, log_total = normalize(np.log(masses) + tilt * np.arange(len(masses)))
        level += count * log_total
        spectrum *= spectrum_of(weights, 0, points) ** count
    composed: Floats = np.fft.irfft(spectrum, points)[indices % points]
    composed *= np.exp(np.minimum(level - tilt * indices, 700.0))
    return composed


def _shares(law: NoiseLaw, size: float, step: float, tails: Floats) -> Floats:
    """Return which share of each of the first cells goes up, if every part of it were uniform."""
    from scipy import special

    shift, shares = size / law.scale, []
    for i, points in enumerate(inner_points(law.order, shift, step, len(tails) - 1)):
        inner = np.array(points)
        moved = loss_estimates(law.order, inner, shift) - shift**law.order
        values = np.concatenate([[i * step], moved, [(i + 1) * step]])
        parts = np.concatenate([[tails[i]], special.gammaincc(1.0 / law.order, inner**law.order), [tails[i + 1]]])
        mean = float(((parts[:-1] - parts[1:]) * (0.5 * (values[:-1] + values[1:]) - i * step)).sum())
        mass = step * float(tails[i] - tails[i + 1])
        shares.append(min(max(mean / mass, 0.0), 0.5) if mass > 0.0 else 0.5)
    return np.array(shares)


def _tails(law: NoiseLaw, size: float, levels: Floats) -> Floats:
    """Return P(Y > level)."""
    from scipy import special

    shift, largest = size / law.scale, FAR ** (1.0 / law.order)
    if law.support == "integer":
        k = np.maximum(first_above(law, size, levels + shift**law.order), 1.0)
        return np.minimum(2.0 * integer_tails_estimate(law.order, law.scale, k), 1.0)
    z = np.maximum(crossings(law.order, shift, levels + shift**law.order, largest=largest), 0.0)
    return np.asarray(special.gammaincc(1.0 / law.order, z**law.order))


def _excesses(law: NoiseLaw, size: float, count: int) -> Sample:
    """Return a sample of Y of one coordinate."""
    from scipy import special

    u = np.linspace(0.0, 1.0, NODES + 1)
    edges = FAR ** (1.0 / law.order) * (u if law.order > 3.0 else u * (0.2 + 0.8 * u * u))
    z = 0.5 * (edges[1:] + edges[:-1])
    with np.errstate(all="ignore"):
        tails = special.gammaincc(1.0 / law.order, edges**law.order)
        d = np.float64(size / law.scale)
        values = loss_estimates(law.order, z, float(d)) - d**law.order
        logs = np.log(np.maximum(tails[:-1] - tails[1:], 1e-300))
    return Sample(np.clip(np.nan_to_num(values, nan=1e15), 0.0, 1e15), logs, count)


def _high_end(sample: Sample, budget: float) -> float:
    """Return the value above which all coordinates of the sample together have a negligible mass."""
    above = np.cumsum((np.exp(sample.logs) * sample.count)[::-1])[::-1]
    over = np.nonzero(above > math.exp(max(budget, -690.0)))[0]
    return float(sample.losses[min(int(over[-1]) + 1, len(above) - 1)]) if len(over) else float(sample.losses[0])


class _TooMuchWork(Exception):  # noqa: N818 - not an error: what is proved by then is enough
    """The proofs of a search have taken long enough."""


def least_for_absolute_sum(bound: AbsoluteSumDelta, law: NoiseLaw, target: float) -> Proposal:
    """Return the least law found at which the paper's bound for a corner reaches a target.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> from ggdp.proofs.several_coordinates import AbsoluteSumDelta
    >>> bound = AbsoluteSumDelta(corner=((1.0, 1), (0.1, 1), (0.05, 1)), epsilon=1.0)
    >>> round(least_for_absolute_sum(bound, NoiseLaw(order=2, scale=1), 0.05).law.scale, 5)
    3.25827
    """
    if law.order == 1.0:
        # The loss is at most the l_1 norm over the scale.
        norm = sum((count * Fraction(size) for size, count in bound.corner), Fraction(0))
        norm = norm if bound.joint is None else min(norm, Fraction(bound.joint))
        return raise_until_proved(bound, law.with_scale(rounded_up(norm / Fraction(bound.epsilon), of="scale")), target)
    delta = target * (1.0 - 2.0 * bound.margin)

    def rough(scale: float) -> float:
        return absolute_sum_excess(bound, law.with_scale(scale), delta, rough=True)

    mean = law.order * sum(size * count for size, count in bound.corner)
    scale = passing_from(rough, mean / (math.gamma(1.0 / law.order) * bound.epsilon), tolerance=TOLERANCE)
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
    work = 0

    def missed(scale: float) -> float:
        if scale not in proofs:
            nonlocal work
            if work > MOST_WORK:
                raise _TooMuchWork
            plan, scaled = plan_absolute_sum(bound, law.with_scale(scale)), law.with_scale(scale)
            planned = bound if plan is None else replace(bound, layout=plan.layout)
            proofs[scale] = Proposal(planned, scaled, planned.at_precision(scaled, plan.precision if plan else 0))
            work += 0 if plan is None else plan.layout.window.points * proofs[scale].found.precision
        return math.log(max(proofs[scale].found.upper, LEAST_DELTA)) - math.log(delta)

    failing: tuple[float, float] | None = None
    rises = 0
    with suppress(_TooMuchWork):
        for _ in range(CORRECTIONS):
            excess = missed(scale)
            if excess < -LOOSE:
                # Floats have led to a scale whose delta is far below the target: a smaller one is proved too.
                if failing is None:
                    return proofs[passing_from(missed, scale, tolerance=TOLERANCE, enough=LOOSE)]
                return proofs[passing_end(missed, failing[0], scale, tolerance=TOLERANCE, enough=LOOSE)]
            if excess <= 0.0:
                return proofs[scale]
            # On the integers the bound may rise with the scale for a while: then the slope says nothing.
            rises = rises + 1 if failing is not None and excess >= failing[1] else 0
            least_move = STRIDE * 8.0 ** (rises - RISES) if rises >= RISES else LEAST_MOVE
            failing = (scale, excess)
            scale *= 1.0 + min(max(1.05 * excess / slope, least_move), LONGEST_MOVE)
    passing = [scale for scale, proof in proofs.items() if proof.found.upper <= delta]
    if passing:
        return proofs[min(passing)]
    raise SearchError(f"no scale near {scale!r} could be proved for this corner at order {law.order!r}")


@np.errstate(all="ignore")
def absolute_sum_excess(bound: AbsoluteSumDelta, law: NoiseLaw, delta: float, *, rough: bool = False) -> float:
    """Return log(bound(b) / delta), estimated in floats."""
    spend(GRID * len(bound.corner))
    planned = plan_absolute_sum(bound, law, rough=rough)
    if planned is not None:
        layout = planned.layout
        spend(POINT * (layout.window.points + layout.depth + sum(other.high for other in layout.others)))
    value = 1.0 if planned is None else estimate(planned, law)
    return math.log(max(value, LEAST_DELTA)) - math.log(delta)
