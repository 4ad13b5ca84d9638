"""The rows of several tables as one, each with its place: which file, and which row of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pathveil.data.database import Column, Database
from pathveil.data.sources import DataFile

_FILE = 40  # bits for the number of a row within its file


class TableRows:
    """Columns of files under their aliases.

    `all` is SQL for the rows of all files, `numbered` for the same with a column `r` that counts them in the order of
    the files, and of the rows in each. Counting keeps the database from reading a file in several places at once, so
    the numbers do not depend on its threads.
    """

    def __init__(self, database: Database, files: Sequence[DataFile], columns: dict[str, Column]) -> None:
        scans = [database.scan(file, columns) for file in files]
        self.database, self.files = database, files
        self.all = " UNION ALL ".join(f"({scan})" for scan in scans)
        self.numbered = " UNION ALL ".join(
            f"(SELECT *, row_number() OVER () + {i << _FILE} AS r FROM ({scan}))" for i, scan in enumerate(scans)
        )

    def place(self, number: int) -> tuple[str, int]:
        """The name of the file that has the row with this `r`, and the number of the row in it, from 1."""
        return self.files[number >> _FILE].name, number % (1 << _FILE)

    def first(self, condition: str, value: str, parameters: Sequence[Any] = ()) -> tuple[int, Any] | None:
        """The `r` of the first row for which a condition holds, and a value of it; None where it holds for none."""
        query = f"SELECT min(r), arg_min({value}, r) FROM ({self.numbered}) WHERE {condition}"
        [(number, found)] = self.database.rows(query, parameters)
        return None if number is None else (number, found)
