"""Compiled states carry the caller's own names."""

import pathveil as pv
from tests.reference.random_systems import systems_with_word
from tests.sizes import given_few_and_many


@given_few_and_many(40, 100, world_and_word=systems_with_word())
def test_every_compiled_state_has_its_own_name(world_and_word):
    world, _ = world_and_word
    assert len(set(world.state_names)) == len(world.state_names) == world.compiled.state_count


@given_few_and_many(40, 100, world_and_word=systems_with_word())
def test_the_names_along_a_word_are_the_run_that_the_caller_would_write_down(world_and_word):
    world, word = world_and_word
    names = [world.state_names[y] for y in world.compiled.path(world.encode(word).tolist())]
    if isinstance(world, pv.TransitionSystem):
        assert tuple(names) == world.run(word)
    elif isinstance(world, pv.MarkovChain):
        assert tuple(names[1:]) == word
    elif isinstance(world, pv.Automaton):
        assert names[0] == world.initial
        assert names[-1] & world.accepting


def test_a_chain_that_begins_anywhere_has_no_name_for_where_it_was_before():
    edges = [("a", "b"), ("b", "a")]
    assert pv.MarkovChain.from_edges(edges).state_names == ("a", "b", None)
    assert pv.MarkovChain.from_edges(edges, initial="a").state_names == ("a", "b")
