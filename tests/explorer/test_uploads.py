"""Uploads arrive whole or are refused in words, and what is refused leaves nothing in memory or on disk.

Uploads stay in memory, and are read as files are.
"""

import gc
import json
import os
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from starlette.requests import ClientDisconnect, Request
from tests.explorer.awaiting import awaited

import ggdp
from ggdp.errors import GgdpError
from ggdp.explorer import uploads
from ggdp.explorer.uploads import MemoryFile, Source, Uploads
from ggdp.noise import SeededSource


@pytest.fixture(autouse=True)
def links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory that links to files in memory are in."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


class Visitor:
    """A page that sends files."""

    def __init__(self) -> None:
        self.desk = Uploads()
        self.sources: list[Source] = []
        self.ticket = self.desk.ticket(self._arrived)

    async def _arrived(self, source: Source) -> None:
        self.sources.append(source)

    def sends(
        self,
        name: str,
        *chunks: bytes,
        ticket: str | None = None,
        gone: bool = False,
        meanwhile: Callable[[], object] | None = None,
    ) -> str:
        """Return what the page is told of a file that comes in chunks; `gone` if the browser leaves before the end.

        `meanwhile` is called before each chunk.
        """
        body = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
        last = {"type": "http.disconnect"} if gone else {"type": "http.request", "body": b"", "more_body": False}
        messages = iter([*body, last])

        async def receive() -> dict[str, object]:
            if meanwhile is not None:
                meanwhile()
            return next(messages)

        scope = {
            "type": "http",
            "method": "POST",
            "headers": [],
            "query_string": f"name={quote(name)}".encode(),
            "path_params": {"ticket": self.ticket if ticket is None else ticket},
        }
        answer = awaited(self.desk.receive(Request(scope, receive)))
        self.status = answer.status_code
        return str(json.loads(answer.body)["message"])


def test_a_file_arrives_whole_under_its_own_name() -> None:
    visitor = Visitor()
    assert visitor.sends("C:/data/my people.csv", b"ward\nbir", b"ths\n") == "my people.csv is loaded."
    (source,) = visitor.sources
    assert source.path.read_bytes() == b"ward\nbirths\n"
    assert "births" not in repr(source)


def test_a_wrong_ticket_and_one_that_was_forgotten_are_refused() -> None:
    visitor = Visitor()
    assert "no longer connected" in visitor.sends("people.csv", b"ward\n", ticket="guessed")
    visitor.desk.forget(visitor.ticket)
    assert "no longer connected" in visitor.sends("people.csv", b"ward\n")
    assert visitor.sources == []


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("people.csv", b"", "The file people.csv is empty; choose a file with a header and rows"),
        ("people.xlsx", b"PK", "name others when you start the page: ggdp explore FILE"),
        ("people.parquet", b"PAR1 Jane Doe", "is not a Parquet file"),
    ],
)
def test_a_wrong_file_is_refused_and_freed(name: str, content: bytes, said: str, links: Path) -> None:
    visitor = Visitor()
    message = visitor.sends(name, content)
    assert said in message
    assert "Jane" not in message
    assert visitor.sources == []
    assert list(links.iterdir()) == []


def test_a_file_that_is_too_large_is_refused_before_all_of_it_is_read(
    monkeypatch: pytest.MonkeyPatch, links: Path
) -> None:
    monkeypatch.setattr(uploads, "LARGEST", 2**20)
    visitor = Visitor()
    assert "larger than 1 MB" in visitor.sends("people.csv", bytes(2**20), b"1", b"never read" * 2**20)
    assert visitor.sources == []
    assert list(links.iterdir()) == []


def test_a_browser_that_leaves_before_the_end_leaves_nothing(links: Path) -> None:
    visitor = Visitor()
    with pytest.raises(ClientDisconnect):
        visitor.sends("people.csv", b"ward\n", gone=True)
    assert visitor.sources == []
    assert list(links.iterdir()) == []


def test_commands_name_the_file_that_the_page_was_started_with_by_its_path() -> None:
    assert Source("visits.csv", Path("docs/examples/visits.csv")).typed == "docs/examples/visits.csv"
    visitor = Visitor()
    visitor.sends("-visits.csv", b"ward\n")
    assert visitor.sources[0].typed == "./-visits.csv"


def test_a_name_has_no_characters_that_act_in_a_terminal() -> None:
    visitor = Visitor()
    visitor.sends("a\r\n\x1b[2Jb.csv", b"ward\n")
    assert visitor.sources[0].name == "a___[2Jb.csv"


def test_a_few_files_are_received_at_once_and_the_next_one_is_told_to_wait(links: Path) -> None:
    visitor, answers = Visitor(), []

    def another() -> None:
        # While one file is being sent another one begins, and so on.
        if len(answers) < uploads.MOST_AT_ONCE:
            answers.append(None)
            answers.append((visitor.sends("people.csv", b"ward\n", meanwhile=another), visitor.status))

    assert visitor.sends("people.csv", b"ward\n", meanwhile=another) == "people.csv is loaded."
    told = [answer for answer in answers if answer is not None]
    assert [answer for answer in told if answer[1] == 503] == [told[0]]
    assert "Wait a moment and choose the file again" in told[0][0]
    assert len(visitor.sources) == uploads.MOST_AT_ONCE == len(list(links.iterdir()))
    # All of them have ended, the refused one and one that is broken off among them.
    with pytest.raises(ClientDisconnect):
        visitor.sends("people.csv", b"ward\n", gone=True)
    assert visitor.sends("people.csv", b"ward\n") == "people.csv is loaded."
    assert visitor.status == 200


def test_a_file_that_arrives_after_its_page_was_closed_is_freed(links: Path) -> None:
    visitor = Visitor()
    assert "no longer connected" in visitor.sends(
        "people.csv", b"ward\n", meanwhile=lambda: visitor.desk.forget(visitor.ticket)
    )
    assert visitor.sources == []
    assert list(links.iterdir()) == []


def test_a_page_that_is_closed_while_it_takes_a_file_leaves_nothing(links: Path) -> None:
    desk, visitor = Uploads(), Visitor()

    async def closed(_: Source) -> None:
        desk.forget(visitor.ticket)

    visitor.desk, visitor.ticket = desk, desk.ticket(closed)
    assert "no longer connected" in visitor.sends("people.csv", b"ward\n")
    assert list(links.iterdir()) == []


def test_a_release_that_is_under_way_keeps_its_file_until_it_ends(links: Path) -> None:
    visitor = Visitor()
    visitor.sends("people.csv", b"ward\nbirths\n")
    (source,) = visitor.sources
    with source.hold():
        source.close()
        assert source.path.read_bytes() == b"ward\nbirths\n"
        with source.hold():
            pass
        assert source.path.read_bytes() == b"ward\nbirths\n"
    assert list(links.iterdir()) == []


def test_a_file_on_disk_is_never_freed(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_bytes(b"ward\n")
    source = Source("people.csv", file)
    with source.hold():
        source.close()
    assert file.read_bytes() == b"ward\n"


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
    found = ggdp.release_table(data, ["sex", "age"], ggdp.PureDP(1.0), DOMAIN, rng=SeededSource(seed=3))
    return found.to_numpy().tolist()


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_a_file_in_memory_is_counted_as_the_file_on_disk(suffix: str, tmp_path: Path) -> None:
    on_disk = tmp_path / f"people{suffix}"
    on_disk.write_bytes(written(suffix))
    with closing(MemoryFile(f"my people{suffix.upper()}", most=MOST)) as people:
        people.write(written(suffix)[:7])
        people.write(written(suffix)[7:])
        assert counts(str(people.path)) == counts(str(on_disk))


def test_no_byte_of_an_upload_is_in_a_file_system() -> None:
    with closing(MemoryFile("people.csv", most=MOST)) as people:
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


def test_a_file_that_is_too_large_is_refused_with_its_limit() -> None:
    with closing(MemoryFile("people.csv", most=3 * 2**20)) as people:
        people.write(bytes(3 * 2**20))
        with pytest.raises(GgdpError, match=r"larger than 3 MB.*ggdp explore FILE"):
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
