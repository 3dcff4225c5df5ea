"""The commands on noise, which need no data: ``ggdp calibrate``, ``plan`` and ``belief``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path  # not for types alone: typer reads annotations when it runs
from typing import Annotated, Any, Literal

import typer

from ggdp import _validate
from ggdp._files import writable_file
from ggdp._rounding import rounded_down_text, rounded_text, rounded_up_text
from ggdp.cli.flags import Delta, Epsilon, NeighboursFlag, NotionFlag, numbers_of, shown_as_typed
from ggdp.cli.output import FORMATS, AsJson, print_json, print_table, say, write_picture
from ggdp.errors import ArgumentError, UnattainableError
from ggdp.privacy import Neighbours, Sensitivity
from ggdp.tables.request import goal_of

# Literals are the words of `ggdp.calibration` and `ggdp.planning`, which are too heavy to load before they are needed.
Size = Annotated[float | None, typer.Option(help="Largest change of one coordinate (default: 1).")]
Box = Annotated[str | None, typer.Option(metavar="D1,D2,...", help="Largest change of each coordinate.")]
MaxCells = Annotated[
    int | None, typer.Option(help="Most cells that one unit is in; under replace-one, twice as many cells move.")
]
NormFlag = Annotated[
    str | None,
    typer.Option(
        metavar="P,D,DIM",
        help="The l_P norm of the change of DIM coordinates is at most D (2,1,10; P may be inf), and nothing else is "
        "known.",
    ),
]
SupportFlag = Annotated[Literal["real", "integer"], typer.Option(help="Support of the noise.")]


def calibrate(
    order: Annotated[
        str,
        typer.Option(
            metavar="P[,P...]",
            help="Order of the noise, at least 1: 1 is Laplace, 2 is Gaussian. Several give a table (1,2,3).",
        ),
    ],
    epsilon: Epsilon,
    delta: Delta = None,
    notion: NotionFlag = None,
    sensitivity: Size = None,
    box: Box = None,
    max_cells: MaxCells = None,
    norm: NormFlag = None,
    neighbours: NeighboursFlag = "add-remove",
    support: SupportFlag = "real",
    bounds: Annotated[
        str | None, typer.Option(metavar="LO:HI[,LO:HI...]", help="Public bounds of query and output.")
    ] = None,
    bounding: Annotated[
        Literal["truncated", "boundary-inflated"] | None, typer.Option(help="How the output is kept in the bounds.")
    ] = None,
    method: Annotated[Literal["tight", "paper"], typer.Option(help="The least scale, or the paper's formula.")] = (
        "tight"
    ),
    as_csv: Annotated[bool, typer.Option("--csv", help="Print a CSV file, with a line for each order.")] = False,
    as_json: AsJson = False,
) -> None:
    """Find the least noise scale that satisfies a goal, and prove it."""
    if as_csv and as_json:
        raise typer.BadParameter("give either --csv or --json")
    try:
        orders = numbers_of("order", order)
    except ArgumentError as wrong:
        raise typer.BadParameter(f"{order!r} {wrong.expected}", param_hint="'--order'") from None
    goal = goal_of(epsilon, delta, notion)
    query = sensitivity_of(sensitivity, box, max_cells, norm, neighbours)
    ends = None if bounds is None else [numbers_of("bounds", part, ":") for part in bounds.split(",")]
    if any(len(pair) != 2 for pair in ends or ()):
        raise ArgumentError("bounds", bounds, "must be LO:HI, or several such pairs separated by ','")
    from ggdp.calibration import calibrate as calibrated

    # A norm that is known of the whole change is used better by noise of that norm.
    known = query.joint is not None and query.joint[0] > 1.0 and query.moving > 1
    words = (
        "independent noise makes little use of a norm of the whole change; for pure DP ggdp.MinkowskiMechanism adds "
        "noise of that norm, and ggdp plan compares the two"
    )
    advice = (words,) if goal.delta == 0.0 and known else ()
    limits = None if ends is None else [(low, high) for low, high in ends]
    of_order = partial(calibrated, goal, query, support=support, bounds=limits, bounding=bounding, method=method)
    try:
        results = [of_order(order=one) for one in orders]
    except UnattainableError as refused:
        raise UnattainableError("; ".join((str(refused), *advice))) from None
    result, *others = results
    if as_csv:
        columns = ("order", "scale", "std", "mean_abs")
        lines = [[*(getattr(one, name) for name in columns), *one.guarantee.to_dict().values()] for one in results]
        say("\n".join(",".join(map(str, line)) for line in ([*columns, *result.guarantee.to_dict()], *lines)))
        return
    if as_json:
        records = [found.to_dict() | {"notes": [*found.notes, *advice]} for found in results]
        print_json({"calibrations": records} if others else records[0])
        return
    if others:
        print_table(
            f"calibrations, {result.sensitivity}",
            [
                (rounded_text(one.order, 6), repr(one.scale), *(rounded_text(x, 6) for x in (one.std, one.mean_abs)))
                for one in results
            ],
            header=("order", "scale", "standard deviation", "mean absolute error"),
        )
        for text in dict.fromkeys(str(one.guarantee) for one in results):
            say(f"guarantee: {text}, certified")
        for note in dict.fromkeys(
            note for one in results for note in (*one.notes, *filter(None, [one.caution]), *advice)
        ):
            say(f"note: {note}")
        return
    proof = result.certificate
    worst = " (worst case over the true value)" if result.bounding else ""
    tight = "" if proof.tight is None else f"; a scale {1 - proof.tight:.0e} smaller is proved to fail"
    layout = getattr(proof.bound, "layout", None)
    grid = "" if layout is None else f"; grid of step {rounded_text(layout.step)}"
    pairs = ", ".join(f"[{low:g}, {high:g}]" for low, high in result.bounds or ())
    bounded = "" if result.bounding is None else f", {result.bounding} on {pairs}"
    rows: list[tuple[str, Any]] = [
        ("order", rounded_text(result.order, 6)),
        ("scale", repr(result.scale)),
        ("standard deviation", f"{rounded_text(result.std, 6)}{worst}"),
        ("mean absolute error", f"{rounded_text(result.mean_abs, 6)}{worst}"),
        ("support", result.support + bounded),
        ("method", result.method),
        ("sensitivity", str(result.sensitivity)),
        ("goal", str(result.goal.under(result.sensitivity.neighbours))),
        ("guarantee", str(result.guarantee)),
        ("certificate", f"{proof.bound.quantity} <= {proof.proved!r}{tight}"),
        ("proved by", f"{proof.bound.statement}{grid}"),
        ("computed with", f"{proof.arithmetic}, {proof.precision} bits"),
        *(("note", note) for note in (*result.notes, *filter(None, [result.caution]), *advice)),
    ]
    print_table("calibration", rows)


def plan(
    epsilon: Annotated[float | None, typer.Option(help="Epsilon of the goal; not with --plus-minus.")] = None,
    delta: Delta = None,
    notion: NotionFlag = None,
    sensitivity: Size = None,
    box: Box = None,
    max_cells: MaxCells = None,
    norm: NormFlag = None,
    neighbours: NeighboursFlag = "add-remove",
    support: SupportFlag = "real",
    measure: Annotated[
        Literal["mean-abs", "rmse", "quantile", "max"], typer.Option(help="The error to minimise.")
    ] = "rmse",
    level: Annotated[float, typer.Option(help="Level of the quantile, for --measure quantile.")] = 0.95,
    plus_minus: Annotated[
        float | None, typer.Option(metavar="W", help="Find the smallest epsilon whose noise stays within W at --level.")
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
        raise typer.BadParameter("give either --epsilon or --plus-minus")
    if plus_minus is not None and notion == "probabilistic":
        raise ArgumentError("notion", notion, "--plus-minus looks for pure DP, or with --delta for approximate DP")
    goal = None if epsilon is None else goal_of(epsilon, delta, notion)
    query = sensitivity_of(sensitivity, box, max_cells, norm, neighbours)
    if plot is not None:
        writable_file("plot", plot, FORMATS, overwrite=overwrite)
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
        from ggdp.plots.noise_figures import plot_plan

        write_picture(plot, plot_plan(result), overwrite=overwrite)
    if as_json:
        print_json(result.to_dict())
        return
    calibration = result.calibration
    print_table(
        f"{result.measure}, {calibration.goal.under(calibration.sensitivity.neighbours)}",
        [
            (
                choice.name,
                rounded_text(choice.order, 6),
                "none" if choice.scale is None else repr(choice.scale),
                "none" if choice.error is None else rounded_text(choice.error, 6),
                "" if choice.gain is None else rounded_text(choice.gain, 4),
            )
            for choice in result.choices
        ],
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


def belief(
    epsilon: Epsilon,
    delta: Delta = None,
    notion: NotionFlag = None,
    prior: Annotated[
        str, typer.Option(metavar="P[,P...]", help="What an attacker believes before the release, each in (0, 1).")
    ] = "0.01,0.1,0.5",
    as_json: AsJson = False,
) -> None:
    """Show what an attacker can come to believe of one person. Reads no data."""
    goal = goal_of(epsilon, delta, notion)
    priors = numbers_of("prior", prior)
    from ggdp.privacy.beliefs import belief as believed

    found = [believed(goal, one) for one in priors]
    if as_json:
        print_json({"goal": goal.to_dict(), "beliefs": [asdict(one) for one in found]})
        return
    print_table(
        f"an attacker's belief in one of two neighbouring data sets, {goal}",
        [
            (
                f"{rounded_text(100.0 * one.prior)} %",
                f"{rounded_down_text(100.0 * one.lowest)} %",
                f"{rounded_up_text(100.0 * one.highest)} %",
                f"{rounded_up_text(100.0 * one.right)} %",
            )
            for one in found
        ],
        header=("before", "after, at least", "after, at most", "best guess is right"),
    )
    if goal.delta > 0.0:
        say(f"but with probability at most {rounded_up_text(goal.delta)}, in which nothing is promised")


def sensitivity_of(
    sensitivity: float | None, box: str | None, max_cells: int | None, norm: str | None, neighbours: Neighbours
) -> Sensitivity:
    """Return the sensitivity that the flags describe."""
    if norm is not None:
        if sensitivity is not None or box is not None or max_cells is not None:
            raise ArgumentError("norm", norm, "cannot be combined with --sensitivity, --box or --max-cells")
        numbers = numbers_of("norm", norm)
        if len(numbers) != 3 or not numbers[2].is_integer():
            raise ArgumentError("norm", norm, "must be P,D,DIM: order and bound of the norm, number of coordinates")
        with shown_as_typed("norm", norm):
            return Sensitivity.norm(numbers[0], numbers[1], dimension=int(numbers[2]), neighbours=neighbours)
    if box is not None:
        if sensitivity is not None or max_cells is not None:
            raise ArgumentError("box", box, "cannot be combined with --sensitivity or --max-cells")
        return Sensitivity.box([_validate.positive(box=size) for size in numbers_of("box", box)], neighbours=neighbours)
    size = 1.0 if sensitivity is None else _validate.positive(sensitivity=sensitivity)
    if max_cells is None:
        return Sensitivity.disjoint(size, neighbours=neighbours)
    return Sensitivity.cells(Sensitivity.histogram(neighbours, max_cells).moving, size, neighbours=neighbours)
