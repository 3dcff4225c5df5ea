"""Claims of Section 4 about the adult data and the classifier."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ggdp.experiments.claims.statements import said
from ggdp.experiments.claims.wording import if_true, short, span
from ggdp.experiments.results import Claim

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ggdp.experiments.results import Results
    from ggdp.experiments.svm import SvmRun

__all__ = ["non_empty_cells", "of_adult"]

PRINTED_TRAIN, PRINTED_TEST, PRINTED_CELLS, PRINTED_BINS = 20_009, 10_005, 17_985, 1.944e13
LARGEST_LOSS, SMALLEST_LOSS = 0.01, 0.0025
ERRORS = 3.0


def non_empty_cells() -> Claim:
    """Only the non-empty cells are sanitised."""
    table, neighbour = {"many": 3, "one": 1}, {"many": 3, "one": 0}
    # The probability that the output has the cell of the one who is alone in it, whatever the noise.
    with_her, without_her = (float("one" in {cell for cell, n in t.items() if n}) for t in (table, neighbour))
    return Claim(
        key="non-empty-cells",
        place="Section 4",
        claim="In the adult data only the non-empty cells were sanitised, for simplicity.",
        verdict=if_true(with_her == without_her),
        measured=f"A person who is alone in a cell makes it appear: probability {with_her:g} with her and "
        f"{without_her:g} without, so delta = {with_her - without_her:g}. Not differentially private, for "
        "reproduction only.",
        figure="adult-counts",
    )


def of_adult(results: Results) -> Iterable[Claim]:
    """Yield the claims about the adult data, as far as they were run."""
    if results.adult:
        yield _rows(results.adult)
        yield _cells(results.adult)
        yield _bins(results.adult)
    if results.svm is not None:
        yield _barely(results.svm)
        yield _no_worse(results.svm)


def _rows(facts: dict[str, float]) -> Claim:
    train, test, complete, left_out = (int(facts[name]) for name in ("train", "test", "complete", "left_out"))
    same = (train, test) == (PRINTED_TRAIN, PRINTED_TEST)
    return Claim(
        **said("adult-rows"),
        verdict="holds only if" if same and left_out else if_true(same),
        condition=f"the {left_out} with a capital gain of 99,999 are left out, which the paper does not say"
        if same and left_out
        else "",
        measured=f"{complete:,} rows are complete; less {left_out} of them {train:,} + {test:,} = {train + test:,} "
        "are left.",
    )


def _cells(facts: dict[str, float]) -> Claim:
    cells, wide = int(facts["cells"]), int(facts["cells_with_income"])
    apart = abs(cells / PRINTED_CELLS - 1.0)
    return Claim(
        **said("adult-cells"),
        verdict="holds only if" if apart < 0.005 else "does not hold",
        condition="the cells have exact values, without the weight fnlwgt and without the income, which the "
        "classifier needs"
        if apart < 0.005
        else "",
        measured=f"This split has {cells:,} without the income ({100 * apart:.2g} % apart; it depends on the split) "
        f"and {wide:,} with it.",
    )


def _bins(facts: dict[str, float]) -> Claim:
    bins = facts["bins"]
    return Claim(
        **said("adult-bins"),
        verdict=if_true(abs(bins / PRINTED_BINS - 1.0) < 0.01),
        measured=f"The values that occur among the rows used span {bins:.3g} cells without fnlwgt and income. "
        f"1.944e13 is 27,000,960 x 720,000 = {27_000_960 * 720_000:.4g}; how it was binned cannot be recovered.",
    )


def _losses(run: SvmRun, key: str | None = None) -> list[dict[str, Any]]:
    return [row for row in run.summary() if row["group"] == "paper" and key in (None, row["sanitiser"])]


def _barely(run: SvmRun) -> Claim:
    rows = _losses(run)
    losses = [row["loss_mean"] for row in rows]
    inside = sum(SMALLEST_LOSS <= loss <= LARGEST_LOSS for loss in losses)
    worst = max(rows, key=lambda row: row["loss_mean"])
    small = max(losses) <= LARGEST_LOSS
    few = [row for row in rows if row["loss_mean"] > LARGEST_LOSS]
    partly = not small and len(few) < len(rows)
    where = f"epsilon = {worst['epsilon']:g}" + ("" if worst["delta"] is None else f", delta = {worst['delta']:g}")
    return Claim(
        **said("svm-barely"),
        verdict="holds" if small else ("holds only if" if partly else "does not hold"),
        condition=f"in {len(rows) - len(few)} of {len(rows)} settings; the loss is above 1 % in the others"
        if partly
        else "",
        measured=f"Original {100 * run.original_accuracy:.2f} % on {run.test:,} test rows ({run.train:,} training "
        f"rows). The cells alone, with equal weights and no count seen, give {100 * run.support_accuracy:.2f} %. "
        f"Losses over the paper's {len(rows)} settings: {span([100 * loss for loss in losses])} percentage points, "
        f"{inside} of them from 0.25 to 1; the largest for {worst['sanitiser']} at {where}.",
    )


def _no_worse(run: SvmRun) -> Claim:
    pairs = []
    other = {(row["epsilon"], row["delta"]): row for row in _losses(run, "gaussian-pdp")}
    for row in _losses(run, "gaussian-adp-classic"):
        two = other[row["epsilon"], row["delta"]]
        spread = math.sqrt(((row["accuracy_sd"] or 0.0) ** 2 + (two["accuracy_sd"] or 0.0) ** 2) / row["repeats"])
        # Neither mean is better known than the test rows allow.
        error = math.hypot(spread, math.sqrt(0.25 / run.test) / math.sqrt(row["repeats"]))
        pairs.append((row["accuracy_mean"] - two["accuracy_mean"], error))
    worse = sum(gap < -ERRORS * error for gap, error in pairs)
    gaps = [100.0 * gap for gap, _ in pairs]
    return Claim(
        **said("svm-no-worse"),
        verdict=if_true(worse == 0),
        measured=f"Its accuracy less that of the Gaussian pDP mechanism: {span(gaps, 2)} percentage points over "
        f"{len(pairs)} goals, {short(sum(gaps) / len(gaps), 2)} on average; worse beyond chance at {worse}.",
    )
