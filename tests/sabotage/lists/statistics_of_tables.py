"""Statistics in tables: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

VALUES = "tests/tables/engines/test_values.py::"
EXACT = "tests/tables/engines/test_exact_sums.py::"
NEAR = "tests/tables/statistics/test_sensitivity_of_sums.py::"
RELEASED = "tests/tables/statistics/test_released_statistics.py::"

SABOTAGES = [
    Sabotage(
        "values above a range are not clamped",
        "tables/engines/values.py",
        "clamped.when(~x.is_nan()).then(nw.lit(float(last)))",
        "clamped.when(~x.is_nan()).then(x)",
        (f"{VALUES}test_rows_have_the_same_steps_on_every_engine[pyarrow]",),
    ),
    Sabotage(
        "integers above a range are not clamped",
        "tables/engines/values.py",
        ".when(x > last).then(nw.lit(last))",
        ".when(x > last).then(x)",
        (f"{VALUES}test_integers_have_the_steps_of_their_floats[ends0-kind1]",),
    ),
    Sabotage(
        "values are rounded down on Spark before they are clamped",
        "tables/engines/values.py",
        "    x = x + 0.5\n",
        "    x = (x + 0.5).floor()\n",
        ("tests/tables/engines/spark/test_values.py::test_spark_has_the_same_steps",),
    ),
    Sabotage(
        "steps are found by a division, which polars does otherwise",
        "tables/engines/values.py",
        "x * float(1 / values.step)",
        "x / float(values.step)",
        (f"{VALUES}test_rows_have_the_same_steps_on_every_engine[duckdb]",),
    ),
    Sabotage(
        "integers that no float holds are an error of Arrow",
        "tables/engines/arrow.py",
        "pa.float64(), safe=False)",
        "pa.float64())",
        (f"{VALUES}test_rows_have_the_same_steps_on_every_engine[pyarrow]",),
    ),
    Sabotage(
        "squares are added up in 64 bits",
        "tables/engines/exact_sums.py",
        "return not wide and self.measure.values.steps >= self.base",
        "return False",
        (f"{EXACT}test_digits_give_sums_beyond_64_bits_back[True]",),
    ),
    Sabotage(
        "digits are put together in floats",
        "tables/engines/exact_sums.py",
        'first = base * of(f"{name}_h") + of(f"{name}_l")',
        'first = np.array([int(float(base * h + l)) for h, l in zip(of(f"{name}_h"), of(f"{name}_l"))], dtype=object)',
        (f"{EXACT}test_digits_give_sums_beyond_64_bits_back[True]", f"{EXACT}test_digits_keep_the_last_digit"),
    ),
    Sabotage(
        "units without a value are not counted",
        "tables/statistics/sum_groups.py",
        "missing, known = w * (found.units - found.known), w * found.known",
        "missing, known = 0 * found.units, w * found.known",
        (f"{NEAR}test_a_missing_value_is_a_unit_of_its_group",),
    ),
    Sabotage(
        "the rounding of triples is left out of the sensitivity",
        "tables/statistics/sum_groups.py",
        "_ROUNDED = 2\n",
        "_ROUNDED = 0\n",
        (
            f"{NEAR}test_weights_are_sizes_of_groups",
            "tests/tables/statistics/test_sum_groups.py::test_a_unit_that_comes_moves_a_group_by_at_most_its_size",
        ),
    ),
    Sabotage(
        "weights do not change the sensitivity",
        "tables/statistics/statistics_plan.py",
        "if len({group.size for group in groups}) == 1:",
        "if True:",
        (f"{NEAR}test_weights_are_sizes_of_groups",),
    ),
    Sabotage(
        "groups of all cells of a unit are taken for one",
        "tables/statistics/statistics_plan.py",
        "sum(group.moving(request.max_cells or 1, size, units) for size in request.sizes)",
        "sum(group.moving(1, size, units) for size in request.sizes)",
        (f"{NEAR}test_a_unit_that_keeps_a_cell_too_many_is_found",),
    ),
    Sabotage(
        "quantiles of each cell cost what those of all cells may",
        "tables/statistics/statistics_plan.py",
        "cells = sum(most if size is None else min(most, size) for size in request.sizes)",
        "cells = 1",
        (f"{NEAR}test_the_split_of_quantiles_adds_up_to_the_goal",),
    ),
    Sabotage(
        "sums of units are not clamped to the range",
        "tables/engines/values.py",
        "value = inside - first",
        "value = total - first",
        (f"{VALUES}test_units_have_the_same_steps_on_every_engine[pyarrow-sum-1]",),
    ),
    Sabotage(
        "a value that is null is taken for the lower end",
        "tables/engines/values.py",
        "PairValue(name, aggregates, nw.when(nw.col(known) > 0).then(value).cast(nw.Int64))",
        "PairValue(name, aggregates, nw.when(nw.col(known) > 0).then(value).otherwise(nw.lit(0.0)).cast(nw.Int64))",
        (f"{VALUES}test_units_have_the_same_steps_on_every_engine[pyarrow-mean-3]",),
    ),
]
