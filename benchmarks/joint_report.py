"""The benchmark of many tables, and of means of many columns, of the same people: what is measured, and its page.

All libraries get the same rows, levels, ranges and budget, and release the same numbers. Means of all of them are
clamped to the public range, as anybody could do afterwards.
"""

from __future__ import annotations

import math
import os
import statistics
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from joint_data import CASES, SOURCES, UNITS, Case, cell
from means_report import ERRORS, LEAST_COVERED, MOST_COVERED, Judged, at_most
from means_rounds import summary
from pages import machine, milliseconds, row, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from worker import Worker

OURS, INDEPENDENT = "ggdp", "ggdp, independent noise"
LIBRARIES = {"OpenDP": "opendp", "PipelineDP": "pipelinedp", "Tumult Analytics": "tumult"}
TUMULT = "Tumult Analytics"
# Of these the time of a release is measured.
TIMED = ("schooling, ten tables", "schooling, three means")
# Coordinates a second, seconds of draws, CPU seconds of a plan.
LEAST_RATE, MOST_DRAWS, MOST_PLAN = 2e6, 0.02, 2.0
# Free coordinates of the noise of a column whose values may be missing.
FREE = 2
SEED = 28


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How often everything is repeated; and how many random requests are planned."""

    tables: int = 250
    means: int = 300
    tumult: int = 10
    rounds: int = 9
    requests: int = 500


QUICK = Sizes(tables=20, means=20, tumult=2, rounds=2, requests=10)


def means_of(case: Case, sums: Mapping[str, float], groups: Sequence[str]) -> list[float]:
    """Return means from the noisy sums and counts of long form; the middle of the range where there is nobody."""
    found = []
    for column, (low, high) in (case.ranges or {}).items():
        for group in groups:
            count = sums[cell(UNITS if case.complete else f"{UNITS} {column}", group)]
            share = sums[cell(column, group)] / count if count > 0.0 else 0.0
            found.append(0.5 * (low + high) + 0.5 * (high - low) * share)
    return found


def values_of(name: str, data: Mapping[str, Any], answer: Mapping[str, Any]) -> Any:
    """Return what a library released in the order of the true values, a list a repeat."""
    if "values" in answer:
        return answer["values"]
    case, repeats = CASES[name], [dict(zip(answer["cells"], sums, strict=True)) for sums in answer["sums"]]
    if case.by is not None:
        return [means_of(case, sums, data["levels"][case.by]) for sums in repeats]
    names = [cell(column, level) for column, levels in data["levels"].items() for level in levels]
    return [[sums[name] for name in names] for sums in repeats]


def squares(name: str, data: Mapping[str, Any], repeats: Sequence[Sequence[float | None]]) -> list[list[float]]:
    """Return squared errors: of counts, or of means in widths of their range."""
    case = CASES[name]
    if case.by is None:
        return [
            [(value - true) ** 2 for value, true in zip(each, data["true"], strict=True) if value is not None]
            for each in repeats
        ]
    ends = [pair for pair in (case.ranges or {}).values() for _ in data["levels"][case.by]]
    found = []
    for each in repeats:
        errors = []
        for value, true, (low, high) in zip(each, data["true"], ends, strict=True):
            usable = 0.5 * (low + high) if value is None or math.isnan(value) else min(max(value, low), high)
            errors.append(((usable - true) / (high - low)) ** 2)
        found.append(errors)
    return found


def shares(data: Mapping[str, Any], answer: Mapping[str, Any]) -> list[float]:
    """Return the share of intervals that contain the true value, of each repeat."""
    return [
        statistics.fmean(low <= true <= high for low, true, high in zip(lower, data["true"], upper, strict=True))
        for lower, upper in zip(answer["lower"], answer["upper"], strict=True)
    ]


def covered(of: Sequence[float]) -> dict[str, float]:
    """Return the mean share and its standard error. Intervals of one release depend on each other; releases do not."""
    return {"share": statistics.fmean(of), "error": statistics.stdev(of) / math.sqrt(len(of))}


def over(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, float]:
    """Return the ratio of our mean squared error to theirs, with its standard error."""
    ratio = ours["mean"] / theirs["mean"]
    return {"ratio": ratio, "error": ratio * math.hypot(ours["error"] / ours["mean"], theirs["error"] / theirs["mean"])}


def errors_of(workers: Mapping[str, Worker], cases: Mapping[str, Any], sizes: Sizes) -> dict[str, Any]:
    """Return errors, ratios, coverage and agreement of all cases."""
    found = {}
    for name, data in cases.items():
        print(f"joint: {name} ...", file=sys.stderr, flush=True)
        case, repeats = CASES[name], sizes.tables if CASES[name].by is None else sizes.means
        ours = workers[OURS].ask("ours", name=name, data=data, repeats=repeats)
        answers = {INDEPENDENT: workers[OURS].ask("ours", name=name, data=data, repeats=repeats, independent=True)}
        for library in (library for library in LIBRARIES if library in workers):
            given = {"name": name, "data": data, "repeats": sizes.tumult if library == TUMULT else repeats}
            if library == TUMULT and case.delta:
                given["rho"] = workers["OpenDP"].ask("rho", name=name, size=len(data["cells"]))
            answers[library] = workers[library].ask(LIBRARIES[library], **given)
        mine = summary(squares(name, data, values_of(name, data, ours)))
        each = {
            library: summary(squares(name, data, values_of(name, data, answer))) for library, answer in answers.items()
        }
        found[name] = {
            "noise": ours["noise"],
            "agree": ours["agree"] / repeats,
            "covered": covered(shares(data, ours)),
            "ours": mine,
            "others": {library: {**other, "over": over(mine, other)} for library, other in each.items()},
        }
    return found


def document(workers: Mapping[str, Worker], data: Mapping[str, Any], sizes: Sizes) -> dict[str, Any]:
    """Return everything that is measured. The workers are by the names of their libraries."""
    before, cases, ours = os.getloadavg()[0], data["cases"], workers[OURS]
    versions = {name: number for worker in workers.values() for name, number in worker.ask("versions").items()}
    found: dict[str, Any] = {
        "versions": {**versions, **data["versions"]},
        "rows": {name: each["rows"] for name, each in cases.items()},
        "errors": errors_of(workers, cases, sizes),
    }
    print("joint: random requests ...", file=sys.stderr, flush=True)
    found["requests"] = ours.ask("random_requests", count=sizes.requests, seed=SEED)
    print("joint: time ...", file=sys.stderr, flush=True)
    found["draws"], found["plan"] = ours.ask("draws", rounds=sizes.rounds), ours.ask("twenty", rounds=3)
    found["time"] = {}
    for name in TIMED:
        for library, worker in workers.items():
            task, calls = LIBRARIES.get(library, "ours"), 2 if library == TUMULT else sizes.rounds
            seconds = worker.ask("once", library=task, calls=calls, name=name, data=cases[name])
            found["time"].setdefault(name, {})[library] = seconds
    return {**found, "load": (before, os.getloadavg()[0])}


def root(each: Mapping[str, float]) -> tuple[float, float]:
    """Return the root of a mean squared error, and its standard error."""
    middle = math.sqrt(each["mean"])
    return middle, each["error"] / (2.0 * middle)


def pooled(errors: Mapping[str, Any], *, means: bool) -> dict[str, float]:
    """Return the coverage over all cases of tables, or of means, each with the same weight."""
    found = [each["covered"] for name, each in errors.items() if (CASES[name].by is not None) == means]
    error = math.sqrt(sum(each["error"] ** 2 for each in found)) / len(found)
    return {"share": statistics.fmean(each["share"] for each in found), "error": error}


def between(share: float, error: float) -> str:
    """Say whether a share of intervals is within the aims; too many that hold are no harm, and said to be wide."""
    if LEAST_COVERED <= share <= MOST_COVERED:
        return "yes"
    if share > MOST_COVERED:
        return "wide"
    return "within its error" if share + ERRORS * error >= LEAST_COVERED else "**no**"


def aims(found: Mapping[str, Any]) -> list[Judged]:
    """Return all aims, each with what was measured."""
    judged = []
    for name, each in found["errors"].items():
        case = CASES[name]
        if case.aim is None:
            continue
        what, (value, error), digits = f"{name}: root mean square error of a cell", root(each["ours"]), 2
        if case.by is not None:
            ratio = each["others"][INDEPENDENT]["over"]
            what, value, error, digits = f"{name}: error over independent noise", ratio["ratio"], ratio["error"], 3
        measured = f"{value:.{digits}f} +- {error:.{digits}f}"
        judged.append(Judged(what, f"<= {case.aim:g}", measured, at_most(value, case.aim, error)))
    for means, said in ((False, "count"), (True, "mean")):
        share, error = (pooled(found["errors"], means=means)[one] for one in ("share", "error"))
        aim = f"{100 * LEAST_COVERED:.1f} to {100 * MOST_COVERED:.1f} %"
        measured = f"{100 * share:.2f} +- {100 * error:.2f} %"
        judged.append(Judged(f"95 % intervals of a {said}", aim, measured, between(share, error)))
    agree = min(each["agree"] for name, each in found["errors"].items() if _agrees(name))
    verdict = "yes" if agree == 1.0 else "**no**"
    judged.append(Judged("complete tables under pure DP have one total", "always", f"{100 * agree:g} %", verdict))
    requests, draws = found["requests"], found["draws"]
    what = f"{requests['count']} random requests: largest planned error over that of independent noise"
    judged.append(Judged(what, "<= 1", f"{requests['worst']:.4g}", at_most(requests["worst"], 1.0)))
    rate = 5e5 * FREE / draws["columns"]
    what = "million coordinates a second, five columns of 100,000 cells"
    verdict = "yes" if rate >= LEAST_RATE else "**no**"
    judged.append(Judged(what, f">= {LEAST_RATE / 1e6:g}", f"{rate / 1e6:.2f}", verdict))
    judged.append(_time("noise of ten tables of 100 cells, ms", draws["tables"], MOST_DRAWS))
    seconds = found["plan"]
    what = "a plan of twenty tables in a fresh process, CPU s"
    judged.append(Judged(what, f"<= {MOST_PLAN:g}", f"{seconds:.2f}", at_most(seconds, MOST_PLAN)))
    return judged


def _agrees(name: str) -> bool:
    """Return whether all tables of a case must have one total."""
    case = CASES[name]
    return case.by is None and case.complete and not case.delta


def _time(what: str, seconds: float, aim: float) -> Judged:
    return Judged(what, f"<= {aim * 1e3:g}", milliseconds(seconds), at_most(seconds, aim))


def report(found: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    lines = [
        "# Many tables, and means of many columns, of the same people",
        "",
        f"{machine()}; {versions}. The load of the machine was {found['load'][0]:.2f} before and "
        f"{found['load'][1]:.2f} after.",
        "",
        "## Cases",
        "",
        "One row is one unit, neighbors differ by one row, and epsilon is 1 for all tables or means of a case. "
        "Complete columns are declared to be so; otherwise a unit may be in no cell of a table, or have no value of a "
        "column.",
        *table("case", "package: data", "rows are", "rows", "columns", "values", "delta"),
    ]
    for name, case in CASES.items():
        source = SOURCES[case.source]
        data = f"{source.package}: {source.item}" if source.package else "docs/examples/workers.csv"
        columns = (
            f"{case.questions} yes/no questions" if case.questions else ", ".join(case.columns or case.ranges or {})
        )
        columns += f" by {case.by}" if case.by else ""
        known = "complete" if case.complete else "may be missing"
        lines.append(row(name, data, source.rows_are, f"{found['rows'][name]:,}", columns, known, f"{case.delta:g}"))
    lines += [
        "",
        "## Aims",
        "",
        f"A number that is above its aim by less than {ERRORS:g} standard errors is within its error. Errors of means "
        "are ratios of mean squared errors. The aims for means were set for means at the middle of their range: away "
        "from it the error of the common count enters, which noise of a norm hardly lowers. "
        "For random requests, errors are those that the plan compares: the largest standard deviation of a cell, or "
        "for statistics of the numerator of a mean. Counts beside means can have up to 10 % more noise. "
        f"Coordinates are those that are free, {FREE} for a column whose values may be missing.",
        *table("what", "aim", "measured", "met"),
        *(aim.line() for aim in aims(found)),
        *_errors(found["errors"]),
        *_coverage(found["errors"]),
        *_times(found),
    ]
    return "\n".join(lines) + "\n"


def _errors(errors: Mapping[str, Any]) -> list[str]:
    lines = [
        "",
        "## Errors",
        "",
        "Root of the mean squared error over all cells and repeats: of counts in units, of means in percent of the "
        "width of their range. The ratio is of mean squared errors, ggdp's over the other's.",
        "",
        "All other libraries have independent noise in every cell, of all tables in one call: OpenDP by `make_laplace` "
        "or `make_gaussian` on a vector, scaled by `binary_search_param`; PipelineDP by `Metrics.SUM` on its local "
        "backend with public partitions; Tumult Analytics by `count` or `sum` of a `KeySet` with `AddMaxRows`. Means "
        "are centered sums over counts: one count for all columns where they are complete, and one for each otherwise. "
        "With a delta, OpenDP converts zCDP of discrete Gaussian noise to it, and Tumult Analytics, which has no such "
        "goal for Gaussian noise, gets the same rho. ggdp's independent noise is of the best order, by `order`.",
        *table("case", "library", "noise", "repeats", "root of the error", "ggdp's error over it"),
    ]
    for name, each in errors.items():
        scale, unit = (1.0, "") if CASES[name].by is None else (100.0, " %")
        rows = {OURS: each["ours"], **each["others"]}
        for library, other in rows.items():
            value, error = (scale * part for part in root(other))
            ratio = f"{other['over']['ratio']:.3f} +- {other['over']['error']:.3f}" if library != OURS else ""
            noise = each["noise"] if library == OURS else ""
            lines.append(row(name, library, noise, other["repeats"], f"{value:.3g} +- {error:.2g}{unit}", ratio))
    return lines


def _coverage(errors: Mapping[str, Any]) -> list[str]:
    lines = [
        "",
        "## Intervals and totals",
        "",
        "The share of ggdp's 95 % intervals that contain the true value, in percent, with its standard error over "
        "releases; and in how many releases all tables add up to one total, with no adjustment.",
        *table("case", "intervals that hold", "releases with one total"),
    ]
    for name, each in errors.items():
        share, error = each["covered"]["share"], each["covered"]["error"]
        agree = f"{100 * each['agree']:.1f} %" if CASES[name].by is None else ""
        lines.append(row(name, f"{100 * share:.2f} +- {100 * error:.2f}", agree))
    return lines


def _times(found: Mapping[str, Any]) -> list[str]:
    draws = found["draws"]
    return [
        "",
        "## Time",
        "",
        "A release from rows to numbers, in ms. That of ggdp is planned and has intervals; the others begin with long "
        "form and have none.",
        *table("case", *found["time"][TIMED[0]]),
        *(row(name, *map(milliseconds, times.values())) for name, times in found["time"].items()),
        "",
        f"Noise for five means by 100,000 cells, {draws['numbers']:.0f} numbers a cell, takes "
        f"{milliseconds(draws['columns'])} ms. Noise for ten tables of 100 cells takes {milliseconds(draws['tables'])} "
        f"ms, and {milliseconds(draws['first'])} ms for the first time in a process.",
    ]
