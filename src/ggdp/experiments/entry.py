"""The whole reproduction: experiments, figures, claims, and the files that hold them.

=========  ==============================================================================================
mildew     its counts sanitised many times over, and so for czech
adult      the counts of its non-empty cells (not differentially private, for reproduction only), and a classifier
figures    the figures of Sections 2 and 3, Fig. 2 by both routes
all        everything
=========  ==============================================================================================

Claims are judged in every run, as far as what was run allows.
"""

from __future__ import annotations

import csv
import io
import json
import os
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from platform import python_version
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from ggdp import _validate
from ggdp.errors import DatasetError, MissingExtraError
from ggdp.experiments.bounds import lower_bounds
from ggdp.experiments.claims import judge
from ggdp.experiments.claims.counts import SCALED
from ggdp.experiments.count_figures import count_drawings, svm_drawing
from ggdp.experiments.counts import run_counts
from ggdp.experiments.figures import bounds_drawing, theory_drawings
from ggdp.experiments.report import NOT_PRIVATE, report_html
from ggdp.experiments.results import Results
from ggdp.experiments.settings import DELTAS, EPSILONS, EPSILONS_TEXT, PAPER, REPEATS, sanitiser_of, sanitisers_for
from ggdp.experiments.split import adult_counts
from ggdp.experiments.svm import SVM_REPEATS, run_svm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from ggdp.experiments.split import AdultSplit

    Progress: TypeAlias = Callable[[str, int, int], None]

__all__ = ["PARTS", "Part", "documents", "reproduce"]

Part: TypeAlias = Literal["mildew", "czech", "adult", "figures", "all"]
PARTS: tuple[Part, ...] = ("mildew", "czech", "adult", "figures", "all")
QUICK_REPEATS, QUICK_SVM_REPEATS, QUICK_SVM_ROWS = 20, 1, 400
QUICK_DELTAS = (0.05, 0.25)
QUICK_NOTE = (
    "This is a quick run: few repeats, two values of delta, and a classifier on some hundred rows. Verdicts that rest "
    "on the experiments may differ from those of the whole run."
)
# What the classifier is trained on beside the paper's three, once for each setting.
SVM_EXTRAS = ("analytic-gaussian", "integer-best")
LIBRARIES = ("ggdp", "numpy", "scipy", "python-flint", "matplotlib", "scikit-learn")


def reproduce(
    what: Part = "all",
    *,
    quick: bool = False,
    repeats: int | None = None,
    svm_repeats: int | None = None,
    seed: int = 0,
    workers: int | None = None,
    adult_path: Path | None = None,
    download: bool = True,
    state_file: Path | None = None,
    progress: Progress | None = None,
) -> Results:
    """Run the paper's experiments, draw its figures and judge its claims.

    Parameters
    ----------
    what : {"mildew", "czech", "adult", "figures", "all"}, default "all"
        Which part.
    quick : bool, default False
        A small run: fewer repeats, deltas and draws, and a classifier on a few hundred rows.
    repeats : int, optional
        Repeats of the counts, at least 2; by default the paper's 500, or 20 in a quick run.
    svm_repeats : int, optional
        Repeats of the classifier; by default 5, or 1 in a quick run. What the paper does not have is fitted once.
    seed : int, default 0
        Seed of everything.
    workers : int, optional
        How many processes to use; by default as many as there are cores. The numbers are the same for any.
    adult_path : path, optional
        The adult data; where none is given they are looked for as `ggdp.datasets.adult` does.
    download : bool, default True
        Whether the adult data may be fetched.
    state_file : path, optional
        Where finished fits of the classifier are noted, so that an interrupted run can go on.
    progress : callable, optional
        Called with the name of a stage, the number of steps done and their total.

    Returns
    -------
    Results
        Everything; `documents` makes files of it.

    Raises
    ------
    DatasetError
        If the adult data were asked for by name and cannot be had. In a run of everything it is a note.

    Examples
    --------
    >>> results = reproduce("mildew", quick=True, repeats=5, workers=1)
    >>> len(results.claims) >= 25, [one.key for one in results.drawings]
    (True, ['mildew-counts', 'mildew-errors', 'mildew-all'])
    """
    if find_spec("matplotlib") is None:
        message = "the reproduction needs matplotlib: pip install 'ggdp[experiments]'"
        raise MissingExtraError(message)
    part = _validate.choice(among=PARTS, what=what)
    fits = (QUICK_SVM_REPEATS if quick else SVM_REPEATS) if svm_repeats is None else svm_repeats
    times = (QUICK_REPEATS if quick else REPEATS) if repeats is None else repeats
    results = Results(
        what=part,
        quick=quick,
        seed=_validate.integer(seed=seed, at_least=0),
        repeats=_validate.integer(repeats=times, at_least=2),
        svm_repeats=_validate.integer(svm_repeats=fits, at_least=1),
        versions=_versions(),
    )
    if quick:
        results.notes.append(QUICK_NOTE)
    count = _validate.integer(workers=workers, at_least=1) if workers is not None else _cores()
    tell = progress if progress is not None else _tell_nobody
    # First what may fail: nobody should wait an hour for it.
    split = _adult_split(results, adult_path, download, tell) if part in ("adult", "all") else None
    if part in ("figures", "all"):
        results.bounds = lower_bounds(quick=quick, seed=seed, workers=count, progress=_stage(tell, "scales of Fig. 2"))
        results.drawings += theory_drawings(_stage(tell, "figures of Sections 2 and 3"))
        results.drawings.insert(1, bounds_drawing(results.bounds))
    for name in ("mildew", "czech"):
        if part in (name, "all"):
            _run_table(results, name, count, tell)
    if split is not None:
        _run_adult(results, split, count, state_file, tell)
    results.claims = judge(results, _stage(tell, "claims"))
    return results


def documents(results: Results) -> dict[str, bytes]:
    """Return the files of a run by their names: the report, the claims, and all numbers.

    Parameters
    ----------
    results : Results
        A run.

    Examples
    --------
    >>> sorted(documents(Results(what="figures", quick=True, seed=0, repeats=2, svm_repeats=1)))
    ['claims.json', 'report.html']
    """
    tables: dict[str, list[dict[str, Any]]] = {}
    if results.counts:
        tables["counts.csv"] = [row for run in results.counts.values() for row in run.rows]
    if results.svm is not None:
        controls = {"original": results.svm.original_accuracy, "cells-without-counts": results.svm.support_accuracy}
        tables["svm.csv"] = [
            *results.svm.rows,
            *({"sanitiser": name, "repeat": 0, "accuracy": accuracy} for name, accuracy in controls.items()),
        ]
    tables |= {f"figure-{one.key}.csv": one.rows for one in results.drawings if one.rows}
    claims = json.dumps([claim.to_dict() for claim in results.claims], indent=2, ensure_ascii=False)
    names = ["claims.json", *tables]
    return {
        "report.html": report_html(results, names).encode(),
        "claims.json": f"{claims}\n".encode(),
        **{name: _as_csv(rows) for name, rows in tables.items()},
    }


def _run_table(results: Results, name: str, workers: int, tell: Progress) -> None:
    """Run the counts of a bundled table."""
    from ggdp import datasets

    counts = np.array((datasets.mildew() if name == "mildew" else datasets.czech()).counts)
    common: dict[str, Any] = {"repeats": results.repeats, "seed": results.seed, "workers": workers}
    run = run_counts(
        name,
        counts,
        sanitisers=sanitisers_for(name),
        epsilons=(*EPSILONS_TEXT, *EPSILONS),
        deltas=QUICK_DELTAS if results.quick else DELTAS,
        progress=_stage(tell, f"counts of {name}"),
        **common,
    )
    results.counts[name] = run
    if name == "mildew":
        # What would be seen if there were as many strands as Czech workers.
        results.counts[f"mildew-{SCALED}"] = run_counts(
            f"mildew-{SCALED}",
            SCALED * counts,
            sanitisers=[sanitiser_of(key) for key in ("laplace", "gaussian-pdp")],
            deltas=QUICK_DELTAS if results.quick else DELTAS,
            adjustments=("raw", "clip-rescale"),
            **common,
        )
    results.drawings += count_drawings(run, counts)


def _adult_split(results: Results, path: Path | None, download: bool, tell: Progress) -> AdultSplit | None:
    """Return the adult data as the paper uses them, or note why they are not there."""
    from ggdp.datasets import adult

    try:
        found = adult(path, download=download, progress=_stage(tell, "adult data"))
    except DatasetError as failed:
        if results.what == "adult":
            raise
        results.notes.append(f"The adult experiment was not run: {failed}")
        return None
    return adult_counts(found, results.seed)


def _run_adult(results: Results, split: AdultSplit, workers: int, state_file: Path | None, tell: Progress) -> None:
    """Run the counts of the adult data, and the classifier if scikit-learn is there."""
    results.adult = {
        "complete": split.complete,
        "left_out": split.left_out,
        "train": len(split.train),
        "test": len(split.test),
        "cells": len(split.counts_without_income),
        "cells_with_income": len(split.counts),
        "bins": float(np.prod([float(len(split.levels[name])) for name in split.columns[:-1]])),
    }
    deltas = QUICK_DELTAS if results.quick else DELTAS
    run = run_counts(
        "adult",
        split.counts_without_income,
        sanitisers=sanitisers_for("adult"),
        deltas=deltas,
        repeats=results.repeats,
        seed=results.seed,
        workers=workers,
        progress=_stage(tell, "counts of adult"),
    )
    results.counts["adult"] = run
    results.drawings += count_drawings(run, split.counts_without_income, NOT_PRIVATE)
    try:
        results.svm = run_svm(
            split,
            sanitisers=[*(one for one in PAPER if one.key != "ggm3-pdp"), *map(sanitiser_of, SVM_EXTRAS)],
            deltas=deltas,
            repeats=results.svm_repeats,
            extra_repeats=1,
            seed=results.seed,
            workers=workers,
            state_file=state_file,
            progress=_stage(tell, "classifiers"),
            rows=QUICK_SVM_ROWS if results.quick else None,
        )
    except MissingExtraError as missing:
        results.notes.append(f"The classifier was not run: {missing}")
        return
    results.drawings.append(svm_drawing(results.svm, NOT_PRIVATE))


def _as_csv(rows: Iterable[dict[str, Any]]) -> bytes:
    """Return rows as CSV; floats so that they read back exactly, and nothing for None."""
    found = list(rows)
    names = list(dict.fromkeys(name for row in found for name in row))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    return text.getvalue().encode()


def _versions() -> dict[str, str]:
    """Return the versions of all that the numbers depend on."""
    found = {"Python": python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def _stage(tell: Progress, name: str) -> Callable[[int, int], None]:
    return lambda done, total: tell(name, done, total)


def _tell_nobody(stage: str, done: int, total: int) -> None:
    del stage, done, total
