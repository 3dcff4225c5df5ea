"""The rigorous sums hold the exact ones and are narrow, near and far, at every size of scale."""

import math

import mpmath as mp
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import covering, examples

from ggdp.proofs import tails as sums

DIGITS = 50
ORDERS = [1.0, 1.00001, 1.2, 1.5, 2.0, 3.0, 7.5, 50.0]


def exact_tail(p, b, k, moment=0):
    """Sum term by term at 50 digits until the terms are below 1e-45 of the sum."""
    with mp.workdps(DIGITS):
        total, j = mp.mpf(0), k
        while True:
            term = mp.mpf(j) ** moment * mp.exp(-((mp.mpf(j) / mp.mpf(b)) ** mp.mpf(p)))
            total += term
            j += 1
            if j > k + 3 and j > 2 * b and term < total * mp.mpf(10) ** -45:
                return total


def ball(x):
    """Return a ball around a 50-digit number, 1e-38 of its size wide."""
    with ctx.workprec(256):
        return arb(mp.nstr(x, 45)) * (1 + arb(0, 1e-38))


@pytest.mark.parametrize(("p", "b", "moment"), covering(ORDERS, [0.3, 1.0, 4.7, 13.0], [0, 1, 2]))
def test_a_tail_sum_holds_the_exact_sum_and_is_narrow(p, b, moment):
    for k in (1, 2, math.ceil(2 * b), math.ceil(4 * b)):
        if (k / b) ** p > 1e4:
            continue
        with ctx.workprec(96):
            value = sums.tail_sum(p, b, k, moment=moment)
            assert value.overlaps(ball(exact_tail(p, b, k, moment)))
            assert value.rel_accuracy_bits() >= 75


@pytest.mark.parametrize("p", [1.5, 2.0, 4.0])
@pytest.mark.parametrize("bits", [64, 96, 192])
def test_more_precision_gives_nested_and_narrower_sums(p, bits):
    for b, k in [(40.0, 1), (40.0, 60), (1000.0, 1), (1000.0, 2500)]:
        with ctx.workprec(bits):
            wide = sums.tail_sum(p, b, k)
        with ctx.workprec(2 * bits):
            narrow = sums.tail_sum(p, b, k)
        assert wide.overlaps(narrow)
        assert wide.rel_accuracy_bits() >= bits - 24
        assert narrow.rel_accuracy_bits() >= 2 * bits - 24


@pytest.mark.parametrize("p", [2.0, 4.0, 6.0])
@pytest.mark.parametrize("b", [1e3, 2.0**40, 2.0**60])
def test_at_even_orders_and_large_scales_the_normaliser_is_the_integral(p, b):
    # By Poisson summation the two differ by less than e^-100 of their size.
    with ctx.workprec(128):
        integral = 2 * arb(b) * (1 + 1 / arb(p)).gamma()
        value = sums.normaliser(p, b)
        assert abs(value / integral - 1) < arb(2) ** -110


@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("b", [30.0, 1e4, 2.0**40])
def test_two_tails_differ_by_the_terms_between(p, b):
    with ctx.workprec(160):
        for k in (1, 17, int(b), int(1.2 * b)):
            between = sums.tail_sum(p, b, k) - sums.tail_sum(p, b, k + 5)
            terms = sum((sums.weight(p, b, j) for j in range(k, k + 5)), arb(0))
            assert between.overlaps(terms)


@given(
    p=st.floats(1.0, 12.0),
    b=st.floats(2.0, 60.0),
    k=st.integers(1, 40),
    n=st.integers(1, 6),
    moment=st.integers(0, 2),
)
@settings(deadline=None, max_examples=examples(20, 60))
def test_the_euler_maclaurin_error_is_within_its_bound(p, b, k, n, moment):
    with ctx.workprec(256):
        t = (k / b) ** p
        if t > 1e3 or n * p <= moment:
            return
        bound = sums._euler_maclaurin_error(p, b, k, n, moment)
        formula = sums._integral(p, b, k, moment) + sums._euler_maclaurin_terms(p, b, k, n, moment)
        terms = sums._terms_needed(p, b, k)
        exact = sums._direct(p, b, k, terms, moment)
        assert not abs(exact - formula) > bound


def test_the_euler_maclaurin_bound_is_not_idle():
    p, b, k, n = 1.5, 50.0, 1, 3
    with ctx.workprec(256):
        bound = sums._euler_maclaurin_error(p, b, k, n, 0)
        exact = sums._direct(p, b, k, sums._terms_needed(p, b, k), 0)
        error = abs(exact - sums._integral(p, b, k, 0) - sums._euler_maclaurin_terms(p, b, k, n, 0))
        assert error < bound < 5 * error


@pytest.mark.parametrize("s", [-3.3, -0.5, -1e-9, 0.0, 1e-9, 0.4, 1.0])
@pytest.mark.parametrize("y", [1e-9, 0.01, 0.99, 1.0, 3.0, 50.0])
def test_the_bound_of_the_incomplete_gamma_function_is_above_it(s, y):
    exact = arb(y).gamma_upper(arb(s))
    bound = sums._gamma_bound(arb(s), arb(y), arb(y) ** arb(s))
    assert not bound < exact
    assert bound < 60 * exact + 1


@pytest.mark.parametrize("p", [1.0, 1.5, 50.0])
def test_tails_of_mirrored_points_add_up_to_one(p):
    for b in (0.7, 9.0, 1e7):
        for k in (-3, 0, 1, 5):
            assert (sums.tail(p, b, k) + sums.tail(p, b, 1 - k)).overlaps(arb(1))


def test_a_partial_sum_is_its_terms_whether_long_or_short():
    with ctx.workprec(128):
        for last in (3, 150, 250, 900):
            terms = sum(sums.weights(1.7, 300.0, 3, last + 1), arb(0))
            value = sums.partial_sum(1.7, 300.0, 3, last)
            assert value.overlaps(terms)
            assert value.rel_accuracy_bits() > 90
    assert sums.partial_sum(2.0, 3.0, 5, 4) == 0


def test_a_tail_beyond_all_floats_is_still_bounded():
    value = sums.tail_sum(50.0, 0.01, 1)
    assert value < arb(2) ** -10000
    assert sums.normaliser(50.0, 0.01).overlaps(arb(1))


@pytest.mark.parametrize(("p", "b"), [(1.0, 5e4), (1.3, 5e4), (2.0, 4096.0), (3.0, 2e6), (40.0, 1e5), (2.0, 30.0)])
def test_many_tails_at_once_are_the_tails_one_by_one(p: float, b: float) -> None:
    """At small scales the shared bound of the error is too large, and each has its own sum."""
    with ctx.workprec(100):
        last = int(b * 100.0 ** (1.0 / p))
        points = list(range(1, last, max(last // 300, 1)))
        together = sums.tail_sums(p, b, points)
        for k, found in zip(points, together, strict=True):
            alone = sums.tail_sum(p, b, k)
            assert found.overlaps(alone)
            assert found.rel_accuracy_bits() >= 50
