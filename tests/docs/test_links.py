"""Links between the pages lead to pages and headings that exist, and no line of a page is too long."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILT = (ROOT / "docs" / "_build", ROOT / "docs" / "reference" / "api")
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if not any(page.is_relative_to(b) for b in BUILT)),
]
FENCE = re.compile(r"^(`{3,})(?!\{).*?^\1$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^()\s]*)\)")
HEADING = re.compile(r"^#{1,3} (.+)$", re.MULTILINE)
MARK = re.compile(r"\{#([\w-]+)\}|^\(([\w-]+)\)=$", re.MULTILINE)
LONGEST = 120


def links(text):
    """Return the targets of the links of a page, but for those in examples."""
    return [target for target in LINK.findall(FENCE.sub("", text)) if not target.startswith(("http:", "https:"))]


def anchors(text):
    """Return the anchors of a page, as MyST and GitHub make them from headings, and its marks."""
    prose = FENCE.sub("", text)
    names = {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in HEADING.findall(prose)}
    return names | {first or second for first, second in MARK.findall(prose)}


def dead_links(page, text):
    """Return the links of a page that lead nowhere."""
    found = []
    for target in links(text):
        name, _, anchor = target.partition("#")
        there = page.parent / name if name else page
        if not there.exists() or (anchor and anchor not in anchors(there.read_text("utf-8") if name else text)):
            found.append(target)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    assert dead_links(page, page.read_text("utf-8")) == []


@pytest.mark.parametrize("target", ["nowhere.md", "README.md#nowhere", "#nowhere", "docs/nowhere"])
def test_a_dead_link_is_noticed(target):
    page = ROOT / "CONTRIBUTING.md"
    assert dead_links(page, f"# Title\n\n[one]({target}), [two](README.md#ggdp), [three](#title)\n") == [target]


def test_examples_have_no_links():
    assert links("```sh\na](b.md)\n```\n[c](d.md)\n```{note}\n[e](f.md)\n```\n") == ["d.md", "f.md"]
