"""A release is refused before its data are opened, charged before a row is read, and never refunded."""

import gzip
import hashlib
import json
import pickle

import numpy as np
import pyarrow as pa
import pytest
from jsonschema import validate
from tests.ledger.books import balance

import ggdp
from ggdp.errors import ArgumentError, BudgetExceededError, LedgerError, SourceError
from ggdp.ledger.charging import planned_request
from ggdp.mechanisms import additive, exponential_mechanism
from ggdp.releases import clip, manifest_schema
from ggdp.sources import query
from ggdp.tables import noisy_counts, output_files

PEOPLE = pa.table({"sex": ["f", "m", "f"], "id": [1, 2, 3], "town": ["a", "a", "b"]})
GOAL = ggdp.PureDP(0.5)
TABLE = {"by": "sex", "goal": GOAL, "domain": {"sex": ["f", "m"]}}
MEANS = TABLE | {"domain": {"sex": ["f", "m"], "id": {"range": [0, 4]}}, "statistics": [ggdp.Mean("id")]}
# What a ledger promises of every release.
RELEASES = pytest.mark.parametrize("table", [TABLE, MEANS], ids=["counts", "means"])
COUNTS = ggdp.calibrate(GOAL, ggdp.Sensitivity.histogram(), order=1, support="integer")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "people.ledger"


@pytest.fixture
def ledger(path):
    return ggdp.Ledger.create(path, ggdp.ApproxDP(1.0, 1e-6))


@pytest.fixture
def committed(monkeypatch, path):
    """Record how many entries another connection sees whenever rows are read."""
    seen, answer = [], query.TableSource.answer

    def spying(self, *arguments):
        seen.append(len(ggdp.Ledger(path).entries()))
        return answer(self, *arguments)

    monkeypatch.setattr(query.TableSource, "answer", spying)
    return seen


REGIMES = {
    "declared": {},
    "not negative": {"nonnegative": True},
    "several tables": {"by": [["sex"], ["town"]], "domain": {"sex": ["f", "m"], "town": ["a", "b"]}},
    "units": {"unit": "id", "max_cells": 1},
    "units cut": {
        "unit": "id",
        "max_cells": 1,
        "count_cut": 0.1,
        "by": ["sex", "town"],
        "domain": {"sex": ["f", "m"], "town": ["a", "b"]},
    },
    "sparse": {"false_cells": 0.1},
    "open": {"domain": None, "goal": ggdp.ApproxDP(0.5, 1e-7)},
}


@pytest.mark.parametrize("regime", REGIMES)
def test_a_charge_is_committed_before_a_row_is_read(ledger, committed, regime):
    release = ggdp.release_table(PEOPLE, **TABLE | REGIMES[regime], ledger=ledger)
    assert committed
    assert set(committed) == {1}
    assert release.release.entry.to_dict() == release.manifest["ledger"] == {"identity": ledger.identity, "entry": 1}


@pytest.mark.parametrize("regime", [regime for regime in REGIMES if regime != "units cut"])
def test_the_statement_that_is_charged_is_that_of_the_manifest(ledger, regime):
    release = ggdp.release_table(PEOPLE, **TABLE | REGIMES[regime], ledger=ledger)
    assert ledger.entries()[0].request.statement == release.manifest["statement"]
    assert [one.to_dict() for one in ledger.entries()[0].losses] == release.manifest["losses"]


def test_tables_of_rows_and_of_units_are_not_charged_to_one_ledger(ledger):
    small = TABLE | {"goal": ggdp.PureDP(0.25)}
    ggdp.release_table(PEOPLE, **small, ledger=ledger)
    with pytest.raises(LedgerError, match="protects 'id' where earlier releases protect 'row'"):
        ggdp.release_table(PEOPLE, **small, unit="id", max_cells=1, ledger=ledger)
    ggdp.release_table(PEOPLE, **small, unit="id", max_cells=1, unit_name="person", ledger=ledger)
    assert [entry.request.protects for entry in ledger.entries()] == ["row", "id"]
    ledger.verify()


@pytest.mark.parametrize("name", ["row", "column row"])
def test_a_column_named_row_is_not_each_row(ledger, name):
    small = TABLE | {"goal": ggdp.PureDP(0.25)}
    people = PEOPLE.append_column(name, PEOPLE["id"])
    units = {"unit": name, "unit_is_row": False if name == "row" else None, "max_cells": 1}
    rows = ggdp.release_table(people, **small, unit="row", ledger=ledger)
    with pytest.raises(LedgerError, match=f"protects 'column {name}' where earlier releases protect 'row'"):
        ggdp.release_table(people, **small, **units, ledger=ledger)
    column = ggdp.release_table(people, **small, **units)
    for parts in ([rows, column], [rows.manifest, column.manifest]):
        with pytest.raises(ArgumentError, match=f"has unit 'column {name}' where .* has 'row'"):
            ggdp.compose(parts)
    assert planned_request(column.manifest).protects == f"column {name}"
    assert planned_request(rows.plan.to_dict()).protects == "row"


def test_a_public_total_is_charged_like_any_other_table(path):
    ledger = ggdp.Ledger.create(path, ggdp.PureDP(1.0), neighbours="replace-one")
    request = TABLE | {"neighbours": "replace-one", "total": 3}
    release = ggdp.release_table(PEOPLE, **request, ledger=ledger)
    assert ledger.entries()[0].request.statement == release.manifest["statement"]


def test_what_units_are_cut_is_no_part_of_what_is_recorded(ledger):
    release = ggdp.release_table(PEOPLE, **TABLE | REGIMES["units cut"], ledger=ledger)
    recorded = ledger.export()
    assert "is about" in release.manifest["statement"]
    assert "is about" not in recorded


def test_a_refusal_opens_no_data(ledger, monkeypatch):
    monkeypatch.setattr(noisy_counts, "open_source", lambda *_, **__: pytest.fail("the data were opened"))
    with pytest.raises(BudgetExceededError, match="largest epsilon that fits"):
        ggdp.release_table(PEOPLE, **TABLE | {"goal": ggdp.PureDP(2.0)}, ledger=ledger)
    assert ledger.entries() == ()


def test_a_refusal_is_the_same_whatever_the_data_are(ledger):
    said = []
    for data in (PEOPLE, PEOPLE.slice(0, 0), "no such file.csv"):
        with pytest.raises(BudgetExceededError) as refused:
            ggdp.release_table(data, **TABLE | {"goal": ggdp.PureDP(2.0)}, ledger=ledger)
        said.append(str(refused.value))
    assert len(set(said)) == 1


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"by": "age", "domain": {"age": ["a"]}}, ArgumentError),
        ({"out": "nowhere/table.csv"}, ArgumentError),
        ({"unit_name": "households"}, LedgerError),
        ({"neighbours": "replace-one"}, LedgerError),
        ({"rng": ggdp.SeededSource(seed=1)}, ArgumentError),
    ],
    ids=["column", "out", "unit", "neighbours", "seed"],
)
def test_what_can_be_refused_without_a_row_is_not_charged(ledger, committed, wrong, error):
    with pytest.raises(error):
        ggdp.release_table(PEOPLE, **TABLE | wrong, ledger=ledger)
    assert (ledger.entries(), committed) == ((), [])


@pytest.mark.parametrize("kind", ["itself", "relative", "symlink", "hard link", "ledger is a symlink"])
@pytest.mark.parametrize(("argument", "name"), [("out", "t.csv"), ("out", "t.manifest.json"), ("plot", "t.png")])
def test_an_output_that_is_the_ledger_is_refused_before_anything_is_opened(tmp_path, monkeypatch, argument, name, kind):
    monkeypatch.chdir(tmp_path)
    is_link = kind in ("symlink", "hard link")
    place = tmp_path / ("real.ledger" if is_link else name)
    ledger = ggdp.Ledger.create(place, ggdp.PureDP(1.0))
    if is_link:
        (tmp_path / name).symlink_to(place) if kind == "symlink" else (tmp_path / name).hardlink_to(place)
    named = {"relative": place.name, "ledger is a symlink": "other.ledger"}.get(kind, place)
    if kind == "ledger is a symlink":
        (tmp_path / named).symlink_to(place)
    content, output = place.read_bytes(), {"out": "t.csv"} if argument == "out" else {"plot": tmp_path / name}
    monkeypatch.setattr(query.TableSource, "__init__", None)
    monkeypatch.setattr(type(ledger), "require_fit", None)
    for given in (named, ledger):
        with pytest.raises(ArgumentError, match="is the file of the ledger") as refused:
            ggdp.release_table(PEOPLE, **TABLE, **output, overwrite=True, ledger=given)
        assert refused.value.argument == argument
    assert place.read_bytes() == content


def test_a_failure_after_the_charge_keeps_it_and_says_so(ledger, monkeypatch):
    def failing(*_):
        raise SourceError("people.csv")

    monkeypatch.setattr(query.TableSource, "answer", failing)
    with pytest.raises(SourceError) as failed:
        ggdp.release_table(PEOPLE, **TABLE, ledger=ledger)
    assert failed.value.__notes__ == ["the charge of entry 1 stays: there is no refund"]
    assert ledger.spent() == balance("0.5")


def test_a_packed_file_that_is_cut_is_charged_and_one_that_is_not_packed_is_not(ledger, tmp_path):
    """A header is unpacked together with rows; the first bytes of a file are not."""
    path, text = tmp_path / "people.csv.gz", b"sex\nf\n"
    path.write_bytes(text)
    with pytest.raises(ArgumentError, match="does not match its extension"):
        ggdp.release_table(path, **TABLE, ledger=ledger)
    assert ledger.entries() == ()
    path.write_bytes(gzip.compress(text)[:-9])
    with pytest.raises(SourceError) as failed:
        ggdp.release_table(path, **TABLE, ledger=ledger)
    assert failed.value.__notes__ == ["the charge of entry 1 stays: there is no refund"]
    assert ledger.spent() == balance("0.5")


def test_an_engine_that_does_not_start_is_not_charged(ledger, tmp_path, monkeypatch):
    from ggdp.sources import spark

    def failing():
        raise RuntimeError("no port is free")

    for name in ("_default_session", "_start"):
        monkeypatch.setattr(spark, name, failing)
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    (tmp_path / "people.csv").write_text("sex\nf\n")
    with pytest.raises(ggdp.GgdpError, match="Spark could not be started"):
        ggdp.release_table(tmp_path / "people.csv", **TABLE, engine="spark", ledger=ledger)
    assert ledger.entries() == ()


def test_a_failure_to_write_keeps_the_charge(ledger, tmp_path, monkeypatch):
    def full(*_, **__):
        raise ArgumentError("out", "table.csv", "cannot be written (No space left on device); name another file")

    monkeypatch.setattr(output_files, "write_files", full)
    with pytest.raises(ArgumentError) as failed:
        ggdp.release_table(PEOPLE, **TABLE, ledger=ledger, out=tmp_path / "table.csv")
    assert "stays" in failed.value.__notes__[0]
    assert ledger.spent() == balance("0.5")
    assert ledger.entries()[0].files is None


@RELEASES
def test_published_files_are_recorded_with_their_digests(ledger, tmp_path, table):
    ggdp.release_table(PEOPLE, **table, ledger=ledger, out=tmp_path / "table.csv")
    files = ledger.entries()[0].files
    assert sorted(files) == ["table.csv", "table.manifest.json"]
    for name, digest in files.items():
        assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == digest
    manifest = json.loads((tmp_path / "table.manifest.json").read_text("utf-8"))
    assert manifest["ledger"] == {"identity": ledger.identity, "entry": 1}
    validate(manifest, manifest_schema())


@pytest.mark.parametrize("way", ["write", "to_csv"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@RELEASES
def test_files_that_are_written_later_are_recorded_with_their_digests(ledger, tmp_path, way, suffix, table):
    if (way, suffix) == ("to_csv", "parquet"):
        pytest.skip("to_csv writes CSV alone")
    release = ggdp.release_table(PEOPLE, **table, ledger=ledger)
    assert ledger.entries()[0].files is None
    getattr(release, way)(tmp_path / f"table.{suffix}")
    files = ledger.entries()[0].files
    assert sorted(files) == sorted([f"table.{suffix}", "table.manifest.json"])
    for name, digest in files.items():
        assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == digest
    assert ledger.verify().number == 2


def test_an_entry_has_the_files_that_were_written_first(ledger, tmp_path):
    release = ggdp.release_table(PEOPLE, **TABLE, ledger=ledger, out=tmp_path / "first.csv")
    other = ggdp.release_table(PEOPLE, **TABLE, ledger=ledger)
    for name, one in (("second.parquet", release), ("third.csv", other), ("fourth.csv", other)):
        one.write(tmp_path / name)
        assert (tmp_path / name).exists()
    names = [sorted(entry.files) for entry in ledger.entries()]
    assert names == [["first.csv", "first.manifest.json"], ["third.csv", "third.manifest.json"]]
    assert ledger.verify().number == 4


def test_files_that_cannot_be_written_are_not_recorded(ledger, tmp_path):
    release = ggdp.release_table(PEOPLE, **TABLE, ledger=ledger)
    (tmp_path / "table.csv").write_text("mine")
    with pytest.raises(ArgumentError, match="already exists"):
        release.write(tmp_path / "table.csv")
    assert ledger.entries()[0].files is None
    release.write(tmp_path / "table.csv", overwrite=True)
    assert ledger.entries()[0].files is not None


@RELEASES
def test_a_table_does_not_replace_its_ledger(tmp_path, table):
    ledger = ggdp.Ledger.create(tmp_path / "people.csv", ggdp.PureDP(1.0))
    with pytest.raises(ArgumentError, match="is the file of the ledger"):
        ggdp.release_table(PEOPLE, **table, ledger=ledger, out=tmp_path / "people.csv", overwrite=True)
    assert ledger.entries() == ()


@RELEASES
def test_a_table_does_not_replace_its_ledger_when_it_is_written_later(tmp_path, table):
    ledger = ggdp.Ledger.create(tmp_path / "people.csv", ggdp.PureDP(1.0))
    release = ggdp.release_table(PEOPLE, **table, ledger=ledger)
    with pytest.raises(ArgumentError, match="is the file of the ledger"):
        release.write(tmp_path / "people.csv", overwrite=True)
    assert ledger.verify().number == 1


def test_a_copy_that_was_pickled_is_written_and_records_nothing(ledger, tmp_path):
    release = ggdp.release_table(PEOPLE, **TABLE, ledger=ledger)
    again = pickle.loads(pickle.dumps(release))
    again.write(tmp_path / "table.csv")
    assert again.manifest == release.manifest
    assert ledger.entries()[0].files is None


def test_files_that_cannot_be_recorded_are_still_charged_and_the_error_says_so(ledger, tmp_path, monkeypatch):
    def lost(*_):
        message = "the connection was lost"
        raise LedgerError(message)

    monkeypatch.setattr(type(ledger), "record_publication", lost)
    with pytest.raises(LedgerError) as failed:
        ggdp.release_table(PEOPLE, **TABLE, ledger=ledger, out=tmp_path / "table.csv")
    assert "the files were written" in failed.value.__notes__[0]
    assert (tmp_path / "table.csv").exists()


def test_a_release_that_is_not_charged_has_the_manifest_as_before(ledger):
    release = ggdp.release_table(PEOPLE, **TABLE)
    assert "ledger" not in release.manifest
    assert ledger.entries() == ()


def test_an_analyst_without_a_ledger_is_refused():
    with pytest.raises(ArgumentError, match="analyst"):
        ggdp.release_table(PEOPLE, **TABLE, analyst="ana")


@pytest.mark.parametrize("wrong", [3, "mysql://host/base", "", "a\0b", b"x"])
def test_an_argument_that_is_no_ledger_is_refused_by_its_name(wrong, tmp_path):
    with pytest.raises(ArgumentError) as refused:
        ggdp.release_table(PEOPLE, **TABLE, out=tmp_path / "table.csv", ledger=wrong)
    assert refused.value.argument == "ledger"


def test_a_ledger_may_be_named_by_its_path_and_an_analyst_is_recorded(path, ledger):
    ggdp.release_table(PEOPLE, **TABLE, ledger=str(path), analyst="ana")
    assert ledger.entries()[0].analyst == "ana"


def test_no_value_of_the_data_is_recorded(ledger, tmp_path):
    secret = pa.table({"sex": ["f", "m", "zebra-41"], "id": [77001, 77002, 77003]})
    ggdp.release_table(secret, **TABLE, unit="id", max_cells=1, ledger=ledger, out=tmp_path / "t.csv")
    assert not {"zebra", "77001", "77003"} & set(ledger.export().replace('"', " ").split())
    assert "zebra" not in ledger.export()


@pytest.fixture
def looked_at(monkeypatch, path):
    """Record how many entries another connection sees when a mechanism looks at values."""
    seen = []

    def spying_on(module, name):
        original = getattr(module, name)

        def spy(*arguments):
            seen.append(len(ggdp.Ledger(path).entries()))
            return original(*arguments)

        monkeypatch.setattr(module, name, spy)

    spying_on(additive, "exact_numbers")
    spying_on(exponential_mechanism, "exact_numbers")
    return seen


def test_a_mechanism_charges_before_it_looks_at_a_value(ledger, looked_at):
    release = ggdp.Mechanism(COUNTS).release([120, 3], ledger=ledger)
    assert looked_at == [1]
    assert release.manifest["ledger"]["entry"] == 1
    assert clip(release, lower=0).manifest["ledger"]["entry"] == 1
    validate(release.manifest, manifest_schema())


def test_a_selection_charges_before_it_looks_at_a_utility(ledger, looked_at):
    best = ggdp.ExponentialMechanism(GOAL, sensitivity=1, candidates=["red", "green"])
    assert best.release([12, 90], ledger=ledger).manifest["ledger"]["entry"] == 1
    assert looked_at == [1]
    assert ledger.spent() == balance("0.5")


def test_bounded_noise_is_charged_its_guarantee(ledger):
    how = {"order": 2, "bounds": (0, 10), "bounding": "truncated"}
    bounded = ggdp.Mechanism(ggdp.calibrate(GOAL, ggdp.Sensitivity.disjoint(1), **how))
    bounded.release(3.0, ledger=ledger)
    assert 0.49 < ledger.spent().epsilon <= 0.5


def test_real_values_are_charged_by_the_noise_on_their_grid(ledger):
    mean = ggdp.Mechanism(ggdp.calibrate(ggdp.ApproxDP(0.5, 1e-7), ggdp.Sensitivity.disjoint(0.3), order=2))
    release = mean.release(17.25, ledger=ledger)
    assert ledger.entries()[0].losses == release.losses


@pytest.mark.parametrize("goal", [0.75, 2.0])
def test_a_mechanism_that_is_refused_looks_at_nothing(ledger, looked_at, goal):
    ggdp.Mechanism(COUNTS).release([1], ledger=ledger)
    looked_at.clear()
    large = ggdp.Mechanism(ggdp.calibrate(ggdp.PureDP(goal), ggdp.Sensitivity.histogram(), order=1, support="integer"))
    with pytest.raises(BudgetExceededError):
        large.release([1, 2], ledger=ledger)
    assert looked_at == []


def test_values_that_are_refused_after_the_charge_keep_it(ledger):
    real = ggdp.Mechanism(ggdp.calibrate(GOAL, ggdp.Sensitivity.disjoint(1), order=1))
    with pytest.raises(ArgumentError) as failed:
        real.release(float("nan"), ledger=ledger)
    assert "stays" in failed.value.__notes__[0]
    assert ledger.spent() == balance("0.5")


def test_a_shape_may_depend_on_the_data_and_is_looked_at_after_the_charge(ledger):
    box = ggdp.Mechanism(ggdp.calibrate(GOAL, ggdp.Sensitivity.box([1, 1]), order=1, support="integer"))
    with pytest.raises(ArgumentError, match="shape"):
        box.release(np.array([1, 2, 3]), ledger=ledger)
    assert len(ledger.entries()) == 1


def test_a_type_that_does_not_fit_is_refused_before_the_charge(ledger):
    with pytest.raises(ArgumentError, match="must be integers by type"):
        ggdp.Mechanism(COUNTS).release(np.array([1.5, 2.0]), ledger=ledger)
    assert ledger.entries() == ()


def test_a_seeded_source_is_not_charged(ledger, looked_at):
    with pytest.raises(ArgumentError, match="rng = 'SeededSource': has no guarantee"):
        ggdp.Mechanism(COUNTS).release([1], ledger=ledger, rng=ggdp.SeededSource(seed=1))
    assert (ledger.entries(), looked_at) == ((), [])


def test_a_plan_and_a_mechanism_can_be_asked_about(ledger):
    assert ledger.would_allow(ggdp.plan_table(**TABLE))
    assert ledger.would_allow(ggdp.Mechanism(COUNTS))
    assert not ledger.would_allow(ggdp.plan_table(**TABLE | {"goal": ggdp.PureDP(2.0)}))
