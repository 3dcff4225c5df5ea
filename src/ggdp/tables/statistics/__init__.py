"""Means, sums, variances and quantiles beside the counts of a table, from noisy sums and by private selection."""

from ggdp.tables.statistics.estimates import (
    ColumnSums,
    Estimate,
    count_estimate,
    mean_estimate,
    single_sum_estimate,
    sum_estimate,
    variance_estimate,
)
from ggdp.tables.statistics.statistic import Mean, Quantile, Statistic, Sum, Variance
from ggdp.tables.statistics.weighted_noise import WeightedNoise

__all__ = [
    "ColumnSums",
    "Estimate",
    "Mean",
    "Quantile",
    "Statistic",
    "Sum",
    "Variance",
    "WeightedNoise",
    "count_estimate",
    "mean_estimate",
    "single_sum_estimate",
    "sum_estimate",
    "variance_estimate",
]
