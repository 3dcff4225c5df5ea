"""Accuracy of support vector machines trained on sanitised counts of the adult data.

The features, the scaling and the machine are those of `ggdp_reproduction.experiments.svm_classifier`. Its cells are
weighted by the sanitised counts and by nothing else.

The cells are the non-empty ones of the training data, the income included: not differentially private, for reproduction
only.

Each finished fit is a line of the state file, so that an interrupted run continues where it stopped. The lines carry a
fingerprint of the data, the seed and the versions of the libraries; lines of another run are left alone and not used.

References
----------
Liu, arXiv 1602.06028 v5, Section 4.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ggdp_reproduction.checks import integer
from ggdp_reproduction.experiments.adult_split import EMPTY_CELLS_SHOW, AdultSplit
from ggdp_reproduction.experiments.finished_fits import StateFile
from ggdp_reproduction.experiments.noisy_counts import ADJUSTMENTS, Adjustment, simulated_noise, stream_seed
from ggdp_reproduction.experiments.process_pool import run_tasks
from ggdp_reproduction.experiments.sanitisers import DELTAS, EPSILONS, Sanitiser, Setting, known, settings_of
from ggdp_reproduction.experiments.svm_classifier import COST, default_gamma, design, weighted_accuracy

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    import ggdp

    Reals = NDArray[np.float64]

__all__ = ["SVM_REPEATS", "SvmRun", "run_svm"]

SVM_REPEATS = 5
# What is done to noisy counts before they are weights.
ADJUSTMENT: Adjustment = "clip-rescale"
_PRIVATE = f"no: {EMPTY_CELLS_SHOW}"
_LIBRARIES = ("ggdp", "numpy", "scipy", "scikit-learn")
# Raised when the meaning of a line of the state file changes.
_FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SvmRun:
    """Accuracies on the test rows of classifiers that were trained on sanitised counts.

    Attributes
    ----------
    train, test, cells, columns : int
        Training rows, test rows, non-empty training cells with the income, and columns of the features.
    original_accuracy : float
        Accuracy of the classifier that was trained on the original counts.
    support_accuracy : float
        Accuracy of the one that was trained on the non-empty cells with equal weights: it has seen no count, so what it
        knows is what the unprotected choice of cells reveals.
    cost, gamma : float
        Of the classifier.
    rows : list of dict
        One for each fit on sanitised counts: sanitiser, group, epsilon, delta (None where there is none), order,
        scale, support, neighbours, adjustment, private, note, repeat, accuracy.
    """

    train: int
    test: int
    cells: int
    columns: int
    original_accuracy: float
    support_accuracy: float
    cost: float
    gamma: float
    rows: list[dict[str, Any]]

    def controls(self) -> list[dict[str, Any]]:
        """Return the rows of the two fits without noise: sanitiser, private, note, repeat, accuracy.

        They are called "original" and "cells-without-counts", and are as little private as the others.
        """
        notes = {
            "original": (self.original_accuracy, "trained on the original counts"),
            "cells-without-counts": (self.support_accuracy, "trained on the non-empty cells with equal weights"),
        }
        return [
            {"sanitiser": name, "private": _PRIVATE, "note": note, "repeat": 0, "accuracy": accuracy}
            for name, (accuracy, note) in notes.items()
        ]

    def summary(self) -> list[dict[str, Any]]:
        """Return one row for each setting: its names, private, repeats, accuracy_mean, accuracy_sd and loss_mean.

        The standard deviation is None for a single repeat; the loss is the original accuracy less this one.
        """
        grouped: dict[tuple[Any, ...], list[float]] = {}
        names = ("sanitiser", "group", "epsilon", "delta", "private", "note")
        for row in self.rows:
            grouped.setdefault(tuple(row[name] for name in names), []).append(row["accuracy"])
        return [
            dict(zip(names, key, strict=True))
            | {
                "repeats": len(found),
                "accuracy_mean": float(np.mean(found)),
                "accuracy_sd": float(np.std(found, ddof=1)) if len(found) > 1 else None,
                "loss_mean": self.original_accuracy - float(np.mean(found)),
            }
            for key, found in grouped.items()
        ]


class _Problem(NamedTuple):
    """What every fit shares."""

    cells: Reals
    labels: NDArray[np.int64]
    counts: Reals
    test: Reals
    test_labels: NDArray[np.int64]
    numeric: NDArray[np.bool_]
    seed: int


class _Fit(NamedTuple):
    """One fit on sanitised counts."""

    setting: Setting
    noise: ggdp.Calibration
    repeat: int

    @property
    def name(self) -> str:
        """What the state file calls it."""
        return json.dumps([*self.setting.key, self.repeat, self.noise.order, self.noise.scale])


class _Control(NamedTuple):
    """A fit without noise: on the original counts, or on the same weight for every non-empty cell."""

    name: Literal["original", "support"]


def run_svm(
    split: AdultSplit,
    *,
    sanitisers: Iterable[Sanitiser],
    epsilons: Iterable[float] = EPSILONS,
    deltas: Iterable[float] = DELTAS,
    repeats: int = SVM_REPEATS,
    extra_repeats: int | None = None,
    seed: int = 0,
    workers: int = 1,
    state_file: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
    rows: int | None = None,
) -> SvmRun:
    """Train a classifier on the original and on sanitised counts, and count its hits among the test rows.

    The arguments are those of `run_counts`, and these; a process takes up to half a gigabyte.

    Parameters
    ----------
    extra_repeats : int, optional
        Fits of each setting of a sanitiser that the paper does not have; by default `repeats`.
    state_file : path, optional
        Where finished fits are noted; a later call with the same arguments, or more repeats, goes on from there.
    progress : callable, optional
        Called with the number of fits done and their total, first with those that the state file has.
    rows : int, optional
        Train on this many rows only, and test on half as many, for a quick run.

    Examples
    --------
    >>> from ggdp_reproduction.experiments.sanitisers import PAPER
    >>> run = run_svm(split, sanitisers=PAPER[:3], workers=2, state_file="fits.jsonl")  # doctest: +SKIP
    """
    integer(repeats=repeats, at_least=1)
    extra = repeats if extra_repeats is None else integer(extra_repeats=extra_repeats, at_least=1)
    used = split if rows is None else split.first(rows)
    problem = _problem(used, integer(seed=seed, at_least=0))
    settings = settings_of(sanitisers, epsilons, deltas)
    fits = [
        _Fit(setting, noise, repeat)
        for setting, noise in zip(settings, known(settings, workers=workers), strict=True)
        for repeat in range(repeats if setting.sanitiser.group == "paper" else extra)
    ]
    controls = [_Control("original"), _Control("support")]
    original, support, *correct = _all_fits(problem, [*controls, *fits], workers, state_file, progress)
    size = len(problem.test_labels)
    return SvmRun(
        train=int(problem.counts.sum()),
        test=size,
        cells=len(problem.counts),
        columns=len(problem.numeric),
        original_accuracy=original / size,
        support_accuracy=support / size,
        cost=COST,
        gamma=default_gamma(len(problem.numeric)),
        rows=[_row(fit, hits / size) for fit, hits in zip(fits, correct, strict=True)],
    )


def _problem(split: AdultSplit, seed: int) -> _Problem:
    cells, numeric = design(split, split.cells)
    return _Problem(
        cells=cells,
        labels=split.cells[:, -1],
        counts=split.counts.astype(np.float64),
        test=design(split, split.test)[0],
        test_labels=split.test[:, -1],
        numeric=numeric,
        seed=seed,
    )


def _fitted(problem: _Problem, fit: _Fit | _Control) -> int:
    """Return how many test rows one classifier gets right."""
    weights = problem.counts
    if isinstance(fit, _Control):
        if fit.name == "support":
            weights = np.full(weights.shape, weights.mean())
    else:
        seed = stream_seed(problem.seed, "adult-svm", *fit.setting.key, fit.repeat)
        noise = simulated_noise(fit.noise, weights.shape, seed=seed)
        weights = ADJUSTMENTS[ADJUSTMENT](weights + noise, float(weights.sum()))
    return weighted_accuracy(problem.cells, problem.labels, weights, problem.test, problem.test_labels, problem.numeric)


def _all_fits(
    problem: _Problem,
    fits: list[_Fit | _Control],
    workers: int,
    state_file: str | os.PathLike[str] | None,
    progress: Callable[[int, int], None] | None,
) -> list[int]:
    """Return the hits of all fits, those of the state file without fitting again."""
    with StateFile(state_file, _fingerprint(problem)) as state:
        missing = [fit for fit in fits if fit.name not in state.finished]

        def report(done: int, total: int) -> None:
            if progress is not None:
                progress(len(fits) - total + done, len(fits))

        report(0, len(missing))
        run_tasks(
            _fitted,
            missing,
            shared=problem,
            workers=workers,
            on_result=lambda index, hits: state.note(missing[index].name, hits),
            progress=report,
        )
        return [state.finished[fit.name] for fit in fits]


def _fingerprint(problem: _Problem) -> str:
    """Return what tells runs apart whose fits would differ."""
    digest = hashlib.sha256()
    versions = {name: version(name) for name in _LIBRARIES}
    parameters = [_FORMAT, problem.seed, ADJUSTMENT, COST, default_gamma(len(problem.numeric)), versions]
    digest.update(json.dumps(parameters, sort_keys=True).encode())
    for part in (problem.cells, problem.labels, problem.counts, problem.test, problem.test_labels, problem.numeric):
        digest.update(repr((part.shape, part.dtype.str)).encode())
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()[:32]


def _row(fit: _Fit, accuracy: float) -> dict[str, Any]:
    """Return a row of the run."""
    return {
        **fit.setting.row(fit.noise),
        "adjustment": ADJUSTMENT,
        "private": _PRIVATE,
        "note": "; ".join(fit.noise.notes),
        "repeat": fit.repeat,
        "accuracy": accuracy,
    }
