"""How far back a model looks of itself: about as far as is best for the data and the budget."""

from __future__ import annotations

import numpy as np
import pytest

import pathveil as pv

STATES, LONGEST = 5, 6


def words(count: int) -> list[tuple[int, ...]]:
    """What comes next depends on the last two symbols, and on no others."""
    rng = np.random.default_rng(1)
    following = np.cumsum(rng.dirichlet(np.full(STATES, 0.08), size=(STATES, STATES)), axis=2)
    lengths = rng.integers(4, LONGEST + 1, count).tolist()
    table, numbers = rng.integers(0, STATES, (count, LONGEST)), rng.random((count, LONGEST))
    for k in range(2, LONGEST):
        table[:, k] = (following[table[:, k - 2], table[:, k - 1], :-1] < numbers[:, [k]]).sum(axis=1)
    return [tuple(row[:length]) for row, length in zip(table.tolist(), lengths, strict=True)]


def triples(some: list[tuple[int, ...]]) -> np.ndarray:
    counts = np.zeros((STATES,) * 3)
    for word in some:
        np.add.at(counts, (word[:-2], word[1:-1], word[2:]), 1)
    return counts / counts.sum()


@pytest.mark.parametrize(("count", "least", "most"), [(200, 1, 1), (1000, 2, 3), (5000, 2, 4)])
def test_the_order_that_is_taken_is_hardly_worse_than_the_best(count, least, most):
    data, errors = words(count), {}
    for order in ("auto", 1, 2, 3):
        model = pv.fit_private_sequences(
            data, states=range(STATES), epsilon=1.0, max_length=LONGEST, order=order, rng=pv.insecure_seed(1)
        )
        made = triples(model.synthesize(4000, pv.insecure_seed(2)))
        errors[order] = float(np.abs(made - triples(data)).sum() / 2)
        if order == "auto":
            assert least <= model.order <= most
    assert errors["auto"] <= 1.3 * min(errors.values()), errors
    if count == 5000:  # with so many words two symbols are worth far more than one, and little is lost to noise
        assert errors[2] < 0.3 * errors[1]
        assert errors["auto"] < 0.15
