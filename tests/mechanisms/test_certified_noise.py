"""Noise is drawn only where its proof holds, by one door; sums saturate at 64 bits, and probabilistic DP remains."""

import ast
import copy
import math
import pickle
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples

import ggdp
from ggdp.calibration.grid_calibration import on_grid
from ggdp.errors import ArgumentError, CertificateError
from ggdp.mechanisms import Mechanism
from ggdp.mechanisms.certified_noise import CertifiedNoise, _most_beyond, add_saturating, saturation_of
from ggdp.noise import IntegerGeneralizedGaussian, IntegerNoise, SeededSource
from ggdp.privacy.grid import Grid
from ggdp.proofs import certificate as proved_certificates

LEAST, LARGEST = -(2**63), 2**63 - 1
PROBABILISTIC = ggdp.ProbabilisticDP(1.0, 1e-3)
ONE = ggdp.Sensitivity.histogram()

noises = st.one_of(st.sampled_from([1 - 2**62, -1, 0, 1, 2**62 - 1]), st.integers(1 - 2**62, 2**62 - 1))
int64s = st.one_of(st.sampled_from([LEAST, LEAST + 1, -1, 0, 1, LARGEST - 1, LARGEST]), st.integers(LEAST, LARGEST))


def total(a, b):
    """The sums of two arrays, as `add_saturating` leaves them in the second."""
    noise = b.copy()
    add_saturating(a, noise)
    return noise


@settings(deadline=None, max_examples=examples(100, 300))
@given(st.lists(st.tuples(int64s, noises), min_size=1, max_size=8))
def test_sums_saturate_exactly(pairs):
    a, b = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
    assert total(a, b).tolist() == [min(max(x + y, LEAST), LARGEST) for x, y in pairs]


def test_sums_at_every_mix_of_extremes_saturate_exactly():
    # Each pair alone, so that no other one makes the block be looked at.
    edges = [LEAST, LEAST + 1, -(2**62) - 1, -(2**62), -(2**62) + 1, -1, 0, 1, 2**62 - 1, 2**62, 2**62 + 1, LARGEST]
    for x in edges:
        for y in edges[4:9]:
            assert total(np.array([x]), np.array([y])).tolist() == [min(max(x + y, LEAST), LARGEST)]


def test_sums_of_many_values_saturate_in_every_block():
    generator = np.random.default_rng(0)
    a, b = generator.integers(LEAST, LARGEST, size=(2, 600_001), endpoint=True)
    b //= 2
    exact = np.clip(a.astype(object) + b.astype(object), LEAST, LARGEST)
    assert (total(a, b).astype(object) == exact).all()
    assert total(a[:0], b[:0]).size == 0


def test_larger_noise_leaves_a_function_of_the_sum():
    # Whatever value and noise led to the sum 2^64 - 2, or to 2^63 + 5, the same comes out.
    for z in (2**64 - 2, 2**63 + 5, -(2**63) - 7):
        pairs = [(x, z - x) for x in (z // 2, z // 2 + 1, z // 2 - 1) if max(abs(x), abs(z - x)) <= LARGEST]
        assert len({total(np.array([x]), np.array([y])).item() for x, y in pairs}) == 1


def test_clamped_values_are_added_to():
    noise = np.array([5, -5, 7, 2**61])
    add_saturating(np.array([LARGEST, LEAST, 3, 2**62]), noise, 2**62)
    assert noise.tolist() == [2**62 + 5, -(2**62) - 5, 10, 2**62 + 2**61]


@pytest.fixture(scope="module")
def counts():
    return Mechanism(ggdp.calibrate(PROBABILISTIC, ONE, order=2, support="integer"))


def test_probabilistic_dp_stays_on_the_integers(counts):
    assert isinstance(counts.guarantee, ggdp.ProbabilisticDP)
    assert counts.calibration.guarantee.delta < counts.guarantee.delta <= 1e-3
    assert counts.release([1]).guarantee == counts.guarantee


def test_for_probabilistic_dp_counts_are_clamped_half_way_to_the_ends(counts):
    values = counts.release([LARGEST, 2**62, LEAST, -(2**62)] * 50).values
    # Noise of a standard deviation below 5 is never a thousand.
    assert np.abs(np.abs(values.astype(object)) - 2**62).max() < 1000
    approximate = Mechanism(ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-3), ONE, order=2, support="integer"))
    assert approximate.release([LARGEST - 10_000]).values[0] > 2**63 - 20_000


def test_for_probabilistic_dp_real_values_are_clamped_to_indices_that_floats_hold():
    mechanism = Mechanism(ggdp.calibrate(PROBABILISTIC, ggdp.Sensitivity.disjoint(1), order=2))
    assert isinstance(mechanism.guarantee, ggdp.ProbabilisticDP)
    values = mechanism.release([math.inf, -1e300]).values / mechanism.step
    assert (np.abs(np.abs(values) - 2.0**52) < 1e6).all()
    assert (values == np.floor(values)).all()


@pytest.mark.parametrize(("grid", "clamp", "first_shared"), [(None, 2**62, LARGEST), (Grid(step=0.25), 2**52, 2**53)])
def test_what_leads_to_an_output_of_several_indices_is_counted_in_delta(grid, clamp, first_shared):
    calibration = ggdp.calibrate(PROBABILISTIC, ggdp.Sensitivity.histogram(), order=2, support="integer")
    beyond = _most_beyond(calibration.scale, first_shared - clamp)
    saturation = saturation_of(calibration, grid)
    assert saturation.clamp == clamp
    assert saturation.guarantee.delta >= calibration.guarantee.delta + beyond


@pytest.mark.parametrize("moving", [1, 2, 1000])
def test_every_moving_coordinate_is_counted_in_delta(moving):
    # A scale so wide that what is beyond the clamp can be seen in delta, and a goal with room for it.
    steps = SimpleNamespace(
        guarantee=ggdp.ProbabilisticDP(1.0, 0.2, "add-remove"),
        goal=ggdp.ProbabilisticDP(1.0, 0.3),
        law=SimpleNamespace(scale=1e14),
        sensitivity=ggdp.Sensitivity.cells(moving, 1),
        bounding=None,
    )
    beyond = _most_beyond(1e14, 2**52)
    assert beyond > 1e-6
    saturation = saturation_of(steps, Grid(step=0.25))
    assert 0.2 + moving * beyond <= saturation.guarantee.delta <= 0.2 + 1.001 * moving * beyond


def test_scales_so_wide_that_outputs_fall_together_leave_approximate_dp():
    # On this grid the noise has a scale of some 2^51 steps, and is as likely as not beyond 2^52.
    ideal = ggdp.calibrate(PROBABILISTIC, ggdp.Sensitivity.disjoint(1), order=2)
    fine = on_grid(ideal, Grid(step=2.0**-49))
    assert fine.guarantee.notion == "probabilistic"
    assert Mechanism(fine).guarantee == fine.guarantee.to_approximate()


@settings(deadline=None, max_examples=examples(15, 40))
@given(st.floats(1.0, 60.0), st.floats(0.3, 1e4), st.floats(1.0, 60.0))
def test_the_bound_of_the_far_tail_is_above_it(order, scale, far):
    k = math.ceil(scale * far)
    lower, _ = IntegerGeneralizedGaussian(order=order, scale=scale).tail_enclosure(k)
    assert 2.0 * lower <= _most_beyond(scale, k)


def test_the_bound_of_the_far_tail_is_not_idle():
    # At order 1 it is off by no more than the normaliser.
    _, upper = IntegerGeneralizedGaussian(order=1, scale=50.0).tail_enclosure(1000)
    assert _most_beyond(50.0, 1000) < 2.0 * upper * 110
    assert _most_beyond(50.0, 10) == 1.0
    assert 0.0 < _most_beyond(3.0, 2**62) < 1e-300


@pytest.mark.parametrize("x", [2**62 - 1, 2**62, 2**62 + 1, 2**63 - 1, -(2**62), -(2**63)])
def test_intervals_cover_counts_that_were_clamped(counts, x):
    lower, upper = counts.release([x]).interval(1 - 1e-12)
    assert lower[0] <= x <= upper[0]


@pytest.mark.parametrize("times", [0.999, 1.0, 1.001, 1e6, math.inf])
def test_intervals_cover_real_values_that_were_clamped(times):
    mechanism = Mechanism(ggdp.calibrate(PROBABILISTIC, ggdp.Sensitivity.disjoint(1e-3), order=2))
    x = times * 2.0**52 * mechanism.step
    for true in (x, -x):
        lower, upper = mechanism.release([true]).interval(1 - 1e-12)
        assert lower[0] <= true <= upper[0]


def forged(calibration, factor):
    """A calibration with a smaller scale, and a certificate that says so, made behind the back of all checks."""
    certificate = copy.copy(calibration.certificate)
    law = copy.copy(certificate.law)
    object.__setattr__(law, "scale", law.scale * factor)
    object.__setattr__(certificate, "law", law)
    found = copy.copy(calibration)
    object.__setattr__(found, "scale", law.scale)
    object.__setattr__(found, "certificate", certificate)
    return found


COUNTS = {
    "laplace": lambda: ggdp.calibrate(ggdp.PureDP(1.0), ONE, order=1, support="integer"),
    "order 3": lambda: ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-6), ONE, order=3, support="integer"),
    "corner": lambda: ggdp.calibrate(
        ggdp.ApproxDP(1.0, 1e-3), ggdp.Sensitivity.histogram(max_cells=3), order=2, support="integer"
    ),
}


@pytest.mark.parametrize("name", COUNTS)
def test_noise_without_a_proof_is_not_drawn(name):
    calibration = COUNTS[name]()
    assert CertifiedNoise(calibration).sample(3).shape == (3,)
    for factor in (0.9, 0.1):
        with pytest.raises(CertificateError):
            CertifiedNoise(forged(calibration, factor))


@pytest.mark.parametrize("name", COUNTS)
def test_noise_is_proved_in_the_process_that_draws_it(name, monkeypatch):
    noise = CertifiedNoise(COUNTS[name]())
    proved, verify = [], proved_certificates.verify
    monkeypatch.setattr(proved_certificates, "verify", lambda one: proved.append(one) or verify(one))
    monkeypatch.setattr(proved_certificates, "_PROVED", type(proved_certificates._PROVED)())
    copied = pickle.loads(pickle.dumps(noise))
    assert proved == [noise.calibration.certificate]
    seeded = [one.sample(50, SeededSource(seed=7)).tolist() for one in (noise, copied)]
    assert seeded[0] == seeded[1]
    object.__setattr__(noise, "calibration", forged(noise.calibration, 0.5))
    with pytest.raises(CertificateError):
        pickle.loads(pickle.dumps(noise))


def test_the_door_draws_the_words_of_its_sampler_and_adds_them():
    noise = CertifiedNoise(COUNTS["order 3"]())
    expected = IntegerNoise(order=3, scale=noise.calibration.scale).sample(1000, rng=SeededSource(seed=2))
    assert noise.sample(1000, SeededSource(seed=2)).tolist() == expected.tolist()
    counts = np.arange(1000)
    assert noise.add(counts, SeededSource(seed=2)).tolist() == (expected + counts).tolist()
    assert counts.tolist() == list(range(1000))


def test_bounded_noise_is_not_drawn_without_a_true_value():
    how = {"support": "integer", "bounds": (0, 10), "bounding": "truncated"}
    noise = CertifiedNoise(ggdp.calibrate(ggdp.PureDP(1.0), ONE, order=2, **how))
    with pytest.raises(ArgumentError, match="drawn around true values"):
        noise.sample(3)
    with pytest.raises(ArgumentError, match="drawn around true values"):
        noise.false_cells(3, empty=5, places=np.arange, rng=SeededSource(seed=1))


# Modules that draw, and names of what they draw from: nothing of these packages may import or use them.
DRAWING = {
    f"ggdp.noise.{name}" for name in ("integer_noise", "rejection", "table", "minkowski_noise", "norm_ball_noise")
}
SAMPLERS = {
    *("IntegerNoise", "ConditionalNoise", "Binomial", "TruncatedIntegerNoise", "BoundaryInflatedIntegerNoise"),
    *("bounded_noise", "MinkowskiNoise", "NormBallNoise", "vector_noise"),
}
# What knows half-widths and spreads of a law: a module that has it must draw nothing.
KNOWN = {"MinkowskiNoise", "NormBallNoise", "vector_noise", "spreads"}


def samplers_in(text):
    """Names of samplers that a module imports or uses past the door."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            names = {alias.name for alias in node.names}
            found |= names if node.module in DRAWING else names & SAMPLERS
            found |= {f"{node.module}.{name}" for name in names} & {"ggdp.noise", *DRAWING}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith("ggdp.noise")}
        elif isinstance(node, ast.Attribute):
            found |= {node.attr} & SAMPLERS
        elif isinstance(node, ast.Name):
            found |= {node.id} & SAMPLERS
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found |= {node.func.attr} & {"noise"}
    return found


def test_tables_and_releases_draw_noise_by_one_door_only():
    package = Path(ggdp.__file__).parent
    assert {name.rpartition(".")[2] for name in DRAWING} <= {file.stem for file in (package / "noise").glob("*.py")}
    modules = [file for name in ("tables", "releases") for file in (package / name).rglob("*.py")]
    assert len(modules) > 10
    past = {file: found for file in modules if (found := samplers_in(file.read_text("utf-8")))}
    assert {file.name: found for file, found in past.items() if not found <= KNOWN} == {}
    for file in past:
        attributes = {node.attr for node in ast.walk(ast.parse(file.read_text("utf-8"))) if hasattr(node, "attr")}
        assert not attributes & {"sample", "around"}, file.name


@pytest.mark.parametrize(
    "text",
    [
        "from ggdp.noise import IntegerNoise",
        "from ggdp import IntegerNoise",
        "from ggdp import noise",
        "import ggdp.noise.integer_noise",
        "import ggdp\nggdp.IntegerNoise(order=1, scale=1.0)",
        "from ggdp.noise.integer_noise import sampler_of",
        "calibration.bounded_noise().around([3])",
        "calibration.noise().sample(3)",
        "from ggdp.noise.norm_ball_noise import vector_noise",
        "from ggdp.noise import MinkowskiNoise",
    ],
)
def test_a_sampler_past_the_door_is_noticed(text):
    assert samplers_in(text)
