"""`pathveil model --actions`: a decision process from a file, its budget, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import pathveil as pv
from tests.cli.conftest import Run

LINE = (
    "model steps.csv --from state --action action --to next --states states.txt --actions actions.txt --epsilon 1 "
    "--output mdp.json"
)


@pytest.fixture
def steps(folder: Path) -> list[tuple[str, str, str, float]]:
    rng = np.random.default_rng(0)
    rows = [
        (str(s), str(a), str(t), float(r))
        for s, a, t, r in zip(
            rng.choice(["x", "y"], 600), rng.choice(["go", "stay"], 600), rng.choice(["x", "y"], 600),
            rng.integers(0, 3, 600), strict=True,
        )
    ]  # fmt: skip
    text = "state,action,next,paid,trip\n" + "".join(
        f"{','.join(map(str, row))},{i // 3}\n" for i, row in enumerate(rows)
    )
    (folder / "steps.csv").write_text(text)
    (folder / "states.txt").write_text("x\ny\n")
    (folder / "actions.txt").write_text("go\nstay\n")
    return rows


@pytest.mark.parametrize(
    ("options", "unit"),
    [
        ("", "transition"),
        ("--reward paid --rewards 0:2", "transition"),
        ("--unit step --reward paid --rewards 0:1", "step"),
        ("--unit episode --episode trip --max-steps 2", "episode"),
        ("--unit user --user trip --max-steps 2 --neighbours add-remove", "user"),
    ],
)
@pytest.mark.usefixtures("steps")
def test_a_process_is_learned_from_a_file_and_inspected(folder, run: Run, options, unit):
    ran = run(f"{LINE} {options}")
    assert ran.code == 0, ran.err
    model = pv.load_model(folder / "mdp.json")
    assert model.guarantee.protects.kind == unit
    assert model.states == ("x", "y")
    assert (model.reward_range is None) == ("--rewards" not in options)
    assert ("rewards lay outside" in ran.out + ran.err) == ("0:1" in options)
    assert ("steps beyond --max-steps" in ran.out + ran.err) == ("--max-steps" in options)
    shown = run("inspect mdp.json --json")
    assert json.loads(shown.out)["transitions"] == model.transitions.tolist()
    assert "decision process of 2 states" in run("inspect mdp.json").out


def test_only_possible_steps_are_learned(folder, steps, run: Run):
    (folder / "can.csv").write_text("from,action,to\n" + "".join(f"{s},{a},{t}\n" for s, a, t, _ in steps))
    assert run(f"{LINE} --possible can.csv").code == 0
    (folder / "can.csv").write_text("from,action,to\nx,go,x\ny,go,y\n")
    ran = run(f"{LINE} --possible can.csv --overwrite")
    assert ran.code == 1
    assert "cannot follow" in ran.err


@pytest.mark.usefixtures("steps")
def test_a_budget_of_steps_is_charged_before_and_narrower_promises_are_refused(run: Run):
    assert run("ledger init budget.db --epsilon 2 --unit step").code == 0
    assert run(f"{LINE} --unit step --ledger budget.db").code == 0
    ran = run(f"{LINE} --ledger budget.db --overwrite")
    assert ran.code == 2
    assert "says nothing about" in ran.err
    ran = run(f"{LINE} --unit episode --episode trip --max-steps 2 --ledger budget.db --overwrite")
    assert ran.code == 0, ran.err
    assert run(f"{LINE} --unit step --ledger budget.db --overwrite").code == 1  # nothing is left


@pytest.mark.usefixtures("steps")
def test_a_bad_row_is_named_and_can_be_left_out(folder, run: Run):
    with (folder / "steps.csv").open("a") as file:
        file.write("x,fly,y,1,9\n")
    ran = run(LINE)
    assert (ran.code, "row 601" in ran.err, "'action'" in ran.err) == (1, True, True)
    assert run(f"{LINE} --on-bad-row skip").code == 0
    with (folder / "steps.csv").open("a") as file:
        file.write("x,go,y,much,9\n")
    ran = run(f"{LINE} --reward paid --rewards 0:2 --on-bad-row skip --overwrite")
    assert ran.code == 0, ran.err
    assert "2 rows" in ran.out + ran.err


@pytest.mark.usefixtures("steps")
def test_no_step_at_all_is_like_any_other_data_where_their_number_is_private(folder, run: Run):
    (folder / "steps.csv").write_text("state,action,next,paid,trip\n")
    assert run(LINE).code == 1
    assert run(f"{LINE} --unit step --neighbours add-remove").code == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("--order 2", "--order does not go"),
        ("--rewards 0:1", "go together"),
        ("--reward paid --rewards 1:0", "low:high"),
        ("--unit word", "has no words"),
        ("--unit episode --max-steps 3", "--episode"),
        ("--unit step --max-steps 3", "max-steps"),
        ("--max-length 4", "--max-length does not go"),
        ("--column state", "not from words"),
    ],
)
@pytest.mark.usefixtures("steps")
def test_wrong_use_is_told(run: Run, options, told):
    ran = run(f"{LINE} {options}")
    assert ran.code == 2
    assert told in " ".join(ran.err.split())


@pytest.mark.usefixtures("steps")
def test_options_of_steps_need_actions_and_words_cannot_be_drawn(run: Run):
    line = LINE.replace("--actions actions.txt ", "")
    assert run(line).code == 2
    assert run(line.replace("--action action ", "") + " --unit step").code == 2
    assert run(LINE).code == 0
    ran = run("synthesize mdp.json --count 3 --output words.csv")
    assert ran.code == 2
    assert "decision process" in ran.err
