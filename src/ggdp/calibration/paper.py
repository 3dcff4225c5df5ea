"""The paper's scales, corrected: closed forms, each certified by the exact loss it bounds; the Exponential mechanism's.

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

The Exponential mechanism with the utility -||s* - s||_p^p draws truncated generalized Gaussian noise with
b^p = 2 Delta_u / eps, where Delta_u is the sensitivity of the utility:

==========  ==============================================================================================
exact       Delta_u = sum_k [w_k^p - (w_k - D_k)^p]
lemma a     p = 1: Delta_1
lemma b     p = 2: 2 sum_k D_k w_k
lemma c     integer p >= 3: sum_k sum_j (p choose j) max(|c_k0|, |c_k1|)^(p-j) D_k^(j), D^(j) the sensitivity of s^j
==========  ==============================================================================================

Proof of the exact value: |x - s|^p - |x - s'|^p rises with x for s' > s, is largest at x = c1 and there largest at
s = c0, by convexity. Lemma c is not even invariant under a shift of the bounds; it is here to be compared with.

On the integers the candidates are those within integer bounds. The largest change is at integers (c0, c0 + D and c1),
so Delta_u is the same; the normalizing constants are sums, so the true loss is another.

References
----------
Liu, arXiv 1602.06028 v5; Dwork and Roth, "The Algorithmic Foundations of Differential Privacy", 2014, Theorem 3.22.
For the Exponential mechanism: Liu, Eqns explp0 and explp1, Lemma 9, Corollary 12; McSherry and Talwar, FOCS 2007.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal, TypeAlias, get_args

from flint import arb

from ggdp import _validate
from ggdp._balls import BALLS, power, upper_float, working_precision
from ggdp.calibration.calibration import Calibration, Formula, calibration_of
from ggdp.calibration.least_scale import checked_question, in_floats, least_law
from ggdp.calibration.scale_for_bounds import largest_terms, truncated_scale
from ggdp.calibration.search import raise_until_proved
from ggdp.errors import ArgumentError, ArgumentTypeError, SearchError, UnattainableError, UnprovedError
from ggdp.privacy import ApproxDP, ProbabilisticDP, PureDP, Sensitivity
from ggdp.proofs.noise_law import Bounding, NoiseLaw, Support
from ggdp.proofs.one_coordinate import LaplaceLoss
from ggdp.proofs.worst_case import Question, Requirement, bounded_coordinates

_PRECISION = 192

Utility: TypeAlias = Literal["exact", "lemma"]


def paper_calibration(question: Question) -> Calibration:
    """Return the paper's scale, proved; the body of ``calibrate(..., method="paper")``."""
    goal, sensitivity, order = question.goal, question.sensitivity, question.order
    if question.support == "integer" and (order != 1.0 or question.bounding is not None):
        raise UnprovedError(
            "the paper's scales are for noise on the reals, not for the integers (support = 'integer'): the true "
            "delta there can be several times the nominal one. Use method = 'tight'"
        )
    if question.bounding is not None:
        # With a joint norm Eqn b1 is proved by itself; without one Eqn b2 is proved by the exact loss. The paper has
        # them for truncated noise. For boundary-inflated noise, where they stand in Definition 6 for outputs strictly
        # inside, they are not always enough at the atoms, and are then refused.
        requirement = question.requirements()[-1]
        joint = next(iter(requirement.bound.known_norms), None)
        scale = truncated_scale(order, question.coordinates, sensitivity.moving, goal.epsilon, joint)
        return formula_calibration(question, requirement, scale)
    if order == 1.0 or goal.delta == 0.0:
        # The scale of pure DP.
        requirement = next(
            (one for one in question.requirements() if one.bound.quantity == "epsilon"),
            Requirement(LaplaceLoss(sensitivity=question.l1_norm), goal.epsilon),
        )
        return calibration_of(question, requirement, least_law(question, requirement), method="paper")
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
    question: Question, requirement: Requirement, scale: float, method: Formula = "paper", notes: tuple[str, ...] = ()
) -> Calibration:
    """Return the calibration of a scale that a formula gives; an UnattainableError where it is not proved."""
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
        expected = (
            "the classic Gaussian bound sqrt(2 ln(1.25/delta)) D/epsilon is proved for epsilon below 1 only. Use "
            "method = 'tight' (the analytic Gaussian mechanism), or ggdp.calibration.classic_gaussian(..., "
            "outside_domain=True)"
        )
        raise ArgumentError("epsilon", goal.epsilon, expected)
    question = Question(goal=goal, sensitivity=sensitivity, order=2.0)
    (requirement,) = question.requirements()
    (size,) = requirement.bound.known_norms
    with BALLS, working_precision(_PRECISION):
        scale = upper_float(2 * arb(size) * (arb(1.25) / arb(goal.delta)).log().sqrt() / arb(goal.epsilon))
    notes = ("outside the domain of the classic formula (epsilon < 1); proved here by the exact delta",)
    return formula_calibration(question, requirement, scale, notes=notes if goal.epsilon >= 1.0 else ())


def utility_sensitivity(
    order: float, sensitivity: Sensitivity, bounds: Iterable[tuple[float, float]], *, utility: Utility = "exact"
) -> float:
    """Return the sensitivity of the utility -||s* - s||_p^p on bounds, rounded up.

    Parameters
    ----------
    order : float
        The p of the utility, at least 1.
    sensitivity : Sensitivity
        How far one person can move the query: a box or cells.
    bounds : sequence of (lower, upper)
        Bounds of query and output: one pair for all coordinates, or one for each.
    utility : {"exact", "lemma"}, default "exact"
        The exact value, or the upper bound of the paper's lemma.

    Examples
    --------
    >>> from ggdp import Sensitivity
    >>> utility_sensitivity(2, Sensitivity.disjoint(1), [(0, 10)])
    19.0
    >>> utility_sensitivity(2, Sensitivity.disjoint(1), [(0, 10)], utility="lemma")
    20.0
    """
    p = _validate.order(order=order)
    _validate.choice(among=get_args(Utility), utility=utility)
    pairs = _validate.intervals(bounds=bounds)
    coordinates = bounded_coordinates(sensitivity, pairs)
    with BALLS, working_precision(_PRECISION):
        if utility == "exact":
            terms = [(power(arb(w), arb(p)) - power(arb(w) - arb(D), arb(p)), count) for w, D, count in coordinates]
        elif p == 1.0:
            return sensitivity.lp(1)
        elif p == 2.0:
            terms = [(2 * arb(D) * arb(w), count) for w, D, count in coordinates]
        elif p.is_integer():
            # (bounds, sensitivity) of each coordinate; `bounded_coordinates` has checked that they fit.
            cells = not sensitivity.has_fixed_dimension
            sizes = sensitivity.sizes * (len(pairs) if cells else 1)
            copies = sensitivity.moving if cells and len(pairs) == 1 else 1
            each = zip(pairs * (len(sizes) if len(pairs) == 1 else 1), sizes, strict=True)
            terms = [(_lemma_c(int(p), D, pair), copies) for pair, D in each]
        else:
            raise ArgumentError("order", order, "the paper's lemma is for whole orders; use utility = 'exact'")
        return upper_float(sum((term * many for term, many in largest_terms(terms, sensitivity.moving)), arb(0)))


def exponential_calibration(
    goal: PureDP,
    sensitivity: Sensitivity,
    *,
    order: float,
    bounds: Iterable[tuple[float, float]] | None = None,
    utility: Utility = "exact",
    support: Support = "real",
) -> Calibration:
    """Return the Exponential mechanism's scale, b^p = 2 Delta_u / epsilon, with its true loss as the guarantee.

    Parameters
    ----------
    goal : PureDP
        The nominal epsilon.
    sensitivity : Sensitivity
        How far one person can move the query.
    order : float
        The p of the utility.
    bounds : sequence of (lower, upper), optional
        Bounds of query and output; needed at every order above 1.
    utility : {"exact", "lemma"}, default "exact"
        Which sensitivity of the utility to use.
    support : {"real", "integer"}, default "real"
        What the candidates are: all reals, or all integers, within the bounds.

    Raises
    ------
    ArgumentError
        If an argument is wrong; on the integers also where sensitivities or bounds are not whole numbers.
    UnattainableError
        If there are no bounds at an order above 1.
    UnprovedError
        If nothing but a norm of the change is known.

    Notes
    -----
    Claim: noise of the scale keeps ``guarantee``, which is at most the goal. The theorem of McSherry and Talwar is not
    used for it: the loss of the truncated law is enclosed, as for every other scale, and the certificate is about that.
    Rounding: Delta_u and the scale are rounded up, so the scale is by some ulps above the formula's.

    Examples
    --------
    >>> from ggdp import PureDP, Sensitivity
    >>> found = exponential_calibration(PureDP(1.0), Sensitivity.disjoint(1), order=2, bounds=[(0, 10)])
    >>> print(f"{found.guarantee.epsilon:.3f}")
    0.345
    >>> query, how = Sensitivity.histogram(), {"bounds": [(0, 10)], "support": "integer"}
    >>> print(f"{exponential_calibration(PureDP(1.0), query, order=2, **how).guarantee.epsilon:.3f}")
    0.357
    """
    if not isinstance(goal, PureDP):
        raise ArgumentTypeError("goal", goal, "must be PureDP")
    bounding: Bounding | None = None if bounds is None else "truncated"
    question = checked_question(goal, sensitivity, order, support, bounds, bounding)
    _validate.choice(among=get_args(Utility), utility=utility)
    p = question.order
    if question.bounds is None and p != 1.0:
        raise UnattainableError(
            f"the Exponential mechanism of order = {p!r} needs bounds: without them the sensitivity of its utility "
            "is infinite at every order above 1"
        )
    requirement = question.requirements()[0]
    delta_u = (
        sensitivity.lp(1)
        if question.bounds is None
        else utility_sensitivity(p, sensitivity, question.bounds, utility=utility)
    )
    with BALLS, working_precision(_PRECISION):
        scale = upper_float((2 * arb(delta_u) / arb(goal.epsilon)) ** (1 / arb(p)))
    return formula_calibration(question, requirement, scale, method="exponential")


def _lemma_c(p: int, D: float, bounds: tuple[float, float]) -> arb:
    """Enclose the lemma's sensitivity of one coordinate."""
    low, high, step = arb(bounds[0]), arb(bounds[1]), arb(D)
    ends = abs(bounds[0]), abs(bounds[1])
    largest, nearest = arb(max(ends)), arb(0 if bounds[0] <= 0.0 <= bounds[1] else min(ends))
    inner, total = largest - step, arb(0)
    for j in range(1, p + 1):
        # The sensitivity of s^j: a step of D from an end, for even j no farther than to 0.
        change = (
            max((low + step) ** j - low**j, high**j - (high - step) ** j, key=float)
            if j % 2
            else largest**j - (inner if inner > nearest else nearest) ** j
        )
        total += math.comb(p, j) * largest ** (p - j) * change
    return total
