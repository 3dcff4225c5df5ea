"""Studies in the explorer: opened, filled in, and saved.

A study that is opened fills in the form. What the form cannot show stays as the study says: it is released, saved and
named in the page. So as long as nothing is changed, what is released is what the study says.

Kept is a field of a request if the inputs, filled in, do not ask for exactly what the study asks for; and of a column
what its lines, read again, do not declare. Paths of an upload are text: no file of this machine is opened, looked for
or written because an upload names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import date
from pathlib import PurePath
from typing import Any

import attrs
from attrs import fields_dict

from ggdp._files import parsed_toml
from ggdp._records import frozen, options
from ggdp.cli.flags import RELEASE, arguments_of, domain_of, join_values, marginals_of
from ggdp.domain.column import Column
from ggdp.domain.table_domain import Domain
from ggdp.domain.value_range import ValueRange
from ggdp.errors import ArgumentError, GgdpError
from ggdp.explorer.settings import value_text
from ggdp.explorer.typed_table import lines_of
from ggdp.explorer.wording import ExplorerError
from ggdp.tables.request import TableRequest
from ggdp.tables.statistics.statistic import Quantile
from ggdp.tables.study import Study

# What the form shows of a column, by the flags of its lines.
_LINES = {name: name for name in ("levels", "labels", "other", "missing")} | {"bins": "edges", "derive": "expression"}
_SHOWN = (*_LINES.values(), "range")
# Inputs that stand for fields of other names.
_INPUTS = {"range": "ranges", "nonnegative": "negative", "strict_lines": "lines"}


@frozen(kw_only=True)
class OpenStudy:
    """A study that is open in the explorer, with paths as its file has them."""

    study: Study
    name: str  # of its file
    directory: str | None  # of its file; None of an upload
    fields: tuple[str, ...]  # the fields of its request that the form does not show, but the domain
    columns: Mapping[str, Mapping[str, Any]]  # what is declared of columns that the form does not show

    @property
    def inputs(self) -> list[str]:
        """The inputs of what is kept, which change nothing."""
        goal = ["epsilon", "notion", "delta"] if "goal" in self.fields else []
        return [*goal, *(_INPUTS.get(field, field) for field in self.fields)]

    @property
    def kept(self) -> list[str]:
        """What is kept, by the keys of the file."""
        request, said = self.study.request, options(TableRequest)
        values = {said[name][1].key or name: getattr(request, name) for name in self.fields}
        values |= {"goal": str(request.goal)} if "goal" in values else {}
        found = [f"{key} = {value}" if isinstance(value, str | float | int) else key for key, value in values.items()]
        found += [f"{', '.join(rest)} of column {name!r}" for name, rest in self.columns.items() if rest]
        return [*found, *(["impossible"] if request.domain.impossible else [])]

    def keep(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments that the form asks for, with what is kept."""
        request = self.study.request
        declared = {name: dict(rest) for name, rest in self.columns.items()}
        for column in asked["domain"]:
            rest = declared.setdefault(column.name, {})
            if not rest.keys().isdisjoint(_SHOWN):
                said = "is declared by the study in a way that the form cannot show; change it in the file"
                raise ArgumentError("levels", column.name, said)
            rest |= _declaration(column)
        columns = [Column(name=name, **rest) for name, rest in declared.items() if rest]
        domain = Domain(columns, request.domain.impossible)
        return {**asked, "domain": domain, **{name: getattr(request, name) for name in self.fields}}


def open_upload(content: bytes, name: str, settings: type) -> tuple[OpenStudy, dict[str, Any]]:
    """Return `open_study` of an uploaded file, unless it names a file of this machine that reading it would open."""
    columns = parsed_toml(content, name, argument="path").get("columns", {})
    for column, declared in columns.items() if isinstance(columns, dict) else ():
        if isinstance(declared, dict) and "lookup" in declared:
            said = f"column {column!r} names another file, and the explorer opens no file because an upload names it"
            raise ExplorerError(f"{said}; start it with the study instead: ggdp explore STUDY.toml")
    # A name without a directory: paths stay as they are.
    return open_study(Study.parse(content, PurePath(name).name), name, settings)


def open_study(
    study: Study, name_of_file: str, settings: type, directory: str | None = None
) -> tuple[OpenStudy, dict[str, Any]]:
    """Return a study with what the form keeps of it, and the values of all inputs, which are those of settings."""
    request, flags, values = study.request, {flag.name: flag.default for flag in RELEASE}, attrs.asdict(settings())
    by = [join_values(names) for names in request.by if names]
    if lines_of("\n".join(by)) != by or marginals_of(by) != [list(names) for names in request.by if names]:
        by = []
    lines: dict[str, str] = {}
    columns = {}
    for column in request.domain:
        typed, declared = _lines_of(column), _declaration(column)
        more = {_INPUTS.get(flag, flag): text for flag, text in typed.items()}
        more = {name: f"{lines.get(name, '')}\n{text}".strip("\n") for name, text in more.items()}
        with suppress(GgdpError):
            # Raises if they are too long.
            settings(**more)
            read = _declaration(
                domain_of(flags | {"by": by} | {flag: [text] for flag, text in typed.items()})[column.name]
            )
            is_same = all(read.get(role) == declared.get(role) for role in _SHOWN)
            if is_same and all(lines_of(text) == [text] for text in typed.values()):
                lines |= more
                declared = {role: value for role, value in declared.items() if role not in _SHOWN}
        columns[column.name] = declared
    goal, is_one = request.goal, len(set(request.table_statistics)) == 1
    statistics = [
        f"quantile {one.column}={_text(one.fractions)}" if isinstance(one, Quantile) else f"{one.kind} {one.column}"
        for one in (request.each_statistic if is_one else ())
    ]
    asked: dict[str, Any] = {}
    for field in options(TableRequest):
        name, value = _INPUTS.get(field, field), getattr(request, field)
        asked[name] = value or values[name] if type(values.get(name)) is int else _text(value)
    asked |= dict.fromkeys((*_LINES, "ranges"), "") | lines | {"by": "\n".join(by), "analyst": study.analyst or ""}
    asked["statistics"] = "\n".join(statistics) if lines_of("\n".join(statistics)) == statistics else ""
    asked |= {"lines": "strict" if request.strict_lines else "quoted", "epsilon": goal.epsilon, "notion": goal.notion}
    asked |= {"delta": goal.delta or values["delta"]} | ({"delimiter": "tab"} if request.delimiter == "\t" else {})
    for name in values.keys() & asked.keys():
        with suppress(GgdpError):
            values[name] = getattr(settings(**{name: asked[name]}), name)
    found, kept = arguments_of(settings(**values).typed_table().flags(), TableRequest), []
    for name, part in fields_dict(TableRequest).items():
        value = part.default if name != "by" and found.get(name) is None else found.get(name)
        value = part.converter(value) if callable(part.converter) else value
        if name != "domain" and value != getattr(request, name):
            kept.append(name)
    opened = OpenStudy(study=study, name=name_of_file, directory=directory, fields=tuple(kept), columns=columns)
    values |= {name: value for name, value in attrs.asdict(settings()).items() if name in opened.inputs}
    if settings(**values).typed_table(study=opened).request() != request:
        raise ExplorerError("the form cannot show this study; release it with ggdp release STUDY.toml")
    return opened, values


def _declaration(column: Column) -> dict[str, Any]:
    return {role: value for role, value in column.arguments().items() if value is not None and role != "name"}


def _lines_of(column: Column) -> dict[str, str]:
    """Return what is declared of a column as lines of the form, by their flags; not all can be read back."""
    found, derived = {}, column.expression
    usual = None if derived is None else Column(name=column.name, expression=derived).levels
    for flag, role in (_LINES | {"range": "range"}).items():
        name, value = column.name, _declaration(column).get(role)
        if isinstance(value, ValueRange):
            low, high, step = value.plain
            text = f"{low}:{high}" if ValueRange(low, high) == value else f"{low}:{high}:{step}"
        elif flag == "range" or (flag == "levels" and value == usual):
            continue
        elif isinstance(value, Mapping):
            text = ":".join(map(str, value.values()))
        elif isinstance(value, str):
            text = value
        elif flag == "levels" and column.kind == "integer" and value is not None:
            is_run = len(value) > 1 and tuple(value) == tuple(range(value[0], value[-1] + 1))
            name, text = (name, f"{value[0]}..{value[-1]}") if is_run else (f"{name}:int", _text(value))
        else:
            text = _text(value) if flag == "bins" else join_values(map(str, value or ()))
        if value is not None:
            found[flag] = f"{name}={text}"
    return found


def _text(value: object) -> str:
    """Return a value of a request as it is typed."""
    if isinstance(value, tuple):
        return ",".join(map(_text, value))
    if isinstance(value, date):
        return value.isoformat()
    return "" if value is None else {True: "yes", False: "no"}[value] if isinstance(value, bool) else value_text(value)
