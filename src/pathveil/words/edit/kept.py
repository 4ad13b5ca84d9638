"""Tables that are kept between calls, so that a word that occurs again is not counted again.

They hold sensitive words. So they stay in the memory of this process: they are no part of a copy, a pickle or a repr.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock
from typing import Any

from pathveil.words.edit.tables import EditTables

_MOST = 1 << 30  # bytes


class KeptTables:
    """The tables that were used last, up to so many bytes; tables that were made together go together."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._size = 0
        self._found: dict[bytes, tuple[EditTables, int]] = {}
        self._keys: OrderedDict[EditTables, list[bytes]] = OrderedDict()  # those used last are last
        self._lock = Lock()

    @property
    def size(self) -> int:
        """How many bytes are kept."""
        return self._size

    def look_up(self, keys: Iterable[bytes]) -> dict[bytes, tuple[EditTables, int]]:
        """{word: (tables, which of them)} for those of these words that are kept."""
        with self._lock:
            known = {key: self._found[key] for key in keys if key in self._found}
            for tables in dict.fromkeys(tables for tables, _ in known.values()):
                self._keys.move_to_end(tables)
        return known

    def keep(self, key: bytes, tables: EditTables, owner: int) -> None:
        """Keep the table of this word, if it is not too large; forget what was not used for the longest time."""
        with self._lock:
            if key in self._found or tables.size > self._most:
                return
            if tables not in self._keys:
                self._keys[tables] = []
                self._size += tables.size
            self._found[key] = tables, owner
            self._keys[tables].append(key)
            while self._size > self._most:
                oldest, keys = self._keys.popitem(last=False)
                self._size -= oldest.size
                for forgotten in keys:
                    del self._found[forgotten]

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, also in another process, begins with nothing: what is kept here is sensitive."""
        return type(self), (self._most,)

    def __repr__(self) -> str:
        return "KeptTables()"
