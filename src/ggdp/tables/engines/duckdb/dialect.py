"""SQL for DuckDB, where narwhals has no expression or a slower one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw

from ggdp.tables.engines.cells import CELL, COUNT, writable
from ggdp.tables.engines.contributions import DIGITS, ROWS, UNIT, UnitLimits
from ggdp.tables.engines.frames import framed, joined, safe_name
from ggdp.tables.engines.kinds import NOWHERE, binned, canonical, is_missing
from ggdp.tables.engines.protocol import Dialect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ggdp.tables.domain import Domain
    from ggdp.tables.engines.frames import Frame

__all__ = ["DUCKDB"]

# A marginal of more cells may have as many groups.
_MANY_CELLS = 1 << 18
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

    def kept_pairs(self, frame: Frame, cell: Sequence[str], limits: UnitLimits) -> Frame:
        # As elsewhere, but the window is only over units with too many cells: four times as fast where these are few.
        max_cells, max_rows = limits.max_cells, limits.max_rows
        kept, shown = ", ".join(cell), ", ".join(limits.shown(cell))
        counted = "" if max_rows is None else f", least(count(*), {max_rows}) AS {ROWS}"
        parts = "".join(f" || ':' || {_escaped(name)}" for name in cell)
        score = f"substr(sha256('{limits.secret}:' || CAST({UNIT} AS VARCHAR){parts}), 1, {DIGITS})"
        query = f"""
            WITH pairs AS MATERIALIZED (SELECT {UNIT}, {kept}{counted} FROM ggdp_coded GROUP BY {UNIT}, {kept}),
            crowded AS MATERIALIZED (SELECT {UNIT} FROM pairs GROUP BY {UNIT} HAVING count(*) > {max_cells})
            SELECT {shown} FROM pairs ANTI JOIN crowded USING ({UNIT})
            UNION ALL
            SELECT {shown} FROM pairs SEMI JOIN crowded USING ({UNIT})
            QUALIFY row_number() OVER (PARTITION BY {UNIT} ORDER BY {score}, {kept}) <= {max_cells}"""
        return framed(nw.to_native(frame).query("ggdp_coded", query))

    def direct_cells(self, frame: Frame, marginal: Domain, kinds: Mapping[str, str]) -> Frame | None:
        # One number for each row is grouped faster than many texts; and the query is bound once.
        if marginal.size <= _MANY_CELLS:
            return None
        schema, values, joins, index = frame.collect_schema(), [], "", "0"
        codes: list[str] = []
        for place, column in enumerate(marginal):
            value, kind = nw.col(safe_name(column.name)), kinds[column.name]
            if column.kind == "bins":
                values.append(binned(value, kind, column, schema[safe_name(column.name)], self).alias(f"k{place}"))
                code = f"nullif(k{place}, {NOWHERE})"
            else:
                values.append(canonical(writable(self, value, kind), kind, column.kind).alias(f"t{place}"))
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


DUCKDB = _Duckdb()


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


def _escaped(name: str) -> str:
    text = f"CAST({name} AS VARCHAR)"
    return f"replace(replace({text}, '~', '~0'), ':', '~1')" if name.startswith("t") else text
