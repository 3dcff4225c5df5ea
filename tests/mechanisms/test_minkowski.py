"""What the Minkowski mechanism refuses, saturates, charges and states."""

import json
import math
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from tests.conformance.kinds import VECTORS, each

import ggdp
from ggdp.cli.app import run
from ggdp.errors import ArgumentError, BudgetExceededError, CertificateError, GgdpError
from ggdp.mechanisms import Mechanism, MinkowskiMechanism
from ggdp.mechanisms.certified_noise import CertifiedNoise
from ggdp.noise import SeededSource
from ggdp.noise.minkowski_noise import MinkowskiNoise
from ggdp.privacy.grid import Grid
from ggdp.proofs import certificate as proved_certificates

LEAST, LARGEST = -(2**63), 2**63 - 1
GROUPS = ggdp.Sensitivity.groups([2, 3])


@pytest.fixture(scope="module")
def counts():
    return MinkowskiMechanism(ggdp.PureDP(1.0), GROUPS)


@pytest.fixture
def scripted(monkeypatch):
    """Replace the sampler by one that returns given noise."""

    def use(noise):
        monkeypatch.setattr(MinkowskiNoise, "sample", lambda _self, size, **_bits: np.array([noise] * size))

    return use


@pytest.mark.parametrize(
    ("query", "grid", "argument"),
    [
        (ggdp.Sensitivity.cells(3, 1), None, "sensitivity"),
        (ggdp.Sensitivity.histogram(), None, "sensitivity"),
        ([2, 2], None, "sensitivity"),
        (GROUPS, 0.5, "grid"),
        (ggdp.Sensitivity.groups([2, 2], d=1.5), None, "sensitivity"),
        (ggdp.Sensitivity.box([1.0, 1.0]), 0.5, "grid"),
        (ggdp.Sensitivity.norm(2, 1.0, dimension=3), Grid(step=2.0**80), "scale"),
        (ggdp.Sensitivity.norm(2, 1.0, dimension=3), Grid(step=2.0**-60), "scale"),
        (ggdp.Sensitivity.groups([2, 2], d=2**52), None, "scale"),
        (ggdp.Sensitivity.groups([2, 2], d=2**54), None, "sensitivity"),
    ],
)
def test_what_it_cannot_draw_or_prove_is_refused_before_there_are_values(query, grid, argument):
    with pytest.raises(ArgumentError) as refused:
        MinkowskiMechanism(0.001, query, grid)
    assert refused.value.argument == argument


def test_goals_of_other_neighbours_and_of_no_privacy_are_refused():
    with pytest.raises(ArgumentError, match="the two must agree"):
        MinkowskiMechanism(ggdp.PureDP(1.0, "replace-one"), GROUPS)
    with pytest.raises(GgdpError):
        MinkowskiMechanism(0.0, GROUPS)


@pytest.mark.parametrize("goal", [ggdp.ApproxDP(0.5, 1e-6), ggdp.ProbabilisticDP(0.5, 1e-6)])
def test_a_goal_with_a_delta_is_kept_by_pure_noise(goal):
    mechanism = MinkowskiMechanism(goal, GROUPS)
    assert mechanism.guarantee == ggdp.PureDP(0.5, "add-remove")
    assert mechanism.scale == MinkowskiMechanism(0.5, GROUPS).scale
    assert any("more than the goal asks for" in note for note in mechanism.record.notes)


@pytest.mark.parametrize(
    ("query", "values"),
    [
        (GROUPS, [7654321] * 4),
        (GROUPS, [7654321] * 6),
        (GROUPS, [[7654321] * 5] * 2),
        (GROUPS, []),
        (GROUPS, 7654321),
        (GROUPS, [7654321.0] * 5),
        (GROUPS, np.full(5, 7654321.0)),
        (GROUPS, [math.nan] * 5),
        (ggdp.Sensitivity.box([1, 1]), [7654321.0, 1.0]),
        (ggdp.Sensitivity.norm(2, 1.0, dimension=2), [7654321.0, math.nan]),
        (ggdp.Sensitivity.norm(2, 1.0, dimension=2), [7654321.0] * 3),
    ],
)
def test_values_that_are_not_the_query_are_refused_without_a_value(query, values):
    with pytest.raises(ArgumentError) as refused:
        MinkowskiMechanism(1.0, query).release(values)
    assert refused.value.argument == "values"
    assert "7654321" not in f"{refused.value} {refused.value.args}"


def test_sums_saturate_and_any_shape_of_the_right_size_is_kept(counts, scripted):
    scripted([5, -5, 1, 2, 3])
    assert counts.release([LARGEST - 2, LEAST + 2, 0, 1, 2**70]).values.tolist() == [LARGEST, LEAST, 1, 3, LARGEST]
    assert counts.release(np.arange(5, dtype=np.uint64).reshape(5, 1)).values.tolist() == [[5], [-4], [3], [5], [7]]


def test_real_values_saturate_and_their_intervals_are_open_there():
    mechanism = MinkowskiMechanism(1.0, ggdp.Sensitivity.norm(2, 1.0, dimension=3), Grid(step=0.25))
    release = mechanism.release([math.inf, -1e300, 5])
    assert release.values[:2].tolist() == [2.0**61, -(2.0**61)]
    lower, upper = release.interval()
    assert (upper[0], lower[1]) == (math.inf, -math.inf)
    assert lower[0] < 2.0**61 < upper[0]
    assert lower[2] < 5 < upper[2] or mechanism.std > 1


@pytest.mark.parametrize("grid", [None, Grid(step=0.5)])
def test_values_outside_the_bounds_of_the_sensitivity_are_clamped(grid):
    mechanism = MinkowskiMechanism(1.0, ggdp.Sensitivity.from_bounds([(0, 10), (5, 15)]), grid)

    def released(values):
        return mechanism.release(values, rng=SeededSource(seed=3)).values.tolist()

    assert released([-50, 90]) == released([0, 15])
    assert released([50, -90]) == released([10, 5])
    assert released([0, 15]) != released([10, 5])
    assert mechanism.release([3, 7]).manifest["mechanism"]["query_bounds"] == [[0.0, 10.0], [5.0, 15.0]]


def test_its_noise_is_drawn_by_no_other_mechanism(counts):
    for refused in (lambda: Mechanism(counts.calibration), lambda: counts.noise.sample(5), counts.calibration.noise):
        with pytest.raises(ArgumentError, match="MinkowskiMechanism"):
            refused()
    independent = CertifiedNoise(ggdp.calibrate(1.0, GROUPS, order=1, support="integer"))
    with pytest.raises(ArgumentError, match="norm"):
        _ = independent.vectors


@pytest.mark.parametrize("kind", each(VECTORS))
def test_noise_of_vectors_is_proved_in_the_process_that_draws_it(kind, monkeypatch):
    noise, proved, verify = kind.mechanism.noise, [], proved_certificates.verify
    monkeypatch.setattr(proved_certificates, "verify", lambda one: proved.append(one) or verify(one))
    monkeypatch.setattr(proved_certificates, "_PROVED", set())
    assert pickle.loads(pickle.dumps(noise)).vectors == noise.vectors
    assert proved == [noise.calibration.certificate]
    for name, value in (("scale", noise.calibration.scale * 0.9), ("goal", ggdp.PureDP(0.5))):
        forged = pickle.loads(pickle.dumps(noise.calibration))
        object.__setattr__(forged, name, value)
        with pytest.raises(CertificateError):
            CertifiedNoise(forged)


def test_what_is_known_of_the_noise_is_its_pure_loss(counts):
    noise = counts.calibration
    assert noise.epsilon(0.0) == (1.0, 1.0)
    assert noise.delta(1.0) == (0.0, 0.0)
    lower, upper = noise.delta(0.5)
    assert lower == 0.0
    # Randomized response is the worst of all mechanisms with this pure loss.
    assert upper == pytest.approx((math.e - math.exp(0.5)) / (1 + math.e), rel=1e-12)
    assert noise.concentrated()[1] <= 0.5 * (1 + 1e-12)
    (loss,) = counts.losses
    assert loss.to_dict() == {"kind": "response", "epsilon": 1.0, "delta": 0.0, "count": 1}
    total = ggdp.compose([(counts, 4), counts.release([1] * 5), counts.release([1] * 5).manifest]).guarantee()
    assert total == ggdp.PureDP(6.0, "add-remove")


def test_a_release_is_charged_before_a_value_is_looked_at(counts, tmp_path):
    ledger = ggdp.Ledger.create(str(tmp_path / "ledger"), ggdp.PureDP(1.5))
    with pytest.raises(ArgumentError, match="values of groups are counts"):
        MinkowskiMechanism(1.0, GROUPS, Grid(step=0.5)).release([1] * 5, ledger=ledger)
    with pytest.raises(ArgumentError, match="has no guarantee"):
        counts.release([1] * 5, ledger=ledger, rng=SeededSource(seed=1))
    with pytest.raises(ArgumentError, match="integers by type"):
        counts.release(np.ones(5), ledger=ledger)
    assert len(ledger.entries()) == 0
    with pytest.raises(ArgumentError) as refused:
        counts.release([1] * 4, ledger=ledger)
    assert "stays" in "".join(refused.value.__notes__)
    with pytest.raises(BudgetExceededError):
        counts.release([1] * 5, ledger=ledger)
    (entry,) = ledger.entries()
    assert entry.request.request["norm"] == {"kind": "added", "groups": [2, 3]}
    ledger.verify()


def test_a_manifest_says_what_the_noise_is(counts):
    manifest = json.loads(json.dumps(counts.release([1] * 5).manifest, allow_nan=False))
    mechanism = manifest["mechanism"]
    assert (mechanism["name"], mechanism["order"], mechanism["scale"]) == ("Minkowski", 1.0, 1.0)
    assert mechanism["norm"] == mechanism["certificate"]["parameters"]["norm"] == {"kind": "added", "groups": [2, 3]}
    assert manifest["guarantee"]["notion"] == "pure"
    assert manifest["error"]["standard_error"] == max(counts.noise.vectors.std) == counts.std
    assert "Minkowski noise was added to every value" in manifest["statement"]
    ggdp.verify(mechanism["certificate"])
    infinite = MinkowskiMechanism(1.0, ggdp.Sensitivity.box([1.5, 1.5])).release([1.0, 2.0]).manifest
    assert json.loads(json.dumps(infinite, allow_nan=False))["mechanism"]["norm"]["order"] == "inf"


def test_the_command_line_proves_its_manifests_again_and_adds_them(counts, tmp_path, capsys):
    real = MinkowskiMechanism(0.5, ggdp.Sensitivity.norm(3, 1.0, dimension=5))
    manifests = counts.release([1] * 5).manifest, real.release([1.0] * 5).manifest
    files = [str(tmp_path / name) for name in ("counts.json", "real.json")]
    for file, manifest in zip(files, manifests, strict=True):
        Path(file).write_text(json.dumps(manifest), "utf-8")
    assert run(["verify", *files]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "epsilon <= 1.0, for noise of the norm 'added' and scale 1.0; proved again" in shown
    assert "epsilon <= 0.5, for noise of the norm 'lp' and scale 2.0; proved again" in shown
    assert run(["account", *files, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["basic"]["epsilon"] == 1.5
    assert run(["report", *files, "--out", str(tmp_path / "report.html")]) == 0
    assert "Minkowski noise" in (tmp_path / "report.html").read_text("utf-8")
    Path(files[0]).write_text(json.dumps(manifests[0]).replace("[2, 3]", "[2, 4]"), "utf-8")
    assert run(["verify", files[0]]) == 1


@pytest.mark.parametrize(
    ("query", "how", "gain"),
    [
        (ggdp.Sensitivity.box([1.0, 1.0, 1.0]), {}, math.sqrt(20 / 3) / math.sqrt(18)),
        (ggdp.Sensitivity.box([1.0, 1.0, 1.0]), {"measure": "quantile"}, None),
        (ggdp.Sensitivity.box([1, 1]), {"support": "integer"}, None),
        (ggdp.Sensitivity.norm(2, 1.0, dimension=10), {}, math.sqrt(11 / 20)),
        (ggdp.Sensitivity.groups([2, 2], complete=[True, True]), {"support": "integer"}, 1.77848 / 2.798),
        (ggdp.Sensitivity.box([1.0, 1000.0]), {}, None),
    ],
)
def test_plans_of_pure_dp_compare_it_with_independent_noise(query, how, gain):
    plan = ggdp.plan(ggdp.PureDP(1.0), query, **how)
    (choice,) = (one for one in plan.alternatives if one.name == "minkowski")
    assert choice.gain == choice.error / plan.best.error
    assert choice.gain < 1.0
    assert choice.scale == MinkowskiMechanism(1.0, query).scale
    assert gain is None or choice.gain == pytest.approx(gain, rel=2e-3)
    assert f"{choice.gain:.3g} times the error" in plan.notes[0]
    assert Mechanism(plan.calibration).order == 1.0


@pytest.mark.parametrize("goal", [ggdp.ApproxDP(1.0, 1e-6), ggdp.ProbabilisticDP(1.0, 1e-6)])
@pytest.mark.parametrize(
    ("query", "how", "error"),
    [
        (ggdp.Sensitivity.norm(2, 1.0, dimension=10), {}, math.sqrt(11)),
        (ggdp.Sensitivity.box([1.0] * 10), {}, math.sqrt(44)),
        (ggdp.Sensitivity.groups([2] * 10, complete=[True] * 10), {"support": "integer"}, 5.08265),
    ],
)
def test_plans_with_a_delta_name_it_where_its_error_is_less(goal, query, how, error):
    plan = ggdp.plan(goal, query, **how)
    choice = plan.alternatives[-1]
    assert (choice.name, choice.scale) == ("minkowski", MinkowskiMechanism(1.0, query).scale)
    assert choice.error == pytest.approx(error, rel=1e-5)
    assert choice.error < plan.best.error
    assert plan.notes[0].startswith(f"noise of a norm (minkowski) has {choice.gain:.3g} times the error of the best")
    assert "needs no delta" in plan.notes[0]


@pytest.mark.parametrize(
    ("goal", "query", "how"),
    [
        (ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.norm(2, 1.0, dimension=30), {}),
        (ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.norm(2, 1.0, dimension=3), {"measure": "max"}),
        (ggdp.PureDP(1.0), ggdp.Sensitivity.disjoint(1), {}),
        (ggdp.PureDP(1.0), ggdp.Sensitivity.cells(3, 1), {}),
        (ggdp.PureDP(1.0), ggdp.Sensitivity.norm(2, 1.0, dimension=3), {"support": "integer"}),
        (ggdp.PureDP(1.0), ggdp.Sensitivity.box([1, 2]), {"support": "integer"}),
        (ggdp.PureDP(1.0), ggdp.Sensitivity.box([1, 2]), {"measure": "max"}),
        (ggdp.PureDP(1.0), ggdp.Sensitivity.box([1, 2]), {"releases": 3}),
    ],
)
def test_other_plans_do_not(goal, query, how):
    assert [one.name for one in ggdp.plan(goal, query, **how).alternatives] == ["laplace", "gaussian"]


def test_a_plan_for_the_largest_error_does_not_say_that_there_was_nothing_to_choose():
    notes = ggdp.plan(ggdp.PureDP(1.0), ggdp.Sensitivity.norm(3, 1.0, dimension=5), "max").notes
    assert notes[0].startswith("order 1 is the only one of independent noise: pure DP")
    assert notes[-1] == "noise of a norm (minkowski) is compared by rmse and quantile only"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ("--order 1 --epsilon 1 --norm 3,1,4", True),
        ("--order 1 --epsilon 1 --norm 3,1,4 --json", True),
        ("--order 3 --epsilon 1 --norm 3,1,4", True),
        ("--order 1 --epsilon 1 --norm 1,1,4", False),
        ("--order 3 --epsilon 1 --norm 3,1,1", False),
        ("--order 3 --epsilon 1 --delta 1e-6 --norm 3,1,4", False),
    ],
)
def test_calibrate_says_what_keeps_pure_dp_where_a_norm_is_known(arguments, named, capsys):
    assert run(["calibrate", *arguments.split()]) == ("--order 3" in arguments and "--delta" not in arguments)
    shown = capsys.readouterr()
    assert ("MinkowskiMechanism" in re.sub(r"\s+", "", shown.out + shown.err)) == named
