import numpy as np
import pytest
from reproduction.tests.census import census

from ggdp_reproduction.adult_data import EMPTY_CELLS_SHOW, NOT_PRIVATE, adult_counts
from ggdp_reproduction.experiments import classifier
from ggdp_reproduction.experiments.classifier import design, run_svm, weighted_accuracy, weighted_moments
from ggdp_reproduction.experiments.sanitisers import sanitiser_of

SPLIT = adult_counts(census())
KEYS = ["laplace", "gaussian-pdp", "integer-laplace"]


def run(**changed):
    asked = {"epsilons": [1.0], "deltas": [0.05], "repeats": 2, "extra_repeats": 1, "seed": 3} | changed
    return run_svm(SPLIT, sanitisers=[sanitiser_of(key) for key in KEYS], **asked)


def features(split=SPLIT):
    cells, numeric = design(split, split.cells)
    return cells, split.cells[:, -1], design(split, split.test)[0], split.test[:, -1], numeric


def test_features_are_coded_as_a_model_matrix_without_intercept():
    cells, numeric = design(SPLIT, SPLIT.cells)
    names = [name for name in SPLIT.columns[:-1] if not SPLIT.is_numeric(name)]
    levels = [len(SPLIT.levels[name]) for name in names]
    assert names[0] == "workclass"
    assert cells.shape == (len(SPLIT.counts), 5 + levels[0] + sum(size - 1 for size in levels[1:]))
    assert numeric.sum() == 5
    row = SPLIT.cells[7]
    value = {name: SPLIT.levels[name][code] for name, code in zip(SPLIT.columns, row, strict=True)}
    expected = [value["age"], value["workclass"] == "Private", value["workclass"] == "State-gov"]
    expected += [value["education"] == "HS-grad", value["education"] == "Masters", value["education-num"]]
    assert cells[7, : len(expected)].tolist() == [float(one) for one in expected]


def test_moments_are_those_of_the_repeated_rows():
    values, weights = np.array([[1.0, 5.0], [2.0, 5.0], [7.0, 5.0]]), np.array([3.0, 1.0, 2.0])
    mean, deviation = weighted_moments(values, weights)
    repeated = np.repeat(values, [3, 1, 2], axis=0)
    assert mean == pytest.approx(repeated.mean(axis=0), rel=1e-14)
    assert deviation[0] == pytest.approx(repeated[:, 0].std(ddof=1), rel=1e-14)
    assert deviation[1] == 1.0  # a constant column is left as it is, not divided by 0


def test_whole_weights_count_as_repeated_rows_and_rows_of_weight_zero_as_none():
    cells, labels, test, test_labels, numeric = features()
    weights = np.random.default_rng(2).integers(0, 4, len(cells))
    repeated = np.repeat(np.arange(len(cells)), weights)
    by_weight = weighted_accuracy(cells, labels, weights.astype(float), test, test_labels, numeric)
    ones = np.ones(len(repeated))
    by_rows = weighted_accuracy(cells[repeated], labels[repeated], ones, test, test_labels, numeric)
    # libsvm stops within 1e-3 of the optimum, so a row on the very border may fall on either side.
    assert abs(by_weight - by_rows) <= 1
    assert by_weight > 0.8 * len(test_labels)


def test_the_machine_is_set_as_in_e1071(monkeypatch):
    """Radial kernel, cost 1, gamma 1 / columns; numeric columns scaled by the weighted rows, indicators as they are."""
    seen = {}

    class Recorder:
        def __init__(self, **options):
            seen.update(options)

        def fit(self, x, y, sample_weight):
            seen.update(x=x.toarray(), y=y, weights=sample_weight)

        def predict(self, x):
            seen["test"] = x.toarray()
            return np.zeros(x.shape[0])

    monkeypatch.setattr("sklearn.svm.SVC", Recorder)
    cells, labels, test, test_labels, numeric = features()
    weights = np.random.default_rng(4).uniform(-1, 3, len(cells)).clip(0)
    assert weighted_accuracy(cells, labels, weights, test, test_labels, numeric) == (test_labels == 0).sum()
    assert (seen["kernel"], seen["C"], seen["gamma"]) == ("rbf", 1.0, 1 / cells.shape[1])
    kept = weights > 0
    assert 0 < kept.sum() < len(kept)
    assert np.array_equal(seen["y"], labels[kept])
    assert np.array_equal(seen["weights"], weights[kept])
    assert np.array_equal(seen["x"][:, ~numeric], cells[kept][:, ~numeric])
    varied = numeric & (np.ptp(cells, axis=0) > 0)
    total = weights.sum()
    assert weights[kept] @ seen["x"][:, varied] == pytest.approx(0, abs=1e-9 * total)
    assert weights[kept] @ seen["x"][:, varied] ** 2 == pytest.approx(total - 1, rel=1e-9)
    # The test rows are moved and scaled by the same numbers as the training cells.
    line = np.polyfit(cells[kept, 0], seen["x"][:, 0], 1)
    assert seen["test"][:, 0] == pytest.approx(np.polyval(line, test[:, 0]), abs=1e-9)


def test_cost_and_gamma_are_those_of_e1071(monkeypatch):
    from sklearn.svm import SVC

    seen = set()

    class Recorder(SVC):
        def fit(self, x, y, sample_weight=None):
            seen.add((self.C, self.gamma))
            return super().fit(x, y, sample_weight=sample_weight)

    monkeypatch.setattr("sklearn.svm.SVC", Recorder)
    found = run(repeats=1)
    assert seen == {(found.cost, found.gamma)} == {(1.0, 1 / found.columns)}


def test_weights_matter():
    cells, labels, test, test_labels, numeric = features()
    poor = np.where(labels == 0, 100.0, 0.01)
    assert weighted_accuracy(cells, labels, poor, test, test_labels, numeric) == (test_labels == 0).sum()


def test_one_outcome_left_is_always_predicted():
    cells, labels, test, test_labels, numeric = features()
    only = (labels == 1).astype(float)
    assert weighted_accuracy(cells, labels, only, test, test_labels, numeric) == (test_labels == 1).sum()


def test_the_original_is_learnt_and_rows_are_complete():
    found = run()
    assert (found.train, found.test) == (len(SPLIT.train), len(SPLIT.test))
    assert found.cells == len(SPLIT.counts)
    assert found.original_accuracy > 0.85
    names = [(row["sanitiser"], row["repeat"]) for row in found.rows]
    assert names == [("laplace", 0), ("laplace", 1), ("gaussian-pdp", 0), ("gaussian-pdp", 1), ("integer-laplace", 0)]
    assert all(row["private"].startswith("no: not differentially private") for row in found.rows)
    assert all((row["accuracy"] * found.test).is_integer() and row["accuracy"] > 0.5 for row in found.rows)


def test_the_control_without_counts_has_equal_weights():
    cells, labels, test, test_labels, numeric = features()
    alone = weighted_accuracy(cells, labels, np.full(len(cells), SPLIT.counts.mean()), test, test_labels, numeric)
    assert run(repeats=1).support_accuracy == alone / len(test_labels)


def test_fits_without_noise_are_rows_too_and_as_little_private():
    found = run(repeats=1)
    original, support = found.controls()
    assert (original["sanitiser"], original["accuracy"]) == ("original", found.original_accuracy)
    assert (support["sanitiser"], support["accuracy"]) == ("cells-without-counts", found.support_accuracy)
    rows = [*found.controls(), *found.summary(), *found.rows]
    assert {row["private"] for row in rows} == {f"no: {EMPTY_CELLS_SHOW}"}
    assert NOT_PRIVATE in EMPTY_CELLS_SHOW
    assert original.keys() == support.keys() <= found.rows[0].keys()


def test_a_summary_has_means_and_deviations_of_the_repeats():
    found = run()
    laplace, _, integer = found.summary()
    ours = [row["accuracy"] for row in found.rows if row["sanitiser"] == "laplace"]
    assert laplace["accuracy_mean"] == pytest.approx(sum(ours) / 2)
    assert laplace["accuracy_sd"] == pytest.approx(abs(ours[0] - ours[1]) / 2**0.5)
    assert laplace["loss_mean"] == pytest.approx(found.original_accuracy - sum(ours) / 2)
    assert (integer["repeats"], integer["accuracy_sd"]) == (1, None)


@pytest.mark.exhaustive
def test_any_number_of_workers_gives_the_same_run():
    assert run(workers=2) == run()


def test_an_interrupted_run_goes_on_where_it_was_with_the_same_result(tmp_path):
    state, whole = tmp_path / "fits.jsonl", run()

    def interrupt(done, total):
        assert total == 7
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(state_file=state, progress=interrupt)
    with state.open("ab") as file:
        file.write(b'{"run": "cut o')
    seen = []
    assert run(state_file=state, progress=lambda done, total: seen.append((done, total))) == whole
    assert seen == [(done, 7) for done in range(3, 8)]


def test_finished_fits_are_not_done_again(tmp_path, monkeypatch):
    state = tmp_path / "fits.jsonl"
    whole = run(state_file=state)
    monkeypatch.setattr(classifier, "_fitted", None)
    assert run(state_file=state) == whole


@pytest.mark.parametrize("changed", [{"seed": 4}, {"rows": 200}])
def test_fits_of_another_run_are_not_taken(tmp_path, changed):
    state = tmp_path / "fits.jsonl"
    run(state_file=state)
    seen = []
    found = run(state_file=state, progress=lambda done, _: seen.append(done), **changed)
    assert seen[0] == 0
    assert found == run(**changed)


def test_fewer_rows_train_a_smaller_run():
    found = run(rows=100, repeats=1)
    assert (found.train, found.test) == (100, 50)
