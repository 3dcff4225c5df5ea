"""Quantiles by halves at 2^20 positions of a step: errors, laws and losses by arithmetic that shares no code with them.

Rows of a step lie evenly on its 2^20 positions. Everything here is counted by integers in units of 2^-20 rows.
"""

from fractions import Fraction

import numpy as np
import pytest

from ggdp.mechanisms import quantiles
from ggdp.mechanisms.quantiles import CellValues, QuantilePlan

S = 1 << 20
QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
UNEVEN = (Fraction(1, 5), Fraction(1, 2), Fraction(9, 10))
EPSILON = 4.0
# What a level of two has: half of epsilon is for intervals, and half of the rest is each level's.
LEVEL = Fraction(1)
# Rows of each of four steps.
DATA = {
    "empty": (0, 0, 0, 0),
    "one": (0, 0, 1, 0),
    "all equal": (0, 1000, 0, 0),
    "at both ends": (7, 0, 0, 7),
    "ties": (3, 500, 1, 496),
    "many": (10**9, 2 * 10**9, 10**9, 1),
}


@pytest.fixture
def by_halves(monkeypatch):
    monkeypatch.setattr(QuantilePlan, "_errors", lambda _, roots, __: [len(roots)])


def plan_of(fractions, relation="add-remove", steps=3):
    plan = QuantilePlan(fractions=fractions, steps=steps, epsilon=EPSILON, neighbours=relation)
    assert (plan.levels, plan._positions) == (2, S)
    return plan


def cell(rows):
    """The values of one cell, from a mapping of steps to rows."""
    found = sorted((step, count) for step, count in rows.items() if count)
    step, count = np.array(found, dtype=np.int64).reshape(-1, 2).T.copy()
    return CellValues.of(np.zeros(step.size, np.int64), step, count, cells=1)


def rows_before(rows, low, position):
    """Rows from position `low` to before another one, in units of 1/S row; Python's own integers."""
    return sum(count * max(0, min(position, (step + 1) * S) - max(low, step * S)) for step, count in rows.items())


def asked_of(plan, rows, at, monkeypatch):
    """The arguments of the three draws of a plan whose first one is a position."""
    calls, steps = [], quantiles.draw_steps

    def first(*arguments):
        calls.append(arguments)
        return np.array([at])

    def later(*arguments):
        calls.append(arguments)
        return steps(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(QuantilePlan, "_interval_ends", lambda _plan, _cells, found, *_: (found, found))
        patched.setattr(quantiles, "draw_positions", first)
        patched.setattr(quantiles, "draw_steps", later)
        plan.draw(cell(rows))
    return calls


def offered(draw, arguments, monkeypatch):
    """What a draw chooses from: the runs, and the candidate of a run and a place in it."""
    kept = {}

    def candidate(run, place):
        def script(runs, _source):
            kept["runs"] = runs
            return np.array([run]), np.array([place])

        with monkeypatch.context() as patched:
            patched.setattr(quantiles, "select_in_cells", script)
            return int(draw(*arguments)[0])

    candidate(0, 0)
    return kept["runs"], candidate


def moved(q, relation, *, first):
    """What one row moves an error by, at most, as the claims have it."""
    larger = max(q, 1 - q)
    return larger if relation == "add-remove" else (Fraction(1) if first else 2 * larger)


def assert_rate(runs, q, relation, *, first):
    """Check that a candidate's weight is exp(-epsilon x / (2 c)) for an error of x rows."""
    assert runs.rate / runs.divisor * (q.denominator * S) == LEVEL / (2 * moved(q, relation, first=first))


@pytest.mark.usefixtures("by_halves")
@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize(
    ("fractions", "relation"),
    [(QUARTILES, "add-remove"), pytest.param(UNEVEN, "replace-one", marks=pytest.mark.exhaustive)],
)
def test_each_of_four_million_positions_has_the_error_of_its_definition(name, fractions, relation, monkeypatch):
    rows, q = dict(enumerate(DATA[name])), fractions[1]
    (arguments, *_) = asked_of(plan_of(fractions, relation), rows, 0, monkeypatch)
    runs, candidate = offered(quantiles.draw_positions, arguments, monkeypatch)
    before = np.concatenate(([0], np.cumsum(np.repeat(np.array(DATA[name]), S))))
    expected = np.abs(q.denominator * before[:-1] - q.numerator * before[-1])
    found = np.full(4 * S, -1)
    for run in np.flatnonzero(runs.sizes).tolist():
        size = int(runs.sizes[run])
        first, last = candidate(run, 0), candidate(run, size - 1)
        places = np.arange(size)
        at = first + places * (1 if last >= first else -1)
        assert at[-1] == last
        assert (found[at] == -1).all()
        found[at] = int(runs.errors[run]) + places * int(runs.growth[run])
    assert np.array_equal(found, expected)
    assert_rate(runs, q, relation, first=True)


@pytest.mark.usefixtures("by_halves")
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("last", [3, 2**31])
def test_steps_of_halves_that_were_cut_at_any_position_have_the_errors_of_their_definition(last, relation, monkeypatch):
    plan, generator = plan_of(UNEVEN, relation, last), np.random.default_rng(last)
    inner = (UNEVEN[0] / UNEVEN[1], (UNEVEN[2] - UNEVEN[1]) / (1 - UNEVEN[1]))
    end = (last + 1) * S
    for _ in range(12):
        steps = [0, last, *generator.integers(0, last + 1, size=4).tolist()]
        rows = {step: int(generator.choice([1, 2, 1000, 10**9])) for step in steps[: generator.integers(0, 7)]}
        near = [step * S + shift for step in rows for shift in (-1, 0, 1, S - 1, S)]
        cuts = [0, 1, end - 1, *near, *generator.integers(0, end, size=3).tolist()]
        for cut in {cut for cut in cuts if 0 <= cut < end}:
            halves = zip(inner, ((0, cut), (cut, end)), asked_of(plan, rows, cut, monkeypatch)[1:], strict=True)
            for q, (low, high), arguments in halves:
                runs, candidate = offered(quantiles.draw_steps, arguments, monkeypatch)
                total, size = rows_before(rows, low, high), 0
                for run in np.flatnonzero(runs.sizes).tolist():
                    size += int(runs.sizes[run])
                    assert runs.growth[run] == 0
                    for place in {0, int(runs.sizes[run]) // 2, int(runs.sizes[run]) - 1}:
                        step = candidate(run, place)
                        below = rows_before(rows, low, max(step * S, low))
                        upto = rows_before(rows, low, min((step + 1) * S, high))
                        missed = q.denominator * below - q.numerator * total, q.numerator * total - q.denominator * upto
                        assert runs.errors[run] == max(0, *missed)
                assert size == max((high - 1) // S, low // S) - low // S + 1
                assert_rate(runs, q, relation, first=False)


def logarithms(errors, rate):
    """The logarithm of the probability of each candidate in the last axis; errors that are infinite are of none."""
    exponents = -rate * errors
    most = exponents.max(axis=-1, keepdims=True)
    return exponents - most - np.log(np.exp(exponents - most).sum(axis=-1, keepdims=True))


def halves(before, low, high, q, rate, steps):
    """Logarithms of the law of whole steps for a quantile of the positions from low to high - 1, arrays of cuts."""
    total = (before[high] - before[low])[:, None]
    first, last = (np.clip(np.arange(steps + 1) * S + shift, low[:, None], high[:, None]) for shift in (0, S))
    below, upto = before[first] - before[low][:, None], before[last] - before[low][:, None]
    errors = np.maximum(np.maximum(below - q * total, q * total - upto), 0.0)
    # Where nothing is left of a part, its end is the only candidate.
    known = np.maximum(last - first, 0) > 0
    known |= (low == high)[:, None] & (np.arange(steps + 1) == (low // S)[:, None])
    return logarithms(np.where(known, errors, np.inf), rate), known


def loss_by_halves(one, other, fractions, relation):
    """The largest loss of three quantiles by halves, over every position that the first one may be at."""
    steps, ends = len(one) - 1, []
    inner = (fractions[0] / fractions[1], (fractions[2] - fractions[1]) / (1 - fractions[1]))
    first, *rates = (
        float(LEVEL / (2 * moved(q, relation, first=place == 0))) for place, q in enumerate((fractions[1], *inner))
    )
    befores = [np.concatenate(([0], np.cumsum(np.repeat(np.array(rows), S)))) / S for rows in (one, other)]
    laws = [logarithms(np.abs(before[:-1] - float(fractions[1]) * before[-1]), first) for before in befores]
    for start in range(0, (steps + 1) * S, S // 4):
        cut = np.arange(start, start + S // 4)
        loss, least = (laws[0] - laws[1])[cut], (laws[0] - laws[1])[cut]
        for q, rate, (low, high) in zip(
            inner, rates, ((0 * cut, cut), (cut, np.full_like(cut, (steps + 1) * S))), strict=True
        ):
            (here, known), (there, _) = (halves(before, low, high, float(q), rate, steps) for before in befores)
            ratio = np.subtract(here, there, out=np.zeros_like(here), where=known)
            loss = loss + np.where(known, ratio, -np.inf).max(axis=1)
            least = least + np.where(known, ratio, np.inf).min(axis=1)
        ends += [loss.max(), -least.min()]
    return max(ends)


SHARE = 2 * float(LEVEL)
CHANGED = ((21, 0, 20, 2), (20, 0, 20, 3))
NEIGHBOURS = [
    (*CHANGED, "replace-one"),
    *(
        pytest.param(*pair, marks=pytest.mark.exhaustive)
        for pair in [
            ((2, 20, 20), (2, 20, 21), "add-remove"),
            ((0, 0), (1, 0), "add-remove"),
            ((0, 5), (1, 4), "replace-one"),
            ((2, 0, 0, 20, 0, 0, 0, 0, 20), (2, 0, 0, 20, 0, 0, 0, 0, 21), "add-remove"),
        ]
    ),
]


@pytest.mark.parametrize("fractions", [QUARTILES, pytest.param(UNEVEN, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize(("one", "other", "relation"), NEIGHBOURS)
def test_neighbours_lose_no_more_than_their_share_over_all_positions(one, other, relation, fractions):
    assert 0 < loss_by_halves(one, other, fractions, relation) <= SHARE * (1 + 1e-9)


@pytest.fixture
def few_positions(monkeypatch):
    """64 positions of a step in the arithmetic of this file."""
    monkeypatch.setitem(globals(), "S", 64)


@pytest.mark.usefixtures("few_positions")
def test_a_row_that_changes_would_lose_more_by_the_weights_for_rows_that_are_added():
    assert loss_by_halves(*CHANGED, QUARTILES, "add-remove") > 1.2 * SHARE


@pytest.mark.parametrize("number", [100, pytest.param(3000, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.usefixtures("few_positions")
def test_random_neighbours_lose_no_more_than_their_share_at_64_positions(relation, number, record_property):
    generator, losses = np.random.default_rng(number), []
    for _ in range(number):
        rows = np.zeros(generator.integers(2, 13), dtype=np.int64)
        for place in generator.integers(rows.size, size=generator.integers(0, 4)):
            rows[place] += generator.choice([1, 2, 5, 20])
        new, old = generator.permutation(rows.size)[:2]
        rows[old] += 1
        other = rows.copy()
        other[new] += 1
        other[old] -= relation == "replace-one"
        fractions = [QUARTILES, UNEVEN][generator.integers(2)]
        losses.append(loss_by_halves(tuple(rows), tuple(other), fractions, relation))
    assert max(losses) <= SHARE * (1 + 1e-9)
    record_property("counts", f"{number} neighbours ({relation}), largest loss {max(losses):.4f} of {SHARE}")
