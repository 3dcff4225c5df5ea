"""What is promised: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

PROOFS = "tests/conformance/test_proofs.py::"
SHAPES = "tests/conformance/test_shapes.py::"
AFTER = "tests/conformance/test_postprocessing.py::"

SABOTAGES = [
    Sabotage(
        "the guarantee is always of add-remove",
        "proofs/requirements.py",
        "goal, neighbours = question.goal, question.sensitivity.neighbours",
        'goal, neighbours = question.goal, "add-remove"',
        (f"{SHAPES}test_every_shape_is_released_with_the_guarantee[(1,)-laplace-integers-replace-one]",),
    ),
    Sabotage(
        "probabilistic DP survives post-processing",
        "privacy/guarantees.py",
        "return PureDP(self.epsilon, self.neighbours)\n        return self.to_approximate()",
        "return PureDP(self.epsilon, self.neighbours)\n        return self",
        (f"{AFTER}test_a_clipped_release_does_not_keep_its_probabilistic_guarantee",),
    ),
    Sabotage(
        "adjusted releases keep their guarantee",
        "releases/release.py",
        "kept if kept is None or marginal else kept.after_postprocessing()",
        "kept",
        (f"{AFTER}test_a_clipped_release_does_not_keep_its_probabilistic_guarantee",),
    ),
    Sabotage(
        "seeded releases carry a guarantee",
        "mechanisms/additive.py",
        "self.guarantee if is_private(bits) else None",
        "self.guarantee",
        (f"{SHAPES}test_bits_come_from_the_operating_system_and_seeded_ones_carry_no_guarantee[laplace-integers]",),
    ),
    Sabotage(
        "the probability of saturation is left out",
        "mechanisms/saturation.py",
        "proved.delta + steps.sensitivity.moving * _most_beyond(steps.scale, one_to_one - clamp), math.inf",
        "proved.delta, -math.inf",
        ("tests/mechanisms/test_saturation.py::test_probabilistic_dp_stays_on_the_integers",),
    ),
    Sabotage(
        "a guarantee may be above its goal",
        "mechanisms/saturation.py",
        "if delta <= steps.goal.delta:",
        "if delta < 1.0:",
        (f"{PROOFS}test_a_guarantee_is_never_above_its_goal",),
    ),
    Sabotage(
        "true values are not clamped for probabilistic DP",
        "mechanisms/saturation.py",
        "np.add(np.clip(x, -clamp, clamp, out=buffer[: x.size]), y, out=y)",
        "np.add(x, y, out=y)",
        (f"{SHAPES}test_probabilistic_releases_clamp_true_values_far_from_the_ends[gaussian-integers-probabilistic]",),
    ),
]
