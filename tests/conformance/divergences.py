"""Privacy losses of two laws by brute force, output by output: no formula of the library is used.

Masses come as bounds, so each of these is a lower bound of the exact number. Float sums of at most ten million terms
that add up to 1 or less are off by less than `ERROR`.
"""

import math
from functools import reduce

import numpy as np

ERROR = 1e-13
# Losses this near to epsilon are not counted as above it: breakpoints of the integers lie on it.
TIE = 1e-9


def jointly(laws, others):
    """Bounds of the masses of all outputs of independent coordinates, of one vector of laws and of another."""
    parts = [], [], [], []
    for p, q in zip(laws, others, strict=True):
        first, last = min(p.first, q.first), max(p.last, q.last)
        for part, masses in zip(parts, (*p.over(first, last), *q.over(first, last)), strict=True):
            part.append(masses)
    return [reduce(np.multiply.outer, part, np.array(1.0)).reshape(-1) for part in parts]


def approximate_delta(laws, others, epsilon):
    """The least delta that (epsilon, delta)-aDP could have: a hockey-stick sum over all outputs."""
    p_lower, _, _, q_upper = jointly(laws, others)
    return float(np.maximum(p_lower - math.exp(epsilon) * q_upper, 0.0).sum())


def probabilistic_delta(laws, others, epsilon):
    """The least delta that (epsilon, delta)-pDP could have: the probability that |loss| is above epsilon."""
    p_lower, p_upper, q_lower, q_upper = jointly(laws, others)
    above = p_lower > math.exp(epsilon + TIE) * q_upper
    below = p_upper * math.exp(epsilon + TIE) < q_lower
    return float(p_lower[above | below].sum())


def pure_epsilon(laws, others):
    """The least epsilon that pure DP could have: the largest loss at one output."""
    p_lower, _, _, q_upper = jointly(laws, others)
    with np.errstate(divide="ignore"):
        return float(np.log(p_lower / q_upper).max())
