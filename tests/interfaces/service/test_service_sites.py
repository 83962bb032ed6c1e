"""Whom a service answers in a browser: its own page and its user, no page of another site."""

import pytest

from fastmks.service.page import page_routes
from support.serving import serving

TOKEN = "a token of some length"
QUERY = {"query": [1.0, 2.0]}
FOREIGN = [
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"},
    {"origin": "https://evil.example"},
    {"origin": "http://localhost:3000"},
    {"origin": "null"},
    {"origin": ""},
]


def assert_refused(answer):
    assert answer.status_code == 403
    assert answer.json()["error"]["type"] == "ForeignSite"


@pytest.mark.parametrize("token", [None, TOKEN])
def test_pages_of_other_sites_may_not_ask(path, token):
    """An image of another site is a GET that names this machine, and brings kept passwords."""
    with serving(path, token=token, make_routes=page_routes) as client:
        own = f"http://127.0.0.1:{client.base_url.port}"
        for headers in FOREIGN:
            for route in ("/v1/index", "/v1/objects/0", "/page/about", "/page/pictures?kernel=own"):
                assert_refused(client.get(route, headers=headers))
            assert_refused(client.post("/v1/search", json=QUERY, headers=headers))
            assert client.get("/", headers=headers).is_success  # a link may lead here
            assert client.get("/health", headers=headers).is_success
        for headers in (
            {},
            {"sec-fetch-site": "same-origin"},
            {"sec-fetch-site": "none"},
            {"origin": own},
            # As a proxy hands it on that has another name: the browser has compared them.
            {"sec-fetch-site": "same-origin", "origin": "https://index.example.org"},
        ):
            assert client.get("/page/about", headers=headers).is_success
            assert client.post("/v1/search", json=QUERY, headers=headers).is_success
        twice = [("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")]
        assert_refused(client.get("/v1/index", headers=twice))
