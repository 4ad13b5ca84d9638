"""Small files of public systems: a town as osmnx writes it, and a GTFS feed."""

from __future__ import annotations

import csv
import random
from pathlib import Path
from typing import Any

import networkx as nx

STOPS = {
    "a": ("North", "N", 47.000, 8.000),
    "b": ("North", "N", 47.001, 8.000),  # 111 m from a
    "c": ("Mid", "", 47.010, 8.000),
    "d": ("South", "", 47.020, 8.000),
    "e": ("Far", "", 47.200, 8.000),
}
LINES = {"r1": ["a", "c", "d"], "r2": ["d", "c", "b"], "r3": ["e", "d"], "r4": ["e", "e"]}
TRANSFERS = "from_stop_id,to_stop_id,transfer_type\na,b,2\nb,a,\nc,d,3\nd,zzz,0\n"


def town() -> Any:
    """1 and 2 are joined both ways, twice from 1 to 2; 2 leads to 3 one way; 3 and 4 both ways, 4 being a dead end."""
    graph: Any = nx.MultiDiGraph(crs="epsg:4326")
    for node in (1, 2, 3, 4):
        graph.add_node(node, x=f"8.{node}", y=f"47.{node}", street_count="3")
    for i, (u, v) in enumerate([(1, 2), (1, 2), (2, 1), (2, 3), (3, 1), (3, 4), (4, 3)]):
        graph.add_edge(u, v, osmid=str(i), oneway=str(u == 2), geometry="LINESTRING (8 47, 9 48)", length="12.5")
    return graph


def written(graph: Any, folder: Path) -> Path:
    nx.write_graphml(graph, folder / "town.graphml")
    return folder / "town.graphml"


def write_feed(folder: Path, lines: dict[str, list[str]] = LINES, **changed: str | None) -> Path:
    """A feed with two trips on each line, the rows of its trips shuffled."""
    rows = [
        (f"{line}-{k}", "08:00:00", stop, 10 * i + 5)
        for line, stops in lines.items()
        for k in range(2)
        for i, stop in enumerate(stops)
    ]
    random.Random(1).shuffle(rows)
    tables = {
        "stop_times": [("trip_id", "arrival_time", "stop_id", "stop_sequence"), *rows],
        "trips": [("route_id", "trip_id"), *((line, f"{line}-{k}") for line in lines for k in range(2))],
        "stops": [
            ("stop_id", "stop_name", "parent_station", "stop_lat", "stop_lon"),
            *((stop, *facts) for stop, facts in STOPS.items()),
        ],
    }
    folder.mkdir()
    for name, table in tables.items():
        with open(folder / f"{name}.txt", "w", newline="", encoding="utf-8-sig") as file:
            csv.writer(file).writerows(table)
    (folder / "transfers.txt").write_text(TRANSFERS)
    for name, text in changed.items():
        if text is None:
            (folder / f"{name}.txt").unlink()
        else:
            (folder / f"{name}.txt").write_text(text)
    return folder
