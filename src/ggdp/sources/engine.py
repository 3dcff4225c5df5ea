"""What an engine is, and what all engines share: frames of every library by narwhals, and errors that quote no data.

An `Engine` is data that has been opened: the kinds of its columns, and a frame of its rows for each query. A `Dialect`
is the library that evaluates such a frame, in the few respects in which narwhals does not hide it. Engines are
registered in `ggdp.sources.query`, and each says which data it has.

An engine finds columns by exact names in the whole schema and renames them (`safe_name`): names of data may mean
something to an engine, be a pattern, have a dot in them, or differ in case alone, which some engines do not see.
Between a lazy frame and the counting it puts a barrier: no condition of ours is moved into the scan of a file, where
statistics could decide it for many rows at once.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import narwhals as nw
import pyarrow as pa

from ggdp.errors import GgdpError, OutOfMemoryError, SourceError
from ggdp.sources.codes import kind_of, text_of_invalid
from ggdp.sources.text_files import valid_text

if TYPE_CHECKING:
    from datetime import date, datetime

    from ggdp.domain.column import Column
    from ggdp.sources.counting import MarginalQuery, UnitLimits
    from ggdp.sources.query import CountQuery


class Dialect(Protocol):
    """A library that evaluates frames. A class that derives from it overrides only what is different there."""

    wide_sums: bool = False  # whether sums of 64-bit integers have 128 bits
    tries_all_ways: bool = False  # whether its regular expressions may take a time that is not linear in the text

    def untyped_text(self, native: Any) -> set[str]:  # noqa: ANN401 - a frame of the library
        """Return the columns that are text although narwhals does not know their type: UUIDs, untyped nulls."""

    def list_levels(self, native: Any, levels: Sequence[str], name: str, code: str, values: Values = None) -> Any:  # noqa: ANN401, ARG002
        """Return levels and their positions, or values, as a frame to join with; None if `look_up` needs none."""
        return None

    def keep_pairs(self, pairs: Frame, cell: Sequence[str], limits: UnitLimits) -> Frame:
        """Return those of distinct pairs of unit and cell that are counted, with all columns (`counting`)."""

    def look_up(self, frame: Frame, text: str, levels: Sequence[str], code: str, values: Values = None) -> Frame:
        """Return a frame with the position of each text among the levels, or its value; null if it is not a level.

        Levels differ from one another, so that each row stays one row.
        """
        name = f"{text}_level"
        found: Any = as_frame(self.list_levels(nw.to_native(frame), levels, name, code, values))
        return frame.join(found, left_on=text, right_on=name, how="left")

    def add_column(self, frame: Frame, name: str, value: nw.Expr) -> Frame:
        """Return a frame with one more column, of which what mentions it has no copy."""
        return frame.with_columns(value.alias(name))

    def read_kinds(self, data: Any, columns: Sequence[str]) -> tuple[Frame, dict[str, str]]:  # noqa: ANN401
        """Return a frame, with text for types that are text unknown to narwhals, and kinds by its schema."""
        frame, texts = as_frame(data), self.untyped_text(data)
        schema = frame.collect_schema()
        kinds = {name: "text" if safe_name(name) in texts else kind_of(schema[safe_name(name)]) for name in columns}
        odd = [nw.col(name).cast(nw.String) for name in schema.names() if name in texts]
        return (frame.with_columns(*odd) if odd else frame), kinds

    def text(self, value: nw.Expr) -> nw.Expr:
        """Return a column of text that is compared byte by byte."""
        return value

    def date_literal(self, day: date) -> nw.Expr:
        """Return a day as a literal."""
        return nw.lit(day)

    def time_literal(self, time: datetime, dtype: nw.dtypes.DType) -> nw.Expr:
        """Return a time, in UTC if the type has a time zone, as a literal of that type."""
        return nw.lit(time.replace(tzinfo=UTC) if getattr(dtype, "time_zone", None) else time).cast(dtype)


class Engine(Protocol):
    """Data that has been opened; a class that derives from it overrides what is different for its data."""

    name: str  # the library that holds the data: "duckdb", "polars", "pandas", "pyarrow", "ibis" or "spark"
    dialect: Dialect  # the library that evaluates the frames of `frame`
    kinds: dict[str, str]  # kinds of the columns (`ggdp.sources.codes`), from the schema alone
    empty_is_null: bool = False  # whether an empty field is a null, so that no level can be the empty text
    # Whether a table too large for one process can be drawn and written by the executors of a cluster.
    has_executors: bool = False

    def __init__(self, source: str, data: Any, columns: Sequence[str], temp_dir: Path | None = None) -> None:  # noqa: ANN401
        """Open some columns of data, a frame or `Files`; errors name the source. No row is read."""

    def frame(self, query: CountQuery) -> Frame:
        """Return the rows of the columns of a query."""

    def working(self) -> AbstractContextManager[None]:
        """Return the context in which the engine works."""
        return nullcontext()

    def evaluate(self, frame: Frame) -> tuple[Dialect, Frame]:
        """Return a frame that is used several times, evaluated once if the engine can store it, and its dialect."""
        return self.dialect, frame

    def direct_cells(self, query: MarginalQuery) -> Frame | None:  # noqa: ARG002
        """Return the non-empty cells of a declared marginal with their sums, if there is a faster way; else None."""
        return None

    def groups_first(self, query: MarginalQuery) -> bool:  # noqa: ARG002
        """Return whether rows are grouped by raw values before these are given codes."""
        return True

    def fall_back(self) -> bool:
        """Switch to a slower reader that fails less; return whether there is one that was not in use."""
        return False

    def close(self) -> None:
        """Close what was opened."""
        return


# What stands beside each level, in place of its position.
Values: TypeAlias = "Sequence[str | None] | None"
Frame: TypeAlias = nw.DataFrame[Any] | nw.LazyFrame[Any]
Answer = TypeVar("Answer")


def safe_name(name: str) -> str:
    """Return the internal name of a column while it is counted, which holds no special character."""
    return "b" + name.encode("utf-8", "surrogatepass").hex()


def as_frame(frame: Any) -> Frame:  # noqa: ANN401 - a frame of any library
    """Return a frame as a narwhals frame."""
    return nw.from_native(frame)  # type: ignore[no-any-return]


def hide_errors(source: str, work: Callable[[], Answer]) -> Answer:
    """Return what `work` returns; errors and warnings of the engine are replaced by one error.

    Claim. An error of an engine may quote a value, so neither its message nor the exception itself is passed on: the
    new one is raised after the old one is gone, so that it is neither its cause nor its context.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return work()
    except (GgdpError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    # A panic of polars is no Exception, and may quote a value too.
    except BaseException as failed:
        out_of_memory = isinstance(failed, MemoryError) or type(failed).__name__ == "OutOfMemoryException"
    if out_of_memory:
        raise OutOfMemoryError(source)
    raise SourceError(source)


def collect(frame: Frame) -> pa.Table:
    """Return a small frame as an Arrow table."""
    if isinstance(frame, nw.LazyFrame):
        # Polars would otherwise hold all rows of the needed columns at once.
        frame = frame.collect("pyarrow", **({"engine": "streaming"} if frame.implementation.is_polars() else {}))
    return frame.to_arrow()


def replace_invalid_text(table: pa.Table, declared: Mapping[str, Column | None]) -> pa.Table:
    """Return an Arrow table, under safe names, whose text is UTF-8; what is not has no text (`kinds`)."""
    instead = {safe_name(name): text_of_invalid(column) for name, column in declared.items()}
    for place, field in enumerate(table.schema):
        if not (pa.types.is_string(field.type) or pa.types.is_large_string(field.type)):
            continue
        try:
            table[field.name].validate(full=True)
        except pa.ArrowInvalid:
            raw = table[field.name].cast(pa.large_binary())
            texts = valid_text(raw, instead.get(field.name), pa.large_string())
            table = table.set_column(place, field.name, texts)
    return table
