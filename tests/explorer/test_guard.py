"""Who may talk to the page: host names, origins, tokens, and the headers of every answer."""

import pytest
from starlette.responses import PlainTextResponse
from tests.explorer.awaiting import awaited

from ggdp.explorer.guard import COOKIE, Guard, is_loopback

TOKEN = "a-token-of-enough-characters"


async def page(scope, receive, send):
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    await PlainTextResponse("data")(scope, receive, send)


def asked(guard, *, kind="http", method="GET", path="/", query="", scope=None, **headers):
    """What a guard answers: status or type, headers, and text."""
    scope = {
        "type": kind,
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()],
        **(scope or {}),
    }
    sent = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    awaited(guard(scope, receive, send))
    if kind == "websocket":
        return sent[0]["type"]
    found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], found, b"".join(message.get("body", b"") for message in sent[1:]).decode()


local = Guard(page, token=None, loopback=True, scripts=["console.log(1)"])
remote = Guard(page, token=TOKEN, loopback=False)
HERE = {"host": "localhost:8500"}


@pytest.mark.parametrize("host", ["localhost:8500", "127.0.0.1:1", "[::1]:8500", "127.0.0.1", "LocalHost"])
def test_a_loopback_page_answers_to_names_of_loopback(host):
    assert asked(local, host=host)[0] == 200


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:8500", "127.0.0.1.evil.example", "localhost.evil.example"),
        *("", "10.0.0.1:8500", "[", "[::1"),
        # What parsers of addresses take for the name localhost, or cut off before they look.
        *("x@127.0.0.1:8765", "evil.example@localhost", "127.0.0.1#.evil.example", "localhost?.evil.example"),
        *("localhost/.evil.example", "localhost\\.evil.example", "localhost:8500@evil.example", "localhost."),
        *("127.0.0.1.", "127.0.0.1:", "127.0.0.1:8a", "127.0.0.1:8500:80", "127.0.0.1:-1", "localhost:123456"),
        *(" localhost", "localhost ", "local\thost", "localhost,evil.example", "localhost\x00.evil.example"),
        *("[::1].evil.example", "[::1]x:80", "[::1%25eth0]", "[::1%lo]", "[127.0.0.1]", "[localhost]", "::1"),
        *("127.1", "0x7f.0.0.1", "2130706433", "127.0.0.1%20", "http://localhost", "[::1]]", "[[::1]"),
    ],
)
def test_a_name_that_was_made_to_point_here_is_refused(host):
    status, _, text = asked(local, host=host)
    assert status == 421
    assert "data" not in text
    assert asked(local, kind="websocket", host=host, origin=f"http://{host}") == "websocket.close"


@pytest.mark.parametrize(
    "hosts", [(), ("localhost", "evil.example"), ("evil.example", "localhost"), ("localhost",) * 2]
)
def test_a_request_has_one_host(hosts):
    scope = {"headers": [(b"host", host.encode()) for host in hosts]}
    assert asked(local, scope=scope)[0] == 421


@pytest.mark.parametrize("path", ["http://evil.example/", "evil.example", "*", ""])
def test_an_address_in_the_place_of_a_path_is_refused(path):
    assert asked(local, path=path, **HERE)[0] == 421


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        ("http://localhost:8500", True),
        ("http://localhost:8501", False),
        ("https://evil.example", False),
        ("null", False),
        ("http://[", False),
        ("http://x@localhost:8500", False),
        ("http://localhost:8500/", False),
        ("http://localhost:8500#", False),
        ("ftp://localhost:8500", False),
        ("localhost:8500", False),
        ("//localhost:8500", False),
    ],
)
def test_a_websocket_and_an_upload_come_from_a_page_of_this_server(origin, allowed):
    assert (asked(local, kind="websocket", origin=origin, **HERE) == "websocket.accept") is allowed
    assert (asked(local, method="POST", path="/upload/x", origin=origin, **HERE)[0] == 200) is allowed


def test_a_websocket_without_an_origin_is_refused():
    assert asked(local, kind="websocket", **HERE) == "websocket.close"


def test_files_are_not_uploaded_by_shinys_own_way():
    status, _, _ = asked(local, method="POST", path="/session/x/upload/1", origin="http://localhost:8500", **HERE)
    assert status == 404


@pytest.mark.parametrize(
    ("headers", "query", "status"),
    [
        ({}, "", 401),
        ({}, "token=wrong", 401),
        ({}, "token=", 401),
        ({"authorization": f"Bearer {TOKEN}"}, "", 200),
        ({"authorization": f"Basic {TOKEN}"}, "", 401),
        ({"cookie": f"{COOKIE}=wrong"}, "", 401),
    ],
)
def test_without_the_token_nothing_is_shown(headers, query, status):
    found = asked(remote, query=query, host="box:1", **headers)
    assert found[0] == status
    assert ("data" in found[2]) is (status == 200)


def test_a_token_in_the_address_moves_into_a_cookie_that_scripts_cannot_read():
    status, headers, _ = asked(remote, query=f"view=noise&token={TOKEN}", host="box:1")
    assert status == 303
    assert headers["location"] == "/?view=noise"
    cookie = headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=lax" in cookie.lower()
    value = cookie.partition(";")[0]
    assert asked(remote, host="box:1", cookie=value)[0] == 200


@pytest.mark.parametrize("other", ["a[b]=1", "a{b=1", "expires=1", 'x="a b', "plain", 'a={"x":1,"y":2}'])
def test_cookies_of_other_servers_on_the_same_host_lock_nobody_out(other):
    assert asked(remote, host="box:1", cookie=f"{other}; {COOKIE}={TOKEN}")[0] == 200
    assert asked(remote, host="box:1", cookie=f"{other}; {COOKIE}=wrong")[0] == 401


def test_answers_allow_nothing_from_elsewhere():
    _, headers, _ = asked(local, **HERE)
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'self'"
    assert policy["script-src"].startswith("'self' 'sha256-")
    assert policy["frame-ancestors"] == "'none'"
    assert not any(word in policy["script-src"] for word in ("unsafe", "http", "*"))
    assert not any("http" in part for part in policy.values())
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"


def test_refusals_have_the_same_headers():
    assert "content-security-policy" in asked(local, host="evil.example")[1]


@pytest.mark.parametrize(
    ("host", "local_only"),
    [
        *((host, True) for host in ("127.0.0.1", "127.8.9.1", "::1", "localhost")),
        *((host, False) for host in ("0.0.0.0", "192.168.1.2", "::", "127.evil.example", "localhost.evil.example", "")),
    ],
)
def test_loopback_is_what_only_this_machine_reaches(host, local_only):
    assert is_loopback(host) is local_only
