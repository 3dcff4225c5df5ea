"""The Czech autoworkers: six risk factors for coronary thrombosis in 1,841 men.

The data are from the beginning of a follow-up study of the men of a car factory in Czechoslovakia.

Sources: Reinis et al., "Prognostic significance of the risk profile in the prevention of coronary heart disease",
Bratislavske Lekarske Listy 76 (1981), 137-150; Edwards and Havranek, "A fast procedure for model search in
multidimensional contingency tables", Biometrika 72 (1985), 339-351, Table 1.

The label trap: the published table has "no" (and "<140", "<3", "neg") first. Some copies have its counts in its order
under levels named "yes" before "no", which turns every label around. All associations are then still right and every
margin is wrong. Two facts tell which one a copy is:

* a family history of coronary heart disease is the exception: 260 of the 1,841 men have it. Turned around, 1,581 do;
* the one empty cell is that of smokers with neither kind of strenuous work, both high values and a family history.
  Turned around, it is that of non-smokers with both kinds of work, both low values and no family history, whose cell
  holds 12 men.
"""

from __future__ import annotations

from ggdp.datasets.table import CountTable, bundled


def czech() -> CountTable:
    """Return the table of the Czech autoworkers, 64 cells of six factors with two levels each.

    Examples
    --------
    >>> table = czech()
    >>> table.size, table.levels("systolic_bp")
    (1841, ('<140', '>=140'))
    >>> table.margin("family_history")
    {('neg',): 1581, ('pos',): 260}
    """
    return bundled(
        "czech.csv", source="Edwards and Havranek, Biometrika 72 (1985), 339-351, Table 1; Reinis et al. (1981)"
    )
