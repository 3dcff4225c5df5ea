"""Noise: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

LAW = "tests/conformance/test_law.py::test_the_released_law_is_the_stated_law"
SHAPES = "tests/conformance/test_shapes.py::"

SABOTAGES = [
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
        "return sampling.IntegerNoise(order=steps.order, scale=steps.scale) if",
        "return sampling.IntegerNoise(order=steps.order, scale=steps.scale * (1 - 1e-6)) if",
        (f"{LAW}[laplace-integers]",),
    ),
    Sabotage(
        "the table is off by one",
        "sampling/law_tables.py",
        "return Table.of(table, least=-len(table) // 2, ends=(False, False)",
        "return Table.of(table, least=-len(table) // 2 + 1, ends=(False, False)",
        (f"{LAW}[gaussian-integers]",),
    ),
    Sabotage(
        "thresholds have 53 bits",
        "sampling/law_tables.py",
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
]
