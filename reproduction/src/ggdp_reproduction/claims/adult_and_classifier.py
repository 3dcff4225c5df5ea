"""Claims of Section 4 about the adult data and the classifier."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Any

from ggdp.datasets import mildew
from ggdp_reproduction.claims.mechanism_ranking import beyond_chance
from ggdp_reproduction.claims.statements import judged, not_measurable
from ggdp_reproduction.claims.wording import short, span
from ggdp_reproduction.experiments.sanitisers import sanitiser_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ggdp_reproduction.experiments.svm_runs import SvmRun
    from ggdp_reproduction.results import Claim, Results

__all__ = ["of_adult", "of_cells"]

PRINTED_TRAIN, PRINTED_TEST, PRINTED_CELLS, PRINTED_BINS = 20_009, 10_005, 17_985, 1.944e13
LARGEST_LOSS, SMALLEST_LOSS = 0.01, 0.0025


def of_cells() -> Iterator[Claim]:
    """Yield the claim that the non-empty cells alone may be sanitised."""
    counts = mildew().counts

    def shown(table: Sequence[int]) -> frozenset[int]:
        return frozenset(cell for cell, count in enumerate(table) if count)

    # Whatever the noise, the output has exactly the non-empty cells: one person more or less, and it may have others.
    gaps = []
    for cell in shown(counts):
        fewer = [count - (place == cell) for place, count in enumerate(counts)]
        gaps.append(float(shown(fewer) != shown(counts)))
    alone = int(sum(gaps))
    yield judged(
        "non-empty-cells",
        max(gaps) == 0.0,
        f"A person who is alone in a cell makes it appear, with any noise: {alone} of the {sum(counts)} in "
        f"the mildew table, which is small enough to try every neighbour. The outputs with and without such a person "
        f"have nothing in common, so delta = {max(gaps):g}. Not differentially private, for reproduction only.",
    )


def of_adult(results: Results) -> Iterator[Claim]:
    """Yield the claims about the adult data, as far as they were run."""
    if results.adult:
        yield _rows(results.adult)
        yield _cells(results.adult)
        yield _bins(results.adult)
        yield _senseless(results.adult)
    if results.svm is not None:
        yield _barely(results.svm)
        yield _variation(results.svm)
        yield _no_worse(results.svm)


def _rows(facts: dict[str, float]) -> Claim:
    train, test, complete, left_out = (int(facts[name]) for name in ("train", "test", "complete", "left_out"))
    same = (train, test) == (PRINTED_TRAIN, PRINTED_TEST)
    return judged(
        "adult-rows",
        same,
        f"{complete:,} rows are complete; less {left_out} of them {train:,} + {test:,} = {train + test:,} are left.",
        condition=f"the {left_out} with a capital gain of 99,999 are left out, which the paper does not say"
        if same and left_out
        else "",
    )


def _cells(facts: dict[str, float]) -> Claim:
    cells, wide = int(facts["cells"]), int(facts["cells_with_income"])
    apart = abs(cells / PRINTED_CELLS - 1.0)
    return judged(
        "adult-cells",
        False,
        f"This split has {cells:,} without the income ({100 * apart:.2g} % apart; it depends on the split) "
        f"and {wide:,} with it.",
        condition="the cells have exact values, without the weight fnlwgt and without the income, which the "
        "classifier needs"
        if apart < 0.005
        else "",
    )


def _bins(facts: dict[str, float]) -> Claim:
    levels = [int(number) for name, number in facts.items() if name.startswith("levels_")]
    product, ages = math.prod(levels), int(facts["bins_age"])
    measured = (
        f"The values of the {len(levels)} attributes with names give {' x '.join(map(str, levels))} = {product:,} "
        f"cells. With the exact values of the others, without fnlwgt, there are {facts['bins']:.3g}."
    )
    if product > PRINTED_BINS:
        return judged("adult-bins", False, measured)
    guess = product * ages * 10**4
    fits = f"{guess:.4g}" == f"{PRINTED_BINS:.4g}"
    return not_measurable(
        "adult-bins",
        f"The paper does not state its bins of the numeric attributes. {measured} 1.944e13 is "
        f"{float(f'{PRINTED_BINS / product:.3g}'):,g} times as many as the names give; {ages} ages and ten bins for "
        f"each of four attributes make {guess:.6g}, which "
        + ("fits all printed digits; that these are the paper's bins is not proved." if fits else "does not fit."),
    )


def _senseless(facts: dict[str, float]) -> Claim:
    old, busy, names = (int(facts[name]) for name in ("aged_90", "aged_90_over_80_hours", "levels_education"))
    numbers, pairs = int(facts["codes_education"]), int(facts["pairs_education"])
    # Each name has one number: no other pair of the two can occur, whoever is in the data.
    recoded = pairs == names == numbers > 1
    found = f"education has {names} values and education-num {numbers}, in {pairs} pairs of {names * numbers}"
    if recoded:
        found += f": one is a code for the other, and {names - 1} of {names} bins cannot occur"
    return judged(
        "adult-senseless",
        True if recoded else None,
        f"{found}. The example is {'ill-chosen' if busy else 'not in the data'}: of the {int(facts['complete']):,} "
        f"complete rows {old} are of age 90, and {busy} of them {'works' if busy == 1 else 'work'} more than 80 hours "
        "per week.",
    )


def _losses(run: SvmRun) -> list[dict[str, Any]]:
    return [row for row in run.summary() if row["group"] == "paper"]


def _fits(rows: list[dict[str, Any]]) -> str:
    """Return the number of fits of a setting, in words."""
    found = span([row["repeats"] for row in rows])
    return f"{found} fit" if found == "1" else f"{found} fits"


def _beside(points: float) -> str:
    """Return a loss of percentage points in words: below, or above if it is a gain."""
    return f"{abs(points):.2f} percentage points {'below' if points >= 0.0 else 'above'}"


def _barely(run: SvmRun) -> Claim:
    rows = _losses(run)
    losses = [row["loss_mean"] for row in rows]
    below, above = sum(loss < SMALLEST_LOSS for loss in losses), sum(loss > LARGEST_LOSS for loss in losses)
    inside = len(losses) - below - above
    worst = max(rows, key=lambda row: row["loss_mean"])
    where = f"epsilon = {worst['epsilon']:g}" + ("" if worst["delta"] is None else f", delta = {worst['delta']:g}")
    condition = ""
    if above == 0 < below:
        condition = f"it is read as at most 1 %: {below} of {len(losses)} losses are below 0.25 %"
    elif 0 < above < len(losses):
        condition = f"in {len(losses) - above} of {len(losses)} settings; the loss is above 1 % in the others"
    return judged(
        "svm-barely",
        inside == len(losses),
        f"Original {100 * run.original_accuracy:.2f} % on {run.test:,} test rows ({run.train:,} training "
        f"rows). The cells alone, with equal weights and no count seen, give {100 * run.support_accuracy:.2f} %. "
        f"Over the paper's {len(rows)} settings the mean of {_fits(rows)} is "
        f"{span([100 * row['accuracy_mean'] for row in rows], 4)} %. It is lower than the original by 0.25 to 1 "
        f"percentage points in {inside} of them, by more in {above}, and by less or not at all in {below}; it is "
        f"lowest for {worst['sanitiser']} at {where}.",
        condition=condition,
    )


def _variation(run: SvmRun) -> Claim:
    rows = [row for row in _losses(run) if row["accuracy_sd"] is not None]
    if not rows:
        return judged("svm-variation", None, "One repeat has no variation.")
    ends = [row["loss_mean"] + 2.0 * row["accuracy_sd"] for row in rows]
    inside = sum(end <= LARGEST_LOSS for end in ends)
    partly = 0 < inside < len(ends)
    return judged(
        "svm-variation",
        inside,
        f"The mean of {_fits(rows)} less two standard deviations is at least "
        f"{100 * (run.original_accuracy - max(ends)):.2f} %, {_beside(100 * max(ends))} the original; it is at most 1 "
        f"percentage point below it in {inside} of {len(ends)} settings.",
        condition=f"in {inside} of {len(ends)} settings" if partly else "",
    )


def _paired(run: SvmRun, other: str) -> tuple[int, float, float]:
    """Return how many paired differences of accuracy there are to another mechanism, their mean and its error.

    Both classifiers are tried on the same test rows. Laplace noise has no delta: what is paired with it is the mean
    over the deltas, so that no difference is counted twice.
    """

    def accuracies(key: str, deltas: bool) -> dict[tuple[Any, ...], float]:
        found: dict[tuple[Any, ...], list[float]] = {}
        for row in run.rows:
            if row["sanitiser"] == key:
                name = (row["epsilon"], row["repeat"], row["delta"] if deltas else None)
                found.setdefault(name, []).append(row["accuracy"])
        return {name: statistics.fmean(values) for name, values in found.items()}

    by_delta = sanitiser_of(other).uses_delta
    one, two = accuracies("gaussian-adp-classic", by_delta), accuracies(other, by_delta)
    gaps = [one[name] - two[name] for name in one if name in two]
    error = statistics.stdev(gaps) / math.sqrt(len(gaps)) if len(gaps) > 1 else math.inf
    return len(gaps), statistics.fmean(gaps), error


def _no_worse(run: SvmRun) -> Claim:
    names = {"gaussian-pdp": "Gaussian pDP", "laplace": "Laplace"}
    pairs = {name: _paired(run, key) for key, name in names.items()}
    found = {name: (n, gap, beyond_chance(max(n - 1, 1)) * error) for name, (n, gap, error) in pairs.items()}
    worse = [name for name, (_, gap, error) in found.items() if gap + error < 0.0]
    # What the paper calls ignorable is the margin within which two accuracies are the same.
    decided = all(gap - error > -SMALLEST_LOSS for _, gap, error in found.values())
    far = any(gap + error < -SMALLEST_LOSS for _, gap, error in found.values())
    text = "; ".join(
        f"{name}: {short(100 * gap, 2)} +- {short(100 * error, 2)} percentage points ({count} pairs)"
        for name, (count, gap, error) in pairs.items()
    )
    undecided = not decided and not far
    return judged(
        "svm-no-worse",
        None if undecided else not far,
        f"Its accuracy less the other's on the same {run.test:,} test rows, mean and standard error: {text}."
        + (" The standard errors are too large to decide: more repeats are needed." if undecided else ""),
        condition=f"differences below 0.25 % count as none: it is a little worse than {' and '.join(worse)}"
        if worse and decided
        else "",
    )
