"""Every order is equally likely, in memory and through files, and words stay whole."""

from __future__ import annotations

import math
from itertools import permutations
from pathlib import Path

import pyarrow as pa
import pytest

import pathveil as pv
from pathveil.data.shuffle import random_order, shuffled
from tests.statistics import FALSE_ALARM, chi_square_p_value

ORDERS = {order: 1 / math.factorial(4) for order in permutations(range(4))}


def batch(codes: list[int]) -> pa.RecordBatch:
    """One word a code: as many symbols as the code says, and the code again beside it."""
    words = pa.array([[code] * (code + 1) for code in codes], pa.list_(pa.int32()))
    return pa.RecordBatch.from_arrays([words, pa.array(codes)], names=["0", "1"])


def order_after(batches: list[pa.RecordBatch], source: pv.RandomSource, folder: Path, limit: int) -> tuple[int, ...]:
    rows = [row for one in shuffled(batches, source, folder, limit) for row in one.to_pylist()]
    assert all(row["0"] == [row["1"]] * (row["1"] + 1) for row in rows)
    return tuple(row["1"] for row in rows)


def test_permutations_are_uniform() -> None:
    # False-alarm probability 1e-6; the control below draws each element anywhere, as careless shuffles do.
    source = pv.insecure_seed(11)
    draws = [tuple(random_order(source, 4).tolist()) for _ in range(24_000)]
    assert chi_square_p_value(draws, ORDERS) > FALSE_ALARM


def test_the_same_test_finds_a_careless_shuffle() -> None:
    source = pv.insecure_seed(11)
    draws = []
    for _ in range(24_000):
        order = list(range(4))
        for i, word in enumerate(source.words64(4).tolist()):
            order[i], order[word % 4] = order[word % 4], order[i]  # word % (4 - i) + i would be right
        draws.append(tuple(order))
    assert chi_square_p_value(draws, ORDERS) < FALSE_ALARM


def test_rows_are_shuffled_uniformly_whether_they_fit_or_not(tmp_path: Path) -> None:
    # False-alarm probability 1e-6 each; piles would show if each were not shuffled by itself.
    source = pv.insecure_seed(12)
    in_memory = [order_after([batch([0, 1]), batch([2, 3])], source, tmp_path, 1 << 20) for _ in range(1200)]
    assert chi_square_p_value(in_memory, ORDERS) > FALSE_ALARM


def test_rows_that_do_not_fit_go_through_piles_uniformly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pathveil.data.shuffle._PILES", 4)
    source = pv.insecure_seed(13)
    through_files = [order_after([batch([0, 1]), batch([2, 3])], source, tmp_path, 0) for _ in range(240)]
    assert chi_square_p_value(through_files, ORDERS) > FALSE_ALARM
    assert not list(tmp_path.iterdir())


def test_piles_lose_and_repeat_nothing(tmp_path: Path) -> None:
    batches = [batch(list(range(i, i + 50))) for i in range(0, 500, 50)]
    for limit in (0, 2000):
        found = order_after(batches, pv.insecure_seed(1), tmp_path, limit)
        assert sorted(found) == list(range(500))
        assert list(found) != list(range(500))


def test_nothing_gives_nothing(tmp_path: Path) -> None:
    assert order_after([], pv.insecure_seed(1), tmp_path, 0) == ()
