"""What the page looks like: pictures that are drawn, both themes, small screens, plain basics."""

import pytest

from conftest import HOSTILE

_PAINTED = """canvas => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const seen = new Map();
  for (let i = 0; i < data.length; i += 4) {
    if (data[i + 3] < 250) continue;
    const colour = [data[i], data[i + 1], data[i + 2]].join(" ");
    seen.set(colour, (seen.get(colour) ?? 0) + 1);
  }
  return Object.fromEntries(seen);
}"""
_COLOUR = """name => {
  const probe = document.createElement("span");
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color.match(/\\d+/g).slice(0, 3).join(" ");
  probe.remove();
  return found;
}"""
# Each text with its colour and that of what is behind it.
_TEXTS = """() => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const behind = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const found = rgb(getComputedStyle(at).backgroundColor);
      if (found.length < 4 || found[3] > 0) return found.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const one = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    const passed = ":disabled, .skip, .hidden, noscript, option";
    if (!text || one.closest(passed) || !one.checkVisibility()) continue;
    found.push([text, rgb(getComputedStyle(one).color).slice(0, 3), behind(one)]);
  }
  return found;
}"""
_UNNAMED = """() => {
  const wanted = "button, input, select, textarea, canvas[role], [role=option], [role=listbox]";
  const named = (one) =>
    one.getAttribute("aria-label") || one.getAttribute("aria-labelledby") ||
    one.textContent.trim() || one.labels?.length;
  return [...document.querySelectorAll(wanted)]
    .filter((one) => one.checkVisibility() && !named(one))
    .map((one) => one.outerHTML);
}"""


def luminance(colour):
    parts = [c / 255 for c in colour]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first, second):
    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_pictures_are_drawn_in_the_colours_of_the_theme(visit, digits, scheme):
    page = visit(digits, color_scheme=scheme)
    for kernel in page.kernels():
        for name in ("map", "tree"):
            canvas = page.panel(kernel).locator(f"figure.{name} canvas")
            painted = canvas.evaluate(_PAINTED)
            assert sum(painted.values()) > 1000
            assert len(painted) > 5
        painted = page.panel(kernel).locator("figure.map canvas").evaluate(_PAINTED)
        for name in ("pruned", "evaluated", "hit"):
            assert painted.get(page.page.evaluate(_COLOUR, name), 0) > 20, name
        words = page.panel(kernel).locator("figure.map canvas").get_attribute("aria-label")
        assert "objects were evaluated" in words
        words = page.panel(kernel).locator("figure.tree canvas").get_attribute("aria-label")
        assert "largest subtrees" in words


def test_fewer_evaluations_paint_less(visit, digits):
    page = visit(digits, link="#kernels=own")
    strong = page.page.evaluate(_COLOUR, "evaluated")
    canvas = page.panel("own").locator("figure.map canvas")
    before = canvas.evaluate(_PAINTED)[strong]
    page.slide("budget", 40)
    assert 0 < canvas.evaluate(_PAINTED)[strong] < before / 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read(visit, digits, scheme):
    page = visit(digits, link="#kernels=own&kernels=linear&budget=60", color_scheme=scheme)
    page.page.wait_for_timeout(300)  # what fades in has come
    texts = page.page.evaluate(_TEXTS)
    assert len(texts) > 60
    poor = [(text, contrast(ink, paper)) for text, ink, paper in texts]
    assert [(text, ratio) for text, ratio in poor if ratio < 4.5] == []


def test_the_theme_is_chosen_and_remembered(visit, digits):
    page = visit(digits, color_scheme="light")
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.page.evaluate(paper)
    page.page.click("#theme")
    page.settle()
    dark = page.page.evaluate(paper)
    assert light != dark
    assert page.page.locator("#theme").get_attribute("aria-pressed") == "true"
    page.page.reload()
    page.settle()
    assert page.page.evaluate(paper) == dark
    shown = page.panel("own").locator("figure.map canvas").evaluate(_PAINTED)
    assert page.page.evaluate(_COLOUR, "pruned") in shown
    page.page.click("#theme")
    page.settle()
    assert page.page.evaluate(paper) == light


@pytest.mark.parametrize("name", ["digits", "proteins", "rows", "hostile"])
def test_nothing_is_wider_than_the_screen(visit, request, name):
    page = visit(request.getfixturevalue(name)).page
    for width in (1024, 768, 390, 320):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    tops = page.eval_on_selector_all(
        ".panel", "all => all.map((one) => one.getBoundingClientRect().top)"
    )
    assert len(set(tops)) == len(tops) > 1  # one below the other


def test_a_phone_has_room_for_fingers(visit, digits):
    page = visit(digits, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page.page.locator(".option").nth(9).tap()
    page.settle()
    assert page.ids("own")[0] == "9"
    assert not page.page.locator("#k").is_visible()  # the answers come first
    page.page.locator("#settings > summary").tap()
    assert page.page.locator("#k").is_visible()
    heights = page.page.eval_on_selector_all(
        "button, select, input[type=text], input[type=range]",
        "all => all.filter((one) => one.checkVisibility())"
        ".map((one) => one.getBoundingClientRect().height)",
    )
    assert min(heights) >= 38


def test_hostile_text_is_shown_as_text(visit, hostile):
    page = visit(hostile)
    assert page.page.title().startswith("fastmks")
    assert page.page.locator("main img").count() == 0
    assert page.page.locator("main script").count() == 0
    assert page.page.locator("main b").count() == 0
    shown = page.page.locator("#objects").inner_text()
    for text in (HOSTILE, "<b>bold</b>", "<script>document.title='hit'</script>"):
        assert text in shown
    page.page.locator(".option").nth(1).click()
    page.settle()
    assert HOSTILE in page.page.locator("#query").inner_text()
    assert page.ids("own")[0] == HOSTILE
    assert page.page.title().startswith("fastmks")
    assert page.complaints == []


@pytest.mark.parametrize("name", ["digits", "proteins", "rows"])
def test_the_basics_for_screen_readers(visit, request, name):
    page = visit(request.getfixturevalue(name)).page
    assert page.evaluate("document.documentElement.lang") == "en"
    assert page.evaluate(_UNNAMED) == []
    assert page.locator("h1").count() == 1
    assert page.locator("main").count() == 1
    assert page.locator("[role=listbox] > :not([role=option])").count() == 0
    assert page.locator("[role=option][tabindex='0']").count() == 1
    ids = page.eval_on_selector_all("[id]", "all => all.map((one) => one.id)")
    assert len(ids) == len(set(ids))
    named = page.eval_on_selector_all(
        "[aria-labelledby], [aria-describedby]",
        "all => all.flatMap((one) => [one.getAttribute('aria-labelledby'), "
        "one.getAttribute('aria-describedby')]).filter((id) => id)",
    )
    assert set(named) <= set(ids)


def test_focus_is_seen(visit, digits):
    page = visit(digits).page
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_nothing_moves_for_those_who_want_it_so(visit, digits):
    page = visit(digits, reduced_motion="reduce").page
    lasting = page.eval_on_selector_all(
        "*", "all => all.map((one) => getComputedStyle(one).transitionDuration)"
    )
    assert set(lasting) == {"0s"}


def test_an_answer_does_not_push_others_about(visit, digits):
    page = visit(digits)
    top = "document.querySelector('.panel figure').getBoundingClientRect().top"
    before = page.page.evaluate(top)
    page.page.locator(".option").nth(20).click()
    assert page.page.evaluate(top) == before
    page.settle()
    assert page.page.evaluate(top) == before
