"""Units that are in more cells than they are counted in: their private number, and intervals that allow for them.

=======  ==============================================================================================================
M        cells of a marginal that a unit is counted in, at most
c, b     units in a cell, and those that are counted there
K        units that are in more than M cells of the marginal
y        b + noise, the noisy count of the cell; h the half-width of its interval at the level `CELL_LEVEL`
z        K + noise, the noisy number of units that are cut; g the half-width at the level `CUT_LEVEL`
share    of epsilon, what pays for z (`count_cut`); the rest is for the cells
=======  ==============================================================================================================

Claim (privacy). The numbers z of k marginals are pure DP with the epsilon of their noise, and all that is released has
the sum of the two epsilons, and the delta of the cells. Proof. Whether a unit is in more than M cells is a function of
its own rows, so that it moves each K by at most 1 when it comes or goes; and by at most 1 when it is replaced, since
one that goes takes at most 1 and one that comes adds at most 1. So at most k numbers move by at most 1 under both
relations. Their noise is drawn apart from that of the cells, so losses add up: a loss of at most the first epsilon
comes to one that is above the second with probability delta (pDP), or to an (epsilon, delta)-aDP mechanism (Dwork and
Roth 2014, Theorem 3.16). Rounding: the sum up, and what is left of the goal's epsilon for the cells down.

Claim (coverage). With a probability of at least 95 %, y - h <= c <= y + h + max(0, z + g), given that the cell is shown
where cells are left out by a threshold. Proof. A unit that is in at most M cells is counted in all of them; one that is
in more is missing from a cell at most once. So b <= c <= b + K. With at least CELL_LEVEL b is in [y - h, y + h] (given
that the cell is shown: `ggdp.releases.mechanism_record`). The noise of z is symmetric and independent of the cells',
so that K > z + g has a probability of at most (1 - CUT_LEVEL) / 2, whatever is shown; and K >= 0. Both fail with at
most (1 - CELL_LEVEL) + (1 - CUT_LEVEL) / 2 <= 0.05.

Where rows are counted no such number helps: a unit may lose any number of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from ggdp._rounding import rounded_up
from ggdp.privacy import Guarantee, PureDP, Sensitivity
from ggdp.releases.mechanism_record import LEVEL
from ggdp.tables.table_noise import LAPLACE, NoiseFor

if TYPE_CHECKING:
    from ggdp.mechanisms import Mechanism
    from ggdp.tables.request import TableRequest


# Of the 5 % that an interval may miss, nearly 4 are for the noise of the cell and 1 for that of the units cut.
CELL_LEVEL = 0.9601
CUT_LEVEL = 0.9801


class CutCount(NamedTuple):
    """How many units of a marginal are in more cells than they are counted in; all of it may be published."""

    table: int  # which table of the request
    noisy: int  # the raw noisy number
    # Its 95 % interval, at least 0.
    lower: int
    upper: int
    allowance: int  # by how much the upper ends of the table's intervals are raised

    def to_dict(self) -> dict[str, int]:
        """Return the number as plain values; tables are numbered from 1."""
        plain = self._asdict()
        return {"table": plain.pop("table") + 1, "noisy_count": plain.pop("noisy"), **plain}


@dataclass(frozen=True, slots=True, kw_only=True)
class CutPlan:
    """How the units that are cut are counted: the noise, and for which tables."""

    mechanism: Mechanism
    tables: tuple[int, ...]

    @property
    def half_width(self) -> int:
        """Half-width of the 95 % interval of the number of units that are cut."""
        return int(self.mechanism.law.half_width(LEVEL))

    def counts(self, noisy: Sequence[int]) -> tuple[CutCount, ...]:
        """Return noisy numbers with their intervals and allowances."""
        wide, reach = int(self.mechanism.law.half_width(CUT_LEVEL)), self.half_width
        return tuple(
            CutCount(table, number, max(number - reach, 0), max(number + reach, 0), max(number + wide, 0))
            for table, number in zip(self.tables, noisy, strict=True)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return how the numbers are made private, as plain values."""
        return {"guarantee": self.mechanism.guarantee.to_dict(), "mechanism": self.mechanism.record.to_dict()}


def plan_cut(request: TableRequest, noise_for: NoiseFor) -> CutPlan | None:
    """Return how the units that are cut are counted; None if that was not requested."""
    if request.count_cut is None:
        return None
    tables = tuple(table for table, can in enumerate(request.limits_units) if can)
    moves = Sensitivity.cells(len(tables), 1, neighbours=request.neighbours)
    return CutPlan(mechanism=noise_for(PureDP(_epsilon(request)), moves, LAPLACE), tables=tables)


def rest_of_goal(request: TableRequest) -> Guarantee:
    """Return what is left of the goal for the cells; rounded down, so the sum is not above the goal."""
    if request.count_cut is None:
        return request.goal
    left = -rounded_up(Fraction(_epsilon(request)) - Fraction(request.goal.epsilon), of="epsilon")
    return replace(request.goal, epsilon=left)


def _epsilon(request: TableRequest) -> float:
    assert request.count_cut is not None
    return request.goal.epsilon * request.count_cut
