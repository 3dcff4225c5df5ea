"""Guarantees: pure, probabilistic and approximate differential privacy.

A mechanism R, applied to neighboring data x and x', is

========================  =============================================================================
pure eps-DP               P(R(x) in Q) <= e^eps P(R(x') in Q) for every set Q
(eps, delta)-pDP          the loss at an output drawn from R(x) is above eps in absolute value with probability
                          at most delta
(eps, delta)-aDP          P(R(x) in Q) <= e^eps P(R(x') in Q) + delta for every set Q
========================  =============================================================================

Pure implies probabilistic implies approximate. Pure and approximate guarantees survive every post-processing; a
probabilistic one does not, and is an approximate one afterwards (`after_postprocessing`).

Neighbouring data sets differ by one unit: added or removed, or replaced by another.

References
----------
Liu, "Generalized Gaussian Mechanism for Differential Privacy", arXiv 1602.06028 v5, Eqns dp, adp and pdp (the last
read over outputs, not over sets).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, ClassVar, Literal, Self, TypeAlias, cast, get_args

from ggdp import _validate
from ggdp._rounding import rounded_up_text
from ggdp.errors import ArgumentError, ArgumentTypeError

Neighbours: TypeAlias = Literal["add-remove", "replace-one"]

NEIGHBOURS: tuple[str, ...] = get_args(Neighbours)


def validated_neighbours(neighbours: object) -> Neighbours:
    """Return `neighbours` if it is one of the two relations."""
    return cast("Neighbours", _validate.choice(among=NEIGHBOURS, neighbours=neighbours))


Notion: TypeAlias = Literal["pure", "probabilistic", "approximate"]

_RANK: dict[str, int] = {"pure": 0, "probabilistic": 1, "approximate": 2}


class _Guarantee:
    """Base of the three notions: the order by implication, and the text."""

    __slots__ = ()

    if TYPE_CHECKING:
        notion: ClassVar[Notion]
        epsilon: float
        neighbours: Neighbours | None

        @property
        def delta(self) -> float: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _validate.positive(epsilon=self.epsilon))
        if self.neighbours is not None:
            validated_neighbours(self.neighbours)

    def implies(self, other: _Guarantee) -> bool:
        """Return whether this guarantee implies `other`, from the notions and numbers alone.

        Epsilon is not traded for delta. A guarantee for one relation of neighbours implies none for the other
        relation; if `other` has no relation, only the numbers are compared.

        Examples
        --------
        >>> PureDP(1.0).implies(ApproxDP(1.0, 1e-6))
        True
        >>> ApproxDP(1.0, 1e-6).implies(ProbabilisticDP(1.0, 1e-6))
        False
        """
        if other.neighbours is not None and self.neighbours != other.neighbours:
            return False
        return (
            (_RANK[self.notion] <= _RANK[other.notion] or self.delta == 0.0)
            and self.epsilon <= other.epsilon
            and self.delta <= other.delta
        )

    def __le__(self, other: object) -> bool:
        """``a <= b``: b is at least as strong as a: b implies a."""
        return other.implies(self) if isinstance(other, _Guarantee) else NotImplemented

    def __ge__(self, other: object) -> bool:
        """``a >= b``: a implies b."""
        return self.implies(other) if isinstance(other, _Guarantee) else NotImplemented

    def __lt__(self, other: object) -> bool:
        """``a < b``: b implies a, and a does not imply b."""
        return self <= other and not self >= other if isinstance(other, _Guarantee) else NotImplemented

    def __gt__(self, other: object) -> bool:
        """``a > b``: a implies b, and b does not imply a."""
        return self >= other and not self <= other if isinstance(other, _Guarantee) else NotImplemented

    def under(self, neighbours: Neighbours) -> Self:
        """Return the same guarantee for a relation of neighbours."""
        return replace(self, neighbours=neighbours)  # type: ignore[type-var]

    def to_approximate(self) -> ApproxDP:
        """Return the approximate guarantee that this one implies, with the same numbers."""
        return ApproxDP(self.epsilon, self.delta, self.neighbours)

    def after_postprocessing(self) -> PureDP | ApproxDP:
        """Return the guarantee after any post-processing: of a probabilistic one the approximate one, else itself.

        The Gaussian with standard deviation 2.6213 at sensitivity 1 is (1, 0.01)-pDP; clamped at 6.47 it is only
        (1, 0.0209)-pDP, while (1, 0.01)-aDP still holds. Probabilistic DP at delta 0 is pure.
        """
        if self.notion != "approximate" and self.delta == 0.0:
            return PureDP(self.epsilon, self.neighbours)
        return self.to_approximate()

    def to_dict(self) -> dict[str, object]:
        """Return notion, epsilon, delta and neighbours as plain values."""
        return {name: getattr(self, name) for name in ("notion", "epsilon", "delta", "neighbours")}

    def __str__(self) -> str:
        epsilon, delta = rounded_up_text(self.epsilon), rounded_up_text(self.delta)
        said = f"{epsilon}-DP" if self.notion == "pure" else f"({epsilon}, {delta})-{self.notion[0]}DP"
        return said + (f" under {self.neighbours} neighbours" if self.neighbours else "")


@dataclass(frozen=True, slots=True)
class PureDP(_Guarantee):
    """Pure epsilon-differential privacy.

    Parameters
    ----------
    epsilon : float
        Bound on the privacy loss, above 0.
    neighbours : {"add-remove", "replace-one"}, optional
        The relation that the guarantee is for. A goal needs none: the relation comes from the sensitivity.

    Examples
    --------
    >>> print(PureDP(1.0, "add-remove"))
    1-DP under add-remove neighbours
    >>> PureDP(1.0).to_approximate()
    ApproxDP(epsilon=1.0, delta=0.0, neighbours=None)
    """

    notion: ClassVar[Notion] = "pure"

    epsilon: float
    neighbours: Neighbours | None = None

    @property
    def delta(self) -> float:
        """Always 0."""
        return 0.0

    def to_probabilistic(self) -> ProbabilisticDP:
        """Return the probabilistic guarantee that this one implies, with delta 0."""
        return ProbabilisticDP(self.epsilon, 0.0, self.neighbours)


@dataclass(frozen=True, slots=True)
class _WithDelta(_Guarantee):
    """Base of the two notions with a delta."""

    epsilon: float
    delta: float
    neighbours: Neighbours | None = None

    def __post_init__(self) -> None:
        _Guarantee.__post_init__(self)
        object.__setattr__(self, "delta", _validate.probability(delta=self.delta))


@dataclass(frozen=True, slots=True)
class ProbabilisticDP(_WithDelta):
    """Probabilistic (epsilon, delta)-differential privacy.

    Parameters
    ----------
    epsilon : float
        Bound on the size of the privacy loss, above 0.
    delta : float
        Probability, in [0, 1), with which the loss may be above `epsilon` in absolute value.
    neighbours : {"add-remove", "replace-one"}, optional
        The relation that the guarantee is for.

    Examples
    --------
    >>> goal = ProbabilisticDP(1.0, 0.05)
    >>> print(goal)
    (1, 0.05)-pDP
    >>> goal.after_postprocessing()
    ApproxDP(epsilon=1.0, delta=0.05, neighbours=None)
    """

    notion: ClassVar[Notion] = "probabilistic"

    def to_probabilistic(self) -> ProbabilisticDP:
        """Return the guarantee itself."""
        return self


@dataclass(frozen=True, slots=True)
class ApproxDP(_WithDelta):
    """Approximate (epsilon, delta)-differential privacy.

    Parameters
    ----------
    epsilon : float
        Bound on the privacy loss, above 0.
    delta : float
        Slack in probability, in [0, 1).
    neighbours : {"add-remove", "replace-one"}, optional
        The relation that the guarantee is for.

    Examples
    --------
    >>> print(ApproxDP(1.0, 1e-6))
    (1, 1e-06)-aDP
    """

    notion: ClassVar[Notion] = "approximate"


Guarantee: TypeAlias = PureDP | ProbabilisticDP | ApproxDP


def as_goal(
    goal: Guarantee | float | None,
    epsilon: float | None = None,
    delta: float | None = None,
    *,
    argument: str = "goal",
    instead: str = "",
) -> Guarantee:
    """Return a goal that is given as itself, as the epsilon of pure DP, or by `epsilon` and perhaps `delta`."""
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        if value is not None and goal is not None:
            raise ArgumentError(name, value, f"is part of `{argument}`, which is given too; give one of them")
    if epsilon is not None:
        return PureDP(epsilon) if delta is None else ApproxDP(epsilon, delta)
    if delta is not None:
        raise ArgumentError("delta", delta, "needs `epsilon`")
    if isinstance(goal, Real) and not isinstance(goal, bool):
        return PureDP(_validate.positive(**{argument: goal}))
    if not isinstance(goal, Guarantee):
        said = "must be a goal, such as PureDP(1.0) or ApproxDP(1.0, 1e-6), or give `epsilon`, perhaps with `delta`"
        raise ArgumentTypeError(argument, goal, f"{said}{instead}")
    return goal
