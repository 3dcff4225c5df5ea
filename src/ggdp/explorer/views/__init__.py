"""The views of the page, in the order of its navigation: a new one is a module and a line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ggdp.explorer.views.attacker import ATTACKER
from ggdp.explorer.views.noise import NOISE

if TYPE_CHECKING:
    from ggdp.explorer.view import View

__all__ = ["VIEWS"]

VIEWS: tuple[View, ...] = (NOISE, ATTACKER)
