"""Names of levels in a figure: one line each, short enough to be read, and no two levels with the same name."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ggdp.tables.column import Level

__all__ = ["LONGEST", "in_words", "level_names", "one_line"]

# Longer names are cut, in letters.
LONGEST = 36


def one_line(text: object, most: int = 2 * LONGEST) -> str:
    """Return text as one line without control characters, cut in the middle if it is longer than `most` letters."""
    return _cut(_printable(text), most)


def in_words(names: Iterable[str]) -> str:
    """Return names as a list in a sentence: a, b and c."""
    *first, last = (one_line(name) for name in names)
    return f"{', '.join(first)} and {last}" if first else last


def level_names(levels: Iterable[Level]) -> dict[Level, str]:
    """Return the name of each level; names that would be cut to the same text start where they differ."""
    lines = {level: _printable(str(level).lower() if isinstance(level, bool) else level) for level in levels}
    alike: dict[str, set[str]] = {}
    for line in lines.values():
        alike.setdefault(_cut(line, LONGEST), set()).add(line)
    found = {}
    for level, line in lines.items():
        group = alike[_cut(line, LONGEST)]
        # A few of the letters that they share, to recognise them by.
        start = max(_shared(min(group), max(group)) - 6, 0) if len(group) > 1 else 0
        found[level] = _cut("\N{HORIZONTAL ELLIPSIS}" + line[start:] if start else line, LONGEST)
    return found


def _printable(text: object) -> str:
    return "".join(sign if sign.isprintable() else "\N{MIDDLE DOT}" for sign in str(text))


def _letters(text: str) -> int:
    """Return the width of a text in letters; East Asian characters are as wide as two."""
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def _cut(line: str, most: int) -> str:
    """Return a line without its middle if it is too long: names that begin alike often differ at their ends."""
    if (letters := _letters(line)) <= most:
        return line
    kept = most * len(line) // letters - 1
    return line[: kept - kept // 2] + "\N{HORIZONTAL ELLIPSIS}" + line[-(kept // 2) :]


def _shared(one: str, other: str) -> int:
    """Return the length of the longest common prefix."""
    return next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
