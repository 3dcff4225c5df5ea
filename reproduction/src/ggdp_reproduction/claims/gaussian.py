"""Claims of Sections 3 and 5: the Gaussian mechanism next to Laplace noise, and what the discussion says."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, get_args

import numpy as np

import ggdp
from ggdp.calibration import classic_gaussian
from ggdp_reproduction.claims.verdicts import (
    ONE,
    PURE,
    ROUGHLY,
    Bounding,
    bounded_loss,
    judged,
    listed,
    shift_delta,
    short,
    span,
)
from ggdp_reproduction.comparisons import (
    LEMMA_DELTA,
    delta_of_equal_variance,
    gaussian_bounds,
    gaussian_sigma,
    paper_same_tails,
    paper_tails,
    tail_turn,
    variance_ratio,
)
from ggdp_reproduction.comparisons.tails import PAPER_DELTAS, PAPER_EPSILONS, UNLIKELY
from ggdp_reproduction.experiments.sanitisers import DELTAS, EPSILONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ggdp_reproduction.claims.verdicts import Notion
    from ggdp_reproduction.results import Claim

SQRT2 = math.sqrt(2.0)
# Fig. 3's range, epsilon and delta strictly inside (0, 1) and (0, 0.5).
FINE_EPSILONS = np.linspace(0.01, 0.99, 50)
FINE_DELTAS = np.concatenate([np.geomspace(1e-10, 0.01, 40), np.linspace(0.011, 0.499, 60)])


def _ratio(epsilon: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """Return Lemma 10 over the classic bound."""
    return np.asarray(gaussian_sigma(epsilon, delta) / gaussian_sigma(epsilon, delta, "classic"))


def _true_delta(notion: Notion, sigma: float, epsilon: float) -> float:
    """Return the delta that Gaussian noise really has, as an upper bound."""
    return shift_delta(notion, order=2.0, scale=sigma * SQRT2, epsilon=epsilon).upper


def of_lemma_10() -> Iterator[Claim]:
    """Yield the claim that Lemma 10 is enough."""
    used, gain = [], []
    for epsilon in EPSILONS:
        for delta in DELTAS:
            sigma = float(gaussian_sigma(epsilon, delta))
            used.append(_true_delta("probabilistic", sigma, epsilon) / delta)
            gain.append(sigma / ggdp.calibrate(ggdp.ProbabilisticDP(epsilon, delta), ONE, order=2).std)
    yield judged(
        "lemma-10",
        max(used) <= 1.0,
        f"At the 12 goals of Section 4 its true delta is {span(used)} times the nominal one, and its sigma "
        f"{span(gain)} times the least: {short(float(gaussian_sigma(1.0, 0.05)), 5)} at (1, 0.05), where "
        f"{short(float(gaussian_sigma(1.0, 0.05, 'tight-pdp')), 5)} is enough.",
    )


def of_figure_3() -> Iterator[Claim]:
    """Yield the claims on Lemma 10 beside the classic bound."""
    ratio = _ratio(FINE_EPSILONS[:, None], FINE_DELTAS[None, :])
    below = bool(np.all(ratio < 1.0))
    least = gaussian_bounds([0.5, 0.5, 0.1], [0.01, 1e-6, 0.25])
    large = np.linspace(0.5, 0.99, 491)
    above = large[_ratio(np.array(1.0 - 1e-9), large) > 1.0]
    yield judged(
        "tighter-than-classic",
        below and not above.size,
        f"Ratio over epsilon in (0, 1) and delta in (0, 0.5), the range of Fig. 3: {span(ratio.ravel())}. For larger "
        f"deltas it can be above 1: {short(float(_ratio(np.array(0.99), np.array(0.99))))} at (0.99, 0.99). But aDP "
        f"needs less than either: {listed(least.analytic / least.paper, 3)} of Lemma 10's sigma at (0.5, 0.01), (0.5, "
        "1e-6) and (0.1, 0.25).",
        condition=f"delta is below {short(float(above.min()), 2)}" if below and above.size else "",
    )

    deltas = (0.05, 1e-3, 1e-6, 1e-10, 1e-15, 1e-20)
    spent = [_approximate_epsilon(float(gaussian_sigma(1.0, delta, "tight-pdp")), delta) for delta in deltas]
    near = [delta for delta, epsilon in zip(deltas, spent, strict=True) if epsilon >= 1.0 / ROUGHLY]
    partly = 0 < len(near) < len(deltas)
    yield judged(
        "guarantees-alike",
        near,
        f"The least Gaussian noise for (1, delta)-pDP at delta = {listed(deltas)} is (epsilon, delta)-aDP "
        f"with epsilon = {listed(spent, 3)}.",
        condition=f"delta is tiny: the two epsilons are within a tenth from about {short(max(near))} down"
        if partly
        else "",
    )

    yield judged(
        "figure-3-text",
        bool(np.all(1.0 / ratio < 1.0)),
        f"aDP : pDP is {span((1.0 / ratio).ravel())}; it is pDP : aDP that is below 1.",
        condition="it is read as pDP : aDP" if below else "",
    )

    yield judged(
        "figure-3-epsilon",
        bool(np.all(np.diff(ratio, axis=0) > 0.0)),
        "pDP : aDP at delta = 0.05 and epsilon = 0.1, 0.5 and 0.9: "
        f"{listed(_ratio(np.array([0.1, 0.5, 0.9]), np.array(0.05)))}; it rises with epsilon at every delta.",
    )

    falls = np.all(np.diff(ratio, axis=1) < 0.0, axis=1)
    last = float(FINE_DELTAS[min(int(np.argmin(row)) for row in ratio)])
    ends = _ratio(np.array(0.99), np.array([0.4, 0.4999]))
    everywhere = bool(falls.all())
    yield judged(
        "figure-3-delta",
        everywhere,
        f"It falls with delta up to 0.5 at {int(falls.sum())} of {falls.size} epsilons; at epsilon = 0.99 it "
        f"is {listed(ends)} at delta = 0.4 and 0.5.",
        condition="" if everywhere else f"delta is at most about {short(last, 2)}, or epsilon is small",
    )


def _approximate_epsilon(sigma: float, delta: float) -> float:
    """Return the epsilon of aDP that Gaussian noise has at a delta, by halving."""
    low, high = 0.0, 2.0
    while high - low > 1e-6:
        middle = (low + high) / 2.0
        low, high = (middle, high) if _true_delta("approximate", sigma, middle) > delta else (low, middle)
    return high


def of_large_epsilons() -> Iterator[Claim]:
    """Yield the claims on both bounds at an epsilon of 1 and more."""
    epsilons = (1.0, 2.0, 10.0)
    true = [_true_delta("probabilistic", float(gaussian_sigma(epsilon, 0.05)), epsilon) for epsilon in epsilons]
    yield judged(
        "no-limit-on-epsilon",
        max(true) <= 0.05,
        f"True delta of Lemma 10 at delta = 0.05, epsilon = {listed(epsilons)}: {listed(true, 3)}.",
    )

    def of_classic(epsilon: float, delta: float) -> float:
        return _true_delta("approximate", math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon, epsilon)

    deltas = [*np.geomspace(1e-10, 0.499, 25).tolist(), *DELTAS]
    used = [of_classic(epsilon, delta) / delta for epsilon in (1.0, 2.0) for delta in deltas]
    fails = of_classic(10.0, 0.05)
    certified = classic_gaussian(ggdp.ApproxDP(1.0, 0.05), ONE, outside_domain=True).guarantee.delta
    yield judged(
        "classic-outside",
        max(used) <= 1.0,
        f"The true delta is {span(used, 2)} times the nominal one at epsilon = 1 and 2 and {len(deltas)} deltas from "
        f"1e-10 to 0.5. At (1, 0.05) it is {short(certified, 3)}, which is {short(certified / 0.05, 3)} times 0.05. At "
        f"larger epsilons the bound fails: at (10, 0.05) the true delta is {short(fails, 3)}, {short(fails / 0.05, 3)} "
        "times 0.05.",
    )


def of_noisy_max() -> Iterator[Claim]:
    """Yield the claim on Report Noisy Max."""
    from scipy.special import log_ndtr, ndtr

    sigma = float(gaussian_sigma(1.0, 0.05))
    gaps = np.linspace(0.0, 100.0, 10_001)
    # Two counts, the second behind by a gap: it is reported if the difference of the noises is above the gap.
    apart, behind = sigma * SQRT2, gaps + 1.0
    losses = log_ndtr(-gaps / apart) - log_ndtr(-behind / apart)
    gained = np.maximum(ndtr(-gaps / apart) - math.e * ndtr(-behind / apart), 0.0)
    shown = [0, 1000, 2000, 5000, 10_000]
    unbounded = bool(np.all(np.diff(losses) > 0.0)) and losses[-1] > 1.0
    protected = float(gained.max()) <= 0.05
    yield judged(
        "noisy-max",
        unbounded,
        f"Two counts with Gaussian noise of Lemma 10's sigma at (1, 0.05): the loss of reporting the smaller count "
        f"rises with the gap, {listed(losses[shown], 3)} at gaps of {listed(gaps[shown])}, so no epsilon bounds it. "
        f"With delta it is protected: the report is post-processing of the two noisy counts, and its delta at epsilon "
        f"= 1 is {short(float(gained.max()), 2)}.",
        condition="DP means pure epsilon-DP" if unbounded and protected else "",
    )


def of_figure_4() -> Iterator[Claim]:
    """Yield the claims on the ratio of the tails."""
    found = paper_tails()
    shape = []
    for comparison in found:
        steps = np.sign(np.diff(comparison.log_ratio[comparison.log_ratio < 50.0]))
        shape.append(
            comparison.log_ratio[0] == 0.0 and steps[0] < 0 < steps[-1] and int(np.sum(np.diff(steps) != 0)) == 1
        )
    turn = tail_turn(1.0, 0.05)
    yield judged(
        "tail-shape",
        all(shape),
        f"So in {sum(shape)} of {len(found)} cases; at (1, 0.05) the bottom is {float(turn.minimum):.4f} at "
        f"t = {float(turn.t_minimum):.3f} and the ratio is 1 again at {float(turn.t_crossing):.3f}.",
    )

    at = tail_turn(np.array(PAPER_EPSILONS)[:, None], np.array(PAPER_DELTAS)[None, :]).t_minimum
    yield judged(
        "bounce-back",
        bool(np.all(np.diff(at, axis=0) < 0.0) and np.all(np.diff(at, axis=1) < 0.0)),
        f"Noise size at the bottom for delta = {listed(PAPER_DELTAS)}: "
        + "; ".join(f"{listed(row, 3)} at epsilon = {short(e)}" for e, row in zip(PAPER_EPSILONS, at, strict=True))
        + ".",
    )

    log_tails = tail_turn([float(c.epsilon) for c in found], [float(c.delta) for c in found]).log_tail_at_crossing
    likely = int(np.sum(log_tails > math.log(UNLIKELY)))
    yield judged(
        "laplace-strays",
        likely > 0,
        f"Every ratio exceeds 1 in the end; in {likely} of {len(found)} cases while the tail is still "
        f"above 1e-4. Tails at the crossing: {span(np.exp(log_tails), 2)}.",
    )


def of_figure_5() -> Iterator[Claim]:
    """Yield the claims on the epsilon of the same tail."""
    found = paper_same_tails()
    series: dict[float, list[np.ndarray]] = {}
    for comparison in found:
        series.setdefault(float(comparison.epsilon), []).append(comparison.ratio)
    falls = all(bool(np.all(np.diff(np.array(rows), axis=0) < 0.0)) for rows in series.values())
    deltas = sorted({float(comparison.delta) for comparison in found})
    at = [float(np.interp(2.0, one.t, one.ratio)) for one in found if float(one.epsilon) == 1.0]
    yield judged(
        "same-tail-by-delta",
        falls,
        f"epsilon_2 : epsilon_1 at epsilon_1 = 1, t = 2, delta = {listed(deltas)}: {listed(at, 3)}; so at every t.",
    )

    below = [comparison for comparison in found if bool(np.any((comparison.ratio < 1.0) & comparison.likely()))]
    turn = tail_turn(1.0, 0.05)
    yield judged(
        "same-tail-below-one",
        below,
        f"epsilon_2 is below epsilon_1 at a tail above 1e-4 in {len(below)} of {len(found)} cases; at (1, "
        f"0.05) from t = {float(turn.t_crossing):.2f} on, a tail of {math.exp(float(turn.log_tail_at_crossing)):.1g}. "
        "In the other cases only beyond.",
    )


def of_lemma_11() -> Iterator[Claim]:
    """Yield the claims on the dispersion of Gaussian and Laplace noise."""
    below = variance_ratio(np.geomspace(1e-4, 10.0, 200), LEMMA_DELTA * (1.0 - 1e-9))
    above = variance_ratio(1e-4, LEMMA_DELTA * 1.01)
    sound = bool(np.all(below > 1.0)) and float(above) < 1.0
    yield judged(
        "lemma-11",
        False,
        f"2 Phi(-sqrt 2) = {LEMMA_DELTA:.6f} (2 Phi(sqrt 2) is {math.erfc(-1.0):.3f}). Least ratio of variances just "
        f"below it: {short(float(below.min()), 6)}, at epsilon near 0; {short(float(above), 3)} one per cent above it.",
        condition="it is read as 2 Phi(-sqrt 2)" if sound else "",
    )

    epsilons = [0.1, 1.0, 2.0]
    exact = delta_of_equal_variance(epsilons)
    yield judged(
        "lemma-11-sufficient",
        bool(np.all(exact > LEMMA_DELTA)),
        f"The exact threshold 2 Phi(-(sqrt 2 - epsilon/(2 sqrt 2))) is {listed(exact)} at epsilon = "
        f"{listed(epsilons)}.",
    )

    z = -float(gaussian_sigma(1.0, 0.05) - 0.5 / gaussian_sigma(1.0, 0.05))
    printed = z * z / 4.0 + 1.0 - z * math.sqrt(z * z + 2.0)
    right = float(variance_ratio(1.0, 0.05))
    yield judged(
        "variance-ratio-printed",
        math.isclose(printed, right, rel_tol=1e-6),
        f"At (1, 0.05) it would be {short(printed, 5)}; it is {short(right, 5)}.",
    )

    epsilons = [0.1, *EPSILONS]
    edge = delta_of_equal_variance(epsilons, "analytic")
    ratios = [float(variance_ratio(e, d, "analytic")) for e in epsilons for d in DELTAS]
    better = sum(ratio < 1.0 for ratio in ratios)
    yield judged(
        "laplace-superior",
        True,
        "Variance of least aDP Gaussian noise over Laplace noise at epsilon = 0.1 to 2, delta = 0.01 to "
        f"0.25: {span(ratios)}; below 1 at {better} of {len(ratios)} goals.",
        condition=f"the Gaussian scale is Lemma 10's; the least for aDP varies less from delta = {listed(edge, 2)} on "
        f"at epsilon = {listed(epsilons)}"
        if better
        else "",
    )


def of_mechanisms() -> Iterator[Claim]:
    """Yield the claims on the family of mechanisms and its bounds."""
    goals = [(epsilon, delta) for epsilon in EPSILONS for delta in DELTAS]
    laplace = [ggdp.calibrate(ggdp.PureDP(epsilon), ONE, order=1).scale * epsilon for epsilon in EPSILONS]
    gauss = [
        ggdp.calibrate(ggdp.ProbabilisticDP(*goal), ONE, order=2, method="paper").std / float(gaussian_sigma(*goal))
        for goal in goals
    ]
    yield judged(
        "unified",
        all(math.isclose(ratio, 1.0, rel_tol=1e-9) for ratio in (*laplace, *gauss)),
        f"The mechanism of order 1 has {span(laplace)} times the scale of Laplace's at {len(laplace)} goals, "
        f"that of order 2 {span(gauss)} times the sigma of Lemma 10 at {len(gauss)}.",
    )

    parts, worst = [], 0.0
    for name in get_args(Bounding):
        noises = [ggdp.calibrate(PURE, ONE, order=p, bounds=[(0.0, 10.0)], bounding=name) for p in (1, 2, 3)]
        losses = [bounded_loss(name, order=noise.order, scale=noise.scale, width=10.0).upper for noise in noises]
        parts.append(f"{name}, b = {listed(noise.scale for noise in noises)} has a loss of {listed(losses)}")
        worst = max(worst, *losses)
    yield judged("bounded-achieve", worst <= 1.0, f"On [0, 10] at epsilon = 1 and p = 1, 2 and 3: {'; '.join(parts)}.")

    inside = [(epsilon, delta) for epsilon in (0.1, 0.5, 0.9) for delta in DELTAS]
    bounds = gaussian_bounds([epsilon for epsilon, _ in inside], [delta for _, delta in inside])
    classic = [float(gaussian_sigma(*goal) / gaussian_sigma(*goal, "classic")) for goal in inside]
    least = [float(ratio) for ratio in np.asarray(bounds.paper / bounds.analytic)]
    only_classic = max(classic) < 1.0 < max(least)
    yield judged(
        "bound-is-tighter",
        max(*classic, *least) < 1.0,
        f"Sigma of Lemma 10 at {len(inside)} goals with epsilon from 0.1 to 0.9: {span(classic)} times the "
        f"classic one, and {span(least)} times the least for aDP.",
        condition="the classic bound is meant; the least sigma for aDP is smaller" if only_classic else "",
    )


def of_noise() -> Iterator[Claim]:
    """Yield the claims on the amount of noise."""
    size = 101
    spread = [place / (size - 1) for place in range(size)]
    # Half of the records at either end: the median jumps from end to end.
    split = [0.0] * (size // 2 + 1) + [1.0] * (size // 2)

    def local(table: list[float]) -> float:
        here = statistics.median(table)
        return max(
            abs(statistics.median([*table[:place], value, *table[place + 1 :]]) - here)
            for place in range(size)
            for value in (0.0, 1.0)
        )

    worst, own = local(split), local(spread)
    noise = ggdp.calibrate(PURE, ggdp.Sensitivity.disjoint(worst), order=1).std
    yield judged(
        "global-sensitivity",
        worst > 10.0 * own and noise > 1.0,
        f"The median of {size} records in [0, 1]: it moves by up to {short(worst)} between some neighbours, "
        f"and by {short(own)} from a table with even gaps. Laplace noise at epsilon = 1 has a standard deviation of "
        f"{short(noise)}, more than the whole range.",
    )

    x = np.linspace(-60.0, 60.0, 240_001)
    step = float(x[1] - x[0])
    rows = []
    for epsilon in EPSILONS:
        scales = {1: 1.0 / epsilon, 2: float(gaussian_sigma(epsilon, 0.05)) * math.sqrt(2.0)}
        for order, scale in scales.items():
            law = ggdp.GeneralizedGaussian(order=order, scale=scale)
            density = law.pdf(x)
            rows.append((law.variance, float(np.sum(x**2 * density) * step), abs(float(np.sum(x * density) * step))))
    variances, errors, biases = zip(*rows, strict=True)
    same = np.argsort(variances).tolist() == np.argsort(errors).tolist()
    yield judged(
        "precision-is-mse",
        same and max(biases) < 1e-6,
        f"Laplace and Gaussian noise (Lemma 10, delta = 0.05) at epsilon = {listed(EPSILONS)}: bias at most "
        f"{max(biases):.1g}, and MSE {span([e / v for e, v in zip(errors, variances, strict=True)], 6)} times the "
        "variance.",
    )


CLAIMS = (
    of_lemma_10,
    of_figure_3,
    of_large_epsilons,
    of_noisy_max,
    of_figure_4,
    of_figure_5,
    of_lemma_11,
    of_mechanisms,
    of_noise,
)
