"""Reports about edit distance: planning, the curator's comparison of words of different lengths, and the release."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pathveil as pv
from pathveil.planning.public_words import public_words
from pathveil.report.alignment import aligned
from tests.cli.conftest import ROADS
from tests.reference.edits import levenshtein
from tests.report.browser import Opened
from tests.report.conftest import CURATOR
from tests.report.pages import Content, data_of

WORLD = pv.MarkovChain.from_edges(ROADS)
PLAN = "report plan --edges roads.csv --distance edit --lengths 4:8 --cap 5 --output plan.html"
PRIVATIZE = (
    "privatize trips.parquet --column route --edges roads.csv --epsilon 3 --distance edit --lengths 5:9 --cap 7 "
    "--mechanism certified "
    "--output private.parquet"
)
KINDS = (pv.CertifiedEditExponential, pv.EditPermuteAndFlip, pv.EditExponential)


def words_in(path: str) -> list[tuple[str, ...]]:
    return [tuple(word) for word in pq.read_table(path).column("route").to_pylist()]


@given(true=st.lists(st.integers(0, 2), max_size=7), private=st.lists(st.integers(0, 2), max_size=7))
def test_an_alignment_spells_the_private_word_and_has_as_many_wrong_places_as_edits(true, private) -> None:
    places = aligned(true, private)
    assert [code for code, _ in places if code is not None] == private
    assert sum(wrong for _, wrong in places) == levenshtein(tuple(true), tuple(private))
    missing = sum(code is None for code, _ in places)
    right = [code for code, wrong in places if not wrong]
    assert len(places) - missing == len(private)
    rest = iter(true)
    assert all(code in rest for code in right), "what is right occurs in the true word, in this order"


def test_the_plan_has_the_librarys_own_numbers_and_no_lower_bound(folder, run) -> None:
    ran = run(PLAN)
    assert ran.code == 0, ran.err
    plan = data_of(folder / "plan.html")["plan"]
    assert (plan["length"], plan["what"], plan["bound"], plan["adjacencies"]) == (6, "edits", None, [1, 2])
    assert plan["distribution"]["labels"] == ["0", "1", "2", "3", "4", "5 or more"]
    words = public_words(WORLD, 6)
    for b, e in ((0, 4), (1, 10)):
        epsilon, adjacency = plan["epsilons"][e], plan["adjacencies"][b]
        for k, kind in enumerate(KINDS):
            mechanism, cell = kind(WORLD, epsilon, adjacency, (4, 8), 5), plan["cells"][b][e][k]
            laws = [mechanism.error_law(word) for word in words]
            assert cell["mean"] == pytest.approx(np.mean([law.mean for law in laws]), rel=1e-5)
            assert cell["pmf"][0] == pytest.approx(np.mean([law.pmf[0] for law in laws]), rel=1e-4, abs=1e-9)
            kept = np.mean([mechanism.length_law(word)[6] for word in words])
            assert cell["changes"] == pytest.approx(1 - kept, rel=1e-4, abs=1e-9)
            assert cell["theta"] == pytest.approx(mechanism.theta(), rel=1e-5)
            assert plan["mechanisms"][k]["units"][b] == mechanism.guarantee.unit
            for draw in cell["draws"]:
                word = [code for code in draw["codes"] if code >= 0]
                assert WORLD.is_feasible([WORLD.symbols[code] for code in word])
                assert 4 <= len(word) <= 8
                assert len(draw["wrong"]) == levenshtein(tuple(word), tuple(plan["sample"]["codes"]))
        assert f"{pv.CertifiedEditExponential(WORLD, epsilon, adjacency, (4, 8), 5).theta():.4g}" in str(
            plan["certificates"][b][e]
        )
    text = Content(folder / "plan.html").text
    assert "A lower bound for every mechanism is not known here" in text
    assert "The length of a word is protected, that it lies between 4 and 8 is not" in text
    assert "no mechanism errs less than" not in text


@pytest.mark.slow
def test_a_length_or_a_sample_word_says_which_words_are_planned_for(folder, run) -> None:
    assert run(f"{PLAN} --length 8").code == 0
    assert data_of(folder / "plan.html")["plan"]["length"] == 8
    sample = WORLD.random_word(5, pv.insecure_seed(3))
    ran = run(*PLAN.split(), "--overwrite", "--sample", " ".join(sample))
    assert ran.code == 0, ran.err
    plan = data_of(folder / "plan.html")["plan"]
    assert [plan["symbols"][code] for code in plan["sample"]["codes"]] == list(sample)
    for wrong, why in (
        ("--length 9", "words of 4 to 8 symbols are planned for"),
        ("--mechanism x", "No such option"),
        ("--cap 0", "cap"),
    ):
        assert why in run(f"{PLAN} --overwrite {wrong}").err
    assert "give --length" in run("report plan --edges roads.csv --output other.html").err
    assert "--distance edit" in run("report plan --edges roads.csv --length 4 --cap 3 --output other.html").err
    assert run(PLAN.replace("plan.html", "charts --format svg")).code == 0
    assert {path.name for path in (folder / "charts").iterdir()} == {"distribution.svg", "errors.svg", "system.svg"}


def test_the_curator_sees_edits_and_changes_of_length_row_by_row(folder, run) -> None:
    assert run(f"{PRIVATIZE} --keep-order").code == 0
    ran = run(CURATOR)
    assert ran.code == 0, ran.err
    sensitive, private = words_in("trips.parquet"), words_in("private.parquet")
    assert sorted(map(len, sensitive)) != sorted(map(len, private))
    charts = data_of(folder / "curator.html")["charts"]
    observed, expected = charts["errors"]["series"]
    edits = [min(levenshtein(v, w), 7) for v, w in zip(sensitive, private, strict=True)]
    assert observed["values"] == pytest.approx((np.bincount(edits, minlength=8) / len(edits)).tolist(), abs=1e-6)
    assert charts["errors"]["labels"][-1] == "7 or more"
    mechanism = pv.CertifiedEditExponential(WORLD, 3.0, 1, (5, 9), 7)
    laws = np.mean([mechanism.error_law(word).pmf for word in sensitive], axis=0)
    assert expected["values"] == pytest.approx(laws.tolist(), rel=1e-4, abs=1e-6)
    changes = [len(w) - len(v) for v, w in zip(sensitive, private, strict=True)]
    shown = dict(zip(charts["length-changes"]["labels"], charts["length-changes"]["series"][0]["values"], strict=True))
    for label, share in shown.items():
        assert share == pytest.approx(changes.count(int(label)) / len(changes), abs=1e-6)
    assert sum(shown.values()) == pytest.approx(1, abs=1e-4)
    for series, words in zip(charts["lengths"]["series"], (sensitive, private), strict=True):
        of_length = dict(zip(charts["lengths"]["labels"], series["values"], strict=True))
        assert of_length["7"] == pytest.approx(sum(len(word) == 7 for word in words) / len(words), abs=1e-6)
    text = Content(folder / "curator.html").text
    assert f"The length of {sum(change != 0 for change in changes)} of 40 words has changed." in text
    assert "The rows with most edits" in text
    assert "Which symbols are replaced" not in text


def test_in_random_order_the_curator_sees_laws_and_lengths_only(folder, run) -> None:
    assert run(f"{PRIVATIZE} --mechanism permute-and-flip").code == 0
    assert run(CURATOR).code == 0
    charts = data_of(folder / "curator.html")["charts"]
    assert [one["name"] for one in charts["errors"]["series"]] == ["expected, exact law"]
    assert "lengths" in charts
    assert "length-changes" not in charts
    assert "Rows cannot be put side by side" in Content(folder / "curator.html").text


def test_words_of_other_lengths_that_were_left_out_are_left_out_of_the_comparison_too(folder, run) -> None:
    table = pq.read_table("trips.parquet").to_pydict()
    table["route"][3] = table["route"][3][:2]
    pq.write_table(pa.table(table), "trips.parquet")
    assert run(f"{PRIVATIZE} --keep-order --on-bad-row skip").code == 0
    assert "5 to 9 symbols" in run(CURATOR).err
    ran = run(f"{CURATOR} --on-bad-row skip")
    assert ran.code == 0, ran.err
    text = Content(folder / "curator.html").text
    assert "39 with" in text
    assert "yes: the release kept the order" in text


def test_the_release_report_says_that_lengths_are_protected(folder, run) -> None:
    release = "report release private.parquet.manifest.json --output release.html"
    assert run(PRIVATIZE).code == 0
    assert run(release).code == 0
    manifest = json.loads((folder / "private.parquet.manifest.json").read_text())
    text = Content(folder / "release.html").text
    assert manifest["unit"] in text
    assert "its length included, lengths 5 to 9 public" in text
    assert "The length of a word is protected, too" in text
    assert "The length of the word: taken as public" not in text
    plain = PRIVATIZE.replace("--distance edit --lengths 5:9 --cap 7 ", "")
    assert run(f"{plain} --overwrite").code == 0
    assert run(f"{release} --overwrite").code == 0
    text = Content(folder / "release.html").text
    assert "The length of a word is protected, too" not in text
    assert "The length of the word: taken as public" in text


def test_the_pages_work_in_a_browser(folder, run, browser) -> None:
    assert run(PLAN).code == 0
    assert run(f"{PRIVATIZE} --keep-order").code == 0
    assert run(CURATOR).code == 0
    page = Opened(browser, folder / "plan.html")
    plan = data_of(page.path)["plan"]
    for e, b in ((4, 0), (10, 1)):
        page.move("epsilon", e)
        page.move("adjacency", b)
        cell = plan["cells"][b][e][0]
        assert page.number("errors") == pytest.approx(cell["mean"])
        assert page.number("changes") == pytest.approx(cell["changes"])
        rows = page.ask(
            "[...document.querySelectorAll('#words tbody tr')].map(r => [...r.children].map(c => c.textContent))"
        )
        for row, draw in zip(rows[1:], cell["draws"], strict=True):
            assert int(row[1]) == len(draw["wrong"])
            assert row[2:] == ["∅" if code < 0 else plan["symbols"][code] for code in draw["codes"]]
        widest = page.ask("document.querySelectorAll('#words thead th').length")
        assert max(map(len, rows)) <= widest
    assert page.ask("document.querySelectorAll('#comparison tbody tr').length") == 3
    assert page.complaints() == []
    assert Opened(browser, folder / "curator.html").complaints() == []
