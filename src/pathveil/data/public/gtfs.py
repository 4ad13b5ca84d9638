"""GTFS, timetables of public transport: which stop follows which on some trip.

    symbols      one follows another if
    stops        some trip goes from one stop to the other without a stop between
    stations     the same, where stops of one station (`parent_station`) are one symbol
    names        the same, where stops with one name are one symbol
    routes       both call at one stop, so that a rider can change from one to the other

A rider may also change on foot. Who counts on that says by which public rule: `transfers` adds the pairs in the feed's
own transfers.txt, `walk` those stops that lie within so many metres of each other, as the crow flies.

Feeds have millions of rows: DuckDB reads them, and what it needs from a zip archive is unpacked into a private folder.
"""

from __future__ import annotations

import contextlib
import shutil
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from pathveil.data.database import Column, Database, csv_header
from pathveil.data.public.saved_system import SavedSystem
from pathveil.data.sources import DataFile
from pathveil.data.workspace import private_workspace
from pathveil.errors import FileItselfError, InvalidParameterError, InvalidSystemError
from pathveil.systems.markov_chain import MarkovChain

GtfsSymbols = Literal["stops", "stations", "names", "routes"]

_FILES = ("stop_times.txt", "trips.txt", "stops.txt", "transfers.txt")
_MOST_BYTES = 1 << 35  # 32 GiB unpacked: ten times the largest feed we know of
_LARGEST_RATIO = 200  # of unpacked to packed size; tables of times reach 20
_SMALL = 1 << 26  # bytes: nobody is hurt by these, whatever the ratio
_EARTH = 6_371_000.0  # metres

Pair = tuple[str, str]


def read_gtfs(
    path: str | Path,
    symbols: GtfsSymbols = "stops",
    *,
    transfers: bool = False,
    walk: float | None = None,
) -> SavedSystem:
    """A system of stops, stations, names of stops or routes, from a GTFS feed in a folder or a zip archive."""
    if symbols not in get_args(GtfsSymbols):
        raise InvalidParameterError(f"symbols is one of {', '.join(get_args(GtfsSymbols))}, not {symbols!r}")
    if walk is not None and not 0 < walk < float("inf"):
        raise InvalidParameterError(f"walk is a number of metres above 0, not {walk}")
    if symbols == "routes" and (transfers or walk is not None):
        raise InvalidParameterError("changes on foot are between stops: they do not go with routes as symbols")
    with private_workspace() as workspace, _unpacked(Path(path), workspace) as folder:
        database = Database(workspace)
        try:
            return _Feed(str(path), folder, database).system(symbols, transfers, walk)
        finally:
            database.close()


@dataclass(frozen=True)
class _Feed:
    """The tables of a feed. `name` is what the user calls it."""

    name: str
    folder: Path
    database: Database

    def system(self, symbols: GtfsSymbols, transfers: bool, walk: float | None) -> SavedSystem:
        self._check_stop_times()
        if symbols == "routes":
            chain = MarkovChain.from_edges(self._routes_with_a_stop_in_common())
            return SavedSystem(chain, f"{self._feed}: routes, one after another if both call at one stop")
        edges = set(self._consecutive_stops())
        if not edges:
            raise InvalidSystemError(f"{self.name}: stop_times.txt has no trip with two stops in it")
        stops = {stop for edge in edges for stop in edge}
        places = self._places(stops)
        rule = "one after another on some trip"
        if transfers:
            edges |= {(a, b) for a, b in self._listed_transfers() if a in stops and b in stops}
            rule += ", or on a change that transfers.txt lists"
        if walk is not None:
            edges |= set(self._within(walk, places))
            rule += f", or within {walk:g} m of each other"
        called = self._called(symbols, stops)
        chain = MarkovChain.from_edges((called[a], called[b]) for a, b in sorted(edges))
        middles = _middles((called[stop], place) for stop, place in places.items())
        return SavedSystem(chain, f"{self._feed}: {symbols}, {rule}", middles or None)

    @property
    def _feed(self) -> str:
        return f"GTFS feed {Path(self.name).name}"

    def _table(self, file: str, *columns: str) -> str:
        """SQL that reads columns of a file, all of them text, an error if the file is missing."""
        path = self.folder / file
        if not path.is_file():
            raise FileItselfError(
                f"{self.name}: the feed has no {file}, which says {_WHAT_FOR[file]}. Get the whole feed, or make a CSV "
                "file of the connections and give that as edges."
            )
        data_file = DataFile(path, f"{self.name}, {file}", "csv", None)
        return self.database.scan(data_file, {column: Column(column, "text") for column in columns})

    def _check_stop_times(self) -> None:
        """An error that names the trip, where rows do not say which stop it is or where on the trip."""
        table = self._table("stop_times.txt", "trip_id", "stop_id", "stop_sequence")
        wrong = self.database.rows(
            f"SELECT * FROM ({table}) WHERE trip_id IS NULL OR coalesce(stop_id, '') = '' OR "
            "try_cast(stop_sequence AS UBIGINT) IS NULL LIMIT 1"
        )
        for trip, stop, sequence in wrong:
            raise InvalidSystemError(
                f"{self.name}, stop_times.txt: a row of the trip {trip!r} has the stop {stop!r} and the sequence "
                f"number {sequence!r}. Each row needs a trip_id, a stop_id and a whole number as stop_sequence. Repair "
                "the feed."
            )

    def _consecutive_stops(self) -> list[Pair]:
        table = self._table("stop_times.txt", "trip_id", "stop_id", "stop_sequence")
        rows = self.database.rows(
            "SELECT stop, following, min(CASE WHEN place = next_place THEN trip_id END) FROM (SELECT trip_id, stop_id "
            "AS stop, place, lead(stop_id) OVER trip AS following, lead(place) OVER trip AS next_place FROM (SELECT "
            f"trip_id, stop_id, stop_sequence::UBIGINT AS place FROM ({table})) WINDOW trip AS (PARTITION BY trip_id "
            "ORDER BY place)) WHERE following IS NOT NULL GROUP BY stop, following"
        )
        for stop, following, trip in rows:
            if trip is not None:
                raise InvalidSystemError(
                    f"{self.name}, stop_times.txt: the stops {stop!r} and {following!r} have the same stop_sequence on "
                    f"the trip {trip!r}, so their order is unknown. Repair the feed."
                )
        return [(stop, following) for stop, following, _ in rows]

    def _routes_with_a_stop_in_common(self) -> list[Pair]:
        times = self._table("stop_times.txt", "trip_id", "stop_id")
        trips = self._table("trips.txt", "trip_id", "route_id")
        for (trip,) in self.database.rows(f"SELECT trip_id FROM ({times}) ANTI JOIN ({trips}) USING (trip_id) LIMIT 1"):
            raise InvalidSystemError(f"{self.name}: trips.txt has no row for the trip {trip!r} of stop_times.txt")
        calls = f"SELECT DISTINCT route_id, stop_id FROM ({times}) JOIN ({trips}) USING (trip_id)"
        rows = self.database.rows(
            f"WITH calls AS ({calls}) SELECT DISTINCT one.route_id, other.route_id FROM calls one JOIN calls other "
            "USING (stop_id)"
        )
        return [(one, other) for one, other in rows]

    def _called(self, symbols: GtfsSymbols, stops: set[str]) -> dict[str, str]:
        """The symbol of each stop."""
        if symbols == "stops":
            return {stop: stop for stop in stops}
        column = {"stations": "parent_station", "names": "stop_name"}[symbols]
        found = dict(self.database.rows(self._table("stops.txt", "stop_id", column)))
        for stop in sorted(stops):
            if stop not in found:
                raise InvalidSystemError(
                    f"{self.name}: stops.txt has no row for the stop {stop!r} of stop_times.txt. Repair the feed, or "
                    "take stops as symbols."
                )
            if symbols == "names" and not found[stop]:
                raise InvalidSystemError(
                    f"{self.name}, stops.txt: the stop {stop!r} has no stop_name. Take stops as symbols."
                )
        return {stop: found[stop] or stop for stop in stops}  # a stop without a station is one by itself

    def _places(self, stops: set[str]) -> dict[str, tuple[float, float]]:
        """Longitude and latitude of each stop that has them; none where the feed has no stops.txt."""
        if not (self.folder / "stops.txt").is_file():
            return {}
        _, header = csv_header(DataFile(self.folder / "stops.txt", f"{self.name}, stops.txt", "csv", None), ["stop_id"])
        if not {"stop_lon", "stop_lat"} <= set(header):
            return {}
        table = self._table("stops.txt", "stop_id", "stop_lon", "stop_lat")
        rows = self.database.rows(
            f"SELECT stop_id, try_cast(stop_lon AS DOUBLE), try_cast(stop_lat AS DOUBLE) FROM ({table})"
        )
        return {
            stop: (x, y)
            for stop, x, y in rows
            if stop in stops and x is not None and y is not None and abs(x) <= 180 and abs(y) <= 90
        }

    def _listed_transfers(self) -> list[Pair]:
        table = self._table("transfers.txt", "from_stop_id", "to_stop_id", "transfer_type")
        # 3: no change is possible there. 4 and 5 are about vehicles that go on as another trip.
        rows = self.database.rows(
            f"SELECT DISTINCT from_stop_id, to_stop_id FROM ({table}) WHERE coalesce(transfer_type, '') IN "
            "('', '0', '1', '2') AND from_stop_id <> to_stop_id"
        )
        return [(one, other) for one, other in rows]

    def _within(self, metres: float, places: dict[str, tuple[float, float]]) -> Iterator[Pair]:
        if not places:
            raise InvalidSystemError(
                f"{self.name}: stops within {metres:g} m of each other cannot be found without coordinates (stop_lon "
                "and stop_lat in stops.txt). Leave the walk out."
            )
        from scipy.spatial import KDTree

        stops = sorted(places)
        longitude, latitude = np.radians([places[stop] for stop in stops]).T
        points = np.stack(
            [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)], axis=1
        )
        chord = 2 * np.sin(min(metres / _EARTH, np.pi) / 2)  # of the circle whose arc has this length
        for one, other in KDTree(points).query_pairs(chord):
            yield stops[one], stops[other]
            yield stops[other], stops[one]


_WHAT_FOR = {
    "stop_times.txt": "where each trip stops",
    "trips.txt": "which route each trip is on",
    "stops.txt": "what stops are called and where they are",
    "transfers.txt": "where riders can change",
}


def _middles(placed: Iterable[tuple[str, tuple[float, float]]]) -> dict[str, tuple[float, float]]:
    """Where a symbol lies that stands for several stops: in the middle of them."""
    found: dict[str, list[tuple[float, float]]] = {}
    for symbol, place in placed:
        found.setdefault(symbol, []).append(place)
    return {
        symbol: (sum(x for x, _ in places) / len(places), sum(y for _, y in places) / len(places))
        for symbol, places in found.items()
    }


@contextlib.contextmanager
def _unpacked(path: Path, workspace: Path) -> Iterator[Path]:
    """The folder with the feed's tables: the one that was given, or what an archive has of them."""
    if path.is_dir():
        yield path
        return
    folder = workspace / "feed"
    folder.mkdir()
    try:
        with zipfile.ZipFile(path) as archive:
            _require_sane(path, archive)
            names = {entry.filename for entry in archive.infolist()}
            for name in _FILES:  # never a name that the archive chooses
                if name in names:
                    with archive.open(name) as packed, open(folder / name, "wb") as unpacked:
                        shutil.copyfileobj(packed, unpacked, 1 << 20)
    except OSError as problem:
        raise FileItselfError(f"{path}: cannot be read ({problem.strerror or problem})") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as problem:  # damaged, or with a password
        raise FileItselfError(
            f"{path}: a GTFS feed is a folder or a zip archive, and this cannot be unpacked ({problem})"
        ) from None
    yield folder


def _require_sane(path: Path, archive: zipfile.ZipFile) -> None:
    """An error if the archive would fill the disk, or has its tables in some folder."""
    entries = [entry for entry in archive.infolist() if entry.filename in _FILES]
    for entry in entries:  # zipfile stops at the size that is declared
        if entry.file_size > max(_SMALL, _LARGEST_RATIO * entry.compress_size) or entry.file_size > _MOST_BYTES:
            raise FileItselfError(
                f"{path}: {entry.filename} would have {entry.file_size:,} bytes, unpacked from "
                f"{entry.compress_size:,}. If you trust it, unpack it and give the folder."
            )
    deeper = [entry.filename for entry in archive.infolist() if Path(entry.filename).name == "stop_times.txt"]
    if deeper and "stop_times.txt" not in deeper:
        raise FileItselfError(
            f"{path}: stop_times.txt lies in a folder of the archive ({deeper[0]}); a feed has it at the top. Unpack "
            "the archive and give that folder."
        )
