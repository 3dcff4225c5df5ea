"""What values mean, and which cells there are: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

TIMES = "tests/tables/engines/test_times.py::"
UNITS = "tests/tables/engines/test_units.py::"
PERIODS = "tests/tables/test_periods.py::"
DOMAINS = "tests/tables/test_domain.py::"
COLUMNS = "tests/tables/test_column.py::"
SUGGESTIONS = "tests/tables/engines/test_suggestions.py::"

SABOTAGES = [
    Sabotage(
        "an edge of time is rounded down to the unit of a column",
        "tables/engines/times.py",
        "-(-int(least) // step) * step",
        "int(least) // step * step",
        (f"{TIMES}test_time_stamps_are_compared_in_their_own_unit_as_instants",),
    ),
    Sabotage(
        "times after the year 9999 are in the last bin",
        "tables/engines/times.py",
        "return value > _literal(_LAST // step * step, dtype, dialect)",
        "return False",
        (f"{TIMES}test_times_outside_the_calendar_are_other_and_no_message",),
    ),
    Sabotage(
        "an edge beyond what nanoseconds hold is asked of them",
        "tables/engines/times.py",
        'if unit == "ns" and not',
        'if unit == "never" and not',
        (f"{TIMES}test_nanoseconds_have_bounds_of_their_own",),
    ),
    Sabotage(
        "milliseconds of a Parquet file are read, and fail where one is large",
        "tables/engines/times.py",
        'kind.unit in ("s", "ms")',
        'kind.unit == "s"',
        (f"{TIMES}test_parquet_files_of_milliseconds_are_refused_since_a_value_could_make_them_fail",),
    ),
    Sabotage(
        "text of a time is compared with midnight written out",
        "tables/periods.py",
        "return edge.isoformat() if isinstance(edge, date) else str(edge)",
        'return f"{edge.isoformat()} 00:00" if isinstance(edge, date) else str(edge)',
        (f"{PERIODS}test_text_is_at_or_after_an_edge_exactly_if_the_time_is",),
    ),
    Sabotage(
        "29 February is in every year",
        "tables/periods.py",
        "02-(0[1-9]|1[0-9]|2[0-8])",
        "02-(0[1-9]|1[0-9]|2[0-9])",
        (f"{PERIODS}test_text_is_a_day_of_the_calendar_exactly_if_python_knows_it",),
    ),
    Sabotage(
        "a month is counted from any day on",
        "tables/periods.py",
        "if (start := _start(day, every)) != day:",
        "if (start := _start(day, every)) != day and every == 'week':",
        (f"{PERIODS}test_a_wrong_bin_of_time_is_refused_with_the_reason",),
    ),
    Sabotage(
        "a float column of ids is refused",
        "tables/engines/kinds.py",
        '_UNITS = ("text", "integer", "float", "boolean", "date", "object")',
        '_UNITS = ("text", "integer", "boolean", "date", "object")',
        (f"{UNITS}test_one_missing_value_of_pandas_takes_away_its_row_alone",),
    ),
    Sabotage(
        "a column of Python objects is no unit",
        "tables/engines/kinds.py",
        '_UNITS = ("text", "integer", "float", "boolean", "date", "object")',
        '_UNITS = ("text", "integer", "float", "boolean", "date")',
        (f"{UNITS}test_one_missing_value_of_pandas_takes_away_its_row_alone",),
    ),
    Sabotage(
        "fractions are units",
        "tables/engines/kinds.py",
        '    if kind == "float":\n        return _whole_numbers(value)\n    if kind not in ("text", "object"):\n',
        '    if kind == "float":\n        return value\n    if kind not in ("text", "object"):\n',
        (f"{UNITS}test_whole_floats_are_the_units_that_the_integers_would_be",),
    ),
    Sabotage(
        "which declarations a float column goes with depends on its values",
        "tables/engines/kinds.py",
        '"float": _ALL,',
        '"float": {"integer", "bins"},',
        (f"{UNITS}test_a_column_of_pandas_without_any_value_goes_with_every_declaration",),
    ),
    Sabotage(
        "the first line of a file is told",
        "tables/engines/files.py",
        "told = missing_column(name, present, by_header=by_header)",
        "told = missing_column(name, present)",
        (f"{SUGGESTIONS}test_the_first_line_of_a_text_file_is_not_told",),
    ),
    Sabotage(
        "cells that cannot occur are counted twice where patterns overlap",
        "tables/impossible.py",
        "if codes and not any(last[which] <= place for which in left):",
        "if codes:",
        (f"{DOMAINS}test_cells_that_cannot_occur_are_those_that_agree_with_a_pattern",),
    ),
    Sabotage(
        "a pattern is impossible in a table that lacks one of its columns",
        "tables/domain.py",
        "[pattern for pattern in self.impossible if kept.issuperset(pattern)]",
        "[{n: v for n, v in pattern.items() if n in kept} for pattern in self.impossible if kept & set(pattern)]",
        (f"{DOMAINS}test_patterns_stay_with_their_columns",),
    ),
    Sabotage(
        "a level is declared twice and nobody notices",
        "tables/column_checks.py",
        "if items[place] in seen:",
        "if False:",
        (f"{COLUMNS}test_levels_that_are_equal_are_found_and_those_with_a_common_hash_are_not",),
    ),
    Sabotage(
        "bins have fewer labels than there are bins",
        "tables/column_checks.py",
        "if len(found) != bins:",
        "if len(found) > bins:",
        (f"{COLUMNS}test_a_wrong_declaration_is_refused_with_the_reason",),
    ),
]
