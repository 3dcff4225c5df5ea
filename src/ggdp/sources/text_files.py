r"""Text files as streams of Arrow batches: decoded and split into records, independently of how a reader buffers them.

What a file is read as follows from its name, the request (encoding, delimiter, strict lines, longest record) and, for
CSV and TSV, its header; nothing is guessed. A field that is not valid UTF-8 has no text (`ggdp.sources.codes`); the
record still counts as a row.

Encodings other than UTF-8 are decoded piece by piece: those of one byte a character, in which ASCII is ASCII, and
UTF-16 and UTF-32. Others are refused, since the meaning of a byte could depend on the records before it.

A file is one sequence of bytes, read from its beginning by one automaton; which bytes are a record depends on the bytes
before it only through where the last record ended. The page "From a file to rows" of the documentation has the rules.
Lines of JSON follow those of CSV and TSV files with ``\n`` and without fields and quotes; a line of white space is not
a record. A record of more bytes than `Layout.longest` is one record, and all its fields are null.

With *strict lines* (`Layout.strict_lines`), a line is a longest run of bytes other than ``\n`` and ``\r``, and each is
read as the only record of a file of its own, which ends without a terminator: a quoted field without its second quote
ends with the line, and so does an escape. Nothing else ends a line: NUL, form feed, control-Z and the line separators
of Unicode are characters. No line is blank, in files of one column either.

Claim. For every way of cutting the file into chunks, `records` yields the same rows: each chunk is worked on up to its
last complete record, and the rest is put before the next one. Where all quotes of a chunk are *proper* (those of even
number, counted from the start of a record, begin a field or follow a quote; those of odd number end a field or precede
a quote), the automaton is inside quotes exactly after an odd number of them. Proof: by induction over the quotes, the
automaton enters a quoted field at each quote of even number and leaves it at the next, or reads the two as a doubled
quote; unquoted fields hold none. So positions outside of quotes are found by counting. With strict lines, moreover, no
line end may come after an odd number of quotes: every line then has an even number, and is read as if it were alone.
Otherwise the automaton itself, a regular expression, reads the chunk; and wherever an escape character occurs.

Claim. Write L(x) for the rows of a text x with strict lines. For all texts x and y, and every e of one or more ``\n``
and ``\r`` in any order, L(x e y) is L(x) followed by L(y). Proof: a run of other bytes does not go on across e, so the
lines of x e y are those of x and then those of y; and the row of a line is a function of its bytes alone. So, whatever
bytes somebody's row consists of, it changes no row of anybody else as long as a line end of any kind comes after each
of them, and it adds at most one row more than it has line ends inside. Without strict lines the same holds only of x
that end where a record ends: an opening quote in x can make all of y a part of one field.

References
----------
RFC 4180, section 2; the Python library's ``csv`` module, whose reader follows the same rules for quotes.
"""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from attrs import evolve, field
from numpy.typing import NDArray

from ggdp import _validate
from ggdp._records import checked_field, frozen
from ggdp.errors import ArgumentError, ArgumentTypeError, Message, SourceError

if TYPE_CHECKING:
    from ggdp.sources.files import Files


# Longer records have no fields. It is part of every request: a larger one would need as much memory for one record.
LONGEST = 1 << 24
_QUOTE, _RETURN = b'"\r'
# Values of so many bytes stand in an Arrow view itself; of longer ones it holds the first four, and where they are.
_INLINE = 12
_INLINE_MASKS = np.where(np.arange(_INLINE) < np.arange(_INLINE + 1)[:, None], 255, 0).astype(np.uint8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How a text file is split into records and fields."""

    delimiter: bytes | None  # None if a line is one field
    terminator: bytes = b"\n"  # always so with strict lines
    quoted: bool = True
    escape: bytes | None = None
    longest: int = LONGEST
    keeps_blank: bool = False
    strict_lines: bool = False


class _Fields(NamedTuple):
    """The fields of complete records: where each begins and ends, which are last in a record; where the rest begins."""

    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    last: NDArray[np.bool_]
    rest: int
    proper: bool  # whether every quote in a field begins it, ends it or is doubled


def first_record(text: bytes, layout: Layout) -> tuple[list[bytes], bytes, int]:
    r"""Return the fields of the first record of a file, its terminator, and how many bytes it takes.

    The terminator is the first line end outside of quotes, whatever that of the layout is; ``\n`` where there is none.
    With strict lines it is the first line end.
    """
    fields = []
    for found in _automaton(layout, any_end=True).finditer(text):
        fields.append(_value(found.group("field"), layout))
        if found.group("end") != layout.delimiter:
            return fields, found.group("end") or b"\n", found.end()
    raise AssertionError


def records(chunks: Iterable[bytes], layout: Layout, fields: Sequence[int]) -> Iterator[list[pa.Array]]:
    """Yield some fields of the records of a file that is cut anywhere, as arrays of bytes, null where one is empty."""
    # A record that goes on in the next chunk, or, once it is too long, a short text that leaves the automaton in the
    # same state.
    begun, too_long = b"", False
    most = layout.longest + len(layout.terminator) - 1
    without_values = [pa.nulls(1, pa.binary_view())] * len(fields)
    for chunk in chunks:
        text = begun + chunk
        if too_long:
            if layout.strict_lines or layout.delimiter is None:
                line_end = re.search(rb"[\r\n]" if layout.strict_lines else layout.terminator, text)
                end = None if line_end is None else line_end.end()
            else:
                ends = (one.end() for one in _automaton(layout).finditer(text) if one.group("end") == layout.terminator)
                end = next(ends, None)
            if end is None:
                begun = _same_state(text, layout)
                continue
            too_long, text = False, text[end:]
            yield without_values
        found = _split(text, layout)
        if found.rest:
            yield _arrays(text, found, layout, fields)
        begun = text[found.rest :]
        if len(begun) > most:
            too_long, begun = True, _same_state(begun, layout)
    if too_long:
        yield without_values
    elif begun:
        # The last record ends without a terminator.
        found = _split(begun + layout.terminator, layout)
        if found.rest != len(begun) + len(layout.terminator):
            found = _split_by_automaton(begun, layout, closed=True)
        yield _arrays(begun, found, layout, fields)


def _split(text: bytes, layout: Layout) -> _Fields:
    """Return the fields of all records that end in a text, which begins with a record."""
    data, size, line_end = np.frombuffer(text, dtype=np.uint8), len(layout.terminator), layout.terminator[-1]
    is_end = data == line_end
    if layout.strict_lines and b"\r" in text:
        returns = data == _RETURN
        pairs = np.count_nonzero(is_end[1:] & returns[:-1])
        if pairs == np.count_nonzero(is_end) == np.count_nonzero(returns):
            size = 2
        else:
            # There is a blank line between the two of a pair.
            is_end |= returns
    elif size == 2:
        is_end[1:] &= data[:-1] == layout.terminator[0]
        is_end[:1] = False
    if layout.escape is not None and layout.escape in text:
        return _split_by_automaton(text, layout, closed=False)
    separators = is_end if layout.delimiter is None else is_end | (data == layout.delimiter[0])
    if layout.quoted and _QUOTE in text:
        places = np.flatnonzero(separators | (data == _QUOTE))
        quotes = data[places] == _QUOTE
        inside = np.bitwise_xor.accumulate(quotes)
        unclosed = layout.strict_lines and bool((inside & is_end[places]).any())
        if unclosed or not _proper(data, places[quotes], is_end, layout):
            return _split_by_automaton(text, layout, closed=False)
        places = places[~(quotes | inside)]
    else:
        places = np.flatnonzero(separators)
    last = is_end[places]
    complete = np.flatnonzero(last)
    if not len(complete):
        return _Fields(places[:0], places[:0], last[:0], 0, proper=True)
    places, last = places[: complete[-1] + 1], last[: complete[-1] + 1]
    starts = np.concatenate([[0], places[:-1] + 1])
    return _Fields(starts, (places - (last * (size - 1))), last, int(places[-1]) + 1, proper=True)


def _proper(data: NDArray[np.uint8], quotes: NDArray[np.int64], is_end: NDArray[np.bool_], layout: Layout) -> bool:
    """Return whether quotes begin and end fields by turns, or are doubled; the last may be without its partner."""
    assert layout.delimiter is not None
    opening, closing = quotes[::2], quotes[1::2]
    before = np.maximum(opening - 1, 0)
    begins = (opening == 0) | (data[before] == layout.delimiter[0]) | (data[before] == _QUOTE) | is_end[before]
    after = closing + 1
    if len(after) and after[-1] >= len(data):
        # What follows is not known yet, so this text is not cut there either.
        after = after[:-1]
    # Nor is it known whether a line terminator that is cut off at the end begins there.
    end = after + len(layout.terminator) - 1
    is_last = (end >= len(data)) | is_end[np.minimum(end, len(data) - 1)]
    ends = (data[after] == layout.delimiter[0]) | (data[after] == _QUOTE) | is_last
    if layout.strict_lines:
        ends |= data[after] == _RETURN
    return bool(begins.all() and ends.all())


def _split_by_automaton(text: bytes, layout: Layout, *, closed: bool) -> _Fields:
    """Return the same as `_split` whatever the quotes are; with `closed` the end of the text ends a record, too."""
    starts, stops, last = [], [], []
    complete, rest = 0, 0
    for found in _automaton(layout).finditer(text):
        end = found.group("end")
        if end != layout.delimiter and found.start() == rest == len(text):
            # Nothing is left after the last terminator.
            break
        starts.append(found.start("field"))
        stops.append(found.end("field"))
        last.append(end != layout.delimiter)
        if end != layout.delimiter and (end or closed):
            complete, rest = len(starts), found.end()
        if not end:
            break
    begin, end = (np.array(each[:complete], dtype=np.int64) for each in (starts, stops))
    return _Fields(begin, end, np.array(last[:complete], dtype=np.bool_), rest, proper=False)


@lru_cache(maxsize=16)
def _automaton(layout: Layout, *, any_end: bool = False) -> re.Pattern[bytes]:
    """Return what matches one field and its end: a separator or the end of the text, or any line end."""
    assert layout.delimiter is not None
    any_end = any_end or layout.strict_lines
    terminator = rb"\r\n|\r|\n" if any_end else re.escape(layout.terminator)
    delimiter, first = re.escape(layout.delimiter), rb"\r\n" if any_end else re.escape(layout.terminator[:1])
    escape = b"" if layout.escape is None else re.escape(layout.escape)
    # After an escape anything is a character, and at the end of a text, or of a strict line, the escape itself.
    ends = rb"\r\n" if layout.strict_lines else b""
    after = rb"[^\r\n]|(?=[\r\n])" if layout.strict_lines else rb"."
    escaped = b"" if layout.escape is None else rb"|" + escape + rb"(?:" + after + rb"|\Z)"
    plain = rb"[^" + delimiter + first + escape + rb"]"
    if not any_end and len(layout.terminator) == 2:
        plain += rb"|" + first + rb"(?!" + re.escape(layout.terminator[1:]) + rb")"
    rest = rb"(?:" + plain + escaped + rb")*+"
    inside = rb'(?:[^"' + ends + escape + rb']|""' + escaped + rb")*+"
    quoted = rb'"' + inside + rb'(?:"' + rest + rb")?|" if layout.quoted else b""
    end = rb"(?P<end>" + delimiter + rb"|" + terminator + rb"|\Z)"
    return re.compile(rb"(?P<field>" + quoted + rest + rb")" + end, re.DOTALL)


def _same_state(text: bytes, layout: Layout) -> bytes:
    """Return a short text that leaves the automaton in the state in which a record without an end leaves it."""
    # A character without a special meaning.
    letter = next(letter for letter in (b"x", b"y", b"z") if letter not in (layout.delimiter, layout.escape))
    if layout.delimiter is None or layout.strict_lines:
        return letter
    if layout.escape is not None and (len(text) - len(text.rstrip(layout.escape))) % 2:
        # The next character is escaped.
        return _same_state(text[:-1], layout) + layout.escape
    field = b""
    for found in _automaton(layout).finditer(text):
        field = found.group("field")
        if not found.group("end"):
            break
    if not field:
        return letter + layout.delimiter
    cut_off = len(layout.terminator) == 2 and text.endswith(layout.terminator[:1])
    if layout.quoted and field.startswith(b'"'):
        inside = _quoted_part(layout).match(field)
        assert inside is not None
        if inside.group(2) is None:
            return b'"'
        if inside.end() == len(field):
            return b'""'
    return letter + layout.terminator[:1] * cut_off


@lru_cache(maxsize=16)
def _quoted_part(layout: Layout) -> re.Pattern[bytes]:
    """Return what matches the quoted part of a field: what is inside, and the quote that ends it."""
    escape = b"" if layout.escape is None else re.escape(layout.escape)
    escaped = b"" if layout.escape is None else rb"|" + escape + rb"(?:.|\Z)"
    return re.compile(rb'"((?:[^"' + escape + rb']|""' + escaped + rb')*+)(")?', re.DOTALL)


def _value(field: bytes, layout: Layout) -> bytes:
    """Return what a field says: without the quotes around it, doubled quotes as one, escaped characters as they are."""
    found = _quoted_part(layout).match(field) if layout.quoted else None
    inside, rest = (b"", field) if found is None else (found.group(1), field[found.end() :])
    if layout.escape is None:
        return inside.replace(b'""', b'"') + rest
    # A doubled quote and an escaped one may stand side by side, so that both are read from the left.
    escaped = re.escape(layout.escape) + rb"(.)"
    inside = re.sub(rb'""|' + escaped, lambda pair: pair.group(1) or b'"', inside, flags=re.DOTALL)
    return inside + re.sub(escaped, rb"\1", rest, flags=re.DOTALL)


def _arrays(text: bytes, found: _Fields, layout: Layout, fields: Sequence[int]) -> list[pa.Array]:
    """Return some fields of records as arrays of bytes."""
    last = np.flatnonzero(found.last)
    first = np.concatenate([[0], last[:-1] + 1])
    sizes = found.stops[last] - found.starts[first]
    if not layout.keeps_blank:
        first, last, sizes = first[sizes > 0], last[sizes > 0], sizes[sizes > 0]
    known = sizes <= layout.longest
    arrays = []
    for number in fields:
        present = known & (first + number <= last)
        places = np.where(present, first + number, first)
        starts, stops = found.starts[places], np.where(present, found.stops[places], found.starts[places])
        arrays.append(_array(text, starts, stops, layout, proper=found.proper))
    return arrays


def _array(
    text: bytes, starts: NDArray[np.int64], stops: NDArray[np.int64], layout: Layout, *, proper: bool
) -> pa.Array:
    """Return the values of fields as an array of views of bytes of the text; null where they are empty."""
    escaped = layout.escape is not None and layout.escape in text
    if layout.delimiter is not None and (escaped or (layout.quoted and _QUOTE in text)):
        data = np.frombuffer(text, dtype=np.uint8)
        quoted = (stops > starts) & layout.quoted & (data[np.minimum(starts, len(data) - 1)] == _QUOTE)
        if proper and b'""' not in text:
            plain = quoted
        else:
            places = np.flatnonzero(data == _QUOTE)
            inside = np.searchsorted(places, stops) - np.searchsorted(places, starts)
            plain = quoted & (inside == 2) & (data[np.maximum(stops - 1, 0)] == _QUOTE)
        if escaped:
            # Each of these may hold an escape.
            plain, quoted = np.zeros_like(plain), stops > starts
        odd = np.flatnonzero(quoted & ~plain)
        starts, stops = starts + plain, stops - plain
        if len(odd):
            values = [_value(text[start:stop], layout) for start, stop in zip(starts[odd], stops[odd], strict=True)]
            ends = len(text) + np.cumsum([len(value) for value in values])
            starts[odd], stops[odd] = ends - [len(value) for value in values], ends
            text = b"".join([text, *values])
    count, sizes = len(starts), (stops - starts).astype(np.int32)
    padded = np.frombuffer(text + bytes(_INLINE), dtype=np.uint8)
    views = np.empty((count, 4 + _INLINE), dtype=np.uint8)
    views[:, :4] = sizes.view(np.uint8).reshape(count, 4)
    held = views[:, 4:]
    held[:] = np.lib.stride_tricks.sliding_window_view(padded, _INLINE)[starts]
    long = np.flatnonzero(sizes > _INLINE)
    held &= _INLINE_MASKS[np.minimum(sizes, _INLINE)]
    if len(long):
        held[long, 4:8] = 0
        held[long, 8:12] = starts[long].astype(np.int32).view(np.uint8).reshape(len(long), 4)
    valid = np.packbits(sizes > 0, bitorder="little")
    buffers = [pa.py_buffer(valid), pa.py_buffer(views), pa.py_buffer(padded)]
    return pa.Array.from_buffers(pa.binary_view(), count, buffers)


_TEXT = pa.string_view()
# Bytes that are read at a time. Nothing depends on it but speed.
CHUNK = 1 << 22
# A longer header is none.
_LONGEST_HEADER = 1 << 20
_MARK = b"\xef\xbb\xbf"
_WIDE = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be")
# The name of the treatment of bytes that are not a character of an encoding.
_INVALID = "ggdp.invalid"


def _canonical_encoding(encoding: str) -> str:
    """Return Python's name of an encoding that can be decoded piece by piece, or raise."""
    if not isinstance(encoding, str):
        raise ArgumentTypeError("encoding", encoding, "must be the name of an encoding, such as 'utf-8' or 'latin-1'")
    try:
        name = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        raise ArgumentError("encoding", encoding, "is unknown; use utf-8, latin-1, cp1252, utf-16, ...") from None
    if name in ("utf-8", "utf-8-sig", "ascii"):
        return "utf-8"
    every, is_single_byte = bytes(range(256)), False
    with suppress(LookupError, UnicodeError, TypeError, AssertionError):
        alone = [bytes([byte]).decode(name, "replace") for byte in every]
        is_ascii = every[:128].decode(name) == every[:128].decode("ascii")
        is_single_byte = is_ascii and {*map(len, alone)} == {1} and every.decode(name, "replace") == "".join(alone)
    if name in _WIDE or is_single_byte:
        return name
    raise ArgumentError("encoding", encoding, "cannot be read record by record; convert the file to utf-8 first")


@dataclass(frozen=True, slots=True)
class Header:
    """The first record of a CSV file: its names, the line terminator at its end, and how many bytes it takes."""

    names: tuple[str, ...]
    terminator: bytes
    size: int


@frozen(kw_only=True)
class TextFormat:
    """How text files are read, if their names do not say so: part of the request, never inferred from the data."""

    encoding: str = field(default="utf-8", converter=_canonical_encoding)  # a name that Python knows
    delimiter: str | None = None  # what separates the fields of CSV files; that of the format if nothing is said
    # Whether double quotes may surround fields; else quotes are characters like any other.
    quoted: bool = checked_field(_validate.boolean, default=True)
    escape: str | None = None  # makes the next character a plain one, if the writer uses it; most double quotes
    # Whether each line is a record, whatever its quotes are: no field may hold a line end.
    strict_lines: bool = checked_field(_validate.boolean, default=False)
    longest: int = checked_field(_validate.integer, default=LONGEST, at_least=1)  # rows of more bytes have no values
    sheet: str | None = None  # the sheet of a workbook; the only one by default
    # The row of a workbook, or the line of a CSV file, that names the columns. What is above it is no record.
    header_row: int = checked_field(_validate.integer, default=1, at_least=1)

    def __attrs_post_init__(self) -> None:
        if self.delimiter is not None and not _is_delimiter(self.delimiter):
            what = "must be one ASCII character other than a double quote, a line end or NUL, such as ';' or '|'"
            raise ArgumentError("delimiter", self.delimiter, what)
        if self.escape is not None and (not _is_delimiter(self.escape) or self.escape == self.delimiter):
            raise ArgumentError("escape", self.escape, "must be one ASCII character of its own, such as a backslash")
        if self.sheet is not None and not (isinstance(self.sheet, str) and self.sheet):
            raise ArgumentError("sheet", self.sheet, "must be the name of a sheet of the workbook")

    def to_dict(self) -> dict[str, str | int | None]:
        """Return the format as plain values, ready for JSON."""
        plain = {name: getattr(self, name) for name in ("encoding", "delimiter", "quoted", "escape")}
        # Manifests without strict lines stay as they were.
        more = {name: value for name in ("strict_lines", "sheet") if (value := getattr(self, name))}
        more |= {"header_row": self.header_row} if self.header_row > 1 else {}
        return {**plain, "longest_record": self.longest, **more}

    def layout(self, header: Header | None = None) -> Layout:
        """Return how a CSV file with this header is split into records, or a header itself."""
        assert self.delimiter is not None
        is_alone = header is not None and len(header.names) == 1
        return Layout(
            delimiter=self.delimiter.encode(),
            terminator=b"\n" if self.strict_lines or header is None else header.terminator,
            quoted=self.quoted,
            escape=None if self.escape is None else self.escape.encode(),
            longest=self.longest,
            # Some writers leave a line blank for a null where there is one column.
            keeps_blank=is_alone and not self.strict_lines,
            strict_lines=self.strict_lines,
        )


def _is_delimiter(delimiter: object) -> bool:
    return isinstance(delimiter, str) and len(delimiter) == 1 and delimiter.isascii() and delimiter not in '"\r\n\0'


def read_header(path: str, text: TextFormat) -> Header:
    """Return the header of a CSV file; no record after it is looked at."""
    unreadable: str | None = None
    try:
        begin = b""
        for chunk in chain(_decoded_chunks(path, text.encoding, 1 << 16), [b""]):
            begin += chunk
            above = len(_MARK) if begin.startswith(_MARK) else 0
            if text.header_row > 1:
                above += sum(map(len, begin[above:].splitlines(keepends=True)[: text.header_row - 1]))
            fields, terminator, size = first_record(begin[above:], text.layout())
            # More may follow a header that ends with what is read.
            if above + size < len(begin) or size > _LONGEST_HEADER:
                break
        alone = begin[above:][:size].rstrip(b"\r\n")
        continued = first_record(alone + b"\nx", evolve(text, strict_lines=False).layout())[2] > len(alone) + 1
        names = tuple(name.decode() for name in fields)
    except UnicodeError:
        words = (
            "its first line is not text in {used}; pass the {encoding} of its program, often latin-1, cp1252 or utf-16"
        )
        unreadable = Message(f"cannot be read: {words}", used=text.encoding)
    except (OSError, EOFError, zlib.error) as failed:
        unreadable = getattr(failed, "strerror", None) or ""
    if unreadable == "":
        with open(path, "rb") as opened:
            if opened.read(4).startswith(b"\x1f\x8b" if path.lower().endswith(".gz") else b"\x28\xb5\x2f\xfd"):
                # It begins as packed files do. Rows are unpacked with the header, so this may depend on them.
                raise SourceError(path)
        unreadable = "its content does not match its extension"
    if unreadable is not None:
        raise ArgumentError(
            "data", path, unreadable if isinstance(unreadable, Message) else f"cannot be read: {unreadable}"
        )
    if names == ("",):
        where = "the first line" if text.header_row == 1 else f"line {text.header_row}"
        raise ArgumentError("data", path, f"has no header: {where} must name the columns")
    if size > _LONGEST_HEADER:
        what = f"has a first line of more than {_LONGEST_HEADER:,} bytes, which is too long for a header"
        raise ArgumentError("data", path, what)
    if text.strict_lines and continued:
        what = "has a header that continues after its first line (an open quote, or an escape); "
        raise ArgumentError("data", path, Message(what + "with {strict_lines} it must be one line"))
    if len(set(names)) < len(names):
        what = (
            "has two columns of the same name in its header: rename one, or name the {header_row} if it is further down"
        )
        raise ArgumentError("data", path, Message(what))
    return Header(names, terminator, above + size)


def first_records(path: str, text: TextFormat) -> Iterator[list[str]]:
    """Yield the fields of the first lines of a CSV file, those above its header too. Not private."""
    begin = next(_decoded_chunks(path, text.encoding, 1 << 16), b"").removeprefix(_MARK)
    for line in begin.splitlines():
        yield [field.decode(errors="replace") for field in first_record(line, text.layout())[0]]


def json_line_batches(path: str, text: TextFormat, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the lines of a JSON file; null for one that is not valid UTF-8 or too long."""
    layout = Layout(delimiter=None, quoted=False, longest=text.longest, strict_lines=text.strict_lines)
    for (array,) in records(_decoded_chunks(path, text.encoding), layout, [0]):
        yield pa.record_batch([valid_text(array, None)], schema)


@dataclass(slots=True)
class Irregular:
    """Findings about the records of text files. Not private."""

    records: int = 0
    otherwise: int = 0  # all records as they would be if strict lines were declared, or if they were not
    with_line_ends: int = 0  # records that hold a line feed or a carriage return
    invalid: int = 0
    surplus: int = 0
    further_lines: int = 0
    backslashes: int = 0
    not_objects: int | None = None  # those of JSON files that are no object


def csv_irregular(files: Files) -> Irregular:
    """Count the records of CSV files and their irregularities. Not private."""
    text, found = files.text, Irregular()
    other = evolve(text, strict_lines=not text.strict_lines)
    # Whether all bytes are ASCII, and each line is a record however it is split: then the fields need no look.
    is_ascii = is_plain = True

    def seen(path: str, header: Header) -> Iterator[bytes]:
        nonlocal is_ascii, is_plain
        is_ascii, is_plain = True, header.terminator == b"\n" and len(header.names) > 1 and text.escape is None
        for chunk in chunks_after(header, path, text):
            found.further_lines += chunk.count(header.terminator)
            found.backslashes += chunk.count(b'\\"')
            is_ascii = is_ascii and chunk.isascii()
            is_plain = is_plain and b'"' not in chunk and b"\r" not in chunk
            yield chunk

    for path, header in zip(files.paths, files.headers, strict=True):
        number, before = len(header.names), found.records
        for (beyond,) in records(seen(path, header), text.layout(header), [number]):
            found.records += len(beyond)
            found.further_lines -= len(beyond)
            found.surplus += len(beyond) - beyond.null_count
        if is_plain:
            found.otherwise += found.records - before
        else:
            for (first,) in records(chunks_after(header, path, text), other.layout(header), [0]):
                found.otherwise += len(first)
        if is_ascii and is_plain:
            continue
        for arrays in records(chunks_after(header, path, text), text.layout(header), range(number + 1)):
            invalid, several = np.zeros((2, len(arrays[0])), dtype=np.bool_)
            for array in arrays[:-1]:
                texts = valid_text(array, "\ufffd").cast(pa.string())
                invalid |= pc.match_substring(texts, "\ufffd").fill_null(False).to_numpy(False)
            for array in arrays:
                ends = pc.match_substring_regex(array.cast(pa.binary()), "[\r\n]")
                several |= ends.fill_null(False).to_numpy(False)
            found.invalid += int(invalid.sum())
            found.with_line_ends += int(several.sum())
    return found


def valid_text(raw: pa.Array | pa.ChunkedArray, instead: str | None, kind: pa.DataType = _TEXT) -> pa.Array:
    """Return bytes as text; what is not valid UTF-8 becomes `instead`."""

    def decode(value: bytes) -> str | None:
        try:
            return value.decode()
        except UnicodeDecodeError:
            return instead

    try:
        return raw.cast(kind)
    except pa.ArrowInvalid:
        return pa.array([None if value is None else decode(value) for value in raw.to_pylist()], kind)


def chunks_after(header: Header, path: str, text: TextFormat) -> Iterator[bytes]:
    """Return the chunks of a CSV file without its header."""
    chunks, begin = _decoded_chunks(path, text.encoding), b""
    for chunk in chunks:
        begin += chunk
        if len(begin) >= header.size:
            return chain([begin[header.size :]], chunks)
    return iter(())


def _decoded_chunks(path: str, encoding: str, size: int | None = None) -> Iterator[bytes]:
    """Yield a file as UTF-8, a chunk at a time; what is not valid in the encoding is not valid there either."""
    with _unpack(path) as opened:
        chunks = iter(lambda: opened.read(size or CHUNK), b"")
        if encoding == "utf-8":
            yield from chunks
            return
        decoder = codecs.getincrementaldecoder(encoding)(_INVALID)
        for chunk in chunks:
            yield decoder.decode(chunk).encode("utf-8", "surrogatepass")
        yield decoder.decode(b"", final=True).encode("utf-8", "surrogatepass")


# Half of a surrogate pair, which no text holds, stands for bytes that are not a character.
codecs.register_error(_INVALID, lambda wrong: ("\udcff", wrong.end))  # type: ignore[attr-defined]


def _unpack(path: str) -> IO[bytes]:
    if path.lower().endswith(".gz"):
        return gzip.open(path, "rb")  # type: ignore[return-value]  # a GzipFile is one
    if path.lower().endswith(".zst"):
        return pa.CompressedInputStream(pa.OSFile(path), "zstd")  # type: ignore[no-any-return]
    return open(path, "rb")
