"""Files with malformed rows, with and without one of them: with strict lines nobody else's row is read otherwise.

A row is bytes here, with the line end that its writer gave it, whatever that is. Without strict lines a malformed row
changes others, which is the control of the check; how far, the table of docs/explanation/threat-model.md says.
"""

from __future__ import annotations

import gzip
import random
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
from tests.cases import examples
from tests.fuzz.asking import FULL, asked
from tests.fuzz.neighbours import difference, outcome
from tests.fuzz.test_fuzz import first_seed

from ggdp.sources import text_files
from ggdp.sources.files import find_files
from ggdp.sources.spark import _rows_of_files
from ggdp.sources.text_files import TextFormat

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "threat-model.md"
WARD = {"ward": {"levels": ["a", "b"], **FULL}}
COLUMNS = ("id", "ward", "note")
# Of the request: longer records are rows without values.
LONGEST = 600

# Notes as a careless writer writes them, without a line end inside.
NOTES = {
    "plain": b"x",
    "well quoted": b'"x, ""y"""',
    "unbalanced quote": b'"x',
    "unbalanced, after a doubled quote": b'"x""',
    "backslash before a quote": b'"say \\"no\\", x"',
    "backslash before the last quote": b'"x\\","',
    "quote in the middle": b'x"y',
    "text after a quote": b'"x"y"',
    "backslash at the end": b"x\\",
    "delimiters": b",;\t" * 100,
    "NULs": b"\0\0x\0",
    "not UTF-8": b"\xff\xc3",
    "quoted, not UTF-8": b'"\xff',
    "separators of Unicode": "\u2028\u2029\x85\x0b\x0c\x1a\x1c\x1e".encode(),
    "byte-order mark": b"\xef\xbb\xbf",
    "very long": b"x" * 2000,
    "very long, unbalanced": b'"' + b"x," * 1000,
    "braces": b'{"a": [1',
    "nothing": b"",
}
ENDS = {"LF": b"\n", "CR LF": b"\r\n", "CR": b"\r", "LF CR": b"\n\r", "LF LF": b"\n\n", "CR CR LF": b"\r\r\n"}


@dataclass(frozen=True)
class Written:
    """A file: its suffix, its header, and rows with the names of what is wrong with them."""

    suffix: str
    header: bytes
    rows: tuple[tuple[str, str, bytes], ...]
    text: TextFormat

    def save(self, folder, without=None):
        data = self.header + b"".join(row for place, (*_, row) in enumerate(self.rows) if place != without)
        if self.text.encoding != "utf-8":
            data = data.decode("latin-1").encode(self.text.encoding)
        path = folder / f"t{self.suffix}"
        if path.suffix == ".gz":
            data = gzip.compress(data, 1)
        if path.suffix == ".zst":
            data = pa.Codec("zstd").compress(data, asbytes=True)
        path.write_bytes(data)
        return path


def random_file(seed, *, strict, json):
    chosen = random.Random(seed)
    ends, notes = list(ENDS), list(NOTES)
    usual = chosen.choice(ends[:3])
    kind = chosen.choice(
        (".jsonl", ".jsonl.gz", ".json.zst") if json else (".csv", ".csv", ".tsv", ".csv.gz", ".csv.zst")
    )
    delimiter = None if json else chosen.choice((None, ";"))
    text = TextFormat(
        strict_lines=strict,
        longest=LONGEST,
        encoding=chosen.choice(("utf-8", "utf-8", "utf-8", "latin-1", "utf-16-le", "utf-16", "utf-32-be")),
        delimiter=delimiter,
        **({} if json else {"quoted": chosen.random() < 0.8, "escape": chosen.choice((None, None, "\\"))}),
    )
    between = (delimiter or ("\t" if kind == ".tsv" else ",")).encode()
    rows = []
    for number in range(chosen.randint(1, 12)):
        note = chosen.choice(notes) if chosen.random() < 0.5 else "plain"
        end = chosen.choice(ends) if chosen.random() < 0.3 else usual
        fields = [str(number).encode(), chosen.choice((b"a", b"b", b'"b"', b"c", b"")), NOTES[note]]
        if json:
            line = b'{"id": %s, "ward": "%s", "note": "%s"}' % (fields[0], fields[1].strip(b'"'), fields[2])
        else:
            # What is malformed is the last field, or the first.
            line = between.join([fields[2] + fields[0], *fields[:2]] if chosen.random() < 0.3 else fields)
        rows.append((note, end, line + ENDS[end]))
    header = b"" if json else between.join(name.encode() for name in COLUMNS) + ENDS[usual]
    return Written(kind, header, tuple(rows), text)


def rows_of(path, text):
    """The rows of a file as Spark's executors read them: the same code as DuckDB's."""
    files = find_files(path, text)
    first = iter([pa.record_batch([pa.array([0])], ["number"])])
    read = _rows_of_files(files, dict.fromkeys(COLUMNS), first)
    return Counter(tuple(row.values()) for batch in read for row in batch.to_pylist())


def violations(written, folder):
    """Places of rows without which some other row is read otherwise, or that are not one record."""
    full = rows_of(written.save(folder), written.text)
    for place in range(len(written.rows)):
        reduced = rows_of(written.save(folder, without=place), written.text)
        if not reduced <= full or full.total() - reduced.total() != 1:
            yield place


def found_in(seeds, folder, *, strict, json):
    """What is wrong with the rows that break the promise, in the files of some seeds."""
    found = set()
    for seed in seeds:
        written = random_file(seed, strict=strict, json=json)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(text_files, "CHUNK", (1 << 22, 64, 5)[seed % 3])
            found |= {(seed, *written.rows[place][:2]) for place in violations(written, folder)}
    return found


@pytest.mark.parametrize(("json", "files"), [(False, 40), (True, 12)], ids=["csv", "json"])
def test_with_strict_lines_a_row_is_one_record_and_changes_no_other(tmp_path, json, files):
    assert found_in(range(files), tmp_path, strict=True, json=json) == set()


@pytest.mark.exhaustive
@pytest.mark.parametrize(("json", "files"), [(False, 3000), (True, 600)], ids=["csv", "json"])
def test_with_strict_lines_a_row_is_one_record_in_many_files(tmp_path, json, files):
    first = first_seed()
    assert found_in(range(first, first + files), tmp_path, strict=True, json=json) == set()


def test_without_strict_lines_the_same_files_break_the_promise(tmp_path):
    found = found_in(range(40), tmp_path, strict=False, json=False)
    assert {note for _, note, _ in found} >= {"unbalanced quote", "backslash before the last quote"}
    assert {end for _, note, end in found if note == "plain"} >= {"CR", "LF CR"}
    assert "CR" in {end for *_, end in found_in(range(8), tmp_path, strict=False, json=True)}


def assert_counted_alike(written, folder, engine):
    """Counts of rows and of units move by at most one row's worth."""
    for unit in (None, "id"):
        full = outcome(written.save(folder), asked(WARD, unit), text=written.text, engine=engine)
        assert full.error is None, full.error
        for place in range(len(written.rows)):
            reduced = outcome(written.save(folder, place), asked(WARD, unit), text=written.text, engine=engine)
            assert difference(full, reduced, 1) is None, written.rows[place]
            assert unit is not None or sum(full.cells[0].values()) - sum(reduced.cells[0].values()) == 1


@pytest.mark.parametrize("json", [False, True], ids=["csv", "json"])
def test_counts_of_strict_lines_move_by_one_row(tmp_path, json):
    for seed in range(examples(2, 40)):
        assert_counted_alike(random_file(seed, strict=True, json=json), tmp_path, "duckdb")


@pytest.mark.exhaustive
@pytest.mark.parametrize("json", [False, True], ids=["csv", "json"])
def test_counts_of_strict_lines_move_by_one_row_on_spark(tmp_path, json):
    for seed in range(2):
        assert_counted_alike(random_file(seed, strict=True, json=json), tmp_path, "spark")


# What the page promises, as what becomes of the rows before and after a row; those after may begin with a quote.
PROMISED = {
    "its own record": ("own", "own"),
    "its own records, one for each line": ("pieces", "pieces"),
    "the next record": ("next", "next"),
    "the next record; if that begins with a quote, any later one": ("next", "later"),
    "any later record": ("later", "later"),
}
# Rows of each kind on the page, and the line end of the others.
ROWS = {
    "is complete, whatever quotes, delimiters or bytes it holds": [
        *(
            (line + b"\n", b"\n")
            for line in (b'3,a,x"y', b'3,a,"x"y"', b"3", b"3,a" + b"," * 99, b"3,\0,\xff", b"\x85")
        ),
        (b'3,a,"' + b"x" * 2 * LONGEST + b'"\n', b"\n"),
        (b"3,a,x\r\n", b"\n"),
    ],
    "has an opening quote that is never closed": [(b'3,a,"x\n', b"\n"), (b'3,"a,x\r\n', b"\r\n"), (b'"3,a,x\r', b"\r")],
    "has a quote after a backslash, with no `--escape` declared": [(b'3,a,"x\\","\n', b"\n")],
    "ends with LF CR instead of LF": [(b"3,a,x\n\r", b"\n")],
    "ends with CR instead of LF": [(b"3,a,x\r", b"\n")],
    "ends with LF instead of CR LF": [(b"3,a,x\n", b"\r\n")],
    "has a line end inside quotes": [(b'3,a,"x\ny"\n', b"\n"), (b'3,a,"x\r\ny"\r\n', b"\r\n")],
    "has a line end that is not quoted": [(b"3,a,x\ny\n", b"\n"), (b"3,a,x\ry\r", b"\r")],
    "JSON: has a raw LF inside a string": [(b'{"id": 3, "note": "x\ny"}\n', None)],
    "JSON: ends with CR instead of LF": [(b'{"id": 3}\r', None)],
    "has no line end at all": [(b"3,a,x", b"\n"), (b"3,a,x", b"\r\n")],
}


def page_rows():
    """The table of the page: for each kind of row what it changes by default, and with strict lines."""
    table = PAGE.read_text().split("## What a malformed row can change")[1].split("```")[1]
    rows = [[cell.strip() for cell in re.split(r"\n +- ", row)] for row in table.split("\n* - ")[2:]]
    return {kind: (by_default, strictly) for kind, by_default, strictly in rows}


def effect(folder, row, end, text, *, quoted):
    """What a row does: it is its own record, is several, or changes the next row or a later one."""
    after = [b'{"id": %d, "ward": "b"}\n' % number for number in range(4, 9)]
    if end is not None:
        first = b'"4' + end + b'",b,y' if quoted else b"4,b,y"
        after = [first + end, *(b"%d,b,y" % number + end for number in range(5, 9))]
    header = b"" if end is None else b"id,ward,note" + end
    path = folder / ("t.jsonl" if end is None else "t.csv")

    def read(*parts):
        path.write_bytes(header + b"".join(parts))
        return rows_of(path, text)

    full, others = read(row, *after), read(*after)
    if others <= full:
        return "own" if full.total() == others.total() + 1 else "pieces"
    return "next" if others - full <= read(after[0]) and read(*after[1:]) <= full else "later"


@pytest.mark.parametrize("kind", ROWS)
def test_the_page_says_what_a_malformed_row_changes(tmp_path, kind):
    for row, end in ROWS[kind]:
        for strict, promised in zip((False, True), page_rows()[kind], strict=True):
            text = TextFormat(strict_lines=strict, longest=LONGEST)
            found = tuple(effect(tmp_path, row, end, text, quoted=quoted) for quoted in (False, True))
            assert found == PROMISED[promised], (row, strict)


def test_the_page_has_no_other_kinds():
    assert page_rows().keys() == ROWS.keys()


@pytest.mark.parametrize("lines", [2, 5])
@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n", b"\n\r"])
@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_a_row_of_several_lines_is_at_most_as_many_records(tmp_path, suffix, end, lines):
    inside = end.join([b'x"'] * lines)
    row = b'3,a,"' + inside + end if suffix == ".csv" else b'{"id": 3, "note": "' + inside + b'"}' + end
    other = b"4,b,y\n" if suffix == ".csv" else b'{"id": 4, "ward": "b"}\n'
    header = b"id,ward,note\n" if suffix == ".csv" else b""
    text, path = TextFormat(strict_lines=True), tmp_path / f"t{suffix}"
    path.write_bytes(header + other * 9)
    others = rows_of(path, text)
    path.write_bytes(header + other * 4 + row + other * 5)
    full = rows_of(path, text)
    assert others <= full
    assert full.total() == 9 + lines
