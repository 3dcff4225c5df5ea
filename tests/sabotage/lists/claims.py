"""Claims that hold only of allowed moves or of some numbers, and arguments at the ends of the floats, sabotaged."""

from tests.sabotage.sabotage import Sabotage

ATTAINED = "tests/proofs/test_attained.py::"
FORGED = "tests/proofs/test_forged_certificates.py::"
QUOTES = "tests/calibration/test_extreme_quotes.py::"
CHANGED = "tests/calibration/test_changed_calibrations.py::"
VERDICTS = "tests/paper/claims/test_claims.py::"

SABOTAGES = [
    Sabotage(
        "bounded noise quotes the loss of a corner that a joint norm excludes",
        "calibration/quoted_guarantees.py",
        "if bound.exact and not joint_binds(self.sensitivity):",
        "if bound.exact:",
        (f"{ATTAINED}test_the_loss_on_bounds_is_not_said_to_be_that_of_a_corner_which_a_joint_norm_excludes",),
    ),
    Sabotage(
        "the l_1 norm of whole moves is not rounded down",
        "proofs/attained.py",
        'if support == "integer" and size >= 1.0 else size',
        "if False else size",
        (f"{ATTAINED}test_whole_moves_of_a_fractional_l_1_norm_need_no_more_than_its_whole_part",),
    ),
    Sabotage(
        "an upper bound proves a scale to be the least",
        "proofs/certificate.py",
        "        if not bound.exact:\n            # Its",
        "        if False:\n            # Its",
        (f"{FORGED}test_an_upper_bound_does_not_prove_a_smaller_scale_to_fail",),
    ),
    Sabotage(
        "a delta above 1 is quoted",
        "proofs/profile.py",
        "most = min(upper_float(1 - eps if epsilon <= -pure else (e - eps) / (1 + e)), 1.0)",
        "most = upper_float(1 - eps if epsilon <= -pure else (e - eps) / (1 + e))",
        (f"{QUOTES}test_no_delta_of_bounded_noise_is_above_one",),
    ),
    Sabotage(
        "a changed calibration gives a bounded sampler",
        "calibration/calibration.py",
        "        self.require_proof()\n        kind = Trunc",
        "        kind = Trunc",
        (f"{CHANGED}test_a_changed_scale_gives_no_bounded_sampler",),
    ),
    Sabotage(
        "a verdict on the paper does not follow from its numbers",
        "paper/claims/probabilistic_dp.py",
        "        len(kept) == len(orders),",
        "        False,",
        (f"{VERDICTS}test_verdicts_on_formulas_follow_their_numbers",),
    ),
    Sabotage(
        "a claim of the paper within chance counts as holding",
        "paper/claims/probabilistic_dp.py",
        "enough = all(share + ERRORS * error <= 1.0",
        "enough = all(share <= 1.0",
        (f"{VERDICTS}test_verdicts_on_formulas_follow_their_numbers",),
    ),
    Sabotage(
        "tables of 64 cells are run 500 times",
        "paper/results.py",
        'REPEATS if dataset == "adult" else TABLE_REPEATS',
        "REPEATS",
        ("tests/paper/report/test_page.py::test_tables_of_64_cells_have_20000_repeats_unless_it_says_otherwise",),
    ),
]
