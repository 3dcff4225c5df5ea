"""The answers that no manifest has: ``deployment.toml``, written by the people who publish. `_KEYS` has its keys.

Every key is optional for the page, which shows what is not answered; the entry of the registry needs some.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from attrs import field, frozen

from ggdp._files import read_toml
from ggdp.errors import ArgumentError

# The questions of the pyramid that only the publisher can answer, in the pyramid's order.
QUESTIONS = {
    "parameters": "Who chose epsilon and delta, and why is what they allow acceptable here?",
    "other_releases": "Which other publications, private or not, are about the same people?",
    "unit": "Is one unit one person? Can somebody be in the data under several units?",
    "preprocessing": "What was done with the data before the release, and was anything chosen by looking at them?",
    "utility": "Who uses the numbers for what, and is the stated error small enough for that?",
    "bias": "Which groups are small or left out, and what does the error do to decisions about them?",
    "query_model": "Who could ask for releases, how often, and who decided which are published?",
    "trust_model": "Who sees the data without noise, and why are they trusted?",
    "timing": "Could anybody measure how long the release took, or watch the machine while it ran?",
    "randomness": "On which machine was the noise drawn, and can its operating system's randomness be trusted?",
    "security": "How are the data protected where they are stored and processed?",
    "access_control": "Who may read the data and run releases, and how is that enforced and recorded?",
    "data_collection": "What was collected, by whom, with which consent, and when is it deleted?",
}
_TEXT, _DATE, _NUMBER, _TEXTS = "a text", "a date, such as 2026-03-31", "a whole number above 0", "a list of texts"
_ADDRESS = "an address that begins with https:// or http://, without spaces"
# Control characters, halves of characters, and those that make text run the other way or look like other text: readers
# of the report would not see what was written.
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufff9-\ufffb]")
_KEYS: dict[str, dict[str, str]] = {
    "product": dict.fromkeys(("name", "description", "intended_use", "region", "sector"), _TEXT) | {"published": _DATE},
    "curators": {"name": _TEXT, "type": _TEXT},
    "answers": dict.fromkeys(QUESTIONS, _TEXT),
    "registry": {"authors": _TEXTS, "data_source": _TEXT, "number_of_units": _NUMBER}
    | dict.fromkeys(("further_releases", "unprotected_quantities"), _TEXT),
    "sources": {"title": _TEXT, "url": _ADDRESS, "type": _TEXT},
    "signatures": {"roles": _TEXTS},
}
_CHOICES = {
    ("product", "sector"): ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance"),
    ("curators", "type"): ("Government", "Industry", "Nonprofit"),
    ("registry", "data_source"): ("Static", "Dynamic"),
    ("sources", "type"): (
        "Peer-reviewed publication",
        "Formal publication by the deploying organization",
        "Authorized organizational attestation",
        "Other public source",
    ),
}


@frozen(kw_only=True)
class Deployment:
    """The answers of a publisher. Made by `read_deployment`.

    Attributes
    ----------
    product, answers, registry, signatures : dict
        The keys of these tables that were given.
    curators, sources : tuple of dict
        The entries of these lists.
    file : str, optional
        The file that they are from.
    """

    product: dict[str, Any] = field(factory=dict)
    curators: tuple[dict[str, Any], ...] = ()
    answers: dict[str, str] = field(factory=dict)
    registry: dict[str, Any] = field(factory=dict)
    sources: tuple[dict[str, Any], ...] = ()
    signatures: dict[str, Any] = field(factory=dict)
    file: str | None = None

    @property
    def roles(self) -> tuple[str, ...]:
        """Who signs."""
        return tuple(self.signatures.get("roles", ("Director", "Data steward")))


NO_ANSWERS = Deployment()


def read_deployment(path: str | os.PathLike[str]) -> Deployment:
    """Return the answers in a file; keys that nobody asks for are refused.

    Parameters
    ----------
    path : str or path
        A TOML file.

    Raises
    ------
    ArgumentError
        If it cannot be read, is not TOML, or has a key or a value that is not known.
    """
    name = os.fspath(path)
    # Longer files are no answers of people.
    found = read_toml(path, argument="deployment", most=1 << 20)
    _require_known(name, found, _KEYS, "")
    tables: dict[str, Any] = {}
    for table, given in ((table, found[table]) for table in _KEYS if table in found):
        keys, several = _KEYS[table], table in ("curators", "sources")
        entries = given if several else [given]
        if not isinstance(entries, list) or not all(isinstance(one, Mapping) for one in entries):
            headed = f"tables, each headed [[{table}]]" if several else f"a table, headed [{table}]"
            raise _wrong(name, f"{table!r} must be {headed}")
        answers = []
        for one in entries:
            _require_known(name, one, keys, table)
            values = {key: _value(name, f"{table}.{key}", value, keys[key]) for key, value in one.items()}
            # An empty text counts as no answer.
            answers.append({key: value for key, value in values.items() if value not in ("", ())})
            for key, value in answers[-1].items():
                if value not in (choices := _CHOICES.get((table, key), (value,))):
                    raise _wrong(name, f"{table}.{key} = {value!r} must be one of {', '.join(map(repr, choices))}")
        tables[table] = tuple(answers) if several else answers[0]
    return Deployment(**tables, file=name)


def _value(name: str, key: str, value: object, kind: str) -> object:
    texts = value if isinstance(value, list) else [value]
    if any(isinstance(one, str) and _UNSEEN.search(one) for one in texts):
        raise _wrong(name, f"{key} has a control character, or one that changes the direction of text; remove it")
    if kind == _ADDRESS and isinstance(value, str) and re.fullmatch(r"https?://[^\s<>\"]+", value.strip()):
        return value.strip()
    if kind == _TEXT and isinstance(value, str):
        return value.strip()
    # A datetime is a date as well, but the day that it names depends on a time zone.
    if kind == _DATE and isinstance(value, date) and not isinstance(value, datetime):
        return value
    if kind == _NUMBER and type(value) is int and value > 0:
        return value
    if kind == _TEXTS and isinstance(value, list) and all(isinstance(one, str) and one.strip() for one in value):
        return tuple(one.strip() for one in value)
    raise _wrong(name, f"{key} = {value!r} must be {kind}")


def _require_known(name: str, given: Mapping[str, Any], known: Mapping[str, Any], table: str) -> None:
    for key in (key for key in given if key not in known):
        where = f" of [{table}]" if table else ""
        near = difflib.get_close_matches(key, known, n=1, cutoff=0.0)[0]
        raise _wrong(name, f"{key!r} is not a key{where}; did you mean {near!r}? The keys are {', '.join(known)}")


def _wrong(name: str, why: str) -> ArgumentError:
    return ArgumentError("deployment", name, why)
