"""Persons and their words, word for word: which words of a person may be used, what is counted in them, and which data
are neighbours. Slow and literal; `pathveil.models` is held against it.

Data are a tuple of persons, a person is a tuple of words in any order, a word a text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, combinations_with_replacement, pairwise, product

Person = tuple[str, ...]
Data = tuple[Person, ...]
PARTS = ("transitions", "first", "lengths")


def words_up_to(symbols: str, longest: int) -> list[str]:
    """Every word of 1 to so many symbols."""
    return ["".join(letters) for length in range(1, longest + 1) for letters in product(symbols, repeat=length)]


def persons_of(words: list[str], most: int) -> list[Person]:
    """Every person with up to so many of these words, none included."""
    return [person for size in range(most + 1) for person in combinations_with_replacement(words, size)]


def choices(person: Person, limit: int) -> list[Person]:
    """Every choice of words that may be used of a person, each as likely as every other."""
    return list(combinations(person, min(limit, len(person))))


def tables(data: Data, max_length: int) -> dict[str, Counter[str]]:
    """What is counted: pairs of symbols, first symbols and lengths of all words, which are cut."""
    cut = [word[:max_length] for person in data for word in person]
    return {
        "transitions": Counter(a + b for word in cut for a, b in pairwise(word)),
        "first": Counter(word[0] for word in cut),
        "lengths": Counter(str(len(word)) for word in cut),
    }


def norms(one: Counter[str], other: Counter[str]) -> tuple[int, int]:
    """1-norm and squared 2-norm of the difference of two tables."""
    changes = [one[key] - other[key] for key in one.keys() | other.keys()]
    return sum(map(abs, changes)), sum(change**2 for change in changes)


def neighbours(others: Data, ones: list[Person], relation: str) -> Iterator[tuple[Data, Data]]:
    """All pairs of data in which one person differs, whose words are any of `ones`; the others stay the same."""
    for i, one in enumerate(ones):
        if relation == "add-remove":
            yield others, (*others, one)
        else:
            yield from (((*others, one), (*others, other)) for other in ones[i:])
