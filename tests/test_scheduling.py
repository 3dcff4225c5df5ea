import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.scheduling import group_of, place_of

ROOT = Path(__file__).parents[1]
SPARK = "tests/sources/spark/test_counting.py::test_open_keys_are_the_same_on_spark"


@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("tests/test_cases.py::test_a[x::y]", "tests/test_cases.py"),
        (SPARK, "spark cluster"),
        ("tests/tables/test_side_door.py::test_a[spark]", "spark"),
        ("tests/ledger/test_kills.py::test_a[postgresql-publish]", "postgresql"),
        ("reproduction/tests/test_report.py::test_a", "paper"),
        ("tests/explorer/browser/test_page.py::test_a", "browser"),
        ("reproduction/tests/comparisons/test_tails.py::test_a", "reproduction/tests/comparisons/test_tails.py"),
    ],
)
def test_a_group_is_what_tests_share_or_their_file(name, group):
    assert group_of(name) == group


def test_groups_that_share_much_start_first():
    names = ["tests/test_cases.py::test_a", "reproduction/tests/test_report.py::test_a", SPARK]
    assert sorted(names, key=place_of) == names[::-1]


def test_without_xdist_tests_run_in_one_process():
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", "tests/test_cases.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


@pytest.mark.exhaustive
def test_the_tests_of_a_file_run_in_one_process_and_files_in_several():
    files = ["tests/test_cases.py", "tests/test_rounding.py"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-n", "2", "-p", "no:cacheprovider", *files],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    workers = {}
    for worker, file in re.findall(r"^\[(gw\d)\].* PASSED (\S+?)::", done.stdout, re.MULTILINE):
        workers.setdefault(file, set()).add(worker)
    assert sorted(workers) == files
    assert sorted(len(found) for found in workers.values()) == [1, 1]
    assert len(set().union(*workers.values())) == 2
