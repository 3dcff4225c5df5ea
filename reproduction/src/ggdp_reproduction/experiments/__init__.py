"""The experiments of the paper's Section 4, and the scales of its Fig. 2."""
