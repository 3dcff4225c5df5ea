"""From a request to its noise, threshold and guarantee: all that is settled before the data are opened."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ggdp.calibration import calibrate
from ggdp.mechanisms import Mechanism
from ggdp.privacy import ApproxDP, PureDP
from ggdp.releases.facts import LEVEL
from ggdp.releases.threshold import Threshold, thresholded
from ggdp.tables.noise import LAPLACE, table_noise
from ggdp.tables.request import AUTO
from ggdp.tables.thresholds import key_threshold, noise_share, open_guarantee, sparse_threshold, threshold_share

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
        From which noisy count on a cell is shown; None if all are.
    guarantee : PureDP, ProbabilisticDP or ApproxDP
        What the release will promise.
    """

    request: TableRequest
    mechanism: Mechanism
    threshold: Threshold | None
    guarantee: Guarantee

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
            "order": self.mechanism.order,
            "scale": self.mechanism.scale,
            "std": self.mechanism.std,
            "plus_minus": self.half_width,
            "level": LEVEL,
            "threshold": None if self.threshold is None else self.threshold.to_dict(),
            "guarantee": self.guarantee.to_dict(),
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
    if request.regime == "open":
        return _open(request)
    noise = table_noise(request.goal, request.sensitivity, None if request.order == AUTO else request.order)
    mechanism = Mechanism(noise)
    promised = mechanism.guarantee
    if request.nonnegative or request.total is not None or request.false_cells is not None:
        promised = promised.after_postprocessing()
    threshold = None
    if request.false_cells is not None:
        assert request.cells is not None
        tau = sparse_threshold(noise.order, noise.scale, cells=request.cells, false_cells=request.false_cells)
        threshold = Threshold(value=tau, cells=request.cells, false_cells=request.false_cells)
    return TablePlan(request=request, mechanism=mechanism, threshold=threshold, guarantee=promised)


def _open(request: TableRequest) -> TablePlan:
    """Return the plan of a table whose keys are chosen privately."""
    whole, m = request.goal.delta, request.cells_of_a_unit
    noise = _open_noise(request)
    share = threshold_share(whole, noise.guarantee, cells_of_a_unit=m)
    tau = key_threshold(noise.order, noise.scale, delta=share, cells_of_a_unit=m)
    return TablePlan(
        request=request,
        mechanism=Mechanism(noise),
        threshold=Threshold(value=tau),
        guarantee=open_guarantee(
            noise.guarantee, order=noise.order, scale=noise.scale, threshold=tau, cells_of_a_unit=m
        ),
    )


def _open_noise(request: TableRequest) -> Calibration:
    """Return the noise of keys and counts: pure where Laplace noise is taken, which leaves more to the keys."""
    goal = request.goal
    if request.order == LAPLACE:
        return calibrate(PureDP(goal.epsilon), request.sensitivity, order=LAPLACE, support="integer")
    delta = noise_share(goal.delta, cells_of_a_unit=request.cells_of_a_unit, neighbours=request.neighbours)
    order = None if request.order == AUTO else request.order
    return table_noise(ApproxDP(goal.epsilon, delta), request.sensitivity, order)
