"""Noisy sums of the cells of a table, and what is estimated from them.

A column has a public range [lo, hi], cut into N steps. A unit has a value a from 0 to N, clamped to the range and
rounded to a step, or none. In its cell it adds, to the sums of its column,

=======  =======================  ==================================================  ==========
kind     without a value          with the value a                                    unit U
=======  =======================  ==================================================  ==========
pair     (U, 0, 0)                (0, k (N - a), k a)                                 k N
triple   (U, 0, 0, 0)             (0, k (N - a)^2, 2 k a (N - a), k a^2)              k N^2
=======  =======================  ==================================================  ==========

Whatever its value, a unit adds U in all. Each sum has independent integer noise of the same law.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import field, frozen

from ggdp import _validate
from ggdp.errors import ArgumentError

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from ggdp.distributions.generalized_gaussian import Floats

# Coordinates of a pair and of a triple, with the one for units without a value.
PAIR, TRIPLE = 3, 4


def _sums(sums: object) -> Floats:
    array = np.asarray(sums)
    if array.ndim == 0 or array.shape[-1] not in (PAIR, TRIPLE):
        raise ArgumentError("sums", f"of shape {array.shape}", "must have 3 or 4 coordinates along the last axis")
    return np.asarray(array.astype(np.float64))


def _unit(unit: int) -> int:
    return _validate.integer(unit=unit, at_least=1)


@frozen(kw_only=True, eq=False)
class ColumnSums:
    """The noisy sums of one column: a pair or a triple in each cell, after the sum for units without a value.

    Parameters
    ----------
    sums : array_like of int
        Noisy sums; the last axis has 3 coordinates (pair) or 4 (triple), any others are cells.
    unit : int
        U, what one unit adds to all coordinates together.

    Examples
    --------
    >>> ColumnSums(sums=[[0, 30, 10]], unit=10).coordinates
    3
    """

    sums: Floats = field(converter=_sums)
    unit: int = field(converter=_unit)

    @property
    def coordinates(self) -> int:
        """How many sums a cell has."""
        return int(self.sums.shape[-1])

    @property
    def weighed(self) -> Floats:
        """The sums of the units with a value, without the first coordinate."""
        return self.sums[..., 1:]

    @property
    def mean_weights(self) -> Floats:
        """What a unit of each of these sums adds to the sum of values, as parts of the range: 0 to 1 in even steps."""
        return np.linspace(0.0, 1.0, self.coordinates - 1)


@frozen(eq=False)
class Estimate:
    """Values with the ends of their intervals, an entry for each cell.

    `lower <= value <= upper` wherever there is a value. One that is NaN is null: the noisy sums say nothing about it,
    and the interval is all that is possible. Counts are int64 and never null.
    """

    value: NDArray[Any]
    lower: NDArray[Any]
    upper: NDArray[Any]
