"""Power failures simulated: what a process wrote and synced, as strace saw it, with the rest lost in many ways.

A disk may keep any of the writes that were not synced, in any order, and half of one. A file that was made is there
after a power failure only if it, or its directory, was synced since.
"""

import itertools
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

# The system calls that change files; -y shows the path of each descriptor, -xx every byte.
CALLS = "openat,pwrite64,write,ftruncate,fsync,fdatasync,unlink"
SECTOR = 512
_LINE = re.compile(r"(\w+)\((.*)\)\s+= (-?\d+)")
_FILE = re.compile(r'\d+<([^>]*)>(?:, "((?:\\x[0-9a-f]{2})*)")?(?:, (\d+))?(?:, (\d+))?')
_OPENED = re.compile(r'.*"([^"]*)", ([A-Z_|]+)')


@dataclass(frozen=True)
class Event:
    """One thing that happened: a write, a change of length, a sync, a file that was made or removed, or a report."""

    kind: str
    file: str
    offset: int = 0
    data: bytes = b""


def can_trace() -> bool:
    """Return whether strace is here and may look at processes."""
    if shutil.which("strace") is None:
        return False
    return subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, check=False).returncode == 0


def traced(code: str, *arguments: str, folder: Path) -> list[Event]:
    """Run Python code and return what it did to the files of a folder, and each line that it wrote to its output."""
    log = folder.parent / "strace.log"
    command = ["strace", "-y", "-xx", "-s", "1000000", "-e", f"trace={CALLS}", "-o", str(log)]
    subprocess.run([*command, sys.executable, "-c", code, *arguments], check=True, capture_output=True)
    return [event for line in log.read_text().splitlines() if (event := _event(line, folder)) is not None]


def _event(line: str, folder: Path) -> Event | None:
    found = _LINE.fullmatch(line)
    if found is None or int(found[3]) < 0:
        return None
    call, arguments = found[1], found[2]
    if call in ("openat", "unlink"):
        opened = _OPENED.fullmatch(arguments) if call == "openat" else re.fullmatch(r'"([^"]*)"', arguments)
        path = Path(_bytes(opened[1]).decode()) if opened else None
        if path is None or path.parent != folder or (call == "openat" and "O_CREAT" not in opened[2]):
            return None
        return Event("made" if call == "openat" else "removed", path.name)
    shown = _FILE.fullmatch(arguments)
    if shown is None:
        return None
    path, data, first, second = Path(_path(shown[1])), _bytes(shown[2] or ""), shown[3], shown[4]
    if call == "write" and arguments.startswith("1<"):
        return Event("reported", "", data=data)
    if call in ("fsync", "fdatasync") and path == folder:
        return Event("synced folder", "")
    if path.parent != folder:
        return None
    if call == "pwrite64":
        assert int(first) == len(data) == int(found[3]), "a write was not shown as a whole"
        return Event("wrote", path.name, int(second), data)
    if call == "ftruncate":
        return Event("cut", path.name, int(first))
    assert call in ("fsync", "fdatasync"), f"{call} is not simulated"
    return Event("synced", path.name)


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", "")) if "\\x" in text else text.encode()


def _path(text: str) -> str:
    return _bytes(text).decode()


@dataclass
class File:
    """A file as it is surely on the disk, and what was done to it since its last sync."""

    durable: bytes | None
    later: list[Event] = field(default_factory=list)

    def states(self) -> list[bytes | None]:
        """Return what the file may be after a power failure: nothing of it kept, all, all but one, one, half of one."""
        many = len(self.later)
        kept = {(), tuple(range(many))}
        kept |= {(one,) for one in range(many)}
        kept |= {tuple(i for i in range(many) if i != one) for one in range(many)}
        found = [self._after([self.later[i] for i in some]) for some in sorted(kept)]
        for place, event in enumerate(self.later):
            if event.kind == "wrote" and len(event.data) > SECTOR:
                half = Event("wrote", event.file, event.offset, event.data[:SECTOR])
                found.append(self._after([*self.later[:place], half]))
        return list(dict.fromkeys(found))

    def _after(self, events: list[Event]) -> bytes | None:
        content = None if self.durable is None else bytearray(self.durable)
        for event in events:
            if event.kind == "removed":
                content = None
                continue
            content = bytearray() if content is None else content
            if event.kind == "wrote":
                content.extend(bytes(max(event.offset + len(event.data) - len(content), 0)))
                content[event.offset : event.offset + len(event.data)] = event.data
            elif event.kind == "cut":
                content[event.offset :] = bytes(max(event.offset - len(content), 0))
        return None if content is None else bytes(content)

    def sync(self) -> None:
        """Make all that was done durable."""
        self.durable, self.later = self._after(self.later), []

    def sync_name(self) -> None:
        """Make it durable that the file is there, or that it is not."""
        if any(event.kind == "removed" for event in self.later):
            self.sync()
        elif self.durable is None and self.later:
            self.durable = b""


def failures(before: dict[str, bytes], events: list[Event]):
    """Yield how many reports there were and the files of every simulated power failure, each state once."""
    files, reports, seen = {name: File(content) for name, content in before.items()}, 0, set()
    for event in (*events, Event("end", "")):
        names = sorted(files)
        for contents in itertools.product(*(files[name].states() for name in names)):
            state = (reports, contents)
            if state not in seen:
                seen.add(state)
                yield reports, {name: found for name, found in zip(names, contents, strict=True) if found is not None}
        if event.kind == "reported":
            reports += 1
        elif event.kind == "synced folder":
            for file in files.values():
                file.sync_name()
        elif event.kind == "synced":
            files[event.file].sync()
        elif event.kind != "end":
            files.setdefault(event.file, File(None)).later.append(event)
