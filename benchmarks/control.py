"""Private decision processes and consensus weights: how much a policy loses, and how much slower averaging gets.

    python benchmarks/control.py [grid] [consensus] [taxi] [--draws 100] [--picture loss.png]

*grid*: a grid world of 10 × 10 with slip; the policy of the private model against the best policy of the true world,
whose value it loses on average over states, beside the same with published accounting (MCM (3), (4)) and beside the
bound that the model itself states. *consensus*: weights on a graph of 50 nodes. *taxi*: zones of Manhattan as states,
to pick up a passenger or to cruise to a zone nearby as actions (needs the real data).
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import deque
from pathlib import Path

import numpy as np

import pathveil as pv

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

from tests.real_data import FOLDER  # noqa: E402

from pathveil.models.control.consensus import metropolis_weights  # noqa: E402

DISCOUNT = 0.95
EPSILONS = (0.5, 1.0, 3.0)
DELTA = 1e-6


def grid_world(size: int = 10, slip: float = 0.2) -> pv.DecisionProcess:
    """Go where you want, or with probability `slip` anywhere; the far corner pays 1 and leads back to the first."""
    moves = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
    n = size * size
    transitions, rewards = np.zeros((n, 4, n)), np.zeros((n, 4))

    def after(place: int, move: tuple[int, int]) -> int:
        i, j = place // size + move[0], place % size + move[1]
        return i * size + j if 0 <= i < size and 0 <= j < size else place

    for place in range(n - 1):
        for a, move in enumerate(moves.values()):
            transitions[place, a, after(place, move)] += 1 - slip
            for other in moves.values():
                transitions[place, a, after(place, other)] += slip / 4
    transitions[n - 1, :, 0], rewards[n - 1] = 1.0, 1.0
    names = tuple(f"{i},{j}" for i in range(size) for j in range(size))
    return pv.DecisionProcess(names, tuple(moves), transitions, rewards, np.ones((n, 4), dtype=bool))


def published_concentration(epsilon: float, floor: float, records: int, size: int) -> float:
    """The largest k for which MCM (3) and (4) give (ε, δ) with some γ; 0 if none does."""
    best = 0.0
    for gamma in floor * np.geomspace(1e-6, 0.9, 60):
        low, high = 1e-3, 1e9
        for _ in range(80):  # ε grows with k; δ falls: the largest k for ε, then a look whether it does for δ
            k = (low * high) ** 0.5
            if pv.published.mcm_epsilon_corrected(k, floor, records, size, gamma) <= epsilon:
                low = k
            else:
                high = k
        if pv.published.mcm_delta(low, floor, size, gamma) <= DELTA:
            best = max(best, low)
    return best


def published_fit(counted: pv.StepCounts, world: pv.DecisionProcess, epsilon: float, rng: np.random.Generator):
    """Rows drawn with published accounting at the floor of our usual mixing, and rewards as in our fit, noise included.

    A row for which no concentration can be had gets the uniform one.
    """
    inside = world.transitions > 0
    sizes, records = inside.sum(axis=2), counted.transitions.sum(axis=2)
    transitions = inside / sizes[:, :, None]
    known: dict[tuple[int, int], float] = {}
    for s, a in np.argwhere((sizes > 1) & (records > 0)):
        n, N = int(sizes[s, a]), int(records[s, a])
        floor = 0.9 / n
        if (n, N) not in known:
            known[n, N] = published_concentration(epsilon / 2, floor, round(N / 0.1), n)
        k = known[n, N]
        if k > 0:
            p = counted.transitions[s, a, inside[s, a]] / N
            drawn = (rng.dirichlet(k * (0.1 * p + floor)) - floor) / 0.1
            drawn = np.maximum(drawn, 0)
            transitions[s, a, inside[s, a]] = drawn / drawn.sum() if drawn.sum() > 0 else 1 / n
    noise = rng.laplace(0, 2 / epsilon, records.shape)
    mean = world.rewards if counted.reward_sums is None else counted.reward_sums / 2**20
    rewards = np.clip(0.5 + (mean + noise) / np.maximum(records, 1), 0, 1)
    return pv.DecisionProcess(world.states, world.actions, transitions, rewards, world.possible)


def grid(draws: int, picture: Path | None) -> None:
    world = grid_world()
    best = world.policy(DISCOUNT)

    def lost(process: pv.DecisionProcess) -> float:
        return float((best.values - world.value(process.policy(DISCOUNT), DISCOUNT)).mean())

    print(f"grid world 10 × 10, discount {DISCOUNT}; best value {best.values.mean():.3f} on average over states.")
    print(
        "Value that the private policy loses on average over states, mean of draws; the bound is for the worst state."
    )
    print("| steps | unit | ε | mechanism | lost | published accounting | bound stated (95%) |")
    print("|--:|---|--:|---|--:|--:|--:|")
    curves: dict[tuple[int, str], list[float]] = {}
    for episodes in (5_000, 50_000):
        data = world.simulate(length=20, size=episodes, rng=pv.insecure_seed(1))
        for unit in ("transition", "step", "episode"):
            limit = {"episodes": data["episode"], "max_steps": 20} if unit == "episode" else {}
            counted = pv.count_steps(data, states=world.states, actions=world.actions, rewards=(0, 1), **limit)
            for epsilon in EPSILONS:
                losses, bounds, theirs = [], [], []
                for draw in range(draws):
                    model = pv.fit_private_mdp(
                        counted, states=world.states, actions=world.actions, rewards=(0, 1), epsilon=epsilon,
                        delta=DELTA, unit=unit, support=world, max_steps=limit.get("max_steps"),
                    )  # fmt: skip
                    losses.append(lost(model.process))
                    if draw < 5:
                        bounds.append(model.value_error(DISCOUNT).bound)
                    if unit == "transition" and draw < max(5, draws // 5):
                        theirs.append(lost(published_fit(counted, world, epsilon, np.random.default_rng(draw))))
                curves.setdefault((20 * episodes, unit), []).append(float(np.mean(losses)))
                beside = f"{np.mean(theirs):.4f}" if theirs else "–"
                setting = f"| {20 * episodes:,} | {unit} | {epsilon:g} | {model.mechanism} "
                print(f"{setting}| {np.mean(losses):.4f} | {beside} | {np.mean(bounds):.1f} |", flush=True)
    if picture is not None:
        _draw(curves, best.values.mean(), picture)


def _draw(curves: dict[tuple[int, str], list[float]], best: float, picture: Path) -> None:
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7.6, 3.6), layout="constrained")
    marks = {"transition": "o", "step": "s", "episode": "^"}
    for (steps, unit), losses in curves.items():
        style = "--" if steps == min(size for size, _ in curves) else "-"
        axes.plot(EPSILONS, np.array(losses) / best, style, marker=marks[unit], label=f"{unit}, {steps:,} steps")
    axes.set(xscale="log", yscale="log", xlabel="ε", ylabel="share of the best value that is lost")
    axes.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS])
    axes.set_xticks([], minor=True)
    figure.legend(loc="outside right center", fontsize="small")
    figure.savefig(picture, dpi=120)


def consensus(draws: int) -> None:
    rng = np.random.default_rng(0)
    places = rng.random((50, 2))
    near = np.linalg.norm(places[:, None] - places[None], axis=2)
    graph = near <= np.sort(near, axis=1)[:, [5]]
    graph |= graph.T
    W = metropolis_weights(graph)
    before = pv.convergence_factor(W)
    print(
        f"\nconsensus on 50 nodes, {int(np.triu(graph, 1).sum())} edges, one edge changes by 0.02; factor {before:.4f}."
    )
    print("| ε | factor after (mean) | largest | steps to a tenth, before → after | distance, forecast | seen |")
    print("|--:|--:|--:|--:|--:|--:|")
    for epsilon in EPSILONS:
        made = [
            pv.private_doubly_stochastic(W, epsilon=epsilon, change=0.02, symmetric=True, support=graph)
            for _ in range(draws)
        ]
        after = np.array([release.convergence_factor for release in made])
        apart = np.sqrt(np.mean([np.linalg.norm(release.values - W) ** 2 for release in made]))
        steps = [np.log(10) / -np.log(factor) for factor in (before, after.mean())]
        print(
            f"| {epsilon:g} | {after.mean():.4f} | {after.max():.4f} | {steps[0]:.1f} → {steps[1]:.1f} "
            f"| {made[0].forecast.frobenius:.3f} | {apart:.3f} |"
        )


def taxi(draws: int) -> None:
    if not FOLDER.exists():
        print("\ntaxi: the real data are not there")
        return
    import pyarrow.parquet as pq

    with (FOLDER / "taxi_zone_lookup.csv").open() as file:
        zones = [row["LocationID"] for row in csv.DictReader(file) if row["Borough"] == "Manhattan"]
    place = {zone: i for i, zone in enumerate(zones)}
    nearby: list[list[int]] = [[] for _ in zones]
    with (FOLDER / "taxi_zone_adjacency.csv").open() as file:
        for a, b, *_ in list(csv.reader(file))[1:]:
            if a in place and b in place:
                nearby[place[a]].append(place[b])
                nearby[place[b]].append(place[a])
    nearby = [sorted(set(listed)) for listed in nearby]
    hops = np.array([_hops(nearby, i) for i in range(len(zones))])
    n, most = len(zones), max(map(len, nearby))
    actions = ("pick up", *(f"cruise {k + 1}" for k in range(most)))
    possible, support = np.zeros((n, 1 + most), dtype=bool), np.zeros((n, 1 + most, n), dtype=bool)
    possible[:, 0], support[:, 0] = True, True
    for i, listed in enumerate(nearby):
        for k, j in enumerate(listed):
            possible[i, 1 + k] = support[i, 1 + k, j] = True
    trips = pq.read_table(FOLDER / "yellow_sample_2018_2020_od.parquet")
    pairs = np.array([trips["pu"].to_numpy(), trips["do"].to_numpy()])
    code = np.full(int(pairs.max()) + 1, -1)
    code[[int(zone) for zone in zones]] = np.arange(n)
    pairs = code[pairs][:, (code[pairs] >= 0).all(axis=0)]
    longest = int(hops.max())
    steps = {
        "state": pairs[0],
        "action": np.full(pairs.shape[1], "pick up"),
        "next": pairs[1],
        "reward": hops[tuple(pairs)],
    }
    names = {"states": range(n), "actions": actions, "possible": possible, "support": support}
    counted = pv.count_steps(steps, states=range(n), actions=actions, rewards=(0, longest))
    table = counted.transitions[:, 0].astype(float)
    truth = np.zeros((n, 1 + most, n))
    truth[:, 0] = (table + (table.sum(axis=1, keepdims=True) == 0)) / (
        table + (table.sum(axis=1, keepdims=True) == 0)
    ).sum(axis=1, keepdims=True)
    truth[:, 1:] = support[:, 1:]
    paid = np.zeros((n, 1 + most))
    paid[:, 0] = (truth[:, 0] * hops).sum(axis=1)
    world = pv.DecisionProcess(tuple(range(n)), actions, truth, paid, possible)
    best = world.policy(DISCOUNT)
    cruising = sum(action != "pick up" for action in best.actions.values())
    print(
        f"\ntaxi: {pairs.shape[1]:,} trips (a sample) between {n} zones of Manhattan; a trip pays its length in zones, "
        f"cruising nothing. Best value {best.values.mean():.2f}; {cruising} zones are left without a passenger."
    )
    print("| unit | ε | mechanism | value lost, share | zones with another action |")
    print("|---|--:|---|--:|--:|")
    for unit in ("transition", "step"):
        for epsilon in (0.1, *EPSILONS):
            losses, other = [], []
            for _ in range(draws):
                model = pv.fit_private_mdp(
                    counted, **names, rewards=(0, longest), epsilon=epsilon, delta=DELTA, unit=unit
                )
                known = model.with_rewards(np.where(np.arange(1 + most) == 0, model.rewards, 0.0))
                policy = known.policy(DISCOUNT)
                losses.append(1 - world.value(policy, DISCOUNT).mean() / best.values.mean())
                other.append(np.mean(policy.codes != best.codes))
            print(
                f"| {unit} | {epsilon:g} | {model.mechanism} | {np.mean(losses):.2%} | {np.mean(other):.0%} |",
                flush=True,
            )


def _hops(nearby: list[list[int]], start: int) -> list[int]:
    """How many zones away each zone is; those that cannot be reached on the ground are as far as the farthest."""
    found, waiting = {start: 0}, deque([start])
    while waiting:
        here = waiting.popleft()
        for zone in nearby[here]:
            if zone not in found:
                found[zone] = found[here] + 1
                waiting.append(zone)
    farthest = max(found.values())
    return [found.get(zone, farthest) for zone in range(len(nearby))]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=["grid", "consensus", "taxi", []], default=[])
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--picture", type=Path)
    given = parser.parse_args()
    parts = given.parts or ["grid", "consensus", "taxi"]
    if "grid" in parts:
        grid(given.draws, given.picture)
    if "consensus" in parts:
        consensus(given.draws)
    if "taxi" in parts:
        taxi(max(1, given.draws // 5))
