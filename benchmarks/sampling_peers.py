"""Noise of NumPy, SciPy, OpenDP and diffprivlib; a worker that runs in an environment that has them."""

from __future__ import annotations

from functools import lru_cache, partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from observer import observed
from timing import calls_time
from worker import serve

if TYPE_CHECKING:
    from collections.abc import Callable

GENERATOR = np.random.default_rng()


@lru_cache
def opendp(law: str, scale: float, *, scalar: bool = False) -> Any:
    """Return OpenDP's exact integer mechanism, on a list of integers or on one."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    element = dp.atom_domain(T=int)
    domain = element if scalar else dp.vector_domain(element)
    if law == "laplace":
        return dp.m.make_laplace(domain, dp.absolute_distance(T=int) if scalar else dp.l1_distance(T=int), scale)
    return dp.m.make_gaussian(domain, dp.absolute_distance(T=float) if scalar else dp.l2_distance(T=float), scale)


@lru_cache
def diffprivlib(law: str) -> Any:
    """Return a mechanism that adds noise to one integer, at epsilon 0.1 and sensitivity 1."""
    from diffprivlib import mechanisms

    if law == "snapping":
        return mechanisms.Snapping(epsilon=0.1, sensitivity=1.0, lower=-1e3, upper=1e3).randomise
    return mechanisms.Geometric(epsilon=0.1, sensitivity=1).randomise


def drawing(what: str, size: int, scale: float, order: float) -> Callable[[], object]:
    """Return a call that makes so many draws in a fresh array, or in a list where the library has no arrays."""
    library, _, law = what.partition(" ")
    if library == "OpenDP":
        mechanism, zeros = opendp(law, scale), [0] * size
        return lambda: mechanism(zeros)
    if library == "diffprivlib":
        randomise = diffprivlib(law)
        return lambda: [randomise(0) for _ in range(size)]
    if law == "gennorm":
        from scipy.stats import gennorm

        return lambda: gennorm.rvs(order, scale=scale, size=size, random_state=GENERATOR)
    if law == "normal":
        return lambda: GENERATOR.standard_normal(size)
    return lambda: GENERATOR.laplace(0.0, scale, size)


def draws(*, what: str, size: int, scale: float = 10.0, order: float = 1.0, calls: int = 1) -> float:
    return calls_time(drawing(what, size, scale, order), calls)


def watched(*, laplace_scale: float, gaussian_scale: float, singles: int, batches: int) -> dict[str, dict[str, Any]]:
    """Return what an observer of OpenDP's times learns."""
    zeros = [0] * 64
    calls: dict[str, tuple[Callable[[], Any], int]] = {}
    for law, scale in (("laplace", laplace_scale), ("gaussian", gaussian_scale)):
        one, many = opendp(law, scale, scalar=True), opendp(law, scale)
        name = f"OpenDP, {law.capitalize()}, standard deviation 10"
        calls[f"{name}, one draw"] = (partial(one, 0), singles)
        calls[f"{name}, 64 draws"] = (partial(many, zeros), batches)
    return observed(calls)


def versions() -> dict[str, str]:
    return {name: version(name) for name in ("numpy", "scipy", "opendp", "diffprivlib")}


if __name__ == "__main__":
    serve({"draws": draws, "watched": watched, "versions": versions})
