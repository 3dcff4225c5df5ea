"""What a manifest says of a release, after it was checked against itself."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from ggdp._files import MOST_JSON, parsed_json, read_file
from ggdp._rounding import rounded_up_text
from ggdp.composition.parts import manifest_in, part_of_manifest
from ggdp.errors import ArgumentError
from ggdp.proofs.certificate import Certificate
from ggdp.reporting.published_files import published_tables
from ggdp.signatures import checked_signature
from ggdp.tables.manifest_checks import in_own_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ggdp.composition import Part
    from ggdp.reporting.published_files import PublishedTable
    from ggdp.signatures import Signature

__all__ = ["PublishedRelease", "read_release"]

_KINDS = {"mean": "the mean", "sum": "the sum", "variance": "the variance"}
_SELECTED = "selection"


@frozen(kw_only=True)
class PublishedRelease:
    """A release, as its manifest describes it. Made by `read_release`.

    Attributes
    ----------
    path : str
        The manifest, as it was named.
    digest : str
        The SHA-256 of the manifest.
    manifest : dict
        Its content.
    part : Part
        What it adds to a total, checked against its certificate.
    certificate : Certificate, optional
        The certificate of its noise, proved again; None for a selection, whose proof is the theorem of its mechanism.
    tables : tuple of PublishedTable
        Its tables; none where values were released without a table.
    signature : Signature, optional
        The signature of the manifest, checked; None where there is none.
    """

    path: str
    digest: str
    manifest: dict[str, Any]
    part: Part
    certificate: Certificate | None
    tables: tuple[PublishedTable, ...]
    signature: Signature | None = None

    @property
    def name(self) -> str:
        """The name of the manifest's file, without its ending."""
        return Path(self.path).name.removesuffix(".json").removesuffix(".manifest")

    @property
    def version(self) -> str:
        """The version of ggdp that made it."""
        return str(self.manifest["ggdp"])

    @property
    def statement(self) -> str:
        """The paragraph to publish."""
        return str(self.manifest["statement"])

    @property
    def request(self) -> Mapping[str, Any] | None:
        """The request of a table."""
        table = self.manifest.get("table")
        return None if table is None else table["request"]

    @property
    def mechanism(self) -> Mapping[str, Any]:
        """The mechanism, as the manifest describes it."""
        described: Mapping[str, Any] = self.manifest["mechanism"]
        return described

    @property
    def entry(self) -> Mapping[str, Any] | None:
        """The ledger and the entry that it was charged to."""
        named: Mapping[str, Any] | None = self.manifest.get("ledger")
        return named

    @property
    def is_selection(self) -> bool:
        """Whether one of several candidates was selected, rather than noise added."""
        return bool(self.mechanism["kind"] == _SELECTED)

    @property
    def unit(self) -> str:
        """One protected unit, in words."""
        table = self.manifest.get("table")
        if table is None:
            return "one person"
        name, column = table["unit"]["name"], table["unit"]["column"]
        if name is not None:
            return f"one of the {name}"
        return "one row" if column is None else f"one value of the column {column!r}"

    @property
    def protected(self) -> str:
        """What is protected of one unit."""
        table = self.manifest.get("table")
        if table is None:
            return "all records of one person, as far as the stated sensitivity covers them"
        name, column = table["unit"]["name"], table["unit"]["column"]
        rows = "one row of the data" if column is None else f"all rows with the same value of the column {column!r}"
        return rows if name is None else f"{rows} (one of the {name})"

    @property
    def protects_rows(self) -> bool:
        """Whether each row is protected by itself, no matter whom it is about."""
        table = self.manifest.get("table")
        return table is not None and table["unit"]["column"] is None

    @property
    def contents(self) -> str:
        """What was published, in words."""
        if self.request is None:
            number = 1
            for size in self.manifest["values"]["shape"]:
                number *= size
            return "1 value" if number == 1 else f"{number:,} values"
        return f"{self._counted} {' and '.join(table.name for table in self.tables)}{self._statistics}"

    @property
    def _counted(self) -> str:
        assert self.request is not None
        what = self.request["unit_name"] or "rows"
        if self.request["unit"] is not None and self.request["count"] == "rows":
            what = "rows"
        elif self.request["unit"] is not None:
            what = self.request["unit_name"] or f"different values of {self.request['unit']!r}"
        return f"Counts of {what} by" if any(table.by for table in self.tables) else f"Counts of {what} of"

    @property
    def _statistics(self) -> str:
        assert self.request is not None
        said = []
        for one in self.request["statistics"]:
            if one["kind"] == "quantile":
                said.append(f"{'the median' if one['fractions'] == [0.5] else 'quantiles'} of {one['column']}")
            else:
                said.append(f"{_KINDS[one['kind']]} of {one['column']}")
        return f", with {' and '.join(said)}" if said else ""

    @property
    def cells(self) -> int | None:
        """How many cells its tables have in all; None where keys are not public, or there is no table."""
        table = self.manifest.get("table")
        return None if table is None else table["cells"]

    @property
    def half_width(self) -> float | None:
        """How far a raw noisy value is from the true one, at 95 %.

        None where what is published is not the noisy values: statistics, and selections.
        """
        if self.manifest["error"] is None or (self.request is not None and self.request["statistics"]):
            return None
        return float(self.manifest["error"]["half_width"])

    @property
    def adjusted(self) -> tuple[str, ...]:
        """Names of the adjustments of the noisy values."""
        return tuple(step["name"] for step in self.manifest["adjustments"])

    @property
    def beyond_certificate(self) -> bool:
        """Whether the guarantee has parts that the certificate of the noise is not about."""
        if self.certificate is None:
            return False
        is_loss = self.certificate.quantity == "epsilon"
        epsilon = self.certificate.proved if is_loss else self.certificate.bound.epsilon  # type: ignore[attr-defined]
        delta = 0.0 if is_loss else self.certificate.proved
        return self.part.guarantee.epsilon > epsilon or self.part.guarantee.delta > delta

    @property
    def noise(self) -> str:
        """The mechanism in a few words."""
        mechanism = self.mechanism
        if self.is_selection:
            return f"{mechanism['name']} among {mechanism['candidates'] - mechanism['excluded']:,} candidates"
        place = "whole numbers" if mechanism["step"] is None else f"multiples of {mechanism['step']:g}"
        return f"{mechanism['name']} noise on {place}, scale {rounded_up_text(mechanism['scale'], 6)}"


def read_release(path: str | os.PathLike[str], signers: frozenset[bytes] | None = None) -> PublishedRelease:
    """Return what a manifest says, after it was checked against itself.

    Where signers are given (`ggdp.signatures.read_signers`), one of them must have signed it.

    Raises
    ------
    ArgumentError
        If the file cannot be read, is no manifest, has no guarantee, or contradicts itself; or if its signature is
        wrong.
    """
    name = os.fspath(path)
    # Once: a pipe cannot be read again, and a file may change.
    content = read_file(path, argument="manifests", most=MOST_JSON)
    manifest = manifest_in(parsed_json(content, name, argument="manifests"))
    try:
        part = part_of_manifest(manifest, name)
    except ArgumentError as refused:
        raise ArgumentError("manifests", name, refused.expected) from None
    manifest = in_own_words(manifest)
    plain = manifest["mechanism"].get("certificate")
    tables = published_tables(manifest, Path(path))
    if signers is not None:
        for table in (table for table in tables if table.state == "changed"):
            raise ArgumentError("manifests", name, f"is signed, but its file {table.file!r} was changed")
    return PublishedRelease(
        path=name,
        digest=hashlib.sha256(content).hexdigest(),
        manifest=manifest,
        part=part,
        certificate=None if plain is None else Certificate.from_dict(plain),
        tables=tables,
        signature=checked_signature(name, content, signers, argument="manifests"),
    )
