"""Statistics of noisy sums: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

COVER = "tests/statistical/test_statistics.py::test_intervals_cover_at_their_level_for_every_count[2.0-8000]"
QUANTILES = "tests/tables/statistics/test_weighted_noise.py::"
ESTIMATES = "tests/tables/statistics/test_estimates.py::"

SABOTAGES = [
    Sabotage(
        "weighted noise is taken at a lower level",
        "tables/statistics/characteristic.py",
        "ndtri(0.5 + 0.5 * level))",
        "ndtri(level))",
        (f"{QUANTILES}test_gaussian_noise_has_the_quantiles_of_its_variance[weights1-0.95]", COVER),
    ),
    Sabotage(
        "quantiles of weighted noise are rounded down",
        "tables/statistics/weighted_noise.py",
        "return magnitude_quantiles(order, level, rows) * (1.0 + MARGIN)",
        "return magnitude_quantiles(order, level, rows) * (1.0 - MARGIN)",
        (f"{QUANTILES}test_laplace_noise_has_the_quantiles_of_its_partial_fractions[weights0-0.95]",),
    ),
    Sabotage(
        "means are tested with the noise of their middle",
        "tables/statistics/means.py",
        "noise.along(slopes, slopes - 1.0, m, level)",
        "noise.along(slopes, slopes - 1.0, 0.0 * m + 0.5, level)",
        (f"{ESTIMATES}test_the_ends_of_means_are_where_the_test_begins_to_reject[2.0]", COVER),
    ),
    Sabotage(
        "means of cells without units are shown",
        "tables/statistics/means.py",
        "counted = total > 0.0",
        "counted = total != 0.0",
        (f"{ESTIMATES}test_a_mean_without_units_is_null_and_its_interval_the_whole_range",),
    ),
    Sabotage(
        "variances take the mean for known",
        "tables/statistics/variances.py",
        "far = variance + np.square(np.maximum(np.abs(left - mean), np.abs(right - mean)))",
        "far = variance - 0.02",
        (COVER,),
    ),
    Sabotage(
        "ends of intervals are inside of what is not rejected",
        "tables/statistics/outer_roots.py",
        "result[at[done]] = outside[done]",
        "result[at[done]] = inside[done]",
        (f"{ESTIMATES}test_outer_roots_of_many_functions_are_each_found_from_any_guess[5.0]",),
    ),
    Sabotage(
        "sums forget the noise of the lower end",
        "tables/statistics/estimates.py",
        "reach = noise.half_widths(np.concatenate(weights), level) + ROUNDING * sizes",
        "reach = noise.half_widths(np.concatenate(weights)[-1:], level) + ROUNDING * sizes",
        (COVER,),
    ),
]
