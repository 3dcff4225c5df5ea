"""Tables of every shape: no text is cut off at the edge of the figure, and no two texts lie on each other."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.axes import Axes
from matplotlib.text import Text

import ggdp
from ggdp.plots import plot_release, plot_table

PURE = ggdp.PureDP(1.0)
LONG = "the department of complicated and lengthy affairs, subsection {} of the annex"
PLACES = ["Göteborg", "Łódź", "Αθήνα", "Москва", "القاهرة", "São Paulo"]


def one(levels, counts=(), name="zip", goal=PURE, **options):
    """A table of one column; without counts they fall from 60 down to 1, and begin again."""
    counts = counts or [60 - 7 * k % 60 for k in range(len(levels))]
    rows = pa.table({name: np.repeat(np.array(levels), counts).tolist() or pa.array([], pa.string())})
    return ggdp.release_table(rows, name, goal, {name: levels}, **options)


def several(*sizes, level="{}", goal=PURE):
    """A table of several columns, without rows."""
    domain = {f"column {k}": [level.format(n) for n in range(size)] for k, size in enumerate(sizes)}
    rows = pa.table({name: pa.array([], pa.string()) for name in domain})
    return ggdp.release_table(rows, list(domain), goal, domain)


def times(release, factor):
    """The same table with larger numbers."""
    (table,) = release.tables
    names = ("count", "noisy_count", "lower", "upper")
    return replace(release, tables=(replace(table, **{name: factor * getattr(table, name) for name in names}),))


def of_units():
    rows = pa.table({"patient": [1, 2], "ward": ["a", "b"]})
    return ggdp.release_table(rows, "ward", PURE, {"ward": ["a", "b"]}, unit="patient", max_cells=2)


def open_keys(number):
    keys = [f"drug {k}" for k in range(number) for _ in range(60 + 7 * k)]
    return ggdp.release_table(pa.table({"drug": keys}), "drug", ggdp.ApproxDP(1.0, 1e-6), order=1)


def numbered(number):
    return [f"{k:05}" for k in range(number)]


ZOO = {
    "1": lambda: one(["only"]),
    "2": lambda: one(["no", "yes"], name="smokes"),
    "3": lambda: one(["a", "b", "c"]),
    "8": lambda: one(numbered(8)),
    "30": lambda: one([f"ward {k}" for k in range(30)]),
    "41": lambda: one(numbered(41)),
    "101": lambda: one(numbered(101)),
    "101 long": lambda: one([LONG.format(k) for k in range(101)]),
    "50 integers": lambda: one(list(range(50)), name="age"),
    "1000": lambda: one(numbered(1000)),
    "300 long": lambda: one([LONG.format(k) for k in range(300)]),
    "3000": lambda: one(numbered(3000)),
    "3 long": lambda: one([LONG.format(k) for k in range(3)]),
    "wide letters": lambda: one(["W" * 30, "M" * 36], name="MW" * 30),
    "long name of a column": lambda: one(["no", "yes"], name=LONG.format(1)),
    "negative": lambda: one(list("abcdefgh"), [0] * 8, goal=ggdp.PureDP(0.05)),
    "50 negative": lambda: one(numbered(50), [0] * 50, goal=ggdp.PureDP(0.05)),
    "dominated": lambda: one(list("abcdefgh"), [5000] + [10] * 7),
    "huge": lambda: times(one(list("abcdefgh")), 10**14),
    "50 huge": lambda: times(one(numbered(50)), 10**14),
    "bins": lambda: ggdp.release_table(
        pa.table({"age": [1.0, 30.0]}), "age", PURE, {"age": {"edges": list(range(0, 101, 5)), "missing": "not said"}}
    ),
    "2 x 3": lambda: several(2, 3),
    "9 x 9": lambda: several(9, 9, goal=ggdp.PureDP(0.05)),
    "5 x 9 huge": lambda: times(several(5, 9), 10**14),
    "21 x 2": lambda: several(21, 2),
    "20 x 6 long": lambda: several(20, 6, level=LONG),
    "100 x 80 long": lambda: several(100, 80, level=LONG),
    "400 x 31": lambda: several(400, 31),
    "61 x 2": lambda: several(61, 2),
    "2 x 2 x 2": lambda: several(2, 2, 2),
    "2 x 2 x 2 long": lambda: several(2, 2, 2, level=LONG),
    "4 x 4 x 4": lambda: several(4, 4, 4),
    "20 x 20 x 6": lambda: several(20, 20, 6),
    "open, 10": lambda: open_keys(10),
    "open, 50": lambda: open_keys(50),
    "not ASCII": lambda: one(PLACES, name="città"),
    "units": of_units,
    "not private": lambda: one(["no", "yes"], rng=ggdp.SeededSource(seed=1)),
    "empty": lambda: ggdp.release_table(pa.table({"k": ["rare"]}), "k", ggdp.ApproxDP(0.01, 1e-9)),
}
# Much like others of them, or slow to draw.
SLOW = {"30", "101", "50 integers", "50 huge", "50 negative", "3000", "20 x 6 long", "61 x 2", "4 x 4 x 4", "open, 50"}
SLOW |= {"1000", "300 long", "huge", "dominated", "5 x 9 huge", "100 x 80 long", "21 x 2", "2 x 2 x 2", "20 x 20 x 6"}
CASES = [
    pytest.param(make, id=name, marks=[pytest.mark.exhaustive] if name in SLOW else []) for name, make in ZOO.items()
]


def shown(figure):
    """Every text that is drawn: those of ticks beyond the ends of an axis are not."""
    found = [text for text in figure.findobj(Text) if text.get_text().strip() and text.get_visible()]
    beyond = set()
    for axes in figure.findobj(Axes):
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            slack = 1e-9 * (high - low)
            for tick in axis.get_major_ticks():
                inside = low - slack <= tick.get_loc() <= high + slack
                labels = (tick.label1, tick.label2)
                beyond |= {text for text in labels if not inside or not text.get_visible() or not tick.get_visible()}
            beyond |= set() if axis.get_visible() and axes.get_visible() else set(axis.findobj(Text))
    return [text for text in found if text not in beyond]


def boxes(figure):
    """Every text that is drawn, and their boxes."""
    figure.draw_without_rendering()
    texts = shown(figure)
    assert len(texts) >= 2
    return texts, np.array([text.get_window_extent().extents for text in texts])


def cut_off(figure, texts, found):
    """The texts that reach beyond the edges of the figure."""
    (left, bottom, right, top), edges = found.T, figure.bbox.extents
    out = (left < edges[0]) | (bottom < edges[1]) | (right > edges[2]) | (top > edges[3])
    return [texts[place].get_text() for place in np.flatnonzero(out)]


def overlapping(texts, found):
    """Pairs of texts that share more than a dot."""
    low, high = found[:, :2] + 0.5, found[:, 2:] - 0.5
    apart = (high[:, None] <= low[None]).any(axis=2)
    pairs = np.argwhere(~(apart | apart.T))
    return [(texts[i].get_text(), texts[j].get_text()) for i, j in pairs if i < j]


def assert_has_room(figure):
    drawn = boxes(figure)
    assert cut_off(figure, *drawn) == []
    assert overlapping(*drawn) == []


@pytest.mark.parametrize("make", CASES)
def test_no_text_is_cut_off_and_no_two_overlap(make):
    assert_has_room(plot_table(make()))


@pytest.mark.exhaustive
@pytest.mark.parametrize("resolution", [72, 160, 300])
@pytest.mark.parametrize("make", ZOO.values(), ids=ZOO)
def test_nor_in_other_resolutions(make, resolution):
    figure = plot_table(make())
    figure.set_dpi(resolution)
    assert_has_room(figure)


@pytest.mark.parametrize("labels", [["a", "b"], [LONG.format(k) for k in range(2)], None], ids=["short", "long", "no"])
def test_nor_in_a_release_of_values(labels):
    noise = ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.histogram(), order=2, support="integer")
    release = ggdp.Mechanism(noise).release([10**15, 3])
    figure = plot_release(release, labels=labels, title=LONG.format(1) * 2, unit=LONG.format(2))
    assert_has_room(figure)


def test_text_beyond_the_edge_and_on_other_text_is_noticed():
    figure = plot_table(one(["no", "yes"]))
    assert_has_room(figure)
    axes = figure.axes[0]
    axes.text(0.5, 0.5, "in the way", transform=figure.transFigure).set_in_layout(False)
    axes.text(0.5, 0.5, "in the way too", transform=figure.transFigure).set_in_layout(False)
    axes.text(0.9, 0.5, "far beyond the edge", transform=figure.transFigure).set_in_layout(False)
    drawn = boxes(figure)
    assert cut_off(figure, *drawn) == ["far beyond the edge"]
    assert ("in the way", "in the way too") in overlapping(*drawn)
