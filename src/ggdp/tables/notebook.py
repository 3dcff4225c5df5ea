"""Plans and released tables as HTML, for notebooks; every text is escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ggdp.tables.statistics.released_statistics import shown_estimate
from ggdp.tables.table_manifest import number_of
from ggdp.tables.table_plan import TITLE, summary_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ggdp.tables.table_plan import TablePlan
    from ggdp.tables.table_release import Table, TableRelease

_SHOWN_ROWS = 10


def release_as_html(release: TableRelease) -> str:
    """Return the guarantee of a release and the first rows of each of its tables."""
    guarantee = "NOT PRIVATE: no guarantee" if release.guarantee is None else str(release.guarantee)
    parts = [f"<p><b>{escape(guarantee)}</b>; {escape(str(release.release.mechanism))}</p>"]
    parts += [f"<p>then: {escape(str(step))}</p>" for step in release.release.adjustments]
    return "".join(parts + [_table(table) for table in release.tables])


def plan_as_html(plan: TablePlan) -> str:
    """Return a plan as an HTML table."""
    said = [*summary_rows(plan), *(("warning", warning) for warning in plan.request.warnings)]
    rows = "".join(map(_row, said))
    return f"<table><caption>{escape(f'TablePlan: {TITLE}')}</caption><tbody>{rows}</tbody></table>"


def _table(table: Table) -> str:
    names = [statistic.name for statistic in table.statistics]
    shown = (text for name in ["count", *names] for text in (name, "95 % interval"))
    header = _row([*table.by, *shown], "th")
    rows = [
        _row(
            [
                *(str(row[name]) for name in table.by),
                f"{row['count']:,}",
                f"{row['lower']:,} to {row['upper']:,}",
                *(text for name in names for text in shown_estimate(row, name)),
            ]
        )
        for row in table.to_arrow().slice(0, _SHOWN_ROWS).to_pylist()
    ]
    covers = "" if table.covers is None else f"; the intervals cover: {table.covers}"
    more = f", {len(table) - _SHOWN_ROWS:,} more" if len(table) > _SHOWN_ROWS else ""
    caption = escape(f"{' x '.join(table.by) or 'all rows'}: {number_of(len(table), 'row')}{covers}")
    body = f"<thead>{header}</thead><tbody>{''.join(rows)}</tbody>"
    return f"<table><caption>{caption}</caption>{body}</table><p>{number_of(len(rows), 'row')} shown{more}</p>"


def _row(texts: Iterable[str], tag: str = "td") -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(text)}</{tag}>' for text in texts)}</tr>"
