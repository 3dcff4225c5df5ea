"""Counting the non-empty cells of a marginal inside an engine, and at most M cells of every unit.

Rows are first grouped by raw values, bins of numbers by their codes, so that the cost is that of a plain group-by. Then
canonical texts are joined with the frame of levels, which gives a code for each column, and one index for each cell.
Last, what is in each cell is added up. Only non-empty cells leave the engine, sorted afterwards.

Statistics are sums of whole numbers beside the count (`ggdp.sources.measures`): each row, or each unit in a cell, has a
step or none, and its terms are added up in the same stages. Rows are not grouped first where that is slower
(`Engine.groups_first`). Columns are renamed by their places (``c0``, ``c1``, ..., codes ``k0``, ..., texts ``t0``, ...,
steps of measures ``m0``, ...), so that no name of a table can collide with another.

**Units.** With a column of units, each row is given its cell. Of the distinct pairs of units and cells some are kept,
chosen uniformly by a keyed hash of the engine, and the units in each cell, or their rows, are counted. `kept_cells` is
the relation of these pairs, `cells` its sums.

========  =======================================================================================
M         most cells that a unit keeps in a marginal (`UnitLimits.cells`)
score     64 bits of a hash of secret, unit and cell, which each engine computes as it is fast there
secret    64 bits of SHA-256(key : number of the marginal)
cell      the cell's index; with open columns, its codes and texts, one column each
R         most rows of a unit that are counted in a cell, where rows are counted (`UnitLimits.rows`)
========  =======================================================================================

Three steps, each a relation that the next one reads:

1. `_keep` makes one row for each distinct pair of unit and cell, with what it carries: `ROWS`, the rows of the unit
   there, at most R, where rows are counted; and steps of the unit there, aggregated from its own rows.
2. `Dialect.keep_pairs` keeps those with the M least scores of each unit, ties by the cell, with all their columns. It
   ends in `keep_by_rank` or `keep_in_memory`, or is one query of its own. This is the only step that bounds units.
3. `_add_up` adds up by cell. What reads the second relation sees at most M rows of each unit.

Claim. Which cells a unit keeps is a function of the secret, of that unit's text and of that unit's own set of cells,
and what it adds to each of them is 1, or min(its rows there, R): so with the key fixed, adding or removing all rows of
a unit changes at most M counts of a marginal, each by 1 or by at most R; replacing a unit changes at most 2 M, each by
at most as much. Proof. A score depends on secret, unit and cell alone, and score and cell order the pairs of a unit
strictly; nothing is numbered or drawn in the order of rows. A new key is drawn for each release, independently of the
data, so that this holds given the key, and hence on average over it.

Privacy needs no more of the hash. That counts are not biased towards some cells rests on scores behaving like
independent uniform numbers, which is tested on every engine. For one engine, key and version the same cells are kept
in every pass over the data, whatever the type of the column of units, as long as its texts are the same; different
engines keep different cells.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ggdp.domain.value_range import LevelRanges
from ggdp.sources.codes import NOWHERE, bin_codes, canonical_text, declared_text, fill_code, read_text, unit_value
from ggdp.sources.engine import Dialect, Engine, Frame, as_frame, collect, safe_name
from ggdp.sources.measures import SummedMeasure, ends_of_sums, known_name, step_of_unit, steps_by_level, steps_of_rows

if TYPE_CHECKING:
    from ggdp.domain.column import Column
    from ggdp.domain.table_domain import Domain


COUNT, CELL, UNIT, ROWS, SCORE = "count", "cell", "u", "n_rows", "score"


class UnitLimits(NamedTuple):
    """The column of units, and how much of a unit is counted in one marginal: cells, and rows in each of them."""

    unit: str
    cells: int
    secret: int
    rows: int | None = None
    nulls: tuple[str, ...] = ()  # texts that are no unit


def keep_by_rank(scored: Frame, cell: Sequence[str], limits: UnitLimits) -> Frame:
    """Return the pairs that are kept, of distinct ones that have a `SCORE`."""
    place = nw.col(UNIT).cum_count().over(UNIT, order_by=[SCORE, *cell])
    return scored.with_columns(place.alias("place")).filter(nw.col("place") <= limits.cells).drop(SCORE, "place")


def keep_in_memory(pairs: Frame, cell: Sequence[str], limits: UnitLimits) -> Frame:
    """Return the pairs that are kept, of distinct ones in an Arrow table."""
    table = collect(pairs)
    units = table[UNIT].combine_chunks().dictionary_encode()
    number = units.indices.to_numpy(zero_copy_only=False)
    is_crowded = np.bincount(number, minlength=1)[number] > limits.cells
    few, crowded = np.flatnonzero(~is_crowded), np.flatnonzero(is_crowded)
    number = number[crowded]
    scores, places = _hashed_texts(units.dictionary, number, limits.secret), []
    for name in cell:
        values = table[name].take(pa.array(crowded)).combine_chunks()
        if pa.types.is_integer(values.type):
            places.append(values.to_numpy(zero_copy_only=False).astype(np.int64))
            part = places[-1].view(np.uint64)
        else:
            texts = values.dictionary_encode()
            at = texts.indices.to_numpy(zero_copy_only=False)
            # Codes of a dictionary follow the order of rows, those of sorted texts the texts.
            places.append(pc.rank(texts.dictionary, tiebreaker="dense").to_numpy().astype(np.int64)[at])
            part = _hashed_texts(texts.dictionary, at, limits.secret)
        scores = _mix(scores ^ _mix(part))
    # The number of a unit only sorts its pairs together; the order among them is that of their scores, then of cells.
    order = np.lexsort((*places, scores, number))
    first = np.searchsorted(number[order], number[order])
    kept = order[np.arange(len(order)) - first < limits.cells]
    return as_frame(table.take(pa.array(np.concatenate([few, crowded[kept]]))))


def _hashed_texts(values: pa.Array, number: NDArray[np.int32], secret: int) -> NDArray[np.uint64]:
    """Return a hash of the texts of the values with these numbers, each hashed once."""
    key, words = secret.to_bytes(8), np.zeros(len(values), dtype=np.uint64)
    needed = np.flatnonzero(np.bincount(number, minlength=len(values)))
    texts = pc.cast(values.take(pa.array(needed)), pa.string()).to_pylist()
    found = (hashlib.blake2b(text.encode(), digest_size=8, key=key).digest() for text in texts)
    words[needed] = np.frombuffer(b"".join(found), dtype=np.uint64)
    return words[number]


def _mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the words after a permutation of 64 bits whose every output bit depends on all of them (SplitMix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


class MarginalQuery(NamedTuple):
    """One marginal of a frame of an engine, counted by rows, or by units within their limits."""

    engine: Engine
    frame: Frame
    marginal: Domain
    limits: UnitLimits | None
    measured: tuple[SummedMeasure, ...] = ()
    by_step: bool = False
    is_filtered: bool = False  # whether the frame has only those rows of the engine that a filter keeps

    @property
    def steps(self) -> list[str]:
        """The columns of the steps of all measures."""
        return [f"m{place}" for place in range(len(self.measured))]

    @property
    def measured_steps(self) -> list[tuple[SummedMeasure, str]]:
        """All measures with the columns of their steps."""
        return list(zip(self.measured, self.steps, strict=True))

    def code(self, summed: SummedMeasure) -> str:
        """Return the column of the codes that the ranges of a measure are by; nothing where it has one range."""
        values = summed.measure.values
        return f"k{self.marginal.names.index(values.by)}" if isinstance(values, LevelRanges) else ""

    @property
    def codes(self) -> list[str]:
        """The columns of codes that ranges of measures are by."""
        return list(dict.fromkeys(filter(None, map(self.code, self.measured))))

    @property
    def carried_codes(self) -> list[str]:
        """Those that are not among the keys of an open marginal."""
        return [] if self.marginal.is_open else self.codes

    @property
    def terms(self) -> dict[str, nw.Expr]:
        """What is added up of the steps, by the columns of the sums."""
        wide = self.engine.dialect.wide_sums
        terms = (summed.terms(step, wide=wide) for summed, step in self.measured_steps)
        return {name: term for found in terms for name, term in found.items()}

    @property
    def added(self) -> list[str]:
        """The columns that are added up in a cell: how many rows, how many have a step, and the terms of the steps."""
        return [COUNT] if self.by_step else [COUNT, *map(known_name, self.steps), *self.terms]

    @property
    def carried(self) -> list[str]:
        """The columns beside the cell: what is added up, and the step if grouped by it; or the unit and its steps."""
        if self.limits is not None:
            return [UNIT, *self.steps, *self.carried_codes]
        return self.steps if self.codes else [*(self.steps if self.by_step else ()), *self.added]


def cells(query: MarginalQuery) -> Frame:
    """Return a frame of the non-empty cells: `cell`, or the `keys` of an open marginal, and sums of all measures."""
    if query.marginal.is_open:
        return keys(query)
    found = None if query.is_filtered else query.engine.direct_cells(query)
    return _add_up(query, *_index_cells(query)) if found is None else found


def keys(query: MarginalQuery) -> Frame:
    """Return a frame of the non-empty keys of a marginal with open columns: codes, texts of open columns, `count`."""
    return _add_up(query, *_name_keys(query))


def step_counts(query: MarginalQuery) -> Frame:
    """Return a frame of the non-empty cells or keys and steps of one measure, null included: `cell`, step, `count`."""
    query = query._replace(by_step=True)
    return _add_up(query, *(_name_keys if query.marginal.is_open else _index_cells)(query))


def kept_cells(query: MarginalQuery) -> Frame:
    """Return a frame of the pairs of units and cells that `cells` counts: `UNIT`, `cell`, `ROWS` with `max_rows`."""
    return _keep(query, *_index_cells(query))


def kept_keys(query: MarginalQuery) -> Frame:
    """Return a frame of the pairs of units and keys that `keys` counts: `UNIT`, codes and texts, likewise."""
    return _keep(query, *_name_keys(query))


def count_crowded(query: MarginalQuery) -> Frame:
    """Return a frame of one row: the number of units in more cells of a marginal than they are counted in."""
    assert query.limits is not None
    coded, names = _name_keys(query) if query.marginal.is_open else _index_cells(query)
    distinct = coded.group_by(UNIT, *names).agg(nw.len().alias(ROWS))
    units = distinct.group_by(UNIT).agg(nw.len().alias("n"))
    return units.filter(nw.col("n") > query.limits.cells).select(nw.len().cast(nw.Int64).alias(ROWS))


def clamped_totals(query: MarginalQuery) -> Frame:
    """Count the units whose rows add up to `below` and `above` the range of the measure in a cell. Not private.

    There is a row for each `code` that ranges are by; 0 where there is one range.
    """
    # Before any cell of a unit is left out.
    coded, names = (_name_keys if query.marginal.is_open else _index_cells)(query)
    (summed,), (step,) = query.measured, query.steps
    by = [UNIT, *names, *query.carried_codes]
    totals = coded.group_by(*by).agg(nw.col(step).count().alias("known"), nw.col(step).sum().alias("total"))
    total, known = nw.col("total").cast(nw.Float64), nw.col("known") > 0
    first, last = ends_of_sums(summed.measure, code := query.code(summed))
    outside = {"below": known & (total < first), "above": known & (total > last)}
    marked = (nw.when(flag).then(nw.lit(1)).otherwise(nw.lit(0)).alias(name) for name, flag in outside.items())
    by_code = (nw.col(code) if code else nw.lit(0)).alias("code")
    return totals.select(by_code, *marked).group_by("code").agg(*(nw.col(name).sum() for name in outside))


def _index_cells(query: MarginalQuery) -> tuple[Frame, list[str]]:
    """Return a frame of cells by their index, and the name of that column."""
    index: nw.Expr = nw.lit(0)
    for place, size in enumerate(query.marginal.shape):
        index = index * size + nw.col(f"k{place}")
    dtype: nw.dtypes.DType = nw.Int64()
    if query.limits is not None:
        # Pairs of units and cells are many, so their index is short. An engine may convert rows that are left out too,
        # whose codes may be -1: their index is within these bounds.
        most = query.marginal.size * len(query.marginal)
        dtype = nw.Int16() if most < 1 << 15 else nw.Int32() if most < 1 << 31 else nw.Int64()
    return _code(query).select(index.cast(dtype).alias(CELL), *query.carried), [CELL]


def key_names(marginal: Domain) -> list[str]:
    """Return the columns of the keys of a marginal: codes, and texts of open columns."""
    return [f"{'t' if column.kind == 'open' else 'k'}{place}" for place, column in enumerate(marginal)]


def _name_keys(query: MarginalQuery) -> tuple[Frame, list[str]]:
    """Return a frame of keys by codes and texts, and the names of these columns."""
    names = key_names(query.marginal)
    return _code(query).select(*names, *query.carried), names


def _keep(query: MarginalQuery, coded: Frame, names: list[str]) -> Frame:
    """Return the kept pairs of units and cells with their steps, and rows (`ROWS`), at most R, if these are counted."""
    limits = query.limits
    assert limits is not None
    steps = {step: step_of_unit(one.measure, step, query.code(one)) for one, step in query.measured_steps}
    aggregates = [part for parts, _ in steps.values() for part in parts]
    # The codes of a cell are the same in all its rows.
    pairs = coded.group_by(UNIT, *names, *query.carried_codes).agg(nw.len().alias(ROWS), *aggregates)
    taken = [nw.col(UNIT, *names), *(value.alias(step) for step, (_, value) in steps.items())]
    if limits.rows is not None:
        rows = nw.col(ROWS).cast(nw.Int64)
        taken.append(nw.when(rows > limits.rows).then(nw.lit(limits.rows)).otherwise(rows).alias(ROWS))
    return query.engine.dialect.keep_pairs(pairs.select(*taken), names, limits)


def _add_up(query: MarginalQuery, coded: Frame, names: list[str]) -> Frame:
    """Return what is added up in each cell, or in each cell and step."""
    if query.limits is None and query.codes:
        found = _group(query, coded, names)
    elif query.limits is None:
        by = [*names, *query.steps] if query.by_step else names
        found = coded.group_by(*by).agg(*(nw.col(name).sum() for name in query.added))
    elif query.measured:
        found = _group(query, _keep(query, coded, names), names)
    else:
        count = nw.len() if query.limits.rows is None else nw.col(ROWS).sum()
        found = _keep(query, coded, names).group_by(*names).agg(count.alias(COUNT))
    return found.with_columns(nw.col(COUNT).cast(nw.Int64))


def _code(query: MarginalQuery) -> Frame:
    """Return a frame with a code, or the text of an open column, for each column; rows not counted are left out."""
    engine, frame, marginal, limits, *_ = query
    dialect, kinds, schema = engine.dialect, engine.kinds, frame.collect_schema()
    columns, raw = list(enumerate(marginal)), []
    frame, values = _with_text_read(frame, columns, [safe_name(column.name) for column in marginal], kinds)
    for (place, column), (value, read) in zip(columns, values, strict=True):
        kind, dtype = kinds[column.name], schema[safe_name(column.name)]
        if column.kind == "bins":
            raw.append(bin_codes(value, kind, column, dtype, dialect, read).alias(f"k{place}"))
        else:
            raw.append((dialect.text(value) if kind == "text" else value).alias(f"c{place}"))
    raw += [steps_of_rows(frame, summed.measure, kinds).alias(step) for summed, step in query.measured_steps]
    # Ranges by level are known once rows have codes.
    if limits is None and not query.codes and engine.groups_first(query):
        names = [f"{'k' if column.kind == 'bins' else 'c'}{place}" for place, column in columns]
        if not names:
            # A selection of literals alone would have one row.
            frame, names = frame.with_columns(nw.lit(0).alias("g")), ["g"]
            raw.append(nw.col("g"))
        dialect, found = engine.evaluate(_group(query, frame.select(*raw), names))
    elif limits is None:
        found = frame.select(*raw, nw.lit(1).alias(COUNT))
    else:
        kind = kinds[limits.unit]
        value = nw.col(safe_name(limits.unit))
        if limits.nulls and kind in ("text", "object"):
            value = declared_text(value, limits.nulls, None)
        unit = writable(dialect, unit_value(value, kind), kind)
        found = frame.select(*raw, unit.alias(UNIT)).filter(~nw.col(UNIT).is_null())
    found = _join(dialect, found, columns, kinds)
    for summed, step in query.measured_steps:
        if code := query.code(summed):
            found = steps_by_level(found, summed.measure, step, code)
    counted = [
        ~nw.col(f"t{place}").is_null() if column.kind == "open" else nw.col(f"k{place}") != NOWHERE
        for place, column in columns
    ]
    # In none of the cells that cannot occur.
    for which, (places, numbers) in enumerate(marginal.patterns_by_columns.items()):
        number = nw.lit(0).cast(nw.Int64)
        for place in places:
            number = number * marginal.columns[place].size + nw.col(f"k{place}").cast(nw.Int64)
        found = found.with_columns(number.cast(nw.String).alias(f"n{which}"))
        found = dialect.look_up(found, f"n{which}", [str(one) for one in numbers], f"i{which}")
        counted.append(nw.col(f"i{which}").is_null())
    return found.filter(*counted) if counted else found


def _group(query: MarginalQuery, rows: Frame, names: list[str]) -> Frame:
    """Return rows, or kept pairs, grouped by some columns, with what is added up in each group."""
    if query.by_step:
        return rows.group_by(*names, *query.steps).agg(nw.len().alias(COUNT))
    terms = {step: nw.col(step) for step in query.steps} | query.terms
    known = [nw.col(step).count().alias(known_name(step)) for step in query.steps]
    rows = rows.select(*names, *(term.alias(name) for name, term in terms.items())) if terms else rows
    return rows.group_by(*names).agg(nw.len().alias(COUNT), *known, *(nw.col(name).sum() for name in query.terms))


def value_codes(dialect: Dialect, column: Column, kind: str, values: Frame) -> Frame:
    """Return the codes of a frame of one column of values, in its order; `NOWHERE` for those that are not counted."""
    (name,) = values.columns
    values, ((value, read),) = _with_text_read(values, [(0, column)], [name], {column.name: kind})
    if column.kind == "bins":
        dtype = values.collect_schema()[name]
        return values.select(bin_codes(value, kind, column, dtype, dialect, read))
    raw = values.select((dialect.text(value) if kind == "text" else value).alias("c0"))
    return _join(dialect, raw, [(0, column)], {column.name: kind}).select("k0")


def _with_text_read(
    frame: Frame, columns: Sequence[tuple[int, Column]], names: Sequence[str], kinds: Mapping[str, str]
) -> tuple[Frame, list[tuple[nw.Expr, nw.Expr | None]]]:
    """Return a frame that has text as it is declared to be read; of each column its values, and what bins compare."""
    schema, declared, read = frame.collect_schema(), {}, {}
    for (place, column), name in zip(columns, names, strict=True):
        # Bins of Python values are integers (`ggdp.sources.dataframes`).
        if kinds[column.name] in ("text", "object") and not schema[name].is_integer():
            if column.text.nulls or column.rewriting is not None:
                declared[f"d{place}"] = declared_text(nw.col(name), column.text.nulls, column.rewriting)
            if column.kind == "bins":
                value = nw.col(f"d{place}" if f"d{place}" in declared else name)
                read[f"r{place}"] = read_text(value, column)
    # One after the other: each expression would have a copy of those before it, for every edge.
    for found in (declared, read):
        frame = frame.with_columns(**found) if found else frame
    return frame, [
        (nw.col(f"d{k}" if f"d{k}" in declared else name), nw.col(f"r{k}") if f"r{k}" in read else None)
        for (k, _), name in zip(columns, names, strict=True)
    ]


def _join(dialect: Dialect, frame: Frame, columns: Sequence[tuple[int, Column]], kinds: Mapping[str, str]) -> Frame:
    """Return a frame with canonical texts, and the codes of those that are levels."""
    texts, codes = [], []
    for place, column in columns:
        if column.kind != "bins":
            value = writable(dialect, nw.col(f"c{place}"), kinds[column.name])
            texts.append(canonical_text(value, kinds[column.name], column.kind).alias(f"t{place}"))
    found = frame.with_columns(*texts) if texts else frame
    for place, column in columns:
        if column.kind not in ("bins", "open"):
            # The place among the levels is null where none of them is equal.
            found = dialect.look_up(found, f"t{place}", column.texts, f"j{place}")
            value = nw.col(f"c{place}")
            codes.append(fill_code(nw.col(f"j{place}"), value, kinds[column.name], column).alias(f"k{place}"))
    return found.with_columns(*codes) if codes else found


def writable(dialect: Dialect, value: nw.Expr, kind: str) -> nw.Expr:
    """Return values without days outside the years 1 to 9999, which polars panics at where it writes them as text."""
    if kind != "date":
        return value
    first, last = dialect.date_literal(date.min), dialect.date_literal(date.max)
    return nw.when((value >= first) & (value <= last)).then(value)
