"""Find the molecules most similar to a query, by the Tanimoto kernel of their fingerprints.

    python examples/similar_molecules.py                            built-in molecules, no RDKit
    python examples/similar_molecules.py molecules.smi "CCO"        a SMILES file, with RDKit
    python examples/similar_molecules.py --figure molecules.png     drawn, with RDKit

A SMILES file has one molecule a line, a name after it if you like; .gz will do. Without RDKit a
fingerprint is the set of all pieces of up to four letters of a SMILES: a toy, but a similar one.
"""

import argparse
import gzip
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import fastmks
from fastmks import kernels

MOLECULES = {
    "aspirin": "CC(=O)Oc1ccccc1C(=O)O",
    "salicylic acid": "OC(=O)c1ccccc1O",
    "methyl salicylate": "COC(=O)c1ccccc1O",
    "paracetamol": "CC(=O)Nc1ccc(O)cc1",
    "phenacetin": "CCOc1ccc(NC(C)=O)cc1",
    "ibuprofen": "CC(C)Cc1ccc(cc1)C(C)C(=O)O",
    "naproxen": "COc1ccc2cc(ccc2c1)C(C)C(=O)O",
    "caffeine": "Cn1cnc2c1c(=O)n(C)c(=O)n2C",
    "theobromine": "Cn1cnc2c1c(=O)[nH]c(=O)n2C",
    "theophylline": "Cn1c(=O)c2[nH]cnc2n(C)c1=O",
    "nicotine": "CN1CCCC1c1cccnc1",
    "vanillin": "COc1cc(C=O)ccc1O",
    "ethanol": "CCO",
    "glycerol": "OCC(O)CO",
}
QUERY = "CC(=O)Oc1ccccc1C(=O)OC"  # the methyl ester of aspirin


def read_smiles(path: Path) -> dict[str, str]:
    """Return SMILES by name; a molecule without a name is called by its SMILES."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        fields = [line.split(maxsplit=1) for line in lines if line.strip()]
    return {(parts[1].strip() if len(parts) > 1 else parts[0]): parts[0] for parts in fields}


def pieces(smiles: str) -> set[str]:
    """Return all parts of up to four letters."""
    return {smiles[i : i + n] for n in (1, 2, 3, 4) for i in range(len(smiles) - n + 1)}


def morgan_fingerprints(smiles: Sequence[str]) -> list[Any]:
    """Return RDKit's Morgan fingerprints of radius 2 and 2048 bits."""
    from rdkit import Chem
    from rdkit.Chem import rdFingerprintGenerator

    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
    molecules = [Chem.MolFromSmiles(text) for text in smiles]
    for text, molecule in zip(smiles, molecules, strict=True):
        if molecule is None:
            raise SystemExit(f"RDKit cannot read the SMILES {text}")
    return [generator.GetFingerprint(molecule) for molecule in molecules]


def draw(path: Path, query: str, found: dict[str, str], values: Sequence[float]) -> None:
    """Draw the query and the hits, each with its value."""
    from rdkit import Chem
    from rdkit.Chem.Draw import rdMolDraw2D

    legends = ["query", *(f"{name}: {v:.3f}" for name, v in zip(found, values, strict=True))]
    molecules = [Chem.MolFromSmiles(text) for text in (query, *found.values())]
    n_columns = 3
    n_rows = -(-len(molecules) // n_columns)
    canvas = rdMolDraw2D.MolDraw2DCairo(250 * n_columns, 190 * n_rows, 250, 190)
    canvas.DrawMolecules(molecules, legends=legends)
    canvas.FinishDrawing()
    path.write_bytes(canvas.GetDrawingText())


def main(arguments: Sequence[str] | None = None) -> None:
    """Read, index, search, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, help="SMILES, one molecule a line")
    parser.add_argument("query", nargs="?", default=QUERY, help="a SMILES")
    parser.add_argument("-k", type=int, default=5, help="molecules to find (default 5)")
    parser.add_argument("--figure", type=Path, help="a PNG file to draw the answers into")
    options = parser.parse_args(arguments)
    if options.figure and not importlib.util.find_spec("rdkit"):
        parser.error('--figure needs RDKit: pip install ".[chem]"')
    molecules = MOLECULES if options.file is None else read_smiles(options.file)
    names, smiles = list(molecules), list(molecules.values())
    if importlib.util.find_spec("rdkit"):
        *objects, query = morgan_fingerprints([*smiles, options.query])
        index = fastmks.Index(objects, kernels.Tanimoto(), ids=names)
    else:
        print('RDKit is not installed (pip install ".[chem]"): comparing pieces of SMILES\n')
        query = pieces(options.query)
        index = fastmks.Index([pieces(text) for text in smiles], kernels.Jaccard(), ids=names)
    hits = index.search([query], k=min(options.k, len(names)))
    print(f"{len(names)} molecules, the most similar to {options.query}:\n")
    for value, name in zip(hits.values[0], hits.ids[0], strict=True):
        print(f"{value:8.4f}  {name}  {molecules[name]}")
    if options.figure:
        found = {name: molecules[name] for name in hits.ids[0].tolist()}
        draw(options.figure, options.query, found, hits.values[0].tolist())
    print(
        f"\n{hits.stats.kernel_evaluations} of {len(names)} molecules compared, "
        f"{hits.stats.seconds * 1e3:.2f} ms"
    )


if __name__ == "__main__":
    main()
