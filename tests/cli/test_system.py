"""`pathveil system` writes one file from wherever a public system lies, and every command takes it."""

from __future__ import annotations

import json

import pytest

import pathveil as pv
from pathveil.data.public import SavedSystem
from tests.cli.conftest import ROADS
from tests.data.public.process_files import bpmn, pnml, tasks
from tests.data.public.public_files import town, write_feed, written

CHOICE = bpmn(tasks("ab") + '<exclusiveGateway id="x"/>', ["start>a", "a>x", "x>b", "x>end", "b>end"])
NET = pnml({"p": 1, "q": 0}, {"t": "a"}, ["p>t", "t>q"])


def write_sources(folder):
    (folder / "choice.bpmn").write_text(CHOICE)
    (folder / "net.pnml").write_text(NET)
    (folder / "moves.csv").write_text("from,symbol,to\n,,x\nx,a,y\ny,b,x\n")
    (folder / "streets.csv").write_text("source,target\ns0,s1\ns1,s0\ns1,s2\n")
    write_feed(folder / "feed")
    written(town(), folder)


@pytest.mark.parametrize(
    ("line", "symbols"),
    [
        ("bpmn choice.bpmn", 2),
        ("pnml net.pnml", 1),
        ("gtfs feed --walk 300 --transfers", 5),
        ("gtfs feed --symbols routes", 4),
        ("graphml town.graphml --u-turns never --need-coordinates", 7),
        ("graphml town.graphml --symbols junctions", 4),
        ("grid 2x3 --neighbours 8 --stay", 6),
        ("convert --edges roads.csv", 8),
        ("convert --edges streets.csv:source,target --first s0 --last s0,s2", 3),
        ("convert --alphabet pages.txt", 3),
        ("convert --alphabet streets.csv:target", 3),
        ("convert --automaton moves.csv", 2),
    ],
)
def test_systems_from_everywhere_are_saved_with_a_summary(line, symbols, folder, run):
    if line.startswith(("bpmn", "pnml")):
        pytest.importorskip("pm4py")
    write_sources(folder)
    ran = run(f"system {line} --output world.json")
    assert ran.code == 0, ran.err
    assert len(SavedSystem.read(folder / "world.json").system.symbols) == symbols
    assert f"{symbols} symbols" in ran.out
    assert "words of 10 symbols" in ran.out
    assert run("system show world.json").out == ran.out
    facts = json.loads(run("system show world.json --json").out)
    assert facts["symbols"] == symbols
    assert facts["source"]


def test_a_summary_says_where_words_get_stuck(folder, run):
    write_sources(folder)
    ran = run("system convert --edges streets.csv:source,target --first s1 --last s0 --output world.json")
    assert "where words can only end: 1 (s2)" in ran.out
    assert "in no word, because no end can be reached: 1 (s2)" in ran.out
    assert run("system grid 2x2 -o quiet.json --quiet").out == ""


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("bpmn none.bpmn", "none.bpmn: cannot be read"),
        ("gtfs none.zip", "none.zip: cannot be read"),
        ("gtfs empty", "the feed has no stop_times.txt"),
        ("graphml roads.csv", "not well-formed XML"),
        ("graphml bare.graphml --need-coordinates", "the node 'a' has no coordinates"),
        ("grid 20", "ROWSxCOLUMNS, for example 20x30"),
        ("grid 2x2 --first r9c9", "--first: 'r9c9' is not one of the 4 symbols"),
        ("convert", "the public system is missing"),
        ("convert --alphabet pages.txt --first home", "--first and --last belong to --edges"),
        ("convert --edges roads.csv:from", "the names of 2 columns"),
        ("convert --edges roads.csv:a,b", "must name the columns a, b"),
        ("convert --edges none.csv:a,b", "none.csv:a,b: cannot be read"),
    ],
)
def test_bad_sources_are_named_and_nothing_is_written(line, message, folder, run):
    (folder / "empty").mkdir()
    bare = '<graphml><graph edgedefault="directed"><node id="a"/><edge source="a" target="a"/></graph></graphml>'
    (folder / "bare.graphml").write_text(bare)
    before = sorted(folder.iterdir())
    ran = run(f"system {line} --output world.json")
    assert ran.code in (1, 2)
    assert message in ran.err
    assert "Traceback" not in ran.err
    assert sorted(folder.iterdir()) == before


def test_an_output_replaces_nothing_unless_told_and_never_what_is_read(folder, run):
    assert run("system grid 2x2 --output world.json").code == 0
    assert "exists already" in run("system grid 2x3 --output world.json").err
    assert run("system grid 2x3 --output world.json --overwrite").code == 0
    before = (folder / "roads.csv").read_text()
    ran = run("system convert --edges roads.csv --output roads.csv --overwrite")
    assert ran.code == 2
    assert (folder / "roads.csv").read_text() == before


EVERYWHERE = [
    "plan {} --length 5 --epsilon 2",
    "plan --rows sizes.csv {}",
    "compare {} --length 4 --epsilon 2",
    "privatize trips.parquet --column route {} --epsilon 5 --output private.parquet",
    "audit exhaustive {} --length 2 --epsilon 1",
    "report plan {} --length 2 --output plan.html",
]


@pytest.mark.parametrize("line", EVERYWHERE)
@pytest.mark.parametrize("given", ["--system roads.json", "--edges named.csv:source,target"])
def test_every_command_takes_a_saved_system_and_columns_of_any_name(line, given, folder, run):
    (folder / "named.csv").write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in ROADS))
    assert run("system convert --edges roads.csv --output roads.json").code == 0
    ran = run(line.format(given))
    assert ran.code == 0, ran.err
    plain = run(
        line.format("--edges roads.csv").replace("private.parquet", "plain.parquet").replace("plan.html", "b.html")
    )
    if not line.startswith(("privatize", "report")):
        assert ran.out == plain.out


def feasible_pairs(chain):
    return {(a, b) for a in chain.symbols for b in chain.symbols if chain.is_feasible([a, b])}


def test_a_model_over_a_saved_system_has_its_symbols_and_its_support(folder, run):
    assert run("system convert --edges roads.csv --output roads.json").code == 0
    ran = run("model trips.csv --from pickup --to dropoff --system roads.json --epsilon 0.01 --output model.json")
    assert ran.code == 0, ran.err
    chain = pv.MarkovChain.from_json(folder / "model.json")
    assert chain.symbols == tuple(f"s{i}" for i in range(8))
    assert feasible_pairs(chain) <= set(ROADS)


def test_a_model_over_an_alphabet_has_every_transition(folder, run):
    assert run("system convert --alphabet zones.txt --output zones.json").code == 0
    ran = run("model trips.csv --from pickup --to dropoff --system zones.json --epsilon 0.01 --output model.json")
    assert ran.code == 0, ran.err
    # Noise alone makes half of the 40 transitions that are no roads possible; that none is has probability 2^-40.
    assert not feasible_pairs(pv.MarkovChain.from_json(folder / "model.json")) <= set(ROADS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("", "Give --states, or --system"),
        ("--states zones.txt --system roads.json", "Give --states, or --system"),
        ("--system roads.json --support roads.csv", "leave out --support"),
        ("--system trips.csv", "is the sensitive input itself"),
        ("--system zones.txt", "zones.txt: this is not JSON"),
    ],
)
def test_a_model_is_told_its_states_once(options, message, run):
    assert run("system convert --edges roads.csv --output roads.json").code == 0
    ran = run(f"model trips.csv --from pickup --to dropoff {options} --epsilon 5 --output model.json")
    assert message in ran.err
    assert ran.code != 0


def test_first_and_last_symbols_bind_the_words_of_a_release(folder, run):
    (folder / "one.csv").write_text("route\ns0 s1 s2\n")
    (folder / "last.txt").write_text("s2\ns3\n")
    line = "privatize one.csv --column route --edges roads.csv --epsilon 0.1 --output private.csv --overwrite --yes"
    for _ in range(10):
        ran = run(f"{line} --first s0,s4 --last last.txt")
        assert ran.code == 0, ran.err
        word = (folder / "private.csv").read_text().split("\n")[1].split()
        assert word[0] in ("s0", "s4")
        assert word[-1] in ("s2", "s3")
    assert "cannot begin" in run(f"{line} --first s5").err


def test_public_files_must_not_be_the_sensitive_ones(folder, run):
    (folder / "one.csv").write_text("route\ns0 s1 s2\n")
    for options in ("--edges one.csv:route,route", "--system one.csv", "--edges roads.csv --first one.csv"):
        ran = run(f"privatize one.csv --column route {options} --epsilon 1 --output private.csv")
        assert ran.code == 2
        assert "is the sensitive input itself" in ran.err


def test_a_report_draws_a_saved_system_where_its_symbols_lie(folder, run):
    assert run("system grid 2x2 --output cells.json").code == 0
    ran = run("report plan --system cells.json --length 2 --output plan.html")
    assert ran.code == 0, ran.err
    assert "r2c2" in (folder / "plan.html").read_text()


def test_the_ways_that_are_printed_where_the_system_is_missing_run_as_printed(run):
    printed = run("privatize trips.parquet --column route --epsilon 1 --output private.parquet")
    assert printed.code == 2
    lines = printed.err.replace("\\\n", " ").splitlines()
    commands = [line.strip().removeprefix("pathveil ") for line in lines if line.startswith("       pathveil ")]
    assert len(commands) == 5
    given = {
        "INPUT ...": "trips.parquet --column route",
        "EDGES.csv": "roads.csv",
        "SYMBOLS.txt": "zones.txt",
    }
    for number, command in enumerate(commands):
        for name, stands_for in {**given, "OUTPUT": f"private{number}.parquet"}.items():
            command = command.replace(name, stands_for)
        ran = run(command)
        assert ran.code == 0, f"{command}\n{ran.err}"


def test_edges_are_taken_both_ways_when_told(folder, run):
    (folder / "streets.csv").write_text("node_a,node_b\nx,y\ny,z\n")
    one_way = run("system convert --edges streets.csv:node_a,node_b --output one.json --json")
    both = run("system convert --edges streets.csv:node_a,node_b --both-ways --output both.json --json")
    assert [json.loads(ran.out)["transitions"] for ran in (one_way, both)] == [2, 4]
    assert json.loads(both.out)["dead_ends"] == []
    ran = run("plan --alphabet pages.txt --both-ways --length 3 --epsilon 1")
    assert ran.code == 2
    assert "--both-ways belongs to --edges" in ran.err
