"""Claims of Section 5: what the discussion says about bounds, sensitivity and precision."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, get_args

import numpy as np

import ggdp
from ggdp_reproduction.claims.proved_losses import Bounding, bounded_loss
from ggdp_reproduction.claims.statements import judged
from ggdp_reproduction.claims.wording import listed, short, span
from ggdp_reproduction.comparisons import gaussian_bounds, gaussian_sigma
from ggdp_reproduction.experiments.sanitisers import DELTAS, EPSILONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ggdp_reproduction.results import Claim

__all__ = ["CLAIMS"]

ONE = ggdp.Sensitivity.disjoint(1)
PURE = ggdp.PureDP(1.0)


def of_mechanisms() -> Iterator[Claim]:
    """Yield the claims on the family of mechanisms and its bounds."""
    goals = [(epsilon, delta) for epsilon in EPSILONS for delta in DELTAS]
    laplace = [ggdp.calibrate(ggdp.PureDP(epsilon), ONE, order=1).scale * epsilon for epsilon in EPSILONS]
    gauss = [
        ggdp.calibrate(ggdp.ProbabilisticDP(*goal), ONE, order=2, method="paper").std / float(gaussian_sigma(*goal))
        for goal in goals
    ]
    yield judged(
        "unified",
        all(math.isclose(ratio, 1.0, rel_tol=1e-9) for ratio in (*laplace, *gauss)),
        f"The mechanism of order 1 has {span(laplace)} times the scale of Laplace's at {len(laplace)} goals, "
        f"that of order 2 {span(gauss)} times the sigma of Lemma 10 at {len(gauss)}.",
    )

    parts, worst = [], 0.0
    for name in get_args(Bounding):
        noises = [ggdp.calibrate(PURE, ONE, order=p, bounds=[(0.0, 10.0)], bounding=name) for p in (1, 2, 3)]
        losses = [bounded_loss(name, order=noise.order, scale=noise.scale, width=10.0).upper for noise in noises]
        parts.append(f"{name}, b = {listed(noise.scale for noise in noises)} has a loss of {listed(losses)}")
        worst = max(worst, *losses)
    yield judged("bounded-achieve", worst <= 1.0, f"On [0, 10] at epsilon = 1 and p = 1, 2 and 3: {'; '.join(parts)}.")

    inside = [(epsilon, delta) for epsilon in (0.1, 0.5, 0.9) for delta in DELTAS]
    bounds = gaussian_bounds([epsilon for epsilon, _ in inside], [delta for _, delta in inside])
    classic = [float(gaussian_sigma(*goal) / gaussian_sigma(*goal, "classic")) for goal in inside]
    least = [float(ratio) for ratio in np.asarray(bounds.paper / bounds.analytic)]
    only_classic = max(classic) < 1.0 < max(least)
    yield judged(
        "bound-is-tighter",
        max(*classic, *least) < 1.0,
        f"Sigma of Lemma 10 at {len(inside)} goals with epsilon from 0.1 to 0.9: {span(classic)} times the "
        f"classic one, and {span(least)} times the least for aDP.",
        condition="the classic bound is meant; the least sigma for aDP is smaller" if only_classic else "",
    )


def of_noise() -> Iterator[Claim]:
    """Yield the claims on the amount of noise."""
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
    noise = ggdp.calibrate(PURE, ggdp.Sensitivity.disjoint(worst), order=1).std
    yield judged(
        "global-sensitivity",
        worst > 10.0 * own and noise > 1.0,
        f"The median of {size} records in [0, 1]: it moves by up to {short(worst)} between some neighbours, "
        f"and by {short(own)} from a table with even gaps. Laplace noise at epsilon = 1 has a standard deviation of "
        f"{short(noise)}, more than the whole range.",
    )

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
    yield judged(
        "precision-is-mse",
        same and max(biases) < 1e-6,
        f"Laplace and Gaussian noise (Lemma 10, delta = 0.05) at epsilon = {listed(EPSILONS)}: bias at most "
        f"{max(biases):.1g}, and MSE {span([e / v for e, v in zip(errors, variances, strict=True)], 6)} times the "
        "variance.",
    )


CLAIMS = (of_mechanisms, of_noise)
