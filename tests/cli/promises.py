"""What has to hold after every run of the command, whatever it was given."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from pathlib import Path
from unittest import mock

import typer.main

from pathveil.cli.app import main
from pathveil.ledger.ledger import Ledger

FOLDER = b"<folder>"
read_once = cache(typer.main.get_command)  # reading the signatures of all commands takes longer than most runs
SYSTEM_TEMPORARY = "system-temporary"  # stands for /tmp, so that what is left there is seen


@dataclass(frozen=True)
class Case:
    """One run: the arguments, the files beside the public ones (None is a folder), and standard input."""

    arguments: tuple[str, ...]
    files: dict[str, bytes | None] = field(default_factory=dict)
    stdin: bytes = b""

    def option(self, *names: str) -> str | None:
        """The value of an option; the last one counts."""
        places = [i for i, argument in enumerate(self.arguments[:-1]) if argument in names]
        return self.arguments[places[-1] + 1] if places else None


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


def snapshot(folder: Path) -> dict[str, bytes]:
    """Everything in a folder and below, by name."""
    return {
        path.relative_to(folder).as_posix(): FOLDER if path.is_dir() else path.read_bytes()
        for path in folder.rglob("*")
        if not path.is_symlink()
    }


@contextlib.contextmanager
def laid_out(case: Case, public: dict[str, bytes], parent: Path) -> Iterator[Path]:
    """A working folder with the files of a case in it, gone afterwards."""
    folder = Path(tempfile.mkdtemp(dir=parent))
    before = Path.cwd()
    try:
        (folder / SYSTEM_TEMPORARY).mkdir()
        for name, content in (public | case.files).items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                path.mkdir(exist_ok=True)
            else:
                path.write_bytes(content)
        os.chdir(folder)
        with mock.patch.object(tempfile, "tempdir", str(folder / SYSTEM_TEMPORARY)):
            yield folder
    finally:
        os.chdir(before)
        shutil.rmtree(folder)


def run(case: Case) -> Outcome:
    """Run the command in this process. An exception that gets out of it gets out of here."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    stdin = io.TextIOWrapper(io.BytesIO(case.stdin), "utf-8")
    with (
        mock.patch.object(typer.main, "get_command", read_once),
        mock.patch.object(sys, "stdin", stdin),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = main(list(case.arguments))
    texts = [stream.buffer.getvalue().decode("utf-8", "replace") for stream in (out, err)]  # type: ignore[attr-defined]
    return Outcome(code, *texts)


def check(case: Case, folder: Path, before: dict[str, bytes], ran: Outcome) -> None:
    """All promises; an AssertionError says which was broken."""
    after = snapshot(folder)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert ran.code in (0, 1, 2), f"exit code {ran.code}"
    assert "Traceback" not in ran.out + ran.err, ran.err
    streams = case.arguments[:1] == ("stream",)
    ledger = _name(folder, case.option("--ledger"))
    if ran.code != 0:
        assert ran.err.strip(), "it failed without a word"
        # SQLite cannot put its log away for a file that is damaged; taking it away from a sound one would be wrong.
        changed -= {f"{name}{log}" for name in case.files for log in ("-shm", "-wal") if name.endswith(".db")}
        # A stream has let symbols out before it came upon the mistake, and was charged for them.
        assert changed <= ({ledger} if streams else set()), f"a failed run changed {sorted(changed)}"
    if streams:
        if ledger is not None and ran.out:
            _charges_made(folder / ledger, before[ledger], folder, 1, completed=ran.code == 0)
        assert changed <= {ledger}, f"a stream changed {sorted(changed)}"
    elif ran.code == 0:
        _check_release(case, folder, before, changed, ledger)


def _check_release(case: Case, folder: Path, before: dict[str, bytes], changed: set[str], ledger: str | None) -> None:
    command, output = case.arguments[0], _name(folder, case.option("--output", "-o"))
    helps = any(argument in ("--help", "-h", "--version") for argument in case.arguments)
    if command not in ("privatize", "model", "synthesize") or helps:
        made = {_name(folder, case.option("--plot"))} if command == "plan" else set()
        if case.arguments[:2] == ("ledger", "init") and changed:
            [new] = changed
            assert new not in before
            Ledger.open(folder / new).verify()
            return
        assert changed <= made, f"{sorted(changed)} changed"
        return
    assert output is not None
    matrix = _name(folder, case.option("--matrix")) if command == "model" else None
    written = {output, f"{output}.manifest.json"} | ({matrix} if matrix else set())
    assert changed <= written | {ledger}, f"{sorted(changed)} changed"
    named = zip(case.arguments, case.arguments[1:], strict=False)
    read = {_name(folder, value) for option, value in named if option not in ("--output", "-o", "--matrix")}
    for name in written & before.keys():
        assert "--overwrite" in case.arguments, f"{name} was replaced"
        assert not name.endswith(".db"), "a ledger was replaced"
        assert name not in read, f"{name} is an input, and was replaced"
        assert name not in case.files, f"the sensitive input {name} was replaced by what was made of it"
    assert (folder / output).stat().st_size, "the output is empty"
    if f"{output}.manifest.json" not in changed and command == "synthesize":
        return  # the model carried no guarantee
    assert (folder / f"{output}.manifest.json").is_file(), "a release without a manifest"
    manifest = json.loads((folder / f"{output}.manifest.json").read_text(encoding="utf-8"))
    assert manifest["file"] == Path(output).name
    assert manifest["seeded"] is False
    if ledger is None or command == "synthesize":
        return
    [charge] = _charges_made(folder / ledger, before[ledger], folder, 1, completed=True)
    assert charge["output"] == "sha256:" + hashlib.sha256((folder / output).read_bytes()).hexdigest()
    assert "budget" in manifest, "the manifest says nothing of the charge"
    for name in ("epsilon", "delta", "conversion"):
        assert charge[name] == manifest["budget"][name], charge
    # The unit of these budgets is covered by every release that they take.
    assert (charge["epsilon"], charge["delta"]) == (manifest["epsilon"], manifest["delta"]), charge


def _charges_made(ledger: Path, before: bytes, folder: Path, count: int, completed: bool) -> list[dict[str, object]]:
    """The charges that this run has added, after checking the ledger and its sums."""
    earlier = folder / SYSTEM_TEMPORARY / "earlier.db"
    earlier.write_bytes(before)
    old = Ledger.open(earlier).to_dict()
    earlier.unlink()
    book = Ledger.open(ledger)
    book.verify()
    new = book.to_dict()
    assert new["charges"][: len(old["charges"])] == old["charges"], "an old entry was changed"
    added: list[dict[str, object]] = new["charges"][len(old["charges"]) :]
    assert len(added) == count, f"{len(added)} charges for {count} promises"
    assert {one["status"] for one in added} == {"completed" if completed else "charged, not completed"}
    total = sum(Decimal(repr(one["epsilon"])) for one in new["charges"])
    assert total == Decimal(repr(new["spent"]["epsilon"])) <= Decimal(repr(new["budget"]["epsilon"]))
    return added


def _name(folder: Path, given: str | None) -> str | None:
    """A path as `snapshot` calls it."""
    if given is None:
        return None
    return os.path.relpath(os.path.realpath(folder / given), os.path.realpath(folder))
