"""Every number of the page on planning, beside values that do not come from the planner."""

import math

import numpy as np
import pytest
from scipy import optimize, special

import ggdp
from ggdp.planning import plan

PAGES = ("explanation/theory/planning.md",)
MANY = ggdp.ApproxDP(1.0, 1e-6)


def survival(p, z):
    upper = special.gammaincc(1 / p, abs(z) ** p) / 2
    return upper if z >= 0 else 1 - upper


def std(p, epsilon, delta):
    """The standard deviation of an order, from the root of delta(z) in floats."""
    if p == 1:
        return math.sqrt(2) / (epsilon - 2 * math.log1p(-delta))

    def far(z):
        return (abs(z) ** p + epsilon) ** (1 / p)

    def excess(z):
        return survival(p, z) - math.exp(epsilon) * survival(p, far(z)) - delta

    z = optimize.brentq(excess, -30.0, 30.0, xtol=1e-13)
    return math.sqrt(math.gamma(3 / p) / math.gamma(1 / p)) / (far(z) - z)


def test_every_number_on_the_page_has_a_test(untested):
    assert untested == set()


@pytest.mark.parametrize(
    ("epsilon", "delta", "laplace", "gaussian", "best", "order"),
    [
        (1.0, 1e-6, "plan-small-laplace", "plan-small-gaussian", "plan-small-best", "plan-small-order"),
        (1.0, 0.05, "plan-middle-laplace", "plan-middle-gaussian", "plan-middle-best", "plan-middle-order"),
        (0.1, 0.1, "plan-large-laplace", "plan-large-gaussian", "plan-large-best", "plan-large-order"),
    ],
)
def test_the_table_of_histograms(says, epsilon, delta, laplace, gaussian, best, order):
    found = plan(ggdp.ApproxDP(epsilon, delta), ggdp.Sensitivity.histogram())
    says(best, found.best.error)
    says(order, found.best.order)
    says(laplace, std(1, epsilon, delta))
    says(gaussian, std(2, epsilon, delta))
    if found.best.order == 1:
        assert std(1, epsilon, delta) < std(1.001, epsilon, delta)
        return
    least = optimize.minimize_scalar(lambda p: std(p, epsilon, delta), bounds=(1.01, 20.0), method="bounded")
    says(best, least.fun)
    says(order, least.x)


@pytest.mark.exhaustive
def test_ten_cells_of_one_person(says):
    found = plan(MANY, ggdp.Sensitivity.cells(10, 1))
    says("plan-ten-best", found.best.error)
    says("plan-ten-order", found.best.order)
    says("plan-ten-laplace", found.alternatives[0].error)
    # Gaussian noise is rotation invariant: the l_2 norm is all that counts.
    says("plan-ten-gaussian", math.sqrt(10) * std(2, 1.0, 1e-6))


@pytest.mark.exhaustive
def test_a_thousand_cells_of_one_person(says):
    found = plan(MANY, ggdp.Sensitivity.cells(1000, 1), "max")
    says("plan-thousand-best", found.best.error)
    says("plan-thousand-laplace", found.alternatives[0].error)
    says("plan-thousand-gaussian", found.alternatives[1].error)
    assert 3.5 <= found.best.order <= 4.0


def test_probabilistic_dp_can_have_a_valley_at_either_end(says):
    goal, query = ggdp.ProbabilisticDP(0.3, 0.05), ggdp.Sensitivity.histogram()
    found = plan(goal, query, "max", cells=100)
    says("plan-valley-high", found.best.error)
    assert found.best.order == 50.0
    curve = dict(found.curve)
    low = min(error for order, error in curve.items() if order < 2.0)
    says("plan-valley-low", low)
    assert low < curve[1.0]
    assert low < curve[2.0]
    assert low < max(curve.values())


def laplace_delta(scale, cells, epsilon, *, up):
    """The aDP delta of Laplace noise on many cells that move by 1, losses rounded up or down, by a tilted transform."""
    d, intervals, points, tilt = 1 / scale, 4000, 1 << 22, 14.0
    losses = np.linspace(-d, d, intervals + 1)
    masses = np.zeros(intervals + 1)
    # Between the two atoms the loss at noise x is 2 x + d, in units of the scale.
    masses[slice(1, None) if up else slice(-1)] += np.diff(np.exp((losses - d) / 2) / 2)
    masses[0] += math.exp(-d) / 2
    masses[-1] += 0.5
    tilted = masses * np.exp(tilt * losses)
    total = tilted.sum()
    summed = np.fft.irfft(np.fft.rfft(tilted / total, points) ** cells, points)[: cells * intervals + 1]
    loss = np.linspace(-cells * d, cells * d, cells * intervals + 1)
    weights = np.maximum(summed, 0.0) * np.exp(cells * math.log(total) - tilt * loss)
    return float(np.sum(np.where(loss > epsilon, -np.expm1(np.minimum(epsilon - loss, 0.0)) * weights, 0.0)))


@pytest.mark.exhaustive
def test_the_laplace_scale_of_a_thousand_cells_is_where_delta_is_passed(printed):
    harmonic = math.fsum(1 / k for k in range(1, 1001))
    low, high = ((float(printed["plan-thousand-laplace"]) + move) / harmonic for move in (-0.05, 0.05))
    assert laplace_delta(high, 1000, 1.0, up=True) < 1e-6 < laplace_delta(low, 1000, 1.0, up=False)


def test_the_integers_have_their_own_best(says):
    found = plan(ggdp.ApproxDP(0.1, 0.1), ggdp.Sensitivity.histogram(), support="integer")
    says("plan-integer-best", found.best.error)
    says("plan-integer-order", found.best.order)


def test_noise_outside_the_family(says):
    one = ggdp.Sensitivity.histogram()
    for goal, mark in (
        (ggdp.PureDP(2.0), "outside-staircase-2"),
        (ggdp.PureDP(4.0), "outside-staircase-4"),
        (ggdp.ApproxDP(0.1, 0.1), "outside-truncated-large"),
        (ggdp.ApproxDP(0.1, 1e-3), "outside-truncated-small"),
        (ggdp.ApproxDP(0.5, 0.05), "outside-truncated-middle"),
    ):
        says(mark, 1 / plan(goal, one).outside[0].gain)
    assert plan(ggdp.ApproxDP(1.0, 1e-6), one, support="integer").outside == ()
