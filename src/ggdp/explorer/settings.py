"""Settings of a view: a frozen attrs record whose fields are also parameters of the explorer's address.

A field has a default and a converter that checks and converts values from an input or from the address. A number also
has the ends of its slider (`ggdp.explorer.view.quantity`). Only settings that differ from their defaults are in the
address, so addresses are short and stay valid when a setting is added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode

import attrs
from attrs import frozen

from ggdp import _validate
from ggdp.errors import ArgumentError, GgdpError
from ggdp.explorer.equivalents import goal_code
from ggdp.privacy import ApproxDP, Guarantee, ProbabilisticDP, PureDP

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


_T = TypeVar("_T")
# Characters of a name, and of lines of declarations.
SHORT, LONG = 200, 5_000


def number(default: float, *, low: float, high: float, scale: str = "log") -> Any:  # noqa: ANN401 - a field, whose type the class declares
    """Return a field for a number from `low` to `high`; its slider has a linear or log `scale`."""
    ends = {"low": low, "high": high, "scale": scale, "whole": False}
    return _field(default, lambda name, value: _between(name, _number(name, value), low, high), ends)


def integer(default: int, *, low: int, high: int, scale: str = "log") -> Any:  # noqa: ANN401
    """Return a field for a whole number from `low` to `high`; its slider has a linear or log `scale`."""

    def check(name: str, value: object) -> int:
        found = _between(name, _number(name, value), low, high)
        if found != int(found):
            raise ArgumentError(name, value, "must be a whole number")
        return int(found)

    return _field(default, check, {"low": low, "high": high, "scale": scale, "whole": True})


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


def from_address(kind: type[_T], parameters: Mapping[str, str]) -> _T:
    """Return the settings that an address holds; what it lacks, or has wrong, is the default."""
    found: dict[str, Any] = {}
    for field in attrs.fields(kind):  # type: ignore[arg-type]
        if field.name not in parameters:
            continue
        try:
            kind(**{field.name: parameters[field.name]})
        except GgdpError:
            continue
        found[field.name] = parameters[field.name]
    return kind(**found)


def from_inputs(kind: type[_T], inputs: Any) -> _T:  # noqa: ANN401 - the inputs of a Shiny module
    """Return the settings that the inputs of a view hold, each input by the name of its field.

    Raises
    ------
    ArgumentError
        If an input has no valid value.
    """
    return kind(**{field.name: inputs[field.name]() for field in attrs.fields(kind)})  # type: ignore[arg-type]


def query_string(view: str, settings: object) -> str:
    """Return the part of the address that holds a view and its settings, as ``view=noise&epsilon=0.5``."""
    fields: tuple[Any, ...] = attrs.fields(type(settings))  # type: ignore[arg-type]
    given = {field.name: getattr(settings, field.name) for field in fields}
    changed = {field.name: _write_value(given[field.name]) for field in fields if given[field.name] != field.default}
    return urlencode({"view": view, **changed})


def _write_value(value: object) -> str:
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _field(default: object, check: Callable[[str, Any], Any], ends: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401
    def convert(value: object, _: object, field: attrs.Attribute[Any]) -> object:
        return check(field.name, value)

    converter = attrs.Converter(convert, takes_self=True, takes_field=True)
    return attrs.field(default=default, converter=converter, metadata=dict(ends or {}))


def _number(name: str, value: object) -> float:
    try:
        return _validate.finite(**{name: float(value)})  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ArgumentError(name, value, "must be a number") from None


def _between(name: str, value: float, low: float, high: float) -> float:
    if not low <= value <= high:
        raise ArgumentError(name, value, f"must be from {low:g} to {high:g}")
    return value


@frozen(kw_only=True)
class PromiseSettings:
    """A promise to the people in the data."""

    epsilon: float = number(1.0, low=0.01, high=20.0)
    notion: str = choice("approximate", "pure", "probabilistic")
    delta: float = number(1e-6, low=1e-12, high=0.5)
    neighbours: str = choice("add-remove", "replace-one")

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
