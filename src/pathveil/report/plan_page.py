"""The planning report: what each ε and b would cost, before anything sensitive is read. Safe to share."""

from __future__ import annotations

from typing import Any

from pathveil.errors import TooLargeError
from pathveil.markup import Html, name_of, tag
from pathveil.report.alignment import MISSING, Place, aligned, beside
from pathveil.report.charts import Bars, Lines, Network, Path, Series, to_json
from pathveil.report.layout import Coordinates, Picture, picture_of
from pathveil.report.page import Page, bullets, copyable, facts, paragraphs
from pathveil.report.planning import DRAWS, Cell, Planning
from pathveil.systems.system import Word

_BOUND_STYLE = 4


def errors_chart(planning: Planning, b: int, mark: float | None = None) -> Lines:
    """Expected errors against ε for every mechanism, and what no mechanism can do better, where that is known."""
    series = [Series(name, planning.means(b, k), k) for k, name in enumerate(planning.names)]
    if planning.bounds is not None:
        bounds = [bound.errors for bound in planning.bounds[b]]
        series.append(Series("lower bound for any mechanism", bounds, _BOUND_STYLE))
    return Lines(
        title=_errors_title(planning, b),
        x=planning.epsilons,
        series=[one for one in series if any(value is not None for value in one.values)],
        xlabel="ε",
        ylabel=f"expected {planning.what}",
        xscale="log",
        yscale="log",
        mark=mark,
    )


def distribution_chart(planning: Planning, b: int, e: int, k: int) -> Bars:
    """How many errors a private word has, with which probability."""
    cell = planning.cells[b][e][k]
    last = planning.length if planning.cap is None else planning.cap
    labels = [str(errors) for errors in range(last + 1)]
    if planning.lengths is not None and last < planning.lengths[1]:
        labels[-1] += " or more"
    name = planning.names[k]
    return Bars(
        title=f"{name}, ε = {planning.epsilons[e]:g}, b = {planning.adjacencies[b]}",
        labels=labels,
        series=[Series(name, [] if cell is None else cell.law.pmf.tolist(), k)],
        xlabel="number of wrong symbols" if planning.lengths is None else "edits from the true word",
        ylabel="probability",
    )


def _errors_title(planning: Planning, b: int) -> str:
    what = "errors in" if planning.lengths is None else "edits of a word of"
    return f"Expected {what} {planning.length} symbols, b = {planning.adjacencies[b]}"


def system_chart(planning: Planning, picture: Picture, cell: Cell | None) -> Network:
    """The public system with the sample word and a private one on it."""
    world = planning.world
    paths = [Path(_sample_title(planning), picture.path(world, planning.sample), 0)]
    if cell is not None:
        paths.append(Path("private 1", picture.path(world, cell.draws[0]), 1))
    return picture.network("The public system with the sample word and a private one", paths)


def plan_page(planning: Planning, *, epsilon: float, adjacency: int, coordinates: Coordinates | None = None) -> Page:
    """The report; the sliders start at `epsilon` and `adjacency`."""
    e, b = planning.epsilons.index(epsilon), planning.adjacencies.index(adjacency)
    usable = [k for k in range(len(planning.names)) if k not in planning.why_not]
    k = usable[0]
    world, n, what = planning.world, planning.length, planning.what
    try:
        picture = picture_of(world, coordinates)
        why_no_picture = None
    except TooLargeError as problem:
        picture, why_no_picture = None, str(problem)
    if world.compiled.is_free:
        picture, why_no_picture = None, "Every symbol may follow every symbol here: there is nothing to draw."
    page = Page(
        "Planning report: which ε?",
        f"What private words {'of' if planning.lengths is None else 'for words of'} {n} symbols would look like, for "
        "every mechanism, at each ε and b. Decided from the public system alone.",
        badge="Public quantities only: nothing sensitive was read. Safe to share.",
    )
    page.add("Choose ε and b", _controls(planning, e, b, k), _figures(planning), _meaning(planning))
    page.add(
        f"Expected {what} against ε",
        page.chart("errors", errors_chart(planning, b, epsilon), drawn_by_script=True),
        copyable(
            "comparison", "All mechanisms at the chosen ε and b", _compared(planning), _comparison(planning, b, e)
        ),
        tag("details", tag("summary", "All numbers for the chosen b"), _all_errors(planning, b)),
        _notes(planning),
    )
    page.add(
        f"How many {what}?",
        page.chart("distribution", distribution_chart(planning, b, e, k), drawn_by_script=True),
        tag("p", "Averaged over feasible words drawn from the public system; exact for each of them.", class_="soft"),
    )
    page.add(
        "What is promised, and why it holds",
        tag(
            "p",
            tag("strong", "The chosen mechanism protects against telling the input from "),
            tag("span", id="unit"),
            ".",
        ),
        tag("h3", "The certificate of the certified mechanism, in words"),
        tag(
            "div",
            paragraphs(planning.explained[b][e]) if planning.explained[b][e] else None,
            id="certificate",
            aria_live="polite",
        ),
        None if planning.lengths else tag("p", _QUICK, class_="soft"),
    )
    cell = planning.cells[b][e][k]
    page.add("What a private word looks like", *_words(planning, cell))
    if picture is None:
        page.add("The public system", tag("p", why_no_picture))
    else:
        page.add(
            "The public system",
            _draw_choice(),
            page.chart("system", system_chart(planning, picture, cell), drawn_by_script=True),
            tag(
                "p",
                repr(world) + ("" if coordinates else ". No coordinates were given: places say nothing."),
                class_="soft",
            ),
        )
    page.add("What is not in this report", bullets(_limits(planning)))
    page.script("plan.js", plan=_data(planning, picture))
    return page


_QUICK = "Computed with quick certificates; a release takes longer over its certificate and may have fewer errors."


def _compared(planning: Planning) -> list[str]:
    if planning.lengths is None:
        return ["mechanism", "expected errors", "share of symbols", "unchanged", "tilt θ"]
    return ["mechanism", "expected edits", "edits a symbol", "unchanged", "tilt θ", "length changes"]


def _limits(planning: Planning) -> list[str]:
    public = "The length of a word, the number"
    said = [
        f"The numbers are averages over feasible words of the public system. {planning.what.capitalize()} in your own "
        "data depend on your data: the curator's report shows them, to the curator.",
        "ε protects one word. Several words of one person add up, and so do several releases of one word.",
    ]
    if planning.lengths is not None:
        lo, hi = planning.lengths
        said.append(
            f"Other lengths than {planning.length}: the longer a word, the fewer longer ones are left. The length of a "
            f"word is protected, that it lies between {lo} and {hi} is not: do not read these off the data."
        )
        if planning.cap is not None and planning.cap < hi:
            said.append(f"How far words are from {planning.cap} edits on: those count as {planning.cap} edits here.")
        public = "The number"
    return [*said, f"{public} of words and the public system itself are not protected."]


def _controls(planning: Planning, e: int, b: int, k: int) -> Html:
    def slider(key: str, label: str, last: int, value: int, text: str) -> Html:
        return tag(
            "div",
            tag("label", f"{label}: ", tag("output", text, id=f"{key}-value", for_=key), for_=key),
            tag("input", type="range", id=key, min=0, max=last, step=1, value=value, aria_valuetext=text),
        )

    choices = [
        tag(
            "label",
            tag("input", type="radio", name="mechanism", value=i, checked=i == k, disabled=i in planning.why_not),
            f" {name}",
            class_="choice",
        )
        for i, name in enumerate(planning.names)
    ]
    return tag(
        "form",
        slider("epsilon", "Privacy parameter", len(planning.epsilons) - 1, e, f"ε = {planning.epsilons[e]:g}"),
        slider("adjacency", "Adjacency", len(planning.adjacencies) - 1, b, f"b = {planning.adjacencies[b]}"),
        tag("fieldset", tag("legend", "Mechanism"), *choices),
        tag("p", id="status", class_="visually-hidden", aria_live="polite"),
        class_="controls",
        aria_label="Settings",
    )


def _figures(planning: Planning) -> Html:
    what, edits = planning.what, planning.lengths is not None
    named = (
        ("errors", f"expected {what}"),
        ("share", "edits a symbol of the word" if edits else "share of wrong symbols"),
        ("unchanged", "word comes out unchanged"),
        ("most", f"{what} that 9 of 10 words do not exceed"),
        ("changes", "length changes") if edits else ("bound", "no mechanism errs less than"),
        ("factor", "largest likelihood ratio e^ε"),
        ("sure", "a bet at even odds is won at most"),
    )
    return tag(
        "dl",
        *(tag("div", tag("dt", label), tag("dd", "–", id=f"figure-{key}")) for key, label in named),
        class_="figures",
    )


def _meaning(planning: Planning) -> Html:
    differ = "differ in at most b symbols"
    if planning.lengths is not None:
        differ = "are at most b insertions, deletions or substitutions apart, whatever their lengths,"
    return tag(
        "p",
        f"b says who is protected: two words that {differ} are hard to tell apart. ε says how hard: no output is more "
        f"than e^ε times likelier under one of them. Smaller ε and larger b protect more, and cost {planning.what}.",
    )


def _comparison(planning: Planning, b: int, e: int) -> list[list[object]]:
    rows: list[list[object]] = []
    for name, cell in zip(planning.names, planning.cells[b][e], strict=True):
        if cell is None:
            rows.append([name, None, None, None, None])
        else:
            law = cell.law
            changes = [] if cell.kept is None else [1 - cell.kept]
            rows.append([name, law.mean, law.mean / planning.length, float(law.pmf[0]), cell.theta, *changes])
    if planning.bounds is None:
        return rows
    bound = planning.bounds[b][e].errors
    return [*rows, ["any mechanism: at least", bound, bound / planning.length, "", ""]]


def _all_errors(planning: Planning, b: int) -> Html:
    rows: list[list[object]] = [
        [f"{epsilon:g}", *(None if cell is None else cell.law.mean for cell in cells)]
        for epsilon, cells in zip(planning.epsilons, planning.cells[b], strict=True)
    ]
    headers = ["ε", *planning.names]
    if planning.bounds is not None:
        headers.append("lower bound")
        for row, bound in zip(rows, planning.bounds[b], strict=True):
            row.append(bound.errors)
    return copyable("all-errors", _errors_title(planning, b), headers, rows)


def _notes(planning: Planning) -> Html:
    if planning.bounds is None:
        said = ["A lower bound for every mechanism is not known here: what is compared are these three."]
    else:
        bound = planning.bounds[0][0]
        proved = "It is proved" if bound.proved else "It is an estimate"
        said = [
            f"Lower bound: what no ε-private mechanism can do better on average over all feasible words. {proved} "
            f"({bound.how})."
        ]
    units = {unit for row in planning.units for unit in row if unit is not None}
    if len({unit.replace("feasible ", "").removesuffix(", both words feasible") for unit in units}) < len(units):
        others = "of that length" if planning.lengths is None else "of allowed lengths"
        said.append(
            f"The certified mechanism promises among feasible words, the others among all words {others}; mind that "
            f"when you compare their {planning.what}."
        )
    said += [f"{planning.names[k]} cannot be used here: {why}" for k, why in planning.why_not.items()]
    return bullets(said)


def _places(planning: Planning, word: Word) -> list[Place]:
    """A private word beside the sample word."""
    true, private = (planning.world.encode(one).tolist() for one in (planning.sample, word))
    return (beside if planning.lengths is None else aligned)(true, private)


def _sample_title(planning: Planning) -> str:
    return "sample word" if planning.sample_given else "a feasible word"


def _words(planning: Planning, cell: Cell | None) -> list[Html]:
    width = planning.length
    if planning.lengths is not None:
        drawn = {word for rows in planning.cells for row in rows for one in row if one for word in one.draws}
        width = max(width, *(len(_places(planning, word)) for word in drawn))
    headers = ["word", planning.what, *range(1, width + 1)]
    sample = [name_of(symbol) for symbol in planning.sample]
    rows: list[list[object]] = [[_sample_title(planning), "", *sample]]
    for i, word in enumerate(() if cell is None else cell.draws):
        places = _places(planning, word)
        names = [MISSING if code is None else name_of(planning.world.symbols[code]) for code, _ in places]
        rows.append([f"private {i + 1}", sum(wrong for _, wrong in places), *names])
    marks = "Underlined: a wrong symbol."
    if planning.lengths is not None:
        marks = f"Underlined: a symbol that was replaced or inserted; {MISSING} is one that is missing."
    origin = (
        "The sample word was given as public."
        if planning.sample_given
        else "No sample word was given, so this one was drawn from the public system."
    )
    return [
        tag(
            "p",
            f"{origin} Its private words were drawn with a fixed seed, so that this page is the same each time: they "
            f"show what to expect and are no release. {marks}",
        ),
        tag("div", copyable("words", "The word and private words for it", headers, rows), class_="words"),
        facts(
            [
                (f"expected {planning.what} of this word", tag("span", id="sample-mean")),
                ("comes out unchanged", tag("span", id="sample-unchanged")),
            ]
        ),
    ]


def _draw_choice() -> Html:
    choices = [
        tag(
            "label",
            tag("input", type="radio", name="draw", value=i, checked=i == 0),
            f" private {i + 1}",
            class_="choice",
        )
        for i in range(DRAWS)
    ]
    return tag("fieldset", tag("legend", "Private word on the map"), *choices)


def _data(planning: Planning, picture: Picture | None) -> dict[str, Any]:
    """What the script of the page needs: the library's own numbers at every place of the sliders."""
    world = planning.world

    def codes(word: Word) -> list[int]:
        return [int(code) for code in world.encode(word)]

    def nodes(word: Word) -> list[int]:
        return [] if picture is None else picture.path(world, word)

    def draw_data(word: Word) -> dict[str, Any]:
        places = _places(planning, word)
        return {
            "codes": [-1 if code is None else code for code, _ in places],  # -1: a symbol is missing
            "wrong": [i for i, (_, wrong) in enumerate(places) if wrong],
            "nodes": nodes(word),
        }

    def cell_data(cell: Cell | None) -> dict[str, Any] | None:
        if cell is None:
            return None
        return {
            "mean": _digits(cell.law.mean),
            "pmf": [_digits(value) for value in cell.law.pmf],
            "q90": cell.law.quantile(0.9),
            "theta": _digits(cell.theta),
            "sample_mean": _digits(cell.sample_law.mean),
            "sample_unchanged": _digits(cell.sample_law.pmf[0]),
            "draws": [draw_data(word) for word in cell.draws],
            **({} if cell.kept is None else {"changes": _digits(1 - cell.kept)}),
        }

    return {
        "length": planning.length,
        "what": planning.what,
        "missing": MISSING,
        "symbols": [name_of(symbol) for symbol in world.symbols],
        "epsilons": planning.epsilons,
        "adjacencies": planning.adjacencies,
        "mechanisms": [
            {"name": name, "units": [row[k] for row in planning.units], "why_not": planning.why_not.get(k)}
            for k, name in enumerate(planning.names)
        ],
        "cells": [[[cell_data(cell) for cell in row] for row in rows] for rows in planning.cells],
        "bound": planning.bounds and [[_digits(bound.errors) for bound in row] for row in planning.bounds],
        "certificates": planning.explained,
        "errors": [to_json(errors_chart(planning, i)) for i in range(len(planning.adjacencies))],
        "distribution": to_json(distribution_chart(planning, 0, 0, 0)),
        "sample": {"title": _sample_title(planning), "codes": codes(planning.sample), "nodes": nodes(planning.sample)},
        "network": None if picture is None else to_json(picture.network("The public system")),
    }


def _digits(value: float) -> float:
    """Six digits; what is smaller than a millionth of a millionth is nothing."""
    return float(f"{value:.6g}") if value >= 1e-12 else 0.0
