"""Numbers and lists of numbers in the options of commands. The first byte says which option."""

import atheris
from harness import fuzz, parsers

with parsers():
    from pathveil.cli.model import _shares
    from pathveil.cli.options import Distance


def read(data: bytes) -> None:
    given = atheris.FuzzedDataProvider(data)
    which = given.ConsumeBool()
    text = given.ConsumeUnicodeNoSurrogates(atheris.ALL_REMAINING)
    if which:
        assert all(isinstance(share, float) for share in (_shares(text) or {}).values())
    else:
        shortest, longest = Distance("edit", text).between or (0, 0)
        assert shortest >= 0
        assert longest >= 0


fuzz(read)
