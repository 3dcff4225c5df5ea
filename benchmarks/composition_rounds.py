"""What the benchmark of composition measures: totals of ggdp and of others for the same laws, and how close they are."""

from __future__ import annotations

import sys
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from composition_cases import COARSE_ONLY, DELTA, DELTAS, TIGHT, TIMED, noise

if TYPE_CHECKING:
    from worker import Worker

# dp-accounting's own discretisation, and a finer one.
STEPS = (1e-4, 1e-5)
# What prv-accountant may be wrong by in epsilon.
ERROR = 0.01


def said(step: str) -> None:
    print(f"composition: {step} ...", file=sys.stderr, flush=True)


def timed(ours: Worker, google: Worker, prv: Worker) -> list[dict[str, Any]]:
    """Return, for every case, the totals of all and how long they took."""
    rows = []
    for what, losses in TIMED.items():
        said(what)
        epsilon = ours.ask("epsilon", losses=losses, delta=DELTA)
        steps = STEPS[:1] if what in COARSE_ONLY else STEPS
        rows.append(
            {
                "what": what,
                "epsilon": epsilon,
                "delta": ours.ask("delta", losses=losses, epsilon=epsilon["upper"]),
                "google": {str(step): google.ask("epsilon", losses=losses, delta=DELTA, step=step) for step in steps},
                "prv": prv.ask("epsilon", losses=losses, delta=DELTA, error=ERROR),
            }
        )
    return rows


def tight(ours: Worker, google: Worker, exact: Worker) -> list[dict[str, Any]]:
    """Return, for every mix and delta, both bounds of the delta, the true one where it is known, and dp-accounting's."""
    mixes = []
    for what, (losses, by) in TIGHT.items():
        said(f"bounds of {what}")
        epsilons = [ours.ask("epsilon", losses=losses, delta=delta)["upper"] for delta in DELTAS]
        found = [ours.ask("delta", losses=losses, epsilon=epsilon) for epsilon in epsilons]
        true = exact.ask("deltas", losses=losses, epsilons=epsilons, by=by) if by else [None] * len(DELTAS)
        theirs = {str(step): google.ask("deltas", losses=losses, epsilons=epsilons, step=step) for step in STEPS}
        mixes.append(
            {
                "what": what,
                "by": by,
                "rows": [
                    {
                        "delta": delta,
                        "epsilon": epsilon,
                        "lower": bounds["lower"],
                        "upper": bounds["upper"],
                        "true": true[i],
                        "between": true[i] is None or between(bounds, true[i]),
                        "google": {step: values[i] for step, values in theirs.items()},
                    }
                    for i, (delta, epsilon, bounds) in enumerate(zip(DELTAS, epsilons, found, strict=True))
                ],
            }
        )
    return mixes


def between(bounds: dict[str, float], true: str) -> bool:
    """Say whether a true value lies between two bounds, exactly."""
    return Decimal(bounds["lower"]) <= Decimal(true) <= Decimal(bounds["upper"])


def document(ours: Worker, google: Worker, prv: Worker, exact: Worker) -> dict[str, Any]:
    # What is imported when it is first used is not timed.
    few = [noise(3.0, 20.0, releases=2), noise(1.5, 20.0)]
    ours.ask("epsilon", losses=few, delta=DELTA)
    for peer, how in ((google, {"step": STEPS[0]}), (prv, {"error": 1.0})):
        peer.ask("epsilon", losses=few, delta=DELTA, **how)
    return {
        "versions": ours.ask("versions") | google.ask("versions") | prv.ask("versions"),
        "timed": timed(ours, google, prv),
        "tight": tight(ours, google, exact),
    }
