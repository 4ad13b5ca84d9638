"""Where real data lie: in `shared/data` beside the repository, or where PATHVEIL_DATA says.

They are no part of the project, so tests that use them are skipped where they are absent, and say so.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("PATHVEIL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")

needs_real_data = pytest.mark.skipif(not FOLDER.is_dir(), reason="the real data are not on this machine")
