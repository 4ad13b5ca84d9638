"""Pictures for notebooks: matplotlib axes in (or none), axes out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pathveil.errors import InvalidParameterError
from pathveil.markup import name_of, text_of
from pathveil.report.axes import COLOURS, draw
from pathveil.report.charts import Bars, Heat, Lines, Path, Series
from pathveil.report.follows import draw_follows, follows_of
from pathveil.report.layout import Coordinates, picture_of
from pathveil.systems.markov_chain import MarkovChain
from pathveil.systems.system import Symbol, System, Word
from pathveil.words.base import ErrorLaw

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pathveil.models.chain import PrivateChain
    from pathveil.models.sequences import PrivateSequences


def plot_expected_errors(world: System, length: int, adjacency: int = 1, ax: Axes | None = None) -> Axes:
    """Expected errors of every mechanism against ε, with the lower bound for any mechanism. Public quantities only."""
    from pathveil.planning.grid import word_grid
    from pathveil.report.plan import errors_chart

    grid = word_grid(world, length, adjacency, only_adjacency=True)
    return draw(errors_chart(grid, grid.adjacencies.index(adjacency)), ax)


def plot_error_law(laws: ErrorLaw | Mapping[str, ErrorLaw], ax: Axes | None = None) -> Axes:
    """The distribution of the number of errors; of several mechanisms side by side if a dictionary is given.

    A law belongs to one sensitive word: the picture is for the curator, unless the word is public.
    """
    named = {"": laws} if isinstance(laws, ErrorLaw) else dict(laws)
    if not named:
        raise InvalidParameterError("there is no law to draw: give an ErrorLaw, or a dictionary of them")
    longest = max(len(law.pmf) for law in named.values())
    series = [
        Series(name, [*law.pmf.tolist(), *[0.0] * (longest - len(law.pmf))], k % len(COLOURS))
        for k, (name, law) in enumerate(named.items())
    ]
    labels = [str(errors) for errors in range(longest)]
    return draw(Bars("How many errors?", labels, series, "number of wrong symbols", "probability"), ax)


def plot_system(
    world: System,
    words: Iterable[Word] | Mapping[str, Word] = (),
    coordinates: Coordinates | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The system as a graph of up to 400 states, with words drawn on it; a dictionary names them.

    `coordinates` maps symbols to (x, y); without them, places say nothing but who is near whom.
    """
    named = words if isinstance(words, Mapping) else {f"word {i + 1}": word for i, word in enumerate(words)}
    picture = picture_of(world, coordinates)
    paths = [
        Path(text_of(name), picture.path(world, word), k % len(COLOURS)) for k, (name, word) in enumerate(named.items())
    ]
    return draw(picture.network("", paths), ax)


def plot_chain(chain: MarkovChain, ax: Axes | None = None) -> Axes:
    """The transition matrix of a chain, dark where a transition is likely."""
    values = chain.matrix.toarray().tolist()
    return draw(Heat("Transition matrix", [name_of(state) for state in chain.symbols], values, "to", "from"), ax)


def plot_directly_follows(
    source: MarkovChain | PrivateChain | PrivateSequences | Iterable[Sequence[Symbol]],
    *,
    arrows: int = 30,
    ax: Axes | None = None,
) -> Axes:
    """A directly-follows graph: which activity follows which, and how often. The `arrows` strongest are drawn.

    Given words (the cases of an event log), boxes and arrows have exact counts: **the picture is sensitive, for the
    curator only**. Given a private chain or a private model of sequences it holds nothing but what the model says, and
    may be released with it: probabilities of a chain, or for a sequence model how often a word has the step (on
    average, in 5,000 synthetic words drawn with a fixed seed). Every activity keeps its strongest arrow in and out.
    """
    if isinstance(arrows, bool) or not isinstance(arrows, int) or arrows < 1:
        raise InvalidParameterError(f"arrows is {arrows!r}: it must be a whole number of at least 1")
    return draw_follows(follows_of(source), arrows, ax)


def plot_distributions(
    symbols: Sequence[Symbol], distributions: Mapping[str, Sequence[float]], ax: Axes | None = None
) -> Axes:
    """Distributions over the same symbols side by side: frequencies before and after, or long runs of two chains."""
    for name, values in distributions.items():
        if len(values) != len(symbols):
            raise InvalidParameterError(f"{name}: {len(values)} values for {len(symbols)} symbols")
    series = [
        Series(text_of(name), [float(value) for value in values], k % len(COLOURS))
        for k, (name, values) in enumerate(distributions.items())
    ]
    return draw(Bars("", [name_of(symbol) for symbol in symbols], series, "share", "symbol", flat=True), ax)


def plot_belief(epsilon: float, ax: Axes | None = None) -> Axes:
    """How sure somebody can become at most (δ = 0), against how sure they were before the release."""
    return draw(belief_chart(epsilon), ax)


def belief_chart(epsilon: float) -> Lines:
    """The largest belief after a release against the belief before it."""
    from pathveil.report.explain import greatest_belief

    prior = [0.001, 0.01, *(i / 40 for i in range(1, 40)), 0.99, 0.999]
    return Lines(
        title=f"How sure can somebody become? ε = {epsilon:g}",
        x=prior,
        series=[
            Series("at most, after the release", [greatest_belief(epsilon, one) for one in prior], 0),
            Series("before: nothing learned", prior, 4),
        ],
        xlabel="how sure before",
        ylabel="how sure after",
    )
