"""Time ggdp beside other libraries in one run, each library in an environment of its own.

``make bench`` runs this; it needs nothing but Python and the package index. ``python3 benchmarks/run.py sampling`` runs
one part. Each result is printed and written to ``benchmarks/results``. ``python3 benchmarks/run.py tables --quick``
tries that part on small tables, and only prints what it finds; so do ``means --quick`` and
``joint --quick``, with few repeats.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import calibration_report
import composition_report
import composition_rounds
import joint_report
import latency
import ledger_report
import means_report
import means_rounds
import real_tables
import releases_report
import releases_rounds
import sampling_report
import tables_report
import tables_rounds
from environments import (
    ROOT,
    explorer_python,
    files_python,
    frames_python,
    ggdp_python,
    google_python,
    ledger_python,
    means_data_python,
    means_peers_python,
    peers_python,
    plots_python,
    prv_python,
    real_tables_python,
    scratch,
    table_peers_python,
    tumult_python,
)
from sampling_rounds import document
from worker import Worker

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


def composition() -> str:
    google = google_python()
    with (
        Worker(ggdp_python(), SCRIPTS / "composition.py") as ours,
        Worker(google, SCRIPTS / "composition_google.py") as theirs,
        Worker(prv_python(), SCRIPTS / "composition_prv.py") as prv,
        Worker(google, SCRIPTS / "composition_exact.py") as exact,
    ):
        return composition_report.report(composition_rounds.document(ours, theirs, prv, exact))


def tables(sizes: tables_rounds.Sizes) -> str:
    def fresh() -> Worker:
        return Worker(ggdp, SCRIPTS / "tables.py", threads=tables_rounds.CORES)

    # These have all frames, and OpenDP with polars, which other parts do not need.
    ggdp, others = frames_python(), table_peers_python()
    with (
        scratch() as folder,
        tables_rounds.two_cores(),
        Worker(others, SCRIPTS / "tables_peers.py", threads=tables_rounds.CORES) as peers,
    ):
        return tables_report.report(tables_rounds.document(fresh, peers, Path(folder), sizes))


def means(sizes: means_rounds.Sizes) -> str:
    threads = tables_rounds.CORES
    with ExitStack() as stack:
        folder = Path(stack.enter_context(scratch()))
        data = printed(means_data_python(), "means_data.py", {"folder": str(folder)})
        stack.enter_context(tables_rounds.two_cores())

        def started(python: Path, script: str) -> Worker:
            return stack.enter_context(Worker(python, SCRIPTS / script, threads=threads))

        tumult = started(tumult_python(), "means_tumult.py")
        workers = means_rounds.Workers(
            started(ggdp_python(), "means.py"),
            started(table_peers_python(), "means_opendp.py"),
            started(means_peers_python(), "means_peers.py"),
            None if tumult.ask("lacking") else tumult,
        )
        return means_report.report(means_rounds.document(workers, folder, data, sizes))


def joint(sizes: joint_report.Sizes) -> str:
    threads = tables_rounds.CORES
    with ExitStack() as stack:
        folder = stack.enter_context(scratch())
        data = printed(means_data_python(), "joint_data.py", {"folder": folder})
        stack.enter_context(tables_rounds.two_cores())
        pythons = {
            joint_report.OURS: ggdp_python(),
            "OpenDP": table_peers_python(),
            "PipelineDP": means_peers_python(),
            joint_report.TUMULT: tumult_python(),
        }
        workers = {
            name: stack.enter_context(Worker(python, SCRIPTS / "joint.py", threads=threads))
            for name, python in pythons.items()
        }
        if workers[joint_report.TUMULT].ask("lacking"):
            del workers[joint_report.TUMULT]
        return joint_report.report(joint_report.document(workers, data, sizes))


def from_raw_files() -> str:
    with scratch() as folder:
        data = printed(real_tables_python(), "real_tables_data.py", {"folder": folder})
        return real_tables.report(real_tables.document(files_python(), Path(folder), data))


def part(name: str) -> str:
    """Run a part and return its page."""
    if name == "composition":
        return composition()
    if name == "tables":
        return tables(tables_rounds.Sizes())
    if name == "means":
        return means(means_rounds.Sizes())
    if name == "joint":
        return joint(joint_report.Sizes())
    if name == "real_tables":
        return from_raw_files()
    if name == "latency":
        python = plots_python()
        return latency.report(python, printed(python, "warm_calibrations.py"))
    if name == "quantiles":
        page: str = printed(ggdp_python(), "quantiles.py")["page"]
        return page
    if name == "explorer":
        command = [str(explorer_python()), str(SCRIPTS / "explorer.py")]
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    if name == "ledger":
        return ledger_report.report(printed(ledger_python(), "ledger.py"))
    return {"calibration": calibration, "sampling": sampling, "releases": releases}[name](ggdp_python(), peers_python())


PARTS = (
    "calibration",
    "composition",
    "explorer",
    "joint",
    "latency",
    "ledger",
    "means",
    "quantiles",
    "real_tables",
    "sampling",
    "releases",
    "tables",
)


def main() -> None:
    if sys.argv[1:] == ["tables", "--quick"]:
        print(tables(tables_rounds.QUICK))
        return
    if sys.argv[1:] == ["means", "--quick"]:
        print(means(means_rounds.QUICK))
        return
    if sys.argv[1:] == ["joint", "--quick"]:
        print(joint(joint_report.QUICK))
        return
    asked = sys.argv[1:] or PARTS
    unknown = [name for name in asked if name not in PARTS]
    if unknown:
        sys.exit(f"error: there is no benchmark {unknown[0]!r}; choose from {', '.join(PARTS)}")
    for name in asked:
        text = part(name)
        result = SCRIPTS / "results" / f"{name}.md"
        result.parent.mkdir(exist_ok=True)
        result.write_text(text, encoding="utf-8")
        print(text)


if __name__ == "__main__":
    main()
