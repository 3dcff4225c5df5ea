"""What noise keeps besides its goal: profiles, Renyi curves, totals, plans, and audits of noise of a given scale."""

from itertools import product

from tests.golden.certificates import BOUNDS, GOALS, QUERIES

import ggdp

Query = ggdp.Sensitivity

PROFILED = {
    "Laplace": (ggdp.PureDP(1.0), "one", {"order": 1}),
    "Laplace, integers": (ggdp.PureDP(1.0), "one", {"order": 1, "support": "integer"}),
    "Laplace, cells": (ggdp.PureDP(1.0), "cells 3", {"order": 1, "support": "integer"}),
    "Laplace, box": (ggdp.ApproxDP(1.0, 1e-6), "box of small ones", {"order": 1}),
    "Gaussian": (ggdp.ApproxDP(1.0, 1e-6), "one", {"order": 2}),
    "Gaussian, integers": (ggdp.ApproxDP(1.0, 1e-6), "one", {"order": 2, "support": "integer"}),
    "Gaussian, l_2 norm": (ggdp.ApproxDP(1.0, 1e-6), "l_2 norm", {"order": 2}),
    "Gaussian, joint norm": (ggdp.ApproxDP(1.0, 1e-6), "box, joint l_2", {"order": 2}),
    "Gaussian, cells": (ggdp.ApproxDP(1.0, 1e-6), "cells 3", {"order": 2, "support": "integer"}),
    "order 3": (ggdp.ApproxDP(1.0, 1e-6), "one", {"order": 3}),
    "order 3, integers": (ggdp.ApproxDP(1.0, 1e-6), "one", {"order": 3, "support": "integer"}),
    "order 3, box": (ggdp.ApproxDP(1.0, 1e-6), "box", {"order": 3}),
    "order 3, l_1 norm": (ggdp.ApproxDP(1.0, 1e-6), "l_1 norm", {"order": 3}),
    "order 3, l_2 norm": (ggdp.ApproxDP(1.0, 1e-6), "l_2 norm", {"order": 3}),
    "order 1.5, cells": (ggdp.ApproxDP(1.0, 1e-6), "cells 3", {"order": 1.5, "support": "integer"}),
    "order 1.5, l_inf norm": (ggdp.ApproxDP(1.0, 1e-6), "l_inf norm", {"order": 1.5}),
    "order 1, integers, joint l_1": (ggdp.PureDP(1.0), "box, joint l_1", {"order": 1, "support": "integer"}),
    "order 3, integers, joint l_1": (ggdp.ApproxDP(1.0, 1e-6), "box, joint l_1", {"order": 3, "support": "integer"}),
    "order 50": (ggdp.ApproxDP(1.0, 1e-6), "one", {"order": 50}),
    "probabilistic": (ggdp.ProbabilisticDP(1.0, 0.01), "cells 3", {"order": 2}),
    "truncated": (ggdp.PureDP(1.0), None, {"order": 2, "bounding": "truncated"}),
    "boundary-inflated": (ggdp.PureDP(1.0), None, {"order": 1, "bounding": "boundary-inflated"}),
}


def calibration(name):
    """Return a calibration of those above."""
    goal, query, how = PROFILED[name]
    if query is None:
        query, how["bounds"] = BOUNDS["two pairs"]
        return ggdp.calibrate(goal, query, **how)
    return ggdp.calibrate(goal, QUERIES[query], **how)


def ends(pair):
    """Return the two ends of what is proved, as hexadecimal floats."""
    return [float(end).hex() for end in pair]


def answer(call, *arguments):
    """Return both ends of an answer, or why there is none."""
    try:
        return ends(call(*arguments))
    except ggdp.GgdpError as refused:
        return [f"{type(refused).__name__}: {refused}"]


def _profile(name):
    def case():
        noise = calibration(name)
        return {
            **{f"delta {at}": answer(noise.delta, at) for at in (-0.5, 0, 0.25, 1, 3)},
            **{f"epsilon {at}": answer(noise.epsilon, at) for at in (0, 1e-12, 1e-6, 0.1)},
        }

    return case


def _curve(name):
    def case():
        noise = calibration(name)
        curve = {f"alpha {at}": answer(noise.renyi, at) for at in (1, 1.25, 2, 8, 64)}
        return {**curve, "concentrated": answer(noise.concentrated)}

    return case


TOTALS = {
    "one Laplace": [("Laplace", 1)],
    "52 Laplace": [("Laplace, integers", 52)],
    "ten Gaussian": [("Gaussian", 10)],
    "ten Gaussian, integers": [("Gaussian, integers", 10)],
    "order 3, ten": [("order 3, integers", 10)],
    "order 3, real": [("order 3", 4)],
    "cells": [("Gaussian, cells", 3), ("Laplace, cells", 2)],
    "of all kinds": [("Laplace, integers", 2), ("Gaussian, integers", 1), ("order 3, integers", 3)],
    "box": [("order 3, box", 3)],
    "only a norm": [("order 3, l_2 norm", 2), ("Gaussian, l_2 norm", 2)],
    "bounded": [("truncated", 2), ("boundary-inflated", 2)],
    "probabilistic": [("probabilistic", 2)],
    "order 50": [("order 50", 5)],
}
GUARANTEES = {
    "pure": [(ggdp.PureDP(0.1), 100)],
    "approximate": [(ggdp.ApproxDP(0.1, 1e-8), 30), (ggdp.PureDP(0.5), 2)],
    "probabilistic": [(ggdp.ProbabilisticDP(0.1, 1e-8), 5)],
}


def _total(parts):
    def case():
        total = ggdp.compose(parts())
        return {
            "text": repr(total).split("\n"),
            "basic": str(total.basic),
            **{f"epsilon {at}": answer(total.epsilon, at) for at in (0, 1e-9, 1e-6)},
            **{f"delta {at}": answer(total.delta, at) for at in (0, 1, 4)},
            "record": total.to_dict(delta=1e-6),
        }

    return case


def _calibrated(parts):
    return lambda: [(calibration(name), times) for name, times in parts]


def _plan(*arguments, **how):
    def case():
        plan = ggdp.plan(*arguments, **how)
        return {"text": repr(plan).split("\n"), "scale": plan.calibration.scale.hex(), "record": plan.to_dict()}

    return case


PLANS = {
    "pure": _plan(GOALS["pure 1"], QUERIES["one"]),
    "one": _plan(GOALS["approximate 1 1e-6"], QUERIES["one"]),
    "cells": _plan(GOALS["approximate 1 1e-6"], QUERIES["cells 3"], "mean-abs", support="integer"),
    "quantile": _plan(GOALS["approximate 3 0.05"], QUERIES["one"], "quantile", level=0.9),
    "maximum": _plan(GOALS["approximate 1 1e-6"], QUERIES["cells 60"], "max", cells=100),
    "l_2 norm": _plan(GOALS["approximate 1 1e-6"], QUERIES["l_2 norm"]),
    "probabilistic": _plan(GOALS["probabilistic 1 0.01"], QUERIES["one"]),
    "several releases": _plan(GOALS["approximate 1 1e-6"], QUERIES["one"], releases=10),
    "norm, pure": _plan(GOALS["pure 1"], QUERIES["l_2 norm"]),
    "width": _plan(None, QUERIES["one"], plus_minus=10.0, delta=1e-6, support="integer"),
    "width, pure": _plan(None, QUERIES["cells 3"], plus_minus=10.0),
    "refused: goal and width": _plan(GOALS["pure 1"], QUERIES["one"], plus_minus=10.0),
    "refused: nothing": _plan(None, QUERIES["one"]),
    "refused: measure": _plan(GOALS["pure 1"], QUERIES["one"], "worst"),
    "refused: level": _plan(GOALS["pure 1"], QUERIES["one"], "quantile", level=1.0),
    "refused: releases": _plan(GOALS["pure 1"], QUERIES["one"], releases=0),
}


def _audit(**how):
    def case():
        found = ggdp.guarantee_of(**how)
        return {"text": str(found), "epsilon": found.epsilon.hex(), "delta": found.delta.hex()}

    return case


def _law(make, points):
    def case():
        law = make()
        numbers = ("mean", "std", "variance", "mean_abs", "bias", "mean_abs_error", "mean_squared_error")
        said = {name: float(getattr(law, name)).hex() for name in numbers if hasattr(law, name)}
        functions = ("pdf", "pmf", "cdf", "sf", "logpdf", "logpmf", "ppf")
        for name in functions:
            if hasattr(law, name):
                at = (0.01, 0.5, 0.99) if name == "ppf" else points
                said[name] = [float(getattr(law, name)(point)).hex() for point in at]
        return said

    return case


def _cases():
    for name in PROFILED:
        yield f"profile; {name}", _profile(name)
        yield f"Renyi; {name}", _curve(name)
    for name, parts in TOTALS.items():
        yield f"total; {name}", _total(_calibrated(parts))
    for name, parts in GUARANTEES.items():
        yield f"total; guarantees, {name}", _total(lambda parts=parts: parts)
    yield "total; nothing", _total(list)
    yield "total; other neighbours", _total(lambda: [ggdp.PureDP(1.0, "add-remove"), ggdp.PureDP(1.0, "replace-one")])
    yield "total; not a release", _total(lambda: [1.0])
    for name, case in PLANS.items():
        yield f"plan; {name}", case
    audited = ("one", "cells 3", "box", "box, joint l_2", "l_1 norm", "l_2 norm", "l_3 norm, replaced")
    for query, order, support in product(audited, (1, 2, 3), ("real", "integer")):
        how = {"order": order, "scale": 5.0, "sensitivity": QUERIES[query], "support": support}
        yield f"audit; {query}; order {order}; {support}; delta", _audit(**how, delta=1e-6)
        yield f"audit; {query}; order {order}; {support}; epsilon", _audit(**how, epsilon=1.0)
    yield "audit; pure", _audit(order=1, scale=5.0, sensitivity=QUERIES["one"], delta=0.0)
    yield "audit; refused, not pure", _audit(order=2, scale=5.0, sensitivity=QUERIES["one"], delta=0.0)
    yield "audit; refused, scale", _audit(order=1, scale=0.0, sensitivity=QUERIES["one"], delta=0.1)
    yield "audit; refused, neither", _audit(order=1, scale=1.0, sensitivity=QUERIES["one"])
    yield "audit; refused, both", _audit(order=1, scale=1.0, sensitivity=QUERIES["one"], delta=0.1, epsilon=1.0)
    points = (-3, 0, 1, 7)
    for order in (1, 1.5, 2, 3, 50):
        law = {"order": order, "scale": 2.5}
        bounded = {**law, "location": 1.0, "bounds": (-4, 9)}
        yield f"law; real; order {order}", _law(lambda law=law: ggdp.GeneralizedGaussian(**law), points)
        yield f"law; integer; order {order}", _law(lambda law=law: ggdp.IntegerGeneralizedGaussian(**law), points)
        yield (
            f"law; truncated; order {order}",
            _law(lambda law=bounded: ggdp.TruncatedGeneralizedGaussian(**law), points),
        )
        yield (
            f"law; boundary-inflated; order {order}",
            _law(lambda law=bounded: ggdp.BoundaryInflatedGeneralizedGaussian(**law), points),
        )


CASES = dict(_cases())
