import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from ggdp.plots.inline_svg import COLOURS, inline_svg
from ggdp_reproduction.experiments.lower_bounds import _by_both_routes
from ggdp_reproduction.figures import experiments, plot_densities
from ggdp_reproduction.figures.experiments import plot_counts


def test_all_figures_of_the_paper_are_there(results):
    assert {one.key for one in results.drawings} >= {
        *("densities", "lower-bounds", "gaussian-bounds", "tail-ratio", "same-tail"),
        *(f"{name}-{kind}" for name in ("mildew", "czech", "adult") for kind in ("counts", "errors")),
        "adult-svm",
    }


def test_pictures_are_whole_named_and_load_nothing(results):
    for one in results.drawings:
        picture = ET.fromstring(one.svg)
        assert picture.get("role") == "img"
        names = {element.get("id"): element for element in picture.iter() if element.get("id")}
        title, words = (names[name] for name in picture.get("aria-labelledby").split())
        assert title.text == one.title
        assert words.text == one.caption
        assert not re.search(r"https?:|<image|<style|<script", one.svg)
        used = re.findall(r'(?:href="#|url\(#)([^")]+)', one.svg)
        assert used
        assert set(used) <= set(names)


def test_no_two_pictures_share_a_name(results):
    names = [name for one in results.drawings for name in re.findall(r'\bid="([^"]+)"', one.svg)]
    assert len(names) == len(set(names))


def test_every_colour_follows_the_theme(results):
    for one in results.drawings:
        found = set(re.findall(r"(?<!\w)(?<!, )#[0-9a-f]{6}\b", one.svg))
        assert found == set(), one.key
        assert set(re.findall(r"var\((--[a-z]+), #[0-9a-f]{6}\)", one.svg)) <= set(COLOURS)


def test_the_same_figure_gives_the_same_bytes():
    assert inline_svg(plot_densities(), "d", "t", "w") == inline_svg(plot_densities(), "d", "t", "w")


def test_hostile_words_stay_words():
    picture = inline_svg(plot_densities(), "d", "<script>", 'a "b" & <c>')
    assert "<script>" not in picture
    assert ET.fromstring(picture)[0].text == "<script>"


def test_outlines_keep_their_scale():
    assert "scale(0.015625)" in inline_svg(plot_densities(), "d", "t", "w")


def test_adult_pictures_say_that_nothing_is_private(results):
    for one in results.drawings:
        said = "not differentially private, for reproduction only" in one.caption.lower()
        assert said == one.key.startswith("adult-")


def test_pictures_with_the_classic_gaussian_say_where_it_is_not_proved(results):
    for one in results.drawings:
        said = "outside its domain at 1 and 2" in one.caption
        assert said == one.key.startswith(("mildew-", "czech-", "adult-")), one.key


@pytest.mark.exhaustive
def test_every_drawn_point_of_a_large_table_is_in_the_file(results, monkeypatch):
    monkeypatch.setattr(experiments, "MANY_CELLS", 40)
    monkeypatch.setattr(experiments, "SHOWN_CELLS", 30)
    run = results.counts["czech"]
    original = np.random.default_rng(0).permutation(np.arange(run.cells))
    first, *_ = experiments.count_drawings(run, original, 0.5)
    assert f"30 of {run.cells} cells are drawn" in first.caption
    rows = [row for row in first.rows if (row["sanitiser"], row["epsilon"], row["delta"]) == ("laplace", 0.5, None)]
    assert len(rows) == 30
    assert max(row["original"] for row in rows) == original.max()
    for row in rows:
        assert row["original"] == original[row["cell"]]
        assert row["sanitised"] == run.examples["laplace", 0.5, None][row["cell"]]


@pytest.mark.parametrize("name", ["mildew", "czech"])
def test_every_cell_is_drawn_at_its_place(results, name):
    from matplotlib.patches import PathPatch

    run = results.counts[name]
    original = np.random.default_rng(0).permutation(np.arange(run.cells))
    figure = plot_counts(run, original)
    (dots,) = [patch for patch in figure.axes[0].patches if isinstance(patch, PathPatch)]
    axes, points = figure.axes[0], dots.get_path().vertices.reshape(-1, 2, 2).mean(axis=1)
    found = axes.transData.inverted().transform(axes.transAxes.transform(points))
    sanitised = run.examples["laplace", 0.5, None]
    assert found[:, 0] == pytest.approx(original, abs=1e-6)
    assert found[:, 1] == pytest.approx(sanitised, abs=1e-6)


def test_numbers_behind_the_figures_are_those_of_the_library(results):
    drawn = {one.key: one for one in results.drawings}
    row = next(
        row
        for row in drawn["tail-ratio"].rows
        if (row["epsilon"], row["delta"]) == (1.0, 0.05) and abs(row["t"] - 3.92) < 0.01
    )
    assert np.exp(row["log_ratio"]) == pytest.approx(0.2708, abs=1e-4)
    assert all(row["lemma_10"] < row["classic_adp"] for row in drawn["gaussian-bounds"].rows)
    assert all(row["tight_adp"] < row["tight_pdp"] < row["lemma_10"] for row in drawn["gaussian-bounds"].rows)


def test_both_routes_to_figure_2_come_to_the_known_scale():
    row = _by_both_routes((40_000, 7), (2, 1.0, 0.05))
    assert row["convolution"] == pytest.approx(3.258265, abs=2e-6)
    # The interval of the estimate has 95 %; five of its half-widths are beyond all chance.
    half = (row["monte_carlo_upper"] - row["monte_carlo_lower"]) / 2
    assert abs(row["monte_carlo"] - row["convolution"]) < 5 * half < 0.2
    assert row["std"] == pytest.approx(row["convolution"] / 2**0.5, rel=1e-12)
