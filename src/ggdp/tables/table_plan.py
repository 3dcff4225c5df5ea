"""Plan a table of private counts, and release one.

A plan goes from a request to its noise, threshold and guarantee, and to what a ledger is asked for, before the data
are opened. It can be shown in words: the rows that ``ggdp release --dry-run``, a prompt and a notebook show. A release
is a plan that is run, and nothing else: all that can be decided without the data is decided by the plan.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import sys
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from attrs import evolve

from ggdp import _validate
from ggdp._files import read_json
from ggdp._records import options, takes, takes_data
from ggdp._rounding import number_of, rounded_text, rounded_up_text
from ggdp.accounting.composition import unit_of
from ggdp.errors import ArgumentError, ArgumentTypeError, GgdpError, Message, PrivacyWarning
from ggdp.ledger.charging import ChargeRequest, PendingCharge, charged_before
from ggdp.noise.entropy import checked_source, takes_rng
from ggdp.privacy import ApproxDP, Guarantee, PureDP
from ggdp.privacy.guarantees import as_goal
from ggdp.proofs.losses import CountedLoss, ResponseLoss
from ggdp.releases.adjustments import Adjustment
from ggdp.releases.error_law import ErrorLaw, JointLaw, VectorErrorLaw
from ggdp.releases.mechanism_record import LEVEL, NoiseRecord, Threshold, apply_threshold
from ggdp.releases.release import Described, statement_of
from ggdp.signatures import signing_key
from ggdp.tables import output_files, thresholds
from ggdp.tables.noisy_counts import release_counts, require_size
from ggdp.tables.request import AUTO, PlanArguments, ReleaseArguments, TableRequest, TextOptions
from ggdp.tables.statistics.margins import (
    SIZES,
    describe_split,
    half_width_rows,
    half_widths,
    linear_margins,
    statistics_parts,
)
from ggdp.tables.statistics.statistics_plan import StatisticsPlan, in_blocks, plan_statistics, statistics_mechanism
from ggdp.tables.table_manifest import coverage, listing, protected_unit, table_properties, wording_of
from ggdp.tables.table_noise import (
    LAPLACE,
    AnyMechanism,
    CommonTotalMechanism,
    NoiseFor,
    NoisePart,
    PartsFor,
    has_choice,
    joint,
    table_mechanism,
    table_parts,
)
from ggdp.tables.table_release import ArrowViews, TableRelease, html_row
from ggdp.tables.units_over_limit import CutPlan, plan_cut, rest_of_goal

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from ggdp.ledger import Ledger
    from ggdp.ledger.chain import Entry
    from ggdp.noise import Source
    from ggdp.tables.executor_release import WrittenRelease


TITLE = "no data read, no budget spent"
_REGIMES = {
    "declared": "declared: every cell is published, including empty ones",
    "sparse": "sparse: a declared domain, without the cells whose noisy counts are small",
    "open": "open: levels with few units are omitted",
    "mixed": "mixed: declared tables are complete, open tables omit levels with few units",
}


def summary_rows(plan: TablePlan) -> list[tuple[str, str]]:
    """Return what a plan says, a name and a text in each row."""
    request, guarantee, threshold = plan.request, plan.guarantee, plan.threshold
    tables = []
    for table, (names, size, most) in enumerate(zip(request.by, request.sizes, request.most_cells, strict=True)):
        said = f"{' x '.join(names) or 'all rows'}, {'open' if size is None else number_of(size, 'cell')}"
        if request.unit is not None:
            capped = "" if most == request.cells_per_unit else f" (all there are; {request.cells_per_unit:,} requested)"
            said += f", a unit is counted in at most {number_of(most, 'cell')}{capped}"
        covers = coverage(request, table)
        tables.append(("table", said if covers is None else f"{said}; intervals cover: {covers}"))
    unknown = "unknown: undeclared levels are chosen privately"
    delta = f" and delta = {rounded_up_text(guarantee.delta)}" if guarantee.delta else ""
    noises = {table: part.mechanism for part in plan.parts for table in part.tables}
    each = plan.half_widths if plan.statistics is None else [plan.half_width] * len(noises)
    half_widths = {table: f"{half:,}" for table, half in enumerate(each)}
    rows = [
        *tables,
        ("cells", unknown if request.cells is None else f"{request.cells:,}"),
        ("regime", _REGIMES[request.regime]),
        *((("rows", f"only those with {request.where}"),) if request.where is not None else ()),
        ("unit", protected_unit(request)),
        *([("noise", said)] if (said := _comparison(plan)) else ()),
        ("order", _for_tables(plan, {table: rounded_text(one.law.order, 6) for table, one in noises.items()})),
        ("scale", _for_tables(plan, {table: _scale(one) for table, one in noises.items()})),
        ("plus-minus", f"{_for_tables(plan, half_widths)} at 95 %, around each noisy count"),
        *(half_width_rows(plan) if plan.statistics is not None else ()),
        ("sensitivity", _for_tables(plan, {table: str(one.sensitivity) for table, one in noises.items()})),
        ("guarantee", str(guarantee)),
        ("cost", f"epsilon = {rounded_up_text(guarantee.epsilon)}{delta} per run"),
    ]
    if threshold is not None:
        said = f"cells with a noisy count of {threshold.value:,} or more are shown"
        if (empty := request.false_cells) is not None:
            said += f"; on average at most {rounded_up_text(empty)} of them {'is' if empty == 1 else 'are'} empty"
        rows.append(("threshold", said))
    if plan.cut is not None and request.count_cut is not None:
        share = rounded_text(request.count_cut)
        rows.append(("units cut", f"counted too, plus-minus {plan.cut.half_width:,} at 95 %: {share} of epsilon"))
    return rows + [("would write", str(file)) for file in plan.files]


def _comparison(plan: TablePlan) -> str:
    """Return why noise of a norm was chosen, if it was."""
    if not plan.compared:
        return ""
    (name, error), (other, worse) = plan.compared
    errors = f"{rounded_text(error, 3)}, with {other} noise {rounded_text(worse, 3)}"
    pure = ", and needs no delta" if plan.request.goal.delta > plan.guarantee.delta == 0.0 else ""
    what = "a cell" if plan.statistics is None else "the numerator of a mean, in ranges,"
    return f"{name}: {what} has a standard deviation of at most {errors}{pure}"


def _scale(noise: AnyMechanism) -> str:
    said = rounded_text(noise.scale, 6)
    return f"{said}, {noise.errors.place}" if isinstance(noise, CommonTotalMechanism) else said


def _for_tables(plan: TablePlan, said: Mapping[int, str]) -> str:
    """Return what is said of each table: once if it is the same of all."""
    alike: dict[str, list[str]] = {}
    for table, text in sorted(said.items()):
        alike.setdefault(text, []).append(" x ".join(plan.request.by[table]) or "all rows")
    if len(alike) == 1:
        return next(iter(alike))
    # Of many tables the first few tell which are meant.
    few = {one: of if len(of) <= 5 else [*of[:3], f"{len(of) - 3:,} others"] for one, of in alike.items()}
    return "; ".join(f"{one} for {listing(of)}" for one, of in few.items())


@dataclass(frozen=True, kw_only=True, repr=False)
class TablePlan:
    """How a request will be answered, and its cost. Made by `ggdp.plan_table`, which reads no data.

    Attributes
    ----------
    request : TableRequest
        What is requested.
    parts : tuple of NoisePart
        The noise: one mechanism for all tables, or of each which tables its noise is for. Together they have all.
    threshold : Threshold, optional
        The least noisy count that is shown, of sparse and open tables; None if all are.
    guarantee : PureDP, ProbabilisticDP or ApproxDP
        Guarantee of the release, which is also the cost of each run.
    compared : tuple of (str, float)
        Where noise of a norm was chosen for several tables: its name and the largest standard deviation of a cell, then
        those of independent noise.
    cut : CutPlan, optional
        How the units that are in more cells than they are counted in are counted; None if they are not.
    statistics : StatisticsPlan, optional
        Which sums the noise is added to, where statistics are requested; None if it is added to counts.
    engine : {"duckdb", "spark"}, optional
        Engine that reads files.
    out, plot, wide : Path, optional
        Where a run writes the tables, pictures of them, and their wide form.
    names : tuple of str, optional
        Names of the tables, by which a run writes them where `out` is a directory.
    """

    request: TableRequest
    parts: tuple[NoisePart, ...]
    threshold: Threshold | None
    guarantee: Guarantee
    compared: tuple[tuple[str, float], ...] = ()
    cut: CutPlan | None = None
    statistics: StatisticsPlan | None = None
    engine: Literal["duckdb", "spark"] | None = None
    out: Path | None = None
    plot: Path | None = None
    names: tuple[str, ...] | None = None
    wide: Path | None = None

    @property
    def raw_guarantee(self) -> Guarantee:
        """The guarantee of counts before their adjustments, and of the units cut."""
        cut = () if self.cut is None else (self.cut.mechanism.guarantee,)
        return joint([*(part.mechanism.guarantee for part in self.parts), *cut])

    @property
    def mechanism(self) -> AnyMechanism:
        """The noise; that of the first part where tables have noise of their own (`parts`)."""
        return self.parts[0].mechanism

    def mechanism_of(self, table: int) -> AnyMechanism:
        """Return the noise of a table."""
        return next(part.mechanism for part in self.parts if table in part.tables)

    @cached_property
    def laws(self) -> tuple[ErrorLaw | VectorErrorLaw, ...]:
        """The law of the noise of a cell, for each table."""
        found = {table: law for part in self.parts for table, law in zip(part.tables, part.laws, strict=True)}
        laws = [found[table] for table in range(len(self.request.by))]
        # Noise of a norm has no clamp.
        return tuple(evolve(law, clamp=None) if self.threshold and isinstance(law, ErrorLaw) else law for law in laws)

    @cached_property
    def described_mechanism(self) -> NoiseRecord:
        """The mechanism as a release describes it: for the goal of the request, with the threshold."""
        described, split = self.mechanism.record, self.statistics
        sizes = [size for size in self.request.sizes if size is not None]
        law: ErrorLaw | VectorErrorLaw | JointLaw = described.law
        if split is not None and split.blocks:
            # A row for each sum of a table, group after group.
            laws = (part.mechanism.law for part in self.parts)
            groups = [one.of_groups for one in laws if isinstance(one, VectorErrorLaw)]
            runs = (zip(*pair, strict=True) for pair in zip(split.tables, groups, strict=True))
            rows = zip(sizes, runs, strict=True)
            law = JointLaw(tuple((group.sums * size, one) for size, table in rows for group, one in table))
        elif len(self.parts) > 1:
            law = JointLaw(tuple(zip(sizes, self.laws, strict=True)))
        if len(self.parts) > 1:
            assert isinstance(law, JointLaw)
            records = [(part.tables, part.mechanism.record) for part in self.parts]
            described = NoiseRecord.joint(records, self.request.goal, str(self.request.sensitivity), law)
        described = replace(described, goal=self.request.goal, losses=self.losses, law=law)
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
            shape=(tables if sums is None else sum(sums.sums),),
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
        found = tuple(counted for part in self.parts for counted in part.mechanism.losses)
        if self.cut is not None:
            found += self.cut.mechanism.losses
        if self.statistics is not None:
            found += self.statistics.quantile_losses
        if self.threshold is not None and self.threshold.cells is None:
            law, unit = self.mechanism.law, 1 if self.statistics is None else self.statistics.count_size
            tau, most = self.threshold.value * unit, self.request.most_in_a_cell * unit
            m = self.request.open_cells_of_a_unit
            delta = thresholds.key_delta(law.order, law.scale, threshold=tau, cells_of_a_unit=m, most_in_a_cell=most)
            found += (CountedLoss(ResponseLoss(0.0, delta), 1),)
        return found

    @property
    def protected_unit(self) -> str:
        """The column of the units that are protected, or "row"; "column row" for a column of that name."""
        return unit_of(self.request.unit)

    @cached_property
    def half_width(self) -> int:
        """Half-width of the 95 % interval of a count."""
        if self.statistics is not None:
            return math.ceil(max(linear_margins(self, table)["count"] for table in range(len(self.request.by))))
        return max(self.half_widths)

    @cached_property
    def half_widths(self) -> tuple[int, ...]:
        """Half-width of the 95 % interval of a count, for each table of counts."""
        return tuple(int(law.half_width(LEVEL)) for law in self.laws)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that a run writes: the tables, their manifest, the pictures."""
        tables = len(self.request.by)
        written = () if self.out is None else output_files.targets(self.out, tables, self.names)
        return (*written, *output_files.picture_files(self.plot, tables), *output_files.wide_files(self.wide, tables))

    @takes_rng
    def run(
        self,
        data: Any,  # noqa: ANN401 - a path, or any frame that narwhals reads
        *,
        temp_dir: str | Path | None = None,
        overwrite: bool = False,
        sign: str | os.PathLike[str] | Ed25519PrivateKey | None = None,
        rng: Source | None = None,
        ledger: Ledger | str | os.PathLike[str] | None = None,
        analyst: str | None = None,
        once: str | None = None,
    ) -> TableRelease | WrittenRelease | PublishedFiles:
        """Count the data, draw the noise, and write the tables if the plan says where. Each run spends the budget.

        Parameters
        ----------
        data, temp_dir, overwrite, sign, rng, ledger, analyst, once
            As in `ggdp.release_table`.

        Returns
        -------
        TableRelease, WrittenRelease or PublishedFiles
            As in `ggdp.release_table`; files of the plan are written all or none.

        Examples
        --------
        >>> import ggdp, pyarrow
        >>> plan = ggdp.plan_table(by="smokes", goal=ggdp.PureDP(1.0), domain={"smokes": ["no", "yes"]})
        >>> release = plan.run(pyarrow.table({"smokes": ["no", "yes", "no"]}))
        >>> release.guarantee == plan.guarantee
        True
        """
        bits, tables, files = checked_source(rng), len(self.request.by), self.files
        key = None if sign is None else signing_key(sign)
        if sign is not None and self.out is None:
            named = str(sign) if isinstance(sign, str | os.PathLike) else "a key"
            raise ArgumentError("sign", named, Message("needs {out}: the signature is a file next to the manifest"))
        written = () if self.out is None else files[: tables + 1]
        if once is not None:
            if self.out is None:
                raise ArgumentError("once", once, Message("needs {out}: a retry returns the files that were published"))
            if (found_before := charged_before(ledger, self, once)) is not None:
                return PublishedFiles.of(self, *found_before)
        given: dict[str, Any] = {"overwrite": overwrite, "ledger": ledger, "data": data}
        if self.out is not None:
            output_files.require_tables(self.out, written, **given)
        if self.plot is not None:
            output_files.require_pictures(self.plot, output_files.picture_files(self.plot, tables), **given)
        if self.wide is not None:
            output_files.require_free("wide", str(self.wide), output_files.wide_files(self.wide, tables), **given)
        with PendingCharge(ledger, self, analyst=analyst, rng=bits, once=once) as charge:
            release = release_counts(self, data, bits, temp_dir, charge, key)
            found = output_files.files_of(release, written, files[len(written) :])
            output_files.write_files(found, str(self.out or self.plot or self.wide), overwrite=overwrite, key=key)
            elsewhere = {} if isinstance(release, TableRelease) else release.digests
            charge.record_files(elsewhere | output_files.digests(found))
        return release

    def number_of_table(self, by: str | tuple[str, ...]) -> int:
        """Return which table has a name, or counts by columns; from 0 on."""
        columns = {by} if isinstance(by, str) else {*by} if isinstance(by, tuple) else None
        known = self.names or self.request.table_names
        for number, (name, names) in enumerate(zip(known, self.request.by, strict=True)):
            if by in (name, " x ".join(names)) or columns == {*names}:
                return number
        said = f"is not one of the tables: {', '.join(map(repr, known))}; give a name, or the columns it counts by"
        raise ArgumentError("release[...]", by, said)

    def run_in_memory(
        self,
        data: Any,  # noqa: ANN401 - a path, or any frame that narwhals reads
        *,
        ledger: Ledger | str | os.PathLike[str] | None = None,
        analyst: str | None = None,
    ) -> tuple[TableRelease, dict[str, bytes]]:
        """Run the plan, and return the files that it names, by their names, instead of writing them."""
        written = 0 if self.out is None else len(self.request.by) + 1
        bits = checked_source(None)
        with PendingCharge(ledger, self, analyst=analyst, rng=bits) as charge:
            release = release_counts(self, data, bits, None, charge)
            assert isinstance(release, TableRelease)
            found = output_files.files_of(release, self.files[:written], self.files[written:])
            charge.record_files(output_files.digests(found))
        return release, {file.name: content for file, content in found.items()}

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
        request = self.request
        return {
            "request": request.to_dict(),
            "regime": request.regime,
            "cells": request.cells,
            "tables": [{"by": list(names), **table_properties(request, k)} for k, names in enumerate(request.by)],
            **self._noise_values(),
            **({"compared": [{"name": name, "std": std} for name, std in self.compared]} if self.compared else {}),
            "plus_minus": self.half_width,
            "level": LEVEL,
            "threshold": None if self.threshold is None else self.threshold.to_dict(),
            "guarantee": self.guarantee.to_dict(),
            "losses": [counted.to_dict() for counted in self.losses],
            "cut": None if self.cut is None else {**self.cut.to_dict(), "plus_minus": self.cut.half_width},
            "statistics": None
            if self.statistics is None
            else {**describe_split(self.statistics), "plus_minus": half_widths(self), "units_of_a_cell": list(SIZES)},
            "sensitivity": self.described_mechanism.sensitivity,
            "warnings": self.warnings,
            "files": [str(file) for file in self.files],
            **({} if self.engine is None else {"engine": self.engine}),
            # What JSON cannot tell: which texts are dates.
            **({"dates": dates} if (dates := request.dates) else {}),
        }

    def _noise_values(self) -> dict[str, Any]:
        """Return order, scale and standard deviation of the noise, and where these differ those of each table."""
        noises = [part.mechanism for part in self.parts]
        found = [{"order": one.law.order, "scale": one.scale, "std": one.std} for one in noises]
        if len(found) == 1:
            return found[0]
        largest = {"order": None, "scale": None, "std": max(one["std"] for one in found)}
        tables = ([table + 1 for table in part.tables] for part in self.parts)
        return {**largest, "parts": [{"tables": of, **one} for of, one in zip(tables, found, strict=True)]}

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
        try:
            request = TableRequest.from_dict(plain["request"], plain.get("dates", ()))
            files, engine = list(plain["files"]), plain.get("engine")
        except (AttributeError, LookupError, TypeError, ValueError) as wrong:
            if isinstance(wrong, GgdpError):
                raise
            raise ArgumentTypeError("plain", plain, "must be what TablePlan.to_dict returned") from wrong
        tables = len(request.by)
        manifest = next((place for place, file in enumerate(files) if output_files.is_manifest(Path(file))), None)
        out, names, after = None, None, files[0 if manifest is None else manifest + 1 :]
        if manifest is not None:
            out = output_files.without_number(Path(files[0]), tables)
            if Path(files[manifest]).name == output_files.MANIFEST[1:]:
                out, names = Path(files[manifest]).parent, tuple(Path(file).stem for file in files[:manifest])
        drawn, spread = ([file for file in after if file.endswith(".csv") == is_wide] for is_wide in (False, True))
        found = plan_request(
            request,
            engine=engine,
            out=out,
            names=names,
            plot=output_files.without_number(Path(drawn[0]), tables) if drawn else None,
            wide=output_files.without_number(Path(spread[0]), tables) if spread else None,
        )
        again = json.loads(json.dumps(found.to_dict()))
        for name, value in json.loads(json.dumps(dict(plain))).items():
            if again.get(name) != value:
                raise ArgumentError("plain", name, "is not what this request is planned with now; plan it again")
        return found

    def __repr__(self) -> str:
        return "\n".join([f"TablePlan: {TITLE}", *(f"  {name}: {said}" for name, said in self._rows())])

    def _repr_html_(self) -> str:
        """Return the plan as HTML, for notebooks."""
        rows = "".join(map(html_row, self._rows()))
        return f"<table><caption>{escape(f'TablePlan: {TITLE}')}</caption><tbody>{rows}</tbody></table>"

    def _rows(self) -> list[tuple[str, str]]:
        return summary_rows(self) + [("warning", warning) for warning in self.warnings]

    @property
    def warnings(self) -> list[str]:
        """What to think twice about: the warnings of the request, and that no unit is declared."""
        return [*self.request.warnings, *filter(None, [self.request.unit_warning])]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PublishedFiles(ArrowViews):
    """Tables that an earlier run with the same key (`once`) has published, as their files are now.

    Attributes
    ----------
    plan : TablePlan
        The plan, which is that of the earlier run.
    entry : Entry
        The charge of the earlier run; nothing was charged again.
    files : tuple of Path
        The files, which are those that the ledger recorded, to the byte.
    manifest : dict
        The manifest among them.
    number : int, optional
        Which one of several tables it is, from 0 on, as in `tables`.
    """

    plan: TablePlan
    entry: Entry
    files: tuple[Path, ...]
    manifest: dict[str, Any]
    number: int | None = None

    @classmethod
    def of(cls, plan: TablePlan, entry: Entry, digests: Mapping[str, str]) -> PublishedFiles:
        """Return what an entry has published, if the files of a plan are still those."""

        def refused(said: str) -> ArgumentError:
            stays = "the charge stays, and nothing is drawn again with this key; a new key charges again"
            return ArgumentError("once", entry.once, f"has charged entry {entry.number}, but {said}; {stays}")

        named, directory = {file.name: file for file in plan.files}, plan.files[0].parent
        if missing := [name for name in named if not any(known.startswith(name) for known in digests)]:
            raise refused(f"published {', '.join(digests)}, not {missing[0]}: name the outputs of that release")
        files = tuple(named.get(name, directory / name) for name in digests)
        for file, digest in zip(files, digests.values(), strict=True):
            try:
                with file.open("rb") as content:
                    is_same = hashlib.file_digest(content, "sha256").hexdigest() == digest
            except OSError:
                raise refused(f"{str(file)!r} is not there: put it back, or write to where it is") from None
            if not is_same:
                raise refused(f"{str(file)!r} is not the file that was published: put that back")
        described = next(file for file in files if output_files.is_manifest(file))
        return cls(plan=plan, entry=entry, files=files, manifest=read_json(described, argument="once"))

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the tables."""
        return self.plan.guarantee

    @property
    def tables(self) -> tuple[PublishedFiles, ...]:
        """Each of the tables, with `to_arrow` and the like."""
        return tuple(replace(self, number=number) for number in range(len(self.plan.request.by)))

    def __getitem__(self, by: str | tuple[str, ...]) -> PublishedFiles:
        """Return one of several tables, as `TableRelease` does."""
        return self.tables[self.plan.number_of_table(by)]

    def to_arrow(self) -> pa.Table:
        """Return the one table as an Arrow table, read from its file; if there are several, take one of `tables`."""
        described = self.manifest["table"]["tables"]
        if self.number is None and len(described) > 1:
            raise ArgumentError("release", f"of {len(described)} tables", "has no single table; take one of `tables`")
        import pyarrow.csv
        import pyarrow.parquet

        file = self.plan.files[self.number or 0]
        if file.suffix.lower() != ".csv":
            return pyarrow.parquet.read_table(file)
        columns = described[self.number or 0]["tableSchema"]["columns"]
        texts = {column["name"]: pyarrow.string() for column in columns if column["datatype"] == "string"}
        return pyarrow.csv.read_csv(file, convert_options=pyarrow.csv.ConvertOptions(column_types=texts))


def plan_request(
    request: TableRequest,
    noise_for: NoiseFor | None = None,
    parts_for: PartsFor | None = None,
    *,
    engine: Literal["duckdb", "spark"] | None = None,
    out: str | os.PathLike[str] | None = None,
    plot: str | os.PathLike[str] | None = None,
    names: tuple[str, ...] | None = None,
    wide: str | os.PathLike[str] | None = None,
) -> TablePlan:
    """Return how a request will be answered; others take noise from published certificates, not by a search."""
    tables = len(request.by)
    if out is not None:
        output_files.targets(out, tables, names)
        out = Path(out)
    if plot is not None:
        output_files.picture_files(plot, tables)
        plot = Path(plot)
    if wide is not None:
        output_files.wide_files(wide, tables)
        wide = Path(wide)
        if out is not None and wide == out:
            raise ArgumentError("wide", str(wide), Message("is the file of {out}; name another file"))
        if request.by == ((),):
            raise ArgumentError("wide", str(wide), Message("needs {by}: a column whose levels stand side by side"))
    if engine is not None:
        _validate.choice(engine=engine, among=("duckdb", "spark"))
        # If no engine is named, the data may be a frame of Spark: the size is then checked when it is opened.
        require_size(request, out, has_executors=engine == "spark")
    split = plan_statistics(request) if request.statistics else None
    noise_for = noise_for or (table_mechanism if split is None else statistics_mechanism)
    goal = rest_of_goal(request) if split is None else split.goal_of_sums(request.goal)
    # Of the cells that a unit can be in: those of open tables, whose keys are chosen privately, and the others.
    m = request.open_cells_of_a_unit
    cells = {"cells_of_a_unit": m, "declared_cells": request.cells_of_a_unit - m}
    if m and request.order == LAPLACE:
        # Its guarantee is pure, which leaves more to the keys.
        goal = PureDP(goal.epsilon)
    elif m:
        share = thresholds.noise_share(goal.delta, neighbours=request.neighbours, **cells)
        goal = ApproxDP(goal.epsilon, share)
    sensitivity = request.sensitivity if split is None else split.sensitivity
    blocks = None if split is None else in_blocks(request, split)
    if blocks is not None:
        parts, compared = (parts_for or statistics_parts)(request, goal, split)
        split = blocks if isinstance(parts[0].mechanism.law, VectorErrorLaw) else split
    elif has_choice(request):
        parts, compared = (parts_for or table_parts)(request, goal, None)
    else:
        independent = noise_for(goal, sensitivity, None if request.order == AUTO else request.order)
        parts, compared = (NoisePart(tuple(range(tables)), independent),), ()
    noise, cut = parts[0].mechanism, plan_cut(request, noise_for)
    # In steps of the noise, of which a unit adds so many to a count.
    order, scale = noise.law.order, noise.law.scale
    unit = 1 if split is None else split.count_size
    most = request.most_in_a_cell * unit
    threshold, guarantee = None, joint(part.mechanism.guarantee for part in parts)
    guarantee = guarantee if split is None else split.joint(guarantee)
    if m:
        share = thresholds.threshold_share(request.goal.delta, guarantee, **cells)
        tau = -(-thresholds.key_threshold(order, scale, delta=share, cells_of_a_unit=m, most_in_a_cell=most) // unit)
        guarantee = thresholds.open_guarantee(
            guarantee, order=order, scale=scale, threshold=tau * unit, most_in_a_cell=most, **cells
        )
        threshold = Threshold(value=tau)
    elif request.false_cells is not None:
        assert request.cells is not None
        tau = thresholds.sparse_threshold(order, scale, cells=request.cells, false_cells=request.false_cells)
        threshold = Threshold(value=-(-tau // unit), cells=request.cells, false_cells=request.false_cells)
    guarantee = guarantee if cut is None else joint([guarantee, cut.mechanism.guarantee])
    # The guarantee of keys that are chosen is approximate already.
    if request.nonnegative or request.total is not None or request.false_cells is not None:
        guarantee = guarantee.after_postprocessing()
    return TablePlan(
        request=request,
        parts=parts,
        compared=compared,
        threshold=threshold,
        guarantee=guarantee,
        cut=cut,
        statistics=split,
        engine=engine,
        out=out,
        plot=plot,
        names=names,
        wide=wide,
    )


def warn_of(plan: TablePlan) -> None:
    """Warn of what a plan protects little; the warnings point to the first caller outside ggdp."""
    frame, depth = sys._getframe(), 1
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "ggdp":
        frame, depth = frame.f_back, depth + 1
    for warning in plan.warnings:
        warnings.warn(warning, PrivacyWarning, stacklevel=depth)


@takes(PlanArguments, TextOptions)
def plan_table(by: Any, goal: Any = None, domain: Any = None, **given: Any) -> TablePlan:  # noqa: ANN401 - those of the record
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
    request = TableRequest(by, as_goal(goal, run.pop("epsilon"), run.pop("delta")), domain, **given)
    plan = plan_request(request, **run)
    warn_of(plan)
    return plan


@takes_rng
@takes_data(ReleaseArguments, TextOptions)
def release_table(
    data: Any,  # noqa: ANN401 - a path, or any frame that narwhals reads
    by: Any,  # noqa: ANN401 - as the record has it
    goal: Any = None,  # noqa: ANN401
    domain: Any = None,  # noqa: ANN401
    **given: Any,  # noqa: ANN401
) -> TableRelease | WrittenRelease | PublishedFiles:
    """Count the rows of a table by public columns, and release the counts under differential privacy.

    Equivalent to ``plan_table(...).run(data, ...)``.

    Parameters
    ----------
    data : path or frame
        A file (CSV, JSON lines, Parquet, Arrow, Excel, Stata, SPSS or SAS), or a pattern of several (``data/*.csv``);
        or a frame: pandas, polars (eager or lazy), pyarrow, a DuckDB relation, an ibis table or a PySpark data frame,
        counted on its own engine.
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
