"""Flags for statistics beside the counts: which ones, of which columns, in which public ranges."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from ggdp import _validate
from ggdp.cli.query import numbers_of
from ggdp.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ggdp.tables.domain import Domain
    from ggdp.tables.statistics import Statistic

# The words of `ggdp.tables.statistics`, which is too heavy to load before it is needed.
PerUnitName: TypeAlias = Literal["sum", "mean", "min", "max"]

MeanOf = Annotated[
    list[str] | None, typer.Option(metavar="COL", help="Publish the mean of a column in each cell; needs its range.")
]
SumOf = Annotated[
    list[str] | None,
    typer.Option("--sum", metavar="COL", help="Publish the sum of a column in each cell; needs its range."),
]
VarianceOf = Annotated[
    list[str] | None,
    typer.Option(metavar="COL", help="Publish the variance of a column in each cell; needs its range."),
]
QuantileOf = Annotated[
    list[str] | None,
    typer.Option(metavar="COL=Q[,Q...]", help="Publish quantiles of a column (income=0.25,0.5,0.75); needs its range."),
]
Range = Annotated[
    list[str] | None,
    typer.Option(
        "--range",
        metavar="COL=LO:HI[:STEP]",
        help="Public range of a column of numbers (income=0:200000); values outside are clamped to it.",
    ),
]
PerUnit = Annotated[
    PerUnitName | None,
    typer.Option(help="With --unit: how the rows of a unit in a cell become one value; sum for --sum, else mean."),
]
Weight = Annotated[
    list[str] | None,
    typer.Option(metavar="COL=W", help="Weight of a column among the statistics: twice the weight, half the noise."),
]


def statistics_of(
    means: Sequence[str] | None,
    sums: Sequence[str] | None,
    variances: Sequence[str] | None,
    quantiles: Sequence[str] | None,
) -> list[Statistic]:
    """Return the statistics that flags ask for, in the order of the flags."""
    from ggdp.tables.statistics import Mean, Quantile, Sum, Variance

    found: list[Statistic] = []
    for kind, columns in ((Mean, means), (Sum, sums), (Variance, variances)):
        found += [kind(column) for column in columns or ()]
    fractions: dict[str, list[float]] = {}
    for text in quantiles or ():
        column, values = _split("--quantile", text, "COL=0.5")
        with _typed("--quantile", text):
            # Each flag is checked by itself, so that an error shows it.
            Quantile(column, numbers_of("--quantile", values))
        fractions.setdefault(column, []).extend(numbers_of("--quantile", values))
    return found + [Quantile(column, values) for column, values in fractions.items()]


def flags_of(
    means: Sequence[str] | None,
    sums: Sequence[str] | None,
    variances: Sequence[str] | None,
    quantiles: Sequence[str] | None,
) -> dict[str, str]:
    """Return the flags that name each column, and each published value, as they are typed.

    Examples
    --------
    >>> flags_of(["age"], None, ["age"], None)
    {'age': '--mean, --variance', 'mean_age': '--mean', 'variance_age': '--variance'}
    """
    found: dict[str, str] = {}
    named = [text.rpartition("=")[0].strip() for text in quantiles or ()]
    for kind, columns in (("mean", means), ("sum", sums), ("variance", variances), ("quantile", named)):
        for column in dict.fromkeys(columns or ()):
            found[column] = f"{found[column]}, --{kind}" if column in found else f"--{kind}"
            found[f"{kind}_{column}"] = f"--{kind}"
    return found


def require_columns_or_statistics(marginals: Sequence[Sequence[str]], statistics: Sequence[Statistic]) -> None:
    """Raise if there is nothing to publish."""
    if not marginals and not statistics:
        raise typer.BadParameter("name columns to count by, or a statistic, such as --mean COL", param_hint="'--by'")


def with_ranges(domain: Domain, ranges: Sequence[str] | None) -> Domain:
    """Return a domain with the ranges of flags."""
    from ggdp.tables.column import Column
    from ggdp.tables.domain import Domain
    from ggdp.tables.value_range import ValueRange

    declared: dict[str, dict[str, Any]] = {column.name: column.arguments() for column in domain}
    for text in ranges or ():
        column, values = _split("--range", text, "COL=0:100")
        parts = values.split(":")
        if len(parts) not in (2, 3):
            raise ArgumentError("--range", text, "must be COL=LOW:HIGH or COL=LOW:HIGH:STEP, such as income=0:200000")
        arguments = declared.setdefault(column, {"name": column})
        if arguments.get("range") is not None:
            raise ArgumentError(
                "--range", text, f"{column!r} already has a range, in the domain or by another flag; keep one"
            )
        with _typed("--range", text):
            arguments["range"] = ValueRange(*(part.strip() for part in parts))
    return Domain([Column(**arguments) for arguments in declared.values()], domain.impossible)


def weights_of(weights: Iterable[str] | None) -> dict[str, float] | None:
    """Return the weights of columns."""
    found: dict[str, float] = {}
    for text in weights or ():
        column, value = _split("--weight", text, "COL=2")
        if column in found:
            raise ArgumentError("--weight", text, f"{column!r} already has a weight; keep one")
        with _typed("--weight", text):
            found[column] = _validate.positive(weight=numbers_of("--weight", value)[0])
        if "," in value:
            raise ArgumentError("--weight", text, "must be one number: COL=2")
    return found or None


@contextmanager
def _typed(flag: str, text: str) -> Iterator[None]:
    """Make errors show a flag with its value as it is typed."""
    try:
        yield
    except ArgumentError as refused:
        part = refused.value if isinstance(refused.value, str) else ""
        said = f"{part!r} {refused.expected}" if part and text.partition("=")[2] != part else refused.expected
        raise ArgumentError(flag, text, said) from None


def _split(flag: str, text: str, example: str) -> tuple[str, str]:
    """Return the column and the value of a flag; a name may have equals signs in it, a value has none."""
    column, sign, value = text.rpartition("=")
    if not sign or not column.strip():
        raise ArgumentError(flag, text, f"must be a column, '=' and its value: {example}")
    return column.strip(), value
