"""Claims of Section 4 about the mildew and Czech data, and about counts in general."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import ggdp
from ggdp.calibration import disjoint_scale
from ggdp.datasets import czech, mildew
from ggdp.experiments.claims.statements import said
from ggdp.experiments.claims.wording import if_true, listed, short, span
from ggdp.experiments.results import Claim
from ggdp.experiments.settings import DELTAS, EPSILONS, PAPER, sanitiser_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ggdp.experiments.counts import CountRun
    from ggdp.experiments.results import Results

__all__ = ["CLAIMS", "SCALED", "of_counts", "order_of_mechanisms", "winner"]

# The mildew table with every count this many times as large: about as many units as the Czech table.
SCALED = 26
MEASURES = {"l1": "l_1 distance", "kl": "KL divergence"}
# A difference of means counts from three standard errors on.
ERRORS = 3.0
# Two means are called similar up to a quarter of difference, two steps alike up to a half.
SIMILAR, ALIKE = 1.25, 1.5


def _paper_keys(run: CountRun) -> list[str]:
    present = {row["sanitiser"] for row in run.rows}
    return [one.key for one in PAPER if one.key in present]


def _goals(run: CountRun) -> list[tuple[float, float]]:
    """Return the paper's goals that a run has."""
    rows = [row for row in run.rows if row["sanitiser"] == "gaussian-pdp" and row["epsilon"] in EPSILONS]
    return sorted({(row["epsilon"], row["delta"]) for row in rows})


def _row(run: CountRun, key: str, epsilon: float, delta: float) -> dict[str, Any]:
    return run.row(key, epsilon, delta if sanitiser_of(key).uses_delta else None)


def _beaten(run: CountRun, first: str, second: str, goal: tuple[float, float], measure: str) -> bool:
    """Tell whether the second mechanism has the smaller mean, by more than chance."""
    one, two = _row(run, first, *goal), _row(run, second, *goal)
    error = math.sqrt((one[f"{measure}_sd"] ** 2 + two[f"{measure}_sd"] ** 2) / one["repeats"])
    return bool(one[f"{measure}_mean"] - two[f"{measure}_mean"] > ERRORS * error)


def winner(run: CountRun) -> Claim:
    """Laplace is the obvious winner."""
    goals, others = _goals(run), [key for key in _paper_keys(run) if key != "laplace"]
    lost = {
        measure: [goal for goal in goals if any(_beaten(run, "laplace", key, goal, measure) for key in others)]
        for measure in MEASURES
    }
    ratios = [
        _row(run, key, *goal)["l1_mean"] / _row(run, "laplace", *goal)["l1_mean"] for key in others for goal in goals
    ]
    small = [e for e in sorted({row["epsilon"] for row in run.rows}) if e < min(EPSILONS)]
    extra = ""
    if small:
        deltas = sorted({delta for _, delta in goals})
        behind = [d for d in deltas if any(_beaten(run, "laplace", key, (small[0], d), "l1") for key in others)]
        extra = f" At epsilon = {short(small[0])}, which is not among the paper's settings, " + (
            f"another is better at delta = {listed(behind)}." if behind else "none is better."
        )
    any_lost = sorted({goal for found in lost.values() for goal in found})
    ours = [
        _row(run, "integer-best", *goal)["l1_mean"] / _row(run, "laplace", *goal)["l1_mean"]
        for goal in goals
        if any(row["sanitiser"] == "integer-best" for row in run.rows)
    ]
    beside = f" (Our best order on the integers, for aDP, has {span(ours)} times its distance.)" if ours else ""
    return Claim(
        **said(f"{run.dataset}-winner"),
        verdict="holds" if not any_lost else ("does not hold" if len(any_lost) == len(goals) else "holds only if"),
        condition="among the paper's mechanisms and not at (epsilon, delta) = "
        + ", ".join(f"({e:g}, {d:g})" for e, d in any_lost)
        if 0 < len(any_lost) < len(goals)
        else "",
        measured=f"Of {len(goals)} goals Laplace is beaten at {len(lost['l1'])} by l_1 and {len(lost['kl'])} by KL; "
        f"the others have {span(ratios)} times its l_1 distance.{extra}{beside}",
    )


def order_of_mechanisms(run: CountRun) -> Claim:
    """The Gaussian for aDP is the worst."""
    goals, keys = _goals(run), _paper_keys(run)
    order = [key for key in ("laplace", "gaussian-pdp", "ggm3-pdp", "gaussian-adp-classic") if key in keys]
    broken = [
        goal for goal in goals if any(_beaten(run, earlier, later, goal, "l1") for earlier, later in pairwise(order))
    ]
    worst = [
        goal for goal in goals if all(not _beaten(run, key, "gaussian-adp-classic", goal, "l1") for key in order[:-1])
    ]
    details = ""
    if "ggm3-pdp" in keys:
        larger = [
            goal
            for goal in goals
            if ggdp.GeneralizedGaussian(order=3, scale=disjoint_scale(3, 1.0, *goal)).mean_abs
            > math.sqrt(4.0 * math.log(1.25 / goal[1]) / math.pi) / goal[0]
        ]
        details = f" By the scales alone GGM-3 has the larger mean absolute noise at {len(larger)} of {len(goals)}."
    return Claim(
        **said(f"{run.dataset}-order"),
        verdict="holds" if not broken else ("does not hold" if len(broken) * 2 > len(goals) else "holds only if"),
        condition="not at (epsilon, delta) = " + ", ".join(f"({e:g}, {d:g})" for e, d in broken)
        if 0 < len(broken) * 2 <= len(goals)
        else "",
        measured=f"By l_1 the order is another at {len(broken)} of {len(goals)} goals; the classic Gaussian is the "
        f"worst, or level with it, at {len(worst)}.{details}",
    )


def _means(run: CountRun, key: str, delta: float, measure: str) -> list[float]:
    return [_row(run, key, epsilon, delta)[f"{measure}_mean"] for epsilon in EPSILONS]


def _steps(run: CountRun, measure: str) -> list[float]:
    """Return the fall from 0.5 to 1 over that from 1 to 2, for each mechanism and delta."""
    found = []
    for key in _paper_keys(run):
        for delta in sorted({delta for _, delta in _goals(run)}):
            a, b, c = _means(run, key, delta, measure)
            found.append((a - b) / (b - c))
            if not sanitiser_of(key).uses_delta:
                break
    return found


def _fall(run: CountRun, measure: str = "l1") -> list[float]:
    """Return how many times smaller the mean is at epsilon = 2 than at 0.5."""
    rows = [
        _means(run, key, delta, measure)
        for key in ("laplace", "gaussian-pdp")
        for delta in sorted({delta for _, delta in _goals(run)})
    ]
    return [row[0] / row[-1] for row in rows]


def mildew_similar(results: Results) -> Claim:
    """Where the Gaussian for pDP performs similarly."""
    run = results.counts["mildew"]
    chosen = [goal for goal in _goals(run) if goal[0] == 2.0 or goal[1] >= 0.1]
    readings = {}
    for other, name in (
        ("laplace", "Laplace"),
        ("ggm3-pdp", "GGM-3"),
        ("gaussian-adp-classic", "the classic Gaussian"),
    ):
        ratios = [_row(run, "gaussian-pdp", *goal)["l1_mean"] / _row(run, other, *goal)["l1_mean"] for goal in chosen]
        readings[name] = (ratios, all(1.0 / SIMILAR <= ratio <= SIMILAR for ratio in ratios))
    good = [name for name, (_, fits) in readings.items() if fits]
    return Claim(
        **said("mildew-similar"),
        verdict="holds" if len(good) == len(readings) else ("holds only if" if good else "does not hold"),
        condition=f"it means similar to {' and '.join(good)}" if 0 < len(good) < len(readings) else "",
        measured="l_1 distance there over that of "
        + "; ".join(f"{name}: {span(ratios)}" for name, (ratios, _) in readings.items())
        + ". (Similar: within a quarter.)",
    )


def mildew_linear(results: Results) -> Claim:
    """A linear decrease in epsilon."""
    run = results.counts["mildew"]
    steps = {measure: _steps(run, measure) for measure in MEASURES}
    even = all(1.0 / ALIKE <= ratio <= ALIKE for ratio in steps["l1"])
    straight = all(1.0 / ALIKE <= 2.0 * ratio <= ALIKE for ratio in steps["l1"])
    return Claim(
        **said("mildew-linear"),
        verdict="holds" if straight else ("holds only if" if even else "does not hold"),
        condition="of the l_1 error, and from doubling to doubling: in epsilon itself the slope is "
        f"{span([2.0 * ratio for ratio in steps['l1']], 2)} times steeper from 0.5 to 1"
        if even and not straight
        else "",
        measured=f"The fall from 0.5 to 1 over that from 1 to 2: {span(steps['l1'])} for l_1, {span(steps['kl'])} for "
        "KL (a straight line has 0.5, equal steps have 1, noise that is only scaled has 2).",
    )


def mildew_delta(results: Results) -> Claim:
    """Delta matters less than epsilon."""
    run = results.counts["mildew"]
    goals, keys = _goals(run), [key for key in _paper_keys(run) if key != "laplace"]
    deltas = sorted({delta for _, delta in goals})
    by_delta = [
        _row(run, key, e, deltas[0])["l1_mean"] / _row(run, key, e, deltas[-1])["l1_mean"]
        for key in keys
        for e in EPSILONS
    ]
    by_epsilon = [
        _row(run, key, EPSILONS[0], d)["l1_mean"] / _row(run, key, EPSILONS[-1], d)["l1_mean"]
        for key in keys
        for d in deltas
    ]
    return Claim(
        **said("mildew-delta"),
        verdict=if_true(sum(by_delta) / len(by_delta) < sum(by_epsilon) / len(by_epsilon)),
        measured=f"l_1 falls {span(by_epsilon)} times from epsilon = 0.5 to 2, and {span(by_delta)} times from delta "
        f"= {short(deltas[0])} to {short(deltas[-1])}, a far longer way.",
    )


def czech_quicker(results: Results) -> Claim:
    """The Czech counts approach the original ones more quickly."""
    first, second = (_fall(results.counts[name]) for name in ("mildew", "czech"))
    relative = [
        results.counts[name].row("laplace", 1.0, None)["l1_mean"] / results.counts[name].n
        for name in ("mildew", "czech")
    ]
    return Claim(
        **said("czech-quicker"),
        verdict=if_true(all(b > a for a, b in zip(first, second, strict=True))),
        measured=f"From epsilon = 0.5 to 2 the l_1 distance falls {span(second)} times for Czech and {span(first)} "
        f"times for mildew. Laplace at epsilon = 1: {100 * relative[1]:.2g} % of n against {100 * relative[0]:.2g} %.",
    )


def czech_variability(results: Results) -> Claim:
    """More variability at epsilon = 0.1."""
    run = results.counts["czech"]
    if not any(row["epsilon"] == 0.1 for row in run.rows):
        return Claim(**said("czech-variability"), verdict="not measured", measured="epsilon = 0.1 was not run.")
    goals = sorted({delta for _, delta in _goals(run)})
    growth = [
        _row(run, key, 0.1, delta)["l1_sd"] / _row(run, key, 0.5, delta)["l1_sd"]
        for key in _paper_keys(run)
        for delta in goals
    ]
    return Claim(
        **said("czech-variability"),
        verdict=if_true(min(growth) > 1.0),
        measured=f"Standard deviation of l_1 at epsilon = 0.1 over that at 0.5: {span(growth)}. (The settings of the "
        "paper are 0.5, 1 and 2; 0.1 was added here.)",
    )


def czech_drastic(results: Results) -> Claim:
    """Drastically from 0.5 to 1, much less from 1 to 2."""
    run = results.counts["czech"]
    steps = {measure: _steps(run, measure) for measure in MEASURES}
    return Claim(
        **said("czech-drastic"),
        verdict=if_true(min(min(found) for found in steps.values()) > ALIKE),
        measured=f"The fall from 0.5 to 1 over that from 1 to 2: {span(steps['l1'])} for l_1, {span(steps['kl'])} for "
        "KL.",
    )


def larger_n(results: Results) -> Claim:
    """The difference is explained by n."""
    falls = {name: _fall(results.counts[name]) for name in ("mildew", "czech", f"mildew-{SCALED}")}
    means = {name: sum(found) / len(found) for name, found in falls.items()}
    scaled = results.counts[f"mildew-{SCALED}"]
    share = (means[f"mildew-{SCALED}"] - means["mildew"]) / (means["czech"] - means["mildew"])
    part = 0.1 < share < 0.75
    return Claim(
        **said("larger-n"),
        verdict="holds only if" if part else if_true(share >= 0.75),
        condition=f"in part: a larger n alone makes up {100 * share:.0f} % of the difference, empty cells the rest"
        if part
        else "",
        measured=f"l_1 falls from epsilon = 0.5 to 2 by {short(means['mildew'], 3)} times for mildew, "
        f"{short(means['czech'], 3)} for Czech, and {short(means[f'mildew-{SCALED}'], 3)} for mildew with every count "
        f"{SCALED} times as large (n = {scaled.n:,}).",
    )


def mildew_table() -> Claim:
    """What the mildew data are."""
    table = mildew()
    filled = sum(count > 0 for count in table.counts)
    return Claim(
        key="mildew-table",
        place="Section 4",
        claim="The mildew data have 70 strands in a 6-way table, with 22 of 64 cells non-empty.",
        verdict=if_true((sum(table.counts), len(table.columns), filled, len(table.counts)) == (70, 6, 22, 64)),
        measured=f"n = {sum(table.counts)}, {len(table.columns)} factors, {filled} of {len(table.counts)} cells not "
        "empty.",
        figure="mildew-counts",
    )


def czech_table() -> Claim:
    """What the Czech data are."""
    table = czech()
    empty = sum(count == 0 for count in table.counts)
    return Claim(
        key="czech-table",
        place="Section 4",
        claim="The Czech data have 1841 workers in 64 cells, only one of them empty.",
        verdict=if_true((sum(table.counts), len(table.counts), empty) == (1841, 64, 1)),
        measured=f"n = {sum(table.counts):,}, {len(table.counts)} cells, {empty} of them empty.",
        figure="czech-counts",
    )


def public_total() -> Claim:
    """Delta_p = 1 and a public n."""
    add = [ggdp.Sensitivity.histogram().lp(order) for order in (1, 2, 3)]
    replace = [ggdp.Sensitivity.histogram(neighbours="replace-one").lp(order) for order in (1, 2, 3)]
    paper = ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.histogram(), order=1).scale
    honest = ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.histogram(neighbours="replace-one"), order=1).scale
    return Claim(
        key="public-total",
        place="Section 4",
        claim="Delta_p = 1 for all p in all experiments, and the sanitised counts are normalised to a public n.",
        verdict=if_true(add == replace) if add == replace else "holds only if",
        condition="" if add == replace else "not both at once: where n is public, neighbours are replace-one",
        measured=f"Delta_p at p = 1, 2 and 3: {listed(add)} under add/remove, {listed(replace)} under replace-one. "
        f"The Laplace scale at epsilon = 1 is {short(paper)} and {short(honest)}.",
        figure="mildew-all",
    )


def settings_listed() -> Claim:
    """Epsilon = 0.1 in the text."""
    return Claim(
        key="settings-listed",
        place="Section 4",
        claim="epsilon = 0.5, 1, 2 and delta = 0.01, 0.05, 0.1, 0.25 were examined; the text speaks of epsilon = 0.1 "
        "too.",
        verdict=if_true(0.1 in EPSILONS),
        measured=f"The settings are epsilon = {listed(EPSILONS)} and delta = {listed(DELTAS)}; 0.1 is not among them.",
        figure="czech-errors",
    )


CLAIMS = (mildew_table, czech_table, settings_listed, public_total)

_MEASURED: dict[Callable[[Results], Claim], tuple[str, ...]] = {
    mildew_similar: ("mildew",),
    mildew_linear: ("mildew",),
    mildew_delta: ("mildew",),
    czech_quicker: ("mildew", "czech"),
    czech_variability: ("czech",),
    czech_drastic: ("czech",),
    larger_n: ("mildew", "czech", f"mildew-{SCALED}"),
}


def of_counts(results: Results) -> Iterable[Claim]:
    """Yield the claims about the data sets that were run, each set's own and those that compare."""
    for name in ("mildew", "czech", "adult"):
        if name in results.counts:
            yield winner(results.counts[name])
            yield order_of_mechanisms(results.counts[name])
    for make, needed in _MEASURED.items():
        if all(name in results.counts for name in needed):
            yield make(results)
