"""Units as values: what covers what and how many steps apart, against pairs of inputs that are listed one by one."""

from __future__ import annotations

import json
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pathveil as pv
from pathveil.privacy.units import (
    Edits,
    Known,
    Mass,
    MovedSymbols,
    Record,
    SameLength,
    Symbols,
    Transition,
    Unit,
    User,
    UserSymbols,
    Word,
    unit_from_dict,
)
from tests.reference.neighbours import all_words, compares

NEIGHBOURS = st.sampled_from(["replace", "add-remove"])
LENGTHS = st.one_of(st.none(), st.integers(1, 3))
ANY_UNIT: st.SearchStrategy[Unit] = st.one_of(
    st.builds(Symbols, st.integers(1, 4)),
    st.just(SameLength()),
    st.builds(lambda b, lo, more: Edits(b, lo, lo + more), st.integers(1, 3), st.integers(1, 2), st.integers(0, 2)),
    st.builds(Word, LENGTHS, NEIGHBOURS),
    st.builds(User, st.one_of(st.none(), st.integers(1, 2)), LENGTHS, NEIGHBOURS),
    st.builds(UserSymbols, st.integers(1, 2), st.one_of(st.none(), st.integers(1, 2))),
    st.just(Transition()),
    st.just(Record()),
    st.builds(Mass, st.sampled_from([0.1, 0.5]), st.booleans()),
)

# All data sets of up to one person with up to two words over two letters: where every route can be walked.
WORDS = all_words("ab", 3)
PERSONS = [(), *((w,) for w in WORDS), *product(all_words("ab", 2), repeat=2)]
INPUTS = [(), *((person,) for person in PERSONS)]


def steps_by_search(unit: Unit, start: tuple, most: int) -> dict[tuple, int]:
    """How many pairs of the unit lead from one input to each other one; breadth first."""
    reached, edge = {start: 0}, [start]
    for step in range(1, most + 1):
        edge = [found for here in edge for found in INPUTS if found not in reached and compares(unit, here, found)]
        edge = list(dict.fromkeys(edge))
        reached.update(dict.fromkeys(edge, step))
    return reached


@settings(max_examples=150, deadline=None)
@given(ANY_UNIT, ANY_UNIT, st.data())
def test_a_route_of_j_steps_can_be_walked_in_j_steps(unit, wider, data):
    """For every pair that the wider unit compares, the chain exists, and is no longer than the route says."""
    if any(isinstance(one, Transition | Record | Mass) for one in (unit, wider)):
        return
    try:
        route = unit.route_to(wider, Known(longest=3))
    except pv.UnitMismatchError:
        return
    assert route.steps is not None
    start = data.draw(st.sampled_from(INPUTS))
    partners = [other for other in INPUTS if compares(wider, start, other)]
    if isinstance(unit, Edits):  # a release by edits refuses other lengths: both inputs are ones that it takes
        inside = [unit.shortest <= len(w) <= unit.longest for pair in (start, *partners) for p in pair for w in p]
        if not all(inside):
            return
    if isinstance(wider, User) and not isinstance(unit, User):
        # One word after the other: how many words a person has, and how many persons there are, is public then.
        partners = [other for other in partners if list(map(len, other)) == list(map(len, start))]
        if wider.neighbours == "add-remove":
            return
    if isinstance(unit, User | UserSymbols | Word) and _neighbours(unit) != _neighbours(wider):
        # To remove and to add again passes through an input with one word, or one person, less.
        assert route.steps == 2
    reached = steps_by_search(unit, start, min(route.steps * route.words, 6))
    for partner in partners:
        if isinstance(unit, Word) and unit.neighbours == "add-remove":
            continue  # words of no person stand on their own there; the next test walks them
        assert reached.get(partner, 99) <= route.steps * route.words


ON_A_LINE = [MovedSymbols(b, within, "line") for b in (1, 2, 3) for within in (0.5, 1.0, 2.0)]


@pytest.mark.parametrize("unit", [*ON_A_LINE, Symbols(1), Symbols(2), SameLength()], ids=repr)
def test_routes_to_moved_symbols_can_be_walked(unit):
    """Letters on a line, a step apart: every pair that the wider unit compares is reached in as many steps."""
    words = [((word,),) for word in all_words("abc", 2)]
    for wider in ON_A_LINE:
        try:
            steps = unit.route_to(wider, Known(longest=2)).steps
        except pv.UnitMismatchError:
            assert isinstance(unit, MovedSymbols)
            assert unit.within < wider.within
            continue
        for start in words:
            reached, edge = {start}, {start}
            for _ in range(steps):
                edge = {other for here in edge for other in words if compares(unit, here, other)} - reached
                reached |= edge
            assert {other for other in words if compares(wider, start, other)} <= reached


def test_the_search_finds_a_route_that_is_too_short():
    """The control: what two symbols are apart is not one step of one symbol, and lengths are never reached."""
    assert (("bb",),) not in steps_by_search(Symbols(1), (("aa",),), 1)
    assert (("bb",),) in steps_by_search(Symbols(1), (("aa",),), 2)
    assert (("a",),) not in steps_by_search(SameLength(), (("aa",),), 6)


def _neighbours(unit: Unit) -> str:
    return getattr(unit, "neighbours", "replace")


def test_to_replace_a_word_is_to_remove_one_and_to_add_one():
    added = Word(neighbours="add-remove")
    for w, v in product(WORDS, repeat=2):
        one, none, other = ((w,),), ((),), ((v,),)
        assert compares(added, one, none)
        assert compares(added, none, other)
    assert added.route_to(Word(3)).steps == 2
    with pytest.raises(pv.UnitMismatchError, match="add-remove"):
        Word().route_to(Word(3, "add-remove"))
    with pytest.raises(pv.UnitMismatchError, match="add-remove"):
        Symbols(1).route_to(Word(3, "add-remove"))


def test_one_word_more_of_a_person_who_has_others_is_two_steps_of_adding_or_removing_persons():
    unit = User(neighbours="add-remove")
    one, other = (("a", "b"),), (("a",),)
    assert compares(Word(3, "add-remove"), one, other)
    assert other not in steps_by_search(unit, one, 1)
    assert other in steps_by_search(unit, one, 2)
    assert unit.route_to(Word(3, "add-remove")).steps == 2
    assert unit.route_to(Word(3)).steps == 2
    assert unit.route_to(User(4, 3, "add-remove")).steps == 1
    assert User().route_to(Word(3)).steps == 1


@settings(max_examples=300, deadline=None)
@given(ANY_UNIT, ANY_UNIT, ANY_UNIT)
def test_what_covers_a_unit_covers_all_that_this_one_covers(first, second, third):
    if isinstance(second, Edits):  # speaks only of words of some lengths, which the first and the third may not know
        return
    known = Known(longest=3)
    try:
        there, onward = first.route_to(second, known), second.route_to(third, known)
    except pv.UnitMismatchError:
        return
    if None in (there.steps, onward.steps):
        return
    if there.steps * there.words == onward.steps * onward.words == 1:
        direct = first.route_to(third, known)
        assert direct.steps * direct.words == 1


CHAIN = [
    Symbols(1),
    Symbols(2),
    Symbols(5),
    SameLength(),
    Word(7),
    Word(9),
    Word(),
    User(3, 9),
    User(5, 9),
    User(),
]


@pytest.mark.parametrize("i", range(len(CHAIN)))
def test_each_unit_of_the_chain_covers_all_before_it(i):
    for narrower in CHAIN[: i + 1]:
        if narrower == Word() and CHAIN[i] in (User(3, 9), User(5, 9)):
            continue  # words of any length are more than words of nine symbols
        if isinstance(CHAIN[i], Word | User) and CHAIN[i].max_length and isinstance(narrower, Symbols | SameLength):
            assert CHAIN[i].route_to(narrower, Known(longest=CHAIN[i].max_length)).steps == 1
        else:
            route = CHAIN[i].route_to(narrower, Known(longest=7))
            assert route.steps * route.words == 1


@pytest.mark.parametrize(
    ("unit", "wider", "known", "steps"),
    [
        (Symbols(1), Symbols(3), Known(), 3),
        (Symbols(2), Symbols(3), Known(), 2),
        (Symbols(1), Symbols(9), Known(longest=4), 4),
        (Symbols(3), SameLength(), Known(longest=10), 4),
        (Symbols(1), UserSymbols(3), Known(longest=10), 30),
        (Symbols(1), UserSymbols(3), Known(longest=10, words_per_user=2), 20),
        (Symbols(1), UserSymbols(3), Known(longest=10, words_per_user=20), 30),
        (Symbols(1), UserSymbols(3, 1), Known(), 3),
        (Symbols(1), UserSymbols(3, 2), Known(longest=10), 6),
        (UserSymbols(3), UserSymbols(2, 5), Known(), 1),
        (UserSymbols(3, 2), Symbols(1), Known(), 1),
        (Edits(2, 1, 9), Symbols(3), Known(), 2),
        (Edits(2, 1, 9), SameLength(), Known(longest=2), 5),  # the longest word is protected there: not looked at
        (Edits(2, 1, 9), Word(9), Known(), 5),
        (Edits(2, 0, 9), Word(4), Known(), 2),
        (Edits(2, 1, 9), User(3, 9), Known(), 15),
        (Edits(2, 1, 9), Edits(4, 2, 9), Known(), 2),
        (Word(), User(3, 9), Known(), 3),
        (Word(neighbours="add-remove"), User(3, 9), Known(), 6),
        (Word(neighbours="add-remove"), User(3, 9, "add-remove"), Known(), 3),
        (User(), User(3, 9), Known(), 1),
        (User(neighbours="add-remove"), User(3, 9), Known(), 2),
        (User(2, 9), Word(9), Known(), 1),
        (Mass(0.5, True), Mass(0.1), Known(), 1),
        (Symbols(2), MovedSymbols(3, 500.0, "map"), Known(), 2),
        (SameLength(), MovedSymbols(3, 500.0, "map"), Known(), 1),
        (Word(9), MovedSymbols(3, 500.0, "map"), Known(longest=9), 1),
        (Edits(2, 1, 9), MovedSymbols(3, 500.0, "map"), Known(), 2),
        (MovedSymbols(1, 500.0, "map"), MovedSymbols(3, 400.0, "map"), Known(), 3),
        (MovedSymbols(1, 500.0, "map"), MovedSymbols(3, 500.0, "map"), Known(longest=2), 2),
    ],
)
def test_numbers_of_steps(unit, wider, known, steps):
    route = unit.route_to(wider, known)
    assert route.steps * route.words == steps


@pytest.mark.parametrize(
    ("unit", "wider", "why"),
    [
        (Symbols(1), Word(9), "publishes the length"),
        (Symbols(1), User(3, 9), "publishes the length"),
        (Symbols(1), SameLength(), "nothing says how many"),
        (Edits(1, 2, 9), Word(9), "--lengths 1:9"),
        (Edits(1, 1, 8), Word(9), "--lengths 1:9"),
        (Edits(1, 1, 8), Word(), "no greatest length"),
        (Edits(1, 2, 8), Edits(1, 1, 8), "different things"),
        (Word(5), Word(9), "different things"),
        (Word(5), Symbols(1), "different things"),  # of a word of unknown length
        (User(2, 9), User(3, 9), "different things"),
        (User(neighbours="replace"), User(3, 9, "add-remove"), "number of words as public"),
        (Transition(), Symbols(1), "where each transition starts"),
        (Transition(), Word(9), "where each transition starts"),
        (Symbols(1), Transition(), "different things"),
        (Record(), Transition(), "different things"),
        (Mass(0.1), Mass(0.5), "different things"),
        (Mass(0.5), Mass(0.5, True), "different things"),
        (MovedSymbols(1, 500.0, "map"), Symbols(1), "out of reach"),
        (MovedSymbols(1, 500.0, "map"), SameLength(), "out of reach"),
        (MovedSymbols(1, 500.0, "map"), MovedSymbols(1, 501.0, "map"), "out of reach"),
        (MovedSymbols(1, 500.0, "map"), MovedSymbols(1, 400.0, "other"), "different distances"),
        (MovedSymbols(1, 500.0, "map"), Word(9), "different things"),
    ],
)
def test_what_cannot_be_reached_is_refused_with_the_reason(unit, wider, why):
    with pytest.raises(pv.UnitMismatchError, match=why):
        unit.route_to(wider)


def test_among_feasible_words_there_are_no_steps_only_what_the_mechanism_proves():
    assert Symbols(2, feasible=True).route_to(Symbols(2)).steps == 1
    route = Symbols(2, feasible=True).route_to(Symbols(5))
    assert (route.steps, route.distance) == (None, 5)
    route = Edits(1, 1, 6, feasible=True).route_to(Word(6))
    assert (route.steps, route.distance) == (None, 6)


@settings(deadline=None)
@given(ANY_UNIT)
def test_units_come_back_from_json(unit):
    assert unit_from_dict(json.loads(json.dumps(unit.to_dict()))) == unit


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"kind": "planet"},
        {"kind": "symbols", "adjacency": 1},
        {"kind": "symbols", "adjacency": 0, "feasible": False},
        {"kind": "symbols", "adjacency": True, "feasible": False},
        {"kind": "symbols", "adjacency": 1, "feasible": "no"},
        {"kind": "symbols", "adjacency": 1, "feasible": False, "more": 1},
        {"kind": "word", "max_length": None, "neighbours": "both"},
        {"kind": "word", "max_length": [], "neighbours": "replace"},
        {"kind": "edits", "adjacency": 1, "shortest": 5, "longest": 4, "feasible": False},
        {"kind": "mass", "amount": float("nan"), "every_row": False},
    ],
)
def test_what_is_no_unit_is_refused(content):
    with pytest.raises((KeyError, TypeError, ValueError)):
        unit_from_dict(content)


@pytest.mark.parametrize(
    ("unit", "text"),
    [
        (UserSymbols(1), "all symbols in each word of a person, of whom at most one word is used"),
        (UserSymbols(3, 2), "2 symbols in each word of a person, of whom at most 3 words are used"),
    ],
)
def test_a_unit_of_symbols_of_a_person_says_how_many_words_are_used(unit, text):
    assert unit.short == text
