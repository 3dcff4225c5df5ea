"""The numbers that the pages print, read from the pages themselves.

A number that a test stands behind is marked on its page as ``[2.3946]{#variance-ratio}``.
"""

import re
from decimal import Decimal
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
MARKED = re.compile(r"\[([^\[\]]+)\]\{#([a-z0-9-]+)\}")


def marked_numbers(text):
    """Return {mark: number as printed}; a mark may stand once only."""
    numbers = {}
    for printed, mark in MARKED.findall(text):
        assert mark not in numbers, f"{mark} is marked twice"
        numbers[mark] = Decimal(printed)
    return numbers


def rounds_to(value, printed):
    """Return whether a value, rounded to the printed digits, is what is printed."""
    half_a_unit = Decimal(1).scaleb(printed.as_tuple().exponent) / 2
    return abs(Decimal(repr(float(value))) - printed) <= half_a_unit


@pytest.fixture
def read_marks():
    return marked_numbers


@pytest.fixture
def rounding():
    return rounds_to


@pytest.fixture(scope="module")
def printed(request):
    """The numbers of the module's pages."""
    return marked_numbers("\n".join((DOCS / page).read_text(encoding="utf-8") for page in request.module.PAGES))


@pytest.fixture
def says(printed):
    """Assert that the page prints a value, rounded to the digits that it prints."""

    def check(mark, value):
        assert rounds_to(value, printed[mark]), f"{mark}: the page says {printed[mark]}, it is {float(value)!r}"

    return check


@pytest.fixture(scope="module")
def untested(request, printed):
    """The marks of the module's pages that its source does not mention."""
    source = Path(request.module.__file__).read_text(encoding="utf-8")
    return {mark for mark in printed if f'"{mark}"' not in source}
