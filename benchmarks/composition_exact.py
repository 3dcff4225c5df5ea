"""The true delta of a total in 50 digits, by closed forms and by enumeration; a worker that needs mpmath only."""

from __future__ import annotations

from functools import reduce
from typing import Any

from mpmath import mp, mpf

from worker import serve

mp.dps = 50
# Outcomes of integer noise with a weight below this are left out; at a delta of 1e-18 that is no digit of 15.
LEAST = mpf(10) ** -45


def responses(record: dict[str, Any]) -> tuple[mpf, int]:
    """Return the epsilon and the number of randomised responses; Laplace on the integers moved by 1 is one too."""
    number = record["count"] * record["releases"]
    if record["kind"] == "response":
        return mpf(record["epsilon"]), number
    if (record["order"], record["support"], record["size"]) == (1.0, "integer", 1.0):
        return 1 / mpf(record["scale"]), number
    message = f"there is no closed form for {record}"
    raise ValueError(message)


def gaussian(mu: mpf, epsilon: mpf) -> mpf:
    """Return the delta of Gaussian noise that is moved by mu standard deviations; with mu = 0 that of no loss."""
    if mu == 0:
        return max(mpf(0), 1 - mp.exp(epsilon))
    return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


def binomial(losses: list[dict[str, Any]], epsilons: list[float]) -> list[mpf]:
    """Return the deltas of Gaussian noise on the reals beside equal randomised responses.

    Independent Gaussian losses are one Gaussian loss; n responses of which j are true lose (2 j - n) e.
    """
    normal = [record for record in losses if record.get("order") == 2.0 and record["support"] == "real"]
    square = sum(2 * record["count"] * record["releases"] / mpf(record["scale"]) ** 2 for record in normal)
    answers = [responses(record) for record in losses if record not in normal]
    e, number = answers[0] if answers else (mpf(0), 0)
    if len(answers) > 1:
        message = "only one kind of randomised response has a binomial sum"
        raise ValueError(message)
    truth = 1 / (1 + mp.exp(-e))
    weights = [mp.binomial(number, j) * truth**j * (1 - truth) ** (number - j) for j in range(number + 1)]
    return [
        mp.fsum(
            weight * gaussian(mp.sqrt(square), mpf(epsilon) - (2 * j - number) * e) for j, weight in enumerate(weights)
        )
        for epsilon in epsilons
    ]


def outcomes(record: dict[str, Any]) -> list[tuple[mpf, mpf]]:
    """Return the losses of a randomised response or of integer noise, with their probabilities."""
    if record["kind"] == "response":
        e = mpf(record["epsilon"])
        return [(e, 1 / (1 + mp.exp(-e))), (-e, 1 / (1 + mp.exp(e)))]
    p, b, size = mpf(record["order"]), mpf(record["scale"]), int(record["size"])
    far = int(mp.ceil(b * (-mp.log(LEAST)) ** (1 / p)))
    weights = {k: mp.exp(-((abs(k) / b) ** p)) for k in range(-far, far + 1)}
    whole = mp.fsum(weights.values())
    return [((mpf(abs(k + size)) ** p - mpf(abs(k)) ** p) / b**p, weight / whole) for k, weight in weights.items()]


def enumeration(losses: list[dict[str, Any]], epsilons: list[float]) -> list[mpf]:
    """Return the deltas of responses and of noise on the integers, from every combination of outcomes."""

    def both(a: list[tuple[mpf, mpf]], b: list[tuple[mpf, mpf]]) -> list[tuple[mpf, mpf]]:
        return [(x + y, v * w) for x, v in a for y, w in b if v * w > LEAST]

    each = [outcomes(record) for record in losses for _ in range(record["count"] * record["releases"])]
    total = reduce(both, each)
    return [mp.fsum(w * (1 - mp.exp(mpf(e) - loss)) for loss, w in total if loss > e) for e in epsilons]


def deltas(*, losses: list[dict[str, Any]], epsilons: list[float], by: str) -> list[str]:
    """Return the true deltas in 30 digits."""
    return [mp.nstr(found, 30) for found in {"binomial": binomial, "enumeration": enumeration}[by](losses, epsilons)]


if __name__ == "__main__":
    serve({deltas.__name__: deltas})
