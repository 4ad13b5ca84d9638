"""The ledger's SQLite file: opening, reading and appending, with every failure said in the ledger's own words.

Each operation opens a connection of its own and closes it again. Nothing is shared between threads or kept over a fork,
and the last connection to close moves the write-ahead log into the main file. That file must not be opened in any
other way from inside the process: closing a plain file handle would drop SQLite's locks on it.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pathveil.errors import LedgerError
from pathveil.ledger.entries import FIRST_HASH, HOW_TO_RECOVER, Entry, checked_entries, damaged, text_and_hash

if TYPE_CHECKING:
    import sqlite3

APPLICATION_ID = 0x50564C47  # "PVLG", in the header of every ledger file
_PATIENCE = 60.0  # seconds
_COMPANIONS = ("-wal", "-journal")  # logs that SQLite keeps beside the main file: they are part of it

# Entries are only ever added. The triggers stop accidents; the chain of hashes shows the rest.
_SCHEMA = (
    "CREATE TABLE entries (number INTEGER PRIMARY KEY, content TEXT NOT NULL, hash TEXT NOT NULL)",
    "CREATE TRIGGER no_change BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END",
    "CREATE TRIGGER no_removal BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries are never removed'); END",
)


class LedgerFile:
    """A ledger file at a path, and nothing else: no open connection, no cache."""

    def __init__(self, path: str | os.PathLike[str], patience: float = _PATIENCE) -> None:
        """`patience`: seconds to wait for other processes."""
        self._patience = patience
        try:
            # Links are followed here: SQLite names its log after the file that it really opens.
            self.path = Path(path).resolve()
        except (OSError, RuntimeError, ValueError) as problem:
            raise LedgerError(f"{os.fspath(path)!r} cannot be a ledger: {problem}") from None

    def __str__(self) -> str:
        return str(self.path)

    # Making a new one.

    def create(self, first: Mapping[str, Any]) -> None:
        """Make the file with its first entry. It gets its contents all at once, and never replaces another file."""
        for suffix in _COMPANIONS:
            log = Path(f"{self.path}{suffix}")
            if log.exists() and log.stat().st_size:
                raise LedgerError(
                    f"{log} is left from another ledger of this name, and SQLite would mix the two. Find out where "
                    "that ledger is, or choose another name."
                )
        try:
            # Takes the name, so that of two processes only one goes on; readable by its owner only, as it holds a key.
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            raise LedgerError(
                f"{self.path} exists already. A ledger is never overwritten: open it, or choose another name."
            ) from None
        except OSError as problem:
            raise LedgerError(f"{self.path}: cannot create a ledger here: {problem.strerror}") from None
        unfinished = self.path.with_name(f".{self.path.name}.{os.getpid()}.unfinished")
        try:
            os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            with self._failures("nothing was created"), closing(self._connect(unfinished, "rw")) as connection:
                self._write_first(connection, first)
            os.replace(unfinished, self.path)
        except BaseException as problem:
            for leftover in (self.path, *(Path(f"{unfinished}{suffix}") for suffix in ("", "-shm", *_COMPANIONS))):
                with suppress(OSError):
                    leftover.unlink(missing_ok=True)
            if isinstance(problem, OSError):
                raise LedgerError(f"{self.path}: cannot create a ledger here: {problem.strerror}") from None
            raise
        _sync_folder(self.path.parent)

    def _write_first(self, connection: sqlite3.Connection, first: Mapping[str, Any]) -> None:
        if connection.execute("PRAGMA journal_mode = WAL").fetchone() != (b"wal",):
            raise LedgerError(f"{self}: SQLite's write-ahead log does not work here; choose a folder on a local disk")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        for line in _SCHEMA:
            connection.execute(line)
        _insert(connection, 0, first, FIRST_HASH)
        connection.execute("COMMIT")

    # Reading and appending.

    def read(self, *, thoroughly: bool = False) -> list[Entry]:
        """All entries, after checking the chain; thoroughly: the structure of the SQLite file as well."""
        self._require_file()
        with self._failures("nothing was read"), self._reading() as connection:
            if thoroughly:
                self._check_structure(connection, "integrity_check")
            return self._entries(connection)

    @contextmanager
    def appending(self) -> Iterator[Appender]:
        """The entries, and the right to add to them, for one process at a time.

        What was added is on the disk when the block has ended without an exception.
        """
        import sqlite3

        self._require_file()
        with (
            self._failures("release nothing, and look into the ledger whether the entry was made"),
            closing(self._patiently(self._locked)) as connection,
        ):
            try:
                self._check_structure(connection, "quick_check")
                appender = Appender(connection, self._entries(connection))
                yield appender
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            # Into the main file, as far as readers allow, so that a copy made without the log is not behind.
            # If that fails the entry is still safe in the log, so this is no reason to say that it was not made.
            with suppress(sqlite3.Error):
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def _locked(self) -> sqlite3.Connection:
        connection = self._connect(self.path, "rw")
        try:
            connection.execute("BEGIN IMMEDIATE")
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        import sqlite3

        def begin(mode: str) -> sqlite3.Connection:
            connection = self._connect(self.path, mode)
            try:
                connection.execute("PRAGMA query_only = ON")
                connection.execute("BEGIN")
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # the snapshot is taken here
            except BaseException:
                connection.close()
                raise
            return connection

        log = Path(f"{self.path}-wal")
        try:
            connection = self._patiently(lambda: begin("rw"))
        except sqlite3.OperationalError as problem:
            # In a folder where nothing may be written SQLite finds no room for its shared memory. Where there is no
            # log beside the file, the file is complete by itself.
            no_room = _primary_code(problem) in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
            if not no_room or (log.exists() and log.stat().st_size):
                raise
            connection = begin("ro&immutable=1")
        with closing(connection):
            yield connection

    def _connect(self, path: Path, mode: str) -> sqlite3.Connection:
        import sqlite3

        address = f"{path.as_uri()}?mode={mode}"
        connection = sqlite3.connect(address, uri=True, timeout=self._patience, isolation_level=None)
        connection.text_factory = bytes  # decoding is for `checked_entries`, which knows what to say about bad text
        # The log is forced to the disk at every commit (on macOS, all the way) before `charge` or `seal` returns.
        for setting in ("synchronous = FULL", "fullfsync = ON", "checkpoint_fullfsync = ON", "trusted_schema = OFF"):
            connection.execute(f"PRAGMA {setting}")
        return connection

    def _patiently(self, attempt: Callable[[], sqlite3.Connection]) -> sqlite3.Connection:
        """SQLite's own timeout does not cover the moments when another process opens or closes last."""
        import sqlite3

        end = time.monotonic() + self._patience
        while True:
            try:
                return attempt()
            except sqlite3.OperationalError as problem:
                busy = _primary_code(problem) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
                if not busy or time.monotonic() > end:
                    raise
            time.sleep(0.01)

    def _entries(self, connection: sqlite3.Connection) -> list[Entry]:
        schema = connection.execute("SELECT sql FROM sqlite_master ORDER BY rowid").fetchall()
        if _pragma(connection, "application_id") != APPLICATION_ID:
            raise LedgerError(
                f"{self}: this is an SQLite file, but not a PathVeil ledger. If it used to be one: {HOW_TO_RECOVER}"
            )
        if schema != [(line.encode(),) for line in _SCHEMA]:
            raise damaged(str(self), "its tables are not those of a ledger")
        rows = connection.execute("SELECT number, content, hash FROM entries ORDER BY number")
        return checked_entries(rows, _pragma(connection, "user_version"), str(self))

    def _check_structure(self, connection: sqlite3.Connection, check: str) -> None:
        found = connection.execute(f"PRAGMA {check}(1)").fetchone()[0]
        if found != b"ok":
            raise damaged(str(self), f"the SQLite file is malformed ({found.decode(errors='replace').strip()})")

    # What can go wrong.

    def _require_file(self) -> None:
        try:
            found = self.path.stat()
        except OSError as problem:
            raise LedgerError(f"{self}: no ledger can be opened here: {problem.strerror}") from None
        if not stat.S_ISREG(found.st_mode):
            raise LedgerError(f"{self}: this is not a file, so it cannot be a ledger")
        if found.st_size == 0:
            raise damaged(
                str(self), "the file is empty (if creating it was interrupted just now, delete it and create it again)"
            )
        if found.st_nlink > 1:
            # SQLite's log goes by name: through two names, two processes would not see each other's charges.
            raise LedgerError(
                f"{self}: this file has {found.st_nlink} names (hard links), and two processes that use different ones "
                "could spend the same budget. Keep one name; make copies with your backup tool instead."
            )

    @contextmanager
    def _failures(self, consequence: str) -> Iterator[None]:
        """SQLite's errors in the ledger's words."""
        import sqlite3

        try:
            yield
        except UnicodeDecodeError:  # from a message of SQLite's that quotes damaged text
            raise damaged(str(self), "its tables are not those of a ledger") from None
        except sqlite3.Error as problem:
            primary = _primary_code(problem)
            if primary == sqlite3.SQLITE_NOTADB:
                what = f"this is not a ledger: not an SQLite file at all. If it used to be one: {HOW_TO_RECOVER}"
            elif primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                what = (
                    f"another process has kept the ledger locked for {self._patience:g} seconds; {consequence}. Wait "
                    "for it to end and try again."
                )
            elif primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
                what = (
                    f"the ledger or its folder cannot be opened or written ({problem}); {consequence}. Charging needs "
                    "permission to write the file and its folder."
                )
            elif primary in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
                what = f"the disk is full or failing ({problem}); {consequence}. Make room, then verify the ledger."
            else:
                raise damaged(str(self), f"SQLite says: {problem}") from None
            raise LedgerError(f"{self}: {what}") from None


class Appender:
    """Adds entries inside one transaction."""

    def __init__(self, connection: sqlite3.Connection, entries: list[Entry]) -> None:
        self._connection = connection
        self.entries = entries

    def append(self, content: Mapping[str, Any]) -> Entry:
        number = len(self.entries)
        entry = Entry(number, content, _insert(self._connection, number, content, self.entries[-1].hash))
        self.entries.append(entry)
        return entry


def _insert(connection: sqlite3.Connection, number: int, content: Mapping[str, Any], previous: str) -> str:
    text, found = text_and_hash(number, content, previous)
    connection.execute("INSERT INTO entries VALUES (?, ?, ?)", (number, text, found))
    connection.execute(f"PRAGMA user_version = {number + 1}")  # the count, in the file's header
    return found


def _primary_code(problem: sqlite3.Error) -> int:
    """SQLite's error code without its refinements; 0 for errors that come from Python's side."""
    return int(getattr(problem, "sqlite_errorcode", 0)) & 0xFF


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def _sync_folder(folder: Path) -> None:
    """Makes a new name in a folder durable, where the operating system knows how to."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
