"""Claims of Sections 2.1 to 2.4: notions of privacy, the l_p sensitivity, the family of laws, pure DP."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

import ggdp
from ggdp.errors import UnattainableError
from ggdp_reproduction.claims.statements import judged, not_measurable
from ggdp_reproduction.claims.wording import falling, listed, short, span
from ggdp_reproduction.comparisons import densities_at_scale, densities_at_variance, gaussian_bounds, paper_densities

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ggdp_reproduction.results import Claim

__all__ = ["CLAIMS"]

ONE = ggdp.Sensitivity.disjoint(1)
ORDERS = (1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
# Two scales are called roughly the same up to a tenth of difference.
ROUGHLY = 1.1


def of_notions() -> Iterator[Claim]:
    """Yield the claims of Section 2.1, on aDP and pDP beside pure DP."""
    deltas = (0.05, 1e-3, 1e-6, 1e-10, 1e-12, 1e-15)
    ratio = gaussian_bounds(1.0, list(deltas)).tight_pdp_to_analytic
    sigma = gaussian_bounds(1.0, 0.05)
    near = [delta for delta, found in zip(deltas, ratio, strict=True) if found <= ROUGHLY]
    partly = 0 < len(near) < len(deltas)
    yield judged(
        "notions-alike",
        near,
        f"Least Gaussian sigma at (1, 0.05): {short(float(sigma.tight_pdp))} for pDP, "
        f"{short(float(sigma.analytic))} for aDP. Their ratio at epsilon = 1 and delta = {listed(deltas)}: "
        f"{listed(ratio)}.",
        condition=f"delta is tiny: the least scales are within a tenth from about {short(max(near))} down at epsilon "
        "= 1"
        if partly
        else "",
    )

    epsilons = (0.1, 0.5, 1.0, 2.0)
    scales = [
        [
            ggdp.calibrate(goal, ONE, order=1).scale
            for goal in (ggdp.PureDP(e), ggdp.ApproxDP(e, 0.0), ggdp.ProbabilisticDP(e, 0.0))
        ]
        for e in epsilons
    ]
    # Pairs of laws of five outputs, each at an epsilon below its pure loss and at one above it.
    here, there = np.random.default_rng(4).dirichlet(np.ones(5), size=(2, 1000))
    loss = np.abs(np.log(here / there))
    verdicts = []
    for epsilon in (0.9 * loss.max(axis=1, keepdims=True), 1.1 * loss.max(axis=1, keepdims=True)):
        pure = (loss <= epsilon).all(axis=1)
        probabilistic = np.where(loss > epsilon, np.maximum(here, there), 0.0).sum(axis=1) == 0.0
        gaps = (np.maximum(one - np.exp(epsilon) * other, 0.0) for one, other in ((here, there), (there, here)))
        approximate = sum(gap.sum(axis=1) for gap in gaps) == 0.0
        verdicts.append((pure == probabilistic) & (pure == approximate))
    same = int(np.sum(verdicts))
    yield judged(
        "notions-at-zero",
        all(len(set(row)) == 1 for row in scales) and same == 2 * len(loss),
        f"The least Laplace scales for DP, aDP and pDP with delta = 0 are the same at epsilon = {listed(epsilons)}: "
        f"{listed(row[0] for row in scales)}. All three agree on {same:,} of {2 * len(loss):,} random cases, pairs of "
        "distributions of five outputs at an epsilon below and one above their loss.",
    )

    yield not_measurable(
        "adp-constrained",
        "An opinion. The definition of aDP constrains none of the three: where its right-hand side is above 1, it is "
        "met. pDP is the stricter notion, since every (epsilon, delta)-pDP mechanism is (epsilon, delta)-aDP.",
    )

    # The loss of Gaussian noise is Gaussian: its mean is D^2/(2 sigma^2), and its standard deviation, D/sigma, is tau.
    sizes = np.array([0.5, 1.0, 2.0, 4.0])
    used = [0.5 * math.erfc(t / math.sqrt(2.0)) / math.exp(-(t**2) / 2.0) for t in sizes]
    tau = 1.0 / float(sigma.paper)
    yield judged(
        "other-relaxations",
        False,
        f"The cost of Gaussian noise with Lemma 10's sigma at (1, 0.05) has mean {short(tau**2 / 2.0)} and tau = "
        f"{short(tau)}; at a = {listed(sizes)} times tau the probability is {listed(used, 3)} times the bound. "
        "The paper only names random DP; it claims it for none of its mechanisms.",
        condition="the printed 'actual cost > epsilon) > a' is read as 'actual cost - epsilon > a', and epsilon as the "
        "largest expectation"
        if max(used) <= 1.0
        else "",
    )


def of_norms() -> Iterator[Claim]:
    """Yield the claims of Section 2.2, on the l_p sensitivity."""
    boxes = ((1.0, 0.1, 0.05), (3.0, 2.0, 2.0, 1.0), (1.0,) * 10)
    norms = [[ggdp.Sensitivity.box(list(box)).lp(order) for order in ORDERS] for box in boxes]
    yield judged(
        "largest-norm",
        all(falling(row) for row in norms),
        f"Delta_p of moves (1, 0.1, 0.05) at p = {listed(ORDERS)}: {listed(norms[0])}; so for {len(boxes)} "
        "boxes of 3 to 10 coordinates.",
    )

    moves = np.random.default_rng(1).exponential(size=(2000, 5))
    rates = [(moves / np.linalg.norm(moves, order, axis=1, keepdims=True)) ** (order - 1.0) for order in ORDERS]
    means = [float(rate.mean()) for rate in rates]
    yield judged(
        "most-sensitive-norm",
        falling(means) and max(float(rate.max()) for rate in rates) <= 1.0,
        f"Mean rate of change of the norm over 2,000 random moves of 5 coordinates at p = {listed(ORDERS)}: "
        f"{listed(means, 3)}; never above 1, which it is at p = 1 and where one coordinate moves alone.",
    )

    sizes = {ggdp.Sensitivity.disjoint(2.5).lp(order) for order in ORDERS}
    yield judged(
        "scalar-norm", sizes == {2.5}, f"A scalar that moves by 2.5: {listed(sizes)} at all {len(ORDERS)} orders tried."
    )

    moves, ranges = _moves()
    each = moves.max(axis=0)
    joint = [float(np.linalg.norm(moves, order, axis=1).max()) for order in (1, 2, 3)]
    lemma = [float(np.linalg.norm(each, order)) for order in (1, 2, 3)]
    yield judged(
        "lemma-2",
        all(low <= high * (1.0 + 1e-12) for low, high in zip(joint, lemma, strict=True)),
        "Mean, largest and least of 4 records in {0, 1, 2, 3}, one of them replaced, every table and "
        f"neighbour tried: Delta_p = {listed(joint)} at p = 1, 2 and 3, against {listed(lemma)}.",
    )

    own = {ggdp.Sensitivity.histogram().lp(order) for order in ORDERS}
    box = [ggdp.Sensitivity.box([1.0] * 64).lp(order) for order in (1, 2, 3)]
    replaced = [ggdp.Sensitivity.histogram(neighbours="replace-one").lp(order) for order in (1, 2, 3)]
    yield judged(
        "histogram-norm",
        own == {1.0} and min(box) > 1.0,
        f"{listed(own)} at every order; Lemma 2 with 64 bins: {listed(box)} at p = 1, 2 and 3. (Under "
        f"replace-one it is {listed(replaced)}.)",
    )

    bound = [float(np.linalg.norm(ranges, order)) for order in (1, 2, 3)]
    inside = bool(np.all(each <= ranges)) and all(low <= high for low, high in zip(joint, bound, strict=True))
    yield judged(
        "claim-3",
        inside,
        "Mean, largest and least of 4 records in {0, 1, 2, 3}, every table and neighbour tried: Delta_k = "
        f"{listed(each)}, ranges {listed(ranges)}; Delta_p = {listed(joint)} at p = 1, 2 and 3, against "
        f"{listed(bound)}.",
    )


def _moves() -> tuple[np.ndarray, np.ndarray]:
    """Return how mean, largest and least of 4 records in 0..3 move between all neighbours, and their ranges."""
    tables = [np.array(table, dtype=float) for table in product(range(4), repeat=4)]
    found = {tuple(table): np.array([table.mean(), table.max(), table.min()]) for table in tables}
    moves = []
    for table, here in found.items():
        for place, value in product(range(4), range(4)):
            other = (*table[:place], float(value), *table[place + 1 :])
            moves.append(np.abs(here - found[other]))
    return np.array(moves), np.ptp(np.array(list(found.values())), axis=0)


def _special_case(order: int, location: float) -> tuple[float, list[float], list[float]]:
    """Return the distance of a law's density to the named law's, its mean, and its variances over b^2."""
    x, scales = np.linspace(-6.0, 12.0, 721), (0.5, math.sqrt(2.0), 3.0)
    apart, means, variances = 0.0, [], []
    for b in scales:
        law = ggdp.GeneralizedGaussian(order=order, scale=b, location=location)
        z = np.abs(x - location)
        named = np.exp(-z / b) / (2.0 * b) if order == 1 else np.exp(-(z**2) / b**2) / (b * math.sqrt(math.pi))
        apart = max(apart, float(np.max(np.abs(law.pdf(x) - named))))
        means.append(float(law.mean))
        variances.append(float(law.variance) / b**2)
    return apart, means, variances


def of_special_cases() -> Iterator[Claim]:
    """Yield the claims of Section 2.3 on orders 1 and 2."""
    # The paper prints the mean mu for the Laplace law, and 0 for the Gaussian.
    for order, mean, factor, key in ((1, 3.0, 2.0, "special-case-laplace"), (2, 0.0, 0.5, "special-case-gaussian")):
        apart, means, variances = _special_case(order, 3.0)
        same = apart < 1e-12 and all(math.isclose(v, factor, rel_tol=1e-12) for v in variances)
        as_printed, as_mu = same and set(means) == {mean}, same and set(means) == {3.0}
        yield judged(
            key,
            as_printed,
            f"mu = 3, three scales: the densities differ by at most {apart:.1g}; mean {span(means)}, variance "
            f"{span(variances)} b^2.",
            condition="the mean is read as mu" if as_mu and not as_printed else "",
        )


def of_laws() -> Iterator[Claim]:
    """Yield the claims of Section 2.3 on spread and shape of the laws, and Fig. 1."""
    b = math.sqrt(2.0)
    shown = [float(order) for order in paper_densities()[0].orders]
    stds = [ggdp.GeneralizedGaussian(order=order, scale=b).std for order in shown]
    dense = np.linspace(1.0, 30.0, 2901)
    turn = float(dense[np.argmin([ggdp.GeneralizedGaussian(order=float(p), scale=1.0).std for p in dense])])
    far = ggdp.GeneralizedGaussian(order=1e3, scale=b).std
    always = falling([*stds, far])
    yield judged(
        "spread-by-order",
        always,
        f"Standard deviation at p = {listed(shown)}: {listed(stds)}; least at p = {short(turn, 3)}; "
        f"{short(far)} at p = 1,000.",
        condition="" if always else f"p is at most {short(turn, 3)}; beyond it the standard deviation rises again",
    )

    x = np.linspace(-40.0, 40.0, 160_001)
    family = densities_at_scale(paper_densities()[0].orders, x, b)
    step = float(x[1] - x[0])
    rows = family.densities
    apart = [float(np.abs(rows[0] - row).sum() * step / 2.0) for row in rows[1:]]
    others = [float(np.abs(rows[1] - row).sum() * step / 2.0) for row in rows[2:]]
    yield judged(
        "laplace-apart",
        min(apart) > max(others),
        f"Total variation distance of order 1 from orders {listed(family.orders[1:])}: {listed(apart, 3)}; "
        f"of order 2 from those above it: {listed(others, 3)}.",
    )

    family = densities_at_variance(paper_densities()[1].orders, 0.0)
    laws = [
        ggdp.GeneralizedGaussian(order=float(p), scale=float(scale))
        for p, scale in zip(family.orders, family.scales, strict=True)
    ]
    inside = {t: [1.0 - 2.0 * float(law.sf(t)) for law in laws] for t in (0.1, 0.5)}
    grid = np.linspace(0.01, 3.0, 3000)
    ahead = np.array([2.0 * (laws[1].sf(t) - laws[0].sf(t)) > 0.0 for t in grid])
    end = float(grid[int(np.argmin(ahead))])
    yield judged(
        "near-the-mean",
        all(falling(row) for row in inside.values()),
        f"Probability of a value within 0.1 of the mean at orders {listed(family.orders)}: "
        f"{listed(inside[0.1], 3)}; within 0.5: {listed(inside[0.5], 3)}. Laplace is ahead of the Gaussian up to "
        f"{short(end, 3)} standard deviations.",
    )

    printed = b**2 * math.gamma(3.0 / b) / math.gamma(1.0 / b)
    true = ggdp.GeneralizedGaussian(order=2, scale=b).variance
    yield judged(
        "printed-variance",
        math.isclose(printed, true, rel_tol=1e-6),
        f"At p = 2 and b = sqrt 2 it would be {short(printed)}; it is {short(true)}, by b^2 Gamma(3/p) / Gamma(1/p).",
    )


def of_pure_dp() -> Iterator[Claim]:
    """Yield the claims of Section 2.4, on pure DP."""
    refused = []
    for order in (1.5, 2, 3):
        try:
            ggdp.calibrate(ggdp.PureDP(1.0), ONE, order=order)
        except UnattainableError:
            refused.append(order)
    x = np.linspace(-50.0, 50.0, 100_001)
    below = float(np.max(np.abs(np.sqrt(np.abs(x + 1.0)) - np.sqrt(np.abs(x)))))
    everywhere = len(refused) == 3 and below > 1.0 + 1e-9
    yield judged(
        "pure-only-laplace",
        everywhere,
        f"Refused at p = {listed(refused)}. At p = 1/2, b = 1, epsilon = 1 the largest loss over outputs "
        f"within 50 is {short(below)}.",
        condition="" if everywhere else "p > 1; below 1, b = Delta_p epsilon^(-1/p) gives it",
    )

    epsilons = (0.1, 0.5, 1.0, 2.0)
    scales = [ggdp.calibrate(ggdp.PureDP(epsilon), ONE, order=1).scale for epsilon in epsilons]
    exact = all(math.isclose(b * e, 1.0, rel_tol=1e-12) for b, e in zip(scales, epsilons, strict=True))
    yield judged(
        "laplace-scale",
        exact,
        f"Least certified scale at epsilon = {listed(epsilons)}: {listed(scales)}; times epsilon: "
        f"{span([b * e for b, e in zip(scales, epsilons, strict=True)])}.",
    )


CLAIMS = (of_notions, of_norms, of_special_cases, of_laws, of_pure_dp)
