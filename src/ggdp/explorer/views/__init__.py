"""The views of the explorer, in the order of its navigation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ggdp.explorer.added_views import added_views
from ggdp.explorer.views.budget import BUDGET
from ggdp.explorer.views.cells_per_unit import CELLS_PER_UNIT
from ggdp.explorer.views.noise import ATTACKER, NOISE
from ggdp.explorer.views.release import RELEASE
from ggdp.explorer.views.table import TABLE

if TYPE_CHECKING:
    from ggdp.explorer.view import View

__all__ = ["VIEWS"]

VIEWS: tuple[View, ...] = (NOISE, ATTACKER, TABLE, CELLS_PER_UNIT, BUDGET, RELEASE, *added_views())
