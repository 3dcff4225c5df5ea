"""A release: noisy values, what is promised of them, and how they were made.

A release holds nothing but what may be published. The true values never enter it: a mechanism hands over its output and
public facts. Only a mechanism can attach a guarantee (`released`), and only the functions of
`ggdp.releases.adjustments` carry it on (`adjusted`); a release that is made or changed by hand has none.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ggdp.errors import ArgumentError
from ggdp.releases import frames
from ggdp.releases.facts import MechanismFacts
from ggdp.releases.manifest import manifest_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    from ggdp.privacy import Guarantee, Neighbours
    from ggdp.releases.facts import Facts
    from ggdp.releases.law import NoiseLaw

__all__ = ["Adjustment", "Interval", "Release", "adjusted", "released"]

LEVEL = 0.95
_SHOWN_VALUES = 6


class Interval(NamedTuple):
    """Ends of intervals, each an array in the shape of the values."""

    lower: NDArray[Any]
    upper: NDArray[Any]


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

    def to_dict(self) -> dict[str, Any]:
        """Return the step as plain values, fit for JSON."""
        return {"name": self.name, **dict(self.parameters)}

    def __str__(self) -> str:
        inside = ", ".join(f"{name} = {value}" for name, value in self.parameters)
        return f"{self.name}({inside})"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Release:
    """Noisy values with their guarantee. Made by a mechanism's ``release``.

    Attributes
    ----------
    values : numpy.ndarray
        What is published, read-only, in the shape of the query.
    mechanism : MechanismFacts or SelectionFacts
        How it was made private.
    noisy : numpy.ndarray
        The values as the mechanism gave them, before any adjustment; intervals go by them.
    adjustments : tuple of Adjustment
        The post-processing that led from `noisy` to `values`.
    guarantee : PureDP, ProbabilisticDP, ApproxDP or None
        What is proved of the values; None if they are not private, since their noise came from a seeded source. It
        cannot be passed in: a release that is made by hand has none.

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

    values: NDArray[Any]
    mechanism: Facts
    noisy: NDArray[Any] = field(default=None)  # type: ignore[arg-type]  # then the values
    adjustments: tuple[Adjustment, ...] = ()
    guarantee: Guarantee | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        values = _read_only(self.values)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "noisy", values if self.noisy is None else _read_only(self.noisy))

    def __setstate__(self, state: list[Any]) -> None:
        # A copy made by pickling is as little to be written to as the original.
        for part, value in zip(fields(self), state, strict=True):
            object.__setattr__(self, part.name, value)
        self.values.setflags(write=False)
        self.noisy.setflags(write=False)

    @property
    def neighbours(self) -> Neighbours:
        """The relation of neighbours that the guarantee is made for."""
        return self.mechanism.neighbours

    @property
    def order(self) -> float:
        """Order of the noise."""
        return self._noise("order").order

    @property
    def scale(self) -> float:
        """Scale of the noise in the unit of the data."""
        return self._noise("scale").scale

    def interval(self, level: float = LEVEL) -> Interval:
        """Return an interval for each true value that covers it with a probability of at least `level`.

        Intervals come from the raw noisy values and exact quantiles of the noise, whatever adjustments were made after
        it: recentred on an adjusted value they would not cover.

        Parameters
        ----------
        level : float, default 0.95
            Probability with which each single interval covers, above 0 and below 1.

        Examples
        --------
        >>> import ggdp
        >>> noise = ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.disjoint(1), order=3)
        >>> release = ggdp.Mechanism(noise).release(1000.0)
        >>> bool(release.interval(0.999999).lower < 1000.0 < release.interval(0.999999).upper)
        True
        """
        return Interval(*self._noise("interval").law.intervals(self.noisy, level))

    def bias(self, true: ArrayLike | None = None) -> Any:  # noqa: ANN401 - a float or an array, as `true` is
        """Return the mean error at a hypothetical true value, or the largest in size over all of them.

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
        """All that a reader must know to use the values, as plain values fit for JSON.

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
        """Return the values as an array of your own, which may be written to."""
        return self.values.copy()

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas frame: a row a value, with its raw noisy value and its 95 % interval."""
        return frames.to_pandas(self)

    def to_polars(self) -> pl.DataFrame:
        """Return a polars frame: a row a value, with its raw noisy value and its 95 % interval."""
        return frames.to_polars(self)

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table: a row a value, with its raw noisy value and its 95 % interval."""
        return frames.to_arrow(self)

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
        return json.dumps(document, indent=indent, allow_nan=False, default=str)

    def plot(self) -> Figure:
        """Return a figure of the values with their 95 % intervals; needs the extra `plots`."""
        from ggdp.plots.releases import plot_release

        return plot_release(self)

    def __repr__(self) -> str:
        promise = "NOT PRIVATE: no guarantee" if self.guarantee is None else str(self.guarantee)
        count = "one value" if self.values.size == 1 else f"{self.values.size:,} values"
        first = ", ".join(str(value) for value in self.values.flat[:_SHOWN_VALUES].tolist())
        lines = [
            f"Release of {count}, {promise}",
            f"  made by: {self.mechanism}",
            *(f"  then: {step}" for step in self.adjustments),
            f"  values: {first}{', ...' if self.values.size > _SHOWN_VALUES else ''}",
        ]
        return "\n".join(lines)

    def _noise(self, asked: str) -> MechanismFacts:
        """Return the facts of a release of noisy values."""
        if not isinstance(self.mechanism, MechanismFacts):
            raise ArgumentError("release", str(self.mechanism), f"has no {asked}: no noise was added to a number")
        return self.mechanism

    def _error_law(self, asked: str) -> NoiseLaw:
        """Return the law of the errors of the values, if they are still those of the noise."""
        law = self._noise(asked).law
        changed = [str(step) for step in self.adjustments if step.name != "drop"]
        if changed:
            raise ArgumentError(
                "release",
                "adjusted by " + ", ".join(changed),
                f"the {asked} of adjusted values depends on all true values; ask the release before its adjustment, "
                "or use interval, which stays valid",
            )
        return law


def released(values: NDArray[Any], mechanism: Facts, guarantee: Guarantee | None) -> Release:
    """Return a release with its guarantee: for mechanisms alone, which have proved it."""
    return _promised(Release(values=values, mechanism=mechanism), guarantee)


def adjusted(
    release: Release,
    values: NDArray[Any],
    step: Adjustment,
    *,
    noisy: NDArray[Any] | None = None,
    mechanism: Facts | None = None,
) -> Release:
    """Return a release of post-processed values: of its guarantee what survives any post-processing is left.

    Where cells were left out, `noisy` and `mechanism` are those of the others.
    """
    result = Release(
        values=values,
        mechanism=release.mechanism if mechanism is None else mechanism,
        noisy=release.noisy if noisy is None else noisy,
        adjustments=(*release.adjustments, step),
    )
    return _promised(result, None if release.guarantee is None else release.guarantee.after_postprocessing())


def _promised(release: Release, guarantee: Guarantee | None) -> Release:
    object.__setattr__(release, "guarantee", guarantee)
    return release


def _read_only(values: NDArray[Any]) -> NDArray[Any]:
    view = np.asarray(values).view()
    view.setflags(write=False)
    return view
