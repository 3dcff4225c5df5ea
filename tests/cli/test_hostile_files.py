"""Files that are no files of ours end every command that reads them in one line, without a traceback."""

import json

import pytest

from ggdp.cli.app import run
from ggdp.errors import ArgumentError

DOMAIN = '[columns.ward]\nlevels = ["births", "eyes"]\n'
COMMANDS = {
    "release": ["release", "people.csv", "--by", "ward", "--epsilon", "1", "--dry-run", "--domain"],
    "check": ["check", "people.csv", "--by", "ward", "--domain"],
    "deployment": ["report", "good.manifest.json", "--json", "--deployment"],
    "account": ["account"],
    "report": ["report", "--json"],
    "reserve": ["ledger", "reserve", "people.ledger"],
}
WRONG = {
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "deep in a table": b"[columns.ward]\nlevels = " + b"[" * 100_000,
    "an escape": b'["\\u001b[31m"]\na = 1',
    "not UTF-8": b"\xff\xfe\xfd",
    "a null byte": b"\0",
    "a huge integer": b'{"losses": %s}' % (b"9" * 5000),
    "a number beyond all floats": b'{"schema": 1e999}',
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("ward\nbirths\neyes\n")
    (tmp_path / "people.toml").write_text(DOMAIN)
    flags = ["--by", "ward", "--domain", "people.toml", "--epsilon", "1", "--out", "good.csv"]
    assert run(["release", "people.csv", *flags]) == 0
    assert run(["ledger", "init", "people.ledger", "--epsilon", "1", "--accounting", "reserved"]) == 0
    capsys.readouterr()
    return tmp_path


def error_of(capsys, *arguments):
    assert run(arguments) == 1
    said = capsys.readouterr()
    (line,) = said.err.splitlines()
    assert line.startswith("error: ")
    assert line.isprintable()
    if "--json" in arguments:
        assert f"error: {json.loads(said.out)['error']}" == line
    else:
        assert said.out == ""
    return line


@pytest.mark.parametrize("command", COMMANDS)
def test_a_device_is_refused(capsys, command):
    assert "'/dev/zero': is a device; name a file or a pipe" in error_of(capsys, *COMMANDS[command], "/dev/zero")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_hostile_file_is_one_line(capsys, folder, command):
    for content in WRONG.values():
        (folder / "wrong").write_bytes(content)
        assert "'wrong': " in error_of(capsys, *COMMANDS[command], "wrong")


def test_a_primary_key_that_is_no_column_is_refused(capsys, folder):
    manifest = json.loads((folder / "good.manifest.json").read_text())
    manifest["table"]["tables"][0]["tableSchema"]["primaryKey"] = ["street"]
    (folder / "good.manifest.json").write_text(json.dumps(manifest))
    assert "primaryKey[0] is 'street', but the rest of the manifest makes it 'ward'" in error_of(
        capsys, "report", "good.manifest.json", "--json"
    )


def test_a_published_file_that_is_not_its_table_is_refused(capsys, folder):
    import hashlib

    manifest = json.loads((folder / "good.manifest.json").read_text())
    for content in (b"street,count\nx,1\n", b"ward,count,lower,upper\nbirths,many,0,1\n", b"\xff\xfe\n"):
        (folder / "good.csv").write_bytes(content)
        manifest["table"]["tables"][0]["sha256"] = hashlib.sha256(content).hexdigest()
        (folder / "good.manifest.json").write_text(json.dumps(manifest))
        said = error_of(capsys, "report", "good.manifest.json", "--json")
        assert "names the file 'good.csv', which is not the table that it describes" in said


def test_a_manifest_is_reported_from_a_pipe(capsys, folder):
    import os

    reading, writing = os.pipe()
    os.write(writing, (folder / "good.manifest.json").read_bytes())
    os.close(writing)
    assert run(["report", f"/dev/fd/{reading}", "--json"]) == 0
    os.close(reading)
    assert json.loads(capsys.readouterr().out)


def test_the_name_of_a_file_cannot_steer_the_terminal(capsys):
    name = "a\x1b[2J\u202eb.csv"
    flags = ["--by", "ward", "--domain", "people.toml", "--epsilon", "1"]
    assert run(["release", "people.csv", *flags, "--out", name]) == 0
    written = capsys.readouterr().out
    assert r"a\x1b[2J\u202eb.csv" in written
    assert "\x1b" not in written
    assert run(["account", f"{name}\n.json"]) == 1
    assert capsys.readouterr().err.rstrip("\n").isprintable()
    assert run(["release", "people.csv", *flags, "--out", f"{name}/c.csv"]) == 1
    assert capsys.readouterr().err.rstrip("\n").isprintable()


def test_a_plan_of_the_largest_floats_is_json_or_an_error(capsys):
    assert run(["plan", "--epsilon", "1", "--sensitivity", "1e308", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["each"]["mean_abs"] == 1e308
    assert "too large" in error_of(capsys, "plan", "--epsilon", "1", "--sensitivity", "1.7e308", "--json")


def test_a_count_of_thousands_of_digits_is_too_large(capsys):
    assert "COUNT must be at most 1,000,000,000" in error_of(
        capsys, "ledger", "reserve", "people.ledger", f"plan.json={'9' * 100}"
    )


def test_an_error_of_a_value_that_cannot_be_printed_is_an_error():
    assert str(ArgumentError("epsilon", 10**5000, "is large")) == "epsilon = a value of type int: is large"
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert str(ArgumentError("levels", deep, "is deep")) == "levels = a value of type list: is deep"
