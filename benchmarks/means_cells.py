"""A table whose cells have few people: 0, 1, 5, 20, 100 and 1,000, at the ends of the range, in its middle and spread.

Intervals must hold for every cell, so the cells are chosen to be hard: nobody, one value alone, all values at one end.
"""

from __future__ import annotations

from math import fsum
from typing import Any

from means_data import KEY, VALUE

LOW, HIGH, STEP = 0, 100, 1
SIZES = (0, 1, 5, 20, 100, 1000)
STATISTICS = ("mean", "sum", "variance")


def values(size: int) -> dict[str, list[int]]:
    """Return the values of the cells of a size, by what they are like."""
    return {
        "low": [LOW] * size,
        "high": [HIGH] * size,
        "middle": [(LOW + HIGH) // 2] * size,
        "apart": [LOW if i % 2 else HIGH for i in range(size)],
        "even": [LOW + i * 37 % (HIGH - LOW + 1) for i in range(size)],
        "skew": [LOW + (i * 37 % 101) ** 2 // 400 for i in range(size)],
    }


def cells() -> dict[str, list[int]]:
    return {f"{size} {like}": found for size in SIZES for like, found in values(size).items()}


def truth() -> dict[str, dict[str, Any]]:
    """Return the true count, sum, mean and variance of every cell; an empty one has no mean and no variance."""
    found = {}
    for key, held in cells().items():
        count, total = len(held), sum(held)
        mean = total / count if count else None
        variance = None if mean is None else fsum((value - mean) ** 2 for value in held) / count
        found[key] = {"count": count, "sum": total, "mean": mean, "variance": variance}
    return found


def table() -> Any:
    import pyarrow as pa

    pairs = [(key, value) for key, held in cells().items() for value in held]
    keys, held = zip(*pairs, strict=True)
    return pa.table({KEY: list(keys), VALUE: pa.array(held, pa.int64())})
