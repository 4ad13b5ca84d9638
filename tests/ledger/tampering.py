"""Changing a ledger behind its back."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from pathveil.ledger import store


def edit(path: Path, *statements: str) -> None:
    """What someone with the sqlite3 program and the will to do it can do."""
    with closing(sqlite3.connect(path)) as connection:
        for trigger in ("no_change", "no_removal"):
            connection.execute(f"DROP TRIGGER {trigger}")
        for statement in statements:
            connection.execute(statement)
        for line in store._SCHEMA[1:]:
            connection.execute(line)
        connection.commit()
