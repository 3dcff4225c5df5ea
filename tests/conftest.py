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

# Tests that share what takes long to build run in one process: a Spark session, a PostgreSQL server, mechanisms, a
# reproduction; and so do all tests of a file. A process has one Spark context, and tests use two: a session of ggdp's
# own and a cluster. Their groups start first, each in its own process. Where there is one process, the cluster takes
# the place of the session.
CLUSTER = "tests/tables/engines/spark/"
SHARED = {
    "spark": lambda name: "spark" in name and CLUSTER not in name,
    "spark cluster": lambda name: CLUSTER in name,
    "conformance": lambda name: "tests/conformance/" in name or "tests/proofs/test_kernel.py" in name,
    "postgresql": lambda name: "postgresql" in name,
    "paper": lambda name: any(f"tests/paper/{part}/" in name for part in ("claims", "figures", "report")),
}

# Examples that run a large part of the paper for many seconds; tests/paper checks the same functions every time.
SLOW_EXAMPLES = {
    "ggdp.paper.reproduction.reproduce",
    "ggdp.paper.experiments.lower_bounds.lower_bounds",
    "ggdp.paper.figures.theory.theory_drawings",
}


# First: `-m` is applied to the marks that items have by then.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark the groups of tests that share something, and let the largest start first: the rest fills up the others."""
    places = {name: place for place, name in enumerate(SHARED)}

    def group_of(item):
        shared = (name for name, has in SHARED.items() if has(item.nodeid))
        return next(shared, item.nodeid.partition("::")[0])

    for item in items:
        item.add_marker(pytest.mark.xdist_group(group_of(item)))
        if item.name in SLOW_EXAMPLES:
            item.add_marker(pytest.mark.exhaustive)
    items.sort(key=lambda item: places.get(group_of(item), len(places)))


def pytest_terminal_summary(terminalreporter):
    """Show what tests have counted, such as the writers that were killed and the edits that were found."""
    for report in terminalreporter.getreports("passed"):
        for name, counts in report.user_properties:
            if name == "counts":
                terminalreporter.write_line(f"{report.nodeid.rpartition('::')[2]}: {counts}")
