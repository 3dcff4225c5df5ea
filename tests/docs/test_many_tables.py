"""Every number of the pages on many tables of the same people, by the program and by its definition."""

import csv

import numpy as np
import pytest

import ggdp
from ggdp.noise.minkowski_noise import spreads
from ggdp.tables.statistics.weighted_noise import Block
from ggdp.tables.table_noise import common_total_mechanism

PAGES = ("how-to/many-tables.md", "explanation/theory/minkowski.md")
WORKERS = "docs/examples/workers"


def test_every_number_on_the_pages_has_a_test(untested):
    assert untested == set()


def test_the_six_questions_of_the_workers(says):
    with open(f"{WORKERS}.csv", encoding="utf-8") as file:
        questions = csv.DictReader(file).fieldnames
    plan = ggdp.plan_table([[name] for name in questions], goal=1.0, domain=f"{WORKERS}.toml", unit="row")
    (_, together), (_, independent) = plan.compared
    says("many-hidden", together)
    says("many-laplace", independent)
    says("many-complete", spreads((1,) * 6, "added", 1.0)[0])


def test_ten_tables_with_two_cells(says):
    query = ggdp.Sensitivity.cells(10, 1)
    says("many-ten-hidden", spreads((2,) * 10, "added", 1.0)[0])
    says("many-ten-complete", spreads((1,) * 10, "added", 1.0)[0])
    says("many-ten-laplace", ggdp.calibrate(ggdp.PureDP(1.0), query, order=1, support="integer").std)
    says("many-ten-best", ggdp.plan(ggdp.ApproxDP(1.0, 1e-6), query, support="integer").best.error)


@pytest.mark.parametrize(
    ("tables", "cells", "marks"),
    [
        (2, 2, ("minkowski-2-2-hidden", "minkowski-2-2", "minkowski-2-2-laplace")),
        (3, 3, ("minkowski-3-3-hidden", "minkowski-3-3", "minkowski-3-3-laplace")),
        (5, 5, ("minkowski-5-5-hidden", "minkowski-5-5", "minkowski-5-5-laplace")),
        (10, 2, ("minkowski-10-2-hidden", "minkowski-10-2", "minkowski-10-2-laplace")),
    ],
)
def test_the_table_of_standard_deviations(says, tables, cells, marks):
    sizes = [cells] * tables
    hidden, complete, independent = marks
    says(hidden, ggdp.MinkowskiMechanism(1.0, ggdp.Sensitivity.groups(sizes)).std)
    says(complete, ggdp.MinkowskiMechanism(1.0, ggdp.Sensitivity.groups(sizes, complete=[True] * tables)).std)
    query = ggdp.Sensitivity.groups(sizes)
    says(independent, ggdp.calibrate(ggdp.PureDP(1.0), query, order=1, support="integer").std)


def test_a_hundred_complete_tables_with_two_cells(says):
    goal = ggdp.ApproxDP(1.0, 1e-6)
    says("many-hundred", common_total_mechanism(goal, pairs(100)).std)
    says("many-hundred-best", ggdp.plan(goal, ggdp.Sensitivity.cells(100, 1), support="integer").best.error)


@pytest.mark.parametrize("tables", [31, 32])
def test_where_noise_with_a_common_total_begins(says, tables):
    says("many-change", 32)
    domain = {f"q{k}": {"levels": ["no", "yes"], "complete": True} for k in range(tables)}
    plan = ggdp.plan_table([[name] for name in domain], goal=ggdp.ApproxDP(1.0, 1e-6), domain=domain, unit="row")
    assert plan.compared[0][0].startswith("common-total") == (tables == 32)


def test_means_of_thirty_columns_have_less_error_by_blocks(says):
    # Half the noise of a difference, of a box without the total; and half the difference of the two sums of a block.
    box = ggdp.plan(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.cells(30, 1), support="integer").best.error / 2
    (blocks,) = Block(1, (1,) * 29).deviations(np.array([[-0.5, 0.5]]))
    says("minkowski-means-box", box)
    says("minkowski-means-blocks", float(blocks))
    assert blocks < box


def pairs(tables):
    return ggdp.Sensitivity.groups([2] * tables, complete=[True] * tables)
