"""The laws that draws are held against agree with 50-digit sums, with enumerations and with the library's own."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from tests.reference import fifty_digits as exact
from tests.statistical import laws

from ggdp.noise.integer_law import IntegerGeneralizedGaussian

NARROW = [(1.0, 0.3), (1.0, 4.0), (1.5, 12.0), (2.0, 0.5), (math.e, 30.0), (8.0, 5.0), (50.0, 1.0)]


def masses(law, first, last):
    return np.diff(law.below(np.arange(first, last + 2)))


@pytest.mark.parametrize(("p", "b"), NARROW)
def test_integer_noise_agrees_with_fifty_digits(p, b):
    tail, law = exact.integer_tails(p, b), laws.integer(p, b)
    for k in range(-60, 61):
        assert law.below(np.array([k]))[0] == pytest.approx(float(1 - tail(k)), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 8.0, 50.0])
@pytest.mark.parametrize("b", [1000.0, 2.0**40])
def test_wide_noise_agrees_with_the_library(p, b):
    law = laws.integer(p, b)
    places = law.edges[::128]
    library = IntegerGeneralizedGaussian(order=p, scale=b).cdf(places - 1)
    assert law.below(places) == pytest.approx(library, rel=1e-9, abs=4e-12 if b > 1e9 else 1e-14)


@pytest.mark.parametrize(("p", "b"), NARROW[:-1])
@pytest.mark.parametrize("tau", [-3, 0, 1, 7])
def test_conditional_noise_agrees_with_sums(p, b, tau):
    with mpmath.mp.workdps(50):
        f = [mpmath.exp(-((abs(mpf(k)) / mpf(b)) ** mpf(p))) for k in range(tau, 1500)]
        truth = [float(weight / mpmath.fsum(f)) for weight in f[:40]]
    assert masses(laws.conditional(p, b, tau), tau, tau + 39) == pytest.approx(truth, rel=1e-10, abs=1e-14)


@pytest.mark.parametrize(("p", "exponent"), [(1.0, 690.0), (1.5, 69.0), (3.0, 690.0)])
def test_far_wide_tails_agree_with_the_library(p, exponent):
    b = 2.0**40
    tau = round(b * exponent ** (1.0 / p))
    law, library = laws.conditional(p, b, tau), IntegerGeneralizedGaussian(order=p, scale=b)
    ratios = [1.0 - library.sf(int(k) - 1) / library.sf(tau - 1) for k in law.edges[::6]]
    assert law.below(law.edges[::6]) == pytest.approx(ratios, abs=1e-8)


@pytest.mark.parametrize("s", [-4, 0, 9])
def test_bounded_noise_is_what_the_definitions_say(s):
    p, b, lower, upper = 1.5, 3.0, -4, 9
    f = np.array([math.exp(-((abs(k - s) / b) ** p)) for k in range(lower, upper + 1)])
    truncated = laws.truncated(p, b, lower, upper, s)
    assert masses(truncated, lower, upper) == pytest.approx(f / f.sum(), rel=1e-12)
    tail = exact.integer_tails(p, b)
    inflated = [float(tail(k - s) - tail(k + 1 - s)) for k in range(lower, upper + 1)]
    inflated[0], inflated[-1] = float(1 - tail(lower + 1 - s)), float(tail(upper - s))
    assert masses(laws.boundary_inflated(p, b, lower, upper, s), lower, upper) == pytest.approx(inflated, rel=1e-12)


@pytest.mark.parametrize("law", [laws.truncated, laws.boundary_inflated])
@pytest.mark.parametrize("outside", [-5, 10])
def test_bounded_laws_have_cells_for_what_cannot_happen(law, outside):
    bounded = law(2.0, 3.0, -4, 9, 0)
    cell = int(np.argmax(bounded.counted(np.array([outside]))))
    assert bounded.probabilities(bounded.below)[cell] == 0.0


def test_wide_windows_agree_with_narrow_ones():
    wide, narrow = (laws.truncated(3.0, b, round(-b), round(b), round(b / 2)) for b in (2.0**35, 2.0**10))
    places = np.arange(-(2**10), 2**10, 64)
    assert wide.below(places << 25) == pytest.approx(narrow.below(places), abs=2e-3)


@pytest.mark.parametrize(("n", "q"), [(1, Fraction(1, 2)), (10, Fraction(0.3)), (60, Fraction(1, 7))])
def test_binomial_laws_are_exact(n, q):
    truth = [float(math.comb(n, k) * q**k * (1 - q) ** (n - k)) for k in range(n + 1)]
    assert masses(laws.binomial(n, q), 0, n) == pytest.approx(truth, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("mean", [1e-3, 10.0, 1e6])
def test_poisson_laws_agree_with_their_masses(mean):
    k = round(mean)
    mass = math.exp(k * math.log(mean) - mean - math.lgamma(k + 1))
    assert masses(laws.poisson(mean), k, k)[0] == pytest.approx(mass, rel=1e-8)


def test_degenerate_laws_have_an_edge_on_both_sides_of_their_value():
    law = laws.integer(50.0, 0.3)
    assert law.edges.tolist() == [0, 1]
    assert law.below(law.edges).tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    "edges", [np.arange(-5, 6), np.arange(-20, 30, 7), np.array([-3, 0, 1, 9]), np.array([2]), np.array([-1, 4])]
)
def test_draws_are_counted_in_their_cells(edges):
    draws = np.concatenate([np.arange(-40, 40), [-(2**62), 2**62]])
    counts = laws.Law(edges, lambda k: k * 0.0).counted(draws)
    ends = [-math.inf, *edges, math.inf]
    assert counts.tolist() == [int(np.sum((draws >= a) & (draws < b))) for a, b in itertools.pairwise(ends)]


def test_distorted_laws_are_those_of_distorted_draws():
    law, k = laws.integer(1.5, 3.0), np.arange(-80, 81)
    mass = masses(law, -80, 80)
    shift = np.diff(laws.shifted(law, 2)(np.arange(-80, 82)))
    assert shift[2:] == pytest.approx(mass[:-2], abs=1e-15)
    flipped = np.diff(laws.signs_flipped(law, 0.3)(np.arange(-80, 82)))
    assert flipped == pytest.approx(mass * np.where(k < 0, 0.7, np.where(k > 0, 1.3, 1.0)), abs=1e-15)
    cut = np.diff(laws.tails_dropped(law, 4)(np.arange(-80, 82)))
    kept = np.where(np.abs(k) < 4, mass, 0.0)
    kept[k == 0] += mass[np.abs(k) >= 4].sum()
    assert cut == pytest.approx(kept, abs=1e-15)
