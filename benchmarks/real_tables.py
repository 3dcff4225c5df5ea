"""From raw files to published tables, as a steward goes: ``python3 benchmarks/run.py real_tables``.

Each file is looked at with ``ggdp check FILE`` and then published with ``ggdp release``, or with a study; no other
program touches it. The flags of a release that say how the file is written must be among those that the checks have
named. What else it says is in the code book: levels, ranges, who the rows are.
"""

from __future__ import annotations

import csv
import json
import os
import re
import resource
import shlex
import subprocess
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from pages import machine, table

# Flags that say how a file is written; and who is protected, which a check can only guess.
_WRITTEN = ("--delimiter", "--decimal", "--thousands", "--date-format", "--null-values", "--encoding")
_NAMED = (*_WRITTEN, "--unit")
# Commands are run so often, and the fastest run counts: the others share the machine with something else.
_RUNS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Steward:
    """What a steward types about a file: the flags of each check, and of the release; `study` runs it once more."""

    source: str
    checks: tuple[str, ...] = ("",)
    release: str
    study: bool = False
    units_are_cut: bool = False


STEWARDS = {
    "flights": Steward(
        source="flights-*.csv.gz",
        checks=("", "--null-values NA"),
        release="--by origin,time_hour --levels origin=EWR,JFK,LGA --bins time_hour=2013-01-01:2014-01-01:quarter "
        "--mean dep_delay --range dep_delay=-30:300 --null-values NA --unit-is-row --unit-name flights --digits 1",
    ),
    "laboratory": Steward(
        source="laboratory.csv",
        checks=("", "--delimiter ';'"),
        release="--delimiter ';' --decimal , --thousands . --by test --levels test=chol,dbp,fib4,hdl,sbp,smoke "
        "--unit id --max-cells 6 --unit-name patients",
    ),
    "orders": Steward(
        source="orders.csv",
        checks=("", "--delimiter ';'"),
        release="--delimiter ';' --decimal , --date-format %d.%m.%Y --by date,type "
        "--bins date=2015-01-01:2016-01-01:month --levels type=chicken,classic,supreme,veggie --sum price "
        "--range price=0:200 --unit id --max-cells 4 --unit-name orders --digits 0",
    ),
    "ratings": Steward(
        source="ratings.csv",
        release="--encoding cp1252 --by timestamp --bins timestamp=1995-01-01:2017-01-01:year --mean rating "
        "--range rating=0.5:5 --unit userId --max-cells 2 --unit-name users",
        units_are_cut=True,
    ),
    "personnel": Steward(
        source="personnel.csv.zst",
        release="--by branch,gender --levels 'branch=air force,army,marine corps,navy' --levels gender=female,male "
        "--unit-is-row --unit-name people",
        study=True,
    ),
    "stops": Steward(
        source="stops.xlsx",
        release="--by problem,gender --levels problem=suspicious,traffic --levels gender=Female,Male,Unknown "
        "--missing gender=missing --unit-is-row --unit-name stops",
    ),
    "insurance": Steward(
        source="insurance.xlsx",
        release="--by region,insurance --levels region=midwest,northeast,south,west --levels insurance=no,yes "
        "--mean age --range age=18:65 --unit-is-row --unit-name people",
    ),
    "census": Steward(
        source="census.dta",
        release="--by gender1,gender2 --levels gender1=1,2 --labels gender1=male,female --levels gender2=male,female "
        "--mean work --range work=0:52 --unit-is-row --unit-name mothers",
    ),
    "survey": Steward(
        source="survey.sav",
        release="--by sex,abany --levels sex=Male,Female --levels abany=0..1 --labels abany=no,yes "
        "--missing abany=missing --unit-is-row --unit-name respondents",
    ),
    "voters": Steward(
        source="voters.tsv",
        release="--null-values . --by racef,votetrump --levels votetrump=0..1 --missing votetrump=missing "
        "--levels 'racef=Asian,Black,Hispanic,Middle Eastern,Mixed,Native American,Other,White' "
        "--unit-is-row --unit-name respondents",
    ),
    "lectures": Steward(
        source="lectures.xpt",
        release="--by dept --levels dept=1..15 --mean y --range y=1:5 --unit s --max-cells 5 --unit-name students",
        units_are_cut=True,
    ),
    "chains": Steward(
        source="chains.feather",
        release="--by sex,sample.yr --levels sex=F,M --levels sample.yr=1995..2003 --median kappa --range kappa=0:20 "
        "--unit-is-row --unit-name people",
    ),
}


def _timed(command: list[str], folder: Path) -> tuple[float, str, str]:
    """Return the processor time of a command in a process of its own, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"error: {shlex.join(command)} failed:\n{done.stderr or done.stdout}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout, done.stderr


def _named(flags: list[str]) -> list[str]:
    """Return the flags, with their values, that say how a file is written or who is protected."""
    return [f"{flag} {value}" for flag, value in pairwise(flags) if flag in _NAMED]


def _flags_in(found: dict[str, Any]) -> list[str]:
    """Return the flags that a check names; encodings are named by what fits."""
    said = " ".join([*found["alarms"], *((found["text"] or {}).get("advice") or ())])
    named = re.findall(rf"({'|'.join(_NAMED)}) ('[^']*'|[^\s.,]\S*|[.,](?=\s))", said)
    flags = [f"{flag} {shlex.split(value)[0]}" for flag, value in named]
    fitting = re.search(r"declare the encoding of the file: ([\w-]+)", said)
    return list(dict.fromkeys([*flags, *([f"--encoding {fitting[1]}"] if fitting else [])]))


def _published(path: Path, by: int, true: dict[str, int]) -> tuple[int, int]:
    """Return how many cells a table has, and how many of its intervals contain the true counts."""
    with path.open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    inside = 0
    for row in rows:
        count = true.get("|".join(list(row.values())[:by]), 0)
        inside += int(row["lower"]) <= count <= int(row["upper"])
    return len(rows), inside


def run(ggdp: Path, folder: Path, name: str, true: dict[str, int]) -> dict[str, Any]:
    """Go from a file to its published table, and say what was met."""
    asked, program = STEWARDS[name], [str(ggdp.parent / "ggdp")]
    flags, seconds, named = shlex.split(asked.release), [], []
    for check in asked.checks:
        command = [*program, "check", asked.source, *shlex.split(check)]
        seconds.append(min(_timed(command, folder)[0] for _ in range(_RUNS)))
        named += _flags_in(json.loads(_timed([*command, "--json"], folder)[1]))
    study = ["--save-study", f"{name}.toml"] if asked.study else []
    release = [
        *program,
        "release",
        asked.source,
        *flags,
        "--epsilon",
        "1",
        *study,
        "--overwrite",
        "--out",
        f"{name}-out.csv",
    ]
    runs = [_timed(release, folder) for _ in range(_RUNS)]
    seconds.append(min(took for took, _, _ in runs))
    if asked.study:
        again = [*program, "release", f"{name}.toml", "--overwrite", "--out", f"{name}-again"]
        seconds.append(min(_timed(again, folder)[0] for _ in range(_RUNS)))
    if wrong := [line for _, _, said in runs for line in said.splitlines() if "consistent with" in line]:
        raise SystemExit(f"error: {name}: {wrong[0]}")
    if missing := [one for one in _named(flags) if one not in named and one.startswith(_WRITTEN)]:
        raise SystemExit(f"error: {name}: the checks did not name {', '.join(missing)}, but {', '.join(named)}")
    by = len(flags[flags.index("--by") + 1].split(","))
    cells, inside = _published(folder / f"{name}-out.csv", by, true)
    return {
        "source": asked.source,
        "named": [one for one in dict.fromkeys(named) if one in _named(flags)],
        "commands": len(seconds),
        "seconds": seconds,
        "cells": cells,
        "inside": None if asked.units_are_cut else inside,
    }


def report(document: dict[str, Any]) -> str:
    """Return the page of results."""
    versions = ", ".join(f"{name} {number}" for name, number in document["versions"].items())
    found = document["tables"]
    slowest = max(max(one["seconds"]) for one in found.values())
    lines = [
        "# Real tables, from raw file to published table",
        "",
        f"{machine()}, by `python3 benchmarks/run.py real_tables`. The tables are those of {versions}, written as raw",
        "files. Each is looked at with `ggdp check` and published with `ggdp release`; no other program touches it.",
        "*Named by check* are flags of the release that the checks had named: all of those that say how the file is",
        f"written, and the unit where its name tells. Processor seconds are those of the fastest of {_RUNS} fresh",
        "processes; releases use epsilon = 1. *Inside* counts cells whose 95% interval contains the true count; where",
        "a unit is in more cells than it is counted in, the interval is about what is counted.",
        *table(
            "file", "form", "rows", "named by check", "commands", "CPU s, check", "CPU s, release", "cells", "inside"
        ),
    ]
    for name, one in found.items():
        checks = len(STEWARDS[name].checks)
        named = ", ".join(f"`{flag}`" for flag in one["named"]) or "nothing to declare"
        inside = "" if one["inside"] is None else one["inside"]
        times = (max(one["seconds"][:checks]), max(one["seconds"][checks:]))
        shown = [f"{one['rows']:,}", named, one["commands"], *(f"{took:.1f}" for took in times), one["cells"], inside]
        lines.append("| " + " | ".join(map(str, (f"`{one['source']}`", one["form"].rstrip("."), *shown))) + " |")
    commands = sum(one["commands"] for one in found.values())
    lines += ["", f"{len(found)} files, {commands} commands, no conversion. The slowest took {slowest:.1f} CPU s.", ""]
    return "\n".join(lines)


def document(ggdp: Path, folder: Path, data: dict[str, Any]) -> dict[str, Any]:
    """Return what was met with each file that was written."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    tables = {}
    for name, written in data["tables"].items():
        tables[name] = {**written, **run(ggdp, folder, name, written["true"])}
        print(f"{name}: {tables[name]['seconds']}", file=sys.stderr, flush=True)
    return {"versions": data["versions"], "tables": tables}
