"""Feasibility, counting and the many ways to build a system."""

from itertools import product

import networkx
import numpy as np
import pytest
from scipy import sparse

import pathveil as pv
from tests.reference.enumeration import feasible_words
from tests.reference.random_systems import SystemWithLength, systems_with_length
from tests.sizes import given_few_and_many
from tests.statistics import FALSE_ALARM, chi_square_p_value

EDGES = [("a", "b"), ("b", "c"), ("c", "a"), ("b", "a")]
MATRIX = [[0, 1, 0], [0.5, 0, 0.5], [1, 0, 0]]


def all_chains() -> list[pv.MarkovChain]:
    graph = networkx.DiGraph(EDGES)
    return [
        pv.MarkovChain("abc", MATRIX),
        pv.MarkovChain("abc", sparse.csr_matrix(MATRIX)),
        pv.MarkovChain("abc", sparse.coo_array(MATRIX)),
        pv.MarkovChain.from_edges(EDGES),
        pv.MarkovChain.from_counts("abc", [[0, 7, 0], [2, 0, 2], [1, 0, 0]]),
        pv.MarkovChain.from_dict({"a": {"b": 1.0}, "b": {"a": 0.5, "c": 0.5}, "c": {"a": 1.0}}),
        pv.MarkovChain.from_networkx(graph),
    ]


@pytest.mark.parametrize("chain", all_chains())
def test_every_way_to_build_a_chain_gives_the_same_chain(chain: pv.MarkovChain) -> None:
    assert chain.symbols == ("a", "b", "c")
    assert np.allclose(chain.matrix.toarray(), MATRIX)
    assert chain.count(3) == len(feasible_words(chain, 3)) == 5
    assert chain.is_feasible("bcab")
    assert not chain.is_feasible("bac")


@given_few_and_many(75, 300, case=systems_with_length())
def test_counts_agree_with_listing_all_words(case: SystemWithLength) -> None:
    world, length = case
    assert world.count(length) == len(feasible_words(world, length))


def test_a_nondeterministic_automaton_counts_each_word_once() -> None:
    # Two runs for every word of a's: counting runs would give 2**n instead of 1.
    twice = pv.Automaton({(0, "a"): {0, 1}, (1, "a"): {0, 1}}, initial=0)
    assert twice.count(10) == 1
    contains_ab = pv.Automaton(
        {(0, "a"): {0, 1}, (0, "b"): {0}, (1, "b"): {2}, (2, "a"): {2}, (2, "b"): {2}}, initial=0, accepting={2}
    )
    expected = sum("ab" in "".join(word) for word in product("ab", repeat=6))
    assert contains_ab.count(6) == expected


def test_the_three_ways_to_begin_a_word() -> None:
    anywhere = pv.MarkovChain.from_edges(EDGES)
    in_a_set = pv.MarkovChain.from_edges(EDGES, initial={"a", "c"})
    after_b = pv.MarkovChain.from_edges(EDGES, initial="b")
    assert anywhere.is_feasible("ba")
    assert not in_a_set.is_feasible("ba")
    assert in_a_set.is_feasible("ab")
    # The public start is not part of the word: what follows b is a or c.
    assert feasible_words(after_b, 1) == [("a",), ("c",)]
    assert after_b.is_feasible("ca")


def test_last_symbols_can_be_restricted_to_one_or_several() -> None:
    assert feasible_words(pv.MarkovChain.from_edges(EDGES, final="c"), 2) == [("b", "c")]
    assert len(feasible_words(pv.MarkovChain.from_edges(EDGES, final={"a", "c"}), 2)) == 3


def test_a_state_that_is_itself_a_set_is_taken_as_one_state() -> None:
    zone = frozenset({"north", "east"})
    world = pv.MarkovChain.from_edges([(zone, 1), (1, zone)], initial=zone)
    assert world.starts_after
    assert world.is_feasible([1, zone])


def test_symbols_may_be_any_hashable_values_in_the_order_given() -> None:
    world = pv.Alphabet([("x", 1), None, 2.5, "long name"])
    assert world.symbols == (("x", 1), None, 2.5, "long name")
    private = pv.Exponential(world, 1.0).privatize([None, "long name", 2.5])
    assert isinstance(private, tuple)
    assert len(private) == 3
    mixed = pv.MarkovChain.from_edges([("z", 1), (1, "z")])
    assert mixed.symbols == ("z", 1)  # strings and numbers do not compare: by first appearance


def test_dead_ends_are_left_out_exactly() -> None:
    # From b one can only stop, and d needs two more symbols to stop: neither can be entered just anywhere.
    world = pv.MarkovChain.from_edges([("a", "a"), ("a", "b"), ("a", "d"), ("d", "a")], final={"a", "b"})
    for length in range(1, 7):
        assert world.count(length) == len(feasible_words(world, length))
        for _ in range(20):
            assert world.is_feasible(world.random_word(length))


def test_the_run_of_a_plan_names_its_states() -> None:
    world = pv.TransitionSystem({("s0", "go"): "s1", ("s1", "back"): "s0"}, initial="s0")
    assert world.run(["go", "back", "go"]) == ("s0", "s1", "s0", "s1")
    with pytest.raises(pv.InfeasibleWordError, match="'go' cannot follow 'go'"):
        world.run(["go", "go"])


def test_random_words_are_uniform_over_the_feasible_words() -> None:
    # False-alarm probability 1e-6; the negative control is a walk with uniform steps, which favours some words.
    world = pv.MarkovChain.from_edges([(0, 0), (0, 1), (1, 0), (1, 2), (2, 2), (2, 0), (1, 1)], final={0, 1})
    words = feasible_words(world, 4)
    law = dict.fromkeys(words, 1 / len(words))
    source = pv.insecure_seed(11)
    assert chi_square_p_value((world.random_word(4, source) for _ in range(10_000)), law) > FALSE_ALARM
    walks = (walk(world, 4, source) for _ in range(30_000))
    assert chi_square_p_value([word for word in walks if word in law], law) < FALSE_ALARM


def walk(world: pv.MarkovChain, length: int, source: pv.RandomSource) -> tuple[int, ...]:
    compiled, state, word = world.compiled, world.compiled.start, []
    for u in source.uniform(length):
        moves = list(compiled.moves[state].items())
        label, state = moves[int(u * len(moves))]
        word.append(world.symbols[label])
    return tuple(word)


@given_few_and_many(25, 100, case=systems_with_length())
def test_positions_with_a_feasible_neighbour_agree_with_trying_every_symbol(case: SystemWithLength) -> None:
    world, length = case
    for word in feasible_words(world, length)[:10]:
        tried = [
            i + 1
            for i in range(length)
            if any(world.is_feasible((*word[:i], s, *word[i + 1 :])) for s in world.symbols if s != word[i])
        ]
        assert world.neighbour_positions(word) == tried


@pytest.mark.parametrize(
    "world",
    [
        pv.Alphabet("ab"),
        pv.MarkovChain.from_edges(EDGES),
        pv.TransitionSystem({(0, "x"): 1, (1, "y"): 0, (0, "y"): 0}, initial=0),
        pv.Automaton({(0, "x"): {0, 1}, (1, "y"): {0}}, initial=0),
    ],
)
def test_systems_become_networkx_graphs_with_symbols_and_show_themselves(world: pv.System) -> None:
    graph = world.to_networkx()
    assert graph.number_of_edges() >= 2
    assert {data["symbol"] for *_, data in graph.edges(data=True)} == set(world.symbols)
    assert type(world).__name__ in repr(world)


def test_the_example_town_has_43_segments_and_no_dead_end() -> None:
    town = pv.example_town()
    assert len(town.symbols) == 43
    assert np.diff(town.matrix.indptr).min() >= 1
    assert networkx.is_strongly_connected(networkx.DiGraph(town.to_networkx()))
