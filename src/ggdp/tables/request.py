"""Requests for tables: which counts, how private, over which public domain. Nothing here depends on the data.

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

Claim (sensitivity). When a unit is added or removed, at most min(M, N_i) counts of marginal i move; when one is
replaced by another, at most min(2 M, N_i); each by at most R. Proof. What a unit adds is a function of its own rows: R
or less in each of M cells or fewer, which are cells of the marginal. With f and g what the one that goes and the one
that comes add to a cell, both in [0, R], the count moves by |f - g| <= R, in a cell that one of them is in: at most M +
M cells. Without a column of units every row is a unit, in one cell of each marginal or in none.

Checks of requests for tables, from the request alone, before any data are opened.

Messages name other arguments in backticks, as in Python; the command line writes them as flags.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from attrs import converters, field, fields, frozen

from ggdp import _validate
from ggdp._records import checked
from ggdp._rounding import rounded_text, rounded_up_text
from ggdp.composition.parts import guarantee_from
from ggdp.domain.column import Column
from ggdp.domain.table_domain import MOST_CELLS, Domain
from ggdp.domain.value_range import FEW_STEPS, MOST_STEPS
from ggdp.errors import ArgumentError, ArgumentTypeError
from ggdp.privacy import ApproxDP, ProbabilisticDP, PureDP, Sensitivity
from ggdp.privacy.neighbours import validated_neighbours
from ggdp.sources.text_files import TextFormat
from ggdp.tables.spreadsheet_formulas import formula_warning
from ggdp.tables.statistics.statistic import (
    Variance,
    checked_per_unit,
    checked_statistics,
    described,
    published_names,
    statistic_from,
)

if TYPE_CHECKING:
    from ggdp.privacy import Guarantee, Neighbours
    from ggdp.sources.measures import PerUnit
    from ggdp.tables.statistics.statistic import Statistic


# A published column, where units may be counted in fewer cells than they are in: what the interval covers, in words.
COVERS = "covers"
# Columns of counts that are published.
COUNTED = ("count", "noisy_count", "lower", "upper", COVERS)
# So many cells are released on the executors of Spark.
MOST_ON_EXECUTORS = 10**10
# More would not be told from one another in 64-bit noise.
MOST_ROWS = 10**12


def check_units(request: TableRequest) -> None:
    """Raise if units have no limit on their cells, or their column is also counted by."""
    if request.unit is None:
        if request.max_cells is not None:
            raise ArgumentError(
                "max_cells", request.max_cells, "needs `unit`: name the column that identifies the unit of each row"
            )
        return
    if not isinstance(request.unit, str) or not request.unit:
        kind = ArgumentError if isinstance(request.unit, str) else ArgumentTypeError
        raise kind("unit", request.unit, "must be the name of a column")
    if request.max_cells is None:
        raise ArgumentError(
            "unit",
            request.unit,
            "needs `max_cells`: in how many cells one unit is counted at most. More cells of a unit are left out at "
            "random, and the noise grows with the number; `ggdp check` shows how many cells units are in",
        )
    if any(request.unit in names for names in request.by):
        raise ArgumentError("unit", request.unit, "cannot also be counted by: each unit would have a cell of its own")
    if any(COVERS in names for names in request.by):
        raise ArgumentError("by", COVERS, "is the name of a published column; rename it in the source")


def check_order(request: TableRequest) -> None:
    """Raise if the order of the noise needs a delta."""
    if request.goal.delta == 0.0 and request.order not in ("auto", 1.0):
        raise ArgumentError("order", request.order, "needs a delta: give a `delta` above 0, or `order=1`")


def check_rows(request: TableRequest) -> None:
    """Raise if rows of units are counted without a limit."""
    _validate.choice(count=request.count, among=("units", "rows"))
    if request.count == "rows" and request.unit is None:
        raise ArgumentError(
            "count", request.count, "needs `unit`: without one each row is a unit, and rows are what is counted"
        )
    if request.count == "rows" and request.max_rows_per_cell is None:
        raise ArgumentError(
            "count",
            request.count,
            "needs `max_rows_per_cell`: how many rows of a unit are counted in one cell at most. The noise grows "
            "with the number; `ggdp check` shows how many rows units have in a cell",
        )
    if (request.max_rows_per_cell or 1) > MOST_ROWS:
        raise ArgumentError("max_rows_per_cell", request.max_rows_per_cell, "must be at most 10^12")
    if request.count != "rows" and request.max_rows_per_cell is not None:
        raise ArgumentError("max_rows_per_cell", request.max_rows_per_cell, 'needs `count="rows"`')


def check_regime(request: TableRequest) -> None:
    """Raise for undeclared columns without a delta, and for more cells than can be released."""
    counted_by = dict.fromkeys(name for names in request.by for name in names)
    unknown = [name for name in counted_by if name not in request.domain or request.domain[name].kind == "open"]
    if unknown and request.false_cells is not None:
        raise ArgumentError(
            "false_cells",
            request.false_cells,
            f"needs a declared domain, and column {unknown[0]!r} is not declared in `domain`",
        )
    if unknown and request.goal.delta == 0.0:
        declared = "the domain does not declare this column" if len(request.domain) else "no domain is given"
        known = [column.name for column in request.domain if column.kind != "open"]
        if near := get_close_matches(unknown[0], known, n=1):
            declared += f" (did you mean {near[0]!r}?)"
        raise ArgumentError(
            "by",
            unknown[0],
            f"{declared}: declare its levels or edges with `domain`; or give a `delta` above 0, then its levels are "
            "chosen privately and those of few units do not show",
        )
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


def check_cut(request: TableRequest) -> None:
    """Raise if units that are cut are counted where no unit can be cut, or their number limits nothing."""
    share = request.count_cut
    if share is None:
        return
    if share >= 1.0:
        raise ArgumentError("count_cut", share, "must be below 1: the rest of epsilon is for the cells")
    if request.unit is None:
        raise ArgumentError("count_cut", share, "needs `unit`: without one each row is counted in its one cell")
    if request.count == "rows":
        raise ArgumentError(
            "count_cut",
            share,
            'needs `count="units"`: a unit may lose any number of rows, so the number of such units limits nothing',
        )
    if not any(request.can_cut):
        raise ArgumentError(
            "count_cut", share, f"is not needed: `max_cells={request.max_cells}` counts every unit in all its cells"
        )


def check_total(request: TableRequest) -> None:
    """Raise if the public total could differ between neighbours."""
    if request.neighbours != "replace-one":
        raise ArgumentError(
            "total",
            request.total,
            'needs `neighbours="replace-one"`: adding or removing a unit would change the total',
        )
    if request.regime != "declared":
        raise ArgumentError("total", request.total, "needs all cells: use a declared domain without `false_cells`")
    if request.count == "rows":
        raise ArgumentError("total", request.total, 'needs `count="units"`: units may have different numbers of rows')
    if request.max_cells is not None and request.max_cells > 1:
        raise ArgumentError(
            "total",
            request.total,
            f"needs `max_cells=1`: with {request.max_cells} a unit may be in more cells than another",
        )


def check_statistics(request: TableRequest) -> None:
    """Raise if statistics have no public range, or are requested beside what they do not go with."""
    if request.by == ((),) and not request.statistics:
        raise ArgumentError("by", None, "names no column: counts need columns to count by")
    if not request.statistics:
        if request.per_unit is not None:
            raise ArgumentError("per_unit", request.per_unit, "needs `statistics`")
        if request.weights:
            raise ArgumentError("weights", dict(request.weights), "needs `statistics`")
        return
    for column in dict.fromkeys(statistic.column for statistic in request.statistics):
        if column not in request.domain or request.domain[column].values_in is None:
            raise ArgumentError(
                "statistics",
                column,
                "has no public range, which must be known without the data; declare one, with `range` or in the domain "
                f"([columns.{column}] range = [low, high])",
            )
        if column == request.unit:
            raise ArgumentError("statistics", column, "is the column of units, which has no statistics")
    for statistic in request.statistics:
        values = request.domain[statistic.column].values_in
        if isinstance(statistic, Variance) and values is not None and values.steps > FEW_STEPS:
            raise ArgumentError(
                "statistics",
                statistic.column,
                f"its range has {values.steps:,} steps, and a variance is computed on at most {FEW_STEPS:,}; declare a "
                "larger step",
            )
        if (
            request.unit is not None
            and (request.per_unit or statistic.rule) == "sum"
            and values is not None
            and max(abs(values.offset), abs(values.offset + values.steps)) > MOST_STEPS
        ):
            raise ArgumentError(
                "statistics",
                statistic.column,
                f"its range ends more than {MOST_STEPS:,} steps from 0, and the rows of a unit are added up in steps; "
                "declare a larger step",
            )
    published = {name for statistic in request.statistics for name in published_names(statistic)} | set(COUNTED)
    for name in (name for names in request.by for name in names):
        if name in published:
            raise ArgumentError("by", name, "is the name of a published column; rename it in the source")
    for name in dict(request.weights):
        if name not in {statistic.column for statistic in request.statistics}:
            raise ArgumentError("weights", name, "is not a column of `statistics`")
    if request.per_unit is not None and request.unit is None:
        raise ArgumentError("per_unit", request.per_unit, "needs `unit`: without one each row is a unit")
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
            raise ArgumentError(name, value, f"does not go with `statistics`: {why}")
    for names, regime in zip(request.by, request.regimes, strict=True):
        if regime == "open":
            raise ArgumentError(
                "by", list(names), "has a column without declared levels; statistics need declared levels or edges"
            )


def too_many_cells(request: TableRequest, most: int) -> ArgumentError:
    """Return the error for a declared table that is too large to be listed."""
    return ArgumentError(
        "by",
        request.by,
        f"spans {request.numbered_cells:,} cells, and at most {most:,} are released one by one; give `false_cells` "
        "(such as 1) for a sparse table, which leaves out those with small noisy counts, or leave out columns",
    )


Regime: TypeAlias = Literal["declared", "sparse", "open", "mixed"]
Counting: TypeAlias = Literal["units", "rows"]

AUTO: Literal["auto"] = "auto"
# The columns of a published table beside its keys.
COUNTS = ("count", "noisy_count", "lower", "upper")
# Up to this many cells of a declared table are released in memory, in a few seconds and some gigabytes.
MOST_IN_MEMORY = 50_000_000
# Above these a publisher is warned.
_LARGE_DELTA = 1e-5
_LARGE_EPSILON = 10.0
_LONGEST_NAME = 80


def _marginals(by: object) -> tuple[tuple[str, ...], ...]:
    """Return the columns of each marginal, from a name, a list of names, or a list of such lists; none from None."""
    if by is None or by == ((),):
        return ((),)
    if isinstance(by, str):
        by = [by]
    items = _validate.non_empty(by=by)
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


def _name_in_words(name: object) -> str:
    """Return the word for units, if it fits in a sentence."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > _LONGEST_NAME:
        raise ArgumentError(
            "unit_name", name, f"must be a few words, such as 'patients', at most {_LONGEST_NAME} characters"
        )
    return name.strip()


def _domain(domain: object) -> Domain:
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


def _weights(weights: object) -> tuple[tuple[str, float], ...]:
    """Return the weights of columns, from a mapping."""
    if weights is None:
        return ()
    if not isinstance(weights, Mapping):
        pairs = weights if isinstance(weights, tuple) else None
        if pairs is None or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
            raise ArgumentTypeError("weights", weights, 'must be a mapping of columns to numbers, {"income": 2}')
        weights = dict(pairs)
    return tuple((str(name), _validate.positive(weights=weight)) for name, weight in weights.items())


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


def _order(order: float | Literal["auto"]) -> float | Literal["auto"]:
    return AUTO if order == AUTO else _validate.order(order=order)


@frozen(kw_only=True)
class TableRequest:
    """A request for private counts. All of it is public.

    Attributes
    ----------
    by : tuple of tuple of str
        The columns of each marginal.
    domain : Domain
        The declared columns.
    text : TextFormat, optional
        How text files are read: encoding, delimiter, quotes, lines, longest record.
    goal, order, unit, max_cells, count, max_rows_per_cell, count_cut, unit_name
        What to count and for whom, as in `ggdp.release_table`.
    neighbours, total, nonnegative, false_cells
        What to promise and publish, as in `ggdp.release_table`.
    statistics, per_unit, weights
        What is published beside the counts, as in `ggdp.release_table`.
    """

    by: tuple[tuple[str, ...], ...] = field(converter=_marginals)
    goal: Guarantee
    domain: Domain = field(factory=lambda: Domain({}), converter=_domain)
    order: float | Literal["auto"] = field(default=AUTO, converter=_order)
    unit: str | None = None
    max_cells: int | None = checked(_validate.integer, default=None, at_least=1)
    count: Counting = "units"
    max_rows_per_cell: int | None = checked(_validate.integer, default=None, at_least=1)
    count_cut: float | None = checked(_validate.positive, default=None)
    unit_name: str | None = field(default=None, converter=converters.optional(_name_in_words))
    neighbours: Neighbours = field(default="add-remove", converter=validated_neighbours)
    total: int | None = checked(_validate.integer, default=None, at_least=0)
    nonnegative: bool = False
    false_cells: float | None = checked(_validate.positive, default=None)
    statistics: tuple[Statistic, ...] = field(default=(), converter=checked_statistics)
    per_unit: PerUnit | None = field(default=None, converter=checked_per_unit)
    weights: tuple[tuple[str, float], ...] = field(default=(), converter=_weights)
    text: TextFormat | None = None

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.goal, PureDP | ProbabilisticDP | ApproxDP):
            raise ArgumentTypeError("goal", self.goal, "must be a goal, such as PureDP(1.0) or ApproxDP(1.0, 1e-6)")
        check_order(self)
        if self.goal.neighbours not in (None, self.neighbours):
            raise ArgumentError(
                "goal",
                str(self.goal),
                f'is not for {self.neighbours!r} neighbours; pass `neighbours="{self.goal.neighbours}"`',
            )
        if not isinstance(self.nonnegative, bool):
            raise ArgumentTypeError("nonnegative", self.nonnegative, "must be True or False")
        check_units(self)
        check_rows(self)
        check_regime(self)
        check_cut(self)
        if self.total is not None:
            check_total(self)
        check_statistics(self)

    @property
    def domains(self) -> tuple[Domain, ...]:
        """The domain of each marginal; undeclared columns are open."""
        return tuple(
            Domain(
                [self.domain[name] if name in self.domain else Column(name=name) for name in names],
                impossible=[pattern for pattern in self.domain.impossible if set(pattern) <= set(names)],
            )
            for names in self.by
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that must be read."""
        units = () if self.unit is None else (self.unit,)
        measured = [statistic.column for statistic in self.statistics]
        return tuple(dict.fromkeys([*(name for names in self.by for name in names), *measured, *units]))

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Which kind of table each marginal is."""
        closed: Regime = "declared" if self.false_cells is None else "sparse"
        return tuple("open" if domain.is_open else closed for domain in self.domains)

    @property
    def regime(self) -> Regime:
        """The kind of all marginals, or "mixed"."""
        kinds = set(self.regimes)
        return kinds.pop() if len(kinds) == 1 else "mixed"

    @property
    def sizes(self) -> tuple[int | None, ...]:
        """How many cells of each marginal can occur; None if unknown."""
        return tuple(None if domain.is_open else domain.possible_size for domain in self.domains)

    @property
    def cells(self) -> int | None:
        """How many cells the marginals have together; None if unknown."""
        known = [size for size in self.sizes if size is not None]
        return sum(known) if len(known) == len(self.by) else None

    @property
    def numbered_cells(self) -> int:
        """How many cells the declared marginals have together, those that cannot occur included."""
        return sum(domain.size for domain in self.domains if not domain.is_open)

    @property
    def most_cells(self) -> tuple[int, ...]:
        """Most cells of each marginal that one unit is counted in: `max_cells`, or all cells if there are fewer."""
        return self._moving(1)

    @property
    def cells_of_a_unit(self) -> int:
        """Most cells that one unit is counted in, over all marginals."""
        return sum(self.most_cells)

    @property
    def open_cells_of_a_unit(self) -> int:
        """Most cells that one unit is counted in, over the open marginals."""
        return sum(most for most, kind in zip(self.most_cells, self.regimes, strict=True) if kind == "open")

    @property
    def most_in_a_cell(self) -> int:
        """Most that one unit adds to a cell: 1, or `max_rows_per_cell`."""
        return self.max_rows_per_cell or 1

    @property
    def can_cut(self) -> tuple[bool, ...]:
        """Whether a unit may be counted for less than it has, in each marginal: in fewer cells, or with fewer rows."""
        if self.unit is None:
            return (False,) * len(self.by)
        return tuple(self.count == "rows" or size is None or size > (self.max_cells or 1) for size in self.sizes)

    @property
    def sensitivity(self) -> Sensitivity:
        """How far one unit can move the counts."""
        moving = sum(self._moving(1 if self.neighbours == "add-remove" else 2))
        return Sensitivity.cells(moving, self.most_in_a_cell, neighbours=self.neighbours)

    @property
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

    def _moving(self, units: int) -> tuple[int, ...]:
        """Return how many cells of each marginal this many units can be in together."""
        most = units * (self.max_cells or 1)
        return tuple(most if size is None else min(most, size) for size in self.sizes)

    def to_dict(self) -> dict[str, Any]:
        """Return the request as plain values, ready for JSON, with the columns of the domain that are used."""
        used = [column for column in self.domain if column.name in self.columns]
        patterns = dict.fromkeys(tuple(pattern.items()) for domain in self.domains for pattern in domain.impossible)
        return {part.name: getattr(self, part.name) for part in fields(TableRequest)} | {
            "by": [list(names) for names in self.by],
            "goal": self.goal.under(self.neighbours).to_dict(),
            "domain": Domain(used).to_dict(),
            "impossible": [
                {name: level.isoformat() if isinstance(level, date) else level for name, level in pattern}
                for pattern in patterns
            ],
            "statistics": [described(statistic) for statistic in self.statistics],
            "weights": dict(self.weights),
            "text": (self.text or TextFormat()).to_dict(),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], dates: Collection[str] = ()) -> TableRequest:
        """Return the request that `to_dict` described; `dates` are the columns whose levels are dates, not texts."""
        domain = {name: _declared(declared, dated=name in dates) for name, declared in plain["domain"].items()}
        patterns = [
            {name: date.fromisoformat(level) if name in dates else level for name, level in pattern.items()}
            for pattern in plain["impossible"]
        ]
        columns = [Column(name=name, **declared) for name, declared in domain.items()]
        text = {"longest" if name == "longest_record" else name: value for name, value in plain["text"].items()}
        rest = {name: value for name, value in plain.items() if name != "impossible"}
        return cls(
            **rest
            | {
                "by": None if plain["by"] == [[]] else plain["by"],
                "goal": guarantee_from(plain["goal"]),
                "domain": Domain(columns, patterns),
                "statistics": tuple(map(statistic_from, plain["statistics"])),
                "text": TextFormat(**text),
            }
        )
