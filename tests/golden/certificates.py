"""Calibrations over all bounds, supports, orders, notions, methods and neighbours, and those that are refused."""

import math
from itertools import product

import ggdp

PURE, APPROX, PROBABILISTIC = ggdp.PureDP, ggdp.ApproxDP, ggdp.ProbabilisticDP
Query = ggdp.Sensitivity

QUERIES = {
    "one": Query.disjoint(1),
    "one of 0.3": Query.disjoint(0.3),
    "one of 7, replaced": Query.cells(1, 7, neighbours="replace-one"),
    "histogram, replaced": Query.histogram("replace-one"),
    "cells 3": Query.cells(3, 1),
    "cells 5 of 0.5": Query.cells(5, 0.5),
    "histogram 8, replaced": Query.histogram("replace-one", max_cells=8),
    "cells 60": Query.cells(60, 1),
    "box": Query.box([1, 2]),
    "box of small ones": Query.box([1, 0.1, 0.05]),
    "box of many": Query.box([3, 1, 2, 1, 1, 4, 1], neighbours="replace-one"),
    "box, joint l_1": Query.box([2, 2, 2], norm=(1, 3)),
    "box, joint l_2": Query.box([1, 1, 1], norm=(2, 1.2)),
    "box, joint l_3": Query.box([2, 1, 2], norm=(3, 2.5)),
    "box, idle joint norm": Query.box([1, 1], norm=(2, 50)),
    "box from bounds": Query.from_bounds([(0, 10), (-1, 1)]),
    "l_1 norm": Query.norm(1, 2, dimension=5),
    "l_2 norm": Query.norm(2, 3, dimension=5),
    "l_2 norm, one": Query.norm(2, 1, dimension=1),
    "l_1.5 norm": Query.norm(1.5, 2, dimension=4),
    "l_3 norm, replaced": Query.norm(3, 2, dimension=3, neighbours="replace-one"),
    "l_inf norm": Query.norm(math.inf, 1, dimension=3),
}
ORDERS = (1, 1.5, 2, 2.5, 3, 4, 50)
GOALS = {
    "pure 1": PURE(1.0),
    "approximate 1 1e-6": APPROX(1.0, 1e-6),
    "probabilistic 1 0.01": PROBABILISTIC(1.0, 0.01),
    "approximate 0.1 1e-9": APPROX(0.1, 1e-9),
    "approximate 3 0.05": APPROX(3.0, 0.05),
    "probabilistic 0.5 1e-3": PROBABILISTIC(0.5, 1e-3),
    "pure 0.1": PURE(0.1),
}
BOUNDS = {
    "one pair": (Query.disjoint(1), [(0, 20)]),
    "one narrow pair": (Query.disjoint(3), [(-2, 2)]),
    "two pairs": (Query.box([1.5, 1 / 3]), [(0, 20), (-1, 1)]),
    "two integer pairs": (Query.box([2, 1]), [(0, 20), (-5, 5)]),
    "cells": (Query.cells(2, 1), [(0, 9), (0, 9), (0, 9)]),
    "joint norm": (Query.box([2, 2], norm=(2, 2.5)), [(0, 8), (0, 8)]),
    "joint l_1 norm": (Query.box([2, 2, 2], norm=(1, 3)), [(0, 8), (0, 8), (0, 4)]),
    "norm": (Query.norm(2, 2, dimension=2), [(0, 8), (0, 6)]),
    "histogram, replaced": (Query.histogram("replace-one"), [(0, 50), (0, 50)]),
}
VECTORS = {
    "groups": Query.groups([2, 2, 5]),
    "complete groups, replaced": Query.groups([2, 4, 1], complete=[True, True, True], neighbours="replace-one"),
    "groups of several cells": Query.groups([3, 3], max_cells=2, d=5, complete=[True, False]),
    "box": Query.box([3, 3, 3]),
    "box of reals": Query.box([1.5, 1 / 3]),
    "l_3 norm": Query.norm(3, 1 / 3, dimension=7),
    "l_inf norm": Query.norm(math.inf, 2, dimension=7),
}
REFUSED = {
    "order below 1": lambda: ggdp.calibrate(PURE(1), QUERIES["one"], order=0.9),
    "order not a number": lambda: ggdp.calibrate(PURE(1), QUERIES["one"], order=math.nan),
    "order text": lambda: ggdp.calibrate(PURE(1), QUERIES["one"], order="2"),
    "order infinite": lambda: ggdp.calibrate(APPROX(1, 1e-6), QUERIES["one"], order=math.inf),
    "order huge": lambda: ggdp.calibrate(APPROX(1, 1e-6), QUERIES["one"], order=1e9),
    "epsilon 0": lambda: PURE(0),
    "epsilon negative": lambda: APPROX(-1, 1e-6),
    "epsilon infinite": lambda: PURE(math.inf),
    "epsilon truth value": lambda: PURE(True),
    "delta 1": lambda: APPROX(1, 1),
    "delta negative": lambda: PROBABILISTIC(1, -1e-3),
    "neighbours unknown": lambda: PURE(1, "siblings"),
    "goal with other neighbours": lambda: ggdp.calibrate(PURE(1, "replace-one"), QUERIES["one"], order=1),
    "goal not a goal": lambda: ggdp.calibrate("1", QUERIES["one"], order=1),
    "query not a sensitivity": lambda: ggdp.calibrate(PURE(1), 1.0, order=1),
    "support unknown": lambda: ggdp.calibrate(PURE(1), QUERIES["one"], order=1, support="rational"),
    "method unknown": lambda: ggdp.calibrate(PURE(1), QUERIES["one"], order=1, method="best"),
    "bounding without bounds": lambda: ggdp.calibrate(PURE(1), QUERIES["one"], order=1, bounding="truncated"),
    "bounds without bounding": lambda: ggdp.calibrate(PURE(1), QUERIES["one"], order=1, bounds=[(0, 1)]),
    "bounding unknown": lambda: ggdp.calibrate(PURE(1), QUERIES["one"], order=1, bounds=[(0, 1)], bounding="folded"),
    "bounds turned round": lambda: ggdp.calibrate(
        PURE(1), QUERIES["one"], order=1, bounds=[(1, 0)], bounding="truncated"
    ),
    "bounds too few": lambda: ggdp.calibrate(PURE(1), QUERIES["box"], order=1, bounds=[(0, 1)], bounding="truncated"),
    "bounds not whole": lambda: ggdp.calibrate(
        PURE(1), QUERIES["one"], order=1, bounds=[(0, 1.5)], bounding="truncated", support="integer"
    ),
    "bounds, approximate": lambda: ggdp.calibrate(
        APPROX(1, 1e-6), QUERIES["one"], order=2, bounds=[(0, 9)], bounding="truncated"
    ),
    "disjoint, replaced": lambda: Query.disjoint(1, neighbours="replace-one"),
    "cells none": lambda: Query.cells(0, 1),
    "cells negative": lambda: Query.cells(2, -1),
    "cells half": lambda: Query.cells(1.5, 1),
    "box empty": lambda: Query.box([]),
    "box zero": lambda: Query.box([1, 0]),
    "box joint not a pair": lambda: Query.box([1, 1], norm=(2,)),
    "box joint order": lambda: Query.box([1, 1], norm=(0.5, 1)),
    "norm order": lambda: Query.norm(0.5, 1, dimension=2),
    "norm dimension": lambda: Query.norm(2, 1, dimension=0),
    "from bounds, empty": lambda: Query.from_bounds([]),
    "from bounds, not pairs": lambda: Query.from_bounds([(0, 1, 2)]),
    "sensitivity by hand": lambda: Query(kind="cells", sizes=(1.0, 2.0), moving=2),
    "repeated zero times": lambda: QUERIES["one"].repeated(0),
    "lp below 1": lambda: QUERIES["one"].lp(0.5),
    "coordinates too many": lambda: ggdp.calibrate(APPROX(1, 1e-6), Query.cells(10_000_000, 1), order=3),
    "epsilon tiny": lambda: ggdp.calibrate(PURE(1e-300), Query.disjoint(1e300), order=1),
    "paper, integers": lambda: ggdp.calibrate(
        APPROX(1, 1e-6), QUERIES["one"], order=2, support="integer", method="paper"
    ),
    "paper, classic Gaussian above 1": lambda: ggdp.calibrate(APPROX(2, 1e-6), QUERIES["one"], order=2, method="paper"),
    "certificate changed": lambda: _changed("proved", 0.1),
    "certificate with another scale": lambda: _changed("parameters", {"scale": 1.0}),
    "certificate of nothing": lambda: ggdp.verify({}),
    "certificate not a record": lambda: ggdp.verify("proved"),
}


def _changed(field, value):
    """Verify a certificate of which one field was changed."""
    record = ggdp.calibrate(APPROX(1, 1e-6), QUERIES["one"], order=3).certificate.to_dict()
    record[field] = {**record[field], **value} if isinstance(value, dict) else value
    ggdp.verify(record)


def record_of(calibration):
    """Return a calibration as plain values, its numbers as hexadecimal floats too."""
    return {
        "scale": calibration.scale.hex(),
        "std": calibration.std.hex(),
        "guarantee": str(calibration.guarantee),
        "text": repr(calibration).splitlines(),
        "record": calibration.to_dict(),
    }


def _calibration(goal, query, **how):
    return lambda: record_of(ggdp.calibrate(goal, query, **how))


def _vector(goal, query):
    """Return what is proved of noise of a norm; its errors are not the same to the last digit on every processor."""

    def case():
        mechanism = ggdp.MinkowskiMechanism(goal, query)
        certificate = mechanism.certificate.to_dict()
        return {"scale": mechanism.scale.hex(), "guarantee": str(mechanism.guarantee), "certificate": certificate}

    return case


def _described(query):
    """Return what a sensitivity says of itself, and of several such queries."""

    def case():
        orders = (1, 1.5, 2, 3, math.inf)
        norms = {f"l_{order}": query.lp(order).hex() for order in orders}
        several = query.repeated(3)
        return {"text": [str(query), str(several)], **norms, "repeated": [several.lp(order).hex() for order in orders]}

    return case


def _cases():
    names = list(GOALS)
    for place, (query, order, support) in enumerate(product(QUERIES, ORDERS, ("real", "integer"))):
        # Each with one goal in turn; one coordinate and a few cells with all of them.
        every = query in ("one", "cells 3")
        for goal in names if every else (names[place % 7], names[(3 * place + place // 7 + 1) % 7]):
            name = f"{query}; order {order}; {support}; {goal}"
            yield name, _calibration(GOALS[goal], QUERIES[query], order=order, support=support)
    for goal, query, order in product(GOALS, ("one", "cells 3", "box of small ones", "l_2 norm"), (1, 2, 3)):
        how = {"order": order, "method": "paper"}
        yield f"paper; {query}; order {order}; {goal}", _calibration(GOALS[goal], QUERIES[query], **how)
    for (name, (query, bounds)), bounding, support, order in product(
        BOUNDS.items(), ("truncated", "boundary-inflated"), ("real", "integer"), (1, 2, 3.5)
    ):
        how = {"order": order, "support": support, "bounds": bounds, "bounding": bounding}
        yield f"{bounding}; {name}; order {order}; {support}", _calibration(PURE(1.0), query, **how)
    for size, dimension, epsilon in product((3, 40, 1000), (1, 2, 30), (0.5, 2.0)):
        query = Query.norm(2, size, dimension=dimension)
        how = {"order": 2, "support": "integer"}
        name = f"l_2 norm of {size} in {dimension}; order 2; integer; approximate {epsilon} 1e-5"
        yield name, _calibration(APPROX(epsilon, 1e-5), query, **how)
    for q, order, support, epsilon in product((1, 1.5, 2), (1, 2, 3), ("real", "integer"), (0.5, 2.0)):
        query, bounds = Query.box([2, 3, 2, 2], norm=(q, 3)), [(0, 30)] * 4
        how = {"order": order, "support": support, "bounds": bounds, "bounding": "truncated"}
        yield (
            f"truncated; joint l_{q} of four; order {order}; {support}; {epsilon}",
            _calibration(PURE(epsilon), query, **how),
        )
    for order, support, goal in product((2, 3, 7), ("real", "integer"), list(GOALS)[1:3]):
        query = Query.box([3, 3], norm=(2, 2.5))
        name = f"box, joint norm below a size; order {order}; {support}; {goal}"
        yield name, _calibration(GOALS[goal], query, order=order, support=support)
    for name, query in QUERIES.items():
        yield f"query; {name}", _described(query)
    for order in (1, 2, 3):
        query, bounds = BOUNDS["two pairs"]
        how = {"order": order, "bounds": bounds, "bounding": "truncated", "method": "paper"}
        yield f"paper; truncated; order {order}", _calibration(PURE(0.5), query, **how)
    for name, query in VECTORS.items():
        yield f"norm; {name}", _vector(PURE(0.7), query)
    yield "norm; box, approximate", _vector(APPROX(0.7, 1e-6), QUERIES["box"])
    yield "norm; cells", _vector(PURE(0.7), QUERIES["cells 3"])
    yield from ((f"refused; {name}", case) for name, case in REFUSED.items())


CASES = dict(_cases())
