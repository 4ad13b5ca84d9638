"""2,000 fuzzed files and option sets, some in `make test`: no traceback, no partial output, no uncharged release.

What has to hold is in promises.py, the files are in fuzz_files.py, the command lines in fuzz_commands.py. The examples
are the same each time; a failure prints its case (arguments, files, standard input).
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pathveil.cli.options import Budget
from pathveil.data import workspace, writing
from pathveil.data.reading import opening
from pathveil.data.writing import manifest
from pathveil.release import Release
from tests.cli import fuzz_commands
from tests.cli.promises import Case, check, laid_out, run, snapshot
from tests.sizes import small_and_large

Verdict = Callable[[int], bool]


def _any(_code: int) -> bool:
    return True


def _not_wrong_use(code: int) -> bool:
    return code in (0, 1)


def _wrong_use(code: int) -> bool:
    return code == 2


# name: (cases, how many, which exit codes are right, how many of each exit code there must be at least)
SEARCHES: dict[str, tuple[st.SearchStrategy[Case], int, Verdict, dict[int, int]]] = {
    "tables that may be damaged": (fuzz_commands.privatize_damaged(False), 200, _any, {0: 25, 1: 60}),
    "texts and event logs that may be damaged": (fuzz_commands.privatize_damaged(True), 150, _any, {0: 15, 1: 40}),
    "several sources": (fuzz_commands.privatize_sources(), 150, _any, {0: 20, 1: 20, 2: 10}),
    "options that are wrong for privatize": (fuzz_commands.privatize_options(True), 200, _wrong_use, {}),
    "options that are odd for privatize": (fuzz_commands.privatize_options(False), 300, _any, {0: 40, 1: 40, 2: 15}),
    "models of files that may be damaged": (fuzz_commands.model("damaged"), 100, _any, {0: 20, 1: 10}),
    "options that are wrong for model": (fuzz_commands.model("wrong"), 80, _wrong_use, {}),
    "options that are odd for model": (fuzz_commands.model("odd"), 120, _any, {0: 15, 1: 15, 2: 10}),
    "commands that read public files": (fuzz_commands.public_commands(), 200, _any, {0: 15, 1: 15, 2: 15}),
    "streams": (fuzz_commands.stream(), 100, _any, {0: 15, 1: 15, 2: 10}),
    "ledgers": (fuzz_commands.ledger(), 100, _any, {0: 5, 1: 15, 2: 15}),
}


def search(cases: st.SearchStrategy[Case], count: int, right: Verdict, folder: Path, **options: object) -> Counter[int]:
    """Run and check so many cases; how often each exit code came."""
    seen: Counter[int] = Counter()

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        **options,
    )
    @given(cases)
    def every_case(case: Case) -> None:
        seen[run_and_check(case, folder, right)] += 1

    every_case()
    return seen


def run_and_check(case: Case, parent: Path, right: Verdict = _any) -> int:
    with laid_out(case, fuzz_commands.public_files(), parent) as folder:
        before = snapshot(folder)
        ran = run(case)
        check(case, folder, before, ran)
        assert right(ran.code), f"exit code {ran.code}: {ran.err}"
        return ran.code


LISTS = {"inputs": fuzz_commands.every_damage_to_inputs, "public files": fuzz_commands.every_damage_to_public_files}


def test_there_are_two_thousand_cases_and_more():
    searched = sum(count for _, count, _, _ in SEARCHES.values())
    assert searched + sum(len(cases()) for cases in LISTS.values()) >= 2_000


@small_and_large("one_in", 11, 1)
@pytest.mark.parametrize("name", LISTS)
def test_the_promises_hold_for_every_kind_of_damage(name, one_in, tmp_path):
    # The options are right, so that whatever happens is never wrong use. One in eleven is every kind of damage to
    # some shapes, and some damage to every shape: there are not eleven of either, nor a multiple.
    seen = Counter(run_and_check(case, tmp_path, _not_wrong_use) for case in LISTS[name]()[::one_in])
    assert min(seen[0], seen[1]) > 100 // one_in, seen


@small_and_large("one_in", 10, 1)
@pytest.mark.parametrize("name", SEARCHES)
def test_the_promises_hold(name, one_in, tmp_path):
    cases, count, right, at_least = SEARCHES[name]
    seen = search(cases, count // one_in, right, tmp_path)
    # The search is worth something only if it gets everywhere.
    assert all(seen[code] >= (least if one_in == 1 else 1) for code, least in at_least.items()), seen


# Controls: the same checks with a bug planted.

CHARGE = Release.charge
FEW = "privatize in.csv --column w --alphabet letters.txt --epsilon 2 --ledger budget.db --output out.csv"
GOOD = Case(tuple(FEW.split()), {"in.csv": b"w\na b\nc\n"})
BAD = Case(tuple(FEW.split()), {"in.csv": b"w\na b\nzebra\n"})


def _uncharged(self, *_arguments, **_options):
    self._step = "charged"


def _charged_half(self, promise, **options):
    return CHARGE(self, replace(promise, epsilon=promise.epsilon / 2), **options)


def _unsealed(self, *_arguments):
    self._step = "sealed"


@contextlib.contextmanager
def _open_workspace(destination=None):
    yield destination.parent if destination is not None else Path(".")


def _written_at_once(path, _overwrite):
    path.write_bytes(b"half a file")


def _bug(_path):
    raise KeyError("a bug")


@pytest.mark.parametrize(
    ("case", "owner", "attribute", "planted"),
    [
        (GOOD, Release, "charge", _uncharged),
        (GOOD, Release, "charge", _charged_half),
        (GOOD, Release, "seal", _unsealed),
        (GOOD, Release, "__exit__", lambda *_: None),
        (GOOD, manifest, "write_manifest", lambda *_, **__: Path("none")),
        (GOOD, workspace.shutil, "rmtree", lambda *_, **__: None),
        (GOOD, opening, "private_workspace", _open_workspace),
        (BAD, writing, "refuse_existing", _written_at_once),
        (GOOD, Budget, "open", _bug),
    ],
)
def test_a_planted_bug_is_noticed(tmp_path, monkeypatch, case, owner, attribute, planted):
    run_and_check(case, tmp_path)
    with laid_out(case, fuzz_commands.public_files(), tmp_path) as folder:
        before = snapshot(folder)
        with monkeypatch.context() as patch:
            patch.setattr(owner, attribute, planted)
            with pytest.raises((AssertionError, KeyError)):
                check(case, folder, before, run(case))


@pytest.mark.slow
def test_the_search_finds_that_an_output_may_destroy_the_input(tmp_path, monkeypatch):
    monkeypatch.setattr("pathveil.release.refuse_inputs", lambda *_, **__: None)
    with pytest.raises(AssertionError, match=r"input|ledger"):
        search(fuzz_commands.privatize_options(False), 350, _any, tmp_path, phases=[Phase.generate])


def test_the_search_finds_a_release_that_was_not_charged(tmp_path, monkeypatch):
    monkeypatch.setattr(Release, "charge", _uncharged)
    with pytest.raises(AssertionError, match="charge"):
        search(fuzz_commands.privatize_damaged(False), 350, _any, tmp_path, phases=[Phase.generate])
