"""Scales and their proofs: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

LOSS = "tests/conformance/test_guarantee.py::test_no_neighbours_lose_more_than_is_promised"
PROOFS = "tests/conformance/test_proofs.py::"

SABOTAGES = [
    Sabotage(
        "a real scale on the integers",
        "calibration/obligations.py",
        'name = "shift" if support == "real" else "integer-shift"',
        'name = "shift"',
        tuple(f"{LOSS}[{name}]" for name in ("gaussian-integers", "order-1.5-integers", "order-3-integers")),
    ),
    Sabotage(
        "delta of approximate DP for probabilistic DP",
        "loss/integer_shift.py",
        '    if notion == "approximate":\n        return tail(p, b, k) -',
        '    if notion != "pure":\n        return tail(p, b, k) -',
        (f"{LOSS}[gaussian-integers-probabilistic]",),
    ),
    Sabotage(
        "the threshold of the loss is one too far",
        "loss/integer_shift.py",
        "return first, high\n",
        "return first + 1, high + 1\n",
        (f"{LOSS}[gaussian-integers-probabilistic]", f"{LOSS}[order-3-integers-probabilistic]"),
    ),
    Sabotage(
        "upper ends of balls are rounded down",
        "distributions/enclosures.py",
        "return -lower_float(-x)",
        "return lower_float(x)",
        (f"{PROOFS}test_floats_of_balls_are_rounded_outwards",),
    ),
    Sabotage(
        "the lower end of an enclosure is proved",
        "calibration/certificate.py",
        "if not enclosure.upper <= target:",
        "if not enclosure.lower <= target:",
        (f"{PROOFS}test_an_enclosure_that_holds_the_target_proves_nothing",),
    ),
    Sabotage(
        "a certificate of something else will do",
        "mechanisms/additive.py",
        "calibration.require_own_certificate()",
        "pass",
        ("tests/mechanisms/test_additive.py::test_a_calibration_that_was_tampered_with_is_refused",),
    ),
    Sabotage(
        "boundary-inflated noise with the truncated scale",
        "calibration/obligations.py",
        '"bounding": bounding,',
        '"bounding": "truncated",',
        tuple(f"{LOSS}[boundary-inflated-order-{order}-integers]" for order in (2, 3)),
    ),
    Sabotage(
        "the classic Gaussian at every epsilon",
        "calibration/paper.py",
        "if goal.epsilon >= 1.0 and not outside_domain:",
        "if False:",
        ("tests/calibration/test_paper.py::test_the_classic_gaussian_refuses_an_epsilon_of_one_and_says_why",),
    ),
    Sabotage(
        "a goal for one relation, a sensitivity for the other",
        "calibration/entry.py",
        "if goal.neighbours is not None and goal.neighbours != sensitivity.neighbours:",
        "if False:",
        (f"{PROOFS}test_a_goal_for_one_relation_is_not_kept_by_the_other",),
    ),
    Sabotage(
        "losses are rounded down before they are added",
        "loss/dominating.py",
        "moved = here - knot.exp() * there",
        "moved = 0 * here",
        (f"{LOSS}[gaussian-integers-replace-one]",),
    ),
    Sabotage(
        "losses beyond the window are forgotten",
        "loss/convolution.py",
        "infinite += tail_above(parts, window.top, window.tilt)",
        "pass",
        (
            "tests/loss/test_dominating.py::test_what_leaves_the_window_is_counted_as_infinite_and_nothing_inside_is_lost",
        ),
    ),
    Sabotage(
        "losses of bounded cells do not add up",
        "calibration/obligations.py",
        '"moving": sensitivity.moving,\n    }\n    note = None\n',
        '"moving": 1,\n    }\n    note = None\n',
        (f"{LOSS}[truncated-replace-one]", f"{LOSS}[boundary-inflated-replace-one]"),
    ),
]
