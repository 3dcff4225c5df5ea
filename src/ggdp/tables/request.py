"""Requests for tables: which counts, how private, over which public domain. Nothing here depends on the data.

A request is declared once, in `TableRequest`: each field with its type, its check, its documentation and its flags. The
arguments of `ggdp.plan_table` and `ggdp.release_table`, the flags of ``ggdp release``, the keys of a TOML file, the
``request`` of a manifest and the form of the explorer are derived from it. This module is loaded for every ``--help``,
so it imports what is heavy where it is used.

=========  ========================================================================================================
declared   every cell of the domain gets noise, empty ones too
sparse     the same law, with the cells below a threshold left out: for domains too large to list
open       a column has no declared levels: keys are chosen privately by a threshold, which needs delta
mixed      several marginals, some declared and some open: each is treated as its own regime says
=========  ========================================================================================================

The regime of each marginal follows from the request alone.

=========  ========================================================================================================
M          cells of a marginal that a unit is counted in, at most (`max_cells`); 1 where each row is a unit
R          what a unit adds to a cell, at most: 1 where units are counted, `max_rows_per_cell` where rows are
N_i        cells of marginal i that can occur; infinite where it is open
=========  ========================================================================================================

Claim (sensitivity). When a unit is added or removed, at most min(M, N_i) counts of marginal i change; when one is
replaced by another, at most min(2 M, N_i); each by at most R. Proof. What a unit adds is a function of its own rows: R
or less in each of M cells or fewer, which are cells of the marginal. With f and g what the one that goes and the one
that comes add to a cell, both in [0, R], the count changes by |f - g| <= R, in a cell that one of them is in: at most M
+ M cells. Without a column of units every row is a unit, in one cell of each marginal or in none.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from attrs import converters, field, frozen

from ggdp import _validate
from ggdp._records import Flag, documented, like, option, options
from ggdp._rounding import rounded_text, rounded_up_text
from ggdp.errors import ArgumentError, ArgumentTypeError, Message
from ggdp.privacy import ApproxDP, Neighbours, Notion, ProbabilisticDP, PureDP, Sensitivity
from ggdp.privacy.guarantees import validated_neighbours
from ggdp.tables.spreadsheet_formulas import formula_warning

if TYPE_CHECKING:
    import os

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from ggdp.domain.table_domain import Domain
    from ggdp.ledger import Ledger
    from ggdp.noise import Source
    from ggdp.privacy import Guarantee
    from ggdp.sources.text_files import TextFormat
    from ggdp.tables.statistics.statistic import Statistic

Regime: TypeAlias = Literal["declared", "sparse", "open", "mixed"]
Counting: TypeAlias = Literal["units", "rows"]
PerUnit: TypeAlias = Literal["sum", "mean", "min", "max"]
EngineName: TypeAlias = Literal["duckdb", "spark"]

AUTO: Literal["auto"] = "auto"
# The columns of a published table beside its keys.
COUNTS = ("count", "noisy_count", "lower", "upper")
# A published column, where units may be counted in fewer cells than they are in: what the interval covers, in words.
COVERS = "covers"
# Up to this many cells of a declared table are released in memory, in a few seconds and some gigabytes.
MOST_IN_MEMORY = 50_000_000
# Up to this many cells are released on the executors of Spark.
MOST_ON_EXECUTORS = 10**10
# More could not be distinguished in 64-bit noise.
MOST_ROWS = 10**12
# Counts up to this are fitted to a total exactly.
MOST_TOTAL = 2**53
# Above these a publisher is warned.
_LARGE_DELTA = 1e-5
_LARGE_EPSILON = 10.0
_LONGEST_NAME = 80


def _marginals(
    by: str | Sequence[str] | Sequence[Sequence[str]] | None,
) -> tuple[tuple[str, ...], ...]:
    """Return the columns of each marginal, from a name, a list of names, or a list of such lists; none from None."""
    if by is None or by == ((),):
        return ((),)
    items = _validate.non_empty(by=[by] if isinstance(by, str) else by)
    if all(isinstance(item, str) for item in items):
        items = (items,)
    found = []
    for item in items:
        names = (item,) if isinstance(item, str) else _validate.non_empty(by=item)
        for name in names:
            if not isinstance(name, str) or not name:
                raise ArgumentError("by", by, "must be names of columns, or lists of them for several tables")
            if name in COUNTS:
                raise ArgumentError("by", name, "is the name of a published column; rename it in the source")
        if len(set(names)) < len(names):
            raise ArgumentError("by", list(names), "names a column twice")
        found.append(tuple(str(name) for name in names))
    if len({frozenset(names) for names in found}) < len(found):
        raise ArgumentError("by", by, "requests the same table twice, which would cost twice")
    return tuple(found)


def _goal(goal: Guarantee) -> Guarantee:
    if not isinstance(goal, PureDP | ProbabilisticDP | ApproxDP):
        raise ArgumentTypeError("goal", goal, "must be a goal, such as PureDP(1.0) or ApproxDP(1.0, 1e-6)")
    return goal


def goal_of(epsilon: float, delta: float | None, notion: str | None) -> Guarantee:
    """Return the goal of an epsilon and a delta: pure DP without a delta and approximate DP with one, by default."""
    notion = notion or ("pure" if delta is None else "approximate")
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


def _order(order: float | Literal["auto"]) -> float | Literal["auto"]:
    return AUTO if order == AUTO else _validate.order(order=order)


def _unit_name(name: str) -> str:
    """Return the word for units, if it fits in a sentence."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > _LONGEST_NAME:
        raise ArgumentError(
            "unit_name", name, f"must be a few words, such as 'patients', at most {_LONGEST_NAME} characters"
        )
    return name.strip()


def _statistics(statistics: Statistic | Sequence[Statistic] | None) -> tuple[Statistic, ...]:
    from ggdp.tables.statistics.statistic import checked_statistics

    return checked_statistics(statistics)


def _weights(weights: Mapping[str, float] | tuple[tuple[str, float], ...] | None) -> tuple[tuple[str, float], ...]:
    """Return the weights of columns, from a mapping."""
    if weights is None:
        return ()
    if not isinstance(weights, Mapping):
        if not isinstance(weights, tuple) or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in weights):
            raise ArgumentTypeError("weights", weights, 'must be a mapping of columns to numbers, {"income": 2}')
        weights = dict(weights)
    return tuple((str(name), _validate.positive(weights=weight)) for name, weight in weights.items())


@frozen(kw_only=True)
class TextOptions:
    """How text files are read, if their names do not say so: part of a request, never inferred from the data."""

    encoding: str | None = option(
        None,
        "str, optional",
        'Character encoding of text files, such as "latin-1"; UTF-8 by default.',
        Flag(
            "encoding",
            str | None,
            "Character encoding of text files: utf-8 (default), latin-1, ...",
            "NAME",
            label="Encoding",
        ),
        key="format.encoding",
    )
    delimiter: str | None = option(
        None,
        "str, optional",
        'Separator of the fields of CSV files, such as ";"; by default a comma, or a tab in .tsv files.',
        Flag(
            "delimiter",
            str | None,
            "Character between the fields of CSV files, such as ';' or '\\t'.",
            "C",
            label="Delimiter",
        ),
        key="format.delimiter",
    )
    quoted: bool | None = option(
        None,
        "bool, default True",
        "Whether fields of CSV files may be in double quotes. Pass False for files without quoting.",
        Flag(
            "no_quotes", bool, "Treat quotes as plain characters, for files whose fields are not quoted.", default=False
        ),
        key="format.quoted",
    )
    escape: str | None = option(
        None,
        "str, optional",
        "Character before a quote inside quotes, in files that do not double quotes: a backslash in files that Spark "
        "has written.",
        Flag("escape", str | None, "Character before a quote inside quotes, if not doubled: '\\' for Spark.", "C"),
        key="format.escape",
    )
    strict_lines: bool | None = option(
        None,
        "bool, default False",
        "Whether each line of a text file is a record, for files whose fields hold no line ends: a misplaced quote or "
        "line end in one row then changes no other row.",
        Flag(
            "strict_lines",
            bool,
            "Each line is one record, for files whose fields contain no line ends: a misplaced quote then spoils one "
            "row only.",
            default=False,
            label="Lines",
        ),
        key="format.strict_lines",
    )

    @cached_property
    def text(self) -> TextFormat | None:
        """How text files are read; None if no option is given."""
        given = {name: value for name in options(TextOptions) if (value := getattr(self, name)) is not None}
        if not given:
            return None
        from ggdp.sources.text_files import TextFormat

        return TextFormat(**given)


@frozen(kw_only=True)
class TableOptions(TextOptions):
    """What is asked for of a table beside its columns, its goal and its domain: arguments by name."""

    order: float | Literal["auto"] = field(
        default=AUTO,
        converter=_order,
        metadata=documented(
            'float or "auto", default "auto"',
            "Order of the noise; by default the best for the goal, found without the data.",
            Flag(
                "order",
                str,
                "Order of the noise: 1 is Laplace, 2 is Gaussian, auto the best.",
                "P|auto",
                default=AUTO,
                label="Order",
            ),
        ),
    )
    unit: str | None = option(
        None,
        "str, optional",
        "Column that identifies the unit of each row. Without it each row is a unit.",
        Flag(
            "unit",
            str | None,
            "Column that identifies the unit of each row; without it each row is a unit.",
            "COL",
            label="Unit",
        ),
        key="unit.column",
    )
    max_cells: int | None = option(
        None,
        "int, optional",
        "With `unit`: most cells of a table that one unit is counted in, chosen at random. A table with fewer cells "
        "limits the number by itself.",
        Flag(
            "max_cells",
            int | None,
            "With --unit: most cells of a table that one unit is counted in.",
            "M",
            label="Cells per unit",
        ),
        check=_validate.integer,
        at_least=1,
        key="unit.max_cells",
    )
    count: Counting = option(
        "units",
        '{"units", "rows"}, default "units"',
        "With `unit`: whether cells count distinct units or their rows.",
        Flag("count", Counting, "With --unit: whether cells count different units, or their rows.", default="units"),
        check=_validate.choice,
        among=get_args(Counting),
        key="unit.count",
    )
    max_rows_per_cell: int | None = option(
        None,
        "int, optional",
        'With ``count="rows"``: most rows of one unit that are counted in a cell.',
        Flag("max_rows_per_cell", int | None, "With --count rows: most rows of a unit counted in one cell.", "R"),
        check=_validate.integer,
        at_least=1,
        key="unit.max_rows_per_cell",
    )
    count_cut: float | None = option(
        None,
        "float, optional",
        "Share of epsilon, above 0 and below 1, that pays for a private count of the units that are in more than "
        "`max_cells` cells. Intervals then cover all units of a cell, not just those that are counted there.",
        Flag(
            "count_cut",
            float | None,
            "Spend this share of epsilon on counting the units in more than --max-cells cells, so that intervals "
            "cover them too.",
            "SHARE",
        ),
        check=_validate.positive,
        key="unit.count_cut",
    )
    unit_name: str | None = field(
        default=None,
        converter=converters.optional(_unit_name),
        metadata=documented(
            "str, optional",
            'Plural noun for the units in statements and plots, such as ``"patients"``.',
            Flag(
                "unit_name",
                str | None,
                "Word for the units in statements, such as patients.",
                "WORDS",
                label="Word for the units",
            ),
            key="unit.name",
        ),
    )
    statistics: tuple[Statistic, ...] = field(
        default=(),
        converter=_statistics,
        metadata=documented(
            "sequence of Mean, Sum, Variance or Quantile, optional",
            "What to publish of columns of numbers beside the counts. Their public ranges are in the domain, as "
            '``{"income": {"range": [0, 200_000]}}``: values outside are clamped, what is not a number is left out.',
            *(
                Flag(
                    kind,
                    list[str] | None,
                    f"Publish the {kind} of a column in each cell; needs its range.",
                    "COL",
                    label="Statistics",
                )
                for kind in ("mean", "sum", "variance")
            ),
            Flag(
                "quantile",
                list[str] | None,
                "Publish quantiles of a column (income=0.25,0.5,0.75); needs its range.",
                "COL=Q[,Q...]",
                label="Statistics",
            ),
            Flag(
                "range",
                list[str] | None,
                "Public range of a column of numbers (income=0:200000); values outside are clamped to it.",
                "COL=LO:HI[:STEP]",
                label="Ranges",
            ),
        ),
    )
    per_unit: PerUnit | None = option(
        None,
        '{"sum", "mean", "min", "max"}, optional',
        "With `unit` and `statistics`: how the rows of a unit in a cell become one value; by default their sum for "
        "sums and their mean otherwise.",
        Flag(
            "per_unit",
            PerUnit | None,
            "With --unit: how the rows of a unit in a cell become one value; sum for --sum, else mean.",
        ),
        check=_validate.choice,
        among=get_args(PerUnit),
        key="unit.per_unit",
    )
    weights: tuple[tuple[str, float], ...] = field(
        default=(),
        converter=_weights,
        metadata=documented(
            "mapping of str to float, optional",
            "Weights of the columns of `statistics`, 1 by default: twice the weight, half the noise.",
            Flag(
                "weight",
                list[str] | None,
                "Weight of a column among the statistics: twice the weight, half the noise.",
                "COL=W",
            ),
        ),
    )
    neighbours: Neighbours = field(
        default="add-remove",
        converter=validated_neighbours,
        metadata=documented(
            '{"add-remove", "replace-one"}, default "add-remove"',
            "Whether neighbouring data sets differ by adding or removing one unit, or by replacing one.",
            Flag("neighbours", Neighbours, "Which data sets are neighbours.", default="add-remove", label="Neighbours"),
        ),
    )
    total: int | None = option(
        None,
        "int, optional",
        "Public total of the counts, as asserted by you. Needs replace-one neighbours.",
        Flag("total", int | None, "Public total of the counts; needs --neighbours replace-one.", "N"),
        check=_validate.integer,
        at_least=0,
    )
    nonnegative: bool = option(
        False,
        "bool, default False",
        "Whether counts below 0, and ends of intervals below 0, are published as 0.",
        Flag("nonnegative", bool, "Publish negative counts, and negative ends of intervals, as 0.", default=False),
        check=_validate.boolean,
    )
    false_cells: float | None = option(
        None,
        "float, optional",
        "Release a sparse table of a declared domain, with at most this many empty cells shown on average.",
        Flag("false_cells", float | None, "Publish a sparse table; at most X empty cells are shown on average.", "X"),
        check=_validate.positive,
    )


@frozen
class TableRequest(TableOptions):
    """A request for private counts. All of it is public.

    Its fields are the arguments of `ggdp.plan_table` that say what is published, and how files of text are read.
    """

    by: tuple[tuple[str, ...], ...] = field(
        converter=_marginals,
        metadata=documented(
            "str, sequence of str, sequence of sequences of str, or None",
            "Columns to count by; several lists give several tables, released as one query. With `statistics`, None "
            "gives one row for the whole table.",
            Flag(
                "by",
                list[str] | None,
                "Columns to count by; repeat for several tables at once. Without it: statistics of all rows.",
                "COL[,COL...]",
                label="Count by",
            ),
        ),
    )
    goal: Guarantee = field(
        converter=_goal,
        metadata=documented(
            "PureDP, ProbabilisticDP or ApproxDP",
            "Guarantee of all tables together.",
            Flag("epsilon", float, "Epsilon of the goal.", required=True, label="Epsilon"),
            Flag("delta", float | None, "Delta of the goal.", label="Delta"),
            Flag(
                "notion",
                Notion | None,
                "Notion of privacy; by default pure without --delta and approximate with it.",
            ),
        ),
    )
    domain: Domain = field(
        factory=lambda: _domain(None),
        converter=_domain,
        metadata=documented(
            "Domain, mapping or path of a TOML file, optional",
            "The public levels of the columns. The levels of a column that is not declared are chosen privately, which "
            "needs a delta.",
            Flag("domain", Path | None, "Public levels and edges of the columns, [columns.NAME].", "FILE.toml"),
            Flag(
                "levels",
                list[str] | None,
                "Public levels of a column: text (ward=births,eyes), or integers (rooms=1..5 or rooms:int=1,2,5).",
                "COL=V1,V2,...",
                label="Levels",
            ),
            Flag(
                "bins",
                list[str] | None,
                "Public bins of a column: edges that are numbers (age=0,18,65,inf) or dates "
                "(visited=2024-01-01,2024-07-01), or whole periods "
                "(visited=2024-01-01:2025-01-01:month; also day, week, quarter, year).",
                "COL=E0,E1,...",
                label="Bins",
            ),
            Flag(
                "labels",
                list[str] | None,
                "Names to publish for the bins of a column (age=0-17,18-64,65+).",
                "COL=L1,L2,...",
                label="Labels of bins",
            ),
            Flag(
                "other",
                list[str] | None,
                "A level that counts the rows whose value is not declared (ward=elsewhere).",
                "COL=LABEL",
                label="Other values",
            ),
            Flag(
                "missing",
                list[str] | None,
                "A level that counts the rows without a value (age=unknown).",
                "COL=LABEL",
                label="Missing values",
            ),
        ),
    )

    def __attrs_post_init__(self) -> None:
        self.text  # noqa: B018 - raises if it is wrong
        _check_request(self)

    @cached_property
    def domains(self) -> tuple[Domain, ...]:
        """The domain of each marginal; undeclared columns are open."""
        from ggdp.domain.column import Column
        from ggdp.domain.table_domain import Domain

        return tuple(
            Domain(
                [self.domain[name] if name in self.domain else Column(name=name) for name in names],
                impossible=[pattern for pattern in self.domain.impossible if set(pattern) <= set(names)],
            )
            for names in self.by
        )

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that must be read."""
        units = () if self.unit is None else (self.unit,)
        measured = [statistic.column for statistic in self.statistics]
        return tuple(dict.fromkeys([*(name for names in self.by for name in names), *measured, *units]))

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

    @cached_property
    def most_cells(self) -> tuple[int, ...]:
        """Most cells of each marginal that one unit is counted in: `max_cells`, or all cells if there are fewer."""
        return self._within_sizes(self.max_cells or 1)

    @cached_property
    def cells_of_a_unit(self) -> int:
        """Most cells that one unit is counted in, over all marginals."""
        return sum(self.most_cells)

    @cached_property
    def open_cells_of_a_unit(self) -> int:
        """Most cells that one unit is counted in, over the open marginals."""
        return sum(most for most, kind in zip(self.most_cells, self.regimes, strict=True) if kind == "open")

    @property
    def most_in_a_cell(self) -> int:
        """Most that one unit adds to a cell: 1, or `max_rows_per_cell`."""
        return self.max_rows_per_cell or 1

    @cached_property
    def limits_cells(self) -> tuple[bool, ...]:
        """Whether a unit may be counted in fewer cells of a marginal than it is in."""
        if self.unit is None:
            return (False,) * len(self.by)
        return tuple(size is None or size > (self.max_cells or 1) for size in self.sizes)

    @cached_property
    def limits_units(self) -> tuple[bool, ...]:
        """Whether a unit may be counted for less than it has, in each marginal: in fewer cells, or with fewer rows."""
        return tuple(self.count == "rows" or limited for limited in self.limits_cells)

    @cached_property
    def sensitivity(self) -> Sensitivity:
        """How far one unit can change the counts."""
        units = 1 if self.neighbours == "add-remove" else 2
        changing = sum(self._within_sizes(units * (self.max_cells or 1)))
        return Sensitivity.cells(changing, self.most_in_a_cell, neighbours=self.neighbours)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about parameters that protect little, and about labels that are formulas in a spreadsheet."""
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

    @property
    def dates(self) -> list[str]:
        """The columns in use whose levels are dates, which JSON writes as text."""
        return [column.name for column in self.domain if column.name in self.columns and column.kind == "date"]

    def _within_sizes(self, most: int) -> tuple[int, ...]:
        return tuple(most if size is None else min(most, size) for size in self.sizes)

    def to_toml(self) -> str:
        """Return the request as the text of a TOML file, which `from_toml` reads."""
        from ggdp.tables.request_files import request_as_toml

        return request_as_toml(self)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> TableRequest:
        """Return the request of a TOML file (`ggdp.tables.request_files`)."""
        from ggdp.tables.request_files import read_request

        return read_request(path, cls)

    def to_dict(self) -> dict[str, Any]:
        """Return the request as plain values, ready for JSON, with the columns of the domain that are used."""
        from ggdp.domain.table_domain import Domain
        from ggdp.sources.text_files import TextFormat
        from ggdp.tables.statistics.statistic import described

        used = [column for column in self.domain if column.name in self.columns]
        patterns = dict.fromkeys(tuple(pattern.items()) for domain in self.domains for pattern in domain.impossible)
        record: type = type(self)
        first, texts = ("by", "goal", "domain"), options(TextOptions)
        # Manifests have always had the statistics last.
        last = {
            "statistics": [described(statistic) for statistic in self.statistics],
            "per_unit": self.per_unit,
            "weights": dict(self.weights),
            "text": (self.text or TextFormat()).to_dict(),
            "impossible": [
                {name: level.isoformat() if isinstance(level, date) else level for name, level in pattern}
                for pattern in patterns
            ],
        }
        return {
            "by": [list(names) for names in self.by],
            "goal": self.goal.under(self.neighbours).to_dict(),
            "domain": Domain(used).to_dict(),
            **{name: getattr(self, name) for name in options(record) if name not in {*first, *texts, *last}},
            **last,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], dates: Collection[str] = ()) -> TableRequest:
        """Return the request that `to_dict` described; `dates` are the columns whose levels are dates, not texts."""
        from ggdp.accounting.composition import guarantee_from
        from ggdp.domain.column import Column
        from ggdp.domain.table_domain import Domain
        from ggdp.sources.text_files import TextFormat
        from ggdp.tables.statistics.statistic import statistic_from

        columns = [
            Column(name=name, **_declared(declared, dated=name in dates)) for name, declared in plain["domain"].items()
        ]
        patterns = [
            {name: date.fromisoformat(level) if name in dates else level for name, level in pattern.items()}
            for pattern in plain["impossible"]
        ]
        usual = TextFormat().to_dict()
        return cls(
            **{name: value for name, value in plain.items() if name not in ("impossible", "text")}
            | {
                "by": None if plain["by"] == [[]] else plain["by"],
                # Its neighbours are those of the request.
                "goal": replace(guarantee_from(plain["goal"]), neighbours=None),
                "domain": Domain(columns, patterns),
                "statistics": tuple(map(statistic_from, plain["statistics"])),
            }
            | {name: value for name, value in plain["text"].items() if value != usual.get(name)}
        )


@frozen(kw_only=True)
class PlanArguments(TableRequest):
    """The arguments of `ggdp.plan_table`: a request, and what a run does that nobody reads in a manifest."""

    engine: EngineName | None = option(
        None,
        '{"duckdb", "spark"}, optional',
        "Engine that reads files; DuckDB by default. A frame is counted by its own engine.",
        Flag("engine", EngineName | None, "Engine that reads the source; DuckDB by default."),
    )
    out: str | os.PathLike[str] | None = option(
        None,
        "path, optional",
        "Where to write the tables, .csv or .parquet, with a manifest beside them.",
        Flag("out", Path | None, "Output file; FILE.manifest.json is written too.", "FILE.csv|.parquet"),
    )
    plot: str | os.PathLike[str] | None = option(
        None,
        "path, optional",
        "Where to draw the tables, .png, .pdf or .svg; needs the extra `plots`.",
        Flag("plot", Path | None, "Draw the released table to a .png, .pdf or .svg file.", "FILE"),
    )


@frozen(kw_only=True)
class ReleaseArguments(PlanArguments):
    """The arguments of `ggdp.release_table` but the data: those of a plan, and of `TablePlan.run`."""

    temp_dir: str | os.PathLike[str] | None = option(
        None,
        "path, optional",
        "A directory for rows that do not fit in memory, best on an encrypted disk; else the one that the environment "
        "variable GGDP_TEMP_DIR names. Without either no row is written to disk.",
        Flag(
            "temp_dir",
            Path | None,
            "Directory for rows that do not fit in memory, best on an encrypted disk; without it, none are written.",
            "DIR",
        ),
    )
    overwrite: bool = option(
        False,
        "bool, default False",
        "Whether files that already exist may be replaced. Each run spends the budget again.",
        Flag("overwrite", bool, "Replace an earlier output (and spend the budget again).", default=False),
    )
    sign: str | os.PathLike[str] | Ed25519PrivateKey | None = option(
        None,
        "path or Ed25519PrivateKey, optional",
        "Sign the manifest with this private key: a file in the format of OpenSSH or PEM, or a key of `cryptography`. "
        "The signature is written to ``FILE.manifest.json.sig``. The passphrase of a file is taken from the "
        "environment variable GGDP_SIGN_PASSPHRASE.",
        Flag("sign", Path | None, "Sign the manifest with this private key (Ed25519, OpenSSH or PEM).", "KEY"),
    )
    source: Source | None = option(
        None,
        "Source, optional",
        "Where the random bits come from; a seeded one leaves the release without a guarantee.",
    )
    ledger: Ledger | str | os.PathLike[str] | None = option(
        None,
        "Ledger, str or path, optional",
        "The budget that the release is charged to, before a row is read. What does not fit is refused before the data "
        "are opened. A release that fails later is still charged.",
        Flag(
            "ledger",
            str | None,
            "Charge the release to this ledger, a file or postgresql://..., before a row is read.",
            "URL",
        ),
    )
    analyst: str | None = option(
        None,
        "str, optional",
        "Who asks, for the ledger.",
        Flag("analyst", str | None, "Who asks, for --ledger.", "NAME", label="Analyst"),
    )


@frozen
class CheckArguments(TextOptions):
    """The arguments of `ggdp.check_table` but the data: what of a request can be compared with a source."""

    by: tuple[tuple[str, ...], ...] = field(converter=_marginals, metadata=like(TableRequest, "by"))
    domain: Domain = field(factory=lambda: _domain(None), converter=_domain, metadata=like(TableRequest, "domain"))
    unit: str | None = field(default=None, kw_only=True, metadata=like(TableRequest, "unit"))
    statistics: tuple[Statistic, ...] = field(
        default=(), converter=_statistics, kw_only=True, metadata=like(TableRequest, "statistics")
    )
    per_unit: PerUnit | None = field(default=None, kw_only=True, metadata=like(TableRequest, "per_unit"))
    epsilon: float = field(
        default=1.0,
        kw_only=True,
        metadata=documented(
            "float, default 1.0",
            "Epsilon of the release that is planned: what the noise of each `max_cells` is shown for.",
            Flag("epsilon", float, "Epsilon of the release that is planned, for the noise shown.", default=1.0),
        ),
    )
    engine: EngineName | None = field(default=None, kw_only=True, metadata=like(PlanArguments, "engine"))
    temp_dir: str | os.PathLike[str] | None = field(
        default=None, kw_only=True, metadata=like(ReleaseArguments, "temp_dir")
    )


@frozen
class RangeArguments(TextOptions):
    """The arguments of `ggdp.plan_range`."""

    column: str = field(
        metadata=documented("str", "A column of numbers; values that are no numbers are counted nowhere.")
    )
    goal: Guarantee = field(metadata=like(TableRequest, "goal", doc="The guarantee."))
    share: float = field(
        default=0.01,
        kw_only=True,
        metadata=documented(
            "float, default 0.01",
            "The share of the noisy total that may be outside of the range, at least 0 and below 1.",
            Flag("share", float, "Share of the values that may be outside of the range.", "SHARE", default=0.01),
        ),
    )
    unit: str | None = field(default=None, kw_only=True, metadata=like(TableRequest, "unit"))
    max_cells: int | None = field(
        default=None,
        kw_only=True,
        metadata=documented(
            "int, optional",
            "With `unit`: most buckets that one unit is counted in.",
            Flag("max_cells", int | None, "With --unit: most buckets that one unit is counted in.", "M"),
        ),
    )
    neighbours: Neighbours = field(default="add-remove", kw_only=True, metadata=like(TableRequest, "neighbours"))
    engine: EngineName | None = field(default=None, kw_only=True, metadata=like(PlanArguments, "engine"))
    out: str | os.PathLike[str] | None = field(
        default=None,
        kw_only=True,
        metadata=documented(
            "path, optional",
            "Where a run writes the range with its manifest, .json.",
            Flag("out", Path | None, "Write the range with its manifest to a file.", "FILE.json"),
        ),
    )


def _check_request(request: TableRequest) -> None:
    """Raise if the parts of a request do not go together; nothing depends on the data."""
    if request.goal.delta == 0.0 and request.order not in (AUTO, 1.0):
        raise ArgumentError("order", request.order, Message("needs a delta: give a {delta} above 0, or {order:1}"))
    if request.goal.neighbours not in (None, request.neighbours):
        words = "is not for {stated!r} neighbours; pass {neighbours:{wanted}}"
        said = Message(words, stated=request.neighbours, wanted=request.goal.neighbours)
        raise ArgumentError("goal", str(request.goal), said)
    _check_units(request)
    _check_rows(request)
    _check_regime(request)
    if request.count_cut is not None:
        _check_count_cut(request, request.count_cut)
    if request.total is not None:
        _check_total(request)
    if request.statistics:
        _check_statistics(request)
        return
    if request.by == ((),):
        raise ArgumentError("by", None, "names no column: counts need columns to count by")
    if request.per_unit is not None:
        raise ArgumentError("per_unit", request.per_unit, Message("needs {statistics}"))
    if request.weights:
        raise ArgumentError("weights", dict(request.weights), Message("needs {statistics}"))


def _check_units(request: TableRequest) -> None:
    """Raise if units have no limit on their cells, or their column is also counted by."""
    if request.unit is None:
        if request.max_cells is not None:
            said = Message("needs {unit}: name the column that identifies the unit of each row")
            raise ArgumentError("max_cells", request.max_cells, said)
        return
    if not isinstance(request.unit, str) or not request.unit:
        kind = ArgumentError if isinstance(request.unit, str) else ArgumentTypeError
        raise kind("unit", request.unit, "must be the name of a column")
    if request.max_cells is None:
        said = Message(
            "needs {max_cells}: in how many cells one unit is counted at most. More cells of a unit are left out at "
            "random, and the noise grows with the number; `ggdp check` shows how many cells units are in",
        )
        raise ArgumentError("unit", request.unit, said)
    if any(request.unit in names for names in request.by):
        raise ArgumentError("unit", request.unit, "cannot also be counted by: each unit would have a cell of its own")
    if any(COVERS in names for names in request.by):
        raise ArgumentError("by", COVERS, "is the name of a published column; rename it in the source")


def _check_rows(request: TableRequest) -> None:
    """Raise if rows of units are counted without a limit."""
    rows = request.max_rows_per_cell
    if request.count == "rows" and request.unit is None:
        said = Message("needs {unit}: without one each row is a unit, and rows are what is counted")
        raise ArgumentError("count", request.count, said)
    if request.count == "rows" and rows is None:
        said = Message(
            "needs {max_rows_per_cell}: how many rows of a unit are counted in one cell at most. The noise grows "
            "with the number; `ggdp check` shows how many rows units have in a cell",
        )
        raise ArgumentError("count", request.count, said)
    if (rows or 1) > MOST_ROWS:
        raise ArgumentError("max_rows_per_cell", rows, "must be at most 10^12")
    if request.count != "rows" and rows is not None:
        raise ArgumentError("max_rows_per_cell", rows, Message("needs {count:rows}"))


def _check_regime(request: TableRequest) -> None:
    """Raise for undeclared columns without a delta, and for more cells than can be released."""
    from ggdp.domain.table_domain import MOST_CELLS

    counted_by = dict.fromkeys(name for names in request.by for name in names)
    unknown = [name for name in counted_by if name not in request.domain or request.domain[name].kind == "open"]
    if unknown and request.false_cells is not None:
        said = Message("needs a declared domain, and column {column!r} is not declared in {domain}", column=unknown[0])
        raise ArgumentError("false_cells", request.false_cells, said)
    if unknown and request.goal.delta == 0.0:
        declared = "the domain does not declare this column" if len(request.domain) else "no domain is given"
        known = [column.name for column in request.domain if column.kind != "open"]
        if near := get_close_matches(unknown[0], known, n=1):
            declared += f" (did you mean {near[0]!r}?)"
        said = Message(
            "{declared}: declare its levels or edges with {domain}; or give a {delta} above 0, then its levels are "
            "chosen privately and those of few units do not show",
            declared=declared,
        )
        raise ArgumentError("by", unknown[0], said)
    for names, size in zip(request.by, request.sizes, strict=True):
        if size == 0:
            raise ArgumentError("by", list(names), "has no cell left: all of them are declared to be impossible")
    numbered = request.numbered_cells
    if numbered > MOST_CELLS:
        raise ArgumentError(
            "by", request.by, f"spans {rounded_text(numbered)} cells; at most 10^18 can be numbered: leave out columns"
        )
    if request.false_cells is not None and request.false_cells >= (request.cells or 0):
        raise ArgumentError("false_cells", request.false_cells, f"must be below the number of cells, {request.cells:,}")
    if request.false_cells is None and numbered > MOST_ON_EXECUTORS:
        raise too_many_cells(request, MOST_ON_EXECUTORS)


def _check_count_cut(request: TableRequest, share: float) -> None:
    """Raise if units over the limit are counted where there can be none, or their number limits nothing."""
    if share >= 1.0:
        raise ArgumentError("count_cut", share, "must be below 1: the rest of epsilon is for the cells")
    said = None
    if request.unit is None:
        said = Message("needs {unit}: without one each row is counted in its one cell")
    elif request.count == "rows":
        said = Message(
            "needs {count:units}: a unit may lose any number of rows, so the number of such units limits nothing"
        )
    elif not any(request.limits_units):
        said = Message("is not needed: {max_cells:{most}} counts every unit in all its cells", most=request.max_cells)
    if said is not None:
        raise ArgumentError("count_cut", share, said)


def _check_total(request: TableRequest) -> None:
    """Raise if the public total could differ between neighbours."""
    said = None
    if request.neighbours != "replace-one":
        said = Message("needs {neighbours:replace-one}: adding or removing a unit would change the total")
    elif request.regime != "declared":
        said = Message("needs all cells: use a declared domain without {false_cells}")
    elif request.count == "rows":
        said = Message("needs {count:units}: units may have different numbers of rows")
    elif request.max_cells is not None and request.max_cells > 1:
        said = Message(
            "needs {max_cells:1}: with {most} a unit may be in more cells than another", most=request.max_cells
        )
    if said is not None:
        raise ArgumentError("total", request.total, said)
    if (request.total or 0) > MOST_TOTAL:
        raise ArgumentError("total", request.total, "must be at most 2^53")


def _check_statistics(request: TableRequest) -> None:
    """Raise if statistics have no public range, or are requested beside what they do not go with."""
    from ggdp.domain.value_range import FEW_STEPS, MOST_STEPS
    from ggdp.tables.statistics.statistic import published_names

    measured = dict.fromkeys(statistic.column for statistic in request.statistics)
    for column in measured:
        if column not in request.domain or request.domain[column].values_in is None:
            said = Message(
                "has no public range, which must be known without the data; declare one, with {range} or in the domain "
                "([columns.{column}] range = [low, high])",
                column=column,
            )
            raise ArgumentError("statistics", column, said)
        if column == request.unit:
            raise ArgumentError("statistics", column, "is the column of units, which has no statistics")
    for statistic in request.statistics:
        values = request.domain[statistic.column].values_in
        assert values is not None
        if statistic.squares and values.steps > FEW_STEPS:
            raise ArgumentError(
                "statistics",
                statistic.column,
                f"its range has {values.steps:,} steps, and a {statistic.kind} is computed on at most "
                f"{FEW_STEPS:,}; declare a larger step",
            )
        is_summed = request.unit is not None and (request.per_unit or statistic.rule) == "sum"
        if is_summed and max(abs(values.offset), abs(values.offset + values.steps)) > MOST_STEPS:
            raise ArgumentError(
                "statistics",
                statistic.column,
                f"its range ends more than {MOST_STEPS:,} steps from 0, and the rows of a unit are added up in steps; "
                "declare a larger step",
            )
    published = {name for statistic in request.statistics for name in published_names(statistic)} | {*COUNTS, COVERS}
    for name in (name for names in request.by for name in names):
        if name in published:
            raise ArgumentError("by", name, "is the name of a published column; rename it in the source")
    for name, _ in request.weights:
        if name not in measured:
            raise ArgumentError("weights", name, Message("is not a column of {statistics}"))
    if request.per_unit is not None and request.unit is None:
        raise ArgumentError("per_unit", request.per_unit, Message("needs {unit}: without one each row is a unit"))
    if request.goal.notion == "probabilistic":
        raise ArgumentError(
            "goal",
            str(request.goal),
            "is probabilistic DP, for which no noise of sums is proved; use approximate or pure DP",
        )
    for name, value, why in (
        ("count", request.count if request.count == "rows" else None, "statistics are of units"),
        ("total", request.total, "counts come from the noisy sums"),
        ("count_cut", request.count_cut, "intervals of statistics cover the units counted"),
        ("false_cells", request.false_cells, "every cell is published"),
    ):
        if value is not None:
            raise ArgumentError(name, value, Message("does not go with {statistics}: {why}", why=why))
    for names, regime in zip(request.by, request.regimes, strict=True):
        if regime == "open":
            raise ArgumentError(
                "by", list(names), "has a column without declared levels; statistics need declared levels or edges"
            )


def too_many_cells(request: TableRequest, most: int) -> ArgumentError:
    """Return the error for a declared table that is too large to be listed."""
    said = Message(
        "spans {cells:,} cells, and at most {most:,} are released one by one; give {false_cells} (such as 1) for a "
        "sparse table, which leaves out those with small noisy counts, or leave out columns",
        cells=request.numbered_cells,
        most=most,
    )
    return ArgumentError("by", request.by, said)


def _declared(declared: Mapping[str, Any], *, dated: bool) -> dict[str, Any]:
    """Return the declaration of a column from its plain values, in which dates, times and infinite ends are texts."""
    found = dict(declared)
    if dated and "levels" in found:
        found["levels"] = [date.fromisoformat(level) for level in found["levels"]]
    if isinstance(edges := found.get("edges"), Mapping):
        found["edges"] = {key: value if key == "every" else date.fromisoformat(value) for key, value in edges.items()}
    elif edges is not None:
        found["edges"] = [_edge(edge) if isinstance(edge, str) else edge for edge in edges]
    return found


def _edge(text: str) -> float | date:
    if text in ("inf", "-inf"):
        return float(text)
    return datetime.fromisoformat(text)  # midnight is the day itself
