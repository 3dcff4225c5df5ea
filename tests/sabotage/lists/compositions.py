"""Compositions: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

COMPOSE = "tests/composition/test_compose.py::"
TOTAL = "tests/composition/test_total.py::"
MANIFESTS = "tests/composition/test_manifest_checks.py::"
BETWEEN = f"{TOTAL}test_a_total_lies_between_its_bounds_which_are_close"

SABOTAGES = [
    Sabotage(
        "losses that occur together are repeated once",
        "proofs/total_loss.py",
        "repeated(_sum(losses, tail=tail, points=points), count, tail=tail, points=points)",
        "repeated(_sum(losses, tail=tail, points=points), 1, tail=tail, points=points)",
        (f"{TOTAL}test_far_in_the_tail_both_bounds_keep_their_digits[7.0-1e-18]",),
    ),
    Sabotage(
        "the probability of an infinite loss is forgotten",
        "proofs/total_loss.py",
        "most += exponent",
        "most += 0",
        (f"{BETWEEN}[0.3-responses with a delta]",),
    ),
    Sabotage(
        "keys above a threshold cost nothing",
        "tables/table_plan.py",
        "found += (CountedLoss(ResponseLoss(0.0, self._key_delta), 1),)",
        "found += ()",
        (f"{COMPOSE}test_keys_that_are_chosen_privately_add_the_probability_that_a_rare_one_is_shown",),
    ),
    Sabotage(
        "several cells are composed as one",
        "proofs/dominating_losses.py",
        "return tuple(CountedLoss(CoordinateLoss(law, size), count) for size, count in corner)",
        "return tuple(CountedLoss(CoordinateLoss(law, size), 1) for size, count in corner)",
        (f"{COMPOSE}test_every_cell_that_moves_adds_a_loss",),
    ),
    Sabotage(
        "a part is counted once however often it is run",
        "composition/composition.py",
        "CountedLoss(counted.loss, counted.count * part.count) for part",
        "CountedLoss(counted.loss, counted.count) for part",
        (f"{COMPOSE}test_pure_parts_have_a_pure_total",),
    ),
    Sabotage(
        "a seeded release is composed",
        "composition/parts.py",
        "if one.guarantee is None:",
        "if False:",
        (f"{COMPOSE}test_a_seeded_release_is_refused_by_name",),
    ),
    Sabotage(
        "losses of other people are added",
        "composition/parts.py",
        "if mine != first:",
        "if False:",
        (f"{COMPOSE}test_other_neighbours_and_units_are_refused_by_name",),
    ),
    Sabotage(
        "planned releases forget each other",
        "planning/best_order.py",
        "found = _plan_for_goal(goal, sensitivity.repeated(number), support",
        "found = _plan_for_goal(goal, sensitivity, support",
        (f"{COMPOSE}test_planned_releases_keep_their_goal_together_and_hardly_more[goal0-query0-12]",),
    ),
    Sabotage(
        "losses of a manifest are believed",
        "composition/manifest_checks.py",
        '    return None if proved else "its losses are not those of its noise"\n',
        "    return None\n",
        (f"{MANIFESTS}test_a_move_that_is_divided_among_many_cells_is_refused",),
    ),
    Sabotage(
        "the certificate of a manifest is not proved",
        "composition/manifest_checks.py",
        "        require_proved(proof)\n",
        "",
        (f"{MANIFESTS}test_a_certificate_of_another_scale_or_of_nothing_is_refused",),
    ),
    Sabotage(
        "a guarantee of a manifest is believed",
        "composition/manifest_checks.py",
        "    if guarantee.epsilon < epsilon or guarantee.delta < delta:\n",
        "    if False:\n",
        (f"{MANIFESTS}test_a_guarantee_below_the_proved_one_is_refused",),
    ),
    Sabotage(
        "sums of losses are laid out anew for every epsilon",
        "composition/total.py",
        "for total in reversed(self._sums):",
        "for total in self._sums[:0]:",
        ("tests/composition/test_total.py::test_a_sum_that_is_laid_out_for_one_epsilon_answers_for_its_neighbours",),
    ),
]
