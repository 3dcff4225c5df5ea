"""From a request to its noise, threshold and guarantee: all that is settled before the data are opened."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ggdp.calibration import calibrate
from ggdp.mechanisms import Mechanism
from ggdp.privacy import ApproxDP, PureDP
from ggdp.releases.facts import LEVEL
from ggdp.releases.threshold import Threshold, thresholded
from ggdp.tables.cut import CutPlan, joint, plan_cut, rest_of_goal
from ggdp.tables.noise import LAPLACE, table_noise
from ggdp.tables.request import AUTO
from ggdp.tables.thresholds import key_threshold, noise_share, open_guarantee, sparse_threshold, threshold_share
from ggdp.tables.words import covered

if TYPE_CHECKING:
    from ggdp.calibration import Calibration
    from ggdp.privacy import Guarantee
    from ggdp.releases.facts import MechanismFacts
    from ggdp.tables.request import TableRequest

__all__ = ["TablePlan", "plan_table"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePlan:
    """How a request will be answered, and what that will cost. No data were read for it.

    Attributes
    ----------
    request : TableRequest
        What was asked for.
    mechanism : Mechanism
        The noise.
    threshold : Threshold, optional
        From which noisy count on a cell is shown, of sparse and open tables; None if all are.
    guarantee : PureDP, ProbabilisticDP or ApproxDP
        What the release will promise.
    cut : CutPlan, optional
        How the units that are in more than `max_cells` cells are counted; None if they are not.
    """

    request: TableRequest
    mechanism: Mechanism
    threshold: Threshold | None
    guarantee: Guarantee
    cut: CutPlan | None = None

    @property
    def facts(self) -> MechanismFacts:
        """What a release will say of its mechanism."""
        facts = replace(self.mechanism.facts, goal=self.request.goal)
        return facts if self.threshold is None else thresholded(facts, self.threshold)

    @property
    def half_width(self) -> int:
        """How far a noisy count is from the true one, at most, with a probability of 95 %."""
        return int(self.mechanism.law.half_width(LEVEL))

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values, fit for JSON."""
        return {
            "request": self.request.to_dict(),
            "regime": self.request.regime,
            "cells": self.request.cells,
            "tables": [
                {
                    "by": list(names),
                    "regime": regime,
                    "cells": size,
                    "max_cells": most,
                    "covers": covered(self.request, k),
                }
                for k, (names, regime, size, most) in enumerate(
                    zip(
                        self.request.by,
                        self.request.regimes,
                        self.request.sizes,
                        self.request.most_cells,
                        strict=True,
                    )
                )
            ],
            "order": self.mechanism.order,
            "scale": self.mechanism.scale,
            "std": self.mechanism.std,
            "plus_minus": self.half_width,
            "level": LEVEL,
            "threshold": None if self.threshold is None else self.threshold.to_dict(),
            "guarantee": self.guarantee.to_dict(),
            "cut": None if self.cut is None else {**self.cut.to_dict(), "plus_minus": self.cut.half_width},
            "sensitivity": str(self.mechanism.sensitivity),
            "warnings": list(self.request.warnings),
        }


def plan_table(request: TableRequest) -> TablePlan:
    """Return how a request will be answered.

    Examples
    --------
    >>> import ggdp
    >>> from ggdp.tables.request import TableRequest
    >>> request = TableRequest(by=["sex"], goal=ggdp.PureDP(1.0), domain=ggdp.Domain({"sex": ["f", "m"]}))
    >>> plan = plan_table(request)
    >>> plan.half_width, str(plan.guarantee)
    (3, '1-DP under add-remove neighbours')
    """
    if "open" in request.regimes:
        return _open(request)
    order = None if request.order == AUTO else request.order
    noise, cut = table_noise(rest_of_goal(request), request.sensitivity, order), plan_cut(request)
    mechanism = Mechanism(noise)
    promised = joint(mechanism.guarantee, cut)
    if request.nonnegative or request.total is not None or request.false_cells is not None:
        promised = promised.after_postprocessing()
    threshold = None
    if request.false_cells is not None:
        assert request.cells is not None
        tau = sparse_threshold(noise.order, noise.scale, cells=request.cells, false_cells=request.false_cells)
        threshold = Threshold(value=tau, cells=request.cells, false_cells=request.false_cells)
    return TablePlan(request=request, mechanism=mechanism, threshold=threshold, guarantee=promised, cut=cut)


def _open(request: TableRequest) -> TablePlan:
    """Return the plan of tables of which some have keys that are chosen privately."""
    whole, m = request.goal.delta, request.open_cells_of_a_unit
    beside = request.cells_of_a_unit - m
    noise, cut = _open_noise(request), plan_cut(request)
    share = threshold_share(whole, noise.guarantee, cells_of_a_unit=m, declared_cells=beside)
    most = request.most_in_a_cell
    tau = key_threshold(noise.order, noise.scale, delta=share, cells_of_a_unit=m, most_in_a_cell=most)
    promised = open_guarantee(
        noise.guarantee,
        order=noise.order,
        scale=noise.scale,
        threshold=tau,
        cells_of_a_unit=m,
        declared_cells=beside,
        most_in_a_cell=most,
    )
    return TablePlan(
        request=request,
        mechanism=Mechanism(noise),
        threshold=Threshold(value=tau),
        guarantee=joint(promised, cut),
        cut=cut,
    )


def _open_noise(request: TableRequest) -> Calibration:
    """Return the noise of keys and counts: pure where Laplace noise is taken, which leaves more to the keys."""
    goal = rest_of_goal(request)
    if request.order == LAPLACE:
        return calibrate(PureDP(goal.epsilon), request.sensitivity, order=LAPLACE, support="integer")
    m = request.open_cells_of_a_unit
    beside = request.cells_of_a_unit - m
    delta = noise_share(goal.delta, cells_of_a_unit=m, declared_cells=beside, neighbours=request.neighbours)
    order = None if request.order == AUTO else request.order
    return table_noise(ApproxDP(goal.epsilon, delta), request.sensitivity, order)
