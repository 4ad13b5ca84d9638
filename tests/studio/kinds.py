"""What somebody hands in and chooses, for a release of each kind."""

from __future__ import annotations

from tests.studio.live import COLUMN, MODEL, MUCH, MUCH_FOR_A_MODEL, PUBLIC, SYMBOLS, SYNTHETIC, TRIPS, WORD, WORDS

USER = {**WORD, "unit": "user", "max-words-per-user": "2"}
STEPS = "who,visit,when,page\n" + "".join(
    f"u{visit % 4},{visit},2024-01-01 10:{visit:02}:{step:02},{page}\n"
    for visit in range(12)
    for step, page in enumerate("abc" if visit % 2 else "cab")
)
LONG = {"kind": "long", "case": "visit", "position": "when", "symbol": "page", "user": "who"}
LINES = "".join(f"{word}\n" for word in ["a b c a", "b c a b"] * 6)
LOG = "<log>" + "".join(
    f'<trace><string key="concept:name" value="{case}"/>'
    + "".join(f'<event><string key="concept:name" value="{name}"/></event>' for name in "abc")
    + "</trace>"
    for case in range(12)
) + "</log>"  # fmt: skip
CELLS = "user,time,lat,lon\n" + "".join(
    f"u{trip % 3},2024-01-{1 + trip:02} 10:{minute:02}:00,{50.005 + minute % 3 / 100},{4.005 + minute % 2 / 100}\n"
    for trip in range(9)
    for minute in range(4)
)
POINTS = {"kind": "points", "latitude": "lat", "longitude": "lon", "time": "time", "user": "user", "gap": "30min"}
GRID = {"world": "grid", "grid": "1000", "bounds": "50.0, 4.0, 50.04, 4.03"}
KINDS = {
    "words of a column": ("trips.csv", TRIPS, (COLUMN, PUBLIC, SYMBOLS, WORDS, MUCH)),
    "words of a long table": ("steps.csv", STEPS, (LONG, PUBLIC, SYMBOLS, WORDS, MUCH)),
    "words of a text": ("lines.txt", LINES, ({"kind": "text"}, PUBLIC, SYMBOLS, {**WORDS, "format": "txt"}, MUCH)),
    "words of a log": ("log.xes", LOG, ({"kind": "log"}, PUBLIC, SYMBOLS, {**WORDS, "format": "xes"}, MUCH)),
    "model of words": ("trips.csv", TRIPS, (COLUMN, PUBLIC, WORD, MODEL, MUCH_FOR_A_MODEL)),
    "synthetic, of people": ("steps.csv", STEPS, (LONG, PUBLIC, USER, SYNTHETIC, MUCH_FOR_A_MODEL)),
    "synthetic, with times": (
        "steps.csv", STEPS, (LONG, PUBLIC, WORD, {**SYNTHETIC, "times": "yes"}, MUCH_FOR_A_MODEL),
    ),
    "synthetic log": (
        "log.xes", LOG, ({"kind": "log"}, PUBLIC, WORD, {**SYNTHETIC, "format": "xes"}, MUCH_FOR_A_MODEL),
    ),
    "frequent words": (
        "trips.csv", TRIPS,
        (COLUMN, PUBLIC, WORD, {"purpose": "frequent"}, {**MUCH_FOR_A_MODEL, "delta": "1e-6", "total-delta": "1e-5"}),
    ),
    "words of points": ("points.csv", CELLS, (POINTS, GRID, SYMBOLS, {"purpose": "words"}, MUCH)),
    "synthetic points": (
        "points.csv", CELLS, (POINTS, GRID, USER, {"purpose": "synthetic", "count": "9"}, MUCH_FOR_A_MODEL),
    ),
}  # fmt: skip
