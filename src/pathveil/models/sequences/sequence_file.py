"""A private model of sequences in a file: JSON that says in plain words what was asked, promised and found.

    format, version   "pathveil sequences", 1
    states            as in the file of a chain
    guarantee         what was promised
    asked             ε, δ, unit, neighbours, the greatest length and the order that was asked for
    order, words      how many symbols the longest contexts have; how many words there are beside the frequent ones
    frequent          [{"word": [states], "count": noisy count}, …]
    lengths           probabilities of the lengths 1, 2, …; `end_factors`, `length_weights` and
                      `kept_by_model`: the corrections of lengths.py
    ends              null, or for each first and each last state how much more often words lead from one to the other
    support           null where everything can follow everything; otherwise for each state, and for the beginning, how
                      many states can follow it (`widths`), and which (`following`; the number of states means the end)
    contexts          for each depth from 2 on: rows of the depth above that are divided, and by which symbol before
    times             null, or how likely each hour of a week is for a start (`starts`) and each duration after each
                      state (`durations`, or null), and how many durations of a word were counted (`counted`)
    spent             on what the budget was spent: ε, and the scale of the noise of a count
    probabilities     of all cells; `sizes` of all rows and which of them stand on their `own`

Long arrays are packed: little-endian numbers, compressed (zlib), as text (base64). The tree of contexts is made anew
from what `contexts` says, the same way as it was grown. So no file, however damaged, has loops read outside of arrays.
"""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import asdict, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pathveil.errors import InvalidSystemError, PathVeilError
from pathveil.models.sequences.coded_words import CodedWords
from pathveil.models.sequences.contexts import MOST_CELLS, NONE, ContextTree, Estimate, Grammar
from pathveil.models.sequences.lengths import Corrections
from pathveil.models.sequences.measuring import (
    FIRSTS,
    FREQUENT,
    FREQUENT_AGAIN,
    LASTS,
    LENGTHS,
    PAIRS,
    Fitted,
    Spent,
    contexts_again,
    contexts_of,
)
from pathveil.models.sequences.request import LARGEST_ORDER, Request, checked_request
from pathveil.models.sequences.times import DURATIONS, HOURS, LearnedTimes
from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.privacy.guarantee import Guarantee
from pathveil.systems.chain_file import decoded, encoded
from pathveil.systems.system import Symbol, unique_symbols

if TYPE_CHECKING:
    from pathveil.models.sequences.private_sequences import PrivateSequences

FORMAT = "pathveil sequences"
_VERSION = 1
_MOST_LINES = 2**29  # entries of the table of children, 4 GB
_FLOATS, _INTEGERS, _BYTES = "<f8", "<i4", "|u1"


class SequenceParts(NamedTuple):
    """What a file holds: the arguments of `PrivateSequences`."""

    states: tuple[Symbol, ...]
    grammar: Grammar
    asked: Request
    guarantee: Guarantee
    fitted: Fitted


def sequences_json(model: PrivateSequences, fitted: Fitted, promise: Guarantee) -> str:
    """The text of the file, with the promise of the release."""
    tree, states = fitted.tree, [encoded(state) for state in model.states]
    places = pairwise(fitted.frequent.offsets.tolist())
    words = [[states[code] for code in fitted.frequent.values[a:b].tolist()] for a, b in places]
    document = {
        "format": FORMAT,
        "version": _VERSION,
        "states": states,
        "guarantee": promise.to_dict(),
        "asked": _asked(model.asked),
        "order": tree.depth,
        "words": fitted.words,
        "frequent": [
            {"word": word, "count": count} for word, count in zip(words, fitted.frequent_counts.tolist(), strict=True)
        ],
        "lengths": fitted.lengths.tolist(),
        "end_factors": fitted.corrections.factors.tolist(),
        "length_weights": fitted.corrections.weights.tolist(),
        "ends": None if fitted.corrections.ends is None else _packed(fitted.corrections.ends.ravel()),
        "kept_by_model": fitted.corrections.of_kept.tolist(),
        "support": None
        if model.grammar.is_free
        else {name: _packed(part) for name, part in model.grammar.to_dict().items()},
        "contexts": [{"rows": _packed(rows), "before": _packed(before)} for rows, before in _opened(tree)],
        "times": _times_saved(fitted.times),
        "spent": [asdict(one) for one in fitted.spent],
        "probabilities": _packed(fitted.estimate.probabilities),
        "sizes": _packed(fitted.estimate.sizes),
        "own": _packed(fitted.estimate.own),
    }
    return json.dumps(document, ensure_ascii=False) + "\n"


def sequence_parts(saved: str | dict[str, Any]) -> SequenceParts:
    """The parts of a file (its text, or the object in it), all checked; `InvalidSystemError` where one is wrong."""
    try:
        document = json.loads(saved) if isinstance(saved, str) else saved
        if not is_sequences(document):
            raise InvalidSystemError(f"this JSON is not a saved model of sequences: its 'format' would be {FORMAT!r}")
        if document.get("version") != _VERSION:
            raise InvalidSystemError(
                f"the model was saved in version {document.get('version')!r} of the format; this release reads "
                f"version {_VERSION}. Load it with the release of PathVeil that saved it, or a newer one."
            )
        return _parts(document)
    except InvalidSystemError:
        raise
    except (PathVeilError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as problem:
        why = str(problem) if isinstance(problem, PathVeilError) else "a part is missing, or not what PathVeil writes"
        raise InvalidSystemError(f"the saved model of sequences is damaged: {why}") from None


def is_sequences(document: object) -> bool:
    """Does this JSON say that it is a model of sequences?"""
    return isinstance(document, dict) and document.get("format") == FORMAT


def _parts(document: dict[str, Any]) -> SequenceParts:
    states = unique_symbols(
        [decoded(state, f"state number {i + 1}") for i, state in enumerate(_listed(document["states"]))], "states"
    )
    asked = checked_request(**_only(document["asked"], set(_ASKED)))
    longest = asked.max_length
    grammar = _grammar(document["support"], states)
    tree = _tree(grammar, _listed(document["contexts"]), document["order"])
    probabilities = _unpacked(document["probabilities"], _FLOATS, tree.cell_count).astype(float)
    sizes = _unpacked(document["sizes"], _FLOATS, tree.row_count).astype(float)
    own = _unpacked(document["own"], _BYTES, tree.row_count)
    totals = np.bincount(tree.row_of_cell, probabilities, tree.row_count)
    if not (_are_weights(probabilities) and _are_weights(sizes) and float(totals.max()) < 1 + 1e-6 and own.max() <= 1):
        raise ValueError
    lengths, factors = _weights(document["lengths"], longest), _weights(document["end_factors"], longest + 1)
    weights = _weights(document["length_weights"], longest)
    if not weights.max() > 0:
        raise ValueError
    words = float(document["words"])
    if isinstance(document["words"], str) or not 0 <= words < 2**62:
        raise ValueError
    frequent, counts = _frequent(_listed(document["frequent"]), states, longest)
    of_kept = _weights(document["kept_by_model"], len(frequent))
    if of_kept.sum() > 1:
        raise ValueError
    found = Estimate(probabilities, sizes, own.astype(bool))
    times = _times(document.get("times"), len(states))
    spent = tuple(_spent(one, tree.depth) for one in _listed(document["spent"]))
    ends = _ends(document.get("ends"), len(states))
    corrections = Corrections(factors, weights, of_kept, ends)
    fitted = Fitted(tree, found, corrections, lengths, words, frequent, counts, times, spent)
    asked = replace(asked, times=None if times is None else times.kind, ends=ends is not None)
    return SequenceParts(states, grammar, asked, Guarantee.from_dict(document["guarantee"]), fitted)


_ASKED = ("epsilon", "delta", "max_length", "order", "unit", "max_words_per_user", "neighbours")


def _asked(asked: Request) -> dict[str, Any]:
    """What was asked for, by the names of the arguments of `fit_private_sequences`."""
    whole = asked.whole
    unit = "word" if whole.max_words is None else "user"
    values = (asked.epsilon, asked.delta, asked.max_length, asked.order, unit, whole.max_words, whole.neighbours)
    return dict(zip(_ASKED, values, strict=True))


def _only(given: Any, names: set[str]) -> dict[str, Any]:
    if not isinstance(given, dict) or set(given) != names:
        raise ValueError
    return given


def _grammar(support: Any, states: tuple[Symbol, ...]) -> Grammar:
    size = len(states)
    if support is None:
        return Grammar.of(states, None)
    widths = _unpacked(_only(support, {"widths", "following"})["widths"], _INTEGERS, size + 1).astype(np.int64)
    if widths.min() < 0 or widths.max() > size + 1 or not 0 < int(widths.sum()) <= MOST_CELLS or not widths[-1]:
        raise ValueError
    offsets = np.append(0, np.cumsum(widths))
    following = _unpacked(support["following"], _INTEGERS, int(offsets[-1])).astype(np.int64)
    keys = np.repeat(np.arange(size + 1), widths) * (size + 1) + following
    if following.min() < 0 or following.max() > size or (np.diff(keys) <= 0).any():
        raise ValueError
    if following[offsets[-2] :].max() == size:  # nothing ends before it begins
        raise ValueError
    return Grammar(offsets, following)


def _opened(tree: ContextTree) -> list[tuple[IntArray, IntArray]]:
    """For each depth from 2 on the rows that were divided and the symbols before: what `ContextTree.open` was told."""
    before = np.full(tree.row_count, NONE)
    codes = np.arange(tree.grammar.symbols + 1)
    for line in tree.children:
        before[line] = codes
    opened = []
    for depth in range(2, tree.depth + 1):
        rows = tree.rows_at(depth)
        parents = tree.parent[rows]
        own = np.append(parents[1:] == parents[:-1], False)  # the last row of each parent is its rest
        opened.append((parents[own], before[rows][own]))
    return opened


def _tree(grammar: Grammar, contexts: list[Any], order: Any) -> ContextTree:
    """The tree, grown again; every number in the file is checked before it is used."""
    if order != len(contexts) + 1 or len(contexts) >= LARGEST_ORDER:
        raise ValueError
    tree = ContextTree.of_pairs(grammar)
    for depth in contexts:
        packed = _only(depth, {"rows", "before"})
        rows = _unpacked(packed["rows"], _INTEGERS, None).astype(np.int64)
        before = _unpacked(packed["before"], _INTEGERS, len(rows)).astype(np.int64)
        last = tree.rows_at(tree.depth)
        if not len(rows) or rows.min() < last.start or rows.max() >= last.stop:
            raise ValueError
        if before.min() < 0 or before.max() > grammar.symbols:
            raise ValueError
        if (np.diff(rows * (grammar.symbols + 1) + before) <= 0).any():
            raise ValueError
        divided = np.unique(rows)
        widths = np.diff(tree.cell_offsets)
        if tree.cell_count + int(widths[rows].sum() + widths[divided].sum()) > MOST_CELLS:
            raise ValueError
        if (len(tree.children) + len(divided)) * (grammar.symbols + 1) > _MOST_LINES:
            raise ValueError
        tree.open(rows, before, np.full(len(rows), NONE))
    return tree


def _frequent(listed: list[Any], states: tuple[Symbol, ...], longest: int) -> tuple[CodedWords, FloatArray]:
    code = {state: place for place, state in enumerate(states)}
    entries = [_only(entry, {"word", "count"}) for entry in listed]
    words = [[code[decoded(state, "a frequent word")] for state in _listed(entry["word"])] for entry in entries]
    if any(not 1 <= len(word) <= longest for word in words):
        raise ValueError
    counts = _weights([entry["count"] for entry in entries], len(entries))
    if len(counts) and counts.min() <= 0:
        raise ValueError
    # As they were counted: the whole number next to the noisy one is of no further use.
    return CodedWords.from_codes(words), counts


def _spent(saved: Any, depth: int) -> Spent:
    parts = _only(saved, {"what", "epsilon", "scale"})
    contexts = [name(k) for k in range(1, depth + 1) for name in (contexts_of, contexts_again)]
    if parts["what"] not in (LENGTHS, FREQUENT, FREQUENT_AGAIN, FIRSTS, LASTS, PAIRS, *contexts):
        raise ValueError
    epsilon, scale = _weights([parts["epsilon"], parts["scale"]], 2).tolist()
    return Spent(parts["what"], epsilon, scale)


def _times_saved(times: LearnedTimes | None) -> dict[str, Any] | None:
    if times is None:
        return None
    durations = None if times.durations is None else _packed(times.durations.ravel())
    return {"starts": times.starts.tolist(), "durations": durations, "counted": times.counted}


def _times(saved: Any, symbols: int) -> LearnedTimes | None:
    if saved is None:
        return None
    parts = _only(saved, {"starts", "durations", "counted"})
    starts, durations = _weights(parts["starts"], HOURS), None
    if parts["durations"] is not None:
        durations = (
            _unpacked(parts["durations"], _FLOATS, symbols * DURATIONS).astype(float).reshape(symbols, DURATIONS)
        )
    rows = [starts.sum()] if durations is None else [starts.sum(), *durations.sum(axis=1)]
    if not (durations is None or _are_weights(durations)) or max(abs(row - 1) for row in rows) > 1e-6:
        raise ValueError
    if not isinstance(parts["counted"], int) or parts["counted"] < 0:
        raise ValueError
    return LearnedTimes(starts, durations, parts["counted"])


def _ends(saved: Any, symbols: int) -> FloatArray | None:
    if saved is None:
        return None
    ends: FloatArray = _unpacked(saved, _FLOATS, symbols**2).astype(float).reshape(symbols, symbols)
    if not _are_weights(ends) or not ends.max(initial=0.0) > 0:
        raise ValueError
    return ends


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError
    return value


def _weights(listed: Any, length: int) -> FloatArray:
    """So many numbers that are neither negative nor infinite."""
    values = np.array(_listed(listed), dtype=float)
    if values.shape != (length,) or not _are_weights(values) or any(isinstance(one, str) for one in listed):
        raise ValueError
    return values


def _are_weights(values: FloatArray) -> bool:
    return bool(np.isfinite(values).all() and (values >= 0).all())


def _packed(values: Any) -> dict[str, Any]:
    kind = {"f": _FLOATS, "i": _INTEGERS, "b": _BYTES}[values.dtype.kind]
    text = base64.b64encode(zlib.compress(values.astype(kind), 1)).decode()
    return {"length": len(values), "packed": text}


def _unpacked(saved: Any, kind: str, length: int | None) -> Any:
    """The numbers of a packed array: so many, or as many as it says itself."""
    parts = _only(saved, {"length", "packed"})
    declared = parts["length"]
    if not isinstance(declared, int) or isinstance(declared, bool) or not 0 <= declared <= MOST_CELLS:
        raise ValueError
    if length is not None and declared != length:
        raise ValueError
    wanted = declared * np.dtype(kind).itemsize
    try:
        expander = zlib.decompressobj()
        content = expander.decompress(base64.b64decode(parts["packed"], validate=True), wanted + 1)
    except zlib.error:
        raise ValueError from None
    if len(content) != wanted:
        raise ValueError
    return np.frombuffer(content, dtype=kind)
