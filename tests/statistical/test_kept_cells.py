"""The cells that a unit keeps are chosen uniformly among all that it is in, on every engine.

Each cell, each set of them, and each pair of cells of two units whose ids are next to each other.
"""

import hashlib
import itertools
import os

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from tests.sources.spark import cluster as spark_cluster
from tests.sources.zoo import ENGINES
from tests.statistical import laws
from tests.statistical.budget import compares
from tests.statistical.fit import CHI_SQUARE, assert_fits, assert_seen

from ggdp.domain.table_domain import Domain
from ggdp.sources.counting import CELL, UNIT, kept_cells
from ggdp.sources.query import CountQuery, open_source

CELLS, KEPT = 5, 2
ON_SPARK = "spark, integers"
CASES = [*(f"{engine}, {ids}" for engine in ("pyarrow", "polars", "duckdb") for ids in ("integers", "texts")), ON_SPARK]


@compares("kept cells", CASES, each=4, fast=60_000, often=(CASES[0], CASES[3], CASES[4]))
def test_kept_cells_are_chosen_uniformly(case, size, allowance):
    engine, ids = case.split(", ")
    key = os.urandom(32)
    units = pa.array(np.repeat(np.arange(size), CELLS))
    if ids == "texts":
        units = pc.binary_join_element_wise("person", units.cast(pa.string()), " ")
    table = pa.table({"u": units, "k": np.tile(np.arange(CELLS), size)})
    data = spark_cluster.cluster().createDataFrame(table) if case == ON_SPARK else ENGINES[engine](table)
    ones = _kept(data, size, 1, key).ravel()
    uniform = _uniform(CELLS)
    assert_fits(ones, uniform, allowance)
    assert_fits(ones[::2] * CELLS + ones[1::2], _uniform(CELLS**2), allowance)
    subsets = {pair: place for place, pair in enumerate(itertools.combinations(range(CELLS), KEPT))}
    drawn = np.array([subsets[tuple(pair)] for pair in _kept(data, size, KEPT, key).tolist()])
    assert_fits(drawn, _uniform(len(subsets)), allowance)
    biased, other = _by_one_digit(key, size)
    assert_seen(biased, uniform, other.below, allowance, by=[CHI_SQUARE])


def _uniform(size):
    return laws.dense(0, np.full(size, 1.0 / size))


def _kept(data, size, max_cells, key):
    """The cells that units keep, in the order of units and cells."""
    query = CountQuery(marginals=(Domain({"k": list(range(CELLS))}),), unit="u", max_cells=max_cells, key=key)
    with open_source(data, columns=["k", "u"]) as source:
        (found,) = source.answer(query, kept_cells)
    numbers = pc.replace_substring(pc.cast(found[UNIT], pa.string()), "person ", "").cast(pa.int64()).to_numpy()
    cells = found[CELL].to_numpy().astype(np.int64)
    order = np.lexsort((cells, numbers))
    assert (numbers[order] == np.repeat(np.arange(size), max_cells)).all()
    return cells[order].reshape(size, max_cells)


def _by_one_digit(key, size):
    """What would be kept if scores had one digit, and ties went to the first cell; and the law of that."""

    def first_digit(unit, cell):
        return hashlib.sha256(f"{key.hex()}:{unit}:{cell}".encode()).hexdigest()[0]

    drawn = [min(range(CELLS), key=lambda cell, unit=unit: first_digit(unit, cell)) for unit in range(size)]
    # The first cell with the least digit d: those before it have more than d, those after it d or more.
    law = [sum((16 - d) ** (CELLS - 1 - cell) * (15 - d) ** cell for d in range(16)) for cell in range(CELLS)]
    return np.array(drawn), laws.dense(0, np.array(law, dtype=np.float64) / 16**CELLS)
