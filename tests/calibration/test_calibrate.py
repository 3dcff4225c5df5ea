"""The front door: values everybody knows, the algebra of scales, refusals."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples
from tests.flat import delta_of_integer_shift, delta_of_shift

import ggdp
from ggdp.errors import ArgumentError, UnattainableError, UnprovedError

ONE = ggdp.Sensitivity.disjoint(1)

NOTIONS = st.sampled_from([ggdp.ApproxDP, ggdp.ProbabilisticDP])
ORDERS = st.one_of(st.sampled_from([1.0, 2.0, 3.0]), st.floats(1.0, 50.0))
EPSILONS = st.floats(1e-3, 20.0)
DELTAS = st.floats(1e-15, 0.5)


def scale(goal, d=1.0, *, order, support="real"):
    return ggdp.calibrate(goal, ggdp.Sensitivity.disjoint(d), order=order, support=support).scale


def printed(value, digits):
    """The value rounded up or to nearest at the last printed digit, since scales are rounded up."""
    return {f"{value:.{digits}f}", f"{value * (1 - 1e-12):.{digits}f}"}


@pytest.mark.parametrize(
    ("order", "goal", "method", "digits", "expected"),
    [
        (1, ggdp.ApproxDP(1, 0.05), "tight", 12, "0.906958247253"),
        (1, ggdp.ProbabilisticDP(1, 0.05), "tight", 12, "1.000000000000"),
        (1.5, ggdp.ProbabilisticDP(0.5, 0.01), "paper", 11, "4.77583477990"),
        (1.5, ggdp.ProbabilisticDP(0.5, 0.01), "tight", 11, "4.68878351666"),
        (1.5, ggdp.ApproxDP(0.5, 0.01), "tight", 11, "3.20136815487"),
        (3, ggdp.ProbabilisticDP(1, 0.05), "paper", 12, "4.662444534457"),
    ],
)
def test_the_scales_of_the_corrected_mathematics_come_out_to_all_printed_digits(order, goal, method, digits, expected):
    assert expected in printed(ggdp.calibrate(goal, ONE, order=order, method=method).scale, digits)


@pytest.mark.parametrize(
    ("goal", "method", "expected"),
    [
        (ggdp.ProbabilisticDP(1, 1e-6), "paper", "4.992"),
        (ggdp.ProbabilisticDP(1, 1e-6), "tight", "4.916"),
        (ggdp.ApproxDP(1, 1e-6), "tight", "4.225"),
        (ggdp.ProbabilisticDP(1, 0.05), "tight", "2.019"),
        (ggdp.ApproxDP(1, 0.05), "tight", "1.333"),
    ],
)
def test_the_gaussian_standard_deviations_come_out(goal, method, expected):
    assert f"{ggdp.calibrate(goal, ONE, order=2, method=method).std:.3f}" == expected


@pytest.mark.parametrize(("order", "delta", "expected"), [(3, 0.05, "2.57663333443"), (2, 1e-6, "5.98322484490")])
def test_the_integer_scales_come_out_to_all_printed_digits(order, delta, expected):
    found = ggdp.calibrate(ggdp.ApproxDP(1, delta), ONE, order=order, support="integer").scale
    assert expected in printed(found, 11) or found == pytest.approx(float(expected), rel=2e-12)


def test_at_order_50_the_least_integer_scale_is_far_below_the_continuous_one():
    goal = ggdp.ApproxDP(5, 0.001)
    assert ggdp.calibrate(goal, ONE, order=50, support="integer").scale <= 6.8
    assert f"{ggdp.calibrate(goal, ONE, order=50).scale:.1f}" == "30.9"


@pytest.mark.parametrize(
    ("bounding", "method", "order", "expected"),
    [
        ("truncated", "paper", 2, "6.48074"),
        ("truncated", "tight", 2, "3.90079"),
        ("truncated", "paper", 3, "8.71537"),
        ("truncated", "tight", 3, "6.15321"),
    ],
)
def test_the_truncated_scales_come_out(bounding, method, order, expected):
    found = ggdp.calibrate(ggdp.PureDP(1), ONE, order=order, bounds=[(0, 10)], bounding=bounding, method=method)
    assert f"{found.scale:.5f}" == expected


@pytest.mark.parametrize(("order", "low", "high"), [(2, 2.66555, 2.66565), (3, 3.5075, 3.5087), (4, 4.235, 4.246)])
def test_replace_one_on_a_histogram_moves_two_cells(order, low, high):
    found = ggdp.calibrate(ggdp.ApproxDP(1, 0.05), ggdp.Sensitivity.histogram("replace-one"), order=order)
    assert low <= found.scale <= high
    assert found.guarantee.neighbours == "replace-one"


def test_order_one_is_laplace_in_closed_form():
    for epsilon, delta in ((1e-4, 1e-18), (0.1, 1e-6), (1.0, 0.05), (50.0, 0.5)):
        expected = 1 / (epsilon - 2 * math.log1p(-delta))
        assert scale(ggdp.ApproxDP(epsilon, delta), order=1) == pytest.approx(expected, rel=1e-14)
        on_integers = 1 / math.log((math.exp(epsilon) + delta) / (1 - delta))
        assert scale(ggdp.ApproxDP(epsilon, delta), order=1, support="integer") == pytest.approx(on_integers, rel=1e-12)


@settings(deadline=None, max_examples=examples(25, 60))
@given(NOTIONS, ORDERS, EPSILONS, DELTAS, st.floats(1.0, 3.0), st.floats(1.0, 3.0))
def test_the_scale_falls_as_epsilon_and_delta_grow(notion, order, epsilon, delta, more_epsilon, more_delta):
    tight = scale(notion(epsilon, delta), order=order)
    looser = scale(notion(epsilon * more_epsilon, min(delta * more_delta, 0.9)), order=order)
    assert looser <= tight * (1 + 1e-9)


@settings(deadline=None, max_examples=examples(15, 40))
@given(NOTIONS, ORDERS, st.floats(0.05, 20.0), DELTAS, st.floats(1.0, 3.0), st.floats(1.0, 3.0), st.integers(1, 3))
def test_on_the_integers_too_it_falls_as_epsilon_and_delta_grow(
    notion, order, epsilon, delta, more_epsilon, more_delta, d
):
    tight = scale(notion(epsilon, delta), d, order=order, support="integer")
    looser = notion(epsilon * more_epsilon, min(delta * more_delta, 0.5))
    assert scale(looser, d, order=order, support="integer") <= tight * (1 + 2e-9)


@settings(deadline=None, max_examples=examples(25, 60))
@given(NOTIONS, ORDERS, EPSILONS, DELTAS, st.floats(1e-9, 1e12))
def test_on_the_reals_the_scale_is_proportional_to_the_sensitivity(notion, order, epsilon, delta, d):
    goal = notion(epsilon, delta)
    assert scale(goal, d, order=order) == pytest.approx(d * scale(goal, order=order), rel=2e-9)


@settings(deadline=None, max_examples=examples(15, 40))
@given(NOTIONS, ORDERS, st.floats(0.05, 20.0), DELTAS, st.integers(1, 5), st.integers(1, 5))
def test_on_the_integers_the_scale_grows_with_the_sensitivity(notion, order, epsilon, delta, d, more):
    goal = notion(epsilon, delta)
    assert scale(goal, d, order=order, support="integer") <= scale(goal, d + more, order=order, support="integer") * (
        1 + 1e-9
    )


@settings(deadline=None, max_examples=examples(25, 60))
@given(NOTIONS, st.floats(1.001, 50.0), st.floats(0.2, 5.0), st.floats(1e-2, 5.0))
def test_on_the_reals_scale_to_delta_to_scale_comes_back(notion, order, b, epsilon):
    goal = notion(epsilon, 0.1)
    delta = delta_of_shift(notion=goal.notion, order=order, scale=b, sensitivity=1.0, epsilon=epsilon).upper
    if 1e-18 <= delta <= 0.5:
        assert scale(notion(epsilon, delta), order=order) == pytest.approx(b, rel=2e-9)


@settings(deadline=None, max_examples=examples(25, 60))
@given(NOTIONS, ORDERS, st.floats(0.3, 20.0), st.floats(1e-2, 5.0), st.integers(1, 4))
def test_on_the_integers_the_scale_that_comes_back_is_not_above_the_original(notion, order, b, epsilon, d):

    goal = notion(epsilon, 0.1)
    delta = delta_of_integer_shift(notion=goal.notion, order=order, scale=b, sensitivity=d, epsilon=epsilon).upper
    if 1e-18 <= delta <= 0.5:
        assert scale(notion(epsilon, delta), d, order=order, support="integer") <= b * (1 + 2e-9)


@settings(deadline=None, max_examples=examples(25, 60))
@given(NOTIONS, ORDERS, EPSILONS, DELTAS, st.sampled_from(["real", "integer"]))
def test_the_guarantee_implies_the_goal_and_can_be_proved_again(notion, order, epsilon, delta, support):
    goal = notion(max(epsilon, 0.01), delta)
    found = ggdp.calibrate(goal, ONE, order=order, support=support)
    assert found.guarantee.implies(goal)
    assert found.guarantee.neighbours == "add-remove"
    found.verify()


def test_pure_dp_at_order_one_is_the_l1_norm_over_epsilon_on_both_supports():
    box = ggdp.Sensitivity.box([3, 2, 1])
    for support in ("real", "integer"):
        found = ggdp.calibrate(ggdp.PureDP(0.5), box, order=1, support=support)
        assert found.scale == 12.0
        assert found.guarantee == ggdp.PureDP(0.5, "add-remove")


def test_a_goal_with_delta_zero_is_a_pure_goal():
    assert ggdp.calibrate(ggdp.ApproxDP(1, 0), ONE, order=1).guarantee == ggdp.PureDP(1.0, "add-remove")
    with pytest.raises(UnattainableError, match=r"order = 2\.0"):
        ggdp.calibrate(ggdp.ApproxDP(1, 0), ONE, order=2)


def test_order_two_goes_by_the_l2_norm():
    goal = ggdp.ApproxDP(1, 1e-6)
    box = ggdp.Sensitivity.box([3.0, 4.0])
    assert ggdp.calibrate(goal, box, order=2).scale == pytest.approx(5 * scale(goal, order=2), rel=1e-9)
    norm = ggdp.Sensitivity.norm(2, 1.0, dimension=1000)
    assert ggdp.calibrate(goal, norm, order=2).scale == pytest.approx(scale(goal, order=2), rel=1e-9)


def test_a_known_joint_norm_is_used_where_it_helps():
    goal = ggdp.ApproxDP(1, 1e-6)
    free = ggdp.calibrate(goal, ggdp.Sensitivity.box([1.0] * 4), order=2).scale
    joint = ggdp.calibrate(goal, ggdp.Sensitivity.box([1.0] * 4, norm=(2, 1.0)), order=2).scale
    assert joint == pytest.approx(free / 2, rel=1e-9)
    at_three = ggdp.calibrate(goal, ggdp.Sensitivity.box([1.0] * 4, norm=(3, 0.01)), order=3)
    assert at_three.certificate.bound.name == "radial"


def test_at_order_one_the_pure_scale_of_several_coordinates_is_labelled_an_upper_bound():
    found = ggdp.calibrate(ggdp.ProbabilisticDP(1, 0.05), ggdp.Sensitivity.cells(1000, 1), order=1)
    assert found.scale == 1000.0
    assert found.certificate.tight is None
    assert "upper bound" in found.notes[0]
    assert found.guarantee == ggdp.PureDP(1.0, "add-remove")


@pytest.mark.parametrize(
    ("order", "epsilon", "width", "d"), [(2, 1e-4, 10, 1), (50, 1e-3, 10, 5), (3, 1e-4, 1e12, 1e-9)]
)
def test_truncated_scales_are_found_at_small_epsilons_too(order, epsilon, width, d):
    found = ggdp.calibrate(
        ggdp.PureDP(epsilon),
        ggdp.Sensitivity.disjoint(d),
        order=order,
        bounds=[(0, width)],
        bounding="truncated",
    )
    assert found.certificate.tight == 1 - 1e-9


def test_a_joint_norm_makes_truncated_noise_smaller_by_eqn_b1():
    joint = ggdp.Sensitivity.box([1] * 10, norm=(1, 1))
    found = ggdp.calibrate(ggdp.PureDP(1), joint, order=1, bounds=[(0, 10)], bounding="truncated")
    assert found.scale == 2.0
    found.verify()


def test_a_bare_norm_falls_back_to_the_direction_free_bound_and_says_so():
    found = ggdp.calibrate(ggdp.ApproxDP(1, 1e-6), ggdp.Sensitivity.norm(3, 1.0, dimension=10), order=3)
    assert found.certificate.bound.name == "radial"
    assert "direction" in found.notes[0]
    assert "upper bound" in found.notes[0]
    assert found.scale > scale(ggdp.ApproxDP(1, 1e-6), order=3)


@pytest.mark.exhaustive
def test_probabilistic_dp_of_several_coordinates_is_labelled_an_upper_bound():
    found = ggdp.calibrate(ggdp.ProbabilisticDP(1, 0.05), ggdp.Sensitivity.cells(3, 1.0), order=3)
    assert found.certificate.bound.name == "absolute-sum"
    assert "upper bound" in found.notes[0]


def test_probabilistic_dp_at_order_two_is_exact_for_several_coordinates():
    found = ggdp.calibrate(ggdp.ProbabilisticDP(1, 0.05), ggdp.Sensitivity.box([1, 0.1, 0.05]), order=2)
    assert f"{found.scale:.4f}" == "2.8726"


def test_bounds_of_several_coordinates_add_or_compete():
    def bounded(sensitivity, bounds):
        return ggdp.calibrate(ggdp.PureDP(1), sensitivity, order=2, bounds=bounds, bounding="truncated").scale

    one = bounded(ggdp.Sensitivity.disjoint(1), [(0, 10)])
    assert bounded(ggdp.Sensitivity.disjoint(1), [(0, 10), (0, 5)]) == pytest.approx(one, rel=1e-9)
    half = ggdp.calibrate(ggdp.PureDP(0.5), ONE, order=2, bounds=[(0, 10)], bounding="truncated").scale
    assert bounded(ggdp.Sensitivity.box([1, 1]), [(0, 10)]) == pytest.approx(half, rel=1e-9)
    assert bounded(ggdp.Sensitivity.cells(2, 1), [(0, 10)]) == pytest.approx(half, rel=1e-9)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ggdp.calibrate("1.0", ONE, order=1), ArgumentError, r"goal = '1\.0'"),
        (lambda: ggdp.calibrate(ggdp.PureDP(1), 1.0, order=1), ArgumentError, r"sensitivity = 1\.0"),
        (lambda: ggdp.calibrate(ggdp.PureDP(1), ONE, order=0.5), ArgumentError, r"order = 0\.5"),
        (lambda: ggdp.calibrate(ggdp.PureDP(1), ONE, order=math.nan), ArgumentError, "order = nan"),
        (lambda: ggdp.calibrate(ggdp.PureDP(1), ONE, order=math.inf), ArgumentError, "order = inf"),
        (lambda: ggdp.calibrate(ggdp.PureDP(1), ONE, order=1, support="rational"), ArgumentError, "support = "),
        (lambda: ggdp.calibrate(ggdp.PureDP(1), ONE, order=1, method="guess"), ArgumentError, "method = "),
        (lambda: ggdp.calibrate(ggdp.PureDP(1), ONE, order=2), UnattainableError, r"bounding = 'truncated'"),
        (lambda: ggdp.calibrate(ggdp.PureDP(1), ONE, order=1, bounds=[(0, 1)]), ArgumentError, "bounding = None"),
        (lambda: ggdp.calibrate(ggdp.PureDP(1), ONE, order=1, bounding="truncated"), ArgumentError, "bounds = None"),
        (
            lambda: ggdp.calibrate(ggdp.PureDP(1), ONE, order=1, bounds=[(1, 0)], bounding="truncated"),
            ArgumentError,
            r"bounds = \(1, 0\): the lower end",
        ),
        (
            lambda: ggdp.calibrate(ggdp.PureDP(1), ONE, order=1, bounds=[(0, 0.5)], bounding="truncated"),
            ArgumentError,
            "narrower than the sensitivity",
        ),
        (
            lambda: ggdp.calibrate(ggdp.ApproxDP(1, 0.1), ONE, order=1, bounds=[(0, 5)], bounding="truncated"),
            UnprovedError,
            r"PureDP\(1\.0\)",
        ),
        (
            lambda: ggdp.calibrate(ggdp.ApproxDP(1, 0.1), ggdp.Sensitivity.disjoint(0.5), order=1, support="integer"),
            ArgumentError,
            r"sensitivity = 0\.5: on the integers it must be a whole number",
        ),
        (
            lambda: ggdp.calibrate(
                ggdp.PureDP(1), ONE, order=1, support="integer", bounds=[(0, 5.5)], bounding="truncated"
            ),
            ArgumentError,
            "whole numbers",
        ),
        (
            lambda: ggdp.calibrate(
                ggdp.ProbabilisticDP(1, 0.1), ggdp.Sensitivity.norm(3, 1, dimension=4), order=3, support="integer"
            ),
            UnprovedError,
            r"Sensitivity\.box or Sensitivity\.cells",
        ),
        (
            lambda: ggdp.calibrate(
                ggdp.PureDP(1), ggdp.Sensitivity.norm(2, 1, dimension=4), order=2, bounds=[(0, 5)], bounding="truncated"
            ),
            UnprovedError,
            "per-coordinate",
        ),
        (
            lambda: ggdp.calibrate(ggdp.PureDP(1, "replace-one"), ONE, order=1),
            ArgumentError,
            "add-remove neighbours; the two must agree",
        ),
    ],
)
def test_what_cannot_be_had_is_refused_with_name_value_and_way_out(call, error, message):
    with pytest.raises(error, match=message) as caught:
        call()
    assert isinstance(caught.value, ggdp.GgdpError)
    assert isinstance(caught.value, ValueError)


def test_noise_is_only_given_on_the_integers():
    on_integers = ggdp.calibrate(ggdp.PureDP(1), ONE, order=1, support="integer")
    assert on_integers.noise().scale == on_integers.scale
    with pytest.raises(ArgumentError, match="support = 'real'"):
        ggdp.calibrate(ggdp.PureDP(1), ONE, order=1).noise()


def test_extremes_of_the_promised_ranges_work():
    for order in (1, 1.000000001, 1.5, 2, 50):
        for epsilon, delta in ((1e-4, 1e-18), (50, 1e-18), (1e-4, 0.5), (50, 0.5)):
            for d in (1e-9, 1e12):
                found = ggdp.calibrate(ggdp.ApproxDP(epsilon, delta), ggdp.Sensitivity.disjoint(d), order=order)
                assert found.certificate.tight == 1 - 1e-9
                assert math.isfinite(found.std)


@pytest.mark.parametrize("order", [1.0, 1.5, 3.0])
@pytest.mark.parametrize("support", ["real", "integer"])
def test_an_l_1_norm_costs_what_one_coordinate_costs_at_every_order(order, support):
    goal, norm = ggdp.ApproxDP(1.0, 1e-3), ggdp.Sensitivity.norm(1, 3, dimension=20)
    found = ggdp.calibrate(goal, norm, order=order, support=support)
    assert found.scale == ggdp.calibrate(goal, ggdp.Sensitivity.disjoint(3), order=order, support=support).scale
    assert not any(note.startswith("upper bound") for note in found.notes)
    assert found.certificate.tight is not None
    # The move of several coordinates that is nearest to its limit: no easier to detect.
    corner = ggdp.calibrate(goal, ggdp.Sensitivity.cells(3, 1), order=order, support=support)
    assert corner.scale <= found.scale * (1 + 1e-4)


def test_a_norm_of_another_order_is_bounded_by_way_of_its_l_1_norm():
    goal, norm = ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.norm(3, 8, dimension=4)
    found = ggdp.calibrate(goal, norm, order=3, support="integer")
    assert any(note.startswith("upper bound") for note in found.notes)
    assert found.certificate.bound.sensitivity == 20  # 4^(2/3) 8 = 20.16
    ggdp.Mechanism(found).release([1, 2, 3, 4])
