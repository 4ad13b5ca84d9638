"""Distance automata against the papers' figures, the printed algorithms and plain enumeration."""

from fractions import Fraction
from math import comb

import matplotlib
import pytest
from hypothesis import strategies as st

import pathveil as pv
from pathveil.words.automata.distance_picture import WRITTEN_AT_MOST
from tests.reference import printed
from tests.reference.enumeration import class_counts, feasible_words, hamming
from tests.reference.random_systems import markov_chains_with_length, systems_with_word
from tests.sizes import given_few_and_many

matplotlib.use("Agg")

CASE_STUDY = "american control conference 2019"


@pytest.fixture
def figure():
    """PF Figure 1 and LEV Figure 2: abc over {a, b, c}, exactly two errors."""
    return pv.DistanceAutomaton(pv.Alphabet("abc"), "abc", errors=2)


def accepted_words(automaton):
    """Every word that the automaton accepts, by following its edges, with its probability under the policy."""
    following = {}
    for edge in automaton.edges:
        following.setdefault(edge.source, []).append(edge)
    waiting, found = [((), automaton.initial, Fraction(1))], []
    while waiting:
        word, q, probability = waiting.pop()
        if q in automaton.accepting:
            found.append((word, probability))
        for edge in following.get(q, ()):
            step = automaton.mu[q, edge.target]
            waiting.extend(((*word, symbol), edge.target, probability * step) for symbol in edge.symbols)
    return found


def in_printed_form(automaton, q):
    return q if automaton.world.compiled.is_free else ((q[0], q[1]), q[2])


def printed_automaton(world, word, k):
    A = printed.make_levenshtein(world.symbols, word, k)
    if world.compiled.is_free:
        return A
    return printed.product_automaton(A, printed.DeterministicTransitionSystem.of(world))


# -------------------------------------------------------------------------------------------- the papers' figures


def test_the_string_of_lev_has_561_states_and_1056_merged_edges():
    automaton = pv.DistanceAutomaton(pv.Alphabet(sorted(set(CASE_STUDY))), CASE_STUDY)
    assert (len(automaton.states), len(automaton.edges)) == (561, 1056)
    assert automaton.count == len(set(CASE_STUDY)) ** 32


def test_the_printed_algorithm_gives_lev_the_same_561_states_and_1056_merged_edges():
    A = printed.make_levenshtein(sorted(set(CASE_STUDY)), tuple(CASE_STUDY), 32)
    assert len(A.Q) == 561
    assert len({(q, target) for q, _, target in A.delta}) == 1056


def test_values_of_pf_figure_1(figure):
    assert figure.V == {(0, 0): 12, (1, 0): 4, (1, 1): 4, (2, 1): 2, (2, 2): 1, (3, 2): 1}
    assert figure.mu == {
        ((0, 0), (1, 0)): Fraction(1, 3),
        ((0, 0), (1, 1)): Fraction(1, 3),
        ((1, 0), (2, 1)): Fraction(1, 2),
        ((1, 1), (2, 1)): Fraction(1, 2),
        ((1, 1), (2, 2)): Fraction(1, 4),
        ((2, 1), (3, 2)): Fraction(1, 2),
        ((2, 2), (3, 2)): Fraction(1),
    }


def test_the_error_edge_of_a_free_alphabet_merges_all_other_symbols(figure):
    carried = {(edge.source, edge.target): (edge.symbols, edge.multiplicity, edge.is_error) for edge in figure.edges}
    assert carried[(0, 0), (1, 0)] == (("a",), 1, False)
    assert carried[(0, 0), (1, 1)] == (("b", "c"), 2, True)


def test_initial_and_accepting_states(figure):
    assert figure.initial == (0, 0)
    assert figure.accepting == ((3, 2),)


def test_at_most_two_errors_accepts_three_states_as_in_lev_figure_1():
    automaton = pv.DistanceAutomaton(pv.Alphabet("abc"), "abc", errors=range(3))
    assert automaton.accepting == ((3, 0), (3, 1), (3, 2))
    assert automaton.count == 1 + comb(3, 1) * 2 + comb(3, 2) * 4


def test_states_of_a_product_carry_the_system_state():
    chain = pv.MarkovChain.from_edges([("y0", "y1"), ("y1", "y0"), ("y1", "y1")], initial="y0")
    automaton = pv.DistanceAutomaton(chain, ["y1", "y0"])
    assert set(automaton.states) == {(0, 0, "y0"), (1, 0, "y1"), (2, 0, "y0"), (2, 1, "y1")}


def test_actions_that_lead_to_the_same_state_share_an_edge_and_count_apart():
    door = pv.TransitionSystem({(0, "push"): 1, (0, "pull"): 1, (0, "kick"): 1, (0, "wait"): 0}, initial=0)
    automaton = pv.DistanceAutomaton(door, ["wait"], errors=1)
    assert [edge.symbols for edge in automaton.edges] == [("kick", "pull", "push")]
    assert automaton.count == 3
    assert automaton.mu[(0, 0, 0), (1, 1, 1)] == Fraction(1, 3)


# ------------------------------------------------------------------------------------------------ on random systems


@given_few_and_many(30, 100, world_and_word=systems_with_word(feasible=False))
def test_it_accepts_exactly_the_feasible_words(world_and_word):
    world, word = world_and_word
    automaton = pv.DistanceAutomaton(world, word)
    assert sorted(v for v, _ in accepted_words(automaton)) == sorted(feasible_words(world, len(word)))


@given_few_and_many(30, 100, world_and_word=systems_with_word(feasible=False), errors=st.integers(0, 4))
def test_restricted_to_some_errors_it_counts_and_draws_that_class_uniformly(world_and_word, errors):
    world, word = world_and_word
    counts = class_counts(world, word)
    if errors > len(word) or counts[errors] == 0:
        expected = pv.InvalidParameterError if errors > len(word) else pv.NoFeasibleWordError
        with pytest.raises(expected):
            pv.DistanceAutomaton(world, word, errors=errors)
        return
    automaton = pv.DistanceAutomaton(world, word, errors=errors)
    accepted = dict(accepted_words(automaton))
    assert set(accepted) == {v for v in feasible_words(world, len(word)) if hamming(v, word) == errors}
    assert automaton.count == counts[errors]
    assert set(accepted.values()) == {Fraction(1, counts[errors])}


@given_few_and_many(30, 100, world_and_word=systems_with_word(feasible=False))
def test_every_state_is_on_the_way_and_the_policy_sums_to_one(world_and_word):
    automaton = pv.DistanceAutomaton(*world_and_word)
    sums = dict.fromkeys(automaton.states, Fraction(0))
    for edge in automaton.edges:
        sums[edge.source] += edge.multiplicity * automaton.mu[edge.source, edge.target]
    assert all(total == (0 if q in automaton.accepting else 1) for q, total in sums.items())
    entered = {edge.target for edge in automaton.edges}
    assert entered | {automaton.initial} == set(automaton.states)
    assert min(automaton.V.values()) > 0


@given_few_and_many(30, 100, world_and_word=systems_with_word(feasible=False))
def test_it_agrees_with_lev_algorithm_2_on_the_product_of_definition_13(world_and_word):
    world, word = world_and_word
    whole = printed_automaton(world, word, len(word))
    for ell, number in enumerate(class_counts(world, word)):
        if not number:
            continue
        automaton = pv.DistanceAutomaton(world, word, errors=ell)
        V, mu = printed.lev_algorithm_2(printed.restrict_to_distance(whole, ell), len(word), ell)
        assert {in_printed_form(automaton, q): ways for q, ways in automaton.V.items()} == V
        assert {
            (in_printed_form(automaton, edge.source), symbol): float(automaton.mu[edge.source, edge.target])
            for edge in automaton.edges
            for symbol in edge.symbols
        } == mu


@given_few_and_many(30, 100, world_and_word=systems_with_word(feasible=False))
def test_pf_algorithm_1_agrees_with_lev_algorithm_2_where_both_are_corrected(world_and_word):
    world, word = world_and_word
    whole = printed_automaton(world, word, len(word))
    for ell in range(len(word) + 1):
        A = printed.restrict_to_distance(whole, ell)
        assert printed.pf_algorithm_1(A, len(word)) == printed.lev_algorithm_2(A, len(word), ell)


@given_few_and_many(30, 100, chain_and_length=markov_chains_with_length(), data=st.data())
def test_pf_algorithm_2_is_right_as_printed_because_symbols_are_states(chain_and_length, data):
    chain, length = chain_and_length
    word = data.draw(st.sampled_from(feasible_words(chain, length)))
    A = printed.make_levenshtein(chain.symbols, word, length)
    whole = printed.product_automaton(A, printed.DeterministicTransitionSystem.of(chain))
    for ell in range(length + 1):
        A = printed.restrict_to_distance(whole, ell)
        assert printed.pf_algorithm_2(A, length) == printed.lev_algorithm_2(A, length, ell)


# -------------------------------------------------------------------------------- what goes wrong in the printed text


def figure_as_printed():
    return printed.restrict_to_distance(printed.make_levenshtein("abc", tuple("abc"), 3), 2)


def total_probability(A, mu, q):
    return sum(mu[q, symbol] for symbol, _ in A.leaving[q])


def test_pf_algorithm_1_as_printed_counts_the_wrong_symbols_once():
    A = figure_as_printed()
    V, mu = printed.pf_algorithm_1(A, 3, count_every_symbol=False)
    # C(3,2) patterns of errors instead of C(3,2)·2² words, and probabilities that add up to 5/3.
    assert V[0, 0] == 3
    assert total_probability(A, mu, (0, 0)) == pytest.approx(5 / 3)


def test_lev_algorithm_2_as_printed_divides_by_distinct_successors():
    A = figure_as_printed()
    V, mu = printed.lev_algorithm_2(A, 3, 2, divide_by_V=False)
    assert V[0, 0] == 12
    assert total_probability(A, mu, (0, 0)) == pytest.approx(3 / 2)


def test_lev_algorithm_2_as_printed_leaves_the_first_states_without_a_policy():
    A = figure_as_printed()
    V, mu = printed.lev_algorithm_2(A, 3, 2, loop_over_word=False)
    assert (0, 0) not in V
    with pytest.raises(KeyError):
        printed.run_once(A, mu, pv.insecure_seed(1))


def test_on_two_symbols_the_printed_line_7_does_no_harm():
    A = printed.restrict_to_distance(printed.make_levenshtein("ab", tuple("aba"), 3), 2)
    assert printed.pf_algorithm_1(A, 3, count_every_symbol=False) == printed.pf_algorithm_1(A, 3)


# ---------------------------------------------------------------------------------------- looking at an automaton


def test_the_networkx_graph_carries_everything(figure):
    graph = figure.to_networkx()
    assert graph.number_of_nodes() == 6
    assert graph.number_of_edges() == 7
    assert graph.nodes[0, 0] == {"position": 0, "errors": 0, "V": 12, "initial": True, "accepting": False}
    assert graph.edges[(0, 0), (1, 1)] == {
        "symbols": ("b", "c"),
        "multiplicity": 2,
        "is_error": True,
        "mu": Fraction(1, 3),
    }


def test_the_picture_has_a_circle_for_each_state_and_an_arrow_for_each_edge(figure, axes):
    assert figure.draw(axes) is axes
    circles = [line for line in axes.lines if line.get_marker() == "o"]
    arrows = [text for text in axes.texts if getattr(text, "arrow_patch", None) is not None]
    assert len(circles) == len(figure.states) + len(figure.accepting)
    assert len(arrows) == len(figure.edges)


def test_the_picture_writes_v_in_blue_and_mu_in_red(figure, axes):
    figure.draw(axes)
    written = {
        colour: sorted(text.get_text() for text in axes.texts if text.get_color() == colour)
        for colour in ("tab:blue", "tab:red")
    }
    assert written["tab:blue"] == sorted(str(ways) for ways in figure.V.values())
    assert written["tab:red"] == sorted(
        f"{figure.mu[edge.source, edge.target]}{' each' if edge.is_error else ''}" for edge in figure.edges
    )


def test_errors_go_upwards_and_positions_to_the_right(figure, axes):
    figure.draw(axes)
    places = {text.get_text(): text.get_position() for text in axes.texts if "^" in text.get_text()}
    assert places["$0^{0}$"][0] < places["$1^{0}$"][0]
    assert places["$1^{0}$"][1] < places["$1^{1}$"][1]


def test_a_large_automaton_is_drawn_as_a_shape_without_letters(axes):
    automaton = pv.DistanceAutomaton(pv.Alphabet(sorted(set(CASE_STUDY))), CASE_STUDY)
    assert len(automaton.states) > WRITTEN_AT_MOST
    automaton.draw(axes)
    (edges,) = axes.collections
    assert len(edges.get_segments()) == 1056
    assert len(axes.lines[0].get_xdata()) == 561
    assert not axes.texts


def test_without_axes_a_new_figure_is_made(figure):
    import matplotlib.pyplot as plt

    before = set(plt.get_fignums())
    ax = figure.draw()
    assert ax.figure.number not in before
    plt.close(ax.figure)


@given_few_and_many(30, 100, world_and_word=systems_with_word(feasible=False))
def test_any_small_system_can_be_written_down(world_and_word):
    automaton = pv.DistanceAutomaton(*world_and_word)
    assert f"{len(automaton.states)} states" in repr(automaton)
    assert automaton.to_networkx().number_of_edges() == len(automaton.edges)


def test_repr_does_not_show_the_sensitive_word():
    assert repr(pv.DistanceAutomaton(pv.Alphabet("xyz"), "zyxzy")) == (
        "DistanceAutomaton(length 5, any number of errors: 21 states, 30 edges, 243 words)"
    )


def test_repr_of_an_astronomical_count_stays_short():
    automaton = pv.DistanceAutomaton(pv.Alphabet(range(10)), [0] * 400, errors=[0, 1, 400])
    assert repr(automaton).endswith("edges, about 10^381.7 words)")


# ------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize("errors", [-1, 4, 1.5, "2", True, [0, 7], [0, "x"], []])
def test_impossible_numbers_of_errors_are_refused(errors):
    with pytest.raises(pv.InvalidParameterError, match="errors"):
        pv.DistanceAutomaton(pv.Alphabet("abc"), "abc", errors=errors)


def test_a_class_without_words_is_refused():
    loop = pv.MarkovChain.from_edges([("a", "b"), ("b", "a")])
    with pytest.raises(pv.NoFeasibleWordError, match="exactly 1 error"):
        pv.DistanceAutomaton(loop, "aba", errors=1)


def test_unknown_symbols_and_empty_words_are_refused():
    with pytest.raises(pv.UnknownSymbolError):
        pv.DistanceAutomaton(pv.Alphabet("abc"), "abz")
    with pytest.raises(pv.EmptyWordError):
        pv.DistanceAutomaton(pv.Alphabet("abc"), "")


def test_one_symbol_and_one_word_work():
    automaton = pv.DistanceAutomaton(pv.Alphabet("a"), "a")
    assert (len(automaton.states), len(automaton.edges), automaton.count) == (2, 1, 1)
