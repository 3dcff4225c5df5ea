"""``ggdp report``: from manifests to a page for the people who sign, and an entry for the registry of deployments."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads annotations when it runs
from typing import Annotated

import typer

from ggdp.cli.output import AsJson, print_json, say
from ggdp.cli.verify import Signer, note_unknown_keys
from ggdp.errors import ArgumentError


def report(
    manifests: Annotated[list[Path], typer.Argument(metavar="MANIFEST", help="Manifests of releases.")],
    deployment: Annotated[
        Path | None,
        typer.Option(metavar="FILE.toml", help="Your answers to what no manifest can know; open questions without it."),
    ] = None,
    ledger: Annotated[
        str | None, typer.Option(metavar="URL", help="The ledger of the releases, a file or postgresql://...")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE.html", help="Write the page to this file.")] = None,
    registry: Annotated[
        Path | None,
        typer.Option(metavar="FILE.yaml", help="Write an entry for the public registry of deployments."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that already exist.")] = False,
    signer: Signer = None,
    as_json: AsJson = False,
) -> None:
    """Write a report on releases for the people who sign.

    It says what was published, who is protected, and what is open. Every certificate is proved again, and every record
    of the ledger is checked. The page needs no network and prints on A4 and letter. Questions of NIST SP 800-226 that
    only you can answer are taken from --deployment.
    """
    if out is None and registry is None and not as_json:
        raise typer.BadParameter("give a file for the page, --registry, or --json", param_hint="'--out'")
    from ggdp.reports import report as made

    try:
        found = made(
            manifests,
            deployment=deployment,
            ledger=ledger,
            out=out,
            registry=registry,
            overwrite=overwrite,
            signer=signer,
        )
    except ArgumentError as refused:
        expected = refused.expected.replace("`overwrite=True`", "--overwrite")
        name = {"manifests": "MANIFEST"}.get(refused.argument, refused.argument)
        raise ArgumentError(name, refused.value, expected) from None
    files = [str(file) for file in (out, registry) if file is not None]
    if as_json:
        print_json({"files": files, **found.to_dict()})
        return
    for problem in found.problems:
        say(f"warning: {problem}", err=True)
    number = len(found.releases)
    proved = sum(release.certificate is not None for release in found.releases)
    certificates = "certificate" if proved == 1 else "certificates"
    say(f"{number} {'release' if number == 1 else 'releases'}, {proved} {certificates} proved again.")
    say("Total: " + (str(found.total.basic) if found.total.basic is not None else "none exists for these releases"))
    opened = len(found.open_rows)
    if opened:
        say(f"{opened} {'question is' if opened == 1 else 'questions are'} open; answer them in --deployment.")
    note_unknown_keys(release.signature for release in found.releases)
    say("Written: " + ", ".join(files))
