"""``ggdp release``: a table in, a private table and its manifest out.

What is printed is a function of the request and of the released values, on both streams and in every error.
"""

from __future__ import annotations

import io
import json
import warnings
from pathlib import Path  # noqa: TC003 - typer reads annotations when it runs
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from ggdp.cli.columns import (
    Bins,
    By,
    Delimiter,
    DomainFile,
    Encoding,
    Engine,
    Escape,
    Labels,
    Levels,
    Missing,
    NoQuotes,
    Other,
    SourceArgument,
    TempDir,
    Unit,
    domain_of,
    marginals_of,
    named_as_flags,
    printable,
    text_of,
    working,
)
from ggdp.cli.output import print_json, print_table
from ggdp.cli.query import Delta, Epsilon, NeighboursFlag, NotionFlag, goal_of
from ggdp.errors import ArgumentError, GgdpError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ggdp.tables.domain import Domain
    from ggdp.tables.on_executors import WrittenRelease
    from ggdp.tables.plan import TablePlan
    from ggdp.tables.release import Table, TableRelease
    from ggdp.tables.request import TableRequest

__all__ = ["release"]

# The words of `ggdp.tables.request`, which is too heavy to load before it is needed.
CountName: TypeAlias = Literal["units", "rows"]
SHOWN_ROWS = 20
PICTURES = (".png", ".pdf", ".svg")
DOTS_PER_INCH = 200
# Written into files of these formats unless it is taken out.
DATES: dict[str, dict[str, None]] = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}
REGIMES = {
    "declared": "declared: every cell is published, empty ones too",
    "sparse": "sparse: a declared domain, of which cells with small noisy counts are left out",
    "open": "open: levels of few units do not show",
    "mixed": "mixed: declared tables are complete, in open ones levels of few units do not show",
}


def release(
    source: SourceArgument,
    by: By,
    epsilon: Epsilon,
    delta: Delta = None,
    notion: NotionFlag = None,
    order: Annotated[
        str, typer.Option(metavar="P|auto", help="Order of the noise: 1 is Laplace, 2 is Gaussian, auto the best.")
    ] = "auto",
    domain: DomainFile = None,
    levels: Levels = None,
    bins: Bins = None,
    labels: Labels = None,
    other: Other = None,
    missing: Missing = None,
    unit: Unit = None,
    max_cells: Annotated[
        int | None, typer.Option(metavar="M", help="With --unit: in how many cells of a table one unit is counted.")
    ] = None,
    count: Annotated[
        CountName, typer.Option(help="With --unit: whether cells count different units, or their rows.")
    ] = "units",
    max_rows_per_cell: Annotated[
        int | None, typer.Option(metavar="R", help="With --count rows: how many rows of a unit count in one cell.")
    ] = None,
    count_cut: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Spend this share of epsilon on counting the units in more than --max-cells cells, so that intervals "
            "cover them too.",
        ),
    ] = None,
    unit_name: Annotated[
        str | None, typer.Option(metavar="WORDS", help="What units are called in statements, such as patients.")
    ] = None,
    neighbours: NeighboursFlag = "add-remove",
    total: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="What the counts add up to, known to everybody; needs --neighbours replace-one."
        ),
    ] = None,
    nonnegative: Annotated[
        bool, typer.Option("--nonnegative", help="Publish counts below 0 as 0, and ends of intervals.")
    ] = False,
    false_cells: Annotated[
        float | None,
        typer.Option(metavar="X", help="A sparse table: how many empty cells may show, on average."),
    ] = None,
    engine: Engine = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    no_quotes: NoQuotes = False,
    escape: Escape = None,
    temp_dir: TempDir = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Read nothing; print what a release would be and what it would cost.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.csv|.parquet", help="Where to write; FILE.manifest.json comes with it.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the released table to a .png, .pdf or .svg file.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an earlier output (and spend the budget again).")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Count a table by public columns, and publish the counts under differential privacy."""
    if out is None and not dry_run:
        raise typer.BadParameter("give a file to write to, or --dry-run", param_hint="'--out'")
    with named_as_flags(unit):
        marginals = marginals_of(by)
        goal = goal_of(epsilon, delta, notion)
        declared = domain_of(domain, levels, bins, marginals, labels=labels, other=other, missing=missing)
        from ggdp.tables.engines.text_files import text_format

        text = text_format(**text_of(encoding, delimiter, escape, no_quotes=no_quotes))
        request = _request(
            declared,
            by=marginals,
            goal=goal,
            order=_order(order),
            unit=unit,
            max_cells=max_cells,
            count=count,
            max_rows_per_cell=max_rows_per_cell,
            count_cut=count_cut,
            unit_name=unit_name,
            neighbours=neighbours,
            total=total,
            nonnegative=nonnegative,
            false_cells=false_cells,
            text=text,
        )
        from ggdp.tables.entry import require_size
        from ggdp.tables.plan import plan_table
        from ggdp.tables.writing import require_apart

        # The dry run refuses what the release would refuse.
        require_size(request, engine, out)
        files = _files(out, plot, request, overwrite=overwrite, dry_run=dry_run)
        with working("choosing the noise"):
            plan = plan_table(request)
        for warning in request.warnings:
            typer.echo(f"warning: {warning}", err=True)
        if dry_run:
            _print_plan(plan, files, as_json=as_json)
            return
        require_apart(source, files)
        if any(file.exists() for file in files):
            typer.echo("warning: an earlier output is replaced; each run spends the privacy budget again", err=True)
        with working("counting"):
            released = _released(source, plan, engine, temp_dir, out)
        manifest = _write(released, files, str(out), overwrite=overwrite)
    if as_json:
        print_json({"files": [str(file) for file in files], "manifest": manifest})
        return
    for table, file in zip(getattr(released, "tables", ()), files, strict=False):
        _print_rows(table, file, str(released.guarantee))
    typer.echo(manifest["statement"])
    typer.echo("Written: " + ", ".join(str(file) for file in files))


def _order(text: str) -> Any:  # noqa: ANN401 - the request says what it may be
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise ArgumentError("order", text, "must be a number from 1 on, or auto") from None


def _request(declared: Domain, **asked: Any) -> TableRequest:  # noqa: ANN401 - the request checks them
    """Return the request; what it lacks is said in flags."""
    from ggdp.tables.request import TableRequest

    try:
        request = TableRequest(domain=declared, **asked)
    except ArgumentError as refused:
        if refused.argument != "domain":
            raise
        unknown = next(name for names in asked["by"] for name in names if name not in declared)
        lacking = "the domain does not declare this column" if len(declared) else "no domain is given"
        way_out = (
            "declare its levels or edges with --domain, --levels or --bins; or give a --delta, then its levels are "
            "chosen privately and those of few units do not show"
        )
        raise ArgumentError("by", unknown, f"{lacking}: {way_out}") from None
    if request.goal.delta == 0.0 and request.order not in ("auto", 1.0):
        raise ArgumentError("order", request.order, "needs a delta: give a --delta above 0, or --order 1")
    return request


def _files(
    out: Path | None, plot: Path | None, request: TableRequest, *, overwrite: bool, dry_run: bool
) -> tuple[Path, ...]:
    """Return all files that will be written: tables, manifest, pictures; before any data is read."""
    from ggdp.tables.writing import require_free, require_writable, targets

    tables = len(request.by)
    if plot is not None and plot.suffix.lower() not in PICTURES:
        raise ArgumentError("plot", str(plot), "must end in " + ", ".join(PICTURES))
    pictures: tuple[Path, ...] = ()
    if plot is not None:
        pictures = (
            (plot,)
            if tables == 1
            else tuple(plot.with_name(f"{plot.stem}-{number}{plot.suffix}") for number in range(1, tables + 1))
        )
    if out is None:
        return pictures
    if dry_run:
        return (*targets(out, tables), *pictures)
    files = require_writable(out, tables, overwrite=overwrite)
    if plot is not None:
        from ggdp.plots.style import new_figure

        new_figure(1.0, 1.0)  # says at once if the extra is missing
        require_free(pictures, "plot", str(plot), overwrite=overwrite)
    return (*files, *pictures)


def _released(
    source: str,
    plan: TablePlan,
    engine: Any,  # noqa: ANN401 - a word
    temp_dir: Path | None,
    out: Path | None,
) -> TableRelease | WrittenRelease:
    from ggdp.tables.entry import release_planned

    try:
        return release_planned(source, plan, engine=engine, temp_dir=temp_dir, out=out)
    except (GgdpError, MemoryError):
        raise
    except Exception:
        message = "the release failed, and nothing was published. Why is not shown, since it might tell of the data"
        raise GgdpError(message) from None


def _write(
    released: TableRelease | WrittenRelease, files: tuple[Path, ...], out: str, *, overwrite: bool
) -> dict[str, Any]:
    """Write what is not written yet, all or none, and return the manifest."""
    from ggdp.tables.release import TableRelease
    from ggdp.tables.writing import contents, put

    tables = len(released.request.by)
    pictures = files[tables + 1 :]
    if isinstance(released, TableRelease):
        found = contents(released, files[: tables + 1])
        manifest = json.loads(found[files[tables]])
    else:
        found, manifest = {}, released.manifest
    if pictures:
        shown = released if isinstance(released, TableRelease) else released.load()
        found |= {file: _picture(shown, number, file.suffix.lower()) for number, file in enumerate(pictures)}
    put(found, out, overwrite=overwrite)
    return dict(manifest)


def _picture(released: TableRelease, number: int, suffix: str) -> bytes:
    """Return a picture of a table, the same bytes for the same table."""
    import matplotlib as mpl

    from ggdp.plots.tables import plot_table

    drawn = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "ggdp"}), warnings.catch_warnings():
        # A character that no installed font has is drawn as a box, which says it all.
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font", UserWarning)
        plot_table(released, table=number).savefig(
            drawn, format=suffix[1:], dpi=DOTS_PER_INCH, metadata=DATES.get(suffix)
        )
    return drawn.getvalue()


def _print_plan(plan: TablePlan, files: Sequence[Path], *, as_json: bool) -> None:
    """Print what a release would be."""
    if as_json:
        print_json({**plan.to_dict(), "files": [str(file) for file in files]})
        return
    from ggdp.tables.words import protected_unit

    request, threshold = plan.request, plan.threshold
    cells = (
        "not known: levels that are not declared are chosen privately"
        if request.cells is None
        else f"{request.cells:,}"
    )
    rows: list[tuple[str, Any]] = [
        *(("table", _table_of(request, number)) for number in range(len(request.by))),
        ("cells", cells),
        ("regime", REGIMES[request.regime]),
        ("unit", protected_unit(request)),
        ("order", f"{plan.mechanism.order:.6g}"),
        ("scale", f"{plan.mechanism.scale:.6g}"),
        ("plus-minus", f"{plan.half_width:,} at 95 %, around each noisy count"),
        ("sensitivity", str(plan.mechanism.sensitivity)),
        ("cost", str(plan.guarantee)),
    ]
    if threshold is not None:
        false = "" if request.false_cells is None else f"; {request.false_cells:g} empty cells show on average, at most"
        rows.append(("threshold", f"cells with a noisy count of {threshold.value:,} or more are shown{false}"))
    if plan.cut is not None:
        said = f"counted too, plus-minus {plan.cut.half_width:,} at 95 %: {request.count_cut:.3g} of epsilon"
        rows.append(("units cut", said))
    rows += [("would write", str(file)) for file in files]
    print_table("dry run: no data were read, nothing was spent", rows)


def _table_of(request: TableRequest, number: int) -> str:
    """Return what is known of one table beforehand."""
    from ggdp.tables.words import covered

    size, most = request.sizes[number], request.most_cells[number]
    said = [" x ".join(request.by[number]), "open" if size is None else f"{size:,} cells"]
    if request.unit is not None:
        capped = "" if most == request.max_cells else f" (all there are; {request.max_cells:,} were asked for)"
        cells = "1 cell" if most == 1 else f"{most:,} cells"
        said.append(f"a unit is counted in at most {cells}{capped}")
    covers = covered(request, number)
    return ", ".join(said) + ("" if covers is None else f"; intervals cover: {covers}")


def _print_rows(table: Table, file: Path, guarantee: str) -> None:
    first = table.to_arrow().slice(0, SHOWN_ROWS).to_pylist()
    rows = [
        (*(printable(row[name]) for name in table.by), f"{row['count']:,}", f"{row['lower']:,} to {row['upper']:,}")
        for row in first
    ]
    covers = "" if table.covers is None else f"; the intervals cover: {table.covers}"
    typer.echo(printable(f"{' x '.join(table.by)}, {guarantee}{covers}"))
    print_table("", rows, header=(*(printable(name) for name in table.by), "count", "95% interval"))
    if len(table) > SHOWN_ROWS:
        typer.echo(f"({len(table) - SHOWN_ROWS:,} more rows in {file})")
    if not first:
        typer.echo("(no cell has a noisy count from the threshold on)")
