"""Stores own the bytes of the objects, one kind per module. Input is checked here, once."""

from fastmks.data.base import Store
from fastmks.data.vector_input import make_queries, make_store
from fastmks.data.vectors import DenseStore, SparseStore, VectorStore

__all__ = ["DenseStore", "SparseStore", "Store", "VectorStore", "make_queries", "make_store"]
