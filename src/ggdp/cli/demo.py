"""``ggdp demo``: a private release of bundled data."""

from __future__ import annotations

import io
import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ggdp._files import write_together
from ggdp._rounding import rounded_text
from ggdp.cli.output import AsJson, print_json, print_table, say
from ggdp.errors import ArgumentError, MissingExtraError, PrivacyWarning
from ggdp.privacy import PureDP
from ggdp.signatures import signature_file

if TYPE_CHECKING:
    from ggdp.tables.table_release import TableRelease

BY = ("smoking", "systolic_bp", "family_history")


def demo(
    out: Annotated[Path, typer.Option(help="Directory to write to.")] = Path("demo-output"),
    epsilon: Annotated[float, typer.Option(help="Epsilon of the release.")] = 1.0,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an earlier output (and spend epsilon again).")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Release a private table of bundled data.

    It counts 1,841 Czech autoworkers, and is printed, plotted and written to a directory.
    """
    targets = [out / name for name in ("czech.csv", "czech.manifest.json", "czech.png")]
    present = [target for target in targets if target.exists()]
    if present and not overwrite:
        raise ArgumentError(
            "out",
            str(out),
            f"{present[0].name} already exists; pass --overwrite to replace it, or name another directory",
        )
    if present:
        say("note: a new release of the same data spends epsilon again", err=True)
    from ggdp.tables.output_files import files_of

    release = _release_workers(epsilon)
    for warning in release.request.warnings:
        say(f"warning: {warning}", err=True)
    files = files_of(release, targets[:2])
    try:
        files[targets[2]] = _as_png(release)
    except MissingExtraError as missing:
        say(f"note: no plot: {missing}", err=True)
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_together({**files, signature_file(targets[1]): None}, overwrite=overwrite)
    except OSError as failed:
        why = failed.strerror or str(failed)
        raise ArgumentError(
            "out", str(out), f"cannot be written to ({why}); name another directory with --out"
        ) from None

    written, rows = [str(path) for path in files], release.to_arrow().to_pylist()
    if as_json:
        print_json({"cells": rows, "files": written, "manifest": json.loads(files[targets[1]])})
        return
    print_table(
        f"Czech autoworkers, {release.guarantee}; the unit is one worker",
        [(*(row[name] for name in BY), row["count"], f"{row['lower']} to {row['upper']}") for row in rows],
        header=(*BY, "noisy count", "95% interval"),
    )
    say(
        f"Laplace noise on the integers, scale {rounded_text(release.plan.mechanism.scale, 6)}, certified. "
        "Counts may be negative by chance."
    )
    say("Written: " + ", ".join(written))


def _release_workers(epsilon: float) -> TableRelease:
    """Release the bundled table: one row per worker, with levels from the publication."""
    import pyarrow as pa

    from ggdp.datasets import czech
    from ggdp.tables import TableRelease, plan_table

    table = czech()
    workers = pa.table(dict(zip(table.columns, map(list, zip(*table.rows(), strict=True)), strict=True)))
    levels = {name: list(table.levels(name)) for name in BY}
    with warnings.catch_warnings():
        # They are printed by the command.
        warnings.simplefilter("ignore", PrivacyWarning)
        plan = plan_table(by=BY, goal=PureDP(epsilon), domain=levels, unit_name="workers")
    release = plan.run(workers)
    assert isinstance(release, TableRelease)
    return release


def _as_png(release: TableRelease) -> bytes:
    from ggdp.plots import plot_table

    picture = io.BytesIO()
    figure = plot_table(release, title="Czech autoworkers", unit="workers")
    figure.savefig(picture, format="png", dpi=160)
    return picture.getvalue()
