"""The pictures of the studio's tutorial: a walk through its pages in Chromium, with the log that the tutorial makes up.

python examples/studio_pictures.py docs/pictures
"""

from __future__ import annotations

import base64
import doctest
import io
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT)]

from tests.chromium import MISSING, chromium, is_installed  # noqa: E402
from tests.studio.walks.walking import Walk, studio_running  # noqa: E402

TUTORIAL = ROOT / "docs" / "studio.md"
WIDTH = 1000
COLOURS = 48  # enough for a page, and a third of the bytes


def write_files() -> None:
    """helpdesk.csv and activities.txt, by the examples on the page."""
    known: dict[str, object] = {}
    for example in doctest.DocTestParser().get_examples(TUTORIAL.read_text(encoding="utf-8").replace("```", "\n")):
        exec(compile(example.source, str(TUTORIAL), "single"), known)


def picture(walk: Walk, path: Path, last: str) -> None:
    """The page from its top down to the end of an element."""
    walk.driver.execute_script("document.activeElement.blur(); scrollTo(0, 0)")
    named = "for (const one of document.querySelectorAll('code'))"
    shown = f"{named} one.textContent = one.textContent.replace(...arguments)"
    walk.driver.execute_script(shown, str(walk.projects), "~/releases")  # where a reader's projects may lie
    end = walk.ask(f"Math.ceil(document.querySelector({last!r}).getBoundingClientRect().bottom) + 8")
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": end, "scale": 1}
    shot = walk.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
    image = Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path}: {image.width} × {image.height}, {path.stat().st_size:,} bytes")


def walk_through(walk: Walk, given: Path, output: Path) -> None:
    def look(name: str, last: str) -> None:
        picture(walk, output / f"studio-{name}.png", last)

    walk.screen(WIDTH)
    walk.begin("help desk")
    walk.hand_in(given / "helpdesk.csv")
    look("file", "[data-shown='kind=long']")
    walk.main()
    walk.fill("symbols", (given / "activities.txt").read_text(encoding="utf-8"))
    look("public", "#symbols-hint")
    walk.main()
    look("protected", "[data-shown='unit=word'] figure")
    walk.main()
    walk.pick("format", "xes")
    look("need", "#format")
    walk.main()
    walk.forecasts()
    look("amount", ".columns")
    walk.main()
    look("review", "section.first")
    walk.main()
    walk.released()
    look("handover", ".scroll")


def main() -> None:
    if not is_installed():
        raise SystemExit(MISSING)
    output = Path(sys.argv[1] if len(sys.argv) > 1 else "examples/output").absolute()
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        given, projects = Path(folder) / "given", Path(folder) / "projects"
        given.mkdir()
        with chdir(given):
            write_files()
        with chromium(Path(folder) / "profile") as driver, studio_running(projects) as link:
            driver.get(link)
            walk_through(Walk(driver, driver.current_url, projects), given, output)


if __name__ == "__main__":
    main()
