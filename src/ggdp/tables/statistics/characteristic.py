"""Quantiles of weighted sums of generalized Gaussian noise, by inversion of their characteristic functions.

=======  ==============================================================================================
p        order, from 1 to `LARGEST_ORDER`
K_i      independent noise with the density exp(-|x|^p) / (2 Gamma(1 + 1/p))
w        weights, the largest absolute value 1
X        sum of the w_i K_i
phi(t)   E cos(t K_1), the characteristic function of one K
H(x)     P(|X| <= x) = (2/pi) times the integral of phi(w_1 t) ... phi(w_r t) sin(t x)/t over t > 0
L        period of the sum that replaces the integral, in x
T, D     where the window falls from 1 to 0, and the length of its fall
=======  ==============================================================================================

The integral is taken as a midpoint sum with steps 2 pi / L, cut off by the window erfc((t - T)/D)/2.

Accuracy. The sum differs from the integral by the mass of X beyond L - x, which is below 1e-11: X is log-concave, so
P(|X| > s std) <= e^(1 - s). The window smooths H with a kernel that falls as exp(-(D y)^2 / 4) with the distance y.
The densities of all X are analytic but at 0, where phi's slow decay comes from; quantiles at the levels allowed are
at least 0.6 away from it. Near the quantile the Fourier transform of H falls as exp(-pi t / (2 p)) at least (the
gamma function of a law that ends like exp(-x^p)). T and D are chosen so that each part is below 1e-10.
Tests compare with closed forms and with sums in 30 digits.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ggdp.distributions.generalized_gaussian import Floats

# Beyond it the law is as good as uniform, and the transforms would be long; `weighted_noise` bounds larger orders.
LARGEST_ORDER = 100.0

_STEP = 0.005
_NODES = 16
# exp(-42) is below 1e-18, exp(-26) below 1e-11.
_REACH, _FAR = 42.0, 26.0
_FALL = 12.0
_MOST_NEWTON = 60
_CLOSE = 1e-12
_AT_ONCE = 1 << 21


def magnitude_quantiles(order: float, level: float, weights: Floats) -> Floats:
    """Return, for each row of weights, the x with P(|X| <= x) = level; the weights of a row are not all 0."""
    weights = np.abs(weights)
    largest = weights.max(axis=1)
    rows = weights / largest[:, None]
    if order == 2.0:
        from scipy.special import ndtri

        return np.asarray(largest * np.sqrt(np.square(rows).sum(axis=1) / 2.0) * ndtri(0.5 + 0.5 * level))
    single = _single(order, level)
    if rows.shape[1] == 1:
        return np.asarray(largest * single)
    t, window = _frequencies(order, level, rows)
    found = np.empty(len(rows))
    for block in _blocks(len(rows), t.size):
        found[block] = _solved(order, level, rows[block], t, window, single)
    return np.asarray(found * largest)


def _single(order: float, level: float) -> float:
    """Return the quantile of one |K|."""
    if order == 1.0:
        # SciPy takes longer to load than the means of a small table.
        return -math.log1p(-level)
    from scipy.special import gammaincinv

    return math.pow(float(gammaincinv(1.0 / order, level)), 1.0 / order)


def _solved(order: float, level: float, rows: Floats, t: Floats, window: Floats, start: float) -> Floats:
    """Return the quantiles by Newton's method.

    H is concave on x > 0 and the start, the quantile of the largest summand, is not above the solution, so the steps
    rise to it.
    """
    product = _transforms(order, rows, t) * window
    x = np.full(len(rows), start)
    spacing = 2.0 * (t[1] - t[0]) / math.pi
    over_t = product / t
    for _ in range(_MOST_NEWTON):
        angles = x[:, None] * t
        inside = spacing * np.einsum("ij,ij->i", over_t, np.sin(angles))
        density = spacing * np.einsum("ij,ij->i", product, np.cos(angles))
        step = (level - inside) / density
        x = x + step
        if np.all(np.abs(step) <= _CLOSE * x):
            break
    return x


def _frequencies(order: float, level: float, rows: Floats) -> tuple[Floats, Floats]:
    """Return the points of the sum and the window there, for all rows together."""
    deviation = math.sqrt(math.gamma(3.0 / order) / math.gamma(1.0 / order))
    spread = float(np.sqrt(np.square(rows).sum(axis=1)).max()) * deviation
    total = float(rows.sum(axis=1).max())
    # Either bound of the tail will do: log-concavity, or none of the summands beyond _FAR.
    far = min((_FAR + 1.0) * spread, total * (_FAR + math.log(rows.shape[1])) ** (1.0 / order))
    within = min((1.0 - math.log(1.0 - level)) * spread, far)
    end = _end(order)
    count = math.ceil((far + within) * end / (2.0 * math.pi))
    t = (np.arange(count) + 0.5) * (end / count)
    places = (t - (end - 5.5 * _FALL)) / _FALL
    return t, 0.5 * np.array([math.erfc(place) for place in places.tolist()])


def _end(order: float) -> float:
    """Return where the window is 0: past the fall, which begins past the transform of a law that ends like e^-x^p."""
    return 11.0 * _FALL + 15.0 * order


def _blocks(count: int, width: int) -> list[slice]:
    size = max(_AT_ONCE // width, 1)
    return [slice(first, first + size) for first in range(0, count, size)]


def _transforms(order: float, rows: Floats, t: Floats) -> Floats:
    """Return phi(w_1 t) ... phi(w_r t) for each row."""
    result = np.ones((len(rows), t.size))
    for weight in rows.T:
        values, back = np.unique(weight, return_inverse=True)
        # A weight that all rows share is looked up once.
        result *= _transform(order, values[:, None] * t)[back.reshape(-1)]
    return result


def _transform(order: float, t: Floats) -> Floats:
    """Return phi at points from 0 to `_end`."""
    if order == 1.0:
        return np.asarray(1.0 / (1.0 + np.square(t)))
    values, slopes = _table(order)
    place = t / _STEP
    index = np.minimum(place.astype(np.int64), values.size - 2)
    u = place - index
    v = 1.0 - u
    left = values[index] * (1.0 + 2.0 * u) + (_STEP * u) * slopes[index]
    right = values[index + 1] * (1.0 + 2.0 * v) - (_STEP * v) * slopes[index + 1]
    return np.asarray(left * np.square(v) + right * np.square(u))


@lru_cache(maxsize=4)
def _table(order: float) -> tuple[Floats, Floats]:
    """Return phi and its derivative at the multiples of `_STEP`, by Gauss-Legendre rules on short pieces.

    cos((j m + k) s x) is expanded, so that all sums are products of two small matrices.
    """
    x, mass = _quadrature(order)
    count = math.ceil(_end(order) / _STEP) + 2
    short = math.isqrt(count) + 1
    fine, coarse = np.outer(x, np.arange(short) * _STEP), np.outer(np.arange(short) * (short * _STEP), x)
    cos_fine, sin_fine = np.cos(fine), np.sin(fine)
    cos_coarse, sin_coarse = np.cos(coarse), np.sin(coarse)
    values = (cos_coarse * mass) @ cos_fine - (sin_coarse * mass) @ sin_fine
    moments = mass * x
    slopes = -(sin_coarse * moments) @ cos_fine - (cos_coarse * moments) @ sin_fine
    return values.reshape(-1)[:count], slopes.reshape(-1)[:count]


def _quadrature(order: float) -> tuple[Floats, Floats]:
    """Return points x > 0 and the mass of |K| that each stands for."""
    end = _REACH ** (1.0 / order)
    # 16 points resolve a piece over which the cosine turns by 10.
    pieces = math.ceil(end * _end(order) / 10.0)
    edges = np.linspace(0.0, end, pieces + 1)
    # exp(-x^p) is not smooth at 0: pieces that shrink towards it.
    edges = np.concatenate(([0.0], edges[1] * 0.25 ** np.arange(12, 0, -1), edges[1:]))
    nodes, shares = np.polynomial.legendre.leggauss(_NODES)
    length: NDArray[np.float64] = np.diff(edges)
    x = (edges[:-1, None] + length[:, None] * (0.5 + 0.5 * nodes)).reshape(-1)
    mass = (0.5 * length[:, None] * shares).reshape(-1) * np.exp(-(x**order))
    return x, mass / mass.sum()
