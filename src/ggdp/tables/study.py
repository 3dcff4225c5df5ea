"""Studies: a request with its source, its ledger and the names of its tables, kept in a TOML file.

A study is run again next year, on other data, without anybody remembering what was asked. Its file has the keys of a
request (`ggdp.tables.request`), those of the other attributes of `Study`, and ``name`` in each of ``[[tables]]``. Paths
in it are relative to its directory.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import field, fields_dict

from ggdp import _validate
from ggdp._files import MOST_TOML, parsed_toml, read_file, read_json, writable_file, write_together, writing
from ggdp._records import checked_field, frozen
from ggdp.errors import ArgumentError, ArgumentTypeError, GgdpError
from ggdp.noise.entropy import takes_rng
from ggdp.tables.request import EngineName, TableRequest, is_table_name, named_by_lines

if TYPE_CHECKING:
    from ggdp.tables.executor_release import WrittenRelease
    from ggdp.tables.table_plan import PublishedFiles, TablePlan
    from ggdp.tables.table_release import TableRelease

_PATHS = ("source", "ledger", "output")


def _names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of tables, which are those of files."""
    if isinstance(names, str):
        raise ArgumentTypeError("names", names, "must be a list of names, one for each table")
    for place, name in enumerate(names):
        if not is_table_name(name):
            said = "must be the name of a file without its ending: letters, digits, spaces, _ . - + ( )"
            raise ArgumentError("name", name, said)
        if name.casefold() in {earlier.casefold() for earlier in names[:place]}:
            raise ArgumentError("name", name, "is the name of another table, too; names differ, also in lower case")
    return tuple(names)


@frozen(kw_only=True)
class Study:
    """A request with its source, its ledger and the names of its tables: what is run, and run again.

    Attributes
    ----------
    request : TableRequest
        What is released, for which goal.
    names : tuple of str
        A name for each table, and so for its file; by default its columns.
    source : str, optional
        What is counted: a file, or a pattern of several.
    ledger, analyst : str, optional
        The budget that each run is charged to, and who asks.
    engine : {"duckdb", "spark"}, optional
        Engine that reads the source.
    output : str, optional
        The directory that the tables and their manifest are written to.

    Examples
    --------
    >>> import ggdp, polars as pl
    >>> from ggdp.tables import TableRequest
    >>> request = TableRequest("ward", ggdp.PureDP(1.0), {"ward": ["births", "eyes"]})
    >>> study = ggdp.Study(request=request, names=["wards"])
    >>> study.plan().half_width
    3
    >>> study.run(pl.DataFrame({"ward": ["eyes", "births", "eyes"]}))["wards"].to_polars()["ward"].to_list()
    ['births', 'eyes']
    """

    request: TableRequest
    names: tuple[str, ...] = field(default=(), converter=_names)
    source: str | None = checked_field(_validate.words, default=None)
    ledger: str | None = checked_field(_validate.words, default=None)
    analyst: str | None = checked_field(_validate.words, default=None)
    engine: EngineName | None = None
    output: str | None = checked_field(_validate.words, default=None)

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.request, TableRequest):
            raise ArgumentTypeError("request", type(self.request).__name__, "must be a TableRequest")
        if self.engine is not None:
            _validate.choice(engine=self.engine, among=("duckdb", "spark"))
        if not self.names:
            object.__setattr__(self, "names", self.request.table_names)
        if len(self.names) != len(self.request.by):
            raise ArgumentError("names", self.names, f"must be {len(self.request.by)}, one for each table")

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Study:
        """Return the study of a TOML file; an error names its line and its key."""
        return cls.parse(read_file(path, argument="path", most=MOST_TOML), os.fspath(path))

    @classmethod
    def parse(cls, content: bytes, name: str) -> Study:
        """Return the study that a TOML file of a name holds; paths begin at the directory that is part of the name."""
        plain = parsed_toml(content, name, argument="path")
        with named_by_lines(content, plain, name):
            own = {key: plain[key] for key in _OWN if key in plain}
            if isinstance(sources := own.get("source"), list):
                raise ArgumentError(
                    "source", sources, "must be one file, or a pattern of several, such as 'visits*.csv'"
                )
            for key in _PATHS:
                if isinstance(own.get(key), str):
                    own[key] = _join(os.path.dirname(name), own[key])
            asked = {key: value for key, value in plain.items() if key not in _OWN}
            names: list[Any] = []
            if isinstance(tables := asked.get("tables"), list) and all(isinstance(table, dict) for table in tables):
                names = [table.get("name") for table in tables]
                asked["tables"] = [{key: one for key, one in table.items() if key != "name"} for table in tables]
            request = TableRequest.from_keys(asked, name, _OWN)
            named = [usual if one is None else one for one, usual in zip(names, request.table_names, strict=True)]
            return cls(request=request, names=tuple(named), **own)

    @classmethod
    def like(cls, path: str | os.PathLike[str]) -> Study:
        """Return the study of a TOML file, or that of a manifest: its request and the names of its tables."""
        name = str(path)
        if name.lower().endswith(".toml"):
            return cls.read(path)
        manifest = read_json(path, argument="path", instead="name a manifest of ggdp, or a study, which ends in .toml")
        try:
            table = manifest["table"]
            columns = [column for one in table["tables"] for column in one["tableSchema"]["columns"]]
            dates = {column["name"] for column in columns if column["datatype"] == "date"}
            request = TableRequest.from_dict(table["request"], dates, os.path.dirname(name))
            names = [Path(str(one["url"])).stem for one in table["tables"]]
        except GgdpError as refused:
            raise ArgumentError("path", name, f"its request is refused by this version of ggdp: {refused}") from None
        except (AttributeError, LookupError, TypeError, ValueError):
            said = "has no request of tables that this version of ggdp reads; name the manifest of a table, or a study"
            raise ArgumentError("path", name, said) from None
        are_names = all(map(is_table_name, names)) and len({one.casefold() for one in names}) == len(request.by)
        return cls(request=request, names=tuple(names) if are_names else ())

    def plan(self, out: str | os.PathLike[str] | None = None) -> TablePlan:
        """Return how the study is answered; no data are read, and no budget is spent.

        Parameters
        ----------
        out : path, optional
            A directory for ``NAME.csv`` of each table and ``manifest.json``; or a file, as in `ggdp.plan_table`. By
            default the study's `output`.
        """
        from ggdp.tables.table_plan import plan_request, warn_of

        plan = plan_request(self.request, engine=self.engine, out=out or self.output, names=self.names)
        warn_of(plan)
        return plan

    @takes_rng
    def run(
        self,
        data: Any = None,  # noqa: ANN401 - a path, or any frame that narwhals reads
        out: str | os.PathLike[str] | None = None,
        **given: Any,  # noqa: ANN401 - those of `TablePlan.run`
    ) -> TableRelease | WrittenRelease | PublishedFiles:
        """Run the study on its source, or on other data. Each run spends the budget.

        Parameters
        ----------
        data : path or frame, optional
            What is counted instead of the study's `source`.
        out : path, optional
            As in `plan`.
        **given
            Arguments of `TablePlan.run`; `ledger` and `analyst` are by default those of the study.
        """
        data = self.source if data is None else data
        if data is None:
            raise ArgumentError("data", data, "is missing: the study has no source; pass a file or a frame")
        return self.plan(out).run(data, **{"ledger": self.ledger, "analyst": self.analyst} | given)

    def to_toml(self, directory: str | os.PathLike[str] | None = None) -> str:
        """Return the study as the text of a TOML file, with paths relative to its directory, if one is given."""
        own = {name: value for name in _OWN if (value := getattr(self, name)) is not None}
        for key in _PATHS if directory is not None else ():
            if key in own and "://" not in own[key] and not os.path.isabs(own[key]):
                own[key] = Path(os.path.relpath(own[key], directory)).as_posix()
        return self.request.to_toml(self.names, directory, **own)

    def write(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the study to a TOML file, from whose directory on its paths are; an existing file stays by default."""
        file = writable_file("path", path, (".toml",), overwrite=overwrite)
        with writing("path", str(file)):
            write_together({file: self.to_toml(file.parent).encode()}, overwrite=overwrite)


_OWN = tuple(name for name in fields_dict(Study) if name not in ("request", "names"))


def _join(directory: str, path: str) -> str:
    """Return a path of a file in a directory, which may be a pattern; not that of a server."""
    if "://" in path or not directory or os.path.isabs(path):
        return path
    return os.path.join(re.sub(r"([*?[])", r"[\1]", directory) if re.search(r"[*?[]", path) else directory, path)
