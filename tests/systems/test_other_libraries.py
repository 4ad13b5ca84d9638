"""Chains go to QuantEcon and come back unchanged. (Graphs of networkx: test_systems.py.)"""

from __future__ import annotations

import importlib
from types import ModuleType

import numpy as np
import pytest
from scipy import sparse

import pathveil as pv


@pytest.fixture(scope="module")
def qe() -> ModuleType:
    """QuantEcon, which compiles some of itself when it is imported."""
    return importlib.import_module("quantecon")


MATRIX = [[0.0, 0.8, 0.2], [0.6, 0.0, 0.4], [0.9, 0.1, 0.0]]


@pytest.mark.parametrize("matrix", [MATRIX, sparse.csr_matrix(MATRIX)], ids=["dense", "sparse"])
def test_a_quantecon_chain_keeps_its_states_and_its_long_run(qe, matrix):
    theirs = qe.MarkovChain(matrix, state_values=["home", "work", "shop"])
    ours = pv.MarkovChain.from_quantecon(theirs, initial={"home"})
    assert ours.symbols == ("home", "work", "shop")
    assert ours.matrix.toarray().tolist() == MATRIX
    assert ours.first == {"home"}
    assert np.allclose(ours.stationary_distribution, theirs.stationary_distributions[0])


def test_a_quantecon_chain_without_names_is_numbered(qe):
    assert pv.MarkovChain.from_quantecon(qe.MarkovChain(MATRIX)).symbols == (0, 1, 2)


def test_states_that_are_rows_of_numbers_become_tuples(qe):
    theirs = qe.MarkovChain(MATRIX, state_values=[[0, 0], [0, 1], [1, 0]])
    assert pv.MarkovChain.from_quantecon(theirs).symbols == ((0, 0), (0, 1), (1, 0))


@pytest.mark.parametrize("states", [("home", "work", "shop"), ((0, 0), (0, 1), (1, 0)), (3, 1, 2)])
def test_there_and_back_gives_the_same_chain(states):
    chain = pv.MarkovChain(states, MATRIX)
    theirs = chain.to_quantecon()
    assert np.allclose(theirs.stationary_distributions[0], chain.stationary_distribution)
    again = pv.MarkovChain.from_quantecon(theirs)
    assert again.symbols == chain.symbols
    assert again.matrix.toarray().tolist() == MATRIX


def test_quantecon_simulates_the_names_of_our_states():
    path = pv.MarkovChain(["home", "work", "shop"], MATRIX).to_quantecon().simulate(20, init="home", random_state=1)
    assert path[0] == "home"
    assert set(path) <= {"home", "work", "shop"}


def test_a_dead_end_cannot_go_to_quantecon_and_is_named():
    with pytest.raises(pv.DeadEndError, match="'b'"):
        pv.MarkovChain.from_edges([("a", "b")]).to_quantecon()


@pytest.mark.parametrize("states", [(1, "1", 2), ("a", ("b", "c"), "d"), (1, 2.5, 3), (None, 1, 2)])
def test_states_that_quantecon_would_change_are_refused(states):
    with pytest.raises(pv.InvalidSystemError, match="one type"):
        pv.MarkovChain(states, MATRIX).to_quantecon()


def test_something_else_is_no_quantecon_chain():
    with pytest.raises(pv.InvalidSystemError, match="list is no quantecon"):
        pv.MarkovChain.from_quantecon(MATRIX)
