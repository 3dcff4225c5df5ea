"""The two main functions: plan a table of private counts, and release one.

A release is a plan that is run, and nothing else: all that can be decided without the data is decided by the plan.
"""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any, Literal

from ggdp.errors import PrivacyWarning
from ggdp.tables.engines.text_files import text_format
from ggdp.tables.request import TableRequest
from ggdp.tables.table_plan import TablePlan, plan_request

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from ggdp.ledger import Ledger
    from ggdp.privacy import Guarantee, Neighbours
    from ggdp.sampling import Source
    from ggdp.tables.domain import Domain
    from ggdp.tables.engines.spark.written_release import WrittenRelease
    from ggdp.tables.release import TableRelease
    from ggdp.tables.request import Counting
    from ggdp.tables.statistics.statistic import PerUnit, Statistic


def plan_table(
    by: str | Sequence[str] | Sequence[Sequence[str]] | None,
    goal: Guarantee,
    domain: Domain | Mapping[str, Any] | str | Path | None = None,
    *,
    order: float | Literal["auto"] = "auto",
    unit: str | None = None,
    max_cells: int | None = None,
    count: Counting = "units",
    max_rows_per_cell: int | None = None,
    count_cut: float | None = None,
    unit_name: str | None = None,
    neighbours: Neighbours = "add-remove",
    total: int | None = None,
    nonnegative: bool = False,
    false_cells: float | None = None,
    statistics: Statistic | Sequence[Statistic] = (),
    per_unit: PerUnit | None = None,
    weights: Mapping[str, float] | None = None,
    engine: Literal["duckdb", "spark"] | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    quoted: bool | None = None,
    escape: str | None = None,
    strict_lines: bool | None = None,
    out: str | Path | None = None,
    plot: str | Path | None = None,
) -> TablePlan:
    """Plan a release of private counts: cells, noise, error and cost. No data are read and no budget is spent.

    Parameters
    ----------
    by, goal, domain, order
        What to count by, and how privately, as in `ggdp.release_table`.
    unit, max_cells, count, max_rows_per_cell, count_cut, unit_name, neighbours
        Who is protected, and how often one of them counts, as there.
    total, nonnegative, false_cells, statistics, per_unit, weights
        What to publish, as there.
    engine, encoding, delimiter, quoted, escape, strict_lines
        How the data will be read, as there.
    out : path, optional
        Where a run writes the tables, .csv or .parquet, with a manifest beside them.
    plot : path, optional
        Where a run draws the tables, .png, .pdf or .svg; needs the extra `plots`.

    Returns
    -------
    TablePlan
        The plan of the release. `TablePlan.run` carries it out; ``ggdp release --dry-run`` prints it.

    Raises
    ------
    ArgumentError
        If the request is invalid, or needs more cells than can be released.

    Examples
    --------
    >>> import ggdp
    >>> goal, domain = ggdp.PureDP(1.0), ggdp.Domain({"ward": ["a", "b", "c"]})
    >>> plan = ggdp.plan_table(by="ward", goal=goal, domain=domain, unit="person", max_cells=2)
    >>> plan
    TablePlan: no data read, no budget spent
      table: ward, 3 cells, a unit is counted in at most 2 cells; intervals cover: units counted, at most 2 cells each
      cells: 3
      regime: declared: every cell is published, including empty ones
      unit: all rows with one value of the column 'person'
      order: 1
      scale: 2
      plus-minus: 6 at 95 %, around each noisy count
      sensitivity: at most 2 coordinates move, each by at most 1 (add-remove)
      guarantee: 1-DP under add-remove neighbours
      cost: epsilon = 1 per run
    >>> import polars as pl
    >>> visits = pl.DataFrame({"person": [1, 1, 2, 3], "ward": ["a", "b", "a", "c"]})
    >>> plan.run(visits).to_polars()["ward"].to_list()
    ['a', 'b', 'c']
    """
    request = TableRequest(
        by=by,
        goal=goal,
        domain=domain,
        order=order,
        unit=unit,
        max_cells=max_cells,
        count=count,
        max_rows_per_cell=max_rows_per_cell,
        count_cut=count_cut,
        unit_name=unit_name,
        neighbours=neighbours,
        total=total,
        nonnegative=nonnegative,
        false_cells=false_cells,
        statistics=statistics,
        per_unit=per_unit,
        weights=weights,
        text=text_format(encoding, delimiter, quoted, escape, strict_lines),
    )
    for warning in request.warnings:
        warnings.warn(warning, PrivacyWarning, stacklevel=_depth())
    return plan_request(request, engine=engine, out=out, plot=plot)


def release_table(
    data: Any,  # noqa: ANN401 - a path, or any frame that narwhals reads
    by: str | Sequence[str] | Sequence[Sequence[str]] | None,
    goal: Guarantee,
    domain: Domain | Mapping[str, Any] | str | Path | None = None,
    *,
    order: float | Literal["auto"] = "auto",
    unit: str | None = None,
    max_cells: int | None = None,
    count: Counting = "units",
    max_rows_per_cell: int | None = None,
    count_cut: float | None = None,
    unit_name: str | None = None,
    neighbours: Neighbours = "add-remove",
    total: int | None = None,
    nonnegative: bool = False,
    false_cells: float | None = None,
    statistics: Statistic | Sequence[Statistic] = (),
    per_unit: PerUnit | None = None,
    weights: Mapping[str, float] | None = None,
    engine: Literal["duckdb", "spark"] | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    quoted: bool | None = None,
    escape: str | None = None,
    strict_lines: bool | None = None,
    temp_dir: str | Path | None = None,
    out: str | Path | None = None,
    plot: str | Path | None = None,
    overwrite: bool = False,
    sign: str | Path | Ed25519PrivateKey | None = None,
    source: Source | None = None,
    ledger: Ledger | str | Path | None = None,
    analyst: str | None = None,
) -> TableRelease | WrittenRelease:
    """Count the rows of a table by public columns, and release the counts under differential privacy.

    Equivalent to ``plan_table(...).run(data, ...)``.

    Parameters
    ----------
    data : path or frame
        A CSV, Parquet or JSON-lines file, or a pattern of several (``data/*.parquet``); or a frame: pandas, polars
        (eager or lazy), pyarrow, a DuckDB relation, an ibis table or a PySpark data frame, counted on its own engine.
    by : str, sequence of str, sequence of sequences of str, or None
        Columns to count by; several lists give several tables, released as one query. With `statistics`, None gives
        one row for the whole table.
    goal : PureDP, ProbabilisticDP or ApproxDP
        Guarantee of all tables together.
    domain : Domain, mapping or path of a TOML file, optional
        The public levels of the columns. The levels of a column that is not declared are chosen privately, which needs
        a delta.
    order : float or "auto", default "auto"
        Order of the noise; by default the best for the goal, found without the data.
    unit : str, optional
        Column that identifies the unit of each row. Without it each row is a unit.
    max_cells : int, optional
        With `unit`: most cells of a table that one unit is counted in, chosen at random. A table with fewer cells
        limits the number by itself.
    count : {"units", "rows"}, default "units"
        With `unit`: whether cells count distinct units or their rows.
    max_rows_per_cell : int, optional
        With ``count="rows"``: most rows of one unit that are counted in a cell.
    count_cut : float, optional
        Share of epsilon, above 0 and below 1, that pays for a private count of the units that are in more than
        `max_cells` cells. Intervals then cover all units of a cell, not just those that are counted there.
    unit_name : str, optional
        Plural noun for the units in statements and plots, such as ``"patients"``.
    neighbours : {"add-remove", "replace-one"}, default "add-remove"
        Whether neighbouring data sets differ by adding or removing one unit, or by replacing one.
    total : int, optional
        Public total of the counts, as asserted by you. Needs replace-one neighbours.
    nonnegative : bool, default False
        Whether counts below 0, and ends of intervals below 0, are published as 0.
    false_cells : float, optional
        Release a sparse table of a declared domain, with at most this many empty cells shown on average.
    statistics : sequence of Mean, Sum, Variance or Quantile, optional
        What to publish of columns of numbers beside the counts. Their public ranges are in the domain, as
        ``{"income": {"range": [0, 200_000]}}``: values outside are clamped, what is not a number is left out.
    per_unit : {"sum", "mean", "min", "max"}, optional
        With `unit` and `statistics`: how the rows of a unit in a cell become one value; by default their sum for sums
        and their mean otherwise.
    weights : mapping of str to float, optional
        Weights of the columns of `statistics`, 1 by default: twice the weight, half the noise.
    engine : {"duckdb", "spark"}, optional
        Engine that reads files; DuckDB by default. A frame is counted by its own engine.
    encoding : str, optional
        Character encoding of text files, such as "latin-1"; UTF-8 by default.
    delimiter : str, optional
        Separator of the fields of CSV files, such as ";"; by default a comma, or a tab in .tsv files.
    quoted : bool, default True
        Whether fields of CSV files may be in double quotes. Pass False for files without quoting.
    escape : str, optional
        Character before a quote inside quotes, in files that do not double quotes: a backslash in
        files that Spark has written.
    strict_lines : bool, default False
        Whether each line of a text file is a record, for files whose fields hold no line ends: a misplaced quote or
        line end in one row then changes no other row.
    temp_dir : path, optional
        A directory for rows that do not fit in memory, best on an encrypted disk; else the one that the environment
        variable GGDP_TEMP_DIR names. Without either no row is written to disk.
    out : path, optional
        Where to write the tables, .csv or .parquet, with a manifest beside them.
    plot : path, optional
        Where to draw the tables, .png, .pdf or .svg; needs the extra `plots`.
    overwrite : bool, default False
        Whether files that already exist may be replaced. Each run spends the budget again.
    sign : path or Ed25519PrivateKey, optional
        Sign the manifest with this private key: a file in the format of OpenSSH or PEM, or a key of `cryptography`. The
        signature is written to ``FILE.manifest.json.sig``. The passphrase of a file is taken from the environment
        variable GGDP_SIGN_PASSPHRASE.
    source : Source, optional
        Where the random bits come from; a seeded one leaves the release without a guarantee.
    ledger : Ledger, str or path, optional
        The budget that the release is charged to, before a row is read. What does not fit is refused before the data
        are opened. A release that fails later is still charged.
    analyst : str, optional
        Who asks, for the ledger.

    Returns
    -------
    TableRelease or WrittenRelease
        The tables with their guarantee. A table of more than 5 million cells that Spark counts is drawn by its
        executors and written to `out`, a directory of Parquet files; it stays there.

    Raises
    ------
    ArgumentError
        If the request is wrong, or does not fit the columns of the data; no error depends on a value.
    SourceError
        If the data cannot be read.
    BudgetExceededError
        If the release does not fit in what remains of the ledger; nothing was charged, and no data were read.

    Notes
    -----
    Claim: the release has the guarantee that it carries, for neighbours that differ by one unit. A row has one cell of
    each table or none, whatever it holds; a unit is counted in at most `max_cells` cells of each, chosen from its own
    rows alone, and adds at most 1, or `max_rows_per_cell`, to each of them; so counts move as
    `TableRequest.sensitivity` says, and the noise is proved for that. A unit that is in more cells than are counted
    moves one more number by 1 (`ggdp.tables.units_over_limit`).

    Examples
    --------
    >>> import ggdp, polars as pl
    >>> visits = pl.DataFrame({"person": [1, 1, 2, 3], "ward": ["a", "b", "a", "c"]})
    >>> goal, domain = ggdp.PureDP(1.0), ggdp.Domain({"ward": ["a", "b", "c"]})
    >>> release = ggdp.release_table(visits, by="ward", goal=goal, domain=domain, unit="person", max_cells=2)
    >>> release.to_polars()["ward"].to_list()
    ['a', 'b', 'c']
    >>> release.manifest["table"]["unit"]
    {'kind': 'column', 'column': 'person', 'name': None, 'max_cells': 2, 'max_rows_per_cell': None}
    """
    plan = plan_table(
        by,
        goal,
        domain,
        order=order,
        unit=unit,
        max_cells=max_cells,
        count=count,
        max_rows_per_cell=max_rows_per_cell,
        count_cut=count_cut,
        unit_name=unit_name,
        neighbours=neighbours,
        total=total,
        nonnegative=nonnegative,
        false_cells=false_cells,
        statistics=statistics,
        per_unit=per_unit,
        weights=weights,
        engine=engine,
        encoding=encoding,
        delimiter=delimiter,
        quoted=quoted,
        escape=escape,
        strict_lines=strict_lines,
        out=out,
        plot=plot,
    )
    return plan.run(
        data, temp_dir=temp_dir, overwrite=overwrite, sign=sign, source=source, ledger=ledger, analyst=analyst
    )


def _depth() -> int:
    """Return the stack level of the first caller outside ggdp, where a warning points."""
    frame, depth = sys._getframe(1), 1
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "ggdp":
        frame, depth = frame.f_back, depth + 1
    return depth
