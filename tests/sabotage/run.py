"""Break ggdp in one place at a time, and demand that its tests notice: `python tests/sabotage/run.py`.

For each sabotage the source and the tests are copied to a temporary folder, one function is changed, and the tests
named with it run on the copy. They must fail, as tests (exit code 1): a copy that cannot be imported proves nothing.
First the same tests must pass on a copy without a change. Changed modules are written from their syntax trees, without
comments, and so they are in that copy.
"""

# ruff: noqa: T201 - a script that says what it found

import argparse
import ast
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.sabotage.sabotage import SOURCES, follow, parsed, sabotages  # noqa: E402 - needs the path above

COPIED = ("src", "reproduction", "tests", "pyproject.toml", "README.md")

PASSED, FAILED = 0, 1


def copied(folder):
    """Copy what the tests need."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.is_file():
            shutil.copy(source, folder / name)


def environment(folder):
    """The environment in which the copy is imported, whatever else is installed."""
    # Wide enough for how a test failed to stand behind its name.
    settings = {"PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "400", "HYPOTHESIS_PROFILE": "many"}
    return {**os.environ, "PYTHONPATH": os.pathsep.join(str(folder / source) for source in SOURCES), **settings}


def require_own_source(folder):
    """Check that tests in a folder import its own copy of the source."""
    code = "import ggdp; print(ggdp.__file__)"
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment(folder), capture_output=True, text=True, check=True
    )
    path = Path(found.stdout.strip()).resolve()
    if not path.is_relative_to(folder.resolve()):
        message = f"the copy in {folder} was not imported, but {path}"
        raise RuntimeError(message)


def tested(folder, tests):
    """Run tests on the copy in a folder; return pytest's exit code and its last lines."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=folder, env=environment(folder), capture_output=True, text=True, check=False)
    return done.returncode, done.stdout[-3000:] + done.stderr[-1000:]


def failure(output):
    """Return in a line how a test failed."""
    lines = [line for line in output.splitlines() if line.startswith("FAILED ")]
    return lines[0].partition(" - ")[2][:60] if lines else ""


def tried(sabotage, file, text):
    """Return whether the tests notice a changed file, how long that took, and what pytest said."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="sabotage-") as name:
        folder = Path(name)
        copied(folder)
        (folder / file).write_text(text, "utf-8")
        require_own_source(folder)
        code, output = tested(folder, sabotage.node_ids())
    said = failure(output) if code == FAILED else f"pytest exits with {code}\n{output}"
    return code == FAILED, time.monotonic() - begun, said


def untouched(chosen, files):
    """Return pytest's exit code on a copy without a change, and what it said."""
    with tempfile.TemporaryDirectory(prefix="sabotage-") as name:
        folder = Path(name)
        copied(folder)
        for file in files:
            (folder / file).write_text(ast.unparse(parsed(file)), "utf-8")
        require_own_source(folder)
        return tested(folder, sorted({test for sabotage in chosen for test in sabotage.node_ids()}))


def main():
    """Run the sabotages that were asked for; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--follow", action="store_true", help="only follow functions that were renamed or inlined")
    parser.add_argument("--list", action="store_true", help="only list them")
    parser.add_argument(
        "-k", dest="words", nargs="+", default=[], help="only those with these words in their name or function"
    )
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (2)")
    asked = parser.parse_args()
    if asked.follow:
        print(*follow(), sep="\n")
        return PASSED
    chosen = [
        sabotage
        for sabotage in sabotages()
        if all(word in f"{sabotage.name} {sabotage.function}" for word in asked.words)
    ]
    if not chosen:
        parser.error(f"no sabotage has {' and '.join(asked.words)} in its name")
    if asked.list:
        for sabotage in chosen:
            print(f"{sabotage.name:<58} {sabotage.function}")
        return PASSED
    changes = [sabotage.applied() for sabotage in chosen]
    code, output = untouched(chosen, {file for file, _ in changes})
    if code != PASSED:
        print(f"the tests do not pass on the source as it is: pytest exits with {code}\n{output}")
        return FAILED
    print(f"{output.strip().splitlines()[-1]} on the source as it is")
    survived = []
    with ThreadPoolExecutor(asked.jobs) as pool:
        results = pool.map(tried, chosen, *zip(*changes, strict=True))
        for sabotage, (noticed, seconds, said) in zip(chosen, results, strict=True):
            how = f"noticed   {said}" if noticed else "SURVIVED"
            print(f"{seconds:5.1f} s  {sabotage.name:<58} {how}", flush=True)
            if not noticed:
                survived.append(f"{sabotage.name}: {said}")
    print(f"{len(chosen) - len(survived)} of {len(chosen)} sabotages were noticed")
    print(*survived, sep="\n\n")
    return FAILED if survived else PASSED


if __name__ == "__main__":
    sys.exit(main())
