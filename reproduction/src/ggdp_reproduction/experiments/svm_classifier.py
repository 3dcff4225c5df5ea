"""A support vector machine on weighted cells, with the settings of R's e1071.

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
handled fractions is not known.

References
----------
Meyer et al., e1071 (R package), ``svm``. Chang and Lin, "LIBSVM", ACM TIST 2 (2011).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ggdp_reproduction.experiments.adult_split import AdultSplit

    Reals = NDArray[np.float64]

__all__ = ["COST", "default_gamma", "design", "weighted_accuracy"]

COST = 1.0
_CACHE_MEGABYTES = 400


def default_gamma(columns: int) -> float:
    """Return the kernel's gamma that e1071 takes if none is given."""
    return 1.0 / columns


def design(split: AdultSplit, codes: NDArray[np.int64]) -> tuple[Reals, NDArray[np.bool_]]:
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
    cells: Reals,
    labels: NDArray[np.int64],
    weights: Reals,
    test: Reals,
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
    mean, deviation = _weighted_moments(x[:, numeric], w)

    def scaled(features: Reals) -> Any:  # noqa: ANN401 - SciPy has no types
        whole = features.copy()
        whole[:, numeric] = (whole[:, numeric] - mean) / deviation
        # Most indicators are 0, and libsvm is three times as fast where they are not stored.
        return csr_matrix(whole)

    machine = SVC(kernel="rbf", C=COST, gamma=default_gamma(cells.shape[1]), cache_size=_CACHE_MEGABYTES)
    machine.fit(scaled(x), y, sample_weight=w)
    return int((machine.predict(scaled(test)) == test_labels).sum())


def _weighted_moments(values: Reals, weights: Reals) -> tuple[Reals, Reals]:
    """Return means and standard deviations of columns, as if every row were repeated; 1 for a constant column."""
    total = weights.sum()
    mean = (values * weights[:, None]).sum(axis=0) / total
    squares = ((values - mean) ** 2 * weights[:, None]).sum(axis=0)
    deviation = np.sqrt(squares / max(total - 1.0, 1.0))
    return mean, np.where(deviation > 0.0, deviation, 1.0)
