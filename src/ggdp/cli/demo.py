"""``ggdp demo``: a private release of bundled data."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Annotated

import typer

from ggdp._files import write_together
from ggdp._rounding import rounded_text
from ggdp.cli.output import AsJson, print_json, print_table, say
from ggdp.errors import ArgumentError, MissingExtraError
from ggdp.privacy import PureDP
from ggdp.signatures import signature_file
from ggdp.tables.request import TableRequest

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
        expected = f"{present[0].name} already exists; pass --overwrite to replace it, or name another directory"
        raise ArgumentError("out", str(out), expected)
    if present:
        say("note: a new release of the same data spends epsilon again", err=True)
    import pyarrow as pa

    from ggdp.datasets import czech
    from ggdp.tables.output_files import files_of
    from ggdp.tables.table_plan import plan_request
    from ggdp.tables.table_release import TableRelease

    # One row for each worker, with levels from the publication.
    table = czech()
    workers = pa.table(dict(zip(table.columns, map(list, zip(*table.rows(), strict=True)), strict=True)))
    levels = {name: list(table.levels(name)) for name in BY}
    release = plan_request(TableRequest(BY, PureDP(epsilon), levels, unit_name="workers")).run(workers)
    assert isinstance(release, TableRelease)
    for warning in release.plan.request.warnings:
        say(f"warning: {warning}", err=True)
    files = files_of(release, targets[:2])
    try:
        from ggdp.plots import plot_table

        picture = io.BytesIO()
        plot_table(release, title="Czech autoworkers", unit="workers").savefig(picture, format="png", dpi=160)
        files[targets[2]] = picture.getvalue()
    except MissingExtraError as missing:
        say(f"note: no plot: {missing}", err=True)
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_together({**files, signature_file(targets[1]): None}, overwrite=overwrite)
    except OSError as failed:
        why = failed.strerror or str(failed)
        expected = f"cannot be written to ({why}); name another directory with --out"
        raise ArgumentError("out", str(out), expected) from None

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
