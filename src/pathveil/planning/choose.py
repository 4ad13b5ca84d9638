"""Choosing a mechanism without looking at the data."""

from __future__ import annotations

from contextlib import suppress

from pathveil.errors import DeadEndError, InvalidSystemError
from pathveil.planning.public_words import expected_errors
from pathveil.systems.system import System, checked_length
from pathveil.words.base import WordMechanism
from pathveil.words.certified import CertifiedExponential
from pathveil.words.online import Online
from pathveil.words.permute_and_flip import PermuteAndFlip


def best_mechanism(world: System, length: int, epsilon: float, adjacency: int = 1) -> WordMechanism:
    """The mechanism with the fewest expected errors at this ε, decided from public quantities only.

    The candidates are compared by their exact expected errors on feasible words drawn from the public system (always
    the same ones: their seed is fixed and says nothing about your data). `reason` on the result says what decided.

    >>> import pathveil as pv
    >>> pv.best_mechanism(pv.Alphabet("abc"), length=14, epsilon=5.0).reason
    'CertifiedExponential: 0.186 expected errors in 14 symbols; PermuteAndFlip 1.94'
    """
    length = checked_length(length)
    world.require_words(length)
    candidates: list[WordMechanism] = [
        CertifiedExponential(world, epsilon, adjacency),
        PermuteAndFlip(world, epsilon, adjacency),
    ]
    if not world.compiled.is_free:  # there the online mechanism is the certified one
        with suppress(DeadEndError, InvalidSystemError):  # not every system can be streamed
            candidates.append(Online(world, epsilon, adjacency))
    errors = {mechanism: expected_errors(mechanism, world, length) for mechanism in candidates}
    best = min(errors, key=errors.__getitem__)
    others = ", ".join(f"{type(m).__name__} {value:.3g}" for m, value in errors.items() if m is not best)
    best.reason = f"{type(best).__name__}: {errors[best]:.3g} expected errors in {length} symbols; {others}"
    if not world.compiled.is_free:
        best.reason += " (CertifiedExponential promises among feasible words, the others among all of that length)"
    return best
