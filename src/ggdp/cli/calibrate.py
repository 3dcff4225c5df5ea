"""``ggdp calibrate``: from goal, sensitivity and order to a certified scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from ggdp._rounding import rounded_text
from ggdp.cli.output import AsJson, print_json, print_table
from ggdp.cli.query import (
    Box,
    Delta,
    Epsilon,
    MaxCells,
    NeighboursFlag,
    NotionFlag,
    Size,
    SupportFlag,
    goal_of,
    numbers_of,
    sensitivity_of,
)
from ggdp.errors import ArgumentError

if TYPE_CHECKING:
    from ggdp.calibration import Calibration

# The words of `ggdp.calibration.calibration`, which is too heavy to load before it is needed.
Bounding: TypeAlias = Literal["truncated", "boundary-inflated"]
Method: TypeAlias = Literal["tight", "paper"]


def calibrate(
    order: Annotated[float, typer.Option(help="Order of the noise, at least 1: 1 is Laplace, 2 is Gaussian.")],
    epsilon: Epsilon,
    delta: Delta = None,
    notion: NotionFlag = None,
    sensitivity: Size = None,
    box: Box = None,
    max_cells: MaxCells = None,
    neighbours: NeighboursFlag = "add-remove",
    support: SupportFlag = "real",
    bounds: Annotated[
        str | None, typer.Option(metavar="LO:HI[,LO:HI...]", help="Public bounds of query and output.")
    ] = None,
    bounding: Annotated[Bounding | None, typer.Option(help="How the output is kept in the bounds.")] = None,
    method: Annotated[Method, typer.Option(help="The least scale, or the paper's formula.")] = "tight",
    as_json: AsJson = False,
) -> None:
    """Find the least noise scale that satisfies a goal, and prove it."""
    goal = goal_of(epsilon, delta, notion)
    query = sensitivity_of(sensitivity, box, max_cells, neighbours)
    from ggdp.calibration import calibrate as calibrated

    result = calibrated(
        goal,
        query,
        order=order,
        support=support,
        bounds=None if bounds is None else _bounds(bounds),
        bounding=bounding,
        method=method,
    )
    if as_json:
        print_json(result.to_dict())
    else:
        print_table("calibration", _rows(result))


def _bounds(text: str) -> list[tuple[float, float]]:
    pairs = []
    for part in text.split(","):
        ends = numbers_of("bounds", part, ":")
        if len(ends) != 2:
            raise ArgumentError("bounds", text, "must be LO:HI, or several such pairs separated by ','")
        pairs.append((ends[0], ends[1]))
    return pairs


def _rows(result: Calibration) -> list[tuple[str, Any]]:
    proof = result.certificate
    worst = " (worst case over the true value)" if result.bounding else ""
    tight = "" if proof.tight is None else f"; a scale {1 - proof.tight:.0e} smaller is proved to fail"
    layout = getattr(proof.bound, "layout", None)
    grid = "" if layout is None else f"; grid of step {rounded_text(layout.step)}"
    bounded = (
        ""
        if result.bounding is None
        else f", {result.bounding} on " + ", ".join(f"[{low:g}, {high:g}]" for low, high in result.bounds or ())
    )
    return [
        ("order", rounded_text(result.order, 6)),
        ("scale", repr(result.scale)),
        ("standard deviation", f"{rounded_text(result.std, 6)}{worst}"),
        ("mean absolute error", f"{rounded_text(result.mean_abs, 6)}{worst}"),
        ("support", result.support + bounded),
        ("method", result.method),
        ("sensitivity", str(result.sensitivity)),
        ("goal", str(result.goal.under(result.sensitivity.neighbours))),
        ("guarantee", str(result.guarantee)),
        ("certificate", f"{proof.quantity} <= {proof.proved!r}{tight}"),
        ("proved by", f"{proof.bound.statement}{grid}"),
        ("computed with", f"{proof.arithmetic}, {proof.precision} bits"),
        *(("note", note) for note in (*result.notes, *filter(None, [result.caution]))),
    ]
