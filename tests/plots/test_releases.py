import sys

import numpy as np
import pytest

import ggdp
from ggdp.errors import ArgumentError, MissingExtraError
from ggdp.plots import plot_release
from ggdp.releases import clip


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
    assert axes.get_title(loc="left") == str(release.guarantee)


def test_labels_title_unit_and_level_are_shown(counts):
    figure = plot_release(counts.release([1, 2]), labels=["a", "b"], title="T", unit="persons", level=0.999)
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", "b"]
    assert axes.get_title(loc="left") == "T"
    assert axes.get_xlabel() == "released value (persons), with its 99.9% interval"


def test_many_values_are_points(counts):
    release = counts.release(np.arange(500))
    axes = release.plot().axes[0]
    assert axes.lines[0].get_ydata().tolist() == release.values.tolist()
    assert len(axes.collections[0].get_segments()) == 500
    assert axes.get_ylabel() == "released value (unit of the query)"


def test_values_of_several_axes_are_named_by_their_places(counts):
    axes = counts.release([[1, 2], [3, 4]]).plot().axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["0, 0", "0, 1", "1, 0", "1, 1"]


@pytest.mark.parametrize("values", [[], 3])
def test_nothing_and_one_number_can_be_drawn(counts, values):
    counts.release(values).plot().canvas.draw()


def test_a_release_that_is_not_private_says_so(counts):
    axes = counts.release([1], source=ggdp.SeededSource(seed=1)).plot().axes[0]
    assert axes.get_title(loc="left") == "NOT PRIVATE"


def test_wrong_labels_are_refused(counts):
    with pytest.raises(ArgumentError, match="labels = '1 of them': there must be one for each of 2 values"):
        plot_release(counts.release([1, 2]), labels=["a"])


def test_a_selection_has_no_intervals_to_draw():
    mechanism = ggdp.ExponentialMechanism(ggdp.PureDP(1.0), sensitivity=1, candidates=["a", "b"])
    with pytest.raises(ArgumentError, match="no noise was added to a number"):
        mechanism.release([1, 2]).plot()


def test_without_matplotlib_the_extra_is_named(counts, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ggdp\[plots\]'"):
        counts.release([1]).plot()
