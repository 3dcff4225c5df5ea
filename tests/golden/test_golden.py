"""What ggdp computes, publishes and prints is what the golden files hold; make.py says how they are made."""

import copy
import importlib.metadata
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.golden.fixed_world import environment
from tests.golden.make import SLOW, SUBJECTS, first_difference, golden, golden_file, written

MAKE = Path(__file__).with_name("make.py")
CONSTRAINTS = Path(__file__).parents[2] / "constraints.txt"


def other_versions():
    """Return the libraries whose versions are not those of constraints.txt, which the golden files were made with."""
    pinned = re.findall(r"^([A-Za-z0-9_.-]+)==([^\s;]+)", CONSTRAINTS.read_text("utf-8"), re.MULTILINE)
    installed = {name: importlib.metadata.version(name) for name, _ in pinned if _is_installed(name)}
    return [name for name, version in pinned if installed.get(name, version) != version]


def _is_installed(name):
    return any(importlib.metadata.distributions(name=name))


def check(*words):
    """Compare in a process of its own, which fixes randomness, time and versions before ggdp is imported."""
    done = subprocess.run([sys.executable, str(MAKE), "--check", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"


pytestmark = pytest.mark.skipif(bool(other_versions()), reason=f"other versions than those pinned: {other_versions()}")


@pytest.mark.parametrize("subject", SUBJECTS)
def test_nothing_has_changed(subject):
    check("--part", "fast", subject)


@pytest.mark.exhaustive
@pytest.mark.parametrize("subject", SUBJECTS)
def test_nothing_has_changed_in_slow_cases(subject):
    check("--part", "slow", subject)


def test_numpy_computes_as_on_processors_without_avx_512():
    code = "from numpy.lib import introspect; print(introspect.opt_func_info())"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True)
    used = set(re.findall(r"'current': '([^']*)'", done.stdout))
    assert used
    assert not [target for target in used if target == "X86_V4" or target.startswith("AVX512")]


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_golden_file_is_written_as_it_reads(subject):
    assert written(golden(subject)) == golden_file(subject).read_text("utf-8")


def test_slow_cases_are_cases():
    for subject, names in json.loads(SLOW.read_text("utf-8")).items():
        assert set(names) < set(golden(subject)), subject


def leaves(value, path=()):
    """Yield the path of every number and text."""
    if isinstance(value, dict | list):
        for name in value if isinstance(value, dict) else range(len(value)):
            yield from leaves(value[name], (*path, name))
    else:
        yield path


def changed(value):
    """Return a value that is as near as can be."""
    if isinstance(value, bool) or value is None:
        return 0
    if isinstance(value, str):
        return value + " "
    return value + 1 if isinstance(value, int) else value * (1 + 2**-52) or -0.0


@pytest.mark.parametrize("subject", SUBJECTS)
def test_every_small_change_is_noticed(subject):
    for name, case in list(golden(subject).items())[::17]:
        assert first_difference(case, case) is None
        if isinstance(case, str):
            assert first_difference(case, changed(case)), name
            continue
        for path in leaves(case):
            other = copy.deepcopy(case)
            *above, last = path
            place = other
            for step in above:
                place = place[step]
            place[last] = changed(place[last])
            assert first_difference(case, other), (name, path)


def test_a_case_that_is_missing_or_new_is_noticed():
    case = {"a": [1, 2], "b": {}}
    assert "is missing" in first_difference(case, {"a": [1, 2]})
    assert "is new" in first_difference({"a": [1, 2]}, case)
    assert "items" in first_difference(case, {"a": [1], "b": {}})
    assert "order" in first_difference(case, {"b": {}, "a": [1, 2]})
