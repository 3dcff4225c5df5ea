"""Requests as TOML files that people write and keep: read into a `TableRequest`, and written so that they read back.

=====================  ====================================================================================
``epsilon``, ``delta``  the goal; with ``notion`` if it is neither pure nor approximate DP
``[[tables]]``          ``by``, and ``mean``, ``sum``, ``variance`` (lists of columns) and ``quantile``
                        (``{column = [fractions]}``), the same for each table
``[columns.NAME]``      what a domain file declares of a column; also ``[[impossible]]``
``[unit]``, ``[format]``  who is protected, and how text files are read
=====================  ====================================================================================

Every other field of a request has the key that it declares (`ggdp.tables.request`), by default its name. A field that
has its default is not written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ggdp._files import read_toml
from ggdp._records import options
from ggdp.domain.table_domain import Domain
from ggdp.errors import ArgumentError
from ggdp.tables.request import TableRequest, goal_of
from ggdp.tables.statistics.statistic import STATISTICS, Quantile, Statistic

if TYPE_CHECKING:
    import os

_BARE = re.compile(r"[A-Za-z0-9_-]+")
# Fields that are read from several keys.
_COMPOSED = ("by", "goal", "domain", "statistics")
_KEYS = ("epsilon", "delta", "notion", "tables", "columns", "impossible")


def read_request(path: str | os.PathLike[str], record: type[TableRequest] = TableRequest) -> TableRequest:
    r"""Return the request of a TOML file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "wards.toml"
    >>> _ = file.write_text('epsilon = 1.0\n[[tables]]\nby = ["ward"]\n[columns.ward]\nlevels = ["births", "eyes"]')
    >>> read_request(file).sizes
    (2,)
    """
    content, name = read_toml(path, argument="study"), str(path)
    known = {
        said.key or field: field for field, (_, said) in options(cast("type", record)).items() if field not in _COMPOSED
    }
    given: dict[str, Any] = {}
    for key, value in _flat(content, {key.partition(".")[0] for key in known if "." in key}).items():
        if key in known:
            given[known[key]] = value
        elif key not in _KEYS:
            raise ArgumentError("study", name, f"{key!r} is not a key of a request")
    if "epsilon" not in content:
        raise ArgumentError("study", name, "needs a key epsilon, such as epsilon = 1.0")
    tables = content.get("tables", [])
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise ArgumentError("study", name, "needs a section [[tables]] for each table")
    statistics = [_statistics(table, name) for table in tables]
    if any(found != statistics[0] for found in statistics):
        raise ArgumentError("study", name, "asks for other statistics in another table; ask for the same in all")
    by = [table.get("by", []) for table in tables]
    return record(
        by=None if by == [[]] else by,
        goal=goal_of(content["epsilon"], content.get("delta"), content.get("notion")),
        domain=Domain(content.get("columns", {}), content.get("impossible", ())),
        statistics=statistics[0],
        **given,
    )


def request_as_toml(request: TableRequest) -> str:
    """Return a request as the text of a TOML file, which `read_request` reads.

    Examples
    --------
    >>> import ggdp
    >>> domain = {"ward": ["births", "eyes"]}
    >>> request = TableRequest("ward", ggdp.PureDP(1.0), domain, unit="patient", max_cells=1)
    >>> print(request_as_toml(request))
    epsilon = 1.0
    <BLANKLINE>
    [unit]
    column = "patient"
    max_cells = 1
    <BLANKLINE>
    [[tables]]
    by = ["ward"]
    <BLANKLINE>
    [columns.ward]
    levels = ["births", "eyes"]
    <BLANKLINE>
    """
    goal = request.goal
    sections: dict[str, dict[str, Any]] = {"": {"epsilon": goal.epsilon}}
    if goal.delta:
        sections[""]["delta"] = goal.delta
    if goal.notion == "probabilistic":
        sections[""]["notion"] = goal.notion
    for field, (part, said) in options(cast("type", type(request))).items():
        value = getattr(request, field)
        if field not in _COMPOSED and value != part.default:
            section, _, key = (said.key or field).rpartition(".")
            sections.setdefault(section, {})[key] = dict(value) if field == "weights" else value
    asked: dict[str, Any] = {}
    for statistic in request.statistics:
        if isinstance(statistic, Quantile):
            asked.setdefault("quantile", {})[statistic.column] = list(statistic.fractions)
        else:
            asked.setdefault(statistic.kind, []).append(statistic.column)
    parts = [(f"[{section}]" if section else "", values) for section, values in sections.items()]
    parts += [("[[tables]]", {"by": list(names), **asked}) for names in request.by]
    for column in request.domain:
        declared = {name: value for name, value in column.arguments().items() if value is not None and name != "name"}
        values_in = declared.pop("range", None)
        parts.append((f"[columns.{_key(column.name)}]", declared | ({} if values_in is None else values_in.to_dict())))
    parts += [("[[impossible]]", dict(pattern)) for pattern in request.domain.impossible]
    texts = []
    for head, values in parts:
        lines = [f"{_key(key)} = {_value(value)}\n" for key, value in values.items()]
        texts.append("".join([f"{head}\n", *lines] if head else lines))
    return "\n".join(texts)


def _flat(content: Mapping[str, Any], sections: set[str]) -> dict[str, Any]:
    """Return what a file holds, with the keys of `sections` as in "unit.column"."""
    found: dict[str, Any] = {}
    for key, value in content.items():
        if key in sections and isinstance(value, dict):
            found |= {f"{key}.{name}": inner for name, inner in value.items()}
        else:
            found[key] = value
    return found


def _statistics(table: Mapping[str, Any], name: str) -> tuple[Statistic, ...]:
    found: list[Statistic] = []
    for key, value in table.items():
        if key == "quantile" and isinstance(value, dict):
            found += [Quantile(column, fractions) for column, fractions in value.items()]
        elif key != "quantile" and key in STATISTICS and isinstance(value, list):
            found += [STATISTICS[key](column) for column in value]
        elif key != "by":
            known = ", ".join(["by", *STATISTICS])
            raise ArgumentError("study", name, f"{key!r} is not a key of [[tables]]: {known}")
    return tuple(found)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _value(key)


def _value(value: object) -> str:
    """Return a value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | Path):
        # The escapes of JSON are those of TOML, which has one character more that must be escaped.
        return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(str(key))} = {_value(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return repr(value)
