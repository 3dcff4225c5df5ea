"""The page on the page: its numbers, its pictures, and the views that it lists."""

import re
from pathlib import Path

import ggdp
from ggdp.explorer.uploads import LARGEST
from ggdp.explorer.views import VIEWS
from ggdp.privacy.beliefs import belief

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"
PAGE = (HOW_TO / "explore.md").read_text(encoding="utf-8")


def test_the_belief_is_that_of_epsilon_1(read_marks):
    (shown,) = read_marks(PAGE).values()
    exact = 100.0 * belief(ggdp.ApproxDP(1.0, 1e-6), 0.1).highest
    assert exact <= float(shown) < exact + 0.1


def test_every_view_is_described_and_no_other():
    assert re.findall(r"^\* - ([A-Z].+)$", PAGE, re.MULTILINE) == [view.title for view in VIEWS]


def test_pictures_are_there_and_described():
    found = re.findall(r"!\[([^]]+)\]\((.+?)\)", PAGE)
    assert len(found) >= 2
    for words, file in found:
        assert len(words.split()) > 5
        assert (HOW_TO / file).is_file()


def test_the_largest_upload_is_as_said():
    assert f"up to {LARGEST // 2**20} MB" in PAGE
