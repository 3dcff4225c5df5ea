"""The benchmark of tables as a page."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from pages import machine, milliseconds, row, table
from tables_data import ADULT, COUNTED
from tables_rounds import CORES, KEYS

if TYPE_CHECKING:
    from collections.abc import Callable

_JOBS = {
    "plain": "plain count, not private",
    "distinct": "plain count of distinct persons, not private",
    "pure": "declared table, pure DP",
    "approximate": "declared table, aDP, order auto",
    "open": "no domain: keys chosen privately, aDP",
    "unit": "declared table of persons, pure DP, at most 3 cells each",
    "counting": "ggdp's counting alone",
    "sparse": "sparse table, pure DP, one false cell on average",
}


@dataclass(frozen=True, slots=True)
class Aim:
    """An aim and what was measured; at least or at most."""

    what: str
    aim: float
    measured: float
    processor: float | None = None
    unit: str = ""
    at_least: bool = False

    @property
    def met(self) -> bool:
        return self.measured >= self.aim if self.at_least else self.measured <= self.aim

    def line(self) -> str:
        shown = "" if self.processor is None else f"{self.processor:.2f}{self.unit}"
        sign = ">=" if self.at_least else "<="
        verdict = "yes" if self.met else "**no**"
        return row(self.what, f"{sign} {self.aim:g}{self.unit}", f"{self.measured:.2f}{self.unit}", shown, verdict)


def report(found: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    rows, cells = found["sizes"]["rows"], prod(COUNTED.values())
    lines = [
        "# Private tables: what they cost beside plain counts, and beside OpenDP",
        "",
        f"{machine()}; {versions}. The load of the machine was {found['load'][0]:.2f} before and "
        f"{found['load'][1]:.2f} after, of which this run makes up to {CORES}.",
        "",
        f"The table has {rows:,} rows, three columns of text with {' x '.join(map(str, COUNTED.values()))} = {cells:,} "
        f"cells, uneven as by Zipf's law, and a column of persons; it is a Parquet file of {found['bytes'] / 1e6:.0f} "
        f"MB, made from hashes of the rows' numbers. Everything is kept to {CORES} cores; DuckDB takes "
        f"{found['threads']} threads, alone and inside ggdp. A release goes from the path to an Arrow table with "
        "intervals; a plain count goes to an Arrow table too, and keeps its connection. They are timed in turn in a "
        "warm process, and a ratio is the median over the rounds of the ratio within a round. Processor time adds "
        "up all threads and leaves out the waiting for other programs, so that on a busy machine it counts.",
        "",
        "## Aims",
        *table("what", "aim", "measured", "by processor time", "met"),
        *(aim.line() for aim in aims(found)),
        *_beside(found),
        *_opendp(found["opendp"]),
        *_memory(found["memory"]),
        *_units(found["unit"]),
        *_cells(found),
        *_sparse(found),
        *_rows(found["rows"]),
        *_reading(found),
        *_engines(found["engines"]),
    ]
    return "\n".join(lines) + "\n"


def aims(found: dict[str, Any]) -> list[Aim]:
    """Return all aims, each with what was measured."""
    main, unit, sparse = found["main"], found["unit"], found["sparse"]
    million = next(point for point in found["cells"] if point["asked"] == found["sizes"]["cells"])["after"]

    def over(what: str, aim: float, each: dict[str, Any]) -> Aim:
        return Aim(what, aim, each["ratio"]["middle"], each["processor ratio"]["middle"])

    judged = [
        over("a release under pure DP over DuckDB's plain count", 1.25, main["pure"]),
        over("a release under aDP, the noise planned before, over DuckDB's plain count", 1.25, main["approximate"]),
    ]
    for known in KEYS:
        what = f"OpenDP's release with {known} over ggdp's"
        judged.append(Aim(what, 10.0, found["opendp"][known]["ratio"]["middle"], at_least=True))
    if found["memory"] is not None:
        pure, plain = found["memory"]["pure"], found["memory"]["plain"]
        judged.append(
            Aim("the most memory of the process, over DuckDB's plain count", 1.3, pure["peak"] / plain["peak"])
        )
        judged.append(Aim("the rise of memory, over that of DuckDB's plain count", 1.3, pure["rise"] / plain["rise"]))
    return [
        *judged,
        over("a release of persons, at most 3 cells each, over the plain count of distinct ones", 1.5, unit["unit"]),
        Aim(
            f"{found['sizes']['cells']:,} cells released, after counting",
            0.5,
            million["clock"],
            million["processor"],
            " s",
        ),
        over(f"a sparse release of {prod(ADULT.values()):.4g} cells over DuckDB's plain count", 2.0, sparse["sparse"]),
    ]


def _timed(times: dict[str, Any], *columns: tuple[str, Callable[[dict[str, Any]], str]]) -> list[str]:
    """Return a table of jobs with their times, their ratios to the base, and further columns."""
    heads = ("what", "ms", "over the first", "quartiles", "by processor time", *(head for head, _ in columns))
    lines = table(*heads)
    for job, each in times.items():
        middle = each["ratio"]
        cells = (milliseconds(each["clock"]), f"{middle['middle']:.2f}", f"{middle['low']:.2f} to {middle['high']:.2f}")
        more = (form(each) for _, form in columns)
        lines.append(row(_JOBS.get(job, job), *cells, f"{each['processor ratio']['middle']:.2f}", *more))
    return lines


def _beside(found: dict[str, Any]) -> list[str]:
    starts = "; ".join(f"{_JOBS[job]}: {milliseconds(seconds)} ms" for job, seconds in found["first"].items())
    return [
        "",
        "## Beside DuckDB's plain count",
        *_timed(found["main"]),
        "",
        "The noise of a request is planned and calibrated once, and kept by the process. The first call of a process "
        f"that has imported everything, planning and the engine's own start included: {starts}.",
    ]


def _opendp(times: dict[str, Any]) -> list[str]:
    lines = [
        "",
        "## Beside OpenDP",
        "",
        "`Context.compositor` over `scan_parquet`, `dp.len`, epsilon 1, one row a unit. With public keys all cells are "
        "given by `with_keys`, which is ggdp's job; with keys of the data a margin says that the keys that occur are "
        "public. Beside them polars alone, in OpenDP's version of it.",
        *table("what", "ms", "times ggdp's time", "quartiles"),
    ]
    for name, each in times.items():
        shown = name if name in ("ggdp", "plain polars") else f"OpenDP, {name}"
        middle = each["ratio"]
        quartiles = f"{middle['low']:.1f} to {middle['high']:.1f}"
        lines.append(row(shown, milliseconds(each["clock"]), f"{middle['middle']:.1f}", quartiles))
    return lines


def _memory(memory: dict[str, dict[str, float]] | None) -> list[str]:
    lines = ["", "## Memory", ""]
    if memory is None:
        return [*lines, "Not measured: this system does not say how much memory a process held at most."]
    lines += [
        "The most memory that a process holds at once while it does the job, and how much more that is than before, in "
        "MB. Each job has processes of its own; all of them have done all of these jobs on a small table before.",
        *table("what", "most", "rise"),
    ]
    return lines + [
        row(_JOBS[job], f"{each['peak'] / 1e6:.0f}", f"{each['rise'] / 1e6:.0f}") for job, each in memory.items()
    ]


def _units(times: dict[str, Any]) -> list[str]:
    return [
        "",
        "## Several rows a person",
        "",
        "The plain count of distinct persons answers the same question without privacy, and without a bound on the "
        f"cells of a person; the release takes {times['unit']['ratio']['middle']:.2f} times its time, and "
        f"{times['unit']['processor ratio']['middle']:.2f} times its processor time.",
        *_timed(times),
    ]


def _cells(found: dict[str, Any]) -> list[str]:
    lines = [
        "",
        "## More and more cells",
        "",
        f"Declared tables of three columns, {found['sizes']['cell_rows']:,} rows, pure DP. After counting come noise, "
        "intervals and the Arrow table; the opening of the file, which comes before, is in that time too. Writing, "
        "with the manifest, is beside it.",
        *table("cells", "release, ms", "after counting, ms", "ns a cell", "CSV, ms", "Parquet, ms"),
    ]
    for point in found["cells"]:
        after = point["after"]["clock"]
        cells = (milliseconds(point["whole"]["clock"]), milliseconds(after), f"{after / point['cells'] * 1e9:.0f}")
        writing = (milliseconds(point["writing"][ending]) for ending in ("csv", "parquet"))
        lines.append(row(f"{point['cells']:,}", *cells, *writing))
    return lines


def _sparse(found: dict[str, Any]) -> list[str]:
    return [
        "",
        f"## A sparse table of {prod(ADULT.values()):.4g} cells",
        "",
        f"{found['sizes']['rows']:,} rows, {len(ADULT)} columns of text, {found['sparse cells']:,} cells that are not "
        "empty; the release is of a domain that nobody could list.",
        *_timed(found["sparse"]),
    ]


def _rows(points: list[dict[str, Any]]) -> list[str]:
    lines = [
        "",
        "## More and more rows",
        "",
        f"Three columns, {prod(COUNTED.values()):,} cells, pure DP.",
        *table("rows", "release, ms", "plain count, ms", "release over plain", "ns a row, release", "ns a row, plain"),
    ]
    for point in points:
        if "left out" in point:
            lines.append(row(f"{point['rows']:,}", f"left out: {point['left out']}", "", "", "", ""))
            continue
        release, plain = point["pure"], point["plain"]
        times = (milliseconds(release["clock"]), milliseconds(plain["clock"]), f"{release['ratio']['middle']:.2f}")
        each = (f"{one['clock'] / point['rows'] * 1e9:.1f}" for one in (release, plain))
        lines.append(row(f"{point['rows']:,}", *times, *each))
    return [*lines, "", *_growth([point for point in points if "left out" not in point])]


def _growth(points: list[dict[str, Any]]) -> list[str]:
    """Return how the time grows with the last step of the curve; linearly is as much as the rows, or less."""
    if len(points) < 2:
        return []
    before, last = points[-2:]
    grown = last["pure"]["clock"] / before["pure"]["clock"]
    return [
        f"From {before['rows']:,} to {last['rows']:,} rows, {last['rows'] / before['rows']:g} times as many, a release "
        f"takes {grown:.1f} times as long, and the plain count "
        f"{last['plain']['clock'] / before['plain']['clock']:.1f} times."
    ]


def _reading(found: dict[str, Any]) -> list[str]:
    lines = [
        "",
        "## What it costs that rows are read one by one",
        "",
        f"{found['sizes']['text_rows']:,} rows of the same table. Text files are cut into records by ggdp, since "
        "a reader that starts in the middle of a file may take one record for many; relations are handed over to a "
        "database of its own, and statistics of Parquet files are not used, since they can decide for many rows at "
        "once. Each release beside DuckDB's plain count of the same source, and in the last line DuckDB's plain count "
        "without statistics beside itself.",
        *table("source", "release, ms", "plain count, ms", "over plain", "by processor time"),
    ]
    for name, times in found["reading"].items():
        each = times["release"]
        over = (f"{each['ratio']['middle']:.2f}", f"{each['processor ratio']['middle']:.2f}")
        lines.append(row(name, milliseconds(each["clock"]), milliseconds(times["plain"]["clock"]), *over))
    return lines


def _engines(engines: dict[str, Any]) -> list[str]:
    lines = [
        "",
        "## Frames of other engines",
        "",
        "The same table, counted by the frame's own engine, beside that engine's plain count, in turn in one process: "
        "polars scans the file lazily, Spark reads it in the local session that ggdp starts, pyarrow and pandas hold "
        "the three columns in memory. No aim was set.",
        *table("engine", "release, ms", "plain count, ms", "release over plain", "by processor time of Python"),
    ]
    for engine, times in engines.items():
        if "left out" in times:
            lines.append(row(engine, f"left out: {times['left out']}", "", "", ""))
            continue
        each = times["release"]
        over = (f"{each['ratio']['middle']:.2f}", f"{each['processor ratio']['middle']:.2f}")
        cells = (milliseconds(each["clock"]), milliseconds(times["plain"]["clock"]))
        # Spark's work is done by Java, whose time is not Python's.
        lines.append(row(engine, *cells, over[0], "" if engine == "spark" else over[1]))
    return lines
