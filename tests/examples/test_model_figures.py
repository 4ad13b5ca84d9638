"""The scripts that redraw MCM's and MDM's figures still run, with settings small enough for a test and no real data."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pathveil as pv
from tests.examples.pictures import assert_is_picture

pytestmark = pytest.mark.slow


@pytest.fixture
def small_chain(script):
    """Four states and counts that are large enough for every method."""
    counts = np.random.default_rng(1).integers(200, 900, size=(4, 4))
    counts[0, 3] = 0
    return script("examples", "mcm_chains").RealChain("made up", tuple("abcd"), counts)


def test_mcm_figure_1_is_drawn(script, tmp_path):
    script("examples", "mcm_figures").draw_figure_1(tmp_path / "one.png", draws=50, every=30)
    assert_is_picture(tmp_path / "one.png")


def test_mcm_figures_2_and_3_are_drawn(script, small_chain, tmp_path):
    mcm = script("examples", "mcm_figures")
    mcm.draw_figure_2(tmp_path / "two.png", small_chain)
    mcm.draw_figure_3(tmp_path / "three.png", [small_chain], epsilons=(0.5, 3.73), draws=2)
    for name in ("two.png", "three.png"):
        assert_is_picture(tmp_path / name)


def test_the_ratios_are_printed_also_where_the_published_accounting_has_no_answer(script, small_chain, capsys):
    script("examples", "mcm_figures").print_ratios(small_chain, draws=2, epsilons=(0.01, 3.73))
    weak, strong = capsys.readouterr().out.splitlines()[-2:]
    assert "not possible" in weak
    published, exact, large = map(float, strong.split("|")[2:5])
    assert published > 2 * max(exact, large)


def test_published_concentrations_meet_the_published_promise_and_no_larger_one_does(script):
    chains = script("examples", "mcm_chains")
    epsilon, delta, eta, N, n = 3.73, 3e-6, 0.002, 20_000, 18
    k = chains.published_concentration(epsilon, delta, eta, N, n)

    def least_epsilon(k: float) -> float:
        gammas = np.geomspace(1e-12, eta, 4000)
        allowed = [g for g in gammas if pv.published.mcm_delta(k, eta, n, g) <= delta]
        return pv.published.mcm_epsilon(k, eta, N, n, max(allowed))

    assert least_epsilon(k) == pytest.approx(epsilon, rel=0.01)
    assert least_epsilon(k * 1.1) > epsilon > least_epsilon(k / 1.1)
    assert math.isnan(chains.published_concentration(0.01, delta, eta, N, n))


def test_without_the_real_data_the_script_says_so_and_draws_the_rest(script, tmp_path, monkeypatch, capsys):
    mcm = script("examples", "mcm_figures")
    monkeypatch.setenv("PATHVEIL_DATA", str(tmp_path / "nothing here"))
    mcm.main(tmp_path)
    assert "Figures 2 and 3 are left out" in capsys.readouterr().out
    assert [path.name for path in tmp_path.glob("*.png")] == ["mcm_figure_1.png"]


def test_mdm_figures_are_drawn(script, tmp_path):
    mdm = script("examples", "mdm_figures")
    mdm.draw_figure_1(tmp_path / "one.png", ks=(10, 100), draws=50)
    mdm.draw_figure_2(tmp_path / "two.png")
    mdm.draw_figure_3(tmp_path / "three.png", epsilons=(1.0, 9.0), draws=2)
    for name in ("one.png", "two.png", "three.png"):
        assert_is_picture(tmp_path / name)


def test_the_made_up_streets_are_a_chain_as_mdm_wants_it(script):
    matrix = script("examples", "mdm_figures").streets()
    assert matrix.shape == (32, 32)
    assert matrix.sum(axis=1) == pytest.approx(1)
    assert matrix[matrix > 0].min() >= 0.1
    assert set((matrix > 0).sum(axis=1)) == {3, 4}
    assert pv.MarkovChain(range(32), matrix).is_irreducible
