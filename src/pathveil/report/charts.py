"""What a chart shows, apart from how it is drawn.

A page hands these to its script as JSON; `plots.py` draws the same ones with matplotlib. So a picture from the command
line and the chart on a page cannot differ in what they say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any, Literal

Scale = Literal["linear", "log"]


@dataclass(frozen=True)
class Series:
    """A row of numbers with a name; None where there is none. `style` is a place in the common palette."""

    name: str
    values: Sequence[float | None]
    style: int = 0


@dataclass(frozen=True)
class Lines:
    """Curves over a common x. `mark` is an x to point at."""

    title: str
    x: Sequence[float]
    series: Sequence[Series]
    xlabel: str
    ylabel: str
    xscale: Scale = "linear"
    yscale: Scale = "linear"
    mark: float | None = None


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
    """A square of numbers from 0 to 1 by row and column, dark where they are large."""

    title: str
    names: Sequence[str]
    values: Sequence[Sequence[float]]
    xlabel: str
    ylabel: str


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


def to_json(chart: Chart) -> dict[str, Any]:
    """The chart for the script of a page."""
    return {"kind": type(chart).__name__.lower(), **_rounded(asdict(chart))}


def _rounded(value: Any) -> Any:
    """Numbers with six digits: more than anybody sees, and half as long. What is no number becomes null."""
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.6g}") if isfinite(value) else None
    return value
