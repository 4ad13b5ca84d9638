"""Which lengths contexts can have, and how much log Z really changes between two words: no proof goes below that."""

from __future__ import annotations

import numpy as np

from pathveil.numerics.arrays import BoolArray, FloatArray, IntArray
from pathveil.words.certificate.symbol_chain import SymbolChain

_REACH = 40  # symbols next to the run that are replaced, on either side, on the way to a larger change
_PROMISING = 64  # contexts that are kept at each depth on that way
_WORTH = 5e-3  # a change that is larger by a smaller share than this is the last step on that way


class WordLengths:
    """`before[i, s]`: i symbols can lead from a first symbol to s, itself included; `after[j, s]`: from s to a last."""

    def __init__(self, chain: SymbolChain, length: int, *, up_to: bool) -> None:
        self._chain = chain
        self.length = length
        self.up_to = up_to
        self.before = _reached(chain, length)
        self.after = _reached(chain.reversed(), length)

    def splits(self, room: int, prefix: BoolArray, suffix: BoolArray) -> tuple[int, int] | None:
        """The most even (i, j) with i + j = room (or at most that, with `up_to`), prefix[i] and suffix[j]."""
        best: tuple[int, int] | None = None
        for total in range(room, -1, -1) if self.up_to else (room,):
            for i in range(min(total + 1, len(prefix))):
                j = total - i
                if j < len(suffix) and prefix[i] and suffix[j] and (best is None or min(i, j) > min(best)):
                    best = i, j
            if best is not None:
                return best
        return None

    def completed(
        self, prefix: list[int], prefix_is_closed: bool, run: tuple[list[int], list[int]],
        suffix: list[int], suffix_is_closed: bool,
    ) -> tuple[list[int], list[int]] | None:  # fmt: skip
        """Two whole words that agree but for the run; None if there are none.

        Both contexts have the symbol next to the run first.
        """
        w, v = run
        room = self.length - len(prefix) - len(suffix) - len(w)
        if room < 0:
            return None
        only_now = np.array([True])
        more_before = only_now if prefix_is_closed else self._more(self.before, self._chain, prefix, w[0], v[0])
        more_after = (
            only_now if suffix_is_closed else self._more(self.after, self._chain.reversed(), suffix, w[-1], v[-1])
        )
        split = self.splits(room, more_before, more_after)
        if split is None:
            return None
        before = self._walk(self.before, self._chain, prefix, w[0], v[0], split[0])
        after = self._walk(self.after, self._chain.reversed(), suffix, w[-1], v[-1], split[1])
        return [*before[::-1], *w, *after], [*before[::-1], *v, *after]

    def _more(self, reached: BoolArray, chain: SymbolChain, context: list[int], c: int, d: int) -> BoolArray:
        """Entry i: can exactly i more symbols stand beyond the context?"""
        if context:
            more: BoolArray = reached[1:, context[-1]]
            return more
        shared = np.intersect1d(_linked(chain, c), _linked(chain, d))
        none = chain.first[c] & chain.first[d]
        return np.concatenate([[none], reached[1:, shared].any(axis=1)])

    def _walk(self, reached: BoolArray, chain: SymbolChain, context: list[int], c: int, d: int, more: int) -> list[int]:
        """The context and so many more symbols beyond it."""
        found = list(context)
        for left in range(more, 0, -1):
            candidates = _linked(chain, found[-1]) if found else np.intersect1d(_linked(chain, c), _linked(chain, d))
            candidates = candidates[reached[left, candidates]]
            # Words between which log Z changes most often go to and fro far away from the run.
            again = len(found) > 1 and found[-2] in candidates
            found.append(found[-2] if again else int(candidates[0]))
        return found


def _linked(chain: SymbolChain, c: int) -> IntArray:
    return chain.predecessors.symbols[chain.predecessors.offsets[c] : chain.predecessors.offsets[c + 1]]


def _reached(chain: SymbolChain, length: int) -> BoolArray:
    reached = np.zeros((length + 1, chain.symbol_count), dtype=bool)
    reached[1] = chain.first
    for i in range(2, length + 1):
        reached[i] = chain.predecessors.matrix @ reached[i - 1] > 0
    return reached


def change_of_log_z(chain: SymbolChain, w: list[int], v: list[int], z: float) -> float:
    """log Z(v) - log Z(w), or a little less: by more than the rounding of all sums and of rescaling."""
    from pathveil.words.certificate.search.word_kernel import log_z

    links = chain.predecessors.offsets, chain.predecessors.symbols
    here, there = (log_z(np.array(word), chain.first, chain.last, links, z) for word in (w, v))
    slack = (int(chain.predecessors.degrees.max(initial=0)) + 8) * (len(w) + 8) * 2.0**-50
    return float(there - here - slack * (1 + abs(here)))


def climbed(chain: SymbolChain, w: list[int], v: list[int], z: float) -> tuple[list[int], list[int]]:
    """Two words like these, alike where they were alike, between which log Z changes more, if such are found.

    One side of the run after the other is searched for symbols that make the change larger, while that helps.
    """
    failed, read, other = 0, chain, chain.reversed()
    while failed < 2:
        better = _with_better_prefix(read, w, v, z)
        failed = 0 if better else failed + 1
        w, v = better or (w, v)
        read, other, w, v = other, read, w[::-1], v[::-1]
    return (w, v) if read is chain else (w[::-1], v[::-1])


def _with_better_prefix(chain: SymbolChain, w: list[int], v: list[int], z: float) -> tuple[list[int], list[int]] | None:
    """The words with other symbols before the run, or None where none is found that makes the change larger.

    From the run outwards, the most promising contexts of each depth are kept; what comes before them is taken to weigh
    what it does in w. The last ones meet what does come before.
    """
    follows = chain.successors.matrix.toarray()
    begin = next(i for i in range(len(w)) if w[i] != v[i])
    end = next(i for i in range(len(w), 0, -1) if w[i - 1] != v[i - 1])
    depth = min(_REACH, begin)
    if not depth:
        return None
    weights = _weights(chain, w[:begin], z, follows)
    may_lead = _may_lead(chain, w[begin - depth - 1] if depth < begin else None, depth, follows)
    after = _weights(chain.reversed(), w[end:][::-1], z, follows.T)[-1]
    ends = np.stack([_through(word[begin:end], after, z, follows) for word in (w, v)], axis=1)
    before = weights[-1] @ ends
    known, contexts = np.log(before[1] / before[0]), np.empty((1, 0), dtype=np.int64)
    totals = ends[None]
    for h in range(1, depth + 1):
        if h == 1:
            symbols = np.flatnonzero(follows[:, w[begin]] * follows[:, v[begin]] * may_lead[depth - 1])
            parents = np.zeros(len(symbols), dtype=np.int64)
        else:
            parents, symbols = np.nonzero(follows[:, contexts[:, -1]].T * may_lead[depth - h])
        stepped = (follows @ totals)[parents]
        stepped *= np.where(np.arange(len(follows)) == symbols[:, None], 1.0, z)[:, :, None]
        stepped /= stepped.max(axis=(1, 2), keepdims=True)
        sums = np.einsum("x,kxi->ki", weights[begin - h], stepped)
        change = np.log(sums[:, 1] / sums[:, 0])
        best = np.argsort(-change, kind="stable")[:_PROMISING]
        contexts, totals = np.column_stack([contexts[parents], symbols])[best], stepped[best]
    if not change[best[0]] > max(known, 0.0) * (1 + _WORTH):
        return None
    found = contexts[0, ::-1].tolist()
    return tuple([*word[: begin - depth], *found, *word[begin:]] for word in (w, v))  # type: ignore[return-value]


def _weights(chain: SymbolChain, word: list[int], z: float, follows: FloatArray) -> list[FloatArray]:
    """α at each position of a word and the one after it, in some unit, the factor for that position left out."""
    weights = [chain.first.astype(float)]
    for symbol in word:
        own = weights[-1] * np.where(np.arange(len(follows)) == symbol, 1.0, z)
        weights.append(own @ follows)
        weights[-1] /= weights[-1].max()
    return weights


def _through(run: list[int], after: FloatArray, z: float, follows: FloatArray) -> FloatArray:
    """What all ways through the run weigh, together with what comes after it, by their first symbol."""
    total = after
    for i, symbol in enumerate(reversed(run)):
        total = (follows @ total if i else total) * np.where(np.arange(len(total)) == symbol, 1.0, z)
    return total


def _may_lead(chain: SymbolChain, before: int | None, steps: int, follows: FloatArray) -> list[BoolArray]:
    """Entry i: the symbols that may stand i steps behind the first that is replaced; `before` stands in front of it."""
    possible = [chain.first if before is None else follows[before] > 0]
    for _ in range(steps - 1):
        possible.append(possible[-1] @ follows > 0)
    return possible
