"""Loops that compare integers only, against Python's own integers."""

from __future__ import annotations

import numpy as np
import pytest

from pathveil.words.tilted.response import keystream_values_per_symbol
from tests.worlds import UNEVEN

COMPILED = UNEVEN.compiled
EACH = [0, 0, *(keystream_values_per_symbol(degree, 0.7)[0] for degree in range(2, 12))]


def edge_taken(state: int, symbol: int, word: int) -> tuple[int, int]:
    """(label, target): wrong successors own `each` words of keystream one after the other, the right one the rest."""
    moves = list(COMPILED.moves[state].items())
    labels = [label for label, _ in moves]
    if symbol not in labels:
        return moves[word * len(moves) >> 64]
    wrong = [move for move in moves if move[0] != symbol]
    owner = word // EACH[len(moves)] if len(moves) > 1 else 0
    return wrong[owner] if owner < len(wrong) else moves[labels.index(symbol)]


def numbers_for(rng: np.random.Generator, count: int) -> np.ndarray:
    """Random words of keystream, many of them next to a border between two successors."""
    numbers = rng.integers(0, 2**64, count, dtype=np.uint64)
    borders = [k * EACH[degree] for degree in range(2, 8) for k in range(1, degree)]
    borders += [-(-k * 2**64 // degree) for degree in range(2, 8) for k in range(1, degree)]
    chosen = rng.choice(np.array(borders, dtype=np.uint64), count) - rng.integers(0, 2, count, dtype=np.uint64)
    return np.where(rng.random(count) < 0.7, chosen, numbers)


def test_online_words_are_drawn_by_the_quotient_of_their_keystream():
    from pathveil.words.online_kernel import draw_online

    rng = np.random.default_rng(1)
    lengths = rng.integers(1, 6, 300)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    values = rng.integers(0, COMPILED.symbol_count - 1, offsets[-1])  # all symbols but the last, a dead end
    first, last = 20, 290
    numbers = numbers_for(rng, offsets[last] - offsets[first])
    private = np.full_like(values, -1)
    alive = [state for state in range(COMPILED.state_count) if COMPILED.moves[state]]
    # Where the system ends, so would a word: no edge leads there.
    targets = np.where(np.isin(COMPILED.targets, alive), COMPILED.targets, alive[1])
    draw_online(
        values, offsets, first, last, COMPILED.offsets, COMPILED.labels, targets, COMPILED.start,
        np.array(EACH, dtype=np.uint64), numbers, private,
    )  # fmt: skip
    expected = np.full_like(values, -1)
    for word in range(first, last):
        state = COMPILED.start
        for cell in range(offsets[word], offsets[word + 1]):
            label, target = edge_taken(state, values[cell], int(numbers[cell - offsets[first]]))
            expected[cell] = label
            state = target if target in alive else alive[1]
    assert private.tolist() == expected.tolist()


def test_streams_move_by_the_same_edges_as_words():
    from pathveil.words.online_kernel import push_symbols

    rng = np.random.default_rng(2)
    count, first, last = 400, 30, 390
    alive = [state for state in range(COMPILED.state_count) if COMPILED.moves[state]]
    states, symbols = rng.choice(alive, count), rng.integers(0, COMPILED.symbol_count, count)
    numbers = numbers_for(rng, last - first)
    before, private = states.copy(), np.full(count, -1)
    push_symbols(
        symbols, first, last, COMPILED.offsets, COMPILED.labels, COMPILED.targets, np.array(EACH, dtype=np.uint64),
        numbers, states, private,
    )  # fmt: skip
    expected = [
        edge_taken(before[k], symbols[k], int(numbers[k - first])) if first <= k < last else (-1, before[k])
        for k in range(count)
    ]
    assert private.tolist() == [label for label, _ in expected]
    assert states.tolist() == [target for _, target in expected]


@pytest.mark.parametrize(("length", "m"), [(1, 2), (4, 2), (5, 4), (9, 3)])
def test_errors_are_placed_by_the_high_half_of_a_product(length, m):
    """With r errors left for k positions, word · k(m-1) / 2^64 is below r(m-1) where one of them is."""
    from pathveil.words.free_kernels import place_errors

    rng = np.random.default_rng(length)
    count = 500
    bounds = np.sort(rng.integers(2**40, 2**64, length, dtype=np.uint64))
    begins = 2 + rng.permutation(count) * (length + 1)
    values = rng.integers(0, m, 2 + count * (length + 1))
    words = rng.integers(0, 2**64, (count, length + 1), dtype=np.uint64)
    near = rng.choice(bounds, count) + rng.integers(0, 4, count, dtype=np.uint64) - np.uint64(1)
    words[: count // 2, 0] = near[: count // 2]
    words[:, 1:][rng.random((count, length)) < 0.1] = 0  # the words that favour a number are among the smallest
    words[:, 1:][rng.random((count, length)) < 0.1] = 1
    private = np.full_like(values, -1)
    again, in_doubt = np.empty(count, dtype=bool), np.empty(count, dtype=bool)
    place_errors(values, begins, length, m, bounds, words.reshape(-1), private, again, in_doubt)
    expected = np.full_like(values, -1)
    for row, (begin, numbers) in enumerate(zip(begins.tolist(), words.tolist(), strict=True)):
        left = sum(numbers[0] >= bound for bound in bounds.tolist())
        assert in_doubt[row] == any(0 <= numbers[0] - bound <= 1 for bound in bounds.tolist())
        used, favoured = iter(numbers[1:]), False
        for i in range(length):
            code = int(values[begin + i])
            if left:
                parts = (length - i) * (m - 1)
                number, remainder = divmod(next(used) * parts, 2**64)
                favoured |= remainder < 2**64 % parts
                if number < left * (m - 1):
                    left -= 1
                    code = (code + 1 + number % (m - 1)) % m
            expected[begin + i] = code
        assert again[row] == favoured
    assert private.tolist() == expected.tolist()
    assert in_doubt.any()
    assert not in_doubt.all()
    assert again.any() or (m, length) == (2, 1)


@pytest.mark.parametrize("each", [1, 1_000, (1 << 40) - 1, 1 << 40, (1 << 60) + 12_345, (1 << 62) - 1])
@pytest.mark.parametrize("m", [2, 3, 4])
def test_a_symbol_is_replaced_by_the_owner_of_its_keystream_value(m, each):
    """Each wrong symbol owns so many values, be they most of all or hardly any; the right one has the rest."""
    from pathveil.words.free_kernels import respond

    rng = np.random.default_rng(m)
    begin, end = 7, 407
    values = rng.integers(0, m, end + 5)
    borders = rng.integers(0, m, end - begin).astype(np.uint64) * np.uint64(each)
    numbers = borders + rng.integers(0, 3, end - begin, dtype=np.uint64) - np.uint64(1)  # the largest one before 0
    numbers[::5] = rng.integers(0, 2**64, len(numbers[::5]), dtype=np.uint64)
    private = np.full_like(values, -1)
    respond(values, begin, end, m, np.uint64(each), numbers, private)
    owners = [min(number // each, m - 1) for number in numbers.tolist()]
    expected = [(code + 1 + owner) % m for code, owner in zip(values[begin:end].tolist(), owners, strict=True)]
    assert private[begin:end].tolist() == expected
    assert (private[:begin] == -1).all()
    assert (private[end:] == -1).all()
