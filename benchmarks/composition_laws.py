"""Noise of any order that is moved by a step, in floats: what dp-accounting must be told of it.

The loss of an outcome x is log(mu(x + size) / mu(x)), which falls in x; mu is the law of the noise.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# The logarithm of the mass that may be left out at an end; dp-accounting's own.
TAIL = -50.0


class ShiftedNoise:
    """Noise of an order and a scale, on the reals or on the integers, that is moved by `size`."""

    def __init__(self, order: float, scale: float, size: float, support: str) -> None:
        self.order, self.scale, self.size, self.support = order, scale, size, support

    @classmethod
    def of(cls, record: dict[str, Any]) -> ShiftedNoise:
        return cls(record["order"], record["scale"], record["size"], record["support"])

    @cached_property
    def reach(self) -> float:
        """The noise is farther from 0 with a probability of about e^TAIL."""
        far = self.scale * special.gammainccinv(1.0 / self.order, math.exp(TAIL)) ** (1.0 / self.order)
        return float(math.ceil(far) + self.size) if self.support == "integer" else float(far)

    @cached_property
    def _table(self) -> Floats:
        """Logarithms of the distribution function on the integers, from one below the reach to the reach."""
        points = np.arange(-self.reach, self.reach + 1.0)
        logs = np.logaddexp.accumulate(np.append(-np.inf, -((np.abs(points) / self.scale) ** self.order)))
        return logs - logs[-1]

    def log_cdf(self, x: Floats) -> Floats:
        if self.support == "integer":
            places = np.clip(np.floor(x), -self.reach - 1.0, self.reach) + self.reach + 1.0
            return self._table[places.astype(np.int64)]
        tail = 0.5 * special.gammaincc(1.0 / self.order, (np.abs(x) / self.scale) ** self.order)
        with np.errstate(divide="ignore"):
            return np.where(x < 0.0, np.log(tail), np.log1p(-tail))

    def cdf(self, x: Floats) -> Floats:
        return np.exp(self.log_cdf(x))

    def loss(self, x: Floats) -> Floats:
        return (np.abs(x / self.scale)) ** self.order - (np.abs((x + self.size) / self.scale)) ** self.order

    def last_above(self, loss: Floats) -> Floats:
        """Return the largest x whose loss is at least this, no farther out than noise is."""
        low = np.full_like(loss, -self.reach - self.size - 1.0)
        high = np.full_like(loss, self.reach + 1.0)
        if self.support == "integer":
            low, high = np.floor(low), np.ceil(high)
            while np.any(high - low > 1.0):
                middle = np.floor(0.5 * (low + high))
                above = self.loss(middle) >= loss
                low, high = np.where(above, middle, low), np.where(above, high, middle)
            return low
        for _ in range(60):
            middle = 0.5 * (low + high)
            above = self.loss(middle) >= loss
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        return low
