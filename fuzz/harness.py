"""What all harnesses share: a parser gets bytes, and may answer with a `PathVeilError`; anything else is a finding.

    python fuzz/fuzz_chain.py -max_total_time=600 fuzz/corpus/chain

Options and folders are those of libFuzzer. A finding ends the run with a traceback and leaves the input in a file whose
name begins with `crash-`, `timeout-` or `oom-`.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import atheris

# Numba compiles the kernels from their bytecode, which must stay as it is; parsers are all that counts here.
INSTRUMENTED = (
    "pathveil.cli",
    "pathveil.data",
    "pathveil.ledger",
    "pathveil.report.release_page",
    "pathveil.report.released",
    "pathveil.privacy.guarantee",
    "pathveil.systems.alphabet",
    "pathveil.systems.automaton",
    "pathveil.systems.chain_file",
    "pathveil.systems.markov_chain",
    "pathveil.systems.system",
    "csv",
    "decimal",
    "json",
)
_LONGEST = 4096  # bytes: longer inputs make every run slower and reach nothing else


def parsers() -> atheris.import_hook.HookManager:
    """`with parsers(): import ...` makes the fuzzer see which lines and comparisons of these modules are reached."""
    return atheris.instrument_imports(include=list(INSTRUMENTED))


@contextlib.contextmanager
def allowed() -> Iterator[None]:
    """Errors of ours that say something end here; all others go on."""
    from pathveil.errors import PathVeilError

    try:
        yield
    except PathVeilError as problem:
        if not str(problem):
            raise RuntimeError("an error that says nothing") from problem


def fuzz(parse: Callable[[bytes], object]) -> None:
    """Feed a parser until libFuzzer has had enough."""

    def once(data: bytes) -> None:
        with allowed():
            parse(data)

    atheris.Setup([sys.argv[0], f"-max_len={_LONGEST}", "-timeout=20", "-rss_limit_mb=3000", *sys.argv[1:]], once)
    atheris.Fuzz()


def fuzz_file(read: Callable[[Path], object], name: str) -> None:
    """Feed a parser that reads files: the input stands in a file of this name, which always is the same one."""
    with tempfile.TemporaryDirectory(prefix="pathveil-fuzz-") as folder:
        path = Path(folder) / name

        def parse(data: bytes) -> None:
            path.write_bytes(data)
            read(path)

        fuzz(parse)
