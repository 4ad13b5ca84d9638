"""What depends on ε and b: choices, and for each pair of them a panel. The style sheet shows the chosen one.

There is no script, so every panel is in the page. The style sheet knows 16 ε and 8 b.
"""

from __future__ import annotations

from pathveil.markup import Html, short, tag
from pathveil.planning.grid import Cell, ForecastGrid
from pathveil.report.alignment import MISSING, Place, aligned, beside
from pathveil.report.chips import WRONG, place_chips, word_chips
from pathveil.report.explain import best_guess, certificate_in_words, edit_certificate_in_words, percent
from pathveil.report.page import figure, figures, listed, paragraphs
from pathveil.report.plan.charts import distribution_chart, errors_chart, sample_title
from pathveil.systems.system import Word
from pathveil.words.certificate import Certificate
from pathveil.words.distances import DistanceCertificate
from pathveil.words.edit import EditCertificate

MOST_EPSILONS, MOST_ADJACENCIES = 16, 8


def controls(grid: ForecastGrid, b: int, e: int) -> Html:
    """One choice of ε and one of b; arrow keys move them."""
    assert len(grid.epsilons) <= MOST_EPSILONS, "the style sheet knows no more"
    assert len(grid.adjacencies) <= MOST_ADJACENCIES, "the style sheet knows no more"
    return tag(
        "div",
        _choice("epsilon", "Privacy parameter ε", [f"{one:g}" for one in grid.epsilons], e),
        _choice("adjacency", "Adjacency b", [str(one) for one in grid.adjacencies], b),
        class_="controls",
        role="group",
        aria_label="Settings",
    )


def _choice(name: str, label: str, values: list[str], chosen: int) -> Html:
    radios = [
        tag(
            "label",
            tag("input", type="radio", name=name, id=f"{name}-{i}", value=value, checked=i == chosen),
            value,
        )
        for i, value in enumerate(values)
    ]
    return tag("fieldset", tag("legend", label), tag("div", *radios, class_="scale"))


def panels(grid: ForecastGrid) -> Html:
    """Everything at every ε and b."""
    shown = [
        tag(
            "div",
            *(tag("div", *_panel(grid, b, e), class_=f"at e{e}") for e in range(len(grid.epsilons))),
            class_=f"at b{b}",
        )
        for b in range(len(grid.adjacencies))
    ]
    return tag("div", *shown, aria_live="polite")


def error_figures(grid: ForecastGrid) -> Html:
    """The curves of all mechanisms for each b, each with a line at the chosen ε."""
    marks = [(epsilon, f"at e{e}") for e, epsilon in enumerate(grid.epsilons)]
    shown = [
        tag("div", figure(f"errors-b{b}", errors_chart(grid, b, marks)), class_=f"at b{b}")
        for b in range(len(grid.adjacencies))
    ]
    return tag("div", *shown)


def _panel(grid: ForecastGrid, b: int, e: int) -> list[Html | None]:
    name = grid.best(b, e)
    k = grid.names.index(name)
    cell = grid.cells[b][e][k]
    assert cell is not None  # the best one can be used
    at = f"b{b}-e{e}"
    what = f"ε = {grid.epsilons[e]:g}, b = {grid.adjacencies[b]}"
    certificate = _explained(grid, b, e)
    return [
        tag("h3", f"With ε = {grid.epsilons[e]:g} and b = {grid.adjacencies[b]}: {name}"),
        _figures(grid, cell, b, e),
        listed(f"comparison-{at}", f"All mechanisms, {what}", _compared(grid), _comparison(grid, b, e)),
        tag("p", f"The {name} mechanism protects against telling the input from {cell.unit}."),
        figure(f"distribution-{at}", distribution_chart(grid, b, e, k)),
        listed(f"words-{at}", f"A word and private words for it, {what}", ["word", grid.what, "symbols"],
               _words(grid, cell)),
        tag("details", tag("summary", "The certificate of the certified mechanism, in words"), paragraphs(certificate))
        if certificate
        else None,
    ]  # fmt: skip


def _figures(grid: ForecastGrid, cell: Cell, b: int, e: int) -> Html:
    epsilon, edits = grid.epsilons[e], grid.lengths is not None
    named = [
        ("errors", f"expected {grid.what}", short(cell.law.mean)),
        (
            "share",
            "edits a symbol of the word" if edits else "share of wrong symbols",
            percent(cell.law.mean / grid.length),
        ),
        ("unchanged", "word comes out unchanged", percent(float(cell.law.pmf[0]))),
        ("most", f"{grid.what} that 9 of 10 words do not exceed", str(cell.law.quantile(0.9))),
    ]
    if cell.kept is not None:
        named.append(("changes", "length changes", percent(1 - cell.kept)))
    if cell.distances is not None:
        named.append(("distance", "mean distance of a symbol", short(cell.distances.mean)))
    if grid.bounds is not None:
        named.append(("bound", "no mechanism errs less than", short(grid.bounds[b][e].errors)))
    named.append(("sure", "a bet at even odds is won at most", percent(best_guess(epsilon))))
    return figures(named)


def _compared(grid: ForecastGrid) -> list[str]:
    distances = [] if grid.measured is None else ["mean distance"]
    if grid.lengths is None:
        return ["mechanism", "expected errors", "share of symbols", "unchanged", "tilt θ", *distances]
    return ["mechanism", "expected edits", "edits a symbol", "unchanged", "tilt θ", "length changes"]


def _comparison(grid: ForecastGrid, b: int, e: int) -> list[list[object]]:
    rows: list[list[object]] = []
    best, columns = grid.best(b, e), len(_compared(grid))
    for name, cell in zip(grid.names, grid.cells[b][e], strict=True):
        if cell is None:
            continue  # named among what is left out
        law = cell.law
        more: list[object] = [] if cell.kept is None else [percent(1 - cell.kept)]
        more += [] if cell.distances is None else [cell.distances.mean]
        shown = tag("strong", f"{name} (best)") if name == best else name
        row: list[object] = [shown, law.mean, percent(law.mean / grid.length), percent(float(law.pmf[0])), cell.theta]
        rows.append([*row, *more, *[None] * (columns - len(row) - len(more))])
    if grid.bounds is not None:
        bound = grid.bounds[b][e].errors
        rows.append(["any mechanism: at least", bound, percent(bound / grid.length), *[""] * (columns - 3)])
    return rows


def _explained(grid: ForecastGrid, b: int, e: int) -> list[str]:
    """The certificate of the certified mechanism in words; nothing where that mechanism cannot be used."""
    cell, epsilon, adjacency = grid.cells[b][e][grid.names.index("certified")], grid.epsilons[e], grid.adjacencies[b]
    certificate = None if cell is None else cell.certificate
    if isinstance(certificate, EditCertificate) and grid.lengths is not None and grid.cap is not None:
        return edit_certificate_in_words(certificate, epsilon, adjacency, grid.lengths, grid.cap)
    if isinstance(certificate, DistanceCertificate):
        return [f"{str(certificate)[:1].upper()}{str(certificate)[1:]}."]
    return certificate_in_words(certificate, epsilon) if isinstance(certificate, Certificate) else []


def _words(grid: ForecastGrid, cell: Cell) -> list[list[object]]:
    codes = grid.world.encode(grid.sample).tolist()
    rows: list[list[object]] = [[sample_title(grid), "", word_chips(grid.world.symbols, codes)]]
    for i, word in enumerate(cell.draws):
        places = _places(grid, codes, word)
        wrong = sum(wrong for _, wrong in places)
        rows.append([f"private {i + 1}", wrong, place_chips(grid.world.symbols, places)])
    return rows


def _places(grid: ForecastGrid, sample: list[int], word: Word) -> list[Place]:
    """A private word beside the sample word."""
    return (beside if grid.lengths is None else aligned)(sample, grid.world.encode(word).tolist())


def how_words_are_shown(grid: ForecastGrid) -> str:
    """Where the sample word comes from, and what the marks mean."""
    marks = f"{WRONG} and a broken border: a wrong symbol."
    if grid.lengths is not None:
        marks = (
            f"{WRONG} and a broken border: a symbol that was replaced or inserted; {MISSING} is one that is missing."
        )
    origin = (
        "The sample word was given as public."
        if grid.sample_given
        else "No sample word was given, so this one was drawn from the public system."
    )
    return (
        f"{origin} Its private words were drawn with a fixed seed, so that this page is the same each time: they show "
        f"what to expect and are no release. {marks}"
    )
