"""Break ggdp in one place at a time, and demand that its tests notice: `python tests/sabotage/run.py`.

The source and the tests are copied to a temporary folder, where all tests that are named must pass. For each sabotage
that folder is copied, with its bytecode, one function is changed, and the tests named with it run on the copy. They
must fail, as tests (exit code 1): a copy that cannot be imported proves nothing. Changed modules are written from their
syntax trees, without comments, and so they are in the first folder.
"""

# ruff: noqa: T201 - a script that says what it found

import argparse
import ast
import functools
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
# So many tests are over before further processes would have started.
FEW = 50


def copied(folder, files):
    """Copy what the tests need, with some modules as they are written from their syntax trees."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.is_file():
            shutil.copy(source, folder / name)
    for file in files:
        (folder / file).write_text(ast.unparse(parsed(file)), "utf-8")


def environment(folder, **more):
    """The environment in which the copy is imported, whatever else is installed."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    # Wide enough for how a test failed to stand behind its name.
    settings = {"COLUMNS": "400", "HYPOTHESIS_PROFILE": "many", **more}
    return {**inherited, "PYTHONPATH": os.pathsep.join(str(folder / source) for source in SOURCES), **settings}


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


def run_tests(folder, tests, processes=0, **more):
    """Run tests on the copy in a folder; return pytest's exit code and its last lines."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", str(processes), "-p", "no:cacheprovider", *tests]
    done = subprocess.run(
        command, cwd=folder, env=environment(folder, **more), capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout[-3000:] + done.stderr[-1000:]


def failure(output):
    """Return in a line how a test failed."""
    lines = [line for line in output.splitlines() if line.startswith("FAILED ")]
    return lines[0].partition(" - ")[2][:60] if lines else ""


def tried(whole, sabotage, file, text):
    """Return whether the tests notice a changed file, how long that took, and what pytest said."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="sabotage-") as name:
        folder = Path(name) / "copy"
        # Times of files are kept, by which Python finds that all bytecode but that of the changed file is current.
        shutil.copytree(whole, folder)
        (folder / file).write_text(text, "utf-8")
        code, output = run_tests(folder, sabotage.node_ids(), PYTHONDONTWRITEBYTECODE="1")
    said = failure(output) if code == FAILED else f"pytest exits with {code}\n{output}"
    return code == FAILED, time.monotonic() - begun, said


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
    survived = []
    with tempfile.TemporaryDirectory(prefix="sabotage-") as name, ThreadPoolExecutor(asked.jobs) as pool:
        whole = Path(name)
        copied(whole, {file for file, _ in changes})
        require_own_source(whole)
        named = sorted({test for sabotage in chosen for test in sabotage.node_ids()})
        code, output = run_tests(whole, named, asked.jobs if len(named) > FEW else 0)
        if code != PASSED:
            print(f"the tests do not pass on the source as it is: pytest exits with {code}\n{output}")
            return FAILED
        print(f"{output.strip().splitlines()[-1]} on the source as it is")
        results = pool.map(functools.partial(tried, whole), chosen, *zip(*changes, strict=True))
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
