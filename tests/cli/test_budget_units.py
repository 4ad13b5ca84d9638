"""One budget, one unit: what each command is charged in each unit, what is refused, and where the price is shown."""

from __future__ import annotations

import json

import pytest

ROUTES = "privatize trips.parquet --column route --edges roads.csv --yes --ledger budget.db --output out.parquet"

PERSONS = "--unit user --user driver --max-length 5 --max-words-per-user"


def init(run, unit: str, epsilon: float = 1000.0) -> None:
    ran = run(f"ledger init budget.db --epsilon {epsilon} --delta 0.1 --unit {unit}")
    assert ran.code == 0, ran.err


def spent(run) -> float:
    return json.loads(run("ledger show budget.db --json").out)["spent"]["epsilon"]


def test_a_ledger_without_a_unit_is_refused_and_the_error_explains_the_choice(folder, run):
    ran = run("ledger init budget.db --epsilon 1")
    assert ran.code == 2
    for unit in ("symbols", "same-length", "word", "user", "user-symbols", "transition"):
        assert f"--unit {unit} " in ran.err
    assert not (folder / "budget.db").exists()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("--unit symbols", "needs --adjacency"),
        ("--unit symbols --adjacency 0", "greater than or equal to 1"),
        ("--unit symbols --adjacency 1 --max-length 5", "does not go with --max-length"),
        ("--unit same-length --adjacency 1", "does not go with --adjacency"),
        ("--unit word", "needs --max-length"),
        ("--unit user --max-length 5", "needs --max-words-per-user"),
        ("--unit user --max-words-per-user 5", "needs --max-length"),
        ("--unit user-symbols", "needs --max-words-per-user"),
        ("--unit transition --neighbours add-remove", "is for --unit word, user, step and episode"),
        ("--unit planet", "planet"),
    ],
)
def test_units_that_are_named_badly_are_refused(folder, run, options, why):
    ran = run(f"ledger init budget.db --epsilon 1 {options}")
    assert ran.code == 2
    assert why in ran.err
    assert not (folder / "budget.db").exists()


@pytest.mark.parametrize(
    ("unit", "release", "cost"),
    [
        # The longest trip has 8 symbols.
        ("symbols --adjacency 1", "--epsilon 2 --mechanism permute-and-flip", 2),
        ("symbols --adjacency 1", "--epsilon 2 --mechanism permute-and-flip --adjacency 4", 2),
        ("symbols --adjacency 3", "--epsilon 2 --mechanism online", 6),
        ("symbols --adjacency 30", "--epsilon 2 --mechanism online", 16),
        ("same-length", "--epsilon 2 --mechanism online --adjacency 3", 6),
        ("user-symbols --max-words-per-user 4", "--epsilon 2 --mechanism online", 64),
        ("user-symbols --max-words-per-user 4 --adjacency 1", "--epsilon 2 --mechanism certified", 8),
        ("word --max-length 9", "--epsilon 2 --distance edit --lengths 1:9 --adjacency 2", None),
        ("symbols --adjacency 2", "--epsilon 2 --distance edit --lengths 1:9 --mechanism exponential", 4),
    ],
)
def test_words_are_charged_what_they_cost_in_the_unit_of_the_budget(folder, run, unit, release, cost):
    init(run, unit)
    ran = run(f"{ROUTES} {release}")
    assert ran.code == 0, ran.err
    if cost is not None:
        assert spent(run) == cost
    manifest = json.loads((folder / "out.parquet.manifest.json").read_text())
    assert manifest["epsilon"] == 2.0
    assert manifest["budget"]["epsilon"] == spent(run)
    assert f"Charged: {manifest['budget']['conversion']}" in ran.out.replace("\n", " ")


def test_a_certified_release_is_charged_its_certificate_where_the_unit_is_wider(folder, run):
    init(run, "symbols --adjacency 2")
    assert run(f"{ROUTES} --epsilon 2").code == 0
    manifest = json.loads((folder / "out.parquet.manifest.json").read_text())
    assert "loss at a distance of 2" in manifest["budget"]["conversion"]
    assert 2 < spent(run) <= 8


@pytest.mark.parametrize(
    ("unit", "command", "way_out"),
    [
        ("word --max-length 9", f"{ROUTES} --epsilon 2", "--distance edit"),
        ("user --max-words-per-user 3 --max-length 9", f"{ROUTES} --epsilon 2", "--distance edit"),
        ("word --max-length 9", f"{ROUTES} --epsilon 2 --distance edit --lengths 5:9", "--lengths 1:9"),
        ("word --max-length 9 --neighbours add-remove", f"{ROUTES} --epsilon 2", "--neighbours replace"),
        ("transition", f"{ROUTES} --epsilon 2", "open a budget for one symbol"),
        (
            "symbols --adjacency 1",
            "model trips.parquet --column route --unit transition --states zones.txt --epsilon 1 --ledger budget.db "
            "--output out.json",
            "--unit symbol or --unit word",
        ),
    ],
)
def test_what_the_unit_cannot_express_is_refused_before_anything_is_drawn(folder, run, unit, command, way_out):
    init(run, unit)
    before = sorted(path.name for path in folder.iterdir())
    ran = run(command)
    assert ran.code == 2
    assert way_out in ran.err
    assert sorted(path.name for path in folder.iterdir()) == before
    assert json.loads(run("ledger show budget.db --json").out)["charges"] == []


@pytest.mark.parametrize(
    ("unit", "options", "cost"),
    [
        ("symbols --adjacency 2", "--unit word --max-length 5", 1),
        ("word --max-length 40", "--unit word --max-length 5", 1),
        ("user --max-words-per-user 3 --max-length 40", "--unit word --max-length 5", 3),
        ("user --max-words-per-user 3 --max-length 40", f"{PERSONS} 5", 1),
        ("user --max-words-per-user 3 --max-length 40 --user driver", f"{PERSONS} 2", 1),
        ("user --max-words-per-user 3 --max-length 40", f"{PERSONS} 2 --neighbours add-remove", 2),
        (
            "user --max-words-per-user 3 --max-length 40 --neighbours add-remove",
            f"{PERSONS} 2 --neighbours add-remove",
            1,
        ),
        ("word --max-length 40", f"{PERSONS} 2", 1),
        ("word --max-length 40 --neighbours add-remove", f"{PERSONS} 2 --neighbours add-remove", 2),
        ("word --max-length 40 --neighbours add-remove", "--unit word --max-length 5 --neighbours add-remove", 1),
        ("same-length", "--unit symbol", 8),
        ("transition", "--unit transition", 1),
    ],
)
def test_models_are_charged_what_they_cost_in_the_unit_of_the_budget(folder, run, unit, options, cost):
    init(run, unit)
    ran = run(
        f"model trips.parquet --column route --states zones.txt --epsilon 1 {options} --ledger budget.db "
        "--output out.json"
    )
    assert ran.code == 0, ran.err
    assert spent(run) == cost
    assert json.loads((folder / "out.json.manifest.json").read_text())["budget"]["epsilon"] == cost


def test_a_model_of_other_persons_than_the_budgets_is_refused(folder, run):
    init(run, "user --max-words-per-user 3 --max-length 40 --user day")
    ran = run(
        f"model trips.parquet --column route --states zones.txt --epsilon 1 {PERSONS} 2 --ledger budget.db "
        "--output out.json"
    )
    assert ran.code == 2
    assert "persons named by the column 'day'" in ran.err
    assert "--user day" in ran.err
    assert spent(run) == 0
    assert not (folder / "out.json").exists()


def test_a_budget_of_persons_says_which_models_it_would_buy(run):
    init(run, "user --max-words-per-user 3 --max-length 40 --neighbours add-remove")
    left = json.loads(run("ledger show budget.db --json").out)["buys"]
    assert {"protects": "all words of a person, added or removed (a model)", "epsilon": 1000.0} in left


LIMITED = f"{ROUTES} --epsilon 2 --mechanism online --max-words-per-user 2"


def test_only_the_persons_of_the_budget_make_a_release_cheaper(run):
    init(run, "user-symbols --user driver --max-words-per-user 4 --adjacency 1")
    assert run(f"{LIMITED} --user driver").code == 0
    assert spent(run) == 4
    assert run(f"{LIMITED} --user day --overwrite").code == 0  # at most two words a day are not two words a driver
    assert spent(run) == 4 + 8


def test_a_budget_that_names_no_column_charges_all_words_that_a_person_may_have(run):
    init(run, "user-symbols --max-words-per-user 4 --adjacency 1")
    assert run(f"{LIMITED} --user driver").code == 0
    assert spent(run) == 8
    assert run("ledger init other.db --epsilon 1 --unit word --max-length 5 --user driver").code == 2


def test_a_run_that_costs_more_than_the_killed_one_does_not_resume_its_charge(run, monkeypatch):
    init(run, "user-symbols --user driver --max-words-per-user 6 --adjacency 1")
    with monkeypatch.context() as planted:
        planted.setattr("pathveil.ledger.ledger.Ledger.seal", lambda *_args, **_options: exit(9))
        assert run(f"{LIMITED} --user driver").code == 9
    assert spent(run) == 4
    more = LIMITED.replace("--max-words-per-user 2", "--max-words-per-user 6")
    ran = run(f"{more} --user driver --resume")
    assert ran.code == 0
    assert "cannot be resumed" in ran.err
    assert spent(run) == 4 + 12


def test_a_run_that_costs_no_more_resumes(run, monkeypatch):
    init(run, "user-symbols --user driver --max-words-per-user 6 --adjacency 1")
    with monkeypatch.context() as planted:
        planted.setattr("pathveil.ledger.ledger.Ledger.seal", lambda *_args, **_options: exit(9))
        assert run(f"{LIMITED} --user driver").code == 9
    assert run(f"{LIMITED} --user driver --resume").code == 0
    assert spent(run) == 4


def test_a_stream_has_no_greatest_length_and_so_no_price_for_whole_words(run):
    init(run, "same-length")
    ran = run("stream --alphabet pages.txt --epsilon 2 --ledger budget.db")
    assert ran.code == 2
    assert "nothing says how many" in ran.err
    assert json.loads(run("ledger show budget.db --json").out)["charges"] == []


def test_the_same_budget_takes_releases_of_many_kinds_and_shows_what_is_left(run):
    init(run, "symbols --adjacency 1", epsilon=7)
    assert run(f"{ROUTES} --epsilon 2").code == 0
    model = "model trips.parquet --column route --unit word --max-length 8 --states zones.txt --epsilon 1"
    assert run(f"{model} --ledger budget.db --output model.json").code == 0
    assert run(f"{ROUTES} --epsilon 3 --adjacency 5 --mechanism permute-and-flip --overwrite").code == 0
    assert spent(run) == 6
    refused = run(f"{ROUTES} --epsilon 1.5 --overwrite")
    assert refused.code == 1
    assert "remaining:  ε = 1, δ = 0.1" in refused.err
    shown = run("ledger show budget.db").out
    assert "for one symbol" in shown
    assert "would buy" in shown
    assert "ε = 1 for a word (a model)" in shown


def test_the_release_report_shows_the_price(folder, run):
    init(run, "same-length")
    assert run(f"{ROUTES} --epsilon 2 --mechanism online").code == 0
    assert run("report release out.parquet.manifest.json --ledger budget.db --output release.html").code == 0
    page = (folder / "release.html").read_text()
    assert "16 in this budget&#x27;s unit, a word of the same length, at most 8 symbols (8 steps)" in page
    assert run("report release out.parquet.manifest.json --output alone.html").code == 0
    assert "16 in this budget&#x27;s unit" in (folder / "alone.html").read_text()
