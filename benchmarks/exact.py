"""What exact sampling costs: the same batches with and without the comparisons that look for doubt.

    .venv-bench/bin/python benchmarks/exact.py

Without a margin no draw is ever in doubt and nothing is decided twice; the comparison with the margin itself, one for
each symbol, stays in the loop. (What that costs shows in `batches.py`, where the same loop is compared with a plain one
that has no margins.) The last row also says how much slower ball arithmetic is, which one symbol in 10^12 needs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import pathveil as pv
from pathveil.words.base import doubt

sys.path[:0] = [str(Path(__file__).resolve().parent)]

from batches import Goal, as_goal, line  # noqa: E402
from timing import in_turns  # noqa: E402

_EVERYTHING = 1e18


@contextmanager
def margins(factor: float) -> Iterator[None]:
    """Margins so many times the largest rounding error: 0 trusts every comparison, a huge number none."""
    kept, doubt.SAFETY = doubt.SAFETY, factor
    try:
        yield
    finally:
        doubt.SAFETY = kept


def _under(factor: float, action: Callable[[], Any]) -> Callable[[], None]:
    def run() -> None:
        with margins(factor):
            action()

    return run


def goals(batch: int = 200_000, length: int = 14) -> list[Goal]:
    town, source = pv.example_town(), pv.insecure_seed(1)
    codes = np.array([town.encode(town.random_word(length, source)) for _ in range(2_000)])
    codes = codes[np.random.default_rng(1).integers(0, len(codes), batch)]
    equal = np.repeat(codes[:20], 2_000, axis=0)
    few, inverse = codes[:50], pv.Exponential(town, 5.0, utility=pv.InverseUtility())
    works = {
        "certified words, town, n = 14, ε = 5": (pv.CertifiedExponential(town, 5.0).privatize_array, codes),
        "certified words, town, n = 14, ε = 2": (pv.CertifiedExponential(town, 2.0).privatize_array, codes),
        "LEV's utility by class, town, n = 14, ε = 5, equal words": (inverse.privatize_array, equal),
        "certified words one by one, town, n = 14, ε = 5": (pv.CertifiedExponential(town, 5.0).privatize_array, few),
    }
    rows = []
    for work, (draw, words) in works.items():
        draw(words)  # compiled, certified
        exact, rounded = in_turns(
            *(_under(factor, lambda: draw(words)) for factor in (doubt.SAFETY, 0.0)),  # noqa: B023 - called at once
            rounds=15,
        )
        rows.append(
            as_goal(
                f"exact sampling: {work}",
                "the same in floating point",
                exact / rounded,
                1.25,
                f"{len(words) / exact:,.0f} against {len(words) / rounded:,.0f} words a second",
                at_most=True,
            )
        )
    mechanism = pv.CertifiedExponential(town, 5.0)
    balls, floats = in_turns(
        *(_under(factor, lambda: mechanism.privatize_array(few)) for factor in (_EVERYTHING, doubt.SAFETY)), rounds=3
    )
    rows[-1]["detail"] += f"; all of them in ball arithmetic: {balls / floats:,.0f} times as long"
    return rows


if __name__ == "__main__":
    for goal in goals():
        print(line(goal))
