"""What a chart shows, apart from how it is drawn.

`drawing/` makes markup of them for pages; `axes.py` draws the same ones with matplotlib. So a picture from the command
line and the chart on a page cannot differ in what they say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

Scale = Literal["linear", "log"]

_TAIL = 0.001


@dataclass(frozen=True)
class Series:
    """A row of numbers with a name; None where there is none. `style` is a place in the common palette."""

    name: str
    values: Sequence[float | None]
    style: int = 0


@dataclass(frozen=True)
class Lines:
    """Curves over a common x. `marks` are places on it to point at, each with a class of its line on a page."""

    title: str
    x: Sequence[float]
    series: Sequence[Series]
    xlabel: str
    ylabel: str
    xscale: Scale = "linear"
    yscale: Scale = "linear"
    marks: Sequence[tuple[float, str]] = ()


@dataclass(frozen=True)
class Bars:
    """Groups of bars, one bar of each series for each label. `flat` lays them on their side, for long labels."""

    title: str
    labels: Sequence[str]
    series: Sequence[Series]
    xlabel: str
    ylabel: str
    flat: bool = False


@dataclass(frozen=True)
class Heat:
    """A square of numbers from 0 to 1 by row and column, dark where they are large.

    `darkest` is the number that gets the darkest shade; the largest one, unless several squares are compared.
    """

    title: str
    names: Sequence[str]
    values: Sequence[Sequence[float]]
    xlabel: str
    ylabel: str
    darkest: float | None = None

    @property
    def top(self) -> float:
        """The number with the darkest shade."""
        return self.darkest or max((value for row in self.values for value in row), default=0.0) or 1.0


@dataclass(frozen=True)
class Path:
    """A word on its way through a network: the numbers of the nodes that it visits."""

    name: str
    nodes: Sequence[int]
    style: int


@dataclass(frozen=True)
class Network:
    """Nodes on the plane, the edges between them, and words that run along them."""

    title: str
    names: Sequence[str]
    x: Sequence[float]
    y: Sequence[float]
    edges: Sequence[tuple[int, int]]
    paths: Sequence[Path] = ()


Chart = Lines | Bars | Heat | Network


def coinciding_merged(series: Sequence[Series], tolerance: float = 0.002) -> list[Series]:
    """Curves that nobody could tell apart (relative differences up to `tolerance`) become one with all their names."""
    kept: list[Series] = []
    for one in series:
        twin = next((i for i, other in enumerate(kept) if _coincide(one, other, tolerance)), None)
        if twin is None:
            kept.append(one)
        else:
            first = kept[twin]
            kept[twin] = Series(f"{first.name} = {one.name}", first.values, first.style)
    return kept


def _coincide(one: Series, other: Series, tolerance: float) -> bool:
    return len(one.values) == len(other.values) and all(
        a is b or (a is not None and b is not None and abs(a - b) <= tolerance * max(abs(a), abs(b)))
        for a, b in zip(one.values, other.values, strict=True)
    )


def counted_bars(laws: Sequence[Sequence[float]], most: int = 41) -> tuple[list[str], list[list[float]]]:
    """Bars for laws of a number that may be 0, 1, 2 and so on: labels, and the heights for each law.

    Where that would be more than `most` bars, what is rarer than one in a thousand at either end is left out, and
    several numbers share a bar.
    """
    longest = max(len(law) for law in laws)
    padded = [[*law, *[0.0] * (longest - len(law))] for law in laws]
    if longest <= most:
        return [str(i) for i in range(longest)], padded
    sums = [list(accumulate(law)) for law in padded]
    low = min(next(i for i, p in enumerate(sum_) if p > _TAIL) for sum_ in sums)
    high = max(next((i for i, p in enumerate(sum_) if p >= 1 - _TAIL), longest - 1) for sum_ in sums)
    step = -(-(high - low + 1) // most)
    starts = range(low, high + 1, step)
    labels = [str(start) if step == 1 else f"{start}–{start + step - 1}" for start in starts]
    return labels, [[sum(law[start : start + step]) for start in starts] for law in padded]
