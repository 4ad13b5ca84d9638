"""How much trips on a map have in common with those they were made from: the figures of papers on synthetic trips.

For the curator: all of them depend on the sensitive trips without noise. Divergences are Jensen–Shannon's in nats, from
0 (the same) to ln 2 = 0.69 (nothing in common).

    density        how often each cell is visited
    trips          from where to where (first and last cell of a word)
    lengths        metres from cell to cell, in 20 bins up to the longest sensitive trip
    diameters      metres between the two cells of a trip that are farthest apart, likewise
    range_queries  mean relative error of the number of trips that pass a rectangle: 200 fixed rectangles; numbers below
                   1% of the trips count as 1%
    hot_spots      part of the ten most visited cells that both have
    patterns       F1 of the 100 most frequent pieces of two to eight cells
    ranks          Kendall's τ of how often cells are visited: 1 for the same order

What a trip *is* there, PrivTrace and LDPTrace say with slightly other bins and rectangles: figures can be compared
within one table, and with theirs by order of magnitude.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pathveil.errors import InvalidParameterError
from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.places.cells import Cells

_BINS = 20
_RECTANGLES = 200
_SHARE = 0.01  # of all trips: what a range query with hardly any trips is compared with
_HOT = 10
_PATTERNS = 100
_LONGEST_PATTERN = 8


@dataclass(frozen=True)
class TripMetrics:
    """What released trips have in common with sensitive ones. For the curator only."""

    density: float
    trips: float
    lengths: float
    diameters: float
    range_queries: float
    hot_spots: float
    patterns: float
    ranks: float

    def as_dict(self) -> dict[str, float]:
        return asdict(self)

    def rows(self) -> list[tuple[str, float, str]]:
        """(what, figure, which way is better) for tables."""
        return [
            ("density of visits: divergence", self.density, "lower"),
            ("from where to where: divergence", self.trips, "lower"),
            ("lengths: divergence", self.lengths, "lower"),
            ("diameters: divergence", self.diameters, "lower"),
            ("trips through a rectangle: relative error", self.range_queries, "lower"),
            ("ten most visited cells in common", self.hot_spots, "higher"),
            ("frequent patterns: F1", self.patterns, "higher"),
            ("order of cells by visits: Kendall's τ", self.ranks, "higher"),
        ]

    def __str__(self) -> str:
        lines = (f"{what:<44}{figure:8.4f}  ({better} is better)" for what, figure, better in self.rows())
        return "\n".join(("For the curator only:", *lines))


def trip_metrics(sensitive: Iterable[Sequence[Any]], released: Iterable[Sequence[Any]], cells: Cells) -> TripMetrics:
    """Compare released (private or synthetic) trips with the sensitive ones; both are words of `cells`.

    The two need not have the same number of trips. Nothing of the result may be released.

    >>> import pathveil as pv
    >>> cells = pv.places.Grid(bounds=(53.10, 8.15, 53.18, 8.28), cell=2000.0)
    >>> trips = [("r1c1", "r2c2", "r3c3"), ("r5c5", "r4c4")]
    >>> pv.trip_metrics(trips, trips, cells).trips
    0.0
    """
    ours, theirs = _Crowd(sensitive, cells, "sensitive"), _Crowd(released, cells, "released")
    longest, widest = float(ours.lengths.max()), float(ours.diameters.max())
    return TripMetrics(
        density=divergence(ours.visits, theirs.visits),
        trips=divergence(*_aligned(ours.ends, theirs.ends)),
        lengths=divergence(_binned(ours.lengths, longest), _binned(theirs.lengths, longest)),
        diameters=divergence(_binned(ours.diameters, widest), _binned(theirs.diameters, widest)),
        range_queries=_range_error(ours, theirs, cells),
        hot_spots=len(_most(ours.visits) & _most(theirs.visits)) / len(_most(ours.visits)),
        patterns=_f1(ours.patterns(), theirs.patterns()),
        ranks=_rank_correlation(ours.visits, theirs.visits),
    )


def divergence(p: FloatArray, q: FloatArray) -> float:
    """Jensen and Shannon's, in nats, of two vectors of counts."""
    p, q = p / p.sum(), q / q.sum()
    middle = (p + q) / 2
    total = 0.0
    for one in (p, q):
        some = one > 0
        total += float((one[some] * np.log(one[some] / middle[some])).sum()) / 2
    return max(total, 0.0)


class _Crowd:
    """Trips as codes of cells, and what is counted of them."""

    def __init__(self, words: Iterable[Sequence[Any]], cells: Cells, name: str) -> None:
        counted = Counter(tuple(word) for word in words)
        if not counted:
            raise InvalidParameterError(f"there is no {name} trip to compare")
        code = {symbol: i for i, symbol in enumerate(cells.symbols)}
        strangers = {symbol for word in counted for symbol in word} - code.keys()
        if strangers or () in counted:
            what = f"{min(map(str, strangers))!r} is not one of the cells" if strangers else "a trip is empty"
            raise InvalidParameterError(f"{name} trips: {what}")
        self._words: dict[tuple[Hashable, ...], int] = dict(counted)
        self.times: FloatArray = np.array(list(counted.values()), dtype=float)
        self.codes: list[IntArray] = [np.array([code[symbol] for symbol in word], dtype=np.int64) for word in counted]
        size, place = len(cells.symbols), cells.places_in_metres
        self.visits: FloatArray = np.zeros(size)
        for word, times in zip(self.codes, self.times.tolist(), strict=True):
            np.add.at(self.visits, word, times)
        self.ends = _counts((int(word[0]) * size + int(word[-1]) for word in self.codes), self.times)
        steps = [np.hypot(*np.diff(place[word], axis=0).T).sum() for word in self.codes]
        self.lengths = np.repeat(np.array(steps), self.times.astype(int))
        self.diameters = np.repeat(np.array([_diameter(place[word]) for word in self.codes]), self.times.astype(int))

    def patterns(self) -> set[tuple[Hashable, ...]]:
        """The most frequent pieces of words; of equally frequent ones the first in the order of their names."""
        counts: Counter[tuple[Hashable, ...]] = Counter()
        for word, times in self._words.items():
            for size in range(2, _LONGEST_PATTERN + 1):
                for begin in range(len(word) - size + 1):
                    counts[word[begin : begin + size]] += times
        ordered = sorted(counts, key=lambda piece: (-counts[piece], tuple(map(str, piece))))
        return set(ordered[:_PATTERNS])

    def passing(self, inside: list[IntArray], size: int) -> FloatArray:
        """The part of the trips that passes each region, a set of codes."""
        member = np.zeros((len(inside), size), dtype=bool)
        for row, codes in zip(member, inside, strict=True):
            row[codes] = True
        hits = np.zeros(len(inside))
        for word, times in zip(self.codes, self.times.tolist(), strict=True):
            hits += times * member[:, word].any(axis=1)
        passed: FloatArray = hits / self.times.sum()
        return passed


def _diameter(places: FloatArray) -> float:
    distinct = np.unique(places, axis=0)
    return float(max(np.hypot(*(distinct - one).T).max() for one in distinct))


def _counts(keys: Iterable[int], times: FloatArray) -> dict[int, float]:
    counted: dict[int, float] = {}
    for key, number in zip(keys, times.tolist(), strict=True):
        counted[key] = counted.get(key, 0.0) + number
    return counted


def _aligned(p: Mapping[int, float], q: Mapping[int, float]) -> tuple[FloatArray, FloatArray]:
    keys = sorted(p.keys() | q.keys())
    return np.array([p.get(key, 0.0) for key in keys]), np.array([q.get(key, 0.0) for key in keys])


def _binned(values: FloatArray, largest: float) -> FloatArray:
    """How many values lie in each of the bins; the last one takes what is larger."""
    bins = np.minimum(values / max(largest, 1e-9) * _BINS, _BINS - 1).astype(np.int64)
    return np.bincount(bins, minlength=_BINS).astype(float)


def _range_error(ours: _Crowd, theirs: _Crowd, cells: Cells) -> float:
    place = cells.places_in_metres
    # Beyond the outermost centres, or no rectangle would hold them. The rectangles are the same in every comparison.
    low, high = place.min(axis=0) - cells.spacing, place.max(axis=0) + cells.spacing
    corners = np.random.default_rng(20).uniform(size=(_RECTANGLES, 2, 2)) * (high - low) + low
    inside = [np.flatnonzero(((place >= box.min(axis=0)) & (place <= box.max(axis=0))).all(axis=1)) for box in corners]
    truth, answer = (crowd.passing(inside, len(cells.symbols)) for crowd in (ours, theirs))
    return float(np.mean(np.abs(truth - answer) / np.maximum(truth, _SHARE)))


def _most(visits: FloatArray) -> set[int]:
    order = np.lexsort((np.arange(len(visits)), -visits))[:_HOT]
    return set(order[visits[order] > 0].tolist())


def _f1(ours: set[Any], theirs: set[Any]) -> float:
    return 2 * len(ours & theirs) / (len(ours) + len(theirs)) if ours or theirs else 1.0


def _rank_correlation(ours: FloatArray, theirs: FloatArray) -> float:
    from scipy import stats  # takes longer to load than everything else

    found = float(stats.kendalltau(ours, theirs).statistic)
    return found if np.isfinite(found) else float(np.array_equal(ours, theirs))
