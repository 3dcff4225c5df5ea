"""The false-alarm budget that all statistical tests share: a right library fails any with a probability below 1e-9.

==========  ====================================================================================
TOTAL       1e-9, the probability that any comparison of the whole suite goes wrong by bad luck
comparison  one verdict that is left to chance: draws that must fit, or a control that must not
share       TOTAL over the number of all declared comparisons, the level of each of them
==========  ====================================================================================

Every statistical test is declared here by name with the number of its comparisons, over all its parametrisations, in
the fast run and in the exhaustive one. `compares` hands each parametrisation an `Allowance` for its comparisons and
refuses a number that is not the declared one; the assertions of `tests.statistical.fit` take their level from an
allowance and from nowhere else. By the union bound (Bonferroni) the probability of any false alarm is at most the sum
of all shares, whatever depends on what.

Controls count too: one that is missed by bad luck fails its test, so its power is computed and charged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

TOTAL = 1e-9

COMPARISONS: dict[str, int] = {
    "integer noise": 6 * 56 * 2,
    "all but degenerate noise": 2 * 6 * 2,
    "coarse envelopes": 3 * 14 * 2,
    "coarse tables": 3 * 14,
    "coarse guides": 3 * 14 * 2,
    "table beside rejection": 2 * 21 * 2,
    "sizes of batches": 3 * 14,
    "pairs at a lag": 6 * 3 * 2,
    "low bits": 2 * 7 * 2,
    "conditional noise": 4 * 26 * 2,
    "bounded noise": 12 * 18 * 2,
    "boundary-inflated wide noise": 12 * 2,
    "truncated wide noise": 12 * 2,
    "truncated noise wider than its bounds": 5 * 2,
    "values beside others": 2 * 18 * 2,
    "binomial": 4 * 11 * 2,
    "Minkowski noise": 4 * 8 * 2,
    "totals of Minkowski noise": 2 * 4 * 2,
    "points of Minkowski noise": 2 * 4 * 2,
    "simulated reals": 4 * 6 * 2,
    "selection": 3 * 3 * 2,
    "pairs by a norm": 5 * 5 * 2,
    "pairs of one radius": 2 * 2 * 2,
    "norms of long vectors": 3 * 3 * 2,
    "intervals": 2 * 5,
    "intervals of shares": 2 * 3,
    "intervals of tables together": 3 * 2,
    "intervals of quantiles": 2 * 5,
    "intervals of quantiles by halves": 2 * 10 * 2,
    "positions of quantiles": 2 * 3 * 2,
    "kept cells": 7 * 4,
    "sparse tables": 4 * 4,
    "statistics of noisy sums": 4 * 92,
    "statistics of chosen cells": 2 * 9,
}


def share() -> float:
    """The level of one comparison."""
    # Slightly less, so that the sum is not above the total by its rounding.
    return TOTAL * (1.0 - 1e-9) / sum(COMPARISONS.values())


class Allowance:
    """The comparisons that one parametrisation of a declared test may make."""

    def __init__(self, name: str, comparisons: int) -> None:
        if name not in COMPARISONS:
            message = f"{name!r} has no share of the false-alarm budget: declare it in budget.COMPARISONS"
            raise ValueError(message)
        self.name = name
        self.comparisons = self.left = comparisons

    def __repr__(self) -> str:
        return f"Allowance({self.name!r}, left={self.left})"

    def level(self) -> float:
        """Spend one comparison and return its level."""
        if self.left == 0:
            message = f"{self.name!r} makes more comparisons than it declared"
            raise ValueError(message)
        self.left -= 1
        return share()


def compares(
    name: str,
    cases: Sequence[Any],
    *,
    each: int,
    fast: int,
    exhaustive: int | None = None,
    often: Collection[Any] | None = None,
) -> Callable[[Any], Any]:
    """Parametrise a test over `case`, `size` (how many draws) and `allowance`.

    Parameters
    ----------
    name : str
        Name of the test in `COMPARISONS`.
    cases : sequence
        What it is run on; a case with a `label` is shown by it.
    each : int
        How many comparisons it makes on each case and size.
    fast, exhaustive : int
        How many draws it takes in every run, and how many more behind the `exhaustive` mark.
    often : collection, optional
        The cases that are run every time; by default all. The others are exhaustive with either number of draws, and
        have their share of the budget all the same.
    """
    sizes = [fast] if exhaustive is None else [fast, exhaustive]
    made = each * len(cases) * len(sizes)
    if made != COMPARISONS.get(name):
        message = f"{name!r} makes {made} comparisons, but budget.COMPARISONS has {COMPARISONS.get(name)}"
        raise ValueError(message)
    return pytest.mark.parametrize(
        ("case", "size", "allowance"),
        [
            pytest.param(
                case,
                size,
                Allowance(name, each),
                id=f"{getattr(case, 'label', case)}-{size:g}",
                marks=() if size == fast and (often is None or case in often) else (pytest.mark.exhaustive,),
            )
            for size in sizes
            for case in cases
        ],
    )
