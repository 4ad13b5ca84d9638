"""MDM's Figures 1, 2 and 3 in our version: PNG files in examples/output/.

    python examples/mdm_figures.py

Figure 1: the error of an entry of a 10×10 matrix of 0.1, and MDM's bound on it, against ε.
Figure 2: a walk of ten steps through 32 streets, and through two private versions of their chain.
Figure 3: how far privacy moves the stationary distribution of a chain of 32 streets, against ε.

MDM's Gainesville chain is not in the paper. Ours has as many states, three or four possible turns from each, and every
turn's probability at least 0.1; it is drawn from a seed and stands for no real town. So shapes can be compared, numbers
cannot. MDM's text averages private distributions and then takes the norm of the difference; we average the norms, which
is what its Theorem 3 bounds.

Two readings of ε are drawn, because MDM mixes them: its adjacency lets *every* row change, its ε counts *one*. "One
row" is `protects="row"`; "every row" is `protects="matrix"`, where the losses of all rows add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from os.path import relpath
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # no window: the pictures go to files

import matplotlib.pyplot as plt
import numpy as np

import pathveil as pv
from pathveil.models.accuracy import expected_absolute_error, expected_stationary_error
from pathveil.models.dirichlet import draw_dirichlet
from pathveil.models.frequencies import draw_rows
from pathveil.models.matrix import calibrate_rows
from pathveil.numerics.arrays import FloatArray

OUTPUT = Path(__file__).parent / "output"

# From the palette of Okabe and Ito: told apart with every common kind of colour vision. Lines differ in style, too.
BLUE, ORANGE, GREEN, SKY, BLACK, GREY = "#0072B2", "#D55E00", "#009E73", "#56B4E9", "#000000", "#9A9A9A"

GAMMA = 0.001


# -------------------------------------------------------------------------------------------------- Figure 1


def draw_figure_1(
    path: Path, ks: Sequence[float] = tuple(np.geomspace(10, 100, 19).tolist()), draws: int = 10_000, seed: int = 1
) -> None:
    """E|P_ij - P̃_ij| for the 10×10 matrix of 0.1 (b = 0.05, four protected entries in a row), and Theorem 2's bound."""
    n, w, eta, b = 10, 4, 0.1, 0.05
    rng = pv.insecure_seed(seed)
    # MDM does not say what η̄ is, the least that all unprotected entries have together. 0.1 gives about its range of ε.
    # Its δ ≤ 0.027 is what three protected entries would have; with the four that it names, the formula gives 0.036.
    published = [pv.published.mdm_epsilon(k, eta, eta, b, w, GAMMA) for k in ks]
    deltas = [pv.published.mdm_delta_corrected(k, eta, [w], GAMMA) for k in ks]
    rows = [pv.DirichletProfile(eta, k, b / 2) for k in ks]
    one_row = [row.epsilon(delta) for row, delta in zip(rows, deltas, strict=True)]
    every_row = [pv.ComposedProfile([row] * n).epsilon(delta) for row, delta in zip(rows, deltas, strict=True)]
    expected = [float(expected_absolute_error(0.1, k)) for k in ks]
    bound = [pv.published.mdm_theorem_2_bounds(k)[0] for k in ks]
    drawn = [float(np.abs(draw_dirichlet(rng, np.full((draws, n), k * 0.1)) - 0.1).mean()) for k in ks]

    figure, ax = plt.subplots(figsize=(9, 5.4), layout="constrained")
    for epsilons, colour, mark, name in (
        (one_row, BLUE, "s", "exact, one row may change"),
        (every_row, GREEN, "^", "exact, all 10 rows may change"),
        (published, ORANGE, "o", "as MDM's Theorem 1 says"),
    ):
        ax.plot(epsilons, bound, color=colour, ls="--", lw=1.3)
        ax.plot(epsilons, expected, color=colour, lw=2.2, label=f"ε {name}")
        ax.plot(epsilons, drawn, mark, color=colour, mec="white", ms=6)
    ax.plot([], [], color=GREY, ls="--", label="dashed: bound of Theorem 2, (15)")
    ax.plot([], [], "o", color=GREY, mec="white", label=f"marks: mean of {draws:,} draws")
    ticks = (0.5, 1, 2, 3, 5, 10, 20)
    ax.set(xscale="log", xlabel="ε, each k with the δ of MDM's Theorem 1", ylabel="mean |entry - private entry|")
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.set_xticks([], minor=True)
    ax.set_ylim(0, None)
    ax.grid(alpha=0.25)
    ax.legend(fontsize=9, frameon=False)
    ax.set_title(
        "A 10×10 matrix of 0.1 (b = 0.05): the same noise, k = 10 to 100, three accountings; after MDM Figure 1",
        fontsize=10,
    )
    figure.savefig(path, dpi=150)
    plt.close(figure)


# -------------------------------------------------------------------------------------------------- Figures 2 and 3


def streets(seed: int = 32, states: int = 32, least: float = 0.1) -> FloatArray:
    """A chain of made-up streets: from each one to the next around the town, and to two or three others."""
    random = np.random.default_rng(seed)
    matrix = np.zeros((states, states))
    for i in range(states):
        turns = random.choice([-5, -2, -1, 2, 5, 9], size=random.integers(2, 4), replace=False)
        targets = [(i + 1) % states, *((i + turn) % states for turn in turns)]
        matrix[i, targets] = least + (1 - least * len(targets)) * random.dirichlet(np.ones(len(targets)))
    return matrix


def draw_figure_2(path: Path, ks: Sequence[float] = (9.87, 98.7), steps: int = 10, seed: int = 2) -> None:
    """A walk of ten steps by the true chain and by two private ones, all three with the same luck."""
    P, b, eta = streets(), 0.025, 0.1
    walks = {"without privacy": P}
    for k in ks:
        claimed = pv.published.mdm_epsilon(k, eta, eta, b, 2, GAMMA)
        exact = pv.DirichletProfile(eta, k, b / 2).epsilon(0.011)
        label = f"k = {k:g}: ε = {claimed:.3g} claimed, {exact:.2g} exact (one row, δ = 0.011)"
        walks[label] = draw_dirichlet(pv.insecure_seed(seed), k * P)
    figure, ax = plt.subplots(figsize=(9, 4.6), layout="constrained")
    looks = ((BLACK, "-", "o"), (ORANGE, "--", "s"), (BLUE, "-.", "^"))
    for (label, matrix), (colour, dashes, marker) in zip(walks.items(), looks, strict=True):
        luck = np.random.default_rng(seed).random(steps)
        states = [0]
        for u in luck:
            states.append(int(np.searchsorted(np.cumsum(matrix[states[-1]]), u, side="right")))
        ax.plot(range(steps + 1), states, color=colour, ls=dashes, marker=marker, label=label)
    ax.set(xlabel="step", ylabel="street", xticks=range(steps + 1))
    ax.grid(alpha=0.25)
    ax.legend(fontsize=9)
    ax.set_title("Walks through a made-up town of 32 streets (b = 0.025); after MDM Figure 2", fontsize=11)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def draw_figure_3(
    path: Path,
    epsilons: Sequence[float] = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0),
    draws: int = 300,
    seed: int = 3,
) -> None:
    """‖π - π̃‖₁ against ε at δ = 0.011, b = 0.025: MDM's noise, and the least noise that each unit really needs."""
    P, b, delta, eta = streets(), 0.025, 0.011, 0.1
    chain = pv.MarkovChain(range(len(P)), P)
    rng, truth, support = pv.insecure_seed(seed), chain.stationary_distribution, P > 0

    def error(matrix: FloatArray) -> float:
        return float(np.abs(pv.MarkovChain(range(len(P)), matrix).stationary_distribution - truth).sum())

    figure, ax = plt.subplots(figsize=(9, 5.6), layout="constrained")
    ks = np.geomspace(10, 200, 12)
    w = int(support.sum(axis=1).max()) - 1
    claimed = [pv.published.mdm_epsilon(k, eta, 0.051, b, w, GAMMA) for k in ks]
    noisy = [np.mean([error(draw_dirichlet(rng, k * P)) for _ in range(draws)]) for k in ks]
    bounds = [expected_stationary_error(chain, k) for k in ks]
    ax.plot(
        claimed, bounds, color=ORANGE, lw=1.3, ls=":", label="bound on it: MDM's Theorem 3 with its norms put right"
    )
    ax.plot(claimed, noisy, color=ORANGE, ls="--", marker="o", label="MDM, ε as its Theorem 1 says (for one row)")
    ax.axhline(2, color=GREY, lw=1, label="as far as two distributions can be apart")
    ways = {
        ("matrix", False): ("floor 0.1, exact, every row may change", {"color": GREEN, "ls": "-.", "marker": "^"}),
        ("matrix", True): ("large floor, exact, every row may change", {"color": SKY, "ls": "-", "marker": "D"}),
        ("row", False): ("floor 0.1, exact, one row may change", {"color": BLACK, "ls": (0, (5, 1)), "marker": "v"}),
        ("row", True): (
            "large floor, exact, one row may change (PathVeil's default)",
            {"color": BLUE, "ls": "-", "marker": "s"},
        ),
    }
    for (protects, mix), (label, look) in ways.items():
        errors = []
        for epsilon in epsilons:
            # What `pv.private_matrix` does, with the noise settled once for all draws.
            try:
                noise = calibrate_rows(support.sum(axis=1), b / 2, epsilon, delta, protects, None if mix else eta, mix)
            except pv.UnreachablePrivacyError:  # at floor 0.1, where every row may change and ε is small
                errors.append(np.nan)
                continue
            errors.append(np.mean([error(draw_rows(rng, P, b / 2, support, noise)[1]) for _ in range(draws)]))
        ax.plot(epsilons, errors, label=label, **look)
    ticks = (0.5, 1, 2, 3, 5, 9, 20)
    ax.set(
        xscale="log",
        yscale="log",
        xlabel="ε (δ = 0.011; in orange, the δ of MDM's Theorem 1)",
        ylabel="mean ‖π - π̃‖₁",
    )
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.set_xticks([], minor=True)
    ax.grid(alpha=0.25, which="both")
    figure.legend(loc="outside lower center", ncols=2, fontsize=9, frameon=False)
    ax.set_title(
        "The stationary distribution of a made-up chain of 32 streets (b = 0.025); after MDM Figure 3", fontsize=11
    )
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main(output: Path = OUTPUT) -> None:
    output.mkdir(parents=True, exist_ok=True)
    figures = {"mdm_figure_1": draw_figure_1, "mdm_figure_2": draw_figure_2, "mdm_figure_3": draw_figure_3}
    for name, draw in figures.items():
        path = output / f"{name}.png"
        draw(path)
        print(f"{relpath(path)}: {draw.__doc__.splitlines()[0]}", flush=True)


if __name__ == "__main__":
    main()
