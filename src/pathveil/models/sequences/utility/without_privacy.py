"""For the curator only: the same model without noise. It is no release, carries no guarantee and cannot be saved.

Beside a private model it tells two losses apart: what a model of this order cannot know, noise or no noise, and what
was lost to privacy. It has the order of the private model and keeps the same words whole (with their true counts); how
long words are, and what follows what in the others, is counted exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pathveil.errors import InvalidCountsError
from pathveil.models.counting import States
from pathveil.models.sequences.coded_words import CodedWords
from pathveil.models.sequences.contexts import MOST_CELLS, ContextTree, Estimate, Grammar, Measured, estimate
from pathveil.models.sequences.kernel_arrays import KernelArrays
from pathveil.models.sequences.lengths import as_distribution, events_counted, length_corrections
from pathveil.models.sequences.private_sequences import PrivateSequences
from pathveil.models.sequences.synthesis import Condition, WordLaw
from pathveil.numerics.arrays import AnyIntArray, BoolArray, FloatArray, IntArray
from pathveil.randomness.source import RandomSource, checked_source

_ANY_WORD = Condition(np.zeros(0, dtype=np.int64), None, "")
_LEAST = 2  # a history that occurs so often gets a row of its own
_NO_NOISE = 1e-6  # of a count: counts of words are still a sample, which the estimate knows


@dataclass(frozen=True, eq=False)
class FitWithoutPrivacy:
    """A model of sensitive words WITHOUT ANY PROTECTION. For the curator's eyes; never release what it says."""

    kept: CodedWords
    rest: int
    law: WordLaw | None
    """Of the words that were not kept."""
    max_length: int

    def __repr__(self) -> str:
        return "FitWithoutPrivacy(NOT PRIVATE: for the curator only)"

    def curator_words(self, count: int, rng: RandomSource | None = None) -> CodedWords:
        """Words that this model would make: as sensitive as the data."""
        source = checked_source(rng)
        often = np.append(self.kept.times, self.rest).astype(float)
        which = np.searchsorted(np.cumsum(often / often.sum()), source.uniform(count), side="right")
        times = np.bincount(np.minimum(which, len(often) - 1), minlength=len(often))
        kept = CodedWords(self.kept.values, self.kept.offsets, times[:-1])
        if self.law is None or not times[-1]:
            return kept.select(kept.times > 0)
        made = as_coded(*self.law.draw(int(times[-1]), source, _ANY_WORD))
        return CodedWords(
            np.concatenate([kept.values, made.values]),
            np.concatenate([kept.offsets[:-1], kept.offsets[-1] + made.offsets]),
            np.concatenate([kept.times, made.times]),
        ).select(np.append(kept.times > 0, np.ones(len(made), dtype=bool)))


def fit_without_privacy(words: CodedWords, model: PrivateSequences) -> FitWithoutPrivacy:
    """For the curator only: the model that the same code makes of the same words, without any noise.

    `words` are the original words, with the codes of the model's states.
    """
    longest = model.asked.max_length
    distinct = words.cut(longest).distinct()
    frequent = [word for word, _ in model.frequent]
    is_kept = _among(distinct, CodedWords.from_words(frequent, States(model.states, None), longest))
    kept, rest = distinct.select(is_kept), distinct.select(~is_kept)
    if not len(rest):
        return FitWithoutPrivacy(kept, 0, None, longest)
    lengths = as_distribution(rest.length_counts(longest).astype(float))
    tree, found = _grown(rest, model.grammar, model.order, longest, lengths)
    arrays = KernelArrays.of(tree, found.probabilities)
    none = kept.select(np.zeros(len(kept), dtype=bool))
    law = WordLaw(arrays, length_corrections(arrays, lengths, none), none, np.zeros(0), 0.0)
    return FitWithoutPrivacy(kept, int(rest.times.sum()), law, longest)


def _grown(
    words: CodedWords, grammar: Grammar, order: int, longest: int, lengths: FloatArray
) -> tuple[ContextTree, Estimate]:
    """The tree of contexts with exact counts: every history that occurs more than once has a row."""
    events, going_on = events_counted(lengths, longest)
    number, continuing = float(words.times.sum()), (events - 1) / going_on
    tree, measured = ContextTree.of_pairs(grammar), []
    while True:
        counts = _count(tree, words, longest)
        measured.append(Measured(counts.astype(float), _NO_NOISE))
        if tree.depth == order:
            break
        rows, before, cells = tree.candidates()
        often = counts[cells - tree.cells_at(tree.depth).start]
        widths = np.diff(tree.cell_offsets)[rows]
        commonest = np.argsort(-often, kind="stable")
        room = 2 * np.cumsum(widths[commonest]) <= MOST_CELLS - tree.cell_count
        chosen = commonest[room & (often[commonest] >= _LEAST)]
        if not len(chosen):
            break
        tree.open(rows[chosen], before[chosen], cells[chosen])
    return tree, estimate(tree, measured, number, continuing)


def _count(tree: ContextTree, words: CodedWords, longest: int) -> IntArray:
    """Exact counts of the cells of the deepest depth, of all events."""
    from pathveil.models.sequences import kernels

    cells = tree.cells_at(tree.depth)
    counts = np.zeros(cells.stop - cells.start, dtype=np.int64)
    odd = kernels.count_events(
        words.values, words.offsets, words.times, longest, longest, tree.slots, tree.children,
        tree.cell_offsets, tree.symbols, tree.rows_at(tree.depth).start, counts,
    )  # fmt: skip
    if odd >= 0:
        raise InvalidCountsError(
            "a word cannot occur, as the support of the model says: these are not the words that it was fitted to"
        )
    return counts


def _among(words: CodedWords, others: CodedWords) -> BoolArray:
    """Which of the words are among the others?"""
    known = set(_texts(others))
    return np.array([text in known for text in _texts(words)], dtype=bool)


def _texts(words: CodedWords) -> list[bytes]:
    return [words.values[a:b].tobytes() for a, b in pairwise(words.offsets.tolist())]


def as_coded(words: AnyIntArray, lengths: IntArray) -> CodedWords:
    """Words that stand in the lines of a table, each with its length."""
    inside = np.arange(words.shape[1]) < lengths[:, None]
    return CodedWords.from_arrays(words[inside], np.append(0, np.cumsum(lengths)))
