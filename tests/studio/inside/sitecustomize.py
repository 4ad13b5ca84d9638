"""Found by every Python program that a test's studio starts: holds commands up at a moment, and gives them a seed.

STUDIO_MOMENTS names a folder. A command that comes to a moment, such as "after charge", and finds a file of that name
there says so in "after charge.reached" and waits until the file is gone.

STUDIO_SEED makes the operating system's randomness, as PathVeil's source sees it, the same in every run.
"""

import os
import sys

_COMMANDS = ("privatize", "model", "synthesize", "seeded-script")


def _hold_up(folder):
    import time
    from pathlib import Path

    from pathveil.ledger.ledger import Ledger

    def wait(moment):
        armed = Path(folder, moment)
        if not armed.exists():
            return
        Path(folder, f"{moment}.reached").write_text(str(os.getpid()))
        while armed.exists():
            time.sleep(0.02)

    def held(name):
        step = getattr(Ledger, name)

        def call(*arguments, **options):
            wait(f"before {name}")
            found = step(*arguments, **options)
            wait(f"after {name}")
            return found

        setattr(Ledger, name, call)

    for name in ("charge", "seal", "complete"):
        held(name)


def _give_a_seed(seed):
    import hashlib

    from pathveil.randomness import source

    class Seeded:
        asked = 0

        def __getattr__(self, name):
            return getattr(os, name)

        def urandom(self, count):
            self.asked += 1
            return hashlib.shake_256(f"{seed} {self.asked}".encode()).digest(count)

    source.os = Seeded()


if any(command in sys.orig_argv for command in _COMMANDS):
    if os.environ.get("STUDIO_MOMENTS"):
        _hold_up(os.environ["STUDIO_MOMENTS"])
    if os.environ.get("STUDIO_SEED"):
        _give_a_seed(os.environ["STUDIO_SEED"])
