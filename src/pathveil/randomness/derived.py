"""One secret, and from it as many independent keystreams as there are names for them.

Work that is spread over machines, and may be done twice, needs randomness that can be found again: the same name has to
give the same bits on every machine and at every attempt, and different names unrelated ones. HMAC-SHA256 does that. To
anyone without the secret its values look like independent uniform ones, and so do the keystreams that they key.
"""

from __future__ import annotations

import hmac

from pathveil.randomness.source import RandomSource


class DerivingKey:
    """A secret of 32 bytes out of a random source.

    Unlike a `RandomSource` it may be copied and pickled. In return its holder must see to it that no name stands for
    two things: whoever draws twice under one name draws the same.
    """

    def __init__(self, source: RandomSource) -> None:
        self._secret = source.bytes(32)
        self._seeded = source.is_seeded

    @property
    def is_seeded(self) -> bool:
        """True where the secret can be reproduced by anyone who knows a seed."""
        return self._seeded

    def key(self, *name: str | int | bytes) -> bytes:
        """32 bytes for this name."""
        made = hmac.new(self._secret, digestmod="sha256")
        for part in name:
            # The kind and the length go in front, so that no two names are written the same.
            written = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
            made.update(f"{type(part).__name__}:{len(written)}:".encode() + written)
        return made.digest()

    def source(self, *name: str | int | bytes) -> RandomSource:
        """The beginning of this name's keystream, for the process that asks for it.

        A copy of the source in a forked process refuses to draw: see `RandomSource`.
        """
        return RandomSource(self.key(*name), seed=0 if self._seeded else None, named=True)

    def __repr__(self) -> str:
        return f"DerivingKey({'seeded' if self._seeded else 'secret'})"
