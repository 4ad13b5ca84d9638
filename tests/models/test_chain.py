"""Fitted chains: the three ways to give data, the three units, merging, and what is refused."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import sparse

import pathveil as pv
from pathveil.models.counting import States, count_pairs

STATES = ["home", "work", "shop"]
COUNTS = np.array([[200, 700, 100], [800, 0, 400], [0, 0, 0]])
PROMISE = {"epsilon": 1.0, "delta": 1e-6}
WORDS = ["abcab", "acbba", "bbca", "abab", "cab"] * 20


def _expand(counts) -> list[tuple[str, str]]:
    return [(STATES[i], STATES[j]) for i in range(3) for j in range(3) for _ in range(counts[i][j])]


def test_every_row_with_records_keeps_the_promise():
    model = pv.fit_private_chain(COUNTS, states=STATES, **PROMISE, mechanism="dirichlet")
    for row in model.rows[:2]:
        shift = (1 - row.successors * row.floor) / row.records
        assert 0.999e-6 < pv.DirichletProfile(row.floor, row.concentration, shift).delta(1.0) <= 1e-6


def test_pairs_with_counts_are_so_many_pairs():
    pairs = [(STATES[i], STATES[j]) for i, j in np.argwhere(COUNTS)]
    times = COUNTS[COUNTS > 0]
    for given in (times, times.tolist(), iter(times.tolist())):
        one, other = (
            pv.fit_private_chain(**data, states=STATES, **PROMISE, rng=pv.insecure_seed(4))
            for data in ({"pairs": pairs, "pair_counts": given}, {"pairs": _expand(COUNTS)})
        )
        assert (one.chain.matrix != other.chain.matrix).nnz == 0
    for wrong in (times[None, :], np.array(5), [1.5] * 5):
        with pytest.raises(pv.InvalidCountsError, match="pair_counts"):
            pv.fit_private_chain(pairs=pairs, pair_counts=wrong, states=STATES, **PROMISE)


@pytest.mark.parametrize("mechanism", ["dirichlet", "laplace", "gaussian"])
def test_a_state_without_records_gets_the_uniform_row_on_its_support(mechanism):
    support = [[1, 1, 1], [1, 1, 1], [1, 0, 1]]
    model = pv.fit_private_chain(COUNTS, states=STATES, **PROMISE, mechanism=mechanism, support=support)
    assert model.chain.matrix.toarray()[2].tolist() == [0.5, 0, 0.5]
    assert model.rows[2].rmse is None


@pytest.mark.parametrize("mechanism", ["dirichlet", "laplace", "gaussian"])
def test_rows_with_a_single_possible_successor_are_public_already(mechanism):
    support = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    counts = [[0, 5, 0], [0, 0, 3], [0, 0, 0]]
    model = pv.fit_private_chain(counts, states=STATES, **PROMISE, mechanism=mechanism, support=support)
    assert model.chain.matrix.toarray().tolist() == support


@pytest.mark.parametrize("mechanism", ["dirichlet", "laplace", "gaussian"])
def test_counts_and_pairs_give_the_same_model(mechanism):
    counts = [[2, 7, 1], [8, 0, 4], [1, 1, 1]]
    one = pv.fit_private_chain(counts, states=STATES, **PROMISE, mechanism=mechanism, rng=pv.insecure_seed(3))
    other = pv.fit_private_chain(
        pairs=_expand(counts), states=STATES, **PROMISE, mechanism=mechanism, rng=pv.insecure_seed(3)
    )
    assert (one.chain.matrix.toarray() == other.chain.matrix.toarray()).all()


@pytest.mark.parametrize(
    "states",
    [
        [0, 1, 2],  # a narrow range: looked up in a table
        [-7, 10**9, 5],  # a wide one
        ["home", "work", "shop"],
        [0.5, 1.5, 2.5],
        [(1 << 63) - 3, (1 << 63) - 2, (1 << 63) - 1],
    ],
)
@pytest.mark.parametrize("merge", [False, True])
def test_an_array_of_pairs_counts_like_a_list_of_pairs(states, merge):
    rng = np.random.default_rng(3)
    pairs = [(states[i], states[j]) for i, j in rng.integers(0, 3, (500, 2))]
    known = States(states, {state: state == states[0] for state in states} if merge else None)
    expected = np.zeros((3, 3), dtype=int)
    for one, two in pairs:
        expected[states.index(one), states.index(two)] += 1
    expected = known.merge_table(expected)
    for given in (pairs, iter(pairs), [list(pair) for pair in pairs], np.array(pairs), np.array(pairs, dtype=object)):
        assert (count_pairs(given, known) == expected).all()


@pytest.mark.parametrize("states", [range(3), "abc"])
def test_an_unknown_state_in_an_array_of_pairs_is_named_with_its_place(states):
    pairs = np.array([(state, state) for state in states])
    with pytest.raises(pv.UnknownSymbolError, match=f"pair number 3: 'from' is {list(states)[2]!r}"):
        pv.fit_private_chain(pairs=pairs, states=list(states)[:2], **PROMISE)


def test_sparse_tables_are_as_good_as_dense_ones():
    dense = pv.fit_private_chain(COUNTS, states=STATES, **PROMISE, support=COUNTS < 999, rng=pv.insecure_seed(3))
    thin = pv.fit_private_chain(
        sparse.csr_array(COUNTS),
        states=STATES,
        **PROMISE,
        support=sparse.csr_array(COUNTS < 999),
        rng=pv.insecure_seed(3),
    )
    assert (dense.chain.matrix.toarray() == thin.chain.matrix.toarray()).all()


def test_words_and_their_transition_counts_give_the_same_model():
    table = np.zeros((3, 3), dtype=int)
    for word in WORDS:
        for x, y in itertools.pairwise(word):
            table["abc".index(x), "abc".index(y)] += 1
    one = pv.fit_private_chain(words=WORDS, states="abc", unit="transition", **PROMISE, rng=pv.insecure_seed(3))
    other = pv.fit_private_chain(table, states="abc", **PROMISE, rng=pv.insecure_seed(3))
    assert (one.chain.matrix.toarray() == other.chain.matrix.toarray()).all()


@pytest.mark.parametrize("mechanism", ["dirichlet", "laplace", "gaussian"])
def test_with_much_data_the_model_is_close_to_the_truth(mechanism):
    truth = COUNTS[:2] / COUNTS[:2].sum(axis=1, keepdims=True)
    model = pv.fit_private_chain(COUNTS * 1000, states=STATES, **PROMISE, mechanism=mechanism, rng=pv.insecure_seed(1))
    # Standard deviations are below 1e-4 here; 1e-3 is ten of them.
    assert np.abs(model.chain.matrix.toarray()[:2] - truth).max() < 1e-3


def test_the_weakest_rows_are_those_with_few_records():
    counts = [[900, 50, 50], [3, 4, 5], [100, 100, 100]]
    model = pv.fit_private_chain(counts, states=STATES, **PROMISE, mechanism="dirichlet")
    assert [row.state for row in model.weakest_rows(2)] == ["work", "shop"]
    laplace = pv.fit_private_chain(counts, states=STATES, epsilon=1.0, mechanism="laplace")
    assert [row.state for row in laplace.weakest_rows()] == ["work", "shop", "home"]


def test_merging_states_adds_up_their_rows_and_columns():
    merge = {"home": "home", "work": "out", "shop": "out"}
    counts = [[2, 7, 1], [8, 0, 4], [1, 1, 1]]
    merged = [[2, 8], [9, 6]]
    one = pv.fit_private_chain(counts, states=STATES, merge=merge, **PROMISE, rng=pv.insecure_seed(2))
    other = pv.fit_private_chain(merged, states=["home", "out"], **PROMISE, rng=pv.insecure_seed(2))
    pairs = pv.fit_private_chain(pairs=_expand(counts), states=STATES, merge=merge, **PROMISE, rng=pv.insecure_seed(2))
    assert one.chain.symbols == ("home", "out")
    for model in (one, pairs):
        assert (model.chain.matrix.toarray() == other.chain.matrix.toarray()).all()


def test_papers_mode_draws_around_the_frequencies_themselves():
    counts = [[30, 40, 30], [50, 25, 25], [20, 20, 60]]
    model = pv.fit_private_chain(counts, states=STATES, epsilon=3.0, delta=1e-3, floor=0.15, mix=False)
    for row in model.rows:
        assert pv.DirichletProfile(0.15, row.concentration, 1 / 100).delta(3.0) <= 1e-3
    assert "frequency ≥ 0.15" in str(model.guarantee)
    with pytest.raises(pv.InvalidCountsError, match=r"row 3, column 1 is 0\.2, below the floor 0\.21"):
        pv.fit_private_chain(counts, states=STATES, epsilon=3.0, delta=1e-3, floor=0.21, mix=False)


def test_guarantees_name_the_unit_and_what_is_public():
    by_transition = pv.fit_private_chain(words=WORDS, states="abc", unit="transition", **PROMISE)
    assert "one has another destination" in str(by_transition.guarantee)
    assert "the number of records of each row" in str(by_transition.guarantee)
    by_symbol = pv.fit_private_chain(words=WORDS, states="abc", epsilon=1.0, mechanism="laplace", unit="symbol")
    assert "one symbol of one word" in str(by_symbol.guarantee)
    assert by_symbol.guarantee.delta == 0
    assert all(row.records is None for row in by_symbol.rows)
    by_word = pv.fit_private_chain(
        words=WORDS, states="abc", **PROMISE, mechanism="gaussian", unit="word", max_length=4
    )
    assert "at most 4 symbols" in str(by_word.guarantee)
    assert not by_word.guarantee.seeded


def test_longer_words_are_cut_and_the_rest_of_them_has_no_influence():
    options = {"states": "abc", "epsilon": 1.0, "mechanism": "laplace", "unit": "word", "max_length": 3}
    one = pv.fit_private_chain(words=["abcab", "acb"], **options, rng=pv.insecure_seed(1))
    other = pv.fit_private_chain(words=["abccc", "acb"], **options, rng=pv.insecure_seed(1))
    assert (one.chain.matrix.toarray() == other.chain.matrix.toarray()).all()


def test_a_model_carries_its_guarantee_into_its_file():
    model = pv.fit_private_chain(COUNTS, states=STATES, **PROMISE, rng=pv.insecure_seed(1))
    read = pv.MarkovChain.from_json(model.chain.to_json())
    assert read.guarantee["epsilon"] == 1.0
    assert read.guarantee["seeded"] is True
    assert "destination" in read.guarantee["unit"]


def test_synthetic_words_follow_the_support_and_have_the_length():
    support = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    words = ["abc", "bca", "cab"] * 10
    model = pv.fit_private_chain(words=words, states="abc", unit="transition", **PROMISE, support=support)
    made = model.synthesize(50, length=6, rng=pv.insecure_seed(1))
    assert len(made) == 50
    assert all(isinstance(word, str) and len(word) == 6 for word in made)
    assert all(x != y for word in made for x, y in itertools.pairwise(word))
    assert made == model.synthesize(50, length=6, rng=pv.insecure_seed(1))


def test_states_of_more_than_one_character_give_tuples():
    model = pv.fit_private_chain(COUNTS, states=STATES, **PROMISE)
    (word,) = model.synthesize(1, length=3)
    assert isinstance(word, tuple)
    assert set(word) <= set(STATES)


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_first_symbols_and_lengths_are_learned_for_their_share_of_the_budget(mechanism):
    words = ["ab"] * 3000 + ["abca"] * 7000
    model = pv.fit_private_chain(
        words=words,
        states="abc",
        **PROMISE,
        mechanism=mechanism,
        unit="word",
        max_length=5,
        split={"transitions": 0.6, "first": 0.2, "lengths": 0.2},
        rng=pv.insecure_seed(4),
    )
    # Noise of some 20 counts in 10,000: 0.05 is far more than ten standard deviations.
    assert model.first == pytest.approx([1, 0, 0], abs=0.05)
    assert model.lengths == pytest.approx([0, 0.3, 0, 0.7, 0], abs=0.05)
    assert f"lengths (0.2 of {'ε' if mechanism == 'laplace' else 'ρ'})" in str(model.guarantee)
    made = model.synthesize(1000, rng=pv.insecure_seed(5))
    lengths = np.bincount([len(word) for word in made], minlength=6)[1:] / 1000
    assert lengths == pytest.approx(model.lengths, abs=0.1)
    assert np.mean([word[0] == "a" for word in made]) > 0.9


def test_without_a_length_the_caller_is_asked_for_one():
    model = pv.fit_private_chain(COUNTS, states=STATES, **PROMISE)
    with pytest.raises(pv.InvalidParameterError, match="how long"):
        model.synthesize(3)


def test_words_need_a_unit_that_the_caller_names():
    with pytest.raises(pv.InvalidParameterError, match="say what is protected"):
        pv.fit_private_chain(words=WORDS, states="abc", **PROMISE)


def test_the_support_can_be_given_as_a_chain():
    links = pv.MarkovChain.from_edges([("b", "a"), ("a", "b"), ("a", "a")])
    table = [[True, True], [True, False]]
    models = [
        pv.fit_private_chain([[5, 5], [5, 0]], states="ab", **PROMISE, support=support, rng=pv.insecure_seed(1))
        for support in (links, table)
    ]
    assert (models[0].chain.matrix.toarray() == models[1].chain.matrix.toarray()).all()
    with pytest.raises(pv.InvalidParameterError, match="does not have the state 'c'"):
        pv.fit_private_chain(np.ones((3, 3)), states="abc", **PROMISE, support=links)


def test_weak_rows_are_not_told_where_row_sizes_are_protected():
    model = pv.fit_private_chain(words=WORDS, states="abc", epsilon=1.0, mechanism="laplace", unit="symbol")
    with pytest.raises(pv.InvalidParameterError, match="row sizes are protected"):
        model.weakest_rows()
    assert "laplace" in repr(model)


def test_a_transition_off_the_support_is_refused():
    with pytest.raises(pv.InvalidCountsError, match=r"'b' after 'b' \(7 times\), but the public support"):
        pv.fit_private_chain([[1, 1], [1, 7]], states="ab", **PROMISE, support=[[True, True], [True, False]])


@pytest.mark.parametrize(
    ("data", "error", "says"),
    [
        ({"counts": [[1, 2], [3, 4]]}, "InvalidCountsError", "3 states"),
        ({"counts": [[1, 2, 3]] * 2}, "InvalidCountsError", "3 states"),
        ({"counts": [[1, -2, 0]] * 3}, "InvalidCountsError", "entry 1, 2 is -2"),
        ({"counts": [[1, 0.5, 0]] * 3}, "InvalidCountsError", r"entry 1, 2 is 0\.5"),
        ({"counts": [1, 2, 3]}, "InvalidCountsError", "shape"),
        ({"counts": np.zeros((3, 3))}, "InvalidCountsError", "all counts are zero"),
        ({"pairs": [("a", "z")]}, "UnknownSymbolError", "pair number 1: 'to' is 'z'"),
        ({"pairs": ["a"]}, "InvalidCountsError", "pair number 1"),
        ({"pairs": [("a", "b"), ("a", "b", "c")]}, "InvalidCountsError", "pair number 2"),
        ({"pairs": [("a", "b"), (["a"], "b")]}, "UnknownSymbolError", "pair number 2: 'from'"),
        ({"pairs": np.array([[0, 1, 2]])}, "InvalidCountsError", "pair number 1"),
        ({"pairs": np.empty((0, 2), dtype=int)}, "InvalidCountsError", "all counts are zero"),
        ({"words": ["ab", "a?"]}, "UnknownSymbolError", r"word number 2, position 2 is '\?'"),
        ({"words": ["ab", ""]}, "EmptyWordError", "word number 2 is empty"),
        ({"words": "ab"}, "InvalidParameterError", "one string"),
        ({}, "InvalidParameterError", "in one way"),
        ({"words": ["ab"], "pairs": []}, "InvalidParameterError", "in one way"),
    ],
)
def test_data_that_cannot_be_read_are_refused(data, error, says):
    with pytest.raises(getattr(pv, error), match=says):
        pv.fit_private_chain(**data, states="abc", unit="transition", **PROMISE)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"mechanism": "magic"}, "mechanism is 'magic'"),
        ({"unit": "person"}, "unit is 'person'"),
        ({"unit": "symbol", "mechanism": "dirichlet"}, "does not protect a symbol"),
        ({"unit": "word", "mechanism": "dirichlet", "max_length": 5}, "does not protect a word"),
        ({"unit": "symbol", "floor": 0.1}, "belong to mechanism 'dirichlet' and unit 'transition'"),
        ({"unit": "word", "max_length": 5, "mix": False}, "belong to mechanism 'dirichlet' and unit 'transition'"),
        ({"unit": "word", "mechanism": "laplace"}, "needs `max_length`"),
        ({"unit": "word", "mechanism": "laplace", "max_length": 1}, "needs `max_length`"),
        ({"max_length": 5}, "belongs to the units 'word' and 'user'"),
        ({"delta": None, "mechanism": "dirichlet"}, "needs a `delta`"),
        ({"delta": None, "floor": 0.1}, "needs a `delta`"),
        ({"delta": 0.0}, "delta is 0"),
        ({"delta": 0.0, "mechanism": "gaussian"}, "delta is 0"),
        ({"delta": -1e-6, "mechanism": "laplace"}, "delta is -1e-06"),
        ({"delta": 0.7}, "delta is 0.7"),
        ({"epsilon": 0.0}, "epsilon is 0"),
        ({"epsilon": math.nan}, "epsilon is nan"),
        ({"mechanism": "laplace", "epsilon": -1.0}, "epsilon is -1"),
        ({"mechanism": "laplace", "floor": 0.1}, "belong to mechanism 'dirichlet'"),
        ({"mechanism": "gaussian", "mix": False}, "belong to mechanism 'dirichlet'"),
        ({"split": {"transitions": 1.0}}, "does not protect"),
        ({"floor": 0.4}, "below 1/3"),
        ({"support": [[1, 1], [1, 1]]}, "entry by entry"),
    ],
)
def test_impossible_options_are_refused(options, says):
    with pytest.raises(pv.InvalidParameterError, match=says):
        pv.fit_private_chain(words=WORDS, states="abc", **(PROMISE | {"unit": "transition"} | options))


@pytest.mark.parametrize(
    "split", [{"first": 1.0}, {"transitions": 0.5, "first": 0.4}, {"transitions": 1.5, "first": -0.5}, {"all": 1.0}]
)
def test_a_split_that_is_no_split_is_refused(split):
    with pytest.raises(pv.InvalidParameterError, match="split"):
        pv.fit_private_chain(
            words=WORDS, states="abc", epsilon=1.0, mechanism="laplace", unit="word", max_length=4, split=split
        )


def test_units_that_need_words_are_refused_for_counts():
    with pytest.raises(pv.InvalidParameterError, match="needs `words"):
        pv.fit_private_chain(COUNTS, states=STATES, epsilon=1.0, mechanism="laplace", unit="symbol")


def test_a_state_missing_from_the_map_is_named():
    with pytest.raises(pv.UnknownSymbolError, match="nothing about the state 'shop'"):
        pv.fit_private_chain(COUNTS, states=STATES, merge={"home": "h", "work": "w"}, **PROMISE)


SPLIT = {"transitions": 0.8, "first": 0.1, "lengths": 0.1}


def _counted(words: list[str], states: str) -> pv.WordCounts:
    transitions, first = np.zeros((len(states), len(states)), dtype=int), np.zeros(len(states), dtype=int)
    lengths = np.zeros(max(map(len, words)), dtype=int)
    for word in words:
        first[states.index(word[0])] += 1
        lengths[len(word) - 1] += 1
        for a, b in itertools.pairwise(word):
            transitions[states.index(a), states.index(b)] += 1
    return pv.WordCounts(transitions, first, lengths)


@pytest.mark.parametrize("merge", [None, {"a": "x", "b": "x", "c": "y"}])
@pytest.mark.parametrize(
    "options",
    [
        {"unit": "word", "max_length": 5, "split": SPLIT},
        {"unit": "word", "max_length": 9, "split": SPLIT},
        {"unit": "symbol"},
        {"unit": "transition"},
    ],
)
def test_words_and_their_counts_give_the_same_model(options, merge):
    shared = {"states": "abc", **PROMISE, "mechanism": "gaussian", "merge": merge, **options}
    one = pv.fit_private_chain(words=WORDS, rng=pv.insecure_seed(3), **shared)
    other = pv.fit_private_chain(_counted(WORDS, "abc"), rng=pv.insecure_seed(3), **shared)
    assert (one.chain.matrix.toarray() == other.chain.matrix.toarray()).all()
    assert one.guarantee == other.guarantee
    for a, b in ((one.first, other.first), (one.lengths, other.lengths)):
        assert (a is None) == (b is None) == ("split" not in options)
        assert a is None or (a == b).all()


def test_the_shape_of_the_lengths_is_the_declared_one_whatever_the_data():
    model = pv.fit_private_chain(
        words=["ab", "ba"], states="ab", **PROMISE, mechanism="laplace", unit="word", max_length=7, split=SPLIT
    )
    assert len(model.lengths) == 7


def test_counted_words_that_were_not_cut_are_refused():
    with pytest.raises(pv.InvalidCountsError, match="more than 4 symbols"):
        pv.fit_private_chain(
            _counted(WORDS, "abc"), states="abc", epsilon=1.0, mechanism="laplace", unit="word", max_length=4
        )


@pytest.mark.parametrize("mechanism", ["dirichlet", "laplace", "gaussian"])
def test_the_guarantee_is_told_before_anything_is_drawn(mechanism):
    class RefusedError(Exception):
        pass

    told = []

    def refuse(guarantee):
        told.append(guarantee)
        raise RefusedError

    source = pv.insecure_seed(5)
    with pytest.raises(RefusedError):
        pv.fit_private_chain(COUNTS, states=STATES, **PROMISE, mechanism=mechanism, rng=source, before_drawing=refuse)
    assert source.bytes(8) == pv.insecure_seed(5).bytes(8)  # not a bit was used
    model = pv.fit_private_chain(
        COUNTS, states=STATES, **PROMISE, mechanism=mechanism, rng=source, before_drawing=told.append
    )
    assert told == [model.guarantee, model.guarantee]


def test_whether_the_data_keep_the_floor_is_only_told_after_the_charge():
    """Otherwise anyone could ask for ever higher floors, and read the frequencies off the refusals for nothing."""
    paper = {"states": "ab", "epsilon": 1.0, "delta": 1e-3, "mix": False, "floor": 0.2}
    charged = []
    with pytest.raises(pv.InvalidCountsError, match="below the floor"):
        pv.fit_private_chain([[95, 5], [50, 50]], **paper, before_drawing=charged.append)
    assert len(charged) == 1

    class RefusedError(Exception):
        pass

    def refuse(_):
        raise RefusedError

    for counts in ([[95, 5], [50, 50]], [[50, 50], [50, 50]]):
        with pytest.raises(RefusedError):
            pv.fit_private_chain(counts, **paper, before_drawing=refuse)


@pytest.mark.parametrize("mechanism", ["dirichlet", "gaussian"])
def test_an_epsilon_that_no_noise_can_be_calibrated_to_is_refused(mechanism: str) -> None:
    counts = [[5, 3], [2, 8]]
    pv.fit_private_chain(counts, states="ab", epsilon=1e5, delta=1e-6, mechanism=mechanism)
    for epsilon in (1.1e5, 1e50, 1e200):
        with pytest.raises(pv.InvalidParameterError, match="hides nothing"):
            pv.fit_private_chain(counts, states="ab", epsilon=epsilon, delta=1e-6, mechanism=mechanism)
