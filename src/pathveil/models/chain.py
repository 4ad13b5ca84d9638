"""A private Markov chain fitted to data (MCM Algorithm 2, with exact accounting, and two baselines).

The caller names the *unit*: what may change without anyone noticing.

- `"transition"`: the destination of one transition; where each transition starts, and hence the size of every row, is
  public. Rows are then separate parts of the data, a record sits in one of them, and the promise is that of the worst
  row. All mechanisms can do this.
- `"symbol"`: one symbol of one word. It takes records from two rows and gives them to two others, so row sizes are not
  fixed; noise goes on the whole table of counts. At most 4 counts change by 1 in all.
- `"word"`: one whole word of at most `max_length` symbols (L; longer words are cut): at most 2(L-1) in all.

The Dirichlet mechanism covers the first unit only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pathveil.errors import InvalidCountsError, InvalidParameterError, InvalidSystemError
from pathveil.markup import Html, card
from pathveil.models.calibration import Calibration, calibrate_each
from pathveil.models.counting import Counts, States, WordCounts, count_pairs, count_words, encode_words
from pathveil.models.dirichlet import EXACT_ON_GRID
from pathveil.models.frequencies import (
    checked_counts,
    checked_support,
    draw_rows,
    require_floor,
    row_rmse,
)
from pathveil.models.laplace import EXACT, CountNoise, count_noises, noisy_rows
from pathveil.models.model_file import model_json, model_parts
from pathveil.models.synthesize import synthesize
from pathveil.numerics.arrays import BoolArray, FloatArray
from pathveil.privacy import units
from pathveil.privacy.guarantee import Guarantee
from pathveil.randomness.source import RandomSource, checked_source
from pathveil.systems.markov_chain import MarkovChain
from pathveil.systems.system import Symbol, Word

Mechanism = Literal["dirichlet", "laplace", "gaussian"]
Unit = Literal["transition", "symbol", "word"]

# A model of unit "word" cuts words itself, so that it protects words of any length.
_PROTECTED = {"transition": units.Transition(), "symbol": units.Symbols(1), "word": units.Word()}

PARTS = ("transitions", "first", "lengths")


@dataclass(frozen=True)
class RowForecast:
    """What is publicly known about one row: its size, how it was drawn, and the error to expect of an entry.

    `records` is None where row sizes are protected too. `rmse` bounds the root mean squared error over the row's
    entries, before projection; None where it depends on protected row sizes.
    """

    state: Symbol
    records: int | None
    successors: int
    floor: float | None
    concentration: float | None
    rmse: float | None


@dataclass(frozen=True, eq=False)
class PrivateChain:
    """A fitted model. Nothing in it depends on the data except through the mechanism and what the guarantee lists.

    `first` and `lengths` (probabilities of lengths 1, 2, …) are there if a share of the budget was spent on them.
    """

    chain: MarkovChain
    guarantee: Guarantee
    mechanism: str
    rows: tuple[RowForecast, ...]
    first: FloatArray | None = None
    lengths: FloatArray | None = None

    def __repr__(self) -> str:
        return f"PrivateChain({self.chain!r}, {self.mechanism}, ε = {self.guarantee.epsilon:g})"

    def _repr_html_(self) -> str:
        known = [row.rmse for row in self.rows if row.rmse is not None]
        worst = f"{max(known):.3g} at worst" if known else "depends on protected row sizes"
        facts = [
            ("states", f"{len(self.chain.symbols):,}"),
            ("mechanism", self.mechanism),
            ("error of an entry", worst),
        ]
        return card("Private Markov chain", facts, Html(self.guarantee._repr_html_()))

    def weakest_rows(self, count: int = 10) -> list[RowForecast]:
        """The rows with the largest errors: those with few records. Merge their states to do better."""
        if all(row.records is None for row in self.rows):
            raise InvalidParameterError(
                "row sizes are protected in this model, and so is which rows are weak; forecast with compare_models "
                "and row sizes that are public"
            )
        known = [row for row in self.rows if row.rmse is not None]
        return sorted(known, key=lambda row: -(row.rmse or 0.0))[:count]

    def to_json(self, promise: Guarantee | None = None) -> str:
        """The model as text; `promise` is what was promised about the file, if that is more than the guarantee."""
        return model_json(self, promise or self.guarantee)

    def save(self, path: str | Path) -> None:
        """Write the model to a file that `pv.load_model`, `pathveil synthesize` and `--chain` read."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    def synthesize(self, count: int, length: int | None = None, rng: RandomSource | None = None) -> list[Word]:
        """`count` synthetic words from the private chain; see `synthesize.py`. Costs no further privacy."""
        return synthesize(self.chain, count, length, first=self.first, lengths=self.lengths, rng=rng)


def load_model(path: str | Path) -> PrivateChain:
    """A private model that `PrivateChain.save` or `pathveil model` wrote.

    Raises `InvalidSystemError` where the file is something else.
    """
    text = Path(path).read_text(encoding="utf-8-sig")
    chain, promise, saved = model_parts(text)
    if promise is None or saved is None:
        raise InvalidSystemError(f"{path}: a chain that pathveil model did not make. Use MarkovChain.from_json.")
    states = zip(saved["rows"], chain.symbols, strict=True)
    rows = tuple(RowForecast(**{**row, "state": state}) for row, state in states)
    first, lengths = (None if name not in saved else np.array(saved[name]) for name in ("first", "lengths"))
    return PrivateChain(chain, promise, saved["mechanism"], rows, first, lengths)


def fit_private_chain(
    counts: npt.ArrayLike | WordCounts | None = None,
    *,
    pairs: Iterable[tuple[Symbol, Symbol]] | npt.NDArray[Any] | None = None,
    words: Iterable[Word] | None = None,
    states: Iterable[Symbol],
    epsilon: float,
    delta: float | None = None,
    mechanism: Mechanism = "dirichlet",
    support: npt.ArrayLike | MarkovChain | None = None,
    unit: Unit | None = None,
    max_length: int | None = None,
    merge: Mapping[Symbol, Symbol] | None = None,
    split: Mapping[str, float] | None = None,
    floor: float | None = None,
    mix: bool = True,
    rng: RandomSource | None = None,
    before_drawing: Callable[[Guarantee], object] | None = None,
) -> PrivateChain:
    """A Markov chain from transition counts, from (from, to) `pairs`, or from `words`.

    `pairs` is a list of pairs or, much faster for millions of them, a numpy array with two columns.

    `unit` names what is protected: "transition", "symbol" or "word" for words, always "transition" for counts and
    pairs. `states` and `support` (which transitions can occur: a Boolean table over the model's states, or a
    `MarkovChain` on them) are public and must not be taken from the data. `merge` is a public map from states to merged
    states; all of it then speaks of the merged ones. A state without records gets the uniform row on its support.

    Counts that were made from words elsewhere come as `WordCounts`: then every unit has a meaning for them.

    `mechanism="dirichlet"` and `"gaussian"` need a `delta`; `"laplace"` has δ = 0. `floor` and `mix=False` are the
    papers' mode of the Dirichlet mechanism. With `unit="word"`, `split={"transitions": 0.8, "first": 0.1,
    "lengths": 0.1}` learns first symbols and lengths too, each for its share of the budget.

    `before_drawing` is called with the guarantee when everything is checked and nothing is drawn yet: the moment to
    charge a ledger. If it raises, nothing is released. With `mix=False` the floor is checked after it: that the data
    keep the floor, or not, is learned from the data.

    >>> import pathveil as pv
    >>> model = pv.fit_private_chain(
    ...     [[800, 200], [450, 550]], states=["sun", "rain"], epsilon=1.0, delta=1e-6, rng=pv.insecure_seed(7)
    ... )
    >>> model.chain.matrix.toarray().round(2)
    array([[0.8 , 0.2 ],
           [0.45, 0.55]])
    """
    known = States(states, merge)
    from_words = words is not None or isinstance(counts, WordCounts)
    asked = _checked_request(mechanism, unit, epsilon, delta, max_length, split, floor, mix, from_words)
    source = checked_source(rng)
    found = _read(counts, pairs, words, known, asked.max_length)
    data = _Data(found, known, _support_table(support, known))
    _require_possible(data)
    if asked.unit == "transition" and not data.table.any():
        raise InvalidCountsError("all counts are zero: a chain needs at least one transition")
    # All noise is settled from public numbers before any draw, so that an impossible promise releases nothing.
    noise = _DirichletRows(data, asked) if asked.mechanism == "dirichlet" else _NoisyCounts(data, asked)
    guarantee = asked.guarantee(seeded=source.is_seeded)
    if before_drawing is not None:
        before_drawing(guarantee)
    if not mix and floor is not None:
        # Whether the data keep the floor is an answer about them, so it has to be paid for first.
        _require_floor(data, floor)
    values, first, lengths = noise.draw(source)
    chain = MarkovChain.from_counts(known.merged, values)
    chain.guarantee = guarantee.to_dict()
    return PrivateChain(chain, guarantee, mechanism, tuple(noise.forecasts()), first, lengths)


# What is asked for.


@dataclass(frozen=True)
class _Request:
    """A promise, and the noise that shall keep it; checked, before the data are looked at."""

    mechanism: Mechanism
    unit: Unit
    epsilon: float
    delta: float
    max_length: int | None
    shares: Mapping[str, float]
    floor: float | None
    mix: bool

    def guarantee(self, *, seeded: bool) -> Guarantee:
        return Guarantee(
            epsilon=self.epsilon,
            delta=0.0 if self.mechanism == "laplace" else self.delta,
            unit=_unit_text(self.unit, self.max_length),
            public=tuple(_public(self.unit, self.mechanism, self.floor, self.mix)),
            mechanism=_mechanism_text(self.mechanism, self.shares),
            sampling=EXACT_ON_GRID if self.mechanism == "dirichlet" else EXACT,
            seeded=seeded,
            protects=_PROTECTED[self.unit],
        )


def _checked_request(
    mechanism: Mechanism,
    unit: Unit | None,
    epsilon: float,
    delta: float | None,
    max_length: int | None,
    split: Mapping[str, float] | None,
    floor: float | None,
    mix: bool,
    from_words: bool,
) -> _Request:
    if unit is None:
        if from_words:
            raise InvalidParameterError(
                "say what is protected: unit='word' (a whole word, with max_length), 'symbol' (one symbol of a word) "
                "or 'transition' (the destination of one transition; row sizes are public)"
            )
        unit = "transition"
    shares = _checked_split(split, unit)
    _check_unit(unit, mechanism, from_words, max_length)
    if mechanism != "laplace" and delta is None:
        raise InvalidParameterError(f"mechanism {mechanism!r} needs a delta; 'laplace' is the one with δ = 0")
    if mechanism != "dirichlet" and (floor is not None or not mix):
        raise InvalidParameterError(f"floor and mix belong to mechanism 'dirichlet', not to {mechanism!r}")
    return _Request(mechanism, unit, epsilon, delta or 0.0, max_length, shares, floor, mix)


def _check_unit(unit: str, mechanism: str, has_words: bool, max_length: int | None) -> None:
    if mechanism not in ("dirichlet", "laplace", "gaussian"):
        raise InvalidParameterError(f"mechanism is {mechanism!r}: it must be 'dirichlet', 'laplace' or 'gaussian'")
    if unit not in ("transition", "symbol", "word"):
        raise InvalidParameterError(f"unit is {unit!r}: it must be 'transition', 'symbol' or 'word'")
    if unit != "transition":
        if mechanism == "dirichlet":
            raise InvalidParameterError(
                f"the Dirichlet mechanism does not protect a {unit}: changing one moves records between rows. Use "
                "mechanism='laplace' or 'gaussian', or unit='transition'."
            )
        if not has_words:
            raise InvalidParameterError(f"unit {unit!r} needs words=…: counts and pairs do not say what a {unit} is")
    if unit == "word" and (isinstance(max_length, bool) or not isinstance(max_length, int) or max_length < 2):
        raise InvalidParameterError(
            f"unit 'word' needs max_length, a public whole number of at least 2 (longer words are cut), "
            f"not {max_length!r}"
        )
    if unit != "word" and max_length is not None:
        raise InvalidParameterError("max_length belongs to unit 'word'; no other unit depends on it")


def _checked_split(split: Mapping[str, float] | None, unit: str) -> dict[str, float]:
    if split is None:
        return {"transitions": 1.0}
    if unit != "word":
        raise InvalidParameterError(
            f"split learns first symbols and lengths from the data, which unit {unit!r} does not protect: "
            "use unit='word'"
        )
    shares = dict(split)
    if not set(shares) <= set(PARTS) or "transitions" not in shares:
        raise InvalidParameterError(f"split must name 'transitions' and may name 'first' and 'lengths', not {shares!r}")
    if not all(share > 0 for share in shares.values()) or abs(sum(shares.values()) - 1) > 1e-9:
        raise InvalidParameterError(f"the shares of split must be positive and sum to 1, not {shares!r}")
    return shares


# The data.


@dataclass(frozen=True)
class _Data:
    """What was counted, in the model's states, and which transitions can occur (public)."""

    found: Counts | WordCounts
    states: States
    inside: BoolArray

    @property
    def table(self) -> Counts:
        """How often each state (row) was followed by each other."""
        return self.found.transitions if isinstance(self.found, WordCounts) else self.found

    @property
    def records(self) -> Counts:
        """The number of transitions out of each state."""
        records: Counts = self.table.sum(axis=1)
        return records

    @property
    def successors(self) -> Counts:
        """How many states can follow each state."""
        successors: Counts = self.inside.sum(axis=1)
        return successors


def _read(
    counts: npt.ArrayLike | WordCounts | None,
    pairs: Iterable[tuple[Symbol, Symbol]] | npt.NDArray[Any] | None,
    words: Iterable[Word] | None,
    states: States,
    cut: int | None,
) -> Counts | WordCounts:
    """The data in the model's states: a table of transitions or, where they come from words, all that is counted."""
    if sum(given is not None for given in (counts, pairs, words)) != 1:
        raise InvalidParameterError("give the data in one way: counts, or pairs=…, or words=…")
    if words is not None:
        found = count_words(encode_words(words, states, cut), len(states.merged))
    elif isinstance(counts, WordCounts):
        found = WordCounts(
            states.merge_table(checked_counts(counts.transitions, "counts", dimensions=2)),
            states.merge_first(checked_counts(counts.first, "the counts of first symbols")),
            checked_counts(counts.lengths, "the counts of lengths"),
        )
    elif counts is not None:
        return states.merge_table(checked_counts(counts, "counts", dimensions=2))
    else:
        return count_pairs([] if pairs is None else pairs, states)
    if cut is None:
        return found
    if found.lengths[cut:].any():
        raise InvalidCountsError(f"some words have more than {cut} symbols: cut them before they are counted")
    # Lengths that do not occur are possible, too: the shape of the release must not depend on the data.
    lengths = np.zeros(cut, dtype=np.int64)
    lengths[: len(found.lengths)] = found.lengths[:cut]
    return replace(found, lengths=lengths)


def _require_possible(data: _Data) -> None:
    states, table = data.states, data.table
    for i, j in np.argwhere(~data.inside & (table > 0)):
        raise InvalidCountsError(
            f"the data have {states.merged[j]!r} after {states.merged[i]!r} ({table[i, j]} times), but the public "
            "support says that this cannot occur. Correct the data, or the support if it is wrong for reasons that "
            "have nothing to do with the data.",
            without_content="the data have a transition that cannot occur, as the public support says",
        )


def _support_table(support: npt.ArrayLike | MarkovChain | None, states: States) -> BoolArray:
    if not isinstance(support, MarkovChain):
        return checked_support(support, (len(states.merged),) * 2, "support")
    position = {symbol: i for i, symbol in enumerate(support.symbols)}
    for state in states.merged:
        if state not in position:
            raise InvalidParameterError(f"support: the chain does not have the state {state!r}")
    order = [position[state] for state in states.merged]
    inside: BoolArray = (support.matrix[order][:, order] > 0).toarray()
    return inside


def _require_floor(data: _Data, floor: float) -> None:
    """The check of the papers' mode, for rows that have something to protect."""
    noisy = (data.records > 0) & (data.successors > 1)
    frequencies = data.table / np.maximum(data.records, 1)[:, None]
    require_floor(frequencies, data.inside & noisy[:, None], floor, "transition frequencies")


# The noise.


Drawn = tuple[FloatArray, FloatArray | None, FloatArray | None]
"""The rows of the chain; and the probabilities of first symbols and of lengths, where they are learned."""


class _DirichletRows:
    """A Dirichlet draw for every row that has something to protect (MCM Algorithm 2)."""

    def __init__(self, data: _Data, asked: _Request) -> None:
        self._data = data
        noisy = (data.records > 0) & (data.successors > 1)
        settled = calibrate_each(
            data.successors[noisy].tolist(),
            (1 / data.records[noisy]).tolist(),
            asked.epsilon,
            asked.delta,
            asked.floor,
            asked.mix,
        )
        self._calibrations: dict[int, Calibration] = dict(zip(np.flatnonzero(noisy).tolist(), settled, strict=True))

    def draw(self, source: RandomSource) -> Drawn:
        inside, noisy = self._data.inside, list(self._calibrations)
        values: FloatArray = inside / np.maximum(self._data.successors, 1)[:, None]
        if noisy:
            how = list(self._calibrations.values())
            _, values[noisy] = draw_rows(source, self._data.table[noisy], 1, inside[noisy], how)
        return values, None, None

    def forecasts(self) -> Iterator[RowForecast]:
        data = self._data
        for i, (state, records, size) in enumerate(
            zip(data.states.merged, data.records.tolist(), data.successors.tolist(), strict=True)
        ):
            drawn = self._calibrations.get(i)
            how = (None, None, None) if drawn is None else (drawn.floor, drawn.concentration, row_rmse(drawn))
            yield RowForecast(state, records, size, *how)


class _NoisyCounts:
    """Integer noise on the counts, for each part its share of the budget."""

    def __init__(self, data: _Data, asked: _Request) -> None:
        self._data, self._unit = data, asked.unit
        self._noises = count_noises(
            asked.mechanism, asked.epsilon, asked.delta, asked.unit, asked.max_length, asked.shares
        )

    def draw(self, source: RandomSource) -> Drawn:
        data, found = self._data, self._data.found
        sizes = data.records if self._unit == "transition" else None
        values = noisy_rows(source, data.table, data.inside, self._noises["transitions"], sizes)
        first = lengths = None
        if isinstance(found, WordCounts) and "first" in self._noises:
            first = _noisy_histogram(source, found.first, self._noises["first"])
        if isinstance(found, WordCounts) and "lengths" in self._noises:
            lengths = _noisy_histogram(source, found.lengths, self._noises["lengths"])
        return values, first, lengths

    def forecasts(self) -> Iterator[RowForecast]:
        data, noise = self._data, self._noises["transitions"]
        for state, size, records in zip(data.states.merged, data.successors, data.records, strict=True):
            if self._unit != "transition":
                yield RowForecast(state, None, int(size), None, None, None)
            else:
                rmse = noise.variance**0.5 / int(records) if records > 0 and size > 1 else None
                yield RowForecast(state, int(records), int(size), None, None, rmse)


def _noisy_histogram(source: RandomSource, found: Counts, noise: CountNoise) -> FloatArray:
    """Probabilities; every word counts once, and how many words there are is public."""
    everywhere = np.ones((1, len(found)), dtype=bool)
    rows = noisy_rows(source, found[None, :], everywhere, noise, found.sum(keepdims=True))
    return np.asarray(rows[0])


# What the guarantee says.


def _unit_text(unit: str, max_length: int | None) -> str:
    return {
        "transition": "any other set of transitions in which one has another destination (origins and row sizes are "
        "the same)",
        "symbol": "any other set of words (with transitions that can occur) in which one symbol of one word is another",
        "word": "any other set of words (with transitions that can occur) in which one is replaced by any word of "
        f"at most {max_length} symbols",
    }[unit]


def _public(unit: str, mechanism: str, floor: float | None, mix: bool) -> list[str]:
    listed = ["the states", "which transitions can occur"]
    listed += {
        "transition": ["where each transition starts and so the number of records of each row"],
        "symbol": ["the number of words and their lengths"],
        "word": ["the number of words", "the greatest length, after which words are cut"],
    }[unit]
    if mechanism == "dirichlet":
        listed.append("the floor of each row" if mix else f"that every possible transition has frequency ≥ {floor:.6g}")
    return listed


def _mechanism_text(mechanism: str, shares: Mapping[str, float]) -> str:
    name = {
        "dirichlet": "Dirichlet mechanism on the rows of a Markov chain",
        "laplace": "discrete Laplace noise on transition counts",
        "gaussian": "discrete Gaussian noise on transition counts",
    }[mechanism]
    if len(shares) == 1:
        return name
    budget = "ε" if mechanism == "laplace" else "ρ"
    parts = {"transitions": name, "first": "first symbols", "lengths": "lengths"}
    return ", ".join(f"{parts[part]} ({share:g} of {budget})" for part, share in shares.items())
