"""Tables and releases of the page: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

RELEASING = "tests/explorer/test_releasing.py::"
MEMORY = "tests/explorer/test_uploads.py::"
SIMULATED = "tests/explorer/test_simulated_table.py::"
WHAT_IF = "tests/ledger/test_what_if.py::"
DOTS = "tests/plots/test_quantile_dots.py::"

SABOTAGES = [
    Sabotage(
        "a double click releases twice",
        "explorer/releasing.py",
        "            if offer.number in self._used:\n",
        "            if offer.number < 0:\n",
        (f"{RELEASING}test_an_offer_is_taken_once",),
    ),
    Sabotage(
        "two tabs release at once",
        "explorer/releasing.py",
        "            if self._is_busy:\n",
        "            if offer.number < 0:\n",
        (f"{RELEASING}test_of_two_tabs_with_the_same_dialog_one_releases",),
    ),
    Sabotage(
        "two tabs with the same dialog release one after the other",
        "explorer/releasing.py",
        "            if offer.released != len(self._used):\n",
        "            if offer.number < 0:\n",
        (f"{RELEASING}test_of_two_tabs_with_the_same_dialog_one_releases",),
    ),
    Sabotage(
        "a confirmation of an old balance is carried out",
        "explorer/releasing.py",
        "    if ledger.head.hash != offer.head:\n",
        "    if offer.number < 0:\n",
        (f"{RELEASING}test_a_charge_of_somebody_else_in_between_is_told_and_nothing_is_charged",),
    ),
    Sabotage(
        "a confirmation is carried out in a ledger that was put back",
        "explorer/releasing.py",
        "plan.run(asked.path, ledger=_unchanged(offer), analyst=asked.analyst)",
        "plan.run(asked.path, ledger=_unchanged(offer) and asked.ledger, analyst=asked.analyst)",
        (f"{RELEASING}test_a_ledger_that_is_put_back_between_the_confirmation_and_the_charge_is_not_charged",),
    ),
    Sabotage(
        "an error of an engine is shown as it is",
        "explorer/releasing.py",
        'PageError("it failed, and nothing was shown. The reason is not given, since it might reveal data")',
        'PageError(f"it failed, and it might reveal data: {failed}")',
        (f"{RELEASING}test_an_error_without_a_text_of_ours_is_not_shown",),
    ),
    Sabotage(
        "a certificate and its guarantee are called verified without a proof",
        "explorer/releasing.py",
        "        compose([manifest])\n",
        "        assert compose\n",
        (
            f"{RELEASING}test_a_forged_certificate_is_not_called_verified",
            f"{RELEASING}test_a_guarantee_that_is_not_that_of_the_certificate_is_not_called_verified",
        ),
    ),
    Sabotage(
        "an upload is written to disk",
        "explorer/uploads.py",
        '        descriptor = os.memfd_create("ggdp-upload", os.MFD_CLOEXEC)\n',
        "        descriptor, _ = tempfile.mkstemp()\n",
        (f"{MEMORY}test_no_byte_of_an_upload_is_in_a_file_system",),
    ),
    Sabotage(
        "an upload has no limit",
        "explorer/uploads.py",
        "        return self.size + number <= self._most\n",
        "        return number >= 0\n",
        (f"{MEMORY}test_a_file_that_is_too_large_is_refused_by_name_and_limit",),
    ),
    Sabotage(
        "missing values are simulated as other values",
        "explorer/simulated_table.py",
        "values += [None] if column.missing_code",
        "values += [_outside(column)] if column.missing_code",
        (f"{SIMULATED}test_other_and_missing_values_are_simulated_too",),
    ),
    Sabotage(
        "a simulated table is called private",
        "explorer/simulated_table.py",
        "    release: Any = plan.run(pa.table(columns), source=SeededSource(seed=seed))\n",
        "    release: Any = plan.run(pa.table(columns))\n",
        (f"{SIMULATED}test_a_simulation_is_never_called_private",),
    ),
    Sabotage(
        "further releases are each compared with what remains now",
        "ledger/readable_ledger.py",
        "                    state = self._accounts.charged(state, charge, analyst)\n",
        "                    self._accounts.charged(state, charge, analyst)\n",
        (f"{WHAT_IF}test_as_many_fit_as_are_said_to_fit_and_leave_what_is_said[sum]",),
    ),
    Sabotage(
        "dots are at the ends of equally likely parts",
        "plots/previews.py",
        "    lower = [int(law.ppf((place + 0.5) / number)) for place in range(number // 2)]\n",
        "    lower = [int(law.ppf((place + 1.0) / number)) for place in range(number // 2)]\n",
        (f"{DOTS}test_cases_are_the_middles_of_equally_likely_parts[20-1.0-20.0]",),
    ),
]
