"""The true privacy loss of a word mechanism, by looking at every input and every output."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import inf
from typing import Any, Literal

import numpy as np

from pathveil.errors import InvalidParameterError, TooLargeError
from pathveil.numerics.arrays import IntArray
from pathveil.systems.compiled import CompiledSystem
from pathveil.systems.system import System, Word, checked_length
from pathveil.words.base import SameLengthMechanism, WordMechanism
from pathveil.words.edit import EditMechanism

_MOST_COMPARISONS = 20_000_000

InputWords = Literal["feasible", "any"]


@dataclass(frozen=True)
class ExhaustiveAudit:
    """The worst case over all adjacent inputs and all outputs of one length, or of all `lengths` that are allowed.

    `loss` is the largest log P(output|word)/P(output|neighbour), attained by the three words named; without any
    adjacent pair it is 0. `claimed` is the mechanism's ε. `inputs` says which words were compared: the feasible ones,
    or any over the symbols.
    """

    loss: float
    claimed: float
    pairs: int
    word: Word | None = None
    neighbour: Word | None = None
    output: Word | None = None
    inputs: InputWords = "feasible"
    lengths: tuple[int, int] | None = None

    @property
    def holds(self) -> bool:
        """The claim covers the loss (up to the rounding of the probabilities compared)."""
        return self.loss <= self.claimed * (1 + 1e-9) + 1e-12

    @property
    def verdict(self) -> str:
        """One sentence to act on."""
        words = "feasible words" if self.inputs == "feasible" else "words, feasible or not,"
        size = "this length" if self.lengths is None else f"{self.lengths[0]} to {self.lengths[1]} symbols"
        where = f"over all {self.pairs} ordered pairs of adjacent {words} of {size}"
        if not self.pairs:
            return f"The claim holds, but says nothing: there are no adjacent {words.strip(',')} of {size}."
        if self.holds:
            return f"The claim holds: {where} the loss is at most {self.loss:.6g}, and ε = {self.claimed:g} is claimed."
        return (
            f"REFUTED: {where} the loss reaches {self.loss:.6g}, but ε = {self.claimed:g} is claimed. Do not release "
            "anything with this mechanism."
        )

    def __str__(self) -> str:
        if self.word is None:
            return self.verdict
        return (
            f"{self.verdict}\n  word:      {self.word}\n  neighbour: {self.neighbour}\n"
            f"  output:    {self.output} (e^{self.loss:.4g} times likelier for the word)"
        )


def audit_exhaustively(
    mechanism: SameLengthMechanism | EditMechanism, length: int | None = None, *, inputs: InputWords | None = None
) -> ExhaustiveAudit:
    """Compute the true worst loss by enumeration: every pair of adjacent inputs, every feasible output.

    Inputs are the feasible words of this length, or all words over the symbols where the mechanism accepts infeasible
    ones; `inputs="any"` compares all words for a mechanism whose promise is about all of them, whether or not it
    refuses some. A mechanism for edit distance takes no length: words of all the lengths it allows are compared with
    each other. For small systems only: the tables grow with the square of the number of words.

    >>> import pathveil as pv
    >>> audit = pv.audit_exhaustively(pv.CertifiedExponential(pv.Alphabet("ab"), epsilon=1.0), length=3)
    >>> round(audit.loss, 9), audit.holds
    (1.0, True)
    >>> audit = pv.audit_exhaustively(pv.EditExponential(pv.Alphabet("ab"), epsilon=1.0, lengths=(1, 4)))
    >>> round(audit.loss, 3), audit.holds
    (0.744, True)
    """
    compared = _compared(mechanism, inputs)
    world, each = mechanism.world, _lengths(mechanism, length)
    outputs_expected = sum(world.count(n) for n in each)
    inputs_expected = sum(len(world.symbols) ** n for n in each) if compared == "any" else outputs_expected
    if inputs_expected * max(inputs_expected, outputs_expected) > _MOST_COMPARISONS:
        raise TooLargeError(
            f"{inputs_expected} inputs and {outputs_expected} outputs are too many to enumerate; audit shorter lengths"
        )
    outputs, words = _listed(world, each, compared)
    table = np.stack([mechanism.log_probabilities(codes, outputs) for codes in words])
    worst, where = 0.0, (-1, -1, -1)
    pairs = 0
    for i, codes in enumerate(words):
        neighbours = np.flatnonzero(mechanism.adjacent(codes, words))
        pairs += len(neighbours)
        if not len(neighbours):
            continue
        possible = table[i] > -inf  # an output that this word never gives tells nothing about it
        losses = np.where(possible, np.where(possible, table[i], 0.0) - table[neighbours], -inf)
        neighbour, output = np.unravel_index(np.argmax(losses), losses.shape)
        if losses[neighbour, output] > worst:
            worst, where = float(losses[neighbour, output]), (i, int(neighbours[neighbour]), int(output))
    between = mechanism.accepted_lengths
    if not worst:
        return ExhaustiveAudit(0.0, mechanism.epsilon, pairs, inputs=compared, lengths=between)
    named = (words[where[0]], words[where[1]], outputs[where[2]])
    word, neighbour_word, likelier = (world.decode(codes.tolist()) for codes in named)
    return ExhaustiveAudit(worst, mechanism.epsilon, pairs, word, neighbour_word, likelier, compared, between)


def _compared(mechanism: WordMechanism, inputs: InputWords | None) -> InputWords:
    """Which words the promise is about, or those that the caller asks for."""
    compared = inputs or ("any" if mechanism.on_infeasible == "nearest" else "feasible")
    if compared not in ("feasible", "any"):
        raise InvalidParameterError(f"inputs is 'feasible' or 'any', not {inputs!r}")
    if compared == "any" and mechanism.is_certified and mechanism.on_infeasible == "refuse":
        raise InvalidParameterError(
            "this mechanism refuses infeasible words and promises nothing about them. Build it with "
            '`on_infeasible="nearest"` for a promise about all words.'
        )
    return compared


def _lengths(mechanism: WordMechanism, length: int | None) -> range:
    """The lengths of the words to compare."""
    if mechanism.accepted_lengths is not None:
        if length is not None:
            raise InvalidParameterError(
                "this mechanism protects the length too: words of all allowed lengths are compared, so leave it out"
            )
        shortest, longest = mechanism.accepted_lengths
        return range(shortest, longest + 1)
    if length is None:
        raise InvalidParameterError("give the length of the words to compare: this mechanism does not change it")
    mechanism.world.require_words(checked_length(length))
    return range(length, length + 1)


def _listed(world: System, lengths: range, compared: InputWords) -> tuple[Any, Any]:
    """All outputs and all inputs: an array with a word in each row for a single length, otherwise a list of words."""
    outputs = [feasible_codes(world.compiled, length) for length in lengths]
    words = [_all_codes(len(world.symbols), length) for length in lengths] if compared == "any" else outputs
    if len(lengths) == 1:
        return outputs[0], words[0]
    return [word for rows in outputs for word in rows], [word for rows in words for word in rows]


def feasible_codes(compiled: CompiledSystem, length: int) -> IntArray:
    """All feasible words, one in each row."""
    completable = compiled.completable(length)
    words: list[tuple[int, ...]] = [()]
    states = [compiled.start]
    for i in range(length):
        extended = [
            ((*word, label), target)
            for word, state in zip(words, states, strict=True)
            for label, target in compiled.moves[state].items()
            if completable[i + 1][target]
        ]
        words = [word for word, _ in extended]
        states = [state for _, state in extended]
    return np.array(words, dtype=np.int64).reshape(-1, length)


def _all_codes(symbol_count: int, length: int) -> IntArray:
    return np.array(list(product(range(symbol_count), repeat=length)), dtype=np.int64)
