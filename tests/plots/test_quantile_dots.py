"""A quantile dot plot has as many dots as cases, in their places, none above its panel."""

from collections import Counter

import numpy as np
import pytest

import ggdp
from ggdp.errors import ArgumentError
from ggdp.plots.previews import CountDots, count_dots, dots_in_words, place_dots, plot_count_dots


def dots_of(axes):
    return np.concatenate([collection.get_offsets() for collection in axes.collections])


@pytest.mark.parametrize(("order", "scale"), [(1.0, 0.4), (1.0, 20.0), (2.0, 3.0), (7.5, 11.0)])
@pytest.mark.parametrize("dots", [1, 20, 25, 50])
def test_cases_are_the_middles_of_equally_likely_parts(order, scale, dots):
    law = ggdp.IntegerGeneralizedGaussian(order=order, scale=scale)
    cases = count_dots("a", 100, order=order, scale=scale, dots=dots).cases
    assert len(cases) == dots
    assert list(cases) == sorted(cases)
    # Symmetric around the noisy count, as the noise is.
    assert [100 - case for case in cases] == [case - 100 for case in reversed(cases)]
    for place, case in enumerate(cases[: dots // 2]):
        share = (place + 0.5) / dots
        assert law.cdf(case - 100 - 1) < share <= law.cdf(case - 100) + 1e-12


def test_wide_dots_are_stacked_from_the_left_and_narrow_ones_stand_in_columns():
    wide, narrow = place_dots([1, 2, 2, 3, 7], 2.0), place_dots([1, 2, 2, 2], 0.4)
    middle = 5.0 / 3.0
    assert [(dot.across, dot.row) for dot in wide] == [(middle, 0), (middle, 1), (middle, 2), (3.0, 0), (7.0, 0)]
    assert [(dot.across, dot.row) for dot in narrow] == [(1.0, 0), (1.8, 0), (2.2, 0), (2.0, 1)]


@pytest.mark.parametrize("width", [0.05, 0.3, 1.0, 2.5, 100.0])
def test_every_case_has_one_dot_and_no_two_dots_of_a_row_overlap(width):
    cases = count_dots("a", 5, order=1.0, scale=4.0, dots=50).cases
    dots = place_dots(cases, width)
    assert Counter(dot.case for dot in dots) == Counter(cases)
    rows = {}
    for dot in dots:
        rows.setdefault(dot.row, []).append(dot.across)
        assert abs(dot.across - dot.case) <= max(width, 0.5)
    if width < 1.0:
        for across in rows.values():
            assert np.diff(sorted(across)).min(initial=width) >= width * (1 - 1e-9)


@pytest.mark.parametrize("scale", [0.3, 2.0, 5_000.0])
@pytest.mark.parametrize("dots", [20, 50])
def test_dots_fit_in_their_panels(scale, dots):
    figure = plot_count_dots([count_dots(name, 7, order=1.0, scale=scale, dots=dots) for name in "ab"])
    figure.canvas.draw()
    for axes in figure.axes:
        places = dots_of(axes)
        assert len(places) == dots
        assert places[:, 1].min() > 0.0
        assert places[:, 1].max() < axes.get_ylim()[1]
        assert axes.get_xlim()[0] <= places[:, 0].min()
        assert places[:, 0].max() <= axes.get_xlim()[1]


def test_cases_at_or_below_zero_are_hollow_and_counted():
    cell = CountDots("births", 1, (-1, 0, 1, 2, 3))
    axes = plot_count_dots([cell], unit="patients").axes[0]
    above, below = axes.collections
    assert len(above.get_offsets()) == 3
    assert len(below.get_offsets()) == 2
    assert below.get_facecolor().size == 0
    assert axes.get_title(loc="left") == "births: 1, 2 of 5 at or below 0"
    assert axes.get_xlabel() == "count of patients"
    assert dots_in_words(cell).endswith("2 of 5 at or below 0")


def test_wrong_arguments_are_refused():
    with pytest.raises(ArgumentError, match="cells"):
        plot_count_dots([])
    with pytest.raises(ArgumentError, match="dots"):
        count_dots("a", 1, order=1.0, scale=1.0, dots=0)
