"""Checks of how the records of text files were read. NOT private."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ggdp.tables.engines.duckdb.database import connected
from ggdp.tables.engines.duckdb.reading import json_problems
from ggdp.tables.engines.files import found_files
from ggdp.tables.engines.frames import quietly
from ggdp.tables.engines.text_files import Found, fields_found

if TYPE_CHECKING:
    from ggdp.tables.engines.files import Files
    from ggdp.tables.engines.text_files import TextFormat


@dataclass(frozen=True, slots=True, kw_only=True)
class TextCheck:
    """How the records of CSV and JSON files were read.

    Attributes
    ----------
    encoding : str
        The encoding that was assumed.
    records : int
        How many records there are: each is a row.
    invalid : int
        Records with text that is not valid in the encoding; such text matches no level.
    surplus : int
        Records with more fields than the header names; the further fields are ignored.
    further_lines : int
        Line ends inside records of CSV files, or blank lines.
    with_line_ends : int
        Records with a line feed or a carriage return inside, which strict lines would split.
    not_objects : int, optional
        Records of JSON files that are not JSON objects, and so rows without values; None for CSV files.
    advice : tuple of str
        What to do.
    """

    encoding: str
    records: int
    invalid: int
    surplus: int
    further_lines: int
    with_line_ends: int
    not_objects: int | None = None
    advice: tuple[str, ...] = ()


def text_check(data: object, text: TextFormat | None) -> TextCheck | None:
    """Return how the records of text files were read; None for anything else."""
    files = found_files(data, text) if isinstance(data, str | os.PathLike) else None
    if files is None or files.format == "parquet":
        return None
    return quietly(files.named, lambda: (_csv_check if files.has_header else _json_check)(files))


def _json_check(files: Files) -> TextCheck:
    connection = connected()
    try:
        records, invalid, others, several = json_problems(connection, files)
    finally:
        connection.close()
    advice = [_encoding_advice(files)] * (invalid > 0)
    if others:
        are = (
            "1 record is not a JSON object and counts as a row"
            if others == 1
            else (f"{others:,} records are not JSON objects and count as rows")
        )
        advice.append(f"{are} without values; write one object per line")
    advice += _lines_advice(files, several)
    return TextCheck(
        encoding=files.text.encoding,
        records=records,
        invalid=invalid,
        surplus=0,
        further_lines=0,
        with_line_ends=several,
        not_objects=others,
        advice=tuple(advice),
    )


def _encoding_advice(files: Files) -> str:
    return f"some text is not valid {files.text.encoding}; give the encoding of the file, such as latin-1"


def _lines_advice(files: Files, several: int, *, blank: bool = False) -> list[str]:
    """Return what to say of strict lines if they are not declared, by how many records they would split."""
    if files.text.strict_lines:
        return []
    if blank and not several:
        return ["blank lines are records of this file, which strict lines (--strict-lines) would leave out"]
    if not several:
        return [
            "each record is one line: if the writer never puts line ends inside fields, declare strict lines "
            "(--strict-lines, strict_lines=True), so that a misplaced quote or line end in one row cannot change how "
            "other rows are read"
        ]
    are = "1 record contains" if several == 1 else f"{several:,} records contain"
    return [
        f"{are} line ends; strict lines (--strict-lines) would split such records, so declare them only if the "
        "writer never puts line ends inside fields"
    ]


def _csv_check(files: Files) -> TextCheck:
    found = Found()
    for path, header in zip(files.paths, files.headers, strict=True):
        fields_found(path, header, files.text, files.delimiter, found)
    advice = []
    if found.invalid:
        advice.append(_encoding_advice(files))
    if found.surplus:
        advice.append("some records have more fields than the header; a delimiter inside a field must be quoted")
    if len(files.header) == 1:
        advice.append("the header names one column; if the file has more, give their delimiter, such as ;")
    if found.further_lines > 0 and files.text.quoted and not files.text.strict_lines:
        advice.append("some quoted fields contain line ends; if the file does not quote fields, declare that")
    if found.backslashes and files.text.escape is None and files.text.quoted:
        advice.append("some quotes follow a backslash; if the file escapes quotes this way (Spark does), declare that")
    # Line ends in fields far beyond the header are seen by the number of lines.
    several = max(found.with_line_ends, int(found.otherwise > found.records))
    advice += _lines_advice(files, several, blank=found.otherwise < found.records)
    if files.text.strict_lines and found.otherwise < found.records:
        advice.append(
            f"there would be {found.otherwise:,} records if line ends inside quotes belonged to fields; do not declare "
            "strict lines if the writer puts line ends inside fields"
        )
    return TextCheck(
        encoding=files.text.encoding,
        records=found.records,
        invalid=found.invalid,
        surplus=found.surplus,
        further_lines=max(found.further_lines, 0),
        with_line_ends=several,
        advice=tuple(advice),
    )
