"""What is wrong is said with the argument or the shard, and nothing is changed."""

import dask
import dask.array
import numpy as np
import pytest

from fastmks import InvalidArgument, KernelValueError, ShardError, kernels
from fastmks.dask import ShardedIndex
from support.kinds import KINDS


class TestErrors:
    objects = dask.array.ones((20, 3), chunks=(5, 3))

    @pytest.mark.parametrize(
        ("collection", "match"),
        [
            (np.ones((3, 2)), "collection must be a dask array.*ndarray of shape.*from_array"),
            ([], "collection must be a dask array.*got a list"),
            ([np.ones((3, 2))], "collection\\[0\\] is a ndarray"),
            (["a.txt"], "collection\\[0\\] must be the name of a .npy.*'a.txt'"),
            (7, "got a int"),
            (dask.delayed(np.ones((3, 2))), "got one alone: pass \\[collection\\]"),
            (["a*.npy"], "must be one file, not a pattern"),
            ([dask.delayed(None)], "shard 0 .*a sequence of objects; got None"),
            ([dask.delayed("a.npy")], "shard 0 .*a sequence of objects; got 'a.npy'"),
        ],
    )
    def test_collections(self, client, collection, match):
        with pytest.raises(InvalidArgument, match=match):
            ShardedIndex.build(collection, "linear", client)

    def test_no_client(self):
        with pytest.raises(InvalidArgument, match="client must be a dask.distributed.Client"):
            ShardedIndex.build(self.objects, "linear", "tcp://here")

    def test_no_objects(self, client):
        with pytest.raises(InvalidArgument, match="at least one object"):
            ShardedIndex.build(dask.array.ones((0, 3)), "linear", client)

    def test_a_matrix_of_all_values_cannot_be_cut(self, client):
        with pytest.raises(InvalidArgument, match="cannot be cut into shards"):
            ShardedIndex.build(self.objects, kernels.Precomputed(), client)

    def test_a_function_of_this_process_only(self, client):
        (compiled,) = (kind for kind in KINDS if "LowLevelCallable" in repr(kind.kernel))
        with pytest.raises(InvalidArgument, match="can be sent to workers; .*compiled function"):
            ShardedIndex.build(self.objects, compiled.kernel, client)

    def test_bad_data_names_its_shard(self, client):
        bad = self.objects.copy()
        bad[12, 1] = np.nan
        with pytest.raises(InvalidArgument, match=r"^shard 2 \(rows 10 to 14\): .*objects\[2, 1\]"):
            ShardedIndex.build(bad, "linear", client)

    def test_a_failing_load_names_its_shard(self, client):
        def load():
            raise RuntimeError("the disk is on fire")

        good = dask.delayed(np.ones((3, 2)))
        with pytest.raises(ShardError, match="^shard 1 .*RuntimeError: the disk is on fire"):
            ShardedIndex.build([good, dask.delayed(load)()], "linear", client)

    def test_a_missing_file_names_its_shard(self, client, tmp_path):
        with pytest.raises(ShardError, match="shard 0 .*none.npy.*FileNotFoundError"):
            ShardedIndex.build([tmp_path / "none.npy"], "linear", client)

    def test_a_failing_kernel_names_shard_and_object(self, client):
        def kernel(x, y):
            return float("nan") if 7.0 in (x, y) else x * y

        parts = [dask.delayed([1.0, 2.0]), dask.delayed([7.0, 3.0])]
        sharded = ShardedIndex.build(parts, kernels.Custom(kernel), client, algorithm="scan")
        with pytest.raises(KernelValueError, match="^shard 1 .*object 2"):
            sharded.search([1.0])

    def test_shards_of_different_kinds(self, client):
        parts = [dask.delayed(np.ones((3, 2))), dask.delayed(np.ones((3, 4)))]
        match = "shard 0 .* holds vectors of 2 columns, shard 1 .* vectors of 4 columns"
        with pytest.raises(InvalidArgument, match=match):
            ShardedIndex.build(parts, "linear", client)

    @pytest.mark.parametrize("ids", [[1, 2, 3, 1], ["a", "b", "c", "b"]])
    def test_an_id_in_two_shards(self, client, ids, monkeypatch):
        array = dask.array.ones((4, 2), chunks=(2, 2))
        for at_once in (2**28, 8):  # compared by one worker, and by several
            monkeypatch.setattr("fastmks.dask.shard_build._IDS_AT_ONCE", at_once)
            match = f"ids must differ; {ids[-1]!r} is given in shard 0 .* and in shard 1"
            with pytest.raises(InvalidArgument, match=match):
                ShardedIndex.build(array, "linear", client, ids=ids)

    @pytest.mark.parametrize(
        ("ids", "match"),
        [
            ([1, 2], "ids must name each of the 20 objects; got 2 ids"),
            (dask.array.ones(20, chunks=10), "cut into partitions.*4 of them; got 2"),
            ("name", "shard . .*there is no 'name'"),
            (5, "ids must be a sequence of ids; got the single 5"),
        ],
    )
    def test_ids(self, client, ids, match):
        with pytest.raises(InvalidArgument, match=match):
            ShardedIndex.build(self.objects, "linear", client, ids=ids)

    def test_searches(self, client):
        sharded = ShardedIndex.build(self.objects, "linear", client)
        for arguments, match in [
            (({"queries": [[1.0, 2.0]]}), "3 columns"),
            ({"queries": np.ones((1, 3)), "k": 21}, "k must be between 1 and the 20 indexed"),
            ({"queries": np.ones((1, 3)), "only": [3, 99]}, "only .*99 is not one"),
            ({"queries": np.ones((1, 3)), "only": np.ones(7, bool)}, r"mask of shape \(7,\)"),
            ({"queries": np.ones((1, 3)), "algorithm": "magic"}, "algorithm must be one of"),
            ({"queries": np.ones((1, 3)), "epsilon": -1.0}, "epsilon must be at least 0"),
        ]:
            with pytest.raises(InvalidArgument, match=match):
                sharded.search(**arguments)
        with pytest.raises(InvalidArgument, match="threshold must be a number"):
            sharded.search_above(np.ones((2, 3)), [1.0, 2.0, 3.0])

    def test_what_is_wrong_with_arguments_is_not_about_a_shard(self, client):
        sharded = ShardedIndex.build(self.objects, "linear", client)
        with pytest.raises(InvalidArgument, match="^budget needs algorithm='tree'"):
            sharded.search(np.ones((1, 3)), budget=100, algorithm="scan")

    @pytest.mark.parametrize("folder", [None, 3, "", "foo://x"])
    def test_folders(self, client, folder):
        sharded = ShardedIndex.build(self.objects, "linear", client)
        for use in (
            sharded.save,
            lambda folder: ShardedIndex.load(folder, client),
            sharded.search(self.objects).write,
        ):
            with pytest.raises(InvalidArgument, match="^folder must be a path"):
                use(folder)

    def test_columns_go_by_their_names(self, client, tmp_path):
        import pandas

        frame = pandas.DataFrame({"x": [1.0, 2.0], "y": [10.0, 20.0]})
        frame.to_parquet(tmp_path / "a.parquet")
        frame[["y", "x"]].to_parquet(tmp_path / "b.parquet")
        match = r"^shard 1 .*the same columns.*\['x', 'y'\], those here \['y', 'x'\]"
        with pytest.raises(InvalidArgument, match=match):
            ShardedIndex.build([tmp_path / "a.parquet", tmp_path / "b.parquet"], "linear", client)

    def test_changes_that_fail_change_nothing(self, client):
        sharded = ShardedIndex.build(self.objects, "linear", client)
        with pytest.raises(InvalidArgument, match="99 is not one"):
            sharded.remove([3, 99])
        with pytest.raises(InvalidArgument, match="ids must be new; 3 is in use, in shard 0"):
            sharded.add(np.ones((1, 3)), ids=[3])
        with pytest.raises(InvalidArgument, match="4 columns|3 columns"):
            sharded.add(np.ones((1, 4)))
        assert len(sharded) == 20

    def test_it_cannot_be_pickled(self, client):
        import pickle

        sharded = ShardedIndex.build(self.objects, "linear", client)
        with pytest.raises(TypeError, match="save it to a folder"):
            pickle.dumps(sharded)
