"""The calibration benchmark as a page."""

from __future__ import annotations

from typing import Any

from pages import machine, milliseconds, row, table


def report(ours: dict[str, Any], peers: dict[str, Any]) -> str:
    lines = [
        "# Calibration: time and safety",
        "",
        f"{machine()}; ggdp {ours['versions']['ggdp']}, "
        f"python-flint {ours['versions']['python-flint']}, "
        f"dp-accounting {peers['versions']['dp-accounting']}, diffprivlib {peers['versions']['diffprivlib']}. "
        "Medians, in milliseconds; one thread.",
        "",
        "## The Gaussian mechanism, approximate DP, beside its peers",
        "",
        "ggdp's time includes the proof that the scale is enough and the proof that a scale 1e-9 smaller is not; the "
        "others prove nothing.",
        *table("goal", "ggdp", "dp-accounting", "diffprivlib", "dp-accounting : ggdp", "diffprivlib : ggdp"),
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
        *table("library", "miss the goal", "largest excess over the least sigma"),
    ]
    lines += [
        row(name, f"{missed} of {ours['grid']}", f"{excess:.1e}") for name, (missed, excess) in ours["safety"].items()
    ]
    lines += [
        "",
        "## All that ggdp calibrates, with the certificate",
        *table("what", "scale", "search + proof", "check of the certificate alone"),
    ]
    lines += [
        row(case["what"], f"{case['scale']:.6g}", milliseconds(case["calibrate"]), milliseconds(case["verify"]))
        for case in ours["cases"]
    ]
    lines += ["", "## Import", *table("import", "ms", "times `import numpy`")]
    for name, (time, numpy_time) in {**ours["imports"], **peers["imports"]}.items():
        lines.append(row(f"`{name}`", milliseconds(time), f"{time / numpy_time:.2f}"))
    return "\n".join(lines) + "\n"
