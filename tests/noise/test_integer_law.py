"""The integer law's floats are right to 1e-14, its brackets are brackets, and its quantiles are least.

The one search for thresholds and half-widths: least, safe where no precision tells, and from any start.
"""

import math

import mpmath as mp
import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples
from tests.reference.fifty_digits import integer_tails

from ggdp.errors import ArgumentError
from ggdp.noise.integer_law import IntegerGeneralizedGaussian, least_with_tail
from ggdp.proofs.tails import tail

LAWS = [(1.0, 2.5), (1.3, 3.0), (2.0, 0.4), (2.0, 3.0), (3.0, 6.0), (8.0, 5.5), (50.0, 4.0)]


def exact(p, b):
    """Return 50-digit weights of k = 0..N and the normaliser."""
    with mp.workdps(50):
        N = 3 + int(b * 300 ** (1 / p))
        weights = [mp.exp(-((mp.mpf(k) / mp.mpf(b)) ** mp.mpf(p))) for k in range(N)]
        return weights, 2 * mp.fsum(weights) - 1


def close(value, reference):
    return abs(mp.mpf(float(value)) - reference) <= mp.mpf("2e-15") * abs(reference)


@pytest.mark.parametrize(("p", "b"), LAWS)
def test_probabilities_and_moments_match_sums_at_fifty_digits(p, b):
    law = IntegerGeneralizedGaussian(order=p, scale=b)
    w, Z = exact(p, b)
    with mp.workdps(50):
        points = np.arange(-len(w) // 2, len(w) // 2)
        pmf, logpmf, cdf, sf = law.pmf(points), law.logpmf(points), law.cdf(points), law.sf(points)
        tails = list(reversed(np.cumsum(w[::-1]).tolist()))
        for k, mass, log_mass, below, above in zip(points.tolist(), pmf, logpmf, cdf, sf, strict=True):
            assert close(mass, w[abs(k)] / Z)
            assert close(log_mass, mp.log(w[abs(k)] / Z))
            assert close(below, tails[-k] / Z if k < 0 else 1 - tails[k + 1] / Z)
            assert close(above, tails[k + 1] / Z if k >= 0 else 1 - tails[-k] / Z)
        assert close(law.mean_abs, 2 * mp.fsum(k * x for k, x in enumerate(w)) / Z)
        variance = 2 * mp.fsum(k * k * x for k, x in enumerate(w)) / Z
        assert close(law.variance, variance)
        assert close(law.std, mp.sqrt(variance))
    assert law.mean == 0.0


def test_order_one_has_its_closed_form_far_into_the_tail():
    law = IntegerGeneralizedGaussian(order=1, scale=1.0)
    with mp.workdps(40):
        q = mp.exp(-1)
        for k in (0, 1, 30, 300, 700):
            assert close(law.sf(k), q ** (k + 1) / (1 + q))
            assert close(law.cdf(-k), q**k / (1 + q))


@pytest.mark.parametrize("p", [1.5, 2.0, 50.0])
def test_a_scale_of_two_to_the_forty_works_and_nears_the_real_law(p):
    b = 2.0**40
    law = IntegerGeneralizedGaussian(order=p, scale=b)
    a = 1 / p
    assert law.variance == pytest.approx(b * b * math.gamma(3 * a) / math.gamma(a), rel=1e-11)
    assert law.mean_abs == pytest.approx(b * math.gamma(2 * a) / math.gamma(a), rel=1e-11)
    k = law.ppf(1 - 1e-9)
    assert law.sf(k) <= 1e-9 < law.sf(k - 1) * (1 + 1e-6)
    lower, upper = law.tail_enclosure(-(2**39))
    assert lower <= law.sf(-(2**39) - 1) <= upper


@pytest.mark.parametrize(("p", "b"), LAWS)
def test_enclosures_bracket_the_exact_probabilities_within_two_ulps(p, b):
    law = IntegerGeneralizedGaussian(order=p, scale=b)
    w, Z = exact(p, b)
    with mp.workdps(50):
        for k in (0, 1, 3, len(w) // 2):
            for (lower, upper), value in (
                (law.pmf_enclosure(k), w[k] / Z),
                (law.tail_enclosure(k), mp.fsum(w[k:]) / Z),
                (law.tail_enclosure(-k), 1 - mp.fsum(w[k + 1 :]) / Z),
            ):
                assert mp.mpf(lower) <= value * (1 + mp.mpf(10) ** -45)
                assert value * (1 - mp.mpf(10) ** -45) <= mp.mpf(upper)
                assert upper - lower <= 2 * math.ulp(upper)


def test_a_probability_below_all_floats_is_bracketed_by_zero_and_the_least_float():
    law = IntegerGeneralizedGaussian(order=50, scale=0.01)
    assert law.tail_enclosure(1) == (0.0, math.ulp(0.0))
    assert law.sf(0) == 0.0
    assert law.pmf(0) == 1.0


@given(
    p=st.sampled_from([1.0, 1.4, 2.0, 9.0]),
    b=st.floats(0.05, 1e5),
    q=st.floats(1e-12, 1.0, exclude_max=True),
)
@settings(deadline=None, max_examples=examples(20, 60))
def test_a_quantile_is_the_least_integer_that_reaches_its_level(p, b, q):
    law = IntegerGeneralizedGaussian(order=p, scale=b)
    k = law.quantile(q)
    assert law.tail_enclosure(-k)[1] >= q
    assert law.tail_enclosure(1 - k)[0] < q


def test_quantiles_of_an_array_keep_its_shape():
    law = IntegerGeneralizedGaussian(order=2, scale=3.0)
    levels = np.array([[0.5, 0.9], [0.1, 0.5]])
    found = law.ppf(levels)
    assert found.dtype == np.int64
    assert found.tolist() == [[0, 3], [-3, 0]]


def test_values_keep_the_shape_of_their_argument():
    law = IntegerGeneralizedGaussian(order=2, scale=3.0)
    points = np.array([[3, -3, 0], [7, 1, -100]])
    for values in (law.pmf, law.logpmf, law.cdf, law.sf):
        assert values(points).shape == (2, 3)
        assert isinstance(values(2), float)
        assert values(points)[1, 0] == values(7)
        assert values(np.array([], dtype=int)).shape == (0,)


def test_integers_beyond_sixty_four_bits_are_taken_as_they_are():
    law = IntegerGeneralizedGaussian(order=1, scale=2.0**70)
    assert law.sf(2**70 - 1) == pytest.approx(math.exp(-1) / 2, rel=1e-14)


@pytest.mark.parametrize("k", [0.5, "1", True, None])
def test_what_is_not_an_integer_is_refused_by_name(k):
    law = IntegerGeneralizedGaussian(order=2, scale=3.0)
    for method in (law.pmf, law.tail_enclosure, law.pmf_enclosure):
        with pytest.raises(ArgumentError, match="k = "):
            method(k)


@pytest.mark.parametrize("q", [0.0, 1.0, -0.1, math.nan])
def test_a_level_outside_the_open_unit_interval_is_refused(q):
    law = IntegerGeneralizedGaussian(order=2, scale=3.0)
    for quantile in (law.ppf, law.isf):
        with pytest.raises(ArgumentError, match="q = "):
            quantile(q)


@pytest.mark.parametrize(("order", "scale"), [(1.0, 2.0), (1.5, 7.3), (2.0, 3.0), (3.0, 12.5)])
def test_logarithms_of_tails_are_those_of_fifty_digits(order, scale):
    law, tail = IntegerGeneralizedGaussian(order=order, scale=scale), integer_tails(order, scale)
    points = np.arange(-4, 5) * math.ceil(scale / 2)
    for k, below, above in zip(points.tolist(), law.logcdf(points), law.logsf(points), strict=True):
        with mp.workdps(50):
            assert below == pytest.approx(float(mp.log(tail(-k))), rel=4e-16, abs=5e-324)
            assert above == pytest.approx(float(mp.log(tail(k + 1))), rel=4e-16, abs=5e-324)


def test_logarithms_of_tails_go_on_where_the_tails_are_no_floats():
    law = IntegerGeneralizedGaussian(order=1, scale=2.0)
    with mp.workdps(50):
        exact = -mp.mpf(10**6) / 2 - mp.log(1 + mp.exp(-mp.mpf(1) / 2))
    assert law.logsf(10**6 - 1) == law.logcdf(-(10**6)) == pytest.approx(float(exact), rel=1e-15)
    assert law.sf(10**6 - 1) == 0.0


@pytest.mark.parametrize(("order", "scale"), [(1.0, 2.0), (2.0, 3.0), (3.0, 12.5)])
def test_the_inverse_of_the_upper_tail_is_the_least_integer_that_reaches_it(order, scale):
    law, tail = IntegerGeneralizedGaussian(order=order, scale=scale), integer_tails(order, scale)
    levels = np.array([1e-12, 1e-3, 0.3, 0.5, 0.7, 0.999])
    for q, k in zip(levels.tolist(), law.isf(levels).tolist(), strict=True):
        assert tail(k + 1) <= q < tail(k)
    assert law.isf(1e-250) > law.isf(1e-16) > 0


@pytest.mark.parametrize(
    ("order", "scale", "name"), [(0.5, 1.0, "order"), (2.0, 0.0, "scale"), (2.0, math.inf, "scale")]
)
def test_a_law_that_is_none_is_refused_by_name(order, scale, name):
    with pytest.raises(ArgumentError, match=name):
        IntegerGeneralizedGaussian(order=order, scale=scale)


@pytest.mark.parametrize(("order", "scale"), [(1.0, 1.0), (1.0, 2.0**50), (2.0, 6.0), (2.0, 2.0**40), (9.0, 0.7)])
def test_where_no_precision_tells_the_next_integer_is_returned(order, scale):
    """A tail beside itself: an equality that balls never see."""
    k = round(3 * scale)
    assert least_with_tail(order, scale, lambda: tail(order, scale, k), at_least=0) == k + 1
    assert least_with_tail(order, scale, lambda: tail(order, scale, k) * (1 + arb(2) ** -200), at_least=0) == k
    assert least_with_tail(order, scale, lambda: tail(order, scale, k) * (1 - arb(2) ** -200), at_least=0) == k + 1


@pytest.mark.parametrize("k", [-20, -3, 0, 1, 2, 17, 300])
def test_laplace_tails_are_found_by_their_closed_form(k):
    """P(K >= k) = r^k / (1 + r) for k >= 1, and 1 - r^(1 - k) / (1 + r) below."""
    with mp.workdps(200):
        r = mp.exp(mp.mpf(-1) / 2)
        exact = r**k / (1 + r) if k >= 1 else 1 - r ** (1 - k) / (1 + r)
        above, below = (mp.nstr(exact * (1 + sign * mp.mpf(10) ** -120), 150) for sign in (1, -1))
    assert least_with_tail(1.0, 2.0, lambda: arb(above), at_least=-100) == k
    assert least_with_tail(1.0, 2.0, lambda: arb(below), at_least=-100) == k + 1


def test_bounds_beyond_all_floats_are_reached():
    k = least_with_tail(1.0, 3.0, lambda: arb(10) ** -5000, at_least=0)
    assert 3 * 5000 * 2.302585 - 3 < k < 3 * 5000 * 2.302586 + 3
    assert least_with_tail(2.0, 3.0, lambda: arb(1), at_least=-7) == -7
