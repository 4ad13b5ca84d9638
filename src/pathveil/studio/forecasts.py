"""Forecasts for the sliders: computed in the background, once for each public system, and then answered at once.

A process of its own computes them, one cell (ε, b) after the other, so that pages stay quick meanwhile. Only the public
system and what was declared about the words go into it.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from pathveil.errors import PathVeilError
from pathveil.studio.choices import Choices
from pathveil.studio.projects import Project
from pathveil.systems.symbol_distance import SymbolDistance
from pathveil.systems.system import System

EPSILONS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""The stops of the slider for ε."""

ADJACENCIES = (1, 2, 3)
"""The stops of the slider for b."""

Key = tuple[str, str, float | None, int, float, int]


@dataclass(frozen=True)
class Cell:
    """What to expect at one ε and b: errors in a word and in which share of it, and what nobody can do better."""

    mechanism: str = ""
    errors: float = 0.0
    likely: int = 0
    """So many errors, or fewer, in nine words of ten."""
    metres: float | None = None
    """On a map: how far a private place is from the true one, on average."""
    bound: float = 0.0
    problem: str = ""


class Forecasts:
    """Cells that are known or being computed, for all projects of this studio."""

    def __init__(self) -> None:
        self._cells: dict[Key, Future[Cell]] = {}
        self._lock = threading.Lock()
        self._pool: ProcessPoolExecutor | None = None

    def begin(self, project: Project, length: int, b: int, within: float | None) -> None:
        """Have the cells of a project computed for this b. What was wanted before, and is not begun, is given up."""
        # Large ε first: they take the least, and show at once that something comes.
        keys = [self._key(project, length, epsilon, b, within) for epsilon in sorted(EPSILONS, reverse=True)]
        with self._lock:
            for key, waiting in list(self._cells.items()):
                if key not in keys and waiting.cancel():
                    del self._cells[key]
            for key in keys:
                if key not in self._cells:
                    self._cells[key] = self._workers().submit(cell, key[0], within, length, key[4], b)

    def known(self, project: Project, length: int, b: int, within: float | None) -> dict[str, Any]:
        """The cells that are done, {"ε": cell}, and how many there will be."""
        cells: dict[str, Any] = {}
        for epsilon in EPSILONS:
            future = self._cells.get(self._key(project, length, epsilon, b, within))
            if future is not None and future.done() and not future.cancelled():
                cells[f"{epsilon:g}"] = vars(future.result())
        return {"length": length, "adjacency": b, "cells": cells, "done": len(cells), "total": len(EPSILONS)}

    def close(self) -> None:
        """Stop computing."""
        with self._lock:
            if self._pool is not None:
                for process in list(self._pool._processes.values()):
                    process.terminate()
                self._pool.shutdown(cancel_futures=True)

    def _workers(self) -> ProcessPoolExecutor:
        if self._pool is None:
            # A fresh interpreter: a fork of a server with threads would copy their locks.
            self._pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), initializer=end_with_the_studio)
        return self._pool

    @staticmethod
    def _key(project: Project, length: int, epsilon: float, b: int, within: float | None) -> Key:
        return str(project.system), project.system_digest, within, length, epsilon, b


def end_with_the_studio() -> None:
    """Runs first in the other process: should the studio be killed, nobody would tell it that its work is over."""

    def watch() -> None:
        studio = multiprocessing.parent_process()
        if studio is not None:
            studio.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def cell(path: str, within: float | None, length: int, epsilon: float, adjacency: int) -> Cell:
    """One forecast, by `pathveil.forecast`; runs in the other process."""
    from pathveil.planning.forecast import forecast

    try:
        world, distance = _world(path, Path(path).stat().st_mtime_ns, within is not None)
        b = min(adjacency, length)
        found = forecast(world, length, epsilon, b, distance=distance, within=within, quick=True)
    except PathVeilError as problem:
        return Cell(problem=str(problem))
    if not found.rows:
        return Cell(problem="; ".join(found.unusable.values()))
    best = found.best
    bound = 0.0 if best.lower_bound is None else best.lower_bound
    return Cell(best.mechanism, best.expected_errors, best.quantiles[0.9], best.expected_distance, bound)


@lru_cache(maxsize=1)
def _world(path: str, _changed: int, on_a_map: bool) -> tuple[System, SymbolDistance | None]:
    """The public system, and how far its symbols are apart if it is a map that is asked for."""
    from pathveil.data.points import cells_of
    from pathveil.data.public import SavedSystem

    saved = SavedSystem.read(Path(path))
    cells = cells_of(saved) if on_a_map else None
    return saved.system, None if cells is None else cells.distance_within(None)


def model_forecasts(project: Project, choices: Choices, words: float) -> dict[str, Any]:
    """What a model would be worth at each ε; that takes no time."""
    from pathveil.data.public import SavedSystem
    from pathveil.models.sequences import forecast_sequences

    world = SavedSystem.read(project.system).system
    person = choices["unit"] == "user"
    found = {}
    for epsilon in EPSILONS:
        expected = forecast_sequences(
            support=world,
            words=words,
            max_length=int(choices["max-length"]),
            epsilon=epsilon,
            delta=float(choices["delta"]) if choices["delta"] else None,
            unit="user" if person else "word",
            max_words_per_user=int(choices["max-words-per-user"]) if person else None,
            neighbours="add-remove" if choices["neighbours"] == "add-remove" else "replace",
        )
        found[f"{epsilon:g}"] = {
            "order": expected.order,
            "lengths": expected.lengths,
            "starts": expected.starts,
            "ends": expected.ends,
            "pairs": expected.pairs,
            "threshold": expected.threshold,
            "remarks": list(expected.remarks),
        }
    return found
