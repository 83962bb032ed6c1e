"""The page in a browser: picked by mouse and keyboard, its figures are those of the library."""

import re

import pytest
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route

from conftest import Site
from fastmks import Index, Traversal, kernels
from fastmks.service import make_app, open_served
from fastmks.service.page import page_routes

ONE_BY_ONE = Traversal(order="best-first", block=1)


def expected(index, name, kernel="cosine", algorithm="tree", **options):
    query = index.get([name])
    under = Index(index.get(index.ids), kernel, ids=index.ids)
    return under.search(query, algorithm=algorithm, traversal=ONE_BY_ONE, **options)


def assert_shown(visit, kernel, hits):
    assert visit.ids(kernel) == [str(name) for name in hits.ids[0].tolist()]
    assert visit.values(kernel) == hits.values[0].tolist()
    evaluations = visit.figure(kernel, "evaluations").split("\n")[0]
    assert int(evaluations.replace(",", "")) == hits.stats.kernel_evaluations


def test_it_opens_without_a_complaint_and_asks_nobody_else(visit, digits):
    page = visit(digits)
    assert page.kernels() == ["own", "linear", "polynomial:degree=2", "gaussian:bandwidth=48"]
    assert "1,797 vectors of 64 columns" in page.page.locator("#subject").inner_text()
    assert all(url.startswith(digits.url) for url in page.asked)
    assert page.complaints == []


def test_the_demo_opens_on_what_auto_measured_to_be_faster_than_a_scan(visit, demo):
    page = visit(demo)
    assert page.page.locator("#algorithm").input_value() == "auto"
    for kernel in page.kernels():
        index = Index(demo.index.get(demo.index.ids), "cosine" if kernel == "own" else kernel)
        assert_shown(page, kernel, index.search(index.get([0]), k=10, algorithm="filter"))
        words = page.panel(kernel).inner_text()
        assert "by filter" in words
        assert "“auto”, the index would choose filter: it is the fastest one." in words
        own, scan = microseconds(page.figure(kernel, "time"))
        assert own < scan
        assert least_seconds(index, "filter") < least_seconds(index, "scan")
    assert page.complaints == []


def microseconds(shown):
    """The times in a figure: of the search, and of a scan."""
    units = {"µs": 1.0, "ms": 1e3, "s": 1e6}
    found = [float(time) * units[unit] for time, unit in re.findall(r"([\d.]+) (µs|ms|s)", shown)]
    assert len(found) == 2
    return found


def least_seconds(index, algorithm):
    query = index.get([0])
    return min(index.search(query, 10, algorithm=algorithm).stats.seconds for _ in range(9))


def test_a_digit_picked_by_mouse_is_searched_for_under_every_kernel(visit, digits):
    page = visit(digits)
    page.page.locator(".option").nth(13).click()
    page.settle()
    for kernel in page.kernels():
        hits = expected(digits.index, 13, "cosine" if kernel == "own" else kernel, k=10)
        assert_shown(page, kernel, hits)
        assert page.figure(kernel, "gap").startswith("0")
        assert page.figure(kernel, "found").startswith("10 of 10")
    assert page.page.locator(".option[aria-selected=true]").get_attribute("data-id") == "13"
    assert page.complaints == []


def test_a_digit_picked_by_keyboard(visit, digits):
    page = visit(digits)
    page.page.locator(".option[tabindex='0']").focus()
    across = page.page.eval_on_selector_all(
        ".option", "all => all.filter((one) => one.offsetTop === all[0].offsetTop).length"
    )
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft", "Enter"):
        page.page.keyboard.press(key)
    page.settle()
    assert_shown(page, "own", expected(digits.index, across + 1, k=10))
    page.page.keyboard.press("End")
    page.page.keyboard.press("ArrowRight")  # on to the next objects
    page.page.wait_for_selector(".option[data-id='48']:focus")
    page.page.keyboard.press(" ")
    page.settle()
    assert_shown(page, "own", expected(digits.index, 48, k=10))
    page.page.keyboard.press("PageUp")
    page.page.wait_for_selector(".option[data-id='0']:focus")


def test_everything_can_be_reached_with_the_tab_key(visit, digits):
    page = visit(digits)
    reached = []
    for _ in range(60):
        page.page.keyboard.press("Tab")
        reached.append(
            page.page.evaluate("document.activeElement.id || document.activeElement.className")
        )
    wanted = {"theme", "option", "later", "find-id", "k", "algorithm", "epsilon", "rank", "budget"}
    assert wanted <= set(reached)
    assert reached.count("option") <= 1  # the list is one stop, arrows go on from there


def test_a_match_becomes_the_query(visit, digits):
    page = visit(digits, link="#id=5")
    other = page.ids("linear")[0]
    page.panel("linear").locator(".hits button").first.click()
    page.settle()
    assert_shown(page, "linear", expected(digits.index, int(other), "linear", k=10))


@pytest.mark.parametrize("name", ["Enter", "click"])
def test_an_id_can_be_typed(visit, digits, name):
    page = visit(digits)
    page.page.fill("#find-id", "1234")
    if name == "click":
        page.page.click("#find button")
    else:
        page.page.press("#find-id", "Enter")
    page.settle()
    assert_shown(page, "own", expected(digits.index, 1234, k=10))
    page.page.fill("#find-id", "nobody")
    page.page.press("#find-id", "Enter")
    page.settle()
    assert "id must be the id of an indexed object" in page.panel("own").inner_text()


def test_k_is_a_slider(visit, digits):
    page = visit(digits)
    page.slide("k", 17)
    assert page.page.locator("#k-shown").inner_text() == "17"
    assert_shown(page, "linear", expected(digits.index, 0, "linear", k=17))
    page.page.locator("#k").focus()
    page.page.keyboard.press("ArrowLeft")
    page.settle()
    assert_shown(page, "linear", expected(digits.index, 0, "linear", k=16))


@pytest.mark.parametrize("name", ["epsilon", "rank", "budget"])
def test_sliders_of_approximation_show_what_they_buy(visit, digits, name):
    page = visit(digits, link="#id=7&kernels=own")
    assert page.page.locator(f"#{name}-shown").inner_text() == "off"
    page.slide(name, 60)
    shown = page.page.locator(f"#{name}-shown").inner_text()
    if name == "epsilon":
        assert shown == "60 %"
        promise = {"epsilon": 0.6 * 0.25}  # of the cosine's spread among the digits
        assert "epsilon = 0.15" in page.panel("own").locator("header").inner_text()
    else:
        promise = {name: int(shown)}
    hits = expected(digits.index, 7, k=10, **promise)
    exact = expected(digits.index, 7, k=10)
    assert_shown(page, "own", hits)
    gap = float(page.figure("own", "gap").split("\n")[0].removeprefix("≤"))
    assert hits.gap[0] <= gap <= hits.gap[0] * 1.002  # a bound is not rounded down
    assert f"exact: {exact.stats.kernel_evaluations}" in page.figure("own", "evaluations")
    n_found = len(set(hits.ids[0].tolist()) & set(exact.ids[0].tolist()))
    assert page.figure("own", "found").startswith(f"{n_found} of 10")
    assert page.panel("own").locator(".missed").count() == 10 - n_found
    page.page.locator(f"#{name}-on").uncheck()
    page.settle()
    assert_shown(page, "own", exact)


def test_what_does_not_go_together_is_turned_off(visit, digits):
    page = visit(digits, link="#kernels=own&epsilon=0.2&budget=100")
    assert page.page.locator("#epsilon-on").is_checked()
    assert page.page.locator("#budget-shown").inner_text() == "100"
    page.page.check("#rank-on")
    page.settle()
    assert not page.page.locator("#epsilon-on").is_checked()
    assert not page.page.locator("#budget-on").is_checked()
    page.page.check("#budget-on")
    page.settle()
    assert not page.page.locator("#rank-on").is_checked()
    page.page.select_option("#algorithm", "filter")
    page.settle()
    assert not page.page.locator("#budget-on").is_checked()
    assert "by filter" in page.panel("own").inner_text()
    assert page.panel("own").locator("figure.tree").is_hidden()
    assert page.panel("own").locator(".error").is_hidden()


def test_a_link_keeps_everything(visit, digits):
    first = visit(digits, link="#id=42")
    first.slide("k", 6)
    first.slide("budget", 70)
    first.page.uncheck("#kernels input[value=linear]")
    first.settle()
    address = first.page.evaluate("location.hash")
    second = visit(digits, link=address)
    assert (
        second.kernels() == first.kernels() == ["own", "polynomial:degree=2", second.kernels()[2]]
    )
    for kernel in first.kernels():
        assert second.ids(kernel) == first.ids(kernel)
        assert second.figure(kernel, "gap") == first.figure(kernel, "gap")


@pytest.mark.parametrize(
    "link", ["#k=-3&rank=x&id=", "#k=1e9&algorithm=%3Cb%3E&kernels=tanh", "#object={", "#%"]
)
def test_a_bad_link_does_no_harm(visit, digits, link):
    page = visit(digits, link=link)
    assert len(page.kernels()) == 4
    assert page.page.title().startswith("fastmks")


def test_moving_a_slider_quickly_shows_the_last_answer(visit, digits):
    page = visit(digits, link="#kernels=linear")
    for k in range(1, 31):
        page.page.locator("#k").evaluate(
            "(slider, k) => { slider.value = k; slider.dispatchEvent(new Event('input')); }", k
        )
    page.settle()
    assert_shown(page, "linear", expected(digits.index, 0, "linear", k=30))
    n_asked = sum(url.endswith("/compare") for url in page.asked)
    assert n_asked < 20  # most were never sent


def test_a_late_answer_is_dropped(visit, digits):
    page = visit(digits, link="#kernels=linear")
    page.page.evaluate(
        """() => {
          const real = window.fetch;
          let isFirst = true;
          window.fetch = async (path, options) => {
            const isLate = isFirst && path.endsWith("compare");
            isFirst = false;
            const answer = await real(path, { ...options, signal: undefined });
            if (isLate) await new Promise((done) => setTimeout(done, 1200));
            return answer;
          };
        }"""
    )
    page.page.locator(".option").nth(8).click()
    page.page.wait_for_timeout(300)  # it was asked for
    page.page.locator(".option").nth(3).click()
    page.settle()
    assert_shown(page, "linear", expected(digits.index, 3, "linear", k=10))
    page.page.wait_for_timeout(1500)
    assert_shown(page, "linear", expected(digits.index, 3, "linear", k=10))


def test_a_change_of_the_index_is_noticed(visit, changing):
    rows = changing
    page = visit(rows, link="#kernels=own")
    rows.index.add(100 * rows.index.get([0]))
    page.slide("k", 3)
    assert page.ids("own")[0] == "1500"
    assert "1,501 vectors" in page.page.locator("#subject").inner_text()
    rows.served.index = Index(7 * rows.index.get(rows.index.ids), "cosine")
    page.slide("k", 4)  # other kernels are offered by now
    page.page.wait_for_selector(".panel[data-kernel=own] h3:text('Cosine')")
    page.settle()
    assert_shown(page, "own", expected(rows.index, 0, "cosine", k=4))
    assert page.complaints == []


def test_a_service_that_is_gone_is_said_in_words(visit, digits):
    page = visit(digits)
    page.page.route("**/page/compare", lambda route: route.abort())
    page.slide("k", 3)
    assert "does not answer" in page.page.locator("#notice").inner_text()
    page.page.unroute("**/page/compare")
    page.slide("k", 4)
    assert page.page.locator("#notice").is_hidden()
    assert len(page.ids("own")) == 4


def test_a_token_is_asked_for_and_sent(visit, digits):
    page = visit(digits)

    def guard(route):
        is_known = route.request.headers.get("authorization") == "Bearer sesame"
        route.continue_() if is_known else route.fulfill(
            status=401, json={"error": {"message": "no"}}
        )

    page.page.route("**/page/about", guard)
    page.page.reload()
    page.page.fill("#token", "sesame")
    page.page.press("#token", "Enter")
    page.page.wait_for_selector("#token-form", state="hidden")
    page.settle()
    assert len(page.ids("own")) == 10


def test_a_gap_that_nothing_bounds_is_unknown(visit, digits):
    page = visit(digits)

    def unbounded(route):
        answer = route.fetch()
        route.fulfill(response=answer, json={**answer.json(), "gap": None})

    page.page.route("**/page/compare", unbounded)
    page.slide("k", 3)
    assert page.figure("own", "gap").startswith("unknown")
    assert page.complaints == []


def test_the_service_answers_its_own_page_and_no_other_site(visit, rows, tmp_path):
    """The browser itself says for whom it asks: nothing here sets a header."""
    path = tmp_path / "rows.fmks"
    rows.index.save(path)
    app = make_app(open_served(path), make_routes=page_routes)
    service = Site(rows.index, app)
    html = f'<img src="{service.url}page/about"><a href="{service.url}">a link</a>'
    foreign = Site(None, Starlette(routes=[Route("/", lambda _: HTMLResponse(html))]))
    try:
        page = visit(service)
        assert len(page.ids("own")) == 10
        assert page.complaints == []
        other = page.context.new_page()
        other.goto(foreign.url.replace("127.0.0.1", "localhost"))
        counts = page.context.request.get(f"{service.url}metrics").text()
        assert 'fastmks_refused_total{type="ForeignSite"} 1' in counts
        other.click("a")
        other.wait_for_selector("#answers[aria-busy=false] .hits button")
    finally:
        service.close()
        foreign.close()


def test_proteins_are_compared_by_their_letters(visit, proteins):
    page = visit(proteins, link="#id=P03.2")
    assert page.kernels()[0] == "own"
    kernel = kernels.Normalized(kernels.Spectrum(3))
    assert_shown(page, "own", expected(proteins.index, "P03.2", kernel, "filter", k=10))
    page.page.select_option("#algorithm", "tree")
    page.settle()
    assert_shown(page, "own", expected(proteins.index, "P03.2", kernel, k=10))
    assert page.ids("own")[0] == "P03.2"
    assert page.panel("own").locator("mark").count() > 3
    page.page.click("#write summary")
    page.page.fill("#write-text", proteins.index.get(["P05.0"])[0].lower().upper()[:60])
    page.page.click("#write-form button")
    page.settle()
    assert page.ids("own")[0] == "P05.0"
    assert page.complaints == []


def test_rows_are_compared(visit, rows):
    page = visit(rows, link="#id=3")
    assert_shown(page, "own", expected(rows.index, 3, "linear", k=10))
    assert page.page.locator("canvas.strip").count() > 40
    page.page.click("#write summary")
    page.page.fill("#write-text", "1, 2, 3")
    page.page.click("#write-form button")
    page.settle()
    assert "object must be a list of 12 finite numbers" in page.panel("own").inner_text()
    assert page.panel("own").locator(".hits").is_hidden()  # they answered something else
    page.page.fill("#write-text", " ".join(["0.5"] * 12))
    page.page.click("#write-form button")
    page.settle()
    hits = rows.index.search([0.5] * 12, k=10)
    assert page.values("own") == hits.values[0].tolist()
