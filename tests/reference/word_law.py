"""The law of the words of a model of sequences, by listing all words. Slow; for tiny models."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product

from pathveil.models.counting import States
from pathveil.models.sequences import CodedWords, PrivateSequences


def law_of(model: PrivateSequences) -> dict[str, float]:
    """{word: probability} for all words over the states (single letters) up to the greatest length."""
    longest, letters = model.asked.max_length, "".join(str(state) for state in model.states)
    words = ["".join(word) for length in range(1, longest + 1) for word in product(letters, repeat=length)]
    coded = CodedWords.from_words(words, States(model.states, None), longest)
    return {word: math.exp(log) for word, log in zip(words, model.law.log_probabilities(coded).tolist(), strict=True)}


def given(law: dict[str, float], holds: Callable[[str], bool]) -> dict[str, float]:
    """The law of those words for which something holds."""
    kept = {word: p for word, p in law.items() if p > 0 and holds(word)}
    total = sum(kept.values())
    return {word: p / total for word, p in kept.items()}


def spelled_codes(words: CodedWords) -> list[list[int]]:
    """The codes of each word."""
    return [words.values[a:b].tolist() for a, b in zip(words.offsets[:-1], words.offsets[1:], strict=True)]


def literal_law(model: PrivateSequences, words: Sequence[str]) -> dict[str, float]:
    """Probabilities of words, event by event and row by row, from the cells of the tree as they are written down."""
    fitted = model._fitted
    tree, cells, factors = fitted.tree, fitted.estimate.probabilities, fitted.corrections.factors
    size, longest = len(model.states), model.asked.max_length
    kept = {"".join(map(str, word)): count for word, count in model.frequent}
    spelled = ["".join(model.states[c] for c in codes) for codes in spelled_codes(fitted.frequent)]
    own = dict(zip(spelled, fitted.corrections.of_kept.tolist(), strict=True))
    modelled = fitted.words / (1 - sum(own.values()))
    missing = {word: max(count - modelled * own[word], 0.0) for word, count in kept.items()}
    found = {}
    for word in words:
        codes = [model.states.index(letter) for letter in word]
        probability = 1.0
        for position in range(len(codes) + (len(codes) < longest)):
            row, back = (codes[position - 1] if position else size), 2
            while tree.slots[row] >= 0:
                row = tree.children[tree.slots[row], codes[position - back] if position >= back else size]
                back += 1
            here = {
                int(tree.symbols[c]): float(cells[c]) for c in range(tree.cell_offsets[row], tree.cell_offsets[row + 1])
            }
            ending = here.pop(size, 0.0)
            on = sum(here.values())
            stops = 1.0 if on <= 0 else ending / on * factors[position] / (1 + ending / on * factors[position])
            probability *= (
                stops if position == len(codes) else (1 - stops) * here.get(codes[position], 0.0) / on if on else 0.0
            )
        probability *= fitted.corrections.weights[len(codes) - 1]
        found[word] = (missing.get(word, 0.0) + modelled * probability) / (sum(missing.values()) + modelled)
    return found
