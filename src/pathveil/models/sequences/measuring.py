"""The steps that read the data, each with its share of the budget and its own noise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from pathveil.models.laplace import CountNoise, laplace_noise
from pathveil.models.sequences import budget
from pathveil.models.sequences.coded_words import CodedWords
from pathveil.models.sequences.contexts import MOST_CELLS, ContextTree, Estimate, Grammar, Measured, estimate
from pathveil.models.sequences.ends import EndCounts, end_codes, with_ends
from pathveil.models.sequences.frequent import FrequentWords, find_frequent
from pathveil.models.sequences.kernel_arrays import KernelArrays
from pathveil.models.sequences.lengths import Corrections, as_distribution, events_counted, length_corrections
from pathveil.models.sequences.request import Request
from pathveil.models.sequences.smoothing import smoothed
from pathveil.models.sequences.times import LearnedTimes
from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.randomness.source import RandomSource

OWN_ROW = 4.0
"""A history gets a row of its own where it is expected so many times the noise of a count."""

LONGEST_CHOSEN = 4
"""The longest contexts where the order is not asked for."""

_WORTH_MODELLING = 15.0  # the events of the words that are left, against the noise of a table of pairs
_MOST_LEFT = 0.5  # where frequent words leave more than this part of all words, the others are always modelled
_NO_NOISE = 1e-6  # variance of counts that are public already


LENGTHS, FREQUENT, FREQUENT_AGAIN = "lengths", "frequent words", "frequent words, second look"
FIRSTS, LASTS, PAIRS = "first symbols", "last symbols", "pairs of first and last symbols"


def contexts_of(depth: int) -> str:
    """The name of a part of the budget; the others are above."""
    return f"contexts of {depth} symbol{'s' * (depth > 1)}"


def contexts_again(depth: int) -> str:
    """The name of what longer contexts have left over."""
    return f"{contexts_of(depth)}, once more"


@dataclass(frozen=True)
class Spent:
    """A part of the budget that was spent: on what, how much of ε, and the scale of the noise of each count."""

    what: str
    epsilon: float
    scale: float


@dataclass(frozen=True, eq=False)
class Fitted:
    """What the steps have found."""

    tree: ContextTree
    estimate: Estimate
    corrections: Corrections
    lengths: FloatArray
    words: float
    frequent: CodedWords
    frequent_counts: FloatArray
    times: LearnedTimes | None = None
    spent: tuple[Spent, ...] = ()

    @property
    def all_words(self) -> tuple[float, FloatArray]:
        """How many words there are, frequent ones included, and how likely each length is: noisy, both."""
        of_kept = np.bincount(self.frequent.lengths - 1, self.frequent_counts, len(self.lengths))
        return self.words + float(of_kept.sum()), as_distribution(self.lengths * self.words + of_kept)


class Measuring:
    """One fit: the words, the unit, and how much of the budget is left."""

    def __init__(
        self, asked: Request, grammar: Grammar, words: CodedWords, epsilon: Fraction, source: RandomSource
    ) -> None:
        self.asked, self.grammar, self.words, self.epsilon, self.source = asked, grammar, words, epsilon, source
        self.sides = asked.whole.sensitivity(1)[0]
        self.spent: list[Spent] = []

    def fit(self) -> Fitted:
        """All steps, one after another."""
        noisy, variance, number = self._measure_lengths()
        lengths = as_distribution(smoothed(noisy, np.full(len(noisy), variance)))
        left, ends = self.epsilon * (1 - budget.LENGTHS), None
        if self.asked.ends:
            ends = self._measure_ends()
            left -= self._for_ends
        words, kept, counts = self.words, self.words.select(np.zeros(len(self.words), dtype=bool)), np.zeros(0)
        modelled, prior = True, None
        if self.asked.delta is not None:
            words = self.words.distinct()
            found, left, modelled = self._look_for_frequent(words, left, number, lengths)
            kept, counts = words.select(found.kept), np.maximum(found.counts[found.kept], 1.0)
            words = words.select(~found.kept)
            lengths = _lengths_of_the_rest(noisy, variance, kept, counts, found.variance[found.kept])
            number = max(number - float(counts.sum()), 0.0)
        if len(kept):
            known, order = self._grown_from_kept(kept, counts)
            prior = known.counts(order)[order.cells_at(1)]
        if modelled:
            tree, found_here = self._grow(words, left, lengths, number, prior)
        else:  # most words are among the frequent ones
            tree, found_here = order, known
        arrays = KernelArrays.of(tree, found_here.probabilities)
        corrections = length_corrections(arrays, lengths, kept)
        if ends is not None:
            corrections = with_ends(arrays, corrections, lengths, ends, number)
        # Of the frequent words only the noisy counts stay: the model is for release.
        frequent = CodedWords.from_arrays(kept.values, kept.offsets)
        return Fitted(tree, found_here, corrections, lengths, number, frequent, counts, spent=tuple(self.spent))

    def _note(self, what: str, epsilon: Fraction, events: int = 1) -> None:
        """Write down what was spent, for those who look at the model."""
        self.spent.append(Spent(what, float(epsilon), float(self.sides * events / epsilon)))

    def _measure_lengths(self) -> tuple[FloatArray, float, float]:
        """Noisy counts of all lengths, their variance, and how many words there are: publicly, or by their sum."""
        noise = laplace_noise(self.epsilon * budget.LENGTHS, self.sides)
        self._note(LENGTHS, self.epsilon * budget.LENGTHS)
        exact = self.words.length_counts(self.asked.max_length)
        noisy = (exact + noise.draw(self.source, len(exact))).astype(float)
        public = self.asked.whole.number_is_public
        return noisy, noise.variance, float(self.words.times.sum() if public else max(noisy.sum(), 1.0))

    @property
    def _for_ends(self) -> Fraction:
        """What the counts of ends take of ε."""
        return self.epsilon * (budget.FIRSTS + budget.LASTS + budget.PAIRS) if self.asked.ends else Fraction(0)

    def _measure_ends(self) -> EndCounts:
        """Noisy counts of first symbols, of last ones, and of pairs of both: one word is in one cell of each."""
        firsts, lasts = end_codes(self.words)
        size, noisy, variances = self.grammar.symbols, list[FloatArray](), list[float]()
        for what, share, cells, number in (
            (FIRSTS, budget.FIRSTS, firsts, size),
            (LASTS, budget.LASTS, lasts, size),
            (PAIRS, budget.PAIRS, firsts * size + lasts, size**2),
        ):
            noise = laplace_noise(self.epsilon * share, self.sides)
            self._note(what, self.epsilon * share)
            exact = np.zeros(number, dtype=np.int64)
            np.add.at(exact, cells, self.words.times)
            noisy.append((exact + noise.draw(self.source, number)).astype(float))
            variances.append(noise.variance)
        return EndCounts(noisy[0], noisy[1], noisy[2].reshape(size, size), variances[0], variances[2])

    def _look_for_frequent(
        self, distinct: CodedWords, left: Fraction, number: float, lengths: FloatArray
    ) -> tuple[FrequentWords, Fraction, bool]:
        """Frequent words, what is left of ε, and whether that is for modelling the other words."""
        delta = (self.asked.delta or 0.0) / 2
        first = self.epsilon * budget.FIRST_LOOK
        found = find_frequent(distinct, first, delta, self.asked.whole, self.source)
        self._note(FREQUENT, first)
        left -= first
        rest = number - float(found.counts[found.kept].sum())
        events, _ = events_counted(lengths, self.asked.max_length)
        noise = float(len(self.grammar.following) * self.sides * events / left)
        modelled = rest * events >= _WORTH_MODELLING * noise or rest > _MOST_LEFT * number
        second = self.epsilon * budget.SECOND_LOOK if modelled else left
        again = find_frequent(distinct, second, delta, self.asked.whole, self.source)
        self._note(FREQUENT_AGAIN, second)
        return found.joined(again), left - second, modelled

    def _grown_from_kept(self, kept: CodedWords, counts: FloatArray) -> tuple[Estimate, ContextTree]:
        """A model of the kept words, as free as they are: it reads nothing but their noisy counts."""
        weighted = CodedWords(kept.values, kept.offsets, np.rint(counts).astype(np.int64))
        tree = ContextTree.of_pairs(self.grammar)
        lengths = as_distribution(np.bincount(kept.lengths - 1, counts, self.asked.max_length).astype(float))
        events, going_on = events_counted(lengths, self.asked.max_length)
        exact = self._count(tree, weighted, self.asked.max_length).astype(float)
        return estimate(tree, [Measured(exact, _NO_NOISE)], float(counts.sum()), (events - 1) / going_on), tree

    def _grow(
        self, words: CodedWords, left: Fraction, lengths: FloatArray, number: float, prior: FloatArray | None
    ) -> tuple[ContextTree, Estimate]:
        """The tree of contexts, measured a depth at a time."""
        epsilon, cells = float(left), len(self.grammar.following)
        order = self._order(epsilon + float(self._for_ends), number)  # a fifth less is still enough for it
        counted = budget.events_to_count(epsilon, number, self.sides, cells, lengths)
        events, going_on = events_counted(lengths, counted)
        continuing = (events - 1) / going_on if going_on else 0.0
        tree, measured = ContextTree.of_pairs(self.grammar), list[Measured]()
        shares = budget.shares_of_depths(order)
        for depth, share in enumerate(shares, 1):
            measured.append(self._measure_depth(tree, words, counted, left * share, contexts_of(depth)))
            found = estimate(tree, measured, number, continuing, prior)
            unspent = left * sum(shares[depth:])
            if not unspent:
                break
            following = laplace_noise(left * shares[depth], self.sides * max(budget.events_at(depth + 1, counted), 1))
            if depth == counted or not self._open(tree, found, following, continuing):
                # No longer context is common enough: what was meant for them goes to the longest there are.
                again = self._measure_depth(tree, words, counted, unspent, contexts_again(depth))
                measured[-1] = measured[-1].averaged(again)
                found = estimate(tree, measured, number, continuing, prior)
                break
        return tree, found

    def _measure_depth(
        self, tree: ContextTree, words: CodedWords, counted: int, epsilon: Fraction, what: str
    ) -> Measured:
        """Noisy counts of the deepest depth."""
        events = budget.events_at(tree.depth, counted)
        noise = laplace_noise(epsilon, self.sides * events)
        self._note(what, epsilon, events)
        exact = self._count(tree, words, counted)
        return Measured((exact + noise.draw(self.source, len(exact))).astype(float), noise.variance)

    def _order(self, epsilon: float, number: float) -> int:
        if self.asked.order != "auto":
            return self.asked.order
        cells = len(self.grammar.following)
        growth = cells / (self.grammar.symbols + 1)
        return budget.affordable_order(epsilon, number, self.sides, cells, growth, most=LONGEST_CHOSEN)

    def _open(self, tree: ContextTree, found: Estimate, noise: CountNoise, continuing: float) -> bool:
        """Add a depth to the tree where histories are common enough; False where none is."""
        rows, before, cells = tree.candidates()
        expected = found.counts(tree)[cells] * continuing
        common = expected >= OWN_ROW * float(noise.scale)
        rows, before, cells, expected = rows[common], before[common], cells[common], expected[common]
        room = MOST_CELLS - tree.cell_count
        widths = np.diff(tree.cell_offsets)[rows]
        # Each opened row also needs a line of `tree.children`.
        needed = 2 * widths + self.grammar.symbols + 1
        if int(needed.sum()) > room:  # the commonest first
            by_size = np.argsort(-expected, kind="stable")
            fits = by_size[np.cumsum(needed[by_size]) <= room]
            rows, before, cells = rows[fits], before[fits], cells[fits]
        if len(rows):
            tree.open(rows, before, cells)
        return bool(len(rows))

    def _count(self, tree: ContextTree, words: CodedWords, events: int) -> IntArray:
        """Exact counts of the cells of the deepest depth."""
        from pathveil.models.sequences import kernels

        cells = tree.cells_at(tree.depth)
        counts = np.zeros(cells.stop - cells.start, dtype=np.int64)
        impossible = kernels.count_events(
            words.values, words.offsets, words.times, self.asked.max_length, events, tree.slots, tree.children,
            tree.cell_offsets, tree.symbols, tree.rows_at(tree.depth).start, counts,
        )  # fmt: skip
        if impossible >= 0:
            raise AssertionError("a word that cannot occur was not refused")
        return counts


def _lengths_of_the_rest(
    noisy: FloatArray, variance: float, kept: CodedWords, counts: FloatArray, variances: FloatArray
) -> FloatArray:
    """What the kept words leave of the noisy lengths of all."""
    of_kept = np.bincount(kept.lengths - 1, counts, len(noisy))
    spread = (variance + np.bincount(kept.lengths - 1, variances, len(noisy))).astype(float)
    return as_distribution(np.maximum(smoothed(noisy - of_kept, spread), 0.0))
