"""The planning report: what each ε and b would cost, before anything sensitive is read. Safe to share."""

from __future__ import annotations

from typing import Any

from pathveil.errors import TooLargeError
from pathveil.markup import Html, name_of, tag
from pathveil.planning.distances import Measured
from pathveil.planning.grid import DRAWS, Cell, ForecastGrid
from pathveil.report.alignment import MISSING, Place, aligned, beside
from pathveil.report.charts import Bars, Lines, Network, Path, Series, to_json
from pathveil.report.explain import certificate_in_words, edit_certificate_in_words
from pathveil.report.layout import Coordinates, Picture, picture_of
from pathveil.report.page import Page, bullets, copyable, facts, paragraphs
from pathveil.systems.system import Word
from pathveil.words.certificate import Certificate
from pathveil.words.distances import DistanceCertificate
from pathveil.words.edit import EditCertificate

_BOUND_STYLE = 4


def errors_chart(grid: ForecastGrid, b: int, mark: float | None = None) -> Lines:
    """Expected errors against ε for every mechanism, and what no mechanism can do better, where that is known."""
    series = [Series(name, grid.means(b, k), k) for k, name in enumerate(grid.names)]
    if grid.bounds is not None:
        bounds = [bound.errors for bound in grid.bounds[b]]
        series.append(Series("lower bound for any mechanism", bounds, _BOUND_STYLE))
    return Lines(
        title=_errors_title(grid, b),
        x=grid.epsilons,
        series=[one for one in series if any(value is not None for value in one.values)],
        xlabel="ε",
        ylabel=f"expected {grid.what}",
        xscale="log",
        yscale="log",
        mark=mark,
    )


def distribution_chart(grid: ForecastGrid, b: int, e: int, k: int) -> Bars:
    """How many errors a private word has, with which probability."""
    cell = grid.cells[b][e][k]
    last = grid.length if grid.cap is None else grid.cap
    labels = [str(errors) for errors in range(last + 1)]
    if grid.lengths is not None and last < grid.lengths[1]:
        labels[-1] += " or more"
    name = grid.names[k]
    return Bars(
        title=f"{name}, ε = {grid.epsilons[e]:g}, b = {grid.adjacencies[b]}",
        labels=labels,
        series=[Series(name, [] if cell is None else cell.law.pmf.tolist(), k)],
        xlabel="number of wrong symbols" if grid.lengths is None else "edits from the true word",
        ylabel="probability",
    )


def _errors_title(grid: ForecastGrid, b: int) -> str:
    what = "errors in" if grid.lengths is None else "edits of a word of"
    return f"Expected {what} {grid.length} symbols, b = {grid.adjacencies[b]}"


def system_chart(grid: ForecastGrid, picture: Picture, cell: Cell | None) -> Network:
    """The public system with the sample word and a private one on it."""
    world = grid.world
    paths = [Path(_sample_title(grid), picture.path(world, grid.sample), 0)]
    if cell is not None:
        paths.append(Path("private 1", picture.path(world, cell.draws[0]), 1))
    return picture.network("The public system with the sample word and a private one", paths)


def plan_page(grid: ForecastGrid, *, epsilon: float, adjacency: int, coordinates: Coordinates | None = None) -> Page:
    """The report; the sliders start at `epsilon` and `adjacency`."""
    e, b = grid.epsilons.index(epsilon), grid.adjacencies.index(adjacency)
    usable = [k for k in range(len(grid.names)) if k not in grid.why_not]
    k = usable[0]
    cell = grid.cells[b][e][k]
    picture, why_no_picture = _picture(grid, coordinates)
    page = Page(
        "Planning report: which ε?",
        f"What private words {'of' if grid.lengths is None else 'for words of'} {grid.length} symbols would look like, "
        "for every mechanism, at each ε and b. Decided from the public system alone.",
        badge="Public quantities only: nothing sensitive was read. Safe to share.",
    )
    page.add("Choose ε and b", _controls(grid, e, b, k), _figures(grid), _meaning(grid))
    page.add(
        f"Expected {grid.what} against ε",
        page.chart("errors", errors_chart(grid, b, epsilon), drawn_by_script=True),
        _best(grid, b, e),
        copyable("comparison", "All mechanisms at the chosen ε and b", _compared(grid), _comparison(grid, b, e)),
        tag("details", tag("summary", "All numbers for the chosen b"), _all_errors(grid, b)),
        _notes(grid),
    )
    if grid.measured is not None:
        page.add("How far from the true symbol?", *_distances(grid, b, grid.measured))
    page.add(
        f"How many {grid.what}?",
        page.chart("distribution", distribution_chart(grid, b, e, k), drawn_by_script=True),
        tag("p", "Averaged over feasible words drawn from the public system; exact for each of them.", class_="soft"),
    )
    page.add("What is promised, and why it holds", *_promise(grid, b, e))
    page.add("What a private word looks like", *_words(grid, cell))
    if picture is None:
        page.add("The public system", tag("p", why_no_picture))
    else:
        chart = page.chart("system", system_chart(grid, picture, cell), drawn_by_script=True)
        unplaced = "" if coordinates else ". No coordinates were given: places say nothing."
        page.add("The public system", _draw_choice(), chart, tag("p", repr(grid.world) + unplaced, class_="soft"))
    page.add("What is not in this report", bullets(_limits(grid)))
    page.script("plan.js", plan=_data(grid, picture))
    return page


def _picture(grid: ForecastGrid, coordinates: Coordinates | None) -> tuple[Picture | None, str | None]:
    """The picture of the public system; or None, and why there is none."""
    try:
        # Also where nothing is drawn: an error names coordinates that are wrong.
        picture, why_not = picture_of(grid.world, coordinates), None
    except TooLargeError as problem:
        picture, why_not = None, str(problem)
    if grid.world.compiled.is_free:
        return None, "Every symbol may follow every symbol here: there is nothing to draw."
    return picture, why_not


def _promise(grid: ForecastGrid, b: int, e: int) -> list[Html | None]:
    """What the chosen mechanism promises (the script fills in its unit), and the proof for the certified one."""
    explained = _explained(grid, b, e)
    return [
        tag(
            "p",
            tag("strong", "The chosen mechanism protects against telling the input from "),
            tag("span", id="unit"),
            ".",
        ),
        tag("h3", "The certificate of the certified mechanism, in words"),
        tag("div", paragraphs(explained) if explained else None, id="certificate", aria_live="polite"),
        None if grid.lengths else tag("p", _QUICK, class_="soft"),
    ]


def _explained(grid: ForecastGrid, b: int, e: int) -> list[str]:
    """The certificate of the certified mechanism in words; nothing where that mechanism cannot be used."""
    cell, epsilon, adjacency = grid.cells[b][e][grid.names.index("certified")], grid.epsilons[e], grid.adjacencies[b]
    certificate = None if cell is None else cell.certificate
    if isinstance(certificate, EditCertificate) and grid.lengths is not None and grid.cap is not None:
        return edit_certificate_in_words(certificate, epsilon, adjacency, grid.lengths, grid.cap)
    if isinstance(certificate, DistanceCertificate):
        return [f"{str(certificate)[:1].upper()}{str(certificate)[1:]}."]
    return certificate_in_words(certificate, epsilon) if isinstance(certificate, Certificate) else []


_QUICK = "Computed with quick certificates; a release takes longer over its certificate and may have fewer errors."


def _compared(grid: ForecastGrid) -> list[str]:
    if grid.lengths is None:
        return ["mechanism", "expected errors", "share of symbols", "unchanged", "tilt θ"]
    return ["mechanism", "expected edits", "edits a symbol", "unchanged", "tilt θ", "length changes"]


def _limits(grid: ForecastGrid) -> list[str]:
    public = "The length of a word, the number"
    said = [
        f"The numbers are averages over feasible words of the public system. {grid.what.capitalize()} in your own "
        "data depend on your data: the curator's report shows them, to the curator.",
        "ε protects one word. Several words of one person add up, and so do several releases of one word.",
    ]
    if grid.lengths is not None:
        lo, hi = grid.lengths
        said.append(
            f"Other lengths than {grid.length}: the longer a word, the fewer longer ones are left. The length of a "
            f"word is protected, that it lies between {lo} and {hi} is not: do not read these off the data."
        )
        if grid.cap is not None and grid.cap < hi:
            said.append(f"How far words are from {grid.cap} edits on: those count as {grid.cap} edits here.")
        public = "The number"
    return [*said, f"{public} of words and the public system itself are not protected."]


def _controls(grid: ForecastGrid, e: int, b: int, k: int) -> Html:
    def slider(key: str, label: str, last: int, value: int, text: str) -> Html:
        return tag(
            "div",
            tag("label", f"{label}: ", tag("output", text, id=f"{key}-value", for_=key), for_=key),
            tag("input", type="range", id=key, min=0, max=last, step=1, value=value, aria_valuetext=text),
        )

    choices = [
        tag(
            "label",
            tag("input", type="radio", name="mechanism", value=i, checked=i == k, disabled=i in grid.why_not),
            f" {name}",
            class_="choice",
        )
        for i, name in enumerate(grid.names)
    ]
    return tag(
        "form",
        slider("epsilon", "Privacy parameter", len(grid.epsilons) - 1, e, f"ε = {grid.epsilons[e]:g}"),
        slider("adjacency", "Adjacency", len(grid.adjacencies) - 1, b, f"b = {grid.adjacencies[b]}"),
        tag("fieldset", tag("legend", "Mechanism"), *choices),
        tag("p", id="status", class_="visually-hidden", aria_live="polite"),
        class_="controls",
        aria_label="Settings",
    )


def _figures(grid: ForecastGrid) -> Html:
    what, edits = grid.what, grid.lengths is not None
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


def _meaning(grid: ForecastGrid) -> Html:
    differ = "differ in at most b symbols"
    if grid.lengths is not None:
        differ = "are at most b insertions, deletions or substitutions apart, whatever their lengths,"
    return tag(
        "p",
        f"b says who is protected: two words that {differ} are hard to tell apart. ε says how hard: no output is more "
        f"than e^ε times likelier under one of them. Smaller ε and larger b protect more, and cost {grid.what}.",
    )


def _comparison(grid: ForecastGrid, b: int, e: int) -> list[list[object]]:
    rows: list[list[object]] = []
    for name, cell in zip(grid.names, grid.cells[b][e], strict=True):
        if cell is None:
            rows.append([name, None, None, None, None])
        else:
            law = cell.law
            changes = [] if cell.kept is None else [1 - cell.kept]
            rows.append([name, law.mean, law.mean / grid.length, float(law.pmf[0]), cell.theta, *changes])
    if grid.bounds is None:
        return rows
    bound = grid.bounds[b][e].errors
    return [*rows, ["any mechanism: at least", bound, bound / grid.length, "", ""]]


def _distances(grid: ForecastGrid, b: int, measured: Measured) -> list[Html]:
    rows: list[list[object]] = [
        [f"{epsilon:g}", *(None if cell is None else cell.mean for cell in cells)]
        for epsilon, cells in zip(grid.epsilons, grid.cells[b], strict=True)
    ]
    title = f"Mean distance of a private symbol, in the units of the coordinates, b = {grid.adjacencies[b]}"
    unit = "however far they are moved" if measured.within is None else f"each moved by at most {measured.within:g}"
    said = f"Symbols are protected {unit}. From a distance of {measured.distance.radius:g} on all are equally far."
    if measured.within is not None:
        alone = measured.distance.ordered(grid.world.symbols).within(measured.within).alone
        said += f" {alone:,} of {len(grid.world.symbols):,} symbols have no other that near: they are not protected."
    return [tag("p", said), copyable("distances", title, ["ε", *grid.names], rows)]


def _best(grid: ForecastGrid, b: int, e: int) -> Html:
    return tag(
        "p",
        f"{'Fewest expected ' + grid.what if grid.measured is None else 'Nearest'} at the chosen ε and b: ",
        tag("strong", grid.best(b, e), id="best"),
        ". That is the one that pathveil privatize takes unless told otherwise.",
    )


def _all_errors(grid: ForecastGrid, b: int) -> Html:
    rows: list[list[object]] = [
        [f"{epsilon:g}", *(None if cell is None else cell.law.mean for cell in cells)]
        for epsilon, cells in zip(grid.epsilons, grid.cells[b], strict=True)
    ]
    headers = ["ε", *grid.names]
    if grid.bounds is not None:
        headers.append("lower bound")
        for row, bound in zip(rows, grid.bounds[b], strict=True):
            row.append(bound.errors)
    return copyable("all-errors", _errors_title(grid, b), headers, rows)


def _notes(grid: ForecastGrid) -> Html:
    if grid.bounds is None:
        said = [f"A lower bound for every mechanism is not known here: compared are these {len(grid.names)}."]
    else:
        bound = grid.bounds[0][0]
        proved = "It is proved" if bound.proved else "It is an estimate"
        said = [
            f"Lower bound: what no ε-private mechanism can do better on average over all feasible words. {proved} "
            f"({bound.how})."
        ]
    units = {cell.unit for rows in grid.cells for row in rows for cell in row if cell is not None}
    if len({unit.replace("feasible ", "").removesuffix(", both words feasible") for unit in units}) < len(units):
        others = "of that length" if grid.lengths is None else "of allowed lengths"
        said.append(
            f"The certified mechanism promises among feasible words, the others among all words {others}; mind that "
            f"when you compare their {grid.what}."
        )
    said += [f"{grid.names[k]} cannot be used here: {why}" for k, why in grid.why_not.items()]
    return bullets(said)


def _places(grid: ForecastGrid, word: Word) -> list[Place]:
    """A private word beside the sample word."""
    true, private = (grid.world.encode(one).tolist() for one in (grid.sample, word))
    return (beside if grid.lengths is None else aligned)(true, private)


def _sample_title(grid: ForecastGrid) -> str:
    return "sample word" if grid.sample_given else "a feasible word"


def _words(grid: ForecastGrid, cell: Cell | None) -> list[Html]:
    width = grid.length
    if grid.lengths is not None:
        drawn = {word for rows in grid.cells for row in rows for one in row if one for word in one.draws}
        width = max(width, *(len(_places(grid, word)) for word in drawn))
    headers = ["word", grid.what, *range(1, width + 1)]
    sample = [name_of(symbol) for symbol in grid.sample]
    rows: list[list[object]] = [[_sample_title(grid), "", *sample]]
    for i, word in enumerate(() if cell is None else cell.draws):
        places = _places(grid, word)
        names = [MISSING if code is None else name_of(grid.world.symbols[code]) for code, _ in places]
        rows.append([f"private {i + 1}", sum(wrong for _, wrong in places), *names])
    marks = "Underlined: a wrong symbol."
    if grid.lengths is not None:
        marks = f"Underlined: a symbol that was replaced or inserted; {MISSING} is one that is missing."
    origin = (
        "The sample word was given as public."
        if grid.sample_given
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
                (f"expected {grid.what} of this word", tag("span", id="sample-mean")),
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


def _data(grid: ForecastGrid, picture: Picture | None) -> dict[str, Any]:
    """What the script of the page needs: the library's own numbers at every place of the sliders."""
    world = grid.world

    def codes(word: Word) -> list[int]:
        return [int(code) for code in world.encode(word)]

    def nodes(word: Word) -> list[int]:
        return [] if picture is None else picture.path(world, word)

    def draw_data(word: Word) -> dict[str, Any]:
        places = _places(grid, word)
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
        "length": grid.length,
        "what": grid.what,
        "missing": MISSING,
        "symbols": [name_of(symbol) for symbol in world.symbols],
        "epsilons": grid.epsilons,
        "adjacencies": grid.adjacencies,
        "mechanisms": [
            {
                "name": name,
                "units": [grid.unit(b, k) for b in range(len(grid.adjacencies))],
                "why_not": grid.why_not.get(k),
            }
            for k, name in enumerate(grid.names)
        ],
        "cells": [[[cell_data(cell) for cell in row] for row in rows] for rows in grid.cells],
        "best": [[grid.best(b, e) for e in range(len(grid.epsilons))] for b in range(len(grid.adjacencies))],
        "bound": grid.bounds and [[_digits(bound.errors) for bound in row] for row in grid.bounds],
        "certificates": [
            [_explained(grid, b, e) for e in range(len(grid.epsilons))] for b in range(len(grid.adjacencies))
        ],
        "errors": [to_json(errors_chart(grid, i)) for i in range(len(grid.adjacencies))],
        "distribution": to_json(distribution_chart(grid, 0, 0, 0)),
        "sample": {"title": _sample_title(grid), "codes": codes(grid.sample), "nodes": nodes(grid.sample)},
        "network": None if picture is None else to_json(picture.network("The public system")),
    }


def _digits(value: float) -> float:
    """Six digits; what is smaller than a millionth of a millionth is nothing."""
    return float(f"{value:.6g}") if value >= 1e-12 else 0.0
