"""Entities are refused before anything is expanded or fetched. What is written opens in programs for process mining.

ProM is no Python program and is not run here; that what it needs is there is checked by structure.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

import pathveil as pv
from pathveil import data
from tests.data.files import Words, faithful, write_csv, write_xes

LAUGHS = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 30))
EVENT = '<log><trace><event><string key="concept:name" value="{}"/></event></trace></log>'


@pytest.mark.parametrize(
    "declaration",
    [
        f'<!DOCTYPE log [<!ENTITY l0 "a">{LAUGHS}]>',
        '<!DOCTYPE log [<!ENTITY secret SYSTEM "{secret}">]>',
        '<!DOCTYPE log [<!ENTITY % secret SYSTEM "{secret}"> %secret;]>',
        '<!DOCTYPE log SYSTEM "{secret}">',
        '<!DOCTYPE log PUBLIC "-//none//EN" "http://127.0.0.1:9/none.dtd">',
    ],
    ids=["a billion laughs", "external entity", "external parameter entity", "external subset", "remote subset"],
)
@pytest.mark.parametrize("entity", ["&l29;", "&secret;", "a"])
def test_files_that_declare_a_document_type_are_refused(declaration: str, entity: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("a")
    source = tmp_path / "log.xes"
    source.write_text('<?xml version="1.0"?>' + declaration.replace("{secret}", secret.as_uri()) + EVENT.format(entity))
    with pytest.raises(pv.DataFileError, match="declares a document type"):
        data.privatize_file(source, data.EventLog(), faithful(pv.Alphabet("a")), tmp_path / "out.xes")
    assert not (tmp_path / "out.xes").exists()


def test_the_same_log_without_a_declaration_is_read(tmp_path: Path) -> None:
    source = tmp_path / "log.xes"
    source.write_text('<?xml version="1.0"?>' + EVENT.format("a"))
    data.privatize_file(source, data.EventLog(), faithful(pv.Alphabet("a")), tmp_path / "out.xes")


@pytest.mark.parametrize("text", ["<log>", "<other/>", "", "<log><trace></log>", '<log a="&x;"/>', "\x00\x01"])
def test_other_xml_that_is_no_log_is_refused(text: str, tmp_path: Path) -> None:
    source = tmp_path / "log.xes"
    source.write_text(text)
    with pytest.raises(pv.DataFileError, match=r"log\.xes"):
        data.privatize_file(source, data.EventLog(), faithful(pv.Alphabet("a")), tmp_path / "out.xes")


XES = "{http://www.xes-standard.org/}"
STEPS = ["open", "check & sign", 'say "no"', "close"]
TICKETS = [["open", "close"], ["open", "check & sign", 'say "no"', "close"], ["open", "close"], ["open"]]


def released(folder: Path, words: Words, attributes: str = "", **options: object) -> Path:
    """The words as PathVeil writes them to an event log, in the order given."""
    write_xes(folder / "in.xes", words, attributes)
    mechanism = faithful(pv.Alphabet(STEPS))
    data.privatize_file(
        folder / "in.xes",
        data.EventLog(),
        mechanism,
        folder / "out.xes",
        keep_order=True,
        **options,  # type: ignore[arg-type]
    )
    return folder / "out.xes"


def test_events_have_times_that_depend_on_their_place_alone(tmp_path: Path) -> None:
    log = ElementTree.parse(released(tmp_path, [*TICKETS, ["open"] * 70])).getroot()
    for trace in log.findall(f"{XES}trace"):
        times = [event.find(f"{XES}date").attrib for event in trace.findall(f"{XES}event")]  # type: ignore[union-attr]
        assert {time["key"] for time in times} == {"time:timestamp"}
        expected = [f"1970-01-01T00:0{i // 60}:{i % 60:02}.000+00:00" for i in range(len(times))]
        assert [time["value"] for time in times] == expected


def test_a_log_declares_what_its_attributes_mean_in_the_order_of_the_standard(tmp_path: Path) -> None:
    path = released(tmp_path, TICKETS, '<string key="org:group" value="x"/>', keep=["org:group"])
    log = ElementTree.parse(path).getroot()
    assert log.tag == f"{XES}log"
    assert log.attrib == {"xes.version": "1849.2016", "xes.features": ""}
    order = ["extension", "global", "classifier", "string", "trace"]
    assert [order.index(child.tag.removeprefix(XES)) for child in log] == [0, 0, 0, 1, 1, 2, 3, 3, 4, 4, 4, 4]
    assert [(one.get("name"), one.get("prefix"), one.get("uri")) for one in log.findall(f"{XES}extension")] == [
        ("Concept", "concept", "http://www.xes-standard.org/concept.xesext"),
        ("Organizational", "org", "http://www.xes-standard.org/org.xesext"),
        ("Time", "time", "http://www.xes-standard.org/time.xesext"),
    ]
    declared = {
        one.get("scope"): {(attribute.tag.removeprefix(XES), attribute.get("key")) for attribute in one}
        for one in log.findall(f"{XES}global")
    }
    assert declared == {
        "trace": {("string", "concept:name")},
        "event": {("string", "concept:name"), ("date", "time:timestamp")},
    }
    # What is declared for all traces and events is there in each of them.
    for scope, things in (("trace", log.findall(f"{XES}trace")), ("event", list(log.iter(f"{XES}event")))):
        for thing in things:
            assert declared[scope] <= {(one.tag.removeprefix(XES), one.get("key")) for one in thing}
    [classifier] = log.findall(f"{XES}classifier")
    assert classifier.attrib == {"name": "Activity", "keys": "concept:name"}


def test_the_file_says_that_its_times_are_not_real(tmp_path: Path) -> None:
    path = released(tmp_path, TICKETS)
    [said] = [one for one in ElementTree.parse(path).getroot() if one.get("key") == "times"]
    assert "not real" in said.attrib["value"]
    assert path.read_text().splitlines()[1].startswith("<!-- The times in this file are not real")


def test_another_attribute_of_events_is_declared_as_what_they_are_called_by(tmp_path: Path) -> None:
    write_csv(tmp_path / "in.csv", [["visit", "step", "page"], ["v", 1, "a"]])
    layout, mechanism = data.LongTable("visit", "step", "page"), faithful(pv.Alphabet("a"))
    for name, keys in {"org:role": "org:role", "the role": "'the role'"}.items():
        output = tmp_path / f"{name}.xes"
        data.privatize_file(tmp_path / "in.csv", layout, mechanism, output, output_layout=data.EventLog(name))
        log = ElementTree.parse(output).getroot()
        assert [one.get("keys") for one in log.findall(f"{XES}classifier")] == [keys]
        [batch] = data.read_words(output, data.EventLog(name), pv.Alphabet("a"))
        assert batch.column("word").to_pylist() == [[0]]


@pytest.mark.slow  # pm4py takes seconds to import
def test_pm4py_finds_the_words_and_mines_them(tmp_path: Path) -> None:
    pm4py = pytest.importorskip("pm4py")
    words = TICKETS * 3
    log = pm4py.read_xes(str(released(tmp_path, words, '<int key="age" value="{i}"/>', keep=["age"])))
    expected = Counter(tuple(word) for word in words)
    variants = pm4py.get_variants(log)
    assert {variant: found if isinstance(found, int) else len(found) for variant, found in variants.items()} == expected
    follows, begins, ends = pm4py.discover_dfg(log)
    assert follows == Counter(pair for word in words for pair in pairwise(word))
    assert begins == Counter(word[0] for word in words)
    assert ends == Counter(word[-1] for word in words)
    net, start, end = pm4py.discover_petri_net_inductive(log)
    assert {transition.label for transition in net.transitions} - {None} == set(STEPS)
    assert pm4py.fitness_token_based_replay(log, net, start, end)["log_fitness"] == 1.0
    assert pm4py.discover_process_tree_inductive(log) is not None
    # Two ways into pm4py lead to the same traces.
    assert pv.words_from_events(log) == [tuple(word) for word in words]
    assert log["case:age"].tolist() == [i for i, word in enumerate(words) for _ in word]
