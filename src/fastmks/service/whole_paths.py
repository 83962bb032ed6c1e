"""Routes that match whole paths."""

import re
from typing import Any

from starlette.routing import Route


class WholeRoute(Route):
    """A route whose pattern ends where the path ends, and whose names may hold any character.

    Starlette's patterns end with ``$``, which also matches before a newline at the end: the path
    ``/health%0A`` would be ``/health``, and the object ``a%0A`` the object ``a``.

    Examples
    --------
    >>> from fastmks.service.whole_paths import WholeRoute
    >>> route = WholeRoute("/v1/objects/{id:path}", print)
    >>> request = {"type": "http", "method": "GET", "path": "/v1/objects/a\\n"}
    >>> route.matches(request)[1]["path_params"]
    {'id': 'a\\n'}
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        pattern = self.path_regex.pattern.removesuffix("$")
        self.path_regex = re.compile(rf"{pattern}\Z", re.DOTALL)
