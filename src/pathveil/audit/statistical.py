"""Auditing a mechanism by its outputs alone: how large must its privacy loss be, at least?

Draw outputs for a word and for a neighbour, find a set of outputs that is likelier for one than for the other, and
bound the ratio of the two probabilities from below. One part of the draws chooses the neighbour and the set, fresh
draws test the one that was chosen: so nothing has to be paid for having looked at many, and the stated level holds
for every mechanism. (docs/audits.md)

An audit can refute a claim. It cannot prove one: a loss that no draw showed, or that another word has, is not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pathveil.audit.black_boxes import BlackBox, EditBlackBox, Input, VectorBlackBox, WordBlackBox, are_numbers
from pathveil.audit.confidence import loss_lower_bounds
from pathveil.audit.events import Event, best_event
from pathveil.audit.neighbours import edit_neighbours_of, neighbours_of, promised_neighbours
from pathveil.errors import InvalidParameterError, LengthMismatchError
from pathveil.randomness.source import RandomSource, checked_source
from pathveil.systems.system import System, checked_length
from pathveil.words.base import SameLengthMechanism, WordMechanism, checked_epsilon, checked_positive_integer
from pathveil.words.edit import EditMechanism, require_length

_CANDIDATES = 64  # pairs that a search begins with
_WORDS = 8  # words that a search begins with
_FEWEST_DRAWS = 1000
_SEARCHING, _CHOOSING = 0.3, 0.2  # shares of the draws; the rest is for the test
# The risks at which events are compared. Pairs that look bad by luck may stay in the search for another round; an event
# that looks bad by luck would spoil the test.
_LENIENT, _STRICT = 0.1, 0.001


@dataclass(frozen=True)
class StatisticalAudit:
    """A lower bound on the privacy loss of a mechanism, from its outputs alone.

    Whatever the mechanism is, the bound `epsilon_lower` exceeds its true loss between `word` and `neighbour` with a
    probability of at most 1 - `confidence`. `event` is the set of outputs that shows the loss, one of those that could
    be made of `classes` classes; of `tested` fresh draws for the word and for the neighbour, `hits` were in it. `draws`
    counts all outputs, those of the search as well. `claimed` is the ε that was promised at this `delta`.
    """

    epsilon_lower: float
    confidence: float
    claimed: float | None
    delta: float
    word: Any
    neighbour: Any
    event: str
    classes: int
    tested: tuple[int, int]
    hits: tuple[int, int]
    draws: int

    @property
    def holds(self) -> bool:
        """The claim was not refuted. That is no proof of it."""
        return self.claimed is None or self.epsilon_lower <= self.claimed

    @property
    def verdict(self) -> str:
        """One sentence to act on."""
        at = f" at δ = {self.delta:g}" if self.delta else ""
        bound = f"the loss{at} is at least {self.epsilon_lower:.3g} (confidence {self.confidence:g})"
        if self.claimed is None:
            return f"Measured: {bound}."
        if self.holds:
            return f"Not refuted: {bound}, and ε = {self.claimed:g} is claimed. This is no proof of the claim."
        return f"REFUTED: {bound}, but ε = {self.claimed:g} is claimed. Do not release anything with this mechanism."

    def __str__(self) -> str:
        (x, y), (n, m) = self.hits, self.tested
        return (
            f"{self.verdict}\n"
            f"  likelier:  {_shown(self.word)}\n"
            f"  neighbour: {_shown(self.neighbour)}\n"
            f"  event:     {self.event} (from {self.classes} classes)\n"
            f"  seen:      {x} of {n} draws, and {y} of {m} for the neighbour ({self.draws} draws in all)"
        )


def audit_statistically(
    mechanism: SameLengthMechanism | EditMechanism | Callable[..., Any],
    word: Input = None,
    neighbour: Input = None,
    draws: int = 200_000,
    confidence: float = 0.99,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    candidates: Iterable[Input] | None = None,
    world: System | None = None,
    adjacency: int = 1,
    length: int | None = None,
    batched: bool = False,
    rng: RandomSource | None = None,
) -> StatisticalAudit:
    """Bound the privacy loss of any mechanism from below by drawing from it.

    `mechanism` is one of ours, or any function from a word (a string, a list or tuple of symbols) to a word; or from
    numbers (a numpy array, or lists) to numbers, such as a release of counts or what `private_frequencies` returns.
    With `batched=True` it is called as mechanism(word, size) and returns that many outputs. For functions `epsilon`
    and `delta` say what is claimed; without ε the bound is all.

    Without a `neighbour` the worst one is looked for: among `candidates`, or among the words within the mechanism's
    adjacency (for functions: within `adjacency` in `world`). Without a `word`, words of this `length` are drawn from
    the public system and searched together with their neighbours; for edit distance, without a length, words from the
    shortest to the longest.

    >>> import pathveil as pv
    >>> fair = pv.CertifiedExponential(pv.Alphabet("abc"), epsilon=1.0)
    >>> audit = pv.audit_statistically(fair, "abca", draws=40_000, rng=pv.insecure_seed(1))
    >>> audit.holds, 0.7 < audit.epsilon_lower
    (True, True)
    """
    source = checked_source(rng)
    if isinstance(mechanism, WordMechanism):
        if epsilon is not None or delta or world is not None or adjacency != 1 or batched:
            raise InvalidParameterError(
                "epsilon, delta, world, adjacency and batched are for other people's mechanisms; this one knows them"
            )
        epsilon, near = mechanism.epsilon, _Neighbourhood.promised_by(mechanism, source)
    elif callable(mechanism):
        near = _Neighbourhood(world, adjacency, source)
    else:
        raise InvalidParameterError(f"a mechanism is one of ours or a function, not {type(mechanism).__name__}")
    pairs = _pairs(near, word, neighbour, candidates, length)
    box = _black_box(mechanism, near.world, pairs, rng, batched)
    return run_audit(box, pairs, draws, confidence, epsilon, delta, source)


@dataclass(frozen=True)
class _Neighbourhood:
    """The words that a promise compares with a given word: at most `adjacency` apart in the public world.

    `feasible` leaves only words that the world allows. `lengths`, for edit distance, are those of the shortest and of
    the longest word.
    """

    world: System | None
    adjacency: int
    source: RandomSource
    feasible: bool = True
    lengths: tuple[int, int] | None = None
    mechanism: WordMechanism | None = None

    @staticmethod
    def promised_by(mechanism: WordMechanism, source: RandomSource) -> _Neighbourhood:
        feasible, lengths = mechanism.on_infeasible == "refuse", mechanism.accepted_lengths
        return _Neighbourhood(mechanism.world, mechanism.adjacency, source, feasible, lengths, mechanism)

    def around(self, word: Input, limit: int) -> list[Input]:
        """Up to `limit` neighbours of a word."""
        if self.world is None:
            raise InvalidParameterError("give a neighbour, or candidates, or the world whose words are searched")
        if self.lengths is not None:
            lengths, feasible = self.lengths, self.feasible
            return list(edit_neighbours_of(self.world, word, self.adjacency, lengths, feasible, limit, self.source))
        adjacency = checked_positive_integer(self.adjacency, "adjacency")
        found = list(neighbours_of(self.world, word, adjacency, self.feasible, limit, self.source))
        return found if self.mechanism is None else promised_neighbours(self.mechanism, word, found)


def _pairs(
    near: _Neighbourhood, word: Input, neighbour: Input, candidates: Iterable[Input] | None, length: int | None
) -> list[tuple[Input, Input]]:
    """The pairs of neighbours that a search begins with; a single one where the caller names it."""
    pairs: list[tuple[Input, Input]]
    if word is None:
        sizes = _sizes(near.world, length, near.lengths)
        if near.world is None or not sizes or neighbour is not None or candidates is not None:
            raise InvalidParameterError("without a word, give the length of the words to search, and the public world")
        words = list(dict.fromkeys(near.world.random_word(size, near.source) for size in sizes))
        pairs = [(one, other) for one in words for other in near.around(one, _CANDIDATES // len(words))]
    elif neighbour is not None:
        if candidates is not None:
            raise InvalidParameterError("give one neighbour, or candidates to search, not both")
        pairs = [(word, neighbour)]
    else:
        pairs = [(word, other) for other in (near.around(word, _CANDIDATES) if candidates is None else candidates)]
    if not pairs:
        raise InvalidParameterError(
            f"no other word differs in at most {near.adjacency} symbols: there is nothing to audit. Take a larger "
            "adjacency, or another word."
        )
    return pairs


def _black_box(
    mechanism: SameLengthMechanism | EditMechanism | Callable[..., Any],
    world: System | None,
    pairs: list[tuple[Input, Input]],
    rng: RandomSource | None,
    batched: bool,
) -> BlackBox:
    """The mechanism as something to draw from; for our own, after a check that its promise is about these pairs."""
    if isinstance(mechanism, WordMechanism):
        for pair in pairs:
            _require_adjacent(mechanism, *pair)
    if isinstance(mechanism, EditMechanism):
        return EditBlackBox(mechanism, rng)
    if not isinstance(mechanism, WordMechanism) and are_numbers(mechanism, pairs[0][0], batched):
        return VectorBlackBox(mechanism, batched=batched)
    longest = max(len(one) for pair in pairs for one in pair)
    return WordBlackBox(mechanism, world, longest, rng, batched=batched)


def audit_jointly(
    mechanism: SameLengthMechanism | Callable[..., Any],
    words: Sequence[Input],
    neighbour: Input,
    draws: int = 50_000,
    confidence: float = 0.99,
    *,
    epsilon: float | None = None,
    rng: RandomSource | None = None,
) -> StatisticalAudit:
    """Audit words that are released together: the first one is protected, the others are known to the attacker.

    `mechanism` is one of ours, or a function from a list of words to a list of private words. Each word alone may be
    released flawlessly and two of them give everything away: if their noise is the same, it can be subtracted. The
    `neighbour` stands in for the first word; the claim is the same ε as for one word.

    >>> import pathveil as pv
    >>> fair = pv.CertifiedExponential(pv.Alphabet("abc"), epsilon=1.0)
    >>> pv.audit_jointly(fair, ["abca", "ccbb"], "abcb", draws=20_000, rng=pv.insecure_seed(1)).holds
    True
    """
    source = checked_source(rng)
    if isinstance(words, str) or len(words) < 2:
        raise InvalidParameterError("a joint audit takes a list of at least two words")
    world = None
    if isinstance(mechanism, WordMechanism):
        if not mechanism.keeps_length:
            raise InvalidParameterError(
                "audit this mechanism as a function: mechanism.privatize_many, with its epsilon"
            )
        if epsilon is not None:
            raise InvalidParameterError("epsilon is for other people's mechanisms; this one knows its own")
        world, epsilon = mechanism.world, mechanism.epsilon
        _require_adjacent(mechanism, words[0], neighbour)
    together, changed = tuple(words), (neighbour, *words[1:])
    box = WordBlackBox(mechanism, world, max(map(len, (*words, neighbour))), rng, together=True)
    return run_audit(box, [(together, changed)], draws, confidence, epsilon, 0.0, source)


def _require_adjacent(mechanism: WordMechanism, word: Input, neighbour: Input) -> None:
    """A promise about words within the adjacency is not refuted by words that are farther apart."""
    if isinstance(word, np.ndarray) or isinstance(neighbour, np.ndarray):
        raise InvalidParameterError("a word mechanism takes words: a string, a list or a tuple of symbols")
    if mechanism.accepted_lengths is not None:
        for one in (word, neighbour):
            require_length(len(one), mechanism.accepted_lengths)
    elif len(word) != len(neighbour):
        raise LengthMismatchError(
            f"the word has {len(word)} symbols, its neighbour {len(neighbour)}: the promise is about words of the same "
            "length"
        )
    [apart] = mechanism.distances(mechanism.world.encode(word), [mechanism.world.encode(neighbour)])
    if not 1 <= apart <= mechanism.adjacency:
        b = mechanism.adjacency
        found, promised = f"differ in {apart} symbols", f"differ in 1 to {b}"
        if not mechanism.keeps_length:
            found, promised = f"are {apart} edits apart", f"are 1 to {b} apart"
        raise InvalidParameterError(f"word and neighbour {found}, but the promise is about words that {promised}")
    if not promised_neighbours(mechanism, word, [neighbour]):
        raise InvalidParameterError(
            "a symbol of the neighbour is farther away from that of the word than the promise speaks of (`within`)"
        )


def _sizes(world: System | None, length: int | None, lengths: tuple[int, int] | None) -> list[int]:
    """The lengths of the words that a search begins with: this one, or evenly spaced ones; none if it cannot begin."""
    if length is not None:
        return [checked_length(length)] * _WORDS
    if world is None or lengths is None:
        return []
    possible = [n for n in range(lengths[0], lengths[1] + 1) if world.count(n)]
    return [possible[int(i)] for i in np.linspace(0, len(possible) - 1, _WORDS).round()]


def run_audit(
    box: BlackBox,
    pairs: list[tuple[Input, Input]],
    draws: int,
    confidence: float,
    epsilon: float | None,
    delta: float,
    source: RandomSource,
) -> StatisticalAudit:
    """Search the pairs, choose an event for the worst, test it on fresh draws."""
    if isinstance(draws, bool) or not isinstance(draws, (int, np.integer)) or draws < _FEWEST_DRAWS:
        raise InvalidParameterError(f"draws is a whole number of at least {_FEWEST_DRAWS}, not {draws!r}")
    if not 0.5 <= confidence < 1:
        raise InvalidParameterError(f"confidence lies between 0.5 and 1 (usual: 0.99), not at {confidence!r}")
    if not 0 <= delta < 1:
        raise InvalidParameterError(f"delta lies between 0 and 1, not at {delta!r}")
    claimed = None if epsilon is None else checked_epsilon(epsilon)
    risk = 1 - confidence
    left = int(draws)
    if len(pairs) > 1:
        searching = int(_SEARCHING * left)
        pairs = _search(box, pairs, searching, delta)
        left -= searching
    [(word, neighbour)] = pairs
    choosing = int(_CHOOSING * draws) // 2
    event = _chosen(box, word, neighbour, choosing, delta)
    # Poisson numbers of draws make the two counts independent Poisson variables: see confidence.py.
    numbers = np.random.default_rng(source.keystream(4))
    n, m = (int(number) for number in numbers.poisson(left / 2 - choosing, size=2))
    first, second = (neighbour, word) if event.swapped else (word, neighbour)
    x = sum(event.count(outputs) for outputs in box.chunks(first, n))
    y = sum(event.count(outputs) for outputs in box.chunks(second, m))
    bound = float(loss_lower_bounds(x, y, (n, m), risk, delta))
    return StatisticalAudit(
        epsilon_lower=bound,
        confidence=confidence,
        claimed=claimed,
        delta=delta,
        word=first,
        neighbour=second,
        event=str(event),
        classes=event.classes,
        tested=(n, m),
        hits=(x, y),
        draws=box.drawn,
    )


def _chosen(box: BlackBox, word: Input, neighbour: Input, size: int, delta: float) -> Event:
    first, second = box.draw(word, size), box.draw(neighbour, size)
    return best_event(box.views(word, neighbour, first, second), first, second, _STRICT, delta)


def _search(box: BlackBox, pairs: list[tuple[Input, Input]], draws: int, delta: float) -> list[tuple[Input, Input]]:
    """Successive halving: every round draws afresh for the pairs that are left and keeps the better half of them."""
    rounds = int(np.ceil(np.log2(len(pairs))))
    while len(pairs) > 1:
        inputs = {_name(one): one for pair in pairs for one in pair}
        size = max(draws // rounds // len(inputs), 2)
        outputs = {name: box.draw(one, size) for name, one in inputs.items()}
        promises = []
        for word, neighbour in pairs:
            first, second = outputs[_name(word)], outputs[_name(neighbour)]
            event = best_event(box.views(word, neighbour, first, second), first, second, _LENIENT, delta)
            promises.append(event.promise)
        order = np.argsort(-np.array(promises), kind="stable")
        pairs = [pairs[i] for i in order[: (len(pairs) + 1) // 2]]
    return pairs


def _name(given: Input) -> Any:
    """Something hashable that stands for an input."""
    return given.tobytes() if isinstance(given, np.ndarray) else repr(given)


def _shown(given: Input) -> str:
    shown = np.array2string(given, threshold=12) if isinstance(given, np.ndarray) else str(given)
    return shown if len(shown) <= 200 else shown[:197] + "..."
