"""The curator's report: what the mechanism did to the data at hand. It contains sensitive data, and says so."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pathveil.errors import PathVeilError
from pathveil.markup import Html, joined, name_of, tag
from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.planning.compare_models import compare_models
from pathveil.report.alignment import MISSING, aligned, beside
from pathveil.report.charts import Bars, Heat, Series
from pathveil.report.curator.comparison import Comparison, Words, long_run, row_differences
from pathveil.report.curator.lengths import lengths_before_and_after
from pathveil.report.page import Page, bullets, copyable, facts
from pathveil.systems.markov_chain import MarkovChain

ALARM = "CONTAINS SENSITIVE DATA. For the curator only. This is not a release: do not share, publish or attach it."

_SHOWN_WORDS = 25
_SHOWN_SYMBOLS = 20
_SHOWN_STATES = 40
_LONGEST = 40  # symbols of a word that are shown
_DELTA = 1e-6


def curator_page(found: Comparison) -> Page:
    """The report."""
    page = Page(
        "Curator's report (sensitive)",
        "Sensitive words against the private words that were made from them. Everything here depends on the "
        "sensitive file without protection.",
        alarm=ALARM,
    )
    page.add("What is compared", _overview(found))
    page.add(
        "Sensitive and private words side by side",
        *(_distinct(found) if found.errors is None else _pairs(found, found.errors)),
    )
    page.add("Edits" if found.edits else "Errors", *_errors(page, found))
    if found.edits:
        page.add("Lengths before and after", *lengths_before_and_after(page, found))
    else:
        page.add("Which symbols are replaced most often", *_replaced(page, found))
    page.add("How often each symbol occurs", *_shares(page, found))
    page.add("Transition matrices before and after", *_matrices(page, found))
    page.add("The long run before and after", *_long_runs(page, found))
    page.add("The rows that limit a model", *_rows(page, found))
    return page


def _overview(found: Comparison) -> Html:
    listed: list[tuple[str, object]] = [
        ("sensitive words", f"{len(found.sensitive):,} with {len(found.sensitive.codes):,} symbols"),
        ("private words", f"{len(found.private):,} with {len(found.private.codes):,} symbols"),
        ("public system", repr(found.world)),
    ]
    if found.expected_distance is not None:
        listed.append(("expected distance of a private symbol", f"{found.expected_distance:.4g}"))
    if found.distance is not None:
        listed.append(("mean distance of a private symbol", f"{found.distance:.4g}"))
    if found.released is not None:
        listed.append(("promise of the release", str(found.released.promise)))
    listed.append(
        (
            "do rows belong together?",
            "yes: the release kept the order" if found.paired else f"no: {found.why_not_paired}",
        )
    )
    return facts(listed)


def _spelled(found: Comparison, codes: Sequence[int]) -> str:
    names = [name_of(found.world.symbols[code]) for code in codes[:_LONGEST]]
    return " ".join(names) + (" …" if len(codes) > _LONGEST else "")


def _pairs(found: Comparison, wrong: IntArray) -> list[Html]:
    """Rows that belong together, some of each kind: evenly spaced, then those with most errors."""
    sensitive, private = found.sensitive, found.private
    spaced = np.unique(np.linspace(0, len(sensitive) - 1, min(len(sensitive), _SHOWN_WORDS)).astype(int))
    worst = np.argsort(-wrong, kind="stable")[:10]

    def rows(numbers: Sequence[int]) -> list[list[object]]:
        return [
            [f"{i + 1}", int(wrong[i]), _spelled(found, sensitive[i].tolist()), _marked(found, sensitive, private, i)]
            for i in numbers
        ]

    what = _what(found)
    headers = ["row", what, "sensitive", "private"]
    marks = f" Underlined: replaced or inserted; {MISSING}: a symbol is missing." if found.edits else ""
    return [
        tag(
            "p",
            "The release kept the order of the input, so row by row a private word stands beside its sensitive one."
            + marks,
        ),
        tag("div", copyable("pairs", "Some rows, evenly spaced", headers, rows(spaced.tolist())), class_="words"),
        tag("div", copyable("worst", f"The rows with most {what}", headers, rows(worst.tolist())), class_="words"),
    ]


def _marked(found: Comparison, sensitive: Words, private: Words, i: int) -> Html:
    """A private word with its wrong symbols underlined."""
    places = (aligned if found.edits else beside)(sensitive[i].tolist(), private[i].tolist())
    parts: list[object] = []
    for code, wrong in places[:_LONGEST]:
        name = MISSING if code is None else name_of(found.world.symbols[code])
        parts += [" " if parts else "", tag("span", name, class_="wrong") if wrong else name]
    return joined([*parts, " …" if len(places) > _LONGEST else ""])


def _distinct(found: Comparison) -> list[Html]:
    """Rows do not belong together: how often does each word occur here and there?"""
    before, after = found.sensitive.counted(), found.private.counted()
    kept = sum(count for word, count in after.items() if word in before)
    rows: list[list[object]] = []
    for word, count in before.most_common(_SHOWN_WORDS):
        codes = np.frombuffer(word, dtype=np.int32).tolist()
        rows.append([_spelled(found, codes), count, after[word], *_forecast(found, codes)])
    headers = ["word", "times, sensitive", "times, private", f"expected {_what(found)}", "comes out unchanged"]
    return [
        tag(
            "p",
            f"Rows cannot be put side by side: {found.why_not_paired}. What can be compared are the words themselves.",
            class_="note",
        ),
        tag(
            "div",
            copyable("distinct", "The most frequent sensitive words, and how often they were released", headers, rows),
            class_="words",
        ),
        bullets(
            [
                f"{len(before):,} different words are in the sensitive file and {len(after):,} in the release.",
                f"{kept:,} of {len(found.private):,} private words also occur in the sensitive file. Whether such a "
                "word came from itself, nobody can tell from the release.",
            ]
        ),
    ]


def _forecast(found: Comparison, codes: list[int]) -> list[object]:
    if found.mechanism is None:
        return [None, None]
    try:
        law = found.mechanism.error_law(found.world.decode(codes))
    except PathVeilError:
        return [None, None]
    return [law.mean, float(law.pmf[0])]


def _what(found: Comparison) -> str:
    return "edits" if found.edits else "errors"


def _errors(page: Page, found: Comparison) -> list[Html]:
    series, what = [], _what(found)
    counts = None if found.errors is None else np.bincount(_capped(found, found.errors))
    if counts is not None:
        series.append(Series("observed in the release", (counts / len(found.sensitive)).tolist(), 0))
    if found.expected_law is not None:
        series.append(Series("expected, exact law", found.expected_law.pmf.tolist(), 1))
    if not series:
        return [tag("p", "Neither the pairs nor the mechanism of the release are known: errors cannot be told.")]
    longest = max(len(one.values) for one in series)
    labels = [str(i) for i in range(longest)]
    if _is_capped(found):
        labels[-1] += " or more"
    padded = [Series(one.name, [*one.values, *[0.0] * (longest - len(one.values))], one.style) for one in series]
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
    else:
        said.append("Nothing is observed here, since rows do not belong together.")
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
    return [page.chart("errors", chart), bullets(said)]


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


def _replaced(page: Page, found: Comparison) -> list[Html]:
    ranked = sorted(found.replacements, key=lambda one: (-one.replaced, one.code))[:_SHOWN_SYMBOLS]
    if not ranked:
        return [tag("p", "Neither the pairs nor the mechanism of the release are known: replacements cannot be told.")]
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
    return [tag("p", note), page.chart("replaced", chart), copyable("replaced-table", "Replacements", headers, rows)]


def _most_frequent(found: Comparison, count: int) -> list[int]:
    order = np.argsort(-found.shares[0], kind="stable")[:count]
    return [int(i) for i in order]


def _shares(page: Page, found: Comparison) -> list[Html]:
    chosen = _most_frequent(found, _SHOWN_SYMBOLS)
    distance = float(np.abs(found.shares[0] - found.shares[1]).sum() / 2)
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
    for name, chain in named.items():
        values = chain.matrix[chosen][:, chosen].toarray().round(6).tolist()
        title = "The private model" if name == "model" else f"Transitions of the {name} words"
        parts.append(page.chart(f"matrix-{name}", Heat(title, names, values, "to", "from")))
    counted = (found.row_sizes[0] > 0) & (found.row_sizes[1] > 0)
    gaps = row_differences(*found.chains)
    if counted.any():
        mean = float(np.average(gaps[counted], weights=found.row_sizes[0][counted]))
        parts.append(tag("p", f"Total variation distance between the rows, averaged over transitions: {mean:.3g}."))
    return parts


def _long_runs(page: Page, found: Comparison) -> list[Html]:
    (before, why_before), (after, why_after) = long_run(found.chains[0]), long_run(found.chains[1])
    if before is None or after is None:
        which, why = ("sensitive", why_before) if before is None else ("private", why_after)
        return [tag("p", f"There is no single long run of the {which} words: {why}")]
    order = [int(i) for i in np.argsort(-before, kind="stable")[:_SHOWN_SYMBOLS]]
    return [
        tag("p", "The stationary distribution of the chain that is fitted to the words, without protection."),
        page.chart("stationary", _before_after(found, order, (before, after), "Stationary distribution")),
        tag("p", f"Total variation distance: {float(np.abs(before - after).sum() / 2):.3g}."),
    ]


def _rows(page: Page, found: Comparison) -> list[Html]:
    """Small rows get large errors, whatever the mechanism: which are they, and how large is the error?"""
    sizes = found.row_sizes[0]
    if not sizes.any():
        return [tag("p", "The words have no transitions.")]
    parts = []
    if found.model is not None:
        parts += _model_rows(found, found.model)
    epsilon = 1.0 if found.released is None else found.released.promise.epsilon
    successors = _successors(found)
    try:
        forecasts = compare_models(sizes.tolist(), successors=successors, epsilon=epsilon, delta=_DELTA)
    except PathVeilError as problem:
        return [*parts, tag("p", f"No forecast: {problem}")]
    seen = np.flatnonzero(sizes)
    order = [int(i) for i in seen[np.argsort(sizes[seen], kind="stable")][:_SHOWN_SYMBOLS]]
    rows: list[list[object]] = [
        [name_of(found.world.symbols[i]), int(sizes[i]), successors[i], *(float(one.row_rmse[i]) for one in forecasts)]
        for i in order
    ]
    headers = ["state", "transitions", "possible successors", *(f"error, {one.mechanism}" for one in forecasts)]
    chart = Bars(
        "The smallest rows",
        [str(row[0]) for row in rows],
        [Series("transitions from the state", [float(sizes[i]) for i in order], 0)],
        "transitions",
        "state",
        flat=True,
    )
    return [
        *parts,
        tag(
            "p",
            "A model is as good as its rows, and a row with few transitions is bad under every mechanism. Merge such "
            "states, or spend more. Forecast: the root mean square error of a probability, for unit “transition” at "
            f"ε = {epsilon:g} and δ = {_DELTA:g} (discrete Laplace noise spends no δ).",
        ),
        page.chart("rows", chart),
        copyable("rows-table", "The rows with fewest transitions", headers, rows),
        tag(
            "p",
            f"{int((sizes == 0).sum()):,} of {len(sizes):,} states have no transition at all: a model says nothing "
            "about them.",
        ),
    ]


def _successors(found: Comparison) -> list[int]:
    """How many symbols can follow each symbol in the public system; all of them where states are not symbols."""
    world = found.world
    if isinstance(world, MarkovChain):
        return [max(1, int(count)) for count in np.diff(world.matrix.indptr)]
    return [len(world.symbols)] * len(world.symbols)


def _model_rows(found: Comparison, model: MarkovChain) -> list[Html]:
    """The rows of the private model that was fitted to these words, the worst first."""
    gaps = row_differences(found.chains[0], model)
    sizes = found.row_sizes[0]
    order = [
        int(i) for i in np.argsort(-np.where(sizes > 0, gaps, -1.0), kind="stable")[:_SHOWN_SYMBOLS] if sizes[i] > 0
    ]
    forecasts = found.model_rows or [{}] * len(sizes)
    rows: list[list[object]] = [
        [name_of(model.symbols[i]), int(sizes[i]), forecasts[i].get("rmse"), float(gaps[i])] for i in order
    ]
    headers = ["state", "transitions", "forecast error of an entry", "total variation distance from the data"]
    return [copyable("model-rows", "The private model: the rows that are farthest from the data", headers, rows)]
