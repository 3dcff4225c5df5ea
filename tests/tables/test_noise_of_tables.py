"""Several tables of the same people: noise of a norm where it is less, proved, with intervals that cover."""

from __future__ import annotations

import itertools
import json
import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from attrs import evolve
from jsonschema import Draft202012Validator
from tests.cases import examples
from tests.reference.norm_lattice import norm_lattice
from tests.sources.zoo import ENGINES, FILES

import ggdp
from ggdp._rounding import rounded_text
from ggdp.errors import ArgumentError, ChangedSourceError
from ggdp.noise import SeededSource
from ggdp.noise.common_total_noise import CommonTotalNoise
from ggdp.noise.integer_noise import IntegerNoise
from ggdp.noise.minkowski_noise import MinkowskiNoise
from ggdp.proofs.noise_law import NoiseLaw, Norm
from ggdp.releases.comparisons import share_ends, sum_half_width
from ggdp.releases.error_law import ErrorLaw, JointLaw, VectorErrorLaw
from ggdp.releases.release import manifest_of, manifest_schema
from ggdp.reports.published import difference
from ggdp.sources.query import TableSource, open_source
from ggdp.tables import noisy_counts, table_noise
from ggdp.tables.manifest_checks import contradiction
from ggdp.tables.request import TableRequest
from ggdp.tables.table_manifest import wording_of
from ggdp.tables.table_noise import (
    NoisePart,
    TableNoise,
    cells_of,
    common_total_mechanism,
    groups_of,
    joint,
    table_mechanism,
    table_parts,
)
from ggdp.tables.table_plan import plan_request

pytestmark = pytest.mark.filterwarnings("ignore::ggdp.errors.PrivacyWarning")

PURE, APPROX = ggdp.PureDP(1.0), ggdp.ApproxDP(1.0, 1e-6)
# With this one even two complete tables have noise on their total and differences.
TOTAL_GOAL = ggdp.ApproxDP(0.5, 0.05)
YES_NO = ["no", "yes"]


def questions(number, **more):
    """So many yes/no columns, each the columns of a table."""
    return {f"q{k}": {"levels": YES_NO, **more} for k in range(number)}


def asked(domain, goal=PURE, **given):
    given = given if "unit" in given else {"unit": "row", **given}
    return TableRequest(by=[[name] for name in domain], goal=goal, domain=domain, **given)


@pytest.mark.parametrize(
    ("complete", "most", "given"),
    [
        (False, 6.7, {}),
        (True, 5.3, {}),
        (True, 5.3, {"goal": APPROX}),
        (False, 6.7, {"unit": "person", "max_cells": 1, "where": "q0 = 'no'"}),
        # Twice as many cells of everybody, and tables of two cells in which everybody may be.
        (False, 13.4, {"unit": "person", "max_cells": 2}),
        # A unit that is replaced raises one count and lowers another.
        (False, 11.4, {"neighbours": "replace-one"}),
        (True, 6.8, {"neighbours": "replace-one"}),
    ],
)
def test_ten_yes_no_columns_have_less_than_half_the_error(complete, most, given):
    plan = plan_request(asked(questions(10, complete=complete), **given))
    (kind, std), (_, independent) = plan.compared
    assert kind == "Minkowski"
    assert std == pytest.approx(plan.parts[0].mechanism.std, rel=1e-6)
    assert std <= most
    assert independent >= 12.5
    assert plan.guarantee == replace(ggdp.PureDP(1.0), neighbours=plan.guarantee.neighbours)
    assert plan.half_width <= 2.2 * std


def test_a_hundred_complete_yes_no_columns_have_noise_on_their_total_and_differences():
    plan = plan_request(asked(questions(100, complete=True), goal=APPROX))
    (name, std), (_, independent) = plan.compared
    assert name == "common-total generalized Gaussian"
    assert std == plan.mechanism.std <= 24.0
    assert independent == pytest.approx(42.21, abs=0.01)
    # (1 + sqrt(100)) / 2 times what one count needs, where independent noise has sqrt(100) times that.
    assert std / independent == pytest.approx(0.55, abs=0.001)
    assert plan.guarantee.epsilon == 1.0
    assert 0.99e-6 <= plan.guarantee.delta <= 1e-6
    assert plan.half_width <= 2.0 * std + 1.0
    certificate = plan.mechanism.certificate
    ggdp.verify(certificate)
    assert certificate.bound.corner == ((3.0, 1), (1.0, 100))
    assert "with independent generalized Gaussian noise 42.2" in repr(plan)


def test_a_plan_and_a_record_say_what_noise_with_a_common_total_is_added_to():
    plan = plan_request(asked(questions(4, complete=True), TOTAL_GOAL))
    assert "The counts of all 4 tables add up to the same total, which has noise" in wording_of(plan).first
    scale = rounded_text(plan.mechanism.scale, 6)
    assert plan.mechanism.errors.encoding == {"total": 3, "difference": 2, "tables": 4}
    assert f"\n  scale: {scale}, on 3 times the total and 2 times each difference\n" in repr(plan)
    assert str(plan.described_mechanism).endswith(f", scale {scale}, on 3 times the total and 2 times each difference")


@pytest.mark.parametrize(
    ("goal", "number", "kind"),
    [
        (APPROX, 10, "Minkowski"),
        (APPROX, 30, "Minkowski"),
        (APPROX, 36, "common-total generalized Gaussian"),
        (ggdp.ApproxDP(1.0, 1e-3), 8, "Minkowski"),
        (ggdp.ApproxDP(1.0, 1e-3), 16, "common-total generalized Gaussian"),
        (ggdp.ProbabilisticDP(1.0, 1e-3), 16, "Minkowski"),
        (PURE, 60, "Minkowski"),
    ],
)
def test_the_noise_of_the_least_error_is_taken(goal, number, kind):
    plan = plan_request(asked(questions(number, complete=True), goal))
    assert plan.compared[0][0] == kind
    pure = plan_request(asked(questions(number, complete=True))).compared[0][1]
    assert plan.compared[0][1] <= min(pure, plan.compared[1][1])


@pytest.mark.parametrize(
    "given",
    [
        {"neighbours": "replace-one"},
        {"unit": "person", "max_cells": 2},
        {"unit": "person", "max_cells": 1, "count": "rows", "max_rows_per_cell": 2},
        {"complete": False},
        {"levels": ["no", "yes", "unknown"]},
    ],
)
def test_other_tables_keep_the_noise_that_they_had(given):
    column = {name: given[name] for name in ("complete", "levels") if name in given}
    domain = {name: {**said, **column} for name, said in questions(4, complete=True).items()}
    more = {name: value for name, value in given.items() if name not in column}
    plan = plan_request(asked(domain, TOTAL_GOAL, **more))
    assert "common-total" not in plan.described_mechanism.name
    assert plan_request(asked(questions(4, complete=True), TOTAL_GOAL)).compared[0][0].startswith("common-total")


def test_tables_with_a_common_total_share_a_goal_with_others():
    domain = questions(60, complete=True) | {"ward": ["a", "b", "c", "d", "e"]}
    plan = plan_request(asked(domain, APPROX))
    (name, std), (_, independent) = plan.compared
    assert name == "common-total generalized Gaussian and Laplace"
    assert [part.tables for part in plan.parts] == [tuple(range(60)), (60,)]
    assert std == pytest.approx(max(part.mechanism.std for part in plan.parts), rel=1e-6)
    assert std <= 0.65 * independent
    assert min(part.mechanism.std for part in plan.parts) >= 0.97 * std
    assert 0.99e-6 <= plan.guarantee.delta <= 1e-6
    assert 1.0 - 1e-9 <= plan.guarantee.epsilon <= 1.0
    halves = plan.half_widths
    assert f"plus-minus: {halves[0]} for q0, q1, q2 and 57 others; {halves[60]} for ward at 95 %" in repr(plan)


def random_request(rng, delta=None):
    """A request for several declared tables, of any sizes, goals and limits."""
    sizes = [rng.choice([1, 2, 2, 2, 3, 4, 5, 8, 12, 30, 100]) for _ in range(rng.randint(2, 12))]
    domain = {
        f"c{k}": {"levels": [f"v{level}" for level in range(size)], "complete": rng.random() < 0.5}
        for k, size in enumerate(sizes)
    }
    epsilon = 10.0 ** rng.uniform(-3, 1)
    unit = rng.choice([{}, {"unit": "person", "max_cells": rng.randint(1, 4)}])
    if unit and rng.random() < 0.3:
        unit |= {"count": "rows", "max_rows_per_cell": rng.randint(1, 3)}
    goal = ggdp.PureDP(epsilon) if delta is None else ggdp.ApproxDP(epsilon, delta)
    return asked(domain, goal, neighbours=rng.choice(["add-remove", "replace-one"]), **unit)


def test_no_table_is_planned_with_more_noise_than_independent_noise_of_all():
    rng, better = random.Random(28), 0
    for _ in range(examples(150, 500)):
        request = random_request(rng)
        independent = table_mechanism(request.goal, request.sensitivity, None).std
        tried = [
            table_noise._split(request, request.goal.epsilon, table_noise._sets(request, request.goal.epsilon / most))
            for most in (1, len(request.by))
        ]
        worst, shares = min(tried)
        assert sorted(table for tables, _ in shares for table in tables) == list(range(len(request.by)))
        assert sum(Fraction(epsilon) for _, epsilon in shares) <= Fraction(request.goal.epsilon)
        better += table_noise.WORTH * worst <= independent
    # Those that are not better keep independent noise.
    assert better > 30


def test_noise_with_a_common_total_is_taken_only_where_it_is_less_by_a_percent():
    request = asked(questions(3, complete=True), TOTAL_GOAL)
    independent = table_mechanism(TOTAL_GOAL, request.sensitivity, None)
    worst, _ = table_noise._with_common_total(request, TOTAL_GOAL, independent, independent.std)
    # The estimate alone would allow for 2% more.
    assert table_noise._with_common_total(request, TOTAL_GOAL, independent, 1.005 * worst) is None
    assert table_noise._with_common_total(request, TOTAL_GOAL, independent, 1.015 * worst) is not None


@pytest.mark.parametrize("seed", range(12))
def test_a_delta_never_leads_to_more_noise_than_pure_or_independent_noise(seed):
    rng = random.Random(seed)
    delta = 10.0 ** rng.uniform(-9, -1)
    request = random_request(rng, delta)
    if seed % 2:
        request = asked(questions(rng.randint(2, 40), complete=True), request.goal)
    parts, compared = table_parts(request, request.goal)
    largest = max(np.max(part.mechanism.law.standard_error()) for part in parts)
    assert largest <= table_mechanism(request.goal, request.sensitivity, None).std * (1 + 1e-9)
    pure = evolve(request, goal=ggdp.PureDP(request.goal.epsilon))
    others = table_parts(pure, pure.goal).parts
    assert largest <= table_noise.WORTH * max(np.max(part.mechanism.law.standard_error()) for part in others)
    assert bool(compared) == (largest < table_mechanism(request.goal, request.sensitivity, None).std)


@pytest.mark.parametrize("seed", range(30))
def test_what_is_planned_is_proved_and_has_the_deviation_that_was_compared(seed):
    rng = random.Random(seed)
    request = random_request(rng)
    parts, compared = table_parts(request, request.goal)
    independent = table_mechanism(request.goal, request.sensitivity, None)
    largest = max(np.max(part.mechanism.law.standard_error()) for part in parts)
    assert largest <= independent.std * (1 + 1e-9)
    assert bool(compared) == (len(parts) > 1 or parts[0].mechanism.record.name == "Minkowski")
    if compared:
        assert largest == pytest.approx(compared[0][1], rel=1e-5)
        assert largest <= independent.std / table_noise.WORTH * (1 + 1e-5)
    guarantee = joint(part.mechanism.guarantee for part in parts)
    assert guarantee.epsilon <= request.goal.epsilon
    assert guarantee.epsilon >= request.goal.epsilon * (1 - 1e-9)
    for part in parts:
        ggdp.verify(part.mechanism.certificate)


def test_the_guarantee_of_parts_is_the_sum_of_theirs_rounded_up():
    shares = [ggdp.PureDP(0.1)] * 3
    assert Fraction(joint(shares).epsilon) >= 3 * Fraction(0.1)
    mixed = joint([ggdp.PureDP(0.1), ggdp.ProbabilisticDP(0.2, 1e-6), ggdp.ApproxDP(0.3, 1e-7)])
    assert mixed.notion == "approximate"
    assert Fraction(mixed.delta) >= Fraction(1e-6) + Fraction(1e-7)
    assert mixed.delta < 1.2e-6
    assert joint([ggdp.ProbabilisticDP(0.2, 1e-6), ggdp.PureDP(0.1)]).notion == "probabilistic"


# --- what is released ---

DOMAIN = {
    "a": {"levels": ["x", "y", "z"], "complete": True},
    "b": ["x", "y"],
    "c": {"levels": ["x", "y"], "complete": True},
    "d": [f"v{level}" for level in range(40)],
}
ROWS = 60


def people(seed=1, rows=ROWS):
    """People of whom some have no value, or one that is not declared, and several rows."""
    rng = random.Random(seed)
    values = {
        name: [*(said["levels"] if isinstance(said, dict) else said), None, "other"] for name, said in DOMAIN.items()
    }
    columns = {name: [rng.choice(found) for _ in range(rows)] for name, found in values.items()}
    return pa.table({"person": [rng.randrange(rows // 2) for _ in range(rows)], **columns})


def true_counts(plan, data):
    """The counts of all tables before noise, one after another."""
    query = noisy_counts._query(plan.request, SeededSource(seed=7))
    with open_source(data, **plan.request.reading) as source:
        found = source.count(query)
    return [
        noisy_counts._every(one, domain)[noisy_counts.possible_cells(domain)]
        for one, domain in zip(found, plan.request.domains, strict=True)
    ]


def in_parts(request, *shares):
    """A plan with Laplace noise for each set of tables, of so much epsilon."""

    def parts_for(request, *_):
        made = [(of, table_mechanism(ggdp.PureDP(epsilon), cells_of(request, of), 1.0)) for of, epsilon in shares]
        return TableNoise(tuple(itertools.starmap(NoisePart, made)))

    return plan_request(request, None, parts_for)


def test_tables_with_noise_of_their_own_keep_their_counts_and_intervals():
    request = asked(DOMAIN, ggdp.PureDP(4000.0))
    plan = in_parts(request, ((3, 0), 1000.0), ((2,), 2000.0), ((1,), 1000.0))
    release, true = plan.run(people()), true_counts(plan, people())
    for table, counts in zip(release.tables, true, strict=True):
        assert table.noisy_count.tolist() == counts.tolist()
    wide = in_parts(asked(DOMAIN), ((3, 0), 0.25), ((2,), 0.5), ((1,), 0.25))
    release = wide.run(people())
    for number, half in enumerate((22, 12, 6, 22)):
        table = release.tables[number]
        assert set((table.upper - table.noisy_count).tolist()) == {wide.half_widths[number]}
        assert abs(wide.half_widths[number] - half) <= 3
    lower, upper = release.release.interval()
    assert upper.tolist() == np.concatenate([table.upper for table in release.tables]).tolist()
    assert lower.tolist() == np.concatenate([table.lower for table in release.tables]).tolist()


def test_tables_of_two_parts_are_described_and_counted_part_by_part():
    plan = plan_request(asked(DOMAIN, nonnegative=True))
    assert [part.tables for part in plan.parts] == [(0, 1, 2), (3,)]
    release = plan.run(people())
    manifest = release.manifest
    assert contradiction(manifest) is None
    assert [part["tables"] for part in manifest["mechanism"]["parts"]] == [[1, 2, 3], [4]]
    assert manifest["mechanism"]["certificate"] is None
    assert manifest["losses"] == [one for part in plan.parts for one in [x.to_dict() for x in part.mechanism.losses]]
    assert ggdp.compose([manifest]).basic == release.guarantee
    assert "Minkowski noise was added to every value of a and of b and of c" in release.manifest["statement"]
    assert "The raw noisy counts of a and c add up to the same total, which has noise as well" in manifest["statement"]
    totals = {int(release.tables[number].noisy_count.sum()) for number in (0, 2)}
    assert len(totals) == 1
    again = ggdp.TablePlan.from_dict(json.loads(json.dumps(plan.to_dict())))
    assert again == plan
    assert "for a, b and c" in repr(plan)
    assert plan.charge_request().guarantee == release.guarantee


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_complete_tables_agree_on_their_total_as_published(neighbours):
    domain = questions(4, complete=True) | {"free": YES_NO}
    plan = plan_request(asked(domain, neighbours=neighbours))
    data = pa.table({name: ["yes", "no", None, "no", "other"] for name in domain})
    for _ in range(20):
        release = plan.run(data)
        totals = {int(table.count.sum()) for table in release.tables[:4]}
        assert len(totals) == 1
        if neighbours == "replace-one":
            assert totals == {5}
    total = {"add-remove": "which has noise as well", "replace-one": "the number of rows without noise"}[neighbours]
    # A table that may leave out somebody is not among them.
    said = f"The counts of q0, q1, q2 and q3 add up to the same total, {total}: their noise is drawn together."
    assert said in release.manifest["statement"]


def test_tables_with_a_common_total_are_published_proved_and_read_again(tmp_path):
    domain = questions(20, complete=True) | {"free": ["x", "y", "z"]}
    plan = plan_request(asked(domain, TOTAL_GOAL, nonnegative=True))
    assert [part.tables for part in plan.parts] == [tuple(range(20)), (20,)]
    data = pa.table({"free": ["x", "z", None] * 40} | {f"q{k}": ["yes", "no", None] * 40 for k in range(20)})
    ledger = ggdp.Ledger.create(tmp_path / "people.ledger", ggdp.ApproxDP(1.0, 0.2))
    release = plan.run(data, ledger=ledger)
    assert ledger.entries()[0].guarantee == release.guarantee
    assert len({int(table.noisy_count.sum()) for table in release.tables[:20]}) == 1
    manifest = json.loads(json.dumps(release.manifest))
    Draft202012Validator(manifest_schema()).validate(manifest)
    assert contradiction(manifest) is None
    first = manifest["mechanism"]["parts"][0]
    assert first["encoding"] == {"total": 2, "difference": 1, "tables": 20}
    assert ggdp.compose([manifest]).basic == release.guarantee
    said = "q18 and q19 add up to the same total, which has noise as well: their noise is drawn together"
    assert said in manifest["statement"]
    assert ggdp.TablePlan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan
    release.write(tmp_path / "all.csv")
    read = ggdp.read_table(tmp_path / "all.manifest.json", 1)
    assert read.noise == release.tables[1].noise
    assert read.difference({"q1": "no"}, {"q1": "yes"}) == release.tables[1].difference({"q1": "no"}, {"q1": "yes"})
    single, every = release.release.interval(), release.release.interval(simultaneous=True)
    assert np.all(every.upper > single.upper)


CHANGES = {
    "a smaller multiplier of the total": lambda part: part["encoding"].update(total=1),
    "a larger multiplier": lambda part: part["encoding"].update(difference=3),
    "fewer tables": lambda part: part["encoding"].update(tables=2),
    "no encoding": lambda part: part.pop("encoding"),
    "a smaller scale": lambda part: part.update(scale=part["scale"] / 2),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_manifest_of_another_encoding_is_refused(change):
    plan = plan_request(asked(questions(3, complete=True), TOTAL_GOAL))
    manifest = json.loads(json.dumps(plan.run(pa.table(dict.fromkeys(plan.request.domain.names, YES_NO))).manifest))
    assert contradiction(manifest) is None
    CHANGES[change](manifest["mechanism"])
    assert contradiction(manifest) is not None


@pytest.mark.parametrize("other", [{"complete": False}, {"levels": ["no", "yes", "unknown"]}])
def test_a_manifest_may_not_encode_tables_that_are_not_complete_pairs(other):
    plan = plan_request(asked(questions(3, complete=True), TOTAL_GOAL))
    data = pa.table(dict.fromkeys(plan.request.domain.names, YES_NO))
    manifest = json.loads(json.dumps(plan.run(data).manifest))
    changed = {name: {"levels": YES_NO, "complete": True, **other} for name in plan.request.domain.names}
    forged = json.loads(json.dumps(plan_request(asked(changed, TOTAL_GOAL)).run(data).manifest))
    for name in ("mechanism", "losses", "error"):
        forged[name] = manifest[name]
    assert "complete tables of two cells" in contradiction(forged)


def test_the_total_that_is_asserted_is_fitted_after_the_noise():
    domain = questions(3)
    release = plan_request(asked(domain, neighbours="replace-one", total=5)).run(
        pa.table({name: ["yes", "no", "yes", "no", "no"] for name in domain})
    )
    assert {int(table.count.sum()) for table in release.tables} == {5}
    assert release.plan.compared


@pytest.mark.parametrize(
    "given",
    [
        {"order": 2, "goal": APPROX},
        {"percent_of": []},
        {"statistics": [ggdp.Mean("income")]},
        {"false_cells": 1.0},
        {"by": [["q0"]]},
    ],
)
def test_other_requests_keep_independent_noise(given):
    domain = {**questions(3), "income": {"range": [0, 10]}}
    given = {"by": [["q0"], ["q1"], ["q2"]], "goal": PURE, "domain": domain, "unit": "row", **given}
    plan = plan_request(TableRequest(**given))
    assert len(plan.parts) == 1
    assert not plan.compared
    assert "noise" not in dict(line.strip().split(": ", 1) for line in repr(plan).splitlines())


# --- what one unit changes ---


def norm_of(change, law):
    """The norm of a change of the cells of all tables, by its definition."""
    groups = np.split(change, np.cumsum(law.norm.cells)[:-1])
    up, down = (max(int(np.maximum(sign * group, 0).sum()) for group in groups) for sign in (1, -1))
    if law.norm.kind == "replaced":
        return max(up, down)
    if law.norm.complete is None:
        return up + down
    totals = {int(group.sum()) for group, whole in zip(groups, law.norm.complete, strict=True) if whole}
    assert len(totals) == 1, "complete tables change by the same"
    (u,) = totals
    a = max(up, down + u)
    return 2 * a - u


LIMITS = {
    "rows": {},
    "units": {"unit": "person", "max_cells": 1},
    "units in three cells": {"unit": "person", "max_cells": 3},
    "rows of units": {"unit": "person", "max_cells": 2, "count": "rows", "max_rows_per_cell": 2},
    "rows replaced": {"neighbours": "replace-one"},
    "units replaced": {"unit": "person", "max_cells": 2, "neighbours": "replace-one"},
}
SOURCES = {
    **{name: lambda table, _folder, frame=frame: frame(table) for name, frame in ENGINES.items()},
    **FILES,
}


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("source", [name for name in SOURCES if name not in ("ibis", "polars lazy")])
def test_one_unit_changes_the_counts_by_no_more_than_the_certified_norm(tmp_path, source, name):
    given, data = LIMITS[name], people(rows=24)
    plan = plan_request(asked({name: DOMAIN[name] for name in "abc"}, **given))
    part = next(part for part in plan.parts if isinstance(part.mechanism.law, VectorErrorLaw))
    law, most = part.mechanism.law.law, groups_of(plan.request, part.tables).largest_group
    assert part.mechanism.certificate.bound.sensitivity == most
    make = SOURCES[source]
    with_all, found = true_counts(plan, make(data, tmp_path)), []
    persons, is_row = data["person"].to_pylist(), plan.request.unit is None
    for unit in range(0, 24, 6) if is_row else sorted(set(persons))[::3]:
        mine = [unit == (row if is_row else person) for row, person in enumerate(persons)]
        without = data.filter(pa.array([not one for one in mine]))
        if plan.request.neighbours == "replace-one":
            # Another one takes the place.
            number = sum(mine)
            other = {"person": [unit] * number, **{name: (["x", None, "y", "x", "y"] * 5)[:number] for name in DOMAIN}}
            without = pa.concat_tables([without, pa.table(other, schema=data.schema)])
        counts = true_counts(plan, make(without, tmp_path))
        changes = [one - other for one, other in zip(with_all, counts, strict=True)]
        found.append(norm_of(np.concatenate([changes[table] for table in part.tables]), law))
    assert max(found) <= most
    assert max(found) > 0


@pytest.mark.parametrize("name", ["rows", "units", "rows that are counted"])
@pytest.mark.parametrize("source", [name for name in SOURCES if name not in ("ibis", "polars lazy")])
def test_one_unit_changes_total_and_differences_by_their_multipliers(tmp_path, source, name):
    given = {"rows that are counted": {"where": "b = 'x'"}, "units": {"unit": "person", "max_cells": 1}}.get(name, {})
    data, make = people(rows=24), SOURCES[source]
    plan = plan_request(asked({name: {"levels": ["x", "y"], "complete": True} for name in "bcd"}, TOTAL_GOAL, **given))
    noise = plan.mechanism.errors
    corner = [noise.total] + [noise.difference] * 3

    def encoded(rows):
        return np.array(noise.encode(np.concatenate(true_counts(plan, make(rows, tmp_path)))))

    with_all, found = encoded(data), []
    persons, is_row = data["person"].to_pylist(), plan.request.unit is None
    for unit in range(0, 24, 6) if is_row else sorted(set(persons))[::3]:
        mine = [unit == (row if is_row else person) for row, person in enumerate(persons)]
        found.append(np.abs(with_all - encoded(data.filter(pa.array([not one for one in mine])))).tolist())
    # Nobody is between: all of the corner, or nothing of a unit whose rows are not counted.
    assert all(change in (corner, [0] * 4) for change in found)
    assert corner in found
    assert name == "rows that are counted" or [0] * 4 not in found


# --- intervals ---


LAWS = {
    "complete and not": Norm(kind="added", groups=(1, 2), complete=(True, False)),
    "hidden": Norm(kind="added", groups=(2, 1)),
    "three complete": Norm(kind="added", groups=(2,), complete=(True,)),
}


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("multipliers", [(1, 1), (3, 2)])
def test_half_widths_of_sums_and_differences_of_tables_with_a_common_total_cover(level, multipliers):
    total, difference = multipliers
    noise = CommonTotalNoise(order=1.5, scale=3.0, total=total, difference=difference, tables=2)
    part = VectorErrorLaw(law=noise).of_groups[1]
    source, zero = SeededSource(seed=28), np.array(noise.encode(np.zeros(4, dtype=np.int64)))
    drawn = IntegerNoise(order=1.5, scale=3.0).sample(60_000, rng=source).reshape(-1, 3)
    errors = np.array([noise.decode(zero + one, source)[2:] for one in drawn])
    for weights, known in (((1, 0), (1, 0)), ((1, 1), (2, 0)), ((1, -1), (1, 1))):
        h = sum_half_width(((part, *known),), level)
        share = np.mean(np.abs(errors @ weights) <= h)
        # Five standard deviations of a share.
        assert share >= level - 0.011
        assert h == 0 or known == (1, 1) or np.mean(np.abs(errors @ weights) <= h - 1) <= level + 0.011


@pytest.mark.parametrize("name", LAWS)
def test_two_cells_share_how_often_their_difference_may_miss(name):
    # So rarely that a bound by the variance is larger.
    law, level = NoiseLaw(order=1.0, scale=1.5, support="integer", norm=LAWS[name]), 1 - 1e-6
    for group, size in enumerate(law.norm.cells):
        part = VectorErrorLaw(law=law).of_groups[group]
        if size > 1:
            assert sum_half_width(((part, 1, 1),), level) == 2 * part.half_width(1 - (1 - level) / 2)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("name", LAWS)
def test_half_widths_of_sums_and_differences_cover_by_the_law_itself(name, level):
    law = NoiseLaw(order=1.0, scale=1.5, support="integer", norm=LAWS[name])
    cells, mass = norm_lattice(law.norm.groups, law.norm.complete, law.scale, 16)
    start = 0
    for group, size in enumerate(law.norm.cells):
        of = cells[start : start + size]
        start += size
        part = VectorErrorLaw(law=law).of_groups[group]
        for plus in range(size + 1):
            for minus in range(size + 1 - plus):
                s = sum(of[:plus]) - sum(of[plus : plus + minus]) + 0 * of[0]
                h = sum_half_width(((part, plus, minus),), level)
                covered = mass[np.abs(s) <= h].sum()
                assert covered >= level - 1e-6
                if plus + minus == 1 or (plus == size and law.norm.complete and law.norm.complete[group]):
                    assert h == 0 or mass[np.abs(s) <= h - 1].sum() < level + 1e-6
                # Conservative by a bounded factor.
                order = np.argsort(np.abs(s), kind="stable")
                least = int(np.abs(s)[order][np.searchsorted(np.cumsum(mass[order]), level)])
                assert h <= 2.5 * least + 3


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("true", [(3, 5, 2), (0, 9, 4), (40, 1, 7)])
def test_shares_of_tables_with_noise_of_a_norm_cover(name, true):
    law = NoiseLaw(order=1.0, scale=1.0, support="integer", norm=LAWS[name])
    cells, mass = norm_lattice(law.norm.groups, law.norm.complete, law.scale, 12)
    start = 0
    for group, size in enumerate(law.norm.cells):
        of = cells[start : start + size]
        start += size
        if size < 2:
            continue
        part = VectorErrorLaw(law=law).of_groups[group]
        a, c = true[0], sum(true[1:size])
        pairs, back = np.unique(of[0] * 1000 + sum(of[1:]), return_inverse=True)
        y = (pairs + 500) % 1000 - 500
        x = (pairs - y) // 1000
        lower, upper = share_ends(a + x.astype(float), c + y.astype(float), (part, 1, 0), (part, size - 1, 0), 0.9)
        covers = (lower <= a / (a + c)) & (a / (a + c) <= upper)
        assert np.bincount(back, weights=mass) @ covers >= 0.9 - 1e-4


def test_the_noise_of_two_releases_adds_up_in_their_differences(tmp_path):
    domain = {"a": ["x", "y", "z"], "b": ["x", "y"]}
    data = people()
    both = plan_request(asked(domain)).run(data)
    alone = plan_request(TableRequest(by="a", goal=PURE, domain=domain, unit="row")).run(data)
    both.write(tmp_path / "both.csv")
    again = plan_request(asked(domain)).run(data)
    again.write(tmp_path / "again.csv")
    changed = difference(tmp_path / "both.manifest.json", tmp_path / "again.manifest.json", table=0)
    half = (changed["upper"][0].as_py() - changed["lower"][0].as_py()) // 2
    single = VectorErrorLaw(law=both.plan.parts[0].mechanism.law.law).of_groups[0]
    assert half == sum_half_width(((single, 1, 0),) * 2, 0.95)
    mixed = sum_half_width(((single, 1, 0), (*alone.tables[0].noise, 1)), 0.95)
    # Both are the least ones, by the law of a cell in a finite part of the lattice and that of Laplace noise.
    norm = single.norm
    cells, mass = norm_lattice(norm.groups, norm.complete or (False,) * len(norm.groups), single.scale, 16)
    near = np.arange(-16, 17)
    cell = np.array([mass[cells[0] == k].sum() for k in near])
    laplace = np.exp(-np.abs(near) / alone.tables[0].noise[1])
    for found, other in ((half, cell), (mixed, laplace / laplace.sum())):
        law = np.convolve(cell, other)
        within = [law[32 - h : 33 + h].sum() for h in range(33)]
        assert found == int(np.searchsorted(within, 0.95))
    read = ggdp.read_table(tmp_path / "both.manifest.json", 1)
    assert read.noise == both.tables[1].noise
    assert read.difference({"b": "x"}, {"b": "y"}) == both.tables[1].difference({"b": "x"}, {"b": "y"})
    assert read.shares().to_arrow() == both.tables[1].shares().to_arrow()


@pytest.mark.parametrize(("complete", "goal"), [(False, PURE), (True, TOTAL_GOAL)])
def test_an_empty_source_looks_empty_and_a_full_one_does_not(complete, goal):
    domain = questions(10, complete=complete)
    empty = pa.table({name: pa.array([], pa.string()) for name in domain})
    plan = plan_request(asked(domain, goal))
    assert sum("consistent with an empty table" in note for note in plan.run(empty).notes) == 10
    full = pa.table(dict.fromkeys(domain, YES_NO * 200))
    assert plan.run(full).notes == ()


def test_all_intervals_of_a_release_can_be_asked_for_together():
    one, several = (plan_request(asked(domain)).run(people()) for domain in ({n: DOMAIN[n] for n in "abc"}, DOMAIN))
    assert len(several.plan.parts) == 2
    for release in (one.release, several.release):
        single, every = release.interval(), release.interval(simultaneous=True)
        assert np.all(every.upper > single.upper)


def test_the_laws_of_runs_are_asked_run_by_run():
    law = JointLaw(((1, ErrorLaw(order=1, scale=4.0)), (2, ErrorLaw(order=2, scale=3.0))))
    assert law.standard_error([0, 0, 0]).tolist() == [
        ErrorLaw(order=1, scale=4.0).standard_error(),
        *[ErrorLaw(order=2, scale=3.0).standard_error()] * 2,
    ]
    assert law.at(np.array([False, True, True])).half_width() == ErrorLaw(order=2, scale=3.0).half_width()
    with pytest.raises(ArgumentError, match="must be the 3 values of the release"):
        law.intervals(np.array([1, 2]))


def test_a_manifest_of_parts_is_refused_without_its_request_and_with_too_much_epsilon():
    release = plan_request(asked(DOMAIN)).run(people())
    alone = manifest_of(release.release)
    assert "certificate" in contradiction(alone)
    # Twice the epsilon in the two parts, each with a proof of its own.
    plan = in_parts(asked(DOMAIN), ((0, 1), 0.5), ((2, 3), 0.5))
    manifest = json.loads(json.dumps(plan.run(people()).manifest))
    assert contradiction(manifest) is None
    more = in_parts(asked(DOMAIN, ggdp.PureDP(2.0)), ((0, 1), 0.5), ((2, 3), 1.0))
    stolen = json.loads(json.dumps(more.run(people()).manifest))
    for name in ("mechanism", "losses", "error"):
        manifest[name] = stolen[name]
    assert "more than the epsilon of the goal" in contradiction(manifest)


def test_a_manifest_of_parts_with_too_much_delta_is_refused():
    domain = questions(6, complete=True)
    half = replace(TOTAL_GOAL, epsilon=0.25)

    def parts_for(request, *_):
        made = [(of, common_total_mechanism(half, groups_of(request, of))) for of in ((0, 1, 2), (3, 4, 5))]
        return TableNoise(tuple(itertools.starmap(NoisePart, made)))

    # All of delta in each of the two parts.
    release = plan_request(asked(domain, TOTAL_GOAL), None, parts_for).run(pa.table(dict.fromkeys(domain, YES_NO)))
    said = contradiction(json.loads(json.dumps(release.manifest)))
    assert "more than the epsilon of the goal together, or its delta" in said


def test_noise_is_drawn_for_a_set_of_tables_at_once():
    plan = plan_request(asked(questions(5, complete=True)))
    assert isinstance(plan.parts[0].mechanism.noise.vectors, MinkowskiNoise)
    assert plan.parts[0].mechanism.noise.vectors.complete == (True,) * 5


def changing(answers):
    """Return answers of a source that has one row more in a cell when it is looked at for the last table."""
    *others, last = answers
    return [*others, last._replace(counts=last.counts + np.eye(1, last.counts.size, dtype=np.int64)[0])]


def test_a_source_that_changes_between_two_tables_is_not_published(monkeypatch):
    plan = plan_request(asked(questions(3, complete=True)))
    data = pa.table({f"q{k}": ["yes", "no", None, "no"] for k in range(3)})
    count = TableSource.count
    monkeypatch.setattr(TableSource, "count", lambda source, query: changing(count(source, query)))
    with pytest.raises(ChangedSourceError, match="changed while it was read"):
        plan.run(data)


def test_a_source_that_changes_between_two_columns_is_not_published(monkeypatch):
    domain = ggdp.Domain({"g": YES_NO} | {name: {"range": (0, 10)} for name in "xyz"})
    means = [ggdp.Mean(name) for name in "xyz"]
    plan = ggdp.plan_table("g", PURE, domain, unit="row", statistics=means)
    assert plan.statistics.blocks
    data = pa.table({"g": ["yes", "no", "yes"]} | {name: [1.0, None, 3.0] for name in "xyz"})
    assert plan.run(data).guarantee == PURE.under("add-remove")
    sums = TableSource.sums

    def changing_sums(source, query):
        (at, (first, *others)), *more = sums(source, query)
        return [(at, (first._replace(units=first.units + 1), *others)), *more]

    monkeypatch.setattr(TableSource, "sums", changing_sums)
    with pytest.raises(ChangedSourceError, match="changed while it was read"):
        plan.run(data)
