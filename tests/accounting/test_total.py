"""The total of losses lies between its bounds: by enumeration, by closed forms, and for every grid."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from tests.accounting.brute_force import delta_of, integer_noise, response
from tests.cases import covering, examples, some

import ggdp
from ggdp.accounting.totals import TotalLoss
from ggdp.proofs.losses import CoordinateLoss, CountedLoss, ResponseLoss, total_loss
from ggdp.proofs.noise_law import NoiseLaw


def noise(order, scale, size=1.0, support="integer", count=1):
    return CountedLoss(CoordinateLoss(NoiseLaw(order=order, scale=scale, support=support), size), count)


def answer(epsilon, delta=0.0, count=1):
    return CountedLoss(ResponseLoss(epsilon, delta), count)


ENUMERATED = {
    "two responses": ([answer(0.5), answer(0.3)], [response(0.5), response(0.3)]),
    "six equal responses": ([answer(0.25, count=6)], [response(0.25)] * 6),
    "responses with a delta": (
        [answer(0.5, 1e-5), answer(0.2, 1e-3, count=2)],
        [response(0.5, 1e-5)] + [response(0.2, 1e-3)] * 2,
    ),
    "a loss that is only infinite": ([answer(0.0, 1e-4), answer(0.7)], [response(0.0, 1e-4), response(0.7)]),
    "Laplace on the integers": ([noise(1, 2.5, count=2)], [integer_noise(1, 2.5, 1, 95)] * 2),
    "Laplace that moves by 3": ([noise(1, 4.0, 3.0), answer(0.3)], [integer_noise(1, 4.0, 3, 160), response(0.3)]),
    "order 2 on the integers": ([noise(2, 2.0, count=2)], [integer_noise(2, 2.0, 1, 22)] * 2),
    "order 3, two scales": (
        [noise(3, 2.2), noise(3, 3.1)],
        [integer_noise(3, 2.2, 1, 11), integer_noise(3, 3.1, 1, 15)],
    ),
    "order 1.5 and a response": ([noise(1.5, 1.7, 2.0), answer(0.4)], [integer_noise(1.5, 1.7, 2, 40), response(0.4)]),
    "order 8, three of them": ([noise(8, 2.5, count=3)], [integer_noise(8, 2.5, 1, 5)] * 3),
}


@pytest.mark.parametrize("epsilon", [40.0, 75.0, 79.0, 79.9])
def test_near_their_largest_sum_laplace_losses_on_the_integers_keep_all_digits(epsilon):
    """There the tilt leaves so little weight on the lowest losses that the grid is cut, but all losses are on knots."""
    scale, size, count = 3, 30, 8
    q = mp.exp(-mpf(1) / scale)
    # The probability of the loss (size - 2 j) / scale.
    single = [1 / (1 + q), *((1 - q) / (1 + q) * q**j for j in range(1, size)), q**size / (1 + q)]
    masses = [mpf(1)]
    for _ in range(count):
        longer = [mpf(0)] * (len(masses) + size)
        for i, mass in enumerate(masses):
            for j, share in enumerate(single):
                longer[i + j] += mass * share
        masses = longer
    losses = [(mpf(count * size - 2 * j) / scale, mass) for j, mass in enumerate(masses)]
    exact = delta_of([losses], epsilon)
    lower, upper = TotalLoss.of([noise(1, float(scale), float(size), count=count)]).delta(epsilon)
    assert mpf(lower) <= exact * (1 + mpf(10) ** -30)
    assert exact * (1 - mpf(10) ** -30) <= mpf(upper) <= mpf(lower) * (1 + mpf(10) ** -6)


@pytest.mark.parametrize("name", ENUMERATED)
@pytest.mark.parametrize("share", [0.0, 0.3, 0.8])
def test_a_total_lies_between_its_bounds_which_are_close(name, share):
    losses, laws = ENUMERATED[name]
    largest = sum(max(loss for loss, _ in law) for law in laws)
    epsilon = share * min(float(largest), 4.0)
    lower, upper = TotalLoss.of(losses).delta(epsilon)
    exact = delta_of(laws, epsilon)
    # What the enumeration leaves out is below 1e-20.
    assert mpf(lower) <= exact * (1 + mpf(10) ** -14) <= mpf(upper) * (1 + mpf(10) ** -13)
    # A loss that is 0 or infinite counts in the upper bound only.
    slack = 2e-4 if name == "a loss that is only infinite" else 1e-15
    # At order 8 much of the mass lies on epsilon = 0 itself, whatever the grid.
    assert upper <= lower * (1.001 if name == "order 8, three of them" else 1.0001) + slack


@pytest.mark.parametrize("name", some(ENUMERATED, fast=lambda name: name != "Laplace on the integers"))
def test_the_epsilon_for_a_delta_has_that_delta(name):
    losses, laws = ENUMERATED[name]
    total = TotalLoss.of(losses)
    for delta in (0.02, 2e-3):
        lower, upper = total.epsilon(delta)
        if math.isinf(upper):
            assert total.infinite[1] >= delta
            continue
        assert delta_of(laws, upper) <= delta * (1 + 1e-12)
        assert lower == 0.0 or delta_of(laws, lower) >= delta * (1 - 1e-12)
        assert lower <= upper


def two_responses(first, n, second, m, epsilon):
    """Return delta of n and m responses, by their binomial laws."""
    total = mpf(0)
    laws = [
        [(i, mp.binomial(k, i) / (1 + mp.exp(-e)) ** i / (1 + mp.exp(e)) ** (k - i)) for i in range(k + 1)]
        for e, k in ((mpf(first), n), (mpf(second), m))
    ]
    for i, p in laws[0]:
        for j, q in laws[1]:
            loss = (2 * i - n) * mpf(first) + (2 * j - m) * mpf(second)
            if loss > epsilon:
                total += p * q * (1 - mp.exp(mpf(epsilon) - loss))
    return total


@pytest.mark.parametrize(
    ("first", "n", "second", "m", "epsilon"),
    [(1.0, 20, 0.001, 300, 20.1), (1.0, 10, 0.01, 200, 10.9), (2.0, 5, 0.01, 200, 10.6), (1.0, 3, 0.001, 300, 3.05)],
)
def test_weights_far_below_the_rest_are_not_lost(first, n, second, m, epsilon):
    lower, upper = TotalLoss.of([answer(first, count=n), answer(second, count=m)]).delta(epsilon)
    exact = two_responses(first, n, second, m, epsilon)
    assert mpf(lower) <= exact <= mpf(upper)


def gaussian_delta(mu, epsilon):
    return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize(
    ("scales", "count", "epsilon"),
    covering([(30.0,), (25.0, 40.0, 55.5)], [1, 7, 300], [0.1, 1.0, 3.0]),
)
def test_gaussian_losses_are_one_gaussian_loss(scales, count, epsilon):
    total = TotalLoss.of([noise(2, scale, support="real", count=count) for scale in scales])
    mu = mp.sqrt(sum(count * 2 / mpf(scale) ** 2 for scale in scales))
    lower, upper = total.delta(epsilon)
    exact = gaussian_delta(mu, mpf(epsilon))
    assert lower <= exact <= upper
    assert upper <= lower * (1 + 1e-9) + 1e-300


@pytest.mark.parametrize(("count", "epsilon"), [(2, 1.5), (40, 3.0), (1000, 6.5), (1000, 8.0)])
def test_the_machine_agrees_with_one_gaussian_loss(count, epsilon):
    # The closed form is not used: the total has a response that hardly loses anything.
    scale = 2.0 * math.sqrt(count)
    total = TotalLoss.of([noise(2, scale, support="real", count=count), answer(1e-12)])
    lower, upper = total.delta(epsilon)
    mu = mp.sqrt(count * 2 / mpf(scale) ** 2)
    exact = gaussian_delta(mu, mpf(epsilon))
    assert mpf(lower) <= gaussian_delta(mu, mpf(epsilon) - mpf(10) ** -12)
    assert exact * (1 - mpf(10) ** -10) <= mpf(upper)
    assert upper <= lower * (1.0001 if exact > 1e-12 else 1.005)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("epsilon", "least"),
    [(7.0, 1e-18), *(pytest.param(epsilon, 1.0, marks=pytest.mark.exhaustive) for epsilon in (3.0, 5.0))],
)
def test_far_in_the_tail_both_bounds_keep_their_digits(epsilon, least):
    total = TotalLoss.of([noise(3, 40.0, count=50), noise(1.5, 30.0, count=20)])
    lower, upper = total.delta(epsilon)
    assert 0.0 < lower <= upper <= 1.01 * lower
    assert upper < least


def test_pure_losses_have_no_delta_from_their_sum_on():
    total = TotalLoss.of([noise(1, 10.0, count=3), answer(0.25, count=2)])
    lower, upper = total.epsilon(0.0)
    assert Fraction(lower) <= Fraction(3, 10) + Fraction(1, 2) <= Fraction(upper)
    assert upper <= math.nextafter(lower, 1.0)
    assert total.delta(0.8) == (0.0, 0.0)
    assert total.delta(0.79)[0] > 0.0
    assert total.epsilon(1e-12)[1] <= 0.8000000000000001


def test_no_epsilon_has_less_than_the_probability_of_an_infinite_loss():
    total = TotalLoss.of([answer(0.1, 1e-6, count=10), noise(2, 20.0)])
    assert total.infinite == pytest.approx((1e-5, 1e-5), rel=1e-5)
    assert total.epsilon(9e-6) == (math.inf, math.inf)
    lower, upper = total.epsilon(1.2e-5)
    assert 0.0 < lower <= upper < math.inf
    assert total.delta(50.0)[1] <= 1.0001e-5


@pytest.mark.exhaustive
@settings(max_examples=examples(2, 10))
@given(
    st.lists(
        st.tuples(st.sampled_from([1.0, 1.5, 2.0, 3.0]), st.floats(5.0, 60.0), st.integers(1, 6)),
        min_size=1,
        max_size=3,
    ),
    st.floats(0.0, 2.0),
)
def test_more_losses_and_a_smaller_epsilon_never_have_a_smaller_delta(laws, epsilon):
    losses = [noise(order, scale, count=count) for order, scale, count in laws]
    total = TotalLoss.of(losses)
    lower, upper = total.delta(epsilon)
    assert 0.0 <= lower <= upper <= 1.0
    more = TotalLoss.of([*losses, noise(3, 25.0)])
    assert more.delta(epsilon)[1] >= lower
    assert total.delta(epsilon + 0.1)[0] <= upper


def test_equal_losses_are_added_up_once():
    total = TotalLoss.of([noise(3, 20.0), noise(3, 20.0, count=4), noise(3, 21.0)])
    assert {(counted.loss.law.scale, counted.count) for counted in total.losses} == {(20.0, 5), (21.0, 1)}


def test_a_delta_far_below_the_noise_that_is_enumerated_has_its_digits_from_a_grid() -> None:
    total = TotalLoss.of([CountedLoss(CoordinateLoss(NoiseLaw(order=2.0, scale=2.0, support="integer"), 1.0), 2)])
    lower, upper = total.delta(17.0)
    assert 0.0 < lower <= upper <= lower * (1 + 1e-2)
    assert upper < 1e-60


@pytest.mark.parametrize("delta", [0.5, 1e-6])
@pytest.mark.parametrize(
    ("losses", "largest"),
    [
        ([answer(1e9, count=2)], 2e9),
        ([answer(1e9), answer(3e8)], 1.3e9),
        ([noise(1, 1e-9, count=2)], 2e9),
        ([noise(2, 1e-5)], math.inf),
        ([noise(3, 1e-3, support="real")], math.inf),
    ],
)
def test_an_epsilon_beyond_all_that_are_searched_has_bounds(losses, largest, delta):
    lower, upper = TotalLoss.of(losses).epsilon(delta)
    assert 1e8 <= lower <= upper
    assert upper == pytest.approx(largest, rel=1e-12)


@pytest.mark.parametrize("losses", [[noise(2, 1e-5, support="real")], [noise(3, 1e-3, support="real")]])
def test_no_delta_is_above_1(losses):
    lower, upper = TotalLoss.of(losses).delta(1.0)
    assert 0.999 < lower <= upper <= 1.0


def test_a_delta_beyond_every_grid_is_at_most_the_noise_that_is_not_enumerated():
    assert TotalLoss.of([noise(3, 1e-3, count=2)]).delta(1e12)[1] < 1e-40


def test_a_sum_that_is_laid_out_for_one_epsilon_answers_for_its_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    goal = ggdp.ApproxDP(1.0, 1e-6)
    noises = [ggdp.calibrate(goal, ggdp.Sensitivity.cells(2, 1), order=order) for order in (1.5, 3)]
    total, made = ggdp.compose(noises), []
    alone = ggdp.compose(noises).epsilon(1.1e-6)
    monkeypatch.setattr(
        "ggdp.accounting.totals.total_loss", lambda *args, **how: made.append(1) or total_loss(*args, **how)
    )
    total.epsilon(1e-6)
    number = len(made)
    near = total.epsilon(1.1e-6)
    assert len(made) == number > 0
    assert near == pytest.approx(alone, rel=1e-6)
    assert near[0] <= alone[1]
    assert alone[0] <= near[1]
