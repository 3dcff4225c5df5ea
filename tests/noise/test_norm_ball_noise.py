"""Noise of an l_p norm: every output against its definition in 80 digits, from the bits that were read."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, fmpq
from mpmath import mp, mpf
from scipy.integrate import quad
from scipy.special import beta, gammaincc, gammainccinv

from ggdp import Grid
from ggdp._balls import BALLS, working_precision
from ggdp.errors import ArgumentError, EntropyError
from ggdp.noise import SeededSource
from ggdp.noise import norm_ball_noise as module
from ggdp.noise.norm_ball_noise import NormBallNoise

INF = math.inf
ORDERS = (1.0, 1.5, 2.0, 3.7, 40.0, 1e6, INF)
LEAST, LARGEST = -(2**63), 2**63 - 1
# What a broken or unlucky source may begin with.
STARTS = {
    "any": b"",
    "zeros": b"\x00" * 20,
    "ones": b"\xff" * 20,
    "a half": b"\x80" + b"\x00" * 20,
    "below a half": b"\x7f" + b"\xff" * 20,
}


class Streams:
    """A source that gives the signs first, and then to each uniform number the next bytes of a stream of its own."""

    private = False

    def __init__(self, dimension, order, seed, start):
        rng = random.Random(seed)
        self.signs = rng.randbytes(-(-dimension // 8))
        count = 2 * dimension + (order == INF)
        self.streams = [STARTS[start] * (rng.random() < 0.5) + rng.randbytes(300) for _ in range(count)]
        self.read = None

    def fill(self, buffer):
        if self.read is None:
            buffer[:], self.read = np.frombuffer(self.signs, dtype=np.uint8), 0
        else:
            width = buffer.size // len(self.streams)
            parts = (stream[self.read : self.read + width] for stream in self.streams)
            buffer[:] = np.frombuffer(b"".join(parts), dtype=np.uint8)
            self.read += width
        return buffer.size

    def uniforms(self):
        """The uniform numbers to 1200 bits."""
        return [mpf(int.from_bytes(stream[:150], "big")) / mpf(2) ** 1200 for stream in self.streams]

    def sign(self, k):
        return -1 if self.signs[k // 8] >> (k % 8) & 1 else 1


def quantile(p, v):
    """The t that |w| is above with probability v, right to 100 digits, by the series of the integral of exp(-y^p)."""
    p = mpf(p)

    def above(t):
        x, term, total, n = t**p, t, mpf(0), 0
        while n <= x or abs(term) > mpf(10) ** -190:
            total, n = total + term / (p * n + 1), n + 1
            term *= -x / n
        return 1 - total / mp.gamma(1 + 1 / p)

    with mp.workdps(250):
        low, high = mpf(0), mpf(1)
        while above(high) > v:
            high *= 2 ** (1 / p)
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if above(middle) > v else (low, middle)
        t = (low + high) / 2
        for _ in range(5):
            t += (above(t) - v) * mp.gamma(1 + 1 / p) * mp.exp(t**p)
        assert abs(above(t) - v) < v * mpf(10) ** -100
        return t


def exact_draw(noise, source):
    """The real vector that the definition makes of the bits of a source."""
    r, p, uniform = noise.dimension, noise.order, source.uniforms()
    w = [u if p == INF else quantile(p, u) for u in uniform[:r]]
    radius = -noise.scale * sum(mp.log(u) for u in uniform[r:])
    norm = 1 if p == INF else sum(t ** mpf(p) for t in w) ** (1 / mpf(p))
    sizes = noise.sizes or (1.0,) * r
    return [source.sign(k) * mpf(sizes[k]) * radius * w[k] / norm for k in range(r)]


def fraction(x):
    """An mpf as a fraction, exactly."""
    sign, man, exp, _ = x._mpf_
    return Fraction(-man if sign else man) * Fraction(2) ** exp


def rounded(s, x, step):
    """floor((s + x)/g + 1/2) for exact numbers."""
    return min(max(math.floor((Fraction(s) + fraction(x)) / Fraction(step) + Fraction(1, 2)), LEAST), LARGEST)


CASES = [
    (order, dimension, step, start)
    for i, order in enumerate(ORDERS)
    for j, dimension in enumerate((1, 2, 5))
    for step, start in [((2.0**-10, 2.0**-45, 1.0, 2.0**20)[(i + j) % 4], tuple(STARTS)[(i + 2 * j) % 5])]
]


@pytest.mark.parametrize(("order", "dimension", "step", "start"), CASES)
def test_every_output_is_the_rounding_of_the_draw_that_its_bits_define(order, dimension, step, start):
    rng = random.Random(f"{order} {dimension}")
    sizes = tuple(rng.choice((1.0, 0.3, 17.0)) for _ in range(dimension))
    noise = NormBallNoise(order=order, scale=2.7, dimension=dimension, sizes=sizes)
    with mp.workdps(110):
        x = exact_draw(noise, Streams(dimension, order, 1, start))
        for place in ("anywhere", "far", "below a middle", "above a middle"):
            if place == "anywhere":
                s = [rng.uniform(-50.0, 50.0) for _ in range(dimension)]
            elif place == "far":
                s = [rng.choice((1e300, -INF, 2**62 + 1, Fraction(1, 3), np.float32(0.1))) for _ in range(dimension)]
            else:
                # 2^-120 steps from where the rounding changes: the first bits cannot decide it.
                away = Fraction(step) * Fraction(1 if place == "above a middle" else -1, 2**120)
                s = [(Fraction(k) + Fraction(1, 2)) * Fraction(step) - fraction(t) + away for k, t in enumerate(x)]
            source = Streams(dimension, order, 1, start)
            exact = [Fraction(2) ** 2000 * (1 if t > 0 else -1) if t in (INF, -INF) else t for t in s]
            expected = [
                rounded(float(t) if isinstance(t, np.float32) else t, z, step) for t, z in zip(exact, x, strict=True)
            ]
            found = noise.around(np.array(s, dtype=object), Grid(step=step), source)
            assert found.tolist() == [k * step for k in map(float, expected)]
            if "middle" in place:
                assert expected == [k + (place == "above a middle") for k in range(dimension)]
                assert source.read > 8


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("start", STARTS)
def test_the_same_bits_give_the_same_output_however_many_are_read_at_a_time(order, start):
    for dimension in (1, 2, 9):
        noise = NormBallNoise(order=order, scale=1.0, dimension=dimension)
        rest, scales = [Fraction(k, 9) for k in range(dimension)], [Fraction(1000)] * dimension
        for seed in range(4):
            found = [
                noise._draw(rest, scales, Streams(dimension, order, seed, start), word=word) for word in (8, 64, 512)
            ]
            assert found[0] == found[1] == found[2]
            assert len(set(found[0])) > 1 or dimension < 9


@pytest.mark.parametrize("order", [1.0, 1.5, 2.0, 3.7, 40.0])
def test_a_quantile_is_enclosed_whatever_the_guess(order):
    widths = []
    for v in (Fraction(1, 2), Fraction(1, 10**9), 1 - Fraction(1, 10**9), Fraction(3, 10)):
        with mp.workdps(110):
            exact = fraction(quantile(order, mpf(v.numerator) / v.denominator))
            guesses = [float(exact) * (1 + x) for x in (0.0, 1e-13, -1e-5, 0.1, -0.3)]
        for guess in guesses:
            with BALLS, working_precision(300):
                ball = arb(fmpq(v.numerator, v.denominator))
                p = arb(order)
                found = module._enclosed_quantile(ball, arb(guess), p, (1 + 1 / p).gamma())
                assert found.contains(arb(fmpq(exact.numerator, exact.denominator)))
                widths.append(float(found.rad() / found.mid()))
                # With the first bits of v alone every number that begins with them is held.
                wide = module._enclosed_quantile(ball + arb(0, 1e-12), arb(guess), p, (1 + 1 / p).gamma())
                assert wide.contains(found.mid()) or wide.rad() < found.rad()
        assert widths[-5] < 1e-28
        assert widths[-4] < 1e-22


@pytest.mark.parametrize(
    ("order", "byte"), [(1.0, b"\x00"), (3.0, b"\x00"), (INF, b"\x00"), (1.0, b"\xff"), (3.0, b"\xff")]
)
def test_a_source_that_never_decides_is_an_error(order, byte):
    class Constant:
        private = False

        def fill(self, buffer):
            buffer[:] = byte[0]
            return buffer.size

    with pytest.raises(EntropyError, match="repeats itself"):
        NormBallNoise(order=order, scale=1.0, dimension=2).around([0.0, 0.0], Grid(step=0.5), Constant())


def beyond(p, r, t):
    """P(|x_1| > t) for b = 1: the mean of P(R > t / y) over y = |x_1| / ||x||, where y^p is Beta(1/p, (r - 1)/p)."""
    if r == 1:
        return math.exp(-t)
    if p == INF:
        # A coordinate of the largest size, or a uniform one.
        return (gammaincc(r, t) + (r - 1) * integral(lambda y: gammaincc(r, t / y), 0.0, 1.0)) / r
    c = (r - 1) / p

    def low(y):
        return p * (1.0 - y**p) ** (c - 1.0) * gammaincc(r, t / y)

    def high(z):
        # 1 - y^p = z^(1/c), so that the density has no pole at y = 1.
        q = 1.0 - z ** (1.0 / c)
        return q ** (1.0 / p - 1.0) * gammaincc(r, t / q ** (1.0 / p)) / c

    middle = 1.0 if c >= 1.0 else 0.5 ** (1.0 / p)
    # Q(r, t / y) rises from 0 to 1 about here.
    edge = min(20.0 * t / r, middle)
    parts = integral(low, 0.0, edge) + integral(low, edge, middle) + integral(high, 0.0, (1.0 - middle**p) ** c)
    return parts / beta(1.0 / p, c)


def integral(function, low, high):
    return quad(function, low, high, epsabs=0.0, epsrel=1e-9, limit=200)[0]


LAWS = [(p, r) for p in (1.0, 1.3, 2.0, 3.7, 12.0, INF) for r in (1, 2, 3, 10)]


@pytest.mark.parametrize(("order", "dimension"), LAWS)
def test_a_half_width_has_its_level_and_hardly_more(order, dimension):
    noise = NormBallNoise(order=order, scale=3.0, dimension=dimension)
    for level in (1e-3, 0.5, 0.95, 1 - 1e-9):
        missed = beyond(order, dimension, noise.half_width(level) / 3.0)
        assert (1 - level) * (1 - 1e-7) <= missed <= 1 - level


@pytest.mark.parametrize(("order", "dimension"), LAWS)
def test_the_standard_deviation_is_that_of_the_law(order, dimension):
    square = quad(lambda t: 2.0 * t * beyond(order, dimension, t), 0.0, 60.0, epsrel=1e-8)[0]
    assert NormBallNoise(order=order, scale=2.0, dimension=dimension).std == pytest.approx(
        2.0 * math.sqrt(square), rel=1e-7
    )


def test_known_standard_deviations():
    for r in (1, 2, 17, 10**6):
        assert NormBallNoise(order=1, scale=1.0, dimension=r).std == pytest.approx(math.sqrt(2.0), rel=1e-14)
        assert NormBallNoise(order=2, scale=1.0, dimension=r).std == pytest.approx(math.sqrt(r + 1.0), rel=1e-14)
        assert NormBallNoise(order=INF, scale=1.0, dimension=r).std == pytest.approx(
            math.sqrt((r + 1) * (r + 2) / 3.0), rel=1e-14
        )
        # Order 10^6 is nearly infinity.
        assert NormBallNoise(order=1e6, scale=1.0, dimension=r).std == pytest.approx(
            NormBallNoise(order=INF, scale=1.0, dimension=r).std, rel=2e-5
        )


@pytest.mark.parametrize(
    ("order", "ratios"), [(INF, (0.7071, 0.5292, 0.4690, 0.4205)), (2.0, (0.8660, 0.7746, 0.7416, 0.7141))]
)
def test_the_error_beside_laplace_noise_for_the_sum_that_the_norm_implies(order, ratios):
    for r, ratio in zip((2, 5, 10, 50), ratios, strict=True):
        laplace = math.sqrt(2.0) * (r if order == INF else math.sqrt(r))
        assert NormBallNoise(order=order, scale=1.0, dimension=r).std / laplace == pytest.approx(ratio, abs=6e-5)


def test_order_one_is_independent_laplace_noise():
    for r in (1, 2, 30, 1000):
        noise = NormBallNoise(order=1, scale=2.0, dimension=r)
        for level in (0.1, 0.95, 1 - 1e-12):
            assert noise.half_width(level) == pytest.approx(-2.0 * math.log1p(-level), rel=1e-6)
        together = (1.0 - math.exp(-noise.simultaneous_half_width(0.95) / 2.0)) ** r
        assert 0.95 <= together <= 0.9525


@pytest.mark.parametrize("dimension", [1, 2, 10])
def test_all_coordinates_keep_within_the_simultaneous_half_width(dimension):
    largest = NormBallNoise(order=INF, scale=1.0, dimension=dimension).simultaneous_half_width(0.9)
    assert largest == pytest.approx(gammainccinv(dimension, 0.1), rel=1e-7)
    for order in (1.0, 2.0, 9.0):
        noise = NormBallNoise(order=order, scale=1.0, dimension=dimension)
        together = noise.simultaneous_half_width(0.9)
        assert noise.half_width(0.9) <= together <= largest
        # Either no more than a tenth have a norm so large, or each coordinate has its part of a tenth.
        assert together == pytest.approx(largest) or dimension * beyond(order, dimension, together) <= 0.1


def test_rows_have_noise_of_their_own_and_a_seed_repeats_it():
    noise, grid = NormBallNoise(order=2, scale=1.0, dimension=3), Grid(step=2**-20)
    found = noise.around(np.zeros((2, 2, 3)), grid, SeededSource(seed=3))
    assert found.shape == (2, 2, 3)
    assert np.unique(found).size == 12
    assert found.tolist() == noise.around(np.zeros((2, 2, 3)), grid, SeededSource(seed=3)).tolist()
    assert noise.around(np.zeros((0, 3)), grid).shape == (0, 3)
    assert noise.around([0, 0, 0], grid).tolist() != noise.around([0, 0, 0], grid).tolist()


def test_sizes_multiply_the_noise():
    plain, grid = NormBallNoise(order=3, scale=1.0, dimension=2), Grid(step=2**-30)
    sized = NormBallNoise(order=3, scale=1.0, dimension=2, sizes=[4, 0.5])
    found = [noise.around([0.0, 0.0], grid, SeededSource(seed=5)) for noise in (plain, sized)]
    assert found[1] == pytest.approx(found[0] * [4.0, 0.5], abs=2**-27)


def test_ends_of_64_bits_saturate():
    noise = NormBallNoise(order=INF, scale=1.0, dimension=4)
    found = noise.around([INF, -INF, 1e300, -(2**70)], Grid(step=0.5))
    assert found.tolist() == [2.0**62, -(2.0**62), 2.0**62, -(2.0**62)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([7654321.0], "vectors of 2"),
        ([7654321.0] * 3, "vectors of 2"),
        (7654321.0, "vectors of 2"),
        ([7654321.0, math.nan], "NaN"),
    ],
)
def test_values_that_do_not_fit_are_refused_and_not_shown(values, expected):
    with pytest.raises(ArgumentError, match=expected) as error:
        NormBallNoise(order=2, scale=1.0, dimension=2).around(values, Grid(step=0.5))
    assert "7654321" not in str(error.value)


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"order": 0.5}, "order = .*at least 1"),
        ({"order": 2e6}, "order = .*too large"),
        ({"order": math.nan}, "order = "),
        ({"scale": 0.0}, "scale = "),
        ({"dimension": 0}, "dimension = "),
        ({"sizes": (1.0,)}, "sizes = .*one for each of the 2"),
        ({"sizes": (1.0, 0.0)}, "sizes = .*greater than 0"),
    ],
)
def test_arguments_are_checked_where_they_enter(wrong, expected):
    with pytest.raises(ArgumentError, match=expected):
        NormBallNoise(**{"order": 2.0, "scale": 1.0, "dimension": 2, **wrong})


@pytest.mark.parametrize("step", [2.0**-56, 2.0**56])
def test_scales_far_from_the_grid_are_refused(step):
    with pytest.raises(ArgumentError, match=r"scale = .*2\^-55 to 2\^55 steps"):
        NormBallNoise(order=2, scale=1.0, dimension=2).around([0.0, 0.0], Grid(step=step))
