"""Every number of the page on tables with cells left out, from sums over the enumerated law."""

import math

import numpy as np
import pytest

import ggdp
from ggdp.tables.thresholds import key_threshold, noise_share, threshold_share

PAGES = ("explanation/theory/tables.md",)
ADULT = 1.944e13
GAUSSIAN = 5.98322484490
K = np.arange(-400, 401)


def masses(order, scale):
    weights = np.exp(-((np.abs(K) / scale) ** order))
    return weights / weights.sum()


def tail(order, scale, k):
    # From the far end on, so that small terms are not lost.
    return float(np.sum(masses(order, scale)[k <= K][::-1]))


def test_every_number_on_the_page_has_a_test(untested):
    assert untested == set()


def test_thresholds_of_the_adult_table(says):
    for mark, order, scale in (("tables-adult-laplace", 1, 1.0), ("tables-adult-gaussian", 2, GAUSSIAN)):
        least = next(k for k in range(1, 100) if ADULT * tail(order, scale, k) <= 1)
        says(mark, least)
    says("tables-adult-real", math.log(ADULT / 2))
    says("tables-adult-30", ADULT * tail(1, 1.0, 30))
    says("tables-adult-31", ADULT * tail(1, 1.0, 31))


def test_the_larger_delta_is_not_enough_under_replace_one(says):
    order, scale, factor, tau = 3, 3.0, math.e, 4
    q = masses(order, scale)
    up, down = np.roll(q, 1), np.roll(q, -1)
    d = tail(order, scale, tau - 1)
    both = [np.maximum(np.outer(q, q) - factor * np.outer(up, other), 0).sum() for other in (up, down)]
    says("tables-both-noise", max(both))
    says("tables-both-keys", d)
    # The key of one's own is shown, or it is not and the other count tells.
    says("tables-both-found", d + np.maximum((1 - d) * q - factor * up, 0).sum())


@pytest.mark.parametrize(
    ("m", "neighbours", "laplace", "gaussian"),
    [
        (1, "add-remove", "tables-key-1-add-laplace", "tables-key-1-add-gaussian"),
        (1, "replace-one", "tables-key-1-replace-laplace", "tables-key-1-replace-gaussian"),
        (10, "add-remove", "tables-key-10-add-laplace", "tables-key-10-add-gaussian"),
        (10, "replace-one", "tables-key-10-replace-laplace", "tables-key-10-replace-gaussian"),
    ],
)
def test_thresholds_of_keys(says, m, neighbours, laplace, gaussian):
    query = ggdp.Sensitivity.histogram(neighbours=neighbours, max_cells=m)
    share = noise_share(1e-6, cells_of_a_unit=m, neighbours=neighbours)
    for mark, goal, order in ((laplace, ggdp.PureDP(1.0), 1), (gaussian, ggdp.ApproxDP(1.0, share), 2)):
        noise = ggdp.calibrate(goal, query, order=order, support="integer")
        left = threshold_share(1e-6, noise.guarantee, cells_of_a_unit=m)
        tau = key_threshold(order, noise.scale, delta=left, cells_of_a_unit=m)
        says(mark, tau)
        hidden = [-math.expm1(m * math.log1p(-tail(order, noise.scale, k - 1))) for k in (tau - 1, tau)]
        assert hidden[1] <= left < hidden[0]


@pytest.mark.parametrize(("more", "mark"), [(0, "tables-cover-0"), (6, "tables-cover-6"), (8, "tables-cover-8")])
def test_what_the_half_width_in_the_rule_does(says, more, mark):
    q, h, tau = masses(2, GAUSSIAN), 8, 25
    assert 2 * tail(2, GAUSSIAN, h + 1) <= 0.05 < 2 * tail(2, GAUSSIAN, h)

    def covered(c):
        y = c + K
        lower = np.where(y > tau + more, y - h, np.minimum(y - h, 0))
        return q[(y >= tau) & (lower <= c) & (c <= y + h)].sum() / q[y >= tau].sum()

    says(mark, 100 * min(covered(c) for c in range(tau + 2 * h)))


def test_what_all_cells_of_the_adult_table_keep_together(says):
    miss = -math.expm1(math.log(0.95) / ADULT)
    says("tables-adult-miss", miss * 1e15)
    all_cells = next(h for h in range(100) if 2 * tail(1, 1.0, h + 1) <= miss)
    says("tables-adult-all", all_cells)
    says("tables-adult-beyond", max(31 + 3, all_cells) + 1)
