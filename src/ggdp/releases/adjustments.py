"""Post-processing of releases: each function returns a new release with the guarantee that is left.

==================  =============================================================================================
clip                every value into public bounds (the paper's boundary-inflated procedure)
round_values        to the nearest whole number, halves up
drop                cells left out
normalise           scaled to a public total
project             the nearest values, by Euclid, that are not negative and add up to a public total
fit_total           whole numbers near the nearest values, by Euclid, that add up to a public total
==================  =============================================================================================

Claim. Pure and approximate DP survive every function of the noisy values alone; each of these is one, with parameters
that must be public, such as a total, which is asserted and never counted. Probabilistic DP does not: outputs that fall
together carry the larger losses of some of them to all. Gaussian noise that is (1, 0.01)-pDP is only (1, 0.0209)-pDP
once it is clipped at a well-chosen bound, while (1, 0.01)-aDP stays. So what was probabilistic is approximate
afterwards, also where a function happens to change nothing; only cells that were left out without a look at the noisy
values change nothing of it (`drop`).

Drawing again until the output is in bounds, which the paper offers as post-processing, is none of these: whether a
value is drawn again depends on the true one, so the output has the truncated law, which needs a larger scale. Laplace
noise for epsilon = 1, drawn again until it is in [0, 10], has a loss of 1.49.

A public total fits replace-one neighbours: one person more or less would change the total itself, and publishing it
would be a second release, without noise.

References
----------
Liu, arXiv 1602.06028 v5, Definition 6 and the end of Section 2.6. Duchi et al., "Efficient Projections onto the l1-Ball
for Learning in High Dimensions", ICML 2008 (the projection).
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from attrs import evolve
from numpy.typing import ArrayLike, NDArray

from ggdp import _validate
from ggdp.errors import ArgumentError, ArgumentTypeError
from ggdp.privacy.grid import LARGEST, LEAST, Grid
from ggdp.releases.error_law import JointLaw, VectorErrorLaw
from ggdp.releases.mechanism_record import NoiseRecord
from ggdp.releases.release import Release, adjust


@dataclass(frozen=True, slots=True)
class Adjustment:
    """One step of post-processing.

    Attributes
    ----------
    name : str
        Name of the function.
    parameters : tuple of (name, value)
        What it was called with, as plain values.
    """

    name: str
    parameters: tuple[tuple[str, Any], ...] = ()

    @property
    def chosen_by_values(self) -> bool:
        """Whether cells were dropped, possibly based on their noisy values."""
        return ("chosen", "by-values") in self.parameters

    def in_words(self) -> str:
        """Return what was done, for readers."""
        given = dict(self.parameters)
        if self.name == "clip":
            ends = [f"at least {given['lower']}"] * (given["lower"] is not None)
            ends += [f"at most {given['upper']}"] * (given["upper"] is not None)
            return "values were clipped to be " + " and ".join(ends)
        if self.name == "drop":
            return f"{given['of'] - given['left']:,} of {given['of']:,} cells were left out"
        if self.name == "fit_total":
            kept = "that are not negative and add up to" if given["nonnegative"] else "that add up to"
            each = " in each table" if given["parts"] > 1 else ""
            return f"values were moved to nearby whole numbers {kept} {given['total']}{each}"
        return {
            "round_values": "values were rounded to whole numbers",
            "normalise": f"values were scaled to add up to {given.get('total')}",
            "project": "values were moved to the nearest ones that are not negative and add up to "
            f"{given.get('total')}",
        }[self.name]

    def to_dict(self) -> dict[str, Any]:
        """Return the step as plain values, ready for JSON."""
        return {"name": self.name, **dict(self.parameters)}

    def __str__(self) -> str:
        inside = ", ".join(f"{name} = {value}" for name, value in self.parameters)
        return f"{self.name}({inside})"


def clip(release: Release, lower: float | None = None, upper: float | None = None) -> Release:
    """Return the release with every value clipped to public bounds.

    Parameters
    ----------
    release : Release
        Noisy values.
    lower, upper : float, optional
        Public bounds; None for no bound on that side.

    Examples
    --------
    >>> import ggdp
    >>> goal, query = ggdp.ProbabilisticDP(1.0, 0.01), ggdp.Sensitivity.histogram()
    >>> noise = ggdp.calibrate(goal, query, order=2, support="integer")
    >>> release = ggdp.Mechanism(noise).release([0, 0, 0, 0])
    >>> type(release.guarantee).__name__, type(clip(release, lower=0).guarantee).__name__
    ('ProbabilisticDP', 'ApproxDP')
    """
    values = numbers_of(release)
    low, high = (None if end is None else _bound(end, name) for end, name in ((lower, "lower"), (upper, "upper")))
    if low is None and high is None:
        raise ArgumentError("lower", lower, "give at least one bound, lower or upper")
    if low is not None and high is not None and low > high:
        raise ArgumentError("upper", upper, f"must not be below lower = {lower!r}")
    if values.dtype.kind == "i" and any(isinstance(end, float) for end in (low, high)):
        values = values.astype(np.float64)
    ends = [low, high]
    if values.dtype.kind == "i":
        # A bound that the type of the values cannot hold does the same as the end of the type.
        ends = [None if end is None else min(max(end, LEAST), LARGEST) for end in ends]
    clipped = np.clip(values, ends[0], ends[1])
    return adjust(release, clipped, Adjustment("clip", (("lower", low), ("upper", high))))


def round_values(release: Release) -> Release:
    """Return the release with every value rounded to the nearest whole number, halves up, as 64-bit integers.

    Examples
    --------
    >>> import ggdp
    >>> noise = ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.disjoint(0.5), order=1)
    >>> round_values(ggdp.Mechanism(noise).release([1.5, 2.25])).values.dtype
    dtype('int64')
    """
    return adjust(release, Grid(step=1.0).index(numbers_of(release)), Adjustment("round_values"))


def drop(release: Release, cells: ArrayLike, *, chosen: Literal["by-values", "publicly"] = "by-values") -> Release:
    """Return the release without some cells, as a flat array of those that are left, in their order.

    Parameters
    ----------
    release : Release
        Noisy values.
    cells : array of int or bool
        Which cells to leave out: their places in the flat array of values, or a mask in the shape of the values.
    chosen : {"by-values", "publicly"}, default "by-values"
        How the cells were chosen: perhaps by a look at the noisy values, or surely without one.

    Notes
    -----
    Claim: cells that are chosen publicly take nothing of the guarantee with them, of probabilistic DP either. Proof:
    what is left of neighbours has the losses of a pair that agrees on the other cells, which is one of the pairs that
    the proof is about: sensitivities bound what cells move by, and 0 is within them.

    Of cells that are chosen by their noisy values, those with large noise are likely to be left. So intervals are then
    made for all cells of the release together, those left out included, which no choice among them can spoil; and bias
    and standard error are not known any more.

    Examples
    --------
    >>> import ggdp
    >>> noise = ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.histogram(), order=1, support="integer")
    >>> release = ggdp.Mechanism(noise).release([5, 0, 0, 7])
    >>> drop(release, cells=[1], chosen="publicly").interval().upper.shape
    (3,)
    >>> chosen = drop(release, cells=release.values < 3)
    >>> bool((chosen.interval().upper - chosen.noisy > 3).all())
    True
    """
    _require_release(release)
    _validate.choice(among=("by-values", "publicly"), chosen=chosen)
    shape, mechanism = release.values.shape, release.mechanism
    try:
        out = np.asarray(cells)
    except ValueError:
        raise ArgumentError("cells", type(cells).__name__, "must be one list of positions, or a mask") from None
    left = np.ones(release.values.size, dtype=np.bool_)
    if out.dtype != np.bool_:
        if out.size and (out.dtype.kind not in "iu" or out.min() < 0 or out.max() >= left.size):
            raise ArgumentError("cells", cells, f"must be positions from 0 to {left.size - 1}, or a mask")
        left[out.astype(np.intp)] = False
    elif out.shape != shape:
        raise ArgumentError("cells", f"of shape {out.shape}", f"a mask must have the shape {shape} of the values")
    else:
        left = ~out.reshape(-1)
    if isinstance(mechanism, NoiseRecord) and mechanism.law.bounds is not None and len(mechanism.law.bounds) > 1:
        # The bounds of each coordinate go with its cells.
        pairs = tuple(zip(mechanism.law.bounds, mechanism.law.index_bounds or (), strict=True))
        kept = np.broadcast_to(np.arange(shape[-1]), shape).reshape(-1)[left].tolist() or [0]
        bounds, indices = zip(*(pairs[k] for k in kept), strict=True)
        mechanism = replace(mechanism, law=evolve(mechanism.law, bounds=bounds, index_bounds=indices))
    if isinstance(mechanism, NoiseRecord) and isinstance(mechanism.law, JointLaw):
        mechanism = replace(mechanism, law=mechanism.law.at(left))
    if isinstance(mechanism, NoiseRecord) and isinstance(mechanism.law, VectorErrorLaw):
        before = range(left.size) if mechanism.law.places is None else mechanism.law.places
        places = tuple(place for place, kept in zip(before, left.tolist(), strict=True) if kept)
        mechanism = replace(mechanism, law=evolve(mechanism.law, places=places))
    step = Adjustment("drop", (("chosen", chosen), ("of", left.size), ("left", int(left.sum()))))
    values = release.values.reshape(-1)[left]
    return adjust(release, values, step, left=left, mechanism=mechanism, marginal=chosen == "publicly")


def _require_release(release: object) -> None:
    if not isinstance(release, Release):
        raise ArgumentTypeError("release", type(release).__name__, "must be a Release, as returned by a mechanism")


def numbers_of(release: Release) -> NDArray[Any]:
    """Return the values of a release of numbers."""
    _require_release(release)
    if release.values.dtype.kind not in "if":
        raise ArgumentError("release", str(release.mechanism), "its values are not numbers")
    return release.values


def _bound(end: object, name: str) -> int | float:
    """Return a bound as an integer where it is whole, so that integers stay integers."""
    number = _validate.finite(**{name: end})
    return int(end) if isinstance(end, numbers.Integral) else int(number) if number.is_integer() else number


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
    asserted, values = _total(release, total), release.values.astype(np.float64)
    # In parts of the largest value, so that the sum cannot overflow.
    largest = float(np.abs(values).max(initial=0.0)) or 1.0
    shares = values / largest
    found = math.fsum(shares.flat)
    if not found > 0.0:
        expected = (
            "its values do not add up to a number above 0, so no factor scales them to a total; use project, or clip "
            "first"
        )
        raise ArgumentError("release", "not shown", expected)
    scaled = shares * (asserted / found)
    if not np.isfinite(scaled).all():
        raise ArgumentError("total", total, "scales values beyond the range of floats; use project, or clip first")
    return adjust(release, scaled, Adjustment("normalise", (("total", asserted),)))


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
    asserted, values = _total(release, total), release.values.astype(np.float64)
    if values.size == 0 and asserted > 0.0:
        raise ArgumentError("total", total, "must be 0: the release has no cells")
    return adjust(release, _project_values(values, asserted), Adjustment("project", (("total", asserted),)))


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
        fitted[part] = _fit_values(fitted[part], asserted, nonnegative=nonnegative)
    step = Adjustment("fit_total", (("total", asserted), ("nonnegative", nonnegative), ("parts", len(parts))))
    return adjust(release, fitted.reshape(release.values.shape), step)


def _total(release: Release, total: object) -> float:
    """Return the asserted total; raise if neighbours may have different totals."""
    numbers_of(release)
    asserted = _validate.finite(total=total)
    if asserted < 0.0:
        raise ArgumentError("total", total, "must not be negative")
    if release.mechanism.neighbours != "replace-one":
        expected = (
            "a public total needs replace-one neighbours: adding or removing a person would change the total. "
            "Calibrate with Sensitivity.histogram(neighbours='replace-one')"
        )
        raise ArgumentError("release", f"under {release.mechanism.neighbours} neighbours", expected)
    if any(step.name == "drop" for step in release.adjustments):
        expected = "the remaining cells have no public total; adjust all cells first, then drop"
        raise ArgumentError("release", "with cells left out", expected)
    return asserted


def _project_values(values: NDArray[np.float64], total: float) -> NDArray[np.float64]:
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


def _fit_values(values: NDArray[np.int64], total: int, *, nonnegative: bool) -> NDArray[np.int64]:
    """Return whole numbers that add up to a total, near the nearest point that does."""
    if values.size == 0:
        if total:
            raise ArgumentError("total", total, "must be 0: the release has no cells")
        return values
    if nonnegative:
        nearest = _project_values(values.astype(np.float64), float(total))
        whole = np.floor(nearest).astype(np.int64)
        lost = nearest - whole
    else:
        every, _ = divmod(total - _exact_sum(values), values.size)
        whole = values + every
        lost = np.zeros(values.size)
    left = total - _exact_sum(whole)
    # Floats may be off by a few ones in large tables: `left` may pass the number of cells, or be negative. While it is,
    # the values add up to more than the total, which is not: some value is above 0, and each round takes at least one.
    while nonnegative and left < 0:
        largest = np.argsort(-whole, kind="stable")[: min(-left, int((whole > 0).sum()))]
        whole[largest] -= 1
        left += largest.size
    every, some = divmod(left, values.size)
    whole += every
    whole[np.argsort(-lost, kind="stable")[:some]] += 1
    return whole


def _exact_sum(values: NDArray[np.int64]) -> int:
    """Return a sum that may not fit in 64 bits, of values that are not much larger than 2^53: by halves that do."""
    return (int((values >> 28).sum()) << 28) + int((values & ((1 << 28) - 1)).sum())
