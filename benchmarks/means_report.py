"""The benchmark of means as a page."""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from means_cells import SIZES
from means_data import REQUESTS
from means_rounds import GOALS
from pages import machine, milliseconds, row, table
from tables_data import COUNTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Our error over theirs; coverage of 95 % intervals; our time over the plain query's.
MOST_ERROR, LEAST_COVERED, MOST_COVERED, MOST_TIME = 0.5, 0.945, 0.965, 1.3
# Of these libraries half of the error is the aim; the others are beside them.
AIMED = ("OpenDP", "PipelineDP", "PipelineDP, Gaussian noise")
_STATISTICS = ("count", "sum", "mean", "variance")
# A measured number may be on the wrong side of an aim by so many standard errors before it is said to miss it. Ten of
# the ratios are one half in truth, or near it, so that in one run of five one of them is said to miss by chance.
ERRORS = 2.0


@dataclass(frozen=True, slots=True)
class Judged:
    """An aim, what was measured with its standard error, and whether it is met."""

    what: str
    aim: str
    measured: str
    verdict: str

    def line(self) -> str:
        return row(self.what, self.aim, self.measured, self.verdict)


def at_most(value: float, aim: float, error: float = 0.0) -> str:
    """Say whether a value is at most the aim, or is above it by no more than its error explains."""
    if value <= aim:
        return "yes"
    return "within its error" if value - ERRORS * error <= aim else "**no**"


def between(tally: Iterable[int]) -> str:
    """Say whether the share of intervals that hold is within the aims, or outside by no more than its error explains.

    A share that is too high is no harm to anybody who reads the interval, and is said to be wide.
    """
    share, error = share_of(tally)
    if LEAST_COVERED <= share <= MOST_COVERED:
        return "yes"
    if share > MOST_COVERED:
        return "wide"
    return "within its error" if share + ERRORS * error >= LEAST_COVERED else "**no**"


def share_of(tally: Iterable[int]) -> tuple[float, float]:
    """Return the share of intervals that hold, and its standard error."""
    held, tried = tally
    share = held / tried
    return share, math.sqrt(share * (1.0 - share) / tried)


def percent(tally: Iterable[int]) -> str:
    return f"{100.0 * share_of(tally)[0]:.2f}"


def added(tallies: Iterable[list[int]]) -> list[int]:
    return [sum(each) for each in zip(*tallies, strict=True)]


def pooled(tables: Mapping[str, Any], library: str) -> dict[str, float]:
    """Return the geometric mean over the tables of the ratios, with its standard error."""
    ratios = [table["others"][library] for table in tables.values()]
    middle = math.exp(sum(math.log(each["ratio"]) for each in ratios) / len(ratios))
    relative = math.sqrt(sum((each["error"] / each["ratio"]) ** 2 for each in ratios)) / len(ratios)
    return {"ratio": middle, "error": middle * relative}


def aims(found: dict[str, Any]) -> list[Judged]:
    """Return all aims, each with what was measured."""
    judged = []
    for goal, tables in found["errors"].items():
        for library in (name for name in AIMED if name in next(iter(tables.values()))["others"]):
            for name, each in tables.items():
                judged.append(_error_aim(f"{goal}: {name}, error over that of {library}", each["others"][library]))
            judged.append(_error_aim(f"{goal}: all tables, error over that of {library}", pooled(tables, library)))
    for statistic in _STATISTICS:
        tally = added(each for goal in found["coverage"].values() for each in goal[statistic].values())
        judged.append(
            _coverage_aim(f"95 % intervals of a {statistic}, cells of {SIZES[0]} to {SIZES[-1]:,} people", tally)
        )
    tally = added(each["covered"] for tables in found["errors"].values() for each in tables.values())
    judged.append(_coverage_aim("95 % intervals of a mean, the tables of others", tally))
    release = found["speed"]["beside"]["release"]
    for clock, name in (("ratio", "time"), ("processor ratio", "processor time")):
        value = release[clock]["middle"]
        what = f"count, mean and variance over DuckDB's plain query, {name}"
        judged.append(Judged(what, f"<= {MOST_TIME:g}", f"{value:.2f}", at_most(value, MOST_TIME)))
    return judged


def _error_aim(what: str, each: Mapping[str, float]) -> Judged:
    measured = f"{each['ratio']:.3f} +- {each['error']:.3f}"
    return Judged(what, f"<= {MOST_ERROR:g}", measured, at_most(each["ratio"], MOST_ERROR, each["error"]))


def _coverage_aim(what: str, tally: list[int]) -> Judged:
    aim = f"{100 * LEAST_COVERED:.1f} to {100 * MOST_COVERED:.1f} %"
    return Judged(what, aim, f"{percent(tally)} %", between(tally))


def report(found: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    lines = [
        "# Means by group: their error beside other libraries, their intervals and their time",
        "",
        f"{machine()}; {versions}. The load of the machine was {found['load'][0]:.2f} before and "
        f"{found['load'][1]:.2f} after.",
        *_tables(found["tables"]),
        "",
        "## Aims",
        "",
        f"A number that is above its aim by less than {ERRORS:g} standard errors is within its error. In large groups "
        "under pure DP the error over PipelineDP's is one half exactly, whatever the data: it centres its sum as well "
        "as can be, and pays for a sum and a count where ggdp pays for one of them.",
        *table("what", "aim", "measured", "met"),
        *(aim.line() for aim in aims(found)),
        *_errors(found["errors"]),
        *_coverage(found),
        *_speed(found),
    ]
    return "\n".join(lines) + "\n"


def _tables(tables: Mapping[str, Any]) -> list[str]:
    lines = [
        "",
        "## Tables",
        "",
        "One row is one unit, neighbours differ by one row; the groups, and the range of the values, are public.",
        *table("table", "package: data", "rows are", "rows", "mean of", "by", "groups", "smallest", "range", "step"),
    ]
    for name, request in REQUESTS.items():
        what = (f"{request.package}: {request.data}", request.rows_are, f"{tables[name]['rows']:,}", request.column)
        groups = (request.by, len(request.groups), tables[name]["smallest"])
        public = (f"{request.low:g} to {request.high:g}", f"{request.step:g}")
        lines.append(row(name, *what, *groups, *public))
    return lines


def _errors(goals: Mapping[str, Any]) -> list[str]:
    lines = [
        "",
        "## Errors",
        "",
        "Root of the mean squared error over all groups and repeats, in percent of the width of the range, against the "
        "mean of the clamped values. Estimates of all libraries are clamped to the range; where a library gives none, "
        "the middle of the range is taken. The ratio is of mean squared errors, ggdp's over the other's, with its "
        "standard error; small groups weigh most in it, so the median over the groups of their ratios is beside it.",
        "",
        "OpenDP: `dp.mean` in its context of polars, with `with_keys`. PipelineDP: `Metrics.MEAN` on its local backend "
        "with public partitions. Both split the budget evenly between a count and a sum, which PipelineDP centres. "
        "Tumult Analytics: `average` of a `KeySet`. diffprivlib: `tools.mean` of each group, with the number of rows "
        "of each group public, which the others protect.",
    ]
    for goal, tables in goals.items():
        heads = ("table", "library", "repeats", "root of the error, %", "ggdp's error over it", "median group")
        lines += ["", f"### {goal[0].upper()}{goal[1:]}", *table(*heads)]
        for name, each in tables.items():
            lines.append(row(name, "ggdp", each["ours"]["repeats"], _root(each["ours"]), "", ""))
            for library, other in each["others"].items():
                over = (f"{other['ratio']:.3f} +- {other['error']:.3f}", f"{other['typical']:.3f}")
                lines.append(row(name, library, other["repeats"], _root(other), *over))
    return lines


def _root(each: Mapping[str, Any]) -> str:
    return f"{100.0 * math.sqrt(each['mean']):.3g}"


def _coverage(found: dict[str, Any]) -> list[str]:
    lines = [
        "",
        "## Coverage",
        "",
        f"The share of 95 % intervals that contain the true value, in percent, over {found['sizes']['coverage']} "
        "releases of count, sum, mean and variance together, of a table with six cells of each size: all values at one "
        "end of the range or at the other, in its middle, half at each end, spread evenly, and skewed. An empty cell "
        "has no mean and no variance.",
        *table("budget", "statistic", *(f"{size:,} people" for size in SIZES)),
    ]
    for goal in GOALS:
        for statistic in _STATISTICS:
            shares = found["coverage"][goal][statistic]
            lines.append(row(goal, statistic, *(percent(shares[str(n)]) if str(n) in shares else "" for n in SIZES)))
    lines += ["", "Means of the tables of others, in percent:", *table("budget", *REQUESTS)]
    for goal, tables in found["errors"].items():
        lines.append(row(goal, *(percent(tables[name]["covered"]) for name in REQUESTS)))
    return lines


def _speed(found: dict[str, Any]) -> list[str]:
    speed = found["speed"]
    lines = [
        "",
        "## Time",
        "",
        f"Count, mean and variance of one column of whole numbers by {prod(COUNTED.values()):,} cells over "
        f"{found['sizes']['rows']:,} rows, a Parquet file of {speed['bytes'] / 1e6:.0f} MB; epsilon 1. The plain query "
        "is `SELECT ..., count(*), avg(x), var_pop(x) ... GROUP BY ALL` of DuckDB, timed in turn with the release in "
        "one process.",
        *table("what", "ms", "over the plain query", "quartiles", "by processor time"),
    ]
    names = {"plain": "plain query, not private", "release": "count, mean and variance of ggdp"}
    for job, each in speed["beside"].items():
        middle = each["ratio"]
        quartiles = f"{middle['low']:.2f} to {middle['high']:.2f}"
        cells = (milliseconds(each["clock"]), f"{middle['middle']:.2f}", quartiles)
        lines.append(row(names[job], *cells, f"{each['processor ratio']['middle']:.2f}"))
    clock = speed["opendp"]["clock"]
    return [
        *lines,
        "",
        f"OpenDP's release of count and mean alone, with the same cells as public keys, takes {clock['OpenDP']:.1f} s, "
        f"{speed['opendp']['ratio']:.0f} times as long as ggdp's with the variance.",
    ]
