"""Floats around the paper's bound for several coordinates: which grid a proof should use, and what it will find.

Nothing here is trusted. Symbols are those of `ggdp.loss.absolute_sum`.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ggdp.loss.corner_estimate import spectrum_of
from ggdp.loss.corner_plan import TILTS, Window, smooth_length
from ggdp.loss.crossing import crossings, loss_estimate
from ggdp.loss.sampled_loss import FAR, Sample, integer_tails_estimate, saddle, summed

if TYPE_CHECKING:
    from ggdp.loss.corner_plan import Corner
    from ggdp.loss.crossing import Floats

__all__ = ["AbsolutePlan", "OtherPlan", "crossing_points", "estimate", "inner_points", "plan"]

NEGLIGIBLE = math.log(1e-10)
NODES = 1200
GENTLE = 0.05
RELATIVE_ERROR = 4e-10
ROUNDED_ERROR = 2e-6
# A logarithm of delta below which floats are spared the attempt.
HOPELESS = -80.0
FEW = 8
SUBCELLS = 300
STEEP_CELLS = 200
PARTS = 4
RATIO = 2.0**0.05
MOST_POINTS = 1 << 17
MOST_KNOTS = 24_000


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherPlan:
    """Coordinates of one size that are laid on the grid, on the knots 0 to `high`."""

    size: float
    count: int
    high: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AbsolutePlan:
    """The grid; `main` is the size of the one coordinate that stays continuous, followed down to `depth` cells below t.

    `halved`, `refined` and `chord` say how cells are put on their ends and over how many cells phi is replaced.
    """

    main: float
    others: tuple[OtherPlan, ...]
    threshold: float
    step: float
    halved: bool
    refined: bool
    chord: int
    depth: int
    window: Window
    precision: int
    tilt: float
    level: float


def plan(
    *, order: float, scale: float, corner: Corner, epsilon: float, support: str, joint: float | None
) -> AbsolutePlan | None:
    """Choose a grid; None where the bound is 1."""
    with np.errstate(all="ignore"):
        # NumPy's power, since Python's raises where it overflows.
        own = sum(count * float(np.float64(size / scale) ** order) for size, count in corner)
        t = epsilon - (own if joint is None else min(float(np.float64(joint / scale) ** order), own))
    if not t > 0.0:
        return None
    main = max(size for size, _ in corner)
    rest = [(size, count - (size == main)) for size, count in corner if count > (size == main)]
    lone = _excesses(order, scale, main, 1)
    samples = [_excesses(order, scale, size, count) for size, count in rest]
    theta = saddle([lone, *samples], t)
    level = min(summed([lone, *samples], theta)[0] - theta * t, 0.0)
    if sum(sample.count * float(sample.losses.max()) for sample in (lone, *samples)) <= t:
        level = -FAR
    budget = level + NEGLIGIBLE
    # A coordinate above t exceeds it whatever the rest, so it may as well be infinite.
    ends = [min(_high_end(sample, budget), t) for sample in samples]
    main_end = min(_high_end(lone, budget), t)
    many = sum(count for _, count in rest)
    halved = support == "real" and order >= 2.0
    top = bottom = 0.0
    tilt = 1.0
    if samples:
        spread = math.sqrt(summed(samples, theta)[2]) + 1e-300
        plain = math.sqrt(summed(samples, 0.0)[2]) + 1e-300
        top, tilt = min(((summed(samples, s)[0] - budget) / s, s) for s in (theta + shift / spread for shift in TILTS))
        bottom = max((budget - summed(samples, -s)[0]) / s for s in (shift / plain for shift in TILTS))
    # Beyond t all counts the same, so nothing much above it needs a place; at least t itself does.
    bottom = max(min(bottom, top), 0.0)
    steep = math.exp(min((1.0 - order) * math.log(main / scale) - math.lgamma(1.0 / order), 700.0))
    if halved:
        # Where the mean is above t there is no tilt: the sum then varies on the scale of its own spread.
        steepness = max(theta, 1.0 / (math.sqrt(summed([lone, *samples], theta)[2]) + 1e-300))
        step = math.sqrt(12.0 * RELATIVE_ERROR * t / (steepness * many)) if many else t / 64.0
        step = min(step, t / 64.0)
    else:
        step = 2.0 * ROUNDED_ERROR * t / max(many, 1)
    knots = MOST_KNOTS if many <= FEW else MOST_KNOTS // 2
    if not (math.isfinite(step) and math.isfinite(top - bottom)):
        return None
    step = max(
        step,
        # A step of a normal float, where all losses are almost 0.
        1e-290,
        (top - bottom) / ((MOST_POINTS if many <= FEW else MOST_POINTS // 2) - 64),
        *(end / knots for end in (main_end, *ends)),
    )
    mantissa, exponent = math.frexp(step)
    step = math.ldexp(math.ceil(mantissa * 2.0**24), exponent - 24)
    others = tuple(
        OtherPlan(size=size, count=count, high=math.ceil(end / step) + 1)
        for (size, count), end in zip(rest, ends, strict=True)
    )
    last = min(math.ceil(top / step) + 2, sum(other.count * other.high for other in others))
    window = Window(top=last, points=smooth_length(last - math.floor(bottom / step) + 3), tilt=tilt)
    precision = max(128, 64 * math.ceil((64.0 - 2.0 * level / math.log(2.0)) / 64.0))
    return AbsolutePlan(
        main=main,
        others=others,
        threshold=t,
        step=step,
        halved=halved,
        refined=halved and many <= FEW,
        chord=math.ceil(math.sqrt(many / 2.0)) + 1 if halved and steep * step > GENTLE else 0,
        depth=math.ceil(main_end / step) + 1,
        window=window,
        precision=precision,
        tilt=theta,
        level=level,
    )


def crossing_points(order: float, shift: float, levels: Floats) -> Floats:
    """Roots z >= 0 of (z + d)^p - z^p - d^p = level, in floats."""
    return np.maximum(crossings(order, shift, levels + shift**order, largest=FAR ** (1.0 / order)), 0.0)


def estimate(chosen: AbsolutePlan, *, order: float, scale: float, support: str) -> float:
    """Estimate in floats the bound that a proof along this plan will give."""
    if chosen.level < HOPELESS:
        return math.exp(max(chosen.level, -700.0))
    theta, t, points = chosen.tilt, chosen.threshold, chosen.window.points
    spectrum = np.ones(points // 2 + 1, dtype=np.complex128)
    level, infinite = 0.0, 0.0
    for other in chosen.others:
        tails = _tails(order, scale, other.size, chosen.step * np.arange(other.high + 1.0), support)
        cells = tails[:-1] - tails[1:]
        masses = np.zeros(other.high + 1)
        up = np.full(len(cells), 0.5 if chosen.halved else 1.0)
        if chosen.refined:
            shares = _shares(order, scale, other.size, chosen.step, tails)
            up[: len(shares)] = shares
        masses[1:] += up * cells
        masses[:-1] += (1.0 - up) * cells
        masses[0] += 1.0 - tails[0]
        infinite += other.count * math.log1p(-min(float(tails[-1]), 1.0 - 1e-16))
        with np.errstate(divide="ignore"):
            logs = np.log(masses) + theta * chosen.step * np.arange(other.high + 1)
        peak = float(logs.max())
        weights = np.exp(logs - peak)
        total = float(weights.sum())
        level += other.count * (math.log(total) + peak)
        spectrum *= spectrum_of(weights / total, 0, points) ** other.count
    composed = np.fft.irfft(spectrum, points)
    # Further below t the rounding of the transform would be blown up by the tilt.
    low = max(chosen.window.top - points + 1, math.floor(t / chosen.step) - chosen.depth, 0)
    indices = np.arange(low, chosen.window.top + 1)
    values = chosen.step * indices.astype(np.float64)
    below = values <= t
    reach = np.ones(len(indices))
    reach[below] = _tails(order, scale, chosen.main, t - values[below], support)
    if chosen.chord:
        last = int(below.sum()) - 1
        start = max(last - chosen.chord, 0)
        share = (values[start : last + 1] - values[start]) / (t - values[start])
        reach[start : last + 1] = reach[start] + (1.0 - reach[start]) * share
    terms = composed[indices % points] * reach * np.exp(np.minimum(level - theta * values, 700.0))
    return min(max(float(terms.sum()), 0.0) - math.expm1(infinite), 1.0)


def inner_points(order: float, shift: float, step: float, cells: int) -> list[Floats]:
    """Points inside each of the first cells, where the density of Y may be a spike, that cut it into parts."""
    ends = crossing_points(order, shift, step * np.arange(min(cells, STEEP_CELLS) + 1.0))
    spike = ends[1] * RATIO ** -np.arange(SUBCELLS - 1.0, 0.0, -1.0)
    return [spike, *(np.linspace(low, high, PARTS + 1)[1:-1] for low, high in itertools.pairwise(ends[1:]))]


def _shares(order: float, scale: float, size: float, step: float, tails: Floats) -> Floats:
    """Which share of each of the first cells goes up, if every part of it were uniform, in floats."""
    from scipy import special

    shift, shares = size / scale, []
    for i, inner in enumerate(inner_points(order, shift, step, len(tails) - 1)):
        values = np.concatenate([[i * step], loss_estimate(order, inner, shift) - shift**order, [(i + 1) * step]])
        parts = np.concatenate([[tails[i]], special.gammaincc(1.0 / order, inner**order), [tails[i + 1]]])
        mean = float(((parts[:-1] - parts[1:]) * (0.5 * (values[:-1] + values[1:]) - i * step)).sum())
        mass = step * float(tails[i] - tails[i + 1])
        shares.append(min(max(mean / mass, 0.0), 0.5) if mass > 0.0 else 0.5)
    return np.array(shares)


def _tails(order: float, scale: float, size: float, levels: Floats, support: str) -> Floats:
    """P(Y' > level) in floats."""
    from scipy import special

    z = crossing_points(order, size / scale, levels)
    if support == "integer":
        return _two_sided(order, scale, np.floor(z * scale) + 1.0)
    return np.asarray(special.gammaincc(1.0 / order, z**order))


def _two_sided(order: float, scale: float, k: Floats) -> Floats:
    return np.minimum(2.0 * integer_tails_estimate(order, scale, k), 1.0)


def _excesses(order: float, scale: float, size: float, count: int) -> Sample:
    from scipy import special

    u = np.linspace(0.0, 1.0, NODES + 1)
    edges = FAR ** (1.0 / order) * (u if order > 3.0 else u * (0.2 + 0.8 * u * u))
    z = 0.5 * (edges[1:] + edges[:-1])
    with np.errstate(all="ignore"):
        tails = special.gammaincc(1.0 / order, edges**order)
        d = size / scale
        values = loss_estimate(order, z, d) - d**order
        logs = np.log(np.maximum(tails[:-1] - tails[1:], 1e-300))
    return Sample(np.clip(np.nan_to_num(values, nan=1e15), 0.0, 1e15), logs, count)


def _high_end(sample: Sample, budget: float) -> float:
    above = np.cumsum((np.exp(sample.logs) * sample.count)[::-1])[::-1]
    over = np.nonzero(above > math.exp(max(budget, -690.0)))[0]
    return float(sample.losses[min(int(over[-1]) + 1, len(above) - 1)]) if len(over) else float(sample.losses[0])
