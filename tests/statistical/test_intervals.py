"""Intervals of what mechanisms really draw cover as often as the enumerated law says, which is at least their level."""

from typing import Any, NamedTuple

import numpy as np
from tests.statistical import laws
from tests.statistical.budget import compares
from tests.statistical.fit import assert_fits, assert_seen

import ggdp

LEVEL = 0.95
SIZE = 60_000


class Covered(NamedTuple):
    label: str
    true: Any
    order: float
    bounding: str | None = None
    upper: int = 10

    @property
    def mechanism(self):
        whole = isinstance(self.true, int)
        goal = ggdp.ApproxDP(1.0, 1e-6) if self.bounding is None else ggdp.PureDP(1.0)
        bounds = {} if self.bounding is None else {"bounds": [(0, self.upper)], "bounding": self.bounding}
        support = "integer" if whole else "real"
        return ggdp.Mechanism(
            ggdp.calibrate(goal, ggdp.Sensitivity.disjoint(1), order=self.order, support=support, **bounds)
        )

    def outputs(self, mechanism):
        """Every noisy index around the true one, and its probability."""
        noise, step = mechanism.law, mechanism.step or 1
        s = int(np.floor(self.true / step + 0.5))
        reach = int(noise.scale * 40 ** (1 / noise.order)) + 1
        ends = (s - reach, s + reach) if self.bounding is None else noise.index_bounds[0]
        k = np.arange(ends[0], ends[1] + 1)
        law = {
            None: lambda: laws.integer(noise.order, noise.scale),
            "truncated": lambda: laws.truncated(noise.order, noise.scale, *ends, s),
            "boundary-inflated": lambda: laws.boundary_inflated(noise.order, noise.scale, *ends, s),
        }[self.bounding]()
        below = law.below(np.append(k, k[-1] + 1) - (s if self.bounding is None else 0))
        return k * step, np.diff(below)

    def covers(self, noise, noisy, *, less=0.0):
        """Which values have intervals that cover the true one, made narrower by a part of their half-width."""
        lower, upper = noise.intervals(noisy, LEVEL)
        cut = less * noise.half_width(LEVEL)
        return ((lower + cut <= self.true) & (self.true <= upper - cut)).astype(np.int64)


CASES = [
    Covered("counts", 40, 2.0),
    Covered("reals", 2.7182818, 3.0),
    Covered("truncated-reals", 9.3141592, 2.0, "truncated"),
    Covered("truncated-at-a-bound", 0, 1.0, "truncated"),
    # Bounds so wide that the noise can leave the interval.
    Covered("boundary-inflated", 20, 2.0, "boundary-inflated", 40),
]


@compares("intervals", CASES, each=2, fast=SIZE)
def test_intervals_of_releases_cover_as_often_as_their_law_says(case, size, allowance):
    mechanism = case.mechanism
    noise = mechanism.law
    values, probabilities = case.outputs(mechanism)
    share, fewer = (np.sum(probabilities[case.covers(noise, values, less=x) == 1]) for x in (0.0, 0.4))
    assert share >= LEVEL - 1e-9
    law, other = (laws.dense(0, np.array([1.0 - x, x])) for x in (share, fewer))
    noisy = mechanism.release(np.full(size, case.true)).values
    assert_fits(case.covers(noise, noisy), law, allowance)
    assert_seen(case.covers(noise, noisy, less=0.4), law, other.below, allowance)
