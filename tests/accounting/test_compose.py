"""`ggdp.compose`: what can be composed, what is refused, and how totals relate to their parts."""

from __future__ import annotations

import json
import math

import pyarrow as pa
import pytest

import ggdp
from ggdp.accounting import Composition
from ggdp.errors import ArgumentError, ArgumentTypeError, UnattainableError


@pytest.fixture(scope="module")
def counts():
    return ggdp.calibrate(ggdp.PureDP(0.1), ggdp.Sensitivity.histogram(), order=1, support="integer")


@pytest.fixture(scope="module")
def cells():
    return ggdp.calibrate(ggdp.ApproxDP(0.5, 1e-7), ggdp.Sensitivity.cells(3, 1), order=2, support="integer")


PEOPLE = pa.table({"id": [1, 1, 2, 3], "sex": ["f", "f", "m", "f"], "age": [31, 32, 64, 18]})
DOMAIN = ggdp.Domain({"sex": ["f", "m"]})


def released(**options):
    return ggdp.release_table(PEOPLE, by="sex", **{"goal": ggdp.PureDP(0.5), "domain": DOMAIN, **options})


def test_every_kind_of_part_is_composed(counts, cells, tmp_path):
    mechanism = ggdp.Mechanism(counts)
    table = released()
    path = tmp_path / "table.manifest.json"
    path.write_text(json.dumps(table.manifest))
    plan = ggdp.plan_table(by="sex", goal=ggdp.PureDP(0.5), domain=DOMAIN)
    best = ggdp.ExponentialMechanism(ggdp.PureDP(0.2), sensitivity=1, candidates=["a", "b"])
    parts = [counts, cells, mechanism, mechanism.release([3, 4]), table, table.manifest, path, str(path), plan, best]
    total = ggdp.compose([*parts, (ggdp.ApproxDP(0.1, 1e-9), 3)])
    assert isinstance(total, Composition)
    assert total.basic.epsilon == pytest.approx(0.1 * 3 + 0.5 + 0.5 * 5 + 0.2 + 0.3)
    assert total.basic.delta == pytest.approx(1e-7 + 3e-9)
    lower, upper = total.epsilon(1e-5)
    assert 0.0 < lower <= upper < total.basic.epsilon


def test_a_manifest_adds_what_its_release_adds():
    for options in (
        {},
        {"unit": "id", "max_cells": 2},
        {"unit": "id", "max_cells": 1, "count_cut": 0.2},
        {"domain": None, "goal": ggdp.ApproxDP(0.5, 1e-6)},
        {"goal": ggdp.ApproxDP(0.5, 1e-6), "order": 2},
    ):
        table = released(**options)
        there = json.loads(json.dumps(table.manifest))
        assert ggdp.compose([there]).parts[0].losses == table.losses
        assert ggdp.compose([there]).delta(0.3) == ggdp.compose([table]).delta(0.3)


@pytest.mark.parametrize("options", [
    {"goal": ggdp.ApproxDP(0.5, 1e-6), "order": 3},
    {"goal": ggdp.ApproxDP(0.5, 1e-6), "unit": "id", "max_cells": 2, "order": 2},
    {"goal": ggdp.ApproxDP(0.5, 1e-6), "domain": None},
    {"goal": ggdp.ApproxDP(0.5, 1e-6), "domain": None, "order": 2, "unit": "id", "max_cells": 1},
    {"goal": ggdp.PureDP(0.5), "neighbours": "replace-one"},
])  # fmt: skip
def test_alone_a_release_keeps_its_own_guarantee(options):
    table = released(**options)
    lower, _ = ggdp.compose([table]).delta(table.guarantee.epsilon)
    assert lower <= table.guarantee.delta
    assert ggdp.compose([table]).epsilon(max(table.guarantee.delta, 1e-12))[0] <= table.guarantee.epsilon


def test_every_cell_that_moves_adds_a_loss():
    noise = ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.cells(4, 1), order=3, support="integer")
    lower, upper = ggdp.compose([noise]).delta(1.0)
    assert lower <= 1e-6
    assert upper >= 0.999e-6
    replaced = released(goal=ggdp.ApproxDP(1.0, 1e-6), order=3, neighbours="replace-one")
    assert [counted.count for counted in replaced.losses] == [2]


def test_keys_that_are_chosen_privately_add_the_probability_that_a_rare_one_is_shown():
    table = released(domain=None, goal=ggdp.ApproxDP(0.5, 1e-6))
    # The noise is pure: what is left at a larger epsilon is that of the keys.
    assert ggdp.compose([table]).total.infinite[1] == pytest.approx(table.guarantee.delta, rel=1e-9)
    _, upper = ggdp.compose([(table, 3)]).delta(1.4999)
    assert upper >= 2.9 * table.guarantee.delta


def test_the_noise_on_a_grid_is_composed_as_it_is_drawn():
    mechanism = ggdp.Mechanism(ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.disjoint(0.3), order=2))
    (counted,) = mechanism.losses
    assert counted.loss.law.support == "integer"
    lower, upper = ggdp.compose([(mechanism, 4)]).epsilon(1e-6)
    alone = ggdp.compose([(ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.disjoint(0.3), order=2), 4)])
    assert lower <= upper
    assert upper == pytest.approx(alone.epsilon(1e-6)[1], rel=1e-2)


def test_noise_kept_in_bounds_and_norms_enter_by_their_guarantee():
    bounded = ggdp.calibrate(
        ggdp.PureDP(0.5), ggdp.Sensitivity.disjoint(1), order=2, bounds=[(0, 10)], bounding="truncated"
    )
    vector = ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.norm(3, 1.0, dimension=4), order=3)
    kinds = [counted.to_dict()["kind"] for part in ggdp.compose([bounded, vector]).parts for counted in part.losses]
    assert kinds == ["response", "response"]
    sums = ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.norm(1, 1.0, dimension=4), order=3)
    assert ggdp.compose([sums]).delta(1.0)[1] <= 1e-6


def test_probabilistic_dp_enters_by_its_noise_and_leaves_as_approximate_dp():
    noise = ggdp.calibrate(ggdp.ProbabilisticDP(1.0, 1e-3), ggdp.Sensitivity.histogram(), order=2, support="integer")
    guarantee = ggdp.compose([noise]).guarantee(delta=1e-3)
    assert isinstance(guarantee, ggdp.ApproxDP)
    assert guarantee.epsilon < 1.0


def test_the_total_is_never_above_the_plain_sum(counts, cells):
    total = ggdp.compose([(counts, 12), cells])
    basic = total.basic
    assert total.epsilon(basic.delta)[1] <= basic.epsilon
    assert total.delta(basic.epsilon)[1] <= basic.delta
    assert total.guarantee(delta=1e-6).epsilon < 0.9 * basic.epsilon


def test_pure_parts_have_a_pure_total(counts):
    total = ggdp.compose([(counts, 10)])
    assert total.guarantee() == ggdp.PureDP(1.0, "add-remove")
    assert total.epsilon(0.0) == (1.0, 1.0)
    assert isinstance(total.guarantee(delta=1e-6), ggdp.ApproxDP)


def test_what_is_not_pure_has_no_pure_total(cells):
    total = ggdp.compose([cells])
    assert total.epsilon(0.0) == (math.inf, math.inf)
    with pytest.raises(UnattainableError, match="not all parts are pure; name a delta above 0"):
        total.guarantee()
    with pytest.raises(UnattainableError, match="no epsilon keeps delta = 1e-10: the loss is infinite"):
        ggdp.compose([ggdp.ApproxDP(1.0, 1e-9)]).guarantee(delta=1e-10)


def test_a_seeded_release_is_refused_by_name(counts):
    seeded = ggdp.Mechanism(counts).release([1, 2], rng=ggdp.SeededSource(seed=1))
    with pytest.raises(ArgumentError, match="'part 2': has no guarantee: its noise came from a seeded source"):
        ggdp.compose([counts, seeded])
    with pytest.raises(ArgumentError, match="'part 1': has no guarantee"):
        ggdp.compose([seeded.manifest])


def test_other_neighbours_and_units_are_refused_by_name(counts):
    replaced = ggdp.calibrate(ggdp.PureDP(0.1), ggdp.Sensitivity.histogram("replace-one"), order=1, support="integer")
    with pytest.raises(ArgumentError, match="'part 2': has neighbours 'replace-one' where part 1 has 'add-remove'"):
        ggdp.compose([counts, replaced])
    rows, persons = released(), released(unit="id", max_cells=1)
    with pytest.raises(ArgumentError, match="'part 2': has unit 'id' where part 1 has 'row'"):
        ggdp.compose([rows, persons])
    assert ggdp.compose([rows, counts]).unit == "row"


@pytest.mark.parametrize(("parts", "message"), [
    ([], "must not be empty"),
    ([object()], "must be a release, mechanism"),
    (["missing.json"], "cannot be read"),
    ([{"schema": "else"}], "is not a manifest of ggdp"),
    ([{"schema": "ggdp-release-manifest/1"}], "earlier version"),
    ([(ggdp.PureDP(1.0), 0)], "count = 0: must be at least 1"),
    ("manifest.json", "must be a list of parts"),
    ((ggdp.PureDP(1.0), 3), "put the pair into a list"),
    ([(ggdp.PureDP(1.0), 10**400)], "must be at most 1,000,000,000"),
])  # fmt: skip
def test_what_is_no_part_is_refused(parts, message):
    with pytest.raises((ArgumentError, ArgumentTypeError), match=message):
        ggdp.compose(parts)


def test_a_manifest_that_was_changed_is_refused(counts):
    manifest = ggdp.Mechanism(counts).release([1]).manifest
    for change in (
        {"losses": []},
        {"losses": [{"kind": "noise"}]},
        {"losses": [{**manifest["losses"][0], "scale": -1.0}]},
        {"losses": [{**manifest["losses"][0], "size": 0.5}]},
        {"losses": [{**manifest["losses"][0], "count": 0}]},
        {"losses": [{**manifest["losses"][0], "scale": 1e9}]},
        {"guarantee": {"notion": "none"}},
        {"table": {}},
        {"table": []},
        {"table": {"unit": {"column": ["x"]}}},
    ):
        with pytest.raises(ArgumentError):
            ggdp.compose([{**manifest, **change}])


def test_a_json_file_that_is_no_manifest_is_refused(tmp_path):
    for text in ("{", "[1]"):
        path = tmp_path / "file.json"
        path.write_text(text)
        with pytest.raises(ArgumentError, match="manifest of ggdp"):
            ggdp.compose([path])


def test_arguments_out_of_range_are_refused(counts):
    total = ggdp.compose([counts])
    for wrong in (-0.1, math.nan, math.inf):
        with pytest.raises(ArgumentError, match="epsilon"):
            total.delta(wrong)
    for wrong in (-1e-9, 1.0, math.nan):
        with pytest.raises(ArgumentError, match="delta"):
            total.epsilon(wrong)


def test_a_composition_prints_its_totals(counts, cells):
    text = repr(ggdp.compose([(counts, 12), cells]))
    assert text.startswith("Composition of 13 releases, 2 distinct losses\n  plain sum: (1.71, 1e-07)-aDP")


@pytest.mark.parametrize(("goal", "query", "releases"), [
    (ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.histogram(), 12),
    pytest.param(ggdp.ApproxDP(0.5, 1e-5), ggdp.Sensitivity.cells(2, 1), 3, marks=pytest.mark.exhaustive),
    (ggdp.PureDP(1.0), ggdp.Sensitivity.histogram(), 7),
])  # fmt: skip
def test_planned_releases_keep_their_goal_together_and_hardly_more(goal, query, releases):
    plan = ggdp.plan(goal, query, support="integer", releases=releases)
    assert plan.each.law == plan.calibration.law
    assert plan.each.sensitivity == query
    lower, upper = ggdp.compose([(plan.each, releases)]).delta(goal.epsilon)
    assert lower <= goal.delta
    assert upper <= goal.delta * 1.0002
    assert goal.delta == 0.0 or lower >= 0.999 * goal.delta


def test_several_releases_of_probabilistic_dp_are_not_planned():
    with pytest.raises(ArgumentError, match="use ApproxDP"):
        ggdp.plan(ggdp.ProbabilisticDP(1.0, 1e-3), ggdp.Sensitivity.histogram(), releases=2)
    with pytest.raises(ArgumentError, match="releases = 0"):
        ggdp.plan(ggdp.PureDP(1.0), ggdp.Sensitivity.histogram(), releases=0)


@pytest.mark.parametrize(
    ("part", "epsilon", "delta"),
    [
        ((ggdp.PureDP(1000.0), 3), 1500.0, 1e-6),
        ((ggdp.PureDP(1e-300), 1000), 0.0, 1e-6),
        (ggdp.PureDP(0.5), 1e308, 0.5),
    ],
)
def test_extreme_losses_have_bounds_that_hold(part, epsilon, delta):
    total = ggdp.compose([part])
    lower, upper = total.delta(epsilon)
    assert 0.0 <= lower <= upper <= 1.0
    lower, upper = total.epsilon(delta)
    assert 0.0 <= lower <= upper <= total.basic.epsilon


def test_an_epsilon_beyond_all_losses_has_no_lower_bound_but_an_upper_one(cells):
    lower, upper = ggdp.compose([cells]).delta(1e308)
    assert lower == 0.0
    assert upper <= 1e-60


def test_more_losses_than_a_grid_adds_are_bounded_without_one():
    from ggdp.accounting.totals import TotalLoss
    from ggdp.proofs.losses import MOST_ADDED, MOST_LOSSES, CoordinateLoss, CountedLoss
    from ggdp.proofs.noise_law import NoiseLaw

    loss = CoordinateLoss(NoiseLaw(order=3, scale=10.0, support="integer"), 1)
    assert TotalLoss.of([CountedLoss(loss, MOST_ADDED + 1)]).delta(1.0) == (0.0, 1.0)
    for count in (MOST_LOSSES + 1, 10**30):
        with pytest.raises(ArgumentError, match="count"):
            CountedLoss(loss, count)
        with pytest.raises(ArgumentError, match="count"):
            CountedLoss.from_dict({**CountedLoss(loss, 1).to_dict(), "count": count})


@pytest.mark.parametrize(
    ("query", "same", "order", "support"),
    [
        (ggdp.Sensitivity.norm(1, 3, dimension=4), ggdp.Sensitivity.disjoint(3), 3, "integer"),
        (ggdp.Sensitivity.norm(2, 3, dimension=4), ggdp.Sensitivity.disjoint(3), 2, "real"),
        (ggdp.Sensitivity.box([2, 2, 2], norm=(1, 3)), ggdp.Sensitivity.disjoint(3), 3, "integer"),
        (ggdp.Sensitivity.box([1] * 20, norm=(1, 5)), ggdp.Sensitivity.disjoint(5), 1.5, "integer"),
    ],
)
def test_a_norm_that_dominates_is_added_up_as_one_coordinate(query, same, order, support):
    noise = [ggdp.Noise(order=order, scale=20.0, sensitivity=one, support=support) for one in (query, same)]
    first, second = (ggdp.compose([(one, 3)]).epsilon(1e-6) for one in noise)
    assert first == second


@pytest.mark.parametrize("order", [1, 3])
@pytest.mark.parametrize("norm", [(1, 2), (1, 3)])
def test_a_release_of_many_counts_within_an_l_1_norm_verifies_itself(order, norm):
    query = ggdp.Sensitivity.box([1] * 20, norm=norm)
    noise = ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-6), query, order=order, support="integer")
    release = ggdp.Mechanism(noise).release([5] * 20)
    assert release.manifest["losses"][0]["size"] == norm[1]
    lower, upper = ggdp.compose([json.loads(json.dumps(release.manifest))]).epsilon(1e-6)
    assert lower <= upper <= 1.0


def test_a_release_within_a_joint_norm_verifies_itself():
    query = ggdp.Sensitivity.box([3, 3], norm=(2, 2.5))
    for how in ({"order": 2, "support": "integer"}, {"order": 3}, {"order": 2}):
        release = ggdp.Mechanism(ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-6), query, **how)).release([5, 7])
        lower, upper = ggdp.compose([json.loads(json.dumps(release.manifest))]).epsilon(1e-6)
        assert lower <= upper <= 1.0
