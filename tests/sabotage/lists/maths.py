"""Vectors, privacy profiles, Renyi divergences and one-sided utilities: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

VECTORS = "tests/loss/test_integer_gaussian.py::"

SABOTAGES = [
    Sabotage(
        "discrete Gaussian noise on a vector is taken for continuous noise",
        "loss/integer_gaussian.py",
        "inner = arb(scale) ** 2 - 2 * arb(s) ** 2",
        "inner = arb(scale) ** 2 + 0 * arb(s) ** 2",
        (f"{VECTORS}test_no_move_has_a_larger_delta_than_is_proved",),
    ),
    Sabotage(
        "the cost of comparing discrete with continuous noise is left out",
        "loss/integer_gaussian.py",
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
]
