"""Street networks in GraphML, as osmnx writes them (`ox.save_graphml`).

    symbols     one follows another if
    segments    a street from junction u to junction v ("u->v") is followed by those that leave v
    junctions   a street leads from one junction to the other

osmnx has a street that can be used both ways as two edges. Of several streets between the same junctions the second is
called "u->v#1", and so on. Whether one may turn round at a junction is for `u_turns` to say: never, only where there is
no other way to go on, or always.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args
from xml.etree import ElementTree

import numpy as np
from scipy import sparse

from pathveil.data.public.checked_xml import check_xml
from pathveil.data.public.saved_system import SavedSystem
from pathveil.errors import InvalidParameterError, InvalidSystemError
from pathveil.systems.markov_chain import MarkovChain

StreetSymbols = Literal["segments", "junctions"]
UTurns = Literal["never", "dead-ends", "always"]

_PLACES = (("x", "y"), ("lon", "lat"))  # osmnx; others
_TRUE = ("true", "1", "yes")

Place = tuple[float, float]


@dataclass
class _Network:
    """Junctions in the order of the file, where they lie, and the streets between them as they are driven."""

    junctions: dict[str, Place | None] = field(default_factory=dict)
    streets: list[tuple[str, str]] = field(default_factory=list)


def read_graphml(
    path: str | Path,
    symbols: StreetSymbols = "segments",
    *,
    u_turns: UTurns = "dead-ends",
    need_coordinates: bool = False,
) -> SavedSystem:
    """A system of streets or junctions. With `need_coordinates`, an error unless all of them have coordinates."""
    for name, value, known in (("symbols", symbols, StreetSymbols), ("u_turns", u_turns, UTurns)):
        if value not in get_args(known):
            raise InvalidParameterError(f"{name} is one of {', '.join(get_args(known))}, not {value!r}")
    check_xml(path, "graphml")
    network = _network(path)
    for junction, place in network.junctions.items():
        if need_coordinates and place is None:
            raise InvalidSystemError(
                f"{path}: the node {junction!r} has no coordinates (x and y, as osmnx writes them, or lon and lat). "
                "Save the network again with ox.save_graphml, or do without coordinates."
            )
    places = {junction: place for junction, place in network.junctions.items() if place is not None}
    source = f"street network {Path(path).name}: {symbols}"
    if symbols == "junctions":
        number = {junction: i for i, junction in enumerate(network.junctions)}
        ends = [(number[u], number[v]) for u, v in network.streets]
        return SavedSystem(_chain(list(number), ends), source, places or None)
    streets = _named_streets(path, network.streets)
    chain = _chain(list(streets), _turns(network.streets, u_turns))
    middles = {name: _middle(places[u], places[v]) for name, (u, v) in streets.items() if u in places and v in places}
    # Where all segments are known to lie, points can be snapped to them.
    lines = [[*places[u], *places[v]] for u, v in streets.values()] if len(middles) == len(streets) else None
    more = {} if lines is None else {"lines": lines}
    return SavedSystem(chain, f"{source}, turning round: {u_turns}", middles or None, more)


def _network(path: str | Path) -> _Network:
    network, keys, values = _Network(), dict[str, str](), dict[str, str]()
    by_default = "directed"
    for event, element in ElementTree.iterparse(path, ("start", "end")):
        kind = element.tag.rpartition("}")[2]
        if event == "start":
            if kind == "graph":
                by_default = element.get("edgedefault", by_default)
            continue
        if kind == "key":
            keys[element.get("id", "")] = element.get("attr.name", "")
        elif kind == "data":
            values[keys.get(element.get("key", ""), "")] = (element.text or "").strip()
        elif kind in ("node", "edge"):
            if kind == "node":
                network.junctions[_attribute(path, element, "id")] = _place(values)
            else:
                u, v = _attribute(path, element, "source"), _attribute(path, element, "target")
                network.streets.append((u, v))
                if element.get("directed", str(by_default == "directed")).lower() != "true":
                    _refuse_one_way(path, u, v, values)
                    network.streets += [(v, u)] if u != v else []
            values.clear()
        element.clear()
    if not network.streets:
        raise InvalidSystemError(f"{path}: the graph has no edges, so no street leads anywhere")
    for ends in network.streets:
        for end in ends:
            if end not in network.junctions:
                raise InvalidSystemError(f"{path}: an edge leads from or to {end!r}, but there is no such node")
    return network


def _attribute(path: str | Path, element: ElementTree.Element, name: str) -> str:
    value = element.get(name)
    if not value:
        kind = element.tag.rpartition("}")[2]
        raise InvalidSystemError(
            f"{path}: an element <{kind} {dict(element.attrib)}> has no {name!r}. Save the graph again."
        )
    return value


def _refuse_one_way(path: str | Path, u: str, v: str, values: Mapping[str, str]) -> None:
    if values.get("oneway", "").lower() in _TRUE:
        raise InvalidSystemError(
            f"{path}: the street between {u!r} and {v!r} is one-way, but the graph has no directions. Save the "
            "directed graph (osmnx makes one; ox.convert.to_undirected loses the directions)."
        )


def _named_streets(path: str | Path, streets: Sequence[tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """The two ends of each street under the name of the street."""
    seen: Counter[tuple[str, str]] = Counter()
    named: dict[str, tuple[str, str]] = {}
    for u, v in streets:
        again = seen[u, v]
        seen[u, v] += 1
        name = f"{u}->{v}#{again}" if again else f"{u}->{v}"
        if name in named:
            raise InvalidSystemError(
                f"{path}: two streets would be called {name!r}. Rename nodes that have -> or # in them."
            )
        named[name] = (u, v)
    return named


def _turns(streets: Sequence[tuple[str, str]], u_turns: UTurns) -> list[tuple[int, int]]:
    """Which street (by number) may follow which."""
    leaving: dict[str, list[int]] = {}
    for i, (u, _) in enumerate(streets):
        leaving.setdefault(u, []).append(i)
    turns: list[tuple[int, int]] = []
    for i, (u, v) in enumerate(streets):
        onward = leaving.get(v, [])
        # Back to where one came from; a street that begins and ends at one junction can be followed by itself.
        ahead = onward if u_turns == "always" or u == v else [j for j in onward if streets[j][1] != u]
        if u_turns == "dead-ends" and not ahead:
            ahead = onward
        turns += [(i, j) for j in ahead]
    return turns


def _chain(names: Sequence[str], ends: Sequence[tuple[int, int]]) -> MarkovChain:
    rows, columns = np.array(sorted(set(ends)), dtype=np.int64).reshape(-1, 2).T
    weights = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(names), len(names)))
    return MarkovChain.from_counts(names, weights)


def _place(attributes: Mapping[str, str]) -> Place | None:
    for names in _PLACES:
        try:
            x, y = (float(attributes[name]) for name in names)
        except (KeyError, ValueError):
            continue
        if math.isfinite(x) and math.isfinite(y):
            return x, y
    return None


def _middle(one: Place, other: Place) -> Place:
    return (one[0] + other[0]) / 2, (one[1] + other[1]) / 2
