"""Does a classifier trained on sanitised counts still predict? Support vector machines on the adult data.

=========  =============================================================================================
features   the 13 attributes as R's ``model.matrix`` without an intercept codes them: numbers as they are, the first
           factor by an indicator of each level, every other factor by one of each level but its first
scaled     numeric columns to mean 0 and standard deviation 1, as e1071's ``svm(income ~ ., data)`` does; it leaves
           the indicators of factors alone
kernel     exp(-gamma |x - x'|^2), gamma = 1 / (number of columns); cost C = 1; libsvm, as e1071
weights    the sanitised counts: a cell of count w weighs as w rows, so C_i = C w_i. Cells of weight 0 are left out
=========  =============================================================================================

Means and standard deviations for the scaling are those of the sanitised training data, weights and all: with whole
weights everything is as if the rows had been repeated, which is what R would be given, and nothing but the sanitised
counts is looked at. e1071 itself takes no weights of rows, so how the paper handled fractions is not known.

The cells are the non-empty ones of the training data, the income included: not differentially private, for reproduction
only.

Each finished fit is a line of the state file, so that an interrupted run goes on where it was. The lines carry a
fingerprint of the data, the seed and the versions of the libraries; lines of another run are left alone and not used.

References
----------
Liu, arXiv 1602.06028 v5, Section 4. Meyer et al., e1071 (R package), ``svm``. Chang and Lin, "LIBSVM", ACM TIST 2
(2011).
"""

from __future__ import annotations

import hashlib
import json
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ggdp import _validate
from ggdp.errors import MissingExtraError
from ggdp.experiments.processes import completed
from ggdp.experiments.sanitisers import ADJUSTMENTS, Adjustment, simulated_noise, stream_seed
from ggdp.experiments.settings import DELTAS, EPSILONS, NoiseFacts, Sanitiser, Setting, known, settings_of
from ggdp.experiments.split import NOT_PRIVATE, AdultSplit
from ggdp.experiments.state import StateFile

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

__all__ = ["SVM_REPEATS", "SvmRun", "design", "run_svm", "weighted_accuracy"]

COST = 1.0
SVM_REPEATS = 5
_CACHE_MEGABYTES = 400
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
        knows is what the unprotected choice of cells gives away.
    rows : list of dict
        One for each fit: sanitiser, group, epsilon, delta (None where there is none), order, scale, support,
        neighbours, adjustment, private, note, repeat, accuracy.
    """

    train: int
    test: int
    cells: int
    columns: int
    original_accuracy: float
    support_accuracy: float
    rows: list[dict[str, Any]]

    def summary(self) -> list[dict[str, Any]]:
        """Return one row for each setting: its names, repeats, accuracy_mean, accuracy_sd and loss_mean.

        The standard deviation is None for a single repeat; the loss is the original accuracy less this one.
        """
        grouped: dict[tuple[Any, ...], list[float]] = {}
        names = ("sanitiser", "group", "epsilon", "delta", "note")
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
    adjustment: Adjustment
    seed: int


class _Fit(NamedTuple):
    """One fit on sanitised counts."""

    setting: Setting
    facts: NoiseFacts
    repeat: int

    @property
    def name(self) -> str:
        """What the state file calls it."""
        return json.dumps([*self.setting.key, self.repeat, self.facts.order, self.facts.scale])


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
    adjustment: Adjustment = "clip-rescale",
) -> SvmRun:
    """Train a classifier on the original and on sanitised counts, and count its hits among the test rows.

    Parameters
    ----------
    split : AdultSplit
        The data.
    sanitisers : iterable of Sanitiser
        What to run.
    epsilons, deltas : iterable of float
        Privacy parameters.
    repeats : int, default 5
        Fits of each setting.
    extra_repeats : int, optional
        Fits of each setting of a sanitiser that the paper does not have; by default as many.
    seed : int, default 0
        Seed of the run.
    workers : int, default 1
        How many processes to use, each with up to half a gigabyte; the results are the same for any number.
    state_file : path, optional
        Where finished fits are noted; a later call with the same arguments, or more repeats, goes on from there.
    progress : callable, optional
        Called with the number of fits done and their total, first with those that the state file has.
    rows : int, optional
        Train on this many rows only, and test on half as many, for a quick run.
    adjustment : str, default "clip-rescale"
        What is done to noisy counts before they are weights; not "raw", which can be negative.

    Raises
    ------
    MissingExtraError
        If scikit-learn is not installed.

    Examples
    --------
    >>> from ggdp.experiments.settings import PAPER
    >>> run = run_svm(split, sanitisers=PAPER[:3], workers=2, state_file="fits.jsonl")  # doctest: +SKIP
    """
    if find_spec("sklearn") is None:
        message = "the classifier needs scikit-learn: pip install 'ggdp[experiments]'"
        raise MissingExtraError(message)
    _validate.choice(among=tuple(name for name in ADJUSTMENTS if name != "raw"), adjustment=adjustment)
    _validate.integer(repeats=repeats, at_least=1)
    extra = repeats if extra_repeats is None else _validate.integer(extra_repeats=extra_repeats, at_least=1)
    used = split if rows is None else split.first(rows)
    problem = _problem(used, adjustment, _validate.integer(seed=seed, at_least=0))
    settings = settings_of(sanitisers, epsilons, deltas)
    fits = [
        _Fit(setting, facts, repeat)
        for setting, facts in zip(settings, known(settings, workers=workers), strict=True)
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
        rows=[_row(fit, adjustment, hits / size) for fit, hits in zip(fits, correct, strict=True)],
    )


def design(split: AdultSplit, codes: NDArray[np.int64]) -> tuple[Reals, NDArray[np.bool_]]:
    """Return the features of rows, unscaled, and which of their columns are numeric.

    Parameters
    ----------
    split : AdultSplit
        The data, for the levels of their columns.
    codes : array
        Rows of it, such as ``split.cells``.
    """
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
    cells: Reals,
    labels: NDArray[np.int64],
    weights: Reals,
    test: Reals,
    test_labels: NDArray[np.int64],
    numeric: NDArray[np.bool_],
) -> int:
    """Return how many test rows a classifier gets right that was trained on weighted cells.

    Parameters
    ----------
    cells, test : array of shape (rows, columns)
        Features, unscaled.
    labels, test_labels : array of int
        Outcomes.
    weights : array
        Weights of the training cells, not all of them 0; cells of weight 0 are left out.
    numeric : array of bool
        Which columns to scale.
    """
    from scipy.sparse import csr_matrix
    from sklearn.svm import SVC

    kept = weights > 0.0
    x, y, w = cells[kept], labels[kept], weights[kept]
    if np.all(y == y[0]):
        return int((test_labels == y[0]).sum())
    mean, deviation = _weighted_moments(x[:, numeric], w)

    def scaled(features: Reals) -> Any:  # noqa: ANN401 - SciPy has no types
        whole = features.copy()
        whole[:, numeric] = (whole[:, numeric] - mean) / deviation
        # Most indicators are 0, and libsvm is three times as fast where they are not stored.
        return csr_matrix(whole)

    machine = SVC(kernel="rbf", C=COST, gamma=1.0 / cells.shape[1], cache_size=_CACHE_MEGABYTES)
    machine.fit(scaled(x), y, sample_weight=w)
    return int((machine.predict(scaled(test)) == test_labels).sum())


def _weighted_moments(values: Reals, weights: Reals) -> tuple[Reals, Reals]:
    """Return means and standard deviations of columns, as if every row were repeated; 1 for a constant column."""
    total = weights.sum()
    mean = (values * weights[:, None]).sum(axis=0) / total
    squares = ((values - mean) ** 2 * weights[:, None]).sum(axis=0)
    deviation = np.sqrt(squares / max(total - 1.0, 1.0))
    return mean, np.where(deviation > 0.0, deviation, 1.0)


def _problem(split: AdultSplit, adjustment: Adjustment, seed: int) -> _Problem:
    cells, numeric = design(split, split.cells)
    return _Problem(
        cells=cells,
        labels=split.cells[:, -1],
        counts=split.counts.astype(np.float64),
        test=design(split, split.test)[0],
        test_labels=split.test[:, -1],
        numeric=numeric,
        adjustment=adjustment,
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
        noise = simulated_noise(fit.facts, fit.setting.sanitiser.support, weights.shape, seed=seed)
        weights = ADJUSTMENTS[problem.adjustment](weights + noise, float(weights.sum()))
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
        done = len(fits) - len(missing)
        if progress is not None:
            progress(done, len(fits))
        with closing(completed(_fitted, missing, shared=problem, workers=workers)) as results:
            for place, hits in results:
                state.note(missing[place].name, hits)
                done += 1
                if progress is not None:
                    progress(done, len(fits))
        return [state.finished[fit.name] for fit in fits]


def _fingerprint(problem: _Problem) -> str:
    """Return what tells runs apart whose fits would differ."""
    digest = hashlib.sha256()
    facts = [_FORMAT, problem.seed, problem.adjustment, COST, {name: version(name) for name in _LIBRARIES}]
    digest.update(json.dumps(facts, sort_keys=True).encode())
    for part in (problem.cells, problem.labels, problem.counts, problem.test, problem.test_labels, problem.numeric):
        digest.update(repr((part.shape, part.dtype.str)).encode())
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()[:32]


def _row(fit: _Fit, adjustment: Adjustment, accuracy: float) -> dict[str, Any]:
    """Return a row of the run."""
    one = fit.setting.sanitiser
    return {
        "sanitiser": one.key,
        "group": one.group,
        "epsilon": fit.setting.epsilon,
        "delta": fit.setting.delta,
        "order": fit.facts.order,
        "scale": fit.facts.scale,
        "support": one.support,
        "neighbours": one.neighbours,
        "adjustment": adjustment,
        "private": f"no: {NOT_PRIVATE}",
        "note": fit.facts.note,
        "repeat": fit.repeat,
        "accuracy": accuracy,
    }
