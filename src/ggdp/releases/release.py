"""A release: noisy values, their guarantee, and how they were made.

A release holds only what may be published, never true values: a mechanism passes its output and
public facts. Only a mechanism can attach a guarantee (`make_release`), and only the functions of
`ggdp.releases.adjustments` carry it on (`adjust`); a release that is made by hand, or from another one by
`attrs.evolve`, has none. A copy and an unpickled release keep it, as their values are those of the original and
cannot be written to either.

As a table, a release has one row per value:

===============  ==============================================================================
axis_0, ...      where the value is, for values of more than one axis
place            where the value was in the flat array, where cells were left out
value            what is published
noisy            the raw noisy value, before any adjustment
lower, upper     95 % interval for the true value, from the raw noisy value
===============  ==============================================================================

The values of a selection are names, with no noise on them: their table has the column ``value`` alone.

A ledger records a release before it exists: the mechanism, and the statement of the manifest.
"""

from __future__ import annotations

import json
import math
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from attrs import Converter, field, frozen
from attrs.converters import optional
from flint import arb

from ggdp import _validate
from ggdp._balls import BALLS, upper_float, working_precision
from ggdp.errors import ArgumentError, MissingExtraError
from ggdp.ledger.charge_request import ChargeRequest
from ggdp.releases.mechanism_record import LEVEL, NoiseRecord, thresholded_intervals
from ggdp.releases.release_manifest import manifest_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from ggdp.ledger import EntryReference
    from ggdp.privacy import Guarantee, Neighbours
    from ggdp.proofs.losses import CountedLoss
    from ggdp.releases.adjustments import Adjustment
    from ggdp.releases.error_law import ErrorLaw
    from ggdp.releases.mechanism_record import MechanismRecord


# More than twice the bits of a float.
_PRECISION = 128

_SHOWN_VALUES = 6


class Interval(NamedTuple):
    """Ends of intervals, each an array in the shape of the values."""

    lower: NDArray[Any]
    upper: NDArray[Any]


def sealed(values: NDArray[Any]) -> NDArray[Any]:
    """Return the values as an array that cannot be made writable, nor can any array behind it; nothing is copied.

    NumPy lets a read-only array be made writable again where what holds its memory is writable. A memory view that is
    read-only never is.

    Examples
    --------
    >>> array = sealed(np.array([1.5, 2.5]))
    >>> array.setflags(write=True)
    Traceback (most recent call last):
    ValueError: cannot set WRITEABLE flag to True of this array
    """
    array = np.ascontiguousarray(values).reshape(np.shape(values))
    dtype = array.dtype
    # Memory views know no dates.
    plain: Any = array.view(np.int64) if dtype.kind in "mM" else array
    return np.asarray(memoryview(plain).toreadonly()).view(dtype)


def _sealed_or_values(noisy: NDArray[Any] | None, release: Release) -> NDArray[Any]:
    return release.values if noisy is None else sealed(noisy)


@frozen(kw_only=True, eq=False, repr=False)
class Release:
    """Noisy values with their guarantee. Made by a mechanism's ``release``.

    Attributes
    ----------
    values : numpy.ndarray
        What is published, read-only, in the shape of the query.
    mechanism : NoiseRecord or SelectionRecord
        The record of the mechanism.
    noisy : numpy.ndarray
        The raw noisy values, before any adjustment; intervals are computed from them.
    adjustments : tuple of Adjustment
        The post-processing that led from `noisy` to `values`.
    places : numpy.ndarray, optional
        Positions of the values in the flat array of the original release; None if no value was dropped.
    guarantee : PureDP, ProbabilisticDP, ApproxDP or None
        The proved guarantee; None if the values are not private, since their noise came from a seeded source. It
        cannot be passed in: a release made by hand has no guarantee.
    entry : EntryReference or None
        The entry of the ledger that the release was charged to; None if it was charged to none.

    Examples
    --------
    >>> import ggdp
    >>> goal, query = ggdp.PureDP(1.0), ggdp.Sensitivity.histogram()
    >>> release = ggdp.Mechanism(ggdp.calibrate(goal, query, order=1, support="integer")).release([12, 0, 7])
    >>> print(release.guarantee)
    1-DP under add-remove neighbours
    >>> lower, upper = release.interval(level=0.95)
    >>> (upper - lower).tolist()
    [6, 6, 6]
    """

    values: NDArray[Any] = field(converter=sealed)
    mechanism: MechanismRecord
    # mypy knows no converters that take the record.
    noisy: NDArray[Any] = field(
        default=None,
        converter=Converter(_sealed_or_values, takes_self=True),  # type: ignore[misc, call-overload]
    )
    adjustments: tuple[Adjustment, ...] = ()
    places: NDArray[np.intp] | None = field(default=None, converter=optional(sealed))
    guarantee: Guarantee | None = field(init=False, default=None)
    entry: EntryReference | None = field(init=False, default=None)

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies and unpickled releases are made like any other, so that their arrays are sealed too.
        noisy = None if self.noisy is self.values else self.noisy
        stated = (self.guarantee, self.entry)
        return _restored, (self.values, self.mechanism, noisy, self.adjustments, self.places, *stated)

    @property
    def neighbours(self) -> Neighbours:
        """The relation of neighbours that the guarantee is made for."""
        return self.mechanism.neighbours

    @property
    def losses(self) -> tuple[CountedLoss, ...]:
        """Losses that dominate the release in a composition (`ggdp.compose`)."""
        return self.mechanism.losses

    @property
    def order(self) -> float | None:
        """Order of the noise; None for a selection, which has no noise."""
        return self.mechanism.order if isinstance(self.mechanism, NoiseRecord) else None

    @property
    def scale(self) -> float | None:
        """Scale of the noise in the unit of the data; None for a selection."""
        return self.mechanism.scale if isinstance(self.mechanism, NoiseRecord) else None

    def interval(self, level: float = LEVEL) -> Interval:
        """Return an interval for each true value that covers it with a probability of at least `level`.

        Intervals come from the raw noisy values and exact quantiles of the noise, whatever adjustments were made after
        it: recentred on an adjusted value they would not cover. Where cells were left out by a look at the noisy
        values, they are made to cover all cells together, so that they cover the chosen ones too. Where cells below a
        threshold were left out, each covers given that its cell is shown, and holds 0 unless the noisy count is so
        large that an empty cell is ruled out (`ggdp.releases.mechanism_record`).

        Parameters
        ----------
        level : float, default 0.95
            Probability with which each single interval covers, above 0 and below 1. What is covered is the true value
            clamped to bounds, where there are any.

        Examples
        --------
        >>> import ggdp
        >>> noise = ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.disjoint(1), order=3)
        >>> release = ggdp.Mechanism(noise).release(1000.0)
        >>> bool(release.interval(0.999999).lower < 1000.0 < release.interval(0.999999).upper)
        True
        """
        record, single = self._noise("interval"), self.single_level(level)
        if record.threshold is not None:
            return Interval(*thresholded_intervals(record.law, record.threshold, self.noisy, single))
        return Interval(*record.law.intervals(self.noisy, single))

    def single_level(self, level: float) -> float:
        """Return the level of each single interval: more than `level` where cells were left out by their noisy values.

        With n cells before that choice, whose noise is independent, intervals of level^(1/n) cover all of them together
        with probability `level`, and so any that are chosen among them. Rounding: up.
        """
        number = _validate.probability(level=level)
        cells = next((dict(step.parameters)["of"] for step in self.adjustments if step.chosen_by_values), 1)
        if cells <= 1 or number == 0.0:
            return number
        with BALLS, working_precision(_PRECISION):
            return min(upper_float(arb(number) ** (1 / arb(cells))), math.nextafter(1.0, 0.0))

    def bias(self, true: ArrayLike | None = None) -> Any:  # noqa: ANN401 - a float or an array, as `true` is
        """Return the mean error at a hypothetical true value, or the largest in absolute value over all of them.

        Parameters
        ----------
        true : array_like, optional
            Hypothetical true values. Not the real ones: what is computed from these is not private.
        """
        return self._error_law("bias").bias(true)

    def standard_error(self, true: ArrayLike | None = None) -> Any:  # noqa: ANN401
        """Return the standard deviation at a hypothetical true value, or the largest over all of them.

        Parameters
        ----------
        true : array_like, optional
            Hypothetical true values. Not the real ones: what is computed from these is not private.
        """
        return self._error_law("standard_error").standard_error(true)

    @property
    def manifest(self) -> dict[str, Any]:
        """What a reader needs to use the values, as plain values ready for JSON.

        It follows a schema with a version, `ggdp.releases.manifest_schema`. Nothing in it is computed from the data but
        through the mechanism.

        Examples
        --------
        >>> import ggdp
        >>> noise = ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.histogram(), order=1, support="integer")
        >>> ggdp.Mechanism(noise).release([3, 4]).manifest["guarantee"]
        {'notion': 'pure', 'epsilon': 1.0, 'delta': 0.0, 'neighbours': 'add-remove'}
        """
        return manifest_of(self)

    def to_numpy(self) -> NDArray[Any]:
        """Return the values as a new, writable array."""
        return self.values.copy()

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas frame with a row for each value, its raw noisy value and its 95 % interval."""
        return needed("pandas").DataFrame({name: column.copy() for name, column in columns(self).items()})

    def to_polars(self) -> pl.DataFrame:
        """Return a polars frame with a row for each value, its raw noisy value and its 95 % interval."""
        return needed("polars").DataFrame(columns(self))

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table with a row for each value, its raw noisy value and its 95 % interval."""
        return needed("pyarrow").table(columns(self))

    def to_json(self, *, indent: int | None = None) -> str:
        """Return manifest, values and raw noisy values as one JSON document; labels that JSON has no form for as text.

        Examples
        --------
        >>> import json, ggdp
        >>> noise = ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.histogram(), order=1, support="integer")
        >>> sorted(json.loads(ggdp.Mechanism(noise).release([3, 4]).to_json()))
        ['manifest', 'noisy', 'values']
        """
        document = {"manifest": self.manifest, "values": self.values.tolist(), "noisy": self.noisy.tolist()}
        try:
            return json.dumps(document, indent=indent, allow_nan=False, default=str)
        except ValueError:
            raise ArgumentError(
                "release", "not finite", "JSON has no infinite numbers; clip the release first"
            ) from None

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the values, for NumPy."""
        del copy  # the values are read-only, so a copy is always made
        return self.values.astype(dtype or self.values.dtype)

    def plot(
        self,
        *,
        labels: Sequence[str] | None = None,
        title: str | None = None,
        unit: str = "unit of the query",
        level: float = LEVEL,
    ) -> Figure:
        """Return a figure of the values with their intervals; needs the extra `plots`.

        The parameters are those of `ggdp.plots.plot_release`.
        """
        from ggdp.plots.intervals import plot_release

        return plot_release(self, labels=labels, title=title, unit=unit, level=level)

    def __repr__(self) -> str:
        guarantee = "NOT PRIVATE: no guarantee" if self.guarantee is None else str(self.guarantee)
        count = "one value" if self.values.size == 1 else f"{self.values.size:,} values"
        first = ", ".join(str(value) for value in self.values.flat[:_SHOWN_VALUES].tolist())
        lines = [
            f"Release of {count}, {guarantee}",
            f"  made by: {self.mechanism}",
            *(f"  then: {step}" for step in self.adjustments),
            f"  values: {first}{', ...' if self.values.size > _SHOWN_VALUES else ''}",
        ]
        return "\n".join(lines)

    def _noise(self, quantity: str) -> NoiseRecord:
        """Return the record of a release of noisy values."""
        if not isinstance(self.mechanism, NoiseRecord):
            raise ArgumentError("release", str(self.mechanism), f"has no {quantity}: no noise was added to a number")
        return self.mechanism

    def _error_law(self, quantity: str) -> ErrorLaw:
        """Return the law of the errors of the values, if they are still those of the noise."""
        record = self._noise(quantity)
        if record.threshold is not None:
            raise ArgumentError(
                "release",
                f"of {record.threshold}",
                f"the {quantity} of a cell depends on its true count if other cells are omitted; use interval, which "
                "stays valid",
            )
        changed = [str(step) for step in self.adjustments if step.name != "drop" or step.chosen_by_values]
        if changed:
            raise ArgumentError(
                "release",
                "adjusted by " + ", ".join(changed),
                f"the {quantity} of adjusted values depends on all true values; use the release before its adjustment, "
                "or use interval, which stays valid",
            )
        return record.law


def make_release(values: NDArray[Any], mechanism: MechanismRecord, guarantee: Guarantee | None) -> Release:
    """Return a release with its guarantee. Only for mechanisms, which have proved it."""
    return _with_guarantee(Release(values=values, mechanism=mechanism), guarantee)


def charged_to(release: Release, entry: EntryReference | None) -> Release:
    """Return a release with the entry of the ledger that it was charged to. Only for mechanisms and tables."""
    object.__setattr__(release, "entry", entry)
    return release


def adjust(
    release: Release,
    values: NDArray[Any],
    step: Adjustment,
    *,
    left: NDArray[np.bool_] | None = None,
    mechanism: MechanismRecord | None = None,
    marginal: bool = False,
) -> Release:
    """Return a release of post-processed values, with the guarantee that survives any post-processing.

    Where cells were left out, `left` marks which of the flat array remain, and `mechanism` is theirs; `marginal` if
    they were chosen without a look at any value, which leaves the guarantee as it is.
    """
    noisy, places = release.noisy, release.places
    if left is not None:
        noisy = noisy.reshape(-1)[left]
        places = np.flatnonzero(left) if places is None else places[left]
    result = Release(
        values=values,
        mechanism=release.mechanism if mechanism is None else mechanism,
        noisy=noisy,
        adjustments=(*release.adjustments, step),
        places=places,
    )
    kept = release.guarantee
    charged_to(result, release.entry)
    return _with_guarantee(result, kept if kept is None or marginal else kept.after_postprocessing())


def _restored(
    values: NDArray[Any],
    mechanism: MechanismRecord,
    noisy: NDArray[Any] | None,
    adjustments: tuple[Adjustment, ...],
    places: NDArray[np.intp] | None,
    guarantee: Guarantee | None,
    entry: EntryReference | None,
) -> Release:
    release = Release(values=values, mechanism=mechanism, noisy=noisy, adjustments=adjustments, places=places)
    return charged_to(_with_guarantee(release, guarantee), entry)


def _with_guarantee(release: Release, guarantee: Guarantee | None) -> Release:
    object.__setattr__(release, "guarantee", guarantee)
    return release


def columns(release: Release) -> dict[str, NDArray[Any]]:
    """Return the columns of a release, each a flat array."""
    found: dict[str, NDArray[Any]] = {}
    if release.places is not None:
        found["place"] = release.places
    if release.values.ndim > 1:
        places = np.indices(release.values.shape).reshape(release.values.ndim, -1)
        found = {f"axis_{axis}": place for axis, place in enumerate(places)}
    values = release.values.reshape(-1)
    # Labels of a kind that not every table has become text.
    found["value"] = values if values.dtype.kind in "biufU" else np.array([str(label) for label in values.tolist()])
    if isinstance(release.mechanism, NoiseRecord):
        lower, upper = release.interval()
        found |= {"noisy": release.noisy.reshape(-1), "lower": lower.reshape(-1), "upper": upper.reshape(-1)}
    return found


def needed(name: str) -> Any:  # noqa: ANN401 - a module
    """Return a module that a frame needs; the error says how to install it."""
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError(f"this needs {name}: pip install {name}") from None


def charge_of(record: MechanismRecord, guarantee: Guarantee) -> ChargeRequest:
    """Return what a release of a mechanism asks a ledger for, without the certificate, which its noise implies."""
    # The statement does not depend on the values: that of a release of none of them is the same.
    empty = make_release(np.empty(0, dtype=np.int64), record, guarantee)
    mechanism = {name: value for name, value in record.to_dict().items() if name != "certificate"}
    return ChargeRequest(
        guarantee=guarantee,
        losses=record.losses,
        request={"sensitivity": record.sensitivity, **mechanism},
        statement=empty.manifest["statement"],
    )
