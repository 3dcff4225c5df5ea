"""What a noise keeps besides its goal: delta, epsilon, Renyi and concentrated DP, against independent values."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy import integrate, stats
from tests.flat import delta_of_corner, least_delta_of_corner, renyi_of_shift
from tests.reference.fifty_digits import integer_delta, real_delta

import ggdp
from ggdp.accounting.profile import NoisyQuery
from ggdp.accounting.renyi import renyi_between
from ggdp.errors import ArgumentError, UnattainableError

ONE = ggdp.Sensitivity.disjoint(1)
GOAL = ggdp.ApproxDP(1.0, 1e-6)
REFERENCE = {"real": real_delta, "integer": integer_delta}


def calibrated(order, support="real", query=ONE, goal=GOAL):
    return ggdp.calibrate(goal, query, order=order, support=support)


def rounded_out(exact, lower, upper):
    return lower <= float(exact) * (1 + 1e-15) and float(exact) * (1 - 1e-15) <= upper


@pytest.mark.parametrize("support", ["real", "integer"])
@pytest.mark.parametrize("order", [1.5, 2.0, 3.0])
def test_delta_is_that_of_fifty_digits_from_both_sides(order, support):
    noise = calibrated(order, support)
    for epsilon in (0.2, 1.0, 2.0):
        exact = REFERENCE[support]("approximate", order, noise.scale, 1, epsilon)
        lower, upper = noise.delta(epsilon)
        assert rounded_out(exact, lower, upper)
        assert upper <= lower * (1 + 1e-12)


@pytest.mark.parametrize("support", ["real", "integer"])
def test_at_zero_and_below_delta_is_a_distance_of_laws(support):
    noise = calibrated(3.0, support)
    exact = REFERENCE[support]("approximate", 3.0, noise.scale, 1, 0.7)
    with mp.workdps(30):
        mirrored = 1 - mp.exp(mpf(-0.7)) + mp.exp(mpf(-0.7)) * exact
    assert rounded_out(mirrored, *noise.delta(-0.7))
    law = ggdp.IntegerGeneralizedGaussian if support == "integer" else ggdp.GeneralizedGaussian
    found = law(order=3, scale=noise.scale)
    # The total variation distance of a unit shift, which is one probability.
    distance = found.pmf(0) if support == "integer" else found.cdf(0.5) - found.cdf(-0.5)
    lower, upper = noise.delta(0)
    assert lower <= distance * (1 + 1e-14)
    assert distance * (1 - 1e-14) <= upper <= lower + 1e-11


@pytest.mark.parametrize("support", ["real", "integer"])
@pytest.mark.parametrize("order", [1.0, 1.5, 2.0, 3.0])
def test_epsilon_inverts_delta(order, support):
    noise = calibrated(order, support)
    for delta in (1e-9, 1e-6, 1e-3):
        lower, upper = noise.epsilon(delta)
        assert 0 < lower < upper <= lower * (1 + 1e-9)
        assert noise.delta(upper)[1] <= delta < noise.delta(lower * (1 - 1e-12))[0]
    assert noise.epsilon(0.99) == (0.0, 0.0)


def test_the_epsilon_of_pure_dp_is_infinite_above_order_one():
    assert calibrated(2.0).epsilon(0) == (math.inf, math.inf)
    lower, upper = calibrated(1.0, goal=ggdp.PureDP(0.7), query=ggdp.Sensitivity.cells(3, 1)).epsilon(0)
    assert lower <= 0.7 <= upper <= lower * (1 + 1e-11)


@pytest.mark.parametrize(
    ("order", "corner", "support"),
    [(2.0, ((1.0, 2),), "real"), (3.0, ((1.0, 1), (0.5, 1)), "real"), (2.0, ((1, 2),), "integer")],
)
def test_the_delta_of_a_corner_lies_between_its_bounds(order, corner, support):
    at = {"order": order, "scale": 3.0, "corner": corner, "epsilon": 0.8, "support": support}
    lower, upper = least_delta_of_corner(**at), delta_of_corner(**at).upper
    if support == "integer":
        k = np.arange(-60.0, 61.0)
        masses = [np.exp(-(np.abs(k / 3) ** order)) for _ in range(2)]
        losses = [(np.abs(k + 1) ** order - np.abs(k) ** order) / 3**order for _ in range(2)]
    else:
        x = np.linspace(-9, 9, 1801)
        sizes = [size for size, count in corner for _ in range(count)]
        masses = [np.exp(-(np.abs(x) ** order)) for _ in sizes]
        losses = [np.abs(x + size / 3) ** order - np.abs(x) ** order for size in sizes]
    loss = np.add.outer(*losses)
    weights = np.multiply.outer(*(mass / mass.sum() for mass in masses))
    exact = float((weights * -np.expm1(np.minimum(0.8 - loss, 0.0))).sum())
    assert lower <= exact * (1 + 1e-5)
    assert exact * (1 - 1e-5) <= upper <= lower * 1.005


def test_cells_are_quoted_from_both_sides():
    noise = calibrated(3.0, query=ggdp.Sensitivity.cells(2, 1), goal=ggdp.ApproxDP(1.0, 0.05))
    lower, upper = noise.delta(1.0)
    assert 0.0499 < lower < upper <= 0.05


def test_an_l1_norm_costs_what_one_coordinate_costs():
    noise = calibrated(3.0)
    spread = ggdp.guarantee_of(
        order=3, scale=noise.scale, sensitivity=ggdp.Sensitivity.norm(1, 1, dimension=5), epsilon=1.0
    )
    assert spread.delta == pytest.approx(1e-6, rel=1e-9)


def test_bounded_noise_is_quoted_by_its_pure_loss():
    noise = ggdp.calibrate(ggdp.PureDP(1.0), ONE, order=2, bounds=[(0, 10)], bounding="truncated")
    assert noise.delta(1.0) == (0.0, 0.0)
    assert noise.delta(0.5)[1] == pytest.approx((math.e - math.exp(0.5)) / (1 + math.e), rel=1e-9)
    assert noise.epsilon(0)[0] == pytest.approx(1.0, rel=1e-9)
    assert noise.concentrated()[1] == pytest.approx(0.5, rel=1e-9)


@pytest.mark.parametrize("alpha", [1.5, 2.0, 9.0])
@pytest.mark.parametrize("order", [1.0, 1.5, 2.0, 3.0])
def test_renyi_divergences_are_those_of_a_plain_sum_or_integral(order, alpha):
    def height(x, d):
        return (alpha - 1) * np.abs(x + d) ** order - alpha * np.abs(x) ** order

    k = np.arange(-400.0, 401.0)
    summed = np.exp(height(k / 5, 2 / 5)).sum() / np.exp(-(np.abs(k / 5) ** order)).sum()
    found = renyi_of_shift(order=order, scale=5.0, sensitivity=2, alpha=alpha, support="integer")
    exact = math.log(summed) / (alpha - 1)
    assert found.lower <= exact * (1 + 1e-11)
    assert exact * (1 - 1e-11) <= found.upper
    assert found.upper <= found.lower * (1 + 1e-9)
    # Beyond 30 units nothing is left; the kinks of the integrand are told to the quadrature.
    whole, _ = integrate.quad(lambda x: math.exp(height(x, 0.4)), -30, 30, points=[-0.4, 0], epsabs=0, limit=500)
    exact = math.log(whole / (2 * math.gamma(1 + 1 / order))) / (alpha - 1)
    found = renyi_of_shift(order=order, scale=5.0, sensitivity=2, alpha=alpha, support="real")
    assert found.lower <= exact * (1 + 1e-7)
    assert exact * (1 - 1e-7) <= found.upper <= found.lower * (1 + 1e-9)


def test_a_wide_law_on_the_integers_has_almost_the_divergence_of_the_reals():
    wide = renyi_of_shift(order=3, scale=1e6, sensitivity=1e5, alpha=4, support="integer")
    real = renyi_of_shift(order=3, scale=1e6, sensitivity=1e5, alpha=4, support="real")
    assert wide.upper <= wide.lower * (1 + 1e-9)
    assert wide.upper == pytest.approx(real.upper, rel=1e-8)


def test_renyi_divergences_of_coordinates_add_up():
    one, three = calibrated(3.0), ggdp.Sensitivity.cells(3, 1)
    many = NoisyQuery(one.law, three)
    found = renyi_between(many, 4.0)
    assert found == pytest.approx([3 * bound for bound in one.renyi(4.0)], rel=1e-12)


@pytest.mark.parametrize("support", ["real", "integer"])
def test_gaussian_noise_is_concentrated_as_published(support):
    noise = calibrated(2.0, support)
    lower, upper = noise.concentrated()
    sigma = noise.scale / math.sqrt(2)
    assert lower <= 1 / (2 * sigma**2) * (1 + 1e-15)
    assert 1 / (2 * sigma**2) * (1 - 1e-15) <= upper <= lower * (1 + 1e-11)
    # At whole orders the divergence is on the line.
    assert noise.renyi(3.0)[1] == pytest.approx(3 * upper, rel=1e-11)


@pytest.mark.parametrize("order", [1.0, 1.3, 1.7])
def test_orders_below_two_are_concentrated(order):
    noise = calibrated(order, "integer", goal=ggdp.ApproxDP(1.0, 0.01))
    lower, upper = noise.concentrated()
    assert lower <= upper <= 1.02 * lower
    ratios = [noise.renyi(alpha)[1] / alpha for alpha in (1.01, 1.5, 2.0, 3.0, 6.0, 20.0, 300.0)]
    assert max(ratios) <= upper
    if order == 1.0:
        assert upper < (1 / noise.scale) ** 2 / 2


def test_orders_above_two_are_not_concentrated():
    noise = calibrated(3.0)
    assert noise.concentrated() == (math.inf, math.inf)
    assert noise.renyi(400.0)[0] / 400 > 10 * noise.renyi(2.0)[1] / 2


def test_a_scale_of_one_s_own_has_its_guarantee():
    sigma = 3.0
    found = ggdp.guarantee_of(order=2, scale=math.sqrt(2) * sigma, sensitivity=ONE, epsilon=1.0)
    exact = stats.norm.cdf(0.5 / sigma - sigma) - math.e * stats.norm.cdf(-0.5 / sigma - sigma)
    assert found.delta == pytest.approx(exact, rel=1e-9)
    assert found.neighbours == "add-remove"
    back = ggdp.guarantee_of(order=2, scale=math.sqrt(2) * sigma, sensitivity=ONE, delta=found.delta)
    assert back.epsilon == pytest.approx(1.0, rel=1e-9)
    assert isinstance(ggdp.guarantee_of(order=1, scale=2.0, sensitivity=ONE, epsilon=0.5), ggdp.PureDP)


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"delta": 1e-6, "epsilon": 1.0}, ArgumentError, "either delta or epsilon"),
        ({}, ArgumentError, "either delta or epsilon"),
        ({"delta": 0.0}, UnattainableError, "larger delta"),
        ({"epsilon": -1.0}, ArgumentError, "epsilon = -1"),
        ({"delta": 1e-6, "sensitivity": 1.0}, ArgumentError, "sensitivity = 1"),
        ({"delta": 1e-6, "scale": 0.0}, ArgumentError, "scale = 0"),
        ({"delta": 1e-6, "support": "grid"}, ArgumentError, "support = 'grid'"),
    ],
)
def test_what_has_no_guarantee_is_refused(how, error, message):
    with pytest.raises(error, match=message):
        ggdp.guarantee_of(**{"order": 2, "scale": 5.0, "sensitivity": ONE, **how})


def test_numbers_to_quote_refuse_bad_arguments_by_name():
    noise = calibrated(2.0)
    for call, name in ((noise.delta, "epsilon"), (noise.epsilon, "delta"), (noise.renyi, "alpha")):
        with pytest.raises(ArgumentError, match=f"{name} = "):
            call(math.nan)
    with pytest.raises(ArgumentError, match="alpha = 1: must be above 1"):
        noise.renyi(1)


def test_a_larger_scale_on_the_integers_can_be_invalid_and_the_calibration_says_so():
    goal = ggdp.ApproxDP(3.0, 0.01)
    noise = ggdp.calibrate(goal, ONE, order=2, support="integer")
    larger = [noise.scale * (1 + step / 1000) for step in range(1, 200, 10)]
    deltas = [
        ggdp.guarantee_of(order=2, scale=scale, sensitivity=ONE, support="integer", epsilon=3.0).delta
        for scale in larger
    ]
    assert max(deltas) > goal.delta
    for said in (noise.caution, repr(noise), noise.to_dict()["notes"][-1]):
        assert "exactly as it is" in said
    assert ggdp.calibrate(goal, ONE, order=2).caution is None
    assert ggdp.calibrate(ggdp.PureDP(1.0), ONE, order=1, support="integer").caution is None
