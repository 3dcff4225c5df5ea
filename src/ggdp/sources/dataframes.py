"""Tables of pyarrow and frames of pandas, counted in memory by Arrow; frames of polars, counted by polars.

Most columns of pandas are taken over without a copy. A column of Python objects has no type of its own, and the type of
categories follows from which there are, so that these values are read one by one, as the declared column would have
them (see `ggdp.sources.codes`): as texts, or as codes of bins.
"""

from __future__ import annotations

import math
import numbers
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ggdp.domain.periods import instant, instant_of_value
from ggdp.errors import ArgumentError
from ggdp.sources.codes import NOWHERE, NUMBER, text_of_invalid
from ggdp.sources.counting import SCORE, UNIT, UnitLimits, keep_by_rank, keep_in_memory
from ggdp.sources.engine import Dialect, Engine, Frame, Values, as_frame, replace_invalid_text, safe_name
from ggdp.sources.files import require_columns
from ggdp.sources.measures import number_name

if TYPE_CHECKING:
    from ggdp.domain.column import Column
    from ggdp.domain.filters import Reading
    from ggdp.domain.text_values import Rewriting
    from ggdp.sources.query import CountQuery


class _Arrow(Dialect):
    def untyped_text(self, native: Any) -> set[str]:  # noqa: ANN401 - an Arrow table
        return {field.name for field in native.schema if pa.types.is_null(field.type)}

    def look_up(self, frame: Frame, text: str, levels: Sequence[str], code: str, values: Values = None) -> Frame:
        # A join of Arrow tables takes several times as long as all else that is done with few groups.
        table = nw.to_native(frame)
        places = pc.index_in(table[text], value_set=pa.array(levels, table[text].type))
        found = pc.cast(places, pa.int64()) if values is None else pc.take(pa.array(values, pa.string()), places)
        return as_frame(table.append_column(code, found))

    def keep_pairs(self, pairs: Frame, cell: Sequence[str], limits: UnitLimits) -> Frame:
        return keep_in_memory(pairs, cell, limits)


ARROW = _Arrow()


class ArrowTable(Engine):
    """A table of pyarrow."""

    name, dialect = "pyarrow", ARROW

    def __init__(self, source: str, data: Any, columns: Sequence[str], _: Path | None = None) -> None:  # noqa: ANN401 - pyarrow is untyped
        require_columns(source, columns, data.column_names)
        taken = {}
        for column in columns:
            # Group-bys take neither dictionaries nor views.
            values, kind = data[column], data[column].type
            kind = kind.value_type if pa.types.is_dictionary(kind) else kind
            kind = pa.large_string() if pa.types.is_string_view(kind) else kind
            taken[safe_name(column)] = values if kind == values.type else values.cast(kind)
        self._frame, self.kinds = ARROW.read_kinds(pa.table(taken), columns)

    def frame(self, query: CountQuery) -> Frame:
        """Return the table; text that is not valid UTF-8 has no text."""
        query.require_one_declaration(self.kinds)
        table = replace_invalid_text(nw.to_native(self._frame), query.declared_columns())
        numbers = {number_name(name): name for name in query.measured_columns}
        numbers |= {name: read.column for name, read in query.readings.items() if read.reading == "number"}
        for name, column in numbers.items():
            if self.kinds[column] == "integer":
                # Arrow refuses to round integers to floats unless it is told to, by an error that values decide.
                table = table.append_column(name, pc.cast(table[safe_name(column)], pa.float64(), safe=False))
        return as_frame(table)


_NUMBER = re.compile(NUMBER)


class PandasFrame(Engine):
    """A frame of pandas."""

    name, dialect = "pandas", ARROW

    def __init__(self, source: str, data: Any, columns: Sequence[str], _: Path | None = None) -> None:  # noqa: ANN401 - pandas is untyped
        require_columns(source, columns, list(data.columns))
        # The Arrow types follow from the pandas types alone.
        self._data, empty = data, data.iloc[:0]
        types = dict.fromkeys(columns, pa.string())
        for name in columns:
            if not _holds_python(empty[name]):
                # No column of periods, intervals and the like is countable.
                types[name] = pa.list_(pa.null())
                with suppress(pa.ArrowException, TypeError, ValueError):
                    types[name] = pa.Array.from_pandas(empty[name]).type
        self.kinds = ArrowTable("", pa.schema(types).empty_table(), columns).kinds
        self.kinds |= {name: "object" for name in columns if empty[name].dtype == np.dtype(object)}

    def frame(self, query: CountQuery) -> Frame:
        """Return the columns of a query as Arrow, with Python objects and categories read as they are declared."""
        query.require_one_declaration(self.kinds)
        declared = query.declared_columns(self.kinds)
        table = pa.table({name: _array(self._data[name], column) for name, column in declared.items()})
        frame = ArrowTable("", table, list(declared)).frame(query)
        # Python values are read as numbers beside what they are as keys.
        for name in query.measured_columns:
            if _holds_python(self._data[name]):
                text = next(one.measure.text for one in query.measured if one.measure.column == name)
                floats = _read_each(self._data[name], _float, pa.float64(), text.nulls, text.number)
                frame = with_column(frame, number_name(name), floats)
        for name, read in query.readings.items():
            if _is_read_each(series := self._data[read.column]):
                values = _read_each(series, *_READ[read.reading], read.text.nulls, read.rewriting)
                frame = with_column(frame, name, values)
        return frame


def with_column(frame: Frame, name: str, values: pa.Array) -> Frame:
    """Return a frame with a column, in place of one that was read from codes of bins as if they were numbers."""
    table = nw.to_native(frame)
    table = table.drop_columns(name) if name in table.column_names else table
    return as_frame(table.append_column(name, values))


def _of_categories(series: Any) -> bool:  # noqa: ANN401 - a pandas series
    return getattr(series.dtype, "categories", None) is not None


def _holds_python(series: Any) -> bool:  # noqa: ANN401 - a pandas series
    """Return whether the values of a series are read one by one: Python objects, or categories."""
    return bool(series.dtype == np.dtype(object)) or _of_categories(series)


def _is_read_each(series: Any) -> bool:  # noqa: ANN401 - a pandas series
    """Return whether a filter reads the values of a series one by one: also text with half of a surrogate pair."""
    try:
        return _holds_python(series) or pa.Array.from_pandas(series) is None
    except UnicodeEncodeError:
        return True


def _array(series: Any, column: Column | None) -> pa.Array:  # noqa: ANN401 - a pandas series
    """Return a series as it is; of Python values texts, or their codes in the bins of a column."""
    if not _holds_python(series):
        # Text in Python's own strings may hold half of a surrogate pair, which is not text elsewhere.
        with suppress(UnicodeEncodeError):
            return pa.Array.from_pandas(series)
    if column is not None and column.kind == "bins":
        return _read_each(series, partial(_bin, column=column), pa.int64(), column.text.nulls, column.rewriting)
    # Texts are read as declared afterwards, with those of other frames.
    written = column.text.write if column is not None and column.kind == "date" else lambda _: None
    texts = partial(_text, instead=text_of_invalid(column), day=lambda day: written(day) or day.isoformat())
    return _read_each(series, texts, pa.string())


def _read_each(
    series: Any,  # noqa: ANN401 - of pandas
    read: Callable[[Any], object],
    kind: pa.DataType,
    nulls: Sequence[str] = (),
    rewriting: Rewriting | None = None,
) -> pa.Array:
    """Return what is read of the Python values of a series, null of null; of its categories each is read once."""
    values = series.cat.categories if _of_categories(series) else series

    def read_one(value: Any) -> object:  # noqa: ANN401 - any Python value
        if _is_null(value) or (nulls and _text(value, None) in nulls):
            return None
        return read(rewriting.of(value) if rewriting is not None and isinstance(value, str) else value)

    found = pa.array(map(read_one, values), kind)
    if not _of_categories(series):
        return found
    codes = series.cat.codes.to_numpy()
    return found.take(pa.array(codes, mask=codes < 0))


def _float(value: Any) -> float | None:  # noqa: ANN401 - any Python value
    if isinstance(value, bool | np.bool_):
        return float(value)
    number = float(str(value)) if isinstance(value, Decimal) and value.is_finite() else _number(value)
    try:
        return None if number is None else float(number)
    except OverflowError:
        # An integer beyond the floats.
        return math.copysign(math.inf, 1 if number > 0 else -1)  # type: ignore[operator]


def _is_null(value: Any) -> bool:  # noqa: ANN401 - any Python value
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, float | np.floating) and math.isnan(value)


def _text(value: Any, instead: str | None, day: Callable[[date], str] = date.isoformat) -> str | None:  # noqa: ANN401
    """Return the canonical text of a Python value."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return instead
        return value
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, numbers.Integral):
        return str(int(value)) if abs(int(value)) < 10**100 else instead
    if isinstance(value, date) and not isinstance(value, datetime):
        return day(value)
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if number.is_integer() and -(2.0**63) <= number < 2.0**63 else instead
    return instead


def _bin(value: Any, column: Column) -> int:  # noqa: ANN401 - any Python value
    """Return the code of a Python value in the bins of a column."""
    other = NOWHERE if column.other_code is None else column.other_code
    if column.dated:
        instants = [instant(edge) for edge in column.edges or ()]
        time = instant_of_value(value)
        return other if time is None or not instants[0] <= time < instants[-1] else bisect_right(instants, time) - 1
    number = _number(value)
    *lower, last = column.edges or ()
    # Python compares integers with floats exactly.
    if number is None or number < lower[0] or number > last:  # type: ignore[operator]
        return other
    return bisect_right(lower, number) - 1


def _number(value: Any) -> float | None:  # noqa: ANN401 - any Python value
    if isinstance(value, str):
        return float(value) if _NUMBER.fullmatch(value) else None
    if isinstance(value, numbers.Integral):
        return None if isinstance(value, bool) else int(value)
    return float(value) if isinstance(value, float | np.floating) else None


def _time(value: Any) -> str | None:  # noqa: ANN401 - any Python value
    """Return a date, a time or ISO text as ISO text in UTC."""
    microseconds = instant_of_value(value)
    if microseconds is None:
        return None
    return (datetime(1970, 1, 1) + timedelta(microseconds=microseconds)).isoformat(" ")  # noqa: DTZ001


# What a filter reads of Python values.
_READ: dict[Reading, tuple[Callable[[Any], object], pa.DataType]] = {
    # As in bins, of which none holds a truth.
    "number": (lambda value: None if isinstance(value, bool | np.bool_) else _float(value), pa.float64()),
    "text": (partial(_text, instead=None), pa.string()),
    "truth": (partial(_text, instead=None), pa.string()),
    "time": (_time, pa.string()),
    # There is a value; but null for text that is no UTF-8.
    "null": (lambda value: None if isinstance(value, str) and _text(value, None) is None else True, pa.bool_()),
}

# Before it, a column named like a pattern (^w.*$) is taken for another one, and a unit may be counted more than once.
OLDEST = (1, 36)


class _Polars(Dialect):
    def untyped_text(self, native: Any) -> set[str]:  # noqa: ANN401 - a frame of polars
        return {name for name, kind in native.collect_schema().items() if str(kind) == "Null"}

    def list_levels(self, native: Any, levels: Sequence[str], name: str, code: str, values: Values = None) -> Any:  # noqa: ANN401 - of polars
        import polars as pl

        kind = pl.Int64 if values is None else pl.String
        codes = range(len(levels)) if values is None else values
        found = pl.DataFrame({name: list(levels), code: codes}, {name: pl.String, code: kind})
        return found if isinstance(native, pl.DataFrame) else found.lazy()

    def keep_pairs(self, pairs: Frame, cell: Sequence[str], limits: UnitLimits) -> Frame:
        import polars as pl

        score = pl.col(UNIT).cast(pl.String).hash(limits.secret)
        for name in cell:
            score = (score ^ pl.col(name).hash(limits.secret)).hash(limits.secret)
        return keep_by_rank(as_frame(nw.to_native(pairs).with_columns(score.alias(SCORE))), cell, limits)


POLARS = _Polars()


class PolarsFrame(Engine):
    """A frame of polars."""

    name, dialect = "polars", POLARS

    def __init__(self, source: str, data: Any, columns: Sequence[str], _: Path | None = None) -> None:  # noqa: ANN401 - polars is untyped
        import polars as pl

        if tuple(map(int, pl.__version__.split(".")[:2])) < OLDEST:
            what = f"is not counted safely; install polars {'.'.join(map(str, OLDEST))} or newer"
            raise ArgumentError("data", f"polars {pl.__version__}", what)
        names = data.collect_schema().names()
        require_columns(source, columns, names)
        # Where no column is asked for, one stays: without any, a lazy frame may lose its rows.
        kept = columns or names[:1]
        taken = data.select(pl.nth(names.index(column)).alias(safe_name(column)) for column in kept)
        if isinstance(taken, pl.LazyFrame):
            # Predicates do not pass this.
            taken = taken.map_batches(lambda frame: frame, streamable=True)
        self._frame, self.kinds = POLARS.read_kinds(taken, columns)

    def frame(self, query: CountQuery) -> Frame:  # noqa: ARG002 - its text is always valid
        """Return the frame."""
        return self._frame
