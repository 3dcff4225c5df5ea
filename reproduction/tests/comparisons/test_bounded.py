"""Errors of truncated and boundary-inflated noise over the true value, beside integrals of the definitions."""

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf
from tests.reference.fifty_digits import boundary_inflated_loss, survival, truncated_loss

from ggdp_reproduction.comparisons import bounded_errors, distance_errors
from ggdp_reproduction.comparisons.bounded import distance_draws


def weight(p, b, x):
    return mpmath.exp(-((abs(x) / b) ** p))


def exact_truncated(p, b, s, low, high):
    def moment(j):
        return mpmath.quad(lambda x: (x - s) ** j * weight(p, b, x - s), [low, s, high])

    mass = moment(0)
    return moment(1) / mass, moment(2) / mass


def exact_inflated(p, b, s, low, high):
    norm = 2 * b * mpmath.gamma(1 + 1 / p)
    atoms = (survival(p, (s - low) / b), low - s), (survival(p, (high - s) / b), high - s)

    def moment(j):
        inner = mpmath.quad(lambda x: (x - s) ** j * weight(p, b, x - s), [low, s, high]) / norm
        return inner + sum(mass * error**j for mass, error in atoms)

    return moment(1), moment(2)


@pytest.mark.parametrize("order", [1.0, 2.0, 3.5])
def test_the_errors_are_those_of_the_laws_at_their_scales(order):
    places = [0.0, 1.25, 5.0, 10.0]
    found = bounded_errors(order, 1.0, (0.0, 10.0), location=places)
    for law, exact in ((found.truncated, exact_truncated), (found.boundary_inflated, exact_inflated)):
        for index, s in enumerate(places):
            with mp.workdps(30):
                bias, square = exact(mpf(order), mpf(law.scale), mpf(s), mpf(0), mpf(10))
                std, rmse = mpmath.sqrt(square - bias**2), mpmath.sqrt(square)
            assert float(law.bias[index]) == pytest.approx(float(bias), abs=1e-11)
            assert float(law.std[index]) == pytest.approx(float(std), rel=1e-11)
            assert float(law.rmse[index]) == pytest.approx(float(rmse), rel=1e-11)


@pytest.mark.parametrize("order", [1.0, 2.0, 3.0])
def test_both_scales_are_the_least_for_the_same_epsilon(order):
    found = bounded_errors(order, 0.8, (-2.0, 4.0), 1.5, location=[0.0])
    for b, loss in ((found.truncated.scale, truncated_loss), (found.boundary_inflated.scale, boundary_inflated_loss)):
        assert loss(order, b, 6.0, 1.5) <= 0.8 * (1 + 1e-12)
        assert loss(order, b * (1 - 1e-8), 6.0, 1.5) > 0.8


def test_neither_is_uniformly_better():
    found = bounded_errors(2, 1.0, (0.0, 10.0))
    assert found.rmse_ratio.min() < 1.0 < found.rmse_ratio.max()
    # Truncated noise is better in the middle, boundary-inflated noise at the ends.
    assert found.rmse_ratio[100] < 1.0 < found.rmse_ratio[0]


def test_the_errors_mirror_each_other_around_the_middle():
    found = bounded_errors(1.7, 0.5, (-3.0, 5.0), 2.0)
    for law in (found.truncated, found.boundary_inflated):
        assert law.bias == pytest.approx(-law.bias[::-1], abs=1e-12)
        assert law.rmse == pytest.approx(law.rmse[::-1], rel=1e-12)
        assert np.allclose(law.rmse**2, law.std**2 + law.bias**2, rtol=1e-12)


def named(errors):
    return {(one.mechanism, one.delta): one for one in errors}


@pytest.mark.parametrize("order", [1, 2, 3, np.inf])
def test_the_plain_distance_is_drawn_with_the_errors_of_its_law(order):
    (plain, *_), drawn = distance_errors(order), distance_draws(order)
    assert (plain.mechanism, plain.loss, plain.delta) == ("plain distance", 1.0, 0.0)
    # Five standard errors of 2,000 releases; the numbers of one release depend on each other.
    for errors, mean in ((drawn**2, plain.rmse**2), (np.abs(drawn), plain.mean_abs)):
        each = errors.mean(axis=1)
        assert abs(each.mean() - mean) < 5 * each.std() / len(each) ** 0.5


def test_the_plain_distance_of_order_1_is_laplace_noise():
    plain = distance_errors(1)[0]
    assert (plain.scale, plain.mean_abs) == pytest.approx((5.0, 5.0), rel=1e-12)
    assert plain.rmse == pytest.approx(5 * 2**0.5, rel=1e-12)
    # Clamped too: at this delta the least scale for aDP is that of Laplace noise.
    found = named(distance_errors(1, 20.0, deltas=1e-6))
    assert found["GG", 1e-6].scale == 5.0
    for name in ("rmse", "mean_abs"):
        drawn, exact = (getattr(found[key], name) for key in (("plain distance", 0.0), ("GG", 1e-6)))
        assert drawn == pytest.approx(exact, rel=0.03)


@pytest.mark.parametrize("order", [1.5, 2, 3])
def test_errors_within_bounds_are_those_of_the_laws(order):
    width, places = 10.0, (np.arange(201) + 0.5) / 20.1
    found = named(distance_errors(order, width, deltas=[0.01]))
    assert [one.loss <= 1.0 for one in found.values()] == [True] * 4
    x = np.linspace(0.0, width, 20_001)
    for key, atoms in (("truncated GG", False), ("Exponential", False), ("GG", True)):
        one = next(one for one in found.values() if one.mechanism == key)
        square = absolute = 0.0
        for s in places:
            density = np.exp(-((np.abs(x - s) / one.scale) ** order))
            if atoms:
                density /= float(2 * one.scale * mpmath.gamma(1 + 1 / order))
                ends = [float(survival(order, end / one.scale)) for end in (s, width - s)]
            else:
                density, ends = density / np.trapezoid(density, x), [0.0, 0.0]
            square += np.trapezoid((x - s) ** 2 * density, x) + ends[0] * s**2 + ends[1] * (width - s) ** 2
            absolute += np.trapezoid(np.abs(x - s) * density, x) + ends[0] * s + ends[1] * (width - s)
        assert (one.rmse, one.mean_abs) == pytest.approx(((square / 201) ** 0.5, absolute / 201), rel=1e-6)


def test_the_plain_distance_has_the_least_pure_error_where_the_values_are_worth_anything():
    for width in (5.0, 12.0, 30.0, 300.0):
        found = named(distance_errors(2, width))
        plain, *others = (found[name, 0.0].rmse for name in ("plain distance", "truncated GG", "Exponential"))
        constant = width / 12**0.5
        assert plain < min(others) or constant < min(plain, *others)
    # Without pure DP, Gaussian noise is better at a large delta and worse at a small one.
    assert found["GG", 0.01].rmse < plain < found["GG", 1e-6].rmse
    assert others[0] > 5 * plain


def test_the_power_of_the_distance_spends_less_than_it_promises_and_the_plain_distance_all():
    found = named(distance_errors(2, 100.0, epsilon=0.5, deltas=[], dimension=3))
    assert found["plain distance", 0.0].loss == found["truncated GG", 0.0].loss == 0.5
    assert found["Exponential", 0.0].loss < 0.25
    assert len(found) == 3


def test_no_other_mechanism_has_an_infinite_order_or_pure_privacy_without_bounds():
    assert [one.mechanism for one in distance_errors(np.inf, 10.0)] == ["plain distance"]
    assert {one.mechanism for one in distance_errors(2) if one.delta == 0.0} == {"plain distance"}
