"""Every kind of object that can be searched: each module here lists problems of its own.

A module `tests/support/kinds/<family>.py` has `KINDS`, a list of `Kind`; `test_any_object.py` runs
every engine and every mode over all of them.
"""

import importlib
import pkgutil
from pathlib import Path

from support.kinds.base import Kind

__all__ = ["KINDS", "Kind"]

KINDS = [
    kind
    for module in pkgutil.iter_modules([str(Path(__file__).parent)])
    if module.name != "base"
    for kind in importlib.import_module(f"support.kinds.{module.name}").KINDS
]
