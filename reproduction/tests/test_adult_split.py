import pickle
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from reproduction.tests.census import census

from ggdp.errors import ArgumentError
from ggdp_reproduction.adult_data import adult_counts

ADULT = census()


def rows_of(split, codes):
    return [tuple(split.levels[name][code] for name, code in zip(split.columns, row, strict=True)) for row in codes]


def test_rows_are_the_complete_ones_without_the_largest_gain_split_two_to_one():
    split = adult_counts(ADULT, seed=5)
    names = [name for name in ADULT.columns if name != "fnlwgt"]
    whole = [row for row in zip(*(ADULT.rows[name] for name in names), strict=True) if "?" not in row]
    used = [row for row in whole if row[names.index("capital-gain")] != 99_999]
    assert split.columns == tuple(names)
    assert (split.complete, split.left_out) == (len(whole), len(whole) - len(used))
    assert 0 < split.left_out < split.complete < ADULT.size
    assert len(split.train) == 2 * len(used) // 3
    assert Counter(rows_of(split, split.train) + rows_of(split, split.test)) == Counter(used)


def test_the_papers_sizes_follow_from_its_rows():
    assert 2 * (30_162 - 148) // 3 == 20_009


def test_cells_are_the_distinct_training_rows_with_their_counts():
    split = adult_counts(ADULT)
    counted = Counter(rows_of(split, split.train))
    assert dict(zip(rows_of(split, split.cells), split.counts.tolist(), strict=True)) == counted
    without = Counter(row[:-1] for row in rows_of(split, split.train))
    assert Counter(split.counts_without_income.tolist()) == Counter(without.values())
    assert len(split.counts_without_income) <= len(split.counts)


def test_the_split_is_a_function_of_the_seed():
    first, again, other = (adult_counts(ADULT, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(first.train, again.train)
    assert not np.array_equal(first.train, other.train)


def test_a_smaller_split_is_the_first_rows_of_both_parts():
    split = adult_counts(ADULT)
    part = split.first(100)
    assert np.array_equal(part.train, split.train[:100])
    assert np.array_equal(part.test, split.test[:50])
    assert part.counts.sum() == part.counts_without_income.sum() == 100
    assert part.levels is split.levels


def test_numbers_and_names_are_told_apart():
    split = adult_counts(ADULT)
    assert [name for name in split.columns if split.is_numeric(name)] == [
        "age",
        "education-num",
        "capital-gain",
        "capital-loss",
        "hours-per-week",
    ]


def test_facts_are_those_of_the_complete_rows():
    aged = ADULT.rows["age"].copy()
    aged[::3] = 90
    hours = ADULT.rows["hours-per-week"].copy()
    hours[::2] = np.where(np.arange(len(hours[::2])) % 2, 80, 81)
    split = adult_counts(replace(ADULT, rows=ADULT.rows | {"age": aged, "hours-per-week": hours}))
    missing = [name for name in ADULT.columns if "?" in ADULT.rows[name].tolist()]
    assert missing == ["workclass", "occupation"]
    whole = [place for place in range(ADULT.size) if all(ADULT.rows[name][place] != "?" for name in missing)]
    old = [place for place in whole if aged[place] == 90]
    long = [place for place in old if hours[place] > 80]
    assert 0 < len(long) < len(old) < len(whole)
    assert (split.facts["aged_90"], split.facts["aged_90_over_80_hours"]) == (len(old), len(long))
    named = [name for name in split.columns[:-1] if not split.is_numeric(name)]
    levels = {f"levels_{name}": len({ADULT.rows[name][place] for place in whole}) for name in named}
    assert {name: number for name, number in split.facts.items() if name.startswith("levels_")} == levels
    assert levels["levels_education"] == 3
    assert levels["levels_workclass"] == 2
    pairs = {(ADULT.rows["education"][place], ADULT.rows["education-num"][place]) for place in whole}
    codes = {code for _, code in pairs}
    assert (split.facts["codes_education"], split.facts["pairs_education"]) == (len(codes), len(pairs)) == (3, 9)
    assert all(type(number) is int for number in split.facts.values())
    assert split.first(10).facts == pickle.loads(pickle.dumps(split)).facts == split.facts


def test_too_few_rows_are_refused():
    with pytest.raises(ArgumentError, match="at least 3"):
        adult_counts(ADULT.where(np.arange(ADULT.size) < 1))
