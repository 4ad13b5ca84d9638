"""How long a private word takes: one table, every number in it measured in this run.

    python -m venv .venv-bench && .venv-bench/bin/pip install -e . -r benchmarks/requirements.txt
    .venv-bench/bin/python benchmarks/words.py

Two comparisons:

1. LEV's case studies, against the papers' algorithms as printed (tests/reference/printed.py, plain Python). Those
   prepare automata and policies for one sensitive word; ours prepares the public system once for all words.
2. Words of 8 symbols over 4, against general libraries for private selection, which need the scores of all 65,536
   words. Only their draw is timed: making the list of scores, which each new word needs, is left out in their favour.

Without opendp or diffprivlib the other rows are still measured. `goals()` returns what was aimed at and what came out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np

import pathveil as pv
from pathveil.randomness.source import system_source

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "examples"), str(ROOT / "benchmarks")]

from batches import Goal, as_goal, best_time, line  # noqa: E402
from lev_case_studies import PLAN, STRING, grid_cells, grid_world  # noqa: E402
from tests.reference import printed  # noqa: E402

INSTALL = "pip install -r benchmarks/requirements.txt"

SYMBOLS, WORD = "acgt", "gattacag"  # m = 4, n = 8


class Row(NamedTuple):
    """One line of the table; times in seconds, None where the peer is missing."""

    work: str
    ours: float
    peer: str
    theirs: float | None


# ------------------------------------------------------------------------------- the papers' algorithms as printed


class PrintedPf(NamedTuple):
    """PF as printed: an automaton and a policy for each number of errors, for one sensitive word."""

    law: Sequence[float]
    policies: list[tuple[printed.FiniteAutomaton, printed.Policy]]

    def draw(self) -> printed.Word:
        ell = int(np.searchsorted(np.cumsum(self.law)[:-1], system_source().uniform(1)[0]))
        return printed.run_once(*self.policies[ell])


def printed_pf(world: pv.System, word: printed.Word, law: Sequence[float]) -> PrintedPf:
    """PF Mechanism 1 (alphabet) or 2 (Markov chain) up to the draw.

    The law of the number of errors is given: PF's sum (5) has a term for each subset of the feasible words, and there
    are more than 10^13 such words here.
    """
    automaton, algorithm = printed.make_levenshtein(world.symbols, word, len(word)), printed.pf_algorithm_1
    if not world.compiled.is_free:
        system = printed.DeterministicTransitionSystem.of(world)
        automaton, algorithm = printed.product_automaton(automaton, system), printed.pf_algorithm_2
    restricted = [printed.restrict_to_distance(automaton, ell) for ell in range(len(word) + 1)]
    return PrintedPf(law, [(A, algorithm(A, len(word))[1]) for A in restricted])


def printed_lev(world: pv.System, word: printed.Word, epsilon: float) -> printed.LevMechanism:
    """LEV's mechanism up to the draw: the policies of all distances, which the printed mechanism then keeps."""
    system = None if world.compiled.is_free else printed.DeterministicTransitionSystem.of(world)
    mechanism = printed.LevMechanism(world.symbols, word, epsilon, system=system)
    for ell in range(len(word) + 1):
        mechanism.policy(ell)
    return mechanism


def lev_rows(name: str, make_world: Callable[[], pv.System], word: printed.Word, epsilon: float) -> Iterator[Row]:
    """The exponential mechanism with LEV's utility."""
    return _rows(
        f"{name}, exponential with 1/(ℓ+1)",
        lambda: pv.Exponential(make_world(), epsilon, utility=pv.InverseUtility()),
        "LEV Algorithms 1, 2",
        lambda world: printed_lev(world, word, epsilon),
        word,
    )


def pf_rows(name: str, make_world: Callable[[], pv.System], word: printed.Word, epsilon: float) -> Iterator[Row]:
    """Permute-and-flip."""
    law = pv.PermuteAndFlip(make_world(), epsilon).error_law(word).pmf
    return _rows(
        f"{name}, permute-and-flip",
        lambda: pv.PermuteAndFlip(make_world(), epsilon),
        f"PF Algorithm {1 if make_world().compiled.is_free else 2}",
        lambda world: printed_pf(world, word, law),
        word,
    )


def _rows(
    title: str,
    make_ours: Callable[[], pv.WordMechanism],
    peer: str,
    make_theirs: Callable[[pv.System], PrintedPf | printed.LevMechanism],
    word: printed.Word,
) -> Iterator[Row]:
    ours = make_ours()
    world = ours.world
    # The compiled form is made on first use; it belongs to the preparation.
    our_preparation = best_time(lambda: make_ours().world.compiled)
    one_call = best_time(lambda: [ours.privatize(word) for _ in range(20)], 20)
    size = 2_000 if world.compiled.is_free else 50
    codes = np.tile(world.encode(word), (size, 1))
    batch = best_time(lambda: ours.privatize_array(codes), size, repeats=3)

    theirs = make_theirs(world)
    their_preparation = best_time(lambda: make_theirs(world), repeats=2)
    their_draw = best_time(lambda: [theirs.draw() for _ in range(50)], 50)
    yield Row(f"{title}: prepare (s, once)", our_preparation, peer, their_preparation)
    yield Row(f"{title}: new word, prepare and draw", our_preparation + one_call, peer, their_preparation + their_draw)
    yield Row(f"{title}: same word again, one call", one_call, peer, their_draw)
    yield Row(f"{title}: same word again, batch of {size:,}", batch, peer, their_draw)


def case_study_rows(epsilon: float = 5.0) -> Iterator[Row]:
    """Both case studies, both papers. PF knows Markov chains, so there the grid's words are cells."""

    def characters() -> pv.System:
        return pv.Alphabet(sorted(set(STRING)))

    yield from lev_rows("LEV's string", characters, tuple(STRING), epsilon)
    yield from pf_rows("LEV's string", characters, tuple(STRING), epsilon)
    yield from lev_rows("15×15 grid world", grid_world, tuple(PLAN), epsilon)
    yield from pf_rows("15×15 grid world (cells)", grid_cells, grid_world().run(PLAN)[1:], epsilon)


# -------------------------------------------------------------------------------------- general selection libraries


def opendp_draw(scores: list[int], epsilon: float) -> Callable[[], int]:
    """OpenDP's noisy maximum; for pure differential privacy its noise is exponential, which is permute-and-flip."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
    select = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=2 / epsilon)
    if abs(select.map(1) - epsilon) > 1e-9:
        raise RuntimeError(f"OpenDP says ε = {select.map(1)}, not {epsilon}: the comparison would not be fair")
    return lambda: int(select(scores))


def diffprivlib_draw(scores: list[int], epsilon: float) -> Callable[[], int]:
    """diffprivlib's permute-and-flip; its utilities must not be negative."""
    from diffprivlib.mechanisms import PermuteAndFlip

    lowest = min(scores)
    mechanism = PermuteAndFlip(epsilon=epsilon, sensitivity=1, utility=[score - lowest for score in scores])
    return lambda: int(mechanism.randomise())


Library = tuple[Callable[[list[int], float], Callable[[], int]], int]

LIBRARIES: dict[str, Library] = {
    "OpenDP noisy max": (opendp_draw, 10),
    "diffprivlib PermuteAndFlip": (diffprivlib_draw, 6),
}
"""{peer: (how to draw, how many words to draw)}."""


def library_rows(
    epsilon: float, notes: list[str], batch: int = 100_000, libraries: Mapping[str, Library] = LIBRARIES
) -> Iterator[Row]:
    """The same law on the same 65,536 words, from each library."""
    alphabet = pv.Alphabet(SYMBOLS)
    word = alphabet.encode(WORD)
    outputs = np.array(list(product(range(len(SYMBOLS)), repeat=len(WORD))))
    errors = np.count_nonzero(outputs != word, axis=1)

    ours = pv.PermuteAndFlip(alphabet, epsilon)
    codes, strings = np.tile(word, (batch, 1)), [WORD] * (batch // 10)
    times = {
        f"privatize_array, batch of {batch:,}": best_time(lambda: ours.privatize_array(codes), batch),
        f"privatize_many, {len(strings):,} strings": best_time(lambda: ours.privatize_many(strings), len(strings)),
        "privatize, one call": best_time(lambda: [ours.privatize(WORD) for _ in range(200)], 200),
    }
    for peer, (make_draw, words) in libraries.items():
        try:
            draw = make_draw((-errors).tolist(), epsilon)
        except ImportError as problem:
            theirs = None
            notes.append(f"{peer} is missing ({problem}). Install the libraries to compare with: {INSTALL}")
        else:
            # The mean: how many words they look at is random, and the best time would be luck.
            start = perf_counter()
            drawn = [draw() for _ in range(words)]
            theirs = (perf_counter() - start) / words
            law = ours.error_law(WORD)
            notes.append(
                f"{peer}, ε = {epsilon:g}: {errors[drawn].mean():.2f} errors a word in {words} words; expected "
                f"{law.mean:.2f} ± {(law.variance / words) ** 0.5:.2f}"
            )
        for how, seconds in times.items():
            yield Row(f"n = 8, m = 4, ε = {epsilon:g}, permute-and-flip: {how}", seconds, peer, theirs)


# ------------------------------------------------------------------------------------------------------------ goals


def library_goals(batch: int = 1_000_000) -> list[Goal]:
    """Permute-and-flip in a batch against a draw of each library; only libraries that are installed."""
    found = []
    for epsilon in (1.0, 5.0):
        for row in library_rows(epsilon, [], batch):
            if "privatize_array" in row.work and row.theirs is not None:
                detail = f"{1e9 * row.ours:,.0f} ns against {1e3 * row.theirs:,.1f} ms a draw"
                found.append(as_goal(row.work, row.peer, row.theirs / row.ours, 100_000.0, detail))
    return found


def grid_goals(epsilon: float = 5.0, draws: int = 100) -> list[Goal]:
    """LEV's grid world: everything that one sensitive plan needs, and 100 private plans. The moves are given."""
    plan, at_a_time = tuple(PLAN), 10
    worlds = [grid_world() for _ in range(8 * at_a_time)]

    def ours() -> None:
        for _ in range(at_a_time):
            # A world that nothing has been prepared for.
            mechanism = pv.Exponential(worlds.pop(), epsilon, utility=pv.InverseUtility())
            mechanism.privatize_array(np.tile(mechanism.world.encode(plan), (draws, 1)))

    def theirs() -> None:
        mechanism = printed_lev(worlds.pop(), plan, epsilon)
        for _ in range(draws):
            mechanism.draw()

    ours()  # compile
    mine, printed_time = best_time(ours) / at_a_time, best_time(theirs, repeats=1)
    return [
        as_goal(
            f"15×15 grid world: prepare and {draws} plans",
            "LEV Algorithms 1, 2 as printed",
            printed_time / mine,
            5_000.0,
            f"{1e3 * mine:.2f} ms against {printed_time:.1f} s",
        )
    ]


def goals() -> list[Goal]:
    """Every goal of this file, measured now."""
    return [*library_goals(), *grid_goals()]


# ------------------------------------------------------------------------------------------------------- the table


def table(rows: Sequence[Row]) -> Iterator[str]:
    """The lines of a Markdown table with aligned columns."""
    cells = [("work", "ours (s/word)", "peer", "peer (s/word)", "times faster")]
    for work, ours, peer, theirs in rows:
        compared = ("missing", "") if theirs is None else (_seconds(theirs), _times(theirs / ours))
        cells.append((work, _seconds(ours), peer, *compared))
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    rules = [("-" * (width - 1)) + (":" if i in (1, 3, 4) else "-") for i, width in enumerate(widths)]
    for row in (cells[0], rules, *cells[1:]):
        padded = [text.ljust(width) for text, width in zip(row, widths, strict=True)]
        for i in (1, 3, 4):
            padded[i] = row[i].rjust(widths[i])
        yield f"| {' | '.join(padded)} |"


def _seconds(value: float) -> str:
    return f"{value:.2g}" if value < 1 else f"{value:.1f}"


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2g}"


EXPLANATION = """
All in one run on one machine: take ratios within this table, not between tables. Ours and the printed algorithms: best
of several repeats. The libraries: mean over the words named below, because their time is random; their scores are made
beforehand and not timed. "Same word again": the printed algorithms keep their policies for one sensitive word, ours
starts afresh with every word.
"""


def main() -> None:
    print("\n".join(map(line, goals())), end="\n\n")
    notes: list[str] = []
    rows = list(case_study_rows())
    for epsilon in (1.0, 5.0):
        rows.extend(library_rows(epsilon, notes))
    print("\n".join(table(rows)))
    print(EXPLANATION)
    print("\n".join(dict.fromkeys(notes)))


if __name__ == "__main__":
    main()
