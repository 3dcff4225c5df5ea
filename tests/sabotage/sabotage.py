"""One change to the source that breaks a promise, with the tests that must fail on it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sabotage:
    """What is changed where, and which tests see it.

    The text `old` occurs exactly once in the file. The tests are named by their ids, a few for each sabotage, so that
    all of them run in minutes.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
