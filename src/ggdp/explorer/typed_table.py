"""A table as it is typed in the explorer's form: texts in the notation of the command's flags, and what they ask for.

The views of tables share it. Inputs and their labels are those of the request (`ggdp.tables.request`), and they are
read by the functions that read the flags of ``ggdp release``: the explorer, the command line and the Python code that
it shows ask for the same.
"""

from __future__ import annotations

import datetime
import math
import shlex
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from attrs import evolve, field, frozen

from ggdp._records import options
from ggdp.cli.flags import CHECK, RELEASE, arguments_of, mention_flag, reworded, title_of_flag
from ggdp.errors import ArgumentError, GgdpError, Message, PrivacyWarning
from ggdp.explorer.equivalents import goal_code, written
from ggdp.tables.request import CheckArguments, PlanArguments

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ggdp._records import Flag
    from ggdp.domain.table_domain import Domain
    from ggdp.tables import TablePlan

# Labels of the inputs, by the names of the flags that they stand for.
LABELS = {flag.name: flag.label for flag in RELEASE if flag.label is not None}
_STATISTICS = [flag.name for flag in RELEASE if flag.label == LABELS["mean"]]
# Longer runs of integers are written as ranges.
_FEW = 5
# How messages of the explorer name what has several inputs; a domain file is named when it is started.
_MENTIONS = {
    "domain": f"{LABELS['levels']} or {LABELS['bins']}",
    "or_in_domain_file": "",
    "statistics": LABELS["mean"],
    "unit": f"{LABELS['unit']} COL",
    "range": f"{LABELS['range']} COL=LOW:HIGH",
}


def _inputs() -> Iterator[tuple[str, Any]]:
    """Yield the inputs of the form, and what is in them at first: a text for each flag, lines if it can be repeated."""
    for flag in RELEASE:
        if flag.name in ("domain", "nonnegative") or (flag.label is not None and flag.name not in _STATISTICS):
            is_number = flag.name in ("epsilon", "delta") or flag.kind == int | None
            yield flag.name, flag.default if is_number or flag.default is not None else ""


# Some inputs stand for flags of other names: lines such as "mean income", the ranges of columns, and whether lines are
# records.
_INPUTS = {name: value for name, value in _inputs() if name not in ("range", "strict_lines", "analyst")} | {
    "epsilon": 1.0,
    "statistics": "",
    "ranges": "",
    "lines": "quoted",
}


# Type checkers do not see fields that are made from a mapping.
_with_inputs: Any = frozen(kw_only=True, these={name: field(default=default) for name, default in _INPUTS.items()})


@_with_inputs
class TypedTable:
    """A table as it is typed: each input as text, in the notation of its flag, a line for each column.

    Parameters
    ----------
    **typed
        What is typed, by the names of flags: ``by="ward, age"``, ``levels="ward=births,eyes"`` and so on. Also lines of
        ``statistics`` (``mean income``), ``ranges`` (``income=0:200000``), and ``lines="strict"`` if each line of a
        text file is a record.
    """

    if TYPE_CHECKING:

        def __init__(self, **typed: Any) -> None: ...  # noqa: ANN401
        def __getattr__(self, name: str) -> Any: ...  # noqa: ANN401

    def changed(self, **typed: Any) -> TypedTable:  # noqa: ANN401
        """Return the table with other inputs."""
        return cast("TypedTable", evolve(cast("Any", self), **typed))

    def plan(self) -> TablePlan:
        """Return the plan of the release; no data are read. Errors are in the words of the explorer."""
        with in_words_of_the_page(self.unit or None), warnings.catch_warnings():
            # They are shown beside the plan.
            warnings.simplefilter("ignore", PrivacyWarning)
            from ggdp.tables import plan_table

            return plan_table(**self._arguments())

    def checked(self) -> dict[str, Any]:
        """Return the arguments of `ggdp.check_table` but the data. Errors are in the words of the explorer."""
        with in_words_of_the_page(self.unit or None):
            asked = {**self._arguments(), "epsilon": self.epsilon}
            return {name: asked[name] for name in options(CheckArguments) if name in asked}

    def flags(self, among: list[Flag] = RELEASE) -> list[list[str]]:
        """Return the flags of ``ggdp release`` that ask for the same, each with its value."""
        given, found = self._given(), []
        for flag in among:
            value = given[flag.name]
            if value in (None, False, []) or (value == flag.default and not flag.required and flag.name != "epsilon"):
                continue
            if flag.name == "by":
                # Without the spaces after commas, unless a name is in quotes.
                value = [self.by.strip() if '"' in self.by else ",".join(name.strip() for name in self.by.split(","))]
            texts = value if isinstance(value, list) else [value]
            found += [[flag.typed] if value is True else [flag.typed, written(text)] for text in texts]
        return found

    def command(self, source: str, *more: str, name: str = "release") -> str:
        """Return the command line that does the same; a line for each flag."""
        lines = [f"ggdp {name} {shlex.quote(source)}"]
        lines += [shlex.join(words) for words in self.flags(RELEASE if name == "release" else CHECK)]
        for part in more:
            if part.startswith("--"):
                lines.append(part)
            else:
                lines[-1] += f" {shlex.quote(part)}"
        return " \\\n  ".join(lines)

    def python(self, call: str, source: str | None = None, more: Mapping[str, str] | None = None) -> str:
        """Return the Python code that does the same: a call of `ggdp.plan_table`, `release_table` or `check_table`."""
        with in_words_of_the_page(self.unit or None):
            asked = self.checked() if call == "check_table" else self._arguments()
        texts = {name: _literal(value) for name, value in asked.items()}
        if "domain" in asked:
            typed = (self.levels, self.bins, self.labels, self.other, self.missing, self.ranges)
            declared = "".join(typed).strip()
            texts["domain"] = _domain(asked["domain"]) if declared or not self.domain else repr(self.domain)
        if "goal" in asked:
            notion = "pure" if self.delta is None else "approximate"
            texts["goal"] = goal_code(notion, self.epsilon, self.delta or 0.0)
        lines = [f"    {name}={value}," for name, value in (texts | dict(more or {})).items()]
        first = [] if source is None else [f"    {source!r},"]
        imports = ["import datetime", "", "import ggdp"] if "datetime." in "".join(lines) else ["import ggdp"]
        return "\n".join([*imports, "", f"found = ggdp.{call}(", *first, *lines, ")"])

    def _given(self) -> dict[str, Any]:
        """Return the values of flags that ask for the same."""
        given = {flag.name: flag.default for flag in (*RELEASE, *CHECK)}
        for flag in RELEASE:
            value = getattr(self, flag.name, None)
            if isinstance(value, str):
                value = value if flag.name == "delimiter" else value.strip()
                value = [line for text in value.splitlines() if (line := text.strip())] if _repeats(flag) else value
            if value or value == 0:
                given[flag.name] = value
        given["by"] = [self.by] if self.by.strip() else None
        given["range"] = [line.strip() for line in self.ranges.splitlines() if line.strip()]
        given["strict_lines"] = self.lines == "strict"
        for line in filter(None, map(str.strip, self.statistics.splitlines())):
            kind, _, value = line.partition(" ")
            if kind.lower() not in _STATISTICS or not value.strip():
                said = "must be mean COL, sum COL, variance COL or quantile COL=0.25,0.5"
                raise ArgumentError("statistics", line, said)
            given[kind.lower()] = [*(given[kind.lower()] or ()), value.strip()]
        return given

    def _arguments(self) -> dict[str, Any]:
        """Return the arguments of `ggdp.plan_table`, without those that have their defaults."""
        if not self.by.strip() and not self.statistics.strip():
            raise ArgumentError("by", self.by, "name columns to count by, or a statistic such as mean income")
        asked = arguments_of(self._given(), PlanArguments)
        asked["by"] = None if asked["by"] is None else asked["by"][0]
        parts = options(PlanArguments)
        return {
            name: asked[name]
            for name, (part, _) in parts.items()
            if name in asked and (name in ("by", "goal", "domain") or asked[name] not in (None, [], part.default))
        }


def _repeats(flag: Flag) -> bool:
    return bool(flag.kind == list[str] | None)


def _title(argument: str, _: object) -> str:
    """Return the label of the input that an error is about."""
    if argument == "statistics":
        return LABELS["mean"]
    return LABELS.get(argument) or LABELS.get(title_of_flag(argument).removeprefix("--")) or title_of_flag(argument)


def _mention(name: str, value: str) -> str:
    """Return an argument as messages of the explorer name it."""
    if not value and name in _MENTIONS:
        return _MENTIONS[name]
    return f"{LABELS[name]} {value}".strip() if name in LABELS else mention_flag(name, value)


@contextmanager
def in_words_of_the_page(unit: str | None = None) -> Iterator[None]:
    """Make errors name the inputs of the form; `unit` is the column of units, if one is named."""
    try:
        yield
    except PageError:
        raise
    except GgdpError as refused:
        if isinstance(refused, ArgumentError):
            said = str(reworded(refused, unit, _title, _mention))
        else:
            message = refused.args[0] if refused.args else ""
            said = message.in_words_of(_mention) if isinstance(message, Message) else str(refused)
        shown = PageError(said)
        for note in getattr(refused, "__notes__", ()):
            shown.add_note(note)
        raise shown from None


def message_of(error: GgdpError) -> str:
    """Return what is wrong, with the notes of the error, as sentences of the page."""
    said = [str(error), *getattr(error, "__notes__", ())]
    return ". ".join(f"{text[:1].upper()}{text[1:]}" for text in said)


class PageError(GgdpError):
    """An error in the words of the page."""


def _domain(domain: Domain) -> str:
    """Return a domain as the mapping that a person would write."""
    columns = []
    for column in domain:
        asked = {name: value for name, value in column.arguments().items() if value is not None and name != "name"}
        declared = asked.pop("range", None)
        if declared is not None:
            asked |= declared.to_dict()
        plain = asked["levels"] if list(asked) == ["levels"] else asked
        columns.append(f"        {column.name!r}: {_literal(plain)},")
    found = "\n".join(["{", *columns, "    }"]) if columns else "{}"
    if not domain.impossible:
        return found
    return f"ggdp.Domain({found}, impossible={_literal([dict(pattern) for pattern in domain.impossible])})"


def _literal(value: object) -> str:
    """Return plain values as Python writes them, with infinite ends that can be read back."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        if len(value) > _FEW and type(value[0]) is int and value == type(value)(range(value[0], value[0] + len(value))):
            return f"list(range({value[0]}, {value[0] + len(value)}))"
        return "[" + ", ".join(map(_literal, value)) + "]"
    if isinstance(value, float):
        return f'float("{value}")' if math.isinf(value) else written(value)
    if isinstance(value, datetime.date):
        return repr(value)
    if type(value).__module__.startswith("ggdp.tables.statistics"):
        fractions = f", {_literal(value.fractions)}" if hasattr(value, "fractions") else ""
        return f"ggdp.{type(value).__name__}({value.column!r}{fractions})"  # type: ignore[attr-defined]
    return repr(value)
