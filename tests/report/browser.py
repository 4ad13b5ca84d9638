"""A page as a browser shows it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from selenium.webdriver.support.wait import WebDriverWait


class Opened:
    """A page in the browser, at some width, light or dark."""

    def __init__(self, driver, path: Path, width: int = 1000, scheme: str = "light") -> None:
        self.driver, self.path = driver, path
        driver.get("about:blank")
        for kind in ("browser", "performance"):
            driver.get_log(kind)  # what earlier pages left there
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        driver.get(path.as_uri())
        # On a busy machine `get` may come back before the page is there.
        WebDriverWait(driver, 60).until(lambda _: self.ask("document.readyState") == "complete")

    def ask(self, script: str):
        return self.driver.execute_script(f"return {script}")

    def complaints(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [one["params"]["request"]["url"] for one in messages if one["method"] == "Network.requestWillBeSent"]

    def choose(self, name: str, place: int) -> None:
        """Take the choice with this number."""
        self.ask(f"document.getElementById('{name}-{place}').click()")

    def shown(self, selector: str) -> list[str]:
        """The ids of those elements that are displayed."""
        return self.ask(f"[...document.querySelectorAll('{selector}')].filter(e => e.checkVisibility()).map(e => e.id)")

    def figure(self, name: str) -> str:
        """A figure of the page, as it is displayed."""
        [text] = self.ask(
            f"[...document.querySelectorAll('[data-figure={name}]')].filter(e => e.checkVisibility())"
            ".map(e => e.textContent)"
        )
        return text

    def number(self, name: str) -> float:
        return float(self.figure(name))

    def grave_findings(self) -> list[tuple[str, str]]:
        """What axe-core calls serious or critical: the rule, and an element that breaks it."""
        self.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": _axe()})
        found = self.driver.execute_async_script(
            "const done = arguments[arguments.length - 1];"
            "axe.run(document, {resultTypes: ['violations']}).then(r => done(r.violations"
            ".filter(v => ['serious', 'critical'].includes(v.impact)).map(v => [v.id, v.nodes[0].html.slice(0, 200)])))"
        )
        return [tuple(one) for one in found]


@cache
def _axe() -> str:
    """The script of axe-core, which a package for Selenium brings along."""
    package = pytest.importorskip("axe_selenium_python", reason="axe-selenium-python is not installed")
    return (Path(package.__file__).parent / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")
