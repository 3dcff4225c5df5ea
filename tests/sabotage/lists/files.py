"""From the bytes of a file to rows: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

RECORDS = "tests/tables/engines/test_records.py::"
FILES = "tests/tables/engines/test_files.py::"
TEXT = "tests/tables/engines/test_text_files.py::"
TEMPORARY = "tests/tables/engines/test_temporary.py::"
HOLES = "tests/fuzz/test_known_holes.py::"
NAMES = "tests/fuzz/test_known_names.py::"
LINES = "tests/fuzz/test_lines.py::"
STRICT = f"{LINES}test_with_strict_lines_a_row_is_one_record_and_changes_no_other"

SABOTAGES = [
    Sabotage(
        "an old polars takes one column for another",
        "tables/engines/polars.py",
        "< OLDEST:",
        "< (1, 0):",
        ("tests/tables/engines/test_refusals.py::test_a_polars_that_takes_names_for_patterns_is_refused",),
    ),
    Sabotage(
        "any carriage return ends a record",
        "tables/engines/records.py",
        "    is_end = data == line_end\n",
        "    is_end = (data == line_end) | (data == 13)\n",
        (f"{FILES}test_a_csv_record_is_one_row_whatever_is_in_it",),
    ),
    Sabotage(
        "line ends inside quotes end a record",
        "tables/engines/records.py",
        "places[~(quotes | inside)]",
        "places[~quotes]",
        (f"{FILES}test_a_long_quoted_field_is_one_record_wherever_a_chunk_ends",),
    ),
    Sabotage(
        "a chunk begins a record",
        "tables/engines/records.py",
        "        text = begun + chunk\n",
        "        text = chunk\n",
        (f"{FILES}test_a_long_quoted_field_is_one_record_wherever_a_chunk_ends",),
    ),
    Sabotage(
        "stray quotes are counted as proper ones",
        "tables/engines/records.py",
        "    return bool(begins.all() and ends.all())\n",
        "    return True\n",
        (f"{RECORDS}test_records_are_those_of_the_automaton_wherever_chunks_end",),
    ),
    Sabotage(
        "a record that is too long ends at its next line end",
        "tables/engines/records.py",
        "        if inside.group(2) is None:\n",
        "        if False:\n",
        (f"{RECORDS}test_a_record_that_is_too_long_is_one_row_without_values_and_ends_where_it_ends",),
    ),
    Sabotage(
        "a record that is too long depends on where chunks end",
        "tables/engines/records.py",
        "    known = sizes <= layout.longest\n",
        "    known = sizes >= 0\n",
        (f"{RECORDS}test_a_record_that_is_too_long_is_one_row_without_values_and_ends_where_it_ends",),
    ),
    Sabotage(
        "rows that are not valid text are left out",
        "tables/engines/text_files.py",
        "[None if value is None else _decoded(value, instead) for value in raw.to_pylist()]",
        "[_decoded(value, None) if value else None for value in raw.to_pylist()]",
        (f"{TEXT}test_rows_in_another_encoding_than_the_declared_one_are_other_rows_not_none",),
    ),
    Sabotage(
        "a file by two links is read twice",
        "tables/engines/files.py",
        "identity = (state.st_dev, state.st_ino) if state.st_ino else os.path.realpath(path)",
        "identity = path",
        (f"{FILES}test_a_file_is_read_once_by_whatever_names",),
    ),
    Sabotage(
        "rows are spilled where nobody chose to",
        "tables/engines/duckdb/database.py",
        'directory = "" if temp_dir is None else str(private_directory(temp_dir))',
        'directory = ".tmp" if temp_dir is None else str(private_directory(temp_dir))',
        (f"{TEMPORARY}test_without_a_directory_nothing_is_spilled_and_the_error_says_what_to_do",),
    ),
    Sabotage(
        "spilled rows outlive a killed process",
        "tables/engines/temporary.py",
        "    _guards.append(_guarded(directory))\n",
        "    _guards.append(os.getpid())\n",
        (f"{TEMPORARY}test_what_was_spilled_is_removed_however_the_process_ends",),
    ),
    Sabotage(
        "what an abandoned process has spilled is kept",
        "tables/engines/temporary.py",
        "    remove_abandoned(within)\n",
        "",
        (f"{TEMPORARY}test_directories_of_processes_that_are_gone_are_removed_and_others_kept",),
    ),
    Sabotage(
        "statistics of Parquet files decide for rows",
        "tables/engines/duckdb/database.py",
        '    "disabled_optimizers": ",".join(NO_STATISTICS),\n',
        "",
        (f"{HOLES}test_nans_of_every_writer_are_missing_also_with_units",),
    ),
    Sabotage(
        "a relation is counted in its own database",
        "tables/engines/duckdb/sources.py",
        "ours = self._connection.from_arrow(Stream(self._schema, batches))",
        "ours = self._rows",
        (f"{HOLES}test_nans_of_parquet_are_missing_whatever_other_rows_hold",),
    ),
    Sabotage(
        "columns of Parquet files are found by their names",
        "tables/engines/duckdb/reading.py",
        'else f"p{names.index(name)}"',
        'else f"p{[known.lower() for known in names].index(name.lower())}"',
        (f"{NAMES}test_names_that_differ_in_case_are_told_apart_or_refused[parquet]",),
    ),
    Sabotage(
        "names of polars are patterns",
        "tables/engines/polars.py",
        "pl.nth(names.index(column)).alias(safe_name(column))",
        "pl.col(column).alias(safe_name(column))",
        (f"{NAMES}test_names_are_neither_patterns_nor_paths",),
    ),
    Sabotage(
        "a file by two mounts is read twice",
        "tables/engines/files.py",
        "        if device != state.st_dev:\n",
        "        if False:\n",
        (f"{FILES}test_what_seems_to_be_one_file_on_two_devices_is_refused",),
    ),
    Sabotage(
        "a relation's own filter is decided by statistics",
        "tables/engines/duckdb/sources.py",
        "    answer(f\"SET disabled_optimizers = '{off}'\")\n",
        "",
        (f"{HOLES}test_a_filter_of_a_relation_is_decided_row_by_row",),
    ),
    Sabotage(
        "bytes that an encoding does not have are a character",
        "tables/engines/text_files.py",
        "getincrementaldecoder(encoding)(_INVALID)",
        'getincrementaldecoder(encoding)("replace")',
        (f"{TEXT}test_bytes_that_an_encoding_does_not_have_are_no_unit_and_match_nothing",),
    ),
    Sabotage(
        "an escape is a character",
        "tables/engines/text_files.py",
        "escape=None if self.escape is None else self.escape.encode()",
        "escape=None",
        (f"{TEXT}test_a_quote_that_is_escaped_or_that_nobody_quoted_swallows_no_record_in_its_own_dialect",),
    ),
    Sabotage(
        "an id that pandas wrote as a float is another unit",
        "tables/engines/kinds.py",
        '    return nw.when(text.str.ends_with(".0")).then(whole).otherwise(text)\n',
        "    return text\n",
        (f"{TEXT}test_an_id_is_the_same_unit_as_pandas_writes_it_beside_a_missing_one",),
    ),
    Sabotage(
        "time stamps of 96 bits are read by two readers",
        "tables/engines/files.py",
        'c.physical_type == "INT96"',
        'c.physical_type == "INT97"',
        (f"{FILES}test_time_stamps_of_96_bits_are_refused_by_the_schema",),
    ),
    Sabotage(
        "an open quote reaches beyond its strict line",
        "tables/engines/records.py",
        "        unclosed = layout.strict_lines and bool((inside & is_end[places]).any())\n",
        "        unclosed = False\n",
        (f"{STRICT}[csv]",),
    ),
    Sabotage(
        "the automaton reads on after a strict line",
        "tables/engines/records.py",
        '    ends = rb"\\r\\n" if layout.strict_lines else b""\n',
        '    ends = b""\n',
        (f"{STRICT}[csv]", f"{RECORDS}test_with_strict_lines_each_line_is_read_as_a_file_of_its_own"),
    ),
    Sabotage(
        "an escape reaches beyond its strict line",
        "tables/engines/records.py",
        '    after = rb"[^\\r\\n]|(?=[\\r\\n])" if layout.strict_lines else rb"."\n',
        '    after = rb"."\n',
        (f"{RECORDS}test_with_strict_lines_each_line_is_read_as_a_file_of_its_own",),
    ),
    Sabotage(
        "a carriage return ends no strict line",
        "tables/engines/records.py",
        '    paired = layout.strict_lines and b"\\r" in text\n',
        "    paired = False\n",
        (f"{STRICT}[csv]", f"{STRICT}[json]"),
    ),
    Sabotage(
        "lines of JSON are never strict",
        "tables/engines/text_files.py",
        "longest=text.longest, strict_lines=text.strict_lines)",
        "longest=text.longest)",
        (f"{STRICT}[json]",),
    ),
    Sabotage(
        "whether a header is refused depends on whether rows follow it",
        "tables/engines/text_files.py",
        'first_record(alone + b"\\nx", ',
        "first_record(begin[len(mark) :], ",
        (f"{TEXT}test_with_strict_lines_a_header_is_one_line_whatever_the_rows_are",),
    ),
    Sabotage(
        "blank strict lines are rows of a file of one column",
        "tables/engines/text_files.py",
        "keeps_blank=columns == 1 and not self.strict_lines",
        "keeps_blank=columns == 1",
        (f"{TEXT}test_with_strict_lines_a_blank_line_is_no_record_in_a_file_of_one_column_either",),
    ),
    Sabotage(
        "strict lines are recommended where they would split records",
        "tables/check_text.py",
        "    several = max(found.with_line_ends, int(found.otherwise > found.records))\n",
        "    several = 0\n",
        ("tests/tables/test_check.py::test_where_records_contain_line_ends_their_number_is_told",),
    ),
]
