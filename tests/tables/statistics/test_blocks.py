"""Statistics of several columns from blocks of sums whose noise has one total: who has them, their proof and errors."""

import math
import random
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from tests.cases import examples

import ggdp
from ggdp.noise import SeededSource
from ggdp.releases.error_law import VectorErrorLaw
from ggdp.sources.measures import CellSums
from ggdp.tables.manifest_checks import contradiction
from ggdp.tables.request import TableRequest
from ggdp.tables.statistics.margins import COUNT_RATIO, half_widths, linear_margins
from ggdp.tables.statistics.statistics_plan import (
    STEPS_OF_A_UNIT,
    block_change,
    in_blocks,
    plan_statistics,
    statistics_mechanism,
)
from ggdp.tables.statistics.sum_groups import SumGroup
from ggdp.tables.table_noise import NoisePart, TableNoise
from ggdp.tables.table_plan import plan_request

pytestmark = pytest.mark.filterwarnings("ignore::ggdp.errors.PrivacyWarning")

PURE = ggdp.PureDP(1.0)
NAMES = "vwxyz"


def asked(columns=3, statistic=ggdp.Mean, *, by=("g",), levels=("a", "b"), complete=False, step=1, **given):
    column = {"range": (0, 100), "step": step, "complete": complete}
    domain = {"g": list(levels)} | dict.fromkeys(NAMES[:columns], column)
    given = {"goal": PURE, "unit": "row", "statistics": [statistic(name) for name in NAMES[:columns]], **given}
    return TableRequest(by=list(by), domain=domain, **given)


def planned_error(plan):
    """Return the standard deviation of half the difference of the outer sums, as planned, and that of Laplace noise."""
    (_, error), (_, independent) = plan.compared
    return error, independent


@pytest.mark.parametrize(
    ("columns", "complete", "most"), [(3, False, 0.42), (5, False, 0.34), (3, True, 0.29), (5, True, 0.20)]
)
def test_several_means_have_far_less_squared_error(columns, complete, most):
    plan = plan_request(asked(columns, complete=complete))
    error, independent = planned_error(plan)
    assert plan.statistics.blocks
    assert independent == pytest.approx(columns, rel=1e-6)
    assert (error / independent) ** 2 <= most
    # What is drawn has the error that was planned.
    (part,) = plan.parts
    x = part.mechanism.noise.vectors.sample(20_000, rng=SeededSource(seed=columns)).astype(np.float64)
    last = plan.statistics.sums[0] // columns - 1
    drawn = (x[:, last] - x[:, last - 1]).std() / 2.0 / STEPS_OF_A_UNIT
    assert drawn == pytest.approx(error, rel=0.04)


@pytest.mark.parametrize(
    "given",
    [
        {"columns": 1},
        {"order": 1.0},
        {"neighbours": "replace-one"},
        {"weights": {"v": 2}},
        {"false_cells": 1.0},
        # Gaussian noise of many columns is less than pure noise.
        {"columns": 5, "goal": ggdp.ApproxDP(0.01, 0.1)},
        # The margin of the count would be 29% larger.
        {"columns": 5, "goal": ggdp.ApproxDP(1.0, 1e-3)},
        # Too few steps for intervals from the law on the reals.
        {"statistic": ggdp.Variance, "goal": ggdp.PureDP(200.0)},
        {"goal": ggdp.PureDP(1e6)},
    ],
)
def test_other_statistics_keep_independent_noise(given):
    plan = plan_request(asked(**given))
    assert not plan.statistics.blocks
    assert not any(isinstance(part.mechanism.law, VectorErrorLaw) for part in plan.parts)


def random_request(rng):
    """A request for means, sums and variances of a few columns, in a table or two."""
    kinds = (ggdp.Mean, ggdp.Mean, ggdp.Sum, ggdp.Variance)
    ranges = ((0, 100), (-10, 10), (1000, 1010), (-5, 0))
    names = NAMES[: rng.randint(2, 5)]
    columns = {name: {"range": rng.choice(ranges), "complete": rng.random() < 0.3} for name in names}

    def some():
        return [rng.choice(kinds)(name) for name in rng.sample(names, rng.randint(1, len(names)))]

    by, statistics = rng.choice([(["g"], some()), (["g"], some()), ([["g"], ["h"]], [some(), some()])])
    epsilon = 10.0 ** rng.uniform(-2, 1)
    goal = rng.choice([ggdp.PureDP(epsilon), ggdp.ApproxDP(min(epsilon, 5.0), 10.0 ** -rng.randint(2, 8))])
    domain = {"g": ["a", "b"], "h": ["a", "b", "c"]} | columns
    return TableRequest(by=by, domain=domain, goal=goal, unit="row", statistics=statistics)


def independent_parts(request, goal, split):
    return TableNoise((NoisePart(tuple(range(len(request.by))), statistics_mechanism(goal, split.sensitivity, None)),))


def test_no_margin_is_planned_larger_than_with_independent_noise():
    rng, shared = random.Random(28), 0
    for _ in range(examples(12, 60)):
        request = random_request(rng)
        plan, other = plan_request(request), plan_request(request, None, independent_parts)
        if not plan.statistics.blocks:
            continue
        shared += 1
        for table in range(len(request.by)):
            (count, *sums), (allowed, *others) = (linear_margins(one, table).values() for one in (plan, other))
            assert count <= COUNT_RATIO * allowed
            assert all(one <= two * (1 + 1e-9) for one, two in zip(sums, others, strict=True))
        found, most = half_widths(plan), half_widths(other)
        for name, halves in found.items():
            assert all(one <= two * (1 + 1e-3) for one, two in zip(halves, most[name], strict=True)), (name, request)
    assert shared >= examples(4, 8)


def test_a_sum_next_to_a_variance_keeps_independent_noise_where_its_margin_would_grow():
    statistics, blocks = [ggdp.Variance("v"), ggdp.Sum("w")], []
    for low, high in ((0, 20), (-10, 10)):
        domain = {"g": ["a", "b"], "v": {"range": (0, 1)}, "w": {"range": (low, high)}}
        request = TableRequest(by=["g"], domain=domain, goal=PURE, unit="row", statistics=statistics)
        blocks.append(plan_request(request).statistics.blocks)
    assert blocks == [True, False]


def test_tables_of_unlike_columns_share_epsilon_by_their_largest_ratio():
    domain = {"g": ["a", "b"], "h": ["a", "b", "c"]} | {name: {"range": (0, 1)} for name in "xyz"}
    statistics = [[ggdp.Mean("x")], [ggdp.Mean(name) for name in "xyz"]]
    request = TableRequest(by=[["g"], ["h"]], domain=domain, goal=PURE, unit="row", statistics=statistics)
    plan, other = plan_request(request), plan_request(request, None, independent_parts)
    assert plan.statistics.blocks
    margins = [[linear_margins(one, table)["count"] for table in (0, 1)] for one in (plan, other)]
    first, second = (one / two for one, two in zip(*margins, strict=True))
    # That of the first table is limited by its mean, that of the second by its count.
    (_, error), (_, independent) = plan.compared
    assert error / independent == pytest.approx(first, rel=1e-4)
    assert second == pytest.approx(COUNT_RATIO * first, rel=1e-4)


@pytest.mark.parametrize("statistic", [ggdp.Mean, ggdp.Variance, ggdp.Sum])
@pytest.mark.parametrize("complete", [False, True])
def test_one_unit_changes_all_blocks_of_a_cell_by_one_total_within_the_certified_norm(statistic, complete):
    request, rng = asked(3, statistic, complete=complete, step=1e-4), np.random.default_rng(1)
    blocks = in_blocks(request, plan_statistics(request))
    groups, steps = blocks.tables[0], 10**6
    possible = np.array([0, 1, 2, 3, steps // 3, steps - 2, steps - 1, steps])
    most = block_change(request, blocks, 0).largest * STEPS_OF_A_UNIT
    for _ in range(300):
        values = rng.choice(possible, size=(3, rng.integers(0, 6)))
        known = np.ones_like(values, dtype=bool) if complete else rng.random(values.shape) < 0.7
        new, new_known = (
            rng.integers(0, steps + 1, size=3),
            np.array([complete or rng.random() < 0.7 for _ in range(3)]),
        )
        changes = []
        for group, a, k, one, one_known in zip(groups, values, known, new, new_known, strict=True):
            before = sums_of(group, a[k], a.size)
            after = sums_of(group, [*a[k], *([one] if one_known else [])], a.size + 1)
            changes.append(after - before)
        totals = {int(change.sum()) for change in changes}
        assert totals == {group.size for group in groups}
        up = max(int(np.maximum(change, 0).sum()) for change in changes)
        down = max(int(np.maximum(-change, 0).sum()) for change in changes)
        (u,) = totals
        # The least a + c with a - c = u that leaves room for both.
        assert max(up, u + down) + max(down, up - u) <= most
    # The bound is not loose: but for rounding it is one unit.
    assert most <= groups[0].size + 2


def test_a_unit_in_several_cells_changes_the_blocks_of_all():
    request = asked(unit="person", max_cells=2)
    blocks = in_blocks(request, plan_statistics(request))
    assert block_change(request, blocks, 0).largest == 2.0
    (part,) = plan_request(request).parts
    assert part.mechanism.scale == pytest.approx(2.0)


def sums_of(group, values, units):
    exact = [int(value) for value in values]
    found = CellSums(
        *(np.array([one], dtype=object) for one in (units, len(exact), sum(exact), sum(a * a for a in exact)))
    )
    return group.steps(found, group.measure.values)[:, 0].astype(object)


def test_sums_beyond_64_bits_keep_their_total_modulo_its_size():
    group = SumGroup(kind="pair", measure=plan_statistics(asked()).tables[0][0].measure, block=True)
    sums = sums_of(group, [100] * 3, 2**45)
    assert (int(sums.sum()) - group.size * 2**45) % 2**64 == 0


def test_tables_share_epsilon_by_their_errors_and_never_more_than_all():
    domain = {"g": ["a", "b"], "h": ["c", "d", "e"]} | {name: {"range": (0, 10)} for name in NAMES[:3]}
    means = [[ggdp.Mean(name) for name in NAMES[:3]], [ggdp.Mean("v")], []]
    request = TableRequest(by=[["g"], ["h"], ["g", "h"]], goal=PURE, domain=domain, unit="row", statistics=means)
    plan = plan_request(request)
    shares = [Fraction(part.mechanism.guarantee.epsilon) for part in plan.parts]
    assert [part.tables for part in plan.parts] == [(0,), (1,), (2,)]
    assert Fraction(0.999) < sum(shares) <= 1
    assert shares[0] > shares[1]
    assert plan.guarantee.epsilon <= 1.0
    error, independent = planned_error(plan)
    assert error < independent
    release = plan.run(pa.table({"g": ["a"], "h": ["d"], **{name: [1.0] for name in NAMES[:3]}}))
    assert contradiction(release.manifest) is None
    assert ggdp.compose([release.manifest]).epsilon(0.0)[1] <= 1.0


def test_a_manifest_that_claims_a_smaller_change_contradicts_itself():
    manifest = plan_request(asked()).run(pa.table({"g": ["a"], **{name: [1.0] for name in NAMES[:3]}})).manifest
    assert contradiction(manifest) is None
    manifest["mechanism"]["certificate"]["parameters"]["sensitivity"] /= 2
    manifest["mechanism"]["certificate"]["parameters"]["scale"] /= 2
    manifest["mechanism"]["scale"] /= 2
    assert contradiction(manifest) is not None


@pytest.mark.parametrize(("statistic", "complete"), [(ggdp.Mean, False), (ggdp.Mean, True), (ggdp.Variance, False)])
def test_intervals_of_several_columns_cover(statistic, complete):
    # 1,500 cells with the same 40 units each: a share of 0.95 is met within 4 standard deviations, and seeded.
    levels, rng = [f"c{k}" for k in range(1500)], np.random.default_rng(2)
    values = {name: rng.integers(20, 90, 40).astype(float) for name in NAMES[:3]}
    table = pa.table({"g": np.repeat(levels, 40), **{name: np.tile(column, 1500) for name, column in values.items()}})
    plan = plan_request(asked(3, statistic, levels=levels, complete=complete))
    assert plan.statistics.blocks
    found = plan.run(table, rng=SeededSource(seed=7)).to_arrow()
    lower, upper = (found[name].to_numpy() for name in ("lower", "upper"))
    assert 0.93 < np.mean((lower <= 40) & (upper >= 40)) < 0.985
    for name, column in values.items():
        (said,) = statistic(name).names
        true = column.mean() if statistic is ggdp.Mean else column.var()
        lower, upper = (found[f"{said}_{end}"].to_numpy() for end in ("lower", "upper"))
        covered = np.mean((lower <= true) & (upper >= true))
        assert 0.93 < covered < (0.97 if statistic is ggdp.Mean else 1.0)
        assert not math.isnan(float(np.nanmean(found[said].to_numpy())))
