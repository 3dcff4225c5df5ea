"""Exact draws of integer generalized Gaussian noise from the operating system's randomness.

A uniform U is drawn bit by bit, and the draw is the largest k with U < T(k) = P(K >= k). The comparisons are made in
ball arithmetic with as many bits of U as it takes to decide them, so the law is exact: no float is added, rounded or
compared.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb, ctx

from ggdp import _validate
from ggdp.distributions.integer import IntegerGeneralizedGaussian
from ggdp.distributions.integer_sums import tail
from ggdp.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

__all__ = ["IntegerNoise"]

_BITS = 64
# A draw of 2^63 is then 256 scales out.
_WIDEST = 2.0**55


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegerNoise:
    """Integer noise with P(k) proportional to exp(-(|k| / scale)^order), drawn exactly.

    Parameters
    ----------
    order : float
        Order of the noise, at least 1.
    scale : float
        Scale of the noise.

    Examples
    --------
    >>> noise = IntegerNoise(order=3, scale=10.0)
    >>> noise.sample(5).dtype
    dtype('int64')
    >>> round(noise.std, 6)
    6.109685
    """

    order: float
    scale: float

    def __post_init__(self) -> None:
        law = self.law
        object.__setattr__(self, "order", law.order)
        object.__setattr__(self, "scale", law.scale)

    @property
    def law(self) -> IntegerGeneralizedGaussian:
        """The law that is drawn from."""
        return IntegerGeneralizedGaussian(order=self.order, scale=self.scale)

    @property
    def std(self) -> float:
        """Standard deviation."""
        return self.law.std

    def pmf(self, k: ArrayLike) -> Any:  # noqa: ANN401 - a float for a number, an array for an array
        """Return P(K = k)."""
        return self.law.pmf(k)

    def cdf(self, k: ArrayLike) -> Any:  # noqa: ANN401 - a float for a number, an array for an array
        """Return P(K <= k)."""
        return self.law.cdf(k)

    def sample(self, size: int | tuple[int, ...]) -> NDArray[np.int64]:
        """Return independent draws as an array of 64-bit integers.

        Parameters
        ----------
        size : int or tuple of int
            Shape of the array.

        Notes
        -----
        Every draw is made from fresh bits of the operating system. Noise cut off at 64 bits would not have the law
        that was proved, so scales that could come near that are refused.
        """
        if self.scale > _WIDEST:
            raise ArgumentError("scale", self.scale, "is too wide for 64-bit draws (2^55 at most); use a larger unit")
        shape = (size,) if isinstance(size, int) else tuple(size)
        shape = tuple(_validate.integer(size=length, at_least=0) for length in shape)
        result = np.empty(shape, dtype=np.int64)
        flat = result.reshape(-1)
        for i in range(flat.size):
            # A draw beyond 64 bits, of a probability below e^-200, is an OverflowError here and never a wrong number.
            flat[i] = _draw(self.order, self.scale, secrets.randbits)
        return result


def _draw(p: float, b: float, random_bits: Callable[[int], int]) -> int:
    """Return the largest k with U < T(k), reading as many bits of U as that takes.

    `numerator` / 2^bits <= U < (numerator + 1) / 2^bits throughout.
    """
    numerator, bits = random_bits(_BITS), _BITS
    k = 0
    step = max(int(b), 1)
    while True:
        with ctx.workprec(bits + 32):
            low, high = arb(numerator) / arb(2) ** bits, (arb(numerator) + 1) / arb(2) ** bits
            below, above = _bracket(p, b, k, step, low, high)
            while below is not None and above is not None and above - below > 1:
                middle = (below + above) // 2
                position = _side(tail(p, b, middle), low, high)
                below, above = (middle, above) if position > 0 else (below, middle) if position < 0 else (None, None)
            if below is not None and above is not None:
                return below
        numerator, bits = (numerator << _BITS) | random_bits(_BITS), bits + _BITS


def _bracket(p: float, b: float, start: int, step: int, low: arb, high: arb) -> tuple[int | None, int | None]:
    """Return integers with U < T(first) and U >= T(second), or None where the bits of U do not decide."""
    position = _side(tail(p, b, start), low, high)
    if position == 0:
        return None, None
    direction, last = (1 if position > 0 else -1), start
    while True:
        here = last + direction * step
        step *= 2
        moved = _side(tail(p, b, here), low, high)
        if moved == 0:
            return None, None
        if moved != position:
            return (last, here) if direction > 0 else (here, last)
        last = here


def _side(threshold: arb, low: arb, high: arb) -> int:
    """Return 1 if U < threshold for certain, -1 if U >= threshold for certain, 0 if the bits do not decide."""
    if threshold >= high:
        return 1
    if threshold <= low:
        return -1
    return 0
