"""Where the children of tests about killed commands come from."""

from __future__ import annotations

import multiprocessing

# A server that has loaded all that commands need and has no threads: each child starts in no time.
SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(
    [
        "pandas",  # which pyarrow looks for
        "pathveil.cli.commands",
        "pathveil.data",
        "pathveil.data.points",
        "pathveil.models.chain",
        "pathveil.planning.choose",
        "pathveil.release",
        "pathveil.words.certified",
        "pydantic.type_adapter",  # for typer, which reads options with it
        "pyarrow.parquet",
        "pytest",
        "tests.cli.test_kills",
        "tests.cli.test_unsealed_words",
    ]
)
