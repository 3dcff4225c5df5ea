"""The application: the page, and what happens when its inputs change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shiny import App, reactive
from starlette.applications import Starlette
from starlette.routing import Mount, Route

from ggdp.explorer.guard import Guard
from ggdp.explorer.page import inline_scripts, page
from ggdp.explorer.releasing import ReleaseDesk
from ggdp.explorer.settings import query_string
from ggdp.explorer.uploads import Source, Uploads
from ggdp.explorer.view import Shared
from ggdp.explorer.views import VIEWS
from ggdp.explorer.workers import Worker

if TYPE_CHECKING:
    from pathlib import Path

    from shiny import Inputs, Outputs, Session
    from starlette.requests import Request

__all__ = ["application"]

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
