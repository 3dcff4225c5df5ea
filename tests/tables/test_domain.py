"""Domains: the algebra of columns, the numbering of cells, and the domain file."""

from __future__ import annotations

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggdp.errors import ArgumentError
from ggdp.tables.column import Column
from ggdp.tables.domain import Domain

SMALL = st.lists(st.integers(1, 5), min_size=1, max_size=4).map(
    lambda sizes: Domain({f"c{k}": list(range(size)) for k, size in enumerate(sizes)})
)


@given(SMALL)
def test_cells_are_numbered_in_domain_order_the_first_column_slowest(domain):
    from itertools import product

    keys = list(product(*(column.labels for column in domain)))
    assert [domain.labels(cell) for cell in range(domain.size)] == keys


@given(SMALL)
def test_codes_and_cells_are_inverse(domain):
    cells = np.arange(domain.size)
    assert domain.cells(domain.codes(cells)).tolist() == cells.tolist()


@given(SMALL, st.data())
def test_marginalise_is_project_on_the_rest_and_merge_undoes_it(domain, data):
    left_out = data.draw(st.sets(st.sampled_from(domain.names)))
    rest = [name for name in domain.names if name not in left_out]
    assert domain.marginalise(left_out) == domain.project(rest)
    merged = domain.project(rest).merge(domain.project(sorted(left_out)))
    assert (merged.size, set(merged.columns)) == (domain.size, set(domain.columns))


def test_a_huge_domain_has_a_size_and_the_last_cell_its_labels():
    domain = Domain({f"c{k}": list(range(1000)) for k in range(6)})
    assert domain.size == 10**18
    assert domain.labels(10**18 - 1) == (999,) * 6


def test_merging_columns_that_are_declared_differently_is_refused():
    with pytest.raises(ArgumentError, match="declared differently"):
        Domain({"a": [1]}).merge(Domain({"a": [1, 2]}))


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"a": {"levels": [1], "others": "x"}}, "is not known; known are levels, edges, labels, other, missing"),
        ({"a": {}}, "must have levels or edges"),
        ({"a": {"levels": [1], "edges": [1, 2]}}, "must have levels or edges"),
        ({3: [1]}, "must be text"),
        ({"a": Column(name="b", levels=[1])}, "calls itself 'b'"),
        ([Column(name="a", levels=[1])] * 2, "twice"),
        ([3], "must be a mapping"),
    ],
)
def test_a_wrong_domain_is_refused_with_the_reason(columns, said):
    with pytest.raises(ArgumentError, match=said):
        Domain(columns)


def test_a_column_that_is_not_declared_is_named_with_those_that_are():
    with pytest.raises(ArgumentError, match="column = 'b': is not declared; declared are a"):
        Domain({"a": [1]})["b"]


def test_a_domain_file_holds_levels_of_every_kind(tmp_path):
    file = tmp_path / "people.toml"
    file.write_text(
        """
        [columns.sex]
        levels = ["f", "m"]
        missing = "not said"
        [columns."home town"]
        levels = ["Žilina", "a, b"]
        other = "elsewhere"
        [columns.rooms]
        levels = [1, 2, 3]
        [columns.insured]
        levels = [true, false]
        [columns.day]
        levels = [2024-02-29, 2024-03-01]
        [columns.age]
        edges = [0, 18, 65, inf]
        """,
        encoding="utf-8",
    )
    domain = Domain.from_toml(file)
    assert domain.shape == (3, 3, 3, 2, 2, 3)
    assert domain["day"].levels == (datetime.date(2024, 2, 29), datetime.date(2024, 3, 1))
    assert domain["age"].labels[-1] == "[65, inf]"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "section"),
        ("[columns]\nsex = ['f']", "a section \\[columns.sex\\] of its own"),
        ("[columns.sex]\nlevels = ['f'\n", "is not a TOML file"),
        ("[columns.sex]\nlevels = [0.5]", "declare edges"),
        ("title = 'x'\n[columns.sex]\nlevels = ['f']", "beside them only"),
    ],
)
def test_a_wrong_domain_file_is_refused_with_the_reason(tmp_path, text, said):
    file = tmp_path / "people.toml"
    file.write_text(text)
    with pytest.raises(ArgumentError, match=said):
        Domain.from_toml(file)


def test_a_domain_file_that_is_not_there_is_named():
    with pytest.raises(ArgumentError, match=r"nowhere\.toml.*cannot be read"):
        Domain.from_toml("nowhere.toml")
