"""Every number of the page on the Exponential mechanism, beside values that do not come from the library."""

import math
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from scipy import optimize, special

import ggdp
from ggdp.calibration import exponential_calibration
from ggdp.mechanisms.exponential_mechanism import selection_probabilities

PAGES = ("explanation/theory/exponential.md",)
PURE, ONE, TEN = ggdp.PureDP(1.0), ggdp.Sensitivity.disjoint(1), [(0, 10)]
MARKS = [
    (1, "form-scale-1", "form-real-1", "form-integer-1", "form-least-real-1", "form-least-integer-1"),
    (2, "form-scale-2", "form-real-2", "form-integer-2", "form-least-real-2", "form-least-integer-2"),
    (3, "form-scale-3", "form-real-3", "form-integer-3", "form-least-real-3", "form-least-integer-3"),
]


def real_loss(p, b):
    """The loss of truncated noise on [0, 10] at D = 1, by the incomplete gamma function, over a grid of true values."""
    s = np.linspace(0.0, 9.0, 90_001)

    def normaliser(t):
        return special.gammainc(1 / p, (t / b) ** p) + special.gammainc(1 / p, ((10.0 - t) / b) ** p)

    change = ((10.0 - s) ** p - np.maximum(9.0 - s, 0.0) ** p) / b**p
    return float(np.max(change + np.log(normaliser(s) / normaliser(s + 1.0))))


def integer_loss(p, b):
    """The same on the integers, over all pairs of neighbours and all outputs."""
    laws = []
    for s in range(11):
        weights = [math.exp(-((abs(x - s) / b) ** p)) for x in range(11)]
        laws.append([weight / math.fsum(weights) for weight in weights])
    pairs = pairwise(laws)
    return max(abs(math.log(a / b)) for one, other in pairs for a, b in zip(one, other, strict=True))


def test_every_number_on_the_page_has_a_test(untested):
    assert untested == set()


@pytest.mark.parametrize(("order", "scale", "real", "integer", "least_real", "least_integer"), MARKS)
def test_the_table_of_true_losses(says, order, scale, real, integer, least_real, least_integer):
    b = (2 * (10**order - 9**order)) ** (1 / order)
    for support, mark, least, loss in (
        ("real", real, least_real, real_loss),
        ("integer", integer, least_integer, integer_loss),
    ):
        found = exponential_calibration(PURE, ONE, order=order, bounds=TEN, support=support)
        says(scale, found.scale)
        says(scale, b)
        says(mark, found.guarantee.epsilon)
        says(mark, loss(order, b))
        tight = ggdp.calibrate(PURE, ONE, order=order, bounds=TEN, support=support, bounding="truncated")
        says(least, tight.scale)
        says(least, optimize.brentq(lambda c, loss=loss: loss(order, c) - 1.0, b / 3, b))


def test_one_up_and_all_others_down_nears_epsilon(says):
    q = mp.mpf("0.01")
    says("selection-worst", mp.log(mp.e / (1 + q * (mp.e - 1))))
    # Three candidates, the first of which has that probability.
    gap = 2 * math.log(99 / 2)
    here, there = (selection_probabilities(1.0, 1.0, u)[0] for u in ([0, gap, gap], [1, gap - 1, gap - 1]))
    assert here == pytest.approx(0.01, rel=1e-12)
    says("selection-worst", math.log(there / here))


def test_the_room_is_hit_as_rarely_as_is_said(says):
    says("selection-rare", 10**6 * 2.0**-48 * 1e9)
