"""The place of a row in the input, and a random number for each place.

A place is what does not change when a task is run again: the file and the number of the row in it, as Spark's Parquet
reader tells them, or a column in which every row has a value of its own. Nothing else will do. The number of a
partition and the position in it depend on how Spark happened to cut and to fetch the data.

The number of a place has 128 bits and is a keyed permutation (AES-256) of the row numbers of a file, or a keyed hash
(BLAKE2b) of a text. Without the key nobody can tell it from a uniform one, and two places have the same number about as
often as one guesses a key. So equal numbers mean equal places.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from pathveil.data.spark.columns import quoted, require_column
from pathveil.errors import DataFileError, InvalidParameterError
from pathveil.randomness.derived import DerivingKey

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

Numbers = npt.NDArray[np.uint64]

FILE, ROW = "place_file", "place_row"
_FORGOTTEN = 1 << 10  # files whose ciphers are kept


def place_columns(dataframe: DataFrame, place: str | None) -> list[Column]:
    """The columns that tell the place: FILE and ROW, or ROW alone where the user names a column."""
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions as sql
    from pyspark.sql.types import IntegralType, StringType

    if place is not None:
        kind = dataframe.schema[require_column(dataframe, place)].dataType
        if not isinstance(kind, (IntegralType, StringType)):
            raise InvalidParameterError(
                f"place: {place!r} holds {kind.simpleString()}; whole numbers or texts are needed"
            )
        whole = isinstance(kind, IntegralType)
        return [sql.col(quoted(place)).cast("long" if whole else "string").alias(ROW)]
    columns = [sql.col("_metadata.file_path").alias(FILE), sql.col("_metadata.row_index").alias(ROW)]
    try:
        dataframe.select(*columns)
    except AnalysisException:
        raise InvalidParameterError(
            "this DataFrame does not tell the place of its rows: only what is read from Parquet files, without "
            "grouping, does. Name a column in which every row has a value of its own (`place=…`), or write the "
            "DataFrame to Parquet files first, and read those."
        ) from None
    return columns


class PlaceNumbers:
    """The numbers of places, a batch at a time."""

    def __init__(self, key: DerivingKey) -> None:
        self._key = key
        self._ciphers: dict[str | None, Cipher[modes.ECB]] = {}

    def of(self, batch: pa.RecordBatch) -> tuple[Numbers, Numbers]:
        """Both halves of the number of each row."""
        rows = batch.column(ROW)
        if rows.null_count:
            raise DataFileError("a row has no place: the column that is named in `place=…` has a null in it")
        if not pa.types.is_integer(rows.type):
            return _halves(self._hashed(rows))
        values = rows.to_numpy()
        if FILE not in batch.schema.names:
            return _halves(self._permuted(None, values))
        files = batch.column(FILE).dictionary_encode()
        names, which = files.dictionary.to_pylist(), files.indices.to_numpy()
        if len(names) == 1:
            return _halves(self._permuted(names[0], values))
        high, low = np.empty(len(values), np.uint64), np.empty(len(values), np.uint64)
        for i, name in enumerate(names):
            here = which == i
            high[here], low[here] = _halves(self._permuted(name, values[here]))
        return high, low

    def _permuted(self, file: str | None, rows: npt.NDArray[np.int64]) -> bytes:
        if file not in self._ciphers:
            if len(self._ciphers) >= _FORGOTTEN:
                self._ciphers.clear()
            name = ("place",) if file is None else ("place in", file)
            self._ciphers[file] = Cipher(algorithms.AES(self._key.key(*name)), modes.ECB())
        blocks = np.zeros((len(rows), 2), dtype="<i8")
        blocks[:, 0] = rows
        return self._ciphers[file].encryptor().update(blocks.tobytes())

    def _hashed(self, rows: pa.Array) -> bytes:
        key = self._key.key("place")
        return b"".join(
            hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, key=key).digest()
            for text in rows.to_pylist()
        )


def _halves(numbers: bytes) -> tuple[Numbers, Numbers]:
    both = np.frombuffer(numbers, dtype="<u8").reshape(-1, 2)
    return both[:, 0].astype(np.uint64), both[:, 1].astype(np.uint64)


def place_in_batch(
    batch: pa.RecordBatch, place: str | None, column: str | Callable[[int | None], str]
) -> Callable[[int, int | None], str]:
    """How messages call a row of a batch, or a symbol in it. What the words say is not in it."""

    def describe(i: int, position: int | None) -> str:
        at = "" if position is None else f", position {position + 1}"
        named = f", column {column!r}{at}" if isinstance(column, str) else column(position)
        if FILE in batch.schema.names:
            return f"{_shown(batch.column(FILE)[i].as_py())}, row {batch.column(ROW)[i].as_py() + 1}{named}"
        if ROW in batch.schema.names:
            return f"the row with {place} {batch.column(ROW)[i].as_py()!r}{named}"
        return f"a row of the DataFrame{named}"

    return describe


def _shown(file: str) -> str:
    """The name of a file as people write it."""
    return re.sub(r"^file:/+", "/", unquote(file))
