"""``ggdp demo``: the main job on bundled data."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ggdp.cli.files import write_together
from ggdp.cli.output import print_json, print_table
from ggdp.errors import ArgumentError, MissingExtraError
from ggdp.privacy import PureDP, Sensitivity

if TYPE_CHECKING:
    from ggdp.releases import Release

__all__ = ["demo"]

BY = ("smoking", "systolic_bp", "family_history")
LEVEL = 0.95


def demo(
    out: Annotated[Path, typer.Option(help="Folder to write to.")] = Path("demo-output"),
    epsilon: Annotated[float, typer.Option(help="Epsilon of the release.")] = 1.0,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an earlier output (and spend epsilon again).")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Release a private table of the 1,841 Czech autoworkers: printed, plotted and written to a folder."""
    from ggdp.calibration import calibrate
    from ggdp.datasets import czech
    from ggdp.mechanisms import Mechanism

    targets = [out / name for name in ("czech.csv", "czech.manifest.json", "czech.png")]
    present = [target for target in targets if target.exists()]
    if present and not overwrite:
        raise ArgumentError(
            "out", str(out), f"{present[0].name} is there already; add --overwrite, or name another folder"
        )
    if present:
        typer.echo("note: a new release of the same data spends epsilon again", err=True)
    noise = calibrate(PureDP(epsilon), Sensitivity.histogram(), order=1, support="integer")

    table = czech()
    places = [table.columns.index(name) for name in BY]
    counted = Counter(tuple(row[place] for place in places) for row in table.rows())
    cells = list(product(*(table.levels(name) for name in BY)))
    release = Mechanism(noise).release([counted[cell] for cell in cells])
    noisy, interval = release.values.tolist(), release.interval(LEVEL)

    rows = [
        (*cell, count, low, high)
        for cell, count, low, high in zip(cells, noisy, *(ends.tolist() for ends in interval), strict=True)
    ]
    manifest = release.manifest
    contents = {targets[0]: _as_csv(rows), targets[1]: json.dumps(manifest, indent=2).encode()}
    try:
        contents[targets[2]] = _as_png(cells, release, epsilon)
    except MissingExtraError as missing:
        typer.echo(f"note: no plot: {missing}", err=True)
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_together(contents, overwrite=overwrite)
    except OSError as failed:
        why = failed.strerror or str(failed)
        raise ArgumentError("out", str(out), f"cannot be written to ({why}); name another folder with --out") from None

    files = [str(path) for path in contents]
    if as_json:
        header = (*BY, "noisy_count", "lower", "upper")
        print_json(
            {"cells": [dict(zip(header, row, strict=True)) for row in rows], "files": files, "manifest": manifest}
        )
        return
    shown = [(*cell, count, f"{low} to {high}") for *cell, count, low, high in rows]
    print_table(
        f"Czech autoworkers, {release.guarantee}; the unit is one worker",
        shown,
        header=(*BY, "noisy count", f"{LEVEL:.0%} interval"),
    )
    typer.echo(f"Laplace noise on the integers, scale {noise.scale:.6g}, certified. Counts may be negative by chance.")
    typer.echo("Written: " + ", ".join(files))


def _as_csv(rows: list[tuple[Any, ...]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*BY, "noisy_count", "lower", "upper"))
    writer.writerows(rows)
    return text.getvalue().encode()


def _as_png(cells: list[tuple[str, ...]], release: Release, epsilon: float) -> bytes:
    from ggdp.plots import plot_release

    words = {"no": "non-smoker", "yes": "smoker", "neg": "no family history", "pos": "family history"}
    labels = [", ".join(words.get(level, f"systolic {level}") for level in cell) for cell in cells]
    title = f"Czech autoworkers, epsilon = {epsilon:g}"
    figure = plot_release(release, labels=labels, title=title, unit="workers", level=LEVEL)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=160)
    return picture.getvalue()
