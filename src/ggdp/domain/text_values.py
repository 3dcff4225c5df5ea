r"""How text stands for numbers, times and nulls, where it does so in another way than ISO 8601 and decimal points do.

The page "Source files" of the documentation says what a decimal mark, a separator of thousands, a date format and words
for nulls stand for. An apostrophe stands for ' and U+2019 alike, a space for U+0020, U+00A0 and U+202F. Words for nulls
are compared before all else.

A text is *rewritten* into a decimal number or a time of ISO 8601, or into the empty text, which is neither, if it is
not written as declared. What it is then follows from `ggdp.sources.codes`. A rewriting is a list of regular expressions
without groups or assertions, which all engines read alike; nothing is parsed, so that no text is an error.

Claim. What a text is rewritten into depends on that text and the declaration alone. A date format is read in one way
only: where a part may be of one digit or two, what is next to it is no digit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ggdp._records import checked_field, frozen
from ggdp.domain.periods import ZONE, instant_of_value
from ggdp.errors import ArgumentError, ArgumentTypeError, Message

if TYPE_CHECKING:
    from datetime import date


# What is declared of text, by its names in requests and domain files.
KEYS = ("decimal", "thousands", "date_format", "null_values")
# Separators of thousands by what may be declared, as regular expressions.
_APOSTROPHES, _SPACES = "'\u2019", " \u00a0\u202f"
_MOST_WORDS, _LONGEST = 100, 100
_WIDTHS = {"Y": 4, "y": 2, "m": 2, "d": 2, "H": 2, "M": 2, "S": 2}
# What a part of a time needs beside it.
_NEEDS = {"H": "M", "M": "H", "S": "M", "f": "S", "z": "M"}


class Part(NamedTuple):
    """A part of a text: what is left after some replacements, perhaps with a zero before a single digit."""

    replaced: tuple[tuple[str, str], ...]
    padded: bool = False


class Rewriting(NamedTuple):
    """The texts that are read, as a regular expression, and the parts that they are rewritten into."""

    pattern: str
    parts: tuple[Part | str, ...]

    def of(self, text: str) -> str:
        """Return what a text is rewritten into, the empty text if it is not read."""
        if not re.fullmatch(self.pattern, text):
            return ""
        found = []
        for part in self.parts:
            left = part if isinstance(part, str) else text
            for old, new in () if isinstance(part, str) else part.replaced:
                # Python has another sign for the end of the text.
                left = re.sub(old.replace(r"\z", r"\Z"), new, left)
            found.append(left.zfill(2) if isinstance(part, Part) and part.padded else left)
        return "".join(found)


def decimal_mark(decimal: object) -> str:
    """Return a decimal mark, or raise."""
    if decimal not in (".", ","):
        raise ArgumentError("decimal", decimal, "must be ',' or '.'")
    return str(decimal)


def thousands_mark(thousands: object) -> str:
    """Return a separator of thousands, or raise."""
    if isinstance(thousands, str) and len(thousands) == 1:
        for marks in (".", ",", _APOSTROPHES, _SPACES):
            if thousands in marks:
                return marks[0]
    raise ArgumentError("thousands", thousands, "must be '.', ',', an apostrophe or a space")


def null_words(null_values: object) -> tuple[str, ...]:
    """Return words for nulls, from a list of them or from text with commas between them, or raise."""
    found = null_values.split(",") if isinstance(null_values, str) else null_values
    if not isinstance(found, Sequence) or not all(isinstance(word, str) for word in found):
        raise ArgumentTypeError("null_values", null_values, "must be a list of words, such as ['NA', '.']")
    if len(found) > _MOST_WORDS or not all(word.isprintable() and len(word) <= _LONGEST for word in found):
        what = f"must be at most {_MOST_WORDS} printable words of at most {_LONGEST} characters"
        raise ArgumentError("null_values", null_values, what)
    return tuple(dict.fromkeys(found))


def date_pattern(date_format: object) -> str:
    """Return a date format, or raise."""
    said = "must have %d, %m and %Y (or %y) once each with separators, such as '%d.%m.%Y' or '%d/%m/%y %H:%M'"
    if not isinstance(date_format, str) or not date_format.isprintable() or len(date_format) > _LONGEST:
        raise ArgumentError("date_format", date_format, said)
    found = re.findall("%(.?)|([^%])", date_format)
    names = [name for name, mark in found if not mark]
    if unknown := [name for name in names if name not in {*_WIDTHS, "f", "z"}]:
        what = f"has %{unknown[0]}, which is not read; known are %Y %y %m %d %H %M %S %f %z"
        raise ArgumentError("date_format", date_format, what)
    if any(mark.isdigit() for _, mark in found):
        raise ArgumentError("date_format", date_format, "must have no digits of its own")
    if len(set(names)) < len(names) or not {"d", "m"} < {*names} or ("Y" in names) == ("y" in names):
        raise ArgumentError("date_format", date_format, said)
    for name, needed in _NEEDS.items():
        if name in names and needed not in names:
            raise ArgumentError("date_format", date_format, f"has %{name} and needs %{needed} as well")
    if re.search("%f%[^z]|%[^S]%f|%z.", date_format):
        what = "must have a separator on both sides of %f, and nothing after %z"
        raise ArgumentError("date_format", date_format, what)
    return date_format


@frozen(kw_only=True)
class TextValues:
    """How the text of a column is read, where that is declared; None where it is not."""

    decimal: str | None = checked_field(decimal_mark, default=None)
    thousands: str | None = checked_field(thousands_mark, default=None)
    date_format: str | None = checked_field(date_pattern, default=None)
    null_values: tuple[str, ...] | None = checked_field(null_words, default=None)

    @property
    def declared(self) -> dict[str, Any]:
        """What is declared, by name, ready for JSON."""
        found = {name: getattr(self, name) for name in KEYS}
        return {name: list(one) if name == "null_values" else one for name, one in found.items() if one is not None}

    @property
    def nulls(self) -> tuple[str, ...]:
        """The words that are nulls."""
        return self.null_values or ()

    @cached_property
    def number(self) -> Rewriting | None:
        """How numbers are rewritten; None if they are read as they are. Raises if two marks are the same."""
        point = self.decimal or "."
        if self.thousands == point:
            words = "is also the decimal mark: pass {decimal:{other}} as well"
            said = Message(words, other="." if point == "," else ",")
            raise ArgumentError("thousands", self.thousands, said)
        if self.thousands is None and point == ".":
            return None
        whole, mark = "[0-9]{1,40}", f"[{point}]"
        removed: tuple[tuple[str, str], ...] = ()
        if self.thousands is not None:
            between = {"'": f"[{_APOSTROPHES}]", " ": f"[{_SPACES}]"}.get(self.thousands, f"[{self.thousands}]")
            whole = f"({whole}|[0-9]{{1,3}}({between}[0-9]{{3}}){{1,12}})"
            removed = ((between, ""),)
        pattern = f"[+-]?({whole}({mark}[0-9]{{0,40}})?|{mark}[0-9]{{1,40}})([eE][+-]?[0-9]{{1,2}})?"
        return Rewriting(pattern, (Part((*removed, (mark, "."))),))

    @cached_property
    def time(self) -> Rewriting | None:
        """How dates and times are rewritten; None if they are read as they are."""
        if self.date_format is None:
            return None
        tokens = re.findall("%.|[^%]", self.date_format)
        patterns = []
        for before, token, after in zip(["", *tokens], tokens, [*tokens[1:], ""], strict=False):
            name = token[1:]
            if not name:
                patterns.append(re.sub(r"([.^$*+?{}\[\]|()\\])", r"\\\1", token))
            elif name in ("f", "z"):
                patterns.append("[0-9]{1,9}" if name == "f" else ZONE)
            else:
                alone = name in "dmH" and not (before + after).count("%")
                patterns.append(f"[0-9]{{{'1,' if alone else ''}{_WIDTHS[name]}}}")

        def part(name: str, *more: tuple[str, str], padded: bool = False) -> Part:
            place = tokens.index(f"%{name}")
            ends = ("^" + "".join(patterns[:place]), "".join(patterns[place + 1 :]) + r"\z")
            return Part((*((end, "") for end in ends if end not in ("^", r"\z")), *more), padded)

        century = (r"^(69|[7-9][0-9])\z", "c"), (r"^[0-9][0-9]\z", "20"), ("c", "19")
        year = (part("Y"),) if "%Y" in tokens else (part("y", *century), part("y"))
        parts: list[Part | str] = [*year, "-", part("m", padded=True), "-", part("d", padded=True)]
        for mark, name in ((" ", "H"), (":", "M"), (":", "S"), (".", "f"), ("", "z")):
            if f"%{name}" in tokens:
                parts += [mark, part(name, padded=name == "H")]
        return Rewriting("".join(patterns), tuple(parts))

    def over(self, others: TextValues) -> TextValues:
        """Return what is declared here, and elsewhere what others declare."""
        return TextValues(**{**others.declared, **self.declared})

    def write(self, time: date) -> str | None:
        """Return the text that is read as a day or a time as a format declares; None without a format that fits."""
        if self.time is None:
            return None
        clock = f"{time:%H%M%S%f}"
        parts = {"%Y": f"{time.year:04}", "%y": f"{time.year % 100:02}", "%m": f"{time.month:02}", "%z": "Z"}
        parts |= {"%d": f"{time.day:02}", "%H": clock[:2], "%M": clock[2:4], "%S": clock[4:6], "%f": clock[6:]}
        text = re.sub("%.", lambda found: parts[found[0]], self.date_format or "")
        return text if instant_of_value(self.time.of(text)) == instant_of_value(time) else None
