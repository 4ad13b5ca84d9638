"""How wrong a private model of sequences will be, and how long its contexts, from public quantities only.

All errors are total variation distances (0: alike, 1: nothing in common), and those that noise alone makes: a table of
C counts that sum to T, each wrong by E|x| on average, is wrong by C·E|x|/(2T) before anything is corrected. A fit draws
rare contexts to what shorter ones say, which helps the more, the fewer of the C cells are really used. Where the end of
a word is not counted, because it comes too late, it is as wrong as what leads to it: the pairs. What no noise explains
comes on top: that a model of this order forgets what lies further back, that an estimate always leaves a little to what
it has not seen, and that only the first events of long words are counted, which can cost more than all noise. The tests
hold the forecast against fits, and `benchmarks/sequences.py forecast` against real data: there, all that came out was
below 1.35 times the forecast plus 0.01, and above a quarter of it unless words were kept whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pathveil.errors import InvalidParameterError
from pathveil.markup import Html, card, table
from pathveil.models.counting import States
from pathveil.models.laplace import exactly, laplace_noise
from pathveil.models.sequences import budget
from pathveil.models.sequences.contexts import Grammar
from pathveil.models.sequences.frequent import threshold
from pathveil.models.sequences.lengths import events_counted
from pathveil.models.sequences.measuring import FREQUENT, FREQUENT_AGAIN, LENGTHS, LONGEST_CHOSEN, OWN_ROW, contexts_of
from pathveil.models.sequences.request import Order, Request, Unit, checked_request
from pathveil.numerics.arrays import FloatArray
from pathveil.privacy.units import Neighbours
from pathveil.systems.system import Symbol, System


@dataclass(frozen=True)
class PartForecast:
    """A part of the budget: its share of ε, by how much each of its counts is wrong on average, what that buys."""

    what: str
    share: float
    count_error: float
    buys: str


@dataclass(frozen=True)
class SequencesForecast:
    """What to expect of `fit_private_sequences`. Errors are those by noise alone; see `forecast_sequences`."""

    epsilon: float
    delta: float | None
    words: float
    order: int
    """How many symbols the next one depends on: the order asked for, or the one that would be chosen."""
    affordable_order: int
    """The longest contexts that the budget can tell apart."""
    events: int
    """How many events of a word (symbols and its end) would be counted."""
    lengths: float
    starts: float
    ends: float
    pairs: float
    threshold: int | None
    """A word is kept whole if about so many have it; None where no δ is offered."""
    parts: tuple[PartForecast, ...]
    remarks: tuple[str, ...]

    @property
    def errors(self) -> dict[str, float]:
        """The four errors by their names."""
        return {"lengths": self.lengths, "starts": self.starts, "ends": self.ends, "pairs": self.pairs}

    def __repr__(self) -> str:
        errors = ", ".join(f"{name} {error:.2g}" for name, error in self.errors.items())
        parts = [f"{part.what}: {part.share:.0%} of ε, {part.buys}" for part in self.parts]
        return "\n".join([self._title, f"error by noise, before corrections: {errors}", *parts, *self.remarks])

    def _repr_html_(self) -> Html:
        facts = [(f"error of {name} by noise", f"{error:.2g}") for name, error in self.errors.items()]
        rows = [[part.what, f"{part.share:.0%}", f"{part.count_error:.3g}", part.buys] for part in self.parts]
        headers = ["part of the budget", "share of ε", "error of a count", "what it buys"]
        return card(self._title, [*facts, *(("note", remark) for remark in self.remarks)], table("", headers, rows))

    @property
    def _title(self) -> str:
        promise = f"ε = {self.epsilon:g}" + ("" if self.delta is None else f", δ = {self.delta:g}")
        return f"Forecast for a model of about {self.words:,.0f} words at {promise}: order {self.order}"


def forecast_sequences(
    *,
    states: Iterable[Symbol] | int | None = None,
    support: npt.ArrayLike | System | None = None,
    words: float,
    max_length: int,
    epsilon: float,
    delta: float | None = None,
    order: Order = "auto",
    mean_length: float | None = None,
    unit: Unit = "word",
    max_words_per_user: int | None = None,
    neighbours: Neighbours = "replace",
) -> SequencesForecast:
    """What `fit_private_sequences` would be worth with these arguments, before anything is spent or any data are read.

    `states` are the states or their number; with a system as `support` they may be left out. `words` is how many words
    there are, `mean_length` how long they are on average (left out: all lengths alike). Both must be public or a guess
    that was not read off the data; then you may look as often as you like, and choose by what you see.

    The errors (total variation) are those that noise makes before a fit corrects what cannot be. What a model of this
    order cannot know comes on top; `pathveil report curator` shows both afterwards. How many words are frequent cannot
    be forecast: the others are taken to be as many as all.

    >>> import pathveil as pv
    >>> pv.forecast_sequences(states=17, words=100_000, max_length=20, epsilon=1.0, delta=1e-6, mean_length=5)
    Forecast for a model of about 100,000 words at ε = 1, δ = 1e-06: order 3
    error by noise, before corrections: lengths 0.004, starts 0.01, ends 0.017, pairs 0.049
    lengths: 5% of ε, a count is wrong by 40 on average
    frequent words: 10% of ε, a word is kept if about 278 have it
    frequent words, second look: 30% of ε, a word is kept if about 94 have it
    contexts of 1 symbol: 16% of ε, a count is wrong by 121 on average
    contexts of 2 symbols: 28% of ε, a count is wrong by 65 on average; those that occur about 262 times get a row
    contexts of 3 symbols: 11% of ε, a count is wrong by 145 on average; those that occur about 582 times get a row
    """
    asked = checked_request(epsilon, delta, max_length, order, unit, max_words_per_user, neighbours)
    grammar = _grammar(states, support)
    if isinstance(words, bool) or not isinstance(words, int | float) or not 1 <= words < math.inf:
        raise InvalidParameterError(
            f"`words` is {words!r}: it must be a number of words of at least 1, or a guess of it"
        )
    return _forecast(asked, grammar, float(words), lengths_with_mean(max_length, mean_length))


def _forecast(asked: Request, grammar: Grammar, words: float, lengths: FloatArray) -> SequencesForecast:
    epsilon, sides = exactly(asked.epsilon), asked.whole.sensitivity(1)[0]
    left = epsilon * (1 - budget.LENGTHS - (0 if asked.delta is None else budget.FIRST_LOOK + budget.SECOND_LOOK))
    cells, growth = len(grammar.following), len(grammar.following) / (grammar.symbols + 1)
    affordable = budget.affordable_order(float(left), words, sides, cells, growth, most=LONGEST_CHOSEN)
    order = affordable if asked.order == "auto" else asked.order
    counted = budget.events_to_count(float(left), words, sides, cells, lengths)
    events, going_on = events_counted(lengths, counted)
    shares = [left * share for share in budget.shares_of_depths(order)]
    noises = [
        laplace_noise(share, sides * max(budget.events_at(depth, counted), 1)) for depth, share in enumerate(shares, 1)
    ]
    of_lengths = laplace_noise(epsilon * budget.LENGTHS, sides)
    pair_error = noises[0].mean_size
    endings = int((grammar.following == grammar.symbols).sum())
    inner = cells - endings - int(grammar.widths[-1])
    pairs, ended = _distance(inner, pair_error, words * (going_on - 1)), events - going_on
    parts = [PartForecast(LENGTHS, float(budget.LENGTHS), of_lengths.mean_size, _wrong_by(of_lengths.mean_size))]
    kept = None
    if asked.delta is not None:
        for look, share in ((FREQUENT, budget.FIRST_LOOK), (FREQUENT_AGAIN, budget.SECOND_LOOK)):
            noise = laplace_noise(epsilon * share, sides)
            kept = threshold(noise, asked.delta / 2, asked.whole.max_words or 1)
            buys = f"a word is kept if about {kept:,} have it"
            parts.append(PartForecast(look, float(share), noise.mean_size, buys))
    for depth, (share, noise) in enumerate(zip(shares, noises, strict=True), 1):
        row = "" if depth == 1 else f"; those that occur about {OWN_ROW * float(noise.scale):,.0f} times get a row"
        parts.append(
            PartForecast(contexts_of(depth), float(share / epsilon), noise.mean_size, _wrong_by(noise.mean_size) + row)
        )
    return SequencesForecast(
        epsilon=asked.epsilon,
        delta=asked.delta,
        words=words,
        order=order,
        affordable_order=affordable,
        events=counted,
        lengths=_distance(asked.max_length, of_lengths.mean_size, words),
        starts=_distance(int(grammar.widths[-1]), pair_error, words),
        # Words whose end is not counted end as pairs of symbols say.
        ends=ended * _distance(endings, pair_error, words * ended) + (1 - ended) * pairs,
        pairs=pairs,
        threshold=kept,
        parts=tuple(parts),
        remarks=_remarks(asked, order, affordable, words, float(left / epsilon) / sides, cells, growth),
    )


def _distance(cells: int, error: float, total: float) -> float:
    """How far noise of this mean size moves a distribution of so many cells, counted so many times in all."""
    return min(1.0, cells * error / (2 * total)) if total > 0 else 1.0


def _wrong_by(error: float) -> str:
    return (
        f"a count is wrong by {error:,.0f} on average" if error >= 10 else f"a count is wrong by {error:.2g} on average"
    )


def _remarks(
    asked: Request, order: int, affordable: int, words: float, part: float, cells: float, growth: float
) -> tuple[str, ...]:
    """What cannot be afforded, and what could be done about it. `part` is what contexts get of ε, by sides."""
    needed = budget.signal_needed(order, cells, growth)
    more = f"It takes ε of about {needed / words / part:.2g}, or {needed / asked.epsilon / part:,.0f} words."
    if order > affordable:
        return (f"Order {order} cannot be afforded: most of its counts would be noise; {affordable} can be. {more}",)
    if order == 1 and asked.epsilon * words * part < needed:
        other = "" if asked.delta is None else " The model may then be frequent words alone."
        return (f"Not even pairs can be told from noise: merge states, or give a support. {more}{other}",)
    return ()


def _grammar(states: Iterable[Symbol] | int | None, support: npt.ArrayLike | System | None) -> Grammar:
    if states is None:
        if not isinstance(support, System):
            raise InvalidParameterError("give `states`, or how many there are; only a system as `support` knows them")
        states = support.symbols
    if isinstance(states, int):
        if isinstance(states, bool) or states < 1:
            raise InvalidParameterError(f"`states` is {states!r}: there must be at least 1")
        if isinstance(support, System):
            states = support.symbols
    return Grammar.of(tuple(range(states)) if isinstance(states, int) else States(states, None).given, support)


def lengths_with_mean(max_length: int, mean: float | None) -> FloatArray:
    """Probabilities of the lengths 1 to `max_length`, as even as this mean allows (a geometric series)."""
    numbers = np.arange(1, max_length + 1)
    if mean is None:
        return np.full(max_length, 1 / max_length)
    if isinstance(mean, bool) or not isinstance(mean, int | float) or not 1 <= mean <= max_length:
        raise InvalidParameterError(f"`mean_length` is {mean!r}: it must lie between 1 and `max_length`, {max_length}")
    low, high = -50.0, 50.0
    for _ in range(100):
        middle = (low + high) / 2
        weights = np.exp(middle * (numbers - (max_length if middle > 0 else 1)))
        if float((weights * numbers).sum() / weights.sum()) < mean:
            low = middle
        else:
            high = middle
    found: FloatArray = weights / weights.sum()
    return found
