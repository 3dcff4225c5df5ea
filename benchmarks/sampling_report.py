"""The sampling benchmark as a page."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from pages import machine, milliseconds, row, table
from sampling_rounds import DEVIATIONS, ORDERS

if TYPE_CHECKING:
    from collections.abc import Callable

_SAME_LAW = {1.0: "OpenDP laplace", 2.0: "OpenDP gaussian"}


def report(found: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    lines = [
        "# Sampling: speed, memory, and what time tells",
        "",
        f"{machine()}; {versions}. The load of the machine was {found['load'][0]:.2f} before and "
        f"{found['load'][1]:.2f} after, of which this run makes about 1.",
        "",
        "ggdp and the others run in a process each, which are asked in turn, round after round, so that a busy machine "
        "slows both. A time is a median; a ratio is the median over the rounds of the ratio within a round (in the "
        f"middle law its rounds differ by {found['spread']:.0%} from least to most). Every call makes a fresh array of "
        f"64-bit integers (the others: of floats; OpenDP: a list, 10,000 at a time). ggdp kept {found['busy']:.2f} "
        "cores busy in draws of a million.",
        "",
        *_targets(found),
        *_summary(found["rows"]),
        *_grids(found["rows"]),
        *_few(found["few"]),
        *_large(found["large"]),
        *_security(found["security"]),
        *_others(found["others"]),
        *_paths(found["leaks"]),
        *_watched(found["leaks"]["watched"]),
    ]
    return "\n".join(lines) + "\n"


def against_opendp(each: dict[str, Any]) -> float:
    """Return the ratio to OpenDP's sampler of the same law, or where it has none to the faster of its two."""
    ratios: dict[str, float] = each["ratios"]
    law = _SAME_LAW.get(each["order"])
    return ratios[law] if law else min(ratios["OpenDP laplace"], ratios["OpenDP gaussian"])


def _where(rows: list[dict[str, Any]], wanted: Callable[[float], bool]) -> list[dict[str, Any]]:
    return [each for each in rows if wanted(DEVIATIONS[each["deviation"]])]


def _targets(found: dict[str, Any]) -> list[str]:
    """Return what was promised and whether it was kept, each by its worst case."""
    rows, laws = found["rows"], found["few"]["laws"]

    def laplace(wanted: Callable[[float], bool]) -> float:
        return min(float(each["ratios"]["numpy laplace"]) for each in _where(rows, wanted))

    def most(what: str, wanted: Callable[[float], bool] = lambda _: True) -> float:
        return max(float(each[what]) for each in _where(laws, wanted))

    least = [
        ("times `Generator.laplace`, standard deviation up to 10", 3.0, laplace(lambda d: d <= 10.0)),
        ("the same, aimed at", 5.0, laplace(lambda d: d <= 10.0)),
        ("times OpenDP, standard deviation up to 10", 1e3, min(map(against_opendp, _where(rows, lambda d: d <= 10.0)))),
        ("times `Generator.laplace`, standard deviation 1,000", 2.0, laplace(lambda d: d == 1e3)),
        ("times `Generator.laplace`, wider", 0.7, laplace(lambda d: d > 1e3)),
    ]
    thousand = most("thousand")
    one = most("one")
    first, first_small = most("first", lambda d: d <= 1e3), most("first", lambda d: d <= 10.0)
    memory = max(each["memory"] for each in found["large"])
    below = [
        ("a thousand draws, in ms", 0.1, thousand * 1e3),
        ("one draw, in ms (microseconds)", 0.1, one * 1e3),
        ("the first draw of a law, standard deviation up to 1,000, in ms", 150.0, first * 1e3),
        ("the same, standard deviation up to 10 (about a millisecond)", 2.0, first_small * 1e3),
        ("peak memory of 10^7 and 10^8 draws over the array", 1.3, memory),
    ]
    lines = ["## Aims, each at its worst law", *table("what", "aim", "measured", "met")]
    lines += [row(what, f">= {aim:,g}", f"{got:,.3g}", _met(got >= aim)) for what, aim, got in least]
    lines += [row(what, f"<= {aim:,g}", f"{got:.3g}", _met(got <= aim)) for what, aim, got in below]
    return lines


def _met(yes: bool) -> str:
    return "yes" if yes else "**no**"


def _summary(rows: list[dict[str, Any]]) -> list[str]:
    """Return one line a standard deviation: the middle over the orders, and the least."""
    lines = [
        "",
        "## A million draws, one thread: how many times as fast as the others",
        "",
        f"Over the orders {', '.join(f'{order:g}' for order in ORDERS)}: the middle, and in brackets the least. "
        "NumPy's and SciPy's are floating-point draws from an insecure generator; OpenDP's are exact and secure, of "
        "orders 1 and 2 only, so that other orders are put beside the faster of the two.",
        *table(
            "standard deviation", "ggdp, million a second", "NumPy `laplace`", "NumPy `standard_normal`",
            "SciPy `gennorm.rvs`", "OpenDP",
        ),
    ]  # fmt: skip
    for name in DEVIATIONS:
        same = [each for each in rows if each["deviation"] == name]
        cells = [
            _middle([each["rates"]["ggdp"] / 1e6 for each in same], ".0f"),
            _middle([each["ratios"]["numpy laplace"] for each in same], ".1f"),
            _middle([each["ratios"]["numpy normal"] for each in same], ".1f"),
            _middle([each["ratios"]["scipy gennorm"] for each in same], ".1f"),
            _middle([against_opendp(each) for each in same], ",.0f"),
        ]
        lines.append(row(name, *cells))
    others = {name: [each["rates"][name] / 1e6 for each in rows] for name in rows[0]["rates"] if name != "ggdp"}
    rates = ", ".join(f"{name} {statistics.median(each):.3g}" for name, each in others.items())
    return [*lines, "", f"The others' rates, in million draws a second, the middle of all rows: {rates}."]


def _middle(numbers: list[float], form: str) -> str:
    return f"{statistics.median(numbers):{form}} ({min(numbers):{form}})"


def _grids(rows: list[dict[str, Any]]) -> list[str]:
    kinds: dict[str, Callable[[dict[str, Any]], str]] = {
        "Million draws a second": lambda each: f"{each['rates']['ggdp'] / 1e6:.0f}",
        "Times NumPy's `laplace`": lambda each: f"{each['ratios']['numpy laplace']:.2f}",
        "Times SciPy's `gennorm.rvs`": lambda each: f"{each['ratios']['scipy gennorm']:.1f}",
        "Times OpenDP": lambda each: f"{against_opendp(each):,.0f}",
    }
    lines = []
    for title, cell in kinds.items():
        lines += ["", f"### {title}", *table("standard deviation", *(f"order {order:g}" for order in ORDERS))]
        for name in DEVIATIONS:
            lines.append(row(name, *(cell(each) for each in rows if each["deviation"] == name)))
    return lines


def _few(few: dict[str, Any]) -> list[str]:
    lines = [
        "",
        "## Few draws, and the first",
        "",
        "In microseconds, the most over the orders; the first draw of a law builds what later ones look up. The others "
        "at a scale of 10, without their first call.",
        *table("law", "one draw", "a thousand", "the first, ms"),
    ]
    for name in DEVIATIONS:
        same = [each for each in few["laws"] if each["deviation"] == name]
        one, thousand, first = (max(each[what] for each in same) for what in ("one", "thousand", "first"))
        lines.append(
            row(f"ggdp, standard deviation {name}", f"{one * 1e6:.1f}", f"{thousand * 1e6:.1f}", milliseconds(first))
        )
    for name, times in few["others"].items():
        lines.append(row(name, f"{times['one'] * 1e6:.1f}", f"{times['thousand'] * 1e6:,.1f}", ""))
    return lines


def _large(large: list[dict[str, Any]]) -> list[str]:
    lines = [
        "",
        "## Many draws: both cores, and memory",
        "",
        "Fresh memory has to be cleared by the system before it is written, which is part of the time.",
        *table(
            "law", "draws", "one thread, s", "all cores, s", "gain", "million a second", "peak memory over the array"
        ),
    ]
    for each in large:
        one, both = each["one"], each["all"]
        rate = each["size"] / min(one, both) / 1e6
        cells = (f"{one:.3f}", f"{both:.3f}", f"{one / both:.2f}", f"{rate:.0f}", f"{each['memory']:.3f}")
        lines.append(row(each["what"], f"{each['size']:,}", *cells))
    return lines


def _security(security: dict[str, Any]) -> list[str]:
    kinds = [name for name in security["costs"][0] if name != "deviation"]
    lines = [
        "",
        "## What security and exactness cost",
        "",
        "Raw random bytes: "
        + "; ".join(f"{name} {rate / 1e9:.2f} GB/s" for name, rate in security["bytes"].items())
        + ". Secure is AES-256-CTR with a key from the operating system, insecure NumPy's PCG64.",
        "",
        "Million draws a second, order 3. The last two look up 16 bits and stop there, so are not exact; wide laws "
        "have no such table.",
        *table("standard deviation", *kinds),
    ]
    return lines + [
        row(each["deviation"], *("" if each[kind] is None else f"{each[kind] / 1e6:.0f}" for kind in kinds))
        for each in security["costs"]
    ]


def _others(others: list[list[Any]]) -> list[str]:
    lines = ["", "## Other laws", *table("law", "first draw, ms", "a million, ms", "million a second")]
    return lines + [
        row(what, milliseconds(first), milliseconds(many), f"{1.0 / many:.0f}") for what, first, many in others
    ]


def _paths(leaks: dict[str, Any]) -> list[str]:
    lines = [
        "",
        "## Timing: how often a draw takes longer",
        "",
        "Computed from the tables, per draw, the most over the orders. Second step: 16 bits do not decide, and 48 "
        "more are compared (table), or the draw is not accepted at once (envelope). Last step: 64 bits (table) or "
        "floats (envelope) do not decide, and ball arithmetic does, in some tenths of a millisecond. Far: the draw "
        "is beyond the last block of an envelope, and is drawn from another one.",
        *table("standard deviation", "sampler", "second step", "last step", "far"),
    ]
    for name in DEVIATIONS:
        for sampler in ("table", "envelope"):
            same = [each for each in leaks["paths"] if each["deviation"] == name and each["sampler"] == sampler]
            if same:
                cells = [max(each.get(what, 0.0) for each in same) for what in ("second", "last", "far")]
                far_cell = f"{cells[2]:.1e}" if sampler == "envelope" else ""
                lines.append(row(name, sampler, f"{cells[0]:.2%}", f"{cells[1]:.1e}", far_cell))
    envelopes = [each for each in leaks["paths"] if each["sampler"] == "envelope"]
    far = [each for each in leaks["far"].values() if each]
    if envelopes and far:
        worst = max(each["far_delta"] for each in envelopes)
        usual, late = (statistics.median(each[what] for each in far) * 1e6 for what in ("usual", "far"))
        lines += [
            "",
            f"A single draw that is sent to the far end takes {late:.0f} µs where the usual one takes {usual:.0f}. Who "
            "sees that knows that the noise was beyond that end. For a sensitivity D and a scale b it adds at most "
            f"P(end - D < K < end + D) to delta, about {worst:.1e} D/b.",
        ]
    return lines


def _watched(watched: dict[str, dict[str, Any]]) -> list[str]:
    lines = [
        "",
        "## Timing: what an observer learns",
        "",
        "Single calls were timed, in blocks of random order, on this machine. The advantage is the largest "
        "difference between the probability that large noise takes longer than some time and the probability that "
        "small noise does: 0 if time says nothing, 1 if it says all. Noise is large above the median of its size, "
        "or above its 99.9 % quantile; the size of several draws is the sum of their absolute values. In brackets "
        "what chance alone exceeds once in a thousand times: an advantage below it was not seen, which is all that "
        "can be said of it. Bold ones were seen. The delay is the difference of the median times. Additive noise is "
        "drawn without a true value, so that the time can only tell of the noise; for bounded noise, which is drawn "
        "around a true value between a bound and the middle, the table says what the time tells of that value.",
        *table("sampler", "calls", "median time, µs", "above the median", "delay, ns", "above 99.9 %", "delay, ns"),
    ]
    for name, each in watched.items():
        cells: list[str] = []
        for quantile in ("0.5", "0.999"):
            seen = each[quantile]
            if seen is None:
                cells += ["", ""]
                continue
            number = f"{seen['advantage']:.3f}"
            number = f"**{number}**" if seen["advantage"] > seen["chance"] else number
            cells += [f"{number} ({seen['chance']:.3f})", f"{seen['delay'] * 1e9:.0f}"]
        lines.append(row(name, f"{each['draws']:,}", f"{each['time'] * 1e6:.1f}", *cells))
    return lines
