"""Mironov's attack: which outputs can come from one true value and not from its neighbour.

An output that only one of them can give proves which one it was, whatever epsilon is. Floating-point noise has many
such outputs; the paths here must have none.
"""

import math

import numpy as np
import pytest

import ggdp
import ggdp.noise
from ggdp.calibration.grid_calibration import on_grid
from ggdp.mechanisms import Mechanism
from ggdp.privacy.grid import Grid

PURE, APPROXIMATE = ggdp.PureDP(1.0), ggdp.ApproxDP(1.0, 1e-6)
D = 0.3
AWKWARD = [0.1, 1 / 3, 1e-17, 12345.678, -0.7, 2.0**52 + 0.5, 1e15]
BOUNDED = {"truncated": "TruncatedIntegerNoise", "boundary-inflated": "BoundaryInflatedIntegerNoise"}


def only_from_the_first(first, second):
    """The share of the first value's outputs, each as likely as the others, that the second value cannot give."""
    low, high = max(first.min(), second.min()), min(first.max(), second.max())
    common = first[(first >= low) & (first <= high)]
    return 1.0 - np.isin(common, second).mean()


def naive_laplace_outputs(s, bits=16):
    """Every output of s + Laplace noise in floats, the textbook way, from uniforms of a few bits."""
    u = np.arange(1, 2**bits) / 2.0**bits
    return np.concatenate([s + np.log(u), s - np.log(u)])


@pytest.mark.parametrize(("s", "t"), [(0.0, 1.0), (0.1, 1.1), (1 / 3, 4 / 3), (12345.678, 12346.678)])
def test_the_attack_tells_neighbours_apart_under_naive_floating_point_noise(s, t):
    assert only_from_the_first(naive_laplace_outputs(s), naive_laplace_outputs(t)) > 0.95


def cannot_come_from_one(y):
    """Return which outputs no floating-point sampler whatever can give at the true value 1.

    For 0 < y < 1/2 the noise is in (-1, -1/2), a multiple of 2^-53, and 1 + noise is exact (Sterbenz): y would be such
    a multiple too. Below 0 the same holds with 2^-52.
    """
    small = np.abs(y) < 0.5
    unit = np.where(y > 0, 2.0**-53, 2.0**-52)
    return small & (y / unit != np.floor(y / unit))


def test_the_attack_succeeds_against_numpys_own_laplace_noise():
    noise = np.random.default_rng(7).laplace(size=(2, 200_000))
    from_zero, from_one = cannot_come_from_one(0.0 + noise[0]), cannot_come_from_one(1.0 + noise[1])
    # A certain verdict for more than one output in ten; epsilon = 1 of pure DP would allow none.
    assert from_zero.mean() > 0.1
    assert not from_one.any()


class Scripted:
    """A sampler that returns every noise from -reach to reach, one each."""

    reach = 3000

    def sample(self, size, *, rng):
        del rng
        assert size == 2 * self.reach + 1
        return np.arange(-self.reach, self.reach + 1)


@pytest.fixture
def enumerated(monkeypatch):
    monkeypatch.setattr(ggdp.noise.IntegerNoise, "sample", lambda _, size, *, rng: Scripted().sample(size, rng=rng))


def outputs(mechanism, s):
    kind = np.int64 if mechanism.step is None else np.float64
    return mechanism.release(np.full(2 * Scripted.reach + 1, s, dtype=kind)).values


def complaints(mechanism, s, t):
    """What is wrong with the outputs that two neighbouring values can give, by words."""
    first, second = outputs(mechanism, s), outputs(mechanism, t)
    unit = 1 if mechanism.step is None else mechanism.step
    low, high = max(first.min(), second.min()), min(first.max(), second.max())
    assert low < high
    found = set()
    if set(first[(first >= low) & (first <= high)]) != set(second[(second >= low) & (second <= high)]):
        found.add("reachable sets differ")
    if any((values / unit != np.floor(values / unit)).any() for values in (first, second)):
        found.add("off the grid")
    # The same noise, so the outputs are as far apart as the rounded values.
    apart = np.abs(second - first).max() / unit
    if abs(s) < 2.0**30 and apart > mechanism.calibration.certificate.to_dict()["parameters"]["sensitivity"]:
        found.add("moved farther than the sensitivity")
    return found


@pytest.fixture(scope="module")
def reals():
    return Mechanism(ggdp.calibrate(APPROXIMATE, ggdp.Sensitivity.disjoint(D), order=3))


@pytest.mark.usefixtures("enumerated")
@pytest.mark.parametrize("s", AWKWARD)
@pytest.mark.parametrize("move", [D, -D, D / 2, 1e-9])
def test_real_neighbours_reach_the_same_floats(reals, s, move):
    assert complaints(reals, s, s + move) == set()


@pytest.mark.usefixtures("enumerated")
def test_values_beyond_64_bits_reach_the_same_floats(reals):
    assert set(outputs(reals, 1e300)) == set(outputs(reals, math.inf))
    assert set(outputs(reals, -1e300)) == set(outputs(reals, -math.inf))


@pytest.mark.usefixtures("enumerated")
@pytest.mark.parametrize(("s", "t"), [(0, 1), (41, 40), (2**53, 2**53 + 1)])
def test_integer_neighbours_reach_the_same_integers(s, t):
    mechanism = Mechanism(ggdp.calibrate(APPROXIMATE, ggdp.Sensitivity.disjoint(1), order=2, support="integer"))
    first, second = (set(outputs(mechanism, x).tolist()) for x in (s, t))
    assert first ^ second == {min(first | second), max(first | second)}


@pytest.mark.parametrize("bounding", BOUNDED)
@pytest.mark.parametrize("support", ["integer", "real"])
def test_bounded_neighbours_reach_every_output_in_the_bounds(bounding, support):
    low, high = (0, 4) if support == "integer" else (0.1, 4.0)
    query = ggdp.Sensitivity.disjoint(1)
    calibration = ggdp.calibrate(PURE, query, order=2, support=support, bounds=[(low, high)], bounding=bounding)
    mechanism = Mechanism(calibration if support == "integer" else on_grid(calibration, Grid(step=0.25)))
    points = range(5) if support == "integer" else [max(k * 0.25, low) for k in range(17)]
    for s, t in ((low, low + 1), (high - 1, high)):
        # Every output has a probability of 0.005 or more, so 10,000 draws miss none but once in 10^20 runs.
        reached = [set(mechanism.release(np.full(10_000, x)).values.tolist()) for x in (s, t)]
        assert reached[0] == reached[1] == set(points)


@pytest.mark.parametrize("bounding", BOUNDED)
def test_bounded_neighbours_reach_the_same_floats_on_their_own_grid(bounding, monkeypatch):
    # Every noise, cut off at the bounds: all that can come out under either law.
    def around(self, values, *, rng):
        del rng
        noisy = values + np.arange(-Scripted.reach, Scripted.reach + 1)[:, None]
        return np.clip(noisy, self.lower, self.upper)

    monkeypatch.setattr(getattr(ggdp.noise, BOUNDED[bounding]), "around", around)
    calibration = ggdp.calibrate(PURE, ggdp.Sensitivity.disjoint(D), order=2, bounds=[(0.2, 0.55)], bounding=bounding)
    mechanism = Mechanism(calibration)
    sets = [set(outputs(mechanism, s).tolist()) for s in (0.2, 0.5, 1 / 3, 0.55, -7.0)]
    assert all(one == sets[0] for one in sets)
    # In steps of 2^-12 the bounds are 819.2 and 2252.8: the ends of the grid lie outside and are clipped.
    ends = {0.2, 0.55}
    assert ends <= sets[0]
    assert all((value / mechanism.step).is_integer() for value in sets[0] - ends)


@pytest.mark.usefixtures("enumerated")
def test_floating_point_noise_put_in_is_noticed(reals, monkeypatch):
    def float_noise(self, given, source):
        return given + self.noise.sample(given.size, source) * self.step

    monkeypatch.setattr(Mechanism, "_draw", float_noise)
    monkeypatch.setattr(Mechanism, "_in_unit", lambda _, noisy: noisy)
    assert {"reachable sets differ", "off the grid"} <= complaints(reals, 0.1, 0.1 + D)


@pytest.mark.usefixtures("enumerated")
def test_half_even_rounding_put_in_is_noticed(monkeypatch):
    # An odd number of steps takes a half to a half, one rounded down and the other up.
    d = 1025 * 2.0**-10
    mechanism = Mechanism(ggdp.calibrate(APPROXIMATE, ggdp.Sensitivity.disjoint(d), order=3))
    s = mechanism.step / 2
    assert complaints(mechanism, s, s + d) == set()
    monkeypatch.setattr(Grid, "index_of_exact", lambda self, x: np.rint(np.asarray(x) / self.step).astype(np.int64))
    assert complaints(mechanism, s, s + d) == {"moved farther than the sensitivity"}


@pytest.mark.usefixtures("enumerated")
def test_a_grid_that_depends_on_the_value_is_noticed(reals, monkeypatch):
    def own_grid(self, noisy):
        # The step of the output follows the value, as a float's own spacing does.
        return noisy * (self.step if np.median(noisy) < self.calibration.grid.index(0.35) else self.step / 3)

    monkeypatch.setattr(Mechanism, "_in_unit", own_grid)
    assert "off the grid" in complaints(reals, 0.1, 0.1 + D)
