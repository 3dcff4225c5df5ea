"""Records and fields of text files are those of the automaton, wherever the file is cut into chunks."""

import csv
import io
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggdp.sources import text_files as module
from ggdp.sources.text_files import Layout, first_record, records

TERMINATORS = [b"\n", b"\r\n", b"\r"]
FIELDS = 3
LONGEST = 1000


def automaton(text, terminator, longest, *, quoted=True, escape=None):
    """Read a text byte by byte, as the module says; return the first fields of its records."""
    found, record, field, state, place, begun = [], [], b"", "start", 0, 0

    def finished(stop):
        whole = [*record, field]
        if stop > begun:
            known = [(whole[k] or None) if k < len(whole) else None for k in range(FIELDS)]
            found.append(known if stop - begun <= longest else [None] * FIELDS)

    while place < len(text):
        byte = text[place : place + 1]
        if byte == escape:
            # The escape itself, where nothing comes after it.
            field += text[place + 1 : place + 2] or byte
            state = "quoted" if state == "quoted" else "plain"
            place += 2
            continue
        if state == "quoted" and byte != b'"':
            field += byte
        elif state == "quoted":
            state = "quote"
        elif state == "quote" and byte == b'"':
            field, state = field + byte, "quoted"
        elif text.startswith(terminator, place):
            finished(place)
            place += len(terminator) - 1
            record, field, state, begun = [], b"", "start", place + 1
        elif byte == b",":
            record, field, state = [*record, field], b"", "start"
        elif quoted and state == "start" and byte == b'"':
            state = "quoted"
        else:
            field, state = field + byte, "plain"
        place += 1
    finished(len(text))
    return found


def read(text, terminator=b"\n", *, longest=LONGEST, cuts=(), delimiter=b",", **options):
    ends = [0, *sorted(cuts), len(text)]
    chunks = [text[start:stop] for start, stop in pairwise(ends)]
    layout = Layout(delimiter=delimiter, terminator=terminator, longest=longest, **options)
    rows = []
    for arrays in records(chunks, layout, range(FIELDS)):
        for array in arrays:
            array.validate(full=True)
        rows += [list(row) for row in zip(*(array.to_pylist() for array in arrays), strict=True)]
    return rows


PIECES = st.sampled_from([b'"', b'""', b"\r", b"\n", b"\r\n", b",", b"a", b"bc", b'","', b"longer than a view"])
TEXTS = st.lists(PIECES, max_size=24).map(b"".join)


@given(text=TEXTS, terminator=st.sampled_from(TERMINATORS), longest=st.sampled_from([1, 4, 9, LONGEST]), data=st.data())
def test_records_are_those_of_the_automaton_wherever_chunks_end(text, terminator, longest, data):
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=6) | st.just(range(len(text))))
    assert read(text, terminator, longest=longest, cuts=cuts) == automaton(text, terminator, longest)


ESCAPED = st.lists(PIECES | st.sampled_from([b"\\", b'\\"', b"\\,", b"\\\n"]), max_size=24).map(b"".join)


@given(
    text=ESCAPED,
    terminator=st.sampled_from(TERMINATORS),
    longest=st.sampled_from([1, 4, 9, LONGEST]),
    quoted=st.booleans(),
    escape=st.sampled_from([None, b"\\"]),
    data=st.data(),
)
def test_so_they_are_without_quotes_and_with_escapes(text, terminator, longest, quoted, escape, data):
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=6) | st.just(range(len(text))))
    found = read(text, terminator, longest=longest, cuts=cuts, quoted=quoted, escape=escape)
    assert found == automaton(text, terminator, longest, quoted=quoted, escape=escape)


@given(
    text=ESCAPED,
    longest=st.sampled_from([1, 4, 9, LONGEST]),
    quoted=st.booleans(),
    escape=st.sampled_from([None, b"\\"]),
    data=st.data(),
)
def test_with_strict_lines_each_line_is_read_as_a_file_of_its_own(text, longest, quoted, escape, data):
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=6) | st.just(range(len(text))))
    lines = re.findall(rb"[^\r\n]+", text)
    alone = [row for line in lines for row in automaton(line, b"\n", longest, quoted=quoted, escape=escape)]
    assert len(alone) == len(lines)
    assert read(text, longest=longest, cuts=cuts, quoted=quoted, escape=escape, strict_lines=True) == alone


def test_with_strict_lines_proper_quotes_are_counted_not_walked_through(monkeypatch):
    monkeypatch.setattr(module, "_split_by_automaton", None)
    assert read(b'1,"x,y",2\r\n3,"a""b",\n', strict_lines=True) == [[b"1", b"x,y", b"2"], [b"3", b'a"b', None]]


def test_no_delimiter_is_taken_for_a_letter():
    text = b'1x"' + b"a" * 50 + b'"x3\n4x5x6\n'
    for cuts in ([], [20], range(len(text))):
        assert read(text, b"\n", longest=20, cuts=cuts, delimiter=b"x") == [[None] * 3, [b"4", b"5", b"6"]]


@given(
    rows=st.lists(st.lists(st.text('a",\r\n b', max_size=5), min_size=FIELDS, max_size=FIELDS), max_size=5),
    end=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_what_a_writer_has_quoted_is_read_back(rows, end, quoting):
    written = io.StringIO()
    writer = csv.writer(written, lineterminator=end, quoting=quoting)
    # Python 3.11 writes a carriage return without quotes, which is no line end where records end otherwise.
    writer.writerows(rows)
    text = written.getvalue().encode()
    if end == "\r\n" and quoting == csv.QUOTE_MINIMAL and any(field.endswith("\r") for row in rows for field in row):
        return
    right = [[field.encode() or None for field in row] for row in rows]
    assert read(text, end.encode()) == right


@pytest.mark.parametrize("text", [b'1,"x\ny",2\n3,"a""b",\n', b'"1","2"\n"","3"\n'])
def test_proper_quotes_are_counted_not_walked_through(text, monkeypatch):
    right = automaton(text, b"\n", LONGEST)
    monkeypatch.setattr(module, "_split_by_automaton", None)
    assert read(text, b"\n") == right


def test_a_record_that_is_too_long_is_one_row_without_values_and_ends_where_it_ends():
    text = b'1,2,3\n4,"' + b"x,\n" * 50 + b'",6\n7,8,9\n'
    for cuts in ([], [20], [100], range(len(text))):
        assert read(text, b"\n", longest=20, cuts=cuts) == [[b"1", b"2", b"3"], [None] * 3, [b"7", b"8", b"9"]]


@pytest.mark.parametrize(
    ("text", "names", "terminator", "size"),
    [
        (b"a,b\n1,2\r\n", [b"a", b"b"], b"\n", 4),
        (b"a,b\r\n1,2\n", [b"a", b"b"], b"\r\n", 5),
        (b"a,b\r1,2\n", [b"a", b"b"], b"\r", 4),
        (b'"a\nx","b""c"\n1', [b"a\nx", b'b"c'], b"\n", 13),
        (b'a"b,c\n', [b'a"b', b"c"], b"\n", 6),
        (b"a", [b"a"], b"\n", 1),
        (b"", [b""], b"\n", 0),
    ],
)
def test_the_line_end_of_the_header_is_that_of_all_records(text, names, terminator, size):
    assert first_record(text, Layout(delimiter=b",")) == (names, terminator, size)
