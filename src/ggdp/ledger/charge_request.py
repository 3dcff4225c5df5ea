"""What a release asks a ledger for: all of it public, and known before the data are read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from attrs import field, frozen

from ggdp.errors import ArgumentError, ArgumentTypeError
from ggdp.privacy import ApproxDP, Guarantee, ProbabilisticDP, PureDP, Sensitivity
from ggdp.proofs.noise_law import NoiseLaw
from ggdp.proofs.profile import NoisyQuery

if TYPE_CHECKING:
    from ggdp.privacy import Neighbours

__all__ = ["ChargeRequest", "Chargeable", "charge_request_of", "guarantee_from", "noise_from", "noise_to_dict"]


def _guarantee(guarantee: Guarantee) -> Guarantee:
    if not isinstance(guarantee, PureDP | ProbabilisticDP | ApproxDP):
        raise ArgumentTypeError("guarantee", guarantee, "must be PureDP, ProbabilisticDP or ApproxDP")
    if guarantee.neighbours is None:
        raise ArgumentError(
            "guarantee", str(guarantee), 'must name its neighbours, such as PureDP(1.0, "add-remove"), to be charged'
        )
    return guarantee


def _noise(noise: tuple[NoisyQuery, ...] | None) -> tuple[NoisyQuery, ...] | None:
    if noise is None:
        return None
    parts = tuple(noise)
    if not parts or not all(isinstance(part, NoisyQuery) and part.law.bounding is None for part in parts):
        raise ArgumentTypeError("noise", type(noise).__name__, "must be unbounded NoisyQuery records, or None")
    return parts


def _words(unit: str | None) -> str | None:
    if unit is None:
        return None
    if not isinstance(unit, str):
        raise ArgumentTypeError("unit", unit, "must be words, such as 'person'")
    return unit.strip()


def _plain(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a description as JSON has it, so that what is stored is what is read again."""
    if not isinstance(request, Mapping):
        raise ArgumentTypeError("request", type(request).__name__, "must be a mapping of plain values")
    try:
        plain: dict[str, Any] = json.loads(json.dumps(dict(request), allow_nan=False))
    except (TypeError, ValueError):
        raise ArgumentError("request", "not plain values", "must be ready for JSON") from None
    return plain


@frozen(kw_only=True)
class ChargeRequest:
    """What a release asks a ledger for. Nothing in it depends on the data.

    Attributes
    ----------
    guarantee : PureDP, ProbabilisticDP or ApproxDP
        What is proved of the release, with its neighbours.
    noise : tuple of NoisyQuery, optional
        The noise of all that is released; None where only the guarantee is known, as of a selection, of noise kept in
        bounds, or of keys above a threshold.
    unit : str, optional
        Who is protected, in the words of the ledger; None if the caller did not say.
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
    noise: tuple[NoisyQuery, ...] | None = field(default=None, converter=_noise)
    unit: str | None = field(default=None, converter=_words)
    request: dict[str, Any] = field(factory=dict, converter=_plain)
    statement: str = ""

    def __attrs_post_init__(self) -> None:
        for part in self.noise or ():
            if part.sensitivity.neighbours != self.neighbours:
                raise ArgumentError(
                    "noise", str(part.sensitivity), f"the guarantee is for {self.neighbours} neighbours; both must be"
                )

    @property
    def neighbours(self) -> Neighbours:
        """The relation of neighbours."""
        assert self.guarantee.neighbours is not None
        return self.guarantee.neighbours

    @property
    def law(self) -> dict[str, Any]:
        """The noise as plain values, or the guarantee where that is all that is known."""
        if self.noise is None:
            return {"guarantee": self.guarantee.to_dict()}
        return {"noise": [noise_to_dict(part) for part in self.noise]}

    def to_dict(self) -> dict[str, Any]:
        """Return the request as plain values, ready for JSON."""
        return {
            "guarantee": self.guarantee.to_dict(),
            "noise": None if self.noise is None else [noise_to_dict(part) for part in self.noise],
            "unit": self.unit,
            "request": self.request,
            "statement": self.statement,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> ChargeRequest:
        """Return the request that `to_dict` described."""
        noise = plain["noise"]
        return cls(
            guarantee=guarantee_from(plain["guarantee"]),
            noise=None if noise is None else tuple(noise_from(part) for part in noise),
            unit=plain["unit"],
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


def noise_to_dict(noisy: NoisyQuery) -> dict[str, Any]:
    """Return a noisy query as plain values, without the bounds that its values were clamped to."""
    law, query = noisy.law, noisy.sensitivity
    return {
        "order": law.order,
        "scale": law.scale,
        "support": law.support,
        "sensitivity": {
            "kind": query.kind,
            "sizes": list(query.sizes),
            "moving": query.moving,
            "joint": None if query.joint is None else list(query.joint),
            "neighbours": query.neighbours,
        },
    }


def noise_from(plain: Mapping[str, Any]) -> NoisyQuery:
    """Return the noisy query that `noise_to_dict` described."""
    query = plain["sensitivity"]
    return NoisyQuery(
        NoiseLaw(order=plain["order"], scale=plain["scale"], support=plain["support"]),
        Sensitivity(
            kind=query["kind"],
            sizes=tuple(query["sizes"]),
            moving=query["moving"],
            joint=None if query["joint"] is None else tuple(query["joint"]),
            neighbours=query["neighbours"],
        ),
    )


def guarantee_from(plain: Mapping[str, Any]) -> Guarantee:
    """Return the guarantee that its `to_dict` described."""
    if plain["notion"] == "pure":
        return PureDP(plain["epsilon"], plain["neighbours"])
    kind = ProbabilisticDP if plain["notion"] == "probabilistic" else ApproxDP
    return kind(plain["epsilon"], plain["delta"], plain["neighbours"])
