"""The promise that two views ask for: a notion of privacy with its numbers, as a goal, as flags and as Python code."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from ggdp.explorer import settings as fields
from ggdp.explorer.equivalents import goal_code
from ggdp.privacy import ApproxDP, Guarantee, ProbabilisticDP, PureDP

__all__ = ["PromiseSettings"]


@frozen(kw_only=True)
class PromiseSettings:
    """A promise to the people in the data."""

    epsilon: float = fields.number(1.0, low=0.01, high=20.0)
    notion: str = fields.choice("approximate", "pure", "probabilistic")
    delta: float = fields.number(1e-6, low=1e-12, high=0.5)
    neighbours: str = fields.choice("add-remove", "replace-one")

    @property
    def goal(self) -> Guarantee:
        """The promise as a goal."""
        if self.notion == "pure":
            return PureDP(self.epsilon)
        return (ApproxDP if self.notion == "approximate" else ProbabilisticDP)(self.epsilon, self.delta)

    @property
    def goal_flags(self) -> dict[str, Any]:
        """The promise as flags of the command line; None are left out."""
        return {
            "epsilon": self.epsilon,
            "delta": None if self.notion == "pure" else self.delta,
            "notion": self.notion if self.notion == "probabilistic" else None,
        }

    @property
    def goal_code(self) -> str:
        """The promise as Python code."""
        return goal_code(self.notion, self.epsilon, self.delta)
