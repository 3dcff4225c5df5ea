"""From the bytes of a file to rows: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

RECORDS = "tests/tables/engines/test_records.py::"
FILES = "tests/tables/engines/test_files.py::"
TEXT = "tests/tables/engines/test_text_files.py::"
TEMPORARY = "tests/tables/engines/test_temporary.py::"

SABOTAGES = [
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
        "places[~(quotes | np.bitwise_xor.accumulate(quotes))]",
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
        '    inside = re.fullmatch(rb\'"(?:[^"]|"")*+\', field)\n',
        "    inside = None\n",
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
        "        values = [None if value is None else decoded(value, instead) for value in array.to_pylist()]\n",
        "        values = [decoded(value, None) if value else None for value in array.to_pylist()]\n",
        (f"{TEXT}test_rows_in_another_encoding_than_the_declared_one_are_other_rows_not_none",),
    ),
    Sabotage(
        "a file by two links is read twice",
        "tables/engines/files.py",
        "        if identity in found:\n            continue\n",
        "",
        (f"{FILES}test_a_file_is_read_once_by_whatever_names",),
    ),
    Sabotage(
        "rows are spilled where nobody chose to",
        "tables/engines/duckdb.py",
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
]
