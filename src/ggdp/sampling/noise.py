"""Integer generalized Gaussian noise, drawn exactly: by a table where one fits, by rejection at wider scales."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from ggdp.distributions import parameters
from ggdp.distributions.integer import IntegerGeneralizedGaussian
from ggdp.sampling.batch import Drawn
from ggdp.sampling.choice import sampler_of
from ggdp.sampling.conditional import ConditionalNoise

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ggdp.sampling.batch import Sampler


@frozen(kw_only=True)
class IntegerNoise(Drawn):
    """Integer noise with P(k) proportional to exp(-(|k| / scale)^order), drawn exactly.

    Parameters
    ----------
    order : float
        Order of the noise, at least 1.
    scale : float
        Scale of the noise. Above 2^55 it is not drawn: noise cut off at 64 bits would not have the law that was proved.

    Examples
    --------
    >>> noise = IntegerNoise(order=3, scale=10.0)
    >>> noise.sample(5).dtype
    dtype('int64')
    >>> round(noise.std, 6)
    6.109685
    >>> from ggdp.sampling import SeededSource
    >>> IntegerNoise(order=2, scale=20.0).sample((2, 4), source=SeededSource(seed=1))
    array([[ 15,  17,  16,  25],
           [ 10, -25,  -5,  -7]])
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

    def _sampler(self) -> Sampler:
        return sampler_of(self.order, self.scale)

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
