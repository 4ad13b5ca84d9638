"""Mechanisms as black boxes: something that can be asked for many outputs, and what to look at in them.

Words become arrays of symbol codes with one more column for their length. The views of two words are

- *distances*: how far the output is from either word. Every mechanism whose probabilities depend on the number of
  errors has its likelihood ratio here, and exponentially many outputs become at most (n+1)² classes;
- *symbols*: what the output has at the positions where the two words differ;
- *symbols and the one before*: for mechanisms that go from left to right;
- *whole outputs*, where there are few: for faults that follow no pattern.

For mechanisms whose outputs have other lengths, distances are edit distances up to the mechanism's cap, and the
*length* of the output takes the place of the symbols.

A set of words is taken for one word whose symbols are those words, and so are the words that a private model of
sequences has kept whole.

Vectors are compared by scores, each the likelihood ratio of a family of mechanisms: the output in the direction of
the change (Gaussian noise), its logarithm in that direction (Dirichlet draws), the difference of 1-norms (Laplace
noise); and a direction fitted to the choosing draws, for everything else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pathveil.audit.events import Outputs, View
from pathveil.errors import InvalidParameterError, LengthMismatchError
from pathveil.models.chain import PrivateChain
from pathveil.models.frequencies import PrivateFrequencies
from pathveil.models.matrix import PrivateMatrix
from pathveil.models.sequences import PrivateSequences
from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.randomness.source import RandomSource
from pathveil.systems.system import System
from pathveil.words.base import SameLengthMechanism
from pathveil.words.edit import EditMechanism, distances_from

Input = Any
"""What a mechanism takes: a word, a list of words, or a vector."""

_CHUNK = 1 << 16  # outputs held at a time
_FEW = 4096  # so many whole outputs are classes of their own
_LARGEST_FIT = 400  # entries of a vector, for a fitted direction
_LARGEST_KEY = 2**62


class BlackBox(ABC):
    """A mechanism that can be asked for outputs, and knows how to look at them."""

    drawn = 0
    """How many outputs were drawn so far."""

    @abstractmethod
    def _draw(self, given: Input, size: int) -> Outputs: ...

    def draw(self, given: Input, size: int) -> Outputs:
        """`size` outputs for this input, one for each row."""
        self.drawn += size
        return self._draw(given, size)

    @abstractmethod
    def views(self, word: Input, neighbour: Input, first: Outputs, second: Outputs) -> list[View]:
        """What to look at in order to tell these inputs apart; the outputs given are for the choice only."""

    def chunks(self, given: Input, size: int) -> Iterator[Outputs]:
        """The same as `draw`, little by little."""
        for begin in range(0, size, _CHUNK):
            yield self.draw(given, min(_CHUNK, size - begin))


class WordBlackBox(BlackBox):
    """Words in, words out: one word, or several that are released together (`together`).

    An output is a row of codes for each released word, side by side; a row's last column is the word's length.
    What is longer than the `longest` input is cut. Of a private model of sequences its kept words are the output.
    """

    def __init__(
        self,
        mechanism: SameLengthMechanism | Callable[..., Any],
        world: System | None,
        longest: int,
        rng: RandomSource | None,
        *,
        batched: bool = False,
        together: bool = False,
    ) -> None:
        self._mechanism = mechanism
        self._rng = rng
        self._batched = batched
        self._together = together
        self._codes: dict[Any, int] = {} if world is None else {s: code for code, s in enumerate(world.symbols)}
        self._width = longest + 1

    def _draw(self, given: Input, size: int) -> Outputs:
        words = list(given) if self._together else [given]
        if isinstance(self._mechanism, SameLengthMechanism):
            return self._draw_ours(self._mechanism, words, size)
        released = self._mechanism(given, size) if self._batched else [self._mechanism(given) for _ in range(size)]
        if len(released) != size:
            raise InvalidParameterError(f"the mechanism was asked for {size} outputs and gave {len(released)}")
        rows = [self._encoded(output) for output in released]
        return np.array(rows, dtype=np.int64).reshape(size, -1)

    def _draw_ours(self, mechanism: SameLengthMechanism, words: Sequence[Any], size: int) -> Outputs:
        for word in words:
            if len(word) != self._width - 1:
                raise LengthMismatchError(
                    f"one word has {len(word)} symbols, another {self._width - 1}: a private word keeps its length, "
                    "so words are compared with words of the same length"
                )
        codes = np.stack([mechanism.world.encode(word) for word in words])
        # One batch for all: word after word, as a release of many words would draw them.
        private = mechanism.privatize_array(np.tile(codes, (size, 1)), self._rng)
        lengths = np.full((len(private), 1), codes.shape[1])
        return np.hstack([private, lengths]).reshape(size, -1)

    def _encoded(self, output: Any) -> list[int]:
        if isinstance(output, PrivateSequences):
            output = sorted((word for word, _ in output.frequent), key=repr)
        words = list(output) if self._together else [output]
        row: list[int] = []
        for word in words:
            symbols = [self._codes.setdefault(symbol, len(self._codes)) for symbol in word]
            kept = symbols[: self._width - 1]
            row += [*kept, *[-1] * (self._width - 1 - len(kept)), len(symbols)]
        return row

    def views(self, word: Input, neighbour: Input, first: Outputs, second: Outputs) -> list[View]:  # noqa: ARG002
        w, v = (np.array(self._encoded(given), dtype=np.int64) for given in (word, neighbour))
        width = self._width
        differing = np.flatnonzero(w[:width] != v[:width])
        others = [differing + width * j for j in range(len(w) // width)]
        at = np.concatenate(others)
        before = np.concatenate([positions[positions % width > 0] - 1 for positions in others])
        found = [
            View(
                "(distance to the word, distance to the neighbour)",
                lambda outputs: (
                    np.count_nonzero(outputs[:, :width] != w[:width], axis=1) * (width + 1)
                    + np.count_nonzero(outputs[:, :width] != v[:width], axis=1)
                ),
                True,
                lambda key: f"({key // (width + 1)}, {key % (width + 1)})",
            )
        ]
        candidates = {
            "symbols where the words differ": at,
            "symbols where the words differ, and before": np.union1d(before, at),
        }
        letters = np.flatnonzero(np.arange(len(w)) % width < width - 1)
        if len(self._codes) ** len(letters) <= _FEW:
            candidates["whole outputs"] = letters
        for name, columns in candidates.items():
            view = self._columns_view(name, columns)
            if view is not None:
                found.append(view)
        return found

    def _columns_view(self, name: str, columns: IntArray) -> View | None:
        """Outputs that agree in these columns are one class."""
        base = max(len(self._codes), self._width) + 2  # codes from -1, and lengths
        if base ** len(columns) > _LARGEST_KEY:
            return None
        weights = base ** np.arange(len(columns), dtype=np.int64)
        symbols = list(self._codes)

        def keys(outputs: Outputs) -> npt.NDArray[Any]:
            # A symbol that was never seen while choosing counts as unknown.
            classes: IntArray = np.minimum(outputs[:, columns] + 1, base - 1) @ weights
            return classes

        def show(key: int) -> str:
            digits = [(key // base**i) % base - 1 for i in range(len(columns))]
            return " ".join(str(symbols[d]) if 0 <= d < len(symbols) else "?" for d in digits)

        return View(name, keys, True, show)


class EditBlackBox(WordBlackBox):
    """A mechanism for edit distance: outputs of any allowed length."""

    def __init__(self, mechanism: EditMechanism, rng: RandomSource | None) -> None:
        super().__init__(mechanism.privatize, mechanism.world, mechanism.lengths[1], rng)
        self._edits = mechanism

    def _draw(self, given: Input, size: int) -> Outputs:
        import pyarrow

        codes = self._edits.world.encode(given)
        offsets = pyarrow.array(np.arange(size + 1, dtype=np.int32) * len(codes))
        batch = pyarrow.ListArray.from_arrays(offsets, pyarrow.array(np.tile(codes, size)))
        private = self._edits.privatize_arrow(batch, self._rng)
        lengths = private.value_lengths().to_numpy()
        rows = np.full((size, self._width), -1, dtype=np.int64)
        rows[np.arange(self._width) < lengths[:, None]] = private.values.to_numpy()
        rows[:, -1] = lengths
        return rows

    def views(self, word: Input, neighbour: Input, first: Outputs, second: Outputs) -> list[View]:  # noqa: ARG002
        mechanism, base = self._edits, self._edits.cap + 1
        w, v = (mechanism.world.encode(given) for given in (word, neighbour))

        def distances(outputs: Outputs) -> npt.NDArray[Any]:
            private = [row[:length] for row, length in zip(outputs, outputs[:, -1], strict=True)]
            to_w, to_v = (np.minimum(distances_from(codes, private), mechanism.cap) for codes in (w, v))
            classes: IntArray = to_w * base + to_v
            return classes

        found = [
            View(
                "(edits to the word, edits to the neighbour)",
                distances,
                True,
                lambda key: f"({key // base}, {key % base})",
            ),
            View("length of the output", lambda outputs: outputs[:, -1], True),
        ]
        if mechanism.output_count <= _FEW:
            whole = self._columns_view("whole outputs", np.arange(self._width - 1))
            found += [] if whole is None else [whole]
        return found


class VectorBlackBox(BlackBox):
    """Arrays of numbers in, arrays of numbers out (matrices are taken entry by entry)."""

    def __init__(self, mechanism: Callable[..., Any], *, batched: bool = False) -> None:
        self._mechanism = mechanism
        self._batched = batched

    def _draw(self, given: Input, size: int) -> Outputs:
        released = self._mechanism(given, size) if self._batched else [self._mechanism(given) for _ in range(size)]
        outputs = np.asarray([_numbers(one) for one in released], dtype=float)
        if len(outputs) != size:
            raise InvalidParameterError(f"the mechanism was asked for {size} outputs and gave {len(outputs)}")
        if not np.isfinite(outputs).all():
            raise InvalidParameterError("the mechanism released something that is not a finite number")
        return outputs.reshape(size, -1)

    def views(self, word: Input, neighbour: Input, first: Outputs, second: Outputs) -> list[View]:
        x, y = (
            np.asarray(given, dtype=float).ravel() if _are_all_numbers(given) else None for given in (word, neighbour)
        )
        has_logs = bool((first >= 0).all() and (second >= 0).all())
        found: list[View] = []
        if x is not None and y is not None and len(x) == len(y) == first.shape[1]:
            change = x - y
            found.append(View("the output along the change", lambda outputs: outputs @ change, False))
            found.append(
                View(
                    "the difference of the distances to both inputs",
                    lambda outputs: np.abs(outputs - y).sum(axis=1) - np.abs(outputs - x).sum(axis=1),
                    False,
                )
            )
            if has_logs:
                found.append(
                    View("the output's logarithm along the change", lambda outputs: _logs(outputs) @ change, False)
                )
        if first.shape[1] <= _LARGEST_FIT:
            # Fitted on the half of the draws that does not set the threshold.
            direction = _fitted(first[::2], second[::2])
            found.append(View("the output along a fitted direction", lambda outputs: outputs @ direction, False))
            if has_logs:
                slope = _fitted(_logs(first[::2]), _logs(second[::2]))
                found.append(
                    View("the logarithm along a fitted direction", lambda outputs: _logs(outputs) @ slope, False)
                )
        return found


def are_numbers(mechanism: Callable[..., Any], given: Input, batched: bool) -> bool:
    """Is this a release of numbers, or of words? The input says so, or else one output that is drawn for this alone."""
    if isinstance(given, np.ndarray) or _floating(given):
        return True
    return _floating(_numbers(mechanism(given, 1)[0] if batched else mechanism(given)))


def _floating(value: Any) -> bool:
    """An array of real numbers, or lists of them; whole numbers alone may as well be symbols."""
    if isinstance(value, str):
        return False
    try:
        array = np.asarray(value)
    except ValueError:  # lists of different lengths are not numbers
        return False
    return array.size > 0 and bool(np.issubdtype(array.dtype, np.floating))


def _are_all_numbers(given: Input) -> bool:
    """False for a list of words, from which numbers may be released as well."""
    return np.asarray(given).dtype.kind in "biuf"


def _numbers(released: Any) -> Any:
    """What is published of one of our own releases; of a Dirichlet draw everything else in the release is made."""
    if isinstance(released, PrivateFrequencies | PrivateMatrix):
        return released.draw
    if isinstance(released, PrivateChain):
        parts = (released.chain.matrix.toarray(), released.first, released.lengths)
        return np.concatenate([part.ravel() for part in parts if part is not None])
    return released


def _logs(outputs: Outputs) -> FloatArray:
    logs: FloatArray = np.log(np.maximum(outputs, np.finfo(float).tiny))
    return logs


def _fitted(first: FloatArray, second: FloatArray) -> FloatArray:
    """Fisher's linear discriminant."""
    within = (np.cov(first, rowvar=False) + np.cov(second, rowvar=False)).reshape(first.shape[1], -1)
    direction: FloatArray = np.linalg.pinv(within, rcond=1e-9) @ (first.mean(axis=0) - second.mean(axis=0))
    return direction
