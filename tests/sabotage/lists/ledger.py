"""Ledgers: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

EVENTS = "tests/ledger/test_releases.py::"
LEDGER = "tests/ledger/test_ledger.py::"
CHAIN = "tests/ledger/test_chain.py::"
STORE = "tests/ledger/test_store.py::"
SUMS = "tests/ledger/test_sums.py::"
TAMPERING = "tests/ledger/test_tampering.py::"
FAULTS = "tests/ledger/test_faults.py::"
ROLLBACK = "tests/ledger/test_rollback.py::"

SABOTAGES = [
    Sabotage(
        "a delta is written in two ways",
        "ledger/budgets.py",
        "delta = {self.delta.shown}",
        "delta = {self.delta}",
        ("tests/test_rounding.py::test_a_delta_has_one_text_wherever_it_is_shown",),
    ),
    Sabotage(
        "without caps nothing remains for an analyst",
        "ledger/accounts.py",
        "if analyst is None or not self.caps:",
        "if analyst is None:",
        ("tests/ledger/test_what_if.py::test_without_caps_an_analyst_shares_the_budget",),
    ),
    Sabotage(
        "a table is charged after it was counted",
        "tables/noisy_counts.py",
        "        entry = charge.commit()\n        if plan.statistics is not None:\n",
        "        opened.count(query)\n        entry = charge.commit()\n        if plan.statistics is not None:\n",
        (f"{EVENTS}test_a_charge_is_committed_before_a_row_is_read[declared]",),
    ),
    Sabotage(
        "a mechanism is charged after it looked at the values",
        "mechanisms/additive.py",
        "            entry = charge.commit()\n            return charged_to(self._released(values, bits), entry)\n",
        "            found = self._released(values, bits)\n            return charged_to(found, charge.commit())\n",
        (f"{EVENTS}test_a_mechanism_charges_before_it_looks_at_a_value",),
    ),
    Sabotage(
        "a refusal opens the data first",
        "ledger/charging.py",
        "            self._ledger.require_fit(self._request, self._analyst)\n",
        "            pass\n",
        (f"{EVENTS}test_a_refusal_opens_no_data",),
    ),
    Sabotage(
        "a failed release is refunded",
        "ledger/charging.py",
        '            error.add_note(f"the charge of entry {self._entry.number} stays: there is no refund")\n',
        '            error.add_note("the charge of entry 1 stays: there is no refund")\n'
        "            with self._ledger._store.writing() as rows:\n"
        '                rows.connection.exec_driver_sql("DELETE FROM ggdp_records")\n'
        "                rows.connection.exec_driver_sql(\n"
        '                    "UPDATE ggdp_ledger SET head_number = 0, head_hash = ?", (self._ledger._terms.genesis,)\n'
        "                )\n",
        (f"{EVENTS}test_a_failure_after_the_charge_keeps_it_and_says_so",),
    ),
    Sabotage(
        "charges do not add up",
        "ledger/transaction.py",
        "        state = self.charged(asked, charge, analyst)\n",
        "        state = self.state\n",
        (f"{LEDGER}test_charges_are_numbered_and_add_up",),
    ),
    Sabotage(
        "amounts are added as floats",
        "ledger/amounts.py",
        "        return Amount(self.units + other.units)\n",
        "        return Amount(int((float(self) + float(other)) * _UNITS))\n",
        ("tests/ledger/test_amounts.py::test_typed_decimals_add_up_as_on_paper",),
    ),
    Sabotage(
        "a charge is rounded down",
        "ledger/amounts.py",
        "return cls(math.ceil(exact * 10**places) * 10 ** (PLACES - places))",
        "return cls(math.floor(exact * 10**places) * 10 ** (PLACES - places))",
        (f"{SUMS}test_noise_of_order_1_is_charged_at_least_its_exact_loss",),
    ),
    Sabotage(
        "a decimal is charged for a float that is larger",
        "ledger/accounting/sums.py",
        "    if epsilon > decimal and not _fits(epsilon, decimal, allowed - delta):\n",
        "    if False:\n",
        (f"{SUMS}test_what_is_charged_for_approximate_dp_is_implied_by_what_is_proved",),
    ),
    Sabotage(
        "writers do not wait for each other",
        "ledger/store.py",
        'connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")',
        'connection.exec_driver_sql("BEGIN")',
        (f"{STORE}test_one_writer_at_a_time_holds_the_lock",),
    ),
    Sabotage(
        "charges are not synced",
        "ledger/store.py",
        'connection.execute("PRAGMA synchronous = EXTRA")',
        'connection.execute("PRAGMA synchronous = OFF")',
        (f"{STORE}test_charges_are_synced_before_they_return",),
    ),
    Sabotage(
        "a database of another program is opened before it is looked at",
        "ledger/store.py",
        "            if _application(self.path) != APPLICATION:\n",
        "            if _file_engine(self.path).connect().closed or _application(self.path) != APPLICATION:\n",
        (f"{STORE}test_a_database_of_another_program_and_its_log_stay_as_they_are",),
    ),
    Sabotage(
        "looking at the file of a ledger gives up its lock",
        "ledger/store.py",
        "            if _application(self.path) != APPLICATION:\n",
        "            if int.from_bytes(self.path.read_bytes()[68:72], 'big') != APPLICATION:\n",
        (f"{STORE}test_opening_a_ledger_gives_up_no_lock_that_another_thread_holds",),
    ),
    Sabotage(
        "a new ledger replaces an old one",
        "ledger/store.py",
        "write_together({path: content}, overwrite=False)",
        "write_together({path: content}, overwrite=True)",
        (f"{LEDGER}test_creating_never_replaces_a_file",),
    ),
    Sabotage(
        "the chain is not checked",
        "ledger/verification.py",
        "if record.previous != previous or record.hashed(genesis) != record.hash:",
        "if False:",
        (f"{CHAIN}test_an_edit_of_any_column_of_any_record_is_found[1-time]",),
    ),
    Sabotage(
        "the end of the chain is not checked",
        "ledger/verification.py",
        "if (number, previous) != (head.number, head.hash):",
        "if False:",
        (f"{CHAIN}test_records_cut_off_at_the_end_are_found",),
    ),
    Sabotage(
        "a charge builds on a last record that was changed",
        "ledger/transaction.py",
        "        require_head(terms, head, last)\n",
        "",
        (f"{LEDGER}test_a_charge_does_not_build_on_a_last_record_or_a_budget_that_was_changed",),
    ),
    Sabotage(
        "an open ledger is charged after an older copy has taken its place",
        "ledger/transaction.py",
        "        require_seen(seen, terms, head, rows, name)\n",
        "        assert seen\n",
        (
            f"{ROLLBACK}test_an_open_ledger_is_not_charged_after_an_older_copy_has_taken_its_place[renamed_over]",
            f"{ROLLBACK}test_an_older_copy_on_postgresql_is_noticed",
        ),
    ),
    Sabotage(
        "a ledger forgets the head that it has written",
        "ledger/ledger.py",
        "        self._remember(present.head)\n",
        "",
        (f"{ROLLBACK}test_an_open_ledger_is_not_charged_after_an_older_copy_has_taken_its_place[copied_over]",),
    ),
    Sabotage(
        "a thread that reads while another one charges takes its ledger for an older copy",
        "ledger/readable_ledger.py",
        "            present = LedgerTransaction.begin(rows, self._accounts, self.name, seen)\n",
        "            present = LedgerTransaction.begin(rows, self._accounts, self.name, seen and self._seen)\n",
        (f"{ROLLBACK}test_a_charge_of_another_thread_during_a_reading_on_postgresql_is_no_older_copy",),
    ),
    Sabotage(
        "a charge to a file that has lost its name counts",
        "ledger/store.py",
        "                if writes and _place(self.path) != place:\n",
        "                if not place and self.path:\n",
        (f"{ROLLBACK}test_a_file_that_is_replaced_in_the_middle_of_a_charge_is_named[after]",),
    ),
    Sabotage(
        "a hash does not cover the budget",
        "ledger/entries.py",
        'return digest_of({"ledger": genesis, **columns})',
        "return digest_of({**columns})",
        (f"{LEDGER}test_a_charge_does_not_build_on_a_last_record_or_a_budget_that_was_changed",),
    ),
    Sabotage(
        "caps of analysts are ignored",
        "ledger/accounts.py",
        "        if analyst in self.caps and not self.caps[analyst].keeps(after.analysts[analyst]):\n",
        "        if False:\n",
        (f"{LEDGER}test_caps_of_analysts_hold_under_the_common_budget",),
    ),
    Sabotage(
        "other neighbours are charged",
        "ledger/accounts.py",
        "        if request.neighbours != neighbours:\n",
        "        if False:\n",
        (f"{LEDGER}test_other_neighbours_are_refused",),
    ),
    Sabotage(
        "tables of rows and of people are charged to one ledger",
        "ledger/accounts.py",
        "        if self.names_unit(unit):\n",
        "        if True:\n",
        (f"{LEDGER}test_a_ledger_that_has_charged_for_one_unit_refuses_another",),
    ),
    Sabotage(
        "verify does not look at units",
        "ledger/verification.py",
        '        before = accounts.protecting(state, content.get("protects"), content["unit"])\n',
        '        before = replace(state, protects=json.loads(record.totals).get("protects"))\n',
        (f"{CHAIN}test_a_chain_with_right_hashes_that_mixes_units_is_found",),
    ),
    Sabotage(
        "a table may replace the ledger that it is charged to",
        "tables/table_plan.py",
        "        require_apart_from_ledger(ledger, out=written, plot=drawn)\n",
        "",
        (f"{EVENTS}test_an_output_that_is_the_ledger_is_refused_before_anything_is_opened[out-t.csv-itself]",),
    ),
    Sabotage(
        "a plot may replace the ledger that it shows",
        "cli/ledger_show.py",
        "        require_apart_from_ledger(url, plot=[plot])\n",
        "",
        ("tests/cli/test_ledger.py::test_an_output_that_is_the_ledger_is_refused[show]",),
    ),
    Sabotage(
        "a copy of a release forgets its entry",
        "releases/release.py",
        "        stated = (self.guarantee, self.entry)\n",
        "        stated = (self.guarantee, None)\n",
        (f"{EVENTS}test_a_copy_that_was_pickled_is_written_and_records_nothing",),
    ),
    Sabotage(
        "files that are written after the charge are not recorded",
        "tables/writing.py",
        "        release.charge.published(digests(found))\n",
        "        pass\n",
        (f"{EVENTS}test_files_that_are_written_later_are_recorded_with_their_digests[csv-write]",),
    ),
    Sabotage(
        "a table that is written later may replace its ledger",
        "tables/writing.py",
        "        release.charge.require_apart(out=(*files, signature))\n",
        "        pass\n",
        (f"{EVENTS}test_a_table_does_not_replace_its_ledger_when_it_is_written_later",),
    ),
    Sabotage(
        "a seeded source is charged",
        "ledger/charging.py",
        "        if not is_private(source):\n",
        "        if False:\n",
        (f"{EVENTS}test_a_seeded_source_is_not_charged",),
    ),
    Sabotage(
        "every order of a Renyi filter has the whole delta",
        "ledger/accounting/renyi.py",
        "budget.delta.exact.denominator)) / orders, arb(alpha)",
        "budget.delta.exact.denominator)), arb(alpha)",
        ("tests/ledger/test_renyi.py::test_a_limit_gives_its_share_of_delta_and_hardly_less",),
    ),
    Sabotage(
        "a reserved law is used twice",
        "ledger/accounting/reserved.py",
        "[count, used + 1]",
        "[count, used]",
        ("tests/ledger/test_reserved.py::test_laws_are_used_up_one_by_one",),
    ),
    Sabotage(
        "laws are reserved without a proof of their total",
        "ledger/accounting/reserved.py",
        "        if delta > self.budget.delta.exact * ROUNDING:\n",
        "        if False:\n",
        ("tests/ledger/test_reserved.py::test_what_is_reserved_in_parts_must_keep_the_budget_together",),
    ),
    Sabotage(
        "stopping by the composed loss is offered",
        "ledger/accounting/kinds.py",
        '    if accounting == "composed":\n',
        '    if accounting == "none":\n',
        (f"{LEDGER}test_stopping_by_the_composed_loss_is_refused_with_the_reason",),
    ),
    Sabotage(
        "a record that the database swallowed is charged",
        "ledger/store.py",
        "        if head != Head(record.number, record.hash) or self.record(record.number) != record:\n",
        "        if False:\n",
        (f"{TAMPERING}test_a_database_that_swallows_what_is_written_charges_nothing_and_does_not_verify[sqlite]",),
    ),
    Sabotage(
        "triggers on a server are not looked for",
        "ledger/damage.py",
        "        if found is not None:\n",
        "        if False:\n",
        (f"{TAMPERING}test_a_table_of_postgresql_that_is_none_of_a_ledger_is_found[unlogged]",),
    ),
    Sabotage(
        "writers on a server do not wait for each other",
        "ledger/store.py",
        "                connection.execute(sa.select(terms.c.id).with_for_update())\n",
        "",
        (f"{FAULTS}test_a_locked_ledger_is_waited_for_and_then_named[postgresql]",),
    ),
    Sabotage(
        "writers on a server see the state from before they waited",
        "ledger/store.py",
        'level = "READ COMMITTED" if writes else',
        'level = "REPEATABLE READ" if writes else',
        (
            "tests/ledger/test_postgresql.py::test_writers_wait_for_each_other_whatever_isolation_a_server_has_by_default",
        ),
    ),
    Sabotage(
        "a server commits a charge when it likes",
        "ledger/store.py",
        '                connection.execute(sa.text("SET LOCAL synchronous_commit = on"))\n',
        "",
        (f"{FAULTS}test_a_postgresql_server_that_commits_late_by_default_commits_a_charge_at_once",),
    ),
    Sabotage(
        "a server ends the wait of a writer by a time limit of its own",
        "ledger/store.py",
        '                connection.execute(sa.text("SET LOCAL statement_timeout = 0"))\n',
        "",
        (
            "tests/ledger/test_postgresql.py::"
            "test_a_postgresql_statement_timeout_is_named_and_does_not_shorten_the_wait_of_a_writer",
        ),
    ),
    Sabotage(
        "a ledger leaves prepared statements behind a pooler",
        "ledger/store.py",
        '"prepare_threshold": None}',
        '"prepare_threshold": 5}',
        (
            "tests/ledger/test_postgresql.py::"
            "test_a_transaction_on_postgresql_leaves_no_prepared_statement_behind_a_pooler",
        ),
    ),
    Sabotage(
        "a lost answer to a commit is reported as nothing charged",
        "ledger/store.py",
        '                    stage = "commit" if writes else stage\n',
        "",
        (f"{FAULTS}test_a_postgresql_connection_that_is_lost_releases_nothing_and_leaves_one_whole_state[after-1]",),
    ),
    Sabotage(
        "a password among the options of a URL is shown",
        "ledger/store.py",
        '[option for option in server.query if "pass" in option]',
        "[]",
        ("tests/ledger/test_postgresql.py::test_a_postgresql_ledger_is_named_as_it_was_typed_without_its_passwords",),
    ),
    Sabotage(
        "a server that does not sync is charged",
        "ledger/store.py",
        '                if connection.execute(sa.text("SHOW fsync")).scalar() != "on":\n',
        "                if False:\n",
        ("tests/ledger/test_postgresql.py::test_a_postgresql_server_that_does_not_sync_is_not_charged",),
    ),
    Sabotage(
        "a writer that stands still keeps the lock of a server",
        "ledger/store.py",
        "idle_in_transaction_session_timeout = '{PATIENCE}s'",
        "idle_in_transaction_session_timeout = 0",
        (f"{FAULTS}test_a_postgresql_writer_that_stands_still_gives_the_lock_back_and_charges_nothing",),
    ),
    Sabotage(
        "any number of uses is reserved",
        "ledger/ledger.py",
        "_validate.integer(count=count, at_least=1, at_most=MOST_TIMES)",
        "_validate.integer(count=count, at_least=1)",
        (
            "tests/ledger/test_reserved.py::"
            "test_more_uses_than_a_composition_has_are_refused_before_anything_is_computed[1000000001]",
        ),
    ),
]
