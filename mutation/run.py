"""Mutation testing of the rooms that privacy rests on: `make mutation`, or see docs/development/mutation-testing.md."""

from __future__ import annotations

import argparse
import json
import queue
import threading
import time
from dataclasses import asdict
from pathlib import Path

from mutants import Mutant, drawn
from scipy.stats import beta
from selection import Observed, Selection
from trees import Tree, preload

ROOT = Path(__file__).resolve().parents[1]
TESTS = {room: [f"tests/{room}"] for room in ("randomness", "privacy", "words", "models", "places")}


def main() -> None:
    options = _options()
    preload()
    for room in options.rooms:
        _test_room(room, options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rooms", nargs="*", default=list(TESTS), help=f"any of {', '.join(TESTS)}; default: all")
    parser.add_argument("--sample", type=int, default=80, help="mutants in each room (default: 80)")
    parser.add_argument("--seed", type=int, default=1, help="which sample (default: 1)")
    parser.add_argument("--workers", type=int, default=2, help="processes at a time (default: 2)")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/mutation", help="for copies and results")
    parser.add_argument(
        "--slowest", type=float, default=10, help="leave out tests that take more seconds (default: 10)"
    )
    parser.add_argument("--files", nargs="+", default=["*.py"], help="only these files of the room (default: *.py)")
    parser.add_argument("--tests", nargs="+", help="run these test files in place of the room's own")
    parser.add_argument("--again", action="store_true", help="only the survivors of the last run")
    options = parser.parse_args()
    options.folder = options.folder.resolve()  # children work in folders of their own
    return options


def _test_room(room: str, options: argparse.Namespace) -> None:
    results = options.folder / f"{room}.json"
    sample, places = drawn(ROOT, room, options.files, options.sample, options.seed)
    if options.again:
        survivors = [entry["mutant"] for entry in json.loads(results.read_text()) if entry["outcome"] == "survived"]
        sample = [mutant for mutant in sample if asdict(mutant) in survivors]
        results = options.folder / f"{room}-again.json"
    trees = [Tree(ROOT, options.folder / f"{room}-{number}") for number in range(options.workers)]
    begin = time.perf_counter()
    observed = trees[0].observe(options.tests or TESTS[room], options.folder / "observed")
    for tree in trees[1:]:
        tree.take_compiled_from(trees[0])
    _check_that_nothing_is_killed(trees, room, observed)
    print(f"{room}: {len(observed.seconds)} tests in {time.perf_counter() - begin:.0f} s; {places} places", flush=True)

    selection = Selection(ROOT, observed)
    waiting: queue.Queue[Mutant] = queue.Queue()
    for mutant in sample:
        waiting.put(mutant)
    entries: list[dict[str, object]] = []

    def work(tree: Tree) -> None:
        while True:
            try:
                mutant = waiting.get_nowait()
            except queue.Empty:
                return
            source = (ROOT / mutant.path).read_text(encoding="utf-8")
            # Slow tests kill no mutant then: the figures err on the low side.
            chosen = selection.tests(mutant.path, mutant.line)
            tests = [test for test in chosen if observed.seconds[test] <= options.slowest]
            # Far more than unchanged tests need: ten times what they took while being watched, and time to compile.
            extra = 90 if selection.has_compiled_functions(mutant.path) else 20
            limits = {test: extra + 10 * observed.seconds[test] for test in tests}
            start = time.perf_counter()
            outcome = tree.outcome(mutant.path, mutant.code(source), limits) if tests else "survived"
            took = time.perf_counter() - start
            difference = mutant.difference(source)
            entries.append(
                {
                    "mutant": asdict(mutant),
                    "difference": difference,
                    "outcome": outcome,
                    "failure": tree.first_failure() if outcome == "killed" else "",
                    "tests": len(tests),
                    "seconds": round(took, 1),
                }
            )
            results.write_text(json.dumps(entries, indent=1, ensure_ascii=False), encoding="utf-8")
            place = f"{Path(mutant.path).name}:{mutant.line}"
            print(
                f"{len(entries):4d} {outcome:8s} {took:5.0f} s {len(tests):4d} tests  {place} {difference}", flush=True
            )

    threads = [threading.Thread(target=work, args=(tree,)) for tree in trees]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    killed = sum(entry["outcome"] != "survived" for entry in entries)
    print(
        f"{room}: {killed} of {len(entries)} killed ({killed / max(len(entries), 1):.1%}),"
        f" at least {lower_bound(killed, len(entries)):.1%} with 95% confidence\n",
        flush=True,
    )


def _check_that_nothing_is_killed(trees: list[Tree], room: str, observed: Observed) -> None:
    """The negative control: where no line changes, no test may fail. The quick tests will do."""
    path = f"src/pathveil/{room}/__init__.py"
    quick = {test: 60.0 for test, seconds in observed.seconds.items() if seconds < 0.3}
    for tree in trees:
        if tree.outcome(path, (ROOT / path).read_text(encoding="utf-8"), quick) != "survived":
            raise SystemExit(f"Tests fail although nothing was changed: {tree.first_failure()}; see {tree.log}")


def lower_bound(killed: int, total: int, error: float = 0.05) -> float:
    """Clopper and Pearson's exact lower bound for a share, wrong with probability `error` at most."""
    return 0.0 if killed == 0 else float(beta.ppf(error, killed, total - killed + 1))


if __name__ == "__main__":
    main()
