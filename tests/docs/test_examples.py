"""The Python examples of the pages run as they stand."""

import doctest
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


def sessions():
    """Return a case for each page with examples: its blocks, joined, under its name."""
    cases = []
    for page in sorted(DOCS.rglob("*.md")):
        blocks = [block for block in BLOCK.findall(page.read_text(encoding="utf-8")) if ">>>" in block]
        if blocks:
            cases.append(pytest.param("\n".join(blocks), id=str(page.relative_to(DOCS))))
    return cases


def failures(session, name):
    test = doctest.DocTestParser().get_doctest(session, {}, name, None, 0)
    messages = []
    result = doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=messages.append)
    assert result.attempted > 0
    return messages


@pytest.mark.parametrize("session", sessions())
def test_the_examples_of_a_page_give_what_they_show(session, request):
    assert failures(session, request.node.name) == []


def test_a_wrong_example_is_noticed():
    assert failures(">>> 1 + 1\n3\n", "wrong") != []


def test_the_start_page_has_an_example():
    assert "index.md" in {case.id for case in sessions()}
