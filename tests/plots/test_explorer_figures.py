"""Figures of the page: original against noisy, cells per unit, and what further releases would leave."""

import numpy as np
import pyarrow as pa
import pytest

import ggdp
from ggdp.plots.budget_figures import MOST_FURTHER, plot_burn_down
from ggdp.plots.previews import plot_cells_per_unit, plot_original_and_noisy


def numbers(cells, most=1000.0):
    original = np.linspace(0.0, most, cells)
    return original, original + 3.0, original - 7.0, original + 13.0


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_few_cells_have_a_row_each_with_both_numbers_and_the_interval():
    names = [f"ward {number}" for number in range(9)]
    original, noisy, lower, upper = numbers(9)
    figure = plot_original_and_noisy(names, original, noisy, lower, upper, origin="simulated")
    figure.canvas.draw()
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.get_yticklabels()] == names
    drawn = {line.get_label(): list(line.get_xdata()) for line in axes.lines}
    assert drawn["noisy"] == noisy.tolist()
    assert drawn["simulated"] == original.tolist()
    ends = [segment[:, 0].tolist() for segment in axes.collections[0].get_segments()]
    assert ends == [[low, high] for low, high in zip(lower, upper, strict=True)]
    assert legend(figure) == ["95% interval", "noisy", "simulated"]


@pytest.mark.parametrize(("most", "scale"), [(100.0, "linear"), (100_000.0, "symlog")])
def test_many_cells_are_points_against_the_original(most, scale):
    original, noisy, lower, upper = numbers(200, most)
    figure = plot_original_and_noisy([""] * 200, original, noisy, lower, upper)
    figure.canvas.draw()
    (axes,) = figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == (scale, scale)
    intervals, points = axes.lines[:2]
    assert points.get_xdata().tolist() == original.tolist()
    # Each interval is at its original, with a gap behind it.
    ends = np.column_stack([lower, upper, np.full(200, np.nan)]).ravel()
    assert np.array_equal(intervals.get_ydata(), ends, equal_nan=True)
    assert intervals.get_xdata().tolist() == np.repeat(original, 3).tolist()
    assert points.get_ydata().tolist() == noisy.tolist()
    (low, high), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    assert low <= original.min() <= original.max() <= high
    assert bottom <= lower.min() <= noisy.max() <= top


def test_of_very_many_cells_some_of_all_sizes_are_drawn():
    original, noisy, lower, upper = numbers(9_000, 100_000.0)
    figure = plot_original_and_noisy([""] * 9_000, original, noisy, lower, upper)
    points = figure.axes[0].lines[1]
    assert len(points.get_xdata()) == 2_000
    assert (points.get_xdata()[0], points.get_xdata()[-1]) == (0.0, 100_000.0)
    assert np.allclose(points.get_ydata() - points.get_xdata(), 3.0)
    assert figure.axes[0].get_xlabel() == "original count of 2,000 of 9,000 cells"


@pytest.mark.parametrize("name", ["$\\frac$", "Genève"])
def test_names_are_drawn_as_they_are_in_every_script_and_never_as_formulas(name):
    one = np.array([1.0])
    axes = plot_original_and_noisy([name], one, one, one, one).axes[0]
    (text,) = axes.get_yticklabels()
    assert text.get_text() == name
    assert not text.get_parse_math()
    assert len(text.get_fontfamily()) > 1
    plain = plot_original_and_noisy(["ward"], one, one, one, one).axes[0].get_yticklabels()[0]
    assert len(plain.get_fontfamily()) == 1


def test_values_that_are_not_there_are_left_out():
    nan = np.array([np.nan, 2.0])
    figure = plot_original_and_noisy(["a", "b"], nan, nan, nan, nan, what="mean income")
    figure.canvas.draw()
    assert figure.axes[0].get_xlabel() == "mean income"


def test_cells_per_unit_shows_noise_cut_and_their_sum_and_says_that_it_is_not_private():
    visits = pa.table({"person": [1, 1, 1, 2, 2, 3], "ward": ["a", "b", "c", "a", "b", "c"]})
    found = ggdp.check_table(visits, "ward", {"ward": ["a", "b", "c"]}, unit="person").units.tables[0]
    costs = {choice["max_cells"]: (choice["plus_minus"], choice["cut"]) for choice in found["choices"]}
    figure = plot_cells_per_unit(costs, found["recommended"], setting="max_cells", unit="persons")
    assert figure.get_suptitle() == "NOT PRIVATE: for the steward alone"
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("cells per unit (max_cells)", "persons in a cell")
    drawn = {line.get_label(): list(line.get_ydata()) for line in axes.lines}
    noise, cut = ([choice[name] for choice in found["choices"]] for name in ("plus_minus", "cut"))
    assert drawn["noise: plus-minus at 95%"] == noise
    assert drawn["cut off, on average"] == cut
    assert drawn["together"] == [a + b for a, b in zip(noise, cut, strict=True)]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "2", "3"]
    best = min(drawn["together"])
    assert drawn[f"least of both together: {found['recommended']}"] == [best]


def test_what_further_releases_leave_continues_the_burn_down(tmp_path):
    ledger = ggdp.Ledger.create(tmp_path / "people.ledger", ggdp.PureDP(10.0))
    ledger.charge(ggdp.PureDP(1.0, "add-remove"))
    what_if = ledger.what_if(ggdp.PureDP(0.5, "add-remove"))
    assert what_if.fitting == 18
    axes = plot_burn_down(ledger, what_if=what_if).axes[0]
    assert f"Budget ({ledger.unit}): epsilon = 10" in axes.get_title(loc="left") + axes.get_title()
    dashed = next(line for line in axes.lines if not line.get_label().startswith("_") or line.get_linestyle() == "--")
    assert list(dashed.get_ydata()) == [9.0, *what_if.left[:MOST_FURTHER]]
    assert list(dashed.get_xdata()) == list(range(1, MOST_FURTHER + 2))


def test_a_release_that_does_not_fit_adds_no_line(tmp_path):
    ledger = ggdp.Ledger.create(tmp_path / "people.ledger", ggdp.PureDP(1.0))
    refused = ledger.what_if(ggdp.PureDP(2.0, "add-remove"))
    plain, with_refused = plot_burn_down(ledger), plot_burn_down(ledger, what_if=refused)
    assert len(with_refused.axes[0].lines) == len(plain.axes[0].lines)
