"""Post-processing with a public total: values that add up to a known number.

==================  =============================================================================================
normalise           scaled to the total
project             the nearest values, by Euclid, that are not negative and add up to the total
fit_total           whole numbers near the nearest values, by Euclid, that add up to the total
==================  =============================================================================================

A public total fits replace-one neighbours: with a person more or less the total itself would change, and to publish it
would be a second release, without noise. Claim: as that of `ggdp.releases.adjustments`, each is a function of the noisy
values and of the total, which is asserted and never counted.

References
----------
Duchi et al., "Efficient Projections onto the l1-Ball for Learning in High Dimensions", ICML 2008 (the projection).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ggdp import _validate
from ggdp.errors import ArgumentError
from ggdp.releases.adjustment_steps import Adjustment
from ggdp.releases.adjustments import numbers_of
from ggdp.releases.release import Release, adjusted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# Floats hold every whole number up to it, and sums of two such fit in 64 bits.
_MOST_FITTED = 2**53


def normalise(release: Release, total: float) -> Release:
    """Return the release with its values scaled to a public total.

    Parameters
    ----------
    release : Release
        Noisy values of a query under replace-one neighbours.
    total : float
        What the true values add up to: a number that the publisher asserts to be public, never one counted for this.

    Raises
    ------
    ArgumentError
        If the neighbours are not replace-one, or the noisy values do not add up to a number above 0.

    Examples
    --------
    >>> import ggdp
    >>> query = ggdp.Sensitivity.histogram(neighbours="replace-one")
    >>> noise = ggdp.calibrate(ggdp.PureDP(1.0), query, order=1, support="integer")
    >>> release = normalise(ggdp.Mechanism(noise).release([600, 300, 100]), total=1000)
    >>> round(float(release.values.sum()), 6)
    1000.0
    """
    asserted = _total(release, total)
    values = numbers_of(release).astype(np.float64)
    # In parts of the largest value, so that the sum cannot overflow.
    largest = float(np.abs(values).max(initial=0.0)) or 1.0
    shares = values / largest
    found = math.fsum(shares.flat)
    if not found > 0.0:
        raise ArgumentError(
            "release",
            "not shown",
            "its values do not add up to a number above 0, so no factor scales them to a total; use project, or clip "
            "first",
        )
    scaled = shares * (asserted / found)
    if not np.isfinite(scaled).all():
        raise ArgumentError("total", total, "scales values beyond the range of floats; use project, or clip first")
    return adjusted(release, scaled, Adjustment("normalise", (("total", asserted),)))


def project(release: Release, total: float) -> Release:
    """Return the release with its values moved to the nearest ones that are not negative and add up to a public total.

    Parameters
    ----------
    release : Release
        Noisy values of a query under replace-one neighbours.
    total : float
        What the true values add up to: a number that the publisher asserts to be public, never one counted for this.

    Notes
    -----
    Nearest in the Euclidean norm: every value is lowered by the same t, and what is then below 0 is put to 0. With the
    values sorted downwards, t = (v_1 + ... + v_k - total) / k for the largest k with v_k > t.

    Examples
    --------
    >>> import ggdp
    >>> query = ggdp.Sensitivity.histogram(neighbours="replace-one")
    >>> noise = ggdp.calibrate(ggdp.PureDP(1.0), query, order=1, support="integer")
    >>> release = project(ggdp.Mechanism(noise).release([600, 300, 0, 100]), total=1000)
    >>> bool((release.values >= 0).all()), round(float(release.values.sum()), 6)
    (True, 1000.0)
    """
    asserted = _total(release, total)
    values = numbers_of(release).astype(np.float64)
    if values.size == 0 and asserted > 0.0:
        raise ArgumentError("total", total, "must be 0: the release has no cells")
    return adjusted(release, _projected(values, asserted), Adjustment("project", (("total", asserted),)))


def fit_total(
    release: Release, total: int, *, nonnegative: bool = False, parts: Sequence[slice] = (slice(None),)
) -> Release:
    """Return the release of counts as whole numbers that add up to a public total.

    Parameters
    ----------
    release : Release
        Noisy whole numbers of a query under replace-one neighbours.
    total : int
        What the true values of each part add up to: a number that the publisher asserts to be public.
    nonnegative : bool, default False
        Whether values below 0 are put to 0.
    parts : sequence of slice, optional
        Parts of the flat array that each add up to the total, such as the marginals of a table; all of it by default.

    Notes
    -----
    The nearest values in the Euclidean norm are moved by the same amount each (without those that would fall below 0,
    if requested). They are then rounded down, and what is left goes by ones to the values that lost most.

    Examples
    --------
    >>> import ggdp
    >>> query = ggdp.Sensitivity.histogram(neighbours="replace-one")
    >>> noise = ggdp.calibrate(ggdp.PureDP(1.0), query, order=1, support="integer")
    >>> release = ggdp.Mechanism(noise).release([600, 300, 100])
    >>> fitted = fit_total(release, total=1000, nonnegative=True)
    >>> int(fitted.values.sum()), fitted.values.dtype
    (1000, dtype('int64'))
    """
    asserted = _validate.integer(total=total, at_least=0)
    _total(release, total)
    if release.values.dtype.kind != "i":
        raise ArgumentError("release", str(release.mechanism), "its values are not whole numbers; use project")
    if asserted > _MOST_FITTED:
        raise ArgumentError("total", total, "must be at most 2^53")
    fitted = np.clip(release.values.reshape(-1), -_MOST_FITTED, _MOST_FITTED)
    for part in parts:
        fitted[part] = _fitted(fitted[part], asserted, nonnegative=nonnegative)
    step = Adjustment("fit_total", (("total", asserted), ("nonnegative", nonnegative), ("parts", len(parts))))
    return adjusted(release, fitted.reshape(release.values.shape), step)


def _total(release: Release, total: object) -> float:
    """Return the asserted total; raise if neighbours may have different totals."""
    numbers_of(release)
    asserted = _validate.finite(total=total)
    if asserted < 0.0:
        raise ArgumentError("total", total, "must not be negative")
    if release.neighbours != "replace-one":
        raise ArgumentError(
            "release",
            f"under {release.neighbours} neighbours",
            "a public total needs replace-one neighbours: adding or removing a person would change the total. "
            "Calibrate with Sensitivity.histogram(neighbours='replace-one')",
        )
    if any(step.name == "drop" for step in release.adjustments):
        raise ArgumentError(
            "release",
            "with cells left out",
            "the remaining cells have no public total; adjust all cells first, then drop",
        )
    return asserted


def _projected(values: NDArray[np.float64], total: float) -> NDArray[np.float64]:
    """Return the nearest point of {x >= 0, sum = total}."""
    if values.size == 0:
        return values
    # What is below the largest value by more than the total becomes 0; cut off well below, it costs no digits of sums.
    lowered = np.maximum(values.reshape(-1) - values.max(), -2.0 * total)
    downwards = np.sort(lowered)[::-1]
    levels = (np.cumsum(downwards) - total) / np.arange(1, downwards.size + 1)
    above = np.flatnonzero(downwards > levels)
    level = levels[above[-1]] if above.size else 0.0
    found = np.maximum(lowered - level, 0.0)
    return np.asarray(found.reshape(values.shape))


def _fitted(values: NDArray[np.int64], total: int, *, nonnegative: bool) -> NDArray[np.int64]:
    """Return whole numbers that add up to a total, near the nearest point that does."""
    if values.size == 0:
        if total:
            raise ArgumentError("total", total, "must be 0: the release has no cells")
        return values
    if nonnegative:
        nearest = _projected(values.astype(np.float64), float(total))
        whole = np.floor(nearest).astype(np.int64)
        lost = nearest - whole
    else:
        every, _ = divmod(total - _exact_sum(values), values.size)
        whole = values + every
        lost = np.zeros(values.size)
    left = total - _exact_sum(whole)
    # Floats may be off by a few ones in large tables: `left` may pass the number of cells, or be negative.
    every, some = divmod(left, values.size)
    if nonnegative and left < 0:
        return _lowered(whole, -left)
    whole += every
    whole[np.argsort(-lost, kind="stable")[:some]] += 1
    return whole


def _exact_sum(values: NDArray[np.int64]) -> int:
    """Return a sum that may not fit in 64 bits, of values that are not much larger than 2^53: by halves that do."""
    return (int((values >> 28).sum()) << 28) + int((values & ((1 << 28) - 1)).sum())


def _lowered(values: NDArray[np.int64], by: int) -> NDArray[np.int64]:
    """Return values with the largest of them lowered by ones, `by` of them in all."""
    while by:
        largest = np.argsort(-values, kind="stable")[: min(by, int((values > 0).sum()))]
        values[largest] -= 1
        by -= largest.size
    return values
