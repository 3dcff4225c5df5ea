"""Requests for tables: which counts, how private, over which public domain. Nothing here depends on the data.

A request is declared once, in `TableRequest`: each field with its type, its check, its documentation and its flags. The
arguments of `ggdp.plan_table` and `ggdp.release_table`, the flags of ``ggdp release``, the keys of a TOML file, the
``request`` of a manifest and the form of the explorer are derived from it. This module is loaded for every ``--help``,
so it imports what is heavy where it is used.

A marginal is declared (every cell gets noise), sparse (cells below a threshold are left out) or open (a column has no
declared levels, and keys are chosen privately), by the request alone. Several that differ make a request mixed.

=========  ========================================================================================================
M          cells of a marginal that a unit is counted in, at most (`max_cells`); 1 where each row is a unit
R          what a unit adds to a cell, at most: 1 where units are counted, `max_rows_per_cell` where rows are
N_i        cells of marginal i that can occur; infinite where it is open
=========  ========================================================================================================

Requests that people keep are TOML files, whose keys the page "The study file" of the documentation has. A field that
has its default is not written.

Claim (sensitivity). When a unit is added or removed, at most min(M, N_i) counts of marginal i change; when one is
replaced by another, at most min(2 M, N_i); each by at most R. Proof. What a unit adds is a function of its own rows: R
or less in each of M cells or fewer, which are cells of the marginal. With f and g what the one that goes and the one
that comes add to a cell, both in [0, R], the count changes by |f - g| <= R, in a cell that one of them is in: at most M
+ M cells. Without a column of units every row is a unit, in one cell of each marginal or in none. A filter (`where`)
keeps or leaves out a row by that row alone, before anything is counted, so that "its own rows" are those of them that
it keeps, and the rest stands as it is.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime
from difflib import get_close_matches
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

from attrs import field

from ggdp import _validate
from ggdp._files import MOST_TOML, line_of, parsed_toml, read_file
from ggdp._records import Flag, documentation, frozen, like, option, options
from ggdp._rounding import rounded_up_text
from ggdp.domain.text_values import KEYS, TextValues, null_words
from ggdp.errors import ArgumentError, ArgumentTypeError, Message, in_words_of
from ggdp.privacy import ApproxDP, Guarantee, Neighbours, Notion, ProbabilisticDP, PureDP, Sensitivity
from ggdp.privacy.guarantees import as_goal, validated_neighbours
from ggdp.tables.statistics.statistic import (
    STATISTICS,
    Quantile,
    Statistic,
    Statistics,
    checked_statistics,
    describe,
    statistic_from,
)

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from ggdp.domain.column import Column
    from ggdp.domain.filters import Derived, Filter
    from ggdp.domain.table_domain import Domain
    from ggdp.domain.value_range import LevelRanges, ValueRange
    from ggdp.ledger import Ledger
    from ggdp.noise import Source
    from ggdp.sources.text_files import TextFormat

Regime: TypeAlias = Literal["declared", "sparse", "open", "mixed"]
Counting: TypeAlias = Literal["units", "rows"]
PerUnit: TypeAlias = Literal["sum", "mean", "min", "max"]
EngineName: TypeAlias = Literal["duckdb", "spark"]

AUTO: Literal["auto"] = "auto"
# The unit of a request that declares that each row is one.
ROW = "row"
NO_UNIT = Message(
    "no unit is declared, so each row is protected by itself: if people can have several rows, name the column that "
    "identifies them with {unit} and {max_cells}; if each has one row at most, declare it with {unit:row}"
)
# The columns of a published table beside its keys.
COUNTS = ("count", "noisy_count", "lower", "upper")
# A published column, where units may be counted in fewer cells than they are in: what the interval covers, in words.
COVERS = "covers"
# A published column: each count as a share of a total, with its interval in two more.
PERCENT = "percent"
# Up to this many cells of a declared table are released in memory, in a few seconds and some gigabytes.
MOST_IN_MEMORY = 50_000_000
# Above these a publisher is warned.
_LARGE_DELTA = 1e-5
_LARGE_EPSILON = 10.0
_LONGEST_NAME = 80
# Bytes of the name of a table, which its file has with an ending.
_LONGEST_FILE = 200
# Fields that are read from several keys of a TOML file, and these keys.
_COMPOSED = ("by", "goal", "domain", "statistics")
_KEYS = ("epsilon", "delta", "notion", "tables", "columns", "impossible")
_NAMES = (
    "must be a sequence of names of columns, or of lists of them for several tables. An expression or a column of a "
    "frame is not a name: declare bins in `domain`, or add a column to the frame that each row determines by itself"
)
# Flags that may be given several times, and flags without a value.
_repeated = partial(Flag, kind=list[str] | None)
_switch = partial(Flag, kind=bool, default=False)


def _marginals(by: str | Sequence[str] | Sequence[Sequence[str]] | None) -> tuple[tuple[str, ...], ...]:
    """Return the columns of each marginal, from a name, a list of names, or a list of such lists; none from None."""
    if not isinstance(by, str | Sequence | None):
        raise ArgumentTypeError("by", type(by).__name__, _NAMES)
    if by is None or by == ((),):
        return ((),)
    items = _validate.non_empty(by=[by] if isinstance(by, str) else by)
    if all(isinstance(item, str) for item in items):
        items = (items,)
    found = []
    for item in items:
        if not isinstance(item, str | Sequence):
            raise ArgumentTypeError("by", type(item).__name__, _NAMES)
        names = (item,) if isinstance(item, str) else _validate.non_empty(by=item)
        for name in names:
            if not isinstance(name, str) or not name:
                raise ArgumentTypeError("by", type(name).__name__, _NAMES)
            if name in COUNTS:
                raise ArgumentError("by", name, "is the name of a published column; rename it in the source")
        if len(set(names)) < len(names):
            raise ArgumentError("by", list(names), "names a column twice")
        found.append(tuple(str(name) for name in names))
    if len({frozenset(names) for names in found}) < len(found):
        raise ArgumentError("by", by, "requests the same table twice, which would cost twice")
    return tuple(found)


def goal_of(epsilon: float, delta: float | None, notion: str | None) -> Guarantee:
    """Return the goal of an epsilon and a delta: pure DP without a delta and approximate DP with one, by default."""
    notion = _validate.choice(notion=notion or ("pure" if delta is None else "approximate"), among=get_args(Notion))
    if notion == "pure":
        if delta:
            raise ArgumentError("delta", delta, "a pure goal has no delta; leave it out or choose another notion")
        return PureDP(epsilon)
    if delta is None:
        raise ArgumentError("delta", delta, f"is required for {notion} DP")
    return ProbabilisticDP(epsilon, delta) if notion == "probabilistic" else ApproxDP(epsilon, delta)


def _domain(domain: Domain | Mapping[str, Any] | str | Path | None) -> Domain:
    from ggdp.domain.table_domain import Domain

    if domain is None:
        return Domain({})
    if isinstance(domain, str | Path):
        return Domain.from_toml(domain)
    if isinstance(domain, Domain):
        return domain
    if not isinstance(domain, Mapping):
        raise ArgumentTypeError(
            "domain", type(domain).__name__, "must be a Domain, a mapping, or the path of a TOML file"
        )
    return Domain(domain)


def _where(where: object) -> str:
    """Return the canonical text of a filter."""
    from ggdp.domain.filters import filter_text

    return filter_text(where)


def _unit_name(unit_name: object) -> str:
    """Return the word for units, if it fits in a sentence."""
    fits = isinstance(unit_name, str) and unit_name.isprintable() and len(unit_name) <= _LONGEST_NAME
    if not fits or not str(unit_name).strip():
        said = f"must be a few words, such as 'patients', at most {_LONGEST_NAME} characters"
        raise ArgumentError("unit_name", unit_name, said)
    return str(unit_name).strip()


def _weights(weights: Mapping[str, float] | tuple[tuple[str, float], ...] | None) -> tuple[tuple[str, float], ...]:
    """Return the weights of columns, from a mapping."""
    if weights is None:
        return ()
    if not isinstance(weights, Mapping):
        if not isinstance(weights, tuple) or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in weights):
            raise ArgumentTypeError("weights", weights, 'must be a mapping of columns to numbers, {"income": 2}')
        weights = dict(weights)
    return tuple((str(name), _validate.positive(weights=weight)) for name, weight in weights.items())


def _percent_of(percent_of: object) -> tuple[str, ...]:
    """Return the columns that the cells of a total share, from a name or a list of names; none for the grand total."""
    names = [percent_of] if isinstance(percent_of, str) else percent_of
    if not isinstance(names, Sequence) or not all(isinstance(name, str) and name for name in names):
        raise ArgumentTypeError("percent_of", percent_of, "must be a list of columns, or [] for the grand total")
    return tuple(dict.fromkeys(names))


@frozen(kw_only=True)
class TextOptions:
    """How text is read, if names of files do not say so: part of a request, never inferred from the data."""

    encoding: str | None = option(
        "str, optional",
        'Character encoding of text files, such as "latin-1"; UTF-8 by default.',
        Flag("Character encoding of text files: utf-8 (default), latin-1, ...", "NAME", label="Encoding"),
        key="format.encoding",
    )
    delimiter: str | None = option(
        "str, optional",
        'Separator of the fields of CSV files, such as ";"; by default a comma, or a tab in .tsv files.',
        Flag("Character between the fields of CSV files, such as ';' or '\\t'.", "C", label="Delimiter"),
        key="format.delimiter",
    )
    quoted: bool | None = option(
        "bool, default True",
        "Whether fields of CSV files may be in double quotes. Pass False for files without quoting.",
        _switch("Treat quotes as plain characters, for files whose fields are not quoted.", name="no_quotes"),
        key="format.quoted",
    )
    escape: str | None = option(
        "str, optional",
        "Character before a quote inside quotes, in files that do not double quotes: a backslash in files that Spark "
        "has written.",
        Flag("Character before a quote inside quotes, if not doubled: '\\' for Spark.", "C"),
        key="format.escape",
    )
    strict_lines: bool | None = option(
        "bool, default False",
        "Whether each line of a text file is a record, for files whose fields hold no line ends: a misplaced quote or "
        "line end in one row then changes no other row.",
        _switch(
            "Each line is one record, for files whose fields contain no line ends: a misplaced quote then spoils one "
            "row only.",
            label="Lines",
        ),
        key="format.strict_lines",
    )

    sheet: str | None = option(
        "str, optional",
        "The sheet of an Excel workbook, if it has several.",
        Flag("Sheet of an Excel workbook, if it has several.", "NAME", label="Sheet"),
        key="format.sheet",
    )
    header_row: int | None = option(
        "int, default 1",
        "The row of an Excel workbook, or the line of a CSV file, that names the columns; rows above it are ignored.",
        Flag(
            "Row of a workbook, or line of a CSV file, that names the columns; the first by default.",
            "N",
            int | None,
            label="Header row",
        ),
        check=_validate.integer,
        at_least=1,
        key="format.header_row",
    )
    decimal: str | None = option(
        "str, optional",
        'Decimal mark of numbers in columns of text, such as ","; a point by default. A column may declare its own.',
        Flag("Decimal mark of numbers in text: ',' or '.' (default).", "C", label="Decimal mark"),
        key="format.decimal",
    )
    thousands: str | None = option(
        "str, optional",
        "Separator of groups of three digits of numbers in columns of text: a point, a comma, an apostrophe or a "
        "space; none by default.",
        Flag("Separator of thousands of numbers in text: '.', ',', ' or a space.", "C", label="Thousands separator"),
        key="format.thousands",
    )
    date_format: str | None = option(
        "str, optional",
        'How dates are written in columns of text, such as "%d.%m.%Y"; by default as in ISO 8601.',
        Flag("How dates in text are written, such as '%d.%m.%Y'; else ISO 8601.", "FORMAT", label="Date format"),
        key="format.date_format",
    )
    null_values: tuple[str, ...] | None = option(
        "sequence of str, optional",
        'Words that stand for missing values in columns of text, such as ``["NA", "."]``.',
        Flag("Words that stand for missing values in text, such as NA,.", "W[,W...]", label="Words for missing"),
        check=null_words,
        key="format.null_values",
    )

    @cached_property
    def text(self) -> TextFormat | None:
        """How text files are read; None if no option is given."""
        names = [name for name in options(TextOptions) if name not in KEYS]
        given = {name: value for name in names if (value := getattr(self, name)) is not None}
        if not given:
            return None
        from ggdp.sources.text_files import TextFormat

        return TextFormat(**given)

    @cached_property
    def values(self) -> TextValues:
        """How the text of columns is read that do not declare it themselves."""
        return TextValues(**{name: getattr(self, name) for name in KEYS})


@frozen(kw_only=True)
class TableOptions(TextOptions):
    """What is asked for of a table beside its columns, its goal and its domain: arguments by name."""

    order: float | Literal["auto"] = option(
        'float or "auto", default "auto"',
        "Order of the noise; by default the best for the goal, found without the data.",
        Flag(
            "Order of the noise: 1 is Laplace, 2 is Gaussian, auto the best.",
            "P|auto",
            str,
            default=AUTO,
            label="Order",
        ),
        check=lambda order: AUTO if order == AUTO else _validate.order(order=order),
        default=AUTO,
    )
    where: str | None = option(
        "str, optional",
        "Condition that rows must meet to be counted, in a small SQL, such as ``age >= 18 and ward <> 'test'``. Rows "
        "for which it is false or unknown are left out before anything is counted. It is public.",
        Flag(
            "Count only rows that meet a condition, in a small SQL: \"age >= 18 and ward <> 'test'\".",
            "EXPRESSION",
            label="Filter",
        ),
        check=_where,
    )
    unit: str | None = option(
        "str, optional",
        'Column that identifies the unit of each row; or "row" if each person has one row at most, so that each row is '
        "a unit. Without it each row is a unit, too, with a warning. A column of that name is the unit with "
        '``unit="row", unit_is_row=False``.',
        Flag("Column that identifies the unit of each row; without it each row is a unit.", "COL", label="Unit"),
        key="unit.column",
    )
    unit_is_row: bool | None = option(
        "bool, optional",
        'True is the same as ``unit="row"``; with False `unit` is a column, whatever its name.',
        _switch("Each person has one row at most: each row is a unit.", label="Each row is one person"),
        check=_validate.boolean,
        key="unit.is_row",
    )
    max_cells: int | None = option(
        "int, optional",
        "With `unit`: most cells of a table that one unit is counted in, chosen at random. A table with fewer cells "
        "limits the number by itself; statistics without `by` need no number.",
        Flag(
            "With --unit: most cells of a table that one unit is counted in.", "M", int | None, label="Cells per unit"
        ),
        check=_validate.integer,
        at_least=1,
        key="unit.max_cells",
    )
    count: Counting = option(
        '{"units", "rows"}, default "units"',
        "With `unit`: whether cells count distinct units or their rows.",
        Flag("With --unit: whether cells count different units, or their rows.", kind=Counting, default="units"),
        check=_validate.choice,
        among=get_args(Counting),
        key="unit.count",
        default="units",
    )
    max_rows_per_cell: int | None = option(
        "int, optional",
        'With ``count="rows"``: most rows of one unit that are counted in a cell.',
        Flag("With --count rows: most rows of a unit counted in one cell.", "R", int | None),
        check=_validate.integer,
        at_least=1,
        key="unit.max_rows_per_cell",
    )
    count_cut: float | None = option(
        "float, optional",
        "Share of epsilon, above 0 and below 1, that pays for a private count of the units that are in more than "
        "`max_cells` cells. Intervals then cover all units of a cell, not just those that are counted there.",
        Flag(
            "Spend this share of epsilon on counting the units in more than --max-cells cells, so that intervals "
            "cover them too.",
            "SHARE",
            float | None,
        ),
        check=_validate.positive,
        key="unit.count_cut",
    )
    unit_name: str | None = option(
        "str, optional",
        'Plural noun for the units in statements and plots, such as ``"patients"``.',
        Flag("Word for the units in statements, such as patients.", "WORDS", label="Word for the units"),
        check=_unit_name,
        key="unit.name",
    )
    statistics: Statistics = field(
        default=(),
        converter=checked_statistics,
        metadata=documentation(
            "sequence of Mean, Sum, Variance or Quantile, or one such list for each table, optional",
            "What to publish of columns of numbers beside the counts. Their public ranges are in the domain, as "
            '``{"income": {"range": [0, 200_000]}}``: values outside are clamped, what is not a number is left out. '
            "A list of lists, as many as `by` has, gives each table its own.",
            *(
                _repeated(
                    f"Publish the {kind} of a column in each cell; needs its range.",
                    "COL",
                    label="Statistics",
                    name=kind,
                )
                for kind in STATISTICS
                if kind != "quantile"
            ),
            _repeated(
                "Publish quantiles of a column (income=0.25,0.5,0.75); needs its range.",
                "COL=Q[,Q...]",
                label="Statistics",
                name="quantile",
            ),
            _repeated("Publish the median of a column, its quantile 0.5; needs its range.", "COL", name="median"),
            _repeated(
                "Public range of a column of numbers (income=0:200000); values outside are clamped to it.",
                "COL=LO:HI[:STEP]",
                label="Ranges",
                name="range",
            ),
            _repeated(
                "Another column whose levels have ranges of their own (value=test, with --range value:sodium=100:180).",
                "COL=OTHER",
                name="range_by",
            ),
        ),
    )
    per_unit: PerUnit | None = option(
        '{"sum", "mean", "min", "max"}, optional',
        "With `unit` and `statistics`: how the rows of a unit in a cell become one value; by default their sum for "
        "sums and their mean otherwise.",
        Flag(
            "With --unit: how the rows of a unit in a cell become one value; sum for --sum, else mean.",
            kind=PerUnit | None,
        ),
        check=_validate.choice,
        among=get_args(PerUnit),
        key="unit.per_unit",
    )
    weights: tuple[tuple[str, float], ...] = field(
        default=(),
        converter=_weights,
        metadata=documentation(
            "mapping of str to float, optional",
            "Weights of the columns of `statistics`, 1 by default: twice the weight, half the noise.",
            _repeated(
                "Weight of a column among the statistics: twice the weight, half the noise.", "COL=W", name="weight"
            ),
        ),
    )
    neighbours: Neighbours = option(
        '{"add-remove", "replace-one"}, default "add-remove"',
        "Whether neighbouring data sets differ by adding or removing one unit, or by replacing one.",
        Flag("Which data sets are neighbours.", kind=Neighbours, default="add-remove", label="Neighbours"),
        check=validated_neighbours,
        default="add-remove",
    )
    total: int | None = option(
        "int, optional",
        "Public total of the counts, as asserted by you. Needs replace-one neighbours.",
        Flag("Public total of the counts; needs --neighbours replace-one.", "N", int | None),
        check=_validate.integer,
        at_least=0,
    )
    nonnegative: bool = option(
        "bool, default False",
        "Whether counts below 0, and ends of intervals below 0, are published as 0.",
        _switch("Publish negative counts, and negative ends of intervals, as 0."),
        check=_validate.boolean,
        default=False,
    )
    false_cells: float | None = option(
        "float, optional",
        "Release a sparse table of a declared domain, with at most this many empty cells shown on average.",
        Flag("Publish a sparse table; at most X empty cells are shown on average.", "X", float | None),
        check=_validate.positive,
    )
    percent_of: tuple[str, ...] | None = option(
        "str or sequence of str, optional",
        "Publish each count also in percent, with an interval, which costs nothing: of the total of the cells that "
        'have the same level of these columns, such as "ward"; ``[]`` is the total of all cells.',
        Flag(
            "Also publish counts in percent of the total of each level of these columns.",
            "COL[,COL...]",
            label="Percent of",
            name="percent_of",
        ),
        _switch("Also publish counts in percent of the total of all cells.", name="percent"),
        check=_percent_of,
    )
    digits: int | None = option(
        "int, optional",
        "Decimal digits of `statistics` and percentages: values are rounded, and the ends of intervals outwards, which "
        "costs nothing.",
        Flag(
            "Round statistics and percentages to this many decimal digits, and their intervals outwards.",
            "N",
            int | None,
            label="Digits",
        ),
        check=_validate.integer,
        at_least=0,
    )


@frozen
class TableRequest(TableOptions):
    """A request for private counts. All of it is public.

    Its fields are the arguments of `ggdp.plan_table` that say what is published, and how files of text are read.
    """

    by: tuple[tuple[str, ...], ...] = field(
        converter=_marginals,
        metadata=documentation(
            "str, sequence of str, sequence of sequences of str, or None",
            "Columns to count by; several lists give several tables, released as one query. With `statistics`, None "
            "gives one row for the whole table.",
            _repeated(
                "Columns to count by; repeat for several tables at once. Without it: statistics of all rows.",
                "COL[,COL...]",
                label="Count by",
            ),
        ),
    )
    goal: Guarantee = field(
        converter=as_goal,
        metadata=documentation(
            "PureDP, ProbabilisticDP, ApproxDP or float",
            "Guarantee of all tables together; a number is the epsilon of pure DP.",
            Flag("Epsilon of the goal.", kind=float, required=True, label="Epsilon", name="epsilon"),
            Flag("Delta of the goal.", kind=float | None, label="Delta", name="delta"),
            Flag(
                "Notion of privacy; by default pure without --delta and approximate with it.",
                kind=Notion | None,
                name="notion",
            ),
        ),
    )
    domain: Domain = field(
        factory=lambda: _domain(None),
        converter=_domain,
        metadata=documentation(
            "Domain, mapping or path of a TOML file, optional",
            "The public levels of the columns. The levels of a column that is not declared are chosen privately, which "
            "needs a delta.",
            Flag("Public levels and edges of the columns, [columns.NAME].", "FILE.toml", Path | None),
            _repeated(
                "Public levels of a column: text (ward=births,eyes), or integers (rooms=1..5 or rooms:int=1,2,5).",
                "COL=V1,V2,...",
                label="Levels",
                name="levels",
            ),
            _repeated(
                "Public bins of a column: edges that are numbers (age=0,18,65,inf) or dates "
                "(visited=2024-01-01,2024-07-01), or whole periods "
                "(visited=2024-01-01:2025-01-01:month; also day, week, quarter, year).",
                "COL=E0,E1,...",
                label="Bins",
                name="bins",
            ),
            _repeated(
                "Names to publish for the levels or bins of a column (race=White,Black,Other or age=0-17,18-64,65+).",
                "COL=L1,L2,...",
                label="Labels",
                name="labels",
            ),
            _repeated(
                "Add a column computed from others in each row (bmi='weight / (height * height)'), in a small SQL.",
                "COL=EXPRESSION",
                label="Derived columns",
                name="derive",
            ),
            _repeated(
                "Add a column from a public CSV file, by the values of a column (region=postcodes.csv:postcode).",
                "COL=FILE:KEY",
                name="lookup",
            ),
            _repeated(
                "A level that counts the rows whose value is not declared (ward=elsewhere).",
                "COL=LABEL",
                label="Other values",
                name="other",
            ),
            _repeated(
                "A level that counts the rows without a value (age=unknown).",
                "COL=LABEL",
                label="Missing values",
                name="missing",
            ),
        ),
    )

    def __attrs_post_init__(self) -> None:
        self.text  # noqa: B018 - raises if it is wrong
        self.values  # noqa: B018 - likewise
        if self.unit == ROW and self.unit_is_row is None:
            object.__setattr__(self, "unit", None)
            object.__setattr__(self, "unit_is_row", True)
        elif self.unit != ROW and not self.unit_is_row:
            # It says nothing of a column of another name.
            object.__setattr__(self, "unit_is_row", None)
        if self.unit is not None and self.max_cells is None and self.by == ((),):
            object.__setattr__(self, "max_cells", 1)
        if len(self.table_statistics) != len(self.by):
            said = f"must be one list for all tables, or one for each of {len(self.by)}"
            raise ArgumentError("statistics", f"{len(self.table_statistics)} lists", said)
        if len(set(self.table_statistics)) == 1:
            object.__setattr__(self, "statistics", self.table_statistics[0])
        from ggdp.tables.request_refusals import refusals

        for argument, value, said in refusals(self):
            raise ArgumentError(argument, value, said)
        for name in self.columns:
            # Raises where its text cannot be read as declared.
            self.column(name)
        # Those of the request, said once.
        object.__setattr__(self, "goal", replace(self.goal, neighbours=None))

    @cached_property
    def domains(self) -> tuple[Domain, ...]:
        """The domain of each marginal; undeclared columns are open."""
        from ggdp.domain.table_domain import Domain

        return tuple(
            Domain(
                [self.column(name) for name in names],
                impossible=[pattern for pattern in self.domain.impossible if set(pattern) <= set(names)],
            )
            for names in self.by
        )

    def column(self, name: str) -> Column:
        """Return a column with how its text is read; an undeclared one is open."""
        from ggdp.domain.column import Column

        return (self.domain[name] if name in self.domain else Column(name=name)).read_as(self.values)

    def values_in(self, name: str) -> ValueRange | LevelRanges | None:
        """Return the public range of a column, or its ranges by level of another one; None if it has none."""
        column = self.domain[name]
        return column.values_in if column.range_by is None else column.values_by(self.domain[column.range_by])

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that must be read."""
        units = () if self.unit is None else (self.unit,)
        measured = [statistic.column for statistic in self.each_statistic]
        return tuple(dict.fromkeys([*(name for names in self.by for name in names), *measured, *units]))

    @property
    def reading(self) -> dict[str, Any]:
        """What is read of a source, and how, as `ggdp.sources.query.open_source` takes it."""
        labelled = [column.name for column in self.domain if column.may_be_labels]
        rows = {"where": self.filter, "derived": self.derived}
        counted = {name: "by" for names in self.by for name in names}
        columns = {name: "unit" if name == self.unit else counted.get(name, "statistics") for name in self.columns}
        return {"columns": columns, **rows, "text": self.text, "labelled": labelled}

    @cached_property
    def table_statistics(self) -> tuple[tuple[Statistic, ...], ...]:
        """The statistics of each table."""
        given: Any = self.statistics
        return given if given and isinstance(given[0], tuple) else (given,) * len(self.by)

    @cached_property
    def each_statistic(self) -> tuple[Statistic, ...]:
        """The statistics of all tables, each once."""
        return tuple(dict.fromkeys(one for statistics in self.table_statistics for one in statistics))

    @cached_property
    def filter(self) -> Filter | None:
        """Which rows are counted; None if all are."""
        from ggdp.domain.filters import parse_filter, read_as

        return None if self.where is None else read_as(parse_filter(self.where), lambda name: self.column(name).text)

    @cached_property
    def derived(self) -> Derived:
        """The derived columns in use, each after those that it is computed from."""
        from ggdp.domain.filters import read_as, read_columns

        found: dict[str, Any] = {}

        def need(name: str) -> None:
            if name in found or name not in self.domain or (term := self.domain[name].term) is None:
                return
            for other in read_columns(term):
                need(other)
            found[name] = read_as(term, lambda other: self.column(other).text)

        for name in (*self.columns, *read_columns(self.filter)):
            need(name)
        return tuple(found.items())

    @cached_property
    def regimes(self) -> tuple[Regime, ...]:
        """Which kind of table each marginal is."""
        closed: Regime = "declared" if self.false_cells is None else "sparse"
        return tuple("open" if domain.is_open else closed for domain in self.domains)

    @cached_property
    def regime(self) -> Regime:
        """The kind of all marginals, or "mixed"."""
        return self.regimes[0] if len(set(self.regimes)) == 1 else "mixed"

    @cached_property
    def sizes(self) -> tuple[int | None, ...]:
        """How many cells of each marginal can occur; None if unknown."""
        return tuple(None if domain.is_open else domain.possible_size for domain in self.domains)

    @cached_property
    def cells(self) -> int | None:
        """How many cells the marginals have together; None if unknown."""
        known = [size for size in self.sizes if size is not None]
        return sum(known) if len(known) == len(self.by) else None

    @cached_property
    def numbered_cells(self) -> int:
        """How many cells the declared marginals have together, those that cannot occur included."""
        return sum(domain.size for domain in self.domains if not domain.is_open)

    @property
    def cells_per_unit(self) -> int:
        """Most cells of a marginal that one unit may be counted in: `max_cells`, or 1 where each row is a unit."""
        return self.max_cells or 1

    @property
    def unit_limits(self) -> dict[str, Any]:
        """The column of units and how much of a unit is counted, as `ggdp.sources.query.CountQuery` takes them."""
        limits = {"max_cells": self.cells_per_unit, "max_rows_per_cell": self.max_rows_per_cell}
        nulls = () if self.unit is None else self.column(self.unit).text.nulls
        return {"unit": self.unit, **limits, "unit_nulls": nulls}

    @cached_property
    def most_cells(self) -> tuple[int, ...]:
        """Most cells of each marginal that one unit is counted in: all of its cells, if these are fewer."""
        return self._within_sizes(self.cells_per_unit)

    @cached_property
    def cells_of_a_unit(self) -> int:
        """Most cells that one unit is counted in, over all marginals."""
        return sum(self.most_cells)

    @cached_property
    def open_cells_of_a_unit(self) -> int:
        """Most cells that one unit is counted in, over the open marginals."""
        return sum(most for most, kind in zip(self.most_cells, self.regimes, strict=True) if kind == "open")

    @property
    def count_columns(self) -> tuple[str, ...]:
        """The columns of counts of a published table: the raw ones only where an adjustment makes them differ."""
        adjusts = self.nonnegative or self.total is not None
        return tuple(name for name in COUNTS if adjusts or name != "noisy_count")

    @property
    def most_in_a_cell(self) -> int:
        """Most that one unit adds to a cell: 1, or `max_rows_per_cell`."""
        return self.max_rows_per_cell or 1

    @cached_property
    def complete(self) -> tuple[bool, ...]:
        """Whether each unit is counted in exactly one cell of a marginal, if it is counted in any marginal at all.

        Claim. Of a source that has the same rows whenever it is read: adding or removing a unit changes one count of
        each such marginal by 1, and no other there, or it changes no count of any marginal; replacing one moves one
        unit of each such marginal to another cell, or none. Proof. Every row that the filter keeps has one code in a
        column that is complete (`ggdp.sources.codes`), so it is in one cell where all columns are and no cell is
        impossible. These rows are the same for all marginals, and so are their units. A unit with such a row is thus in
        a cell of the marginal, and is counted in one of its cells, as 1, where M or the cells are 1; a unit without one
        is counted nowhere. Under replace-one both units must be counted: without a filter a row is, but of a column of
        units one may have no rows, or none that names it.
        """
        once = self.most_in_a_cell == 1
        if self.neighbours != "add-remove":
            once = once and self.unit is None and self.where is None
        return tuple(
            once and most == 1 and not domain.patterns and all(column.complete for column in domain)
            for domain, most in zip(self.domains, self.most_cells, strict=True)
        )

    @cached_property
    def limits_cells(self) -> tuple[bool, ...]:
        """Whether a unit may be counted in fewer cells of a marginal than it is in."""
        if self.unit is None:
            return (False,) * len(self.by)
        return tuple(size is None or size > self.cells_per_unit for size in self.sizes)

    @cached_property
    def limits_units(self) -> tuple[bool, ...]:
        """Whether a unit may be counted for less than it has, in each marginal: in fewer cells, or with fewer rows."""
        return tuple(self.count == "rows" or limited for limited in self.limits_cells)

    @cached_property
    def changing(self) -> tuple[int, ...]:
        """Most counts of each marginal that one unit can change."""
        return self._within_sizes((1 if self.neighbours == "add-remove" else 2) * self.cells_per_unit)

    @cached_property
    def sensitivity(self) -> Sensitivity:
        """How far one unit can change the counts."""
        return Sensitivity.cells(sum(self.changing), self.most_in_a_cell, neighbours=self.neighbours)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about parameters that protect little, and about labels that are formulas in a spreadsheet."""
        from ggdp.tables.output_files import formula_warning

        found = []
        if self.goal.epsilon > _LARGE_EPSILON:
            found.append(
                f"epsilon = {rounded_up_text(self.goal.epsilon)} is above {_LARGE_EPSILON:g}: the result can then "
                "reveal almost surely whether a unit is in the data; usual values are 1 or less, rarely above 10"
            )
        if self.goal.delta > _LARGE_DELTA:
            found.append(
                f"delta = {rounded_up_text(self.goal.delta)} is above {_LARGE_DELTA:g}: up to this share of people "
                "could be fully exposed; a delta far below one over the number of units is usual"
            )
        formulas = formula_warning({column.name: column for domain in self.domains for column in domain}.values())
        return tuple(found) if formulas is None else (*found, formulas)

    @cached_property
    def unit_warning(self) -> Message | None:
        """What to write if people can have several rows, where no unit is declared; None if one is."""
        return None if self.unit is not None or self.unit_is_row else NO_UNIT

    @property
    def dates(self) -> list[str]:
        """The columns in use whose levels are dates, which JSON writes as text."""
        return [column.name for column in self.domain if column.name in self.columns and column.kind == "date"]

    def _within_sizes(self, most: int) -> tuple[int, ...]:
        return tuple(most if size is None else min(most, size) for size in self.sizes)

    @property
    def table_names(self) -> tuple[str, ...]:
        """A name for each table: its columns, or its number where these make no name."""
        named = ["-".join(names) or "all" for names in self.by]
        is_usable = len({name.casefold() for name in named}) == len(named) and all(map(is_table_name, named))
        return tuple(named) if is_usable else tuple(f"table-{number}" for number in range(1, len(named) + 1))

    def to_toml(
        self, names: Sequence[str] = (), directory: str | os.PathLike[str] | None = None, **first: object
    ) -> str:
        """Return the request as the text of a TOML file, which `from_toml` reads, statistics in the order of kinds.

        Names of tables and further keys, which stand first, are those of a study (`ggdp.Study`). Paths are relative to
        a directory, if one is given.
        """
        goal = self.goal
        sections: dict[str, dict[str, Any]] = {"": {**first, "epsilon": goal.epsilon}}
        if not isinstance(goal, PureDP):
            sections[""]["delta"] = goal.delta
        if goal.notion == "probabilistic":
            sections[""]["notion"] = goal.notion
        for name, (part, said) in options(cast("type", type(self))).items():
            value = getattr(self, name)
            if name not in _COMPOSED and value != part.default:
                section, _, key = (said.key or name).rpartition(".")
                sections.setdefault(section, {})[key] = dict(value) if name == "weights" else value
        if sections.get("unit") == {"is_row": True}:
            sections[""]["unit"] = ROW
            del sections["unit"]
        tables: list[dict[str, Any]] = [{"name": name} for name in names] or [{} for _ in self.by]
        for asked, by, statistics in zip(tables, self.by, self.table_statistics, strict=True):
            asked["by"] = list(by)
            for statistic in statistics:
                if isinstance(statistic, Quantile):
                    asked.setdefault("quantile", {})[statistic.column] = list(statistic.fractions)
                else:
                    asked.setdefault(statistic.kind, []).append(statistic.column)
        parts = [(f"[{section}]" if section else "", values) for section, values in sections.items()]
        parts += [("[[tables]]", asked) for asked in tables]
        for column in self.domain:
            parts.append((f"[columns.{_key(column.name)}]", column.declaration(directory)))
        parts += [("[[impossible]]", dict(pattern)) for pattern in self.domain.impossible]
        texts = []
        for head, values in parts:
            lines = [f"{_key(key)} = {toml_text(value)}\n" for key, value in values.items()]
            texts.append("".join([f"{head}\n", *lines] if head else lines))
        return "\n".join(texts)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> TableRequest:
        """Return the request of a TOML file; errors name its line and key."""
        content, name = read_file(path, argument="path", most=MOST_TOML), str(path)
        plain = parsed_toml(content, name, argument="path")
        with named_by_lines(content, plain, name):
            return cls.from_keys(plain, name)

    @classmethod
    def from_keys(cls, content: Mapping[str, Any], name: str, others: Collection[str] = ()) -> TableRequest:
        """Return the request that the keys of a TOML file make, given its name; errors are named by its keys.

        Other keys of such a file may be meant by one that is not known.
        """
        from ggdp.domain.lookups import in_directory_of
        from ggdp.domain.table_domain import Domain, require_no_draft

        require_no_draft(content, "path", name)

        known = {said.key or one: one for one, (_, said) in options(cast("type", cls)).items() if one not in _COMPOSED}
        sections = {key.partition(".")[0] for key in known if "." in key}
        flat: dict[str, Any] = {}
        for key, value in content.items():
            # The keys of a section are as in "unit.column".
            is_section = key in sections and isinstance(value, dict)
            if (key, value) == ("unit", ROW):
                key, value, is_section = "unit", {"is_row": True}, True
            if key in sections and not is_section:
                said = 'must be a section [unit] with column = "...", or unit = "row"' if key == "unit" else ""
                raise ArgumentError(key, value, said or f"must be a section, [{key}]")
            flat |= {f"{key}.{inner}": one for inner, one in value.items()} if is_section else {key: value}
        if flat.get("unit.column") == ROW:
            flat.setdefault("unit.is_row", False)
        if unknown := [key for key in flat if key not in known and key not in _KEYS]:
            others = [*others, *([] if "." in unknown[0] else sections)]
            near = get_close_matches(unknown[0], [*known, *_KEYS, *others], n=1, cutoff=0.75)
            said = f"is not a key of a request{f'; did you mean {near[0]!r}?' if near else '; take it out'}"
            raise ArgumentError(unknown[0], flat[unknown[0]], said)
        given = {known[key]: value for key, value in flat.items() if key in known}
        if "epsilon" not in content:
            raise ArgumentError("path", name, "needs a key epsilon, such as epsilon = 1.0")
        tables = content.get("tables", [])
        if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
            raise ArgumentError("path", name, "needs a section [[tables]] for each table")
        for table in tables:
            if not isinstance(columns := table.get("by", []), str | list):
                raise ArgumentError("tables.by", columns, 'must be a list of columns, such as by = ["ward"]')
        by = [[columns] if isinstance(columns := table.get("by", []), str) else columns for table in tables]
        if len(by) > 1 and [] in by:
            raise ArgumentError("tables.by", [], "must name a column; a table of all rows has a study of its own")
        for key in ("columns", "impossible"):
            if not isinstance(content.get(key, {}), dict if key == "columns" else dict | list):
                raise ArgumentError(key, content[key], f"must be a section, such as [{key}.NAME] or [[{key}]]")
        return cls(
            by=None if by == [[]] else by,
            goal=goal_of(content["epsilon"], content.get("delta"), content.get("notion")),
            domain=Domain(in_directory_of(name, content.get("columns", {})), content.get("impossible", ())),
            statistics=[_statistics(table) for table in tables],
            **given,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the request as plain values, ready for JSON, with the columns of the domain that are used."""
        from ggdp.domain.filters import read_columns
        from ggdp.domain.table_domain import Domain
        from ggdp.sources.text_files import TextFormat

        needed = {*self.columns, *read_columns(self.filter)}
        needed.update(name for made, term in self.derived for name in (made, *read_columns(term)))
        used = [column for column in self.domain if column.name in needed]
        patterns = dict.fromkeys(tuple(pattern.items()) for domain in self.domains for pattern in domain.impossible)
        record: type = type(self)
        first, texts = ("by", "goal", "domain"), options(TextOptions)
        # Manifests name these where they are used; a unit that they name is a column.
        unused = [name for name in ("digits", "percent_of") if getattr(self, name) is None]
        unused += [] if self.unit_is_row else ["unit_is_row"]
        filtered = {} if self.where is None else {"where": self.where}
        # Manifests have always had the statistics last.
        last = {
            "statistics": describe(self.statistics),
            "per_unit": self.per_unit,
            "weights": dict(self.weights),
            "text": {**(self.text or TextFormat()).to_dict(), **self.values.declared},
            "impossible": [
                {name: level.isoformat() if isinstance(level, date) else level for name, level in pattern}
                for pattern in patterns
            ],
        }
        return {
            "by": [list(names) for names in self.by],
            "goal": self.goal.under(self.neighbours).to_dict(),
            "domain": Domain(used).to_dict(),
            **{
                name: getattr(self, name)
                for name in options(record)
                if name not in {*first, *texts, *last, *unused, "where"}
            },
            **last,
            **filtered,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], dates: Collection[str] = (), directory: str = "") -> TableRequest:
        """Return the request that `to_dict` described; `dates` are the columns whose levels are dates, not texts.

        Files of look-ups are looked for in a directory, then in the working directory.
        """
        from ggdp.accounting.composition import guarantee_from
        from ggdp.domain.column import Column
        from ggdp.domain.table_domain import Domain
        from ggdp.sources.text_files import TextFormat

        columns = [
            Column(name=name, **_column_arguments(declared, directory, dated=name in dates))
            for name, declared in plain["domain"].items()
        ]
        days = {one.name: {str(level): level for level in one.levels or ()} for one in columns if one.name in dates}
        patterns = [
            {name: days.get(name, {}).get(level, level) for name, level in pattern.items()}
            for pattern in plain["impossible"]
        ]
        usual = TextFormat().to_dict()
        return cls(
            **{"unit_is_row": False}
            | {name: value for name, value in plain.items() if name not in ("impossible", "text")}
            | {
                "by": None if plain["by"] == [[]] else plain["by"],
                # Its neighbours are those of the request.
                "goal": replace(guarantee_from(plain["goal"]), neighbours=None),
                "domain": Domain(columns, patterns),
                "statistics": statistic_from(list(plain["statistics"])),
            }
            | {name: value for name, value in plain["text"].items() if value != usual.get(name)}
        )


@frozen
class PlanArguments(TableRequest):
    """The arguments of `ggdp.plan_table`: a request, and what a run does that nobody reads in a manifest."""

    goal: Guarantee = field(default=None, converter=as_goal, metadata=like(TableRequest, "goal"))
    domain: Domain = field(factory=lambda: _domain(None), converter=_domain, metadata=like(TableRequest, "domain"))
    epsilon: float | None = option("float, optional", "In place of `goal`: the epsilon of pure DP.")
    delta: float | None = option("float, optional", "With `epsilon`: the delta of approximate DP.")
    engine: EngineName | None = option(
        '{"duckdb", "spark"}, optional',
        "Engine that reads files; DuckDB by default. A frame is counted by its own engine.",
        Flag("Engine that reads the source; DuckDB by default.", kind=EngineName | None),
    )
    out: str | os.PathLike[str] | None = option(
        "path, optional",
        "Where to write the tables, .csv or .parquet, with a manifest beside them.",
        Flag("Output file; FILE.manifest.json is written too.", "FILE.csv|.parquet", Path | None),
    )
    plot: str | os.PathLike[str] | None = option(
        "path, optional",
        "Where to draw the tables, .png, .pdf or .svg; needs the extra `plots`.",
        Flag("Draw the released table to a .png, .pdf or .svg file.", "FILE", Path | None),
    )
    wide: str | os.PathLike[str] | None = option(
        "path, optional",
        "Where to write the tables for print, .csv: with the levels of the last column of `by` side by side.",
        Flag(
            "Also write the table for print, the levels of the last column of --by side by side.",
            "FILE.csv",
            Path | None,
        ),
    )


@frozen
class ReleaseArguments(PlanArguments):
    """The arguments of `ggdp.release_table` but the data: those of a plan, and of `TablePlan.run`."""

    temp_dir: str | os.PathLike[str] | None = option(
        "path, optional",
        "A directory for rows that do not fit in memory, best on an encrypted disk; else the one that the environment "
        "variable GGDP_TEMP_DIR names. Without either no row is written to disk.",
        Flag(
            "Directory for rows that do not fit in memory, best on an encrypted disk; without it, none are written.",
            "DIR",
            Path | None,
        ),
    )
    overwrite: bool = option(
        "bool, default False",
        "Whether files that already exist may be replaced. Each run spends the budget again.",
        _switch("Replace an earlier output (and spend the budget again)."),
        default=False,
    )
    sign: str | os.PathLike[str] | Ed25519PrivateKey | None = option(
        "path or Ed25519PrivateKey, optional",
        "Sign the manifest with this private key: a file in the format of OpenSSH or PEM, or a key of `cryptography`. "
        "The signature is written to ``FILE.manifest.json.sig``. The passphrase of a file is taken from the "
        "environment variable GGDP_SIGN_PASSPHRASE.",
        Flag("Sign the manifest with this private key (Ed25519, OpenSSH or PEM).", "KEY", Path | None),
    )
    rng: Source | None = option(
        "Source, optional",
        "Where the random bits come from; a seeded one leaves the release without a guarantee.",
    )
    ledger: Ledger | str | os.PathLike[str] | None = option(
        "Ledger, str or path, optional",
        "The budget that the release is charged to, before a row is read. What does not fit is refused before the data "
        "are opened. A release that fails later is still charged.",
        Flag("Charge the release to this ledger, a file or postgresql://..., before a row is read.", "URL"),
    )
    analyst: str | None = option(
        "str, optional", "Who asks, for the ledger.", Flag("Who asks, for --ledger.", "NAME", label="Analyst")
    )
    once: str | None = option(
        "str, optional",
        "With `ledger` and `out`: a key of your choice, such as the name and the date of a scheduled job. A run with "
        "the key of an earlier release draws and charges nothing: it returns the files that were published.",
        Flag("With --ledger: a key that charges once; a retry returns what was published and charges nothing.", "KEY"),
    )


@frozen
class CheckArguments(TableOptions):
    """The arguments of `ggdp.check_table` but the data: a request that is compared with a source."""

    by: tuple[tuple[str, ...], ...] = field(
        default=None,
        converter=_marginals,
        metadata=like(TableRequest, "by", doc="Columns to count by. Without them, and statistics: all columns."),
    )
    domain: Domain = field(factory=lambda: _domain(None), converter=_domain, metadata=like(TableRequest, "domain"))
    draft_domain: str | os.PathLike[str] | None = option(
        "path, optional",
        "Where to write a draft of the domain, .toml. It is NOT PRIVATE, and is refused as a domain until it is "
        "corrected by the code book and its mark is removed.",
        Flag("Write a draft of the domain, NOT PRIVATE, to correct by the code book.", "FILE.toml", Path | None),
    )
    epsilon: float = option(
        "float, default 1.0",
        "Epsilon of the release that is planned: what the noise of each `max_cells` is shown for.",
        Flag("Epsilon of the release that is planned, for the noise shown.", kind=float, default=1.0),
        default=1.0,
    )
    delta: float | None = option(
        "float, optional",
        "Delta of the release that is planned; pure DP by default, and 1e-9 where keys are not public.",
        Flag("Delta of the release that is planned, for the noise shown.", kind=float | None),
    )
    engine: EngineName | None = field(default=None, kw_only=True, metadata=like(PlanArguments, "engine"))
    temp_dir: str | os.PathLike[str] | None = field(
        default=None, kw_only=True, metadata=like(ReleaseArguments, "temp_dir")
    )


@frozen
class RangeArguments(TextOptions):
    """The arguments of `ggdp.plan_range`."""

    column: str = field(
        metadata=documentation("str", "A column of numbers; values that are no numbers are counted nowhere.")
    )
    goal: Guarantee = field(
        default=None,
        converter=as_goal,
        metadata=like(TableRequest, "goal", doc="The guarantee; a number is the epsilon of pure DP."),
    )
    epsilon: float | None = field(default=None, kw_only=True, metadata=like(PlanArguments, "epsilon"))
    delta: float | None = field(default=None, kw_only=True, metadata=like(PlanArguments, "delta"))
    share: float = option(
        "float, default 0.01",
        "The share of the noisy total that may be outside of the range, at least 0 and below 1.",
        Flag("Share of the values that may be outside of the range.", "SHARE", float, default=0.01),
        default=0.01,
    )
    by: tuple[tuple[str, ...], ...] | None = option(
        "str, optional",
        "Another column with declared levels, for each of which a range is found; all of them together cost as much.",
        _repeated("Another column with declared levels: find a range for each of them.", "COL"),
        check=_marginals,
    )
    domain: Domain = field(
        factory=lambda: _domain(None),
        converter=_domain,
        kw_only=True,
        metadata=like(TableRequest, "domain", doc="The public levels of `by`; and what the column is derived from."),
    )
    where: str | None = field(default=None, kw_only=True, metadata=like(TableRequest, "where"))
    unit: str | None = field(default=None, kw_only=True, metadata=like(TableRequest, "unit"))
    unit_is_row: bool | None = field(default=None, kw_only=True, metadata=like(TableRequest, "unit_is_row"))
    max_cells: int | None = option(
        "int, optional",
        "With `unit`: most buckets that one unit is counted in.",
        Flag("With --unit: most buckets that one unit is counted in.", "M", int | None),
    )
    neighbours: Neighbours = field(default="add-remove", kw_only=True, metadata=like(TableRequest, "neighbours"))
    engine: EngineName | None = field(default=None, kw_only=True, metadata=like(PlanArguments, "engine"))
    out: str | os.PathLike[str] | None = option(
        "path, optional",
        "Where a run writes the range with its manifest, .json.",
        Flag("Write the range with its manifest to a file.", "FILE.json", Path | None),
    )


def _column_arguments(declared: Mapping[str, Any], directory: str, *, dated: bool) -> dict[str, Any]:
    """Return the declaration of a column from its plain values, in which dates, times and infinite ends are texts."""
    found = dict(declared)
    if "lookup" in found and os.path.exists(path := os.path.join(directory, found["lookup"]["file"])):
        found["lookup"] = {**found["lookup"], "path": path}
    if dated and "levels" in found:
        found["levels"] = [date.fromisoformat(level) for level in found["levels"]]
    if isinstance(edges := found.get("edges"), Mapping):
        found["edges"] = {key: value if key == "every" else date.fromisoformat(value) for key, value in edges.items()}
    elif edges is not None:
        # A time at midnight is the day itself.
        times = {edge: datetime.fromisoformat(edge) for edge in edges if isinstance(edge, str) and "inf" not in edge}
        found["edges"] = [times.get(edge) or (float(edge) if isinstance(edge, str) else edge) for edge in edges]
    return found


def _statistics(table: Mapping[str, Any]) -> tuple[Statistic, ...]:
    found: list[Statistic] = []
    for key, value in table.items():
        if key == "quantile" and isinstance(value, dict):
            found += [Quantile(column, fractions) for column, fractions in value.items()]
        elif key != "quantile" and key in STATISTICS and isinstance(value, list):
            found += [STATISTICS[key](column) for column in value]
        elif key in STATISTICS:
            named = value if isinstance(value, str) else "COLUMN"
            example = f"{{ {_key(named)} = [0.5] }}" if key == "quantile" else toml_text([named])
            raise ArgumentError(f"tables.{key}", value, f"must be as in {key} = {example}")
        elif key != "by":
            if key == "median":
                said = "is a quantile; write quantile = { COLUMN = [0.5] }"
            elif key in {said.key or one for one, (_, said) in options(TableRequest).items()}:
                said = "is a key of all tables together; write it above the first section of the file"
            else:
                said = f"is not a key of [[tables]]; known are {', '.join(['name', 'by', *STATISTICS])}"
            raise ArgumentError(f"tables.{key}", value, said)
    return tuple(found)


def is_table_name(name: object) -> bool:
    """Return whether a table may have this name, which is that of a file on every system."""
    if not isinstance(name, str) or re.fullmatch(r"\w[\w .()+-]{0,79}(?<![ .])", name) is None:
        return False
    return name.casefold() != "manifest" and len(name.encode()) <= _LONGEST_FILE


@contextmanager
def named_by_lines(content: bytes, plain: Mapping[str, Any], name: str) -> Iterator[None]:
    """Make errors about a request that is read from a TOML file name its line and its key."""
    known = {one: said.key or one for one, (_, said) in options(TableRequest).items()}
    mentioned = {**known, "domain": "[columns.NAME]", "statistics": "mean, sum, variance or quantile"}

    rows = {("unit", ROW): f'unit = "{ROW}"', ("unit_is_row", "False"): f'unit.column = "{ROW}"'}

    def mention(argument: str, value: str) -> str:
        key = mentioned.get(argument, argument)
        is_word = value not in ("True", "False") and not re.fullmatch(r"[0-9]+(\.[0-9]+)?", value)
        return rows.get((argument, value)) or (f"{key} = {repr(value) if is_word else value.lower()}" if value else key)

    try:
        yield
    except ArgumentError as refused:
        if refused.argument == "path":
            raise
        # A section that is none has the name of an argument.
        is_key = refused.argument in plain and not isinstance(plain[refused.argument], dict)
        key = refused.argument if is_key else known.get(refused.argument, refused.argument)
        found = next(_places(key, refused.value, plain), None) or tuple(key.split("."))
        line = next((line for end in range(len(found), 0, -1) if (line := line_of(content, found[:end]))), None)
        shown = ".".join(step for step in found if isinstance(step, str))
        said = in_words_of(refused.expected, mention)
        where = name if line is None else f"{name}, line {line}"
        raise type(refused)(f"{where}: {shown}", refused.value, said) from None


def _places(key: str, value: object, plain: Mapping[str, Any]) -> Iterator[tuple[str | int, ...]]:
    """Yield the keys of a TOML file that an error about an argument may be about, the likeliest first."""
    columns, tables = plain.get("columns"), plain.get("tables")
    for column in columns if isinstance(columns, dict) else ():
        role, _, of = key.partition(" of ")
        if of == repr(column):
            yield "columns", column, *([] if role == "domain" else [role])
    key = "tables.name" if key == "name" else key
    kind = key.removeprefix("tables.")
    for place, table in enumerate(tables if isinstance(tables, list) else ()):
        if not isinstance(table, dict):
            continue
        asked = table.get(kind)
        if kind != key and asked == value:
            yield "tables", place, kind
        if kind == "by" and (asked == value or asked == [value] or (isinstance(asked, list) and value in asked)):
            yield "tables", place, kind
        for statistic in STATISTICS if kind == "statistics" else ():
            if value in table.get(statistic, ()):
                yield "tables", place, statistic
        if key == "fractions" and "quantile" in table:
            yield "tables", place, "quantile"
    if key in ("by", "statistics"):
        yield ("tables",)
    if key == "domain":
        yield ("columns",)


def _key(key: str) -> str:
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else toml_text(key)


def toml_text(value: object) -> str:
    """Return a value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | Path):
        # The escapes of JSON are those of TOML, which has one character more that must be escaped.
        return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(str(key))} = {toml_text(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml_text, value)) + "]"
    return repr(value)
