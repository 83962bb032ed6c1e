"""Objects from files: vectors, strings, fingerprints and series, in chunks, with their ids.

Examples
--------
>>> from fastmks.inputs import FORMS
>>> FORMS
('arrow', 'csv', 'fasta', 'lines', 'npy', 'npz', 'parquet', 'smiles', 'ucr')
"""

from fastmks.inputs.chunks import Chunk, read_names
from fastmks.inputs.object_file import FORMS, ObjectFile, open_objects

__all__ = ["FORMS", "Chunk", "ObjectFile", "open_objects", "read_names"]
