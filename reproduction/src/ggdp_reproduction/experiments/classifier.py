"""Accuracy of support vector machines, with the settings of R's e1071, trained on sanitised counts of the adult data.

=========  =============================================================================================
features   the 13 attributes as R's ``model.matrix`` without an intercept codes them: numbers as they are, the first
           factor by an indicator of each level, every other factor by one of each level but its first
scaled     numeric columns to mean 0 and standard deviation 1, as e1071's ``svm(income ~ ., data)`` does; it leaves
           the indicators of factors alone
kernel     exp(-gamma |x - x'|^2), gamma = 1 / (number of columns); cost C = 1; libsvm, as e1071
weights    a cell of weight w weighs as w rows, so C_i = C w_i. Cells of weight 0 are left out
=========  =============================================================================================

Means and standard deviations for the scaling are those of the weighted cells: with whole weights everything is as if
the rows had been repeated, which is what R would be given. e1071 itself takes no weights of rows, so how the paper
handled fractions is not known. The cells are weighted by the sanitised counts and by nothing else.

The cells are the non-empty ones of the training data, the income included: not differentially private, for reproduction
only.

Each finished fit is a line ``{"run": fingerprint, "piece": name, "result": number}`` of the state file, so that an
interrupted run continues where it stopped. The fingerprint stands for the data, the seed and the versions of the
libraries; lines of other runs are left alone and not used. A line that was cut off in the middle is ignored.

References
----------
Liu, arXiv 1602.06028 v5, Section 4. Meyer et al., e1071 (R package), ``svm``. Chang and Lin, "LIBSVM", ACM TIST 2
(2011).
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ggdp.errors import ArgumentError, GgdpError
from ggdp_reproduction.adult_data import EMPTY_CELLS_SHOW, AdultSplit
from ggdp_reproduction.checks import Floats, integer
from ggdp_reproduction.experiments.counts import ADJUSTMENTS, Adjustment
from ggdp_reproduction.experiments.sanitisers import DELTAS, EPSILONS, Sanitiser, Setting, known, settings_of
from ggdp_reproduction.experiments.tasks import run_tasks
from ggdp_reproduction.simulation import simulated_noise, stream_seed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import BinaryIO

    from numpy.typing import NDArray

    import ggdp

SVM_REPEATS = 5
COST = 1.0
# What is done to noisy counts before they are weights.
ADJUSTMENT: Adjustment = "clip-rescale"
_CACHE_MEGABYTES = 400
_PRIVATE = f"no: {EMPTY_CELLS_SHOW}"
_LIBRARIES = ("ggdp", "numpy", "scipy", "scikit-learn")
# Raised when the meaning of a line of the state file changes.
_FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SvmRun:
    """Accuracies on the test rows of classifiers that were trained on sanitised counts."""

    # Training rows, test rows, non-empty training cells with the income, and columns of the features.
    train: int
    test: int
    cells: int
    columns: int
    original_accuracy: float  # accuracy of the classifier that was trained on the original counts
    # Accuracy of the one that was trained on the non-empty cells with equal weights: it has seen no count, so what it
    # knows is what the unprotected choice of cells reveals.
    support_accuracy: float
    # Of the classifier.
    cost: float
    gamma: float
    # One for each fit on sanitised counts: sanitiser, group, epsilon, delta (None where there is none), order, scale,
    # support, neighbours, adjustment, private, note, repeat, accuracy.
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

    cells: Floats
    labels: NDArray[np.int64]
    counts: Floats
    test: Floats
    test_labels: NDArray[np.int64]
    numeric: NDArray[np.bool_]
    seed: int

    @property
    def gamma(self) -> float:
        """The kernel's gamma that e1071 takes if none is given."""
        return 1.0 / len(self.numeric)

    def fingerprint(self) -> str:
        """Return what tells runs apart whose fits would differ."""
        versions = {name: version(name) for name in _LIBRARIES}
        parameters = [_FORMAT, self.seed, ADJUSTMENT, COST, self.gamma, versions]
        digest = hashlib.sha256(json.dumps(parameters, sort_keys=True).encode())
        for part in self[:-1]:
            digest.update(repr((part.shape, part.dtype.str)).encode())
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()[:32]


class _Fit(NamedTuple):
    """A fit on sanitised counts; without a setting one on the original counts, or on equal weights ("support")."""

    setting: Setting | None
    noise: ggdp.Calibration | None
    repeat: int
    name: str


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
    """
    integer(repeats=repeats, at_least=1)
    extra = repeats if extra_repeats is None else integer(extra_repeats=extra_repeats, at_least=1)
    used = split if rows is None else split.first(rows)
    cells, numeric = design(used, used.cells)
    problem = _Problem(
        cells=cells,
        labels=used.cells[:, -1],
        counts=used.counts.astype(np.float64),
        test=design(used, used.test)[0],
        test_labels=used.test[:, -1],
        numeric=numeric,
        seed=integer(seed=seed, at_least=0),
    )
    settings = settings_of(sanitisers, epsilons, deltas)
    noisy = [
        _Fit(setting, noise, repeat, json.dumps([*setting.key, repeat, noise.order, noise.scale]))
        for setting, noise in zip(settings, known(settings, workers=workers), strict=True)
        for repeat in range(repeats if setting.sanitiser.group == "paper" else extra)
    ]
    fits = [_Fit(None, None, 0, "original"), _Fit(None, None, 0, "support"), *noisy]
    with StateFile(state_file, problem.fingerprint()) as state:
        missing = [fit for fit in fits if fit.name not in state.finished]

        def report(done: int, total: int) -> None:
            if progress is not None:
                progress(len(fits) - total + done, len(fits))

        def keep(index: int, hits: int) -> None:
            state.note(missing[index].name, hits)

        report(0, len(missing))
        run_tasks(_fitted, missing, shared=problem, workers=workers, on_result=keep, progress=report)
        size = len(problem.test_labels)
        original, support, *accuracies = (state.finished[fit.name] / size for fit in fits)
    return SvmRun(
        train=int(problem.counts.sum()),
        test=size,
        cells=len(problem.counts),
        columns=len(numeric),
        original_accuracy=original,
        support_accuracy=support,
        cost=COST,
        gamma=problem.gamma,
        rows=[
            {
                **fit.setting.row(fit.noise),
                "adjustment": ADJUSTMENT,
                "private": _PRIVATE,
                "note": "; ".join(fit.noise.notes),
                "repeat": fit.repeat,
                "accuracy": accuracy,
            }
            for fit, accuracy in zip(noisy, accuracies, strict=True)
            if fit.setting is not None and fit.noise is not None
        ],
    )


def _fitted(problem: _Problem, fit: _Fit) -> int:
    """Return how many test rows one classifier gets right."""
    weights = problem.counts
    if fit.setting is not None and fit.noise is not None:
        seed = stream_seed(problem.seed, "adult-svm", *fit.setting.key, fit.repeat)
        noise = simulated_noise(fit.noise, weights.shape, seed=seed)
        weights = ADJUSTMENTS[ADJUSTMENT](weights + noise, float(weights.sum()))
    elif fit.name == "support":
        weights = np.full(weights.shape, weights.mean())
    return weighted_accuracy(problem.cells, problem.labels, weights, problem.test, problem.test_labels, problem.numeric)


def design(split: AdultSplit, codes: NDArray[np.int64]) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the features of coded rows such as ``split.cells``, unscaled, and which of their columns are numeric."""
    parts, numeric, coded = [], [], False
    for place, name in enumerate(split.columns[:-1]):
        levels = split.levels[name]
        if split.is_numeric(name):
            parts.append(levels[codes[:, place]].astype(np.float64)[:, None])
        else:
            # Without an intercept the first factor has a column for each level.
            parts.append((codes[:, [place]] == np.arange(int(coded), len(levels))).astype(np.float64))
            coded = True
        numeric += [split.is_numeric(name)] * parts[-1].shape[1]
    return np.hstack(parts), np.array(numeric)


def weighted_accuracy(
    cells: Floats,
    labels: NDArray[np.int64],
    weights: Floats,
    test: Floats,
    test_labels: NDArray[np.int64],
    numeric: NDArray[np.bool_],
) -> int:
    """Return how many test rows a classifier gets right that was trained on weighted cells.

    The features come unscaled: their `numeric` columns are scaled here. Cells of weight 0 are left out; not all may be
    of that weight.
    """
    from scipy.sparse import csr_matrix
    from sklearn.svm import SVC

    kept = weights > 0.0
    x, y, w = cells[kept], labels[kept], weights[kept]
    if np.all(y == y[0]):
        return int((test_labels == y[0]).sum())
    mean, deviation = weighted_moments(x[:, numeric], w)

    def scaled(features: Floats) -> Any:  # noqa: ANN401 - SciPy has no types
        whole = features.copy()
        whole[:, numeric] = (whole[:, numeric] - mean) / deviation
        # Most indicators are 0, and libsvm is three times as fast where they are not stored.
        return csr_matrix(whole)

    machine = SVC(kernel="rbf", C=COST, gamma=1.0 / cells.shape[1], cache_size=_CACHE_MEGABYTES)
    machine.fit(scaled(x), y, sample_weight=w)
    return int((machine.predict(scaled(test)) == test_labels).sum())


def weighted_moments(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return means and standard deviations of columns, as if every row were repeated; 1 for a constant column."""
    total = weights.sum()
    mean = (values * weights[:, None]).sum(axis=0) / total
    squares = ((values - mean) ** 2 * weights[:, None]).sum(axis=0)
    deviation = np.sqrt(squares / max(total - 1.0, 1.0))
    return mean, np.where(deviation > 0.0, deviation, 1.0)


class StateFile:
    """The finished pieces of one run, each a line of a file; without a path nothing is kept.

    Raises
    ------
    ArgumentError
        If the path cannot be read and written, or is not a regular file.
    GgdpError
        If a piece cannot be written, for example for lack of space. The pieces before it stay.
    """

    def __init__(self, path: str | os.PathLike[str] | None, fingerprint: str) -> None:
        self._path = None if path is None else Path(path)
        self._fingerprint = fingerprint
        self._file: BinaryIO | None = None
        self.finished: dict[str, int] = {}

    def __enter__(self) -> StateFile:
        if self._path is None:
            return self
        # A pipe or a device would be waited for, or swallow what is noted.
        if self._path.exists() and not self._path.is_file():
            raise ArgumentError("state_file", str(self._path), "must be a regular file; name another")
        try:
            # Unbuffered: what could not be written must not be tried again when the file is closed.
            self._file = self._path.open("ab+", buffering=0)
            self._file.seek(0)
            text = self._file.read().decode("utf-8", errors="replace")
            for line in text.split("\n"):
                with suppress(ValueError, KeyError, TypeError):
                    note = json.loads(line)
                    if note["run"] == self._fingerprint:
                        self.finished[str(note["piece"])] = int(note["result"])
            if text and not text.endswith("\n"):
                self._write(b"\n")
        except OSError as refused:
            self.__exit__()
            why = refused.strerror or str(refused)
            raise ArgumentError("state_file", str(self._path), f"cannot be written: {why}; name another") from None
        except GgdpError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            # Every line is on the disk already.
            with suppress(OSError):
                self._file.close()

    def note(self, piece: str, result: int) -> None:
        """Write a finished piece durably."""
        line = json.dumps({"run": self._fingerprint, "piece": piece, "result": result}) + "\n"
        self._write(line.encode())
        self.finished[piece] = result

    def _write(self, line: bytes) -> None:
        """Write a line whole, and wait until the disk has it."""
        if self._file is None:
            return
        left = memoryview(line)
        try:
            while left:
                left = left[self._file.write(left) :]
            os.fsync(self._file.fileno())
        except OSError as failed:
            raise GgdpError(
                f"a finished piece could not be written to {self._path}: {failed.strerror or failed}. Those before it "
                "are kept there: free some space (or raise the limit) and run the same again to continue from "
                "them, or name another state file to start again"
            ) from None
