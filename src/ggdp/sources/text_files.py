"""Text files as streams of Arrow batches: decoded and split into records, with no guessing.

What a file is read as follows from its name, the request (encoding, delimiter, strict lines, longest record) and, for
CSV and TSV, its header; `ggdp.sources.csv_records` says what a record is. A field that is not valid UTF-8 has no
text (`ggdp.sources.codes`); the record still counts as a row.

Encodings other than UTF-8 are decoded piece by piece: those of one byte a character, in which ASCII is ASCII, and
UTF-16 and UTF-32. Others are refused, since the meaning of a byte could depend on the records before it.
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from attrs import evolve, field, frozen

from ggdp import _validate
from ggdp._records import checked
from ggdp.errors import ArgumentError, ArgumentTypeError, Message, SourceError
from ggdp.sources.csv_records import LONGEST, Layout, first_record, records

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import IO


_TEXT = pa.string_view()
# Bytes that are read at a time. Nothing depends on it but speed.
CHUNK = 1 << 22
# A longer header is none.
_LONGEST_HEADER = 1 << 20
_MARK = b"\xef\xbb\xbf"
_WIDE = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be")
_ASCII = bytes(range(128))
# The name of the treatment of bytes that are not a character of an encoding.
_INVALID = "ggdp.invalid"
# What stands for text that is not valid, in a check.
_REPLACED = "\ufffd"


def _checked_encoding(encoding: str) -> str:
    if not isinstance(encoding, str):
        raise ArgumentTypeError("encoding", encoding, "must be the name of an encoding, such as 'utf-8' or 'latin-1'")
    try:
        name = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        raise ArgumentError("encoding", encoding, "is unknown; use utf-8, latin-1, cp1252, utf-16, ...") from None
    if name in ("utf-8", "utf-8-sig", "ascii"):
        return "utf-8"
    if name in _WIDE or _is_single_byte(name):
        return name
    raise ArgumentError("encoding", encoding, "cannot be read record by record; convert the file to utf-8 first")


@frozen(kw_only=True)
class TextFormat:
    """How text files are read, if their names do not say so: part of the request, never inferred from the data.

    Parameters
    ----------
    encoding : str
        The character encoding, a name that Python knows.
    delimiter : str, optional
        What separates the fields of CSV files; the format's own if nothing is said.
    quoted : bool
        Whether double quotes may surround fields; without them quotes are characters like any other.
    escape : str, optional
        A character that makes the next one a plain character, where the writer uses one; most writers double quotes.
    strict_lines : bool
        Whether each line is a record, whatever its quotes are: no field may hold a line end then.
    longest : int
        Records of more bytes (as UTF-8) are rows without values.

    Examples
    --------
    >>> TextFormat(encoding="Latin-1").encoding
    'iso8859-1'
    """

    encoding: str = field(default="utf-8", converter=_checked_encoding)
    delimiter: str | None = None
    quoted: bool = True
    escape: str | None = None
    strict_lines: bool = False
    longest: int = checked(_validate.integer, default=LONGEST, at_least=1)

    def __attrs_post_init__(self) -> None:
        if self.delimiter is not None and not _is_delimiter(self.delimiter):
            raise ArgumentError(
                "delimiter",
                self.delimiter,
                "must be one ASCII character other than a double quote, a line end or NUL, such as ';' or '|'",
            )
        for name in ("quoted", "strict_lines"):
            if not isinstance(getattr(self, name), bool):
                raise ArgumentTypeError(name, getattr(self, name), "must be True or False")
        if self.escape is not None and (not _is_delimiter(self.escape) or self.escape == self.delimiter):
            raise ArgumentError("escape", self.escape, "must be one ASCII character of its own, such as a backslash")

    def to_dict(self) -> dict[str, str | int | None]:
        """Return the format as plain values, ready for JSON."""
        return {
            "encoding": self.encoding,
            "delimiter": self.delimiter,
            "quoted": self.quoted,
            "escape": self.escape,
            "longest_record": self.longest,
            # Manifests without it stay as they were.
            **({"strict_lines": True} if self.strict_lines else {}),
        }

    def layout(self, delimiter: str, terminator: bytes = b"\n", *, columns: int = 2) -> Layout:
        """Return how CSV files are split into records."""
        return Layout(
            delimiter=delimiter.encode(),
            terminator=b"\n" if self.strict_lines else terminator,
            quoted=self.quoted,
            escape=None if self.escape is None else self.escape.encode(),
            longest=self.longest,
            # Some writers leave a line blank for a null where there is one column.
            keeps_blank=columns == 1 and not self.strict_lines,
            strict_lines=self.strict_lines,
        )


@dataclass(frozen=True, slots=True)
class Header:
    """The first record of a CSV file: its names, the line terminator at its end, and how many bytes it takes."""

    names: tuple[str, ...]
    terminator: bytes
    size: int


def text_format(
    encoding: str | None = None,
    delimiter: str | None = None,
    quoted: bool | None = None,
    escape: str | None = None,
    strict_lines: bool | None = None,
) -> TextFormat | None:
    """Return how text files are read; None if no option is given."""
    said = {
        "encoding": encoding,
        "delimiter": delimiter,
        "quoted": quoted,
        "escape": escape,
        "strict_lines": strict_lines,
    }
    given = {name: value for name, value in said.items() if value is not None}
    return TextFormat(**given) if given else None  # type: ignore[arg-type]


def _is_single_byte(name: str) -> bool:
    """Return whether an encoding has one byte per character and contains ASCII."""
    try:
        known = _ASCII.decode(name) == _ASCII.decode("ascii")
        alone = [bytes([byte]).decode(name, "replace") for byte in range(256)]
        return (
            known
            and all(len(text) == 1 for text in alone)
            and bytes(range(256)).decode(name, "replace") == "".join(alone)
        )
    except (LookupError, UnicodeError, TypeError, AssertionError):
        return False


def _is_delimiter(delimiter: object) -> bool:
    return isinstance(delimiter, str) and len(delimiter) == 1 and delimiter.isascii() and delimiter not in '"\r\n\0'


def read_header(path: str, text: TextFormat, delimiter: str) -> Header:
    """Return the header of a CSV file; no record after it is looked at."""
    unreadable, is_damaged = None, False
    try:
        begin = b""
        for chunk in _decoded_chunks(path, text.encoding):
            begin += chunk
            if len(begin) > _LONGEST_HEADER + 2:
                break
        mark = _MARK if begin.startswith(_MARK) else b""
        fields, terminator, size = first_record(begin[len(mark) :], text.layout(delimiter))
        alone = begin[len(mark) :][:size].rstrip(b"\r\n")
        continued = first_record(alone + b"\nx", evolve(text, strict_lines=False).layout(delimiter))[2] > len(alone) + 1
        names = tuple(name.decode() for name in fields)
    except UnicodeError:
        unreadable = f"its first line is not text in {text.encoding}"
    except (OSError, EOFError, zlib.error) as failed:
        unreadable = getattr(failed, "strerror", None)
        is_damaged = unreadable is None
    if is_damaged:
        if _is_packed(path):
            # Rows are unpacked with the header, so this may depend on them.
            raise SourceError(path)
        unreadable = "its content does not match its extension"
    if unreadable is not None:
        raise ArgumentError("data", path, f"cannot be read: {unreadable}")
    if names == ("",):
        raise ArgumentError("data", path, "has no header: the first line must name the columns")
    if size > _LONGEST_HEADER:
        raise ArgumentError(
            "data", path, f"has a first line of more than {_LONGEST_HEADER:,} bytes, which is too long for a header"
        )
    if text.strict_lines and continued:
        raise ArgumentError(
            "data",
            path,
            Message(
                "has a header that continues after its first line (an open quote, or an escape); with {strict_lines} "
                "it must be one line"
            ),
        )
    if len(set(names)) < len(names):
        raise ArgumentError("data", path, "has two columns of the same name in its header")
    return Header(names, terminator, len(mark) + size)


def record_batches(
    path: str,
    header: Header,
    text: TextFormat,
    delimiter: str,
    columns: Sequence[tuple[int, str | None]],
    schema: pa.Schema,
) -> Iterator[pa.RecordBatch]:
    """Yield some columns of a CSV file: for each its place, and what stands for text that is not valid UTF-8."""
    layout = text.layout(delimiter, header.terminator, columns=len(header.names))
    chunks = _after(header.size, _decoded_chunks(path, text.encoding))
    for arrays in records(chunks, layout, [place for place, _ in columns]):
        texts = [valid_text(array, instead) for array, (_, instead) in zip(arrays, columns, strict=True)]
        yield pa.record_batch(texts, schema)


def json_line_batches(path: str, text: TextFormat, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the lines of a JSON file; null for one that is not valid UTF-8 or too long."""
    layout = Layout(delimiter=None, quoted=False, longest=text.longest, strict_lines=text.strict_lines)
    for (array,) in records(_decoded_chunks(path, text.encoding), layout, [0]):
        yield pa.record_batch([valid_text(array, None)], schema)


@dataclass(slots=True)
class Irregular:
    """Findings about the records of text files. Not private.

    `with_line_ends` counts the records that hold a line feed or a carriage return, `otherwise` all records as they
    would be if strict lines were declared, or if they were not, `not_objects` those of JSON files that are no object.
    """

    records: int = 0
    otherwise: int = 0
    with_line_ends: int = 0
    invalid: int = 0
    surplus: int = 0
    further_lines: int = 0
    backslashes: int = 0
    not_objects: int | None = None


def count_irregular(path: str, header: Header, text: TextFormat, delimiter: str, found: Irregular) -> None:
    """Count the records of a CSV file and their irregularities. Not private."""

    def seen(chunks: Iterator[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            found.further_lines += chunk.count(header.terminator)
            found.backslashes += chunk.count(b'\\"')
            yield chunk

    def layout(text: TextFormat) -> Layout:
        return text.layout(delimiter, header.terminator, columns=len(header.names))

    other = layout(evolve(text, strict_lines=not text.strict_lines))
    for (first,) in records(_after(header.size, _decoded_chunks(path, text.encoding)), other, [0]):
        found.otherwise += len(first)
    chunks = seen(_after(header.size, _decoded_chunks(path, text.encoding)))
    for *arrays, beyond in records(chunks, layout(text), range(len(header.names) + 1)):
        found.records += len(beyond)
        found.further_lines -= len(beyond)
        found.surplus += len(beyond) - beyond.null_count
        broken = np.zeros(len(beyond), dtype=np.bool_)
        for array in arrays:
            texts = valid_text(array, _REPLACED)
            broken |= pc.match_substring(texts.cast(pa.string()), _REPLACED).fill_null(False).to_numpy(False)
        found.invalid += int(broken.sum())
        several = np.zeros(len(beyond), dtype=np.bool_)
        for array in (*arrays, beyond):
            ends = pc.match_substring_regex(array.cast(pa.binary()), "[\r\n]")
            several |= ends.fill_null(False).to_numpy(False)
        found.with_line_ends += int(several.sum())


def valid_text(raw: pa.Array | pa.ChunkedArray, instead: str | None, kind: pa.DataType = _TEXT) -> pa.Array:
    """Return bytes as text; what is not valid UTF-8 becomes `instead`."""
    try:
        return raw.cast(kind)
    except pa.ArrowInvalid:
        return pa.array([None if value is None else _decode(value, instead) for value in raw.to_pylist()], kind)


def _decode(value: bytes, instead: str | None) -> str | None:
    """Return bytes as text, or `instead` if they are not valid UTF-8."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return instead


def _after(size: int, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield chunks without their first bytes."""
    begin = b""
    for chunk in chunks:
        begin += chunk
        if len(begin) >= size:
            return chain([begin[size:]], chunks)
    return iter(())


def _decoded_chunks(path: str, encoding: str) -> Iterator[bytes]:
    """Yield a file as UTF-8, a chunk at a time."""
    with _unpack(path) as opened:
        yield from _convert(iter(lambda: opened.read(CHUNK), b""), encoding)


def _convert(chunks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """Return chunks as UTF-8; what is not valid in the encoding is not valid there either."""
    if encoding == "utf-8":
        return chunks
    decoder = codecs.getincrementaldecoder(encoding)(_INVALID)

    def converted() -> Iterator[bytes]:
        for chunk in chunks:
            yield decoder.decode(chunk).encode("utf-8", "surrogatepass")
        yield decoder.decode(b"", final=True).encode("utf-8", "surrogatepass")

    return converted()


def _half_of_a_pair(wrong: UnicodeError) -> tuple[str, int]:
    """Stand for bytes that are not a character: half of a surrogate pair, which no text holds."""
    assert isinstance(wrong, UnicodeDecodeError)
    return "\udcff", wrong.end


codecs.register_error(_INVALID, _half_of_a_pair)


def _is_packed(path: str) -> bool:
    """Return whether a file begins as packed files with its extension do."""
    with open(path, "rb") as opened:
        return opened.read(4).startswith(b"\x1f\x8b" if path.lower().endswith(".gz") else b"\x28\xb5\x2f\xfd")


def _unpack(path: str) -> IO[bytes]:
    if path.lower().endswith(".gz"):
        return gzip.open(path, "rb")  # type: ignore[return-value]  # a GzipFile is one
    if path.lower().endswith(".zst"):
        return pa.CompressedInputStream(pa.OSFile(path), "zstd")  # type: ignore[no-any-return]
    return open(path, "rb")
