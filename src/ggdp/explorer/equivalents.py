"""The command line and the Python code that do what a view shows, to be copied."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from attrs import frozen
from htmltools import Tag, tags

if TYPE_CHECKING:
    from collections.abc import Mapping


@frozen(kw_only=True)
class Equivalents:
    """A command line and Python code that do the same as a view."""

    command: str
    python: str


def command(*words: str, **flags: object) -> str:
    """Return a command line of ggdp; a flag that is None is left out, one that is True has no value.

    Examples
    --------
    >>> command("plan", epsilon=1.0, delta=None, max_cells=3)
    'ggdp plan --epsilon 1 --max-cells 3'
    """
    found = ["ggdp", *words]
    for name, value in flags.items():
        if value is None or value is False:
            continue
        found.append("--" + name.replace("_", "-"))
        if value is not True:
            found.append(written(value))
    return shlex.join(found)


def written(value: object) -> str:
    """Return a value as it is typed: a float so that it reads back exactly, and without a needless point.

    Examples
    --------
    >>> written(1.0), written(1e-6), written(0.1)
    ('1', '1e-06', '0.1')
    """
    if isinstance(value, float):
        return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
    return str(value)


def goal_code(notion: str, epsilon: float, delta: float) -> str:
    """Return a goal as Python code; pure DP has no delta.

    Examples
    --------
    >>> goal_code("approximate", 1.0, 1e-6), goal_code("pure", 0.5, 1e-6)
    ('ggdp.ApproxDP(1, 1e-06)', 'ggdp.PureDP(0.5)')
    """
    if notion == "pure":
        return f"ggdp.PureDP({written(epsilon)})"
    kind = {"approximate": "ApproxDP", "probabilistic": "ProbabilisticDP"}[notion]
    return f"ggdp.{kind}({written(epsilon)}, {written(delta)})"


def shown_equivalents(found: Equivalents) -> Tag:
    """Return both texts, folded, each with a button that copies it."""
    blocks: Mapping[str, str] = {"Command line": found.command, "Python": found.python}
    return tags.details(
        tags.summary("Do the same without this page"),
        *(
            tags.div(
                tags.div(
                    tags.span(name, class_="code-name"),
                    tags.button("Copy", type="button", class_="copy", aria_label=f"Copy: {name}"),
                    class_="code-head",
                ),
                tags.pre(tags.code(text), tabindex="0", aria_label=name),
                class_="code",
            )
            for name, text in blocks.items()
        ),
        class_="equivalents",
        open="open",
    )
