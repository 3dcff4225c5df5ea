"""At most M cells of every unit, chosen uniformly, by the same keyed hash on every engine.

========  =======================================================================================
M         most cells that a unit keeps in a marginal (`max_cells`)
score     the first 16 hexadecimal digits of SHA-256(subkey : unit : cell)
subkey    the first 32 hexadecimal digits of SHA-256(key : number of the marginal), which is public
cell      the cell's index; with open columns, its codes and texts joined by colons, those in them escaped
R         most rows of a unit that count in a cell, where rows are counted (`max_rows`)
========  =======================================================================================

A unit with more than M cells keeps those with the M least scores; the others keep all. Nothing is numbered or drawn in
the order of rows.

Claim. Which cells a unit keeps is a function of the key, of that unit's text and of that unit's own set of cells, and
what it adds to each of them is 1, or min(its rows there, R): so with the key fixed, adding or removing all rows of a
unit changes at most M counts of a marginal, each by 1 or by at most R; replacing a unit changes at most 2 M, each by at
most as much. The key is drawn anew for each release, independently of the data, so that this holds given
the key, and hence on average over it. Privacy needs no more of the hash: that no choice is favoured, and so
that counts are not biased towards some cells, rests on SHA-256 with a secret key being a good pseudo-random function.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import narwhals as nw
import numpy as np
import pyarrow as pa

from ggdp.tables.engines import native

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ROWS", "bounded", "crowded", "subkey"]

ROWS = "n_rows"


def subkey(key: bytes, marginal: int) -> str:
    """Return the key of one marginal, short enough for unit and cell to fit in one block of SHA-256."""
    return hashlib.sha256(f"{key.hex()}:{marginal}".encode()).hexdigest()[:32]


def bounded(
    engine: str, frame: native.Frame, unit: str, cell: Sequence[str], max_cells: int, secret: str, max_rows: int | None
) -> native.Frame:
    """Return the distinct pairs of units and cells that are kept, from a frame with a row for each that is there.

    With `max_rows` each comes with its number of rows (`ROWS`), or so many if they are more.
    """
    if engine == "duckdb":
        return _on_duckdb(frame, unit, cell, max_cells, secret, max_rows)
    pairs = frame.group_by(unit, *cell).agg(nw.len().alias(ROWS))
    shown = list(cell)
    if max_rows is not None:
        rows = nw.col(ROWS).cast(nw.Int64)
        pairs = pairs.with_columns(nw.when(rows > max_rows).then(nw.lit(max_rows)).otherwise(rows).alias(ROWS))
        shown.append(ROWS)
    if engine == "pyarrow":
        return _in_memory(pairs, unit, cell, max_cells, secret).select(*shown)
    pairs = pairs.with_columns(nw.len().over(unit).alias("n"))
    # Only units with too many cells need a hash; of a null there is none.
    hashed = nw.when(nw.col("n") > max_cells).then(_message(unit, cell, secret))
    pairs = native.hashed(engine, pairs.with_columns(hashed.alias("score")), "score")
    place = nw.col(unit).cum_count().over(unit, order_by=["score", *cell])
    pairs = pairs.with_columns(place.alias("place"))
    return pairs.filter((nw.col("n") <= max_cells) | (nw.col("place") <= max_cells)).select(*shown)


def crowded(frame: native.Frame, unit: str, cell: Sequence[str], max_cells: int) -> native.Frame:
    """Return how many units are in more than so many cells: one row with one number (`ROWS`)."""
    units = frame.select(unit, *cell).unique().group_by(unit).agg(nw.len().alias("n"))
    return units.filter(nw.col("n") > max_cells).select(nw.len().cast(nw.Int64).alias(ROWS))


def _message(unit: str, cell: Sequence[str], secret: str) -> nw.Expr:
    """Return what is hashed for each pair."""
    texts = [nw.col(unit).cast(nw.String), *(_escaped(name) for name in cell)]
    return nw.concat_str(nw.lit(secret), *texts, separator=":")


def _escaped(name: str) -> nw.Expr:
    text = nw.col(name).cast(nw.String)
    if not name.startswith("t"):
        return text
    return text.str.replace_all("~", "~0", literal=True).str.replace_all(":", "~1", literal=True)


def _in_memory(pairs: native.Frame, unit: str, cell: Sequence[str], max_cells: int, secret: str) -> native.Frame:
    table = native.collected(pairs)
    units = table[unit].combine_chunks().dictionary_encode()
    number = units.indices.to_numpy(zero_copy_only=False)
    crowded = np.bincount(number, minlength=1)[number] > max_cells
    messages = native.framed(table.filter(pa.array(crowded))).select(_message(unit, cell, secret).alias("m"))
    scores = np.zeros(len(number), dtype=np.uint64)
    hashes = native.digests(native.collected(messages)["m"].to_pylist())
    scores[crowded] = np.array([int(digits or "0", 16) for digits in hashes], dtype=np.uint64)
    # The number of a unit only sorts its pairs together; the order among them is that of their scores.
    order = np.lexsort((scores, number))
    first = np.searchsorted(number[order], number[order])
    kept = order[np.arange(len(order)) - first < max_cells]
    return native.framed(table.take(pa.array(kept)))


def _on_duckdb(
    frame: native.Frame, unit: str, cell: Sequence[str], max_cells: int, secret: str, max_rows: int | None
) -> native.Frame:
    # As elsewhere, but the window is only over units with too many cells: four times as fast where these are few.
    kept = ", ".join(cell)
    counted, shown = ("", kept) if max_rows is None else (f", least(count(*), {max_rows}) AS {ROWS}", f"{kept}, {ROWS}")
    parts = "".join(f" || ':' || {_escaped_sql(name)}" for name in cell)
    score = f"substr(sha256('{secret}:' || CAST({unit} AS VARCHAR){parts}), 1, {native.DIGITS})"
    query = f"""
        WITH pairs AS MATERIALIZED (SELECT {unit}, {kept}{counted} FROM ggdp_coded GROUP BY {unit}, {kept}),
        crowded AS MATERIALIZED (SELECT {unit} FROM pairs GROUP BY {unit} HAVING count(*) > {max_cells})
        SELECT {shown} FROM pairs ANTI JOIN crowded USING ({unit})
        UNION ALL
        SELECT {shown} FROM pairs SEMI JOIN crowded USING ({unit})
        QUALIFY row_number() OVER (PARTITION BY {unit} ORDER BY {score}, {kept}) <= {max_cells}"""
    return native.framed(nw.to_native(frame).query("ggdp_coded", query))


def _escaped_sql(name: str) -> str:
    text = f"CAST({name} AS VARCHAR)"
    return f"replace(replace({text}, '~', '~0'), ':', '~1')" if name.startswith("t") else text
