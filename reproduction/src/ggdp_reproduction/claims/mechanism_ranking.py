"""Claims of Section 4 about which mechanism does best on a table, by both measures and beyond chance.

========  ==========================================================================================================
won       every difference is in the claimed direction, by more than chance
lost      one of them is in the other direction, by more than chance
level     no difference can be seen although the standard errors are small
open      no difference can be seen, and the standard errors are too large to call it level: run more repeats
========  ==========================================================================================================
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import ggdp
from ggdp.calibration import disjoint_scale
from ggdp_reproduction.claims.statements import judged
from ggdp_reproduction.claims.wording import listed, short, span
from ggdp_reproduction.experiments.sanitisers import EPSILONS, PAPER, sanitiser_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ggdp_reproduction.experiments.count_runs import CountRun
    from ggdp_reproduction.results import Claim

    Goal: TypeAlias = tuple[float, float]

__all__ = [
    "ERRORS",
    "MEASURES",
    "beyond_chance",
    "deltas_of",
    "goals_of",
    "mean_of",
    "order_of_mechanisms",
    "paper_keys",
    "row_of",
    "winner",
]

Standing: TypeAlias = Literal["won", "lost", "level", "open"]

MEASURES = {"l1": "l_1", "kl": "KL"}
# A difference of means counts from three standard errors on, and from more where these are little known.
ERRORS = 3.0
# Means are level if these three standard errors are within a twentieth of the mean.
LEVEL = 0.05


def paper_keys(run: CountRun) -> list[str]:
    """Return the paper's mechanisms that a run has."""
    present = {row["sanitiser"] for row in run.rows}
    return [one.key for one in PAPER if one.key in present]


def goals_of(run: CountRun) -> list[Goal]:
    """Return the paper's goals that a run has."""
    rows = [row for row in run.rows if row["sanitiser"] == "gaussian-pdp" and row["epsilon"] in EPSILONS]
    return sorted({(row["epsilon"], row["delta"]) for row in rows})


def deltas_of(run: CountRun) -> list[float]:
    """Return the deltas of these goals."""
    return sorted({delta for _, delta in goals_of(run)})


def row_of(run: CountRun, key: str, epsilon: float, delta: float) -> dict[str, Any]:
    """Return the row of a mechanism at a goal, whether it uses the delta or not."""
    return run.row(key, epsilon, delta if sanitiser_of(key).uses_delta else None)


def mean_of(run: CountRun, key: str, goal: Goal, measure: str) -> float:
    """Return the mean l_1 distance or divergence of a mechanism at a goal."""
    return float(row_of(run, key, *goal)[f"{measure}_mean"])


def beyond_chance(freedom: int) -> float:
    """Return how many standard errors are as unlikely as three known ones, by Student's law."""
    from scipy.special import ndtr, stdtrit

    return float(stdtrit(freedom, ndtr(ERRORS)))


def _standing(run: CountRun, better: str, worse: str, goal: Goal, measure: str) -> Standing:
    """Return what a run says about one mechanism having the smaller mean than another."""
    one, two = row_of(run, better, *goal), row_of(run, worse, *goal)
    gap = two[f"{measure}_mean"] - one[f"{measure}_mean"]
    variance = sum(row[f"{measure}_sd"] ** 2 / row["repeats"] for row in (one, two))
    error = beyond_chance(one["repeats"] + two["repeats"] - 2) * math.sqrt(variance)
    if abs(gap) > error:
        return "won" if gap > 0.0 else "lost"
    return "level" if error <= LEVEL * one[f"{measure}_mean"] else "open"


def _standings(run: CountRun, pairs: Iterable[tuple[str, str]], measures: Iterable[str]) -> dict[Goal, Standing]:
    """Return for each goal the worst standing over pairs of mechanisms and measures."""
    found: dict[Goal, Standing] = {}
    chosen, by = list(pairs), list(measures)
    for goal in goals_of(run):
        each = {_standing(run, *pair, goal, measure) for pair in chosen for measure in by}
        ranks: tuple[Standing, ...] = ("lost", "open", "level", "won")
        found[goal] = next(rank for rank in ranks if rank in each)
    return found


def _with(standings: dict[Goal, Standing], *wanted: Standing) -> list[Goal]:
    return [goal for goal, standing in standings.items() if standing in wanted]


def _named(goals: Iterable[Goal]) -> str:
    return ", ".join(f"({e:g}, {d:g})" for e, d in goals)


def _decided(run: CountRun, pairs: Sequence[tuple[str, str]]) -> tuple[bool | None, str]:
    """Return whether a claim holds at all goals by both measures, None if that is open, and its condition."""
    standings = _standings(run, pairs, MEASURES)
    won, against, open_ones = (_with(standings, *names) for names in (("won",), ("lost", "level"), ("open",)))
    if not against and not open_ones:
        return True, ""
    undecided = f"not decided at {_named(open_ones)}"
    if not against:
        sure = [name for key, name in MEASURES.items() if set(_standings(run, pairs, [key]).values()) == {"won"}]
        return None, f"it refers to {sure[0]}; for both it is {undecided}" if sure else ""
    if len(won) >= len(against):
        return None, f"not at (epsilon, delta) = {_named(against)}" + (f"; {undecided}" if open_ones else "")
    return (False if len(won) + len(open_ones) < len(against) else None), ""


def _counted(run: CountRun, pairs: Sequence[tuple[str, str]]) -> str:
    """Return for each measure at how many goals a claim is won, lost, level or open, and where it is open."""
    words: dict[Standing, str] = {"won": "so", "lost": "not so", "level": "level", "open": "not decided"}
    parts = []
    for measure, name in MEASURES.items():
        standings = _standings(run, pairs, [measure])
        numbers = [(word, len(_with(standings, rank))) for rank, word in words.items()]
        parts.append(f"by {name} " + ", ".join(f"{word} at {number}" for word, number in numbers if number))
    standings = _standings(run, pairs, MEASURES)
    repeats = run.row("laplace", next(iter(standings))[0], None)["repeats"]
    beyond = f"beyond {short(beyond_chance(2 * repeats - 2), 3)} standard errors of {repeats:,} repeats"
    open_ones = _with(standings, "open")
    reason = f" At {_named(open_ones)} the standard errors are too large: more repeats are needed." if open_ones else ""
    return f"Of {len(standings)} goals, {beyond}: {'; '.join(parts)}.{reason}"


def winner(run: CountRun) -> Claim:
    """Laplace is the obvious winner."""
    goals, others = goals_of(run), [key for key in paper_keys(run) if key != "laplace"]
    pairs = [("laplace", key) for key in others]
    fact, condition = _decided(run, pairs)
    ratios = {
        name: [
            mean_of(run, key, goal, measure) / mean_of(run, "laplace", goal, measure)
            for key in others
            for goal in goals
        ]
        for measure, name in MEASURES.items()
    }
    others_have = " and ".join(f"{span(found)} times its {name}" for name, found in ratios.items())
    return judged(
        f"{run.dataset}-winner",
        fact,
        f"{_counted(run, pairs)} The others have {others_have}.{_below(run, others)}{_ours(run, goals)}",
        condition=f"among the paper's mechanisms, {condition}" if condition else "",
    )


def _below(run: CountRun, others: list[str]) -> str:
    """Return who is better at the epsilon below the paper's settings, if it was run."""
    small = [e for e in sorted({row["epsilon"] for row in run.rows}) if e < min(EPSILONS)]
    if not small:
        return ""
    behind = [
        d for d in deltas_of(run) if any(_standing(run, "laplace", k, (small[0], d), "l1") == "lost" for k in others)
    ]
    return f" At epsilon = {short(small[0])}, which is not among the paper's settings, " + (
        f"another is better by l_1 at delta = {listed(behind)}." if behind else "none is better by l_1."
    )


def _ours(run: CountRun, goals: list[Goal]) -> str:
    """Return how the planner's order on the integers does, if it was run."""
    if not any(row["sanitiser"] == "integer-best" for row in run.rows):
        return ""
    ratios = [mean_of(run, "integer-best", goal, "l1") / mean_of(run, "laplace", goal, "l1") for goal in goals]
    return f" (Our best order on the integers, for aDP, has {span(ratios)} times its l_1 distance.)"


def order_of_mechanisms(run: CountRun) -> Claim:
    """The Gaussian for aDP is the worst."""
    goals, keys = goals_of(run), paper_keys(run)
    order = [key for key in ("laplace", "gaussian-pdp", "ggm3-pdp", "gaussian-adp-classic") if key in keys]
    pairs = list(pairwise(order))
    fact, condition = _decided(run, pairs)
    worst = _standings(run, [(key, order[-1]) for key in order[:-1]], MEASURES)
    details = ""
    if "ggm3-pdp" in keys:
        larger = [
            goal
            for goal in goals
            if ggdp.GeneralizedGaussian(order=3, scale=disjoint_scale(3, 1.0, *goal)).mean_abs
            > math.sqrt(4.0 * math.log(1.25 / goal[1]) / math.pi) / goal[0]
        ]
        details = (
            " By the scales alone GGM-3 has the larger mean absolute noise than the classic Gaussian at "
            f"{len(larger)} of {len(goals)}."
        )
    return judged(
        f"{run.dataset}-order",
        fact,
        f"{_counted(run, pairs)} The classic Gaussian is the worst by both at {len(_with(worst, 'won'))} and "
        f"is not at {len(_with(worst, 'lost'))}.{details}",
        condition=condition,
    )
