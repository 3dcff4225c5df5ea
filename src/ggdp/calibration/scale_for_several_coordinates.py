"""The scale for several coordinates that move at once: a search in floats, then one proof in balls.

Where the size of each coordinate is known (the change is a corner of a box), delta comes from a convolution. On the
reals it falls as the scale grows, so a bracket is enough. On the integers it does not: at small scales smaller ones may
pass again, so the scales below the bracket are scanned too. That the scale is the smallest is a search result; that it
passes is proved.

The paper's bound for probabilistic DP (v5, Cor. GGMpDP) adds up absolute losses on a grid of its own, with the symbols
of `ggdp.proofs.several_coordinates`. Floats choose the grids of all proofs, and estimate what a proof will find.

Where only the l_p norm Delta_p of the change is known, the direction-free bound holds with equality at

    b = Delta_p / ((g + epsilon)^(1/p) - g^(1/p)), g = Q^-1(r/p, delta).

References
----------
`ggdp.proofs.several_coordinates` and `ggdp.proofs.norms` have the claims and their proofs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ggdp._work import spend
from ggdp.calibration.loss_grids import (
    FAR,
    GRID,
    POINT,
    Floats,
    Sample,
    chernoff_ends,
    crossings,
    ends_of,
    estimate_delta,
    first_above,
    integer_tails_estimate,
    loss_estimates,
    normalize,
    plan_total,
    plan_upper,
    round_step,
    saddle,
    sample_losses,
    smooth_length,
    spectrum_of,
    total_cumulants,
)
from ggdp.calibration.search import Proposal, log_excess, passing_end, passing_from
from ggdp.errors import SearchError
from ggdp.proofs.bound import EXACT
from ggdp.proofs.layouts import AbsoluteSumLayout, OtherLayout, Window
from ggdp.proofs.losses import CoordinateLoss, CountedLoss
from ggdp.proofs.noise_law import NoiseLaw
from ggdp.proofs.norms import RadialDelta
from ggdp.proofs.several_coordinates import AbsoluteSumDelta, CornerDelta, inner_points, is_halved, spread_of_shares

TOLERANCE = 1e-6
# How often a proof that misses its target is tried again with a larger scale.
CORRECTIONS = 12
PROBE = 1e-3
# Scales below a passing one that are scanned on the integers.
SCAN_STEPS = 200
LEAST_DELTA = 1e-300
# Where only a norm is known, the closed form in floats is as close as `WIDEST` in every case tried.
NORM_TOLERANCE, WIDEST = 1e-10, 1e-3
# The scale of the paper's bound on its fine grid is found to about this relative distance.
CLOSE = 2e-9
# Up to so many coordinates that grid is finer: the transform is short.
FEW_OTHERS = 8
# A proof that is farther below the target, in logarithms, means that floats have misled the search.
LOOSE = 0.01


def least_for_corner(bound: CornerDelta, law: NoiseLaw, target: float) -> Proposal:
    """Return the least law, up to about 5e-5 in its scale, at which a corner reaches a target."""
    # What a certificate states is a little more than what is proved.
    delta = target * (1.0 - 2.0 * bound.margin)
    # Sizes in units of the largest keep the search away from the ends of the float range.
    unit = max(size for size, _ in bound.corner) if law.support == "real" else 1.0

    def excess(scale: float, *, rough: bool = False) -> float:
        return corner_excess(bound, law.with_scale(scale * unit), delta, rough=rough)

    # The scale if the loss were normal: its variance is the Fisher information times the squared l_2 norm.
    information = law.order**2 * math.exp(math.lgamma(2.0 - 1.0 / law.order) - math.lgamma(1.0 / law.order))
    norm = math.sqrt(sum(count * (size / unit) * (size / unit) for size, count in bound.corner))
    q = math.sqrt(2.0 * math.log(1.0 / delta))
    start = math.sqrt(information) * norm * (q + math.sqrt(q * q + 2.0 * bound.epsilon)) / (2.0 * bound.epsilon)
    scale = passing_from(excess, start, tolerance=TOLERANCE)
    if law.order == 1.0:
        # Pure DP is never far away at p = 1, and near it the grid is the looser of the two.
        pure = float(sum(count * Fraction(size) for size, count in bound.corner) / Fraction(bound.epsilon)) / unit
        scale = min(scale, pure * (1.0 + 1e-15))
    candidates = [scale]
    if law.support == "integer" and scale <= wavy_scale(law.order):
        candidates = [*_passing_below(excess, scale), scale]
    for candidate in candidates:
        slope = (excess(candidate) - excess(candidate * (1.0 + PROBE))) / PROBE
        proposal = _prove_near(bound, law.with_scale(candidate * unit), delta, max(slope, 1.0))
        if proposal is not None:
            return proposal
    raise SearchError(f"no scale near {scale * unit!r} could be proved for this corner at order {law.order!r}")


def wavy_scale(order: float) -> float:
    """Return the scale above which delta was found to fall with the scale on the integers, if several coordinates move.

    Found by trying epsilons from 0.1 to 30: delta rose with the scale up to 0.9 at order 1.5, 3.0 at order 2, 6.8 at
    order 3 and 9.4 at order 4.
    """
    # Above 60 the steps of the integers are too fine to matter at any order.
    return min(60.0, max(3.0, 4.0 * (order - 1.0) ** 2))


def corner_excess(bound: CornerDelta, law: NoiseLaw, delta: float, *, rough: bool = False) -> float:
    """Return log(delta(b) / delta), estimated in floats."""
    found = estimate_delta(law, bound.corner, bound.epsilon, rough=rough)
    return math.log(max(found.delta, LEAST_DELTA)) - math.log(delta)


@np.errstate(all="ignore")
def with_layout(bound: CornerDelta, law: NoiseLaw, *, spread: float | None = None) -> tuple[CornerDelta, int]:
    """Return the bound with a layout for a law, and the precision for a proof.

    With a spread, the layout is for an upper bound that is looser by about that much, else for both bounds.
    """
    losses = [CountedLoss(CoordinateLoss(law, size), count) for size, count in bound.corner]
    samples = sample_losses(losses)
    # Where all losses are larger, delta is 1 for all that a proof could show.
    if samples is None or any(sample.losses.min() > 1e6 for sample in samples):
        return bound, EXACT
    if spread is None:
        found = estimate_delta(law, bound.corner, bound.epsilon)
        ratio = found.density / max(found.delta, LEAST_DELTA)
        layout = plan_total(losses, samples, bound.epsilon, ratio=ratio)
    else:
        layout = plan_upper(losses, samples, bound.epsilon, spread)
    # 80 bits on a step of 2^-10: weights have 50, and come from masses that are differences divided by the step.
    return replace(bound, layout=layout), 80 + max(-math.frexp(layout.step)[1] - 10, 0)


def _prove_near(bound: CornerDelta, law: NoiseLaw, delta: float, slope: float) -> Proposal | None:
    """Prove a law, or one with a scale that is larger by what the proof is found to miss.

    `slope` is that of log delta against log b, without its sign. A proof that misses its target is first repeated on a
    finer grid, and then with a larger scale.
    """
    found = estimate_delta(law, bound.corner, bound.epsilon)
    # A grid with a spread W raises log delta by about 2/3 W times the density over delta, and the scale by 3e-6.
    spread = 1.5 * 3e-6 * slope * found.delta / max(found.density, LEAST_DELTA)
    last, failed = math.inf, None
    # Where many coordinates add up, the slope is that of a smooth curve; near order 1 it cannot be told from two
    # points, and the scale is not moved far at once.
    farthest = 2e-5 if sum(count for _, count in bound.corner) <= 100 else math.inf
    for _ in range(CORRECTIONS):
        proved = _prove(bound, law, spread)
        upper = proved.found.upper
        if upper <= delta:
            if failed is None or upper >= delta * (1.0 - 1e-4):
                return proved
            # A long move went too far, and between the two the curve is straight: a smaller law may do.
            above = failed.found.upper
            share = math.log(above / delta) / math.log(above / max(upper, LEAST_DELTA))
            scale = failed.law.scale + (law.scale - failed.law.scale) * min(share * (1.0 + PROBE), 1.0)
            between = _prove(bound, law.with_scale(scale), spread)
            return between if between.found.upper <= delta else proved
        missed = math.log(upper / delta) / slope
        # The step is divided by 4 until the scale is near enough, or what a proof misses is hardly reduced.
        if failed is None and 1e-7 < missed < 0.7 * last:
            last, spread = missed, spread / 16.0
            continue
        if failed is not None:
            # Two proofs may show a curve that is less steep than was thought.
            fallen = math.log(failed.found.upper / upper) / math.log(law.scale / failed.law.scale)
            slope = max(min(slope, fallen), 1.0)
        failed = proved
        move = min(max(1.05 * math.log(upper / delta) / slope, 3e-7), farthest)
        law = law.with_scale(law.scale * (1.0 + move))
        farthest *= 2.0
    return None


def _prove(bound: CornerDelta, law: NoiseLaw, spread: float) -> Proposal:
    """Return what is proved of a law, with a layout of its own."""
    planned, bits = with_layout(bound, law, spread=spread)
    return Proposal(planned, law, planned.at_precision(law, bits))


def _passing_below(excess: Callable[..., float], scale: float) -> list[float]:
    """Scan below a passing scale for smaller ones that pass, the smallest first."""
    ratio = 6.0 ** (-1.0 / SCAN_STEPS)
    scales = [scale * ratio**i for i in range(SCAN_STEPS + 1)]
    values = [excess(s, rough=True) for s in scales]
    # Rough values are too large by a little, so a near miss is looked at again.
    promising = [i for i in range(1, SCAN_STEPS) if values[i] <= min(values[i - 1], values[i + 1], 0.5)]
    for i in promising[:-9:-1]:
        best, value = _valley(excess, scales[i + 1], scales[i - 1])
        if value > 0.0:
            continue
        below = excess(scales[i + 1])
        if below > 0.0:
            best = passing_end(excess, scales[i + 1], best, tolerance=TOLERANCE, known=(below, value))
        return [best]
    return []


def _valley(excess: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Golden-section search for the lowest excess between two scales."""
    golden = (math.sqrt(5.0) - 1.0) / 2.0
    points = [high - golden * (high - low), low + golden * (high - low)]
    values = [excess(point) for point in points]
    for _ in range(12):
        if values[0] <= values[1]:
            high, points[1], values[1] = points[1], points[0], values[0]
            points[0] = high - golden * (high - low)
            values[0] = excess(points[0])
        else:
            low, points[0], values[0] = points[0], points[1], values[1]
            points[1] = low + golden * (high - low)
            values[1] = excess(points[1])
        if min(values) <= 0.0:
            break
    return min(zip(points, values, strict=True), key=lambda pair: pair[1])


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
    # What is cut off at the ends of the grid, relative to delta.
    budget = level + math.log(1e-10)
    # A coordinate above t exceeds it whatever the rest, so it may as well be infinite.
    main_end, *ends = (min(ends_of(sample, max(budget, -690.0))[1], t) for sample in both)
    many = sum(count for _, count in rest)
    # Values outside of which the sum of the other coordinates is negligible, and the tilt that shows it.
    top, tilt, bottom = chernoff_ends(samples, theta, budget) if samples else (0.0, 1.0, 0.0)
    bottom = max(min(bottom, top), 0.0)
    halved = is_halved(law)
    # The step at which the grid adds a negligible share to delta, with halves or with whole cells on their upper ends.
    if halved:
        # Where the mean is above t there is no tilt: the sum then varies on the scale of its own spread.
        steepness = max(theta, 1.0 / (math.sqrt(total_cumulants(both, theta)[2]) + 1e-300))
        step = min(math.sqrt(12.0 * 4e-10 * t / (steepness * many)) if many else t / 64.0, t / 64.0)
    else:
        step = 2.0 * 2e-6 * t / max(many, 1)
    coarser = 16 if rough else 1
    step *= coarser
    if not (math.isfinite(step) and math.isfinite(top - bottom)):
        return None
    share = coarser if many <= FEW_OTHERS else 2 * coarser
    knots, points = 24_000 // share, max((1 << 17) // share, 4096)
    # A step of a normal float, where all losses are almost 0.
    step = round_step(max(step, 1e-290, (top - bottom) / (points - 64), *(end / knots for end in (main_end, *ends))))
    others = tuple(
        OtherLayout(size=size, count=count, high=math.ceil(end / step) + 1)
        for (size, count), end in zip(rest, ends, strict=True)
    )
    last = min(math.ceil(top / step) + 2, sum(other.count * other.high for other in others))
    layout = AbsoluteSumLayout(
        step=step,
        others=others,
        refined=halved and many <= FEW_OTHERS and not rough,
        # Where phi rises by more than this over a cell, it is replaced by a chord.
        chord=math.ceil(math.sqrt(many / 2.0)) + 1 if halved and _steepest(law, main) * step > 0.05 else 0,
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
    if planned.level < -80.0:  # floats are spared the attempt
        return math.exp(max(planned.level, -700.0))
    layout, t = planned.layout, planned.threshold
    split, cells, infinite = [], [], 0.0
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
        split.append((masses, other.count))
        cells.append((inside, other.count))
    # Further below t the rounding of the transform would be blown up by the tilt.
    low = max(layout.window.top - layout.window.points + 1, math.floor(t / layout.step) - layout.depth, 0)
    indices = np.arange(low, layout.window.top + 1)
    values = layout.step * indices.astype(np.float64)
    masses = _sum_masses(split, planned, indices)
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

    u = np.linspace(0.0, 1.0, 1201)
    edges = FAR ** (1.0 / law.order) * (u if law.order > 3.0 else u * (0.2 + 0.8 * u * u))
    z = 0.5 * (edges[1:] + edges[:-1])
    with np.errstate(all="ignore"):
        tails = special.gammaincc(1.0 / law.order, edges**law.order)
        d = np.float64(size / law.scale)
        values = loss_estimates(law.order, z, float(d)) - d**law.order
        logs = np.log(np.maximum(tails[:-1] - tails[1:], 1e-300))
    return Sample(np.clip(np.nan_to_num(values, nan=1e15), 0.0, 1e15), logs, count)


class _TooMuchWork(Exception):  # noqa: N818 - not an error: what is proved by then is enough
    """The proofs of a search have taken long enough."""


def least_for_absolute_sum(bound: AbsoluteSumDelta, law: NoiseLaw, target: float) -> Proposal:
    """Return the least law found at which the paper's bound for a corner reaches a target."""
    delta = target * (1.0 - 2.0 * bound.margin)

    def rough(scale: float) -> float:
        return absolute_sum_excess(bound, law.with_scale(scale), delta, rough=True)

    mean = law.order * sum(size * count for size, count in bound.corner)
    scale = passing_from(rough, mean / (math.gamma(1.0 / law.order) * bound.epsilon), tolerance=TOLERANCE)
    slope = max((rough(scale) - rough(scale * (1.0 + PROBE))) / PROBE, 1.0)
    # Secants on the fine grid, from the scale and the slope of the rough one.
    last: tuple[float, float] | None = None
    for _ in range(8):
        # A proof may add 4e-9 to an estimate, relative to it: the estimate is brought so far below the target.
        excess = absolute_sum_excess(bound, law.with_scale(scale), delta) + 4e-9
        if last is not None and abs(last[0]) > PROBE:
            slope = max((last[1] - excess) / last[0], 1.0)
        move = excess / slope
        # A long move means that floats do not give so small a delta; the proof then decides.
        if -CLOSE <= move <= 0.0 or abs(move) > 0.3:
            break
        last = (move, excess)
        scale *= math.exp(move + 0.5 * CLOSE)
    # The proof adds what the estimate leaves out, so the scale is moved by what the proof is found to miss.
    proofs: dict[float, Proposal] = {}
    work = 0

    def missed(scale: float) -> float:
        if scale not in proofs:
            nonlocal work
            # Points of the transforms of all proofs, times their bits: five seconds or so.
            if work > 3e7:
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
            # On the integers the bound may rise with the scale for a while: then the slope says nothing, and after two
            # such proofs the scale moves by 1e-3 of itself, then eight times as far each time.
            rises = rises + 1 if failing is not None and excess >= failing[1] else 0
            least_move = 1e-3 * 8.0 ** (rises - 2) if rises >= 2 else 1e-9
            failing = (scale, excess)
            scale *= 1.0 + min(max(1.05 * excess / slope, least_move), 0.1)
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


def scale_for_radial(bound: RadialDelta, law: NoiseLaw, target: float) -> float:
    """Return the least scale, up to 1e-9 of it, at which the direction-free bound reaches a target."""
    from scipy import special

    root, g = 1.0 / law.order, float(special.gammainccinv(bound.dimension / law.order, target))
    reach = g**root * math.expm1(math.log1p(bound.epsilon / g) / law.order) if g != 0.0 else bound.epsilon**root
    start = bound.sensitivity / float(reach)
    excess = log_excess(bound, law, target)
    width = NORM_TOLERANCE
    while width <= WIDEST:
        failing, passing = start * (1.0 - width), start * (1.0 + width)
        above, below = excess(failing), excess(passing)
        if above > 0.0 >= below:
            return passing_end(excess, failing, passing, tolerance=NORM_TOLERANCE, known=(above, below))
        width *= 10.0
    raise SearchError(f"no scale near {start!r} could be proved for dimension {bound.dimension} at order {law.order!r}")
