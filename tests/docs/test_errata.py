"""Every number of the errata page, computed anew: by the library where it has the quantity, else with mpmath."""

import math
from functools import partial

import mpmath as mp
import pytest
from tests.flat import delta_of_shift, loss_of_boundary_inflated, loss_of_integer_truncated, loss_of_truncated

import ggdp
from ggdp.calibration import (
    classic_gaussian,
    disjoint_scale,
    exponential_calibration,
    truncated_scale,
    utility_sensitivity,
)

PAGES = ("explanation/errata.md",)
ONE = ggdp.Sensitivity.disjoint(1)
TEN = [(0.0, 10.0)]


def normal_tail(x):
    return mp.erfc(x / mp.sqrt(2)) / 2


def normal_quantile(q):
    return -mp.sqrt(2) * mp.erfinv(1 - 2 * mp.mpf(q))


def lower_gamma(a, x):
    return mp.gammainc(a, 0, x, regularized=True)


def gaussian_pdp_std(epsilon, delta):
    """Lemma 10 at sensitivity 1."""
    z = -normal_quantile(mp.mpf(delta) / 2)
    return (z + mp.sqrt(z**2 + 2 * mp.mpf(epsilon))) / (2 * mp.mpf(epsilon))


def classic_std(epsilon, delta):
    return mp.sqrt(2 * mp.log(mp.mpf("1.25") / mp.mpf(delta))) / mp.mpf(epsilon)


def gaussian_delta(notion, std, epsilon, sensitivity=1):
    t = epsilon * std / sensitivity - sensitivity / (2 * std)
    far = t + sensitivity / mp.mpf(std)
    if notion == "approximate":
        return normal_tail(t) - mp.exp(epsilon) * normal_tail(far)
    return normal_tail(t) + normal_tail(far)


def test_the_plain_distance_has_the_errors_on_the_page(says):
    from ggdp_reproduction.comparisons import distance_errors

    # The mean of ||x||^2 / 5 with ||x|| of the Gamma law of shape 5 and scale sqrt 5; that of R^2 / 3 with shape 6.
    says("plain-distance-2", mp.sqrt(5 * (5 * 6) / mp.mpf(5)))
    says("plain-distance-infinity", mp.sqrt(6 * 7 / mp.mpf(3)))
    says("plain-distance-laplace", 5 * mp.sqrt(2))
    for mark, delta in (("plain-distance-small", 1e-6), ("plain-distance-large", 0.01)):
        excess = partial(lambda delta, x: mp.log(gaussian_delta("approximate", x, 1, mp.sqrt(5)) / delta), delta)
        says(mark, mp.findroot(excess, (3, 9)))
    wide, narrow = ({one.mechanism: one.rmse for one in distance_errors(2, width)} for width in (100.0, 10.0))
    says("plain-distance-wide", wide["plain distance"])
    says("plain-distance-truncated", wide["truncated GG"])
    says("plain-distance-power", wide["Exponential"])
    says("plain-distance-narrow", narrow["truncated GG"])
    says("plain-distance-constant", 10 / mp.sqrt(12))
    assert narrow["truncated GG"] < narrow["plain distance"]


def test_every_number_on_the_page_has_a_test(untested):
    assert untested == set()


def test_the_printed_variance_is_not_that_of_the_law(says):
    b = math.sqrt(2)
    says("variance-printed", b**2 * math.gamma(3 / b) / math.gamma(1 / b))
    says("variance-right", ggdp.GeneralizedGaussian(order=2, scale=b).variance)


@pytest.mark.parametrize("order", [1, 1.5, 3])
def test_the_density_with_a_minus_integrates_to_one(order):
    density = ggdp.GeneralizedGaussian(order=order, scale=2.0).pdf
    assert float(mp.quad(lambda x: density(float(x)), [-200, -20, -1, 0, 1, 20, 200])) == pytest.approx(1, abs=1e-9)


def test_the_printed_normaliser_is_no_probability(says):
    b = 6.48074
    law = ggdp.GeneralizedGaussian(order=2, scale=b)
    right = (lower_gamma(0.5, (5 / b) ** 2) + lower_gamma(0.5, (5 / b) ** 2)) / 2
    says("normaliser-right", right)
    assert float(right) == pytest.approx(law.cdf(5.0) - law.cdf(-5.0), rel=1e-13)
    says("normaliser-printed", lower_gamma(0.5, 5 / b) + lower_gamma(0.5, 5 / b))


def test_the_printed_atom_is_not_that_of_the_law(says):
    b = 6.48074
    law = ggdp.BoundaryInflatedGeneralizedGaussian(order=2, scale=b, location=5.0, bounds=(0.0, 10.0))
    says("atom-right", law.upper_atom)
    says("atom-printed", mp.mpf(1) / 2 - lower_gamma(0.5, 5 / b**2) / 2)


def test_the_printed_corollary_8_is_unsafe_above_sensitivity_1(says):
    z = -normal_quantile("0.025")
    # Pr(2 |e| D + D > b^2) = delta with D = 10: b^2 - 10 = 20 z b / sqrt 2.
    b = mp.findroot(lambda b: b**2 - 10 - 20 * z * b / mp.sqrt(2), 28)
    says("corollary-8-printed", b)
    says("corollary-8-true", gaussian_delta("probabilistic", b / mp.sqrt(2), 1, 10))
    right = disjoint_scale(2, 10.0, 1.0, 0.05)
    says("corollary-8-right", right)
    assert gaussian_delta("probabilistic", right / mp.sqrt(2), 1, 10) < mp.mpf("0.05")


def test_the_condition_after_corollary_7_with_epsilon_in_its_right_place_is_lemma_10():
    b = mp.sqrt(2) * gaussian_pdp_std("0.5", "0.05")
    # Pr(2 |e| > b^2 eps - 1) for e of standard deviation b / sqrt 2.
    assert 2 * normal_tail((b**2 / 2 - 1) / (mp.sqrt(2) * b)) == pytest.approx(0.05, rel=1e-12)


def test_the_two_sides_of_gaussian_dp_are_the_other_way_round(says):
    disjoint = truncated_scale(2, [(10.0, 1.0, 2)], 2, 1.0, joint=1.0) ** 2
    box = truncated_scale(2, [(10.0, 1.0, 2)], 2, 1.0) ** 2
    says("gaussian-dp-first", disjoint)
    says("gaussian-dp-second", box)
    assert disjoint < box


def test_the_variance_ratio_is_not_the_printed_one(says):
    z = normal_quantile("0.025")
    right = (z**2 + 1 - z * mp.sqrt(z**2 + 2)) / 4
    says("variance-ratio", right)
    says("variance-ratio-printed", z**2 / 4 + 1 - z * mp.sqrt(z**2 + 2))
    assert gaussian_pdp_std(1, "0.05") ** 2 / 2 == pytest.approx(float(right), rel=1e-12)


def test_lemma_11_needs_the_lower_tail(says):
    says("lemma-11-threshold", 2 * normal_tail(mp.sqrt(2)))


def test_the_exact_condition_of_lemma_11_is_where_the_variances_are_equal(says):
    exact = 2 * normal_tail(mp.sqrt(2) - 1 / (2 * mp.sqrt(2)))
    says("lemma-11-exact", exact)
    assert gaussian_pdp_std(1, exact) ** 2 / 2 == pytest.approx(1.0, rel=1e-12)


def test_the_ratio_of_figure_3_is_pdp_to_adp_and_not_monotone_in_delta(says):
    def ratio(epsilon, delta):
        return gaussian_pdp_std(epsilon, delta) / classic_std(epsilon, delta)

    says("figure-3-least", ratio("0.001", "0.5"))
    says("figure-3-most", ratio(1, "1e-15"))
    says("figure-3-falls", ratio("0.99", "0.4"))
    says("figure-3-rises", ratio("0.99", "0.5"))
    says("figure-3-beyond", ratio("0.99", "0.99"))
    says("figure-3-edge", mp.findroot(lambda delta: ratio(1, delta) - 1, 0.95))


def test_part_c_of_lemma_9_can_be_tighter_than_part_b(says):
    bounds = [(-1.0, 1.0)]
    grid = [i / 500 - 1 for i in range(1001)]
    squares = max(abs(s**2 - t**2) for s in grid[::10] for t in grid[::10] if abs(s - t) <= 1 + 1e-12)
    says("square-sensitivity", squares)
    says("lemma-9c-at-2", squares + 2)
    says("lemma-9b", utility_sensitivity(2, ONE, bounds, utility="lemma"))
    says("utility-exact-at-2", utility_sensitivity(2, ONE, bounds))


def test_below_order_1_there_is_pure_dp(says):
    losses = [mp.sqrt(abs(x + 1)) - mp.sqrt(abs(x)) for x in mp.linspace(-5, 5, 1001)]
    says("below-order-1", max(losses))
    with pytest.raises(ggdp.GgdpError, match="order"):
        ggdp.calibrate(ggdp.PureDP(1.0), ONE, order=0.5)


def test_probabilistic_and_approximate_dp_are_far_apart(says):
    says("pdp-sigma", ggdp.calibrate(ggdp.ProbabilisticDP(1.0, 0.05), ONE, order=2).std)
    says("adp-sigma", ggdp.calibrate(ggdp.ApproxDP(1.0, 0.05), ONE, order=2).std)


def test_the_closed_form_of_the_disjoint_case_is_lemma_10_at_order_2(says):
    closed = disjoint_scale(2, 1.0, 1.0, 0.05) / math.sqrt(2)
    says("closed-form-at-2", closed)
    assert closed == pytest.approx(float(gaussian_pdp_std(1, "0.05")), rel=1e-14)


def test_the_closed_form_solves_the_disjoint_condition_at_other_orders():
    for p in (1.5, 3.0, 7.5):
        b = mp.mpf(disjoint_scale(p, 1.0, 1.0, 0.05))
        e = mp.findroot(lambda e, b=b, p=p: (e + 1) ** p - e**p - b**p, b)
        assert mp.gammainc(1 / mp.mpf(p), (e / b) ** p, regularized=True) == pytest.approx(0.05, rel=1e-12)


def test_eqn_b1_is_not_enough_for_boundary_inflated_noise(says):
    b = truncated_scale(4, [(1.0, 1.0, 1)], 1, 0.1)
    loss = loss_of_boundary_inflated(order=4, scale=b, width=1.0, sensitivity=1.0)
    says("inflated-overrun", loss.lower / 0.1)
    # Where the bounds are D apart: 1/2 over the tail beyond D is exp(epsilon).
    with mp.workdps(20):
        narrow = mp.findroot(lambda b: mp.erfc(1 / b) - mp.exp(-1), 1.5)
    says("inflated-narrow", narrow)
    found = ggdp.calibrate(ggdp.PureDP(1.0), ONE, order=2, bounds=[(0.0, 1.0)], bounding="boundary-inflated")
    assert found.scale == pytest.approx(float(narrow), rel=1e-8)
    with pytest.raises(ggdp.errors.UnattainableError):
        ggdp.calibrate(
            ggdp.PureDP(0.1), ONE, order=4, bounds=[(0.0, 1.0)], bounding="boundary-inflated", method="paper"
        )


@pytest.mark.parametrize(
    ("order", "paper", "least"), [(2, "b1-order-2", "least-order-2"), (3, "b1-order-3", "least-order-3")]
)
def test_eqn_b1_is_sound_and_loose_for_truncated_noise(says, order, paper, least):
    goal = ggdp.PureDP(1.0)
    says(paper, ggdp.calibrate(goal, ONE, order=order, bounds=TEN, bounding="truncated", method="paper").scale)
    says(least, ggdp.calibrate(goal, ONE, order=order, bounds=TEN, bounding="truncated").scale)


def test_clipping_does_not_keep_probabilistic_dp(says):
    std = ggdp.calibrate(ggdp.ProbabilisticDP(1.0, 0.01), ONE, order=2).std
    says("clamped-sigma", std)
    assert gaussian_delta("probabilistic", std, 1) == pytest.approx(0.01, rel=1e-8)
    # True value 1 against 0: inside the bound the loss (2 x - 1) / (2 std^2) is above 1 from `far` on.
    at, far = mp.mpf("6.47"), std**2 + 0.5
    atom = normal_tail((at - 1) / std)
    says("clamped-atom", mp.log(atom / normal_tail(at / std)))
    assert at < far
    says("clamped-delta", atom + normal_tail(far / std))
    std = gaussian_pdp_std(1, "0.01")
    says("lemma-sigma", std)
    at, far = mp.mpf("7.194"), std**2 + 0.5
    atom = normal_tail((at - 1) / std)
    assert mp.log(atom / normal_tail(at / std)) > 1
    assert at < far
    says("lemma-clamped", atom + normal_tail(far / std))


def test_the_spread_at_the_same_scale_is_least_near_order_nine(says):
    order = float(mp.findroot(lambda p: 3 * mp.digamma(3 / p) - mp.digamma(1 / p), 9))
    says("least-spread-order", order)
    says("least-spread", ggdp.GeneralizedGaussian(order=order, scale=1.0).std)
    says("uniform-spread", 1 / math.sqrt(3))
    near = [ggdp.GeneralizedGaussian(order=p, scale=1.0).std for p in (order - 1, order, order + 1, 1e4)]
    assert near[0] > near[1] < near[2] < near[3] < 1 / math.sqrt(3)


def test_drawing_again_until_in_bounds_is_not_post_processing(says):
    says("redrawn-laplace", loss_of_truncated(order=1, scale=1.0, width=10.0, sensitivity=1.0).lower)


def redrawn_delta(order, scale, epsilon):
    """Delta of pDP of noise redrawn until in [0, 4 b], the larger of the true values 0 and 1, by integrals."""
    p, b = mp.mpf(order), mp.mpf(scale)

    def between(low, high, true):
        inner = [x for x in (mp.mpf(1), b, 1.5 * b, 2 * b) if low < x < high]
        return mp.quad(lambda x: mp.exp(-((abs(x - true) / b) ** p)), sorted([low, *inner, high]))

    shift = mp.log(between(0, 4 * b, 1) / between(0, 4 * b, 0))

    def loss(x):
        return (abs(x - 1) / b) ** p - (x / b) ** p + shift

    ends = []
    for level in (epsilon, -epsilon):
        inside = loss(mp.mpf(0)) > level > loss(4 * b)
        at_end = 4 * b if loss(4 * b) >= level else mp.mpf(0)
        ends.append(mp.findroot(lambda x, v=level: loss(x) - v, (0, 4 * b), solver="bisect") if inside else at_end)
    return max(1 - between(*ends, true) / between(0, 4 * b, true) for true in (0, 1))


def test_drawing_again_does_not_keep_probabilistic_dp(says):
    scale = disjoint_scale(8, 1.0, 0.05, 0.25)
    says("redrawn-scale", scale)
    says("redrawn-delta", redrawn_delta(8, scale, 0.05))
    says("redrawn-share", redrawn_delta(8, scale, 0.05) / 0.25)
    says("redrawn-at-3", redrawn_delta(3, disjoint_scale(3, 1.0, 0.05, 0.5), 0.05) / 0.5)
    least = ggdp.calibrate(ggdp.ProbabilisticDP(4.0, 1e-6), ONE, order=6).scale
    says("redrawn-least", redrawn_delta(6, least, 4.0) / 1e-6)


def test_report_noisy_max_with_gaussian_noise_has_approximate_dp_only(says):
    std = gaussian_pdp_std(1, "0.05") * mp.sqrt(2)
    says("noisy-max-loss", mp.log(normal_tail(100 / std) / normal_tail(101 / std)))
    gaps = [mp.mpf(gap) / 20 for gap in range(-200, 2001)]
    says("noisy-max-delta", max(normal_tail(gap / std) - mp.e * normal_tail((gap + 1) / std) for gap in gaps))


def test_the_exponential_mechanism_has_twice_the_laplace_scale():
    assert exponential_calibration(ggdp.PureDP(1.0), ONE, order=1).scale == 2.0
    assert ggdp.calibrate(ggdp.PureDP(1.0), ONE, order=1).scale == 1.0


def test_the_bounds_of_lemma_9_are_loose_and_c_is_not_shift_invariant(says):
    shifted = [(100.0, 110.0)]
    says("utility-exact-2", utility_sensitivity(2, ONE, TEN))
    says("utility-lemma-2", utility_sensitivity(2, ONE, TEN, utility="lemma"))
    says("utility-exact-3", utility_sensitivity(3, ONE, TEN))
    says("utility-lemma-3", utility_sensitivity(3, ONE, TEN, utility="lemma"))
    says("utility-exact-3", utility_sensitivity(3, ONE, shifted))
    says("utility-lemma-3-shifted", utility_sensitivity(3, ONE, shifted, utility="lemma"))


def test_the_exponential_mechanism_without_bounds_is_refused_above_order_1():
    with pytest.raises(ggdp.errors.UnattainableError, match="bounds"):
        exponential_calibration(ggdp.PureDP(1.0), ONE, order=2)


@pytest.mark.parametrize(("order", "mark"), [(1, "exponential-1"), (2, "exponential-2"), (3, "exponential-3")])
def test_the_exponential_mechanism_can_cost_less_than_half(says, order, mark):
    found = exponential_calibration(ggdp.PureDP(1.0), ONE, order=order, bounds=TEN)
    says(mark, found.guarantee.epsilon)


def test_the_exponential_mechanism_can_cost_nearly_epsilon(says):
    # Utilities 1 and 0 of one output and of n others, and the other way round on the neighbour.
    n, best = 1000, mp.exp(mp.mpf(1) / 2)
    here, there = best / (best + n), 1 / (1 + n * best)
    says("exponential-near", mp.log(here / there))


def test_the_classic_gaussian_scale_is_proved_below_epsilon_1_only(says):
    says("classic-delta", gaussian_delta("approximate", classic_std(1, "0.05"), 1))
    says("classic-share", gaussian_delta("approximate", classic_std(1, "0.05"), 1) / mp.mpf("0.05"))
    says("classic-fails", gaussian_delta("approximate", classic_std(10, "0.05"), 10))
    goal = ggdp.ApproxDP(1.0, 0.05)
    with pytest.raises(ggdp.errors.ArgumentError, match="epsilon"):
        classic_gaussian(goal, ONE)
    assert classic_gaussian(goal, ONE, outside_domain=True).std == pytest.approx(
        float(classic_std(1, "0.05")), rel=1e-14
    )


def mean_abs_ggm3(epsilon, delta):
    return ggdp.GeneralizedGaussian(order=3, scale=disjoint_scale(3, 1.0, epsilon, delta)).mean_abs


def mean_abs_classic(epsilon, delta):
    return float(classic_std(epsilon, delta) * mp.sqrt(2 / mp.pi))


def test_the_classic_gaussian_is_not_the_worst_of_the_paper(says):
    rows = {
        ("ggm3-a", "classic-a"): (0.5, 0.01),
        ("ggm3-b", "classic-b"): (1.0, 0.05),
        ("ggm3-c", "classic-c"): (2.0, 0.1),
    }
    for (ggm3, classic), setting in rows.items():
        says(ggm3, mean_abs_ggm3(*setting))
        says(classic, mean_abs_classic(*setting))
    settings = [(epsilon, delta) for epsilon in (0.5, 1.0, 2.0) for delta in (0.01, 0.05, 0.1, 0.25)]
    says("ggm3-larger", sum(mean_abs_ggm3(*setting) > mean_abs_classic(*setting) for setting in settings))


def integer_delta(notion, p, b, epsilon):
    """Delta of integer noise at sensitivity 1, from its sums."""
    p, b = mp.mpf(p), mp.mpf(b)
    k = next(k for k in range(1000) if (k + 1) ** p - k**p > epsilon * b**p)
    weights = [mp.exp(-((mp.mpf(j) / b) ** p)) for j in range(200)]
    total = 2 * mp.fsum(weights) - 1
    tail, far = mp.fsum(weights[k:]) / total, mp.fsum(weights[k + 1 :]) / total
    return tail - mp.exp(epsilon) * far if notion == "approximate" else tail + far


@pytest.mark.parametrize(
    ("mark", "goal", "order"),
    [
        ("integer-overrun-pdp", ggdp.ProbabilisticDP(5.0, 1e-6), 2),
        ("integer-overrun-adp", ggdp.ApproxDP(2.0, 0.01), 50),
        ("integer-overrun-50", ggdp.ProbabilisticDP(1.5, 0.01), 50),
    ],
)
def test_a_scale_for_the_reals_is_not_valid_on_the_integers(says, mark, goal, order):
    scale = ggdp.calibrate(goal, ONE, order=order).scale
    assert (
        delta_of_shift(notion=goal.notion, order=order, scale=scale, sensitivity=1.0, epsilon=goal.epsilon).upper
        <= goal.delta
    )
    with mp.workdps(40):
        says(mark, integer_delta(goal.notion, order, scale, goal.epsilon) / goal.delta)


def test_a_truncated_scale_for_the_reals_is_not_valid_on_the_integers(says):
    scale = ggdp.calibrate(ggdp.PureDP(2.0), ONE, order=1.5, bounds=[(0.0, 2.0)], bounding="truncated").scale
    says(
        "integer-truncated-overrun", loss_of_integer_truncated(order=1.5, scale=scale, width=2, sensitivity=1).lower / 2
    )
