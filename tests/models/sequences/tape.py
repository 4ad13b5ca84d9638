"""A fit whose noisy tables are written down, and played back to a fit of other data.

All that a fit may know of the data are noisy tables. `Tape.record()` writes down each of them as it is made, with the
exact table and the noise. `Tape.replay()` makes the next fit see the very same noisy tables, whatever its data are. So

- two fits with the same noisy tables must give the same model, to the last bit: otherwise something else leaks;
- with Laplace noise, one data set makes these tables at most e^loss times as likely as another does, where the loss is
  the sum over all tables of |exact - other exact| / scale: that of a pair of neighbours, all decisions as they fell.

In the search for frequent words the tables list only words that occur. A played back look gives every word that was
kept its written count, and every other word a count far below any threshold: whether such words occur may not matter.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pathveil as pv
from pathveil.models.laplace import CountNoise, laplace_noise
from pathveil.models.sequences import CodedWords, frequent, measuring

Word = tuple[int, ...]
FAR_BELOW = -(10**6)


def modules_of_sequences() -> list[ModuleType]:
    """All modules that have a part in a fit."""
    return [module for name, module in sorted(sys.modules.items()) if name.startswith("pathveil.models.sequences")]


def spelled(words: CodedWords) -> list[Word]:
    """The words as tuples of codes."""
    return [tuple(words.values[a:b].tolist()) for a, b in zip(words.offsets[:-1], words.offsets[1:], strict=True)]


@dataclass
class Table:
    """One table that noise was added to. `words` are what it counts where it is a look for frequent words."""

    exact: np.ndarray
    noisy: np.ndarray
    noise: CountNoise
    epsilon: Fraction
    l1: int
    words: list[Word] | None = None
    kept: dict[Word, int] = field(default_factory=dict)


class Unadded(np.ndarray):
    """Noise that can be added to a table, once, and nothing else."""

    added: Any

    def __array_finalize__(self, source: Any) -> None:
        self.added = getattr(source, "added", None)  # noise in another shape is the same noise

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        assert (ufunc, method, options) == (np.add, "__call__", {}), "noise is used for something else than to be added"
        [exact] = [one for one in inputs if one is not self]
        return self.added(np.array(exact))


class Tape:
    """The noisy tables of one fit."""

    def __init__(self, seed: int, played: Tape | None = None, share_of_noise: float = 1.0) -> None:
        self.tables: list[Table] = []
        self.thresholds: list[float] = []
        """The δ of each threshold."""
        self._played, self._rng, self._share = played, np.random.default_rng(seed), share_of_noise
        self._asked: dict[int, tuple[CountNoise, Fraction, int]] = {}
        self._looking_at: list[Word] | None = None

    @contextmanager
    def running(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """Fits in here take their noise from this tape."""
        threshold, find = frequent.threshold, measuring.find_frequent

        def asked_noise(epsilon: Fraction, l1: int) -> CountNoise:
            noise = laplace_noise(epsilon, l1)
            self._asked[id(noise)] = (noise, Fraction(epsilon), l1)  # held, so that no other noise gets its id
            return noise

        def asked_threshold(noise: CountNoise, delta: float, words: int) -> int:
            self.thresholds.append(delta)
            return threshold(noise, delta, words)

        def found(words: CodedWords, *rest: Any) -> frequent.FrequentWords:
            self._looking_at = spelled(words)
            result = find(words, *rest)
            table = self.tables[-1]
            kept = zip(self._looking_at, result.kept, table.noisy, strict=True)
            table.words, table.kept = self._looking_at, {word: int(count) for word, is_kept, count in kept if is_kept}
            self._looking_at = None
            return result

        def chosen_apart(choose: Any) -> Any:
            return lambda *given: choose(*given[:-1], pv.insecure_seed(1))

        with monkeypatch.context() as patch:
            for module in modules_of_sequences():
                if hasattr(module, "laplace_noise"):
                    patch.setattr(module, "laplace_noise", asked_noise)
                # Which words of a person are used must not move the random numbers of what comes later.
                for choice in {"words_of_people", "chosen_words"} & set(vars(module)):
                    patch.setattr(module, choice, chosen_apart(getattr(module, choice)))
            patch.setattr(frequent, "threshold", asked_threshold)
            patch.setattr(measuring, "find_frequent", found)
            patch.setattr(CountNoise, "draw", lambda noise, _source, count: self._noise(noise, count))
            yield

    def _noise(self, noise: CountNoise, count: int) -> Unadded:
        unadded = np.zeros(count, dtype=np.int64).view(Unadded)
        unadded.added = lambda exact: self._noisy(noise, exact, count)
        return unadded

    def _noisy(self, noise: CountNoise, exact: np.ndarray, count: int) -> np.ndarray:
        assert exact.size == count, "every entry of a table has noise of its own"
        assert exact.dtype.kind in "iu"
        if self._played is None:
            scale = self._share * float(noise.scale)
            noisy = exact + np.rint(self._rng.laplace(0, scale, exact.shape)).astype(np.int64)
        else:
            assert len(self.tables) < len(self._played.tables), "more tables are made than for the other data"
            written = self._played.tables[len(self.tables)]
            if self._looking_at is None:
                assert written.noisy.shape == exact.shape, "the size of a table depends on the data"
                noisy = written.noisy.copy()
            else:
                noisy = np.array([written.kept.get(word, FAR_BELOW - i) for i, word in enumerate(self._looking_at)])
        _, epsilon, l1 = self._asked[id(noise)]
        self.tables.append(Table(exact, noisy, noise, epsilon, l1))
        return noisy

    @property
    def spent(self) -> Fraction:
        """The ε of all tables."""
        return sum((table.epsilon for table in self.tables), Fraction(0))

    @property
    def kept(self) -> set[Word]:
        """Words that a look has kept."""
        return {word for table in self.tables for word in table.kept}


def changes(one: Tape, other: Tape) -> list[int]:
    """By how much each table differs between two data sets, in the 1-norm."""
    found = []
    for first, second in zip(one.tables, other.tables, strict=True):
        assert (first.noise, first.epsilon) == (second.noise, second.epsilon)
        if first.words is None or second.words is None:
            found.append(int(np.abs(first.exact - second.exact).sum()))
        else:
            counts = [dict(zip(table.words, table.exact.tolist(), strict=True)) for table in (first, second)]
            found.append(
                sum(abs(counts[0].get(w, 0) - counts[1].get(w, 0)) for w in counts[0].keys() | counts[1].keys())
            )
    return found


def loss(one: Tape, other: Tape) -> Fraction:
    """One data set makes these tables at most e^loss times as likely as the other, which some tables attain."""
    return sum(
        (Fraction(change) / table.noise.scale for change, table in zip(changes(one, other), one.tables, strict=True)),
        Fraction(0),
    )


def differences(one: Any, other: Any, path: str = "model") -> list[str]:
    """Where two objects differ in anything that they hold, by the names that lead there."""
    if type(one) is not type(other):
        return [path]
    if isinstance(one, np.ndarray):
        same = one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
        return [] if same else [path]
    if isinstance(one, dict):
        if list(one) != list(other):
            return [path]
        return [at for key in one for at in differences(one[key], other[key], f"{path}.{key}")]
    if isinstance(one, list | tuple):
        if len(one) != len(other):
            return [path]
        return [at for i, pair in enumerate(zip(one, other, strict=True)) for at in differences(*pair, f"{path}[{i}]")]
    if hasattr(one, "__dict__"):
        return differences(vars(one), vars(other), path)
    return [] if one == other else [path]
