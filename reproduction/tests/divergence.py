"""The Kullback-Leibler divergence of two tables of counts, written down plainly."""

import numpy as np


def kl_dirichlet(first, second, *, prior=0.5):
    """Return sum f ln(f / g) of the posterior means f and g."""
    f, g = ((counts + prior) / (counts + prior).sum() for counts in (np.asarray(first), np.asarray(second)))
    return float((f * np.log(f / g)).sum())
