"""Read an index from a file. A wrong or hostile file is an error, nothing worse."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fastmks._util.validation import check_function, check_threads
from fastmks.errors import IndexFileError, InvalidArgument
from fastmks.index.index import Index, index_of
from fastmks.kernels import Kernel, as_kernel

if TYPE_CHECKING:
    from fastmks.files.container import Container

_SOON_VERIFIED = 2**26  # bytes


def load(
    path: str | os.PathLike[str],
    *,
    kernel: Kernel | Callable[[Any, Any], float] | None = None,
    objects: Any = None,
    decode: Callable[[bytes], Any] | None = None,
    mmap: bool = True,
    verify: bool | None = None,
    threads: int | None = None,
) -> Index:
    """Return the index that `Index.save` wrote to a file. Never executes anything in it.

    Parameters
    ----------
    path : path-like
        The file.
    kernel : Kernel or function, optional
        The kernel, where it has functions of your own, which no file holds. Values in the file
        prove that the functions are the same. Not needed for any other kernel.
    objects : sequence, optional
        All objects, in the order of the ids, where only your own kernel knows them and they were
        saved without ``encode``.
    decode : callable (bytes) -> object, optional
        Converts the bytes from ``encode`` to objects.
    mmap : bool, default True
        Map the file instead of reading it: parts are loaded when a search reads them, and shared
        with other processes. The file must then be replaced rather than changed in place, as
        `save` does.
    verify : bool, optional
        When to compare all bytes with their checksums: now, or never. When not given, now for
        files below 64 MiB, and before the first search for larger ones.
    threads : int, optional
        As for `Index`.

    Examples
    --------
    >>> import fastmks, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "numbers.fmks")
    ...     fastmks.Index([[3.0], [2.0]], kernel="gaussian").save(path)
    ...     index = fastmks.load(path)
    >>> index
    <Index: 2 vectors of 1 column, Gaussian(bandwidth=1.0), auto>
    """
    if not isinstance(mmap, bool) or not isinstance(verify, (bool, type(None))):
        raise InvalidArgument(
            f"mmap must be True or False, and verify True, False or None; got {mmap!r} and "
            f"{verify!r}."
        )
    # Imported here, since most programs do not load, and the import takes long.
    from fastmks.files.container import open_record

    return _restore(
        lambda: open_record(path, mmap=mmap), path, verify, kernel, objects, decode, threads
    )


def load_bytes(
    data: bytes,
    name: str,
    *,
    kernel: Kernel | Callable[[Any, Any], float] | None = None,
    decode: Callable[[bytes], Any] | None = None,
    threads: int | None = None,
) -> Index:
    """Return the index in the bytes of a file, which the caller has read."""
    from fastmks.files.container import container_of

    return _restore(lambda: container_of(data, name), name, True, kernel, None, decode, threads)


def _restore(
    open_container: Callable[[], "Container"],
    path: str | os.PathLike[str],
    verify: bool | None,
    kernel: Kernel | Callable[[Any, Any], float] | None,
    objects: Any,
    decode: Callable[[bytes], Any] | None,
    threads: int | None,
) -> Index:
    from fastmks.index.index_file import Source, restore_index

    checked_kernel = None if kernel is None else as_kernel(kernel)
    check_function("decode", decode)
    container = open_container()
    is_checked_now = container.n_bytes < _SOON_VERIFIED if verify is None else verify
    source = Source(
        record=container.record,
        check=lambda: None if verify is False else container.verify(),
        kernel=checked_kernel,
        objects=objects,
        decode=decode,
        threads=check_threads(threads),
    )
    with _named_errors(path):
        snapshot = restore_index(source)
        if is_checked_now:
            snapshot.build()
    return index_of(snapshot)


@contextmanager
def _named_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except IndexFileError as error:
        if os.fspath(path) in str(error):
            raise
        raise IndexFileError(f"{os.fspath(path)} is damaged: {error}") from error
