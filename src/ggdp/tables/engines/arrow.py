"""Tables of pyarrow, counted in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import pyarrow as pa
import pyarrow.compute as pc

from ggdp.tables.engines.contributions import UnitLimits, kept_in_memory
from ggdp.tables.engines.files import require_columns
from ggdp.tables.engines.frames import (
    declared_columns,
    framed,
    readable,
    require_one_declaration,
    safe_name,
    with_kinds,
)
from ggdp.tables.engines.protocol import Dialect, Engine
from ggdp.tables.engines.values import number_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ggdp.tables.engines.frames import Frame
    from ggdp.tables.engines.sources import CountQuery


class _Arrow(Dialect):
    def untyped_text(self, native: Any) -> set[str]:  # noqa: ANN401 - an Arrow table
        return {field.name for field in native.schema if pa.types.is_null(field.type)}

    def looked_up(self, frame: Frame, text: str, levels: Sequence[str], code: str) -> Frame:
        # A join of Arrow tables takes several times as long as all else that is done with few groups.
        table = nw.to_native(frame)
        places = pc.index_in(table[text], value_set=pa.array(levels, table[text].type))
        return framed(table.append_column(code, pc.cast(places, pa.int64())))

    def kept_pairs(self, pairs: Frame, cell: Sequence[str], limits: UnitLimits) -> Frame:
        return kept_in_memory(pairs, cell, limits)


ARROW = _Arrow()


class ArrowTable(Engine):
    """A table of pyarrow."""

    name, dialect = "pyarrow", ARROW

    def __init__(self, source: str, data: Any, columns: Sequence[str]) -> None:  # noqa: ANN401 - pyarrow is untyped
        require_columns(source, columns, data.column_names)
        taken = pa.table({safe_name(column): data[column] for column in columns})
        self._frame, self.kinds = with_kinds(ARROW, _plain(taken), columns)

    def frame(self, query: CountQuery) -> Frame:
        """Return the table; text that is not valid UTF-8 has no text."""
        require_one_declaration(query, self.kinds)
        table = readable(nw.to_native(self._frame), declared_columns(query))
        for name in dict.fromkeys(summed.measure.column for summed in query.measured):
            if self.kinds[name] == "integer":
                # Arrow refuses to round integers to floats unless it is told to, by an error that values decide.
                numbers = pc.cast(table[safe_name(name)], pa.float64(), safe=False)
                table = table.append_column(number_name(name), numbers)
        return framed(table)


def _plain(table: pa.Table) -> pa.Table:
    """Return an Arrow table without dictionaries and views, which group-bys do not take."""
    for place, field in enumerate(table.schema):
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_string_view(kind):
            kind = pa.large_string()
        if kind != field.type:
            table = table.set_column(place, field.name, table[field.name].cast(kind))
    return table
