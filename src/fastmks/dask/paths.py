"""Folders that workers read and write: local ones, and all others that fsspec opens."""

import os
from typing import Any

from fastmks.errors import InvalidArgument


def check_folder(folder: Any) -> str:
    """Return the path or URL of a folder."""
    if not isinstance(folder, (str, os.PathLike)) or not os.fspath(folder):
        raise InvalidArgument(f"folder must be a path or an fsspec URL; got {folder!r}.")
    return os.fsdecode(folder).rstrip("/") or "/"


def make_folder(path: str) -> None:
    """Create a folder, unless it exists."""
    filesystem, place = place_of(path)
    filesystem.makedirs(place, exist_ok=True)


def place_of(path: str) -> tuple[Any, str]:
    """Return the file system of a path, and the path on it."""
    import fsspec

    try:
        filesystem, place = fsspec.core.url_to_fs(path)
    except (ValueError, ImportError) as error:
        raise InvalidArgument(
            f"folder must be a path or a URL that fsspec can open here; got {path!r} ({error})."
        ) from error
    return filesystem, place


def local_path(path: str) -> str | None:
    """Return the path on a worker's own file system; None for any other."""
    filesystem, place = place_of(path)
    protocols = filesystem.protocol
    is_local = "file" in ([protocols] if isinstance(protocols, str) else protocols)
    return place if is_local else None
