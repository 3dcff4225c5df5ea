r"""Text files split into records and fields, independently of how a reader buffers them.

A file is one sequence of bytes, read from its beginning by one automaton; which bytes are a record depends on the bytes
before it only through where the last record ended. These are the rules, for CSV and TSV files:

- A record ends at the line terminator of the header (``\n``, ``\r\n`` or ``\r``) outside of quotes, or with the file.
  Other line ends are characters like any other.
- A quote is special only as the first character of a field. The field then goes on to the next quote that is not
  doubled, whatever is in between; what follows that quote, up to the next delimiter or record end, belongs to it too.
- Where an escape character is declared, it and the character after it are that character, in quotes or not.
- A record of no bytes does not count, except in files of one column, where it is a null. A field of no characters is
  null, quoted or not.
- A record with fewer fields than the header has nulls for the rest; fields beyond the header are left out.
- A record of more bytes than `Layout.longest` is one record, and all its fields are null.

Lines of JSON follow the same rules with ``\n`` and without fields and quotes; a line of white space is not a record.

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

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray


# Longer records have no fields. It is part of every request: a larger one would need as much memory for one record.
LONGEST = 1 << 24
_QUOTE, _RETURN = b'"\r'
# Values of so many bytes stand in an Arrow view itself; of longer ones it holds the first four, and where they are.
_INLINE = 12
_INLINE_MASKS = np.where(np.arange(_INLINE) < np.arange(_INLINE + 1)[:, None], 255, 0).astype(np.uint8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    r"""How a text file is split into records and fields; `delimiter` is None if a line is one field.

    With `strict_lines` the terminator must be ``\n``.
    """

    delimiter: bytes | None
    terminator: bytes = b"\n"
    quoted: bool = True
    escape: bytes | None = None
    longest: int = LONGEST
    keeps_blank: bool = False
    strict_lines: bool = False

    @property
    def letter(self) -> bytes:
        """A character without a special meaning."""
        return next(letter for letter in (b"x", b"y", b"z") if letter not in (self.delimiter, self.escape))


class _Fields(NamedTuple):
    """The fields of complete records: where each begins and ends, which are last in a record; where the rest begins.

    `proper` says that every quote in a field begins it, ends it or is doubled.
    """

    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    last: NDArray[np.bool_]
    rest: int
    proper: bool


def first_record(text: bytes, layout: Layout) -> tuple[list[bytes], bytes, int]:
    r"""Return the fields of the first record of a file, its terminator, and how many bytes it takes.

    The terminator is the first line end outside of quotes, whatever that of the layout is; ``\n`` where there is none.
    With strict lines it is the first line end.

    Examples
    --------
    >>> first_record(b'name,"a, b"\r\n1,2', Layout(delimiter=b","))
    ([b'name', b'a, b'], b'\r\n', 13)
    """
    fields = []
    for found in _field(layout, rb"\r\n|\r|\n", b"\r\n").finditer(text):
        fields.append(_value(found.group("field"), layout))
        if found.group("end") != layout.delimiter:
            return fields, found.group("end") or b"\n", found.end()
    raise AssertionError


def records(chunks: Iterable[bytes], layout: Layout, fields: Sequence[int]) -> Iterator[list[pa.Array]]:
    r"""Yield some fields of the records of a file, many at a time: for each field an array of bytes, null where empty.

    Parameters
    ----------
    chunks : iterable of bytes
        The records of a file, cut anywhere.
    layout : Layout
        How the file is split into records and fields.
    fields : sequence of int
        The numbers of the fields that are needed, from 0.

    Examples
    --------
    >>> parts = [b'1,"a,', b'b"\n2,c', b"\n\n3"]
    >>> [array.to_pylist() for (array,) in records(parts, Layout(delimiter=b","), [1])]
    [[b'a,b'], [b'c'], [None]]
    """
    # A record that goes on in the next chunk, or, once it is too long, a short text that leaves the automaton in the
    # same state.
    begun, too_long = b"", False
    most = layout.longest + len(layout.terminator) - 1
    for chunk in chunks:
        text = begun + chunk
        if too_long:
            end = _first_end(text, layout)
            if end is None:
                begun = _same_state(text, layout)
                continue
            too_long, text = False, text[end:]
            yield _nulls(len(fields))
        found = _split(text, layout)
        if found.rest:
            yield _arrays(text, found, layout, fields)
        begun = text[found.rest :]
        if len(begun) > most:
            too_long, begun = True, _same_state(begun, layout)
    if too_long:
        yield _nulls(len(fields))
    elif begun:
        yield _arrays(begun, _close(begun, layout), layout, fields)


def _split(text: bytes, layout: Layout) -> _Fields:
    """Return the fields of all records that end in a text, which begins with a record."""
    data = np.frombuffer(text, dtype=np.uint8)
    line_end = layout.terminator[-1]
    is_end = data == line_end
    size = len(layout.terminator)
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
    stops = places - (last * (size - 1))
    return _Fields(starts, stops, last, int(places[-1]) + 1, proper=True)


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
    ends = (data[after] == layout.delimiter[0]) | (data[after] == _QUOTE) | _begins_end(after, is_end, layout)
    if layout.strict_lines:
        ends |= data[after] == _RETURN
    return bool(begins.all() and ends.all())


def _begins_end(places: NDArray[np.int64], is_end: NDArray[np.bool_], layout: Layout) -> NDArray[np.bool_]:
    """Return whether the line terminator begins at places; of one that is cut off at the end this is not known."""
    ends = places + len(layout.terminator) - 1
    within = ends < len(is_end)
    return ~within | is_end[np.minimum(ends, len(is_end) - 1)]


def _close(text: bytes, layout: Layout) -> _Fields:
    """Return the fields of the last record of a file, which ends without a terminator."""
    found = _split(text + layout.terminator, layout)
    if found.rest == len(text) + len(layout.terminator):
        return found
    return _split_by_automaton(text, layout, closed=True)


def _split_by_automaton(text: bytes, layout: Layout, *, closed: bool) -> _Fields:
    """Return the same as `_split` whatever the quotes are; with `closed` the end of the text ends a record, too."""
    starts, stops, last = [], [], []
    complete, rest = 0, 0
    for field in _automaton(layout).finditer(text):
        end = field.group("end")
        if end != layout.delimiter and field.start() == rest == len(text):
            # Nothing is left after the last terminator.
            break
        starts.append(field.start("field"))
        stops.append(field.end("field"))
        last.append(end != layout.delimiter)
        if end != layout.delimiter and (end or closed):
            complete, rest = len(starts), field.end()
        if not end:
            break
    whole = slice(0, complete)
    return _Fields(
        np.array(starts[whole], dtype=np.int64),
        np.array(stops[whole], dtype=np.int64),
        np.array(last[whole], dtype=np.bool_),
        rest,
        proper=False,
    )


@lru_cache(maxsize=16)
def _automaton(layout: Layout) -> re.Pattern[bytes]:
    """Return the automaton of a layout: it matches one field and what ends it, a separator or the end of the text."""
    if layout.strict_lines:
        return _field(layout, rb"\r\n|\r|\n", b"\r\n")
    return _field(layout, re.escape(layout.terminator), layout.terminator)


def _field(layout: Layout, terminator: bytes, characters: bytes) -> re.Pattern[bytes]:
    """Return what matches one field; `characters` are those that may begin a terminator."""
    assert layout.delimiter is not None
    delimiter, first = re.escape(layout.delimiter), re.escape(characters[:1])
    escape = b"" if layout.escape is None else re.escape(layout.escape)
    # After an escape anything is a character, and at the end of a text, or of a strict line, the escape itself.
    ends = rb"\r\n" if layout.strict_lines else b""
    after = rb"[^\r\n]|(?=[\r\n])" if layout.strict_lines else rb"."
    escaped = b"" if layout.escape is None else rb"|" + escape + rb"(?:" + after + rb"|\Z)"
    if terminator == re.escape(characters):
        plain = rb"[^" + delimiter + first + escape + rb"]"
        if len(characters) == 2:
            plain += rb"|" + first + rb"(?!" + re.escape(characters[1:]) + rb")"
    else:
        plain = rb"[^" + delimiter + re.escape(characters) + escape + rb"]"
    rest = rb"(?:" + plain + escaped + rb")*+"
    inside = rb'(?:[^"' + ends + escape + rb']|""' + escaped + rb")*+"
    quoted = rb'"' + inside + rb'(?:"' + rest + rb")?|" if layout.quoted else b""
    return re.compile(
        rb"(?P<field>" + quoted + rest + rb")(?P<end>" + delimiter + rb"|" + terminator + rb"|\Z)", re.DOTALL
    )


def _first_end(text: bytes, layout: Layout) -> int | None:
    """Return where the first record of a text ends, with its terminator; None if it does not."""
    if layout.strict_lines:
        line_end = re.search(rb"[\r\n]", text)
        return None if line_end is None else line_end.end()
    if layout.delimiter is None:
        found = text.find(layout.terminator)
        return None if found < 0 else found + len(layout.terminator)
    for field in _automaton(layout).finditer(text):
        if field.group("end") == layout.terminator:
            return field.end()
        if not field.group("end"):
            break
    return None


def _same_state(text: bytes, layout: Layout) -> bytes:
    """Return a short text that leaves the automaton in the state in which a record without an end leaves it."""
    if layout.delimiter is None or layout.strict_lines:
        return layout.letter
    if layout.escape is not None and (len(text) - len(text.rstrip(layout.escape))) % 2:
        # The next character is escaped.
        return _same_state(text[:-1], layout) + layout.escape
    field = b""
    for found in _automaton(layout).finditer(text):
        field = found.group("field")
        if not found.group("end"):
            break
    if not field:
        return layout.letter + layout.delimiter
    cut_off = len(layout.terminator) == 2 and text.endswith(layout.terminator[:1])
    if layout.quoted and field.startswith(b'"'):
        inside = _quoted(layout).match(field)
        assert inside is not None
        if inside.group(2) is None:
            return b'"'
        if inside.end() == len(field):
            return b'""'
    return layout.letter + layout.terminator[:1] * cut_off


@lru_cache(maxsize=16)
def _quoted(layout: Layout) -> re.Pattern[bytes]:
    """Return what matches the quoted part of a field: what is inside, and the quote that ends it."""
    if layout.escape is None:
        return re.compile(rb'"((?:[^"]|"")*+)(")?', re.DOTALL)
    escape = re.escape(layout.escape)
    return re.compile(rb'"((?:[^"' + escape + rb']|""|' + escape + rb'(?:.|\Z))*+)(")?', re.DOTALL)


def _value(field: bytes, layout: Layout) -> bytes:
    """Return what a field says: without the quotes around it, doubled quotes as one, escaped characters as they are."""
    found = _quoted(layout).match(field) if layout.quoted else None
    if found is None:
        return _unescape(field, layout)
    if layout.escape is None:
        return found.group(1).replace(b'""', b'"') + field[found.end() :]
    # A doubled quote and an escaped one may stand side by side, so that both are read from the left.
    escape = re.escape(layout.escape)
    inside = re.sub(rb'""|' + escape + rb"(.)", lambda pair: pair.group(1) or b'"', found.group(1), flags=re.DOTALL)
    return inside + _unescape(field[found.end() :], layout)


def _unescape(text: bytes, layout: Layout) -> bytes:
    if layout.escape is None:
        return text
    return re.sub(re.escape(layout.escape) + rb"(.)", rb"\1", text, flags=re.DOTALL)


def _nulls(fields: int) -> list[pa.Array]:
    """Return one record that has only nulls."""
    return [pa.nulls(1, pa.binary_view()) for _ in range(fields)]


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
        places = first + number
        present = known & (places <= last)
        places = np.where(present, places, first)
        starts, stops = found.starts[places], np.where(present, found.stops[places], found.starts[places])
        arrays.append(_array(text, starts, stops, layout, proper=found.proper))
    return arrays


def _array(
    text: bytes, starts: NDArray[np.int64], stops: NDArray[np.int64], layout: Layout, *, proper: bool
) -> pa.Array:
    """Return the values of fields as an array of bytes that refers to the text; null where they are empty."""
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
    return _view(text, starts, (stops - starts).astype(np.int32))


def _view(text: bytes, starts: NDArray[np.int64], sizes: NDArray[np.int32]) -> pa.Array:
    """Return parts of a text as an array of views."""
    count = len(starts)
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
