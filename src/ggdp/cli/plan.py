"""``ggdp plan``: from goal, sensitivity and a measure of error to the best order."""

from __future__ import annotations

import io
from contextlib import contextmanager
from pathlib import Path  # noqa: TC003 - typer reads annotations when it runs
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from ggdp._rounding import rounded_text
from ggdp.cli.output import AsJson, print_json, print_table, say
from ggdp.cli.pictures import require_picture, write_picture
from ggdp.cli.query import (
    Box,
    Delta,
    MaxCells,
    NeighboursFlag,
    NotionFlag,
    Size,
    SupportFlag,
    goal_of,
    sensitivity_of,
)
from ggdp.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ggdp.planning import Choice, Plan

# The words of `ggdp.planning.measures`, which is too heavy to load before it is needed.
MeasureName: TypeAlias = Literal["mean-abs", "rmse", "quantile", "max"]
DOTS_PER_INCH = 300


def plan(
    epsilon: Annotated[float | None, typer.Option(help="Epsilon of the goal; not with --plus-minus.")] = None,
    delta: Delta = None,
    notion: NotionFlag = None,
    sensitivity: Size = None,
    box: Box = None,
    max_cells: MaxCells = None,
    neighbours: NeighboursFlag = "add-remove",
    support: SupportFlag = "real",
    measure: Annotated[MeasureName, typer.Option(help="The error to minimise.")] = "rmse",
    level: Annotated[float, typer.Option(help="Level of the quantile, for --measure quantile.")] = 0.95,
    plus_minus: Annotated[
        float | None,
        typer.Option(metavar="W", help="Find the smallest epsilon whose noise stays within W at --level."),
    ] = None,
    cells: Annotated[
        int | None, typer.Option(help="Cells of the query, for --measure max; by default, the number that can move.")
    ] = None,
    releases: Annotated[
        int, typer.Option(metavar="K", help="Plan the noise of each of K equal releases that keep the goal together.")
    ] = 1,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw error against order to a .png, .pdf or .svg file.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier plot.")] = False,
    as_json: AsJson = False,
) -> None:
    """Find the order of noise with the least error for a query. Reads no data."""
    if (epsilon is None) == (plus_minus is None):
        message = "give either --epsilon or --plus-minus"
        raise typer.BadParameter(message)
    if plus_minus is not None and notion == "probabilistic":
        raise ArgumentError("notion", notion, "--plus-minus looks for pure DP, or with --delta for approximate DP")
    goal = None if epsilon is None else goal_of(epsilon, delta, notion)
    query = sensitivity_of(sensitivity, box, max_cells, neighbours)
    if plot is not None:
        require_picture(plot, overwrite=overwrite)
    from ggdp.planning import plan as planned

    with _progress() as progress:
        result = planned(
            goal,
            query,
            measure,
            level=level,
            cells=cells,
            support=support,
            releases=releases,
            plus_minus=plus_minus,
            delta=None if plus_minus is None else delta,
            progress=progress,
        )
    if plot is not None:
        _draw(result, plot, overwrite=overwrite)
    if as_json:
        print_json(result.to_dict())
        return
    calibration = result.calibration
    print_table(
        f"{result.measure}, {calibration.goal.under(calibration.sensitivity.neighbours)}",
        [_row(choice) for choice in result.choices],
        header=("noise", "order", "scale", "error", "times the best"),
    )
    for other in result.outside:
        say(f"outside the family: {other}")
    say(f"query: {result.each.sensitivity}, noise on the {calibration.support}s")
    if result.releases > 1:
        say(f"{result.releases:,} such releases together keep the goal; each alone: {result.each.guarantee}")
    say(f"guarantee of the best: {calibration.guarantee}, certified")
    for note in (*result.notes, *filter(None, [calibration.caution])):
        say(f"note: {note}")
    if plot is not None:
        say(f"Written: {plot}")


def _row(choice: Choice) -> tuple[str, ...]:
    if choice.scale is None or choice.error is None:
        return (choice.name, rounded_text(choice.order, 6), "none", "none", "")
    gain = "" if choice.gain is None else rounded_text(choice.gain, 4)
    return (choice.name, rounded_text(choice.order, 6), repr(choice.scale), rounded_text(choice.error, 6), gain)


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar on standard error, if that is a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda done, expected: None  # noqa: ARG005 - no terminal
        return
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("orders tried", total=None)
        yield lambda done, expected: bar.update(task, completed=done, total=max(done, expected))


def _draw(result: Plan, plot: Path, *, overwrite: bool) -> None:
    from ggdp.plots.noise import plot_plan

    picture = io.BytesIO()
    plot_plan(result).savefig(picture, format=plot.suffix.lower()[1:], dpi=DOTS_PER_INCH)
    write_picture(plot, picture.getvalue(), overwrite=overwrite)
