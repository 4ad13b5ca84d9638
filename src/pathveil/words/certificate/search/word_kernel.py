"""The inner loops of branch and bound about whole words: which lengths are possible, and log Z seen from one word."""

from __future__ import annotations

from typing import Any

import numpy as np

from pathveil.numerics.jit import checked_kernel


@checked_kernel
def can_happen(prefix: Any, suffix: Any, ends: Any, before: Any, after: Any, run: int, length: int, up_to: bool) -> Any:
    """Is there a feasible word, as far as lengths go, for each node?

    Contexts are (outermost symbol, depth, is closed); `ends` has the first symbol of both runs, and the last of both.
    An open context of no symbols stands for whatever leads to the run itself.
    """
    (p_symbol, p_depth, p_closed), (s_symbol, s_depth, s_closed) = prefix, suffix
    w_first, v_first, w_last, v_last = ends
    answer = np.zeros(len(p_symbol), np.bool_)
    for node in range(len(p_symbol)):
        room = length - run - p_depth[node] - s_depth[node]
        for i in range(room + 1):
            # i symbols beyond the prefix's context, j beyond the suffix's.
            if p_closed[node]:
                fits = i == 0
            elif p_depth[node]:
                fits = before[i + 1, p_symbol[node]]
            else:
                fits = before[i + 1, w_first[node]] and before[i + 1, v_first[node]]
            if not fits:
                continue
            for j in range(0 if up_to else room - i, room - i + 1):
                if s_closed[node]:
                    fits = j == 0
                elif s_depth[node]:
                    fits = after[j + 1, s_symbol[node]]
                else:
                    fits = after[j + 1, w_last[node]] and after[j + 1, v_last[node]]
                if fits:
                    answer[node] = True
                    break
            if answer[node]:
                break
    return answer


@checked_kernel
def log_z(word: Any, first: Any, last: Any, predecessors: Any, z: float) -> float:
    """The logarithm of the weight of all words, seen from this one."""
    offsets, symbols = predecessors
    m = len(first)
    weights, new = np.empty(m), np.empty(m)
    scale = 0.0
    for y in range(m):
        weights[y] = 1.0 if first[y] else 0.0
    for i in range(len(word)):
        top = 0.0
        for y in range(m):
            if i:
                new[y] = 0.0
                for j in range(offsets[y], offsets[y + 1]):
                    new[y] += weights[symbols[j]]
            else:
                new[y] = weights[y]
            if y != word[i]:
                new[y] *= z
            top = max(top, new[y])
        for y in range(m):
            new[y] /= top
        scale += np.log(top)
        weights, new = new, weights
    total = 0.0
    for y in range(m):
        if last[y]:
            total += weights[y]
    return float(scale + np.log(total))
