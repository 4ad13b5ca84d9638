"""The studio's sliders: how long until forecasts are there, and until the page answers a moved slider afterwards.

    python benchmarks/studio.py

Walks to the sliders in a real browser (Chromium), for the town with trips of 14 and for Oldenburg with trips of 100 (a
made-up city of that size where the data are not there), b = 1. The answer is timed in the page itself, from the event
of the slider until the text has changed and is laid out: the longest over all stops, and over five rounds of them.
"""

from __future__ import annotations

import csv
import resource
import sys
import tempfile
import time
from pathlib import Path

import pathveil as pv

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]

from cities import map_of_a_town  # noqa: E402
from tests.chromium import MISSING, chromium, is_installed  # noqa: E402
from tests.studio.walks.walking import Walk, studio_running  # noqa: E402

_ANSWER = """
    const slider = document.getElementById("epsilon-slider"), said = document.querySelector(".forecast");
    const times = [];
    for (let round = 0; round < 5; round++) for (let stop = 0; stop <= Number(slider.max); stop++) {
        const before = said.textContent;
        slider.value = stop;
        const begin = performance.now();
        slider.dispatchEvent(new Event("input", { bubbles: true }));
        said.getBoundingClientRect();
        times.push(performance.now() - begin);
        if (said.textContent === before) throw new Error("nothing has changed at stop " + stop);
    }
    return times;
"""


def write_files(folder: Path, world: pv.MarkovChain, length: int) -> None:
    """roads.csv, and a few trips on it."""
    matrix, names, source = world.matrix.tocoo(), world.symbols, pv.insecure_seed(1)
    roads = [(names[i], names[j]) for i, j in zip(matrix.row, matrix.col, strict=True)]
    with (folder / "roads.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("from", "to"), *roads])
    with (folder / "trips.csv").open("w", newline="", encoding="utf-8") as file:
        trips = [" ".join(map(str, world.random_word(length, source))) for _ in range(20)]
        csv.writer(file).writerows([("rider", "route"), *enumerate(trips)])


def measure(walk: Walk, name: str, world: pv.MarkovChain, length: int) -> str:
    with tempfile.TemporaryDirectory() as given:
        write_files(Path(given), world, length)
        walk.begin(name)
        walk.hand_in(Path(given) / "trips.csv")
        walk.main()
        walk.choose("world-edges")
        walk.hand_in_public(Path(given) / "roads.csv")
        walk.main()
    walk.choose("unit-symbols")
    walk.main()
    walk.main()
    walk.fill("length", str(length))
    begin = time.perf_counter()
    walk.driver.execute_script(
        "const field = document.getElementById('length'); field.dispatchEvent(new Event('change', {bubbles: true}));"
    )
    first = None
    while walk.ask("document.getElementById('amount').dataset.ready") != "yes":
        if first is None and walk.text("#forecast-main") != "…":
            first = time.perf_counter() - begin
        time.sleep(0.05)
    ready = time.perf_counter() - begin
    times = sorted(walk.driver.execute_script(_ANSWER))
    return (
        f"{name}: {len(world.symbols):,} symbols, trips of {length}: first forecast after {first or ready:.1f} s, all "
        f"after {ready:.1f} s; then a slider answers in {times[len(times) // 2]:.1f} ms (median), "
        f"{times[-1]:.1f} ms (longest of {len(times)})"
    )


def main() -> None:
    if not is_installed():
        raise SystemExit(MISSING)
    with tempfile.TemporaryDirectory() as folder, chromium(Path(folder) / "profile") as driver:
        for name, world, length in (("town", pv.example_town(), 14), ("oldenburg", map_of_a_town(), 100)):
            projects, before = Path(folder) / name, _used()
            with studio_running(projects) as link:
                driver.get(link)
                said = measure(Walk(driver, driver.current_url, projects), name, world, length)
            print(f"{said}. The studio took {_used() - before:.1f} s of processor time in all.", flush=True)


def _used() -> float:
    """The processor time of all processes that were started here and have ended; the browser goes on."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
