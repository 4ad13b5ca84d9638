"""The law of the words of a model: frequent words by their noisy counts, all others event by event.

A word of the greatest length stands for all that go on after it, since words are cut there. Probabilities of all words
up to that length sum to one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pathveil.errors import NoFeasibleWordError
from pathveil.models.sequences.coded_words import CodedWords
from pathveil.models.sequences.ends import end_codes
from pathveil.models.sequences.kernel_arrays import KernelArrays
from pathveil.models.sequences.lengths import Corrections
from pathveil.models.sequences.synthesis.condition import Condition
from pathveil.numerics.arrays import AnyIntArray, BoolArray, FloatArray, IntArray
from pathveil.randomness.source import RandomSource

MOST_TRIES = 1 << 20
"""So many words at least are tried for those that end as asked for, and `TRIES_FOR_A_WORD` for each that is wanted."""

TRIES_FOR_A_WORD = 1000

_BATCH_SYMBOLS = 1 << 22


@dataclass(frozen=True, eq=False)
class WordLaw:
    """`share` of all words are `frequent` ones, in proportion to their `counts`; the others are the model's."""

    arrays: KernelArrays
    corrections: Corrections
    frequent: CodedWords
    counts: FloatArray
    share: float

    @classmethod
    def of(
        cls, arrays: KernelArrays, corrections: Corrections, frequent: CodedWords, counts: FloatArray, rest: float
    ) -> WordLaw:
        """The law in which frequent words have their counts, and all others together have `rest`.

        The model makes frequent words, too. So it makes more words than `rest`, and the frequent ones are added only as
        far as they are missing then.
        """
        modelled = rest / max(1 - float(corrections.of_kept.sum()), 0.1)
        missing = np.maximum(counts - modelled * corrections.of_kept, 0.0)
        total = float(missing.sum()) + modelled
        return cls(arrays, corrections, frequent, missing, float(missing.sum()) / total if total > 0 else 0.0)

    @property
    def max_length(self) -> int:
        """The greatest length of a word."""
        return len(self.corrections.weights)

    def log_probabilities(self, words: CodedWords) -> FloatArray:
        """The logarithm of the probability of each word; -inf where the model never gives it."""
        logs = self.arrays.log_probabilities(words, self.corrections.factors)
        with np.errstate(divide="ignore"):
            logs += np.log(self.corrections.weights)[words.lengths - 1]
            if self.corrections.ends is not None:
                logs += np.log(self.corrections.ends[end_codes(words)])
        if self.share <= 0:
            return logs
        kept = self.share * self.counts / self.counts.sum()
        listed = np.split(self.frequent.values, self.frequent.offsets[1:-1])
        known = {word.tobytes(): p for word, p in zip(listed, kept.tolist(), strict=True)}
        bounds = zip(words.offsets[:-1], words.offsets[1:], strict=True)
        extra = np.array([known.get(words.values[a:b].tobytes(), 0.0) for a, b in bounds])
        with np.errstate(divide="ignore"):
            both: FloatArray = np.logaddexp(np.log(extra), np.log(1 - self.share) + logs)
        return both

    def draw(self, count: int, source: RandomSource, condition: Condition) -> tuple[AnyIntArray, IntArray]:
        """`count` independent words for which the condition holds, one a line, and their lengths."""
        if condition.last is None:
            return self._beginning_with(condition, count, source)
        found, sizes = [], []
        have = tries = 0
        most = max(MOST_TRIES, TRIES_FOR_A_WORD * count)
        while have < count:
            if tries >= most:
                raise _too_rare(condition, tries, have)
            size = _next_batch(count, have, tries, most, self.max_length)
            words, lengths = self._beginning_with(condition, size, source)
            good = words[np.arange(size), lengths - 1] == condition.last
            found.append(words[good])
            sizes.append(lengths[good])
            have, tries = have + int(good.sum()), tries + size
        return np.concatenate(found)[:count], np.concatenate(sizes)[:count]

    def _beginning_with(self, condition: Condition, count: int, source: RandomSource) -> tuple[AnyIntArray, IntArray]:
        """Words that begin with the prefix: a frequent one, or one that the model goes on with.

        Where lengths or ends have weights, more words of the model are drawn than needed, and one of n symbols is taken
        with a probability in proportion to the weight of n, and of its ends.
        """
        prefix = condition.prefix
        weights = self.corrections.weights.copy()
        weights[: max(len(prefix) - 1, 0)] = 0.0  # no such word is as short
        top = float(weights.max())
        matching = self._frequent_that_begin(prefix)
        often = np.where(matching, self.counts, 0.0)
        of_frequent = self.share * float(often.sum()) / float(self.counts.sum()) if matching.any() else 0.0
        of_model = (1 - self.share) * self._beginning(prefix) * top
        if of_frequent + of_model <= 0:
            raise NoFeasibleWordError(
                f"the model has no words {condition.told}: the public support allows them, but it gives them no "
                "probability"
            )
        kept_share = of_frequent / (of_frequent + of_model)
        if (self.corrections.weights == top).all() and self.corrections.ends is None:
            return self._drawn(prefix, often, kept_share, None, count, source)
        found, sizes = [], []
        have = tries = 0
        while have < count:
            if tries >= max(MOST_TRIES, TRIES_FOR_A_WORD * count):
                raise _too_rare(condition, tries, have)
            size = int((count - have) * (max(top, 1.0) if not tries else 1.1 * tries / max(have, 1))) + 100
            size = min(size, max(count, _BATCH_SYMBOLS // self.max_length + 1))
            words, lengths = self._drawn(prefix, often, kept_share, weights / top, size, source)
            found.append(words)
            sizes.append(lengths)
            have, tries = have + len(lengths), tries + size
        return np.concatenate(found)[:count], np.concatenate(sizes)[:count]

    def _drawn(
        self, prefix: IntArray, often: FloatArray, kept_share: float, accepted: FloatArray | None, count: int,
        source: RandomSource,
    ) -> tuple[AnyIntArray, IntArray]:  # fmt: skip
        """Of so many words, of which `kept_share` are frequent ones, those that are `accepted`, by their lengths."""
        words, lengths = self.arrays.draw(count, self.corrections.factors, source, prefix if len(prefix) else None)
        taken = np.ones(count, dtype=bool)
        if accepted is not None:
            likely, ends = accepted[lengths - 1], self.corrections.ends
            if ends is not None:
                likely = likely * ends[words[:, 0], words[np.arange(count), lengths - 1]] / float(ends.max())
            taken = source.uniform(count) < likely
        if kept_share > 0:
            chosen = source.uniform(count)
            is_kept = chosen < kept_share
            cumulative = np.cumsum(often)
            which = np.searchsorted(cumulative, chosen[is_kept] / kept_share * cumulative[-1], side="right")
            which = np.minimum(which, int(np.flatnonzero(often)[-1]))
            words[is_kept], lengths[is_kept] = self._table()[which], self.frequent.lengths[which]
            taken |= is_kept
        return (words, lengths) if taken.all() else (words[taken], lengths[taken])

    def _beginning(self, prefix: IntArray) -> float:
        """The probability that the model, without frequent words and weights, begins a word so."""
        if not len(prefix):
            return 1.0
        one = CodedWords.from_arrays(prefix, np.array([0, len(prefix)]))
        # Cut there, the word stands for all that go on after it.
        return float(np.exp(self.arrays.log_probabilities(one, self.corrections.factors[: len(prefix) + 1])[0]))

    def _table(self) -> IntArray:
        """The frequent words, one a line."""
        table = np.zeros((len(self.frequent), self.max_length), dtype=np.int64)
        table[np.arange(self.max_length) < self.frequent.lengths[:, None]] = self.frequent.values
        return table

    def _frequent_that_begin(self, prefix: IntArray) -> BoolArray:
        if not len(self.frequent):
            return np.zeros(0, dtype=bool)
        begins: BoolArray = (self._table()[:, : len(prefix)] == prefix).all(axis=1)
        return begins & (self.frequent.lengths >= len(prefix))


def _next_batch(count: int, have: int, tries: int, most: int, longest: int) -> int:
    """How many words to try next: about as many as it takes, judging from those that were tried."""
    wanted = count - have
    needed = wanted * 4 if not tries else int(1.1 * wanted * tries / max(have, 1)) + 100
    return max(1, min(needed, most - tries, _BATCH_SYMBOLS // longest + 1))


def _too_rare(condition: Condition, tries: int, have: int) -> NoFeasibleWordError:
    # If none of n words is like that, their share is below 3/n with a confidence of 95%.
    rarity = f"about one in {tries // have:,} is" if have else f"fewer than one in {tries // 3:,} are, most likely"
    which = "" if not len(condition.prefix) else " of those that begin so"
    return NoFeasibleWordError(
        f"words {condition.told} are too rare in this model: of {tries:,} words that were tried{which} {have:,} were "
        f"like that, so {rarity}. Ask for fewer, or for a longer `prefix`."
    )
