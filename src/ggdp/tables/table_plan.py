"""From a request to its noise, threshold and guarantee, before the data are opened."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ggdp import _validate
from ggdp.errors import ArgumentError
from ggdp.ledger.charging import PendingCharge, require_apart_from_ledger
from ggdp.privacy import ApproxDP, PureDP
from ggdp.proofs.total_loss import CountedLoss, ResponseLoss
from ggdp.releases.mechanism_record import LEVEL, Threshold, thresholded
from ggdp.sampling.entropy import checked_source
from ggdp.signatures import signature_file, signing_key
from ggdp.tables.charge import table_charge_request
from ggdp.tables.noisy_counts import release_counts, require_size
from ggdp.tables.pictures import picture, picture_files, require_pictures
from ggdp.tables.plan_summary import as_text
from ggdp.tables.release import TableRelease
from ggdp.tables.request import AUTO
from ggdp.tables.statistics.margins import SIZES, count_half_width, half_widths, split_described
from ggdp.tables.statistics.statistics_plan import plan_statistics, statistics_mechanism
from ggdp.tables.table_noise import LAPLACE, table_mechanism
from ggdp.tables.thresholds import (
    key_delta,
    key_threshold,
    noise_share,
    open_guarantee,
    sparse_threshold,
    threshold_share,
)
from ggdp.tables.unit_descriptions import table_properties
from ggdp.tables.units_over_limit import CutPlan, joint, plan_cut, rest_of_goal
from ggdp.tables.writing import contents, digests, put, require_apart, require_writable, targets

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from ggdp.ledger import ChargeRequest, Ledger
    from ggdp.mechanisms import Mechanism
    from ggdp.privacy import Guarantee
    from ggdp.releases.mechanism_record import NoiseRecord
    from ggdp.sampling import Source
    from ggdp.tables.engines.spark.written_release import WrittenRelease
    from ggdp.tables.request import TableRequest
    from ggdp.tables.statistics.statistics_plan import StatisticsPlan
    from ggdp.tables.table_noise import NoiseFor


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
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

    @property
    def described_mechanism(self) -> NoiseRecord:
        """The mechanism as a release describes it: for the goal of the request, with the threshold."""
        described = replace(self.mechanism.record, goal=self.request.goal, losses=self.losses)
        return described if self.threshold is None else thresholded(described, self.threshold)

    @property
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

    @property
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
            raise ArgumentError("sign", named, "needs `out`: the signature is a file next to the manifest")
        written = () if self.out is None else (*files[: tables + 1], signature_file(files[tables]))
        require_apart_from_ledger(ledger, out=written, plot=drawn)
        if self.out is not None:
            require_writable(self.out, tables, overwrite=overwrite)
        require_pictures(self.plot, tables, overwrite=overwrite)
        require_apart(data, (*written, *drawn))
        with PendingCharge(ledger, self, analyst=analyst, source=bits) as charge:
            release = release_counts(self, data, bits, temp_dir, charge, key)
            found: dict[Path, bytes] = {}
            # What executors have drawn is written already.
            if self.out is not None and isinstance(release, TableRelease):
                found = contents(release, files[: tables + 1])
            if self.plot is not None:
                shown = release if isinstance(release, TableRelease) else release.load()
                found |= {file: picture(shown, table, file.suffix.lower()) for table, file in enumerate(drawn)}
            put(found, str(self.out or self.plot), overwrite=overwrite, key=key)
            elsewhere = {} if isinstance(release, TableRelease) else release.digests
            charge.published(elsewhere | digests(found))
        return release

    def charge_request(self) -> ChargeRequest:
        """Return what a run asks a ledger for."""
        return table_charge_request(self)

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
        }

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
