"""The paper's scales, corrected: closed forms, each certified by the exact loss it bounds.

=========================  ==========================================================================
Laplace                    b = Delta_1 / eps (v5, Claim 4)
Gaussian, pDP              b = Delta_2 (z + sqrt(z^2 + 2 eps)) / (sqrt 2 eps), z = Phi^-1(1 - delta/2) (Lemma 10)
Gaussian, aDP              sigma = Delta_2 sqrt(2 ln(1.25/delta)) / eps, for eps < 1 only (Eqn privacybook)
disjoint, pDP              b = D / ((g + eps)^(1/p) - g^(1/p)), g = Q^-1(1/p, delta) (Cor. disjoint, solved)
r coordinates, pDP         Cor. GGMpDP, by convolution (`ggdp.loss.absolute_sum`)
bounded                    b^p = (2/eps) sum_k [(w_k + D_k)^p - w_k^p] (Eqn b2); with a joint norm also Eqn b1
=========================  ==========================================================================

The closed form of the disjoint case holds for every real p >= 1 and is the Gaussian lemma at p = 2: the paper's sum
over binomials is (|e| + D)^p - |e|^p, which rises with |e|. The paper has no scale of its own for aDP except at p = 2;
since pDP implies aDP, its pDP scales are used.

References
----------
Liu, arXiv 1602.06028 v5; Dwork and Roth, "The Algorithmic Foundations of Differential Privacy", 2014, Theorem 3.22.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flint import arb

from ggdp import _validate
from ggdp.calibration.attained import most_l1
from ggdp.calibration.obligations import Obligation, obligations, paired
from ggdp.calibration.record import Calibration, Request, certified, searched
from ggdp.calibration.truncated_formula import truncated_scale
from ggdp.distributions.enclosures import BALLS, upper_float, working_precision
from ggdp.errors import ArgumentError, ArgumentTypeError, UnprovedError
from ggdp.privacy import ApproxDP, ProbabilisticDP

if TYPE_CHECKING:
    from ggdp.privacy import Sensitivity

__all__ = ["classic_gaussian", "disjoint_scale", "paper_calibration", "truncated_scale"]

_PRECISION = 192


def paper_calibration(request: Request) -> Calibration:
    """Return the paper's scale for a request, certified; the body of ``calibrate(..., method="paper")``."""
    goal, sensitivity, order = request.goal, request.sensitivity, request.order
    if request.support == "integer" and (order != 1.0 or request.bounding is not None):
        message = (
            "the paper's scales are for noise on the reals, not for the integers (support = 'integer'): the true "
            "delta there can be several times the nominal one. Use method = 'tight'"
        )
        raise UnprovedError(message)
    if request.bounding is not None:
        return _bounded(request)
    if order == 1.0 or goal.delta == 0.0:
        pure = next(duty for duty in obligations(goal, sensitivity, order, request.support) if duty.bound != "corner")
        if pure.bound != "laplace":
            pure = Obligation("laplace", goal.epsilon, {"sensitivity": most_l1(sensitivity, request.support)})
        return certified(request, pure, searched(pure), method="paper")
    if order == 2.0 and isinstance(goal, ApproxDP):
        return classic_gaussian(goal, sensitivity)
    if order == 2.0 or sensitivity.moving == 1:
        (duty,) = obligations(goal, sensitivity, order, "real")
        size = duty.parameters["sensitivity"]
        return certified(request, duty, disjoint_scale(order, size, goal.epsilon, goal.delta), method="paper")
    if sensitivity.kind == "norm":
        message = (
            "the paper's bound for several coordinates (Cor. GGMpDP) needs the sensitivity of each of them: use "
            "Sensitivity.box or Sensitivity.cells, or method = 'tight', which has a direction-free bound"
        )
        raise UnprovedError(message)
    stronger = ProbabilisticDP(goal.epsilon, goal.delta)
    duty = next(duty for duty in obligations(stronger, sensitivity, order, "real") if duty.bound == "absolute-sum")
    return certified(request, duty, searched(duty), method="paper")


def disjoint_scale(order: float, sensitivity: float, epsilon: float, delta: float) -> float:
    """Return the paper's pDP scale for one moving coordinate, rounded up.

    Parameters
    ----------
    order : float
        Order of the noise, above 1.
    sensitivity : float
        How far the coordinate can move.
    epsilon, delta : float
        The goal.

    Examples
    --------
    >>> print(f"{disjoint_scale(1.5, 1.0, 0.5, 0.01):.11f}")
    4.77583477990
    """
    from scipy.special import gammainccinv

    if _validate.order(order=order) == 1.0:
        raise ArgumentError("order", order, "must be above 1; at order 1 the scale is that of pure DP")
    for given in ({"sensitivity": sensitivity}, {"epsilon": epsilon}, {"delta": _validate.probability(delta=delta)}):
        _validate.positive(**given)
    with BALLS, working_precision(_PRECISION):
        a, target = 1 / arb(order), arb(delta)
        g = arb(float(gammainccinv(1.0 / order, delta)))
        for _ in range(4):  # Newton's steps double the 40 bits or more of the first guess
            density = g ** (a - 1) * (-g).exp() / a.gamma()
            g = (g + (g.gamma_upper(a, regularized=1) - target) / density).mid()
        # A relative 1e-30 more covers what Newton left, on the safe side: the scale rises with g.
        g *= 1 + arb(10) ** -30
        return upper_float(arb(sensitivity) / ((g + arb(epsilon)) ** a - g**a))


def classic_gaussian(goal: ApproxDP, sensitivity: Sensitivity, *, outside_domain: bool = False) -> Calibration:
    """Return the classic Gaussian mechanism: sigma = Delta_2 sqrt(2 ln(1.25/delta)) / epsilon, and b = sqrt(2) sigma.

    Parameters
    ----------
    goal : ApproxDP
        The goal.
    sensitivity : Sensitivity
        How far one person can move the query.
    outside_domain : bool, default False
        Whether to go on at epsilon >= 1, where the formula is not proved. The scale is certified all the same, and
        refused where it is proved wrong, as it is at large epsilon.

    Examples
    --------
    >>> from ggdp import ApproxDP, Sensitivity
    >>> print(f"{classic_gaussian(ApproxDP(0.5, 0.01), Sensitivity.disjoint(1)).std:.4f}")
    6.2150
    """
    if not isinstance(goal, ApproxDP):
        raise ArgumentTypeError("goal", goal, "must be ApproxDP")
    if goal.epsilon >= 1.0 and not outside_domain:
        raise ArgumentError(
            "epsilon",
            goal.epsilon,
            "the classic Gaussian bound sqrt(2 ln(1.25/delta)) D/epsilon is proved for epsilon below 1 only. Use "
            "method = 'tight' (the analytic Gaussian mechanism), or ggdp.calibration.classic_gaussian(..., "
            "outside_domain=True)",
        )
    request = Request(goal=goal, sensitivity=sensitivity, order=2.0)
    (duty,) = request.obligations()
    with BALLS, working_precision(_PRECISION):
        size = arb(duty.parameters["sensitivity"])
        scale = upper_float(2 * size * (arb(1.25) / arb(goal.delta)).log().sqrt() / arb(goal.epsilon))
    notes = ("outside the domain of the classic formula (epsilon < 1); certified here by the exact delta",)
    return certified(request, duty, scale, method="paper", notes=notes if goal.epsilon >= 1.0 else ())


def _bounded(request: Request) -> Calibration:
    """Return the paper's scale on bounds, proved by the exact loss (with a joint norm by the paper's own argument).

    The paper has it for truncated noise. For boundary-inflated noise, where it stands in Definition 6 for outputs
    strictly inside, it is not always enough at the atoms, and is then refused.
    """
    # With a joint norm Eqn b1 is proved by itself; without one Eqn b2 is proved by the exact loss.
    duty = request.obligations()[-1]
    assert request.bounds is not None
    coordinates = paired(request.sensitivity, request.bounds)
    joint = duty.parameters.get("joint")
    scale = truncated_scale(request.order, coordinates, request.sensitivity.moving, request.goal.epsilon, joint)
    return certified(request, duty, scale, method="paper")
