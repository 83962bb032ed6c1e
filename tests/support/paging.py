"""The page of the service without a browser, and objects to try it on."""

import asyncio
from types import SimpleNamespace

import httpx
import numpy as np
from starlette.applications import Starlette

from fastmks import Traversal
from fastmks.service.page import page_routes

RNG = np.random.default_rng(5)
ROWS = (RNG.normal(size=(900, 12)) * 0.7 ** np.arange(12)).astype(np.float32)
WORDS = ["".join(RNG.choice(list("ACGT"), 30)) for _ in range(60)]
ONE_BY_ONE = Traversal(order="best-first", block=1)
HOSTILE = "<img src=x onerror=\"document.title='hit'\">"
RINGS = [([(0, 1), (1, 2), (2, 0)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])] * 4


class Page:
    """The routes of an index, asked without a network."""

    def __init__(self, index, **options):
        self.served = SimpleNamespace(index=index, path=None, is_writable=True)
        self.app = Starlette(routes=page_routes(self.served, **options))

    def ask(self, method, path, **options):
        async def asked():
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://page") as client:
                return await client.request(method, path, **options)

        return asyncio.run(asked())

    def get(self, path):
        answer = self.ask("GET", path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def compare(self, **request):
        answer = self.ask("POST", "/page/compare", json=request)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def refusal(self, **request):
        answer = self.ask("POST", "/page/compare", json=request)
        assert answer.status_code == 400, answer.text
        assert answer.json()["error"]["type"] == "InvalidArgument"
        return answer.json()["error"]["message"]
