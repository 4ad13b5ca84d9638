"""PNML, Petri nets in XML: the labels of transitions are the symbols.

pm4py reads the file, with the conventions that process miners have agreed on: a transition is silent where ProM's
`$invisible$` says so, and one without a name is called by its id. What it would leave out without a word (arcs of other
kinds, further pages and nets, a second final marking) is looked for in the XML first and refused.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pathveil.data.public.checked_xml import check_xml
from pathveil.data.public.petri_net import PetriNet, Transition
from pathveil.data.public.process_models import read_with_pm4py, words_of_model
from pathveil.data.public.saved_system import SavedSystem
from pathveil.errors import InvalidSystemError

_ONE_EACH = {
    "net": "Save each net in a file of its own.",
    "page": "Put the whole net on one page.",
    "marking": "pm4py knows one final marking: give the net one last place that all ends lead to.",
}
_OTHER_KINDS = ("referencePlace", "referenceTransition", "hlinitialMarking", "hlinscription")


@dataclass
class _Elements:
    """The ids of places and transitions, and how many arcs there are."""

    path: str | Path
    places: set[str] = field(default_factory=set)
    transitions: set[str] = field(default_factory=set)
    arcs: int = 0
    _found: Counter[str] = field(default_factory=Counter)

    def seen(self, names: list[str], attributes: dict[str, str], line: int) -> None:
        kind, outer = names[-1], names[-2] if len(names) > 1 else ""
        if kind in _ONE_EACH and "toolspecific" not in names and (kind != "marking" or outer == "finalmarkings"):
            self._found[kind] += 1
            if self._found[kind] > 1:
                what = "final marking" if kind == "marking" else kind
                raise InvalidSystemError(f"{self.path}, line {line}: this is a second {what}. {_ONE_EACH[kind]}")
        identity = attributes.get("id", "")
        inside_net = outer in ("net", "page")
        if kind in _OTHER_KINDS:
            raise InvalidSystemError(
                f"{self.path}, line {line}: <{kind}> is for nets that are not place/transition nets"
            )
        if outer == "arc" and kind in ("type", "arctype") and attributes.get("value", "normal") != "normal":
            raise self._odd_arc(f"line {line}: this arc is of type {attributes['value']!r}")
        if inside_net and kind in ("place", "transition"):
            known = self.places | self.transitions
            if not identity or identity in known:
                problem = f"has the id {identity!r} of another element" if identity else "has no id"
                raise InvalidSystemError(f"{self.path}, line {line}: the {kind} {problem}. Save the net again.")
            (self.places if kind == "place" else self.transitions).add(identity)
        elif inside_net and kind == "arc":
            self.arcs += 1

    def _odd_arc(self, what: str) -> InvalidSystemError:
        return InvalidSystemError(
            f"{self.path}, {what}: only plain arcs can be translated. Model what it forbids with places."
        )


def read_pnml(path: str | Path) -> SavedSystem:
    """The words of a place/transition net from its initial to its final marking.

    Where the file names no final marking, it is one token on the only place that no arc leaves.
    """
    elements = _Elements(path)
    check_xml(path, "pnml", elements.seen)
    if not elements.transitions or not elements.places:
        raise InvalidSystemError(f"{path}: there is no net with places and transitions in the file")
    net, initial, final = read_with_pm4py(path, "read_pnml", auto_guess_final_marking=False)
    for what, ours, theirs in (
        ("place", elements.places, net.places),
        ("transition", elements.transitions, net.transitions),
    ):
        for identity in sorted(ours ^ {one.name for one in theirs}):
            raise InvalidSystemError(f"{path}: pm4py does not read the {what} {identity!r} as the file has it")
    if len(net.arcs) != elements.arcs:
        raise InvalidSystemError(
            f"{path}: of {elements.arcs} arcs, pm4py reads {len(net.arcs)}: the others lead from place to place, from "
            "transition to transition, or from or to something that is not there. Repair the net."
        )
    if any((arc.properties or {}).get("arctype") for arc in net.arcs):
        raise elements._odd_arc("an arc is of another type (inhibitor or reset)")
    if not initial:
        raise InvalidSystemError(f"{path}: no place has a token to begin with (<initialMarking>)")
    return words_of_model(path, "PNML", _net(path, net, initial, final))


def _net(path: str | Path, net: Any, initial: Any, final: Any) -> PetriNet:
    transitions = []
    for one in sorted(net.transitions, key=lambda one: str(one.name)):
        takes, gives = Counter[str](), Counter[str]()
        for tokens, arcs in ((takes, one.in_arcs), (gives, one.out_arcs)):
            for arc in arcs:
                if arc.weight < 1:
                    raise InvalidSystemError(
                        f"{path}: an arc of the transition {one.name!r} has the weight {arc.weight}. Remove the arc."
                    )
                tokens[(arc.source if tokens is takes else arc.target).name] += arc.weight
        transitions.append(Transition(one.label, takes, gives))
    return PetriNet(
        transitions,
        initial={place.name: tokens for place, tokens in initial.items()},
        final=_only_sink(path, net) if final is None else {place.name: tokens for place, tokens in final.items()},
    )


def _only_sink(path: str | Path, net: Any) -> dict[str, int]:
    sinks = sorted(place.name for place in net.places if not place.out_arcs)
    if len(sinks) != 1:
        found = f"here are {len(sinks)} ({', '.join(sinks[:6])})" if sinks else "here is none"
        raise InvalidSystemError(
            f"{path}: where do words end? Name a final marking (<finalmarkings>), or have one place that no arc "
            f"leaves; {found}."
        )
    return {sinks[0]: 1}
