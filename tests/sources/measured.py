"""What statistics must be computed from, in plain Python, by what `ggdp.sources.measures` says.

Nothing is shared with the code that is checked but the declared ranges. Rows are dictionaries of Python values: of
files of text they are texts, and nothing else.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from dataclasses import replace
from decimal import Decimal
from itertools import product
from typing import TYPE_CHECKING, Any

from attrs import evolve
from tests.fuzz import reference

from ggdp.domain.value_range import ValueRange
from ggdp.sources.counting import UNIT, kept_cells
from ggdp.sources.query import open_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ggdp.domain.table_domain import Domain
    from ggdp.sources.measures import Measure
    from ggdp.sources.query import CountQuery

_NUMBER = re.compile(r"[+-]?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[0-9]{1,2})?")

Row = dict[str, Any]


def in_cell(measure: Measure, marginal: Domain, cell: Any) -> Measure:
    """Return the measure with the range of one cell or key of a marginal, where ranges are by level."""
    values = measure.values
    if isinstance(values, ValueRange):
        return measure
    if values.by not in marginal:
        # Nobody looks at it there.
        return evolve(measure, values=values.ranges[0])
    place = marginal.names.index(values.by)
    if marginal.is_open:
        texts = [str(level).lower() if isinstance(level, bool) else str(level) for level in values.levels]
        key = cell[place]
        return evolve(measure, values=values.ranges[key if isinstance(key, int) else texts.index(key)])
    codes = list(product(*(range(column.size) for column in marginal)))[cell]
    return evolve(measure, values=values.ranges[codes[place]])


def _float(value: Any) -> float | None:
    """Return the number that a value is; None if it is none."""
    if isinstance(value, str):
        return float(value) if _NUMBER.fullmatch(value) else None
    if isinstance(value, bool):
        return 1.0 if value else 0.0
    if isinstance(value, int):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    if isinstance(value, Decimal):
        return float(str(value))
    return value if isinstance(value, float) and not math.isnan(value) else None


def _whole(quotient: float, first: int, last: int) -> int:
    if math.isinf(quotient):
        return last if quotient > 0 else first
    return min(max(math.floor(quotient + 0.5), first), last)


def step_of(measure: Measure, value: Any) -> int | None:
    """Return the step of a row: from the lower end, or from 0 where the rows of a unit are added up."""
    if isinstance(value, str):
        value = None if value in measure.text.nulls else reference.written_number(measure.text, value)
    low, high, step = measure.values.low, measure.values.high, measure.values.step
    number = _float(value)
    if number is None and measure.complete:
        # A whole number of steps, the lower of two.
        number = low + step * math.floor((high - low) / step / 2)
        return int((number if measure.rule == "sum" else number - low) / step)
    if number is None:
        return None
    if measure.rule == "sum":
        most = int(max(abs(low), abs(high)) / step)
        return _whole(number * float(1 / step), -most, most)
    return _whole((number - float(low)) * float(1 / step), 0, int((high - low) / step))


def unit_step(measure: Measure, values: Iterable[Any]) -> int | None:
    """Return the step of a unit, from the values of its rows in a cell."""
    steps = [step for value in values if (step := step_of(measure, value)) is not None]
    if not steps:
        return None
    if measure.rule in ("min", "max"):
        return min(steps) if measure.rule == "min" else max(steps)
    if measure.rule == "mean":
        return (2 * sum(steps) + len(steps)) // (2 * len(steps))
    low, high = (int(end / measure.values.step) for end in (measure.values.low, measure.values.high))
    return min(max(sum(steps), low), high) - low


def pairs_of(rows: Iterable[Row], cell_of: Callable[[Row], Any], unit: str) -> dict[tuple[Any, Any], list[Row]]:
    """Return the rows of each pair of unit and cell; rows without either are left out."""
    found = defaultdict(list)
    for row in rows:
        if row.get(unit) is not None and cell_of(row) is not None:
            found[row[unit], cell_of(row)].append(row)
    return dict(found)


def added(cells: Iterable[tuple[Any, int | None]]) -> dict[Any, tuple[int, int, int, int]]:
    """Return units, those with a step, and the sums of steps and of their squares, from the step of each unit."""
    found: dict[Any, tuple[int, int, int, int]] = {}
    for cell, step in cells:
        units, known, first, second = found.get(cell, (0, 0, 0, 0))
        more = (0, 0, 0) if step is None else (1, step, step * step)
        found[cell] = (units + 1, known + more[0], first + more[1], second + more[2])
    return found


def _counted_steps(cells: Iterable[tuple[Any, int | None]]) -> dict[tuple[Any, int], int]:
    found: dict[tuple[Any, int], int] = defaultdict(int)
    for cell, step in cells:
        if step is not None:
            found[cell, step] += 1
    return dict(found)


def assert_measured(
    data: Any, rows: Sequence[Row], query: CountQuery, cell_of: Callable[[Row], Any], **options: Any
) -> None:
    """Check the sums and steps of the one marginal of a query, and which pairs of unit and cell they come from."""
    (marginal,) = query.marginals
    names = [*marginal.names, *(summed.measure.column for summed in query.measured), *filter(None, [query.unit])]
    with open_source(data, columns=names, **options) as source:
        if query.unit is None:
            counted = [row for row in rows if cell_of(row) is not None]
            wanted = [
                [
                    (cell, step_of(in_cell(summed.measure, marginal, cell), row.get(summed.measure.column)))
                    for row in counted
                    for cell in [cell_of(row)]
                ]
                for summed in query.measured
            ]
        else:
            pairs = pairs_of(rows, cell_of, query.unit)
            (table,) = source.answer(query, kept_cells)
            kept = {(row[UNIT], row["cell"]): row for row in table.to_pylist()}
            assert len(kept) == table.num_rows, "a pair of unit and cell came twice"
            assert kept.keys() <= pairs.keys()
            for unit in {unit for unit, _ in pairs}:
                of_unit = sum(other == unit for other, _ in pairs)
                assert sum(other == unit for other, _ in kept) == min(of_unit, query.max_cells)
            wanted = [
                [
                    (pair[1], unit_step(in_cell(summed.measure, marginal, pair[1]), values))
                    for pair in kept
                    for values in [[row.get(summed.measure.column) for row in pairs[pair]]]
                ]
                for summed in query.measured
            ]
        ((numbers, found),) = source.sums(query)
        cells = numbers.tolist()
        assert cells == sorted(set(cells))
        assert len(found) == len(query.measured)
        for summed, sums, values in zip(query.measured, found, wanted, strict=True):
            got = dict(zip(cells, zip(*(part.tolist() for part in sums), strict=True), strict=True))
            right = {
                cell: (units, known, first, second if summed.squares else 0)
                for cell, (units, known, first, second) in added(values).items()
            }
            assert got == right, f"{summed.measure}: {got}, should be {right}"
            assert all(type(number) is int for numbers in got.values() for number in numbers)
        # Steps are asked for one measure at a time, so that each query has some of them.
        for summed, values in list(zip(query.measured, wanted, strict=True))[::7]:
            ((at, steps, counts),) = source.steps(replace(query, measured=(summed,)))
            places = list(zip(at.tolist(), steps.tolist(), strict=True))
            assert places == sorted(set(places))
            got = dict(zip(places, counts.tolist(), strict=True))
            assert got == _counted_steps(values), f"steps of {summed.measure}"
