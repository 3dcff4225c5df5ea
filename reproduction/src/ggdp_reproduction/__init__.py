"""The paper reproduced: its analyses, experiments, figures and claims, next to tight and exact versions of them.

=============  ==========================================================================================
comparisons    the paper's analyses as functions of public parameters
adult_data     the adult data, downloaded on request
experiments    the simulations of Section 4, and the scales of Fig. 2
figures        all figures
claims         every claim of the text that can be measured, with its verdict
report         the HTML report, and the files of a run
reproduction   all of it, for ``ggdp reproduce`` (`command`) and the explorer (`explorer_view`)
=============  ==========================================================================================

The experiments are simulations from a seed: their output is not a release and has no guarantee.

References
----------
Liu, arXiv 1602.06028 v5.
"""
