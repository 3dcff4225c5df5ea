"""Compositions: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

COMPOSE = "tests/composition/test_compose.py::"
TOTAL = "tests/composition/test_total.py::"
MANIFESTS = "tests/tables/test_manifest_checks.py::"
FORGED = f"{MANIFESTS}test_all_who_read_manifests_refuse_a_forged_one_and_name_the_field"
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
        "partial(_plan_for_goal, goal, sensitivity.repeated(number), support",
        "partial(_plan_for_goal, goal, sensitivity, support",
        (f"{COMPOSE}test_planned_releases_keep_their_goal_together_and_hardly_more[goal0-query0-12]",),
    ),
    *(
        Sabotage(
            f"{what} of a manifest is believed",
            "tables/manifest_checks.py",
            "    if _WORDS.fullmatch(where) and not same_words",
            f"    if re.match({where!r}, where) or _WORDS.fullmatch(where) and not same_words",
            (f"{FORGED}[{forgery}]",),
        )
        for what, where, forgery in (
            ("the number of losses", "losses$", "the losses of quantiles"),
            ("the size of a loss", "losses.+size", "a move that is divided among many cells"),
            ("the guarantee", "guarantee", "the neighbours of the guarantee"),
            ("the unit", "table.unit", "the column of units"),
            ("the statement", "statement", "a statement of less"),
            ("the description of a table", "table.tables", "a key that is no column"),
        )
    ),
    Sabotage(
        "the certificate of a manifest is not proved",
        "tables/manifest_checks.py",
        "        require_proved(certificate)\n",
        "",
        (f"{FORGED}[half the scale]",),
    ),
    Sabotage(
        "the numbers of another version are believed",
        "tables/manifest_checks.py",
        "    if _WORDS.fullmatch(where) and not same_words",
        "    if not same_words",
        (f"{MANIFESTS}test_the_words_of_an_earlier_version_are_not_compared_nor_shown_and_its_numbers_are",),
    ),
    Sabotage(
        "a manifest may have any other field",
        "tables/manifest_checks.py",
        "            if name not in derived:\n                return",
        "            if name not in derived:\n                continue\n                return",
        (f"{FORGED}[a field that nobody writes]",),
    ),
    Sabotage(
        "true is 1 in a manifest",
        "tables/manifest_checks.py",
        "    return stated == derived and (numbers or type(stated) is type(derived))\n",
        "    return stated == derived\n",
        (f"{FORGED}[a number that is true]",),
    ),
    Sabotage(
        "the errors of a manifest are believed",
        "tables/manifest_checks.py",
        "_SAME_ERROR = 1e-9\n",
        "_SAME_ERROR = 1.0\n",
        (f"{FORGED}[smaller errors]",),
    ),
    Sabotage(
        "a directory has any parts",
        "tables/manifest_checks.py",
        "        if hashlib.sha256(listing.encode()).hexdigest() != digest:\n",
        "        if False:\n",
        (f"{MANIFESTS}test_the_digest_of_a_directory_is_that_of_its_parts",),
    ),
    Sabotage(
        "a ledger reserves what a forged manifest says",
        "ledger/charge_request.py",
        '    if "schema" in plain:\n',
        "    if False:\n",
        (f"{FORGED}[the loss of a threshold]",),
    ),
    Sabotage(
        "sums of losses are laid out anew for every epsilon",
        "composition/total.py",
        "for total in reversed(self._sums):",
        "for total in self._sums[:0]:",
        ("tests/composition/test_total.py::test_a_sum_that_is_laid_out_for_one_epsilon_answers_for_its_neighbours",),
    ),
    Sabotage(
        "a report shows words that nothing was compared with",
        "tables/manifest_checks.py",
        "    return manifest if _is_this_version(",
        "    return manifest if manifest or _is_this_version(",
        (f"{MANIFESTS}test_the_words_of_an_earlier_version_are_not_compared_nor_shown_and_its_numbers_are",),
    ),
    Sabotage(
        "a manifest of a version to come is believed",
        "tables/manifest_checks.py",
        "    if theirs >= mine:\n",
        "    if theirs < ():\n",
        (f"{MANIFESTS}test_a_later_version_and_what_is_no_version_are_refused",),
    ),
    Sabotage(
        "the name of a file imitates the output of a command",
        "tables/manifest_checks.py",
        "        and name.isprintable()\n",
        "",
        (f"{MANIFESTS}test_the_name_of_a_file_is_a_name_that_can_be_printed",),
    ),
    Sabotage(
        "a shape without end is multiplied",
        "tables/manifest_checks.py",
        "    if len(shape) > _MOST_AXES or math.prod(shape) >= 1 << 63:\n",
        "    if not stated:\n",
        (f"{MANIFESTS}test_a_shape_that_no_array_has_is_refused",),
    ),
]
