"""Everything ggdp can raise, in one tree.

::

    GgdpError
    ├── ArgumentError (ValueError)      an argument is wrong: name, value and the way out
    │   └── ArgumentTypeError (TypeError)  ... because it is of a wrong type
    ├── UnattainableError (ValueError)  the arguments are fine, but what they ask for does not exist
    ├── UnprovedError (ValueError)      nobody has proved that what is asked for is sound, so it is refused
    ├── SearchError                     a search ended without a scale that can be certified
    ├── CertificateError                a certificate does not prove what it claims
    ├── EntropyError                    a source of randomness failed, so no noise was drawn
    ├── DatasetError                    a data set could not be had, or is not the published one
    ├── SourceError                     a source of data could not be read or counted
    │   └── OutOfMemoryError            it does not fit in memory, and may not be written to disk
    └── MissingExtraError (ImportError) an optional part is not installed

    PrivacyWarning (UserWarning)        what is asked for can be done, but protects little

The first three are answers to a call as it was made, so they are a `ValueError` too. No message ever holds a
value that comes from private data: only arguments, which are public, are quoted.
"""

from __future__ import annotations

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "CertificateError",
    "DatasetError",
    "EntropyError",
    "GgdpError",
    "MissingExtraError",
    "OutOfMemoryError",
    "PrivacyWarning",
    "SearchError",
    "SourceError",
    "UnattainableError",
    "UnprovedError",
]


# A value that takes more to show is cut.
_LONGEST = 160


class GgdpError(Exception):
    """Base of every error that ggdp raises on purpose."""


class ArgumentError(GgdpError, ValueError):
    """An argument is wrong.

    Attributes
    ----------
    argument : str
        Name of the argument.
    value : object
        What was passed.
    """

    def __init__(self, argument: str, value: object, expected: str) -> None:
        self.argument = argument
        self.value = value
        self.expected = expected
        super().__init__(argument, value, expected)

    def __str__(self) -> str:
        shown = repr(self.value)
        if len(shown) > _LONGEST:
            shown = f"{shown[: _LONGEST // 2]}...{shown[-_LONGEST // 4 :]}"
        return f"{self.argument} = {shown}: {self.expected}"


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument is of a wrong type; so it is a `TypeError` too, and a `ValueError` as every wrong argument is."""


class UnattainableError(GgdpError, ValueError):
    """What is asked for does not exist, such as pure DP from unbounded noise of an order above 1."""


class UnprovedError(GgdpError, ValueError):
    """What is asked for is not known to be sound, so it is refused rather than guessed."""


class SearchError(GgdpError):
    """A search ended without a scale that can be certified."""


class CertificateError(GgdpError):
    """A certificate does not prove what it claims."""


class EntropyError(GgdpError):
    """A source of randomness failed or came short; no noise was drawn from it."""


class DatasetError(GgdpError):
    """A data set could not be had, or what was found is not the published one."""


class SourceError(GgdpError):
    """A source of data could not be read or counted; what an engine said of it is not repeated, nor kept.

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
            f"source {self.source!r} could not be read or counted. Why is not repeated here, since it may quote "
            "private values; open it with the tools of its own engine to see"
        )


class OutOfMemoryError(SourceError):
    """A source of data does not fit in memory, and nobody named a directory for temporary files."""

    def __str__(self) -> str:
        return (
            f"source {self.source!r} could not be counted in memory. Name a directory for temporary files, on an "
            "encrypted disk, with temp_dir (--temp-dir, or the environment variable GGDP_TEMP_DIR)"
        )


class MissingExtraError(GgdpError, ImportError):
    """An optional part of ggdp is not installed."""


class PrivacyWarning(UserWarning):
    """What is asked for can be done, but protects little: a large epsilon or delta."""


def install_hint(extra: str) -> str:
    """Return the command that installs an optional part of ggdp, from the package index and from a clone."""
    return f"pip install 'ggdp[{extra}]' (in a clone: pip install '.[{extra}]')"
