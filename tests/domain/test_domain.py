"""Domains: the algebra of columns, the numbering of cells, and the domain file."""

from __future__ import annotations

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggdp.domain.column import Column
from ggdp.domain.table_domain import Domain
from ggdp.errors import ArgumentError

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
def test_merge_undoes_project(domain, data):
    left_out = data.draw(st.sets(st.sampled_from(domain.names)))
    rest = [name for name in domain.names if name not in left_out]
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
        ({"a": {"levels": [1], "others": "x"}}, "did you mean .other.. known are levels, edges, labels, other, miss"),
        ({"a": {}}, "must have either levels or edges"),
        ({"a": {"levels": [1], "edges": [1, 2]}}, "must have either levels or edges"),
        ({3: [1]}, "must be text"),
        ({"a": Column(name="b", levels=[1])}, "is the key of a column named 'b'"),
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
        ("title = 'x'\n[columns.sex]\nlevels = ['f']", "and optionally"),
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


def test_a_domain_file_has_bins_of_time_labels_and_what_is_impossible(tmp_path):
    file = tmp_path / "visits.toml"
    file.write_text(
        """
        [columns.visited]
        edges = {from = 2024-01-01, to = 2025-01-01, every = "quarter"}
        [columns.seen]
        edges = [2024-01-01, 2024-01-01T12:00:00, inf]
        [columns.age]
        edges = [0, 18, 65, inf]
        labels = ["0-17", "18-64", "65+"]
        [columns.sex]
        levels = ["f", "m"]
        missing = "?"
        [columns.ward]
        levels = ["births", "eyes"]
        [[impossible]]
        sex = "m"
        ward = "births"
        [[impossible]]
        age = "65+"
        ward = "births"
        """
    )
    domain = Domain.from_toml(file)
    assert domain["visited"].labels == ("2024-Q1", "2024-Q2", "2024-Q3", "2024-Q4")
    assert domain["seen"].labels == ("[2024-01-01, 2024-01-01 12:00)", "[2024-01-01 12:00, inf)")
    assert domain["age"].labels == ("0-17", "18-64", "65+")
    assert domain.impossible == ({"sex": "m", "ward": "births"}, {"age": "65+", "ward": "births"})
    assert domain.project(["sex", "ward"]).possible_size == 5


@pytest.mark.parametrize(
    "text", ["x = " + "[" * 100_000, "[columns.x]\nlevels = " + "[" * 100_000 + "]" * 100_000, "x = " + "{a=" * 50_000]
)
def test_a_domain_file_that_is_nested_too_deeply_is_refused(text, tmp_path):
    file = tmp_path / "deep.toml"
    file.write_text(text)
    with pytest.raises(ArgumentError, match="nested too deeply"):
        Domain.from_toml(file)


@st.composite
def _zeros(draw):
    """Sizes of columns, and patterns of codes for some of them."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    pattern = st.dictionaries(st.integers(0, len(sizes) - 1), st.integers(0, 3), min_size=1)
    patterns = draw(st.lists(pattern, max_size=6))
    return sizes, [{place: code % sizes[place] for place, code in found.items()} for found in patterns]


@given(_zeros(), st.data())
def test_cells_that_cannot_occur_are_those_that_agree_with_a_pattern(zeros, data):
    sizes, patterns = zeros
    columns = {f"c{place}": list(range(size)) for place, size in enumerate(sizes)}
    domain = Domain(columns, impossible=[{f"c{place}": code for place, code in found.items()} for found in patterns])
    cells = np.arange(domain.size)
    right = [
        not any(all(labels[place] == code for place, code in found.items()) for found in patterns)
        for labels in map(domain.labels, cells)
    ]
    assert domain.possible(cells).tolist() == right
    assert domain.possible_size == sum(right)
    shuffled = data.draw(st.permutations(domain.names))
    assert domain.project(shuffled).possible_size == sum(right)


def test_a_huge_domain_knows_what_cannot_occur_without_listing_it():
    columns = {f"c{k}": list(range(1000)) for k in range(6)}
    zeros = [{"c0": 1}, {"c0": 2, "c5": 999}, {"c1": 3, "c2": 4}, {"c2": 4, "c3": 5}]
    domain = Domain(columns, impossible=zeros)
    n = 1000
    # Inclusion and exclusion over the four patterns, where the first two exclude one another.
    first, second = n**5, n**4
    pair, both = 2 * n**4 - n**3, 2 * n**3 - n**2
    union = first + second + pair - (both + (2 * n**2 - n))
    assert domain.possible_size == n**6 - union
    cells = domain.cells(
        [
            np.array([[1, 2, 2, 0, 0, 0][k], [2, 0, 0, 0, 0, 999][k], [0, 3, 4, 0, 0, 0][k], [2, 3, 0, 5, 0, 0][k]])
            for k in range(6)
        ]
    )
    assert domain.possible(cells).tolist() == [False, False, False, True]


def test_patterns_stay_with_their_columns():
    births = {"sex": "m", "ward": "births"}
    domain = Domain(
        {"sex": ["f", "m"], "ward": ["births", "eyes"], "age": {"edges": [0, 18, 99]}},
        impossible=[births, {"age": "[18, 99]", "ward": "births", "sex": "f"}, births],
    )
    assert domain.impossible == (births, {"sex": "f", "ward": "births", "age": "[18, 99]"})
    assert domain.project(["ward", "sex"]).impossible == (births,)
    assert domain.project(["ward", "age"]).impossible == ()
    again = domain.project(["sex", "ward"]).merge(domain.project(["age"]))
    assert again.impossible == (births,)
    assert domain != Domain(domain.columns)
    assert hash(domain) == hash(Domain(domain.columns, domain.impossible))
    assert repr(domain).startswith("Domain of 8 cells, 5 of them possible: ")
    # What is returned is not what is kept.
    domain.impossible[0]["sex"] = "f"
    assert domain.impossible[0] == births


def test_impossible_levels_are_named_as_declared_or_as_published():
    columns = {"rooms": {"levels": [1, 2], "missing": "?"}, "day": [datetime.date(2024, 1, 1)], "own": [True, False]}
    for rooms, own in ((1, True), ("1", "true")):
        domain = Domain(columns, impossible=[{"rooms": rooms, "own": own}])
        assert domain.impossible == ({"rooms": "1", "own": True},)
    assert Domain(columns, impossible=[{"day": datetime.date(2024, 1, 1), "rooms": "?"}]).possible_size == 4


@pytest.mark.parametrize(
    ("impossible", "said"),
    [
        ({"sex": "m"}, "must be a list of mappings"),
        (["sex"], "must give a level for each of some columns, as in {'sex': 'm', 'ward': 'births'}"),
        ([np.array(["m"])], "^impossible = 'ndarray': must give a level"),
        ([{}], "must give a level"),
        ([{"town": "x"}], "is not a column of the domain"),
        ([{"sex": "d"}], "'d': is not declared; declared are f, m"),
        ([{"sex": None}], "is not declared"),
        ([{"word": "x"}], "has no declared levels"),
        (5, "must be a sequence"),
        ([{"n": k} for k in range(10_001)], "at most 10,000"),
    ],
)
def test_what_is_wrongly_impossible_is_refused_with_the_reason(impossible, said):
    columns = [Column(name="sex", levels=["f", "m"]), Column(name="word"), Column(name="n", levels=range(20_000))]
    with pytest.raises(ArgumentError, match=said):
        Domain(columns, impossible)


def test_patterns_that_interact_in_too_many_ways_are_refused():
    # Each cell of 2^18 is alive with another set of patterns.
    columns = {**{f"c{k}": [0, 1] for k in range(18)}, "last": [0, 1]}
    domain = Domain(columns, impossible=[{f"c{k}": 1, "last": 1} for k in range(18)])
    with pytest.raises(ArgumentError, match="too many ways"):
        _ = domain.possible_size


def test_what_is_possible_leaves_the_rest_impossible():
    columns = {"sex": ["f", "m"], "ward": ["births", "eyes"], "age": {"edges": [0, 18, 99], "missing": "?"}}
    listed = [{"ward": "eyes", "sex": "m"}, {"sex": "f", "ward": "eyes"}, {"sex": "f", "ward": "births"}]
    domain = Domain(columns, possible=listed)
    assert domain.impossible == ({"sex": "m", "ward": "births"},)
    assert domain.possible_size == 9
    both = Domain(columns, impossible=[{"ward": "births", "age": "?"}], possible=listed)
    assert both.impossible == ({"ward": "births", "age": "?"}, {"sex": "m", "ward": "births"})
    assert Domain(columns, possible=[]).impossible == ()
    assert Domain(columns, possible=[{"sex": "f"}, {"sex": "m"}]) == Domain(columns)
    # The level for missing values is one that must be listed, too.
    assert Domain(columns, possible=[{"age": "?"}, {"age": "[0, 18)"}]).impossible == ({"age": "[18, 99]"},)


def test_a_list_of_what_is_possible_may_be_short_among_many_cells():
    towns = {f"town {k}": f"county {k % 20}" for k in range(100)}
    domain = Domain(
        {"county": [f"county {k}" for k in range(20)], "town": list(towns)},
        possible=[{"town": town, "county": county} for town, county in towns.items()],
    )
    assert (domain.size, domain.possible_size) == (2000, 100)
    cells = np.arange(2000)
    assert {domain.labels(cell) for cell in cells[domain.possible(cells)]} == {(towns[town], town) for town in towns}


@pytest.mark.parametrize(
    ("possible", "said"),
    [
        ([{"sex": "f"}, {"ward": "eyes"}], "the same columns"),
        ([{"sex": "x"}], "x"),
        ([{"town": "a"}], "is not a column"),
        ([{}], "must give a level"),
        ({"sex": "f"}, "must be a list"),
        (5, "must be a sequence"),
        ([{"rooms": 1, "people": 1}], "must leave out at most 10,000"),
    ],
)
def test_what_is_wrongly_possible_is_refused_with_the_reason(possible, said):
    columns = {"sex": ["f", "m"], "ward": ["births", "eyes"], "rooms": [*range(101)], "people": [*range(101)]}
    with pytest.raises(ArgumentError, match=said) as refused:
        Domain(columns, possible=possible)
    assert refused.value.argument == "possible" or said == "x"
