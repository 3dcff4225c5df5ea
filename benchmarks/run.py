"""Time ggdp beside other libraries in one run, each library in an environment of its own.

``make bench`` runs this; it needs nothing but Python and the package index. ``python3 benchmarks/run.py sampling`` runs
one part. Each result is printed and written to ``benchmarks/results``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import calibration_report
import releases_report
import releases_rounds
import sampling_report
from environments import ROOT, ggdp_python, peers_python
from sampling_rounds import document
from worker import Worker

if TYPE_CHECKING:
    from pathlib import Path

SCRIPTS = ROOT / "benchmarks"


def printed(python: Path, script: str, given: object = None) -> dict[str, Any]:
    """Run a script of this folder and return the JSON document it prints."""
    done = subprocess.run(
        [python, "-W", "ignore", SCRIPTS / script],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    if done.returncode:
        sys.exit(f"error: {script} failed:\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def calibration(ggdp: Path, others: Path) -> str:
    print("calibration: timing the others ...", file=sys.stderr, flush=True)
    peers = printed(others, "peers.py")
    print("calibration: timing ggdp ...", file=sys.stderr, flush=True)
    return calibration_report.report(printed(ggdp, "calibration.py", peers["scales"]), peers)


def sampling(ggdp: Path, others: Path) -> str:
    def fresh() -> Worker:
        return Worker(ggdp, SCRIPTS / "sampling.py")

    with fresh() as ours, Worker(others, SCRIPTS / "sampling_peers.py") as peers:
        return sampling_report.report(document(ours, peers, fresh))


def releases(ggdp: Path, others: Path) -> str:
    with Worker(ggdp, SCRIPTS / "releases.py") as ours, Worker(others, SCRIPTS / "releases_peers.py") as peers:
        return releases_report.report(releases_rounds.document(ours, peers))


PARTS = {"calibration": calibration, "sampling": sampling, "releases": releases}


def main() -> None:
    asked = sys.argv[1:] or list(PARTS)
    unknown = [name for name in asked if name not in PARTS]
    if unknown:
        sys.exit(f"error: there is no benchmark {unknown[0]!r}; choose from {', '.join(PARTS)}")
    ggdp, others = ggdp_python(), peers_python()
    for name in asked:
        text = PARTS[name](ggdp, others)
        result = SCRIPTS / "results" / f"{name}.md"
        result.parent.mkdir(exist_ok=True)
        result.write_text(text, encoding="utf-8")
        print(text)


if __name__ == "__main__":
    main()
