"""Write peer_values.json: what dp_accounting gives; run in an environment that has dp-accounting 0.6.0."""

import json
from pathlib import Path

GOALS = [(e, d) for e in (0.01, 0.1, 0.5, 1.0, 3.0, 10.0) for d in (1e-12, 1e-9, 1e-6, 1e-3, 0.05)]
LAPLACE = [(e, share / e) for e in (0.01, 0.1, 0.5, 1.0, 3.0, 10.0) for share in (0.3, 0.7, 0.95)]


def gaussian_std(epsilon, delta):
    """The standard deviation of Gaussian noise for a goal."""
    from dp_accounting.pld import common, privacy_loss_mechanism

    goal = common.DifferentialPrivacyParameters(epsilon, delta)
    return float(privacy_loss_mechanism.GaussianPrivacyLoss.from_privacy_guarantee(goal).standard_deviation)


def laplace_delta(epsilon, scale):
    """The delta of Laplace noise."""
    from dp_accounting.pld import privacy_loss_mechanism

    return float(privacy_loss_mechanism.LaplacePrivacyLoss(scale).get_delta_for_epsilon(epsilon))


def main():
    document = {
        "gaussian": [{"epsilon": e, "delta": d, "std": gaussian_std(e, d)} for e, d in GOALS],
        "laplace": [{"epsilon": e, "scale": b, "delta": laplace_delta(e, b)} for e, b in LAPLACE],
    }
    Path(__file__).with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
