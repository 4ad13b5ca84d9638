import io

from rich.console import Console

from pathveil.cli.demo import run_demo
from tests.sizes import small_and_large


@small_and_large("length", 5, 14)  # 14 is what the command shows
def test_the_demo_shows_the_trip_private_trips_and_expected_errors_within_80_columns(length: int) -> None:
    out = io.StringIO()
    run_demo(Console(file=out, width=80), length)
    text = out.getvalue()
    assert "A sensitive trip and what would be released" in text
    assert f"Expected number of wrong segments out of {length}" in text
    for name in ("certified", "permute-and-flip", "exponential", "online"):
        assert name in text
    assert "…" not in text  # nothing was cut off
    assert "NOT private" in text  # the demonstration is seeded, and says so
