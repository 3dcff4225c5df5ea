"""The empty cells of a sparse table: each has the law of noise cut off at the threshold, and none is preferred."""

from typing import NamedTuple

import numpy as np
from tests.certified import certified
from tests.statistical import laws
from tests.statistical.budget import compares, share
from tests.statistical.fit import assert_fits, assert_seen, weakest

from ggdp.tables.thresholds import sparse_cells

FAST = 300_000
CLASSES = 16


class Sparse(NamedTuple):
    label: str
    order: float
    scale: float
    threshold: int

    def law(self, scale):
        """Noise, with all that is not shown as one value below the threshold."""
        noise, last = laws.integer(self.order, scale), self.threshold - 1
        reach = int(noise.edges[-1]) + 2
        k = np.arange(self.threshold, max(reach, self.threshold + 2))
        below = noise.below(np.append(k, k[-1] + 1))
        return laws.dense(last, np.append(below[0], np.diff(below)))

    def empty(self, size, scale):
        """The noisy counts of so many empty cells among others, and which of the cells were shown."""
        cells = np.arange(0, 3 * size // 2, 3)
        shown, noisy = sparse_cells(
            cells,
            np.full(cells.size, 10**6),
            total_cells=size + cells.size,
            noise=certified(self.order, scale),
            threshold=self.threshold,
        )
        false = shown % 3 != 0
        ranks = shown[false] - (shown[false] // 3 + 1)
        counts = np.full(size, self.threshold - 1)
        counts[ranks] = noisy[false]
        return counts, ranks


CASES = [
    Sparse("laplace", 1.0, 1.0, 2),
    Sparse("gaussian", 2.0, 6.0, 4),
    Sparse("third-order", 3.0, 4.0, 1),
    Sparse("rare", 1.0, 1.0, 6),
]


@compares("sparse tables", CASES, each=4, fast=FAST)
def test_empty_cells_have_their_law_and_no_cell_is_preferred(case, size, allowance):
    law = case.law(case.scale)
    counts, ranks = case.empty(size, case.scale)
    assert_fits(counts, law, allowance)
    places = laws.dense(0, np.full(CLASSES, 1.0 / CLASSES))
    assert_fits(ranks * CLASSES // size, places, allowance)
    assert_fits(ranks % CLASSES, places, allowance)
    ladder = (1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0)
    step = weakest(law, ((x, case.law(case.scale * x).below) for x in ladder), size, share())
    changed = case.scale * step
    assert_seen(case.empty(size, changed)[0], law, case.law(changed).below, allowance)
