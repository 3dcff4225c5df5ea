"""A process that answers one request a line, so that libraries in environments of their own can be timed in turn."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


class Worker:
    """Starts a script that calls `serve`, and asks it. It sleeps while another one is asked."""

    def __init__(self, python: Path, script: Path, *, threads: int = 1) -> None:
        self.script = script
        most = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"), str(threads))
        self._process = subprocess.Popen(
            [python, "-W", "ignore", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **most},
        )

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()

    def ask(self, task: str, **given: object) -> Any:
        """Return the answer to a task."""
        requests, answers = self._process.stdin, self._process.stdout
        if requests is None or answers is None:
            sys.exit(f"error: {self.script.name} was not started")
        requests.write(json.dumps([task, given]) + "\n")
        requests.flush()
        line = answers.readline()
        if not line:
            sys.exit(f"error: {self.script.name} stopped at the task {task!r}, see above")
        return json.loads(line)


def serve(tasks: Mapping[str, Callable[..., object]]) -> None:
    """Answer requests from standard input until it ends."""
    # Whatever else is printed, by libraries and by processes that they start, goes where errors go.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        task, given = json.loads(line)
        print(json.dumps(tasks[task](**given)), file=answers, flush=True)
