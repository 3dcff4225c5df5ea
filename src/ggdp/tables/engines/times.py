"""Time stamps of an engine compared with edges, exactly: each in its own unit, those with a time zone in UTC.

========  ==========================================================
tick      a whole number of the column's unit: a day, s, ms, us, ns
ceiling   the first tick that is not before an edge
========  ==========================================================

Claim. A value v, which is a tick, is at or after an edge e if and only if it is at or after the ceiling of e. A ceiling
after the last tick of the year 9999 is reached by what is after that tick alone. Nothing is cast but literals, which
the declaration alone decides, so no value can make a query fail.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import narwhals as nw

from ggdp.errors import ArgumentError
from ggdp.tables import periods

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from ggdp.tables.engines.protocol import Dialect

# Microseconds of a unit. Nanoseconds are compared with whole microseconds, which are ticks of theirs.
_TICKS = {"s": 1_000_000, "ms": 1000, "us": 1, "ns": 1}
_DAY = 86_400_000_000
_FIRST, _LAST = (int(periods.instant(time)) for time in (datetime.min, datetime.max))  # noqa: DTZ901
# What nanoseconds of 64 bits can hold, in microseconds.
_NANOSECONDS = (-(2**63) // 1000 + 1, (2**63 - 1) // 1000)


def time_conditions(
    value: nw.Expr, edges: Sequence[Any], dtype: nw.dtypes.DType, dialect: Dialect
) -> list[nw.Expr | bool]:
    """Return whether days or time stamps reach each edge; times before year 1 reach none, those after 9999 all."""
    unit = getattr(dtype, "time_unit", None)
    step = _DAY if unit is None else _TICKS[unit]

    def reaches(edge: Any) -> nw.Expr | bool:  # noqa: ANN401 - a date or a time, or infinite
        least = periods.instant(edge)
        ceiling = _FIRST if least < _FIRST else _LAST + 1 if least > _LAST else -(-int(least) // step) * step
        if unit == "ns" and not _NANOSECONDS[0] <= ceiling <= _NANOSECONDS[1]:
            return ceiling < 0
        if ceiling > _LAST:
            return value > _literal(_LAST // step * step, dtype, dialect)
        return value >= _literal(ceiling, dtype, dialect)

    return [reaches(edge) for edge in edges]


def require_exact_times(name: str, kind: pa.DataType) -> None:
    """Refuse time stamps of a Parquet file that engines convert when they read them, and fail where one is large."""
    import pyarrow as pa

    if pa.types.is_timestamp(kind) and kind.unit in ("s", "ms"):
        raise ArgumentError(
            "column",
            name,
            f"is of type {kind}, which is not read safely from Parquet files: write it in microseconds, or read the "
            "file with pyarrow or polars and pass the table",
        )


def _literal(microseconds: int, dtype: nw.dtypes.DType, dialect: Dialect) -> nw.Expr:
    """Return an instant as a literal of a column's own type."""
    time = datetime(1970, 1, 1) + timedelta(microseconds=microseconds)  # noqa: DTZ001
    return dialect.date_literal(time.date()) if isinstance(dtype, nw.Date) else dialect.time_literal(time, dtype)
