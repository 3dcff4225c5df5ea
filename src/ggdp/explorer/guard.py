"""Who may talk to the page: checks before every request, and headers of every answer.

==========  ==========================================================================================
host        on a loopback address, the Host header must name it: a web site whose name is made to point to this
            machine (DNS rebinding) has its own name there
origin      a websocket, and whatever changes something, must come from a page of this server
token       on another address, a secret: once in the address, from then on in a cookie, or in a header
headers     scripts, pictures and connections from this server only; nothing is stored or framed
==========  ==========================================================================================
"""

from __future__ import annotations

import hmac
import re
from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "ggdp-token"
# An address of IPv6 in brackets, or a name or an address of IPv4; and perhaps a port.
_HOST = re.compile(r"(?:\[([0-9a-f]*:[0-9a-f:.]*)\]|([a-z0-9._-]+))(?::[0-9]{1,5})?", re.ASCII | re.IGNORECASE)
# Pictures of matplotlib, and Shiny, have style attributes.
_POLICY = (
    "default-src 'self'; script-src 'self'{scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "font-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
)
_HEADERS = {
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


def is_loopback(host: str) -> bool:
    """Return whether an address is one that only this machine reaches."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        # A name, which may point anywhere, whatever it begins with.
        return False


class Guard:
    """An ASGI application that lets a request through to another, `inner`, if it may be answered.

    Visitors must know the token, if there is one. With `loopback`, it answers to the names of loopback addresses only.
    The scripts may stand in a page itself; all others are files of this server.
    """

    def __init__(self, inner: ASGIApp, *, token: str | None, loopback: bool, scripts: Iterable[str] = ()) -> None:
        digests = [b64encode(sha256(script.encode()).digest()).decode() for script in scripts]
        policy = _POLICY.format(scripts="".join(f" 'sha256-{digest}'" for digest in digests))
        self.headers = {"content-security-policy": policy, **_HEADERS}
        self.inner = inner
        self.token = token
        self.loopback = loopback

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self.inner(scope, receive, send)
            return
        headers = Headers(scope=scope)
        query = dict(parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True))
        answer: ASGIApp
        # An address in the place of a path names a host of its own.
        if self.loopback and not (is_loopback(_name(headers)) and scope["path"].startswith("/")):
            answer = _refusal(421, "This page answers to the name localhost only.")
        elif not self._is_own(scope, headers):
            answer = _refusal(403, "This request does not come from a page of this server.")
        elif self.token is not None and not self._knows(headers, query):
            answer = _refusal(401, "Add ?token=... to the address, with the token of ggdp explore.")
        elif self.token is not None and "token" in query and scope["type"] == "http":
            # The token goes from the address into a cookie. Browsers send it with a link in somebody's mail (lax), but
            # with nothing else that another site starts.
            rest = urlencode({name: value for name, value in query.items() if name != "token"})
            redirect = RedirectResponse("/" + (f"?{rest}" if rest else ""), status_code=303)
            redirect.set_cookie(COOKIE, self.token, httponly=True, samesite="lax", path="/")
            answer = redirect
        elif "/upload/" in scope["path"] and not scope["path"].startswith("/upload/"):
            # Shiny's own uploads are files.
            answer = _refusal(404, "Not found.")
        else:
            await self.inner(scope, receive, self._with_headers(send, scope["path"]))
            return
        await answer(scope, receive, self._with_headers(send))

    def _is_own(self, scope: Scope, headers: Headers) -> bool:
        """Return whether a websocket, or a request that changes something, comes from a page of this server."""
        if scope["type"] == "http" and scope["method"] in ("GET", "HEAD"):
            return True
        scheme, _, place = headers.get("origin", "").partition("://")
        return scheme in ("http", "https") and _HOST.fullmatch(place) is not None and place == headers.get("host")

    def _knows(self, headers: Headers, query: dict[str, str]) -> bool:
        assert self.token is not None
        # As browsers send them: other servers on this host, on any port, may have set any others beside it.
        cookies = cookie_parser(headers.get("cookie", ""))
        scheme, _, secret = headers.get("authorization", "").partition(" ")
        found = [query.get("token"), cookies.get(COOKIE)]
        found += [secret] if scheme.lower() == "bearer" else []
        # Every one is compared, and each in a time that does not depend on where it differs.
        same = [hmac.compare_digest(one.encode(), self.token.encode()) for one in found if one is not None]
        return any(same)

    def _with_headers(self, send: Send, path: str = "") -> Send:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(self.headers)
                # Scripts and styles have their version in their address.
                kept = path.startswith("/lib/") and message["status"] == 200
                headers["cache-control"] = "private, max-age=3600" if kept else "no-store"
            await send(message)

        return sending


def _refusal(status: int, words: str) -> ASGIApp:
    async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": words})
        else:
            await PlainTextResponse(f"{words}\n", status_code=status)(scope, receive, send)

    return refuse


def _name(headers: Headers) -> str:
    """Return the name in the Host header, without its port; nothing if it is malformed, missing or there twice."""
    found = _HOST.fullmatch("".join(headers.getlist("host")[:1]))
    return (found[1] or found[2]).lower() if found and len(headers.getlist("host")) == 1 else ""
