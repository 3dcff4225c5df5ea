"""Values at many points come from Taylor polynomials: each must hold what the incomplete gamma function says."""

import mpmath
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples
from tests.reference import fifty_digits

from ggdp._balls import BALLS, working_precision
from ggdp.proofs import tails as module
from ggdp.proofs.tails import survival, survivals

ORDERS = (1.0, 1.05, 1.5, 2.0, 3.0, 7.5, 20.0, 100.0)


def spread(order, many):
    """Points from one end of what is told apart to the other, the densest around 0."""
    far = 200.0 ** (1.0 / order)
    return [far * u * abs(u) for u in (2.0 * i / (many - 1) - 1.0 for i in range(many))]


@pytest.mark.parametrize("bits", [64, 96, 250])
@pytest.mark.parametrize("order", ORDERS)
def test_many_points_hold_the_value_of_each_and_are_as_accurate(order, bits):
    with BALLS, working_precision(bits):
        p, points = arb(order), [arb(z) for z in spread(order, 2001)]
        for value, alone in zip(survivals(p, points), (survival(p, z) for z in points), strict=True):
            assert value.overlaps(alone)
            assert value.rel_accuracy_bits() >= alone.rel_accuracy_bits() - 8


@pytest.mark.parametrize("order", ORDERS)
def test_most_points_come_from_polynomials_and_hold_the_50_digit_value(order, monkeypatch):
    calls = []
    monkeypatch.setattr(module, "survival", lambda p, z: calls.append(z) or survival(p, z))
    points = [0.5 + i / 20_000 for i in range(2000)]
    with BALLS, working_precision(96), mpmath.workdps(50):
        values = module.survivals(arb(order), [arb(z) for z in points])
        assert len(calls) < 200 or order in (1.0, 100.0)
        for z, value in list(zip(points, values, strict=True))[::97]:
            wanted = fifty_digits.survival(mpmath.mpf(order), mpmath.mpf(z))
            low, high = (mpmath.mpf(str(end.mid().str(40, radius=False))) for end in (value.lower(), value.upper()))
            assert low * (1 - mpmath.mpf(10) ** -35) <= wanted <= high * (1 + mpmath.mpf(10) ** -35)


@settings(max_examples=examples(20, 60))
@given(
    order=st.floats(1.0, 60.0),
    points=st.lists(st.floats(-1.0, 1.0), max_size=6),
    near=st.floats(0.0, 1.0),
    width=st.sampled_from([0.0, 1e-300, 1e-9, 1e-3]),
    radius=st.sampled_from([0.0, 1e-20, 1e-3]),
)
def test_any_points_are_held_also_balls_and_equal_ones(order, points, near, width, radius):
    with BALLS, working_precision(96):
        far = 200.0 ** (1.0 / order)
        balls = [arb(far * z, radius) for z in (*points, *(near + width * i for i in range(40)))]
        for z, value in zip(balls, survivals(arb(order), balls), strict=True):
            for point in (z.mid(), z.mid() - 0.9 * radius, z.mid() + 0.9 * radius):
                assert value.overlaps(survival(arb(order), point))


def test_no_points_have_no_values():
    assert survivals(arb(2), []) == []


@pytest.mark.parametrize("terms", [1, 2, 3, 5])
@pytest.mark.parametrize("order", [1.5, 2.0, 7.5])
def test_the_rest_of_a_polynomial_with_few_terms_is_counted(order, terms):
    with BALLS, working_precision(96):
        points = [arb(z) for z in (1.01, 1.007, 1.0, 0.992, 0.99)]
        for z, value in zip(points, module._on_block(arb(order), points, terms), strict=True):
            assert value.overlaps(survival(arb(order), z))
            assert value.rel_accuracy_bits() < 8 * terms
