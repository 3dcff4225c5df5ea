"""Intervals of tables that share noise cover as often as the enumerated law says, which is at least their level."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from tests.reference.norm_lattice import norm_lattice
from tests.statistical import laws
from tests.statistical.budget import compares
from tests.statistical.fit import assert_fits, assert_seen

import ggdp

RELEASES = 1500
PEOPLE = pa.table({"a": ["x", "y", "x"], "b": ["x", None, "y"]})


class Released(NamedTuple):
    label: str
    complete: bool
    table: int

    def plan(self):
        domain = {"a": {"levels": ["x", "y"], "complete": self.complete}, "b": ["x", "y"]}
        plan = ggdp.plan_table([["a"], ["b"]], 1.0, domain, unit="row")
        assert plan.compared
        return plan

    def errors(self, plan, number):
        """How far the first count of the table is off, in so many releases."""
        return (
            np.array([plan.run(PEOPLE).tables[self.table].noisy_count[0] for _ in range(number)]) - (2, 1)[self.table]
        )


CASES = [Released("complete", complete=True, table=0), Released("not-complete", complete=False, table=1)]


@compares("intervals of tables together", CASES, each=2, fast=RELEASES)
def test_intervals_of_tables_that_share_noise_cover_as_often_as_their_law_says(case, size, allowance):
    plan = case.plan()
    half = plan.half_widths[case.table]
    groups = (2 - case.complete, 2)
    cells, masses = norm_lattice(groups, (case.complete, False), plan.mechanism.scale, 18)
    first = np.abs(cells[2 * case.table])
    share, fewer = (float(masses[first <= h].sum()) for h in (half, half // 3))
    assert share >= 0.95 - 1e-6
    law, other = (laws.dense(0, np.array([1.0 - x, x])) for x in (share, fewer))
    found = np.abs(case.errors(plan, size))
    assert_fits((found <= half).astype(np.int64), law, allowance)
    assert_seen((found <= half // 3).astype(np.int64), law, other.below, allowance)
