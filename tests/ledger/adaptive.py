"""The worst adaptive strategy of a few steps, by enumeration.

A law is a list of outcomes (p, q): their probabilities on the two neighbouring data sets. A strategy chooses the next
law, or stops, after every history of outcomes. The delta of a strategy at epsilon is the sum of max(0, p - e^epsilon q)
over its histories, so that the best choice at one history does not depend on the others: the maximum over choices,
taken at each history, is the maximum over all strategies.
"""

import math
from functools import cache


def response(epsilon, delta=0.0):
    """Return randomised response with a probability delta of revealing all."""
    high, low = math.exp(epsilon) / (1 + math.exp(epsilon)), 1 / (1 + math.exp(epsilon))
    finite = [((1 - delta) * high, (1 - delta) * low), ((1 - delta) * low, (1 - delta) * high)]
    return finite + ([(delta, 0.0), (0.0, delta)] if delta else [])


def integer_noise(order, scale, reach):
    """Return the outcomes of noise on the integers that moves by 1, up to `reach`, joined where losses are equal."""
    weights = {k: math.exp(-((abs(k) / scale) ** order)) for k in range(-reach - 1, reach + 2)}
    whole = sum(weights.values())
    joined = {}
    for k in range(-reach, reach + 1):
        p, q = weights[k] / whole, weights[k + 1] / whole
        key = round(math.log(p / q), 9)
        before = joined.get(key, (0.0, 0.0))
        joined[key] = (before[0] + p, before[1] + q)
    return list(joined.values())


def delta_of(laws, epsilon):
    """Return the delta of laws that are used one after the other, whatever comes out."""
    pairs = [(1.0, 1.0)]
    for law in laws:
        pairs = [(p * a, q * b) for p, q in pairs for a, b in law]
    return sum(max(0.0, p - math.exp(epsilon) * q) for p, q in pairs)


def worst_delta(menu, allowed, epsilon, steps):
    """Return the largest delta of a strategy whose histories of laws, in any order, are all allowed."""
    fits = cache(allowed)

    def best(used, p, q):
        found = max(0.0, p - math.exp(epsilon) * q)
        if len(used) == steps:
            return found
        for place, law in enumerate(menu):
            more = tuple(sorted((*used, place)))
            if fits(more):
                found = max(found, sum(best(more, p * a, q * b) for a, b in law))
        return found

    return best((), 1.0, 1.0)
