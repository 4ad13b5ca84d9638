"""How words begin and end, and which whole words (the variants of an event log) are commonest, before and after."""

from __future__ import annotations

from collections import Counter

import numpy as np

from pathveil.errors import PathVeilError
from pathveil.markup import Html, name_of, tag
from pathveil.numerics.arrays import FloatArray
from pathveil.report.charts import Bars, Series
from pathveil.report.chips import word_chips
from pathveil.report.curator.comparison import Comparison, Words
from pathveil.report.page import Page, bullets, listed

_SHOWN_WORDS = 25
_SHOWN_SYMBOLS = 20


def starts_and_ends(page: Page, found: Comparison) -> list[Html]:
    """The shares of first and of last symbols."""
    parts: list[Html] = []
    m = len(found.world.symbols)
    for key, title, place in (("starts", "First symbols", 0), ("ends", "Last symbols", -1)):
        before, after = (_shares_at(words, place, m) for words in (found.sensitive, found.private))
        order = np.argsort(-before, kind="stable")[:_SHOWN_SYMBOLS]
        chosen = [int(i) for i in order if before[i] > 0 or after[i] > 0]
        distance = float(np.abs(before - after).sum() / 2)
        chart = Bars(
            f"{title}, total variation distance {distance:.3g}",
            [name_of(found.world.symbols[i]) for i in chosen],
            [Series("sensitive", before[chosen].tolist(), 0), Series("private", after[chosen].tolist(), 1)],
            "share of words",
            "symbol",
            flat=True,
        )
        parts.append(page.chart(key, chart))
    return parts


def _shares_at(words: Words, place: int, m: int) -> FloatArray:
    at = words.offsets[:-1] if place == 0 else words.offsets[1:] - 1
    shares: FloatArray = np.bincount(words.codes[at], minlength=m) / max(len(words), 1)
    return shares


def variants(found: Comparison) -> list[Html]:
    """The commonest words here and there, and what each can expect of the mechanism."""
    before, after = found.sensitive.counted(), found.private.counted()
    kept = sum(count for word, count in after.items() if word in before)
    common = before.most_common(_SHOWN_WORDS)
    new = [(word, count) for word, count in after.most_common(_SHOWN_WORDS) if word not in before][:10]
    parts = [
        listed(
            "distinct",
            "The most frequent sensitive words, and how often they were released",
            ["word", "times, sensitive", "times, private", f"expected {found.what}", "comes out unchanged"],
            [[_chips(found, word), count, after[word], *_forecast(found, word)] for word, count in common],
        )
    ]
    if new:
        rows: list[list[object]] = [[_chips(found, word), count] for word, count in new]
        title = "The most frequent private words that nobody in the sensitive file had"
        parts.append(listed("new-words", title, ["word", "times, private"], rows))
    parts.append(
        bullets(
            [
                f"{len(before):,} different words are in the sensitive file and {len(after):,} in the release. The "
                f"{len(common):,} commonest are {_part(common, before):.1%} of the sensitive words.",
                f"{kept:,} of {len(found.private):,} private words also occur in the sensitive file."
                + ("" if found.paired else " Whether such a word came from itself, nobody can tell from the release."),
            ]
        )
    )
    if not found.paired:
        note = tag("p", f"Rows cannot be put side by side: {found.why_not_paired}.", class_="note")
        return [note, *parts]
    return parts


def _part(common: list[tuple[bytes, int]], counted: Counter[bytes]) -> float:
    return sum(count for _, count in common) / max(sum(counted.values()), 1)


def _codes(word: bytes) -> list[int]:
    codes: list[int] = np.frombuffer(word, dtype=np.int32).tolist()
    return codes


def _chips(found: Comparison, word: bytes) -> Html:
    return word_chips(found.world.symbols, _codes(word))


def _forecast(found: Comparison, word: bytes) -> list[object]:
    if found.mechanism is None:
        return [None, None]
    try:
        law = found.mechanism.error_law(found.world.decode(_codes(word)))
    except PathVeilError:
        return [None, None]
    return [law.mean, float(law.pmf[0])]
