"""Reading small files within limits, writing files atomically, and the user's cache directory.

Every file that is not the data is read here: domains, answers of a publisher, manifests, plans. It must be a regular
file or a pipe, and neither be too large nor nested too deeply; what is wrong is an error that names the argument.
"""

from __future__ import annotations

import json
import math
import os
import re
import secrets
import shlex
import stat
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ggdp.errors import ArgumentError, ArgumentTypeError, Message

# Bytes of a manifest or a plan, which name every declared level, and of a TOML file, which people write.
MOST_JSON, MOST_TOML = 64 << 20, 8 << 20
# What to do about a file that is no JSON, where a manifest is meant.
MANIFEST = "name a manifest of ggdp"
# Levels of lists and tables within each other; no file of ggdp has more than a dozen.
DEEPEST = 64
# A key of more parts than the deepest: the parser takes a time that grows with the square of their number.
_LONG_KEY = re.compile(rf"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{DEEPEST}}}""", re.ASCII)


def read_file(
    path: str | os.PathLike[str], *, argument: str, most: int, pipe: bool = True, secret: bool = False
) -> bytes:
    """Return the bytes of a regular file or a pipe, or raise an error that names the argument.

    A device, which may have no end, is refused; so is whatever has more than `most` bytes, before more are read, a pipe
    unless `pipe`, and a `secret` file that others than its owner may read. A pipe that nobody has opened for writing is
    refused, not waited for.
    """
    if not isinstance(path, str | bytes | os.PathLike):
        raise ArgumentTypeError(argument, type(path).__name__, "must be the path of a file")
    name = os.fspath(path)
    flags = ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY")
    content = bytearray()
    try:
        # Not blocking, since to open a pipe or a device may wait forever; reading a pipe then waits for its writer.
        descriptor = os.open(name, os.O_RDONLY | sum(getattr(os, flag, 0) for flag in flags))
        try:
            status = os.fstat(descriptor)
            mode = status.st_mode
            if not stat.S_ISREG(mode) and not (pipe and stat.S_ISFIFO(mode)):
                kind = "a directory" if stat.S_ISDIR(mode) else "a pipe" if stat.S_ISFIFO(mode) else "a device"
                raise ArgumentError(argument, name, f"is {kind}; name a file{' or a pipe' if pipe else ''}")
            # The rule of ssh.
            if secret and os.name == "posix" and status.st_uid == os.getuid() and mode & 0o077:
                raise ArgumentError(argument, name, f"can be read by other users; run: chmod 600 {shlex.quote(name)}")
            if stat.S_ISFIFO(mode):
                os.set_blocking(descriptor, True)
            while chunk := os.read(descriptor, 1 << 20):
                content += chunk
                if len(content) > most:
                    raise ArgumentError(argument, name, f"is too large; at most {most:,} bytes are read")
            if stat.S_ISFIFO(mode) and not content:
                raise ArgumentError(argument, name, "is a pipe that nothing is written to")
        finally:
            os.close(descriptor)
    except ArgumentError:
        raise
    except (OSError, ValueError) as failed:
        # Python refuses a path with a null character itself.
        why = getattr(failed, "strerror", None) or "not the name of a file"
        raise ArgumentError(argument, name, f"cannot be read ({why})") from None
    return bytes(content)


def read_json(path: str | os.PathLike[str], *, argument: str, most: int = MOST_JSON, instead: str = MANIFEST) -> Any:  # noqa: ANN401 - any JSON
    """Return what a JSON file holds, see `parsed_json`."""
    content = read_file(path, argument=argument, most=most)
    return parsed_json(content, os.fspath(path), argument=argument, instead=instead)


def parsed_json(content: bytes, name: str, *, argument: str, instead: str = MANIFEST) -> Any:  # noqa: ANN401 - any JSON
    """Return what the bytes of a JSON file hold; `instead` says what to do where it is none.

    Refused are numbers beyond all floats, a name twice in one object, of which readers would take different ones, and
    halves of characters, which cannot be written again.
    """
    try:
        text = content.decode(json.detect_encoding(content))
        found = json.loads(text, parse_float=_float, parse_constant=_float, object_pairs_hook=_without_doubles)
        if "\\u" in text:
            json.dumps(found, ensure_ascii=False).encode()
    except RecursionError:
        raise _too_deep(argument, name) from None
    except ValueError:
        raise ArgumentError(argument, name, f"is not a JSON file; {instead}") from None
    _require_plain(found, argument, name)
    return found


def read_toml(path: str | os.PathLike[str], *, argument: str, most: int = MOST_TOML) -> dict[str, Any]:
    """Return what a TOML file holds."""
    return parsed_toml(read_file(path, argument=argument, most=most), os.fspath(path), argument=argument)


def parsed_toml(content: bytes, name: str, *, argument: str) -> dict[str, Any]:
    """Return what the bytes of a TOML file hold."""
    try:
        text = content.decode("utf-8-sig")
        if _LONG_KEY.search(text):
            raise _too_deep(argument, name)
        found = tomllib.loads(text)
    except ArgumentError:
        raise
    except RecursionError:
        raise _too_deep(argument, name) from None
    except UnicodeDecodeError:
        raise ArgumentError(argument, name, "is not a TOML file: it is not UTF-8 text") from None
    except tomllib.TOMLDecodeError as wrong:
        raise ArgumentError(argument, name, f"is not a TOML file: {wrong}") from None
    except ValueError:
        # The parser lets Python's own errors through: an integer of thousands of digits, a date that does not exist.
        raise ArgumentError(argument, name, "is not a TOML file: a number or a date is out of range") from None
    _require_plain(found, argument, name)
    return found


def line_of(content: bytes, keys: Sequence[str | int]) -> int | None:
    """Return the line of a TOML file in which a key is first set, as the parser says; None if it is not found."""
    lines = content.decode("utf-8-sig").split("\n")
    last = next((key for key in reversed(keys) if isinstance(key, str)), "")
    for place, line in enumerate(lines):
        if last in line:
            head = line if line.lstrip().startswith("[") else f"{line.partition('=')[0]}= 0"
            try:
                found: Any = tomllib.loads("\n".join([*lines[:place], head]))
                for key in keys:
                    found = found[key]
            except (LookupError, TypeError, ValueError):
                continue
            return place + 1
    return None


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError
    return number


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def _require_plain(found: object, argument: str, name: str) -> None:
    """Raise for what is nested so deeply, or an integer so large, that code after this could fail on it."""
    level = [found]
    for _ in range(DEEPEST):
        if any(isinstance(one, int) and one.bit_length() > sys.float_info.max_exp for one in level):
            raise ArgumentError(argument, name, "has a number that is too large for a float")
        tables = (one for one in level if isinstance(one, dict | list))
        level = [item for one in tables for item in (one.values() if isinstance(one, dict) else one)]
        if not level:
            return
    raise _too_deep(argument, name)


def _too_deep(argument: str, name: str) -> ArgumentError:
    return ArgumentError(argument, name, f"is nested too deeply; at most {DEEPEST} levels are read")


def cache_directory() -> Path | None:
    """Return XDG_CACHE_HOME/ggdp, or else ggdp's directory among the platform's caches; None without a home."""
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
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "ggdp"
    return home / ".cache" / "ggdp"


def writable_file(
    argument: str,
    path: str | os.PathLike[str],
    endings: tuple[str, ...],
    read: Iterable[str | os.PathLike[str]] = (),
    *,
    overwrite: bool,
) -> Path:
    """Return the path of a file to write, refused as an argument where it cannot be written or is one that is read."""
    with writing(argument, str(path)):
        file = Path(path)
        why: str | Message | None = None
        if file.suffix.lower() not in endings:
            why = f"must end in {(', ' if len(endings) > 2 else ' or ').join(endings)}"
        elif not file.parent.is_dir():
            why = f"{str(file.parent)!r} is not a directory; create it first"
        elif file.is_dir():
            why = "is a directory; name a file"
        elif os.path.realpath(file) in {os.path.realpath(one) for one in read}:
            why = "is a file that is read; name another file"
        elif os.path.lexists(file) and not overwrite:
            why = Message("already exists; pass {overwrite:True} to replace it, or name another file")
        elif not os.access(file.parent, os.W_OK | os.X_OK):
            why = f"cannot be written: no write permission for {str(file.parent)!r}"
        if why is not None:
            raise ArgumentError(argument, str(file), why)
    return file


@contextmanager
def writing(argument: str, name: str) -> Iterator[None]:
    """Turn what the system says about a file that cannot be written into an error that names the argument."""
    try:
        yield
    except ArgumentError:
        raise
    except (OSError, TypeError, ValueError) as failed:
        why = getattr(failed, "strerror", None) or str(failed)
        raise ArgumentError(argument, name, f"cannot be written ({why}); name another file") from None


def write_together(contents: Mapping[Path, bytes | None], *, overwrite: bool) -> None:
    """Write all files or none: temporary files first, then renamed; existing files stay unless overwritten.

    A file whose content is None belonged to an earlier version of the others, and is removed after they are in place.

    A process that is killed may leave hidden files beside the targets. One that is killed while it replaces several
    files leaves some old and some new ones, each of them whole; manifests hold the digests that tell.
    """
    beside: dict[Path, Path] = {}
    made: list[Path] = []
    try:
        for target, content in contents.items():
            if content is None:
                continue
            hidden = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}")
            # Created with the umask of the process, like any other file.
            descriptor = _create(hidden)
            beside[target] = hidden
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        for target, source in beside.items():
            if not overwrite:
                # Refused where the target already exists, also when another run has just made it.
                os.close(_create(target))
                made.append(target)
            source.replace(target)
        for target, content in contents.items():
            if content is None:
                target.unlink(missing_ok=True)
    except BaseException:
        for target in made:
            target.unlink(missing_ok=True)
        raise
    finally:
        for source in beside.values():
            source.unlink(missing_ok=True)


def _create(path: Path) -> int:
    """Create a file and return its descriptor."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
