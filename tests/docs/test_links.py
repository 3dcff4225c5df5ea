"""Links between the pages lead to pages and headings that exist, and all pages are wrapped alike."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WRAP = runpy.run_path(str(ROOT / "docs" / "wrap.py"))
PAGES = WRAP["pages"]()
FENCE = re.compile(r"^(`{3,})(\{?)")
LINK = re.compile(r"\]\(([^()\s]*)\)|^\[[^\]]+\]: (\S+)$", re.MULTILINE)
HEADING = re.compile(r"^#{1,3} (.+)$", re.MULTILINE)
MARK = re.compile(r"\{#([\w-]+)\}|^\(([\w-]+)\)=$", re.MULTILINE)


def prose(text):
    """Return a page without its examples; what directives contain is prose."""
    kept, closing, example = [], "", False
    for line in text.splitlines():
        if closing:
            if line == closing:
                closing = ""
            elif not example:
                kept.append(line)
        elif fence := FENCE.match(line):
            closing, example = fence[1], not fence[2]
        else:
            kept.append(line)
    return "\n".join(kept)


def links(text):
    """Return the targets of the links of a page, but for those in examples."""
    found = (first or second for first, second in LINK.findall(prose(text)))
    return [target for target in found if not target.startswith(("http:", "https:"))]


def anchors(text):
    """Return the anchors of a page, as MyST and GitHub make them from headings, and its marks."""
    page = prose(text)
    names = {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in HEADING.findall(page)}
    return names | {first or second for first, second in MARK.findall(page)}


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
    page = "```sh\na](b.md)\n```\n[c](d.md)\n```{note}\n[e](f.md)\n```\n[g]: h.md\n[i](https://example.org)\n"
    assert links(page) == ["d.md", "f.md", "h.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_is_wrapped(page):
    text = page.read_text("utf-8")
    assert [line for line in text.splitlines() if len(line) > WRAP["WIDTH"]] == []
    assert WRAP["wrapped"](text) == text, "run python docs/wrap.py"


@pytest.mark.parametrize("pattern", ["docs/*.bib", "src/**/*.css", "src/**/*.js", "Makefile", "pyproject.toml"])
def test_no_line_of_other_sources_is_longer_than_those_of_the_pages(pattern):
    found = list(ROOT.glob(pattern))
    assert found
    lines = [(file.name, line) for file in found for line in file.read_text("utf-8").splitlines()]
    assert [(name, line) for name, line in lines if len(line) > WRAP["WIDTH"]] == []


def test_wrapping_breaks_no_code_formula_or_list():
    word, width = "word " * 23, WRAP["WIDTH"]
    assert WRAP["wrapped"](f"{word}`a b c`\n") == f"{word}\n`a b c`\n".replace(" \n", "\n")
    assert WRAP["wrapped"](f"{word}$a + b$\n") == f"{word}\n$a + b$\n".replace(" \n", "\n")
    assert WRAP["wrapped"](f"- {word}over the end\n") == f"- {word}\n  over the end\n".replace(" \n", "\n")
    assert max(map(len, WRAP["wrapped"](f"{word * 9}\n").splitlines())) <= width
    # A number, a dash or a hash would begin a list or a heading: it takes the word before it along.
    for opener in ("1.", "-", "#", "+"):
        assert WRAP["wrapped"](f"{word}word {opener} tail\n").splitlines()[1] == f"word {opener} tail"
    for kept in (
        "```sh\na\nb\n```\n",
        "| a |\n|---|\n",
        "$$\na\nb\n$$\n",
        "# a\nb\n",
        "- a\n- b\n",
        "[a]: b\n[c]: d\n",
    ):
        assert WRAP["wrapped"](kept) == kept
    assert WRAP["wrapped"]("a\nb\n") == "a b\n"
