"""Releases: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

AFTER = "tests/conformance/test_postprocessing.py::"
COVER = "tests/conformance/test_intervals.py::test_intervals_cover_at_their_level_after_each_adjustment"

SABOTAGES = [
    Sabotage(
        "a public total under add-remove",
        "releases/totals.py",
        'if release.neighbours != "replace-one":',
        "if False:",
        (
            f"{AFTER}test_pure_and_approximate_dp_survive_and_probabilistic_dp_becomes_approximate"
            "[normalise-laplace-integers]",
        ),
    ),
    Sabotage(
        "values are drawn again",
        "releases/adjustments.py",
        "    raise UnprovedError(message)\n",
        "    return None\n",
        (f"{AFTER}test_values_cannot_be_drawn_again[laplace-integers]",),
    ),
    Sabotage(
        "intervals are one too narrow",
        "distributions/integer_tails.py",
        "        low, high = (low, middle) if passes(middle) else (middle, high)\n    return high\n",
        "        low, high = (low, middle) if passes(middle) else (middle, high)\n    return max(high - 1, at_least)\n",
        (f"{COVER}[laplace-integers-raw]",),
    ),
    Sabotage(
        "intervals count one tail only",
        "releases/intervals.py",
        "return least_with_tail(order, scale, lambda: (1 - arb(level)) / 2, at_least=1) - 1",
        "return least_with_tail(order, scale, lambda: 1 - arb(level), at_least=1) - 1",
        (f"{COVER}[gaussian-integers-raw]",),
    ),
    Sabotage(
        "intervals of truncated noise miss twice as often",
        "releases/intervals.py",
        "<= a * (1.0 - _MARGIN) * total)",
        "<= 2 * a * (1.0 - _MARGIN) * total)",
        (f"{COVER}[truncated-order-2-grid-raw]",),
    ),
    Sabotage(
        "intervals are centred on adjusted values",
        "releases/release.py",
        "return Interval(*record.law.intervals(self.noisy, single))",
        "return Interval(*record.law.intervals(self.values, single))",
        (f"{COVER}[laplace-grid-clip]",),
    ),
    Sabotage(
        "intervals know of no clamp",
        "mechanisms/additive.py",
        "            clamp=self._saturation.clamp,\n",
        "",
        ("tests/mechanisms/test_saturation.py::test_intervals_cover_counts_that_were_clamped",),
    ),
    Sabotage(
        "values outside the bounds of the sensitivity are taken as they are",
        "mechanisms/additive.py",
        "if self.sensitivity.bounds is None:",
        "if True:",
        ("tests/mechanisms/test_additive.py::test_values_outside_the_bounds_of_the_sensitivity_are_clamped_silently",),
    ),
    Sabotage(
        "intervals of cells chosen by their noise are those of single cells",
        "releases/release.py",
        "if cells <= 1 or number == 0.0:",
        "if True:",
        ("tests/releases/test_adjustments.py::test_intervals_of_cells_chosen_by_their_noise_cover_all_cells_together",),
    ),
    Sabotage(
        "sensitivities are rounded to the nearest float",
        "_validate.py",
        "    if number < value:",
        "    if False:",
        ("tests/privacy/test_sensitivity.py::test_a_sensitivity_is_never_rounded_down",),
    ),
]
