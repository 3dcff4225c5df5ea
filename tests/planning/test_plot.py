import builtins

import pytest

import ggdp
from ggdp.planning import plan
from ggdp.plots.noise_figures import plot_plan


def labels(figure):
    return [text.get_text() for text in figure.axes[0].get_legend().get_texts()]


def test_the_marks_stand_at_the_choices_and_the_legend_says_their_errors():
    found = plan(ggdp.ApproxDP(1.0, 0.05), ggdp.Sensitivity.histogram())
    figure = plot_plan(found, unit="persons")
    axes = figure.axes[0]
    marks = {line.get_label(): (line.get_xdata()[0], line.get_ydata()[0]) for line in axes.lines[1:]}
    assert marks == {
        "Laplace: 1.283 (order 1)": (1.0, found.alternatives[0].error),
        "Gaussian: 1.333 (order 2)": (2.0, found.alternatives[1].error),
        "best: 1.198 (order 1.27)": (1.27, found.best.error),
    }
    assert labels(figure) == list(marks)
    assert list(axes.lines[0].get_xydata().ravel()) == [value for point in found.curve for value in point]
    assert axes.get_ylabel() == "error (persons)"
    low, high = axes.get_ylim()
    assert all(low < choice.error < high for choice in found.choices)


def test_the_figure_is_as_wide_as_a_column_with_a_logarithmic_axis_of_plain_numbers():
    figure = plot_plan(plan(ggdp.ApproxDP(0.1, 0.1), ggdp.Sensitivity.histogram()))
    figure.draw_without_rendering()
    axes = figure.axes[0]
    assert figure.get_size_inches()[0] == 3.5
    assert axes.get_xscale() == "log"
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "2", "5", "10", "20", "50"]


def test_a_plan_without_a_choice_is_drawn_too():
    figure = plot_plan(plan(ggdp.PureDP(1.0), ggdp.Sensitivity.histogram()))
    figure.draw_without_rendering()
    assert labels(figure) == ["Laplace: 1.414 (order 1)", "best: 1.414 (order 1)"]


def test_errors_that_are_all_zero_are_drawn_too():
    query = ggdp.Sensitivity.histogram()
    figure = plot_plan(plan(ggdp.ApproxDP(5.0, 0.001), query, "quantile", level=0.5, support="integer"))
    figure.draw_without_rendering()
    assert figure.axes[0].get_ylim() == (-0.12, 1.0)


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    importing = builtins.__import__

    def missing(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return importing(name, *rest)

    found = plan(ggdp.PureDP(1.0), ggdp.Sensitivity.histogram())
    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ggdp.errors.MissingExtraError, match=r"ggdp\[plots\]"):
        plot_plan(found)
