"""The delta of a total at an epsilon, and the epsilon for a delta, each between two proved floats.

Everything that is proved is in `ggdp.proofs`: here a layout is chosen, refined until the bounds are close, and searched
for the epsilon.

Claim (pure losses). Independent losses of at most e_i each add up to at most the sum of the e_i, where delta is 0; and
randomised response and Laplace noise attain theirs. Claim (Gaussian noise on the reals). Independent shifts d_i in units
of the scale are one shift by their l_2 norm: the law is rotation invariant.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from flint import arb

from ggdp._balls import BALLS, lower_float, upper_float, working_precision
from ggdp.calibration.sampled_loss import log_delta, saddle
from ggdp.calibration.search import passing_end
from ggdp.calibration.loss_layout import planned_total, samples_of
from ggdp.proofs.integer_shift import IntegerShiftDelta
from ggdp.proofs.loss_distribution import delta_above, delta_below
from ggdp.proofs.noise_law import NoiseLaw
from ggdp.proofs.profile import LEAST_EPSILON
from ggdp.proofs.shift import ShiftDelta
from ggdp.proofs.total_loss import CoordinateLoss, CountedLoss, ResponseLoss, total_loss

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ggdp.calibration.sampled_loss import Sample
    from ggdp.proofs.loss_distribution import LossDistribution
    from ggdp.proofs.total_loss import Loss

__all__ = ["TotalLoss"]

PRECISION = 80
# Bounds that are closer than this, relative to delta, are good enough, or this for a delta below SMALL.
CLOSE, LESS_CLOSE, SMALL = 1e-4, 5e-3, 1e-15
# Grids are refined at most so often, each time by at most this factor.
REFINEMENTS, FINEST = 3, 4.0
# Smoothing lengths that are tried: shares of the spread, and parts of the widest gap where losses lie on a lattice.
SHARES = (0.9, 1.25, 2.0, 4.0)
PARTS = (0.05, 0.1, 0.2)
TOLERANCE = 1e-10
MOST_EPSILON = 1e8


@dataclass(frozen=True, slots=True)
class TotalLoss:
    """The sum of independent losses.

    Attributes
    ----------
    losses : tuple of CountedLoss
        Distinct losses, and how many of each.
    """

    losses: tuple[CountedLoss, ...]
    _samples: list[Sample] = field(default_factory=list, repr=False, compare=False)

    @classmethod
    def of(cls, losses: Iterable[CountedLoss]) -> TotalLoss:
        """Return the total of losses, equal ones together."""
        found: Counter[Loss] = Counter()
        for counted in losses:
            found[counted.loss] += counted.count
        return cls(tuple(CountedLoss(loss, count) for loss, count in found.items()))

    def pure(self) -> Fraction | None:
        """Return the largest possible sum of all losses; None where it is infinite."""
        total = Fraction(0)
        for counted in self.losses:
            loss = counted.loss
            if isinstance(loss, ResponseLoss):
                if loss.delta > 0.0:
                    return None
                total += counted.count * Fraction(loss.epsilon)
            elif loss.law.order == 1.0:
                total += counted.count * Fraction(loss.size) / Fraction(loss.law.scale)
            else:
                return None
        return total

    def delta(self, epsilon: float) -> tuple[float, float]:
        """Return two proved floats with delta(epsilon) between them, for an epsilon of at least 0."""
        pure = self.pure()
        if pure is not None and pure <= Fraction(epsilon):
            return 0.0, 0.0
        exact = self._exact(epsilon)
        if exact is not None:
            return exact
        lower, upper, finer = 0.0, 1.0, 1.0
        for _ in range(REFINEMENTS):
            total = self._sum(epsilon, finer)
            lower, upper = max(lower, _lower(total, epsilon)), min(upper, _upper(total, epsilon))
            further = _refinement(lower, upper)
            if further is None:
                break
            finer *= further
        return min(lower, upper), upper

    def epsilon(self, delta: float) -> tuple[float, float]:
        """Return two proved floats with the least epsilon >= 0 for a delta above 0 between them."""
        if self.delta(0.0)[1] <= delta:
            return 0.0, 0.0
        near = self._estimate(delta)
        if self._exact(near) is not None:
            upper = _crossing(lambda x: self.delta(x)[1], delta, near)
            return _crossing(lambda x: self.delta(x)[0], delta, upper, passing=False), upper
        found, finer = (0.0, math.inf), 1.0
        for _ in range(REFINEMENTS):
            total = self._sum(near, finer)
            upper = _crossing(partial(_upper, total), delta, near)
            lower = _crossing(partial(_lower, total), delta, upper, passing=False)
            found = max(found[0], lower), min(found[1], upper)
            further = _refinement(_lower(total, upper), delta)
            if further is None:
                break
            near, finer = upper, finer * further
        pure = self.pure()
        return found if pure is None else (found[0], min(found[1], _up(pure)))

    def _exact(self, epsilon: float) -> tuple[float, float] | None:
        """Return the bounds where the total is one shift of one coordinate; None where it is not."""
        at = max(epsilon, LEAST_EPSILON)
        if epsilon < LEAST_EPSILON:
            # Near 0 delta is convex in e^epsilon with a slope of at least -1.
            found = self._exact(LEAST_EPSILON)
            return None if found is None else (found[0], min(found[1] + 2.0 * LEAST_EPSILON, 1.0))
        losses = [counted.loss for counted in self.losses]
        if len(losses) == 1 == self.losses[0].count and isinstance(losses[0], CoordinateLoss):
            law, size = losses[0].law, losses[0].size
            if law.support == "integer":
                found = IntegerShiftDelta(notion="approximate", sensitivity=int(size), epsilon=at).enclose(law)
            else:
                found = ShiftDelta(notion="approximate", sensitivity=size, epsilon=at).enclose(law)
            return found.lower, found.upper
        if not all(isinstance(loss, CoordinateLoss) and _is_gaussian(loss.law) for loss in losses):
            return None
        with BALLS, working_precision(PRECISION):
            total = arb(0)
            for counted in self.losses:
                assert isinstance(counted.loss, CoordinateLoss)
                total += counted.count * (arb(counted.loss.size) / arb(counted.loss.law.scale)) ** 2
            ends = lower_float(total.sqrt()), upper_float(total.sqrt())
        law = NoiseLaw(order=2, scale=1.0)
        lower, upper = (ShiftDelta(notion="approximate", sensitivity=end, epsilon=at).enclose(law) for end in ends)
        return lower.lower, upper.upper

    def _sum(self, epsilon: float, finer: float) -> LossDistribution:
        """Return the distribution of the sum, tilted and laid out for an epsilon."""
        pairs = [(counted.loss, counted.count) for counted in self.losses]
        if not self._samples:
            self._samples.extend(samples_of(pairs))
        plan = planned_total(pairs, self._samples, epsilon, finer=finer)
        with BALLS, working_precision(PRECISION):
            return total_loss(plan.parts, tilt=plan.tilt, tail=plan.tail, points=plan.points)

    def _estimate(self, delta: float) -> float:
        """Return about the epsilon for a delta, in floats."""
        if not self._samples:
            self._samples.extend(samples_of([(counted.loss, counted.count) for counted in self.losses]))
        target = math.log(delta)

        def excess(epsilon: float) -> float:
            return log_delta(self._samples, saddle(self._samples, epsilon), epsilon) - target

        low, high = 0.0, 1.0
        while excess(high) > 0.0 and high < MOST_EPSILON:
            low, high = high, 2.0 * high
        while high - low > 1e-3 * high:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if excess(middle) > 0.0 else (low, middle)
        return high


def _upper(total: LossDistribution, epsilon: float) -> float:
    """Return the upper bound of delta of a sum; any epsilon is allowed, the tilt's own is the best."""
    with BALLS, working_precision(PRECISION):
        return min(upper_float(delta_above(total, arb(epsilon))), 1.0)


def _lower(total: LossDistribution, epsilon: float) -> float:
    """Return the lower bound of delta of a sum, the best of several smoothing lengths."""
    splits = total.slack.splits
    spread = sum(count * split.spread for split, count in splits)
    gap = max(split.gap for split, _ in splits)
    lengths = [*(math.sqrt(share * spread) for share in SHARES), *(gap * part for part in PARTS)]
    with BALLS, working_precision(PRECISION):
        x = arb(epsilon)
        return max(0.0, *(lower_float(delta_below(total, x, s)) for s in lengths if s > 0.0))


def _refinement(lower: float, upper: float) -> float | None:
    """Return how much finer the grid should be; None where the bounds are close enough."""
    close = CLOSE if upper >= SMALL else LESS_CLOSE
    apart = upper / lower - 1.0 if lower > 0.0 else math.inf
    return None if apart <= close or upper == 0.0 else min(max(1.2 * math.sqrt(apart / close), 1.5), FINEST)


def _crossing(delta_at: Callable[[float], float], delta: float, near: float, *, passing: bool = True) -> float:
    """Return an epsilon at which a falling bound is at most delta or, if not `passing`, still above it."""

    def excess(epsilon: float) -> float:
        value = delta_at(epsilon)
        distance = math.log(max(value, math.ulp(0.0)) / delta)
        return max(distance, math.ulp(0.0)) if value > delta else min(distance, 0.0)

    low, high, stride = near, near, 1e-4
    if excess(near) > 0.0:
        while excess(high) > 0.0:
            low, high, stride = high, high * (1.0 + stride), 8.0 * stride
            if high > MOST_EPSILON:
                return math.inf
    else:
        while excess(low) <= 0.0:
            high, low, stride = low, max(low * (1.0 - stride), 0.0), 8.0 * stride
            if low == 0.0 and excess(0.0) <= 0.0:
                return 0.0
    end = passing_end(excess, failing=low, passing=high, tolerance=TOLERANCE, resolution=1e-13)
    if passing:
        return end
    # The bound is above delta a little below the crossing.
    back = TOLERANCE
    while end * (1.0 - back) > low and not delta_at(end * (1.0 - back)) > delta:
        back *= 4.0
    return max(end * (1.0 - back), low)


def _is_gaussian(law: NoiseLaw) -> bool:
    return law.order == 2.0 and law.support == "real"


def _up(value: Fraction) -> float:
    """Return the least float that is not below a fraction."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)
