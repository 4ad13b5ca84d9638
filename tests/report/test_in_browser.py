"""The pages in a real browser, opened from the file system."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import exp

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import pathveil as pv
from pathveil.planning.grid import CONTEXTS
from pathveil.planning.public_words import expected_errors, public_words
from tests.cli.conftest import ROADS
from tests.report.browser import Opened
from tests.report.conftest import PLAN_LENGTH
from tests.report.pages import data_of

PAGES = ["plan.html", "curator.html", "release.html"]
WORLD = pv.MarkovChain.from_edges(ROADS)


@pytest.fixture
def opened(browser, reports) -> Callable[..., Opened]:
    return lambda name, **options: Opened(browser, reports / name, **options)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_without_a_complaint_and_asks_the_network_for_nothing(opened, name) -> None:
    page = opened(name)
    assert page.ask("document.querySelectorAll('.canvas svg').length") > 0
    assert page.complaints() == []
    assert page.requests() == [page.path.as_uri()]


def test_the_browser_itself_refuses_what_does_not_belong_to_the_page(tmp_path, browser, reports) -> None:
    # The control for the test above: a script and a picture that got into the page are noticed, and not run.
    text = (reports / "release.html").read_text(encoding="utf-8")
    planted = "<script>document.title = 'owned'</script><img src='https://example.org/x.png'></main>"
    (tmp_path / "planted.html").write_text(text.replace("</main>", planted), encoding="utf-8")
    page = Opened(browser, tmp_path / "planted.html")
    assert page.ask("document.title").startswith("Release report")
    assert len([message for message in page.complaints() if "Content Security Policy" in message]) >= 2


def test_the_sliders_change_the_figures_to_the_librarys_own_numbers(opened) -> None:
    page = opened("plan.html")
    plan = data_of(page.path)["plan"]
    for e, b in ((4, 0), (8, 0), (8, 1)):
        page.move("epsilon", e)
        page.move("adjacency", b)
        epsilon, adjacency = plan["epsilons"][e], plan["adjacencies"][b]
        mechanism = pv.CertifiedExponential(WORLD, epsilon, adjacency, contexts=CONTEXTS)
        mean = expected_errors(mechanism, WORLD, PLAN_LENGTH)
        assert page.number("errors") == pytest.approx(mean, rel=1e-5)
        assert float(page.ask("document.getElementById('figure-errors').textContent")) == pytest.approx(mean, rel=0.01)
        assert page.number("factor") == pytest.approx(exp(epsilon))
        assert page.ask("document.getElementById('epsilon').getAttribute('aria-valuetext')") == f"ε = {epsilon:g}"
        assert float(page.ask("document.querySelector('[data-mark]').dataset.mark")) == epsilon
        laws = [mechanism.error_law(word).pmf for word in public_words(WORLD, PLAN_LENGTH)]
        unchanged = sum(law[0] for law in laws) / len(laws)
        bars = page.ask(
            "[...document.querySelectorAll('[data-chart=distribution] rect.bar')].map(r => +r.dataset.value)"
        )
        assert bars[0] == pytest.approx(unchanged, rel=1e-4)
        assert sum(bars) == pytest.approx(1, abs=1e-3)
        assert f"{mechanism.theta(PLAN_LENGTH):.4g}" in page.ask("document.getElementById('certificate').textContent")
    page.ask("document.querySelectorAll('[name=mechanism]')[1].click()")
    published = expected_errors(pv.PermuteAndFlip(WORLD, epsilon, adjacency), WORLD, PLAN_LENGTH)
    assert page.number("errors") == pytest.approx(published, rel=1e-5)
    assert page.ask("document.getElementById('unit').textContent").startswith("any other word of the same length")
    assert page.complaints() == []


def test_the_keyboard_reaches_and_moves_the_slider_and_the_focus_is_seen(opened, browser) -> None:
    page = opened("plan.html")
    names = []
    for _ in range(3):
        ActionChains(browser).send_keys(Keys.TAB).perform()
        names.append(page.ask("document.activeElement.id || document.activeElement.className"))
    assert names == ["skip", "epsilon", "adjacency"]
    ActionChains(browser).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT).perform()
    before = page.number("errors")
    ActionChains(browser).send_keys(Keys.ARROW_RIGHT).perform()
    assert page.number("errors") < before
    style = page.ask("(s => [s.outlineStyle, s.outlineWidth])(getComputedStyle(document.activeElement))")
    assert style == ["solid", "3px"]
    named = page.ask("[...document.querySelectorAll('input')].every(i => i.labels.length === 1)")
    assert named, "every control has a label"


def test_the_picture_shows_the_sample_word_and_the_chosen_private_one(opened) -> None:
    page = opened("plan.html")
    plan = data_of(page.path)["plan"]
    page.move("epsilon", 2)
    for draw in (0, 2):
        page.ask(f"document.querySelectorAll('[name=draw]')[{draw}].click()")
        shown = page.ask("[...document.querySelectorAll('[data-chart=system] g.word')].map(g => g.dataset.nodes)")
        expected = [plan["sample"]["nodes"], plan["cells"][0][2][0]["draws"][draw]["nodes"]]
        assert [[int(node) for node in nodes.split()] for nodes in shown] == expected
    words = page.ask("[...document.querySelectorAll('#words tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
    codes = plan["cells"][0][2][0]["draws"][1]["codes"]
    assert words[2][2:] == [plan["symbols"][code] for code in codes]
    wrong = page.ask("document.querySelectorAll('#words tbody tr')[2].querySelectorAll('.wrong').length")
    assert wrong == int(words[2][1]) == sum(a != b for a, b in zip(codes, plan["sample"]["codes"], strict=True))


@pytest.mark.parametrize("how", ["by the clipboard of the browser", "by hand"])
def test_a_table_can_be_copied(opened, browser, how) -> None:
    page = opened("plan.html")
    if how == "by hand":
        browser.execute_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    button = browser.find_element(By.CSS_SELECTOR, "[data-copy=comparison]")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()
    browser.execute_script(
        "const f = document.createElement('textarea'); f.id = 'paste'; document.body.append(f); f.focus()"
    )
    field = browser.find_element(By.ID, "paste")
    field.send_keys(Keys.CONTROL, "v")
    lines = field.get_property("value").split("\n")
    assert lines[0] == "mechanism\texpected errors\tshare of symbols\tunchanged\ttilt θ"
    assert [line.split("\t")[0] for line in lines[1:]] == [
        *("certified", "permute-and-flip", "exponential", "online"),
        "any mechanism: at least",
    ]
    assert float(lines[1].split("\t")[1]) == pytest.approx(page.number("errors"), rel=0.01)


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [380, 1000])
def test_nothing_is_wider_than_the_screen(opened, name, width) -> None:
    page = opened(name, width=width)
    page.ask("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert page.ask("document.documentElement.scrollWidth") <= width
    wide = page.ask(
        "[...document.querySelectorAll('main *')].filter(e => !e.closest('.scroll, svg') || e.matches('.canvas > svg'))"
        ".filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80))"
    )
    assert wide == []


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_on_its_ground_in_both_schemes(opened, name, scheme) -> None:
    page = opened(name, scheme=scheme)
    ground = page.ask("getComputedStyle(document.body).backgroundColor")
    assert (_luminance(ground) > 0.5) == (scheme == "light")
    pairs = page.ask(
        "[...document.querySelectorAll('p, li, td, th, dt, dd, h1, h2, caption, summary, button, .badge')].map(e => {"
        "  const bare = (g) => getComputedStyle(g).backgroundColor === 'rgba(0, 0, 0, 0)';"
        "  let g = e; while (bare(g) && g.parentElement) g = g.parentElement;"
        "  return [getComputedStyle(e).color, getComputedStyle(g).backgroundColor]; })"
    )
    assert len(pairs) > 20
    # The least contrast that WCAG 2 asks of text at level AA.
    assert min(_contrast(ink, under) for ink, under in pairs) >= 4.5


def _luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_a_page_prints_without_its_controls_and_in_light_colours(opened, browser) -> None:
    page = opened("plan.html", scheme="dark")
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": features})
    assert page.ask("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.ask("getComputedStyle(document.getElementById('epsilon')).display") == "none"
    assert page.ask("getComputedStyle(document.querySelector('button')).display") == "none"
    assert len(browser.execute_cdp_cmd("Page.printToPDF", {})["data"]) > 10_000
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_what_a_screen_reader_needs(opened, name) -> None:
    page = opened(name)
    assert page.ask("document.documentElement.lang") == "en"
    assert page.ask("document.querySelectorAll('h1').length") == 1
    assert page.ask("document.querySelectorAll('main, header, footer').length") == 3
    assert page.ask("[...document.querySelectorAll('.canvas > svg')].every(s => s.getAttribute('role') === 'img')")
    assert page.ask(
        "[...document.querySelectorAll('table')].every(t => t.caption && t.tHead.querySelector('[scope=col]'))"
    )
    assert page.ask(
        "[...document.querySelectorAll('.scroll')].every(s => s.tabIndex === 0 && s.getAttribute('aria-label'))"
    )
    levels = page.ask("[...document.querySelectorAll('h1, h2, h3')].map(h => +h.tagName[1])")
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_symbols_stay_text_in_the_browser_too(browser, folder, run) -> None:
    names = ["<img src=x onerror=\"document.title='owned'\">", "</script><script>document.title='owned'</script>", '"']
    (folder / "pages.txt").write_text("\n".join(names) + "\n")
    assert run("report plan --alphabet pages.txt --length 3 --output plan.html").code == 0
    page = Opened(browser, folder / "plan.html")
    assert page.ask("document.title") == "Planning report: which ε?"
    assert page.ask("document.querySelectorAll('img').length") == 0
    shown = page.ask(
        "[...document.querySelectorAll('#words tbody tr:first-child td')].slice(1).map(c => c.textContent)"
    )
    assert set(shown) <= set(names)
    assert page.complaints() == []
