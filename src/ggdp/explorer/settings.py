"""Settings of a view: a frozen attrs record whose fields are also parameters of the explorer's address.

A field has a default and a converter that checks and converts values from an input or from the address. A number also
has the ends of its slider (`ggdp.explorer.view.quantity`). Only settings that differ from their defaults are in the
address, so addresses are short and stay valid when a setting is added. The rest writes what settings ask for as a
command line and Python code, to be copied.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar
from urllib.parse import urlencode

import attrs

from ggdp import _validate
from ggdp._records import Check
from ggdp.errors import ArgumentError, GgdpError
from ggdp.privacy import Guarantee, PureDP
from ggdp.tables.request import goal_of

_T = TypeVar("_T")
# Characters of a name, and of lines of declarations.
SHORT, LONG = 200, 5_000


def number(default: float, *, low: float, high: float, scale: str = "log", whole: bool = False) -> Any:  # noqa: ANN401 - a field, whose type the class declares
    """Return a field for a number from `low` to `high`; its slider has a linear or log `scale`."""

    def check(name: str, value: Any) -> float:  # noqa: ANN401 - typed by anybody
        try:
            found = _validate.finite(**{name: float(value)})
        except (TypeError, ValueError):
            raise ArgumentError(name, value, "must be a number") from None
        if not low <= found <= high:
            raise ArgumentError(name, found, f"must be from {low:g} to {high:g}")
        if whole and found != int(found):
            raise ArgumentError(name, value, "must be a whole number")
        return int(found) if whole else found

    return _field(default, check, low=low, high=high, scale=scale, whole=whole)


def choice(default: str, *among: str) -> Any:  # noqa: ANN401
    """Return a field for one of a few words."""
    return _field(default, lambda name, value: _validate.choice(among=(default, *among), **{name: value}))


def text(default: str = "", *, longest: int = SHORT) -> Any:  # noqa: ANN401
    """Return a field for a text, such as the name of a column."""

    def check(name: str, value: object) -> str:
        found = "" if value is None else str(value)
        if len(found) > longest:
            raise ArgumentError(name, f"{found[:20]}...", f"must have at most {longest:,} characters")
        return found

    return _field(default, check)


def _field(default: object, check: Callable[[str, Any], Any], **ends: object) -> Any:  # noqa: ANN401
    converter = Check(lambda **named: check(*next(iter(named.items()))), object(), {})
    return attrs.field(default=default, converter=converter, metadata=ends)


def from_address(kind: type[_T], parameters: Mapping[str, str]) -> _T:
    """Return the settings that an address holds; what it lacks, or has wrong, is the default."""
    found: dict[str, Any] = {}
    for field in attrs.fields(kind):  # type: ignore[arg-type]
        if field.name in parameters:
            with suppress(GgdpError):
                kind(**{field.name: parameters[field.name]})
                found[field.name] = parameters[field.name]
    return kind(**found)


def query_string(view: str, settings: object) -> str:
    """Return the part of the address that holds a view and its settings, as ``view=noise&epsilon=0.5``."""
    fields: tuple[Any, ...] = attrs.fields(type(settings))  # type: ignore[arg-type]
    given = {field.name: getattr(settings, field.name) for field in fields}
    changed = {field.name: given[field.name] for field in fields if given[field.name] != field.default}
    texts = {name: f"{value:.15g}" if isinstance(value, float) else value for name, value in changed.items()}
    return urlencode({"view": view, **texts})


def command_line(*words: str, **flags: object) -> str:
    """Return a command line of ggdp; a flag that is None is left out."""
    given = {f"--{name.replace('_', '-')}": value for name, value in flags.items() if value is not None}
    return shlex.join(["ggdp", *words, *(part for name, value in given.items() for part in (name, value_text(value)))])


def value_text(value: object) -> str:
    """Return a value as it is typed: a float so that it reads back exactly, and without a needless point."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)


def goal_code(goal: Guarantee) -> str:
    """Return a goal as Python code; pure DP has no delta."""
    numbers = (goal.epsilon,) if isinstance(goal, PureDP) else (goal.epsilon, goal.delta)
    return f"ggdp.{type(goal).__name__}({', '.join(map(value_text, numbers))})"


class HasGoal:
    """Settings with an epsilon, a notion, and a delta that counts unless the notion is pure."""

    epsilon: float
    notion: str
    delta: float

    @property
    def goal(self) -> Guarantee:
        """The goal of the settings."""
        return goal_of(**self.goal_flags)

    @property
    def goal_flags(self) -> dict[str, Any]:
        """The goal as flags of the command line; None are left out."""
        return {
            "epsilon": self.epsilon,
            "delta": None if self.notion == "pure" else self.delta,
            "notion": self.notion if self.notion == "probabilistic" else None,
        }
