"""Flags of the commands: made from the fields of requests, read into arguments, and named in errors.

What a flag is called and what ``--help`` says of it stands at the field of the request (`ggdp.tables.request`). Here is
how a typed text becomes an argument; the explorer reads the inputs of its form by the same functions.
"""

from __future__ import annotations

import csv
import inspect
import io
import re
import shlex
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from attrs import evolve

from ggdp import _validate
from ggdp._records import Flag, options
from ggdp.errors import ArgumentError, GgdpError, LedgerError, Message, in_words_of, name_in_python
from ggdp.privacy import Neighbours, Notion
from ggdp.tables.request import (
    ROW,
    CheckArguments,
    RangeArguments,
    ReleaseArguments,
    TableRequest,
    TextOptions,
    goal_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ggdp.domain.table_domain import Domain
    from ggdp.tables.statistics.statistic import Statistic

_RANGE = re.compile(r"([+-]?[0-9]{1,19})\.\.([+-]?[0-9]{1,19})")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOST_LEVELS = 10_000_000

# Everything that a flag sets, and every flag, by the name that errors have.
_PARTS = {
    name: said
    for record in (CheckArguments, RangeArguments, ReleaseArguments)
    for name, (_, said) in options(record).items()
}
_ALL = {flag.name: flag for said in _PARTS.values() for flag in said.flags}
_KINDS = tuple(flag.name for flag in _PARTS["statistics"].flags if flag.label == "Statistics")
_TEXT = tuple(options(TextOptions))
_DRY_RUN = Flag(
    "Read no data; print what would be released and what it would cost.", kind=bool, default=False, name="dry_run"
)
_LIKE = Flag(
    "Take the request from a manifest or a study, and from a study its ledger, too; other flags override it.",
    "MANIFEST|STUDY",
    Path | None,
    name="like",
)
_SAVE = Flag("Write the request, its source and its ledger to a study.", "FILE.toml", Path | None, name="save_study")
_JSON = Flag("Print one JSON document.", kind=bool, default=False, name="json")


def _flags(record: type, *names: str) -> list[Flag]:
    """Return the flags of fields of a record, in the order that ``--help`` shows."""
    parts = options(record)
    return [flag for name in names for flag in parts[name][1].flags]


def _others(record: type, *names: str) -> list[str]:
    return [name for name in options(record) if name not in (*names, *_TEXT)]


_FIRST = ("goal", "by", "order", "domain")
_ASKED = _flags(ReleaseArguments, *_FIRST, *_others(TableRequest, *_FIRST), "engine", *_TEXT)
RELEASE = [
    # The command asks for what neither a flag nor a study says.
    *(evolve(flag, required=False, kind=flag.kind | None) if flag.required else flag for flag in _ASKED),
    *_flags(ReleaseArguments, "temp_dir", "ledger", "analyst", "once"),
    _DRY_RUN,
    *_flags(ReleaseArguments, "out", "plot", "wide", "sign", "overwrite"),
    _LIKE,
    _SAVE,
    _JSON,
]
CHECK = [*_flags(CheckArguments, *_others(CheckArguments, "temp_dir"), *_TEXT, "temp_dir"), _JSON]
RANGE = [
    *_flags(RangeArguments, *_others(RangeArguments, "out"), *_TEXT),
    *_flags(ReleaseArguments, "temp_dir", "ledger", "analyst"),
    _DRY_RUN,
    *_flags(RangeArguments, "out"),
    *_flags(ReleaseArguments, "overwrite"),
    _JSON,
]


def takes_flags(flags: Sequence[Flag]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that gives a command flags, which it takes as ``**given``; required ones stand first."""

    def with_flags(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True)
        parameters = [one for one in own.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        for flag in sorted(flags, key=lambda flag: not flag.required):
            default: Any = inspect.Parameter.empty if flag.required else flag.default
            kind = inspect.Parameter.KEYWORD_ONLY
            typed: Any = Annotated[flag.kind, typed_as(flag)]
            parameters.append(inspect.Parameter(flag.name, kind, default=default, annotation=typed))
        command.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {one.name: one.annotation for one in parameters}
        return command

    return with_flags


def typed_as(flag: Flag) -> Any:  # noqa: ANN401 - what typer makes a flag of
    """Return a flag for the annotation of an argument: ``Annotated[float, typed_as(flag)]``."""
    return typer.Option(flag.typed, metavar=flag.metavar, help=flag.help)


_FILES = (
    "A file (CSV, JSON lines, Parquet, Arrow, Excel, Stata, SPSS or SAS) or a quoted pattern of several ('data/*.csv')"
)
Source = Annotated[str, typer.Argument(metavar="SOURCE", help=_FILES + ".")]
SourceOrStudy = Annotated[str, typer.Argument(metavar="SOURCE", help=_FILES + ", or a study.")]
SourceOfStudy = Annotated[
    str | None, typer.Option("--source", metavar="FILE", help="With a study: what to read in place of its source.")
]
Epsilon = Annotated[float, typed_as(_ALL["epsilon"])]
Delta = Annotated[float | None, typed_as(_ALL["delta"])]
NotionFlag = Annotated[Notion | None, typed_as(_ALL["notion"])]
NeighboursFlag = Annotated[Neighbours, typed_as(_ALL["neighbours"])]
DomainFile = Annotated[Path | None, typed_as(_ALL["domain"])]


def arguments_of(given: Mapping[str, Any], record: type) -> dict[str, Any]:
    """Return the arguments that flags ask for, as `ggdp.plan_table` and the like take them.

    Where ``given["base"]`` is a request, it has the arguments that none of the flags ``given["typed"]`` changes.
    """
    parts, base, typed = options(record), given.get("base"), given.get("typed", ())
    if base is not None:
        goal = base.goal
        notion = goal.notion if goal.notion == "probabilistic" else None
        delta = None if given.get("notion") == "pure" else goal.delta or None
        usual = {"epsilon": goal.epsilon, "delta": delta, "notion": notion}
        given = {**given, **{name: value for name, value in usual.items() if name not in typed}}

    def kept(name: str) -> bool:
        own = [flag.name for flag in parts[name][1].flags]
        own = [*_KINDS, "median"] if name == "statistics" else own
        own += {"domain": ["range", "range_by"], "unit_is_row": ["unit"]}.get(name, [])
        # Rows have no limits: those of a column of units go with it.
        own += ["unit_is_row"] if (parts[name][1].key or "").startswith("unit.") and name != "unit_name" else []
        return base is not None and hasattr(base, name) and not any(flag in typed for flag in own)

    found = {
        name: getattr(base, name) if kept(name) else read(given) for name, read in _READERS.items() if name in parts
    }
    for name, (_, said) in parts.items():
        if name not in _READERS and said.flags and said.flags[0].name in given:
            found[name] = getattr(base, name) if kept(name) else given[said.flags[0].name]
    return found


def _by(given: Mapping[str, Any]) -> list[list[str]] | None:
    """Return the columns of each requested table; none for statistics of all rows."""
    found = marginals_of(given["by"] or ())
    # A check of nothing is one of all columns, and a range needs nothing to count by.
    if (
        not found
        and "mean" in given
        and "draft_domain" not in given
        and not any(given.get(kind) for kind in (*_KINDS, "median"))
    ):
        raise typer.BadParameter("name columns to count by, or a statistic, such as --mean COL", param_hint="'--by'")
    return found or None


def marginals_of(by: Sequence[str]) -> list[list[str]]:
    """Return the columns of each table that is typed."""
    found = [_split_list("by", text, text) for text in by]
    for text, names in zip(by, found, strict=True):
        if not all(names):
            said = Message("has an empty name; write columns without spaces between them: {by} a,b")
            raise ArgumentError("by", text, said)
    return found


def _order(given: Mapping[str, Any]) -> Any:  # noqa: ANN401 - the request says what it may be
    if (text := given["order"]) == _ALL["order"].default:
        return text
    try:
        return float(text)
    except ValueError:
        raise ArgumentError("order", text, "must be a number of at least 1, or auto") from None


def domain_of(given: Mapping[str, Any]) -> Domain:
    """Return the public domain: that of the file, with what the flags declare."""
    from ggdp.domain.column import Column
    from ggdp.domain.table_domain import Domain
    from ggdp.domain.value_range import ValueRange

    of_file = Domain.from_toml(given["domain"]) if given["domain"] is not None else Domain({})
    base = given.get("base")
    by = {name for names in marginals_of(given["by"] or ()) or (base.by if base else ()) for name in names}
    known = dict.fromkeys(of_file.names, "the file of {domain_file}")
    if base is not None and given["domain"] is None:
        of_file = base.domain
    declared = {column.name: column.arguments() for column in of_file}
    # What flags may declare again: what a study or a manifest has declared.
    free = {(name, role) for name, said in declared.items() if name not in known for role in said}
    for flag, example in _DERIVED.items():
        for text in given.get(flag) or ():
            name, _, said = (part.strip() for part in text.partition("="))
            file, _, key = said.rpartition(":")
            if not name or not said or (flag == "lookup" and not (file and key)):
                raise ArgumentError(flag, text, f"must be a column, '=' and what it is made of: {example}")
            old = {role for role in ("expression", "lookup") if declared.get(name, {}).get(role) is not None}
            if any((name, one) not in free for one in old):
                raise ArgumentError(flag, text, f"{name!r} is already derived; keep one of the declarations")
            asked = {"expression": said} if flag == "derive" else {"lookup": file, "key": key}
            with shown_as_typed(flag, text):
                # Its values are by default those that it names.
                Column(name=name, **asked)
            kept = {role: value for role, value in declared.get(name, {}).items() if role not in old}
            declared[name] = {"name": name} | kept | asked
    free |= {(name, level) for name, _ in free for level in declared[name].get("ranges") or ()}
    for flag in ("levels", "bins"):
        for text in given[flag] or ():
            name, values = _split_values(flag, text, by)
            kind = ""
            if flag == "levels" and name not in by and name.endswith(":int"):
                name, kind = name.removesuffix(":int"), "int"
            if name in known:
                said = Message("{column!r} is already declared by " + known[name], column=name)
                raise ArgumentError(flag, text, said)
            if name not in by:
                columns = ", ".join(sorted(by))
                said = Message("{column!r} is not one of the columns of {by}: {columns}", column=name, columns=columns)
                raise ArgumentError(flag, text, said)
            known[name] = f"{{{flag}}}"
            roles = ("other", "missing", "complete", "range", "range_by", "ranges", "expression", "lookup", "key")
            kept = {role: value for role in roles if (value := declared.get(name, {}).get(role)) is not None}
            declared[name] = {"name": name, **kept}
            if flag == "levels":
                declared[name]["levels"] = _levels(text, values, kind)
            else:
                declared[name]["edges"] = _edges(text, values)
    for role in ("labels", "other", "missing"):
        for text in given[role] or ():
            name, values = _split_values(role, text, by)
            if name not in declared:
                words = "{column!r} is not declared: declare it with {levels} or {bins}{or_in_domain_file}"
                raise ArgumentError(role, text, Message(words, column=name))
            if declared[name].get(role) is not None and (name, role) not in free:
                raise ArgumentError(role, text, f"{name!r} already has {role}")
            free.discard((name, role))
            declared[name][role] = _split_list(role, text, values) if role == "labels" else values
    for text in given.get("range_by") or ():
        column, other = _split("range_by", text, "COL=OTHER")
        arguments = declared.setdefault(column, {"name": column})
        if (known_by := arguments.get("range_by")) != other:
            if known_by is not None and (column, "range_by") not in free:
                raise ArgumentError("range_by", text, f"{column!r} already has ranges by {known_by!r}; keep one")
            arguments |= {"range_by": other, "ranges": {}}
    by_level = [name for name, arguments in declared.items() if arguments.get("range_by") is not None]
    for text in given.get("range") or ():
        named, values = _split("range", text, "COL=0:100")
        parts = values.split(":")
        if len(parts) not in (2, 3):
            raise ArgumentError("range", text, "must be COL=LOW:HIGH or COL=LOW:HIGH:STEP, such as income=0:200000")
        column = max((name for name in by_level if named.startswith(f"{name}:")), key=len, default=named)
        arguments = declared.setdefault(column, {"name": column})
        # Of the column, or of a level of another one.
        ranges, key = (arguments, "range") if column == named else (arguments["ranges"], named[len(column) + 1 :])
        if ranges.get(key) is not None and (column, key) not in free:
            raise ArgumentError(
                "range", text, f"{named!r} already has a range, in the domain or by another flag; keep one"
            )
        free.discard((column, key))
        with shown_as_typed("range", text):
            ranges[key] = ValueRange(*(part.strip() for part in parts))
    return Domain([Column(**arguments) for arguments in declared.values()], of_file.impossible)


def _split_values(flag: str, text: str, by: set[str]) -> tuple[str, str]:
    """Return the column that a flag names, and its values."""
    # A name may have an equals sign in it; then the longest one that is counted by is meant.
    cuts = [place for place, sign in enumerate(text) if sign == "="]
    cut = next((place for place in reversed(cuts) if text[:place] in by), cuts[0] if cuts else 0)
    if not cut:
        example = {"bins": "COL=0,18,65", "labels": "COL=LABEL1,LABEL2", "cell": "COL=LEVEL"}.get(flag, "COL=V1,V2")
        example = "COL=LABEL" if flag in ("other", "missing") else example
        raise ArgumentError(flag, text, f"must be a column, '=' and its values: {example}")
    return (text[:cut] if text[:cut] in by else text[:cut].strip()), text[cut + 1 :]


def cell_of(text: str, by: Sequence[str]) -> dict[str, str]:
    """Return a cell of a table, ward=eyes,sex=f; or the sum of all cells."""
    items = [] if text == "all" else _split_list("cell", text, text)
    return dict(_split_values("cell", item, set(by)) for item in items)


def _levels(text: str, values: str, kind: str) -> list[str] | list[int]:
    """Return levels: text, or integers for a single range or if ":int" follows the column."""
    items = _split_list("levels", text, values)
    if kind != "int" and not (len(items) == 1 and _RANGE.fullmatch(items[0])):
        return items
    found: list[int] = []
    for item in items:
        if (ends := _RANGE.fullmatch(item)) is not None:
            first, last = int(ends[1]), int(ends[2])
            if not 0 <= last - first < _MOST_LEVELS:
                raise ArgumentError("levels", text, f"{item!r} must be an increasing range of at most {_MOST_LEVELS:,}")
            found += range(first, last + 1)
        elif re.fullmatch(r"[+-]?[0-9]{1,19}", item):
            found.append(int(item))
        else:
            raise ArgumentError("levels", text, f"{item!r} is not an integer, nor a range such as 1..5")
    return found


def _edges(text: str, values: str) -> list[float | date] | dict[str, Any]:
    """Return edges: numbers, or dates and times, or a range of periods."""

    def time(item: str) -> date:
        try:
            return date.fromisoformat(item) if _DATE.fullmatch(item) else datetime.fromisoformat(item)
        except ValueError:
            said = f"{item!r} is not a date; write 2024-01-31, or 2024-01-31T12:30 with a time"
            raise ArgumentError("bins", text, said) from None

    if (period := re.fullmatch(rf"\s*({_DATE.pattern}):({_DATE.pattern}):(\w+)\s*", values)) is not None:
        return {"from": time(period[1]), "to": time(period[2]), "every": period[3]}
    items = [item.strip() for item in values.split(",")]
    if not any(_DATE.match(item) for item in items):
        return list(numbers_of("bins", values))
    return [float(item) if item in ("-inf", "inf") else time(item) for item in items]


def _split_list(flag: str, text: str, values: str) -> list[str]:
    """Return the values of a flag, separated by commas; spaces around a value are kept only inside quotes."""
    try:
        (row,) = csv.reader(io.StringIO(values, newline=""), strict=True, skipinitialspace=True)
    except (csv.Error, ValueError):
        raise ArgumentError(
            flag, text, "must be values separated by ',', with \"...\" around one that has a comma"
        ) from None
    return row if '"' in values else [item.strip() for item in row]


def join_values(values: Iterable[str]) -> str:
    """Return values separated by commas, in quotes where they need them."""
    row = io.StringIO(newline="")
    csv.writer(row, lineterminator="").writerow(values)
    return row.getvalue()


def statistics_of(given: Mapping[str, Any]) -> list[Statistic]:
    """Return the statistics that flags ask for, in the order of the flags."""
    from ggdp.tables.statistics.statistic import STATISTICS, Quantile

    found: list[Statistic] = []
    for kind in _KINDS:
        if kind != "quantile":
            found += [STATISTICS[kind](column) for column in given[kind] or ()]
    fractions: dict[str, list[float]] = {}
    for text in given["quantile"] or ():
        column, values = _split("quantile", text, "COL=0.5")
        with shown_as_typed("quantile", text):
            # Each flag is checked by itself, so that an error shows it.
            Quantile(column, numbers_of("quantile", values))
        fractions.setdefault(column, []).extend(numbers_of("quantile", values))
    for column in given.get("median") or ():
        fractions.setdefault(column, []).append(0.5)
    return found + [Quantile(column, values) for column, values in fractions.items()]


def _weights(given: Mapping[str, Any]) -> dict[str, float] | None:
    """Return the weights of columns."""
    found: dict[str, float] = {}
    for text in given["weight"] or ():
        column, value = _split("weight", text, "COL=2")
        if column in found:
            raise ArgumentError("weight", text, f"{column!r} already has a weight; keep one")
        with shown_as_typed("weight", text):
            found[column] = _validate.positive(weight=numbers_of("weight", value)[0])
        if "," in value:
            raise ArgumentError("weight", text, "must be one number: COL=2")
    return found or None


def percent_of_flags(given: Mapping[str, Any]) -> list[str] | None:
    """Return the columns of the totals that percentages are of; none of them for the total of all cells."""
    if (text := given["percent_of"]) is None:
        return [] if given["percent"] else None
    if given["percent"]:
        raise ArgumentError("percent_of", text, Message("does not go with {percent}: which is of all cells"))
    return _split_list("percent_of", text, text)


@contextmanager
def shown_as_typed(flag: str, text: str) -> Iterator[None]:
    """Make errors show a flag with its value as it is typed."""
    try:
        yield
    except ArgumentError as refused:
        part = refused.value if isinstance(refused.value, str) else ""
        said = f"{part!r} {refused.expected}" if part and text.partition("=")[2] != part else refused.expected
        raise ArgumentError(flag, text, said) from None


def _split(flag: str, text: str, example: str) -> tuple[str, str]:
    """Return the column and the value of a flag; a name may have equals signs in it, a value has none."""
    column, sign, value = text.rpartition("=")
    if not sign or not column.strip():
        raise ArgumentError(flag, text, f"must be a column, '=' and its value: {example}")
    return column.strip(), value


# The flags of derived columns.
_DERIVED = {
    "derive": "COL='age >= 18'",
    "lookup": "COL=FILE.csv:KEY, KEY being the column of the data whose values are looked up",
}
# How the fields of a request are read whose flags do not say it all; in the order in which errors are looked for.
_READERS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "by": _by,
    "statistics": statistics_of,
    "goal": lambda given: goal_of(given["epsilon"], given["delta"], given["notion"]),
    "domain": domain_of,
    "order": _order,
    "weights": _weights,
    "percent_of": percent_of_flags,
    # On the command line "row" is a column.
    "unit_is_row": lambda given: given["unit_is_row"] or (False if given["unit"] == ROW else None),
    "delimiter": lambda given: {"\\t": "\t", "tab": "\t"}.get(given["delimiter"] or "", given["delimiter"]),
    "quoted": lambda given: False if given["no_quotes"] else None,
    "strict_lines": lambda given: given["strict_lines"] or None,
}


def numbers_of(name: str, text: str, separator: str = ",") -> list[float]:
    """Return the numbers of a flag."""
    try:
        return [float(part) for part in text.split(separator)]
    except ValueError:
        raise ArgumentError(name, text, f"must be numbers separated by {separator!r}") from None


# Where a field has several flags, or none: what an error about it is titled, and how a message names it.
_TITLES = {**dict.fromkeys(("data", "source"), "SOURCE"), "statistics": "--mean, --sum, --variance, --quantile"}
_TITLES |= {"weights": "--weight", "fractions": "--quantile", "goal": "--notion"}
_MENTIONS = {
    "domain": "--domain, --levels or --bins",
    "domain_file": "--domain",
    "or_in_domain_file": " or in --domain",
    "unit": "--unit COL",
    "statistics": "--mean, --sum, --variance or --quantile",
    "range": "--range COL=LOW:HIGH",
}


def title_of_flag(argument: str) -> str:
    """Return the flag that sets an argument, as the title of an error."""
    return _TITLES.get(argument) or (_ALL[argument].typed if argument in _ALL else argument)


def mention_flag(name: str, value: str) -> str:
    """Return an argument as a message on the command line names it, such as ``--max-cells`` or ``--count rows``."""
    if not value:
        return _MENTIONS.get(name) or (_ALL[name].typed if name in _ALL else name_in_python(name, value))
    if name not in _ALL:
        return name_in_python(name, value)
    if (name, value) in (("unit", ROW), ("unit_is_row", "False")):
        return _ALL["unit_is_row"].typed if name == "unit" else f"{_ALL['unit'].typed} {ROW}"
    return _ALL[name].typed if value == "True" else f"{_ALL[name].typed} {shlex.quote(value)}"


@contextmanager
def renaming(**names: str) -> Iterator[None]:
    """Make errors name arguments of a function as a command has them."""
    try:
        yield
    except ArgumentError as refused:
        if refused.argument not in names:
            raise
        raise ArgumentError(names[refused.argument], refused.value, refused.expected) from None


@contextmanager
def named_as_flags(given: Mapping[str, Any], by: str = "--by") -> Iterator[None]:
    """Make errors name flags as they are typed on the command line; `by` is where columns to count by are typed."""
    named: dict[str, str] = {}
    for kind in _KINDS:
        texts = given.get(kind) or ()
        for column in dict.fromkeys(text.rpartition("=")[0].strip() if kind == "quantile" else text for text in texts):
            named[column] = f"{named[column]}, --{kind}" if column in named else f"--{kind}"
            named[f"{kind}_{column}"] = f"--{kind}"
    for column in given.get("median") or ():
        named[column] = f"{named[column]}, --median" if column in named else "--median"

    typed = given.get("typed", ())

    def title(argument: str, value: object) -> str:
        if argument == "statistics" and isinstance(value, str) and value in named:
            return named[value]
        if argument == "percent_of" and given.get("percent") and not given["percent_of"]:
            return "--percent"
        said = options(TableRequest).get(argument, (None, None))[1] if "study" in given else None
        if said is not None and not any(flag.name in typed for flag in said.flags):
            kinds = [
                f"tables.{one.kind}"
                for one in given["base"].each_statistic
                if (argument, one.column) == ("statistics", value)
            ]
            return f"{given['study']}: {kinds[0] if kinds else said.key or argument}"
        return by if argument == "by" and value not in (given.get("by") or ()) else title_of_flag(argument)

    try:
        yield
    except LedgerError as refused:
        refused.args = (in_words_of(refused.args[0], mention_flag),)
        raise
    except ArgumentError as refused:
        raise reword(refused, title, mention_flag) from None


def reword(
    refused: ArgumentError, title: Callable[[str, object], str], mention: Callable[[str, str], str]
) -> GgdpError:
    """Return an error in the words of a door: `title` names its argument, `mention` those in its message."""
    argument, value, expected = refused.argument, refused.value, in_words_of(refused.expected, mention)
    argument = "by" if argument == "column" else argument
    if argument == "by" and isinstance(value, list | tuple):
        is_nested = any(isinstance(names, list | tuple) for names in value)
        tables = [join_values([one] if isinstance(one, str) else one) for one in (value if is_nested else [value])]
        if len(tables) > 1:
            return GgdpError(" ".join(f"{title('by', None)} {names}" for names in tables) + f": {expected}")
        (value,) = tables
    named = ArgumentError(title(argument, value), value, expected)
    for note in getattr(refused, "__notes__", ()):
        named.add_note(note)
    return named
