"""How tests get at scripts, which are not part of the package."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch):
    """Import a script by folder and name, as Python itself does when the script is run."""

    def load(folder: str, name: str) -> ModuleType:
        monkeypatch.setattr(sys, "path", [str(ROOT / folder), *sys.path])
        return import_module(name)

    return load
