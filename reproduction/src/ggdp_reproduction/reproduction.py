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

import os
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from ggdp import datasets
from ggdp.errors import ArgumentError, DatasetError
from ggdp_reproduction import adult_data, checks
from ggdp_reproduction.adult_data import EMPTY_CELLS_SHOW, NOT_PRIVATE, adult_counts
from ggdp_reproduction.claims import judge
from ggdp_reproduction.claims.experiments import SCALED
from ggdp_reproduction.experiments.classifier import SVM_REPEATS, run_svm
from ggdp_reproduction.experiments.counts import JEFFREYS, run_counts
from ggdp_reproduction.experiments.lower_bounds import lower_bounds
from ggdp_reproduction.experiments.sanitisers import (
    DELTAS,
    EPSILONS,
    EPSILONS_TEXT,
    PAPER,
    QUICK_DELTAS,
    sanitiser_of,
    sanitisers_for,
)
from ggdp_reproduction.figures.experiments import count_drawings, svm_drawing
from ggdp_reproduction.figures.theory import bounds_drawing, theory_drawings
from ggdp_reproduction.results import Results

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from ggdp_reproduction.adult_data import AdultSplit
    from ggdp_reproduction.results import Claim

    # Returns what is told of a stage: the steps done, and their total.
    Stage: TypeAlias = Callable[[str], Callable[[int, int], None]]

Part: TypeAlias = Literal["mildew", "czech", "adult", "figures", "all"]
QUICK_SVM_REPEATS, QUICK_SVM_ROWS = 1, 400
QUICK_NOTE = (
    "This is a quick run: few repeats, two values of delta, and a classifier on some hundred rows. Verdicts that rest "
    "on the experiments may differ from those of the whole run."
)
ADULT_NOTE = f"The adult experiment is {EMPTY_CELLS_SHOW}."
GOALS_NOTE = (
    "The run has other privacy parameters than the paper, so the paper's claims on the experiments cannot be "
    "judged: they are not measured."
)
# What the classifier is trained on in addition to the paper's three, once for each setting.
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
    progress: Callable[[str, int, int], None] | None = None,
    epsilons: Iterable[float] | None = None,
    deltas: Iterable[float] | None = None,
    prior: float = JEFFREYS,
) -> Results:
    """Run the paper's experiments, draw its figures and judge its claims; `report.documents` makes files of it.

    Parameters
    ----------
    what : {"mildew", "czech", "adult", "figures", "all"}, default "all"
        Which part.
    quick : bool, default False
        A small run: fewer repeats, deltas and draws, and a classifier on a few hundred rows.
    repeats : int, optional
        Repeats of the counts, at least 2; by default 20,000 for mildew and Czech and the paper's 500 for adult, or 20
        in a quick run.
    svm_repeats : int, optional
        Repeats of the classifier; by default 5, or 1 in a quick run. What the paper does not have is fitted once.
    seed : int, default 0
        Seed of everything.
    workers : int, optional
        How many processes to use; by default as many as there are cores. The numbers are the same for any.
    adult_path : path, optional
        File with the adult data; by default they are loaded as `ggdp_reproduction.adult_data.adult` does.
    download : bool, default True
        Whether the adult data may be downloaded.
    state_file : path, optional
        Where finished fits of the classifier are saved, so that an interrupted run can be continued.
    progress : callable, optional
        Called with the name of a stage, the number of steps done and their total.
    epsilons, deltas : iterable of float, optional
        Privacy parameters of the experiments; by default the paper's. Its claims on the experiments are judged where
        the paper's are among them.
    prior : float, default 1/2
        Weight of the Dirichlet prior of the divergences; 1/2 is Jeffreys'.

    Raises
    ------
    ArgumentError
        If an argument is wrong, or the file with the adult data is not the published one.
    DatasetError
        If the adult data were requested by name and cannot be loaded. In a run of everything it is a note.

    Examples
    --------
    >>> results = reproduce("mildew", quick=True, repeats=5, workers=1)
    >>> len(results.claims) >= 25, [one.key for one in results.drawings]
    (True, ['mildew-counts', 'mildew-errors', 'mildew-all'])
    """
    if what not in get_args(Part):
        raise ArgumentError("what", what, f"must be one of {', '.join(get_args(Part))}")
    fits = (QUICK_SVM_REPEATS if quick else SVM_REPEATS) if svm_repeats is None else svm_repeats
    results = Results(
        what=what,
        quick=quick,
        seed=checks.integer(seed=seed, at_least=0),
        repeats=None if repeats is None else checks.integer(repeats=repeats, at_least=2),
        svm_repeats=checks.integer(svm_repeats=fits, at_least=1),
        epsilons=_goals("epsilons", epsilons),
        deltas=_goals("deltas", deltas),
        prior=checks.positive(prior=prior),
        adult_file="" if adult_path is None else adult_path.name,
        versions=_versions(),
        notes=[QUICK_NOTE] if quick else [],
    )
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    count = cores if workers is None else checks.integer(workers=workers, at_least=1)

    def stage(name: str) -> Callable[[int, int], None]:
        return lambda done, total: None if progress is None else progress(name, done, total)

    # What may fail comes first, before an hour of work.
    split = _adult_split(results, adult_path, download, stage) if what in ("adult", "all") else None
    if what in ("figures", "all"):
        results.bounds = lower_bounds(quick=quick, seed=seed, workers=count, progress=stage("scales of Fig. 2"))
        results.drawings += theory_drawings(stage("figures of Sections 2 and 3"))
        results.drawings.insert(1, bounds_drawing(results.bounds))
    for name in ("mildew", "czech"):
        if what in (name, "all"):
            _run_table(results, name, count, stage)
    if split is not None:
        _run_adult(results, split, count, state_file, stage)
    results.claims = _judged(results, stage("claims"))
    return results


def _goals(name: str, values: Iterable[float] | None) -> tuple[float, ...] | None:
    """Return privacy parameters, rising and each once, or None for the paper's."""
    if values is None:
        return None
    check = checks.deltas if name == "deltas" else checks.positives
    found = tuple(sorted(set(check(**{name: [*values]}).tolist())))
    if not found:
        raise ArgumentError(name, found, "must have at least one value")
    return found


def _versions() -> dict[str, str]:
    """Return the versions of all that the numbers depend on."""
    found = {"Python": python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _deltas(results: Results) -> tuple[float, ...]:
    return results.deltas or (QUICK_DELTAS if results.quick else DELTAS)


def _run_table(results: Results, name: str, workers: int, stage: Stage) -> None:
    """Run the counts of a bundled table."""
    counts = np.array((datasets.mildew() if name == "mildew" else datasets.czech()).counts)
    common: dict[str, Any] = {
        "deltas": _deltas(results),
        "repeats": results.repeats_of(name),
        "seed": results.seed,
        "workers": workers,
        "prior": results.prior,
    }
    run = run_counts(
        name,
        counts,
        sanitisers=sanitisers_for(name),
        epsilons=results.epsilons or (*EPSILONS_TEXT, *EPSILONS),
        progress=stage(f"counts of {name}"),
        **common,
    )
    results.counts[name] = run
    if name == "mildew":
        # What would be seen if there were as many strands as Czech workers.
        results.counts[f"mildew-{SCALED}"] = run_counts(
            f"mildew-{SCALED}",
            SCALED * counts,
            sanitisers=[sanitiser_of(key) for key in ("laplace", "gaussian-pdp")],
            epsilons=results.epsilons or EPSILONS,
            adjustments=("raw", "clip-rescale"),
            **common,
        )
    results.drawings += count_drawings(run, counts, results.prior)


def _adult_split(results: Results, path: Path | None, download: bool, stage: Stage) -> AdultSplit | None:
    """Return the adult data as the paper uses them, or add a note that says why they are missing."""
    try:
        found = adult_data.adult(path, download=download, progress=stage("adult data"))
    except ArgumentError as refused:
        if refused.argument == "path":
            raise ArgumentError("adult_path", refused.value, refused.expected) from None
        raise
    except DatasetError as failed:
        if results.what == "adult":
            raise
        results.notes.append(f"The adult experiment was not run: {failed}")
        return None
    return adult_counts(found, results.seed)


def _run_adult(results: Results, split: AdultSplit, workers: int, state_file: Path | None, stage: Stage) -> None:
    """Run the counts of the adult data, and the classifier."""
    bins = {name: len(split.levels[name]) for name in split.columns[:-1]}
    results.adult = {
        "complete": split.complete,
        "left_out": split.left_out,
        "train": len(split.train),
        "test": len(split.test),
        "cells": len(split.counts_without_income),
        "cells_with_income": len(split.counts),
        "bins": float(np.prod([float(number) for number in bins.values()])),
        **{f"bins_{name}": number for name, number in bins.items()},
        **split.facts,
    }
    results.notes.append(ADULT_NOTE)
    common: dict[str, Any] = {
        "epsilons": results.epsilons or EPSILONS,
        "deltas": _deltas(results),
        "seed": results.seed,
        "workers": workers,
    }
    run = run_counts(
        "adult",
        split.counts_without_income,
        sanitisers=sanitisers_for("adult"),
        repeats=results.repeats_of("adult"),
        prior=results.prior,
        progress=stage("counts of adult"),
        **common,
    )
    results.counts["adult"] = run
    results.drawings += count_drawings(run, split.counts_without_income, results.prior, NOT_PRIVATE)
    results.svm = run_svm(
        split,
        sanitisers=[*(one for one in PAPER if one.key != "ggm3-pdp"), *map(sanitiser_of, SVM_EXTRAS)],
        repeats=results.svm_repeats,
        extra_repeats=1,
        state_file=state_file,
        progress=stage("classifiers"),
        rows=QUICK_SVM_ROWS if results.quick else None,
        **common,
    )
    results.drawings.append(svm_drawing(results.svm, NOT_PRIVATE))


def _judged(results: Results, progress: Callable[[int, int], None]) -> list[Claim]:
    """Return the claims, those on the adult data with their caveat."""
    epsilons = {*EPSILONS_TEXT, *EPSILONS}
    whole = set(results.epsilons or epsilons) >= epsilons and set(_deltas(results)) >= set(QUICK_DELTAS)
    if not whole and results.counts:
        results.notes.append(GOALS_NOTE)
    found = judge(results if whole else replace(results, counts={}, svm=None), progress)

    def of_adult(claim: Claim) -> bool:
        return claim.key.startswith(("adult", "svm", "non-empty-cells")) or (claim.figure or "").startswith("adult-")

    return [replace(claim, caveat=NOT_PRIVATE) if of_adult(claim) else claim for claim in found]
