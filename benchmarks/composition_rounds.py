"""What the benchmark of composition measures: totals of ggdp and of others for the same laws, and their bounds."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from composition_cases import COARSE_ONLY, DELTA, TIGHT, TIMED, noise

if TYPE_CHECKING:
    from worker import Worker

# dp-accounting's own discretisation, and a finer one.
STEPS = (1e-4, 1e-5)
# What prv-accountant may be wrong by in epsilon.
ERROR = 0.01
# The most processor time of one answer of ggdp, in seconds: what is timed, and what is judged by its bounds.
MOST_TIMED, MOST_TIGHT = 25.0, 5.0


def said(step: str) -> None:
    print(f"composition: {step} ...", file=sys.stderr, flush=True)


def timed(ours: Worker, google: Worker, prv: Worker) -> list[dict[str, Any]]:
    """Return, for every case, the totals of all and how long they took."""
    rows = []
    for what, losses in TIMED.items():
        said(what)
        steps = STEPS[:1] if what in COARSE_ONLY else STEPS
        theirs = {str(step): google.ask("epsilon", losses=losses, delta=DELTA, step=step) for step in steps}
        epsilon = ours.ask("epsilon", losses=losses, delta=DELTA, most=MOST_TIMED)
        # Where it was not found, the delta is that at the epsilon of the others.
        at = epsilon.get("upper", theirs[str(STEPS[0])]["epsilon"])
        delta = ours.ask("delta", losses=losses, epsilon=at, most=MOST_TIMED)
        peer = prv.ask("epsilon", losses=losses, delta=DELTA, error=ERROR)
        rows.append({"what": what, "at": at, "epsilon": epsilon, "delta": delta, "google": theirs, "prv": peer})
    return rows


def tight(ours: Worker, google: Worker, exact: Worker) -> list[dict[str, Any]]:
    """Return, for every mix and epsilon, both bounds of delta, the true one where it is known, and dp-accounting's."""
    rows = []
    for what, mix in TIGHT.items():
        said(f"bounds of {what}")
        asked = {"losses": mix.losses, "epsilons": mix.epsilons}
        true = exact.ask("deltas", **asked, by=mix.by) if mix.by else [None] * len(mix.epsilons)
        theirs = {str(step): google.ask("deltas", **asked, step=step) for step in STEPS}
        for i, epsilon in enumerate(mix.epsilons):
            bounds = ours.ask("delta", losses=mix.losses, epsilon=epsilon, most=MOST_TIGHT)
            peers = {step: found[i] for step, found in theirs.items()}
            rows.append({"what": what, "epsilon": epsilon, "delta": bounds, "true": true[i], "google": peers})
    return rows


def document(ours: Worker, google: Worker, prv: Worker, exact: Worker) -> dict[str, Any]:
    # What is imported when it is first used is not timed.
    few = [noise(3.0, 20.0, "real", releases=2), noise(1.5, 20.0)]
    ours.ask("epsilon", losses=few, delta=DELTA, most=MOST_TIMED)
    google.ask("epsilon", losses=few, delta=DELTA, step=STEPS[0])
    prv.ask("epsilon", losses=[noise(2.0, 20.0, "real")], delta=DELTA, error=1.0)
    return {
        "versions": ours.ask("versions") | google.ask("versions") | prv.ask("versions"),
        "timed": timed(ours, google, prv),
        "tight": tight(ours, google, exact),
    }
