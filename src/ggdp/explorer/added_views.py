"""Views that other packages add to the explorer: a choice among a few words, and a page of HTML for each.

A package names its `AddedView` as an entry point of the group ``ggdp.views``. The view needs no Shiny: its function
computes HTML and files in a process of its own, and the explorer shows them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from ggdp.explorer.view import View, Visit


@attrs.frozen(kw_only=True)
class AddedResults:
    """What an added view shows for a choice."""

    html: str  # A fragment of HTML, shown as it is: whatever comes from data must be escaped in it
    files: Mapping[str, bytes]  # the files of the view, by their names


@attrs.frozen(kw_only=True)
class AddedView:
    """A view of the explorer that another package adds."""

    # Its name in the address, and in the navigation.
    key: str
    title: str
    # The name of its one choice in the address, and on the page.
    setting: str
    label: str
    # The words to choose from, with what the page calls them; the first is chosen at the start.
    choices: Mapping[str, str]
    about: str  # A sentence or two below the choice
    files: Mapping[str, str]  # the names of the files that it offers, by the texts of their links
    # A function of a module, called with the chosen word and with ``progress``, a function of the steps done and about
    # how many there are.
    results: Callable[..., AddedResults]
    # Called with the chosen word: a command line and Python code that do the same.
    equivalents: Callable[[str], tuple[str, str]]


def added_views() -> list[View]:
    """Return the views that installed packages add."""
    return [_view_of(entry.load()) for entry in sorted(entry_points(group="ggdp.views"))]


def _view_of(added: AddedView) -> View:
    from htmltools import HTML, TagChild, tags

    from ggdp._records import named_checks
    from ggdp.explorer.settings import choice
    from ggdp.explorer.view import Background, View, choices

    kind = attrs.make_class(
        "Settings", {added.setting: choice(*added.choices)}, frozen=True, kw_only=True, field_transformer=named_checks
    )

    def inputs(settings: object) -> list[TagChild]:
        return [choices(settings, added.setting, added.label, added.choices), tags.p(added.about, class_="hint")]

    def serve(visit: Visit[Any]) -> None:
        run = Background(visit, added.results, lambda: (getattr(visit.require_settings(), added.setting),))
        visit.show("status", run.status)
        visit.show("results", lambda: None if (found := run.result()) is None else HTML(found.html))
        visit.offer(added.files, run.result)
        visit.show_code(lambda settings: added.equivalents(getattr(settings, added.setting)))

    return View(key=added.key, title=added.title, settings=kind, inputs=inputs, serve=serve)
