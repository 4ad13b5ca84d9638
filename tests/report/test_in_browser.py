"""The pages in a real browser, opened from the file system."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

import pathveil as pv
from pathveil.markup import escaped
from pathveil.planning.forecast import CONTEXTS
from pathveil.planning.grid import EPSILONS
from pathveil.planning.public_words import expected_errors, public_words
from pathveil.report.explain import percent
from pathveil.report.page import content_security_policy
from tests.cli.conftest import ROADS
from tests.report.browser import Opened
from tests.report.conftest import PLAN
from tests.report.pages import Content

PAGES = ["plan.html", "curator.html", "release.html"]
LENGTH = int(PLAN.split("--length ")[1].split()[0])
WORLD = pv.MarkovChain.from_edges(ROADS)


@pytest.fixture
def opened(browser, reports) -> Callable[..., Opened]:
    return lambda name, **options: Opened(browser, reports / name, **options)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_without_a_complaint_and_asks_the_network_for_nothing(opened, name) -> None:
    page = opened(name)
    assert page.ask("document.querySelectorAll('figure svg').length") > 0
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


def test_a_choice_shows_the_librarys_own_numbers_and_hides_the_others(opened) -> None:
    page = opened("plan.html")
    for e, b in ((4, 0), (8, 0), (8, 1)):
        page.choose("epsilon", e)
        page.choose("adjacency", b)
        mechanism = pv.CertifiedExponential(WORLD, EPSILONS[e], b + 1, contexts=CONTEXTS)
        assert page.number("errors") == pytest.approx(expected_errors(mechanism, WORLD, LENGTH), rel=6e-3)
        laws = [mechanism.error_law(word).pmf for word in public_words(WORLD, LENGTH)]
        assert page.figure("unchanged") == percent(sum(law[0] for law in laws) / len(laws))
        assert page.shown("table[id^=comparison]") == [f"comparison-b{b}-e{e}"]
        marks = page.ask("[...document.querySelectorAll('.mark')].filter(m => m.checkVisibility()).length")
        assert marks == 1, "the chosen ε is marked in the curves of the chosen b"
    assert page.complaints() == []


def test_the_keyboard_reaches_and_moves_the_choices_and_the_focus_is_seen(opened, browser) -> None:
    page = opened("plan.html")
    names = []
    for _ in range(9):
        ActionChains(browser).send_keys(Keys.TAB).perform()
        names.append(page.ask("document.activeElement.id || document.activeElement.className"))
    assert names[0] == "skip"
    assert [name for name in names if "-" in name] == ["epsilon-4", "adjacency-0"], "the chosen one of each is reached"
    page.ask("document.getElementById('epsilon-4').focus()")
    before = page.number("errors")
    ActionChains(browser).send_keys(Keys.ARROW_RIGHT).perform()
    assert page.ask("document.activeElement.id") == "epsilon-5"
    assert page.number("errors") < before
    style = page.ask("(s => [s.outlineStyle, s.outlineWidth])(getComputedStyle(document.activeElement.parentElement))")
    assert style == ["solid", "3px"]
    assert page.ask("[...document.querySelectorAll('input')].every(i => i.labels.length === 1)")


def test_the_picture_shows_the_sample_word_and_a_private_one(opened) -> None:
    page = opened("plan.html")
    names = page.ask("[...document.querySelectorAll('[data-chart=system] .node title')].map(t => t.textContent)")
    ways = page.ask("[...document.querySelectorAll('[data-chart=system] g.word')].map(g => g.dataset.nodes)")
    shown = [[names[int(node)] for node in way.split()] for way in ways]
    rows = page.ask(
        "[...document.querySelectorAll('#words-b0-e4 tbody tr')].map(r => [...r.querySelectorAll('.chip')]"
        ".map(c => [c.lastChild.textContent, c.classList.contains('wrong')]))"
    )
    assert shown == [[name for name, _ in row] for row in rows[:2]]
    for row in rows[1:]:
        assert [wrong for _, wrong in row] == [a != b for (a, _), (b, _) in zip(row, rows[0], strict=True)]


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")])
def test_axe_finds_nothing_serious(opened, name, width, scheme) -> None:
    assert opened(name, width=width, scheme=scheme).grave_findings() == []


def test_axe_would_find_something(tmp_path, browser, reports) -> None:
    text = (reports / "release.html").read_text(encoding="utf-8")
    (tmp_path / "bad.html").write_text(text.replace("</main>", "<p><input type='text'></p></main>"), encoding="utf-8")
    assert "label" in [rule for rule, _ in Opened(browser, tmp_path / "bad.html").grave_findings()]


def test_a_page_is_served_as_it_is_under_a_policy_without_scripts(reports) -> None:
    """What a page needs of whoever serves it: one style sheet, the same for all, and nothing else."""
    for name in PAGES:
        content = Content(reports / name)
        assert "script" not in content.elements
        assert "style" not in content.attributes
        assert not {one for one in content.attributes if one.startswith("on")}
        assert content.elements.count("style") == 1
        assert escaped(content_security_policy()) in (reports / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [380, 1000])
def test_nothing_is_wider_than_the_screen(opened, name, width) -> None:
    page = opened(name, width=width)
    page.ask("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert page.ask("document.documentElement.scrollWidth") <= width
    wide = page.ask(
        "[...document.querySelectorAll('main *')].filter(e => !e.closest('.scroll, svg') || e.matches('svg.plot'))"
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
        "[...document.querySelectorAll('p, li, td, th, dt, dd, h1, h2, caption, summary, .chip, .badge')].map(e => {"
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
    assert page.ask("getComputedStyle(document.getElementById('epsilon-4')).display") == "none"
    labels = page.ask(
        "[...document.querySelectorAll('.scale label')].filter(e => e.checkVisibility()).map(e => e.textContent)"
    )
    assert labels == ["2", "1"], "the chosen ε and b are printed, the others are not"
    assert len(browser.execute_cdp_cmd("Page.printToPDF", {})["data"]) > 10_000
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_what_a_screen_reader_needs(opened, name) -> None:
    page = opened(name)
    assert page.ask("document.documentElement.lang") == "en"
    assert page.ask("document.querySelectorAll('h1').length") == 1
    assert page.ask("document.querySelectorAll('main, header, footer').length") == 3
    assert page.ask(
        "[...document.querySelectorAll('svg.plot, svg.wide, svg.fixed')].every(s => s.getAttribute('aria-label'))"
    )
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
        "[...document.querySelectorAll('#words-b0-e0 tbody tr:first-child .chip')].map(c => c.textContent)"
    )
    assert len(shown) == 3
    assert set(shown) <= set(names)
    assert page.complaints() == []
