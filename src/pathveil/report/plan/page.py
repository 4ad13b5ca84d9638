"""The page: what to do first, then every figure behind it, and at the end what is not known."""

from __future__ import annotations

from pathveil.errors import TooLargeError
from pathveil.markup import tag
from pathveil.planning.distances import Measured
from pathveil.planning.grid import ForecastGrid
from pathveil.report.layout import Coordinates, Picture, picture_of
from pathveil.report.page import Page, bullets
from pathveil.report.plan.advice import advice
from pathveil.report.plan.charts import distribution_chart, errors_chart, system_chart
from pathveil.report.plan.chosen import controls, error_figures, how_words_are_shown, panels
from pathveil.report.plan.models import add_models

_QUICK = "Computed with quick certificates; a release takes longer over its certificate and may have fewer errors."


def plan_page(
    grid: ForecastGrid,
    *,
    epsilon: float,
    adjacency: int,
    coordinates: Coordinates | None = None,
    words: int | None = None,
) -> Page:
    """The report; it recommends for `epsilon` and `adjacency`, and shows the others.

    `words` is how many words there are, for models of all of them: public, or a guess that does not come from the data.
    """
    e, b = grid.epsilons.index(epsilon), grid.adjacencies.index(adjacency)
    best = grid.names.index(grid.best(b, e))
    picture, why_no_picture = _picture(grid, coordinates)
    page = Page(
        "Planning report: which ε?",
        f"What private words {'of' if grid.lengths is None else 'for words of'} {grid.length} symbols would look like, "
        "for every mechanism, at each ε and b. Decided from the public system alone.",
        badge="Public quantities only: nothing sensitive was read. Safe to share.",
    )
    page.charts["errors"] = errors_chart(grid, b, [(epsilon, "")])
    page.charts["distribution"] = distribution_chart(grid, b, e, best)
    page.add("Recommendation", *advice(grid, b, e))
    page.add(
        "Choose ε and b",
        _meaning(grid),
        controls(grid, b, e),
        panels(grid),
        tag("p", how_words_are_shown(grid), class_="soft"),
        tag(
            "p",
            f"{grid.what.capitalize()} are averaged over feasible words drawn from the public system; exact for each "
            "of them.",
            class_="soft",
        ),
        None if grid.lengths else tag("p", _QUICK, class_="soft"),
    )
    page.add(f"Expected {grid.what} against ε", error_figures(grid), bullets(_notes(grid)))
    if grid.measured is not None:
        page.add("How far from the true symbol?", tag("p", _distances(grid, grid.measured)))
    add_models(page, grid, words)
    if picture is None:
        page.leave_out(f"A picture of the public system: {why_no_picture}")
    else:
        unplaced = "" if coordinates else ". No coordinates were given: places say nothing."
        drawn = page.chart("system", system_chart(grid, picture, grid.cells[b][e][best]))
        page.add("The public system", drawn, tag("p", repr(grid.world) + unplaced, class_="soft"))
    page.add("What these numbers do not say", bullets(_limits(grid)))
    for k, why in grid.why_not.items():
        page.leave_out(f"{grid.names[k]} cannot be used here: {why}")
    if grid.bounds is None:
        page.leave_out("A lower bound for every mechanism: it is not known here.")
    return page


def _picture(grid: ForecastGrid, coordinates: Coordinates | None) -> tuple[Picture | None, str | None]:
    """The picture of the public system; or None, and why there is none."""
    try:
        # Also where nothing is drawn: an error names coordinates that are wrong.
        picture, why_not = picture_of(grid.world, coordinates), None
    except TooLargeError as problem:
        picture, why_not = None, str(problem)
    if grid.world.compiled.is_free:
        return None, "every symbol may follow every symbol."
    return picture, why_not


def _meaning(grid: ForecastGrid) -> object:
    differ = "differ in at most b symbols"
    if grid.lengths is not None:
        differ = "are at most b insertions, deletions or substitutions apart, whatever their lengths,"
    return tag(
        "p",
        f"b says who is protected: two words that {differ} are hard to tell apart. ε says how hard: no output is more "
        f"than e^ε times likelier under one of them. Smaller ε and larger b protect more, and cost {grid.what}.",
    )


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


def _distances(grid: ForecastGrid, measured: Measured) -> str:
    unit = "however far they are moved" if measured.within is None else f"each moved by at most {measured.within:g}"
    said = (
        f"Symbols are protected {unit}. From a distance of {measured.distance.radius:g} on all are equally far. The "
        "mean distance of a private symbol, in the units of the coordinates, is in the tables above."
    )
    if measured.within is not None:
        alone = measured.distance.ordered(grid.world.symbols).within(measured.within).alone
        said += f" {alone:,} of {len(grid.world.symbols):,} symbols have no other that near: they are not protected."
    return said


def _notes(grid: ForecastGrid) -> list[str]:
    said = []
    if grid.bounds is not None:
        bound = grid.bounds[0][0]
        proved = "It is proved" if bound.proved else "It is an estimate"
        said.append(
            f"Lower bound: what no ε-private mechanism can do better on average over all feasible words. {proved} "
            f"({bound.how})."
        )
    units = {cell.unit for rows in grid.cells for row in rows for cell in row if cell is not None}
    if len({unit.replace("feasible ", "").removesuffix(", both words feasible") for unit in units}) < len(units):
        others = "of that length" if grid.lengths is None else "of allowed lengths"
        said.append(
            f"The certified mechanism promises among feasible words, the others among all words {others}; mind that "
            f"when you compare their {grid.what}."
        )
    said.append("“=” joins the names of curves that lie on each other.")
    return said
