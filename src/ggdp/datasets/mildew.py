"""The barley powdery mildew: which parent's allele 70 strands of the fungus have at each of six loci.

The strands are the offspring of two isolates; the levels 1 and 2 are the parents. The table is sparse: of its 64 cells
22 are not empty, and 12 of these hold a single strand.

Source: Edwards, "Introduction to Graphical Modelling", 2nd edition, Springer (2000). The cross itself: Christiansen and
Giese, "Genetic analysis of the obligate parasitic barley powdery mildew fungus based on RFLP and virulence loci",
Theoretical and Applied Genetics 79 (1990), 705-712.

A check of the counts n_i: twice the negative log-likelihood of the saturated model, -2 sum n_i log(n_i/n), is 365.75
(the multinomial coefficient, which no model changes, is left out).
"""

from __future__ import annotations

from ggdp.datasets.table import CountTable, bundled


def mildew() -> CountTable:
    """Return the table of the mildew, 64 cells of six loci with two alleles each.

    Examples
    --------
    >>> table = mildew()
    >>> table.size, sum(count > 0 for count in table.counts)
    (70, 22)
    >>> table.columns
    ('la10', 'locc', 'mp58', 'c365', 'p53a', 'a367')
    """
    return bundled("mildew.csv", source="Edwards, Introduction to Graphical Modelling, 2nd edition, Springer (2000)")
