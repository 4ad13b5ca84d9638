"""`pathveil audit`: verdicts, exit codes and plots."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pathveil as pv
from pathveil.cli.options import SystemFile
from pathveil.words.by_name import EDIT_MECHANISMS, MECHANISMS
from tests.audit.planted import KeepsTheLength, TooFewEdits, TooLittleNoise
from tests.cli.conftest import ROADS, Run

EXHAUSTIVE = "audit exhaustive --edges roads.csv --length 4 --mechanism certified --epsilon 1"
STATISTICAL = "audit statistical --edges roads.csv --length 4 --mechanism online --epsilon 2 --draws 20000"


def test_an_exhaustive_audit_prints_the_true_loss_and_ends_well(run: Run) -> None:
    ran = run(EXHAUSTIVE)
    assert ran.code == 0, ran.err
    assert "The claim holds" in ran.out
    content = json.loads(run(EXHAUSTIVE + " --json").out)
    mechanism = pv.CertifiedExponential(pv.MarkovChain.from_edges(ROADS), 1.0)
    [audit] = content["audits"]
    assert audit["loss"] == pv.audit_exhaustively(mechanism, length=4).loss
    assert (content["holds"], content["unit"], audit["holds"]) == (True, "feasible", True)


@pytest.mark.parametrize("mechanism", ["certified", "permute-and-flip", "exponential", "online"])
@pytest.mark.parametrize("unit", ["feasible", "any"])
def test_every_mechanism_is_audited_in_both_units(run: Run, mechanism: str, unit: str) -> None:
    line = f"audit exhaustive --edges roads.csv --length 2 --mechanism {mechanism} --epsilon 1 --unit {unit} --json"
    ran = run(line)
    assert ran.code == 0, ran.err
    content = json.loads(ran.out)
    assert content["audits"][0]["inputs"] == unit
    assert 0 < content["audits"][0]["loss"] <= 1


def test_a_statistical_audit_prints_a_verdict_and_ends_well(run: Run) -> None:
    # At confidence 0.999999 a correct mechanism fails here with a probability of at most 1e-6.
    ran = run(STATISTICAL + " --confidence 0.999999 --json")
    assert ran.code == 0, ran.err
    content = json.loads(ran.out)
    [audit] = content["audits"]
    assert 1 < audit["epsilon_lower"] <= 2
    assert content["uniformity"] == []  # the online mechanism promises nothing of that kind
    ran = run(
        "audit statistical --alphabet pages.txt --length 3 --epsilon 1 --epsilon 2 --draws 5000 --confidence 0.999999"
    )
    assert ran.code == 0, ran.err
    assert "Not refuted" in ran.out
    assert "equally likely" in ran.out


EDIT = "--edges roads.csv --distance edit --lengths 2:3 --cap 3 --mechanism permute-and-flip --epsilon 4"


def test_edit_distance_is_audited_over_all_lengths(run: Run) -> None:
    ran = run(f"audit exhaustive {EDIT} --json")
    assert ran.code == 0, ran.err
    content = json.loads(ran.out)
    [audit] = content["audits"]
    mechanism = pv.EditPermuteAndFlip(pv.MarkovChain.from_edges(ROADS), 4.0, lengths=(2, 3), cap=3)
    assert audit["loss"] == pv.audit_exhaustively(mechanism).loss
    assert (content["lengths"], content["cap"], audit["lengths"]) == ([2, 3], 3, [2, 3])
    # At confidence 0.999999 a correct mechanism fails here with a probability of at most 1e-6.
    line = f"audit statistical {EDIT} --draws 20000 --confidence 0.999999"
    ran = run(line)
    assert ran.code == 0, ran.err
    assert "words of 2 to 3 symbols, edit distance, adjacency 1" in ran.out
    assert "Not refuted" in ran.out
    assert json.loads(run(f"{line} --length 3 --json").out)["uniformity"] == []


def test_planted_bugs_of_edit_mechanisms_are_refuted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, audit in ((TooFewEdits, "exhaustive"), (KeepsTheLength, "statistical --draws 20000")):
        monkeypatch.setitem(EDIT_MECHANISMS, "permute-and-flip", kind)
        ran = run(f"audit {audit} {EDIT}")
        assert ran.code == 1
        assert "REFUTED" in ran.out


@pytest.mark.parametrize("line", [EXHAUSTIVE, STATISTICAL])
def test_a_refuted_claim_is_an_exit_code_of_one(run: Run, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    for name in ("certified", "online"):
        monkeypatch.setitem(MECHANISMS, name, TooLittleNoise)
    sparse = pv.MarkovChain.from_edges([(0, 1), (0, 0), (1, 2), (1, 0), (2, 0)])
    monkeypatch.setattr(SystemFile, "read", lambda _: sparse)
    ran = run(line)
    assert ran.code == 1
    assert "REFUTED" in ran.out
    quiet = run(line + " --quiet")
    assert (quiet.code, quiet.out, quiet.err) == (1, "", "")


def test_the_plot_shows_a_range_around_a_single_epsilon(run: Run, folder: Path) -> None:
    content = json.loads(run(EXHAUSTIVE + " --plot loss.png --json").out)
    assert [audit["claimed"] for audit in content["audits"]] == [0.25, 0.5, 1.0, 2.0]
    assert (folder / "loss.png").read_bytes().startswith(b"\x89PNG")
    refused = run(EXHAUSTIVE + " --plot loss.png")
    assert refused.code == 1
    assert "exists already" in refused.err
    assert run(EXHAUSTIVE + " --epsilon 3 --plot loss.png --overwrite --quiet").code == 0


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        (EXHAUSTIVE + " --plot loss.gif", 2, ".png"),
        (EXHAUSTIVE.replace("--length 4", "--length 40"), 1, "shorter length"),
        (EXHAUSTIVE.replace("--epsilon 1", "--epsilon 0"), 2, "epsilon"),
        (STATISTICAL + " --confidence 2", 2, "--confidence"),
        (STATISTICAL + " --draws 5", 2, "draws"),
        (STATISTICAL.replace("--edges roads.csv ", ""), 2, "public system"),
        (EXHAUSTIVE.replace("--length 4", ""), 2, "--length"),
        (EXHAUSTIVE + " --lengths 2:3", 2, "--distance edit"),
        (EXHAUSTIVE + " --distance edit --lengths 2:3", 2, "leave --length out"),
        (STATISTICAL + " --distance edit --lengths 2:5", 2, "online"),
    ],
)
def test_wrong_use_is_explained(run: Run, line: str, code: int, says: str) -> None:
    ran = run(line)
    assert ran.code == code
    assert says in ran.err


@pytest.mark.slow
def test_a_threshold_for_frequent_words_that_is_too_low_is_refuted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from pathveil.models.sequences import frequent

    right = frequent.threshold
    monkeypatch.setattr(frequent, "threshold", lambda noise, *rest: right(noise, *rest) - 2 - int(2 * noise.scale))
    ran = run("audit sequences --epsilon 2 --delta 0.05 --draws 1000 --confidence 0.9999 --json")
    assert ran.code == 1
    audits = json.loads(ran.out)["audits"]
    assert "REFUTED" in audits["kept words"]["verdict"]
    assert audits["whole fits"]["claimed"] == 2


def test_an_audit_of_sequences_refuses_what_makes_no_sense(run: Run) -> None:
    for line, why in [
        ("--epsilon 0", "epsilon"),
        ("--epsilon 1 --confidence 2", "--confidence"),
        ("--epsilon 1 --unit user", "max-words-per-user"),
    ]:
        ran = run(f"audit sequences {line}")
        assert (ran.code, why in ran.err) == (2, True), ran.err
