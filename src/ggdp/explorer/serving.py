"""Serving the page: an address that is free, a browser, and a log without anything from the data."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
import webbrowser
from typing import TYPE_CHECKING
from urllib.parse import quote

import uvicorn

from ggdp.errors import ArgumentError
from ggdp.explorer.app import application
from ggdp.explorer.guard import is_loopback

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["serve"]

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
