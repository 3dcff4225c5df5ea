"""The numbers and the outputs on the pages on means, and the made-up files that they use."""

import csv
import math
import re
import runpy
import shlex
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy.optimize import brentq

import ggdp
from ggdp._rounding import rounded_up_text
from ggdp.cli.app import run
from ggdp.tables.statistics.margins import noise_of, ratio_margins

PAGES = ("tutorials/mean-incomes.md", "how-to/choose-a-range.md", "how-to/units.md", "reference/statistics.md")
ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
TEXT = (ROOT / "docs" / "tutorials" / "mean-incomes.md").read_text("utf-8")
SIZES = (10, 100, 1000, 10_000)
SPREAD = 16_000
INCOME, HOURS = ggdp.Mean("income"), ggdp.Mean("hours")


def planned(epsilon, *statistics, domain="incomes.toml", **options):
    goal = ggdp.PureDP(epsilon)
    return ggdp.plan_table(by="region", goal=goal, domain=EXAMPLES / domain, statistics=statistics, **options)


def halves(epsilon, *statistics, **options):
    return planned(epsilon, *statistics, **options).to_dict()["statistics"]["plus_minus"]


def sampling(people):
    return 1.96 * SPREAD / math.sqrt(people)


def in_tens(value, digits):
    """Round to a number of digits, as the page does above 100."""
    return float(f"{value:.{digits - 1}e}")


def test_every_number_on_the_page_has_a_test(untested):
    assert {mark for mark in untested if not re.fullmatch(r"means-(1|01|sampling)-10+", mark)} == set()


@pytest.mark.parametrize(("name", "epsilon"), [("1", 1.0), ("01", 0.1)])
def test_half_widths_by_the_number_of_people(printed, name, epsilon):
    for people, half in zip(SIZES, halves(epsilon, INCOME)["mean_income"], strict=True):
        if half == 50_000.0:
            assert (people, epsilon) == (10, 0.1)
            assert "| 10 | [25300]{#means-1-10} | unknown |" in TEXT
        else:
            shown = float(printed[f"means-{name}-{people}"])
            assert shown == in_tens(half, 3 if half > 10_000 else 2)


def test_sampling_errors(printed):
    for people in SIZES:
        assert float(printed[f"means-sampling-{people}"]) == in_tens(sampling(people), 2)


def test_noise_is_less_than_sampling_errors_from_so_many_people_on(says):
    noise = noise_of(planned(1.0, INCOME))

    def excess(people):
        (half,) = ratio_margins("mean", (2**20, 3), (0.0, 100_000.0), noise, sizes=(people,))
        return half - sampling(people)

    says("means-equal", brentq(excess, 20, 500))


def test_what_another_range_does(says):
    with (EXAMPLES / "incomes.csv").open(newline="") as rows:
        incomes = [row["income"] for row in csv.DictReader(rows) if row["region"] == "city"]
    numbers = [int(income) for income in incomes if income.isdigit()]
    for mark, most in (("means-city", 100_000), ("means-city-narrow", 50_000)):
        says(mark, sum(min(number, most) for number in numbers) / len(numbers))
    wide = {"region": ["city", "coast"], "income": {"range": [0, 1_000_000]}}
    plan = ggdp.plan_table(by="region", goal=ggdp.PureDP(1.0), domain=wide, statistics=INCOME)
    wider = plan.to_dict()["statistics"]["plus_minus"]["mean_income"]
    assert wider == pytest.approx([10 * half for half in halves(1.0, INCOME)["mean_income"]])


@pytest.fixture
def says_rounded_up(printed):
    """Assert that the page prints a plus-minus as a dry run does."""

    def check(mark, half):
        assert float(printed[mark]) == float(rounded_up_text(half).replace(",", "")), mark

    return check


def test_what_further_statistics_and_columns_cost(says_rounded_up):
    says_rounded_up("means-alone", halves(1.0, INCOME)["mean_income"][2])
    says_rounded_up("means-with-variance", halves(1.0, INCOME, ggdp.Variance("income"))["mean_income"][2])
    equal, weighted = halves(1.0, INCOME, HOURS), halves(1.0, INCOME, HOURS, weights={"income": 3})
    says_rounded_up("means-equal-income", equal["mean_income"][2])
    says_rounded_up("means-equal-hours", equal["mean_hours"][2])
    says_rounded_up("means-weighted-income", weighted["mean_income"][2])
    says_rounded_up("means-weighted-hours", weighted["mean_hours"][2])


def test_what_two_rules_for_the_rows_of_a_unit_cost(says):
    wanted, options = (ggdp.Mean("pay"), ggdp.Sum("pay")), {"domain": "jobs.toml", "unit": "person", "max_cells": 2}
    says("means-one-rule", planned(1.0, *wanted, per_unit="sum", **options).half_width)
    says("means-two-rules", planned(1.0, *wanted, **options).half_width)


def test_ranks_of_a_median(says_rounded_up):
    quartiles = ggdp.Quantile("income", [0.25, 0.5, 0.75])
    says_rounded_up("means-ranks", halves(1.0, quartiles)["quantile_income_0.5"][2])


def test_ranks_of_medians_of_incomes(printed):
    cells, people = 400, 1000
    drawn = np.random.default_rng(5).lognormal(math.log(28_000), 0.45, (cells, people))
    incomes = np.clip(np.rint(drawn), 0, 100_000).astype(int)
    rows = pa.table({"cell": np.repeat(np.arange(cells), people), "income": incomes.reshape(-1)})
    domain = {"cell": list(range(cells)), "income": {"range": [0, 100_000]}}
    quartiles = ggdp.Quantile("income", [0.25, 0.5, 0.75])
    source = ggdp.SeededSource(seed=1)
    release = ggdp.release_table(rows, "cell", ggdp.PureDP(1.0), domain, statistics=quartiles, rng=source)
    medians = np.array(release.to_arrow()["quantile_income_0.5"].to_pylist())
    errors = np.abs((incomes <= medians[:, None]).sum(axis=1) - people / 2)
    # From few cells, so it is within a few ranks of what the page says.
    assert float(np.quantile(errors, 0.95)) == pytest.approx(float(printed["means-ranks-measured"]), abs=3)


def shown_after(command):
    """Return the output that the page shows next after a command, without its spaces."""
    after = TEXT[TEXT.index(command) :]
    return re.search(r"^```text\n(.*?)^```$", after, re.MULTILINE | re.DOTALL)[1].split()


@pytest.mark.parametrize("command", ["ggdp check docs/examples/incomes.csv", "ggdp release docs/examples/incomes.csv"])
def test_what_a_command_prints_is_on_the_page(command, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    block = TEXT[TEXT.index(command) :]
    words = shlex.split(block[: block.index("```")].replace("\\\n", " "))
    assert run(words[1:]) == 0
    assert " ".join(shown_after(command)) in " ".join(capsys.readouterr().out.split())


def test_the_files_are_those_that_the_script_makes():
    made = runpy.run_path(str(EXAMPLES / "make_incomes.py"))
    for name in ("incomes", "jobs"):
        assert (EXAMPLES / f"{name}.csv").read_text("utf-8") == made[name]()
    assert shown_after("Nobody in it exists") == made["incomes"]().splitlines()[:3]
    assert f"{len(made['incomes']().splitlines()) - 1:,} people" in TEXT
