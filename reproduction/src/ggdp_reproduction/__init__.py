"""The paper reproduced: its analyses, experiments, figures and claims, beside tight and exact versions of them.

=============  ==========================================================================================
data           the adult data, downloaded on request
comparisons    the paper's analyses as functions of public parameters
experiments    the simulations of Section 4, and the scales of Fig. 2
figures        all figures
claims         every claim of the text that can be measured, with its verdict
report         the HTML report, and the files of a run
reproduction   all of it, for ``ggdp reproduce``
=============  ==========================================================================================

The experiments are simulations from a seed: their output is not a release and has no guarantee.

References
----------
Liu, arXiv 1602.06028 v5.
"""
