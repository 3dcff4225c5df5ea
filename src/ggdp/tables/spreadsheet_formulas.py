r"""Texts that a spreadsheet takes for a formula when it opens a CSV file.

A spreadsheet evaluates a field that begins with one of a few signs, in quotes or not. An apostrophe before it prevents
that, but a program that reads the file then has another text. So `ggdp.tables.output_files` puts one before texts that
come from the data; declared labels and names of columns, which a program compares with the domain, stay as they are,
and whoever declares such a label is warned when the release is planned.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ggdp.domain.column import Column

# What a formula begins with; the last four are the wide forms of the first, which some spreadsheets accept.
STARTS = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"
# A number is none, though it begins with a sign.
NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"

_FIRST = frozenset(STARTS)
_SHOWN = 3


def formula_warning(columns: Iterable[Column]) -> str | None:
    """Return a warning about labels and names of columns that are formulas in a spreadsheet; None if there are none.

    Examples
    --------
    >>> from ggdp.domain.column import Column
    >>> print(formula_warning([Column(name="change", levels=["-5", "none", "+x"], missing="=0")]))
    '+x', '=0' of 'change': a spreadsheet that opens a CSV file takes such labels for formulas; ...
    """
    found: list[str] = []
    for column in columns:
        # Labels are of one type.
        labels = column.labels if column.labels and isinstance(column.labels[0], str) else ()
        shown = [repr(label) for label in labels if _is_formula(label)]  # type: ignore[arg-type]
        if shown:
            more = f" and {len(shown) - _SHOWN:,} more" if len(shown) > _SHOWN else ""
            found.append(f"{', '.join(shown[:_SHOWN])}{more} of {column.name!r}")
        if _is_formula(column.name):
            found.append(f"the name {column.name!r}")
    if not found:
        return None
    return (
        f"{'; '.join(found)}: a spreadsheet that opens a CSV file takes such labels for formulas; they are published "
        "as declared: rename them, or publish a Parquet file"
    )


def _is_formula(text: str) -> bool:
    return text[:1] in _FIRST and re.fullmatch(NUMBER, text) is None
