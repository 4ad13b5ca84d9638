"""What will be promised, in words and as two inputs that the promise makes hard to tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pathveil.data.points import cells_of
from pathveil.data.public import SavedSystem
from pathveil.errors import PathVeilError
from pathveil.models.sequences import checked_request
from pathveil.privacy.guarantee import Guarantee
from pathveil.report.explain import best_guess, percent
from pathveil.studio.choices import Choices
from pathveil.studio.projects import Project
from pathveil.words.certified import CertifiedExponential

_LENGTH = 5  # symbols of a word in the picture
_NOT_PROTECTED = {
    "symbols": (
        "More than so many symbols of one word: the more somebody asks about at once, the weaker the promise.",
        "How long each word is, and how many words there are.",
        "That all words of a person belong together: a person with many words gives away more in all.",
    ),
    "word": (
        "That all words of a person belong together: a person with many words gives away more in all.",
        "What is true of the whole crowd: a model shows what is typical, and typical things can be guessed of anybody.",
    ),
    "user": (
        "What is true of the whole crowd: a model shows what is typical, and typical things can be guessed of anybody.",
        "Words of a person beyond the number that is used: they are left out, at random.",
    ),
}


@dataclass(frozen=True)
class PictureWord:
    """A word of the picture: its symbols, and which of them differ between the two inputs."""

    symbols: tuple[str, ...]
    changed: frozenset[int] = frozenset()
    missing: bool = False


def two_inputs(symbols: Sequence[str], unit: str, neighbours: str) -> tuple[list[PictureWord], list[PictureWord]]:
    """Two neighbouring inputs, made of public symbols: nothing of the data is in the picture."""
    named = list(symbols) or ["a", "b", "c"]

    def word(begin: int) -> tuple[str, ...]:
        return tuple(named[(begin + i) % len(named)] for i in range(_LENGTH))

    same = [PictureWord(word(0)), PictureWord(word(1))]
    everywhere = frozenset(range(_LENGTH))
    if unit == "symbols":
        other = (*word(2)[:2], word(2)[3], *word(2)[3:])
        return [*same, PictureWord(word(2), frozenset({2}))], [*same, PictureWord(other, frozenset({2}))]
    own = [2] if unit == "word" else [2, 3]
    first = [PictureWord(word(begin), everywhere) for begin in own]
    if neighbours == "add-remove":
        second = [PictureWord(word(begin), everywhere, missing=True) for begin in own]
    else:
        second = [PictureWord(word(begin)[::-1], everywhere) for begin in own]
    return [*same, *first], [*same, *second]


def guarantee_of(project: Project, choices: Choices) -> Guarantee:
    """The promise that the release will make.

    Private words: that of the certified mechanism, which is taken unless a forecast finds one with fewer errors; the
    others protect every pair of words that this one protects.
    """
    epsilon = float(choices["epsilon"])
    if choices["purpose"] == "words":
        saved = SavedSystem.read(project.system)
        options: dict[str, Any] = {}
        cells = cells_of(saved) if choices["kind"] == "points" and choices["within"] else None
        if cells is not None:
            options = {"distance": cells.distance_within(None), "within": float(choices["within"])}
        return CertifiedExponential(saved.system, epsilon, int(choices["adjacency"]), **options).guarantee
    person = choices["unit"] == "user"
    request = checked_request(
        epsilon,
        float(choices["delta"]) if choices["delta"] else None,
        int(choices["max-length"]),
        "auto",
        "user" if person else "word",
        int(choices["max-words-per-user"]) if person else None,
        "add-remove" if choices["neighbours"] == "add-remove" else "replace",
    )
    return request.guarantee(seeded=False)


def promised(project: Project, choices: Choices) -> dict[str, Any]:
    """For the review: the sentence, what it takes as public, and what it does not cover."""
    try:
        guarantee = guarantee_of(project, choices)
    except (PathVeilError, ValueError) as problem:
        return {"guarantee": None, "problem": str(problem)}
    odds = percent(best_guess(guarantee.epsilon, guarantee.delta))
    return {"guarantee": guarantee, "odds": odds, "not_protected": _NOT_PROTECTED[choices["unit"]], "problem": ""}
