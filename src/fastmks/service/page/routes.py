"""The routes of the page: its requests, checked, and answered in threads."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from fastmks._util.progress import Progress
from fastmks._util.validation import check_count
from fastmks.errors import InvalidArgument
from fastmks.index.index import Index
from fastmks.index.view import view_of
from fastmks.service.body import Bodies
from fastmks.service.guards import ROUTE, answer_refusal
from fastmks.service.json import read_json, to_json
from fastmks.service.limits import Limits
from fastmks.service.page.comparison import compare
from fastmks.service.page.views import MOST_HITS, View, Views
from fastmks.service.refusals import RefusalError, refusal_of
from fastmks.service.whole_paths import WholeRoute
from fastmks.service.workers import Run

__all__ = ["Served", "page_routes"]

_T = TypeVar("_T")
_Answer: TypeAlias = Callable[[View, Mapping[str, Any], Progress], dict[str, Any]]

_FOLDER = Path(__file__).parent / "assets"
_TYPES = {
    "controls.js": "text/javascript",
    "drawings.js": "text/javascript",
    "icon.svg": "image/svg+xml",
    "objects.js": "text/javascript",
    "page.css": "text/css",
    "page.js": "text/javascript",
    "panels.js": "text/javascript",
    "pictures.js": "text/javascript",
    "service.js": "text/javascript",
    "state.js": "text/javascript",
}
_HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; object-src 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_MOST_LISTED = 200  # objects


class Served(Protocol):
    """The index of the page, which may change, or be replaced, while it is served."""

    @property
    def index(self) -> Index:
        """The index as it is now."""

    @property
    def path(self) -> Path | None:
        """Its file, if it has one."""

    @property
    def is_writable(self) -> bool:
        """Whether requests may change it."""


class Unhurried:
    """`Run` in any thread, for as long as it takes; bodies are limited as those of a service."""

    def __init__(self) -> None:
        self.limits = Limits()
        self._bodies = Bodies(self.limits)

    async def __call__(self, function: Callable[[Progress], _T], /) -> _T:
        """Call a function."""
        return await run_in_threadpool(function, Progress(False))

    async def with_body(self, request: Request, function: Callable[[bytes, Progress], _T], /) -> _T:
        """Call a function of the body of a request."""
        async with self._bodies.read(request) as text:
            return await run_in_threadpool(function, text, Progress(False))


def page_routes(
    served: Served, run: Run | None = None, *, most_objects: int = 200_000
) -> list[BaseRoute]:
    """Return the routes of the page: ``/``, its files, and its requests.

    Parameters
    ----------
    served : Served
        The index to search.
    run : Run, optional
        Reads bodies and calls functions in threads, as in `fastmks.service.make_app`; without a
        time limit when not given.
    most_objects : int, default 200_000
        A larger index, or one of more than ``most_objects`` kilobytes, is searched as it is, under
        its own kernel and with its own engines: for every other kernel the page would build
        another index of all objects.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from starlette.applications import Starlette
    >>> import fastmks
    >>> from fastmks.service.page import page_routes
    >>> index = fastmks.Index([[3.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    >>> served = SimpleNamespace(index=index, path=None, is_writable=False)
    >>> app = Starlette(routes=page_routes(served))
    >>> [route.path for route in app.routes][:2]
    ['/', '/page/about']
    """
    working = Unhurried() if run is None else run
    views = Views(
        lambda: served.index,
        most_objects=check_count("most_objects", most_objects),
        limits=working.limits,
    )
    files = {name: (_FOLDER / name).read_bytes() for name in ("index.html", *_TYPES)}

    async def front(request: Request) -> Response:
        return Response(files["index.html"], media_type="text/html", headers=_HEADERS)

    async def asset(request: Request) -> Response:
        name = request.path_params["asset"]
        if name not in _TYPES:
            return _refused(RefusalError(404, "NotFound", "the page has no such file."))
        headers = _HEADERS if name != "icon.svg" else _HEADERS | {"Cache-Control": "max-age=86400"}
        return Response(files[name], media_type=_TYPES[name], headers=headers)

    def answered(answer: _Answer) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            return await _answered(request, working, views, answer)

        return endpoint

    return [
        WholeRoute("/", front, methods=["GET"]),
        WholeRoute("/page/about", answered(_about), methods=["GET"]),
        WholeRoute("/page/objects", answered(_objects), methods=["GET"]),
        WholeRoute("/page/pictures", answered(_pictures), methods=["GET"]),
        WholeRoute("/page/compare", answered(compare), methods=["POST"]),
        WholeRoute("/page/{asset}", asset, methods=["GET"]),
    ]


async def _answered(request: Request, run: Run, views: Views, answer: _Answer) -> Response:
    """Answer in a thread; a wrong request gets an error message, as in the service."""
    request.scope[ROUTE] = request.url.path

    def work(given: Mapping[str, Any], progress: Progress) -> bytes:
        return to_json(answer(views.now(progress), given, progress))

    try:
        if request.method == "POST":
            found = await run.with_body(request, lambda text, progress: work(_read(text), progress))
        else:
            given = dict(request.query_params)
            found = await run(lambda progress: work(given, progress))
    except Exception as error:
        refusal = refusal_of(error)
        if refusal is None:
            raise
        return _refused(refusal)
    return Response(found, media_type="application/json", headers=_HEADERS)


def _refused(refusal: RefusalError) -> Response:
    answer = answer_refusal(refusal)
    answer.headers.update(_HEADERS)
    return answer


def _read(text: bytes) -> Mapping[str, Any]:
    """Return the fields of a request."""
    fields = read_json(text)
    if not isinstance(fields, dict):
        raise InvalidArgument("the body must be an object, with fields by name.")
    return fields


def _about(view: View, given: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    n_objects = len(view.index)
    return {
        "version": view.version,
        "size": n_objects,
        "kind": view_of(view.index).kind,
        "form": view.form.name,
        "n_columns": view.form.n_columns,
        "is_large": view.is_large,
        "kernels": [choice.as_dict() for choice in view.choices.values()],
        "sliders": {
            "k": {"least": 1, "most": min(MOST_HITS, n_objects), "value": min(10, n_objects)},
            "rank": {"least": 1, "most": n_objects, "value": max(1, n_objects // 20)},
            "budget": {"least": 1, "most": n_objects, "value": max(1, n_objects // 20)},
        },
    }


def _objects(view: View, given: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    begin = _whole("from", given.get("from", "0"), least=0)
    count = min(_MOST_LISTED, _whole("n", given.get("n", "40"), least=1))
    ids = view.index.ids[begin : begin + count]
    return {"version": view.version, "from": begin, "objects": view.drawn(ids)}


def _pictures(view: View, given: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Return the pictures that comparisons have drawn by now; it builds none."""
    choice = view.choice(given.get("kernel"))
    map_ = view.drawn_map(choice)
    icicle = view.drawn_icicle(choice) if given.get("tree") == "true" else None
    return {
        "version": view.version,
        "map": None if map_ is None else {"points": map_.points, "basis": map_.basis},
        "tree": None if icicle is None else icicle.as_dict(),
    }


def _whole(name: str, given: str, *, least: int) -> int:
    if not (given.isascii() and given.isdigit() and len(given) <= 18) or int(given) < least:
        raise InvalidArgument(f"{name} must be a whole number of at least {least}; got {given!r}.")
    return int(given)
