"""Released tables: keys, counts and intervals, with the guarantee they carry.

The page "Output files" of the documentation has the columns of a table: its keys, rebuilt from the public domain or,
where it is open, from released rows; the count after the requested adjustments, and where these make it differ the raw
one; and the 95 % interval for the true count, from the raw noisy count; statistics and percentages likewise.

Nothing in a table is made from the data but through the mechanism: rows are in domain order, and types and metadata
follow from the request.

Claim (intervals). Each covers what `ggdp.tables.table_manifest.coverage` says, or the true count where that says
nothing, with a probability of at least 95 %, given that the cell is shown where cells are left out. Proof:
`ggdp.releases.error_law` for complete tables, `ggdp.releases.mechanism_record` for others,
`ggdp.tables.units_over_limit` where units that are cut are counted. Ends below 0 can be set to 0, since no count is
negative; they are wherever the counts are.

Claim (comparisons). Intervals of shares, ratios and differences cover those of the counts without noise, as far as
units are counted, with at least their level. Proof: `ggdp.releases.comparisons`; where the total is public,
100 (count +- half-width) / total. They need every cell of a table of counts: of a total of which small counts are left
out nothing is known. All are computed from raw noisy counts, as the other intervals are; a percentage of a public total
is that of the count that was adjusted to it, and its interval is widened to hold it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ggdp._rounding import number_of
from ggdp.errors import ArgumentError, ArgumentTypeError
from ggdp.mechanisms.certified_noise import add_saturating
from ggdp.releases.comparisons import Estimate, Part, share_ends, sum_half_width
from ggdp.releases.error_law import ErrorLaw, VectorErrorLaw
from ggdp.releases.mechanism_record import LEVEL, thresholded_intervals
from ggdp.releases.release import require_module
from ggdp.signatures import signature_file, signing_key
from ggdp.tables.request import COUNTS, COVERS, PERCENT, TableRequest
from ggdp.tables.statistics.released_statistics import PublishedStatistic, rounded_outwards, shown_estimate
from ggdp.tables.table_manifest import coverage, table_manifest
from ggdp.tables.units_over_limit import CELL_LEVEL, CutCount

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from matplotlib.figure import Figure

    from ggdp.domain.table_domain import Domain
    from ggdp.ledger.charging import PendingCharge
    from ggdp.noise.generalized_gaussian import Floats
    from ggdp.privacy import Guarantee
    from ggdp.proofs.losses import CountedLoss
    from ggdp.releases import Release
    from ggdp.tables.table_plan import TablePlan


def table_intervals(
    plan: TablePlan, table: int, noisy: NDArray[np.int64], cut: Sequence[CutCount] = ()
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ends of the 95 % intervals of one table, from its raw noisy counts."""
    # Where the units cut are counted, part of what an interval may miss is for their noise.
    law, level = plan.laws[table], CELL_LEVEL if (plan.cut is not None and table in plan.cut.tables) else LEVEL
    if plan.threshold is None or plan.request.regimes[table] == "declared":
        lower, upper = law.intervals(noisy, level)
    else:
        lower, upper = thresholded_intervals(law, plan.threshold, noisy, level)
    if extra := next((count.allowance for count in cut if count.table == table), 0):
        raised = np.full(upper.shape, extra, dtype=np.int64)
        add_saturating(np.ascontiguousarray(upper), raised)
        upper = raised
    if plan.request.nonnegative:
        lower, upper = np.maximum(lower, 0), np.maximum(upper, 0)
    return lower, upper


_ROWS_AT_A_PROMPT, _ROWS_IN_NOTEBOOKS = 5, 10


def html_row(texts: Iterable[str], tag: str = "td") -> str:
    """Return a row of an HTML table; every text is escaped."""
    return f"<tr>{''.join(f'<{tag}>{escape(text)}</{tag}>' for text in texts)}</tr>"


class ArrowViews(ABC):
    """Conversions of an Arrow table to frames of several libraries."""

    __slots__ = ()

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """Return the table as an Arrow table."""

    def to_pandas(self) -> pd.DataFrame:
        """Return the table as a pandas frame."""
        require_module("pandas")
        return self.to_arrow().to_pandas(date_as_object=False)

    def to_polars(self) -> pl.DataFrame:
        """Return the table as a polars frame."""
        frame: pl.DataFrame = require_module("polars").from_arrow(self.to_arrow())
        return frame


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Table(ArrowViews):
    """One released table of counts, and perhaps statistics.

    Attributes
    ----------
    domain : Domain
        The public domain of its keys.
    keys : pyarrow.Table
        The key of each row.
    count, noisy_count, lower, upper : numpy.ndarray
        What is published of each row.
    covers : str, optional
        What the intervals cover, where that is less than all that the source holds, or what counts are.
    statistics : tuple of PublishedStatistic
        Statistics of each row, with their intervals.
    written : tuple of str
        Which of the columns of counts are written: not `noisy_count` where it is `count`.
    digits : int, optional
        Decimal digits that statistics were rounded to, if that was requested.
    noise : tuple of (float, float) or VectorErrorLaw, optional
        Order and scale of the noise of each count, or its law where it is not independent in every cell; None where
        cells are left out, or statistics were released.
    total : int, optional
        The public total of the counts.
    """

    domain: Domain
    keys: pa.Table
    count: NDArray[np.int64]
    noisy_count: NDArray[np.int64]
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    covers: str | None = None
    statistics: tuple[PublishedStatistic, ...] = ()
    written: tuple[str, ...] = COUNTS
    digits: int | None = None
    noise: tuple[float, float] | VectorErrorLaw | None = None
    total: int | None = None

    @property
    def by(self) -> tuple[str, ...]:
        """The columns that were counted by."""
        return self.domain.names

    def to_arrow(self) -> pa.Table:
        """Return the table as an Arrow table."""
        columns = dict(zip(self.by, self.keys.columns, strict=True))
        columns |= {name: pa.array(getattr(self, name)) for name in self.written}
        for name, value, lower, upper in self.statistics:
            columns[name] = pa.array(value, mask=np.isnan(value))
            columns |= {f"{name}_lower": pa.array(lower), f"{name}_upper": pa.array(upper)}
        if self.covers is not None:
            columns[COVERS] = pa.repeat(self.covers, len(self))
        return pa.table(columns)

    def to_numpy(self) -> NDArray[np.int64]:
        """Return the counts as a new array."""
        return self.count.copy()

    def __len__(self) -> int:
        return int(self.count.size)

    def shares(self, of: str | Sequence[str] = (), *, level: float = LEVEL) -> Table:
        """Return the table with each count in percent of a total, and an interval: ``percent``, ``percent_lower``, ...

        Parameters
        ----------
        of : str or sequence of str, optional
            Columns whose level the cells of a total share, such as "ward" for percentages that add up to 100 in each
            ward; by default the total of all cells.
        level : float, default 0.95
            Probability with which each interval of a percentage covers.

        Notes
        -----
        A percentage is null where the noisy total is 0 or less, or the interval reaches from 0 to 100.
        """
        names = [of] if isinstance(of, str) else list(of)
        if any(name not in self.by for name in names) or {*names} == {*self.by}:
            expected = f"must be some of the columns, and not all of them: {', '.join(self.by)}"
            raise ArgumentError("of", of, expected)
        group = np.zeros(len(self), dtype=np.int64)
        for name in names:
            codes = self.keys.column(self.by.index(name)).combine_chunks().dictionary_encode().indices
            _, group = np.unique(group * len(self) + codes.to_numpy(), return_inverse=True)
        sizes, x = np.bincount(group)[group], self.noisy_count.astype(np.float64)
        rest, found = np.bincount(group, weights=x)[group] - x, np.empty((3, len(self)))
        for size in np.unique(sizes).tolist():
            here = sizes == size
            # A count that was adjusted to a public total adds up to it.
            values = None if names or self.total is None else self.count[here].astype(np.float64)
            found[:, here] = self._parts(x[here], rest[here], 1, size - 1, level, is_all=not names, values=values)
        percent = PublishedStatistic(PERCENT, *(100.0 * found))
        percent = percent if self.digits is None else rounded_outwards(percent, self.digits)
        return replace(self, statistics=(*(one for one in self.statistics if one.name != PERCENT), percent))

    def ratio(self, cell: Mapping[str, object], base: Mapping[str, object], *, level: float = LEVEL) -> Estimate:
        """Return the count of a cell divided by that of another, with an interval.

        Parameters
        ----------
        cell, base : mapping of str to level
            A level for some of the columns, as it is published or declared: ``{"sex": "f"}`` is the sum over all
            others, ``{}`` that of all cells. They have no cell in common, or one is part of the other.
        level : float, default 0.95
            Probability with which the interval covers.
        """
        one, other = self._sums(cell, base)
        is_apart, is_part = not np.any(one & other), bool(np.all(one <= other))
        if not (is_apart or is_part or np.all(other <= one)):
            raise ArgumentError("base", _words(base), "overlaps the cell: name one without a common part, or a whole")
        # The share of one of them in both together, or in the larger one, of which the rest is the other part.
        parts = (one, other & ~one) if is_apart or is_part else (other, one & ~other)
        x, y = (np.array([float(sum(self.noisy_count[where].tolist()))]) for where in parts)
        first, second = (int(where.sum()) for where in parts)
        shares = self._parts(x, y, first, second, level, is_all=bool(np.all(one | other)))[:, 0].tolist()
        if is_apart:
            shares = [share / (1.0 - share) if share != 1.0 else math.inf for share in shares]
        elif not is_part:
            shares = [1.0 / share if share else math.inf for share in (shares[0], shares[2], shares[1])]
        value, lower, upper = (end if math.isfinite(end) else None for end in shares)
        return Estimate(value, lower, upper, level)

    def difference(self, cell: Mapping[str, object], base: Mapping[str, object], *, level: float = LEVEL) -> Estimate:
        """Return the count of a cell minus that of another, with an interval; they may overlap, else as `ratio`."""
        one, other = self._sums(cell, base)
        value, weights = 0, np.zeros(len(self), dtype=np.int64)
        for sign, where in ((1, one), (-1, other)):
            if self.total is not None and np.all(where):
                # It has no noise.
                value += sign * self.total
            else:
                value, weights = value + sign * sum(self.noisy_count[where].tolist()), weights + sign * where
        half = sum_half_width((self.noise_of(int((weights > 0).sum()), int((weights < 0).sum())),), level)
        return Estimate(value, value - half, value + half, level)

    def noise_of(self, plus: int, minus: int = 0) -> Part:
        """Return the noise of a sum of so many counts less so many others."""
        if self.noise is None:
            expected = "does not show every cell, or has statistics: only counts of declared levels are compared"
            raise ArgumentError("table", " x ".join(self.by) or "all rows", expected)
        return (*self.noise, plus + minus) if isinstance(self.noise, tuple) else (self.noise, plus, minus)

    def _parts(
        self, x: Floats, y: Floats, first: int, second: int, level: float, *, is_all: bool, values: Floats | None = None
    ) -> Floats:
        """Return shares of sums x, of so many cells, in x + y, with the ends of their intervals; NaN if unknown."""
        total, noise = x + y, self.noise_of(first)
        if self.total is not None and is_all:
            if second < first:
                # The rest says more, since it has the noise of fewer cells.
                noise, x = self.noise_of(second), self.total - y
            total, half = np.full(x.shape, float(self.total)), sum_half_width((noise,), level)
            divisor = np.maximum(total, 1.0)
            lower, upper = ((x + sign * half) / divisor * (1.0 + sign * 2.0**-50) for sign in (-1.0, 1.0))
        elif second == 0:
            lower, upper = np.ones(x.shape), np.ones(x.shape)
        else:
            lower, upper = share_ends(x, y, noise, self.noise_of(second), level)
        known = total > 0.0
        value = np.clip((x if values is None else values) / np.where(known, total, 1.0), 0.0, 1.0)
        lower = np.where(known, np.clip(lower, 0.0, value), 0.0)
        upper = np.where(known, np.clip(upper, value, 1.0), 1.0)
        return np.stack([np.where(known & ((lower > 0.0) | (upper < 1.0)), value, np.nan), lower, upper])

    def _sums(self, *cells: Mapping[str, object]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the rows that two cells are the sums of."""
        self.noise_of(1)  # raises where cells are left out
        found = []
        for argument, cell in zip(("cell", "base"), cells, strict=True):
            if not isinstance(cell, Mapping):
                raise ArgumentTypeError(argument, cell, "must give levels of columns, such as {'sex': 'f'}")
            where = np.ones(len(self), dtype=bool)
            for name, level in cell.items():
                if name not in self.by:
                    raise ArgumentError(argument, name, f"is not one of the columns: {', '.join(self.by)}")
                texts = [_text(key) for key in self.keys.column(self.by.index(name)).to_pylist()]
                column = self.domain[name]
                declared = dict(zip(map(_text, column.levels or ()), map(_text, column.labels or ()), strict=False))
                wanted = text if (text := _text(level)) in texts else declared.get(text)
                if wanted not in texts:
                    said = f"is not a level of {name!r}: {', '.join(dict.fromkeys(texts))}"
                    raise ArgumentError(argument, level, said)
                where &= np.array([text == wanted for text in texts])
            if not where.any():
                raise ArgumentError(argument, _words(cell), "cannot occur: it was declared to be impossible")
            found.append(where)
        one, other = found
        if np.array_equal(one, other):
            raise ArgumentError("base", _words(cells[1]), "is the cell itself; name another one")
        return one, other


def _words(cell: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={_text(level)}" for name, level in cell.items()) or "all cells"


def _text(level: object) -> str:
    """Return a level as it is written to files."""
    return str(level).lower() if isinstance(level, bool) else str(level)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TableRelease(ArrowViews):
    """Private tables with their guarantee. Made by `ggdp.release_table`.

    Attributes
    ----------
    plan : TablePlan
        The plan: the request, the noise and the threshold.
    release : Release
        All counts as one vector, the tables one after another, with the guarantee of all of them together; with
        statistics, all noisy sums.
    tables : tuple of Table
        The tables. ``release["sex", "smokes"]`` is the one with these columns.
    cut : tuple of CutCount
        With `count_cut`: how many units are in more cells of a table than they are counted in, privately.
    charge : PendingCharge, optional
        The charge to a ledger, which records the files when they are written; None of tables that were read again.

    Examples
    --------
    >>> import ggdp, pyarrow as pa
    >>> people = pa.table({"sex": ["f", "m", "f"], "smokes": ["no", "no", "yes"]})
    >>> domain = ggdp.Domain({"sex": ["f", "m"], "smokes": ["no", "yes"]})
    >>> release = ggdp.release_table(people, by=["sex", "smokes"], goal=ggdp.PureDP(1.0), domain=domain)
    >>> release.to_arrow().column_names
    ['sex', 'smokes', 'count', 'lower', 'upper']
    >>> print(release.guarantee)
    1-DP under add-remove neighbours
    """

    plan: TablePlan
    release: Release
    tables: tuple[Table, ...]
    cut: tuple[CutCount, ...] = ()
    charge: PendingCharge | None = None
    written_manifests: list[dict[str, Any]] = field(init=False, default_factory=list)

    @property
    def request(self) -> TableRequest:
        """The request."""
        return self.plan.request

    @property
    def guarantee(self) -> Guarantee | None:
        """The guarantee of all tables together; None if their noise came from a seed, so they are not private."""
        return self.release.guarantee

    @property
    def losses(self) -> tuple[CountedLoss, ...]:
        """Losses that dominate the tables in a composition (`ggdp.compose`)."""
        return self.plan.losses

    @property
    def protected_unit(self) -> str:
        """The column of the units that are protected, or "row"; "column row" for a column of that name."""
        return self.plan.protected_unit

    @property
    def manifest(self) -> dict[str, Any]:
        """What a reader needs to use the tables, as plain values ready for JSON.

        It follows `ggdp.releases.manifest_schema`. Nothing in it is computed from the data but through the mechanism.
        """
        return deepcopy(self.unwritten_manifest)

    @cached_property
    def unwritten_manifest(self) -> dict[str, Any]:
        """The manifest without files, made once: not to be changed."""
        return table_manifest(self.plan, self.release, cut=self.cut)

    @property
    def written_manifest(self) -> dict[str, Any] | None:
        """The manifest as it was written first, with the digests of the files; None if nothing was written."""
        return next(iter(self.written_manifests), None)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What to look at before the release is used: tables and columns that may be empty, by what is released."""
        from ggdp.tables.nothing_counted import notes_of

        return tuple(notes_of(self))

    def __getitem__(self, by: str | tuple[str, ...]) -> Table:
        """Return one of several tables: by its name in a study, or by its columns: ``release["sex", "smokes"]``."""
        return self.tables[self.plan.number_of_table(by)]

    def to_arrow(self) -> pa.Table:
        """Return the one table as an Arrow table; if there are several, take one of `tables`."""
        return self._one().to_arrow()

    def to_numpy(self) -> NDArray[np.int64]:
        """Return the counts as a new array; those of several tables are concatenated."""
        return np.concatenate([table.count for table in self.tables])

    def to_csv(self, path: str | Path | None = None, *, overwrite: bool = False) -> str | None:
        """Return the one table as CSV text; or write it to a file, with the manifest beside it.

        Parameters
        ----------
        path : str or Path, optional
            Where to, ending in ``.csv``; `write` does the same, and knows Parquet too.
        overwrite : bool, default False
            Whether files that already exist may be replaced.

        Examples
        --------
        >>> import ggdp, pyarrow
        >>> people = pyarrow.table({"smokes": ["no", "yes", "no"]})
        >>> release = ggdp.release_table(people, by="smokes", goal=ggdp.PureDP(1.0), domain={"smokes": ["no", "yes"]})
        >>> release.to_csv().splitlines()[0]
        'smokes,count,lower,upper'
        """
        from ggdp.tables.output_files import as_csv

        if path is None:
            return as_csv(self._one()).decode()
        if not str(path).lower().endswith(".csv"):
            raise ArgumentError("path", str(path), "must end in .csv; write() also writes .parquet")
        self.write(path, overwrite=overwrite)
        return None

    def write(
        self, path: str | Path, *, overwrite: bool = False, sign: str | Path | Ed25519PrivateKey | None = None
    ) -> tuple[Path, ...]:
        """Write the tables to .csv or .parquet, with the manifest beside them, and return the files.

        Parameters
        ----------
        path : str or Path
            Where to: ``table.csv`` comes with ``table.manifest.json``. Several tables are ``table-1.csv`` and so on.
        overwrite : bool, default False
            Whether files that already exist may be replaced. All are written, or none.
        sign : path or Ed25519PrivateKey, optional
            Sign the manifest with this key, as in `ggdp.release_table`.

        Notes
        -----
        Where the release was charged to a ledger, the SHA-256 of the files that are written first is recorded there.
        """
        from ggdp.tables.output_files import digests, files_of, require_tables, targets, write_files

        files, charge = targets(path, len(self.tables)), self.charge
        require_tables(path, files, overwrite=overwrite, ledger=None if charge is None else charge.ledger)
        key = None if sign is None else signing_key(sign)
        found = files_of(self, files)
        write_files(found, str(path), overwrite=overwrite, key=key)
        if charge is not None:
            charge.record_files(digests(found))
        return files if key is None else (*files, signature_file(files[-1]))

    def shares(self, of: str | Sequence[str] = (), *, level: float = LEVEL) -> Table:
        """Return the one table with each count in percent of a total, as `Table.shares` does.

        Examples
        --------
        >>> import ggdp, pyarrow
        >>> people = pyarrow.table({"sex": ["f", "m", "f"] * 100, "smokes": ["no", "no", "yes"] * 100})
        >>> domain = {"sex": ["f", "m"], "smokes": ["no", "yes"]}
        >>> release = ggdp.release_table(people, by=["sex", "smokes"], goal=1.0, domain=domain, unit="row")
        >>> release.shares("sex").to_arrow().column_names[-3:]
        ['percent', 'percent_lower', 'percent_upper']
        """
        return self._one().shares(of, level=level)

    def ratio(self, cell: Mapping[str, object], base: Mapping[str, object], *, level: float = LEVEL) -> Estimate:
        """Return the count of a cell of the one table divided by that of another, as `Table.ratio` does."""
        return self._one().ratio(cell, base, level=level)

    def difference(self, cell: Mapping[str, object], base: Mapping[str, object], *, level: float = LEVEL) -> Estimate:
        """Return the count of a cell of the one table minus that of another, as `Table.difference` does."""
        return self._one().difference(cell, base, level=level)

    def plot(self, *, column: str | None = None, title: str | None = None, unit: str | None = None) -> Figure:
        """Return a figure of the one table with its intervals; needs the extra `plots`.

        The parameters are those of `ggdp.plots.plot_table`, which also draws one of several tables.
        """
        from ggdp.plots.table_figures import plot_table

        self._one()
        return plot_table(self, column=column, title=title, unit=unit)

    def _repr_html_(self) -> str:
        """Return the guarantee and the first rows of each table, for notebooks; every text is escaped."""
        parts = [f"<p><b>{escape(self._promise())}</b>; {escape(str(self.release.mechanism))}</p>"]
        parts += [f"<p>then: {escape(str(step))}</p>" for step in self.release.adjustments]
        for table in self.tables:
            names = [statistic.name for statistic in table.statistics]
            shown = (text for name in ["count", *names] for text in (name, "95 % interval"))
            rows = [
                html_row(
                    [
                        *(str(row[name]) for name in table.by),
                        f"{row['count']:,}",
                        f"{row['lower']:,} to {row['upper']:,}",
                        *(text for name in names for text in shown_estimate(row, name, table.digits)),
                    ]
                )
                for row in table.to_arrow().slice(0, _ROWS_IN_NOTEBOOKS).to_pylist()
            ]
            covers = "" if table.covers is None else f"; the intervals cover: {table.covers}"
            more = f", {len(table) - len(rows):,} more" if len(table) > len(rows) else ""
            caption = escape(f"{' x '.join(table.by) or 'all rows'}: {number_of(len(table), 'row')}{covers}")
            body = f"<thead>{html_row([*table.by, *shown], 'th')}</thead><tbody>{''.join(rows)}</tbody>"
            parts.append(f"<table><caption>{caption}</caption>{body}</table>")
            parts.append(f"<p>{number_of(len(rows), 'row')} shown{more}</p>")
        return "".join(parts)

    def __repr__(self) -> str:
        lines = [f"TableRelease, {self._promise()}", f"  made by: {self.release.mechanism}"]
        lines += [f"  then: {step}" for step in self.release.adjustments]
        for table in self.tables:
            covers = "" if table.covers is None else f"; intervals: {table.covers}"
            lines.append(f"  {' x '.join(table.by) or 'all rows'}: {number_of(len(table), 'row')}{covers}")
            for row in table.to_arrow().slice(0, _ROWS_AT_A_PROMPT).to_pylist():
                said = [f"{row['count']} ({row['lower']} to {row['upper']})"]
                for statistic in table.statistics:
                    value, interval = shown_estimate(row, statistic.name, table.digits)
                    said.append(f"{statistic.name} {value or 'null'} ({interval})")
                lines.append(f"    {', '.join(str(row[name]) for name in table.by) or 'all'}: {', '.join(said)}")
            if len(table) > _ROWS_AT_A_PROMPT:
                lines.append("    ...")
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)

    def _promise(self) -> str:
        return "NOT PRIVATE: no guarantee" if self.guarantee is None else str(self.guarantee)

    def _one(self) -> Table:
        if len(self.tables) != 1:
            expected = "take one of them: release.tables[0].to_pandas(), or ggdp.plots.plot_table(release, table=0)"
            raise ArgumentError("release", f"of {len(self.tables)} tables", expected)
        return self.tables[0]


def noise_of_cells(law: ErrorLaw | VectorErrorLaw) -> tuple[float, float] | VectorErrorLaw:
    """Return what a table keeps of the law of its noise, for comparisons."""
    return law if isinstance(law, VectorErrorLaw) else (law.order, law.scale)


def tables_of(release: Release, plan: TablePlan, keys: list[pa.Table], cut: Sequence[CutCount]) -> tuple[Table, ...]:
    """Return the tables of a release of all their counts, one after another, given the keys of each."""
    request, tables, start = plan.request, [], 0
    for number, (domain, key) in enumerate(zip(request.domains, keys, strict=True)):
        part = slice(start, start + key.num_rows)
        start = part.stop
        lower, upper = table_intervals(plan, number, release.noisy[part], cut)
        law = plan.laws[number]
        table = Table(
            domain=domain,
            keys=key,
            count=release.values[part],
            noisy_count=release.noisy[part],
            lower=lower,
            upper=upper,
            covers=coverage(request, number),
            written=request.count_columns,
            digits=request.digits,
            noise=noise_of_cells(law) if request.regimes[number] == "declared" else None,
            total=request.total,
        )
        tables.append(table if request.percent_of is None else table.shares(request.percent_of))
    return tuple(tables)
