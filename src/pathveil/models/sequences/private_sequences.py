"""The model that a fit gives: synthetic words, how well it predicts, and what was promised."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pathveil.errors import InvalidParameterError
from pathveil.models.counting import States
from pathveil.models.sequences.coded_words import CodedWords
from pathveil.models.sequences.grammar import Grammar
from pathveil.models.sequences.kernel_arrays import KernelArrays
from pathveil.models.sequences.measuring import Fitted
from pathveil.models.sequences.request import Request
from pathveil.models.sequences.sequence_file import sequence_parts, sequences_json
from pathveil.privacy.guarantee import Guarantee
from pathveil.randomness.source import RandomSource, checked_source
from pathveil.systems.system import Symbol, Word


class PrivateSequences:
    """A fitted model of whole words. Nothing in it depends on the data except through the mechanism."""

    def __init__(
        self, states: tuple[Symbol, ...], grammar: Grammar, asked: Request, guarantee: Guarantee, fitted: Fitted
    ) -> None:
        self.states, self.grammar, self.asked, self.guarantee = states, grammar, asked, guarantee
        self._fitted = fitted

    def __repr__(self) -> str:
        return (
            f"PrivateSequences({len(self.states)} states, order {self.order}, {len(self.frequent)} frequent words, "
            f"ε = {self.guarantee.epsilon:g})"
        )

    @property
    def order(self) -> int:
        """How many symbols the longest contexts of the model have."""
        return self._fitted.tree.depth

    @property
    def own_contexts(self) -> tuple[int, int]:
        """How many contexts mostly believe their own counts, not shorter ones; and how many contexts there are."""
        return int(self._fitted.estimate.own.sum()), self._fitted.tree.row_count

    @cached_property
    def frequent(self) -> list[tuple[Word, float]]:
        """The words that were kept whole, with their noisy counts, the commonest first."""
        kept, counts = self._fitted.frequent, self._fitted.frequent_counts
        words = self.decoded(np.split(kept.values, kept.offsets[1:-1]) if len(kept) else [])
        return sorted(zip(words, counts.tolist(), strict=True), key=lambda pair: -pair[1])

    @property
    def frequent_codes(self) -> CodedWords:
        """The same words as codes, in no particular order."""
        return self._fitted.frequent

    @cached_property
    def _arrays(self) -> KernelArrays:
        return KernelArrays.of(self._fitted.tree, self._fitted.estimate.probabilities)

    @property
    def frequent_share(self) -> float:
        """Which part of all words the frequent ones are."""
        kept = float(self._fitted.frequent_counts.sum())
        return kept / max(kept + self._fitted.words, 1e-300) if kept else 0.0

    def synthesize(self, count: int, rng: RandomSource | None = None) -> list[Word]:
        """`count` synthetic words. Costs no further privacy."""
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
            raise InvalidParameterError(f"count is a number of words of at least 1, not {count!r}")
        words, lengths = self.synthetic_codes(count, rng)
        return self.decoded(word[:length] for word, length in zip(words, lengths.tolist(), strict=True))

    def synthetic_codes(self, count: int, rng: RandomSource | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The codes of synthetic words, one a line, and their lengths."""
        source, fitted = checked_source(rng), self._fitted
        words, lengths = self._arrays.draw(count, fitted.factors, source)
        kept = fitted.frequent
        if len(kept):
            cumulative = np.cumsum(fitted.frequent_counts)
            share = self.frequent_share
            chosen = source.uniform(count)
            is_kept = chosen < share
            which = np.searchsorted(cumulative, chosen[is_kept] / share * cumulative[-1], side="right")
            which = np.minimum(which, len(kept) - 1)
            table = np.zeros((len(kept), words.shape[1]), dtype=np.int64)
            inside = np.arange(words.shape[1]) < kept.lengths[:, None]
            table[inside] = kept.values
            words[is_kept], lengths[is_kept] = table[which], kept.lengths[which]
        return words, lengths

    def log_loss(self, words: Iterable[Word] | CodedWords) -> float:
        """Minus the mean logarithm of the probability of an event (each symbol, and that the word ends), in nats."""
        states, longest = States(self.states, None), self.asked.max_length
        coded = words.cut(longest) if isinstance(words, CodedWords) else CodedWords.from_words(words, states, longest)
        logs = self._arrays.log_probabilities(coded, self._fitted.factors)
        share = self.frequent_share
        if share > 0:
            kept = self._fitted.frequent
            probabilities = {
                word.tobytes(): p
                for word, p in zip(
                    np.split(kept.values, kept.offsets[1:-1]),
                    self._fitted.frequent_counts / self._fitted.frequent_counts.sum() * share,
                    strict=True,
                )
            }
            extra = np.array(
                [
                    probabilities.get(coded.values[a:b].tobytes(), 0.0)
                    for a, b in zip(coded.offsets[:-1], coded.offsets[1:], strict=True)
                ]
            )
            logs = np.log(np.maximum(extra + (1 - share) * np.exp(logs), 1e-300))
        events = coded.lengths + (coded.lengths < longest)
        return float(-(logs * coded.times).sum() / (events * coded.times).sum())

    def to_json(self, promise: Guarantee | None = None) -> str:
        """The model as text; `promise` is what was promised about the file, if that is more than the guarantee."""
        return sequences_json(self, self._fitted, promise or self.guarantee)

    @classmethod
    def from_json(cls, text: str | dict[str, Any]) -> PrivateSequences:
        """The model from what `to_json` wrote, or from the object that JSON made of it.

        Raises `InvalidSystemError` where it is something else, or damaged.
        """
        return cls(*sequence_parts(text))

    def save(self, path: str | Path) -> None:
        """Write the model to a file that `pv.load_model` and `pathveil synthesize` read."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    def decoded(self, words: Iterable[np.ndarray]) -> list[Word]:
        """Words from their codes: texts where all states are single characters, otherwise tuples."""
        as_string = all(isinstance(state, str) and len(state) == 1 for state in self.states)
        spelled = [[self.states[code] for code in word.tolist()] for word in words]
        return ["".join(word) if as_string else tuple(word) for word in spelled]  # type: ignore[arg-type]
