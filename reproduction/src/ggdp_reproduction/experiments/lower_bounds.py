"""The least scale by Cor. 7 over order, epsilon and delta, by Monte Carlo (as the paper has it) and by convolution.

========  ==========================================================================================
D_k       how far coordinate k can move: 1, 0.1 and 0.05, all at once
b         least scale with Pr(sum_k (|e_k| + D_k)^p - |e_k|^p > b^p epsilon) = delta (v5, Cor. 7, Lemma 2)
b(aDP)    the least scale for aDP at the same goal, which the paper does not have
========  ==========================================================================================

The two routes share only the formula, so their agreement checks both: the convolution is good to about
1e-7, and the Monte Carlo estimate has an interval of its own.

References
----------
Liu, arXiv 1602.06028 v5, Cor. 7 and Fig. 2, whose epsilons and deltas are not printed: those of Section 4 are taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ggdp import GeneralizedGaussian
from ggdp_reproduction.comparisons import PAPER_BOX, scale_by_monte_carlo, scales_by_order
from ggdp_reproduction.experiments.sanitisers import DELTAS, EPSILONS, QUICK_DELTAS
from ggdp_reproduction.experiments.tasks import run_tasks
from ggdp_reproduction.simulation import stream_seed

if TYPE_CHECKING:
    from collections.abc import Callable

ORDERS, QUICK_ORDERS = (2, 3, 4, 5), (2, 3)
QUICK_EPSILONS = (EPSILONS[0], EPSILONS[-1])
DRAWS, QUICK_DRAWS = 200_000, 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LowerBounds:
    """Scales of several orders and goals, each by two routes."""

    draws: int  # draws of each Monte Carlo estimate
    # order, epsilon, delta, convolution, monte_carlo with its interval (monte_carlo_lower, monte_carlo_upper), std of
    # the noise at the convolution's scale, and least_adp.
    rows: tuple[dict[str, Any], ...]

    def scale(self, order: float, epsilon: float, delta: float) -> float:
        """Return the scale by convolution."""
        wanted = (order, epsilon, delta)
        return next(
            float(row["convolution"]) for row in self.rows if (row["order"], row["epsilon"], row["delta"]) == wanted
        )

    def values(self, name: str) -> list[float]:
        """Return the different orders, epsilons or deltas, rising."""
        return sorted({float(row[name]) for row in self.rows})


def lower_bounds(
    *, quick: bool, seed: int, workers: int = 1, progress: Callable[[int, int], None] | None = None
) -> LowerBounds:
    """Return the scales of the paper's Fig. 2, by Monte Carlo and by convolution.

    A quick run has fewer goals and orders, and a tenth of the draws. The results are the same for any `workers`.

    Examples
    --------
    >>> found = lower_bounds(quick=True, seed=1)
    >>> print(f"{found.scale(2, 2.0, 0.05):.4f}")
    1.7612
    """
    draws = QUICK_DRAWS if quick else DRAWS
    tasks = [
        (order, epsilon, delta)
        for epsilon in (QUICK_EPSILONS if quick else EPSILONS)
        for delta in (QUICK_DELTAS if quick else DELTAS)
        for order in (QUICK_ORDERS if quick else ORDERS)
    ]
    rows = run_tasks(_by_both_routes, tasks, shared=(draws, seed), workers=workers, progress=progress)
    return LowerBounds(draws=draws, rows=tuple(rows))


def _by_both_routes(shared: tuple[int, int], task: tuple[int, float, float]) -> dict[str, Any]:
    """Return the scales of one order and goal."""
    (draws, seed), (order, epsilon, delta) = shared, task
    found = scales_by_order([order], epsilon, delta, PAPER_BOX)
    scale = float(found.paper[0])
    drawn = scale_by_monte_carlo(
        order=float(order),
        corner=tuple((size, 1) for size in PAPER_BOX),
        epsilon=epsilon,
        delta=delta,
        draws=draws,
        # The same draws for every goal, so that the curves of one order rise and fall together.
        seed=stream_seed(seed, "lower bounds", order),
    )
    return {
        "order": order,
        "epsilon": epsilon,
        "delta": delta,
        "convolution": scale,
        "monte_carlo": drawn.estimate,
        "monte_carlo_lower": drawn.lower,
        "monte_carlo_upper": drawn.upper,
        "std": GeneralizedGaussian(order=order, scale=scale).std,
        "least_adp": float(found.adp[0]),
    }
