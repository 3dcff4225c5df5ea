"""Tables written by everybody who writes them: files of every format, and frames of every library.

A `Writer` makes of a table what `open_source` takes: a path, or a frame. What it returns is counted before anything
else is written into the same directory, so that two tables have the same name wherever a message has it.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import warnings
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from tests.fuzz.tables import TYPES, Limits

from ggdp.sources.text_files import TextFormat

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.fuzz.tables import Table

# DuckDB takes no halves from Arrow, and Spark has no unsigned integers either.
_WITHOUT_HALVES = tuple(kind for kind in TYPES if kind != "float16")
_OF_SPARK = tuple(kind for kind in _WITHOUT_HALVES if not kind.startswith("uint"))
_BYTES = Limits(undecodable=True)
# It gives other names to columns that differ in case alone.
_DUCKDB = Limits(_WITHOUT_HALVES, far_days=True, odd_names=False)
_ARROW = Limits(undecodable=True, far_days=True)


@dataclass(frozen=True)
class Writer:
    """Who writes a table, and what it takes."""

    name: str
    write: Callable[[Table, Path], Any]
    limits: Limits = field(default_factory=Limits)
    # Where the values are that must be counted: in the table, in the file as it is written, or not known.
    truth: Literal["table", "file", "unknown"] = "table"
    # How the files of text must be declared to be read as they were written.
    text: TextFormat | None = None
    # What is read where the table has a null: a null, or a text, which may be the id of a unit.
    null: str | None = None


def _plain(value: Any) -> Any:
    """Return a value as one would write it into a file of text."""
    return value.isoformat() if isinstance(value, date) else str(value) if isinstance(value, Decimal) else value


def _csv(table: Table, folder: Path, *, suffix: str = ".csv", **options: Any) -> Path:
    path = folder / f"table{suffix}"
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t" if ".tsv" in suffix else ",", **options)
    writer.writerow(table.names)
    writer.writerows([_plain(value) for value in row] for row in table.rows)
    _save(path, text.getvalue().encode("utf-8", "surrogateescape"))
    return path


def _save(path: Path, data: bytes) -> None:
    if path.suffix == ".gz":
        data = gzip.compress(data, 1)
    elif path.suffix == ".zst":
        buffer = pa.BufferOutputStream()
        with pa.CompressedOutputStream(buffer, "zstd") as packed:
            packed.write(data)
        data = buffer.getvalue().to_pybytes()
    path.write_bytes(data)


def _pandas(table: Table) -> Any:
    import pandas as pd

    return table.arrow().to_pandas(types_mapper=pd.ArrowDtype)


def _objects(table: Table) -> Any:
    import pandas as pd

    columns = {name: pd.Series([_plain(v) for v in table.values(name)], dtype=object) for name in table.names}
    return pd.DataFrame(columns)


def _pandas_csv(table: Table, folder: Path, **options: Any) -> Path:
    path = folder / "table.csv"
    _objects(table).to_csv(path, index=False, errors="surrogateescape", **options)
    return path


def _polars(table: Table) -> Any:
    import polars as pl

    return pl.from_arrow(table.arrow())


def _polars_csv(table: Table, folder: Path, **options: Any) -> Path:
    path = folder / "table.csv"
    _polars(table).write_csv(path, **options)
    return path


def _arrow_csv(table: Table, folder: Path) -> Path:
    path = folder / "table.csv"
    arrow = table.arrow()
    plain = [c.cast(c.type.value_type) if pa.types.is_dictionary(c.type) else c for c in arrow.columns]
    pyarrow.csv.write_csv(pa.Table.from_arrays(plain, names=arrow.column_names), path)
    return path


def _relation(table: Table) -> Any:
    import duckdb

    return duckdb.connect().from_arrow(table.arrow())


def _duckdb_copy(table: Table, folder: Path, *, suffix: str, options: str) -> Path:
    import duckdb

    path = folder / f"table{suffix}"
    connection = duckdb.connect()
    connection.register("written", table.arrow())
    connection.execute(f"COPY written TO '{path}' ({options})")
    return path


def _parquet(table: Table, folder: Path, **options: Any) -> Path:
    path = folder / "table.parquet"
    pq.write_table(table.arrow(), path, **options)
    return path


def _pandas_parquet(table: Table, folder: Path) -> Path:
    path = folder / "table.parquet"
    _pandas(table).to_parquet(path, index=False)
    return path


def _polars_parquet(table: Table, folder: Path, **options: Any) -> Path:
    path = folder / "table.parquet"
    _polars(table).write_parquet(path, **options)
    return path


def _json(table: Table, folder: Path, *, suffix: str = ".jsonl", ascii_only: bool = True) -> Path:
    path = folder / f"table{suffix}"
    lines = [
        json.dumps(dict(zip(table.names, map(_plain, row), strict=True)), ensure_ascii=ascii_only) + "\n"
        for row in table.rows
    ]
    _save(path, "".join(lines).encode("utf-8", "surrogateescape"))
    return path


def _pandas_json(table: Table, folder: Path) -> Path:
    path = folder / "table.jsonl"
    _objects(table).to_json(path, orient="records", lines=True, force_ascii=False)
    return path


def _polars_json(table: Table, folder: Path) -> Path:
    path = folder / "table.ndjson"
    _polars(table).write_ndjson(path)
    return path


def _file_relation(table: Table, folder: Path, *, write: Callable[[Table, Path], Path], sql: str) -> Any:
    import duckdb

    connection = duckdb.connect()
    path = write(table, folder)
    connection.execute(f"CREATE OR REPLACE VIEW written AS FROM read_parquet('{path}')")
    return connection.sql(sql)


def _polars_scan(table: Table, folder: Path, *, write: Callable[[Table, Path], Path], filtered: bool = False) -> Any:
    import polars as pl

    scan = pl.scan_parquet(write(table, folder))
    return scan.with_row_index("row number").filter(pl.col("row number") >= 0) if filtered else scan


def _polars_scan_csv(table: Table, folder: Path) -> Any:
    import polars as pl

    # All text: types of its own choice would follow from the values.
    return pl.scan_csv(_csv(table, folder, quoting=csv.QUOTE_ALL), infer_schema=False)


def _ibis(table: Table, _: Path) -> Any:
    import ibis

    return ibis.memtable(table.arrow())


def _ibis_parquet(table: Table, folder: Path) -> Any:
    import ibis

    return ibis.duckdb.connect().read_parquet(_parquet(table, folder))


def spark_frame(table: pa.Table) -> Any:
    """Return a frame of ggdp's own Spark session, whose data are encrypted: PySpark leaves a socket open then."""
    from ggdp.sources.spark import session

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        return session().createDataFrame(table)


def _spark_frame(table: Table, _: Path) -> Any:
    return spark_frame(table.arrow())


def _spark_parquet_frame(table: Table, folder: Path) -> Any:
    from ggdp.sources.spark import session

    return session().read.parquet(str(_parquet(table, folder)))


def _spark_file(table: Table, folder: Path, *, suffix: str) -> str:
    """Write a table by Spark, and return a pattern of the files that it made."""
    made = folder / f"spark{suffix}"
    writer = _spark_frame(table, folder).coalesce(2).write.mode("overwrite")
    if suffix == ".csv":
        writer.option("header", True).csv(str(made))
    else:
        writer.format({".parquet": "parquet", ".json": "json"}[suffix]).save(str(made))
    return f"{made}/part-*{suffix}"


def _arrow_file(table: Table, folder: Path) -> Path:
    path, arrow = folder / "table.feather", table.arrow()
    with pa.ipc.new_file(path, arrow.schema) as opened:
        opened.write_table(arrow, max_chunksize=3)
    return path


def _workbook(table: Table, folder: Path) -> Path:
    import openpyxl

    path, workbook = folder / "table.xlsx", openpyxl.Workbook(write_only=True)
    sheet = workbook.create_sheet("table")
    sheet.append(table.names)
    for row in table.rows:
        cells = [_plain(value) if isinstance(value, Decimal) else value for value in row]
        # What a workbook cannot hold: control characters, numbers that are not finite, and days before 1900.
        cells = [ascii(value) if isinstance(value, str) and not value.isprintable() else value for value in cells]
        cells = [str(value) if isinstance(value, float) and not math.isfinite(value) else value for value in cells]
        sheet.append([_plain(v) if isinstance(v, date) and v.year < 1901 else v for v in cells])
    workbook.save(path)
    return path


def _statistical(table: Table, folder: Path, *, suffix: str) -> Path:
    """Write numbers as floats and all else as text, under names that the programs take."""
    import pandas as pd
    import pyreadstat

    path, columns = folder / f"table{suffix}", {}
    for each in table.fields:
        name, kind = each.name, each.type
        values = table.values(name)
        if kind.startswith(("int", "uint", "float")):
            columns[name] = pd.Series([None if v is None else float(v) for v in values], dtype="float64")
        elif kind == "date32":
            columns[name] = pd.Series(values, dtype=object)
        else:
            columns[name] = pd.Series(["" if v is None else str(_plain(v)) for v in values], dtype=object)
    getattr(pyreadstat, "write_dta" if suffix == ".dta" else "write_sav")(pd.DataFrame(columns), str(path))
    return path


_CSVS = (
    Writer("csv by pandas", _pandas_csv, _BYTES, truth="file"),
    Writer("csv by pandas, crlf", partial(_pandas_csv, lineterminator="\r\n"), _BYTES, truth="file"),
    Writer("csv by csv.writer, lf", partial(_csv, lineterminator="\n"), _BYTES, truth="file"),
    Writer("csv by csv.writer, crlf", partial(_csv, lineterminator="\r\n"), _BYTES, truth="file"),
    Writer("csv by csv.writer, all quoted", partial(_csv, lineterminator="\n", quoting=csv.QUOTE_ALL), _BYTES, "file"),
    Writer("csv by csv.writer, text quoted", partial(_csv, quoting=csv.QUOTE_NONNUMERIC), _BYTES, truth="file"),
    Writer("tsv by csv.writer", partial(_csv, lineterminator="\n", suffix=".tsv"), _BYTES, truth="file"),
    Writer("csv.gz by csv.writer", partial(_csv, lineterminator="\n", suffix=".csv.gz"), _BYTES, truth="file"),
    Writer("csv.zst by csv.writer", partial(_csv, suffix=".csv.zst"), _BYTES, truth="file"),
    Writer("csv by polars", _polars_csv, truth="file"),
    Writer("csv by polars, crlf", partial(_polars_csv, line_terminator="\r\n", quote_style="always"), truth="file"),
    Writer("csv by Arrow", _arrow_csv, Limits(tuple(k for k in TYPES if k != "decimal")), truth="file"),
    Writer(
        "csv by DuckDB",
        partial(_duckdb_copy, suffix=".csv", options="FORMAT csv, HEADER"),
        replace(_DUCKDB, far_days=False),
        "file",
    ),
)
_PARQUETS = (
    Writer("parquet by Arrow", _parquet, _ARROW),
    Writer("parquet by Arrow, no statistics", partial(_parquet, write_statistics=False, use_dictionary=False), _ARROW),
    Writer(
        "parquet by Arrow, many row groups",
        partial(_parquet, row_group_size=2, data_page_version="2.0", compression="zstd"),
        _ARROW,
    ),
    Writer("parquet by pandas", _pandas_parquet),
    Writer("parquet by polars", _polars_parquet),
    Writer("parquet by polars, many row groups", partial(_polars_parquet, row_group_size=3, statistics="full")),
    Writer(
        "parquet by DuckDB",
        partial(_duckdb_copy, suffix=".parquet", options="FORMAT parquet"),
        _DUCKDB,
    ),
)
_JSONS = (
    Writer("json by json.dumps", partial(_json, ascii_only=True), truth="file"),
    Writer("json by json.dumps, as it is", partial(_json, ascii_only=False), _BYTES, truth="file"),
    Writer("json.gz by json.dumps", partial(_json, ascii_only=False, suffix=".jsonl.gz"), _BYTES, truth="file"),
    Writer("json.zst by json.dumps", partial(_json, ascii_only=False, suffix=".json.zst"), _BYTES, truth="file"),
    Writer("json by pandas", _pandas_json, truth="file"),
    Writer("json by polars", _polars_json, truth="file"),
    Writer(
        "json by DuckDB",
        partial(_duckdb_copy, suffix=".json", options="FORMAT json"),
        replace(_DUCKDB, far_days=False),
        "file",
    ),
)
# Writers of files that Spark and DuckDB read.
FILES = (*_CSVS, *_PARQUETS, *_JSONS)
# Files of other programs.
PROGRAM_FILES = (
    Writer("feather by Arrow", _arrow_file, _ARROW),
    Writer("xlsx by openpyxl", _workbook, truth="unknown"),
    Writer("dta by pyreadstat", partial(_statistical, suffix=".dta"), Limits(odd_names=False), truth="unknown"),
    Writer("sav by pyreadstat", partial(_statistical, suffix=".sav"), Limits(odd_names=False), truth="unknown"),
)
# Frames that are counted by their own engine; those of ibis are slow.
FRAMES = (
    Writer("pandas", lambda table, _: _pandas(table), Limits(far_days=True)),
    Writer("pandas of objects", lambda table, _: _objects(table)),
    Writer("polars", lambda table, _: _polars(table), Limits(far_days=True)),
    Writer("polars lazy", lambda table, _: _polars(table).lazy(), Limits(far_days=True)),
    Writer("polars scan of parquet", partial(_polars_scan, write=_parquet), Limits(far_days=True)),
    Writer("polars filtered scan", partial(_polars_scan, write=partial(_parquet, row_group_size=2), filtered=True)),
    Writer("polars scan of its parquet", partial(_polars_scan, write=_polars_parquet)),
    Writer("polars scan of csv", _polars_scan_csv, truth="unknown", null=""),
    Writer("pyarrow", lambda table, _: table.arrow(), _ARROW),
    Writer("DuckDB relation", lambda table, _: _relation(table), _DUCKDB),
    Writer(
        "DuckDB view of parquet",
        partial(_file_relation, write=_parquet, sql="FROM written"),
        Limits(far_days=True, odd_names=False),
    ),
    Writer(
        "DuckDB view of polars' parquet",
        partial(_file_relation, write=_polars_parquet, sql="FROM written LIMIT 100000"),
        Limits(odd_names=False),
    ),
    Writer("ibis", _ibis, Limits(_WITHOUT_HALVES)),
    Writer("ibis of parquet", _ibis_parquet, Limits(odd_names=False)),
)
SPARK_FRAMES = (
    Writer("Spark", _spark_frame, Limits(_OF_SPARK)),
    Writer("Spark frame of parquet", _spark_parquet_frame, Limits(_OF_SPARK)),
    Writer("csv by Spark", partial(_spark_file, suffix=".csv"), Limits(_OF_SPARK), "unknown", TextFormat(escape="\\")),
    Writer("parquet by Spark", partial(_spark_file, suffix=".parquet"), Limits(_OF_SPARK)),
    Writer("json by Spark", partial(_spark_file, suffix=".json"), Limits(_OF_SPARK), truth="unknown"),
)
WRITERS = {writer.name: writer for writer in (*FILES, *FRAMES, *SPARK_FRAMES, *PROGRAM_FILES)}
