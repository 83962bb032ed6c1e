"""An index over HTTP: searches and durable changes in JSON, with limits, a token and metrics.

``pip install ".[service]"``; docs/guides/service.md says how.
"""

from fastmks._util.validation import import_extra

import_extra("starlette", extra="service", needed_by="fastmks.service")
import_extra("uvicorn", extra="service", needed_by="fastmks.service")

from fastmks.service.app import make_app  # noqa: E402, after the check
from fastmks.service.limits import Limits  # noqa: E402
from fastmks.service.open import open_served  # noqa: E402
from fastmks.service.served import Served  # noqa: E402
from fastmks.service.server import serve  # noqa: E402

__all__ = ["Limits", "Served", "make_app", "open_served", "serve"]
