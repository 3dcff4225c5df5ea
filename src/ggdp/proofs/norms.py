"""Deltas where only a norm of the whole move is known, not how it is spread over the coordinates.

The direction-free delta, of the l_p norm, p being the order of the noise:

=====  ================================================================
r      dimension, how many coordinates the query has
t      Delta_p / b, the l_p norm of the move in units of the scale
G      sum of |x_k|^p over the r standard noises, a Gamma(r/p, 1) variable
g      root of (g^(1/p) + t)^p - g = epsilon
Q      regularised upper incomplete gamma function
=====  ================================================================

Claim: independent noise of order p > 1 is (epsilon, Q(r/p, g))-pDP, hence aDP, for every move of l_p norm at most
Delta_p. Proof: by Minkowski ||x + d||_p <= ||x||_p + t, so the loss ||x + d||_p^p - ||x||_p^p is at most
(G^(1/p) + t)^p - G. Its negative is at most G - (G^(1/p) - t)_+^p, which is no more, by convexity. That bound rises
with G, so it exceeds epsilon only where G > g.

The bound is loose: it pays for the worst direction at every noise vector at once. At t^p >= epsilon it is 1.

Discrete Gaussian noise: independent integer noise of order 2 is added to integers that move by d, with ||d||_2 <= R.

=======  ======================================================================================
sigma    b / sqrt(2), where b is the scale: P(K = k) is proportional to exp(-k^2 / (2 sigma^2))
s        width of the randomized rounding, any number below sigma
tau      (sigma^2 - s^2)^(1/2), the standard deviation of the continuous noise it is compared with
r        how many coordinates can move: the dimension, and at most R^2, since a whole move is 1 or more
eta_s    2 sum_(m >= 1) exp(-2 pi^2 s^2 m^2), about 1e-34 at s = 2
=======  ======================================================================================

Claim: delta(epsilon) <= (1 + eta_s)^r delta_G(epsilon - r log((1 + eta_s) / (1 - eta_s))), where delta_G is the exact
delta of continuous Gaussian noise of standard deviation tau and a shift of R.

Proof. Let N_v(y) be the density at y of a centred normal variable with variance v. Take continuous noise
Y = x + N(0, tau^2) and round it at random: output k with probability N_(s^2)(k - Y) / rho(Y), where
rho(y) = sum_j N_(s^2)(j - y). By Poisson summation rho(y) = 1 + 2 sum_m exp(-2 pi^2 s^2 m^2) cos(2 pi m y), which is
within 1 - eta_s and 1 + eta_s. The variances of convolved normal densities add up, so the output has the law

    mu_x(k) = E[N_(s^2)(k - Y) / rho(Y)], between N_(sigma^2)(k - x) / (1 + eta_s) and N_(sigma^2)(k - x) / (1 - eta_s).

The discrete Gaussian has P_x(k) = c N_(sigma^2)(k - x) with one c <= 1 for every integer x, again by Poisson summation.
So P_x <= c (1 + eta_s) mu_x and P_x' >= c (1 - eta_s) mu_x' at each k, and over the coordinates that move the r-th
powers of the factors, while the others have the same law on both sides. Hence for every set A

    P_x(A) - e^epsilon P_x'(A) <= (1 + eta_s)^r (mu_x(A) - e^epsilon ((1 - eta_s) / (1 + eta_s))^r mu_x'(A)).

mu is post-processing of continuous Gaussian noise, whose delta depends on ||d||_2 alone and rises with it. QED.

The price is a standard deviation larger by the factor (1 + s^2 / tau^2)^(1/2): 2e-6 at s = 2 and tau = 1000. The bound
falls as b grows, so that here a larger scale is valid too.

References
----------
Liu, arXiv 1602.06028 v5, Cor. GGMpDP, is the first bound with known per-coordinate sensitivities; this one needs none.
Peikert, "An Efficient and Parallel Gaussian Sampler for Lattices", CRYPTO 2010, Theorem 3.1 (the convolution); Canonne,
Kamath and Steinke, "The Discrete Gaussian for Differential Privacy", NeurIPS 2020 (the noise, and its concentrated DP);
Balle and Wang, ICML 2018, Theorem 8 (delta_G).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import arb

from ggdp import _validate
from ggdp._balls import BALLS, lower_float, upper_float, working_precision
from ggdp.errors import ArgumentError
from ggdp.proofs.bound import Applicable, Bound, Enclosure, require_unbounded
from ggdp.proofs.noise_law import NoiseLaw
from ggdp.proofs.one_coordinate import ShiftDelta, crossing, crossing_estimate, loss_estimate

if TYPE_CHECKING:
    from ggdp.proofs.worst_case import WorstCase

NO_DIRECTION = (
    "upper bound: with only an l_p norm of the change the worst direction at order {:.12g} is not known, so this is "
    "the direction-free bound; per-coordinate sensitivities give a smaller scale"
)
BY_L2_NORM = (
    "upper bound: only the l_2 norm of the change is used, by comparison with continuous Gaussian noise; where the "
    "norm is many steps, the scale is larger than the least by a fraction of a percent"
)
# Widths of the randomized rounding that are tried; at the last the factors are 1 to more digits than a float has.
ROUNDINGS = (0.5, 0.65, 0.8, 0.95, 1.1, 1.25, 1.5, 2.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _NormDelta(Bound):
    """An upper bound of delta when only the l_p norm of the move is known, p being the order of the noise."""

    sensitivity: float  # the norm; that of a move on the integers need not be an integer
    dimension: int  # how many coordinates the query has
    epsilon: float  # the epsilon of the guarantee

    def __post_init__(self) -> None:
        _validate.positive(sensitivity=self.sensitivity)
        _validate.integer(dimension=self.dimension, at_least=1)
        _validate.positive(epsilon=self.epsilon)


@dataclass(frozen=True, slots=True, kw_only=True)
class RadialDelta(_NormDelta):
    """An upper bound of delta when only the l_p norm of the move is known, p being the order of the noise.

    Notes
    -----
    Rounding: `upper` is never below the bound of the Claim above, which is itself an upper bound of the true delta.
    The root is replaced by floats on either side of it, and the side is decided in balls.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> delta = RadialDelta(sensitivity=1.0, dimension=2, epsilon=1.0).enclose(NoiseLaw(order=2, scale=5.0))
    >>> round(delta.upper, 12), round(delta.lower, 12)  # Q(1, 5.76) = exp(-5.76)
    (0.003151111598, 0.003151111598)
    """

    name = "radial"
    statement = "an upper bound, free of direction: Minkowski's inequality for the l_p norm of the noise"
    usual_precisions = (256, 512, 1024, 2048, 4096)  # enough for the gamma function at great dimensions

    @classmethod
    def applicable(cls, case: WorstCase, notion: str, epsilon: float) -> Iterator[Applicable]:
        """Return the bound of the l_p norm, on the reals."""
        query = case.sensitivity
        several = query.joint is not None and not case.is_single and case.bounding is None
        if several and notion != "pure" and case.support == "real" and case.order > 1.0:
            bound = cls(sensitivity=query.lp(case.order), dimension=query.moving, epsilon=epsilon)
            yield Applicable(bound, NO_DIRECTION.format(case.order))

    def at_precision(self, law: NoiseLaw, bits: int) -> Enclosure:
        """Enclose the bound with so many bits."""
        require_unbounded(law, "real")
        if law.order == 1.0:
            raise ArgumentError("order", law.order, "must be above 1 here; at order 1 an l_1 norm gives pure DP")
        with BALLS, working_precision(bits):
            p, eps, t = arb(law.order), arb(self.epsilon), arb(self.sensitivity) / arb(law.scale)
            if not t**p < eps:
                return Enclosure(lower=0.0, upper=1.0, precision=bits, exhausted=True)
            # The root of (u + t)^p - u^p = epsilon in floats, at least 0. Beyond 1e100 the bound is the trivial one, 1.
            near, largest = self.sensitivity / law.scale, 1.0
            while loss_estimate(law.order, largest, near) < self.epsilon and largest < 1e100:
                largest *= 8.0
            guess = crossing_estimate(law.order, near, self.epsilon, low=-near - largest, high=largest)
            guess = max(guess, 0.0)
            low, high = max(crossing(p, t, eps, guess, side=-1), 0.0), crossing(p, t, eps, guess, side=1)
            a = self.dimension / p
            upper = upper_float((arb(low) ** p).gamma_upper(a, regularized=1))
            lower = lower_float((arb(high) ** p).gamma_upper(a, regularized=1)) if math.isfinite(high) else 0.0
        # The root is only known to a float, so the gamma function decides whether more bits help.
        decided = math.isfinite(upper) and upper <= 1.0
        return Enclosure(lower=max(lower, 0.0), upper=min(upper, 1.0), precision=bits, exhausted=decided)


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegerGaussianDelta(_NormDelta):
    """An upper bound of delta for integer noise of order 2 when a vector moves by a known l_2 norm.

    Notes
    -----
    Rounding: the scale and the epsilon of the continuous noise are rounded down, the factor up. The least of the bounds
    for several widths s is taken, each of which holds.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> delta = IntegerGaussianDelta(sensitivity=1024.0, dimension=1000, epsilon=1.0)
    >>> 0.99e-6 < delta.enclose(NoiseLaw(order=2, scale=6118.0, support="integer")).upper < 1.01e-6
    True
    """

    name = "integer-gaussian"
    statement = "an upper bound from the l_2 norm: discrete Gaussian noise as continuous noise rounded at random"
    monotone = True
    usual_precisions = (256,)  # at which the factors are known to all digits of a float

    @classmethod
    def applicable(cls, case: WorstCase, notion: str, epsilon: float) -> Iterator[Applicable]:
        """Return the bound of the l_2 norm, on the integers."""
        query = case.sensitivity
        several = query.joint is not None and not case.is_single and case.bounding is None
        if several and notion == "approximate" and case.support == "integer" and case.order == 2.0:
            bound = cls(sensitivity=query.lp(2), dimension=query.moving, epsilon=epsilon)
            yield Applicable(bound, BY_L2_NORM)

    def at_precision(self, law: NoiseLaw, bits: int) -> Enclosure:
        """Bound delta from above with so many bits."""
        require_unbounded(law, "integer")
        if law.order != 2.0:
            raise ArgumentError("order", law.order, "this bound is about noise of order 2")
        best = 1.0
        for s in ROUNDINGS:
            with BALLS, working_precision(bits):
                inner = arb(law.scale) ** 2 - 2 * arb(s) ** 2
                factor, loss = comparison(s, self.sensitivity, self.dimension)
                b, eps = (lower_float(inner.sqrt()), lower_float(arb(self.epsilon) - loss)) if inner > 0 else (0.0, 0.0)
            if b > 0.0 and eps > 0.0:
                continuous = ShiftDelta(notion="approximate", sensitivity=self.sensitivity, epsilon=eps)
                delta = continuous.at_precision(NoiseLaw(order=2.0, scale=b), bits).upper
                with BALLS, working_precision(bits):
                    best = min(best, upper_float(factor * arb(delta)))
        return Enclosure(lower=0.0, upper=best, precision=bits)


def comparison(s: float, sensitivity: float, dimension: int) -> tuple[arb, arb]:
    """Return upper bounds of the factor (1 + eta_s)^r and of the loss r log((1 + eta_s) / (1 - eta_s))."""
    moving = min(dimension, math.floor(sensitivity * sensitivity) + 1)
    # m^2 >= 3 m - 2, so the sum is at most the geometric series of the cube.
    first = (-2 * arb.pi() ** 2 * arb(s) ** 2).exp()
    eta = 2 * first / (1 - first**3)
    return (moving * eta.log1p()).exp(), moving * (eta.log1p() - (-eta).log1p())
