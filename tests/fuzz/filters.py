"""Random filters, their text, and which rows they keep, in plain Python with the three truths of SQL.

A filter is a tuple: ``("and", a, b)``, ``("or", a, b)``, ``("not", a)``, ``("is null", column)``,
``("=", column, value)`` and the like, ``("in", column, [values])``, ``("between", column, low, high)``,
``("like", column, pattern)``; a column may be ``("year", column)``. No code is shared with `ggdp.domain.filters`,
which reads the text.
"""

from __future__ import annotations

import math
import random
import re
import unicodedata
from dataclasses import replace
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from tests.fuzz import reference

from ggdp.domain.filters import parse_filter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tests.fuzz.tables import Case, Field

    from ggdp.domain.filters import Filter

_COMPARED = ("=", "<>", "!=", "<", "<=", ">", ">=")
_DAYS = (date(2020, 1, 2), date(1, 1, 1), date(9999, 12, 31), datetime(1970, 1, 1, 0, 0, 0, 1), datetime(2001, 9, 9, 1))  # noqa: DTZ001


def parsed(where: tuple[Any, ...] | None) -> Filter | None:
    return None if where is None else parse_filter(sql(where))


def columns_of(where: tuple[Any, ...] | None) -> list[str]:
    if where is None:
        return []
    if where[0] in ("and", "or", "not"):
        return [name for part in where[1:] for name in columns_of(part)]
    return [where[1][1] if isinstance(where[1], tuple) else where[1]]


def sql(where: tuple[Any, ...]) -> str:
    """Return the text of a filter."""
    kind, *parts = where
    if kind in ("and", "or"):
        return f" {kind} ".join(f"({sql(part)})" for part in parts)
    if kind == "not":
        return f"not ({sql(parts[0])})"
    column, *values = parts
    name = f"{column[0]}({_name(column[1])})" if isinstance(column, tuple) else _name(column)
    if kind == "is null":
        return f"{name} is null"
    if kind == "between":
        return f"{name} between {_literal(values[0])} and {_literal(values[1])}"
    if kind == "in":
        return f"{name} IN ({', '.join(map(_literal, values[0]))})"
    return f"{name} {kind} {_literal(values[0])}"


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _literal(value: Any) -> str:
    if isinstance(value, datetime):
        return f"TIMESTAMP '{value.isoformat(' ')}'"
    if isinstance(value, date):
        return f"date '{value}'"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def kept_rows(rows: Iterable[dict[str, Any]], where: tuple[Any, ...] | None) -> Iterable[dict[str, Any]]:
    return rows if where is None else [row for row in rows if holds(where, row) is True]


def holds(where: tuple[Any, ...], row: dict[str, Any]) -> bool | None:
    """Return whether a filter is true, false or unknown for a row."""
    kind, *parts = where
    if kind == "not":
        found = holds(parts[0], row)
        return None if found is None else not found
    if kind in ("and", "or"):
        truths, decides = [holds(part, row) for part in parts], kind == "or"
        return decides if decides in truths else None if None in truths else not decides
    column, *values = parts
    value = row.get(column[1] if isinstance(column, tuple) else column)
    is_null = value is None or value is reference.UNREADABLE or (isinstance(value, float) and math.isnan(value))
    is_null = is_null or (isinstance(value, str) and value != "" and not value.strip("\0"))
    if kind == "is null":
        return is_null
    if is_null:
        return None
    compared = values[0] if kind == "in" else values
    read = _part(column[0], value) if isinstance(column, tuple) else _read(value, compared[0])
    if read is None:
        return None
    compared = [_time(one) if isinstance(one, date) else one for one in compared]
    if kind == "like":
        return _matches(read, compared[0])
    if kind == "between":
        return compared[0] <= read <= compared[1]
    if kind == "in":
        return read in compared
    return {
        "=": read == compared[0],
        "<>": read != compared[0],
        "!=": read != compared[0],
        "<": read < compared[0],
        "<=": read <= compared[0],
        ">": read > compared[0],
        ">=": read >= compared[0],
    }[kind]


def _read(value: Any, compared: Any) -> Any:
    """Return a value as what it is compared with; None if it is not that."""
    if isinstance(compared, bool):
        text = reference._text(value, "boolean")
        return {"true": True, "false": False}.get(text)
    if isinstance(compared, str):
        return reference._text(value, "text")
    if isinstance(compared, date):
        return _time(value)
    if isinstance(value, str):
        return float(value) if re.fullmatch(reference._NUMBER, value) else None
    if isinstance(value, Decimal):
        return float(value)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _time(value: Any) -> tuple[datetime, int] | None:
    """Return a time as microseconds, and the nanoseconds that are left."""
    left = 0
    if isinstance(value, str):
        found = re.fullmatch(r"([0-9]{4}-[0-9]{2}-[0-9]{2})([ T][0-9]{2}:[0-9]{2}(:[0-9]{2})?)?(\.[0-9]{1,9})?", value)
        if not found or (found[4] and not found[3]):
            return None
        digits = (found[4] or ".")[1:].ljust(9, "0")
        try:
            clock = time.fromisoformat(found[2][1:]) if found[2] else time()
            value = datetime.combine(date.fromisoformat(found[1]), clock).replace(microsecond=int(digits[:6]))
        except ValueError:
            return None
        left = int(digits[6:])
    if isinstance(value, datetime):
        return value, left
    return (datetime.combine(value, time()), 0) if isinstance(value, date) else None


def _part(part: str, value: Any) -> int | None:
    read = _time(value)
    if read is None:
        return None
    return {"year": read[0].year, "month": read[0].month, "weekday": read[0].isoweekday()}[part]


def _matches(text: str, pattern: str) -> bool:
    """Return whether a text is like a pattern, by the prefixes of the pattern that each prefix of it is like."""
    known = [True] + [False] * len(pattern)
    for place, mark in enumerate(pattern):
        known[place + 1] = known[place] and mark == "%"
    for letter in text:
        before, known = known, [False] * (len(pattern) + 1)
        for place, mark in enumerate(pattern):
            if mark == "%":
                known[place + 1] = before[place + 1] or known[place]
            else:
                known[place + 1] = before[place] and mark in ("_", letter)
    return known[-1]


def filtered_case(case: Case) -> Case:
    """Return a case with a filter of its seed, which asks for values that its table has."""
    rng = random.Random(f"{case.seed} filtered")
    fields = [field for field in case.table.fields if _is_printable(field.name)]
    return replace(case, where=_random_filter(rng, case, fields, 3)) if fields else case


def _is_printable(text: str) -> bool:
    return all(unicodedata.category(character) not in ("Cc", "Cs") for character in text)


def _random_filter(rng: random.Random, case: Case, fields: Sequence[Field], depth: int) -> tuple[Any, ...]:
    way = rng.choice(("and", "or", "not", *["one"] * (5 - depth)))
    if depth and way != "one":
        parts = [_random_filter(rng, case, fields, depth - 1) for _ in range(1 if way == "not" else 2)]
        return way, *parts
    field = rng.choice(fields)
    there = [value for value in case.table.values(field.name) if value is not None]
    return rng.choice(list(_conditions(rng, field, there)))


def _conditions(rng: random.Random, field: Field, there: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield conditions on a column, one for each reading that its type has."""
    name, kind = field.name, field.type
    yield "is null", name
    pools: list[Sequence[Any]] = []
    if kind not in ("date32", "timestamp"):
        found = [float(value) if isinstance(value, Decimal) else value for value in there]
        known = [n for n in found if isinstance(n, int | float) and not isinstance(n, bool) and abs(n) <= 2**53]
        pools.append([*(n for n in known if not math.isnan(n)), 0, 1, 1.5, -2, 7, 35, 2**53])
    if kind not in ("decimal", "timestamp"):
        texts = [str(value) for value in there if _is_printable(str(value))]
        pools.append([*texts, "a", "b", "", "1", "2020-01-02", "it's", "é"])
        pattern = "".join(rng.choice((c, c, c, "_", "%")) for c in rng.choice(pools[-1])[:6])
        yield "like", name, pattern + rng.choice(("", "", "%"))
    if kind in ("text", "category", "bool"):
        pools.append([True, False])
    if kind in ("text", "category", "date32", "timestamp"):
        pools.append(_DAYS)
        if kind != "timestamp":
            yield rng.choice(_COMPARED), ("month", name), rng.randint(1, 12)
            yield "in", ("weekday", name), [rng.randint(1, 7), rng.randint(1, 7)]
        yield rng.choice(_COMPARED), ("year", name), rng.choice((1, 1969, 1970, 2001, 2020, 9999))
    for pool in pools:
        is_truth = isinstance(pool[0], bool)
        yield rng.choice(_COMPARED[:2] if is_truth else _COMPARED), name, rng.choice(pool)
        yield "in", name, [rng.choice(pool) for _ in range(rng.randint(1, 3))]
        if not is_truth:
            yield "between", name, rng.choice(pool), rng.choice(pool)
