"""Reports: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

DISCLOSURE = "tests/reports/test_sign_off.py::"
PAGE = "tests/reports/test_html_page.py::"
PUBLISHED = "tests/reports/test_published.py::"
PYRAMID = "tests/reports/test_nist.py::"
REGISTRY = "tests/reports/test_registry.py::"
REPORT = "tests/reports/test_sign_off.py::"

SABOTAGES = [
    Sabotage(
        "a report calls a certificate proved that it did not prove",
        "tables/manifest_checks.py",
        "        require_proved(certificate)\n",
        "        pass\n",
        (f"{PUBLISHED}test_the_certificate_of_units_cut_off_is_proved_too",),
    ),
    Sabotage(
        "a report counts selections as certified",
        "reports/nist.py",
        '            f"{len(proofs)} of {len(releases)} manifests have a certificate, proved again',
        '            f"{len(releases)} of {len(proofs)} manifests have a certificate, proved again',
        (f"{PYRAMID}test_a_selection_beside_noise_is_not_counted_as_certified",),
    ),
    Sabotage(
        "a page does not escape texts",
        "reports/html_page.py",
        "        autoescape=True,\n",
        "        autoescape=False,\n",
        (f"{PAGE}test_every_text_is_escaped",),
    ),
    Sabotage(
        "a belief afterwards is that of half the epsilon",
        "reports/sign_off.py",
        "PureDP(self.epsilon)",
        "PureDP(self.epsilon / 2.0)",
        (f"{DISCLOSURE}test_a_belief_afterwards_is_the_exact_bound_rounded_up[1.0]",),
    ),
    Sabotage(
        "what the data say of a unit is said to take one step",
        "reports/sign_off.py",
        "epsilon=2.0 * epsilon",
        "epsilon=1.0 * epsilon",
        (f"{DISCLOSURE}test_two_steps_are_attained",),
    ),
    Sabotage(
        "the delta of two steps is that of one",
        "reports/sign_off.py",
        "(1.0 + math.exp(min(epsilon, _MOST_EXPONENT))) * delta",
        "1.0 * delta",
        (f"{DISCLOSURE}test_what_data_say_of_a_unit_takes_two_steps_under_add_remove",),
    ),
    Sabotage(
        "percentages are rounded to the nearest",
        "reports/sign_off.py",
        "math.ceil(share * 1000.0 - 2e-9)",
        "round(share * 1000.0)",
        (f"{DISCLOSURE}test_percentages_are_rounded_up",),
    ),
    Sabotage(
        "a changed file is shown as the released one",
        "reports/published.py",
        'return "same" if hashlib.file_digest(file, "sha256").hexdigest() == digest else "changed"',
        'return "same"',
        (f"{PUBLISHED}test_a_file_that_was_changed_is_not_shown",),
    ),
    Sabotage(
        "a manifest opens files of other directories",
        "tables/manifest_checks.py",
        'and not {"/", "\\\\"} & set(name)',
        'and not {"\\\\"} & set(name)',
        (f"{PUBLISHED}test_only_files_beside_the_manifest_are_opened",),
    ),
    Sabotage(
        "one charged release stands for all",
        "reports/nist.py",
        '        mark="proved" if here == len(releases) else "open",\n',
        '        mark="proved" if here else "open",\n',
        (f"{PYRAMID}test_a_ledger_proves_charges_of_all_releases_or_of_none",),
    ),
    Sabotage(
        "a question that nobody answered is marked as answered",
        "reports/nist.py",
        '            mark="open" if answer is None else "answered",\n',
        '            mark="answered",\n',
        (f"{PYRAMID}test_what_only_people_know_is_open",),
    ),
    Sabotage(
        "timing is called proved",
        "reports/nist.py",
        '        mark="measured",\n',
        '        mark="proved",\n',
        (f"{PYRAMID}test_timing_is_measured_and_not_called_proved",),
    ),
    Sabotage(
        "a report does not check the records of a ledger",
        "reports/sign_off.py",
        "    head = ledger.verify()\n",
        "    head = ledger.head\n",
        (f"{REPORT}test_a_ledger_with_a_changed_record_is_refused",),
    ),
    Sabotage(
        "a report does not compare a manifest with what the ledger recorded",
        "reports/sign_off.py",
        "            if release.digest not in entry.files.values():\n",
        "            if not entry.files:\n",
        (f"{REPORT}test_a_manifest_that_the_ledger_did_not_record_is_refused",),
    ),
    Sabotage(
        "an entry of the registry states a total that does not always hold",
        "reports/registry.py",
        "    basic, first = report.total.basic, report.releases[0]\n",
        "    basic, first = report.total.composed or report.total.basic, report.releases[0]\n",
        (f"{REGISTRY}test_several_releases_state_the_sum_that_always_holds",),
    ),
    Sabotage(
        "an answer runs the other way",
        "reports/deployment.py",
        "isinstance(one, str) and _UNSEEN.search(one)",
        "isinstance(one, str) and False",
        ("tests/reports/test_deployment.py::test_a_character_that_readers_would_not_see_is_refused",),
    ),
    Sabotage(
        "a text becomes a number in YAML",
        "reports/registry.py",
        """ "'" if value[:1] in {*"+-.0123456789"} else None""",
        " None",
        ("tests/reports/test_registry.py::test_a_text_stays_a_text_in_yaml",),
    ),
]
