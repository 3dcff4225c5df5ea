"""``ggdp account``: from manifests to the total of what was published."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads annotations when it runs
from typing import Annotated

import typer

from ggdp._rounding import rounded_text, rounded_up_text
from ggdp.cli.output import AsJson, print_json, print_table, say
from ggdp.cli.verify import Signer, note_unknown_keys
from ggdp.errors import ArgumentError

# Where neither is asked for: the delta that most publications state.
USUAL_DELTA = 1e-6


def account(
    manifests: Annotated[list[Path], typer.Argument(metavar="MANIFEST", help="Manifests of releases.")],
    delta: Annotated[float | None, typer.Option(help="Find epsilon for this delta; by default 1e-6.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="Find delta at this epsilon.")] = None,
    signer: Signer = None,
    as_json: AsJson = False,
) -> None:
    """Compute what several releases of the same people cost together.

    The total is tight: it is proved from both sides, and usually less than the sum of all epsilons.
    """
    if delta is not None and epsilon is not None:
        message = "give either --delta or --epsilon"
        raise typer.BadParameter(message)
    if epsilon is None and delta is None:
        delta = USUAL_DELTA
    from ggdp.composition import compose

    try:
        if signer is not None:
            # The files that a signed manifest names are signed, too.
            from ggdp.reports.published import read_release
            from ggdp.signatures import read_signers

            for manifest in manifests:
                read_release(manifest, read_signers(signer))
        total = compose(manifests, signer=signer)
    except ArgumentError as refused:
        if refused.argument not in ("parts", "manifests"):
            raise
        raise ArgumentError("MANIFEST", refused.value, refused.expected) from None
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
