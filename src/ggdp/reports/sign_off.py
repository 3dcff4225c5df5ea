"""The sign-off report: what was released, its total, the ledger's account of it, and what can be learned from it.

What someone believes after a release is bounded, and the role of delta is proved, in `ggdp.privacy.beliefs`.

Claim: under add-remove neighbours, two data sets that differ in what the records of one unit say are
(2 epsilon, (1 + e^epsilon) delta)-indistinguishable.

Proof: the data set without the unit is a neighbour of both. P(S) <= e^epsilon R(S) + delta
<= e^epsilon (e^epsilon Q(S) + delta) + delta.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import asdict, field, frozen

from ggdp._files import writable_file, write_together, writing
from ggdp.accounting import compose
from ggdp.errors import ArgumentError, ArgumentTypeError
from ggdp.privacy import ApproxDP, Guarantee, PureDP
from ggdp.privacy.beliefs import belief
from ggdp.reports.deployment import NO_ANSWERS, Deployment, read_deployment
from ggdp.reports.nist import PyramidRow, nist_rows
from ggdp.reports.published import PublishedRelease, read_release
from ggdp.signatures import read_signers

if TYPE_CHECKING:
    from ggdp.ledger import Balance, Entry, Head, Ledger


@frozen(kw_only=True)
class BudgetFacts:
    """A ledger whose chain of records was checked. Made by `budget_facts`.

    Attributes
    ----------
    identity, unit, neighbours, accounting : str
        The ledger's own.
    budget, spent, remaining : Balance
        Exactly.
    head : Head
        Number and hash of the last record, after all records were checked.
    charged : int
        How many releases were charged in all.
    entries : dict of str to Entry
        The entry of each release of the report that was charged to this ledger, by the path of its manifest.
    recorded : frozenset of str
        The manifests whose digest the ledger has recorded.
    """

    identity: str
    unit: str
    neighbours: str
    accounting: str
    budget: Balance
    spent: Balance
    remaining: Balance
    head: Head
    charged: int
    entries: dict[str, Entry]
    recorded: frozenset[str]

    @property
    def share(self) -> float | None:
        """The share of the budget's epsilon that was spent; None where laws are reserved."""
        if self.spent.epsilon is None or not self.budget.epsilon:
            return None
        return min(1.0, float(self.spent.epsilon / self.budget.epsilon))

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain values."""
        return {
            **{name: getattr(self, name) for name in ("identity", "unit", "neighbours", "accounting")},
            **{name: getattr(self, name).to_dict() for name in ("budget", "spent", "remaining")},
            "verified": True,
            "records": self.head.number,
            "head": self.head.hash,
            "entries": self.charged,
        }


def budget_facts(url: str | os.PathLike[str] | Ledger, releases: Iterable[PublishedRelease]) -> BudgetFacts:
    """Return what a ledger says, or raise if a record, or a manifest that names an entry, is not as it was recorded."""
    # Loaded when needed: it brings SQLAlchemy along.
    from ggdp.ledger import Ledger

    ledger = url if isinstance(url, Ledger) else Ledger(url)
    head = ledger.verify()
    known = {entry.number: entry for entry in ledger.entries()}
    entries: dict[str, Entry] = {}
    recorded = set()
    for release in releases:
        if release.entry is None or release.entry["identity"] != ledger.identity:
            continue
        number, stated, wrong = release.entry["entry"], release.part.guarantee, None
        if number not in known:
            raise ArgumentError("manifests", release.path, f"names entry {number}, which the ledger does not have")
        entry = entries[release.path] = known[number]
        if entry.guarantee != stated:
            wrong = f"states {stated}, where entry {number} of the ledger was charged {entry.guarantee}: it was changed"
        elif entry.files is not None:
            if release.digest not in entry.files.values():
                wrong = f"is not the manifest whose digest entry {number} of the ledger recorded: it was changed after "
                wrong += "it was published"
            recorded.add(release.path)
        if wrong is not None:
            raise ArgumentError("manifests", release.path, wrong)
    return BudgetFacts(
        **{name: getattr(ledger, name) for name in ("identity", "unit", "neighbours", "accounting", "budget")},
        spent=ledger.spent(),
        remaining=ledger.remaining(),
        head=head,
        charged=len(known),
        entries=entries,
        recorded=frozenset(recorded),
    )


@frozen(kw_only=True)
class ReportTotal:
    """What all releases keep together.

    Attributes
    ----------
    basic : PureDP or ApproxDP, optional
        The plain sum, which holds however the releases were chosen; None where there is no total.
    composed : ApproxDP, optional
        The tight total, which holds where all noise was fixed beforehand; None for one release, and where it is not
        below the plain sum.
    lower : float, optional
        A proved lower bound of the epsilon of `composed`.
    refusal : str, optional
        Why there is no total.
    """

    basic: PureDP | ApproxDP | None = None
    composed: ApproxDP | None = None
    lower: float | None = None
    refusal: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the total as plain values."""
        return {
            "basic": None if self.basic is None else self.basic.to_dict(),
            "composed": None if self.composed is None else {**self.composed.to_dict(), "lower": self.lower},
            "refusal": self.refusal,
        }


def total_of(releases: Sequence[PublishedRelease]) -> ReportTotal:
    """Return the total of releases; releases of different units or neighbours have none."""
    try:
        composition = compose([release.path for release in releases])
    except ArgumentError as refused:
        # Each of them was checked alone, so that only their units or neighbours differ.
        said = f"{refused.value} {refused.expected}"
        for release in releases:
            said = said.replace(release.path, release.name)
        return ReportTotal(refusal=said)
    basic = composition.basic
    if len(releases) > 1:
        # Where the plain sum has no delta: the one that most publications state.
        delta = basic.delta or 1e-6
        lower, upper = composition.epsilon(delta)
        if upper < basic.epsilon:
            return ReportTotal(basic=basic, composed=ApproxDP(upper, delta, basic.neighbours), lower=lower)
    return ReportTotal(basic=basic)


@frozen(kw_only=True)
class Disclosure:
    """What can be learnt of one kind of fact."""

    fact: str  # the fact, in words
    epsilon: float  # between data sets where it holds and where it does not
    delta: float  # likewise

    @property
    def beliefs(self) -> tuple[tuple[float, float], ...]:
        """Pairs of what is believed before, and at most afterwards."""
        guarantee = PureDP(self.epsilon)
        return tuple((prior, belief(guarantee, prior).highest) for prior in (0.01, 0.1, 0.5))

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain values."""
        return {**asdict(self), "beliefs": [{"before": before, "after": after} for before, after in self.beliefs]}


def disclosures(guarantee: Guarantee, unit: str) -> tuple[Disclosure, ...]:
    """Return what can be learnt under a guarantee of one unit, named in words."""
    epsilon, delta = guarantee.epsilon, guarantee.delta
    if guarantee.neighbours == "replace-one":
        return (Disclosure(fact=f"what the data say about {unit}", epsilon=epsilon, delta=delta),)
    # More than the error of three roundings of floats; a larger epsilon would overflow.
    twice = min(1.0, (1.0 + math.exp(min(epsilon, 700.0))) * delta * (1.0 + 1e-12))
    present = Disclosure(fact=f"whether {unit} is in the data at all", epsilon=epsilon, delta=delta)
    known = f"what the data say about {unit}, once known to be in them"
    return present, Disclosure(fact=known, epsilon=2.0 * epsilon, delta=twice)


def percent_up(share: float) -> str:
    """Return a share as a percentage with at most one decimal, rounded up, but for the error of floats."""
    tenths = math.ceil(share * 1000.0 - 2e-9)
    return "more than 99.9 %" if tenths >= 1000 else f"{tenths / 10:g} %"


def one_in(delta: float) -> str:
    """Return a small probability as one in so many, rounded up to two digits."""
    number = 1.0 / delta
    if not math.isfinite(number):
        return "1 in more than 10^300"
    # The nearest integer, where a float is meant to be its inverse.
    whole = round(number) if abs(number - round(number)) <= 1e-9 * number else math.floor(number)
    digits = max(0, len(str(whole)) - 2)
    return f"1 in {whole // 10**digits * 10**digits:,}"


@frozen(kw_only=True)
class Report:
    """What a director and a reader need to know of releases. Made by `ggdp.report`.

    Attributes
    ----------
    releases : tuple of PublishedRelease
        The releases, each with its certificate proved again.
    total : ReportTotal
        What they keep together, or why there is no total.
    budget : BudgetFacts, optional
        What the ledger says.
    deployment : Deployment
        The answers of the publisher.
    made : date
        When the report was made.
    """

    releases: tuple[PublishedRelease, ...]
    total: ReportTotal
    budget: BudgetFacts | None = None
    deployment: Deployment = NO_ANSWERS
    made: date = field(factory=lambda: datetime.now(UTC).date())

    @property
    def rows(self) -> tuple[PyramidRow, ...]:
        """The pyramid of NIST SP 800-226, row by row."""
        return nist_rows(self.releases, self.total, self.budget, self.deployment)

    @property
    def open_rows(self) -> tuple[PyramidRow, ...]:
        """The questions that nobody has answered."""
        return tuple(row for row in self.rows if row.mark == "open")

    @property
    def problems(self) -> tuple[str, ...]:
        """What must be settled before anybody signs, other than open questions."""
        tables = [table for release in self.releases for table in release.tables if table.state == "changed"]
        differs = "is not the one that was released: its digest differs from that in the manifest."
        found = [f"The file {table.file} {differs}" for table in tables]
        if self.total.refusal is not None:
            found.append(f"No total of these releases exists: {self.total.refusal}.")
        uncharged = [] if self.budget is None else [one for one in self.releases if one.path not in self.budget.entries]
        found += [f"The release {release.name} was not charged to this ledger." for release in uncharged]
        return tuple(found)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the requests themselves warn about, such as a large epsilon or delta."""
        given = ((release.name, release.manifest.get("table", {}).get("warnings", ())) for release in self.releases)
        return tuple(dict.fromkeys(f"{name}: {warning}" for name, warnings in given for warning in warnings))

    def to_html(self) -> str:
        """Return the page: one HTML document with everything in it, for the screen and for paper."""
        from ggdp.reports.html_page import page_html

        return page_html(self)

    def registry_entry(self) -> dict[str, Any]:
        """Return the entry for the public registry of deployments, valid by its schema.

        Raises
        ------
        ArgumentError
            If answers that the registry requires are missing; the error names all of them.
        """
        from ggdp.reports.registry import registry_entry

        return registry_entry(self)

    def to_dict(self) -> dict[str, Any]:
        """Return what the page says as plain values, ready for JSON."""
        return {
            "made": self.made.isoformat(),
            "releases": [
                {
                    "manifest": release.path,
                    "sha256": release.digest,
                    "ggdp": release.version,
                    "contents": release.contents,
                    "cells": release.cells,
                    "protected": release.protected,
                    "guarantee": release.part.guarantee.to_dict(),
                    "certificate": "proved again" if release.certificates else None,
                    "half_width": release.half_width,
                    "signature": None if release.signature is None else release.signature.to_dict(),
                    "files": {table.file: table.state for table in release.tables if table.file is not None},
                }
                for release in self.releases
            ],
            "total": self.total.to_dict(),
            "disclosure": [one.to_dict() for guarantee, unit in self.learnt_of for one in disclosures(guarantee, unit)],
            "ledger": None if self.budget is None else self.budget.to_dict(),
            "nist_sp_800_226": [row.to_dict() for row in self.rows],
            "open": len(self.open_rows),
            "problems": list(self.problems),
            "warnings": list(self.warnings),
        }

    @property
    def learnt_of(self) -> tuple[tuple[Guarantee, str], ...]:
        """Guarantees and the units that they are about: that of the total, or one for each release without a total."""
        if self.total.basic is not None:
            return ((self.total.basic, self.releases[0].unit),)
        return tuple((release.part.guarantee, release.unit) for release in self.releases)


def report(
    manifests: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    deployment: str | os.PathLike[str] | None = None,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    registry: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    signer: str | os.PathLike[str] | None = None,
) -> Report:
    """Make a report on releases for the people who sign: what was published, who is protected, and what is open.

    Every certificate is proved again, every record of the ledger is checked, and published files beside their manifests
    are compared with the digests that these name.

    Parameters
    ----------
    manifests : path or iterable of paths
        Manifests of releases, as `ggdp release` and `TableRelease.write` wrote them.
    deployment : path, optional
        A TOML file with the answers that no manifest has.
    ledger : Ledger, str or path, optional
        The ledger that the releases were charged to.
    out : path, optional
        Where to write the page, .html.
    registry : path, optional
        Where to write an entry for the public registry of deployments, .yaml.
    overwrite : bool, default False
        Whether files that already exist may be replaced.
    signer : path, optional
        A file of public keys (OpenSSH or PEM). Every manifest must then be signed by one of them.

    Returns
    -------
    Report
        With ``to_html()``, ``registry_entry()``, ``to_dict()``, ``open_rows`` and ``problems``.

    Raises
    ------
    ArgumentError
        If a manifest is none, was changed, has no guarantee, or has a wrong signature; if an answer is missing that
        `registry` needs; or if a file cannot be written. No file is then written.
    TamperingError
        If the records of the ledger are not those that were written.

    Examples
    --------
    >>> import ggdp, pyarrow, tempfile
    >>> directory = tempfile.mkdtemp()
    >>> people = pyarrow.table({"smokes": ["no", "yes", "no"]})
    >>> release = ggdp.release_table(people, by="smokes", goal=ggdp.PureDP(1.0), domain={"smokes": ["no", "yes"]})
    >>> files = release.write(directory + "/smoking.csv")
    >>> found = ggdp.report(directory + "/smoking.manifest.json", out=directory + "/report.html")
    >>> print(found.total.basic)
    1-DP under add-remove neighbours
    >>> len(found.open_rows), found.problems
    (13, ())
    """
    named = _paths(manifests)
    read = [*named, *(file for file in (deployment, signer) if file is not None)]
    # The files to write, by their arguments.
    targets: dict[str, Path] = {}
    for argument, path, endings in (("out", out, (".html", ".htm")), ("registry", registry, (".yaml", ".yml"))):
        if path is not None:
            targets[argument] = writable_file(argument, path, endings, read, overwrite=overwrite)
    if ledger is not None:
        from ggdp.ledger.charging import require_apart_from_ledger

        require_apart_from_ledger(ledger, **{argument: [file] for argument, file in targets.items()})
    answers = NO_ANSWERS if deployment is None else read_deployment(deployment)
    signers = None if signer is None else read_signers(signer)
    releases = tuple(read_release(path, signers) for path in named)
    total, budget = total_of(releases), None if ledger is None else budget_facts(ledger, releases)
    found = Report(releases=releases, total=total, budget=budget, deployment=answers)
    contents: dict[Path, bytes] = {}
    if "registry" in targets:
        from ggdp.reports.registry import as_yaml

        contents[targets["registry"]] = as_yaml(found.registry_entry()).encode()
    if "out" in targets:
        contents[targets["out"]] = found.to_html().encode()
    if contents:
        argument, file = next(iter(targets.items()))
        with writing(argument, str(file)):
            write_together(contents, overwrite=overwrite)
    return found


def _paths(manifests: object) -> tuple[str, ...]:
    """Return the manifests that were named, each once."""
    if isinstance(manifests, str | os.PathLike):
        manifests = [manifests]
    if not hasattr(manifests, "__iter__"):
        raise ArgumentTypeError("manifests", type(manifests).__name__, "must be paths of manifests")
    found: dict[str, str] = {}
    for one in manifests:
        if not isinstance(one, str | os.PathLike):
            raise ArgumentTypeError("manifests", type(one).__name__, "must be paths of manifests")
        if "\0" in str(one):
            raise ArgumentError("manifests", str(one), "is not the name of a file")
        if os.path.realpath(one) in found:
            raise ArgumentError("manifests", os.fspath(one), "is named twice; each release counts once")
        found[os.path.realpath(one)] = os.fspath(one)
    if not found:
        raise ArgumentError("manifests", [], "must not be empty")
    return tuple(found.values())
