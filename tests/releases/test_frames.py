import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ggdp
from ggdp.errors import MissingExtraError
from ggdp.mechanisms import Mechanism
from ggdp.releases import clip, drop

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
