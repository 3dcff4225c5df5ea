"""What a release asks a ledger for: all of it public, known before the data are read, and hashed as one text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from attrs import field, frozen

from ggdp.accounting.composition import guarantee_from, parts_of
from ggdp.errors import ArgumentError, ArgumentTypeError, TamperingError
from ggdp.privacy import ApproxDP, Guarantee, ProbabilisticDP, PureDP
from ggdp.proofs.losses import CountedLoss, ResponseLoss

if TYPE_CHECKING:
    from ggdp.privacy import Neighbours


def canonical(plain: object) -> str:
    r"""Return plain values as JSON with sorted keys and no spaces, in ASCII.

    Examples
    --------
    >>> canonical({"b": [1, None], "a": "é"})
    '{"a":"\\u00e9","b":[1,null]}'
    """
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest_of(plain: object) -> str:
    """Return the SHA-256 of plain values, in hexadecimal digits."""
    return hashlib.sha256(canonical(plain).encode()).hexdigest()


def parsed(text: str) -> Any:  # noqa: ANN401 - any plain values
    """Return the plain values of a text that `canonical_text` wrote, or raise if it cannot have."""
    try:
        return json.loads(text)
    except (RecursionError, TypeError, ValueError):
        raise TamperingError("what the ledger holds is not what ggdp writes: it was changed") from None


def _guarantee(guarantee: Guarantee) -> Guarantee:
    if not isinstance(guarantee, PureDP | ProbabilisticDP | ApproxDP):
        raise ArgumentTypeError("guarantee", guarantee, "must be PureDP, ProbabilisticDP or ApproxDP")
    if guarantee.neighbours is None:
        raise ArgumentError(
            "guarantee", str(guarantee), 'must name its neighbours, such as PureDP(1.0, "add-remove"), to be charged'
        )
    return guarantee


def _losses(losses: Iterable[CountedLoss] | None) -> tuple[CountedLoss, ...]:
    found = () if losses is None else tuple(losses)
    if not all(isinstance(one, CountedLoss) for one in found):
        raise ArgumentTypeError("losses", type(losses).__name__, "must be CountedLoss records, or None")
    return found


def _words(unit: str | None) -> str | None:
    if unit is not None and not isinstance(unit, str):
        raise ArgumentTypeError("unit", unit, "must be words, such as 'person'")
    return None if unit is None else unit.strip()


def _column(protects: str | None) -> str | None:
    if protects is not None and not isinstance(protects, str):
        raise ArgumentTypeError("protects", protects, "must be the name of a column, or 'row'")
    return protects


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
        Independent losses that together dominate the release, as in its manifest: those of its noise, or of randomised
        response where only the guarantee is known, as of a selection or of noise kept in bounds; the latter by default.
    unit : str, optional
        Who is protected, in the words of the ledger; None if the caller did not say.
    protects : str, optional
        What the release takes for one unit: a column whose values are the units, or "row"; None of a mechanism, which
        does not know.
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
    unit: str | None = field(default=None, converter=_words)
    protects: str | None = field(default=None, converter=_column)
    request: dict[str, Any] = field(factory=dict, converter=_plain)
    statement: str = ""

    def __attrs_post_init__(self) -> None:
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
            protects=plain.get("protects"),
            request=plain["request"],
            statement=plain["statement"],
        )


@runtime_checkable
class Chargeable(Protocol):
    """Something that knows what its release will ask for: a mechanism, or the plan of a table."""

    def charge_request(self) -> ChargeRequest:
        """Return what a release asks a ledger for."""
        ...


Asked: TypeAlias = ChargeRequest | Chargeable | Guarantee


def charge_request_of(request: Asked) -> ChargeRequest:
    """Return what a mechanism, a plan or a bare guarantee asks for."""
    if isinstance(request, ChargeRequest):
        return request
    if isinstance(request, PureDP | ProbabilisticDP | ApproxDP):
        return ChargeRequest(guarantee=request)
    if isinstance(request, Chargeable):
        return request.charge_request()
    # It may be data: only its type is shown.
    raise ArgumentTypeError(
        "request", type(request).__name__, "must be a ChargeRequest, a mechanism, the plan of a table, or a guarantee"
    )


def planned_request(plain: object) -> ChargeRequest:
    """Return the request of a plan of a table as plain values, or of a manifest, which must not contradict itself."""
    if not isinstance(plain, Mapping):
        raise TypeError
    if "schema" in plain:
        parts_of([plain])
    request = plain.get("request") or plain.get("table", {}).get("request") or {}
    return ChargeRequest(
        guarantee=guarantee_from(plain["guarantee"]),
        losses=tuple(CountedLoss.from_dict(one) for one in plain["losses"]),
        unit=request.get("unit_name"),
        protects=request.get("unit") or ("row" if request else None),
        request=request,
    )
