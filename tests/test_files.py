"""Files that are read within limits, or written together, all of them or none; and the directory of the cache."""

import json
import os
import stat
import sys
import threading
from pathlib import Path

import pytest

from ggdp._files import DEEPEST, cache_directory, read_file, read_json, read_toml, write_together
from ggdp.errors import ArgumentError


def test_all_files_are_written_and_nothing_else_is_left(tmp_path):
    write_together({tmp_path / "a": b"1", tmp_path / "b": b"2"}, overwrite=False)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"a": b"1", "b": b"2"}


def test_one_file_that_is_there_keeps_the_others_from_being_written(tmp_path):
    (tmp_path / "b").write_bytes(b"old")
    with pytest.raises(FileExistsError):
        write_together({tmp_path / "a": b"1", tmp_path / "b": b"2"}, overwrite=False)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"b": b"old"}


def test_what_is_there_is_replaced_when_that_is_asked_for(tmp_path):
    (tmp_path / "b").write_bytes(b"old")
    write_together({tmp_path / "a": b"1", tmp_path / "b": b"2"}, overwrite=True)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"a": b"1", "b": b"2"}


def test_a_disk_that_is_full_leaves_nothing(tmp_path, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_together({tmp_path / "a": b"1", tmp_path / "b": b"2"}, overwrite=False)
    assert list(tmp_path.iterdir()) == []


def test_of_many_writers_at_once_one_writes_all_files(tmp_path):
    outcomes = []

    def write(number):
        try:
            write_together({tmp_path / name: b"%d" % number for name in "ab"}, overwrite=False)
            outcomes.append(number)
        except FileExistsError:
            pass

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 1
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"a": b"%d" % outcomes[0]} | {
        "b": b"%d" % outcomes[0]
    }


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_files_are_as_readable_as_every_file_of_their_writer(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        write_together({tmp_path / "a": b"1"}, overwrite=False)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == mode


def test_the_cache_directory_is_under_xdg_cache_home(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_directory() == tmp_path / "ggdp"


@pytest.mark.parametrize("named", ["", "relative/directory"])
@pytest.mark.parametrize(
    ("platform", "directory"),
    [("linux", ".cache/ggdp"), ("darwin", "Library/Caches/ggdp"), ("win32", "AppData/Local/ggdp/Cache")],
)
def test_without_it_the_cache_directory_is_the_platforms(named, platform, directory, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", named)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(sys, "platform", platform)
    assert cache_directory() == tmp_path / directory


def refusal(read, path, **options):
    with pytest.raises(ArgumentError) as refused:
        read(path, argument="domain", **options)
    assert (refused.value.argument, refused.value.value) == ("domain", str(path))
    return refused.value.expected


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "/dev/urandom"])
def test_a_device_is_not_read(path):
    assert refusal(read_file, path, most=10) == "is a device; name a file or a pipe"


def test_what_is_no_file_is_named(tmp_path):
    assert refusal(read_file, tmp_path, most=10) == "is a directory; name a file or a pipe"
    assert refusal(read_file, tmp_path / "none", most=10) == "cannot be read (No such file or directory)"
    assert refusal(read_file, "a\0b", most=10) == "cannot be read (not the name of a file)"


def test_a_file_of_the_most_bytes_is_read_and_one_of_more_is_not(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(bytes(1000))
    assert read_file(file, argument="domain", most=1000) == bytes(1000)
    assert refusal(read_file, file, most=999) == "is too large; at most 999 bytes are read"


def test_a_pipe_is_read_to_its_end_and_no_further_than_the_limit():
    for most in (2000, 1000):
        reading, writing = os.pipe()
        os.write(writing, bytes(2000))
        os.close(writing)
        path = f"/dev/fd/{reading}"
        if most == 2000:
            assert read_file(path, argument="domain", most=most) == bytes(2000)
        else:
            assert refusal(read_file, path, most=most) == "is too large; at most 1,000 bytes are read"
        os.close(reading)


def test_a_pipe_without_a_writer_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert refusal(read_file, tmp_path / "pipe", most=10) == "is a pipe that nothing is written to"


DEEP = 100_000
WRONG_JSON = {
    "deep lists": (b"[" * DEEP, "is nested too deeply"),
    "deep lists that end": (b"[" * DEEP + b"]" * DEEP, "is nested too deeply"),
    "deep objects": (b'{"a":' * DEEP, "is nested too deeply"),
    "a level too many": (b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1), "is nested too deeply"),
    "NaN": (b"[NaN]", "is not a JSON file; name a manifest of ggdp"),
    "infinity": (b"[-Infinity]", "is not a JSON file"),
    "a float beyond all": (b"[1e999]", "is not a JSON file"),
    "an integer beyond all floats": (b"[1%s]" % (b"0" * 310), "has a number that is too large for a float"),
    "an integer that Python does not parse": (b"[%s]" % (b"9" * 5000), "is not a JSON file"),
    "a name twice": (b'{"a": 1, "a": 2}', "is not a JSON file"),
    "half a character": (b'["\\ud800"]', "is not a JSON file"),
    "half a character in a name": (b'{"\\udc00": 1}', "is not a JSON file"),
    "null bytes": (b"\0\0\0\0", "is not a JSON file"),
    "Latin-1": (b'["\xe9"]', "is not a JSON file"),
    "nothing": (b"", "is not a JSON file"),
    "two documents": (b"1 2", "is not a JSON file"),
}


@pytest.mark.parametrize("name", WRONG_JSON)
def test_json_that_later_code_could_fail_on_is_refused(tmp_path, name):
    content, said = WRONG_JSON[name]
    (tmp_path / "file").write_bytes(content)
    assert refusal(read_json, tmp_path / "file").startswith(said)


def test_json_in_the_encodings_of_windows_is_read(tmp_path):
    right = {"a": [1, 2.5, None, True, "\N{GREEK SMALL LETTER DELTA}\N{GRINNING FACE}"], "deep": [[[[1]]]]}
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        (tmp_path / "file").write_bytes(json.dumps(right, ensure_ascii=encoding == "utf-8").encode(encoding))
        assert read_json(tmp_path / "file", argument="domain") == right


WRONG_TOML = {
    "deep lists": (b"a = " + b"[" * DEEP, "is nested too deeply"),
    "deep tables": (b"a = " + b"{a=" * DEEP, "is nested too deeply"),
    "a long key": (b".".join([b"a"] * DEEP) + b" = 1", "is nested too deeply"),
    "a long key of quoted parts": (b" . ".join([b'"a b"', b"'c'"] * DEEP) + b" = 1", "is nested too deeply"),
    "a long heading": (b"[" + b".".join([b"a"] * DEEP) + b"]", "is nested too deeply"),
    "headings that grow": (
        b"\n".join(b"[[" + b".".join([b"a"] * length) + b"]]" for length in range(1, DEEPEST + 2)),
        "is nested too deeply",
    ),
    "an integer that Python does not parse": (b"a = " + b"9" * 5000, "is not a TOML file: a number or a date"),
    "an integer beyond all floats": (b"a = 0x1" + b"0" * 300, "has a number that is too large for a float"),
    "a day that does not exist": (b"a = 2026-02-31", "is not a TOML file"),
    "a key twice": (b"a = 1\na = 2", "is not a TOML file"),
    "half a character": (b'a = "\\ud800"', "is not a TOML file"),
    "a null byte": (b"a = 1\0", "is not a TOML file"),
    "UTF-16": ("a = 1".encode("utf-16"), "is not a TOML file: it is not UTF-8 text"),
}


@pytest.mark.parametrize("name", WRONG_TOML)
def test_toml_that_later_code_could_fail_on_is_refused(tmp_path, name):
    content, said = WRONG_TOML[name]
    (tmp_path / "file").write_bytes(content)
    assert refusal(read_toml, tmp_path / "file").startswith(said)


def test_toml_with_a_mark_of_its_encoding_and_with_many_points_in_a_text_is_read(tmp_path):
    text = ". ".join(["One sentence of several words"] * 200)
    (tmp_path / "file").write_bytes(b"\xef\xbb\xbf" + f'a.b.c = "{text}"'.encode())
    assert read_toml(tmp_path / "file", argument="domain") == {"a": {"b": {"c": text}}}
