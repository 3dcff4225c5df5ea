"""The words of the explorer: labels of its inputs, and errors that name them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ggdp.cli.flags import RELEASE, mention_flag, reword, title_of_flag
from ggdp.errors import ArgumentError, GgdpError, Message, in_words_of
from ggdp.tables.request import ROW

# Labels of the inputs of a table, by the names of the flags that they stand for.
LABELS = {flag.name: flag.label for flag in RELEASE if flag.label is not None}
HELP = {flag.name: flag.help for flag in RELEASE}
# How messages name what has several inputs; a domain file is named when the explorer is started.
_MENTIONS = {
    "domain": f"{LABELS['levels']} or {LABELS['bins']}",
    "or_in_domain_file": "",
    "statistics": LABELS["mean"],
    "unit": f"{LABELS['unit']} COL",
    "range": f"{LABELS['range']} COL=LOW:HIGH",
}


class ExplorerError(GgdpError):
    """An error in the words of the explorer."""


@contextmanager
def in_explorer_words() -> Iterator[None]:
    """Make errors name the inputs of the form; `unit` is the column of units, if one is named."""
    try:
        yield
    except ExplorerError:
        raise
    except GgdpError as refused:
        if isinstance(refused, ArgumentError):
            said = str(reword(refused, _title, _mention))
        else:
            message = refused.args[0] if refused.args else ""
            said = in_words_of(message, _mention) if isinstance(message, Message) else str(refused)
        raise with_notes(ExplorerError(said), refused) from None


def with_notes(shown: ExplorerError, error: BaseException) -> ExplorerError:
    """Return an error with the notes of another, which say what of a charge stays."""
    for note in getattr(error, "__notes__", ()):
        shown.add_note(note)
    return shown


def message_of(error: GgdpError) -> str:
    """Return what is wrong, with the notes of the error, as sentences."""
    return ". ".join(map(sentence, [str(error), *getattr(error, "__notes__", ())]))


def sentence(said: str) -> str:
    """Return what is said in the words of the explorer, with a capital letter."""
    words = in_words_of(said, _mention)
    return f"{words[:1].upper()}{words[1:]}"


def _title(argument: str, _: object) -> str:
    """Return the label of the input that an error is about."""
    if argument == "statistics":
        return LABELS["mean"]
    flag = title_of_flag(argument)
    return LABELS.get(argument) or LABELS.get(flag.removeprefix("--")) or flag


def _mention(name: str, value: str) -> str:
    """Return an argument as messages of the explorer name it."""
    if not value and name in _MENTIONS:
        return _MENTIONS[name]
    if (name, value) == ("unit", ROW):
        return f'"{LABELS["unit_is_row"]}"'
    return f"{LABELS[name]} {value}".strip() if name in LABELS else mention_flag(name, value)
