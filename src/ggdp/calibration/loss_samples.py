"""The loss of a coordinate in floats: where it crosses levels, a sample of it with masses, and its cumulants.

===========  ====================================================================================
p            order, at least 1
d            shift in units of the scale, D / b
L(z)         |z + d|^p - |z|^p, the privacy loss at standard noise z; it rises with z
K(s)         log E e^(s L), summed over all coordinates
theta        the tilt: root of K'(theta) = epsilon, or 0 where the mean loss is above epsilon
===========  ====================================================================================

Nothing here is used as evidence: a proof decides in balls (`ggdp.proofs.one_coordinate`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ggdp.proofs.noise_law import NoiseLaw


Floats: TypeAlias = "NDArray[np.float64]"

# Points of the table on each side of a bend, from so close to it, relative to the whole range.
TABLE_NODES = 600
CLOSEST = 1e-12
# From a table as fine as that two or three steps are the rule; where L is flat, more halve the bracket.
NEWTON_STEPS = 12
# The error of a step of Newton's method is about the square of the step.
SETTLED = 1e-8


def loss_estimates(order: float, z: Floats, shift: float) -> Floats:
    """Return L(z), without cancellation where z is much larger than the shift."""
    with np.errstate(all="ignore"):
        # Mirroring about -d/2 changes the sign of the loss only, and leaves z >= -d/2 to be dealt with.
        mirrored = z < -0.5 * shift
        x = np.where(mirrored, -shift - z, z)
        far = x**order * np.expm1(order * np.log1p(shift / x))
        near = (x + shift) ** order - np.abs(x) ** order
        value = np.where(x > shift, far, near)
    return np.where(mirrored, -value, value)


def crossings(order: float, shift: float, levels: Floats, *, largest: float) -> Floats:
    """Return the roots z of L(z) = level, for levels between L(-shift - largest) and L(largest).

    A table of L, which rises, gives brackets and starts; a few steps of Newton's method, kept in the brackets, give the
    digits.
    """
    levels = np.asarray(levels, dtype=np.float64)
    if order == 2.0:
        return np.clip((levels / shift - shift) / 2.0, -shift - largest, largest)
    nodes = _nodes(shift, largest)
    table = np.maximum.accumulate(loss_estimates(order, nodes, shift))
    above = np.clip(np.searchsorted(table, levels), 1, len(nodes) - 1)
    low, high = nodes[above - 1], nodes[above]
    with np.errstate(all="ignore"):
        share = (levels - table[above - 1]) / (table[above] - table[above - 1])
        z = low + np.where((share >= 0.0) & (share <= 1.0), share, 0.5) * (high - low)
        for _ in range(NEWTON_STEPS):
            miss = loss_estimates(order, z, shift) - levels
            low, high = np.where(miss > 0.0, low, z), np.where(miss > 0.0, z, high)
            far, near = np.abs(z + shift), np.abs(z)
            slope = order * (np.sign(z + shift) * far ** (order - 1.0) - np.sign(z) * near ** (order - 1.0))
            step = z - miss / slope
            new = np.where((step >= low) & (step <= high), step, 0.5 * (low + high))
            settled = np.abs(new - z) <= SETTLED * np.abs(new)
            z = new
            if settled.all():
                break
    return np.clip(z, -shift - largest, largest)


def _nodes(shift: float, largest: float) -> Floats:
    """Return points from -shift - largest to largest, close together around 0 and -shift, where L bends."""
    side = np.concatenate([[0.0], np.geomspace(CLOSEST * (shift + largest), largest, TABLE_NODES)])
    between = 0.5 * shift * (side / largest)
    middle = np.concatenate([-shift + between, -between[::-1]])
    return np.concatenate([-shift - side[:0:-1], middle, side[1:]])


# Noise beyond |x|^p = FAR has a probability below e^-FAR.
FAR = 220.0
SMALL_SCALE = 500.0
NODES = 1600
MOST_INTEGERS = 2400.0


@dataclass(frozen=True, slots=True)
class Sample:
    """Losses of one coordinate with their log masses, and how many coordinates are like it."""

    losses: Floats
    logs: Floats
    count: int

    def cumulants(self, s: float) -> tuple[float, float, float]:
        """K, K' and K'' of all `count` coordinates at s."""
        tilted = self.logs + s * self.losses
        peak = float(tilted.max())
        weights = np.exp(tilted - peak)
        total = float(weights.sum())
        mean = float(weights @ self.losses) / total
        variance = float(weights @ (self.losses - mean) ** 2) / total
        return self.count * (peak + math.log(total)), self.count * mean, self.count * variance

    def ranked(self) -> tuple[Floats, Floats]:
        """Losses in increasing order, with their log masses."""
        rank = np.argsort(self.losses, kind="stable")
        return self.losses[rank], self.logs[rank]

    def log_moments(self, tilts: Floats) -> Floats:
        """K of all `count` coordinates at several tilts."""
        tilted = self.logs + tilts[:, None] * self.losses
        peaks = tilted.max(axis=1)
        return np.asarray(self.count * (peaks + np.log(np.exp(tilted - peaks[:, None]).sum(axis=1))))


def sample_of(law: NoiseLaw, size: float, count: int) -> Sample | None:
    """Return a sample of the loss of one coordinate; None where every loss is beyond the floats."""
    order, scale = law.order, law.scale
    far = FAR ** (1.0 / order)
    with np.errstate(all="ignore"):
        # A narrow law on the integers is summed; a wide one is as good as continuous here.
        if law.support == "integer" and 2.0 * far * scale <= MOST_INTEGERS:
            k = np.arange(-math.ceil(far * scale) - 1, math.ceil(far * scale) + 2, dtype=np.float64)
            logs = -((np.abs(k) / scale) ** order)
            z, logs = k / scale, logs - normalize(logs)[1]
        else:
            z, logs = _standard_sample(order)
        losses = loss_estimates(order, z, size / scale)
        losses = np.minimum(losses, 1e15)
    keep = losses > -1e15
    return Sample(losses[keep], logs[keep], count) if keep.any() else None


@lru_cache(maxsize=64)
def _standard_sample(order: float) -> tuple[Floats, Floats]:
    """Return standard noise on the reals with its log masses; a search tries many scales of it."""
    u = np.linspace(-1.0, 1.0, NODES + 1)
    edges = FAR ** (1.0 / order) * (u if order > 3.0 else u * (0.2 + 0.8 * u * u))
    z = 0.5 * (edges[1:] + edges[:-1])
    tail = survival_estimate(order, np.abs(edges))
    masses = np.where(z > 0, tail[:-1] - tail[1:], tail[1:] - tail[:-1])
    logs = np.log(np.maximum(masses, 1e-300))
    for kept in (z, logs):
        kept.setflags(write=False)
    return z, logs


def clip_losses(sample: Sample, cap: float) -> tuple[Sample | None, float]:
    """Return the part of a sample with losses from -cap to cap, and the mass of all coordinates above it."""
    keep = (sample.losses <= cap) & (sample.losses >= -cap)
    beyond = float(np.exp(sample.logs[sample.losses > cap]).sum()) * sample.count
    return (Sample(sample.losses[keep], sample.logs[keep], sample.count) if keep.any() else None), beyond


def merge_losses(sample: Sample, nodes: int) -> Sample:
    """Return a sample with at most so many losses: neighbouring ones are replaced by their mean."""
    each = -(-len(sample.losses) // nodes)
    if each == 1:
        return sample
    losses, logs = sample.ranked()
    starts = np.arange(0, len(logs), each)
    peaks = np.maximum.reduceat(logs, starts)
    weights = np.exp(logs - np.repeat(peaks, each)[: len(logs)])
    masses = np.add.reduceat(weights, starts)
    return Sample(np.add.reduceat(weights * losses, starts) / masses, peaks + np.log(masses), sample.count)


def normalize(logs: Floats) -> tuple[Floats, float]:
    """Return masses that are given by their logarithms with a sum of 1, and the logarithm of their sum."""
    peak = float(logs.max())
    weights = np.exp(logs - peak)
    total = float(weights.sum())
    return weights / total, peak + math.log(total)


def survival_estimate(order: float, z: Floats) -> Floats:
    """Return P(X > z) of the standard law."""
    with np.errstate(all="ignore"):
        if order == 1.0:
            tail = 0.5 * np.exp(-np.abs(z))
        else:
            # Takes a third of a second to load.
            from scipy import special

            tail = 0.5 * special.gammaincc(1.0 / order, np.abs(z) ** order)
    return np.asarray(np.where(z < 0, 1.0 - tail, tail))


def integer_tails_estimate(order: float, scale: float, k: Floats) -> Floats:
    """Return P(K >= k) of the law on the integers."""
    if scale >= SMALL_SCALE:
        return survival_estimate(order, (k - 0.5) / scale)
    far = math.ceil(FAR ** (1.0 / order) * scale) + 1
    weights = np.exp(-((np.arange(0, far + 1) / scale) ** order))
    tails = np.append(np.cumsum(weights[::-1])[::-1], 0.0)
    total = 2.0 * tails[0] - weights[0]
    right = tails[np.clip(k, 0, far + 1).astype(np.int64)] / total
    left = 1.0 - tails[np.clip(1 - k, 0, far + 1).astype(np.int64)] / total
    return np.asarray(np.where(k > 0, right, left))


def total_cumulants(samples: Sequence[Sample], s: float) -> tuple[float, float, float]:
    """Return K, K' and K'' of all coordinates together at s."""
    parts = [sample.cumulants(s) for sample in samples]
    return sum(q[0] for q in parts), sum(q[1] for q in parts), sum(q[2] for q in parts)


def log_moments(samples: Sequence[Sample], tilts: Floats) -> Floats:
    """Return K of all coordinates together at several tilts."""
    return np.asarray(sum(sample.log_moments(tilts) for sample in samples))


def log_delta(samples: Sequence[Sample], theta: float, epsilon: float) -> float:
    """The logarithm of delta as if the tilted sum were normal around epsilon, up to a small factor."""
    if _most(samples) <= epsilon:
        return -FAR
    moment, _, variance = total_cumulants(samples, theta)
    spread = math.sqrt(variance) + 1e-300
    a = theta + 1.0 / spread
    return min(moment - theta * epsilon + math.log(0.3) - math.log(spread * a) - math.log1p(a), 0.0)


def saddle(samples: Sequence[Sample], epsilon: float) -> float:
    """Return theta."""
    low, high = 0.0, math.inf
    _, mean, variance = total_cumulants(samples, 0.0)
    if mean >= epsilon or _most(samples) <= epsilon:
        return 0.0
    s = 0.0
    for _ in range(80):
        if abs(mean - epsilon) <= 1e-3 * math.sqrt(variance):
            break
        low, high = (s, high) if mean < epsilon else (low, s)
        step = s + (epsilon - mean) / variance if variance > 0.0 else math.inf
        if not low < step < high or not math.isfinite(step):
            step = 0.5 * (low + high) if math.isfinite(high) else 2.0 * low + 1.0
        s = min(step, 3.0 * low + 1.0 + 1.0 / math.sqrt(variance + 1e-300)) if math.isinf(high) else step
        _, mean, variance = total_cumulants(samples, s)
        if s > 1e12:
            break
    return s


def _most(samples: Sequence[Sample]) -> float:
    """Return the largest sum of losses in the samples."""
    return sum(sample.count * float(sample.losses.max()) for sample in samples)


def ends_of(sample: Sample, budget: float) -> tuple[float, float]:
    """The losses outside of which all coordinates of the sample together have a negligible mass."""
    losses, logs = sample.ranked()
    masses = np.exp(logs) * sample.count
    enough = math.exp(max(budget, -700.0))
    below, above = np.cumsum(masses), np.cumsum(masses[::-1])[::-1]
    low = losses[max(int(np.searchsorted(below, enough)) - 1, 0)]
    over = np.nonzero(above > enough)[0]
    high = losses[min(int(over[-1]) + 1, len(losses) - 1)] if len(over) else losses[-1]
    return float(low), float(high)
