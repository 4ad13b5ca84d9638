"""BPMN models: the names of tasks are the symbols, and the words are the orders in which the process can do them.

Line breaks in a name, which drawing programs put there, become spaces.

pm4py reads the file. What it cannot tell us, or would leave out without a word, is looked for in the XML first, and
refused with its line: a system that lacks a path that the process has would refuse words that are right.

The model becomes a Petri net. Each sequence flow is a place. A task takes a token from one of its incoming flows,
writes its name and gives one to its outgoing flow; an exclusive (or event-based) gateway does so silently for any pair
of them, a parallel gateway takes one from all and gives one to all. Events are silent. An end event takes a token away,
and the process ends when none is left; a terminating end event takes all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pathveil.data.public.checked_xml import check_xml
from pathveil.data.public.petri_net import PetriNet, Transition
from pathveil.data.public.process_models import read_with_pm4py, words_of_model
from pathveil.data.public.saved_system import SavedSystem
from pathveil.errors import InvalidSystemError

_TASKS = {
    *("task", "userTask", "manualTask", "serviceTask", "scriptTask", "businessRuleTask", "sendTask", "receiveTask"),
}
_ONE_OF_MANY = {"exclusiveGateway", "eventBasedGateway"}
_EVENTS = {"startEvent", "endEvent", "intermediateCatchEvent", "intermediateThrowEvent"}
_NODES = {*_TASKS, *_EVENTS, *_ONE_OF_MANY, "parallelGateway"}
_WITHOUT_EFFECT = {
    *("documentation", "extensionElements", "auditing", "monitoring", "property", "laneSet", "artifact", "association"),
    *("group", "textAnnotation", "dataObject", "dataObjectReference", "dataStoreReference", "ioSpecification"),
    *("resourceRole", "performer", "humanPerformer", "potentialOwner", "supports", "correlationSubscription"),
}
_WAYS_OUT = {
    "inclusiveGateway": "Which of its branches run together is decided by data, not by the model. Replace it by an "
    "exclusive gateway (one branch), a parallel one (all branches), or one exclusive branch for each combination.",
    "complexGateway": "What it waits for is not in the model. Replace it by exclusive and parallel gateways.",
    "subProcess": "Put its steps into the process itself, or replace it by a task if it is one step for you.",
    "transaction": "Put its steps into the process itself, or replace it by a task if it is one step for you.",
    "adHocSubProcess": "Its steps have no order. Replace it by a task, or list the orders with gateways.",
    "callActivity": "Replace it by a task if it is one step for you, or by the steps of the process that it calls.",
    "boundaryEvent": "Draw what may interrupt the step as an exclusive gateway after it.",
    "linkEventDefinition": "Connect the two ends of the link by a sequence flow.",
    "standardLoopCharacteristics": "Draw the repetition as a loop with an exclusive gateway.",
    "multiInstanceLoopCharacteristics": "Draw the repetition as a loop with an exclusive gateway.",
}


@dataclass
class _Elements:
    """What the XML says: nodes by their ids, the ends of sequence flows, and the processes that have nodes."""

    path: str | Path
    nodes: dict[str, tuple[str, str, int]] = field(default_factory=dict)  # kind, name, line
    flows: dict[str, tuple[str, str]] = field(default_factory=dict)
    processes: dict[str, int] = field(default_factory=dict)
    terminating: set[str] = field(default_factory=set)
    _process: tuple[str, int] = ("", 0)
    _node: str = ""

    def seen(self, names: list[str], attributes: dict[str, str], line: int) -> None:
        kind = names[-1]
        if kind == "process" and len(names) == 2:
            self._process = attributes.get("id", ""), line
        elif "process" in names[:-1] and "extensionElements" not in names:
            if len(names) == 3:
                self._child_of_process(kind, attributes, line)
            elif kind in _WAYS_OUT:  # how a task repeats, what an event is linked to
                raise self._refusal(kind, self.nodes.get(self._node, ("", "", 0))[1], self._node, line)
            elif kind == "terminateEventDefinition":
                self.terminating.add(self._node)

    def _child_of_process(self, kind: str, attributes: dict[str, str], line: int) -> None:
        identity, name = attributes.get("id", ""), " ".join(attributes.get("name", "").split())
        if kind == "sequenceFlow":
            self.flows[identity] = attributes.get("sourceRef", ""), attributes.get("targetRef", "")
        elif kind not in _WITHOUT_EFFECT:
            if kind not in _NODES:
                raise self._refusal(kind, name, identity, line)
            if not identity or identity in self.nodes:
                problem = f"has the id {identity!r} of another element" if identity else "has no id"
                raise InvalidSystemError(
                    f"{self.path}, line {line}: the {kind} {name!r} {problem}. Save the model again."
                )
            if kind in _TASKS and not name:
                raise InvalidSystemError(
                    f"{self.path}, line {line}: the {kind} {identity!r} has no name, which would be its symbol. Name "
                    "it."
                )
            self._node = identity
            self.nodes[identity] = kind, name, line
            self.processes.setdefault(*self._process)

    def _refusal(self, kind: str, name: str, identity: str, line: int) -> InvalidSystemError:
        called = f" {name!r}" if name else ""
        way_out = _WAYS_OUT.get(kind, "Replace it by tasks, events, and exclusive and parallel gateways.")
        return InvalidSystemError(
            f"{self.path}, line {line}: the {kind}{called} (id {identity!r}) cannot be translated. {way_out}"
        )


def read_bpmn(path: str | Path) -> SavedSystem:
    """The words of a BPMN model with tasks, events, and exclusive and parallel gateways."""
    elements = _Elements(path)
    check_xml(path, "definitions", elements.seen)
    if not elements.nodes:
        raise InvalidSystemError(f"{path}: the model has no process with tasks in it")
    if len(elements.processes) > 1:
        lines = " and ".join(map(str, elements.processes.values()))
        raise InvalidSystemError(
            f"{path}: there are {len(elements.processes)} processes (lines {lines}), and how they wait for each other "
            "is in their messages. Save a model of the one that writes the events."
        )
    for identity, ends in elements.flows.items():
        for end in ends:
            if end not in elements.nodes:
                raise InvalidSystemError(
                    f"{path}: the sequence flow {identity!r} leads from or to {end!r}, which is not in the process. "
                    "Connect it."
                )
    graph = read_with_pm4py(path, "read_bpmn")
    _require_same(path, elements, graph)
    return words_of_model(path, "BPMN", _net(path, elements))


def _require_same(path: str | Path, elements: _Elements, graph: Any) -> None:
    """An error where pm4py has overlooked a part of the model."""
    known = {node.get_id() for node in graph.get_nodes()}
    flows = {flow.get_id(): (flow.get_source(), flow.get_target()) for flow in graph.get_flows()}
    for identity, (kind, name, line) in elements.nodes.items():
        if identity not in known:
            raise InvalidSystemError(f"{path}, line {line}: pm4py does not read the {kind} {name!r} (id {identity!r})")
    for identity, ends in elements.flows.items():
        if tuple(getattr(end, "get_id", str)() for end in flows.get(identity, ())) != ends:
            raise InvalidSystemError(
                f"{path}: pm4py does not read the sequence flow {identity!r}. Save the model again."
            )


def _net(path: str | Path, elements: _Elements) -> PetriNet:
    entering: dict[str, list[str]] = {identity: [] for identity in elements.nodes}
    leaving: dict[str, list[str]] = {identity: [] for identity in elements.nodes}
    for flow, (source, target) in elements.flows.items():
        leaving[source].append(flow)
        entering[target].append(flow)
    transitions: list[Transition] = []
    begin = "the beginning"
    for identity, (kind, name, line) in elements.nodes.items():
        where = f"{path}, line {line}: the {kind} {name!r} (id {identity!r})"
        ins, outs = entering[identity], leaving[identity]
        if kind == "startEvent":
            if ins:
                raise InvalidSystemError(f"{where} has an incoming flow; a process begins there. Remove the flow.")
            ins = [begin]
        if not ins:
            raise InvalidSystemError(f"{where} has no incoming flow: nothing leads to it. Connect it, or remove it.")
        if kind == "parallelGateway":
            transitions.append(Transition(None, dict.fromkeys(ins, 1), dict.fromkeys(outs, 1)))
            continue
        if len(outs) > 1 and kind not in _ONE_OF_MANY:
            raise InvalidSystemError(
                f"{where} has {len(outs)} outgoing flows. Put a gateway after it that says whether one (exclusive) or "
                "all (parallel) of them are taken."
            )
        label = name if kind in _TASKS else None
        after: list[dict[str, int]] = [{out: 1} for out in outs] or [{}]
        transitions += [
            Transition(label, {flow: 1}, given, ends_all=identity in elements.terminating)
            for flow in ins
            for given in after
        ]
    if not any(begin in one.takes for one in transitions):
        raise InvalidSystemError(f"{path}: the process has no start event. Add one before the first step.")
    return PetriNet(transitions, initial={begin: 1}, final={})
