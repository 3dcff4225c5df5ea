"""Every scale is enough and slightly less is not, by 50-digit arithmetic that shares no code with the library."""

import pytest
from mpmath import mpf
from tests.cases import covering
from tests.reference import fifty_digits as exact

import ggdp

ORDERS = (1.0, 1.00001, 1.27, 1.5, 2.0, 3.0, 4.6, 8.0, 50.0)
NOTIONS = {"approximate": ggdp.ApproxDP, "probabilistic": ggdp.ProbabilisticDP}

REAL = covering(NOTIONS, ORDERS, (1e-4, 0.1, 1.0, 5.0, 50.0), (1e-18, 1e-9, 1e-6, 0.05, 0.5))
# On the integers the oracle's sums are as long as the scale, so small epsilons come at few points.
INTEGER = covering(NOTIONS, ORDERS, (0.5, 1.0, 5.0, 50.0), (1e-18, 1e-6, 0.05, 0.5), (1,))
INTEGER_WIDE = [
    case
    for epsilon, delta in ((1.0, 1e-6), (2.0, 0.05))
    for case in covering(NOTIONS, (1.0, 1.5, 2.0, 3.0), (epsilon,), (delta,), (2, 7))
]
INTEGER_SMALL = [
    case
    for epsilon, delta in ((0.05, 1e-6), (0.01, 0.05))
    for case in covering(NOTIONS, (1.5, 2.0, 3.0, 50.0), (epsilon,), (delta,), (1,))
]
BOUNDED = covering(
    ("truncated", "boundary-inflated"),
    ("real", "integer"),
    (1.0, 1.27, 1.5, 2.0, 3.0, 8.0),
    (0.1, 1.0, 5.0),
    ((10, 1), (7, 7), (30, 4)),
)


def test_the_grid_has_at_least_500_points():
    assert len(REAL) + len(INTEGER) + len(INTEGER_WIDE) + len(INTEGER_SMALL) + len(BOUNDED) >= 500


@pytest.mark.parametrize(("notion", "order", "epsilon", "delta"), REAL)
def test_real_scale_is_safe_and_tight(notion, order, epsilon, delta):
    b = ggdp.calibrate(NOTIONS[notion](epsilon, delta), ggdp.Sensitivity.disjoint(1), order=order).scale
    assert exact.real_delta(notion, order, b, 1, epsilon) <= mpf(delta)
    assert exact.real_delta(notion, order, exact.rounded_down(b), 1, epsilon) > mpf(delta)


@pytest.mark.parametrize(("notion", "order", "epsilon", "delta", "sensitivity"), INTEGER + INTEGER_WIDE + INTEGER_SMALL)
def test_integer_scale_is_safe_and_tight(notion, order, epsilon, delta, sensitivity):
    b = ggdp.calibrate(
        NOTIONS[notion](epsilon, delta), ggdp.Sensitivity.disjoint(sensitivity), order=order, support="integer"
    ).scale
    assert exact.integer_delta(notion, order, b, sensitivity, epsilon) <= mpf(delta)
    assert exact.integer_delta(notion, order, exact.rounded_down(b), sensitivity, epsilon) > mpf(delta)


@pytest.mark.parametrize(("bounding", "support", "order", "epsilon", "shape"), BOUNDED)
def test_bounded_scale_is_safe_and_tight(bounding, support, order, epsilon, shape):
    width, sensitivity = shape
    b = ggdp.calibrate(
        ggdp.PureDP(epsilon),
        ggdp.Sensitivity.disjoint(sensitivity),
        order=order,
        support=support,
        bounds=[(0, width)],
        bounding=bounding,
    ).scale

    def loss(scale):
        if bounding == "boundary-inflated":
            return exact.boundary_inflated_loss(order, scale, width, sensitivity, support)
        if support == "integer":
            return exact.integer_truncated_loss(order, scale, width, sensitivity)
        return exact.truncated_loss(order, scale, width, sensitivity)

    assert loss(b) <= mpf(epsilon)
    assert loss(exact.rounded_down(b)) > mpf(epsilon)
