"""How time grows with the length of a word, the size of the city, the number of words, and b: a picture, and exponents.

    python benchmarks/scaling.py docs/development/scaling.png

Processor time, the best of three. The exponent of a curve is the slope of a straight line through its logarithms.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

import pathveil as pv

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]

from cities import trips  # noqa: E402


def best_time(action: Callable[[], object], repeats: int = 3) -> float:
    seconds = []
    for _ in range(repeats):
        begin = time.process_time()
        action()
        seconds.append(time.process_time() - begin)
    return min(seconds)


def batch_time(
    make: Callable[[pv.System, float], pv.WordMechanism],
    world: pv.MarkovChain,
    length: int,
    words: int,
    epsilon: float = 5.0,
) -> float:
    """Seconds for a batch of words, most of them different."""
    mechanism, codes = make(world, epsilon), np.resize(trips(world, min(words, 2_000), length), (words, length))
    mechanism.privatize_array(codes)  # compile, and whatever is prepared once
    return best_time(lambda: mechanism.privatize_array(codes))


Curve = tuple[str, Sequence[int], list[float]]


def curves() -> dict[str, list[Curve]]:
    """For each panel, named by what grows: curves of seconds."""
    town = pv.example_town()
    lengths, sizes = (14, 28, 56, 112, 224), (43, 1_000, 10_000, 100_000, 1_000_000)
    cities = [town, *map(pv.example_city, sizes[1:])]
    counts, adjacencies = (1_000, 10_000, 100_000, 1_000_000), (1, 2, 3)
    panels: dict[str, list[Curve]] = {"symbols in a word": [], "junctions": [], "words": [], "b": []}
    for name, make in (("exponential", pv.Exponential), ("permute-and-flip", pv.PermuteAndFlip)):
        panels["symbols in a word"].append((name, lengths, [batch_time(make, town, n, 2_000) for n in lengths]))
        panels["junctions"].append((name, sizes, [batch_time(make, city, 100, 2_000, 10.0) for city in cities]))
        panels["words"].append((name, counts, [batch_time(make, town, 14, k) for k in counts]))
    pv.CertifiedExponential(town, 5.0, 2).certificate(5)  # compile
    certified = [best_time(lambda b=b: pv.CertifiedExponential(town, 5.0, b).certificate(14), 1) for b in adjacencies]  # type: ignore[misc]
    panels["b"].append(("certificate, 43 segments, n = 14", adjacencies, certified))
    return panels


def draw(path: Path, panels: dict[str, list[Curve]]) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 7), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, (what, drawn) in zip(figure.subplots(2, 2).flat, panels.items(), strict=True):
        for name, sizes, seconds in drawn:
            exponent = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
            axes.plot(sizes, seconds, marker="o", label=f"{name}: exponent {exponent:.2f}")
            print(f"{what}, {name}: " + ", ".join(f"{n:,}: {t:.3g} s" for n, t in zip(sizes, seconds, strict=True)))
            print(f"  exponent {exponent:.2f}")
        axes.set(xscale="log", yscale="log", xlabel=what, ylabel="seconds for the batch" if what != "b" else "seconds")
        ticks = drawn[0][1]
        axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
        axes.minorticks_off()
        axes.legend()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    draw(Path(sys.argv[1] if len(sys.argv) > 1 else "scaling.png"), curves())
