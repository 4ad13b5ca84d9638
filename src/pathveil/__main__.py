"""`python -m pathveil demo`."""

from __future__ import annotations

import sys

USAGE = """usage: python -m pathveil demo

  demo   release a trip through a synthetic town at three levels of privacy, and show what it costs"""


def main(arguments: list[str]) -> int:
    """Run one command; 2 for wrong use."""
    if arguments in (["--help"], ["-h"]):
        print(USAGE)
        return 0
    if arguments != ["demo"]:
        print(USAGE, file=sys.stderr)
        return 2
    from pathveil.cli.demo import run_demo

    run_demo()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
