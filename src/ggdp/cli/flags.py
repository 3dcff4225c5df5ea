"""Flags of a goal and of a sensitivity, shared by the commands.

Flags shared by the commands on tables, which name and declare columns, and errors that name flags.

Flags for statistics beside the counts: which ones, of which columns, in which public ranges.

Flags and steps shared by the commands that spend a budget: ``ggdp release`` and ``ggdp range``.
"""

from __future__ import annotations

import csv
import io
import re
import shlex
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from ggdp import _validate
from ggdp.cli.output import print_json, print_table, say
from ggdp.errors import ArgumentError, BudgetExceededError, GgdpError, LedgerError
from ggdp.privacy import ApproxDP, Neighbours, Notion, ProbabilisticDP, PureDP, Sensitivity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ggdp.domain.table_domain import Domain
    from ggdp.privacy import Guarantee
    from ggdp.tables import TablePlan
    from ggdp.tables.statistics import Statistic


# The words of `ggdp.calibration.calibration`, which is too heavy to load before it is needed.
Support: TypeAlias = Literal["real", "integer"]

Epsilon = Annotated[float, typer.Option(help="Epsilon of the goal.")]
Delta = Annotated[float | None, typer.Option(help="Delta of the goal.")]
NotionFlag = Annotated[
    Notion | None, typer.Option(help="Notion of privacy; by default pure without --delta and approximate with it.")
]
Size = Annotated[float | None, typer.Option(help="Largest change of one coordinate (default: 1).")]
Box = Annotated[str | None, typer.Option(metavar="D1,D2,...", help="Largest change of each coordinate.")]
MaxCells = Annotated[
    int | None,
    typer.Option(help="Most cells that one unit is in; under replace-one, twice as many cells move."),
]
NeighboursFlag = Annotated[Neighbours, typer.Option(help="Which data sets are neighbours.")]
SupportFlag = Annotated[Support, typer.Option(help="Support of the noise.")]


def goal_of(epsilon: float, delta: float | None, notion: str | None) -> Guarantee:
    """Return the goal that the flags describe."""
    notion = notion or ("pure" if delta is None else "approximate")
    if notion == "pure":
        if delta:
            raise ArgumentError("delta", delta, "a pure goal has no delta; leave it out or choose another notion")
        return PureDP(epsilon)
    if delta is None:
        raise ArgumentError("delta", delta, f"is required for {notion} DP")
    return ProbabilisticDP(epsilon, delta) if notion == "probabilistic" else ApproxDP(epsilon, delta)


def sensitivity_of(
    sensitivity: float | None, box: str | None, max_cells: int | None, neighbours: Neighbours
) -> Sensitivity:
    """Return the sensitivity that the flags describe."""
    if box is not None:
        if sensitivity is not None or max_cells is not None:
            raise ArgumentError("box", box, "cannot be combined with --sensitivity or --max-cells")
        sizes = [_validate.positive(box=size) for size in numbers_of("box", box)]
        return Sensitivity.box(sizes, neighbours=neighbours)
    size = 1.0 if sensitivity is None else _validate.positive(sensitivity=sensitivity)
    if max_cells is None:
        return Sensitivity.disjoint(size, neighbours=neighbours)
    moving = Sensitivity.histogram(neighbours, max_cells).moving
    return Sensitivity.cells(moving, size, neighbours=neighbours)


def numbers_of(name: str, text: str, separator: str = ",") -> list[float]:
    """Return the numbers of a flag."""
    try:
        return [float(part) for part in text.split(separator)]
    except ValueError:
        raise ArgumentError(name, text, f"must be numbers separated by {separator!r}") from None


# The words of `ggdp.tables.plan_table`, which is too heavy to load before it is needed.
EngineName: TypeAlias = Literal["duckdb", "spark"]

SourceArgument = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE", help="A CSV, Parquet or JSON-lines file, or a quoted pattern of several ('data/*.parquet')."
    ),
]
OptionalBy = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="COL[,COL...]",
        help="Columns to count by; repeat for several tables at once. Without it: statistics of all rows.",
    ),
]
DomainFile = Annotated[
    Path | None, typer.Option(metavar="FILE.toml", help="Public levels and edges of the columns, [columns.NAME].")
]
Levels = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL=V1,V2,...",
        help="Public levels of a column: text (ward=births,eyes), or integers (rooms=1..5 or rooms:int=1,2,5).",
    ),
]
Bins = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL=E0,E1,...",
        help="Public bins of a column: edges that are numbers (age=0,18,65,inf) or dates "
        "(visited=2024-01-01,2024-07-01), or whole periods "
        "(visited=2024-01-01:2025-01-01:month; also day, week, quarter, year).",
    ),
]
Labels = Annotated[
    list[str] | None,
    typer.Option(metavar="COL=L1,L2,...", help="Names to publish for the bins of a column (age=0-17,18-64,65+)."),
]
Other = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL=LABEL", help="A level that counts the rows whose value is not declared (ward=elsewhere)."
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(metavar="COL=LABEL", help="A level that counts the rows without a value (age=unknown)."),
]
Unit = Annotated[
    str | None,
    typer.Option(metavar="COL", help="Column that identifies the unit of each row; without it each row is a unit."),
]
Encoding = Annotated[
    str | None, typer.Option(metavar="NAME", help="Character encoding of text files: utf-8 (default), latin-1, ...")
]
Delimiter = Annotated[
    str | None, typer.Option(metavar="C", help="Character between the fields of CSV files, such as ';' or '\\t'.")
]
NoQuotes = Annotated[
    bool, typer.Option("--no-quotes", help="Treat quotes as plain characters, for files whose fields are not quoted.")
]
Escape = Annotated[
    str | None,
    typer.Option(metavar="C", help="Character before a quote inside quotes, if not doubled: '\\' for Spark."),
]
StrictLines = Annotated[
    bool,
    typer.Option(
        "--strict-lines",
        help="Each line is one record, for files whose fields contain no line ends: a misplaced quote then spoils "
        "one row only.",
    ),
]
TempDir = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Directory for rows that do not fit in memory, best on an encrypted disk; without it, none are written.",
    ),
]
Engine = Annotated[EngineName | None, typer.Option(help="Engine that reads the source; DuckDB by default.")]

_FLAGS = {
    name: f"--{name.replace('_', '-')}"
    for name in (
        "analyst",
        "by",
        "count",
        "count_cut",
        "delimiter",
        "delta",
        "domain",
        "encoding",
        "engine",
        "epsilon",
        "escape",
        "false_cells",
        "ledger",
        "max_cells",
        "max_rows_per_cell",
        "neighbours",
        "nonnegative",
        "order",
        "out",
        "overwrite",
        "per_unit",
        "plot",
        "sign",
        "strict_lines",
        "temp_dir",
        "total",
        "unit",
        "unit_name",
    )
} | {
    "data": "SOURCE",
    "source": "SOURCE",
    "statistics": "--mean, --sum, --variance, --quantile",
    "range": "--range",
    "weights": "--weight",
    "fractions": "--quantile",
    "goal": "--notion",
}
# Where a message names an argument that has several flags, or whose value must be said.
_NAMED = _FLAGS | {
    "domain": "--domain, --levels or --bins",
    "unit": "--unit COL",
    "statistics": "--mean, --sum, --variance or --quantile",
    "range": "--range COL=LOW:HIGH",
}
_RANGE = re.compile(r"([+-]?[0-9]{1,19})\.\.([+-]?[0-9]{1,19})")
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_PERIODS = re.compile(r"\s*([0-9]{4}-[0-9]{2}-[0-9]{2}):([0-9]{4}-[0-9]{2}-[0-9]{2}):(\w+)\s*")
_MOST_IN_RANGE = 10_000_000
_ARGUMENT = re.compile(r"`([a-z_]+)(?:=([^`]+))?`")


def text_of(
    encoding: str | None, delimiter: str | None, escape: str | None, *, no_quotes: bool, strict_lines: bool
) -> dict[str, Any]:
    """Return how text files are read, as arguments of `ggdp.release_table`."""
    return {
        "encoding": encoding,
        "delimiter": {"\\t": "\t", "tab": "\t"}.get(delimiter or "", delimiter),
        "quoted": False if no_quotes else None,
        "escape": escape,
        "strict_lines": strict_lines or None,
    }


def marginals_of(by: Sequence[str]) -> list[list[str]]:
    """Return the columns of each requested table."""
    found = [_listed("--by", text, text) for text in by]
    for text, names in zip(by, found, strict=True):
        if not all(names):
            raise ArgumentError("--by", text, "has an empty name; write columns without spaces between them: --by a,b")
    return found


def domain_of(
    file: Path | None,
    levels: Sequence[str] | None,
    bins: Sequence[str] | None,
    marginals: list[list[str]],
    *,
    labels: Sequence[str] | None = None,
    other: Sequence[str] | None = None,
    missing: Sequence[str] | None = None,
) -> Domain:
    """Return the public domain: that of the file, with the declarations of the flags."""
    from ggdp.domain.column import Column
    from ggdp.domain.table_domain import Domain

    of_file = Domain.from_toml(file) if file is not None else Domain({})
    by = {name for names in marginals for name in names}
    declared = {column.name: column.arguments() for column in of_file}
    known = dict.fromkeys(declared, "the file of --domain")
    for flag, texts in (("--levels", levels), ("--bins", bins)):
        for text in texts or ():
            name, values = _named(flag, text, by)
            kind = ""
            if flag == "--levels" and name not in by and name.endswith(":int"):
                name, kind = name.removesuffix(":int"), "int"
            if name in declared:
                raise ArgumentError(flag, text, f"{name!r} is already declared by {known[name]}")
            if name not in by:
                raise ArgumentError(flag, text, f"{name!r} is not one of the columns of --by: {', '.join(sorted(by))}")
            known[name] = flag
            found = _levels(flag, text, values, kind) if flag == "--levels" else _edges(flag, text, values)
            declared[name] = {"name": name, "levels" if flag == "--levels" else "edges": found}
    for flag, texts in (("--labels", labels), ("--other", other), ("--missing", missing)):
        for text in texts or ():
            name, values = _named(flag, text, by)
            role = flag.removeprefix("--")
            if name not in declared:
                flags = "--bins" if role == "labels" else "--levels or --bins"
                raise ArgumentError(flag, text, f"{name!r} is not declared: declare it with {flags} or in --domain")
            if declared[name].get(role) is not None:
                raise ArgumentError(flag, text, f"{name!r} already has {role}")
            declared[name][role] = _listed(flag, text, values) if role == "labels" else values
    return Domain([Column(**arguments) for arguments in declared.values()], of_file.impossible)


def _named(flag: str, text: str, by: set[str]) -> tuple[str, str]:
    """Return the column that a flag names, and its values."""
    # A name may have an equals sign in it; then the longest one that is counted by is meant.
    cuts = [place for place, sign in enumerate(text) if sign == "="]
    cut = next((place for place in reversed(cuts) if text[:place] in by), cuts[0] if cuts else 0)
    if not cut:
        example = {"--bins": "COL=0,18,65", "--labels": "COL=LABEL1,LABEL2"}.get(flag, "COL=V1,V2")
        example = "COL=LABEL" if flag in ("--other", "--missing") else example
        raise ArgumentError(flag, text, f"must be a column, '=' and its values: {example}")
    name = text[:cut] if text[:cut] in by else text[:cut].strip()
    return name, text[cut + 1 :]


def _levels(flag: str, text: str, values: str, kind: str) -> list[str] | list[int]:
    """Return levels: text, or integers for a single range or if ":int" follows the column."""
    items = _listed(flag, text, values)
    if kind != "int" and not (len(items) == 1 and _RANGE.fullmatch(items[0])):
        return items
    found: list[int] = []
    for item in items:
        if (ends := _RANGE.fullmatch(item)) is not None:
            first, last = int(ends[1]), int(ends[2])
            if not 0 <= last - first < _MOST_IN_RANGE:
                raise ArgumentError(flag, text, f"{item!r} must be an increasing range of at most {_MOST_IN_RANGE:,}")
            found += range(first, last + 1)
        elif _INTEGER.fullmatch(item):
            found.append(int(item))
        else:
            raise ArgumentError(flag, text, f"{item!r} is not an integer, nor a range such as 1..5")
    return found


def _edges(flag: str, text: str, values: str) -> list[float | date] | dict[str, Any]:
    """Return edges: numbers, or dates and times, or a range of periods."""
    if (period := _PERIODS.fullmatch(values)) is not None:
        return {"from": _time(flag, text, period[1]), "to": _time(flag, text, period[2]), "every": period[3]}
    items = [item.strip() for item in values.split(",")]
    if not any(_DATE.match(item) for item in items):
        return list(numbers_of(flag, values))
    return [float(item) if item in ("-inf", "inf") else _time(flag, text, item) for item in items]


def _time(flag: str, text: str, item: str) -> date:
    """Return a date, or a time if the text has one."""
    try:
        return date.fromisoformat(item) if _DATE.fullmatch(item) else datetime.fromisoformat(item)
    except ValueError:
        raise ArgumentError(
            flag, text, f"{item!r} is not a date; write 2024-01-31, or 2024-01-31T12:30 with a time"
        ) from None


@contextmanager
def named_as_flags(unit: str | None, by: str = "--by", statistics: Mapping[str, str] | None = None) -> Iterator[None]:
    """Make errors name the flag as it is typed on the command line.

    `by` is where the columns to count by are typed, `statistics` which flags name a column, or a value, of statistics.
    """
    try:
        yield
    except LedgerError as refused:
        refused.args = (_ARGUMENT.sub(_as_flag, str(refused)),)
        raise
    except ArgumentError as refused:
        argument, value = refused.argument, refused.value
        if argument == "column":
            # Of the columns that are read all are counted by but the one of units.
            argument = "by" if unit is None or value != unit else "unit"
        expected = _ARGUMENT.sub(_as_flag, refused.expected)
        if argument == "statistics" and isinstance(value, str) and value in (statistics or {}):
            raise ArgumentError((statistics or {})[value], value, expected) from None
        if argument == "by" and isinstance(value, list | tuple):
            tables = [_typed(names) for names in (value if _is_nested(value) else [value])]
            if len(tables) > 1:
                raise GgdpError(" ".join(f"--by {names}" for names in tables) + f": {expected}") from None
            (value,) = tables
        named = ArgumentError(by if argument == "by" else _FLAGS.get(argument, argument), value, expected)
        for note in getattr(refused, "__notes__", ()):
            named.add_note(note)
        raise named from None


def _as_flag(named: re.Match[str]) -> str:
    """Return an argument in a message, such as `max_cells` or `count="rows"`, as it is typed."""
    name, value = named[1], named[2]
    if name not in _FLAGS:
        return named[0]
    if value is None:
        return _NAMED[name]
    return _FLAGS[name] if value == "True" else f"{_FLAGS[name]} {shlex.quote(value.strip(chr(34)))}"


def _is_nested(value: Sequence[object]) -> bool:
    return any(isinstance(names, list | tuple) for names in value)


def _typed(names: object) -> str:
    """Return the columns of a table as they are typed after --by."""
    row = io.StringIO(newline="")
    csv.writer(row, lineterminator="").writerow([names] if isinstance(names, str) else names)  # type: ignore[arg-type]
    return row.getvalue()


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show a spinner on standard error, if that is a terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield


def _listed(flag: str, text: str, values: str) -> list[str]:
    """Return the values of a flag, separated by commas; spaces around a value are kept only inside quotes."""
    try:
        (row,) = csv.reader(io.StringIO(values, newline=""), strict=True, skipinitialspace=True)
    except (csv.Error, ValueError):
        raise ArgumentError(
            flag, text, "must be values separated by ',', with \"...\" around one that has a comma"
        ) from None
    return row if '"' in values else [item.strip() for item in row]


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
        with _shown_as_typed("--quantile", text):
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
    from ggdp.domain.column import Column
    from ggdp.domain.table_domain import Domain
    from ggdp.domain.value_range import ValueRange

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
        with _shown_as_typed("--range", text):
            arguments["range"] = ValueRange(*(part.strip() for part in parts))
    return Domain([Column(**arguments) for arguments in declared.values()], domain.impossible)


def weights_of(weights: Iterable[str] | None) -> dict[str, float] | None:
    """Return the weights of columns."""
    found: dict[str, float] = {}
    for text in weights or ():
        column, value = _split("--weight", text, "COL=2")
        if column in found:
            raise ArgumentError("--weight", text, f"{column!r} already has a weight; keep one")
        with _shown_as_typed("--weight", text):
            found[column] = _validate.positive(weight=numbers_of("--weight", value)[0])
        if "," in value:
            raise ArgumentError("--weight", text, "must be one number: COL=2")
    return found or None


@contextmanager
def _shown_as_typed(flag: str, text: str) -> Iterator[None]:
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


LedgerUrl = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="URL",
        help="Charge the release to this ledger, a file or postgresql://..., before a row is read.",
    ),
]
Analyst = Annotated[str | None, typer.Option(metavar="NAME", help="Who asks, for --ledger.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Read no data; print what would be released and what it would cost.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an earlier output (and spend the budget again).")]


@contextmanager
def releasing(files: Iterable[Path]) -> Iterator[None]:
    """Run a release, and say afterwards if it replaced files of an earlier one.

    Errors that are not ours, which might quote data, are replaced by one without a reason; notes are kept.
    """
    replaces = any(file.exists() for file in files)
    try:
        with working("counting"):
            yield
    except (GgdpError, MemoryError):
        raise
    except Exception as failed:
        message = "the release failed, and nothing was published. The reason is not shown, since it might reveal data"
        error = GgdpError(message)
        for note in getattr(failed, "__notes__", ()):
            error.add_note(note)
        raise error from None
    if replaces:
        print_warnings(["an earlier output is replaced; each run spends the privacy budget again"])


def print_warnings(warnings: Iterable[str]) -> None:
    """Print warnings to standard error."""
    for warning in warnings:
        say(f"warning: {warning}", err=True)


def fit_of(plan: TablePlan, ledger: str | None, analyst: str | None) -> dict[str, Any]:
    """Return whether a release fits in what remains of a ledger, and if not, what remains and what would fit."""
    if ledger is None:
        return {}
    from ggdp.ledger import Ledger

    try:
        Ledger(ledger).require_fit(plan, analyst)
    except BudgetExceededError as refused:
        return {"fits": False, "refusal": str(refused)}
    return {"fits": True}


def print_plan(
    document: dict[str, Any], rows: Sequence[tuple[str, str]], fit: dict[str, Any], *, as_json: bool
) -> None:
    """Print what a plan says, and whether it fits in what remains of a ledger."""
    if as_json:
        print_json(document | fit)
        return
    from ggdp.tables.table_plan import TITLE

    print_table(f"dry run: {TITLE}", rows)
    if fit:
        refusal = fit.get("refusal", "")
        say("It fits in what remains of the ledger." if fit["fits"] else f"{refusal[0].upper()}{refusal[1:]}.")
