"""Every order is equally likely, in memory and through files, and words stay whole."""

from __future__ import annotations

import math
from itertools import permutations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import pathveil as pv
from pathveil.data.writing.shuffle import random_order, shuffled
from tests.statistics import FALSE_ALARM, chi_square_p_value

ORDERS = {order: 1 / math.factorial(4) for order in permutations(range(4))}


def batch(codes: list[int]) -> pa.RecordBatch:
    """One word a code: as many symbols as the code says, and the code again beside it."""
    words = pa.array([[code] * (code + 1) for code in codes], pa.list_(pa.int32()))
    return pa.RecordBatch.from_arrays([words, pa.array(codes)], names=["0", "1"])


def order_after(
    batches: list[pa.RecordBatch], source: pv.RandomSource, folder: Path, limit: int, **sizes: int
) -> tuple[int, ...]:
    rows = [row for one in shuffled(batches, source, folder, limit, **sizes) for row in one.to_pylist()]
    assert all(row["0"] == [row["1"]] * (row["1"] + 1) for row in rows)
    return tuple(row["1"] for row in rows)


def test_orders_are_uniform() -> None:
    # False-alarm probability 1e-6; the control below draws each element anywhere, as careless shuffles do.
    source = pv.insecure_seed(11)
    draws = [tuple(random_order(source, 4).tolist()) for _ in range(6_000)]
    assert chi_square_p_value(draws, ORDERS) > FALSE_ALARM


def test_the_same_test_finds_a_careless_shuffle() -> None:
    source = pv.insecure_seed(11)
    draws = []
    for _ in range(6_000):
        order = list(range(4))
        for i, word in enumerate(source.keystream(4).tolist()):
            order[i], order[word % 4] = order[word % 4], order[i]  # word % (4 - i) + i would be right
        draws.append(tuple(order))
    assert chi_square_p_value(draws, ORDERS) < FALSE_ALARM


class FewKeys:
    """A source whose words differ in their two highest bits only, so that keys are often equal."""

    def __init__(self, seed: int) -> None:
        self._source = pv.insecure_seed(seed)

    def keystream(self, count: int) -> np.ndarray:
        return self._source.keystream(count) & np.uint64(3 << 62)


def test_equal_keys_do_not_favour_any_order() -> None:
    # False-alarm probability 1e-6. The control sorts equal keys by their position, as a plain sort would.
    source = FewKeys(14)
    draws = [tuple(random_order(source, 4).tolist()) for _ in range(4_000)]  # type: ignore[arg-type]
    assert chi_square_p_value(draws, ORDERS) > FALSE_ALARM
    careless = [tuple(np.argsort(source.keystream(4), kind="stable").tolist()) for _ in range(4_000)]
    assert chi_square_p_value(careless, ORDERS) < FALSE_ALARM


@pytest.mark.parametrize("count", [0, 1, 2, 3, 255, 256, 257, 100_000])
def test_an_order_has_every_number_once(count: int) -> None:
    assert sorted(random_order(pv.insecure_seed(15), count).tolist()) == list(range(count))


def orders_in_memory(folder: Path) -> list[tuple[int, ...]]:
    source = pv.insecure_seed(12)
    return [order_after([batch([0, 1]), batch([2, 3])], source, folder, 1 << 20) for _ in range(500)]


def orders_through_piles(folder: Path) -> list[tuple[int, ...]]:
    source = pv.insecure_seed(13)
    return [order_after([batch([0, 1]), batch([2, 3])], source, folder, 0, piles=4) for _ in range(300)]


def test_rows_that_fit_into_memory_are_shuffled_uniformly(tmp_path: Path) -> None:
    # False-alarm probability 1e-6.
    assert chi_square_p_value(orders_in_memory(tmp_path), ORDERS) > FALSE_ALARM


def test_the_same_test_finds_rows_that_stay_in_their_batches(tmp_path: Path) -> None:
    source = pv.insecure_seed(12)
    apart = [
        order_after([batch([0, 1])], source, tmp_path, 1 << 20)
        + order_after([batch([2, 3])], source, tmp_path, 1 << 20)
        for _ in range(500)
    ]
    assert chi_square_p_value(apart, ORDERS) < FALSE_ALARM


def test_the_same_test_finds_an_order_that_is_rotated_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def rotated(source: pv.RandomSource, count: int) -> np.ndarray:
        return (np.arange(count) + int(source.keystream(1)[0] % count)) % count

    monkeypatch.setattr("pathveil.data.writing.shuffle.random_order", rotated)
    assert chi_square_p_value(orders_in_memory(tmp_path), ORDERS) < FALSE_ALARM


def test_rows_that_do_not_fit_go_through_piles_uniformly(tmp_path: Path) -> None:
    # False-alarm probability 1e-6.
    assert chi_square_p_value(orders_through_piles(tmp_path), ORDERS) > FALSE_ALARM
    assert not list(tmp_path.iterdir())


def test_the_same_test_finds_piles_that_are_not_shuffled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pathveil.data.writing.shuffle.random_order", lambda _source, count: np.arange(count))
    assert chi_square_p_value(orders_through_piles(tmp_path), ORDERS) < FALSE_ALARM


@pytest.mark.parametrize("in_memory", [0, 1 << 20])
def test_new_batches_have_every_size_and_the_same_rows(in_memory: int, tmp_path: Path) -> None:
    batches = [batch([5, 3]), batch([1]), batch([4, 0, 2])]
    for rows in (1, 2, 5, 6, 7):
        source = pv.insecure_seed(rows)
        found = order_after(batches, source, tmp_path, in_memory, rows_at_a_time=rows)
        assert sorted(found) == [0, 1, 2, 3, 4, 5]


def test_piles_lose_and_repeat_nothing(tmp_path: Path) -> None:
    batches = [batch(list(range(i, i + 50))) for i in range(0, 500, 50)]
    for limit in (0, 2000):
        found = order_after(batches, pv.insecure_seed(1), tmp_path, limit)
        assert sorted(found) == list(range(500))
        assert list(found) != list(range(500))


def test_nothing_gives_nothing(tmp_path: Path) -> None:
    assert order_after([], pv.insecure_seed(1), tmp_path, 0) == ()
