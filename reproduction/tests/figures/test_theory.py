"""Every figure of an analysis shows what the analysis returned, with labelled axes, at a width of print."""

import builtins
import io

import numpy as np
import pytest
from tests.cases import one_in

from ggdp import ApproxDP, Sensitivity, plan
from ggdp.errors import ArgumentError, MissingExtraError
from ggdp.plots import plot_plan, style
from ggdp_reproduction import figures
from ggdp_reproduction.comparisons import (
    LEMMA_DELTA,
    bounded_errors,
    delta_of_equal_variance,
    densities_at_scale,
    distance_errors,
    epsilon_of_same_tail,
    exponential_losses,
    gaussian_bounds,
    paper_densities,
    paper_tails,
    scales_by_order,
    tail_probabilities,
    tail_turn,
    variance_ratio,
)

SIZES = np.linspace(0.0, 12.0, 61)
DELTAS = np.geomspace(1e-4, 0.5, 5)
WITHOUT = [one for order in (1, 1.5, 2, np.inf) for one in distance_errors(order)]
WITHIN = [one for order in (2, np.inf) for width in (2.0, 10.0, 99.0) for one in distance_errors(order, width)]
DISTANCES = [*WITHOUT, *WITHIN]

FIGURES = {
    "densities": figures.plot_densities,
    "tails": lambda: figures.plot_tails(tail_probabilities(1.0, 0.05, SIZES)),
    "tail_ratio": figures.plot_tail_ratio,
    "same_tail": figures.plot_same_tail,
    "dispersion": figures.plot_dispersion,
    "gaussian_bounds": lambda: figures.plot_gaussian_bounds([gaussian_bounds(0.5, DELTAS)]),
    "scales": lambda: figures.plot_scales([scales_by_order([1, 2, 3], 1.0, 0.05)]),
    "exponential": lambda: figures.plot_exponential_loss(exponential_losses([1, 2], 1.0, bounds=(0.0, 10.0))),
    "plain_distance": lambda: figures.plot_plain_distance(DISTANCES),
    "bounded": lambda: figures.plot_bounded_errors(bounded_errors(2, 1.0, (0.0, 10.0))),
}


def drawn(axes):
    """The curves of a panel, as (x, y), in the order in which they were drawn; lines of reference are left out."""
    return [line.get_data() for line in axes.lines if len(line.get_xdata()) > 2]


def legend_of(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def assert_curve(curve, x, y):
    assert np.array_equal(curve[0], x)
    assert np.array_equal(curve[1], y, equal_nan=True)


@pytest.mark.parametrize("name", FIGURES)
def test_every_panel_has_labels_and_the_figure_a_width_of_print(name):
    figure = FIGURES[name]()
    assert figure.get_size_inches()[0] in (style.COLUMN_WIDTH, style.DOUBLE_WIDTH)
    shared = figure.get_supxlabel()
    for axes in figure.axes:
        assert axes.get_xlabel() or shared
        assert axes.get_ylabel() or figure.axes[0].get_ylabel()
        for text in (axes.xaxis.label, axes.yaxis.label):
            assert text.get_fontsize() == style.SIZE


@pytest.mark.parametrize("name", FIGURES)
def test_no_label_is_longer_than_its_side(name):
    figure = FIGURES[name]()
    figure.canvas.draw()
    wide, _ = figure.canvas.get_width_height()
    for axes in figure.axes:
        assert axes.yaxis.label.get_window_extent().height <= axes.get_window_extent().height
        assert axes.xaxis.label.get_window_extent().width <= wide


@pytest.mark.parametrize("name", one_in(3, FIGURES))
def test_every_figure_is_written_without_a_display(name):
    picture = io.BytesIO()
    FIGURES[name]().savefig(picture, format="png", dpi=60)
    assert picture.getvalue().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", FIGURES)
def test_without_matplotlib_the_error_says_what_to_install(name, monkeypatch):
    importing = builtins.__import__

    def missing(module, *rest):
        if module.startswith("matplotlib"):
            raise ImportError(module)
        return importing(module, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(MissingExtraError, match=r"ggdp\[plots\]"):
        FIGURES[name]()


@pytest.mark.parametrize("name", FIGURES)
def test_no_two_curves_of_a_legend_share_a_colour(name):
    for axes in FIGURES[name]().axes:
        colours = [line.get_color() for line in axes.lines if not line.get_label().startswith("_")]
        named = [colour for colour in colours if colour != style.BLACK]
        assert len(set(named)) == len(named)


def test_every_colour_has_a_pattern_of_its_own_for_copies_in_grey():
    assert len({repr(line["linestyle"]) for line in style.LINES}) == len(style.LINES)
    assert len({line["color"] for line in style.LINES}) == len(style.LINES)


@pytest.mark.parametrize(
    ("value", "printed"),
    [(0.05, "0.05"), (2.0, "2"), (1e-6, "$10^{-6}$"), (2.5e-7, "$2.5 \\times 10^{-7}$"), (1e9, "$10^{9}$")],
)
def test_very_small_and_large_numbers_are_printed_as_powers_of_ten(value, printed):
    assert style.numeral(value) == printed


def test_densities_are_drawn_order_by_order():
    families = paper_densities()
    figure = figures.plot_densities(families)
    for axes, family in zip(figure.axes, families, strict=True):
        curves = drawn(axes)
        assert len(curves) == family.orders.size
        for curve, density in zip(curves, family.densities, strict=True):
            assert_curve(curve, family.x, density)
    names = ["order 1 (Laplace)", "order 2 (Gaussian)", "order 3", "order 5", "order 10"]
    assert legend_of(figure.axes[1]) == names
    one = figures.plot_densities([densities_at_scale([1.5], SIZES)])
    assert len(one.axes) == 1


def test_tails_and_ratio_are_those_of_the_comparison_and_the_turn_is_marked():
    comparison = tail_probabilities(1.0, 0.05, SIZES, "analytic")
    left, right = figures.plot_tails(comparison).axes
    assert_curve(drawn(left)[0], SIZES, comparison.laplace)
    assert_curve(drawn(left)[1], SIZES, comparison.gaussian)
    assert legend_of(left) == ["Laplace", "Gaussian, least for aDP"]
    grey, coloured = drawn(right)
    likely = comparison.likely()
    assert_curve(coloured, SIZES, np.where(likely, comparison.ratio, np.nan))
    assert np.array_equal(grey[1][~likely], comparison.ratio[~likely])
    turn = tail_turn(1.0, 0.05, "analytic")
    marks = [line.get_data() for line in right.lines if line.get_marker() == "o"]
    assert [(float(x[0]), float(y[0])) for x, y in marks] == [
        (float(turn.t_minimum), float(turn.minimum)),
        (float(turn.t_crossing), 1.0),
    ]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("paper", "Gaussian of Lemma 10"),
        ("tight-pdp", "Gaussian, least for pDP"),
        ("classic", "Gaussian, classic"),
        ("analytic", "Gaussian, least for aDP"),
    ],
)
def test_the_legend_names_the_gaussian(kind, name):
    left, _ = figures.plot_tails(tail_probabilities(0.5, 0.05, SIZES, kind)).axes
    assert legend_of(left) == ["Laplace", name]


def test_a_ratio_that_only_rises_has_no_marks():
    _, right = figures.plot_tails(tail_probabilities(0.1, 0.5, SIZES)).axes
    assert not [line for line in right.lines if line.get_marker() == "o"]


def test_the_papers_tail_ratios_are_grey_exactly_where_both_tails_are_unlikely():
    comparisons = paper_tails()
    figure = figures.plot_tail_ratio(comparisons)
    assert len(figure.axes) == 3
    for panel, axes in enumerate(figure.axes):
        curves = drawn(axes)
        assert len(curves) == 8
        for number, comparison in enumerate(comparisons[4 * panel : 4 * panel + 4]):
            grey, coloured = curves[2 * number : 2 * number + 2]
            likely = np.maximum(comparison.laplace, comparison.gaussian) >= 1e-4
            assert_curve(coloured, comparison.t, np.where(likely, comparison.ratio, np.nan))
            # One point more joins the two parts.
            assert np.array_equal(np.isfinite(grey[1])[1:], ~likely[1:] | (likely[1:] & ~np.append(likely[2:], True)))
        assert axes.get_yscale() == "log"
        low, high = axes.get_ylim()
        assert low < min(comparison.ratio.min() for comparison in comparisons) < 1.0 < high
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == [f"$\\delta$ = {delta:g}" for delta in (0.01, 0.05, 0.1, 0.2)]


def test_the_same_tail_of_one_epsilon_is_a_column_wide():
    comparison = epsilon_of_same_tail(1.0, 0.05, SIZES)
    figure = figures.plot_same_tail([comparison])
    assert figure.get_size_inches()[0] == style.COLUMN_WIDTH
    assert_curve(drawn(figure.axes[0])[1], SIZES, np.where(comparison.likely(), comparison.ratio, np.nan))
    assert figure.axes[0].get_ylabel() == "$\\varepsilon$, Gaussian : Laplace"


def test_dispersion_shows_the_ratio_and_the_three_edges():
    left, right = figures.plot_dispersion().axes
    for epsilon, (x, y) in zip((0.1, 1.0, 2.0), drawn(left), strict=True):
        assert np.array_equal(y, variance_ratio(epsilon, x))
    for kind, (x, y) in zip(("paper", "tight-pdp", "analytic"), drawn(right), strict=True):
        assert np.array_equal(y, delta_of_equal_variance(x, kind))
    assert any(line.get_ydata()[0] == LEMMA_DELTA for line in right.lines)
    assert legend_of(left) == ["$\\varepsilon$ = 0.1", "$\\varepsilon$ = 1", "$\\varepsilon$ = 2"]
    assert legend_of(right) == ["Gaussian of Lemma 10", "least for pDP", "least for aDP"]


def test_gaussian_bounds_are_drawn_for_the_middle_goal_and_ratios_for_all():
    records = [gaussian_bounds(epsilon, DELTAS) for epsilon in (0.2, 0.4, 0.8)]
    left, middle, right = figures.plot_gaussian_bounds(records).axes
    fields = ("classic", "paper", "tight_pdp", "analytic")
    for field, curve in zip(fields, drawn(left), strict=True):
        assert_curve(curve, DELTAS, getattr(records[1], field))
    for record, formulas, least in zip(records, drawn(middle), drawn(right), strict=True):
        assert_curve(formulas, DELTAS, record.paper_to_classic)
        assert_curve(least, DELTAS, record.tight_pdp_to_analytic)
    assert left.get_title(loc="left") == "Bounds at $\\varepsilon$ = 0.4"


def test_scales_and_standard_deviations_are_drawn_for_each_goal():
    records = [scales_by_order([1, 2, 3, 4], epsilon, 0.05) for epsilon in (0.5, 1.0)]
    left, right = figures.plot_scales(records).axes
    expected = [getattr(record, field) for record in records for field in ("paper", "pdp", "adp")]
    for scales, curve in zip(expected, drawn(left), strict=True):
        assert_curve(curve, records[0].orders, scales)
    for scales, curve in zip(expected, drawn(right), strict=True):
        assert_curve(curve, records[0].orders, records[0].std(scales))
    assert legend_of(left) == ["$\\varepsilon$ = 0.5, $\\delta$ = 0.05", "$\\varepsilon$ = 1, $\\delta$ = 0.05"]
    assert legend_of(right) == ["paper, pDP", "least, pDP", "least, aDP"]


def test_the_exponential_loss_is_drawn_below_the_nominal_epsilon():
    found = exponential_losses(np.linspace(1.0, 6.0, 11), 0.8, bounds=(0.0, 10.0))
    (axes,) = figures.plot_exponential_loss(found).axes
    curves = drawn(axes)
    for curve, values in zip(curves, (found.loss, found.weight_loss, found.normaliser_loss), strict=True):
        assert_curve(curve, found.orders, values)
    assert axes.get_ylim()[1] > 0.8
    assert axes.get_title(loc="left") == "Exponential mechanism on [0, 10], sensitivity 1"


def test_the_bounded_errors_are_drawn_side_by_side():
    found = bounded_errors(3, 1.0, (0.0, 10.0))
    figure = figures.plot_bounded_errors(found)
    for axes, field in zip(figure.axes, ("bias", "std", "rmse"), strict=True):
        cut, clamped = drawn(axes)
        assert_curve(cut, found.location, getattr(found.truncated, field))
        assert_curve(clamped, found.location, getattr(found.boundary_inflated, field))
        assert axes.get_xlabel() == "true value (unit of the query)"
    assert figure.axes[0].get_ylabel() == "error (unit of the query)"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: figures.plot_tails(tail_probabilities([1.0, 2.0], 0.05, 1.0)),
        lambda: figures.plot_tail_ratio([tail_probabilities(1.0, 0.05, 1.0)]),
        lambda: figures.plot_tail_ratio([tail_probabilities(1.0, 0.05, [])]),
        lambda: figures.plot_same_tail([epsilon_of_same_tail(1.0, [0.1, 0.2], [1.0, 2.0])]),
        lambda: figures.plot_gaussian_bounds([gaussian_bounds([0.1, 0.2], 0.1)]),
    ],
)
def test_what_is_no_curve_is_refused(wrong):
    with pytest.raises(ArgumentError):
        wrong()


SEVERAL = {
    "comparisons": [figures.plot_scales, figures.plot_tail_ratio, figures.plot_same_tail],
    "families": [figures.plot_densities],
    "bounds": [figures.plot_gaussian_bounds],
}
OF_SEVERAL = [(name, plot) for name, functions in SEVERAL.items() for plot in functions]
OF_ONE = [
    ("comparison", figures.plot_tails),
    ("comparison", figures.plot_exponential_loss),
    ("comparison", figures.plot_bounded_errors),
    ("plan", plot_plan),
]
SECRET = 31.4159


@pytest.mark.parametrize(("name", "plot"), [*OF_ONE, *OF_SEVERAL])
@pytest.mark.parametrize(
    "wrong",
    [SECRET, [SECRET, 2.0], np.array(SECRET), np.array([SECRET]), "31.4159", ["31.4159"], {SECRET: 1}],
    ids=repr,
)
def test_what_is_no_result_is_refused_by_its_type_alone(name, plot, wrong):
    with pytest.raises(ArgumentError, match=rf"^{name} = <class '[\w.]+'>: must be ") as refused:
        plot(wrong)
    assert "31.4159" not in str(refused.value)
    assert isinstance(refused.value.value, type)


@pytest.mark.parametrize("plot", [plot for _, plot in OF_ONE])
def test_nothing_is_no_result(plot):
    with pytest.raises(ArgumentError, match="NoneType"):
        plot(None)


@pytest.mark.parametrize(("name", "plot"), OF_SEVERAL)
def test_an_empty_sequence_is_refused_by_name(name, plot):
    with pytest.raises(ArgumentError, match=rf"^{name} = "):
        plot([])


def test_the_result_of_another_analysis_is_refused():
    tails, scales = tail_probabilities(1.0, 0.05, SIZES), scales_by_order([1, 2], 1.0, 0.05)
    with pytest.raises(ArgumentError, match=r"^comparisons = .*TailComparison'>: .* of type SameTail, or a sequence"):
        figures.plot_same_tail([epsilon_of_same_tail(1.0, 0.05, SIZES), tails])
    with pytest.raises(ArgumentError, match=r"^comparison = .*ScaleComparison'>: must be of type TailComparison"):
        figures.plot_tails(scales)


@pytest.mark.parametrize(
    ("plot", "one"),
    [
        (figures.plot_scales, lambda: scales_by_order([1, 2, 3], 1.0, 0.05)),
        (figures.plot_tail_ratio, lambda: tail_probabilities(1.0, 0.05, SIZES)),
        (figures.plot_same_tail, lambda: epsilon_of_same_tail(1.0, 0.05, SIZES)),
        (figures.plot_densities, lambda: densities_at_scale([1, 2], SIZES)),
        (figures.plot_gaussian_bounds, lambda: gaussian_bounds(0.5, DELTAS)),
    ],
)
def test_one_result_is_drawn_as_a_sequence_of_one(plot, one):
    alone, listed = (plot(results) for results in (one(), [one()]))
    assert len(alone.axes) == len(listed.axes)
    for single, panel in zip(alone.axes, listed.axes, strict=True):
        for curve, (x, y) in zip(drawn(single), drawn(panel), strict=True):
            assert_curve(curve, x, y)


@pytest.mark.parametrize("unit", [None, 3, ["years"]])
def test_a_unit_is_text(unit):
    with pytest.raises(ArgumentError, match=r"^unit = <class '\w+'>: must be of type str$"):
        plot_plan(plan(ApproxDP(1.0, 0.05), Sensitivity.histogram()), unit=unit)


def test_errors_of_the_plain_distance_are_drawn_next_to_the_others():
    left, right = figures.plot_plain_distance(DISTANCES).axes
    plain, near, far = (
        [one.rmse for one in WITHOUT if (one.mechanism, one.delta) == (name, delta) and one.order < np.inf]
        for name, delta in (("plain distance", 0.0), ("GG", 1e-6), ("GG", 0.01))
    )
    for found, errors in zip(drawn(left), (plain, near, far), strict=False):
        assert_curve(found, [1, 1.5, 2], errors)
    level = next(line for line in left.lines if list(line.get_xdata()) == [0, 1])
    assert set(level.get_ydata()) == {next(one.rmse for one in WITHOUT if one.order == np.inf)}
    keys = ("plain distance", 0.0, 2), ("plain distance", 0.0, np.inf), ("GG", 1e-6, 2), ("GG", 0.01, 2)
    keys = *keys, ("truncated GG", 0.0, 2), ("Exponential", 0.0, 2)
    for found, key in zip(drawn(right), keys, strict=True):
        errors = [one.rmse for one in WITHIN if (one.mechanism, one.delta, one.order) == key]
        assert_curve(found, [2.0, 10.0, 99.0], errors)
    assert right.get_title(loc="left") == "Within bounds, $p$ = 2"
    # The middle of the bounds, with the standard deviation of a uniform law.
    (constant,) = (line for line in right.lines if line.get_color() == style.FAINT)
    assert list(constant.get_ydata()) == pytest.approx([2 / 12**0.5, 99 / 12**0.5])
