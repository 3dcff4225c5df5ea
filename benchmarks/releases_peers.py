"""Noisy values and private choices of NumPy, OpenDP and diffprivlib; a worker in an environment that has them.

All at epsilon 1 and sensitivity 1, the Gaussian ones at the standard deviation they are given.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from timing import calls_time, median_time
from worker import serve

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

EPSILON, DELTA = 1.0, 1e-6
GENERATOR = np.random.default_rng()


@lru_cache
def opendp(law: str, support: str, width: float, *, scalar: bool = False) -> Any:
    """Return OpenDP's mechanism for 64-bit integers or floats, of many or of one; its width is b or sigma."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    kind: Any = "i64" if support == "integer" else float
    element = dp.atom_domain(T=kind) if support == "integer" else dp.atom_domain(T=float, nan=False)
    domain = element if scalar else dp.vector_domain(element)
    if law == "laplace":
        return dp.m.make_laplace(domain, dp.absolute_distance(T=kind) if scalar else dp.l1_distance(T=kind), width)
    return dp.m.make_gaussian(domain, dp.absolute_distance(T=float) if scalar else dp.l2_distance(T=float), width)


@lru_cache
def diffprivlib(law: str, support: str) -> Any:
    """Return what adds noise to one number."""
    from diffprivlib import mechanisms

    if law == "laplace" and support == "integer":
        return mechanisms.Geometric(epsilon=EPSILON, sensitivity=1).randomise
    if law == "laplace":
        return mechanisms.Laplace(epsilon=EPSILON, delta=0.0, sensitivity=1.0).randomise
    if support == "integer":
        return mechanisms.GaussianDiscrete(epsilon=EPSILON, delta=DELTA, sensitivity=1).randomise
    return mechanisms.GaussianAnalytic(epsilon=EPSILON, delta=DELTA, sensitivity=1.0).randomise


@lru_cache
def true_values(support: str, count: int) -> NDArray[Any]:
    return GENERATOR.integers(0, 101, count) if support == "integer" else GENERATOR.uniform(0.0, 100.0, count)


def noising(library: str, law: str, support: str, width: float, count: int, form: str) -> Callable[[], object]:
    """Return a call that adds noise to so many numbers in the library's own way."""
    array = true_values(support, count)
    values: Any = array.tolist() if form == "list" else array
    if library == "OpenDP":
        if count == 1:
            single, number = opendp(law, support, width, scalar=True), array[0].item()
            return lambda: single(number)
        measurement = opendp(law, support, width)
        return lambda: measurement(values)
    if library == "diffprivlib":
        randomise, numbers = diffprivlib(law, support), array.tolist()
        return lambda: [randomise(number) for number in numbers]
    if law == "laplace":
        return lambda: array + GENERATOR.laplace(0.0, width, count)
    return lambda: array + GENERATOR.normal(0.0, width, count)


def noised(
    *, library: str, law: str, support: str, width: float, count: int, form: str = "array", calls: int = 1
) -> float:
    return calls_time(noising(library, law, support, width, count, form), calls)


def few(*, library: str, law: str, support: str, width: float) -> dict[str, float]:
    """Time noise on one number and on a thousand."""
    return {
        name: median_time(noising(library, law, support, width, count, "array"), seconds=0.1, most=1001)
        for name, count in (("one", 1), ("thousand", 1000))
    }


@lru_cache
def noisy_max(kind: str) -> Any:
    """Return OpenDP's choice of the largest of noisy scores, at epsilon 1.

    With Gumbel noise, which it accounts for in zero-concentrated DP, it is the Exponential mechanism; with exponential
    noise it is permute-and-flip.
    """
    import opendp.prelude as dp

    dp.enable_features("contrib")
    measure = dp.zero_concentrated_divergence() if kind == "Gumbel" else dp.max_divergence()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    return dp.m.make_noisy_max(*space, measure, scale=2.0 / EPSILON)


@lru_cache
def utilities(count: int) -> NDArray[np.float64]:
    return GENERATOR.integers(0, 101, count).astype(np.float64)


def selection(*, what: str, count: int, calls: int) -> float:
    """Time the choice of one candidate by its utility."""
    scores = utilities(count)
    library, _, kind = what.partition(", ")
    if library == "OpenDP":
        choose = noisy_max(kind)
        return calls_time(lambda: choose(scores), calls)
    if library == "diffprivlib":
        from diffprivlib.mechanisms import Exponential

        # The utilities are given when it is made, and checked, so that making it is part of a choice.
        numbers = scores.tolist()
        return calls_time(
            lambda: Exponential(epsilon=EPSILON, sensitivity=1.0, utility=numbers).randomise(),
            calls,
        )

    def softmax() -> object:
        weights = np.exp((scores - scores.max()) * (EPSILON / 2.0))
        return GENERATOR.choice(count, p=weights / weights.sum())

    return calls_time(softmax, calls)


def versions() -> dict[str, str]:
    return {name: version(name) for name in ("numpy", "opendp", "diffprivlib")}


if __name__ == "__main__":
    serve({task.__name__: task for task in (noised, few, selection, versions)})
