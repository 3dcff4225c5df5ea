"""The law of a mechanism as it is released, read off the releases themselves, and the law that a release states.

A small release turns each 64-bit word of its source into a draw that rises with the word. So the least word whose draw
is k or more, found by bisection, is 2^64 P(K < k) rounded up: exact cumulative probabilities, without a look inside.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
from mpmath import mp, mpf

# Draws of words closer to the ends than this may be beyond all tables; together they have a probability of 2^-53.
NEAR_THE_END = 1 << 10
# Edges are found to so many words, since those that are hit exactly take a thousand times longer to decide.
NARROW = 1 << 8
MOST_CELLS = 500


class Words:
    """A source that gives these 64-bit words first, and then zeros for ever."""

    private = False

    def __init__(self, words):
        self.left = np.asarray(words, dtype=np.uint64).tobytes()

    def fill(self, buffer):
        given, self.left = self.left[: buffer.size], self.left[buffer.size :]
        assert len(given) in (0, buffer.size), f"{buffer.size} bytes were asked for, where {len(given)} are left"
        buffer[:] = np.frombuffer(given or bytes(buffer.size), dtype=np.uint8)
        return buffer.size


@dataclass(frozen=True, eq=False)
class Law:
    """Masses of the outputs first, first + 1, ... (in steps), each between its lower and upper bound."""

    first: int
    lower: np.ndarray
    upper: np.ndarray

    def over(self, first, last):
        """The bounds of the masses of outputs from first to last; beyond the law's own there is next to nothing."""
        lower, upper = np.zeros(last - first + 1), np.full(last - first + 1, 2.0**-53)
        inside = slice(self.first - first, self.first - first + self.lower.size)
        lower[inside], upper[inside] = self.lower, self.upper
        return lower, upper

    @property
    def last(self):
        return self.first + self.lower.size - 1


def steps_of(mechanism, outputs):
    """Outputs as whole numbers of steps; a bound that is no point of the grid counts as the one next to it."""
    unit = 1 if mechanism.step is None else mechanism.step
    return np.floor(np.asarray(outputs) / unit + 0.5).astype(np.int64)


def fixed_size(mechanism):
    """How many coordinates a release must have; None if any number will do."""
    return None if mechanism.sensitivity.kind == "cells" else mechanism.sensitivity.moving


def draws(mechanism, value, coordinate, words):
    """What is released in place of a true value, for each word, in steps."""
    kind = np.int64 if mechanism.step is None else np.float64
    if fixed_size(mechanism) is None:
        parts = [words[start : start + MOST_CELLS] for start in range(0, len(words), MOST_CELLS)]
        found = [mechanism.release(np.full(len(part), value, dtype=kind), rng=Words(part)).values for part in parts]
        return steps_of(mechanism, np.concatenate(found))
    found = []
    for word in words:
        # The other coordinates are not looked at. Where each has bounds, and a request, of its own, their words may be
        # read as further bits of this one, which must be 0.
        others = 1 << 63 if mechanism.calibration.bounds is None else 0
        script = np.full(fixed_size(mechanism), others, dtype=np.uint64)
        script[coordinate] = word
        found.append(mechanism.release(np.full(script.size, value, dtype=kind), rng=Words(script)).values[coordinate])
    return steps_of(mechanism, found)


def edges(mechanism, value, coordinate=0, *, within):
    """The least output that is not next to impossible, and for each k after it two words with 2^64 P(K < k) between.

    The words are `within` each other. They are first looked for where the stated law has them, then everywhere.
    """
    ends = np.array([NEAR_THE_END, (1 << 64) - NEAR_THE_END], dtype=np.uint64)
    first, last = draws(mechanism, value, coordinate, ends).tolist()
    assert first < last, "there is no noise"
    outputs = np.arange(first + 1, last + 1)
    below, reached = (np.full(outputs.size, end, dtype=np.uint64) for end in ends)
    law = stated(mechanism.record, index_of(mechanism, value), bounds_of(mechanism, coordinate))
    with mp.workdps(40):
        words = [int(mp.ceil(law.get(k, 0) * mpf(2) ** 64)) for k in outputs.tolist()]
    for side, bound in ((-(within // 2) - within % 2, below), (within // 2, reached)):
        near = np.array([min(max(word + side, int(ends[0])), int(ends[1])) for word in words], dtype=np.uint64)
        passed = draws(mechanism, value, coordinate, near) >= outputs
        right = passed if bound is reached else ~passed
        bound[right] = near[right]
    while (reached - below > within).any():
        middle = below + (reached - below) // np.uint64(2)
        passed = draws(mechanism, value, coordinate, middle) >= outputs
        below, reached = np.where(passed, below, middle), np.where(passed, middle, reached)
    return first, below, reached


def index_of(mechanism, value):
    """The number of steps of a true value, halves rounded up, in exact arithmetic."""
    return math.floor(Fraction(value) / Fraction(mechanism.step or 1) + Fraction(1, 2))


def bounds_of(mechanism, coordinate):
    """The bounds in steps, which hold those of the data; None without bounds."""
    pairs = mechanism.calibration.bounds
    if pairs is None:
        return None
    return tuple(index_of(mechanism, end) for end in pairs[coordinate if len(pairs) > 1 else 0])


@cache
def observed(mechanism, value, coordinate=0):
    """The law of what is released in place of a true value."""
    first, below, reached = edges(mechanism, value, coordinate, within=NARROW)
    below, reached = ([int(word) for word in words] for words in (below, reached))
    # A mass lies between the closest and the farthest that its two edges can be.
    least = [word - other for word, other in zip([*below, 1 << 64], [0, *reached], strict=True)]
    most = [word - other for word, other in zip([*reached, 1 << 64], [0, *below], strict=True)]
    lower = np.array([max(count, 0) / 2.0**64 for count in least])
    upper = np.array([count / 2.0**64 for count in most])
    if mechanism.calibration.bounds is None:
        # Some words of these are those of outputs beyond them.
        lower[[0, -1]] = np.maximum(lower[[0, -1]] - NEAR_THE_END / 2.0**64, 0.0)
    return Law(first, lower, upper)


def weight(order, scale, k):
    return mp.exp(-((abs(k) / scale) ** order))


@cache
def stated_cumulative(order, scale, first, last):
    """P(K < k) for the noise k from first to last + 1 of the law given those, in 40 digits; by k."""
    with mp.workdps(40):
        below, found = [mpf(0)], {}
        for k in range(first, last + 1):
            below.append(below[-1] + weight(mpf(order), mpf(scale), k))
        for k, sum_below in zip(range(first, last + 2), below, strict=True):
            found[k] = sum_below / below[-1]
        return found


def stated(record, index, bounds):
    """P(output < k), by k, around the index of a true value, as the public facts of a release state the law.

    Sums of weights alone: nothing of the library's own is used. Beyond the noise that is added up the weights are below
    e^-100 of the whole.
    """
    order, scale = record.law.order, record.scale / (record.law.step or 1.0)
    far = math.ceil(scale * 100 ** (1 / order)) + 1
    if bounds is None:
        return {index + k: below for k, below in stated_cumulative(order, scale, -far, far).items()}
    low, high = bounds
    index = min(max(index, low), high)
    if record.law.bounding == "truncated":
        return {index + k: below for k, below in stated_cumulative(order, scale, low - index, high - index).items()}
    far = max(far, high - low + 1)
    whole = stated_cumulative(order, scale, -far, far)
    return {low: mpf(0), **{k: whole[k - index] for k in range(low + 1, high + 1)}, high + 1: mpf(1)}


def law_at(order, scale, index, bounding=None, bounds=None):
    """The law of an output in floats, to a dozen digits, by its formula: for scales that nobody releases with."""
    far = math.ceil(scale * 45 ** (1 / order)) + 1
    if bounding is None:
        k = np.arange(-far, far + 1)
        masses = np.exp(-((np.abs(k) / scale) ** order))
        masses /= masses.sum()
        return Law(index - far, masses * (1 - 1e-12), masses * (1 + 1e-12))
    low, high = bounds
    index = min(max(index, low), high)
    far = 0 if bounding == "truncated" else far + high - low
    k = np.arange(low - far, high + far + 1)
    masses = np.exp(-((np.abs(k - index) / scale) ** order))
    masses = np.concatenate(
        [[masses[: far + 1].sum()], masses[far + 1 : masses.size - far - 1], [masses[-far - 1 :].sum()]]
    )
    masses /= masses.sum()
    return Law(low, masses * (1 - 1e-12), masses * (1 + 1e-12))
