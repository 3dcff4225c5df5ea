"""What tables count and whom they protect, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ggdp.tables.request import TableRequest


def number_of(number: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> number_of(1, "cell"), number_of(1200, "row")
    ('1 cell', '1,200 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def units_noun(request: TableRequest) -> str:
    """Return what units are called: the name that was given, or units."""
    return request.unit_name or "units"


def counted(request: TableRequest) -> str:
    """Return what a count is a number of.

    Examples
    --------
    >>> from ggdp import PureDP
    >>> from ggdp.tables.request import TableRequest
    >>> domain = {"ward": ["births", "eyes", "surgery"]}
    >>> counted(TableRequest(by="ward", goal=PureDP(1.0), domain=domain))
    'rows'
    >>> counted(TableRequest(by="ward", goal=PureDP(1.0), domain=domain, unit="patient", max_cells=2))
    "different values of 'patient'"
    """
    if request.unit is None or request.count == "rows":
        return "rows" if request.unit is not None else request.unit_name or "rows"
    return request.unit_name or f"different values of {request.unit!r}"


def limits(request: TableRequest, table: int) -> str:
    """Return how much of a unit is counted in one of the tables; nothing where all of it is."""
    if not request.can_cut[table]:
        return ""
    most, size = request.most_cells[table], request.sizes[table]
    cells = number_of(most, "cell")
    if request.count == "units":
        return f"at most {cells} each"
    within = "a cell" if most == size else f"each of at most {cells}"
    return f"at most {number_of(request.most_in_a_cell, 'row')} in {within} for each of the {units_noun(request)}"


def covered(request: TableRequest, table: int) -> str | None:
    """Return what the intervals of a table cover, where that is not all that the source holds; else None.

    Examples
    --------
    >>> from ggdp import PureDP
    >>> from ggdp.tables.request import TableRequest
    >>> asked = {"by": "ward", "goal": PureDP(1.0), "domain": {"ward": ["births", "eyes", "surgery"]}, "unit": "id"}
    >>> covered(TableRequest(**asked, max_cells=2), 0)
    'units counted, at most 2 cells each'
    >>> covered(TableRequest(**asked, max_cells=2, count_cut=0.1, unit_name="patients"), 0)
    'all patients; counts: at most 2 cells each'
    >>> covered(TableRequest(**asked, max_cells=3), 0) is None
    True
    """
    limited = limits(request, table)
    if not limited:
        return None
    if request.count_cut is not None:
        return f"all {units_noun(request)}; counts: {limited}"
    return f"{units_noun(request) if request.count == 'units' else 'rows'} counted, {limited}"


def table_properties(request: TableRequest, table: int) -> dict[str, Any]:
    """Return what is known of one table beforehand, as plans and manifests have it."""
    return {
        "regime": request.regimes[table],
        "cells": request.sizes[table],
        "max_cells": request.most_cells[table],
        "covers": covered(request, table),
    }


def protected_unit(request: TableRequest) -> str:
    """Return the protected unit, in words: what one of two neighbours lacks."""
    rows = "one row" if request.unit is None else f"all rows with one value of the column {request.unit!r}"
    return rows if request.unit_name is None else f"{rows} (one of the {request.unit_name})"
