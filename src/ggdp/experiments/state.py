"""Finished pieces of a long run, one line of a file each, so that an interrupted run goes on where it was.

A line is ``{"run": fingerprint, "piece": name, "result": number}``. The fingerprint stands for all that the results
depend on; lines of other runs are left alone and not used. A line that was cut off in the middle is no line.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from ggdp.errors import ArgumentError

if TYPE_CHECKING:
    from types import TracebackType
    from typing import TextIO

__all__ = ["StateFile"]


class StateFile:
    """The finished pieces of one run.

    Parameters
    ----------
    path : path, optional
        The file, made if it is missing; without one nothing is kept.
    fingerprint : str
        What tells runs apart whose results would differ.

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
        self._file: TextIO | None = None
        self.finished: dict[str, int] = {}

    def __enter__(self) -> StateFile:
        if self._path is None:
            return self
        try:
            self._file = self._path.open("a+", encoding="utf-8", errors="replace", newline="\n")
        except OSError as refused:
            raise ArgumentError("state_file", str(self._path), f"cannot be written: {refused.strerror}") from None
        self._file.seek(0)
        text = self._file.read()
        for line in text.split("\n"):
            self._take(line)
        if text and not text.endswith("\n"):
            self._file.write("\n")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def note(self, piece: str, result: int) -> None:
        """Write a finished piece so that it outlives the process and the machine."""
        self.finished[piece] = result
        if self._file is not None:
            self._file.write(json.dumps({"run": self._fingerprint, "piece": piece, "result": result}) + "\n")
            self._file.flush()
            os.fsync(self._file.fileno())

    def _take(self, line: str) -> None:
        """Take a line that is whole and of this run."""
        try:
            note = json.loads(line)
            if note["run"] == self._fingerprint:
                self.finished[str(note["piece"])] = int(note["result"])
        except (ValueError, KeyError, TypeError):
            return
