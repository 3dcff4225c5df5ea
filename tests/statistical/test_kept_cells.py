"""The cells that a unit keeps are chosen uniformly among all that it is in: each cell, and each set of them."""

import hashlib
import itertools
import os

import numpy as np
import pyarrow as pa
from tests.statistical import laws
from tests.statistical.budget import compares
from tests.statistical.fit import CHI_SQUARE, assert_fits, assert_seen
from tests.tables.engines.zoo import counted

from ggdp.tables.domain import Domain
from ggdp.tables.engines import CountQuery, contributions

CELLS, KEPT = 5, 2


@compares("kept cells", ["sha-256"], each=3, fast=60_000)
def test_kept_cells_are_chosen_uniformly(case, size, allowance):
    assert case == "sha-256"
    key = os.urandom(32)
    units = np.repeat(np.arange(size), CELLS)
    table = pa.table({"u": units, "k": np.tile(np.arange(CELLS), size)})
    one = CountQuery(marginals=(Domain({"k": list(range(CELLS))}),), unit="u", key=key)
    (found,) = counted(table, one)
    uniform = laws.dense(0, np.full(CELLS, 1.0 / CELLS))
    assert_fits(np.repeat(np.arange(CELLS), [found[cell] for cell in range(CELLS)]), uniform, allowance)
    # A cell that names its unit shows which subset that unit keeps.
    named = Domain({"u": list(range(size)), "k": list(range(CELLS))})
    (kept,) = counted(table, CountQuery(marginals=(named,), unit="u", max_cells=KEPT, key=key))
    subsets = {pair: place for place, pair in enumerate(itertools.combinations(range(CELLS), KEPT))}
    pairs = np.array(sorted(kept)).reshape(size, KEPT) % CELLS
    drawn = np.array([subsets[tuple(pair)] for pair in pairs.tolist()])
    assert_fits(drawn, laws.dense(0, np.full(len(subsets), 1.0 / len(subsets))), allowance)
    biased, other = _by_one_digit(contributions.subkey(key, 0), size)
    assert_seen(biased, uniform, other.below, allowance, by=[CHI_SQUARE])


def _by_one_digit(secret, size):
    """What would be kept if scores had one digit, and ties went to the first cell; and the law of that."""

    def first_digit(unit, cell):
        return hashlib.sha256(f"{secret}:{unit}:{cell}".encode()).hexdigest()[0]

    drawn = [min(range(CELLS), key=lambda cell, unit=unit: first_digit(unit, cell)) for unit in range(size)]
    # The first cell with the least digit d: those before it have more than d, those after it d or more.
    law = [sum((16 - d) ** (CELLS - 1 - cell) * (15 - d) ** cell for d in range(16)) for cell in range(CELLS)]
    return np.array(drawn), laws.dense(0, np.array(law, dtype=np.float64) / 16**CELLS)
