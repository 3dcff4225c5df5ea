"""Claims of Section 5: what the discussion says about bounds, sensitivity and precision."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Literal

import numpy as np

import ggdp
from ggdp.paper.claims.proved_losses import bounded_loss
from ggdp.paper.claims.statements import judged
from ggdp.paper.claims.wording import listed, short, span
from ggdp.paper.comparisons import gaussian_bounds, gaussian_sigma
from ggdp.paper.experiments.sanitisers import DELTAS, EPSILONS

if TYPE_CHECKING:
    from ggdp.paper.results import Claim

__all__ = ["CLAIMS"]

ONE = ggdp.Sensitivity.disjoint(1)


def unified() -> Claim:
    """Laplace and Gaussian in one family."""
    goals = [(epsilon, delta) for epsilon in EPSILONS for delta in DELTAS]
    laplace = [ggdp.calibrate(ggdp.PureDP(epsilon), ONE, order=1).scale * epsilon for epsilon in EPSILONS]
    gauss = [
        ggdp.calibrate(ggdp.ProbabilisticDP(*goal), ONE, order=2, method="paper").std / float(gaussian_sigma(*goal))
        for goal in goals
    ]
    return judged(
        "unified",
        all(math.isclose(ratio, 1.0, rel_tol=1e-9) for ratio in (*laplace, *gauss)),
        f"The mechanism of order 1 has {span(laplace)} times the scale of Laplace's at {len(laplace)} goals, "
        f"that of order 2 {span(gauss)} times the sigma of Lemma 10 at {len(gauss)}.",
    )


def _bounded(bounding: Literal["truncated", "boundary-inflated"], order: int) -> float:
    """Return the least scale for pure DP on [0, 10] at epsilon = 1."""
    return ggdp.calibrate(ggdp.PureDP(1.0), ONE, order=order, bounds=[(0.0, 10.0)], bounding=bounding).scale


def bounded_achieve() -> Claim:
    """Bounded data: both mechanisms have a scale for pure DP."""
    scales: dict[Literal["truncated", "boundary-inflated"], list[float]] = {
        "truncated": [_bounded("truncated", order) for order in (1, 2, 3)],
        "boundary-inflated": [_bounded("boundary-inflated", order) for order in (1, 2, 3)],
    }
    found = {
        name: [
            bounded_loss(name, order=order, scale=scale, width=10.0).upper
            for order, scale in zip((1, 2, 3), losses, strict=True)
        ]
        for name, losses in scales.items()
    }
    return judged(
        "bounded-achieve",
        max(max(losses) for losses in found.values()) <= 1.0,
        "On [0, 10] at epsilon = 1 and p = 1, 2 and 3: "
        + "; ".join(f"{name}, b = {listed(scales[name])} has a loss of {listed(found[name])}" for name in found)
        + ".",
    )


def bound_is_tighter() -> Claim:
    """Lemma 10 beside bounds for aDP."""
    inside = [(epsilon, delta) for epsilon in (0.1, 0.5, 0.9) for delta in DELTAS]
    bounds = gaussian_bounds([epsilon for epsilon, _ in inside], [delta for _, delta in inside])
    classic = [float(gaussian_sigma(*goal) / gaussian_sigma(*goal, "classic")) for goal in inside]
    least = [float(ratio) for ratio in np.asarray(bounds.paper / bounds.analytic)]
    only_classic = max(classic) < 1.0 < max(least)
    return judged(
        "bound-is-tighter",
        max(*classic, *least) < 1.0,
        f"Sigma of Lemma 10 at {len(inside)} goals with epsilon from 0.1 to 0.9: {span(classic)} times the "
        f"classic one, and {span(least)} times the least for aDP.",
        condition="the classic bound is meant; the least sigma for aDP is smaller" if only_classic else "",
    )


def global_sensitivity() -> Claim:
    """Global sensitivity beside local."""
    size = 101
    spread = [place / (size - 1) for place in range(size)]
    # Half of the records at either end: the median jumps from end to end.
    split = [0.0] * (size // 2 + 1) + [1.0] * (size // 2)

    def local(table: list[float]) -> float:
        here = statistics.median(table)
        return max(
            abs(statistics.median([*table[:place], value, *table[place + 1 :]]) - here)
            for place in range(size)
            for value in (0.0, 1.0)
        )

    worst, own = local(split), local(spread)
    noise = ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.disjoint(worst), order=1).std
    return judged(
        "global-sensitivity",
        worst > 10.0 * own and noise > 1.0,
        f"The median of {size} records in [0, 1]: it moves by up to {short(worst)} between some neighbours, "
        f"and by {short(own)} from a table with even gaps. Laplace noise at epsilon = 1 has a standard deviation of "
        f"{short(noise)}, more than the whole range.",
    )


def precision_is_mse() -> Claim:
    """Precision and mean squared error."""
    x = np.linspace(-60.0, 60.0, 240_001)
    step = float(x[1] - x[0])
    rows = []
    for epsilon in EPSILONS:
        scales = {1: 1.0 / epsilon, 2: float(gaussian_sigma(epsilon, 0.05)) * math.sqrt(2.0)}
        for order, scale in scales.items():
            law = ggdp.GeneralizedGaussian(order=order, scale=scale)
            density = law.pdf(x)
            rows.append((law.variance, float(np.sum(x**2 * density) * step), abs(float(np.sum(x * density) * step))))
    variances, errors, biases = zip(*rows, strict=True)
    same = np.argsort(variances).tolist() == np.argsort(errors).tolist()
    return judged(
        "precision-is-mse",
        same and max(biases) < 1e-6,
        f"Laplace and Gaussian noise (Lemma 10, delta = 0.05) at epsilon = {listed(EPSILONS)}: bias at most "
        f"{max(biases):.1g}, and MSE {span([e / v for e, v in zip(errors, variances, strict=True)], 6)} times the "
        "variance.",
    )


CLAIMS = (unified, bounded_achieve, bound_is_tighter, global_sensitivity, precision_is_mse)
