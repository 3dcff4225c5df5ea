"""Simulated noise, from seeds: for studying mechanisms, never for a release.

Adding a floating-point draw to a value is not private, whatever its scale: which sums can be reached depends on the
value (Mironov, CCS 2012). Nothing in ggdp draws that way; its private noise is `ggdp.IntegerNoise`.

Every stream of random numbers has a seed made from the user's seed and the names of what it is for, so that results do
not depend on what else is run, in which order, or by how many processes.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import numpy as np

import ggdp
from ggdp.errors import ArgumentError
from ggdp_reproduction.checks import integer

if TYPE_CHECKING:
    from ggdp_reproduction.checks import Floats


def stream_seed(seed: int, *names: str | float | None) -> int:
    """Return the seed of the stream with these names, from the seed of the whole run: 128 bits of a hash."""
    text = json.dumps(["ggdp experiments", integer(seed=seed, at_least=0), *names])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def simulated_noise(noise: ggdp.Calibration, shape: tuple[int, ...], *, seed: int) -> Floats:
    """Return noise of a calibration as floats, from a seed. Not private."""
    if noise.support == "integer":
        sampler = ggdp.IntegerNoise(order=noise.order, scale=noise.scale)
        return sampler.sample(shape, rng=ggdp.SeededSource(seed=seed)).astype(np.float64)
    law = ggdp.GeneralizedGaussian(order=noise.order, scale=noise.scale)
    return simulated_not_private(law, shape, generator=np.random.default_rng(seed))


def simulated_not_private(
    law: ggdp.GeneralizedGaussian, size: int | tuple[int, ...], *, generator: np.random.Generator
) -> Floats:
    """Return floating-point draws of a generalized Gaussian law, for studying it. Not private.

    Notes
    -----
    If G has the Gamma law of shape 1/p, then scale * G^(1/p) with a random sign has the law of order p.

    Examples
    --------
    >>> law = ggdp.GeneralizedGaussian(order=3, scale=2.0)
    >>> simulated_not_private(law, 4, generator=np.random.default_rng(5)).shape
    (4,)
    """
    if not isinstance(law, ggdp.GeneralizedGaussian):
        raise ArgumentError("law", law, "must be a GeneralizedGaussian")
    if not isinstance(generator, np.random.Generator):
        raise ArgumentError(
            "generator", generator, "must be a numpy.random.Generator, such as numpy.random.default_rng()"
        )
    sizes = generator.standard_gamma(1.0 / law.order, size) ** (1.0 / law.order)
    return law.scale * np.where(generator.integers(0, 2, size) == 1, sizes, -sizes)
