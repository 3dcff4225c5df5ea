"""The fields and the moments of a generalized Gaussian law on bounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from attrs import field, frozen

from ggdp.distributions import parameters
from ggdp.distributions.bounded_moments import inner, within_floats

if TYPE_CHECKING:
    from ggdp.distributions.bounded_moments import ErrorMoments

__all__ = ["BoundedLaw"]


@frozen(kw_only=True)
class BoundedLaw(ABC):
    """A law around a location, kept in bounds."""

    order: float = field(converter=parameters.order)
    scale: float = field(converter=parameters.scale)
    location: float = field(converter=parameters.location)
    bounds: tuple[float, float] = field(converter=within_floats)

    def __attrs_post_init__(self) -> None:
        inner(self.location, self.bounds)

    @property
    def mean(self) -> float:
        """The mean."""
        return self.location + self.bias

    @property
    def bias(self) -> float:
        """The mean less the location."""
        return float(self._moments().bias)

    @property
    def variance(self) -> float:
        """The variance."""
        return float(self._moments().variance)

    @property
    def std(self) -> float:
        """The standard deviation."""
        return float(self._moments().std)

    @property
    def mean_squared_error(self) -> float:
        """The mean of the squared distance from the location."""
        return float(self._moments().mean_squared_error)

    @property
    def mean_abs_error(self) -> float:
        """The mean distance from the location."""
        return float(self._moments().mean_abs_error)

    @abstractmethod
    def _moments(self) -> ErrorMoments:
        """Return the moments of the error at the location."""
