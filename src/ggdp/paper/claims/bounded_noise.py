"""Claims of Sections 2.5 and 2.7: noise within bounds, the Exponential mechanism, and Appendices D and E."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

import ggdp
from ggdp.calibration import exponential_calibration, truncated_scale, utility_sensitivity
from ggdp.errors import UnattainableError
from ggdp.paper.claims.proved_losses import bounded_loss
from ggdp.paper.claims.statements import judged
from ggdp.paper.claims.wording import listed, short, span
from ggdp.paper.comparisons import bounded_errors, exponential_losses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ggdp.paper.results import Claim

__all__ = ["CLAIMS"]

ONE = ggdp.Sensitivity.disjoint(1)
PURE = ggdp.PureDP(1.0)
TEN, SHIFTED = [(0.0, 10.0)], [(100.0, 110.0)]


def _truncated(order: float, method: Literal["tight", "paper"] = "tight") -> float:
    """Return the truncated scale on [0, 10] at epsilon = 1, by the paper's formula or the least."""
    return ggdp.calibrate(PURE, ONE, order=order, bounds=TEN, bounding="truncated", method=method).scale


def of_truncated() -> Iterator[Claim]:
    """Yield the claims of Section 2.5 on truncated noise, and the one of Section 3 on the same scales."""
    from scipy.special import gammainc

    orders = (1, 2, 3, 4)
    scales = [truncated_scale(order, [(10.0, 1.0, 1)], 1, 1.0) for order in orders]
    losses = [
        bounded_loss("truncated", order=order, scale=scale, width=10.0).upper
        for order, scale in zip(orders, scales, strict=True)
    ]
    least = [_truncated(order) for order in (2, 3)]
    yield judged(
        "truncated-sound",
        max(losses) <= 1.0,
        f"True loss on [0, 10] at epsilon = 1 and p = {listed(orders)}: {listed(losses, 3)}. Sound and "
        f"loose: b = {listed(scales[1:3])} at p = 2 and 3, where {listed(least)} are enough.",
    )

    b = _truncated(2, "paper")
    law = ggdp.GeneralizedGaussian(order=2, scale=b)
    right = float(law.cdf(5.0) - law.cdf(-5.0))
    printed = 2.0 * float(gammainc(0.5, 5.0 / b))
    yield judged(
        "normaliser-printed",
        math.isclose(printed, right, rel_tol=1e-6),
        f"On [0, 10] at s = 5, p = 2, b = {short(b)} it would be {short(printed)}; the probability is {short(right)}.",
    )

    layout = [(10.0, 1.0, 2)]
    joint, box = truncated_scale(2, layout, 2, 1.0, joint=1.0) ** 2, truncated_scale(2, layout, 2, 1.0) ** 2
    yield judged(
        "looser-without-joint",
        box >= joint,
        f"Two counts on [0, 10] of which one moves, p = 2, epsilon = 1: b^2 = {short(joint)} by Eqn b1, "
        f"{short(box)} by Eqn b2.",
    )

    yield judged(
        "gaussian-dp-order", joint >= box, f"{short(joint)} and {short(box)}: the relation is the other way round."
    )

    scale = ggdp.calibrate(ggdp.PureDP(2.0), ONE, order=1.5, bounds=[(0.0, 2.0)], bounding="truncated").scale
    integer = bounded_loss("truncated", order=1.5, scale=scale, width=2.0, support="integer").lower
    kept = bounded_loss("truncated", order=1.5, scale=scale, width=2.0).upper <= 2.0
    yield judged(
        "rounding-counts",
        kept,
        "Truncated noise, p = 1.5, [0, 2], epsilon = 2: with the least real scale the law on the integers "
        f"has a loss of {short(integer)}, {short(integer / 2.0)} times the nominal one.",
        condition="the noise is drawn on the reals and rounded after; noise drawn on the integers needs a scale of "
        "its own"
        if kept and integer > 2.0
        else "",
    )


def of_inflated() -> Iterator[Claim]:
    """Yield the claims of Section 2.5 on boundary inflated noise."""
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
    yield judged(
        "inflated-scale",
        not solved,
        f"One root-find gives its exact least scale: {listed(found)} on [0, 10] at epsilon = 1, p = 1, 2 and "
        f"3 (truncated: {listed(_truncated(order) for order in (1, 2, 3))}). Largest root mean squared error, "
        f"boundary inflated against truncated: {', '.join(f'{short(b, 3)} : {short(a, 3)}' for a, b in worst)}.",
    )

    b = truncated_scale(4, [(1.0, 1.0, 1)], 1, 0.1)
    loss = bounded_loss("boundary-inflated", order=4, scale=b, width=1.0).lower
    wide = truncated_scale(2, [(10.0, 1.0, 1)], 1, 1.0)
    inside = bounded_loss("boundary-inflated", order=2, scale=wide, width=10.0).upper
    yield judged(
        "inflated-by-b1",
        loss <= 0.1,
        f"w = D = 1, epsilon = 0.1, p = 4: the true loss is {short(loss / 0.1, 3)} times epsilon, at an "
        f"atom. On [0, 10] at p = 2, epsilon = 1 it is {short(inside, 3)}.",
        condition="the output is strictly inside the bounds, as the paper says; the atoms can cost more"
        if loss > 0.1 and inside <= 1.0
        else "",
    )


def of_exponential() -> Iterator[Claim]:
    """Yield the claims of Section 2.7 on what the Exponential mechanism costs."""
    losses = exponential_losses(np.geomspace(1.0, 10.0, 12), 1.0, bounds=(0.0, 10.0))
    best, others = math.exp(0.5), 1000
    near = math.log(best / (best + others) * (1.0 + others * best))
    yield judged(
        "exponential-below-nominal",
        bool(losses.below_nominal.all()) and near < 1.0,
        f"On [0, 10] at epsilon = 1 and orders 1 to 10: {span(losses.loss)}. It can come as near as one "
        f"likes: {near:.5f} with one output against {others:,} others.",
    )

    free = float(exponential_losses([1], 1.0).loss[0])
    yield judged(
        "exponential-half",
        math.isclose(free, 0.5, rel_tol=1e-9),
        f"Without bounds at p = 1, epsilon = 1: {short(free)}.",
    )

    losses = exponential_losses([1, 2, 3], 1.0, bounds=(0.0, 10.0))
    yield judged(
        "exponential-extreme",
        not losses.below_half.any(),
        f"On [0, 10] at epsilon = 1 it is {listed(losses.loss, 3)} at p = 1, 2 and 3: it can be below epsilon/2.",
    )

    try:
        exponential_calibration(PURE, ONE, order=2)
        refused = False
    except UnattainableError:
        refused = True
    widths = (10.0, 100.0, 1000.0)
    grows = [utility_sensitivity(2, ONE, [(0.0, width)]) for width in widths]
    yield judged(
        "exponential-unbounded",
        True,
        f"Delta_u at p = 2 on bounds of width {listed(widths)}: {listed(grows)}; without bounds there is none.",
        condition="p = 1 or there are bounds; else Delta_u is infinite" if refused else "",
    )


def of_utilities() -> Iterator[Claim]:
    """Yield the claims of Section 2.7 on the sensitivity of utilities, and the scales that follow from it."""
    exponential = exponential_calibration(PURE, ONE, order=1, bounds=TEN).scale
    truncated = truncated_scale(1, [(10.0, 1.0, 1)], 1, 1.0)
    laplace = ggdp.calibrate(PURE, ONE, order=1).scale
    same = exponential == truncated
    yield judged(
        "same-laplace",
        same,
        f"On [0, 10] at epsilon = 1: {short(exponential)} for the Exponential mechanism, {short(truncated)} "
        f"by Eqn b1, {short(_truncated(1))} for the least truncated scale, {short(laplace)} for Laplace noise.",
        condition="b is 2 Delta_1/epsilon (Eqn b1 at p = 1), twice that of the Laplace mechanism"
        if same and truncated != laplace
        else "",
    )

    exact = [utility_sensitivity(order, ONE, TEN) for order in (2, 3)]
    lemma = [utility_sensitivity(order, ONE, TEN, utility="lemma") for order in (2, 3)]
    moved = utility_sensitivity(3, ONE, SHIFTED, utility="lemma")
    yield judged(
        "lemma-9-bounds",
        all(low <= high for low, high in zip(exact, lemma, strict=True)),
        f"On [0, 10]: {listed(exact)} at p = 2 and 3 against {listed(lemma)}. Sound and loose; on [100, 110] "
        f"Delta_u is the same ({short(utility_sensitivity(3, ONE, SHIFTED))}) and part c gives {short(moved)}.",
    )

    bounds = [(-1.0, 1.0)]
    s = np.linspace(-1.0, 1.0, 201)
    part_c = float(max(np.abs(s[shift:] ** 2 - s[: len(s) - shift] ** 2).max() for shift in range(101))) + 2.0
    part_b = utility_sensitivity(2, ONE, bounds, utility="lemma")
    yield judged(
        "part-c-looser",
        part_c >= part_b,
        f"On [-1, 1] with D = 1 part c gives {short(part_c)}, part b {short(part_b)}; exact is "
        f"{short(utility_sensitivity(2, ONE, bounds))}.",
    )

    rows = []
    for p in (2, 3, 4):
        by_lemma = (2.0 * utility_sensitivity(p, ONE, TEN, utility="lemma")) ** (1.0 / p)
        by_exact = (2.0 * utility_sensitivity(p, ONE, TEN)) ** (1.0 / p)
        rows.append((p, _truncated(p, "paper"), by_lemma, by_exact, _truncated(p)))
    smaller = {b < a for _, a, b, _, _ in rows}
    text = "; ".join(
        f"p = {p}: {short(a)} (Def. 5), {short(b)} (Exponential, Lemma 9), {short(c)} (Exponential, exact Delta_u), "
        f"{short(d)} (truncated, least)"
        for p, a, b, c, d in rows
    )
    yield judged(
        "exponential-beside-truncated",
        len(smaller) == 2,
        f"On [0, 10] at epsilon = 1, {text}. With the exact Delta_u the Exponential mechanism's is always "
        "the smaller of the two formulas, and the least truncated scale is below both.",
    )

    output, here, move = np.random.default_rng(2).normal(size=(3, 4000, 3))
    worst = 0.0
    for order in (1, 2, 3):
        far, near, size = (np.linalg.norm(x, order, axis=1) for x in (output - here, output - here - move, move))
        worst = max(worst, float(np.max(np.abs(far - near) / size)))
    yield judged(
        "plain-distance",
        worst > 1.0 + 1e-9,
        "Delta_u is at most Delta_p by the triangle inequality: the largest change of utility over 12,000 "
        f"random triples is {short(worst)} times the move. The law is that of the K-norm mechanism.",
    )


CLAIMS = (of_truncated, of_inflated, of_exponential, of_utilities)
