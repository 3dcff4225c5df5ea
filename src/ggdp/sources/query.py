"""Sources of tables, and their one query: how many rows, or units, are in each non-empty cell.

A source is a path, or a frame of any library that narwhals reads. It is counted by its own engine, files by DuckDB or
Spark, and only non-empty cells leave it. Errors name the request and the schema; what an engine says is not repeated.

References
----------
`ggdp.sources.codes` says what values mean, `counting` how they are counted and which cells of a unit are kept, `engine`
what an engine is.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ggdp import _validate
from ggdp.errors import ArgumentError, ArgumentTypeError, SourceError
from ggdp.sources.codes import require_countable, require_unit
from ggdp.sources.counting import MarginalQuery, UnitLimits, cells, keys, step_counts, subkey
from ggdp.sources.dataframes import ArrowTable, PandasFrame, PolarsFrame
from ggdp.sources.duckdb_database import choose_directory
from ggdp.sources.duckdb_engine import DuckdbFiles, DuckdbRelation, IbisTable
from ggdp.sources.engine import collect, hide_errors
from ggdp.sources.files import find_files
from ggdp.sources.measures import CellSums, integers, known_name, require_numbers, value_name
from ggdp.sources.spark import SparkFiles, SparkFrame

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ggdp.domain.table_domain import Domain
    from ggdp.sources.engine import Engine, Frame
    from ggdp.sources.measures import SummedMeasure
    from ggdp.sources.text_files import TextFormat


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
    """Marginals of one table, counted by rows, or by distinct units with a bounded number of cells.

    Parameters
    ----------
    marginals : tuple of Domain
        The columns of each marginal; columns without declared levels are open.
    unit : str, optional
        Column whose values are the units; without it every row is one.
    max_cells : int
        Most cells of a marginal that a unit is counted in.
    max_rows_per_cell : int, optional
        Most rows of a unit that count in a cell; without it a cell counts units.
    measured : tuple of SummedMeasure
        What is added up of the values of columns, for statistics.
    key : bytes
        A secret for the choice of these, with `unit`: at least 16 bytes from the operating system, new for every
        release.
    """

    marginals: tuple[Domain, ...]
    unit: str | None = None
    max_cells: int = 1
    max_rows_per_cell: int | None = None
    measured: tuple[SummedMeasure, ...] = ()
    key: bytes = field(default=b"", repr=False)

    def __post_init__(self) -> None:
        _validate.non_empty(marginals=self.marginals)
        _validate.integer(max_cells=self.max_cells, at_least=1)
        if self.unit is None and self.max_cells != 1:
            raise ArgumentError("max_cells", self.max_cells, "needs a unit: without one a row is in one cell")
        if self.unit is not None and len(self.key) < 16:
            raise ArgumentError("key", "(secret)", "must be at least 16 secret bytes, new for every release")


class Counted(NamedTuple):
    """The non-empty cells of a marginal, in increasing order, and how many rows or units are in each."""

    cells: NDArray[np.int64]
    counts: NDArray[np.int64]


class MeasuredCells(NamedTuple):
    """The non-empty cells of a marginal, in increasing order: rows or units, and what each measure adds up to."""

    cells: NDArray[np.int64]
    sums: tuple[CellSums, ...]


class SteppedCells(NamedTuple):
    """The cells and steps of one measure that occur, in increasing order, and how many rows or units each has."""

    cells: NDArray[np.int64]
    steps: NDArray[np.int64]
    counts: NDArray[np.int64]


class TableSource:
    """A table that can be counted. Close it after use, or use it as a context manager.

    Attributes
    ----------
    name : str
        The source as its caller named it: a path, or the type of a frame.
    engine : Engine
        The engine that counts it.
    """

    def __init__(self, name: str, engine: Engine) -> None:
        self.name = name
        self.engine = engine

    def __enter__(self) -> TableSource:
        return self

    def __exit__(self, *_: object) -> None:
        self.engine.close()

    def check(self, query: CountQuery) -> None:
        """Raise if a query does not match the schema; no row is read."""
        kinds = self.engine.kinds
        for column in dict.fromkeys(column for marginal in query.marginals for column in marginal):
            if column.name not in kinds:
                raise ArgumentError("column", column.name, "is not among those that the source was opened with")
            require_countable(column, kinds)
            if self.engine.empty_is_null and "" in column.texts:
                raise ArgumentError(
                    f"levels of {column.name!r}", "", "an empty field of a CSV file is a null: declare missing instead"
                )
        for summed in query.measured:
            require_numbers(summed.measure.column, kinds)
        if query.unit is not None:
            if query.unit not in kinds:
                raise ArgumentError("unit", query.unit, "is not among the columns that the source was opened with")
            require_unit(query.unit, kinds)

    def count(self, query: CountQuery) -> list[Counted]:
        """Return the non-empty cells of each marginal; all columns must be declared.

        Notes
        -----
        Claim. Without a unit, a row is counted in at most one cell of each marginal. With one, a unit is
        counted in at most `max_cells` cells of each, once in each, and which ones depends on its own rows and the key.
        """
        for marginal in query.marginals:
            if marginal.is_open:
                raise ArgumentError("marginals", marginal, "has open columns: request keys")
        return [_count_table(table) for table in self.answer(query, cells)]

    def sums(self, query: CountQuery) -> list[MeasuredCells]:
        """Return the non-empty cells of each marginal with the exact sums of all measures.

        Notes
        -----
        Claim. A row, or the pair of a unit and a cell it is kept in, adds 1 to a count and one step, from 0 to N, to a
        sum, or nothing if it has no number; both depend on the rows of this unit alone.
        """
        return [_sum_table(table, query) for table in self.answer(query, cells)]

    def steps(self, query: CountQuery) -> list[SteppedCells]:
        """Return the cells and steps of the one measure of a query that occur, of each marginal."""
        return [_step_table(table) for table in self.answer(query, step_counts)]

    def keys(self, query: CountQuery) -> list[pa.Table]:
        """Return the non-empty keys of each marginal as texts, with `count`, in the order of domain and texts."""
        tables = self.answer(query, keys)
        return [_key_table(table, marginal) for table, marginal in zip(tables, query.marginals, strict=True)]

    def lazy_cells(self, query: CountQuery) -> Any:  # noqa: ANN401 - a frame of the engine
        """Return the non-empty cells of one marginal as a lazy frame (`cell`, `count`) of an engine with executors."""
        if not self.engine.has_executors or len(query.marginals) != 1:
            raise ArgumentError("data", self.name, "only one marginal of a Spark source is counted as a frame")
        self.check(query)

        def work() -> Any:  # noqa: ANN401 - a frame of the engine
            with self.engine.working():
                return nw.to_native(self._asked(query, cells, 0, self.engine.frame(query)))

        return hide_errors(self.name, work)

    def answer(self, query: CountQuery, ask: Callable[[MarginalQuery], Frame]) -> list[pa.Table]:
        """Return the engine's answer for each marginal: `cells`, `keys`, or a frame made of these."""
        self.check(query)

        def work() -> list[pa.Table]:
            with self.engine.working():
                frame = self.engine.frame(query)
                places = range(len(query.marginals))
                return [collect(self._asked(query, ask, place, frame)) for place in places]

        try:
            return hide_errors(self.name, work)
        except SourceError:
            if not hide_errors(self.name, self.engine.fall_back):
                raise
        return hide_errors(self.name, work)

    def _asked(self, query: CountQuery, ask: Callable[[MarginalQuery], Frame], place: int, frame: Frame) -> Frame:
        limits = None
        if query.unit is not None:
            limits = UnitLimits(query.unit, query.max_cells, subkey(query.key, place), query.max_rows_per_cell)
        return ask(MarginalQuery(self.engine, frame, query.marginals[place], limits, query.measured))


def open_source(
    data: Any,  # noqa: ANN401 - a path, or a frame of any library
    *,
    engine: Literal["duckdb", "spark"] | None = None,
    columns: Sequence[str],
    text: TextFormat | None = None,
    temp_dir: str | os.PathLike[str] | None = None,
) -> TableSource:
    """Return a source of data with some of its columns; no row is read.

    Parameters
    ----------
    data : str, path or frame
        A file or a pattern (CSV, TSV, JSON lines, Parquet); or a frame of pandas, polars, pyarrow, DuckDB, ibis or
        Spark.
    engine : {"duckdb", "spark"}, optional
        Who reads files; DuckDB if nothing is said. A frame is counted by its own engine.
    columns : sequence of str
        The columns that queries will name.
    text : TextFormat, optional
        How text files are read.
    temp_dir : path, optional
        A directory for rows that do not fit in memory, where DuckDB counts; else the one that the environment variable
        GGDP_TEMP_DIR names; without either, no row is written to disk.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from ggdp.domain.table_domain import Domain
    >>> people = pa.table({"sex": ["f", "m", "f", None], "smokes": ["no", "no", "no", "yes"]})
    >>> domain = Domain({"sex": ["f", "m"], "smokes": ["no", "yes"]})
    >>> with open_source(people, columns=["sex", "smokes"]) as source:
    ...     source.count(CountQuery(marginals=(domain,)))
    [Counted(cells=array([0, 2]), counts=array([2, 1]))]
    """
    wanted = tuple(dict.fromkeys(columns))
    if engine is not None:
        _validate.choice(engine=engine, among=tuple(_FILES))
    directory = choose_directory(temp_dir)
    if isinstance(data, str | os.PathLike):
        data = find_files(data, text)
        name, opened = data.named, _FILES[engine or "duckdb"]
    else:
        name = f"{type(data).__module__.split('.')[0]} {type(data).__name__}"
        opened = _engine_of(data, name)
        if engine not in (None, opened.name):
            raise ArgumentError("engine", engine, f"reads files; a frame of {opened.name} is counted by its own engine")
        if text is not None:
            raise ArgumentError("data", name, "is a frame; encoding, delimiter and the like apply to text files")
    return hide_errors(name, lambda: TableSource(name, opened(name, data, wanted, directory)))


def _engine_of(data: Any, name: str) -> type[Engine]:  # noqa: ANN401 - perhaps a frame
    """Return the engine of a frame, or raise for anything else."""
    try:
        frame = nw.from_native(data, pass_through=True)
    except nw.exceptions.DuplicateError:
        raise ArgumentError("data", type(data).__name__, "has two columns of the same name: rename one") from None
    if isinstance(frame, nw.DataFrame | nw.LazyFrame) and frame.implementation.value in _FRAMES:
        return _FRAMES[frame.implementation.value]
    raise ArgumentTypeError(
        "data", name, "must be a path, or a frame of pandas, polars, pyarrow, DuckDB, ibis or Spark"
    )


def _count_table(table: pa.Table) -> Counted:
    cells = table["cell"].to_numpy().astype(np.int64, copy=False)
    counts = table["count"].to_numpy().astype(np.int64, copy=False)
    order = np.argsort(cells)
    return Counted(cells[order], counts[order])


def _sum_table(table: pa.Table, query: CountQuery) -> MeasuredCells:
    cells = table["cell"].to_numpy().astype(np.int64, copy=False)
    order = np.argsort(cells)
    table = table.take(pa.array(order))
    units = integers(table["count"])
    found = []
    for place, summed in enumerate(query.measured):
        known = integers(table[known_name(value_name(place))])
        found.append(CellSums(units, known, *summed.added(table, value_name(place))))
    return MeasuredCells(cells[order], tuple(found) or (CellSums(units, units, units * 0, units * 0),))


def _step_table(table: pa.Table) -> SteppedCells:
    cells, steps, counts = (table[name].to_numpy().astype(np.int64) for name in ("cell", value_name(0), "count"))
    order = np.lexsort((steps, cells))
    return SteppedCells(cells[order], steps[order], counts[order])


def _key_table(table: pa.Table, marginal: Domain) -> pa.Table:
    places = [f"{'t' if column.kind == 'open' else 'k'}{place}" for place, column in enumerate(marginal)]
    table = table.select([*places, "count"]).sort_by([(place, "ascending") for place in places])
    columns = {}
    for place, column in zip(places, marginal, strict=True):
        codes = table[place]
        texts = codes if column.kind == "open" else pc.take(column.values.cast(pa.string()), codes)
        columns[column.name] = pc.cast(texts, pa.string())
    arrays = [*columns.values(), pc.cast(table["count"], pa.int64())]
    return pa.Table.from_arrays(arrays, names=[*columns, "count"])
