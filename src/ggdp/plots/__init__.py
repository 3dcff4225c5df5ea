"""Figures; they need the extra `plots`."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ggdp.plots.intervals import plot_release
    from ggdp.plots.noise_figures import plot_beliefs, plot_noise, plot_plan
    from ggdp.plots.table_figures import plot_table

__all__ = ["plot_beliefs", "plot_noise", "plot_plan", "plot_release", "plot_table"]

# Loaded when first used: the picture of a plan needs no tables.
_LAZY = dict.fromkeys(__all__, "noise_figures") | {"plot_release": "intervals", "plot_table": "table_figures"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    if name not in _LAZY:
        raise AttributeError(f"module 'ggdp.plots' has no attribute {name!r}")
    value = getattr(import_module(f"ggdp.plots.{_LAZY[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
