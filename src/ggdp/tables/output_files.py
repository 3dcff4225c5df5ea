r"""Released tables as files: the counts as CSV or Parquet, and the manifest.

===========================  =====================================================================
``table.csv``                one table, UTF-8, lines that end in ``\n``, quotes where they are needed
``table.parquet``            the same with its types
``table-1.csv``, ...         several tables of one release
``table.manifest.json``      what they promise, with the sha256 of each file
``table.manifest.json.sig``  the signature of the manifest, where a key is given (`ggdp.signatures`)
===========================  =====================================================================

Texts of open columns come from the data and may contain a formula, which a spreadsheet would run when it opens a CSV
file. So an apostrophe is put before a text that begins with ``=``, ``+``, ``-``, ``@``, the wide form of one of these,
a tab or a line end and is not a plain number, and before one that begins with an apostrophe: a reader who takes one
apostrophe off has the text again, and no two texts become one. Declared levels are the publisher's own and stay as they
are, with a warning when the release is planned (`ggdp.tables.spreadsheet_formulas`); so do Parquet files and frames.

Claim. The bytes of all files are a function of the request, the released values, the key and the versions of ggdp and
pyarrow: no time, no name of a machine or a source, no metadata of a frame. All files are written, or none.

Figures of released tables, with the same bytes for the same table.
"""

from __future__ import annotations

import glob
import hashlib
import io
import json
import os
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from ggdp._files import write_together
from ggdp.errors import ArgumentError, ArgumentTypeError, Message
from ggdp.signatures import signature_file, signed, signing_key
from ggdp.tables.spreadsheet_formulas import NUMBER, STARTS
from ggdp.tables.table_release import TableRelease

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from ggdp.tables.executor_release import WrittenRelease
    from ggdp.tables.table_release import Table


FORMATS = (".csv", ".parquet")
MANIFEST = ".manifest.json"
# Lines that are made at once, so that a large table does not need its text twice.
_ROWS = 1 << 20
# What an apostrophe is put before, but for plain numbers; in the dialect of Arrow.
_FORMULA = f"^['{re.escape(STARTS)}]"
_NUMBER = rf"^(?:{NUMBER})\z"
_NEED_QUOTES = '[,"\\r\\n]|^$'


def targets(path: str | os.PathLike[str], tables: int) -> tuple[Path, ...]:
    """Return the files of a release: one for each table, the manifest last.

    Examples
    --------
    >>> [file.name for file in targets("out/people.csv", 1)]
    ['people.csv', 'people.manifest.json']
    >>> [file.name for file in targets("people.parquet", 2)]
    ['people-1.parquet', 'people-2.parquet', 'people.manifest.json']
    """
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise ArgumentTypeError("out", type(path).__name__, "must be the path of a file")
    file = Path(path)
    # Nothing can be looked up under a name with a null character.
    if file.suffix.lower() not in FORMATS or "\0" in str(file):
        raise ArgumentError("out", str(path), "must end in " + " or ".join(FORMATS))
    return (*numbered(file, tables), file.with_name(f"{file.stem}{MANIFEST}"))


def numbered(file: Path, tables: int) -> tuple[Path, ...]:
    """Return a file for each table: the file itself, or several with numbers in their names."""
    if tables == 1:
        return (file,)
    return tuple(file.with_name(f"{file.stem}-{number}{file.suffix}") for number in range(1, tables + 1))


def unnumbered(file: Path, tables: int) -> Path:
    """Return the file that `numbered` was given, from the first that it returned."""
    return file if tables == 1 else file.with_name(f"{file.stem.removesuffix('-1')}{file.suffix}")


def require_writable(path: str | os.PathLike[str], tables: int, *, overwrite: bool) -> tuple[Path, ...]:
    """Return the files of a release, or raise if they cannot be written. Called before any data are read.

    Examples
    --------
    >>> require_writable("people.xlsx", 1, overwrite=False)
    Traceback (most recent call last):
    ggdp.errors.ArgumentError: out = 'people.xlsx': must end in .csv or .parquet
    """
    files = targets(path, tables)
    # A signature that is there already would be taken for one of the new manifest.
    require_free((*files, signature_file(files[-1])), "out", str(path), overwrite=overwrite)
    return files


def require_free(files: Sequence[Path], argument: str, path: str, *, overwrite: bool) -> None:
    """Raise if files of a directory cannot be written; the error names `argument` and `path`."""
    directory = files[0].parent
    try:
        if not directory.is_dir():
            raise ArgumentError(
                argument, path, f"cannot be written: {str(directory)!r} is not a directory; create it first"
            )
        for file in files:
            if file.is_dir():
                raise ArgumentError(
                    argument, path, f"cannot be written: {file.name!r} is a directory; name another file"
                )
            if not overwrite and os.path.lexists(file):
                said = Message(
                    "{file!r} already exists; pass {overwrite:True} to replace it (each run spends the budget again), "
                    "or name another file",
                    file=file.name,
                )
                raise ArgumentError(argument, path, said)
        if not os.access(directory, os.W_OK | os.X_OK):
            raise ArgumentError(argument, path, f"cannot be written: no write permission for {str(directory)!r}")
    except OSError as failed:
        raise _unwritable(path, failed, argument) from None


def require_apart(data: object, files: Sequence[Path]) -> None:
    """Raise if an output would replace the source."""
    if not isinstance(data, str | os.PathLike):
        return
    source = os.fspath(data)
    read = {os.path.realpath(path) for path in (source, *glob.glob(str(source), recursive=True))}
    for file in files:
        if os.path.realpath(file) in read:
            raise ArgumentError("out", str(file), "is the source file; name another file")


def write(
    release: TableRelease,
    path: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    sign: str | os.PathLike[str] | Ed25519PrivateKey | None = None,
) -> tuple[Path, ...]:
    """Write the tables of a release and its manifest, all or none, record them in its ledger, and return the files.

    Examples
    --------
    >>> import ggdp, pyarrow, tempfile
    >>> people = pyarrow.table({"smokes": ["no", "yes", "no"]})
    >>> release = ggdp.release_table(people, by="smokes", goal=ggdp.PureDP(1.0), domain={"smokes": ["no", "yes"]})
    >>> [file.name for file in write(release, tempfile.mkdtemp() + "/smoking.csv")]
    ['smoking.csv', 'smoking.manifest.json']
    """
    files = require_writable(path, len(release.tables), overwrite=overwrite)
    key, signature = None if sign is None else signing_key(sign), signature_file(files[-1])
    if release.charge is not None:
        release.charge.require_apart(out=(*files, signature))
    found = files_of(release, files)
    put(found, str(path), overwrite=overwrite, key=key)
    if release.charge is not None:
        release.charge.published(digests(found))
    return files if key is None else (*files, signature)


def digests(files: Mapping[Path, bytes]) -> dict[str, str]:
    """Return the SHA-256 of files by their names, as a ledger records them."""
    return {file.name: hashlib.sha256(content).hexdigest() for file, content in files.items()}


def files_of(
    release: TableRelease | WrittenRelease, tables: Sequence[Path], pictures: Sequence[Path] = ()
) -> dict[Path, bytes]:
    """Return the contents of the files of a release: `tables` and the manifest after them, and a picture of each table.

    What executors have drawn is written already, with its manifest.
    """
    found: dict[Path, bytes] = {}
    loaded = release if isinstance(release, TableRelease) else None
    if tables and loaded is not None:
        is_csv = tables[0].suffix.lower() == ".csv"
        found = {
            file: as_csv(table) if is_csv else _as_parquet(table.to_arrow())
            for file, table in zip(tables[:-1], loaded.tables, strict=True)
        }
        described = [{"url": name, "sha256": digest} for name, digest in digests(found).items()]
        manifest = loaded.describe_files(described)
        found[tables[-1]] = (json.dumps(manifest, indent=2, allow_nan=False, ensure_ascii=False) + "\n").encode()
    if pictures:
        shown = release if isinstance(release, TableRelease) else release.load()
        found |= {file: picture(shown, table, file.suffix.lower()) for table, file in enumerate(pictures)}
    return found


def put(files: dict[Path, bytes], path: str, *, overwrite: bool, key: Ed25519PrivateKey | None = None) -> None:
    """Write files, all or none, a manifest with its signature if there is a key; errors name `path`.

    Without a key, the signature of an earlier manifest of the same name is removed.
    """
    signatures = {
        signature_file(file): None if key is None else signed(content, key)
        for file, content in files.items()
        if file.name.endswith(MANIFEST)
    }
    try:
        write_together({**files, **signatures}, overwrite=overwrite)
    except OSError as failed:
        raise _unwritable(path, failed) from None


def _unwritable(path: str, failed: OSError, argument: str = "out") -> ArgumentError:
    return ArgumentError(argument, path, f"cannot be written ({failed.strerror or failed}); name another file")


def as_csv(table: Table) -> bytes:
    """Return a table as CSV, with no formula among the texts of its open columns."""
    rows = table.to_arrow()
    for place, column in enumerate(table.domain):
        if column.kind == "open":
            rows = rows.set_column(place, rows.field(place), _harmless(rows.column(place)))
    return _as_csv(rows)


def _as_csv(table: pa.Table) -> bytes:
    """Return rows as CSV; pyarrow's own writer quotes every text, needed or not."""
    import pyarrow as pa

    header = ",".join(_quoted(pa.array(table.column_names)).to_pylist()).encode() + b"\n"
    lines = (_lines(table.slice(start, _ROWS)) for start in range(0, table.num_rows, _ROWS))
    return b"".join([header, *lines])


def _harmless(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return texts with an apostrophe before those that a spreadsheet would take for a formula, or that begin so."""
    import pyarrow as pa
    import pyarrow.compute as pc

    formula = pc.match_substring_regex(texts, _FORMULA)
    plain = pc.match_substring_regex(texts, _NUMBER)
    marked = pc.binary_join_element_wise(pa.scalar("'", texts.type), texts, pa.scalar("", texts.type))
    return pc.if_else(pc.and_not(formula, plain), marked, texts)


def _lines(rows: pa.Table) -> memoryview:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    wide = pa.large_string()
    columns = [_text(column.combine_chunks()) for column in rows.columns]
    ended = pc.binary_join_element_wise(columns[-1], pa.scalar("", wide), pa.scalar("\n", wide))
    lines = pc.binary_join_element_wise(*columns[:-1], ended, pa.scalar(",", wide))
    # The texts of an array lie one after another: they are the file.
    _, offsets, text = lines.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[[lines.offset, lines.offset + len(lines)]]
    return memoryview(text)[ends[0] : ends[1]]


def _text(values: pa.Array) -> pa.Array:
    """Return values as text, with quotes where they are needed; only text can hold what needs them.

    A null is an empty field: joined as a null, it would take its whole line with it.
    """
    import pyarrow as pa

    plain = values.cast(pa.large_string())
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        plain = _quoted(plain)
    return plain.fill_null("")


def _quoted(texts: pa.Array) -> pa.Array:
    """Return texts with quotes around those that need them; around the empty one too, or it would be read as null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    needed = pc.match_substring_regex(texts, _NEED_QUOTES)
    if not pc.any(needed).as_py():
        return texts
    doubled = pc.replace_substring(texts, '"', '""')
    quote, nothing = pa.scalar('"', texts.type), pa.scalar("", texts.type)
    return pc.if_else(needed, pc.binary_join_element_wise(quote, doubled, quote, nothing), texts)


def _as_parquet(table: pa.Table) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    plain = table.replace_schema_metadata(None).combine_chunks()
    pq.write_table(plain, sink, compression="zstd", store_schema=False, row_group_size=_ROWS, version="2.6")
    return bytes(sink.getvalue())


_FORMATS = (".png", ".pdf", ".svg")
_DOTS_PER_INCH = 200
# Written into files of these formats unless it is taken out.
_DATES: dict[str, dict[str, None]] = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}


def picture_files(plot: str | os.PathLike[str] | None, tables: int) -> tuple[Path, ...]:
    """Return the files of the figures, one for each table; none if no figure is requested."""
    if plot is None:
        return ()
    if not isinstance(plot, str | os.PathLike) or not isinstance(os.fspath(plot), str):
        raise ArgumentTypeError("plot", type(plot).__name__, "must be the path of a file")
    if Path(plot).suffix.lower() not in _FORMATS:
        raise ArgumentError("plot", str(plot), "must end in " + ", ".join(_FORMATS))
    return numbered(Path(plot), tables)


def require_pictures(plot: Path | None, tables: int, *, overwrite: bool) -> None:
    """Raise if figures cannot be drawn or written. Called before any data are read."""
    if plot is None:
        return
    from ggdp.plots.style import new_figure

    new_figure(1.0, 1.0)  # says at once if the extra is missing
    require_free(picture_files(plot, tables), "plot", str(plot), overwrite=overwrite)


def picture(release: TableRelease, table: int, suffix: str) -> bytes:
    """Return a picture of a table."""
    import matplotlib as mpl

    from ggdp.plots.tables import plot_table

    drawn = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "ggdp"}), warnings.catch_warnings():
        # A character that no installed font has is drawn as a box, which says it all.
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font", UserWarning)
        plot_table(release, table=table).savefig(
            drawn, format=suffix[1:], dpi=_DOTS_PER_INCH, metadata=_DATES.get(suffix)
        )
    return drawn.getvalue()
