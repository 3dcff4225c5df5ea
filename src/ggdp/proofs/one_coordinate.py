"""The delta of generalized Gaussian noise when one coordinate moves, and the pure loss of Laplace noise.

Noise of order p and scale b is added to a number that moves by at most D.

On the reals, in units of b, with d = D/b and the standard law's survival function S, the loss at noise x rises with x
and passes epsilon at z:

=======  ======================================================
L(x)     |x + d|^p - |x|^p, the loss at noise x
z        root of (z + d)^p - |z|^p = epsilon, above -d/2
W        z + d = (|z|^p + epsilon)^(1/p)
aDP      delta = S(z) - e^epsilon S(W)
pDP      delta = S(z) + S(W)
=======  ======================================================

Claim: |shift| = D is the worst shift. With W' = dW/dz = sgn(z) (|z|/W)^(p-1), which is below 1 in absolute value,
dz/dd is -1/(1 - W'), and so d(delta)/dd is f(z) > 0 for aDP and f(z) (1 + e^-epsilon W') / (1 - W') > 0 for pDP.

Estimates of roots in floats only say where to look: a proof uses `crossing`, which decides in balls.

On the integers, where D is an integer:

=======  ===================================================================
e        epsilon b^p
L(k)     |k + D|^p - |k|^p, the loss at noise k times b^p; it does not fall with k
k*       the least k with L(k) > e, always above -D/2; none if p = 1 and D <= e
T(k)     P(K >= k)
aDP      delta = T(k*) - e^epsilon T(k* + D), the greatest over all k
pDP      delta = T(k*) + T(k* + D)
=======  ===================================================================

Claim (aDP). The losses above epsilon are those of k >= k*, so delta, the sum of the positive parts of
P(K = k) - e^epsilon P(K = k + D), is the one of k*, and for any other k the difference of tails is no greater. The
shift D is the worst, since T(k) - e^epsilon T(k + d) does not fall with d at any k.

Claim (pDP). The losses above epsilon in absolute value are those of k >= k* and, by symmetry, of k <= -(k* + D). If k*
>= 1, the shift D is the worst. For then D^p = L(0) <= e. Let d < D, with threshold k_d. At k < 0 the loss of d is below
max(d, |k|)^p - |k|^p <= e, and at k >= 0 it is at most the loss of D; so k_d >= k* >= 1. Its x = k_d + d has x^p > e >=
D^p, so x > D and (x - D)^p <= (x - d)^p: the loss of D at x - D is above e too, and k* + D <= k_d + d. If k* <= 0,
delta is above 1/2 and a branch and bound over the shifts follows: k_d does not rise with d, since k_d + d > 0, so that
on the shifts d1..d2 delta is at most T(k_d2) + T(k_d2 + d1).

Claim (pure loss, order 1, reals and integers). The loss of a move d of any number of coordinates is at most
sum_k |d_k| / b, by the triangle inequality, and a move of one coordinate, or of several in one direction of their
signs, reaches it. So the loss is D_1 / b, D_1 being the l_1 norm of the move.

References
----------
Liu, arXiv 1602.06028 v5, Def. pDP and aDP, Cor. disjoint (the bound this replaces), Claim 4; Balle and Wang, "Improving
the Gaussian Mechanism for Differential Privacy", ICML 2018, Theorem 5 (delta by its privacy-loss tails) and Theorem 8
(p = 2, aDP); Dwork, McSherry, Nissim and Smith, "Calibrating Noise to Sensitivity in Private Data Analysis", TCC 2006,
Prop. 1 (Laplace).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, get_args

from flint import arb, ctx

from ggdp import _validate
from ggdp._balls import BALLS, power, upper_float, working_precision
from ggdp._work import spend
from ggdp.errors import ArgumentError
from ggdp.proofs.bound import EXACT, Applicable, Bound, Enclosure, enclosure_of, require_unbounded
from ggdp.proofs.noise_law import NoiseLaw, Support
from ggdp.proofs.tails import survival, tail

if TYPE_CHECKING:
    from ggdp.proofs.worst_case import WorstCase


# Newton's method takes about five steps from a nearby start; bisection, where it is not taken, halves 60 times.
_MOST_STEPS = 200
# Units of work of a loss.
POWERS = 2


def loss(p: arb, z: arb, d: arb) -> arb:
    """Enclose L(z) for any z and any d >= 0."""
    far, near = abs(z + d), abs(z)
    # Proofs of one coordinate take little else: powers of what is certainly positive are not handed on.
    return (far**p if far > 0 else power(far, p)) - (near**p if near > 0 else power(near, p))


def loss_estimate(order: float, z: float, shift: float) -> float:
    """Return L(z) in floats, without cancellation where z is much larger than the shift; infinite beyond the floats."""
    # Mirroring about -d/2 changes only the sign of the loss.
    if z < -0.5 * shift:
        return -loss_estimate(order, -shift - z, shift)
    try:
        if z > shift:
            return float(z**order * math.expm1(order * math.log1p(shift / z)))
        return float((z + shift) ** order - abs(z) ** order)
    except OverflowError:
        return math.inf


def crossing_estimate(
    order: float, shift: float, level: float, *, low: float, high: float, start: float | None = None
) -> float:
    """Return the root z of L(z) = level between `low` and `high` in floats, or the end that is nearest to it."""
    if order == 2.0:
        return min(max((level / shift - shift) / 2.0, low), high)
    if order == 1.0:
        # The loss is 2 z + d from -d to 0, and constant beyond.
        return low if level <= -shift else high if level >= shift else (level - shift) / 2.0
    # Newton's method, and a bisection where a step leaves the bracket or does not halve the distance to the level.
    z, last = 0.5 * (low + high) if start is None else min(max(start, low), high), math.inf
    for _ in range(_MOST_STEPS):
        miss = loss_estimate(order, z, shift) - level
        low, high = (low, z) if miss > 0.0 else (z, high)
        new = 0.5 * (low + high)
        if abs(miss) <= 0.5 * last:
            slope = _slope(order, z, shift)
            step = z - miss / slope if 0.0 < slope < math.inf else math.nan
            if low < step < high:
                new = step
                # Its error is about the square of the step.
                if abs(step - z) <= 1e-8 * abs(step):
                    return step
        last = abs(miss)
        if abs(new - z) <= 1e-14 * abs(new):
            return new
        z = new
    return z


def crossing_estimates(order: float, shift: float, levels: Iterable[float], *, far: float) -> list[float]:
    """Return the roots of L(z) = level between -shift - far and far, for levels in rising order, in floats."""
    found: list[float] = []
    for level in levels:
        start = found[-1] if found else None
        if len(found) >= 3:
            # The parabola through the last ones: for equally distant levels one step of Newton's method is enough.
            start = found[-3] + 3.0 * (found[-1] - found[-2])
        found.append(crossing_estimate(order, shift, level, low=-shift - far, high=far, start=start))
    return found


def _slope(order: float, z: float, shift: float) -> float:
    """Return L'(z) in floats."""
    try:
        near, far = abs(z) ** (order - 1.0), abs(z + shift) ** (order - 1.0)
    except OverflowError:
        return math.inf
    return order * (math.copysign(far, z + shift) - math.copysign(near, z))


def crossing(p: arb, d: arb, level: arb, guess: float, *, side: Literal[-1, 1]) -> float:
    """Return a z near `guess`, or infinity, where L(z) is certainly at most the level (side -1) or at least it (1)."""
    z, step = guess, 2.0 * math.ulp(guess)
    while math.isfinite(z) and not side * (loss(p, arb(z), d) - level) >= 0:
        spend(POWERS, ctx.prec)
        z, step = z + side * step, 4.0 * step
    return z


Notion: TypeAlias = Literal["approximate", "probabilistic"]
NOTIONS = get_args(Notion)
Threshold: TypeAlias = tuple[int, int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class OneCoordinateDelta(Bound):
    """The exact delta when one coordinate moves."""

    exact = True
    support: ClassVar[Support]  # where the noise lives

    notion: Notion  # which delta
    # How far the coordinate can move; at order 2 on the reals the l_2 norm of the move of all coordinates.
    sensitivity: float
    epsilon: float  # the epsilon of the guarantee

    def __post_init__(self) -> None:
        _validate.choice(among=NOTIONS, notion=self.notion)
        if self.support == "integer":
            _validate.integer(sensitivity=self.sensitivity, at_least=1)
        _validate.positive(sensitivity=self.sensitivity)
        _validate.positive(epsilon=self.epsilon)

    @classmethod
    def applicable(cls, case: WorstCase, notion: str, epsilon: float) -> Iterator[Applicable]:
        """Return the delta of each change of one coordinate that dominates, on the integers by its whole part."""
        if case.support == cls.support and (notion == "approximate" or (notion == "probabilistic" and case.is_single)):
            for change in case.dominating:
                if change.is_single:
                    size = change.sizes[0][0]
                    size = max(int(size), 1) if case.support == "integer" else size
                    bound = cls(notion=notion, sensitivity=size, epsilon=epsilon)  # type: ignore[arg-type]
                    yield Applicable(bound, change.note, change.searched)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShiftDelta(OneCoordinateDelta):
    """The exact delta of noise on the reals when one coordinate moves.

    Notes
    -----
    Rounding: `upper` is never below the exact delta. The root z is enclosed by a sign change that is checked in ball
    arithmetic, so nothing depends on how it was found.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> delta = ShiftDelta(notion="approximate", sensitivity=1, epsilon=1)
    >>> delta.enclose(NoiseLaw(order=1, scale=1)).upper  # pure Laplace
    0.0
    """

    name = "shift"
    statement = "one coordinate moves by at most the sensitivity (at order 2: the l_2 norm): the exact delta"
    support = "real"

    def at_precision(self, law: NoiseLaw, bits: int) -> Enclosure:
        """Enclose delta with so many bits."""
        require_unbounded(law, self.support)
        # At order 1 the loss is at most D/b, exactly: a comparison of rationals decides.
        if law.order == 1.0 and Fraction(self.sensitivity) <= Fraction(self.epsilon) * Fraction(law.scale):
            return Enclosure(lower=0.0, upper=0.0, precision=EXACT)
        with BALLS, working_precision(bits):
            p, d, eps = arb(law.order), arb(self.sensitivity) / arb(law.scale), arb(self.epsilon)
            if law.order == 1.0:
                # d is above epsilon, so that z = (epsilon - d)/2 is below 0.
                if self.notion == "approximate":
                    return enclosure_of(-((eps - d) / 2).expm1())
                return enclosure_of(1 - ((eps - d) / 2).exp() / 2 + (-(eps + d) / 2).exp() / 2)
            # Beyond |x|^p = 5000, S is below e^-5000, less than the least positive float, e^-744.
            if loss(p, arb(5000) ** (1 / p), d) < eps:
                return Enclosure(lower=0.0, upper=5e-324, precision=bits)
            return enclosure_of(delta_at_threshold(self.notion, p, eps, _threshold(p, eps, d)))


def delta_at_threshold(notion: str, p: arb, epsilon: arb, z: arb) -> arb:
    """Enclose the delta of the shift whose loss passes epsilon at z, W = (|z|^p + epsilon)^(1/p)."""
    W = ((z**p if z > 0 else power(abs(z), p)) + epsilon) ** (1 / p)
    if notion == "approximate":
        return survival(p, z) - epsilon.exp() * survival(p, W)
    return survival(p, z) + survival(p, W)


def _threshold(p: arb, epsilon: arb, d: arb) -> arb:
    """Enclose z, the root of (z + d)^p - |z|^p = epsilon, for p > 1.

    Newton's method on the logarithms in u = z + d/2: the loss is odd and increasing in u, with slope 1 near 0 and p - 1
    far out, so that started from the right asymptote it comes from one side. The result is then checked.
    """
    linear = epsilon / (2 * p * (d / 2) ** (p - 1))
    tail = ((epsilon / (p * d)).log() / (p - 1)).exp()
    u = (min if p >= 2 else max)(linear.mid(), tail.mid())
    for _ in range(_MOST_STEPS):
        z = u - d / 2
        found = loss(p, z, d)
        near = z ** (p - 1) if z > 0 else z.sgn() * power(abs(z), p - 1)
        slope = p * u * ((u + d / 2) ** (p - 1) - near) / found
        step = ((epsilon / found).log() / slope).mid()
        if not step.is_finite():
            break
        u = (u * max(min(step, arb(50)), arb(-50)).exp()).mid()
        if abs(step) < arb(2) ** (-ctx.prec // 2):
            break
    margin = arb(2) ** (12 - ctx.prec)
    while margin < 1:
        low, high = u * (1 - margin) - d / 2, u * (1 + margin) - d / 2
        if loss(p, low, d) <= epsilon <= loss(p, high, d):
            return low.union(high)
        margin *= 1024
    return arb(math.nan)


# P(K >= k) is about e^-1000 there, below the least positive float.
_FAR_INTEGERS = 1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegerShiftDelta(OneCoordinateDelta):
    """The exact delta of noise on the integers when one coordinate moves.

    Notes
    -----
    Rounding: `upper` is never below the exact delta. The threshold k* is found by comparing balls; where even 1,024
    bits do not distinguish a loss from epsilon, the enclosure holds the deltas of both answers.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> delta = IntegerShiftDelta(notion="approximate", sensitivity=1, epsilon=1)
    >>> print(f"{delta.enclose(NoiseLaw(order=3, scale=2.57663333443, support='integer')).upper:.10f}")
    0.0500000000
    """

    name = "integer-shift"
    statement = "one coordinate moves on the integers by at most the sensitivity: the exact delta"
    support = "integer"

    sensitivity: int

    def at_precision(self, law: NoiseLaw, bits: int) -> Enclosure:
        """Enclose delta with so many bits: that of D, or the greatest of all shifts up to D, by branch and bound."""
        require_unbounded(law, self.support)
        p, b, D = law.order, law.scale, self.sensitivity
        thresholds, best = self._at_shift(law, D, bits)
        if self.notion == "approximate" or thresholds is None or thresholds[0] > 0 or D == 1:
            return best

        def block(first: int, last: int, thresholds: Threshold) -> tuple[float, int, int, Threshold]:
            """Return the shifts of a block and their bound, by the threshold of the last; the greatest comes first."""
            with BALLS, working_precision(bits):
                bound = upper_float(tail(p, b, thresholds[0]) + tail(p, b, thresholds[0] + first))
            return -bound, first, last, thresholds

        lower, upper = best.lower, best.upper
        blocks = [block(1, D, thresholds)]
        # Each split halves a block, so that these are enough for any that matters; the bound holds after any number.
        for _ in range(400):
            if not blocks or -blocks[0][0] <= max(upper, lower):
                break
            _, first, last, of_last = heapq.heappop(blocks)
            middle = (first + last) // 2
            of_middle, value = self._at_shift(law, middle, bits)
            lower, upper = max(lower, value.lower), max(upper, value.upper)
            if of_middle is not None and middle > first:
                heapq.heappush(blocks, block(first, middle, of_middle))
            if middle + 1 < last:
                heapq.heappush(blocks, block(middle + 1, last, of_last))
        upper = max(upper, -blocks[0][0]) if blocks else upper
        return Enclosure(lower=min(lower, 1.0), upper=min(upper, 1.0), precision=bits)

    def _at_shift(self, law: NoiseLaw, D: int, bits: int) -> tuple[Threshold | None, Enclosure]:
        """Return the threshold of a shift, one of two, and the enclosure of its delta, which is 0 without one."""
        p, b = law.order, law.scale
        thresholds = integer_threshold(p, b, D, self.epsilon)
        if thresholds is None:
            return None, Enclosure(lower=0.0, upper=0.0, precision=EXACT)
        low, high = thresholds
        with BALLS, working_precision(bits):
            if high is None:
                # Either delta is at most the mass of both tails.
                most = min(upper_float(2 * tail(p, b, low)), 1.0)
                return thresholds, Enclosure(lower=0.0, upper=most, precision=bits)
            deltas = (delta_at_integer_threshold(self.notion, p, b, D, self.epsilon, k) for k in {low, high})
            values = [enclosure_of(delta) for delta in deltas]
        lower, upper = max(min(v.lower for v in values), 0.0), min(max(v.upper for v in values), 1.0)
        return thresholds, Enclosure(lower=lower, upper=upper, precision=bits)


def delta_at_integer_threshold(notion: str, p: float, b: float, D: int, epsilon: float, k: int) -> arb:
    """Enclose the delta of the shift D if its losses above epsilon are those from k on."""
    if notion == "approximate":
        return tail(p, b, k) - arb(epsilon).exp() * tail(p, b, k + D)
    return tail(p, b, k) + tail(p, b, k + D)


def least_threshold(D: int) -> int:
    """Return the least integer above -D/2, where the loss of the shift D becomes positive."""
    return -((D - 1) // 2)


def integer_threshold(p: float, b: float, D: int, epsilon: float) -> Threshold | None:
    """Return (low, high) with low <= k* <= high, unequal only at a tie; None if no loss is above epsilon.

    Where k* is not below the integer at which P(K >= k) is about e^-1000, that one is `low` and `high` is None: close
    to order 1, k* can have more digits than fit in memory. Where nothing is decided there, at orders beyond all balls,
    `low` is the least integer with a positive loss.
    """
    if p == 1.0 and not _exceeds(p, b, D, epsilon, 0):
        return None
    far = 2 + math.ceil(b * _FAR_INTEGERS ** (1.0 / p))
    reached = _exceeds(p, b, D, epsilon, far - 1)
    if reached is not True:
        # Undecided where powers are beyond all balls: the losses above epsilon are among the positive ones.
        return (least_threshold(D) if reached is None else far), None
    low = least_threshold(D) - 1
    # The losses of k <= -D/2 are not positive, so low always fails; walk from a float's guess.
    spend(90)
    guess = b * crossing_estimate(p, D / b, epsilon, low=-0.5 * D / b, high=_FAR_INTEGERS ** (1.0 / p))
    # D/b may be beyond the floats.
    high, step = max(math.ceil(guess) if math.isfinite(guess) else low, low + 1), 1
    while not _exceeds(p, b, D, epsilon, high):
        low, high, step = high, high + step, 2 * step
    step = 1
    while high - step > low and _exceeds(p, b, D, epsilon, high - step):
        high, step = high - step, 2 * step
    low = max(low, high - step)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _exceeds(p, b, D, epsilon, middle) else (middle, high)
    # A tie cannot be told from a loss above epsilon; below it lie only losses that are certainly not.
    first = high
    while 2 * (first - 1) > -D and _exceeds(p, b, D, epsilon, first - 1) is None:
        first -= 1
    return first, high


def _exceeds(p: float, b: float, D: int, epsilon: float, k: int) -> bool | None:
    """Return whether L(k) > epsilon b^p; None if no precision decides."""
    # Sides that agree to the last of them are a tie: the enclosure then holds the deltas of both answers.
    for bits in (128, 256, 512, 1024):
        spend(POWERS, bits)
        with BALLS, working_precision(bits):
            loss = arb(abs(k + D)) ** arb(p) - arb(abs(k)) ** arb(p)
            level = arb(epsilon) * arb(b) ** arb(p)
            if loss > level:
                return True
            if loss <= level:
                return False
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceLoss(Bound):
    """The exact pure loss of noise of order 1.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> LaplaceLoss(sensitivity=2.0).enclose(NoiseLaw(order=1, scale=4.0)).upper
    0.5
    """

    name = "laplace"
    quantity = "epsilon"
    statement = "Laplace noise: the loss is at most the l_1 sensitivity divided by the scale"
    exact = True

    sensitivity: float  # the l_1 norm of the move

    def __post_init__(self) -> None:
        _validate.positive(sensitivity=self.sensitivity)

    @classmethod
    def applicable(cls, case: WorstCase, notion: str, epsilon: float) -> Iterator[Applicable]:  # noqa: ARG003 - any epsilon
        """Return the loss of the l_1 norm, unless one coordinate has an exact delta."""
        if case.bounding is None and case.order == 1.0 and (notion == "pure" or not case.is_single):
            more = (
                "upper bound: at order 1 this is the scale of pure DP, which is more than the goal asks for; with "
                "several moving coordinates no smaller scale is known to be sound, or none is smaller by more than 1e-4"
            )
            yield Applicable(cls(sensitivity=case.l1_norm), case.note_on_norm(1.0) if notion == "pure" else more)

    def at_precision(self, law: NoiseLaw, bits: int) -> Enclosure:
        """Enclose the loss with so many bits."""
        require_unbounded(law)
        if law.order != 1.0:
            raise ArgumentError("order", law.order, "this bound is about noise of order 1")
        with BALLS, working_precision(bits):
            return enclosure_of(arb(self.sensitivity) / arb(law.scale))
