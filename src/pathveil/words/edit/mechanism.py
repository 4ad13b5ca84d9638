"""What the mechanisms for edit distance share: words whose length is private too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import inf, log
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pathveil.errors import InfeasibleWordError, InvalidParameterError, NoFeasibleWordError, PathVeilError
from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.privacy.units import Edits, Unit
from pathveil.randomness.exact import draw_below_each
from pathveil.randomness.source import RandomSource
from pathveil.systems.system import System, Word
from pathveil.words.base import (
    ErrorLaw,
    OnInfeasible,
    WordMechanism,
    checked_positive_integer,
    flat_words,
    largest_part,
    linear_scores,
    log_counts,
)
from pathveil.words.classes import Selection
from pathveil.words.edit.batch import draw_batch, draw_counted
from pathveil.words.edit.classes import EditClasses
from pathveil.words.edit.distances import distances_from
from pathveil.words.edit.kept import KeptTables
from pathveil.words.edit.length_range import LengthRange, checked_cap, checked_range, require_length
from pathveil.words.edit.tables import EditTables, Room, near_counts

if TYPE_CHECKING:
    import pyarrow


_MOSTLY = log(100.0)  # times the weight of the word itself


class EditLaw(ErrorLaw):
    """How far a private word is from the sensitive one: `pmf[ℓ]` is the probability of exactly ℓ edits.

    The last entry stands for `cap` edits or more, so that with a cap mean, variance and quantiles are those of
    min(distance, cap). It depends on the sensitive word: it is for the curator.
    """

    def __init__(self, log_pmf: FloatArray) -> None:
        super().__init__(log_pmf)
        self.cap = len(log_pmf) - 1

    def __repr__(self) -> str:
        return f"EditLaw(0 to {self.cap} edits, mean {self.mean:.4g})"


class EditMechanism(WordMechanism):
    """A random map from a sensitive word to a feasible word whose length lies in a public range.

    Adjacent words are at most b insertions, deletions and substitutions apart (Levenshtein distance; LEV names it as
    future work), so that the length of the sensitive word is protected like its symbols. The utility of an output is
    -min(distance, cap), which changes by at most min(b, cap) between adjacent words. (docs/edit-distance.md)

    `lengths=(lo, hi)`: sensitive and private words have lo to hi symbols. Where only finitely many words are feasible,
    hi may be None: the longest of them. `cap`: from this distance on all words count as equally far, which keeps
    tables small; None is no cap.
    """

    _selection: ClassVar[Selection]

    def __init__(
        self,
        world: System,
        epsilon: float,
        adjacency: int = 1,
        lengths: tuple[int, int | None] | None = None,
        cap: int | None = None,
        *,
        on_infeasible: OnInfeasible = "refuse",
    ) -> None:
        super().__init__(world, epsilon, adjacency, on_infeasible=on_infeasible)
        lo, hi = checked_range(world, lengths)
        self._cap = checked_cap(cap, hi)
        self._words = LengthRange(world.compiled, lo, hi)
        self._kept = KeptTables()
        if not self._words.total:
            raise NoFeasibleWordError(
                f"the system has no feasible word of {lo} to {hi} symbols: check the edges, the first and the last "
                "symbols, or allow other lengths"
            )

    keeps_length = False

    def distances(self, codes: IntArray, outputs: Iterable[IntArray]) -> IntArray:
        return distances_from(codes, outputs)

    @property
    def lengths(self) -> tuple[int, int]:
        """The shortest and the longest length of a word, sensitive or private."""
        return self._words.lo, self._words.hi

    @property
    def accepted_lengths(self) -> tuple[int, int]:
        return self.lengths

    @property
    def cap(self) -> int:
        """The distance from which on words count as equally far; at most the longest length, which is no cap."""
        return self._cap

    @property
    def output_count(self) -> int:
        """The exact number of possible outputs."""
        return self._words.total

    def theta(self, length: int | None = None) -> float:  # noqa: ARG002 - the same for every length
        """One more edit makes a word e^θ times less likely; the published factor 2 on the sensitivity min(b, c)."""
        return largest_part(self.epsilon, 2 * min(self.adjacency, self.cap))

    @property
    def _scores(self) -> FloatArray:
        return linear_scores(self.theta(), self.cap)

    @property
    def _unit(self) -> str:
        b = self.adjacency
        edits = "insertion, deletion or substitution" if b == 1 else "insertions, deletions or substitutions"
        lo, hi = self.lengths
        return f"the same but for any {b} {edits} in one word, its length included, lengths {lo} to {hi} public"

    @property
    def _protects(self) -> Unit:
        return Edits(self.adjacency, *self.lengths)

    def loss_at(self, distance: int, lengths: Iterable[int] | None = None) -> float:  # noqa: ARG002 - the same for all
        """Twice θ for every edit, up to the cap: beyond it all words are equally far."""
        edits = min(checked_positive_integer(distance, "distance"), self.cap)
        return 2 * self.theta() * edits * (1 + 1e-12)

    def _public_of_length(self) -> Iterable[str]:
        yield f"that the word has {self.lengths[0]} to {self.lengths[1]} symbols"
        if self.cap < self.lengths[1]:
            yield f"the cap (words {self.cap} or more edits away are equally likely)"

    def _tables(self, words: Sequence[IntArray], room: Room | None = None) -> EditTables:
        """The tables of the first of these words, at least of one, made in the room if they fit into it."""
        return EditTables(self._words, words, self.cap, room=room)

    def _classes(self, codes: IntArray) -> EditClasses:
        key = codes.tobytes()
        known = self._kept.look_up([key])
        if key not in known:
            known[key] = self._tables([codes]), 0
            self._kept.keep(key, *known[key])
        return EditClasses.from_tables(*known[key], codes)

    # Drawing.

    def _private_words(self, words: list[IntArray], source: RandomSource) -> list[IntArray]:
        noise = source.keystream(len(words) * (self.cap + 1)).reshape(len(words), self.cap + 1)

        def choose(numbers: Sequence[int], counts: Sequence[tuple[int, ...]] | IntArray) -> list[int]:
            chosen: list[int] = self._selection.choose(counts, self._scores, noise[numbers], source).tolist()
            return chosen

        if self._is_mostly_far:
            return draw_counted(words, self._near_counts, self._far_words, self._tables, self._kept, choose, source)
        return draw_batch(words, self._tables, self._kept, choose, source)

    @property
    def _is_mostly_far(self) -> bool:
        """Are nearly all private words c edits away or more, and does 63 bits hold how many words there are?"""
        words = self._words
        return self.cap < 8 and words.limbs == 1 and log(words.total) - self.theta() * self.cap > _MOSTLY

    def _near_counts(self, words: Sequence[IntArray]) -> IntArray:
        return near_counts(self._words, words, self.cap)

    def _far_words(self, words: Sequence[IntArray], source: RandomSource) -> list[IntArray]:
        """For each word one of those that are c edits away or more: any word, drawn again if it is nearer.

        No other word is less likely than these, so that on average less than one is drawn for each sensitive word.
        """
        from pathveil.words.edit.walk import find_far_words

        public, compiled = self._words, self._words.compiled
        listed = np.concatenate([np.empty(0, dtype=np.int64), *words]), np.cumsum([0, *map(len, words)])
        found, lengths = np.empty((len(words), public.hi), dtype=np.int64), np.full(len(words), -1)
        waiting = np.arange(len(words))
        while len(waiting):
            ranks = draw_below_each(source, np.full(len(waiting), public.total, dtype=np.uint64)).reshape(-1, 1)
            system = (compiled.accepting, public.completions, public.edges)
            find_far_words(ranks, waiting, listed, self.cap, public.lo, compiled.start, system, found, lengths)
            waiting = waiting[lengths[waiting] < 0]
        return [word[:length] for word, length in zip(found, lengths.tolist(), strict=True)]

    def _privatize_together(self, words: list[Word], rng: RandomSource | None) -> list[Word] | None:
        encoded = self.world.encode_many(words) if words else None
        if encoded is None:
            return None
        (codes, offsets), (lo, hi) = encoded, self.lengths
        lengths = np.diff(offsets)
        usable = lo <= lengths.min() and lengths.max() <= hi
        if usable and self.on_infeasible == "refuse":
            usable = bool(self.world.compiled.feasible_words(codes, offsets).all())
        if not usable:
            return None
        listed = [codes[begin:end] for begin, end in pairwise(offsets.tolist())]
        private = self._private_words(listed, self._source(rng))
        return self.world.decode_many(np.concatenate(private), np.cumsum([0, *map(len, private)]), words)

    def privatize_arrow(self, words: pyarrow.ListArray, rng: RandomSource | None = None) -> pyarrow.ListArray:
        import pyarrow

        values, offsets = flat_words(words)
        codes = values.astype(np.int64)
        self._require_known(codes, offsets)
        listed = np.split(codes, offsets[1:-1]) if len(words) else []
        for number, word in enumerate(listed):
            try:
                self._require_usable(word)
            except PathVeilError as problem:
                raise type(problem)(f"word {number}: {problem}") from None
        private = self._private_words(listed, self._source(rng))
        ends = np.cumsum([0, *map(len, private)]).astype(offsets.dtype)
        drawn = np.concatenate(private).astype(values.dtype) if private else values
        return type(words).from_arrays(pyarrow.array(ends), pyarrow.array(drawn), type=words.type)

    # Knowing.

    def _law(self, codes: IntArray) -> EditLaw:
        return self.law_from(self._classes(codes).counts)

    def law_from(self, counts: Sequence[int]) -> EditLaw:
        """`error_law` of a word whose classes have these sizes (`EditClasses.counts`)."""
        return EditLaw(self._selection.log_law(counts, self._scores))

    def share_tables(self, other: EditMechanism) -> None:
        """Use the tables that another mechanism keeps, so that a word that occurs in both is counted once."""
        if (self.world, self.lengths, self.cap) != (other.world, other.lengths, other.cap):
            raise InvalidParameterError("tables are shared on the same system, with the same lengths and cap")
        self._kept = other._kept

    def law_within(self, word: Word, numbers: int) -> EditLaw:
        """`error_law`, or `TooLargeError` where the table behind it would hold more numbers than that."""
        codes = self._checked(word)
        return self.law_from(EditClasses(self._words, codes, self.cap, numbers).counts)

    def length_law(self, word: Word) -> dict[int, float]:
        """{length: probability} of the private word, exact, for this sensitive word (for the curator's eyes)."""
        return self.laws_from(self.counts_by_length(word))[1]

    def counts_by_length(self, word: Word) -> dict[int, tuple[int, ...]]:
        """{length: how many outputs of that length are 0, 1, ..., c edits away}; the same for every ε and b."""
        codes = self._checked(word)
        counts: dict[int, tuple[int, ...]] = {}
        for length in range(self.lengths[0], self.lengths[1] + 1):
            alone = LengthRange(self.world.compiled, length, length)
            counts[length] = EditClasses(alone, codes, self.cap).counts if alone.total else (0,) * (self.cap + 1)
        return counts

    def laws_from(self, counts: dict[int, tuple[int, ...]]) -> tuple[EditLaw, dict[int, float]]:
        """`error_law` and `length_law` of a word with these `counts_by_length`."""
        together = [sum(column) for column in zip(*counts.values(), strict=True)]
        law = EditLaw(self._selection.log_law(together, self._scores))
        shares = self._selection.log_shares(together, self._scores)
        return law, {length: float(np.exp(shares + log_counts(row)).sum()) for length, row in counts.items()}

    def log_probability(self, word: Word, output: Word) -> float:
        codes, private = self._checked(word), self.world.encode(output)
        try:
            self.world.require_feasible(private)
        except InfeasibleWordError:
            return -inf
        if not self.lengths[0] <= len(private) <= self.lengths[1]:
            return -inf
        return float(self.log_probabilities(codes, [private])[0])

    def log_probabilities(self, codes: IntArray, outputs: Iterable[IntArray]) -> FloatArray:
        return self._selection.log_probabilities(self._classes(codes), self._scores, outputs)

    # Checks.

    def _require_usable(self, codes: IntArray) -> None:
        require_length(len(codes), self.lengths)
        if self.on_infeasible == "refuse":
            self.world.require_feasible(codes)

    def __repr__(self) -> str:
        cap = f", cap={self.cap}" if self.cap < self.lengths[1] else ""
        return f"{super().__repr__()[:-1]}, lengths={self.lengths}{cap})"
