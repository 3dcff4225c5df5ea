"""The page around the views: heading, navigation, colours."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from htmltools import HTMLDependency, tags
from shiny import ui

import ggdp
from ggdp.explorer.settings import from_address

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ggdp.explorer.view import View

__all__ = ["inline_scripts", "page"]

# What Shiny adds by itself, and inputs that the page does without: native ones are lighter and read out better.
UNUSED = {
    *("requirejs", "jquery", "shiny", "shiny-busy-indicators"),
    *("ionrangeslider", "strftime", "bootstrap-datepicker", "selectize"),
}
ASSETS = Path(__file__).parent / "assets"


# The document is our own: Shiny would nest one in another.
DOCUMENT = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>ggdp explore</title>
<link rel="icon" href="data:,">
<meta name="shiny-dependency-placeholder" content="">
</head>
<body>
{body}
</body>
</html>
"""


def page(views: Sequence[View], parameters: Mapping[str, str]) -> Any:  # noqa: ANN401 - of Shiny, without a public name
    """Return the page, with the view and the settings that an address holds."""
    first = next((view.key for view in views if view.key == parameters.get("view")), views[0].key)
    panels = [
        ui.nav_panel(
            view.title,
            tags.h2(view.title, class_="visually-hidden"),
            view.ui(from_address(view.settings, parameters if view.key == first else {})),
            value=view.key,
        )
        for view in views
    ]
    content = ui.page_fluid(
        tags.a("Skip to the content", href="#content", class_="skip"),
        tags.header(
            tags.h1("ggdp", tags.span("see what each choice does, before it is made", class_="tagline")),
            tags.button("Light or dark", type="button", id="theme", class_="theme"),
            class_="top",
        ),
        tags.main(ui.navset_underline(*panels, id="view", selected=first), id="content", tabindex="-1"),
        tags.footer(
            f"ggdp {ggdp.__version__}. This page runs on your own machine and sends nothing anywhere else.",
            class_="bottom",
        ),
        _assets(),
    )
    body: Any = next(child for child in content.children if getattr(child, "name", "") == "body")
    return ui.page_html(
        DOCUMENT.replace("{body}", str(tags.div(*body.children, class_="page"))),
        extra_deps=[one for one in content.get_dependencies() if one.name not in UNUSED],
    )


def inline_scripts(views: Sequence[View]) -> list[str]:
    """Return the scripts that stand in the page itself: Shiny's, for the policy that allows these and no others."""
    return re.findall(r"<script>(.*?)</script>", page(views, {}).render(lib_prefix="lib/")["html"], re.DOTALL)


def _assets() -> HTMLDependency:
    return HTMLDependency(
        "ggdp-explorer",
        ggdp.__version__,
        source={"subdir": str(ASSETS)},
        script={"src": "explorer.js"},
        stylesheet={"href": "explorer.css"},
    )
