"""`ggdp explore`: what it refuses before it serves anything."""

import importlib.util
import re
import socket

import pytest

from ggdp.cli.app import run


@pytest.fixture(autouse=True)
def not_served(monkeypatch):
    """What should be refused would otherwise be served for ever."""

    def run(*_):
        raise AssertionError("the page was served")

    monkeypatch.setattr("uvicorn.Server.run", run)


def refused(capsys, *arguments):
    assert run(["explore", "--no-browser", *arguments]) == 1
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("host", "shown"),
    [("0.0.0.0", "steward"), ("::", "steward"), ("127.0.0.1", "127.0.0.1"), ("::1", "[::1]")],
)
def test_the_address_is_one_that_others_can_open_and_the_token_is_not_in_it(capsys, monkeypatch, host, shown):
    token = "a-token-of-enough-characters"
    monkeypatch.setattr("socket.gethostname", lambda: "steward")
    monkeypatch.setattr("ggdp.explorer.server.application", lambda **_: None)
    monkeypatch.setattr("uvicorn.Server.run", lambda *_: None)
    assert run(["explore", "--no-browser", "--host", host, "--port", "0", "--token", token]) == 0
    printed = capsys.readouterr()
    assert re.match(rf"The page is at http://{re.escape(shown)}:\d+/ ", printed.out)
    assert f"http://{shown}:" in printed.out.splitlines()[1]
    assert "?token=SECRET" in printed.out
    assert token not in printed.out + printed.err


def test_a_domain_file_that_is_wrong_is_named_before_the_page_is_opened(capsys, tmp_path):
    wrong = tmp_path / "domain.toml"
    wrong.write_text("[columns.ward]\nlevels = []\n")
    assert "ward" in refused(capsys, "--domain", str(wrong))
    assert "missing.toml" in refused(capsys, "--domain", "missing.toml")


def test_a_study_that_is_refused_is_named_as_it_was_typed(capsys, tmp_path):
    draft = tmp_path / "draft.toml"
    draft.write_text("not_private_draft = true\n")
    assert f"error: FILE = '{draft}': is a draft" in refused(capsys, str(draft)).replace("file =", "FILE =")


def test_a_file_that_is_not_there_is_named(capsys):
    assert "error: FILE = 'missing.csv': is not a file" in refused(capsys, "missing.csv").replace("file =", "FILE =")


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::"])
def test_another_host_needs_a_token(capsys, host):
    message = refused(capsys, "--host", host, "--port", "0")
    assert f"--host = '{host}'" in message
    assert "--token" in message


@pytest.mark.parametrize("token", ["hunter2", "with spaces hunter2", "hünter2-hünter2-hünter2"])
def test_a_token_that_is_short_or_does_not_fit_in_an_address_is_refused_and_not_shown(capsys, token):
    message = refused(capsys, "--token", token)
    assert "--token" in message
    assert "at least 16 letters" in message
    assert token not in message


def test_a_port_in_use_is_named(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        message = refused(capsys, "--port", str(port))
    assert f"--port = {port}" in message
    assert "choose another" in message


def test_a_host_that_is_not_of_this_machine_is_named(capsys):
    message = refused(capsys, "--host", "no.such.host.invalid", "--token", "x" * 16)
    assert "--host = 'no.such.host.invalid'" in message


def test_without_the_extra_it_says_what_to_install(capsys, monkeypatch):
    known = importlib.util.find_spec
    monkeypatch.setattr("ggdp.cli.explore.find_spec", lambda name: None if name == "shiny" else known(name))
    assert "pip install 'ggdp[explorer]'" in refused(capsys)
