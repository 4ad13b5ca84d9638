"""Compiled draws on free alphabets, where every word is feasible. All decisions compare integers."""

from __future__ import annotations

from math import frexp, ldexp
from typing import Any

import numpy as np

from pathveil.numerics.jit import kernel


@kernel
def respond(values: Any, begin: int, end: int, symbol_count: int, each: int, words: Any, private: Any) -> None:
    """Randomized response at every cell in [begin, end), one 64-bit word each.

    Each wrong symbol owns `each` of the 2^64 words, the right one all others: no remainder, no second draw. Which one
    owns a word is the quotient by `each`, found without dividing and without a branch that the processor would have to
    guess: the upper half of the word times a reciprocal that is a little too small gives it, or one less, and the
    remainder tells which.
    """
    wrong = np.uint64(symbol_count - 1) * each
    if each >= np.uint64(1 << 40):
        # With 2^e ≤ each < 2^(e+1) the reciprocal is 2^(e+32) / each, from 2^31 to 2^32, less something from 1/2 to 3.
        # That makes the quotient too small by at most 3 · 2^32 / 2^e, and leaving out the lower half of the word by at
        # most 2^32 / each: together less than 2^-5, so that rounding down gives the quotient or one less.
        power = frexp(np.float64(each))[1] - 1
        reciprocal = np.uint64(np.int64(ldexp(1.0, power + 32) / np.float64(each)) - 1)
        shift, half, low_half = np.uint64(power), np.uint64(32), np.uint64(0xFFFFFFFF)
        for cell in range(begin, end):
            word = words[cell - begin]
            quotient = (((word >> half) * (reciprocal & low_half)) >> shift) & low_half
            quotient += np.uint64(word - quotient * each >= each)
            code = np.int64(values[cell]) + (np.int64(quotient) + 1 if word < wrong else 0)
            private[cell] = code - (symbol_count if code >= symbol_count else 0)
        return
    for cell in range(begin, end):  # hardly a word is below `wrong`
        word = words[cell - begin]
        code = np.int64(values[cell])
        if word < wrong:
            code += np.int64(word // each) + 1
            if code >= symbol_count:
                code -= symbol_count
        private[cell] = code


@kernel
def place_errors(
    values: Any,
    begins: Any,
    length: int,
    symbol_count: int,
    bounds: Any,
    words: Any,
    private: Any,
    again: Any,
    in_doubt: Any,
) -> None:
    """For each word its number of errors, then where they are and what stands there; length + 1 words of keystream.

    Keystream words below `bounds[ℓ]` mean at most ℓ errors; the word there and the next one leave that open, and mark
    the sensitive word as in doubt. With r errors left for k positions, one number below k(m-1) decides whether this
    position is one of them, and which symbol replaces the right one. A keystream word that would favour some numbers
    must not be used: `again` marks the sensitive word. The caller replaces that keystream word, and no other.
    """
    others = np.uint64(symbol_count - 1)
    half, low_half = np.uint64(32), np.uint64(0xFFFFFFFF)
    for row in range(len(begins)):
        begin = begins[row]
        next_word = row * (length + 1)
        left = 0
        while left < length and words[next_word] >= bounds[left]:
            left += 1
        in_doubt[row] = left > 0 and words[next_word] - bounds[left - 1] <= np.uint64(1)
        again[row] = False
        for i in range(length):
            code = np.int64(values[begin + i])
            if left:
                next_word += 1
                word = words[next_word]
                bound = np.uint64(length - i) * others  # below 2^32
                remainder = word * bound
                if remainder < bound and remainder < (np.uint64(0) - bound) % bound:
                    again[row] = True
                number = ((word >> half) * bound + (((word & low_half) * bound) >> half)) >> half
                if number < np.uint64(left) * others:
                    left -= 1
                    code += np.int64(number % others) + 1
                    if code >= symbol_count:
                        code -= symbol_count
            private[begin + i] = code
