"""The scale that the Exponential mechanism gives generalized Gaussian noise, and what it really costs.

With the utility -||s* - s||_p^p the Exponential mechanism draws truncated generalized Gaussian noise with
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
so Delta_u is the same; the normalising constants are sums, so the true loss is another.

References
----------
Liu, arXiv 1602.06028 v5, Eqns explp0 and explp1, Lemma 9, Corollary 12; McSherry and Talwar, FOCS 2007.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, TypeAlias

from flint import arb

from ggdp import _validate
from ggdp._balls import BALLS, power, upper_float, working_precision
from ggdp.calibration.paper import formula_calibration
from ggdp.errors import ArgumentError, ArgumentTypeError, UnattainableError
from ggdp.privacy import PureDP, Sensitivity
from ggdp.proofs.noise_law import SUPPORTS, Support
from ggdp.proofs.worst_case import Question, paired

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ggdp.calibration.calibration import Calibration


Utility: TypeAlias = Literal["exact", "lemma"]

UTILITIES = ("exact", "lemma")
_PRECISION = 192


def utility_sensitivity(
    order: float,
    sensitivity: Sensitivity,
    bounds: Iterable[tuple[float, float]],
    *,
    utility: Utility = "exact",
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
    _validate.choice(among=UTILITIES, utility=utility)
    pairs = tuple(_validate.interval(bounds=pair) for pair in _validate.non_empty(bounds=bounds))
    coordinates = paired(sensitivity, pairs)
    with BALLS, working_precision(_PRECISION):
        if utility == "exact":
            terms = [(power(arb(w), arb(p)) - power(arb(w) - arb(D), arb(p)), count) for w, D, count in coordinates]
        elif p == 1.0:
            return sensitivity.lp(1)
        elif p == 2.0:
            terms = [(2 * arb(D) * arb(w), count) for w, D, count in coordinates]
        elif p.is_integer():
            terms = [(_lemma_c(int(p), D, pair), count) for pair, D, count in _with_ends(sensitivity, pairs)]
        else:
            raise ArgumentError("order", order, "the paper's lemma is for whole orders; use utility = 'exact'")
        return upper_float(_sum_of_largest(terms, sensitivity.moving))


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
    if not isinstance(sensitivity, Sensitivity):
        raise ArgumentTypeError("sensitivity", sensitivity, "must be a Sensitivity, such as Sensitivity.disjoint(1)")
    if goal.neighbours not in (None, sensitivity.neighbours):
        raise ArgumentError(
            "goal", str(goal), f"the sensitivity is for {sensitivity.neighbours} neighbours; the two must agree"
        )
    p = _validate.order(order=order)
    _validate.choice(among=UTILITIES, utility=utility)
    _validate.choice(among=SUPPORTS, support=support)
    if bounds is None:
        if p != 1.0:
            raise UnattainableError(
                f"the Exponential mechanism of order = {p!r} needs bounds: without them the sensitivity of its utility "
                "is infinite at every order above 1"
            )
        question = Question(goal=goal, sensitivity=sensitivity, order=p, support=support)
        (requirement,) = question.requirements()
        with BALLS, working_precision(_PRECISION):
            scale = upper_float(2 * arb(sensitivity.lp(1)) / arb(goal.epsilon))
        return formula_calibration(question, requirement, scale, method="exponential")
    pairs = tuple(_validate.interval(bounds=pair) for pair in _validate.non_empty(bounds=bounds))
    question = Question(
        goal=goal, sensitivity=sensitivity, order=p, support=support, bounds=pairs, bounding="truncated"
    )
    requirement = question.requirements()[0]
    delta_u = utility_sensitivity(p, sensitivity, pairs, utility=utility)
    with BALLS, working_precision(_PRECISION):
        scale = upper_float((2 * arb(delta_u) / arb(goal.epsilon)) ** (1 / arb(p)))
    return formula_calibration(question, requirement, scale, method="exponential")


def _sum_of_largest(terms: list[tuple[arb, int]], moving: int) -> arb:
    total, left = arb(0), moving
    for term, count in sorted(terms, key=lambda pair: float(pair[0]), reverse=True):
        total += term * min(count, left)
        left -= min(count, left)
    return total


def _with_ends(
    sensitivity: Sensitivity, bounds: tuple[tuple[float, float], ...]
) -> list[tuple[tuple[float, float], float, int]]:
    """Return (bounds, sensitivity, how many) of each coordinate; `paired` has checked that they fit."""
    cells = not sensitivity.has_fixed_dimension
    sizes = sensitivity.sizes * (len(bounds) if cells else 1)
    pairs = bounds * (len(sizes) if len(bounds) == 1 else 1)
    copies = sensitivity.moving if cells and len(bounds) == 1 else 1
    return [(pair, size, copies) for pair, size in zip(pairs, sizes, strict=True)]


def _lemma_c(p: int, D: float, bounds: tuple[float, float]) -> arb:
    largest = arb(max(abs(bounds[0]), abs(bounds[1])))
    powers = [math.comb(p, j) * largest ** (p - j) * _power_sensitivity(j, D, bounds) for j in range(1, p + 1)]
    return sum(powers, arb(0))


def _power_sensitivity(j: int, D: float, bounds: tuple[float, float]) -> arb:
    """Enclose the sensitivity of s^j on the bounds: a step of D from an end, for even j no farther than to 0."""
    low, high, step = arb(bounds[0]), arb(bounds[1]), arb(D)
    if j % 2:
        changes = [(low + step) ** j - low**j, high**j - (high - step) ** j]
    else:
        nearest = arb(0) if bounds[0] <= 0.0 <= bounds[1] else arb(min(abs(bounds[0]), abs(bounds[1])))
        largest = arb(max(abs(bounds[0]), abs(bounds[1])))
        inner = largest - step
        changes = [largest**j - (inner if inner > nearest else nearest) ** j]
    return max(changes, key=float)
