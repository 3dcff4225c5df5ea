"""Statistics that are published beside the counts: means, sums, variances and quantiles of columns of numbers.

With a column of units, the rows of a unit in a cell are first made one value, by the rule `per_unit`. Values are
clamped to the public range of their column and rounded to its step (`ggdp.domain.value_range`).

A statistic that follows from the mean and the variance of a cell is a `MomentStatistic`: one class here, registered in
`STATISTICS`. docs/contributing/add-a-statistic.md adds one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, cast, get_args

from attrs import field, frozen

from ggdp import _validate
from ggdp.errors import ArgumentError, ArgumentTypeError
from ggdp.sources.measures import PerUnit
from ggdp.tables.statistics.estimates import mean_estimate, mean_parts, variance_estimate, variance_parts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ggdp.noise.generalized_gaussian import Floats
    from ggdp.tables.statistics.estimates import ColumnSums, Estimate
    from ggdp.tables.statistics.weighted_noise import WeightedNoise

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

    @classmethod
    @abstractmethod
    def of_moments(cls, mean: Floats, variance: Floats) -> Floats:
        """Return the statistic of values with these means and variances, without noise."""

    @classmethod
    @abstractmethod
    def parts(cls, column: ColumnSums, noise: WeightedNoise, level: float) -> tuple[Floats, Floats, Floats]:
        """Return estimates and the ends of their intervals, for values as parts of the range; NaN for null ones."""

    @classmethod
    @abstractmethod
    def factor(cls, width: float) -> float:
        """Return what 1 in a length of `parts` is worth, for a range of this width."""

    @classmethod
    @abstractmethod
    def estimate(cls, column: ColumnSums, bounds: tuple[float, float], noise: WeightedNoise) -> Estimate:
        """Return the statistic of each cell with its 95% interval, in the unit of the column."""


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

    @classmethod
    def of_moments(cls, mean: Floats, variance: Floats) -> Floats:  # noqa: ARG003
        """Return the mean."""
        return mean

    @classmethod
    def parts(cls, column: ColumnSums, noise: WeightedNoise, level: float) -> tuple[Floats, Floats, Floats]:
        """Return means, for values as parts of the range."""
        return mean_parts(column, noise, level)

    @classmethod
    def factor(cls, width: float) -> float:
        """Return the width."""
        return width

    @classmethod
    def estimate(cls, column: ColumnSums, bounds: tuple[float, float], noise: WeightedNoise) -> Estimate:
        """Return the mean of each cell."""
        return mean_estimate(column, bounds, noise)


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

    @classmethod
    def of_moments(cls, mean: Floats, variance: Floats) -> Floats:  # noqa: ARG003
        """Return the variance."""
        return variance

    @classmethod
    def parts(cls, column: ColumnSums, noise: WeightedNoise, level: float) -> tuple[Floats, Floats, Floats]:
        """Return variances, for values as parts of the range."""
        return variance_parts(column, noise, level)

    @classmethod
    def factor(cls, width: float) -> float:
        """Return the square of the width."""
        return width**2

    @classmethod
    def estimate(cls, column: ColumnSums, bounds: tuple[float, float], noise: WeightedNoise) -> Estimate:
        """Return the variance of each cell."""
        return variance_estimate(column, bounds, noise)


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
# By the names that flags, files, manifests and published columns have.
STATISTICS: dict[str, type[Any]] = {kind.__name__.lower(): kind for kind in (Mean, Sum, Variance, Quantile)}


def published_names(statistic: Statistic) -> tuple[str, ...]:
    """Return the names of all published columns of a statistic: each value, then its interval.

    Examples
    --------
    >>> published_names(Mean("age"))
    ('mean_age', 'mean_age_lower', 'mean_age_upper')
    """
    return tuple(name + end for name in statistic.names for end in ("", "_lower", "_upper"))


def described(statistic: Statistic) -> dict[str, Any]:
    """Return a statistic as plain values, ready for JSON."""
    found: dict[str, Any] = {"kind": statistic.kind, "column": statistic.column}
    return found | ({"fractions": list(statistic.fractions)} if isinstance(statistic, Quantile) else {})


def statistic_from(plain: Mapping[str, Any]) -> Statistic:
    """Return the statistic that `described` wrote."""
    return cast("Statistic", STATISTICS[plain["kind"]](**{name: plain[name] for name in plain if name != "kind"}))


def checked_statistics(statistics: object) -> tuple[Statistic, ...]:
    """Return statistics, each requested once."""
    if statistics is None:
        return ()
    given: Sequence[Any] = [statistics]
    if isinstance(statistics, Iterable) and not isinstance(statistics, str | bytes):
        given = tuple(statistics)
    for statistic in given:
        if not isinstance(statistic, Statistic):
            raise ArgumentTypeError(
                "statistics", statistic, 'must be statistics, such as [ggdp.Mean("age"), ggdp.Sum("income")]'
            )
    names = [name for statistic in given for name in statistic.names]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError("statistics", name, "is requested twice")
    if sum(isinstance(statistic, Quantile) for statistic in given) > len(
        {statistic.column for statistic in given if isinstance(statistic, Quantile)}
    ):
        raise ArgumentError("statistics", _twice(given), "give all quantiles of a column together, in one list")
    return tuple(given)


def _twice(statistics: Sequence[Statistic]) -> str:
    """Return the first column with quantiles that are not in one list."""
    columns = [statistic.column for statistic in statistics if isinstance(statistic, Quantile)]
    return next(column for column in columns if columns.count(column) > 1)


def checked_per_unit(rule: object) -> PerUnit | None:
    """Return the rule by which the rows of a unit become one value; None for the default of each statistic."""
    if rule is None:
        return None
    return cast("PerUnit", _validate.choice(per_unit=rule, among=get_args(PerUnit)))
