"""A source that cannot be opened is answered with what to write, from its name and schema alone."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.sources.zoo import ENGINES

from ggdp.errors import ArgumentError
from ggdp.sources.query import open_source
from ggdp.tables.source_check import check_table

TABLE = pa.table({"Patient ID": [1], "ward": ["eyes"], "age": [3]})


@pytest.mark.parametrize(
    ("asked", "meant"), [("wards", "ward"), ("patient id", "Patient ID"), ("patient_id", "Patient ID"), ("agee", "age")]
)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_misspelt_column_is_answered_with_the_one_that_may_be_meant(engine, asked, meant):
    for table in (TABLE, TABLE.slice(0, 0)):
        with pytest.raises(ArgumentError) as refused:
            open_source(ENGINES[engine](table), columns=[asked])
        assert f"did you mean {meant!r}? its columns are Patient ID, ward, age" in str(refused.value)


def test_a_column_that_is_like_none_is_answered_with_those_that_there_are(tmp_path):
    pq.write_table(TABLE, tmp_path / "t.parquet")
    with pytest.raises(ArgumentError) as refused:
        open_source(tmp_path / "t.parquet", columns=["zzzzz"])
    assert "did you mean" not in str(refused.value)
    assert "its columns are Patient ID, ward, age" in str(refused.value)
    wide = pa.table({f"c{k}": [1] for k in range(60)})
    with pytest.raises(ArgumentError, match="c49 and 10 more"):
        open_source(wide, columns=["zzzzz"])


def test_the_first_line_of_a_text_file_is_not_told(tmp_path):
    # It may have been written without a header: then it holds somebody's values.
    path = tmp_path / "t.csv"
    path.write_text("secret,wards\n1,2\n")
    with pytest.raises(ArgumentError) as refused:
        open_source(path, columns=["ward"])
    assert "must name its columns" in str(refused.value)
    assert "secret" not in str(refused.value)
    assert "wards" not in str(refused.value)
    # Somebody who looks at the data themselves is told.
    with pytest.raises(ArgumentError, match=r"did you mean 'wards'[?] its columns are secret, wards"):
        check_table(path, "ward")
    with pytest.raises(ArgumentError, match="check"):
        open_source(path, columns=["ward"])


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("https://example.org/people.csv", "is a URL, and only local files are read: download it first"),
        ("s3://bucket/people.parquet", "download it first"),
        ("file:///people.csv", "write the path alone"),
        ("people.XLS", "save it as .xlsx or .csv"),
        ("people.orc", "load it with pyarrow.orc.read_table and pass the frame"),
        ("people.txt", "rename it to .csv"),
        ("people.pdf", "must end in .csv"),
        (".", "is a directory: give a pattern of its files in quotes, such as '*.csv'"),
        ("none/*.csv", "no such file: nothing matches"),
        ("none.csv", "no such file"),
    ],
)
def test_a_source_that_cannot_be_read_is_answered_with_what_to_write(source, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("people.XLS", "people.orc", "people.txt", "people.pdf"):
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(ArgumentError) as refused:
        open_source(source, columns=["a"])
    assert said in str(refused.value)
