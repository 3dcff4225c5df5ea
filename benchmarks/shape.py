"""Print how large and how deep the library is: ``make shape``.

=========================  ==========================================================================================
lines, modules             of src/ggdp, Python files; the reproduction of the paper is a project of its own
files that spell           files of src/ggdp with the word max_cells
modules that decide        modules of src/ggdp, privacy aside, that ask with `isinstance` of which class a bound is, or
                           compare the kind of a sensitivity with one of `KINDS`
files to add a bound       files that the worked page "Add a bound" changes or creates in src/ggdp, once it is there
calls                      calls of Python functions in src/ggdp, comprehensions and lambdas too, counted by
                           `sys.setprofile`; of a calibration the second time, of a release the first time in a process
deepest                    how many of these calls are open at once
=========================  ==========================================================================================

"Before" was measured by this script at commit c4936ca, before the code was rearranged; lines and modules there include
the paper. The aims are for counts of an earlier commit, in other ways: 61,690 lines, 407 modules, 6 places that decide,
477 calls of the calibration, 34,951 of the release, 28 deep. Compare ratios, or measure "before" again.
"""

import ast
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "ggdp"
EXAMPLES = ROOT / "docs" / "examples"
PAGE = ROOT / "docs" / "contributing" / "add-a-bound.md"
KINDS = ("cells", "box", "norm", "groups")
BEFORE = {
    "lines": "64,176",
    "modules": "410",
    "max_cells": "37",
    "decisions": "17",
    "files of a bound": "6 to 12",
    "calibration": "559",
    "release": "26,226",
    "depth": "29",
}
AIM = {
    "lines": "43,000",
    "modules": "220",
    "max_cells": "12",
    "decisions": "1 of 6",
    "files of a bound": "2",
    "calibration": "250 of 477",
    "release": "18,000 of 34,951",
    "depth": "20 of 28",
}
WHAT = {
    "lines": "lines of src/ggdp",
    "modules": "modules of src/ggdp",
    "max_cells": "files that spell max_cells",
    "decisions": "modules that ask which kind of query or bound it is",
    "files of a bound": "files to add a bound",
    "calibration": "calls of ggdp.calibrate(ApproxDP(1, 1e-6), Sensitivity.disjoint(1), order=3)",
    "release": "calls of a CSV release with unit, mean and ledger",
    "depth": "deepest of them",
}


def modules():
    """Return the texts of all modules by their files."""
    return {file: file.read_text("utf-8") for file in sorted(SOURCE.rglob("*.py"))}


def bound_classes(texts):
    """Return the names of the classes of bounds, by which certificates are proved."""
    classes = [node for text in texts.values() for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)]
    return {node.name for node in classes if any(getattr(base, "id", None) == "Bound" for base in node.bases)}


def is_decision(node, bounds):
    """Whether a piece of code asks of which class a bound is, or of which kind a sensitivity is."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "isinstance":
        return any(isinstance(one, ast.Name) and one.id in bounds for one in ast.walk(node.args[1]))
    if isinstance(node, ast.Compare) and getattr(node.left, "attr", None) == "kind":
        return any(isinstance(one, ast.Constant) and one.value in KINDS for one in ast.walk(node))
    return False


def deciding(texts):
    """Return the modules that decide which bound applies; the package that declares sensitivities does not count."""
    bounds = bound_classes(texts)
    outside = {file: text for file, text in texts.items() if file.parent.name != "privacy"}
    return {
        str(file.relative_to(SOURCE))
        for file, text in outside.items()
        if any(is_decision(node, bounds) for node in ast.walk(ast.parse(text)))
    }


def files_of_a_bound():
    """Return how many files of src/ggdp the diff of the worked page touches."""
    if not PAGE.exists():
        return "no page yet"
    named = re.findall(r"^\+\+\+ b/(src/ggdp/\S+)", PAGE.read_text("utf-8"), re.MULTILINE)
    return str(len(set(named)))


def calls(action):
    """Return how many functions of src/ggdp an action calls, and how many of them are open at once."""
    own, number, depth, deepest = str(SOURCE) + os.sep, 0, 0, 0

    def see(frame, event, _):
        nonlocal number, depth, deepest
        if event in ("call", "return") and frame.f_code.co_filename.startswith(own):
            depth += 1 if event == "call" else -1
            number += event == "call"
            deepest = max(deepest, depth)

    sys.setprofile(see)
    try:
        action()
    finally:
        sys.setprofile(None)
    return number, deepest


def measure(what):
    """Count the calls of a calibration or of a release, in a process of its own."""
    import ggdp

    def calibrate():
        ggdp.calibrate(ggdp.ApproxDP(1, 1e-6), ggdp.Sensitivity.disjoint(1), order=3)

    if what == "calibration":
        calibrate()
        return calls(calibrate)
    from ggdp.cli import main

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        ledger = f"{folder}/people.ledger"
        ggdp.Ledger.create(ledger, ggdp.PureDP(10.0))
        query = ["--by", "region", "--unit", "person", "--max-cells", "2", "--mean", "pay", "--epsilon", "1"]
        files = ["--domain", str(EXAMPLES / "jobs.toml"), "--ledger", ledger, "--out", f"{folder}/jobs.csv"]
        sys.argv = ["ggdp", "release", str(EXAMPLES / "jobs.csv"), *query, *files]

        def release():
            with contextlib.suppress(SystemExit):
                main()

        counted = calls(release)
        assert Path(f"{folder}/jobs.csv").exists(), "the release failed"
        return counted


def measured(what):
    """Return the counts of a process of its own, without the cache of calibrations."""
    environment = {**os.environ, "GGDP_CACHE": "off", "PYTHONHASHSEED": "0"}
    done = subprocess.run([sys.executable, __file__, what], env=environment, capture_output=True, text=True, check=True)
    return [f"{int(word):,}" for word in done.stdout.split()]


def table():
    """Return the rows of the table: what, before, now, aim."""
    texts = modules()
    release, depth = measured("release")
    now = {
        "lines": f"{sum(text.count(chr(10)) for text in texts.values()):,}",
        "modules": f"{len(texts)}",
        "max_cells": f"{sum('max_cells' in text for text in texts.values())}",
        "decisions": f"{len(deciding(texts))}",
        "files of a bound": files_of_a_bound(),
        "calibration": measured("calibration")[0],
        "release": release,
        "depth": depth,
    }
    return [(WHAT[name], BEFORE[name], now[name], AIM[name]) for name in WHAT]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(*measure(sys.argv[1]))
    else:
        print("| what | before | now | aim, at most |", "|---|---|---|---|", sep="\n")
        for row in table():
            print(f"| {' | '.join(row)} |")
