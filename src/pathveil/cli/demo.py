"""`pathveil demo`: a sensitive trip through a synthetic town, released three times."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pathveil.randomness.source import insecure_seed
from pathveil.systems.examples import example_town
from pathveil.systems.system import Symbol, Word
from pathveil.words.by_name import MECHANISMS

_LENGTH = 14
_EPSILONS = (0.5, 2.0, 5.0)
_SHORT = {"certified": "certified", "permute-and-flip": "P&F"}  # those whose releases are shown


def run_demo(console: Console | None = None, length: int = _LENGTH) -> None:
    """Print the tour: the sensitive trip beside private ones, then every mechanism's exact expected error."""
    out = console or Console()
    town = example_town()
    # A demonstration must look the same each time; a real release never passes rng.
    source = insecure_seed(2019)
    trip = town.random_word(length, source)
    mechanisms = {
        (name, epsilon): kind(town, epsilon, adjacency=1) for epsilon in _EPSILONS for name, kind in MECHANISMS.items()
    }

    out.print("[bold]PathVeil[/bold]: one private trip for one sensitive trip, on public roads.\n")
    out.print(f"The public world: {town!r}, {town.count(length):,} feasible trips of {length} segments.")
    out.print(
        "Adjacency 1: the promise is about two trips that differ in one segment; ε says how hard they are to tell "
        "apart. P&F is permute-and-flip.\n"
    )
    with out.status("computing certificates ..."):
        shown = [(name, e) for name in _SHORT for e in _EPSILONS]
        released = {key: mechanisms[key].privatize(trip, rng=source) for key in shown}
        errors = {key: mechanism.error_law(trip).mean for key, mechanism in mechanisms.items()}
        unchanged = {key: mechanisms[key].error_law(trip).pmf[0] for key in shown}

    out.print(_trips(trip, {f"{_SHORT[name]}\nε = {e:g}": released[name, e] for name, e in shown}))
    out.print(_accuracy(errors, length))
    out.print(
        f"How often the released trip is the true one (certified): {_percent(unchanged['certified', 0.5])} at ε = 0.5, "
        f"{_percent(unchanged['certified', 2.0])} at ε = 2, {_percent(unchanged['certified', 5.0])} at ε = 5. Strong "
        "privacy is costly on a short trip; ε = 5 is little privacy."
    )
    out.print(f"\n[bold]The promise at ε = 2[/bold]: {mechanisms['certified', 2.0].guarantee}")
    out.print(
        "\nThe seed is there so that this demonstration prints the same each time; a real release has none. The "
        "certified mechanism protects among feasible trips; the others' unit is any trip of that length. README.md "
        "says what is not protected."
    )


def _percent(probability: float) -> str:
    return f"{100 * probability:.2g}%"


def _trips(trip: Word, private: dict[str, Word]) -> Table:
    table = Table(title="A sensitive trip and what would be released (· = the true segment)", title_justify="left")
    table.add_column("", justify="right", style="dim")
    table.add_column("true", style="bold")
    for header in private:
        table.add_column(header)
    for i, segment in enumerate(trip):
        table.add_row(str(i + 1), str(segment), *(_cell(segment, word[i]) for word in private.values()))
    wrong = [sum(a != b for a, b in zip(trip, word, strict=True)) for word in private.values()]
    table.add_section()
    table.add_row("", "errors", *map(str, wrong))
    return table


def _cell(true: Symbol, released: Symbol) -> Text:
    return Text("·", style="dim") if true == released else Text(str(released), style="yellow")


def _accuracy(errors: dict[tuple[str, float], float], length: int) -> Table:
    table = Table(
        title=f"Expected number of wrong segments out of {length}, exactly, for this trip", title_justify="left"
    )
    table.add_column("mechanism")
    for epsilon in _EPSILONS:
        table.add_column(f"ε = {epsilon:g}", justify="right")
    for name in MECHANISMS:
        table.add_row(name, *(f"{errors[name, epsilon]:.3g}" for epsilon in _EPSILONS))
    return table
