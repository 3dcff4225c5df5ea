"""Counting the non-empty cells of a marginal inside an engine, in three stages.

======  ==============================================================================================================
stage   what it does
======  ==============================================================================================================
1       takes the needed columns, bins numbers, and groups by raw values, so that the cost is that of a plain group-by
2       finds canonical texts and joins them with the frame of levels, a code for each column, one index for each cell
3       adds up what is in each cell; only non-empty cells leave the engine, sorted afterwards
======  ==============================================================================================================

With a column of units the rows are not grouped first: each is given its cell, distinct pairs of units and cells are
bounded (`ggdp.tables.engines.bounding`), and the units in each cell, or their rows, are counted. Nor are they where
DuckDB counts a marginal of many cells: one number for each row is grouped faster than many texts.

Columns are renamed by their places (``c0``, ``c1``, ..., codes ``k0``, ..., texts ``t0``, ...), so that no name of
a table can collide with another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import narwhals as nw

from ggdp.tables.engines import bounding, native
from ggdp.tables.engines.kinds import NOWHERE, binned, canonical, is_missing, unit_value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ggdp.tables.column import Column
    from ggdp.tables.domain import Domain

__all__ = ["Asked", "Bounds", "Keep", "cells", "crowded", "impossible_codes", "keys"]

UNIT, COUNT, CELL = "u", "count", "cell"
# A marginal of more cells may have as many groups.
_MANY_CELLS = 1 << 18


# What computes a frame once where it is asked several times; None where an engine has nothing for it.
Keep: TypeAlias = "Callable[[native.Frame], native.Frame]"


class Bounds(NamedTuple):
    """The unit of a query, and what bounds its cells in one marginal; its rows too, where rows are counted."""

    unit: str
    max_cells: int
    secret: str
    max_rows: int | None = None


class Asked(NamedTuple):
    """What is asked of an engine: a marginal of a frame, by rows or by units."""

    engine: str
    frame: native.Frame
    marginal: Domain
    kinds: Mapping[str, str]
    bounds: Bounds | None
    keep: Keep | None

    @property
    def carried(self) -> str:
        """The column that is counted: how many rows there are, or which unit."""
        return COUNT if self.bounds is None else UNIT


def cells(asked: Asked) -> native.Frame:
    """Return a frame of the non-empty cells (`cell`, `count`) of a marginal whose columns are all declared."""
    many = asked.keep is None or asked.marginal.size > _MANY_CELLS
    if asked.engine == "duckdb" and asked.bounds is None and many:
        return _at_once(asked.frame, asked.marginal, asked.kinds)
    return _summed(asked, *_indexed(asked))


def keys(asked: Asked) -> native.Frame:
    """Return a frame of the non-empty keys of a marginal with open columns: codes, texts of open columns, `count`."""
    return _summed(asked, *_named(asked))


def crowded(asked: Asked) -> native.Frame:
    """Return a frame of one row: how many units are in more cells of a marginal than they are counted in."""
    assert asked.bounds is not None
    coded, names = _named(asked) if asked.marginal.is_open else _indexed(asked)
    return bounding.crowded(coded, UNIT, names, asked.bounds.max_cells)


def _indexed(asked: Asked) -> tuple[native.Frame, list[str]]:
    """Return a frame of cells by their index, and the name of that column."""
    index: nw.Expr = nw.lit(0)
    for place, size in enumerate(asked.marginal.shape):
        index = index * size + nw.col(f"k{place}")
    return _coded(asked).select(index.cast(nw.Int64).alias(CELL), asked.carried), [CELL]


def _named(asked: Asked) -> tuple[native.Frame, list[str]]:
    """Return a frame of keys by codes and texts, and the names of these columns."""
    names = [f"{'t' if column.kind == 'open' else 'k'}{place}" for place, column in enumerate(asked.marginal)]
    return _coded(asked).select(*names, asked.carried), names


def _at_once(frame: native.Frame, marginal: Domain, kinds: Mapping[str, str]) -> native.Frame:
    """Return the same as `cells`, on DuckDB and in one query, which is bound once."""
    schema, values, joins, index = frame.collect_schema(), [], "", "0"
    codes: list[str] = []
    for place, column in enumerate(marginal):
        value, kind = nw.col(native.bound(column.name)), kinds[column.name]
        if column.kind == "bins":
            values.append(binned(value, kind, column, schema[native.bound(column.name)], "duckdb").alias(f"k{place}"))
            code = f"nullif(k{place}, {NOWHERE})"
        else:
            values.append(canonical(_written("duckdb", value, kind), kind, column.kind).alias(f"t{place}"))
            values.append(is_missing(value, kind).alias(f"a{place}"))
            levels = native.levels_sql(column.texts, (f"l{place}", f"j{place}"))
            joins += f" LEFT JOIN ({levels}) ON t{place} = l{place}"
            missing, other = (
                "NULL" if code is None else str(code) for code in (column.missing_code, column.other_code)
            )
            code = f"CASE WHEN a{place} THEN {missing} ELSE coalesce(j{place}, {other}) END"
        codes.append(f"CAST({code} AS BIGINT)")
        index = f"({index}) * {column.size} + CAST({code} AS BIGINT)"
    for pattern in impossible_codes(marginal):
        falls = " AND ".join(f"{codes[place]} = {code}" for place, code in pattern.items())
        index = f"CASE WHEN {falls} THEN NULL ELSE {index} END"
    # A row that is counted nowhere in a column has no index: arithmetic with a null gives a null.
    query = f"""
        SELECT {CELL}, count(*) AS {COUNT} FROM (SELECT {index} AS {CELL} FROM ggdp_texts{joins})
        WHERE {CELL} IS NOT NULL GROUP BY {CELL}"""
    return native.framed(nw.to_native(frame.select(*values)).query("ggdp_texts", query))


def _summed(asked: Asked, coded: native.Frame, names: list[str]) -> native.Frame:
    bounds = asked.bounds
    if bounds is None:
        found = coded.group_by(*names).agg(nw.col(COUNT).sum())
    else:
        kept = bounding.bounded(
            asked.engine, coded, UNIT, names, bounds.max_cells, bounds.secret, bounds.max_rows
        ).group_by(*names)
        found = kept.agg(nw.len().alias(COUNT) if bounds.max_rows is None else nw.col(bounding.ROWS).sum().alias(COUNT))
    return found.with_columns(nw.col(COUNT).cast(nw.Int64))


def _coded(asked: Asked) -> native.Frame:
    """Return a frame with a code, or the text of an open column, for each column; rows counted nowhere are left out."""
    engine, frame, marginal, kinds, bounds, keep = asked
    schema = frame.collect_schema()
    columns = list(enumerate(marginal))
    raw = []
    for place, column in columns:
        value = nw.col(native.bound(column.name))
        if column.kind == "bins":
            dtype = schema[native.bound(column.name)]
            raw.append(binned(value, kinds[column.name], column, dtype, engine).alias(f"k{place}"))
        elif engine == "spark" and kinds[column.name] == "text":
            # A collation of Spark would put different texts in one group.
            raw.append(value.cast(nw.String).alias(f"c{place}"))
        else:
            raw.append(value.alias(f"c{place}"))
    if bounds is None:
        names = [f"{'k' if column.kind == 'bins' else 'c'}{place}" for place, column in columns]
        found = frame.select(*raw).group_by(*names).agg(nw.len().alias(COUNT))
        found = found if keep is None else keep(found)
        engine = "pyarrow" if found.implementation.is_pyarrow() else engine
    else:
        kind = kinds[bounds.unit]
        unit = _written(engine, unit_value(nw.col(native.bound(bounds.unit)), kind), kind)
        found = frame.select(*raw, unit.alias(UNIT)).filter(~nw.col(UNIT).is_null())
    found = _joined(engine, found, columns, kinds)
    counted = [
        ~nw.col(f"t{place}").is_null() if column.kind == "open" else nw.col(f"k{place}") != NOWHERE
        for place, column in columns
    ]
    return found.filter(*counted, *(_falls_elsewhere(pattern) for pattern in impossible_codes(marginal)))


def impossible_codes(marginal: Domain) -> tuple[dict[int, int], ...]:
    """Return for each pattern of cells that cannot occur the places of its columns and their codes."""
    places = {column.name: (place, column) for place, column in enumerate(marginal)}
    return tuple(
        {places[name][0]: _code_of(places[name][1], level) for name, level in pattern.items()}
        for pattern in marginal.impossible
    )


def _falls_elsewhere(pattern: Mapping[int, int]) -> nw.Expr:
    """Return whether a row is in none of the cells of a pattern."""
    return nw.any_horizontal(
        *(nw.col(f"k{place}") != nw.lit(code) for place, code in pattern.items()), ignore_nulls=False
    )


def _code_of(column: Column, level: object) -> int:
    """Return the code of a published level; labels are text where `other` or `missing` is declared."""
    if level in column.labels:
        return column.labels.index(level)
    return [str(label) for label in column.labels].index(str(level).lower() if isinstance(level, bool) else str(level))


def _joined(
    engine: str,
    frame: native.Frame,
    columns: Sequence[tuple[int, Column]],
    kinds: Mapping[str, str],
) -> native.Frame:
    """Return a frame with canonical texts, and the codes of those that are levels."""
    read = [(place, column) for place, column in columns if column.kind != "bins"]
    leveled = [(place, column) for place, column in read if column.kind != "open"]
    texts = []
    for place, column in read:
        kind = kinds[column.name]
        value = _written(engine, nw.col(f"c{place}"), kind)
        texts.append(canonical(value, kind, column.kind).alias(f"t{place}"))
    found = frame.with_columns(*texts) if texts else frame
    for place, column in leveled:
        found = native.looked_up(engine, found, f"t{place}", column.texts, f"j{place}")
    codes = [_code(place, column, kinds).alias(f"k{place}") for place, column in leveled]
    return found.with_columns(*codes) if codes else found


def _written(engine: str, value: nw.Expr, kind: str) -> nw.Expr:
    """Return values that every engine can write as text, the others as null."""
    return native.within_years(engine, value) if kind == "date" else value


def _code(place: int, column: Column, kinds: Mapping[str, str]) -> nw.Expr:
    """Return the code of a column with levels from the joined one, which is null where no level is equal."""
    other = NOWHERE if column.other_code is None else column.other_code
    missing = NOWHERE if column.missing_code is None else column.missing_code
    joined = nw.col(f"j{place}")
    unknown = nw.when(joined.is_null()).then(nw.lit(other)).otherwise(joined)
    absent = is_missing(nw.col(f"c{place}"), kinds[column.name])
    return nw.when(absent).then(nw.lit(missing)).otherwise(unknown).cast(nw.Int64)
