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
        "proofs/tilted_sums.py",
        "    return total + left.sum(b, max(-D - high, 1), -D - low)\n",
        "    return total\n",
        (f"{QUOTED}test_renyi_divergences_are_those_of_a_plain_sum_or_integral",),
    ),
    Sabotage(
        "a sum over a block forgets what its polynomial leaves out",
        "proofs/tilted_sums.py",
        "        found = arb(0, rest.upper())\n",
        "        found = arb(0)\n",
        ("tests/proofs/test_tilted_sums.py::test_what_a_polynomial_leaves_out_is_in_the_ball",),
    ),
    Sabotage(
        "a sum over a block is its integral",
        "proofs/tilted_sums.py",
        "    total, square = arb(2 * half) / (n + 1) + 1, arb(half) ** 2\n",
        "    total, square = arb(2 * half) / (n + 1), arb(half) ** 2\n",
        ("tests/proofs/test_tilted_sums.py::test_sums_of_powers_are_those_of_the_integers",),
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
