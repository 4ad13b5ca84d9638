"""Guarantees and ledgers to play with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import pathveil as pv

SYMBOL = pv.units.Symbols(1)
WORD = pv.units.Word()


def promise(epsilon: float, delta: float = 0.0, unit: pv.units.Unit = SYMBOL) -> pv.Guarantee:
    return pv.Guarantee(epsilon, delta, unit.short, ("the length",), "a mechanism", "exact sampling", protects=unit)


def charge(ledger: pv.Ledger, epsilon: float, delta: float = 0.0, unit: pv.units.Unit = SYMBOL, request: str = "r"):
    return ledger.charge(promise(epsilon, delta, unit), command="test", request=request)


@pytest.fixture
def new_ledger(tmp_path: Path) -> Callable[..., pv.Ledger]:
    def make(epsilon: float = 1.0, delta: float = 0.0, **options) -> pv.Ledger:
        return pv.Ledger.create(tmp_path / "budget.db", epsilon, delta, **{"unit": SYMBOL, **options})

    return make
