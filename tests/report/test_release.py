"""The release report: the manifest and the ledger in words, and nothing that the curator keeps."""

from __future__ import annotations

import json

import pytest

from tests.report.conftest import LEDGER, PRIVATIZE, RELEASE
from tests.report.pages import Content

WITH_LEDGER = RELEASE.replace("--output", "--ledger budget.db --output")
QUICK = "privatize lines.txt --alphabet pages.txt --epsilon 2 --output private.txt"
QUICK_RELEASE = "report release private.txt.manifest.json --output release.html"


@pytest.fixture
def released(folder, run):
    assert run(LEDGER).code == 0
    assert run(f"{PRIVATIZE} --mechanism exponential").code == 0
    return folder


def test_it_says_what_was_released_and_what_was_promised(reports) -> None:
    manifest = json.loads((reports / "private.parquet.manifest.json").read_text())
    text = Content(reports / "release.html").text
    assert manifest["guarantee"] in text
    assert manifest["system"]["fingerprint"] in text
    for item in manifest["public"]:
        assert f"{item[0].upper()}{item[1:]}: taken as public." in text
    assert "P(S | input) ≤ e^5 · P(S | neighbour)." in text
    assert "right at most 99.3% of the time" in text
    assert "Left out Other releases from the same input: no ledger was given" in text


def test_it_does_not_depend_on_the_sensitive_file(folder, run) -> None:
    assert run(QUICK).code == 0
    assert run(QUICK_RELEASE).code == 0
    first = (folder / "release.html").read_bytes()
    (folder / "lines.txt").write_text("help\n")
    assert run(f"{QUICK_RELEASE} --overwrite").code == 0
    assert (folder / "release.html").read_bytes() == first


def test_with_the_ledger_it_shows_the_charge_and_not_what_the_curator_keeps(released, run) -> None:
    ran = run(WITH_LEDGER)
    assert ran.code == 0, ran.err
    shown = json.loads(run("ledger show budget.db --json").out)
    [charge] = shown["charges"]
    page = (released / "release.html").read_text()
    assert charge["time"] in page
    assert shown["head"] in page
    assert (
        "this release included: 1. Together they cost ε = 5, δ = 0, added up. The budget is ε = 10"
        in Content(released / "release.html").text
    )
    for secret in (charge["fingerprint"], charge["request"], charge["command"], "trips.parquet", str(released)):
        assert secret
        assert secret not in page


def test_a_file_that_the_ledger_was_not_charged_for_gets_no_report(released, run) -> None:
    changed = released / "private.parquet"
    changed.write_bytes(changed.read_bytes() + b" ")
    ran = run(WITH_LEDGER)
    assert ran.code == 1
    assert "the ledger has no charge for this file" in ran.err
    assert not (released / "release.html").exists()
    changed.unlink()
    assert "is not beside its manifest" in run(WITH_LEDGER).err
    assert run(RELEASE).code == 0


def test_a_manifest_with_another_promise_than_the_charged_one_gets_no_report(released, run) -> None:
    path = released / "private.parquet.manifest.json"
    content = json.loads(path.read_text())
    content["epsilon"] = 1.0
    path.write_text(json.dumps(content))
    assert "its numbers and its sentence disagree" in run(RELEASE).err
    content["guarantee"] = content["guarantee"].replace("e^5 (ε = 5)", "e^1 (ε = 1)")
    path.write_text(json.dumps(content))
    assert run(RELEASE).code == 0
    assert "charged for another promise" in run(f"{WITH_LEDGER} --overwrite").err


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"format": "other"}, "this is not a manifest"),
        ({"version": 3}, "version 3"),
        ({"file": "../../etc/passwd"}, "not what PathVeil writes"),
        ({"epsilon": "much"}, "not what PathVeil writes"),
        ({"epsilon": -1.0}, "not what PathVeil writes"),
        ({"public": 3}, "not what PathVeil writes"),
        ({"system": []}, "not what PathVeil writes"),
    ],
)
def test_a_manifest_that_is_none_is_refused(folder, run, change, complaint) -> None:
    assert run(QUICK).code == 0
    path = folder / "private.txt.manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    ran = run(QUICK_RELEASE)
    assert ran.code == 1
    assert complaint in ran.err
    path.write_text("{")
    assert "this is not JSON" in run(QUICK_RELEASE).err


def test_what_holds_for_a_user_and_what_was_released_unprotected_is_said(folder, run) -> None:
    line = (
        "privatize trips.parquet --column route --edges roads.csv --epsilon 1 --yes --keep-order --keep day "
        "--user driver "
        "--max-words-per-user 2 --mechanism exponential --output private.parquet"
    )
    assert run(line).code == 0
    assert run(RELEASE).code == 0
    text = Content(folder / "release.html").text
    assert "all words of one user together, at most 2: ε = 2.0" in text
    assert "The kept columns, released as they are ('day'): taken as public." in text
    assert "Who knows the order of the input knows which record is whose." in text


def test_a_model_has_a_release_report_too_with_its_delta(folder, run) -> None:
    line = "model trips.csv --from pickup --to dropoff --states zones.txt --epsilon 1 --delta 1e-6 --output model.json"
    line += " --mechanism dirichlet"
    assert run(line).code == 0
    assert run("report release model.json.manifest.json --output release.html").code == 0
    text = Content(folder / "release.html").text
    assert "δ = 1e-06 is an allowance on top" in text
    assert "How sure can somebody become?" not in text, "beliefs are bounded only where δ = 0"


def test_a_release_with_a_known_seed_is_called_what_it_is(folder, run) -> None:
    import pathveil as pv
    from pathveil import data

    mechanism = pv.CertifiedExponential(data.read_alphabet("pages.txt"), epsilon=2.0)
    data.privatize_file("lines.txt", data.TextLines(), mechanism, "private.txt", rng=pv.insecure_seed(1))
    assert run(QUICK_RELEASE).code == 0
    assert "NOT PRIVATE: this release was made with a known seed" in Content(folder / "release.html").text[:300]


def test_names_in_a_manifest_are_text(folder, run) -> None:
    assert run(QUICK.replace("private.txt", "'<b>'.txt")).code == 0
    ran = run("report", "release", "'<b>'.txt.manifest.json", "--output", "release.html")
    assert ran.code == 0, ran.err
    assert "b" not in Content(folder / "release.html").elements


def test_the_charts_of_a_release_are_pictures_too(released, run) -> None:
    assert run(WITH_LEDGER.replace("release.html", "charts") + " --format png").code == 0
    assert sorted(path.name for path in (released / "charts").iterdir()) == ["belief.png", "budget.png"]
