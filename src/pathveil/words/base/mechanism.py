"""What every word mechanism does: check, draw, tell its law and its guarantee.

Subclasses say how to draw and with which probabilities; this file knows about words, batches and errors.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from math import inf, nextafter
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from pathveil.errors import (
    InfeasibleWordError,
    InvalidParameterError,
    LengthMismatchError,
    PathVeilError,
    UnknownSymbolError,
)
from pathveil.numerics.arrays import AnyIntArray, BoolArray, FloatArray, IntArray
from pathveil.privacy.guarantee import Guarantee
from pathveil.privacy.units import Symbols, Unit
from pathveil.randomness.lazy import EXACT
from pathveil.randomness.source import RandomSource, checked_source
from pathveil.systems.markov_chain import MarkovChain
from pathveil.systems.system import System, Word
from pathveil.words.base.batch import Batch, flat_words
from pathveil.words.base.law import ErrorLaw

if TYPE_CHECKING:
    import pyarrow

OnInfeasible = Literal["refuse", "nearest"]
Progress = Callable[[str, int], None]
"""Is told the stage of the work, and how much of it is done."""

_LARGEST_EPSILON = 1e100  # there is no privacy long before that, and arithmetic still works


class WordMechanism(ABC):
    """A random map from a sensitive word to a feasible word.

    `epsilon` is the privacy parameter for words at a distance of at most `adjacency`; subclasses say which distance.
    A sensitive word that the system could not have produced is refused, unless `on_infeasible="nearest"`: then the
    feasible words nearest to it become the most likely outputs.
    """

    name: ClassVar[str]
    reason: str | None = None
    """Why `best_mechanism` chose this one."""

    # What audits and reports have to know about a mechanism, besides its law.
    keeps_length: ClassVar[bool]
    """Is a private word as long as the sensitive one?"""
    is_certified: ClassVar[bool] = False
    """Is the promise about feasible words alone, at a tilt that a certificate justifies?"""

    def __init__(
        self,
        world: System,
        epsilon: float,
        adjacency: int = 1,
        *,
        on_infeasible: OnInfeasible = "refuse",
    ) -> None:
        if not isinstance(world, System):
            raise InvalidParameterError(
                f"the first argument is the public system (Alphabet, MarkovChain, ...), not {type(world).__name__}"
            )
        self._world = world
        self._epsilon = checked_epsilon(epsilon)
        self._adjacency = checked_positive_integer(adjacency, "adjacency")
        if on_infeasible not in ("refuse", "nearest"):
            raise InvalidParameterError(f"`on_infeasible` is 'refuse' or 'nearest', not {on_infeasible!r}")
        self._on_infeasible: OnInfeasible = on_infeasible
        self._used_seed = False

    # What the guarantee speaks of cannot be changed afterwards.

    @property
    def world(self) -> System:
        """The public system."""
        return self._world

    @property
    def epsilon(self) -> float:
        """The privacy parameter ε."""
        return self._epsilon

    @property
    def adjacency(self) -> int:
        """b: how far apart two words may be that must be hard to tell apart."""
        return self._adjacency

    @property
    def on_infeasible(self) -> OnInfeasible:
        """What happens to a word that the system could not have produced."""
        return self._on_infeasible

    @abstractmethod
    def theta(self, length: int) -> float:
        """The tilt in use for words of this length: one more error makes a word e^θ times less likely."""

    @abstractmethod
    def _private_words(self, words: list[IntArray], source: RandomSource) -> list[IntArray]:
        """A private word for each word."""

    @abstractmethod
    def _law(self, codes: IntArray) -> ErrorLaw:
        """The law of the distance between the private word and this one."""

    @property
    def accepted_lengths(self) -> tuple[int, int] | None:
        """The shortest and the longest word that is accepted; None where any length will do."""
        return None

    @property
    def cap(self) -> int | None:
        """The distance from which on all words count as equally far; None where distances have no end."""
        return None

    @abstractmethod
    def distances(self, codes: IntArray, outputs: Any) -> IntArray:
        """How far each output is from the word, all given as symbol codes: errors, or edits."""

    @property
    def is_uniform_within_class(self) -> bool:
        """Are all outputs at the same distance from the word equally likely?"""
        return True

    def adjacent(self, codes: IntArray, words: Any) -> BoolArray:
        """Which of the words does the promise compare with this one? All given as symbol codes."""
        distance = self.distances(codes, words)
        return (distance > 0) & (distance <= self.adjacency)

    def prepare(self, lengths: Iterable[int], progress: Progress | None = None) -> None:  # noqa: B027 - see below
        """Do now what the first draw of words of these lengths would have to wait for.

        Mechanisms with a certificate prove it here, which can take seconds for each length; `progress("proving", k)`
        is called after k of them. The others have nothing to do.

        Raises what `certificate` raises for a length that cannot be certified.
        """

    @property
    @abstractmethod
    def _unit(self) -> str:
        """What is protected, in a sentence."""

    @property
    @abstractmethod
    def _protects(self) -> Unit:
        """The same as a value that can be compared with others."""

    @abstractmethod
    def loss_at(self, distance: int, lengths: Iterable[int] | None = None) -> float:
        """A bound on the loss between two words that are up to so far apart, adjacent or not.

        `lengths` are the lengths of the words that are released, where the bound depends on them.
        """

    @abstractmethod
    def _public_of_length(self) -> Iterable[str]:
        """What the promise takes as known about the length of the word."""

    @property
    def guarantee(self) -> Guarantee:
        """What this mechanism promises; says so if it has been used with a seed."""
        return Guarantee(
            epsilon=self.epsilon,
            delta=0.0,
            unit=self._unit,
            public=tuple(self._public()),
            mechanism=f"{self.name} on {self.world!r}",
            sampling=self._sampling,
            seeded=self._used_seed,
            protects=self._protects,
        )

    @property
    def _sampling(self) -> str:
        """Where the draw has exactly the law that was promised for, and where only up to rounding."""
        return EXACT

    def _public(self) -> Iterable[str]:
        yield "the system (its symbols, and which words are feasible)"
        yield from self._public_of_length()
        if self.on_infeasible == "refuse" and not self.world.compiled.is_free:
            yield "that the word is feasible (others are refused)"
        if isinstance(self.world, MarkovChain) and self.world.starts_after:
            yield f"the state before the word ({self.world.initial!r})"

    # Drawing.

    def privatize(self, word: Word, rng: RandomSource | None = None) -> Word:
        """One private word for a sensitive word: a string for a string, otherwise a tuple of symbols."""
        codes = self._checked(word)
        (private,) = self._private_words([codes], self._source(rng))
        return self.world.decode(private.tolist(), as_string=isinstance(word, str))

    def privatize_many(self, words: Iterable[Word], rng: RandomSource | None = None) -> list[Word]:
        """One private word for each word, in the same order; lengths may differ.

        All words are checked before the first draw. Each word is protected by itself: if two of them come from one
        person, that person's loss is twice ε.
        """
        if isinstance(words, str) or not isinstance(words, Iterable):
            raise InvalidParameterError(f"privatize_many takes a list of words, not {type(words).__name__}")
        listed = list(words)
        drawn_together = self._privatize_together(listed, rng)
        if drawn_together is not None:
            return drawn_together
        encoded: list[IntArray] = []
        for number, word in enumerate(listed):
            try:
                encoded.append(self._checked(word))
            except PathVeilError as problem:
                raise type(problem)(f"word {number + 1} of {len(listed)}: {problem}") from None
        drawn = self._private_words(encoded, self._source(rng))
        return [
            self.world.decode(codes.tolist(), as_string=isinstance(word, str))
            for word, codes in zip(listed, drawn, strict=True)
        ]

    def _privatize_together(self, words: list[Word], rng: RandomSource | None) -> list[Word] | None:  # noqa: ARG002
        """Private words for words that are all in order, without a look at each; None where they are not."""
        return None

    @abstractmethod
    def privatize_arrow(self, words: pyarrow.ListArray, rng: RandomSource | None = None) -> pyarrow.ListArray:
        """Words of any lengths as an Arrow list array of symbol codes in, private ones out, in the same order.

        All words are checked before the first draw; an error names the word, counted from 0 like the rows of an
        array. The result has the type of the input.
        """

    # Knowing.

    def error_law(self, word: Word) -> ErrorLaw:
        """The exact distribution of the distance from this sensitive word (for the curator's eyes)."""
        return self._law(self._checked(word))

    @abstractmethod
    def log_probability(self, word: Word, output: Word) -> float:
        """log P(output | word); -inf for an output that the mechanism could not produce."""

    @abstractmethod
    def log_probabilities(self, codes: IntArray, outputs: Any) -> FloatArray:
        """log P(output | word) for many possible outputs, all given as symbol codes (used by audits)."""

    # Checks.

    def _source(self, rng: RandomSource | None) -> RandomSource:
        source = checked_source(rng)
        self._used_seed |= source.is_seeded
        return source

    def _require_known(self, values: AnyIntArray, offsets: AnyIntArray) -> None:
        """Raise an error that names the first code in a batch of words that stands for no symbol."""
        outside = self.world.compiled.first_outside(values)
        if outside >= 0:
            word = int(np.searchsorted(offsets, outside, side="right")) - 1
            raise UnknownSymbolError(
                f"word {word}, position {outside - offsets[word] + 1}: code {values[outside]} is not from 0 to "
                f"{len(self.world.symbols) - 1}"
            )

    def _checked(self, word: Word) -> IntArray:
        codes = self.world.encode(word)
        self._require_usable(codes)
        return codes

    def _require_usable(self, codes: IntArray) -> None:
        if self.on_infeasible == "refuse":
            self.world.require_feasible(codes)
        else:
            self.world.require_words(len(codes))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.world!r}, epsilon={self.epsilon:g}, adjacency={self.adjacency})"


class SameLengthMechanism(WordMechanism):
    """A mechanism whose private words are as long as the sensitive ones; adjacent words differ in some symbols."""

    keeps_length = True

    def distances(self, codes: IntArray, outputs: IntArray) -> IntArray:
        return hamming_distances(codes, outputs)

    @abstractmethod
    def _draw(self, words: Batch, source: RandomSource) -> AnyIntArray:
        """The values of a batch of private words, one for each word."""

    @abstractmethod
    def _log_probabilities(self, codes: IntArray, outputs: IntArray) -> FloatArray:
        """log P(output | word) for each row of outputs, all of them feasible."""

    @property
    def _covers(self) -> str:
        """Which words the promise compares with."""
        return "any other word of the same length"

    @property
    def _protects(self) -> Unit:
        return Symbols(self.adjacency)

    def loss_at(self, distance: int, lengths: Iterable[int] | None = None) -> float:  # noqa: ARG002 - the same for all
        """ε for every b symbols: words in between are covered, too, feasible or not."""
        steps = -(-checked_positive_integer(distance, "distance") // self.adjacency)
        return nextafter(steps * self.epsilon, inf)

    @property
    def _unit(self) -> str:
        return f"{self._covers} that differs in at most {self.adjacency} symbol{'s' * (self.adjacency > 1)}"

    def _public_of_length(self) -> Iterable[str]:
        yield "the length of the word"

    def _private_words(self, words: list[IntArray], source: RandomSource) -> list[IntArray]:
        if not words:
            return []
        offsets = np.cumsum([0, *map(len, words)])
        return np.split(self._draw(Batch(np.concatenate(words), offsets), source), offsets[1:-1])

    def _privatize_together(self, words: list[Word], rng: RandomSource | None) -> list[Word] | None:
        encoded = self.world.encode_many(words) if words else None
        if encoded is None:
            return None
        codes, offsets = encoded
        length = int(offsets[1])
        is_even = bool((np.diff(offsets) == length).all())
        batch, compiled = Batch(codes, offsets, length if is_even else None), self.world.compiled
        if self.on_infeasible == "refuse":
            usable = bool(compiled.feasible_words(batch.values, batch.offsets).all())
        else:
            usable = compiled.is_free or all(compiled.has_words(length) for length in batch.lengths)
        if not usable:
            return None
        private = self._draw(batch, self._source(rng)).astype(np.int64, copy=False)
        return self.world.decode_many(private, batch.offsets, words)

    def privatize_array(self, codes: npt.ArrayLike, rng: RandomSource | None = None) -> IntArray:
        """Words of equal length as a 2-D array of symbol codes in, private ones out (`world.symbols` decodes)."""
        try:
            array = np.asarray(codes)
        except ValueError:
            raise InvalidParameterError("the rows have different lengths; privatize_many takes ragged words") from None
        if array.ndim != 2 or not np.issubdtype(array.dtype, np.integer):
            raise InvalidParameterError(
                f"privatize_array takes a 2-D array of whole numbers, not {array.ndim}-D {array.dtype}"
            )
        codes = np.ascontiguousarray(array.astype(np.int64, copy=False))
        if not codes.size:
            raise InvalidParameterError(f"the array has shape {codes.shape}: there is no symbol to protect")
        words = Batch.from_rows(codes)
        outside = self.world.compiled.first_outside(words.values)
        if outside >= 0:
            row, column = divmod(outside, codes.shape[1])
            raise UnknownSymbolError(
                f"row {row}, column {column}: code {codes[row, column]} is not from 0 to {len(self.world.symbols) - 1}"
            )
        self._require_usable_words(words, "row")
        private: IntArray = self._draw(words, self._source(rng)).astype(np.int64, copy=False).reshape(codes.shape)
        return private

    def privatize_arrow(self, words: pyarrow.ListArray, rng: RandomSource | None = None) -> pyarrow.ListArray:
        import pyarrow

        batch = Batch(*flat_words(words))
        self._require_known(batch.values, batch.offsets)
        self._require_usable_words(batch, "word")
        private = self._draw(batch, self._source(rng))
        return type(words).from_arrays(pyarrow.array(batch.offsets), pyarrow.array(private), type=words.type)

    def log_probability(self, word: Word, output: Word) -> float:
        codes = self._checked(word)
        if len(output) != len(word):
            raise LengthMismatchError(
                f"the output has {len(output)} symbols, the word {len(word)}: a private word keeps the length"
            )
        private = self.world.encode(output)
        try:
            self.world.require_feasible(private)
        except InfeasibleWordError:
            return -inf
        return float(self._log_probabilities(codes, private[None, :])[0])

    def log_probabilities(self, codes: IntArray, outputs: IntArray) -> FloatArray:
        return self._log_probabilities(codes, outputs)

    def _require_usable_words(self, words: Batch, what: str) -> None:
        """Check a batch; errors name words as '{what} i'."""
        if self.world.compiled.is_free:
            return
        if self.on_infeasible == "refuse":
            suspects = np.flatnonzero(~self.world.compiled.feasible_words(words.values, words.offsets))
        else:
            # Words that may be infeasible share one question: is there any feasible word of that length?
            suspects = np.array([part.numbers[0] for part in words.by_length], dtype=np.int64)
        for number in suspects:
            try:
                self._require_usable(words.values[words.offsets[number] : words.offsets[number + 1]].astype(np.int64))
            except PathVeilError as problem:
                raise type(problem)(f"{what} {number}: {problem}") from None


def checked_epsilon(epsilon: Any) -> float:
    """ε as a float, or an error."""
    try:
        value = float("nan") if isinstance(epsilon, str | bool) else float(epsilon)
    except (TypeError, ValueError, OverflowError):
        value = float("nan")
    if not 0 < value <= _LARGEST_EPSILON:
        raise InvalidParameterError(
            f"epsilon must be a positive number of at most {_LARGEST_EPSILON:g} (usual: 0.1 to 10), not {epsilon!r}"
        )
    return value


def checked_positive_integer(number: Any, name: str) -> int:
    """The number as an int, or an error that calls it `name`."""
    try:
        value = operator.index(number)
    except TypeError:
        value = 0
    if not 1 <= value <= 10**9 or isinstance(number, bool):
        raise InvalidParameterError(f"{name} must be a whole number from 1 to 10^9, not {number!r}")
    return value


def hamming_distances(codes: IntArray, outputs: IntArray) -> IntArray:
    """The number of errors of each row of outputs."""
    errors: IntArray = np.count_nonzero(outputs != codes, axis=1)
    return errors
