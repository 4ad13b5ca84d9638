"""A page as a browser shows it."""

from __future__ import annotations

import json
from pathlib import Path

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

    def move(self, slider: str, place: int) -> None:
        self.driver.execute_script(
            "const s = document.getElementById(arguments[0]); s.value = arguments[1];"
            "s.dispatchEvent(new Event('input', {bubbles: true}));",
            slider,
            place,
        )

    def number(self, name: str) -> float:
        return float(self.ask(f"document.getElementById('figure-{name}').dataset.value"))
