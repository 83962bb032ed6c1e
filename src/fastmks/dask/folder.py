"""Shards in a folder: a file for each, written by its worker, and a list of them, written last."""

import hashlib
import json
import os
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastmks.dask.cluster import Cluster, Packed, pack, unpack
from fastmks.dask.paths import check_folder, local_path, make_folder, place_of
from fastmks.dask.shard_build import Shard
from fastmks.dask.shard_work import ShardFacts, describe_shard, shard_named
from fastmks.errors import IndexFileError, InvalidArgument
from fastmks.files.atomic import mode_of, replace_file
from fastmks.index.index import Index
from fastmks.index.index_file import index_to_bytes, write_index
from fastmks.index.load import load, load_bytes

_LIST = "shards.json"
_FORMAT, _VERSION = "fastmks shards", 1
_LARGEST_LIST = 2**28  # bytes
_MOST_SHARDS = 10**6


@dataclass(frozen=True)
class _Listed:
    """One shard of a saved index."""

    name: str
    file: str
    n_objects: int


def save_shards(
    cluster: Cluster,
    shards: Sequence[Shard],
    next_id: int,
    folder: str | os.PathLike[str],
    encode: Callable[[Any], bytes] | None,
    *,
    progress: bool,
) -> None:
    """Let each worker write its shards, and then one of them the list that makes them an index.

    Files of an earlier index stay until the new list is written: a load at any time finds one of
    the two whole. Files that these shards were loaded from are never removed: a worker that
    replaces a lost one reads them again.
    """
    path = check_folder(folder)
    cluster.result(cluster.submit(make_folder, path, name="save"))
    token = uuid.uuid4().hex[:12]
    files = [f"shard-{i:05d}-{token}.fmks" for i in range(len(shards))]
    names = [shard.name for shard in shards]
    written = cluster.map(
        _save,
        [shard.index for shard in shards],
        [f"{path}/{file}" for file in files],
        names,
        [pack(encode)] * len(shards),
        name="save",
    )
    cluster.results(written, shards=names, progress=progress)
    entries = [
        {"name": shard.name, "file": file, "n_objects": len(shard)}
        for shard, file in zip(shards, files, strict=True)
    ]
    listed = {
        "format": _FORMAT,
        "version": _VERSION,
        "checksum": _checksum(next_id, entries),
        "next_id": next_id,
        "shards": entries,
    }
    kept = [shard.file for shard in shards if shard.file is not None]
    text = json.dumps(listed, indent=1)
    cluster.result(cluster.submit(_save_list, path, text, kept, name="save"))


def load_shards(
    cluster: Cluster,
    folder: str | os.PathLike[str],
    kernel: Any,
    decode: Callable[[bytes], Any] | None,
    threads: int | None,
    *,
    progress: bool,
) -> tuple[list[Shard], int]:
    """Return the shards of a folder, each on a worker, and the next number for an id."""
    path = check_folder(folder)
    listed, next_id = _read_list(
        path, cluster.result(cluster.submit(_load_list, path, name="load"))
    )
    names = [entry.name for entry in listed]
    given = pack((kernel, decode, threads))
    indexes = cluster.map(
        _load,
        [f"{path}/{entry.file}" for entry in listed],
        names,
        [given] * len(listed),
        name="load",
    )
    described = cluster.map(describe_shard, indexes, name="describe")
    facts: list[ShardFacts] = cluster.results(described, shards=names, progress=progress)
    for entry, known in zip(listed, facts, strict=True):
        if entry.n_objects != known.n_objects or known.next_id > next_id:
            raise IndexFileError(
                f"{path}/{entry.file} is not the file that {_LIST} lists: it holds "
                f"{known.n_objects} objects with ids below {known.next_id}, not "
                f"{entry.n_objects} below {next_id}."
            )
    shards = [
        Shard(entry.name, index, known, file=f"{path}/{entry.file}")
        for entry, index, known in zip(listed, indexes, facts, strict=True)
    ]
    return shards, next_id


def _read_list(path: str, text: str) -> tuple[list[_Listed], int]:
    """Return the entries of a list of shards, which is not trusted; files are in its own folder."""
    wrong = IndexFileError(f"{path}/{_LIST} is no list of shards that this version can read.")
    try:
        facts = json.loads(text)
        is_ours = facts["format"] == _FORMAT and facts["version"] == _VERSION
        entries = [
            _Listed(entry["name"], entry["file"], entry["n_objects"]) for entry in facts["shards"]
        ]
        next_id = facts["next_id"]
        is_ours = is_ours and facts["checksum"] == _checksum(next_id, facts["shards"])
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise wrong from None
    is_right = (
        is_ours
        and 0 < len(entries) <= _MOST_SHARDS
        and _is_count(next_id, 2**63)
        and all(
            isinstance(entry.name, str)
            and isinstance(entry.file, str)
            and not {"/", "\\"} & set(entry.file)
            and entry.file.endswith(".fmks")
            and _is_count(entry.n_objects, 2**48)
            for entry in entries
        )
    )
    if not is_right:
        raise wrong
    return entries, next_id


def _checksum(next_id: int, entries: list[dict[str, Any]]) -> str:
    """Return a token that changes with any change of the list."""
    text = json.dumps([next_id, entries], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _is_count(number: Any, most: int) -> bool:
    return type(number) is int and 0 <= number <= most


def _save(index: Index, path: str, shard: str, encode: Packed) -> None:
    function = unpack(encode)
    with shard_named(shard):
        local = local_path(path)
        if local is None:
            filesystem, place = place_of(path)
            filesystem.pipe_file(place, index_to_bytes(index, function))
        else:
            mode = mode_of(Path(local).with_name(_LIST))
            write_index(index, local, encode=function, mode=mode)


def _load(path: str, shard: str, given: Packed) -> Index:
    kernel, decode, threads = unpack(given)
    with shard_named(shard):
        local = local_path(path)
        if local is not None:
            return load(local, kernel=kernel, decode=decode, threads=threads)
        filesystem, place = place_of(path)
        return load_bytes(
            filesystem.cat_file(place), path, kernel=kernel, decode=decode, threads=threads
        )


def _save_list(path: str, text: str, kept: Sequence[str]) -> None:
    """Write the list, and remove files that no list mentions any more."""
    filesystem, place = place_of(path)
    local = local_path(f"{path}/{_LIST}")
    if local is None:
        filesystem.pipe_file(f"{place}/{_LIST}", text.encode())  # in one step, as in object stores
    else:
        replace_file(local, [text.encode()])
    used = {entry["file"] for entry in json.loads(text)["shards"]}
    used |= {file.rsplit("/", 1)[-1] for file in kept}
    for file in filesystem.glob(f"{place}/shard-*.fmks"):
        if file.rsplit("/", 1)[-1] not in used:
            filesystem.rm_file(file)


def _load_list(path: str) -> str:
    filesystem, place = place_of(path)
    file = f"{place}/{_LIST}"
    if not filesystem.exists(file):
        raise InvalidArgument(
            f"folder must be one that ShardedIndex.save has written and that the workers can see; "
            f"there is no {_LIST} in {path}."
        )
    if filesystem.size(file) > _LARGEST_LIST:
        raise IndexFileError(f"{path}/{_LIST} is too long to be a list of shards.")
    text: bytes = filesystem.cat_file(file)
    return text.decode(errors="replace")
