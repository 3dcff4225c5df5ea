"""At most M cells of every unit, chosen uniformly, by the same keyed hash on every engine.

========  =======================================================================================
M         most cells that a unit keeps in a marginal (`max_cells`)
score     the first 16 hexadecimal digits of SHA-256(subkey : unit : cell)
subkey    the first 32 hexadecimal digits of SHA-256(key : number of the marginal), which is public
cell      the cell's index; with open columns, its codes and texts joined by colons, those in them escaped
R         most rows of a unit that are counted in a cell, where rows are counted (`max_rows`)
========  =======================================================================================

A unit with more than M cells keeps those with the M least scores; the others keep all. Nothing is numbered or drawn in
the order of rows.

Claim. Which cells a unit keeps is a function of the key, of that unit's text and of that unit's own set of cells, and
what it adds to each of them is 1, or min(its rows there, R): so with the key fixed, adding or removing all rows of a
unit changes at most M counts of a marginal, each by 1 or by at most R; replacing a unit changes at most 2 M, each by at
most as much. A new key is drawn for each release, independently of the data, so that this holds given
the key, and hence on average over it. Privacy needs no more of the hash: that no choice is favoured, and so
that counts are not biased towards some cells, rests on SHA-256 with a secret key being a good pseudo-random function.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

import narwhals as nw
import numpy as np
import pyarrow as pa

from ggdp.tables.engines.frames import collected, framed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ggdp.tables.engines.frames import Frame

__all__ = ["DIGITS", "ROWS", "UNIT", "UnitLimits", "crowded", "digests", "kept_by_window", "kept_in_memory", "subkey"]

UNIT, ROWS = "u", "n_rows"
# Hexadecimal digits of a score: ties among the cells of a unit are as good as impossible.
DIGITS = 16


class UnitLimits(NamedTuple):
    """The column of units, and how much of a unit is counted in one marginal: cells, and rows in each of them."""

    unit: str
    max_cells: int
    secret: str
    max_rows: int | None = None

    def shown(self, cell: Sequence[str]) -> list[str]:
        """Return the columns of kept pairs: the cell, and the number of rows where rows are counted."""
        return [*cell] if self.max_rows is None else [*cell, ROWS]


def subkey(key: bytes, marginal: int) -> str:
    """Return the key of one marginal, short enough for unit and cell to fit in one block of SHA-256."""
    return hashlib.sha256(f"{key.hex()}:{marginal}".encode()).hexdigest()[:32]


def kept_by_window(
    frame: Frame, cell: Sequence[str], limits: UnitLimits, hashed: Callable[[Frame, str], Frame]
) -> Frame:
    """Return the distinct pairs of units and cells that are kept, from a frame with a row for each that is there.

    With `max_rows` each comes with its number of rows (`ROWS`), or so many if they are more. `hashed` replaces a column
    of texts by the first digits of their SHA-256, and nulls by nulls.
    """
    pairs = _pairs(frame, cell, limits).with_columns(nw.len().over(UNIT).alias("n"))
    # Only units with too many cells need a hash; of a null there is none.
    message = nw.when(nw.col("n") > limits.max_cells).then(_message(cell, limits.secret))
    pairs = hashed(pairs.with_columns(message.alias("score")), "score")
    place = nw.col(UNIT).cum_count().over(UNIT, order_by=["score", *cell])
    pairs = pairs.with_columns(place.alias("place"))
    few = (nw.col("n") <= limits.max_cells) | (nw.col("place") <= limits.max_cells)
    return pairs.filter(few).select(*limits.shown(cell))


def kept_in_memory(frame: Frame, cell: Sequence[str], limits: UnitLimits) -> Frame:
    """Return the same as `kept_by_window`, for Arrow tables."""
    table = collected(_pairs(frame, cell, limits))
    units = table[UNIT].combine_chunks().dictionary_encode()
    number = units.indices.to_numpy(zero_copy_only=False)
    crowded = np.bincount(number, minlength=1)[number] > limits.max_cells
    messages = framed(table.filter(pa.array(crowded))).select(_message(cell, limits.secret).alias("m"))
    scores = np.zeros(len(number), dtype=np.uint64)
    hashes = digests(collected(messages)["m"].to_pylist())
    scores[crowded] = np.array([int(digits or "0", 16) for digits in hashes], dtype=np.uint64)
    # The number of a unit only sorts its pairs together; the order among them is that of their scores.
    order = np.lexsort((scores, number))
    first = np.searchsorted(number[order], number[order])
    kept = order[np.arange(len(order)) - first < limits.max_cells]
    return framed(table.take(pa.array(kept))).select(*limits.shown(cell))


def crowded(frame: Frame, cell: Sequence[str], max_cells: int) -> Frame:
    """Return the number of units in more than `max_cells` cells: one row with one number (`ROWS`)."""
    units = frame.select(UNIT, *cell).unique().group_by(UNIT).agg(nw.len().alias("n"))
    return units.filter(nw.col("n") > max_cells).select(nw.len().cast(nw.Int64).alias(ROWS))


def digests(values: Iterable[str | None]) -> list[str | None]:
    """Return the first hexadecimal digits of the SHA-256 of texts."""
    return [None if text is None else hashlib.sha256(text.encode()).hexdigest()[:DIGITS] for text in values]


def _pairs(frame: Frame, cell: Sequence[str], limits: UnitLimits) -> Frame:
    """Return the distinct pairs of units and cells, with their rows where rows are counted."""
    pairs = frame.group_by(UNIT, *cell).agg(nw.len().alias(ROWS))
    if limits.max_rows is None:
        return pairs
    rows = nw.col(ROWS).cast(nw.Int64)
    return pairs.with_columns(nw.when(rows > limits.max_rows).then(nw.lit(limits.max_rows)).otherwise(rows).alias(ROWS))


def _message(cell: Sequence[str], secret: str) -> nw.Expr:
    """Return what is hashed for each pair."""
    texts = [nw.col(UNIT).cast(nw.String), *(_escaped(name) for name in cell)]
    return nw.concat_str(nw.lit(secret), *texts, separator=":")


def _escaped(name: str) -> nw.Expr:
    text = nw.col(name).cast(nw.String)
    if not name.startswith("t"):
        return text
    return text.str.replace_all("~", "~0", literal=True).str.replace_all(":", "~1", literal=True)
