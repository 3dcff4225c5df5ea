"""Uploads stay in memory, and are read as files are."""

import gc
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import ggdp
from ggdp.errors import GgdpError
from ggdp.explorer.memory_file import MemoryFile
from ggdp.sampling import SeededSource

PEOPLE = pa.table({"sex": ["f", "m", "f", None, "x"], "age": [3, 40, 70, 18, None]})
DOMAIN = {"sex": ["f", "m"], "age": {"edges": [0, 18, 120]}}
MOST = 10_000


def written(suffix: str) -> bytes:
    sink = pa.BufferOutputStream()
    if suffix == ".parquet":
        pq.write_table(PEOPLE, sink)
    elif suffix == ".jsonl":
        return b'{"sex": "f", "age": 3}\n{"sex": "m", "age": 40}\n{"sex": "f", "age": 70}\n{"age": 18}\n{"sex": "x"}\n'
    else:
        pyarrow.csv.write_csv(PEOPLE, sink)
    return bytes(sink.getvalue())


def counts(data: object) -> list[int]:
    found = ggdp.release_table(data, ["sex", "age"], ggdp.PureDP(1.0), DOMAIN, source=SeededSource(seed=3))
    return found.to_numpy().tolist()


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_a_file_in_memory_is_counted_as_the_file_on_disk(suffix: str, tmp_path: Path) -> None:
    on_disk = tmp_path / f"people{suffix}"
    on_disk.write_bytes(written(suffix))
    with MemoryFile(f"my people{suffix.upper()}", most=MOST) as people:
        people.write(written(suffix)[:7])
        people.write(written(suffix)[7:])
        assert counts(str(people.path)) == counts(str(on_disk))


def test_no_byte_of_an_upload_is_in_a_file_system() -> None:
    with MemoryFile("people.csv", most=MOST) as people:
        people.write(b"sex\nf\n")
        (only,) = people.path.parent.iterdir()
        assert only.is_symlink()
        # What the link leads to was never in a directory.
        assert os.readlink(os.readlink(only)).startswith("/memfd:")
        assert only.stat().st_nlink == 0


def test_a_closed_file_leaves_nothing_behind() -> None:
    people = MemoryFile("people.csv", most=MOST)
    people.write(b"sex\nf\n")
    people.close()
    people.close()
    assert not people.path.parent.exists()
    with pytest.raises(OSError, match="No such file"):
        people.path.read_bytes()


def test_a_file_that_is_too_large_is_refused_by_name_and_limit() -> None:
    with MemoryFile("people.csv", most=3 * 2**20) as people:
        people.write(bytes(3 * 2**20))
        with pytest.raises(GgdpError, match=r"people\.csv.*larger than 3 MB.*ggdp explore FILE"):
            people.write(b"1")


@pytest.mark.parametrize("name", ["people.xlsx", "people", "people.parquet.gz", "../../etc/passwd"])
def test_a_file_of_another_format_is_refused(name: str) -> None:
    with pytest.raises(GgdpError, match="must be a table that ggdp reads"):
        MemoryFile(name, most=MOST)


def test_a_system_without_files_in_memory_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "memfd_create")
    with pytest.raises(GgdpError, match="ggdp explore FILE"):
        MemoryFile("people.csv", most=MOST)


def test_the_memory_is_freed_with_the_last_reference() -> None:
    people = MemoryFile("people.csv", most=MOST)
    directory = people.path.parent
    del people
    gc.collect()
    assert not directory.exists()
