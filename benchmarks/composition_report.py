"""The composition benchmark as a page."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from composition_cases import AIMS, DELTA
from composition_rounds import ERROR, MOST_TIGHT, MOST_TIMED, STEPS
from pages import machine, row, table

# Bounds of a delta above SMALL shall be within CLOSE of each other, those of a smaller one within LESS_CLOSE.
SMALL, CLOSE, LESS_CLOSE = 3e-13, 1.0001, 1.01
# What two computations in floats may differ by.
ROUNDING = 1e-9


def seconds(found: dict[str, Any] | None) -> str:
    if found is None:
        return "-"
    if "failed" in found:
        return found["failed"]
    return f"{found['seconds']:.3g}"


def apart(bounds: dict[str, Any]) -> float:
    """Return the upper bound over the lower one; infinite where there is no lower one or nothing was found."""
    if "failed" in bounds:
        return math.inf
    if bounds["upper"] == 0.0:
        return 1.0
    return bounds["upper"] / bounds["lower"] if bounds["lower"] > 0.0 else math.inf


def aim(bounds: dict[str, Any]) -> float:
    return CLOSE if bounds.get("upper", 1.0) > SMALL else LESS_CLOSE


def excess(ratio: float) -> str:
    return f"{ratio - 1.0:.1e}" if math.isfinite(ratio) else "no bound"


def holds(bounds: dict[str, Any], true: str | None) -> bool:
    """Say whether the true value, where it is known, lies between the bounds; compared exactly."""
    if true is None or "failed" in bounds:
        return True
    return Decimal(bounds["lower"]) <= Decimal(true) <= Decimal(bounds["upper"])


def times(ours: dict[str, Any], theirs: dict[str, Any] | None) -> str:
    """Return the time of another library over ours."""
    known = theirs is not None and "seconds" in theirs and "seconds" in ours
    return f"{theirs['seconds'] / ours['seconds']:.2g}" if known else "-"


def judged(rows: list[dict[str, Any]], bounds: list[dict[str, Any]]) -> list[str]:
    """Return a line for each aim: what was measured, at worst, and whether it is met."""

    def line(what: str, wanted: str, measured: str, met: bool) -> str:
        return row(what, wanted, measured, "yes" if met else "**no**")

    lines = []
    for timed in rows:
        if timed["what"] in AIMS:
            most = AIMS[timed["what"]]
            for asked in ("delta", "epsilon"):
                found = timed[asked]
                met = found.get("seconds", math.inf) <= most
                lines.append(line(f"{timed['what']}: {asked}", f"{most:g} s", seconds(found), met))
    for wanted, name in ((CLOSE, f"above {SMALL:g}"), (LESS_CLOSE, "below that")):
        of_aim = [each for each in bounds if aim(each["delta"]) == wanted]
        worst = max(of_aim, key=lambda each: apart(each["delta"]))
        missed = sum(apart(each["delta"]) > wanted for each in of_aim)
        where = f"{worst['what']}, epsilon {worst['epsilon']:.6g}"
        measured = f"{excess(apart(worst['delta']))} ({where}); {missed} of {len(of_aim)} miss"
        lines.append(line(f"upper / lower - 1, delta {name}", f"{wanted - 1.0:.0e}", measured, missed == 0))
    known = [each for each in bounds if each["true"] is not None]
    wrong = sum(not holds(each["delta"], each["true"]) for each in known)
    lines.append(line("true delta not between the bounds", "0", f"{wrong} of {len(known)}", wrong == 0))
    found = [each for each in bounds if "upper" in each["delta"]]
    for step in map(str, STEPS):
        over = [each["delta"]["upper"] / each["google"][step] for each in found]
        above = sum(ratio > 1.0 + ROUNDING for ratio in over)
        measured = f"{above} of {len(found)}" + (f", by a share of at most {excess(max(over))}" if above else "")
        lines.append(line(f"upper bound above dp-accounting's at {step}", "0", measured, above == 0))
    return lines


def bound_row(each: dict[str, Any]) -> str:
    bounds, true = each["delta"], each["true"]
    start = (each["what"], f"{each['epsilon']:.12g}")
    if "failed" in bounds:
        return row(*start, bounds["failed"], "no bound", "-", *["-"] * len(STEPS))
    peers = []
    for step in STEPS:
        theirs = each["google"][str(step)]
        ratio = theirs / bounds["upper"] if bounds["upper"] else math.inf
        # A pessimistic value below a proved lower bound is none.
        below = theirs < bounds["lower"] * (1.0 - ROUNDING)
        peers.append(f"{ratio:.8g}" + (", **too small**" if below else ""))
    shown = excess(apart(bounds)) + ("" if apart(bounds) <= aim(bounds) else " **missed**")
    inside = "-" if true is None else "yes" if holds(bounds, true) else "**no**"
    return row(*start, f"{bounds['upper']:.3e}", shown, inside, *peers)


def report(document: dict[str, Any]) -> str:
    versions, rows, bounds = document["versions"], document["timed"], document["tight"]
    coarse, fine = (str(step) for step in STEPS)
    lines = [
        "# Composition: time and tightness",
        "",
        f"{machine()}; " + ", ".join(f"{name} {number}" for name, number in versions.items()) + ". Processor time of "
        "one call in a warm process, from the laws to the answer, in seconds; one thread. An answer of ggdp that takes "
        f"more than {MOST_TIMED:g} s ({MOST_TIGHT:g} s in the last table) is given up.",
        "",
        "## Aims",
        *table("what", "aim", "measured, at worst", "met"),
        *judged(rows, bounds),
        "",
        "## Time",
        "",
        f"The epsilon for a delta of {DELTA:g}, and the delta at that epsilon. dp-accounting's pessimistic estimate by "
        f"connecting the dots, at its own discretisation {coarse} and at {fine}; noise of other orders is described to "
        f"it by its general interface. prv-accountant with an error of {ERROR:g} of epsilon; it has Laplace and "
        "Gaussian noise on the reals, and randomised response.",
        *table(
            "what",
            "ggdp, epsilon",
            "ggdp, delta",
            f"dp-accounting {coarse}",
            f"dp-accounting {fine}",
            "prv-accountant",
            f"dp-accounting {coarse} : ggdp",
            f"dp-accounting {fine} : ggdp",
            "prv-accountant : ggdp",
        ),
    ]
    for each in rows:
        peers = [each["google"].get(coarse), each["google"].get(fine), each["prv"]]
        cells = [seconds(found) for found in (each["epsilon"], each["delta"], *peers)]
        lines.append(row(each["what"], *cells, *(times(each["epsilon"], peer) for peer in peers)))
    lines += [
        "",
        "## The epsilons",
        "",
        "ggdp's lower and upper bound are proved. The others: what they return as an upper bound, and how much of "
        "ggdp's upper bound that is.",
        *table(
            "what", "ggdp, lower", "ggdp, upper", f"dp-accounting {coarse}", f"dp-accounting {fine}", "prv-accountant"
        ),
    ]
    for each in rows:
        ours = each["epsilon"]
        theirs = [found and found.get("epsilon") for found in (each["google"].get(coarse), each["google"].get(fine))]
        theirs.append(each["prv"] and each["prv"].get("upper"))
        shown = [f"{ours[end]:.8g}" if end in ours else ours["failed"] for end in ("lower", "upper")]
        over = [
            "-" if value is None else f"{value:.8g}" + (f" ({value / ours['upper']:.6f})" if "upper" in ours else "")
            for value in theirs
        ]
        lines.append(row(each["what"], *shown, *over))
    lines += [
        "",
        "## Bounds of delta",
        "",
        "Where the true delta is known, in 50 digits by closed forms or by enumeration, it is compared with both "
        "bounds. The last columns are dp-accounting's pessimistic delta over ggdp's upper bound; too small says that "
        "it is below ggdp's proved lower bound, so that it bounds nothing.",
        *table(
            "what",
            "epsilon",
            "delta, upper bound",
            "upper / lower - 1",
            "true delta between",
            f"dp-accounting {coarse} : ggdp",
            f"dp-accounting {fine} : ggdp",
        ),
        *(bound_row(each) for each in bounds),
    ]
    return "\n".join(lines) + "\n"
