""""""

import copy
import pickle
import sys

import attrs
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ggdp
from ggdp.errors import MissingExtraError
from ggdp.mechanisms import Mechanism
from ggdp.noise import SeededSource
from ggdp.releases import ErrorLaw, NoiseRecord, Release
from ggdp.releases.adjustments import clip, drop

RECORD = NoiseRecord(
    name="Gaussian",
    item="nowhere",
    goal=ggdp.ApproxDP(1.0, 1e-6),
    neighbours="add-remove",
    sensitivity="one coordinate",
    scale=3.0,
    method="tight",
    certificate=None,
    law=ErrorLaw(order=2.0, scale=3.0),
)


@pytest.fixture(scope="module")
def mechanism():
    return Mechanism(ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.disjoint(0.3), order=3))


def test_a_release_made_by_hand_has_no_guarantee():
    assert Release(values=np.zeros(3), mechanism=RECORD).guarantee is None
    with pytest.raises(TypeError):
        Release(values=np.zeros(3), mechanism=RECORD, guarantee=ggdp.PureDP(1.0))


def test_a_release_that_is_changed_by_hand_loses_its_guarantee(mechanism):
    release = mechanism.release([1.0, 2.0])
    assert release.guarantee == mechanism.guarantee
    assert attrs.evolve(release, values=np.zeros(2)).guarantee is None
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        release.guarantee = ggdp.PureDP(1e-9)


def test_the_values_are_read_only_and_to_numpy_is_a_copy(mechanism):
    release = mechanism.release([1.0, 2.0])
    with pytest.raises(ValueError, match="read-only"):
        release.values[0] = 0.0
    for array in (release.values, release.noisy):
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)
    mine = release.to_numpy()
    mine[0] = 1e9
    assert release.values[0] != 1e9


def test_a_seeded_source_leaves_no_guarantee_and_the_release_says_so(mechanism):
    release = mechanism.release([1.0, 2.0], rng=SeededSource(seed=7))
    assert release.guarantee is None
    assert "NOT PRIVATE" in repr(release)
    assert (release.values == mechanism.release([1.0, 2.0], rng=SeededSource(seed=7)).values).all()


def test_a_release_shows_its_guarantee_and_mechanism(mechanism):
    shown = repr(mechanism.release(np.zeros(100)))
    assert "100 values, (1, " in shown
    assert "-aDP under add-remove neighbours" in shown
    assert "order 3" in shown
    assert "on a grid of step 0.000244\n" in shown
    assert shown.count(", ...") == 1
    assert "NOT PRIVATE" not in shown
    assert "one value" in repr(mechanism.release(0.5))
    assert "order 3" in repr(mechanism)
    assert "(1, 1e-06)-aDP" in repr(mechanism)
    assert "Gaussian" in repr(Release(values=np.zeros(0, dtype=np.int64), mechanism=RECORD))


def test_copies_keep_what_was_proved(mechanism):
    release = mechanism.release([1.0, 2.0])
    for same in (copy.copy(release), copy.deepcopy(release), pickle.loads(pickle.dumps(release))):
        assert same.guarantee == release.guarantee
        assert (same.values == release.values).all()


def everything(thing, seen):
    """All objects that can be reached from an object through its slots, containers and array bases."""
    if id(thing) in seen:
        return
    seen[id(thing)] = thing
    names = [name for cls in type(thing).__mro__ for name in getattr(cls, "__slots__", ())]
    parts = [getattr(thing, name, None) for name in names] + list(getattr(thing, "__dict__", {}).values())
    if isinstance(thing, np.ndarray):
        parts.append(thing.base)
    if isinstance(thing, list | tuple | dict):
        parts += list(thing.values() if isinstance(thing, dict) else thing)
    for part in parts:
        everything(part, seen)


@pytest.mark.parametrize("support", ["real", "integer"])
def test_nothing_in_a_release_holds_the_true_values(support):
    goal, query = ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.disjoint(1)
    # Noise of this scale, some 10 whole numbers wide, leaves no run of 50 values as it was.
    true = np.arange(50) * 1000
    release = Mechanism(ggdp.calibrate(goal, query, order=2, support=support)).release(true)
    seen = {}
    everything(release, seen)
    arrays = [thing for thing in seen.values() if isinstance(thing, np.ndarray)]
    assert arrays
    for array in arrays:
        assert not np.shares_memory(array, true)
        assert not np.array_equal(array.reshape(-1), true)


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda release: pickle.loads(pickle.dumps(release))])
def test_copies_are_as_little_to_be_written_to_as_the_release(copied):
    calibration = ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.histogram(), order=1, support="integer")
    release = ggdp.Mechanism(calibration).release([3, 4])
    other = copied(release)
    assert other.guarantee == release.guarantee
    assert other.values.tolist() == release.values.tolist()
    with pytest.raises(ValueError, match="read-only"):
        other.values[0] = 99


def test_numpy_takes_the_values_of_a_release(mechanism):
    release = mechanism.release([1.0, 2.0])
    mine = np.asarray(release)
    assert mine.tolist() == release.values.tolist()
    mine[0] = 1e9
    assert release.values[0] != 1e9
    assert np.asarray(release, dtype=np.float32).dtype == np.float32


def test_a_selection_has_no_order_and_no_scale():
    selection = ggdp.ExponentialMechanism(ggdp.PureDP(1.0), sensitivity=1, candidates=2).release([1, 2])
    assert selection.order is None
    assert selection.scale is None


@pytest.mark.parametrize("level", [0, 1, 95, -0.1, float("nan"), "0.9"])
def test_a_level_is_a_share(mechanism, level):
    with pytest.raises(ggdp.GgdpError, match="level = "):
        mechanism.release([1.0]).interval(level)


@pytest.mark.parametrize("adjust", [lambda release: release, lambda release: clip(release, 0)])
@pytest.mark.parametrize("copied", [lambda r: r, copy.copy, copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))])
def test_no_array_of_a_release_can_be_made_writable_also_not_in_a_copy(mechanism, adjust, copied):
    release = copied(adjust(mechanism.release([[3.0, 1.0], [2.0, 5.0]])))
    assert release.guarantee is not None
    for array in (release.values, release.noisy):
        behind = array
        while isinstance(behind, np.ndarray):
            with pytest.raises(ValueError, match="WRITEABLE"):
                behind.setflags(write=True)
            behind = behind.base


def test_the_places_of_what_is_left_can_be_written_to_as_little(mechanism):
    release = pickle.loads(pickle.dumps(drop(mechanism.release([3.0, 1.0, 2.0]), [1])))
    assert release.places.tolist() == [0, 2]
    with pytest.raises(ValueError, match="WRITEABLE"):
        release.places.setflags(write=True)


TABLES = {
    "to_pandas": (pd.DataFrame, lambda table: {name: table[name].tolist() for name in table.columns}),
    "to_polars": (pl.DataFrame, lambda table: table.to_dict(as_series=False)),
    "to_arrow": (pa.Table, lambda table: table.to_pydict()),
}


@pytest.fixture(scope="module")
def counts():
    return Mechanism(ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.histogram(), order=1, support="integer"))


@pytest.mark.parametrize("name", TABLES)
def test_a_release_is_a_table_of_values_with_their_intervals(counts, name):
    release = clip(counts.release([-30, 50, 2**53 + 1]), 0)
    kind, as_dict = TABLES[name]
    table = getattr(release, name)()
    assert isinstance(table, kind)
    lower, upper = release.interval()
    assert as_dict(table) == {
        "value": release.values.tolist(),
        "noisy": release.noisy.tolist(),
        "lower": lower.tolist(),
        "upper": upper.tolist(),
    }


@pytest.mark.parametrize("name", TABLES)
def test_values_of_several_axes_say_where_they_are(counts, name):
    release = counts.release([[1, 2, 3], [4, 5, 6]])
    columns = TABLES[name][1](getattr(release, name)())
    assert list(columns) == ["axis_0", "axis_1", "value", "noisy", "lower", "upper"]
    assert columns["axis_0"] == [0, 0, 0, 1, 1, 1]
    assert columns["axis_1"] == [0, 1, 2, 0, 1, 2]
    assert columns["value"] == release.values.reshape(-1).tolist()
    assert columns["lower"] == release.interval().lower.reshape(-1).tolist()
    left = TABLES[name][1](getattr(drop(release, [0, 4]), name)())
    assert left["place"] == [1, 2, 3, 5]
    assert left["value"] == release.values.reshape(-1)[[1, 2, 3, 5]].tolist()


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize(
    ("candidates", "shown"),
    [(["a", "b"], ["a", "b"]), ([(1, 2), (3, 4)], ["(1, 2)", "(3, 4)"]), ([1, 2], [1, 2]), ([1j, 2j], ["1j", "2j"])],
)
def test_a_selection_is_a_table_of_its_label(name, candidates, shown):
    mechanism = ggdp.ExponentialMechanism(ggdp.PureDP(1.0), sensitivity=1, candidates=candidates)
    columns = TABLES[name][1](getattr(mechanism.release([1, 2]), name)())
    assert list(columns) == ["value"]
    assert columns["value"][0] in shown


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("values", [[], 7])
def test_nothing_and_one_number_are_tables_too(counts, name, values):
    release = counts.release(values)
    columns = TABLES[name][1](getattr(release, name)())
    assert columns["value"] == release.values.reshape(-1).tolist()
    assert len(columns["lower"]) == release.values.size


@pytest.mark.parametrize("name", TABLES)
def test_real_values_are_floats(name):
    release = Mechanism(ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.disjoint(1), order=1)).release([0.5, 1.5])
    assert TABLES[name][1](getattr(release, name)())["value"] == release.values.tolist()
    assert release.values.dtype == np.float64


def test_a_table_may_be_written_to_without_changing_the_release(counts):
    release = counts.release([1, 2])
    table = release.to_pandas()
    table.loc[0, "value"] = 10**6
    assert release.values[0] != 10**6


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_missing_library_is_named(counts, monkeypatch, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError, match=f"pip install {library}"):
        getattr(counts.release([1]), {"pyarrow": "to_arrow"}.get(library, f"to_{library}"))()
