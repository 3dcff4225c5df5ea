"""Releases that leave out cells below a threshold: intervals cover what is shown, and the manifest says what is not."""

import json
import pickle
from dataclasses import replace

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from tests.cases import examples
from tests.manifest_schema import VALIDATOR
from tests.releases.enumerated import HAIR, LARGEST, masses

import ggdp
from ggdp.errors import ArgumentError
from ggdp.mechanisms import Mechanism
from ggdp.releases import ErrorLaw, Release, Threshold, clip, drop
from ggdp.releases.error_law import noise_half_width, simultaneous_half_width
from ggdp.releases.mechanism_record import apply_threshold, thresholded_intervals
from ggdp.releases.release import make_release
from ggdp.tables.thresholds import sparse_threshold

ADULT = 19_440_000_000_000
LAWS = [(1.0, 0.4), (1.0, 1.0), (1.0, 6.5), (1.5, 3.0), (2.0, 2.0), (2.0, 5.98322484490), (3.0, 4.0), (12.0, 7.0)]


def cover(law, threshold, level, c, intervals=thresholded_intervals):
    """The exact probability that the interval of a shown cell covers its true count c."""
    k, q = masses(law.order, law.scale)
    shown = c + k >= threshold.value
    if not q[shown].sum() > 0.0:
        return 1.0
    y = (c + k)[shown]
    lower, upper = intervals(law, threshold, y, level)
    return q[shown][(lower <= c) & (c <= upper)].sum() / q[shown].sum()


def thresholds(order, scale):
    """Low ones, those of unknown keys, and those of sparse tables of few and many cells."""
    std = masses(order, scale)[0][-1]
    yield from (Threshold(value=value) for value in sorted({1, 2, 3, 5, 9, int(std) // 3 + 1, int(std) // 2 + 1}))
    for cells in (4, 1000, 10**7):
        for most in (1e-3, 1.0, cells / 3):
            value = sparse_threshold(order, scale, cells=cells, false_cells=most)
            yield Threshold(value=value, cells=cells, false_cells=most)


@pytest.mark.parametrize(("order", "scale"), LAWS)
@pytest.mark.parametrize("level", [0.95, 0.5, 0.999])
def test_every_true_count_is_covered_given_that_its_cell_is_shown(order, scale, level):
    law, h = ErrorLaw(order=order, scale=scale), noise_half_width(order, scale, level)
    reach = masses(order, scale)[0][-1]
    for threshold in thresholds(order, scale):
        if threshold.value > 0.7 * reach:
            continue  # the enumerated masses end too soon
        counts = range(threshold.value + 2 * h + 3)
        assert min(cover(law, threshold, level, c) for c in counts) >= level - HAIR


@given(st.floats(1.0, 10.0), st.floats(0.3, 12.0), st.integers(1, 60), st.integers(0, 90), st.floats(0.1, 0.999))
@settings(deadline=None, max_examples=examples(26, 80))
def test_any_count_behind_any_threshold_is_covered(order, scale, value, c, level):
    if value - c > 0.6 * masses(order, scale)[0][-1]:
        return
    law = ErrorLaw(order=order, scale=scale)
    assert cover(law, Threshold(value=value), level, c) >= level - HAIR


def ruled_out_beyond(last):
    """Intervals by another rule: 0 is left out where the noisy count is above `last`."""

    def intervals(law, _threshold, noisy, level):
        lower, upper = law.intervals(noisy, level)
        return np.where(noisy > last, lower, np.minimum(lower, 0)), upper

    return intervals


@pytest.mark.parametrize(("order", "scale"), [(1.0, 1.0), (2.0, 5.98322484490), (3.0, 4.0)])
def test_without_the_rule_of_threshold_and_half_width_some_count_is_not_covered(order, scale):
    law, level = ErrorLaw(order=order, scale=scale), 0.95
    h = noise_half_width(order, scale, level)
    # A table of 100 cells, and a threshold beyond what all of them together reach.
    last = simultaneous_half_width(order, scale, level, 100)
    threshold = Threshold(value=last + 2, cells=100, false_cells=1e-3)
    counts = range(threshold.value + h)
    assert min(cover(law, threshold, level, c, ruled_out_beyond(last)) for c in counts) == 0.0
    assert min(cover(law, threshold, level, c) for c in counts) >= level - HAIR


@pytest.mark.parametrize(("order", "scale", "value"), [(1.0, 1.0, 15), (2.0, 5.98322484490, 25), (1.5, 3.0, 12)])
def test_the_half_width_in_the_rule_is_needed_but_for_one(order, scale, value):
    law, level, threshold = ErrorLaw(order=order, scale=scale), 0.95, Threshold(value=value)
    h = noise_half_width(order, scale, level)

    def least(last):
        return min(cover(law, threshold, level, c, ruled_out_beyond(last)) for c in range(value + 2 * h))

    assert least(value) < 0.65
    assert least(value + h - 2) < level
    assert least(value + h) >= level


def test_plain_intervals_of_empty_cells_that_are_shown_cover_nothing():
    law, threshold = ErrorLaw(order=1, scale=1.0), Threshold(value=31, cells=ADULT, false_cells=1)
    assert cover(law, threshold, 0.95, 0, ruled_out_beyond(-1)) == 0.0
    assert cover(law, threshold, 0.95, 0) >= 0.95


@pytest.mark.parametrize(("order", "scale"), [(1.0, 1.0), (1.0, 20.0), (2.0, 5.98322484490), (3.0, 4.0)])
@pytest.mark.parametrize("cells", [1, 7, 10**6, ADULT, 10**18])
@pytest.mark.parametrize("level", [0.95, 0.5, 1 - 2.0**-40])
def test_the_width_for_all_cells_together_is_safe_and_tight(order, scale, cells, level):
    h = simultaneous_half_width(order, scale, level, cells)
    with mp.workdps(50):
        p, b = mpf(order), mpf(scale)
        weights = [mp.exp(-((mpf(j) / b) ** p)) for j in range(int(h + 2 + 140 * scale))]
        whole = 2 * mp.fsum(weights) - 1

        def together(width):
            return mp.exp(cells * mp.log1p(-2 * mp.fsum(weights[width + 1 :]) / whole))

        assert together(h) >= mpf(level)
        assert h == 0 or together(h - 1) < mpf(level)


def test_one_cell_has_the_width_of_one_cell():
    for order, scale in LAWS:
        assert simultaneous_half_width(order, scale, 0.9, 1) == noise_half_width(order, scale, 0.9)


def test_no_empty_cell_of_a_sparse_table_is_likely_to_be_ruled_out():
    law, threshold = ErrorLaw(order=1, scale=1.0), Threshold(value=31, cells=ADULT, false_cells=1)
    y = np.arange(31, 60)
    lower, _ = thresholded_intervals(law, threshold, y, 0.95)
    first = int(y[lower > 0][0])
    assert first == max(31 + 3, 33) + 1
    with mp.workdps(50):
        beyond = mp.exp(-first) / (1 + mp.exp(-1))
        assert mp.exp(ADULT * mp.log1p(-beyond)) >= 0.95


def test_ends_are_those_of_the_noise_where_an_empty_cell_is_ruled_out():
    law, threshold = ErrorLaw(order=2, scale=3.0), Threshold(value=10)
    lower, upper = thresholded_intervals(law, threshold, np.array([10, 14, 15, 1000, LARGEST]), 0.95)
    assert lower.tolist() == [0, 0, 11, 996, LARGEST - 4]
    assert upper.tolist() == [14, 18, 19, 1004, LARGEST]
    assert lower.dtype == upper.dtype == np.int64


def test_a_scale_beyond_64_bits_says_nothing():
    law = ErrorLaw(order=1, scale=2.0**62)
    lower, upper = thresholded_intervals(law, Threshold(value=2**62, cells=9, false_cells=1), np.array([2**62]), 0.95)
    assert (lower[0], upper[0]) == (-(2**63), LARGEST)


# Releases.


def record_of(goal=None, **how):
    goal = goal or ggdp.PureDP(1.0)
    noise = ggdp.calibrate(goal, ggdp.Sensitivity.histogram(), **({"order": 1, "support": "integer"} | how))
    return Mechanism(noise).record


SPARSE = Threshold(value=31, cells=ADULT, false_cells=1)
OPEN = Threshold(value=15)


def shown(values=(31, 35, 900), threshold=SPARSE, goal=None, **how):
    record = apply_threshold(record_of(goal, **how), threshold)
    return make_release(
        np.array(values, dtype=np.int64), record, record.goal.after_postprocessing().under("add-remove")
    )


def test_a_release_gives_the_intervals_of_what_is_shown():
    lower, upper = shown().interval()
    assert lower.tolist() == [0, 32, 897]
    assert upper.tolist() == [34, 38, 903]
    lower, upper = shown(threshold=OPEN, values=(15, 18, 19)).interval()
    assert (lower.tolist(), upper.tolist()) == ([0, 0, 16], [18, 21, 22])
    frame = shown().to_polars()
    assert frame["lower"].to_list() == [0, 32, 897]


def test_cells_that_are_chosen_among_the_shown_are_covered_together():
    release = drop(shown(), [0])
    single = release.single_level(0.95)
    assert single > 0.983
    expected = thresholded_intervals(ErrorLaw(order=1, scale=1.0), SPARSE, np.array([35, 900]), single)
    assert [ends.tolist() for ends in release.interval()] == [ends.tolist() for ends in expected]


def test_bias_and_standard_error_of_what_is_shown_are_not_known():
    for asked in ("bias", "standard_error"):
        with pytest.raises(ArgumentError, match=f"the {asked} of a cell depends on its true count"):
            getattr(shown(), asked)()


@pytest.mark.parametrize("threshold", [SPARSE, OPEN])
@pytest.mark.parametrize("values", [(), (31, 35, 900)])
def test_the_manifest_follows_the_schema_and_holds_the_threshold(threshold, values):
    for release in (shown(values, threshold), clip(shown(values, threshold), 40), drop(shown(values, threshold), [])):
        manifest = json.loads(json.dumps(release.manifest, allow_nan=False))
        VALIDATOR.validate(manifest)
        assert manifest["mechanism"]["threshold"] == threshold.to_dict()
        assert manifest["error"]["half_width"] == 3.0
    assert record_of().to_dict()["threshold"] is None


@pytest.mark.parametrize(
    "change", [{"value": 0}, {"value": 1.5}, {"cells": 0}, {"false_cells": 0}, {"kept": 3}], ids=str
)
def test_the_schema_refuses_what_is_no_threshold(change):
    manifest = shown().manifest
    manifest["mechanism"]["threshold"] |= change
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(manifest)


def test_the_statement_says_what_is_left_out_and_what_may_be_false():
    sparse = shown().manifest["statement"]
    assert "noise was added to the count of every cell" in sparse
    assert "Of 19,440,000,000,000 cells, those with a noisy count below 31 are omitted" in sparse
    assert "the expected number of empty cells among those shown is at most 1." in sparse
    assert "negative" not in sparse
    unknown = shown(threshold=OPEN).manifest["statement"]
    assert "every key that occurs" in unknown
    assert "a key is shown only if it occurs and its noisy count is at least 15" in unknown


def test_a_release_shows_its_threshold():
    assert "; cells with a noisy count of at least 31, of 19,440,000,000,000" in repr(shown())
    assert "; keys with a noisy count of at least 15" in repr(shown(threshold=OPEN))


def test_a_threshold_takes_the_clamp_of_probabilistic_dp_away():
    record = record_of(ggdp.ProbabilisticDP(1.0, 1e-6), order=2)
    assert record.law.clamp == 2**62
    assert apply_threshold(record, OPEN).law.clamp is None
    assert shown(threshold=OPEN, goal=ggdp.ProbabilisticDP(1.0, 1e-6), order=2).guarantee.notion == "approximate"


@pytest.mark.parametrize(
    "how",
    [
        {"order": 2, "bounds": [(0, 100)], "bounding": "truncated"},
        {"order": 2, "bounds": [(0, 100)], "bounding": "boundary-inflated"},
    ],
    ids=str,
)
def test_a_threshold_is_for_noise_without_bounds(how):
    with pytest.raises(ArgumentError, match="is for noise without bounds"):
        replace(record_of(**how), threshold=OPEN)


@pytest.mark.parametrize(
    "how",
    [
        {"value": 0},
        {"value": 2.5},
        {"value": 3, "cells": 10},
        {"value": 3, "false_cells": 1.0},
        {"value": 3, "cells": 0, "false_cells": 1.0},
        {"value": 3, "cells": 9, "false_cells": 0.0},
        {"value": 3, "cells": 9, "false_cells": float("nan")},
    ],
    ids=str,
)
def test_a_threshold_that_is_none_is_refused(how):
    with pytest.raises(ArgumentError):
        Threshold(**how)


def test_a_release_with_a_threshold_survives_pickling():
    copy = pickle.loads(pickle.dumps(shown()))
    assert isinstance(copy, Release)
    assert copy.mechanism.threshold == SPARSE
    assert copy.interval().lower.tolist() == shown().interval().lower.tolist()
