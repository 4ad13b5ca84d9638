"""Random trees of contexts, as the fit grows them, and the names that the literal version gives to their cells."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np

from pathveil.models.people import WholeWords
from pathveil.models.sequences import CodedWords
from pathveil.models.sequences.contexts import NONE, ContextTree, Grammar
from pathveil.models.sequences.measuring import Measuring
from pathveil.models.sequences.request import Request
from pathveil.randomness.source import insecure_seed
from tests.reference.sequences import BEGIN, END, REST, Context, Symbol, Word


def random_tree(grammar: Grammar, depth: int, seed: int) -> ContextTree:
    """Up to so many depths; at each, some of the contexts that could be opened are."""
    rng = random.Random(seed)
    tree = ContextTree.of_pairs(grammar)
    for _ in range(depth - 1):
        rows, before, cells = tree.candidates()
        chosen = np.array([rng.random() < 0.6 for _ in rows], dtype=bool)
        if not chosen.any():
            break
        tree.open(rows[chosen], before[chosen], cells[chosen])
    return tree


def contexts(tree: ContextTree) -> list[Context]:
    """The context of each row, found from where the tree leads; the last row of a family is its rest."""
    size = tree.grammar.symbols
    names: list[Symbol] = [*range(size), BEGIN]
    found: dict[int, Context] = {row: (names[row],) for row in range(size + 1)}
    waiting = list(found)
    while waiting:
        row = waiting.pop()
        if tree.slots[row] == NONE:
            continue
        line = tree.children[tree.slots[row]]
        rest = int(np.flatnonzero(tree.parent == row)[-1])
        for symbol, child in enumerate(line.tolist()):
            found[child] = (REST if child == rest else names[symbol], *found[row])
        found[rest] = (REST, *found[row])
        waiting += sorted({*line.tolist(), rest})
    return [found[row] for row in range(tree.row_count)]


def counted(tree: ContextTree, words: CodedWords, max_length: int, events: int) -> Counter[tuple[Context, Symbol]]:
    """What the fast version counts at the deepest depth, by names; cells with nothing are left out."""
    asked = Request(1.0, None, WholeWords(), max_length, 1)
    counts = Measuring(asked, tree.grammar, words, 1, insecure_seed(1))._count(tree, words, events)  # type: ignore[arg-type]
    cells, names = tree.cells_at(tree.depth), contexts(tree)
    symbols = [END if symbol == tree.grammar.symbols else symbol for symbol in tree.symbols[cells].tolist()]
    rows = tree.row_of_cell[cells].tolist()
    return Counter({(names[r], s): c for r, s, c in zip(rows, symbols, counts.tolist(), strict=True) if c})


def possible_words(grammar: Grammar, longest: int, number: int, seed: int) -> list[Word]:
    """Random words of at most so many symbols that the grammar allows."""
    rng = random.Random(seed)
    made = []
    while len(made) < number:
        word, row = [], grammar.symbols
        while len(word) < longest:
            symbol = rng.choice(grammar.following[grammar.offsets[row] : grammar.offsets[row + 1]].tolist())
            if symbol == grammar.symbols:
                break
            word.append(symbol)
            row = symbol
        made.append(tuple(word))
    return made
