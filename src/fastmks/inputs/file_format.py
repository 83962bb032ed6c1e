"""The format of a file: by its first bytes, then by its name."""

from fastmks.errors import InvalidArgument
from fastmks.inputs.streams import Stream
from fastmks.inputs.table_format import is_table

_MAGIC = {
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",  # a stream
}
_SUFFIXES = {
    "npy": ("npy",),
    "npz": ("npz",),
    "csv": ("csv", "tsv", "tab"),
    "parquet": ("parquet", "pq"),
    "arrow": ("arrow", "feather", "ipc"),
    "fasta": ("fasta", "fa", "faa", "fna", "ffn", "fas"),
    "smiles": ("smi", "smiles"),
    "ucr": ("ts",),
}
_BY_SUFFIX = {suffix: form for form, suffixes in _SUFFIXES.items() for suffix in suffixes}


def recognise(stream: Stream, kind: str | None) -> str:
    """Return the format of a file; `kind` chooses where a text has several possible formats.

    Examples
    --------
    >>> import io
    >>> recognise(Stream("x", "x", b">P1\\nMKV", True, io.BytesIO()), None)
    'fasta'
    """
    for magic, form in _MAGIC.items():
        if stream.prefix.startswith(magic):
            return form
    lines = [line.strip() for line in stream.first_lines(50)]
    if lines and lines[0].startswith(">"):
        return "fasta"
    if any(line.lower() == "@data" for line in lines) and lines[0].startswith(("@", "#")):
        return "ucr"
    plain = (stream.path or "").lower().removesuffix(".gz")
    if plain.endswith(("_train.tsv", "_test.tsv")):  # the names of the UCR archive
        return "ucr"
    suffix = plain.rpartition(".")[2] if "." in plain else ""
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    if b"\0" in stream.prefix:
        raise InvalidArgument(
            f"{stream.name} is of no known format, and no text. Say its format with form=."
        )
    return _of_text(stream.beginning(), kind)


def _of_text(lines: list[str], kind: str | None) -> str:
    if kind == "strings":
        return "lines"
    if is_table(lines):
        return "csv"
    return "smiles" if kind == "fingerprints" else "lines"
