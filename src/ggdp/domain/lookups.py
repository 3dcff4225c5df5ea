"""Public look-ups: files that give the value of a derived column for each key, such as the region of a postal code.

The file is public text in UTF-8 (CSV) with a header, whose columns are found by the names of key and derived column,
unless there are two. Fields are separated by commas, or by semicolons or tabs if the header has no comma. Keys and
values are text as it is written, and compared with the text of the key (`ggdp.sources.codes`). An empty value is a
missing one, and so is the value of a key that is not listed.

Claim. A derived column that is looked up has one value in each row, which the row's key and the public file decide. On
an engine that joins tables, a left join with unique keys neither drops a row nor repeats one: every row matches one row
of the look-up or none. So a file that repeats a key is refused, with its line.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ggdp._files import MOST_JSON, read_file
from ggdp.errors import ArgumentError


@dataclass(frozen=True)
class Lookup:
    """A look-up: the column whose values it gives, the column of its keys, and the file, as a manifest has it."""

    name: str
    key: str
    file: str  # its name, without its directory
    sha256: str
    path: str = field(compare=False)  # where it is

    @classmethod
    def of(cls, name: str, key: object, declared: object) -> Lookup:
        """Return the look-up of a column, from a path, or from what a manifest says of it."""
        if isinstance(declared, Lookup):
            return declared
        said = f"lookup of {name!r}"
        if not isinstance(key, str) or not key:
            raise ArgumentError(f"key of {name!r}", key, "must be the column of the data whose values are looked up")
        if isinstance(declared, Mapping) and all(isinstance(declared.get(part), str) for part in ("file", "sha256")):
            return cls(name, key, declared["file"], declared["sha256"], declared.get("path", declared["file"]))
        if not isinstance(declared, str | os.PathLike):
            raise ArgumentError(said, declared, "must be the path of a CSV file with a header")
        path = os.fspath(declared)
        content = read_file(path, argument=said, most=MOST_JSON)
        found = cls(name, key, os.path.basename(path), hashlib.sha256(content).hexdigest(), path)
        found.table  # noqa: B018 - raises if it is none
        return found

    def path_from(self, directory: str | os.PathLike[str] | None) -> str:
        """Return the path of the file, from a directory, if one is given and the path is relative."""
        if directory is None or os.path.isabs(self.path):
            return self.path
        return Path(os.path.relpath(self.path, directory)).as_posix()

    @cached_property
    def table(self) -> dict[str, str | None]:
        """The value of each key; raises if the file is not there, or is another one than was declared."""
        said = f"lookup of {self.name!r}"
        if not os.path.exists(self.path):
            what = "is not there: put it beside the manifest or into the working directory, or declare it again"
            raise ArgumentError(said, self.path, what)
        content = read_file(self.path, argument=said, most=MOST_JSON)
        if hashlib.sha256(content).hexdigest() != self.sha256:
            what = "is no longer the file that was declared (its SHA-256 is another one); declare it again to use it"
            raise ArgumentError(said, self.path, what)
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ArgumentError(said, self.path, "is not UTF-8 text; save it as CSV in UTF-8") from None
        delimiter = next((mark for mark in ",;\t" if mark in text.partition("\n")[0]), ",")
        records = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        found: dict[str, str | None] = {}
        try:
            header: list[str] = next(records, [])
            named = header.count(self.key) == header.count(self.name) == 1
            if not named and len(header) != 2:
                what = f"must have two columns, or a header with a column {self.key!r} and a column {self.name!r}"
                raise ArgumentError(said, self.path, what)
            key, value = (header.index(self.key), header.index(self.name)) if named else (0, 1)
            for record in filter(None, records):
                line = f"in line {records.line_num}"
                if len(record) != len(header):
                    what = f"has {len(record)} fields {line} where its header has {len(header)}"
                    raise ArgumentError(said, self.path, f"{what}; put fields with a comma in double quotes")
                if not record[key]:
                    raise ArgumentError(said, self.path, f"has an empty key {line}; remove the line")
                if record[key] in found:
                    what = f"has the key {record[key]!r} again {line}: a row would have two values; keys must be unique"
                    raise ArgumentError(said, self.path, what)
                found[record[key]] = record[value] or None
        except csv.Error as wrong:
            raise ArgumentError(said, self.path, f"is not a CSV file (line {records.line_num}: {wrong})") from None
        if not any(found.values()):
            raise ArgumentError(said, self.path, "has no values")
        return found


def in_directory_of(file: str, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a file declares of columns, with the paths of look-ups from its directory on."""
    directory = os.path.dirname(file)
    return {
        name: {**declared, "lookup": os.path.join(directory, declared["lookup"])}
        if isinstance(declared, Mapping) and isinstance(declared.get("lookup"), str)
        else declared
        for name, declared in columns.items()
    }
