"""Shards in folders come back as they were, whatever happens to the files is an error."""

import json

import dask
import dask.array
import numpy as np
import pytest

from fastmks import IndexFileError, InvalidArgument, kernels
from fastmks.dask import ShardedIndex
from fastmks.dask.folder import _checksum
from support.comparing import assert_identical
from support.sharding import cut

rng = np.random.default_rng(0)


def listed(file, next_id):
    shard = {"name": "a", "file": file, "n_objects": 3}
    return json.dumps(
        {
            "format": "fastmks shards",
            "version": 1,
            "checksum": _checksum(next_id, [shard]),
            "next_id": next_id,
            "shards": [shard],
        }
    )


class TestFolders:
    def built(self, client):
        objects = rng.normal(size=(40, 3))
        sharded = ShardedIndex.build(cut(objects, 3), "gaussian", client, algorithm="tree")
        sharded.remove([3])
        sharded.add(objects[:2])
        return sharded, objects

    @pytest.mark.parametrize("where", ["local", "memory"])
    def test_round_trip(self, client, tmp_path, where):
        sharded, queries = self.built(client)
        folder = str(tmp_path / "shards") if where == "local" else "memory://some/shards"
        sharded.save(folder)
        loaded = ShardedIndex.load(folder, client)
        assert repr(loaded) == repr(sharded)
        assert_identical(loaded.search(queries, 5), sharded.search(queries, 5))
        np.testing.assert_array_equal(loaded.add(queries[:1]), sharded.add(queries[:1]))

    def test_modes_of_the_list_are_those_of_the_shards(self, client, tmp_path):
        sharded, _ = self.built(client)
        sharded.save(tmp_path)
        (tmp_path / "shards.json").chmod(0o600)
        sharded.save(tmp_path)
        assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o600}

    def test_saving_again_replaces_and_forgets(self, client, tmp_path):
        sharded, queries = self.built(client)
        sharded.save(tmp_path)
        before = set(tmp_path.glob("shard-*.fmks"))
        sharded.add(queries[:1])
        sharded.save(tmp_path)
        after = set(tmp_path.glob("shard-*.fmks"))
        assert len(after) == len(before)
        assert not after & before
        loaded = ShardedIndex.load(tmp_path, client)
        loaded.save(tmp_path)  # over the files that it would be loaded from again
        assert after <= set(tmp_path.glob("shard-*.fmks"))
        assert_identical(
            ShardedIndex.load(tmp_path, client).search(queries, 5), sharded.search(queries, 5)
        )

    def test_every_file_is_an_index(self, client, tmp_path):
        import fastmks

        sharded, _ = self.built(client)
        sharded.save(tmp_path)
        files = sorted(tmp_path.glob("shard-*.fmks"))
        assert sum(len(fastmks.load(file)) for file in files) == len(sharded)

    def test_functions_are_handed_in_again(self, client, tmp_path):
        def kernel(x, y):
            return float(x * y)

        parts = [dask.delayed([1.0, 2.0]), dask.delayed([3.0])]
        sharded = ShardedIndex.build(parts, kernels.Custom(kernel), client)
        sharded.save(tmp_path, encode=lambda x: repr(x).encode())
        with pytest.raises(InvalidArgument, match="shard . .*kernel must be given"):
            ShardedIndex.load(tmp_path, client, decode=lambda b: float(b))
        loaded = ShardedIndex.load(
            tmp_path, client, kernel=kernels.Custom(kernel), decode=lambda b: float(b)
        )
        assert_identical(loaded.search([2.0], 3), sharded.search([2.0], 3))

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "[]",
            "{}",
            '{"format": "fastmks shards", "version": 2, "next_id": 3, "shards": []}',
            '{"format": "fastmks shards", "version": 1, "next_id": 3, "shards": []}',
            listed("../a.fmks", 3),
            listed("a.fmks", -3),
            listed("a.txt", 3),
            "[" * 100_000,
        ],
    )
    def test_lists_that_are_none(self, client, tmp_path, text):
        (tmp_path / "shards.json").write_text(text)
        with pytest.raises(IndexFileError, match="no list of shards"):
            ShardedIndex.load(tmp_path, client)

    def test_a_list_that_was_changed(self, client, tmp_path):
        sharded, _ = self.built(client)
        sharded.save(tmp_path)
        path = tmp_path / "shards.json"
        whole = json.loads(path.read_text())
        for shards in (whole["shards"][:-1], whole["shards"][::-1], whole["shards"] * 2):
            path.write_text(json.dumps({**whole, "shards": shards}))
            with pytest.raises(IndexFileError, match="no list of shards"):
                ShardedIndex.load(tmp_path, client)

    def test_a_damaged_shard_is_named(self, client, tmp_path):
        sharded, _ = self.built(client)
        sharded.save(tmp_path)
        file = sorted(tmp_path.glob("shard-*.fmks"))[1]
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 255
        file.write_bytes(data)
        with pytest.raises(IndexFileError, match="^shard 1 .*damaged"):
            ShardedIndex.load(tmp_path, client)

    def test_no_such_folder(self, client, tmp_path):
        with pytest.raises(InvalidArgument, match=r"folder must be one that .*no shards\.json"):
            ShardedIndex.load(tmp_path / "none", client)
