"""The true privacy loss of a word mechanism, by looking at every input and every output."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from pathveil.errors import TooLargeError
from pathveil.systems.compiled import CompiledSystem, IntArray
from pathveil.systems.system import Word, checked_length
from pathveil.words.mechanism import WordMechanism, hamming_distances

_LARGEST_TABLE = 20_000_000


@dataclass(frozen=True)
class ExhaustiveAudit:
    """The worst case over all adjacent inputs and all outputs of one length.

    `loss` is the largest log P(output|word)/P(output|neighbour), attained by the three words named; without any
    adjacent pair it is 0. `claimed` is the mechanism's ε.
    """

    loss: float
    claimed: float
    pairs: int
    word: Word | None = None
    neighbour: Word | None = None
    output: Word | None = None

    @property
    def holds(self) -> bool:
        """The claim covers the loss (up to the rounding of the probabilities compared)."""
        return self.loss <= self.claimed * (1 + 1e-9) + 1e-12


def audit_exhaustively(mechanism: WordMechanism, length: int) -> ExhaustiveAudit:
    """Compute the true worst loss by enumeration: every pair of adjacent inputs, every feasible output.

    Inputs are the feasible words of this length, or all words over the symbols where the mechanism accepts infeasible
    ones. For small systems only: the tables grow with the square of the number of words.

    >>> import pathveil as pv
    >>> audit = pv.audit_exhaustively(pv.CertifiedExponential(pv.Alphabet("ab"), epsilon=1.0), length=3)
    >>> round(audit.loss, 9), audit.holds
    (1.0, True)
    """
    length = checked_length(length)
    world = mechanism.world
    world.require_words(length)
    outputs_expected = world.count(length)
    accepts_all = mechanism.on_infeasible == "nearest"
    inputs_expected = len(world.symbols) ** length if accepts_all else outputs_expected
    if inputs_expected * max(inputs_expected, outputs_expected) > _LARGEST_TABLE:
        raise TooLargeError(
            f"{inputs_expected} inputs and {outputs_expected} outputs are too many to enumerate; audit a shorter length"
        )
    outputs = _feasible_codes(world.compiled, length)
    inputs = _all_codes(len(world.symbols), length) if accepts_all else outputs
    table = np.stack([mechanism.log_probabilities(codes, outputs) for codes in inputs])
    worst = ExhaustiveAudit(0.0, mechanism.epsilon, 0)
    pairs = 0
    for i, codes in enumerate(inputs):
        distance = hamming_distances(codes, inputs)
        neighbours = np.flatnonzero((distance > 0) & (distance <= mechanism.adjacency))
        pairs += len(neighbours)
        if not len(neighbours):
            continue
        losses = table[i] - table[neighbours]
        neighbour, output = np.unravel_index(np.argmax(losses), losses.shape)
        if losses[neighbour, output] > worst.loss:
            worst = ExhaustiveAudit(
                float(losses[neighbour, output]),
                mechanism.epsilon,
                0,
                world.decode(codes.tolist()),
                world.decode(inputs[neighbours[neighbour]].tolist()),
                world.decode(outputs[output].tolist()),
            )
    return ExhaustiveAudit(worst.loss, worst.claimed, pairs, worst.word, worst.neighbour, worst.output)


def _feasible_codes(compiled: CompiledSystem, length: int) -> IntArray:
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
