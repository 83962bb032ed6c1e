"""A Chromium for all tests, and pages of small indexes that it opens."""

import shutil
import socket
import threading
from types import SimpleNamespace

import numpy as np
import pytest
import uvicorn
from playwright.sync_api import sync_playwright
from starlette.applications import Starlette

from fastmks import Index, kernels
from fastmks._util.digits import load_digits
from fastmks.service.page import demo_index, page_routes

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
HOSTILE = "<img src=x onerror=\"document.title='hit'\">"


class Site:
    """An index on a port of this machine, until it is closed; the page alone, or some app of it."""

    def __init__(self, index, app=None):
        self.served = SimpleNamespace(index=index, path=None, is_writable=True)
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/"
        app = app or Starlette(routes=page_routes(self.served))
        self._server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
        options = {"sockets": [self._socket]}
        self._thread = threading.Thread(target=self._server.run, kwargs=options, daemon=True)
        self._thread.start()

    @property
    def index(self):
        return self.served.index

    def close(self):
        self._server.should_exit = True
        self._thread.join(10)
        self._socket.close()


class Visit:
    """A page of the browser, and whatever it complained of."""

    def __init__(self, browser, site, *, link="", **options):
        self.site = site
        options = {"viewport": {"width": 1360, "height": 900}, **options}
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.complaints = []
        self.asked = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(site.url + link)
        self.settle()

    def settle(self):
        """Wait until the last answer is shown."""
        self.page.wait_for_selector("#answers[aria-busy=false]")

    def panel(self, kernel):
        return self.page.locator(f'.panel[data-kernel="{kernel}"]')

    def kernels(self):
        return self.page.eval_on_selector_all(".panel", "all => all.map((p) => p.dataset.kernel)")

    def ids(self, kernel):
        return (
            self.panel(kernel)
            .locator(".hits button")
            .evaluate_all("all => all.map((button) => button.dataset.id)")
        )

    def values(self, kernel):
        shown = self.panel(kernel).locator(".hits .value")
        return [float(text) for text in shown.evaluate_all("all => all.map((v) => v.title)")]

    def figure(self, kernel, name):
        return self.panel(kernel).locator(f'[data-figure="{name}"]').inner_text()

    def slide(self, name, value):
        """Move a slider as its user would: the page hears of it."""
        self.page.locator(f"#{name}").evaluate(
            "(slider, value) => { slider.value = value; "
            "slider.dispatchEvent(new Event('input', { bubbles: true })); }",
            value,
        )
        self.settle()


@pytest.fixture(scope="session")
def browser():
    found = next(filter(None, map(shutil.which, NAMES)), None)
    assert found, "no Chromium: tools/install_browser.sh says what to do"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=OPTIONS)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser):
    visits = []

    def open_page(site, **options):
        visits.append(Visit(browser, site, **options))
        return visits[-1]

    yield open_page
    for one in visits:
        one.context.close()


def site_of(make):
    @pytest.fixture(scope="session")
    def site():
        opened = Site(make())
        yield opened
        opened.close()

    return site


def make_digits():
    return Index(load_digits(), "cosine", algorithm="tree")


def make_proteins():
    rng = np.random.default_rng(3)
    letters = list("ACDEFGHIKLMNPQRSTVWY")
    found, ids = [], []
    for family in range(12):
        first = rng.choice(letters, 90)
        for member in range(6):
            other = first.copy()
            is_new = rng.random(len(first)) < 0.03 * member
            other[is_new] = rng.choice(letters, is_new.sum())
            found.append("".join(other))
            ids.append(f"P{family:02}.{member}")
    return Index(found, kernels.Normalized(kernels.Spectrum(3)), ids=ids)


def make_rows():
    rng = np.random.default_rng(1)
    return Index(rng.normal(size=(1500, 12)) * 0.7 ** np.arange(12), "linear")


def make_hostile():
    texts = ["plain text", HOSTILE, "<b>bold</b>", "'\"&<>", "</script><script>alert(1)</script>"]
    ids = ["<script>document.title='hit'</script>", HOSTILE, "a&b", '" onload="x', "е́ ünï 漢"]
    return Index(texts, kernels.Normalized(kernels.Spectrum(1)), ids=ids)


demo = site_of(demo_index)
digits = site_of(make_digits)
proteins = site_of(make_proteins)
rows = site_of(make_rows)
changing = site_of(make_rows)
hostile = site_of(make_hostile)
