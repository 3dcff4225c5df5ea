"""Finished pieces of a long run, one line of a file each, so that an interrupted run continues where it stopped.

A line is ``{"run": fingerprint, "piece": name, "result": number}``. The fingerprint stands for all that the results
depend on; lines of other runs are left alone and not used. A line that was cut off in the middle is ignored.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ggdp.errors import ArgumentError, GgdpError

if TYPE_CHECKING:
    from types import TracebackType
    from typing import BinaryIO

__all__ = ["StateFile"]


class StateFile:
    """The finished pieces of one run.

    Parameters
    ----------
    path : path, optional
        The file, made if it is missing; without one nothing is kept.
    fingerprint : str
        Identifies everything that the results depend on.

    Raises
    ------
    ArgumentError
        If the path cannot be read and written, or is not a regular file.
    GgdpError
        If a piece cannot be written, for example for lack of space. The pieces before it stay.

    Examples
    --------
    >>> with StateFile(None, "some run") as state:
    ...     state.note("first piece", 7)
    >>> state.finished
    {'first piece': 7}
    """

    def __init__(self, path: str | os.PathLike[str] | None, fingerprint: str) -> None:
        self._path = None if path is None else Path(path)
        self._fingerprint = fingerprint
        self._file: BinaryIO | None = None
        self.finished: dict[str, int] = {}

    def __enter__(self) -> StateFile:
        if self._path is None:
            return self
        # A pipe or a device would be waited for, or swallow what is noted.
        if self._path.exists() and not self._path.is_file():
            raise ArgumentError("state_file", str(self._path), "must be a regular file; name another")
        try:
            # Unbuffered: what could not be written must not be tried again when the file is closed.
            self._file = self._path.open("ab+", buffering=0)
            self._file.seek(0)
            text = self._file.read().decode("utf-8", errors="replace")
        except OSError as refused:
            self._close()
            why = refused.strerror or str(refused)
            raise ArgumentError("state_file", str(self._path), f"cannot be written: {why}; name another") from None
        for line in text.split("\n"):
            self._take(line)
        if text and not text.endswith("\n"):
            try:
                self._write(b"\n")
            except GgdpError:
                self._close()
                raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def note(self, piece: str, result: int) -> None:
        """Write a finished piece durably."""
        line = json.dumps({"run": self._fingerprint, "piece": piece, "result": result}) + "\n"
        self._write(line.encode())
        self.finished[piece] = result

    def _write(self, line: bytes) -> None:
        """Write a line whole, and wait until the disk has it."""
        if self._file is None:
            return
        left = memoryview(line)
        try:
            while left:
                left = left[self._file.write(left) :]
            os.fsync(self._file.fileno())
        except OSError as failed:
            message = (
                f"a finished piece could not be written to {self._path}: {failed.strerror or failed}. Those before it "
                "are kept there: free some space (or raise the limit) and run the same again to continue from "
                "them, or name another state file to start again"
            )
            raise GgdpError(message) from None

    def _close(self) -> None:
        if self._file is not None:
            # Every line is on the disk already.
            with suppress(OSError):
                self._file.close()

    def _take(self, line: str) -> None:
        """Take a line that is whole and of this run."""
        try:
            note = json.loads(line)
            if note["run"] == self._fingerprint:
                self.finished[str(note["piece"])] = int(note["result"])
        except (ValueError, KeyError, TypeError):
            return
