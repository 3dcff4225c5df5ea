"""The explorer: its page, its server, and what happens when an input changes.

The server listens on a free port, opens a browser, and logs nothing from the data.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import threading
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import uvicorn
from htmltools import HTMLDependency, tags
from shiny import App, Inputs, Outputs, Session, reactive, ui
from starlette.applications import Starlette
from starlette.routing import Mount, Route

import ggdp
from ggdp.errors import ArgumentError
from ggdp.explorer.guard import Guard, is_loopback
from ggdp.explorer.releasing import Confirmations
from ggdp.explorer.settings import from_address, query_string
from ggdp.explorer.studies import open_study
from ggdp.explorer.uploads import Source, Uploads
from ggdp.explorer.view import Shared
from ggdp.explorer.views import VIEWS
from ggdp.explorer.views.release_view import RELEASE
from ggdp.explorer.workers import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ggdp.tables.study import Study


INTERNAL = "Something went wrong in this view. Change a setting or reload the page; nothing was published or spent."
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


def page(parameters: Mapping[str, str], filled: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401 - of Shiny
    """Return the page with the view and the settings that an address holds, if any, or those filled in."""
    usual = VIEWS[0].key if filled is None else RELEASE.key
    first = next((view.key for view in VIEWS if view.key == parameters.get("view")), usual)
    filled = filled if filled is not None and parameters.keys() <= {"view"} else {}
    panels = []
    for view in VIEWS:
        title = tags.h2(view.title, class_="visually-hidden")
        shown = view.ui(from_address(view.settings, {**filled, **(parameters if view.key == first else {})}))
        panels.append(ui.nav_panel(view.title, title, shown, value=view.key))
    assets = HTMLDependency(
        "ggdp-explorer",
        ggdp.__version__,
        source={"subdir": str(Path(__file__).parent / "assets")},
        script={"src": "explorer.js"},
        stylesheet={"href": "explorer.css"},
    )
    heading = tags.h1("ggdp", tags.span("see what each choice does, before it is made", class_="tagline"))
    theme = tags.button("Light or dark", type="button", id="theme", class_="theme")
    about = f"ggdp {ggdp.__version__}. This page runs on your own machine and sends nothing anywhere else."
    content = ui.page_fluid(
        tags.a("Skip to the content", href="#content", class_="skip"),
        tags.header(heading, theme, class_="top"),
        tags.main(ui.navset_underline(*panels, id="view", selected=first), id="content", tabindex="-1"),
        tags.footer(about, class_="bottom"),
        assets,
    )
    body: Any = next(child for child in content.children if getattr(child, "name", "") == "body")
    # What Shiny adds by itself, and inputs that the page does without: native ones are lighter and read out better.
    unused = {"requirejs", "jquery", "shiny", "shiny-busy-indicators"}
    unused |= {"ionrangeslider", "strftime", "bootstrap-datepicker", "selectize"}
    needed = [one for one in content.get_dependencies() if one.name not in unused]
    return ui.page_html(DOCUMENT.replace("{body}", str(tags.div(*body.children, class_="page"))), extra_deps=needed)


def application(
    *,
    file: Path | None = None,
    domain: Path | None = None,
    study: tuple[Path, Study] | None = None,
    ledger: str | None = None,
    token: str | None = None,
    loopback: bool = True,
) -> Guard:
    """Return the explorer as an ASGI application; its arguments are those of `serve` and of `Guard`."""
    quick, long, uploads, confirmations = Worker(), Worker(reports=True), Uploads(), Confirmations()
    opened, filled = None, None
    if study is not None:
        opened, filled = open_study(study[1], study[0].name, RELEASE.settings, str(study[0].parent))

    def server(input: Inputs, output: Outputs, session: Session) -> None:  # noqa: A002, ARG001 - as Shiny calls them
        shared = Shared(
            quick=quick,
            long=long,
            source=reactive.Value(None if file is None else Source(file.name, file)),
            uploads=uploads,
            study=reactive.Value(opened),
            ledger=ledger,
            domain=domain,
            typed=reactive.Value({}),
            confirmations=confirmations,
            charged=reactive.Value(0),
        )
        settings = {view.key: view.server(shared) for view in VIEWS}

        @session.on_ended
        def _free() -> None:
            with reactive.isolate():
                source = shared.source()
            if source is not None:
                source.close()

        @reactive.effect
        async def _address() -> None:
            key = input.view()
            found: Any = settings[key]()
            if found is not None:
                await session.send_custom_message("address", {"query": query_string(key, found)})

    shiny = App(lambda request: page(request.query_params, filled), server)
    shiny.sanitize_errors = True
    shiny.sanitize_error_msg = INTERNAL
    for worker in (quick, long):
        shiny.on_shutdown(worker.close)
        worker.warm_up()
    routes = [Route("/upload/{ticket}", uploads.receive, methods=["POST"]), Mount("/", app=shiny)]
    whole = Starlette(routes=routes, lifespan=shiny.starlette_app.router.lifespan_context)
    # The policy allows the scripts that stand in the page itself, which are Shiny's, and no others.
    scripts = re.findall(r"<script>(.*?)</script>", page({}).render(lib_prefix="lib/")["html"], re.DOTALL)
    return Guard(whole, token=token, loopback=loopback, scripts=scripts)


def serve(
    *,
    file: Path | None,
    domain: Path | None,
    study: tuple[Path, Study] | None,
    ledger: str | None,
    host: str,
    port: int,
    token: str | None,
    browser: bool,
    tell: Callable[[str], None],
) -> None:
    """Serve the explorer until it is interrupted; `tell` is called with its address once it answers.

    Views look at the table of `file`, unless a visitor uploads another, with the domain file `domain`. A `study`, with
    its file before it, is open from the start; its paths are as in the file. Releases are charged to
    `ledger`. Visitors must know the token, if there is one. An `ArgumentError` is raised if the host needs a token, or
    the port cannot be used.
    """
    loopback = is_loopback(host)
    if token is None and not loopback:
        expected = "is an address that other machines reach; give a secret with --token, or leave out --host"
        raise ArgumentError("host", host, expected)
    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen()
    except OSError as failed:
        listening.close()
        if isinstance(failed, socket.gaierror):
            raise ArgumentError("host", host, "is not an address of this machine") from None
        why = failed.strerror or str(failed)
        raise ArgumentError("port", port, f"cannot be used ({why}); choose another, or 0 for any free port") from None
    port = listening.getsockname()[1]
    # What to open here, and elsewhere: some hosts stand for every address of this machine, and are none themselves.
    named = [f"[{host}]" if ":" in host else host] * 2
    here, elsewhere = ("localhost", socket.gethostname()) if host in ("0.0.0.0", "::") else named
    opened = f"http://{here}:{port}/" + ("" if token is None else f"?token={quote(token, safe='')}")
    config = uvicorn.Config(
        application(file=file, domain=domain, study=study, ledger=ledger, token=token, loopback=loopback),
        access_log=False,
        log_config=None,
        log_level="critical",
        server_header=False,
        proxy_headers=False,
        ws_max_size=2**20,
        timeout_graceful_shutdown=1,
    )
    tell(f"http://{elsewhere}:{port}/")
    if browser:
        threading.Timer(0.5, webbrowser.open, [opened]).start()
    # To be told to stop is as good as Ctrl-C: the processes that compute are stopped too.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    # Libraries print errors with their messages, which may quote data: they are not shown. Ctrl-C is how it ends.
    with (
        listening,
        open(os.devnull, "w") as nothing,
        contextlib.redirect_stderr(nothing),
        contextlib.suppress(KeyboardInterrupt),
    ):
        uvicorn.Server(config).run([listening])
