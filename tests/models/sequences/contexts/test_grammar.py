"""What may follow what in a model of sequences, from a public system: against listing its words."""

from __future__ import annotations

from itertools import pairwise

import pytest

import pathveil as pv
from pathveil.models.sequences.contexts import Grammar
from tests.reference.enumeration import feasible_words

# Two symbols lead to one state of the machine, and a third to another.
MACHINE = pv.TransitionSystem({(0, "a"): 1, (0, "b"): 1, (1, "c"): 0, (1, "a"): 1}, initial=0)


@pytest.mark.parametrize(
    "world",
    [
        pv.Alphabet("abc"),
        pv.MarkovChain.from_edges([("a", "b"), ("b", "a"), ("b", "c"), ("c", "c")]),
        MACHINE,
    ],
)
def test_a_system_allows_what_its_words_do(world) -> None:
    grammar = Grammar.of(tuple(world.symbols), world)
    code = {symbol: i for i, symbol in enumerate(world.symbols)}
    end = begin = len(code)
    seen = set()
    for length in range(1, 5):
        for word in feasible_words(world, length):
            codes = [begin, *(code[symbol] for symbol in word)]
            seen |= set(pairwise(codes)) | {(codes[-1], end)}
    rows = pairwise(grammar.offsets)
    allowed = {(row, int(cell)) for row, (a, b) in enumerate(rows) for cell in grammar.following[a:b]}
    assert allowed == seen


def test_an_alphabet_as_support_is_no_restriction() -> None:
    words = ["abc", "ab", "cc"] * 50
    fitted = [
        pv.fit_private_sequences(words, states="abc", support=one, epsilon=5.0, max_length=4, rng=pv.insecure_seed(1))
        for one in (None, pv.Alphabet("abc"))
    ]
    assert fitted[0].to_json() == fitted[1].to_json()
