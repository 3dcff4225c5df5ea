import sys

import numpy as np
import pyarrow as pa
import pytest

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
    assert axes.get_xlabel() == "count (rows), with its 95% interval"
    assert axes.get_ylabel() == "age"
    assert axes.get_title(loc="left") == "1-DP under add-remove neighbours"


def test_few_cells_of_several_columns_stand_together_under_the_first_ones():
    found = release({"smokes": ["no", "yes"], "pressure": ["low", "high"], "history": ["neg", "pos"]})
    axes = drawn(found)
    heads = [text.get_text() for text in axes.texts]
    assert heads == [
        f"smokes: {smokes}, pressure: {pressure}" for smokes in ("no", "yes") for pressure in ("low", "high")
    ]
    assert names_down(axes) == ["neg", "pos"] * 4
    bars = [bar.get_y() + bar.get_height() / 2 for bar in axes.patches]
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
    found = release({"sex": ["f", "m"], "region": [f"r{k}" for k in range(21)]})
    axes = drawn(found)
    counts = found.tables[0].count.reshape(2, 21)
    # The column with more levels goes down.
    assert names_down(axes) == [f"r{k}" for k in range(21)]
    assert names_across(axes) == ["f", "m"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("sex", "region")
    written = {tuple(text.get_position()): text.get_text() for text in axes.texts}
    assert written == {(sex, r): f"{counts[sex, r]:,}" for sex in range(2) for r in range(21)}
    assert np.array_equal(axes.images[0].get_array(), np.clip(counts.T, 0, None))
    assert axes.figure.get_supxlabel() == "95% interval: plus-minus 3 around each noisy count"
    assert axes.figure.axes[1].get_ylabel() == "count (rows)"


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
    caption = drawn(found).figure.get_supxlabel()
    assert caption == f"95% intervals reach up to {most:,} from the noisy count"


def test_many_cells_of_one_column_are_points_with_some_levels_named():
    found = release({"zip": [f"{k:05}" for k in range(300)]})
    axes = drawn(found)
    assert axes.lines[0].get_ydata().tolist() == found.tables[0].count.tolist()
    assert axes.get_xlabel() == "zip; each with its 95% interval"
    shown = [name for name in names_across(axes) if name]
    assert "00000" in shown
    assert len(shown) >= 3


@pytest.mark.parametrize("size", [70, 100])
def test_more_cells_of_several_columns_are_points_or_ranges_in_their_order(size):
    axes = drawn(release({"a": list(range(size)), "b": list(range(size))}))
    assert axes.get_xlabel().startswith("cells by a, b, the last fastest; ")
    assert not axes.images


def test_a_table_without_rows_says_so():
    found = ggdp.release_table(pa.table({"k": ["rare"]}), "k", ggdp.ApproxDP(0.01, 1e-9))
    assert [text.get_text() for text in drawn(found).texts] == ["no values"]


def test_what_is_counted_is_said_without_persons():
    rows = {"who": ["p", "q"], "k": ["a", "a"]}
    of_units = release({"k": ["a"]}, rows, ["k"], unit="who", max_cells=1)
    assert drawn(of_units).get_xlabel() == "count (units of who), with its 95% interval"
    assert drawn(of_units, unit="patients").get_xlabel() == "count (patients), with its 95% interval"


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
    texts = [text.get_text().replace(r"\$", "$") for text in figure.axes[0].get_yticklabels()]
    assert all(len(text) <= 120 for text in texts)
    if columns == 1:
        assert texts[:4] == ["$5 to $6", r"\frac", "$", "a·b"]


@pytest.mark.parametrize("number", [15, 25])
def test_levels_that_are_cut_to_the_same_name_stay_apart(number):
    long = [f"{'the same beginning of a name, again and again, '}{k}" for k in range(number)]
    found = release({"a": long, "b": ["x", "y"]})
    axes = drawn(found)
    counts = found.tables[0].count
    if number == 15:
        assert [bar.get_width() for bar in axes.patches] == counts.tolist()
        assert len(axes.texts) == number
    else:
        assert np.array_equal(axes.images[0].get_array(), np.clip(counts.reshape(number, 2), 0, None))
        assert len(names_down(axes)) == number


def test_no_title_hides_that_a_table_is_not_private():
    found = release({"k": ["a"]}, source=ggdp.SeededSource(seed=1))
    assert drawn(found).get_title(loc="left") == "NOT PRIVATE"
    assert drawn(found, title="Counts").get_title(loc="left") == "NOT PRIVATE: Counts"


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
