"""Loss distributions: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

SUMS = "tests/proofs/test_loss_distribution.py::"
LAID = "tests/proofs/test_laid_loss.py::"
WHOLE = "tests/proofs/test_laid_sum.py::"
TRANSFORMS = "tests/proofs/test_loss_transform.py::"
FEW = "tests/proofs/test_enumerated_total.py::"
AT_ONCE = "proofs/laid_sum.py"
DISTRIBUTION, BOUNDS, SINGLE = "proofs/loss_distribution.py", "proofs/loss_bounds.py", "proofs/laid_loss.py"

SABOTAGES = [
    Sabotage(
        "weights are rounded down",
        DISTRIBUTION,
        "least = x.upper().ceil().unique_fmpz()",
        "least = x.lower().floor().unique_fmpz()",
        (f"{SUMS}test_a_weight_of_less_than_a_unit_is_rounded_up",),
    ),
    Sabotage(
        "sums are rounded down",
        DISTRIBUTION,
        "return (weights + fmpz_poly([by - 1] * weights.length())) // by",
        "return weights // by",
        (f"{SUMS}test_a_sum_on_the_grid_has_its_exact_delta_between_the_bounds",),
    ),
    Sabotage(
        "weights below the divisor are rounded down",
        DISTRIBUTION,
        "return (weights + fmpz_poly([by - 1] * weights.length())) // by",
        "return -((-weights) // by)",
        (f"{SUMS}test_weights_are_divided_upwards_however_small_they_are",),
    ),
    Sabotage(
        "grids of different steps are added",
        DISTRIBUTION,
        "if (first.step, first.tilt) != (second.step, second.tilt):",
        "if False:",
        (f"{SUMS}test_losses_on_grids_that_do_not_fit_are_not_added",),
    ),
    Sabotage(
        "two infinite masses above one cancel out",
        DISTRIBUTION,
        "if first <= 1 and second <= 1 else arb(1)",
        "if first.is_finite() else arb(1)",
        (f"{SUMS}test_more_than_all_of_the_mass_at_infinity_is_not_multiplied",),
    ),
    Sabotage(
        "what is cut off above is forgotten",
        DISTRIBUTION,
        "infinite=loss.infinite + beyond * (loss.level - place).exp() / unit,",
        "infinite=loss.infinite,",
        (f"{SUMS}test_what_a_cut_takes_away_is_counted_in_both_bounds",),
    ),
    Sabotage(
        "a cut above the first knot to keep loses what is below it",
        DISTRIBUTION,
        "first = min(_first(loss, weights, unit), last)",
        "first = _first(loss, weights, unit)",
        (f"{SUMS}test_a_cut_above_keeps_what_is_below_the_first_knot_of_any_weight",),
    ),
    Sabotage(
        "what is raised at a cut is not counted as lost",
        DISTRIBUTION,
        "slack=replace(loss.slack, lost=loss.slack.lost + _ratio(raised * ONE, unit)),",
        "slack=loss.slack,",
        (f"{SUMS}test_a_cut_below_counts_what_it_raised_as_lost",),
    ),
    Sabotage(
        "a coarser grid takes losses down",
        DISTRIBUTION,
        "share = (-step).expm1() / (-2 * step).expm1()",
        "share = arb(0.25)",
        (f"{SUMS}test_a_split_keeps_the_mass_and_its_mean_of_the_other_law",),
    ),
    Sabotage(
        "splits are not counted against a lower bound",
        BOUNDS,
        "penalty = growth / decline",
        "penalty = 0 * growth",
        (f"{SUMS}test_the_splits_of_many_losses_are_all_counted_against_the_lower_bound",),
    ),
    Sabotage(
        "weights that may not be there are counted",
        BOUNDS,
        "missing *= loss.slack.excess",
        "missing *= 0",
        (f"{SUMS}test_each_kind_of_slack_lowers_the_lower_bound_by_what_it_may_hold[excess]",),
    ),
    Sabotage(
        "lost weights are counted",
        BOUNDS,
        "return total - missing - beyond - lost + loss.certain",
        "return total - missing - beyond + loss.certain",
        (f"{SUMS}test_each_kind_of_slack_lowers_the_lower_bound_by_what_it_may_hold[lost]",),
    ),
    Sabotage(
        "losses that were raised stay raised in a lower bound",
        BOUNDS,
        "x = epsilon + loss.slack.raised",
        "x = epsilon",
        (f"{SUMS}test_each_kind_of_slack_lowers_the_lower_bound_by_what_it_may_hold[raised]",),
    ),
    Sabotage(
        "what may be infinite is taken for infinite in a lower bound",
        DISTRIBUTION,
        "certain=_either(first.certain, second.certain),",
        "certain=_either(first.infinite, second.infinite),",
        (f"{SUMS}test_only_what_is_certain_to_be_infinite_is_in_the_lower_bound",),
    ),
    Sabotage(
        "a loss that is known to a ball is taken at its lower end",
        SINGLE,
        "top = atom.loss.upper()",
        "top = atom.loss.lower()",
        (f"{LAID}test_an_atom_that_is_known_to_a_ball_only_is_raised_to_its_upper_end",),
    ),
    Sabotage(
        "mass below all atoms is forgotten",
        SINGLE,
        "masses[first] += below",
        "masses[first] += 0",
        (f"{LAID}test_mass_below_the_atoms_is_put_on_a_knot_that_is_not_below_them",),
    ),
    Sabotage(
        "cells of noise are put on their lower knots",
        SINGLE,
        "moved = here - knot.exp() * there",
        "moved = 0 * here",
        (f"{LAID}test_a_cell_keeps_its_mass_and_its_mean_of_the_other_law",),
    ),
    Sabotage(
        "mass below the first threshold is put on the first knot",
        SINGLE,
        "reached = next((index for index in knots if least[0] <= index * step), None)",
        "reached = knots[0]",
        (f"{LAID}test_mass_below_the_first_threshold_is_put_on_a_knot_that_is_not_below_its_losses",),
    ),
    Sabotage(
        "mass above the highest threshold is forgotten",
        SINGLE,
        "infinite, raised, negligible = first[-1], arb(0), step * _NEGLIGIBLE",
        "infinite, raised, negligible = arb(0), arb(0), step * _NEGLIGIBLE",
        (f"{LAID}test_mass_above_the_highest_threshold_is_infinite_but_not_certainly",),
    ),
    Sabotage(
        "a sum that was split several times needs no smoothing",
        BOUNDS,
        "splits[0][1] == 1 and splits[0][0].gap == loss.step",
        "splits[0][0].gap == loss.step",
        (f"{SUMS}test_a_sum_that_was_split_twice_or_over_wider_gaps_needs_smoothing",),
    ),
    Sabotage(
        "a split over a wider gap needs no smoothing",
        BOUNDS,
        "splits[0][1] == 1 and splits[0][0].gap == loss.step",
        "splits[0][1] == 1",
        (f"{SUMS}test_a_sum_that_was_split_twice_or_over_wider_gaps_needs_smoothing",),
    ),
    Sabotage(
        "what a split costs between knots is forgotten",
        BOUNDS,
        "total -= over.max(arb(0)) * cell",
        "total -= 0 * cell",
        (f"{SUMS}test_a_sum_that_was_split_once_has_a_lower_bound_without_smoothing",),
    ),
    Sabotage(
        "frequencies that are left out are not counted",
        AT_ONCE,
        "error = _ceil(ONE * (left_out + inexact)) + 2",
        "error = _ceil(ONE * inexact) + 2",
        (f"{WHOLE}test_bounds_hold_on_every_layout_or_there_are_none[2.5-few frequencies]",),
    ),
    Sabotage(
        "what is above the grid is forgotten",
        AT_ONCE,
        "infinite=infinite.upper(),",
        "infinite=arb(0),",
        (f"{WHOLE}test_what_is_above_a_grid_that_ends_early_is_counted_in_the_upper_bound",),
    ),
    Sabotage(
        "masses from outside of the grid are taken for masses on it",
        AT_ONCE,
        "lost=raised + outside,",
        "lost=0,",
        (f"{WHOLE}test_masses_below_a_grid_that_starts_late_are_not_taken_for_masses_on_it",),
    ),
    Sabotage(
        "equal losses are laid once",
        AT_ONCE,
        "one.transform.values[0].real) ** one.count",
        "one.transform.values[0].real) ** 1",
        (f"{WHOLE}test_the_exact_delta_lies_between_bounds_that_are_close",),
    ),
    Sabotage(
        "errors of integrals and sums are not counted",
        "proofs/transform_blocks.py",
        "rest = (error / normal).upper()",
        "rest = (0 * error / normal).upper()",
        (f"{TRANSFORMS}test_a_transform_holds_the_exact_value_and_is_narrow",),
    ),
    Sabotage(
        "noise on the integers is said to have a density",
        "proofs/transform_decay.py",
        'loss.law.support == "real" and loss.law.order != 1.0',
        "loss.law.order != 1.0",
        (f"{TRANSFORMS}test_losses_with_atoms_are_not_said_to_vanish_at_high_frequencies",),
    ),
    Sabotage(
        "the noise that is left out of a density is forgotten",
        "proofs/transform_decay.py",
        "found.append(((1 - mass).upper(), (variation + ends[i]).upper()))",
        "found.append((arb(0), (variation + ends[i]).upper()))",
        (f"{TRANSFORMS}test_no_frequency_from_the_start_on_is_above_the_bound",),
    ),
    Sabotage(
        "combinations of equal losses are counted once",
        "proofs/enumerated_total.py",
        "found.append((loss, mass * ways))",
        "found.append((loss, mass))",
        (f"{FEW}test_the_exact_delta_lies_between_bounds_of_all_digits",),
    ),
]
