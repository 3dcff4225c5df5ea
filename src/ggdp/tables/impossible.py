"""Structural zeros: cells of a domain that cannot occur, declared by patterns.

A pattern gives the codes of some columns; every cell that agrees with it is impossible, whatever the other columns are.
A cell is possible if it agrees with no pattern.

========  ======================================================================================
pattern   ((column, code), ...), columns by their places in the domain, in increasing order
alive     of the columns so far, the patterns that a combination of codes agrees with
========  ======================================================================================
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ggdp.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Pattern: TypeAlias = tuple[tuple[int, int], ...]

MOST_PATTERNS = 500
# Combinations of patterns that are kept track of while cells are counted.
_MOST_STATES = 20_000


def possible_cells(shape: Sequence[int], patterns: Sequence[Pattern]) -> int:
    """Return how many cells match no pattern, exactly.

    Claim. Columns are added one by one. Combinations of codes with the same alive patterns have the same continuations,
    so it is enough to count them together; codes of a column that no pattern names act alike as well. A combination
    that agrees with a whole pattern has no possible continuation and is dropped.
    """
    if not patterns:
        return math.prod(shape)
    named = [[dict(pattern).get(place) for pattern in patterns] for place in range(len(shape))]
    last = [pattern[-1][0] for pattern in patterns]
    states: Counter[frozenset[int]] = Counter({frozenset(range(len(patterns))): 1})
    for place, size in enumerate(shape):
        following: Counter[frozenset[int]] = Counter()
        for alive, number in states.items():
            by_code: dict[int, set[int]] = defaultdict(set)
            free = {which for which in alive if named[place][which] is None}
            for which in alive - free:
                by_code[named[place][which]].add(which)  # type: ignore[index]
            for matched, codes in [*((found, 1) for found in by_code.values()), (set(), size - len(by_code))]:
                left = frozenset(free | matched)
                if codes and not any(last[which] <= place for which in left):
                    following[left] += number * codes
            if len(following) > _MOST_STATES:
                raise ArgumentError(
                    "impossible", f"{len(patterns):,} patterns", "overlap in too many ways to be counted; use fewer"
                )
        states = following
    return sum(states.values())


def agreeing(
    codes: Sequence[NDArray[np.int64]], shape: Sequence[int], patterns: Sequence[Pattern]
) -> NDArray[np.bool_]:
    """Return which cells, given by their codes, match a pattern."""
    found = np.zeros(codes[0].shape, dtype=np.bool_)
    by_columns: dict[tuple[int, ...], list[Pattern]] = defaultdict(list)
    for pattern in patterns:
        by_columns[tuple(place for place, _ in pattern)].append(pattern)
    for places, alike in by_columns.items():
        # Patterns of the same columns are looked up together, by the number of their cell among those columns.
        number = np.zeros(found.shape, dtype=np.int64)
        numbers = np.zeros(len(alike), dtype=np.int64)
        for k, place in enumerate(places):
            number = number * shape[place] + codes[place]
            numbers = numbers * shape[place] + np.array([pattern[k][1] for pattern in alike], dtype=np.int64)
        found |= np.isin(number, numbers)
    return found
