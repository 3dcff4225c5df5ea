"""Noise with a density proportional to exp(-||x|| / b), for any l_p norm: real vectors, rounded exactly to a grid.

=======  =====================================================================================
p, b     order, from 1 to infinity, and scale
r, D_k   number of coordinates, and the size of coordinate k
||x||    (sum of |x_k / D_k|^p)^(1/p), or the largest |x_k| / D_k: no norm, scale or size is data
w        a vector of independent w_k with density proportional to exp(-|w_k|^p); uniform on [-1, 1] for p = infinity
R        the sum of r independent exponential variables of mean b; of r + 1 for p = infinity
s, g     true values, and the step of the grid
U        a uniform number in (0, 1), of which 64 bits are read at first, and 64 more where they do not decide
=======  =====================================================================================

Claim (privacy). With moves of norm at most d, s + x is (d/b)-DP, and so is all that is computed from it, such as its
rounding. Proof: densities at a point differ by a factor of exp((||x - s'|| - ||x - s||) / b) <= exp(||s - s'|| / b).

Claim (law). Let all D_k be 1. For finite p, x = R w / ||w|| has the density; for p = infinity, x = R w. Proof: if a
density depends on the norm alone then the direction x / ||x|| is independent of ||x||, and has the same law for all
such densities (integrate over x = t y with ||y|| = 1). That of w is proportional to exp(-||w||^p), so w / ||w|| is a
direction of ours, and our ||x|| has a density proportional to t^(r-1) exp(-t/b), which is the law of R. For p =
infinity w is uniform in the unit ball, of volume 2^r, and R has the density t^r exp(-t/b) / (r! b^(r+1)); so the
density of R w at x is the integral of exp(-t/b) / (2^r r! b^(r+1)) over t > ||x||, or exp(-||x||/b) / (2^r r! b^r).
(So ||w|| = max |w_k| makes R w / ||w|| a draw as well, with r variables in R.) Coordinate k is then multiplied by D_k.

Claim (quantiles). Let F be a distribution function with a log-concave density f, such as that of |w_k|, and F(z) = P,
1 - F(z) = Q at any z. The t with 1 - F(t) = v lies between z + (P/f(z)) log((1 - v) / P) and z + (Q/f(z)) log(Q / v).
Proof: log F and log(1 - F) are concave (Prekopa), so they lie below their tangents at z.

Claim (rounding). The index of coordinate k is floor((s_k + x_k)/g + 1/2), saturated at 64 bits, for a real draw x.
Proof: every U is a ball that holds all numbers that begin with the bits read, s_k/g is exact, and all steps are in ball
arithmetic. An index is taken where the ball has one floor; where any has not, every U is read on, and so the draw is
that of infinitely many bits. An exponential variable is -log U. A float only guesses the z of a quantile.

Timing. U are read on until every x_k/g is known to within 2^-40, whatever s is. What is read beyond that depends on s
too: it happens where some s_k + x_k is that close to the middle between two points of the grid. Rationals take time by
their digits.

The errors below describe and prove nothing. |w_k|^p has the Gamma law of shape 1/p, which makes E x_k^2 a product, and
|x_k| / R the (1/p)-th power of a Beta variable of 1/p and (r-1)/p.

References
----------
Hardt and Talwar, "On the Geometry of Differential Privacy", STOC 2010; Liu, arXiv 1602.06028 v5 (the Minkowski distance
as utility); Barthe, Guedon, Mendelson and Naor, "A probabilistic approach to the geometry of the l_p^n-ball" (2005);
Prekopa, "On logarithmic concave measures and functions" (1973).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen
from flint import arb
from numpy.typing import ArrayLike, NDArray

from ggdp import _validate
from ggdp._balls import BALLS, ball_of, hull, power, working_precision
from ggdp.errors import ArgumentError, ArgumentTypeError, EntropyError
from ggdp.noise.entropy import Source, checked_source, fill, random_bits
from ggdp.noise.generalized_gaussian import Floats, checked_scale
from ggdp.noise.integer_noise import WIDEST
from ggdp.privacy.grid import LARGEST, LEAST, Grid, exact_fraction, exact_numbers, refusal
from ggdp.proofs.noise_law import NoiseLaw

if TYPE_CHECKING:
    from ggdp.noise.minkowski_noise import MinkowskiNoise

# Random bits reach so far without a decision with a probability below 2^-900.
_MOST_BITS = 1 << 10
_SPARE_BITS = 64
# Errors are those of a level that is so much closer to 1, which is more than the integrals are off.
_MARGIN = 1e-8


def _order(order: float) -> float:
    if order == math.inf:
        return math.inf
    found = _validate.order(order=order)
    if found > 1e6:
        raise ArgumentError("order", order, "is too large to be drawn exactly (10^6 at most, or math.inf)")
    return found


@frozen(kw_only=True)
class NormBallNoise:
    """Noise on real vectors with density proportional to exp(-||x|| / scale), for an l_p norm of any order.

    Moves of a norm of at most d have pure DP with epsilon = d / scale.

    Examples
    --------
    >>> from ggdp import Grid
    >>> from ggdp.noise import SeededSource
    >>> noise = NormBallNoise(order=math.inf, scale=1.0, dimension=3, sizes=(1.0, 2.0, 0.5))
    >>> noise.around([10.0, -3.0, 0.1], Grid(step=2**-10), SeededSource(seed=1)) % 2**-10
    array([0., 0., 0.])
    >>> round(noise.std, 6), round(noise.half_width(0.95), 4), round(noise.simultaneous_half_width(0.95), 4)
    (2.581989, 5.1863, 6.2958)

    Independent Laplace noise is the case of order 1:

    >>> laplace = NormBallNoise(order=1, scale=1.0, dimension=3)
    >>> round(laplace.std, 6), round(laplace.half_width(0.95), 4)
    (1.414214, 2.9957)
    """

    order: float = field(converter=_order)  # of the norm, at least 1; `math.inf` for the largest coordinate
    scale: float = field(converter=checked_scale)
    dimension: int
    sizes: tuple[float, ...] | None = None  # for each coordinate what the norm divides it by; 1 by default

    def __attrs_post_init__(self) -> None:
        count = _validate.integer(dimension=self.dimension, at_least=1, at_most=1 << 20)
        object.__setattr__(self, "dimension", count)
        if self.sizes is not None:
            sizes = tuple(_validate.positive(sizes=size) for size in np.asarray(self.sizes).tolist())
            if len(sizes) != count:
                raise ArgumentError("sizes", sizes, f"must be one for each of the {count} coordinates")
            object.__setattr__(self, "sizes", sizes)

    def in_steps(self, grid: Grid) -> list[Fraction]:
        """Return b D_k in steps of a grid, for each coordinate or for all; refuse what is too far from a step."""
        if not isinstance(grid, Grid):
            raise ArgumentTypeError("grid", type(grid).__name__, "must be a Grid, such as Grid(step=2**-10)")
        steps = [Fraction(self.scale) * Fraction(size) / Fraction(grid.step) for size in self.sizes or (1.0,)]
        # Then no noise is lost at the ends of 64 bits, nor near 0 beside a true value.
        if not 1 / WIDEST <= min(steps) <= max(steps) <= WIDEST:
            expected = (
                f"times a size must be 2^-55 to 2^55 steps of the grid to be drawn exactly, a step is {grid.step!r}"
            )
            raise ArgumentError("scale", self.scale, expected)
        return steps

    def around(self, values: ArrayLike, grid: Grid, rng: Source | None = None) -> Floats:
        """Return one vector of true values, or vectors along the last axis, each with its noise, rounded to the grid.

        Rounding to it is post-processing: the sensitivity is that of the values. No error shows a value.
        """
        bits, given, steps = checked_source(rng), exact_numbers(values), self.in_steps(grid)
        if given.shape[-1:] != (self.dimension,):
            raise refusal(f"must be vectors of {self.dimension} numbers, along the last axis")
        whole, rest = _steps_and_rest(given.reshape(-1), grid)
        index = np.empty(len(whole), dtype=np.int64)
        steps *= self.dimension // len(steps)
        for start in range(0, len(whole), self.dimension):
            part = slice(start, start + self.dimension)
            noisy = self._draw(rest[part], steps, bits)
            index[part] = [min(max(n + k, LEAST), LARGEST) for n, k in zip(whole[part], noisy, strict=True)]
        return grid.values_of_exact(index).reshape(given.shape)

    def _draw(self, rest: list[Fraction], scales: list[Fraction], rng: Source, *, word: int = 64) -> list[int]:
        """Return floor(s + x + 1/2), in steps, for s in [0, 1) and scales b D_k, by `word` bits of each U at a time."""
        r = self.dimension
        signs = random_bits(rng, 8 * -(-r // 8))
        buffer = np.empty((2 * r + (self.order == math.inf), word // 8), dtype=np.uint8)
        numerators, bits = [0] * len(buffer), 0
        while bits < _MOST_BITS:
            fill(buffer.reshape(-1), rng)
            more = (int.from_bytes(row.tobytes(), "big") for row in buffer)
            numerators, bits = [n << word | new for n, new in zip(numerators, more, strict=True)], bits + word
            with BALLS, working_precision(bits + _SPARE_BITS):
                noise = [x * ball_of(b) for x, b in zip(self._enclose(numerators, bits), scales, strict=True)]
                if all(x.rad() < 2.0**-40 for x in noise):
                    ends = (s + Fraction(1, 2) for s in rest)
                    signed = (-x if signs >> k & 1 else x for k, x in enumerate(noise))
                    found = [(x + ball_of(end)).floor().unique_fmpz() for x, end in zip(signed, ends, strict=True)]
                    if None not in found:
                        return [int(k) for k in found]
        raise EntropyError("the source of randomness repeats itself, so it is broken; no noise was drawn")

    def _enclose(self, numerators: list[int], bits: int) -> list[arb]:
        """Enclose |x_k| / (b D_k), from the first bits of the U of every |w_k| and those of R."""
        r, p, unit = self.dimension, arb(self.order), arb(2) ** -(bits + 1)
        uniform = [arb(2 * n + 1, 1) * unit for n in numerators]
        radius = -math.prod(uniform[r:], start=arb(1)).log()
        if self.order == math.inf:
            return [radius * u for u in uniform[:r]]
        gamma, w = (1 + 1 / p).gamma(), []
        for u, guess in zip(uniform, self._guesses(numerators[:r], 2 << bits), strict=False):
            z = arb(guess)
            # A guess has 40 bits and more, and each round doubles them.
            for _ in range(max((bits - 1).bit_length() - 5, 1)):
                z = _enclosed_quantile(u, z.mid(), p, gamma)
            w.append(z)
        radius /= sum((power(z, p) for z in w), start=arb(0)) ** (1 / p)
        return [radius * z for z in w]

    def _guesses(self, numerators: list[int], full: int) -> list[float]:
        """Return floats near the |w_k| whose probabilities to be beyond are (2 n + 1) / full."""
        from scipy.special import gammainccinv, gammaincinv

        a = 1.0 / self.order
        beyond = np.array([(2 * n + 1) / full for n in numerators])
        within = np.array([(full - 2 * n - 1) / full for n in numerators])
        x = np.where(beyond < within, gammainccinv(a, beyond), gammaincinv(a, within))
        guesses: list[float] = np.where(x > 1e-290, x**a, within * math.gamma(1.0 + a)).tolist()
        return guesses

    @property
    def std(self) -> float:
        """Standard deviation of a coordinate of size 1; that of another is its size times as large."""
        r, p = self.dimension, self.order
        if p == math.inf:
            return self.scale * math.sqrt((r + 1) * (r + 2) / 3)
        with BALLS, working_precision(128):
            a = 1 / arb(p)
            square = r * (r + 1) * (3 * a).gamma() * (r * a).gamma() / (a.gamma() * ((r + 2) * a).gamma())
            return self.scale * float(square.sqrt())

    def half_width(self, level: float) -> float:
        """Return a half-width that the noise on a coordinate of size 1 keeps within with this probability.

        It is rounded up, by less than it is for a level that is closer to 1 by a share of 1e-7.
        """
        from scipy.optimize import brentq
        from scipy.special import gammainccinv

        rest = (1.0 - _validate.probability(level=level)) * (1.0 - _MARGIN)
        # No coordinate is beyond the norm, and with one coordinate it is the norm.
        most = float(gammainccinv(self.dimension, rest))
        if self.dimension == 1:
            return self.scale * most
        return self.scale * float(brentq(lambda t: self._outside(t) - rest, 0.0, 1.001 * most, rtol=1e-12))

    def simultaneous_half_width(self, level: float) -> float:
        """Return an h with |x_k| <= h sizes[k] for all k, with at least this probability; exact for order infinity."""
        from scipy.special import gammainccinv

        rest = (1.0 - _validate.probability(level=level)) * (1.0 - _MARGIN)
        of_norm = self.scale * float(gammainccinv(self.dimension, rest))
        return of_norm if self.order == math.inf else min(of_norm, self.half_width(1.0 - rest / self.dimension))

    def _outside(self, t: float) -> float:
        """Return P(|x_k| > t) for a scale and a size of 1, and two coordinates or more."""
        from scipy.special import beta, betaincc, gammaincc, gammainccinv

        r, p = self.dimension, self.order
        if p == math.inf:
            return float(gammaincc(r + 1, t) - t / r * gammaincc(r, t))
        # The mean of P(|x_k| / R > t / R) over R > t, by the tanh-sinh rule in P(R > .), which has singular ends.
        k = np.arange(-4.5, 3.2, 1 / 16)
        node = 1.0 / (1.0 + np.exp(-math.pi * np.sinh(k)))
        share = math.pi / 16 * np.cosh(k) * node * (1.0 - node)
        beyond, a, c = float(gammaincc(r, t)), 1 / p, (r - 1) / p
        with np.errstate(all="ignore"):
            ratio = np.fmin(t / gammainccinv(r, beyond * node), 1.0)
            power_of_ratio = ratio**p
            # The power may be too small for a float.
            low = 1.0 - ratio / (a * beta(a, c))
            outside = np.where(power_of_ratio < 1e-17, low, betaincc(a, c, power_of_ratio))
        return beyond * float(share @ outside)


def _enclosed_quantile(v: arb, z: arb, p: arb, gamma: arb) -> arb:
    """Enclose the t that |w_k| is beyond with a probability in v, given a guess z and Gamma(1 + 1/p)."""
    exponent = z**p
    inside = exponent.gamma_lower(1 / p, regularized=1)
    inverse = exponent.exp() * gamma
    low = z + inside * inverse * ((1 - v) / inside).log()
    return hull(low, z + (1 - inside) * inverse * ((1 - inside) / v).log())


def _steps_and_rest(given: NDArray[Any], grid: Grid) -> tuple[list[int], list[Fraction]]:
    """Return whole steps and the rest of each of a flat array of numbers. Infinite ones stay beyond 64 bits."""
    whole, rest = [], []
    for value in given.tolist():
        if value != value:
            raise refusal("must not hold NaN; replace missing values first, by a rule that is public")
        finite = math.copysign(2.0**1000, value) if value in (math.inf, -math.inf) else value
        exact = exact_fraction(finite) / Fraction(grid.step)
        whole.append(math.floor(exact))
        rest.append(exact - whole[-1])
    return whole, rest


@lru_cache(maxsize=64)
def vector_noise(law: NoiseLaw) -> MinkowskiNoise | NormBallNoise:
    """Return what draws noise of a norm."""
    norm = law.norm
    if norm is None:
        raise ArgumentError("norm", None, "this noise is drawn for each coordinate on its own")
    if norm.kind == "lp" and norm.order is not None:
        return NormBallNoise(order=norm.order, scale=law.scale, dimension=norm.groups[0], sizes=norm.sizes)
    from ggdp.noise.minkowski_noise import MinkowskiNoise

    return MinkowskiNoise.of(law)
