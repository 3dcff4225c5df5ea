"""The exceptions of ggdp, in one tree.

::

    GgdpError
    ├── ArgumentError (ValueError)      an argument is wrong: its name, its value and how to fix it
    │   └── ArgumentTypeError (TypeError)  ... because it is of a wrong type
    ├── UnattainableError (ValueError)  the arguments are valid, but no mechanism fulfils them
    ├── UnprovedError (ValueError)      the request is not proved to be sound, so it is refused
    ├── SearchError                     a search ended without a scale that can be certified
    ├── CertificateError                a certificate does not prove what it claims
    ├── EntropyError                    a source of randomness failed, so no noise was drawn
    ├── DatasetError                    a data set could not be obtained, or differs from the published one
    ├── SourceError                     a source of data could not be read or counted
    │   ├── ChangedSourceError          it was not the same each time it was read
    │   └── OutOfMemoryError            it does not fit in memory, and no directory for temporary files is set
    ├── LedgerError                     a ledger cannot be opened, read or written, or cannot take a request
    │   ├── BudgetExceededError         a release does not fit in what remains; nothing was charged
    │   └── TamperingError              the entries of a ledger are not those that were written
    └── MissingExtraError (ImportError) an optional part is not installed

    PrivacyWarning (UserWarning)        the request can be fulfilled, but protects little

The first three are about the arguments of a call, so they are also a `ValueError`. No message ever holds a
value that comes from private data: only arguments, which are public, are quoted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

# A longer representation of a value is shortened.
_LONGEST = 160


class Message(str):
    """A message that names arguments; each door of ggdp writes their names in its own words.

    As a string it is in the words of Python. In the template, ``{unit}`` is the argument `unit` and ``{count:rows}``
    the argument `count` with the value "rows", unless a keyword has that name: then its value is inserted.

    Examples
    --------
    >>> message = Message("needs {unit}, or {count:rows} of {number:,} rows", number=1000)
    >>> print(message)
    needs `unit`, or `count="rows"` of 1,000 rows
    >>> message.in_words_of(lambda name, value: f"--{name} {value}".strip())
    'needs --unit, or --count rows of 1,000 rows'
    """

    template: str
    inserted: dict[str, object]

    def __new__(cls, template: str, **inserted: object) -> Message:
        """Return the message in the words of Python."""
        made = super().__new__(cls, template.format_map(_Words(inserted, name_in_python)))
        made.template, made.inserted = template, inserted
        return made

    def in_words_of(self, name: Callable[[str, str], str]) -> str:
        """Return the message with arguments as `name` writes them, given the name and the value ("" if none)."""
        return self.template.format_map(_Words(self.inserted, name))

    def __reduce__(self) -> tuple[object, ...]:
        return partial(Message, self.template, **self.inserted), ()


def in_words_of(message: str, name: Callable[[str, str], str]) -> str:
    """Return a message, plain or a `Message`, with arguments as `name` writes them."""
    return message.in_words_of(name) if isinstance(message, Message) else message


def name_in_python(name: str, value: str) -> str:
    """Return an argument, perhaps with a value, as Python callers read it in messages."""
    if not value:
        return f"`{name}`"
    is_text = value not in ("True", "False") and not value.replace(".", "", 1).isdecimal()
    return f'`{name}="{value}"`' if is_text else f"`{name}={value}`"


class _Words(dict[str, object]):
    """What a template is filled with: values, and the names of arguments in the words of a door."""

    def __init__(self, inserted: dict[str, object], name: Callable[[str, str], str]) -> None:
        super().__init__(inserted)
        self._name = name

    def __missing__(self, key: str) -> _Argument:
        return _Argument(key, self._name)


class _Argument:
    def __init__(self, key: str, name: Callable[[str, str], str]) -> None:
        self._key, self._name = key, name

    def __format__(self, value: str) -> str:
        return self._name(self._key, value)


class GgdpError(Exception):
    """Base class of all errors that ggdp raises."""


class ArgumentError(GgdpError, ValueError):
    """An argument is wrong.

    Attributes
    ----------
    argument : str
        Name of the argument, or of the field of a request, that the error is about.
    value : object
        What was passed.
    expected : str
        What is wrong and what to do; a `Message` where it names other arguments.
    """

    def __init__(self, argument: str, value: object, expected: str) -> None:
        self.argument, self.value, self.expected = argument, value, expected
        super().__init__(argument, value, expected)

    def __str__(self) -> str:
        try:
            shown = repr(self.value)
        except (RecursionError, ValueError):
            # An integer of more digits than Python prints, or a list in thousands of others.
            shown = f"a value of type {type(self.value).__name__}"
        if len(shown) > _LONGEST:
            shown = f"{shown[: _LONGEST // 2]}...{shown[-_LONGEST // 4 :]}"
        return f"{self.argument} = {shown}: {self.expected}"


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument has the wrong type. Also a `TypeError`, and a `ValueError` like every `ArgumentError`."""


class UnattainableError(GgdpError, ValueError):
    """What is requested does not exist, such as pure DP from unbounded noise of an order above 1."""


class UnprovedError(GgdpError, ValueError):
    """What is requested is not known to be sound, so it is refused."""


class SearchError(GgdpError):
    """A search ended without a scale that can be certified."""


class CertificateError(GgdpError):
    """A certificate does not prove what it claims."""


class EntropyError(GgdpError):
    """A source of randomness failed or returned too few bytes; no noise was drawn from it."""


class DatasetError(GgdpError):
    """A data set could not be obtained, or differs from the published one."""


class SourceError(GgdpError):
    """A source of data could not be read or counted. The message of the engine is not repeated: it may quote data.

    Attributes
    ----------
    source : str
        The source as the caller named it: a path, or the type of a frame.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        super().__init__(source)

    def __str__(self) -> str:
        return (
            f"source {self.source!r} could not be read or counted. If it is a file, it may be damaged or incomplete: "
            "write it again. The reason is not shown, since it may quote private values; open the source with its own "
            "engine to see it"
        )


class ChangedSourceError(SourceError):
    """A source of data was not the same each time it was read: its tables have different totals."""

    def __str__(self) -> str:
        return (
            f"source {self.source!r} changed while it was read: tables of the same rows do not have the same total. "
            "Nothing was published, but a ledger stays charged; read a copy, or a frame that is the same each time"
        )


class OutOfMemoryError(SourceError):
    """A source of data does not fit in memory, and no directory for temporary files is set."""

    def __str__(self) -> str:
        return (
            f"source {self.source!r} could not be counted in memory. Name a directory for temporary files, on an "
            "encrypted disk, with temp_dir (--temp-dir, or the environment variable GGDP_TEMP_DIR)"
        )


class LedgerError(GgdpError):
    """A ledger cannot be opened, read or written, or cannot take a request. Nothing was released."""


class BudgetExceededError(LedgerError):
    """A release does not fit in what remains of a budget. Nothing was charged, and no data were read.

    Attributes
    ----------
    requested, remaining : Balance
        What the release would have cost, and what remains (`ggdp.ledger.Balance`).
    """

    def __init__(self, message: str, *, requested: object, remaining: object) -> None:
        # Records of a package that imports this one.
        self.requested: Any = requested
        self.remaining: Any = remaining
        super().__init__(message)

    def __reduce__(self) -> tuple[object, ...]:
        return partial(type(self), str(self), requested=self.requested, remaining=self.remaining), ()


class TamperingError(LedgerError):
    """The entries of a ledger are not those that were written: some were edited, removed, added or reordered."""


class MissingExtraError(GgdpError, ImportError):
    """An optional part of ggdp is not installed."""


class PrivacyWarning(UserWarning):
    """The request can be fulfilled, but protects little.

    Epsilon or delta is large; or a declared label is a formula to a spreadsheet, which may run on a reader's machine.
    """


def install_hint(extra: str) -> str:
    """Return the commands that install an optional part of ggdp: in a clone, and elsewhere without an index for it."""
    return f"pip install '.[{extra}]' in a clone of ggdp, or pip install 'ggdp[{extra}]' where ggdp is installed"
