"""Selection: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

SELECT = "tests/conformance/test_selection.py::"

SABOTAGES = [
    Sabotage(
        "the Exponential mechanism without its factor of 2",
        "mechanisms/exponential.py",
        "return Fraction(epsilon) / ((1 if monotonic else 2) * Fraction(sensitivity))",
        "return Fraction(epsilon) / Fraction(sensitivity)",
        (f"{SELECT}test_the_worst_neighbours_come_near_to_epsilon_and_not_above",),
    ),
    Sabotage(
        "selection trusts its floats",
        "sampling/selection.py",
        "undecided = 2 * margin + 1",
        "undecided = 1",
        ("tests/sampling/test_selection.py::test_the_units_and_bits_of_a_candidate_are_its_weight",),
    ),
    Sabotage(
        "excluded candidates are drawn",
        "mechanisms/exponential.py",
        "kept = np.flatnonzero(~self.excluded)",
        "kept = np.arange(len(self.candidates))",
        (f"{SELECT}test_an_excluded_candidate_is_never_drawn_and_its_utility_is_not_looked_at",),
    ),
    Sabotage(
        "an infinite utility is taken",
        "mechanisms/exponential.py",
        "    if not finite:\n",
        "    if not finite and False:\n",
        (f"{SELECT}test_a_utility_that_would_leave_the_support_is_refused",),
    ),
    Sabotage(
        "seeded selections carry a guarantee",
        "mechanisms/exponential.py",
        "self.guarantee if is_private(bits) else None",
        "self.guarantee",
        (f"{SELECT}test_a_million_candidates_and_ties_are_drawn_from",),
    ),
]
