"""The paper's scales, corrected: closed forms, each certified by the exact loss it bounds.

=========================  ==========================================================================
Laplace                    b = Delta_1 / eps (v5, Claim 4)
Gaussian, pDP              b = Delta_2 (z + sqrt(z^2 + 2 eps)) / (sqrt 2 eps), z = Phi^-1(1 - delta/2) (Lemma 10)
Gaussian, aDP              sigma = Delta_2 sqrt(2 ln(1.25/delta)) / eps, for eps < 1 only (Eqn privacybook)
disjoint, pDP              b = D / ((g + eps)^(1/p) - g^(1/p)), g = Q^-1(1/p, delta) (Cor. disjoint, solved)
r coordinates, pDP         Cor. GGMpDP, by convolution (`ggdp.proofs.several_coordinates`)
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
from ggdp._balls import BALLS, upper_float, working_precision
from ggdp.calibration.calibration import Calibration, calibration_of
from ggdp.calibration.least_scale import in_floats, least_law
from ggdp.calibration.scale_for_bounds import truncated_scale
from ggdp.calibration.search import raise_until_proved
from ggdp.errors import ArgumentError, ArgumentTypeError, SearchError, UnattainableError, UnprovedError
from ggdp.privacy import ApproxDP, ProbabilisticDP
from ggdp.proofs.noise_law import NoiseLaw
from ggdp.proofs.one_coordinate import LaplaceLoss
from ggdp.proofs.worst_case import Question, Requirement

if TYPE_CHECKING:
    from ggdp.calibration.calibration import Formula
    from ggdp.privacy import Sensitivity

_PRECISION = 192


def paper_calibration(question: Question) -> Calibration:
    """Return the paper's scale, proved; the body of ``calibrate(..., method="paper")``."""
    goal, sensitivity, order = question.goal, question.sensitivity, question.order
    if question.support == "integer" and (order != 1.0 or question.bounding is not None):
        raise UnprovedError(
            "the paper's scales are for noise on the reals, not for the integers (support = 'integer'): the true "
            "delta there can be several times the nominal one. Use method = 'tight'"
        )
    if question.bounding is not None:
        return _bounded(question)
    if order == 1.0 or goal.delta == 0.0:
        return _laplace(question)
    if order == 2.0 and isinstance(goal, ApproxDP):
        return classic_gaussian(goal, sensitivity)
    if order == 2.0 or sensitivity.moving == 1:
        (requirement,) = question.requirements()
        (size,) = requirement.bound.known_norms
        scale = disjoint_scale(order, size, goal.epsilon, goal.delta)
        return formula_calibration(question, requirement, scale)
    if not sensitivity.is_per_coordinate:
        raise UnprovedError(
            "the paper's bound for several coordinates (Cor. GGMpDP) needs the sensitivity of each of them: use "
            "Sensitivity.box or Sensitivity.cells, or method = 'tight', which has a direction-free bound"
        )
    stronger = Question(goal=ProbabilisticDP(goal.epsilon, goal.delta), sensitivity=sensitivity, order=order)
    requirement = next(one for one in stronger.requirements() if one.bound.known_sizes)
    return calibration_of(question, requirement, least_law(question, requirement), method="paper")


def formula_calibration(
    question: Question,
    requirement: Requirement,
    scale: float,
    *,
    method: Formula = "paper",
    notes: tuple[str, ...] = (),
) -> Calibration:
    """Return the calibration of a scale that a formula gives, if it is proved.

    Raises
    ------
    UnattainableError
        If it is not: the formula is wrong here.
    """
    law = NoiseLaw(order=question.order, scale=scale, support=question.support, bounding=question.bounding)
    try:
        with in_floats(requirement):
            proposal = raise_until_proved(requirement.bound, law, requirement.target)
    except SearchError:
        raise UnattainableError(
            f"the paper's scale {scale!r} of order {question.order!r} does not keep {question.goal}; use "
            "method = 'tight'"
        ) from None
    return calibration_of(question, requirement, proposal, method=method, notes=notes)


def _laplace(question: Question) -> Calibration:
    """Return the scale of pure DP at order 1."""
    requirement = next(
        (one for one in question.requirements() if one.bound.quantity == "epsilon"),
        Requirement(LaplaceLoss(sensitivity=question.l1_norm), question.goal.epsilon),
    )
    return calibration_of(question, requirement, least_law(question, requirement), method="paper")


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
    question = Question(goal=goal, sensitivity=sensitivity, order=2.0)
    (requirement,) = question.requirements()
    (size,) = requirement.bound.known_norms
    with BALLS, working_precision(_PRECISION):
        scale = upper_float(2 * arb(size) * (arb(1.25) / arb(goal.delta)).log().sqrt() / arb(goal.epsilon))
    notes = ("outside the domain of the classic formula (epsilon < 1); proved here by the exact delta",)
    return formula_calibration(question, requirement, scale, notes=notes if goal.epsilon >= 1.0 else ())


def _bounded(question: Question) -> Calibration:
    """Return the paper's scale on bounds, proved by the exact loss (with a joint norm by the paper's own argument).

    The paper has it for truncated noise. For boundary-inflated noise, where it stands in Definition 6 for outputs
    strictly inside, it is not always enough at the atoms, and is then refused.
    """
    # With a joint norm Eqn b1 is proved by itself; without one Eqn b2 is proved by the exact loss.
    requirement = question.requirements()[-1]
    coordinates = question.coordinates
    joint = next(iter(requirement.bound.known_norms), None)
    scale = truncated_scale(question.order, coordinates, question.sensitivity.moving, question.goal.epsilon, joint)
    return formula_calibration(question, requirement, scale)
