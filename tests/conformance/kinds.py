"""Every kind of additive mechanism with concrete neighbouring data: add a line here, and the whole suite runs on it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from typing import Literal

import pytest

import ggdp
from ggdp.calibration.grid_calibration import on_grid
from ggdp.calibration.paper import classic_gaussian, exponential_calibration
from ggdp.mechanisms import Mechanism
from ggdp.privacy.grid import Grid

PURE = ggdp.PureDP(1.0)
APPROXIMATE = ggdp.ApproxDP(1.0, 0.05)
PROBABILISTIC = ggdp.ProbabilisticDP(1.0, 0.05)
# People by the cells they are counted in, three cells in all, of which one is empty if each is in one.
PEOPLE = ((0,), (0,), (2,), (2,), (2,), (0, 1, 2), (1, 2))
CELLS = 3
STEP = 0.25
# Five steps: an odd number takes a half to a half, one rounded up and one down by those who round to even.
D = 1.25


@dataclass(frozen=True, eq=False)
class Kind:
    """A mechanism, and pairs of true values of which one person makes the difference.

    What it promises `claims` to be just what the worst of these pairs loses, at the least scale or at some scale
    ("exact"), or only an upper bound. `slow` tells whether it takes seconds to calibrate, `real` whether its values are
    real numbers, and `coordinates` how many a release must have, None for any number.
    """

    name: str
    build: Callable[[], Mechanism]
    neighbours: tuple
    claims: Literal["least", "exact", "bound"] = "least"
    slow: bool = False
    real: bool = False
    coordinates: int | None = None

    @property
    def mechanism(self):
        return _built(self)


@cache
def _built(kind):
    return kind.build()


def histogram(people):
    return tuple(sum(cell in cells for cells in people) for cell in range(CELLS))


def histograms(relation, max_cells=1, people=PEOPLE):
    """All pairs of neighbouring histograms: someone comes, or someone is replaced by somebody else."""
    there = tuple(cells for cells in people if len(cells) <= max_cells)
    anybody = [cells for size in range(1, max_cells + 1) for cells in combinations(range(CELLS), size)]
    if relation == "add-remove":
        return tuple((histogram(there), histogram((*there, somebody))) for somebody in anybody)
    return tuple((histogram((*there, one)), histogram((*there, other))) for one in anybody for other in anybody)


def bounded_histograms(relation, most):
    """The same from all counts, since what is bounded depends on where it is."""
    crowds = [((0,),) * first + ((1,),) * second for first in range(most) for second in range(most)]
    return tuple(dict.fromkeys(pair for people in crowds for pair in histograms(relation, people=people)))


def moves(sizes, start=(0.125, 17.3)):
    """Real statistics that move by all of their sensitivity, or by less, from places where rounding matters."""
    return tuple(
        (tuple(x for _ in sizes), tuple(x + share * size for size in sizes)) for x in start for share in (1, -1, 0.4)
    )


def on_steps(calibration):
    return Mechanism(on_grid(calibration, Grid(step=STEP)))


def counted(
    name, goal, order, *, relation="add-remove", max_cells=1, bounds=None, bounding=None, claims="least", slow=False
):
    query = ggdp.Sensitivity.histogram(relation, max_cells)
    how = {"order": order, "support": "integer", "bounds": bounds, "bounding": bounding}
    pairs = histograms(relation, max_cells) if bounds is None else bounded_histograms(relation, bounds[0][1])
    return Kind(name, lambda: Mechanism(ggdp.calibrate(goal, query, **how)), pairs, claims, slow)


def measured(name, goal, order, *, sizes=(D,), start=(0.125, 17.3), claims="least", slow=False, **how):
    query = ggdp.Sensitivity.disjoint(sizes[0]) if len(sizes) == 1 else ggdp.Sensitivity.box(sizes)
    coordinates = None if len(sizes) == 1 else len(sizes)
    return statistics(
        name, goal, order, query, moves(sizes, start=start), claims=claims, slow=slow, coordinates=coordinates, **how
    )


def statistics(name, goal, order, query, pairs, *, claims="least", slow=False, coordinates=None, **how):
    """Real statistics with a sensitivity and neighbours of their own."""

    def build():
        return on_steps(ggdp.calibrate(goal, query, order=order, **how))

    return Kind(name, build, pairs, claims, slow, real=True, coordinates=coordinates)


def on_own_grid(name, goal, order, *, d=0.3, start=(0.0, 17.3), **how):
    """Real statistics on the grid that the mechanism takes by itself, of a thousand steps and more."""

    def build():
        return Mechanism(ggdp.calibrate(goal, ggdp.Sensitivity.disjoint(d), order=order, **how))

    return Kind(name, build, moves((d,), start=start), real=True)


def exponential(name, order, *, bounds=None, start):
    def build():
        return on_steps(exponential_calibration(PURE, ggdp.Sensitivity.disjoint(D), order=order, bounds=bounds))

    return Kind(name, build, moves((D,), start=start), "exact", real=True)


# Where a bounded query lies: at its bounds, between them, and, for whoever lied about them, outside.
INSIDE = {"start": (0.0, 3.0, 1.625, 0.7, -9.0)}
COUNTS_IN = [(0, 5)]
IN = [(0.0, 3.0)]

ADDITIVE = [
    counted("laplace-integers", PURE, 1),
    counted("laplace-integers-replace-one", PURE, 1, relation="replace-one"),
    counted("laplace-integers-three-cells", PURE, 1, max_cells=3),
    counted("laplace-integers-approximate", APPROXIMATE, 1),
    counted("laplace-integers-approximate-replace-one", APPROXIMATE, 1, relation="replace-one", slow=True),
    measured("laplace-grid", PURE, 1),
    measured("laplace-grid-between-steps", PURE, 1, sizes=(0.7,), start=(0.0, 0.125, 0.124, 0.2)),
    measured("laplace-box", PURE, 1, sizes=(D, 0.5)),
    statistics(
        "laplace-grid-replace-one",
        PURE,
        1,
        ggdp.Sensitivity.cells(2, D, neighbours="replace-one"),
        # A replaced row leaves one statistic and enters another.
        tuple(((x, y), (x + D, y - D)) for x in (0.125, 17.3) for y in (0.125, 3.0)),
    ),
    statistics(
        "laplace-norm",
        PURE,
        1,
        ggdp.Sensitivity.norm(1, D, dimension=2),
        (((0.125, 0.125), (1.375, 0.125)), ((0.1, 0.1), (0.75, 0.7)), ((0.125, 3.0), (0.75, 2.375))),
        # Rounding may add a step in each coordinate, and does not for these.
        claims="bound",
        coordinates=2,
    ),
    measured("gaussian-paper-probabilistic", PROBABILISTIC, 2, method="paper", claims="exact"),
    measured("gaussian-tight-probabilistic", PROBABILISTIC, 2),
    measured("gaussian-classic", ggdp.ApproxDP(0.5, 0.05), 2, method="paper", claims="exact"),
    Kind(
        "gaussian-classic-outside-its-domain",
        lambda: on_steps(classic_gaussian(ggdp.ApproxDP(2.0, 0.05), ggdp.Sensitivity.disjoint(D), outside_domain=True)),
        moves((D,)),
        "exact",
        real=True,
    ),
    measured("gaussian-analytic", APPROXIMATE, 2),
    measured("gaussian-analytic-small-delta", ggdp.ApproxDP(1.0, 1e-6), 2),
    statistics(
        "gaussian-norm",
        APPROXIMATE,
        2,
        ggdp.Sensitivity.norm(2, D, dimension=2),
        # Moves along an axis, along the diagonal, and one that rounding makes longer in both coordinates.
        (
            ((0.125, 0.125), (1.375, 0.125)),
            ((0.125, 3.0), (1.0, 2.125)),
            ((0.1, 0.1), (0.9, 0.9)),
        ),
        claims="bound",
        coordinates=2,
    ),
    counted("gaussian-integers", APPROXIMATE, 2),
    counted("gaussian-integers-probabilistic", PROBABILISTIC, 2),
    counted("gaussian-integers-replace-one", APPROXIMATE, 2, relation="replace-one"),
    counted(
        "gaussian-integers-probabilistic-replace-one",
        PROBABILISTIC,
        2,
        relation="replace-one",
        claims="bound",
        slow=True,
    ),
    counted("gaussian-integers-three-cells", APPROXIMATE, 2, max_cells=3),
    counted("gaussian-integers-probabilistic-three-cells", PROBABILISTIC, 2, max_cells=3, claims="bound", slow=True),
    *(
        case
        for order in (1.5, 3, 50)
        for case in (
            counted(f"order-{order}-integers", APPROXIMATE, order),
            counted(f"order-{order}-integers-probabilistic", PROBABILISTIC, order),
            measured(f"order-{order}-grid", APPROXIMATE, order),
            measured(f"order-{order}-grid-probabilistic", PROBABILISTIC, order),
        )
    ),
    counted("order-1.5-integers-replace-one", APPROXIMATE, 1.5, relation="replace-one", slow=True),
    counted("order-3-integers-replace-one", APPROXIMATE, 3, relation="replace-one"),
    counted(
        "order-3-integers-probabilistic-replace-one",
        PROBABILISTIC,
        3,
        relation="replace-one",
        claims="bound",
        slow=True,
    ),
    measured("order-3-box", APPROXIMATE, 3, sizes=(1.0, 0.5), slow=True),
    statistics(
        "order-3-grid-replace-one",
        APPROXIMATE,
        3,
        ggdp.Sensitivity.cells(2, D, neighbours="replace-one"),
        tuple(((x, x), (x + D, x - D)) for x in (0.125, 17.3)),
        slow=True,
    ),
]

BOUNDED = [
    *(
        case
        for bounding in ("truncated", "boundary-inflated")
        for order in (1, 2, 3)
        for case in (
            counted(f"{bounding}-order-{order}-integers", PURE, order, bounds=COUNTS_IN, bounding=bounding),
            measured(f"{bounding}-order-{order}-grid", PURE, order, bounds=IN, bounding=bounding, **INSIDE),
        )
    ),
    measured(
        "truncated-paper-grid", PURE, 2, bounds=IN, bounding="truncated", method="paper", claims="exact", **INSIDE
    ),
    measured(
        "boundary-inflated-paper-grid",
        PURE,
        2,
        bounds=IN,
        bounding="boundary-inflated",
        method="paper",
        claims="exact",
        **INSIDE,
    ),
    measured("truncated-off-the-grid", PURE, 2, bounds=[(0.1, 3.2)], bounding="truncated", **INSIDE),
    counted("truncated-replace-one", PURE, 2, relation="replace-one", bounds=COUNTS_IN, bounding="truncated"),
    counted(
        "boundary-inflated-replace-one", PURE, 2, relation="replace-one", bounds=COUNTS_IN, bounding="boundary-inflated"
    ),
    statistics(
        "truncated-box",
        PURE,
        2,
        ggdp.Sensitivity.box([1.0, 0.5]),
        tuple(((x, y), (x + 1.0, y + 0.5)) for x in (0.0, 0.5, 1.0) for y in (0.0, 0.75, 1.0)),
        coordinates=2,
        bounds=[(0, 2), (0, 1.5)],
        bounding="truncated",
    ),
    exponential("exponential-order-1-grid", 1, start=(0.0, 17.3)),
    exponential("exponential-order-2-bounded-grid", 2, bounds=IN, **INSIDE),
]

KINDS = [*ADDITIVE, *BOUNDED]


def answers(neighbours, groups, complete, most=1):
    """Pairs of neighbouring counts, group after group: everyone is in some cells of each group, and one changes."""
    ways = []
    for cells, is_complete in zip(groups, complete, strict=True):
        places = [one for size in range(most + 1) for one in combinations(range(cells), size)]
        ways.append([tuple(k in one for k in range(cells)) for one in places if len(one) == most or not is_complete])
    people = [tuple(int(x) for part in way for x in part) for way in product(*ways)]
    crowd = tuple(7 * k + 3 for k in range(sum(groups)))
    before = people if neighbours == "replace-one" else [(0,) * sum(groups)]
    return tuple(
        tuple(tuple(x + y for x, y in zip(crowd, one, strict=True)) for one in pair) for pair in product(before, people)
    )


def in_groups(name, groups, complete=None, *, neighbours="add-remove", max_cells=1):
    which = complete or (False,) * len(groups)
    query = ggdp.Sensitivity.groups(groups, complete=complete, neighbours=neighbours, max_cells=max_cells)
    pairs = answers(neighbours, groups, which, max_cells)
    return Kind(name, lambda: ggdp.MinkowskiMechanism(PURE, query), pairs, coordinates=sum(groups))


def of_vectors(name, query, pairs, *, real=True):
    """Vectors with noise of a norm, real ones on steps."""
    grid = Grid(step=STEP) if real else None
    return Kind(name, lambda: ggdp.MinkowskiMechanism(PURE, query, grid), pairs, real=real, coordinates=query.moving)


# Noise on whole vectors, of which no word is the draw of one value.
VECTORS = [
    in_groups("minkowski-added", (2, 1)),
    in_groups("minkowski-added-complete", (2, 2), (True, True)),
    in_groups("minkowski-added-some-complete", (1, 2), (False, True)),
    in_groups("minkowski-added-two-cells", (3,), max_cells=2),
    in_groups("minkowski-replaced", (2, 1), neighbours="replace-one"),
    in_groups("minkowski-replaced-complete", (2, 3), (True, True), neighbours="replace-one"),
    of_vectors(
        "minkowski-signed",
        ggdp.Sensitivity.box([2, 2, 2]),
        tuple(((5, 6, 7), (5 + x, 6 + y, 7 + z)) for x, y, z in product((-2, 0, 1, 2), repeat=3)),
        real=False,
    ),
    of_vectors("minkowski-l_inf", ggdp.Sensitivity.box([D, 0.5]), moves((D, 0.5))),
    of_vectors(
        "minkowski-l_3",
        ggdp.Sensitivity.norm(3, D, dimension=2),
        (((0.125, 0.125), (1.375, 0.125)), ((0.1, 0.1), (1.0, 1.0)), ((17.0, -3.0), (17.5, -4.2))),
    ),
]

# Too many outputs to look at each: their law is compared with the sampler's, which has proofs of its own.
OWN_GRID = [
    on_own_grid("laplace-own-grid", PURE, 1),
    on_own_grid("gaussian-paper-own-grid", PROBABILISTIC, 2, method="paper"),
    on_own_grid("gaussian-probabilistic-own-grid", PROBABILISTIC, 2),
    on_own_grid("gaussian-classic-own-grid", ggdp.ApproxDP(0.5, 0.05), 2, method="paper"),
    on_own_grid("gaussian-analytic-own-grid", ggdp.ApproxDP(1.0, 1e-6), 2),
    on_own_grid("order-1.5-own-grid", PROBABILISTIC, 1.5),
    on_own_grid("order-3-own-grid", APPROXIMATE, 3),
    on_own_grid("order-50-own-grid", PROBABILISTIC, 50),
    on_own_grid("truncated-own-grid", PURE, 2, bounds=[(0.0, 1.0)], bounding="truncated", start=(0.0, 0.35, 1.0)),
    on_own_grid(
        "boundary-inflated-own-grid", PURE, 2, bounds=[(0.0, 1.0)], bounding="boundary-inflated", start=(0.0, 0.35, 1.0)
    ),
]


def each(kinds):
    """Parameters of a test that runs on each kind; those that take seconds to calibrate wait for `make test-all`."""
    return [pytest.param(kind, id=kind.name, marks=[pytest.mark.exhaustive] if kind.slow else []) for kind in kinds]
