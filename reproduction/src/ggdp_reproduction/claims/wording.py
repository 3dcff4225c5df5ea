"""Numbers as they are read, and whether they rise or fall."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["falling", "listed", "rising", "short", "span"]


def short(value: float, digits: int = 4) -> str:
    """Return a number in a few significant digits, large ones with commas."""
    # Rounded first: what becomes 100 by rounding must not be written 1e+02.
    rounded = float(f"{value:.{digits}g}")
    return f"{value:,.0f}" if abs(rounded) >= 10.0**digits else f"{value:.{digits}g}"


def listed(values: Iterable[float], digits: int = 4) -> str:
    """Return numbers with commas and an "and"."""
    *first, last = [short(value, digits) for value in values]
    return f"{', '.join(first)} and {last}" if first else last


def span(values: Iterable[float], digits: int = 3) -> str:
    """Return the least and the largest of some numbers."""
    found = list(values)
    low, high = short(min(found), digits), short(max(found), digits)
    return low if low == high else f"{low} to {high}"


def rising(values: Sequence[float]) -> bool:
    """Return whether numbers strictly rise."""
    return all(before < after for before, after in pairwise(values))


def falling(values: Sequence[float]) -> bool:
    """Return whether numbers strictly fall."""
    return rising([-value for value in values])
