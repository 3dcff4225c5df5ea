"""What is asked for: which counts, how private, over which public domain. Nothing here has seen the data.

=========  =======================================================================================
declared   every cell of the domain gets noise, empty ones too
sparse     the same law, with the cells below a threshold left out: for domains too large to list
open       a column has no declared levels: keys are chosen privately by a threshold, which needs delta
=========  =======================================================================================

The regime follows from the request alone. Claim (sensitivity): a unit is in at most M cells of each of k marginals, and
each count moves by at most 1 when the unit comes or goes; so at most M k counts move under add-remove neighbours, and
twice as many when one unit is replaced by another. Without a column of units every row is a unit, in one cell of
each marginal or in none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ggdp import _validate
from ggdp.errors import ArgumentError
from ggdp.privacy import ApproxDP, ProbabilisticDP, PureDP, Sensitivity
from ggdp.privacy.neighbours import validated_neighbours
from ggdp.tables.column import Column
from ggdp.tables.domain import MOST_CELLS, Domain

if TYPE_CHECKING:
    from ggdp.privacy import Guarantee, Neighbours

__all__ = ["AUTO", "COUNTS", "MOST_IN_MEMORY", "Regime", "TableRequest"]

Regime: TypeAlias = Literal["declared", "sparse", "open"]

AUTO = "auto"
# The columns of a published table beside its keys.
COUNTS = ("count", "noisy_count", "lower", "upper")
# So many cells of a declared table are released in memory, in a few seconds and some gigabytes.
MOST_IN_MEMORY = 50_000_000
# So many are released on the executors of Spark.
MOST_ON_EXECUTORS = 10**10
# Above it, one unit in a hundred thousand may be given away whole.
_LARGE_DELTA = 1e-5


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRequest:
    """A request for private counts. All of it is public.

    Attributes
    ----------
    by : tuple of tuple of str
        The columns of each marginal.
    goal : PureDP, ProbabilisticDP or ApproxDP
        What must be promised.
    domain : Domain
        The declared columns.
    order : float or "auto"
        Order of the noise.
    unit : str, optional
        Column that says whose row it is; None if each row is a unit of its own.
    max_cells : int, optional
        In how many cells of each marginal one unit is counted.
    neighbours : {"add-remove", "replace-one"}
        The relation of neighbours.
    total : int, optional
        What the counts of each marginal add up to, asserted to be public.
    nonnegative : bool
        Whether counts below 0 are published as 0.
    false_cells : float, optional
        How many empty cells may be expected to show in a sparse table.
    """

    by: tuple[tuple[str, ...], ...]
    goal: Guarantee
    domain: Domain = field(default_factory=lambda: Domain({}))
    order: float | Literal["auto"] = "auto"
    unit: str | None = None
    max_cells: int | None = None
    neighbours: Neighbours = "add-remove"
    total: int | None = None
    nonnegative: bool = False
    false_cells: float | None = None

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "by", _marginals(self.by))
        if not isinstance(self.goal, PureDP | ProbabilisticDP | ApproxDP):
            raise ArgumentError("goal", self.goal, "must be a goal, such as PureDP(1.0) or ApproxDP(1.0, 1e-6)")
        set_(self, "domain", _domain(self.domain))
        if self.order != AUTO:
            set_(self, "order", _validate.order(order=self.order))
        set_(self, "neighbours", validated_neighbours(self.neighbours))
        if self.goal.neighbours not in (None, self.neighbours):
            raise ArgumentError(
                "goal",
                str(self.goal),
                f"is not for the table's neighbours, {self.neighbours!r}; give neighbours={self.goal.neighbours!r}",
            )
        if not isinstance(self.nonnegative, bool):
            raise ArgumentError("nonnegative", self.nonnegative, "must be True or False")
        self._check_units()
        if self.false_cells is not None:
            set_(self, "false_cells", _validate.positive(false_cells=self.false_cells))
        if self.total is not None:
            set_(self, "total", _validate.integer(total=self.total, at_least=0))
        self._check_regime()
        if self.total is not None:
            self._check_total()

    @property
    def domains(self) -> tuple[Domain, ...]:
        """The domain of each marginal; columns that nobody declared are open."""
        return tuple(
            Domain([self.domain[name] if name in self.domain else Column(name=name) for name in names])
            for names in self.by
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that must be read."""
        units = () if self.unit is None else (self.unit,)
        return tuple(dict.fromkeys([name for names in self.by for name in names] + list(units)))

    @property
    def regime(self) -> Regime:
        """Which of the three kinds of table is asked for."""
        if any(domain.is_open for domain in self.domains):
            return "open"
        return "declared" if self.false_cells is None else "sparse"

    @property
    def cells(self) -> int | None:
        """How many cells the marginals have together; None if nobody knows."""
        return None if self.regime == "open" else sum(domain.size for domain in self.domains)

    @property
    def cells_of_a_unit(self) -> int:
        """In how many cells one unit can be, over all marginals."""
        return (self.max_cells or 1) * len(self.by)

    @property
    def sensitivity(self) -> Sensitivity:
        """How far one unit can move the counts."""
        return Sensitivity.histogram(neighbours=self.neighbours, max_cells=self.cells_of_a_unit)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a publisher should think twice about."""
        if self.goal.delta <= _LARGE_DELTA:
            return ()
        return (
            f"delta = {self.goal.delta:g} is above {_LARGE_DELTA:g}: in a large table so many of the units may be "
            "given away whole; a delta far below one over the number of units is usual",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the request as plain values, fit for JSON; of the domain what is used."""
        used = [column for column in self.domain if column.name in self.columns]
        return {
            "by": [list(names) for names in self.by],
            "goal": self.goal.under(self.neighbours).to_dict(),
            "domain": Domain(used).to_dict(),
            "order": self.order,
            "unit": self.unit,
            "max_cells": self.max_cells,
            "neighbours": self.neighbours,
            "total": self.total,
            "nonnegative": self.nonnegative,
            "false_cells": self.false_cells,
        }

    def _check_units(self) -> None:
        if self.unit is None:
            if self.max_cells is not None:
                raise ArgumentError(
                    "max_cells", self.max_cells, "needs a unit: name the column that says whose row it is"
                )
            return
        if not isinstance(self.unit, str) or not self.unit:
            raise ArgumentError("unit", self.unit, "must be the name of a column")
        if self.max_cells is None:
            raise ArgumentError(
                "unit",
                self.unit,
                "needs max_cells: in how many cells one unit is counted at most. More cells of a unit are left out at "
                "random, and the noise grows with the number; `ggdp check` shows how many cells units are in",
            )
        object.__setattr__(self, "max_cells", _validate.integer(max_cells=self.max_cells, at_least=1))
        if any(self.unit in names for names in self.by):
            raise ArgumentError(
                "unit", self.unit, "cannot be counted by as well: each unit would have a cell of its own"
            )

    def _check_regime(self) -> None:
        unknown = [name for name in self.columns if name not in self.domain and name != self.unit]
        if unknown:
            if self.false_cells is not None:
                raise ArgumentError(
                    "false_cells",
                    self.false_cells,
                    f"needs a declared domain, and column {unknown[0]!r} has none; without one no false cell is drawn",
                )
            if self.goal.delta == 0.0:
                raise ArgumentError(
                    "domain",
                    "nothing" if not len(self.domain) else ", ".join(self.domain.names),
                    f"does not declare column {unknown[0]!r}. Declare its levels or edges; or give a delta above 0, "
                    "then its levels are chosen privately and those of few units do not show",
                )
            return
        cells = self.cells
        assert cells is not None
        if cells > MOST_CELLS:
            raise ArgumentError(
                "by", self.by, f"spans {cells:.3g} cells; at most 10^18 can be numbered: leave out columns"
            )
        if self.false_cells is not None and self.false_cells >= cells:
            raise ArgumentError("false_cells", self.false_cells, f"must be below the {cells:,} cells of the domain")
        if self.false_cells is None and cells > MOST_ON_EXECUTORS:
            raise too_many_cells(self, MOST_ON_EXECUTORS)

    def _check_total(self) -> None:
        if self.neighbours != "replace-one":
            raise ArgumentError(
                "total",
                self.total,
                "needs neighbours 'replace-one': with a unit more or less the total would not be what it is",
            )
        if self.regime != "declared":
            raise ArgumentError(
                "total", self.total, "needs all cells: it goes with a declared domain, without false_cells"
            )
        if self.max_cells is not None and self.max_cells > 1:
            raise ArgumentError(
                "total",
                self.total,
                f"needs max_cells = 1: with {self.max_cells} a unit may be in more cells than another",
            )


def too_many_cells(request: TableRequest, most: int) -> ArgumentError:
    """Return the error for a declared table that is too large to be listed."""
    return ArgumentError(
        "by",
        request.by,
        f"spans {request.cells:,} cells, and at most {most:,} are released one by one; give false_cells (such as 1) "
        "for a sparse table, which leaves out those with small noisy counts, or leave out columns",
    )


def _marginals(by: object) -> tuple[tuple[str, ...], ...]:
    """Return the columns of each marginal, from a name, a list of names, or a list of such lists."""
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
        raise ArgumentError("by", by, "asks for the same table twice, which would cost twice")
    return tuple(found)


def _domain(domain: object) -> Domain:
    if domain is None:
        return Domain({})
    if isinstance(domain, str | Path):
        return Domain.from_toml(domain)
    if isinstance(domain, Domain):
        return domain
    if not isinstance(domain, Mapping):
        raise ArgumentError("domain", type(domain).__name__, "must be a Domain, a mapping, or the path of a TOML file")
    return Domain(domain)
