"""The page of the service: searches of an index under several kernels side by side.

`page_routes` returns the routes, for the service or for an application of your own; `demo_index`
returns an example index. ``pip install ".[service]"``.
"""

from fastmks._util.validation import import_extra

import_extra("starlette", extra="service", needed_by="fastmks.service.page")

from fastmks.service.page.demo_index import demo_index  # noqa: E402, after the check
from fastmks.service.page.routes import Served, page_routes  # noqa: E402

__all__ = ["Served", "demo_index", "page_routes"]
