"""Wrap the paragraphs of the pages: ``python docs/wrap.py`` rewrites all pages.

Paragraphs and list items are filled up to `WIDTH` columns. Code, formulas and links' targets are not broken, and
blocks, tables, headings, comments and displayed formulas stay as they are.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILT = (ROOT / "docs" / "_build", ROOT / "docs" / "reference" / "api")
WIDTH = 120
FENCE = re.compile(r"^\s*(`{3,}|:{3,})")
ITEM = re.compile(r"^(\s*)([-*]|\d+\.|:) +")
# Headings, tables, comments, displayed formulas, labels, definitions of links, and options of directives.
KEPT = re.compile(r"^\s*(#{1,6} |\||<!--|\$\$|\([\w-]+\)=$|\[[^\]]+\]: |:[\w-]+:( |$)|---$)")
# What is never broken: code, formulas, and everything without a space.
WORD = re.compile(r"(?:`[^`]*`|\$[^$\s](?:[^$]*[^$\s])?\$|[^\s`$]|[`$])+")
# What would begin a block if it stood at the start of a line.
OPENER = re.compile(r"([-+*=#>|:]+|\d+[.)])$|[#>|]|:|`{3}|\$\$")


def pages() -> list[Path]:
    """Return the pages that are wrapped."""
    docs = sorted((ROOT / "docs").rglob("*.md"))
    return [*sorted(ROOT.glob("*.md")), *(page for page in docs if not any(page.is_relative_to(b) for b in BUILT))]


def wrapped(text: str) -> str:
    """Return a page with its paragraphs wrapped."""
    lines, done, place = text.splitlines(), [], 0
    while place < len(lines):
        line = lines[place]
        if fence := FENCE.match(line):
            end = _end_of_block(lines, place, fence[1])
        elif line.lstrip().startswith("$$") and line.count("$$") == 1:
            end = next((k for k in range(place + 1, len(lines)) if "$$" in lines[k]), len(lines) - 1) + 1
        elif not line.strip() or KEPT.match(line):
            end = place + 1
        else:
            end = place + 1
            while end < len(lines) and _continues(lines[end]):
                end += 1
            done += _filled(lines[place:end])
            place = end
            continue
        done += lines[place:end]
        place = end
    return "\n".join(done) + "\n"


def _end_of_block(lines: list[str], start: int, fence: str) -> int:
    """Return the line after a block; a block that is text itself is a note, whose text is short enough already."""
    return next((k for k in range(start + 1, len(lines)) if lines[k].strip() == fence), len(lines) - 1) + 1


def _continues(line: str) -> bool:
    return bool(line.strip()) and not (KEPT.match(line) or ITEM.match(line) or FENCE.match(line))


def _filled(lines: list[str]) -> list[str]:
    """Return a paragraph or an item of a list in lines of at most `WIDTH` columns."""
    item = ITEM.match(lines[0])
    first = item[0] if item else lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    words = WORD.findall(" ".join([lines[0][len(first) :], *(line.strip() for line in lines[1:])]))
    rest = " " * len(first)
    filled, row = [], [words[0]]
    for word in words[1:]:
        indent = rest if filled else first
        if len(indent) + len(" ".join([*row, word])) <= WIDTH:
            row.append(word)
            continue
        carried = [word]
        while OPENER.match(carried[0]) and len(row) > 1:
            carried.insert(0, row.pop())
        filled.append(indent + " ".join(row))
        row = carried
    return [*filled, (rest if filled else first) + " ".join(row)]


def main() -> None:
    """Rewrite the pages whose paragraphs are not wrapped."""
    for page in pages():
        text = page.read_text("utf-8")
        if wrapped(text) != text:
            page.write_text(wrapped(text), "utf-8")


if __name__ == "__main__":
    main()
