"""Write peer_values.json: what dp_accounting gives; run in an environment that has dp-accounting 0.6.0."""

import json
from pathlib import Path

GOALS = [(e, d) for e in (0.01, 0.1, 0.5, 1.0, 3.0, 10.0) for d in (1e-12, 1e-9, 1e-6, 1e-3, 0.05)]
LAPLACE = [(e, share / e) for e in (0.01, 0.1, 0.5, 1.0, 3.0, 10.0) for share in (0.3, 0.7, 0.95)]
# Kinds of noise with their scales and how many losses there are of each; and epsilons.
COMPOSITIONS = [
    ([("laplace", 10.0, 5), ("gaussian", 20.0, 3)], (0.1, 0.5, 0.8)),
    ([("gaussian", 25.0, 4), ("gaussian", 40.0, 6)], (0.1, 0.5, 1.0)),
    ([("integer laplace", 8.0, 12)], (0.11, 0.7, 1.3)),
    ([("integer laplace", 15.0, 3), ("integer gaussian", 20.0, 5)], (0.05, 0.5, 1.0)),
    ([("integer gaussian", 30.0, 10), ("integer gaussian", 35.5, 10)], (0.1, 0.6, 1.1)),
    ([("integer gaussian", 12.0, 2), ("gaussian", 15.0, 2)], (0.1, 0.5, 0.9)),
]


def gaussian_std(epsilon, delta):
    """The standard deviation of Gaussian noise for a goal."""
    from dp_accounting.pld import common, privacy_loss_mechanism

    goal = common.DifferentialPrivacyParameters(epsilon, delta)
    return float(privacy_loss_mechanism.GaussianPrivacyLoss.from_privacy_guarantee(goal).standard_deviation)


def laplace_delta(epsilon, scale):
    """The delta of Laplace noise."""
    from dp_accounting.pld import privacy_loss_mechanism

    return float(privacy_loss_mechanism.LaplacePrivacyLoss(scale).get_delta_for_epsilon(epsilon))


def loss_distribution(kind, scale):
    """The pessimistic loss distribution of one coordinate that moves by 1; a Gaussian's scale is sigma sqrt 2."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    if kind == "laplace":
        return pld.from_laplace_mechanism(scale)
    if kind == "gaussian":
        return pld.from_gaussian_mechanism(scale / 2.0**0.5)
    if kind == "integer laplace":
        return pld.from_discrete_laplace_mechanism(1.0 / scale, use_connect_dots=True)
    return pld.from_discrete_gaussian_mechanism(scale / 2.0**0.5, use_connect_dots=True)


def composed_deltas(parts, epsilons):
    """The pessimistic deltas of a composition at its default discretisation."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    total = pld.identity()
    for kind, scale, count in parts:
        total = total.compose(loss_distribution(kind, scale).self_compose(count))
    return [float(total.get_delta_for_epsilon(epsilon)) for epsilon in epsilons]


def main():
    document = {
        "gaussian": [{"epsilon": e, "delta": d, "std": gaussian_std(e, d)} for e, d in GOALS],
        "laplace": [{"epsilon": e, "scale": b, "delta": laplace_delta(e, b)} for e, b in LAPLACE],
        "compositions": [
            {"parts": parts, "epsilons": epsilons, "deltas": composed_deltas(parts, epsilons)}
            for parts, epsilons in COMPOSITIONS
        ],
    }
    Path(__file__).with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
