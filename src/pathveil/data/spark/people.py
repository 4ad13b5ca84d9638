"""At most so many words of each person, chosen where the rows are.

Spark may run a task twice, and use one part of what the first run made and another part of what the second made. Were
the choice drawn anew each time, parts of two choices might be counted, and twice as many words of a person as were
promised. So it is a function of what does not change: of a secret, the person's name and the person's words in sorted
order. (Words that are equal may change places: it makes no difference which of them is taken.) The same secret makes
the same choice however the rows are spread; it is not the choice that files get for the same seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pathveil.data.formats import RawWords, split, users_of
from pathveil.data.reading import Checker, OnBadRow
from pathveil.data.spark.failures import checked, require_same_version
from pathveil.data.spark.piles import WORD
from pathveil.data.spark.places import place_in_batch
from pathveil.models.people import smallest_keys
from pathveil.numerics.arrays import UintArray
from pathveil.randomness.derived import DerivingKey
from pathveil.systems.alphabet import Alphabet

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from pathveil.systems.system import Symbol

Batches = Iterable[pa.RecordBatch]
OWNER = "owner"
_CODED = pa.schema(
    [(OWNER, pa.string()), ("codes", pa.list_(pa.int32())), ("skipped", pa.int64()), ("example", pa.string())]
)
CODED_IN_SPARK = "owner string, codes array<int>, skipped bigint, example string"
"""A checked word and its owner; or, without an owner, how many rows were left out, and one of them."""


def coding_words(
    states: tuple[Symbol, ...],
    column: str,
    user: str,
    listed: bool,
    separator: str | None,
    on_bad_row: OnBadRow,
    version: str,
) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """What makes checked words with their owners of rows with the columns WORD and OWNER."""

    def code(batches: Batches) -> Iterator[pa.RecordBatch]:
        require_same_version(version)
        checker = Checker(Alphabet(states), on_bad_row)
        for batch in batches:
            words = batch.column(WORD) if listed else split(batch.column(WORD), separator)
            owners = users_of(batch.column(OWNER), f"column {user!r}", are_json=False)
            raw = RawWords(words, owners.names, (), place_in_batch(batch, None, column), owners.problems)
            for good in checked(checker, raw):
                nothing = pa.nulls(good.num_rows)
                arrays = [good.column(1), good.column(0).cast(pa.list_(pa.int32())), nothing, nothing]
                yield _batch(arrays)
        if checker.skipped.count:
            examples = checker.skipped.examples
            counts = [checker.skipped.count, *[0] * (len(examples) - 1)]
            yield _batch([pa.nulls(len(counts)), pa.nulls(len(counts)), pa.array(counts), pa.array(examples)])

    return code


def _batch(arrays: list[pa.Array]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [one.cast(of.type) for one, of in zip(arrays, _CODED, strict=True)], schema=_CODED
    )


def by_person(coded: DataFrame) -> DataFrame:
    """All words of a person in one partition, one after the other, sorted."""
    return coded.repartition(OWNER).sortWithinPartitions(OWNER, "codes")


class PeopleInOrder:
    """Keeps at most `most` words of each person of a partition that `by_person` made.

    Afterwards `dropped` words were left out, `largest` is how many the person with most of them has, and `skipped` has
    (how many, example) of rows that could not be used. All of it is for the curator.
    """

    def __init__(self, most: int, key: DerivingKey) -> None:
        self._most, self._key = most, key
        self.dropped, self.largest = 0, 0
        self.skipped: list[tuple[int, str]] = []
        self._last: pa.Scalar | None = None  # whose words came last

    def words(self, batches: Batches) -> Iterator[pa.ListArray]:
        """The words that stay, as lists of codes."""
        waiting: list[pa.RecordBatch] = []  # the words of the last person so far, who may have more of them
        for batch in batches:
            owned = self._owned(batch)
            if not owned.num_rows:
                continue
            starts = _starts(owned.column(OWNER))
            goes_on = bool(waiting) and waiting[-1].column(OWNER)[-1] == owned.column(OWNER)[0]
            if len(starts) > 1 or not goes_on:
                yield from self._chosen([*waiting, owned.slice(0, starts[-1])])
                waiting, owned = [], owned.slice(starts[-1])
            waiting.append(owned)
        yield from self._chosen(waiting)

    def _keys(self, owner: str, words: int) -> UintArray:
        """128 bits for each word of a person, two words from each value of the keyed hash. They are never equal."""
        values = (self._key.key("the words of a person", owner, number) for number in range((words + 1) // 2))
        return np.frombuffer(b"".join(values), dtype="<u8").reshape(-1, 2)[:words]

    def _require_sorted(self, owners: pa.Array) -> None:
        """A person whose words came in two places would be limited twice: better no result than that one."""
        ordered = pc.all(pc.less_equal(owners.slice(0, len(owners) - 1), owners.slice(1))).as_py()
        if ordered is False or (self._last is not None and not pc.less(self._last, owners[0]).as_py()):
            raise AssertionError("Spark did not keep the words of each person together")
        self._last = owners[-1]

    def _owned(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The words; what was skipped is noted."""
        ownerless = batch.column(OWNER).is_null()
        left_out = batch.filter(ownerless)
        self.skipped += zip(left_out.column("skipped").to_pylist(), left_out.column("example").to_pylist(), strict=True)
        return batch.filter(pc.invert(ownerless))

    def _chosen(self, parts: list[pa.RecordBatch]) -> Iterator[pa.ListArray]:
        """Some words of each of these persons, all of whose words are here."""
        rows = pa.Table.from_batches(parts, schema=None if parts else _CODED).combine_chunks()
        if not rows.num_rows:
            return
        owners, words = rows.column(OWNER).chunk(0), rows.column("codes").chunk(0)
        self._require_sorted(owners)
        starts = _starts(owners)
        sizes = np.diff(np.append(starts, len(owners)))
        keys = np.zeros((len(owners), 2), dtype=np.uint64)
        for i in np.flatnonzero(sizes > self._most).tolist():  # the others keep all of their words
            keys[starts[i] : starts[i] + sizes[i]] = self._keys(owners[int(starts[i])].as_py(), int(sizes[i]))
        kept, _ = smallest_keys(np.repeat(np.arange(len(starts)), sizes), list(keys.T), self._most)
        self.largest = max(self.largest, int(sizes.max()))
        self.dropped += int((~kept).sum())
        yield words.filter(pa.array(kept))


def _starts(owners: pa.Array) -> np.ndarray:
    """Where each person's words begin."""
    changed = pc.not_equal(owners.slice(1), owners.slice(0, len(owners) - 1)).to_numpy(zero_copy_only=False)
    return np.flatnonzero(np.append(True, changed))
