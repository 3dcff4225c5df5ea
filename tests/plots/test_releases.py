import sys

import numpy as np
import pytest

import ggdp
from ggdp.calibration import on_grid
from ggdp.errors import ArgumentError, MissingExtraError
from ggdp.plots import plot_release
from ggdp.releases import Release, clip


@pytest.fixture(scope="module")
def counts():
    return ggdp.Mechanism(ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.histogram(), order=1, support="integer"))


def test_few_values_are_bars_with_their_names_and_intervals(counts):
    release = clip(counts.release([-20, 50]), 0)
    axes = release.plot().axes[0]
    assert [bar.get_width() for bar in axes.patches] == release.values.tolist()
    ((first, second), *_) = [line.get_segments() for line in axes.collections]
    lower, upper = release.interval()
    assert first[:, 0].tolist() == [lower[0], upper[0]]
    assert second[:, 0].tolist() == [lower[1], upper[1]]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["0", "1"]
    assert axes.figure.get_suptitle() == str(release.guarantee)


def test_labels_title_unit_and_level_are_shown(counts):
    figure = plot_release(counts.release([1, 2]), labels=["a", "b"], title="T", unit="persons", level=0.999)
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", "b"]
    assert figure.get_suptitle() == "T\n1-DP under add-remove neighbours"
    assert axes.get_xlabel().replace("\n", " ") == "released value (persons), with its 99.9% interval"


def test_many_values_are_points(counts):
    release = counts.release(np.arange(500))
    axes = release.plot().axes[0]
    assert axes.lines[0].get_ydata().tolist() == release.values.tolist()
    assert len(axes.collections[0].get_segments()) == 500
    assert axes.get_ylabel().replace("\n", " ") == "released value (unit of the query)"
    assert axes.get_xlabel() == "position; each with its 95% interval"


@pytest.mark.parametrize(("size", "together"), [(2000, 2), (2001, 3), (30_500, 31)])
def test_very_many_values_are_drawn_by_the_range_of_neighbours(counts, size, together):
    release = clip(counts.release(np.arange(size) % 97), 0)
    axes = plot_release(release, level=0.9).axes[0]
    lower, upper = release.interval(0.9)
    parts = [slice(first, min(first + together, size)) for first in range(0, size, together)]
    band, ranges = axes.collections
    assert [segment[:, 1].tolist() for segment in ranges.get_segments()] == [
        [release.values[part].min(), release.values[part].max()] for part in parts
    ]
    middles = [(part.start + part.stop - 1) / 2 for part in parts]
    assert [segment[0, 0] for segment in ranges.get_segments()] == middles
    (path,) = band.get_paths()
    least, most = (
        np.array([pick(part) for part in parts]) for pick in (lambda s: lower[s].min(), lambda s: upper[s].max())
    )
    # The outermost bins begin and end at their middles.
    for ends, inwards in ((least, 0.01), (most, -0.01)):
        inside, outside = (np.column_stack([middles, ends + step])[1:-1] for step in (inwards, -inwards))
        assert path.contains_points(inside).all()
        assert not path.contains_points(outside).any()
    assert axes.get_xlabel().replace("\n", " ") == (
        f"position; {together} neighbours together: range of the values (dark) and of their 90% intervals (light)"
    )


def saturated(values):
    """A release on a grid whose largest and least index stand for everything beyond them."""
    release = ggdp.Mechanism(on_grid(ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.disjoint(1), order=1))).release(
        [0.0]
    )
    step = release.mechanism.law.step
    return Release(values=np.array(values) * 2.0**63 * step, mechanism=release.mechanism)


def test_an_infinite_end_is_not_drawn():
    release = saturated([-1.0, 1.0, 0.0])
    lower, upper = release.interval()
    assert np.isinf(lower).tolist() == [True, False, False]
    assert np.isinf(upper).tolist() == [False, True, False]
    figure = release.plot()
    figure.canvas.draw()
    (axes,) = figure.axes
    assert [len(line) for line in axes.collections[0].get_segments()] == [0, 0, 2]
    ends = axes.lines[0].get_xdata()
    assert ends[np.isfinite(ends)].tolist() == [lower[1], lower[2], upper[0], upper[2]]
    assert np.isfinite(axes.get_xlim()).all()


def test_neighbours_of_an_infinite_end_have_no_band():
    values = np.zeros(4000)
    values[400] = 1.0
    axes = saturated(values).plot().axes[0]
    axes.figure.canvas.draw()
    gaps = [path.vertices[:, 0] for path in axes.collections[0].get_paths()]
    assert [(x.min(), x.max()) for x in gaps] == [(1.5, 397.5), (405.5, 3997.5)]


def test_values_of_several_axes_are_named_by_their_places(counts):
    axes = counts.release([[1, 2], [3, 4]]).plot().axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["0, 0", "0, 1", "1, 0", "1, 1"]


def test_one_number_can_be_drawn(counts):
    counts.release(3).plot().canvas.draw()


def test_of_nothing_the_figure_says_so(counts):
    axes = plot_release(counts.release([]), labels=[], unit="persons").axes[0]
    assert [text.get_text() for text in axes.texts] == ["no values"]
    assert not axes.get_xticks().size
    assert not axes.get_yticks().size
    assert axes.get_xlabel() == "released value (persons)"


@pytest.mark.parametrize("number", [1, 30])
def test_the_bars_fill_their_axis_and_places_are_called_so(counts, number):
    release = counts.release(np.arange(number))
    axes = release.plot().axes[0]
    assert axes.get_ylabel() == "position"
    low, high = sorted(axes.get_ylim())
    assert low == pytest.approx(-0.64, abs=0.09)
    assert high == pytest.approx(number - 1 + 0.64, abs=0.09)
    axes.figure.canvas.draw()
    assert axes.yaxis.label.get_window_extent().height <= axes.get_window_extent().height
    assert plot_release(release, labels=["a"] * number).axes[0].get_ylabel() == ""


def test_a_release_that_is_not_private_says_so(counts):
    figure = counts.release([1], rng=ggdp.SeededSource(seed=1)).plot()
    assert figure.get_suptitle() == "NOT PRIVATE"


@pytest.mark.parametrize("size", [0, 2, 50, 2000])
@pytest.mark.parametrize(("title", "shown"), [("Counts", "NOT PRIVATE: Counts"), ("", "NOT PRIVATE")])
def test_no_title_hides_that_a_release_is_not_private(counts, size, title, shown):
    release = counts.release(np.zeros(size, dtype=int), rng=ggdp.SeededSource(seed=1))
    assert plot_release(release, title=title).get_suptitle() == shown


def test_wrong_labels_are_refused(counts):
    with pytest.raises(ArgumentError, match="labels = '1 of them': there must be one for each of 2 values"):
        plot_release(counts.release([1, 2]), labels=["a"])


@pytest.mark.parametrize("release", [[120, 3], np.array([120, 3]), 120, "120", None], ids=repr)
def test_what_is_no_release_is_refused_by_its_type_alone(release):
    with pytest.raises(ArgumentError, match=r"^release = <class '[\w.]+'>: must be of type Release$") as refused:
        plot_release(release)
    assert isinstance(refused.value.value, type)


@pytest.mark.parametrize("labels", ["ab", [1, 2], ["a", None], 2, np.array("ab"), np.array([1, 2])], ids=repr)
def test_labels_are_a_sequence_of_text(counts, labels):
    with pytest.raises(ArgumentError, match=r"^labels = <class '[\w.]+'>: must be a sequence of items of type str$"):
        plot_release(counts.release([1, 2]), labels=labels)


@pytest.mark.parametrize("name", ["title", "unit"])
def test_title_and_unit_are_text(counts, name):
    with pytest.raises(ArgumentError, match=rf"^{name} = <class 'int'>: must be of type str$"):
        plot_release(counts.release([1, 2]), **{name: 3})


@pytest.mark.parametrize("level", ["0.9", 1.0, -0.1, None])
def test_a_wrong_level_is_named(counts, level):
    with pytest.raises(ArgumentError, match=r"^level = "):
        plot_release(counts.release([1, 2]), level=level)


def test_a_selection_has_no_intervals_to_draw():
    mechanism = ggdp.ExponentialMechanism(ggdp.PureDP(1.0), sensitivity=1, candidates=["a", "b"])
    with pytest.raises(ArgumentError, match="no noise was added to a number"):
        mechanism.release([1, 2]).plot()


def test_without_matplotlib_the_extra_is_named(counts, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ggdp\[plots\]'"):
        counts.release([1]).plot()
