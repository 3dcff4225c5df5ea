"""The law of the noise that a proof is about."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

from ggdp import _validate
from ggdp.errors import ArgumentError, ArgumentTypeError
from ggdp.privacy.sensitivity import norm_order

Support: TypeAlias = Literal["real", "integer"]
Bounding: TypeAlias = Literal["truncated", "boundary-inflated"]
NormKind: TypeAlias = Literal["added", "replaced", "signed", "lp"]

SUPPORTS = get_args(Support)
BOUNDINGS = get_args(Bounding)


@dataclass(frozen=True, slots=True, kw_only=True)
class Norm:
    """The norm of a law of noise on a whole vector (`ggdp.proofs.minkowski`).

    Attributes
    ----------
    kind : {"added", "replaced", "signed", "lp"}
        The first three are on groups of whole numbers, the last is an l_p norm on the reals.
    groups : tuple of int
        How many free coordinates each group has; of "lp" the one dimension.
    complete : tuple of bool, optional
        Of "added" and "replaced": which groups have a further cell, which makes their sum the common total. None if no
        group has.
    order : float, optional
        The p of "lp", at least 1, or infinity.
    sizes : tuple of float, optional
        Of "lp": what each coordinate is divided by before the norm is taken.

    Examples
    --------
    >>> Norm(kind="lp", groups=(3,), order=float("inf")).to_dict()
    {'kind': 'lp', 'groups': [3], 'order': 'inf'}
    """

    kind: NormKind
    groups: tuple[int, ...]
    complete: tuple[bool, ...] | None = None
    order: float | None = None
    sizes: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        kind = _validate.choice(among=get_args(NormKind), kind=self.kind)
        groups = tuple(
            _validate.integer(groups=n, at_least=0 if self.complete else 1)
            for n in _validate.non_empty(groups=self.groups)
        )
        complete = self.complete
        if complete is not None:
            complete = _validate.booleans(complete=complete)
            if kind not in ("added", "replaced") or len(complete) != len(groups):
                raise ArgumentError("complete", complete, "is for each group of the kinds 'added' and 'replaced'")
            for n, is_complete in zip(groups, complete, strict=True):
                if n == 0 and not is_complete:
                    raise ArgumentError("groups", groups, "only a complete group may have no free coordinate")
            if kind == "replaced" and not any(groups):
                raise ArgumentError("groups", groups, "must have a free coordinate")
            complete = complete if any(complete) else None
        order, sizes = self.order, self.sizes
        if kind == "lp":
            order = norm_order(order=order)
            if len(groups) != 1:
                raise ArgumentError("groups", groups, "must be the one dimension of the kind 'lp'")
        elif order is not None or sizes is not None:
            raise ArgumentError("order" if sizes is None else "sizes", order if sizes is None else sizes, "is for 'lp'")
        if sizes is not None:
            sizes = tuple(_validate.positive(sizes=size) for size in _validate.non_empty(sizes=sizes))
            if len(sizes) != groups[0]:
                raise ArgumentError("sizes", sizes, f"must be one for each of {groups[0]} coordinates")
        for name, value in (("groups", groups), ("complete", complete), ("order", order), ("sizes", sizes)):
            object.__setattr__(self, name, value)

    @property
    def cells(self) -> tuple[int, ...]:
        """How many values of each group are released: a complete group has one more than free coordinates."""
        return tuple(n + more for n, more in zip(self.groups, self.complete or (0,) * len(self.groups), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are not None as JSON has them; an infinite order, which it has not, as text."""
        found = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
        return {name: "inf" if value == math.inf else value for name, value in found.items() if value is not None}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Norm:
        """Return the norm that `to_dict` wrote."""
        if not isinstance(record, dict):
            raise ArgumentTypeError("norm", record, "must be a record")
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in record.items()
        }
        return cls(**{**given, "order": math.inf} if given.get("order") == "inf" else given)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseLaw:
    """Generalized Gaussian noise, independent in every coordinate; or noise of a norm of the whole vector.

    Attributes
    ----------
    order, scale : float
        Order p >= 1 and scale b: the density, or the probability of an integer x, is proportional to exp(-(|x|/b)^p).
    support : {"real", "integer"}
        Where the noise lives.
    bounding : {"truncated", "boundary-inflated"}, optional
        What keeps the noisy value in bounds; None for unbounded noise.
    norm : Norm, optional
        For noise on a whole vector x: the density, or probability, is proportional to exp(-||x||/b), and the order 1.

    Examples
    --------
    >>> NoiseLaw(order=2, scale=3.0).with_scale(4.0)
    NoiseLaw(order=2.0, scale=4.0, support='real', bounding=None, norm=None)
    """

    order: float
    scale: float
    support: Support = "real"
    bounding: Bounding | None = None
    norm: Norm | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", _validate.order(order=self.order))
        object.__setattr__(self, "scale", _validate.positive(scale=self.scale))
        _validate.choice(among=SUPPORTS, support=self.support)
        if self.bounding is not None:
            _validate.choice(among=BOUNDINGS, bounding=self.bounding)
        if self.norm is not None:
            if not isinstance(self.norm, Norm):
                raise ArgumentError("norm", self.norm, "must be a Norm")
            support = "real" if self.norm.kind == "lp" else "integer"
            if self.order != 1.0 or self.bounding is not None or self.support != support:
                expected = f"needs order = 1.0, support = {support!r}, and no bounding"
                raise ArgumentError("norm", self.norm.kind, expected)

    def to_dict(self) -> dict[str, Any]:
        """Return the law as certificates have it: without a norm where it has none."""
        found = {name: getattr(self, name) for name in ("order", "scale", "support", "bounding")}
        return found if self.norm is None else {**found, "norm": self.norm.to_dict()}

    def with_scale(self, scale: float) -> NoiseLaw:
        """Return the same law with another scale."""
        return replace(self, scale=scale)
