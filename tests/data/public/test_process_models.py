"""BPMN and PNML models: the words that they allow, and what cannot be translated."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from types import ModuleType

import pytest

import pathveil as pv
from pathveil.data.public import read_bpmn, read_pnml
from tests.data.public.process_files import bpmn, pnml, tasks
from tests.reference.enumeration import feasible_words


@pytest.fixture(autouse=True, scope="module")
def pm4py() -> ModuleType:
    """Loading it takes half a second, in one process only when it is left to the first test."""
    return pytest.importorskip("pm4py")


def words(system: pv.System, length: int) -> set[str]:
    return {"".join(map(str, word)) for word in feasible_words(system, length)}


def read(folder: Path, text: str, encoding: str = "utf-8") -> pv.System:
    reader, name = (read_pnml, "model.pnml") if "<pnml" in text else (read_bpmn, "model.bpmn")
    (folder / name).write_text(text, encoding=encoding)
    return reader(folder / name).system


LOOP = bpmn(
    tasks("abc") + '<exclusiveGateway id="x"/><exclusiveGateway id="y"/>',
    ["start>a", "a>x", "x>b", "x>c", "b>y", "c>y", "y>a", "y>end"],
)
PARALLEL = bpmn(
    tasks("abcd") + '<parallelGateway id="fork"/><parallelGateway id="join"/>',
    ["start>a", "a>fork", "fork>b", "fork>c", "fork>d", "b>join", "c>join", "d>join", "join>end"],
)


def test_choices_and_loops_of_a_bpmn_model(tmp_path: Path) -> None:
    system = read(tmp_path, LOOP)
    assert words(system, 2) == {"ab", "ac"}
    assert words(system, 4) == {"abab", "abac", "acab", "acac"}
    assert system.count(3) == 0


def test_parallel_branches_of_a_bpmn_model_come_in_any_order(tmp_path: Path) -> None:
    system = read(tmp_path, PARALLEL)
    assert words(system, 4) == {"a" + "".join(order) for order in permutations("bcd")}


def test_a_bpmn_model_has_the_words_that_pm4py_plays_out(tmp_path: Path, pm4py: ModuleType) -> None:
    """What pm4py's own translation can do, we can: its play-out of the converted net, up to 6 steps."""
    for text in (LOOP, PARALLEL):
        system = read(tmp_path, text)
        net = pm4py.convert_to_petri_net(pm4py.read_bpmn(str(tmp_path / "model.bpmn")))
        played = pm4py.play_out(*net, parameters={"maxTraceLength": 6, "noTraces": 200})
        traces = {tuple(event["concept:name"] for event in trace) for trace in played}
        assert traces
        assert all(system.is_feasible(list(trace)) for trace in traces)


def test_branches_that_end_by_themselves(tmp_path: Path) -> None:
    """BPMN: the process ends when no token is left."""
    text = bpmn(
        tasks("ab") + '<endEvent id="end2"/><parallelGateway id="fork"/>',
        ["start>fork", "fork>a", "fork>b", "a>end", "b>end2"],
    )
    assert words(read(tmp_path, text), 2) == {"ab", "ba"}


def test_a_terminating_end_event_ends_all_branches(tmp_path: Path) -> None:
    text = bpmn(
        tasks("ab") + '<endEvent id="stop"><terminateEventDefinition/></endEvent><parallelGateway id="fork"/>',
        ["start>fork", "fork>a", "fork>b", "a>end", "b>stop"],
    )
    system = read(tmp_path, text)
    assert words(system, 1) == {"b"}
    assert words(system, 2) == {"ab", "ba"}


def test_events_between_tasks_and_event_based_gateways_write_nothing(tmp_path: Path) -> None:
    nodes = tasks("abc") + (
        '<eventBasedGateway id="which"/>'
        '<intermediateCatchEvent id="mail" name="mail"><messageEventDefinition/></intermediateCatchEvent>'
        '<intermediateCatchEvent id="late" name="late"><timerEventDefinition/></intermediateCatchEvent>'
    )
    flows = ["start>a", "a>which", "which>mail", "which>late", "mail>b", "late>c", "b>end", "c>end"]
    system = read(tmp_path, bpmn(nodes, flows))
    assert words(system, 2) == {"ab", "ac"}


def test_two_tasks_with_one_name_are_one_symbol(tmp_path: Path) -> None:
    nodes = tasks("b") + '<task id="a1" name="a"/><userTask id="a2" name="a"/><exclusiveGateway id="x"/>'
    system = read(tmp_path, bpmn(nodes, ["start>x", "x>a1", "x>a2", "a1>b", "a2>end", "b>end"]))
    assert words(system, 1) == {"a"}
    assert words(system, 2) == {"ab"}


def test_line_breaks_in_names_become_spaces(tmp_path: Path) -> None:
    nodes = '<startEvent id="start"/><task id="t" name="check&#10;the  order "/><endEvent id="end"/>'
    assert read(tmp_path, bpmn(nodes, ["start>t", "t>end"])).symbols == ("check the order",)


REFUSED = {
    "inclusiveGateway": (
        tasks("a") + '\n<inclusiveGateway id="g" name="which?"/>',
        r"line 7: the inclusiveGateway 'which\?' \(id 'g'\).*exclusive",
    ),
    "complexGateway": (tasks("a") + '<complexGateway id="g"/>', "complexGateway .*'g'"),
    "subProcess": (tasks("a") + '<subProcess id="s" name="part"><task id="t"/></subProcess>', "the subProcess 'part'"),
    "callActivity": (tasks("a") + '<callActivity id="s" name="part"/>', "the callActivity 'part'.*by a task"),
    "boundaryEvent": (tasks("a") + '<boundaryEvent id="s" attachedToRef="a"/>', "the boundaryEvent .*gateway after it"),
    "a repeated task": (
        tasks("a") + '<task id="r" name="again"><multiInstanceLoopCharacteristics/></task>',
        "multiInstanceLoopCharacteristics 'again'.*as a loop",
    ),
    "a link": (
        tasks("a") + '<intermediateThrowEvent id="l" name="go"><linkEventDefinition/></intermediateThrowEvent>',
        "linkEventDefinition 'go'.*by a sequence flow",
    ),
    "something unknown": (tasks("a") + '<choreographyTask id="c"/>', "the choreographyTask"),
    "a task without a name": (tasks("a") + '<task id="nameless"/>', "'nameless' has no name"),
    "a node without an id": (tasks("a") + '<task name="b"/>', "'b' has no id"),
    "an id twice": (tasks("a") + '<task id="a" name="b"/>', "the id 'a' of another element"),
    "an island": (tasks("a") + '<task id="b" name="b"/>', "'b'.*has no incoming flow"),
    "no start": ('<task id="a" name="a"/><endEvent id="end"/>', "'start', which is not in the process"),
    "nothing": ("", "no process with tasks"),
}


@pytest.mark.parametrize(("nodes", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_translated_is_named_with_a_way_out(nodes: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(pv.InvalidSystemError, match=rf"(?s)model\.bpmn.*{message}"):
        read(tmp_path, bpmn(nodes, ["start>a", "a>end"]))


@pytest.mark.parametrize(
    ("flows", "message"),
    [
        (["start>a", "a>b", "a>c", "b>end", "c>end"], "'a'.*has 2 outgoing flows. Put a gateway"),
        (["start>a", "a>b", "b>c", "c>end", "c>start"], "(start.*has an incoming flow|'c'.*has 2 outgoing)"),
        (["start>a", "a>b", "b>c", "c>nowhere"], "'nowhere', which is not in the process"),
        (["start>a", "a>b", "b>a", "start>c", "c>end"], "'start'.*has 2 outgoing flows"),
        (["start>a", "a>b", "b>a", "c>end"], "'c'.*has no incoming flow"),
    ],
)
def test_flows_that_leave_a_question_are_refused(flows: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(pv.InvalidSystemError, match=f"(?s){message}"):
        read(tmp_path, bpmn(tasks("abc"), flows))


def test_two_processes_in_one_file_are_refused(tmp_path: Path) -> None:
    other = '<process id="other"><startEvent id="s2"/><task id="z" name="z"/></process>'
    with pytest.raises(pv.InvalidSystemError, match="there are 2 processes"):
        read(tmp_path, bpmn(tasks("a"), ["start>a", "a>end"], more=other))


def test_an_exclusive_choice_that_is_joined_in_parallel_never_ends(tmp_path: Path) -> None:
    nodes = tasks("ab") + '<exclusiveGateway id="x"/><parallelGateway id="join"/>'
    with pytest.raises(pv.InvalidSystemError, match=r"no word ever ends.*stuck"):
        read(tmp_path, bpmn(nodes, ["start>x", "x>a", "x>b", "a>join", "b>join", "join>end"]))


def test_a_parallel_split_that_is_never_joined_in_a_loop_is_refused(tmp_path: Path) -> None:
    nodes = tasks("a") + '<exclusiveGateway id="x"/><parallelGateway id="fork"/>'
    with pytest.raises(pv.InvalidSystemError, match="pile up on"):
        read(tmp_path, bpmn(nodes, ["start>x", "x>a", "a>fork", "fork>x", "fork>end"]))


# PNML.

PLACES = {"p": 1, "q": 0, "r": 0}
STEPS = {"t": "a", "u": "b", "back": None}
ARCS = ["p>t", "t>q", "q>u", "u>r", "q>back", "back>p"]
END = '<finalmarkings><marking><place idref="r"><text>1</text></place></marking></finalmarkings>'


@pytest.mark.parametrize("more", ["", END], ids=["the only sink", "a final marking"])
def test_the_words_of_a_net(more: str, tmp_path: Path) -> None:
    system = read(tmp_path, pnml(PLACES, STEPS, ARCS, more))
    assert [words(system, n) for n in (1, 2, 3)] == [set(), {"ab"}, {"aab"}]


def test_arcs_take_as_many_tokens_as_they_say(tmp_path: Path) -> None:
    system = read(tmp_path, pnml({"p": 1, "q": 0, "r": 0}, {"t": "a", "u": "b"}, ["p>t", "t>q*2", "q>u*2", "u>r"]))
    assert words(system, 2) == {"ab"}
    two_arcs = pnml({"p": 2, "r": 0}, {"t": "a"}, ["p>t", "p>t", "t>r"])
    assert words(read(tmp_path, two_arcs), 1) == {"a"}


def test_what_pm4py_writes_is_read(tmp_path: Path, pm4py: ModuleType) -> None:
    (tmp_path / "model.bpmn").write_text(PARALLEL)
    net = pm4py.convert_to_petri_net(pm4py.read_bpmn(str(tmp_path / "model.bpmn")))
    pm4py.write_pnml(*net, str(tmp_path / "written.pnml"))
    assert words(read_pnml(tmp_path / "written.pnml").system, 4) == words(read_bpmn(tmp_path / "model.bpmn").system, 4)


NET = pnml(PLACES, STEPS, ARCS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (NET.replace("</pnml>", '<net id="n2"/></pnml>'), "second net"),
        (NET.replace("</net>", '<page id="page2"/></net>'), "second page"),
        (NET.replace("</net>", END.replace("</finalmarkings>", "<marking/></finalmarkings></net>")), "second final"),
        (NET.replace("<arc ", '<referencePlace id="z" ref="p"/><arc ', 1), "referencePlace"),
        (NET.replace("<inscription>", '<type value="inhibitor"/><inscription>', 1), "arc is of type 'inhibitor'"),
        (NET.replace("<inscription>", "<arctype><text>inhibitor</text></arctype><inscription>", 1), "of another type"),
        (NET.replace('source="p"', 'source="gone"', 1), "of 6 arcs, pm4py reads 5"),
        (NET.replace('<place id="q"', '<place id="p"'), "the id 'p' of another element"),
        (NET.replace('<transition id="t"', "<transition"), "the transition has no id"),
        (pnml({**PLACES, "p": 0}, STEPS, ARCS), "no place has a token"),
        (pnml({**PLACES, "s": 0}, STEPS, [*ARCS, "t>s"]), r"here are 2 \(r, s\)"),
        (pnml(PLACES, STEPS, [*ARCS, "r>t"]), "here is none"),
        (pnml(PLACES, STEPS, [*ARCS, "back>r"]), "pile up on 'r'"),
        (pnml(PLACES, STEPS, ["p>t*0", *ARCS[1:]]), "the weight 0"),
        (pnml(PLACES, STEPS, ["p>t*x", *ARCS[1:]]), "pm4py cannot read this"),
        (pnml({}, {}, []), "no net with places and transitions"),
        ("<pnml/>", "no net with places and transitions"),
    ],
)
def test_nets_that_would_be_read_wrongly_are_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(pv.InvalidSystemError, match=rf"(?s)model\.pnml.*{message}"):
        read(tmp_path, text)


def test_other_encodings_are_refused(tmp_path: Path) -> None:
    """pm4py takes every file for UTF-8, whatever it declares."""
    text = bpmn(tasks("ä"), ["start>ä", "ä>end"]).replace('"1.0"?', '"1.0" encoding="ISO-8859-1"?')
    with pytest.raises(pv.InvalidSystemError, match=r"model\.bpmn.*as UTF-8"):
        read(tmp_path, text, "latin-1")
