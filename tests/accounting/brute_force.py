"""Delta of a sum of independent losses by enumeration, in 50 digits; it shares no code with the library."""

from __future__ import annotations

from functools import reduce
from itertools import product

from mpmath import mp, mpf

mp.dps = 50

# A loss as pairs (loss, probability); the rest of the probability is at an infinite loss.
Law = list[tuple[mpf, mpf]]


def response(epsilon: float, delta: float = 0.0) -> Law:
    """Return the loss of randomised response, with a probability delta of an infinite loss."""
    e = mpf(epsilon)
    truth = 1 / (1 + mp.exp(-e))
    return [(e, truth * (1 - mpf(delta))), (-e, (1 - truth) * (1 - mpf(delta)))]


def integer_noise(order: float, scale: float, shift: int, reach: int) -> Law:
    """Return the loss of integer noise up to `reach`; what is beyond is so rare that it is left out."""
    p, b = mpf(order), mpf(scale)
    weights = {k: mp.exp(-((abs(k) / b) ** p)) for k in range(-reach, reach + 1)}
    total = sum(weights.values())
    return [(((abs(k + shift)) ** p - abs(k) ** p) / b**p, weight / total) for k, weight in weights.items()]


def delta_of(laws: list[Law], epsilon: float) -> mpf:
    """Return E (1 - e^(epsilon - sum))_+, and the probability of an infinite loss."""
    total, finite = mpf(0), reduce(lambda a, law: a * sum(q for _, q in law), laws, mpf(1))
    for outcome in product(*laws):
        loss = sum((one for one, _ in outcome), mpf(0))
        if loss > epsilon:
            probability = reduce(lambda a, pair: a * pair[1], outcome, mpf(1))
            total += probability * (1 - mp.exp(mpf(epsilon) - loss))
    return total + 1 - finite
