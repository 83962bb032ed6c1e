"""Find similar molecules as graphs: the Weisfeiler-Lehman kernel compares their neighbourhoods.

    python examples/similar_graphs.py                      # molecules everyone knows
    python examples/similar_graphs.py graphs_nci1.npz      # 4110 compounds of the NCI1 set

Nodes are atoms, edges are bonds. A file holds the arrays edges (m, 2), graph_id and node_labels of
all graphs side by side, and graph_labels, as the TUDataset collection gives them.
"""

import sys
import time
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import fastmks
from fastmks import kernels

Graph: TypeAlias = tuple[Any, Any]  # edges, node labels

RING = "0-1 1-2 2-3 3-4 4-5 5-0"
# Atoms with their hydrogens, and the bonds between them.
MOLECULES = {
    "methanol": ("CH3 OH", "0-1"),
    "ethanol": ("CH3 CH2 OH", "0-1 1-2"),
    "1-propanol": ("CH3 CH2 CH2 OH", "0-1 1-2 2-3"),
    "2-propanol": ("CH3 CH CH3 OH", "0-1 1-2 1-3"),
    "dimethyl ether": ("CH3 O CH3", "0-1 1-2"),
    "diethyl ether": ("CH3 CH2 O CH2 CH3", "0-1 1-2 2-3 3-4"),
    "acetone": ("CH3 C CH3 O", "0-1 1-2 1-3"),
    "acetic acid": ("CH3 C O OH", "0-1 1-2 1-3"),
    "glycine": ("NH2 CH2 C O OH", "0-1 1-2 2-3 2-4"),
    "alanine": ("CH3 CH NH2 C O OH", "0-1 1-2 1-3 3-4 3-5"),
    "urea": ("NH2 C O NH2", "0-1 1-2 1-3"),
    "cyclohexane": ("CH2 CH2 CH2 CH2 CH2 CH2", RING),
    "benzene": ("CH CH CH CH CH CH", RING),
    "pyridine": ("N CH CH CH CH CH", RING),
    "toluene": ("C CH CH CH CH CH CH3", f"{RING} 0-6"),
    "phenol": ("C CH CH CH CH CH OH", f"{RING} 0-6"),
    "aniline": ("C CH CH CH CH CH NH2", f"{RING} 0-6"),
    "chlorobenzene": ("C CH CH CH CH CH Cl", f"{RING} 0-6"),
    "benzoic acid": ("C CH CH CH CH CH C O OH", f"{RING} 0-6 6-7 6-8"),
    "salicylic acid": ("C C CH CH CH CH C O OH OH", f"{RING} 0-6 6-7 6-8 1-9"),
    "paracetamol": ("C CH CH C CH CH OH NH C O CH3", f"{RING} 0-6 3-7 7-8 8-9 8-10"),
}
QUERIES = {
    "aspirin": ("C C CH CH CH CH C O OH O C O CH3", f"{RING} 0-6 6-7 6-8 1-9 9-10 10-11 10-12"),
    "bromobenzene": ("C CH CH CH CH CH Br", f"{RING} 0-6"),  # no indexed molecule has a Br
    "ethylene glycol": ("OH CH2 CH2 OH", "0-1 1-2 2-3"),
}


def read_molecule(atoms: str, bonds: str) -> Graph:
    """Return the graph of a molecule written as above."""
    return [tuple(map(int, bond.split("-"))) for bond in bonds.split()], atoms.split()


def read_file(file: Path) -> tuple[list[Graph], np.ndarray[Any, Any]]:
    """Return the graphs of a file, and the class of each."""
    with np.load(file) as arrays:
        graph_of_node, edges = arrays["graph_id"], arrays["edges"]
        labels, classes = arrays["node_labels"], arrays["graph_labels"]
    graphs = []
    edges = edges[np.argsort(graph_of_node[edges[:, 0]], kind="stable")]
    numbers = np.arange(len(classes) + 1)
    nodes_at = np.searchsorted(graph_of_node, numbers)
    edges_at = np.searchsorted(graph_of_node[edges[:, 0]], numbers)
    for g in range(len(classes)):
        here = edges[edges_at[g] : edges_at[g + 1]] - nodes_at[g]
        graphs.append((here, labels[nodes_at[g] : nodes_at[g + 1]]))
    return graphs, classes


def search_molecules() -> None:
    """Search the molecules above."""
    graphs = [read_molecule(*written) for written in MOLECULES.values()]
    kernel = kernels.Normalized(kernels.WeisfeilerLehman(iterations=2))
    index = fastmks.Index(graphs, kernel, ids=list(MOLECULES))
    hits = index.search([read_molecule(*written) for written in QUERIES.values()], k=3)
    for name, ids, values in zip(QUERIES, hits.ids, hits.values, strict=True):
        found = ", ".join(f"{i} ({value:.2f})" for i, value in zip(ids, values, strict=True))
        print(f"{name:>15}: {found}")


def search_file(file: Path) -> None:
    """Find for every graph of a file the one most similar to it, and count equal classes."""
    graphs, classes = read_file(file)
    kernel = kernels.Normalized(kernels.WeisfeilerLehman(iterations=3))
    started = time.perf_counter()
    index = fastmks.Index(graphs, kernel)
    print(f"{len(graphs)} graphs read in {time.perf_counter() - started:.1f} s")
    hits = index.search_self(k=3)
    print(f"the three most similar to each found in {hits.stats.seconds:.1f} s")
    for g in range(0, len(graphs), max(1, len(graphs) // 5)):
        found = [
            f"{i} (class {classes[i]}, {value:.2f})"
            for i, value in zip(hits.indices[g], hits.values[g], strict=True)
        ]
        print(f"graph {g} (class {classes[g]}, {len(graphs[g][1])} nodes): {', '.join(found)}")
    share = float((classes[hits.indices[:, 0]] == classes).mean())
    print(f"{share:.1%} have the class of the most similar one")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        search_file(Path(sys.argv[1]))
    else:
        search_molecules()
