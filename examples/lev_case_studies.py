"""LEV's two case studies, drawn: PNG files in examples/output/.

    python examples/lev_case_studies.py

1. The string "american control conference 2019" at ε = 10, 1 and 0.1 (LEV Figure 5a): LEV's own utility, and beside it
   the Hamming utility and the certified calibration, each with its exact expected number of errors. LEV's samples at
   ε = 10 look far better than ours with the same utility because its equation (18) forgets how many strings lie at each
   distance; as printed, it does not keep the ε it promises.
2. A path through a 15×15 grid world at ε = 5 (LEV Figure 5b). LEV's path is not printed; this one is ours.

The draws are seeded, so the pictures come out the same every time. Never release real data made with a seed.
"""

from __future__ import annotations

from os.path import relpath
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # no window: the pictures go to files

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

import pathveil as pv

OUTPUT = Path(__file__).parent / "output"

# From the palette of Okabe and Ito: told apart with every common kind of colour vision.
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#9A9A9A"

STRING = "american control conference 2019"
STRING_EPSILONS = (10.0, 1.0, 0.1)

SIDE = 15
STEPS = {"N": (0, 1), "E": (1, 0), "S": (0, -1), "W": (-1, 0)}
START = (1, 2)
PLAN = "NNNNN" + "EEEE" + "NNNNN" + "EEEEE" + "SSSSSS" + "EEE"
GRID_EPSILON = 5.0

Cell = tuple[int, int]


# ------------------------------------------------------------------------------------------------ 1. the string


def string_mechanisms(epsilon: float) -> dict[str, pv.WordMechanism]:
    """The three calibrations that are compared, over the characters that occur in the string, as in LEV."""
    characters = pv.Alphabet(sorted(set(STRING)))
    return {
        "LEV's utility 1/(ℓ+1)": pv.Exponential(characters, epsilon, utility=pv.InverseUtility()),
        "Hamming utility, published": pv.Exponential(characters, epsilon),
        "Hamming utility, certified": pv.CertifiedExponential(characters, epsilon),
    }


def draw_strings(path: Path, words: int = 5, seed: int = 2019) -> None:
    """One panel for each mechanism (rows) and ε (columns); wrong characters stand on orange."""
    rng = pv.insecure_seed(seed)
    rows = len(string_mechanisms(1.0))
    height = 0.55 + rows * (0.5 + 0.24 * words)
    figure, panels = plt.subplots(
        rows, len(STRING_EPSILONS), figsize=(15.5, height), layout="constrained", squeeze=False
    )
    for column, epsilon in enumerate(STRING_EPSILONS):
        for row, (name, mechanism) in enumerate(string_mechanisms(epsilon).items()):
            private = [mechanism.privatize(STRING, rng) for _ in range(words)]
            _write_strings(panels[row, column], [str(word) for word in private])
            expected = mechanism.error_law(STRING).mean
            panels[row, column].set_title(f"ε = {epsilon:g} · {name}\n{_errors(expected)} expected", fontsize=10)
    figure.suptitle(f"“{STRING}”: {words} private strings each, wrong characters on orange", fontsize=12)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _errors(expected: float) -> str:
    return f"{expected:.2f} errors" if expected > 1 else f"{expected:.2g} errors"


def _write_strings(ax: Axes, strings: list[str]) -> None:
    for line, string in enumerate(strings):
        for i, (character, true) in enumerate(zip(string, STRING, strict=True)):
            if character != true:
                ax.add_patch(Rectangle((i - 0.5, line - 0.5), 1, 1, facecolor="#F6C9A0", edgecolor="white", lw=0.6))
            ax.text(i, line, character, family="monospace", fontsize=9, ha="center", va="center")
    ax.set(xlim=(-0.6, len(STRING) - 0.4), ylim=(len(strings) - 0.4, -0.6), xticks=[], yticks=[])
    ax.spines[:].set_color(GREY)


# -------------------------------------------------------------------------------------------- 2. the grid world


def grid_moves() -> dict[tuple[Cell, str], Cell]:
    """{(cell, action): next cell}; an action that would leave the grid is not possible."""
    return {
        ((x, y), action): (x + dx, y + dy)
        for x in range(SIDE)
        for y in range(SIDE)
        for action, (dx, dy) in STEPS.items()
        if 0 <= x + dx < SIDE and 0 <= y + dy < SIDE
    }


def grid_world() -> pv.TransitionSystem:
    """The grid as LEV has it: a word is a plan, that is a sequence of actions."""
    return pv.TransitionSystem(grid_moves(), initial=START)


def grid_cells() -> pv.MarkovChain:
    """The same grid with cells for symbols: a word is the run, one cell after another, from a public start."""
    return pv.MarkovChain.from_edges([(cell, target) for (cell, _), target in grid_moves().items()], initial=START)


def draw_grid_world(path: Path, seed: int = 1, contexts: int = 40_000) -> None:
    """The sensitive path, and one private path for each mechanism.

    On plans nothing better than the published calibration is proved, so the certified mechanism appears on cells,
    where the unit is one cell instead of one action.
    """
    rng = pv.insecure_seed(seed)
    plans, cells = grid_world(), grid_cells()
    true_run = plans.run(PLAN)
    figure, panels = plt.subplots(2, 3, figsize=(12, 9.4), layout="constrained")
    figure.get_layout_engine().set(h_pad=0.1, w_pad=0.08)
    _draw_path(panels[0, 0], true_run, [True] * len(PLAN), true_run)
    panels[0, 0].set_title(f"sensitive path\n{len(PLAN)} actions", fontsize=10)

    on_plans = {
        "exponential, LEV's utility": pv.Exponential(plans, GRID_EPSILON, utility=pv.InverseUtility()),
        "exponential, Hamming utility": pv.Exponential(plans, GRID_EPSILON),
        "permute-and-flip": pv.PermuteAndFlip(plans, GRID_EPSILON),
        "online": pv.Online(plans, GRID_EPSILON),
    }
    for ax, (name, mechanism) in zip(panels.flat[1:], on_plans.items(), strict=False):
        private = mechanism.privatize(PLAN, rng)
        right = [a == b for a, b in zip(private, PLAN, strict=True)]
        _draw_path(ax, plans.run(private), right, true_run)
        ax.set_title(_grid_title(name, "actions", right, mechanism.error_law(PLAN).mean), fontsize=10)

    certified = pv.CertifiedExponential(cells, GRID_EPSILON, contexts=contexts)
    run = true_run[1:]  # the start is public and no part of the word
    private_run = certified.privatize(run, rng)
    right = [a == b for a, b in zip(private_run, run, strict=True)]
    _draw_path(panels[1, 2], (START, *private_run), right, true_run)
    panels[1, 2].set_title(
        _grid_title("certified, on cells", "cells", right, certified.error_law(run).mean), fontsize=10
    )

    figure.suptitle(f"A path of our own through the 15×15 grid world, and private ones at ε = {GRID_EPSILON:g}")
    figure.legend(
        handles=[
            Line2D([], [], color=BLUE, lw=2.5, label="right"),
            Line2D([], [], color=ORANGE, lw=2.5, ls=(0, (2, 0.8)), label="wrong"),
            Line2D([], [], color="#D9D9D9", lw=8, label="sensitive path"),
            Line2D([], [], color="black", marker="o", ls="", label="start"),
            Line2D([], [], color="black", marker="s", ls="", label="end"),
        ],
        loc="outside lower center",
        ncols=5,
        frameon=False,
    )
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _grid_title(name: str, symbols: str, right: list[bool], expected: float) -> str:
    wrong = right.count(False)
    return f"{name}\n{wrong} wrong {symbols} of {len(right)} ({expected:.2g} expected)"


def _draw_path(ax: Axes, run: tuple[Cell, ...], right: list[bool], true_run: tuple[Cell, ...]) -> None:
    ax.set(xlim=(-0.5, SIDE - 0.5), ylim=(-0.5, SIDE - 0.5), aspect="equal", xticks=[], yticks=[])
    for line in range(SIDE + 1):
        ax.axhline(line - 0.5, color="#EDEDED", lw=0.7, zorder=0)
        ax.axvline(line - 0.5, color="#EDEDED", lw=0.7, zorder=0)
    ax.plot(*zip(*true_run, strict=True), color="#D9D9D9", lw=9, solid_capstyle="round", zorder=1)
    walked: dict[frozenset[Cell], int] = {}
    for start, end, is_right in zip(run[:-1], run[1:], right, strict=True):
        # A step that goes over old ground is drawn beside it.
        before = walked.get(frozenset((start, end)), 0)
        walked[frozenset((start, end))] = before + 1
        shift = (before + 1) // 2 * (0.16 if before % 2 else -0.16)
        across = (shift, 0.0) if start[0] == end[0] else (0.0, shift)
        xs, ys = ([a + offset, b + offset] for a, b, offset in zip(start, end, across, strict=True))
        style = {"color": BLUE} if is_right else {"color": ORANGE, "ls": (0, (2, 0.8))}
        ax.plot(xs, ys, lw=2.5, zorder=2, **style)
    ax.plot(*run[0], "o", color="black", ms=8, zorder=3)
    ax.plot(*run[-1], "s", color="black", ms=8, zorder=3)


def main(output: Path = OUTPUT) -> None:
    output.mkdir(parents=True, exist_ok=True)
    strings, grid = output / "lev_case_study_1_strings.png", output / "lev_case_study_2_grid_world.png"
    draw_strings(strings)
    print(f"{relpath(strings)}: “{STRING}” at ε = {', '.join(f'{epsilon:g}' for epsilon in STRING_EPSILONS)}")
    draw_grid_world(grid)
    print(f"{relpath(grid)}: a path of {len(PLAN)} actions through {grid_world()!r} at ε = {GRID_EPSILON:g}")


if __name__ == "__main__":
    main()
