"""Expansion and covers on data whose constants are known, and against loops of their own."""

import itertools
import math

import numpy as np
import pytest

import fastmks
from fastmks import kernels
from fastmks.analysis import dimension as estimates
from fastmks.kernels.objects import read_objects
from support.functions import line, normal


def grid(side):
    return np.array(list(itertools.product(range(side), repeat=2)), dtype=float)


def sample_of(objects, kernel="linear"):
    checked = kernels.as_kernel(kernel)
    read = read_objects(objects, checked)
    every = np.arange(len(read), dtype=np.int64)
    return estimates.Sample(checked, read, every, "objects", 1)


# --- the expansion constant ---------------------------------------------------------------------


def expansion_by_loops(distances):
    """Definition 2.1 for one object: each radius at which either ball may change, and between."""
    edges = sorted({d for d in distances if d > 0} | {d / 2 for d in distances if d > 0})
    radii = edges + [(a + b) / 2 for a, b in itertools.pairwise(edges)]
    ratios = [1.0]
    for radius in radii:
        outer = sum(1 for d in distances if d <= 2 * radius)
        ratios.append(outer / sum(1 for d in distances if d <= radius))
    return max(ratios)


@pytest.mark.parametrize("kernel", ["linear", "gaussian", kernels.Polynomial(degree=3, offset=1.0)])
@pytest.mark.parametrize("d", [1, 2, 7])
def test_expansion_equals_two_loops(kernel, d):
    objects = normal(40, d, seed=d)
    found = fastmks.hardness(objects, kernel)
    values = kernels.as_kernel(kernel).matrix(objects).tolist()
    for at, ratio in zip(found.positions, found.expansion_samples, strict=True):
        row = values[at]
        squares = [row[at] + values[j][j] - 2 * row[j] for j in range(len(objects))]
        assert ratio == expansion_by_loops([math.sqrt(max(0.0, s)) for s in squares])
    assert found.expansion_constant == max(2.0, *found.expansion_samples)


def test_expansion_of_points_on_a_line():
    found = fastmks.hardness(line(200))
    assert found.expansion_constant == 3.0  # {p} grows to {p-1, p, p+1}, wherever p is inside
    assert set(found.expansion_samples) == {2.0, 3.0}  # both ends see one side only


def test_expansion_of_a_grid():
    assert fastmks.hardness(grid(15)).expansion_constant == 9.0  # 3 x 3 around p from p alone


def test_expansion_of_equidistant_objects_is_their_number():
    found = fastmks.hardness(np.eye(30))
    assert found.expansion_samples.tolist() == [30.0] * 30


def test_expansion_grows_with_the_dimension():
    medians = [np.median(fastmks.hardness(normal(300, d)).expansion_samples) for d in (1, 2, 4, 8)]
    assert medians == sorted(set(medians))


def test_duplicates_count_as_often_as_they_come():
    found = fastmks.hardness([[0.0], [0.0], [1.0], [1.0], [1.0]])
    by_position = dict(zip(found.positions.tolist(), found.expansion_samples, strict=True))
    assert by_position == {0: 2.5, 1: 2.5, 2: 5 / 3, 3: 5 / 3, 4: 5 / 3}


def test_blocks_of_rows_make_no_difference(monkeypatch):
    sample = sample_of(normal(50, 3))
    whole = estimates.expansions(sample, None)
    monkeypatch.setattr(estimates, "_MOST_VALUES", 130)
    assert estimates.expansions(sample, None).tolist() == whole.tolist()


# --- the directional concentration --------------------------------------------------------------


def greedy_by_loops(inside):
    """The greedy cover in plain Python: sets, and ties to the first ball."""
    balls = [{i for i, row in enumerate(inside) if row[j]} for j in range(len(inside[0]))]
    left, chosen = set(range(len(inside))), []
    while left:
        best = max(range(len(balls)), key=lambda j: (len(balls[j] & left), -j))
        chosen.append(best)
        left -= balls[best]
    assert set().union(*(balls[j] for j in chosen)) == set(range(len(inside)))
    return len(chosen)


def fewest_balls(inside):
    """The fewest that cover, by trying all sets of balls."""
    for size in range(1, inside.shape[1] + 1):
        for chosen in itertools.combinations(range(inside.shape[1]), size):
            if inside[:, list(chosen)].any(axis=1).all():
                return size
    raise AssertionError("no cover")


@pytest.mark.parametrize("seed", range(20))
def test_cover_is_the_greedy_one_and_near_the_fewest(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(12, 2))
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    for radius in (0.2, 0.5, 0.9, 1.5, 9.0):
        rows = rng.random(12) < 0.8
        rows[0] = True
        inside = distances[rows] <= radius
        found = estimates.count_balls(inside)
        assert found == greedy_by_loops(inside.tolist())
        assert found / (1 + math.log(rows.sum())) <= fewest_balls(inside) <= found


def test_a_direction_is_covered_as_the_definition_says():
    """Each interval by hand: which objects it holds, and the greedy cover of those."""
    objects = normal(30, 3)
    sample = sample_of(objects)
    _, nearest = sample.squares_from(sample)
    directions = sample.part(slice(5))
    found = estimates.most_balls(sample, directions, np.random.default_rng(7), nearest)
    rng, expected = np.random.default_rng(7), []
    distances = np.linalg.norm(objects[:, None] - objects, axis=2)
    for u in objects[:5] / np.linalg.norm(objects[:5], axis=1, keepdims=True):
        for p in rng.choice(30, size=4, replace=False):
            apart = np.abs(objects @ u - objects[p] @ u)
            widths = [sorted(apart)[math.ceil(share * 30) - 1] for share in estimates._SHARES]
            covers = [(distances[apart <= w + 1e-12] <= w + 1e-12).tolist() for w in widths]
            expected.append(max(map(greedy_by_loops, covers)))
    assert found == expected


def test_points_on_a_line_need_one_ball():
    """Along a line an interval is a ball."""
    assert fastmks.hardness(line(200)).directional_concentration == 1.0


def test_a_strip_of_a_grid_needs_a_row_of_balls():
    """Strips of width 2r across side x side points need about side / 2r balls, and r is >= 1/2."""
    side = 20
    found = fastmks.hardness(grid(side)).directional_concentration
    assert side / 2 < found < 8 * side


def test_equidistant_objects_need_a_ball_each():
    assert fastmks.hardness(np.eye(30)).directional_concentration == 30.0


def test_concentration_grows_with_the_dimension():
    found = [fastmks.hardness(normal(300, d)).directional_concentration for d in (1, 2, 4, 8)]
    assert found == sorted(set(found))


def test_queries_give_directions():
    """Objects in a plane look spread along it, and all in one place along a query across it."""
    flat = np.column_stack([normal(100, 2), np.full(100, 1.0)])
    alone = fastmks.hardness(flat)
    asked = fastmks.hardness(flat, queries=[[0.0, 0.0, 2.0]])
    assert len(asked.directional_samples) == len(alone.directional_samples) + 4
    assert asked.directional_samples[-4:].tolist() == [100.0] * 4
    assert asked.directional_samples[:-4].tolist() == alone.directional_samples.tolist()


# --- numbers and rows -----------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [2.0**-500, 2.0**-300, 2.0**300, 2.0**506])
def test_scale_makes_no_difference(factor):
    """Products that overflow when added, or that are next to underflow, change nothing."""
    objects = np.round(normal(40, 3) * 8)
    found, expected = fastmks.hardness(objects * factor), fastmks.hardness(objects)
    assert found.expansion_samples.tolist() == expected.expansion_samples.tolist()
    assert found.directional_samples.tolist() == expected.directional_samples.tolist()


def test_distances_lost_in_rounding_are_none():
    """Two true clusters far from the origin, each blurred below what rounding leaves of d."""
    rng = np.random.default_rng(0)
    clusters = np.repeat([[1000.0, 1000.0], [1000.0, 1001.0]], 20, axis=0)
    found = fastmks.hardness(clusters + 1e-9 * rng.normal(size=clusters.shape))
    assert found.expansion_samples.tolist() == [2.0] * 40
    assert found.directional_concentration == 2.0
