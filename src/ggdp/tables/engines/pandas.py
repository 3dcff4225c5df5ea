"""Frames of pandas, converted to Arrow and counted as Arrow tables.

Most columns are taken over without a copy. A column of Python objects has no type of its own, and the type of
categories follows from which there are, so that these values are read one by one, as the declared column would have
them (see `ggdp.tables.engines.kinds`): as texts, or as codes of bins.
"""

from __future__ import annotations

import math
import numbers
import re
from bisect import bisect_right
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from ggdp.tables.engines.arrow import ARROW, ArrowTable
from ggdp.tables.engines.files import require_columns
from ggdp.tables.engines.frames import declared_columns, framed, require_one_declaration
from ggdp.tables.engines.kinds import NOWHERE, NUMBER, unparsable
from ggdp.tables.engines.protocol import Engine
from ggdp.tables.engines.values import number_name
from ggdp.tables.periods import instant, instant_of_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ggdp.tables.column import Column
    from ggdp.tables.engines.frames import Frame
    from ggdp.tables.engines.sources import CountQuery

_NUMBER = re.compile(NUMBER)


class PandasFrame(Engine):
    """A frame of pandas."""

    name, dialect = "pandas", ARROW

    def __init__(self, source: str, data: Any, columns: Sequence[str]) -> None:  # noqa: ANN401 - pandas is untyped
        require_columns(source, columns, list(data.columns))
        self._data, empty = data, data.iloc[:0]
        # The Arrow types follow from the pandas types alone.
        objects = {name for name in columns if _of_objects(empty[name].dtype)}
        texts = {*objects, *(name for name in columns if _of_categories(empty[name].dtype))}
        schema = pa.schema([(name, pa.string() if name in texts else _type(empty[name])) for name in columns])
        self.kinds = ArrowTable("", schema.empty_table(), columns).kinds | dict.fromkeys(objects, "object")

    def frame(self, query: CountQuery) -> Frame:
        """Return the columns of a query as Arrow, with Python objects and categories read as they are declared."""
        require_one_declaration(query, self.kinds)
        declared = declared_columns(query, self.kinds)
        table = pa.table({name: _array(self._data[name], column) for name, column in declared.items()})
        frame = ArrowTable("", table, list(declared)).frame(query)
        # Python values are read as numbers beside what they are as keys.
        for name in dict.fromkeys(summed.measure.column for summed in query.measured):
            dtype = self._data[name].dtype
            if _of_objects(dtype) or _of_categories(dtype):
                frame = framed(nw.to_native(frame).append_column(number_name(name), _numbers(self._data[name])))
        return frame


def _of_objects(dtype: Any) -> bool:  # noqa: ANN401 - a pandas type
    return bool(dtype == np.dtype(object))


def _of_categories(dtype: Any) -> bool:  # noqa: ANN401 - a pandas type
    return getattr(dtype, "categories", None) is not None


def _type(empty: Any) -> pa.DataType:  # noqa: ANN401 - a pandas series without rows
    try:
        found = pa.Array.from_pandas(empty).type
    except (pa.ArrowException, TypeError, ValueError):
        # Periods, intervals and the like: no column of these is countable.
        return pa.list_(pa.null())
    return found


def _array(series: Any, column: Column | None) -> pa.Array:  # noqa: ANN401 - a pandas series
    if _of_categories(series.dtype):
        codes = series.cat.codes.to_numpy()
        return _read(series.cat.categories, column).take(pa.array(codes, mask=codes < 0))
    if _of_objects(series.dtype):
        return _read(series, column)
    try:
        return pa.Array.from_pandas(series)
    except UnicodeEncodeError:
        # Text in Python's own strings may hold half of a surrogate pair, which is not text elsewhere.
        return _read(series, column)


def _read(values: Iterable[Any], column: Column | None) -> pa.Array:
    """Return texts of Python values, or their codes in the bins of a column."""
    if column is not None and column.kind == "bins":
        return pa.array([_bin(value, column) for value in values], pa.int64())
    instead = unparsable(column)
    return pa.array([_text(value, instead) for value in values], pa.string())


def _numbers(series: Any) -> pa.Array:  # noqa: ANN401 - a pandas series
    """Return Python values as floats; null if they are not numbers."""
    if _of_categories(series.dtype):
        codes = series.cat.codes.to_numpy()
        return _numbers_of(series.cat.categories).take(pa.array(codes, mask=codes < 0))
    return _numbers_of(series)


def _numbers_of(values: Iterable[Any]) -> pa.Array:
    return pa.array([None if _is_null(value) else _float(value) for value in values], pa.float64())


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


def _text(value: Any, instead: str | None) -> str | None:  # noqa: ANN401 - any Python value
    """Return the canonical text of a Python value; None of what is null."""
    if _is_null(value):
        return None
    if isinstance(value, str):
        return value if _is_unicode(value) else instead
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, numbers.Integral):
        return str(int(value)) if abs(int(value)) < 10**100 else instead
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if number.is_integer() and -(2.0**63) <= number < 2.0**63 else instead
    return instead


def _bin(value: Any, column: Column) -> int | None:  # noqa: ANN401 - any Python value
    """Return the code of a Python value in the bins of a column; None of what is null."""
    if _is_null(value):
        return None
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


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
