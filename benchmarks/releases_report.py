"""The benchmark of releases as a page."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from pages import machine, milliseconds, row, table
from releases_rounds import CHOOSERS, GOALS
from sampling_rounds import ORDERS

if TYPE_CHECKING:
    from collections.abc import Callable

AIMS = {"integer": 1.5, "real": 3.0}
_VALUES = {"integer": "integer counts", "real": "floats"}


def report(found: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    rows = found["rows"]
    lines = [
        "# Releases: what they cost beside their noise, and beside other libraries",
        "",
        f"{machine()}; {versions}. The load of the machine was {found['load'][0]:.2f} before and "
        f"{found['load'][1]:.2f} after, of which this run makes about 1.",
        "",
        "What is compared is timed in turn, round after round: ggdp's own calls in one process, the others in a "
        "process of their own. A time is a median; a ratio is the median over the rounds of the ratio within a round "
        f"(over the laws below its quartiles differ by {_spread(rows):.0%} in the middle). Processor time "
        "leaves out the waiting for other programs, so that on a busy machine it is the one to look at. Calibration "
        "and the first draw, which builds tables, come before: their times are on the pages of calibration and "
        "sampling.",
        "",
        *_targets(rows),
        *_cost(rows),
        *_beside_sampling(rows),
        *_bounded(found["bounded"]),
        *_lists(found["lists"]),
        *_others(found["others"]),
        *_few(found["others"]),
        *_choices(found["choices"]),
        *_after(found["after"]),
    ]
    return "\n".join(lines) + "\n"


def three_digits(number: float) -> str:
    """Return a number to three significant digits, without a power of ten."""
    return f"{float(f'{number:.3g}'):,.10g}"


def worst(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the row whose release costs most over its sampling."""
    return max(rows, key=lambda each: float(each["ratio"]["middle"]))


def _spread(rows: dict[str, list[dict[str, Any]]]) -> float:
    ratios = [each["ratio"] for same in rows.values() for each in same]
    return float(statistics.median((each["high"] - each["low"]) / each["middle"] for each in ratios))


def _targets(rows: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Return what was promised and whether it was kept, each by its worst law."""
    lines = ["## Aims, each at its worst law", *table("what", "aim", "measured", "by processor time", "at", "met")]
    for support, aim in AIMS.items():
        for promise, clamped in (("pure DP and aDP", False), ("pDP, with the clamp that its proof needs", True)):
            same = [each for each in rows[support] if each["goal"].startswith("pDP") is clamped]
            if not same:
                continue
            most = worst(same)
            got = most["ratio"]["middle"]
            lines.append(
                row(
                    f"a release of a million {_VALUES[support]} over the sampling alone, {promise}",
                    f"<= {aim:g}",
                    f"{got:.2f}",
                    f"{max(each['processor']['middle'] for each in same):.2f}",
                    f"{most['goal']}, order {most['order']:g}",
                    "yes" if got <= aim else "**no**",
                )
            )
    return lines


def _cost(rows: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Return what keeping the guarantee costs in time, over a sum that would not."""
    clamped = {True: "pDP", False: "pure DP and aDP"}
    parts = []
    for support in AIMS:
        for probabilistic, notion in sorted(clamped.items()):
            same = [each for each in rows[support] if each["goal"].startswith("pDP") is probabilistic]
            more = statistics.median(each["extra"] for each in same)
            share = statistics.median(each["share"] for each in same)
            parts.append(f"{milliseconds(more)} ms for {_VALUES[support]} under {notion} ({share:.0%} of the release)")
    return [
        "",
        "What privacy costs in speed, beyond the noise itself: a plain sum of the same noise wraps around at 64 bits, "
        "or adds float to float and so tells values by their last bits; the saturating sum, the exact rounding to a "
        "grid and back, and the clamp that pDP needs take longer than that, of a million values and in the middle of "
        "the laws, by " + "; ".join(parts) + ".",
    ]


def _beside_sampling(rows: dict[str, list[dict[str, Any]]]) -> list[str]:
    kinds: dict[str, Callable[[dict[str, Any]], str]] = {
        "Release over sampling": lambda each: f"{each['ratio']['middle']:.2f}",
        "Release over sampling, by processor time": lambda each: f"{each['processor']['middle']:.2f}",
        "Release, ms": lambda each: milliseconds(each["release"]),
        "Sampling alone, ms": lambda each: milliseconds(each["sampling"]),
    }
    lines = []
    for support, goals in GOALS.items():
        lines += [
            "",
            f"## A million {_VALUES[support]}",
            "",
            "A release of an array over the draw of as much noise of the same law"
            + (", which is in steps of the grid." if support == "real" else "."),
        ]
        for title, form in kinds.items():
            lines += ["", f"### {title}", *table("goal", *(f"order {order:g}" for order in ORDERS))]
            for goal in goals:
                cells = {each["order"]: form(each) for each in rows[support] if each["goal"] == goal}
                lines.append(row(goal, *(cells.get(order, "") for order in ORDERS)))
    return lines


def _bounded(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "",
        "## A million values within bounds",
        "",
        "Pure DP, epsilon 1, sensitivity 1; the sampling alone is around the same true values. No aim was set.",
        *table("mechanism", "release, ms", "sampling alone, ms", "release over sampling"),
    ]
    return lines + [
        row(
            each["what"],
            milliseconds(each["release"]),
            milliseconds(each["sampling"]),
            f"{each['ratio']['middle']:.2f}",
        )
        for each in rows
    ]


def _lists(lists: dict[str, dict[str, Any]]) -> list[str]:
    lines = [
        "",
        "## A million Python numbers in a list",
        "",
        "Laplace, epsilon 1. The time goes into the conversion, of which NumPy's own is a part; the rest of it looks "
        "for masked arrays and, among floats, for integers that a float would round.",
        *table("values", "list, ms", "array, ms", "list over array", "`np.asarray` of the list, ms", "conversion"),
    ]
    for support, each in lists.items():
        share = (each["list"] - each["array"]) / each["list"]
        cells = (milliseconds(each["list"]), milliseconds(each["array"]), f"{each['ratio']['middle']:.1f}")
        lines.append(row(_VALUES[support], *cells, milliseconds(each["conversion"]), f"{share:.0%} of the release"))
    return lines


def _others(others: list[dict[str, Any]]) -> list[str]:
    lines = [
        "",
        "## Beside the others",
        "",
        "Noise for epsilon 1 (Gaussian: delta 1e-6) and sensitivity 1, of ggdp's scale where a library takes one. "
        "NumPy is the plain sum of an array and `Generator.laplace` or `normal`, for comparison: it is not private, "
        "its bits being insecure and its sum one of floats. OpenDP returns lists, whatever it is given; diffprivlib "
        "takes one value a call. Their times are proportional to the number of values.",
        *table("values", "law", "library", "values at a time", "ns a value", "times ggdp's time"),
    ]
    for each in others:
        for name, seconds in each["times"].items():
            cells = (name, f"{each['counts'][name]:,}", three_digits(seconds * 1e9), three_digits(each["ratios"][name]))
            lines.append(row(_VALUES[each["support"]], each["law"], *cells))
    return lines


def _few(others: list[dict[str, Any]]) -> list[str]:
    lines = [
        "",
        "## One value, and a thousand",
        "",
        "In microseconds; a Python number, and an array. Beside ggdp's releases in brackets the sampling alone.",
        *table("values", "law", "library", "one", "a thousand"),
    ]
    for each in others:
        for name, times in each["few"].items():
            cells = []
            for what in ("one", "thousand"):
                beside = f" ({times[f'{what} alone'] * 1e6:.1f})" if f"{what} alone" in times else ""
                cells.append(f"{times[what] * 1e6:,.1f}{beside}")
            lines.append(row(_VALUES[each["support"]], each["law"], name, *cells))
    return lines


def _choices(rows: list[dict[str, Any]]) -> list[str]:
    names = ("ggdp, floats", "ggdp, integers", "ggdp, list", *CHOOSERS)
    lines = [
        "",
        "## The Exponential mechanism",
        "",
        "One of so many candidates, epsilon 1, sensitivity 1: in milliseconds, and in brackets how many times as long "
        "as ggdp takes with an array of floats, which the others are given too (diffprivlib: a list). OpenDP's "
        "largest score with Gumbel noise has the law of the Exponential mechanism, permute-and-flip another one. "
        "NumPy is `Generator.choice` of the softmax, for comparison: it is not private, its bits being insecure and "
        "its weights rounded, small ones to 0.",
        *table("candidates", *names),
    ]
    for each in rows:
        cells = [f"{three_digits(each['times'][name] * 1e3)} ({three_digits(each['ratios'][name])})" for name in names]
        lines.append(row(f"{each['count']:,}", *cells))
    return lines


def _after(after: list[list[Any]]) -> list[str]:
    lines = [
        "",
        "## What comes after: intervals, post-processing, manifests",
        "",
        "Of a release of a million values, order 3; in milliseconds.",
        *table("what", "first call", "later"),
    ]
    return lines + [row(what, milliseconds(first), milliseconds(later)) for what, first, later in after]
