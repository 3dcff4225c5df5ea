"""Statistics that are published beside the counts: means, sums, variances and quantiles of columns of numbers.

With a column of units, the rows of a unit in a cell are first made one value, by the rule `per_unit`. Values are
clamped to the public range of their column and rounded to its step (`ggdp.domain.value_range`).

A statistic that follows from the mean and the variance of a cell is a `MomentStatistic`: one class here, registered in
`STATISTICS`. docs/contributing/add-a-statistic.md adds one. This module is loaded for every ``--help``, so it imports
what estimates where it is used.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from attrs import field, frozen

from ggdp import _validate
from ggdp.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from ggdp.noise.generalized_gaussian import Floats
    from ggdp.sources.measures import PerUnit
    from ggdp.tables.statistics.estimates import Bounds, ColumnSums, Estimate
    from ggdp.tables.statistics.weighted_noise import SumNoise

_MOST_QUANTILES = 99
# Of `ggdp.mechanisms.quantiles`; names of published columns have as many digits.
_MOST_DENOMINATOR = 10**6


def _column(column: object) -> str:
    if not isinstance(column, str) or not column:
        raise ArgumentError("column", column, "must be the name of a column")
    return column


@frozen
class _ColumnStatistic:
    """What all statistics have: a column, and the rule by which the rows of a unit in a cell become one value."""

    column: str = field(converter=_column)
    rule: ClassVar[PerUnit] = "mean"
    squares: ClassVar[bool] = False  # whether squares of values are added up, too
    meaning: ClassVar[str | None] = None  # a sentence of the statement, where the name does not say enough

    @property
    def kind(self) -> str:
        """What is published, as in flags and the names of columns: a name of `STATISTICS`."""
        return type(self).__name__.lower()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the published columns, without those of the intervals."""
        return (f"{self.kind}_{self.column}",)


@frozen
class MomentStatistic(_ColumnStatistic, ABC):
    """A statistic that follows from the mean and the variance of the values of a cell.

    It is estimated from the noisy sums of its column: a pair, or a triple where `squares` is set.
    """

    most: ClassVar[float]  # the largest that it can be, for values as parts of the range
    degree: ClassVar[int] = 1  # twice the range makes it 2^degree times as large

    @classmethod
    @abstractmethod
    def of_moments(cls, mean: Floats, variance: Floats) -> Floats:
        """Return the statistic of values with these means and variances, without noise."""

    @classmethod
    @abstractmethod
    def parts(cls, column: ColumnSums, noise: SumNoise, level: float) -> tuple[Floats, Floats, Floats]:
        """Return estimates and the ends of their intervals, for values as parts of the range; NaN for null ones."""

    @classmethod
    def estimate(cls, column: ColumnSums, bounds: Bounds, noise: SumNoise, level: float = 0.95) -> Estimate:
        """Return the statistic of each cell with its interval, in the unit of the column; NaN where it is null.

        It is that of the values clamped to the range (`bounds`) and rounded to its steps.
        """
        import numpy as np

        from ggdp.tables.statistics.estimates import checked_range, scale_parts

        lo, hi = checked_range(bounds)
        factor = np.asarray(hi - lo) ** cls.degree
        if not ((factor > 0.0) & (factor < math.inf)).all():
            raise ArgumentError("bounds", bounds, "must have a distance whose square fits in a 64-bit float")
        return scale_parts(*cls.parts(column, noise, level), factor, cls.most)


@frozen
class Mean(MomentStatistic):
    """The mean of a column in each cell.

    Parameters
    ----------
    column : str
        The column; its public range is declared in the domain.

    Examples
    --------
    >>> Mean("age").names
    ('mean_age',)
    """

    most: ClassVar[float] = 1.0

    @classmethod
    def of_moments(cls, mean: Floats, variance: Floats) -> Floats:  # noqa: ARG003
        """Return the mean."""
        return mean

    @classmethod
    def parts(cls, column: ColumnSums, noise: SumNoise, level: float) -> tuple[Floats, Floats, Floats]:
        """Return means, for values as parts of the range."""
        from ggdp.tables.statistics.estimates import mean_parts

        return mean_parts(column, noise, level)

    @classmethod
    def estimate(cls, column: ColumnSums, bounds: Bounds, noise: SumNoise, level: float = 0.95) -> Estimate:
        """Return the mean of each cell, which moves with the range."""
        from ggdp.tables.statistics.estimates import place_in_range

        return place_in_range(*cls.parts(column, noise, level), bounds)


@frozen
class Sum(_ColumnStatistic):
    """The sum of a column in each cell.

    Parameters
    ----------
    column : str
        The column; its public range is declared in the domain.

    Examples
    --------
    >>> Sum("income").names
    ('sum_income',)
    """

    rule: ClassVar[PerUnit] = "sum"


@frozen
class Variance(MomentStatistic):
    """The variance of a column in each cell: the mean squared distance from the mean of the cell.

    Parameters
    ----------
    column : str
        The column; its public range is declared in the domain.

    Examples
    --------
    >>> Variance("age").names
    ('variance_age',)
    """

    squares: ClassVar[bool] = True
    meaning: ClassVar[str | None] = "A variance is the mean squared distance from the mean of the cell."
    most: ClassVar[float] = 0.25
    degree: ClassVar[int] = 2

    @classmethod
    def of_moments(cls, mean: Floats, variance: Floats) -> Floats:  # noqa: ARG003
        """Return the variance."""
        return variance

    @classmethod
    def parts(cls, column: ColumnSums, noise: SumNoise, level: float) -> tuple[Floats, Floats, Floats]:
        """Return variances, for values as parts of the range."""
        from ggdp.tables.statistics.estimates import variance_parts

        return variance_parts(column, noise, level)


def _fractions(fractions: object) -> tuple[float, ...]:
    given = [fractions] if isinstance(fractions, int | float) else _validate.non_empty(fractions=fractions)
    found = []
    for fraction in given:
        number = _validate.finite(fractions=fraction)
        if not 0.0 < number < 1.0:
            raise ArgumentError("fractions", fraction, "must be above 0 and below 1, such as 0.5 for the median")
        if (Fraction(repr(number)) * _MOST_DENOMINATOR).denominator != 1:
            raise ArgumentError("fractions", fraction, "must have at most six decimal digits")
        found.append(number)
    if len(found) > _MOST_QUANTILES:
        raise ArgumentError("fractions", f"{len(found)} of them", f"must be at most {_MOST_QUANTILES}")
    if len(set(found)) < len(found):
        raise ArgumentError("fractions", list(given), "names a fraction twice")
    return tuple(sorted(found))


@frozen
class Quantile(_ColumnStatistic):
    """Quantiles of a column in each cell.

    Parameters
    ----------
    column : str
        The column; its public range is declared in the domain.
    fractions : float or sequence of float
        Which quantiles, each above 0 and below 1; 0.5 is the median.

    Examples
    --------
    >>> Quantile("income", [0.25, 0.5, 0.75]).names
    ('quantile_income_0.25', 'quantile_income_0.5', 'quantile_income_0.75')
    """

    fractions: tuple[float, ...] = field(converter=_fractions)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the published columns, without those of the intervals."""
        return tuple(f"{self.kind}_{self.column}_{fraction:g}" for fraction in self.fractions)

    @property
    def exact_fractions(self) -> tuple[Fraction, ...]:
        """The fractions as the decimals that they are written as."""
        return tuple(Fraction(repr(fraction)) for fraction in self.fractions)


Statistic: TypeAlias = MomentStatistic | Sum | Quantile
# Those of all tables of a request, or one tuple for each table.
Statistics: TypeAlias = tuple[Statistic, ...] | tuple[tuple[Statistic, ...], ...]
# By the names that flags, files, manifests and published columns have.
STATISTICS: dict[str, type[Any]] = {kind.__name__.lower(): kind for kind in (Mean, Sum, Variance, Quantile)}


def published_names(statistic: Statistic) -> tuple[str, ...]:
    """Return the names of all published columns of a statistic: each value, then its interval."""
    return tuple(name + end for name in statistic.names for end in ("", "_lower", "_upper"))


def describe(statistic: Statistic | Statistics) -> Any:  # noqa: ANN401 - a mapping, or lists of them
    """Return a statistic, or several, as plain values, ready for JSON."""
    if isinstance(statistic, tuple):
        return [describe(one) for one in statistic]
    found: dict[str, Any] = {"kind": statistic.kind, "column": statistic.column}
    return found | ({"fractions": list(statistic.fractions)} if isinstance(statistic, Quantile) else {})


def statistic_from(plain: Any) -> Any:  # noqa: ANN401 - as `describe` has it
    """Return the statistic, or the tuple of them, that `describe` wrote."""
    if isinstance(plain, list):
        return tuple(map(statistic_from, plain))
    return STATISTICS[plain["kind"]](**{name: plain[name] for name in plain if name != "kind"})


def checked_statistics(statistics: object) -> Statistics:
    """Return statistics, each requested once; or a tuple for each table, from a list of lists."""
    given: Sequence[Any] = () if statistics is None else [statistics]
    if isinstance(statistics, Iterable) and not isinstance(statistics, str | bytes):
        given = tuple(statistics)
    if given and all(one is None or isinstance(one, list | tuple) for one in given):
        return tuple(_each_once(one or ()) for one in given)
    return _each_once(given)


def _each_once(given: Sequence[Any]) -> tuple[Statistic, ...]:
    for statistic in given:
        if not isinstance(statistic, Statistic):
            expected = (
                'must be statistics, such as [ggdp.Mean("age"), ggdp.Sum("income")], or a list of them for each table'
            )
            raise ArgumentTypeError("statistics", statistic, expected)
    names = [name for statistic in given for name in statistic.names]
    drawn = [statistic.column for statistic in given if isinstance(statistic, Quantile)]
    for asked, said in ((names, "is requested twice"), (drawn, "give all quantiles of a column together, in one list")):
        if twice := [name for name in asked if asked.count(name) > 1]:
            raise ArgumentError("statistics", twice[0], said)
    return tuple(given)
