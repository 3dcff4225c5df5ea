"""Files written whole or not at all, and the user's cache directory."""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


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
