"""Requests of tables, rows of units, units that are cut, cells that cannot occur: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

ENTRY = "tests/tables/test_plan_and_release.py::"
REQUESTS = "tests/tables/test_request.py::"
BOUNDED = "tests/tables/engines/test_contributions.py::"
CUT = "tests/tables/test_cut.py::"
THRESHOLDS = "tests/tables/test_thresholds.py::"
VIEWS = "tests/tables/test_views.py::"

SABOTAGES = [
    Sabotage(
        "rows of a unit are as sensitive as the unit",
        "tables/request.py",
        "return Sensitivity.cells(moving, self.most_in_a_cell, neighbours=self.neighbours)",
        "return Sensitivity.cells(moving, 1, neighbours=self.neighbours)",
        (f"{REQUESTS}test_rows_of_a_unit_move_each_of_its_cells_by_as_many_as_are_counted",),
    ),
    Sabotage(
        "all rows of a unit are counted",
        "tables/engines/contributions.py",
        "nw.when(rows > limits.max_rows)",
        "nw.when(rows < 0)",
        (f"{BOUNDED}test_so_many_rows_of_a_unit_count_in_a_cell_on_every_engine",),
    ),
    Sabotage(
        "a threshold hides one row of a unit",
        "tables/thresholds.py",
        "expm1(), at_least=0) + r",
        "expm1(), at_least=0) + 1",
        (f"{THRESHOLDS}test_a_threshold_hides_all_rows_of_a_unit_and_is_the_least",),
    ),
    Sabotage(
        "the delta of keys is that of a single row",
        "tables/thresholds.py",
        "threshold - most_in_a_cell)).log1p()",
        "threshold - 1)).log1p()",
        (f"{THRESHOLDS}test_rows_of_units_and_declared_tables_are_within_the_proved_delta",),
    ),
    Sabotage(
        "declared tables beside open ones cost no delta",
        "tables/thresholds.py",
        "m += _validate.integer(declared_cells=declared_cells, at_least=0)",
        "_validate.integer(declared_cells=declared_cells, at_least=0)",
        (f"{THRESHOLDS}test_a_declared_table_beside_an_open_one_spends_both_deltas_on_one_pair",),
    ),
    Sabotage(
        "an open table bounds the cells of a unit",
        "tables/request.py",
        "return tuple(most if size is None else min(most, size) for size in self.sizes)",
        "return tuple(min(most, size or 1) for size in self.sizes)",
        (f"{REQUESTS}test_an_open_table_bounds_no_unit_by_itself",),
    ),
    Sabotage(
        "the count of units cut is free",
        "tables/cut.py",
        'total = rounded_up(Fraction(cells.epsilon) + Fraction(cut.mechanism.guarantee.epsilon), of="epsilon")',
        "total = cells.epsilon",
        (f"{CUT}test_epsilon_is_the_sum_of_both_and_not_above_the_goal",),
    ),
    Sabotage(
        "the whole epsilon is left for the cells",
        "tables/cut.py",
        "return replace(request.goal, epsilon=left)",
        "return request.goal",
        (f"{CUT}test_epsilon_is_the_sum_of_both_and_not_above_the_goal",),
    ),
    Sabotage(
        "upper ends are not raised for units that are cut",
        "tables/intervals.py",
        "if extra := allowance(cut, table):",
        "if extra := 0:",
        (f"{CUT}test_the_upper_end_is_raised_by_the_units_cut_and_the_lower_is_not",),
    ),
    Sabotage(
        "cells and units cut may each miss 5 %",
        "tables/cut.py",
        "CELL_LEVEL = 0.9601",
        "CELL_LEVEL = 0.95",
        (f"{CUT}test_what_may_be_missed_is_shared_exactly",),
    ),
    Sabotage(
        "rows in cells that cannot occur are counted",
        "tables/engines/cells.py",
        "for pattern in marginal.impossible_codes]",
        "for pattern in marginal.impossible_codes[:0]]",
        (f"{BOUNDED}test_rows_in_cells_that_cannot_occur_are_counted_nowhere_on_any_engine",),
    ),
    Sabotage(
        "a sparse table shows cells that cannot occur",
        "tables/noisy_counts.py",
        "here = here[domain.possible(shown[here] - start)]",
        "pass",
        (f"{ENTRY}test_a_sparse_table_never_shows_a_cell_that_cannot_occur",),
    ),
    Sabotage(
        "intervals of counts that are not negative are",
        "tables/intervals.py",
        "if plan.request.nonnegative:",
        "if False:",
        (f"{ENTRY}test_intervals_go_by_the_raw_noisy_count",),
    ),
    Sabotage(
        "intervals do not say what they cover",
        "tables/release.py",
        "covers=covered(plan.request, number),\n            )",
        "covers=None,\n            )",
        (f"{ENTRY}test_what_intervals_cover_stands_in_the_table_only_where_bounding_can_cut",),
    ),
    Sabotage(
        "open keys are formulas in CSV files",
        "tables/writing.py",
        "rows = rows.set_column(place, rows.field(place), _harmless(rows.column(place)))",
        "pass",
        (f"{VIEWS}test_no_open_key_is_a_formula_in_a_csv_file",),
    ),
    Sabotage(
        "who declares a formula is not warned",
        "tables/request.py",
        "return tuple(found) if formulas is None else (*found, formulas)",
        "return tuple(found)",
        (f"{VIEWS}test_who_declares_a_formula_is_warned_when_the_release_is_planned",),
    ),
    Sabotage(
        "a null statistic takes its line out of a CSV file",
        "tables/writing.py",
        'return plain.fill_null("")',
        "return plain",
        ("tests/tables/test_writing.py::test_a_cell_whose_mean_is_null_has_its_line_in_a_csv_file",),
    ),
    Sabotage(
        "a notebook runs what a level says",
        "tables/notebook.py",
        "{escape(text)}</{tag}>",
        "{text}</{tag}>",
        (f"{VIEWS}test_a_notebook_shows_the_guarantee_and_the_first_rows_escaped",),
    ),
    Sabotage(
        "nobody is warned of a large epsilon",
        "tables/request.py",
        "if self.goal.epsilon > _LARGE_EPSILON:",
        "if False:",
        (f"{REQUESTS}test_a_large_epsilon_is_warned_about_too",),
    ),
]
