"""The delta of a total at an epsilon, and the epsilon for a delta, each between two proved floats.

Everything that is proved is in `ggdp.proofs`: here a layout is chosen, refined until the bounds are close, and searched
for the epsilon.

Claim (pure losses). Independent losses of at most e_i each add up to at most the sum of the e_i, where delta is 0; and
randomised response and Laplace noise attain theirs. Claim (Gaussian noise on the reals). Independent shifts d_i in
units of the scale are one shift by their l_2 norm: the law is rotation invariant.
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
from ggdp.calibration.loss_layout import planned_total, samples_of
from ggdp.calibration.sampled_loss import log_delta, saddle
from ggdp.calibration.search import passing_end
from ggdp.errors import UnattainableError
from ggdp.proofs.integer_shift import IntegerShiftDelta
from ggdp.proofs.loss_distribution import delta_above, delta_below, smoothings
from ggdp.proofs.noise_law import NoiseLaw
from ggdp.proofs.profile import LEAST_EPSILON
from ggdp.proofs.shift import ShiftDelta
from ggdp.proofs.total_loss import (
    CoordinateLoss,
    CountedLoss,
    ResponseLoss,
    finite_losses,
    infinite_between,
    total_loss,
)

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
# How much finer than usual the grid of a picture is.
ROUGH = 0.2
TOLERANCE = 1e-10
MOST_EPSILON = 1e8


@dataclass(frozen=True, slots=True)
class TotalLoss:
    """The sum of independent losses.

    Attributes
    ----------
    losses : tuple of CountedLoss
        Distinct finite losses, and how many of each.
    infinite : tuple of float
        Two floats with the probability of an infinite loss between them; no epsilon has a smaller delta.
    """

    losses: tuple[CountedLoss, ...]
    infinite: tuple[float, float] = (0.0, 0.0)
    _samples: list[Sample] = field(default_factory=list, repr=False, compare=False)

    @classmethod
    def of(cls, losses: Iterable[CountedLoss]) -> TotalLoss:
        """Return the total of losses, equal ones together."""
        given = tuple(losses)
        found: Counter[Loss] = Counter()
        for counted in finite_losses(given):
            found[counted.loss] += counted.count
        return cls(tuple(CountedLoss(loss, count) for loss, count in found.items()), infinite_between(given))

    def pure(self) -> Fraction | None:
        """Return the largest possible sum of all losses; None where it is infinite."""
        if self.infinite[1] > 0.0:
            return None
        return self._largest()

    def _largest(self) -> Fraction | None:
        """Return the largest possible sum of finite losses; None where there is none."""
        total = Fraction(0)
        for counted in self.losses:
            loss = counted.loss
            if isinstance(loss, ResponseLoss):
                total += counted.count * Fraction(loss.epsilon)
            elif loss.law.order == 1.0:
                total += counted.count * Fraction(loss.size) / Fraction(loss.law.scale)
            else:
                return None
        return total

    def delta(self, epsilon: float) -> tuple[float, float]:
        """Return two proved floats with delta(epsilon) between them, for an epsilon of at least 0."""
        return self._with_infinite(self._finite_delta(epsilon, refine=True))

    def rough_delta(self, epsilon: float) -> tuple[float, float]:
        """Return bounds as `delta` does, as good as a picture needs: within a percent or so."""
        return self._with_infinite(self._finite_delta(epsilon, refine=False))

    def _with_infinite(self, found: tuple[float, float]) -> tuple[float, float]:
        """Return bounds of delta from those of the finite losses."""
        if self.infinite[1] == 0.0:
            return found
        with BALLS, working_precision(PRECISION):
            lower, upper = (q + (1 - q) * arb(delta) for q, delta in zip(map(arb, self.infinite), found, strict=True))
            return max(lower_float(lower), 0.0), min(upper_float(upper), 1.0)

    def _finite_delta(self, epsilon: float, *, refine: bool) -> tuple[float, float]:
        largest = self._largest()
        if largest is not None and largest <= Fraction(epsilon):
            return 0.0, 0.0
        exact = self._exact(epsilon)
        if exact is not None:
            return exact
        if not refine:
            total = self._sum(epsilon, ROUGH)
            return _lower(total, epsilon), _upper(total, epsilon)
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
        # The delta that is left to the finite losses, for a lower and for an upper bound of epsilon.
        with BALLS, working_precision(PRECISION):
            left = [(arb(delta) - arb(q)) / (1 - arb(q)) for q in self.infinite]
            most, least = upper_float(left[0]), lower_float(left[1])
        lower = math.inf if most < 0.0 else self._finite_epsilon(most)[0]
        if least == most:
            return self._finite_epsilon(least) if least >= 0.0 else (math.inf, math.inf)
        return lower, (math.inf if least < 0.0 else self._finite_epsilon(least)[1])

    def _finite_epsilon(self, delta: float) -> tuple[float, float]:
        largest = self._largest()
        end = math.inf if largest is None else _up(largest)
        if delta == 0.0:
            return (end if largest is None or Fraction(end) == largest else math.nextafter(end, 0.0)), end
        if not self.losses or self._finite_delta(0.0, refine=True)[1] <= delta:
            return 0.0, 0.0
        near = self._estimate(delta)
        if self._exact(near) is not None:
            upper = _crossing(lambda x: self._finite_delta(x, refine=True)[1], delta, near)
            return _crossing(lambda x: self._finite_delta(x, refine=True)[0], delta, upper, passing=False), upper
        found, finer = (0.0, end), 1.0
        for _ in range(REFINEMENTS):
            total = self._sum(near, finer)
            upper = _crossing(partial(_upper, total), delta, near)
            if math.isinf(upper):
                break
            lower = _crossing(partial(_lower, total), delta, upper, passing=False)
            found = max(found[0], lower), min(found[1], upper)
            further = _refinement(_lower(total, upper), delta)
            if further is None:
                break
            near, finer = upper, finer * further
        return min(found), found[1]

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
            exact = (
                IntegerShiftDelta(notion="approximate", sensitivity=int(size), epsilon=at)
                if law.support == "integer"
                else ShiftDelta(notion="approximate", sensitivity=size, epsilon=at)
            )
            enclosure = exact.enclose(law)
            return enclosure.lower, enclosure.upper
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

    def _sampled(self) -> list[Sample]:
        """Return samples of the losses, made once."""
        if not self._samples:
            found = samples_of([(counted.loss, counted.count) for counted in self.losses])
            if found is None:
                message = "a loss of the total is beyond the floats: some noise is far too small for its sensitivity"
                raise UnattainableError(message)
            self._samples.extend(found)
        return self._samples

    def _sum(self, epsilon: float, finer: float) -> LossDistribution:
        """Return the distribution of the sum, tilted and laid out for an epsilon."""
        pairs = [(counted.loss, counted.count) for counted in self.losses]
        plan = planned_total(pairs, self._sampled(), epsilon, finer=finer)
        with BALLS, working_precision(PRECISION):
            return total_loss(plan.parts, tilt=plan.tilt, tail=plan.tail, points=plan.points)

    def _estimate(self, delta: float) -> float:
        """Return about the epsilon for a delta, in floats."""
        samples, target = self._sampled(), math.log(delta)

        def excess(epsilon: float) -> float:
            return log_delta(samples, saddle(samples, epsilon), epsilon) - target

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
    with BALLS, working_precision(PRECISION):
        x = arb(epsilon)
        return max(0.0, *(lower_float(delta_below(total, x, s)) for s in smoothings(total) if s > 0.0))


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
