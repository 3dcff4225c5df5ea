"""Processes that charge a ledger and publish files until nothing fits, and one that kills them at random instants.

A writer names each release by a random word: the analyst of its entry and the name of its files, so that a file is
found in the ledger even if its manifest was never written. ``python -m tests.ledger.writers`` reads tasks, one line of
JSON each, forks the writers of each, and prints how they ended; `Keeper` starts it and asks it.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import secrets
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Self

import ggdp
from ggdp._files import write_together
from ggdp.cli.app import app
from ggdp.errors import BudgetExceededError
from ggdp.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable

STEP = 0.0625
# Where the data are, within the directory of a task.
PEOPLE = Path("people", "people.csv")


def people_in(directory: Path) -> None:
    """Write the data that writers release into the directory of a task."""
    file = directory / PEOPLE
    file.parent.mkdir(parents=True)
    file.write_text("smokes\n" + "no\nyes\nno\n" * 20)


@dataclass(frozen=True)
class Task:
    """What writers do: to which ledger, where their files go, how many there are, and how often one is killed.

    `pace` is the mean of the random times between two kills, as a multiple of the time that the work takes here when
    nobody else does it; 0 for no kills. So a slow machine kills more slowly, and writers always get on.
    """

    url: str
    directory: str
    work: str
    writers: int
    pace: float = 0.0
    seed: int = 0


@dataclass(frozen=True)
class Ended:
    """How writers ended: killed, refused by the budget, or in an error."""

    kills: int
    refused: int
    failed: int


def charge_and_publish(ledger: Ledger, directory: Path, word: str) -> None:
    """Charge a release, then write a file, then record it: the order of every release."""
    entry = ledger.charge(ggdp.PureDP(STEP, "add-remove"), analyst=word)
    content = json.dumps({"ledger": entry.reference.to_dict()}).encode()
    file = directory / f"{word}.manifest.json"
    write_together({file: content}, overwrite=False)
    ledger.record_publication(entry, {file.name: hashlib.sha256(content).hexdigest()})


def release_table(ledger: Ledger, directory: Path, word: str) -> None:
    """Release a table of a file by the command line, which writes the counts and their manifest."""
    options = {"--by": "smokes", "--levels": "smokes=no,yes", "--epsilon": STEP, "--out": directory / f"{word}.csv"}
    charged = {"--ledger": ledger.name, "--analyst": word}
    arguments = [str(part) for option in (options | charged).items() for part in option]
    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        app(["release", str(directory / PEOPLE), *arguments], standalone_mode=False)


WORK: dict[str, Callable[[Ledger, Path, str], None]] = {
    "publish": charge_and_publish,
    "release": release_table,
}


def write(task: Task) -> None:
    """Do the work of a task until the budget refuses it."""
    ledger, directory, work = Ledger(task.url), Path(task.directory), WORK[task.work]
    try:
        while True:
            work(ledger, directory, secrets.token_hex(8))
    except BudgetExceededError:
        return


def alone(task: Task) -> float:
    """Do the work once, on a ledger of its own, and return how long it took; what it loads, forked writers have."""
    with TemporaryDirectory() as name:
        directory, work = Path(name), WORK[task.work]
        people_in(directory)
        ledger = Ledger.create(directory / "alone.ledger", ggdp.PureDP(1.0))
        work(ledger, directory, "first")
        begun = time.perf_counter()
        work(ledger, directory, "second")
        return time.perf_counter() - begun


def carried_out(task: Task) -> Ended:
    """Fork writers, kill them at random instants, and put another in the place of each until all were refused."""
    chance, every, kills, refused, failed = random.Random(task.seed), task.pace * alone(task), 0, 0, 0
    alive = {_forked(task) for _ in range(task.writers)}
    while alive:
        if every and signal.sigtimedwait({signal.SIGCHLD}, chance.expovariate(1 / every)) is None:
            os.kill(chance.choice(sorted(alive)), signal.SIGKILL)
        pid, status = os.waitpid(-1, os.WNOHANG if every else 0)
        while pid:
            alive.remove(pid)
            if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
                kills += 1
                alive.add(_forked(task))
            elif status == 0:
                refused += 1
            else:
                failed += 1
            pid, status = os.waitpid(-1, os.WNOHANG) if alive else (0, 0)
    return Ended(kills, refused, failed)


def _forked(task: Task) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        write(task)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(1)
    os._exit(0)


class Keeper:
    """A process that carries out tasks; it forks writers, so it is apart from the threads of the tests."""

    def __enter__(self) -> Self:
        few_threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        # Threads that libraries keep for later are idle when it forks.
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore::DeprecationWarning", "-m", "tests.ledger.writers"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
            env={**os.environ, **few_threads},
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def ended(self, task: Task) -> Ended:
        """Return how the writers of a task ended."""
        self._process.stdin.write(json.dumps(asdict(task)) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{task} failed: its traceback was printed")
        return Ended(**json.loads(answer))


def main() -> None:
    """Carry out the tasks of standard input."""
    # Blocked, so that the end of a writer is waited for with a limit, and not missed.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    for line in sys.stdin:
        sys.stdout.write(json.dumps(asdict(carried_out(Task(**json.loads(line))))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
