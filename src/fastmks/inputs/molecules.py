"""Molecules: SMILES become Morgan fingerprints, packed bits for the kernel Tanimoto."""

import re
from collections.abc import Iterator, Sequence

import numpy as np

from fastmks._util.arrays import Array
from fastmks._util.validation import check_count, import_extra
from fastmks.errors import InvalidArgument
from fastmks.inputs.chunks import Chunk, Opened, Reading, batches
from fastmks.inputs.streams import Stream

_NAMES = "names after SMILES"
_BETWEEN = re.compile(r"[\s,]+")  # no SMILES holds one of these


class Fingerprints:
    """Morgan fingerprints of SMILES."""

    def __init__(self, *, radius: int, bits: int) -> None:
        import_extra("rdkit", extra="chem", needed_by="reading SMILES")
        from rdkit.Chem import rdFingerprintGenerator

        if check_count("bits", bits) % 8:
            raise InvalidArgument(f"bits must be a multiple of 8, to fill bytes; got {bits}.")
        reach = 0 if radius == 0 else check_count("radius", radius)
        self._generator = rdFingerprintGenerator.GetMorganGenerator(radius=reach, fpSize=bits)

    def of(self, smiles: Sequence[str], places: Sequence[str]) -> Array:
        """Return a row of packed bits for each; `places` are their names in errors."""
        from rdkit import Chem, rdBase

        rows = []
        with rdBase.BlockLogs():
            for text, place in zip(smiles, places, strict=True):
                molecule = Chem.MolFromSmiles(text) if text else None
                if molecule is None:
                    raise InvalidArgument(f"{place}: RDKit cannot read the SMILES {text[:60]!r}.")
                rows.append(self._generator.GetFingerprintAsNumPy(molecule))
        return np.packbits(np.array(rows, dtype=bool), axis=1)


def open_smiles(stream: Stream, reading: Reading) -> Opened:
    """Open a file of SMILES, one a line, with a name after it or without.

    The first molecule decides whether they have names; the id of one without is then its SMILES.
    """
    made = Fingerprints(radius=reading.radius, bits=reading.bits)
    lines = [_split(line) for line in stream.first_lines(2)]
    if lines and _is_header(lines[0]):
        lines.pop(0)
    is_named = reading.has_ids and bool(lines) and bool(lines[0][1])
    chunks = _molecules(stream, reading, made, is_named=is_named)
    return Opened("fingerprints", chunks, ids_from=_NAMES if is_named else None)


def _molecules(
    stream: Stream, reading: Reading, made: Fingerprints, *, is_named: bool
) -> Iterator[Chunk]:
    filled = (
        (number, _split(line))
        for number, line in stream.lines()
        if line.strip() and not (number == 1 and _is_header(_split(line)))
    )
    for batch in batches(filled, reading.block):
        smiles = [text for _, (text, _) in batch]
        places = [f"{stream.name}, line {number}" for number, _ in batch]
        names = [name or text for _, (text, name) in batch] if is_named else None
        yield Chunk(made.of(smiles, places), names)


def _split(line: str) -> tuple[str, str]:
    smiles, *name = _BETWEEN.split(line.strip(), maxsplit=1)
    return smiles, name[0].strip() if name else ""


def _is_header(fields: tuple[str, str]) -> bool:
    return fields[0].strip('"').lower() in ("smiles", "canonical_smiles")
