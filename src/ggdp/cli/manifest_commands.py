"""The commands on manifests: ``ggdp verify``, ``account``, ``compare`` and ``report``."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import attrs
import typer

from ggdp import _validate
from ggdp._files import MOST_JSON, parsed_json, read_file
from ggdp._rounding import number_of, rounded_text, rounded_up_text
from ggdp.cli.flags import cell_of, percent_of_flags, renaming
from ggdp.cli.output import AsJson, print_json, print_table, printable, say
from ggdp.errors import ArgumentError, GgdpError
from ggdp.signatures import Signature, checked_signature, read_signers

if TYPE_CHECKING:
    from ggdp.accounting import Noise
    from ggdp.proofs.certificate import Certificate


Signer = Annotated[
    Path | None,
    typer.Option(metavar="PUB", help="Require signatures by a key of this file (OpenSSH .pub, allowed_signers, PEM)."),
]


def verify(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Manifests, certificates, or both.")],
    signer: Signer = None,
    as_json: AsJson = False,
) -> None:
    """Verify manifests and certificates.

    Certificates are proved again. Manifests are checked against themselves, against the published files next to them,
    and against their signatures. Needs no data. Exits with 1 if a file fails.
    """
    signers = None if signer is None else read_signers(signer)
    found = [_verify_file(file, signers) for file in files]
    failed = sum(one["error"] is not None for one in found)
    if as_json:
        checked = [{**one, "signature": one["signature"] and one["signature"].to_dict()} for one in found]
        print_json({"valid": not failed, "files": checked})
        if failed:
            raise typer.Exit(1)
        return
    states = {"same": "unchanged", "changed": "CHANGED", "absent": "not found next to the manifest, not checked"}
    for one in found:
        lines = [f"{one['file']}: {one['kind'] or 'unknown'}", *one["proved"]]
        lines += [f"{name}: {states[state]}" for name, state in one["published"].items()]
        if one["error"] is None or one["signature"] is not None:
            lines.append(f"signature: {one['signature'] or 'none'}")
        if one["error"] is not None:
            lines.append(f"FAILED: {one['error']}")
        # Each is one line, whatever is in it.
        say("\n  ".join(map(printable, lines)))
    note_unknown_keys(one["signature"] for one in found)
    number = number_of(len(found), "file")
    if failed:
        raise GgdpError(f"{failed} of {number} failed")
    absent = sum(state == "absent" for one in found for state in one["published"].values())
    what = "published file was" if absent == 1 else "published files were"
    say(f"{number} verified" + (f"; {absent} {what} not found, and not checked." if absent else "."))


def note_unknown_keys(signatures: Iterable[Signature | None]) -> None:
    """Say what a signature by a key that nobody named does not prove."""
    if any(one is not None and not one.signer for one in signatures):
        say("A signature by an unknown key does not prove who signed. Name the expected key with --signer.")


def _verify_file(file: Path, signers: frozenset[bytes] | None) -> dict[str, Any]:
    """Return what was found of one file."""
    found: dict[str, Any] = {"file": str(file), "kind": None, "proved": [], "published": {}, "signature": None}
    error = None
    try:
        content = read_file(file, argument="FILE", most=MOST_JSON, pipe=False)
        from ggdp.accounting.composition import manifest_in

        instead = "name a manifest or a certificate of ggdp"
        document = manifest_in(parsed_json(content, str(file), argument="FILE", instead=instead))
        if not isinstance(document, dict) or not {"schema", "bound", "certificate"} & document.keys():
            raise ArgumentError("FILE", str(file), "is neither a manifest nor a certificate of ggdp")
        found["kind"] = "manifest" if "schema" in document else "certificate"
        found["signature"] = checked_signature(file, content, signers, argument="FILE")
        if found["kind"] == "manifest":
            from ggdp.reports.published import read_release

            release = read_release(file, signers)
            if release.digest != hashlib.sha256(content).hexdigest():
                raise ArgumentError("FILE", str(file), "changed while it was read")
            found["proved"] = [str(release.part.guarantee)]
            step = release.manifest["mechanism"].get("step")
            found["proved"] += [f"certificate: {_claim(certificate, step)}" for certificate in release.certificates]
            found["published"] = {table.file: table.state for table in release.tables if table.file is not None}
            if changed := [name for name, state in found["published"].items() if state == "changed"]:
                named = ", ".join(map(repr, changed))
                raise ArgumentError("FILE", str(file), f"describes another version of {named}: the digest differs")
        else:
            from ggdp.proofs.certificate import Certificate, require_proved

            # Alone, or in what ``ggdp calibrate --json`` printed.
            certificate = Certificate.from_dict(document.get("certificate", document))
            require_proved(certificate)
            step = document.get("step")
            if not (step is None or isinstance(step, float)):
                raise GgdpError(f"step = {step!r}: must be a number")
            in_units = {} if step is None else {"scale": certificate.law.scale * step, "support": "real"}
            for name, value in (certificate.law.to_dict() | in_units).items() if "certificate" in document else ():
                if document.get(name) != value:
                    raise GgdpError(f"{name} = {document.get(name)!r}: its certificate is about {value!r}")
            found["proved"] = [_claim(certificate, step)]
    except ArgumentError as refused:
        error = refused.expected
    except GgdpError as refused:
        error = str(refused)
    return {**found, "error": error}


def _claim(certificate: Certificate, step: float | None = None) -> str:
    law, epsilon = certificate.law, getattr(certificate.bound, "epsilon", None)
    at = "" if epsilon is None else f" at epsilon {epsilon!r}"
    # Real noise is rounded to the grid, and not drawn in steps of it.
    in_steps = "" if step is None or step == 1.0 or law.support == "real" else f" steps of {step!r}"
    noise = f"of order {law.order!r}" if law.norm is None else f"of the norm {law.norm.kind!r}"
    return (
        f"{certificate.bound.quantity} <= {certificate.proved!r}{at}, for noise {noise} and scale "
        f"{law.scale!r}{in_steps}; proved again"
    )


def _given_noise(text: str) -> tuple[Noise, int]:
    """Return noise that is typed, such as order=2,std=5,times=3, and how often it was added."""
    from ggdp.accounting import Noise
    from ggdp.accounting.composition import MOST_TIMES
    from ggdp.privacy import Sensitivity

    keys: dict[str, type] = {**dict.fromkeys(("order", "scale", "std", "sensitivity"), float), "cells": int}
    keys |= {"support": str, "times": int, "neighbours": str}
    given: dict[str, Any] = {}
    for item in text.split(","):
        name, _, value = (part.strip() for part in item.partition("="))
        if name not in keys or name in given or not value:
            raise ArgumentError("noise", text, f"must be a list of {', '.join(f'{name}=...' for name in keys)}")
        try:
            given[name] = keys[name](value)
        except ValueError:
            raise ArgumentError("noise", text, f"{value!r} is not a number") from None
    if "order" not in given:
        raise ArgumentError("noise", text, "needs an order: order=1 is Laplace, order=2 is Gaussian")
    try:
        times = _validate.integer(times=given.pop("times", 1), at_least=1, at_most=MOST_TIMES)
        neighbours = given.pop("neighbours", "add-remove")
        query = Sensitivity.cells(given.pop("cells", 1), given.pop("sensitivity", 1.0), neighbours=neighbours)
        return Noise(**given, sensitivity=query), times
    except ArgumentError as refused:
        key = {"m": "cells", "d": "sensitivity"}.get(refused.argument, refused.argument)
        said = refused.expected if refused.value is None else f"{key}: {refused.expected}"
        raise ArgumentError("noise", text, said) from None


def account(
    manifests: Annotated[list[Path] | None, typer.Argument(metavar="MANIFEST", help="Manifests of releases.")] = None,
    noise: Annotated[
        list[str] | None,
        typer.Option(
            metavar="order=P,scale=B",
            help="Noise added elsewhere (order=2,std=5,times=3; also sensitivity, cells, support, neighbours).",
        ),
    ] = None,
    delta: Annotated[float | None, typer.Option(help="Find epsilon for this delta; by default 1e-6.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="Find delta at this epsilon.")] = None,
    signer: Signer = None,
    as_json: AsJson = False,
) -> None:
    """Compute what several releases of the same people cost together.

    The total is tight: it is proved from both sides, and usually less than the sum of all epsilons.
    """
    if delta is not None and epsilon is not None:
        raise typer.BadParameter("give either --delta or --epsilon")
    manifests = manifests or []
    if not manifests and not noise:
        raise typer.BadParameter("give manifests of releases, or --noise order=P,scale=B", param_hint="'MANIFEST'")
    if epsilon is None and delta is None:
        delta = 1e-6  # what most publications state
    from ggdp.accounting import compose

    with renaming(parts="MANIFEST" if manifests else "--noise", manifests="MANIFEST"):
        if signer is not None:
            # The files that a signed manifest names are signed, too.
            from ggdp.reports.published import read_release

            for manifest in manifests:
                read_release(manifest, read_signers(signer))
        total = compose([*manifests, *map(_given_noise, noise or ())], signer=signer)
    found = total.to_dict(epsilon=epsilon, delta=delta)
    note = (
        "The total holds if the noise of every release was fixed without looking at earlier results; otherwise use the "
        f"plain sum, {total.basic}."
    )
    if as_json:
        print_json({**found, "note": note})
        return
    shown = "no finite epsilon" if found["epsilon"] is None else rounded_up_text(found["epsilon"], 6)
    lower = "none" if found["lower"] is None else rounded_text(found["lower"], 6)
    rows = [
        ("epsilon", shown),
        ("delta", rounded_up_text(found["delta"], 6)),
        (f"proved lower bound of {found['asked']}", lower),
        ("plain sum", str(total.basic)),
        ("releases", str(sum(part.count for part in total.parts))),
    ]
    print_table("Total", rows)
    print_table(
        "",
        [(part.name, str(part.guarantee), part.signature or "none") for part in total.parts],
        header=("release", "guarantee alone", "signature"),
    )
    say(note)
    note_unknown_keys(part.signature for part in total.parts)


def compare(
    manifests: Annotated[
        list[Path], typer.Argument(metavar="MANIFEST", help="The manifest of a release, or of an earlier and a later.")
    ],
    cell: Annotated[
        list[str] | None,
        typer.Option(metavar="COL=LEVEL[,...]", help="A cell, or a sum of cells; give two. 'all' is the sum of all."),
    ] = None,
    percent_of: Annotated[
        str | None, typer.Option(metavar="COL[,COL...]", help="Counts in percent of the total of these levels.")
    ] = None,
    percent: Annotated[bool, typer.Option("--percent", help="Counts in percent of the total of all cells.")] = False,
    table: Annotated[
        str | None, typer.Option(metavar="NAME", help="One of several tables: its file without the ending.")
    ] = None,
    level: Annotated[float, typer.Option(help="Probability with which each interval covers.")] = 0.95,
    as_json: AsJson = False,
) -> None:
    """Compare published counts, with intervals.

    Two manifests: how much each count changed. One with two cells: their ratio and difference. One with --percent-of:
    percentages. It reads the published files and costs nothing.
    """
    asked = [len(manifests) == 2, bool(cell), percent_of is not None, percent]
    if len(manifests) > 2 or sum(asked) != 1 or (cell and len(cell) != 2):
        raise typer.BadParameter("give two manifests; or one, with two --cell, --percent-of or --percent")
    from ggdp.reports.published import difference, read_table

    which: int | str = 0 if table is None else table
    with renaming(manifests="MANIFEST", of="percent_of", base="cell"):
        if cell:
            read = read_table(manifests[0], which)
            one, other = (cell_of(text, read.by) for text in cell)
            found = {name: getattr(read, name)(one, other, level=level) for name in ("ratio", "difference")}
            rows = [
                {"of": name} | attrs.asdict(each, filter=lambda part, _: part.name != "level")
                for name, each in found.items()
            ]
        elif len(manifests) == 2:
            rows = difference(manifests[0], manifests[1], table=which, level=level).to_pylist()
        else:
            of = percent_of_flags({"percent_of": percent_of, "percent": percent})
            rows = read_table(manifests[0], which).shares(of or (), level=level).to_arrow().to_pylist()
    if as_json:
        print_json({"level": level, "rows": json.loads(json.dumps(rows, default=str))})
        return
    texts = {float: "{:,.6g}".format, type(None): lambda _: ""}
    shown = [tuple(texts.get(type(one), str)(one) for one in row.values()) for row in rows]
    print_table(f"with a {100 * level:.10g}% interval each", shown, header=tuple(rows[0]))


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
        Path | None, typer.Option(metavar="FILE.yaml", help="Write an entry for the public registry of deployments.")
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

    outputs: dict[str, Any] = {"out": out, "registry": registry, "overwrite": overwrite}
    with renaming(manifests="MANIFEST"):
        found = made(manifests, deployment=deployment, ledger=ledger, signer=signer, **outputs)
    files = [str(file) for file in (out, registry) if file is not None]
    if as_json:
        print_json({"files": files, **found.to_dict()})
        return
    for problem in found.problems:
        say(f"warning: {problem}", err=True)
    proved = sum(bool(release.certificates) for release in found.releases)
    say(f"{number_of(len(found.releases), 'release')}, {number_of(proved, 'certificate')} proved again.")
    say("Total: " + (str(found.total.basic) if found.total.basic is not None else "none exists for these releases"))
    if found.open_rows:
        questions = number_of(len(found.open_rows), "question is", "questions are")
        say(f"{questions} open; answer them in --deployment.")
    note_unknown_keys(release.signature for release in found.releases)
    say("Written: " + ", ".join(files))
