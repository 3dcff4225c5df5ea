import re
import sys
from dataclasses import replace
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pyarrow as pa
import pytest
from matplotlib.colors import Normalize
from matplotlib.font_manager import fontManager
from matplotlib.text import Text

import ggdp
from ggdp.errors import ArgumentError, MissingExtraError
from ggdp.plots import plot_table

PURE = ggdp.PureDP(1.0)


def release(domain, rows=None, by=None, goal=PURE, **options):
    """A release of a table; without rows every count is noise."""
    empty = {name: pa.array([], pa.string()) for name in domain}
    return ggdp.release_table(pa.table(rows or empty), by or list(domain), goal, domain, **options)


def drawn(release, **options):
    """The first panel of a figure, after it was drawn."""
    figure = plot_table(release, **options)
    figure.canvas.draw()
    return figure.axes[0]


def title(axes):
    return axes.figure.get_suptitle()


def names_down(axes):
    return [text.get_text() for text in axes.get_yticklabels()]


def names_across(axes):
    return [text.get_text() for text in axes.get_xticklabels()]


def test_one_column_is_bars_with_the_levels_as_names_and_intervals():
    found = release({"age": {"edges": [0, 18, 65], "missing": "not said"}})
    axes = drawn(found)
    assert names_down(axes) == ["[0, 18)", "[18, 65]", "not said"]
    assert [bar.get_width() for bar in axes.patches] == found.tables[0].count.tolist()
    segments = axes.collections[0].get_segments()
    assert [segment[:, 0].tolist() for segment in segments] == [
        [low, high] for low, high in zip(found.tables[0].lower, found.tables[0].upper, strict=True)
    ]
    assert axes.get_xlabel() == "noisy count of rows, with its 95% interval"
    assert axes.get_ylabel() == "age"
    assert title(axes) == "Noisy count of rows by age\n1-DP under add-remove neighbours"


def test_few_cells_of_several_columns_stand_together_under_the_first_ones():
    found = release({"smokes": ["no", "yes"], "pressure": ["low", "high"], "history": ["neg", "pos"]})
    axes = drawn(found)
    heads = [text.get_text() for text in axes.texts]
    assert heads == [
        f"smokes: {smokes}, pressure: {pressure}" for smokes in ("no", "yes") for pressure in ("low", "high")
    ]
    assert names_down(axes) == ["neg", "pos"] * 4
    bars = [bar.get_y() + bar.get_height() / 2 for bar in axes.patches]
    assert title(axes) == "Noisy count of rows by smokes, pressure and history\n1-DP under add-remove neighbours"
    assert bars == pytest.approx([1, 2, 4, 5, 7, 8, 10, 11])
    assert [round(text.get_position()[1]) for text in axes.texts] == [0, 3, 6, 9]
    assert axes.get_ylabel() == "history"


def test_cells_that_share_nothing_have_their_whole_names():
    rows = {"a": ["x"] * 100 + ["y"] * 100, "b": ["u"] * 100 + ["v"] * 100}
    found = release({}, rows, ["a", "b"], ggdp.ApproxDP(1.0, 1e-6))
    axes = drawn(found)
    assert names_down(axes) == ["x, u", "y, v"]
    assert axes.get_ylabel() == "a, b"


def test_more_cells_of_two_columns_are_a_heat_map_with_the_counts_in_it():
    levels = {"sex": ["f", "m"], "region": [f"r{k}" for k in range(21)]}
    found = release(levels, rng=ggdp.SeededSource(seed=1))
    axes = drawn(found)
    counts = found.tables[0].count.reshape(2, 21)
    # The column with more levels goes down.
    assert names_down(axes) == [f"r{k}" for k in range(21)]
    assert names_across(axes) == ["f", "m"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("sex", "region")
    written = {tuple(text.get_position()): text.get_text() for text in axes.texts}
    assert written == {(sex, r): f"{counts[sex, r]:,}".replace("-", "−") for sex in range(2) for r in range(21)}
    assert np.array_equal(axes.images[0].get_array(), counts.T)
    assert axes.figure.get_supxlabel() == "95% interval: plus-minus 3 around each noisy count"
    assert axes.figure.axes[1].get_ylabel() == "noisy count of rows"


def test_cells_that_a_sparse_table_leaves_out_are_not_counts():
    levels = {"a": [f"a{k}" for k in range(50)], "b": [f"b{k}" for k in range(40)]}
    rows = {
        "a": [f"a{k}" for k in range(45) for _ in range(90)],
        "b": [f"b{k % 3}" for k in range(45) for _ in range(90)],
    }
    found = release(levels, rows, false_cells=1e-9)
    axes = drawn(found)
    assert names_down(axes) == [f"a{k}" for k in range(45)]
    assert names_across(axes) == ["b0", "b1", "b2"]
    shown = np.ma.getmaskarray(axes.images[0].get_array())
    assert (~shown).sum() == len(found.tables[0]) == len(axes.texts) == 45


def test_intervals_of_several_widths_are_said_to_reach_so_far():
    levels = {"a": [f"a{k}" for k in range(50)], "b": [f"b{k}" for k in range(40)]}
    # Far above the threshold of 29, and around it: one of the twenty shows near it, or something is wrong.
    cells = [(f"a{k}", "b0") for k in range(45) for _ in range(200)] + [
        (f"a{k}", "b1") for k in range(20) for _ in range(29)
    ]
    rows = {"a": [a for a, _ in cells], "b": [b for _, b in cells]}
    found = release(levels, rows, false_cells=1e-9)
    table = found.tables[0]
    most = max((table.noisy_count - table.lower).max(), (table.upper - table.noisy_count).max())
    assert (table.upper - table.lower).min() < (table.upper - table.lower).max()
    caption = drawn(found).figure.get_supxlabel().replace("\n", " ")
    assert caption == f"95% intervals reach up to {most:,} from the noisy count; grey: not in the table"


def test_a_hundred_and_one_levels_of_text_are_bars_sorted_by_count_with_names_and_counts():
    levels = [f"{k:05}" for k in range(101)]
    found = release({"zip": levels}, {"zip": [level for k, level in enumerate(levels) for _ in range(7 * k % 101)]})
    panels = plot_table(found).axes
    counts = dict(zip(levels, found.tables[0].count.tolist(), strict=True))
    names = [name for axes in panels for name in names_down(axes)]
    assert sorted(names) == levels
    widths = [bar.get_width() for axes in panels for bar in axes.patches]
    assert widths == [counts[name] for name in names] == sorted(widths, reverse=True)
    numbers = [name for axes in panels for name in names_down(axes.child_axes[0])]
    assert numbers == [f"{counts[name]:,}".replace("-", "−") for name in names]
    assert panels[0].get_ylabel() == "zip, sorted by count"
    assert panels[0].figure.get_supxlabel() == "noisy count of rows, with its 95% interval"
    # All panels have one scale, and bars of one height.
    assert len({axes.get_xlim() for axes in panels}) == len({axes.get_ylim() for axes in panels}) == 1


@pytest.mark.parametrize("declared", [list(range(101)), {"edges": list(range(102))}], ids=["integers", "bins"])
def test_levels_that_have_an_order_keep_it(declared):
    found = release({"age": declared})
    panels = plot_table(found).axes
    assert [bar.get_width() for axes in panels for bar in axes.patches] == found.tables[0].count.tolist()
    assert panels[0].get_ylabel() == "age"


def test_many_cells_of_one_column_are_points_with_some_levels_named():
    found = release({"year": list(range(300))})
    axes = drawn(found)
    assert axes.lines[0].get_ydata().tolist() == found.tables[0].count.tolist()
    assert axes.get_xlabel() == "year; each with its 95% interval"
    assert len(names_across(axes)) >= 3
    assert names_across(axes) == [str(place) for place in axes.get_xticks()]


def test_many_levels_of_text_are_points_sorted_by_count():
    found = release({"zip": [f"{k:05}" for k in range(300)]})
    axes = drawn(found)
    counts = dict(zip([f"{k:05}" for k in range(300)], found.tables[0].count.tolist(), strict=True))
    assert axes.lines[0].get_ydata().tolist() == sorted(counts.values(), reverse=True)
    assert axes.get_xlabel() == "zip, sorted by count; each with its 95% interval"
    shown = dict(zip(axes.get_xticks().tolist(), names_across(axes), strict=True))
    assert len(shown) >= 3
    assert all(counts[name] == axes.lines[0].get_ydata()[place] for place, name in shown.items())


def test_a_group_that_does_not_fit_its_panel_is_continued_under_its_heading():
    found = release({"a": ["x", "y"], "b": ["u"], "c": list(range(60))})
    panels = plot_table(found).axes
    assert [[text.get_text() for text in axes.texts] for axes in panels] == [
        ["a: x, b: u"],
        ["a: x, b: u", "a: y, b: u"],
        ["a: y, b: u"],
    ]
    assert [bar.get_width() for axes in panels for bar in axes.patches] == found.tables[0].count.tolist()


def test_the_colour_scale_is_linear_from_zero_and_says_where_it_ends():
    rows = {"a": ["a"] * 20_000 + ["b"] * 50, "b": ["b"] * 20_050}
    for found in (
        release({"a": list("abcdefghi"), "b": list("abcdefghi")}, rows),
        release({"a": list("abcdefghi")} | {"b": list("abcdefghi")}),
    ):
        axes = drawn(found)
        norm = axes.images[0].norm
        assert type(norm) is Normalize
        assert norm.vmin == 0.0
        assert norm(norm.vmax / 4.0) == pytest.approx(0.25)
        caption = axes.figure.get_supxlabel().replace("\n", " ")
        largest = found.tables[0].count.max()
        beyond = f"; darkest: {norm.vmax:,.0f} and more (up to {largest:,})"
        assert (beyond in caption) == (norm.vmax < largest)
        # Arrows at the ends of the bar of colours: counts below zero, and beyond the darkest colour.
        assert axes.images[0].colorbar.extend == ("both" if norm.vmax < largest else "min")


@pytest.mark.parametrize("size", [(2,), (300,), (9, 9), (9, 9, 9)])
def test_what_the_intervals_cover_is_said(size):
    found = release({name: list(range(levels)) for name, levels in zip("abc", size, strict=False)})
    covering = replace(found.tables[0], covers="units counted, at most 2 cells each")
    figure = plot_table(replace(found, tables=(covering,)))
    said = f"{figure.axes[0].get_xlabel()} {figure.get_supxlabel()}".replace("\n", " ")
    assert "the interval covers units counted, at most 2 cells each" in said


def test_large_counts_are_in_the_unit_that_the_axis_names():
    found = release({"k": list("abc")}, {"k": ["a"]})
    (table,) = found.tables
    large = {name: 10**8 * getattr(table, name) for name in ("count", "noisy_count", "lower", "upper")}
    axes = drawn(replace(found, tables=(replace(table, **large),)))
    assert axes.get_xlabel().replace("\n", " ") == "noisy count of rows in millions, with its 95% interval"
    for place, name in zip(axes.get_xticks(), names_across(axes), strict=True):
        assert float(name.replace("−", "-").replace(",", "")) == pytest.approx(place / 1e6)


@pytest.mark.parametrize(("rows", "columns"), [(61, 2), (100, 80), (80, 100), (400, 31)])
def test_a_larger_table_of_two_columns_is_a_heat_map_of_colours_alone(rows, columns):
    # Always the same noise: in one table in fifty a cell is far beyond all others, and the caption says so.
    levels = {"a": [f"a{k}" for k in range(rows)], "b": [f"b{k}" for k in range(columns)]}
    found = release(levels, rng=ggdp.SeededSource(seed=1))
    axes = drawn(found)
    counts = found.tables[0].count.reshape(rows, columns)
    down, across, shown = ("a", "b", counts) if rows > columns else ("b", "a", counts.T)
    assert np.array_equal(axes.images[0].get_array(), shown)
    assert not axes.texts
    assert axes.figure.axes[1].get_ylabel() == "noisy count of rows"
    assert axes.figure.get_supxlabel() == "95% interval: plus-minus 3 around each noisy count"
    for name, ticks, names in (
        (down, axes.get_yticks(), names_down(axes)),
        (across, axes.get_xticks(), names_across(axes)),
    ):
        assert names == [f"{name}{place}" for place in ticks]
    # As many names as can be read, and no two of them lie on each other.
    for labels in (axes.get_yticklabels(), axes.get_xticklabels()):
        boxes = [text.get_window_extent() for text in labels]
        assert not any(one.overlaps(other) for one, other in pairwise(boxes))


def test_two_columns_beyond_all_heat_maps_are_ranges_in_their_order():
    axes = drawn(release({"a": list(range(401)), "b": list(range(61))}))
    assert not axes.images
    assert axes.get_xlabel().startswith("cells by a, b, the last fastest; ")


@pytest.mark.parametrize("size", [10, 20])
def test_more_cells_of_several_columns_are_points_or_ranges_in_their_order(size):
    axes = drawn(release({"a": list(range(size)), "b": list(range(size)), "c": list(range(5))}))
    assert axes.get_xlabel().startswith("cells by a, b, c, the last fastest; ")
    assert not axes.images


def test_a_table_without_rows_says_so():
    found = ggdp.release_table(pa.table({"k": ["rare"]}), "k", ggdp.ApproxDP(0.01, 1e-9))
    assert [text.get_text() for text in drawn(found).texts] == ["no values"]


def test_what_is_counted_is_said_without_persons():
    rows = {"who": ["p", "q"], "k": ["a", "a"]}
    of_units = release({"k": ["a"]}, rows, ["k"], unit="who", max_cells=1)
    assert (
        drawn(of_units).get_xlabel().replace("\n", " ")
        == "noisy count of different values of 'who', with its 95% interval"
    )
    assert title(drawn(of_units)).startswith("Noisy count of different values of 'who' by k\n")
    assert drawn(of_units, unit="patients").get_xlabel() == "noisy count of patients, with its 95% interval"


def test_the_axis_says_how_much_of_a_unit_is_counted_and_what_the_interval_covers():
    rows = {"who": ["p", "q"], "k": ["a", "b"]}
    bounded = {"unit": "who", "max_cells": 1, "unit_name": "patients"}
    said = drawn(release({"k": ["a", "b"]}, rows, ["k"], **bounded)).get_xlabel()
    covers = "the interval covers patients counted, at most 1 cell each"
    assert " ".join(said.split()) == f"noisy count of patients, with its 95% interval ({covers})"
    said = drawn(release({"k": ["a", "b"]}, rows, ["k"], **bounded, count_cut=0.1)).get_xlabel()
    assert "the interval covers all patients; counts: at most 1 cell each" in " ".join(said.split())


def test_one_of_several_tables_is_drawn():
    found = release({"a": ["x", "y"], "b": ["u", "v", "w"]}, by=[["a"], ["b"]])
    assert names_down(drawn(found)) == ["x", "y"]
    assert names_down(drawn(found, table=1)) == ["u", "v", "w"]
    with pytest.raises(ArgumentError, match=r"^table = 2: must be below 2"):
        plot_table(found, table=2)
    with pytest.raises(ArgumentError, match=r"^table = -1"):
        plot_table(found, table=-1)
    with pytest.raises(ArgumentError, match="take one of them"):
        found.plot()


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_levels_and_names_are_never_read_as_formulas(columns):
    levels = ["$5 to $6", r"\frac", "$", "a\nb", "x" * 500, r"$\undefined{$"]
    domain = dict(zip(["$a$", "b\t$", "$c$"][:columns], [levels, levels, ["$y$", "z"]], strict=False))
    figure = plot_table(release(domain), title="$t", unit="$u$")
    figure.canvas.draw()
    texts = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert all(len(text) <= 120 for text in texts)
    if columns == 1:
        assert texts[:4] == ["$5 to $6", r"\frac", "$", "a·b"]


BEGINNING = "the same beginning of a name, again and again, "


@pytest.mark.parametrize("end", ["", ", and the same end of all of them, again and again"])
@pytest.mark.parametrize("number", [15, 25])
def test_long_levels_that_differ_in_a_letter_are_cut_to_different_names(number, end):
    letters = [chr(ord("a") + k) for k in range(number)]
    found = release({"a": [f"{BEGINNING}{letter}{end}" for letter in letters], "b": ["x", "y"]})
    axes = drawn(found)
    counts = found.tables[0].count
    if number == 15:
        assert [bar.get_width() for bar in axes.patches] == counts.tolist()
        names = [text.get_text().removeprefix("a: ") for text in axes.texts]
    else:
        assert np.array_equal(axes.images[0].get_array(), counts.reshape(number, 2))
        names = names_down(axes)
    assert len(set(names)) == number
    assert all(len(name) <= 36 and "…" in name and letter in name for name, letter in zip(names, letters, strict=True))


def test_wide_signs_have_the_room_that_they_need(recwarn):
    short, long = (
        drawn(release({"k": ["w" * 4, sign * 30]}, unit="row")) for sign in ("i", "\N{CJK UNIFIED IDEOGRAPH-6771}")
    )
    assert names_down(short)[1] == "i" * 30
    assert len(names_down(long)[1]) == 18
    # Whether a font has them depends on the machine.
    assert all("missing from font" in str(warning.message) for warning in recwarn)


def test_text_falls_back_to_fonts_that_are_installed_and_keeps_the_chosen_one_first():
    with mpl.rc_context({"font.family": "DejaVu Serif"}):
        figure = plot_table(release({"k": [f"{k:03}" for k in range(100)]}))
    figure.canvas.draw()
    installed = set(fontManager.get_font_names())
    for text in figure.findobj(Text):
        first, *others = text.get_fontfamily()
        assert first == "DejaVu Serif"
        assert "DejaVu Sans" in others
        assert set(others) <= installed


@pytest.mark.filterwarnings("ignore::ggdp.errors.PrivacyWarning")
@pytest.mark.parametrize("delta", [1.23456e-6, 9.9999e-7, 1e-6, 0.05])
def test_the_title_has_three_digits_of_delta_and_never_less_than_it_is(delta):
    found = release({"k": ["a"]}, goal=ggdp.ApproxDP(0.01, delta), order=2)
    shown = re.fullmatch(
        r"Noisy count of rows by k\n\(0\.01, (.*)\)-aDP under add-remove neighbours", title(drawn(found))
    )[1]
    assert len(shown.partition("e")[0].replace(".", "").lstrip("0")) <= 3
    assert found.guarantee.delta <= float(shown) <= 1.01 * found.guarantee.delta


def test_no_title_hides_that_a_table_is_not_private():
    found = release({"k": ["a"]}, rng=ggdp.SeededSource(seed=1))
    assert title(drawn(found)) == "NOT PRIVATE: Noisy count of rows by k"
    assert title(drawn(found, title="Counts")) == "NOT PRIVATE: Counts"


@pytest.mark.parametrize(("name", "wrong"), [("release", [1, 2]), ("title", 3), ("unit", 3)])
def test_what_is_of_the_wrong_type_is_refused_by_its_type(name, wrong):
    options = {"release": release({"k": ["a"]}), name: wrong}
    with pytest.raises(ArgumentError, match=rf"^{name} = <class '\w+'>: must be of type"):
        plot_table(options.pop("release"), **options)


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    found = release({"k": ["a"]})
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ggdp\[plots\]'"):
        found.plot()
