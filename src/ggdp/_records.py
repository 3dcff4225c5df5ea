"""Fields of records: checked when the record is made, and documented for each door through which they are set.

A field that users set is declared once, with its documentation and its flags. Python signatures and their docstrings,
the command line, TOML files and the explorer's form are derived from these declarations.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

import attrs
from attrs import Attribute, Factory, evolve, field, fields, fields_dict

Value = TypeVar("Value")
Default = TypeVar("Default")
Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")


@dataclass(frozen=True)
class Check:
    """A check of the values of a field but for its default: a converter that learns the field's name in `frozen`."""

    check: Callable[..., Any]
    default: object
    limits: Mapping[str, object]
    name: str = ""

    def __call__(self, value: object) -> Any:  # noqa: ANN401 - whatever the check returns
        return value if value is self.default else self.check(**{self.name: value}, **self.limits)


def named_checks(_: type, parts: list[Attribute[Any]]) -> list[Attribute[Any]]:
    """Return the fields of a record, whose checks know their names."""
    return [
        part.evolve(converter=replace(check, name=check.name or part.name))
        if isinstance(check := part.converter, Check)
        else part
        for part in parts
    ]


if TYPE_CHECKING:
    # As type checkers know it.
    from attrs import frozen as frozen
else:
    # Before version 24.1, which other libraries exclude, converters of attrs are not given the field.
    frozen = partial(attrs.frozen, field_transformer=named_checks)


_OPTION = "option"
_WIDTH, _INDENT = 112, "    "


@frozen
class Flag:
    """A flag of the command line, and the input of the explorer's form that stands for it."""

    help: str  # its line in ``--help``
    metavar: str | None = None  # what stands for the value in ``--help``
    kind: Any = str | None  # what is typed: a type that typer knows
    label: str | None = field(default=None, kw_only=True)  # the label of its input in the explorer; None without one
    default: Any = field(default=None, kw_only=True)  # its value where it is not given
    required: bool = field(default=False, kw_only=True)  # whether it must be given
    name: str = field(default="", kw_only=True)  # without its dashes, with underscores; by default the field's

    @property
    def typed(self) -> str:
        """The flag as it is typed."""
        return f"--{self.name.replace('_', '-')}"


@frozen
class Option:
    """What is known of a field that users set, next to its type and its check."""

    # Its type and its description in docstrings.
    kind: str
    doc: str
    flags: tuple[Flag, ...] = ()  # flags that it is read from; none if the command line cannot set it
    key: str | None = None  # its key in a TOML file, with the table that holds it ("unit.column"); by default its name


def documentation(kind: str, doc: str, *flags: Flag, key: str | None = None) -> dict[str, Option]:
    """Return the metadata of a field: ``field(converter=..., metadata=documentation("str", "The column."))``."""
    return {_OPTION: Option(kind, doc, flags, key)}


def like(record: type, name: str, **changed: Any) -> dict[str, Option]:  # noqa: ANN401 - attributes of an option
    """Return the metadata of a field of another record, perhaps with changes."""
    return {_OPTION: evolve(fields_dict(record)[name].metadata[_OPTION], **changed)}


def option(
    kind: str,
    doc: str,
    *flags: Flag,
    default: object = None,
    check: Callable[..., Any] | None = None,
    key: str | None = None,
    **limits: object,
) -> Any:  # noqa: ANN401 - type checkers take the field's own type
    """Return a documented field with a default, given by name, whose other values are checked as in `checked_field`."""
    converter = None if check is None else Check(check, default, limits)
    metadata = documentation(kind, doc, *flags, key=key)
    return field(default=default, converter=converter, kw_only=True, metadata=metadata)


def checked_field(check: Callable[..., Value], *, default: Default, **limits: object) -> Value | Default:
    """Return a field with a default, whose other values are checked and converted, as by `ggdp._validate.integer`.

    Errors name the field: ``scale: float | None = checked_field(_validate.positive, default=None)``. Fields without a
    default take a named function, ``field(converter=...)``: type checkers know no others, and would take this call for
    a default.
    """
    return cast("Value | Default", field(default=default, converter=Check(check, default, limits)))


@cache
def options(*records: type) -> Mapping[str, tuple[Attribute[Any], Option]]:
    """Return the fields of records that users set, by their names, as in a call: those given by position first."""
    found: dict[str, Attribute[Any]] = {}
    for record in records:
        for part in fields(record):
            if _OPTION in part.metadata:
                # A field of several records stands where the last of them has it.
                found.pop(part.name, None)
                found[part.name] = part
    named = {}
    for part in sorted(found.values(), key=lambda part: part.kw_only):
        said = part.metadata[_OPTION]
        flags = tuple(evolve(flag, name=flag.name or part.name) for flag in said.flags)
        named[part.name] = part, evolve(said, flags=flags)
    return MappingProxyType(named)


def takes(
    record: Callable[Arguments, object], *last: type
) -> Callable[[Callable[..., Result]], Callable[Arguments, Result]]:
    """Return a decorator that gives a function the arguments of a record, to type checkers and editors, too.

    The function takes them as ``**given``. Where its docstring has ``{arguments}``, they are described. Those of the
    records `last` come last.
    """
    parts = options(cast("type", record), *last)
    return lambda function: cast("Callable[Arguments, Result]", _with_arguments(function, parts))


def takes_data(
    record: Callable[Arguments, object], *last: type
) -> Callable[[Callable[..., Result]], Callable[Concatenate[Any, Arguments], Result]]:
    """Return a decorator as `takes` does, for a function whose first argument is the data."""
    parts = options(cast("type", record), *last)
    return lambda function: cast("Callable[Concatenate[Any, Arguments], Result]", _with_arguments(function, parts))


def _with_arguments(function: Callable[..., Any], parts: Mapping[str, tuple[Attribute[Any], Option]]) -> object:
    own = inspect.signature(function)
    parameters = [value for value in own.parameters.values() if value.kind is not inspect.Parameter.VAR_KEYWORD]
    known, lines = {value.name for value in parameters}, []
    for name, (part, said) in parts.items():
        lines += [
            f"{name} : {said.kind}",
            *textwrap.wrap(said.doc, _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT),
        ]
        if name not in known:
            default = None if isinstance(part.default, Factory) else part.default  # type: ignore[arg-type]
            kind = inspect.Parameter.KEYWORD_ONLY
            parameters.append(inspect.Parameter(name, kind, default=default, annotation=part.type))

    function.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    function.__doc__ = inspect.cleandoc(function.__doc__ or "").replace("{arguments}", "\n".join(lines))
    return function
