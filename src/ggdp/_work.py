"""How much work a search may take. It is counted, not timed: the same call has the same answer on every machine.

A unit is about a microsecond. What takes long says how much it is about to do (`spend`), and a search that has an
allowance (`within`) ends where it is used up. A proof that is not part of a search has none, and is never cut short.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import TypeVar

from ggdp.errors import SearchError

Result = TypeVar("Result")


class _Allowance:
    """Units that may be and that are spent, and the allowance that this one is a part of."""

    __slots__ = ("most", "outer", "spent")

    def __init__(self, units: float) -> None:
        self.most, self.spent, self.outer = units, 0.0, _ALLOWANCE.get()


_ALLOWANCE: ContextVar[_Allowance | None] = ContextVar("_ALLOWANCE", default=None)


def spend(units: float, bits: int = 96) -> None:
    """Take units, of a computation with 96 bits, from all open allowances; raise a SearchError where one is used up."""
    opened, enough = _ALLOWANCE.get(), True
    # The time that it takes grows with its bits.
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
    return spent_by(search, units)[0]


def spent_by(call: Callable[[], Result], most: float = math.inf) -> tuple[Result, float]:
    """Return what a call returns, and how many units it has spent; raise a SearchError once they are above the most."""
    # A context of its own, which ends in C: an interrupt leaves no allowance open.
    context, opened = copy_context(), _Allowance(most)
    context.run(_ALLOWANCE.set, opened)
    return context.run(call), opened.spent


def without_limit(call: Callable[[], Result]) -> Result:
    """Return what a call returns, whatever work it takes."""
    context = copy_context()
    context.run(_ALLOWANCE.set, None)
    return context.run(call)
