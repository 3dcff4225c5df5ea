"""Noise for simulated repeats, and what is done to noisy counts afterwards.

=============  =========================================================================================
raw            nothing
clip-rescale   into [0, n], then scaled to n: what the paper does
project        to the nearest counts, by Euclid, that are not negative and add up to n
clip-zero      negative counts to 0; no total is used
=============  =========================================================================================

The second and third publish n, which fits replace-one neighbours only: under add/remove the typed releases of ggdp
refuse them. They are done here as plain arithmetic, on simulated noise, to compare errors.

Every stream of random numbers has a seed made from the user's seed and the names of what it is for, so that results do
not depend on what else is run, in which order, or by how many processes.

References
----------
Liu, arXiv 1602.06028 v5, Section 4 (clipping and normalising). Michelot, "A finite algorithm for finding the projection
of a point onto the canonical simplex of R^n", J. Optim. Theory Appl. 50 (1986).
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

import ggdp
from ggdp_reproduction.checks import integer
from ggdp_reproduction.experiments.simulation import simulated_not_private

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Reals: TypeAlias = NDArray[np.float64]

__all__ = [
    "ADJUSTMENTS",
    "ADJUSTMENT_LABELS",
    "Adjustment",
    "clip_at_zero",
    "clip_rescale",
    "projected",
    "simulated_noise",
    "stream_seed",
]

Adjustment: TypeAlias = Literal["raw", "clip-rescale", "project", "clip-zero"]


def stream_seed(seed: int, *names: str | float | None) -> int:
    """Return the seed of the stream with these names, from the seed of the whole run: 128 bits of a hash.

    Examples
    --------
    >>> stream_seed(0, "mildew", "laplace", 1.0, None, 0) == stream_seed(0, "mildew", "laplace", 1.0, None, 1)
    False
    """
    text = json.dumps(["ggdp experiments", integer(seed=seed, at_least=0), *names])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def simulated_noise(noise: ggdp.Calibration, shape: tuple[int, ...], *, seed: int) -> Reals:
    """Return noise as floats, from a seed: for simulation, never for a release.

    Examples
    --------
    >>> from ggdp_reproduction.experiments.sanitisers import sanitiser_of
    >>> simulated_noise(sanitiser_of("integer-laplace").calibrate(1.0), (2, 3), seed=1).shape
    (2, 3)
    """
    if noise.support == "integer":
        sampler = ggdp.IntegerNoise(order=noise.order, scale=noise.scale)
        return sampler.sample(shape, source=ggdp.SeededSource(seed=seed)).astype(np.float64)
    law = ggdp.GeneralizedGaussian(order=noise.order, scale=noise.scale)
    return simulated_not_private(law, shape, generator=np.random.default_rng(seed))


def clip_rescale(noisy: Reals, total: float) -> Reals:
    """Return the counts clipped to [0, n] and scaled to n, over the last axis; all alike where none is above 0.

    Examples
    --------
    >>> clip_rescale(np.array([-1.0, 3.0, 9.0]), 8.0)
    array([0.        , 2.18181818, 5.81818182])
    """
    clipped = np.clip(noisy, 0.0, total)
    sums = clipped.sum(axis=-1, keepdims=True)
    if not sums.all():
        clipped = np.where(sums > 0.0, clipped, 1.0)
        sums = clipped.sum(axis=-1, keepdims=True)
    # A power of 2, which rounds nothing: the total over a sum next to nothing would overflow.
    lift = np.where(sums < 2.0**-500, 2.0**500, 1.0)
    clipped *= lift
    clipped *= total / (sums * lift)
    return clipped


def projected(noisy: Reals, total: float) -> Reals:
    """Return the nearest counts, by Euclid, that are not negative and add up to n > 0, over the last axis.

    Notes
    -----
    All counts are lowered by one level t, and what is then below 0 is put to 0. The level rises from that of all cells
    to that of the cells above it until none drops out (Michelot), which needs no sorting.

    Examples
    --------
    >>> projected(np.array([-1.0, 3.0, 9.0]), 8.0)
    array([0., 1., 7.])
    """
    # Relative to the largest count, no digits are lost to a common level.
    lowered: Reals = noisy - noisy.max(axis=-1, keepdims=True)
    level = (lowered.sum(axis=-1, keepdims=True) - total) / lowered.shape[-1]
    left = np.full(level.shape, lowered.shape[-1])
    while True:
        above = lowered > level
        count = above.sum(axis=-1, keepdims=True)
        if (count == left).all():
            break
        rising = (np.where(above, lowered, 0.0).sum(axis=-1, keepdims=True) - total) / count
        level, left = np.where(count == left, level, rising), count
    lowered -= level
    np.maximum(lowered, 0.0, out=lowered)
    return lowered


def clip_at_zero(noisy: Reals, total: float) -> Reals:
    """Return the counts with negative ones set to 0; the total is not used.

    Examples
    --------
    >>> clip_at_zero(np.array([-1.0, 3.0, 9.0]), 8.0)
    array([0., 3., 9.])
    """
    del total
    return np.maximum(noisy, 0.0)


def _raw(noisy: Reals, total: float) -> Reals:
    del total
    return noisy


ADJUSTMENTS: dict[Adjustment, Callable[[Reals, float], Reals]] = {
    "raw": _raw,
    "clip-rescale": clip_rescale,
    "project": projected,
    "clip-zero": clip_at_zero,
}
# What tables and figures call them.
ADJUSTMENT_LABELS: dict[Adjustment, str] = {
    "raw": "as drawn",
    "clip-rescale": "clip, rescale to n",
    "project": "project to n",
    "clip-zero": "clip at 0",
}
