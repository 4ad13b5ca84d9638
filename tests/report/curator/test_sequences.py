"""The curator's page of a model of sequences: the right numbers, all of them marked as sensitive, and safe."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

import pathveil as pv
from pathveil.models.counting import States
from pathveil.models.sequences import CodedWords
from pathveil.report.curator import sequence_page
from pathveil.report.files import write_page
from tests.models.sequences.utility.made_up import log_words
from tests.report.pages import Content, charts_of

WORDS = log_words(2_000, seed=1)
CURATOR = "report curator --input log.csv --column trace --separator / --model model.json --output curator.html"


@pytest.fixture
def log(folder: Path) -> Path:
    """A log and its model, beside the other files of the commands."""
    lines = ["trace", *("/".join(word) for word in WORDS)]
    (folder / "log.csv").write_text("\n".join(lines) + "\n")
    options = {"states": "abcde", "epsilon": 2.0, "delta": 1e-6, "max_length": 9}
    pv.fit_private_sequences(WORDS, rng=pv.insecure_seed(1), **options).save(folder / "model.json")
    return folder


def test_the_command_writes_a_page_that_only_the_curator_may_read(log, run):
    ran = run(CURATOR)
    assert ran.code == 0, ran.err
    assert "CONTAINS SENSITIVE DATA" in ran.err
    assert stat.S_IMODE((log / "curator.html").stat().st_mode) == 0o600
    text = Content(log / "curator.html").text
    assert "CONTAINS SENSITIVE DATA. For the curator only." in text
    for told in ("What is lost, and to what", "lost to privacy", "lost to modelling", "2,000, cut after 9 symbols"):
        assert told in text


def test_original_bars_are_the_exact_shares_of_the_words(log, run):
    assert run(CURATOR).code == 0
    charts = charts_of(log / "curator.html")
    assert {"losses", "starts", "ends", "lengths", "strings"} <= set(charts)
    original = charts["lengths"].numbers("original (sensitive)")
    for length in (3, 4, 5):
        assert original[str(length)] == pytest.approx(sum(len(word) == length for word in WORDS) / len(WORDS))
    assert charts["starts"].numbers("original (sensitive)")["a"] == 1.0
    assert charts["losses"].headers[1:] == ["private model", "same model, no privacy", "chance"]


def test_losses_tell_privacy_and_modelling_apart():
    """Little ε: privacy costs. Much ε and an order that is too small: modelling does."""
    words = CodedWords.from_codes([[0, 1, 0], [2, 1, 2]] * 1_000)

    def triples(epsilon: float, order: int) -> dict[str, float]:
        model = pv.fit_private_sequences(
            words, states=range(3), epsilon=epsilon, max_length=4, order=order, rng=pv.insecure_seed(2)
        )
        losses = sequence_page(model, words, pv.insecure_seed(3)).charts["losses"]
        return {one.name: one.values[losses.labels.index("triples")] for one in losses.series}

    coarse = triples(50.0, 1)
    assert coarse["same model, no privacy"] > 0.4
    assert coarse["private model"] == pytest.approx(coarse["same model, no privacy"], abs=0.1)
    noisy = triples(0.1, 2)
    assert noisy["same model, no privacy"] < 0.1
    assert noisy["private model"] > 0.2


def test_symbols_cannot_break_out_of_the_page(tmp_path):
    evil = "<script>alert(1)</script>"
    words = [(evil, "b"), ("b", evil, "b")] * 100
    model = pv.fit_private_sequences(words, states=[evil, "b"], epsilon=5.0, delta=1e-5, max_length=4)
    coded = CodedWords.from_words(words, States([evil, "b"], None), 4)
    page = tmp_path / "curator.html"
    write_page(sequence_page(model, coded), page, overwrite=False, secret=True)
    assert evil not in page.read_text()
    assert evil in Content(page).text


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f"{CURATOR} --alphabet pages.txt", "--alphabet: model.json is a model of sequences"),
        (f"{CURATOR} --private log.csv", "--private: model.json is a model of sequences"),
        (CURATOR.replace("curator.html", "report.html"), "its name has to say so"),
        (CURATOR.replace("--model model.json ", ""), "--private"),
    ],
)
@pytest.mark.usefixtures("log")
def test_wrong_use_is_explained(run, line, said):
    ran = run(line)
    assert ran.code == 2
    assert said in " ".join(ran.err.split())


def test_words_that_the_support_forbids_are_refused():
    ring = pv.MarkovChain.from_edges([("a", "b"), ("b", "a")])
    model = pv.fit_private_sequences(["ab", "ba"] * 50, states="ab", support=ring, epsilon=1.0, max_length=3)
    with pytest.raises(pv.InvalidCountsError, match="not the words that it was fitted to"):
        sequence_page(model, CodedWords.from_codes([[0, 0]]))
