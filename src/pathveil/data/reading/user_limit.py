"""At most so many words of each user: the rest are dropped at random.

The limit is declared by the curator, not measured: a guarantee for a whole user multiplies by it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from pathveil.data.database import Database
from pathveil.data.encrypted_file import EncryptedFile
from pathveil.errors import InvalidParameterError
from pathveil.randomness.source import RandomSource


def limit_for(user: str | None, max_words_per_user: int | None) -> UserLimit | None:
    """The limit for words that the column `user` says the users of; None where neither is given."""
    if (user is None) != (max_words_per_user is None):
        raise InvalidParameterError("`user` and `max_words_per_user` belong together: give both or none")
    return None if max_words_per_user is None else UserLimit(max_words_per_user)


class UserLimit:
    """Keeps at most `most` words of each user, chosen uniformly among that user's words.

    `measured` (the largest number of words of one user) and `dropped` depend on the data: they are for the curator.
    """

    def __init__(self, most: int) -> None:
        if isinstance(most, bool) or not isinstance(most, int) or most < 1:
            raise InvalidParameterError(f"`max_words_per_user` is a whole number of at least 1, not {most!r}")
        self.most = most
        self.measured: int | None = None
        self.dropped = 0

    def limited(
        self, batches: Iterable[pa.RecordBatch], database: Database, source: RandomSource, workspace: Path
    ) -> Iterator[pa.RecordBatch]:
        """The words that stay, in the order they came, without the column of users (the second)."""
        spool = EncryptedFile(workspace / "words-of-users.arrow")
        count = self._spool(batches, spool, database, source)
        if not count:
            return
        surplus = self._surplus(database)
        self.dropped = len(surplus)
        number = 0
        with spool.for_reading() as file, pa.ipc.open_stream(file) as reader:
            for batch in reader:
                begin, end = np.searchsorted(surplus, [number, number + batch.num_rows])
                staying = np.delete(np.arange(batch.num_rows), surplus[begin:end] - number)
                number += batch.num_rows
                if len(staying):
                    yield batch.take(pa.array(staying))
        spool.path.unlink()

    def _spool(
        self, batches: Iterable[pa.RecordBatch], spool: EncryptedFile, database: Database, source: RandomSource
    ) -> int:
        """Words to a file, users with a random key each to the database."""
        writer, count = None, 0
        with contextlib.ExitStack() as stack:
            for batch in batches:
                numbers = np.arange(count, count + batch.num_rows)
                keys = source.keystream(batch.num_rows)
                columns = [pa.array(numbers), batch.column(1), pa.array(keys)]
                database.append("words_of_users", pa.Table.from_arrays(columns, names=["number", "owner", "draw"]))
                rest = pa.RecordBatch.from_arrays(
                    [batch.column(0), *batch.columns[2:]], names=[f"{i}" for i in range(batch.num_columns - 1)]
                )
                if writer is None:
                    file = stack.enter_context(spool.for_writing())
                    writer = stack.enter_context(pa.ipc.new_stream(file, rest.schema))
                writer.write_batch(rest)
                count += batch.num_rows
        return count

    def _surplus(self, database: Database) -> np.ndarray:
        # A user's words in the order of uniform keys: the first of them are a uniform choice. Equal keys are next to
        # impossible, and would not touch the guarantee, which holds for any choice that ignores what words say.
        ranked = "SELECT number, row_number() OVER (PARTITION BY owner ORDER BY draw) AS place FROM words_of_users"
        [(self.measured,)] = database.rows(
            "SELECT max(n) FROM (SELECT count(*) AS n FROM words_of_users GROUP BY owner)"
        )
        numbers = [
            batch.column(0).to_numpy()
            for batch in database.stream(f"SELECT number FROM ({ranked}) WHERE place > {self.most} ORDER BY number")
        ]
        return np.concatenate([np.empty(0, dtype=np.int64), *numbers])
