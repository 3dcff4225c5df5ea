"""A certificate is accepted only if every field is what its proof used: each is changed in many wrong ways."""

import copy
import dataclasses
import functools
import json
import math

import flint
import pytest

import ggdp
from ggdp.calibration.scale_for_several_coordinates import plan_absolute_sum, with_layout
from ggdp.errors import CertificateError
from ggdp.proofs import NoiseLaw
from ggdp.proofs.bound import Enclosure
from ggdp.proofs.bounded import BoundedJointLoss, BoundedLoss
from ggdp.proofs.certificate import certify, require_proved
from ggdp.proofs.minkowski import MinkowskiLoss
from ggdp.proofs.noise_law import Norm
from ggdp.proofs.norms import IntegerGaussianDelta, RadialDelta
from ggdp.proofs.one_coordinate import IntegerShiftDelta, LaplaceLoss, ShiftDelta
from ggdp.proofs.several_coordinates import AbsoluteSumDelta, CornerDelta
from ggdp.proofs.worst_case import BOUNDS


def law(order, scale, support="real", bounding=None):
    return NoiseLaw(order=order, scale=scale, support=support, bounding=bounding)


def corner(noise, **parameters):
    """A corner with the layout that a search would choose."""
    return with_layout(CornerDelta(**parameters), noise)[0]


def absolute_sum(noise, **parameters):
    """A sum with the layout that a search would choose."""
    bound = AbsoluteSumDelta(**parameters)
    return dataclasses.replace(bound, layout=plan_absolute_sum(bound, noise).layout)


LAPLACE, WIDE = law(1.0, 1.0), law(3.0, 4.0)
INTEGERS = law(2.0, 6.0, "integer")
CASES = {
    "laplace": (LaplaceLoss(sensitivity=1.0), LAPLACE, 1.0),
    "minkowski": (
        MinkowskiLoss(sensitivity=1.0),
        NoiseLaw(
            order=1.0,
            scale=1.0,
            support="integer",
            norm=Norm(kind="added", groups=(2, 1), complete=(False, True)),
        ),
        1.0,
    ),
    "shift": (ShiftDelta(notion="approximate", sensitivity=1.0, epsilon=1.0), law(3.0, 12.5), 1e-6),
    "integer-shift": (
        IntegerShiftDelta(notion="probabilistic", sensitivity=1, epsilon=1.0),
        law(2.0, 3.1, "integer"),
        0.05,
    ),
    "corner": (corner(WIDE, corner=((1.0, 2),), epsilon=1.0), WIDE, 0.05),
    "absolute-sum": (absolute_sum(INTEGERS, corner=((1.0, 2),), epsilon=1.0), INTEGERS, 0.05),
    "integer-gaussian": (
        IntegerGaussianDelta(sensitivity=1024.0, dimension=1000, epsilon=1.0),
        law(2.0, 6118.0, "integer"),
        1e-5,
    ),
    "radial": (RadialDelta(sensitivity=1.0, dimension=5, epsilon=1.0), law(3.0, 10.0), 0.05),
    "bounded": (
        BoundedLoss(coordinates=((10.0, 1.0, 1),), moving=1),
        law(2.0, 4.0, "integer", "truncated"),
        1.0,
    ),
    "bounded-joint": (
        BoundedJointLoss(coordinates=((10.0, 1.0, 10),), moving=10, joint=1.0),
        law(1.0, 2.0, bounding="truncated"),
        1.0,
    ),
}

NO_TEXT = (None, 3, True, ["shift"], {"a": 1}, "", "nonsense", "Shift ")
NO_NUMBER = (None, True, False, "1.0", [1.0], [[1.0]], {}, math.nan, math.inf, -math.inf, -1.0, -1e-300, 10**400, 1j)
NO_COUNT = (*NO_NUMBER, 0, 0.5, 1.5, -3)

# What no proof can have, whatever else the record says.
WRONG_FIELDS = {
    "bound": (*NO_TEXT, "shift\n", ("shift",)),
    "statement": NO_TEXT,
    "quantity": (*NO_TEXT, "gamma"),
    "parameters": (None, 3, [], "scale", {}, {"scale": 1.0}, [["scale", 1.0]]),
    "proved": (*NO_NUMBER, 0.0, 1e-300, 1.5),
    "target": (*NO_NUMBER, 0.0, 1e-300),
    "tight": (
        True,
        "0.9",
        [0.9],
        math.nan,
        math.inf,
        0.0,
        -0.5,
        1.0,
        1.5,
        0.9999999999999999,
        1e-300,
        0.5,
        10**400,
        1j,
    ),
    "arithmetic": (
        *NO_TEXT,
        "Arb ball arithmetic",
        "Arb ball arithmetic, python-flint 0.1.0",
        "Arb ball arithmetic, python-flint 99.0.0",
        f"Arb ball arithmetic, python-flint {flint.__version__} and a pencil",
        "Arb ball arithmetic, python-flint 0.8.99999.12",
        "Arb ball arithmetic, python-flint 0.8.0.1",
        "Arb ball arithmetic, python-flint 0.\N{ARABIC-INDIC DIGIT EIGHT}",
    ),
    "precision": (None, 1, 2, 52, 10**6, -96, 96.0, True, "96", [96], math.nan),
}
WRONG_PARAMETERS = {
    "scale": (*NO_NUMBER, 0.0),
    "order": (*NO_NUMBER, 0.0, 0.5, 0.9999999999999999),
    "sensitivity": (*NO_NUMBER, 0.0),
    "epsilon": (*NO_NUMBER, 0.0),
    "dimension": NO_COUNT,
    "moving": [count for count in NO_COUNT if count != 10**400],
    "notion": (*NO_TEXT, "pure"),
    "support": NO_TEXT,
    "bounding": (*NO_TEXT[1:], "clipped"),
    "joint": (*NO_NUMBER[1:], 0.0),
    "norm": (
        *NO_TEXT,
        [],
        [["kind", "signed"], ["groups", [1]]],
        {},
        {"kind": "signed"},
        {"groups": [1]},
        *({"kind": kind, "groups": [1]} for kind in (*NO_TEXT, "lp", "l_2")),
        *({"kind": "signed", "groups": groups} for groups in (*NO_TEXT, [], 1, [0], [-1], [1.5], [1.0], ["1"], [[1]])),
        *({"kind": "added", "groups": [1], "complete": one} for one in (True, "yes", [], [1], [None], [True, True])),
        *({"kind": "added", "groups": [1], name: 1.0} for name in ("order", "sizes", "scale", "colour")),
        *({"kind": "lp", "groups": [2], "order": order} for order in (*NO_NUMBER[:-3], 0.5, "infinity", 2.0, "inf")),
        {"kind": "replaced", "groups": [0], "complete": [True]},
    ),
    "layout": (*NO_TEXT, [], {}, {"step": 0.01}),
    "corner": (
        *NO_TEXT,
        [],
        [[]],
        [1.0, 2],
        [[1.0]],
        [[1.0, 2, 3]],
        [[1.0, 0]],
        [[1.0, 2.0]],
        [[0.0, 2]],
        [[-5.0, 1], [1.0, 1]],
        [[math.nan, 2]],
        [[1.0, -1], [1.0, 3]],
        [[[1.0], 2]],
        [["1.0", 2]],
    ),
    "coordinates": (
        *NO_TEXT,
        [],
        [[]],
        [10.0, 1.0, 1],
        [[10.0, 1.0]],
        [[10.0, 1.0, 0]],
        [[10.0, 1.0, 1.0]],
        [[10.0, -1.0, 1]],
        [[-10.0, 1.0, 1]],
        [[math.inf, 1.0, 1]],
        [[10.0, "1", 1]],
        [[10.0, 1.0, 1], [10.0, 1.0, -1]],
    ),
}


@pytest.fixture(autouse=True, scope="module")
def proofs_made_once():
    """Make the same proof once: most changes are to other fields than its parameters."""

    def remembering(at_precision):
        found = {}

        def once(bound, noise, bits):
            key = (bound, noise, bits)
            if key not in found:
                found[key] = at_precision(bound, noise, bits)
            return found[key]

        return once

    with pytest.MonkeyPatch.context() as patched:
        for bound in BOUNDS.values():
            patched.setattr(bound, "at_precision", remembering(bound.at_precision))
        yield


@functools.cache
def certificate_of(name):
    bound, noise, target = CASES[name]
    found = certify(bound, noise, target, tight=False)
    assert found is not None
    return found


def record_of(name):
    return copy.deepcopy(certificate_of(name).to_dict())


def refused(record):
    with pytest.raises(CertificateError):
        ggdp.verify(record)


def test_every_bound_has_a_case_and_every_field_and_parameter_is_changed():
    assert set(CASES) == set(BOUNDS)
    assert all(set(WRONG_FIELDS) == set(record_of(name)) for name in CASES)
    assert {parameter for name in CASES for parameter in record_of(name)["parameters"]} == set(WRONG_PARAMETERS)


@pytest.mark.parametrize("name", CASES)
def test_the_unchanged_record_is_verified(name):
    ggdp.verify(json.loads(json.dumps(record_of(name))))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("field", WRONG_FIELDS)
def test_a_record_with_a_wrong_field_is_refused(name, field):
    right = record_of(name)
    for value in WRONG_FIELDS[field]:
        if type(value) is type(right[field]) and value == right[field]:
            continue
        if field in ("proved", "target") and name in ("laplace", "minkowski") and value == 1.5:
            # Still true: the loss of 1 is at most 1.5, and a target above what is proved is reached.
            continue
        refused(right | {field: value})


@pytest.mark.parametrize("name", CASES)
def test_a_record_with_a_wrong_parameter_is_refused(name):
    right = record_of(name)
    for parameter in right["parameters"]:
        for value in WRONG_PARAMETERS[parameter]:
            if value is None and right["parameters"][parameter] is None:
                continue
            refused(right | {"parameters": right["parameters"] | {parameter: value}})


@pytest.mark.parametrize("name", CASES)
def test_a_record_with_more_or_fewer_keys_is_refused(name):
    right = record_of(name)
    for key in right:
        refused({other: value for other, value in right.items() if other != key})
    refused(right | {"colour": "red"})
    refused(right | {"parameters": right["parameters"] | {"colour": "red"}})
    for key in right["parameters"]:
        left = {other: value for other, value in right["parameters"].items() if other != key}
        if right["parameters"][key] is None and key == "joint":
            # None is its default, so nothing else is claimed without it.
            continue
        refused(right | {"parameters": left})


def refuses_layouts(name, wrong):
    """Check that a record is refused with each of the changes to its layout."""
    right = record_of(name)
    layout = right["parameters"]["layout"]
    for change in wrong:
        refused(right | {"parameters": right["parameters"] | {"layout": layout | change}})


def test_a_corner_with_a_wrong_layout_is_refused():
    layout = record_of("corner")["parameters"]["layout"]
    size = layout["sizes"][0]
    refuses_layouts(
        "corner",
        [
            {"sizes": []},
            {"sizes": [size, size]},
            *(
                {"sizes": [size | {"step": step}]}
                for step in (0.0, -size["step"], math.nan, math.inf, 1e-300, 1e300, None)
            ),
            {"sizes": [size | {"low": size["high"] + 1}]},
            {"sizes": [size | {"low": -(10**9)}]},
            {"sizes": [size | {"high": 10**9}]},
            {"sizes": [size | {"inner_low": size["inner_high"]}]},
            {"sizes": [size | {"inner_high": 0.5}]},
            {"sizes": [size | {"colour": "red"}]},
            *({"tilt": tilt} for tilt in (-1.0, math.nan, math.inf, 1e300, "1", None)),
            *({"tail": tail} for tail in (math.nan, math.inf, "1", None, 0.0, 1e6)),
            *({"points": points} for points in (0, 1, -5, 2.5, 1 << 40, None)),
            {"colour": "red"},
        ],
    )


def test_an_absolute_sum_with_a_wrong_layout_is_refused():
    layout = record_of("absolute-sum")["parameters"]["layout"]
    other, window = layout["others"][0], layout["window"]
    refuses_layouts(
        "absolute-sum",
        [
            {"step": 0.0},
            {"step": -layout["step"]},
            {"step": math.nan},
            {"others": []},
            {"others": [other, other]},
            {"others": [other | {"count": other["count"] + 1}]},
            {"others": [other | {"count": 0}]},
            {"others": [other | {"size": 0.5}]},
            {"others": [other | {"high": 1}]},
            {"others": [other | {"high": 10**9}]},
            {"others": [other | {"colour": "red"}]},
            {"window": None},
            {"window": window | {"points": 0}},
            {"window": window | {"points": 1 << 40}},
            {"window": window | {"tilt": -1.0}},
            {"window": window | {"tilt": 0.0}},
            {"window": window | {"top": 1.5}},
            {"window": window | {"top": -5}},
            {"colour": "red"},
        ],
    )


def test_grids_of_a_corner_that_do_not_fit_each_other_are_refused():
    noise = law(3.0, 9.0)
    bound = corner(noise, corner=((2.0, 1), (1.0, 2)), epsilon=1.0)
    record = certify(bound, noise, 0.2, tight=False).to_dict()
    ggdp.verify(record)
    for factor in (1.5, 1.0000001, 2.0**-70):
        forged = copy.deepcopy(record)
        forged["parameters"]["layout"]["sizes"][1]["step"] *= factor
        refused(forged)


class Credulous(ShiftDelta):
    """A bound of somebody's own, which proves everything."""

    def at_precision(self, law, bits):  # noqa: ARG002 - whatever the law
        return Enclosure(lower=0.0, upper=0.0, precision=bits)


@pytest.mark.parametrize("name", CASES)
def test_a_certificate_made_by_hand_is_checked_as_a_record_is(name):
    right = certificate_of(name)
    credulous = Credulous(notion="approximate", sensitivity=1.0, epsilon=1.0)
    for change in ({"bound": None}, {"bound": "shift"}, {"bound": credulous}, {"law": None}, {"law": "Laplace"}):
        refused(dataclasses.replace(right, **change))


@pytest.mark.parametrize("name", CASES)
def test_a_claim_that_is_false_is_refused(name):
    right = record_of(name)
    worse = {"scale": 0.5, "sensitivity": 2, "epsilon": 0.5, "joint": 2.0, "moving": 2, "dimension": 3}
    for parameter, factor in worse.items():
        value = right["parameters"].get(parameter)
        if value is None or (parameter == "moving" and name.startswith("bounded")):
            continue
        refused(right | {"parameters": right["parameters"] | {parameter: value * factor}})


def test_the_short_cut_of_order_one_proves_nothing_of_a_corner_that_is_none():
    record = record_of("corner") | {"proved": 0.0, "target": 1e-6, "precision": 0}
    noise = {"order": 1.0, "scale": 2.0, "support": "real", "bounding": None}
    sound = {**noise, "corner": [[1.0, 2]], "epsilon": 1.0, "layout": None}
    ggdp.verify(record | {"parameters": sound})
    for change in (
        {"corner": [[-5, 1], [1, 1]], "scale": 1e-9, "support": "nonsense"},
        {"corner": [[-5, 1], [1, 1]], "scale": 1e-9},
        {"support": "nonsense"},
        {"epsilon": -1.0, "scale": -2.0},
        {"order": True},
    ):
        refused(record | {"parameters": sound | change})
    # A precision that the proof does not use is refused too.
    refused(record | {"parameters": sound, "precision": 96})


def test_widths_and_sizes_between_two_integers_are_not_cut_off():
    record = record_of("bounded")
    for coordinate in ([10.9, 1.0, 1], [10.0, 1.9, 1]):
        refused(record | {"parameters": record["parameters"] | {"coordinates": [coordinate]}})


def test_a_deeply_nested_record_is_refused():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    refused(record_of("corner") | {"parameters": {"corner": deep}})


def test_what_a_proof_of_rational_numbers_records_does_not_hang_on_the_precision_of_its_caller():
    from ggdp._balls import BALLS, working_precision

    made = certify(CornerDelta(corner=((1.0, 2),), epsilon=1.0), law(1.0, 2.0), 1e-6, tight=False)
    with BALLS, working_precision(200):
        ggdp.verify(made)
        ggdp.verify(certificate_of("shift"))


def test_a_certificate_that_was_proved_here_is_known_and_a_changed_one_is_proved_again():
    right = certificate_of("shift")
    require_proved(right)
    require_proved(ggdp.Certificate.from_dict(right.to_dict()))
    with pytest.raises(CertificateError, match="does not hold"):
        require_proved(dataclasses.replace(right, law=right.law.with_scale(1e-3)))
    with pytest.raises(CertificateError):
        require_proved(dataclasses.replace(right, bound=[]))


def test_what_is_equal_to_a_number_that_was_proved_is_not_that_number():
    right = ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.disjoint(1), order=1).certificate
    require_proved(right)
    with pytest.raises(CertificateError, match="target = True"):
        require_proved(dataclasses.replace(right, target=True))


def test_an_upper_bound_does_not_prove_a_smaller_scale_to_fail():
    noise = ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.norm(3, 1, dimension=10), order=3)
    forged = dataclasses.replace(noise.certificate, tight=1 - 1e-6)
    # The bound itself is above its target at that scale, and what it bounds is not.
    assert forged.bound.enclose(forged.law.with_scale(noise.scale * (1 - 1e-6))).lower > forged.target
    with pytest.raises(CertificateError, match=r"^tight = .*upper bound"):
        ggdp.verify(forged)


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("corner", ("corner", 0, 1), 2**63),
        ("corner", ("corner", 0, 1), 10**30),
        ("absolute-sum", ("layout", "others", 0, "count"), 2**63),
        ("absolute-sum", ("layout", "window", "top"), 2**63),
        ("absolute-sum", ("layout", "window", "points"), 2**20),
        ("absolute-sum", ("epsilon",), 1e30),
        ("integer-shift", ("order",), 1e308),
    ],
)
def test_numbers_beyond_the_arithmetic_are_refused_and_neither_abort_nor_go_on_forever(name, path, value):
    record = record_of(name) | {"proved": 0.5, "target": 0.5}
    *way, last = path
    place = record["parameters"] = json.loads(json.dumps(record["parameters"]))
    for step in way:
        place = place[step]
    place[last] = value
    try:
        ggdp.verify(record)
    except CertificateError:
        return
    # A larger epsilon is easier to keep.
    assert path == ("epsilon",)


def test_a_certificate_cannot_ask_for_more_bits_than_its_bound_ever_needs():
    with pytest.raises(CertificateError, match=r"precision = 16384: no proof by this bound needs so many bits"):
        ggdp.verify(record_of("corner") | {"precision": 1 << 14})
