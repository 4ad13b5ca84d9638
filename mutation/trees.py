"""Copies of the repository to mutate, and the processes that run tests in them.

Python with its scientific libraries takes seconds to start, so this process loads them once and forks for every mutant.
It never loads PathVeil itself: each child does, from its own copy. Compiled code of a mutant stays in a folder that is
thrown away after the mutant.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib
import json
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from selection import Observed, lines_in_functions

PRELOADED = [
    *[
        "cryptography.hazmat.primitives.ciphers",
        "flint",
        "hypothesis",
        "matplotlib.pyplot",
        "mpmath",
        "networkx",
        "numba",
    ],
    *["numpy", "pyarrow", "scipy.integrate", "scipy.optimize", "scipy.sparse.linalg", "scipy.special", "scipy.stats"],
]
COPIED = ["src", "tests", "docs", "examples", "benchmarks", "pyproject.toml", "README.md", "CHANGELOG.md"]
_LOADING = "loading"
_LOADING_LIMIT = 150.0  # seconds for loading the test files, before a test with its own limit begins
_fork = multiprocessing.get_context("fork")


def preload() -> None:
    for name in PRELOADED:
        importlib.import_module(name)


class Tree:
    """One copy of the repository, with compiled code of the unchanged program beside it."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.folder = folder / "tree"
        self.compiled = folder / "compiled"
        self.log = folder / "log.txt"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.compiled.mkdir(exist_ok=True)  # what a run before this one left there is used again where it fits
        for name in COPIED:
            origin = root / name
            if origin.is_dir():
                shutil.copytree(origin, self.folder / name, ignore=shutil.ignore_patterns("__pycache__", ".hypothesis"))
            elif origin.exists():
                shutil.copy2(origin, self.folder / name)

    def take_compiled_from(self, other: Tree) -> None:
        """numba names a folder of compiled code after the folder of the source."""
        from numba.core.caching import _CacheLocator

        for source in (other.folder / "src").rglob("*.py"):
            theirs = other.compiled / _CacheLocator.get_suitable_cache_subpath(str(source))
            mine = self.folder / source.relative_to(other.folder)
            if theirs.exists():
                target = self.compiled / _CacheLocator.get_suitable_cache_subpath(str(mine))
                shutil.copytree(theirs, target, dirs_exist_ok=True)

    def observe(self, tests: Sequence[str], kept: Path) -> Observed:
        """Run unchanged tests and see which of them execute which line.

        What was seen of a file of tests is kept in the folder `kept`, and believed until that file or the program
        changes.
        """
        kept.mkdir(parents=True, exist_ok=True)
        program = hashlib.sha256(b"".join(path.read_bytes() for path in sorted((self.folder / "src").rglob("*.py"))))
        observed = Observed({}, {})
        for file in sorted(file for test in tests for file in _test_files(self.folder / test)):
            digest = program.copy()
            digest.update(file.read_bytes())
            out = kept / f"{file.stem}-{digest.hexdigest()[:16]}.json"
            if not out.exists():
                name = file.relative_to(self.folder).as_posix()
                if self._run(lambda name=name, out=out: _observe(self.folder, name, out), self.compiled) != 0:
                    raise SystemExit(f"The unchanged tests fail; see {self.log}")
            observed.add(json.loads(out.read_text(encoding="utf-8")))
        return observed

    def outcome(self, path: str, code: str, limits: dict[str, float]) -> str:
        """Put `code` in place of a file, run the tests in this order until one fails, and put the file back.

        A test that takes longer than its limit (in seconds) ends the run.
        """
        file = self.folder / path
        original, times = file.read_bytes(), file.stat()
        scratch = Path(tempfile.mkdtemp(dir=self.folder.parent))
        try:
            file.write_text(code, encoding="utf-8")
            # Links will do: numba replaces its files and never writes into them.
            shutil.copytree(self.compiled, scratch, copy_function=os.link, dirs_exist_ok=True)
            result = self._run(lambda: _run_chosen(limits), scratch)
        finally:
            file.write_bytes(original)
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
            shutil.rmtree(scratch, ignore_errors=True)
        if result in (3, 4, 5):  # pytest itself went wrong, or found none of the tests
            raise RuntimeError(f"The tests of {path} did not run; see {self.log}")
        return "timeout" if result == -signal.SIGALRM else "survived" if result == 0 else "killed"

    def first_failure(self) -> str:
        """What the last run says about the test that failed."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return next((line for line in lines if line.startswith(("FAILED", "ERROR"))), "")

    def _run(self, task: Callable[[], int], compiled: Path) -> int | None:
        process = _fork.Process(target=self._child, args=(task, compiled))
        process.start()
        process.join()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid or 0, signal.SIGKILL)  # what the tests started ends with them
        return process.exitcode

    def _child(self, task: Callable[[], int], compiled: Path) -> None:
        os.setpgid(0, 0)
        os.chdir(self.folder)
        log = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        sys.dont_write_bytecode = True
        sys.path[:0] = [str(self.folder), str(self.folder / "src")]
        changed = {"PYTHONPATH": str(self.folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        os.environ.update(changed, NUMBA_CACHE_DIR=str(compiled))
        from numba.core import config

        config.reload_config()
        code = task()
        sys.stdout.flush()
        os._exit(code)


def _pytest(arguments: Sequence[str], plugin: Any) -> int:
    return int(pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", *arguments], plugins=[plugin]))


def _run_chosen(limits: dict[str, float]) -> int:
    order = {test: number for number, test in enumerate(limits)}

    class Chosen:
        @staticmethod
        def pytest_configure() -> None:
            from hypothesis import Phase, settings

            # A mutant that is found is dead: nobody needs its smallest counterexample.
            phases = (Phase.explicit, Phase.reuse, Phase.generate)
            settings.register_profile("mutation", settings.get_profile("repeatable"), phases=phases)
            settings.load_profile("mutation")

        @staticmethod
        @pytest.hookimpl(trylast=True)
        def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
            items[:] = sorted((item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid])

        @staticmethod
        @pytest.hookimpl(wrapper=True)
        def pytest_runtest_protocol(item: pytest.Item) -> Any:
            signal.setitimer(signal.ITIMER_REAL, limits[item.nodeid])  # nobody handles it: the process ends
            try:
                return (yield)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)

    signal.setitimer(signal.ITIMER_REAL, _LOADING_LIMIT)  # a mutant may never come back while files are loaded
    return _pytest(["-x", *sorted({test.split("::")[0] for test in limits})], Chosen())


def _test_files(place: Path) -> list[Path]:
    return sorted(place.rglob("test_*.py")) if place.is_dir() else [place]


def _observe(folder: Path, test_file: str, out: Path) -> int:
    """Run a file of tests. What it makes while it is loaded (cells, systems) all of its tests may depend on."""
    import coverage
    from numba.core import event

    measured = coverage.Coverage(data_file=None, source=[str(folder / "src/pathveil")], config_file=False)
    seconds: dict[str, float] = {}

    class Watch:
        @staticmethod
        @pytest.hookimpl(wrapper=True)
        def pytest_runtest_protocol(item: pytest.Item) -> Any:
            measured.switch_context(item.nodeid)
            begin, compiled = time.perf_counter(), getattr(compiling, "duration", 0.0)
            try:
                return (yield)
            finally:
                # Compiled code is kept: a test that happens to be the first to need it is no slow one.
                spent = getattr(compiling, "duration", 0.0) - compiled
                seconds[item.nodeid] = max(time.perf_counter() - begin - spent, 0.0)
                measured.switch_context("")

    compiling = event.TimingListener()
    event.register("numba:compile", compiling)
    measured.start()
    measured.switch_context(_LOADING)
    code = _pytest([test_file], Watch())
    measured.stop()
    data = measured.get_data()

    executed: dict[str, dict[str, list[str]]] = {}
    for path in map(Path, data.measured_files()):
        inside, lines = lines_in_functions(ast.parse(path.read_text(encoding="utf-8"))), {}
        for line, contexts in data.contexts_by_lineno(str(path)).items():
            everybody = _LOADING in contexts and line in inside
            tests = list(seconds) if everybody else [name for name in contexts if name not in ("", _LOADING)]
            if tests:
                lines[str(line)] = tests
        executed[path.relative_to(folder).as_posix()] = lines
    if code == 0:
        out.write_text(json.dumps({"seconds": seconds, "executed": executed}), encoding="utf-8")
    return code
