"""The planning report: the library's own numbers, and nothing sensitive."""

from __future__ import annotations

import html
from math import exp

import pytest

import pathveil as pv
from pathveil.planning.grid import CONTEXTS
from pathveil.planning.lower_bound import least_expected_errors
from pathveil.planning.public_words import expected_errors
from pathveil.report.explain import best_guess, certificate_in_words, epsilon_in_words, greatest_belief, percent
from tests.cli.conftest import ROADS
from tests.report.conftest import PLAN_LENGTH
from tests.report.pages import Content, data_of

QUICK = "report plan --alphabet pages.txt --length 6 --output plan.html"


def test_every_number_of_the_grid_is_the_librarys_own(reports) -> None:
    plan = data_of(reports / "plan.html")["plan"]
    world = pv.MarkovChain.from_edges(ROADS)
    assert (plan["length"], plan["adjacencies"]) == (PLAN_LENGTH, [1, 2])
    for b, e in ((0, 4), (1, 8)):
        epsilon, adjacency = plan["epsilons"][e], plan["adjacencies"][b]
        made = [
            pv.CertifiedExponential(world, epsilon, adjacency, contexts=CONTEXTS),
            pv.PermuteAndFlip(world, epsilon, adjacency),
            pv.Exponential(world, epsilon, adjacency),
            pv.Online(world, epsilon, adjacency),
        ]
        for mechanism, cell, named in zip(made, plan["cells"][b][e], plan["mechanisms"], strict=True):
            assert cell["mean"] == pytest.approx(expected_errors(mechanism, world, PLAN_LENGTH), rel=1e-5)
            assert cell["theta"] == pytest.approx(mechanism.theta(PLAN_LENGTH), rel=1e-5)
            assert sum(cell["pmf"]) == pytest.approx(1, abs=1e-4)
            assert named["units"][b] == mechanism.guarantee.unit
            for draw in cell["draws"]:
                assert world.is_feasible([world.symbols[code] for code in draw["codes"]])
        means = [cell["mean"] for cell in plan["cells"][b][e]]
        assert plan["best"][b][e] == plan["mechanisms"][means.index(min(means))]["name"]
        bound = least_expected_errors(world, PLAN_LENGTH, epsilon, adjacency)
        assert plan["bound"][b][e] == pytest.approx(bound.errors, rel=1e-5)
        assert plan["certificates"][b][e] == certificate_in_words(made[0].certificate(PLAN_LENGTH), epsilon)


def test_the_page_names_the_best_mechanism(reports) -> None:
    plan = data_of(reports / "plan.html")["plan"]
    best = plan["best"][0][plan["epsilons"].index(2.0)]
    assert f'<strong id="best">{best}</strong>' in (reports / "plan.html").read_text(encoding="utf-8")


def test_the_page_holds_everything_and_points_nowhere(reports) -> None:
    for name in ("plan.html", "curator.html", "release.html"):
        text = (reports / name).read_text(encoding="utf-8")
        assert "default-src 'none'" in html.unescape(text)
        assert set(Content(reports / name).addresses) <= {"#content"}
        assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
        assert "https://" not in text


def test_the_planning_report_does_not_depend_on_the_sensitive_file(folder, run) -> None:
    assert run(QUICK).code == 0
    first = (folder / "plan.html").read_bytes()
    (folder / "trips.parquet").unlink()
    (folder / "visits.csv").write_text("")
    assert run(f"{QUICK} --overwrite").code == 0
    assert (folder / "plan.html").read_bytes() == first


def test_a_sample_word_is_shown_and_must_be_a_feasible_word_of_the_length(folder, run) -> None:
    word = ["home", "cart", "help", "home", "home", "cart"]
    assert run(*QUICK.split(), "--sample", " ".join(word)).code == 0
    plan = data_of(folder / "plan.html")["plan"]
    assert [plan["symbols"][code] for code in plan["sample"]["codes"]] == word
    assert plan["sample"]["title"] == "sample word"
    assert "was given as public" in Content(folder / "plan.html").text
    for wrong, why in (("home cart", "has 2 symbols"), ("home x x x x x", "unknown symbol 'x'")):
        ran = run(*QUICK.replace("plan.html", "other.html").split(), "--sample", wrong)
        assert ran.code == 1
        assert why in ran.err
        assert not (folder / "other.html").exists()


def test_numbers_may_be_symbols_of_a_sample_word(folder, run) -> None:
    chain = pv.MarkovChain.from_edges([(1, 2), (2, 1), (2, 2)])
    (folder / "chain.json").write_text(chain.to_json())
    line = "report plan --chain chain.json --length 3 --output plan.html"
    ran = run(*line.split(), "--sample", "1 2 2")
    assert ran.code == 0, ran.err


def test_symbols_are_text_whatever_they_are_called(folder, run) -> None:
    names = ["<script>document.title='owned'</script>", '"onmouseover="x', "</script>", "a&b"]
    (folder / "pages.txt").write_text("\n".join(names) + "\n")
    assert run(QUICK).code == 0
    content = Content(folder / "plan.html")
    assert content.elements.count("script") == 2  # the data and the page's own script
    assert data_of(folder / "plan.html")["plan"]["symbols"] == names


def test_a_mechanism_that_cannot_be_used_is_named_with_the_reason(folder, run) -> None:
    (folder / "dead.csv").write_text("from,to\na,b\nb,c\na,c\nc,a\nb,end\n")
    assert run("report plan --edges dead.csv --length 4 --output plan.html").code == 0
    assert "online cannot be used here: state 'end' has no successor" in Content(folder / "plan.html").text
    assert data_of(folder / "plan.html")["plan"]["cells"][0][0][3] is None


def test_an_automaton_is_planned_and_drawn_with_its_own_states(folder, run) -> None:
    (folder / "machine.csv").write_text("from,symbol,to\n,,idle\nidle,start,busy\nbusy,work,busy\nbusy,stop,idle\n")
    (folder / "nodes.csv").write_text("symbol,x,y\nidle,0,0\nbusy,1,0\n")
    line = "report plan --automaton machine.csv --length 4 --coordinates nodes.csv --output plan.html"
    ran = run(*line.split(), "--sample", "start work work stop")
    assert ran.code == 0, ran.err
    plan = data_of(folder / "plan.html")["plan"]
    names = plan["network"]["names"]
    assert [names[node] for node in plan["sample"]["nodes"]] == ["idle", "busy", "busy", "busy", "idle"]


def test_the_slider_starts_where_it_is_told(folder, run) -> None:
    assert run(f"{QUICK} --epsilon 1.7 --adjacency 3").code == 0
    plan = data_of(folder / "plan.html")["plan"]
    assert 1.7 in plan["epsilons"]
    assert plan["adjacencies"] == [1, 2, 3, 4, 5]
    text = (folder / "plan.html").read_text()
    assert f'id="epsilon" min="0" max="12" step="1" value="{plan["epsilons"].index(1.7)}"' in text
    assert 'id="adjacency" min="0" max="4" step="1" value="2"' in text


@pytest.mark.slow
def test_every_chart_is_also_a_picture(folder, run) -> None:
    (folder / "nodes.csv").write_text("symbol,x,y\n" + "".join(f"s{i},{i % 3},{i // 3}\n" for i in range(8)))
    road = "report plan --edges roads.csv --length 3 --coordinates nodes.csv --format png --output road"
    letters = QUICK.replace("plan.html", "letters --format svg")
    drawn = {
        road: ("png", b"\x89PNG", ["distribution", "errors", "system"]),
        letters: ("svg", b"<?xml", ["distribution", "errors"]),
    }
    for line, (format, magic, names) in drawn.items():
        assert run(line).code == 0
        made = sorted((folder / line.split("--output ")[1].split()[0]).iterdir())
        assert [path.name for path in made] == [f"{name}.{format}" for name in names]
        assert all(path.read_bytes().startswith(magic) for path in made)
    before = [path.read_bytes() for path in made]
    assert run(letters).code == 1, "pictures that are there already are not replaced"
    assert run(f"{letters} --overwrite").code == 0
    assert [path.read_bytes() for path in made] == before, "the same chart gives the same bytes"


def test_wrong_names_are_refused_before_any_work(folder, run) -> None:
    assert "a report is an .html file" in run(QUICK.replace("plan.html", "plan.txt")).err
    assert "name a folder" in run(f"{QUICK} --format png").err
    (folder / "plan.html").write_text("mine")
    ran = run(QUICK)
    assert ran.code == 1
    assert "exists already" in ran.err
    assert (folder / "plan.html").read_text() == "mine"


def test_a_certificate_is_explained_with_its_own_numbers() -> None:
    world = pv.MarkovChain.from_edges(ROADS)
    mechanism = pv.CertifiedExponential(world, 3.0, 1)
    certificate = mechanism.certificate(6)
    text = " ".join(certificate_in_words(certificate, 3.0))
    assert f"{certificate.theta:.4g}" in text
    assert f"{certificate.loss:.6g}" in text
    assert f"2 symbols: {certificate.loss_at(2):.3g}" in text
    free = certificate_in_words(pv.CertifiedExponential(pv.Alphabet("ab"), 3.0).certificate(6), 3.0)
    assert "costs nothing" in " ".join(free)
    lift = pv.TransitionSystem({(1, "u"): 2, (2, "d"): 1, (2, "u"): 3, (3, "d"): 2}, initial=1)
    published = certificate_in_words(pv.CertifiedExponential(lift, 3.0).certificate(6), 3.0)
    assert "no more is proved than what the papers prove" in " ".join(published)


def test_the_bet_is_as_good_as_the_worst_pair_of_distributions_allows() -> None:
    # Randomized response reaches the bound for δ = 0: it keeps a bit with probability e^ε/(1 + e^ε).
    for epsilon in (0.1, 1.0, 5.0):
        keep = exp(epsilon) / (1 + exp(epsilon))
        assert best_guess(epsilon) == pytest.approx(keep)
        assert greatest_belief(epsilon) == pytest.approx(keep)
    # With probability δ the input itself, otherwise nothing: the best guess is right with (1 + δ)/2, and ε = 0.
    assert best_guess(0.0, 0.3) == pytest.approx(0.65)
    assert greatest_belief(2.0, prior=0.1) == pytest.approx(exp(2) * 0.1 / (exp(2) * 0.1 + 0.9))
    assert "allowance" in epsilon_in_words(1.0, 1e-6)[2]
    assert percent(greatest_belief(9.0)) == "99.99%"
    assert percent(greatest_belief(800.0)) == "100%"
