"""Which inputs each unit compares, word for word: the literal meaning of `pathveil.privacy.units`.

An input is a tuple of persons, a person a tuple of words, a word a text.
"""

from __future__ import annotations

from itertools import product

from pathveil.privacy import units

Person = tuple[str, ...]
Input = tuple[Person, ...]


def all_words(symbols: str, longest: int) -> list[str]:
    """Every word of 1 to so many symbols."""
    return ["".join(letters) for length in range(1, longest + 1) for letters in product(symbols, repeat=length)]


def errors(w: str, v: str) -> int:
    """Hamming distance of two words of the same length."""
    return sum(a != b for a, b in zip(w, v, strict=True))


def edits(w: str, v: str) -> int:
    """Levenshtein distance."""
    row = list(range(len(v) + 1))
    for i, a in enumerate(w, start=1):
        above, row = row, [i]
        for j, b in enumerate(v, start=1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a != b)))
    return row[-1]


def compares_words(unit: units.Unit, w: str, v: str) -> bool:
    """Does the unit compare two inputs that differ in one word, which is w in one and v in the other?"""
    match unit:
        case units.Symbols():
            return len(w) == len(v) and errors(w, v) <= unit.adjacency
        case units.MovedSymbols():  # letters lie on a line, in the order of the alphabet
            near = len(w) == len(v) and all(abs(ord(x) - ord(y)) <= unit.within for x, y in zip(w, v, strict=True))
            return near and errors(w, v) <= unit.adjacency
        case units.SameLength():
            return len(w) == len(v)
        case units.Edits():
            inside = all(unit.shortest <= len(word) <= unit.longest for word in (w, v))
            return inside and edits(w, v) <= unit.adjacency
        case units.Word() | units.User():
            return unit.neighbours == "replace" and all(len(word) <= (unit.max_length or 10**9) for word in (w, v))
    return False


def compares(unit: units.Unit, one: Input, other: Input) -> bool:
    """Does the unit compare these two inputs?"""
    if isinstance(unit, units.User) and unit.neighbours == "add-remove":
        shorter, longer = sorted((one, other), key=len)
        return len(longer) == len(shorter) + 1 and any(
            _allowed(unit, longer[i]) and longer[:i] + longer[i + 1 :] == shorter for i in range(len(longer))
        )
    if isinstance(unit, units.Word) and unit.neighbours == "add-remove":
        shorter, longer = sorted((_words(one), _words(other)), key=len)
        return len(longer) == len(shorter) + 1 and any(
            len(longer[i]) <= (unit.max_length or 10**9) and longer[:i] + longer[i + 1 :] == shorter
            for i in range(len(longer))
        )
    if len(one) != len(other):
        return False
    changed = [i for i, (p, q) in enumerate(zip(one, other, strict=True)) if p != q]
    if len(changed) != 1:
        return False
    p, q = one[changed[0]], other[changed[0]]
    if isinstance(unit, units.User):
        return _allowed(unit, p) and _allowed(unit, q)
    if isinstance(unit, units.UserSymbols):
        same = len(p) == len(q) <= unit.max_words
        return same and all(compares_words(unit.one_word, w, v) for w, v in zip(p, q, strict=True))
    different = [(w, v) for w, v in zip(p, q, strict=False) if w != v]
    return len(p) == len(q) and len(different) == 1 and compares_words(unit, *different[0])


def _allowed(unit: units.User, person: Person) -> bool:
    return len(person) <= (unit.max_words or 10**9) and all(len(w) <= (unit.max_length or 10**9) for w in person)


def _words(data: Input) -> tuple[str, ...]:
    return tuple(sorted(word for person in data for word in person))
