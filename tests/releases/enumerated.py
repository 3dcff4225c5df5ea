"""Small laws of releases, enumerated output by output: no formula of the library but that of single masses."""

import math
from functools import cache

import numpy as np

from ggdp.noise.integer_law import IntegerGeneralizedGaussian
from ggdp.releases.error_law import ErrorLaw

LEAST, LARGEST = -(2**63), 2**63 - 1
BOUNDINGS = ["truncated", "boundary-inflated"]
# The sums of the oracle are floats too.
HAIR = 1e-13


@cache
def masses(order, scale):
    """The noise, but for what no float would notice, and its probabilities."""
    far = math.ceil(scale * 60 ** (1 / order)) + 1
    k = np.arange(-far, far + 1)
    return k, IntegerGeneralizedGaussian(order=order, scale=scale).pmf(k)


def outputs(law, s, pair):
    """The noisy indices around the index s, each with its probability; the pair of bounds may be None."""
    k, q = masses(law.order, law.scale)
    if pair is None:
        return s + k, q
    low, high = pair
    if law.bounding == "boundary-inflated":
        return np.clip(s + k, low, high), q
    x = np.arange(low, high + 1)
    weights = np.exp(-((np.abs(x - s) / law.scale) ** law.order))
    return x, weights / weights.sum()


def bounded(bounding, order, scale, low, high, **more):
    return ErrorLaw(order=order, scale=scale, bounding=bounding, index_bounds=((low, high),), **more)
