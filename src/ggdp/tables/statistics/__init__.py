"""Means, sums, variances and quantiles beside the counts of a table."""

from ggdp.tables.statistics.statistic import Mean, Quantile, Statistic, Sum, Variance

__all__ = ["Mean", "Quantile", "Statistic", "Sum", "Variance"]
