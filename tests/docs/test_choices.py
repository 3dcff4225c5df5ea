"""The numbers of the page on choosing epsilon, delta, order and neighbours, and its pictures."""

import runpy
from pathlib import Path

import pytest

PAGES = ("how-to/choose-epsilon.md",)
DRAWN = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "draw_figures.py"))


@pytest.mark.parametrize("prior", [1, 10, 50])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 2, 5])
def test_what_an_attacker_believes_afterwards(prior, epsilon, says):
    mark = f"after-{prior}-{str(epsilon).replace('.', '')}"
    says(mark, 100 * DRAWN["posterior"](prior / 100, epsilon))


def test_the_errors_of_other_orders(says):
    plan = DRAWN["ten_cells"]()
    errors = {choice.name: choice.error for choice in plan.alternatives}
    says("order-laplace", errors["laplace"] / plan.best.error)
    says("order-gaussian", errors["gaussian"] / plan.best.error)


def test_what_neighbours_cost(says):
    says("plus-minus-add-remove", DRAWN["plus_minus"](1.0, 1))
    says("plus-minus-replace-one", DRAWN["plus_minus"](1.0, 1, "replace-one"))


def test_every_number_on_the_page_has_a_test(untested):
    assert {mark for mark in untested if not mark.startswith("after-")} == set()


def test_the_picture_of_the_readme_is_that_of_the_script():
    drawn = (Path(__file__).parents[2] / "docs" / "_static" / "readme.svg").read_text("utf-8")
    titles = [axes.get_title(loc="left") for axes in DRAWN["draw_readme"]().axes]
    assert len(titles) == 3
    assert all(f"<!-- {title} -->" in drawn for title in titles)
