"""The compiled parts of a certificate against dense matrices and listed paths."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from pathveil.words.certificate.ratio_kernels import (
    largest_quotient_of_single_symbols,
    step_boxes,
    unite_rows,
)
from pathveil.words.certificate.run_kernel import largest_quotients
from pathveil.words.certificate.symbol_chain import Links
from tests.reference.literal_quotients import (
    Intervals,
    quotient_of_runs,
    quotient_of_symbols,
    random_intervals,
    step_of_context,
)


def links_of(follows: np.ndarray) -> list[tuple[np.ndarray, ...]]:
    both = (Links.of(sparse.csr_array(matrix.astype(float))) for matrix in (follows, follows.T.copy()))
    return [(links.offsets, links.symbols) for links in both]


def boxes_of(prefix: Intervals, suffix: Intervals) -> list[tuple[np.ndarray, ...]]:
    return [(each.lo, each.hi, each.dropped, each.kept.offsets, each.kept.symbols) for each in (prefix, suffix)]


@pytest.mark.parametrize("slack", [0.0, 0.05])
def test_replacing_a_symbol_changes_z_by_the_largest_quotient_over_all_pairs(slack):
    rng = np.random.default_rng(1)
    for _ in range(60):
        m, z = int(rng.integers(2, 7)), float(rng.choice([0.02, 0.4, 0.9]))
        prefix, suffix = (random_intervals(rng, m, rng.choice([0.3, 0.7, 1.0])) for _ in range(2))
        pairs = [(w, v) for w in range(m) for v in range(m) if w != v and rng.random() < 0.7] or [(0, 1)]
        found = largest_quotient_of_single_symbols(
            *(np.array([[pair[k]] for pair in pairs])[:, 0] for k in (0, 1)),
            *boxes_of(prefix, suffix),
            z,
            slack,
        )
        each = [quotient_of_symbols(w, v, prefix, suffix, z, slack) for w, v in pairs]
        assert found == pytest.approx(max(each), rel=1e-12)


def test_replacing_a_symbol_that_nothing_is_known_about_may_change_z_infinitely():
    rng = np.random.default_rng(2)
    prefix, suffix = random_intervals(rng, 3, 1.0), random_intervals(rng, 3, 0.0)
    suffix.dropped[2] = np.inf
    for v, expected in [(1, False), (2, True)]:
        w, v = np.array([[0]])[:, 0], np.array([[v]])[:, 0]
        largest = largest_quotient_of_single_symbols(w, v, *boxes_of(prefix, suffix), 0.5, 0.0)
        assert np.isinf(largest) == expected


def random_run(rng: np.random.Generator, follows: np.ndarray, run: int) -> list[int]:
    word = [int(rng.integers(len(follows)))]
    while len(word) < run:
        word.append(int(rng.choice(np.flatnonzero(follows[word[-1]]))))
    return word


@pytest.mark.parametrize("run", [2, 3, 4])
def test_replacing_a_run_changes_z_by_the_largest_quotient_over_all_paths_and_pairs(run):
    rng = np.random.default_rng(run)
    for case in range(25):
        m, z = int(rng.integers(3, 6)), float(rng.choice([0.02, 0.4, 0.9]))
        follows = rng.random((m, m)) < rng.choice([0.3, 0.6])
        follows[np.arange(m), rng.permutation(m)] = True  # everyone has a successor
        prefix, suffix = (random_intervals(rng, m, rng.choice([0.2, 0.6, 1.0])) for _ in range(2))
        if case % 5 == 4:
            prefix.dropped[rng.integers(m)] = np.inf
        if case % 5 == 3:
            suffix.dropped[rng.integers(m)] = np.inf
            prefix.dropped[:] *= rng.random(m) < 0.5
        pairs = [(random_run(rng, follows, run), random_run(rng, follows, run)) for _ in range(rng.integers(1, 5))]
        pairs = [(w, [v if v != c else (v + 1) % m for v, c in zip(other, w, strict=True)]) for w, other in pairs]
        expected = [quotient_of_runs(w, v, prefix, suffix, follows, z) for w, v in pairs]
        w, v = (np.array([pair[k] for pair in pairs]) for k in (0, 1))
        rows = prefix.kept.offsets[w[:, 0]], suffix.kept.offsets[w[:, -1]]
        found = largest_quotients(w, v, *boxes_of(prefix, suffix), *links_of(follows), z, *rows)
        assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("kept", [False, True])
def test_an_unknown_end_costs_nothing_where_no_path_comes_to_it_from_the_new_run(kept):
    """w = 0 1, v = 2 3; after 0 the symbol 4 may come as well, of which nothing is known."""
    follows = np.zeros((5, 5), dtype=bool)
    follows[[0, 0, 2], [1, 4, 3]] = True
    rng = np.random.default_rng(3)
    prefix, suffix = random_intervals(rng, 5, 1.0), random_intervals(rng, 5, float(kept))
    if kept:
        suffix.hi[suffix.kept.symbols == 4] = np.inf
    else:
        suffix.dropped[4] = np.inf
    w, v = [0, 1], [2, 3]
    expected = quotient_of_runs(w, v, prefix, suffix, follows, 0.3)
    assert expected < 100
    arguments = (np.array([w]), np.array([v]), *boxes_of(prefix, suffix))
    rows = prefix.kept.offsets[[0]], suffix.kept.offsets[[1]]
    assert largest_quotients(*arguments, *links_of(follows), 0.3, *rows) == pytest.approx(expected, rel=1e-12)
    follows[2, 4] = True
    assert largest_quotients(*arguments, *links_of(follows), 0.3, *rows) == np.inf


@pytest.mark.parametrize("slack", [1e-12, 0.02])
def test_a_step_gives_each_context_the_smallest_box_around_what_leads_to_it(slack):
    rng = np.random.default_rng(5)
    tiny, huge = 0.03, 6.0
    cut = {"tiny": 0, "huge": 0, "infinite": 0}
    for case in range(60):
        m, z = int(rng.integers(2, 7)), float(rng.choice([0.05, 0.4, 0.95]))
        follows = rng.random((m, m)) < rng.choice([0.3, 0.7])
        kept = random_intervals(rng, m, rng.choice([0.3, 0.7, 1.0])).kept
        # Two or three contexts for each last symbol, before and after the step, in any order of their symbols.
        last, new_last = (rng.permutation(np.repeat(np.arange(m), rng.integers(1, 4))) for _ in range(2))
        rows, new_rows = (np.concatenate([[0], np.cumsum(kept.degrees[each])]) for each in (last, new_last))
        lo = rng.uniform(0, 1.5, rows[-1]) * (rng.random(rows[-1]) < 0.8)
        hi = lo * rng.uniform(1, 2, rows[-1]) + rng.uniform(0, 0.1, rows[-1])
        dropped = rng.uniform(0, 1, m) * rng.choice([0.1, 4.0])
        if case % 4 == 3:
            hi[rng.random(len(hi)) < 0.1] = np.inf
        steps = [
            (k, int(new_last[child]), child)
            for k, c in enumerate(last)
            for child in rng.permutation(len(new_last)).tolist()
            if follows[c, new_last[child]] and rng.random() < 0.6
        ]
        parent, current, child = (np.array([step[j] for step in steps], dtype=np.int64) for j in range(3))
        arrays = (lo, hi, dropped, kept.offsets, kept.symbols)
        new_lo, new_hi = step_boxes(
            arrays, rows, last, (parent, current, child), new_rows, *links_of(follows), z, slack, tiny, huge
        )
        expected_lo, expected_hi = np.full(new_rows[-1], np.inf), np.zeros(new_rows[-1])
        box = Intervals(lo, hi, dropped, kept)
        for k, new, to in steps:
            c = last[k]
            lower, upper = step_of_context(c, new, *box.of(c, rows[k] - kept.offsets[c]), follows, z, slack)
            upper, lower = np.maximum(upper, tiny), np.where(lower > tiny, lower, 0.0)
            cut["tiny"] += np.count_nonzero((upper == tiny) | (lower == 0))
            cut["huge"] += np.count_nonzero((upper >= huge) & (upper < np.inf))
            cut["infinite"] += np.count_nonzero(upper == np.inf)
            upper[upper >= huge] = np.inf
            ys = kept.symbols[kept.offsets[new] : kept.offsets[new + 1]]
            place = slice(new_rows[to], new_rows[to + 1])
            expected_lo[place] = np.minimum(expected_lo[place], lower[ys])
            expected_hi[place] = np.maximum(expected_hi[place], upper[ys])
        assert new_lo == pytest.approx(expected_lo, rel=1e-12)
        assert new_hi == pytest.approx(expected_hi, rel=1e-12)
    assert min(cut.values()) > 10


def test_boxes_of_contexts_that_end_alike_are_united():
    kept = Links(np.array([0, 2, 3, 5]), np.array([0, 2, 1, 0, 2]))  # 0: {0, 2}, 1: {1}, 2: {0, 2}
    last = np.array([2, 0, 2])
    rows = np.array([0, 2, 4, 6])
    lo, hi = np.array([0.5, 0.7, 0.6, 0.1, 0.4, 0.2]), np.array([0.8, 0.9, 3.0, 0.3, 0.7, 5.0])
    lower, upper = unite_rows((lo, hi, np.zeros(3), kept.offsets, kept.symbols), rows, last)
    # A symbol's ratio to itself is 1; nothing ends in the symbol 1.
    assert lower.tolist() == [1.0, 0.1, np.inf, 0.4, 1.0]
    assert upper.tolist() == [1.0, 0.3, 0.0, 0.8, 1.0]
