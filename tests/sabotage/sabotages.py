"""Changes to the source that break its promises, each with the tests that must fail on it.

Each is one replacement of a text that occurs exactly once in its file. The tests are named by their ids, a few for each
sabotage, so that all of them run in minutes: `tests/sabotage/run.py` does.
"""

from dataclasses import dataclass

LAW = "tests/conformance/test_law.py::test_the_released_law_is_the_stated_law"
LOSS = "tests/conformance/test_guarantee.py::test_no_neighbours_lose_more_than_is_promised"
LEAST = "tests/conformance/test_guarantee.py::test_where_the_scale_is_the_least_a_narrower_law_loses_more"
PROOFS = "tests/conformance/test_proofs.py::"
SHAPES = "tests/conformance/test_shapes.py::"
AFTER = "tests/conformance/test_postprocessing.py::"
COVER = "tests/conformance/test_intervals.py::test_intervals_cover_at_their_level_after_each_adjustment"
SELECT = "tests/conformance/test_selection.py::"
TABLES = "tests/tables/test_entry.py::"
REQUESTS = "tests/tables/test_request.py::"
COUNTING = "tests/tables/engines/test_counting.py::"


@dataclass(frozen=True)
class Sabotage:
    """What is changed where, and which tests see it."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


SABOTAGES = [
    # Sensitivities and grids.
    Sabotage(
        "replace-one moves one cell",
        "privacy/sensitivity.py",
        'return cls.cells(m if relation == "add-remove" else 2 * m, 1, neighbours=relation)',
        "return cls.cells(m, 1, neighbours=relation)",
        (f"{LOSS}[laplace-integers-replace-one]",),
    ),
    Sabotage(
        "replace-one is taken for disjoint",
        "privacy/sensitivity.py",
        'if validated_neighbours(neighbours) == "replace-one":',
        "if False:",
        ("tests/privacy/test_sensitivity.py::test_disjoint_with_replace_one_names_histogram",),
    ),
    Sabotage(
        "the corner counts one coordinate",
        "privacy/sensitivity.py",
        "return ((self.sizes[0], self.moving),)",
        "return ((self.sizes[0], 1),)",
        (f"{LOSS}[gaussian-integers-replace-one]",),
    ),
    Sabotage(
        "Laplace noise for the l_2 norm",
        "calibration/obligations.py",
        'return Obligation("laplace", goal.epsilon, {"sensitivity": sensitivity.lp(1)}, note)',
        'return Obligation("laplace", goal.epsilon, {"sensitivity": sensitivity.lp(2)}, note)',
        (f"{LOSS}[laplace-integers-replace-one]",),
    ),
    Sabotage(
        "halves are rounded to even",
        "privacy/grid.py",
        "f += y >= 0.5",
        "f += (y > 0.5) | ((y == 0.5) & (f % 2 == 1))",
        (f"{LOSS}[laplace-grid]",),
    ),
    Sabotage(
        "sensitivities in steps are rounded down",
        "privacy/grid.py",
        "steps = math.ceil(Fraction(size) / Fraction(self.step))",
        "steps = math.floor(Fraction(size) / Fraction(self.step))",
        (f"{LOSS}[laplace-grid-between-steps]",),
    ),
    # Scales and their proofs.
    Sabotage(
        "a real scale on the integers",
        "calibration/obligations.py",
        'name = "shift" if support == "real" else "integer-shift"',
        'name = "shift"',
        tuple(f"{LOSS}[{name}]" for name in ("gaussian-integers", "order-1.5-integers", "order-3-integers")),
    ),
    Sabotage(
        "delta of approximate DP for probabilistic DP",
        "loss/integer_shift.py",
        '    if notion == "approximate":\n        return tail(p, b, k) -',
        '    if notion != "pure":\n        return tail(p, b, k) -',
        (f"{LOSS}[gaussian-integers-probabilistic]",),
    ),
    Sabotage(
        "the threshold of the loss is one too far",
        "loss/integer_shift.py",
        "return first, high\n",
        "return first + 1, high + 1\n",
        (f"{LOSS}[gaussian-integers-probabilistic]", f"{LOSS}[order-3-integers-probabilistic]"),
    ),
    Sabotage(
        "upper ends of balls are rounded down",
        "distributions/enclosures.py",
        "return -lower_float(-x)",
        "return lower_float(x)",
        (f"{PROOFS}test_floats_of_balls_are_rounded_outwards",),
    ),
    Sabotage(
        "the lower end of an enclosure is proved",
        "calibration/certificate.py",
        "if not enclosure.upper <= target:",
        "if not enclosure.lower <= target:",
        (f"{PROOFS}test_an_enclosure_that_holds_the_target_proves_nothing",),
    ),
    Sabotage(
        "a certificate of something else will do",
        "mechanisms/additive.py",
        "calibration.require_own_certificate()",
        "pass",
        ("tests/mechanisms/test_additive.py::test_a_calibration_that_was_tampered_with_is_refused",),
    ),
    Sabotage(
        "boundary-inflated noise with the truncated scale",
        "calibration/obligations.py",
        '"bounding": bounding,',
        '"bounding": "truncated",',
        tuple(f"{LOSS}[boundary-inflated-order-{order}-integers]" for order in (2, 3)),
    ),
    Sabotage(
        "the classic Gaussian at every epsilon",
        "calibration/paper.py",
        "if goal.epsilon >= 1.0 and not outside_domain:",
        "if False:",
        ("tests/calibration/test_paper.py::test_the_classic_gaussian_refuses_an_epsilon_of_one_and_says_why",),
    ),
    Sabotage(
        "a goal for one relation, a sensitivity for the other",
        "calibration/entry.py",
        "if goal.neighbours is not None and goal.neighbours != sensitivity.neighbours:",
        "if False:",
        (f"{PROOFS}test_a_goal_for_one_relation_is_not_kept_by_the_other",),
    ),
    Sabotage(
        "losses are rounded down before they are added",
        "loss/dominating.py",
        "moved = here - knot.exp() * there",
        "moved = 0 * here",
        (f"{LOSS}[gaussian-integers-replace-one]",),
    ),
    Sabotage(
        "losses beyond the window are forgotten",
        "loss/convolution.py",
        "infinite += tail_above(parts, window.top, window.tilt)",
        "pass",
        (
            "tests/loss/test_dominating.py::test_what_leaves_the_window_is_counted_as_infinite_and_nothing_inside_is_lost",
        ),
    ),
    Sabotage(
        "losses of bounded cells do not add up",
        "calibration/obligations.py",
        '"moving": sensitivity.moving,\n    }\n    return Obligation("bounded", ',
        '"moving": 1,\n    }\n    return Obligation("bounded", ',
        (f"{LOSS}[truncated-replace-one]", f"{LOSS}[boundary-inflated-replace-one]"),
    ),
    # What is promised.
    Sabotage(
        "the guarantee is always of add-remove",
        "calibration/record.py",
        "goal, neighbours = request.goal, request.sensitivity.neighbours",
        'goal, neighbours = request.goal, "add-remove"',
        (f"{SHAPES}test_every_shape_is_released_with_the_guarantee[(1,)-laplace-integers-replace-one]",),
    ),
    Sabotage(
        "probabilistic DP survives post-processing",
        "privacy/guarantees.py",
        "return PureDP(self.epsilon, self.neighbours)\n        return self.to_approximate()",
        "return PureDP(self.epsilon, self.neighbours)\n        return self",
        (f"{AFTER}test_a_clipped_release_does_not_keep_its_probabilistic_guarantee",),
    ),
    Sabotage(
        "adjusted releases keep their guarantee",
        "releases/release.py",
        "kept if kept is None or marginal else kept.after_postprocessing()",
        "kept",
        (f"{AFTER}test_a_clipped_release_does_not_keep_its_probabilistic_guarantee",),
    ),
    Sabotage(
        "seeded releases carry a guarantee",
        "mechanisms/additive.py",
        "self.guarantee if bits.private is True else None",
        "self.guarantee",
        (f"{SHAPES}test_bits_come_from_the_operating_system_and_seeded_ones_carry_no_guarantee[laplace-integers]",),
    ),
    Sabotage(
        "the probability of saturation is left out",
        "mechanisms/saturation.py",
        "proved.delta + steps.sensitivity.moving * _most_beyond(steps.scale, one_to_one - clamp), math.inf",
        "proved.delta, -math.inf",
        ("tests/mechanisms/test_saturation.py::test_probabilistic_dp_stays_on_the_integers",),
    ),
    Sabotage(
        "a guarantee may be above its goal",
        "mechanisms/saturation.py",
        "if delta <= steps.goal.delta:",
        "if delta < 1.0:",
        (f"{PROOFS}test_a_guarantee_is_never_above_its_goal",),
    ),
    Sabotage(
        "true values are not clamped for probabilistic DP",
        "mechanisms/saturation.py",
        "np.add(np.clip(x, -clamp, clamp, out=buffer[: x.size]), y, out=y)",
        "np.add(x, y, out=y)",
        (f"{SHAPES}test_probabilistic_releases_clamp_true_values_far_from_the_ends[gaussian-integers-probabilistic]",),
    ),
    # Noise.
    Sabotage(
        "noise is seeded by default",
        "sampling/entropy.py",
        "        return SECURE\n    if isinstance",
        "        return SeededSource(seed=0)\n    if isinstance",
        (f"{SHAPES}test_two_releases_differ[laplace-integers]",),
    ),
    Sabotage(
        "the key of the stream is constant",
        "sampling/entropy.py",
        "fresh = self._entropy(_SEED_BYTES)",
        "fresh = bytes(range(_SEED_BYTES))",
        ("tests/sampling/test_entropy.py::test_the_stream_is_aes_256_in_counter_mode_keyed_by_the_entropy",),
    ),
    Sabotage(
        "bits come from NumPy's generator",
        "sampling/entropy.py",
        "stream.write(target[written:stop])",
        "target[written:stop] = np.random.default_rng().bytes(stop - written)",
        ("tests/sampling/test_entropy.py::test_the_stream_is_aes_256_in_counter_mode_keyed_by_the_entropy",),
    ),
    Sabotage(
        "floats are added to floats",
        "mechanisms/additive.py",
        "released_values[part] = self._in_unit(drawn[part])",
        "released_values[part] = values[part] + self.step * (drawn[part] - self._indices(values[part]))",
        (f"{SHAPES}test_true_values_of_one_step_have_one_law[laplace-grid]",),
    ),
    Sabotage(
        "one noise for all cells",
        "mechanisms/additive.py",
        "drawn = noise.sample(given.size, source=source)",
        "drawn = np.repeat(noise.sample(given.size, source=source)[:1], given.size)",
        (f"{SHAPES}test_cells_are_released_in_their_order_each_by_a_word_of_its_own[laplace-integers]",),
    ),
    Sabotage(
        "no noise on empty cells",
        "mechanisms/additive.py",
        "            self._add(self._indices(values, slice(None)), drawn)\n",
        "            drawn *= values != 0\n            self._add(self._indices(values, slice(None)), drawn)\n",
        (f"{LAW}[laplace-integers]",),
    ),
    Sabotage(
        "sums wrap around",
        "mechanisms/saturation.py",
        "if _large(y):",
        "if False:",
        (f"{SHAPES}test_sums_beyond_64_bits_end_at_the_ends[laplace-integers]",),
    ),
    Sabotage(
        "a scale that is a millionth smaller is drawn",
        "mechanisms/additive.py",
        "noise = sampling.IntegerNoise(order=self._steps.order, scale=self._steps.scale)",
        "noise = sampling.IntegerNoise(order=self._steps.order, scale=self._steps.scale * (1 - 1e-6))",
        (f"{LAW}[laplace-integers]",),
    ),
    Sabotage(
        "the table is off by one",
        "sampling/thresholds.py",
        "return Table.of(table, least=-len(table) // 2, ends=(False, False)",
        "return Table.of(table, least=-len(table) // 2 + 1, ends=(False, False)",
        (f"{LAW}[gaussian-integers]",),
    ),
    Sabotage(
        "thresholds have 53 bits",
        "sampling/thresholds.py",
        "return max(int(floor), 0), int(floor) + 1",
        "return max(int(floor) >> 11 << 11, 0), (int(floor) >> 11 << 11) + 1",
        (f"{LAW}[gaussian-integers]",),
    ),
    Sabotage(
        "the guide decides what it must not",
        "sampling/table.py",
        "guide[from_here] = guide[to_here] = UNDECIDED",
        "guide[from_here[:0]] = UNDECIDED",
        (f"{SHAPES}test_large_releases_draw_from_the_same_law_as_small_ones[gaussian-integers]",),
    ),
    Sabotage(
        "words that hold a threshold are decided at once",
        "sampling/table.py",
        "        for i in np.flatnonzero(open_ones):\n            draws[i] = inverted(",
        "        for i in np.flatnonzero(open_ones & False):\n            draws[i] = inverted(",
        ("tests/sampling/test_table.py::test_a_word_that_holds_a_threshold_is_decided_by_more_bits",),
    ),
    Sabotage(
        "rejection trusts its floats",
        "sampling/rejection.py",
        "for i in np.flatnonzero(np.abs(gaps) <= errors):",
        "for i in np.flatnonzero(np.abs(gaps) < 0):",
        (
            "tests/sampling/test_rejection.py::test_the_whole_tree_of_a_small_envelope_has_the_masses_of_the_law[1.5-2.5-0-True-0]",
        ),
    ),
    Sabotage(
        "rejection cuts off the far tail",
        "sampling/rejection.py",
        "kept[far], values[far] = self._far_draws(far.size, source)",
        "kept[far] = False",
        ("tests/conformance/test_law.py::test_noise_beyond_the_blocks_of_a_wide_law_is_drawn_too",),
    ),
    Sabotage(
        "truncated noise stops one short of the bound",
        "sampling/bounded.py",
        "self.upper - centres + 1, words)",
        "self.upper - centres, words)",
        (f"{LAW}[truncated-order-2-integers]",),
    ),
    Sabotage(
        "true values are not clamped to their bounds",
        "mechanisms/additive.py",
        "noise.around(np.clip(table[:, columns], low, high), source=source)",
        "noise.around(table[:, columns], source=source)",
        (f"{LAW}[truncated-order-2-grid]",),
    ),
    Sabotage(
        "boundary-inflated noise is truncated",
        "mechanisms/additive.py",
        "law = sampling.TruncatedIntegerNoise if truncated else sampling.BoundaryInflatedIntegerNoise",
        "law = sampling.TruncatedIntegerNoise",
        (f"{LAW}[boundary-inflated-order-2-integers]",),
    ),
    Sabotage(
        "true values stand in the memory of a release",
        "mechanisms/additive.py",
        "return released_values.reshape(given.shape)",
        "return np.concatenate([released_values, values])[: drawn.size].reshape(given.shape)",
        (
            "tests/conformance/test_secrecy.py::test_nothing_that_hangs_on_a_release_holds_the_true_values[laplace-grid]",
        ),
    ),
    Sabotage(
        "an error tells the values",
        "privacy/values.py",
        "    array = _as_array(values)\n    if array is None:\n",
        '    array = _as_array(values)\n    if array is None:\n        raise ArgumentError("values", values, "no")\n',
        ("tests/privacy/test_grid.py::test_a_refusal_tells_neither_the_value_nor_its_place",),
    ),
    # Selection.
    Sabotage(
        "the Exponential mechanism without its factor of 2",
        "mechanisms/exponential.py",
        "return Fraction(epsilon) / (2 * Fraction(sensitivity))",
        "return Fraction(epsilon) / Fraction(sensitivity)",
        (f"{SELECT}test_the_worst_neighbours_come_near_to_epsilon_and_not_above",),
    ),
    Sabotage(
        "selection trusts its floats",
        "sampling/selection.py",
        "room = 2 * margin + 1",
        "room = 1",
        ("tests/sampling/test_selection.py::test_the_units_and_bits_of_a_candidate_are_its_weight",),
    ),
    Sabotage(
        "excluded candidates are drawn",
        "mechanisms/exponential.py",
        "kept = np.flatnonzero(~self.excluded)",
        "kept = np.arange(len(self.candidates))",
        (f"{SELECT}test_an_excluded_candidate_is_never_drawn_and_its_utility_is_not_looked_at",),
    ),
    Sabotage(
        "an infinite utility is taken",
        "mechanisms/exponential.py",
        "    if not finite:\n",
        "    if not finite and False:\n",
        (f"{SELECT}test_a_utility_that_would_leave_the_support_is_refused",),
    ),
    Sabotage(
        "seeded selections carry a guarantee",
        "mechanisms/exponential.py",
        "self.guarantee if bits.private is True else None",
        "self.guarantee",
        (f"{SELECT}test_a_million_candidates_and_ties_are_drawn_from",),
    ),
    # Releases.
    Sabotage(
        "a public total under add-remove",
        "releases/totals.py",
        'if release.neighbours != "replace-one":',
        "if False:",
        (
            f"{AFTER}test_pure_and_approximate_dp_survive_and_probabilistic_dp_becomes_approximate"
            "[normalise-laplace-integers]",
        ),
    ),
    Sabotage(
        "values are drawn again",
        "releases/adjustments.py",
        "    raise UnprovedError(message)\n",
        "    return None\n",
        (f"{AFTER}test_values_cannot_be_drawn_again[laplace-integers]",),
    ),
    Sabotage(
        "intervals are one too narrow",
        "distributions/integer_tails.py",
        "        low, high = (low, middle) if passes(middle) else (middle, high)\n    return high\n",
        "        low, high = (low, middle) if passes(middle) else (middle, high)\n    return max(high - 1, at_least)\n",
        (f"{COVER}[laplace-integers-raw]",),
    ),
    Sabotage(
        "intervals count one tail only",
        "releases/intervals.py",
        "return least_with_tail(order, scale, lambda: (1 - arb(level)) / 2, at_least=1) - 1",
        "return least_with_tail(order, scale, lambda: 1 - arb(level), at_least=1) - 1",
        (f"{COVER}[gaussian-integers-raw]",),
    ),
    Sabotage(
        "intervals of truncated noise miss twice as often",
        "releases/intervals.py",
        "<= a * (1.0 - _MARGIN) * total)",
        "<= 2 * a * (1.0 - _MARGIN) * total)",
        (f"{COVER}[truncated-order-2-grid-raw]",),
    ),
    Sabotage(
        "intervals are centred on adjusted values",
        "releases/release.py",
        "return Interval(*facts.law.intervals(self.noisy, single))",
        "return Interval(*facts.law.intervals(self.values, single))",
        (f"{COVER}[laplace-grid-clip]",),
    ),
    Sabotage(
        "intervals know of no clamp",
        "mechanisms/additive.py",
        "            clamp=self._outlet.clamp,\n",
        "",
        ("tests/mechanisms/test_saturation.py::test_intervals_cover_counts_that_were_clamped",),
    ),
    Sabotage(
        "values outside the bounds of the sensitivity are taken as they are",
        "mechanisms/additive.py",
        "if self.sensitivity.bounds is None:",
        "if True:",
        ("tests/mechanisms/test_additive.py::test_values_outside_the_bounds_of_the_sensitivity_are_clamped_silently",),
    ),
    Sabotage(
        "intervals of cells chosen by their noise are those of single cells",
        "releases/release.py",
        "if cells <= 1 or number == 0.0:",
        "if True:",
        ("tests/releases/test_adjustments.py::test_intervals_of_cells_chosen_by_their_noise_cover_all_cells_together",),
    ),
    Sabotage(
        "sensitivities are rounded to the nearest float",
        "_validate.py",
        "    if number < value:",
        "    if False:",
        ("tests/privacy/test_sensitivity.py::test_a_sensitivity_is_never_rounded_down",),
    ),
    # Tables.
    Sabotage(
        "units keep all their cells in memory",
        "tables/engines/bounding.py",
        "kept = order[np.arange(len(order)) - first < max_cells]",
        "kept = order",
        (f"{TABLES}test_a_cell_counts_units_and_not_rows_and_a_unit_has_at_most_so_many_cells",),
    ),
    Sabotage(
        "units keep all their cells in DuckDB",
        "tables/engines/bounding.py",
        "ORDER BY {score}, {kept}) <= {max_cells}",
        "ORDER BY {score}, {kept}) >= 1",
        (f"{COUNTING}test_units_keep_the_same_cells_on_every_engine",),
    ),
    Sabotage(
        "rows are counted instead of units",
        "tables/engines/bounding.py",
        'pairs = frame.group_by(unit, *cell).agg(nw.len().alias("n"))',
        'pairs = frame.with_columns(nw.lit(1).alias("n"))',
        (f"{TABLES}test_a_cell_counts_units_and_not_rows_and_a_unit_has_at_most_so_many_cells",),
    ),
    Sabotage(
        "the choice of cells depends on how many units there are",
        "tables/engines/bounding.py",
        "order = np.lexsort((scores, number))",
        "order = np.lexsort((scores % np.uint64(number.max() + 2), number))",
        (f"{COUNTING}test_units_keep_the_same_cells_on_every_engine",),
    ),
    Sabotage(
        "the key of the choice of cells is the same for every release",
        "tables/entry.py",
        'key = random_words(bits, _KEY_WORDS).tobytes() if request.unit is not None else b""',
        'key = bytes(32) if request.unit is not None else b""',
        (f"{TABLES}test_the_key_that_chooses_the_cells_of_units_is_new_for_every_release",),
    ),
    Sabotage(
        "a replaced unit moves as many counts as one that goes",
        "tables/request.py",
        "return Sensitivity.histogram(neighbours=self.neighbours, max_cells=self.cells_of_a_unit)",
        "return Sensitivity.cells(self.cells_of_a_unit, 1, neighbours=self.neighbours)",
        (f"{REQUESTS}test_as_many_counts_move_as_a_unit_has_cells_and_twice_when_it_is_replaced",),
    ),
    Sabotage(
        "several tables are as sensitive as one",
        "tables/request.py",
        "return (self.max_cells or 1) * len(self.by)",
        "return self.max_cells or 1",
        (f"{TABLES}test_marginals_are_one_query_with_its_joint_sensitivity",),
    ),
    Sabotage(
        "a public total goes with add-remove neighbours",
        "tables/request.py",
        'if self.neighbours != "replace-one":',
        "if False:",
        (f"{REQUESTS}test_a_wrong_request_is_refused_with_the_reason",),
    ),
    Sabotage(
        "levels of the data are taken as the domain",
        "tables/column.py",
        "if not isinstance(levels, list | tuple | range):",
        "if False:",
        ("tests/tables/test_column.py::test_what_a_frame_holds_is_no_domain",),
    ),
    Sabotage(
        "keys of the data are shown without delta",
        "tables/request.py",
        "if self.goal.delta == 0.0:",
        "if False:",
        (f"{TABLES}test_levels_of_a_categorical_column_are_not_the_domain",),
    ),
    Sabotage(
        "false cells come last",
        "tables/sparse.py",
        'sorting = np.argsort(shown, kind="stable")',
        "sorting = np.arange(shown.size)",
        ("tests/tables/test_sparse.py::test_false_cells_stand_among_the_others_in_the_order_of_cells",),
    ),
    Sabotage(
        "non-empty cells can be false too",
        "tables/sparse.py",
        'places = ranks + np.searchsorted(cells - np.arange(cells.size), ranks, side="right")',
        "places = ranks",
        ("tests/tables/test_sparse.py::test_the_ranks_of_empty_cells_lead_to_all_of_them_and_to_no_other",),
    ),
    Sabotage(
        "keys are shown one unit too early",
        "tables/thresholds.py",
        "expm1(), at_least=0) + 1",
        "expm1(), at_least=1)",
        ("tests/tables/test_thresholds.py::test_a_threshold_of_keys_is_the_least_that_hides_a_unit",),
    ),
    Sabotage(
        "noise and threshold share one delta for several cells",
        "tables/thresholds.py",
        'return m == 1 and neighbours == "add-remove"',
        "return True",
        ("tests/tables/test_thresholds.py::test_the_larger_of_the_two_deltas_is_not_enough_under_replace_one",),
    ),
    Sabotage(
        "intervals near the threshold leave 0 out",
        "releases/threshold.py",
        "return min(last, LARGEST)",
        "return self.value - 1",
        ("tests/releases/test_threshold.py::test_every_true_count_is_covered_given_that_its_cell_is_shown",),
    ),
    Sabotage(
        "probabilistic DP survives a threshold",
        "tables/plan.py",
        "promised = promised.after_postprocessing()",
        "pass",
        (f"{REQUESTS}test_a_probabilistic_goal_is_approximate_after_an_adjustment_and_a_threshold",),
    ),
    Sabotage(
        "rows without a unit are counted",
        "tables/engines/plan.py",
        "found = frame.select(*raw, unit.alias(UNIT)).filter(~nw.col(UNIT).is_null())",
        "found = frame.select(*raw, unit.alias(UNIT))",
        (f"{COUNTING}test_units_keep_the_same_cells_on_every_engine",),
    ),
    Sabotage(
        "unknown levels are counted as the first one",
        "tables/engines/plan.py",
        "unknown = nw.when(joined.is_null()).then(nw.lit(other)).otherwise(joined)",
        "unknown = nw.when(joined.is_null()).then(nw.lit(0)).otherwise(joined)",
        (f"{TABLES}test_every_cell_of_the_domain_is_released_in_its_order_empty_ones_too",),
    ),
    Sabotage(
        "what an engine says is passed on",
        "tables/engines/native.py",
        "    except BaseException:\n        pass\n",
        "    except BaseException:\n        raise\n",
        ("tests/tables/engines/test_refusals.py::test_an_error_of_an_engine_is_replaced_and_forgotten",),
    ),
    Sabotage(
        "the fixed message has the engine's as its context",
        "tables/engines/native.py",
        "    except BaseException:\n        pass\n",
        "    except BaseException:\n        raise SourceError(source)\n",
        ("tests/tables/engines/test_refusals.py::test_an_error_of_an_engine_is_replaced_and_forgotten",),
    ),
    Sabotage(
        "a CSV file must be well-formed",
        "tables/engines/duckdb.py",
        "null_padding = true, strict_mode = false, ignore_errors = true",
        "null_padding = false, strict_mode = true, ignore_errors = false",
        ("tests/tables/engines/test_files.py::test_a_csv_record_is_one_row_whatever_is_in_it",),
    ),
    Sabotage(
        "intervals are centred on the adjusted count",
        "tables/release.py",
        "lower, upper = release.interval()",
        "lower, upper = release.mechanism.law.intervals(release.values, 0.95)",
        (f"{TABLES}test_intervals_go_by_the_raw_noisy_count",),
    ),
]
