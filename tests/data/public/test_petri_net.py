"""The words of a Petri net are those of its firing sequences."""

from __future__ import annotations

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import pathveil as pv
from pathveil.data.public.petri_net import PetriNet, Transition
from tests.reference.enumeration import feasible_words
from tests.reference.firing_sequences import LiteralNet, fired, has_more_markings_than, words_up_to

LENGTH = 4
PLACES = ("p", "q", "r")
ONE = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
TOKENS = st.sampled_from([*ONE, *ONE, *ONE, (1, 1, 0), (0, 1, 1), (2, 0, 0), (0, 0, 0)])
TRANSITIONS = st.tuples(st.sampled_from(["a", "b", None]), TOKENS, TOKENS)


@st.composite
def nets(draw: st.DrawFn) -> LiteralNet:
    """A net whose end is where a few of its transitions lead, so that it mostly has words."""
    transitions = draw(st.lists(TRANSITIONS, min_size=2, max_size=6))
    initial = marking = draw(TOKENS)
    for _ in range(draw(st.integers(1, 4))):
        following = [after for one in transitions if (after := fired(marking, one)) is not None]
        marking = draw(st.sampled_from(following or [marking]))
    return transitions, initial, marking


def named(tokens: tuple[int, ...]) -> dict[str, int]:
    return {place: number for place, number in zip(PLACES, tokens, strict=True) if number}


def built(net: LiteralNet) -> PetriNet:
    transitions, initial, final = net
    return PetriNet(
        [Transition(label, named(takes), named(gives)) for label, takes, gives in transitions],
        named(initial),
        named(final),
    )


@settings(max_examples=400)
@given(nets())
def test_the_automaton_accepts_what_firing_sequences_write(net: LiteralNet) -> None:
    try:
        words = built(net).words(limit=60)
    except pv.TooLargeError:
        assert has_more_markings_than(net, 20)
        return
    except pv.InvalidSystemError as problem:
        if "pile up" in str(problem):
            event("unbounded")
            assert has_more_markings_than(net, 300)
        else:
            event("no word")
            assert not has_more_markings_than(net, 300)
            assert words_up_to(net, LENGTH) == set()
        return
    event("words")
    accepted = {tuple(word) for n in range(1, LENGTH + 1) for word in feasible_words(words.automaton, n)}
    assert accepted == words_up_to(net, LENGTH)


def chain_of(*steps: str | None) -> list[Transition]:
    return [Transition(step, {f"p{i}": 1}, {f"p{i + 1}": 1}) for i, step in enumerate(steps)]


def test_parallel_branches_are_written_in_any_order() -> None:
    fork = Transition(None, {"begin": 1}, {"left": 1, "right": 1})
    join = Transition(None, {"left done": 1, "right done": 1}, {"end": 1})
    branches = [Transition(side, {side: 1}, {f"{side} done": 1}) for side in ("left", "right")]
    words = PetriNet([fork, *branches, join], {"begin": 1}, {"end": 1}).words()
    assert words.automaton.count(2) == 2
    assert words.automaton.is_feasible(["right", "left"])
    assert not words.automaton.is_feasible(["right", "right"])


def test_silent_transitions_in_a_circle_do_no_harm() -> None:
    circle = [Transition(None, {"p1": 1}, {"x": 1}), Transition(None, {"x": 1}, {"p1": 1})]
    words = PetriNet([*chain_of("a", "b"), *circle], {"p0": 1}, {"p2": 1}).words()
    assert [words.automaton.count(n) for n in (1, 2, 3)] == [0, 1, 0]


def test_two_transitions_with_one_label_count_a_word_once() -> None:
    net = PetriNet([Transition("a", {"p": 1}, {"q": 1}), Transition("a", {"p": 1}, {"r": 1}),
                    Transition("b", {"q": 1}, {"end": 1}), Transition("b", {"r": 1}, {"end": 1})],
                   {"p": 1}, {"end": 1})  # fmt: skip
    assert net.words().automaton.count(2) == 1


def test_what_can_never_end_is_left_out_and_counted() -> None:
    trap = Transition("trap", {"p0": 1}, {"stuck": 1})
    words = PetriNet([*chain_of("a"), trap], {"p0": 1}, {"p1": 1}).words()
    assert words.automaton.symbols == ("a",)
    assert (words.markings, words.never_ending) == (3, 1)


def test_a_net_that_is_always_stuck_says_where() -> None:
    join = Transition("b", {"p1": 1, "never": 1}, {"end": 1})
    with pytest.raises(pv.InvalidSystemError, match=r"no word ever ends.*stuck with tokens on 'p1'"):
        PetriNet([*chain_of("a"), join], {"p0": 1}, {"end": 1}).words()


def test_a_net_that_runs_in_circles_says_so() -> None:
    back = Transition("b", {"p1": 1}, {"p0": 1})
    with pytest.raises(pv.InvalidSystemError, match="runs in circles"):
        PetriNet([*chain_of("a"), back], {"p0": 1}, {"end": 1}).words()


def test_a_net_without_labels_has_no_word() -> None:
    with pytest.raises(pv.InvalidSystemError, match="nothing on the way to its end has a label"):
        PetriNet(chain_of(None), {"p0": 1}, {"p1": 1}).words()


def test_the_place_where_tokens_pile_up_is_named() -> None:
    leak = Transition("b", {"p1": 1}, {"p0": 1, "heap": 1})
    with pytest.raises(pv.InvalidSystemError, match="tokens pile up on 'heap' without end"):
        PetriNet([*chain_of("a"), leak], {"p0": 1}, {"p1": 1}).words()


def test_a_net_with_too_many_markings_is_refused() -> None:
    branches = [Transition(f"t{i}", {f"p{i}": 1}, {f"q{i}": 1}) for i in range(12)]
    net = PetriNet(branches, {f"p{i}": 1 for i in range(12)}, {f"q{i}": 1 for i in range(12)})
    with pytest.raises(pv.TooLargeError, match=r"more than 1,000 markings.*12 tokens at once"):
        net.words(limit=1000)


def test_sets_of_markings_that_one_word_leads_to_are_limited_too() -> None:
    """The n-th symbol from the end is an a: 2^n sets of n markings."""
    n = 12
    same = [Transition(label, {"p0": 1}, {"p0": 1}) for label in "ab"]
    guess = Transition("a", {"p0": 1}, {"p1": 1})
    rest = [Transition(label, {f"p{i}": 1}, {f"p{i + 1}": 1}) for i in range(1, n) for label in "ab"]
    with pytest.raises(pv.TooLargeError, match="the same label"):
        PetriNet([*same, guess, *rest], {"p0": 1}, {f"p{n}": 1}).words(limit=1000)


def test_states_are_numbered_alike_whatever_the_order_of_sets() -> None:
    fork = Transition(None, {"begin": 1}, dict.fromkeys("xyz", 1))
    steps = [Transition(side, {side: 1}, {}) for side in "xyz"]
    one, other = (PetriNet([fork, *order], {"begin": 1}, {}).words().automaton.moves for order in (steps, steps[::-1]))
    assert one == other
