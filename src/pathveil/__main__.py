"""`python -m pathveil` is the command `pathveil`."""

from __future__ import annotations

import sys

from pathveil.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
