"""Random expressions and look-ups, their text, and what they are in each row, in plain Python.

A term is a number, a text, or a tuple: ``("number", column)`` and ``("text", column)`` for a column that is read so,
``("year", column)`` and the like, ``("+", a, b)`` and the like, ``("lower", a)``, ``("trim", a)``, ``("coalesce", a,
b)``, ``("case", filter, a, b)`` with a filter of `tests.fuzz.filters`, ``("truth", filter)``; or ``("lookup", column,
((key, value), ...))``. No code is shared with `ggdp.domain.filters`, which reads the text.
"""

from __future__ import annotations

import csv
import hashlib
import math
import random
import string
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.fuzz import filters, reference

from ggdp.domain.table_domain import Domain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.fuzz.tables import Case, Field

    from ggdp.domain.filters import Derived

_ARITHMETIC = ("+", "-", "*", "/")


def sql(term: Any) -> str:
    """Return the text of a term."""
    if not isinstance(term, tuple):
        return "null" if term is None else filters._literal(term)
    kind, *parts = term
    if kind in ("number", "text"):
        return filters._name(parts[0])
    if kind in ("year", "month", "weekday"):
        return f"{kind}({filters._name(parts[0])})"
    if kind in _ARITHMETIC:
        return f"({sql(parts[0])}) {kind} ({sql(parts[1])})"
    if kind == "case":
        return f"CASE WHEN {filters.sql(parts[0])} THEN {sql(parts[1])} ELSE {sql(parts[2])} END"
    return filters.sql(parts[0]) if kind == "truth" else f"{kind}({', '.join(map(sql, parts))})"


def read_by(term: Any) -> list[str]:
    """Return the columns that a term reads."""
    if not isinstance(term, tuple):
        return []
    kind, *parts = term
    if kind in ("number", "text", "year", "month", "weekday", "lookup"):
        return [parts[0]]
    found = filters.columns_of(parts[0]) if kind in ("case", "truth") else []
    return found + [name for part in parts[kind in ("case", "truth") :] for name in read_by(part)]


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="ggdp-look-ups-"))


def made(case: Case) -> Derived:
    """Return the derived columns of a case as a source takes them."""
    found = []
    for name, term in case.derived:
        declared: dict[str, Any] = {"expression": sql(term)}
        if term[0] == "lookup":
            file = _folder() / f"{hashlib.sha256(repr((name, term)).encode()).hexdigest()}.csv"
            with file.open("w", newline="", encoding="utf-8") as lines:
                csv.writer(lines).writerows([("key", "value"), *((key, one or "") for key, one in term[2])])
            declared = {"lookup": file, "key": term[1]}
        # A column alone is read as what is declared of it.
        read = {"edges": [0, 1]} if term[0] == "number" else {"levels": ["?"]}
        found.append((name, Domain({name: {**declared, **read}})[name].term))
    return tuple(found)


def with_derived(rows: Iterable[dict[str, Any]], derived: Sequence[tuple[str, Any]]) -> Iterable[dict[str, Any]]:
    """Return rows with their derived columns."""
    return ({**row, **{name: value(term, row) for name, term in derived}} for row in rows) if derived else rows


def value(term: Any, row: dict[str, Any]) -> Any:
    """Return what a term is in a row: a finite number, a text, a truth, or None."""
    if not isinstance(term, tuple):
        return float(term) if isinstance(term, int | float) else term
    kind, *parts = term
    if kind == "lookup":
        return dict(parts[1]).get(_read(row.get(parts[0]), ""))
    if kind == "truth":
        return filters.holds(parts[0], row)
    if kind == "case":
        return value(parts[1] if filters.holds(parts[0], row) is True else parts[2], row)
    if kind == "coalesce":
        return next((found for part in parts if (found := value(part, row)) is not None), None)
    if kind in ("year", "month", "weekday"):
        return None if (found := filters._part(kind, row.get(parts[0]))) is None else float(found)
    if kind == "text":
        return _read(row.get(parts[0]), "")
    if kind in ("lower", "upper", "trim"):
        return None if (text := value(parts[0], row)) is None else _rewritten(kind, text)
    number = _number(term, row)
    return None if number is None or not math.isfinite(number) else number


def _rewritten(kind: str, text: str) -> str:
    if kind == "trim":
        return text.strip(" ")
    letters = string.ascii_uppercase if kind == "lower" else string.ascii_lowercase
    return "".join(one.swapcase() if one in letters else one for one in text)


def _number(term: Any, row: dict[str, Any]) -> float | None:
    """Return a number, which is not finite where an operation overflowed."""
    if not isinstance(term, tuple) or term[0] not in ("number", *_ARITHMETIC):
        found = value(term, row)
        return None if found is None else float(found)
    kind, *parts = term
    if kind == "number":
        found = _read(row.get(parts[0]), 0)
        return None if found is None else float(found)
    left, right = (_number(part, row) for part in parts)
    if left is None or right is None:
        return None
    if kind == "/":
        return left / right if right and math.isfinite(right) else None
    return left + right if kind == "+" else left - right if kind == "-" else left * right


def _read(found: Any, compared: Any) -> Any:
    is_null = found is None or found is reference.UNREADABLE or (isinstance(found, float) and math.isnan(found))
    is_null = is_null or (isinstance(found, str) and found != "" and not found.strip("\0"))
    return None if is_null else filters._read(found, compared)


def derived_case(case: Case) -> Case:
    """Return a case that is counted by derived columns as well, and perhaps filtered by them."""
    rng = random.Random(f"{case.seed} derived")
    fields = [field for field in case.table.fields if filters._is_printable(field.name) and field.name != "derived"]
    if not fields:
        return case
    ways = [way for way in ("number", "number", "text", "truth", "lookup") if _fitting(way, fields)]
    way = rng.choice(ways) if ways else "truth"
    term = _lookup(rng, case, fields) if way == "lookup" else _term(rng, case, fields, way, 3)
    if not read_by(term):
        return case
    name = rng.choice(("derived", "D", "new one"))
    while name in case.table.names:
        name += "_"
    full = {"other": "(other)", "missing": "(missing)"}
    declared = {
        "number": rng.choice(({"edges": [0, 1, 1.5, 100]}, {"levels": [0, 1, 2, 35, 2020]}, None)),
        "truth": rng.choice(({"levels": [True, False]}, {"levels": ["true"]}, None)),
    }.get(way, rng.choice(({"levels": ["a", "x", "1", "true"]}, {"edges": [0, 1, 2]}, None)))
    declared = declared and {**declared, **(full if rng.random() < 0.7 else {})}
    marginals = tuple({**marginal, name: declared} for marginal in case.marginals)
    found = replace(case, marginals=marginals, derived=((name, term),))
    return filters.filtered_case(found) if rng.random() < 0.3 else found


def _fitting(way: str, fields: Sequence[Field]) -> list[Field]:
    """Return the columns that can be read as numbers, text, ..., by their types alone."""
    without = {"number": ("date32", "timestamp"), "truth": ()}.get(way, ("decimal", "timestamp"))
    if way == "date":
        return [field for field in fields if field.type in ("text", "category", "date32")]
    return [field for field in fields if field.type not in without]


def _term(rng: random.Random, case: Case, fields: Sequence[Field], way: str, depth: int) -> Any:
    if way == "truth":
        return "truth", filters._random_filter(rng, case, fields, 1)
    kinds = ["coalesce", "case", *(_ARITHMETIC if way == "number" else ("lower", "upper", "trim"))] if depth else []
    kind = rng.choice([*kinds, "column", "column", "value", "part"])
    if kind in (*_ARITHMETIC, "coalesce"):
        parts = [_term(rng, case, fields, way, depth - 1) for _ in range(2)]
        # Columns alone do not say that they are numbers.
        return (kind, *parts, *((rng.choice((0, 1, 7)),) if kind == "coalesce" and way == "number" else ()))
    if kind in ("lower", "upper", "trim"):
        return kind, _term(rng, case, fields, way, depth - 1)
    if kind == "case":
        parts = [rng.choice((1, 2.5) if way == "number" else ("a", "x")), _term(rng, case, fields, way, depth - 1)]
        if rng.random() < 0.2:
            parts[1] = None
        return kind, filters._random_filter(rng, case, fields, 1), *rng.sample(parts, 2)
    dates = _fitting("date", fields)
    if kind == "part" and way == "number" and dates:
        return rng.choice(("year", "month", "weekday")), rng.choice(dates).name
    columns = _fitting(way, fields)
    if kind == "value" or not columns:
        return rng.choice((0, 1, 7, 0.1, 49, -2.5, 1e15) if way == "number" else ("a", "b", " x ", "It's É", "1"))
    return way, rng.choice(columns).name


def _lookup(rng: random.Random, case: Case, fields: Sequence[Field]) -> Any:
    field = rng.choice(_fitting("text", fields))
    there = (
        reference._text(one, "text") for one in case.table.values(field.name) if isinstance(one, str | int | float)
    )
    texts = [text for text in there if text and not any("\ud800" <= one <= "\udfff" for one in text)]
    keys = dict.fromkeys(rng.choice([*texts, "a", "01", "1", "true"]) for _ in range(rng.randint(1, 6)))
    values = [rng.choice(("a", "x", "1", "é,\n", None)) for _ in keys]
    values[0] = values[0] or "a"
    return "lookup", field.name, tuple(zip(keys, values, strict=True))
