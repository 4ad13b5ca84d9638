"""The true privacy loss of an edit mechanism, by looking at every input and every output of every allowed length."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from pathveil.audit.exhaustive import ExhaustiveAudit
from pathveil.errors import TooLargeError
from pathveil.systems.compiled import CompiledSystem, IntArray
from pathveil.words.edit_classes import edit_distance
from pathveil.words.edit_mechanism import EditMechanism

_MOST_WORDS = 2_000


def audit_edits_exhaustively(mechanism: EditMechanism) -> ExhaustiveAudit:
    """Compute the true worst loss by enumeration: every pair of adjacent inputs, every output, all lengths together.

    Inputs are the feasible words in the range of lengths, or all words over the symbols where the mechanism accepts
    infeasible ones. For small systems only.

    >>> import pathveil as pv
    >>> from pathveil.audit.exhaustive_edits import audit_edits_exhaustively
    >>> audit = audit_edits_exhaustively(pv.EditExponential(pv.Alphabet("ab"), epsilon=1.0, lengths=(1, 4)))
    >>> round(audit.loss, 3), audit.holds
    (0.744, True)
    """
    world, (lo, hi) = mechanism.world, mechanism.lengths
    symbols = len(world.symbols)
    accepts_all = mechanism.on_infeasible == "nearest"
    expected = sum(symbols**length for length in range(lo, hi + 1)) if accepts_all else mechanism.output_count
    if max(expected, mechanism.output_count) > _MOST_WORDS:
        raise TooLargeError(f"{expected} inputs are too many to enumerate; audit a smaller system or fewer lengths")
    outputs = _words(world.compiled, lo, hi)
    inputs = outputs
    if accepts_all:
        inputs = [np.array(w) for length in range(lo, hi + 1) for w in product(range(symbols), repeat=length)]
    table = np.stack([mechanism.log_probabilities(codes, outputs) for codes in inputs])
    worst = ExhaustiveAudit(0.0, mechanism.epsilon, 0, inputs="any" if accepts_all else "feasible")
    pairs = 0
    for i, codes in enumerate(inputs):
        for k, other in enumerate(inputs):
            # Lengths alone rule most pairs out.
            if i == k or abs(len(codes) - len(other)) > mechanism.adjacency:
                continue
            if edit_distance(codes, other) > mechanism.adjacency:
                continue
            pairs += 1
            losses = table[i] - table[k]
            output = int(np.argmax(losses))
            if losses[output] > worst.loss:
                word, neighbour, named = (world.decode(word.tolist()) for word in (codes, other, outputs[output]))
                worst = replace(worst, loss=float(losses[output]), word=word, neighbour=neighbour, output=named)
    return replace(worst, pairs=pairs)


def _words(compiled: CompiledSystem, lo: int, hi: int) -> list[IntArray]:
    """All feasible words of these lengths."""
    found: list[IntArray] = []
    reached: list[tuple[tuple[int, ...], int]] = [((), compiled.start)]
    for length in range(1, hi + 1):
        reached = [((*word, label), to) for word, y in reached for label, to in compiled.moves[y].items()]
        if length >= lo:
            found.extend(np.array(word, dtype=np.int64) for word, y in reached if compiled.accepting[y])
    return found
