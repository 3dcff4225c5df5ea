"""The law of released quantiles: of the library, by following every candidate of every draw, and by its definition."""

from collections import defaultdict
from fractions import Fraction

import numpy as np
from mpmath import mp, mpf

from ggdp.mechanisms import quantiles
from ggdp.mechanisms.quantiles import CellValues

DIGITS = 50


def values_of(*cells):
    """The values of cells, each a list of steps."""
    flat = [
        (c, *pair) for c, rows in enumerate(cells) for pair in zip(*np.unique(rows, return_counts=True), strict=True)
    ]
    cell, step, rows = np.array(flat, dtype=np.int64).reshape(-1, 3).T.copy()
    return CellValues.of(cell, step, rows, cells=len(cells))


class _UnvisitedError(Exception):
    """A draw beyond the path that is followed, with its candidates."""


def candidates(runs):
    """(run, place, weight) of every candidate of the one cell, to 50 digits."""
    rate = runs.rate / runs.divisor
    found = [
        (run, place, int(runs.errors[run]) + place * int(runs.growth[run]))
        for run in range(runs.sizes.size)
        for place in range(int(runs.sizes[run]))
    ]
    least = min(error for _, _, error in found)
    slope = mpf(rate.numerator) / rate.denominator
    return [(run, place, mp.exp(-slope * (error - least))) for run, place, error in found]


def library_law(plan, rows, monkeypatch):
    """The probability of every tuple of released values of one cell, by all paths through the draws."""
    values, law = values_of(rows), defaultdict(mpf)
    monkeypatch.setattr(quantiles.QuantilePlan, "_interval_ends", lambda _plan, _cells, found, *_: (found, found))
    with mp.workdps(DIGITS):
        stack = [((), mpf(1))]
        while stack:
            path, mass = stack.pop()
            left = list(path)

            def follow(runs, _source, left=left):
                if not left:
                    raise _UnvisitedError(candidates(runs))
                run, place = left.pop(0)
                return np.array([run]), np.array([place])

            monkeypatch.setattr(quantiles, "select_in_cells", follow)
            try:
                law[tuple(plan.draw(values).values[0].tolist())] += mass
            except _UnvisitedError as stopped:
                options = stopped.args[0]
                total = mp.fsum(weight for _, _, weight in options)
                stack += [((*path, (run, place)), mass * weight / total) for run, place, weight in options]
    return law


def chosen(errors, rate):
    """The Exponential mechanism: the probability of each candidate, given its error and a rate, both fractions."""
    exponents = {key: rate * error for key, error in errors.items()}
    least = min(exponents.values())
    with mp.workdps(DIGITS):
        weights = {key: mp.exp(-mpf((x - least).numerator) / (x - least).denominator) for key, x in exponents.items()}
        total = mp.fsum(weights.values())
        return {key: weight / total for key, weight in weights.items()}


def step_errors(masses, q, positions, low, high):
    """By how many rows whole steps miss a quantile of the positions from low to high - 1."""
    total = sum(masses[low:high], Fraction(0))
    errors = {}
    for step in range(low // positions, (high - 1) // positions + 1):
        first, last = max(step * positions, low), min((step + 1) * positions, high)
        below, upto = sum(masses[low:first], Fraction(0)), sum(masses[low:last], Fraction(0))
        errors[step] = max(Fraction(0), below - q * total, q * total - upto)
    return errors


def position_errors(masses, q, low, high):
    """By how many rows positions miss a quantile."""
    total = sum(masses[low:high], Fraction(0))
    return {p: abs(sum(masses[low:p], Fraction(0)) - q * total) for p in range(low, high)}


def spread(rows, steps, positions):
    """The rows on each position: those of a step lie evenly on its positions."""
    return [Fraction(list(rows).count(p // positions), positions) for p in range((steps + 1) * positions)]


def law_of_three(rows, steps, positions, fractions, rates):
    """Three quantiles by halves, by the definition; `rates` are those of the middle, the left and the right."""
    masses, law = spread(rows, steps, positions), defaultdict(mpf)
    first, middle, last = fractions
    end = len(masses)
    with mp.workdps(DIGITS):
        for p, chance in chosen(position_errors(masses, middle, 0, end), rates[0]).items():
            left = {p // positions: mpf(1)}
            if p > 0:
                left = chosen(step_errors(masses, first / middle, positions, 0, p), rates[1])
            right = chosen(step_errors(masses, (last - middle) / (1 - middle), positions, p, end), rates[2])
            for a, some in left.items():
                for b, other in right.items():
                    law[a, p // positions, b] += chance * some * other
    return law


def largest_loss(one, other):
    """The largest absolute logarithm of a ratio of probabilities."""
    assert one.keys() == other.keys()
    with mp.workdps(DIGITS):
        return max(abs(mp.log(one[key] / other[key])) for key in one)
