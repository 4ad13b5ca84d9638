"""Batches taken apart and put together again, limits of parameters, and what mechanisms say about themselves."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import pathveil as pv
from pathveil.words.base.batch import Batch, SameLength, flat_words, take_cells
from pathveil.words.base.mechanism import checked_epsilon, checked_positive_integer, hamming_distances
from pathveil.words.certificate.contexts import ContextLevel
from pathveil.words.certificate.kept_pairs import KeptPairs
from pathveil.words.certificate.symbol_chain import Links, SymbolChain
from pathveil.words.classes.selection import Selection
from pathveil.words.tilted.reachable_states import ReachableStates
from tests.words.mechanisms import MECHANISMS, build
from tests.worlds import LETTER_CHAIN, TOGGLE

# ------------------------------------------------------------------------------------------------ ragged


def test_words_are_grouped_by_length_in_their_order() -> None:
    words = Batch(np.arange(11), np.array([0, 3, 4, 7, 9, 10, 11]))
    assert len(words) == 6
    assert words.lengths == [1, 2, 3]
    one, two, three = words.by_length
    assert (one.length, one.numbers.tolist(), one.begins.tolist()) == (1, [1, 4, 5], [3, 9, 10])
    assert (two.length, two.numbers.tolist(), two.begins.tolist()) == (2, [3], [7])
    assert (three.length, three.numbers.tolist(), three.begins.tolist()) == (3, [0, 2], [0, 4])
    assert three.cells.tolist() == [[0, 1, 2], [4, 5, 6]]
    assert Batch(np.empty(0, dtype=np.int64), np.array([0])).by_length == []


@pytest.mark.parametrize("longest", [2**16 - 1, 2**16, 2**16 + 1])
def test_lengths_around_65536_are_told_apart(longest: int) -> None:
    """Shorter ones are sorted as numbers of sixteen bits, in which 65536 would be 0."""
    words = Batch(np.zeros(longest + 3, dtype=np.int8), np.array([0, 2, 2 + longest, 3 + longest]))
    assert words.lengths == [1, 2, longest]
    assert [(part.length, part.numbers.tolist()) for part in words.by_length] == [(1, [2]), (2, [0]), (longest, [1])]


def test_rows_are_words_of_one_length_and_nothing_is_copied() -> None:
    rows = np.arange(6).reshape(3, 2)
    words = Batch.from_rows(rows)
    assert words.values.base is rows.base
    assert words.offsets.tolist() == [0, 2, 4, 6]
    assert words.lengths == [2]
    [part] = words.by_length
    assert (part.length, part.numbers.tolist(), part.begins.tolist()) == (2, [0, 1, 2], [0, 2, 4])


@pytest.mark.parametrize("kind", [pa.list_(pa.int32()), pa.large_list(pa.int64())])
def test_slices_of_arrow_arrays_are_read_from_their_first_word(kind: pa.DataType) -> None:
    words = pa.array([[7], [1, 2], [3], [4, 5, 6], [8, 8]], type=kind)
    for begin, count in [(0, 5), (1, 3), (2, 1), (4, 1)]:
        values, offsets = flat_words(words.slice(begin, count))
        expected = words.to_pylist()[begin : begin + count]
        assert [values[a:b].tolist() for a, b in pairwise(offsets)] == expected
        assert offsets[0] == 0
        assert len(values) == sum(map(len, expected))


@pytest.mark.parametrize(
    ("words", "error", "says"),
    [
        (pa.array([[0], [0], None, None]).slice(1), pv.EmptyWordError, "word 1 is null"),
        (pa.array([[0], [1], [], [2], []]).slice(1), pv.EmptyWordError, "word 1 is empty"),
        (
            pa.array([[9], [0, 1], [0, 2, None], [None]]).slice(1),
            pv.InvalidParameterError,
            "word 1: the code at position 3",
        ),
        (pa.array([[0, 1], [None]]), pv.InvalidParameterError, "word 1: the code at position 1"),
        (pa.array([[0.5]]), pv.InvalidParameterError, "not list<"),
        (pa.array([1, 2]), pv.InvalidParameterError, "not int64"),
        (pa.chunked_array([[[1]]]), pv.InvalidParameterError, "is needed"),
    ],
)
def test_what_is_no_list_of_words_is_named_with_the_first_bad_word(words: Any, error: type, says: str) -> None:
    with pytest.raises(error, match=says):
        flat_words(words)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_the_cells_of_some_words_are_taken_in_the_order_asked_for(dtype: type) -> None:
    offsets = np.array([0, 2, 3, 7, 7, 9], dtype=dtype)
    cells, taken = take_cells(offsets, np.array([4, 0, 3, 2]))
    assert cells.tolist() == [7, 8, 0, 1, 3, 4, 5, 6]
    assert taken.tolist() == [0, 2, 4, 4, 8]
    assert (cells.dtype, taken.dtype) == (dtype, dtype)


# --------------------------------------------------------------------------------------------- parameters


def test_epsilon_goes_up_to_a_googol_and_adjacency_to_a_billion() -> None:
    assert checked_epsilon(1e100) == 1e100
    assert checked_epsilon(5e-324) == 5e-324
    assert checked_epsilon(Fraction(1, 4)) == 0.25
    assert type(checked_epsilon(np.float32(2))) is float
    for epsilon in (math.nextafter(1e100, math.inf), 0.0, -1e-300, "1", False, object(), [1.0]):
        with pytest.raises(pv.InvalidParameterError, match=r"1e\+100"):
            checked_epsilon(epsilon)
    assert checked_positive_integer(1, "things") == 1
    assert checked_positive_integer(np.int8(3), "things") == 3
    assert type(checked_positive_integer(np.int8(3), "things")) is int
    assert checked_positive_integer(10**9, "things") == 10**9
    for adjacency in (10**9 + 1, 0, -1, False, 1.0):
        with pytest.raises(pv.InvalidParameterError, match="things must be a whole number"):
            checked_positive_integer(adjacency, "things")


def test_hamming_distances_count_the_wrong_symbols_of_each_row() -> None:
    outputs = np.array([[0, 1, 2], [0, 0, 0], [1, 2, 0]])
    assert hamming_distances(np.array([0, 1, 2]), outputs).tolist() == [0, 2, 3]


def test_inverse_utilities_are_those_of_the_paper() -> None:
    utility = pv.InverseUtility(0.5)
    assert utility.score(np.array([0.0, 1.0, 3.0])) == pytest.approx([2.0, 1 / 1.5, 1 / 3.5])
    assert utility.sensitivity(2) == pytest.approx(2 / (0.5 * 2.5))
    assert utility.sensitivity(1) == pytest.approx(1 / 0.5 - 1 / 1.5)  # from no error to one
    assert pv.InverseUtility().alpha == 1.0
    assert pv.InverseUtility(1e-100).alpha == 1e-100
    assert pv.InverseUtility(10**100).alpha == 10**100
    for alpha in (0.99e-100, 1.01e100, -1.0, math.nan, "1", None):
        with pytest.raises(pv.InvalidParameterError, match="alpha"):
            pv.InverseUtility(alpha)  # type: ignore[arg-type]
    assert pv.HammingUtility().score(np.array([0.0, 2.0])).tolist() == [0.0, -2.0]
    assert pv.HammingUtility().sensitivity(3) == 3.0
    with pytest.raises(AttributeError):
        utility.alpha = 2.0  # type: ignore[misc]


@pytest.mark.parametrize("adjacency", [1, 3])
def test_tilts_are_the_share_of_epsilon_that_each_calibration_allows(adjacency: int) -> None:
    epsilon = 1.7
    for kind in (pv.Exponential, pv.PermuteAndFlip):
        assert kind(LETTER_CHAIN, epsilon, adjacency).theta(4) == pytest.approx(epsilon / (2 * adjacency), rel=1e-15)
    assert pv.Online(LETTER_CHAIN, epsilon, adjacency).theta() == pytest.approx(epsilon / adjacency, rel=1e-15)
    lev = pv.Exponential(LETTER_CHAIN, epsilon, adjacency, pv.InverseUtility(2.0))
    exact = Fraction(epsilon) / (2 * Fraction(adjacency, 2 * (adjacency + 2)))
    # A little less than the quotient, by more than its rounding and hardly more.
    assert exact * (1 - Fraction(1, 2**46)) < Fraction(lev.theta(4)) < exact * (1 - Fraction(1, 2**49))
    assert lev._scores(3) == pytest.approx([lev.theta(3) * (1 / (k + 2) - 1 / 2) for k in range(4)], rel=1e-15)
    assert lev.utility == pv.InverseUtility(2.0)
    assert isinstance(pv.Exponential(LETTER_CHAIN, 1.0).utility, pv.HammingUtility)


@pytest.mark.parametrize("name", ["world", "epsilon", "adjacency", "on_infeasible"])
def test_what_a_guarantee_speaks_of_cannot_be_changed(name: str) -> None:
    mechanism = pv.CertifiedExponential(LETTER_CHAIN, 1.0)
    with pytest.raises(AttributeError):
        setattr(mechanism, name, getattr(mechanism, name))
    for other in ("max_length", "contexts"):
        with pytest.raises(AttributeError):
            setattr(mechanism, other, 1)
    with pytest.raises(AttributeError):
        pv.Exponential(LETTER_CHAIN, 1.0).utility = pv.HammingUtility()  # type: ignore[misc]


# ---------------------------------------------------------------------------------------------- guarantees


def test_a_guarantee_lists_what_is_taken_as_public() -> None:
    system, length = "the system (its symbols, and which words are feasible)", "the length of the word"
    feasible = "that the word is feasible (others are refused)"
    after = pv.MarkovChain.from_edges([("a", "b"), ("b", "a")], initial="a")
    for world, options, expected in [
        (LETTER_CHAIN, {}, (system, length, feasible)),
        (LETTER_CHAIN, {"on_infeasible": "nearest"}, (system, length)),
        (pv.Alphabet("ab"), {}, (system, length)),
        (after, {}, (system, length, feasible, "the state before the word ('a')")),
    ]:
        guarantee = pv.Exponential(world, 1.5, **options).guarantee  # type: ignore[arg-type]
        assert guarantee.public == expected
        assert (guarantee.epsilon, guarantee.delta, guarantee.seeded) == (1.5, 0.0, False)
        assert guarantee.mechanism == f"exponential mechanism (published calibration) on {world!r}"


@pytest.mark.parametrize(
    ("name", "world", "options", "covers"),
    [
        ("exponential", LETTER_CHAIN, {}, "any other word of the same length"),
        ("certified", LETTER_CHAIN, {}, "any other feasible word of the same length"),
        ("certified", LETTER_CHAIN, {"on_infeasible": "nearest"}, "any other word of the same length"),
        ("certified", pv.Alphabet("ab"), {}, "any other word of the same length"),
    ],
)
def test_a_guarantee_says_which_words_are_compared(
    name: str, world: pv.System, options: dict[str, str], covers: str
) -> None:
    for adjacency, symbols in [(1, "1 symbol"), (2, "2 symbols")]:
        mechanism = build(name, world, 1.0, adjacency, **options)
        assert mechanism is not None
        assert mechanism.guarantee.unit == f"{covers} that differs in at most {symbols}"


def test_a_guarantee_remembers_that_a_seed_was_used_once() -> None:
    mechanism = pv.Exponential(LETTER_CHAIN, 1.0)
    mechanism.privatize("ab")
    assert not mechanism.guarantee.seeded
    mechanism.privatize("ab", rng=pv.insecure_seed(1))
    mechanism.privatize("ab")
    assert mechanism.guarantee.seeded
    assert pv.Exponential(LETTER_CHAIN, 1.0).accepted_lengths is None


def test_guarantees_say_how_words_are_drawn() -> None:
    alphabet, exact = pv.Alphabet("ab"), "drawn exactly: no rounding of probabilities"
    assert pv.Exponential(alphabet, 1.0).guarantee.sampling == exact
    assert pv.Exponential(LETTER_CHAIN, 1.0, utility=pv.InverseUtility()).guarantee.sampling == exact
    assert pv.Exponential(alphabet, 1.0, utility=pv.InverseUtility()).guarantee.sampling == exact
    assert pv.CertifiedExponential(alphabet, 1.0).guarantee.sampling == exact
    states = LETTER_CHAIN.compiled.state_count
    for mechanism, table in [
        (pv.Exponential(LETTER_CHAIN, 1.0), 2**21),
        (pv.CertifiedExponential(LETTER_CHAIN, 1.0), 2**21),
        (pv.PermuteAndFlip(LETTER_CHAIN, 1.0), 2**16),
    ]:
        longest = table // states - 1
        assert f"words of more than {longest} symbols: in floating point" in mechanism.guarantee.sampling


# ------------------------------------------------------------------------------------------------- checks


@pytest.mark.parametrize("name", MECHANISMS)
def test_batches_of_any_shape_come_back_in_shape_and_order(name: str) -> None:
    mechanism = build(name, TOGGLE, 1e6)
    assert mechanism is not None
    rows = np.array([[0, 1, 1], [1, 0, 0], [0, 0, 1]], dtype=np.int16)
    private = mechanism.privatize_array(rows.T[::-1].T[:, ::-1])  # not contiguous
    assert private.tolist() == rows.tolist()
    assert private.dtype == np.int64
    assert mechanism.privatize_many(iter([("a",), "ab"])) == [("a",), "ab"]
    assert mechanism.log_probability("ab", "ab") == pytest.approx(0.0, abs=1e-9)
    outputs = np.array([[0, 1], [1, 0]])
    assert mechanism.log_probabilities(np.array([0, 1]), outputs)[0] == pytest.approx(0.0, abs=1e-9)


def test_bad_words_in_a_batch_are_named() -> None:
    mechanism = pv.Exponential(LETTER_CHAIN, 1.0)
    with pytest.raises(pv.UnknownSymbolError, match="row 1, column 2: code 7 is not from 0 to 2"):
        mechanism.privatize_array([[0, 1, 2], [0, 1, 7], [9, 0, 0]])
    with pytest.raises(pv.UnknownSymbolError, match="row 0, column 1: code -1 is not from 0 to 2"):
        mechanism.privatize_array([[0, -1]])
    with pytest.raises(pv.UnknownSymbolError, match="word 2, position 1: code 3 is not from 0 to 2"):
        mechanism.privatize_arrow(pa.array([[0, 1], [1], [3], [0]]))
    with pytest.raises(pv.InfeasibleWordError, match="word 2: infeasible"):
        mechanism.privatize_arrow(pa.array([[0, 1], [1], [2, 2], [1, 1]]))
    with pytest.raises(pv.UnknownSymbolError, match="word 3 of 3: unknown symbol"):
        mechanism.privatize_many(["ab", "a", "x"])
    with pytest.raises(pv.InvalidParameterError, match="2-D array of whole numbers, not 3-D"):
        mechanism.privatize_array(np.zeros((1, 1, 1), dtype=int))


@pytest.mark.parametrize(
    ("dtype", "code"), [(np.int64, 3), (np.int64, -1), (np.int64, -(2**63)), (np.int64, 2**63 - 1), (np.uint8, 255)]
)
def test_the_first_of_many_codes_that_are_no_symbols_is_named(dtype: type, code: int) -> None:
    mechanism = pv.Exponential(pv.Alphabet("abc"), 1.0)
    codes = np.zeros((50_000, 3), dtype=dtype)
    codes[40_000:, 1] = code
    codes[45_000:, 0] = 2
    with pytest.raises(pv.UnknownSymbolError, match=f"row 40000, column 1: code {code} is not from 0 to 2"):
        mechanism.privatize_array(codes)
    words = pa.ListArray.from_arrays(pa.array(range(0, codes.size + 1, 3), pa.int32()), pa.array(codes.ravel()))
    with pytest.raises(pv.UnknownSymbolError, match=f"word 40000, position 2: code {code} is not from 0 to 2"):
        mechanism.privatize_arrow(words)


def test_only_the_first_word_of_each_length_is_asked_whether_there_are_feasible_ones() -> None:
    world = pv.MarkovChain.from_edges([("a", "b"), ("b", "c")])
    mechanism = pv.Exponential(world, 1.0, on_infeasible="nearest")
    mechanism.privatize_arrow(pa.array([[0, 0], [1], [2, 2, 2]]))
    with pytest.raises(pv.NoFeasibleWordError, match=r"word 2: .*length 4"):
        mechanism.privatize_arrow(pa.array([[0, 0], [1], [0, 1, 2, 0], [0] * 4]))


# ------------------------------------------------------------------------------------------ shared objects


@pytest.mark.parametrize(
    "kind",
    [Batch, SameLength, Selection, Links, SymbolChain, KeptPairs, ContextLevel, ReachableStates, pv.HammingUtility],
)
def test_what_is_shared_between_draws_cannot_be_changed(kind: type) -> None:
    made = object.__new__(kind)
    with pytest.raises(FrozenInstanceError):
        made.anything = 1  # type: ignore[attr-defined]
