"""Intervals of cells that were chosen by noisy counts cover as often as they promise, given that they are shown."""

import numpy as np
import pyarrow as pa
from tests.statistical.budget import compares
from tests.statistical.test_statistics import assert_noticed, assert_share, share

import ggdp
from ggdp.tables.request import TableRequest
from ggdp.tables.statistics.estimates import ColumnSums, count_estimate
from ggdp.tables.statistics.released_statistics import noise_of, published_count, published_statistics
from ggdp.tables.statistics.sum_groups import STEPS_OF_A_UNIT
from ggdp.tables.table_plan import plan_request

ORDERS = (1.0, 2.0)
SIZE = 200_000
MEAN = 0.25


@compares("statistics of chosen cells", ORDERS, each=9, fast=SIZE)
def test_intervals_cover_given_that_a_cell_is_shown(case, size, allowance):
    domain = {"x": {"range": [0, 4]}}
    goal, statistics = ggdp.ApproxDP(1.0, 1e-6), [ggdp.Mean("x")]
    plan = plan_request(TableRequest("word", goal, domain, statistics=statistics, order=case))
    tau, noise = plan.threshold.value, plan.mechanism.noise
    reach = plan.half_width
    # One half-width below the threshold, at it, just above, and far above.
    for n in (tau - reach, tau, tau + reach // 2, 10 * tau):
        true = np.array([n, 0, (1 - MEAN) * n, MEAN * n]) * STEPS_OF_A_UNIT
        noisy = true[:, None].astype(np.int64) + noise.sample(4 * size).reshape(4, size)
        shown = noisy[:, noisy[0] >= tau * STEPS_OF_A_UNIT] / STEPS_OF_A_UNIT
        count = published_count(plan, 0, shown)
        (mean,) = published_statistics(plan, 0, shown, [], pa.table({"word": ["any"]}))
        assert_share(share(count, n), shown.shape[1], 0.95, 1.0, allowance)
        assert_share(share(mean, 4 * MEAN), shown.shape[1], 0.95, 1.0, allowance)
        if n == tau - reach:
            # Control: the interval of a count that chose nothing.
            column = ColumnSums(sums=shown[:1].T * STEPS_OF_A_UNIT, unit=STEPS_OF_A_UNIT)
            assert_noticed(share(count_estimate([column], noise_of(plan)), n), shown.shape[1], 0.95, allowance)
