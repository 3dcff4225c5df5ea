"""`ggdp.report`: files, ledgers and what is refused.

What somebody can learn, against exact arithmetic and concrete laws.
"""

from __future__ import annotations

import json
import math
import random
import sqlite3
import subprocess
import sys
from decimal import Decimal, localcontext

import pytest

import ggdp
from ggdp.errors import ArgumentError, LedgerError, TamperingError
from ggdp.reports import sign_off
from ggdp.reports.sign_off import disclosures, one_in, percent_up


def test_a_report_is_written(manifest, tmp_path):
    found = ggdp.report(str(manifest("smoking")), out=tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == found.to_html()
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_it_says_the_same_as_plain_values(made, manifest):
    found = ggdp.report([manifest("smoking"), manifest("wards")], ledger=made / "people.ledger")
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["total"]["basic"]["epsilon"] == 1.0
    assert plain["total"]["composed"]["lower"] <= plain["total"]["composed"]["epsilon"] < 1.0
    assert plain["total"]["composed"]["delta"] == 1e-7
    assert [release["certificate"] for release in plain["releases"]] == ["proved again", "proved again"]
    assert plain["releases"][0]["files"] == {"smoking.csv": "same"}
    assert plain["ledger"]["remaining"]["epsilon"] == 2.0
    assert plain["ledger"]["verified"] is True
    assert plain["open"] == 13
    assert plain["problems"] == []


def test_the_total_is_that_of_compose(manifest):
    paths = [manifest("smoking"), manifest("wards")]
    found, total = ggdp.report(paths).total, ggdp.compose(paths)
    assert found.basic == total.basic
    assert (found.lower, found.composed.epsilon) == total.epsilon(found.basic.delta)


def test_pure_releases_have_a_tight_total_at_a_usual_delta(manifest):
    found = ggdp.report([manifest("smoking"), manifest("elsewhere")]).total
    assert found.basic == ggdp.PureDP(1.0, "add-remove")
    assert found.composed is None or found.composed.delta == 1e-6


@pytest.mark.parametrize("other", ["visits", "replaced"])
def test_other_units_and_neighbours_have_no_total(manifest, other):
    found = ggdp.report([manifest("smoking"), manifest(other)])
    assert (found.total.basic, found.total.composed) == (None, None)
    assert other in found.total.refusal
    assert any("No total of these releases exists" in problem for problem in found.problems)
    assert len(found.learnt_of) == 2


def test_a_release_that_was_not_charged_is_a_problem(made, manifest):
    found = ggdp.report([manifest("smoking"), manifest("elsewhere")], ledger=made / "people.ledger")
    assert found.problems == ("The release elsewhere was not charged to this ledger.",)


def test_a_manifest_that_the_ledger_did_not_record_is_refused(published):
    path = published / "smoking.manifest.json"
    changed = json.loads(path.read_bytes())
    changed |= {"ggdp": "0.0.1", "statement": "Nobody can learn anything."}
    path.write_text(json.dumps(changed))
    # Without the ledger nothing tells: other versions may use other words.
    assert ggdp.report(path).problems == ()
    with pytest.raises(ArgumentError, match="it was changed after it was published") as refused:
        ggdp.report(path, ledger=published / "people.ledger")
    assert refused.value.value == str(path)


def test_a_manifest_of_an_entry_that_is_not_there_is_refused(published):
    path = published / "smoking.manifest.json"
    changed = json.loads(path.read_bytes())
    changed["ledger"]["entry"] = 99
    path.write_text(json.dumps(changed))
    with pytest.raises(ArgumentError, match="names entry 99, which the ledger does not have"):
        ggdp.report(path, ledger=published / "people.ledger")


def test_a_manifest_with_another_guarantee_than_was_charged_is_refused(published):
    path = published / "ages.manifest.json"
    changed = json.loads(path.read_bytes())
    changed["ledger"] = json.loads((published / "smoking.manifest.json").read_bytes())["ledger"]
    path.write_text(json.dumps(changed))
    with pytest.raises(ArgumentError, match=r"entry 1 of the ledger was charged 0\.5-DP"):
        ggdp.report(path, ledger=published / "people.ledger")


def test_a_ledger_with_a_changed_record_is_refused(published):
    # Not the last one, which is checked whenever a ledger is read.
    with sqlite3.connect(published / "people.ledger") as file:
        names = [name for (name,) in file.execute("select name from sqlite_master where type = 'table'")]
        columns = {name: [column[1] for column in file.execute(f"pragma table_info({name})")] for name in names}
        (records,) = (name for name in names if "analyst" in columns[name])
        file.execute(f"update {records} set analyst = 'ben' where number = 1")
    file.close()
    with pytest.raises(TamperingError):
        ggdp.report(published / "smoking.manifest.json", ledger=published / "people.ledger")


def test_a_ledger_that_is_not_there_is_an_error(manifest, tmp_path):
    with pytest.raises(LedgerError):
        ggdp.report(manifest("smoking"), ledger=tmp_path / "none.ledger")
    assert list(tmp_path.iterdir()) == []


def test_an_existing_file_stays_without_overwrite(manifest, tmp_path):
    file = tmp_path / "report.html"
    file.write_text("mine")
    with pytest.raises(ArgumentError, match=r"already exists; pass `overwrite=True`"):
        ggdp.report(manifest("smoking"), out=file)
    assert file.read_text() == "mine"
    ggdp.report(manifest("smoking"), out=file, overwrite=True)
    assert file.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_nothing_is_written_where_the_entry_lacks_answers(manifest, tmp_path):
    with pytest.raises(ArgumentError, match="the registry needs these keys"):
        ggdp.report(manifest("smoking"), out=tmp_path / "report.html", registry=tmp_path / "entry.yaml")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_an_error_that_names_the_file(manifest, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sign_off, "write_together", full)
    with pytest.raises(ArgumentError, match=r"cannot be written \(No space left on device\)"):
        ggdp.report(manifest("smoking"), out=tmp_path / "report.html")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"out": "report.pdf"}, r"out = .*must end in \.html or \.htm"),
        ({"registry": "entry.json"}, r"registry = .*must end in \.yaml or \.yml"),
        ({"out": "none/report.html"}, "is not a directory; create it first"),
        ({"out": "x" * 300 + ".html"}, r"out = .*cannot be written \(File name too long\)"),
        ({"out": "null\0.html"}, r"out = .*cannot be written"),
    ],
)
def test_files_that_cannot_be_written_are_refused_before_the_work(tmp_path, asked, said):
    placed = {name: tmp_path / file for name, file in asked.items()}
    with pytest.raises(ArgumentError, match=said):
        ggdp.report(tmp_path / "nothing.json", **placed)


def test_an_output_does_not_replace_what_is_read(published):
    ledger = published / "people.ledger"
    page = published / "people.html"
    page.symlink_to(ledger)
    with pytest.raises(ArgumentError, match="is the file of the ledger"):
        ggdp.report(published / "smoking.manifest.json", ledger=ledger, out=page, overwrite=True)
    same = published / "same.yaml"
    same.symlink_to(published / "smoking.manifest.json")
    with pytest.raises(ArgumentError, match="is a file that is read"):
        ggdp.report(published / "smoking.manifest.json", registry=same, overwrite=True)


@pytest.mark.parametrize("given", [[], 3, None, [3], [{}], "null\0.json"])
def test_what_are_no_paths_is_refused(given):
    with pytest.raises(ArgumentError, match="manifests"):
        ggdp.report(given)


def test_a_manifest_counts_once(manifest):
    with pytest.raises(ArgumentError, match="is named twice"):
        ggdp.report([manifest("smoking"), str(manifest("smoking"))])


def test_a_report_without_a_ledger_loads_no_database_and_no_plots(manifest, tmp_path):
    code = (
        "import sys, ggdp; ggdp.report(sys.argv[1], out=sys.argv[2]);"
        "print(*{'sqlalchemy', 'matplotlib', 'duckdb', 'yaml'} & set(sys.modules))"
    )
    command = [sys.executable, "-c", code, str(manifest("smoking")), str(tmp_path / "report.html")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == []


def test_warnings_of_requests_are_repeated(tmp_path):
    import pyarrow as pa

    with pytest.warns(ggdp.errors.PrivacyWarning):
        release = ggdp.release_table(
            pa.table({"a": ["x"]}), by="a", goal=ggdp.ApproxDP(1.0, 1e-3), domain={"a": ["x", "y"]}, order=2
        )
    release.write(tmp_path / "large.csv")
    found = ggdp.report(tmp_path / "large.manifest.json")
    (warning,) = found.warnings
    assert warning.startswith("large: ")
    assert "0.001" in warning
    assert "0.001" in found.to_html()


EPSILONS = (1e-9, 0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 20.0, 100.0, 800.0)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_belief_afterwards_is_the_exact_bound_rounded_up(epsilon):
    (fact,) = disclosures(ggdp.PureDP(epsilon, neighbours="replace-one"), "a unit")
    assert [before for before, _ in fact.beliefs] == [0.01, 0.1, 0.5]
    for prior, believed in fact.beliefs:
        with localcontext() as context:
            context.prec = 400
            factor = Decimal(epsilon).exp()
            exact = Decimal(prior) * factor / (1 - Decimal(prior) + Decimal(prior) * factor)
            # No belief is above 1, to which floats round what is nearly certain.
            assert exact <= Decimal(believed) <= min(exact * (1 + Decimal("3e-16")), Decimal(1))


def hockey_stick(first, second, epsilon):
    return max(
        sum(max(0.0, p - math.exp(epsilon) * q) for p, q in zip(*pair, strict=True))
        for pair in ((first, second), (second, first))
    )


def laws(chance):
    weights = [chance.random() ** 3 for _ in range(5)]
    return [weight / sum(weights) for weight in weights]


def test_what_data_say_of_a_unit_takes_two_steps_under_add_remove():
    chance, close = random.Random(1), 0
    for _ in range(2000):
        with_it, without, otherwise = laws(chance), laws(chance), laws(chance)
        epsilon = 2.0 * chance.random()
        delta = max(hockey_stick(with_it, without, epsilon), hockey_stick(without, otherwise, epsilon))
        if not 0.0 < delta < 1.0:
            continue
        fact = disclosures(ggdp.ApproxDP(epsilon, delta, neighbours="add-remove"), "a unit")[1]
        assert fact.epsilon == 2.0 * epsilon
        between = hockey_stick(with_it, otherwise, fact.epsilon)
        assert between <= fact.delta
        close += between > delta
    # Twice the epsilon alone, with the same delta, would be wrong.
    assert close > 0


def test_two_steps_are_attained():
    epsilon, rare = 1.0, 1e-4
    up, down = rare * math.exp(epsilon), rare * math.exp(-epsilon)
    first, without, last = ((end, 1.0 - end - other, other) for end, other in ((up, down), (rare, rare), (down, up)))
    losses = [max(abs(math.log(p / q)) for p, q in zip(law, without, strict=True)) for law in (first, last)]
    fact = disclosures(ggdp.PureDP(max(losses), neighbours="add-remove"), "a unit")[1]
    between = max(abs(math.log(p / q)) for p, q in zip(first, last, strict=True))
    assert between == pytest.approx(fact.epsilon, rel=1e-12)


def test_replaced_data_take_one_step():
    (fact,) = disclosures(ggdp.ApproxDP(1.0, 1e-6, neighbours="replace-one"), "a unit")
    assert (fact.epsilon, fact.delta) == (1.0, 1e-6)


@pytest.mark.parametrize("share", [0.0101, 0.5, 0.500001, 0.7310585, 0.99900001, 0.9999])
def test_percentages_are_rounded_up(share):
    text = percent_up(share)
    if text.startswith("more than"):
        assert share > 0.999
    else:
        assert share <= float(text.removesuffix(" %")) / 100.0 + 1e-12 <= share + 0.00101


@pytest.mark.parametrize("delta", [1e-300, 3.3e-9, 1e-7, 1.0001e-6, 0.009, 0.3, 0.9])
def test_one_in_so_many_is_rounded_up(delta):
    number = int(one_in(delta).removeprefix("1 in ").replace(",", ""))
    assert delta * (1 - 1e-8) <= 1.0 / number
    # Two digits: at most a tenth above, and for one digit the next inverse.
    assert 1.0 / (number + max(1, number // 10)) <= delta
