"""Sources of tables, and their one query: how many rows, or units, are in each non-empty cell.

A source is a path, or a frame of any library that narwhals reads. It is counted by its own engine, files by DuckDB or
Spark, and only non-empty cells leave it. Errors name the request and the schema; what an engine says is not repeated.
`codes` says what values mean, `counting` how they are counted and which cells of a unit are kept, `engine` what an
engine is.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ggdp import _validate
from ggdp.domain.filters import LookedUp, argument_of, read_columns, reading_of, reads
from ggdp.errors import ArgumentError, ArgumentTypeError, SourceError
from ggdp.sources.codes import require_countable
from ggdp.sources.counting import CELL, COUNT, MarginalQuery, UnitLimits, cells, key_names, keys, step_counts
from ggdp.sources.dataframes import ArrowTable, PandasFrame, PolarsFrame
from ggdp.sources.duckdb_engine import DuckdbFiles, DuckdbRelation, IbisTable, choose_directory
from ggdp.sources.engine import Answer, Engine, Frame, collect, hide_errors
from ggdp.sources.files import TEXTS, find_files
from ggdp.sources.measures import CellSums, SummedMeasure, integers, known_name
from ggdp.sources.row_filter import Rows, reading_name, require_readable
from ggdp.sources.spark import SparkFiles, SparkFrame

if TYPE_CHECKING:
    from ggdp.domain.column import Column
    from ggdp.domain.filters import Derived, Filter, Read
    from ggdp.domain.table_domain import Domain
    from ggdp.sources.text_files import TextFormat


# What the values of an expression are, as a kind of column.
_KINDS = {"number": "float", "text": "text", "truth": "boolean"}
# The engines of frames, by what narwhals calls their libraries, and of files, by their own names.
_FRAMES: dict[str, type[Engine]] = {
    "pandas": PandasFrame,
    "polars": PolarsFrame,
    "pyarrow": ArrowTable,
    "duckdb": DuckdbRelation,
    "ibis": IbisTable,
    "pyspark": SparkFrame,
    "pyspark[connect]": SparkFrame,
}
_FILES: dict[str, type[Engine]] = {"duckdb": DuckdbFiles, "spark": SparkFiles}


@dataclass(frozen=True, slots=True, kw_only=True)
class CountQuery:
    """Marginals of one table, counted by rows, or by distinct units with a bounded number of cells."""

    marginals: tuple[Domain, ...]  # the columns of each marginal; columns without declared levels are open
    unit: str | None = None  # the column whose values are the units; without it every row is one
    max_cells: int = 1  # most cells of a marginal that a unit is counted in
    max_rows_per_cell: int | None = None  # most rows of a unit that count in a cell; without it a cell counts units
    unit_nulls: tuple[str, ...] = ()  # texts that are no unit
    measured: tuple[SummedMeasure, ...] = ()  # what is added up of the values of columns, for statistics
    numbers: tuple[int, ...] = ()  # of the marginals, where these are some of a request's; by default from 0 on
    where: Filter | None = None  # which rows are counted; set by the source, which may have a filter
    derived: Derived = ()  # what is computed of each row; set by the source as well
    # With a unit, a secret for the choice of its cells: from the operating system, new for every release.
    key: bytes = field(default=b"", repr=False)

    def __post_init__(self) -> None:
        _validate.non_empty(marginals=self.marginals)
        _validate.integer(max_cells=self.max_cells, at_least=1)
        if self.unit is None and self.max_cells != 1:
            raise ArgumentError("max_cells", self.max_cells, "needs a unit: without one a row is in one cell")
        if self.unit is not None and len(self.key) < 16:
            raise ArgumentError("key", "(secret)", "must be at least 16 secret bytes, new for every release")

    def of_tables(self, numbers: Sequence[int]) -> CountQuery:
        """Return the query of some of the marginals, which keeps the same cells of each unit."""
        return replace(self, marginals=tuple(self.marginals[number] for number in numbers), numbers=tuple(numbers))

    @property
    def measured_columns(self) -> list[str]:
        """The columns of the data that are measured, each once."""
        made = dict(self.derived)
        return [name for name in dict.fromkeys(one.measure.column for one in self.measured) if name not in made]

    @property
    def readings(self) -> dict[str, Read]:
        """What is read of columns of the data, by the internal names of what was read of Python values."""
        made = dict(self.derived)
        asked = reads((self.where, *made.values()))
        return {reading_name(one.column, one.reading): one for one in asked if one.column not in made}

    def declared_columns(self, opened: Iterable[str] = ()) -> dict[str, Column | None]:
        """Return the declarations of all columns; None for the unit, and for those only measured, or read by filters.

        A query that names no column counts rows: it takes the first one that the source was opened with, if any.
        """
        read = (one.column for one in self.readings.values())
        declared: dict[str, Column | None] = dict.fromkeys([*read, *self.measured_columns])
        declared |= {column.name: column for marginal in self.marginals for column in marginal}
        if self.unit is not None:
            declared[self.unit] = None
        made = dict(self.derived)
        return {name: one for name, one in declared.items() if name not in made} or dict.fromkeys(islice(opened, 1))

    def require_one_declaration(self, kinds: Mapping[str, str]) -> None:
        """Refuse columns of text that marginals declare in different ways: their values are read once for all."""
        declared = self.declared_columns()
        for column in (column for marginal in self.marginals for column in marginal):
            if declared.get(column.name, column) != column and kinds[column.name] in ("text", "object"):
                what = "is declared in two ways: request these tables separately"
                raise ArgumentError("marginals", column.name, what)


class Counted(NamedTuple):
    """The non-empty cells of a marginal, in increasing order, and how many rows or units are in each."""

    cells: NDArray[np.int64]
    counts: NDArray[np.int64]


class TableSource:
    """A table that its engine can count, named as in errors: a path, or the type of a frame. A context manager."""

    def __init__(self, name: str, engine: Engine, where: Filter | None = None, derived: Derived = ()) -> None:
        self.name, self.engine, self.where, self.derived = name, engine, where, derived
        engine.kinds |= {made: _KINDS[reading_of(term)] for made, term in derived}

    def __enter__(self) -> TableSource:
        return self

    def __exit__(self, *_: object) -> None:
        self.engine.close()

    def check(self, query: CountQuery) -> None:
        """Raise if a query does not match the schema; no row is read."""
        kinds = self.engine.kinds
        made = dict(self.derived)
        for name, term in self.derived:
            require_readable(term, kinds, argument_of(name, term))
        if self.where is not None:
            require_readable(self.where, kinds, "where")
        for column in dict.fromkeys(column for marginal in query.marginals for column in marginal):
            if column.name not in kinds:
                raise ArgumentError("column", column.name, "is not among those that the source was opened with")
            require_countable(column, kinds)
            if self.engine.empty_is_null and "" in column.texts and column.name not in made:
                what = "an empty field of a CSV file is a null: declare missing instead"
                raise ArgumentError(f"levels of {column.name!r}", "", what)
        for name in query.measured_columns:
            if kinds[name] not in ("text", "integer", "float", "decimal", "boolean", "object"):
                what = f"is a column of kind {kinds[name]}, which has no numbers; cast it to numbers first"
                raise ArgumentError("statistics", name, what)
        if query.unit is not None:
            if query.unit not in kinds:
                raise ArgumentError("unit", query.unit, "is not among the columns that the source was opened with")
            # The kinds whose values identify units in the same way on every engine.
            if (kind := kinds[query.unit]) not in ("text", "integer", "float", "boolean", "date", "object"):
                what = f"is a column of kind {kind}; cast it to integers or text first"
                raise ArgumentError("unit", query.unit, what)

    def count(self, query: CountQuery) -> list[Counted]:
        """Return the non-empty cells of each marginal; all columns must be declared.

        Claim. Without a unit, a row is counted in at most one cell of each marginal. With one, a unit is
        counted in at most `max_cells` cells of each, once in each, and which ones depends on its own rows and the key.
        """
        for marginal in query.marginals:
            if marginal.is_open:
                raise ArgumentError("marginals", marginal, "has open columns: request keys")
        return [Counted(*_sorted_columns(table, CELL)) for table in self.answer(query, cells)]

    def sums(self, query: CountQuery) -> list[tuple[NDArray[np.int64] | pa.Table, tuple[CellSums, ...]]]:
        """Return the non-empty cells of each marginal, in increasing order, and the exact sums of each measure there.

        Of an open marginal these are its keys, as `keys` has them.

        Claim. A row, or the pair of a unit and a cell it is kept in, adds 1 to a count and one step, from 0 to N, to a
        sum, or nothing if it has no number; both depend on the rows of this unit alone.
        """
        found = []
        for table, marginal in zip(self.answer(query, cells), query.marginals, strict=True):
            table = _number_rows(table, marginal)
            units, sums = integers(table[COUNT]), []
            for place, summed in enumerate(query.measured):
                known = integers(table[known_name(f"m{place}")])
                sums.append(CellSums(units, known, *summed.add_up(table, f"m{place}")))
            at = _texts(table, marginal) if marginal.is_open else table[CELL].to_numpy().astype(np.int64, copy=False)
            found.append((at, tuple(sums) or (CellSums(units, units, units * 0, units * 0),)))
        return found

    def steps(self, query: CountQuery) -> list[list[NDArray[np.int64]]]:
        """Return the cells and steps of the one measure that occur, of each marginal, and the rows or units of each.

        The cells of an open marginal are numbered as `sums` has its keys.
        """
        tables = zip(self.answer(query, step_counts), query.marginals, strict=True)
        return [_sorted_columns(_number_rows(table, marginal).drop_null(), CELL, "m0") for table, marginal in tables]

    def keys(self, query: CountQuery) -> list[pa.Table]:
        """Return the non-empty keys of each marginal as texts, with `count`, in the order of domain and texts."""
        found = []
        for table, marginal in zip(self.answer(query, keys), query.marginals, strict=True):
            table = _number_rows(table, marginal, key_names(marginal))
            found.append(_texts(table, marginal).append_column(COUNT, pc.cast(table[COUNT], pa.int64())))
        return found

    def lazy_cells(self, query: CountQuery) -> Any:  # noqa: ANN401 - a frame of the engine
        """Return the non-empty cells of one marginal as a lazy frame (`cell`, `count`) of an engine with executors."""
        if not self.engine.has_executors or len(query.marginals) != 1:
            raise ArgumentError("data", self.name, "only one marginal of a Spark source is counted as a frame")
        return self._ask(query, cells, nw.to_native)[0]

    def answer(self, query: CountQuery, ask: Callable[[MarginalQuery], Frame]) -> list[pa.Table]:
        """Return the engine's answer for each marginal: `cells`, `keys`, or a frame made of these."""
        try:
            return self._ask(query, ask, collect)
        except SourceError:
            if not hide_errors(self.name, self.engine.fall_back):
                raise
        return self._ask(query, ask, collect)

    def _ask(
        self, query: CountQuery, ask: Callable[[MarginalQuery], Frame], finish: Callable[..., Answer]
    ) -> list[Answer]:
        """Return what `finish` makes of the frame that `ask` returns for the query of each marginal."""
        self.check(query)
        query = replace(query, where=self.where, derived=self.derived)

        def work() -> list[Answer]:
            with self.engine.working():
                frame, limits, found = self.engine.frame(query), None, []
                rows = Rows(frame, self.engine.kinds, self.engine.dialect)
                for made, term in self.derived:
                    rows.derive(made, term)
                if self.where is not None:
                    # Before rows are grouped, and cells of units chosen.
                    rows.keep(self.where)
                numbers = query.numbers or range(len(query.marginals))
                for place, marginal in zip(numbers, query.marginals, strict=True):
                    if query.unit is not None:
                        secret = int.from_bytes(hashlib.sha256(f"{query.key.hex()}:{place}".encode()).digest()[:8])
                        most = query.max_cells, query.max_rows_per_cell
                        limits = UnitLimits(query.unit, most[0], secret, most[1], query.unit_nulls)
                    measured = tuple(summed.within(marginal) for summed in query.measured)
                    one = MarginalQuery(self.engine, rows.frame, marginal, limits, measured)
                    found.append(finish(ask(one._replace(is_filtered=rows.frame is not frame))))
                return found

        return hide_errors(self.name, work)


def open_source(
    data: Any,  # noqa: ANN401 - a path, or a frame of any library
    *,
    engine: Literal["duckdb", "spark"] | None = None,
    columns: Mapping[str, str] | Sequence[str],
    text: TextFormat | None = None,
    temp_dir: str | os.PathLike[str] | None = None,
    where: Filter | None = None,
    labelled: Collection[str] = (),
    derived: Derived = (),
) -> TableSource:
    """Return a source of data with some of its columns, and only those rows that a filter keeps; no row is read.

    Data are a path or a pattern of files (CSV, TSV, JSON lines, Parquet), which DuckDB or Spark reads, or a frame,
    which its own engine counts. `text` says how text files are read, and `labelled` which columns of numbers by their
    value labels, in files with such labels. Where DuckDB counts, rows that do not fit in memory are written to
    `temp_dir`, else to the directory that GGDP_TEMP_DIR names, else nowhere. A `derived` column is computed in each
    row; a column of the data that has its name is not read. Columns may be mapped to the arguments that name them.
    """
    made = dict(derived)
    read = {column: name for name, term in reversed(derived) for column in read_columns(term)}
    wanted = tuple(name for name in dict.fromkeys([*columns, *read_columns(where), *read]) if name not in made)
    for term in made.values():
        if isinstance(term, LookedUp):
            # Before anything is charged.
            term.table.table  # noqa: B018 - raises if its file is not there
    if engine is not None:
        _validate.choice(engine=engine, among=tuple(_FILES))
    directory = choose_directory(temp_dir)
    if isinstance(data, str | os.PathLike):
        data = find_files(data, text)
        name = data.named
        opened: Callable[..., Engine] = _FILES[engine or "duckdb"]
        if data.format not in (*TEXTS, "parquet"):
            from ggdp.sources.program_files import ProgramFiles

            opened = partial(ProgramFiles, labelled=labelled)
            if engine == "spark":
                raise ArgumentError("engine", engine, f"does not read {data.format} files; leave it out")
    else:
        name = f"{type(data).__module__.split('.')[0]} {type(data).__name__}"
        try:
            frame = nw.from_native(data, pass_through=True)
        except nw.exceptions.DuplicateError:
            raise ArgumentError("data", type(data).__name__, "has two columns of the same name: rename one") from None
        if isinstance(frame, nw.DataFrame | nw.LazyFrame) and frame.implementation.value in _FRAMES:
            opened = frames = _FRAMES[frame.implementation.value]
        else:
            what = "must be a path, or a frame of pandas, polars, pyarrow, DuckDB, ibis or Spark"
            raise ArgumentTypeError("data", name, what)
        if engine not in (None, frames.name):
            raise ArgumentError("engine", engine, f"reads files; a frame of {frames.name} is counted by its own engine")
        if text is not None:
            raise ArgumentError("data", name, "is a frame; encoding, delimiter and the like apply to text files")
    try:
        return hide_errors(name, lambda: TableSource(name, opened(name, data, wanted, directory), where, derived))
    except ArgumentError as refused:
        if refused.argument != "column":
            raise
        # Else an expression or the filter alone names the column.
        name = read.get(column := str(refused.value), "")
        argument = argument_of(name, made[name]) if name else "where"
        if column in columns:
            argument = columns[column] if isinstance(columns, Mapping) else "column"
        raise ArgumentError(argument, refused.value, refused.expected) from None


def _number_rows(table: pa.Table, marginal: Domain, keys: Sequence[str] = ()) -> pa.Table:
    """Return rows in the order of their cells; of an open marginal, or by `keys`, with numbers of these from 0 on."""
    names = list(keys) or ([CELL] if not marginal.is_open else key_names(marginal))
    table = table.sort_by([(name, "ascending") for name in names])
    if names == [CELL]:
        return table
    is_new = np.zeros(table.num_rows, dtype=np.bool_)
    for name in names:
        is_new[1:] |= pc.not_equal(table[name][1:], table[name][:-1]).to_numpy()
    return table.append_column(CELL, pa.array(np.cumsum(is_new, dtype=np.int64)))


def _texts(table: pa.Table, marginal: Domain) -> pa.Table:
    """Return the keys of rows as texts, from their codes and texts."""
    arrays = [
        table[place] if column.kind == "open" else pc.take(column.values.cast(pa.string()), table[place])
        for place, column in zip(key_names(marginal), marginal, strict=True)
    ]
    return pa.table([pc.cast(array, pa.string()) for array in arrays], names=list(marginal.names))


def _sorted_columns(table: pa.Table, *by: str) -> list[NDArray[np.int64]]:
    """Return columns of integers, and the counts, sorted by these columns."""
    columns = [table[name].to_numpy().astype(np.int64, copy=False) for name in (*by, COUNT)]
    order = np.argsort(columns[0]) if len(by) == 1 else np.lexsort(columns[len(by) - 1 :: -1])
    return [column[order] for column in columns]
