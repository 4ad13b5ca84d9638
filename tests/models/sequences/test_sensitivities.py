"""How much neighbouring data change each table: thousands of pairs of small data sets, with the literal version.

Each table is compared for the same tree, the same number of counted events and the same set of kept words: these are
settled by what was published before the table is made.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict

import pytest

from pathveil.models.people import WholeWords
from pathveil.models.sequences.contexts import Grammar
from tests.models.sequences.trees import contexts, random_tree
from tests.reference import sequences as literal
from tests.reference.sequences import Word

SYMBOLS, MAX_LENGTH, PAIRS = 2, 5, 3000
GRAMMAR = Grammar.of(tuple(range(SYMBOLS)), None)
TREES = [set(contexts(random_tree(GRAMMAR, depth, seed))) for seed in range(10) for depth in (1, 2, 3)]
FULL = {length: {context for tree in TREES for context in tree if len(context) == length} for length in (1, 2, 3)}
UNITS = [(people, relation) for people in (None, 1, 2, 3) for relation in ("replace", "add-remove")]


def some_word(rng: random.Random) -> Word:
    letters = rng.choice(((1, 1), (1, 1), (1, 0), (0, 1)))  # words of one letter have the fewest cells in common
    return tuple(rng.choices(range(SYMBOLS), letters, k=rng.choice((1, 2, 3, 4, 5, 5, 6))))


def some_unit(rng: random.Random, people: int | None) -> list[Word]:
    """A word, or the words of a person that are used: of any number, at most so many, chosen at random."""
    if people is None:
        return [some_word(rng)]
    words = [some_word(rng)] * (people + 1) if rng.random() < 0.4 else [some_word(rng) for _ in range(people + 2)]
    own = words[: rng.randint(0, len(words))] if rng.random() < 0.3 else words
    return rng.sample(own, min(people, len(own)))


def neighbours(rng: random.Random, people: int | None, relation: str) -> tuple[list[Word], list[Word]]:
    others = [some_word(rng) for _ in range(rng.randint(0, 3))]
    one = others + some_unit(rng, people)
    return one, others if relation == "add-remove" else others + some_unit(rng, people)


def changes(one: list[Word], other: list[Word], tree: set, events: int, kept: set[Word]) -> dict[str, int]:
    """By how much each table changes."""
    cut = [[word[:MAX_LENGTH] for word in words] for words in (one, other)]
    rest = [[word for word in words if word not in kept] for words in cut]
    found = {
        "lengths": literal.change(*(literal.length_counts(words, MAX_LENGTH) for words in cut)),
        "words": literal.change(*(literal.word_counts(words, MAX_LENGTH) for words in cut)),
        "firsts": literal.change(*(Counter(word[0] for word in words) for words in cut)),
        "lasts": literal.change(*(Counter(word[-1] for word in words) for words in cut)),
        "pairs": literal.change(*(Counter((word[0], word[-1]) for word in words) for words in cut)),
    }
    for depth in {len(context) for context in tree}:  # which is measured before the next one is there
        grown = {context for context in tree if len(context) <= depth}
        cells = (literal.cell_counts(words, grown, MAX_LENGTH, events) for words in rest)
        found[f"depth {depth}"] = literal.change(*(literal.at_depth(counts, depth) for counts in cells))
    return found


@pytest.mark.parametrize(("people", "relation"), UNITS)
def test_no_table_changes_by_more_than_its_noise_is_made_for(people, relation):
    whole, rng = WholeWords(relation, people), random.Random(f"{people} {relation}")
    largest: dict[tuple[str, int], int] = defaultdict(int)
    moved = 0
    for _ in range(PAIRS):
        one, other = neighbours(rng, people, relation)
        tree, events = rng.choice(TREES), rng.randint(1, MAX_LENGTH)
        kept = {some_word(rng)[:MAX_LENGTH] for _ in range(rng.randint(0, 3))}
        kept |= {word[:MAX_LENGTH] for word in one if rng.random() < 0.1}
        moved += len({word[:MAX_LENGTH] in kept for word in one[-(people or 1) :] + other[-(people or 1) :]}) == 2
        for table, change in changes(one, other, tree, events, kept).items():
            # `_measure_lengths`, `_measure_ends`, `find_frequent`; `_grow` for every depth.
            allowed = whole.sensitivity(events if table.startswith("depth") else 1)[0]
            assert change <= allowed, (one, other, table, events)
            largest[table, events] = max(largest[table, events], change)
    assert moved > PAIRS / 20, "in many pairs a word moves between those kept and those left"
    for table in ("lengths", "words", "firsts", "lasts", "pairs"):
        assert max(change for (name, _), change in largest.items() if name == table) == whole.sensitivity(1)[0]
    for events in range(1, MAX_LENGTH + 1):
        assert largest["depth 1", events] == whole.sensitivity(events)[0]


def test_longer_contexts_change_by_one_event_less_for_each_symbol():
    # What begins a word has nothing before it: at depth d the first d - 1 events of a word are never counted.
    rng, whole = random.Random(1), WholeWords("replace")
    tree = set.union(*FULL.values())
    for events in range(1, MAX_LENGTH + 1):
        seen: dict[str, int] = defaultdict(int)
        for _ in range(1500):
            for table, change in changes(*neighbours(rng, None, "replace"), tree, events, set()).items():
                seen[table] = max(seen[table], change)
        for depth in (2, 3):
            assert seen[f"depth {depth}"] == whole.sensitivity(max(events - depth + 1, 0))[0]


def test_a_person_who_is_not_limited_changes_more():
    one, other = [(0, 1, 0)] * 3, [(1, 1)] * 3
    for table, change in changes(one, other, TREES[0], 2, set()).items():
        if table in ("lengths", "words", "depth 1"):
            assert change > WholeWords("replace", 2).sensitivity(2 if table == "depth 1" else 1)[0]
