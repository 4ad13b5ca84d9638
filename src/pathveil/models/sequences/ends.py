"""From where to where: how often words begin with one symbol and end with another, and words that do so as often.

A model forgets the first symbol of a word long before the last one. So where trips matter, three tables of their own
are counted, with noise: first symbols, last symbols, and pairs of both. One word is in one cell of each. Pairs are so
many that hardly a cell rises above the noise. What they say together is enough to tell how far the two ends depend on
each other as in the model, and how far they are independent; only common pairs are believed by themselves. All of that
reads noisy numbers only.

The words of the model are then taken more or less often: a word from a to b of n symbols is as likely as the model
says, times `ends[a, b]` times the weight of n.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pathveil.errors import InvalidParameterError
from pathveil.models.frequencies import project_to_simplex
from pathveil.models.sequences.coded_words import CodedWords
from pathveil.models.sequences.kernel_arrays import KernelArrays
from pathveil.models.sequences.lengths import Corrections
from pathveil.numerics.arrays import FloatArray, IntArray

MOST_CELLS = 1 << 23
"""First symbols times last symbols times lengths, at most."""

_ROUNDS = 30
_LARGEST, _LARGEST_WEIGHT = 8.0, 4.0  # so that at least every 32nd word is taken
_LEAST = 0.02  # no pair falls below this part of what is expected of it
_USUAL = 0.25  # variance of how independent ends are, before any count


@dataclass(frozen=True, eq=False)
class EndCounts:
    """Noisy counts of first and last symbols and of pairs, and the variances of their noise."""

    firsts: FloatArray
    lasts: FloatArray
    pairs: FloatArray
    variance: float
    """Of firsts and lasts."""
    pair_variance: float


def require_room(symbols: int, max_length: int) -> None:
    """An error where there are too many pairs of ends: for public reasons."""
    if symbols**2 * max_length > MOST_CELLS:
        raise InvalidParameterError(
            f"`ends` needs a table of {symbols:,}² pairs of symbols for each of {max_length:,} lengths; there is room "
            f"for {MOST_CELLS:,} cells. Use coarser cells, or leave out `ends`"
        )


def end_codes(words: CodedWords) -> tuple[IntArray, IntArray]:
    """The first and the last symbol of each word."""
    return words.values[words.offsets[:-1]], words.values[words.offsets[1:] - 1]


def with_ends(
    arrays: KernelArrays, corrections: Corrections, lengths: FloatArray, counts: EndCounts, words: float
) -> Corrections:
    """Corrections that also make the ends of words as the counts say, as far as these can be believed."""
    made = words_by_ends(arrays, corrections.factors)
    wanted = _estimated((made * corrections.weights).sum(axis=2), counts, max(words, 1.0))
    ends, weights = np.ones(wanted.shape), corrections.weights.copy()
    for _ in range(_ROUNDS):
        reached = made @ weights * ends
        ends = np.minimum(ends * wanted / np.maximum(reached, 1e-300), _LARGEST)
        reached = np.einsum("abn,ab->n", made, ends) * weights
        weights = np.clip(weights * lengths / np.maximum(reached, 1e-300), 1 / _LARGEST_WEIGHT, _LARGEST_WEIGHT)
    total = float((made @ weights * ends).sum())
    return corrections._replace(weights=weights / total, ends=ends)


def words_by_ends(arrays: KernelArrays, factors: FloatArray) -> FloatArray:
    """[a, b, n - 1]: how likely the model makes words of n symbols from a to b, without weights."""
    tree, longest, symbols = arrays.tree, len(factors) - 1, arrays.tree.grammar.symbols
    made = np.zeros((symbols, symbols, longest))
    begin = arrays.row_after(np.zeros(0, dtype=np.int64))
    cells = slice(tree.cell_offsets[begin], tree.cell_offsets[begin] + arrays.inner[begin])
    for first, share in zip(tree.symbols[cells].tolist(), arrays.shares[cells].tolist(), strict=True):
        here = np.zeros(tree.row_count)
        here[arrays.row_after(np.array([first]))] = share
        for n in range(1, longest):
            stopping = here * arrays.stops(factors[n])
            made[first, :, n - 1] = np.bincount(tree.last, stopping, symbols + 1)[:symbols]
            here = arrays.go_on(here - stopping)
        made[first, :, -1] = np.bincount(tree.last, here, symbols + 1)[:symbols]
    return made


def _estimated(model: FloatArray, counts: EndCounts, words: float) -> FloatArray:
    """How likely each pair of ends is; `model` is what the model makes of it."""
    possible = model > 0
    firsts = _combined(model.sum(axis=1), counts.firsts / words, counts.variance / words**2)
    lasts = _combined(model.sum(axis=0), counts.lasts / words, counts.variance / words**2)
    dependent = _fitted(model, firsts, lasts)
    independent = _fitted(np.where(possible, np.outer(firsts, lasts), 0.0), firsts, lasts)
    apart = words * (independent - dependent)
    size = float((apart**2).sum())
    mean = words * dependent
    if size > 0:
        share = float(((counts.pairs - mean) * apart).sum()) / size
        trusted = _USUAL / (_USUAL + counts.pair_variance / size)
        mean = mean + min(max(share * trusted, 0.0), 1.0) * apart
    # Pairs differ from that by a share that is learned from all of them, and by chance.
    missing, noise = np.where(possible, counts.pairs - mean, 0.0), counts.pair_variance
    precision = (mean / (noise + mean)) ** 2
    spread = float((precision * (missing**2 - noise - mean)).sum()) / max(float((precision * mean**2).sum()), 1e-300)
    prior = max(spread, 0.0) * mean**2 + mean
    found = np.maximum(mean + missing * prior / (prior + noise), _LEAST * mean)
    shares: FloatArray = found / found.sum()
    return shares


def _combined(model: FloatArray, counted: FloatArray, noise: float) -> FloatArray:
    """What the model and the counts say together, the model being off by as much as it seems to be."""
    apart = counted - model
    off = max(float((apart**2).mean()) - noise, 0.0)
    joined = np.where(model > 0, model + apart * (off / max(off + noise, 1e-300)), 0.0)
    found = np.maximum(project_to_simplex(joined[None, :], (model > 0)[None, :])[0], _LEAST * model)
    total: FloatArray = found / found.sum()
    return total


def _fitted(pairs: FloatArray, firsts: FloatArray, lasts: FloatArray) -> FloatArray:
    """The pairs with these sums, in the proportions that they have."""
    for _ in range(_ROUNDS):
        pairs = pairs * (firsts / np.maximum(pairs.sum(axis=1), 1e-300))[:, None]
        pairs = pairs * (lasts / np.maximum(pairs.sum(axis=0), 1e-300))
    shares: FloatArray = pairs / pairs.sum()
    return shares
