"""From noisy counts in the cells of a tree to probabilities. Post-processing: only noisy and public numbers are read.

1. *Up.* The counts below an opened row sum to its own, so their sum measures the same as its own noisy counts: the two
   are averaged with weights that minimise the variance.
2. *Down*, a depth at a time. Differences to the settled counts above are shared out. Then each row is drawn towards
   what the row above predicts. How far is learned from all rows of the depth (empirical Bayes): the probabilities of a
   row are taken to vary around those above as Dirichlet(κp) does, κ is one of the values of `STRENGTHS`, and how common
   each is comes from the noisy counts themselves by expectation maximisation.
3. Rows are scaled so that they sum to the settled counts above again: what is known of pairs stays known when triples
   are added.

How often the histories of a row occur is known twice as well: from the cell that leads to it (x leads to y as often as
y comes after x), and from the sum of its own cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pathveil.models.sequences.contexts.returning import corrected_by_class
from pathveil.models.sequences.contexts.tree import NONE, ContextTree
from pathveil.numerics.arrays import BoolArray, FloatArray, IntArray

STRENGTHS = np.concatenate([[0.5], 2.0 ** np.arange(18), [np.inf]])
"""The values of κ: from rows that have nothing to do with those above to rows that repeat them."""

LEAST = 0.05
"""No probability falls below this part of what the row above says: what noise has hidden stays possible."""

FLOW_ERROR = 0.05
"""Relative error of a size that comes from the cell above, where only the first events of a word are counted."""

PRIORS = (0.5, 0.8, 0.95, 0.99)
"""How much of what is expected at depth 1 can come from a prior, where there is one; the noisy counts say how much.
What the prior never saw stays possible.
"""

ENDS = 0.98
"""How much of the ends that are expected comes from the ends of a prior."""

_ROUNDS = 60
_SCALINGS = 20
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Measured:
    """Noisy counts of the cells of one depth, all with noise of the same variance."""

    counts: FloatArray
    variance: float

    def averaged(self, other: Measured) -> Measured:
        """One measurement made of two of the same cells, each with the weight that its noise allows."""
        weight = other.variance / (self.variance + other.variance)
        counts = weight * self.counts + (1 - weight) * other.counts
        return Measured(counts, weight * self.variance)


@dataclass(frozen=True, eq=False)
class Estimate:
    """For every cell its probability in its row, for every row how often its histories occur."""

    probabilities: FloatArray
    sizes: FloatArray
    own: BoolArray
    """Rows that mostly believe their own counts, not the row above."""

    def counts(self, tree: ContextTree) -> FloatArray:
        """How often each cell is expected to have been counted."""
        return self.probabilities * self.sizes[tree.row_of_cell]


def estimate(
    tree: ContextTree, measured: list[Measured], words: float, continuing: float, prior: FloatArray | None = None
) -> Estimate:
    """The probabilities of all cells.

    `words` is how many words there are (noisy, or public); `continuing` how many of the events that are no ends are
    followed by another event that is counted. `prior` has for each cell of depth 1 how often similar words have it.
    """
    level = [tree.cells_at(depth) for depth in range(1, tree.depth + 1)]
    counts, variances = _averaged_upwards(tree, measured)
    probabilities, sizes = np.zeros(tree.cell_count), np.zeros(tree.row_count)
    own, settled = np.zeros(tree.row_count, dtype=bool), np.zeros(tree.cell_count)
    for depth in range(1, tree.depth + 1):
        cells, rows = level[depth - 1], tree.rows_at(depth)
        row = tree.row_of_cell[cells] - rows.start
        count, variance = counts[cells], variances[cells]
        if depth == 1:
            expected = _shares(row, tree.symbols[cells], tree.grammar.symbols, count, variance, words)
            flow, flow_variance = _flow_of_pairs(tree, row, count, variance, words, continuing)
        else:
            above = tree.above[cells]
            count = _shared_out(above, count, variance, settled)
            expected = probabilities[above]
            flow, flow_variance = _flow_from_above(tree, rows, settled, variances, continuing)
        height = rows.stop - rows.start
        size = _sizes(row, height, count, variance, flow, flow_variance)
        if depth == 1 and prior is not None:
            count, variance = _ends_as_before(prior, tree.symbols[cells] == tree.grammar.symbols, count, variance)
            prior = _normalised(row, height, prior)
            expected = _believing(prior, row, count, variance, expected, size)
        if depth > 1:
            expected = corrected_by_class(tree, depth, count, variance, expected, size)
        shares, own[rows] = drawn_to_expected(row, height, count, variance, expected, size)
        if depth > 1:
            shares, size = _scaled_to_above(row, tree.parent[rows], tree.above[cells], shares, size, settled)
            shares = _normalised(row, height, np.maximum(shares, LEAST / 10 * expected))
        probabilities[cells], sizes[rows] = shares, size
        settled[cells] = shares * size[row]
    return Estimate(probabilities, sizes, own)


def _averaged_upwards(tree: ContextTree, measured: list[Measured]) -> tuple[FloatArray, FloatArray]:
    """Noisy counts and their variances, each averaged with the sum of what lies below."""
    counts = np.concatenate([one.counts for one in measured])
    variances = np.concatenate([np.full(len(one.counts), one.variance) for one in measured])
    for depth in range(tree.depth, 1, -1):
        below, above = tree.cells_at(depth), tree.cells_at(depth - 1)
        target = tree.above[below] - above.start
        sums = np.bincount(target, counts[below], above.stop - above.start)
        spread = np.bincount(target, variances[below], above.stop - above.start)
        opened = spread > 0
        weight = np.where(opened, spread / (spread + variances[above] + _TINY), 1.0)
        counts[above] = weight * counts[above] + (1 - weight) * sums
        variances[above] *= weight
    return counts, variances


def _shared_out(above: IntArray, count: FloatArray, variance: FloatArray, settled: FloatArray) -> FloatArray:
    """The counts of a depth, changed as little as their noise allows to sum to the settled ones above."""
    sums = np.bincount(above, count, len(settled))
    spread = np.bincount(above, variance, len(settled))
    shared: FloatArray = count + variance * ((settled - sums) / (spread + _TINY))[above]
    return shared


def _shares(
    row: IntArray, symbols: IntArray, end: int, count: FloatArray, variance: FloatArray, words: float
) -> FloatArray:
    """What every row of depth 1 expects: each symbol as often as it occurs anywhere, or all alike if that is noise."""
    totals, spread = (np.bincount(symbols, values, end + 1).astype(float) for values in (count, variance))
    # All but the end, the last one: how common it is has nothing to do with the others. A word has one end at most, and
    # one symbol at least.
    inner, size = totals[:-1], np.array([max(float(totals[:-1].sum()), words)])
    alike = np.full(len(inner), 1 / len(inner))
    kept = _kept(np.zeros(len(inner), dtype=np.int64), 1, inner, spread[:-1], alike, size)
    totals[:-1] = size[0] * alike + kept * (inner - size[0] * alike)
    totals[-1] = min(totals[-1], words)
    totals = np.maximum(totals, 1e-3 * max(totals.max(initial=0.0), 1.0) / len(totals))
    return _normalised(row, int(row[-1]) + 1, totals[symbols])


def _flow_of_pairs(
    tree: ContextTree, row: IntArray, count: FloatArray, variance: FloatArray, words: float, continuing: float
) -> tuple[FloatArray, FloatArray]:
    """How often each symbol is entered, as far as something follows; the beginning as often as there are words."""
    size = tree.grammar.symbols
    symbols = tree.symbols[: len(row)]
    entered = np.bincount(symbols, count, size + 1)[:size] * continuing
    spread = np.bincount(symbols, variance, size + 1)[:size] * continuing**2
    return np.append(entered, words), np.append(spread, max(words, 1.0))


def _flow_from_above(
    tree: ContextTree, rows: slice, settled: FloatArray, variances: FloatArray, continuing: float
) -> tuple[FloatArray, FloatArray]:
    """How often each history occurs, from the cell that leads to it; nothing is known of a rest."""
    flow = tree.flow[rows]
    known = flow != NONE
    cell = np.where(known, flow, 0)
    return (
        np.where(known, settled[cell] * continuing, 0.0),
        np.where(known, variances[cell] * continuing**2, np.inf),
    )


def _sizes(
    row: IntArray, height: int, count: FloatArray, variance: FloatArray, flow: FloatArray, flow_variance: FloatArray
) -> FloatArray:
    """How often the histories of each row occur: the average of what leads to it and of its own cells."""
    sums, spread = np.bincount(row, count, height), np.bincount(row, variance, height)
    doubt = flow_variance + (FLOW_ERROR * flow) ** 2
    with np.errstate(invalid="ignore"):
        weight = np.where(np.isfinite(doubt), spread / (spread + doubt + _TINY), 0.0)
    return np.maximum(weight * flow + (1 - weight) * sums, 0.0)


def _ends_as_before(
    prior: FloatArray, is_end: BoolArray, count: FloatArray, variance: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The counts and variances with those of ends drawn to the ends of the prior, by their strength in all rows."""
    total = float(count[is_end].sum())
    if total <= 0 or not prior[is_end].any():
        return count, variance
    seen = prior[is_end] / prior[is_end].sum()
    expected = ENDS * seen + (1 - ENDS) / len(seen)
    column, size = np.zeros(len(seen), dtype=np.int64), np.array([total])
    kept = _kept(column, 1, count[is_end], variance[is_end], expected, size)
    count, variance = count.copy(), variance.copy()
    count[is_end] = total * expected + kept * (count[is_end] - total * expected)
    variance[is_end] *= np.maximum(kept, 1e-3)
    return count, variance


def _believing(
    prior: FloatArray, row: IntArray, count: FloatArray, variance: FloatArray, expected: FloatArray, size: FloatArray
) -> FloatArray:
    """What is expected with a prior, which is believed as far as it makes the noisy counts likely."""
    mixed = [part * prior + (1 - part) * expected for part in PRIORS]
    return max(mixed, key=lambda one: _likelihood(_fits(row, len(size), count, variance, one, size)))


def _likelihood(fits: FloatArray) -> float:
    """How likely all noisy counts are (a logarithm), with the strengths as common as they make themselves."""
    best = fits.max(axis=1, keepdims=True)
    common = _common(fits).mean(axis=0)
    return float((np.log((np.exp(fits - best) * common).sum(axis=1)) + best[:, 0]).sum())


def _fits(
    row: IntArray, height: int, count: FloatArray, variance: FloatArray, expected: FloatArray, size: FloatArray
) -> FloatArray:
    """For each row how likely each of the strengths makes its counts (a logarithm)."""
    spread = expected * (1 - expected)
    difference = count - size[row] * expected
    noise = variance + size[row] * spread + 1e-12
    fits = np.empty((height, len(STRENGTHS)))
    for i, strength in enumerate(STRENGTHS):
        total = noise + size[row] ** 2 * spread / (strength + 1)
        fits[:, i] = np.bincount(row, -0.5 * (np.log(total) + difference**2 / total), height)
    return fits


def drawn_to_expected(
    row: IntArray, height: int, count: FloatArray, variance: FloatArray, expected: FloatArray, size: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """The probabilities of each row between its own counts and those expected, and whether it believes its own more."""
    mean = size[row] * expected
    kept = _kept(row, height, count, variance, expected, size)
    drawn = np.maximum(mean + kept * (count - mean), LEAST * mean)
    believed = np.bincount(row, kept * mean, height) > 0.5 * np.bincount(row, mean, height)
    empty = np.bincount(row, drawn, height) <= 0
    return _normalised(row, height, np.where(empty[row], expected, drawn)), believed & (size > 0)


def _kept(
    row: IntArray, height: int, count: FloatArray, variance: FloatArray, expected: FloatArray, size: FloatArray
) -> FloatArray:
    """Which part of its difference from what is expected each cell keeps; the rest is noise, as far as can be told."""
    spread = expected * (1 - expected)
    noise = variance + size[row] * spread + 1e-12
    weights = _common(_fits(row, height, count, variance, expected, size))
    kept = np.zeros(len(count))
    for i, strength in enumerate(STRENGTHS):
        own = size[row] ** 2 * spread / (strength + 1)
        kept += weights[row, i] * own / (own + noise)
    return kept


def _common(fits: FloatArray) -> FloatArray:
    """For each row how likely each strength is, where the rows themselves say how common each of them is."""
    likely = np.exp(fits - fits.max(axis=1, keepdims=True))
    common = np.full(fits.shape[1], 1 / fits.shape[1])
    for _ in range(_ROUNDS):
        weights = likely * common
        weights /= weights.sum(axis=1, keepdims=True)
        common = (weights.sum(axis=0) + 1 / fits.shape[1]) / (len(fits) + 1)  # as if there were one more row
    settled: FloatArray = weights
    return settled


def _scaled_to_above(
    row: IntArray, parent: IntArray, above: IntArray, shares: FloatArray, size: FloatArray, settled: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Rows scaled in turn to the settled counts above and to their sizes, and the sizes that come out."""
    first, height = int(above.min()), len(size)
    above, wanted = above - first, settled[first : int(above.max()) + 1]
    family = parent - int(parent.min())
    total = np.zeros(int(family.max()) + 1)
    together = np.zeros(len(wanted), dtype=np.int64)
    together[above] = family[row]
    np.add.at(total, together, wanted)
    size = size * (total / np.maximum(np.bincount(family, size, len(total)), _TINY))[family]
    cells = shares * size[row]
    for _ in range(_SCALINGS):
        cells = cells * (wanted / np.maximum(np.bincount(above, cells, len(wanted)), _TINY))[above]
        cells = cells * (size / np.maximum(np.bincount(row, cells, height), _TINY))[row]
    return np.where(size[row] > 0, cells / np.maximum(size, _TINY)[row], shares), size


def _normalised(row: IntArray, height: int, values: FloatArray) -> FloatArray:
    """Each row divided by its sum."""
    normalised: FloatArray = values / np.maximum(np.bincount(row, values, height), _TINY)[row]
    return normalised
