"""Whether a release is consistent with "nothing was counted": a function of the released values alone, which is free.

=======  ==============================================================================================
p, b     order and scale of the integer noise K
w        weights of the noisy sums in what is published of a cell; (1) where counts are published
n        cells of a table
X        sum of w_i K_i: the noise of a cell, and of the whole table with the weights of all cells
M(t)     E e^(t K); as K is symmetric, E e^(t w K) = M(|w| t)
=======  ==============================================================================================

A table is called empty if no cell is further from 0 than c(n), and the total is no further from 0 than c. Claim: if
nothing was counted, this fails with a probability of at most `MISS`. Proof: by Chernoff's bound, for every t > 0,
P(|X| >= x) <= 2 e^(-t x) times the product of the M(|w_i| t); so c is chosen for half of `MISS`, and c(n) for half of
it over n cells. Of noise of a norm they are half-widths (`ggdp.releases.comparisons`). Of a sparse table only cells
above a threshold are known: no more of them are beyond c(n). An open table with a key that is shown is not empty.

Sums over K are floats on the integers, in steps of up to b/100 where the scale is large; they guard nothing but a note.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ggdp.releases.comparisons import far, sum_half_width
from ggdp.releases.error_law import VectorErrorLaw
from ggdp.tables.statistics.estimates import count_weights
from ggdp.tables.statistics.released_statistics import counting, noise_of, sums_of_groups
from ggdp.tables.statistics.statistics_plan import measure_of
from ggdp.tables.statistics.weighted_noise import BlockNoise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ggdp.releases.error_law import ErrorLaw
    from ggdp.tables.table_release import TableRelease

MISS = 1e-3
_LOOK = (
    "If that is a surprise, look at the decimal mark, the encoding, the levels and the filter; `ggdp check` shows what "
    "can be read"
)


def looks_empty(
    law: ErrorLaw | VectorErrorLaw | BlockNoise, values: NDArray[np.float64], weights: NDArray[np.float64], cells: int
) -> bool:
    """Return whether published values, all of a table or those above a threshold, may be nothing but noise."""
    if isinstance(law, BlockNoise):
        if np.any(np.abs(values) > law.far(weights, MISS / 2 / cells)):
            return False
        return abs(float(values.sum())) <= law.far(weights, MISS / 2, cells)
    if isinstance(law, VectorErrorLaw):
        if np.any(np.abs(values) > law.half_width(1.0 - MISS / 2 / cells)):
            return False
        return abs(float(values.sum())) <= sum_half_width(((law, cells, 0),), 1.0 - MISS / 2)
    if np.any(np.abs(values) > far(law.order, law.scale, weights, 1, MISS / 2 / cells)):
        return False
    is_complete = values.size == cells
    return not is_complete or abs(float(values.sum())) <= far(law.order, law.scale, weights, cells, MISS / 2)


def notes_of(release: TableRelease) -> Iterator[str]:
    """Yield a note for each table, and each column of statistics, that is consistent with nothing at all."""
    plan, request, start = release.plan, release.plan.request, 0
    for number, table in enumerate(release.tables):
        named = f"table {' x '.join(table.by)}" if table.by else "the whole table"
        size, one = request.sizes[number], np.ones(1)
        if plan.statistics is None:
            is_open = request.regimes[number] == "open"
            values = table.noisy_count.astype(np.float64)
            if not values.size or not (is_open or not looks_empty(plan.laws[number], values, one, size or 1)):
                yield f"{named}: the published counts are consistent with an empty table. {_LOOK}"
            continue
        sums, cells = plan.statistics.sums[number], len(table)
        noisy = release.release.noisy[start : start + sums * cells].reshape(sums, cells)
        start += sums * cells
        groups = sums_of_groups(plan, number, noisy.astype(np.float64))
        columns = counting(groups)
        weights = np.concatenate(count_weights(columns))
        places, blocks = range(len(groups)), plan.statistics.blocks
        noise: list[Any] = [noise_of(plan, number, place) if blocks else plan.laws[number] for place in places]
        counts = sum(column.sums @ weight for column, weight in zip(columns, count_weights(columns), strict=True))
        if not cells or (size is not None and looks_empty(noise[0], np.asarray(counts), weights, size)):
            yield f"{named}: the published counts are consistent with an empty table. {_LOOK}"
            continue
        empty, without = {}, dict[str, list[str]]()
        for law, (group, column) in zip(noise, groups, strict=True):
            if group.measure is not None:
                known = column.sums if group.kind == "sum" else column.of_values
                each = np.full(known.shape[1], 1.0 / column.unit)
                empty[group.measure] = looks_empty(law, known @ each, each, cells)
        found = {one.name: one for one in table.statistics}
        for statistic in request.table_statistics[number]:
            no_value = all(np.isnan(found[name].value).all() for name in statistic.names)
            if empty.get(measure_of(request, statistic), no_value):
                without.setdefault(statistic.column, []).extend(statistic.names)
        for column_name, names in without.items():
            words = f"{'is' if len(names) == 1 else 'are'} consistent with a column {column_name!r} without any number"
            yield f"{named}: the published {' and '.join(names)} {words}. {_LOOK}"
