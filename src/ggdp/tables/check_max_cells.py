"""What each choice of `max_cells` cuts and costs. Nothing here is private.

========  ====================================================================================
c_u       distinct cells of a table that unit u is in
S(M)      sum of min(c_u, M) over units: pairs of unit and cell that are kept if M are counted
F         cells of the table that are not empty
h(M)      plus-minus at 95 % of pure Laplace noise where a unit is in M cells of each table
========  ====================================================================================

Which M to recommend: the one with the least h(M) + (S(infinity) - S(M)) / F, that is noise and what is cut from a cell
on average, among those listed; the smallest of several. It is found by a look at the data, so it must not be published:
a published number such as `max_cells` should be chosen by what is known of such data.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ggdp.mechanisms import Mechanism
from ggdp.privacy import PureDP, Sensitivity
from ggdp.releases.mechanism_record import LEVEL
from ggdp.tables.table_noise import LAPLACE, table_noise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_QUANTILES = (0.5, 0.75, 0.9, 0.95, 0.99, 1.0)


def max_cells_choices(
    cells: NDArray[np.int64], units: NDArray[np.int64], filled: int, sizes: Sequence[int | None], epsilon: float
) -> dict[str, Any]:
    """Return quantiles of the cells of units, what each `max_cells` leaves and costs, and the one to recommend."""
    whole = int((cells * units).sum())
    choices = []
    for limit in _candidates(int(cells.max())):
        kept = int((np.minimum(cells, limit) * units).sum())
        moving = sum(limit if size is None else min(limit, size) for size in sizes)
        noise = Mechanism(table_noise(PureDP(epsilon), Sensitivity.histogram(max_cells=moving), LAPLACE))
        choices.append(
            {
                "max_cells": limit,
                "kept": kept / whole if whole else 1.0,
                "cut": (whole - kept) / filled if filled else 0.0,
                "units_cut": int(units[cells > limit].sum()),
                "plus_minus": int(noise.law.half_width(LEVEL)),
            }
        )
    best = min(choices, key=lambda choice: (choice["plus_minus"] + choice["cut"], choice["max_cells"]))
    return {"quantiles": quantiles(cells, units), "choices": tuple(choices), "recommended": best["max_cells"]}


def quantiles(values: NDArray[np.int64], weights: NDArray[np.int64]) -> dict[str, int]:
    """Return quantiles of values, given how often each occurs."""
    if not values.size:
        return dict.fromkeys((f"{q:g}" for q in _QUANTILES), 0)
    sorting = np.argsort(values)
    values, below = values[sorting], np.cumsum(weights[sorting])
    places = {q: min(int(np.searchsorted(below, math.ceil(q * below[-1]))), values.size - 1) for q in _QUANTILES}
    return {f"{q:g}": int(values[place]) for q, place in places.items()}


def _candidates(most: int) -> list[int]:
    """Return 1, 2, 3, 5, 10, 20, 30, 50, ... up to the first that leaves out nothing."""
    found, power = [], 1
    while True:
        for digit in (1, 2, 3, 5):
            found.append(digit * power)
            if found[-1] >= most:
                return found
        power *= 10
