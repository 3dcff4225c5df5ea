"""What every bound has in common: a name, a quantity, typed parameters, and an enclosure of the quantity for a law.

A bound is a statement about generalized Gaussian noise: under its parameters (how far a query moves, at which epsilon)
the quantity, delta or the pure loss epsilon, is at most the upper end of `Bound.enclose(law)`.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from flint import arb, ctx

from ggdp._balls import BALLS, lower_float, upper_float, working_precision
from ggdp._work import spend
from ggdp.errors import ArgumentError
from ggdp.proofs.noise_law import NoiseLaw, Support

if TYPE_CHECKING:
    from ggdp.proofs.layouts import AbsoluteSumLayout, CornerLayout
    from ggdp.proofs.worst_case import WorstCase


# The precision of a comparison of rational numbers.
EXACT = 0
# 96 bits are enough for most proofs; each next precision is tried where the ball is still too wide.
PRECISIONS = (96, 192, 384, 768, 1536, 3072)
# A float has 53 bits: a bound that is known to this relative width is known to its last digits.
NARROW = 1e-13
# Close to the least floats there are no digits left to agree in.
TINY = 1e-290
# Units of work of a bound of one coordinate.
_SCALAR = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Enclosure:
    """Two floats with the exact value of a delta or of a privacy loss between them."""

    # The ends. `lower` is 0 where only an upper bound is proved.
    lower: float
    upper: float
    precision: int  # bits of the ball arithmetic; 0 where rational numbers were compared exactly
    # Whether a branch and bound ended at its limit of steps, so that more bits would not make it narrower.
    exhausted: bool = False

    @property
    def is_narrow(self) -> bool:
        """Whether the ends agree to the digits of a float."""
        return self.upper - self.lower <= NARROW * abs(self.upper) < math.inf or 0.0 <= self.lower <= self.upper < TINY


def enclosure_of(value: arb) -> Enclosure:
    """Return the enclosure of a ball, at the working precision."""
    return Enclosure(lower=lower_float(value), upper=upper_float(value), precision=ctx.prec)


def accurate(value: Callable[[], arb], bits: int = 50) -> arb:
    """Return a ball with so many accurate bits, at growing precision, or else the last one."""
    for precision in PRECISIONS:
        spend(_SCALAR, precision)
        with BALLS, working_precision(precision):
            found = value()
            if found.rel_accuracy_bits() >= bits:
                break
    return found


class Bound(ABC):
    """One way to prove a scale; subclasses are frozen dataclasses of the bound's parameters.

    Parameters of one name mean the same in every bound: `sensitivity` and `joint` are norms of the whole change,
    `corner` has the changes of single coordinates, `coordinates` those of coordinates that are kept in bounds.
    """

    __slots__ = ()

    name: ClassVar[str]  # the name in certificates
    statement: ClassVar[str]  # what the bound says, in words
    quantity: ClassVar[Literal["delta", "epsilon"]] = "delta"  # what is bounded
    # Whether it is the exact quantity rather than an upper bound, so that a smaller scale can be proved to fail.
    exact: ClassVar[bool] = False
    # Relative distance between the computed bound and the one that a certificate states, so that another version of the
    # arithmetic proves the same statement.
    margin: ClassVar[float] = 2.0**-40
    # Type of the field `layout`, where the bound is proved by a convolution.
    layout_type: ClassVar[type[CornerLayout] | type[AbsoluteSumLayout] | None] = None
    most_moving: ClassVar[int | None] = None  # the most coordinates that it is searched for; None without a limit
    # Whether it falls as the scale grows on the integers too, so that a larger scale is valid as well.
    monotone: ClassVar[bool] = False
    ignores_joint: ClassVar[bool] = False  # whether it makes no use of a joint norm of the change
    usual_precisions: ClassVar[tuple[int, ...]] = PRECISIONS  # in bits, for laws that do not need others

    @classmethod
    @abstractmethod
    def applicable(cls, case: WorstCase, notion: str, epsilon: float) -> Iterator[Applicable]:
        """Return the bounds of this kind that hold in a case, for "pure", "probabilistic" or "approximate" DP."""

    @abstractmethod
    def at_precision(self, law: NoiseLaw, bits: int) -> Enclosure:
        """Enclose the quantity for a law, computed with so many bits. Every precision gives a valid enclosure."""

    def precisions(self, law: NoiseLaw) -> tuple[int, ...]:  # noqa: ARG002 - for bounds that need more bits for some laws
        """Return the precisions that `enclose` tries."""
        return self.usual_precisions

    def enclose(self, law: NoiseLaw) -> Enclosure:
        """Enclose the quantity for a law, at the first precision that makes it narrow."""
        for bits in self.precisions(law):
            spend(_SCALAR, bits)
            found = self.at_precision(law, bits)
            if found.is_narrow or found.exhausted:
                break
        return found

    def value_to_state(self, found: Enclosure, target: float) -> float | None:
        """Return what a certificate states of an enclosure, at most the target; None if that is not reached."""
        if not found.upper <= target:
            return None
        stated = max(found.upper, 0.0) * (1.0 + self.margin)
        # What is the exact quantity can be proved again by any arithmetic, if only with more bits.
        return min(stated, target) if self.exact or stated <= target else None

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as JSON has them, tuples as lists."""
        return dict(json.loads(json.dumps(asdict(self))))  # type: ignore[call-overload]

    @classmethod
    def from_dict(cls, parameters: dict[str, Any]) -> Self:
        """Return the bound that `to_dict` wrote."""
        given = {name: _freeze(value) for name, value in parameters.items()}
        if cls.layout_type is not None and given["layout"] is not None:
            given["layout"] = cls.layout_type.from_dict(parameters["layout"])
        return cls(**given)

    @property
    def claim(self) -> Self:
        """The same bound without the choices of a proof, such as a grid: what it is about."""
        return self

    @property
    def known_sizes(self) -> tuple[tuple[float, int], ...]:
        """The changes of single coordinates that it names: how far, and how many."""
        return getattr(self, "corner", ()) or tuple((size, count) for _, size, count in self.known_bounds)

    @property
    def known_bounds(self) -> tuple[tuple[float, float, int], ...]:
        """The coordinates in bounds that it names: their width, how far they change, and how many."""
        return getattr(self, "coordinates", ())

    @property
    def known_norms(self) -> tuple[float, ...]:
        """The norms of whole changes that it names."""
        norms = (getattr(self, name, None) for name in ("sensitivity", "joint"))
        return tuple(float(norm) for norm in norms if norm is not None)


@dataclass(frozen=True, slots=True)
class Applicable:
    """A bound that holds for a query and a kind of noise."""

    bound: Bound
    # Why a scale that is found by it need not be the least; None where it is.
    note: str | None = None
    # Whether a scale is searched by it: another bound is known to be as good where it is not.
    searched: bool = True


def _freeze(value: object) -> object:
    return tuple(_freeze(item) for item in value) if isinstance(value, list) else value


def require_unbounded(law: NoiseLaw, support: Support | None = None) -> None:
    """Check that a law is of independent noise without bounds, and has the support that a bound is about."""
    if law.bounding is not None:
        raise ArgumentError("bounding", law.bounding, "this bound is about unbounded noise")
    if law.norm is not None:
        raise ArgumentError("norm", law.norm.kind, "this bound is about noise that is independent in every coordinate")
    if support is not None and law.support != support:
        raise ArgumentError("support", law.support, f"this bound is about noise on the {support}s")
