"""What an attacker learns: beliefs about one person, before and after a release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htmltools import TagList, tags

from ggdp.explorer.noise_results import AttackerResults, AttackerSettings, attacker_equivalents, attacker_results
from ggdp.explorer.view import Download, View, choices, csv_of, group, quantity, svg_of
from ggdp.explorer.views.noise import NEIGHBOURS, promise_form
from ggdp.explorer.widgets import facts, headline, shown, text_table

if TYPE_CHECKING:
    from htmltools import TagChild

    from ggdp.explorer.view import Visit

_HEADER = ("Before", "After, at least", "After, at most", "Best guess right")


def _inputs(settings: AttackerSettings) -> list[TagChild]:
    promise = promise_form(settings, "Of all that is published about the same people, together.")
    believed = "How likely the attacker thinks it before anything is published."
    return [
        group("Promise", *promise, choices(settings, "neighbours", "What is protected", NEIGHBOURS)),
        group("Attacker", quantity(settings, "prior", "Believed before, in %", believed)),
    ]


def _serve(visit: Visit[AttackerSettings]) -> None:
    learned = visit.computed(attacker_results, lambda: (visit.checked(),), lambda: visit.shared.quick)
    visit.show_status(learned.status)
    visit.show("results", learned.result, _drawn)
    visit.offer(
        Download("Beliefs (CSV)", "beliefs.csv", learned.result, csv_of),
        Download("Beliefs (SVG)", "beliefs.svg", learned.result, svg_of),
    )
    visit.show_equivalents(attacker_equivalents)


def _drawn(found: AttackerResults) -> TagList:
    return TagList(
        headline(found.change, found.said),
        tags.p(found.exception, class_="lead") if found.exception else None,
        tags.div(
            tags.section(tags.h3(found.picture.title), shown(found.picture)),
            text_table(_HEADER, found.rows, "For other attackers", numbers_from=0),
            class_="pair",
        ),
        facts(found.facts, "What exactly is true"),
    )


ATTACKER = View(
    key="attacker", title="What an attacker learns", settings=AttackerSettings, inputs=_inputs, serve=_serve
)
