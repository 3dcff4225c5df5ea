"""Noise on whole vectors: its law, its losses by brute force over neighbours, and its intervals, as released."""

import itertools
import math

import numpy as np
import pytest
from tests.conformance.kinds import VECTORS, each
from tests.conformance.test_shapes import true_values
from tests.proofs.test_minkowski import norm_by_search

import ggdp
from ggdp.noise import SeededSource
from ggdp.releases import drop

WHOLE = [kind for kind in VECTORS if not kind.real]
REAL = [kind for kind in VECTORS if kind.real]
FAR = 32


def norms(norm, points):
    """The norm of each row of released cells by its definition, in floats; infinite where there is none."""
    if norm.kind == "lp":
        shares = np.abs(points) / np.array(norm.sizes or 1.0)
        return shares.max(axis=1) if norm.order == math.inf else (shares**norm.order).sum(axis=1) ** (1 / norm.order)
    complete = norm.complete or (False,) * len(norm.groups)
    parts = np.split(points, np.cumsum(norm.cells)[:-1], axis=1)
    if norm.kind == "signed":
        return np.max([np.abs(part).sum(axis=1) for part in parts], axis=0).astype(float)
    free = [part[:, :n] for part, n in zip(parts, norm.groups, strict=True)]
    a = np.max([np.maximum(part, 0).sum(axis=1) for part in free], axis=0)
    c = np.max([np.maximum(-part, 0).sum(axis=1) for part in free], axis=0)
    totals = np.array([part.sum(axis=1) for part, one in zip(parts, complete, strict=True) if one])
    if norm.kind == "replaced":
        return np.where((totals == 0).all(axis=0), np.maximum(a, c), math.inf)
    if not totals.size:
        return (a + c).astype(float)
    # a - c is the total: one of the two is as small as it can be.
    found = np.maximum(a, c + totals[0]) + np.maximum(c, a - totals[0])
    return np.where((totals == totals[0]).all(axis=0), found, math.inf)


def lattice(norm, far):
    """All released cells in a cube of free coordinates and totals."""
    complete = norm.complete or (False,) * len(norm.groups)
    free = int(sum(norm.groups)) + (norm.kind == "added" and any(complete))
    axis = np.arange(-far, far + 1)
    places = np.stack(np.meshgrid(*[axis] * free, indexing="ij"), axis=-1).reshape(-1, free)
    total = places[:, -1] if norm.kind == "added" and any(complete) else np.zeros(len(places), dtype=int)
    columns, at = [], 0
    for n, one in zip(norm.groups, complete, strict=True):
        columns.append(places[:, at : at + n])
        if one:
            columns.append((total - places[:, at : at + n].sum(axis=1))[:, None])
        at += n
    return np.concatenate(columns, axis=1)


@pytest.mark.parametrize("kind", each([kind for kind in WHOLE if "signed" not in kind.name]))
def test_norms_in_floats_are_those_of_the_definition(kind):
    norm = kind.mechanism.record.law.norm
    points = np.array(list(itertools.product(range(-2, 3), repeat=sum(norm.cells))))
    complete = norm.complete or (False,) * len(norm.groups)
    exact = [norm_by_search(norm.kind, norm.cells, complete, tuple(x)) for x in points.tolist()]
    assert norms(norm, points).tolist() == [math.inf if one is None else one for one in exact]


@pytest.mark.parametrize("kind", each(VECTORS))
def test_no_neighbours_lose_more_than_is_promised_and_some_lose_all_of_it(kind):
    mechanism = kind.mechanism
    norm, scale, epsilon = mechanism.record.law.norm, mechanism.scale, mechanism.guarantee.epsilon
    unit = 1 if mechanism.step is None else mechanism.step
    worst = 0.0
    for first, second in kind.neighbours:
        values, others = np.array(first), np.array(second)
        noise = lattice(norm, 3) if mechanism.step is None else np.mgrid[-9:10, -9:10].reshape(2, -1).T * unit
        outputs = np.concatenate([values + noise, others + noise])
        one, other = norms(norm, outputs - values), norms(norm, outputs - others)
        assert (np.isfinite(one) == np.isfinite(other)).all()
        possible = np.isfinite(one)
        worst = max(worst, float(np.abs(one - other)[possible].max()) / scale)
    # No move of the norm in three coordinates is a whole number of steps.
    assert worst <= epsilon * (1 + 1e-12)
    assert worst >= epsilon * (1 - 1e-12)


@pytest.mark.parametrize("kind", each(VECTORS))
def test_a_release_is_the_true_values_with_a_draw_of_the_certified_law(kind):
    mechanism, values = kind.mechanism, true_values(kind, kind.coordinates)
    released = mechanism.release(values, rng=SeededSource(seed=5)).values
    noise, law = mechanism.noise.vectors, mechanism.certificate.law
    assert law == mechanism.record.law.law
    assert noise.scale == law.scale == mechanism.scale
    if kind.real:
        assert (noise.order, noise.dimension, noise.sizes) == (law.norm.order, *law.norm.groups, law.norm.sizes)
        assert released.tolist() == noise.around(values, mechanism.grid, SeededSource(seed=5)).tolist()
        return
    assert (noise.kind, noise.groups, noise.complete) == (law.norm.kind, law.norm.groups, law.norm.complete)
    drawn = noise.sample(1, rng=SeededSource(seed=5))[0]
    assert (released - values == drawn).all()
    assert np.isfinite(norms(law.norm, drawn[None, :])).all()


@pytest.mark.parametrize("kind", each(WHOLE))
def test_intervals_cover_at_their_level_and_narrower_ones_do_not(kind):
    mechanism = kind.mechanism
    law, values = mechanism.record.law, true_values(kind, kind.coordinates)
    noise = lattice(law.norm, FAR)
    masses = np.exp(-norms(law.norm, noise) / mechanism.scale)
    masses /= masses.sum()
    for level in (0.5, 0.9, 0.95):
        release = mechanism.release(values)
        lower, upper = release.interval(level)
        half = release.values - lower
        assert (upper - release.values == half).all()
        for column, h in zip(noise.T, half.tolist(), strict=True):
            assert masses[np.abs(column) <= h].sum() >= level - 1e-6
            assert masses[np.abs(column) < h].sum() < level + 1e-6
        together = release.interval(level, simultaneous=True)
        wide = release.values - together.lower
        assert (np.diff(wide) == 0).all()
        assert masses[(np.abs(noise) <= wide).all(axis=1)].sum() >= level - 1e-6
        assert (wide >= half).all()
        # Whichever cell is chosen by its noise, the intervals of all hold.
        chosen = drop(release, [0]).interval(level)
        all_cover = release.values[1:] - chosen.lower
        kept = np.abs(noise[:, 1:])
        assert masses[(kept <= all_cover).all(axis=1)].sum() >= level - 1e-6


@pytest.mark.parametrize("kind", each(REAL))
def test_intervals_of_real_values_are_half_widths_of_the_noise_and_half_a_step(kind):
    mechanism = kind.mechanism
    release = mechanism.release(true_values(kind, 2))
    noise, sizes = mechanism.noise.vectors, np.array(mechanism.record.law.norm.sizes or (1.0, 1.0))
    for simultaneous, half in ((False, noise.half_width(0.9)), (True, noise.simultaneous_half_width(0.9))):
        lower, upper = release.interval(0.9, simultaneous=simultaneous)
        exact = half * sizes + mechanism.step / 2
        assert (upper - release.values >= exact).all()
        assert (release.values - lower >= exact).all()
        assert upper - lower == pytest.approx(2 * exact, rel=1e-12)
    dropped = drop(release, [0], chosen="publicly")
    assert dropped.interval().upper.tolist() == release.interval().upper[1:].tolist()


def test_less_noise_than_independent_laplace_noise_for_the_same_promise():
    for query in (
        ggdp.Sensitivity.groups([2] * 10, complete=[True] * 10),
        ggdp.Sensitivity.groups([2] * 10),
        ggdp.Sensitivity.groups([2] * 10, neighbours="replace-one"),
        ggdp.Sensitivity.box([1] * 10),
    ):
        independent = ggdp.calibrate(ggdp.PureDP(1.0), query, order=1, support="integer").std
        assert ggdp.MinkowskiMechanism(1.0, query).std < 0.5 * independent
