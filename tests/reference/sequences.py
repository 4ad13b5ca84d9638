"""What a private model of sequences counts, word for word. Slow and literal; `models.sequences` is held against it.

A word is a tuple of codes 0..m-1, cut after L symbols. Its events are that it begins, that a symbol follows what came
before it, and that it ends; that a word of L symbols ends is no event, since it may have been cut.

A tree is the set of its contexts. A context is a tuple of symbols, the oldest first: `BEGIN` can be the oldest one, and
`REST` in its place stands for all symbols that have no context of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TypeVar

Word = tuple[int, ...]
Symbol = int | str
Context = tuple[Symbol, ...]
Number = TypeVar("Number", Fraction, Decimal)

BEGIN, END, REST = "begin", "end", "rest"


def events(word: Word, max_length: int, first: int) -> list[tuple[Context, Symbol]]:
    """(everything before, what comes next) for at most the `first` events of a word."""
    symbols: list[Symbol] = list(word[:max_length])
    if len(symbols) < max_length:
        symbols.append(END)
    return [((BEGIN, *symbols[:i]), symbol) for i, symbol in enumerate(symbols)][:first]


def context_of(history: Context, tree: set[Context]) -> Context:
    """The longest context of the tree that ends this history.

    Longer contexts are tried as long as the shorter one was divided. What lies before the beginning is the beginning.
    """
    found = history[-1:]
    for length in range(2, len(history) + 20):
        oldest = history[-length] if length <= len(history) else BEGIN
        if (oldest, *found) in tree:
            found = (oldest, *found)
        elif (REST, *found) in tree:
            return (REST, *found)
        else:
            return found
    return found


def cell_counts(
    words: Iterable[Word], tree: set[Context], max_length: int, first: int
) -> Counter[tuple[Context, Symbol]]:
    """How often each symbol comes after the histories of each context."""
    return Counter(
        (context_of(history, tree), symbol) for word in words for history, symbol in events(word, max_length, first)
    )


def at_depth(counts: Counter[tuple[Context, Symbol]], depth: int) -> Counter[tuple[Context, Symbol]]:
    """The counts of the contexts of so many symbols."""
    return Counter({cell: count for cell, count in counts.items() if len(cell[0]) == depth})


def length_counts(words: Iterable[Word], max_length: int) -> Counter[int]:
    """How many words have each length."""
    return Counter(len(word[:max_length]) for word in words)


def word_counts(words: Iterable[Word], max_length: int) -> Counter[Word]:
    """How often each word occurs."""
    return Counter(word[:max_length] for word in words)


def change(one: Counter[Hashable], other: Counter[Hashable]) -> int:
    """The 1-norm of the difference of two tables."""
    return sum(abs(one[key] - other[key]) for key in one.keys() | other.keys())


def partitions(number: int, largest: int | None = None) -> Iterator[tuple[int, ...]]:
    """All ways to write a number as a sum of positive ones, the largest first."""
    if number == 0:
        yield ()
    for part in range(min(number, largest or number), 0, -1):
        yield from ((part, *others) for others in partitions(number - part, part))


def shown_probability(counts: Sequence[int], threshold: int, q: Number) -> Number:
    """How likely at least one of some new words reaches the threshold, with noise P(x) = (1-q)/(1+q) q^|x|."""
    nothing = q**0
    for count in counts:
        nothing *= 1 - reach_probability(threshold - count, q)
    return 1 - nothing


def reach_probability(least: int, q: Number) -> Number:
    """P(noise ≥ least): the sum of a geometric series, on either side of 0."""
    if least >= 1:
        return q**least / (1 + q)
    return 1 - q ** (1 - least) / (1 + q)
