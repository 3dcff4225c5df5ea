"""Floating-point draws of the generalized Gaussian law, for simulation only: never for a release.

Adding a floating-point draw to a value is not private, whatever its scale: which sums can be reached depends on the
value (Mironov, CCS 2012). Nothing else in ggdp uses this module. Private noise is `ggdp.IntegerNoise`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ggdp import GeneralizedGaussian
from ggdp.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def simulated_not_private(
    law: GeneralizedGaussian, size: int | tuple[int, ...], *, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Return floating-point draws of a generalized Gaussian law, for studying it. Not private.

    Parameters
    ----------
    law : GeneralizedGaussian
        The law.
    size : int or tuple of int
        Shape of the array.
    generator : numpy.random.Generator
        Where the randomness comes from.

    Notes
    -----
    If G has the Gamma law of shape 1/p, then scale * G^(1/p) with a random sign has the law of order p.

    Examples
    --------
    >>> from ggdp import GeneralizedGaussian
    >>> law = GeneralizedGaussian(order=3, scale=2.0)
    >>> simulated_not_private(law, 4, generator=np.random.default_rng(5)).shape
    (4,)
    """
    if not isinstance(law, GeneralizedGaussian):
        raise ArgumentTypeError("law", law, "must be a GeneralizedGaussian")
    if not isinstance(generator, np.random.Generator):
        raise ArgumentError(
            "generator", generator, "must be a numpy.random.Generator, such as numpy.random.default_rng()"
        )
    sizes = generator.standard_gamma(1.0 / law.order, size) ** (1.0 / law.order)
    return law.scale * np.where(generator.integers(0, 2, size) == 1, sizes, -sizes)
