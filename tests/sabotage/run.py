"""Break ggdp in one place at a time, and demand that its tests notice: `python tests/sabotage/run.py`.

For each sabotage the source and the tests are copied to a temporary folder, one text is replaced, and the tests named
with it run on the copy. They must fail, as tests (exit code 1): a copy that cannot be imported proves nothing. First
the same tests must pass on a copy as it is.
"""

# ruff: noqa: T201 - a script that says what it found

import argparse
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

from tests.sabotage.sabotages import SABOTAGES  # noqa: E402 - found from where the script stands, not from where it runs

COPIED = ("src", "tests", "pyproject.toml", "README.md")

PASSED, FAILED = 0, 1


def copied(folder):
    """Copy what the tests need."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)


def environment(folder):
    """The environment in which the copy is imported, whatever else is installed."""
    # Wide enough for how a test failed to stand behind its name.
    settings = {"PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "400", "HYPOTHESIS_PROFILE": "many"}
    return {**os.environ, "PYTHONPATH": str(folder / "src"), **settings}


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


def tried(sabotage):
    """Return whether the tests notice a sabotage, how long that took, and what pytest said."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="sabotage-") as name:
        folder = Path(name)
        copied(folder)
        file = folder / "src" / "ggdp" / sabotage.file
        text = file.read_text("utf-8")
        if text.count(sabotage.old) != 1:
            return False, 0.0, f"its text occurs {text.count(sabotage.old)} times in {sabotage.file}"
        file.write_text(text.replace(sabotage.old, sabotage.new), "utf-8")
        require_own_source(folder)
        code, output = tested(folder, sabotage.tests)
    said = failure(output) if code == FAILED else f"pytest exits with {code}\n{output}"
    return code == FAILED, time.monotonic() - begun, said


def untouched(sabotages):
    """Return pytest's exit code on a copy as it is, and what it said."""
    with tempfile.TemporaryDirectory(prefix="sabotage-") as name:
        folder = Path(name)
        copied(folder)
        require_own_source(folder)
        return tested(folder, sorted({test for sabotage in sabotages for test in sabotage.tests}))


def main():
    """Run the sabotages that were asked for; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="only list them")
    parser.add_argument("--only", metavar="TEXT", help="only those with this text in their name")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (2)")
    asked = parser.parse_args()
    chosen = [sabotage for sabotage in SABOTAGES if asked.only is None or asked.only in sabotage.name]
    if not chosen:
        parser.error(f"no sabotage has {asked.only!r} in its name")
    if asked.list:
        for sabotage in chosen:
            print(f"{sabotage.name:<58} {sabotage.file}")
        return PASSED
    code, output = untouched(chosen)
    if code != PASSED:
        print(f"the tests do not pass on the source as it is: pytest exits with {code}\n{output}")
        return FAILED
    print(f"{output.strip().splitlines()[-1]} on the source as it is")
    survived = []
    with ThreadPoolExecutor(asked.jobs) as pool:
        for sabotage, (noticed, seconds, said) in zip(chosen, pool.map(tried, chosen), strict=True):
            how = f"noticed   {said}" if noticed else "SURVIVED"
            print(f"{seconds:5.1f} s  {sabotage.name:<58} {how}", flush=True)
            if not noticed:
                survived.append(f"{sabotage.name}: {said}")
    print(f"{len(chosen) - len(survived)} of {len(chosen)} sabotages were noticed")
    print(*survived, sep="\n\n")
    return FAILED if survived else PASSED


if __name__ == "__main__":
    sys.exit(main())
