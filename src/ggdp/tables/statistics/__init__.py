"""Counts, sums, means and variances from noisy sums, with intervals that are functions of the noisy sums alone."""

from ggdp.tables.statistics.estimates import count_estimate, single_sum_estimate, sum_estimate
from ggdp.tables.statistics.means import mean_estimate
from ggdp.tables.statistics.noisy_sums import ColumnSums, Estimate
from ggdp.tables.statistics.variances import variance_estimate
from ggdp.tables.statistics.weighted_noise import WeightedNoise

__all__ = [
    "ColumnSums",
    "Estimate",
    "WeightedNoise",
    "count_estimate",
    "mean_estimate",
    "single_sum_estimate",
    "sum_estimate",
    "variance_estimate",
]
