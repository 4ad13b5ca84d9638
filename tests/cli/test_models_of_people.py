"""`pathveil model --unit user`: what is promised and told, what is refused, and `plan` for it."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import pathveil as pv
from pathveil.privacy import units
from tests.cli.conftest import Run

MODEL = "model trips.parquet --column route --states zones.txt --epsilon 1 --output model.json"
PERSONS = f"{MODEL} --unit user --user driver --max-words-per-user 2 --max-length 6"


def test_a_model_of_persons_promises_what_python_promises_and_tells_the_curator_what_was_dropped(
    folder: Path, run: Run
) -> None:
    told = json.loads(run(f"{PERSONS} --json").out)
    table = pq.read_table(folder / "trips.parquet")
    fitted = pv.fit_private_chain(
        words=table["route"].to_pylist(), users=table["driver"], states=[f"s{i}" for i in range(8)], epsilon=1.0,
        unit="user", max_words_per_user=2, max_length=6,
    )  # fmt: skip
    saved = pv.load_model(folder / "model.json")
    assert saved.guarantee == fitted.guarantee
    assert (saved.asked, saved.words) == (fitted.asked, None)
    assert told["guarantee"] == str(fitted.guarantee)
    drivers = table.num_rows
    assert told["for_the_curator_only"]["words_over_limit"] == drivers - 2 * 7
    assert json.loads((folder / "model.json.manifest.json").read_text())["protects"] == units.User().to_dict()
    assert json.loads(run("inspect model.json --json").out)["words"] is None
    shown = run(f"{PERSONS} --overwrite --neighbours add-remove").out
    assert "words were over the limit and dropped" in shown
    assert "all words of one person are added or removed" in shown
    assert "number of persons" not in shown


@pytest.mark.usefixtures("folder")
def test_under_a_ledger_nothing_is_told_of_how_many_words_persons_have(run: Run) -> None:
    assert run("ledger init budget.db --epsilon 10 --unit user --max-words-per-user 9 --max-length 9").code == 0
    ran = run(f"{PERSONS} --ledger budget.db")
    assert ran.code == 0
    assert "For you only" not in ran.out + ran.err
    told = json.loads(run(f"{PERSONS} --ledger budget.db --overwrite --json").out)
    assert told["for_the_curator_only"] == {}


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("--unit user --max-length 6", "--unit user needs --user"),
        ("--unit user --max-length 6 --user driver", "and --max-words-per-user"),
        ("--unit user --user driver --max-words-per-user 2", "needs --max-length"),
        ("--unit user --max-length 6 --user driver --max-words-per-user 0", "greater than or equal to 1"),
        ("--unit user --max-length 6 --user driver --max-words-per-user 2 --count day", "does not go with --user"),
        ("--unit word --max-length 6 --user driver", "are for --unit user"),
        ("--unit symbol --neighbours add-remove", "--neighbours add-remove is for the units 'word' and 'user'"),
    ],
)  # fmt: skip
def test_options_that_do_not_go_together_are_wrong_use(folder: Path, run: Run, options: str, why: str) -> None:
    ran = run(f"{MODEL} {options}")
    assert ran.code == 2
    assert why in " ".join(ran.err.replace("│", " ").split())
    assert not (folder / "model.json").exists()


def test_pairs_have_no_persons(folder: Path, run: Run) -> None:
    (folder / "pairs.csv").write_text("a,b,who\ns1,s2,x\n")
    ran = run(
        "model pairs.csv --from a --to b --states zones.txt --epsilon 1 --output model.json --unit user --user who "
        "--max-words-per-user 2 --max-length 5"
    )
    assert ran.code == 2
    assert "pairs do not say what a user is" in ran.err


def test_plan_has_as_much_error_as_the_words_of_a_person_make(folder: Path, run: Run) -> None:
    (folder / "rows.csv").write_text("state,records\n" + "".join(f"s{i},1000\n" for i in range(4)))
    plan = "plan --rows rows.csv --epsilon 1 --max-length 6 --json"

    def error(options: str) -> float:
        return float(json.loads(run(f"{plan} {options}").out)["forecasts"][0]["error"])

    word = error("--unit word")
    assert error("--unit user --max-words-per-user 1") == word
    assert error("--unit user --max-words-per-user 6") == pytest.approx(6 * word, rel=0.01)
    assert error("--unit user --max-words-per-user 6 --neighbours add-remove") == pytest.approx(3 * word, rel=0.01)
    ran = run(f"{plan} --unit user")
    assert ran.code == 2
    assert "--max-words-per-user belong together" in ran.err
