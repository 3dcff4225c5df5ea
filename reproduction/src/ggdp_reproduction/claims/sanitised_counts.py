"""Claims of Section 4 about the mildew and Czech data, and about counts in general."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import ggdp
from ggdp.datasets import czech, mildew
from ggdp_reproduction.claims.mechanism_ranking import (
    ERRORS,
    MEASURES,
    deltas_of,
    goals_of,
    mean_of,
    order_of_mechanisms,
    paper_keys,
    row_of,
    winner,
)
from ggdp_reproduction.claims.statements import judged, not_measurable
from ggdp_reproduction.claims.wording import listed, short, span
from ggdp_reproduction.experiments.sanitisers import EPSILONS, sanitiser_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ggdp_reproduction.experiments.count_runs import CountRun
    from ggdp_reproduction.results import Claim, Results

__all__ = ["CLAIMS", "SCALED", "of_counts"]

# The mildew table with every count this many times as large: about as many units as the Czech table.
SCALED = 26
# Two steps are called alike up to a half of difference.
ALIKE = 1.5


def _means(run: CountRun, key: str, delta: float, measure: str) -> list[float]:
    return [mean_of(run, key, (epsilon, delta), measure) for epsilon in EPSILONS]


def _over(one: float, other: float) -> float:
    """Return a ratio, infinite where there is nothing to divide by, as after very few repeats."""
    return one / other if other else math.inf


def _steps(run: CountRun, measure: str) -> list[float]:
    """Return the fall from 0.5 to 1 over that from 1 to 2, for each mechanism and delta."""
    found = []
    for key in paper_keys(run):
        for delta in deltas_of(run):
            a, b, c = _means(run, key, delta, measure)
            found.append(_over(a - b, b - c))
            if not sanitiser_of(key).uses_delta:
                break
    return found


def _falls_by_epsilon(run: CountRun, keys: list[str]) -> dict[str, list[float]]:
    """Return for each measure how many times smaller the mean is at the largest epsilon than at the least."""
    pairs = [(key, delta) for key in keys for delta in deltas_of(run)]
    return {
        measure: [means[0] / means[-1] for means in (_means(run, *pair, measure) for pair in pairs)]
        for measure in MEASURES
    }


def _falls_by_delta(run: CountRun, keys: list[str]) -> dict[str, list[float]]:
    """Return for each measure how many times smaller the mean is at the largest delta than at the least."""
    least, *_, most = deltas_of(run)
    return {
        measure: [
            mean_of(run, key, (e, least), measure) / mean_of(run, key, (e, most), measure)
            for key in keys
            for e in EPSILONS
        ]
        for measure in MEASURES
    }


def mildew_similar(results: Results) -> Claim:
    """Similar to what, and how similar, is not said: only the ratios can be given."""
    run = results.counts["mildew"]
    goals = goals_of(run)
    chosen = [goal for goal in goals if goal[0] == 2.0 or goal[1] >= 0.1]
    rest = [goal for goal in goals if goal not in chosen]
    names = {"laplace": "Laplace", "ggm3-pdp": "GGM-3", "gaussian-adp-classic": "the classic Gaussian"}

    def ratios(key: str, where: list[tuple[float, float]]) -> list[float]:
        return [
            mean_of(run, "gaussian-pdp", goal, measure) / mean_of(run, key, goal, measure)
            for goal in where
            for measure in MEASURES
        ]

    parts = [
        f"{name}: {span(ratios(key, chosen))} there, {span(ratios(key, rest))} elsewhere" for key, name in names.items()
    ]
    return not_measurable(
        "mildew-similar",
        "The paper does not define 'similar', and does not say to what. The ratio of its l_1 distance and KL "
        f"divergence to those of {'; '.join(parts)} ({len(chosen)} and {len(rest)} goals).",
    )


def mildew_linear(results: Results) -> Claim:
    """A linear decrease in epsilon."""
    run = results.counts["mildew"]
    steps = {name: _steps(run, measure) for measure, name in MEASURES.items()}
    straight = [name for name, found in steps.items() if all(1.0 / ALIKE <= 2.0 * step <= ALIKE for step in found)]
    even = [name for name, found in steps.items() if all(1.0 / ALIKE <= step <= ALIKE for step in found)]
    partly = len(straight) < len(steps) and bool(straight or even)
    named, way = (straight, "in epsilon") if straight else (even, "from doubling to doubling, not in epsilon itself")
    return judged(
        "mildew-linear",
        straight,
        "The fall from 0.5 to 1 over that from 1 to 2: "
        + ", ".join(f"{span(found)} for {name}" for name, found in steps.items())
        + " (a straight line has 0.5, equal steps have 1, noise that is only scaled has 2).",
        condition=f"it refers to {' and '.join(named)}, {way}" if partly else "",
    )


def mildew_delta(results: Results) -> Claim:
    """Delta matters less than epsilon."""
    run = results.counts["mildew"]
    keys = [key for key in paper_keys(run) if sanitiser_of(key).uses_delta]
    by_delta, by_epsilon = _falls_by_delta(run, keys), _falls_by_epsilon(run, keys)
    less = [sum(by_delta[m]) / len(by_delta[m]) < sum(by_epsilon[m]) / len(by_epsilon[m]) for m in MEASURES]
    partly = any(less) and not all(less)
    deltas = deltas_of(run)
    return judged(
        "mildew-delta",
        all(less),
        "; ".join(
            f"{name} falls {span(by_epsilon[measure])} times from epsilon = {short(EPSILONS[0])} to "
            f"{short(EPSILONS[-1])} ({short(EPSILONS[-1] / EPSILONS[0])}-fold), and {span(by_delta[measure])} times "
            f"from delta = {short(deltas[0])} to {short(deltas[-1])} ({short(deltas[-1] / deltas[0])}-fold)"
            for measure, name in MEASURES.items()
        )
        + ".",
        condition=f"it refers to {[*MEASURES.values()][less.index(True)]}" if partly else "",
    )


def czech_quicker(results: Results) -> Claim:
    """The Czech counts approach the original ones more quickly."""
    pair = [results.counts[name] for name in ("mildew", "czech")]
    keys = ["gaussian-pdp", "gaussian-adp-classic"]
    texts, quicker = [], {}
    for way, found in (
        ("epsilon", [_falls_by_epsilon(run, ["laplace", *keys]) for run in pair]),
        ("delta", [_falls_by_delta(run, keys) for run in pair]),
    ):
        for measure, name in MEASURES.items():
            mildew_falls, czech_falls = (falls[measure] for falls in found)
            quicker[f"{name} with {way}"] = all(b > a for a, b in zip(mildew_falls, czech_falls, strict=True))
            texts.append(f"{name} with {way} {span(czech_falls)} and {span(mildew_falls)} times")
    good = [name for name, fact in quicker.items() if fact]
    relative = [100.0 * run.row("laplace", 1.0, None)["l1_mean"] / run.n for run in pair]
    return judged(
        "czech-quicker",
        good,
        f"Over the paper's range there fall, for Czech and for mildew: {'; '.join(texts)}. Laplace at epsilon "
        f"= 1: an l_1 distance of {short(relative[1], 2)} % of n against {short(relative[0], 2)} %.",
        condition=f"it refers to {' and '.join(good)}" if 0 < len(good) < len(quicker) else "",
    )


def czech_variability(results: Results) -> Claim:
    """More variability at epsilon = 0.1."""
    run = results.counts["czech"]
    if not any(row["epsilon"] == 0.1 for row in run.rows):
        return judged("czech-variability", None, "epsilon = 0.1 was not run.")
    growth = {
        name: [
            _over(row_of(run, key, 0.1, delta)[f"{measure}_sd"], row_of(run, key, 0.5, delta)[f"{measure}_sd"])
            for key in paper_keys(run)
            for delta in deltas_of(run)
        ]
        for measure, name in MEASURES.items()
    }
    # The logarithm of a standard deviation of R normal values is known to about 1 / sqrt(2 (R - 1)).
    chance = math.exp(ERRORS / math.sqrt(run.row("laplace", 0.1, None)["repeats"] - 1.0))
    every = [ratio for found in growth.values() for ratio in found]
    undecided = min(every) <= chance and min(every) * chance >= 1.0
    return judged(
        "czech-variability",
        None if undecided else min(every) > chance,
        "Standard deviation at epsilon = 0.1 over that at 0.5: "
        + ", ".join(f"{span(found)} for {name}" for name, found in growth.items())
        + f"; what is beyond {short(chance, 3)} is beyond chance. (The text mentions 0.1, which is not among the "
        f"paper's settings, {listed(EPSILONS)}; it was added here.)",
    )


def czech_drastic(results: Results) -> Claim:
    """Drastically from 0.5 to 1, much less from 1 to 2."""
    run = results.counts["czech"]
    steps = {measure: _steps(run, measure) for measure in MEASURES}
    return judged(
        "czech-drastic",
        min(min(found) for found in steps.values()) > ALIKE,
        f"The fall from 0.5 to 1 over that from 1 to 2: {span(steps['l1'])} for l_1, {span(steps['kl'])} for KL.",
    )


def larger_n(results: Results) -> Claim:
    """The difference is explained by n."""
    runs = [results.counts[name] for name in ("mildew", "czech", f"mildew-{SCALED}")]
    falls = [_falls_by_epsilon(run, ["laplace", "gaussian-pdp"])["l1"] for run in runs]
    small, other, large = (sum(found) / len(found) for found in falls)
    share = _over(large - small, other - small)
    part = 0.1 < share < 0.75
    return judged(
        "larger-n",
        share >= 0.75,
        f"l_1 falls from epsilon = 0.5 to 2 by {short(small, 3)} times for mildew, "
        f"{short(other, 3)} for Czech, and {short(large, 3)} for mildew with every count "
        f"{SCALED} times as large (n = {runs[-1].n:,}).",
        condition=f"in part: a larger n alone makes up {100 * share:.0f} % of the difference" if part else "",
    )


def of_tables() -> Iterator[Claim]:
    """Yield the claims on the data, and on their public total."""
    table = mildew()
    filled = sum(count > 0 for count in table.counts)
    yield judged(
        "mildew-table",
        (sum(table.counts), len(table.columns), filled, len(table.counts)) == (70, 6, 22, 64),
        f"n = {sum(table.counts)}, {len(table.columns)} factors, {filled} of {len(table.counts)} cells not empty.",
    )

    table = czech()
    empty = sum(count == 0 for count in table.counts)
    yield judged(
        "czech-table",
        (sum(table.counts), len(table.counts), empty) == (1841, 64, 1),
        f"n = {sum(table.counts):,}, {len(table.counts)} cells, {empty} of them empty.",
    )

    add = [ggdp.Sensitivity.histogram().lp(order) for order in (1, 2, 3)]
    replace = [ggdp.Sensitivity.histogram(neighbours="replace-one").lp(order) for order in (1, 2, 3)]
    paper = ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.histogram(), order=1).scale
    honest = ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.histogram(neighbours="replace-one"), order=1).scale
    yield judged(
        "public-total",
        add == replace,
        f"Delta_p at p = 1, 2 and 3: {listed(add)} under add/remove, {listed(replace)} under replace-one. "
        f"The two parts exclude each other: Delta_p = 1 needs add/remove neighbors, whose totals differ, and "
        f"neighbors with the same public n are replace-one. The Laplace scale at epsilon = 1 is {short(paper)} and "
        f"{short(honest)}.",
    )


CLAIMS = (of_tables,)

_MEASURED: dict[Callable[[Results], Claim], tuple[str, ...]] = {
    mildew_similar: ("mildew",),
    mildew_linear: ("mildew",),
    mildew_delta: ("mildew",),
    czech_quicker: ("mildew", "czech"),
    czech_variability: ("czech",),
    czech_drastic: ("czech",),
    larger_n: ("mildew", "czech", f"mildew-{SCALED}"),
}


def of_counts(results: Results) -> Iterator[Claim]:
    """Yield the claims about the data sets that were run, each set's own and those that compare.

    A run with other parameters than the paper's says nothing about them.
    """
    fit = {name for name, run in results.counts.items() if _has_the_settings(run)}
    for name in ("mildew", "czech", "adult"):
        if name in fit:
            yield winner(results.counts[name])
            yield order_of_mechanisms(results.counts[name])
    for make, needed in _MEASURED.items():
        if fit.issuperset(needed):
            yield make(results)


def _has_the_settings(run: CountRun) -> bool:
    """Return whether a run has every epsilon of the paper, and deltas of it on both sides of 0.1."""
    goals = goals_of(run)
    deltas = {delta for _, delta in goals}
    return {epsilon for epsilon, _ in goals} == set(EPSILONS) and len(deltas) > 1 and min(deltas) < 0.1 <= max(deltas)
