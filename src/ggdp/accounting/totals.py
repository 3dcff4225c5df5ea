"""The delta of a total at an epsilon, and the epsilon for a delta, each between two proved floats.

===========  ====================================================================================
theta        the tilt: root of K'(theta) = epsilon, see `ggdp.calibration.loss_grids`
K(s)         log E e^(s S) of the sum S of all losses
===========  ====================================================================================

What is proved is in `ggdp.proofs`, `ggdp.accounting.exact_totals` and `ggdp.accounting.fourier_totals`. Here a grid is
chosen in floats, refined until the bounds are close, and searched for the epsilon; nothing of that is trusted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial

import numpy as np
from flint import arb

from ggdp._balls import BALLS, lower_float, upper_float, working_precision
from ggdp.accounting.exact_totals import enumerated_between, largest_sum, left_to_finite, shift_between, with_infinite
from ggdp.accounting.fourier_totals import discretize_sum, high_frequencies, is_smooth
from ggdp.accounting.profile import delta_of_pure
from ggdp.calibration.loss_grids import (
    PER_SPREAD,
    Sample,
    log_delta,
    log_moments,
    merge_losses,
    normalize,
    plan_total,
    saddle,
    saddle_tilt,
    sample_losses,
    spread_tilt,
    total_cumulants,
)
from ggdp.calibration.search import passing_end
from ggdp.errors import CertificateError, UnattainableError
from ggdp.proofs.layouts import CornerLayout, SumLayout
from ggdp.proofs.loss_distribution import LossDistribution, delta_above, delta_below, smoothings
from ggdp.proofs.losses import MOST_ADDED, CountedLoss, Loss, ResponseLoss, total_loss

# Logarithms of the tilted mass outside of the grid, and of the mass above it relative to delta.
SUM_OUTSIDE, SUM_ABOVE = -30.0, -22.0
# Tilts for bounds of the tails, in parts of the deviation of the tilted sum.
SUM_TILTS = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 12.0, 16.0])
# The most frequencies of all losses.
MOST_FREQUENCIES = 1000
# Frequencies to choose from, in parts of the deviation of the tilted sum.
MULTIPLES = 5.0 * 1.06 ** np.arange(150)


def plan_sum(losses: Sequence[CountedLoss], samples: Sequence[Sample], epsilon: float) -> SumLayout | None:
    """Choose the grid for both bounds of delta at epsilon; None where the sum of the losses is not smooth enough."""
    if not any(is_smooth(counted.loss) for counted in losses):
        return None
    theta = spread_tilt(samples, saddle_tilt(samples, epsilon))
    # Errors are the same on all knots: a tilt makes those far above epsilon small.
    theta = _short(max(theta, 1.0 / math.sqrt(total_cumulants(samples, theta)[2])))
    moments = [_moments(sample, theta) for sample in samples]
    deviation = math.sqrt(sum(sample.count * moment[0] for sample, moment in zip(samples, moments, strict=True)))
    level, delta = float(log_moments(samples, np.array([theta]))[0]), log_delta(samples, theta, epsilon)
    # Below: K(t) - K(theta) + (theta - t) low <= SUM_OUTSIDE for a tilt t <= 0.
    tilts = np.minimum(theta - SUM_TILTS / deviation, 0.0)
    lows = (SUM_OUTSIDE + level - log_moments(samples, tilts)) / (theta - tilts)
    below, low = float(tilts[np.argmax(lows)]), float(lows.max())
    # Above: the same for t > theta, and K(t) - t high <= SUM_ABOVE + log(delta).
    tilts = theta + SUM_TILTS / deviation
    cumulants = log_moments(samples, tilts)
    highs = np.maximum((cumulants - level - SUM_OUTSIDE) / (tilts - theta), (cumulants - SUM_ABOVE - delta) / tilts)
    above, high = float(tilts[np.argmin(highs)]), float(highs.min())
    slope = max(theta, 1.0 / deviation)
    # The bounds are to be 2e-6 apart, relative to delta.
    step = math.sqrt(8.0 * 2e-6 / (PER_SPREAD * slope * (1.0 + slope)))
    step = min(max(step, (high - low) / 2.0**14), (high - low) / 2.0**12)
    # Where epsilon is a knot, the split costs nothing.
    step = epsilon / math.ceil(epsilon / step) if epsilon > step else step
    points = math.ceil((high - low) / step) + 2
    spacing = 2.0 * math.pi / (step * points)
    # What is left out at high frequencies, relative to delta: less where one loss is followed further than the others.
    frequency = further = _frequency(losses, samples, moments, theta, step, 2e-8)
    # Of the losses with a density, that of the least order has a transform that takes little time and falls fast.
    orders = [one.loss.law.order if is_smooth(one.loss) else math.inf for one in losses]  # type: ignore[union-attr]
    followed = orders.index(min(orders))
    if not frequency <= MOST_FREQUENCIES * spacing:
        further = _frequency(losses, samples, moments, theta, step, 1e-9)
        if not further <= 8000 * spacing:
            return None
        # From here on the transform of all losses of a kind is about as small as what is left out.
        frequency, one = math.inf, samples[followed]
        weights, _ = normalize(one.logs + theta * one.losses)
        for choice in MULTIPLES[MULTIPLES / deviation <= MOST_FREQUENCIES * spacing] / deviation:
            # Several frequencies, lest one is near a zero.
            nearby = np.outer(np.linspace(1.0, 1.3, 8), choice * one.losses)
            if float(np.abs(np.exp(1j * nearby) @ weights).max()) ** one.count <= 1e-10:
                frequency = float(choice)
                break
    if not frequency <= MOST_FREQUENCIES * spacing:
        return None
    return SumLayout(
        step=step,
        low=math.floor(low / step),
        points=points,
        tilt=theta,
        frequencies=math.ceil(frequency / spacing),
        further=math.ceil(further / spacing),
        followed=followed,
        below=below,
        above=above,
        widths=tuple(_short(0.4 / math.sqrt(moment[0])) for moment in moments),
    )


def _short(x: float) -> float:
    """Round to 16 bits, so that sums of two such numbers are not rounded."""
    mantissa, exponent = math.frexp(x)
    return math.ldexp(round(math.ldexp(mantissa, 16)), exponent - 16)


def _moments(sample: Sample, theta: float) -> tuple[float, float]:
    """Return variance and fourth central moment of one tilted loss."""
    weights, _ = normalize(sample.logs + theta * sample.losses)
    centred = sample.losses - weights @ sample.losses
    return float(weights @ centred**2), float(weights @ centred**4)


def _frequency(
    losses: Sequence[CountedLoss],
    samples: Sequence[Sample],
    moments: Sequence[tuple[float, float]],
    theta: float,
    step: float,
    enough: float,
) -> float:
    """Return a frequency from which on the characteristic function is proved small, about; infinite where none is."""
    counts = np.array([sample.count for sample in samples], dtype=float)
    variances, fourths = (np.array(values) for values in zip(*moments, strict=True))
    deviation = math.sqrt(float(counts @ variances))
    frequencies = MULTIPLES / deviation
    squares = frequencies**2
    # The bounds of `ggdp.accounting.fourier_totals`: at low frequencies for all losses, at high ones for some.
    ratios = 1.0 - np.outer(variances, squares) + np.outer((fourths + 3.0 * variances**2) / 12.0, squares**2)
    logs = 0.5 * np.log(np.clip(ratios, 1e-30, 1.0))
    # Beyond a dozen of these, the others are as good as not smooth at high frequencies.
    for i in np.argsort(-counts * [is_smooth(counted.loss) for counted in losses])[:12]:
        with BALLS, working_precision(64):
            whole = arb(math.exp(samples[i].cumulants(theta)[0] / samples[i].count))
            pairs, gaussian = high_frequencies(losses[i].loss, theta, whole)
            logs[i] = np.minimum(logs[i], -float(gaussian) * squares)
            for outside, variation in pairs:
                most = np.clip(float(outside) + float(variation) / frequencies, 1e-30, 1.0)
                logs[i] = np.minimum(logs[i], np.log(most))
    # The sum of what is left out, relative to the density of the sum of the losses.
    bounds = counts @ logs
    high = np.exp(np.maximum(bounds, np.append(bounds[1:], bounds[-1])))
    widths = np.append(np.diff(frequencies), frequencies[-1])
    left = np.cumsum((high * np.minimum(1.0, (2.0 / (step * frequencies)) ** 2) * widths)[::-1])[::-1]
    left *= 2.0 * deviation
    small = np.nonzero(left <= enough)[0]
    return float(frequencies[small[0]]) if len(small) else math.inf


# Masses of cells lose some 30 bits, and weights have 50.
PRECISION = 112
# Bounds of a delta below this are less close.
SMALL = 1e-15
# Grids are refined at most so often.
REFINEMENTS = 3
# Where a finer grid leaves more than this part of the distance of the bounds, it is not the grid that keeps them apart.
LITTLE = 0.7
TOLERANCE = 1e-10
# Where the epsilon for a delta is estimated below this, it may be 0.
LEAST_NEAR = 1e-3
MOST_EPSILON = 1e8


@dataclass(frozen=True)
class TotalLoss:
    """The sum of independent losses."""

    losses: tuple[CountedLoss, ...]  # distinct finite losses, and how many of each
    # Two floats with the probability of an infinite loss between them; no epsilon has a smaller delta.
    infinite: tuple[float, float] = (0.0, 0.0)
    _sums: list[LossDistribution] = field(default_factory=list, repr=False, compare=False)

    @classmethod
    def of(cls, losses: Iterable[CountedLoss]) -> TotalLoss:
        """Return the total of losses, equal ones together."""
        found: Counter[Loss] = Counter()
        with BALLS, working_precision(128):
            # Logarithms of the probability that no loss is infinite; what is else 0 is an upper bound only.
            reached, most = arb(0), arb(0)
            for counted in losses:
                loss = counted.loss
                if isinstance(loss, ResponseLoss):
                    exponent = counted.count * (-arb(loss.delta)).log1p()
                    most += exponent
                    if loss.epsilon == 0.0:
                        continue
                    reached += exponent
                    loss = replace(loss, delta=0.0)
                found[loss] += counted.count
            infinite = max(lower_float(-reached.expm1()), 0.0), min(upper_float(-most.expm1()), 1.0)
        return cls(tuple(CountedLoss(loss, count) for loss, count in found.items()), infinite)

    def delta(self, epsilon: float, *, refine: bool = True) -> tuple[float, float]:
        """Return two proved floats with delta(epsilon >= 0) between them; not refined, within a percent or so."""
        return with_infinite(self.infinite, self._finite_delta(epsilon, refine=refine))

    def _finite_delta(self, epsilon: float, *, refine: bool) -> tuple[float, float]:
        largest = largest_sum(self.losses)
        if largest is not None and largest <= Fraction(epsilon):
            return 0.0, 0.0
        exact = shift_between(self.losses, epsilon)
        if exact is not None:
            return exact
        few = enumerated_between(self.losses, epsilon)
        if few is not None and _refinement(*few) is None:
            return few
        # Where delta is as small as the noise that is not enumerated, a grid has more digits.
        lower, upper = few or (0.0, 1.0)
        if largest is not None and not math.isinf(end := _up(largest)):
            # Any mechanism of a pure loss has at most this delta.
            upper = min(upper, delta_of_pure(end, epsilon)[1])
        at = min(epsilon, MOST_EPSILON)
        # The grid of a picture is coarser than usual, and that of a small delta is at first.
        finer = 0.2 if not refine else 1.0 if self._log_delta(at) >= math.log(SMALL) else 0.3
        whole = self._whole_sum(at) if at == epsilon else None
        if whole is not None:
            lower, upper = max(lower, _lower_with(whole, at)[0]), min(upper, _upper(whole, at))
            if _refinement(lower, upper) is None:
                return min(lower, upper), upper
        apart = math.inf
        for _ in range(REFINEMENTS if refine else 1):
            total = self._sum(at, finer)
            if total is None:
                break
            upper = min(upper, _upper(total, at))
            if at == epsilon:
                lower = max(lower, _lower_with(total, at)[0])
            further = _refinement(lower, upper)
            before, apart = apart, upper - lower
            if further is None or apart > LITTLE * before or self._is_finest(at, at, finer, further):
                break
            finer *= further
        return min(lower, upper), upper

    def epsilon(self, delta: float) -> tuple[float, float]:
        """Return two proved floats with the least epsilon >= 0 for a delta above 0 between them."""
        least, most = left_to_finite(self.infinite, delta)
        if most < 0.0:
            return math.inf, math.inf
        lower, upper = self._finite_epsilon(most)
        if least < most:
            upper = math.inf if least < 0.0 else self._finite_epsilon(least)[1]
        return lower, upper

    def _finite_epsilon(self, delta: float) -> tuple[float, float]:
        largest = largest_sum(self.losses)
        end = math.inf if largest is None else _up(largest)
        if delta == 0.0:
            return (end if largest is None or Fraction(end) == largest else math.nextafter(end, 0.0)), end
        near = self._estimate(delta) if self.losses else 0.0
        if near <= LEAST_NEAR and self._finite_delta(0.0, refine=True)[1] <= delta:
            return 0.0, 0.0
        one_shift = shift_between(self.losses, near) is not None
        few = None if one_shift else enumerated_between(self.losses, near)
        # One shift, or few losses on few atoms with a delta well above what is left out: no grid is needed.
        if one_shift or (few is not None and _refinement(*few) is None):
            upper = min(_crossing(lambda x: self._finite_delta(x, refine=True)[1], delta, near), end)
            start = min(upper, MOST_EPSILON)
            return _crossing(lambda x: self._finite_delta(x, refine=True)[0], delta, start, passing=False), upper
        found, finer, apart = (0.0, end), 1.0, math.inf
        # A sum that was discretized for another epsilon serves if its bounds are as close at this one.
        known = (one for one in self._sums[::-1] if _refinement(_lower_with(one, near)[0], _upper(one, near)) is None)
        total = next(known, None) or self._whole_sum(near)
        for _ in range(REFINEMENTS + (total is not None)):
            at_once = total is not None
            total = total or self._sum(near, finer)
            if total is None:
                break
            upper = _crossing(partial(_upper, total), delta, near)
            if math.isinf(upper):
                break
            best, s = _lower_with(total, upper)
            lower = _crossing(partial(_lower, total, s=s), delta, upper, passing=False)
            found = max(found[0], lower), min(found[1], upper)
            further = _refinement(best, delta)
            before, apart = math.inf if at_once else apart, found[1] - found[0]
            # Bounds this close are good enough: the upper one is far closer to the truth.
            if (
                apart <= 1e-5 * found[1]
                or further is None
                or apart > LITTLE * before
                or (not at_once and self._is_finest(near, upper, finer, further))
            ):
                break
            total, near, finer = None, upper, finer if at_once else finer * further
        return min(found), found[1]

    def _is_finest(self, near: float, found: float, finer: float, further: float) -> bool:
        """Say whether a refinement has the steps that a grid for about the same epsilon had already."""
        if abs(found - near) > 1e-3 * near:
            return False
        plans = self._plan(near, finer), self._plan(found, finer * further)
        steps = [plan and [size.step for size in plan.sizes] for plan in plans]
        return steps[0] == steps[1]

    @cached_property
    def _samples(self) -> list[Sample]:
        """Samples of the losses."""
        found = sample_losses(self.losses)
        if found is None:
            raise UnattainableError(
                "a loss of the total is beyond the floats: some noise is far too small for its sensitivity"
            )
        return found

    @cached_property
    def _merged(self) -> list[Sample]:
        """The samples with fewer losses each where there are many, for estimates."""
        most = max(60_000 // len(self.losses), 120)
        return [merge_losses(sample, most) for sample in self._samples]

    def _whole_sum(self, epsilon: float) -> LossDistribution | None:
        """Return the distribution of the sum, discretized at once; None where it is not smooth enough."""
        if sum(counted.count for counted in self.losses) > MOST_ADDED:
            return None
        try:
            with np.errstate(all="ignore"):
                layout = plan_sum(self.losses, self._merged, epsilon)
            if layout is None:
                return None
            with BALLS, working_precision(PRECISION):
                return discretize_sum(self.losses, layout)
        except (ArithmeticError, ValueError, CertificateError):
            return None

    def _plan(self, epsilon: float, finer: float) -> CornerLayout | None:
        """Return a layout for an epsilon; None where no grid fits."""
        if sum(counted.count for counted in self.losses) > MOST_ADDED:
            return None
        try:
            with np.errstate(all="ignore"):
                return plan_total(self.losses, self._samples, epsilon, finer=finer)
        except (ArithmeticError, ValueError):
            # Losses that are almost certain, or beyond 1e-300 or 1e300.
            return None

    def _sum(self, epsilon: float, finer: float) -> LossDistribution | None:
        """Return the distribution of the sum, tilted and discretized for an epsilon; None where no grid fits."""
        plan = self._plan(epsilon, finer)
        if plan is None:
            return None
        with BALLS, working_precision(PRECISION):
            found = total_loss(self.losses, plan)
        self._sums.append(found)
        # A few are kept for other epsilons.
        del self._sums[:-4]
        return found

    def _estimate(self, delta: float) -> float:
        """Return about the epsilon for a delta, in floats."""
        target = math.log(delta)
        low, high = 0.0, 1.0
        while self._log_delta(high) > target and high < MOST_EPSILON:
            low, high = high, 2.0 * high
        while high - low > max(1e-3 * high, LEAST_NEAR / 2):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self._log_delta(middle) > target else (low, middle)
        return high

    def _log_delta(self, epsilon: float) -> float:
        """Return about the logarithm of delta at an epsilon, in floats."""
        with np.errstate(all="ignore"):
            return log_delta(self._merged, saddle(self._merged, epsilon), epsilon)


def _upper(total: LossDistribution, epsilon: float) -> float:
    """Return the upper bound of delta of a sum; any epsilon is allowed, the tilt's own is the best."""
    with BALLS, working_precision(PRECISION):
        return min(max(upper_float(delta_above(total, arb(epsilon))), 0.0), 1.0)


def _lower(total: LossDistribution, epsilon: float, s: float) -> float:
    """Return the lower bound of delta of a sum for a smoothing length."""
    with BALLS, working_precision(PRECISION):
        return max(lower_float(delta_below(total, arb(epsilon), s)), 0.0)


def _lower_with(total: LossDistribution, epsilon: float) -> tuple[float, float]:
    """Return the best lower bound of delta of a sum, and its smoothing length."""
    return max((_lower(total, epsilon, s), s) for s in smoothings(total))


def _refinement(lower: float, upper: float) -> float | None:
    """Return how much finer the grid should be; None where the bounds are close enough."""
    close = 1e-4 if upper >= SMALL else 5e-3
    apart = upper / lower - 1.0 if lower > 0.0 else math.inf
    # Noise so improbable is cut off: grids of any step prove no delta below 1e-85, and none above 0.
    return None if apart <= close or upper < 1e-85 else min(max(1.2 * math.sqrt(apart / close), 1.5), 4.0)


def _crossing(delta_at: Callable[[float], float], delta: float, near: float, *, passing: bool = True) -> float:
    """Return an epsilon at which a falling bound is at most delta or, if not `passing`, still above it.

    Where it is above delta up to the largest epsilon tried: infinity or, if not `passing`, an epsilon near that one.
    """

    def excess(epsilon: float) -> float:
        value = delta_at(epsilon)
        distance = math.log(max(value, math.ulp(0.0)) / delta)
        return max(distance, math.ulp(0.0)) if value > delta else min(distance, 0.0)

    low = high = max(near, LEAST_NEAR)
    stride = 1e-4
    while excess(high) > 0.0:
        low, high, stride = high, high * (1.0 + stride), 8.0 * stride
        if high > MOST_EPSILON:
            return math.inf if passing else low
    while excess(low) <= 0.0:
        high, low, stride = low, max(low * (1.0 - stride), 0.0), 8.0 * stride
        if low == 0.0 and excess(0.0) <= 0.0:
            return 0.0
    end = passing_end(excess, low, high, tolerance=TOLERANCE, resolution=1e-13)
    if passing:
        return end
    # The bound is above delta a little below the crossing.
    back = TOLERANCE
    while end * (1.0 - back) > low and not delta_at(end * (1.0 - back)) > delta:
        back *= 4.0
    return max(end * (1.0 - back), low)


def _up(value: Fraction) -> float:
    """Return the least float that is not below a fraction; infinity where there is none."""
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)
