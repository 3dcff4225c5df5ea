"""Vectors, privacy profiles, Renyi divergences and one-sided utilities: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

QUOTED = "tests/calibration/test_quoted.py::"
SIDES = "tests/mechanisms/test_randomised_response.py::"
VECTORS = "tests/proofs/test_integer_gaussian.py::"

SABOTAGES = [
    Sabotage(
        "discrete Gaussian noise on a vector is taken for continuous noise",
        "proofs/integer_gaussian.py",
        "inner = arb(law.scale) ** 2 - 2 * arb(s) ** 2",
        "inner = arb(law.scale) ** 2 + 0 * arb(s) ** 2",
        (f"{VECTORS}test_no_move_has_a_larger_delta_than_is_proved",),
    ),
    Sabotage(
        "the cost of comparing discrete with continuous noise is left out",
        "proofs/integer_gaussian.py",
        "moving = min(dimension, math.floor(sensitivity * sensitivity) + 1)",
        "moving = 0 * min(dimension, math.floor(sensitivity * sensitivity) + 1)",
        (f"{VECTORS}test_more_coordinates_or_a_longer_move_never_have_a_smaller_bound",),
    ),
    Sabotage(
        "rounding to the grid is not in the norm of a vector",
        "privacy/grid.py",
        "return rounded_up(exact + Fraction(extra), of=",
        "return rounded_up(exact + 0 * Fraction(extra), of=",
        (f"{VECTORS}test_rounding_to_the_grid_is_in_the_proved_norm",),
    ),
    Sabotage(
        "whoever is replaced is taken to move utilities to one side",
        "mechanisms/exponential.py",
        'if self.monotonic and self.neighbours != "add-remove":',
        'if self.monotonic and self.neighbours == "nobody":',
        (f"{SIDES}test_what_is_not_monotonic_is_refused",),
    ),
    Sabotage(
        "randomised response is told too truthfully",
        "mechanisms/randomised_response.py",
        "selected(Weights.of(utilities, Fraction(self.goal.epsilon)), bits)",
        "selected(Weights.of(utilities, 2 * Fraction(self.goal.epsilon)), bits)",
        (f"{SIDES}test_randomised_response_loses_just_epsilon",),
    ),
    Sabotage(
        "a lower bound is that of a smaller epsilon",
        "proofs/corner.py",
        "delta_below(total, epsilon, s)",
        "delta_below(total, epsilon / 2, s)",
        (f"{QUOTED}test_the_delta_of_a_corner_lies_between_its_bounds",),
    ),
    Sabotage(
        "a Renyi divergence leaves out the far side",
        "proofs/renyi.py",
        "total += (_height(p, d, a, start + j * step) - top).exp()",
        "total += (_height(p, d, a, start + 2 * j * step) - top).exp()",
        (f"{QUOTED}test_renyi_divergences_are_those_of_a_plain_sum_or_integral",),
    ),
    Sabotage(
        "a divergence at a larger alpha is left out of the concentrated guarantee",
        "proofs/divergences.py",
        "upper_float(arb(at(last)[1]) / arb(first))",
        "upper_float(arb(at(last)[0]) / arb(last) / 2)",
        (f"{QUOTED}test_orders_below_two_are_concentrated",),
    ),
    Sabotage(
        "delta below an epsilon of 0 is that above it",
        "proofs/profile.py",
        "return 1 - share + share * arb(delta)",
        "return arb(delta) + 0 * share",
        (f"{QUOTED}test_at_zero_and_below_delta_is_a_distance_of_laws",),
    ),
]
