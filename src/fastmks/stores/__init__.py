"""Stores own the bytes of the objects, one kind per module. Input is checked here, once."""

from fastmks.stores.base import Store
from fastmks.stores.vector_input import make_queries, make_store
from fastmks.stores.vectors import DenseStore, SparseStore, VectorStore

__all__ = ["DenseStore", "SparseStore", "Store", "VectorStore", "make_queries", "make_store"]
