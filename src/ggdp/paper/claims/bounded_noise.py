"""Claims of Sections 2.5 and 2.7: noise within bounds, the Exponential mechanism, and Appendices D and E."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

import ggdp
from ggdp.calibration import exponential_calibration, truncated_scale, utility_sensitivity
from ggdp.errors import UnattainableError
from ggdp.paper.claims.proved_losses import bounded_loss
from ggdp.paper.claims.wording import if_true, listed, short, span
from ggdp.paper.comparisons import bounded_errors, exponential_losses
from ggdp.paper.results import Claim

__all__ = ["CLAIMS"]

ONE = ggdp.Sensitivity.disjoint(1)
PURE = ggdp.PureDP(1.0)
TEN, SHIFTED = [(0.0, 10.0)], [(100.0, 110.0)]


def _truncated(order: float, method: Literal["tight", "paper"] = "tight") -> float:
    """Return the truncated scale on [0, 10] at epsilon = 1, by the paper's formula or the least."""
    return ggdp.calibrate(PURE, ONE, order=order, bounds=TEN, bounding="truncated", method=method).scale


def truncated_sound() -> Claim:
    """Def. 5: the scale is enough."""
    orders = (1, 2, 3, 4)
    scales = [truncated_scale(order, [(10.0, 1.0, 1)], 1, 1.0) for order in orders]
    losses = [
        bounded_loss("truncated", order=order, scale=scale, width=10.0).upper
        for order, scale in zip(orders, scales, strict=True)
    ]
    least = [_truncated(order) for order in (2, 3)]
    return Claim(
        key="truncated-sound",
        place="Section 2.5, Def. 5",
        claim="The truncated mechanism with the scale of Eqn b1 satisfies epsilon-DP.",
        verdict=if_true(max(losses) <= 1.0),
        measured=f"True loss on [0, 10] at epsilon = 1 and p = {listed(orders)}: {listed(losses, 3)}. Sound and "
        f"loose: b = {listed(scales[1:3])} at p = 2 and 3, where {listed(least)} are enough.",
        figure="bounded",
    )


def normaliser_printed() -> Claim:
    """Def. 5: the normaliser as printed."""
    from scipy.special import gammainc

    b = _truncated(2, "paper")
    law = ggdp.GeneralizedGaussian(order=2, scale=b)
    right = float(law.cdf(5.0) - law.cdf(-5.0))
    printed = 2.0 * float(gammainc(0.5, 5.0 / b))
    return Claim(
        key="normaliser-printed",
        place="Section 2.5, Def. 5",
        claim="A(s, b, p) = {gamma[1/p, (c1-s)/b] + gamma[1/p, (s-c0)/b]} / Gamma(1/p) is the probability of the "
        "bounds.",
        verdict=if_true(math.isclose(printed, right, rel_tol=1e-6)),
        measured=f"On [0, 10] at s = 5, p = 2, b = {short(b)} it would be {short(printed)}; the probability is "
        f"{short(right)}.",
    )


def looser_without_joint() -> Claim:
    """Eqns b1 and b2, and the order of the two in Eqn GaussianDP."""
    joint = truncated_scale(2, [(10.0, 1.0, 2)], 2, 1.0, joint=1.0) ** 2
    box = truncated_scale(2, [(10.0, 1.0, 2)], 2, 1.0) ** 2
    return Claim(
        key="looser-without-joint",
        place="Section 2.5, Eqn b2",
        claim="Setting Delta_p^p at its upper bound of Lemma 2 gives a less tight bound on b.",
        verdict=if_true(box >= joint),
        measured=f"Two counts on [0, 10] of which one moves, p = 2, epsilon = 1: b^2 = {short(joint)} by Eqn b1, "
        f"{short(box)} by Eqn b2.",
    )


def gaussian_dp_order() -> Claim:
    """Section 3: the second relation of Eqn GaussianDP."""
    joint = truncated_scale(2, [(10.0, 1.0, 2)], 2, 1.0, joint=1.0) ** 2
    box = truncated_scale(2, [(10.0, 1.0, 2)], 2, 1.0) ** 2
    return Claim(
        key="gaussian-dp-order",
        place="Section 3, Eqn GaussianDP",
        claim="The bound with Delta_2^2 is at least the bound with the sum of Delta_1k^2 (the second relation, >=).",
        verdict=if_true(joint >= box),
        measured=f"{short(joint)} and {short(box)}: the relation is the other way round.",
    )


def rounding_counts() -> Claim:
    """Section 2.5: rounding afterwards."""
    scale = ggdp.calibrate(ggdp.PureDP(2.0), ONE, order=1.5, bounds=[(0.0, 2.0)], bounding="truncated").scale
    integer = bounded_loss("truncated", order=1.5, scale=scale, width=2.0, support="integer").lower
    kept = bounded_loss("truncated", order=1.5, scale=scale, width=2.0).upper <= 2.0
    return Claim(
        key="rounding-counts",
        place="Section 2.5",
        claim="For counts, post-hoc rounding of the perturbed value can be applied.",
        verdict="holds only if" if kept and integer > 2.0 else if_true(kept),
        condition="the noise is drawn on the reals and rounded after; noise drawn on the integers needs a scale of "
        "its own"
        if kept and integer > 2.0
        else "",
        measured="Truncated noise, p = 1.5, [0, 2], epsilon = 2: with the least real scale the law on the integers "
        f"has a loss of {short(integer)}, {short(integer / 2.0)} times the nominal one.",
    )


def inflated_scale() -> Claim:
    """Section 2.5: the boundary inflated mechanism has no practical solution."""
    found = [
        ggdp.calibrate(PURE, ONE, order=order, bounds=TEN, bounding="boundary-inflated").scale for order in (1, 2, 3)
    ]
    worst = []
    for order in (1, 2, 3):
        compared = bounded_errors(order, 1.0, (0.0, 10.0))
        worst.append((float(compared.truncated.rmse.max()), float(compared.boundary_inflated.rmse.max())))
    solved = all(
        bounded_loss("boundary-inflated", order=order, scale=scale, width=10.0).upper <= 1.0
        for order, scale in zip((1, 2, 3), found, strict=True)
    )
    return Claim(
        key="inflated-scale",
        place="Section 2.5",
        claim="For want of a solution for b, the boundary inflated mechanism is not very appealing in practice.",
        verdict=if_true(not solved),
        measured=f"One root-find gives its exact least scale: {listed(found)} on [0, 10] at epsilon = 1, p = 1, 2 and "
        f"3 (truncated: {listed(_truncated(order) for order in (1, 2, 3))}). Largest root mean squared error, "
        f"boundary inflated against truncated: {', '.join(f'{short(b, 3)} : {short(a, 3)}' for a, b in worst)}.",
        figure="bounded",
    )


def inflated_by_b1() -> Claim:
    """Section 2.5: Eqn b1 and boundary inflated noise."""
    b = truncated_scale(4, [(1.0, 1.0, 1)], 1, 0.1)
    loss = bounded_loss("boundary-inflated", order=4, scale=b, width=1.0).lower
    wide = truncated_scale(2, [(10.0, 1.0, 1)], 1, 1.0)
    inside = bounded_loss("boundary-inflated", order=2, scale=wide, width=10.0).upper
    return Claim(
        key="inflated-by-b1",
        place="Section 2.5, Def. 6",
        claim="Eqns b1 and b2 can be used for boundary inflated noise.",
        verdict="holds only if" if loss > 0.1 and inside <= 1.0 else if_true(loss <= 0.1),
        condition="the output is strictly inside the bounds, as the paper says; the atoms can cost more"
        if loss > 0.1 and inside <= 1.0
        else "",
        measured=f"w = D = 1, epsilon = 0.1, p = 4: the true loss is {short(loss / 0.1, 3)} times epsilon, at an "
        f"atom. On [0, 10] at p = 2, epsilon = 1 it is {short(inside, 3)}.",
    )


def exponential_below_nominal() -> Claim:
    """Section 2.7 and Cor. 12: the cost is below epsilon."""
    losses = exponential_losses(np.geomspace(1.0, 10.0, 12), 1.0, bounds=(0.0, 10.0))
    best, others = math.exp(0.5), 1000
    near = math.log(best / (best + others) * (1.0 + others * best))
    return Claim(
        key="exponential-below-nominal",
        place="Section 2.7, Cor. 12",
        claim="The Exponential mechanism is conservative: its actual privacy cost is always less than epsilon.",
        verdict=if_true(bool(losses.below_nominal.all()) and near < 1.0),
        measured=f"On [0, 10] at epsilon = 1 and orders 1 to 10: {span(losses.loss)}. It can come as near as one "
        f"likes: {near:.5f} with one output against {others:,} others.",
        figure="exponential",
    )


def exponential_half() -> Claim:
    """Cor. 12: a constant normaliser."""
    free = float(exponential_losses([1], 1.0).loss[0])
    return Claim(
        key="exponential-half",
        place="Section 2.7, Cor. 12",
        claim="When the normalisation factor does not depend on the data, the actual cost is epsilon/2.",
        verdict=if_true(math.isclose(free, 0.5, rel_tol=1e-9)),
        measured=f"Without bounds at p = 1, epsilon = 1: {short(free)}.",
        figure="exponential",
    )


def exponential_extreme() -> Claim:
    """Appendix D: epsilon/2 as the extreme."""
    losses = exponential_losses([1, 2, 3], 1.0, bounds=(0.0, 10.0))
    return Claim(
        key="exponential-extreme",
        place="Section 2.7, Appendix D",
        claim="In the extreme, the actual privacy cost can be down to epsilon/2.",
        verdict=if_true(not losses.below_half.any()),
        measured=f"On [0, 10] at epsilon = 1 it is {listed(losses.loss, 3)} at p = 1, 2 and 3: it can be below "
        "epsilon/2.",
        figure="exponential",
    )


def exponential_unbounded() -> Claim:
    """Section 2.7, Eqn explp0: outputs without bounds."""
    try:
        exponential_calibration(PURE, ONE, order=2)
        refused = False
    except UnattainableError:
        refused = True
    widths = (10.0, 100.0, 1000.0)
    grows = [utility_sensitivity(2, ONE, [(0.0, width)]) for width in widths]
    return Claim(
        key="exponential-unbounded",
        place="Section 2.7, Eqn explp0",
        claim="With the utility -||s* - s||_p^p the Exponential mechanism draws from the (unbounded) law GG(s, b, p).",
        verdict="holds only if" if refused else "holds",
        condition="p = 1 or there are bounds; else Delta_u is infinite" if refused else "",
        measured=f"Delta_u at p = 2 on bounds of width {listed(widths)}: {listed(grows)}; without bounds there is "
        "none.",
    )


def same_laplace() -> Claim:
    """Lemma 9, part a."""
    exponential = exponential_calibration(PURE, ONE, order=1, bounds=TEN).scale
    truncated = truncated_scale(1, [(10.0, 1.0, 1)], 1, 1.0)
    laplace = ggdp.calibrate(PURE, ONE, order=1).scale
    same = exponential == truncated
    return Claim(
        key="same-laplace",
        place="Section 2.7, Lemma 9a",
        claim="At p = 1 the GG mechanism and the Exponential mechanism reduce to the truncated Laplace mechanism with "
        "the same b.",
        verdict="holds only if" if same and truncated != laplace else if_true(same),
        condition="b is 2 Delta_1/epsilon (Eqn b1 at p = 1), twice that of the Laplace mechanism"
        if same and truncated != laplace
        else "",
        measured=f"On [0, 10] at epsilon = 1: {short(exponential)} for the Exponential mechanism, {short(truncated)} "
        f"by Eqn b1, {short(_truncated(1))} for the least truncated scale, {short(laplace)} for Laplace noise.",
    )


def lemma_9_bounds() -> Claim:
    """Lemma 9, parts b and c: upper bounds."""
    exact = [utility_sensitivity(order, ONE, TEN) for order in (2, 3)]
    lemma = [utility_sensitivity(order, ONE, TEN, utility="lemma") for order in (2, 3)]
    moved = utility_sensitivity(3, ONE, SHIFTED, utility="lemma")
    return Claim(
        key="lemma-9-bounds",
        place="Section 2.7, Lemma 9b, c",
        claim="Delta_u is at most 2 sum Delta_1k w_k at p = 2, and at most the sum of part c at p >= 3.",
        verdict=if_true(all(low <= high for low, high in zip(exact, lemma, strict=True))),
        measured=f"On [0, 10]: {listed(exact)} at p = 2 and 3 against {listed(lemma)}. Sound and loose; on [100, 110] "
        f"Delta_u is the same ({short(utility_sensitivity(3, ONE, SHIFTED))}) and part c gives {short(moved)}.",
    )


def part_c_looser() -> Claim:
    """Appendix E: part c beside part b."""
    bounds = [(-1.0, 1.0)]
    s = np.linspace(-1.0, 1.0, 201)
    squares = float(max(np.abs(s[shift:] ** 2 - s[: len(s) - shift] ** 2).max() for shift in range(101)))
    part_b, exact = utility_sensitivity(2, ONE, bounds, utility="lemma"), utility_sensitivity(2, ONE, bounds)
    part_c = squares + 2.0
    return Claim(
        key="part-c-looser",
        place="Section 2.7, Appendix E",
        claim="At p = 2 part c of Lemma 9 is not as tight an upper bound as part b.",
        verdict=if_true(part_c >= part_b),
        measured=f"On [-1, 1] with D = 1 part c gives {short(part_c)}, part b {short(part_b)}; exact is "
        f"{short(exact)}.",
    )


def exponential_beside_truncated() -> Claim:
    """Section 2.7: which of the two scales is smaller."""
    rows = []
    for order in (2, 3, 4):
        lemma = (2.0 * utility_sensitivity(order, ONE, TEN, utility="lemma")) ** (1.0 / order)
        exact = (2.0 * utility_sensitivity(order, ONE, TEN)) ** (1.0 / order)
        rows.append((order, _truncated(order, "paper"), lemma, exact, _truncated(order)))
    smaller = {lemma < truncated for _, truncated, lemma, _, _ in rows}
    text = "; ".join(
        f"p = {p}: {short(a)} (Def. 5), {short(b)} (Exponential, Lemma 9), {short(c)} (Exponential, exact Delta_u), "
        f"{short(d)} (truncated, least)"
        for p, a, b, c, d in rows
    )
    return Claim(
        key="exponential-beside-truncated",
        place="Section 2.7",
        claim="Which of the truncated and the Exponential mechanism has the smaller b depends on the bounds and on p.",
        verdict=if_true(len(smaller) == 2),
        measured=f"On [0, 10] at epsilon = 1, {text}. With the exact Delta_u the Exponential mechanism's is always "
        "the smaller of the two formulas, and the least truncated scale is below both.",
        figure="exponential",
    )


def plain_distance() -> Claim:
    """Section 2.7: the plain distance as utility."""
    generator = np.random.default_rng(2)
    output, here, move = generator.normal(size=(3, 4000, 3))
    worst = 0.0
    for order in (1.0, 2.0, 3.0):

        def norm(x: np.ndarray, p: float = order) -> np.ndarray:
            return np.asarray(np.sum(np.abs(x) ** p, axis=1) ** (1.0 / p))

        worst = max(worst, float(np.max(np.abs(norm(output - here) - norm(output - here - move)) / norm(move))))
    return Claim(
        key="plain-distance",
        place="Section 2.7",
        claim="With the plain Minkowski distance as utility, Delta_u can be difficult to obtain.",
        verdict=if_true(worst > 1.0 + 1e-9),
        measured="Delta_u is at most Delta_p by the triangle inequality: the largest change of utility over 12,000 "
        f"random triples is {short(worst)} times the move. The law is that of the K-norm mechanism.",
    )


CLAIMS = (
    truncated_sound,
    normaliser_printed,
    looser_without_joint,
    gaussian_dp_order,
    rounding_counts,
    inflated_scale,
    inflated_by_b1,
    exponential_below_nominal,
    exponential_half,
    exponential_extreme,
    exponential_unbounded,
    same_laplace,
    lemma_9_bounds,
    part_c_looser,
    exponential_beside_truncated,
    plain_distance,
)
