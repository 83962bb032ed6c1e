"""A ShardedIndex answers as one index over all the data would, bit for bit."""

import dask
import dask.array
import dask.bag
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastmks import Index, InvalidArgument, ShardError, kernels
from fastmks.dask import ShardedIndex
from support.comparing import assert_identical
from support.kinds import KINDS
from support.sharding import cut

# The values of a matrix are of all objects, and pointers to functions of one process: see below.
SEPARATE = [
    kind
    for kind in KINDS
    if not any(name in repr(kind.kernel) for name in ("Precomputed", "LowLevelCallable"))
]
rng = np.random.default_rng(0)


def one_and_sharded(client, objects, kernel="linear", n_parts=4, **settings):
    return (
        Index(objects, kernel, **settings),
        ShardedIndex.build(cut(objects, n_parts), kernel, client, **settings),
    )


@pytest.mark.parametrize("kind", SEPARATE, ids=str)
@pytest.mark.parametrize("n_parts", [1, 3])
def test_any_kind_of_object(client, kind, n_parts):
    one, sharded = one_and_sharded(client, kind.objects, kind.kernel, n_parts)
    n = len(one)
    assert len(sharded) == n
    for k in sorted({1, min(3, n), n}):
        wanted = one.search(kind.queries, k, algorithm="scan")
        assert_identical(sharded.search(kind.queries, k), wanted)
        assert_identical(sharded.search(kind.queries, k, rounds=2), wanted)
    threshold = float(np.median(one.search(kind.queries, n).values))
    assert_identical(
        sharded.search_above(kind.queries, threshold), one.search_above(kind.queries, threshold)
    )
    some = one.ids[::2]
    assert_identical(
        sharded.search(kind.queries, 1, only=some), one.search(kind.queries, 1, only=some)
    )


def test_more_shards_than_are_merged_at_once(client):
    objects = rng.integers(-2, 3, size=(70, 3)).astype(float)
    queries = objects[::5]
    sharded = ShardedIndex.build(dask.array.from_array(objects, chunks=(1, 3)), "linear", client)
    one = Index(objects)
    for rounds in (1, 2):
        assert_identical(sharded.search(queries, 9, rounds=rounds), one.search(queries, 9))
    assert_identical(sharded.search_above(queries, 1.0), one.search_above(queries, 1.0))


def adversarial(n=60):
    """Duplicates, zeros, ties, tiny and huge rows, near-duplicates far from the origin."""
    base = rng.integers(-2, 3, size=(n // 2, 3)).astype(float)
    far = 1e6 + rng.integers(0, 2, size=(n // 4, 3)) * 1e-9
    odd = np.concatenate([np.zeros((2, 3)), 1e-200 * base[:5], 1e150 * base[5:10]])
    return rng.permutation(np.concatenate([base, base[::3], far, odd]))


@pytest.mark.parametrize("algorithm", ["auto", "scan", "tree", "dual-tree", "filter"])
@pytest.mark.parametrize("rounds", [1, 2])
def test_any_engine_on_adversarial_vectors(client, algorithm, rounds):
    objects = adversarial()
    queries = np.concatenate([objects[::7], -objects[::11], np.zeros((1, 3))])
    one, sharded = one_and_sharded(client, objects, n_parts=5, algorithm=algorithm)
    for k in (1, 2, 7, len(objects)):
        assert_identical(sharded.search(queries, k, rounds=rounds), one.search(queries, k))


@settings(max_examples=25)
@given(data=st.data())
def test_a_life_of_changes(client, data):
    """Adds and removes, mirrored by one index: the same answers at every step."""
    values = st.integers(-2, 2)
    rows = st.lists(st.tuples(values, values), min_size=1, max_size=12)
    objects = np.array(data.draw(rows), dtype=float)
    one, sharded = one_and_sharded(client, objects, n_parts=data.draw(st.integers(1, 4)))
    for _ in range(data.draw(st.integers(1, 5))):
        if len(one) and data.draw(st.booleans()):
            ids = data.draw(st.lists(st.sampled_from(one.ids.tolist()), min_size=1, unique=True))
            one.remove(ids)
            sharded.remove(ids)
        else:
            more = np.array(data.draw(rows), dtype=float)
            np.testing.assert_array_equal(sharded.add(more), one.add(more))
        assert len(sharded) == len(one)
        if len(one):
            k = data.draw(st.integers(1, len(one)))
            queries = np.array([[1.0, 1.0], [-1.0, 0.0], [0.0, 0.0]])
            assert_identical(sharded.search(queries, k), one.search(queries, k))
            assert_identical(sharded.search(queries, k, rounds=2), one.search(queries, k))
            assert_identical(sharded.search_above(queries, 1.0), one.search_above(queries, 1.0))
            np.testing.assert_array_equal(sharded.get(one.ids[::-1]), one.get(one.ids[::-1]))


@pytest.fixture(scope="module")
def sharded(client):
    objects = TestApproximate.objects
    return ShardedIndex.build(cut(objects, 6), "linear", client, algorithm="tree")


class TestApproximate:
    """Promises hold for the merged answer."""

    objects = rng.normal(size=(900, 8)) * np.linspace(1, 0.2, 8)
    queries = rng.normal(size=(40, 8))
    exact = Index(objects).search(queries, k=5)

    @pytest.mark.parametrize("epsilon", [0.0, 0.3, 3.0])
    def test_epsilon(self, sharded, epsilon):
        hits = sharded.search(self.queries, k=5, epsilon=epsilon)
        assert (hits.values >= self.exact.values - epsilon).all()
        assert (self.exact.values[:, -1] <= hits.values[:, -1] + hits.gap).all()

    @pytest.mark.parametrize("relative", [0.0, 0.1, 0.9])
    def test_relative(self, sharded, relative):
        hits = sharded.search(self.queries, k=5, relative=relative)
        assert (hits.values >= self.exact.values - relative * np.abs(self.exact.values)).all()
        assert (self.exact.values[:, -1] <= hits.values[:, -1] + hits.gap).all()

    def test_epsilon_saves_evaluations(self, sharded):
        exact = sharded.search(self.queries, k=5).stats.kernel_evaluations
        assert sharded.search(self.queries, k=5, epsilon=3.0).stats.kernel_evaluations < exact

    def test_budget(self, sharded):
        hits = sharded.search(self.queries, k=5, budget=60)
        assert hits.stats.kernel_evaluations <= 60 * len(self.queries)
        assert (self.exact.values[:, -1] <= hits.values[:, -1] + hits.gap).all()
        assert (hits.gap > 0).any()
        assert (hits.indices == self.exact.indices)[hits.proven].all()
        assert not hits.proven.all()
        with pytest.raises(InvalidArgument, match="at least 30 evaluations.*6 shards.*budget=29"):
            sharded.search(self.queries, k=5, budget=29)

    def test_seconds(self, sharded):
        hits = sharded.search(self.queries, k=5, seconds=1e-6)
        assert (self.exact.values[:, -1] <= hits.values[:, -1] + hits.gap).all()
        assert_identical(sharded.search(self.queries, k=5, seconds=100.0), self.exact)

    def test_rank_fails_no_more_often_than_it_may(self, sharded):
        k, rank, delta, n_seeds = 2, 60, 0.2, 25
        all_values = np.sort(self.queries @ self.objects.T, axis=1)[:, ::-1]
        least = all_values[:, rank - 1] - 1e-9
        failures = 0
        for seed in range(n_seeds):
            hits = sharded.search(self.queries, k=k, rank=rank, delta=delta, seed=seed)
            assert hits.stats.kernel_evaluations < 0.4 * self.queries.shape[0] * 900
            failures += int((hits.values[:, -1] < least).sum())
        n_trials = n_seeds * len(self.queries)
        # Five standard deviations above the promise, were all failures independent.
        assert failures <= n_trials * delta + 5 * np.sqrt(n_trials * delta * (1 - delta))
        assert failures > 0  # else more is drawn than needed

    def test_rounds_are_for_exact_searches(self, sharded):
        with pytest.raises(InvalidArgument, match="rounds=2 is for exact searches"):
            sharded.search(self.queries, epsilon=0.1, rounds=2)
        with pytest.raises(InvalidArgument, match="rounds must be a whole number from 1 to 2"):
            sharded.search(self.queries, rounds=3)


class TestSources:
    objects = rng.normal(size=(50, 4)).astype(np.float32)
    queries = rng.normal(size=(7, 4))

    def check(self, client, collection, **settings):
        sharded = ShardedIndex.build(collection, "linear", client, **settings)
        wanted = Index(self.objects, ids=settings.get("wanted_ids")).search(self.queries, k=9)
        assert_identical(sharded.search(self.queries, k=9), wanted)
        return sharded

    def test_array(self, client):
        array = dask.array.from_array(self.objects, chunks=(13, 3))  # columns are put together
        sharded = self.check(client, array)
        names = [shard.name for shard in sharded.shards]
        assert names[1] == "shard 1 (rows 13 to 25)"
        assert all(shard.workers for shard in sharded.shards)
        assert sum(shard.n_objects for shard in sharded.shards) == 50

    def test_array_of_unknown_chunks(self, client):
        array = dask.array.from_array(self.objects, chunks=(13, 4))
        self.check(client, array[dask.array.ones(50, chunks=13, dtype=bool)])

    def test_bag(self, client):
        self.check(client, dask.bag.from_sequence(list(self.objects), npartitions=3))

    def test_bag_with_an_empty_partition(self, client):
        bag = dask.bag.from_sequence(range(60), npartitions=6).filter(lambda i: i < 50)
        self.check(client, bag.map(lambda i: self.objects[i]))

    def test_dataframe_and_series(self, client):
        import dask.dataframe
        import pandas

        frame = pandas.DataFrame(self.objects, columns=list("abcd"))
        self.check(client, dask.dataframe.from_pandas(frame, npartitions=3))
        words = pandas.Series(["banana", "bandana", "cabana", "panama"])
        series = dask.dataframe.from_pandas(words, npartitions=2)
        kernel = kernels.Spectrum(p=2)
        sharded = ShardedIndex.build(series, kernel, client)
        assert_identical(
            sharded.search("anna", k=4), Index(words.tolist(), kernel).search("anna", 4)
        )

    def test_a_column_of_ids(self, client):
        import dask.dataframe
        import pandas

        frame = pandas.DataFrame(self.objects, columns=list("abcd"))
        frame["name"] = [f"row {i}" for i in range(50)]
        collection = dask.dataframe.from_pandas(frame, npartitions=3)
        sharded = ShardedIndex.build(collection, "linear", client, ids="name")
        wanted = Index(self.objects, ids=frame["name"].tolist())
        assert_identical(sharded.search(self.queries, 5), wanted.search(self.queries, 5))
        assert "row 7" in sharded
        assert "row 70" not in sharded
        assert 7 not in sharded

    def test_futures_and_delayed(self, client):
        parts = [self.objects[:20], self.objects[20:]]
        self.check(client, client.scatter(parts))
        self.check(client, [dask.delayed(part) for part in parts])

    def test_sparse_blocks(self, client):
        scipy_sparse = pytest.importorskip("scipy.sparse")
        dense = self.objects * (self.objects > 0.5)
        whole = scipy_sparse.csr_matrix(dense)
        sharded = ShardedIndex.build(
            [dask.delayed(whole[:20]), dask.delayed(whole[20:])], "linear", client
        )
        queries = scipy_sparse.csr_matrix(self.queries)
        assert_identical(sharded.search(queries, 9), Index(whole).search(queries, 9))

    def test_files(self, client, tmp_path):
        paths = [tmp_path / "a.npy", tmp_path / "b.npy"]
        np.save(paths[0], self.objects[:20])
        np.save(paths[1], self.objects[20:])
        self.check(client, paths)
        self.check(client, [f"file://{path}" for path in paths])

    def test_parquet(self, client, tmp_path):
        import pandas

        frame = pandas.DataFrame(self.objects, columns=list("abcd"))
        frame[:30].to_parquet(tmp_path / "a.parquet")
        frame[30:].to_parquet(tmp_path / "b.parquet")
        self.check(client, [tmp_path / "a.parquet", tmp_path / "b.parquet"])

    def test_fasta(self, client, tmp_path):
        (tmp_path / "a.fasta").write_text(">P1\nMKVLAA\n>P2\nMLV\n")
        (tmp_path / "b.fa").write_text(">Q1 a third\nMKVL\n")
        kernel = kernels.Spectrum(p=2)
        sharded = ShardedIndex.build([tmp_path / "a.fasta", tmp_path / "b.fa"], kernel, client)
        one = Index(["MKVLAA", "MLV", "MKVL"], kernel, ids=["P1", "P2", "Q1"])
        assert_identical(sharded.search("MKV", 3), one.search("MKV", 3))

    @pytest.mark.parametrize("form", ["list", "array", "dask"])
    def test_ids_of_all(self, client, form):
        array = dask.array.from_array(self.objects, chunks=(20, 4))
        numbers = np.arange(50) * 3 - 20
        ids = {
            "list": numbers.tolist(),
            "array": numbers,
            "dask": dask.array.from_array(numbers, chunks=20),
        }[form]
        sharded = ShardedIndex.build(array, "linear", client, ids=ids)
        wanted = Index(self.objects, ids=numbers)
        assert_identical(sharded.search(self.queries, 9), wanted.search(self.queries, 9))
        assert sharded.add(self.objects[:1]).tolist() == [128]


class TestChanges:
    def test_added_collections_become_shards(self, client):
        one = Index(np.ones((4, 2)))
        sharded = ShardedIndex.build(dask.array.ones((4, 2), chunks=2), "linear", client)
        more = rng.normal(size=(6, 2))
        assert sharded.add(dask.array.from_array(more, chunks=(3, 2))) is None
        one.add(more)
        assert [shard.n_objects for shard in sharded.shards] == [2, 2, 3, 3]
        assert_identical(sharded.search(more, 10), one.search(more, 10))
        with pytest.raises(InvalidArgument, match="ids must differ; 3 is given in shard 1"):
            sharded.add(dask.array.ones((2, 2), chunks=2), ids=[3, 77])

    def test_all_objects_may_leave_and_come_back(self, client):
        sharded = ShardedIndex.build(dask.array.ones((4, 2), chunks=2), "linear", client)
        sharded.remove([0, 1, 2, 3])
        assert len(sharded) == 0
        assert sharded.search_above(np.ones((2, 2)), 0.0).offsets.tolist() == [0, 0, 0]
        with pytest.raises(InvalidArgument, match="k must be between 1 and the 0"):
            sharded.search(np.ones((1, 2)))
        assert sharded.add([[2.0, 3.0]]).tolist() == [4]
        assert sharded.search([1.0, 1.0]).values.tolist() == [[5.0]]

    def test_an_emptied_index_is_saved_and_loaded(self, client, tmp_path):
        sharded = ShardedIndex.build(dask.array.ones((4, 2), chunks=2), "linear", client)
        sharded.remove([0, 1, 2, 3])
        sharded.save(tmp_path)
        loaded = ShardedIndex.load(tmp_path, client)
        assert len(loaded) == 0
        assert loaded.add([[2.0, 3.0]]).tolist() == [4]

    @pytest.mark.parametrize("ids", [None, [9, 3, 4, 100, 7, 6, 50], list("abcdefg")])
    @pytest.mark.parametrize("algorithm", ["scan", "tree", "filter"])
    def test_two_rounds_after_changes(self, client, ids, algorithm):
        """What fills answers up stays behind all positions, whoever has left or come."""
        objects = np.array([[0.7], [-1.3], [-0.5], [0.6], [-0.2], [-0.3], [-0.2]])
        array = dask.array.from_array(objects, chunks=((2, 5), 1))
        names = list(range(7)) if ids is None else ids
        one, sharded = Index(objects, ids=ids), ShardedIndex.build(array, "linear", client, ids=ids)
        queries = np.array([[0.7], [-0.7]])
        for index in (one, sharded):
            index.remove([names[5]])
        assert_identical(
            sharded.search(queries, rounds=2, algorithm=algorithm), one.search(queries)
        )
        for index in (one, sharded):
            index.add([[0.55]], ids=None if ids is None else [77 if ids[0] == 9 else "h"])
        assert_identical(
            sharded.search(queries, rounds=2, algorithm=algorithm), one.search(queries)
        )

    def test_shards_keep_their_names(self, client):
        sharded = ShardedIndex.build(dask.array.ones((4, 2), chunks=2), "linear", client)
        sharded.remove([0, 1])
        sharded.add(dask.array.ones((2, 2), chunks=2))
        names = [shard.name for shard in sharded.shards]
        assert names == ["shard 1 (rows 2 to 3)", "added shard 2 (rows 0 to 1)"]
        assert sharded.nbytes > 0

    def test_numbers_that_no_int64_holds(self, client):
        sharded = ShardedIndex.build(dask.array.ones((4, 2), chunks=2), "linear", client)
        sharded.add([[1.0, 1.0]], ids=[2**63 - 1])
        for more in (dask.array.ones((2, 2), chunks=2), np.ones((1, 2))):
            with pytest.raises(InvalidArgument, match="ids must be given: the greatest int64"):
                sharded.add(more)

    def test_large_shards_are_not_added_to(self, client, monkeypatch):
        monkeypatch.setattr("fastmks.dask.shard_snapshot._SMALL_SHARD", 3)
        sharded = ShardedIndex.build(dask.array.ones((8, 2), chunks=4), "linear", client)
        for _ in range(5):
            sharded.add(np.ones((1, 2)))
        assert [shard.n_objects for shard in sharded.shards] == [4, 4, 4, 1]


class TestDistributedQueries:
    objects = rng.normal(size=(80, 3))
    queries = rng.normal(size=(25, 3))

    def test_answers_stay_distributed(self, client, tmp_path):
        one, sharded = one_and_sharded(client, self.objects)
        wanted = one.search(self.queries, k=4)
        for rounds in (1, 2):
            hits = sharded.search(
                dask.array.from_array(self.queries, chunks=(10, 3)), k=4, rounds=rounds
            )
            assert hits.values.chunks == ((10, 10, 5), (4,))
            np.testing.assert_array_equal(hits.values.compute(scheduler=client), wanted.values)
            np.testing.assert_array_equal(hits.indices.compute(scheduler=client), wanted.indices)
            np.testing.assert_array_equal(hits.ids.compute(scheduler=client), wanted.ids)
            assert not hits.gap.compute(scheduler=client).any()
            assert hits.proven.compute(scheduler=client).all()
            assert_identical(hits.compute(), wanted)
        files = hits.write(tmp_path / "answers")
        parts = [np.load(file) for file in files]
        values = np.concatenate([part["values"] for part in parts])
        np.testing.assert_array_equal(values, wanted.values)

    def test_above(self, client, tmp_path):
        one, sharded = one_and_sharded(client, self.objects)
        wanted = one.search_above(self.queries, 1.0)
        hits = sharded.search_above(dask.array.from_array(self.queries, chunks=(10, 3)), 1.0)
        assert_identical(hits.compute(), wanted)
        first = np.load(hits.write(tmp_path)[0])
        np.testing.assert_array_equal(first["offsets"], wanted.offsets[:11])

    def test_a_bag_of_strings(self, client):
        words = ["banana", "bandana", "cabana", "panama", "ananas"]
        one, sharded = one_and_sharded(client, words, kernels.Spectrum(p=2), n_parts=2)
        bag = dask.bag.from_sequence(["anna", "bana", "nama"], npartitions=2)
        hits = sharded.search(bag, k=2)
        assert_identical(hits.compute(), one.search(["anna", "bana", "nama"], k=2))

    def test_text_ids_are_as_wide_as_the_longest(self, client):
        names = [f"row {i}" for i in range(80)]
        array = dask.array.from_array(self.objects, chunks=(8, 3))
        sharded = ShardedIndex.build(array, "linear", client, ids=names)
        wanted = Index(self.objects, ids=names).search(self.queries, k=4)
        hits = sharded.search(dask.array.from_array(self.queries, chunks=(10, 3)), k=4)
        assert hits.ids.dtype == hits.ids.compute(scheduler=client).dtype == wanted.ids.dtype
        np.testing.assert_array_equal(hits.ids.compute(scheduler=client), wanted.ids)
        few = sharded.search(dask.array.from_array(self.queries, chunks=5), only=names[:9])
        np.testing.assert_array_equal(few.ids.compute(scheduler=client), few.compute().ids)

    def test_bad_queries_name_their_partition(self, client):
        _, sharded = one_and_sharded(client, self.objects)
        for rounds in (1, 2):
            hits = sharded.search(dask.array.ones((4, 2), chunks=2), rounds=rounds)
            match = r"^queries, partition . \(rows . to .\): .*3 columns"
            with pytest.raises(InvalidArgument, match=match):
                hits.compute()
        broken = dask.array.ones((4, 3), chunks=2).map_blocks(lambda x: 1 // 0, dtype=float)
        with pytest.raises(ShardError, match="^queries, partition . .*ZeroDivisionError"):
            sharded.search(broken).compute()
        with pytest.raises(InvalidArgument, match="threshold must be a finite number"):
            sharded.search_above(dask.array.ones((4, 3), chunks=2), np.zeros(4))

    def test_nothing_to_search_above(self, client):
        _, sharded = one_and_sharded(client, self.objects)
        hits = sharded.search_above(dask.array.ones((5, 3), chunks=2), 0.0, only=[])
        assert hits.compute().offsets.tolist() == [0] * 6

    def test_older_parts_are_removed(self, client, tmp_path):
        _, sharded = one_and_sharded(client, self.objects)
        for chunks in (2, 5):
            files = sharded.search(dask.array.ones((5, 3), chunks=chunks)).write(tmp_path)
        assert sorted(map(str, tmp_path.iterdir())) == files


def test_ids_of_which_one_is_long(client, tmp_path):
    """One shard has it: answers are those of one index, merged and written."""
    rng = np.random.default_rng(0)
    objects, queries = rng.normal(size=(30, 2)), rng.normal(size=(6, 2))
    ids = [f"n{i}" for i in range(29)] + ["x" * 1000]
    one = Index(objects, ids=ids)
    array = dask.array.from_array(objects, chunks=(11, 2))
    sharded = ShardedIndex.build(array, "linear", client, ids=ids)
    for index in (one, sharded):
        index.add(objects[:2], ids=["y" * 900, "short"])
        index.remove(["n3", "y" * 900])
    only = ["x" * 1000, "short", *ids[:20:2]]
    assert_identical(sharded.search(queries, 9), one.search(queries, 9))
    assert_identical(sharded.search(queries, 9, only=only), one.search(queries, 9, only=only))
    np.testing.assert_array_equal(sharded.get(only), one.get(only))
    asked = dask.array.from_array(queries, chunks=(4, 2))
    hits = sharded.search(asked, 30)
    assert hits.ids.compute(scheduler=client).tolist() == one.search(queries, 30).ids.tolist()
    written = [np.load(file)["ids"].tolist() for file in hits.write(tmp_path)]
    assert [row for block in written for row in block] == one.search(queries, 30).ids.tolist()
    with pytest.raises(InvalidArgument, match="ids must be new; 'xxx"):
        sharded.add(objects[:1], ids=["x" * 1000])
    with pytest.raises(InvalidArgument, match="at most 1000 characters"):
        sharded.add(objects[:1], ids=["x" * 1001])
