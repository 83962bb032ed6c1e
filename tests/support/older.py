"""Indexes as earlier versions made them."""

from unittest import mock

from fastmks import Index


def index_with_odd_ids(objects, kernel="linear", *, ids):
    """An index with ids that are refused today, and that files of before may have."""
    with mock.patch("fastmks.index.ids._check_new"):
        return Index(objects, kernel, ids=ids)
