"""Frames of polars, eager and lazy, counted by polars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw

from ggdp.errors import ArgumentError
from ggdp.tables.engines.contributions import SCORE, UNIT, UnitLimits, kept_by_rank
from ggdp.tables.engines.files import require_columns
from ggdp.tables.engines.frames import framed, joined, safe_name, with_kinds
from ggdp.tables.engines.protocol import Dialect, Engine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ggdp.tables.engines.frames import Frame
    from ggdp.tables.engines.sources import CountQuery

# Before it, a column named like a pattern (^w.*$) is taken for another one, and a unit may be counted more than once.
OLDEST = (1, 36)


class _Polars(Dialect):
    def untyped_text(self, native: Any) -> set[str]:  # noqa: ANN401 - a frame of polars
        return {name for name, kind in native.collect_schema().items() if str(kind) == "Null"}

    def looked_up(self, frame: Frame, text: str, levels: Sequence[str], code: str) -> Frame:
        import polars as pl

        def coded(name: str) -> Any:  # noqa: ANN401 - a frame of polars
            found = pl.DataFrame({name: list(levels), code: range(len(levels))}, {name: pl.String, code: pl.Int64})
            return found if isinstance(frame, nw.DataFrame) else found.lazy()

        return joined(frame, text, coded)

    def kept_pairs(self, pairs: Frame, cell: Sequence[str], limits: UnitLimits) -> Frame:
        import polars as pl

        score = pl.col(UNIT).cast(pl.String).hash(limits.secret)
        for name in cell:
            score = (score ^ pl.col(name).hash(limits.secret)).hash(limits.secret)
        return kept_by_rank(framed(nw.to_native(pairs).with_columns(score.alias(SCORE))), cell, limits)


POLARS = _Polars()


class PolarsFrame(Engine):
    """A frame of polars."""

    name, dialect = "polars", POLARS

    def __init__(self, source: str, data: Any, columns: Sequence[str]) -> None:  # noqa: ANN401 - polars is untyped
        import polars as pl

        if tuple(map(int, pl.__version__.split(".")[:2])) < OLDEST:
            oldest = ".".join(map(str, OLDEST))
            raise ArgumentError(
                "data", f"polars {pl.__version__}", f"is not counted safely; install polars {oldest} or newer"
            )
        names = data.collect_schema().names()
        require_columns(source, columns, names)
        # Where no column is asked for, one stays: without any, a lazy frame may lose its rows.
        kept = columns or names[:1]
        taken = data.select(pl.nth(names.index(column)).alias(safe_name(column)) for column in kept)
        if isinstance(taken, pl.LazyFrame):
            # Predicates do not pass this.
            taken = taken.map_batches(_same, streamable=True)
        self._frame, self.kinds = with_kinds(POLARS, taken, columns)

    def frame(self, query: CountQuery) -> Frame:  # noqa: ARG002 - its text is always valid
        """Return the frame."""
        return self._frame


def _same(frame: Any) -> Any:  # noqa: ANN401 - a frame of polars
    return frame
