"""A published release: what its manifest says, checked against itself, and the files that it names."""

from __future__ import annotations

import csv
import hashlib
import io
import math
import os
from collections.abc import Mapping
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from attrs import frozen

from ggdp._files import MOST_JSON, parsed_json, read_file
from ggdp._rounding import number_of, rounded_up_text
from ggdp.accounting.composition import manifest_in, part_of_manifest
from ggdp.errors import ArgumentError
from ggdp.noise.common_total_noise import CommonTotalNoise
from ggdp.proofs.certificate import Certificate
from ggdp.proofs.noise_law import NoiseLaw, Norm
from ggdp.releases.comparisons import Estimate, sum_half_width
from ggdp.releases.error_law import ErrorLaw, VectorErrorLaw
from ggdp.signatures import Signature, checked_signature
from ggdp.tables.manifest_checks import in_own_words
from ggdp.tables.noisy_counts import keys_of_cells, possible_cells
from ggdp.tables.request import TableRequest
from ggdp.tables.table_release import Table, noise_of_cells

if TYPE_CHECKING:
    from ggdp.accounting import Part


FileState: TypeAlias = Literal["same", "changed", "absent"]
# Rows that a page shows, and rows that errors are looked up in.
SHOWN, READ = 8, 10_000
# Bytes of a CSV file that they are looked for in.
HEAD = 32 << 20


def capitalize(text: str) -> str:
    """Return a text with a capital as its first letter."""
    return text[:1].upper() + text[1:]


@frozen
class Row:
    """A row of a published table: its cell, and its numbers by their columns."""

    cell: tuple[str, ...]
    estimates: dict[str, Estimate]


@frozen
class PublishedTable:
    """A table of a release, as its manifest describes it."""

    by: tuple[str, ...]  # the columns that it is counted by
    cells: int | None  # how many cells it has; None where keys are not public
    covers: str | None  # what its intervals cover, where that is not all that the source holds
    estimates: tuple[str, ...]  # the columns with published numbers: the count, and statistics
    file: str | None  # the name of its file
    state: FileState  # whether the file beside the manifest has the digest that the manifest names
    rows: tuple[Row, ...] = ()  # the first rows of the file, where it is the same

    @property
    def name(self) -> str:
        """The columns, or what a table without any is about."""
        return " × ".join(self.by) or "all rows together"

    @property
    def shown(self) -> tuple[Row, ...]:
        """The rows that a page shows."""
        return self.rows[:SHOWN]

    def half_widths(self, estimate: str) -> list[float]:
        """Return the half-widths of an estimate's intervals in the rows that were read, from the least on."""
        found = (row.estimates[estimate] for row in self.rows)
        return sorted((one.upper - one.lower) / 2 for one in found if one.lower is not None and one.upper is not None)


def published_tables(manifest: Mapping[str, Any], path: Path) -> tuple[PublishedTable, ...]:
    """Return the tables of a manifest, with their files, or raise if one with its digest is not as it is described."""
    tables = []
    for described in manifest.get("table", {}).get("tables", ()):
        by, url = tuple(described["tableSchema"]["primaryKey"]), described["url"]
        columns = [column["name"] for column in described["tableSchema"]["columns"]]
        estimates = ["count"] if {"count", "lower", "upper"} <= {*columns} else []
        estimates += [name for name in columns if {f"{name}_lower", f"{name}_upper"} <= {*columns}]
        state = _state(described, path.parent)
        rows: list[Row] = []
        if state == "same" and "parts" not in described:
            try:
                for row in _rows(path.parent / url):
                    found = {}
                    for name in estimates:
                        ends = ("lower", "upper") if name == "count" else (f"{name}_lower", f"{name}_upper")
                        texts = (row[column] for column in (name, *ends))
                        value, lower, upper = (None if one in (None, "") else float(str(one)) for one in texts)
                        found[name] = Estimate(value, lower, upper)
                    rows.append(Row(cell=tuple(str(row[name]) for name in by), estimates=found))
            except Exception:
                expected = f"names the file {url!r}, which is not the table that it describes"
                raise ArgumentError("manifests", str(path), expected) from None
        cells, covers = described["cells"], described["covers"]
        tables.append(PublishedTable(by, cells, covers, tuple(estimates), url, state, tuple(rows)))
    return tuple(tables)


def _state(described: Mapping[str, Any], directory: Path) -> FileState:
    """Return whether the file of a table, or a directory that Spark wrote, is what was released and nothing else."""
    url, digest = described["url"], described["sha256"]
    try:
        if url is not None and digest is not None and os.path.isfile(directory / url):
            released, found = {url: digest}, {url: directory / url}
        elif "parts" in described and os.path.isdir(directory / url):
            released = {part["url"]: part["sha256"] for part in described["parts"]}
            found = {f"{url}/{file.name}": file for file in (directory / url).iterdir()}
        else:
            return "absent"
        if found.keys() != released.keys() or not all(file.is_file() for file in found.values()):
            return "changed"
        for name, file in found.items():
            with file.open("rb") as content:
                if hashlib.file_digest(content, "sha256").hexdigest() != released[name]:
                    return "changed"
        return "same"
    except OSError:
        return "absent"


def _rows(path: Path) -> list[dict[str, Any]]:
    """Return the first rows of a CSV or Parquet file, of whatever size."""
    if path.suffix.lower() == ".csv":
        with path.open("rb") as file:
            head = file.read(HEAD)
        # The last record of a longer file may not be whole.
        whole = len(head) < HEAD
        text = head if whole else head[: head.rindex(b"\n")]
        rows = list(islice(csv.DictReader(io.StringIO(text.decode("utf-8"), newline="")), READ + 1))
        return rows[: READ if whole or len(rows) > READ else -1]
    batches = pq.ParquetFile(path).iter_batches(batch_size=READ)
    found: list[dict[str, Any]] = next((batch.to_pylist() for batch in batches), [])
    return found


class ErrorInWords(NamedTuple):
    """How far the numbers of a release can be off, in the words of each place that says it."""

    brief: str  # the head of the report
    nist: str  # the questions of NIST SP 800-226
    registry: str  # the public registry


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
    certificates : tuple of Certificate
        The certificates of its noise, proved again: one, or one for each part of its tables that has noise of its own.
        None for a selection, whose proof is the theorem of its mechanism.
    tables : tuple of PublishedTable
        Its tables; none where values were released without a table.
    signature : Signature, optional
        The signature of the manifest, checked; None where there is none.
    """

    path: str
    digest: str
    manifest: dict[str, Any]
    part: Part
    certificates: tuple[Certificate, ...]
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
        return self.manifest["mechanism"]  # type: ignore[no-any-return]

    @property
    def entry(self) -> Mapping[str, Any] | None:
        """The ledger and the entry that it was charged to."""
        return self.manifest.get("ledger")

    @property
    def is_selection(self) -> bool:
        """Whether one of several candidates was selected, rather than noise added."""
        return bool(self.mechanism["kind"] == "selection")

    @property
    def unit(self) -> str:
        """One protected unit, in words."""
        if (table := self.manifest.get("table")) is None:
            return "one person"
        name, column = table["unit"]["name"], table["unit"]["column"]
        values = "one row" if column is None else f"one value of the column {column!r}"
        return values if name is None else f"one of the {name}"

    @property
    def protected(self) -> str:
        """What is protected of one unit."""
        if (table := self.manifest.get("table")) is None:
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
    def counted(self) -> str:
        """What the counts of its tables are numbers of, in words."""
        request = self.manifest["table"]["request"]
        units = "rows" if request["unit"] is None else f"different values of {request['unit']!r}"
        return "rows" if (request["unit"] is not None and request["count"] == "rows") else request["unit_name"] or units

    @property
    def contents(self) -> str:
        """What was published, in words."""
        if (request := self.request) is None:
            return number_of(math.prod(self.manifest["values"]["shape"]), "value")
        said = []
        asked = request["statistics"]
        # Of all tables, or a list for each table.
        asked = [one for part in asked for one in part] if asked and isinstance(asked[0], list) else asked
        for one in asked:
            kind = "quantiles" if one["kind"] == "quantile" else f"the {one['kind']}"
            kind = "the median" if one.get("fractions") == [0.5] else kind
            said.append(f"{kind} of {one['column']}")
        statistics = f", with {' and '.join(dict.fromkeys(said))}" if said else ""
        by = "by" if any(table.by for table in self.tables) else "of"
        return f"Counts of {self.counted} {by} {' and '.join(table.name for table in self.tables)}{statistics}"

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
    def error_in_words(self) -> ErrorInWords:
        """How far its numbers can be off."""
        if self.is_selection:
            drawn = "one candidate was drawn at random, better ones with a larger probability"
            return ErrorInWords("a random choice", drawn, f"{drawn}.")
        if self.half_width is None:
            each, every = "each number has its own 95 % interval", "every number is published with a 95 % interval."
            return ErrorInWords(each, "the 95 % intervals in the published file", every)
        half, what = rounded_up_text(self.half_width, 6), "counts" if self.request is not None else "values"
        values = "values before adjustments" if self.adjusted else "values"
        most = f"95 % of the {values} are within {half} of those without noise."
        return ErrorInWords(f"95 of 100 noisy {what} within ±{half}", f"within {half} in 95 of 100 cases", most)

    @property
    def adjusted(self) -> tuple[str, ...]:
        """Names of the adjustments of the noisy values."""
        return tuple(step["name"] for step in self.manifest["adjustments"])

    @property
    def beyond_certificate(self) -> bool:
        """Whether the guarantee has parts that the certificates of the noise are not about."""
        if not self.certificates:
            return False
        epsilon = delta = Fraction(0)
        for proof in self.certificates:
            is_pure = proof.bound.quantity == "epsilon"
            epsilon += Fraction(proof.proved if is_pure else proof.bound.epsilon)  # type: ignore[attr-defined]
            delta += Fraction(0.0 if is_pure else proof.proved)
        stated = self.part.guarantee
        return Fraction(stated.epsilon) > epsilon or Fraction(stated.delta) > delta

    @property
    def noise(self) -> str:
        """The mechanism in a few words."""
        mechanism = self.mechanism
        if self.is_selection:
            return f"{mechanism['name']} among {mechanism['candidates'] - mechanism['excluded']:,} candidates"
        place = "whole numbers" if mechanism["step"] is None else f"multiples of {mechanism['step']:g}"
        scales = ", ".join(
            f"{rounded_up_text(one['scale'], 6)} {_common_total(one).place}"
            if "encoding" in one
            else rounded_up_text(one["scale"], 6)
            for one in mechanism.get("parts", (mechanism,))
        )
        return f"{mechanism['name']} noise on {place}, {'scales' if 'parts' in mechanism else 'scale'} {scales}"


def read_table(path: str | os.PathLike[str], table: int | str = 0) -> Table:
    """Return a published table of counts from its manifest and the file next to it, which were checked.

    Parameters
    ----------
    path : path
        The manifest.
    table : int or str, default 0
        Which of its tables: its number, from 0 on, or the name of its file without the ending.

    Returns
    -------
    ggdp.tables.Table
        The table as it was released, with `shares`, `ratio` and `difference`.
    """
    return _read_table(read_release(path), table)


def _common_total(part: Mapping[str, Any]) -> CommonTotalNoise:
    return CommonTotalNoise(order=part["order"], scale=part["scale"], **part["encoding"])


def _read_table(release: PublishedRelease, table: int | str) -> Table:
    names = [Path(str(one.file)).stem for one in release.tables]
    number = names.index(table) if table in names else table
    if not isinstance(number, int) or not 0 <= number < len(names):
        said = f"is no table of {release.path}, which has {len(names)}, from 0 on: {', '.join(names) or 'none'}"
        raise ArgumentError("table", table, said)
    found, about = release.tables[number], release.manifest["table"]
    if about["tables"][number]["regime"] != "declared" or about["request"]["statistics"]:
        said = "leaves cells out of this table; only tables that show every cell are compared"
        if about["request"]["statistics"]:
            said = "is of a release with statistics, whose counts are not compared; release the counts by themselves"
        raise ArgumentError("manifests", release.path, said)
    if found.state != "same" or (found.cells or 0) > READ:
        said = f"needs the file of its table, as it was published (it is {found.state}), of at most {READ:,} cells"
        raise ArgumentError("manifests", release.path, said)
    rows = _rows(Path(release.path).parent / str(found.file))
    columns = [column for one in about["tables"] for column in one["tableSchema"]["columns"]]
    dates = {column["name"] for column in columns if column["datatype"] == "date"}
    request, noise = TableRequest.from_dict(about["request"], dates), release.mechanism
    domain = request.domains[number]
    part = next(one for one in noise.get("parts", [noise]) if number + 1 in one.get("tables", (number + 1,)))
    law: ErrorLaw | VectorErrorLaw = ErrorLaw(order=part["order"], scale=part["scale"])
    if "encoding" in part or "norm" in part:
        vectors: NoiseLaw | CommonTotalNoise
        if "encoding" in part:
            vectors = _common_total(part)
        else:
            vectors = NoiseLaw(order=1.0, scale=part["scale"], support="integer", norm=Norm.from_dict(part["norm"]))
        place = part["tables"].index(number + 1) if "tables" in part else number
        law = VectorErrorLaw(law=vectors).of_groups[place]
    # The rows of a table that shows every cell are those of its domain.
    keys = keys_of_cells(domain, possible_cells(domain))
    counts = {name: np.array([int(row[name]) for row in rows], dtype=np.int64) for name in request.count_columns}
    made = Table(
        domain=domain,
        keys=keys,
        count=counts["count"],
        noisy_count=counts.get("noisy_count", counts["count"]),
        lower=counts["lower"],
        upper=counts["upper"],
        covers=found.covers,
        written=request.count_columns,
        digits=request.digits,
        noise=noise_of_cells(law),
        total=request.total,
    )
    if keys.num_rows != len(rows):
        raise ArgumentError("manifests", release.path, f"names a file of {len(rows):,} rows, not of its cells")
    return made if request.percent_of is None else made.shares(request.percent_of)


def difference(
    first: str | os.PathLike[str], second: str | os.PathLike[str], *, table: int | str = 0, level: float = 0.95
) -> pa.Table:
    """Return how much the counts of a table changed between two releases, with intervals, from the published files.

    Parameters
    ----------
    first, second : path
        The manifests of the earlier and the later release, next to their tables.
    table : int or str, default 0
        Which of their tables is compared, as in `ggdp.read_table`.
    level : float, default 0.95
        Probability with which each interval covers.

    Returns
    -------
    pyarrow.Table
        The columns of the cells, `difference`, `lower` and `upper`.

    Notes
    -----
    Claim: an interval covers the difference of the two counts without noise with a probability of at least `level`.
    Proof: the difference of the noisy counts is off by the difference of two independent noises, whose law is known
    (`ggdp.releases.comparisons`). Only released values are used, so this costs no privacy. Where units are counted in
    fewer cells than they are in, the counts are those of the units that are counted.
    """
    earlier, later = releases = [read_release(path) for path in (first, second)]
    if earlier.manifest == later.manifest:
        said = "is the same release, whose noise is the same; name another one"
        raise ArgumentError("manifests", later.path, said)
    tables = [_read_table(one, table) for one in releases]
    if tables[0].by != tables[1].by or not tables[0].keys.equals(tables[1].keys):
        said = f"has other cells than {earlier.path}; compare tables of the same columns and levels"
        raise ArgumentError("manifests", later.path, said)
    first, second = (one.counted for one in releases)
    asked = [one.manifest["table"]["request"] for one in releases]
    of_rows = [one["unit"] is None or one["count"] == "rows" for one in asked]
    if of_rows[0] != of_rows[1] and first != second:
        said = f"counts {second}, and {earlier.path} counts {first}; compare tables that count the same"
        raise ArgumentError("manifests", later.path, said)
    half = sum_half_width(tuple(one.noise_of(1) for one in tables), level)
    change = tables[1].noisy_count - tables[0].noisy_count
    keys = dict(zip(tables[0].by, tables[0].keys.columns, strict=True))
    return pa.table({**keys, "difference": change, "lower": change - half, "upper": change + half})


def read_release(path: str | os.PathLike[str], signers: frozenset[bytes] | None = None) -> PublishedRelease:
    """Return what a manifest says, after it was checked against itself, and its signature by one of the signers."""
    name = str(path)
    # Once: a pipe cannot be read again, and a file may change.
    content = read_file(path, argument="manifests", most=MOST_JSON)
    manifest = manifest_in(parsed_json(content, name, argument="manifests"))
    try:
        part = part_of_manifest(manifest, name)
    except ArgumentError as refused:
        raise ArgumentError("manifests", name, refused.expected) from None
    manifest = in_own_words(manifest)
    noises = manifest["mechanism"].get("parts", [manifest["mechanism"]])
    proofs = [plain for noise in noises if (plain := noise.get("certificate")) is not None]
    tables = published_tables(manifest, Path(path))
    if signers is not None:
        for table in (table for table in tables if table.state == "changed"):
            raise ArgumentError("manifests", name, f"is signed, but its file {table.file!r} was changed")
    return PublishedRelease(
        path=name,
        digest=hashlib.sha256(content).hexdigest(),
        manifest=manifest,
        part=part,
        certificates=tuple(map(Certificate.from_dict, proofs)),
        tables=tables,
        signature=checked_signature(name, content, signers, argument="manifests"),
    )
