"""Laws of noise beside each other, with the part that 95 of 100 draws fall into."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ggdp.distributions.generalized_gaussian import GeneralizedGaussian
from ggdp.distributions.integer import IntegerGeneralizedGaussian
from ggdp.errors import ArgumentError
from ggdp.plots.style import BLUE, COLUMN_WIDTH, curve, items, label, new_figure, show_legend
from ggdp.proofs.noise_law import NoiseLaw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

__all__ = ["law_points", "plot_noise"]

LEVEL = 0.95
# The share of draws of the widest law that is drawn, and how many points a curve has at most.
_SHOWN, _POINTS = 0.998, 241
# So few whole numbers that each is a step of its own.
_STEPS = 61
_LEAST = 3.0


def plot_noise(laws: Sequence[NoiseLaw], names: Sequence[str], *, unit: str = "unit of the query") -> Figure:
    """Return a figure, as wide as a column of print, of laws of noise; 95 of 100 draws of the first are in its shade.

    Parameters
    ----------
    laws : sequence of NoiseLaw
        The laws, on one support and without bounds, such as `Calibration.law`.
    names : sequence of str
        Their names, for the legend.
    unit : str, default "unit of the query"
        Unit of the noise, for the axis label.

    Examples
    --------
    >>> import ggdp
    >>> goal, query = ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.histogram()
    >>> laws = [ggdp.calibrate(goal, query, order=order, support="integer").law for order in (2, 1)]
    >>> plot_noise(laws, ["Gaussian", "Laplace"], unit="persons").axes[0].get_xlabel()
    'noise (persons)'
    """
    drawn = items(NoiseLaw, laws=laws)
    if not drawn or len({law.support for law in drawn}) > 1 or any(law.bounding for law in drawn):
        raise ArgumentError("laws", len(drawn), "must be at least one law, all on one support and without bounds")
    x = law_points(drawn)
    integer = drawn[0].support == "integer"
    stepped: dict[str, Any] = {"drawstyle": "steps-mid"} if integer and len(x) <= _STEPS else {}
    figure, (axes,) = new_figure(COLUMN_WIDTH, 2.7)
    # The labels are known: to lay them out anew would take a third of the time, and a page draws this while it is used.
    figure.set_layout_engine("none")
    axes.set_position((0.16, 0.165, 0.82, 0.81))
    for number, (law, name) in enumerate(zip(drawn, names, strict=True)):
        curve(axes, x, _density(law, x), number, name, **stepped)
    half = _half_width(drawn[0])
    inside = np.abs(x) <= half
    shade: dict[str, Any] = {"step": "mid"} if stepped else {}
    axes.fill_between(x[inside], _density(drawn[0], x[inside]), color=BLUE, alpha=0.14, linewidth=0.0, **shade)
    axes.set_ylim(bottom=0.0)
    axes.margins(x=0.0)
    label(axes, f"noise ({unit})", "probability" if integer else f"density (per {unit})")
    show_legend(axes, loc="upper right")
    return figure


def law_points(laws: Sequence[NoiseLaw]) -> NDArray[np.float64]:
    """Return the places that laws are drawn at: as far as nearly all of the widest goes, whole numbers on the integers.

    Examples
    --------
    >>> law_points([NoiseLaw(order=2.0, scale=2.0, support="integer")])[[0, -1]].tolist()
    [-4.0, 4.0]
    """
    end = max(_half_width(law, _SHOWN) for law in laws)
    if laws[0].support == "real":
        return np.linspace(-end, end, _POINTS)
    # A few numbers beside 0 also where noise is rare; every so many of them where there are many, and always 0.
    end = max(end, _LEAST)
    stride = max(1, int(2 * end) // _POINTS + 1) if 2 * end + 1 > _POINTS else 1
    most = int(end) // stride
    return stride * np.arange(-most, most + 1, dtype=np.float64)


def _density(law: NoiseLaw, x: NDArray[np.float64]) -> NDArray[np.float64]:
    if law.support == "real":
        return np.asarray(GeneralizedGaussian(order=law.order, scale=law.scale).pdf(x))
    return np.asarray(IntegerGeneralizedGaussian(order=law.order, scale=law.scale).pmf(x.astype(np.int64)))


def _half_width(law: NoiseLaw, level: float = LEVEL) -> float:
    if law.support == "real":
        return float(GeneralizedGaussian(order=law.order, scale=law.scale).half_width(level))
    return float(IntegerGeneralizedGaussian(order=law.order, scale=law.scale).ppf((1.0 + level) / 2.0))
