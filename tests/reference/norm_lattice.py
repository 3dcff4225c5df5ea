"""The law of noise of a norm on several groups of cells, point by point, from the definition of the norm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]


def norm_lattice(
    groups: tuple[int, ...], complete: tuple[bool, ...] | None, scale: float, reach: int
) -> tuple[list[Integers], Floats]:
    """Every vector of cells near 0, a column for each cell, and its probability, from the norm "added" itself.

    The free cells go from -reach to reach, and so does the common total; what is beyond is left out.
    """
    axis, whole = np.arange(-reach, reach + 1), complete or (False,) * len(groups)
    free = [one.reshape(-1) for one in np.meshgrid(*[axis] * (sum(groups) + any(whole)), indexing="ij")]
    u = free.pop() if any(whole) else None
    cells: list[Integers] = []
    up = down = np.zeros_like(free[0] if free else u)
    for n, is_whole in zip(groups, whole, strict=True):
        group, free = free[:n], free[n:]
        if is_whole and u is not None:
            group = [*group, u - sum(group)]
        up = np.maximum(up, sum(np.maximum(x, 0) for x in group))
        down = np.maximum(down, sum(np.maximum(-x, 0) for x in group))
        cells += group
    if u is not None:
        up = np.maximum(up, down + u)
        down = up - u
    weights = np.exp(-(up + down) / scale)
    return cells, weights / weights.sum()
