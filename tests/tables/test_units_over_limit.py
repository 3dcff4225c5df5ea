"""Units that are in more cells than they are counted in: counted privately, and covered by the intervals."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from tests.manifest_schema import VALIDATOR
from tests.sources.zoo import ENGINES

import ggdp
from ggdp.releases.mechanism_record import LEVEL
from ggdp.tables import units_over_limit
from ggdp.tables.request import TableRequest
from ggdp.tables.table_plan import plan_request
from ggdp.tables.units_over_limit import CELL_LEVEL, CUT_LEVEL

WARDS = [f"w{k}" for k in range(6)]
DOMAIN = {"ward": WARDS}
PURE = ggdp.PureDP(1.0)


def visits(units):
    """A table of visits: the wards of each unit."""
    rows = [(f"p{number}", WARDS[ward]) for number, wards in enumerate(units) for ward in wards]
    return pa.table({"person": [row[0] for row in rows], "ward": [row[1] for row in rows]})


def with_noise_of(monkeypatch, value):
    """Make every draw of noise the same."""
    monkeypatch.setattr(
        "ggdp.noise.IntegerNoise.sample",
        lambda _, size, rng=None: np.full(size, value, np.int64),  # noqa: ARG005
    )


def request_of(**given):
    return TableRequest(
        **({"by": "ward", "goal": PURE, "domain": DOMAIN, "unit": "person", "max_cells": 2, "count_cut": 0.5} | given)
    )


def test_what_may_be_missed_is_shared_exactly():
    assert (1 - Fraction(CELL_LEVEL)) + (1 - Fraction(CUT_LEVEL)) / 2 <= 1 - Fraction(LEVEL)


@pytest.mark.parametrize("max_cells", [1, 2, 5])
def test_every_cell_has_at_most_the_units_cut_more_than_are_counted_in_it(max_cells, monkeypatch):
    """The bound that intervals rest on, without noise: b <= c <= b + K."""
    with_noise_of(monkeypatch, 0)
    units = (
        [wards for size in range(7) for wards in product(*[range(6)] * min(size, 2))] + [range(6)] * 9 + [range(3)] * 4
    )
    there = np.array([sum(ward in wards for wards in units) for ward in range(6)])
    release = ggdp.release_table(visits(units), **asked(max_cells))
    counted, (count_crowded,) = release.tables[0].noisy_count, release.cut
    assert count_crowded.noisy == sum(len(set(wards)) > max_cells for wards in units)
    assert (counted <= there).all()
    assert (there <= counted + count_crowded.noisy).all()
    # Somebody is left out, so that the bound says something.
    assert (counted < there).any()


def asked(max_cells=2, **given):
    return {
        "by": "ward",
        "goal": PURE,
        "domain": DOMAIN,
        "unit": "person",
        "max_cells": max_cells,
        "count_cut": 0.5,
    } | given


def test_intervals_cover_the_units_that_are_there_and_not_just_those_counted():
    """Twelve wards, each unit in all of them: without the count of units cut no interval covers."""
    wards = [f"w{k}" for k in range(12)]
    rows = pa.table({"person": [f"p{k}" for k in range(300) for _ in wards], "ward": wards * 300})
    request = {"by": "ward", "goal": PURE, "domain": {"ward": wards}, "unit": "person", "max_cells": 2}
    without = ggdp.release_table(rows, **request).tables[0]
    assert not ((without.lower <= 300) & (without.upper >= 300)).any()
    assert without.covers == "units counted, at most 2 cells each"
    # Missed by at most 5 % of the cells in expectation; six of twelve are far beyond chance.
    table = ggdp.release_table(rows, **request, count_cut=0.1).tables[0]
    assert ((table.lower <= 300) & (table.upper >= 300)).sum() > 6
    assert table.covers == "all units; counts: at most 2 cells each"


def test_the_upper_end_is_raised_by_the_units_cut_and_the_lower_is_not(monkeypatch):
    with_noise_of(monkeypatch, 3)
    release = ggdp.release_table(visits([range(6)] * 10), **asked())
    plan, (count_crowded,) = plan_request(release.request), release.cut
    h, g = plan.mechanism.law.half_width(CELL_LEVEL), plan.cut.mechanism.law.half_width(CUT_LEVEL)
    assert (count_crowded.noisy, count_crowded.allowance) == (13, 13 + g)
    table = release.tables[0]
    assert (table.lower == table.noisy_count - h).all()
    assert (table.upper == table.noisy_count + h + 13 + g).all()


def test_fewer_than_no_units_cut_raise_nothing(monkeypatch):
    with_noise_of(monkeypatch, -99)
    release = ggdp.release_table(visits([range(2)]), **asked())
    assert release.cut[0] == units_over_limit.CutCount(0, -99, 0, 0, 0)
    assert (release.tables[0].upper < 0).all()


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_the_coverage_of_every_true_count_is_at_least_the_level(neighbours):
    """Exactly, from the laws: for the worst b and c that are possible, and any K."""
    plan = plan_request(request_of(neighbours=neighbours))
    h, g = int(plan.mechanism.law.half_width(CELL_LEVEL)), int(plan.cut.mechanism.law.half_width(CUT_LEVEL))
    k = np.arange(-400, 401)
    cells = ggdp.IntegerGeneralizedGaussian(order=plan.mechanism.order, scale=plan.mechanism.scale).pmf(k)
    units = ggdp.IntegerGeneralizedGaussian(order=1, scale=plan.cut.mechanism.scale).pmf(k)
    for number in (0, 1, 10):
        # A cell that all units cut are missing from: c = b + K.
        for missing in {0, number}:
            raised = np.maximum(number + k + g, 0)
            covered = (k[:, None] - h <= missing) & (missing <= k[:, None] + h + raised[None, :])
            assert float((cells[:, None] * units[None, :])[covered].sum()) >= LEVEL


def test_epsilon_is_the_sum_of_both_and_not_above_the_goal():
    for epsilon, share in product([0.1, 1.0, 3.3], [0.01, 0.1, 1 / 3, 0.9]):
        plan = plan_request(request_of(goal=ggdp.PureDP(epsilon), count_cut=share))
        parts = [Fraction(part.guarantee.epsilon) for part in (plan.mechanism, plan.cut.mechanism)]
        assert sum(parts) <= Fraction(plan.guarantee.epsilon) <= Fraction(epsilon)
        assert float(parts[1]) == pytest.approx(share * epsilon)
        assert plan.guarantee == ggdp.PureDP(plan.guarantee.epsilon, "add-remove")


def test_a_release_carries_the_sum_and_a_seeded_one_nothing():
    release = ggdp.release_table(visits([range(6)]), **asked())
    assert release.guarantee == plan_request(release.request).guarantee
    assert release.guarantee.epsilon > 0.99
    assert ggdp.release_table(visits([range(6)]), **asked(), rng=ggdp.SeededSource(seed=1)).guarantee is None


def test_the_notion_of_the_cells_is_kept():
    probabilistic = plan_request(request_of(goal=ggdp.ProbabilisticDP(1.0, 1e-6), order=2.0, max_cells=1))
    assert isinstance(probabilistic.guarantee, ggdp.ProbabilisticDP)
    assert probabilistic.guarantee.delta == probabilistic.mechanism.guarantee.delta


def test_manifest_and_statement_tell_the_number_and_its_price():
    release = ggdp.release_table(visits([range(6)] * 500), **asked(unit_name="patients"))
    manifest = release.manifest
    VALIDATOR.validate(manifest)
    said = manifest["table"]["cut"]
    assert said["tables"][0]["noisy_count"] == release.cut[0].noisy
    assert said["tables"][0]["lower"] < release.cut[0].noisy < said["tables"][0]["upper"] < release.cut[0].allowance
    assert said["guarantee"]["epsilon"] == 0.5
    assert (
        f"The number of patients in more than 2 cells is about {release.cut[0].noisy:,} (95 %" in manifest["statement"]
    )
    assert "they cover all patients of a cell" in manifest["statement"]


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("engine", ["pyarrow", "duckdb", "polars"])
def test_one_unit_moves_the_number_of_units_cut_by_at_most_one(neighbours, engine):
    from ggdp.sources.counting import count_crowded
    from ggdp.sources.query import CountQuery, open_source

    others, choices = [range(6), range(1), range(3)], [(), range(1), range(3), range(6)]
    request = request_of()
    query = CountQuery(marginals=request.domains, unit="person", max_cells=2, key=bytes(32))

    def number(units):
        with open_source(ENGINES[engine](visits(units)), columns=request.columns) as source:
            return source.answer(query, count_crowded)[0].column(0)[0].as_py()

    found = {len(unit): number([*others, unit]) for unit in choices}
    assert found == {0: 2, 1: 2, 3: 3, 6: 3}
    changes = {abs(one - other) for one in found.values() for other in found.values()}
    assert changes == {0, 1}
    assert plan_request(request_of(neighbours=neighbours)).cut.mechanism.sensitivity.lp(1) == 1.0
