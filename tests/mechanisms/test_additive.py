import copy
import dataclasses
import math
import pickle
import traceback
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import strategies as st

import ggdp
import ggdp.noise
from ggdp.calibration.grid_calibration import on_grid
from ggdp.errors import ArgumentError, CertificateError, GgdpError
from ggdp.mechanisms import Mechanism
from ggdp.noise import SeededSource
from ggdp.privacy.grid import Grid
from ggdp.proofs import certificate as certificate_module

LEAST, LARGEST = -(2**63), 2**63 - 1
PURE, APPROXIMATE = ggdp.PureDP(1.0), ggdp.ApproxDP(1.0, 1e-6)
ONE = ggdp.Sensitivity.histogram()

int64s = st.one_of(st.sampled_from([LEAST, LEAST + 1, -1, 0, 1, LARGEST - 1, LARGEST]), st.integers(LEAST, LARGEST))


@pytest.fixture(scope="module")
def counts():
    return Mechanism(ggdp.calibrate(PURE, ONE, order=1, support="integer"))


@pytest.fixture(scope="module")
def reals():
    return Mechanism(ggdp.calibrate(APPROXIMATE, ggdp.Sensitivity.disjoint(0.3), order=3))


def bounded(bounding, bounds, *, support="real", sensitivity=None, order=2):
    query = sensitivity or ggdp.Sensitivity.disjoint(1)
    return Mechanism(ggdp.calibrate(PURE, query, order=order, support=support, bounds=bounds, bounding=bounding))


@pytest.fixture
def scripted(monkeypatch):
    """Replace the unbounded sampler by one that returns given noise; record what it is asked for."""
    asked = []

    def use(noise):
        def sample(self, size, *, rng):
            asked.append(((self.order, self.scale), size, rng))
            return np.resize(np.asarray(noise, dtype=np.int64), size)

        monkeypatch.setattr(ggdp.noise.IntegerNoise, "sample", sample)
        return asked

    return use


def test_integer_noise_is_added_and_saturates(counts, scripted):
    scripted([5, -7, 5, -5])
    assert counts.release([1, 2, LARGEST - 2, LEAST + 2]).values.tolist() == [6, -5, LARGEST, LEAST]


def test_real_noise_is_a_number_of_steps(reals, scripted):
    asked = scripted([3])
    release = reals.release([0.1, -12345.678])
    expected = [(math.floor(Fraction(x) * 4096 + Fraction(1, 2)) + 3) / 4096 for x in (0.1, -12345.678)]
    assert release.values.tolist() == expected
    (((order, scale), size, _),) = asked
    assert (order, size) == (3.0, 2)
    assert scale == reals.certificate.to_dict()["parameters"]["scale"]
    assert reals.scale == scale * reals.step


def test_a_real_calibration_is_shown_as_it_is_drawn():
    ideal = ggdp.calibrate(ggdp.ProbabilisticDP(1.0, 1e-3), ggdp.Sensitivity.disjoint(0.1), order=2)
    mechanism = Mechanism(ideal)
    assert mechanism.scale > ideal.scale
    assert mechanism.std == pytest.approx(mechanism.scale / math.sqrt(2), rel=1e-9)
    assert mechanism.guarantee.notion == "probabilistic"
    assert on_grid(ideal).guarantee.delta < mechanism.guarantee.delta <= 1e-3
    assert mechanism.certificate.bound.name == "integer-shift"
    assert mechanism.calibration.goal == ideal.goal
    assert mechanism == Mechanism(ideal)


def test_pure_and_approximate_dp_stay(counts):
    assert counts.guarantee == ggdp.PureDP(1.0, "add-remove")
    assert counts.release([4]).guarantee == counts.guarantee


def test_a_grid_of_your_own_is_used():
    ideal = ggdp.calibrate(APPROXIMATE, ggdp.Sensitivity.disjoint(1), order=2)
    mechanism = Mechanism(on_grid(ideal, Grid(step=2.0**-4)))
    assert mechanism.step == 2.0**-4
    values = mechanism.release(np.linspace(0, 1, 50)).values * 16
    assert (values == np.floor(values)).all()


@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (2, 3), (4, 0, 2)])
def test_values_of_any_shape_are_released_in_it(counts, reals, shape):
    assert counts.release(np.zeros(shape, dtype=np.int64)).values.shape == shape
    assert reals.release(np.zeros(shape)).values.shape == shape
    for bounding in ("truncated", "boundary-inflated"):
        mechanism = bounded(bounding, [(0, 20)], support="integer")
        assert mechanism.release(np.zeros(shape, dtype=np.int64)).values.shape == shape


def test_lists_numbers_and_arrays_are_all_values(counts, reals, scripted):
    scripted([0])
    assert counts.release(3).values.tolist() == 3
    assert counts.release([]).values.tolist() == []
    assert counts.release([[True, 2], [3, 4]]).values.tolist() == [[1, 2], [3, 4]]
    assert counts.release([2**80, -(2**80), 7]).values.tolist() == [LARGEST, LEAST, 7]
    assert counts.release(np.array([2**64 - 1, 3], dtype=np.uint64)).values.tolist() == [LARGEST, 3]
    assert reals.release(5).values.tolist() == 5.0
    assert reals.release(np.float32(0.25)).values.tolist() == 0.25
    assert counts.release(np.asfortranarray([[1, 2], [3, 4]])).values.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("values", [[123.0], [123.456], [1, 123.5], [Fraction(123, 2)], "123", [None, 123], 1j])
def test_on_the_integers_other_types_are_refused_without_a_value(counts, values):
    with pytest.raises(ArgumentError, match="<not shown>") as caught:
        counts.release(values)
    assert "123" not in "".join(traceback.format_exception(caught.value)[-1:]) + repr(caught.value)


def test_nan_is_refused_without_a_place(reals):
    with pytest.raises(ArgumentError, match="must not hold NaN") as caught:
        reals.release([123.456, math.nan])
    assert "123" not in str(caught.value) + repr(caught.value)


def test_noise_is_drawn_before_the_values_are_looked_at(reals, scripted, monkeypatch):
    asked = scripted([1])
    seen = []
    exact = Grid.index_of_exact
    monkeypatch.setattr(Grid, "index_of_exact", lambda self, values: (seen.append(len(asked)), exact(self, values))[1])
    reals.release([1.0, 2.0, 3.0])
    assert seen == [1]
    assert [size for _, size, _ in asked] == [3]


def test_the_same_noise_is_drawn_whatever_the_values(counts, reals):
    for mechanism, low, high in ((counts, np.zeros(50, dtype=np.int64), np.full(50, 1000)), (reals, 0.0, 64.0)):
        near, far = (mechanism.release(x, rng=SeededSource(seed=3)).values for x in (low, high))
        assert (far - near == np.asarray(high) - np.asarray(low)).all()


def test_infinite_values_saturate_and_clamp(reals, scripted):
    scripted([-4])
    assert reals.release([math.inf]).values[0] == 2.0**51
    assert bounded("truncated", [(0, 8)]).release([math.inf, -math.inf]).values.max() <= 8.0


@pytest.mark.parametrize("bounding", ["truncated", "boundary-inflated"])
def test_bounded_releases_stay_in_bounds_and_clamp_silently(bounding):
    mechanism = bounded(bounding, [(0, 5)], support="integer")
    values = mechanism.release([-1000, 1000] * 200).values
    assert values.min() == 0
    assert values.max() == 5
    inside = bounded(bounding, [(0, 5)], support="integer").release([0, 5] * 50, rng=SeededSource(seed=2)).values
    outside = bounded(bounding, [(0, 5)], support="integer").release([-9, 8] * 50, rng=SeededSource(seed=2)).values
    assert (inside == outside).all()


@pytest.mark.parametrize(
    ("bounding", "law"),
    [("truncated", "TruncatedIntegerNoise"), ("boundary-inflated", "BoundaryInflatedIntegerNoise")],
)
def test_bounds_off_the_grid_are_kept_all_the_same(bounding, law, monkeypatch):
    # In steps of 2^-6, 0.1 is 6.4 and 1.2 is 76.8: the ends of the grid, 6 and 77, lie outside.
    ideal = ggdp.calibrate(PURE, ggdp.Sensitivity.disjoint(1), order=2, bounds=[(0.1, 1.2)], bounding=bounding)
    mechanism = Mechanism(on_grid(ideal, Grid(step=2.0**-6)))
    assert mechanism.calibration.question.bounds == ((6.0, 77.0),)
    values = mechanism.release(np.tile([0.1, 1.2], 100)).values
    assert values.min() >= 0.1
    assert values.max() <= 1.2
    assert mechanism.guarantee.notion == "pure"
    monkeypatch.setattr(getattr(ggdp.noise, law), "around", lambda _, values, **__: np.full_like(values, 77))
    assert mechanism.release([0.5]).values.tolist() == [1.2]


@pytest.mark.parametrize("support", ["integer", "real"])
def test_values_outside_the_bounds_of_the_sensitivity_are_clamped_silently(support, scripted):
    scripted([0])
    query = ggdp.Sensitivity.from_bounds([(0, 10), (-5, 5), (100, 101)])
    mechanism = Mechanism(ggdp.calibrate(PURE, query, order=1, support=support))
    assert mechanism.release([1000, -1000, 0]).values.tolist() == [10, -5, 100]
    assert mechanism.release([[3], [4], [101]]).values.tolist() == [[3], [4], [101]]


@pytest.mark.exhaustive
def test_many_coordinates_are_clamped_each_to_its_own_bounds(scripted):
    scripted([0])
    lows = np.arange(70_000)
    query = ggdp.Sensitivity.from_bounds([(low, low + 2) for low in lows.tolist()])
    mechanism = Mechanism(ggdp.calibrate(PURE, query, order=1))
    assert (mechanism.release(np.zeros(70_000)).values == lows).all()
    assert (mechanism.release(np.full(70_000, 1e9)).values == lows + 2).all()


@pytest.mark.parametrize("bounding", ["truncated", "boundary-inflated"])
def test_bounds_of_each_coordinate_follow_the_last_axis(bounding):
    pairs = [(0, 2), (10, 14), (0, 2)]
    mechanism = bounded(bounding, pairs, support="integer")
    values = mechanism.release(np.zeros((40, 3), dtype=np.int64)).values
    for column, (low, high) in zip(values.T, pairs, strict=True):
        assert column.min() >= low
        assert column.max() <= high
        assert len(set(column.tolist())) > 1
    box = bounded(bounding, pairs, support="integer", sensitivity=ggdp.Sensitivity.box([1, 1, 1]))
    assert box.release([5, 5, 5]).values.shape == (3,)
    reals = Mechanism(
        on_grid(
            ggdp.calibrate(PURE, ggdp.Sensitivity.disjoint(1), order=2, bounds=[(0, 2), (10, 14)], bounding=bounding),
            Grid(step=2.0**-2),
        )
    )
    values = reals.release(np.zeros((40, 2))).values
    assert (values >= [0, 10]).all()
    assert (values <= [2, 14]).all()


@pytest.mark.parametrize(
    ("make", "values"),
    [
        (lambda: Mechanism(ggdp.calibrate(PURE, ggdp.Sensitivity.box([1, 1]), order=1)), [1.0, 2.0, 3.0]),
        (lambda: Mechanism(ggdp.calibrate(PURE, ggdp.Sensitivity.box([1, 1]), order=1)), [[1.0, 2.0], [3.0, 4.0]]),
        (lambda: Mechanism(ggdp.calibrate(PURE, ggdp.Sensitivity.norm(1, 1, dimension=2), order=1)), 1.0),
        (lambda: bounded("truncated", [(0, 2), (0, 3)], support="integer"), [1, 2, 3]),
        (lambda: bounded("truncated", [(0, 2), (0, 3)], support="integer"), 1),
        (
            # Two rows repeat the wider coordinate, and both copies could move.
            lambda: bounded("truncated", [(0, 2), (0, 3)], support="integer", sensitivity=ggdp.Sensitivity.cells(2, 1)),
            [[1, 2], [1, 2]],
        ),
    ],
)
def test_values_that_are_not_the_query_of_the_sensitivity_are_refused(make, values):
    mechanism = make()
    with pytest.raises(ArgumentError, match="values = 'of shape"):
        mechanism.release(values)


def test_no_source_vouches_for_itself(counts):
    class Own:
        private = True

        def fill(self, buffer):
            buffer[:] = 7
            return buffer.size

    class Silent:
        fill = Own.fill

    class Heir(ggdp.SecureSource):
        fill = Own.fill
        private = True

    for source in (Own(), Silent(), Heir(), ggdp.SeededSource(seed=1)):
        assert counts.release([1, 2], rng=source).guarantee is None
    assert counts.release([1, 2], rng=ggdp.SecureSource()).guarantee == counts.guarantee


def test_a_seeded_source_cannot_be_called_private(counts):
    source = ggdp.SeededSource(seed=1)
    with pytest.raises(AttributeError):
        source.private = True
    secure = ggdp.SecureSource()
    with pytest.raises(AttributeError):
        secure.fill = source.fill
    # Whatever is done to the class, a guarantee does not go by its attribute.
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ggdp.SeededSource, "private", True)
        assert counts.release([1, 2], rng=source).guarantee is None


def changed(calibration, scale):
    """A calibration and its certificate, both changed to another scale."""
    law = calibration.law.with_scale(scale)
    return dataclasses.replace(
        calibration, scale=scale, certificate=dataclasses.replace(calibration.certificate, law=law)
    )


@pytest.mark.parametrize("support", ["integer", "real"])
def test_a_calibration_that_was_changed_with_its_certificate_is_refused(support):
    goal = ggdp.ApproxDP(1, 1e-6)
    calibration = ggdp.calibrate(goal, ggdp.Sensitivity.disjoint(1), order=2, support=support)
    ggdp.Mechanism(calibration)
    with pytest.raises(CertificateError, match="does not hold"):
        ggdp.Mechanism(changed(calibration, 1e-3))


def test_a_calibration_on_a_grid_that_was_changed_is_refused(reals):
    drawn = reals.calibration
    certificate = dataclasses.replace(drawn.certificate, law=drawn.law.with_scale(2.0**-10))
    forged = dataclasses.replace(drawn, scale=2.0**-10 * drawn.grid.step, certificate=certificate)
    with pytest.raises(CertificateError, match="does not hold"):
        Mechanism(forged)


@pytest.mark.parametrize(
    "change",
    [
        {"scale": 1e-3},
        {"order": 3.0},
        {"goal": ggdp.PureDP(1e-3)},
        {"sensitivity": ggdp.Sensitivity.disjoint(100)},
        {"support": "odd"},
        {"guarantee": ggdp.PureDP(1e-9, "add-remove")},
        {"bounds": ((0.0, 10.0),)},
        {"bounding": "truncated"},
        {"bounds": ((0.0, 10.0),), "bounding": "odd"},
        {"goal": 1.0},
        {"sensitivity": 1.0},
        {"bounds": ((0.0, 10.0),), "bounding": "truncated"},
        {"certificate": None},
    ],
)
def test_a_calibration_of_which_one_fact_was_changed_is_refused(change):
    calibration = ggdp.calibrate(ggdp.PureDP(1), ggdp.Sensitivity.disjoint(1), order=1, support="integer")
    with pytest.raises(ggdp.GgdpError):
        ggdp.Mechanism(dataclasses.replace(calibration, **change))


def test_a_calibration_of_this_process_is_not_proved_again_and_one_of_another_is(monkeypatch):
    calibration = ggdp.calibrate(ggdp.ApproxDP(1, 1e-6), ggdp.Sensitivity.disjoint(1), order=2, support="integer")
    proofs = []
    monkeypatch.setattr(certificate_module, "verify", proofs.append)
    ggdp.Mechanism(pickle.loads(pickle.dumps(calibration)))
    assert proofs == []
    monkeypatch.setattr(certificate_module, "_PROVED", type(certificate_module._PROVED)())
    ggdp.Mechanism(calibration)
    assert proofs == [calibration.certificate]
    ggdp.Mechanism(calibration)
    assert len(proofs) == 1


def test_a_release_tells_its_mechanism(reals):
    record = reals.release([1.0]).mechanism
    assert record == reals.record
    assert (record.law.order, record.scale, record.law.step) == (3.0, reals.scale, 2.0**-12)
    assert record.law.scale == reals.certificate.to_dict()["parameters"]["scale"]
    assert (record.method, record.neighbours, record.certificate) == ("tight", "add-remove", reals.certificate)
    assert record.to_dict()["support"] == "real"
    law = bounded("truncated", [(0, 5)], support="integer").law
    assert (law.step, law.bounding, law.bounds, law.index_bounds) == (None, "truncated", ((0.0, 5.0),), ((0, 5),))


def test_what_cannot_be_drawn_or_is_not_proved_is_no_mechanism():
    calibration = ggdp.calibrate(PURE, ONE, order=1, support="integer")
    with pytest.raises(CertificateError, match="not about this calibration"):
        Mechanism(dataclasses.replace(calibration, scale=0.1))
    with pytest.raises(ArgumentError, match="calibration = 'float'"):
        Mechanism(3.0)
    with pytest.raises(ArgumentError, match="too wide for 64-bit draws"):
        Mechanism(ggdp.calibrate(ggdp.PureDP(1e-16), ONE, order=1))
    far = ggdp.calibrate(
        PURE, ONE, order=1, support="integer", bounds=[(2.0**62, 2.0**62 + 2.0**12)], bounding="truncated"
    )
    with pytest.raises(GgdpError, match="too far from 0"):
        Mechanism(far)


def test_a_total_of_rounded_rows_is_released_on_the_integers():
    grid = Grid(step=2.0**-20)
    query = grid.total_sensitivity((0, 2))
    mechanism = Mechanism(ggdp.calibrate(APPROXIMATE, query, order=2, support="integer"))
    rows = np.linspace(-1, 3, 1001)
    release = mechanism.release(grid.total(rows, (0, 2)))
    assert abs(float(grid.values(release.values)) - np.clip(rows, 0, 2).sum()) < 40 * mechanism.std * grid.step


@pytest.mark.parametrize("bounding", ["truncated", "boundary-inflated"])
def test_the_law_around_a_clamped_value_is_that_of_the_sampler(bounding):
    mechanism = bounded(bounding, [(-3, 4)], support="integer")
    law = {
        "truncated": ggdp.noise.TruncatedIntegerNoise,
        "boundary-inflated": ggdp.noise.BoundaryInflatedIntegerNoise,
    }[bounding](order=2, scale=mechanism.scale, lower=-3, upper=4)
    true = np.array([-3, 0, 4, 2] * 25)
    same = law.around(true, rng=SeededSource(seed=5))
    assert (mechanism.release(true, rng=SeededSource(seed=5)).values == same).all()


def test_a_calibration_that_was_tampered_with_is_refused():
    ideal = ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.disjoint(1.0), order=1)
    drawn = on_grid(ideal)
    with pytest.raises(CertificateError):
        dataclasses.replace(drawn, grid=Grid(step=2.0**-40))
    object.__setattr__(drawn, "grid", Grid(step=2.0**-40))
    with pytest.raises(CertificateError):
        Mechanism(drawn)
    counts = ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.histogram(), order=1, support="integer")
    for change in ({"guarantee": ggdp.PureDP(1e-9)}, {"scale": counts.scale / 2}, {"goal": ggdp.PureDP(0.5)}):
        with pytest.raises(CertificateError):
            dataclasses.replace(counts, **change)
        ((name, value),) = change.items()
        changed = copy.copy(counts)
        object.__setattr__(changed, name, value)
        with pytest.raises(CertificateError):
            Mechanism(changed)
