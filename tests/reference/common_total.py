"""The law of noise with a common total, count by count, from its definition in fractions."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction


def masses(order: float, scale: float) -> dict[int, float]:
    """P(E = k) of the integer noise, up to where it is below 1e-17."""
    far = math.ceil(scale * 40.0 ** (1.0 / order))
    weights = {k: math.exp(-((abs(k) / scale) ** order)) for k in range(-far, far + 1)}
    return {k: weight / sum(weights.values()) for k, weight in weights.items()}


def rounded(x: Fraction, coin: int) -> int:
    """A fraction rounded to a whole number; up or down by a coin where it lies between two."""
    below = math.floor(x)
    return below if x - below < Fraction(1, 2) or (x - below == Fraction(1, 2) and coin) else below + 1


def law_of_table(order: float, scale: float, k: int, m: int) -> tuple[dict[tuple[int, int], float], dict[int, float]]:
    """P(errors of the first and of the second count) of one table, and P(error of the total), by the definition."""
    found, totals, single = (
        defaultdict[tuple[int, int], float](float),
        defaultdict[int, float](float),
        masses(order, scale),
    )
    for one, mass in single.items():
        for coin in (0, 1):
            totals[rounded(Fraction(one, k), coin)] += mass / 2
    for e, mass in totals.items():
        for one, other in single.items():
            for coin in (0, 1):
                second = rounded(Fraction(m * e + one, 2 * m), coin)
                found[e - second, second] += mass * other / 2
    return found, totals
