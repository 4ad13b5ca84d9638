"""The curator's report: what the mechanism did to the data at hand. It contains sensitive data, and says so."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pathveil.markup import Html, name_of, short, tag
from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.report.alignment import MISSING, aligned, beside
from pathveil.report.charts import Bars, Heat, Series, counted_bars
from pathveil.report.chips import WRONG, place_chips, word_chips
from pathveil.report.curator.comparison import Comparison, long_run, row_differences
from pathveil.report.curator.lengths import lengths_before_and_after
from pathveil.report.curator.rows import add_rows
from pathveil.report.curator.variants import starts_and_ends, variants
from pathveil.report.explain import percent
from pathveil.report.page import Page, bullets, facts, figures, listed

ALARM = "CONTAINS SENSITIVE DATA. For the curator only. This is not a release: do not share, publish or attach it."

_SHOWN_WORDS = 25
_SHOWN_SYMBOLS = 20
_SHOWN_STATES = 40


def curator_page(found: Comparison) -> Page:
    """The report."""
    page = Page(
        "Curator's report (sensitive)",
        "Sensitive words against the private words that were made from them. Everything here depends on the "
        "sensitive file without protection.",
        alarm=ALARM,
    )
    page.add("In short", _in_short(found), _overview(found))
    if found.errors is not None:
        page.add("Sensitive and private words side by side", *_pairs(found, found.errors))
    page.add("The commonest words", *variants(found))
    page.add("How words begin and end", *starts_and_ends(page, found))
    _add_errors(page, found)
    if found.edits:
        page.add("Lengths before and after", *lengths_before_and_after(page, found))
    else:
        _add_replaced(page, found)
    page.add("How often each symbol occurs", *_shares(page, found))
    page.add("Transition matrices before and after", *_matrices(page, found))
    _add_long_runs(page, found)
    add_rows(page, found)
    return page


def _in_short(found: Comparison) -> Html:
    """How much of the release is wrong, and how much of what is counted in it."""
    named: list[tuple[str, str, str]] = []
    symbols = len(found.sensitive.codes) / len(found.sensitive)
    if found.errors is not None:
        mean = float(found.errors.mean())
        named.append(("errors", f"{found.what} a word, observed", short(mean)))
        named.append(("unchanged", "words unchanged, observed", percent(float((found.errors == 0).mean()))))
    elif found.expected_law is not None:
        mean = found.expected_law.mean
        named.append(("errors", f"{found.what} a word, expected", short(mean)))
        named.append(("unchanged", "words unchanged, expected", percent(float(found.expected_law.pmf[0]))))
    if named:
        named.insert(1, ("share", f"{found.what} a symbol", percent(mean / symbols)))
    named.append(("symbols", "distance of the shares of symbols", percent(_distance(*found.shares))))
    rows = _rows_apart(found)
    if rows is not None:
        named.append(("transitions", "distance of what follows what", percent(rows)))
    return figures(named)


def _distance(before: FloatArray, after: FloatArray) -> float:
    return float(np.abs(before - after).sum() / 2)


def _rows_apart(found: Comparison) -> float | None:
    """The total variation distance between rows of the matrices, averaged over transitions."""
    counted = (found.row_sizes[0] > 0) & (found.row_sizes[1] > 0)
    if not counted.any():
        return None
    return float(np.average(row_differences(*found.chains)[counted], weights=found.row_sizes[0][counted]))


def _overview(found: Comparison) -> Html:
    named: list[tuple[str, object]] = [
        ("sensitive words", f"{len(found.sensitive):,} with {len(found.sensitive.codes):,} symbols"),
        ("private words", f"{len(found.private):,} with {len(found.private.codes):,} symbols"),
        ("public system", repr(found.world)),
    ]
    if found.expected_distance is not None:
        named.append(("expected distance of a private symbol", f"{found.expected_distance:.4g}"))
    if found.distance is not None:
        named.append(("mean distance of a private symbol", f"{found.distance:.4g}"))
    if found.released is not None:
        named.append(("promise of the release", str(found.released.promise)))
    named.append(
        (
            "do rows belong together?",
            "yes: the release kept the order" if found.paired else f"no: {found.why_not_paired}",
        )
    )
    return facts(named)


def _pairs(found: Comparison, wrong: IntArray) -> list[Html]:
    """Rows that belong together, some of each kind: evenly spaced, then those with most errors."""
    sensitive, private = found.sensitive, found.private
    spaced = np.unique(np.linspace(0, len(sensitive) - 1, min(len(sensitive), _SHOWN_WORDS)).astype(int))
    worst = np.argsort(-wrong, kind="stable")[:10]

    def rows(numbers: Sequence[int]) -> list[list[object]]:
        return [[f"{i + 1}", int(wrong[i]), _both(found, sensitive[i].tolist(), private[i].tolist())] for i in numbers]

    headers = ["row", found.what, "words"]
    marks = f"{WRONG} and a broken border: a wrong symbol."
    if found.edits:
        marks = f"{WRONG} and a broken border: replaced or inserted; {MISSING}: a symbol is missing."
    return [
        tag(
            "p",
            "The release kept the order of the input, so row by row a private word stands with its sensitive one. "
            + marks,
        ),
        listed("pairs", "Some rows, evenly spaced", headers, rows(spaced.tolist())),
        listed("worst", f"The rows with most {found.what}", headers, rows(worst.tolist())),
    ]


def _both(found: Comparison, sensitive: list[int], private: list[int]) -> Html:
    """A sensitive word, and below it the private one with its wrong symbols marked."""
    places = (aligned if found.edits else beside)(sensitive, private)
    symbols = found.world.symbols
    shown = word_chips(symbols, sensitive, "sensitive"), place_chips(symbols, places, "private")
    return tag("div", *shown, class_="both")


def _add_errors(page: Page, found: Comparison) -> None:
    series, what = [], found.what
    counts = None if found.errors is None else np.bincount(_capped(found, found.errors))
    if counts is not None:
        series.append(Series("observed in the release", (counts / len(found.sensitive)).tolist(), 0))
    if found.expected_law is not None:
        series.append(Series("expected, exact law", found.expected_law.pmf.tolist(), 1))
    if not series:
        page.leave_out(f"{what.capitalize()}: neither the pairs nor the mechanism of the release are known.")
        return
    labels, heights = counted_bars([[value or 0.0 for value in one.values] for one in series])
    if _is_capped(found):
        labels[-1] += " or more"
    padded = [Series(one.name, values, one.style) for one, values in zip(series, heights, strict=True)]
    chart = Bars(
        "How many edits are between a private word and its own"
        if found.edits
        else "How many errors a private word has",
        labels,
        padded,
        "edits" if found.edits else "number of wrong symbols",
        "share of words",
    )
    said = []
    if found.errors is not None:
        mean, unchanged = float(found.errors.mean()), int((found.errors == 0).sum())
        said.append(f"Observed: {mean:.4g} {what} a word on average; {unchanged:,} words came out unchanged.")
    if found.expected_law is not None:
        said.append(
            f"Expected: {found.expected_law.mean:.4g} {what} a word, from the exact law of the mechanism for "
            f"{found.law_words:,} of the sensitive words."
        )
        said.append(
            "If the release was made with --max-length, give it here, too: the tilt of the mechanism depends on it."
            if not found.edits
            else "Words at or beyond the cap of the mechanism count as just that far in the expectation."
        )
    page.add(what.capitalize(), page.chart("errors", chart), bullets(said))


def _is_capped(found: Comparison) -> bool:
    mechanism = found.mechanism
    if mechanism is None or mechanism.cap is None or mechanism.accepted_lengths is None:
        return False
    return mechanism.cap < mechanism.accepted_lengths[1]


def _capped(found: Comparison, edits: IntArray) -> IntArray:
    """Edits up to the mechanism's cap, as its law has them."""
    if found.mechanism is None or found.mechanism.cap is None:
        return edits
    capped: IntArray = np.minimum(edits, found.mechanism.cap)
    return capped


def _add_replaced(page: Page, found: Comparison) -> None:
    ranked = sorted(found.replacements, key=lambda one: (-one.replaced, one.code))[:_SHOWN_SYMBOLS]
    if not ranked:
        page.leave_out("Replacements: neither the pairs nor the mechanism of the release are known, or too much work.")
        return
    names = [name_of(found.world.symbols[one.code]) for one in ranked]
    how = "replaced" if found.paired else "replacements to expect"
    shares = [one.replaced / one.occurrences for one in ranked]
    chart = Bars(
        "The symbols that are replaced most often",
        names,
        [Series(how, shares, 0)],
        "share replaced",
        "symbol",
        flat=True,
    )
    rows: list[list[object]] = [
        [name, one.occurrences, one.replaced, one.replaced / one.occurrences]
        + ([None if one.by is None else name_of(found.world.symbols[one.by])] if found.paired else [])
        for name, one in zip(names, ranked, strict=True)
    ]
    headers = ["symbol", "occurrences", how, "share"] + (["most often by"] if found.paired else [])
    note = (
        "Counted in the release."
        if found.paired
        else f"Not counted, since rows do not belong together, but computed: the exact probability for each symbol of "
        f"{found.law_words:,} sensitive words."
    )
    page.add(
        "Which symbols are replaced most often",
        tag("p", note),
        page.chart("replaced", chart),
        listed("replaced-table", "Replacements", headers, rows),
    )


def _most_frequent(found: Comparison, count: int) -> list[int]:
    order = np.argsort(-found.shares[0], kind="stable")[:count]
    return [int(i) for i in order]


def _shares(page: Page, found: Comparison) -> list[Html]:
    chosen = _most_frequent(found, _SHOWN_SYMBOLS)
    distance = _distance(*found.shares)
    return [
        page.chart("shares", _before_after(found, chosen, found.shares, "Share of each symbol among all symbols")),
        tag("p", f"Total variation distance between the two distributions over all symbols: {distance:.3g}."),
    ]


def _before_after(found: Comparison, chosen: list[int], pair: tuple[FloatArray, FloatArray], title: str) -> Bars:
    return Bars(
        title,
        [name_of(found.world.symbols[i]) for i in chosen],
        [Series("sensitive", pair[0][chosen].tolist(), 0), Series("private", pair[1][chosen].tolist(), 1)],
        "share",
        "symbol",
        flat=True,
    )


def _matrices(page: Page, found: Comparison) -> list[Html]:
    m = len(found.world.symbols)
    chosen = sorted(_most_frequent(found, _SHOWN_STATES)) if m > _SHOWN_STATES else list(range(m))
    names = [name_of(found.world.symbols[i]) for i in chosen]
    parts = [] if len(chosen) == m else [tag("p", f"The {_SHOWN_STATES} most frequent of {m:,} symbols.")]
    named = {"sensitive": found.chains[0], "private": found.chains[1]}
    if found.model is not None:
        named["model"] = found.model
    tables = {name: chain.matrix[chosen][:, chosen].toarray().round(6) for name, chain in named.items()}
    darkest = max(float(values.max()) for values in tables.values())
    for name, values in tables.items():
        title = "The private model" if name == "model" else f"Transitions of the {name} words"
        parts.append(page.chart(f"matrix-{name}", Heat(title, names, values.tolist(), "to", "from", darkest)))
    apart = _rows_apart(found)
    if apart is not None:
        parts.append(tag("p", f"Total variation distance between the rows, averaged over transitions: {apart:.3g}."))
    return parts


def _add_long_runs(page: Page, found: Comparison) -> None:
    before, after = long_run(found.chains[0]), long_run(found.chains[1])
    if before is None or after is None:
        which = "sensitive" if before is None else "private"
        page.leave_out(f"The long run before and after: the chain of the {which} words has no single one.")
        return
    order = [int(i) for i in np.argsort(-before, kind="stable")[:_SHOWN_SYMBOLS]]
    page.add(
        "The long run before and after",
        tag("p", "The stationary distribution of the chain that is fitted to the words, without protection."),
        page.chart("stationary", _before_after(found, order, (before, after), "Stationary distribution")),
        tag("p", f"Total variation distance: {_distance(before, after):.3g}."),
    )
