"""The pictures on the page about choosing ε and b: PNG files, in examples/output/ or where the argument says.

    python examples/choosing_figures.py docs/pictures

All curves are exact; the trips are drawn from a fixed seed. The town is the bundled synthetic one.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from os.path import relpath
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # no window: the pictures go to files

import matplotlib.pyplot as plt
import numpy as np
from pf_figures import BLACK, BLUE, GREEN, GREY, LENGTH, ORANGE, OUTPUT, draw_trip, simple_trip

import pathveil as pv

STYLES = ((BLUE, "-"), (ORANGE, "--"), (GREEN, "-."), (BLACK, ":"))


def draw_belief(path: Path) -> None:
    """How sure somebody can become, for four values of ε: e^ε times the odds from before, and no more."""
    figure, ax = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
    before = np.linspace(0.001, 0.999, 400)
    for epsilon, (colour, dashes) in zip((4.0, 2.0, 1.0, 0.5), reversed(STYLES), strict=True):
        odds = np.exp(epsilon) * before / (1 - before)
        ax.plot(100 * before, 100 * odds / (1 + odds), color=colour, ls=dashes, lw=2, label=f"ε = {epsilon:g}")
    ax.plot([0, 100], [0, 100], color=GREY, lw=1, label="nothing learned")
    ax.set(
        title="How sure can somebody become?",
        xlabel="sure before the release, %",
        ylabel="sure after it, at most, %",
        xlim=(0, 100),
        ylim=(0, 101),
    )
    ax.grid(alpha=0.25)
    ax.legend(loc="lower right", frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_errors(
    path: Path, epsilons: Sequence[float] = (0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10), trips: int = 8, contexts: int = 2_000
) -> None:
    """Expected share of wrong symbols against ε for b = 1, 2, 3: on the town, and on a free alphabet of 17 pages."""
    town, rng = pv.example_town(), pv.insecure_seed(14)
    sample = [town.random_word(LENGTH, rng) for _ in range(trips)]
    figure, panels = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained", sharey=True)
    for b, (colour, dashes) in zip((1, 2, 3), STYLES, strict=False):
        style = {"color": colour, "ls": dashes, "lw": 2, "marker": "o", "ms": 4, "label": f"b = {b}"}
        on_roads = []
        for epsilon in epsilons:
            mechanism = pv.CertifiedExponential(town, epsilon, b, contexts=contexts)
            on_roads.append(np.mean([mechanism.error_law(trip).mean for trip in sample]) / LENGTH)
        panels[0].plot(epsilons, 100 * np.array(on_roads), **style)
        free = [16 * np.exp(-epsilon / b) / (1 + 16 * np.exp(-epsilon / b)) for epsilon in epsilons]
        panels[1].plot(epsilons, 100 * np.array(free), **style)
    panels[0].set(title=f"road network: 43 segments, trips of {LENGTH}", xlabel="ε", ylabel="wrong symbols, %")
    panels[1].set(title="free alphabet: 17 pages, visits of any length", xlabel="ε")
    for ax in panels:
        ax.set(xlim=(0, max(epsilons) * 1.02), ylim=(0, 101))
        ax.grid(alpha=0.25)
        ax.legend(frameon=False)
    figure.suptitle("What a larger b costs (certified mechanism)")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_trips(path: Path, contexts: int = 2_000, seed: int = 12) -> None:
    """One trip and its private versions at four values of ε."""
    town, rng = pv.example_town(), pv.insecure_seed(seed)
    trip = simple_trip(town, rng)
    figure, panels = plt.subplots(1, 4, figsize=(15, 3.9), layout="constrained")
    for ax, epsilon in zip(panels, (1.0, 1.5, 2.0, 5.0), strict=True):
        mechanism = pv.CertifiedExponential(town, epsilon, contexts=contexts)
        private = mechanism.privatize(trip, rng)
        draw_trip(ax, town, private, trip)
        wrong = sum(a != b for a, b in zip(private, trip, strict=True))
        expected = mechanism.error_law(trip).mean
        ax.set_title(f"ε = {epsilon:g}: {wrong} of {LENGTH} wrong ({expected:.2g} expected)", fontsize=11)
    figure.suptitle("The true trip (grey) and a private one (wrong segments orange and dashed), b = 1")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main(output: Path = OUTPUT) -> None:
    output.mkdir(parents=True, exist_ok=True)
    for name, draw in (("belief", draw_belief), ("errors", draw_errors), ("trips", draw_trips)):
        path = output / f"choosing-{name}.png"
        draw(path)
        print(f"{relpath(path)}: {draw.__doc__.splitlines()[0]}", flush=True)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
