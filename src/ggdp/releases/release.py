"""A release: noisy values, their guarantee, how they were made, and the manifest that says so.

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

Its manifest has the goal, the guarantee, the mechanism, and a paragraph for readers. Nothing in it is computed from the
data except through the mechanism. Its shape is fixed by a JSON Schema that is shipped beside this module and named in
every manifest, with a version that grows when the shape changes.

A ledger records a release before it exists: the mechanism, and the statement of the manifest.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from attrs import field, frozen
from attrs.converters import optional
from flint import arb
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ggdp import _validate
from ggdp._balls import BALLS, upper_float, working_precision
from ggdp._rounding import rounded_text, rounded_up_text
from ggdp.accounting.composition import SCHEMA
from ggdp.errors import ArgumentError, MissingExtraError
from ggdp.ledger.charging import ChargeRequest
from ggdp.privacy import Guarantee, Neighbours
from ggdp.releases.error_law import ErrorLaw, JointLaw, VectorErrorLaw
from ggdp.releases.mechanism_record import LEVEL, MechanismRecord, NoiseRecord, Threshold, thresholded_intervals

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.figure import Figure

    from ggdp.ledger import EntryReference
    from ggdp.proofs.losses import CountedLoss
    from ggdp.releases.adjustments import Adjustment


class Interval(NamedTuple):
    """Ends of intervals, each an array in the shape of the values."""

    lower: NDArray[Any]
    upper: NDArray[Any]


def seal(values: NDArray[Any]) -> NDArray[Any]:
    """Return the values as an array that cannot be made writable, nor can any array behind it; nothing is copied.

    NumPy lets a read-only array be made writable again where what holds its memory is writable. A memory view that is
    read-only never is.
    """
    array = np.ascontiguousarray(values).reshape(np.shape(values))
    dtype = array.dtype
    # Memory views know no dates.
    plain: Any = array.view(np.int64) if dtype.kind in "mM" else array
    return np.asarray(memoryview(plain).toreadonly()).view(dtype)


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

    values: NDArray[Any] = field(converter=seal)
    mechanism: MechanismRecord
    noisy: NDArray[Any] = field(default=None, converter=optional(seal))
    adjustments: tuple[Adjustment, ...] = ()
    places: NDArray[np.intp] | None = field(default=None, converter=optional(seal))
    guarantee: Guarantee | None = field(init=False, default=None)
    entry: EntryReference | None = field(init=False, default=None)

    def __attrs_post_init__(self) -> None:
        if self.noisy is None:
            object.__setattr__(self, "noisy", self.values)

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies and unpickled releases are made like any other, so that their arrays are sealed too.
        noisy = None if self.noisy is self.values else self.noisy
        stated = (self.values, self.mechanism, self.guarantee, self.entry)
        return make_release, (*stated, noisy, self.adjustments, self.places)

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
        return self.mechanism.law.order if isinstance(self.mechanism, NoiseRecord) else None

    @property
    def scale(self) -> float | None:
        """Scale of the noise in the unit of the data; None for a selection."""
        return self.mechanism.scale if isinstance(self.mechanism, NoiseRecord) else None

    def interval(self, level: float = LEVEL, *, simultaneous: bool = False) -> Interval:
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
        simultaneous : bool, default False
            Whether all intervals together cover with this probability.

        Examples
        --------
        >>> import ggdp
        >>> noise = ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.disjoint(1), order=3)
        >>> release = ggdp.Mechanism(noise).release(1000.0)
        >>> bool(release.interval(0.999999).lower < 1000.0 < release.interval(0.999999).upper)
        True
        """
        record, single = self._noise("interval"), self.single_level(level)
        if _validate.boolean(simultaneous=simultaneous):
            if isinstance(record.law, VectorErrorLaw):
                return Interval(*record.law.intervals(self.noisy, level, simultaneous=True))
            single = self.single_level(level, least=self.noisy.size)
        if record.threshold is not None and record.law.step is not None:
            said = "are noisy sums, of which some chose the cells by their noise; use the intervals of the tables"
            raise ArgumentError("release", "of sums", said)
        if record.threshold is not None:
            return Interval(*thresholded_intervals(record.law, record.threshold, self.noisy, single))
        return Interval(*record.law.intervals(self.noisy, single))

    def single_level(self, level: float, *, least: int = 1) -> float:
        """Return the level of each single interval: more than `level` where cells were left out by their noisy values.

        With n cells before that choice, whose noise is independent, intervals of level^(1/n) cover all of them together
        with probability `level`, and so any that are chosen among them. Where it is not independent, each may miss with
        a probability of (1 - level)/n. With `least`, all of at least so many cells. Rounding: up.
        """
        number = _validate.probability(level=level)
        cells = next((dict(step.parameters)["of"] for step in self.adjustments if step.chosen_by_values), 1)
        cells = max(cells, least)
        if cells <= 1 or number == 0.0:
            return number
        dependent = isinstance(self.mechanism, NoiseRecord) and not isinstance(self.mechanism.law, ErrorLaw)
        # More than twice the bits of a float.
        with BALLS, working_precision(128):
            single = 1 - (1 - arb(number)) / cells if dependent else arb(number) ** (1 / arb(cells))
            return min(upper_float(single), math.nextafter(1.0, 0.0))

    def bias(self, true: ArrayLike | None = None) -> Any:  # noqa: ANN401 - a float or an array, as `true` is
        """Return the mean error at hypothetical true values, or the largest in absolute value over all of them.

        Do not pass the real ones: what is computed from these is not private.
        """
        return self._error_law("bias").bias(true)

    def standard_error(self, true: ArrayLike | None = None) -> Any:  # noqa: ANN401
        """Return the standard deviation at hypothetical true values, or the largest over all of them.

        Do not pass the real ones: what is computed from these is not private.
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
        return require_module("pandas").DataFrame({name: column.copy() for name, column in columns(self).items()})

    def to_polars(self) -> pl.DataFrame:
        """Return a polars frame with a row for each value, its raw noisy value and its 95 % interval."""
        return require_module("polars").DataFrame(columns(self))

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table with a row for each value, its raw noisy value and its 95 % interval."""
        return require_module("pyarrow").table(columns(self))

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
            expected = "JSON has no infinite numbers; clip the release first"
            raise ArgumentError("release", "not finite", expected) from None

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
        first = ", ".join(str(value) for value in self.values.flat[:6].tolist())
        steps = "".join(f"\n  then: {step}" for step in self.adjustments)
        more = ", ..." if self.values.size > 6 else ""
        return f"Release of {count}, {guarantee}\n  made by: {self.mechanism}{steps}\n  values: {first}{more}"

    def _noise(self, quantity: str) -> NoiseRecord:
        """Return the record of a release of noisy values."""
        if not isinstance(self.mechanism, NoiseRecord):
            raise ArgumentError("release", str(self.mechanism), f"has no {quantity}: no noise was added to a number")
        return self.mechanism

    def _error_law(self, quantity: str) -> ErrorLaw | VectorErrorLaw | JointLaw:
        """Return the law of the errors of the values, if they are still those of the noise."""
        record = self._noise(quantity)
        if record.threshold is not None:
            expected = (
                f"the {quantity} of a cell depends on its true count if other cells are omitted; use interval, which "
                "stays valid"
            )
            raise ArgumentError("release", f"of {record.threshold}", expected)
        changed = [str(step) for step in self.adjustments if step.name != "drop" or step.chosen_by_values]
        if changed:
            expected = (
                f"the {quantity} of adjusted values depends on all true values; use the release before its adjustment, "
                "or use interval, which stays valid"
            )
            raise ArgumentError("release", "adjusted by " + ", ".join(changed), expected)
        return record.law


def make_release(
    values: NDArray[Any],
    mechanism: MechanismRecord,
    guarantee: Guarantee | None,
    entry: EntryReference | None = None,
    noisy: NDArray[Any] | None = None,
    adjustments: tuple[Adjustment, ...] = (),
    places: NDArray[np.intp] | None = None,
) -> Release:
    """Return a release with its guarantee. Only for mechanisms, which have proved it."""
    release = Release(values=values, mechanism=mechanism, noisy=noisy, adjustments=adjustments, places=places)
    object.__setattr__(release, "guarantee", guarantee)
    return charged_to(release, entry)


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
    noisy, places, kept = release.noisy, release.places, release.guarantee
    if left is not None:
        noisy = noisy.reshape(-1)[left]
        places = np.flatnonzero(left) if places is None else places[left]
    guarantee = kept if kept is None or marginal else kept.after_postprocessing()
    steps = (*release.adjustments, step)
    return make_release(values, mechanism or release.mechanism, guarantee, release.entry, noisy, steps, places)


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


def require_module(name: str) -> Any:  # noqa: ANN401 - a module
    """Return a module that a frame needs; the error says how to install it."""
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError(f"this needs {name}: pip install {name}") from None


class Wording(NamedTuple):
    """Words used in a statement."""

    protected: str = "one person's records"  # the protected unit: what one of two neighbours lacks
    first: str = ""  # first sentence of the statement
    true: str = "the true ones"  # what noisy values are compared with
    tables: tuple[str, ...] = ()  # names of the tables, where these have noise of their own
    complete: tuple[str, ...] = ()  # where cells below a threshold are left out: the tables of which none is
    noise: str = ""  # sentences on the noise and its error, where what is published is not the noisy values themselves


PLAIN = Wording()


def manifest_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of manifests.

    Examples
    --------
    >>> manifest_schema()["properties"]["schema"]["const"]
    'ggdp-release-manifest/1'
    """
    schema: dict[str, Any] = json.loads(files("ggdp.releases").joinpath("manifest.schema.json").read_text("utf-8"))
    return schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """What a manifest says of a release, which is known before there are values: all but how many there are."""

    mechanism: MechanismRecord
    guarantee: Guarantee | None
    adjustments: tuple[Adjustment, ...] = ()
    entry: EntryReference | None = None
    shape: tuple[int, ...] = ()  # of the values
    kind: str = "integer"  # what a value is: "integer", "number" or "label"
    level: float = LEVEL  # of each single interval (`ggdp.Release.single_level`)


def manifest_of(
    release: Release | Described, wording: Wording = PLAIN, error: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the manifest of a release; `error` is its errors where they are known already."""
    if not isinstance(release, Described):
        release = Described(
            mechanism=release.mechanism,
            guarantee=release.guarantee,
            adjustments=release.adjustments,
            entry=release.entry,
            shape=release.values.shape,
            kind={"i": "integer", "u": "integer", "f": "number"}.get(release.values.dtype.kind, "label"),
            level=release.single_level(LEVEL),
        )
    mechanism = release.mechanism
    if error is None and isinstance(mechanism, NoiseRecord):
        error = _errors(release, mechanism)
    return {
        "schema": SCHEMA,
        "ggdp": version("ggdp"),
        "private": release.guarantee is not None,
        "guarantee": None if release.guarantee is None else release.guarantee.to_dict(),
        "goal": mechanism.goal.under(mechanism.neighbours).to_dict(),
        "neighbours": mechanism.neighbours,
        "sensitivity": mechanism.sensitivity,
        "mechanism": mechanism.to_dict(),
        "losses": [counted.to_dict() for counted in mechanism.losses],
        "error": error,
        "adjustments": [step.to_dict() for step in release.adjustments],
        "values": {"shape": list(release.shape), "type": release.kind},
        **({} if release.entry is None else {"ledger": release.entry.to_dict()}),
        "statement": statement_of(release, wording, error),
    }


def _errors(release: Described, mechanism: NoiseRecord) -> dict[str, Any]:
    """Return the worst-case errors of the raw noisy values, before any adjustment."""
    law = mechanism.law
    # Of every single cell where some are left out by a threshold, whatever is chosen among the others.
    level = release.level if mechanism.threshold is None else LEVEL
    return {
        "bias": law.bias(),
        "standard_error": law.standard_error(),
        "root_mean_square_error": law.root_mean_square_error(),
        "level": LEVEL,
        # A true value is up to half a step away from where its noise begins.
        "half_width": law.half_width(level) + 0.5 * (law.step or 0.0),
    }


def _noise_sentences(release: Described, mechanism: NoiseRecord, wording: Wording, error: Mapping[str, Any]) -> str:
    """Return sentences on the error of the noise, around true values after clamping, and on cells left out."""
    law, true, threshold = mechanism.law, wording.true, mechanism.threshold
    size = f"at most {rounded_up_text(error['root_mean_square_error'])}"
    if law.step is None and error["root_mean_square_error"] < 0.001:
        size = "below 0.001"
    omitted = ""
    if threshold is None:
        added = "every value"
        if wording.tables:
            added += f" of {' and of '.join(wording.tables)}"
        values = "raw noisy values" if release.adjustments else "values"
        chosen = any(step.chosen_by_values for step in release.adjustments)
        share = f"with a probability of {LEVEL:.0%} all {values}" if chosen else f"{LEVEL:.0%} of the {values}"
        if law.bounds is not None or mechanism.query_bounds is not None:
            true += ", clamped to the bounds"
        elif law.clamp is not None:
            true += f", clamped to at most {rounded_text(law.clamp * (law.step or 1))} in absolute value"
    else:
        every = "every key that occurs" if threshold.cells is None else "every cell"
        if wording.complete:
            is_or_are = "is" if len(wording.complete) == 1 else "are"
            every = f"every cell of {' and of '.join(wording.complete)}, which {is_or_are} complete, and of {every}"
        added, share = f"the count of {every}", f"{LEVEL:.0%} of all noisy counts"
        omitted = f" {left_out(threshold, wording.complete)}"
    return (
        f"{mechanism.name[0].upper()}{mechanism.name[1:]} noise was added to {added}: its root mean square error "
        f"is {size}, and {share} are within {rounded_up_text(error['half_width'], 6)} of {true}.{omitted}"
    )


def left_out(threshold: Threshold, complete: Sequence[str]) -> str:
    """Return sentences on what a threshold omits, beside tables that are complete, and what that does to counts."""
    said = threshold.in_words()
    return (
        f"{f'In the other tables: {said[0].lower()}{said[1:]}' if complete else said} Counts that are shown tend to be "
        "too large where they are near the threshold; the intervals allow for it."
    )


def _may_be_negative(release: Described, mechanism: NoiseRecord, wording: Wording) -> bool:
    """Return whether a published value can be below 0."""
    bounds = mechanism.law.bounds
    if mechanism.threshold is not None and not wording.complete:
        return False
    if bounds is not None and min(low for low, _ in bounds) >= 0.0:
        return False
    for step in release.adjustments:
        lower = dict(step.parameters).get("lower")
        if step.name == "project" or ("nonnegative", True) in step.parameters or (lower is not None and lower >= 0.0):
            return False
    return True


def statement_of(release: Described, wording: Wording, error: Mapping[str, Any] | None = None) -> str:
    """Return a paragraph for publication: who is protected, how much, and how large the errors are."""
    mechanism, guarantee = release.mechanism, release.guarantee
    sentences = [wording.first] if wording.first else []
    if guarantee is None:
        sentences.append("These values are NOT private: they carry no guarantee, since their noise can be reproduced.")
    else:
        change = {
            "add-remove": f"adding or removing {wording.protected}",
            "replace-one": f"replacing {wording.protected} with any other",
        }[mechanism.neighbours]
        factor, delta = f"e^{rounded_up_text(guarantee.epsilon)}", rounded_up_text(guarantee.delta)
        if guarantee.epsilon < 20.0:
            factor += f" = {rounded_up_text(math.exp(guarantee.epsilon))}"
        results, slack = {
            "pure": ("every result", ""),
            "probabilistic": ("the result", f", except with a probability of at most {delta}"),
            "approximate": ("every set of results", f", plus at most {delta}"),
        }[guarantee.notion]
        sentences.append(
            f"These values are published under differential privacy: {change} changes the probability of {results} by "
            f"a factor of at most {factor}{slack} ({guarantee})."
        )
    if wording.noise:
        sentences.append(wording.noise)
    elif isinstance(mechanism, NoiseRecord):
        for tables, part in mechanism.parts:
            names = tuple(wording.tables[table] if wording.tables else f"table {table + 1}" for table in tables)
            named = wording._replace(tables=names)
            sentences.append(_noise_sentences(release, part, named, _errors(release, part)))
        if not mechanism.parts:
            sentences.append(_noise_sentences(release, mechanism, wording, error or _errors(release, mechanism)))
        if _may_be_negative(release, mechanism, wording):
            fitted = any(step.name in ("normalise", "project", "fit_total") for step in release.adjustments)
            sums = "" if fitted else ", and parts may not add up to their totals"
            sentences.append(f"Because of the noise, values may be negative{sums}.")
    else:
        sentences.append(
            f"One of {mechanism.candidates - mechanism.excluded:,} candidates was drawn at random, better ones with a "
            "larger probability; it is not necessarily the best."
        )
    if release.adjustments:
        steps = "; ".join(step.in_words() for step in release.adjustments)
        sentences.append(f"The noisy values were then adjusted, without using the data again: {steps}.")
    return " ".join(sentences)


def charge_of(record: MechanismRecord, guarantee: Guarantee) -> ChargeRequest:
    """Return what a release of a mechanism asks a ledger for, without the certificate, which its noise implies."""
    mechanism = {name: value for name, value in record.to_dict().items() if name != "certificate"}
    return ChargeRequest(
        guarantee=guarantee,
        losses=record.losses,
        request={"sensitivity": record.sensitivity, **mechanism},
        statement=statement_of(Described(mechanism=record, guarantee=guarantee), PLAIN),
    )
