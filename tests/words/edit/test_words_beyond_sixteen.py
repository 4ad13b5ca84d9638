"""Words with more symbols than a packed row of the graph has entries: every one of every class still has a number."""

from __future__ import annotations

import pytest

import pathveil as pv
from tests.reference.edits import levenshtein

# Words like aaaabbb, some of which end in c: few, however long they are.
FALLING = pv.MarkovChain.from_edges([("a", "a"), ("a", "b"), ("b", "b"), ("b", "c")])


@pytest.mark.parametrize(
    ("word", "lengths"),
    [
        ("a" * 9 + "b" * 9, (1, 20)),
        ("b" * 8 + "a" * 11, (12, 18)),
        ("ab" * 10, (2, 22)),
        ("a" * 17, (1, 9)),
        ("aaaaabbbbbbbbbbbbbc", (15, 20)),
    ],
)
@pytest.mark.parametrize("cap", [1, 3, 7, 9])
def test_every_word_of_every_class_has_one_number(word: str, lengths: tuple[int, int], cap: int) -> None:
    lo, hi = lengths
    words = ["a" * i + "b" * j + "c" * end for i in range(hi + 1) for j in range(hi + 1) for end in (0, 1)]
    words = [v for v in words if lo <= len(v) <= hi and FALLING.is_feasible(v)]
    apart = {tuple(v): min(levenshtein(tuple(word), tuple(v)), cap) for v in words}
    classes = pv.edit_classes(FALLING, word, lengths, cap)
    assert list(classes.counts) == [list(apart.values()).count(distance) for distance in range(cap + 1)]
    numbered = {
        FALLING.decode(classes.word_at(distance, rank).tolist()): distance
        for distance, count in enumerate(classes.counts)
        for rank in range(count)
    }
    assert numbered == apart
