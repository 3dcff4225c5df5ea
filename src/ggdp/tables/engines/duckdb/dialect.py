"""SQL for DuckDB, where narwhals has no expression or a slower one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw

from ggdp.tables.engines.cells import CELL, COUNT, writable
from ggdp.tables.engines.contributions import UNIT, UnitLimits
from ggdp.tables.engines.frames import framed, joined, safe_name
from ggdp.tables.engines.kinds import NOWHERE, binned, canonical, is_missing
from ggdp.tables.engines.protocol import Dialect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ggdp.tables.domain import Domain
    from ggdp.tables.engines.frames import Frame

# No text of a domain is split by it: levels are separated by a character that none of them holds.
_SEPARATORS = [chr(code) for code in (31, 30, 29, 28, *range(0xE000, 0xE100))]


class _Duckdb(Dialect):
    wide_sums = True

    def untyped_text(self, native: Any) -> set[str]:  # noqa: ANN401 - a relation
        types = zip(native.columns, map(str, native.types), strict=True)
        return {name for name, kind in types if kind in ("UUID", '"NULL"', "NULL")}

    def looked_up(self, frame: Frame, text: str, levels: Sequence[str], code: str) -> Frame:
        relation = nw.to_native(frame)
        return joined(frame, text, lambda name: relation.query("ggdp_unused", _levels(levels, name, code)))

    def kept_pairs(self, pairs: Frame, cell: Sequence[str], limits: UnitLimits) -> Frame:
        schema = pairs.collect_schema()
        score = f"hash(xor(CAST({limits.secret} AS UBIGINT), {_hashed_unit(schema[UNIT])}))"
        for name in cell:
            score = f"hash(xor({score}, hash({name})))"
        # By rank(), since DuckDB makes a list for each unit of row_number(), which takes longer.
        query = f"""
            SELECT {", ".join(schema.names())} FROM ggdp_pairs
            QUALIFY rank() OVER (PARTITION BY {UNIT} ORDER BY {score}, {", ".join(cell)}) <= {limits.max_cells}"""
        return framed(nw.to_native(pairs).query("ggdp_pairs", query))


DUCKDB = _Duckdb()


def coded_cells(frame: Frame, marginal: Domain, kinds: Mapping[str, str]) -> Frame:
    """Return the non-empty cells of a declared marginal from one query.

    One number for each row is grouped faster than many texts, and the query is bound once.
    """
    schema, values, joins, index = frame.collect_schema(), [], "", "0"
    codes: list[str] = []
    for place, column in enumerate(marginal):
        value, kind = nw.col(safe_name(column.name)), kinds[column.name]
        if column.kind == "bins":
            values.append(binned(value, kind, column, schema[safe_name(column.name)], DUCKDB).alias(f"k{place}"))
            code = f"nullif(k{place}, {NOWHERE})"
        else:
            values.append(canonical(writable(DUCKDB, value, kind), kind, column.kind).alias(f"t{place}"))
            values.append(is_missing(value, kind).alias(f"a{place}"))
            levels = _levels(column.texts, f"l{place}", f"j{place}")
            joins += f" LEFT JOIN ({levels}) ON t{place} = l{place}"
            missing, other = (
                "NULL" if code is None else str(code) for code in (column.missing_code, column.other_code)
            )
            code = f"CASE WHEN a{place} THEN {missing} ELSE coalesce(j{place}, {other}) END"
        codes.append(f"CAST({code} AS BIGINT)")
        index = f"({index}) * {column.size} + CAST({code} AS BIGINT)"
    for pattern in marginal.impossible_codes:
        falls = " AND ".join(f"{codes[place]} = {code}" for place, code in pattern.items())
        index = f"CASE WHEN {falls} THEN NULL ELSE {index} END"
    # A row that is not counted in a column has no index: arithmetic with a null gives a null.
    query = f"""
        SELECT {CELL}, count(*) AS {COUNT} FROM (SELECT {index} AS {CELL} FROM ggdp_texts{joins})
        WHERE {CELL} IS NOT NULL GROUP BY {CELL}"""
    return framed(nw.to_native(frame.select(*values)).query("ggdp_texts", query))


def _levels(levels: Sequence[str], name: str, code: str) -> str:
    """Return a query for levels and codes: one literal, since rows of VALUES are slow to parse."""
    text = "".join(levels)
    separator = next((mark for mark in _SEPARATORS if mark not in text), None)
    numbered = f"unnest(l) AS {name}, generate_subscripts(l, 1) - 1 AS {code}"
    if separator is None or "\0" in text:
        items = ", ".join(_literal(level) for level in levels)
        return f"SELECT {numbered} FROM (SELECT [{items}] AS l)"
    split = f"string_split({_literal(separator.join(levels))}, {_literal(separator)})"
    return f"SELECT {numbered} FROM (SELECT {split} AS l)"


def _literal(text: str) -> str:
    # A parser takes no NUL inside a statement.
    return " || chr(0) || ".join("'" + part.replace("'", "''") + "'" for part in text.split("\0"))


def _hashed_unit(dtype: nw.dtypes.DType) -> str:
    """Return a hash of a unit that is a function of its text, but takes no text of an integer.

    Text that DuckDB can read as an integer of 64 bits has the hash of that integer, and so has the integer.
    """
    if dtype in (nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32):
        # A negative number has other hashes in other types.
        return f"hash(CAST({UNIT} AS BIGINT))"
    text = f"CAST({UNIT} AS VARCHAR)"
    number = f"TRY_CAST({text} AS BIGINT)"
    # The hash of a null is a number too.
    return f"CASE WHEN {number} IS NULL THEN hash({text}) ELSE hash({number}) END"
