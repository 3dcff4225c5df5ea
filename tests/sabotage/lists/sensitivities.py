"""Sensitivities and grids: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

LOSS = "tests/conformance/test_guarantee.py::test_no_neighbours_lose_more_than_is_promised"

SABOTAGES = [
    Sabotage(
        "replace-one moves one cell",
        "privacy/sensitivity.py",
        'return cls.cells(m if relation == "add-remove" else 2 * m, 1, neighbours=relation)',
        "return cls.cells(m, 1, neighbours=relation)",
        (f"{LOSS}[laplace-integers-replace-one]",),
    ),
    Sabotage(
        "replace-one is taken for disjoint",
        "privacy/sensitivity.py",
        'if validated_neighbours(neighbours) == "replace-one":',
        "if False:",
        ("tests/privacy/test_sensitivity.py::test_disjoint_with_replace_one_names_histogram",),
    ),
    Sabotage(
        "the corner counts one coordinate",
        "privacy/sensitivity.py",
        "return ((self.sizes[0], self.moving),)",
        "return ((self.sizes[0], 1),)",
        (f"{LOSS}[gaussian-integers-replace-one]",),
    ),
    Sabotage(
        "a norm of another order is taken for an l_1 norm",
        "proofs/requirements.py",
        "bound = self._delta_of(most_l1(self.sensitivity, self.support))",
        "bound = self._delta_of(self.sensitivity.joint[1])",
        ("tests/calibration/test_calibrate.py::test_a_norm_of_another_order_is_bounded_by_way_of_its_l_1_norm",),
    ),
    Sabotage(
        "Laplace noise for the l_2 norm",
        "proofs/requirements.py",
        "LaplaceLoss(sensitivity=most_l1(self.sensitivity, self.support))",
        "LaplaceLoss(sensitivity=self.sensitivity.lp(2))",
        (f"{LOSS}[laplace-integers-replace-one]",),
    ),
    Sabotage(
        "halves are rounded to even",
        "privacy/grid.py",
        "f += y >= 0.5",
        "f += (y > 0.5) | ((y == 0.5) & (f % 2 == 1))",
        (f"{LOSS}[laplace-grid]",),
    ),
    Sabotage(
        "sensitivities in steps are rounded down",
        "privacy/grid.py",
        "steps = math.ceil(Fraction(size) / Fraction(self.step))",
        "steps = math.floor(Fraction(size) / Fraction(self.step))",
        (f"{LOSS}[laplace-grid-between-steps]",),
    ),
]
