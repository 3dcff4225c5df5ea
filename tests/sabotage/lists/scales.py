"""Scales and their proofs: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

LOSS = "tests/conformance/test_guarantee.py::test_no_neighbours_lose_more_than_is_promised"
PROOFS = "tests/conformance/test_proofs.py::"
LAID = "tests/proofs/test_laid_loss.py::"
WORK = "tests/test_work.py::"

SABOTAGES = [
    Sabotage(
        "a real scale on the integers",
        "proofs/requirements.py",
        'if self.support == "integer":\n            return IntegerShiftDelta',
        "if False:\n            return IntegerShiftDelta",
        tuple(f"{LOSS}[{name}]" for name in ("gaussian-integers", "order-1.5-integers", "order-3-integers")),
    ),
    Sabotage(
        "delta of approximate DP for probabilistic DP",
        "proofs/integer_shift.py",
        '    if notion == "approximate":\n        return tail(p, b, k) -',
        '    if notion != "pure":\n        return tail(p, b, k) -',
        (f"{LOSS}[gaussian-integers-probabilistic]",),
    ),
    Sabotage(
        "the threshold of the loss is one too far",
        "proofs/integer_shift.py",
        "return first, high\n",
        "return first + 1, high + 1\n",
        (f"{LOSS}[gaussian-integers-probabilistic]", f"{LOSS}[order-3-integers-probabilistic]"),
    ),
    Sabotage(
        "upper ends of balls are rounded down",
        "_balls.py",
        "return -lower_float(-x)",
        "return lower_float(x)",
        (f"{PROOFS}test_floats_of_balls_are_rounded_outwards",),
    ),
    Sabotage(
        "the lower end of an enclosure is proved",
        "proofs/bound.py",
        "if not found.upper <= target:",
        "if not found.lower <= target:",
        (f"{PROOFS}test_an_enclosure_that_holds_the_target_proves_nothing",),
    ),
    Sabotage(
        "a certificate of something else will do",
        "calibration/calibration.py",
        "if self.certificate.law != self.law:",
        "if False:",
        ("tests/mechanisms/test_additive.py::test_a_calibration_that_was_tampered_with_is_refused",),
    ),
    Sabotage(
        "boundary-inflated noise with the truncated scale",
        "proofs/bounded_vector.py",
        "integer_loss = loss_of_integer_truncated if truncated else loss_of_integer_boundary_inflated",
        "integer_loss = loss_of_integer_truncated",
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
        "calibration/least_scale.py",
        "if goal.neighbours is not None and goal.neighbours != sensitivity.neighbours:",
        "if False:",
        (f"{PROOFS}test_a_goal_for_one_relation_is_not_kept_by_the_other",),
    ),
    Sabotage(
        "what a Taylor polynomial leaves out is not counted",
        "proofs/survival.py",
        "end = survival(p, high) + arb(0, (2 * rest / normal).upper())",
        "end = survival(p, high)",
        ("tests/proofs/test_survival.py::test_the_rest_of_a_polynomial_with_few_terms_is_counted",),
    ),
    Sabotage(
        "losses are rounded down before they are added",
        "proofs/laid_loss.py",
        "share = (index * h - top).expm1() / width",
        "share = arb(0)",
        (
            f"{LOSS}[gaussian-integers-replace-one]",
            f"{LAID}test_an_atom_between_two_knots_keeps_its_mass_and_its_mean_of_the_other_law",
        ),
    ),
    Sabotage(
        "what is beyond the window of a circular sum is forgotten",
        "proofs/circular_sum.py",
        "infinite += _mass_beyond(parts, window.top + 1, arb(window.tilt))",
        "pass",
        (
            "tests/proofs/test_circular_sum.py::test_what_leaves_the_window_is_counted_as_infinite_and_nothing_inside_is_lost",
        ),
    ),
    Sabotage(
        "losses of bounded cells do not add up",
        "proofs/requirements.py",
        "BoundedLoss(coordinates=coordinates, moving=sensitivity.moving)",
        "BoundedLoss(coordinates=coordinates, moving=1)",
        (f"{LOSS}[truncated-replace-one]", f"{LOSS}[boundary-inflated-replace-one]"),
    ),
    Sabotage(
        "each of several coordinates gets all of the goal",
        "proofs/requirements.py",
        "(_share(value, many) for value in (self.goal.epsilon, self.goal.delta))",
        "(value for value in (self.goal.epsilon, self.goal.delta))",
        ("tests/calibration/test_absolute_sum.py::test_where_no_search_ends_each_coordinate_keeps_its_share",),
    ),
    Sabotage(
        "the delta of one coordinate is promised for all",
        "proofs/requirements.py",
        "    if max(shares) > 1:\n",
        "    if max(shares) > 10**9:\n",
        ("tests/calibration/test_absolute_sum.py::test_where_no_search_ends_each_coordinate_keeps_its_share",),
    ),
    Sabotage(
        "a search stays where the bound rises with the scale",
        "calibration/absolute_sum.py",
        "if rises >= RISES else LEAST_MOVE",
        "if rises > CORRECTIONS else LEAST_MOVE",
        (
            "tests/calibration/test_absolute_sum.py::"
            "test_a_bound_that_rises_with_the_scale_on_the_integers_is_left_behind",
        ),
    ),
    Sabotage(
        "the Taylor series of a block has half of its terms",
        "proofs/survival.py",
        "        ctx.cap = terms\n",
        "        ctx.cap = terms // 2\n",
        ("tests/proofs/test_survival.py::test_many_points_hold_the_value_of_each_and_are_as_accurate",),
    ),
    Sabotage(
        "the work of a search is not counted",
        "_work.py",
        "        opened.spent += units\n",
        "",
        (
            f"{WORK}test_a_search_within_another_spends_the_work_of_both",
            f"{WORK}test_a_calibration_whose_work_is_used_up_is_refused[1.5]",
            f"{WORK}test_a_sum_of_a_million_terms_is_not_begun_where_there_is_no_work_left_for_it",
        ),
    ),
    Sabotage(
        "what is remembered takes no work, so that an answer depends on earlier ones",
        "proofs/integer_sums.py",
        "    spend(units - spent)\n",
        "",
        (f"{WORK}test_what_is_remembered_costs_as_much_as_it_did_at_first",),
    ),
]
