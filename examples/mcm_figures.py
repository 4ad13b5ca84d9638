"""MCM's Figures 1, 2 and 3 in our version: PNG files in examples/output/, and a table of errors.

    python examples/mcm_figures.py

Figure 1: the expected divergence of privatized grades from the true ones, and its bound, against ε.
Figure 2: the stationary distribution of a chain of flights, true and privatized.
Figure 3: how far privacy moves stationary distributions, against ε: published accounting, exact accounting, the large
floor, and noisy counts.

MCM's grades are not in the paper: ours are made up, for as many students (98) and with the same floor (0.073). Its
taxi month is not used either; `mcm_chains.py` says what is used instead. All draws are seeded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os.path import relpath
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # no window: the pictures go to files

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from mcm_chains import METHODS, RealChain, data_folder, draw_chain, flights, mcm_as_run, stationary_error, taxis

import pathveil as pv
from pathveil.models.accuracy import expected_kl
from pathveil.models.dirichlet import draw_dirichlet

OUTPUT = Path(__file__).parent / "output"

# From the palette of Okabe and Ito: told apart with every common kind of colour vision. Lines differ in style, too.
BLUE, ORANGE, GREEN, SKY, BLACK, GREY = "#0072B2", "#D55E00", "#009E73", "#56B4E9", "#000000", "#9A9A9A"
LOOKS = {
    "published": ("MCM's floor and accounting", {"color": ORANGE, "ls": "--", "marker": "o"}),
    "exact": ("MCM's floor, exact accounting", {"color": GREEN, "ls": "-.", "marker": "^"}),
    "large floor": ("large floor (PathVeil's default)", {"color": BLUE, "ls": "-", "marker": "s", "lw": 2.2}),
    "gaussian": ("discrete Gaussian noise on counts", {"color": SKY, "ls": ":", "marker": "D"}),
    "laplace": ("discrete Laplace noise on counts (δ = 0)", {"color": BLACK, "ls": (0, (5, 1)), "marker": "v"}),
}

GRADES, GRADE_FLOOR, GRADE_GAMMA = np.array([31, 28, 20, 9, 10]), 0.073, 0.0004  # the counts are ours
DELTA, MCM_EPSILON, MCM_ERROR = 3e-6, 3.73, 0.017
EPSILONS = (0.5, 0.7, 1.0, 1.5, 2.0, 2.75, 3.73, 5.0, 7.0, 10.0)


# -------------------------------------------------------------------------------------------------- Figure 1


def draw_figure_1(path: Path, draws: int = 2_000, every: int = 10, seed: int = 1) -> None:
    """MCM Theorem 2 and Corollary 1 for k = 20.6, 21.6, …, 110.6, against published and against exact ε."""
    rng, N, n = pv.insecure_seed(seed), int(GRADES.sum()), len(GRADES)
    truth = GRADES / N
    ks = np.arange(20.6, 111.0)
    true_kl = [expected_kl(truth, k) for k in ks]
    bound = [pv.published.mcm_kl_bound(k, N, n) for k in ks]
    published = np.array([pv.published.mcm_epsilon(k, GRADE_FLOOR, N, n, GRADE_GAMMA) for k in ks])
    deltas = [pv.published.mcm_delta(k, GRADE_FLOOR, n, GRADE_GAMMA) for k in ks]
    exact = np.array(
        [pv.DirichletProfile(GRADE_FLOOR, k, 1 / N).epsilon(delta) for k, delta in zip(ks, deltas, strict=True)]
    )
    sampled = []
    for k in ks[::every]:
        x = draw_dirichlet(rng, np.broadcast_to(k * truth, (draws, n)))
        sampled.append(float((truth * np.log(truth / x)).sum(axis=1).mean()))

    figure, ax = plt.subplots(figsize=(8.5, 5), layout="constrained")
    for epsilons, colour, name in ((exact, BLUE, "exact"), (published, ORANGE, "published")):
        ax.plot(epsilons, bound, color=colour, ls="--", lw=1.3, label=f"Corollary 1's bound, {name} ε")
        ax.plot(epsilons, true_kl, color=colour, lw=2.2, label=f"expected (Theorem 2), {name} ε")
        mark = "s" if name == "exact" else "o"
        ax.plot(epsilons[::every], sampled, mark, color=colour, mec="white", ms=7, label=f"mean of {draws:,} draws")
    ax.annotate(
        "",
        (exact[0], true_kl[0]),
        (published[0], true_kl[0]),
        arrowprops={"arrowstyle": "->", "color": GREY, "shrinkA": 8, "shrinkB": 8},
    )
    ax.text(
        published[0] * 0.96,
        true_kl[0] + 0.002,
        f"the same noise\n(k = 20.6, δ = {deltas[0]:.1g}):\nε = {published[0]:.2f} → {exact[0]:.2f}",
        ha="right",
        va="bottom",
        fontsize=9,
    )
    ticks = (0.7, 1, 1.5, 2, 3, 4, 6, 8, 10)
    ax.set(
        xscale="log",
        xlabel="ε, each k with the δ of MCM (4)",
        ylabel="KL(true grades ‖ private grades)",
        ylim=(0, None),
    )
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.set_xticks([], minor=True)
    ax.grid(alpha=0.25)
    ax.legend(fontsize=9, frameon=False)
    ax.set_title(
        f"Grades of 98 students (made up: {', '.join(map(str, GRADES))}), floor η = 0.073; after MCM Figure 1",
        fontsize=11,
    )
    figure.savefig(path, dpi=150)
    plt.close(figure)


# -------------------------------------------------------------------------------------------------- Figure 2


def draw_figure_2(path: Path, chain: RealChain, epsilon: float = MCM_EPSILON, seed: int = 2) -> None:
    """The stationary distribution of one private chain for each of three accountings, and how far off they are."""
    rng, truth = pv.insecure_seed(seed), chain.stationary_distribution
    order = np.argsort(-truth)
    figure, (whole, off) = plt.subplots(
        2, 1, figsize=(12, 7), layout="constrained", sharex=True, height_ratios=(1, 1.2)
    )
    whole.bar(range(len(truth)), truth[order], color="#D0D0D0", label="true")
    for i, method in enumerate(("published", "exact", "large floor")):
        label, look = LOOKS[method]
        private = METHODS[method](chain, epsilon, DELTA, rng)
        if private is None:
            continue
        pi = np.asarray(private.stationary_distribution)
        error = np.abs(pi - truth).sum() / 2
        style = {"color": look["color"], "marker": look["marker"], "ls": "", "ms": 5}
        whole.plot(np.arange(len(truth)) + 0.22 * (i - 1), pi[order], **style)
        off.plot((pi / truth - 1)[order] * 100, **style, label=f"{label}: total-variation error {error:.2g}")
    off.axhline(0, color=BLACK, lw=0.8)
    off.set_yscale("symlog", linthresh=0.1)
    ticks = (-10, -1, -0.1, 0, 0.1, 1, 10)
    off.set_yticks(ticks, [f"{tick:g}%" for tick in ticks])
    off.set_ylim(-15, 15)
    off.set_ylabel("relative error (linear within ±0.1%)")
    off.set_xticks(range(len(truth)), [chain.states[i] for i in order], rotation=90, fontsize=8)
    whole.set(ylabel="stationary probability", yscale="log")
    for ax in (whole, off):
        ax.grid(alpha=0.25, axis="y")
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    figure.suptitle(
        f"{chain.name}: where a long trip is found; one draw at ε = {epsilon:g}, δ = {DELTA:g}, after MCM Figure 2"
    )
    figure.savefig(path, dpi=150)
    plt.close(figure)


# -------------------------------------------------------------------------------------------------- Figure 3


def draw_figure_3(
    path: Path, chains: Sequence[RealChain], epsilons: Sequence[float] = EPSILONS, draws: int = 40
) -> None:
    """The mean total-variation error of the stationary distribution against ε, for five ways to privatize a chain."""
    figure, panels = plt.subplots(1, len(chains), figsize=(6.5 * len(chains), 5.6), layout="constrained", squeeze=False)
    for ax, chain in zip(panels[0], chains, strict=True):
        _error_panel(ax, chain, epsilons, draws)
    panels[0, 0].set_ylabel("total-variation error of the stationary distribution")
    low, high = (f(f(ax.get_ylim()) for ax in panels[0]) for f in (min, max))
    for ax in panels[0]:
        ax.set_ylim(low, high)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    figure.suptitle(f"The price of privacy at δ = {DELTA:g} (mean of {draws} draws), after MCM Figure 3")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _error_panel(ax: Axes, chain: RealChain, epsilons: Sequence[float], draws: int) -> None:
    for method, (label, look) in LOOKS.items():
        errors = [stationary_error(chain, method, epsilon, DELTA, draws)[0] for epsilon in epsilons]
        ax.plot(epsilons, errors, ms=5, label=label, **look)
    rng, truth, run = pv.insecure_seed(3), chain.stationary_distribution, []
    for times in (1.0, 2.0, 3.0):
        epsilon, _, k = mcm_as_run(chain, times)
        errors = [np.abs(draw_chain(chain, k, rng).stationary_distribution - truth).sum() / 2 for _ in range(draws)]
        run.append((epsilon, np.mean(errors)))
    ax.plot(*np.array(run).T, "x", color=ORANGE, ms=8, mew=2, label="MCM's own choice of noise (γ = 1e-8, other δ)")
    ax.plot(MCM_EPSILON, MCM_ERROR, "*", color=GREY, ms=13, label="MCM's report for its own taxi month")
    ax.set(
        xscale="log",
        yscale="log",
        xlabel="ε",
        title=f"{chain.name}: {len(chain.states)} states, {chain.counts.sum():,} trips",
    )
    ticks = (0.5, 1, 2, 3.73, 5, 10)
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.set_xticks([], minor=True)
    ax.grid(alpha=0.25)


# ------------------------------------------------------------------------------------------------- The numbers


def print_ratios(chain: RealChain, draws: int = 100, epsilons: Sequence[float] = (1.0, MCM_EPSILON, 5.0, 7.0)) -> None:
    """Errors and their ratios at the same (ε, δ) on the same counts."""
    print(f"\n{chain.name}: mean total-variation error of the stationary distribution, {draws} draws, δ = {DELTA:g}")
    names = ["ε", "published", "exact, same floor", "large floor", "Gaussian", "Laplace"]
    print("| " + " | ".join([*names, "published/exact", "published/large floor", "large floor/Laplace"]) + " |")
    print("|---|---|---|---|---|---|---|---|---|")
    for epsilon in epsilons:
        errors = {method: stationary_error(chain, method, epsilon, DELTA, draws)[0] for method in METHODS}
        cells = [f"{error:.2e}" if error == error else "not possible" for error in errors.values()]
        published, exact, large, laplace = (errors[m] for m in ("published", "exact", "large floor", "laplace"))
        ratios = [f"{r:.1f}" if r == r else "–" for r in (published / exact, published / large, large / laplace)]
        print(f"| {epsilon:g} | " + " | ".join([*cells, *ratios]) + " |", flush=True)


def main(output: Path = OUTPUT) -> None:
    output.mkdir(parents=True, exist_ok=True)
    _draw(output / "mcm_figure_1.png", draw_figure_1)
    try:
        chains = [flights(), taxis()]
    except (FileNotFoundError, ImportError) as problem:
        print(
            f"Figures 2 and 3 are left out: {problem}. They need pyarrow and the trips in {relpath(data_folder())} "
            "(or in the folder that PATHVEIL_DATA names)."
        )
        return
    _draw(output / "mcm_figure_2.png", draw_figure_2, chains[0])
    _draw(output / "mcm_figure_3.png", draw_figure_3, chains)
    for chain in chains:
        print_ratios(chain)


def _draw(path: Path, draw: Callable[..., None], *arguments: object) -> None:
    draw(path, *arguments)
    print(f"{relpath(path)}: {draw.__doc__.splitlines()[0]}", flush=True)


if __name__ == "__main__":
    main()
