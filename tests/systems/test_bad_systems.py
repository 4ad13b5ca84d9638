"""Malformed systems are refused, with what is wrong and where."""

import networkx
import numpy as np
import pytest

import pathveil as pv

BAD = {
    "no symbol": (lambda: pv.Alphabet(""), "no symbols"),
    "duplicate symbol": (lambda: pv.Alphabet("aba"), "'a' stands twice"),
    "unhashable symbol": (lambda: pv.Alphabet([["a"]]), "not hashable"),
    "duplicate state": (lambda: pv.MarkovChain("aa", np.eye(2)), "'a' stands twice"),
    "row sum": (lambda: pv.MarkovChain("ab", [[1, 0], [0.5, 0.4]]), r"row 2 \(state 'b'\) sums to 0.9"),
    "zero row": (lambda: pv.MarkovChain("ab", [[0.5, 0.5], [0, 0]]), r"row 2 \(state 'b'\) sums to 0"),
    "negative": (lambda: pv.MarkovChain("ab", [[1.5, -0.5], [1, 0]]), r"entry \(1, 2\) of the matrix is -0.5"),
    "nan": (lambda: pv.MarkovChain("ab", [[np.nan, 1], [1, 0]]), r"entry \(1, 1\) of the matrix is nan"),
    "infinite count": (lambda: pv.MarkovChain.from_counts("ab", [[np.inf, 1], [1, 0]]), "finite"),
    "shape": (lambda: pv.MarkovChain("abc", np.eye(2)), r"shape \(2, 2\), but there are 3 states"),
    "not numbers": (lambda: pv.MarkovChain("ab", [["x", 1], [1, 0]]), "cannot be read as numbers"),
    "no edges": (lambda: pv.MarkovChain.from_edges([]), "no edges"),
    "not a pair": (lambda: pv.MarkovChain.from_edges([("a", "b"), ("a", "b", "c")]), "edge number 2"),
    "not a collection": (lambda: pv.Alphabet(None), "not a collection"),
    "a move without a pair": (lambda: pv.TransitionSystem({"a": 1}, 1), "not a pair"),
    "a move to a text": (lambda: pv.Automaton({("s0", "a"): "s1"}, "s0"), "not a collection of states"),
    "a weight that is missing": (lambda: pv.MarkovChain.from_networkx(networkx.path_graph(3), "w"), "no attribute 'w'"),
    "a record": (lambda: pv.MarkovChain.from_edges([{"from": "a", "to": "b"}]), "edge number 1"),
    "dictionary row sum": (lambda: pv.MarkovChain.from_dict({"a": {"a": 0.5}}), "state 'a' sums to 0.5"),
    "empty graph": (lambda: pv.MarkovChain.from_networkx(networkx.DiGraph()), "no states"),
    "unknown initial": (lambda: pv.MarkovChain.from_edges([("a", "b")], initial="z"), "initial: 'z'"),
    "unknown initial in set": (lambda: pv.MarkovChain.from_edges([("a", "b")], initial={"z"}), "initial: 'z'"),
    "empty initial": (lambda: pv.MarkovChain.from_edges([("a", "b")], initial=set()), "the set is empty"),
    "unreachable final": (lambda: pv.MarkovChain.from_edges([("a", "b"), ("c", "a")], {"a"}, "c"), "final: none"),
    "nothing after the start": (lambda: pv.MarkovChain.from_edges([("a", "b")], initial="b"), "final: none"),
    "a move to a list": (
        lambda: pv.TransitionSystem({(0, "a"): 0, (0, "b"): [1]}, 0),
        r"states: \[1\] is not hashable",
    ),
    "no moves": (lambda: pv.TransitionSystem({}, initial=0), "no actions"),
    "unknown start": (lambda: pv.TransitionSystem({(0, "a"): 1}, initial=7), "initial: 7"),
    "unknown accepting": (lambda: pv.TransitionSystem({(0, "a"): 1}, 0, accepting={9}), "accepting: 9"),
    "unreachable accepting": (
        lambda: pv.TransitionSystem({(0, "a"): 1, (2, "a"): 2}, 0, accepting={2}),
        "no accepting state can be reached",
    ),
    "unreachable accepting in an automaton": (
        lambda: pv.Automaton({(0, "a"): {1}, (2, "a"): {2}}, 0, accepting=2),
        "no accepting state can be reached",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_malformed_system_is_refused_with_what_and_where(name: str) -> None:
    build, message = BAD[name]
    with pytest.raises(pv.InvalidSystemError, match=message):
        build()


@pytest.mark.parametrize("length", [0, -1, 2.5, "3", None, True, float("nan"), float("inf")])
def test_a_length_is_a_positive_whole_number(length: object) -> None:
    with pytest.raises(pv.InvalidParameterError, match="word length"):
        pv.Alphabet("ab").count(length)  # type: ignore[arg-type]


def test_a_system_without_words_of_a_length_says_so() -> None:
    world = pv.MarkovChain.from_edges([("a", "b"), ("b", "c")])
    assert world.count(3) == 1
    assert world.count(4) == 0
    with pytest.raises(pv.NoFeasibleWordError, match="no feasible word of length 4"):
        world.random_word(4)
