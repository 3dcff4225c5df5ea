"""Intervals of tables that share noise cover as often as the enumerated law says, which is at least their level."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from tests.reference.common_total import law_of_table
from tests.reference.norm_lattice import norm_lattice
from tests.statistical import laws
from tests.statistical.budget import compares
from tests.statistical.fit import assert_fits, assert_seen

import ggdp

RELEASES = 1500
PEOPLE = pa.table({"a": ["x", "y", "x"], "b": ["x", None, "y"]})


class Released(NamedTuple):
    label: str
    complete: tuple[bool, bool]
    table: int
    goal: ggdp.PureDP | ggdp.ApproxDP = ggdp.PureDP(1.0)

    def plan(self):
        domain = {name: {"levels": ["x", "y"], "complete": self.complete[k]} for k, name in enumerate("ab")}
        plan = ggdp.plan_table([["a"], ["b"]], self.goal, domain, unit="row")
        assert plan.compared
        return plan

    def errors_and_masses(self, plan):
        """Errors of the first count of the table, and their probabilities, by enumeration."""
        if self.goal.delta:
            noise = plan.mechanism.errors
            found, _ = law_of_table(noise.order, noise.scale, noise.total, noise.difference)
            return np.array([first for first, _ in found]), np.array(list(found.values()))
        groups = tuple(2 - whole for whole in self.complete)
        cells, masses = norm_lattice(groups, self.complete, plan.mechanism.scale, 18)
        return cells[2 * self.table], masses

    def errors(self, plan, number):
        """How far the first count of the table is off, in so many releases."""
        first = np.array([plan.run(PEOPLE).tables[self.table].noisy_count[0] for _ in range(number)])
        return first - (2, 1 + self.complete[1])[self.table]


CASES = [
    Released("complete", complete=(True, False), table=0),
    Released("not-complete", complete=(False, False), table=1),
    Released("common-total", complete=(True, True), table=1, goal=ggdp.ApproxDP(1.0, 0.05)),
]


@pytest.mark.filterwarnings("ignore::ggdp.errors.PrivacyWarning")
@compares("intervals of tables together", CASES, each=2, fast=RELEASES)
def test_intervals_of_tables_that_share_noise_cover_as_often_as_their_law_says(case, size, allowance):
    plan = case.plan()
    half = plan.half_widths[case.table]
    first, masses = case.errors_and_masses(plan)
    first = np.abs(first)
    share, fewer = (float(masses[first <= h].sum()) for h in (half, half // 3))
    assert share >= 0.95 - 1e-6
    law, other = (laws.dense(0, np.array([1.0 - x, x])) for x in (share, fewer))
    found = np.abs(case.errors(plan, size))
    assert_fits((found <= half).astype(np.int64), law, allowance)
    assert_seen((found <= half // 3).astype(np.int64), law, other.below, allowance)
