"""Fields of records that are checked when the record is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import Converter, field

if TYPE_CHECKING:
    from collections.abc import Callable

    from attrs import Attribute

Value = TypeVar("Value")
Default = TypeVar("Default")


def checked(check: Callable[..., Value], *, default: Default, **limits: object) -> Value | Default:
    """Return a field with a default, whose other values are checked and converted, as by `ggdp._validate.integer`.

    Errors name the field: ``max_cells: int | None = checked(_validate.integer, default=None, at_least=1)``. Fields
    without a default take a named function, ``field(converter=...)``: type checkers know no others, and would take this
    call for a default.
    """

    def converted(value: object, part: Attribute[Any]) -> object:
        return value if value is default else check(**{part.name: value}, **limits)

    return cast("Value | Default", field(default=default, converter=Converter(converted, takes_field=True)))
