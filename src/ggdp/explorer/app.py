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
from shiny import App, reactive, ui
from starlette.applications import Starlette
from starlette.routing import Mount, Route

import ggdp
from ggdp.errors import ArgumentError
from ggdp.explorer.guard import Guard, is_loopback
from ggdp.explorer.releasing import ReleaseDesk
from ggdp.explorer.settings import from_address, query_string
from ggdp.explorer.uploads import Source, Uploads
from ggdp.explorer.view import Shared
from ggdp.explorer.views import VIEWS
from ggdp.explorer.workers import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from shiny import Inputs, Outputs, Session
    from starlette.requests import Request

    from ggdp.explorer.view import View


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


INTERNAL = "Something went wrong in this view. Change a setting or reload the page; nothing was published or spent."


def application(
    *,
    file: Path | None = None,
    domain: Path | None = None,
    ledger: str | None = None,
    token: str | None = None,
    loopback: bool = True,
) -> Guard:
    """Return the page as an ASGI application.

    Parameters
    ----------
    file : path, optional
        The table to look at; visitors may upload another.
    domain : path, optional
        The domain file of tables.
    ledger : str, optional
        Address of the ledger that releases are charged to.
    token : str, optional
        What visitors must know.
    loopback : bool, default True
        Whether only this machine reaches it; then it answers to the names of loopback addresses only.
    """
    quick, long, uploads, desk = Worker(), Worker(reports=True), Uploads(), ReleaseDesk()

    def interface(request: Request) -> Any:  # noqa: ANN401
        return page(VIEWS, request.query_params)

    def server(input: Inputs, output: Outputs, session: Session) -> None:  # noqa: A002, ARG001 - as Shiny calls them
        shared = Shared(
            quick=quick,
            long=long,
            source=reactive.Value(None if file is None else Source(name=file.name, data=file)),
            uploads=uploads,
            ledger=ledger,
            file=file,
            domain=domain,
            typed=reactive.Value({}),
            desk=desk,
            charged=reactive.Value(0),
        )
        settings = {view.key: view.server(shared) for view in VIEWS}

        @session.on_ended
        def _free() -> None:
            with reactive.isolate():
                source = shared.source()
            if source is not None:
                source.free()

        @reactive.effect
        async def _address() -> None:
            key = input.view()
            found: Any = settings[key]()
            if found is not None:
                await session.send_custom_message("address", {"query": query_string(key, found)})

    shiny = App(interface, server)
    shiny.sanitize_errors = True
    shiny.sanitize_error_msg = INTERNAL

    def close() -> None:
        quick.close()
        long.close()

    shiny.on_shutdown(close)
    quick.warm_up()
    long.warm_up()
    routes = [Route("/upload/{ticket}", uploads.receive, methods=["POST"]), Mount("/", app=shiny)]
    whole = Starlette(routes=routes, lifespan=shiny.starlette_app.router.lifespan_context)
    return Guard(whole, token=token, loopback=loopback, scripts=inline_scripts(VIEWS))


# Hosts that stand for every address of this machine, and are none themselves.
_EVERY = ("0.0.0.0", "::")


def serve(
    *,
    file: Path | None,
    domain: Path | None,
    ledger: str | None,
    host: str,
    port: int,
    token: str | None,
    browser: bool,
    tell: Callable[[str], None],
) -> None:
    """Serve the page until it is interrupted; `tell` is called with its address once it answers.

    Raises
    ------
    ArgumentError
        If the host needs a token, or the port cannot be used.
    """
    loopback = is_loopback(host)
    if token is None and not loopback:
        expected = "is an address that other machines reach; give a secret with --token, or leave out --host"
        raise ArgumentError("host", host, expected)
    listening = _socket(host, port)
    port = listening.getsockname()[1]
    opened = _address("localhost" if host in _EVERY else host, port)
    opened += "" if token is None else f"?token={quote(token, safe='')}"
    app = application(file=file, domain=domain, ledger=ledger, token=token, loopback=loopback)
    config = uvicorn.Config(
        app,
        access_log=False,
        log_config=None,
        log_level="critical",
        server_header=False,
        proxy_headers=False,
        ws_max_size=2**20,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    # Of all addresses of this machine, one that others can open too.
    tell(_address(socket.gethostname() if host in _EVERY else host, port))
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
        server.run([listening])


def _address(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def _socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen()
    except socket.gaierror:
        listening.close()
        raise ArgumentError("host", host, "is not an address of this machine") from None
    except OSError as failed:
        listening.close()
        why = failed.strerror or str(failed)
        raise ArgumentError("port", port, f"cannot be used ({why}); choose another, or 0 for any free port") from None
    return listening
