"""The law of the noise that a proof is about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from ggdp import _validate

Support: TypeAlias = Literal["real", "integer"]
Bounding: TypeAlias = Literal["truncated", "boundary-inflated"]

SUPPORTS = get_args(Support)
BOUNDINGS = get_args(Bounding)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseLaw:
    """Generalized Gaussian noise, independent in every coordinate.

    Attributes
    ----------
    order, scale : float
        Order p >= 1 and scale b: the density, or the probability of an integer x, is proportional to exp(-(|x|/b)^p).
    support : {"real", "integer"}
        Where the noise lives.
    bounding : {"truncated", "boundary-inflated"}, optional
        What keeps the noisy value in bounds; None for unbounded noise.

    Examples
    --------
    >>> NoiseLaw(order=2, scale=3.0).with_scale(4.0)
    NoiseLaw(order=2.0, scale=4.0, support='real', bounding=None)
    """

    order: float
    scale: float
    support: Support = "real"
    bounding: Bounding | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", _validate.order(order=self.order))
        object.__setattr__(self, "scale", _validate.positive(scale=self.scale))
        _validate.choice(among=SUPPORTS, support=self.support)
        if self.bounding is not None:
            _validate.choice(among=BOUNDINGS, bounding=self.bounding)

    def with_scale(self, scale: float) -> NoiseLaw:
        """Return the same law with another scale."""
        return replace(self, scale=scale)
