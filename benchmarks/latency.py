"""CPU time of commands in fresh processes: every command of the pages, and calibrations and plans that were slow.

Each command runs in a copy of the repository, in a process of its own, without the cache of certificates. Reported is
the CPU time of the process and its children, user and system together, the least of `ROUNDS` runs.

``PYTHONPATH=OTHER/src python benchmarks/latency.py`` prints the times of the slow cases in another checkout, as JSON;
``results/latency_before.json`` was made so, from the commit that it names.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from environments import ROOT
from pages import machine, row, table

if TYPE_CHECKING:
    from collections.abc import Iterator

GUIDES = sorted([*(ROOT / "docs" / "tutorials").glob("*.md"), *(ROOT / "docs" / "how-to").glob("*.md")])
PAGES = ("README.md", *(page.relative_to(ROOT).as_posix() for page in GUIDES))
ROUNDS = 2
BEFORE = ROOT / "benchmarks" / "results" / "latency_before.json"
BLOCK = re.compile(r"(<!-- not run[^\n]*-->\n)?```(?:sh|console)\n(.*?)```", re.DOTALL)
# They run for long by their nature, and say so.
LEFT_OUT = ("ggdp reproduce", "ggdp demo")
VISITS = "ggdp release docs/examples/visits.csv --by ward --levels ward=births,eyes --epsilon 1 --delta 1e-6 --dry-run"
CASES = (
    "ggdp plan --epsilon 1 --delta 1e-6 --max-cells 5 --support integer",
    "ggdp plan --epsilon 1 --delta 1e-6 --max-cells 1000 --support integer",
    "ggdp plan --epsilon 1 --delta 1e-6 --max-cells 1000 --measure max",
    "ggdp plan --epsilon .1 --delta .1 --max-cells 1000000 --support integer",
    "ggdp calibrate --order 3 --epsilon 1 --delta 0.05 --notion probabilistic --box 1,0.1,0.05",
    "ggdp calibrate --order 3 --epsilon 1 --delta 1e-6 --notion probabilistic --max-cells 10",
    "ggdp calibrate --order 3 --epsilon 1 --delta 1e-6 --max-cells 5",
    "ggdp calibrate --order 3 --epsilon 1 --delta 1e-6 --max-cells 5 --support integer",
    "ggdp calibrate --order 3 --epsilon 1 --delta 1e-6 --max-cells 1000 --support integer",
    VISITS,
    f"{VISITS} --unit patient --max-cells 10",
)


def commands(page: str) -> list[str]:
    """Return the commands of ggdp on a page, in order."""
    found = []
    for left_out, block in BLOCK.findall((ROOT / page).read_text(encoding="utf-8")):
        if left_out:
            continue
        lines = block.replace("\\\n", " ").splitlines()
        for line in lines:
            command = re.sub(r"\s+#.*$", "", line.removeprefix("$ ").strip())
            # A ledger is made once and charged each time: its commands cannot be repeated.
            if command.startswith("ggdp ") and not command.startswith(LEFT_OUT) and "ledger" not in command:
                found.append(" ".join(command.split()))
    return found


def measured(command: str, folder: Path, ggdp: Path) -> float:
    """Return the least CPU time of a command, in seconds."""
    times = []
    for _ in range(ROUNDS):
        written, _, target = command.partition(" > ")
        arguments = [str(ggdp), *shlex.split(written)[1:]]
        if {"--out", "--plot"} & set(arguments) and "--overwrite" not in arguments:
            arguments.append("--overwrite")
        before = _children()
        done = subprocess.run(
            arguments, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, "GGDP_CACHE": "off"}
        )
        if done.returncode:
            message = f"{command} failed: {done.stderr}"
            raise RuntimeError(message)
        times.append(_children() - before)
        if target:
            (folder / target).write_text(done.stdout, encoding="utf-8")
    return min(times)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextmanager
def copied() -> Iterator[Path]:
    """Copy the repository to a temporary directory, without what was built or installed in it."""
    with TemporaryDirectory() as name:
        folder = Path(name) / "ggdp"
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".venv*", ".git", "_build", "__pycache__"))
        yield folder


def report(python: Path, warm: dict[str, Any]) -> str:
    """Run all commands and return the page; `warm` is what `warm_calibrations.py` printed."""
    ggdp, before = python.parent / "ggdp", json.loads(BEFORE.read_text(encoding="utf-8"))
    with copied() as folder:
        lines = [
            "# Latency: CPU seconds of a command in a fresh process",
            "",
            f"{machine()}. User and system time of the process and its children, the least of {ROUNDS} runs, without "
            "the cache of certificates.",
            "",
            "## Calibrations, plans and dry runs that were slow",
            "",
            f"Before: commit {before['commit']}, by the same script on the same machine.",
            *table("command", "before", "now", "before : now"),
        ]
        for command in CASES:
            then, now = before["seconds"][command], measured(command, folder, ggdp)
            lines.append(row(f"`{command}`", f"{then:.1f}", f"{now:.1f}", f"{then / now:.1f}"))
        for page in PAGES:
            found = commands(page)
            if found:
                lines += ["", f"## Every command of {page}", *table("command", "CPU s")]
                lines += [row(f"`{command}`", f"{measured(command, folder, ggdp):.1f}") for command in found]
    lines += [
        "",
        "## Calibrations in a process that has made one before",
        "",
        "Approximate DP with epsilon = 1; one person is in so many cells.",
        *table("noise", "delta", "order", *(f"{cells:,} cells" for cells in warm["cells"])),
    ]
    for found in warm["rows"]:
        seconds = (f"{value:.2f}" for value in found["seconds"])
        lines.append(row(found["support"], f"{found['delta']:g}", f"{found['order']:g}", *seconds))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    with copied() as here:
        times = {command: round(measured(command, here, Path(sys.executable).parent / "ggdp"), 2) for command in CASES}
    print(json.dumps({"commit": sys.argv[1], "seconds": times}, indent=2))
