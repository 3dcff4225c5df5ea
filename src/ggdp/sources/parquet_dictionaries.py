"""Cells of Parquet files, counted from the dictionaries of their columns.

A Parquet file holds most columns in parts, each as a dictionary of the values that occur in it and the place of every
row's value in there. Arrow hands over both. So rows are counted by the places of their values, which takes neither a
hash nor a comparison of texts, and only the few values of a dictionary are given codes, by the expressions that all
engines share (`counting.value_codes`).

===========  ========================================================================================================
i_j          place of a row in the dictionary of column j, from 0 to d_j - 1; d_j for a null
o_j(i)       what a value adds to the index of a cell: its code times the cells of all later columns
group        (..., i_j, ...): rows with the same values, in an array of prod(d_j + 1) elements, if these are few
===========  ========================================================================================================

Claim. Counts and sums are those of the other engines, or there are none and DuckDB counts instead (`count_cells` then
returns None). Proof. A code is a function of one value and the declaration of its column. A value that is not counted
has an o_j of minus the number of all cells, so that the index of its row is negative and the row is left out. Steps are
found by `measures.steps_of_array`, and added up as integers of 64 bits: no sum overflows, since rows times the largest
term is kept below 2^63.

No statistics of a file are read, and no row decides about another: whether there is a result depends on the file, but
the result does not depend on who has counted it. Places are checked against their dictionary, so that a damaged file
is not counted by what is beside it in memory.

Files are left to DuckDB where dictionaries are large, in values or in bytes, or come anew again and again: what is kept
here of a column is bounded (`_MOST_VALUES` and the limits beside it).

References
----------
Apache Parquet, "Encodings", dictionary encoding.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import groupby
from operator import is_, itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from ggdp.sources.codes import NOWHERE
from ggdp.sources.counting import CELL, COUNT, MarginalQuery, value_codes
from ggdp.sources.dataframes import ARROW
from ggdp.sources.engine import as_frame, collect
from ggdp.sources.measures import known_name, steps_of_array

if TYPE_CHECKING:
    from ggdp.domain.column import Column
    from ggdp.sources.files import Files


# Rows that are worked on at once: their numbers fit in the cache of a processor.
_BATCH = 1 << 17
# The most values of a dictionary, bytes of a column in a part of a file, and times that new values are given codes:
# beyond these DuckDB is faster, or takes less memory. So it is where more than a few parts have fewer rows on average.
_MOST_VALUES, _MOST_BYTES, _MOST_TIMES = 1 << 14, 1 << 24, 64
_LEAST_ROWS, _FEW_PARTS = 1 << 10, 16
# More threads would only wait, since one adds up what they read: each has so many batches ready for it.
_MOST_READERS, _AHEAD = 3, 3
_MOST = 2**63
# The number of rows is in the bits of a sum from this one on.
_BITS = 44
_ONE, _MOST_ROWS_OF_GROUPS = 1 << _BITS, (1 << (63 - _BITS)) - 1


class _NotCountedError(Exception):
    """A file is left to DuckDB."""


class _Column:
    """A column of a marginal: what each value adds to the index of a cell."""

    def __init__(self, column: Column, kind: str, *, stride: int, nowhere: int) -> None:
        self._column, self._kind, self._stride, self._nowhere = column, kind, stride, nowhere
        self._known: dict[object, int] = {}
        self._times = 0
        self._last: tuple[pa.Array, NDArray[np.int64]] | None = None

    def offsets(self, values: pa.Array) -> NDArray[np.int64]:
        """Return what the values of a dictionary add, and at the end what a null adds."""
        if self._last is not None and self._last[0].equals(values):
            return self._last[1]
        if len(values) > _MOST_VALUES:
            raise _NotCountedError
        asked = [*values.to_pylist(), None]
        new = [value for value in asked if value not in self._known]
        if new:
            self._times += 1
            if self._times > _MOST_TIMES:
                raise _NotCountedError
            frame = as_frame(pa.table({"value": pa.array(new, values.type)}))
            codes = collect(value_codes(ARROW, self._column, self._kind, frame)).column(0).to_numpy()
            self._known.update(zip(new, np.where(codes == NOWHERE, self._nowhere, codes * self._stride), strict=True))
        self._last = values, np.array([self._known[value] for value in asked], dtype=np.int64)
        return self._last[1]


def count_cells(connection: Any, files: Files, query: MarginalQuery) -> pa.Table | None:  # noqa: ANN401 - of DuckDB
    """Return what `counting.cells` returns of a declared marginal of rows, with wide sums; None if it cannot."""
    import duckdb

    # Whether values of a query are counted here, by the request and the schema alone.
    # A table of more cells is sparse.
    if query.limits is not None or query.by_step or query.marginal.is_open or query.marginal.size > 1 << 18:
        return None
    measures = [summed.measure for summed in query.measured]
    kinds = {query.engine.kinds[measure.column] for measure in measures}
    if any(measure.values.steps * _MOST_ROWS_OF_GROUPS >= _ONE or measure.rule for measure in measures):
        return None
    names = list(dict.fromkeys([*query.marginal.names, *(measure.column for measure in measures)]))
    # A dot would be read as a path into a column of records.
    if kinds - {"integer", "float"} or query.codes or not names or any("." in name for name in names):
        return None
    try:
        # Arrow would know the bytes, too, but its Python package ends the process where such metadata are damaged.
        sizes = "SELECT max(total_uncompressed_size) FROM parquet_metadata(?) WHERE list_contains(?, path_in_schema)"
        ((most,),) = connection.execute(sizes, [files.literal_paths, list(query.marginal.names)]).fetchall()
        if (most or 0) > _MOST_BYTES:
            return None
        tally, parts, rows = _Tally(query), [], 0
        # Types whose values are equal exactly if their Python values are.
        types = (pa.types.is_string, pa.types.is_large_string, pa.types.is_integer, pa.types.is_boolean)
        for path in files.paths:
            with pq.ParquetFile(path) as opened:
                for column in query.marginal:
                    kind = opened.schema_arrow.field(column.name).type
                    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
                    if not any(taken(kind) for taken in types):
                        return None
                parts += [(path, number) for number in range(opened.num_row_groups)]
                rows += opened.metadata.num_rows
        if len(parts) > _FEW_PARTS and rows < _LEAST_ROWS * len(parts):
            return None
        for batch in _read_ahead(parts, query, names):
            tally.add(batch)
    except (_NotCountedError, UnicodeDecodeError, pa.ArrowException, OSError, duckdb.Error):
        # Where Arrow fails, DuckDB does as well, or reads what Arrow does not.
        return None
    # Arrow reads no further where a damaged part claims to have fewer values.
    return tally.table() if tally.rows == rows else None


def _read_ahead(
    parts: Sequence[tuple[str, int]], query: MarginalQuery, names: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of parts of files, while other threads read the next ones."""
    texts = [column.name for column in query.marginal if query.engine.kinds[column.name] == "text"]
    # Adding up values, and not only rows, takes about as long as reading them.
    number = max(1, min(pa.cpu_count() - bool(query.measured), len(parts), _MOST_READERS))
    with ExitStack() as stack:
        threads = [stack.enter_context(ThreadPoolExecutor(max_workers=1)) for _ in range(number)]
        readers = [(thread, _batches(parts[k::number], names, texts)) for k, thread in enumerate(threads)]
        # A thread works on what it is asked for in turn.
        coming = deque((reader, reader[0].submit(next, reader[1], None)) for _ in range(_AHEAD) for reader in readers)
        while coming:
            reader, read = coming.popleft()
            if (batch := read.result()) is not None:
                coming.append((reader, reader[0].submit(next, reader[1], None)))
                yield batch


def _batches(parts: Sequence[tuple[str, int]], names: Sequence[str], texts: Sequence[str]) -> Iterator[pa.RecordBatch]:
    for path, numbers in groupby(parts, key=itemgetter(0)):
        with pq.ParquetFile(path, read_dictionary=texts, buffer_size=1 << 20) as opened:
            for _, number in numbers:
                yield from opened.iter_batches(_BATCH, row_groups=[number], columns=names, use_threads=False)


class _Tally:
    """What is in each cell of a marginal, of the rows so far.

    With measures, the count is that of rows without a step of the first one. Rows are first added up by groups, while
    the dictionaries stay the same. There a row with a step adds `_ONE` to it: one sum is that of the steps and, in its
    upper bits, the number of their rows.
    """

    def __init__(self, query: MarginalQuery) -> None:
        self._query, size = query, query.marginal.size
        self._found = {name: np.zeros(size, dtype=np.int64) for name in query.added}
        terms = (summed.measure.values.steps ** (2 if summed.squares else 1) for summed in query.measured)
        self.rows, self._most_rows = 0, _MOST // max([1, *terms])
        self._columns, stride = [], size
        for column in query.marginal:
            stride //= column.size
            self._columns.append(_Column(column, query.engine.kinds[column.name], stride=stride, nowhere=-size))
        self._offsets: list[NDArray[np.int64]] = []
        self._groups: dict[str, NDArray[np.int64]] = {}
        self._rows_of_groups = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Add the rows of a batch."""
        if not batch.num_rows:
            return
        self.rows += batch.num_rows
        if self.rows >= self._most_rows:
            raise _NotCountedError
        columns = (batch.column(column.name) for column in self._query.marginal)
        encoded = [each if pa.types.is_dictionary(each.type) else each.dictionary_encode() for each in columns]
        offsets = [column.offsets(values.dictionary) for column, values in zip(self._columns, encoded, strict=True)]
        places = []
        for values, each in zip(encoded, offsets, strict=True):
            # Null has a place of its own. What is outside of the dictionary is of a damaged file.
            ends, null = pc.min_max(values.indices), len(each) - 1
            if ends["min"].is_valid and not 0 <= ends["min"].as_py() <= ends["max"].as_py() < null:
                raise _NotCountedError
            places.append((values.indices.fill_null(null) if values.null_count else values.indices).to_numpy())
        same = len(offsets) == len(self._offsets) and all(map(is_, offsets, self._offsets))
        if not same or self._rows_of_groups + batch.num_rows > _MOST_ROWS_OF_GROUPS:
            self._finish()
        groups = math.prod(map(len, offsets))
        if not self._groups and groups > batch.num_rows:
            index = np.sum([each[place] for each, place in zip(offsets, places, strict=True)], axis=0)
            self._add_to_cells(index, dict(self._terms(batch)))
            return
        self._offsets, self._rows_of_groups = offsets, self._rows_of_groups + batch.num_rows
        # There are fewer groups than 32 bits hold.
        number = np.zeros(batch.num_rows, dtype=np.int32)
        for place, each in zip(places, offsets, strict=True):
            number *= np.int32(len(each))
            number += place
        at = number.astype(np.intp)
        for name, terms in self._terms(batch):
            added = self._groups.setdefault(name, np.zeros(groups, dtype=np.int64))
            if terms is None:
                added += np.bincount(at, minlength=groups)
            else:
                np.add.at(added, at, terms)

    def table(self) -> pa.Table:
        """Return the non-empty cells with all that is in them."""
        self._finish()
        found = dict(self._found)
        if self._query.measured:
            found[COUNT] = found[COUNT] + found[known_name(self._query.steps[0])]
        counted, shape = found[COUNT] > 0, self._query.marginal.shape
        for pattern in self._query.marginal.patterns:
            everywhere = tuple(dict(pattern).get(place, slice(None)) for place in range(len(shape)))
            counted.reshape(shape)[everywhere] = False
        cells = np.flatnonzero(counted)
        return pa.table({CELL: cells, **{name: terms[cells] for name, terms in found.items()}})

    def _finish(self) -> None:
        """Add the groups to their cells."""
        index = np.zeros(1, dtype=np.int64)
        for each in self._offsets:
            index = np.add.outer(index, each).reshape(-1)
        if self._groups:
            self._add_to_cells(index, self._groups)
        self._offsets, self._groups, self._rows_of_groups = [], {}, 0

    def _terms(self, batch: pa.RecordBatch) -> Iterator[tuple[str, NDArray[np.int64] | None]]:
        """Yield what is added up, by name: a number for each row, None for a one in each."""
        if not self._query.measured:
            yield COUNT, None
        for place, (summed, name) in enumerate(self._query.measured_steps):
            steps, known = steps_of_array(batch.column(summed.measure.column), summed.measure)
            first, *second = summed.terms(name, wide=True)
            for squares in second:
                yield squares, steps * steps
            if known is None:
                steps += _ONE
            else:
                steps[known] += _ONE
                if place == 0:
                    yield COUNT, (~known).astype(np.int64)
            yield first, steps

    def _add_to_cells(self, index: NDArray[np.int64], terms: Mapping[str, NDArray[np.int64] | None]) -> None:
        """Add terms to the cells with these indices; those below 0 are not counted."""
        inside = np.flatnonzero(index >= 0)
        at = index[inside]
        for name, term in terms.items():
            here = np.ones(len(at), dtype=np.int64) if term is None else term[inside]
            if name in self._query.steps:
                np.add.at(self._found[known_name(name)], at, here >> _BITS)
                here &= _ONE - 1
            np.add.at(self._found[name], at, here)
