"""Figures; they need the extra `plots`."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ggdp.plots.intervals import plot_release
    from ggdp.plots.noise import plot_plan
    from ggdp.plots.tables import plot_table

__all__ = ["plot_plan", "plot_release", "plot_table"]

# Loaded when first used: the picture of a plan needs no tables.
_LAZY = {"plot_plan": "ggdp.plots.noise", "plot_release": "ggdp.plots.intervals", "plot_table": "ggdp.plots.tables"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    if name not in _LAZY:
        raise AttributeError(f"module 'ggdp.plots' has no attribute {name!r}")
    value = getattr(import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
