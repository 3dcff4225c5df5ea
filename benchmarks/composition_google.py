"""Totals of dp-accounting, pessimistic, by connecting the dots; a worker in an environment that has it.

Laplace and Gaussian noise are its own, on the reals and on the integers. Noise of other orders is described to it as a
`MonotonePrivacyLoss`, and laid out by the function that its own mechanisms use, which is not public.
"""

from __future__ import annotations

import math
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.pld import privacy_loss_mechanism as mechanisms

from composition_laws import ShiftedNoise
from timing import processor_time
from worker import serve

if TYPE_CHECKING:
    from collections.abc import Sequence


class GeneralLoss(mechanisms.MonotonePrivacyLoss):
    """The loss of noise of any order."""

    def __init__(self, noise: ShiftedNoise) -> None:
        super().__init__(is_discrete=noise.support == "integer")
        self.noise = noise

    def mu_upper_cdf(self, x: Any) -> Any:
        return self.noise.cdf(np.add(x, self.noise.size))

    def mu_lower_log_cdf(self, x: Any) -> Any:
        return self.noise.log_cdf(np.asarray(x, dtype=float))

    def get_delta_for_epsilon(self, epsilon: Any) -> Any:
        levels = np.atleast_1d(np.asarray(epsilon, dtype=float))
        last = self.noise.last_above(levels)
        found = np.clip(self.mu_upper_cdf(last) - np.exp(levels + self.mu_lower_log_cdf(last)), 0.0, 1.0)
        return float(found[0]) if np.isscalar(epsilon) else found

    def connect_dots_bounds(self) -> mechanisms.ConnectDotsBounds:
        far, size = self.noise.reach, self.noise.size
        if self.is_discrete:
            return mechanisms.ConnectDotsBounds(lower_x=int(-far), upper_x=int(far - size))
        return mechanisms.ConnectDotsBounds(
            epsilon_upper=self.privacy_loss(-far - size), epsilon_lower=self.privacy_loss(far)
        )

    def privacy_loss(self, x: float) -> float:
        return float(self.noise.loss(np.asarray(float(x))))

    def inverse_privacy_loss(self, privacy_loss: float) -> float:
        return float(self.noise.last_above(np.array([privacy_loss]))[0])

    def privacy_loss_tail(self) -> mechanisms.TailPrivacyLossDistribution:
        raise NotImplementedError("it belongs to the other way to lay out a loss")


def laid(record: dict[str, Any], step: float) -> pld.PrivacyLossDistribution:
    """Return the distribution of one loss."""
    how: dict[str, Any] = {"value_discretization_interval": step}
    if record["kind"] == "response":
        # A noise parameter p of two buckets answers falsely with the probability p / 2.
        return pld.from_randomized_response(2.0 / (1.0 + math.exp(record["epsilon"])), 2, **how)
    order, scale, size = record["order"], record["scale"], record["size"]
    how["use_connect_dots"] = True
    if record["support"] == "integer" and order == 1.0:
        return pld.from_discrete_laplace_mechanism(1.0 / scale, sensitivity=int(size), **how)
    if record["support"] == "integer" and order == 2.0:
        return pld.from_discrete_gaussian_mechanism(scale / math.sqrt(2.0), sensitivity=int(size), **how)
    if order == 1.0:
        return pld.from_laplace_mechanism(scale, sensitivity=size, **how)
    if order == 2.0:
        return pld.from_gaussian_mechanism(scale / math.sqrt(2.0), sensitivity=size, **how)
    loss = GeneralLoss(ShiftedNoise.of(record))
    return pld.PrivacyLossDistribution(pld._create_pld_pmf_from_monotone_privacy_loss(loss, **how))


def total(losses: Sequence[dict[str, Any]], step: float) -> pld.PrivacyLossDistribution:
    """Return the distribution of the sum of all losses."""
    found = pld.identity(value_discretization_interval=step)
    for record in losses:
        number = record["count"] * record["releases"]
        one = laid(record, step)
        found = found.compose(one if number == 1 else one.self_compose(number))
    return found


def epsilon(*, losses: list[dict[str, Any]], delta: float, step: float) -> dict[str, float]:
    """Return the epsilon for a delta, and the time of finding it from the laws."""
    found, seconds = processor_time(lambda: float(total(losses, step).get_epsilon_for_delta(delta)))
    return {"epsilon": found, "seconds": seconds}


def deltas(*, losses: list[dict[str, Any]], epsilons: list[float], step: float) -> list[float]:
    found = total(losses, step)
    return [float(found.get_delta_for_epsilon(each)) for each in epsilons]


def versions() -> dict[str, str]:
    return {"dp-accounting": version("dp-accounting")}


if __name__ == "__main__":
    serve({task.__name__: task for task in (epsilon, deltas, versions)})
