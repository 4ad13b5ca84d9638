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
from pathveil.planning.grid import EPSILONS
from pathveil.planning.public_words import public_words
from pathveil.report.alignment import aligned
from pathveil.report.explain import percent
from tests.cli.conftest import ROADS
from tests.reference.edits import levenshtein
from tests.report.browser import Opened
from tests.report.conftest import CURATOR
from tests.report.pages import Content, charts_of, table_of

WORLD = pv.MarkovChain.from_edges(ROADS)
PLAN = "report plan --edges roads.csv --distance edit --lengths 4:8 --cap 5 --output plan.html"
PRIVATIZE = (
    "privatize trips.parquet --column route --edges roads.csv --epsilon 3 --distance edit --lengths 5:9 --cap 7 "
    "--mechanism certified "
    "--output private.parquet"
)
KINDS = {
    "certified": pv.CertifiedEditExponential,
    "permute-and-flip": pv.EditPermuteAndFlip,
    "exponential": pv.EditExponential,
}


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
    content = Content(folder / "plan.html")
    assert "for words of 6 symbols" in content.text
    words = public_words(WORLD, 6)
    for b, e in ((0, 4), (1, 10)):
        epsilon, adjacency = EPSILONS[e], b + 1
        compared = {row[0].removesuffix(" (best)"): row for row in content.tables[f"comparison-b{b}-e{e}"].body}
        for name, kind in KINDS.items():
            mechanism, row = kind(WORLD, epsilon, adjacency, (4, 8), 5), compared[name]
            laws = [mechanism.error_law(word) for word in words]
            mean = float(np.mean([law.mean for law in laws]))
            assert content.tables[f"errors-b{b}-numbers"].numbers(name)[f"{epsilon:g}"] == pytest.approx(mean, rel=1e-5)
            assert float(row[1]) == pytest.approx(mean, rel=6e-3)
            assert row[3] == percent(float(np.mean([law.pmf[0] for law in laws])))
            assert float(row[4]) == pytest.approx(mechanism.theta(), rel=6e-3)
            kept = np.mean([mechanism.length_law(word)[6] for word in words])
            assert row[5] == percent(1 - kept)
        drawn = [row[0] for row in content.tables[f"distribution-b{b}-e{e}-numbers"].body]
        assert drawn == ["0", "1", "2", "3", "4", "5 or more"]
        assert f"{pv.CertifiedEditExponential(WORLD, epsilon, adjacency, (4, 8), 5).theta():.4g}" in content.text
    text = content.text
    assert "A lower bound for every mechanism: it is not known here." in text
    assert "The length of a word is protected, that it lies between 4 and 8 is not" in text
    assert "no mechanism errs less than" not in text


@pytest.mark.slow
def test_a_length_or_a_sample_word_says_which_words_are_planned_for(folder, run) -> None:
    assert run(f"{PLAN} --length 8").code == 0
    assert "for words of 8 symbols" in Content(folder / "plan.html").text
    sample = WORLD.random_word(5, pv.insecure_seed(3))
    ran = run(*PLAN.split(), "--overwrite", "--sample", " ".join(sample))
    assert ran.code == 0, ran.err
    assert table_of(folder / "plan.html", "words-b0-e0").body[0] == ["sample word", "", "".join(sample)]
    for wrong, why in (
        ("--length 9", "words of 4 to 8 symbols are planned for"),
        ("--mechanism x", "No such option"),
        ("--cap 0", "cap"),
    ):
        assert why in run(f"{PLAN} --overwrite {wrong}").err
    assert "give --length" in run("report plan --edges roads.csv --output other.html").err
    assert "--distance edit" in run("report plan --edges roads.csv --length 4 --cap 3 --output other.html").err
    assert run(PLAN.replace("plan.html", "charts --format svg")).code == 0
    assert {path.name for path in (folder / "charts").iterdir()} == {
        f"{name}.svg" for name in ("distribution", "errors", "model-chain", "model-sequences", "system")
    }


def test_the_curator_sees_edits_and_changes_of_length_row_by_row(folder, run) -> None:
    assert run(f"{PRIVATIZE} --keep-order").code == 0
    ran = run(CURATOR)
    assert ran.code == 0, ran.err
    sensitive, private = words_in("trips.parquet"), words_in("private.parquet")
    assert sorted(map(len, sensitive)) != sorted(map(len, private))
    charts = charts_of(folder / "curator.html")
    errors = charts["errors"]
    edits = [min(levenshtein(v, w), 7) for v, w in zip(sensitive, private, strict=True)]
    observed = list(errors.numbers("observed in the release").values())
    assert observed == pytest.approx((np.bincount(edits, minlength=8) / len(edits)).tolist(), abs=1e-6)
    assert errors.column("edits")[-1] == "7 or more"
    mechanism = pv.CertifiedEditExponential(WORLD, 3.0, 1, (5, 9), 7)
    laws = np.mean([mechanism.error_law(word).pmf for word in sensitive], axis=0)
    expected = list(errors.numbers("expected, exact law").values())
    assert expected == pytest.approx(laws.tolist(), rel=1e-4, abs=1e-6)
    changes = [len(w) - len(v) for v, w in zip(sensitive, private, strict=True)]
    shown = charts["length-changes"].numbers("observed in the release")
    for label, share in shown.items():
        assert share == pytest.approx(changes.count(int(label)) / len(changes), abs=1e-6)
    assert sum(shown.values()) == pytest.approx(1, abs=1e-4)
    for name, words in (("sensitive", sensitive), ("private", private)):
        share = sum(len(word) == 7 for word in words) / len(words)
        assert charts["lengths"].numbers(name)["7"] == pytest.approx(share, abs=1e-6)
    text = Content(folder / "curator.html").text
    assert f"The length of {sum(change != 0 for change in changes)} of 40 words has changed." in text
    assert "The rows with most edits" in text
    assert "Which symbols are replaced" not in text


def test_in_random_order_the_curator_sees_laws_and_lengths_only(folder, run) -> None:
    assert run(f"{PRIVATIZE} --mechanism permute-and-flip").code == 0
    assert run(CURATOR).code == 0
    charts = charts_of(folder / "curator.html")
    assert charts["errors"].headers == ["edits", "expected, exact law"]
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
    for e, b in ((4, 0), (10, 1)):
        page.choose("epsilon", e)
        page.choose("adjacency", b)
        assert page.number("errors") == pytest.approx(
            min(float(row[1]) for row in table_of(page.path, f"comparison-b{b}-e{e}").body)
        )
        assert page.shown("table[id^=words]") == [f"words-b{b}-e{e}"]
        rows = page.ask(
            f"[...document.querySelectorAll('#words-b{b}-e{e} tbody tr')].map(r => [...r.querySelectorAll('.chip')]"
            ".map(c => [c.lastChild.textContent, c.classList.contains('wrong')]))"
        )
        sample = [name for name, _ in rows[0]]
        for places in rows[1:]:
            word = [name for name, _ in places if name != "∅"]
            assert WORLD.is_feasible(word)
            assert sum(wrong for _, wrong in places) == levenshtein(tuple(word), tuple(sample))
    assert page.complaints() == []
    assert Opened(browser, folder / "curator.html").complaints() == []
