"""A private range: what it finds from noisy counts alone, what it costs, and what it refuses."""

import json
import shlex

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import ggdp
from ggdp.cli.app import run
from ggdp.cli.flags import RELEASE, domain_of
from ggdp.errors import ArgumentError, BudgetExceededError
from ggdp.tables.clamping_range import EDGES, kept_buckets, noise_level, plan_range

GOAL = ggdp.PureDP(1.0)


def bucket_of(value):
    return int(np.searchsorted(EDGES, value, side="right")) - 1


def counts_of(**placed):
    """Noisy counts of buckets, by a value of each; all others are 0."""
    counts = np.zeros(len(EDGES) - 1, dtype=np.int64)
    for value, count in placed.items():
        counts[bucket_of(float(value.replace("_", "-").removeprefix("v")))] = count
    return counts


def test_buckets_are_powers_of_two_of_both_signs_with_all_numbers_in_one():
    assert list(EDGES) == sorted(EDGES)
    assert len(EDGES) == 2 * 95 + 3
    for value in (0.0, 1.0, -1.0, 3.5, -1e300, 1e300, 2.0**-40):
        place = bucket_of(value)
        assert EDGES[place] <= value < EDGES[place + 1]


@pytest.mark.parametrize(
    ("counts", "found"),
    [
        ({}, None),
        ({"v100": 5}, None),
        ({"v100": 50}, (64, 128)),
        ({"v100": 50, "v1": 6}, (64, 128)),
        ({"v100": 5000, "v1": 50}, (64, 128)),
        ({"v100": 5000, "v1": 52}, (1, 128)),
        ({"v100": 9000, "v1": 50, "v5000": 45}, (1, 128)),
        ({"v_3": 40, "v3": 40}, (-4, 4)),
        ({"v0": 40, "v3": 40}, (0, 4)),
    ],
)
def test_the_range_holds_all_but_the_share_of_the_buckets_above_the_noise(counts, found):
    first, last, outside = kept_buckets(counts_of(**counts), 10, 0.01)
    assert outside <= 0.01
    if found is None:
        assert first is None
    else:
        assert (EDGES[first], EDGES[last + 1]) == found


@pytest.mark.exhaustive
def test_empty_buckets_stay_below_the_noise_level():
    """In 95 % of all releases; these seeds are not special."""
    nothing = pa.table({"x": pa.array([], pa.float64())})
    seeded = [ggdp.private_range(nothing, "x", GOAL, rng=ggdp.SeededSource(seed=seed)) for seed in range(20)]
    assert sum(found.lower is not None for found in seeded) <= 4
    assert "No range" in next(found.statement for found in seeded if found.lower is None)
    # And not for free: the level is that of many buckets at once.
    plan = plan_range("x", GOAL).histogram
    assert noise_level(plan) > plan.half_width


@pytest.mark.parametrize("kind", [pa.float64(), pa.int64(), pa.string()])
def test_a_range_is_found_whatever_the_type_and_odd_values(kind):
    numbers = [*range(1000, 1900), *range(-40, -30)]
    values = pa.array([str(number) for number in numbers] if kind == pa.string() else numbers, kind)
    odd = {pa.string(): ["x", "nan", None, "1e400"], pa.float64(): [float("nan"), None]}.get(kind, [None])
    data = pa.table({"x": pa.concat_arrays([values, pa.array(odd, kind)])})
    found = ggdp.private_range(data, "x", ggdp.PureDP(5.0), share=0.0, rng=ggdp.SeededSource(seed=1))
    assert (found.lower, found.upper) == (-64.0, 2048.0)
    assert found.flag == "--range x=-64:2048"
    assert "-64 and 2048" in found.statement


@pytest.mark.parametrize(
    ("values", "flag"),
    [
        ([40.0], "--range 'pay rate=32:64'"),
        # The usual steps of these would be too many for a variance, or none at all.
        ([70_000.0, 9e6], "--range 'pay rate=65500:16777300'"),
        ([0.001, 0.3], "--range 'pay rate=0.000976:0.5'"),
        ([-3.0, 1e12], "--range 'pay rate=-10000000:1099520000000'"),
        ([-1e300, 1e300], "--range 'pay rate=-4611680000000000000:4611680000000000000'"),
    ],
)
def test_the_flag_of_a_range_is_one_that_every_statistic_takes(values, flag):
    data = pa.table({"pay rate": values * 500})
    found = ggdp.private_range(data, "pay rate", GOAL, rng=ggdp.SeededSource(seed=1))
    assert found.flag == flag
    (text,) = shlex.split(flag)[1:]
    declared = domain_of({flag.name: flag.default for flag in RELEASE} | {"range": [text]})
    assert declared["pay rate"].values_in == found.values
    ggdp.plan_table(None, GOAL, declared, statistics=[ggdp.Variance("pay rate")])


def test_a_release_carries_its_guarantee_and_its_histogram():
    data = pa.table({"x": [5.0] * 500, "who": list(range(500))})
    found = ggdp.private_range(data, "x", GOAL, unit="who", max_cells=1)
    assert found.guarantee == ggdp.PureDP(1.0, "add-remove")
    assert found.manifest["table"]["unit"]["max_cells"] == 1
    assert len(found.histogram.tables[0]) == len(EDGES) - 1
    assert ggdp.private_range(data, "x", GOAL, rng=ggdp.SeededSource(seed=1)).guarantee is None


def test_it_is_charged_to_a_ledger_and_refused_without_budget(tmp_path):
    ledger = ggdp.Ledger.create(tmp_path / "ledger.db", ggdp.PureDP(1.5))
    data = pa.table({"x": [5.0] * 500})
    ggdp.private_range(data, "x", GOAL, ledger=ledger, analyst="me")
    assert len(ledger.entries()) == 1
    with pytest.raises(BudgetExceededError):
        ggdp.private_range(data, "x", GOAL, ledger=ledger, analyst="me", out=tmp_path / "range.json")
    assert not (tmp_path / "range.json").exists()


def test_a_file_is_written_once_and_refused_before_anything_is_spent(tmp_path):
    data, out = pa.table({"x": [5.0] * 500}), tmp_path / "range.json"
    found = ggdp.private_range(data, "x", GOAL, out=out)
    assert json.loads(out.read_text()) == json.loads(json.dumps(found.to_dict()))
    ledger = ggdp.Ledger.create(tmp_path / "ledger.db", ggdp.PureDP(1.5))
    for wrong in (out, tmp_path / "range.csv", tmp_path / "missing" / "range.json"):
        with pytest.raises(ArgumentError) as refused:
            ggdp.private_range(data, "x", GOAL, out=wrong, ledger=ledger)
        assert refused.value.argument == "out"
    assert not ledger.entries()
    ggdp.private_range(data, "x", GOAL, out=out, overwrite=True)


@pytest.mark.parametrize("share", [-0.1, 1.0, float("nan")])
def test_a_wrong_share_is_refused(share):
    with pytest.raises(ArgumentError, match="share"):
        ggdp.private_range(pa.table({"x": [1.0]}), "x", GOAL, share=share)


LONG = pa.table({"test": ["sodium", "crp", "lost"] * 500, "value": [140.0, 5.0, None] * 500, "who": list(range(1500))})
LEVELS = {"test": ["sodium", "crp", "lost"]}


def test_each_level_has_a_range_of_its_own_at_the_price_of_one():
    plan = plan_range("value", GOAL, by="test", domain=LEVELS, unit="who", max_cells=1)
    assert plan.guarantee == plan_range("value", GOAL, unit="who", max_cells=1).guarantee
    assert plan.histogram.described_mechanism.scale == 1.0
    found = plan.run(LONG)
    assert [(one.level, one.lower, one.upper) for one in found.levels] == [
        ("sodium", 128.0, 256.0),
        ("crp", 4.0, 8.0),
        ("lost", None, None),
    ]
    assert (found.lower, found.upper, found.by) == (4.0, 256.0, "test")
    assert found.flag == "--range-by value=test --range value:sodium=128:256 --range value:crp=4:8"
    for words in ("128 and 256 for 'sodium', 4 and 8 for 'crp'.", "No range was found for 'lost': declare"):
        assert words in found.statement
    written = json.loads(json.dumps(found.to_dict()))
    assert [one["upper"] for one in written["levels"]] == [256.0, 8.0, None]
    # Buckets of all levels are empty ones, of which none may look full.
    assert plan.noise_level > plan_range("value", GOAL, unit="row").noise_level
    nothing = plan.run(LONG.slice(0, 0))
    assert (nothing.lower, nothing.flag) == (None, None)


def test_the_flags_of_levels_are_those_of_a_release(tmp_path, capsys):
    pa.csv.write_csv(LONG, tmp_path / "long.csv")
    asked = [str(tmp_path / "long.csv"), "--levels", "test=sodium,crp", "--unit-is-row", "--epsilon", "1"]
    assert run(["range", asked[0], "value", "--by", "test", *asked[1:]]) == 0
    flags = shlex.split(capsys.readouterr().out.splitlines()[0])
    assert run(["release", *asked, "--by", "test", "--mean", "value", *flags, "--dry-run"]) == 0
    assert "mean_value, sodium" in capsys.readouterr().out


def test_a_derived_column_has_a_range_too():
    domain = {"double": {"expression": "value * 2"}}
    found = ggdp.private_range(LONG, "double", GOAL, domain=domain, unit="row")
    assert (found.lower, found.upper) == (8.0, 512.0)


@pytest.mark.parametrize(
    ("by", "domain", "said"),
    [
        ("test", {}, "by = 'test': has no declared levels; declare them with `domain`"),
        ("value", {"value": [1]}, "must be one other column"),
        (["test", "who"], LEVELS, "must be one other column"),
        ([["test"], ["who"]], LEVELS, "must be one other column"),
    ],
)
def test_levels_that_are_not_public_have_no_ranges(by, domain, said):
    with pytest.raises(ArgumentError, match=said):
        plan_range("value", ggdp.ApproxDP(1.0, 1e-6), by=by, domain=domain, unit="row")


def test_numbers_that_cannot_be_read_are_a_reason_for_no_range():
    commas = pa.table({"value": ["1,5", "2,5"] * 300})
    assert "`ggdp check`" in ggdp.private_range(commas, "value", GOAL, unit="row").statement
    assert ggdp.private_range(commas, "value", GOAL, unit="row", decimal=",").upper == 4.0
