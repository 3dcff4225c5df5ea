"""At most M cells of every unit, chosen uniformly by a keyed hash of the engine that counts.

========  =======================================================================================
M         most cells that a unit keeps in a marginal (`max_cells`)
score     64 bits of a hash of secret, unit and cell, which each engine computes as it is fast there
secret    64 bits of SHA-256(key : number of the marginal)
cell      the cell's index; with open columns, its codes and texts, one column each
R         most rows of a unit that are counted in a cell, where rows are counted (`max_rows`)
========  =======================================================================================

Three steps, each a relation that the next one reads:

1. `pairs` makes one row for each distinct pair of unit and cell, with what it carries: `ROWS`, the rows of the unit
   there, at most R, where rows are counted; and values of the unit there, aggregated from its own rows (`PairValue`).
2. `Dialect.kept_pairs` keeps those with the M least scores of each unit, ties by the cell, with all their columns. It
   ends in `kept_by_rank` or `kept_in_memory`, or is one query of its own. This is the only step that bounds units.
3. `ggdp.tables.engines.cells` adds up by cell. What reads the second relation sees at most M rows of each unit.

Claim. Which cells a unit keeps is a function of the secret, of that unit's text and of that unit's own set of cells,
and what it adds to each of them is 1, or min(its rows there, R): so with the key fixed, adding or removing all rows of
a unit changes at most M counts of a marginal, each by 1 or by at most R; replacing a unit changes at most 2 M, each by
at most as much. Proof. A score depends on secret, unit and cell alone, and score and cell order the pairs of a unit
strictly; nothing is numbered or drawn in the order of rows. A new key is drawn for each release, independently of the
data, so that this holds given the key, and hence on average over it.

Privacy needs no more of the hash. That no choice is favoured, and so that counts are not biased towards some cells,
rests on scores behaving like independent uniform numbers, which is tested on every engine. A unit in at most M cells
keeps all of them. What is promised is one law on every engine, and for one engine, key and version the same cells in
every pass over the data, whatever the type of the column of units, as long as its texts are the same. Different
engines keep different cells.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ggdp.tables.engines.frames import collected, framed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ggdp.tables.engines.frames import Frame

UNIT, ROWS, SCORE = "u", "n_rows", "score"


class UnitLimits(NamedTuple):
    """The column of units, and how much of a unit is counted in one marginal: cells, and rows in each of them."""

    unit: str
    max_cells: int
    secret: int
    max_rows: int | None = None


def subkey(key: bytes, marginal: int) -> int:
    """Return the secret of one marginal, of 64 bits."""
    return int.from_bytes(hashlib.sha256(f"{key.hex()}:{marginal}".encode()).digest()[:8])


class PairValue(NamedTuple):
    """A value of each pair of unit and cell: what is aggregated of its rows, and how the value follows from that."""

    name: str
    aggregates: tuple[nw.Expr, ...]
    value: nw.Expr


def pairs(frame: Frame, cell: Sequence[str], limits: UnitLimits, values: Sequence[PairValue] = ()) -> Frame:
    """Return the distinct pairs of units and cells, with their values, and rows (`ROWS`), at most R, if counted."""
    aggregates = [part for each in values for part in each.aggregates]
    found = frame.group_by(UNIT, *cell).agg(nw.len().alias(ROWS), *aggregates)
    kept = [nw.col(UNIT, *cell), *(each.value.alias(each.name) for each in values)]
    if limits.max_rows is None:
        return found.select(*kept)
    rows = nw.col(ROWS).cast(nw.Int64)
    return found.select(
        *kept, nw.when(rows > limits.max_rows).then(nw.lit(limits.max_rows)).otherwise(rows).alias(ROWS)
    )


def kept_by_rank(scored: Frame, cell: Sequence[str], limits: UnitLimits) -> Frame:
    """Return the pairs that are kept, of distinct ones that have a `SCORE`."""
    place = nw.col(UNIT).cum_count().over(UNIT, order_by=[SCORE, *cell])
    return scored.with_columns(place.alias("place")).filter(nw.col("place") <= limits.max_cells).drop(SCORE, "place")


def kept_in_memory(pairs: Frame, cell: Sequence[str], limits: UnitLimits) -> Frame:
    """Return the pairs that are kept, of distinct ones in an Arrow table."""
    table = collected(pairs)
    units = table[UNIT].combine_chunks().dictionary_encode()
    number = units.indices.to_numpy(zero_copy_only=False)
    is_crowded = np.bincount(number, minlength=1)[number] > limits.max_cells
    few, crowded = np.flatnonzero(~is_crowded), np.flatnonzero(is_crowded)
    number = number[crowded]
    scores, places = _hashed_texts(units.dictionary, number, limits.secret), []
    for name in cell:
        place, part = _coordinate(table[name].take(pa.array(crowded)).combine_chunks(), limits.secret)
        scores = _mixed(scores ^ _mixed(part))
        places.append(place)
    # The number of a unit only sorts its pairs together; the order among them is that of their scores, then of cells.
    order = np.lexsort((*places, scores, number))
    first = np.searchsorted(number[order], number[order])
    kept = order[np.arange(len(order)) - first < limits.max_cells]
    return framed(table.take(pa.array(np.concatenate([few, crowded[kept]]))))


def crowded(frame: Frame, cell: Sequence[str], max_cells: int) -> Frame:
    """Return the number of units in more than `max_cells` cells: one row with one number (`ROWS`)."""
    distinct = frame.group_by(UNIT, *cell).agg(nw.len().alias(ROWS))
    units = distinct.group_by(UNIT).agg(nw.len().alias("n"))
    return units.filter(nw.col("n") > max_cells).select(nw.len().cast(nw.Int64).alias(ROWS))


def _coordinate(values: pa.Array, secret: int) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Return the order of the values of one column of cells, and words that tell them apart."""
    if pa.types.is_integer(values.type):
        codes = values.to_numpy(zero_copy_only=False).astype(np.int64)
        return codes, codes.view(np.uint64)
    texts = values.dictionary_encode()
    number = texts.indices.to_numpy(zero_copy_only=False)
    # Codes of a dictionary follow the order of rows, those of sorted texts the texts.
    order = pc.rank(texts.dictionary, tiebreaker="dense").to_numpy().astype(np.int64)
    return order[number], _hashed_texts(texts.dictionary, number, secret)


def _hashed_texts(values: pa.Array, number: NDArray[np.int32], secret: int) -> NDArray[np.uint64]:
    """Return a hash of the texts of the values with these numbers, each hashed once."""
    key, words = secret.to_bytes(8), np.zeros(len(values), dtype=np.uint64)
    needed = np.flatnonzero(np.bincount(number, minlength=len(values)))
    texts = pc.cast(values.take(pa.array(needed)), pa.string()).to_pylist()
    found = (hashlib.blake2b(text.encode(), digest_size=8, key=key).digest() for text in texts)
    words[needed] = np.frombuffer(b"".join(found), dtype=np.uint64)
    return words[number]


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the words after a permutation of 64 bits whose every output bit depends on all of them (SplitMix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
