"""Frames of pandas as Arrow tables, which they are counted as.

Most columns are taken over without a copy. A column of Python objects has no type of its own, so that its values are
read one by one, as the declared column would have them; see `ggdp.tables.engines.kinds`.
"""

from __future__ import annotations

import math
import numbers
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ggdp.tables.column import Column

__all__ = ["arrow_schema", "arrow_table"]


def arrow_schema(frame: Any, columns: Sequence[str]) -> tuple[pa.Schema, set[str]]:  # noqa: ANN401 - pandas is untyped
    """Return the Arrow types of columns, from their pandas types alone, and which are of Python objects."""
    objects = {name for name in columns if _of_objects(frame[name].dtype)}
    empty = frame.iloc[:0]
    return pa.schema([(name, pa.string() if name in objects else _type(empty[name])) for name in columns]), objects


def arrow_table(frame: Any, declared: Mapping[str, Column | None], objects: set[str]) -> pa.Table:  # noqa: ANN401
    """Return columns of a frame as Arrow; those of Python objects as texts, read as they are declared."""
    return pa.table(
        {
            name: _texts(frame[name], column) if name in objects else _array(frame[name], column)
            for name, column in declared.items()
        }
    )


def _of_objects(dtype: Any) -> bool:  # noqa: ANN401 - a pandas type
    categories = getattr(dtype, "categories", None)
    return dtype == np.dtype(object) or (categories is not None and categories.dtype == np.dtype(object))


def _type(empty: Any) -> pa.DataType:  # noqa: ANN401 - a pandas series without rows
    try:
        found = pa.Array.from_pandas(empty).type
    except (pa.ArrowException, TypeError, ValueError):
        # Periods, intervals and the like: no column of these is countable.
        return pa.list_(pa.null())
    return found


def _array(series: Any, column: Column | None) -> pa.Array:  # noqa: ANN401 - a pandas series
    try:
        return pa.Array.from_pandas(series)
    except UnicodeEncodeError:
        # Text in Python's own strings may hold half of a surrogate pair, which is no text elsewhere.
        return _texts(series, column)


def _texts(series: Any, column: Column | None) -> pa.Array:  # noqa: ANN401 - a pandas series
    # No level is as long as this: it stands for values that are none. As a key or a unit they are nowhere.
    declared = column is not None and column.kind != "open"
    unparsable = "\0" * (1 + max(map(len, column.texts), default=0)) if column is not None and declared else None
    binned = column is not None and column.kind == "bins"
    return pa.array([_text(value, unparsable, binned=binned) for value in series], pa.string())


def _text(value: Any, unparsable: str | None, *, binned: bool) -> str | None:  # noqa: ANN401 - any Python value
    """Return the canonical text of a Python value; None of what is null."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, str):
        return value if _is_unicode(value) else unparsable
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, numbers.Integral):
        return str(int(value)) if abs(int(value)) < 10**100 else unparsable
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, float | np.floating):
        number = float(value)
        if math.isnan(number):
            return None
        if number.is_integer() and abs(number) < 2.0**63:
            return str(int(number))
        # Of a bin a number is enough; the shortest text that rounds to it is read back as it.
        return repr(number) if binned and math.isfinite(number) else unparsable
    return unparsable


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
