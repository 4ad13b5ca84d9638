"""Whatever a browser does, a release is made once and paid for once; and a refusal stands beside its field."""

from __future__ import annotations

from pathlib import Path

import pytest
from selenium.webdriver.common.by import By

from tests.studio.walks.walking import Walk

pytestmark = pytest.mark.browser


def to_review(walk: Walk, title: str, files: Path) -> None:
    """A model of visits, up to the review."""
    walk.begin(title)
    walk.hand_in(files / "visits.txt")
    walk.main()
    walk.hand_in_public(files / "pages.txt")
    walk.main()
    walk.main()
    walk.choose("purpose-model")
    walk.main()
    walk.forecasts()  # which move the button when they come: a click would miss it
    walk.main()
    assert walk.page == "review"


def test_going_back_reloading_and_two_tabs_make_one_release_and_one_charge(walk: Walk, files: Path) -> None:
    to_review(walk, "once", files)
    first = walk.driver.current_window_handle
    walk.driver.switch_to.new_window("tab")
    walk.driver.get(f"{walk.start}p/once/review")
    second = walk.driver.current_window_handle
    walk.driver.switch_to.window(first)
    walk.main()
    walk.driver.switch_to.window(second)
    walk.main()  # the same form, in the other tab
    assert walk.page == "1"
    walk.driver.close()
    walk.driver.switch_to.window(first)
    walk.leave(walk.driver.refresh)
    walk.released()
    assert walk.heading == "Hand over release 1"
    walk.leave(walk.driver.refresh)
    walk.driver.back()
    walk.until(lambda: walk.page == "review")
    stale = "document.querySelector('form [name=number]').value = '1'; document.querySelector('form').submit()"
    walk.leave(lambda: walk.driver.execute_script(stale))  # as a browser would that kept the page as it was
    assert walk.heading == "Hand over release 1"
    assert [path.name for path in (walk.project("once") / "releases").iterdir()] == ["1"]
    assert len(walk.charges("once")) == 1
    # The control: a release that is asked for is another one.
    walk.driver.get(f"{walk.start}p/once/review")
    walk.main()
    walk.released()
    assert walk.heading == "Hand over release 2"
    assert len(walk.charges("once")) == 2


def test_a_change_in_another_tab_is_noticed_before_anything_is_charged(walk: Walk, files: Path) -> None:
    to_review(walk, "changed", files)
    first = walk.driver.current_window_handle
    walk.driver.switch_to.new_window("tab")
    walk.driver.get(f"{walk.start}p/changed/amount")
    walk.fill("epsilon", "1")
    walk.main()
    walk.driver.close()
    walk.driver.switch_to.window(first)
    walk.main()
    assert "changed since this page was shown" in walk.text("[role=alert]")
    assert "ε = 1" in walk.text("blockquote")
    assert not (walk.project("changed") / "budget.db").exists()


def refusal_at(walk: Walk, identity: str) -> str:
    """The sentence that belongs to a field, as a screen reader finds it."""
    field = walk.driver.find_element(By.ID, identity)
    assert field.get_attribute("aria-invalid") == "true"
    described = str(field.get_attribute("aria-describedby")).split()
    return walk.text(f"#{described[0]}")


def test_a_refusal_stands_beside_its_field_and_what_was_typed_stays(walk: Walk, files: Path) -> None:
    walk.begin("refused")
    walk.driver.find_element(By.ID, "upload-sensitive").send_keys(str(Path(__file__)))
    walk.until(lambda: walk.driver.find_element(By.CSS_SELECTOR, ".drop .refusal").is_displayed())
    assert "the ending does not say what the file is" in walk.text(".drop .refusal")
    walk.hand_in(files / "visits.txt")
    walk.main()
    walk.fill("public-file", "nowhere.txt")
    walk.main()
    assert "There is no file 'nowhere.txt'" in refusal_at(walk, "public-file")
    assert walk.faults() == []
    walk.hand_in_public(files / "pages.txt")
    walk.fill("symbols", "home")
    walk.main()
    assert "Empty one of the two" in refusal_at(walk, "symbols")
    walk.fill("symbols", "")
    walk.main()
    walk.fill("max-length", "0")
    walk.main()
    assert "a whole number from 1 to 100000, not '0'" in refusal_at(walk, "max-length")
    assert walk.value("max-length") == "0"
    walk.fill("max-length", "5")
    walk.main()
    walk.main()
    walk.fill("epsilon", "2.5")
    walk.fill("total-epsilon", "1")
    walk.main()
    assert "at least ε = 2.5" in refusal_at(walk, "total-epsilon")
    assert (walk.value("epsilon"), walk.value("total-epsilon")) == ("2.5", "1")
    assert walk.text("#epsilon-shown").startswith("2.5 (forecast for ")


def test_a_symbol_that_is_not_public_leads_back_to_what_is_public(walk: Walk, files: Path) -> None:
    walk.begin("unknown")
    walk.hand_in(files / "visits.txt")
    walk.main()
    walk.fill("symbols", "home\nsearch\nitem\ncart")
    walk.main()
    for _ in range(3):
        walk.main()
    walk.main()
    walk.released()
    assert "pay" in walk.text("[role=alert]")
    assert "Nothing was charged" in walk.text()
    assert len(walk.charges("unknown")) == 0
    assert walk.faults() == []
    walk.leave(lambda: walk.click("main a.button"))
    assert walk.page == "public"
    assert "only if it is public anyway" in refusal_at(walk, "symbols")
