"""Hypothesis draws the same examples in every run, unless HYPOTHESIS_PROFILE=fresh asks for new ones.

Tests search for every calibration themselves: the cache of certificates is switched off.
"""

import os

import pytest
from hypothesis import settings

os.environ["GGDP_CACHE"] = "off"
settings.register_profile("repeated", deadline=None, derandomize=True)
settings.register_profile("fresh", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeated"))

# Tests that share what takes long to build run in one process: a Spark session, mechanisms, a reproduction.
SHARED = {
    "spark": ("spark",),
    "conformance": ("tests/conformance/", "tests/proofs/test_kernel.py"),
    "paper": ("tests/paper/claims/", "tests/paper/figures/", "tests/paper/report/"),
}


def pytest_collection_modifyitems(items):
    """Mark the groups of tests that share something, and let them start first: the rest fills up the other process."""
    places = {name: place for place, name in enumerate(SHARED)}

    def group_of(item):
        return next((name for name, parts in SHARED.items() if any(part in item.nodeid for part in parts)), None)

    for item in items:
        if (group := group_of(item)) is not None:
            item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=lambda item: places.get(group_of(item), len(places)))
