"""Claims of Section 2.6: probabilistic DP with noise of every order, and what bounding afterwards does to it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import ggdp
from ggdp.calibration import disjoint_scale, scale_by_monte_carlo
from ggdp.paper.claims.proved_losses import bounded_loss, shift_delta
from ggdp.paper.claims.statements import judged
from ggdp.paper.claims.wording import falling, listed, rising, short, span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ggdp.paper.experiments.lower_bounds import LowerBounds
    from ggdp.paper.results import Claim

__all__ = ["CLAIMS", "of_lower_bounds"]

ONE = ggdp.Sensitivity.disjoint(1)
SQRT2 = math.sqrt(2.0)


def _tail(x: float) -> float:
    """Return Pr(N > x) of a standard normal N."""
    return math.erfc(x / SQRT2) / 2.0


def _true_delta(order: float, scale: float, epsilon: float, sensitivity: float = 1.0) -> float:
    """Return the delta of pDP that a scale really has, as an upper bound."""
    return shift_delta("probabilistic", order=order, scale=scale, sensitivity=sensitivity, epsilon=epsilon).upper


def of_corollaries() -> Iterator[Claim]:
    """Yield the claims on Cors. 7 and 8."""
    from scipy.special import ndtri

    goals = [(epsilon, delta) for epsilon in (0.5, 1.0, 2.0) for delta in (0.01, 0.05, 0.1, 0.25)]
    used = [
        _true_delta(order, disjoint_scale(order, 1.0, epsilon, delta), epsilon) / delta
        for epsilon, delta in goals
        for order in (2, 3, 4)
    ]
    yield judged(
        "corollary-7",
        max(used) <= 1.0,
        f"One coordinate moving, the 12 goals of Section 4 at p = 2, 3 and 4: the true delta is {span(used)} "
        "times the nominal one.",
    )

    deltas = (0.01, 0.25)
    scales = [ggdp.calibrate(ggdp.ProbabilisticDP(1.0, delta), ONE, order=1).scale for delta in deltas]
    approximate = ggdp.calibrate(ggdp.ApproxDP(1.0, 0.25), ONE, order=1).scale
    yield judged(
        "laplace-probabilistic",
        set(scales) == {1.0},
        f"Least scale at epsilon = 1, delta = {listed(deltas)}: {listed(scales)}. (aDP does gain: "
        f"{short(approximate)} at delta = 0.25.)",
    )

    drawn = scale_by_monte_carlo(order=3.0, corner=((1.0, 1),), epsilon=1.0, delta=0.05, draws=40_000, seed=3)
    closed = disjoint_scale(3, 1.0, 1.0, 0.05)
    inside = drawn.lower <= closed <= drawn.upper
    at_2 = disjoint_scale(2, 1.0, 1.0, 0.05) / SQRT2
    yield judged(
        "only-numerical",
        None,
        "For disjoint queries b = D / ((g + epsilon)^(1/p) - g^(1/p)), g = Q^-1(1/p, delta), for every real p "
        f"> 1: {closed:.6f} at p = 3, (1, 0.05); by Monte Carlo {drawn.lower:.4f} to {drawn.upper:.4f}. At p = 2 it is "
        f"Lemma 10, sigma = {at_2:.5f}.",
        condition="more than one element of s moves, which is not judged here: for disjoint queries, such as "
        "histograms, there is a closed form"
        if inside
        else "",
    )

    z = -float(ndtri(0.025))

    def printed(size: float) -> float:
        # Pr(2 |e| D + D > b^2) = delta at epsilon = 1: b^2 - sqrt 2 z D b - D = 0.
        return (SQRT2 * z * size + math.sqrt(2.0 * (z * size) ** 2 + 4.0 * size)) / 2.0

    large, small = (_true_delta(2, printed(size), 1.0, size) for size in (10.0, 0.5))
    partly = small <= 0.05 < large
    yield judged(
        "corollary-8-printed",
        large <= 0.05,
        f"At D = 10, p = 2, (1, 0.05): b = {short(printed(10.0), 5)}, which is (1, {short(large, 3)})-pDP "
        f"only; right is {short(disjoint_scale(2, 10.0, 1.0, 0.05), 5)}. At D = 0.5 it has {short(small, 3)}, enough.",
        condition="Delta is at most 1; right is Delta^j" if partly else "",
    )


def of_bounding() -> Iterator[Claim]:
    """Yield the claims on values that are bounded afterwards."""
    std = ggdp.calibrate(ggdp.ProbabilisticDP(1.0, 0.01), ONE, order=2).std
    at, far = 6.47, std**2 + 0.5
    atom = _tail((at - 1.0) / std)
    loss = math.log(atom / _tail(at / std))
    clamped = atom + _tail(far / std) if loss > 1.0 and at < far else 0.01
    yield judged(
        "clipping-keeps",
        clamped <= 0.01,
        f"Gaussian noise with sigma = {short(std, 5)} is (1, 0.01)-pDP; clamped from above at {at} it is "
        f"only (1, {short(clamped, 3)})-pDP, the loss at the atom being {loss:.4f}. (aDP and pure DP survive "
        "clipping.)",
    )

    loss = bounded_loss("truncated", order=1, scale=1.0, width=10.0).lower
    yield judged(
        "discarding-keeps",
        loss <= 1.0,
        f"Laplace noise of epsilon = 1, drawn again until in [0, 10], has a loss of {short(loss, 3)}: it is "
        "the truncated mechanism and needs its scale.",
    )


def of_lower_bounds(bounds: LowerBounds) -> Iterator[Claim]:
    """Yield the claims about Fig. 2."""
    orders, epsilons, deltas = (bounds.values(name) for name in ("order", "epsilon", "delta"))
    by_epsilon = [[bounds.scale(p, e, d) for e in epsilons] for p in orders for d in deltas]
    by_delta = [[bounds.scale(p, e, d) for d in deltas] for p in orders for e in epsilons]
    by_order = [[bounds.scale(p, e, d) for p in orders] for e in epsilons for d in deltas]
    d, e, p = deltas[len(deltas) // 2 - 1], epsilons[len(epsilons) // 2], orders[0]
    stds = {(row["order"], row["epsilon"], row["delta"]): row["std"] for row in bounds.rows}
    spread = [rising([stds[p, e, d] for p in orders]) for e in epsilons for d in deltas]
    apart = max(abs(row["monte_carlo"] / row["convolution"] - 1.0) for row in bounds.rows)
    covered = sum(row["monte_carlo_lower"] <= row["convolution"] <= row["monte_carlo_upper"] for row in bounds.rows)
    gain = [row["convolution"] / row["least_adp"] for row in bounds.rows]
    yield judged(
        "scale-by-epsilon",
        all(falling(row) for row in by_epsilon),
        f"At p = {short(p)}, delta = {short(d)}, epsilon = {listed(epsilons)}: "
        f"{listed(bounds.scale(p, x, d) for x in epsilons)}; so in all {len(by_epsilon)} series.",
    )
    yield judged(
        "scale-by-delta",
        all(falling(row) for row in by_delta),
        f"At p = {short(p)}, epsilon = {short(e)}, delta = {listed(deltas)}: "
        f"{listed(bounds.scale(p, e, x) for x in deltas)}; so in all {len(by_delta)} series.",
    )
    yield judged(
        "scale-by-order",
        all(rising(row) for row in by_order),
        f"At epsilon = {short(e)}, delta = {short(d)}, p = {listed(orders)}: "
        f"{listed(bounds.scale(x, e, d) for x in orders)}; so in {sum(map(rising, by_order))} of {len(by_order)} "
        f"series. The standard deviation, which b is not, rises in {sum(spread)} of them.",
    )
    yield judged(
        "monte-carlo",
        covered >= math.floor(0.9 * len(bounds.rows)),
        f"{bounds.draws:,} draws against the convolution: at most {100.0 * apart:.2g} % apart, and {covered} of "
        f"{len(bounds.rows)} intervals of the estimate hold it. The least scale for aDP is {span(gain)} times "
        "smaller.",
    )


CLAIMS = (of_corollaries, of_bounding)
