"""Steps of a decision process in a file, one a row: from state, action and next state to exact counts.

The counts are sensitive. They are for `fit_private_mdp`, not for release.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from pathveil.data.database import Column, Database
from pathveil.data.formats import Extra, column_type, users_of
from pathveil.data.reading.checking import SKIP_BAD_ROWS, OnBadRow, Skipped
from pathveil.data.reading.opening import opened
from pathveil.data.sources import DataFile, Format, Source, Watch, without_header
from pathveil.data.symbols import SymbolTable
from pathveil.errors import DataFileError, FileItselfError, InvalidParameterError
from pathveil.models.control import StepCounts, count_steps
from pathveil.numerics.arrays import BoolArray, FloatArray, IntArray
from pathveil.randomness.source import RandomSource
from pathveil.systems.alphabet import Alphabet
from pathveil.systems.system import Symbol
from pathveil.words.base import Progress


@dataclass(frozen=True)
class StepColumns:
    """One step a row: the columns of its state, its action and the next state, and where they are used those of the
    reward and of whose step it is (an episode or a person). Rows of one episode stand in their order."""

    origin: str
    action: str
    destination: str
    reward: str | None = None
    owner: str | None = None
    header: bool = True

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are used."""
        named = (self.origin, self.action, self.destination, self.reward, self.owner)
        return tuple(name for name in named if name is not None)


@dataclass(frozen=True)
class CuratorSteps:
    """Exact counts, and what was left out. Not for release."""

    steps: StepCounts
    rows_skipped: int
    skipped_examples: tuple[str, ...]
    words_tied: int = 0

    @property
    def words_over_limit(self) -> int:
        """How many steps were left out because their episode or person has more than are used."""
        return self.steps.steps_left_out

    @property
    def largest_words_per_user(self) -> int | None:
        return None


@dataclass
class _Batch:
    """Codes of one batch of rows, and the rows that cannot be used."""

    codes: list[IntArray]
    rewards: FloatArray | None
    owners: pa.Array | None
    problems: dict[int, str]


def read_steps(
    source: Source,
    layout: StepColumns,
    states: Iterable[Symbol],
    actions: Iterable[Symbol],
    *,
    rewards: tuple[float, float] | None = None,
    max_steps: int | None = None,
    owner_is_user: bool = False,
    on_bad_row: OnBadRow = "fail",
    format: Format | None = None,
    progress: Progress | None = None,
    rng: RandomSource | None = None,
) -> CuratorSteps:
    """Count the steps of files over public states and actions; see `count_steps`."""
    if (rewards is None) != (layout.reward is None):
        raise InvalidParameterError("a column of rewards and their public range belong together: give both or none")
    known, deeds = Alphabet(states), Alphabet(actions)
    tables = [SymbolTable(alphabet.symbols) for alphabet in (known, deeds, known)]
    skipped, batches = Skipped(), []
    done = 0
    with opened(source, None, Extra(), format) as (database, found, _):
        files = found if layout.header else without_header(found)
        watch = Watch(files)
        for file in files:
            for row, batch in _batches(database, file, layout, tables):
                kept = _usable(batch, file, row, on_bad_row, skipped)
                batches.append(_Batch([codes[kept] for codes in batch.codes], None, None, {}))
                if batch.rewards is not None:
                    batches[-1].rewards = batch.rewards[kept]
                if batch.owners is not None:
                    batches[-1].owners = batch.owners.filter(pa.array(kept))
                done += int(kept.sum())
                if progress is not None:
                    progress("counting", done)
        watch.require_unchanged()
    columns = {
        name: np.concatenate([batch.codes[i] for batch in batches] or [np.empty(0, dtype=np.int64)])
        for i, name in enumerate(("state", "action", "next"))
    }
    if rewards is not None:
        paid = [batch.rewards for batch in batches if batch.rewards is not None]
        columns["reward"] = np.concatenate(paid or [np.empty(0)])
    owners = None
    if layout.owner is not None:
        owners = pa.chunked_array([batch.owners for batch in batches], pa.string()).to_pylist()
    counted = count_steps(
        columns, states=range(len(known.symbols)), actions=range(len(deeds.symbols)), rewards=rewards,
        episodes=None if owner_is_user else owners, users=owners if owner_is_user else None, max_steps=max_steps,
        rng=rng,
    )  # fmt: skip
    named = replace(counted, states=known.symbols, actions=deeds.symbols)
    return CuratorSteps(named, skipped.count, tuple(skipped.examples))


def _batches(
    database: Database, file: DataFile, layout: StepColumns, tables: list[SymbolTable]
) -> Iterator[tuple[int, _Batch]]:
    """Batches of rows in the order of the file, each with the number of rows before it."""
    if file.format not in ("csv", "parquet", "jsonl"):
        raise FileItselfError(f"{file.name}: columns of steps are for csv, jsonl and parquet files")
    places = (layout.origin, layout.action, layout.destination)
    for name in places:
        column_type([file], name, symbols_are_listed=False)
    wanted = {alias: Column(name, "text") for alias, name in zip("abc", places, strict=True)}
    chosen = ["a", "b", "c"]
    if layout.reward is not None:
        wanted["r"] = Column(layout.reward, "text")
        chosen.append("r")
    if layout.owner is not None:
        wanted["w"] = Column(layout.owner, "as it is")
        chosen.append("w")
    row = 0
    for arrived in database.stream(f"SELECT {', '.join(chosen)} FROM ({database.scan(file, wanted)})"):
        yield row, _coded(arrived, file, layout, places, tables)
        row += arrived.num_rows


def _coded(
    arrived: pa.RecordBatch, file: DataFile, layout: StepColumns, places: tuple[str, ...], tables: list[SymbolTable]
) -> _Batch:
    problems: dict[int, str] = {}
    codes = []
    for alias, name, table in zip("abc", places, tables, strict=True):
        found = table.encode(arrived.column(alias)).astype(np.int64)
        what = "the public actions" if name == layout.action else "the public states"
        for i in np.flatnonzero(found >= len(table.names)).tolist():
            problems.setdefault(i, f"column {name!r}: this is not one of {what}")
        codes.append(np.minimum(found, len(table.names) - 1))
    rewards = owners = None
    if layout.reward is not None:
        rewards = _numbers(arrived.column("r"))
        for i in np.flatnonzero(~np.isfinite(rewards)).tolist():
            problems.setdefault(i, f"column {layout.reward!r}: the reward is missing, or no finite number")
    if layout.owner is not None:
        named = users_of(arrived.column("w"), f"{file.name}, column {layout.owner!r}", file.format == "jsonl")
        owners = named.names
        for i, problem in named.problems.items():
            problems.setdefault(i, f"column {layout.owner!r}: {problem}")
        for i in np.flatnonzero(owners.is_null().to_numpy(zero_copy_only=False)).tolist():
            problems.setdefault(i, f"column {layout.owner!r}: it does not say whose step it is")
    return _Batch(codes, rewards, owners, problems)


def _numbers(values: pa.Array) -> FloatArray:
    """A column of numbers; what is none becomes not-a-number."""
    try:
        return np.asarray(values.cast(pa.float64()).fill_null(float("nan")).to_numpy(zero_copy_only=False))
    except pa.ArrowException:
        return np.array([_number(value) for value in values.to_pylist()])


def _number(value: object) -> float:
    try:
        return float(str(value))
    except ValueError:
        return float("nan")


def _usable(batch: _Batch, file: DataFile, row: int, on_bad_row: OnBadRow, skipped: Skipped) -> BoolArray:
    """True for each row that can be used; the first that cannot is an error, unless bad rows are left out."""
    kept = np.ones(len(batch.codes[0]), dtype=bool)
    for i in sorted(batch.problems):
        told = f"{file.name}, row {row + i + 1}, {batch.problems[i]}"
        if on_bad_row == "fail":
            told = f"{told}. Correct the data, or {SKIP_BAD_ROWS}."
            raise DataFileError(told, without_content=told)
        kept[i] = False
        skipped.add(1, told)
    return kept
