"""Time calibrations beside other libraries in one run, each library in an environment of its own.

``make bench`` runs this; it needs nothing but Python and the package index. The result is printed and written to
``benchmarks/results/calibration.md``.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENTS = ROOT / ".venv-bench"
RESULT = ROOT / "benchmarks" / "results" / "calibration.md"

# A fresh install of diffprivlib 0.6.6 cannot be imported with a newer scikit-learn.
PEERS = ("dp-accounting==0.6.0", "diffprivlib==0.6.6", "scikit-learn==1.7.2")


def environment(name: str, *requirements: str) -> Path:
    """Return the Python of an environment with these packages, making it if it is missing."""
    folder = ENVIRONMENTS / name
    python = folder / "bin" / "python"
    ready = folder / ".ready"
    if not ready.exists():
        print(f"making the environment {name} ...", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *requirements], check=True, cwd=ROOT)
        ready.touch()
    return python


def measured(python: Path, script: str, given: object = None) -> dict:
    """Run a script of this folder and return the JSON document it prints."""
    done = subprocess.run(
        [python, "-W", "ignore", ROOT / "benchmarks" / script],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    if done.returncode:
        sys.exit(f"error: {script} failed:\n{done.stderr}")
    return json.loads(done.stdout)


def row(*cells: object) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.2f}" if seconds < 0.1 else f"{seconds * 1e3:.0f}"


def report(ours: dict, peers: dict) -> str:
    lines = [
        "# Calibration: time and safety",
        "",
        f"Measured by `make bench` on {platform.machine()}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}; ggdp {ours['versions']['ggdp']}, "
        f"python-flint {ours['versions']['python-flint']}, "
        f"dp-accounting {peers['versions']['dp-accounting']}, diffprivlib {peers['versions']['diffprivlib']}. "
        "Medians, in milliseconds; one thread.",
        "",
        "## The Gaussian mechanism, approximate DP, beside its peers",
        "",
        "ggdp's time includes the proof that the scale is enough and the proof that a scale 1e-9 smaller is not; the "
        "others prove nothing.",
        "",
        row("goal", "ggdp", "dp-accounting", "diffprivlib", "dp-accounting : ggdp", "diffprivlib : ggdp"),
        row(*["---"] * 6),
    ]
    for goal, ours_time in ours["gaussian"].items():
        google, ibm = peers["gaussian"][goal]["dp-accounting"], peers["gaussian"][goal]["diffprivlib"]
        cells = [milliseconds(time) for time in (ours_time, google, ibm)]
        lines.append(row(goal, *cells, f"{google / ours_time:.1f}", f"{ibm / ours_time:.1f}"))
    lines += [
        "",
        "## Does the scale keep its goal?",
        "",
        f"On a grid of {ours['grid']} goals (epsilon 0.01 to 10, delta 1e-12 to 0.1): how many of the returned "
        "standard deviations miss their delta, decided in interval arithmetic, and how far the worst is above the "
        "least one.",
        "",
        row("library", "miss the goal", "largest excess over the least sigma"),
        row("---", "---", "---"),
    ]
    lines += [
        row(name, f"{missed} of {ours['grid']}", f"{excess:.1e}") for name, (missed, excess) in ours["safety"].items()
    ]
    lines += [
        "",
        "## All that ggdp calibrates, with the certificate",
        "",
        row("what", "scale", "search + proof", "check of the certificate alone"),
        row("---", "---", "---", "---"),
    ]
    lines += [
        row(case["what"], f"{case['scale']:.6g}", milliseconds(case["calibrate"]), milliseconds(case["verify"]))
        for case in ours["cases"]
    ]
    lines += [
        "",
        "## Import",
        "",
        row("import", "ms", "times `import numpy`"),
        row("---", "---", "---"),
    ]
    for name, (time, numpy_time) in {**ours["imports"], **peers["imports"]}.items():
        lines.append(row(f"`{name}`", milliseconds(time), f"{time / numpy_time:.2f}"))
    return "\n".join(lines) + "\n"


def main() -> None:
    # Editable, so that an environment kept from an earlier run times the code as it is now.
    ggdp = environment("ggdp", "--constraint", "constraints.txt", "--editable", ".")
    others = environment("peers", *PEERS)
    print("timing the others ...", file=sys.stderr)
    peers = measured(others, "peers.py")
    print("timing ggdp ...", file=sys.stderr)
    ours = measured(ggdp, "calibration.py", peers["scales"])
    text = report(ours, peers)
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
