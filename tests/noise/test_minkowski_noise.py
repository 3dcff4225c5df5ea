"""Integer noise by a norm: counts of balls, its law by brute force, every string of random words of small samplers."""

import itertools
import math
import pickle
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from mpmath import mp, mpf
from scipy.integrate import trapezoid
from tests.noise.scripted import Scripted

import ggdp
from ggdp._balls import BALLS, working_precision
from ggdp.errors import ArgumentError, UnprovedError
from ggdp.noise import SeededSource
from ggdp.noise import minkowski_noise as module
from ggdp.noise.minkowski_noise import KINDS, MinkowskiNoise, spreads
from ggdp.noise.norm_ball_noise import NormBallNoise
from ggdp.proofs.noise_law import NoiseLaw, Norm

# Issued as a table: kind, free coordinates, standard deviations of a cell at scale 1.
TABLE = [
    ("signed", (1,) * 10, 6.62697),
    ("signed", (2,) * 10, 8.77221),
    ("signed", (5,) * 10, 11.23464),
    ("signed", (2, 2), 2.21519),
    ("added", (1,) * 10, 5.08265),
    ("added", (2,) * 10, 6.46007),
    ("added", (4,) * 5, 4.66099),
    ("added", (1,) * 3, 2.19832),
    ("added", (1, 2, 3), (3.17024, 2.56816, 2.15021)),
    ("added", (1, 1), 1.77848),
    ("added", (2, 2, 2), 2.58180),
]
GROUPS = [(1,), (2,), (1, 1), (1, 2), (3,), (1, 1, 2)]


def ball(kind, n, a, c):
    """All points of a ball, by its definition."""
    reach = range(-a if kind == "signed" else -c, a + 1)
    points = itertools.product(reach, repeat=n)
    if kind == "signed":
        return [x for x in points if sum(map(abs, x)) <= a]
    return [x for x in points if sum(v for v in x if v > 0) <= a and sum(-v for v in x if v < 0) <= c]


def norm(kind, groups, x):
    """The norm of the free coordinates, by its definition."""
    ups, downs = [0], [0]
    for n in groups:
        group, x = x[:n], x[n:]
        ups.append(sum(v for v in group if v > 0))
        downs.append(sum(-v for v in group if v < 0))
    if kind == "signed":
        return max(up + down for up, down in zip(ups, downs, strict=True))
    return max(ups) + max(downs) if kind == "added" else max(*ups, *downs)


def count(kind, n, a, c):
    """The number of points of a ball, exactly, by the signs of the coordinates."""
    if kind == "signed":
        return sum(math.comb(n, i) * math.comb(a, i) * 2**i for i in range(n + 1))
    return sum(
        math.comb(n, i) * math.comb(n - i, m) * math.comb(a, i) * math.comb(c, m)
        for i in range(n + 1)
        for m in range(n - i + 1)
    )


def radii_of(kind, a, c):
    return (a, c) if kind == "added" else (a, a)


@pytest.mark.parametrize("kind", KINDS)
def test_balls_are_counted_as_by_enumeration(kind):
    for n, a, c in itertools.product(range(1, 4), range(4), range(4)):
        a, c = radii_of(kind, a, c)
        points = ball(kind, n, a, c)
        terms = module._terms(kind, n, a, c)
        signs = Counter(sum(v != 0 if kind == "signed" else v > 0 for v in x) for x in points)
        assert terms == [signs[i] for i in range(n + 1)]
        assert len(points) == count(kind, n, a, c)
        logs = module._log_counts(kind, (n, n), np.array([float(a)]), np.array([float(c)]))
        assert np.exp(logs) == pytest.approx(len(points) ** 2, rel=1e-12)
        half = module._log_half(kind, n, np.array([float(a)]), np.array([float(c)]))
        assert np.exp(half) == pytest.approx(sum(x[0] >= 0 for x in points), rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 7, 100])
def test_logarithms_of_large_counts_are_within_the_proved_error(kind, n):
    for a, c in [(0, 0), (0, 3), (5, 900), (1000, 3), (123_456, 0), (2**40, 2**39), (2**60, 1), (2**60, 2**60)]:
        a, c = radii_of(kind, a, c)
        exact = sum(module._terms(kind, n, a, c))
        assert exact == count(kind, n, a, c)
        with mp.workdps(40):
            logs = module._log_counts(kind, (n,), np.array([float(a)]), np.array([float(c)]))
            assert abs(mp.log(exact) - mpf(float(logs[0]))) < 2.0**-46 * (64 + n) ** 2 / 4


def exact_moments(kind, groups, scale, reach):
    """The sum of all weights and E x_1^2 for each group, by exact counts; both sums end at `reach`."""
    total, squares = mpf(0), [mpf(0)] * len(groups)
    with mp.workdps(30):
        q = mp.exp(-1 / mpf(scale))
        for a in range(reach):
            for c in range(reach) if kind == "added" else [a]:
                counts = [count(kind, n, a, c) for n in groups]
                w = q ** (a + c if kind == "added" else a)
                total += w * math.prod(counts)
                for j, n in enumerate(groups):
                    others = math.prod(counts[:j] + counts[j + 1 :])
                    inner = sum(k * k * count(kind, n - 1, *smaller(kind, a, c, k)) for k in range(1, a + 1))
                    squares[j] += w * others * 2 * inner
        return float(total), [float(mp.sqrt(s / total)) for s in squares]


def smaller(kind, a, c, k):
    return (a - k, c) if kind != "signed" else (a - k, a - k)


@pytest.mark.parametrize(
    ("kind", "groups", "scale"),
    [*((kind, g, 0.6) for kind in KINDS for g in GROUPS), ("added", (2, 3), 0.1), ("signed", (5, 5), 0.8)],
)
def test_moments_are_the_sums_of_exact_counts(kind, groups, scale):
    total, stds = exact_moments(kind, groups, scale, 40 if kind == "added" else 70)
    log_total, _ = module._moments(kind, groups, scale)
    assert math.exp(log_total) == pytest.approx(total, rel=1e-9)
    assert MinkowskiNoise(kind=kind, groups=groups, scale=scale).std == pytest.approx(stds, rel=1e-9)


@pytest.mark.parametrize(("kind", "groups", "stds"), TABLE)
def test_standard_deviations_are_those_of_the_table(kind, groups, stds):
    found = spreads(groups, kind, 1.0)
    assert found == pytest.approx((stds,) * len(groups) if isinstance(stds, float) else stds, abs=5.1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("groups", "scale"), [((20,) * 5, 1.0), ((90, 2, 7), 0.3), ((30,) * 5, 12.0)])
def test_both_rules_of_summation_agree(kind, groups, scale, monkeypatch):
    """A Gauss rule is exact, and even steps nearly are, where the radii are far from 0."""
    noise = MinkowskiNoise(kind=kind, groups=groups, scale=scale)
    ks = (1, round(2 * noise.std[0]) + 1)
    found = []
    for most in (10**6, 0):
        monkeypatch.setattr(module, "_MOST_GAUSS", most)
        module._moments.cache_clear()
        module._nodes.cache_clear()
        tails = [noise._tail(n, k) for n in {*groups, 0} for k in ks]
        found.append([*noise.std, module._moments(kind, groups, scale)[0], *tails])
    module._moments.cache_clear()
    module._nodes.cache_clear()
    assert found[0] == pytest.approx(found[1], rel=1e-7)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("closed", [False, True])
def test_probabilities_are_those_of_the_norm(kind, groups, closed):
    """With complete groups the further cell is a function of the common total, which is summed over."""
    if kind == "signed" and closed:
        pytest.skip("groups that change by signed amounts have no total")
    dims, scale = sum(groups), 0.3
    reach = 5 if dims < 4 else 4
    noise = MinkowskiNoise(kind=kind, groups=groups, scale=scale, complete=(closed,) * len(groups))
    free = list(itertools.product(range(-reach, reach + 1), repeat=dims))
    weights = np.array([math.exp(-norm(kind, groups, x) / scale) for x in free])
    found = np.zeros(len(free))
    for u in range(-20, 21) if closed and kind == "added" else [0]:
        rows = [closed_row(groups, x, u) if closed else x for x in free]
        found += noise.pmf(np.array(rows))
    assert found == pytest.approx(weights / weights.sum(), rel=1e-4, abs=1e-12)
    assert found[len(free) // 2] / found == pytest.approx(weights.max() / weights, rel=1e-7)


def closed_row(groups, x, u):
    row = []
    for n in groups:
        group, x = x[:n], x[n:]
        row += [*group, u - sum(group)]
    return row


def test_points_whose_complete_groups_disagree_on_the_total_are_impossible():
    noise = MinkowskiNoise(scale=1.0, groups=(1, 1), complete=(True, True))
    assert noise.pmf([[1, 0, 0, 1], [1, 0, 1, 1]]).tolist() == [noise.pmf([0, 1, 1, 0]), 0.0]
    swapped = MinkowskiNoise(scale=1.0, groups=(1, 1), complete=(True, True), kind="replaced")
    assert swapped.pmf([[1, 0, 0, 1], [1, -1, 0, 0]]).tolist()[0] == 0.0
    assert swapped.pmf([1, -1, 0, 0]) > 0.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("groups", "complete"), [((1, 1), (True, True)), ((2, 1), (False, True)), ((1, 2), None), ((1, 0), (True, True))]
)
def test_no_move_of_a_unit_loses_more_than_one_over_the_scale_and_some_lose_it(kind, groups, complete):
    """Over all moves and all points near 0: the guarantee, by brute force."""
    complete = None if kind == "signed" else complete
    if kind == "signed" and 0 in groups:
        groups = (1, 1)
    noise = MinkowskiNoise(kind=kind, groups=groups, scale=2.0, complete=complete)
    cells = noise.cells
    if kind == "signed":
        one = [[s * np.eye(n, dtype=int)[i] for i in range(n) for s in (1, -1)] for n in groups]
    elif complete is None:
        one = [[*np.eye(n, dtype=int), np.zeros(n, dtype=int)] for n in groups]
    else:
        hidden = [[] if closed else [np.zeros(k, dtype=int)] for k, closed in zip(cells, complete, strict=True)]
        one = [[*np.eye(k, dtype=int), *more] for k, more in zip(cells, hidden, strict=True)]
    units = [np.concatenate(parts) for parts in itertools.product(*one)]
    moves = [new - old for new in units for old in units] if kind == "replaced" else units
    points = possible_points(noise)
    now = np.log(noise.pmf(points))
    losses = [np.abs(now - np.log(noise.pmf(points - move))) for move in moves]
    assert np.isfinite(losses).all()
    assert np.max(losses) == pytest.approx(0.5, rel=1e-9)


def possible_points(noise):
    points = np.array(list(itertools.product(range(-3, 4), repeat=sum(noise.cells))))
    return points[noise.pmf(points) > 0.0]


SAMPLERS = [
    ("added", (1,), 0.4),
    ("added", (1, 2), 1.0),
    ("added", (2, 3, 4), 5.0),
    ("added", (60, 61), 0.7),
    ("replaced", (1, 2), 1.0),
    ("replaced", (3, 30), 2.0),
    ("signed", (1, 1, 1), 1.5),
    ("signed", (20, 3), 3.0),
]


def block_of(radii, a, c):
    i, j = (int(np.searchsorted(radii.lines, x, side="right")) - 1 for x in (a, c))
    return i * radii.widths.size + j if radii.kind == "added" else i


def chance(radii, a, c):
    with BALLS, working_precision(200):
        return radii._chance(a, c, block_of(radii, a, c))


def places_of(radii):
    """Every corner of every block, and what is next to it."""
    near = {int(x) + d for x in radii.lines for d in (-1, 0, 1)}
    near = sorted(x for x in near if 0 <= x < radii.lines[-1])[:: max(1, 3 * radii.lines.size // 60)]
    return list(itertools.product(near, near)) if radii.kind == "added" else [(x, x) for x in near]


@pytest.mark.parametrize(("kind", "groups", "scale"), SAMPLERS)
def test_radii_are_proposed_and_accepted_in_proportion_to_their_weights(kind, groups, scale):
    """Units of a block by the chance of a place in it, per place, are the weight; and no chance is above 1."""
    radii = module._Radii(kind, groups, scale)
    assert radii.lines[0] == 0
    assert np.all(radii.widths > 0)
    for a, c in places_of(radii):
        block = block_of(radii, a, c)
        i, j = divmod(block, radii.widths.size) if kind == "added" else (block, None)
        places = int(radii.widths[i]) * (int(radii.widths[j]) if kind == "added" else 1)
        points = math.prod(count(kind, n, a, c) for n in groups)
        with BALLS, working_precision(200):
            found = radii._chance(a, c, block)
            weight = arb(points) * (-arb(a + c if kind == "added" else a) / arb(scale) - arb(radii.top)).exp()
            assert found <= 1
            expected = weight * arb(radii.height)
            assert abs(found * int(radii.units[block]) / places - expected) <= expected * arb(2) ** -100


@pytest.mark.parametrize(("kind", "groups", "scale"), SAMPLERS)
def test_blocks_are_accepted_often_and_what_is_beyond_them_hardly_exists(kind, groups, scale):
    radii = module._Radii(kind, groups, scale)
    a, _ = radii._round(20_000, ggdp.SecureSource())
    assert a.size > 6_000
    # Weights beyond the lines, as far as they matter.
    far = float(radii.lines[-1])
    beyond = far + np.arange(0.0, 200.0 * scale + 10.0)
    inside = np.arange(0.0, far, max(1.0, far // 500))
    if kind == "added":
        logs = module._log_weights(kind, groups, scale, *np.meshgrid(beyond, np.append(inside, beyond)))
        steps = 2.0 * max(1.0, far // 500)
    else:
        logs, steps = module._log_weights(kind, groups, scale, beyond, beyond), 1.0
    assert np.exp(logs - radii.top).sum() * steps * radii.height < 2.0**-255


def scripted_round(radii, a, c, words, *more):
    """A round of proposals of one place, with a word of V for each."""
    block, size = block_of(radii, a, c), len(words)
    i, j = divmod(block, radii.widths.size) if radii.kind == "added" else (block, block)
    units = np.full(size, int(radii.ends[block]) - 1, dtype=np.uint64)
    places = [np.full(size, a - int(radii.lines[i]), dtype=np.uint64)]
    if radii.kind == "added":
        places.append(np.full(size, c - int(radii.lines[j]), dtype=np.uint64))
    parts = [units, *places, np.array(words, dtype=np.uint64)]
    source = Scripted(*(part.tobytes() for part in parts), *(int(word).to_bytes(8, "little") for word in more))
    found = radii._round(size, source)
    assert source.spent
    assert set(zip(*(x.tolist() for x in found), strict=True)) <= {(a, c)}
    return found[0].size


@pytest.mark.parametrize(("kind", "groups", "scale"), SAMPLERS)
def test_a_place_is_accepted_by_the_words_below_its_chance_and_no_others(kind, groups, scale):
    radii = module._Radii(kind, groups, scale)
    for a, c in places_of(radii)[::37]:
        with BALLS, working_precision(400):
            height = chance(radii, a, c) * arb(2) ** 128
            exact = int(height.floor().unique_fmpz())
        if exact >> 128:
            # A chance of 1: every word is below.
            continue
        word, rest = exact >> 64, exact & (2**64 - 1)
        words = [w for w in (0, word // 2, word - 1, word + 1, (word + 2**64) // 2, 2**64 - 1) if 0 <= w < 2**64]
        below = sum(w < word for w in words)
        assert scripted_round(radii, a, c, [w for w in words if w != word]) == below
        if 0 < rest < 2**64 - 1:
            assert scripted_round(radii, a, c, [word], rest - 1) == 1
            assert scripted_round(radii, a, c, [word], rest + 1) == 0


def test_every_unit_proposes_its_block_and_every_place_of_it_alike():
    """A small sampler: each of its units leads to its block, and words below the width to all places."""
    radii = module._Radii("added", (1, 2), 6.0, bits=12)
    size = int(radii.ends[-1])
    # Words of 0 are accepted; where a chance is as small as an error of the floats, more of them are read.
    more = [bytes(8)] * 20 * size
    corners = radii._round(size, Scripted(np.arange(size, dtype=np.uint64).tobytes(), *[bytes(8 * size)] * 3, *more))
    lines = radii.lines[:-1].tolist()
    seen = Counter(zip(*(x.tolist() for x in corners), strict=True))
    assert seen == dict(zip(itertools.product(lines, lines), radii.units.tolist(), strict=True))
    for block in range(0, radii.units.size, 5):
        i, j = divmod(block, radii.widths.size)
        first = [range(min(int(radii.widths[side]), 9)) for side in (i, j)]
        pairs = np.array(list(itertools.product(*first)), dtype=np.uint64)
        units = np.full(len(pairs), int(radii.ends[block]) - 1, dtype=np.uint64)
        words = [part.tobytes() for part in (units, pairs[:, 0].copy(), pairs[:, 1].copy())]
        found = radii._round(len(pairs), Scripted(*words, bytes(8 * len(pairs)), *more))
        assert np.array_equal(np.stack(found, axis=1), pairs.astype(np.int64) + np.array([lines[i], lines[j]]))


def test_the_unit_beyond_all_blocks_is_rejected_and_its_last_bits_end_in_an_error():
    radii = module._Radii("added", (1, 2), 6.0)
    unit = int(radii.ends[-1]).to_bytes(8, "little")
    rejected = Scripted(unit, bytes(31) + b"\1", bytes(8), bytes(8), bytes(8))
    assert radii._round(1, rejected)[0].size == 0
    assert rejected.spent
    with pytest.raises(UnprovedError, match=r"2\^-256"):
        radii._round(1, Scripted(unit, bytes(32)))


@pytest.mark.parametrize(
    ("kind", "n", "a", "c"),
    [
        ("added", 1, 2, 1),
        ("added", 2, 2, 1),
        ("added", 3, 2, 2),
        ("added", 2, 0, 2),
        ("added", 3, 3, 0),
        ("added", 2, 4, 3),
        ("signed", 1, 2, 0),
        ("signed", 2, 3, 0),
        ("signed", 3, 3, 0),
        ("signed", 3, 1, 0),
    ],
)
def test_every_string_of_words_gives_each_point_of_a_ball_the_same_probability(kind, n, a, c):
    terms = module._terms(kind, n, a, c)
    total, below, masses = sum(terms), 0, Counter()
    for i, term in enumerate(terms):
        if not term:
            continue
        sign_word = (2 * below + term) * 2**63 // total
        below += term
        sizes = [(a, i), (n, i)] + ([] if kind == "signed" else [(c + n - i, n - i)])
        drawn = [range(whole - k) if k < size else [0] for whole, size in sizes for k in range(n)]
        rows = np.array(list(itertools.product(*drawn)), dtype=np.uint64)
        flips = list(itertools.product(range(2), repeat=i if kind == "signed" else 0))
        for flip in flips:
            sets = rows.reshape(len(rows), len(sizes), n).transpose(1, 0, 2)
            parts = [np.full(len(rows), sign_word, dtype=np.uint64).tobytes(), np.ascontiguousarray(sets).tobytes()]
            source = SignsAt(parts, flip, rows, n, i) if kind == "signed" else Scripted(*parts)
            size = np.full(len(rows), n)
            points = module._points(kind, size, np.full(len(rows), a), np.full(len(rows), c), source)
            for x in points.tolist():
                masses[tuple(x)] += Fraction(term, total) / (len(rows) * len(flips))
    assert masses == dict.fromkeys(ball(kind, n, a, c), Fraction(1, total))


class SignsAt(Scripted):
    """Gives the words of a script, and then a sign to each place that is not 0, the same for all rows."""

    def __init__(self, parts, flip, rows, n, i):
        chosen = np.zeros((len(rows), n), dtype=np.uint64)
        for row, words in zip(chosen, rows.astype(np.int64), strict=True):
            left = list(range(n))
            picked = sorted(left.pop(int(r)) for r in words[n : n + i])
            row[picked] = flip
        super().__init__(*parts, chosen.tobytes())


@pytest.mark.parametrize("kind", ["added", "signed"])
def test_a_word_at_a_threshold_of_the_signs_is_decided_by_more_bits(kind):
    n, a, c = 3, 4, 2
    terms = module._terms(kind, n, a, c)
    total, passed = sum(terms), 0
    one = np.ones(1, dtype=np.int64)
    for i, term in enumerate(terms[:-1]):
        passed += term
        word, rest = divmod(passed << 64, total)
        tail = (rest << 64) // total
        for words, expected in (((word - 1,), i), ((word + 1,), i + 1)):
            assert module._signs(kind, n * one, a * one, c * one, Scripted.words(*words)).tolist() == [expected]
        if rest:
            for more, expected in ((tail - 1, i), (tail + 1, i + 1)):
                source = Scripted.words(word, more)
                assert module._signs(kind, n * one, a * one, c * one, source).tolist() == [expected]
                assert source.spent


def test_subsets_of_many_rows_are_those_of_each_row():
    totals, sizes = np.array([5, 7, 3, 1]), np.array([2, 5, 3, 0])
    found = module._subsets(totals, sizes, 5, SeededSource(seed=3))
    for row, total, size in zip(found, totals, sizes, strict=True):
        assert len(set(row[:size].tolist())) == size
        assert np.all((row[:size] >= 0) & (row[:size] < total))
        assert np.all(np.diff(row[:size]) > 0)


def brute_tails(kind, groups, scale, closed):
    noise = MinkowskiNoise(kind=kind, groups=groups, scale=scale, complete=(closed,) * len(groups))
    reach = {1: 40, 2: 30, 3: 12}[sum(groups) + (closed and kind == "added")]
    free = itertools.product(range(-reach, reach + 1), repeat=sum(groups))
    totals = range(-reach, reach + 1) if closed and kind == "added" else [0]
    rows = np.array([closed_row(groups, x, u) if closed else x for x in free for u in totals])
    return noise, rows, noise.pmf(rows)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("groups", "closed"), [((1,), False), ((2,), False), ((1, 1), False), ((1,), True), ((1, 1), True)]
)
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_half_widths_are_the_least_by_brute_force(kind, groups, closed, level):
    if kind == "signed" and closed:
        pytest.skip("groups that change by signed amounts have no total")
    noise, rows, masses = brute_tails(kind, groups, 0.8, closed)
    assert masses.sum() == pytest.approx(1.0, abs=1e-3)
    starts = np.cumsum((0, *noise.cells[:-1]))

    def least(values):
        return next(h for h in range(100) if masses[values <= h].sum() >= level)

    assert noise.half_widths(level) == tuple(least(np.abs(rows[:, start])) for start in starts)
    assert noise.half_widths(level) == tuple(least(np.abs(rows[:, start + noise.cells[0] - 1])) for start in starts)
    widest = least(np.abs(rows).max(axis=1))
    assert noise.simultaneous_half_width(level) == widest if max(noise.cells) < 3 and groups != (2,) else True
    assert noise.simultaneous_half_width(level) >= widest
    if closed:
        assert noise.total_half_width(level) == least(np.abs(rows[:, : noise.cells[0]].sum(axis=1)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("groups", "scale"), [((1, 1, 1), 1.0), ((3, 3), 2.0), ((2, 7), 300.0)])
@pytest.mark.parametrize("miss", [1e-9, 1e-12, 2.0**-53])
def test_all_cells_have_half_widths_at_levels_close_to_1(kind, groups, scale, miss):
    noise = MinkowskiNoise(scale=scale, groups=groups, kind=kind)
    h = noise.simultaneous_half_width(1.0 - miss)
    assert h >= max(noise.half_widths(1.0 - miss))
    # No more than a union bound over all cells needs.
    assert sum(n * noise.tail(j, h) for j, n in enumerate(groups)) > 0.9 * miss


@pytest.mark.parametrize("number", [2, 10, 40])
@pytest.mark.parametrize("scale", [300.0, 1e4, 2.0**40])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_half_widths_of_all_cells_are_right_for_wide_noise(number, scale, level):
    # Complete groups of two cells: |u| and all |d_j| are at most a radius with a gamma law, and uniform in this cube.
    # All cells are within h where |u| + max |d_j| <= 2 h.
    def beyond(h):
        def outside(radius):
            if radius <= h:
                return 0.0
            y = 2.0 * h / radius
            return (
                1.0
                - max(y - 1.0, 0.0)
                - (min(y, 1.0) ** (number + 1) - max(y - 1.0, 0.0) ** (number + 1)) / (number + 1)
            )

        radius = np.linspace(h, h + 80.0, 40_001)
        density = np.exp((number + 1) * np.log(radius) - radius - math.lgamma(number + 2.0))
        return trapezoid(density * np.array([outside(x) for x in radius]), radius)

    half = MinkowskiNoise(scale=scale, groups=(1,) * number, complete=(True,) * number).simultaneous_half_width(level)
    # From h + 1/2 on, as for steps of one.
    assert 0.99 * (1.0 - level) <= beyond((half + 0.5) / scale) <= 1.0 - level


@pytest.mark.parametrize("number", [140, 151, 400, 3000])
@pytest.mark.parametrize("scale", [0.7, 50.0, 2.0**40])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_half_widths_of_many_numbers_are_the_least(number, scale, level):
    # P(|x| > h) is the mean of 2 (a - h) / (2 a + 1) over radii a > h.
    noise = MinkowskiNoise(scale=scale, groups=(1,) * number, kind="signed")
    (half,) = set(noise.half_widths(level))
    spread = scale * math.sqrt(number)
    step = max(1, int(spread / 2000))
    a = np.arange(0.0, scale * number + 40.0 * spread + 60.0, step) + (step - 1) / 2
    logs = number * np.log(2.0 * a + 1.0) - a / scale
    weights = np.exp(logs - logs.max())
    beyond, nearer = (
        float((weights * np.maximum(a - h, 0.0) * 2.0 / (2.0 * a + 1.0)).sum() / weights.sum())
        for h in (half, half - 1)
    )
    assert beyond <= (1.0 - level) * (1.0 + 2e-5)
    assert half == 0 or nearer >= (1.0 - level) * (1.0 - 2e-5)


@pytest.mark.parametrize("number", [2, 40])
@pytest.mark.parametrize("scale", [300.0, 2.0**40])
def test_half_widths_of_all_numbers_are_right_for_wide_noise(number, scale):
    exact = NormBallNoise(order=math.inf, scale=scale, dimension=number).simultaneous_half_width(0.95)
    found = MinkowskiNoise(scale=scale, groups=(1,) * number, kind="signed").simultaneous_half_width(0.95)
    assert exact - 1.0 <= found <= exact * 1.0005 + 1.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("groups", "scale"), [((1,), 0.05), ((3, 1), 0.3), ((99,) * 10, 1.0), ((2,) * 5, 2.0**40), ((5, 0, 7), 2.0**20)]
)
@pytest.mark.parametrize("rows", [3, 200])
def test_complete_groups_agree_on_their_total(kind, groups, scale, rows):
    if kind == "signed":
        groups = tuple(n for n in groups if n)
    complete = None if kind == "signed" else (True,) * len(groups)
    noise = MinkowskiNoise(kind=kind, groups=groups, scale=scale, complete=complete)
    draws = noise.sample(rows)
    assert draws.shape == (rows, sum(noise.cells))
    assert draws.dtype == np.int64
    if complete:
        totals = np.add.reduceat(draws, np.cumsum((0, *noise.cells[:-1])), axis=1)
        assert np.all(totals == totals[:, :1])
        assert kind == "added" or not totals.any()
    assert np.abs(draws).max() < 60.0 * max(*noise.std, scale, 0.2)


def test_scales_that_64_bits_cannot_hold_are_refused():
    for scale, groups in ((2.0**55, (1,)), (1e300, (1,)), (2.0**50, (99,) * 10)):
        with pytest.raises(ArgumentError, match="too wide for 64-bit draws"):
            MinkowskiNoise(scale=scale, groups=groups).sample(1)
    assert not MinkowskiNoise(scale=5e-324, groups=(3, 2)).sample(100).any()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"groups": ()}, "groups = "),
        ({"groups": (1.5,)}, "groups = 1.5"),
        ({"groups": (0,)}, "only a complete group"),
        ({"groups": (1,), "kind": "other"}, "kind = "),
        ({"groups": (1,), "complete": (True, False)}, "complete = "),
        ({"groups": (1,), "complete": (1,)}, "complete = 1"),
        ({"groups": (1,), "kind": "signed", "complete": (True,)}, "complete = "),
        ({"groups": (0,), "kind": "replaced", "complete": (True,)}, "must have a free coordinate"),
        ({"groups": (1,), "scale": 0.0}, "scale = 0.0"),
    ],
)
def test_arguments_that_make_no_sense_are_refused_by_name(given, message):
    with pytest.raises(ArgumentError, match=message):
        MinkowskiNoise(**{"scale": 1.0, **given})


@pytest.mark.parametrize("size", [-1, 2.5, (2, 3), None])
def test_a_number_of_rows_that_is_none_is_refused(size):
    with pytest.raises(ArgumentError, match="size = "):
        MinkowskiNoise(scale=1.0, groups=(1,)).sample(size)


@pytest.mark.parametrize("points", [[1, 2, 3], [[0.5, 1.0]], 3])
def test_points_of_another_shape_are_refused(points):
    with pytest.raises(ArgumentError, match="points = "):
        MinkowskiNoise(scale=1.0, groups=(2,)).pmf(points)


@pytest.mark.parametrize("level", [-0.1, 1.0, "0.5"])
def test_levels_that_are_none_are_refused(level):
    with pytest.raises(ArgumentError, match="level = "):
        MinkowskiNoise(scale=1.0, groups=(2,)).half_widths(level)


def test_a_seed_gives_the_same_draws_and_noise_can_be_sent_to_other_processes():
    noise = MinkowskiNoise(scale=7.0, groups=(1, 4), complete=(True, False))
    draws = noise.sample(50, rng=SeededSource(seed=5))
    assert np.array_equal(draws, pickle.loads(pickle.dumps(noise)).sample(50, rng=SeededSource(seed=5)))
    assert not np.array_equal(draws, noise.sample(50, rng=SeededSource(seed=6)))
    assert noise.sample(0).shape == (0, 6)


def test_the_noise_of_a_law_is_that_of_its_norm():
    law = NoiseLaw(
        order=1, scale=3.0, support="integer", norm=Norm(kind="added", groups=(1, 2), complete=(True, False))
    )
    assert MinkowskiNoise.of(law) == MinkowskiNoise(scale=3.0, groups=(1, 2), complete=(True, False))
    with pytest.raises(ArgumentError, match="must have a norm on groups"):
        MinkowskiNoise.of(NoiseLaw(order=1, scale=3.0, support="integer"))
