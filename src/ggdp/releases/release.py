"""A release: noisy values, what is promised of them, and how they were made.

A release holds nothing but what may be published. The true values never enter it: a mechanism hands over its output and
public facts. Only a mechanism can attach a guarantee (`released`); a release that is made or changed by hand has none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ggdp.privacy import Guarantee, Neighbours

__all__ = ["MechanismFacts", "Release", "released"]

_SHOWN_VALUES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismFacts:
    """How the noise was made: public facts, none of which depends on the data.

    Attributes
    ----------
    order, scale : float
        Order and scale of the noise, the scale in the unit of the data.
    support : {"real", "integer"}
        What the values are; real values lie on a grid.
    step : float, optional
        Step of the grid, for real values.
    bounding : {"truncated", "boundary-inflated"}, optional
        What keeps the output in `bounds`.
    bounds : tuple of (lower, upper), optional
        Bounds of query and output.
    neighbours : {"add-remove", "replace-one"}
        The relation that the sensitivity was stated for.
    """

    order: float
    scale: float
    support: str
    step: float | None
    bounding: str | None
    bounds: tuple[tuple[float, float], ...] | None
    neighbours: Neighbours

    def __str__(self) -> str:
        names = {1.0: " (Laplace)", 2.0: " (Gaussian)"}
        law = f"{self.bounding or 'additive'} noise of order {self.order:.12g}{names.get(self.order, '')}"
        place = "on the integers" if self.step is None else f"on a grid of step {self.step:.12g}"
        return f"{law}, scale {self.scale:.12g}, {place}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Release:
    """Noisy values with their guarantee. Made by a mechanism's ``release``.

    Attributes
    ----------
    values : numpy.ndarray
        The noisy values, read-only, in the shape of the query.
    mechanism : MechanismFacts
        How the noise was made.
    guarantee : PureDP, ProbabilisticDP, ApproxDP or None
        What is proved of the values; None if they are not private, since their noise came from a seeded source. It
        cannot be passed in: a release that is made by hand has none.

    Examples
    --------
    >>> import ggdp
    >>> from ggdp.mechanisms import Mechanism
    >>> goal, query = ggdp.PureDP(1.0), ggdp.Sensitivity.histogram()
    >>> release = Mechanism(ggdp.calibrate(goal, query, order=1, support="integer")).release([12, 0, 7])
    >>> print(release.guarantee)
    1-DP under add-remove neighbours
    >>> release.to_numpy().shape
    (3,)
    """

    values: NDArray[Any]
    mechanism: MechanismFacts
    guarantee: Guarantee | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        values = np.asarray(self.values).view()
        values.setflags(write=False)
        object.__setattr__(self, "values", values)

    def __setstate__(self, state: list[Any]) -> None:
        # A copy made by pickling is as little to be written to as the original.
        for name, value in zip(("values", "mechanism", "guarantee"), state, strict=True):
            object.__setattr__(self, name, value)
        self.values.setflags(write=False)

    def to_numpy(self) -> NDArray[Any]:
        """Return the values as an array of your own, which may be written to."""
        return self.values.copy()

    def __repr__(self) -> str:
        promise = "NOT PRIVATE: no guarantee" if self.guarantee is None else str(self.guarantee)
        count = "one value" if self.values.size == 1 else f"{self.values.size:,} values"
        first = ", ".join(str(value) for value in self.values.flat[:_SHOWN_VALUES].tolist())
        more = ", ..." if self.values.size > _SHOWN_VALUES else ""
        return f"<Release of {count}: {promise}; {self.mechanism}; {first}{more}>"


def released(values: NDArray[Any], mechanism: MechanismFacts, guarantee: Guarantee | None) -> Release:
    """Return a release with its guarantee: for mechanisms and post-processing alone, which have proved it."""
    release = Release(values=values, mechanism=mechanism)
    object.__setattr__(release, "guarantee", guarantee)
    return release
