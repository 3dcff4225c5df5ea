"""What the benchmark of releases measures: releases, the sampling of their noise alone, and others, in turn."""

from __future__ import annotations

import os
import statistics
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from ratios import ratio
from sampling_rounds import ORDERS, in_turn, scale_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from worker import Worker

SIZE = 1_000_000
# A wide scale, of noise that no table holds.
WIDE = 100_000.0
INTEGER_GOALS = {
    f"{notion}, {what}": {"notion": notion, **query}
    for what, query in (
        ("epsilon 1", {"epsilon": 1.0, "size": 1.0}),
        ("epsilon 0.1", {"epsilon": 0.1, "size": 1.0}),
        ("epsilon 1, sensitivity 100,000", {"epsilon": 1.0, "size": WIDE}),
    )
    for notion in ("pure", "aDP", "pDP")
}
REAL_GOALS = {
    f"{notion}, {what}": {"notion": notion, **query}
    for what, query in (
        ("epsilon 1, sensitivity 1", {"epsilon": 1.0, "size": 1.0}),
        ("epsilon 1, sensitivity 0.3", {"epsilon": 1.0, "size": 0.3}),
        ("epsilon 0.1, sensitivity 0.3", {"epsilon": 0.1, "size": 0.3}),
    )
    for notion in ("pure", "aDP", "pDP")
}
GOALS = {"integer": INTEGER_GOALS, "real": REAL_GOALS}
CANDIDATES = (10, 1_000, 1_000_000)
CHOOSERS = ("OpenDP, Gumbel", "OpenDP, permute-and-flip", "diffprivlib", "NumPy")
# How many values a call; OpenDP's and diffprivlib's times are proportional to them.
_COUNTS = {"NumPy": SIZE, "OpenDP": 10_000, "diffprivlib": 1_000}
_ROUNDS = {"integer": 31, "real": 13}
_BOUNDED_ROUNDS = 5
_PEER_ROUNDS = 5


def said(step: str) -> None:
    print(f"releases: {step} ...", file=sys.stderr, flush=True)


def beside_sampling(ours: Worker, support: str) -> list[dict[str, Any]]:
    """Return, for every goal and order, what a release costs over its sampling; pure DP is of order 1 only."""
    return [
        {
            "goal": name,
            "order": order,
            **ours.ask(
                "beside_sampling",
                query={**goal, "order": order, "support": support},
                count=SIZE,
                rounds=_ROUNDS[support],
            ),
        }
        for name, goal in GOALS[support].items()
        for order in (ORDERS if goal["notion"] != "pure" else ORDERS[:1])
    ]


def bounded(ours: Worker) -> list[dict[str, Any]]:
    """Return what releases within bounds cost over their sampling."""
    rows = []
    for kind in ("boundary-inflated", "truncated"):
        for support, where in (("integer", "{0..100}"), ("real", "[0, 100]")):
            for order in (1.0, 3.0):
                query = {"notion": "pure", "epsilon": 1.0, "order": order, "support": support, "bounding": kind}
                found = ours.ask("beside_sampling", query=query, count=SIZE, rounds=_BOUNDED_ROUNDS)
                rows.append({"what": f"{kind} on {where}, order {order:g}", **found})
    return rows


def width_of(law: str, scale: float) -> float:
    """Return the width that others ask for: the scale of a Laplace, the standard deviation of a Gaussian."""
    return scale if law == "laplace" else scale / scale_of(2.0, 1.0)


def beside_peers(ours: Worker, peers: Worker, law: str, support: str) -> dict[str, Any]:
    """Return the time a value of ggdp's release and of the others', and how many times as long theirs takes."""
    query: dict[str, Any] = {"epsilon": 1.0, "support": support}
    query |= {"notion": "pure", "order": 1.0} if law == "laplace" else {"notion": "aDP", "order": 2.0}
    scale = ours.ask("beside_sampling", query=query, count=1000, rounds=3)["scale"]

    def other(library: str, form: str = "array") -> Callable[[], float]:
        given = {"library": library, "law": law, "support": support, "width": width_of(law, scale), "form": form}
        calls = 3 if library == "NumPy" else 1
        return partial(peers.ask, "noised", count=_COUNTS[library], calls=calls, **given)

    def own(form: str) -> Callable[[], float]:
        return partial(ours.ask, "released", query=query, count=SIZE, form=form, calls=3 if form == "array" else 1)

    asked = {
        "ggdp": (own("array"), SIZE),
        "ggdp, a list": (own("list"), SIZE),
        "NumPy, insecure": (other("NumPy"), _COUNTS["NumPy"]),
        "OpenDP": (other("OpenDP"), _COUNTS["OpenDP"]),
        "OpenDP, a list": (other("OpenDP", "list"), _COUNTS["OpenDP"]),
        "diffprivlib": (other("diffprivlib"), _COUNTS["diffprivlib"]),
    }
    times = in_turn(_PEER_ROUNDS, {name: call for name, (call, _) in asked.items()})
    each = {name: [seconds / count for seconds in times[name]] for name, (_, count) in asked.items()}
    return {
        "law": law,
        "support": support,
        "counts": {name: count for name, (_, count) in asked.items()},
        "times": {name: statistics.median(rounds) for name, rounds in each.items()},
        "ratios": {name: ratio(rounds, each["ggdp"])["middle"] for name, rounds in each.items()},
        "few": {
            "ggdp": ours.ask("few", support=support, order=query["order"]),
            **{
                library: peers.ask("few", library=library, law=law, support=support, width=width_of(law, scale))
                for library in _COUNTS
            },
        },
    }


def choices(ours: Worker, peers: Worker) -> list[dict[str, Any]]:
    """Return times of a choice among candidates, and how many times as long the others take as ggdp with floats."""
    rows = []
    for count in CANDIDATES:
        calls = 101 if count < SIZE else 1
        kinds = {f"ggdp, {kind}": kind for kind in ("floats", "integers", "list")}
        times = in_turn(
            _PEER_ROUNDS,
            {name: partial(ours.ask, "selection", kind=kind, count=count, calls=calls) for name, kind in kinds.items()}
            | {name: partial(peers.ask, "selection", what=name, count=count, calls=calls) for name in CHOOSERS},
        )
        rows.append(
            {
                "count": count,
                "times": {name: statistics.median(each) for name, each in times.items()},
                "ratios": {name: ratio(each, times["ggdp, floats"])["middle"] for name, each in times.items()},
            }
        )
    return rows


def document(ours: Worker, peers: Worker) -> dict[str, Any]:
    """Return everything that is measured."""
    before = os.getloadavg()[0]
    versions = {**ours.ask("versions"), **peers.ask("versions")}
    rows = {}
    for support, what in (("integer", "counts"), ("real", "floats")):
        said(f"a million {what} beside the sampling alone")
        rows[support] = beside_sampling(ours, support)
    said("bounded releases beside the sampling alone")
    within = bounded(ours)
    said("lists of Python numbers")
    lists = {support: ours.ask("converted", support=support, count=SIZE, rounds=5) for support in GOALS}
    said("beside the others")
    others = [beside_peers(ours, peers, law, support) for support in GOALS for law in ("laplace", "gaussian")]
    said("choices among candidates")
    chosen = choices(ours, peers)
    said("intervals, post-processing and manifests")
    after = ours.ask("afterwards", count=SIZE)
    return {
        "versions": versions, "rows": rows, "bounded": within, "lists": lists, "others": others, "choices": chosen,
        "after": after, "load": (before, os.getloadavg()[0]),
    }  # fmt: skip
