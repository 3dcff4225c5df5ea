import itertools
import math

import numpy as np
import pytest
from reproduction.tests.divergence import kl_dirichlet

from ggdp import datasets
from ggdp.errors import ArgumentError
from ggdp_reproduction.experiments import counts as module
from ggdp_reproduction.experiments.counts import ADJUSTMENTS, run_counts
from ggdp_reproduction.experiments.sanitisers import ALL, sanitiser_of, sanitisers_for
from ggdp_reproduction.simulation import simulated_noise, stream_seed

TOY = [9, 0, 4, 1, 0, 2]
LAPLACE, GAUSSIAN = sanitiser_of("laplace"), sanitiser_of("gaussian-pdp")
KEYS = ["laplace", "gaussian-pdp", "integer-laplace", "replace-one-gaussian"]
SMALL = [sanitiser_of(key) for key in KEYS]
# A mean over 500 repeats of 64 cells is normal as far as matters here: beyond 6 standard errors with probability 2e-9,
# 4e-8 for the 22 settings together. The draws come from a seed, so that the verdict is the same in every run.
STANDARD_ERRORS = 6.0


def small(**changed):
    asked = {"sanitisers": SMALL, "epsilons": [1.0, 2.0], "deltas": [0.05], "repeats": 30, "seed": 3} | changed
    return run_counts("toy", TOY, **asked)


@pytest.mark.exhaustive
def test_the_mean_of_raw_l1_is_the_number_of_cells_times_the_mean_absolute_noise():
    table = datasets.mildew()
    run = run_counts("mildew", table.counts, sanitisers=sanitisers_for("mildew"), epsilons=[0.5, 2.0], deltas=[0.05])
    raw = [row for row in run.rows if row["adjustment"] == "raw"]
    assert len(raw) == 2 * len(ALL)
    for row in raw:
        one = sanitiser_of(row["sanitiser"])
        noise = one.calibrate(row["epsilon"], row["delta"])
        assert row["l1_expected"] == 64 * noise.mean_abs
        of_one = math.sqrt(64 * (noise.std**2 - noise.mean_abs**2))
        error = of_one / math.sqrt(500)
        assert abs(row["l1_mean"] - row["l1_expected"]) < STANDARD_ERRORS * error, row
        assert row["l1_sd"] == pytest.approx(of_one, rel=0.25)
        # Noise a fifth wider would be seen: the bound is not so wide that anything passes.
        assert 0.2 * row["l1_expected"] > 2 * STANDARD_ERRORS * error


def test_rows_are_what_a_plain_loop_over_the_repeats_finds():
    run = small(sanitisers=[GAUSSIAN], epsilons=[1.0], repeats=5)
    noise = simulated_noise(
        GAUSSIAN.calibrate(1.0, 0.05),
        (module._BLOCK // 6, 6),
        seed=stream_seed(3, "toy", "gaussian-pdp", 1.0, 0.05, 0),
    )
    for adjustment, adjusted in ADJUSTMENTS.items():
        counts = [adjusted(np.array(TOY) + noise[repeat], 16.0) for repeat in range(5)]
        row = run.row("gaussian-pdp", 1.0, 0.05, adjustment)
        l1 = [sum(abs(a - b) for a, b in zip(TOY, one, strict=True)) for one in counts]
        assert row["l1_mean"] == pytest.approx(sum(l1) / 5, rel=1e-12)
        assert row["l1_sd"] == pytest.approx(np.std(l1, ddof=1), rel=1e-12)
        if adjustment == "raw":
            assert row["kl_mean"] is row["kl_sd"] is row["kl_back_mean"] is row["kl_back_sd"] is None
            continue
        there = [kl_dirichlet(TOY, one) for one in counts]
        back = [kl_dirichlet(one, TOY) for one in counts]
        assert (row["kl_mean"], row["kl_sd"]) == pytest.approx((np.mean(there), np.std(there, ddof=1)), rel=1e-9)
        assert (row["kl_back_mean"], row["kl_back_sd"]) == pytest.approx(
            (np.mean(back), np.std(back, ddof=1)), rel=1e-9
        )
        assert row["l1_expected"] is None


def test_there_is_a_row_for_each_setting_and_adjustment():
    run = small()
    assert (run.dataset, run.n, run.cells) == ("toy", 16, 6)
    found = [(row["sanitiser"], row["epsilon"], row["delta"], row["adjustment"]) for row in run.rows]
    deltas = {key: (0.05 if sanitiser_of(key).uses_delta else None) for key in KEYS}
    expected = [(key, e, deltas[key], name) for key, e, name in itertools.product(KEYS, [1.0, 2.0], ADJUSTMENTS)]
    assert found == expected
    assert list(run.examples) == [(key, epsilon, deltas[key]) for key in KEYS for epsilon in (1.0, 2.0)]
    assert all(example.sum() == pytest.approx(16) and (example >= 0).all() for example in run.examples.values())


def same(first, second):
    assert first.rows == second.rows
    assert first.examples.keys() == second.examples.keys()
    assert all(np.array_equal(first.examples[key], second.examples[key]) for key in first.examples)


def test_any_number_of_workers_gives_the_same_bits(monkeypatch):
    alone = small()
    monkeypatch.setattr(module, "_WORTH_PROCESSES", 0)
    same(small(workers=2), alone)


def test_a_setting_does_not_depend_on_what_else_is_run():
    whole, part = small(), small(sanitisers=[GAUSSIAN], epsilons=[2.0])
    assert part.rows == [row for row in whole.rows if row["sanitiser"] == "gaussian-pdp" and row["epsilon"] == 2.0]


def test_a_longer_run_begins_with_a_shorter_one(monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 24)  # 4 repeats at once, so that the last block is cut
    table = module._Table("toy", np.array(TOY, dtype=float), tuple(ADJUSTMENTS), 10, 3, 0.5)
    task = (module.settings_of([LAPLACE], [1.0], [])[0], LAPLACE.calibrate(1.0))
    longer, example = module._measured(table, task)
    shorter, same_example = module._measured(table._replace(repeats=6), task)
    assert np.array_equal(longer[..., :6], shorter, equal_nan=True)
    assert np.array_equal(example, same_example)
    assert len(np.unique(longer[0, 0])) == 10


def test_another_seed_or_name_is_another_run():
    first = small(sanitisers=[LAPLACE]).rows[0]["l1_mean"]
    assert small(sanitisers=[LAPLACE], seed=4).rows[0]["l1_mean"] != first
    assert run_counts("other", TOY, sanitisers=[LAPLACE], repeats=30, seed=3).rows[4]["l1_mean"] != first


def test_publishing_the_total_is_called_private_under_replace_one_only():
    run = small()
    for row in run.rows:
        uses_total = row["adjustment"] in ("clip-rescale", "project")
        assert (row["private"] == "yes") == (row["neighbours"] == "replace-one" or not uses_total)
        assert row["private"] == "yes" or row["private"].startswith("no: it publishes the total")


def test_probabilistic_dp_is_said_to_become_approximate():
    for row in small(sanitisers=[LAPLACE, GAUSSIAN]).rows:
        changes = row["sanitiser"] == "gaussian-pdp" and row["adjustment"] != "raw"
        assert ("approximate DP after the adjustment" in row["note"]) == changes


def test_every_row_of_the_non_empty_cells_says_that_it_is_not_private():
    adult = run_counts("adult", [1, 2, 1], sanitisers=SMALL, epsilons=[1.0], deltas=[0.05], repeats=2)
    mark = "no: not differentially private, for reproduction only"
    assert all(row["private"].startswith(mark) for row in adult.rows)


def test_progress_rises_to_its_total():
    seen = []
    small(progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert seen[-1] == (16, 16)
    assert {total for _, total in seen} == {16}


def test_a_row_that_was_not_run_is_refused_by_name():
    with pytest.raises(ArgumentError, match="was not run on toy"):
        small(sanitisers=[LAPLACE]).row("laplace", 0.25, None)


@pytest.mark.parametrize("counts", [[], [[1, 2]], [0.5, 1], [-1, 2], [0, 0]])
def test_what_is_no_table_of_counts_is_refused(counts):
    with pytest.raises(ArgumentError, match="counts"):
        run_counts("toy", counts, sanitisers=[LAPLACE])


def test_wrong_arguments_are_refused():
    for wrong in ({"repeats": 1}, {"seed": -1}, {"prior": 0}, {"adjustments": ["round"]}):
        with pytest.raises(ArgumentError, match=next(iter(wrong)).removesuffix("s")):
            small(**wrong)
