"""The automata that the two word papers draw, drawn again: PNG files in examples/output/.

    python examples/paper_automata.py

LEV Figure 1(b), LEV Figure 2 (which is PF Figure 1), LEV Figure 4 and PF Figure 3, and the automaton of LEV's first
case study as a shape. The transition system of LEV Figure 3 and the Markov chain of PF Figure 3 exist only as
drawings, so small systems of the same kind stand in for them here.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # no window: the pictures go to files

import matplotlib.pyplot as plt

import pathveil as pv

OUTPUT = Path(__file__).parent / "output"

# An action is named after the state that it leads to, as in LEV Figure 3: plans and runs read the same.
ROOMS = pv.TransitionSystem(
    {
        ("s0", "s1"): "s1",
        ("s0", "s2"): "s2",
        ("s1", "s2"): "s2",
        ("s1", "s3"): "s3",
        ("s2", "s1"): "s1",
        ("s2", "s3"): "s3",
        ("s3", "s3"): "s3",
        ("s3", "s1"): "s1",
    },
    initial="s0",
)

# Four states, words that begin after y0, as in PF Figure 3.
ROADS = pv.MarkovChain.from_edges(
    [
        ("y0", "y1"),
        ("y0", "y2"),
        ("y1", "y2"),
        ("y1", "y3"),
        ("y2", "y1"),
        ("y2", "y3"),
        ("y3", "y0"),
        ("y3", "y2"),
    ],
    initial="y0",
)

CASE_STUDY = "american control conference 2019"


def pictures() -> dict[str, tuple[str, pv.DistanceAutomaton]]:
    """{file name: (title, automaton)}."""
    letters = pv.Alphabet("abc")
    rooms_word, roads_word = ("s1", "s2", "s3"), ("y1", "y2", "y3")
    return {
        "lev_figure_1b": (
            "LEV Figure 1(b): abc, at most 2 errors",
            pv.DistanceAutomaton(letters, "abc", errors=range(3)),
        ),
        "lev_figure_2_pf_figure_1": (
            "LEV Figure 2, PF Figure 1: abc, exactly 2 errors",
            pv.DistanceAutomaton(letters, "abc", errors=2),
        ),
        "lev_figure_4a": (
            "like LEV Figure 4(a): plans near s1 s2 s3, any number of errors",
            pv.DistanceAutomaton(ROOMS, rooms_word),
        ),
        "lev_figure_4b": (
            "like LEV Figure 4(b): plans with exactly 2 errors",
            pv.DistanceAutomaton(ROOMS, rooms_word, errors=2),
        ),
        "pf_figure_3b": (
            "like PF Figure 3(b): words y1 y2 y3 after y0, exactly 2 errors",
            pv.DistanceAutomaton(ROADS, roads_word, errors=2),
        ),
        "lev_case_study_1": (
            f"LEV case study 1: “{CASE_STUDY}”",
            pv.DistanceAutomaton(pv.Alphabet(sorted(set(CASE_STUDY))), CASE_STUDY),
        ),
    }


def main() -> None:
    OUTPUT.mkdir(exist_ok=True)
    for name, (title, automaton) in pictures().items():
        ax = automaton.draw()
        ax.set_title(f"{title}\n{len(automaton.states)} states, {len(automaton.edges)} edges", fontsize=10)
        path = OUTPUT / f"{name}.png"
        ax.figure.savefig(path, dpi=150)
        plt.close(ax.figure)
        print(f"{path.relative_to(OUTPUT.parent.parent)}: {automaton!r}")


if __name__ == "__main__":
    main()
