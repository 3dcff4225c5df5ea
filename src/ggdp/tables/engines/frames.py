"""Frames of every library by narwhals: safe names, exact text, and errors that quote no data.

Columns have names of our own (`safe_name`): names of data may mean something to an engine, be a pattern, have a dot in
them, or differ in case alone, which some engines do not see.
"""

from __future__ import annotations

import warnings
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import narwhals as nw
import pyarrow as pa

from ggdp.errors import ArgumentError, GgdpError, OutOfMemoryError, SourceError
from ggdp.tables.engines.kinds import kind_of, unparsable
from ggdp.tables.engines.text_files import valid_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ggdp.tables.column import Column
    from ggdp.tables.engines.protocol import Dialect
    from ggdp.tables.engines.sources import CountQuery

Frame: TypeAlias = nw.DataFrame[Any] | nw.LazyFrame[Any]
Answer = TypeVar("Answer")


def safe_name(name: str) -> str:
    """Return the internal name of a column while it is counted, which holds no special character.

    Examples
    --------
    >>> safe_name("ID"), safe_name("id"), safe_name("^i.*$")
    ('b4944', 'b6964', 'b5e692e2a24')
    """
    return "b" + name.encode("utf-8", "surrogatepass").hex()


def framed(frame: Any) -> Frame:  # noqa: ANN401 - a frame of any library
    """Return a frame as a narwhals frame."""
    found: Frame = nw.from_native(frame)
    return found


def quietly(source: str, work: Callable[[], Answer]) -> Answer:
    """Return what `work` returns; errors and warnings of the engine are replaced by one error.

    Claim. An error of an engine may quote a value, so neither its message nor the exception itself is passed on: the
    new one is raised after the old one is gone, so that it is neither its cause nor its context.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return work()
    except (GgdpError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    # A panic of polars is no Exception, and may quote a value too.
    except BaseException as failed:
        out_of_memory = isinstance(failed, MemoryError) or type(failed).__name__ == "OutOfMemoryException"
    if out_of_memory:
        raise OutOfMemoryError(source)
    raise SourceError(source)


def collected(frame: Frame) -> pa.Table:
    """Return a small frame as an Arrow table."""
    if isinstance(frame, nw.LazyFrame):
        # Polars would otherwise hold all rows of the needed columns at once.
        options = {"engine": "streaming"} if frame.implementation.is_polars() else {}
        frame = frame.collect("pyarrow", **options)
    return frame.to_arrow()


def with_kinds(dialect: Dialect, data: Any, columns: Sequence[str]) -> tuple[Frame, dict[str, str]]:  # noqa: ANN401
    """Return a frame, with text for types that narwhals does not know but that are text, and kinds by its schema."""
    frame, texts = framed(data), dialect.untyped_text(data)
    schema = frame.collect_schema()
    kinds = {name: "text" if safe_name(name) in texts else kind_of(schema[safe_name(name)]) for name in columns}
    odd = [nw.col(name).cast(nw.String) for name in schema.names() if name in texts]
    return (frame.with_columns(*odd) if odd else frame), kinds


def joined(frame: Frame, text: str, levels: Callable[[str], Any]) -> Frame:
    """Return a frame joined with the levels of a column of text, under a name of their own, and their codes."""
    name = f"{text}_level"
    found: Any = framed(levels(name))
    return frame.join(found, left_on=text, right_on=name, how="left")


def declared_columns(query: CountQuery, opened: Iterable[str] = ()) -> dict[str, Column | None]:
    """Return the declarations of the columns of a query; None for its unit, and for columns that are only measured.

    A query that names no column counts rows: it takes the first one that the source was opened with, if any.
    """
    declared: dict[str, Column | None] = {c.name: c for marginal in query.marginals for c in marginal}
    for summed in query.measured:
        declared.setdefault(summed.measure.column)
    if query.unit is not None:
        declared = {**declared, query.unit: None}
    return declared or dict.fromkeys(islice(opened, 1))


def require_one_declaration(query: CountQuery, kinds: Mapping[str, str]) -> None:
    """Refuse columns of text that marginals declare in different ways: their values are read once for all marginals."""
    declared = declared_columns(query)
    for column in (column for marginal in query.marginals for column in marginal):
        if declared[column.name] != column and kinds[column.name] in ("text", "object"):
            raise ArgumentError("marginals", column.name, "is declared in two ways: request these tables separately")


def readable(table: pa.Table, declared: Mapping[str, Column | None]) -> pa.Table:
    """Return an Arrow table, under safe names, whose text is UTF-8; what is not has no text (`kinds`)."""
    instead = {safe_name(name): unparsable(column) for name, column in declared.items()}
    for place, field in enumerate(table.schema):
        if not (pa.types.is_string(field.type) or pa.types.is_large_string(field.type)):
            continue
        try:
            table[field.name].validate(full=True)
        except pa.ArrowInvalid:
            raw = table[field.name].cast(pa.large_binary())
            texts = valid_text(raw, instead.get(field.name), pa.large_string())
            table = table.set_column(place, field.name, texts)
    return table
