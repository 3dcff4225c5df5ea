"""Columns: which values count as which, and what is published for them."""

from __future__ import annotations

import datetime
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggdp.domain.column import Column
from ggdp.errors import ArgumentError


@pytest.mark.parametrize(
    ("levels", "kind", "texts", "arrow"),
    [
        (["f", "m"], "text", ("f", "m"), pa.string()),
        ([2**53 + 1, -3], "integer", ("9007199254740993", "-3"), pa.int64()),
        ([True, False], "boolean", ("true", "false"), pa.bool_()),
        ([datetime.date(2024, 2, 29)], "date", ("2024-02-29",), pa.date32()),
        (range(3), "integer", ("0", "1", "2"), pa.int64()),
        ([np.int64(7), np.int32(8)], "integer", ("7", "8"), pa.int64()),
        ([np.str_("a")], "text", ("a",), pa.string()),
    ],
)
def test_levels_keep_their_type_and_have_a_text(levels, kind, texts, arrow):
    column = Column(name="x", levels=levels)
    assert (column.kind, column.texts, column.values.type) == (kind, texts, arrow)
    assert column.values.to_pylist() == [level.item() if hasattr(level, "item") else level for level in levels]


def test_other_and_missing_come_last_and_make_all_labels_text():
    column = Column(name="x", levels=[1, 2], other="other", missing="none")
    assert column.labels == ("1", "2", "other", "none")
    assert (column.other_code, column.missing_code, column.size) == (2, 3, 4)
    assert column.values.type == pa.string()


def test_other_may_be_a_declared_level_and_the_same_as_missing():
    column = Column(name="x", levels=["red", "other"], other="other", missing="other")
    assert (column.labels, column.other_code, column.missing_code) == (("red", "other"), 1, 1)


def test_without_other_and_missing_there_is_no_code_for_them():
    column = Column(name="x", levels=["red"])
    assert column.other_code is column.missing_code is None


def test_bins_are_named_by_their_ends_and_only_the_last_has_its_right_one():
    assert Column(name="x", edges=[-math.inf, 0, 0.5, 1e20, math.inf]).labels == (
        "[-inf, 0)",
        "[0, 0.5)",
        "[0.5, 1e+20)",
        "[1e+20, inf]",
    )


@given(st.lists(st.floats(allow_nan=False), min_size=2, max_size=30, unique=True).map(sorted))
def test_labels_of_bins_are_distinct(edges):
    labels = Column(name="x", edges=edges).labels
    assert len(set(labels)) == len(labels) == len(edges) - 1


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"levels": []}, "must not be empty"),
        ({"levels": ["a", "a"]}, "declared twice"),
        ({"levels": ["a", 1]}, "of one type"),
        ({"levels": [True, 1]}, "of one type"),
        ({"levels": [1.5]}, "declare edges"),
        ({"levels": [None]}, "must be text, integers"),
        ({"levels": [2**63]}, "64 bits"),
        ({"levels": [datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)]}, "must be text, integers"),
        ({"levels": ["\ud800"]}, "surrogate"),
        ({"levels": "ab"}, "must be a list, such as"),
        ({"levels": {"a", "b"}}, "must be a list written by hand"),
        ({"levels": ["a"], "edges": [0, 1]}, "either levels or edges"),
        ({"edges": [1]}, "at least two"),
        ({"edges": [0, 0]}, "must increase"),
        ({"edges": [0, math.nan]}, "must be numbers"),
        ({"edges": [0, 10**400]}, "not a 64-bit float"),
        ({"edges": [0, 1, 2], "labels": ["a"]}, "must be 2, one for each bin: 3 edges are the ends of 2 bins"),
        ({"edges": [0, 1, 2], "labels": ["a", "a"]}, "declared twice"),
        ({"edges": [0, 1, 2], "labels": ["a", 2]}, "must be text"),
        ({"edges": [0, 1, 2], "labels": "ab"}, "must be a sequence"),
        ({"edges": [0, 1], "labels": ["\ud800"]}, "surrogate"),
        ({"range": [0, 1], "labels": ["b"]}, "need declared levels or edges"),
        ({"levels": ["a", "b"], "labels": ["A"]}, "must be 2, one for each level"),
        ({"levels": ["a", "b"], "labels": ["b", "a"]}, "label of one level and the value of another"),
        ({"levels": [1, 2], "labels": ["2", "two"]}, "label of one level and the value of another"),
        ({"levels": ["a"], "other": "\ud800"}, "surrogate"),
        ({"edges": [0, 2**53 + 1]}, "not a 64-bit float"),
        ({"edges": ["0", "1"]}, "must be numbers"),
        ({"edges": range(20_000)}, "at most 10,001"),
        ({"levels": ["a"], "other": ""}, "must be text"),
        ({"levels": ["a"], "missing": 3}, "must be text"),
        ({"other": "x"}, "needs declared levels"),
    ],
)
def test_a_wrong_declaration_is_refused_with_the_reason(declared, said):
    with pytest.raises(ArgumentError, match=said):
        Column(name="x", **declared)


def test_what_a_frame_holds_is_no_domain():
    import pandas as pd
    import polars as pl

    for found in (
        pd.Series(["a", "b"]),
        pd.Categorical(["a", "b"]),
        pl.Series(["a", "b"]),
        pa.array(["a", "b"]),
        np.array(["a", "b"]),
    ):
        with pytest.raises(ArgumentError, match="not a public domain"):
            Column(name="x", levels=found)


def test_a_million_levels_are_no_trouble():
    column = Column(name="x", levels=[f"level {k}" for k in range(10**6)], other="other")
    assert (column.size, column.other_code) == (10**6 + 1, 10**6)


def test_bins_have_the_labels_that_they_are_given():
    column = Column(name="age", edges=[0, 18, 65, math.inf], labels=["0-17", "18-64", "65+"], other="65+", missing="?")
    assert column.labels == ("0-17", "18-64", "65+", "?")
    assert (column.other_code, column.missing_code) == (2, 3)
    assert column.to_dict() == {
        "edges": [0.0, 18.0, 65.0, "inf"],
        "labels": ["0-17", "18-64", "65+"],
        "other": "65+",
        "missing": "?",
    }
    assert Column(**column.arguments()) == column
    assert column != Column(name="age", edges=[0, 18, 65, math.inf], other="65+", missing="?")


@pytest.mark.parametrize("levels", [["a", "b", "c", "a"], [-1, -2, 3, -2], [datetime.date(2020, 1, 1)] * 2])
def test_levels_that_are_equal_are_found_and_those_with_a_common_hash_are_not(levels):
    with pytest.raises(ArgumentError, match="declared twice"):
        Column(name="x", levels=levels)
    # Python gives -1 and -2 the same hash.
    assert Column(name="x", levels=[-1, -2]).size == 2


def test_levels_have_the_labels_that_they_are_given():
    column = Column(name="race", levels=[1, 2, 3], labels=["White", "Black", "Other"], other="Other", missing="?")
    assert (column.labels, column.texts) == (("White", "Black", "Other", "?"), ("1", "2", "3"))
    assert (column.kind, column.other_code, column.missing_code) == ("integer", 2, 3)
    assert [column.code(label) for label in ("Black", 2, "2", "?")] == [1, 1, 1, 3]
    assert column.to_dict() == {
        "levels": [1, 2, 3],
        "labels": ["White", "Black", "Other"],
        "other": "Other",
        "missing": "?",
    }
    assert Column(name="race", **column.to_dict()) == column
    assert Column(name="x", levels=["a", "b"], labels=["a", "B"]).labels == ("a", "B")


def test_a_column_is_pickled_with_its_labels():
    import pickle

    column = Column(name="x", edges=[0, 1, 2], labels=["low", "high"], other="o")
    _ = column.texts, column.values
    again = pickle.loads(pickle.dumps(column))
    assert (again, again.labels, hash(again)) == (column, column.labels, hash(column))
