"""Post-processing of releases: each function returns a new release with the guarantee that is left.

==================  =============================================================================================
clip                every value into public bounds (the paper's boundary-inflated procedure)
round_values        to the nearest whole number, halves up
drop                cells left out
==================  =============================================================================================

Claim. Pure and approximate DP survive every function of the noisy values alone; each of these is one, with parameters
that must be public. Probabilistic DP does not: outputs that fall together carry the larger losses of some of them to
all. Gaussian noise that is (1, 0.01)-pDP is only (1, 0.0209)-pDP once it is clipped at a well-chosen bound, while (1,
0.01)-aDP stays. So what was probabilistic is approximate afterwards, also where a function happens to change nothing;
only cells that were left out without a look at the noisy values change nothing of it (`drop`).

Drawing again until the output is in bounds is none of these (`redraw`).

Public totals have functions of their own (`ggdp.releases.totals`).

References
----------
Liu, arXiv 1602.06028 v5, Definition 6 and the end of Section 2.6.
"""

from __future__ import annotations

import numbers
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias

import numpy as np
from attrs import evolve

from ggdp import _validate
from ggdp.errors import ArgumentError, ArgumentTypeError, UnprovedError
from ggdp.privacy.grid import Grid
from ggdp.privacy.values import LARGEST, LEAST
from ggdp.releases.adjustment_steps import Adjustment
from ggdp.releases.mechanism_record import NoiseRecord
from ggdp.releases.release import Release, adjusted

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ggdp.releases.error_law import ErrorLaw

Chosen: TypeAlias = Literal["by-values", "publicly"]

_WHOLE = Grid(step=1.0)


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
    clipped = np.clip(values, _within(values, low), _within(values, high))
    return adjusted(release, clipped, Adjustment("clip", (("lower", low), ("upper", high))))


def round_values(release: Release) -> Release:
    """Return the release with every value rounded to the nearest whole number, halves up, as 64-bit integers.

    Examples
    --------
    >>> import ggdp
    >>> noise = ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.disjoint(0.5), order=1)
    >>> round_values(ggdp.Mechanism(noise).release([1.5, 2.25])).values.dtype
    dtype('int64')
    """
    return adjusted(release, _WHOLE.index(numbers_of(release)), Adjustment("round_values"))


def drop(release: Release, cells: ArrayLike, *, chosen: Chosen = "by-values") -> Release:
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
    left = ~_mask(release.values.shape, cells).reshape(-1)
    mechanism = release.mechanism
    if isinstance(mechanism, NoiseRecord):
        mechanism = replace(mechanism, law=_law_of(mechanism.law, release.values.shape, left))
    step = Adjustment("drop", (("chosen", chosen), ("of", left.size), ("left", int(left.sum()))))
    return adjusted(
        release,
        release.values.reshape(-1)[left],
        step,
        left=left,
        mechanism=mechanism,
        marginal=chosen == "publicly",
    )


def redraw(release: Release, lower: float | None = None, upper: float | None = None) -> NoReturn:
    """Raise an error: drawing again until values are in bounds is not post-processing.

    The paper offers this as post-processing. It is not: whether a value is drawn again depends on the true one, so what
    comes out has the truncated law, which needs a larger scale. Laplace noise for epsilon = 1, drawn again until it is
    in [0, 10], has a loss of 1.49.

    Raises
    ------
    UnprovedError
        Always.
    """
    del release
    message = (
        f"values cannot be drawn again until they are in bounds (lower = {lower!r}, upper = {upper!r}): that looks at "
        "the true values a second time, and is not post-processing. Use clip(release, lower, upper), or the truncated "
        "mechanism with its own scale, calibrate(..., bounds=[(lower, upper)], bounding='truncated')"
    )
    raise UnprovedError(message)


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


def _within(values: NDArray[Any], end: int | float | None) -> int | float | None:
    """Return a bound that the type of the values can hold: beyond it, its own end does the same."""
    if end is None or values.dtype.kind == "f":
        return end
    return min(max(end, LEAST), LARGEST)


def _mask(shape: tuple[int, ...], cells: object) -> NDArray[np.bool_]:
    """Return the cells to leave out, as a mask in the shape of the values."""
    try:
        chosen = np.asarray(cells)
    except ValueError:
        raise ArgumentError("cells", type(cells).__name__, "must be one list of positions, or a mask") from None
    if chosen.dtype == np.bool_:
        if chosen.shape != shape:
            raise ArgumentError(
                "cells", f"of shape {chosen.shape}", f"a mask must have the shape {shape} of the values"
            )
        return chosen
    mask = np.zeros(shape, dtype=np.bool_)
    if chosen.size and (chosen.dtype.kind not in "iu" or chosen.min() < 0 or chosen.max() >= mask.size):
        raise ArgumentError("cells", cells, f"must be positions from 0 to {mask.size - 1}, or a mask")
    mask.reshape(-1)[chosen.astype(np.intp)] = True
    return mask


def _law_of(law: ErrorLaw, shape: tuple[int, ...], left: NDArray[np.bool_]) -> ErrorLaw:
    """Return the law of the cells that are left: bounds of each coordinate go with their cells."""
    if law.bounds is None or law.index_bounds is None or len(law.bounds) == 1:
        return law
    coordinate = np.broadcast_to(np.arange(shape[-1]), shape).reshape(-1)[left].tolist() or [0]
    return evolve(
        law,
        bounds=tuple(law.bounds[k] for k in coordinate),
        index_bounds=tuple(law.index_bounds[k] for k in coordinate),
    )
