"""Integer generalized Gaussian noise, drawn exactly: by a table where one fits, by rejection at wider scales."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from ggdp.distributions import parameters
from ggdp.distributions.integer import IntegerGeneralizedGaussian
from ggdp.sampling.batch import drawn
from ggdp.sampling.choice import sampler_of
from ggdp.sampling.conditional import ConditionalNoise

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from ggdp.sampling.entropy import Source

__all__ = ["IntegerNoise"]


@frozen(kw_only=True)
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

    order: float = field(converter=parameters.order)
    scale: float = field(converter=parameters.scale)

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

    def sample(self, size: int | tuple[int, ...], *, source: Source | None = None) -> NDArray[np.int64]:
        """Return independent draws as an array of 64-bit integers.

        Parameters
        ----------
        size : int or tuple of int
            Shape of the array.
        source : Source, optional
            Where the random bits come from; by default a cryptographic stream keyed by the operating system. What is
            made from a `SeededSource` is not private.

        Raises
        ------
        ArgumentError
            If the shape is invalid, or the scale is above 2^55: noise cut off at 64 bits would not have the law that
            was proved.
        EntropyError
            If the source fails; then there is no noise.

        Notes
        -----
        Claim. Every draw has exactly the law of this noise (`ggdp.sampling.table`, `ggdp.sampling.rejection`), and is
        made without knowledge of any true value.

        Examples
        --------
        >>> from ggdp.sampling import SeededSource
        >>> IntegerNoise(order=2, scale=20.0).sample((2, 4), source=SeededSource(seed=1))
        array([[ 15,  17,  16,  25],
               [ 10, -25,  -5,  -7]])
        """
        return drawn(sampler_of(self.order, self.scale), size, source)

    def at_least(self, threshold: int) -> ConditionalNoise:
        """Return this noise given that it is at least `threshold`.

        Parameters
        ----------
        threshold : int
            The least value of the noise.

        Examples
        --------
        >>> far = IntegerNoise(order=2, scale=10.0).at_least(83)  # noise is so large once in 10^30 times
        >>> int(far.sample(1000).min())
        83
        """
        return ConditionalNoise(order=self.order, scale=self.scale, threshold=threshold)
