"""Intervals of published percentages cover as often as the enumerated law says, which is at least their level."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from tests.statistical import laws
from tests.statistical.budget import compares
from tests.statistical.fit import assert_fits, assert_seen

import ggdp
from ggdp.releases.comparisons import share_ends

# Wards, each with the same people: each has percentages of its own.
WARDS = 20_000


class Ward(NamedTuple):
    label: str
    counts: tuple[int, ...]
    goal: ggdp.PureDP | ggdp.ApproxDP
    order: float

    def released(self):
        wards = np.repeat(np.arange(WARDS), sum(self.counts))
        kinds = np.tile(np.repeat(np.arange(len(self.counts)), self.counts), WARDS)
        data = pa.table({"ward": wards, "kind": kinds})
        domain = {"ward": range(WARDS), "kind": range(len(self.counts))}
        asked = {"goal": self.goal, "order": self.order, "unit": "row", "percent_of": "ward"}
        return ggdp.release_table(data, ["ward", "kind"], domain=domain, **asked).tables[0]

    @property
    def rho(self):
        return self.counts[0] / sum(self.counts)

    def covers(self, lower, upper, less=0.0):
        """Which intervals cover the share of the first kind, made narrower by a part of their width."""
        cut = less * (upper - lower) / 2.0
        return ((lower + cut <= self.rho) & (self.rho <= upper - cut)).astype(np.int64)

    def cover(self, noise, less=0.0):
        """Return how often they do, by the laws of the noise of the first kind and of all others."""
        order, scale = noise
        reach = int(scale * 30.0 ** (1.0 / order)) + 1
        k = np.arange(-reach, reach + 1)
        one = np.diff(laws.integer(order, scale).below(np.append(k, reach + 1)))
        rest = np.ones(1)
        for _ in self.counts[1:]:
            rest = np.convolve(rest, one)
        m = np.arange(rest.size) - rest.size // 2
        grid = np.meshgrid(self.counts[0] + k, sum(self.counts[1:]) + m, indexing="ij")
        x, y = (each.reshape(-1).astype(float) for each in grid)
        lower, upper = share_ends(x, y, (order, scale, 1), (order, scale, len(self.counts) - 1), 0.95)
        return float(np.outer(one, rest).reshape(-1) @ self.covers(lower, upper, less))


CASES = [
    Ward("two-kinds", (6, 3), ggdp.PureDP(1.0), 1.0),
    Ward("four-kinds", (3, 5, 2, 1), ggdp.ApproxDP(1.0, 1e-5), 2.0),
    Ward("none", (0, 7, 1), ggdp.PureDP(2.0), 1.0),
]


@compares("intervals of shares", CASES, each=2, fast=WARDS)
def test_intervals_of_percentages_cover_as_often_as_their_law_says(case, size, allowance):
    table = case.released()
    percent = table.statistics[0]
    first = np.arange(size) * len(case.counts)
    lower, upper = percent.lower[first] / 100.0, percent.upper[first] / 100.0
    share, fewer = (case.cover(table.noise, less) for less in (0.0, 0.7))
    assert share >= 0.95 - 1e-9
    law, other = (laws.dense(0, np.array([1.0 - x, x])) for x in (share, fewer))
    assert_fits(case.covers(lower, upper), law, allowance)
    assert_seen(case.covers(lower, upper, less=0.7), law, other.below, allowance)
