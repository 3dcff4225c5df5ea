"""The paper's Fig. 12: the accuracy of a classifier that is trained on sanitised counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ggdp.plots.style import BLACK, ORANGE, SIZE, label, numeral
from ggdp_reproduction.experiments.sanitisers import sanitiser_of
from ggdp_reproduction.figures.drawings import drawing, legend_above
from ggdp_reproduction.figures.mechanism_marks import LOOKS, draw_means, legend_mark, outside_domain, panel_grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ggdp_reproduction.experiments.svm_runs import SvmRun
    from ggdp_reproduction.results import Drawing

__all__ = ["plot_svm", "svm_drawing"]

CONTROL = (0, (5, 1.5, 1, 1.5))


def svm_drawing(run: SvmRun, caveat: str) -> Drawing:
    """Return the figure of the classifier's accuracy."""
    return drawing(
        "adult-svm",
        plot_svm(run),
        title="Accuracy of the classifier on test data: adult",
        caption="Mean and standard deviation over the repeats of a radial support vector machine trained on the "
        "sanitised training data; the line is the one trained on the original, the grey band Laplace noise."
        f"{outside_domain(run.rows)} {caveat[:1].upper()}{caveat[1:]}.",
        place="The paper's Fig. 12",
    )


def plot_svm(run: SvmRun) -> Figure:
    """Return a figure of the accuracy over delta, a panel an epsilon."""
    epsilons = sorted({float(row["epsilon"]) for row in run.rows})
    deltas = sorted({float(row["delta"]) for row in run.rows if row["delta"] is not None})
    keys = [key for key in LOOKS if key != "laplace" and any(row["sanitiser"] == key for row in run.rows)]
    figure, (panels,) = panel_grid(1, len(epsilons), 2.8, sharey=True)

    def accuracy(key: str, epsilon: float, delta: float | None) -> dict[str, float] | None:
        found = [
            100.0 * float(row["accuracy"])
            for row in run.rows
            if (row["sanitiser"], row["epsilon"], row["delta"]) == (key, epsilon, delta)
        ]
        spread = float(np.std(found, ddof=1)) if len(found) > 1 else 0.0
        return {"accuracy_mean": float(np.mean(found)), "accuracy_sd": spread} if found else None

    for axes, epsilon in zip(panels, epsilons, strict=True):
        laplace = accuracy("laplace", epsilon, None)
        if laplace is not None:
            mean, sd = laplace["accuracy_mean"], laplace["accuracy_sd"]
            axes.axhspan(mean - sd, mean + sd, color="0.72", alpha=0.45, linewidth=0)
            axes.axhline(mean, color=BLACK, linewidth=0.8, linestyle=(0, (2, 2)))
        axes.axhline(100.0 * run.original_accuracy, color=BLACK, linewidth=1.0)
        axes.axhline(100.0 * run.support_accuracy, color=ORANGE, linewidth=1.0, linestyle=CONTROL)
        for number, key in enumerate(keys):
            shift = 0.72 * ((number + 0.5) / len(keys) - 0.5)
            for place, delta in enumerate(deltas):
                found = accuracy(key, epsilon, delta)
                if found is not None:
                    draw_means(axes, np.array([place + shift]), [found], "accuracy", LOOKS[key])
        label(axes, title=f"$\\varepsilon$ = {numeral(epsilon)}")
        axes.set_xlim(-0.5, len(deltas) - 0.5)
        axes.set_xticks(np.arange(len(deltas)), [f"{delta:g}" for delta in deltas])
    panels[0].set_ylabel("accuracy on test data (%)", fontsize=SIZE)
    figure.supxlabel("$\\delta$", fontsize=SIZE)
    entries = [(_line(), "original"), (_line((0, (2, 2))), "Laplace"), (_line(CONTROL, ORANGE), "cells without counts")]
    entries += [(legend_mark(*LOOKS[key]), sanitiser_of(key).label) for key in keys]
    legend_above(figure, entries, columns=4)
    return figure


def _line(pattern: Any = "-", colour: str = BLACK) -> object:  # noqa: ANN401
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, linestyle=pattern, linewidth=1.0)
