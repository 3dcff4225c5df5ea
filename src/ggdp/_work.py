"""How much work a search may take. It is counted, not timed: the same call has the same answer on every machine.

A unit is about a microsecond. What takes long says how much it is about to do (`spend`), and a search that has an
allowance (`within`) ends where it is used up. A proof that is not part of a search has none, and is never cut short.
"""

from __future__ import annotations

import math
from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING, TypeVar

from ggdp.errors import SearchError

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")


class _Allowance:
    """Units that may be and that are spent, and the allowance that this one is a part of."""

    __slots__ = ("most", "outer", "spent")

    def __init__(self, units: float) -> None:
        self.most, self.spent, self.outer = units, 0.0, _ALLOWANCE.get()


_ALLOWANCE: ContextVar[_Allowance | None] = ContextVar("_ALLOWANCE", default=None)


def spend(units: float, bits: int = 96) -> None:
    """Take units from all open allowances, and raise a SearchError where one is used up.

    They are those of a computation with 96 bits: the time that it takes grows with its bits.
    """
    opened, enough = _ALLOWANCE.get(), True
    units *= bits / 96
    while opened is not None:
        opened.spent += units
        enough = enough and opened.spent <= opened.most
        opened = opened.outer
    if not enough:
        raise SearchError(
            "the search takes more work than ggdp does; use a less extreme order, epsilon, delta or sensitivity"
        )


def within(units: float, search: Callable[[], Result]) -> Result:
    """Return what a search returns, or raise a SearchError once it has spent these units."""
    return copy_context().run(_counted, search, units)[0]


def spent_by(call: Callable[[], Result]) -> tuple[Result, float]:
    """Return what a call returns, and how many units it has spent."""
    return copy_context().run(_counted, call, math.inf)


def _counted(call: Callable[[], Result], units: float) -> tuple[Result, float]:
    """Return what `spent_by` does, in a context of its own: it ends in C, so that an interrupt leaves none open."""
    opened = _Allowance(units)
    _ALLOWANCE.set(opened)
    return call(), opened.spent


def without_limit(call: Callable[[], Result]) -> Result:
    """Return what a call returns, whatever work it takes."""

    def exempt() -> Result:
        _ALLOWANCE.set(None)
        return call()

    return copy_context().run(exempt)
