"""The numbers of a curator's report: sensitive words against private ones. Everything here is for the curator only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from pathveil.data.formats import Extra, Layout
from pathveil.data.reading import Checker, OnBadRow, opened
from pathveil.data.sources import Source
from pathveil.errors import DataFileError, PathVeilError, TooLargeError
from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.planning.public_words import average_law
from pathveil.report.curator.replacement import replacement_probabilities
from pathveil.report.released import ORDER_RELEASED, Released
from pathveil.systems.markov_chain import MarkovChain
from pathveil.systems.system import System
from pathveil.words.base import ErrorLaw, WordMechanism
from pathveil.words.distances import DistanceLaw, DistanceMechanism
from pathveil.words.edit import edit_distances

_LAWS = 200  # sensitive words whose exact laws are averaged


@dataclass(frozen=True)
class Words:
    """Words of any lengths as codes, one after the other in one array."""

    codes: npt.NDArray[np.int32]
    offsets: IntArray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> npt.NDArray[np.int32]:
        return self.codes[self.offsets[i] : self.offsets[i + 1]]

    def __iter__(self) -> Iterator[npt.NDArray[np.int32]]:
        return (self[i] for i in range(len(self)))

    @property
    def lengths(self) -> IntArray:
        found: IntArray = np.diff(self.offsets)
        return found

    def symbol_shares(self, m: int) -> FloatArray:
        """The share of each symbol among all."""
        shares: FloatArray = np.bincount(self.codes, minlength=m) / max(len(self.codes), 1)
        return shares

    def transitions(self, m: int) -> sparse.csr_array:
        """How often each symbol follows each."""
        inside = np.ones(max(len(self.codes) - 1, 0), dtype=bool)
        inside[self.offsets[1:-1] - 1] = False  # from the last symbol of a word to the first of the next
        origin, goal = self.codes[:-1][inside], self.codes[1:][inside]
        return sparse.csr_array((np.ones(len(origin)), (origin, goal)), shape=(m, m))

    def counted(self) -> Counter[bytes]:
        """How often each distinct word occurs."""
        return Counter(word.tobytes() for word in self)


def read_all(
    source: Source,
    layout: Layout,
    world: System,
    *,
    on_bad_row: OnBadRow = "fail",
    accept_infeasible: bool = False,
    lengths: tuple[int, int] | None = None,
) -> Words:
    """All words of a source in its order, four bytes a symbol. What is a bad row here has to be what it was in the
    release: infeasible words and lengths are accepted where the mechanism accepts them."""
    pieces: list[npt.NDArray[np.int32]] = []
    sizes: list[IntArray] = []
    extra = Extra(None, ())
    with opened(source, layout, extra, None) as (engine, files, _):
        checker = Checker(world, on_bad_row, accept_infeasible, lengths)
        for batch in checker.checked(layout.read(engine, files, extra, keep_order=True)):
            listed = batch.column(0)
            pieces.append(listed.flatten().to_numpy().astype(np.int32))
            sizes.append(listed.value_lengths().to_numpy().astype(np.int64))
    if not pieces:
        raise DataFileError(f"{source}: there is no word in it")
    return Words(np.concatenate(pieces), np.append(0, np.cumsum(np.concatenate(sizes))))


@dataclass(frozen=True)
class Replacement:
    """How often a symbol was replaced: counted for paired words, otherwise expected. `by`: its usual substitute."""

    code: int
    occurrences: int
    replaced: float
    by: int | None


@dataclass(frozen=True)
class Comparison:
    """Sensitive words against private ones. `why_not_paired` is None where rows belong together.

    `errors` are then those of each row: wrong symbols, or edits where the release protects the length (`edits`).
    """

    world: System
    sensitive: Words
    private: Words
    released: Released | None
    mechanism: WordMechanism | None
    why_not_paired: str | None
    errors: IntArray | None
    expected_law: ErrorLaw | None
    law_words: int
    replacements: tuple[Replacement, ...]
    shares: tuple[FloatArray, FloatArray]
    chains: tuple[MarkovChain, MarkovChain]
    row_sizes: tuple[IntArray, IntArray]
    model: MarkovChain | None
    model_rows: Sequence[dict[str, Any]]
    expected_distance: float | None = None
    distance: float | None = None
    """With distances between symbols: how far private symbols are to be expected from the true ones, and how far they
    are where rows belong together."""

    @property
    def paired(self) -> bool:
        return self.why_not_paired is None

    @property
    def edits(self) -> bool:
        return self.released is not None and self.released.protects_length

    @property
    def what(self) -> str:
        """What is counted."""
        return "edits" if self.edits else "errors"


def compare(
    world: System,
    sensitive: Words,
    private: Words,
    released: Released | None,
    mechanism: WordMechanism | None,
    *,
    model: MarkovChain | None = None,
    model_rows: Sequence[dict[str, Any]] = (),
) -> Comparison:
    """Work out everything that the report shows."""
    m = len(world.symbols)
    why_not = _why_not_paired(sensitive, private, released)
    edits = released is not None and released.protects_length
    law, used = (None, 0) if mechanism is None else _expected_law(mechanism, sensitive)
    if edits:
        replacements = []
    elif why_not is None:
        replacements = _counted_replacements(sensitive, private, m)
    elif mechanism is not None:
        replacements = _expected_replacements(mechanism, sensitive, m)
    else:
        replacements = []
    tables = [words.transitions(m) for words in (sensitive, private)]
    return Comparison(
        world=world,
        sensitive=sensitive,
        private=private,
        released=released,
        mechanism=mechanism,
        why_not_paired=why_not,
        errors=_errors(sensitive, private, edits) if why_not is None else None,
        expected_law=law,
        law_words=used,
        replacements=tuple(replacements),
        shares=(sensitive.symbol_shares(m), private.symbol_shares(m)),
        chains=(_chain(world, tables[0]), _chain(world, tables[1])),
        row_sizes=(_row_sizes(tables[0]), _row_sizes(tables[1])),
        model=model,
        model_rows=model_rows,
        expected_distance=_expected_distance(mechanism, sensitive),
        distance=_mean_distance(mechanism, sensitive, private) if why_not is None else None,
    )


def _expected_distance(mechanism: WordMechanism | None, words: Words) -> float | None:
    if not isinstance(mechanism, DistanceMechanism) or mechanism.distance is None:
        return None
    try:
        laws = [mechanism.distance_law(mechanism.world.decode(codes.tolist())) for codes in _sample(words)]
    except TooLargeError:
        return None
    return DistanceLaw.average(laws).mean


def _mean_distance(mechanism: WordMechanism | None, sensitive: Words, private: Words) -> float | None:
    if not isinstance(mechanism, DistanceMechanism) or mechanism.distance is None:
        return None
    rows = [
        mechanism.distance.distances_from(int(code))[private.codes[sensitive.codes == code]].sum()
        for code in np.unique(sensitive.codes)
    ]
    return float(sum(rows)) / len(sensitive.codes)


def _why_not_paired(sensitive: Words, private: Words, released: Released | None) -> str | None:
    if released is None:
        return "the private file has no manifest beside it, so nobody can say whether it is in the order of the input"
    if ORDER_RELEASED not in released.promise.public:
        return (
            "the release is in random order, as it should be: which private word came from which sensitive one is gone"
        )
    if len(sensitive) != len(private):
        counted = f"there are {len(sensitive):,} sensitive and {len(private):,} private words"
        return f"{counted}: some were left out of the release"
    if not released.protects_length and not np.array_equal(sensitive.offsets, private.offsets):
        return "the lengths differ: this is not the input that the release was made from, or its order has changed"
    return None


def _errors(sensitive: Words, private: Words, edits: bool) -> IntArray:
    """How many errors each word has."""
    wrong: IntArray
    if edits:
        codes, others = (words.codes.astype(np.int64) for words in (sensitive, private))
        wrong = edit_distances(codes, sensitive.offsets, others, private.offsets)
    else:
        wrong = np.add.reduceat((sensitive.codes != private.codes).astype(np.int64), sensitive.offsets[:-1])
    return wrong


def _sample(words: Words) -> list[IntArray]:
    """Some words, evenly spaced."""
    places = np.unique(np.linspace(0, len(words) - 1, min(len(words), _LAWS)).astype(int))
    return [words[int(i)].astype(np.int64) for i in places]


def _expected_law(mechanism: WordMechanism, words: Words) -> tuple[ErrorLaw | None, int]:
    sample = _sample(words)
    try:
        laws = [mechanism.error_law(mechanism.world.decode(codes.tolist())) for codes in sample]
    except TooLargeError:
        return None, 0
    return average_law(laws), len(laws)


def _counted_replacements(sensitive: Words, private: Words, m: int) -> list[Replacement]:
    wrong = sensitive.codes != private.codes
    occurrences = np.bincount(sensitive.codes, minlength=m)
    replaced = np.bincount(sensitive.codes[wrong], minlength=m)
    pairs = sparse.csr_array((np.ones(int(wrong.sum())), (sensitive.codes[wrong], private.codes[wrong])), shape=(m, m))
    pairs.sum_duplicates()
    found = []
    for code in np.flatnonzero(occurrences):
        row = slice(pairs.indptr[code], pairs.indptr[code + 1])
        by = int(pairs.indices[row][np.argmax(pairs.data[row])]) if replaced[code] else None
        found.append(Replacement(int(code), int(occurrences[code]), float(replaced[code]), by))
    return found


def _expected_replacements(mechanism: WordMechanism, words: Words, m: int) -> list[Replacement]:
    occurrences, replaced = np.zeros(m), np.zeros(m)
    try:
        for codes in _sample(words):
            wrong = replacement_probabilities(mechanism, codes)
            if wrong is not None:
                np.add.at(occurrences, codes, 1)
                np.add.at(replaced, codes, wrong)
    except TooLargeError:
        return []
    return [Replacement(int(i), int(occurrences[i]), float(replaced[i]), None) for i in np.flatnonzero(occurrences)]


def _row_sizes(table: sparse.csr_array) -> IntArray:
    sizes: IntArray = np.asarray(table.sum(axis=1)).ravel().astype(np.int64)
    return sizes


def _chain(world: System, table: sparse.csr_array) -> MarkovChain:
    return MarkovChain.from_counts(world.symbols, table)


def long_run(chain: MarkovChain) -> FloatArray | None:
    """The stationary distribution over all states; None where there is no single one. States that words never leave are
    left out."""
    matrix = chain.matrix
    kept = np.arange(len(chain.symbols))
    while True:
        inside = matrix[kept][:, kept]
        leaving = np.asarray(inside.sum(axis=1)).ravel() > 0
        if leaving.all():
            break
        kept = kept[leaving]
    if not len(kept):
        return None
    try:
        part = MarkovChain.from_counts([chain.symbols[i] for i in kept], inside).stationary_distribution
    except PathVeilError:
        return None
    whole = np.zeros(len(chain.symbols))
    whole[kept] = part
    return whole


def row_differences(before: MarkovChain, after: MarkovChain) -> FloatArray:
    """The total variation distance between the rows of two chains on the same states."""
    gaps: FloatArray = np.asarray(abs(before.matrix - after.matrix).sum(axis=1)).ravel() / 2
    return gaps
