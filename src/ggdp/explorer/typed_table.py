"""A table as it is typed in the explorer: the inputs that views of tables share, and what they ask for.

Inputs are texts in the notation of the command's flags. They and their labels are those of the request
(`ggdp.tables.request`), and they are read by the functions that read the flags of ``ggdp release``: the explorer, the
command line and the Python code that it shows ask for the same. What is typed in one view is there in the others.
"""

from __future__ import annotations

import datetime
import math
import shlex
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
from htmltools import tags
from shiny import reactive

from ggdp._records import frozen, options
from ggdp.cli.flags import CHECK, RELEASE, arguments_of
from ggdp.errors import ArgumentError, PrivacyWarning
from ggdp.explorer import settings as fields
from ggdp.explorer.settings import HasGoal, goal_code, value_text
from ggdp.explorer.view import Visit, choices, group, quantity, text, when
from ggdp.explorer.wording import HELP, LABELS, in_explorer_words, sentence
from ggdp.tables.request import NO_UNIT, CheckArguments, PlanArguments, TableRequest, TextOptions

if TYPE_CHECKING:
    from htmltools import Tag

    from ggdp.domain.table_domain import Domain
    from ggdp.explorer.studies import OpenStudy
    from ggdp.tables import TablePlan


# What lines of statistics begin with.
_KINDS = [flag.name for flag in options(TableRequest)["statistics"][1].flags if flag.name != "range"]
# Flags of how text is read, each with an input of its own.
READING = [flag.name for _, said in options(TextOptions).values() for flag in said.flags if flag.label and flag.metavar]


@frozen(kw_only=True, slots=False)
class FileFields:
    """How a file is read: a text for each of `READING`, and what a line is."""

    delimiter: str = fields.text()
    encoding: str = fields.text()
    lines: str = fields.choice("quoted", "strict")
    sheet: str = fields.text()
    header_row: str = fields.text()
    decimal: str = fields.text()
    thousands: str = fields.text()
    date_format: str = fields.text()
    null_values: str = fields.text()


@frozen(kw_only=True)
class CountedTexts:
    """The columns of tables, a line for each table; what is declared of columns, a line for each; and the unit."""

    by: str = fields.text(longest=fields.LONG)
    levels: str = fields.text(longest=fields.LONG)
    bins: str = fields.text(longest=fields.LONG)
    labels: str = fields.text(longest=fields.LONG)
    other: str = fields.text(longest=fields.LONG)
    missing: str = fields.text(longest=fields.LONG)
    derive: str = fields.text(longest=fields.LONG)
    where: str = fields.text(longest=fields.LONG)
    unit: str = fields.text()


@frozen(kw_only=True)
class TypedTable(FileFields, CountedTexts):
    """A request as it is typed: each input as text, in the notation of its flag.

    Some inputs stand for flags of other names: lines of `statistics` (``mean income``), `ranges` of columns, and
    `lines`, which is "strict" if each line of a text file is a record. Where a `study` is open, what the inputs do not
    show is as it says.
    """

    statistics: str = ""
    ranges: str = ""
    percent_of: str = ""
    digits: str = ""
    unit_is_row: bool = False
    unit_name: str = ""
    max_cells: int | None = None
    epsilon: float = 1.0
    delta: float | None = None
    neighbours: str = "add-remove"
    order: str = "auto"
    nonnegative: bool = False
    domain: str = ""
    study: OpenStudy | None = None

    def plan(self) -> TablePlan:
        """Return the plan of the release; no data are read. Errors are in the words of the explorer."""
        with in_explorer_words(), warnings.catch_warnings():
            # They are shown beside the plan.
            warnings.simplefilter("ignore", PrivacyWarning)
            from ggdp.tables.table_plan import plan_request

            request = self.request()
            return plan_request(request, names=self.names(request))

    def request(self) -> TableRequest:
        """Return what is asked for."""
        with in_explorer_words():
            return TableRequest(**self._arguments())

    def names(self, request: TableRequest) -> tuple[str, ...] | None:
        """Return the names that a study has for the tables of a request; None without one, or for other tables."""
        study = None if self.study is None else self.study.study
        return study.names if study is not None and study.request.by == request.by else None

    def check_arguments(self) -> dict[str, Any]:
        """Return the arguments of `ggdp.check_table` but the data. Errors are in the words of the explorer."""
        asked = {**self._arguments(), "epsilon": self.epsilon, "delta": self.delta}
        return {name: asked[name] for name in options(CheckArguments) if name in asked}

    def command(self, source: str, *more: str, name: str = "release") -> str:
        """Return the command line that does the same, a line for each flag; `more` are flags with their values."""
        given, lines = self.flags(), [f"ggdp {name} {shlex.quote(source)}"]
        for flag in RELEASE if name == "release" else CHECK:
            value = given[flag.name]
            if value in (None, False, []) or (value == flag.default and not flag.required and flag.name != "epsilon"):
                continue
            if flag.name == "by":
                # Without the spaces after commas, unless a name is in quotes.
                value = [line if '"' in line else ",".join(map(str.strip, line.split(","))) for line in value]
            texts = value if isinstance(value, list) else [value]
            lines += [flag.typed if value is True else shlex.join([flag.typed, value_text(one)]) for one in texts]
        return " \\\n  ".join([*lines, *more])

    def python(self, call: str, source: str | None = None, more: Mapping[str, str] | None = None) -> str:
        """Return the Python code that does the same: a call of `ggdp.plan_table`, `release_table` or `check_table`."""
        asked = self.check_arguments() if call == "check_table" else self._arguments()
        texts = {name: _literal(value) for name, value in asked.items()}
        if "domain" in asked:
            declared = self.levels + self.bins + self.labels + self.other + self.missing + self.ranges
            texts["domain"] = _domain(asked["domain"]) if declared.strip() or not self.domain else repr(self.domain)
        if "goal" in asked:
            texts["goal"] = goal_code(asked["goal"])
        lines = [f"    {name}={value}," for name, value in (texts | dict(more or {})).items()]
        first = [] if source is None else [f"    {source!r},"]
        imports = ["import datetime", "", "import ggdp"] if "datetime." in "".join(lines) else ["import ggdp"]
        return "\n".join([*imports, "", f"found = ggdp.{call}(", *first, *lines, ")"])

    def flags(self) -> dict[str, Any]:
        """Return the values of flags that ask for the same."""
        given = {flag.name: flag.default for flag in (*RELEASE, *CHECK)}
        for flag in RELEASE:
            value = getattr(self, flag.name, None)
            if isinstance(value, str):
                # A single character may be a space.
                value = value if flag.metavar == "C" else value.strip()
                value = lines_of(value) if flag.kind == list[str] | None else value
                if value and flag.kind == int | None:
                    try:
                        value = int(str(value))
                    except ValueError:
                        raise ArgumentError(flag.name, value, "must be a whole number") from None
            if value or value == 0:
                given[flag.name] = value
        ranges = lines_of(self.ranges)
        given["range"], given["range_by"] = (
            [line for line in ranges if (":" in line) == ends] for ends in (True, False)
        )
        given["strict_lines"] = self.lines == "strict"
        for line in lines_of(self.statistics):
            kind, _, value = line.partition(" ")
            if kind.lower() not in _KINDS or not value.strip():
                said = "must be mean COL, sum COL, variance COL, median COL or quantile COL=0.25,0.5"
                raise ArgumentError("statistics", line, said)
            given[kind.lower()] = [*(given[kind.lower()] or ()), value.strip()]
        return given

    def _arguments(self) -> dict[str, Any]:
        """Return the arguments of `ggdp.plan_table`, without those that have their defaults."""
        with in_explorer_words():
            asked = arguments_of(self.flags(), PlanArguments)
            if self.study is not None:
                asked = self.study.keep(asked)
            if not asked["by"] and not asked["statistics"]:
                raise ArgumentError("by", self.by, "name columns to count by, or a statistic such as mean income")
        if asked["by"] and len(asked["by"]) == 1:
            (asked["by"],) = asked["by"]
        return {
            name: asked[name]
            for name, (part, _) in options(PlanArguments).items()
            if name in asked and (name in ("by", "goal", "domain") or asked[name] not in (None, [], part.default))
        }


def lines_of(typed: str) -> list[str]:
    """Return the lines that are typed, without blank ones."""
    return [line for text in typed.splitlines() if (line := text.strip())]


def _domain(domain: Domain) -> str:
    """Return a domain as the mapping that a person would write."""
    columns = []
    for column in domain:
        asked = column.declaration()
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
        # Longer runs of integers are written as ranges.
        if len(value) > 5 and type(value[0]) is int and value == type(value)(range(value[0], value[0] + len(value))):
            return f"list(range({value[0]}, {value[0] + len(value)}))"
        return "[" + ", ".join(map(_literal, value)) + "]"
    if isinstance(value, float):
        return f'float("{value}")' if math.isinf(value) else value_text(value)
    if isinstance(value, datetime.date):
        return repr(value)
    if type(value).__module__.startswith("ggdp.tables.statistics"):
        fractions = f", {_literal(value.fractions)}" if hasattr(value, "fractions") else ""
        return f"ggdp.{type(value).__name__}({value.column!r}{fractions})"  # type: ignore[attr-defined]
    return repr(value)


@frozen(kw_only=True)
class CountedFields(CountedTexts):
    """Columns to count by, the column of units, and an epsilon."""

    epsilon: float = fields.number(1.0, low=0.01, high=20.0)

    def typed_table(self, domain: Path | None = None, study: OpenStudy | None = None) -> TypedTable:
        """Return the table that settings ask for, with a domain file or an open study, which has a domain itself."""
        given = attrs.asdict(self)
        typed = {part.name: given[part.name] for part in attrs.fields(TypedTable) if part.name in given}
        if given.get("notion") == "pure":
            typed["delta"] = None
        if not self.unit.strip():
            # Cells per unit count only where a column of units is named.
            typed["max_cells"] = None
        typed |= {"unit_is_row": given.get("unit_is_row") == "yes", "nonnegative": given.get("negative") == "yes"}
        return TypedTable(**typed, domain=str(domain or "") if study is None else "", study=study)


@frozen(kw_only=True)
class TableFields(CountedFields, HasGoal):
    """A table as it is typed, and its goal."""

    max_cells: int = fields.number(1, low=1, high=1000, whole=True)
    statistics: str = fields.text(longest=fields.LONG)
    ranges: str = fields.text(longest=fields.LONG)
    percent_of: str = fields.text()
    digits: str = fields.text()
    unit_is_row: str = fields.choice("no", "yes")
    unit_name: str = fields.text()
    notion: str = fields.choice("pure", "approximate")
    delta: float = fields.number(1e-6, low=1e-12, high=1e-2)


# Texts that are typed: the flag whose label they have, an example, and a hint; others have the help of their flag.
# Those of several lines follow the others.
_TEXTS = {
    "unit": ("unit", "patient", "Column whose values are the people protected."),
    "unit_name": ("unit_name", "patients", "In statements and figures."),
    "order": ("order", "auto"),
    "analyst": ("analyst", "for the ledger"),
    "delimiter": ("delimiter", "a comma; or ; or tab"),
    "encoding": ("encoding", "utf-8; or latin-1"),
}
_LINES = {
    "by": ("by", "ward, age", "Columns, separated by commas; a line for each table."),
    "derive": ("derive", "adult=age >= 18", "A line for each new column: COL=EXPRESSION."),
    "where": ("where", "age >= 18 and ward <> 'test'", "Rows for which it is not true are not counted. It is public."),
    "levels": ("levels", "ward=births, eyes", "A line for each column: COL=V1,V2."),
    "bins": ("bins", "age=0,18,65,inf", "A line for each column of numbers or dates."),
    "labels": ("labels", "age=0-17,18-64,65+", "Names to publish."),
    "other": ("other", "ward=elsewhere", "A level for all others."),
    "missing": ("missing", "age=unknown", "A level for rows without one."),
    "statistics": (
        "mean",
        "mean income",
        f"Lines: {', '.join(f'{kind} COL' for kind in _KINDS if kind != 'quantile')}, quantile COL=0.25,0.5.",
    ),
    "ranges": ("range", "income=0:200000", "Public range of each: COL=LOW:HIGH."),
}


def text_inputs(settings: object, *names: str) -> list[Tag]:
    """Return the inputs of texts of a table."""
    found = []
    for name in names:
        flag, example, *hint = (_TEXTS | _LINES).get(name) or (name, "", HELP[name])
        found.append(text(settings, name, LABELS[flag], example, *hint, lines=name in _LINES))
    return found


def columns_form(settings: CountedFields) -> Tag:
    """Return the inputs of the columns that are counted by."""
    opened = bool(settings.labels or settings.other or settings.missing)
    more = text_inputs(settings, "labels", "other", "missing")
    folded = group("Labels, other and missing values", *more, opened=opened)
    opened = bool(settings.where or settings.derive)
    chosen = group("Filter and derived columns", *text_inputs(settings, "where", "derive"), opened=opened)
    return group("Table", *text_inputs(settings, "by", "levels", "bins"), folded, chosen)


def statistics_form(settings: TableFields, *more: Tag) -> Tag:
    """Return the inputs of statistics."""
    texts = text_inputs(settings, "statistics", "ranges", "percent_of", "digits")
    return group("Statistics", *texts, *more, opened=bool(settings.statistics))


def units_form(settings: TableFields) -> Tag:
    """Return the inputs of units."""
    hint = "Most cells that one unit is counted in; the noise grows with it."
    cells = quantity(settings, "max_cells", LABELS["max_cells"], hint)
    is_row = choices(
        settings, "unit_is_row", LABELS["unit_is_row"], {"no": "not stated", "yes": "yes, nobody has two rows"}
    )
    return group("Units", *text_inputs(settings, "unit"), cells, is_row, *text_inputs(settings, "unit_name"))


def unit_warning(settings: TableFields | None) -> Tag | None:
    """Return a warning where neither a column of units is named nor each row is said to be one."""
    if settings is None or settings.unit.strip() or settings.unit_is_row == "yes":
        return None
    return tags.p(f"{sentence(NO_UNIT)}.", class_="warning")


def privacy_form(settings: HasGoal) -> list[Tag]:
    """Return the inputs of a goal, pure or approximate DP."""
    return [
        quantity(settings, "epsilon", LABELS["epsilon"]),
        choices(settings, "notion", "Notion", {"pure": "pure", "approximate": "approximate, with a delta"}),
        when("notion", ["approximate"], quantity(settings, "delta", LABELS["delta"])),
    ]


def share_inputs(visit: Visit[Any], initial: CountedFields) -> None:
    """Keep the inputs of a view that are of a table equal to those changed in another view.

    What differs from the defaults in the view that is open goes to the others, from an address or by a change.
    """
    inputs, session, shared = visit.inputs, visit.session, visit.shared
    parts = (*attrs.fields(TableFields), *attrs.fields(FileFields))
    kept = [part.name for part in parts if hasattr(initial, part.name)]

    @reactive.effect
    def _give() -> None:
        typed = {name: inputs[name]() for name in kept}
        with reactive.isolate():
            if not visit.is_open() or None in typed.values():
                return
            known = shared.typed()
            if typed != {name: known.get(name, getattr(initial, name)) for name in kept}:
                shared.typed.set({**known, **typed})

    @reactive.effect
    def _take() -> None:
        typed = shared.typed()
        with reactive.isolate():
            if not visit.is_open():
                for name in kept:
                    if name in typed and typed[name] != inputs[name]():
                        session.send_input_message(name, {"value": typed[name]})
