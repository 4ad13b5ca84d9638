"""Piles without Spark: private words are the same at every attempt, and independent of each other."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from math import exp

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

import pathveil as pv
from pathveil.data.spark.piles import Job, dealing, drawing
from pathveil.data.spark.places import FILE, ROW, PlaceNumbers
from pathveil.randomness.derived import DerivingKey
from pathveil.randomness.source import RandomSource
from tests.statistics import FALSE_ALARM, chi_square_p_value

COINS = pv.Alphabet("01")
PILES = 16


class Arrived:
    """What a mechanism is on an executor."""

    def __init__(self, value: pv.WordMechanism) -> None:
        self.value = value


class OneStreamForAll(DerivingKey):
    """A planted error: every pile is drawn from the same keystream."""

    def source(self, *_name: str | int | bytes) -> RandomSource:
        return super().source("the same")


def job(mechanism: pv.WordMechanism, key: DerivingKey, **others: object) -> Job:
    given = {"column": "word", "separator": None, "value_type": pa.string(), "place": None, "kept": (ROW,)}
    return Job(Arrived(mechanism), key, PILES, **{**given, "on_bad_row": "fail", "version": pv.__version__, **others})


def rows(words: list[str], file: str = "file:/x.parquet") -> pa.RecordBatch:
    table = {"word": [list(word) for word in words], FILE: [file] * len(words), ROW: range(len(words))}
    return pa.RecordBatch.from_pydict(table)


def run(work: Job, batches: list[pa.RecordBatch]) -> dict[int, str]:
    """The private word of each row, by both halves of the job, with Spark's sort in between."""
    dealt = [
        pair for batch in dealing(work)(batches) for pair in zip(*map(list, batch.to_pydict().values()), strict=True)
    ]
    dealt.sort(key=lambda pair: pair[0])

    def arriving() -> Iterator[pa.RecordBatch]:
        for begin in range(0, len(dealt), 3):
            piles, messages = zip(*dealt[begin : begin + 3], strict=True)
            yield pa.RecordBatch.from_arrays(
                [pa.array(piles, pa.int32()), pa.array(messages, pa.binary())], ["pile", "rows"]
            )

    found = [row for batch in drawing(work)(arriving()) for row in batch.to_pylist()]
    assert len({row[ROW] for row in found}) == len(found)
    return {row[ROW]: "".join(row["word"]) for row in found}


@settings(max_examples=30)
@given(
    words=st.lists(st.text("01", min_size=1, max_size=6), min_size=1, max_size=40),
    size=st.integers(1, 40),
    order=st.randoms(use_true_random=False),
    kind=st.sampled_from([pv.CertifiedExponential, pv.PermuteAndFlip, pv.Online]),
)
def test_cuts_and_order_make_no_difference(words: list[str], size: int, order, kind: type[pv.WordMechanism]) -> None:
    work = job(kind(COINS, 0.5), DerivingKey(pv.insecure_seed(3)))
    whole = rows(words)
    places = list(range(len(words)))
    order.shuffle(places)
    pieces = whole.take(pa.array(places))
    cut = [pieces.slice(begin, size) for begin in range(0, len(words), size)]
    assert run(work, [whole]) == run(work, cut)


class NotOfTheWords(DerivingKey):
    """A planted error, which once was ours: the keystream of a pile does not depend on what its words say."""

    def source(self, *name: str | int | bytes) -> RandomSource:
        return super().source(*name[:4])


def errors(private: dict[int, str], word: str) -> list[list[bool]]:
    """Where the private words differ from a word."""
    return [[a != b for a, b in zip(private[row], word, strict=True)] for row in sorted(private)]


@pytest.mark.parametrize(("key", "shared"), [(DerivingKey, False), (NotOfTheWords, True)])
def test_other_words_at_the_same_places_meet_other_noise(key: type[DerivingKey], shared: bool) -> None:
    """Independent noise agrees on all of 2,000 symbols with probability below 2**-1000."""
    work = job(pv.CertifiedExponential(COINS, 0.5), key(pv.insecure_seed(8)))
    first, second = run(work, [rows(["00000"] * 400)]), run(work, [rows(["11111"] * 400)])
    assert (errors(first, "00000") == errors(second, "11111")) == shared
    # One word was changed: the noise of the others in its pile is another one, too.
    third = run(work, [rows(["00000"] * 399 + ["00001"])])
    changed = sum(first[row] != third[row] for row in range(399))
    assert 5 <= changed <= 60 or (shared and not changed)  # a pile has about 25 words
    assert run(work, [rows(["00000"] * 400)]) == first  # and the same words have the same noise


def outputs(key: DerivingKey, epsilon: float = 1.0) -> list[str]:
    return list(run(job(pv.CertifiedExponential(COINS, epsilon), key), [rows(["0110"] * 4000)]).values())


def test_words_have_the_law_of_the_mechanism_and_shared_streams_would_not() -> None:
    # A false alarm has probability 1e-6.
    mechanism = pv.CertifiedExponential(COINS, 1.0)
    every = [f"{i:04b}" for i in range(16)]
    law = {word: exp(mechanism.log_probability("0110", word)) for word in every}
    assert chi_square_p_value(outputs(DerivingKey(pv.insecure_seed(4))), law) > FALSE_ALARM
    # With one stream for all piles, the same draws count sixteen times.
    assert chi_square_p_value(outputs(OneStreamForAll(pv.insecure_seed(4))), law) < FALSE_ALARM


def pairs_across_piles(key: DerivingKey) -> list[bool]:
    """Do rows with the same turn in two piles get the same symbol?"""
    work = job(pv.CertifiedExponential(COINS, 0.01), key)
    halves = PlaceNumbers(key).of(rows(["0"] * 4000))
    private = run(work, [rows(["0"] * 4000)])
    piles = (halves[0] & np.uint64(PILES - 1)).astype(int)
    turns = np.lexsort((halves[1], halves[0]))
    first, second = (turns[piles[turns] == pile] for pile in (0, 1))
    return [private[a] == private[b] for a, b in zip(first.tolist(), second.tolist(), strict=False)]


def test_piles_are_independent_and_shared_streams_would_not_be() -> None:
    # 200 pairs or so agree half of the time; all of them, or fewer than 50, with a probability below 1e-10.
    agreeing = pairs_across_piles(DerivingKey(pv.insecure_seed(5)))
    assert 0.25 < np.mean(agreeing) < 0.75
    assert np.mean(pairs_across_piles(OneStreamForAll(pv.insecure_seed(5)))) == 1.0


def test_other_rows_get_other_bits() -> None:
    key = DerivingKey(pv.insecure_seed(6))
    work = job(pv.CertifiedExponential(COINS, 0.01), key)
    whole = rows(["0" * 32] * 200)
    fewer = run(work, [whole.slice(0, 150)])
    all_of_them = run(work, [whole])
    # If a row is missing, its whole pile is drawn afresh: were the bits the same, words would be, or come in turns.
    assert not set(fewer.values()) & set(all_of_them.values())
    elsewhere = run(work, [rows(["0" * 32] * 200, "file:/y.parquet")])
    assert not set(elsewhere.values()) & set(all_of_them.values())


def test_a_row_that_comes_twice_is_refused() -> None:
    work = job(pv.CertifiedExponential(COINS, 1.0), DerivingKey(pv.insecure_seed(1)))
    with pytest.raises(pv.InvalidParameterError, match="two rows have the same place"):
        run(work, [rows(["01", "10"]), rows(["01"])])


def test_another_version_on_an_executor_is_refused() -> None:
    work = job(pv.CertifiedExponential(COINS, 1.0), DerivingKey(pv.insecure_seed(1)), version="0.0.0")
    with pytest.raises(pv.InvalidParameterError, match="Install the same everywhere"):
        list(dealing(work)([rows(["01"])]))


def test_numbers_of_places_do_not_depend_on_the_batch_and_differ_between_files() -> None:
    numbers = PlaceNumbers(DerivingKey(pv.insecure_seed(2)))
    one, other = rows(["0"] * 50), rows(["0"] * 50, "file:/y.parquet")
    both = pa.Table.from_batches([one, other]).combine_chunks().to_batches()[0]
    mixed = both.take(pa.array(np.random.default_rng(1).permutation(100)))
    expected = {(FILE_OF[i], i % 50): n for i, n in enumerate(zip(*numbers.of(both), strict=True))}
    found = zip(
        mixed.column(FILE).to_pylist(), mixed.column(ROW).to_pylist(), zip(*numbers.of(mixed), strict=True), strict=True
    )
    assert all(expected[file, row] == number for file, row, number in found)
    assert len(set(expected.values())) == 100
    alone = list(zip(*numbers.of(one), strict=True))
    assert alone == [expected["file:/x.parquet", i] for i in range(50)]


FILE_OF = ["file:/x.parquet"] * 50 + ["file:/y.parquet"] * 50


def test_names_of_keys_are_told_apart() -> None:
    key = DerivingKey(pv.insecure_seed(1))
    names = [("a", "bc"), ("ab", "c"), ("abc",), (1,), ("1",), (b"1",), ("1", ""), ()]
    assert len({key.key(*name) for name in names}) == len(names)
    assert key.source("x").bytes(100) == pickle.loads(pickle.dumps(key)).source("x").bytes(100)
    assert key.source("x").is_seeded
    assert not DerivingKey(RandomSource(bytes(32))).source("x").is_seeded
    secret = pv.insecure_seed(1).bytes(32)
    assert secret.hex() not in repr(key)
    assert repr(secret) not in repr(key)
