"""The JSON of chains and of private models; what was read is written and read again, and shown."""

import contextlib
import io
from pathlib import Path

from harness import fuzz_file, parsers

with parsers():
    from pathveil.cli.inspect_model import inspect
    from pathveil.data.public import read_model
    from pathveil.systems.markov_chain import MarkovChain


def read(path: Path) -> None:
    chain, promise, _forecasts = read_model(path)
    assert str(promise)
    text = chain.to_json()
    assert MarkovChain.from_json(text).to_json() == text
    with contextlib.redirect_stdout(io.StringIO()):
        inspect(path)
        inspect(path, as_json=True)


fuzz_file(read, "chain.json")
