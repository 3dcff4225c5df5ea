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
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from attrs import converters, field, fields, frozen

from ggdp import _validate
from ggdp._records import checked
from ggdp._rounding import rounded_up_text
from ggdp.composition.parts import guarantee_from
from ggdp.errors import ArgumentError, ArgumentTypeError
from ggdp.privacy import ApproxDP, ProbabilisticDP, PureDP, Sensitivity
from ggdp.privacy.neighbours import validated_neighbours
from ggdp.tables.column import Column
from ggdp.tables.domain import Domain
from ggdp.tables.engines.text_files import TextFormat
from ggdp.tables.request_rules import (
    check_cut,
    check_order,
    check_regime,
    check_rows,
    check_statistics,
    check_total,
    check_units,
)
from ggdp.tables.spreadsheet_formulas import formula_warning
from ggdp.tables.statistics.statistic import checked_per_unit, checked_statistics, described, statistic_from

if TYPE_CHECKING:
    from ggdp.privacy import Guarantee, Neighbours
    from ggdp.tables.statistics.statistic import PerUnit, Statistic

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
