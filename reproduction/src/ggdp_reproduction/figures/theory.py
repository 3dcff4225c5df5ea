"""The figures of the paper's Sections 2 and 3 that need no experiment, each with the numbers it is drawn from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ggdp_reproduction import comparisons, figures
from ggdp_reproduction.figures.drawings import drawing, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ggdp_reproduction.results import Drawing, Row

__all__ = ["theory_drawings"]


def theory_drawings(progress: Callable[[int, int], None] | None = None) -> list[Drawing]:
    """Return the paper's Figs. 1, 3, 4 and 5, and three more.

    Examples
    --------
    >>> [found.key for found in theory_drawings()][:3]
    ['densities', 'bounded', 'exponential']
    """
    makers = (_densities, _bounded, _exponential, _gaussian_bounds, _tail_ratio, _same_tail, _dispersion)
    found = []
    for make in makers:
        found.append(make())
        if progress is not None:
            progress(len(found), len(makers))
    return found


def _rows(found: Iterable[object], **fields: str) -> list[Row]:
    """Return fields of comparisons as rows, a column each; one comparison after the other."""
    return [row for one in found for row in rows_of(**{name: getattr(one, field) for name, field in fields.items()})]


def _densities() -> Drawing:
    families = comparisons.paper_densities()
    rows = [
        row
        for one in families
        for order, scale, density in zip(one.orders, one.scales, one.densities, strict=True)
        for row in rows_of(shared=one.shared, order=order, scale=scale, x=one.x, density=density)
    ]
    return drawing(
        "densities",
        figures.plot_densities(families),
        title="Densities of the generalized Gaussian family",
        caption="At the same scale, the square root of 2 (left), and at the same variance, 1 (right). The higher the "
        "order, the flatter the top and the shorter the tails.",
        place="The paper's Fig. 1",
        rows=rows,
    )


def _bounded() -> Drawing:
    found = comparisons.bounded_errors(2, 1.0, (0.0, 10.0))
    rows = [
        row
        for name, errors in (("truncated", found.truncated), ("boundary-inflated", found.boundary_inflated))
        for row in rows_of(
            law=name, order=2.0, scale=errors.scale, value=found.location, bias=errors.bias, std=errors.std
        )
    ]
    return drawing(
        "bounded",
        figures.plot_bounded_errors(found),
        title="Noise kept in bounds: truncated against boundary inflated",
        caption="Order 2 on [0, 10] at epsilon = 1, each at its least scale for pure DP. Neither is better at every "
        "true value.",
        place="Beside the paper's Defs. 5 and 6",
        rows=rows,
    )


def _exponential() -> Drawing:
    found = comparisons.exponential_losses(np.geomspace(1.0, 10.0, 60), 1.0, bounds=(0.0, 10.0))
    return drawing(
        "exponential",
        figures.plot_exponential_loss(found),
        title="What the Exponential mechanism really costs",
        caption="The true loss of the Exponential mechanism with the utility -|s* - s|^p on [0, 10], with its exact "
        f"sensitivity: at most {float(found.loss.max()):.2f} where the nominal epsilon is 1, and below one half from "
        f"order {float(found.orders[np.argmax(found.below_half)]):.2f} on.",
        place="Beside the paper's Section 2.7 and Cor. 12",
        rows=rows_of(
            order=found.orders, utility_sensitivity=found.utility_sensitivity, scale=found.scale, loss=found.loss
        ),
    )


def _gaussian_bounds() -> Drawing:
    deltas = np.geomspace(1e-8, 0.499, 61)
    found = [comparisons.gaussian_bounds(epsilon, deltas) for epsilon in (0.1, 0.5, 0.9)]
    bounds = {"lemma_10": "paper", "tight_pdp": "tight_pdp", "classic_adp": "classic", "tight_adp": "analytic"}
    return drawing(
        "gaussian-bounds",
        figures.plot_gaussian_bounds(found),
        title="Bounds on the standard deviation of Gaussian noise",
        caption="Four bounds at epsilon = 0.5 (left); the ratio of the paper's pDP bound to the classic aDP bound, "
        "which is always below 1 (middle); the same ratio of the least values, which is always above 1 (right).",
        place="The paper's Fig. 3 (middle), with the least values beside it",
        rows=_rows(found, epsilon="epsilon", delta="delta", **bounds),
    )


def _tail_ratio() -> Drawing:
    found = comparisons.paper_tails()
    columns = ("epsilon", "delta", "t", "log_laplace", "log_gaussian", "log_ratio")
    return drawing(
        "tail-ratio",
        figures.plot_tail_ratio(found),
        title="Ratio of the tail probabilities, Laplace to Gaussian",
        caption="From 1 at t = 0 every ratio falls, turns, and exceeds 1 in the end: then Laplace noise exceeds t more "
        "often. Grey where both tails are below 1e-4.",
        place="The paper's Fig. 4",
        rows=_rows(found, **{name: name for name in columns}),
    )


def _same_tail() -> Drawing:
    found = comparisons.paper_same_tails()
    return drawing(
        "same-tail",
        figures.plot_same_tail(found),
        title="Privacy cost of the same tail, Gaussian to Laplace",
        caption="The epsilon at which Gaussian noise (Lemma 10) exceeds t as often as Laplace noise, over that of the "
        "Laplace noise. It is smaller at a larger delta. Grey where the tail is below 1e-4.",
        place="The paper's Fig. 5",
        rows=_rows(found, epsilon_1="epsilon", delta="delta", t="t", log_tail="log_tail", ratio="ratio"),
    )


def _dispersion() -> Drawing:
    epsilons = np.linspace(0.02, 5.0, 250)
    edges = {name: comparisons.delta_of_equal_variance(epsilons, name) for name in ("paper", "tight-pdp", "analytic")}
    return drawing(
        "dispersion",
        figures.plot_dispersion(),
        title="Which noise varies more, Gaussian or Laplace",
        caption="The ratio of variances with the Gaussian noise of Lemma 10 (left), and the delta below which "
        "Gaussian noise varies more than Laplace noise, by three calibrations (right). Lemma 11's 0.157 is marked.",
        place="Beside the paper's Lemma 11",
        rows=rows_of(epsilon=epsilons, **edges),
    )
