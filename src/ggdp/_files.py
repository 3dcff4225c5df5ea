"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

__all__ = ["write_together"]


def write_together(contents: dict[Path, bytes], *, overwrite: bool) -> None:
    """Write all files or none: beside their targets first, then moved, and what was there stays unless overwritten."""
    beside: dict[Path, Path] = {}
    linked: list[Path] = []
    try:
        for target, content in contents.items():
            descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
            beside[target] = Path(name)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            beside[target].chmod(0o644)
        for target, source in beside.items():
            if overwrite:
                source.replace(target)
            else:
                # A link is refused where the target is there already, also when another run has just made it.
                target.hardlink_to(source)
                linked.append(target)
    except BaseException:
        for target in linked:
            target.unlink(missing_ok=True)
        raise
    finally:
        for source in beside.values():
            source.unlink(missing_ok=True)
