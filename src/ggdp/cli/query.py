"""What the commands share: flags of a goal and of a sensitivity, made into both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from ggdp import _validate
from ggdp.errors import ArgumentError
from ggdp.privacy import ApproxDP, Neighbours, Notion, ProbabilisticDP, PureDP, Sensitivity

if TYPE_CHECKING:
    from ggdp.privacy import Guarantee

__all__ = [
    "Box",
    "Delta",
    "Epsilon",
    "MaxCells",
    "NeighboursFlag",
    "NotionFlag",
    "Size",
    "SupportFlag",
    "goal_of",
    "numbers_of",
    "sensitivity_of",
]

# The words of `ggdp.calibration.calibration`, which is too heavy to load before it is needed.
Support: TypeAlias = Literal["real", "integer"]

Epsilon = Annotated[float, typer.Option(help="Epsilon of the goal.")]
Delta = Annotated[float | None, typer.Option(help="Delta of the goal.")]
NotionFlag = Annotated[Notion | None, typer.Option(help="What is promised; pure without --delta, approximate with it.")]
Size = Annotated[float | None, typer.Option(help="How far one coordinate can move (1 if nothing is given).")]
Box = Annotated[str | None, typer.Option(metavar="D1,D2,...", help="How far each coordinate can move.")]
MaxCells = Annotated[
    int | None,
    typer.Option(help="In how many cells one unit is at most; under replace-one twice as many cells move."),
]
NeighboursFlag = Annotated[Neighbours, typer.Option(help="Which data sets are neighbours.")]
SupportFlag = Annotated[Support, typer.Option(help="Where the noise lives.")]


def goal_of(epsilon: float, delta: float | None, notion: str | None) -> Guarantee:
    """Return the goal that the flags ask for."""
    notion = notion or ("pure" if delta is None else "approximate")
    if notion == "pure":
        if delta:
            raise ArgumentError("delta", delta, "a pure goal has none; leave it out or ask for another notion")
        return PureDP(epsilon)
    if delta is None:
        raise ArgumentError("delta", delta, f"a goal of the notion {notion!r} needs one")
    return ProbabilisticDP(epsilon, delta) if notion == "probabilistic" else ApproxDP(epsilon, delta)


def sensitivity_of(
    sensitivity: float | None, box: str | None, max_cells: int | None, neighbours: Neighbours
) -> Sensitivity:
    """Return the sensitivity that the flags ask for."""
    if box is not None:
        if sensitivity is not None or max_cells is not None:
            raise ArgumentError("box", box, "goes with neither --sensitivity nor --max-cells")
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
