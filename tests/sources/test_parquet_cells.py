"""Parquet files whose cells are counted from dictionaries: the same as value by value, however they are written."""

from __future__ import annotations

import math
from itertools import product, repeat
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples
from tests.sources.counting import counted, expected
from tests.sources.measured import assert_measured

from ggdp.domain.table_domain import Domain
from ggdp.domain.value_range import FEW_STEPS, ValueRange
from ggdp.sources import duckdb_engine, parquet_dictionaries
from ggdp.sources.measures import Measure, SummedMeasure
from ggdp.sources.query import CountQuery, open_source

NAN, INF = math.nan, math.inf
TEXTS = {"text": pa.string(), "large text": pa.large_string(), "category": pa.dictionary(pa.int8(), pa.string())}
WHOLE = {"int8": pa.int8(), "int64": pa.int64(), "uint32": pa.uint32(), "uint64": pa.uint64()}
DOMAIN = Domain(
    {
        "town": {"levels": ["a", "b", "", "é"], "other": "elsewhere"},
        "age": {"edges": [0, 3, 100], "missing": "unknown"},
        "wave": {"levels": [1, 2], "missing": "none"},
        "member": {"levels": [True]},
    },
    impossible=[{"town": "b", "wave": 2}],
)
RANGES = (ValueRange(-3, 5, 1), ValueRange(-1, 2, 0.1), ValueRange(10, 40, 10), ValueRange(0, FEW_STEPS, 1))


class Spy:
    """Counts from dictionaries, and remembers whether it did."""

    def __init__(self):
        self.answers = []

    def __call__(self, *asked):
        self.answers.append(parquet_dictionaries.count_cells(*asked))
        return self.answers[-1]


@pytest.fixture
def spied(monkeypatch):
    spy = Spy()
    monkeypatch.setattr(duckdb_engine, "count_cells", spy)
    return spy


def integers(kind):
    low = 0 if pa.types.is_unsigned_integer(kind) else -(2 ** (kind.bit_width - 1))
    high = 2 ** (kind.bit_width - (low < 0)) - 1
    return st.none() | st.integers(max(low, -9), 9) | st.sampled_from([low, high])


FLOATS = st.none() | st.sampled_from([NAN, INF, -INF, -0.0, 0.05, 0.15, 1.5, -2.5, 1e308, -1e308, 15.0, 24.999999])


@st.composite
def tables(draw):
    """Draw a table and how it is written."""
    text = draw(st.sampled_from(sorted(TEXTS)))
    whole, valued = (WHOLE[draw(st.sampled_from(sorted(WHOLE)))] for _ in range(2))
    rows = draw(st.integers(0, 60))

    def column(values, kind):
        return pa.array(draw(st.lists(values, min_size=rows, max_size=rows)), kind)

    texts = column(st.none() | st.sampled_from(["a", "b", "", "é", " a", "zzz"]), pa.string())
    table = pa.table(
        {
            "town": texts.cast(TEXTS[text]) if text != "category" else texts.dictionary_encode(),
            "age": column(integers(whole), whole),
            "wave": column(st.none() | st.integers(1, 3), pa.int16()),
            "member": column(st.none() | st.booleans(), pa.bool_()),
            "visits": column(integers(valued), valued),
            "income": column(FLOATS, draw(st.sampled_from([pa.float64(), pa.float32()]))),
        }
    )
    options = {
        "row_group_size": draw(st.sampled_from([1, 7, 1000])),
        "use_dictionary": draw(st.sampled_from([True, False, ["town", "visits"]])),
        "data_page_size": draw(st.sampled_from([1, 1 << 20])),
        "dictionary_pagesize_limit": draw(st.sampled_from([1, 1 << 20])),
        "store_schema": draw(st.booleans()),
    }
    return table, options


def marginals():
    names = list(DOMAIN.names)
    return st.lists(st.sampled_from(names), unique=True, max_size=4).map(DOMAIN.project)


def cell_of(marginal):
    def cell(row):
        found = expected(pa.Table.from_pylist([row], schema=cell.schema), CountQuery(marginals=(marginal,)))
        return next(iter(found[0]), None)

    return cell


@settings(max_examples=examples(60, 600))
@given(written=tables(), marginal=marginals(), batch=st.sampled_from([5, 7]), bits=st.sampled_from([44, 60]))
def test_rows_are_counted_and_their_steps_added_up_as_the_semantics_say(
    written, marginal, batch, bits, tmp_path_factory
):
    table, options = written
    folder = tmp_path_factory.mktemp("tables")
    # Two files, so that dictionaries differ in more than parts of one.
    half = table.num_rows // 2
    pq.write_table(table.slice(0, half), folder / "1.parquet", **options)
    pq.write_table(table.slice(half), folder / "2.parquet", **options)
    measured = tuple(
        SummedMeasure(Measure(column=column, values=values, complete=place % 4 > 1), squares=place % 3 != 2)
        for place, (values, column) in enumerate(product(RANGES, ("visits", "income")))
    )
    spy, cell = Spy(), cell_of(marginal)
    cell.schema = table.schema
    with (
        mock.patch.object(duckdb_engine, "count_cells", spy),
        mock.patch.multiple(parquet_dictionaries, _BATCH=batch, _FEW_PARTS=99),
        mock.patch.multiple(
            parquet_dictionaries, _BITS=bits, _ONE=1 << bits, _MOST_ROWS_OF_GROUPS=(1 << (63 - bits)) - 1
        ),
    ):
        query = CountQuery(marginals=(marginal,), measured=measured)
        assert_measured(str(folder / "*.parquet"), table.to_pylist(), query, cell)
        if marginal.names:
            query = CountQuery(marginals=(marginal,))
            assert counted(str(folder / "*.parquet"), query) == expected(table, query)
    # Steps one by one are not counted here.
    assert [answer is not None for answer in spy.answers[:1] + spy.answers[-1:]] == [True, True]


def test_rows_in_impossible_cells_are_left_out(tmp_path, spied):
    table = pa.table({"town": ["a", "b", "b"], "wave": [1, 2, 1]})
    query = CountQuery(marginals=(DOMAIN.project(["town", "wave"]),))
    assert counted(towns(table, tmp_path), query) == expected(table, query) == [{0: 1, 3: 1}]
    assert spied.answers[0] is not None


TOWNS = Domain({"town": {"levels": ["a", "b"], "other": "o", "missing": "m"}})


def towns(table, folder, **options):
    path = folder / "towns.parquet"
    pq.write_table(table, path, **options)
    return path


# Two of three values in each part of a file of three parts; each limit lets it pass, and then not.
LIMITS = {"_MOST_VALUES": (2, 1), "_MOST_TIMES": (3, 1), "_MOST_BYTES": (999, 9), "_FEW_PARTS": (3, 2)}


@pytest.mark.parametrize("limit", LIMITS)
def test_what_takes_long_or_much_memory_is_counted_by_duckdb(tmp_path, spied, monkeypatch, limit):
    table = pa.table({"town": ["a", "b", "a", None, "c", "a"]})
    path, query = towns(table, tmp_path, row_group_size=2), CountQuery(marginals=(TOWNS,))
    for most in LIMITS[limit]:
        monkeypatch.setattr(parquet_dictionaries, limit, most)
        assert counted(path, query) == [{0: 3, 1: 1, 2: 1, 3: 1}]
    assert [answer is None for answer in spied.answers] == [False, True]


def test_no_sum_overflows(tmp_path, spied, monkeypatch):
    steps = FEW_STEPS
    table = pa.table({"town": ["a"] * 40, "x": [steps] * 40})
    path = towns(table, tmp_path, row_group_size=10)
    measured = (SummedMeasure(Measure(column="x", values=ValueRange(0, steps, 1)), squares=True),)
    query = CountQuery(marginals=(TOWNS,), measured=measured)
    for most in (2**63, 40 * steps * steps):
        monkeypatch.setattr(parquet_dictionaries, "_MOST", most)
        with open_source(path, columns=["town", "x"]) as source:
            ((cells, (sums,)),) = source.sums(query)
        assert cells.tolist() == [0]
        assert [part.tolist() for part in sums] == [[40], [40], [40 * steps], [40 * steps * steps]]
    assert [answer is None for answer in spied.answers] == [False, True]


def test_as_many_rows_as_fit_are_added_up_at_once(tmp_path, spied):
    """The real numbers: 2^19 rows of one group would be one too many."""
    rows = (1 << 19) + 5
    path = towns(pa.table({"town": ["a"] * rows, "x": [3] * rows}), tmp_path)
    measured = (SummedMeasure(Measure(column="x", values=ValueRange(0, 5, 1)), squares=True),)
    with open_source(path, columns=["town", "x"]) as source:
        ((_, (sums,)),) = source.sums(CountQuery(marginals=(TOWNS,), measured=measured))
    assert [part.tolist() for part in sums] == [[rows], [rows], [3 * rows], [9 * rows]]
    assert spied.answers[0] is not None


def test_sums_that_leave_no_bits_for_their_rows_are_added_up_by_duckdb(tmp_path, spied, monkeypatch):
    path = towns(pa.table({"town": ["a"] * 9, "x": [5] * 9}), tmp_path)
    measured = (SummedMeasure(Measure(column="x", values=ValueRange(0, 5, 1)), squares=True),)
    monkeypatch.setattr(parquet_dictionaries, "_MOST_ROWS_OF_GROUPS", 16)
    for bits in (7, 6):
        monkeypatch.setattr(parquet_dictionaries, "_BITS", bits)
        monkeypatch.setattr(parquet_dictionaries, "_ONE", 1 << bits)
        with open_source(path, columns=["town", "x"]) as source:
            ((_, (sums,)),) = source.sums(CountQuery(marginals=(TOWNS,), measured=measured))
        assert [part.tolist() for part in sums] == [[9], [9], [45], [225]]
    assert [answer is None for answer in spied.answers] == [False, True]


def test_text_that_is_not_utf_8_is_read_elsewhere(tmp_path, spied):
    texts = pa.array([b"a", b"\xff", b"b"], pa.binary())
    path = towns(pa.table({"town": texts.view(pa.string())}), tmp_path)
    assert counted(path, CountQuery(marginals=(TOWNS,))) == [{0: 1, 1: 1, 2: 1}]
    assert all(answer is None for answer in spied.answers)


@pytest.mark.parametrize("added", [[], [2]])
def test_categories_that_are_not_utf_8_decide_nothing_about_others(tmp_path, added):
    texts = pa.array([b"a", b"b", b"\xff"], pa.binary()).view(pa.string())
    table = pa.table({"town": pa.DictionaryArray.from_arrays(pa.array([0, 1, *added]), texts)})
    found = counted(towns(table, tmp_path), CountQuery(marginals=(TOWNS,)))
    assert found == [{0: 1, 1: 1, **dict.fromkeys(added, 1)}]


def test_names_with_dots_are_read_elsewhere(tmp_path, spied):
    table = pa.table({"a.b": ["x"], "a": pa.array([{"b": "y"}])})
    domain = Domain({"a.b": ["x", "y"]})
    assert counted(towns(table, tmp_path), CountQuery(marginals=(domain,))) == [{0: 1}]
    assert spied.answers == [None]


@pytest.mark.parametrize("cores", [1, 2, 9])
def test_all_parts_are_read_however_many_threads_there_are(cores, tmp_path, spied, monkeypatch):
    monkeypatch.setattr(pa, "cpu_count", lambda: cores)
    path = towns(pa.table({"town": ["a"] * 50 + ["b"] * 51}), tmp_path, row_group_size=7)
    assert counted(path, CountQuery(marginals=(TOWNS,))) == [{0: 50, 1: 51}]
    assert spied.answers[0] is not None


def test_reading_ends_where_it_is_interrupted(monkeypatch):
    """Or this test does not end."""
    batch = pa.record_batch({"town": pa.array(["a"]).dictionary_encode()})
    monkeypatch.setattr(parquet_dictionaries, "_batches", lambda *_: repeat(batch))
    query = mock.Mock(marginal=TOWNS)
    query.engine.kinds = {"town": "text"}
    reading = parquet_dictionaries._read_ahead([("file", 0), ("file", 1)], query, ["town"])
    assert next(reading) is batch
    with pytest.raises(KeyboardInterrupt):
        reading.throw(KeyboardInterrupt)


def test_places_beyond_a_dictionary_are_not_counted(tmp_path, spied):
    """Damage in one column would move rows along another."""
    from ggdp.errors import SourceError

    texts = list("abcde")
    table = pa.table({"sex": ["x", "y"] * 32, "town": [texts[place % 5] for place in range(64)]})
    path = towns(table, tmp_path, compression="none")
    column = pq.read_metadata(path).row_group(0).column(1)
    end = column.dictionary_page_offset + column.total_compressed_size
    data = bytearray(path.read_bytes())
    data[end - 23] ^= 1
    path.write_bytes(data)
    with pytest.raises(SourceError):
        counted(path, CountQuery(marginals=(Domain({"sex": ["x", "y"], "town": texts}),)))
    assert spied.answers[0] is None


def test_damaged_files_are_refused_without_a_word_of_what_they_hold(tmp_path):
    from ggdp.errors import SourceError

    path = towns(pa.table({"town": ["secret"] * 50000, "x": list(range(50000))}), tmp_path, use_dictionary=False)
    data = bytearray(path.read_bytes())
    data[200:400] = bytes(200)
    path.write_bytes(data)
    with pytest.raises(SourceError) as failed:
        counted(path, CountQuery(marginals=(TOWNS,)))
    assert "secret" not in str(failed.value)
