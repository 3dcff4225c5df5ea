"""Flags of a goal and of a sensitivity, shared by the commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from ggdp import _validate
from ggdp.errors import ArgumentError
from ggdp.privacy import ApproxDP, Neighbours, Notion, ProbabilisticDP, PureDP, Sensitivity

if TYPE_CHECKING:
    from ggdp.privacy import Guarantee

# The words of `ggdp.calibration.calibration`, which is too heavy to load before it is needed.
Support: TypeAlias = Literal["real", "integer"]

Epsilon = Annotated[float, typer.Option(help="Epsilon of the goal.")]
Delta = Annotated[float | None, typer.Option(help="Delta of the goal.")]
NotionFlag = Annotated[
    Notion | None, typer.Option(help="Notion of privacy; by default pure without --delta and approximate with it.")
]
Size = Annotated[float | None, typer.Option(help="Largest change of one coordinate (default: 1).")]
Box = Annotated[str | None, typer.Option(metavar="D1,D2,...", help="Largest change of each coordinate.")]
MaxCells = Annotated[
    int | None,
    typer.Option(help="Most cells that one unit is in; under replace-one, twice as many cells move."),
]
NeighboursFlag = Annotated[Neighbours, typer.Option(help="Which data sets are neighbours.")]
SupportFlag = Annotated[Support, typer.Option(help="Support of the noise.")]


def goal_of(epsilon: float, delta: float | None, notion: str | None) -> Guarantee:
    """Return the goal that the flags describe."""
    notion = notion or ("pure" if delta is None else "approximate")
    if notion == "pure":
        if delta:
            raise ArgumentError("delta", delta, "a pure goal has no delta; leave it out or choose another notion")
        return PureDP(epsilon)
    if delta is None:
        raise ArgumentError("delta", delta, f"is required for {notion} DP")
    return ProbabilisticDP(epsilon, delta) if notion == "probabilistic" else ApproxDP(epsilon, delta)


def sensitivity_of(
    sensitivity: float | None, box: str | None, max_cells: int | None, neighbours: Neighbours
) -> Sensitivity:
    """Return the sensitivity that the flags describe."""
    if box is not None:
        if sensitivity is not None or max_cells is not None:
            raise ArgumentError("box", box, "cannot be combined with --sensitivity or --max-cells")
        sizes = [_validate.positive(box=size) for size in numbers_of("box", box)]
        return Sensitivity.box(sizes, neighbours=neighbours)
    size = 1.0 if sensitivity is None else _validate.positive(sensitivity=sensitivity)
    if max_cells is None:
        return Sensitivity.disjoint(size, neighbours=neighbours)
    moving = Sensitivity.histogram(neighbours, max_cells).moving
    return Sensitivity.cells(moving, size, neighbours=neighbours)


def numbers_of(name: str, text: str, separator: str = ",") -> list[float]:
    """Return the numbers of a flag."""
    try:
        return [float(part) for part in text.split(separator)]
    except ValueError:
        raise ArgumentError(name, text, f"must be numbers separated by {separator!r}") from None
