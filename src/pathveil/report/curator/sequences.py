"""The curator's report of a private model of sequences: its synthetic words against the original ones.

Beside the private model stands the same model without privacy. How far *that* is from the original is the loss by
modelling; how much farther the private one is, the loss by privacy. It contains sensitive data, and says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pathveil.markup import Html, name_of, tag
from pathveil.models.sequences import (
    CodedWords,
    Comparison,
    PrivateSequences,
    SideBySide,
    WordStatistics,
    side_by_side,
)
from pathveil.numerics.arrays import FloatArray
from pathveil.randomness.source import RandomSource
from pathveil.report.charts import Bars, Series
from pathveil.report.chips import word_chips
from pathveil.report.curator.page import ALARM
from pathveil.report.explain import percent
from pathveil.report.page import Page, bullets, facts, figures, listed

_SHOWN = 20
_SHOWN_STRINGS = 50
_LONGEST = 40  # lengths that are shown

_NAMES = {"original": "original (sensitive)", "private": "private model", "unprotected": "same model, no privacy"}
_PARTS = {
    "starts": "first symbols",
    "ends": "last symbols",
    "lengths": "lengths",
    "pairs": "pairs",
    "triples": "triples",
    "words": "whole words",
}


def sequence_page(model: PrivateSequences, words: CodedWords, rng: RandomSource | None = None) -> Page:
    """The report. `words` are the original ones, with the codes of the model's states."""
    found = side_by_side(words, model, rng)
    page = Page(
        "Curator's report of a model of sequences (sensitive)",
        "Words that the private model makes against the original ones, and against those that the same model would "
        "make without privacy. Everything here depends on the sensitive file without protection.",
        alarm=ALARM,
    )
    page.add("In short", _in_short(found), _overview(found))
    page.add("What is lost, and to what", *_losses(page, found))
    page.add("How words begin and end", *_ends(page, found))
    page.add("How long words are", *_lengths(page, found))
    pieces = [part for length in (2, 3) for part in _pieces(page, found, length)]
    if pieces:
        page.add("What follows what", *pieces)
    page.add("Whole words", *_variants(found))
    page.add("The commonest strings", *_strings(page, found))
    return page


def _in_short(found: SideBySide) -> Html:
    """How far the private model is from the original words; chance is what nothing can be nearer than."""
    private, chance = found.comparisons["private"], found.comparisons["chance"]
    return figures(
        [
            (part, f"distance of {name} (chance: {percent(getattr(chance, part))})", percent(getattr(private, part)))
            for part, name in _PARTS.items()
        ]
    )


def _overview(found: SideBySide) -> Html:
    model, words = found.model, found.original.words
    return facts(
        [
            ("original words", f"{int(words.times.sum()):,}, cut after {model.asked.max_length:,} symbols"),
            ("words made by each model", f"{found.drawn:,}"),
            (
                "private model",
                f"order {model.order}, {len(model.states):,} states, {len(model.frequent):,} frequent words",
            ),
            ("its promise", str(model.guarantee)),
            (
                "same model, no privacy",
                "order and frequent words of the private model, all counts exact. Never release it: it is as sensitive "
                "as the words.",
            ),
            ("chance", "as many words drawn again from the original ones: nothing can be expected to be nearer"),
        ]
    )


def _losses(page: Page, found: SideBySide) -> list[Html]:
    """Distances of all parts; the part of each loss that is due to privacy, and to modelling."""
    private, unprotected, chance = (
        np.array([getattr(found.comparisons[way], part) for part in _PARTS])
        for way in ("private", "unprotected", "chance")
    )
    names = list(_PARTS.values())
    series = [
        Series(_NAMES["private"], private.tolist(), 1),
        Series(_NAMES["unprotected"], unprotected.tolist(), 2),
        Series("chance", chance.tolist(), 3),
    ]
    chart = Bars(
        "Distance to the original words", names, series, "total variation distance", "what is compared", flat=True
    )
    lost = {"privacy": np.maximum(private - unprotected, 0.0), "modelling": np.maximum(unprotected - chance, 0.0)}
    columns = [private, unprotected, chance, *lost.values()]
    rows: list[list[object]] = [[name, *(float(one[i]) for one in columns)] for i, name in enumerate(names)]
    headers = ["", _NAMES["private"], _NAMES["unprotected"], "chance", "lost to privacy", "lost to modelling"]
    told = [
        f"Most is lost to {to} in: {names[int(loss.argmax())]} ({float(loss.max()):.3g})."
        for to, loss in lost.items()
        if loss.max() > 0
    ]
    return [
        tag(
            "p",
            "Total variation distances to the original: 0 where nothing differs, 1 where nothing is in common. Lost to "
            "modelling: what the same model loses without any noise, beyond chance; more ε does not buy it back, but "
            "more order may. Lost to privacy: what noise adds; more ε or more words buy it back.",
        ),
        page.chart("losses", chart),
        listed("losses-table", "Distances to the original words", headers, rows),
        bullets(told),
    ]


def _three(found: SideBySide) -> dict[str, WordStatistics]:
    return {"original": found.original, "private": found.private, "unprotected": found.unprotected}


def _bars(title: str, labels: list[str], shares: Mapping[str, FloatArray], chosen: Sequence[int], what: str) -> Bars:
    series = [
        Series(_NAMES[way], [float(values[i]) for i in chosen], style)
        for style, (way, values) in enumerate(shares.items())
    ]
    return Bars(title, labels, series, "share of words", what, flat=True)


def _ends(page: Page, found: SideBySide) -> list[Html]:
    parts = []
    for key, title in (("starts", "First symbols"), ("ends", "Last symbols")):
        counts = {way: getattr(one, key) for way, one in _three(found).items()}
        shares = {way: values / max(float(values.sum()), 1.0) for way, values in counts.items()}
        commonest = np.argsort(-shares["original"], kind="stable")[:_SHOWN]
        chosen = [int(i) for i in commonest if shares["original"][i] > 0 or shares["private"][i] > 0]
        labels = [name_of(found.model.states[i]) for i in chosen]
        parts.append(page.chart(key, _bars(title, labels, shares, chosen, "symbol")))
    return parts


def _lengths(page: Page, found: SideBySide) -> list[Html]:
    longest = max(len(one.lengths) for one in _three(found).values())
    shares = {
        way: np.pad(one.lengths, (0, longest - len(one.lengths))) / max(float(one.lengths.sum()), 1.0)
        for way, one in _three(found).items()
    }
    shown = list(range(1, min(longest, _LONGEST + 1)))
    chart = Bars(
        "Symbols of a word",
        [str(length) for length in shown],
        [
            Series(_NAMES[way], [float(values[i]) for i in shown], style)
            for style, (way, values) in enumerate(shares.items())
        ],
        "symbols",
        "share of words",
    )
    means = {way: float((values * np.arange(longest)).sum()) for way, values in shares.items()}
    told = ", ".join(f"{mean:.3g} ({_NAMES[way]})" for way, mean in means.items())
    return [page.chart("lengths", chart), tag("p", f"On average: {told}.")]


def _pieces(page: Page, found: SideBySide, length: int) -> list[Html]:
    """The commonest pairs or triples of the original, and how common the models make them."""
    name = {2: "pairs", 3: "triples"}[length]
    shares = {way: _shares(*one.pieces(length)) for way, one in _three(found).items()}
    if not shares["original"]:
        page.leave_out(f"What follows what, {name}: the original words have none.")
        return []
    original = shares["original"]
    commonest = sorted(original, key=lambda key: -original[key])[:_SHOWN]
    gaps = {key: shares["private"].get(key, 0.0) - original.get(key, 0.0) for key in {*original, *shares["private"]}}
    widest = sorted(gaps, key=lambda key: -abs(gaps[key]))[:10]
    headers = [name[:-1], *_NAMES.values(), "difference"]

    def rows(keys: Sequence[bytes]) -> list[list[object]]:
        return [[_spelled(found, key), *(shares[way].get(key, 0.0) for way in _NAMES), gaps[key]] for key in keys]

    return [
        listed(f"{name}-common", f"The commonest {name} of the original, as shares of all", headers, rows(commonest)),
        listed(f"{name}-wrong", f"The {name} that the private model gets most wrong", headers, rows(widest)),
    ]


def _variants(found: SideBySide) -> list[Html]:
    """Which whole words are kept, which are new, which are gone."""
    shares = {way: _shares(*one.whole) for way, one in _three(found).items()}
    original, private = shares["original"], shares["private"]
    noisy = _noisy_counts(found.model)
    rows: list[list[object]] = []
    for key in sorted(original, key=lambda key: -original[key])[:_SHOWN]:
        kept = noisy.get(key)
        rows.append([_spelled(found, key), *(shares[way].get(key, 0.0) for way in _NAMES), kept])
    gone = sum(share for key, share in original.items() if key not in private)
    new = sum(share for key, share in private.items() if key not in original)
    return [
        listed(
            "variants",
            "The commonest whole words of the original, as shares of all",
            ["word", *_NAMES.values(), "noisy count, if kept whole"],
            rows,
        ),
        bullets(
            [
                f"{len(original):,} different words are in the original, {len(private):,} in the words of the model.",
                f"{gone:.1%} of the original words have a way that the model did not take: rare variants are lost.",
                f"{new:.1%} of the words of the model have a way that nobody in the original took.",
            ]
        ),
    ]


def _strings(page: Page, found: SideBySide) -> list[Html]:
    """Which part of the commonest pieces of any length is found again."""
    ways: dict[str, Comparison] = found.comparisons
    names = {"private": _NAMES["private"], "unprotected": _NAMES["unprotected"], "chance": "chance"}
    labels = ["20 commonest whole words", *(f"{count} commonest strings" for count in ways["private"].top_strings)]
    again = {way: [ways[way].top_words, *ways[way].top_strings.values()] for way in names}
    rows: list[list[object]] = [[label, *(again[way][i] for way in names)] for i, label in enumerate(labels)]
    chart = Bars(
        "Found again among as many of the model",
        labels,
        [Series(name, again[way], style) for style, (way, name) in enumerate(names.items(), 1)],
        "share found again",
        "which",
        flat=True,
    )
    mine, others = (one.top_strings(_SHOWN_STRINGS) for one in (found.original, found.private))
    missed = [_spelled(found, key) for key in mine if key not in set(others)]
    return [
        tag("p", "Strings are pieces of words, of any length. Of equally common ones, the shorter counts as commoner."),
        page.chart("strings", chart),
        listed("strings-table", "The part of the commonest that is found again", ["", *names.values()], rows),
        tag("p", f"Of the {len(mine)} commonest strings of the original {len(missed) or 'none'} are missing."),
        *([bullets(missed)] if missed else []),
    ]


def _shares(keys: Sequence[bytes], counts: np.ndarray) -> dict[bytes, float]:
    total = max(float(counts.sum()), 1.0)
    return {key: count / total for key, count in zip(keys, counts.tolist(), strict=True)}


def _noisy_counts(model: PrivateSequences) -> dict[bytes, float]:
    """The words that the model kept whole, by their codes."""
    code = {state: place for place, state in enumerate(model.states)}
    return {np.array([code[symbol] for symbol in word]).tobytes(): count for word, count in model.frequent}


def _spelled(found: SideBySide, key: bytes) -> Html:
    return word_chips(found.model.states, np.frombuffer(key, dtype=np.int64).tolist())
