"""Plain text with the names of symbols, as HTML with the symbols themselves.

==================  ==========================================
epsilon_2, Delta_p  Greek letters, with what they are marked by below
b^2, p^(1/p)        powers above the line
1e-4                a power of ten
>=, <=, x = -1      signs as they are set
==================  ==========================================
"""

from __future__ import annotations

import re

from markupsafe import Markup, escape

__all__ = ["as_html", "sentence"]

_GREEK = {
    "epsilon": "ε",
    "delta": "δ",
    "sigma": "σ",
    "tau": "τ",
    "gamma": "γ",
    "Delta": "Δ",
    "Gamma": "Γ",
    "Phi": "Φ",
    "sum": "Σ",
}
_MARKED = re.compile(r"\b(epsilon|delta|sigma|Delta|sum)_")
_LETTERS = re.compile(r"\b(" + "|".join(name for name in _GREEK if name != "sum") + r")(?![a-z])")
_BELOW = re.compile(r"(?<=[ΔεδσΣlscDpQ|])_([A-Za-z0-9*]+)")
# A full stop after a power ends the sentence.
_ABOVE = re.compile(r"\^(?:\(([^()]*)\)|([-−]?[A-Za-z0-9]+(?:\.[0-9]+)?))")
_TEN = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-]?)0*(\d+)\b")
_ROOT = re.compile(r"\bsqrt ?(?=[\d(a-z])")
_MINUS = re.compile(r"(?<![\w)\]|>*-])-(?=[\d.(A-Za-zΦ√|])")


def sentence(text: str) -> str:
    """Return words as a sentence.

    Examples
    --------
    >>> sentence("not private")
    'Not private.'
    """
    return f"{text[:1].upper()}{text[1:]}."


def as_html(text: str) -> Markup:
    """Return plain text as HTML.

    Examples
    --------
    >>> print(as_html("(epsilon, delta)-pDP at b^2 >= 1e-4 Delta_1"))
    (ε, δ)-pDP at b<sup>2</sup> ≥ 10<sup>−4</sup> Δ<sub>1</sub>
    """
    found = str(escape(text))
    found = _MARKED.sub(lambda word: f"{_GREEK[word[1]]}_", found)
    found = _LETTERS.sub(lambda word: _GREEK[word[1]], found)
    found = found.replace("+-", "±").replace("&gt;=", "≥").replace("&lt;=", "≤")
    found = _TEN.sub(_power_of_ten, found)
    found = _ROOT.sub("√", found)
    found = _MINUS.sub("−", found)
    found = _BELOW.sub(r"<sub>\1</sub>", found)
    found = _ABOVE.sub(lambda power: f"<sup>{(power[1] or power[2]).replace('-', '−')}</sup>", found)
    return Markup(found.replace(" - ", " − "))


def _power_of_ten(number: re.Match[str]) -> str:
    sign = "−" if number[2] == "-" else ""
    power = f"10<sup>{sign}{number[3]}</sup>"
    return power if number[1] == "1" else f"{number[1]} × {power}"
