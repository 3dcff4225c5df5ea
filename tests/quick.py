"""Check style, types and the tests of one subject, or of what changed, in half a minute: ``make quick SUBJECT=ledger``.

A subject is a part of the path of tests and modules. Without one, the tests are those of the files that differ from
the branch `main`: changed tests first, then tests that name a changed module, then all tests of its package.

Style and types are checked while the tests run, which takes both cores of a small machine. Tests that were fast the
last time are preferred; those that do not fit into the time are left out and counted. pytest's cache keeps the times.
"""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.scheduling import place_of  # noqa: E402 - needs the path above

BIN = Path(sys.executable).parent
SECONDS = 20.0
# Tests run for at least this many seconds, however long it took to find them.
LEAST = 6.0
SOURCES = ("src", "reproduction/src")
TESTS = ("tests", "reproduction/tests")
CHECKS = (["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"], ["lint-imports", "--no-cache"])
NEVER_RUN = 0.02
LAST = 3


def git(*arguments: str) -> list[str]:
    """Return the lines that git prints; none where it fails."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


def changed_files() -> list[str]:
    """Return the files that differ from the branch `main`, committed or not."""
    bases = (git("merge-base", "HEAD", branch) for branch in ("main", "origin/main"))
    base = next((found[0] for found in bases if found), "HEAD")
    names = git("diff", "--name-only", base) + git("ls-files", "--others", "--exclude-standard")
    return [name for name in names if (ROOT / name).exists()]


def python_files(folders: tuple[str, ...]) -> list[str]:
    """Return the modules in some folders of the project."""
    return [str(path.relative_to(ROOT)) for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def is_test(file: str) -> bool:
    """Whether a file has tests."""
    return re.search(r"(^|/)test_\w+\.py$", file) is not None


def files_of_subject(subject: str) -> dict[str, int]:
    """Return the files with tests or examples of a subject; first those in a folder of its name."""
    tests = [file for file in python_files(TESTS) if is_test(file) and subject in file.partition("/")[2]]
    modules = [file for file in python_files(SOURCES) if subject in file.partition("/ggdp")[2]]
    return {file: 0 if f"/{subject}/" in file else 1 for file in tests + modules}


def files_of_changes(changed: list[str]) -> dict[str, int]:
    """Return the files with tests or examples of changed files, each with a rank: how close it is to a change."""
    tests = [file for file in python_files(TESTS) if is_test(file)]
    ranks = {file: 0 for file in changed if is_test(file)}
    modules = [file for file in changed if file.endswith(".py") and file.startswith(SOURCES)]
    for module in modules:
        parts = Path(module).with_suffix("").parts
        package = parts[parts.index("src") + 1 : -1]
        name = parts[-1].lstrip("_")
        naming = re.compile(
            rf"\b{'.'.join((*package, parts[-1]))}\b|\bfrom {'.'.join(package)} import .*\b{parts[-1]}\b"
        )
        ranks.setdefault(module, 0)
        for test in tests:
            if Path(test).stem == f"test_{name}" or naming.search((ROOT / test).read_text("utf-8")):
                ranks.setdefault(test, 1)
    folders = {f"tests/{package[1]}/" for module in modules if len(package := Path(module).parts[1:-1]) > 1}
    folders |= {str(Path(file).parent) + "/" for file in changed if file.startswith(TESTS) and not is_test(file)}
    folders |= {"tests/docs/" for file in changed if file.endswith(".md")}
    folders |= {"tests/sabotage/" for _ in modules}
    for test in tests:
        if test.startswith(tuple(folders)):
            ranks.setdefault(test, 2)
    return ranks


class Limited:
    """A plugin that prefers tests of a low rank, and then the fastest, and runs them for as long as there is time."""

    def __init__(self, ranks: dict[str, int], until: float) -> None:
        self.ranks = ranks
        self.until = until
        self.times: dict[str, float] = {}
        self.left_out = 0
        self.found = 0
        self.late = False

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Choose the tests that fit into the time, and order them."""
        known = config.cache.get("quick/times", {}) if config.cache else {}
        times = {item.nodeid: known.get(item.nodeid, NEVER_RUN) for item in items}
        ranks = {item.nodeid: self.ranks.get(item.nodeid.partition("::")[0], LAST) for item in items}
        self.until = max(self.until, time.monotonic() + LEAST)
        self.found, left = len(items), self.until - time.monotonic()
        chosen = set()
        for name in sorted(times, key=lambda name: (ranks[name], times[name], -place_of(name))):
            left -= times[name]
            if left > 0.0:
                chosen.add(name)
        dropped = [item for item in items if item.nodeid not in chosen]
        config.hook.pytest_deselected(items=dropped)
        self.left_out = len(dropped)
        # Tests of one module stay together, since they share what they set up.
        items[:] = [item for item in items if item.nodeid in chosen]
        items.sort(key=lambda item: (ranks[item.nodeid], -place_of(item.nodeid)))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """Leave out what there is no time for."""
        if time.monotonic() > self.until:
            self.left_out += 1
            self.late = True
            pytest.skip("no time is left")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep how long a test took, with what it had to set up."""
        if not self.late:
            self.times[report.nodeid] = self.times.get(report.nodeid, 0.0) + report.duration

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the times down."""
        if session.config.cache:
            known = session.config.cache.get("quick/times", {})
            session.config.cache.set("quick/times", {**known, **self.times})


def check(failed: list[str]) -> None:
    """Run the checks, and add what those that fail print."""
    for command in CHECKS:
        done = subprocess.run([BIN / command[0], *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            failed.append(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def main() -> int:
    """Run the checks and the tests; return the exit code."""
    begun = time.monotonic()
    subject = sys.argv[1] if len(sys.argv) > 1 else ""
    ranks = files_of_subject(subject) if subject else files_of_changes(changed_files())
    if subject and not ranks:
        print(f"no test and no module has {subject!r} in its path")
        return 2
    failed: list[str] = []
    checking = threading.Thread(target=check, args=(failed,))
    checking.start()
    plugin = Limited(ranks, begun + SECONDS)
    code = 0
    if ranks:
        code = int(pytest.main(["-q", "-m", "not exhaustive", "--rootdir", str(ROOT), *ranks], plugins=[plugin]))
    checking.join()
    print(*failed, sep="\n")
    print(f"{len(CHECKS) - len(failed)} of {len(CHECKS)} checks of style, types and imports passed")
    if not ranks:
        print("nothing that has tests differs from the branch main: name a subject, as in `make quick SUBJECT=ledger`")
    print(f"{plugin.found - plugin.left_out} of {plugin.found} tests ran; {time.monotonic() - begun:.0f} s")
    # No test of a subject is no failure: its files may have examples only.
    return 1 if failed else 0 if code == pytest.ExitCode.NO_TESTS_COLLECTED else code


if __name__ == "__main__":
    sys.exit(main())
