"""``ggdp explore``: the local web page."""

from __future__ import annotations

import glob
import re
from importlib.util import find_spec
from pathlib import Path  # not for types alone: typer reads annotations when it runs
from typing import TYPE_CHECKING, Annotated, Any

import typer
from attrs import evolve

from ggdp._files import MOST_TOML, parsed_toml, read_file
from ggdp.cli.flags import DomainFile, renaming
from ggdp.cli.output import say
from ggdp.errors import ArgumentError, MissingExtraError, install_hint

if TYPE_CHECKING:
    from ggdp.tables.study import Study


def explore(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="CSV or Parquet file to look at, or a study; none is needed."),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on; one other than loopback needs --token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes any that is free.")] = 8500,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Open no browser.")] = False,
    domain: DomainFile = None,
    ledger: Annotated[
        str | None, typer.Option(metavar="URL", help="Ledger that releases are charged to: a path, or postgresql://...")
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(help="Secret that visitors must know: 16 or more letters and digits.", envvar="GGDP_TOKEN"),
    ] = None,
) -> None:
    """Open a page that shows what each choice does.

    It shows noise, what an attacker learns, tables, budgets and releases. It runs on this machine and sends nothing
    anywhere else.
    """
    if find_spec("shiny") is None or find_spec("matplotlib") is None:
        raise MissingExtraError(f"the page needs shiny and matplotlib: {install_hint('explorer')}")
    study = None
    if file is not None and file.suffix.lower() == ".toml":
        if domain is not None:
            raise ArgumentError("domain", str(domain), "is not for a study, which declares its columns itself")
        file, ledger, study = _open(file, ledger)
    elif file is not None and not file.is_file():
        raise ArgumentError("file", str(file), "is not a file; give the path of a CSV or Parquet file, or none")
    if domain is not None:
        from ggdp.domain.table_domain import Domain

        # What is wrong with it is said before the page is opened.
        Domain.from_toml(domain)
    if token is not None and not re.fullmatch(r"[\w.~-]{16,}", token, re.ASCII):
        raise ArgumentError("token", "(secret)", "must be at least 16 letters, digits or any of - . _ ~")
    from ggdp.explorer.server import serve

    def tell(address: str) -> None:
        say(f"The page is at {address} (stop it with Ctrl-C)")
        if token is not None:
            say(f"Visitors open {address}?token=SECRET once, with the secret of --token in place of SECRET.")

    run: dict[str, Any] = {"file": file, "domain": domain, "study": study, "ledger": ledger}
    serve(**run, host=host, port=port, token=token, browser=not no_browser, tell=tell)


def _open(file: Path, ledger: str | None) -> tuple[Path | None, str | None, tuple[Path, Study]]:
    """Return the table of a study, the ledger, unless another one is given, and the study with paths as it has them."""
    from ggdp.tables.study import Study

    content = read_file(file, argument="file", most=MOST_TOML)
    with renaming(path="file"):
        study, plain = Study.parse(content, str(file)), parsed_toml(content, str(file), argument="file")
    source = None if study.source is None else Path(study.source)
    if source is not None and not source.is_file() and not glob.has_magic(str(source)):
        raise ArgumentError("source", str(source), f"is not a file; {file} names it")
    paths = {key: plain[key] for key in ("source", "ledger", "output") if key in plain}
    return source, ledger or study.ledger, (file, evolve(study, **paths))
