"""The rows of the pyramid, and who answers them."""

from __future__ import annotations

from pathlib import Path

import pytest

import ggdp
from ggdp.reports.deployment import QUESTIONS

ROOT = Path(__file__).parents[2]
# The components of the figure of SP 800-226; the privacy parameters are its epsilon.
COMPONENTS = [
    "Privacy parameters",
    "Unit of privacy",
    "Algorithms and correctness",
    "Utility",
    "Bias",
    "Query model",
    "Trust model",
    "Side channels",
    "Security",
    "Access control",
    "Data collection exposure",
]


def test_every_component_has_rows_in_the_order_of_the_pyramid(manifest):
    rows = ggdp.report(manifest("smoking")).rows
    assert list(dict.fromkeys(row.component for row in rows)) == COMPONENTS


def test_what_only_people_know_is_open(manifest):
    found = ggdp.report(manifest("smoking"))
    assert {row.evidence for row in found.open_rows} == {f"deployment.toml, answers.{key}" for key in QUESTIONS}
    assert all(row.text == "" for row in found.open_rows)


@pytest.mark.parametrize("key", QUESTIONS)
def test_an_answer_is_shown_as_the_publishers_own(manifest, answers, key):
    found = ggdp.report(manifest("smoking"), deployment=answers(f'[answers]\n{key} = "So it is."'))
    (row,) = [row for row in found.rows if row.mark == "answered"]
    assert (row.question, row.text) == (QUESTIONS[key], "So it is.")
    assert len(found.open_rows) == len(QUESTIONS) - 1


def row_of(report, question):
    (row,) = [row for row in report.rows if row.question == question]
    return row


def test_the_row_of_the_parameters_counts_certificates(manifest):
    question = "How much can a result depend on one unit?"
    both = row_of(ggdp.report([manifest("smoking"), manifest("wards")]), question)
    assert both.mark == "proved"
    assert both.evidence.startswith("2 of 2 manifests have a certificate, proved again for this page")
    assert "theorem" not in both.evidence + both.text
    chosen = row_of(ggdp.report([manifest("chosen")]), question)
    assert "certificate" not in chosen.evidence
    assert "their proof is a theorem" in chosen.evidence


def test_what_a_certificate_does_not_cover_is_said(manifest):
    row = row_of(ggdp.report(manifest("ages")), "How much can a result depend on one unit?")
    assert "A certificate is about the noise." in row.text


def test_a_total_that_does_not_exist_is_open(manifest):
    found = ggdp.report([manifest("smoking"), manifest("visits")])
    row = row_of(found, "What do all releases of this page allow together?")
    assert row.mark == "open"
    assert "visits has unit 'person' where smoking has 'row'" in row.text


def test_a_ledger_proves_charges_of_all_releases_or_of_none(made, manifest):
    question, ledger = "Was every release charged to a budget before the data were read?", made / "people.ledger"
    charged = ggdp.report([manifest("smoking"), manifest("wards")], ledger=ledger)
    assert row_of(charged, question).mark == "proved"
    partly = ggdp.report([manifest("smoking"), manifest("elsewhere")], ledger=ledger)
    assert row_of(partly, question).mark == "open"
    assert row_of(partly, question).text.startswith("1 of the 2 releases")
    assert question not in [row.question for row in ggdp.report(manifest("smoking")).rows]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("wards", "negative counts are published as 0"),
        ("visits", "only some are counted"),
        ("ages", "values outside of the public ranges are clamped"),
        ("ages", "Values are rounded to a public grid"),
    ],
)
def test_what_moves_numbers_is_taken_from_the_manifest(manifest, name, said):
    question = "What moves numbers in one direction?"
    assert said in row_of(ggdp.report(manifest(name)), question).text
    assert said not in row_of(ggdp.report(manifest("smoking")), question).text


def test_timing_is_measured_and_not_called_proved(manifest):
    row = row_of(ggdp.report(manifest("smoking")), "Does the time of a draw depend on the data?")
    assert row.mark == "measured"
    assert "benchmarks/results/sampling.md" in row.evidence


@pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="the documentation is not here")
def test_evidence_names_pages_and_tests_that_exist(made, manifest):
    names = [manifest(name) for name in ("smoking", "wards", "chosen")]
    rows = ggdp.report(names[:2], ledger=made / "people.ledger").rows + ggdp.report(names[2]).rows
    words = {word.strip("(),;:.") for row in rows for word in f"{row.evidence} ".replace(";", " ").split()}
    pages = {word for word in words if word.startswith("theory/")}
    assert pages
    for page in pages:
        assert (ROOT / "docs" / "explanation" / f"{page}.md").is_file(), page
    for word in words:
        if word.startswith(("tests/", "benchmarks/")):
            assert (ROOT / word).exists(), word


def test_a_selection_beside_noise_is_not_counted_as_certified(manifest):
    row = row_of(ggdp.report([manifest("smoking"), manifest("chosen")]), "How much can a result depend on one unit?")
    assert row.evidence.startswith("1 of 2 manifests have a certificate")
    assert "their proof is a theorem" in row.evidence
