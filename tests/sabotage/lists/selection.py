"""Selection: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

SELECT = "tests/conformance/test_selection.py::"
QUANTILES = "tests/mechanisms/test_quantiles.py::"
POSITIONS = "tests/mechanisms/test_quantile_positions.py::"
RANGES = "tests/tables/test_clamping_range.py::"

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
        "mechanisms/utility_values.py",
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
    Sabotage(
        "quantiles with half of their sensitivity",
        "mechanisms/quantiles.py",
        "larger = max(node.above, node.below - node.above)",
        "larger = max(node.above, node.below - node.above) // 2 or 1",
        (f"{QUANTILES}test_one_quantile_has_the_law_of_the_exponential_mechanism_on_all_steps",),
    ),
    Sabotage(
        "quantiles of the left half spend what was spent before",
        "mechanisms/quantiles.py",
        "left = self._node(first, middle, parts, epsilon - cost)",
        "left = self._node(first, middle, parts, epsilon)",
        (
            f"{QUANTILES}test_no_path_of_halves_costs_more_than_what_the_values_may_cost",
            f"{QUANTILES}test_three_quantiles_have_the_law_of_halves",
        ),
    ),
    Sabotage(
        "under replace-one a row in both halves is paid for once",
        "mechanisms/quantiles.py",
        "return node.below if first else 2 * larger",
        "return node.below if first else larger",
        (f"{QUANTILES}test_three_quantiles_have_the_law_of_halves",),
    ),
    Sabotage(
        "separate quantiles each cost everything",
        "mechanisms/quantiles.py",
        "epsilon = self._for_values / len(self.fractions)",
        "epsilon = self._for_values",
        (f"{QUANTILES}test_neighbours_lose_no_more_than_epsilon_separately",),
    ),
    Sabotage(
        "a gap weighs as much as one step",
        "mechanisms/quantile_parts.py",
        "sizes[:, 0], sizes[slots, 1] = gaps, 1",
        "sizes[:, 0], sizes[slots, 1] = np.minimum(gaps, 1), 1",
        (f"{QUANTILES}test_one_quantile_has_the_law_of_the_exponential_mechanism_on_all_steps",),
    ),
    Sabotage(
        "runs trust their floats",
        "sampling/runs.py",
        "accepted = offsets < lower[found]",
        "accepted = offsets < upper[found]",
        ("tests/sampling/test_runs.py::test_the_units_and_bits_of_a_run_are_its_weight",),
    ),
    Sabotage(
        "intervals of quantiles for half of their noise",
        "mechanisms/quantiles.py",
        'rows = 1 if self.neighbours == "add-remove" else 2',
        "rows = 1",
        (f"{QUANTILES}test_the_losses_and_the_noise_of_intervals_are_those_of_epsilon",),
    ),
    Sabotage(
        "a private range takes noise for values",
        "tables/range_release.py",
        "seen = np.flatnonzero(counts > level)",
        "seen = np.flatnonzero(counts > 0)",
        (f"{RANGES}test_the_range_holds_all_but_the_share_of_the_buckets_above_the_noise",),
    ),
    Sabotage(
        "a private range spends before it looks at its output",
        "tables/clamping_range.py",
        "            checked_path(self.out, overwrite=overwrite)\n",
        "            pass\n",
        (f"{RANGES}test_a_file_is_written_once_and_refused_before_anything_is_spent",),
    ),
    Sabotage(
        "a private range is written over its data",
        "tables/clamping_range.py",
        "            require_apart(data, [self.out])\n",
        "            pass\n",
        ("tests/cli/test_range.py::test_an_output_never_replaces_the_data",),
    ),
    Sabotage(
        "the errors of a step with many rows begin to rise one position too early",
        "mechanisms/quantile_parts.py",
        "falling = np.clip(-(-needed // growth), 0, last - first)",
        "falling = np.clip(needed // growth, 0, last - first)",
        (
            f"{POSITIONS}test_each_of_four_million_positions_has_the_error_of_its_definition[fractions0-add-remove-ties]",
        ),
    ),
    Sabotage(
        "intervals of quantiles by halves are as narrow as for half of their noise",
        "mechanisms/quantile_intervals.py",
        "        critical = critical_values(float(q), counts.shape[1], scale)\n",
        "        critical = critical_values(float(q), counts.shape[1], scale) / 2\n",
        (
            "tests/statistical/test_quantile_intervals.py::"
            "test_intervals_of_quantiles_by_halves_cover_in_cells_of_any_size[many-1500]",
        ),
    ),
]
