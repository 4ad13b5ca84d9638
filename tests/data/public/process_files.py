"""Small BPMN and PNML files, written for a test."""

from __future__ import annotations

from collections.abc import Iterable

BPMN = "http://www.omg.org/spec/BPMN/20100524/MODEL"


def bpmn(nodes: str, flows: Iterable[str], more: str = "", before: str = "") -> str:
    """A process with these nodes, and flows such as "start>a"."""
    listed = "".join(
        f'<sequenceFlow id="f{i}" sourceRef="{ends[0]}" targetRef="{ends[1]}"/>\n'
        for i, ends in enumerate(flow.split(">") for flow in flows)
    )
    return (
        f'<?xml version="1.0"?>{before}\n<definitions xmlns="{BPMN}">\n<process id="process">\n{nodes}\n{listed}'
        f"</process>\n{more}</definitions>\n"
    )


def tasks(names: str) -> str:
    """Tasks that are called as their ids are, one a line, between a start and an end event."""
    listed = "\n".join(f'<task id="{name}" name="{name}"/>' for name in names)
    return f'<startEvent id="start"/>\n{listed}\n<endEvent id="end"/>'


def pnml(places: dict[str, int], transitions: dict[str, str | None], arcs: Iterable[str], more: str = "") -> str:
    """A net: tokens on places, labels of transitions (None: invisible), arcs such as "p>t" or "p>t*2"."""
    listed = [
        f'<place id="{place}"><initialMarking><text>{tokens}</text></initialMarking></place>'
        for place, tokens in places.items()
    ]
    for name, label in transitions.items():
        invisible = '<toolspecific tool="ProM" version="6.4" activity="$invisible$"/>' if label is None else ""
        listed.append(f'<transition id="{name}"><name><text>{label or name}</text></name>{invisible}</transition>')
    for i, arc in enumerate(arcs):
        ends, _, weight = arc.partition("*")
        source, _, target = ends.partition(">")
        inscription = f"<inscription><text>{weight or 1}</text></inscription>"
        listed.append(f'<arc id="a{i}" source="{source}" target="{target}">{inscription}</arc>')
    return (
        '<?xml version="1.0"?>\n<pnml>\n<net id="net" type="http://www.pnml.org/version-2009/grammar/pnmlcoremodel">\n'
        f'<page id="page">\n{chr(10).join(listed)}\n</page>\n{more}</net>\n</pnml>\n'
    )
