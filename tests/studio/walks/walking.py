"""The studio as somebody at a browser sees it: pages, fields, buttons."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import axe_selenium_python
from selenium.webdriver import Chrome
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select
from selenium.webdriver.support.wait import WebDriverWait

import pathveil as pv

_AXE = Path(axe_selenium_python.__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
_PATIENCE = 120  # seconds; other tests may be at work on this machine


@contextmanager
def studio_running(folder: Path) -> Iterator[str]:
    """`pathveil studio` as its users start it; gives the link that it prints."""
    command = [sys.executable, "-m", "pathveil", "studio", "--no-browser", "--projects", str(folder)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        said = server.stdout.readline() if server.stdout else ""
        yield re.findall(r"http://\S+", said)[0]
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=30)


class Walk:
    """Somebody who goes through the pages. `projects` is the folder in which they lie."""

    def __init__(self, driver: Chrome, start: str, projects: Path) -> None:
        self.driver, self.start, self.projects = driver, start, projects

    # What the screen is like.

    def screen(self, width: int = 1280, scheme: str = "light") -> None:
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def faults(self) -> list[str]:
        """What is wrong with the page that is shown: for the eye, for a narrow screen, for a screen reader."""
        found = [entry["message"] for entry in self.driver.get_log("browser") if "422" not in entry["message"]]
        wide = self.ask("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if wide > 0:
            found.append(f"the page is {wide} pixels wider than the screen")
        if not self.ask("typeof axe === 'object'"):
            self.driver.execute_script(_AXE.read_text(encoding="utf-8"))
        checked = self.driver.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
        for one in checked["violations"]:
            if one["impact"] in ("serious", "critical"):
                found += [f"{one['id']}: {node['html']} {node.get('failureSummary')}" for node in one["nodes"]]
        return found

    # What it says.

    def ask(self, script: str) -> Any:
        return self.driver.execute_script(f"return {script}")

    def text(self, where: str = "main") -> str:
        return str(self.driver.find_element(By.CSS_SELECTOR, where).text)

    @property
    def page(self) -> str:
        """The last part of the address: the step, or the number of a release."""
        return str(self.driver.current_url).split("#")[0].rsplit("/", 1)[1]

    @property
    def heading(self) -> str:
        return self.text("h1")

    def until(self, true: Callable[[], Any]) -> None:
        WebDriverWait(self.driver, _PATIENCE, poll_frequency=0.05).until(lambda _: true())

    def leave(self, act: Callable[[], Any]) -> None:
        """Do what leads to another page, and wait until that is there."""
        self.driver.execute_script("window.left = true")
        act()
        self.until(lambda: self.ask("!window.left && document.readyState === 'complete'"))

    # With the mouse.

    def begin(self, title: str) -> None:
        """A new project."""
        self.driver.get(self.start)
        self.fill("title", title)
        self.main()

    def main(self) -> None:
        """The button that leads on."""
        self.leave(lambda: self.click("button.main"))

    def click(self, what: str) -> None:
        self.driver.find_element(By.CSS_SELECTOR, what).click()

    def choose(self, identity: str) -> None:
        """A radio button or a box, by its label."""
        self.click(f"label[for={identity}]")

    def pick(self, identity: str, value: str) -> None:
        Select(self.driver.find_element(By.ID, identity)).select_by_value(value)

    def fill(self, identity: str, value: str) -> None:
        field = self.driver.find_element(By.ID, identity)
        field.clear()
        field.send_keys(value)

    def hand_in(self, path: Path) -> None:
        """The sensitive file."""
        self.leave(lambda: self.driver.find_element(By.ID, "upload-sensitive").send_keys(str(path)))

    def hand_in_public(self, path: Path) -> None:
        self.driver.find_element(By.ID, "upload-public").send_keys(str(path))
        self.until(lambda: self.value("public-file").endswith(path.name))

    def value(self, identity: str) -> str:
        return str(self.driver.find_element(By.ID, identity).get_property("value"))

    def forecasts(self) -> None:
        """Wait until all are computed."""
        self.until(lambda: self.ask("document.getElementById('amount').dataset.ready") == "yes")

    def released(self) -> None:
        """Wait until a release has ended."""
        self.until(lambda: self.ask("document.getElementById('release') === null"))
        self.until(lambda: self.ask("document.readyState") == "complete")

    # With the keyboard alone.

    def keys(self, *pressed: str) -> None:
        ActionChains(self.driver).send_keys(*pressed).perform()

    def tab_to(self, identity: str) -> None:
        """Tab until the focus is there; an element that the keyboard does not reach is an error."""
        for _ in range(60):
            if self.ask("document.activeElement.id") == identity:
                return
            self.keys(Keys.TAB)
        raise AssertionError(f"the keyboard does not reach {identity} on {self.page}")

    def type(self, identity: str, value: str) -> None:
        self.tab_to(identity)
        ActionChains(self.driver).key_down(Keys.CONTROL).send_keys("a").key_up(Keys.CONTROL).perform()
        self.keys(value)

    # What is on the disk.

    def project(self, name: str) -> Path:
        return self.projects / name

    def charges(self, name: str) -> list[str]:
        """What the ledger of a project was charged."""
        entries = pv.Ledger.open(self.project(name) / "budget.db").entries()
        return [str(entry.amount) for entry in entries if entry.kind == "charged"]
