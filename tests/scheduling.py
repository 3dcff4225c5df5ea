"""Which tests run in one process, and which of them start first.

The groups are those of a scheduler of our own (`tests/conftest.py`): pytest-xdist's ``--dist loadgroup`` writes them
into the names of tests, which pytest 9.2 does not let it change, and then every test is a group of its own.
"""

from __future__ import annotations

# Tests that share what takes long to build run in one process: a Spark session, a PostgreSQL server, mechanisms, a
# browser, a reproduction; and so do all tests of a file. A process has one Spark context, and tests use two: a session
# of ggdp's own and a cluster. Their groups start first, each in its own process. Where there is one process, the
# cluster takes the place of the session.
CLUSTER = "tests/sources/spark/"
SHARED = {
    "spark": lambda name: "spark" in name and CLUSTER not in name,
    "spark cluster": lambda name: CLUSTER in name,
    "conformance": lambda name: "tests/conformance/" in name or "tests/proofs/test_kernel.py" in name,
    "postgresql": lambda name: "postgresql" in name,
    "browser": lambda name: "tests/explorer/browser/" in name,
    "paper": lambda name: any(
        f"reproduction/tests/{part}" in name for part in ("test_claims", "test_report", "figures/")
    ),
}


def group_of(name: str) -> str:
    """The group of a test: one of those above, or its file."""
    shared = (group for group, has in SHARED.items() if has(name))
    return next(shared, name.partition("::")[0])


def place_of(name: str) -> int:
    """The place of a test's group: the largest start first, and the rest fills up the processes."""
    return list(SHARED).index(group) if (group := group_of(name)) in SHARED else len(SHARED)
