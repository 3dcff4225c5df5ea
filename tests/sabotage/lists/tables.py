"""Tables: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

TABLES = "tests/tables/test_plan_and_release.py::"
REQUESTS = "tests/tables/test_request.py::"
COUNTING = "tests/tables/engines/test_counting.py::"

SABOTAGES = [
    Sabotage(
        "units keep all their cells in memory",
        "tables/engines/bounding.py",
        "kept = order[np.arange(len(order)) - first < max_cells]",
        "kept = order",
        (f"{TABLES}test_a_cell_counts_units_and_not_rows_and_a_unit_has_at_most_so_many_cells",),
    ),
    Sabotage(
        "units keep all their cells in DuckDB",
        "tables/engines/bounding.py",
        "ORDER BY {score}, {kept}) <= {max_cells}",
        "ORDER BY {score}, {kept}) >= 1",
        (f"{COUNTING}test_units_keep_the_same_cells_on_every_engine",),
    ),
    Sabotage(
        "rows are counted instead of units",
        "tables/engines/bounding.py",
        "pairs = frame.group_by(unit, *cell).agg(nw.len().alias(ROWS))",
        "pairs = frame.with_columns(nw.lit(1).alias(ROWS))",
        (f"{TABLES}test_a_cell_counts_units_and_not_rows_and_a_unit_has_at_most_so_many_cells",),
    ),
    Sabotage(
        "the choice of cells depends on how many units there are",
        "tables/engines/bounding.py",
        "order = np.lexsort((scores, number))",
        "order = np.lexsort((scores % np.uint64(number.max() + 2), number))",
        (f"{COUNTING}test_units_keep_the_same_cells_on_every_engine",),
    ),
    Sabotage(
        "the key of the choice of cells is the same for every release",
        "tables/entry.py",
        'key = random_words(bits, _KEY_WORDS).tobytes() if request.unit is not None else b""',
        'key = bytes(32) if request.unit is not None else b""',
        (f"{TABLES}test_the_key_that_chooses_the_cells_of_units_is_new_for_every_release",),
    ),
    Sabotage(
        "a replaced unit moves as many counts as one that goes",
        "tables/request.py",
        'moving = sum(self._moving(1 if self.neighbours == "add-remove" else 2))',
        "moving = sum(self._moving(1))",
        (f"{REQUESTS}test_as_many_counts_move_as_a_unit_has_cells_and_twice_when_it_is_replaced",),
    ),
    Sabotage(
        "several tables are as sensitive as one",
        "tables/request.py",
        'moving = sum(self._moving(1 if self.neighbours == "add-remove" else 2))',
        'moving = max(self._moving(1 if self.neighbours == "add-remove" else 2))',
        (f"{TABLES}test_marginals_are_one_query_with_its_joint_sensitivity",),
    ),
    Sabotage(
        "a public total goes with add-remove neighbours",
        "tables/request_checks.py",
        'if request.neighbours != "replace-one":',
        "if False:",
        (f"{REQUESTS}test_a_wrong_request_is_refused_with_the_reason",),
    ),
    Sabotage(
        "levels of the data are taken as the domain",
        "tables/column.py",
        "if not isinstance(levels, list | tuple | range):",
        "if False:",
        ("tests/tables/test_column.py::test_what_a_frame_holds_is_no_domain",),
    ),
    Sabotage(
        "keys of the data are shown without delta",
        "tables/request_checks.py",
        "if unknown and request.goal.delta == 0.0:",
        "if False:",
        (f"{TABLES}test_levels_of_a_categorical_column_are_not_the_domain",),
    ),
    Sabotage(
        "false cells come last",
        "tables/sparse.py",
        'sorting = np.argsort(shown, kind="stable")',
        "sorting = np.arange(shown.size)",
        ("tests/tables/test_sparse.py::test_false_cells_stand_among_the_others_in_the_order_of_cells",),
    ),
    Sabotage(
        "non-empty cells can be false too",
        "tables/sparse.py",
        'places = ranks + np.searchsorted(cells - np.arange(cells.size), ranks, side="right")',
        "places = ranks",
        ("tests/tables/test_sparse.py::test_the_ranks_of_empty_cells_lead_to_all_of_them_and_to_no_other",),
    ),
    Sabotage(
        "keys are shown one unit too early",
        "tables/thresholds.py",
        "expm1(), at_least=0) + r",
        "expm1(), at_least=1) + r - 1",
        ("tests/tables/test_thresholds.py::test_a_threshold_of_keys_is_the_least_that_hides_a_unit",),
    ),
    Sabotage(
        "noise and threshold share one delta for several cells",
        "tables/thresholds.py",
        'return m == 1 and neighbours == "add-remove"',
        "return True",
        ("tests/tables/test_thresholds.py::test_the_larger_of_the_two_deltas_is_not_enough_under_replace_one",),
    ),
    Sabotage(
        "intervals near the threshold leave 0 out",
        "releases/threshold.py",
        "return min(last, LARGEST)",
        "return self.value - 1",
        ("tests/releases/test_threshold.py::test_every_true_count_is_covered_given_that_its_cell_is_shown",),
    ),
    Sabotage(
        "probabilistic DP survives a threshold",
        "tables/plan.py",
        "promised = promised.after_postprocessing()",
        "pass",
        (f"{REQUESTS}test_a_probabilistic_goal_is_approximate_after_an_adjustment_and_a_threshold",),
    ),
    Sabotage(
        "rows without a unit are counted",
        "tables/engines/plan.py",
        "found = frame.select(*raw, unit.alias(UNIT)).filter(~nw.col(UNIT).is_null())",
        "found = frame.select(*raw, unit.alias(UNIT))",
        (f"{COUNTING}test_units_keep_the_same_cells_on_every_engine",),
    ),
    Sabotage(
        "unknown levels are counted as the first one",
        "tables/engines/plan.py",
        "unknown = nw.when(joined.is_null()).then(nw.lit(other)).otherwise(joined)",
        "unknown = nw.when(joined.is_null()).then(nw.lit(0)).otherwise(joined)",
        (f"{TABLES}test_every_cell_of_the_domain_is_released_in_its_order_empty_ones_too",),
    ),
    Sabotage(
        "what an engine says is passed on",
        "tables/engines/native.py",
        "    if out_of_memory:\n        raise OutOfMemoryError(source)\n    raise SourceError(source)\n",
        '    raise SourceError("the engine said so")\n',
        ("tests/tables/engines/test_refusals.py::test_an_error_of_an_engine_is_replaced_and_forgotten",),
    ),
    Sabotage(
        "the fixed message has the engine's as its context",
        "tables/engines/native.py",
        "    except BaseException as failed:\n",
        "    except BaseException as failed:\n        raise SourceError(source)\n",
        ("tests/tables/engines/test_refusals.py::test_an_error_of_an_engine_is_replaced_and_forgotten",),
    ),
    Sabotage(
        "intervals are centred on the adjusted count",
        "tables/release.py",
        "lower, upper = table_intervals(plan, number, release.noisy[part], cut)",
        "lower, upper = table_intervals(plan, number, release.values[part], cut)",
        (f"{TABLES}test_intervals_go_by_the_raw_noisy_count",),
    ),
]
