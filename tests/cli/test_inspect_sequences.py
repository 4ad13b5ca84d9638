"""`pathveil inspect` on a model of sequences: what the budget was spent on, and what that bought."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Run

MODEL = (
    "model trips.parquet --column route --states zones.txt --epsilon 8 --delta 1e-3 --max-length 9 --output model.json"
)


@pytest.mark.usefixtures("folder")
def test_parts_of_the_budget_are_printed_with_what_they_bought(run: Run) -> None:
    assert run(f"{MODEL} --order 2").code == 0
    ran = run("inspect model.json")
    assert ran.code == 0, ran.err
    text = " ".join(ran.out.split())
    for told in ("what the budget was spent on", "lengths", "5.0%", "frequent words", "noise of a count"):
        assert told in text


@pytest.mark.usefixtures("folder")
def test_machines_are_told_the_same(run: Run) -> None:
    assert run(f"{MODEL} --order 1").code == 0
    told = json.loads(run("inspect model.json --json").out)
    assert told["spent"][0] == {"on": "lengths", "epsilon": 0.4, "noise_scale": 5.0}
    assert sum(one["epsilon"] for one in told["spent"]) <= 8 + 1e-9
    assert [one["contexts"] for one in told["contexts_by_symbols"]] == [9]
