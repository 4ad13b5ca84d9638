"""PF's Figures 2, 4 and 5 in our version: PNG files in examples/output/.

    python examples/pf_figures.py

Figure 2: the bounds of PF's Theorem 2, with the exact expectation between them.
Figure 4: a sensitive trip on a map, and private trips at ε = 0.5 and 5.
Figure 5: expected errors against ε, with sampled words as dots.

PF's road network is not public. Figures 4 and 5 use PathVeil's synthetic town, which has as many segments (43) and is
otherwise not PF's, so the shapes can be compared but not the numbers. All curves are exact; all draws are seeded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from os.path import relpath
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # no window: the pictures go to files

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

import pathveil as pv
from pathveil.systems.examples import town_segments
from pathveil.systems.system import Word

OUTPUT = Path(__file__).parent / "output"

# From the palette of Okabe and Ito: told apart with every common kind of colour vision.
BLUE, ORANGE, GREEN, BLACK, GREY = "#0072B2", "#D55E00", "#009E73", "#000000", "#9A9A9A"

LENGTH = 14
EPSILONS = (0.1, *np.arange(0.5, 6.0, 0.25).tolist(), *np.arange(6.0, 10.1, 0.5).tolist())
SAMPLED_EPSILONS = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)


# -------------------------------------------------------------------------------------------------- Figure 2


def draw_figure_2(path: Path) -> None:
    """Theorem 2 for growing ε, n and m, around n = 5, m = 2, ε = 5 (b = 1)."""
    figure, panels = plt.subplots(1, 3, figsize=(13, 4.3), layout="constrained")
    _bounds_panel(panels[0], np.linspace(0.1, 10, 100), lambda epsilon: (5, 2, epsilon))
    panels[0].set(title="(a) n = 5, m = 2", xlabel="ε", ylabel="expected errors E[ℓ]")
    _bounds_panel(panels[1], range(2, 21), lambda n: (int(n), 2, 5.0))
    panels[1].set(title="(b) ε = 5, m = 2", xlabel="word length n", xticks=range(2, 21, 3))
    _bounds_panel(panels[2], range(2, 11), lambda m: (5, int(m), 5.0))
    panels[2].set(title="(c) ε = 5, n = 5", xlabel="number of symbols m", xticks=range(2, 11))
    figure.suptitle("PF Theorem 2: bounds on permute-and-flip's expected errors, and the exact value between them")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _bounds_panel(ax: Axes, values: Sequence[float], setting: Callable[[float], tuple[int, int, float]]) -> None:
    """`setting` turns a value on the horizontal axis into (n, m, ε)."""
    bounds, exact = [], []
    for n, m, epsilon in map(setting, values):
        bounds.append(pv.permute_and_flip_bounds(n, m, epsilon))
        alphabet = pv.Alphabet(range(m))
        exact.append(pv.PermuteAndFlip(alphabet, epsilon).error_law((0,) * n).mean)
    low, high = np.array(bounds).T
    mark = "o" if len(values) < 30 else ""  # n and m are whole numbers: show where they are
    ax.fill_between(values, low, high, color=BLUE, alpha=0.12, lw=0)
    ax.plot(values, high, color=BLUE, marker=mark, ms=3, label="upper bound = published exponential mechanism")
    ax.plot(values, exact, color=ORANGE, lw=2.2, marker=mark, ms=4, label="permute-and-flip, exact")
    ax.plot(values, high / 2, color=GREY, ls=":", lw=1.5, label="half the upper bound: never below (ours)")
    ax.plot(values, low, color=BLUE, ls="--", marker=mark, ms=3, label="lower bound")
    ax.axhline(0, color=BLACK, lw=0.6)
    ax.grid(alpha=0.25)


# -------------------------------------------------------------------------------------------------- Figure 4


def draw_figure_4(path: Path, contexts: int = 40_000, seed: int = 4) -> None:
    """The town as a map, a sensitive trip, and private ones by permute-and-flip and the certified mechanism."""
    rng = pv.insecure_seed(seed)
    town = pv.example_town()
    trip = simple_trip(town, rng)
    figure, panels = plt.subplots(2, 3, figsize=(13.5, 8.0), layout="constrained")
    figure.get_layout_engine().set(h_pad=0.1)
    draw_trip(panels[0, 0], town, trip, trip)
    panels[0, 0].set_title(f"the sensitive trip: {LENGTH} segments", fontsize=10)
    _draw_names(panels[1, 0], town)
    panels[1, 0].set_title(f"the town: {len(town.symbols)} segments (synthetic, not PF's)", fontsize=10)
    for column, epsilon in ((1, 0.5), (2, 5.0)):
        mechanisms = {
            "permute-and-flip": pv.PermuteAndFlip(town, epsilon),
            "certified": pv.CertifiedExponential(town, epsilon, contexts=contexts),
        }
        for ax, (name, mechanism) in zip(panels[:, column], mechanisms.items(), strict=True):
            private = mechanism.privatize(trip, rng)
            wrong = sum(a != b for a, b in zip(private, trip, strict=True))
            draw_trip(ax, town, private, trip)
            expected = mechanism.error_law(trip).mean
            ax.set_title(f"{name}, ε = {epsilon:g}\n{wrong} wrong segments ({expected:.2g} expected)", fontsize=10)
    figure.suptitle("Trips through the example town, after PF Figure 4")
    figure.legend(
        handles=[
            Line2D([], [], color=BLUE, lw=2.5, label="right segment"),
            Line2D([], [], color=ORANGE, lw=2.5, ls=(0, (2, 0.8)), label="wrong segment"),
            Line2D([], [], color="#D0D0D0", lw=9, label="sensitive trip"),
            Line2D([], [], color=BLACK, marker="o", ls="", label="start"),
            Line2D([], [], color=BLACK, marker="s", ls="", label="end"),
            Line2D([], [], color=GREY, marker="^", ls="-", lw=1, label="one-way avenue"),
        ],
        loc="outside lower center",
        ncols=6,
        frameon=False,
    )
    figure.savefig(path, dpi=150)
    plt.close(figure)


def simple_trip(town: pv.MarkovChain, rng: pv.RandomSource) -> Word:
    """A trip that drives along no segment twice and does not turn: easier to see."""
    trip = town.random_word(LENGTH, rng)
    while len(set(trip)) < LENGTH or _turns(trip):
        trip = town.random_word(LENGTH, rng)
    return trip


def _way(town: pv.MarkovChain, avenue: str) -> str:
    """Which way an avenue goes, as a marker: towards the crossing from which one can drive on."""
    _, north = town_segments()[avenue]
    onward = (other for other, ends in town_segments().items() if north in ends)
    return "^" if any(town.is_feasible((avenue, other)) for other in onward) else "v"


def _draw_roads(ax: Axes, town: pv.MarkovChain) -> None:
    for name, ((x1, y1), (x2, y2)) in town_segments().items():
        ax.plot([x1, x2], [y1, y2], color=GREY, lw=1, zorder=1)
        if "Av" in name:  # avenues are one-way, streets are not
            ax.plot((x1 + x2) / 2, (y1 + y2) / 2, marker=_way(town, name), color=GREY, ms=5, zorder=1)
    ax.set(aspect="equal", xlim=(-0.4, 5.4), ylim=(-0.4, 4.4), xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


def _draw_names(ax: Axes, town: pv.MarkovChain) -> None:
    _draw_roads(ax, town)
    for name, ((x1, y1), (x2, y2)) in town_segments().items():
        turn = 90 if x1 == x2 else 0
        ax.text(
            (x1 + x2) / 2,
            (y1 + y2) / 2,
            name,
            rotation=turn,
            fontsize=7,
            ha="center",
            va="center",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
        )


def draw_trip(ax: Axes, town: pv.MarkovChain, trip: Word, true_trip: Word) -> None:
    """The map with the true trip in grey, and a trip on it: its wrong segments are orange and dashed."""
    _draw_roads(ax, town)
    for name in true_trip:
        ax.plot(
            *zip(*town_segments()[str(name)], strict=True), color="#D0D0D0", lw=10, solid_capstyle="round", zorder=0
        )
    route = _route(trip)
    driven: dict[object, int] = {}
    for name, true, points in zip(trip, true_trip, route, strict=True):
        # A segment that is driven again is drawn beside the first time.
        before = driven.get(name, 0)
        driven[name] = before + 1
        shift = (before + 1) // 2 * (0.07 if before % 2 else -0.07)
        across = (shift, 0.0) if points[0][0] == points[1][0] else (0.0, shift)
        xs, ys = ([point[axis] + across[axis] for point in points] for axis in (0, 1))
        style = {"color": BLUE} if name == true else {"color": ORANGE, "ls": (0, (2, 0.8))}
        ax.plot(xs, ys, lw=2.5, zorder=2, **style)
    ax.plot(*route[0][0], "o", color=BLACK, ms=8, zorder=3)
    ax.plot(*route[-1][-1], "s", color=BLACK, ms=8, zorder=3)


def _route(trip: Word) -> list[list[tuple[float, float]]]:
    """For each segment of a trip the points that are driven through.

    A trip starts and ends halfway along a segment; between two segments it passes the crossing that they share.
    Where it leaves a segment at the crossing where it came in, it turns halfway: the way back is not drawn.
    """
    ends = [town_segments()[str(name)] for name in trip]
    middles = [((a[0] + b[0]) / 2, (a[1] + b[1]) / 2) for a, b in ends]
    shared = [(set(one) & set(two)).pop() for one, two in pairwise(ends)]
    stops: list[tuple[float, float]] = [middles[0], *shared, middles[-1]]
    return [
        [start, end if start != end else middle]
        for start, end, middle in zip(stops[:-1], stops[1:], middles, strict=True)
    ]


def _turns(trip: Word) -> bool:
    """Does the trip leave some segment at the crossing where it came in?"""
    return any(one[1] != two[0] for one, two in pairwise(_route(trip)))


# -------------------------------------------------------------------------------------------------- Figure 5


def draw_figure_5(
    path: Path,
    epsilons: Sequence[float] = EPSILONS,
    sampled_at: Sequence[float] = SAMPLED_EPSILONS,
    trips: int = 20,
    words: int = 2_000,
    contexts: int = 40_000,
    seed: int = 5,
) -> None:
    """Expected errors against ε, averaged over uniformly random trips; `words` sampled words behind each dot."""
    rng = pv.insecure_seed(seed)
    town = pv.example_town()
    sample = [town.random_word(LENGTH, rng) for _ in range(trips)]
    flip, published, certified = (
        np.array([_mean_errors(make(epsilon), sample) for epsilon in epsilons])
        for make in (
            lambda epsilon: pv.PermuteAndFlip(town, epsilon),
            lambda epsilon: pv.Exponential(town, epsilon),
            lambda epsilon: pv.CertifiedExponential(town, epsilon, contexts=contexts),
        )
    )
    repeated = [trip for trip in sample for _ in range(words // trips)]
    dots = [_sampled_errors(pv.PermuteAndFlip(town, epsilon), repeated, rng) for epsilon in sampled_at]

    figure, (whole, zoom, ratio) = plt.subplots(1, 3, figsize=(15, 4.8), layout="constrained")
    for ax in (whole, zoom):
        ax.plot(epsilons, published, color=BLUE, ls="--", label="exponential, published")
        ax.plot(epsilons, flip, color=ORANGE, lw=2, label="permute-and-flip")
        ax.plot(sampled_at, dots, "o", color=ORANGE, mec="white", ms=7, label=f"mean of {len(repeated):,} P&F words")
        ax.plot(epsilons, certified, color=GREEN, lw=2, ls="-.", label="certified (among feasible words)")
        ax.set(xlabel="ε", ylabel=f"wrong segments of {LENGTH}")
        ax.grid(alpha=0.25)
    whole.set(title="ε from 0.1 to 10", xlim=(0, 10.1), ylim=(0, LENGTH))
    inside = [
        (low, high) for epsilon, low, high in zip(epsilons, certified, published, strict=True) if 3 <= epsilon <= 6
    ]
    zoom.set(title="ε from 3 to 6", xlim=(2.95, 6.05), ylim=(0, 1.05 * max(high for _, high in inside)))
    whole.legend(fontsize=9)

    ratio.plot(epsilons, flip / certified, color=GREEN, lw=2, ls="-.", label="permute-and-flip ÷ certified")
    ratio.plot(epsilons, published / flip, color=BLUE, ls="--", label="published exponential ÷ permute-and-flip")
    ratio.axhline(2, color=GREY, ls=":", lw=1.5)
    ratio.text(10, 2.08, "2, the most that permute-and-flip can gain", fontsize=8, color="#555555", ha="right")
    ratio.set(
        title="how many times fewer errors", xlabel="ε", xlim=(0, 10.1), yscale="log", ylabel="ratio of expected errors"
    )
    ticks = [tick for tick in (1, 2, 5, 10, 20, 50, 100) if tick <= 1.2 * max(flip / certified)]
    ratio.set_yticks(ticks, [str(tick) for tick in ticks])
    ratio.minorticks_off()
    ratio.grid(alpha=0.25)
    ratio.legend(fontsize=9, loc="upper left")
    figure.suptitle(
        f"Expected errors on the example town (43 segments, not PF's network), n = {LENGTH}, b = 1, "
        f"mean over {trips} trips; after PF Figure 5"
    )
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _mean_errors(mechanism: pv.WordMechanism, trips: Sequence[Word]) -> float:
    return sum(mechanism.error_law(trip).mean for trip in trips) / len(trips)


def _sampled_errors(mechanism: pv.WordMechanism, trips: Sequence[Word], rng: pv.RandomSource) -> float:
    private = mechanism.privatize_many(trips, rng)
    wrong = sum(a != b for word, true in zip(private, trips, strict=True) for a, b in zip(word, true, strict=True))
    return wrong / len(trips)


def main(output: Path = OUTPUT) -> None:
    output.mkdir(parents=True, exist_ok=True)
    for name, draw in (("pf_figure_2", draw_figure_2), ("pf_figure_4", draw_figure_4), ("pf_figure_5", draw_figure_5)):
        path = output / f"{name}.png"
        draw(path)
        print(f"{relpath(path)}: {draw.__doc__.splitlines()[0]}", flush=True)


if __name__ == "__main__":
    main()
