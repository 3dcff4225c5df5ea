"""Sums and integrals by Taylor polynomials on blocks hold what plain sums and closed forms say."""

import math

import mpmath
import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples
from tests.flat import renyi_of_shift

from ggdp._balls import BALLS, working_precision
from ggdp.accounting import renyi as module
from ggdp.accounting.renyi import height, weight_integral, weight_sum

# Orders of divergences of a Renyi ledger with a budget of 0.001.
LARGE = (17485.0, 60604.0, 317900.0)


def plain_sum(p, b, D, a, low, high):
    """The sum term by term, in balls."""
    d = arb(D) / arb(b)
    return sum((height(arb(p), d, a, arb(k) / arb(b)).exp() for k in range(low, high + 1)), arb(0))


@settings(max_examples=examples(15, 40), deadline=None)
@given(
    st.sampled_from([1.05, 1.5, 2.0, 2.5, 3.0, 8.0, 100.0]),
    st.floats(20.0, 900.0),
    st.integers(1, 1500),
    st.floats(1.01, 4000.0),
    st.integers(-3000, 0),
    st.integers(1, 2500),
)
def test_blocks_hold_the_sum_term_by_term(p, b, D, alpha, low, many):
    with BALLS, working_precision(96):
        exact = plain_sum(p, b, D, arb(alpha), low, low + many)
        top = max(
            float(height(arb(p), arb(D) / arb(b), arb(alpha), arb(k) / arb(b))) for k in range(low, low + many + 1)
        )
        found = weight_sum(p, b, D, arb(alpha), low, low + many, top)
        assert found.overlaps(exact)
        # A term is e^height: digits before the point of its height are lost after it.
        if abs(top) < 1e12:
            assert float((found.upper() - found.lower()) / exact) < 1e-9


@pytest.mark.parametrize("n", [0, 2, 4, 10, 46])
@pytest.mark.parametrize("half", [1, 2, 16, 300])
def test_sums_of_powers_are_those_of_the_integers(n, half):
    with mpmath.workdps(40):
        exact = sum((mpmath.mpf(j) / half) ** n for j in range(-half, half + 1))
    with BALLS, working_precision(256):
        assert abs(float(module._power_sum(n, half)) / float(exact) - 1) < 1e-15


def test_what_a_polynomial_leaves_out_is_in_the_ball(monkeypatch):
    # With a third of the coefficients the rest is all that keeps the sum inside.
    monkeypatch.setattr(module, "_SPARE_BITS", -64)
    with BALLS, working_precision(96):
        for p in (1.5, 2.5, 3.0):
            exact = plain_sum(p, 400.0, 1, arb(50), 100, 900)
            found = weight_sum(p, 400.0, 1, arb(50), 100, 900, 0.0)
            assert found.overlaps(exact)
            assert found.rel_accuracy_bits() < exact.rel_accuracy_bits() - 20


def test_an_integral_is_that_of_a_normal_density_at_order_2():
    # h(x) = a (a - 1) d^2 - (x - (a - 1) d)^2
    with BALLS, working_precision(128):
        for d, a in ((0.5, 3), (1e-4, 40_000), (2.0, 9)):
            shift, top = (arb(a) - 1) * arb(d), arb(a) * (arb(a) - 1) * arb(d) ** 2
            found = weight_integral(2.0, arb(d), arb(a), 0.25, 60.0, float(top))
            exact = top.exp() * arb.pi().sqrt() / 2 * ((60 - shift).erf() + (shift - 0.25).erf())
            assert found.overlaps(exact)
            assert found.rel_accuracy_bits() > 60


@pytest.mark.parametrize("alpha", LARGE)
def test_the_divergence_of_integer_gaussian_noise_is_alpha_over_the_square_of_its_scale(alpha):
    # Exactly so where (alpha - 1) D is a whole number: the sum is then the normaliser, moved.
    found = renyi_of_shift(order=2, scale=34456.2, sensitivity=1, alpha=alpha, support="integer")
    exact = alpha / 34456.2**2
    assert found.lower <= exact * (1 + 1e-14)
    assert exact * (1 - 1e-14) <= found.upper <= found.lower * (1 + 1e-9)


@pytest.mark.parametrize("alpha", LARGE)
@pytest.mark.parametrize("order", [1.5, 3.0])
def test_divergences_of_large_orders_are_those_of_a_plain_sum(order, alpha):
    scale = 20_000.0
    k = np.arange(-150_000.0, 900_001.0) / scale
    with np.errstate(over="ignore"):
        heights = (alpha - 1) * (np.abs(k + 1 / scale) ** order - np.abs(k) ** order) - np.abs(k) ** order
        top = heights.max()
        summed = top + math.log(np.exp(heights - top).sum()) - math.log(np.exp(-(np.abs(k) ** order)).sum())
    for support in ("integer", "real"):
        found = renyi_of_shift(order=order, scale=scale, sensitivity=1, alpha=alpha, support=support)
        assert found.upper <= found.lower * (1 + 1e-9)
        # Floats lose digits where alpha is large; so wide a law on the reals has almost the same divergence.
        assert found.upper == pytest.approx(summed / (alpha - 1), rel=1e-6)
