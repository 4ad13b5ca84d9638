"""The whole way in a real browser, from a file to what is handed over, for four kinds of data.

Every page is looked at on the way: nothing on the console, nothing wider than the screen, nothing that axe-core calls
serious or critical.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from pathveil.data.public import SavedSystem
from tests.studio.walks.made_up import ACTIVITIES, BOUNDS, PAGES
from tests.studio.walks.walking import Walk

pytestmark = pytest.mark.browser


def go_on(walk: Walk) -> None:
    """Look at the page, and press the button."""
    assert walk.faults() == [], walk.page
    walk.main()


def release(walk: Walk) -> None:
    """From the amounts to the end."""
    walk.forecasts()
    go_on(walk)
    assert walk.page == "review"
    go_on(walk)
    assert walk.page == "1"
    walk.released()
    assert walk.heading == "Hand over release 1"
    assert walk.faults() == []


def offered(walk: Walk) -> set[str]:
    return {link.text for link in walk.driver.find_elements(By.CSS_SELECTOR, ".files a[download]")}


def test_trips_on_a_map_become_private_trips_on_a_wide_light_screen(walk: Walk, files: Path) -> None:
    walk.begin("trips")
    assert walk.faults() == []
    walk.hand_in(files / "trips.csv")
    assert (walk.value("column"), walk.value("user")) == ("route", "rider")
    go_on(walk)
    walk.choose("world-edges")
    walk.hand_in_public(files / "roads.csv")
    go_on(walk)
    walk.choose("unit-symbols")
    go_on(walk)
    go_on(walk)
    walk.forecasts()
    walk.fill("epsilon", "0.5")
    assert "Too much to be of use" in walk.text("#forecast-more")
    walk.click("button.main")  # which the browser refuses: it has to be agreed to
    assert walk.page == "amount"
    assert walk.ask("document.activeElement.id") == "yes"
    walk.fill("epsilon", "6")
    assert "symbols will be wrong" in walk.text("#forecast-main")
    release(walk)
    project = walk.project("trips")
    assert {"private.csv", "private.csv.manifest.json", "report.html"} == offered(walk)
    world = SavedSystem.read(project / "public" / "system.json").system
    lines = (project / "releases" / "1" / "private.csv").read_text().splitlines()
    private = [tuple(line.split(",")[-1].split()) for line in lines[1:]]
    assert len(private) == 40
    assert all(world.is_feasible(word) for word in private)
    assert walk.charges("trips") == ["ε = 6, δ = 0"]
    walk.leave(lambda: walk.click("section.sensitive button"))
    assert "Look at the comparison" in walk.text()
    walk.leave(lambda: walk.click("section.sensitive a"))
    assert [entry["message"] for entry in walk.driver.get_log("browser")] == []
    walk.driver.get(f"{walk.start}p/trips/releases/1/files/report.html")
    assert "ε = 6" in walk.text("body")
    assert [entry["message"] for entry in walk.driver.get_log("browser")] == []


def test_an_event_log_becomes_a_synthetic_one_on_a_small_dark_screen(walk: Walk, files: Path) -> None:
    walk.screen(400, "dark")
    walk.driver.get(walk.start)
    assert walk.faults() == []
    walk.begin("log")
    walk.hand_in(files / "log.csv")
    guessed = [walk.value(name) for name in ("case", "position", "symbol")]
    assert guessed == ["Case ID", "Complete Timestamp", "Activity"]
    go_on(walk)
    walk.fill("symbols", "\n".join(ACTIVITIES))
    go_on(walk)
    assert walk.page == "protected"
    go_on(walk)
    walk.fill("count", "50")
    walk.pick("format", "xes")
    go_on(walk)
    release(walk)
    project = walk.project("log")
    assert {"synthetic.xes", "model.json", "report.html"} <= offered(walk)
    assert (project / "releases" / "1" / "synthetic.xes").read_text().count("<trace>") == 50
    assert any(name in walk.text("table") for name in ACTIVITIES)
    assert walk.charges("log") == ["ε = 2, δ = 0.000001"]


def test_visits_become_frequent_ones_with_the_keyboard_alone(walk: Walk, files: Path) -> None:
    walk.screen(1280, "dark")
    walk.driver.get(walk.start)

    def enter(identity: str = "") -> None:
        """Enter in a form leads on, as the button does."""
        if identity:
            walk.tab_to(identity)
        assert walk.faults() == [], walk.page
        walk.leave(lambda: walk.keys(Keys.ENTER))

    walk.type("title", "visits")
    enter()
    walk.tab_to("elsewhere")
    walk.keys(Keys.ENTER)
    walk.type("path", str(files / "visits.txt"))
    enter()
    walk.tab_to("separator")
    enter("go-on")
    walk.type("public-file", str(files / "pages.txt"))
    enter()
    assert walk.page == "protected"
    walk.tab_to("unit-word")
    walk.keys(Keys.ARROW_DOWN)
    assert walk.ask("document.activeElement.id") == "unit-symbols"
    walk.keys(Keys.ARROW_UP)
    walk.type("max-length", "8")
    enter()
    walk.tab_to("purpose-synthetic")
    walk.keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    enter("go-on")
    walk.forecasts()
    walk.tab_to("epsilon-slider")
    walk.keys(Keys.ARROW_RIGHT)
    assert walk.value("epsilon") == "3"
    enter("go-on")
    assert "any other set of words" in walk.text("blockquote")
    enter("go-on")
    walk.released()
    assert walk.faults() == []
    assert walk.heading == "Hand over release 1"
    found = json.loads((walk.project("visits") / "releases" / "1" / "frequent.json").read_text())["frequent"]
    assert found
    assert all(set(one["word"]) <= set(PAGES) for one in found)
    assert found[0]["word"][0] in walk.text("table")
    assert walk.charges("visits") == ["ε = 3, δ = 0.000001"]


def test_points_become_synthetic_trips_on_a_map_on_a_small_light_screen(walk: Walk, files: Path) -> None:
    walk.screen(400, "light")
    walk.begin("points")
    walk.hand_in(files / "points.csv")
    assert [walk.value(name) for name in ("latitude", "longitude", "time", "user")] == ["lat", "lon", "time", "user"]
    go_on(walk)
    walk.fill("bounds", BOUNDS)
    go_on(walk)
    assert walk.driver.find_element(By.ID, "unit-user").is_selected()
    walk.fill("max-words-per-user", "2")
    go_on(walk)
    walk.fill("count", "20")
    go_on(walk)
    release(walk)
    made = json.loads((walk.project("points") / "releases" / "1" / "synthetic.geojson").read_text())
    assert len(made["features"]) == 20
    assert {"synthetic.geojson", "synthetic.parquet"} <= offered(walk)
