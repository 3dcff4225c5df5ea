"""Workbooks, Stata, SPSS, SAS and Arrow files are counted as their rows say, one row at a time."""

import datetime as dt
import gzip
import subprocess
import sys
from pathlib import Path

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyreadstat
import pytest

import ggdp
from ggdp.errors import ArgumentError, MissingExtraError, SourceError
from ggdp.sources.program_files import _cell_text, _instant_text, _meaning
from ggdp.sources.query import CountQuery, open_source
from ggdp.sources.text_files import TextFormat

PEOPLE = pd.DataFrame(
    {
        "id": [1.0, 2.0, 2.0, 3.0, None],
        "sex": [1.0, 2.0, 2.0, 1.0, None],
        "town": ["Zürich", "Genève", "", "Zürich", "Bern"],
        "born": [dt.date(2000, 1, 31), dt.date(1999, 12, 31), None, dt.date(2001, 6, 1), dt.date(2000, 2, 1)],
        "seen": pd.to_datetime(
            ["2024-01-01 00:00", "2024-01-01 23:59:59", "2024-02-01", None, "2023-12-31 12:00"], format="ISO8601"
        ),
    }
)
LATE = dt.datetime(2024, 1, 1, 23, 59, 59)  # noqa: DTZ001
DOMAIN = ggdp.Domain(
    {
        "sex": {"levels": [1, 2], "missing": "?"},
        "town": {"levels": ["Zürich", "Genève", "Bern"], "missing": "?"},
        "born": {"edges": {"from": dt.date(1999, 1, 1), "to": dt.date(2002, 1, 1), "every": "year"}, "missing": "?"},
        "seen": {"edges": [dt.date(2024, 1, 1), LATE, dt.date(2025, 1, 1)], "other": "-"},
    }
)
COUNTS = {
    "sex": {"1": 2, "2": 2, "?": 1},
    "town": {"Zürich": 2, "Genève": 1, "Bern": 1, "?": 1},
    "born": {"1999": 1, "2000": 2, "2001": 1, "?": 1},
}


def workbook(folder, rows, *more, name="people.xlsx"):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for title in more:
        book.create_sheet(title)
    book.save(folder / name)
    return folder / name


def excel(folder):
    PEOPLE.to_excel(folder / "people.xlsx", index=False)
    return folder / "people.xlsx"


def stata(folder):
    pyreadstat.write_dta(PEOPLE, folder / "people.dta", variable_value_labels={"sex": {1: "men", 2: "women"}})
    return folder / "people.dta"


def spss(folder):
    pyreadstat.write_sav(PEOPLE, folder / "people.sav")
    return folder / "people.sav"


def sas(folder):
    pyreadstat.write_xport(PEOPLE, folder / "people.xpt")
    return folder / "people.xpt"


def feather(folder):
    plain = {name: [None if pd.isna(value) else value for value in PEOPLE[name]] for name in PEOPLE}
    plain["town"] = [town or None for town in plain["town"]]
    pa.feather.write_feather(pa.table(plain), folder / "people.feather")
    return folder / "people.feather"


WRITERS = [excel, stata, spss, sas, feather]


def counted(path, name, text=None, domain=DOMAIN, **query):
    columns = [name, *([query["unit"]] if "unit" in query else [])]
    with open_source(path, columns=columns, text=text) as source:
        (found,) = source.count(CountQuery(marginals=(domain.project([name]),), **query))
    labels = domain[name].labels
    return {str(labels[cell]): int(count) for cell, count in zip(found.cells, found.counts, strict=True)}


@pytest.mark.parametrize("write", WRITERS)
def test_a_file_is_counted_as_its_rows_say(tmp_path, write):
    path = write(tmp_path)
    for name, expected in COUNTS.items():
        assert counted(path, name) == expected


# Files that SAS wrote (sas/LICENSES.txt), with what other programs read in them.
WRITTEN_BY_SAS = {
    "hadley": ({"gender": {"levels": ["f", "m"], "missing": "?"}, "q3": {"levels": [2, 4, 5], "missing": "?"}}, 8),
    "datetime": ({"VAR2": {"edges": [dt.date(1940, 1, 1), dt.date(2015, 1, 1), dt.date(2016, 1, 1)]}}, 4),
    "dates_null": (
        {"datecol": {"edges": [dt.date(2000, 1, 1), dt.date(9999, 1, 1)], "other": "open", "missing": "?"}},
        2,
    ),
}
READ_IN_THEM = {
    "gender": {"f": 3, "m": 4, "?": 1},
    "q3": {"2": 1, "4": 3, "5": 3, "?": 1},
    "VAR2": {"[1940-01-01, 2015-01-01)": 2, "[2015-01-01, 2016-01-01)": 2},
    "datecol": {"open": 1, "?": 1},
}


@pytest.mark.parametrize("name", WRITTEN_BY_SAS)
def test_a_file_that_sas_wrote_is_checked_and_counted(tmp_path, name):
    path = tmp_path / f"{name}.sas7bdat"
    path.write_bytes(gzip.decompress((Path(__file__).parent / "sas" / f"{name}.sas7bdat.gz").read_bytes()))
    columns, rows = WRITTEN_BY_SAS[name]
    found = ggdp.check_table(path)
    assert found.rows == rows
    assert {"hadley": "integers", "datetime": "times", "dates_null": "dates"}[name] in {c.reads_as for c in found.seen}
    for column in columns:
        assert counted(path, column, domain=ggdp.Domain(columns)) == READ_IN_THEM[column]


@pytest.mark.parametrize("write", WRITERS)
def test_times_are_compared_to_the_second(tmp_path, write):
    # A null is not counted: no level is declared for it.
    assert list(counted(write(tmp_path), "seen").values()) == [1, 2, 1]


@pytest.mark.parametrize("write", WRITERS)
def test_units_of_a_file_are_its_distinct_values_and_null_is_none(tmp_path, write):
    assert counted(write(tmp_path), "sex", unit="id", key=bytes(32)) == {"1": 2, "2": 1}


@pytest.mark.parametrize("write", WRITERS)
def test_a_release_of_a_file_is_that_of_its_frame(tmp_path, write):
    asked = {"by": "town", "goal": ggdp.PureDP(1.0), "domain": DOMAIN, "rng": ggdp.SeededSource(seed=7)}
    released = ggdp.release_table(write(tmp_path), **asked)
    towns = pd.DataFrame({"town": [town or None for town in PEOPLE["town"]]})
    again = ggdp.release_table(towns, **{**asked, "rng": ggdp.SeededSource(seed=7)})
    assert released.to_arrow().equals(again.to_arrow())


@pytest.mark.parametrize("write", [excel, stata, spss, sas])
def test_an_empty_text_is_missing_and_no_level(tmp_path, write):
    domain = ggdp.Domain({"town": ["", "Bern"]})
    with pytest.raises(ArgumentError, match="an empty field"), open_source(write(tmp_path), columns=["town"]) as source:
        source.count(CountQuery(marginals=(domain,)))


@pytest.mark.parametrize("write", WRITERS)
def test_every_row_is_counted_where_a_column_is_complete(tmp_path, write):
    columns = {
        "sex": ({"levels": [2]}, {"2": 5}),
        "town": ({"levels": ["Bern", "Genève"]}, {"Bern": 4, "Genève": 1}),
        "born": ({"edges": [dt.date(2000, 2, 1), dt.date(2001, 1, 1), dt.date(2002, 1, 1)]}, None),
    }
    for name, (declared, found) in columns.items():
        domain = ggdp.Domain({name: {**declared, "complete": True}})
        counts = counted(write(tmp_path), name, domain=domain)
        assert counts == (found or {"[2000-02-01, 2001-01-01)": 4, "[2001-01-01, 2002-01-01)": 1})


@pytest.mark.parametrize("write", WRITERS)
def test_several_files_are_one_table(tmp_path, write):
    path = write(tmp_path)
    path.rename(tmp_path / f"a{path.suffix}")
    write(tmp_path)
    assert counted(str(tmp_path / f"*{path.suffix}"), "sex") == {"1": 4, "2": 4, "?": 2}


@pytest.mark.parametrize("write", WRITERS)
def test_a_missing_column_is_named_before_a_row_is_read(tmp_path, write):
    with pytest.raises(ArgumentError, match="no such column"):
        open_source(write(tmp_path), columns=["twon"])


@pytest.mark.parametrize("suffix", [".xlsx", ".dta", ".sav", ".sas7bdat", ".xpt", ".feather"])
def test_a_damaged_file_fails_without_a_word_of_its_content(tmp_path, suffix):
    path = tmp_path / f"people{suffix}"
    path.write_bytes(b"PK\x03\x04 Ada Lovelace " * 100)
    with pytest.raises((SourceError, ArgumentError)) as failed:
        counted(path, "sex")
    assert "Ada" not in str(failed.value)
    assert failed.value.__cause__ is None
    assert failed.value.__context__ is None or suffix == ".feather"


@pytest.mark.parametrize(("write", "cut"), [(excel, 0.7), (stata, 0.9), (spss, 0.97), (feather, 0.6)])
def test_a_file_that_is_cut_off_is_never_counted_in_part(tmp_path, write, cut):
    path = write(tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * cut)])
    with pytest.raises((SourceError, ArgumentError)):
        counted(path, "sex")


def test_a_sheet_is_named_where_there_are_several(tmp_path):
    path = workbook(tmp_path, [["a"], ["x"]], "other")
    domain = ggdp.Domain({"a": ["x"]})
    with pytest.raises(ArgumentError, match=r"several sheets: name one with `sheet`: 'Sheet', 'other'"):
        counted(path, "a", domain=domain)
    assert counted(path, "a", TextFormat(sheet="Sheet"), domain) == {"x": 1}
    with pytest.raises(ArgumentError, match="is not a sheet of"):
        counted(path, "a", TextFormat(sheet="Sheet 1"), domain)


TITLES = [["Hospital: discharges, 2025", None, None], ["as of January", None, None], [], ["ward", "age", "cost"]]


@pytest.mark.parametrize("suffix", [".xlsx", ".csv", ".csv.gz"])
def test_titles_above_the_header_are_seen_by_check_and_skipped_where_it_is_named(tmp_path, suffix):
    rows = [["eyes" if n % 3 else "heart", n, "1.234,50"] for n in range(90)]
    path = tmp_path / f"titles{suffix}"
    if suffix == ".xlsx":
        workbook(tmp_path, [*TITLES, *rows], name=path.name)
    else:
        text = "\r\n".join(";".join("" if v is None else str(v) for v in row) for row in [*TITLES, *rows]).encode()
        path.write_bytes(gzip.compress(text) if suffix == ".csv.gz" else text)
    more = {} if suffix == ".xlsx" else {"delimiter": ";"}
    said = "row 4 seems to name the columns, below titles: pass --header-row 4"
    assert said + (" --delimiter ';'." if more else ".") in " ".join(f"{one}." for one in ggdp.check_table(path).alarms)
    found = ggdp.check_table(path, header_row=4, **more)
    assert ([one.name for one in found.seen], found.rows) == (["ward", "age", "cost"], 90)
    assert not any("titles" in one for one in found.alarms)
    domain = ggdp.Domain({"ward": {"levels": ["heart", "eyes"]}})
    assert counted(path, "ward", TextFormat(header_row=4, **more), domain) == {"heart": 30, "eyes": 60}
    with pytest.raises(ArgumentError, match=r"must name its columns|of the same name in its header"):
        counted(path, "ward", TextFormat(header_row=2, **more), domain)


def test_a_header_row_that_is_not_there_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ArgumentError, match="has no header: line 9 must name the columns"):
        ggdp.check_table(tmp_path / "a.csv", header_row=9)
    with pytest.raises(ArgumentError, match="has no header: its first row is empty; name the sheet with `sheet`"):
        ggdp.check_table(workbook(tmp_path, []))
    with pytest.raises(ArgumentError, match="header_row = 2: is for CSV files and workbooks; this is a stata file"):
        ggdp.check_table(stata(tmp_path), header_row=2)


def test_a_blank_row_of_a_workbook_is_no_record_and_shifts_nothing(tmp_path):
    path = workbook(tmp_path, [[None, "a", "b"], [None, "x", "y"], [None, None, None], [None, None, "y"]])
    assert counted(path, "a", domain=ggdp.Domain({"a": {"levels": ["x"], "missing": "none"}})) == {"x": 1, "none": 1}


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("", None),
        (" a", " a"),
        (1.0, "1"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (1e22, "10000000000000000000000"),
        (True, "true"),
        (dt.date(2024, 2, 29), "2024-02-29"),
        (dt.datetime(2024, 2, 29), "2024-02-29"),  # noqa: DTZ001
        (dt.datetime(2024, 2, 29, 1, 2, 3), "2024-02-29 01:02:03"),  # noqa: DTZ001
    ],
)
def test_a_cell_of_a_workbook_has_one_text(cell, text):
    assert _cell_text(cell) == text


MIXED = [
    ["n", "day", "time"],
    [1.234, dt.date(2024, 1, 31), dt.datetime(2024, 1, 31, 12, 30)],  # noqa: DTZ001
    ["1.234,5", "01.02.2024", "01.02.2024 00:00"],
    [2000, dt.date(2024, 2, 29), dt.date(2024, 2, 1)],
    ["12.5", "2024-02-01", dt.datetime(2024, 1, 31, 12, 30, 59)],  # noqa: DTZ001
]
AS_WRITTEN = {
    "n": {"edges": [0, 10, 1000, 3000], "decimal": ",", "thousands": ".", "other": "-"},
    "day": {"edges": {"from": dt.date(2024, 1, 1), "to": dt.date(2024, 3, 1), "every": "month"}, "other": "-"},
    "time": {"edges": [dt.date(2024, 1, 1), dt.date(2024, 2, 1), dt.date(2024, 3, 1)], "other": "-"},
}
AS_WRITTEN["day"]["date_format"], AS_WRITTEN["time"]["date_format"] = "%d.%m.%Y", "%d.%m.%Y %H:%M"


def test_numbers_and_days_of_a_workbook_are_themselves_however_text_is_written(tmp_path):
    """1.234 in a cell of numbers is no thousand, and a day is one beside days in text."""
    path, domain = workbook(tmp_path, MIXED), ggdp.Domain(AS_WRITTEN)
    assert counted(path, "n", domain=domain) == {"[0, 10)": 1, "[1000, 3000]": 2, "-": 1}
    assert counted(path, "day", domain=domain) == {"2024-01": 1, "2024-02": 2, "-": 1}
    # A time with seconds is not one of hours and minutes.
    assert list(counted(path, "time", domain=domain).values()) == [1, 2, 1]
    found = ggdp.check_table(path, "day", domain, where="n >= 1000")
    assert [(one.rows, one.unmatched) for one in found.columns] == [(2, 0)]
    # Pandas has such cells as values of Python, and reads them so, too.
    frame = pd.DataFrame(MIXED[1:], columns=MIXED[0])
    for name in ("n", "day"):
        assert counted(frame, name, domain=domain) == counted(path, name, domain=domain)


@pytest.mark.parametrize("write", [excel, stata, spss, sas])
def test_days_of_a_file_are_days_where_text_has_another_format(tmp_path, write):
    declared = {**DOMAIN["born"].declaration(), "date_format": "%d/%m/%Y"}
    assert counted(write(tmp_path), "born", domain=ggdp.Domain({"born": declared})) == COUNTS["born"]


def test_a_value_is_read_again_where_another_query_declares_it_otherwise(tmp_path):
    path = workbook(tmp_path, MIXED)
    number = ggdp.Domain({"n": {"edges": [0, 10, 1000, 3000], "other": "-"}})
    with open_source(path, columns=["n"]) as source:
        for domain, counts in ((number, [1, 1, 1, 1]), (ggdp.Domain(AS_WRITTEN).project(["n"]), [1, 2, 1])):
            (found,) = source.count(CountQuery(marginals=(domain,)))
            assert found.counts.tolist() == counts


@pytest.mark.parametrize(
    ("declared", "kind", "value", "text"),
    [
        ("%td", "stata", 23376.0, "2024-01-01"),
        ("%tdD_m_Y", "stata", -1.0, "1959-12-31"),
        ("%td", "stata", 0.5, "0.5"),
        ("%td", "stata", 1e300, "1e+300"),
        ("%tc", "stata", 2019697445000.0, "2024-01-01 03:04:05"),
        ("DATE11", "spss", 13923446400.0, "2024-01-01"),
        ("DATETIME20", "spss", 13923457445.0, "2024-01-01 03:04:05"),
        ("DATE9.", "sas", 23376.0, "2024-01-01"),
        ("DATETIME", "sas", -0.5, "1959-12-31 23:59:59.500000"),
        ("YYMMDD10", "sas", float("inf"), "inf"),
        ("YYMMDD10", "sas", float("nan"), None),
        ("DATE", "sas", None, None),
    ],
)
def test_a_number_with_a_format_of_days_or_times_has_one_text(declared, kind, value, text):
    assert _instant_text(value, *_meaning(declared, kind)) == text


@pytest.mark.parametrize(("declared", "kind"), [("%9.0g", "stata"), ("%tm", "stata"), ("F8.2", "spss"), (None, "sas")])
def test_other_formats_mean_a_number(declared, kind):
    assert _meaning(declared, kind) is None


def test_text_in_another_encoding_is_read_value_by_value(tmp_path):
    path = spss(tmp_path)
    # The file says UTF-8; one value is not.
    path.write_bytes(path.read_bytes().replace("Genève".encode(), "Genèv".encode("latin-1") + b"e "))
    assert counted(path, "town") == {"Zürich": 2, "Bern": 1, "?": 1}
    assert counted(path, "sex") == COUNTS["sex"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sheet": "a"}, "is for Excel workbooks"),
        ({"strict_lines": True}, "have no lines"),
        ({"delimiter": ";"}, "CSV"),
    ],
)
def test_an_option_for_other_files_is_refused(tmp_path, options, said):
    with pytest.raises(ArgumentError, match=said):
        open_source(stata(tmp_path), columns=["sex"], text=TextFormat(**options))


def test_spark_does_not_read_them(tmp_path):
    with pytest.raises(ArgumentError, match="does not read stata files"):
        open_source(stata(tmp_path), columns=["sex"], engine="spark")


@pytest.mark.parametrize(("write", "name"), [(excel, "python_calamine"), (stata, "pyreadstat")])
def test_without_the_extra_an_error_says_what_to_install(tmp_path, monkeypatch, write, name):
    path = write(tmp_path)
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=r"ggdp\[files\]"):
        counted(path, "sex")


@pytest.mark.parametrize("write", [excel, stata, spss, sas])
def test_no_file_needs_pandas(tmp_path, monkeypatch, write):
    path = write(tmp_path)
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert counted(path, "sex") == COUNTS["sex"]
    assert [one.name for one in ggdp.check_table(path).seen] == list(PEOPLE)


def test_the_libraries_load_only_for_such_a_file():
    code = "import sys, ggdp.sources.query; print({'pyreadstat', 'python_calamine'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_a_sheet_is_in_the_request_of_a_manifest_only_if_it_is_named(tmp_path):
    path = workbook(tmp_path, [["a"], ["x"]])
    asked = {"by": "a", "goal": ggdp.PureDP(1.0), "domain": {"a": ["x"]}}
    assert "sheet" not in ggdp.release_table(path, **asked).manifest["table"]["request"]["text"]
    assert ggdp.release_table(path, **asked, sheet="Sheet").manifest["table"]["request"]["text"]["sheet"] == "Sheet"
