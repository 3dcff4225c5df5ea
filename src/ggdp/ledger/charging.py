"""What a release asks a ledger for, and when it is charged.

A request is public, known before the data are read, and hashed as one text. A release that does not fit is refused
before anything is opened, and one that fits is charged before a row is read.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias, runtime_checkable

from attrs import field, frozen

from ggdp.accounting.composition import guarantee_from, parts_of, unit_of
from ggdp.accounting.noise_guarantees import Noise
from ggdp.errors import ArgumentError, ArgumentTypeError, LedgerError, Message, TamperingError
from ggdp.noise.entropy import is_private
from ggdp.privacy import ApproxDP, Guarantee, Neighbours, ProbabilisticDP, PureDP
from ggdp.proofs.losses import CountedLoss, ResponseLoss

if TYPE_CHECKING:
    from ggdp.ledger.chain import Entry, EntryReference
    from ggdp.ledger.ledger import Ledger
    from ggdp.noise import Source


def canonical(plain: object) -> str:
    """Return plain values as JSON with sorted keys and no spaces, in ASCII."""
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest_of(plain: object) -> str:
    """Return the SHA-256 of plain values, in hexadecimal digits."""
    return hashlib.sha256(canonical(plain).encode()).hexdigest()


def parse(text: str) -> Any:  # noqa: ANN401 - any plain values
    """Return the plain values of a text that `canonical` wrote, or raise if it cannot have."""
    try:
        return json.loads(text)
    except (RecursionError, TypeError, ValueError):
        raise TamperingError("what the ledger holds is not what ggdp writes: it was changed") from None


def _guarantee(guarantee: Guarantee) -> Guarantee:
    if not isinstance(guarantee, PureDP | ProbabilisticDP | ApproxDP):
        raise ArgumentTypeError("guarantee", guarantee, "must be PureDP, ProbabilisticDP or ApproxDP")
    if guarantee.neighbours is None:
        expected = 'must name its neighbours, such as PureDP(1.0, "add-remove"), to be charged'
        raise ArgumentError("guarantee", str(guarantee), expected)
    return guarantee


def _losses(losses: Iterable[CountedLoss] | None) -> tuple[CountedLoss, ...]:
    found = () if losses is None else tuple(losses)
    if not all(isinstance(one, CountedLoss) for one in found):
        raise ArgumentTypeError("losses", type(losses).__name__, "must be CountedLoss records, or None")
    return found


def _plain(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a description as JSON has it, so that what is stored is what is read again."""
    if not isinstance(request, Mapping):
        raise ArgumentTypeError("request", type(request).__name__, "must be a mapping of plain values")
    try:
        plain: dict[str, Any] = json.loads(json.dumps(dict(request), allow_nan=False))
    except (RecursionError, TypeError, ValueError):
        raise ArgumentError("request", "not plain values", "must be ready for JSON") from None
    return plain


@frozen(kw_only=True)
class ChargeRequest:
    """What a release asks a ledger for. Nothing in it depends on the data.

    Attributes
    ----------
    guarantee : PureDP, ProbabilisticDP or ApproxDP
        What is proved of the release, with its neighbours.
    losses : tuple of CountedLoss
        Independent losses that together dominate the release, as in its manifest: those of its noise, or of randomized
        response where only the guarantee is known, as of a selection or of noise kept in bounds; the latter by default.
    unit : str, optional
        Who is protected, in the words of the ledger; None if the caller did not say.
    protects : str, optional
        What the release takes for one unit: a column whose values are the units, or "row", and "column row" for a
        column of that name; None of a mechanism, which does not know.
    request : mapping
        What was asked for, ready for JSON.
    statement : str
        The paragraph of the manifest.

    Examples
    --------
    >>> import ggdp
    >>> asked = ChargeRequest(guarantee=ggdp.PureDP(0.5, "add-remove"))
    >>> asked.neighbours
    'add-remove'
    """

    guarantee: Guarantee = field(converter=_guarantee)
    losses: tuple[CountedLoss, ...] = field(default=None, converter=_losses)
    unit: str | None = None
    protects: str | None = None
    request: dict[str, Any] = field(factory=dict, converter=_plain)
    statement: str = ""

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.unit, str | None):
            raise ArgumentTypeError("unit", self.unit, "must be words, such as 'person'")
        if not isinstance(self.protects, str | None):
            raise ArgumentTypeError("protects", self.protects, "must be the name of a column, or 'row'")
        if self.unit is not None:
            object.__setattr__(self, "unit", self.unit.strip())
        if not self.losses:
            response = ResponseLoss(self.guarantee.epsilon, self.guarantee.delta)
            object.__setattr__(self, "losses", (CountedLoss(response, 1),))

    @property
    def neighbours(self) -> Neighbours:
        """The relation of neighbours."""
        assert self.guarantee.neighbours is not None
        return self.guarantee.neighbours

    @property
    def law(self) -> str:
        """The law of the release: the SHA-256 of its losses, in any order."""
        losses = sorted(canonical(one.to_dict()) for one in self.losses)
        return digest_of([self.neighbours, *losses])

    def to_dict(self) -> dict[str, Any]:
        """Return the request as plain values, ready for JSON."""
        return {
            "guarantee": self.guarantee.to_dict(),
            "losses": [one.to_dict() for one in self.losses],
            "unit": self.unit,
            "protects": self.protects,
            "request": self.request,
            "statement": self.statement,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> ChargeRequest:
        """Return the request that `to_dict` described."""
        return cls(
            guarantee=guarantee_from(plain["guarantee"]),
            losses=tuple(CountedLoss.from_dict(one) for one in plain["losses"]),
            unit=plain["unit"],
            protects=unit_in(plain),
            request=plain["request"],
            statement=plain["statement"],
        )


@runtime_checkable
class Chargeable(Protocol):
    """Something that knows what its release will ask for: a mechanism, or the plan of a table."""

    def charge_request(self) -> ChargeRequest:
        """Return what a release asks a ledger for."""
        ...


Asked: TypeAlias = ChargeRequest | Chargeable | Noise | Guarantee


def charge_request_of(request: Asked) -> ChargeRequest:
    """Return what a mechanism, a plan, noise or a bare guarantee asks for."""
    if isinstance(request, ChargeRequest):
        return request
    if isinstance(request, PureDP | ProbabilisticDP | ApproxDP):
        return ChargeRequest(guarantee=request)
    if isinstance(request, Chargeable):
        return request.charge_request()
    if isinstance(request, Noise):
        return ChargeRequest(guarantee=request.guarantee, losses=request.losses)
    # It may be data: only its type is shown.
    expected = "must be a mechanism, noise, the plan of a table, a guarantee, or a ChargeRequest"
    raise ArgumentTypeError("request", type(request).__name__, expected)


def planned_request(plain: object) -> ChargeRequest:
    """Return the request of a plan of a table as plain values, or of a manifest, which must not contradict itself."""
    if not isinstance(plain, Mapping):
        raise TypeError
    if "schema" in plain:
        parts_of([plain])
    request = plain.get("request") or plain.get("table", {}).get("request") or {}
    protects = unit_of(request.get("unit")) if request else None
    asked = {"unit": request.get("unit_name"), "protects": protects, "request": request, "statement": ""}
    return ChargeRequest.from_dict({**plain, **asked})


def unit_in(content: Mapping[str, Any]) -> str | None:
    """Return what the record of a charge protects; earlier ones say "row" of a column of that name, too."""
    protects: str | None = content.get("protects")
    return unit_of("row") if protects == content["request"].get("unit") == "row" else protects


def require_apart_from_ledger(ledger: Ledger | str | os.PathLike[str] | None, **outputs: Sequence[Path]) -> None:
    """Raise if an output is the file of a ledger or its journal, by whatever name; the error names its argument."""
    place = ledger if ledger is None or isinstance(ledger, str | os.PathLike) else getattr(ledger, "path", None)
    # What is no path is refused when the ledger is opened.
    if place is None or "://" in str(place) or "\0" in str(place):
        return
    own = (os.fspath(place), f"{os.path.realpath(place)}-journal")
    for argument, files in outputs.items():
        for file, one in product(files, own):
            exist = os.path.exists(file) and os.path.exists(one)
            if os.path.realpath(file) == os.path.realpath(one) or (exist and os.path.samefile(file, one)):
                raise ArgumentError(argument, str(file), "is the file of the ledger; name another file")


def charged_before(
    ledger: Ledger | str | os.PathLike[str] | None, release: Chargeable, once: str
) -> tuple[Entry, dict[str, str]] | None:
    """Return the entry that a key has charged, with the digests of its files; None if it has charged nothing.

    A key stands for one request: it is refused with another one, and after a run that was interrupted between the
    charge and the record of its files, since its noise must not be drawn again.
    """
    if ledger is None:
        raise ArgumentError("once", once, Message("needs {ledger}, which records the key"))
    from ggdp.ledger.ledger import ledger_of

    entry = ledger_of(ledger).charged_once(once)
    if entry is None:
        return None
    if entry.request.request != release.charge_request().request:
        said = f"has charged entry {entry.number} for another request; choose a key of its own for each release"
        raise ArgumentError("once", once, said)
    if entry.files is None:
        said = (
            f"has charged entry {entry.number} at {entry.time}, but no files were recorded: that run goes on, or was "
            "interrupted. The charge stays, and nothing is drawn again with this key; if that run has ended, use a "
            "new key, which charges again"
        )
        raise ArgumentError("once", once, said)
    return entry, entry.files


class PendingCharge:
    """The charge of one release, which is made inside a ``with`` block; without a ledger nothing is charged.

    Entering it refuses a release that does not fit, by public requests alone. `commit` charges it, durably; what reads
    the data comes after that. If the block fails later, its error has a note that the charge stays. `record_files`
    serves also after the block; a copy that was pickled has no ledger, and records nothing. A seeded `rng` is
    refused, since its release has no guarantee that could be charged.
    """

    def __init__(
        self,
        ledger: Ledger | str | os.PathLike[str] | None,
        release: Chargeable,
        *,
        analyst: str | None,
        rng: Source,
        once: str | None = None,
    ) -> None:
        self.ledger: Ledger | None = None
        self._entry: Entry | None = None
        self._published = False
        if ledger is None:
            if analyst is not None:
                expected = Message("is for a release that is charged to a {ledger}; name one")
                raise ArgumentError("analyst", analyst, expected)
            return
        if not is_private(rng):
            expected = Message("has no guarantee that a {ledger} could charge; leave out one of them")
            raise ArgumentError("rng", type(rng).__name__, expected)
        from ggdp.ledger.ledger import ledger_of

        self.ledger, self._analyst, self._once = ledger_of(ledger), analyst, once
        self._request = release.charge_request()

    def __enter__(self) -> Self:
        if self.ledger is not None:
            self.ledger.require_fit(self._request, self._analyst)
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if error is not None and self._entry is not None:
            error.add_note(f"the charge of entry {self._entry.number} stays: there is no refund")

    def __getstate__(self) -> dict[str, object]:
        # Connections are not carried into another process.
        return {"ledger": None, "_entry": None, "_published": False}

    def commit(self) -> EntryReference | None:
        """Charge the release, durably, and return how its manifest names the entry."""
        if self.ledger is None:
            return None
        self._entry = self.ledger.charge(self._request, self._analyst, once=self._once)
        return self._entry.reference

    def record_files(self, files: Mapping[str, str]) -> None:
        """Record the SHA-256 of the files that were written first, by their names; an entry has them once."""
        if self.ledger is None or self._entry is None or not files or self._published:
            return
        try:
            self.ledger.record_publication(self._entry, files)
            self._published = True
        except LedgerError as failed:
            failed.add_note("the files were written; only their digests could not be recorded")
            raise
