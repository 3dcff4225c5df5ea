"""What goes wrong around a ledger: a disk that is full, files that may not be written, a connection that is cut."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOBODY = 65534
PAGE = 4096


@contextmanager
def small_disk(directory: Path, size: int) -> Iterator[Path]:
    """Mount a file system of so many bytes; raises PermissionError where that is not allowed."""
    directory.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=777", "ggdp", str(directory)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        raise PermissionError("only root mounts a file system")
    try:
        yield directory
    finally:
        subprocess.run(["umount", "--lazy", str(directory)], check=True)


def leave_free(disk: Path, pages: int) -> None:
    """Fill a disk but for so many pages."""
    with open(disk / "ballast", "ab", buffering=0) as ballast:
        with suppress(OSError):
            while ballast.write(bytes(PAGE)):
                pass
        ballast.truncate(max(0, ballast.tell() - pages * PAGE))


@contextmanager
def ordinary_user() -> Iterator[None]:
    """Be nobody for a while, if this is root, whom no permission stops."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


class Cut:
    """A way to a server that is cut at a commit, for good: `at` says on which side of it.

    "connect": nobody answers. "before": the commit does not arrive. "after": it arrives, and the answer does not.
    """

    def __init__(self, directory: Path, server: Path, at: Literal["connect", "before", "after"]) -> None:
        self.directory, self._server, self._at = directory, server, at
        self.commits = 0
        self._listening = socket.socket(socket.AF_UNIX)
        self._open: list[socket.socket] = [self._listening]
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Cut:
        self._listening.bind(str(self.directory / ".s.PGSQL.5432"))
        self._listening.listen()
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        for end in self._open:
            # Wakes a thread that waits for it; a socket that was never connected has nothing to shut.
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for end in self._open:
            end.close()

    def _start(self, target, *given: object) -> None:
        thread = threading.Thread(target=target, args=given, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            self._open.append(client)
            if self._at == "connect":
                client.shutdown(socket.SHUT_RDWR)
                continue
            server = socket.socket(socket.AF_UNIX)
            self._open.append(server)
            server.connect(str(self._server / ".s.PGSQL.5432"))
            committed = threading.Event()
            self._start(self._forward, client, server, committed)
            self._start(self._answer, server, client, committed)

    def _forward(self, client: socket.socket, server: socket.socket, committed: threading.Event) -> None:
        while content := _received(client):
            if b"COMMIT\0" in content:
                self.commits += 1
                committed.set()
                if self._at == "before":
                    client.shutdown(socket.SHUT_RDWR)
                    break
            server.sendall(content)
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)

    def _answer(self, server: socket.socket, client: socket.socket, committed: threading.Event) -> None:
        # The answer that is not passed on says that the server has committed.
        while (content := _received(server)) and not committed.is_set():
            client.sendall(content)
        with suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)


def _received(end: socket.socket) -> bytes:
    try:
        return end.recv(1 << 16)
    except OSError:
        return b""
