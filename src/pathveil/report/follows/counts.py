"""What follows what, and how often: the directly-follows graph of words, or of a private model of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from pathveil.errors import InvalidParameterError
from pathveil.markup import name_of
from pathveil.models.chain import PrivateChain
from pathveil.models.sequences import PrivateSequences
from pathveil.randomness.source import insecure_seed
from pathveil.systems.markov_chain import MarkovChain
from pathveil.systems.system import System

START, END = -1, -2

_SYNTHETIC = 5_000  # words of a sequence model that its graph is counted from


@dataclass(frozen=True)
class Follows:
    """How much goes from one activity to the next, by their numbers; `START` and `END` stand for no activity.

    `are_shares`: not counts, but shares or probabilities.
    """

    names: tuple[str, ...]
    amounts: dict[tuple[int, int], float]
    are_shares: bool

    def visits(self, activity: int) -> float:
        """How much leads to an activity."""
        return sum(amount for (_, b), amount in self.amounts.items() if b == activity)

    def strongest(self, most: int) -> dict[tuple[int, int], float]:
        """The `most` largest amounts, and for every activity at least the largest one in and out."""
        ranked = sorted(self.amounts.items(), key=lambda one: (-one[1], one[0]))
        kept = dict(ranked[:most])
        for side in (0, 1):
            seen = {edge[side] for edge in kept if edge[0] != edge[1]}
            for edge, amount in ranked:
                if edge[side] not in seen and edge[0] != edge[1]:
                    seen.add(edge[side])
                    kept[edge] = amount
        return kept


def follows_of(source: MarkovChain | PrivateChain | PrivateSequences | Iterable[Sequence[Any]]) -> Follows:
    """Counts of words, or probabilities of a chain, or shares among synthetic words of a sequence model.

    A model was released already, and what is drawn from it costs nothing more. Its words are drawn with a fixed seed,
    so that the picture is the same each time.
    """
    if isinstance(source, PrivateChain):
        source = source.chain
    if isinstance(source, MarkovChain):
        table = source.matrix.tocoo()
        amounts = {(int(i), int(j)): float(v) for i, j, v in zip(table.row, table.col, table.data, strict=True) if v}
        return Follows(tuple(map(name_of, source.symbols)), amounts, are_shares=True)
    if isinstance(source, PrivateSequences):
        drawn = _counted(source.synthesize(_SYNTHETIC, rng=insecure_seed(0)))
        shares = {edge: amount / _SYNTHETIC for edge, amount in drawn.amounts.items()}
        return Follows(drawn.names, shares, are_shares=True)
    return _counted(source)


def _counted(words: Iterable[Sequence[Any]]) -> Follows:
    codes: dict[Any, int] = {}
    counts: Counter[tuple[int, int]] = Counter()
    for word in words:
        if not len(word):
            raise InvalidParameterError("a word without symbols has no activities: leave it out")
        way = [codes.setdefault(symbol, len(codes)) for symbol in word]
        counts[START, way[0]] += 1
        counts.update(pairwise(way))
        counts[way[-1], END] += 1
    if not codes:
        raise InvalidParameterError("there are no words to draw")
    amounts = {edge: float(count) for edge, count in counts.items()}
    return Follows(tuple(map(name_of, codes)), amounts, are_shares=False)


def successor_counts(world: System) -> list[int]:
    """How many symbols can follow each symbol in the public system; all of them where states are not symbols."""
    if isinstance(world, MarkovChain):
        return [max(1, int(count)) for count in np.diff(world.matrix.indptr)]
    return [len(world.symbols)] * len(world.symbols)
