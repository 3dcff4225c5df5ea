"""What narwhals does not say for all engines: frames of levels, keyed hashes, exact text, and answers without words.

An engine is named by the library that counts: "duckdb", "polars", "pyarrow" or "spark"; pandas' frames are counted as
Arrow (`ggdp.tables.engines.from_pandas`), tables of ibis by DuckDB.

Columns have names of our own (`bound`), given by their places: names of data may mean something to an engine, be a
pattern, have a dot in them, or differ in case alone, which some engines do not see.
"""

from __future__ import annotations

import hashlib
import warnings
from datetime import date
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import narwhals as nw
import pyarrow as pa
import pyarrow.compute as pc

from ggdp.errors import GgdpError, OutOfMemoryError, SourceError
from ggdp.tables.engines.kinds import unparsable
from ggdp.tables.engines.text_files import decoded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ggdp.tables.column import Column

__all__ = [
    "DIGITS",
    "Frame",
    "bound",
    "collected",
    "digests",
    "framed",
    "hashed",
    "levels_sql",
    "looked_up",
    "quietly",
    "readable",
    "texts",
    "within_years",
]

Frame: TypeAlias = nw.DataFrame[Any] | nw.LazyFrame[Any]
Answer = TypeVar("Answer")

# Hexadecimal digits of a score: ties among the cells of a unit are as good as impossible.
DIGITS = 16
# No text of a domain is split by it: levels are separated by a character that none of them holds.
_SEPARATORS = [chr(code) for code in (31, 30, 29, 28, *range(0xE000, 0xE100))]


def bound(name: str) -> str:
    """Return what a column is called while it is counted: a word of its own, whatever the name holds.

    Examples
    --------
    >>> bound("ID"), bound("id"), bound("^i.*$")
    ('b4944', 'b6964', 'b5e692e2a24')
    """
    return "b" + name.encode("utf-8", "surrogatepass").hex()


def framed(frame: Any) -> Frame:  # noqa: ANN401 - a frame of any library
    """Return a frame as narwhals has it."""
    found: Frame = nw.from_native(frame)
    return found


def quietly(source: str, work: Callable[[], Answer]) -> Answer:
    """Return what `work` returns; whatever an engine says instead, words and warnings, is replaced by one error.

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


def collected(frame: Frame) -> pa.Table:
    """Return a small frame as an Arrow table."""
    if isinstance(frame, nw.LazyFrame):
        # Polars would otherwise hold all rows of the needed columns at once.
        options = {"engine": "streaming"} if frame.implementation.is_polars() else {}
        frame = frame.collect("pyarrow", **options)
    return frame.to_arrow()


def texts(engine: str, native: Any) -> set[str]:  # noqa: ANN401 - a frame of any library
    """Return the columns that are text although narwhals does not know their type: UUIDs, and nulls without a type."""
    if engine == "duckdb":
        types = zip(native.columns, map(str, native.types), strict=True)
        return {name for name, kind in types if kind in ("UUID", '"NULL"', "NULL")}
    if engine == "polars":
        return {name for name, kind in native.collect_schema().items() if str(kind) == "Null"}
    if engine == "pyarrow":
        return {field.name for field in native.schema if pa.types.is_null(field.type)}
    return {field.name for field in native.schema.fields if field.dataType.typeName() == "void"}


def looked_up(engine: str, frame: Frame, text: str, levels: Sequence[str], code: str) -> Frame:
    """Return a frame with the place of each text among levels, null where it is none of them."""
    if engine == "pyarrow":
        # A join of Arrow tables takes several times as long as all else that is done with few groups.
        table = nw.to_native(frame)
        places = pc.index_in(table[text], value_set=pa.array(levels, table[text].type))
        return framed(table.append_column(code, pc.cast(places, pa.int64())))
    # A name of its own for the joined texts, which are the same.
    names = (f"{text}_level", code)
    joined: Any = _leveled(engine, frame, levels, names)
    return frame.join(joined, left_on=text, right_on=names[0], how="left")


def _leveled(engine: str, like: Frame, levels: Sequence[str], names: tuple[str, str]) -> Frame:
    """Return a frame of levels and their codes on the engine, and for DuckDB the connection, of another frame."""
    native = nw.to_native(like)
    if engine == "duckdb":
        return framed(native.query("ggdp_unused", levels_sql(levels, names)))
    table = pa.table({names[0]: pa.array(levels, pa.string()), names[1]: pa.array(range(len(levels)), pa.int64())})
    if engine == "spark":
        return framed(native.sparkSession.createDataFrame(table))
    if engine == "polars":
        import polars as pl

        eager = pl.from_arrow(table)
        return framed(eager if isinstance(like, nw.DataFrame) else eager.lazy())
    raise AssertionError(engine)


def levels_sql(levels: Sequence[str], names: tuple[str, str]) -> str:
    """Return a query for levels and codes: one literal, since a row of VALUES for each would be slow to parse."""
    joined = "".join(levels)
    separator = next((mark for mark in _SEPARATORS if mark not in joined), None)
    numbered = f"unnest(l) AS {names[0]}, generate_subscripts(l, 1) - 1 AS {names[1]}"
    if separator is None or "\0" in joined:
        items = ", ".join(_literal(level) for level in levels)
        return f"SELECT {numbered} FROM (SELECT [{items}] AS l)"
    split = f"string_split({_literal(separator.join(levels))}, {_literal(separator)})"
    return f"SELECT {numbered} FROM (SELECT {split} AS l)"


def _literal(text: str) -> str:
    # A parser takes no NUL inside a statement.
    return " || chr(0) || ".join("'" + part.replace("'", "''") + "'" for part in text.split("\0"))


def within_years(engine: str, value: nw.Expr) -> nw.Expr:
    """Return dates of the years 1 to 9999, and null for others: polars panics where it writes those as text."""
    bounds = ("0001-01-01", "9999-12-31")
    # PySpark writes the first one as a year of one digit, which Java does not read.
    first, last = (
        nw.lit(day).cast(nw.Date) if engine == "spark" else nw.lit(date.fromisoformat(day)) for day in bounds
    )
    return nw.when((value >= first) & (value <= last)).then(value)


def readable(table: pa.Table, declared: Mapping[str, Column | None]) -> pa.Table:
    """Return an Arrow table whose text is UTF-8; what is not has no text (`ggdp.tables.engines.kinds`).

    `declared` has the columns by their bound names.
    """
    for place, field in enumerate(table.schema):
        if not (pa.types.is_string(field.type) or pa.types.is_large_string(field.type)):
            continue
        try:
            table[field.name].validate(full=True)
        except pa.ArrowInvalid:
            instead = unparsable(declared.get(field.name))
            raw = table[field.name].cast(pa.large_binary()).to_pylist()
            texts = pa.array([None if text is None else decoded(text, instead) for text in raw], pa.large_string())
            table = table.set_column(place, field.name, texts)
    return table


def digests(values: Iterable[str | None]) -> list[str | None]:
    """Return the first hexadecimal digits of the SHA-256 of texts."""
    return [None if text is None else hashlib.sha256(text.encode()).hexdigest()[:DIGITS] for text in values]


def hashed(engine: str, frame: Frame, column: str) -> Frame:
    """Return a frame whose column of texts is replaced by the first digits of their SHA-256, nulls by nulls."""
    native = nw.to_native(frame)
    if engine == "duckdb":
        found = native.project(f'* REPLACE (substr(sha256("{column}"), 1, {DIGITS}) AS "{column}")')
    elif engine == "spark":
        from pyspark.sql import functions as sql

        found = native.withColumn(column, sql.substring(sql.sha2(sql.col(column), 256), 1, DIGITS))
    elif engine == "polars":
        import polars as pl

        def digest(series: Any) -> Any:  # noqa: ANN401 - a polars series
            return pl.Series(series.name, digests(series), dtype=pl.String)

        found = native.with_columns(pl.col(column).map_batches(digest, return_dtype=pl.String))
    else:
        place = native.column_names.index(column)
        found = native.set_column(place, column, pa.array(digests(native[column].to_pylist()), pa.string()))
    return framed(found)
