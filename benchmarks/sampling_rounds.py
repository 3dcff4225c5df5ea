"""What the sampling benchmark measures: draws of ggdp and of the others, asked for in turn, one round after the other.

A busy machine then slows both sides of a ratio. A ratio is the median over the rounds of the ratio within a round.
"""

from __future__ import annotations

import math
import os
import statistics
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from worker import Worker

ORDERS = (1.0, 1.5, 2.0, 3.0, 8.0)
DEVIATIONS = {
    "1": 1.0, "10": 10.0, "100": 100.0, "1,000": 1e3, "100,000": 1e5, "10^9": 1e9, "2^40": 2.0**40,
}  # fmt: skip
PEERS = ("numpy laplace", "numpy normal", "scipy gennorm", "OpenDP laplace", "OpenDP gaussian")
SIZE = 1_000_000
# OpenDP's time is proportional to the number of draws from some thousands on.
SIZES = {name: 10_000 if name.startswith("OpenDP") else SIZE for name in PEERS}
_FAST_ROUNDS = 7
_SLOW_ROUNDS = 3
_FEW_ROUNDS = 5
_CALLS = 3


def scale_of(order: float, deviation: float) -> float:
    """Return the scale whose law on the reals has this standard deviation."""
    return deviation * math.sqrt(math.gamma(1.0 / order) / math.gamma(3.0 / order))


def said(step: str) -> None:
    print(f"sampling: {step} ...", file=sys.stderr, flush=True)


def in_turn(rounds: int, asked: dict[str, Callable[[], float]]) -> dict[str, list[float]]:
    """Ask everybody once a round, forwards and backwards by turns, and return all answers."""
    answers: dict[str, list[float]] = {name: [] for name in asked}
    for i in range(rounds):
        for name in list(asked)[:: -1 if i % 2 else 1]:
            answers[name].append(asked[name]())
    return answers


def beside_peers(ours: Worker, peers: Worker, order: float, deviation: float) -> dict[str, Any]:
    """Return the rate of one law, the rates of the others, and how many times theirs it is."""
    scale = scale_of(order, deviation)

    def own() -> float:
        return float(ours.ask("draws", order=order, scale=scale, size=SIZE, calls=_CALLS))

    def other(name: str) -> Callable[[], float]:
        # OpenDP's scale is that of the law on the reals too, and for its Gaussian the standard deviation itself.
        width = {"OpenDP laplace": scale_of(1.0, deviation), "OpenDP gaussian": deviation}.get(name, scale)
        calls = _CALLS if name.startswith("numpy") else 1
        return partial(peers.ask, "draws", what=name, order=order, scale=width, size=SIZES[name], calls=calls)

    rates: dict[str, float] = {}
    ratios: dict[str, float] = {}
    spreads: list[float] = []
    for rounds, names in ((_FAST_ROUNDS, PEERS[:1]), (_SLOW_ROUNDS, PEERS[1:])):
        times = in_turn(rounds, {"ggdp": own, **{name: other(name) for name in names}})
        # The first pass has the most rounds, so its rate is the one that is kept.
        rates.setdefault("ggdp", SIZE / statistics.median(times["ggdp"]))
        for name in names:
            rates[name] = SIZES[name] / statistics.median(times[name])
            pairs = zip(times[name], times["ggdp"], strict=True)
            each = [theirs / mine for theirs, mine in pairs]
            ratios[name] = statistics.median(each) * SIZE / SIZES[name]
            spreads.append((max(each) - min(each)) / statistics.median(each))
    return {"order": order, "rates": rates, "ratios": ratios, "spread": spreads[0]}


def small(ours: Worker, peers: Worker) -> dict[str, Any]:
    """Return times of one draw, of a thousand and of the first one, per law, and those of the others."""
    laws: list[dict[str, Any]] = []
    # Rounds over all laws, so that a busy moment does not spoil one of them.
    rounds = [
        [
            {
                "one": ours.ask("few", size=1, order=order, scale=scale_of(order, deviation)),
                "thousand": ours.ask("few", size=1000, order=order, scale=scale_of(order, deviation)),
                "first": ours.ask("first", order=order, scale=scale_of(order, deviation)),
            }
            for deviation in DEVIATIONS.values()
            for order in ORDERS
        ]
        for _ in range(_FEW_ROUNDS)
    ]
    names = [(name, order) for name in DEVIATIONS for order in ORDERS]
    for (name, order), times in zip(names, zip(*rounds, strict=True), strict=True):
        middle = {what: statistics.median(each[what] for each in times) for what in times[0]}
        laws.append({"deviation": name, "order": order, **middle})
    others = {}
    for name in (*PEERS, "diffprivlib geometric", "diffprivlib snapping"):
        asked = {"what": name, "order": 3.0, "scale": 10.0}
        one = peers.ask("draws", size=1, calls=201, **asked)
        others[name] = {"one": one, "thousand": peers.ask("draws", size=1000, calls=5, **asked)}
    return {"laws": laws, "others": others}


def large(ours: Worker, fresh: Callable[[], Worker]) -> list[dict[str, Any]]:
    """Return times of very many draws by one thread and by all, and the memory they take, in a process of its own."""
    rows = []
    for what, order, deviation in (
        ("order 3, standard deviation 10", 3.0, 10.0),
        ("order 1, standard deviation 100,000", 1.0, 1e5),
    ):
        law = {"order": order, "scale": scale_of(order, deviation)}
        for size in (10**7, 10**8):
            times = in_turn(
                4 if size == 10**7 else 3,
                {threads: partial(ours.ask, "many", size=size, threads=threads, **law) for threads in ("one", "all")},
            )
            with fresh() as process:
                peak = process.ask("memory", size=size, **law)
            # The first of each finds memory that the system has yet to clear.
            seconds = {threads: statistics.median(each[1:]) for threads, each in times.items()}
            rows.append({"what": what, "size": size, "memory": peak, **seconds})
    return rows


def security(ours: Worker) -> dict[str, Any]:
    """Return the rates of the sources of bits, and of one law drawn from each, exactly and not."""
    costs = []
    for name in ("1", "10", "100", "1,000"):
        law = {"order": 3.0, "scale": scale_of(3.0, DEVIATIONS[name]), "size": SIZE, "calls": _CALLS}
        times = in_turn(
            _FAST_ROUNDS,
            {
                "exact, secure": partial(ours.ask, "draws", **law),
                "exact, seeded": partial(ours.ask, "draws", source="seeded", **law),
                "exact, PCG64": partial(ours.ask, "draws", source="insecure", **law),
                "16 bits, secure": partial(ours.ask, "looked_up_only", **law),
                "16 bits, PCG64": partial(ours.ask, "looked_up_only", source="insecure", **law),
            },
        )
        found = {what: SIZE / statistics.median(each) if None not in each else None for what, each in times.items()}
        costs.append({"deviation": name, **found})
    return {
        "bytes": {
            f"{source}, {size >> 10:,} KiB at a time": ours.ask("bytes_a_second", source=source, size=size)
            for source in ("secure", "insecure")
            for size in (1 << 16, 1 << 23)
        },
        "costs": costs,
    }


def leaks(ours: Worker, peers: Worker) -> dict[str, Any]:
    """Return how often draws take longer, and what an observer of the time learns."""
    paths = []
    for name, deviation in DEVIATIONS.items():
        for order in ORDERS:
            law = {"order": order, "scale": scale_of(order, deviation)}
            paths.append({"deviation": name, "order": order, **ours.ask("slow_paths", **law)})
    said("timing single draws, as an observer would")
    laws = [
        (3.0, scale_of(3.0, 10.0), "order 3, standard deviation 10"),
        (1.0, scale_of(1.0, 100.0), "order 1, standard deviation 100"),
        (2.0, scale_of(2.0, 1e5), "order 2, standard deviation 100,000"),
    ]
    mine = ours.ask("watched", laws=laws, singles=200_000, batches=40_000)
    said("timing single draws of OpenDP")
    theirs = peers.ask("watched", laplace_scale=scale_of(1.0, 10.0), gaussian_scale=10.0, singles=40_000, batches=4_000)
    far = {
        f"order {order:g}": ours.ask("far_delay", order=order, scale=scale_of(order, 1e5), count=1000)
        for order in ORDERS
    }
    return {"paths": paths, "watched": mine | theirs, "far": far}


def document(ours: Worker, peers: Worker, fresh: Callable[[], Worker]) -> dict[str, Any]:
    """Return everything that is measured."""
    before = os.getloadavg()[0]
    versions = {**ours.ask("versions"), **peers.ask("versions")}
    rows = []
    for name, deviation in DEVIATIONS.items():
        said(f"a million draws, standard deviation {name}, beside the others")
        rows += [{"deviation": name, **beside_peers(ours, peers, order, deviation)} for order in ORDERS]
    busy = [ours.ask("threads_used", order=3.0, scale=scale_of(3.0, d), size=SIZE) for d in (10.0, 1e5)]
    said("one draw and a thousand")
    few = small(ours, peers)
    said("the cost of security and of exactness")
    cost = security(ours)
    said("bounded, conditional and Binomial laws")
    others = ours.ask("others", size=SIZE)
    leak = leaks(ours, peers)
    said("ten and a hundred million draws")
    many = large(ours, fresh)
    return {
        "versions": versions, "rows": rows, "busy": max(busy), "few": few, "security": cost, "others": others,
        "leaks": leak, "large": many, "load": (before, os.getloadavg()[0]),
        "spread": statistics.median(each["spread"] for each in rows),
    }  # fmt: skip
