"""A table as it is typed on the page: fields in the notation of the command's flags, and what they ask for.

The views of tables share it. The fields are read by the functions that read the flags of ``ggdp release``, so that the
page, the command line and the Python code that it shows ask for the same.
"""

from __future__ import annotations

import datetime
import math
import re
import shlex
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from ggdp.errors import ArgumentError, GgdpError, PrivacyWarning
from ggdp.explorer.equivalents import goal_code, written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ggdp.domain.table_domain import Domain
    from ggdp.tables import TablePlan

# Labels of the fields, by the flags that they stand for.
LABELS = {
    "--by": "Count by",
    "--levels": "Levels",
    "--bins": "Bins",
    "--labels": "Labels of bins",
    "--other": "Other values",
    "--missing": "Missing values",
    "--mean": "Statistics",
    "--sum": "Statistics",
    "--variance": "Statistics",
    "--quantile": "Statistics",
    "--range": "Ranges",
    "--unit": "Unit",
    "--unit-name": "Word for the units",
    "--max-cells": "Cells per unit",
    "--neighbours": "Neighbours",
    "--epsilon": "Epsilon",
    "--delta": "Delta",
    "--order": "Order",
    "--encoding": "Encoding",
    "--delimiter": "Delimiter",
    "--strict-lines": "Lines",
    "--analyst": "Analyst",
}
_FLAG = re.compile(r"--[a-z]+(?:-[a-z]+)*")
_KINDS = ("mean", "sum", "variance", "quantile")
# Longer runs of integers are written as ranges.
_FEW = 5
# Flags that ``ggdp check`` has too.
_CHECKED = (
    *("--by", "--domain", "--levels", "--bins", "--labels", "--other", "--missing", "--range", "--unit", "--epsilon"),
    *("--encoding", "--delimiter", "--strict-lines"),
    *(f"--{kind}" for kind in _KINDS),
)


@frozen(kw_only=True)
class TypedTable:
    """A table as it is typed: each field as text, in the notation of its flag, a line for each column.

    Parameters
    ----------
    by : str
        Columns to count by, separated by commas.
    levels, bins : str
        Lines such as ``ward=births,eyes`` and ``age=0,18,65,inf``.
    labels, other, missing : str
        Lines such as ``age=child,adult,old``, ``ward=elsewhere`` and ``age=unknown``.
    domain : str
        Path of a domain file, which the lines above add to.
    statistics : str
        Lines such as ``mean income`` and ``quantile income=0.25,0.5``.
    ranges : str
        Lines such as ``income=0:200000``.
    unit, unit_name : str
        Column of units, and the word for them.
    max_cells : int, optional
        Most cells that a unit is counted in.
    neighbours : str
        Which data sets are neighbours.
    epsilon : float
        Epsilon of the release.
    delta : float, optional
        Its delta; without it, pure DP.
    order : str
        Order of the noise, or auto.
    nonnegative : bool
        Whether negative counts are published as 0.
    delimiter, encoding : str
        How text files are read, if not as CSV in UTF-8.
    lines : str
        "strict" if each line of a text file is a record; "quoted" if quoted fields may hold line ends.
    """

    by: str = ""
    levels: str = ""
    bins: str = ""
    labels: str = ""
    other: str = ""
    missing: str = ""
    domain: str = ""
    statistics: str = ""
    ranges: str = ""
    unit: str = ""
    unit_name: str = ""
    max_cells: int | None = None
    neighbours: str = "add-remove"
    epsilon: float = 1.0
    delta: float | None = None
    order: str = "auto"
    nonnegative: bool = False
    delimiter: str = ""
    encoding: str = ""
    lines: str = "quoted"

    def plan(self) -> TablePlan:
        """Return the plan of the release; no data are read. Errors are in the words of the page."""
        with in_words_of_the_page(self.unit or None), warnings.catch_warnings():
            # They are shown beside the plan.
            warnings.simplefilter("ignore", PrivacyWarning)
            from ggdp.tables import plan_table

            return plan_table(**self._arguments())

    def checked(self) -> dict[str, Any]:
        """Return the arguments of `ggdp.check_table` but the data. Errors are in the words of the page."""
        with in_words_of_the_page(self.unit or None):
            asked = self._arguments()
            kept = ("by", "domain", "unit", "statistics", "encoding", "delimiter", "strict_lines")
            return {**{name: asked[name] for name in kept if name in asked}, "epsilon": self.epsilon}

    def flags(self) -> list[str]:
        """Return the flags of ``ggdp release`` that ask for the same."""
        found = ["--by", _joined(self.by)] if self.by.strip() else []
        found += ["--domain", self.domain] if self.domain else []
        for role, text in self._declarations().items():
            found += [part for line in _lines(text) for part in (f"--{role}", line)]
        for kind, value in self._statistics():
            found += [f"--{kind}", value]
        found += [part for line in _lines(self.ranges) for part in ("--range", line)]
        if self.unit.strip():
            found += ["--unit", self.unit.strip()]
        if self.max_cells is not None:
            found += ["--max-cells", str(self.max_cells)]
        if self.unit_name.strip():
            found += ["--unit-name", self.unit_name.strip()]
        if self.neighbours != "add-remove":
            found += ["--neighbours", self.neighbours]
        found += ["--epsilon", written(self.epsilon)]
        found += [] if self.delta is None else ["--delta", written(self.delta)]
        found += [] if self.order == "auto" else ["--order", self.order]
        found += ["--nonnegative"] if self.nonnegative else []
        found += ["--encoding", self.encoding.strip()] if self.encoding.strip() else []
        found += ["--delimiter", self.delimiter] if self.delimiter else []
        return found + (["--strict-lines"] if self.lines == "strict" else [])

    def command(self, source: str, *more: str, name: str = "release") -> str:
        """Return the command line that does the same; a line for each flag."""
        flags = self.flags() if name == "release" else self._check_flags()
        lines = [f"ggdp {name} {shlex.quote(source)}"]
        for part in (*flags, *more):
            if part in (*LABELS, "--domain", "--dry-run", "--nonnegative", "--out", "--ledger"):
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
            declared = "".join([*self._declarations().values(), self.ranges]).strip()
            texts["domain"] = _domain(asked["domain"]) if declared or not self.domain else repr(self.domain)
        if "goal" in asked:
            notion = "pure" if self.delta is None else "approximate"
            texts["goal"] = goal_code(notion, self.epsilon, self.delta or 0.0)
        lines = [f"    {name}={value}," for name, value in (texts | dict(more or {})).items()]
        first = [] if source is None else [f"    {source!r},"]
        imports = ["import datetime", "", "import ggdp"] if "datetime." in "".join(lines) else ["import ggdp"]
        return "\n".join([*imports, "", f"found = ggdp.{call}(", *first, *lines, ")"])

    def _check_flags(self) -> list[str]:
        """Return the flags that ``ggdp check`` has too."""
        flags, found = iter(self.flags()), []
        for flag in flags:
            values = [] if flag in ("--nonnegative", "--strict-lines") else [next(flags)]
            if flag in _CHECKED:
                found += [flag, *values]
        return found

    def _arguments(self) -> dict[str, Any]:
        """Return the arguments of `ggdp.plan_table`, without those that have their defaults."""
        from ggdp.cli.flags import domain_of, goal_of, marginals_of, statistics_of, text_of, with_ranges

        marginals = marginals_of([self.by] if self.by.strip() else [])
        asked: dict[str, list[str]] = {kind: [] for kind in _KINDS}
        for kind, value in self._statistics():
            asked[kind].append(value)
        statistics = statistics_of(*(asked[kind] for kind in _KINDS))
        if not marginals and not statistics:
            raise ArgumentError("--by", self.by, "name columns to count by, or a statistic such as mean income")
        lines: dict[str, Any] = {role: _lines(text) for role, text in self._declarations().items()}
        declared = domain_of(Path(self.domain) if self.domain else None, marginals=marginals, **lines)
        optional: dict[str, Any] = {
            "unit": self.unit.strip() or None,
            "max_cells": self.max_cells,
            "unit_name": self.unit_name.strip() or None,
            "neighbours": None if self.neighbours == "add-remove" else self.neighbours,
            "order": None if self.order == "auto" else _order(self.order),
            "nonnegative": self.nonnegative or None,
            "statistics": statistics or None,
            **text_of(
                self.encoding.strip() or None,
                self.delimiter or None,
                None,
                no_quotes=False,
                strict_lines=self.lines == "strict",
            ),
        }
        return {
            "by": marginals[0] if marginals else None,
            "goal": goal_of(self.epsilon, self.delta, None),
            "domain": with_ranges(declared, _lines(self.ranges)),
            **{name: value for name, value in optional.items() if value is not None},
        }

    def _declarations(self) -> dict[str, str]:
        """Return what is typed of columns, by the name of its flag."""
        return {role: getattr(self, role) for role in ("levels", "bins", "labels", "other", "missing")}

    def _statistics(self) -> Iterator[tuple[str, str]]:
        """Yield the kind and the value of each line of statistics."""
        for line in _lines(self.statistics):
            kind, _, value = line.partition(" ")
            if kind.lower() not in _KINDS or not value.strip():
                raise ArgumentError(
                    LABELS["--mean"], line, "must be mean COL, sum COL, variance COL or quantile COL=0.25,0.5"
                )
            yield kind.lower(), value.strip()


@contextmanager
def in_words_of_the_page(unit: str | None = None) -> Iterator[None]:
    """Make errors name the fields of the page; `unit` is the column of units, if one is named."""
    from ggdp.cli.flags import named_as_flags

    try:
        with named_as_flags(unit):
            yield
    except PageError:
        raise
    except GgdpError as named:
        # A domain file is named when the page is started; there is no field for it.
        said = str(named).replace("--domain, ", "").replace(" or in --domain", "")
        shown = PageError(_FLAG.sub(lambda flag: LABELS.get(flag[0], flag[0]), said))
        for note in getattr(named, "__notes__", ()):
            shown.add_note(note)
        raise shown from None


def message_of(error: GgdpError) -> str:
    """Return what is wrong, with the notes of the error, as sentences of the page."""
    said = [str(error), *getattr(error, "__notes__", ())]
    return ". ".join(f"{text[:1].upper()}{text[1:]}" for text in said)


class PageError(GgdpError):
    """An error in the words of the page."""


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _joined(by: str) -> str:
    """Return names without the spaces after commas, unless one of them is in quotes."""
    return by.strip() if '"' in by else ",".join(name.strip() for name in by.split(","))


def _order(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ArgumentError("order", text, "must be a number of at least 1, or auto") from None


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
