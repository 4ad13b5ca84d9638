"""The example scripts and the benchmark still run, with settings small enough for a test."""

from __future__ import annotations

from itertools import pairwise

import pytest

import pathveil as pv
from tests.examples.pictures import assert_is_picture

pytestmark = pytest.mark.slow

FEW_CONTEXTS = 200  # looser certificates, in a fraction of the time


def test_lev_strings_are_drawn_and_come_out_the_same_every_time(script, tmp_path):
    lev = script("examples", "lev_case_studies")
    lev.draw_strings(tmp_path / "one.png", words=1)
    lev.draw_strings(tmp_path / "two.png", words=1)
    lev.draw_strings(tmp_path / "other.png", words=1, seed=7)
    assert_is_picture(tmp_path / "one.png")
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()
    assert (tmp_path / "one.png").read_bytes() != (tmp_path / "other.png").read_bytes()


def test_lev_grid_world_is_drawn(script, tmp_path):
    lev = script("examples", "lev_case_studies")
    lev.draw_grid_world(tmp_path / "grid.png", contexts=FEW_CONTEXTS)
    assert_is_picture(tmp_path / "grid.png")


def test_the_grid_of_plans_and_the_grid_of_cells_are_the_same_grid(script):
    lev = script("examples", "lev_case_studies")
    plans, cells = lev.grid_world(), lev.grid_cells()
    assert len(plans.states) == len(cells.symbols) == 225
    assert plans.count(len(lev.PLAN)) == cells.count(len(lev.PLAN))
    assert cells.is_feasible(plans.run(lev.PLAN)[1:])


def test_pf_figure_2_is_drawn(script, tmp_path):
    script("examples", "pf_figures").draw_figure_2(tmp_path / "two.png")
    assert_is_picture(tmp_path / "two.png")


def test_pf_figure_4_is_drawn(script, tmp_path):
    script("examples", "pf_figures").draw_figure_4(tmp_path / "four.png", contexts=FEW_CONTEXTS)
    assert_is_picture(tmp_path / "four.png")


def test_pf_figure_5_is_drawn(script, tmp_path):
    pf = script("examples", "pf_figures")
    pf.draw_figure_5(tmp_path / "five.png", (0.5, 3.0, 5.0), (3.0,), trips=2, words=4, contexts=FEW_CONTEXTS)
    assert_is_picture(tmp_path / "five.png")


def test_the_pictures_about_choosing_are_drawn(script, tmp_path):
    choosing = script("examples", "choosing_figures")
    choosing.draw_belief(tmp_path / "belief.png")
    choosing.draw_errors(tmp_path / "errors.png", (3.0,), trips=1, contexts=FEW_CONTEXTS)
    choosing.draw_trips(tmp_path / "trips.png", contexts=FEW_CONTEXTS)
    for name in ("belief", "errors", "trips"):
        assert_is_picture(tmp_path / f"{name}.png")


def test_the_pictures_about_models_of_sequences_are_drawn(script, tmp_path):
    sequences = script("examples", "sequence_figures")
    sequences.draw_losses(tmp_path / "losses.png", count=300, epsilons=(2.0,))
    sequences.draw_ways(tmp_path / "ways.png", count=300)
    for name in ("losses", "ways"):
        assert_is_picture(tmp_path / f"{name}.png")


def test_a_trip_on_the_map_is_connected(script):
    pf = script("examples", "pf_figures")
    town, rng, straight = pv.example_town(), pv.insecure_seed(3), 0
    for _ in range(40):
        trip = town.random_word(14, rng)
        route = pf._route(trip)
        assert len(route) == 14
        if not pf._turns(trip):
            straight += 1
            assert all(before[1] == after[0] for before, after in pairwise(route))
    assert 0 < straight < 40


def test_the_accuracy_table_orders_the_mechanisms_as_the_theory_says(script):
    lines = list(script("examples", "accuracy_table").table((1.0, 5.0), trips=3, contexts=FEW_CONTEXTS))
    for line in lines[2:4]:
        epsilon, theta, flip, published, certified, _, ratio = map(float, line.strip("|").split("|"))
        assert epsilon / 2 * 0.999 <= theta <= epsilon
        # Printed with three digits.
        assert flip <= published <= 2.02 * flip
        assert certified <= published
        assert ratio == pytest.approx(flip / certified, rel=0.02, abs=0.05)
    assert any("feasible neighbour" in line for line in lines)
    assert "all words of that length" in lines[-1].replace("\n", " ")


def test_the_benchmark_prints_the_rest_where_a_library_is_missing(script):
    words = script("benchmarks", "words")

    def missing(*_):
        raise ImportError("No module named 'opendp'")

    libraries = {"OpenDP noisy max": (missing, 1), "first word": (lambda *_: int, 2)}
    notes: list[str] = []
    rows = list(words.library_rows(1.0, notes, batch=10, libraries=libraries))
    assert [row.theirs is None for row in rows] == [True] * 3 + [False] * 3
    assert "pip install -r benchmarks/requirements.txt" in notes[0]
    printed = list(words.table(rows))
    assert len(printed) == 2 + 6
    assert "missing" in printed[2]


def test_the_benchmark_draws_the_papers_words_as_printed(script):
    words = script("benchmarks", "words")
    chain = pv.MarkovChain.from_edges([("a", "a"), ("a", "b"), ("b", "a"), ("b", "c"), ("c", "a")], initial="a")
    for world, word in ((pv.Alphabet("abc"), ("a", "b", "c")), (chain, ("b", "c", "a"))):
        law = pv.PermuteAndFlip(world, 1.0).error_law(word).pmf
        for baseline in (words.printed_pf(world, word, law), words.printed_lev(world, word, 1.0)):
            drawn = {baseline.draw() for _ in range(60)}
            assert all(world.is_feasible(private) and len(private) == 3 for private in drawn)
            assert len(drawn) > 1


def test_the_best_mechanism_on_hubs_is_never_worse_than_the_certified_one(script, capsys, monkeypatch):
    hubs = script("examples", "best_on_hubs")
    monkeypatch.setattr("sys.argv", ["best_on_hubs.py", "20"])
    hubs.main()
    lines = capsys.readouterr().out.splitlines()[2:]
    assert len(lines) == 6
    for line in lines:
        certified, online, taken = (float(cell.rstrip("%")) for cell in line.split()[2:5])
        assert taken == min(certified, online)
