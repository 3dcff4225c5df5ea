"""Plan a table of private counts, and release one.

A plan goes from a request to its noise, threshold and guarantee, and to what a ledger is asked for, before the data
are opened. It can be shown in words: the rows that ``ggdp release --dry-run``, a prompt and a notebook show. A release
is a plan that is run, and nothing else: all that can be decided without the data is decided by the plan.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ggdp import _validate
from ggdp._records import options, takes, takes_data
from ggdp._rounding import rounded_text, rounded_up_text
from ggdp.errors import ArgumentError, Message, PrivacyWarning
from ggdp.ledger.charge_request import ChargeRequest
from ggdp.ledger.charging import PendingCharge, require_apart_from_ledger
from ggdp.noise.entropy import checked_source
from ggdp.privacy import ApproxDP, PureDP
from ggdp.proofs.losses import CountedLoss, ResponseLoss
from ggdp.releases.adjustments import Adjustment
from ggdp.releases.mechanism_record import LEVEL, Threshold, apply_threshold
from ggdp.releases.release_manifest import Described, statement_of
from ggdp.signatures import signature_file, signing_key
from ggdp.tables.noisy_counts import release_counts, require_size
from ggdp.tables.output_files import (
    MANIFEST,
    digests,
    files_of,
    picture_files,
    put,
    require_apart,
    require_pictures,
    require_writable,
    targets,
    unnumbered,
)
from ggdp.tables.request import AUTO, PlanArguments, ReleaseArguments, TableRequest, TextOptions
from ggdp.tables.statistics.margins import SIZES, count_half_width, half_width_rows, half_widths, split_described
from ggdp.tables.statistics.statistics_plan import plan_statistics, statistics_mechanism
from ggdp.tables.table_manifest import covered, number_of, protected_unit, table_properties, wording_of
from ggdp.tables.table_noise import LAPLACE, table_mechanism
from ggdp.tables.table_release import TableRelease
from ggdp.tables.thresholds import (
    key_delta,
    key_threshold,
    noise_share,
    open_guarantee,
    sparse_threshold,
    threshold_share,
)
from ggdp.tables.units_over_limit import CutPlan, joint, plan_cut, rest_of_goal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from ggdp.ledger import Ledger
    from ggdp.mechanisms import Mechanism
    from ggdp.noise import Source
    from ggdp.privacy import Guarantee
    from ggdp.releases.mechanism_record import NoiseRecord
    from ggdp.tables.executor_release import WrittenRelease
    from ggdp.tables.statistics.statistics_plan import StatisticsPlan
    from ggdp.tables.table_noise import NoiseFor


TITLE = "no data read, no budget spent"
_REGIMES = {
    "declared": "declared: every cell is published, including empty ones",
    "sparse": "sparse: a declared domain, without the cells whose noisy counts are small",
    "open": "open: levels with few units are omitted",
    "mixed": "mixed: declared tables are complete, open tables omit levels with few units",
}


def summary_rows(plan: TablePlan) -> list[tuple[str, str]]:
    """Return what a plan says, a name and a text in each row."""
    request, mechanism, threshold = plan.request, plan.mechanism, plan.threshold
    unknown = "unknown: undeclared levels are chosen privately"
    rows = [
        *(("table", _table(request, table)) for table in range(len(request.by))),
        ("cells", unknown if request.cells is None else f"{request.cells:,}"),
        ("regime", _REGIMES[request.regime]),
        ("unit", protected_unit(request)),
        ("order", rounded_text(mechanism.order, 6)),
        ("scale", rounded_text(mechanism.scale, 6)),
        ("plus-minus", f"{plan.half_width:,} at 95 %, around each noisy count"),
        *(half_width_rows(plan) if plan.statistics is not None else ()),
        ("sensitivity", str(mechanism.sensitivity)),
        ("guarantee", str(plan.guarantee)),
        ("cost", _cost(plan)),
    ]
    if threshold is not None:
        said = f"cells with a noisy count of {threshold.value:,} or more are shown"
        if request.false_cells is not None:
            empty = request.false_cells
            said += f"; on average at most {rounded_up_text(empty)} of them {_are(empty)} empty"
        rows.append(("threshold", said))
    if plan.cut is not None and request.count_cut is not None:
        share = rounded_text(request.count_cut)
        rows.append(("units cut", f"counted too, plus-minus {plan.cut.half_width:,} at 95 %: {share} of epsilon"))
    return rows + [("would write", str(file)) for file in plan.files]


def as_text(plan: TablePlan) -> str:
    """Return a plan as lines of text."""
    rows = [*summary_rows(plan), *(("warning", warning) for warning in plan.request.warnings)]
    return "\n".join([f"TablePlan: {TITLE}", *(f"  {name}: {said}" for name, said in rows)])


def _are(number: float) -> str:
    return "is" if number == 1 else "are"


def _cost(plan: TablePlan) -> str:
    delta = f" and delta = {rounded_up_text(plan.guarantee.delta)}" if plan.guarantee.delta else ""
    return f"epsilon = {rounded_up_text(plan.guarantee.epsilon)}{delta} per run"


def _table(request: TableRequest, table: int) -> str:
    """Return what the plan says about one table."""
    size, most = request.sizes[table], request.most_cells[table]
    said = [" x ".join(request.by[table]) or "all rows", "open" if size is None else number_of(size, "cell")]
    if request.unit is not None:
        capped = "" if most == request.max_cells else f" (all there are; {request.max_cells:,} requested)"
        said.append(f"a unit is counted in at most {number_of(most, 'cell')}{capped}")
    covers = covered(request, table)
    return ", ".join(said) + ("" if covers is None else f"; intervals cover: {covers}")


@dataclass(frozen=True, kw_only=True, repr=False)
class TablePlan:
    """How a request will be answered, and its cost. Made by `ggdp.plan_table`, which reads no data.

    Attributes
    ----------
    request : TableRequest
        What is requested.
    mechanism : Mechanism
        The noise.
    threshold : Threshold, optional
        The least noisy count that is shown, of sparse and open tables; None if all are.
    guarantee : PureDP, ProbabilisticDP or ApproxDP
        Guarantee of the release, which is also the cost of each run.
    cut : CutPlan, optional
        How the units that are in more than `max_cells` cells are counted; None if they are not.
    statistics : StatisticsPlan, optional
        Which sums the noise is added to, where statistics are requested; None if it is added to counts.
    engine : {"duckdb", "spark"}, optional
        Engine that reads files.
    out, plot : Path, optional
        Where a run writes the tables, and pictures of them.
    """

    request: TableRequest
    mechanism: Mechanism
    threshold: Threshold | None
    guarantee: Guarantee
    cut: CutPlan | None = None
    statistics: StatisticsPlan | None = None
    engine: Literal["duckdb", "spark"] | None = None
    out: Path | None = None
    plot: Path | None = None

    @cached_property
    def described_mechanism(self) -> NoiseRecord:
        """The mechanism as a release describes it: for the goal of the request, with the threshold."""
        described = replace(self.mechanism.record, goal=self.request.goal, losses=self.losses)
        return described if self.threshold is None else apply_threshold(described, self.threshold)

    @cached_property
    def described(self) -> Described:
        """What a manifest says of every release of this plan: all but the number of values."""
        request, tables, sums = self.request, len(self.request.by), self.statistics
        steps: tuple[Adjustment, ...] = ()
        if request.total is not None:
            given = (("total", request.total), ("nonnegative", request.nonnegative), ("parts", tables))
            steps = (Adjustment("fit_total", given),)
        elif request.nonnegative and sums is None:
            steps = (Adjustment("clip", (("lower", 0), ("upper", None))),)
        return Described(
            mechanism=self.described_mechanism,
            guarantee=self.guarantee,
            adjustments=steps,
            shape=(tables if sums is None else sums.sums,),
            kind="integer" if sums is None else "number",
        )

    @cached_property
    def losses(self) -> tuple[CountedLoss, ...]:
        """Losses that dominate a release in a composition: of the cells, the units cut, and keys that are shown.

        Claim: keys that only one of two neighbours has are shown with a probability of at most delta; unless they are,
        the release is that of the shared keys, of which delta' be delta at epsilon. Let P be the release with the keys
        and Q the one without, or the other way round. If P = (1 - delta) P' + delta P'', then P(S) - e^epsilon Q(S) is
        at most (1 - delta) delta' + delta for every set S. If Q = (1 - delta) Q' + delta Q'', then it is at most
        P(S) - (1 - delta) e^epsilon Q'(S) = (1 - delta) (P(S) - e^epsilon Q'(S)) + delta P(S), which is again at most
        (1 - delta) delta' + delta. That is a loss which is infinite with the probability delta, beside those of the
        noise.
        """
        found = self.mechanism.losses
        if self.cut is not None:
            found += self.cut.mechanism.losses
        if self.statistics is not None:
            found += self.statistics.quantile_losses
        if self.threshold is not None and self.threshold.cells is None:
            found += (CountedLoss(ResponseLoss(0.0, self._key_delta), 1),)
        return found

    @property
    def _key_delta(self) -> float:
        assert self.threshold is not None
        return key_delta(
            self.mechanism.order,
            self.mechanism.scale,
            threshold=self.threshold.value,
            cells_of_a_unit=self.request.open_cells_of_a_unit,
            most_in_a_cell=self.request.most_in_a_cell,
        )

    @property
    def protected_unit(self) -> str:
        """The column of the units that are protected, or "row"."""
        return self.request.unit or "row"

    @cached_property
    def half_width(self) -> int:
        """Half-width of the 95 % interval of a count."""
        if self.statistics is not None:
            return count_half_width(self)
        return int(self.mechanism.law.half_width(LEVEL))

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that a run writes: the tables, their manifest, the pictures."""
        tables = len(self.request.by)
        written = () if self.out is None else targets(self.out, tables)
        return (*written, *picture_files(self.plot, tables))

    def run(
        self,
        data: Any,  # noqa: ANN401 - a path, or any frame that narwhals reads
        *,
        temp_dir: str | Path | None = None,
        overwrite: bool = False,
        sign: str | os.PathLike[str] | Ed25519PrivateKey | None = None,
        source: Source | None = None,
        ledger: Ledger | str | os.PathLike[str] | None = None,
        analyst: str | None = None,
    ) -> TableRelease | WrittenRelease:
        """Count the data, draw the noise, and write the tables if the plan says where. Each run spends the budget.

        Parameters
        ----------
        data, temp_dir, overwrite, sign, source, ledger, analyst
            As in `ggdp.release_table`.

        Returns
        -------
        TableRelease or WrittenRelease
            As in `ggdp.release_table`; files of the plan are written all or none.

        Examples
        --------
        >>> import ggdp, pyarrow
        >>> plan = ggdp.plan_table(by="smokes", goal=ggdp.PureDP(1.0), domain={"smokes": ["no", "yes"]})
        >>> release = plan.run(pyarrow.table({"smokes": ["no", "yes", "no"]}))
        >>> release.guarantee == plan.guarantee
        True
        """
        bits, tables = checked_source(source), len(self.request.by)
        files, drawn = self.files, picture_files(self.plot, tables)
        key = None if sign is None else signing_key(sign)
        if sign is not None and self.out is None:
            named = str(sign) if isinstance(sign, str | os.PathLike) else "a key"
            raise ArgumentError("sign", named, Message("needs {out}: the signature is a file next to the manifest"))
        written = () if self.out is None else (*files[: tables + 1], signature_file(files[tables]))
        require_apart_from_ledger(ledger, out=written, plot=drawn)
        if self.out is not None:
            require_writable(self.out, tables, overwrite=overwrite)
        require_pictures(self.plot, tables, overwrite=overwrite)
        require_apart(data, (*written, *drawn))
        name = str(self.out or self.plot)
        return self._run(
            data, bits, ledger, analyst, temp_dir, key, lambda found: put(found, name, overwrite=overwrite, key=key)
        )

    def run_in_memory(
        self,
        data: Any,  # noqa: ANN401 - a path, or any frame that narwhals reads
        *,
        ledger: Ledger | str | os.PathLike[str] | None = None,
        analyst: str | None = None,
    ) -> tuple[TableRelease, dict[str, bytes]]:
        """Run the plan, and return the files that it names, by their names, instead of writing them."""
        kept: dict[Path, bytes] = {}
        release = self._run(data, checked_source(None), ledger, analyst, None, None, kept.update)
        assert isinstance(release, TableRelease)
        return release, {file.name: content for file, content in kept.items()}

    def _run(
        self,
        data: object,
        bits: Source,
        ledger: Ledger | str | os.PathLike[str] | None,
        analyst: str | None,
        temp_dir: str | Path | None,
        key: Ed25519PrivateKey | None,
        write: Callable[[dict[Path, bytes]], None],
    ) -> TableRelease | WrittenRelease:
        """Charge the release, count, draw the noise, and write what was released; its digests go to the ledger."""
        tables = len(self.request.by)
        paths = () if self.out is None else self.files[: tables + 1]
        with PendingCharge(ledger, self, analyst=analyst, source=bits) as charge:
            release = release_counts(self, data, bits, temp_dir, charge, key)
            found = files_of(release, paths, picture_files(self.plot, tables))
            write(found)
            elsewhere = {} if isinstance(release, TableRelease) else release.digests
            charge.published(elsewhere | digests(found))
        return release

    def charge_request(self) -> ChargeRequest:
        """Return what a run asks a ledger for."""
        return ChargeRequest(
            guarantee=self.guarantee,
            losses=self.losses,
            unit=self.request.unit_name,
            protects=self.protected_unit,
            request={"kind": "table", "regime": self.request.regime, **self.request.to_dict()},
            statement=statement_of(self.described, wording_of(self)),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values, ready for JSON."""
        return {
            "request": self.request.to_dict(),
            "regime": self.request.regime,
            "cells": self.request.cells,
            "tables": [
                {"by": list(names), **table_properties(self.request, table)}
                for table, names in enumerate(self.request.by)
            ],
            "order": self.mechanism.order,
            "scale": self.mechanism.scale,
            "std": self.mechanism.std,
            "plus_minus": self.half_width,
            "level": LEVEL,
            "threshold": None if self.threshold is None else self.threshold.to_dict(),
            "guarantee": self.guarantee.to_dict(),
            "losses": [counted.to_dict() for counted in self.losses],
            "cut": None if self.cut is None else {**self.cut.to_dict(), "plus_minus": self.cut.half_width},
            "statistics": None
            if self.statistics is None
            else {**split_described(self.statistics), "plus_minus": half_widths(self), "units_of_a_cell": list(SIZES)},
            "sensitivity": str(self.mechanism.sensitivity),
            "warnings": list(self.request.warnings),
            "files": [str(file) for file in self.files],
            # What JSON cannot tell: which texts are dates.
            **({"dates": dates} if (dates := self.request.dates) else {}),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> TablePlan:
        """Return the plan that `to_dict` described; it is planned again, and must be the same.

        Examples
        --------
        >>> import ggdp
        >>> plan = ggdp.plan_table(by="smokes", goal=ggdp.PureDP(1.0), domain={"smokes": ["no", "yes"]})
        >>> TablePlan.from_dict(plan.to_dict()) == plan
        True
        """
        request = TableRequest.from_dict(plain["request"], plain.get("dates", ()))
        tables = len(request.by)
        manifest = next((place for place, file in enumerate(plain["files"]) if file.endswith(MANIFEST)), None)
        first = None if manifest is None else Path(plain["files"][0])
        drawn = plain["files"][0 if manifest is None else manifest + 1 :]
        found = plan_request(
            request,
            out=None if first is None else unnumbered(first, tables),
            plot=unnumbered(Path(drawn[0]), tables) if drawn else None,
        )
        again = json.loads(json.dumps(found.to_dict()))
        for name, value in json.loads(json.dumps(dict(plain))).items():
            if again.get(name) != value:
                raise ArgumentError("plain", name, "is not what this request is planned with now; plan it again")
        return found

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        """Return the plan as HTML, for notebooks."""
        from ggdp.tables.notebook import plan_as_html

        return plan_as_html(self)


def plan_request(
    request: TableRequest,
    *,
    engine: Literal["duckdb", "spark"] | None = None,
    out: str | os.PathLike[str] | None = None,
    plot: str | os.PathLike[str] | None = None,
) -> TablePlan:
    """Return how a request will be answered; errors that do not depend on the data are raised here.

    Examples
    --------
    >>> import ggdp
    >>> from ggdp.tables.request import TableRequest
    >>> request = TableRequest(by=["sex"], goal=ggdp.PureDP(1.0), domain=ggdp.Domain({"sex": ["f", "m"]}))
    >>> plan = plan_request(request)
    >>> plan.half_width, str(plan.guarantee)
    (3, '1-DP under add-remove neighbours')
    """
    tables = len(request.by)
    if out is not None:
        targets(out, tables)
        out = Path(out)
    if plot is not None:
        picture_files(plot, tables)
        plot = Path(plot)
    if engine is not None:
        _validate.choice(engine=engine, among=("duckdb", "spark"))
        # If no engine is named, the data may be a frame of Spark: the size is then checked when it is opened.
        require_size(request, out, has_executors=engine == "spark")
    planned = plan_with_noise(request, statistics_mechanism if request.statistics else table_mechanism)
    return replace(planned, engine=engine, out=out, plot=plot)


def plan_with_noise(request: TableRequest, noise_for: NoiseFor) -> TablePlan:
    """Return the plan of a request; `noise_for` finds its noise, or takes it from certificates that were published."""
    if request.statistics:
        return _statistical(request, noise_for)
    return _open(request, noise_for) if "open" in request.regimes else _closed(request, noise_for)


def _closed(request: TableRequest, noise_for: NoiseFor) -> TablePlan:
    """Return the plan of tables whose cells are all declared."""
    mechanism = noise_for(rest_of_goal(request), request.sensitivity, _order(request))
    cut = plan_cut(request, noise_for)
    guarantee = joint(mechanism.guarantee, cut)
    if request.nonnegative or request.total is not None or request.false_cells is not None:
        guarantee = guarantee.after_postprocessing()
    threshold = None
    if request.false_cells is not None:
        assert request.cells is not None
        tau = sparse_threshold(mechanism.order, mechanism.scale, cells=request.cells, false_cells=request.false_cells)
        threshold = Threshold(value=tau, cells=request.cells, false_cells=request.false_cells)
    return TablePlan(request=request, mechanism=mechanism, threshold=threshold, guarantee=guarantee, cut=cut)


def _statistical(request: TableRequest, noise_for: NoiseFor) -> TablePlan:
    """Return the plan of declared tables with statistics: noise for their sums, and what is left for quantiles."""
    split = plan_statistics(request)
    mechanism = noise_for(split.goal_of_sums(request.goal), split.sensitivity, _order(request))
    guarantee = split.joint(mechanism.guarantee)
    if request.nonnegative:
        guarantee = guarantee.after_postprocessing()
    return TablePlan(request=request, mechanism=mechanism, threshold=None, guarantee=guarantee, statistics=split)


def _open(request: TableRequest, noise_for: NoiseFor) -> TablePlan:
    """Return the plan of tables of which some have keys that are chosen privately."""
    whole, m = request.goal.delta, request.open_cells_of_a_unit
    beside = request.cells_of_a_unit - m
    noise, cut = _open_noise(request, noise_for), plan_cut(request, noise_for)
    share = threshold_share(whole, noise.guarantee, cells_of_a_unit=m, declared_cells=beside)
    most = request.most_in_a_cell
    tau = key_threshold(noise.order, noise.scale, delta=share, cells_of_a_unit=m, most_in_a_cell=most)
    guarantee = open_guarantee(
        noise.guarantee,
        order=noise.order,
        scale=noise.scale,
        threshold=tau,
        cells_of_a_unit=m,
        declared_cells=beside,
        most_in_a_cell=most,
    )
    return TablePlan(
        request=request,
        mechanism=noise,
        threshold=Threshold(value=tau),
        guarantee=joint(guarantee, cut),
        cut=cut,
    )


def _open_noise(request: TableRequest, noise_for: NoiseFor) -> Mechanism:
    """Return the noise of keys and counts: pure where Laplace noise is taken, which leaves more to the keys."""
    goal = rest_of_goal(request)
    if request.order == LAPLACE:
        return noise_for(PureDP(goal.epsilon), request.sensitivity, LAPLACE)
    m = request.open_cells_of_a_unit
    beside = request.cells_of_a_unit - m
    delta = noise_share(goal.delta, cells_of_a_unit=m, declared_cells=beside, neighbours=request.neighbours)
    return noise_for(ApproxDP(goal.epsilon, delta), request.sensitivity, _order(request))


def _order(request: TableRequest) -> float | None:
    return None if request.order == AUTO else request.order


@takes(PlanArguments, TextOptions)
def plan_table(by: Any, goal: Any, domain: Any = None, **given: Any) -> TablePlan:  # noqa: ANN401 - those of the record
    """Plan a release of private counts: cells, noise, error and cost. No data are read and no budget is spent.

    Parameters
    ----------
    {arguments}

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
    run = {name: given.pop(name, None) for name in _OF_PLANS}
    request = TableRequest(by, goal, domain, **given)
    for warning in request.warnings:
        warnings.warn(warning, PrivacyWarning, stacklevel=_depth())
    return plan_request(request, **run)


@takes_data(ReleaseArguments, TextOptions)
def release_table(
    data: Any,  # noqa: ANN401 - a path, or any frame that narwhals reads
    by: Any,  # noqa: ANN401 - as the record has it
    goal: Any,  # noqa: ANN401
    domain: Any = None,  # noqa: ANN401
    **given: Any,  # noqa: ANN401
) -> TableRelease | WrittenRelease:
    """Count the rows of a table by public columns, and release the counts under differential privacy.

    Equivalent to ``plan_table(...).run(data, ...)``.

    Parameters
    ----------
    data : path or frame
        A CSV, Parquet or JSON-lines file, or a pattern of several (``data/*.parquet``); or a frame: pandas, polars
        (eager or lazy), pyarrow, a DuckDB relation, an ibis table or a PySpark data frame, counted on its own engine.
    {arguments}

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
    run = {name: given.pop(name) for name in _OF_RUNS if name in given}
    return plan_table(by, goal, domain, **given).run(data, **run)


# The arguments of `plan_table` and `release_table` that are not part of the request.
_OF_PLANS = options(PlanArguments).keys() - options(TableRequest).keys()
_OF_RUNS = options(ReleaseArguments).keys() - options(PlanArguments).keys()


def _depth() -> int:
    """Return the stack level of the first caller outside ggdp, where a warning points."""
    frame, depth = sys._getframe(1), 1
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "ggdp":
        frame, depth = frame.f_back, depth + 1
    return depth
