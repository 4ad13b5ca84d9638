"""Synthetic words from a private chain. Post-processing: it costs no privacy beyond what the model has cost.

Where words begin, and how long they are, is sensitive too when it comes from data. So a model has these only if a
share of its budget was spent on them. Where the promise takes it as public from where each transition starts, as for
counted flows, words begin as often in each state as transitions do; otherwise in any state with equal probability.
Their length is the caller's then.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pathveil.errors import InvalidParameterError
from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.randomness.source import RandomSource, checked_source
from pathveil.systems.markov_chain import MarkovChain
from pathveil.systems.system import Word, checked_length


def beginnings(first: FloatArray | None, records: Iterable[int | None]) -> FloatArray | None:
    """How likely words begin in each state: as learned, or in proportion to public numbers of records; None: alike."""
    known = list(records)
    if first is not None or any(count is None for count in known) or not any(known):
        return first
    return np.array(known, dtype=float) / sum(count or 0 for count in known)


def synthesize(
    chain: MarkovChain,
    count: int,
    length: int | None,
    *,
    first: FloatArray | None,
    lengths: FloatArray | None,
    rng: RandomSource | None,
) -> list[Word]:
    """`count` words: all of the given length, or with lengths drawn from the model's own (private) distribution.

    Words are strings where every state is a single character, and tuples of states otherwise.
    """
    paths, sizes = synthetic_codes(chain, count, length, first=first, lengths=lengths, rng=rng)
    as_string = all(isinstance(state, str) and len(state) == 1 for state in chain.symbols)
    names = np.empty(len(chain.symbols), dtype=object)
    for code, state in enumerate(chain.symbols):  # one by one: states that are tuples must not become a table
        names[code] = state
    rows = zip(names[paths].tolist(), sizes.tolist(), strict=True)
    return ["".join(row[:size]) if as_string else tuple(row[:size]) for row, size in rows]


def synthetic_codes(
    chain: MarkovChain,
    count: int,
    length: int | None,
    *,
    first: FloatArray | None,
    lengths: FloatArray | None,
    rng: RandomSource | None,
) -> tuple[IntArray, IntArray]:
    """The codes of the words, one word a row, and how many codes of each row belong to it."""
    source = checked_source(rng)
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
        raise InvalidParameterError(f"count is a number of words of at least 1, not {count!r}")
    if length is not None:
        sizes = np.full(count, checked_length(length))
    elif lengths is not None:
        cumulative = np.cumsum(lengths)
        sizes = 1 + np.searchsorted(cumulative / cumulative[-1], source.uniform(count), side="right")
    else:
        raise InvalidParameterError(
            'how long shall the words be? Give a `length`, or fit the chain with `unit="word"` and a `split` that has '
            "a share for 'lengths'"
        )
    return chain.simulate(int(sizes.max()), count, source, start=first), sizes
