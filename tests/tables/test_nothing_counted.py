"""A release whose numbers are consistent with "nothing was counted" says so, from what is released alone."""

import numpy as np
import pyarrow as pa
import pytest

import ggdp
from ggdp.cli.app import run
from ggdp.tables.nothing_counted import far

GOAL = ggdp.PureDP(1.0)
DOMAIN = {"ward": ["a", "b", "c"], "cost": {"range": [0, 10]}}
EMPTY = pa.table({"ward": ["A", "B", "C"] * 500, "cost": pa.nulls(1500, pa.float64())})
WITHOUT_NUMBERS = pa.table({"ward": ["a", "b", "c"] * 500, "cost": pa.nulls(1500, pa.float64())})
FULL = pa.table({"ward": ["a", "b", "c"] * 500, "cost": [5.0] * 1500})
KINDS = [ggdp.Mean("cost")], [ggdp.Variance("cost")], [ggdp.Sum("cost")], [ggdp.Quantile("cost", [0.5])]


def notes(data, **asked):
    # Any release may be called empty by chance, with a probability of about 1e-3; quantiles of few rows more often.
    rng = ggdp.SeededSource(seed=11)
    return ggdp.release_table(data, "ward", asked.pop("goal", GOAL), DOMAIN, unit="row", rng=rng, **asked).notes


@pytest.mark.parametrize("asked", [{}, {"order": 2, "goal": ggdp.ApproxDP(1.0, 1e-6)}, {"false_cells": 0.5}])
def test_levels_that_no_row_has_are_noticed_after_the_release(asked):
    (note,) = notes(EMPTY, **asked)
    for words in ("consistent with an empty table", "decimal mark", "encoding", "levels", "filter", "ggdp check"):
        assert words in note
    assert notes(FULL, **asked) == ()


@pytest.mark.parametrize("statistics", KINDS, ids=lambda kinds: kinds[0].kind)
def test_a_column_without_numbers_is_noticed_after_the_release(statistics):
    (note,) = notes(WITHOUT_NUMBERS, statistics=statistics)
    assert " is consistent with a column 'cost' without any number" in note
    assert notes(FULL, statistics=statistics) == ()
    (note,) = notes(EMPTY, statistics=statistics)
    assert "an empty table" in note


def test_an_open_table_is_empty_only_without_a_key():
    asked = {"by": "ward", "goal": ggdp.ApproxDP(1.0, 1e-6), "unit": "row"}
    assert ggdp.release_table(EMPTY, **asked).notes == ()
    (note,) = ggdp.release_table(EMPTY.slice(0, 0), **asked).notes
    assert "an empty table" in note


def test_many_cells_with_few_people_each_are_no_empty_table():
    levels = {"ward": list(range(4000))}
    data = pa.table({"ward": list(range(4000)) * 2})
    assert ggdp.release_table(data, "ward", GOAL, levels, unit="row").notes == ()


@pytest.mark.parametrize(("order", "scale", "cells"), [(1.0, 1.0, 1), (2.0, 7.0, 5), (1.0, 300.0, 40), (4.0, 900.0, 9)])
def test_the_distance_is_that_of_the_noise(order, scale, cells):
    noise = ggdp.IntegerNoise(order=order, scale=scale)
    reach = far(order, scale, np.ones(1), cells, 0.01)
    drawn = np.abs(noise.sample((20_000, cells), rng=ggdp.SeededSource(seed=1)).sum(axis=1))
    assert np.mean(drawn > reach) <= 0.01
    # Chernoff's bound is not far from the truth.
    assert reach <= 2.2 * np.quantile(drawn, 0.99)


def test_the_command_line_and_a_prompt_show_the_note(tmp_path, capsys):
    source, out = tmp_path / "people.csv", tmp_path / "out.csv"
    source.write_text("ward\n" + "A\n" * 500)
    typed = ["release", str(source), "--by", "ward", "--levels", "ward=a,b", "--epsilon", "1", "--unit-is-row"]
    assert run([*typed, "--out", str(out)]) == 0
    assert "warning: table ward: the published counts are consistent with an empty table" in capsys.readouterr().err
    assert "\n  note: table ward" in repr(ggdp.release_table(EMPTY, "ward", GOAL, DOMAIN, unit="row"))


def test_a_manifest_says_nothing_of_notes():
    empty = ggdp.release_table(EMPTY, "ward", GOAL, DOMAIN, unit="row")
    assert empty.manifest == ggdp.release_table(FULL, "ward", GOAL, DOMAIN, unit="row").manifest
