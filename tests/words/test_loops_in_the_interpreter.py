"""Compiled loops read and write without looking where their arrays end: in the interpreter every place is checked."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import pathveil as pv
from pathveil.words.distances.engine import DistanceEngine
from pathveil.words.distances.prices import Prices
from pathveil.words.tilted.engines import MarksEngine
from tests.words.engines import engines, words_of
from tests.worlds import CHAIN, UNEVEN

KERNELS = [
    *("local.marks_kernel", "tilted.lane_kernels", "tilted.renewal_kernel", "tilted.nearest_kernel"),
    *("distances.symbol_kernels", "distances.lane_kernel", "distances.corridor.corridor_kernel"),
    *("certificate.ratio_kernels", "certificate.run_kernel", "distances.certified.box_kernel"),
]


@pytest.fixture
def interpreted(monkeypatch):
    def interpret() -> None:
        for module in (importlib.import_module(f"pathveil.words.{name}") for name in KERNELS):
            for name, function in vars(module).items():
                if hasattr(function, "py_func"):
                    monkeypatch.setattr(module, name, function.py_func)

    with np.errstate(all="ignore"):
        yield interpret


@pytest.mark.parametrize("world", [CHAIN, UNEVEN], ids=["chain", "uneven"])
@pytest.mark.parametrize("length", [1, 2, 5])
def test_draws_are_the_same_in_the_interpreter(world, length, interpreted):
    codes = words_of(world, length, 6)[::3]  # feasible ones
    # In one piece, as all words that are drawn: for others, every loop would be compiled once more.
    values, begins = np.ascontiguousarray(codes).reshape(-1), np.arange(len(codes)) * length
    made = [*engines(world, length, 1.2), MarksEngine(world.compiled, length, 4.0, 3)]
    prices = Prices(
        world, pv.SymbolDistance.from_coordinates({x: (k, k % 2) for k, x in enumerate(world.symbols)}, steps=9), None
    )
    made.append(DistanceEngine(world.compiled, prices, length, prices.z(2.0), feasible=True))

    def drawn() -> list[np.ndarray]:
        found = [np.full_like(values, -1) for _ in made]
        for engine, private in zip(made, found, strict=True):
            engine.draw(values, begins, private, pv.insecure_seed(7))
        return found

    compiled = drawn()
    interpreted()
    for one, other in zip(compiled, drawn(), strict=True):
        assert one.tolist() == other.tolist()


@pytest.mark.parametrize("adjacency", [1, 2])
def test_proofs_are_the_same_in_the_interpreter(adjacency, interpreted):
    distance = pv.SymbolDistance.from_coordinates({0: (0, 0), 1: (1, 0), 2: (3, 1)}, steps=9)

    def proved() -> list[float]:
        plain = pv.CertifiedExponential(CHAIN, epsilon=2.0, adjacency=adjacency)
        return [
            plain.certificate(4).loss,
            pv.CertifiedExponential(CHAIN, epsilon=2.0, adjacency=adjacency, distance=distance).certificate(3).loss,
        ]

    compiled = proved()
    interpreted()
    assert proved() == pytest.approx(compiled, rel=1e-12)
