r"""Released tables as files: the counts as CSV or Parquet, and the manifest.

One table is ``table.csv`` or ``.parquet`` with ``table.manifest.json``; several are ``table-1.csv``, ...; those that
have names are ``DIR/NAME.csv`` with ``DIR/manifest.json``. The signature of a manifest has ``.sig`` after its name.

Texts of open columns come from the data and may contain a formula, which a spreadsheet would run when it opens a CSV
file, in quotes or not. So an apostrophe is put before such a text, and before one that begins with an apostrophe: a
reader who takes one apostrophe off has the text again, and no two texts become one. Declared levels are the publisher's
own and stay as they are, with a warning when the release is planned (`formula_warning`).

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
import secrets
import shutil
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ggdp._files import write_together, writing
from ggdp.errors import ArgumentError, ArgumentTypeError, Message
from ggdp.ledger.charging import require_apart_from_ledger
from ggdp.signatures import sign, signature_file
from ggdp.tables.request import COVERS
from ggdp.tables.table_release import Table, TableRelease

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from ggdp.domain.column import Column
    from ggdp.ledger import Ledger
    from ggdp.tables.executor_release import WrittenRelease


FORMATS = (".csv", ".parquet")
PICTURES = (".png", ".pdf", ".svg")
MANIFEST = ".manifest.json"
# Lines that are made at once, so that a large table does not need its text twice.
_ROWS = 1 << 20
# What a formula begins with; the last four are the wide forms of the first, which some spreadsheets accept.
_STARTS = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"
# A number is none, though it begins with a sign.
_NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_SHOWN = 3


def targets(path: str | os.PathLike[str], tables: int, names: Sequence[str] | None = None) -> tuple[Path, ...]:
    """Return the files of a release: one for each table, the manifest last; with names, `path` may be a directory."""
    if names is not None and isinstance(path, str | os.PathLike) and not Path(path).suffix and "\0" not in str(path):
        return (*(Path(path) / f"{name}.csv" for name in names), Path(path) / MANIFEST[1:])
    file = _file("out", path, FORMATS, " or ")
    return (*number_files(file, tables), file.with_name(f"{file.stem}{MANIFEST}"))


def picture_files(plot: str | os.PathLike[str] | None, tables: int) -> tuple[Path, ...]:
    """Return the files of the figures, one for each table; none if no figure is requested."""
    return () if plot is None else number_files(_file("plot", plot, PICTURES, ", "), tables)


def wide_files(wide: str | os.PathLike[str] | None, tables: int) -> tuple[Path, ...]:
    """Return the files of tables in wide form, one for each; none if no such file is requested."""
    return () if wide is None else number_files(_file("wide", wide, (".csv",), ""), tables)


def _file(argument: str, path: str | os.PathLike[str], endings: tuple[str, ...], between: str) -> Path:
    """Return the path of an output; raise if it is none, or does not end in one of the endings."""
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise ArgumentTypeError(argument, type(path).__name__, "must be the path of a file")
    # Nothing can be looked up under a name with a null character.
    if Path(path).suffix.lower() not in endings or "\0" in str(path):
        raise ArgumentError(argument, str(path), f"must end in {between.join(endings)}")
    return Path(path)


def number_files(file: Path, tables: int) -> tuple[Path, ...]:
    """Return a file for each table: the file itself, or several with numbers in their names."""
    if tables == 1:
        return (file,)
    return tuple(file.with_name(f"{file.stem}-{number}{file.suffix}") for number in range(1, tables + 1))


def without_number(file: Path, tables: int) -> Path:
    """Return the file that `number_files` was given, from the first that it returned."""
    return file if tables == 1 else file.with_name(f"{file.stem.removesuffix('-1')}{file.suffix}")


def require_tables(path: str | os.PathLike[str], files: Sequence[Path], **given: Any) -> None:  # noqa: ANN401
    """Raise if tables and their manifest, the last file, cannot be written to `path`; as `require_free`."""
    # A signature that is there already would be taken for one of the new manifest.
    require_free("out", str(path), (*files, signature_file(files[-1])), **given)


def require_pictures(path: Path, files: Sequence[Path], **given: Any) -> None:  # noqa: ANN401
    """Raise if figures cannot be drawn, or not be written to `path`; as `require_free`."""
    from ggdp.plots.style import new_figure

    new_figure(1.0, 1.0)  # says at once if the extra is missing
    require_free("plot", str(path), files, **given)


def require_free(
    argument: str,
    path: str,
    files: Sequence[Path],
    *,
    overwrite: bool,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    data: object = None,
) -> None:
    """Raise if files of a directory cannot be written, or are the ledger or the source; errors name `path`."""
    require_apart_from_ledger(ledger, **{argument: files})
    directory = files[0].parent
    if directory == Path(path) and not os.path.lexists(directory):
        # A directory of tables is made when they are written.
        directory = directory.parent
    with writing(argument, path):
        if not directory.is_dir():
            said = f"cannot be written: {str(directory)!r} is not a directory; create it first"
            raise ArgumentError(argument, path, said)
        for file in files:
            if file.is_dir():
                said = f"cannot be written: {file.name!r} is a directory; name another file"
                raise ArgumentError(argument, path, said)
            if not overwrite and os.path.lexists(file):
                words = (
                    "{file!r} already exists; pass {overwrite:True} to replace it (each run spends the budget again), "
                    "or name another file"
                )
                raise ArgumentError(argument, path, Message(words, file=file.name))
        if not os.access(directory, os.W_OK | os.X_OK):
            raise ArgumentError(argument, path, f"cannot be written: no write permission for {str(directory)!r}")
    require_apart(data, files)


def require_apart(data: object, files: Sequence[Path]) -> None:
    """Raise if an output would replace the source."""
    if not isinstance(data, str | os.PathLike):
        return
    source = os.fspath(data)
    read = {os.path.realpath(path) for path in (source, *glob.glob(str(source), recursive=True))}
    for file in files:
        if os.path.realpath(file) in read:
            raise ArgumentError("out", str(file), "is the source file; name another file")


def digests(files: Mapping[Path, bytes]) -> dict[str, str]:
    """Return the SHA-256 of files by their names, as a ledger records them."""
    return {file.name: hashlib.sha256(content).hexdigest() for file, content in files.items()}


def files_of(
    release: TableRelease | WrittenRelease, tables: Sequence[Path], pictures: Sequence[Path] = ()
) -> dict[Path, bytes]:
    """Return the files of a release: tables, the manifest after them, and pictures; executors have written theirs.

    Tables in wide form, for print, are among the pictures.
    """
    found: dict[Path, bytes] = {}
    if tables and isinstance(release, TableRelease):
        is_csv = tables[0].suffix.lower() == ".csv"
        for file, table in zip(tables[:-1], release.tables, strict=True):
            found[file] = as_csv(table) if is_csv else as_parquet(table.to_arrow())
        manifest, named = release.unwritten_manifest, digests(found).items()
        described = zip(manifest["table"]["tables"], named, strict=True)
        files = [{**table, "url": name, "sha256": sha256} for table, (name, sha256) in described]
        manifest = {**manifest, "table": {**manifest["table"], "tables": files}}
        release.written_manifests.append(manifest)
        found[tables[-1]] = (json.dumps(manifest, indent=2, allow_nan=False, ensure_ascii=False) + "\n").encode()
    if pictures:
        shown = release if isinstance(release, TableRelease) else release.load()
        for number, file in enumerate(pictures):
            place, kind = number % len(shown.tables), file.suffix.lower()
            found[file] = as_csv(shown.tables[place], wide=True) if (kind == ".csv") else picture(shown, place, kind)
    return found


def write_files(files: dict[Path, bytes], path: str, *, overwrite: bool, key: Ed25519PrivateKey | None = None) -> None:
    """Write files, all or none, a manifest with its signature; without a key, that of an earlier manifest goes."""
    signatures = {
        signature_file(file): None if key is None else sign(content, key)
        for file, content in files.items()
        if is_manifest(file)
    }
    directory, contents = Path(path), {**files, **signatures}
    with writing("out", path):
        if any(file.parent == directory for file in files) and not os.path.lexists(directory):
            _write_directory(directory, contents, overwrite=overwrite)
        else:
            write_together(contents, overwrite=overwrite)


def is_manifest(file: Path) -> bool:
    """Return whether a file is named like a manifest."""
    return f".{file.name}".endswith(MANIFEST)


def _write_directory(directory: Path, contents: Mapping[Path, bytes | None], *, overwrite: bool) -> None:
    """Write the files of a new directory, which appears with all of them or not at all, and files elsewhere."""
    hidden = directory.with_name(f".{directory.name[:100]}.{secrets.token_hex(6)}")
    hidden.mkdir()
    try:
        moved = {hidden / file.name if file.parent == directory else file: one for file, one in contents.items()}
        write_together(moved, overwrite=overwrite)
        hidden.rename(directory)
    except BaseException:
        shutil.rmtree(hidden, ignore_errors=True)
        raise


def wide_form(table: Table) -> pa.Table:
    """Return a table with the levels of its last column side by side: ``count f``, ``lower f``, ``upper f``, ..."""
    rows, (*keys, across) = table.to_arrow(), table.by
    measures = [name for name in rows.column_names if name not in (*table.by, COVERS)]
    levels, found = dict[str, None](), dict[tuple[Any, ...], dict[str, dict[str, Any]]]()
    for row in rows.to_pylist():
        levels[str(row[across])] = None
        found.setdefault(tuple(row[name] for name in keys), {})[str(row[across])] = row
    names = [*keys, *(f"{name} {level}" for level in levels for name in measures)]
    columns = [pa.array([key[place] for key in found], rows[name].type) for place, name in enumerate(keys)]
    # Cells that a sparse table does not show are empty.
    columns += [
        pa.array([shown.get(level, {}).get(name) for shown in found.values()], rows[name].type)
        for level in levels
        for name in measures
    ]
    return pa.Table.from_arrays(columns, names)


def as_csv(table: Table, *, wide: bool = False) -> bytes:
    """Return a table as CSV, perhaps in wide form, with no formula among the texts of its open columns."""
    rows = wide_form(table) if wide else table.to_arrow()
    for place, column in enumerate(table.domain):
        if column.kind == "open" and column.name in rows.column_names:
            rows = rows.set_column(place, rows.field(place), _harmless(rows.column(place)))
    return _as_csv(rows)


def _as_csv(table: pa.Table) -> bytes:
    """Return rows as CSV; pyarrow's own writer quotes every text, needed or not."""
    comma, nothing, end = (pa.scalar(text, pa.large_string()) for text in (",", "", "\n"))
    parts: list[bytes | memoryview] = [",".join(_quote(pa.array(table.column_names)).to_pylist()).encode() + b"\n"]
    for start in range(0, table.num_rows, _ROWS):
        columns = [_text(column.combine_chunks()) for column in table.slice(start, _ROWS).columns]
        ended = pc.binary_join_element_wise(columns[-1], nothing, end)
        lines = pc.binary_join_element_wise(*columns[:-1], ended, comma)
        # The texts of an array lie one after another: they are the file.
        _, offsets, text = lines.buffers()
        first, last = np.frombuffer(offsets, dtype=np.int64)[[lines.offset, lines.offset + len(lines)]]
        parts.append(memoryview(text)[first:last])
    return b"".join(parts)


def _harmless(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return texts with an apostrophe before those that a spreadsheet would take for a formula, or that begin so."""
    formula = pc.match_substring_regex(texts, f"^['{re.escape(_STARTS)}]")
    plain = pc.match_substring_regex(texts, rf"^(?:{_NUMBER})\z")
    marked = pc.binary_join_element_wise(pa.scalar("'", texts.type), texts, pa.scalar("", texts.type))
    return pc.if_else(pc.and_not(formula, plain), marked, texts)


def formula_warning(columns: Iterable[Column]) -> str | None:
    """Return a warning about labels and names of columns that are formulas in a spreadsheet; None if there are none."""

    def is_formula(text: str) -> bool:
        return text[:1] in set(_STARTS) and re.fullmatch(_NUMBER, text) is None

    found: list[str] = []
    for column in columns:
        shown = [repr(label) for label in column.labels or () if isinstance(label, str) and is_formula(label)]
        if shown:
            more = f" and {len(shown) - _SHOWN:,} more" if len(shown) > _SHOWN else ""
            found.append(f"{', '.join(shown[:_SHOWN])}{more} of {column.name!r}")
        if is_formula(column.name):
            found.append(f"the name {column.name!r}")
    if not found:
        return None
    return (
        f"{'; '.join(found)}: a spreadsheet that opens a CSV file takes such labels for formulas; they are published "
        "as declared: rename them, or publish a Parquet file"
    )


def _text(values: pa.Array) -> pa.Array:
    """Return values as text, with quotes where they are needed; only text can hold what needs them.

    A null is an empty field: joined as a null, it would take its whole line with it.
    """
    plain = values.cast(pa.large_string())
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        plain = _quote(plain)
    return plain.fill_null("")


def _quote(texts: pa.Array) -> pa.Array:
    """Return texts with quotes around those that need them; around the empty one too, or it would be read as null."""
    needed = pc.match_substring_regex(texts, '[,"\\r\\n]|^$')
    if not pc.any(needed).as_py():
        return texts
    doubled = pc.replace_substring(texts, '"', '""')
    quote, nothing = pa.scalar('"', texts.type), pa.scalar("", texts.type)
    return pc.if_else(needed, pc.binary_join_element_wise(quote, doubled, quote, nothing), texts)


def as_parquet(table: pa.Table) -> bytes:
    """Return a table as a Parquet file."""
    sink = pa.BufferOutputStream()
    plain = table.replace_schema_metadata(None).combine_chunks()
    pq.write_table(plain, sink, compression="zstd", store_schema=False, row_group_size=_ROWS, version="2.6")
    return bytes(sink.getvalue())


def picture(release: TableRelease, table: int, suffix: str) -> bytes:
    """Return a picture of a table."""
    import matplotlib as mpl

    from ggdp.plots.table_figures import plot_table

    # Written into files of these formats unless it is taken out.
    dates: dict[str, dict[str, None]] = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}
    drawn = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "ggdp"}), warnings.catch_warnings():
        # A character that no installed font has is drawn as a box, which says it all.
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font", UserWarning)
        plot_table(release, table=table).savefig(drawn, format=suffix[1:], dpi=200, metadata=dates.get(suffix))
    return drawn.getvalue()
