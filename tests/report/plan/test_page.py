"""The planning report: the library's own numbers, and nothing sensitive."""

from __future__ import annotations

import html
import json
import re
from math import exp
from pathlib import Path

import pytest

import pathveil as pv
from pathveil.planning.forecast import CONTEXTS
from pathveil.planning.grid import EPSILONS
from pathveil.planning.lower_bound import least_expected_errors
from pathveil.planning.public_words import expected_errors
from pathveil.report.explain import best_guess, certificate_in_words, epsilon_in_words, greatest_belief, percent
from pathveil.report.plan.chosen import MOST_ADJACENCIES, MOST_EPSILONS
from tests.cli.conftest import ROADS
from tests.report.conftest import PLAN
from tests.report.pages import Content, table_of

LENGTH = int(PLAN.split("--length ")[1].split()[0])
QUICK = "report plan --alphabet pages.txt --length 6 --output plan.html"


def test_every_number_of_the_grid_is_the_librarys_own(reports) -> None:
    content = Content(reports / "plan.html")
    world = pv.MarkovChain.from_edges(ROADS)
    assert f"private words of {LENGTH} symbols" in content.text
    for b, e in ((0, 4), (1, 8)):
        epsilon, adjacency = EPSILONS[e], b + 1
        made = {
            "certified": pv.CertifiedExponential(world, epsilon, adjacency, contexts=CONTEXTS),
            "permute-and-flip": pv.PermuteAndFlip(world, epsilon, adjacency),
            "exponential": pv.Exponential(world, epsilon, adjacency),
            "online": pv.Online(world, epsilon, adjacency),
        }
        curves = content.tables[f"errors-b{b}-numbers"]
        compared = {row[0].removesuffix(" (best)"): row for row in content.tables[f"comparison-b{b}-e{e}"].body}
        means = {name: expected_errors(mechanism, world, LENGTH) for name, mechanism in made.items()}
        for name, mechanism in made.items():
            assert curves.numbers(name)[f"{epsilon:g}"] == pytest.approx(means[name], rel=1e-5)
            assert float(compared[name][1]) == pytest.approx(means[name], rel=6e-3)
            assert float(compared[name][4]) == pytest.approx(mechanism.theta(LENGTH), rel=6e-3)
        [best] = [row[0] for row in content.tables[f"comparison-b{b}-e{e}"].body if row[0].endswith(" (best)")]
        assert best == f"{min(means, key=means.__getitem__)} (best)"
        assert sum(content.tables[f"distribution-b{b}-e{e}-numbers"].numbers("certified").values()) == pytest.approx(1)
        bound = least_expected_errors(world, LENGTH, epsilon, adjacency)
        known = curves.numbers("lower bound for any mechanism")
        assert known[f"{epsilon:g}"] == pytest.approx(bound.errors, rel=1e-5)
        for sentence in certificate_in_words(made["certified"].certificate(LENGTH), epsilon):
            assert sentence in content.text
        assert f"protects against telling the input from {made['certified'].guarantee.unit}." in content.text


def test_the_page_begins_with_a_recommendation_in_plain_words(reports) -> None:
    content = Content(reports / "plan.html")
    world = pv.MarkovChain.from_edges(ROADS)
    mechanism = pv.CertifiedExponential(world, 2.0, 1, contexts=CONTEXTS)
    mean = expected_errors(mechanism, world, LENGTH)
    said = content.text[content.text.index("Recommendation") : content.text.index("Choose ε and b")]
    assert "Take the certified mechanism at ε = 2, b = 1" in said
    assert f"{mean:.3g} of {LENGTH} symbols will be wrong on average ({percent(mean / LENGTH)})" in said
    assert f"right at most {percent(best_guess(2.0))} of the time" in said
    ladder = content.tables["ladder"]
    curve = content.tables["errors-b0-numbers"].numbers("certified")
    for wanted, epsilon in zip(ladder.column(ladder.headers[0]), ladder.column("takes ε of"), strict=True):
        share = float(wanted.removesuffix("%")) / 100
        enough = [one for one, errors in curve.items() if errors <= share * LENGTH]
        assert enough[0] == epsilon, "the smallest ε of the grid that is enough"


def test_curves_that_coincide_are_drawn_once_under_all_their_names(folder, run) -> None:
    assert run(QUICK).code == 0
    content = Content(folder / "plan.html")
    assert "certified = online = lower bound for any mechanism" in content.text
    assert content.tables["errors-b0-numbers"].headers[1:5] == [
        "certified",
        "permute-and-flip",
        "exponential",
        "online",
    ]


def test_a_model_of_all_words_is_planned_from_public_quantities(folder, run) -> None:
    assert run(f"{QUICK} --words 5000 --epsilon 1.25").code == 0
    content = Content(folder / "plan.html")
    told = pv.forecast_sequences(states=["home", "cart", "help"], words=5000, max_length=6, epsilon=1.25)
    table = content.tables["model-sequences-numbers"]
    for part, name in (("pairs", "pairs of symbols"), ("lengths", "lengths")):
        assert table.numbers(name)["1.25"] == pytest.approx(told.errors[part], rel=1e-5)
    chain = pv.compare_models([4167] * 3, successors=3, epsilon=1.25, unit="word", max_length=6)[0]
    assert content.tables["model-chain-numbers"].numbers("5,000 words")["1.25"] == pytest.approx(chain.rmse, rel=1e-4)
    assert run(f"{QUICK} --overwrite").code == 0
    sizes = Content(folder / "plan.html").tables["model-sequences-numbers"].headers[1:]
    assert sizes == ["1,000 words", "10,000 words", "100,000 words"]


def test_with_a_ledger_the_page_lists_every_charge_and_nothing_of_the_curators(folder, run) -> None:
    assert run("ledger init budget.db --epsilon 10 --unit symbols --adjacency 1").code == 0
    for epsilon in (1, 2):
        line = (
            f"privatize lines.txt --alphabet pages.txt --epsilon {epsilon} --ledger budget.db --output p{epsilon}.txt"
        )
        assert run(line).code == 0
    assert run(f"{QUICK} --ledger budget.db").code == 0
    content = Content(folder / "plan.html")
    charges = json.loads(run("ledger show budget.db --json").out)["charges"]
    assert content.tables["charges"].column("ε") == ["1", "2"]
    assert content.tables["charges"].column("time") == [charge["time"] for charge in charges]
    text = (folder / "plan.html").read_text()
    for charge in charges:
        for secret in (
            charge["fingerprint"],
            charge["fingerprint"][:8],
            charge["request"],
            charge["command"],
            "lines.txt",
        ):
            assert secret not in text


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
    shown = Content(folder / "plan.html").tables["words-b0-e0"].body[0]
    assert shown == ["sample word", "", "".join(word)], "chips, with no text between them"
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
    assert "script" not in content.elements
    assert not {name for name in content.attributes if name.startswith("on")}
    assert all(name in content.text for name in names)


def test_a_mechanism_that_cannot_be_used_is_named_with_the_reason(folder, run) -> None:
    (folder / "dead.csv").write_text("from,to\na,b\nb,c\na,c\nc,a\nb,end\n")
    assert run("report plan --edges dead.csv --length 3 --output plan.html").code == 0
    assert "online cannot be used here: state 'end' has no successor" in Content(folder / "plan.html").text
    assert "online" not in " ".join(table_of(folder / "plan.html", "comparison-b0-e0").column("mechanism"))


def test_an_automaton_is_planned_and_drawn_with_its_own_states(folder, run) -> None:
    (folder / "machine.csv").write_text("from,symbol,to\n,,idle\nidle,start,busy\nbusy,work,busy\nbusy,stop,idle\n")
    (folder / "nodes.csv").write_text("symbol,x,y\nidle,0,0\nbusy,1,0\n")
    line = "report plan --automaton machine.csv --length 4 --coordinates nodes.csv --output plan.html"
    ran = run(*line.split(), "--sample", "start work work stop")
    assert ran.code == 0, ran.err
    ways = table_of(folder / "plan.html", "system-numbers")
    assert ways.body[0] == ["sample word", "idle → busy → busy → busy → idle"]


def test_the_page_starts_where_it_is_told(folder, run) -> None:
    assert run(f"{QUICK} --epsilon 1.7 --adjacency 3").code == 0
    text = (folder / "plan.html").read_text()
    checked = re.findall(r'<input type="radio" name="(\w+)" id="[\w-]+" value="([\d.]+)" checked>', text)
    assert checked == [("epsilon", "1.7"), ("adjacency", "3")]
    content = Content(folder / "plan.html")
    assert "at ε = 1.7, b = 3" in content.text
    assert "1.7" in content.tables["errors-b2-numbers"].column("ε")


def test_the_style_sheet_has_a_rule_for_every_choice_that_a_page_can_offer() -> None:
    style = (Path(pv.__file__).parent / "report/assets/report.css").read_text()
    for name, letter, most in (("epsilon", "e", MOST_EPSILONS), ("adjacency", "b", MOST_ADJACENCIES)):
        for i in range(most):
            assert f"main:has(#{name}-{i}:checked) .{letter}{i}" in style


@pytest.mark.slow
def test_every_chart_is_also_a_picture(folder, run) -> None:
    (folder / "nodes.csv").write_text("symbol,x,y\n" + "".join(f"s{i},{i % 3},{i // 3}\n" for i in range(8)))
    road = "report plan --edges roads.csv --length 3 --coordinates nodes.csv --format png --output road"
    letters = QUICK.replace("plan.html", "letters --format svg")
    drawn = {
        road: ("png", b"\x89PNG", ["distribution", "errors", "model-chain", "model-sequences", "system"]),
        letters: ("svg", b"<?xml", ["distribution", "errors", "model-chain", "model-sequences"]),
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
