"""Guarantees and ledgers to play with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import pathveil as pv

SYMBOL = "any other word that differs in one symbol"
WORD = "any other word"


def promise(epsilon: float, delta: float = 0.0, unit: str = SYMBOL) -> pv.Guarantee:
    return pv.Guarantee(epsilon, delta, unit, ("the length",), "a mechanism", "exact sampling")


def charge(ledger: pv.Ledger, epsilon: float, delta: float = 0.0, unit: str = SYMBOL, request: str = "r"):
    return ledger.charge(promise(epsilon, delta, unit), command="test", request=request)


@pytest.fixture
def new_ledger(tmp_path: Path) -> Callable[..., pv.Ledger]:
    def make(epsilon: float = 1.0, delta: float = 0.0, **options) -> pv.Ledger:
        return pv.Ledger.create(tmp_path / "budget.db", epsilon, delta, **options)

    return make
