"""`pathveil model` chooses as Python does and says why; `inspect` shows what the other mechanisms would have done."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import pathveil as pv
from tests.cli.conftest import Run


@pytest.mark.parametrize(
    "options",
    [
        {"unit": "word", "max_length": 8, "delta": 1e-6, "epsilon": 3.0},
        {"unit": "word", "max_length": 8, "epsilon": 3.0},
        {"unit": "symbol", "delta": 1e-6, "epsilon": 3.0},
        {"unit": "symbol", "delta": 0.02, "epsilon": 0.1},
        {"unit": "transition", "delta": 1e-6, "epsilon": 3.0},
        {"unit": "transition", "delta": 0.02, "epsilon": 0.05},
        {"unit": "transition", "delta": 1e-6, "epsilon": 3.0, "mechanism": "laplace"},
        {"unit": "transition", "delta": 1e-6, "epsilon": 3.0, "mechanism": "dirichlet"},
    ],
)
def test_a_command_chooses_what_python_chooses_and_says_why(folder: Path, run: Run, options: dict[str, Any]) -> None:
    words = pq.read_table(folder / "trips.parquet")["route"].to_pylist()
    fitted = pv.fit_private_chain(words=words, states=[f"s{i}" for i in range(8)], **options)
    given = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in options.items())
    line = f"model trips.parquet --column route --states zones.txt {given} --output model.json"
    ran = run(line)
    assert ran.code == 0, ran.err
    saved = pv.load_model(folder / "model.json")
    assert (saved.mechanism, saved.guarantee.delta) == (fitted.mechanism, fitted.guarantee.delta)
    assert (saved.asked, saved.words, saved.reason) == (fitted.asked, fitted.words, fitted.reason)
    assert (f"Mechanism: {fitted.reason}." in ran.out) is bool(fitted.reason)
    told = json.loads(run(line + " --overwrite --json").out)
    assert (told["mechanism"], told["why"], told["delta"]) == (fitted.mechanism, fitted.reason, fitted.guarantee.delta)


def test_inspecting_a_model_shows_the_error_to_expect_of_every_mechanism(folder: Path, run: Run) -> None:
    line = "model trips.parquet --column route --states zones.txt --epsilon 3 --delta 1e-6 --output model.json "
    assert run(line + "--unit transition").code == 0
    model = pv.load_model(folder / "model.json")
    forecasts = json.loads(run("inspect model.json --json").out)["expected_errors"]
    assert [one["mechanism"] for one in forecasts] == ["laplace", "gaussian", "dirichlet"]
    assert [one["count_errors"] for one in forecasts] == [one.errors for one in model.expected_errors]
    shown = run("inspect model.json").out
    for one in model.expected_errors:
        assert re.search(rf"{one.mechanism}.* {one.count_error:.3g} ", shown)
    assert "laplace (this model)" in shown
    assert "the δ of 1e-06 is not needed, and not spent" in shown
    shares = "--split transitions=0.8,first=0.1,lengths=0.1"
    assert run(f"{line} --overwrite --unit word --max-length 6 {shares}").code == 0
    content = json.loads(run("inspect model.json --json").out)
    assert content["words"] == 40
    assert all(set(one["count_errors"]) == {"transitions", "first", "lengths"} for one in content["expected_errors"])
    assert "among 40 words" in run("inspect model.json").out


def test_an_older_model_is_inspected_without_the_other_mechanisms(folder: Path, run: Run) -> None:
    assert run("model lines.txt --unit symbol --states pages.txt --epsilon 1 --output model.json").code == 0
    document = json.loads((folder / "model.json").read_text())
    del document["model"]["asked"], document["model"]["words"]
    (folder / "model.json").write_text(json.dumps(document))
    ran = run("inspect model.json")
    assert ran.code == 0, ran.err
    assert "Mechanism: laplace. (This older file does not say" in ran.out
    assert json.loads(run("inspect model.json --json").out)["expected_errors"] == []


def test_wrong_options_of_a_model_are_noticed_before_the_words_are_read(folder: Path, run: Run) -> None:
    (folder / "lines.txt").write_text("nobody knows these\n")
    for wrong in ("--unit word", "--unit symbol --mechanism dirichlet", "--unit symbol --mechanism gaussian"):
        ran = run(f"model lines.txt {wrong} --states pages.txt --epsilon 1 --output model.json")
        assert (ran.code, "unknown symbol" in ran.err) == (2, False)
