"""The table of the page on the reproduction, run anew."""

import re
from pathlib import Path

import numpy as np
import pytest

from ggdp.datasets import czech, mildew
from ggdp.errors import DatasetError
from ggdp_reproduction.adult_data import adult, adult_counts
from ggdp_reproduction.experiments.counts import run_counts
from ggdp_reproduction.experiments.sanitisers import EPSILONS, sanitiser_of

PAGE = (Path(__file__).parents[2] / "docs" / "explanation" / "reproduction.md").read_text(encoding="utf-8")
KEYS = {
    "Laplace": "laplace",
    "Gaussian pDP": "gaussian-pdp",
    "GGM-3 pDP": "ggm3-pdp",
    "Gaussian aDP, classic": "gaussian-adp-classic",
    "Gaussian pDP, least": "tight-gaussian-pdp",
    "Gaussian aDP, least": "analytic-gaussian",
    "GG-3 aDP, least": "tight-gg3-adp",
    "planner's order, integers, aDP": "integer-best",
    "Laplace on integers, replace-one": "replace-one-laplace",
    "Gaussian aDP, least, replace-one": "replace-one-gaussian",
}
ADJUSTMENTS = {"clip, rescale": "clip-rescale", "project": "project", "clip at 0": "clip-zero"}
L1, KL, ADULT, _ = re.split("Mean KL divergence|The adult data, |The classifier, ", PAGE)
MEASURES = {"l1": (L1, 0.05), "kl": (KL, 0.0005)}


def rows(text, columns):
    """Rows of a table: the texts of its first columns, and its numbers."""
    texts = " ".join([r"([^|]+?) \|"] * columns)
    found = re.findall(rf"^\| {texts}([\d. |]+)\|$", text, re.MULTILINE)
    return [(*names, [float(cell) if cell.strip() else None for cell in rest.split("|")]) for *names, rest in found]


def differs(printed, row, measure, unit):
    """How far a printed number is off, in what rounding and chance allow: another NumPy may draw other numbers."""
    spread = 5 * row[f"{measure}_sd"] * (2 / row["repeats"]) ** 0.5
    return abs(printed - row[f"{measure}_mean"]) / (unit + spread)


def test_every_mechanism_of_the_table_is_known():
    assert {KEYS[name] for name, _, _ in rows(L1, 2)} == set(KEYS.values())
    assert len(rows(KL, 2)) == 6
    assert len(rows(ADULT, 1)) == 4


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(("table", "place"), [(mildew, 0), (czech, 3)])
def test_the_tables_are_what_a_run_gives(table, place, measure):
    text, unit = MEASURES[measure]
    shown = [(KEYS[name], ADJUSTMENTS[how], cells[place : place + 3]) for name, how, cells in rows(text, 2)]
    shown = [each for each in shown if each[2][0] is not None]
    keys = dict.fromkeys(key for key, _, _ in shown)
    run = run_counts(
        table.__name__,
        np.array(table().counts),
        sanitisers=[sanitiser_of(key) for key in keys],
        deltas=[0.05],
        repeats=4000,
        seed=0,
    )
    for key, adjustment, printed in shown:
        for epsilon, number in zip(EPSILONS, printed, strict=True):
            delta = 0.05 if sanitiser_of(key).uses_delta else None
            assert differs(number, run.row(key, epsilon, delta, adjustment), measure, unit) <= 1


def test_laplace_loses_one_goal_on_the_czech_data():
    pair = [sanitiser_of(key) for key in ("laplace", "gaussian-pdp")]
    run = run_counts("czech", np.array(czech().counts), sanitisers=pair, epsilons=[0.5], deltas=[0.25], repeats=20_000)
    laplace, gaussian = run.row("laplace", 0.5, None), run.row("gaussian-pdp", 0.5, 0.25)
    error = (sum(row["kl_sd"] ** 2 for row in (laplace, gaussian)) / 20_000) ** 0.5
    ratio, errors = (float(number) for number in re.findall(r"\[([\d.]+)\]\{#czech-kl-", PAGE))
    # Another NumPy may draw other numbers.
    assert abs(ratio - gaussian["kl_mean"] / laplace["kl_mean"]) < 5 * error / laplace["kl_mean"]
    assert abs(errors - (laplace["kl_mean"] - gaussian["kl_mean"]) / error) < 5
    assert errors > 5


@pytest.mark.exhaustive
def test_the_adult_table_is_what_a_run_gives():
    try:
        split = adult_counts(adult(), seed=0)
    except DatasetError as unreachable:
        pytest.skip(str(unreachable))
    keys = {KEYS[name]: cells for name, cells in rows(ADULT, 1)}
    counts = split.counts_without_income
    assert (counts.size, int(counts.sum())) == (17_962, 20_009)
    run = run_counts("adult", counts, sanitisers=[sanitiser_of(key) for key in keys], deltas=[0.05], seed=0)
    for key, cells in keys.items():
        for place, (measure, unit) in enumerate((("l1", 0.5), ("kl", 0.0005))):
            for epsilon, number in zip(EPSILONS, cells[3 * place : 3 * place + 3], strict=True):
                delta = 0.05 if sanitiser_of(key).uses_delta else None
                assert differs(number, run.row(key, epsilon, delta, "clip-rescale"), measure, unit) <= 1
