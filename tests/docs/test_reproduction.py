"""The table of the page on the reproduction, run anew."""

import re
from pathlib import Path

import numpy as np
import pytest

from ggdp.datasets import czech, mildew
from ggdp.experiments.counts import run_counts
from ggdp.experiments.settings import EPSILONS, sanitiser_of

PAGE = (Path(__file__).parents[2] / "docs" / "reproduction.md").read_text(encoding="utf-8")
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
ROWS = [
    (KEYS[name], ADJUSTMENTS[adjustment], [float(cell) if cell.strip() else None for cell in rest.split("|")])
    for name, adjustment, rest in re.findall(r"^\| ([^|]+?) \| ([^|]+?) \|([\d. |]+)\|$", PAGE, re.MULTILINE)
]


@pytest.mark.parametrize(("table", "place"), [(mildew, 0), (czech, 3)])
def test_the_table_is_what_a_run_gives(table, place):
    assert {key for key, _, _ in ROWS} == set(KEYS.values())
    shown = [(key, adjustment, cells[place : place + 3]) for key, adjustment, cells in ROWS if cells[place] is not None]
    keys = dict.fromkeys(key for key, _, _ in shown)
    run = run_counts(
        table.__name__, np.array(table().counts), sanitisers=[sanitiser_of(key) for key in keys], deltas=[0.05], seed=0
    )
    for key, adjustment, printed in shown:
        for epsilon, number in zip(EPSILONS, printed, strict=True):
            delta = 0.05 if sanitiser_of(key).uses_delta else None
            row = run.row(key, epsilon, delta, adjustment)
            # The same seed gives the same mean; other versions of NumPy may draw other numbers, as good as these.
            assert number == pytest.approx(row["l1_mean"], abs=0.05 + 5 * row["l1_sd"] * (2 / row["repeats"]) ** 0.5)
