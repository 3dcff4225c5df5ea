"""Neighbouring tables differ, before any noise, by no more than a plan of statistics declares.

Requests are random: columns, units, rules, weights, tables, neighbours. Many pairs of neighbours are added up at once:
every pair has cells and units of its own, by a column with its number.
"""

from __future__ import annotations

import random
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from tests.cases import one_in
from tests.sources.zoo import ENGINES, KEY

import ggdp
from ggdp.domain.table_domain import Domain
from ggdp.sources.measures import SummedMeasure
from ggdp.sources.query import CountQuery, open_source
from ggdp.tables.noisy_counts import keys_of_cells
from ggdp.tables.request import TableRequest
from ggdp.tables.statistics.statistics_plan import plan_statistics
from ggdp.tables.statistics.sum_groups import STEPS_OF_A_UNIT

PAIRS = 40
DECLARED = {
    "k": {"levels": ["a", "b", "c"], "other": "o"},
    "j": {"levels": ["d", "e"], "missing": "m"},
    "x": {"range": [-1, 1], "step": 0.1},
    "y": {"range": [3, 1003], "step": 1},
}
VALUES = (None, float("nan"), float("inf"), -float("inf"), -1.0, 1.0, 0.05, 0.3, 3.0, 4.0, 500.5, 1003.0, -0.0, 1e300)
BY_LEVEL = {"range_by": "j", "ranges": {"d": [-1, 1, 0.1], "m": [-400, -7]}, "range": [3, 1003], "step": 0.5}
STATISTICS = (ggdp.Mean("x"), ggdp.Sum("x"), ggdp.Variance("x"), ggdp.Mean("y"), ggdp.Sum("y"), ggdp.Variance("y"))


def random_statistics(rng):
    chosen = rng.sample(STATISTICS, rng.randint(1, 4))
    if rng.random() < 0.3:
        chosen.append(ggdp.Quantile("x", [0.5]))
    return chosen


def random_request(rng, *, units):
    by, chosen = rng.choice([[["k", "j"]], [["j"], ["k"]], [["k"]], None]), random_statistics(rng)
    statistics, columns = chosen, {statistic.column for statistic in chosen}
    if by is not None and len(by) > 1 and rng.random() < 0.7:
        # Each table has its own, or none.
        statistics = [chosen, random_statistics(rng) if rng.random() < 0.7 else None]
        columns |= {statistic.column for statistic in statistics[1] or ()}
    is_open = rng.random() < 0.5
    declared, tables = dict(DECLARED), statistics if statistics is not chosen else [chosen] * len(by or [[]])
    asked = [
        names
        for names, of_table in zip(by or [[]], tables, strict=True)
        if "x" in {one.column for one in of_table or ()}
    ]
    if all("j" in names for names in asked) and rng.random() < 0.5:
        declared["x"] = BY_LEVEL
    return TableRequest(
        by=by,
        goal=ggdp.ApproxDP(1.0, 1e-6) if is_open else ggdp.PureDP(1.0),
        # Keys of an open table are chosen privately.
        domain=Domain({name: one for name, one in declared.items() if not is_open or name != "k"}),
        statistics=statistics,
        neighbours=rng.choice(["add-remove", "replace-one"]),
        weights={column: rng.choice([0.3, 1.0, 4.0]) for column in columns} if rng.random() < 0.4 else None,
        unit="u" if units else None,
        max_cells=rng.choice([1, 2, 3]) if units else None,
        per_unit=rng.choice([None, "sum", "mean", "min", "max"]) if units else None,
    )


def random_row(rng, unit):
    cell = {"k": rng.choice([*"abc", "z", None]), "j": rng.choice(["d", "e", "f", None])}
    return cell | {"x": rng.choice(VALUES), "y": rng.choice(VALUES), "u": unit}


def random_pair(rng, request):
    """The rows of two neighbours."""
    most = 1 if request.unit is None else 6
    others = [random_row(rng, f"u{rng.randint(0, 3)}") for _ in range(rng.randint(0, 6))]
    mine = [[random_row(rng, name) for _ in range(rng.randint(1, most))] for name in ("v", "w")]
    if request.neighbours == "add-remove":
        mine[rng.randint(0, 1)] = []
    return [others + rows for rows in mine]


def table_of(pairs, side):
    rows = []
    for number, pair in enumerate(pairs):
        rows += [row | {"pair": str(number), "u": f"{number} {row['u']}"} for row in pair[side]]
    kinds = {name: pa.float64() if name in "xy" else pa.string() for name in ("pair", "k", "j", "x", "y", "u")}
    return pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in kinds.items()})


def query_of(request, measured, max_cells):
    numbers = Domain({"pair": [str(number) for number in range(PAIRS)]})
    return CountQuery(
        marginals=tuple(numbers.merge(domain) if len(domain) else numbers for domain in request.domains),
        unit=request.unit,
        max_cells=max_cells,
        key=b"" if request.unit is None else KEY,
        measured=measured,
    )


def opened(engine, table):
    return open_source(ENGINES[engine](table), columns=table.column_names)


def cells_of(marginal, at):
    """The number of the pair and the rest of the cell, of cells or keys."""
    if isinstance(at, pa.Table):
        return [(int(pair), rest) for pair, *rest in zip(*at.to_pydict().values(), strict=True)]
    each = marginal.size // PAIRS
    return [divmod(cell, each) for cell in at.tolist()]


def ranges_of(group, marginal, at):
    keys = at if isinstance(at, pa.Table) else keys_of_cells(marginal, at)
    return None if group.measure is None else group.measure.values.in_cells(keys)


def moves_of(engine, request, plan, pairs, max_cells):
    """How far each pair of neighbours moves each group of each cell: of every pair, a list of lengths in steps."""
    query = query_of(request, plan.summed, max_cells)
    sides = []
    for side in (0, 1):
        with opened(engine, table_of(pairs, side)) as source:
            sides.append(source.sums(query))
    moves = [[] for _ in pairs]
    measures = [summed.measure for summed in plan.summed]
    for groups, marginal, *answers in zip(plan.tables, query.marginals, *sides, strict=True):
        for group in groups:
            change = defaultdict(lambda size=group.sums: np.zeros(size, dtype=np.int64))
            for sign, (at, sums) in zip((-1, 1), answers, strict=True):
                which = sums[measures.index(group.measure)] if group.measure in measures else sums[0]
                found = group.steps(which, ranges_of(group, marginal, at))
                for (number, rest), steps in zip(cells_of(marginal, at), found.T, strict=True):
                    change[number, str(rest)] += sign * steps
            for (number, _), move in change.items():
                if not move.any():
                    continue
                up, down = int(move[move > 0].sum()), -int(move[move < 0].sum())
                # A unit that goes and one that comes, in one cell: what rises and what falls are two moves.
                both = request.neighbours == "replace-one" and group.sums > 1 and up + down > group.most_moved
                moves[number] += [up, down] if both else [up + down]
    return moves


def excess(plan, moves):
    """What is longer, or more, than the sensitivity of a plan; None if nothing is."""
    sensitivity = plan.sensitivity
    allowed = sensitivity.sizes if sensitivity.kind == "box" else sensitivity.sizes * sensitivity.moving
    allowed = sorted((Fraction(size) * STEPS_OF_A_UNIT for size in allowed), reverse=True)
    if len(moves) > len(allowed):
        return f"{len(moves)} moves, and {len(allowed)} are declared"
    far = [(move, most) for move, most in zip(sorted(moves, reverse=True), allowed, strict=False) if move > most]
    return f"moves {far}" if far else None


def case_of(seed):
    rng = random.Random(seed)
    request = random_request(rng, units=seed % 3 != 0)
    return request, [random_pair(rng, request) for _ in range(PAIRS)], list(ENGINES)[seed % len(ENGINES)]


@pytest.mark.parametrize("seed", one_in(8, range(96)))
def test_random_neighbours_are_as_near_as_is_declared(seed):
    request, pairs, engine = case_of(seed)
    plan = plan_statistics(request)
    moves = moves_of(engine, request, plan, pairs, request.max_cells or 1)
    for number, found in enumerate(moves):
        assert excess(plan, found) is None, f"{excess(plan, found)}: {pairs[number]}, {request}"
    assert any(moves)


@pytest.mark.parametrize("seed", one_in(4, range(24)))
def test_random_neighbours_have_quantiles_in_no_more_cells_than_are_paid_for(seed):
    rng = random.Random(seed)
    request = replace_statistics(random_request(rng, units=seed % 2 == 0), [ggdp.Quantile("x", [0.5])])
    pairs = [random_pair(rng, request) for _ in range(PAIRS)]
    (planned,) = plan_statistics(request).quantiles
    query = query_of(request, (SummedMeasure(planned.measure, squares=False),), request.max_cells or 1)
    sides = []
    for side in (0, 1):
        with opened(list(ENGINES)[seed % len(ENGINES)], table_of(pairs, side)) as source:
            # Keys of an open marginal are numbered as they are in its sums.
            keys = [
                cells_of(marginal, at) for marginal, (at, _) in zip(query.marginals, source.sums(query), strict=True)
            ]
            sides.append(list(zip(keys, source.steps(query), strict=True)))
    moved = [0] * PAIRS
    assert planned.tables == tuple(range(len(request.by)))
    for marginal, *answers in zip(query.marginals, *sides, strict=True):
        each = 1 if marginal.is_open else marginal.size // PAIRS
        before, after = (
            {
                (str(keys[cell] if marginal.is_open else divmod(cell, each)), step): count
                for cell, step, count in zip(*(part.tolist() for part in found), strict=True)
            }
            for keys, found in answers
        )
        changed = {key: after.get(key, 0) - before.get(key, 0) for key in before | after}
        changed = {key: change for key, change in changed.items() if change}
        assert set(changed.values()) <= {-1, 1}
        for cell in {cell for cell, _ in changed}:
            of_cell = [change for (other, _), change in changed.items() if other == cell]
            # One unit comes, goes, or takes the place of another.
            assert len(of_cell) == 1 or (request.neighbours == "replace-one" and sorted(of_cell) == [-1, 1])
            moved[int(cell[1:].split(",")[0])] += 1
    assert max(moved) * Fraction(planned.of_a_cell.epsilon) <= Fraction(planned.epsilon)
    assert max(moved) > 0


def replace_statistics(request, statistics):
    columns = {column.name: column for column in request.domain}
    if not all("j" in names for names in request.by):
        columns["x"] = DECLARED["x"]
    return TableRequest(
        by=None if request.by == ((),) else request.by,
        goal=request.goal,
        domain=Domain(columns),
        statistics=statistics,
        neighbours=request.neighbours,
        unit=request.unit,
        max_cells=request.max_cells,
        per_unit=request.per_unit,
    )


def busy_case(neighbours, **options):
    """A unit in all cells of a table, with values at the ends of the range."""
    rng = random.Random(5)
    request = TableRequest(
        by=[["k"]],
        goal=ggdp.PureDP(1.0),
        domain=Domain(DECLARED),
        statistics=[ggdp.Variance("x"), ggdp.Mean("y")],
        neighbours=neighbours,
        **{"unit": "u", "max_cells": 2} | options,
    )
    cells = [{"k": key, "j": "d", "x": x, "y": y} for key, x, y in zip("abc", (-1, 0, 1), (3, 1003, 500), strict=True)]
    others = [[random_row(rng, "u1") for _ in range(3)] for _ in range(PAIRS)]
    mine = [cell | {"u": "v"} for cell in cells]
    hers = [cell | {"u": "w", "x": -cell["x"], "y": 1006 - cell["y"]} for cell in cells]
    if neighbours == "add-remove":
        hers = []
    return request, [[rows + mine, rows + hers] for rows in others]


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_a_unit_that_keeps_a_cell_too_many_is_found(neighbours):
    request, pairs = busy_case(neighbours)
    plan = plan_statistics(request)
    assert not any(excess(plan, moves) for moves in moves_of("pyarrow", request, plan, pairs, 2))
    assert all(excess(plan, moves) for moves in moves_of("pyarrow", request, plan, pairs, 3))


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_the_declared_number_and_length_of_moves_are_reached(neighbours):
    request, pairs = busy_case(neighbours)
    plan = plan_statistics(request)
    longest = max(moves_of("pyarrow", request, plan, pairs, 2), key=len)
    assert len(longest) == plan.sensitivity.moving
    assert max(longest) >= STEPS_OF_A_UNIT


@pytest.mark.parametrize("kind", ["sizes", "triples"])
def test_groups_that_are_larger_than_declared_are_found(kind):
    """A plan whose groups add more than it says: of twice the size, or triples with nothing for their rounding."""
    request, pairs = busy_case("add-remove")
    plan = plan_statistics(request)
    if kind == "sizes":
        wrong = [replace_size(group, 2 * group.size) for group in plan.groups]
        found = moves_of("pyarrow", request, evolved(plan, tables=(tuple(wrong),)), pairs, 2)
        assert all(excess(plan, moves) for moves in found)
        return
    # The rounding of a triple needs sums that are no whole steps: many units, in thirds of the range.
    assert plan.sensitivity.sizes[0] * STEPS_OF_A_UNIT == STEPS_OF_A_UNIT + 2


def evolved(plan, **changes):
    import attrs

    return attrs.evolve(plan, **changes)


def replace_size(group, size):
    return evolved(group, size=size)


def test_weights_are_sizes_of_groups():
    request, pairs = busy_case("add-remove", weights={"x": 1.0, "y": 0.25})
    plan = plan_statistics(request)
    assert plan.sensitivity.kind == "box"
    sizes = sorted(plan.sensitivity.sizes)
    assert sizes == [0.25, 0.25, *[1.0 + 2 / STEPS_OF_A_UNIT] * 2]
    found = moves_of("polars", request, plan, pairs, 2)
    assert not any(excess(plan, moves) for moves in found)
    # A plan that forgets weights declares moves that are too short, or noise for others.
    assert any(max(moves) >= STEPS_OF_A_UNIT and min(moves) <= STEPS_OF_A_UNIT // 4 for moves in found)


def test_a_missing_value_is_a_unit_of_its_group():
    """A unit without a value moves the first sum of a group, and so the count, by one unit."""
    request, _ = busy_case("add-remove")
    plan = plan_statistics(request)
    pairs = [[[], [{"k": "a", "j": "d", "x": None, "y": None, "u": "v"}]]] * PAIRS
    found = moves_of("pyarrow", request, plan, pairs, 2)
    assert found == [[STEPS_OF_A_UNIT] * 2] * PAIRS


def test_the_split_of_quantiles_adds_up_to_the_goal():
    statistics = [ggdp.Mean("x"), ggdp.Quantile("y", [0.1, 0.9])]
    request = replace_statistics(busy_case("replace-one")[0], statistics)
    plan = plan_statistics(request)
    (planned,) = plan.quantiles
    # Two units, of two cells each, of a table of four.
    assert Fraction(planned.of_a_cell.epsilon) * 4 <= Fraction(planned.epsilon) <= Fraction(1, 2) + Fraction(1, 2**50)
    left = plan.goal_of_sums(ggdp.PureDP(1.0))
    assert Fraction(left.epsilon) + Fraction(planned.epsilon) <= 1
    assert plan.joint(left).epsilon <= 1.0
