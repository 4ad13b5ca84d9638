"""Times, groups and words as wanted at the command line: what is promised, charged, written, refused and hidden."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pathveil as pv
from tests.cli.conftest import Run

TABLE = (
    "model visits.csv --case visit --position when --symbol page --states pages.txt --epsilon 8 --max-length 4 "
    "--order 1 --output model.json"
)
TIMED = f"{TABLE} --time when"
GROUPED = f"{TABLE} --group city --groups cities.txt"
WORDS = [["home", "cart"], ["home", "help", "cart"], ["help"]]
GROUPS = ["east", "west", "west"]


@pytest.fixture
def visits(folder: Path) -> Path:
    """900 visits that begin on Tuesdays at 9, with a minute from page to page."""
    lines = ["visit,when,page,city,who"]
    for number in range(900):
        for step, page in enumerate(WORDS[number % 3]):
            lines.append(f"v{number},2024-07-02 09:{step:02}:30,{page},{GROUPS[number % 3]},p{number % 50}")
    (folder / "visits.csv").write_text("\n".join(lines) + "\n")
    (folder / "cities.txt").write_text("east\nnorth\nwest\n")
    return folder


def rows(path: Path) -> list[list[str]]:
    return [line.split(",") for line in path.read_text().splitlines()]


def test_a_model_with_times_promises_what_python_promises_and_its_words_have_times(visits: Path, run: Run) -> None:
    ran = run(TIMED)
    assert ran.code == 0, ran.err
    model = pv.load_model(visits / "model.json")
    assert isinstance(model, pv.PrivateSequences)
    words = [WORDS[number % 3] for number in range(900)]
    times = [[np.datetime64(f"2024-07-02T09:{i:02}:30") for i in range(len(word))] for word in words]
    fitted = pv.fit_private_sequences(
        words, times=times, states=["home", "cart", "help"], epsilon=8.0, max_length=4, order=1
    )
    assert (model.guarantee, model.asked) == (fitted.guarantee, fitted.asked)
    assert "durations between symbols" in ran.out
    # 900 words against noise of scale 6.25: the hour of all of them, and the bin of a minute.
    assert int(model.times.starts.argmax()) == 24 + 9
    assert int(model.times.durations[0].argmax()) == 6
    assert (
        run("synthesize model.json --count 200 --case c --order p --symbol s --week 2024-07-08 --output made.csv").code
        == 0
    )
    header, *made = rows(visits / "made.csv")
    assert header == ["c", "p", "s", "time"]
    assert sum(row[3].startswith("2024-07-09 09:") for row in made if row[1] == "1") > 100
    assert run("synthesize model.json --count 20 --output made.xes").code == 0
    log = (visits / "made.xes").read_text()
    assert 'key="time:timestamp" value="2024-01-0' in log
    assert "they were drawn from a private model" in log
    assert run("synthesize model.json --count 20 --output made.parquet").code == 0
    assert pa.types.is_timestamp(pq.read_schema(visits / "made.parquet").field("start").type)
    shown = run("inspect model.json")
    assert "Tuesday at 9" in " ".join(shown.out.split())
    assert json.loads(run("inspect model.json --json").out)["times"] == "symbols"
    assert run("report release made.csv.manifest.json --output page.html").code == 0


def test_an_event_log_and_a_table_of_words_have_the_same_times(visits: Path, run: Run) -> None:
    traces = "".join(
        "<trace>" + "".join(
            f'<event><string key="concept:name" value="{page}"/>'
            f'<date key="time:timestamp" value="2024-07-02T09:0{i}:30.000+02:00"/></event>'
            for i, page in enumerate(WORDS[number % 3])
        ) + "</trace>"
        for number in range(900)
    )  # fmt: skip
    (visits / "visits.xes").write_text(f"<log>{traces}</log>")
    common = "--states pages.txt --epsilon 8 --max-length 4 --order 1 --output model.json --overwrite"
    assert run(f"model visits.xes --time time:timestamp {common}").code == 0
    model = pv.load_model(visits / "model.json")
    assert (model.times.kind, int(model.times.starts.argmax())) == ("symbols", 33)  # on the clock of the place
    lines = [f"{' '.join(WORDS[number % 3])};02.07.2024 09:00" for number in range(900)]
    (visits / "words.csv").write_text("\n".join(["word;began", *lines]))
    ran = run(
        "model", "words.csv", "--column", "word", "--time", "began", "--time-format", "%d.%m.%Y %H:%M", *common.split()
    )
    assert ran.code == 0, ran.err
    model = pv.load_model(visits / "model.json")
    assert (model.times.kind, int(model.times.starts.argmax())) == ("starts", 33)
    assert run("synthesize model.json --count 5 --output made.jsonl").code == 0
    assert "start" in json.loads((visits / "made.jsonl").read_text().splitlines()[0])
    assert run("synthesize model.json --count 5 --output made.xes").code == 0
    assert '<date key="start"' in (visits / "made.xes").read_text()


def test_each_group_has_a_model_under_one_promise(visits: Path, run: Run) -> None:
    assert run("ledger init budget.db --epsilon 20 --unit word --max-length 4").code == 0
    ran = run(f"{GROUPED} --ledger budget.db")
    assert ran.code == 0, ran.err
    model = pv.load_model(visits / "model.json")
    assert isinstance(model, pv.PrivateSequencesByGroup)
    fitted = pv.fit_private_sequences_by_group(
        [["home"]], groups=["east"], group_values=["east", "north", "west"], states=["home", "cart", "help"],
        epsilon=8.0, max_length=4, order=1,
    )  # fmt: skip
    assert model.guarantee == fitted.guarantee
    assert [model[group].asked for group in model] == [fitted[group].asked for group in fitted]
    assert json.loads(run("ledger show budget.db --json").out)["spent"]["epsilon"] == 8.0
    sizes = model.sizes
    assert abs(sizes["east"] - 300) < 60  # noise of scale 5: beyond that once in 10^5
    assert abs(sizes["north"]) < 60
    shown = run("inspect model.json").out
    assert all(f"{group} (about" in shown for group in sizes)
    assert [one["group"] for one in json.loads(run("inspect model.json --json").out)["groups"]] == [*sizes]
    ran = run("synthesize model.json --count east=5 --count west=7 --case c --symbol s --output made.csv")
    assert ran.code == 0, ran.err
    header, *made = rows(visits / "made.csv")
    of_case = {row[0]: row[header.index("group")] for row in made}
    assert (len(of_case), sorted(of_case.values()).count("east")) == (12, 5)
    assert run("synthesize model.json --count 300 --group town --output made.parquet").code == 0
    made = pq.read_table(visits / "made.parquet")["town"].to_pylist()
    assert (len(made), made.count("west") > 150) == (300, True)
    assert run("synthesize model.json --count west=2 --output made.xes").code == 0
    assert (visits / "made.xes").read_text().count('<string key="group" value="west"/>') == 2
    page = "report curator --input visits.csv --case visit --order when --symbol page --model model.json"
    assert run(f"{page} --group city=west --output curator.html").code == 0
    ran = run(f"{page} --output other-curator.html")
    assert (ran.code, "give --group COLUMN=GROUP" in ran.err) == (2, True)


@pytest.mark.usefixtures("visits")
def test_persons_have_their_limit_in_all_groups_together(run: Run) -> None:
    ran = run(f"{GROUPED} --time when --user who --max-words-per-user 3 --json")
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    assert told["for_the_curator_only"]["words_over_limit"] == 900 - 3 * 50
    assert told["for_the_curator_only"]["largest_words_per_user"] == 18
    assert "words of all groups counted together" in told["guarantee"]


def test_words_begin_and_end_as_wanted(visits: Path, run: Run) -> None:
    assert run(TABLE).code == 0
    assert run("synthesize model.json --count 20 --prefix home,help --last cart --output made.parquet").code == 0
    made = pq.read_table(visits / "made.parquet")["word"].to_pylist()
    assert {(*word[:2], word[-1]) for word in made} == {("home", "help", "cart")}
    assert run("synthesize model.json --count 20 --first help --output made.parquet --overwrite").code == 0
    assert {word[0] for word in pq.read_table(visits / "made.parquet")["word"].to_pylist()} == {"help"}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("--count 5 --prefix nowhere", "'nowhere' is not one of the 3 states"),
        ("--count 5 --first home --prefix home", "leave out --first"),
        ("--count east=5", "the model has no groups"),
        ("--count 0", "at least 1"),
        ("--count east=5 --count 7", "GROUP=NUMBER"),
        ("--count 5 --week 2024-01-01", "the model knows no times"),
        ("--count 5 --group g", "the model has none"),
    ],
)
def test_wishes_that_a_model_cannot_fulfil_are_wrong_use(visits: Path, run: Run, line: str, why: str) -> None:
    assert run(TABLE).code == 0
    ran = run(f"synthesize model.json {line} --output made.csv")
    assert (ran.code, why in " ".join(ran.err.split())) == (2, True), ran.err
    assert not (visits / "made.csv").exists()


@pytest.mark.usefixtures("visits")
def test_wishes_about_groups_that_are_not_there_are_wrong_use(run: Run) -> None:
    assert run(f"{GROUPED} --time when").code == 0
    for line, why in [
        ("--count south=5 --output made.csv", "there is no such group"),
        ("--count 5 --output made.txt", "no place for the groups"),
        ("--count 5 --week 2024-01-02 --output made.csv", "Monday"),
        ("--count 5 --column group --output made.csv", "a column 'group' already"),
    ]:
        ran = run(f"synthesize model.json {line}")
        assert (ran.code, why in ran.err) == (2, True), ran.err
    unit = "--unit word --max-length 4 --states zones.txt --epsilon 1 --output chain.json"
    assert run(f"model trips.parquet --column route {unit} --split transitions=0.8,first=0.1,lengths=0.1").code == 0
    ran = run("synthesize chain.json --count 5 --first s1 --output made.csv")
    assert (ran.code, "is for models of sequences" in ran.err) == (2, True)


SPOILED = {
    "a time is missing": ("v1,2024-07-02 09:01:30", "v1,secret"),
    "earlier than the one before": ("v1,2024-07-02 09:02:30,cart,west", "v1,2024-07-02 08:02:30,cart,west"),
    "not among the public ones": ("v2,2024-07-02 09:00:30,help,west", "v2,2024-07-02 09:00:30,help,secret"),
    "in different groups": ("v0,2024-07-02 09:01:30,cart,east", "v0,2024-07-02 09:01:30,cart,west"),
    "the group is missing": ("v2,2024-07-02 09:00:30,help,west", "v2,2024-07-02 09:00:30,help,"),
}


@pytest.mark.parametrize("why", SPOILED)
def test_what_is_wrong_beside_words_costs_nothing_and_is_not_quoted(visits: Path, run: Run, why: str) -> None:
    before, after = SPOILED[why]
    text = (visits / "visits.csv").read_text()
    assert before in text
    lines = text.replace(before, after, 1).splitlines()
    # The words stay in the order of another column, so that a wrong time moves nothing.
    numbered = [f"{line},{'step' if i == 0 else i}" for i, line in enumerate(lines)]
    (visits / "visits.csv").write_text("\n".join(numbered))
    assert run("ledger init budget.db --epsilon 20 --unit word --max-length 4").code == 0
    line = f"{GROUPED} --time when --ledger budget.db".replace("--position when", "--position step")
    ran = run(line)
    assert (ran.code, why in ran.err, "secret" in ran.err) == (1, True, False), ran.err
    assert json.loads(run("ledger show budget.db --json").out)["spent"]["epsilon"] == 0
    assert not (visits / "model.json").exists()
    ran = run(f"{line} --on-bad-row skip")
    assert ran.code == 0, ran.err
    assert "which rows can be used" in ran.out


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("--group city", "go together"),
        ("--groups cities.txt", "go together"),
        ("--group city --groups visits.csv:city", "--groups"),
        ("--time when --engine spark", "embedded engine"),
        ("--time when --order auto", "once"),
        ("--time nowhere", "there is no column"),
        ("--master local[2]", "--master is for --engine spark"),
    ],
)
def test_options_that_do_not_go_together_are_refused(visits: Path, run: Run, options: str, why: str) -> None:
    ran = run(f"{TABLE} {options}")
    assert ran.code in (1, 2)
    assert why in ran.err
    assert not (visits / "model.json").exists()


@pytest.mark.usefixtures("visits")
def test_times_and_groups_are_for_models_of_whole_words(run: Run) -> None:
    ran = run(f"{TIMED} --unit word".replace("--order 1", ""))
    assert (ran.code, "it needs --order" in ran.err) == (2, True)


def test_a_column_may_be_called_like_an_order(visits: Path, run: Run) -> None:
    text = (visits / "visits.csv").read_text().replace("when", "auto", 1)
    (visits / "visits.csv").write_text(text)
    assert run(TABLE.replace("--position when", "--position auto")).code == 0
    assert pv.load_model(visits / "model.json").asked.order == 1


@pytest.mark.usefixtures("visits")
def test_no_frequent_words_without_delta(run: Run) -> None:
    ran = run(f"{TABLE} --delta 0")
    assert (ran.code, "leave out --delta" in ran.err) == (2, True), ran.err
    with pytest.raises(pv.errors.InvalidParameterError, match="leave out `delta`"):
        pv.fit_private_sequences(["a"], states="a", epsilon=1.0, delta=0.0, max_length=1)


def test_a_model_with_ends_promises_what_python_promises_and_is_read_again(visits: Path, run: Run) -> None:
    ran = run(f"{TABLE} --ends")
    assert ran.code == 0, ran.err
    model = pv.load_model(visits / "model.json")
    words = [WORDS[number % 3] for number in range(900)]
    fitted = pv.fit_private_sequences(
        words, ends=True, states=["home", "cart", "help"], epsilon=8.0, max_length=4, order=1
    )
    assert (model.guarantee, model.asked) == (fitted.guarantee, fitted.asked)
    assert "how words begin and end" in ran.out
    assert sum(one.epsilon for one in model.spent) == pytest.approx(8)
    assert run("synthesize model.json --count 20 --column word --separator > --output made.csv").code == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("--ends --delta 1e-6", "--ends and --delta do not go together"),
        ("--ends --group city --groups cities.txt", "--group"),
    ],
)
def test_ends_that_cannot_be_counted_are_wrong_use(options: str, told: str, visits: Path, run: Run) -> None:
    ran = run(f"{TABLE} {options}")
    assert (ran.code, told in ran.err) == (2, True)
    assert not (visits / "model.json").exists()
