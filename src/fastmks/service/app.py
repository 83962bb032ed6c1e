"""The ASGI app of a service: its routes and their answers."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from typing import Any, TypeAlias

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from fastmks._util.progress import Progress
from fastmks.index.view import view_of
from fastmks.service.body import Bodies
from fastmks.service.guards import ROUTE, Guard, answer_refusal, check_token
from fastmks.service.json import read_json, to_json
from fastmks.service.json_answers import explain, search, show_stats
from fastmks.service.json_objects import form_of
from fastmks.service.limits import Limits
from fastmks.service.metrics import Metrics
from fastmks.service.openapi import describe
from fastmks.service.refusals import RefusalError, UnwritableError, refusal_of
from fastmks.service.schema import HttpSearch, Reader
from fastmks.service.served import Change, Served
from fastmks.service.whole_paths import WholeRoute
from fastmks.service.workers import GRACE, Deadline, LimitedRun, Run, Workers

_Answer: TypeAlias = Callable[[Request], Awaitable[Response]]
_DEFAULTS = Limits()
_LOG = logging.getLogger("fastmks.service")
_UNEXPECTED = RefusalError(
    500, "InternalError", "an error that should not happen; the log of the service has it."
)


def make_app(
    served: Served,
    limits: Limits = _DEFAULTS,
    token: str | None = None,
    *,
    make_routes: Callable[[Served, Run], Sequence[BaseRoute]] | None = None,
) -> Starlette:
    """Return the ASGI app that answers requests about an index.

    Parameters
    ----------
    served : Served
        From `open_served`; closed when the app ends.
    limits : Limits, optional
        The limits of requests.
    token : str, optional
        The token of every request but ``GET /health``, at least 16 characters. Without one,
        requests must name this machine as their host.
    make_routes : callable (Served, run) -> starlette routes, optional
        More routes, behind the same guard. ``await run(function)`` calls ``function(progress)`` in
        one of the threads that requests share, under the same limits, and ``await
        run.with_body(request, function)`` calls ``function(body, progress)``.

    Examples
    --------
    >>> import fastmks, pathlib, tempfile
    >>> from fastmks.service import make_app, open_served
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "arrows.fmks")
    ...     fastmks.Index([[3.0, 0.0], [0.0, 2.0]]).save(path)
    ...     app = make_app(open_served(path))
    >>> app.state.stopping.is_set()
    False
    """
    check_token(token)
    service = _Service(served, limits, has_token=token is not None)
    app = Starlette(
        routes=[
            *service.routes(),
            *([] if make_routes is None else make_routes(served, service.run)),
        ],
        middleware=[
            Middleware(
                Guard,
                token=token,
                metrics=service.metrics,
                is_stopping=service.stopping.is_set,
            )
        ],
        exception_handlers={
            Exception: service.answer_error,
            HTTPException: service.answer_http_error,
        },
        lifespan=service.lifespan,
    )
    app.state.stopping = service.stopping  # set it, and new requests are refused
    app.state.is_idle = service.is_idle
    return app


class _Service:
    """The index, its workers and its counts."""

    def __init__(self, served: Served, limits: Limits, *, has_token: bool) -> None:
        self._served, self._limits = served, limits
        self.metrics = Metrics()
        self.stopping = threading.Event()
        self._workers = Workers(limits)
        self._bodies = Bodies(limits)
        self.run = LimitedRun(limits, self._workers, self._bodies)
        settings = view_of(served.index).settings
        form = form_of(served.index, limits)
        self._reader = Reader(form, limits, has_text_ids=settings.has_text_ids)
        self._description = to_json(describe(self._reader, served.form, has_token=has_token))

    def is_idle(self) -> bool:
        """Whether no request and no change runs."""
        return self._workers.are_idle and not self._served.is_changing

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        gets: dict[str, _Answer] = {
            "/health": self._health,
            "/metrics": self._metrics_text,
            "/openapi.json": self._openapi,
            "/v1/index": self._index,
            "/v1/objects/{id:path}": self._object,
        }
        posts: dict[str, _Answer] = {
            "/v1/search": self._search,
            "/v1/batch": self._batch,
            "/v1/explain": self._explain,
            "/v1/objects": self._add,
            "/v1/objects/remove": self._remove,
        }
        return [
            WholeRoute(path, self._answering(path, answer), methods=[method])
            for method, answers in (("POST", posts), ("GET", gets))
            for path, answer in answers.items()
        ]

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """At the end, finish the running requests and save; wait for GRACE seconds at most."""
        try:
            yield
        finally:
            self.stopping.set()
            await asyncio.to_thread(self._workers.close, GRACE)
            with suppress(UnwritableError):  # its cause is in the log
                await asyncio.to_thread(self._served.close, GRACE)

    # Errors.

    def _answering(self, path: str, answer: _Answer) -> _Answer:
        """Return an endpoint that turns errors into answers."""

        async def answering(request: Request) -> Response:
            request.scope[ROUTE] = path
            try:
                return await answer(request)
            except Exception as error:
                refusal = refusal_of(error)
                if refusal is None:
                    _LOG.exception("%s cannot be answered", path)
                    refusal = _UNEXPECTED
                self.metrics.add("fastmks_refused_total", type=refusal.kind)
                return answer_refusal(refusal)

        return answering

    async def answer_http_error(self, request: Request, error: Exception) -> Response:
        """Answer a request that matches no route."""
        assert isinstance(error, HTTPException)
        kind = {404: "NotFound", 405: "NotAllowed"}.get(error.status_code, "Refused")
        what = f"{request.method[:20]} {request.url.path[:200]}"
        self.metrics.add("fastmks_refused_total", type=kind)
        message = f"{what}: {error.detail}. GET /openapi.json lists the routes."
        return answer_refusal(
            RefusalError(error.status_code, kind, message, headers=error.headers or {})
        )

    async def answer_error(self, request: Request, error: Exception) -> Response:
        """Answer an unexpected error; its text is in the log, not in the answer."""
        return answer_refusal(_UNEXPECTED)

    # Facts about the service.

    async def _health(self, request: Request) -> Response:
        if self._workers.are_overdue:
            raise RefusalError(
                503,
                "Overdue",
                f"all {self._limits.workers} workers are busy with requests whose time is over.",
            )
        return _json({"status": "cannot write" if self._served.is_broken else "ok"})

    async def _openapi(self, request: Request) -> Response:
        return Response(self._description, media_type="application/json")

    async def _index(self, request: Request) -> Response:
        served, index = self._served, self._served.index
        view = view_of(index)
        return _json(
            {
                "size": len(index),
                "kind": view.kind,
                "kernel": repr(index.kernel),
                "algorithm": view.settings.algorithm,
                "form": served.form.name,
                "writable": served.is_writable,
                "limits": asdict(self._limits),
            }
        )

    async def _metrics_text(self, request: Request) -> Response:
        served = self._served
        text = self.metrics.text(
            {
                "fastmks_in_flight": self.metrics.n_in_flight,
                "fastmks_working": self._workers.n_admitted,
                "fastmks_overdue": self._workers.n_overdue,
                "fastmks_objects": len(served.index),
                "fastmks_journal_bytes": served.journal_bytes,
                "fastmks_can_write": int(served.is_writable and not served.is_broken),
            }
        )
        return Response(text, media_type="text/plain; version=0.0.4")

    # Searches.

    async def _search(self, request: Request) -> Response:
        def work(text: bytes, progress: Progress) -> bytes:
            (answer,), stats = self._found(self._reader.read_search(read_json(text)), progress)
            return to_json({**answer, "stats": stats})

        return await self._worked(request, work)

    async def _batch(self, request: Request) -> Response:
        def work(text: bytes, progress: Progress) -> bytes:
            answers, stats = self._found(self._reader.read_batch(read_json(text)), progress)
            return to_json({"answers": answers, "stats": stats})

        return await self._worked(request, work)

    def _found(self, asked: HttpSearch, progress: Progress) -> tuple[list[dict[str, Any]], Any]:
        answers, stats = search(self._served.index, asked, self._limits, progress)
        self.metrics.add_search(stats)
        return answers, show_stats(stats)

    async def _explain(self, request: Request) -> Response:
        def work(text: bytes, progress: Progress) -> bytes:
            asked = self._reader.read_explain(read_json(text))
            return to_json(explain(self._served.index, asked, self._limits, progress))

        return await self._worked(request, work)

    async def _object(self, request: Request) -> Response:
        def work(progress: Progress) -> bytes:
            name = self._reader.read_id(request.path_params["id"])
            index = self._served.index
            if name not in index:
                raise RefusalError(404, "NotFound", f"there is no object {str(name)[:80]!r}.")
            return to_json({"id": name, "object": self._served.form.show_first(index.get([name]))})

        return Response(await self.run(work), media_type="application/json")

    async def _worked(self, request: Request, work: Callable[[bytes, Progress], bytes]) -> Response:
        return Response(await self.run.with_body(request, work), media_type="application/json")

    # Changes.

    async def _add(self, request: Request) -> Response:
        return await self._changed(request, self._reader.read_addition, "added")

    async def _remove(self, request: Request) -> Response:
        return await self._changed(request, self._reader.read_removal, "removed")

    async def _changed(
        self, request: Request, read: Callable[[Any], Change], what: str
    ) -> Response:
        if not self._served.is_writable:
            self._served.submit(Change([]))  # raises the refusal
        async with self._bodies.read(request) as text:
            deadline = Deadline(self._limits.seconds)
            change = await self._workers.run(lambda deadline: read(read_json(text)), deadline)
            future = self._served.submit(change)
            waited = asyncio.wrap_future(future)
            done, _ = await asyncio.wait([waited], timeout=deadline.seconds_left)
            if not done and future.cancel():  # not begun yet
                raise deadline.refusal()
            ids = await waited
        self.metrics.add("fastmks_changes_total", len(ids), kind=what)
        return _json({"ids": ids, "size": len(self._served.index)})


def _json(value: Any) -> Response:
    return Response(to_json(value), media_type="application/json")
