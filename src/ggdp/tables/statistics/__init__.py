"""Means, sums, variances and quantiles beside the counts of a table, from noisy sums and by private selection."""
